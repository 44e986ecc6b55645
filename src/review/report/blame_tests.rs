//! Each line of a file is put down to its writer after any later change of the file.

use super::*;
use crate::model::changes::{ReviewAction, Scope, Target, Verdict};
use crate::review::dir::{HEAD, LEDGER};
use crate::review::session::tests::Place;
use proptest::prelude::*;
use std::collections::HashMap;
use std::time::Duration;

const LATER: Duration = Duration::from_mins(10);

/// The reviews of the place, the newest first.
fn reviews(place: &Place) -> Vec<StoredReview> {
    let home = place.review.dir().parent().unwrap();
    let mut dirs: Vec<PathBuf> = std::fs::read_dir(home).unwrap().map(|entry| entry.unwrap().path()).collect();
    dirs.retain(|dir| dir.join(HEAD).is_file());
    dirs.sort();
    let kept = |dir: PathBuf| StoredReview { name: name(&dir), dir, root: place.at(""), is_open: false };
    dirs.into_iter().rev().map(kept).collect()
}

fn name(dir: &Path) -> String {
    dir.file_name().unwrap().to_string_lossy().into_owned()
}

fn blamed(place: &Place, path: &str) -> Blame {
    let file = File::new(place.at(path), std::fs::read(place.at(path)).unwrap()).unwrap();
    blame(&reviews(place), &file, None, Instant::now() + LATER)
}

/// The name of the review, the turn and the cause of each line.
fn of(place: &Place, path: &str) -> Vec<Option<(String, u64, Cause)>> {
    let names = reviews(place);
    let lines = blamed(place, path).lines;
    assert!(lines.iter().enumerate().all(|(at, (line, _))| at == *line));
    lines.into_iter().map(|(_, line)| line.map(|o| (names[o.review].name.clone(), o.turn, o.cause))).collect()
}

fn known(turn: u64, cause: Cause) -> Option<(String, u64, Cause)> {
    Some(("s".to_owned(), turn, cause))
}

#[test]
fn lines_are_carried_through_what_others_change_around_them() {
    let mut place = Place::with(&[("f", b"a\nb\nc\n")]);
    place.turn(1, |p| p.client_writes("f", "a\nONE\nb\nc\n"));
    place.write("f", "mine\na\nONE\nb\nc\n");
    place.turn(2, |p| p.tool_writes("f", "mine\na\nONE\nb\nTWO\nc\n"));
    place.turn(3, |p| p.command(|p| p.write("f", "a\nONE\nb\nTWO\nTHREE\nc\n")));
    place.write("f", "a\nONE\nb\nTWO\nTHREE\nc\nlast\n");
    let want = [None, known(1, Cause::Write), None, known(2, Cause::Tool), known(3, Cause::Command), None, None];
    assert_eq!(of(&place, "f"), want);
    assert_eq!(blamed(&place, "f").remarks, [""; 0]);
}

#[test]
fn one_line_is_asked_about_by_itself() {
    let mut place = Place::with(&[("f", b"a\nb\n")]);
    place.turn(1, |p| p.client_writes("f", "a\nONE\nb\n"));
    let file = File::new(place.at("f"), std::fs::read(place.at("f")).unwrap()).unwrap();
    let one = |line| blame(&reviews(&place), &file, Some(line), Instant::now() + LATER).lines;
    let origin = Origin { review: 0, turn: 1, cause: Cause::Write, entry: Some(1) };
    assert_eq!(one(1), [(1, Some(origin))]);
    assert_eq!(one(2), [(2, None)]);
    // When the time is up nothing is known, and that is said.
    let late = blame(&reviews(&place), &file, None, Instant::now());
    assert!(late.lines.iter().all(|(_, origin)| origin.is_none()));
    assert!(late.remarks.iter().any(|words| words.contains("the time for it was up")), "{:?}", late.remarks);
}

