use super::*;
use std::fs::File;
use tempfile::TempDir;

const NOW: u64 = 2_000_000_000;
const DAY: u64 = 24 * 60 * 60;

fn session(id: &str, first_turn: u64) -> AgentSession {
    AgentSession::new(id, first_turn, "demo")
}

/// A review as a review leaves it.
fn put(home: &Path, stem: &str, started: u64, cwd: &str, sessions: &[AgentSession]) -> PathBuf {
    let dir = home.join(stem);
    fs::create_dir_all(dir.join("objects/aa")).unwrap();
    let head = SessionInfo {
        stem: stem.into(),
        cwd: cwd.into(),
        command: "demo --acp".into(),
        started,
        private: Vec::new(),
        directories: Vec::new(),
    };
    fs::write(dir.join(HEAD), serde_json::to_vec(&head).unwrap()).unwrap();
    fs::write(dir.join(SESSIONS), serde_json::to_vec(sessions).unwrap()).unwrap();
    fs::write(dir.join(LOCK), "").unwrap();
    fs::write(dir.join("objects/aa/blob"), [7; 1000]).unwrap();
    dir
}

fn held(dir: &Path) -> File {
    let file = File::open(dir.join(LOCK)).unwrap();
    file.try_lock().unwrap();
    file
}

fn stems(home: &Path) -> Vec<String> {
    list(home).into_iter().map(|one| one.stem).collect()
}

fn at(seconds: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(seconds)
}

#[test]
fn the_newest_is_first_and_what_cannot_be_read_is_listed_too() {
    let home = TempDir::new().unwrap();
    let home = home.path();
    assert_eq!(list(&home.join("missing")), []);
    put(home, "100-000-1", 100, "/a", &[session("one", 1)]);
    put(home, "300-000-1", 300, "/b", &[session("two", 1), session("three", 4)]);
    fs::create_dir(home.join("200-000-1")).unwrap();
    let broken = put(home, "400-000-1", 1, "/c", &[]);
    fs::write(broken.join(HEAD), "{").unwrap();
    let listless = put(home, "050-000-1", 50, "/c", &[]);
    fs::write(listless.join(SESSIONS), "no list").unwrap();
    fs::write(home.join("a file"), "").unwrap();
    std::os::unix::fs::symlink(home.join("100-000-1"), home.join("500-000-1")).unwrap();
    let all = list(home);
    assert_eq!(stems(home), ["400-000-1", "300-000-1", "200-000-1", "100-000-1", "050-000-1"]);
    assert_eq!(all[1].sessions.len(), 2);
    assert_eq!(all[1].head.as_ref().unwrap().cwd, Path::new("/b"));
    assert_eq!((all[0].head.as_ref(), all[2].head.as_ref()), (None, None));
    assert!(all[4].head.is_some() && all[4].sessions.is_empty());
    assert!(bytes(&all[1].dir) > 1000 && bytes(&all[1].dir) < 2000);
}

#[test]
fn a_run_whose_list_of_sessions_is_gone_or_damaged_can_still_be_meant() {
    for damaged in [None, Some("no list"), Some("[{\"id\":1}]"), Some("")] {
        let home = TempDir::new().unwrap();
        let home = home.path();
        let old = put(home, "100-000-1", 100, "/a", &[session("old", 1)]);
        let run = put(home, "200-000-1", 200, "/a", &[session("mine", 1)]);
        let unused = put(home, "300-000-1", 300, "/a", &[]);
        fs::write(run.join(LEDGER), "{}\n").unwrap();
        for dir in [&run, &unused] {
            let file = dir.join(SESSIONS);
            damaged.map_or_else(|| fs::remove_file(&file).unwrap(), |text| fs::write(&file, text).unwrap());
        }
        // In this one nothing has happened.
        fs::write(unused.join(LEDGER), "").unwrap();
        assert_eq!(list(home).iter().map(|one| one.is_nameless).collect::<Vec<_>>(), [true, true, false]);
        let last = find(home, LAST, Some(Path::new("/a"))).unwrap();
        assert_eq!(last, Found { dir: run.clone(), session: None }, "{damaged:?}");
        assert!(nameless(&run).unwrap().contains("sessions.json") && nameless(&old).is_none());
        assert_eq!(find(home, "old", None).unwrap().dir, old);
        assert_eq!(find(home, "200", None).unwrap().dir, run);
        let said = find(home, "mine", None).unwrap_err().to_string();
        assert!(said.contains("no session is called mine") && said.contains("200-000-1"), "{said}");
    }
}

