use super::*;
use crate::model::event::Before;
use crate::model::ids::SessionKey;
use std::fs::File;
use std::os::unix::fs::{PermissionsExt as _, symlink};

fn session(id: &str) -> Place {
    Place::Session { agent: "agent --acp".into(), id: id.into() }
}

fn directory(key: u32) -> Place {
    Place::Directory { agent: "agent --acp".into(), cwd: "/src/shop".into(), key: SessionKey(key) }
}

fn draft(text: &str) -> Draft {
    Draft { text: text.into(), ..Draft::default() }
}

#[test]
fn what_is_kept_is_read_back_by_another_process_and_is_the_owners_alone() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().join("written");
    let one = Drafts::new(dir.clone());
    assert_eq!(one.fetch(&session("s")).unwrap(), None);
    assert!(!dir.exists(), "nothing is made before something is kept");
    let words = Draft {
        text: "half a\tthought\n\u{1b}[31m".into(),
        held: vec!["first".into(), "second\n".into()],
        aside: vec!["put aside".into()],
        command: "make test".into(),
        ran: vec!["> $ make\n> done".into()],
        questions: vec!["why is it so".into()],
        mode: "default".into(),
        follows: Some(Before { session: SessionKey(0), id: Some("t".into()), agent: "Agent".into(), to: None }),
    };
    one.keep(&session("s"), &words).unwrap();
    let other = Drafts::new(dir.clone());
    assert_eq!(other.fetch(&session("s")).unwrap(), Some(words.clone()));
    assert_eq!(other.fetch(&session("t")).unwrap(), None);
    let elsewhere = Place::Session { agent: "other".into(), id: "s".into() };
    assert_eq!(other.fetch(&elsewhere).unwrap(), None);
    for entry in dir.read_dir().unwrap() {
        assert_eq!(entry.unwrap().metadata().unwrap().permissions().mode() & 0o077, 0);
    }
    assert_eq!(dir.metadata().unwrap().permissions().mode() & 0o077, 0);
    one.keep(&session("s"), &Draft::default()).unwrap();
    one.keep(&session("s"), &Draft::default()).unwrap();
    assert_eq!(other.fetch(&session("s")).unwrap(), None);
    drop(one);
    assert_eq!(dir.read_dir().unwrap().count(), 0, "nothing is left");
}

#[test]
fn a_directory_that_was_removed_meanwhile_is_made_anew() {
    let temp = tempfile::tempdir().unwrap();
    let dir = temp.path().join("state").join("written");
    let window = Drafts::new(dir.clone());
    window.keep(&directory(0), &draft("first")).unwrap();
    fs::remove_dir_all(temp.path().join("state")).unwrap();
    window.keep(&directory(0), &draft("second")).unwrap();
    window.keep(&session("s"), &draft("third")).unwrap();
    assert_eq!(dir.metadata().unwrap().permissions().mode() & 0o077, 0);
    let other = Drafts::new(dir.clone());
    assert_eq!(other.fetch(&session("s")).unwrap(), Some(draft("third")));
    assert_eq!(other.fetch(&directory(0)).unwrap(), None, "its window lives");
    drop(window);
    assert_eq!(other.fetch(&directory(0)).unwrap(), Some(draft("second")));
}

#[test]
fn sessions_with_words_and_modes_that_come_back_are_found() {
    let temp = tempfile::tempdir().unwrap();
    let (state, drafts) = (temp.path(), Drafts::new(dir(temp.path())));
    assert!(unsent(state).is_empty() && mode_of(state, "agent --acp", "s").is_none());
    let mode = Draft { mode: "plan".into(), ..Draft::default() };
    drafts.keep(&session("s"), &mode).unwrap();
    drafts.keep(&session("t"), &draft("half")).unwrap();
    drafts.keep(&directory(0), &draft("of no session")).unwrap();
    assert_eq!(unsent(state), [("agent --acp".to_owned(), "t".to_owned())].into());
    assert_eq!(mode_of(state, "agent --acp", "s").as_deref(), Some("plan"));
    assert_eq!((mode_of(state, "agent --acp", "t"), mode_of(state, "other", "s")), (None, None));
}

#[test]
fn a_draft_is_the_sessions_under_each_command_line_of_its_agent() {
    let dir = tempfile::tempdir().unwrap();
    let window = || Drafts::new(dir.path().to_owned());
    let under = |agent: &str| Place::Session { agent: agent.into(), id: "s".into() };
    let (older, newer) = (under("agent --acp"), under("agent --acp -x"));
    let also = ["agent --acp -x".to_owned(), "agent --never".to_owned()];
    let beside = Place::Beside { agent: "agent --acp -x".into(), id: "s".into() };
    window().keep(&newer, &draft("written under the new one")).unwrap();
    window().keep(&beside, &draft("beside it")).unwrap();
    assert_eq!(window().fetch(&older).unwrap(), None);
    let all = draft("written under the new one\n\nbeside it");
    assert_eq!(window().fetch_of(&older, &also).unwrap(), Some(all.clone()));
    assert_eq!(window().fetch(&newer).unwrap(), None, "it is in one place");
    assert_eq!(window().fetch(&older).unwrap(), Some(all));
}