#[test]
fn that_a_review_is_open_is_told_apart_from_why_a_line_is_unknown() {
    let mut place = Place::with(&[("f", b"a\nb\n")]);
    place.turn(1, |p| p.client_writes("f", "a\nONE\nb\n"));
    let file = File::new(place.at("f"), std::fs::read(place.at("f")).unwrap()).unwrap();
    let open: Vec<StoredReview> =
        reviews(&place).into_iter().map(|one| StoredReview { is_open: true, ..one }).collect();
    let blamed = blame(&open, &file, Some(0), Instant::now() + LATER);
    assert_eq!((blamed.lines, blamed.remarks), (vec![(0, None)], Vec::new()));
    assert!(blamed.open[0].contains("is open"), "{:?}", blamed.open);
}

#[test]
fn what_a_decision_brings_back_is_whose_it_was() {
    let mut place = Place::with(&[("f", b"a\nb\nc\nd\ne\nf\ng\nh\n")]);
    place.turn(1, |p| p.client_writes("f", "a\nONE\nc\nd\ne\nf\ng\nh\n"));
    place.decide(Target::All, Verdict::Accept).unwrap();
    place.turn(2, |p| p.tool_writes("f", "a\nc\nd\ne\nf\nTWO\nh\n"));
    // The first hunk took a line of turn 1 away; the other one stays.
    let target = place.hunk(0);
    place.decide(target, Verdict::Reject).unwrap();
    assert_eq!(place.read("f"), "a\nONE\nc\nd\ne\nf\nTWO\nh\n");
    let want = [None, known(1, Cause::Write), None, None, None, None, known(2, Cause::Tool), None];
    assert_eq!(of(&place, "f"), want);
    // What the person writes in the place of a hunk is theirs.
    let (path, hunk) = place.pending()[0].clone();
    place.act(ReviewAction::Edit { scope: Scope::Pending, path, hunk, text: "mine\n".into() });
    assert_eq!(of(&place, "f")[6], None);
    place.act(ReviewAction::Undo);
    assert_eq!(of(&place, "f"), want);
}

#[test]
fn a_renamed_file_keeps_what_is_known_of_it() {
    let mut place = Place::with(&[("f", b"a\nb\n")]);
    place.turn(1, |p| p.client_writes("f", "a\nONE\nb\n"));
    place.turn(2, |p| p.command(|p| std::fs::rename(p.at("f"), p.at("g")).unwrap()));
    place.turn(3, |p| p.tool_writes("g", "a\nONE\nb\nTHREE\n"));
    let want = [None, known(1, Cause::Write), None, known(3, Cause::Tool)];
    assert_eq!(of(&place, "g"), want);
    // So does one that the person has renamed.
    place.review.doc(Scope::Session).unwrap();
    std::fs::rename(place.at("g"), place.at("h")).unwrap();
    place.turn(4, |_| {});
    assert_eq!(of(&place, "h"), want);
    // Also when the agent changes it after that.
    place.turn(5, |p| p.tool_writes("h", "a\nONE\nb\nTHREE\nFIVE\n"));
    assert_eq!(of(&place, "h"), [&want[..], &[known(5, Cause::Tool)]].concat());
}

#[test]
fn a_file_that_is_as_one_that_the_agent_removed_is_not_taken_for_that() {
    let mut place = Place::with(&[("f", b"a\nb\n")]);
    place.turn(1, |p| p.client_writes("copy", "a\nb\n"));
    place.turn(2, |p| p.command(|p| std::fs::remove_file(p.at("copy")).unwrap()));
    place.turn(3, |p| p.tool_writes("f", "a\nb\nTHREE\n"));
    assert_eq!(of(&place, "f"), [None, None, known(3, Cause::Tool)]);
}

