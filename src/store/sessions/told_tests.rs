//! What agents tell becomes part of the list, is bounded, and what is damaged costs only itself.

use super::super::{State, hide, hide_all_but, journals, list, remember, rename};
use super::*;
use crate::model::event::Listed;
use crate::model::event::{Can as Offer, Cans};
use proptest::prelude::*;
use std::os::unix::fs::PermissionsExt as _;

fn listed(id: &str, cwd: &str, title: &str, updated: &str) -> Listed {
    Listed {
        id: id.into(),
        cwd: Some(cwd.to_owned()),
        additional: Vec::new(),
        title: Some(title.to_owned()),
        updated: Some(updated.to_owned()),
    }
}

fn told(cwd: Option<&str>, sessions: Vec<Listed>) -> Told {
    Told {
        command: "agent --acp".to_owned(),
        agent: "Agent A".to_owned(),
        can: [Offer::Load, Offer::List, Offer::Delete].into_iter().collect::<Cans>(),
        cwd: cwd.map(str::to_owned),
        is_whole: true,
        sessions,
    }
}

fn state() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

/// A journal of a session of the same agent.
fn journal(state: &Path, id: &str, title: &str) {
    let frame = |t: u32, dir: &str, frame: serde_json::Value| {
        serde_json::json!({ "t": t, "dir": dir, "frame": frame }).to_string()
    };
    let head = serde_json::json!({
        "v": 2, "ends": true, "started": 1_790_000_000, "cwd": "/work", "command": "agent --acp", "codec": "acp-1"
    });
    let info = serde_json::json!({ "sessionUpdate": "session_info_update", "title": title });
    let lines = [
        head.to_string(),
        frame(
            1,
            "client->agent",
            serde_json::json!({ "id": 0, "method": "session/new", "params": { "cwd": "/work" } }),
        ),
        frame(2, "agent->client", serde_json::json!({ "id": 0, "result": { "sessionId": id } })),
        frame(
            3,
            "agent->client",
            serde_json::json!({ "method": "session/update", "params": { "sessionId": id, "update": info } }),
        ),
        "{\"t\":4,\"dir\":\"host\",\"end\":true}".to_owned(),
    ];
    fs::create_dir_all(journals(state)).unwrap();
    fs::write(journals(state).join(format!("{id}.jsonl")), lines.join("\n") + "\n").unwrap();
}

fn names(state: &Path) -> Vec<(String, &'static str, Option<String>)> {
    let mut all: Vec<_> = list(state)
        .unwrap()
        .sessions
        .into_iter()
        .map(|known| (known.session_id.clone(), known.source(), known.title))
        .collect();
    all.sort();
    all
}

#[test]
fn what_an_agent_tells_is_listed_beside_our_own_and_as_one_with_it() {
    let state = state();
    journal(state.path(), "both", "as it was");
    journal(state.path(), "ours", "mine");
    let sessions = vec![
        listed("both", "/work", "as it is now", "2026-11-01T00:00:00Z"),
        listed("theirs", "/work", "not ours", "2026-10-01T00:00:00+02:00"),
    ];
    remember(state.path(), &told(Some("/work"), sessions)).unwrap();
    let title = |title: &str| Some(title.to_owned());
    let want = vec![
        ("both".to_owned(), "both", title("as it is now")),
        ("ours".to_owned(), "ours", title("mine")),
        ("theirs".to_owned(), "agent", title("not ours")),
    ];
    assert_eq!(names(state.path()), want);
    let all = list(state.path()).unwrap().sessions;
    let theirs = all.iter().find(|known| known.session_id == "theirs").unwrap();
    assert_eq!(
        (&*theirs.agent, &*theirs.command, theirs.cwd.as_path()),
        ("Agent A", "agent --acp", Path::new("/work"))
    );
    assert_eq!((theirs.state, theirs.is_empty(), theirs.turns), (State::Ended, false, 0));
    assert!(theirs.can.load && theirs.can.delete && !theirs.can.resume && !theirs.can.fork, "{:?}", theirs.can);
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    let (_, file) = files(&journals(state.path()).join(DIR)).unwrap().remove(0);
    assert_eq!((mode(&file), mode(file.parent().unwrap())), (0o600, 0o700));
}

