//! A run, written down as the lines of a journal and replayed, gives the same model.

use crate::support::{Rig, SESSION, chunk, exit_code, plain_init, render};
use acp_tui::engine::replay::replay;
use acp_tui::model::Model;
use acp_tui::model::changes::{Cause, FileChange, FileDoc, ReviewDoc, ReviewEvent, Scope};
use acp_tui::model::effect::Effect;
use acp_tui::model::event::{HostEvent, Intent, WriteFact};
use acp_tui::model::ids::TermId;
use acp_tui::model::session::Policy;
use acp_tui::store::{preview, search, sessions};
use proptest::prelude::*;
use serde_json::json;
use std::path::PathBuf;

/// One of the first release, in which nothing is addressed.
const V1: &str = include_str!("journal-v1.jsonl");

fn long_run() -> Rig {
    let mut rig = Rig::starting(Policy::Ask);
    rig.line("a banner");
    rig.answer("initialize", plain_init());
    rig.update(json!({ "sessionUpdate": "current_mode_update", "currentModeId": "b" }));
    rig.answer("session/new", json!({ "sessionId": SESSION,
        "modes": { "currentModeId": "a", "availableModes": [{ "id": "a", "name": "A" }, { "id": "b", "name": "B" }] } }));
    rig.prompt("do it\nnow");
    rig.update(chunk("agent_thought_chunk", "hm"));
    rig.say("on it \u{2028} é");
    rig.line("{torn");
    rig.line("{\"jsonrpc\":\"2.0\",\"id\":4");
    rig.bytes(b"\xff\xfe");
    let write = |content: &[u8]| {
        let before = br#"{"jsonrpc":"2.0","id":9,"method":"fs/write_text_file","params":{"sessionId":"s1","path":"/project/m","content":""#;
        [before.as_slice(), content, br#""}}"#].concat()
    };
    rig.bytes(&write(b"a\xffb"));
    rig.bytes(&write(br"a\ud800b"));
    rig.ask(1, "t");
    rig.choose("yes");
    rig.terminal(2, "term-1");
    rig.tool_update(json!({ "toolCallId": "t", "content": [{ "type": "terminal", "terminalId": "term-1" }] }));
    rig.request(3, "terminal/wait_for_exit", json!({ "terminalId": "term-1" }));
    rig.terminal_ends("term-1", exit_code(0));
    rig.request(4, "fs/write_text_file", json!({ "path": "/project/a", "content": "x" }));
    let req = rig.wished(|e| if let Effect::FsWrite { req, .. } = e { Some(*req) } else { None });
    rig.host(HostEvent::FileWritten {
        req,
        path: "/project/a".into(),
        result: Ok(WriteFact { created: false, bytes: 1, old: Some("old".into()), outside: None }),
    });
    rig.prompt("waits");
    rig.intent(Intent::Cancel);
    rig.stop("cancelled");
    rig.prompt("last");
    rig.tool(json!({ "toolCallId": "t", "title": "again" }));
    rig.host(HostEvent::JournalFailed { message: "full".into() });
    rig.exited(exit_code(9), &["bye"]);
    rig
}

fn fresh() -> Model {
    Model::new("agent --acp".into(), "/project".into(), Policy::Ask)
}

#[test]
fn r_020_a_journal_gives_the_same_model_again() {
    let rig = long_run();
    let (again, skipped) = replay(fresh(), PathBuf::from("/project"), rig.journal.iter().map(String::as_str));
    assert_eq!(skipped, 0);
    assert_eq!(render(&again), rig.entries());
    assert!(rig.entries().len() > 10, "{:?}", rig.entries());
    for (old, new) in rig.model().first().session().entries().iter().zip(again.first().session().entries()) {
        assert_eq!(old, new, "times and revisions too");
    }
    assert_eq!(again.first().phase(), rig.model().first().phase());
    assert_eq!(again.first().agent(), rig.model().first().agent());
    assert_eq!(again.first().session(), rig.model().first().session());
    let old = rig.model().first().session().terminal(&TermId::from("term-1")).unwrap();
    let new = again.first().session().terminal(&TermId::from("term-1")).unwrap();
    assert_eq!((old.text.text(), &old.exit, &old.command), (new.text.text(), &new.exit, &new.command));
}

#[test]
fn a_header_and_a_torn_last_line_do_no_harm() {
    let rig = long_run();
    let mut text = String::from("{\"v\":1,\"agent\":\"agent --acp\"}\n");
    text.push_str(&rig.journal.join("\n"));
    let whole = text.len() - rig.journal.last().unwrap().len() / 2;
    let cut = text.floor_char_boundary(whole);
    let (again, skipped) = replay(fresh(), PathBuf::from("/project"), text[..cut].lines());
    assert_eq!(skipped, 1);
    let again = render(&again);
    assert_eq!(again.len(), rig.entries().len() - 1, "all but the death");
}

#[test]
fn a_journal_of_version_1_is_still_read() {
    let (model, skipped) = replay(fresh(), PathBuf::from("/project"), V1.lines());
    assert_eq!(skipped, 0);
    let entries = render(&model);
    let first = "you: hello|agent: hi there|tool T Cancelled|terminal term-1: killed by SIGTERM|Info: stopped";
    assert_eq!(entries[..5].join("|"), first);
    assert_eq!(entries[5], "Warn: the journal is not written any more: full");
    assert_eq!(entries[6..], ["Error: the agent ended: exit 3 | bye"]);
    assert!(model.first().agent().is_dead() && model.first().session().is_closed());
}

/// The review that was looked at and the rest of the screen come back, too.
#[test]
fn what_the_review_and_a_terminal_showed_is_in_the_journal() {
    let mut rig = Rig::prompted("hi");
    rig.terminal(1, "term-1");
    rig.now += std::time::Duration::from_secs(5);
    rig.host(HostEvent::TerminalMoved { term: TermId::from("term-1") });
    let file = FileDoc {
        path: "a.rs".into(),
        renamed_from: None,
        change: FileChange::Modified,
        added: 1,
        removed: 1,
        cause: Cause::Tool,
        hunks: Vec::new(),
        note: Some("CRLF".into()),
        held: None,
    };
    let doc = ReviewDoc { rev: 4, scope: Scope::Turn(1), files: vec![file.into()], ..ReviewDoc::default() };
    rig.host(HostEvent::Review(ReviewEvent::ReviewShown { doc: doc.clone().into() }));
    let (again, skipped) = replay(fresh(), PathBuf::from("/project"), rig.journal.iter().map(String::as_str));
    assert_eq!(skipped, 0);
    assert_eq!(again.first().session().review().map(|shown| &**shown), Some(&doc));
    let moved = |model: &Model| model.first().session().terminal(&TermId::from("term-1")).unwrap().moved;
    assert!(moved(&again) > std::time::Duration::from_secs(5));
    assert_eq!(moved(&again), moved(rig.model()));
    assert_eq!(again.first().session(), rig.model().first().session());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_journal_that_was_cut_or_overwritten_harms_nobody_who_reads_it(
        at in any::<usize>(),
        gone in 0..400usize,
        junk in proptest::collection::vec(any::<u8>(), 0..200),
        again in any::<bool>(),
    ) {
        let header = r#"{"v":2,"client":"acp-tui 0.1.0","command":"agent --acp","cwd":"/project","started":1790000000}"#;
        let whole = [header, "\n", &long_run().journal.join("\n"), "\n"].concat().into_bytes();
        let (mut text, at) = (whole.clone(), at % (whole.len() + 1));
        text.splice(at..(at + gone).min(whole.len()), junk);
        if again {
            text.extend_from_slice(&whole);
        }
        let temp = tempfile::tempdir().unwrap();
        let dir = sessions::journals(temp.path());
        std::fs::create_dir_all(&dir).unwrap();
        let journals = [dir.join("1790000000-000-1.jsonl"), dir.join("1790000001-000-1.jsonl")];
        std::fs::write(&journals[0], &text).unwrap();
        std::fs::write(&journals[1], &whole).unwrap();
        let listed = sessions::list(temp.path()).unwrap();
        // The second time from the index.
        prop_assert_eq!(sessions::list(temp.path()).unwrap().sessions.len(), listed.sessions.len());
        let query = search::Query::of(search::Matcher::literal("a"));
        search::search(temp.path(), &query, |_| true).unwrap();
        // One that begins with something else is refused, which is an answer too.
        drop(preview::end_of(temp.path(), &journals, SESSION));
        let (model, _) = replay(fresh(), PathBuf::from("/project"), String::from_utf8_lossy(&text).lines());
        prop_assert!(render(&model).len() < 100);
    }
}