#[test]
fn a_session_is_found_by_id_by_beginning_and_by_the_name_of_its_review() {
    let home = TempDir::new().unwrap();
    let home = home.path();
    let old = put(home, "100-000-1", 100, "/a", &[session("abc-1", 1), session("xyz", 3)]);
    let new = put(home, "200-000-1", 200, "/b", &[session("abc-2", 1), session("same", 2)]);
    let newest = put(home, "300-000-1", 300, "/b", &[session("same", 1), session("abc", 5)]);
    let found = |name: &str| find(home, name, None).map(|f| (f.dir, f.session.map(|s| (s.id, s.first_turn))));
    let is = |name: &str, dir: &Path, session: Option<(&str, u64)>| {
        assert_eq!(
            found(name).unwrap(),
            (dir.to_owned(), session.map(|(id, turn)| (id.to_owned(), turn))),
            "looking for {name}"
        );
    };
    is("abc-1", &old, Some(("abc-1", 1)));
    is("x", &old, Some(("xyz", 3)));
    is("100-000-1", &old, None);
    is("200", &new, None);
    // Whole, it is no beginning of others.
    is("abc", &newest, Some(("abc", 5)));
    // Agents that begin to count anew with each start.
    is("same", &newest, Some(("same", 1)));
    is("sam", &newest, Some(("same", 1)));
    let elsewhere = put(home, "400-000-1", 400, "/c", &[session("same", 1)]);
    is("same", &elsewhere, Some(("same", 1)));
    // The person is in the directory of another one.
    let here = |cwd: &str| find(home, "same", Some(Path::new(cwd))).unwrap().dir;
    assert_eq!([here("/b"), here("/c"), here("/d")], [newest.clone(), elsewhere.clone(), elsewhere.clone()]);
    fs::remove_dir_all(elsewhere).unwrap();
    match found("ab") {
        Err(ReviewError::Ambiguous { name, found }) => {
            assert_eq!(name, "ab");
            assert_eq!(found, ["abc", "abc-2", "abc-1"]);
        }
        other => panic!("{other:?}"),
    }
    for name in ["", "nobody", "abc-11", "../100-000-1"] {
        assert!(matches!(found(name), Err(ReviewError::NoSession(said)) if said == name), "{name}");
    }
}

#[test]
fn last_is_the_newest_of_this_directory_and_else_of_all() {
    let home = TempDir::new().unwrap();
    let home = home.path();
    let last = |cwd: &str| find(home, LAST, Some(Path::new(cwd))).map(|f| (f.dir, f.session.map(|s| s.id)));
    assert!(matches!(last("/no/a"), Err(ReviewError::Refused(_))));
    put(home, "100-000-1", 100, "/no/a", &[session("1", 1)]);
    let here = put(home, "200-000-1", 200, "/no/a", &[session("2", 1), session("3", 5)]);
    let there = put(home, "250-000-1", 250, home.to_str().unwrap(), &[session("4", 1)]);
    put(home, "300-000-1", 300, "/no/b", &[session("5", 1)]);
    // Nothing came of these.
    put(home, "400-000-1", 400, "/no/a", &[]);
    fs::create_dir(home.join("500-000-1")).unwrap();
    assert_eq!(last("/no/a").unwrap(), (here, Some("3".into())));
    assert_eq!(last("/elsewhere").unwrap(), (there.clone(), Some("4".into())), "a directory that is gone");
    remove(&there).unwrap();
    assert_eq!(find(home, LAST, None).unwrap().session.unwrap().id, "5");
}

