//! Files of the log as they should be, and what becomes of one that was changed.

use super::*;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use tempfile::TempDir;

fn written() -> TempDir {
    let temp = tempfile::tempdir().unwrap();
    let mut chain = Chain::new(temp.path().to_owned(), "one".into());
    chain.write_all(b"{\"a\":1}\n{\"a\":2}\n").unwrap();
    chain.write_all(b"{\"a\":3}\n").unwrap();
    temp
}

fn file(temp: &TempDir) -> PathBuf {
    lines_dir(temp.path()).join("one.jsonl")
}

fn joined<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    lines.collect::<Vec<_>>().join("\n") + "\n"
}

fn fault(temp: &TempDir) -> Option<Fault> {
    let mut all = verify(temp.path()).unwrap();
    assert_eq!(all.len(), 1);
    all.remove(0).fault
}

#[test]
fn lines_are_chained_and_their_owners_alone() {
    let temp = written();
    let whole = Checked { path: file(&temp), lines: 3, fault: None };
    assert_eq!(verify(temp.path()).unwrap(), [whole]);
    for (path, mode) in [(file(&temp), 0o600), (lines_dir(temp.path()), 0o700), (temp.path().join(HEADS), 0o700)] {
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, mode, "{path:?}");
    }
    assert_eq!(temp.path().join(HEADS).join("one").metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let records: Vec<Value> = records(&file(&temp)).unwrap().collect();
    assert_eq!(records[2]["a"], 3);
    assert_eq!(records[0]["prev"], seed("one"));
    assert_eq!(verify(&temp.path().join("none")).unwrap(), []);
}

type Change = dyn Fn(&str) -> String;

#[test]
fn a_changed_removed_cut_off_or_added_line_is_found() {
    let swapped = |text: &str| {
        let lines: Vec<&str> = text.lines().collect();
        format!("{}\n{}\n{}\n", lines[0], lines[2], lines[1])
    };
    let changes: [(Fault, &Change); 10] = [
        (Fault::Changed(1), &|text| text.replacen("\"a\":1", "\"a\":9", 1)),
        (Fault::Changed(2), &|text| text.replacen("\"a\":2", "\"a\":9", 1)),
        (Fault::Changed(3), &|text| text.replacen("\"a\":3", "\"a\":9", 1)),
        (Fault::Line(2), &|text| text.replacen("\n{\"prev\":\"", "\n{\"prev\":\"0", 1)),
        (Fault::Behind(1), &|text| joined(text.lines().skip(1))),
        (Fault::Behind(2), &|text| joined(text.lines().step_by(2))),
        (Fault::Line(2), &swapped),
        (Fault::CutOff { expected: 3 }, &|text| joined(text.lines().take(2))),
        (Fault::Changed(3), &|text| text[..text.len() - 5].to_owned()),
        (Fault::Line(4), &|text| format!("{text}{{\"prev\":\"\"}}\n")),
    ];
    for (wanted, change) in changes {
        let temp = written();
        let text = fs::read_to_string(file(&temp)).unwrap();
        fs::write(file(&temp), change(&text)).unwrap();
        assert_eq!(fault(&temp), Some(wanted));
    }
}

#[test]
fn a_missing_file_or_head_is_found_and_a_run_that_was_killed_is_none() {
    let temp = written();
    fs::remove_file(file(&temp)).unwrap();
    assert_eq!(fault(&temp), Some(Fault::NoFile));
    let temp = written();
    let head = temp.path().join(HEADS).join("one");
    fs::remove_file(&head).unwrap();
    assert_eq!(fault(&temp), Some(Fault::NoHead));
    // Killed between the last line and its head: the head is that of two lines.
    let temp = written();
    let second = fs::read_to_string(file(&temp)).unwrap().lines().nth(1).map(|line| hash(line.as_bytes())).unwrap();
    let head = temp.path().join(HEADS).join("one");
    fs::write(&head, format!("{:020} {second}\n", 2)).unwrap();
    assert_eq!(fault(&temp), None);
    let first = fs::read_to_string(file(&temp)).unwrap().lines().next().map(|line| hash(line.as_bytes())).unwrap();
    fs::write(&head, format!("{:020} {first}\n", 1)).unwrap();
    assert_eq!(fault(&temp), Some(Fault::Added));
}

/// A head that takes no bytes stands for a disk that is full.
#[test]
fn a_line_that_cannot_be_written_is_not_there_and_can_be_written_once_more() {
    let temp = tempfile::tempdir().unwrap();
    let mut chain = Chain::new(temp.path().to_owned(), "one".into());
    chain.write_all(b"{\"a\":1}\n").unwrap();
    let open = chain.open.as_mut().unwrap();
    let whole = std::mem::replace(&mut open.head, File::open("/dev/null").unwrap());
    assert!(chain.write_all(b"{\"a\":2}\n").is_err());
    chain.open.as_mut().unwrap().head = whole;
    assert_eq!((fault(&temp), records(&file(&temp)).unwrap().count()), (None, 1));
    chain.write_all(b"{\"a\":2}\n{\"a\":3}\n").unwrap();
    assert_eq!((fault(&temp), records(&file(&temp)).unwrap().count()), (None, 3));
    fs::create_dir_all(lines_dir(temp.path()).join("two.jsonl")).unwrap();
    let mut blocked = Chain::new(temp.path().to_owned(), "two".into());
    assert!(blocked.write_all(b"{\"a\":1}\n").is_err());
    fs::remove_dir(lines_dir(temp.path()).join("two.jsonl")).unwrap();
    blocked.write_all(b"{\"a\":1}\n").unwrap();
}

#[test]
fn a_large_log_goes_on_in_further_files_and_runs_do_not_share_one() {
    let temp = tempfile::tempdir().unwrap();
    let mut chain = Chain { max_part: 200, ..Chain::new(temp.path().to_owned(), "one".into()) };
    let mut other = Chain::new(temp.path().to_owned(), "two".into());
    for _ in 0..6 {
        chain.write_all(b"{\"a\":1}\n").unwrap();
        other.write_all(b"{\"a\":1}\n").unwrap();
    }
    let all = verify(temp.path()).unwrap();
    let found: Vec<(u64, bool)> = all.iter().map(|file| (file.lines, file.fault.is_none())).collect();
    assert_eq!(found, [(3, true), (3, true), (6, true)]);
    assert!(
        Chain::new(temp.path().to_owned(), "two".into()).write_all(b"{\"a\":1}\n").is_err(),
        "never another's file"
    );
}
