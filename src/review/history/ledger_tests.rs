//! What becomes of a ledger that was cut, changed or shortened.

use super::*;
use std::fs;
use tempfile::TempDir;

fn turn(turn: u64) -> Record {
    Record::Turn { turn, begins: true, early: false }
}

struct Place {
    temp: TempDir,
}

impl Place {
    /// A ledger of five lines.
    fn new() -> Self {
        let place = Self { temp: TempDir::new().unwrap() };
        let mut ledger = Ledger::create(&place.path()).unwrap();
        ledger.add_all(&[turn(1), turn(2)]).unwrap();
        (3..=5).for_each(|n| ledger.add(&turn(n)).unwrap());
        place
    }

    fn path(&self) -> PathBuf {
        self.temp.path().join("ledger.jsonl")
    }

    fn lines(&self) -> Vec<String> {
        fs::read_to_string(self.path()).unwrap().lines().map(|line| format!("{line}\n")).collect()
    }

    /// The turns that are read, and what is said.
    fn read(&self, lines: &[String]) -> (Vec<u64>, Option<String>) {
        fs::write(self.path(), lines.concat()).unwrap();
        let (ledger, records) = Ledger::open(&self.path()).unwrap();
        let turns = records.iter().map(|record| match record {
            Record::Turn { turn, .. } => *turn,
            _ => panic!("{record:?}"),
        });
        (turns.collect(), ledger.damage())
    }
}

#[test]
fn a_ledger_that_is_whole_is_read_and_says_nothing() {
    let place = Place::new();
    assert_eq!(place.read(&place.lines()), (vec![1, 2, 3, 4, 5], None));
}

#[test]
fn a_torn_last_line_is_no_line_and_is_gone_when_the_next_one_comes() {
    let place = Place::new();
    for keep in 0..place.lines()[4].len() {
        let mut lines = place.lines();
        lines[4].truncate(keep);
        assert_eq!(place.read(&lines), (vec![1, 2, 3, 4], None), "{keep}");
        let (mut ledger, _) = Ledger::open(&place.path()).unwrap();
        ledger.add(&turn(5)).unwrap();
        assert_eq!(place.read(&place.lines()), (vec![1, 2, 3, 4, 5], None), "{keep}");
    }
}

#[test]
fn lines_that_are_damaged_missing_doubled_or_exchanged_are_noticed() {
    let place = Place::new();
    let whole = place.lines();
    for at in 0..whole[2].len() - 1 {
        let mut lines = whole.clone();
        let mut bytes = lines[2].clone().into_bytes();
        bytes[at] ^= 1;
        let Ok(text) = String::from_utf8(bytes) else { continue };
        lines[2] = text;
        let (turns, said) = place.read(&lines);
        assert!(turns == [1, 2, 4, 5] && said.is_some(), "{at}: {turns:?} {said:?}");
    }
    let without = |gone: &[usize]| {
        let kept = whole.iter().enumerate().filter(|(at, _)| !gone.contains(at));
        kept.map(|(_, line)| line.clone()).collect::<Vec<_>>()
    };
    assert!(place.read(&without(&[0])).1.unwrap().contains("1 line missing"));
    assert!(place.read(&without(&[1, 2])).1.unwrap().contains("2 lines missing"));
    let doubled = [&whole[..3], &whole[2..]].concat();
    assert!(matches!(place.read(&doubled), (turns, Some(_)) if turns == [1, 2, 3, 4, 5]));
    let mut exchanged = whole.clone();
    exchanged.swap(1, 2);
    assert!(place.read(&exchanged).1.is_some());
    // What comes afterwards hides nothing.
    fs::write(place.path(), without(&[1]).concat()).unwrap();
    Ledger::open(&place.path()).unwrap().0.add(&turn(6)).unwrap();
    assert!(place.read(&place.lines()).1.is_some());
}

#[test]
fn a_ledger_that_is_shorter_than_it_was_is_noticed() {
    let place = Place::new();
    let long = fs::metadata(place.path()).unwrap().len();
    for keep in [0, 1, 4] {
        place.read(&place.lines()[..keep.min(place.lines().len())]);
        let (mut ledger, _) = Ledger::open(&place.path()).unwrap();
        ledger.was_as_long_as(ledger.bytes());
        assert_eq!(ledger.damage(), None);
        ledger.was_as_long_as(long);
        assert!(ledger.damage().unwrap().contains("end is missing"));
        fs::write(place.path(), Place::new().lines().concat()).unwrap();
    }
}

#[test]
fn a_ledger_of_an_earlier_version_without_numbers_is_read_and_goes_on() {
    let place = Place::new();
    let old: Vec<String> = (1..=2).map(|n| serde_json::to_string(&turn(n)).unwrap() + "\n").collect();
    assert_eq!(place.read(&old), (vec![1, 2], None));
    Ledger::open(&place.path()).unwrap().0.add(&turn(3)).unwrap();
    assert_eq!(place.read(&place.lines()), (vec![1, 2, 3], None));
    assert!(place.read(&["{\"turn\":{\"tu\n".to_owned(), old[1].clone()]).1.is_some());
}