#[test]
fn what_was_there_before_a_session_is_looked_for_in_older_ones() {
    let mut place = Place::with(&[("f", b"a\nb\n")]);
    place.turn(1, |p| p.client_writes("f", "a\nONE\nb\n"));
    let mut place = place.followed_by("s2");
    place.write("f", "a\nONE\nmine\nb\n");
    place.turn(1, |p| p.tool_writes("f", "a\nONE\nmine\nb\nTWO\n"));
    let place = place.followed_by("s3");
    let second = Some(("s2".to_owned(), 1, Cause::Tool));
    assert_eq!(of(&place, "f"), [None, known(1, Cause::Write), None, None, second.clone()]);
    // Without the record of one, what it wrote is unknown, and that is said.
    let ledger = reviews(&place)[2].dir.join(LEDGER);
    let text = std::fs::read_to_string(&ledger).unwrap();
    std::fs::write(&ledger, text.replace("\"write\"", "\"wrote\"")).unwrap();
    assert_eq!(of(&place, "f"), [None, None, None, None, second.clone()]);
    let remarks = blamed(&place, "f").remarks;
    assert!(remarks.iter().any(|words| words.starts_with("s: the record of this session is damaged")), "{remarks:?}");
    std::fs::remove_file(&ledger).unwrap();
    assert_eq!(of(&place, "f"), [None, None, None, None, second]);
    assert!(blamed(&place, "f").remarks[0].contains(LEDGER));
}

#[test]
fn a_change_that_another_session_knows_is_put_down_to_that() {
    let mut place = Place::with(&[("f", b"a\nb\n")]);
    let mut other = place.begin_beside("s2");
    let mut swap = |place: &mut Place| std::mem::swap(&mut place.review, &mut other);
    // Each sees the other one's work, and takes it for the person's.
    swap(&mut place);
    place.turn(1, |p| p.client_writes("f", "a\nONE\nb\n"));
    swap(&mut place);
    place.turn(1, |p| p.tool_writes("f", "a\nONE\nb\nTWO\n"));
    swap(&mut place);
    place.turn(2, |p| p.tool_writes("f", "THREE\na\nONE\nb\nTWO\n"));
    let newer = |turn, cause| Some(("s2".to_owned(), turn, cause));
    let want = [newer(2, Cause::Tool), None, newer(1, Cause::Write), None, known(1, Cause::Tool)];
    assert_eq!(of(&place, "f"), want);
}

#[test]
fn contents_that_are_gone_make_what_is_older_unknown() {
    let mut place = Place::with(&[("f", b"a\nb\n")]);
    place.turn(1, |p| p.client_writes("f", "a\nONE\nb\n"));
    place.turn(2, |p| p.client_writes("f", "a\nONE\nb\nTWO\n"));
    let store = place.review.dir().join("store/objects");
    std::fs::remove_dir_all(store.join("pack")).unwrap();
    std::fs::create_dir(store.join("pack")).unwrap();
    let blamed = blamed(&place, "f");
    assert!(blamed.lines.iter().all(|(_, origin)| origin.is_none()));
    assert!(blamed.remarks.iter().any(|words| words.contains("not kept")), "{:?}", blamed.remarks);
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Client(What),
    Tool(What),
    Command(What),
    Person(What),
    /// In a turn, without attribution.
    Meanwhile(What),
    Undo,
    Redo,
    RejectAll,
    RejectOne,
    AcceptAll,
    Rewind,
    NewTurn,
    NewSession,
}

#[derive(Clone, Copy, Debug)]
struct What {
    at: u16,
    lines: u8,
    gone: u8,
}

fn step() -> impl Strategy<Value = Step> {
    let what = || (any::<u16>(), 0u8..4, 0u8..3).prop_map(|(at, lines, gone)| What { at, lines, gone });
    prop_oneof![
        3 => what().prop_map(Step::Client),
        3 => what().prop_map(Step::Tool),
        3 => what().prop_map(Step::Command),
        3 => what().prop_map(Step::Person),
        1 => what().prop_map(Step::Meanwhile),
        2 => Just(Step::Undo),
        1 => Just(Step::Redo),
        1 => Just(Step::RejectAll),
        2 => Just(Step::RejectOne),
        1 => Just(Step::AcceptAll),
        1 => Just(Step::Rewind),
        2 => Just(Step::NewTurn),
        1 => Just(Step::NewSession),
    ]
}

/// Every line that is written is unlike all others: its first writer is its writer.
struct World {
    place: Place,
    writers: HashMap<String, Option<(String, u64, Cause)>>,
    turn: u64,
    in_turn: bool,
}

