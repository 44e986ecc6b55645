use super::*;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

fn sent(cwd: &str, text: &str) -> Sent {
    Sent { cwd: cwd.into(), text: text.into() }
}

fn texts(prompts: &Prompts) -> Vec<String> {
    prompts.list().unwrap().iter().map(|sent| sent.text.to_string()).collect()
}

#[test]
fn prompts_are_listed_newest_first_and_each_once() {
    let dir = tempfile::tempdir().unwrap();
    let prompts = Prompts::new(dir.path().join("written"));
    assert_eq!(prompts.list().unwrap(), []);
    for (cwd, text) in [("/a", "one\ntwo"), ("/b", "second"), ("/c", "one\ntwo"), ("/c", " \n"), ("/c", "\u{1b}]0;x")] {
        prompts.remember(&sent(cwd, text)).unwrap();
    }
    prompts.remember(&sent("/c", &"x".repeat(MAX_PROMPT + 1))).unwrap();
    let listed = prompts.list().unwrap();
    assert_eq!(listed, [sent("/c", "\u{1b}]0;x"), sent("/c", "one\ntwo"), sent("/b", "second")]);
    assert_eq!(prompts.file().metadata().unwrap().permissions().mode() & 0o077, 0);
}

#[test]
fn what_is_forgotten_is_not_in_the_file_any_more() {
    let dir = tempfile::tempdir().unwrap();
    let prompts = Prompts::new(dir.path().join("written"));
    prompts.retain(|_| false).unwrap();
    assert!(!dir.path().join("written").exists(), "nothing is made for it");
    for text in ["one", "two", "one", "three"] {
        prompts.remember(&sent("/a", text)).unwrap();
    }
    prompts.retain(|sent| &*sent.text != "one").unwrap();
    assert_eq!(texts(&prompts), ["three", "two"]);
    assert!(!fs::read_to_string(prompts.file()).unwrap().contains("one"));
    prompts.retain(|_| false).unwrap();
    assert_eq!(fs::read(prompts.file()).unwrap(), b"");
}

#[test]
fn a_line_that_was_cut_or_is_garbage_costs_only_itself() {
    let dir = tempfile::tempdir().unwrap();
    let prompts = Prompts::new(dir.path().to_owned());
    prompts.remember(&sent("/a", "whole")).unwrap();
    let mut file = fs::OpenOptions::new().append(true).open(prompts.file()).unwrap();
    file.write_all(b"\xff\xfe\n[]\n{\"cwd\":\"/a\",\"text\":\"cut").unwrap();
    assert_eq!(texts(&prompts), ["whole"]);
    prompts.remember(&sent("/a", "after")).unwrap();
    assert_eq!(texts(&prompts), ["after", "whole"]);
}

#[test]
fn nothing_is_written_through_a_link() {
    let dir = tempfile::tempdir().unwrap();
    let prompts = Prompts::new(dir.path().join("written"));
    prompts.remember(&sent("/a", "first")).unwrap();
    for name in ["prompts.jsonl", "prompts.lock"] {
        let (file, target) = (dir.path().join("written").join(name), dir.path().join(name));
        fs::remove_file(&file).unwrap();
        fs::write(&target, "somebody's\n").unwrap();
        std::os::unix::fs::symlink(&target, &file).unwrap();
        let why = prompts.remember(&sent("/a", "second")).unwrap_err().to_string();
        assert!(why.contains("symbolic link"), "{why}");
        assert_eq!(fs::read_to_string(&target).unwrap(), "somebody's\n");
        fs::remove_file(&file).unwrap();
    }
}

#[test]
fn several_windows_write_at_once_and_the_file_stays_bounded() {
    let dir = tempfile::tempdir().unwrap();
    let long = "x".repeat(30_000);
    let write = |window: usize, n: usize| {
        let (prompts, sent) = (Prompts::new(dir.path().to_owned()), sent("/a", &format!("{window} {n} {long}")));
        // On a busy disk the others may have it for longer than one waits.
        while let Err(error) = prompts.remember(&sent) {
            assert_eq!(error.kind(), io::ErrorKind::TimedOut, "{error}");
        }
    };
    let write = &write;
    // The last ones after all others: what is shortened keeps the newest.
    for of_each in [0..59, 59..60] {
        std::thread::scope(|scope| {
            for window in 0..4 {
                let of_each = of_each.clone();
                scope.spawn(move || of_each.into_iter().for_each(|n| write(window, n)));
            }
        });
    }
    let prompts = Prompts::new(dir.path().to_owned());
    let size = prompts.file().metadata().unwrap().len();
    assert!(size <= MAX_FILE, "{size}");
    let listed = texts(&prompts);
    assert!(listed.len() >= KEEP / 31_000 && listed.len() < 240, "{}", listed.len());
    let last = |window: usize| listed.iter().any(|text| text.starts_with(&format!("{window} 59 ")));
    assert!((0..4).all(last), "the newest of each is there");
}