#[test]
fn last_is_no_window_in_which_nothing_was_said_where_there_is_another() {
    let home = TempDir::new().unwrap();
    let home = home.path();
    let last = |cwd: &str| find(home, LAST, Some(Path::new(cwd))).unwrap().session.unwrap().id;
    let silent = |stem: &str, started, cwd: &str, id| {
        fs::write(put(home, stem, started, cwd, &[session(id, 1)]).join(LEDGER), "").unwrap();
    };
    silent("100-000-1", 100, "/no/a", "only opened");
    put(home, "200-000-1", 200, "/no/b", &[session("elsewhere", 1)]);
    assert_eq!(last("/no/a"), "only opened", "what is of this directory comes before others");
    put(home, "300-000-1", 300, "/no/a", &[session("said", 1)]);
    silent("400-000-1", 400, "/no/a", "opened later");
    assert_eq!(last("/no/a"), "said");
}

#[test]
fn what_is_open_elsewhere_is_marked_and_stays() {
    let home = TempDir::new().unwrap();
    let dir = put(home.path(), "100-000-1", 100, "/a", &[]);
    let lock = held(&dir);
    assert!(list(home.path())[0].locked);
    assert!(matches!(remove(&dir), Err(ReviewError::Locked)));
    let limits = Limits { sessions: 0, bytes: 0, age: Duration::ZERO };
    assert_eq!(prune_to(home.path(), None, &limits, at(NOW)), Pruned::default());
    assert!(dir.join(HEAD).exists());
    lock.unlock().unwrap();
    assert!(!list(home.path())[0].locked);
    remove(&dir).unwrap();
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
    assert!(matches!(remove(&dir), Err(ReviewError::Io { .. })));
}

#[test]
fn the_oldest_go_until_the_limits_are_kept() {
    let home = TempDir::new().unwrap();
    let home = home.path();
    let put_days = |days: u64| put(home, &format!("{:03}", 100 - days), NOW - days * DAY, "/a", &[]);
    for days in 1..=5 {
        put_days(days);
    }
    let wide = Limits { sessions: 50, bytes: u64::MAX, age: Duration::from_secs(100 * DAY) };
    assert_eq!(prune_to(home, None, &wide, at(NOW)).removed, 0);
    let pruned = prune_to(home, None, &Limits { age: Duration::from_secs(4 * DAY), ..wide }, at(NOW));
    assert!(pruned.removed == 1 && pruned.bytes > 1000, "{pruned:?}");
    assert_eq!(stems(home), ["099", "098", "097", "096"]);
    prune_to(home, None, &Limits { sessions: 3, ..wide }, at(NOW));
    assert_eq!(stems(home), ["099", "098", "097"]);
    let two = bytes(&home.join("099")) * 2;
    prune_to(home, Some(&home.join("097")), &Limits { bytes: two, ..wide }, at(NOW));
    assert_eq!(stems(home), ["099", "098", "097"], "the one to keep was removed");
    prune_to(home, None, &Limits { bytes: two, ..wide }, at(NOW));
    assert_eq!(stems(home), ["099", "098"]);
}

#[test]
fn a_review_that_is_just_being_made_is_left_alone_and_a_broken_one_goes() {
    let home = TempDir::new().unwrap();
    let home = home.path();
    fs::create_dir(home.join(format!("{}-000-1", NOW - 5))).unwrap();
    fs::create_dir(home.join(format!("{}-000-1", NOW - 31 * DAY))).unwrap();
    // A removal that was interrupted.
    fs::create_dir_all(home.join(".going-7/objects")).unwrap();
    let none = Limits { sessions: 0, bytes: u64::MAX, age: MAX_AGE };
    assert_eq!(prune_to(home, None, &none, at(NOW)).removed, 1);
    assert_eq!(fs::read_dir(home).unwrap().count(), 1);
    assert_eq!(stems(home), [format!("{}-000-1", NOW - 5)]);
}