#[test]
fn a_side_question_that_its_agent_has_kept_is_no_session() {
    let state = state();
    journal(state.path(), "aside", "an account");
    let path = journals(state.path()).join("aside.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    let how = serde_json::json!({ "Aside": { "beside": 0, "from": null } });
    let opens = serde_json::json!({ "OpenSession": { "cwd": "/work", "how": how } });
    let line = serde_json::json!({ "t": 0, "dir": "person", "at": { "agent": 0 }, "intent": opens }).to_string();
    let (head, rest) = text.split_once('\n').unwrap();
    // It is asked beside one that is open.
    let call = serde_json::json!({ "id": 9, "method": "session/new", "params": { "cwd": "/work" } });
    let call = serde_json::json!({ "t": 0, "dir": "client->agent", "frame": call });
    let answer = serde_json::json!({ "id": 9, "result": { "sessionId": "first" } });
    let answer = serde_json::json!({ "t": 0, "dir": "agent->client", "frame": answer });
    fs::write(&path, format!("{head}\n{call}\n{answer}\n{line}\n{rest}")).unwrap();
    let sessions =
        ["aside", "theirs"].map(|id| listed(id, "/work", "an account", "2026-10-01T00:00:00Z")).into_iter().collect();
    remember(state.path(), &told(Some("/work"), sessions)).unwrap();
    assert_eq!(names(state.path()).into_iter().map(|(id, ..)| id).collect::<Vec<_>>(), ["first", "theirs"]);
}

#[test]
fn what_is_not_told_of_any_more_is_forgotten_only_where_it_was_asked_for() {
    let state = state();
    let two = vec![listed("a", "/work", "a", "2026-01-01"), listed("b", "/other", "b", "2026-01-01")];
    remember(state.path(), &told(None, two)).unwrap();
    remember(state.path(), &told(Some("/work"), Vec::new())).unwrap();
    assert_eq!(names(state.path()).len(), 1, "the other directory was not asked for");
    let broken_off = Told { is_whole: false, ..told(None, Vec::new()) };
    remember(state.path(), &broken_off).unwrap();
    assert_eq!(names(state.path())[0].0, "b", "a list that ended early says nothing of what it lacks");
    remember(state.path(), &told(None, Vec::new())).unwrap();
    assert_eq!(names(state.path()), []);
}

#[test]
fn a_time_that_is_none_is_last_and_shown_as_it_was_told_and_none_is_in_the_future() {
    let state = state();
    let sessions = vec![
        listed("odd", "/work", "odd", "yesterday"),
        listed("late", "/work", "late", "9999-01-01T00:00:00Z"),
        listed("old", "/work", "old", "2020-01-01T00:00:00Z"),
    ];
    remember(state.path(), &told(None, sessions)).unwrap();
    let all = list(state.path()).unwrap().sessions;
    let ids: Vec<&str> = all.iter().map(|known| known.session_id.as_str()).collect();
    assert_eq!(ids, ["late", "old", "odd"]);
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    assert!(all[0].updated <= now && all[2].updated.is_zero());
    assert!(all.iter().all(|known| known.created.is_zero()), "no agent tells when a session was opened");
    assert_eq!((all[1].used_as_told.as_deref(), all[2].used_as_told.as_deref()), (None, Some("yesterday")));
}

/// Told again and again, it does not stay above all others.
#[test]
fn a_time_in_the_future_counts_as_when_it_was_told_first() {
    let state = state();
    let at = |seconds: u64| date::rfc3339(Duration::from_secs(seconds));
    let tells = |now: u64, updated: &str| {
        let sessions = vec![listed("late", "/work", "late", updated), listed("new", "/work", "new", &at(now - 10))];
        change(&journals(state.path()), "agent --acp", |book| {
            book.take(&told(None, sessions), Duration::from_secs(now));
        })
        .unwrap();
        let all = list(state.path()).unwrap().sessions.into_iter();
        all.map(|known| (known.session_id, known.updated.as_secs())).collect::<Vec<_>>()
    };
    let late = "2099-01-01T00:00:00Z";
    let (first, later) = (1_790_000_000, 1_790_000_500);
    assert_eq!(tells(first, late), [("late".to_owned(), first), ("new".to_owned(), first - 10)]);
    assert_eq!(tells(later, late), [("new".to_owned(), later - 10), ("late".to_owned(), first)]);
    // It is used again.
    assert_eq!(tells(later, &at(later - 1))[0], ("late".to_owned(), later - 1));
}

#[test]
fn a_name_of_the_persons_stays_and_what_they_forgot_is_not_shown_again() {
    let state = state();
    journal(state.path(), "ours", "mine");
    let theirs = || told(None, vec![listed("theirs", "/work", "t", "2026-01-01")]);
    remember(state.path(), &theirs()).unwrap();
    let known = |id: &str| list(state.path()).unwrap().sessions.into_iter().find(|known| known.session_id == id);
    for id in ["ours", "theirs"] {
        rename(state.path(), &known(id).unwrap(), Some(format!("{id} renamed"))).unwrap();
    }
    remember(state.path(), &theirs()).unwrap();
    for id in ["ours", "theirs"] {
        assert_eq!(known(id).unwrap().title, Some(format!("{id} renamed")));
    }
    rename(state.path(), &known("ours").unwrap(), None).unwrap();
    assert_eq!(known("ours").unwrap().title.as_deref(), Some("mine"));
    hide(state.path(), &[&known("theirs").unwrap()]).unwrap();
    remember(state.path(), &theirs()).unwrap();
    assert_eq!(known("theirs"), None);
    let (_, file) = files(&journals(state.path()).join(DIR)).unwrap().remove(0);
    let book = read(&file).unwrap().unwrap();
    let kept = book.sessions.iter().find(|kept| kept.id == "theirs").unwrap();
    assert_eq!(
        (&kept.title, &kept.updated, kept.told),
        (&None, &None, None),
        "what it was about comes back with no list"
    );
}

/// Nor does it come back when everything is forgotten; what stays keeps its name.
#[test]
fn what_was_forgotten_remains_so_when_all_is_forgotten() {
    let state = state();
    let theirs = || {
        let ids = ["forgotten", "listed", "open"];
        told(None, ids.map(|id| listed(id, "/work", id, "2026-01-01")).into_iter().collect())
    };
    remember(state.path(), &theirs()).unwrap();
    journal(state.path(), "open", "mine");
    let known = |id: &str| list(state.path()).unwrap().sessions.into_iter().find(|known| known.session_id == id);
    hide(state.path(), &[&known("forgotten").unwrap()]).unwrap();
    rename(state.path(), &known("open").unwrap(), Some("renamed".into())).unwrap();
    hide_all_but(state.path(), &[&known("open").unwrap()]).unwrap();
    remember(state.path(), &theirs()).unwrap();
    assert_eq!(names(state.path()), [("open".to_owned(), "both", Some("renamed".to_owned()))]);
}

#[test]
fn what_an_agent_tells_is_bounded() {
    let state = state();
    let many = (0..MAX_KEPT + 5).map(|n| listed(&format!("s{n}"), "/work", &"t".repeat(MAX_NAME * 2), "2026-01-01"));
    remember(state.path(), &told(None, many.collect())).unwrap();
    let (_, file) = files(&journals(state.path()).join(DIR)).unwrap().remove(0);
    let book = read(&file).unwrap().unwrap();
    assert_eq!(book.sessions.len(), MAX_KEPT);
    assert!(book.sessions[0].title.as_ref().unwrap().len() < MAX_NAME + 100);
    for n in 0..MAX_AGENTS + 3 {
        let one = vec![listed("a", "/work", "a", "2026-01-01")];
        remember(state.path(), &Told { command: format!("agent {n}"), ..told(None, one) }).unwrap();
    }
    assert!(files(&journals(state.path()).join(DIR)).unwrap().len() <= MAX_AGENTS);
}

#[test]
fn two_that_write_at_once_leave_a_whole_file() {
    let state = state();
    let work = |who: &str| {
        for n in 0..20 {
            let one = vec![listed(&format!("{who}{n}"), &format!("/{who}"), "a", "2026-01-01")];
            remember(state.path(), &told(Some(&format!("/{who}")), one)).unwrap();
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(|| work("a"));
        scope.spawn(|| work("b"));
    });
    let found = list(state.path()).unwrap();
    assert_eq!(found.problems, []);
    assert!(found.sessions.iter().any(|known| ["a19", "b19"].contains(&&*known.session_id)), "the last one is there");
}

#[test]
fn a_file_of_a_newer_version_and_one_that_is_a_link_are_left_alone() {
    let state = state();
    remember(state.path(), &told(None, vec![listed("a", "/work", "a", "2026-01-01")])).unwrap();
    let dir = journals(state.path()).join(DIR);
    let (_, file) = files(&dir).unwrap().remove(0);
    let newer = fs::read_to_string(&file).unwrap().replace("\"v\":1", "\"v\":2");
    fs::write(&file, newer).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", dir.join("00000000")).unwrap();
    let found = list(state.path()).unwrap();
    assert_eq!(found.sessions, []);
    assert_eq!(found.problems.len(), 1, "{:?}", found.problems);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_damaged_file_is_read_as_far_as_it_goes(cut in 0usize..2000, junk in prop::collection::vec(any::<u8>(), 0..64), at in 0usize..2000) {
        let state = state();
        let sessions = (0..8).map(|n| listed(&format!("s{n}"), "/work", "t\u{1b}[31m", "2026-01-01T00:00:00Z"));
        remember(state.path(), &told(None, sessions.collect())).unwrap();
        let (_, file) = files(&journals(state.path()).join(DIR)).unwrap().remove(0);
        let mut bytes = fs::read(&file).unwrap();
        bytes.truncate(cut.max(1));
        let at = at.min(bytes.len());
        bytes.splice(at..at, junk);
        fs::write(&file, &bytes).unwrap();
        let found = list(state.path()).unwrap();
        prop_assert!(found.sessions.len() <= 9);
        // It can be told anew.
        remember(state.path(), &told(None, vec![listed("new", "/work", "n", "2026-01-01")])).unwrap();
        prop_assert!(list(state.path()).unwrap().sessions.iter().any(|known| known.session_id == "new"));
    }
}

/// Agents give a session a name of their own before anything is said in it.
#[test]
fn a_session_in_which_nothing_was_asked_is_empty_until_its_agent_tells_of_use() {
    let state = state();
    journal(state.path(), "opened", "New session");
    let is_empty = || list(state.path()).unwrap().sessions[0].is_empty();
    assert!(is_empty());
    // The journal is of 2026-09-21T14:13:20Z.
    for (updated, want) in [("2026-09-21T14:13:30Z", true), ("2026-09-21T15:00:00Z", false)] {
        remember(state.path(), &told(None, vec![listed("opened", "/work", "New session", updated)])).unwrap();
        assert_eq!(is_empty(), want, "{updated}");
    }
    remember(state.path(), &told(None, Vec::new())).unwrap();
    assert!(is_empty());
    let known = list(state.path()).unwrap().sessions.remove(0);
    rename(state.path(), &known, Some("kept for later".into())).unwrap();
    assert!(!is_empty());
}

#[test]
fn a_title_that_only_its_agent_knows_stays_once_the_session_was_opened() {
    let state = state();
    let at = |seconds: u64| crate::base::date::rfc3339(Duration::from_secs(seconds));
    remember(state.path(), &told(None, vec![listed("old", "/work", "Plums", &at(1_700_000_000))])).unwrap();
    assert_eq!(list(state.path()).unwrap().sessions[0].title.as_deref(), Some("Plums"));
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs() + 60;
    let load =
        serde_json::json!({ "id": 0, "method": "session/load", "params": { "sessionId": "old", "cwd": "/work" } });
    let head = serde_json::json!({
        "v": 2, "ends": true, "started": now, "cwd": "/work", "command": "agent --acp", "codec": "acp-1"
    });
    let lines = [
        head.to_string(),
        serde_json::json!({ "t": 1, "dir": "client->agent", "frame": load }).to_string(),
        serde_json::json!({ "t": 2, "dir": "agent->client", "frame": { "id": 0, "result": {} } }).to_string(),
    ];
    fs::create_dir_all(journals(state.path())).unwrap();
    fs::write(journals(state.path()).join("opened.jsonl"), lines.join("\n") + "\n").unwrap();
    let all = list(state.path()).unwrap().sessions;
    assert_eq!((all.len(), all[0].title.as_deref(), all[0].source()), (1, Some("Plums"), "both"));
}

/// A title is of a conversation as soon as something was asked in it: an agent that is asked in a turn, or within the second
/// in which that ended, tells it.
#[test]
fn a_title_that_was_told_in_a_short_turn_is_there_afterwards() {
    const STARTED: u64 = 1_790_000_000;
    let journal = |state: &Path, titled: Option<f64>| {
        let line = |t: f64, dir: &str, frame: serde_json::Value| {
            serde_json::json!({ "t": t, "dir": dir, "frame": frame }).to_string()
        };
        let prompt = serde_json::json!({ "sessionId": "s", "prompt": [{ "type": "text", "text": "hello" }] });
        let info = serde_json::json!({ "sessionUpdate": "session_info_update", "title": "of the turn" });
        let update = serde_json::json!({ "method": "session/update", "params": { "sessionId": "s", "update": info } });
        let lines = [
            Some(
                serde_json::json!({ "v": 2, "started": STARTED, "cwd": "/work", "command": "agent --acp" }).to_string(),
            ),
            Some(line(
                1.0,
                "client->agent",
                serde_json::json!({ "id": 0, "method": "session/new", "params": { "cwd": "/work" } }),
            )),
            Some(line(2.0, "agent->client", serde_json::json!({ "id": 0, "result": { "sessionId": "s" } }))),
            Some(line(
                3.2,
                "client->agent",
                serde_json::json!({ "id": 1, "method": "session/prompt", "params": prompt }),
            )),
            titled.map(|t| line(t, "agent->client", update)),
            Some(line(6.6, "agent->client", serde_json::json!({ "id": 1, "result": { "stopReason": "end_turn" } }))),
        ];
        fs::create_dir_all(journals(state)).unwrap();
        let lines: Vec<String> = lines.into_iter().flatten().collect();
        fs::write(journals(state).join("s.jsonl"), lines.join("\n") + "\n").unwrap();
    };
    let tells = |state: &Path, millis: u64, cwd: &str, sessions: Vec<Listed>| {
        let at = Duration::from_secs(STARTED) + Duration::from_millis(millis);
        change(&journals(state), "agent --acp", |book| book.take(&told(Some(cwd), sessions), at)).unwrap();
    };
    let listed = || vec![listed("s", "/work", "Plums", &crate::base::date::rfc3339(Duration::from_secs(STARTED + 3)))];
    let title = |state: &Path| list(state).unwrap().sessions[0].title.clone();
    // Before anything was asked, in the turn, in the second in which it ended, and later.
    for (at, want) in [(3100, None), (3300, Some("Plums")), (6700, Some("Plums")), (60_000, Some("Plums"))] {
        let state = state();
        journal(state.path(), None);
        tells(state.path(), at, "/work", listed());
        assert_eq!(title(state.path()).as_deref(), want, "told after {at} ms");
        // What is told of another directory later makes nothing of this one newer.
        tells(state.path(), 90_000, "/other", Vec::new());
        assert_eq!(title(state.path()).as_deref(), want, "told after {at} ms");
    }
    // The last word counts, whether it was told by itself or in a list.
    for (at, want) in [(4900, "of the turn"), (5200, "Plums"), (6700, "Plums")] {
        let state = state();
        journal(state.path(), Some(5.0));
        tells(state.path(), at, "/work", listed());
        tells(state.path(), 90_000, "/other", Vec::new());
        assert_eq!(title(state.path()).as_deref(), Some(want), "told after {at} ms");
    }
}