impl World {
    fn begin(&mut self) {
        if !self.in_turn {
            self.turn += 1;
            self.place.review.begin_turn(self.turn).unwrap();
            // So that it is an agent that says what it does.
            let text = format!("said {}\n", self.turn);
            self.place.tool_writes("other", &text);
            self.in_turn = true;
        }
    }

    fn end(&mut self) {
        if std::mem::take(&mut self.in_turn) {
            self.place.review.end_turn(self.turn).unwrap();
        }
    }

    /// The file with some lines gone and others in their place.
    fn changed(&mut self, what: What, cause: Option<Cause>) -> String {
        let text = self.place.read("f");
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let at = usize::from(what.at) % (lines.len() + 1);
        let end = (at + usize::from(what.gone)).min(lines.len());
        let name = name(self.place.review.dir());
        let new: Vec<String> =
            (0..what.lines).map(|n| format!("line {} of {}", n, self.writers.len() + usize::from(n))).collect();
        for line in &new {
            self.writers.insert(line.clone(), cause.map(|cause| (name.clone(), self.turn, cause)));
        }
        lines.splice(at..end, new);
        lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect()
    }

    fn play(mut self, steps: &[Step]) -> Self {
        for step in steps {
            match *step {
                Step::Client(what) => {
                    self.begin();
                    let text = self.changed(what, Some(Cause::Write));
                    self.place.client_writes("f", &text);
                }
                Step::Tool(what) => {
                    self.begin();
                    self.place.look("f");
                    let text = self.changed(what, Some(Cause::Tool));
                    self.place.tool_writes("f", &text);
                }
                Step::Command(what) => {
                    self.begin();
                    self.place.look("f");
                    let text = self.changed(what, Some(Cause::Command));
                    self.place.command(|p| p.write("f", &text));
                }
                Step::Person(what) => {
                    self.end();
                    let text = self.changed(what, None);
                    self.place.write("f", &text);
                }
                Step::Meanwhile(what) => {
                    self.begin();
                    let text = self.changed(what, None);
                    self.place.write("f", &text);
                    self.place.look("f");
                }
                Step::NewTurn => self.end(),
                Step::NewSession => {
                    self.end();
                    let World { place, writers, .. } = self;
                    let stem = format!("{}+", name(place.review.dir()));
                    self = World { place: place.followed_by(&stem), writers, turn: 0, in_turn: false };
                }
                decision => {
                    self.end();
                    let one = self.place.pending().first().cloned();
                    let decide = |target, verdict| ReviewAction::Decide { scope: Scope::Pending, target, verdict };
                    let action = match (decision, one) {
                        (Step::Undo, _) => ReviewAction::Undo,
                        (Step::Redo, _) => ReviewAction::Redo,
                        (Step::RejectAll, _) => decide(Target::All, Verdict::Reject),
                        (Step::RejectOne, Some((path, id))) => decide(Target::Hunk(path, id), Verdict::Reject),
                        (Step::AcceptAll, _) => decide(Target::All, Verdict::Accept),
                        _ => ReviewAction::Rewind { turn: self.turn.max(1) },
                    };
                    // There may be nothing to decide.
                    let _ = self.place.review.act(&action);
                }
            }
        }
        self.end();
        self
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..crate::random(30) })]
    #[test]
    fn every_line_is_put_down_to_who_wrote_it(steps in prop::collection::vec(step(), 1..24)) {
        let first: String = (0..12).flat_map(|n| ["original ".to_owned(), n.to_string(), "\n".to_owned()]).collect();
        let place = Place::in_memory(&[("f", first.as_bytes())]);
        let world = World { place, writers: HashMap::new(), turn: 0, in_turn: false };
        let World { place, writers, .. } = world.play(&steps);
        let now = if place.at("f").exists() { place.read("f") } else { String::new() };
        let want: Vec<_> = now.lines().map(|line| writers.get(line).cloned().flatten()).collect();
        if !now.is_empty() {
            prop_assert_eq!(of(&place, "f"), want, "{}", now);
        }
    }
}