#[test]
fn what_the_person_has_too_costs_nothing_and_what_several_reviews_have_costs_once() {
    let home = TempDir::new().unwrap();
    let (repo, home) = (home.path().join("pack"), home.path().join("home"));
    fs::write(&repo, vec![7; 100_000]).unwrap();
    let dirs: Vec<PathBuf> =
        (1..=3_u64).map(|n| put(&home, &format!("{n}"), NOW - n, "/a", &[session(&format!("s{n}"), 1)])).collect();
    for dir in &dirs {
        fs::hard_link(&repo, dir.join("link")).unwrap();
    }
    // Room for one such file and some more.
    let limits = Limits { sessions: 10, bytes: 150_000, age: Duration::from_secs(DAY) };
    assert!(bytes(&dirs[0]) < 2000);
    assert_eq!(prune_to(&home, None, &limits, at(NOW)), Pruned::default(), "it is the person's");
    fs::remove_file(&repo).unwrap();
    assert_eq!(prune_to(&home, None, &limits, at(NOW)), Pruned::default(), "once");
    let less = Limits { bytes: 50_000, ..limits };
    assert_eq!(prune_to(&home, None, &less, at(NOW)).removed, 3, "from where there is no room everything older goes");
    assert_eq!(stems(&home), Vec::<String>::new());
}

#[test]
fn removing_a_review_removes_its_links_and_leaves_the_persons_file() {
    let home = TempDir::new().unwrap();
    let (repo, home) = (home.path().join("pack"), home.path().join("home"));
    fs::write(&repo, "packed").unwrap();
    let dir = put(&home, "1", NOW, "/a", &[session("s1", 1)]);
    fs::hard_link(&repo, dir.join("link")).unwrap();
    remove(&dir).unwrap();
    assert_eq!(walk::names_of(&repo.metadata().unwrap()).1, 1);
    assert_eq!(fs::read(&repo).unwrap(), b"packed");
}

#[test]
fn a_clock_that_jumps_removes_nothing_by_age() {
    let home = TempDir::new().unwrap();
    let home = home.path();
    let day = |n: u64| at(NOW + n * DAY);
    let old = |name: &str| home.join(name).exists();
    put(home, "100-old", NOW, "/w", &[session("a", 1)]);
    // It is not known yet whether the clock is right.
    for (when, removed) in [(day(40), 0), (day(40), 0), (day(0), 0), (day(31), 0), (day(32), 1)] {
        assert_eq!(prune_at(home, None, when).removed, removed, "{when:?}");
        assert_eq!(old("100-old"), removed == 0);
    }
    assert_eq!((take_removed(home, None), take_removed(home, None)), (Some(1), None));
    // Every day for a month, with a holiday in it.
    put(home, "200-old", NOW + 40 * DAY, "/w", &[session("b", 1)]);
    for n in (40..50).chain(80..81) {
        assert_eq!(prune_at(home, None, day(n)).removed, 0, "{n}");
    }
    assert_eq!(prune_at(home, None, day(81)).removed, 1);
}

#[test]
fn that_the_oldest_sessions_make_room_is_told_by_the_starts_of_one_day_once() {
    let home = TempDir::new().unwrap();
    let home = home.path();
    let limits = Limits { sessions: 1, bytes: u64::MAX, age: Duration::MAX };
    let starts = |now: u64| {
        put(home, &format!("{now}-s"), now, "/w", &[session("a", 1)]);
        let removed = prune_to(home, None, &limits, at(now)).removed;
        note_removed(home, removed);
        take_removed(home, Some(at(now)))
    };
    assert_eq!([0, 1, 2, 3].map(|n| starts(NOW + n)), [None, Some(1), None, None]);
    assert_eq!(starts(NOW + DAY), None);
    // A clock that has been set back keeps nothing secret.
    assert_eq!([starts(NOW + DAY + 2), starts(NOW + DAY + 3), starts(NOW + 30)], [Some(4), None, Some(2)]);
    // Who asks is told.
    assert_eq!((starts(NOW + 31), take_removed(home, None)), (None, Some(1)));
}

#[test]
fn a_session_that_was_begun_while_the_clock_was_ahead_is_not_the_last_for_ever() {
    let home = TempDir::new().unwrap();
    let home = home.path();
    for (stem, started) in [("900-ahead", NOW + 40 * DAY), ("100-now", NOW)] {
        let number = next_number(home);
        put(home, stem, started, "/w", &[session("a", 1)]);
        write_json(&home.join(stem).join(NUMBER), &number).unwrap();
    }
    assert_eq!(list(home).iter().map(|one| one.stem.as_str()).collect::<Vec<_>>(), ["100-now", "900-ahead"]);
}