#[test]
fn a_draft_of_a_directory_goes_to_one_window_and_only_when_its_own_is_gone() {
    let dir = tempfile::tempdir().unwrap();
    let window = || Drafts::new(dir.path().to_owned());
    let first = window();
    first.keep(&directory(0), &draft("of the first")).unwrap();
    let second = window();
    assert_eq!(second.fetch(&directory(0)).unwrap(), None, "the first lives");
    second.keep(&directory(0), &draft("of the second")).unwrap();
    drop(first);
    let elsewhere = Place::Directory { agent: "agent --acp".into(), cwd: "/src".into(), key: SessionKey(0) };
    assert_eq!(second.fetch(&elsewhere).unwrap(), None);
    let third = window();
    assert_eq!(third.fetch(&directory(0)).unwrap(), Some(draft("of the first")));
    assert_eq!(second.fetch(&directory(1)).unwrap(), None, "the third has it");
    drop(third);
    assert_eq!(second.fetch(&directory(1)).unwrap(), Some(draft("of the first")), "it was never sent");
    drop(second);
    // Both were of the second.
    let last = window();
    let mut found: Vec<_> = [0, 1, 2].map(|key| last.fetch(&directory(key)).unwrap()).into_iter().flatten().collect();
    found.sort_by(|a, b| a.text.cmp(&b.text));
    assert_eq!(found, [draft("of the first"), draft("of the second")]);
}

#[test]
fn what_a_window_wrote_while_another_had_the_session_comes_below_its_draft_once_that_window_is_gone() {
    let dir = tempfile::tempdir().unwrap();
    let window = || Drafts::new(dir.path().to_owned());
    let place = session("s");
    let beside = place.beside().unwrap();
    let first = window();
    first.keep(&place, &draft("of the first")).unwrap();
    let others = [window(), window()];
    for (other, text) in others.iter().zip(["second", "third"]) {
        assert_eq!(other.fetch(&beside).unwrap(), None);
        other.keep(&beside, &Draft { command: "make".into(), ..draft(text) }).unwrap();
        // One is older than the other, by the times of their files.
        let times = fs::FileTimes::new().set_modified(SystemTime::UNIX_EPOCH);
        if text == "second" {
            File::options().write(true).open(other.path(&beside)).unwrap().set_times(times).unwrap();
        }
    }
    assert_eq!(others[0].fetch(&beside).unwrap().unwrap().text, "second", "each has its own");
    assert_eq!(first.fetch(&place).unwrap(), Some(draft("of the first")), "both live");
    assert_eq!(first.fetch(&session("t")).unwrap(), None);
    drop(others);
    let all = first.fetch(&place).unwrap().unwrap();
    assert_eq!(all.text, "of the first\n\nsecond\n\nthird");
    assert_eq!((&*all.command, all.aside.as_slice()), ("make", &["make".to_owned()][..]));
    assert_eq!(window().fetch(&place).unwrap(), Some(all), "it is kept at its place");
    first.keep(&place, &Draft::default()).unwrap();
    let last = window();
    last.keep(&beside, &draft("left")).unwrap();
    drop(last);
    assert_eq!(first.fetch(&place).unwrap(), Some(draft("left")));
    drop(first);
    assert_eq!(dir.path().read_dir().unwrap().count(), 1);
}

#[test]
fn a_session_that_is_forgotten_takes_along_what_windows_have_left_of_it() {
    let state = tempfile::tempdir().unwrap();
    let drafts = || Drafts::new(super::dir(state.path()));
    let place = session("s");
    let left = drafts();
    left.keep(&place, &draft("mine")).unwrap();
    left.keep(&place.beside().unwrap(), &draft("beside")).unwrap();
    drop(left);
    forget(state.path(), "agent --acp", "s").unwrap();
    assert_eq!(drafts().fetch(&place).unwrap(), None);
}

#[test]
fn what_is_no_draft_of_ours_is_no_draft() {
    let dir = tempfile::tempdir().unwrap();
    let drafts = Drafts::new(dir.path().to_owned());
    let path = drafts.path(&session("s"));
    drafts.keep(&session("s"), &draft("mine")).unwrap();
    let whole = fs::read_to_string(&path).unwrap();
    for cut in 0..whole.len() {
        fs::write(&path, &whole[..cut]).unwrap();
        assert_eq!(drafts.fetch(&session("s")).unwrap(), None, "cut at {cut}");
    }
    for odd in [whole.replace("\"v\":1", "\"v\":2"), whole.replace("\"s\"", "\"t\"")] {
        assert_ne!(odd, whole);
        fs::write(&path, odd).unwrap();
        assert_eq!(drafts.fetch(&session("s")).unwrap(), None);
    }
    let other = dir.path().join("other");
    fs::write(&other, &whole).unwrap();
    fs::remove_file(&path).unwrap();
    symlink(&other, &path).unwrap();
    assert!(drafts.fetch(&session("s")).is_err(), "a link is not followed");
}

#[test]
fn one_draft_and_all_of_them_are_bounded() {
    let dir = tempfile::tempdir().unwrap();
    let drafts = Drafts::new(dir.path().to_owned());
    let long =
        Draft { text: "ä".repeat(MAX_TEXT / 2 - 1), held: vec!["äx".into(), "more".into()], ..Draft::default() };
    drafts.keep(&session("long"), &long).unwrap();
    let kept = drafts.fetch(&session("long")).unwrap().unwrap();
    assert_eq!((kept.text.len(), kept.held), (long.text.len(), vec!["ä".to_owned(), String::new()]));
    for n in 0..=MAX_FILES {
        fs::write(dir.path().join(format!("{DRAFT}-s-{n}.json")), "{}").unwrap();
    }
    fs::write(dir.path().join("window-dead"), "").unwrap();
    drafts.make_room().unwrap();
    let names: Vec<String> = drafts.files().map(|(_, name, _)| name).collect();
    assert_eq!(names.iter().filter(|name| name.starts_with(DRAFT)).count(), MAX_FILES);
    assert_eq!(names.iter().filter(|name| name.starts_with(WINDOW)).count(), 1, "our own is in use: {names:?}");
}
