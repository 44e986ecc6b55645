use super::head::FOLDED;
use super::*;
use crate::model::Model;
use crate::model::changes::WritePreview;
use crate::model::entry::{
    Attachment, Block, ChunkKind, DetailFold, FileOp, FileOutcome, FileVerb, Level, Message, Notice, PlanEntry,
    PlanStatus, Priority, UserMessage, UserState,
};
use crate::model::event::{Intent, Update};
use crate::model::ids::{EntryId, ReqId, TermId, ToolId, TurnId};
use crate::model::patch::Patch;
use crate::model::question::Outside;
use crate::model::session::Policy;
use crate::model::tool::{
    Change, ChangeBody, Decided, Location, Mark, Operation, ToolCall, ToolContent, ToolKind, ToolPatch, ToolStatus,
};
use crate::text::line::WrapMode;
use crate::text::run::AnsiColor;
use crate::ui::fixtures::Scene;
use crate::ui::keys::{Code, Keymap};
use crate::ui::msg::Out;
use serde_json::json;
use std::time::Duration;

fn entry(body: Body) -> Entry {
    Entry { id: EntryId(0), rev: 1, finished: true, turn: TurnId(1), at: Duration::ZERO, body }
}

fn call(kind: ToolKind, title: &str, status: ToolStatus) -> ToolCall {
    let mut tool = ToolCall::new(ToolId::from("t"), Duration::ZERO);
    tool.kind = kind;
    tool.title = title.into();
    tool.status = status.clone();
    tool.ended = status.is_final().then(|| Duration::from_secs(2));
    tool
}

fn with_ctx<R>(width: u16, fold: Option<Fold>, f: impl FnOnce(&CellCtx<'_>) -> R) -> R {
    let model = Model::new("a".into(), "/proj".into(), Policy::Ask);
    let roots = [PathBuf::from("/proj")];
    let now = Duration::from_secs(9);
    f(&CellCtx {
        session: model.first(),
        width,
        now,
        with: &[],
        fold,
        typing: None,
        plan_beside: false,
        roots: &roots,
        home: None,
        pictures: None,
        keys: Some(&Keymap::default()),
    })
}

/// Gutter, prefix, text and what stands at the right, one line each.
fn flat(lines: &[LogicalLine]) -> Vec<String> {
    lines
        .iter()
        .map(|l| {
            let right = if l.right.is_empty() { String::new() } else { format!(" >> {}", l.right.as_str()) };
            format!("{}{}{}{right}", l.gutter.as_str(), l.prefix.as_str(), l.text.as_str())
        })
        .collect()
}

fn shown(body: Body, fold: Option<Fold>) -> Vec<String> {
    with_ctx(100, fold, |ctx| flat(&lines(&entry(body), ctx)))
}

fn tool(tool: ToolCall, fold: Option<Fold>) -> Vec<String> {
    shown(Body::Tool(Box::new(tool)), fold)
}

fn permission_body(
    entry: &Entry,
    previews: &[WritePreview],
    outside: &[Outside],
    ctx: &CellCtx<'_>,
) -> Vec<LogicalLine> {
    permission::permission_body(entry, (previews, outside), Sent::Beginning, ctx).0
}

#[test]
fn r_310_the_first_line_of_a_call_says_state_verb_and_object_without_colour() {
    let head = |kind, title: &str, status| tool(call(kind, title, status), None).remove(0);
    assert_eq!(head(ToolKind::Read, "Read /proj/src/main.rs", ToolStatus::Completed), "✓ read     src/main.rs >> 2 s");
    assert_eq!(head(ToolKind::Execute, "`cargo test`", ToolStatus::Failed), "✗ run      cargo test >> 2 s");
    assert_eq!(head(ToolKind::Search, "Search fn add", ToolStatus::Pending), "· search   fn add");
    assert_eq!(head(ToolKind::Other, "mcp: x\ny", ToolStatus::InProgress), "⠹ tool     mcp: x y >> 9 s");
    let odd = |status| tool(call(ToolKind::Read, "Read a", status), None)[0].clone();
    assert!(odd(ToolStatus::Paused).contains("paused"));
    assert!(odd(ToolStatus::Cancelled).starts_with('–') && odd(ToolStatus::Cancelled).contains("cancelled"));
    assert!(odd(ToolStatus::Other("dreaming".into())).contains("dreaming"), "its own word");
    assert!(!odd(ToolStatus::Other("dream\u{1b}ing".into())).contains('\u{1b}'));
    let mut cancelled = call(ToolKind::SwitchMode, "", ToolStatus::InProgress);
    cancelled.mark = Some(Mark::Cancelled);
    assert_eq!(tool(cancelled, None), ["– mode      >> cancelled"]);
}

#[test]
fn a_command_comes_from_the_raw_input() {
    for (input, expected) in [
        (json!({"command": "ls -l"}), "ls -l"),
        (json!({"command": ["bash", "-lc", "make all"]}), "make all"),
        (json!({"command": ["git", "status"]}), "git status"),
        (json!({"command": 7}), "List"),
        (json!("x"), "List"),
    ] {
        let mut t = call(ToolKind::Execute, "List", ToolStatus::Completed);
        t.raw_input = Some(input);
        assert!(tool(t, None)[0].starts_with(&format!("✓ run      {expected}")));
    }
}

#[test]
fn r_318_paths_are_shown_relative_to_the_roots() {
    let mut t = call(ToolKind::Edit, "/proj/src/a.rs", ToolStatus::Completed);
    assert_eq!(tool(t.clone(), None), ["✓ edit     src/a.rs >> 2 s"]);
    t.title = "/elsewhere/a.rs".into();
    assert_eq!(tool(t, None), ["✓ edit     /elsewhere/a.rs >> 2 s"], "outside of the roots it stays whole");
}

#[test]
fn of_a_path_that_is_too_long_the_name_of_the_file_stays() {
    let path = format!("/elsewhere/{}name_of_the_file.rs", "directory/".repeat(20));
    let mut s = Scene::working(60, 24);
    let mut patch = ToolPatch::new("t".into());
    (patch.kind, patch.status) = (Patch::Set(ToolKind::Read), Patch::Set(ToolStatus::Completed));
    patch.title = Patch::Set(format!("Read {path}"));
    s.update(Update::ToolCall(patch.into()));
    assert!(s.draw().contains("…") && s.shown.contains("/name_of_the_file.rs"), "{}", s.shown);
    // Of several in one row, too.
    let mut s = Scene::working(80, 24);
    for id in ["one", "two"] {
        s.tool(id, ToolKind::Read, &format!("Read some/{}{id}.rs", "directory/".repeat(6)), ToolStatus::Completed);
    }
    assert!(s.draw().contains("/one.rs · …") && s.shown.contains("/two.rs"), "{}", s.shown);
    // What is no path is cut at its end.
    s.tool("x", ToolKind::Execute, &format!("cat {path}"), ToolStatus::Completed);
    assert!(s.draw().contains("cat /elsewhere/"), "{}", s.shown);
}

#[test]
fn r_305_a_missing_title_gives_way_to_the_path() {
    let mut t = call(ToolKind::Read, "Read file", ToolStatus::Completed);
    t.locations = vec![Location { path: "/proj/src/a.rs".into(), line: Some(12) }];
    assert!(tool(t.clone(), None)[0].contains("src/a.rs"));
    assert!(tool(t, Some(Fold::Open)).contains(&"   src/a.rs:12".to_owned()));
}

fn output(lines: usize) -> ToolContent {
    let text = (1..=lines).map(|n| format!("line {n}")).collect::<Vec<_>>().join("\n") + "\n";
    ToolContent::Block(Block::Text(text))
}

#[test]
fn what_runs_or_failed_is_open_by_itself() {
    for (status, rows) in [(ToolStatus::InProgress, 8), (ToolStatus::Failed, 8), (ToolStatus::Completed, 3)] {
        let mut t = call(ToolKind::Execute, "x", status);
        t.content = vec![output(30)];
        let shown = tool(t.clone(), None);
        assert_eq!(shown.iter().filter(|l| l.contains("line ")).count(), rows, "{shown:?}");
        assert!(shown[1].starts_with("   ⋯ >> ▸") && shown.last().is_some_and(|l| l == "   line 30"), "{shown:?}");
        assert_eq!(tool(t.clone(), Some(Fold::Closed)).len(), 1);
        assert_eq!(tool(t, Some(Fold::Open)).len(), 31);
    }
}

#[test]
fn a_command_is_marked_by_its_real_exit() {
    for (output, head) in [
        (json!({"exit_code": 3}), "✗ run      make >> exit 3   2 s"),
        (json!({"metadata": {"exit": 3}}), "✗ run      make >> exit 3   2 s"),
        (json!({"exitCode": 0}), "✓ run      make >> 2 s"),
        (json!({"exit": "3"}), "✓ run      make >> 2 s"),
    ] {
        let mut t = call(ToolKind::Execute, "make", ToolStatus::Completed);
        t.raw_output = Some(output);
        assert_eq!(tool(t, None)[0], head);
    }
}

#[test]
fn a_call_says_what_is_done_to_which_file_whatever_its_title() {
    let change = |operation, path: &str| {
        ToolContent::Change(Change { operation, path: path.into(), from: None, body: ChangeBody::Nothing })
    };
    let head = |kind, title: &str, content: Vec<ToolContent>, locations: &[&str]| {
        let mut t = call(kind, title, ToolStatus::Completed);
        t.content = content;
        t.locations = locations.iter().map(|path| Location { path: (*path).into(), line: None }).collect();
        let head = tool(t, Some(Fold::Closed)).remove(0);
        head.split(" >> ").next().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let new = || vec![change(Operation::Add, "/proj/NOTES.md")];
    assert_eq!(head(ToolKind::Edit, "Writing to NOTES.md", new(), &[]), "✓ create NOTES.md");
    assert_eq!(head(ToolKind::Other, "WriteFile: Writing to NOTES.md", new(), &[]), "✓ create NOTES.md");
    let edit = || vec![change(Operation::Modify, "/proj/src/main.rs")];
    assert_eq!(head(ToolKind::Other, "use StrReplaceFile: src/main.rs", edit(), &[]), "✓ edit src/main.rs");
    assert_eq!(head(ToolKind::Edit, "src/main.rs: fn add(a) => fn add(b)", edit(), &[]), "✓ edit src/main.rs");
    let gone = vec![change(Operation::Delete, "/proj/a")];
    assert_eq!(head(ToolKind::Edit, "Edit a", gone, &[]), "✓ delete a");
    assert_eq!(head(ToolKind::Read, "Viewing src/main.rs", Vec::new(), &["/proj/src/main.rs"]), "✓ read src/main.rs");
    assert_eq!(
        head(ToolKind::Read, "Read src/main.rs (1 - 12)", Vec::new(), &["/proj/src/main.rs"]),
        "✓ read src/main.rs (1 - 12)"
    );
    let all = ["/proj/a", "/proj/b", "/proj/a", "/proj/c", "/proj/d", "/proj/e"];
    assert_eq!(head(ToolKind::Read, r#"read_files: {"files":[{"#, Vec::new(), &all), "✓ read a · b · c · 2 more");
}

#[test]
fn a_call_that_changes_no_line_says_what_it_is_and_no_plus_zero() {
    let row = |operation, body| {
        let mut t = call(ToolKind::Edit, "Edit a.rs", ToolStatus::Completed);
        t.content = vec![ToolContent::Change(Change { operation, path: "/proj/a.rs".into(), from: None, body })];
        tool(t, Some(Fold::Closed)).remove(0)
    };
    let texts = |old: Option<&str>, new: &str| ChangeBody::Texts { old: old.map(Into::into), new: new.into() };
    let same = row(Operation::Modify, texts(Some("one"), "one"));
    assert!(same.contains("edit") && same.contains("no change") && !same.contains("+0"), "{same}");
    for made in [row(Operation::Add, texts(None, "")), row(Operation::Move, ChangeBody::Nothing)] {
        assert!(!made.contains("no change") && !made.contains("+0"), "{made}");
    }
    let written = |old: Option<&str>, new: &str| {
        let (old, created) = (old.map(Into::into), old.is_none());
        let outcome = FileOutcome::Written { created, bytes: new.len() as u64, old, new: new.into() };
        let op = FileOp { verb: FileVerb::Write, path: "/proj/a".into(), outcome, is_outside: false };
        shown(Body::File(op), None).remove(0)
    };
    assert!(written(None, "").ends_with("created a  empty"), "{}", written(None, ""));
    assert!(written(Some("x"), "x").ends_with("wrote a  no change"), "{}", written(Some("x"), "x"));
}

#[test]
fn a_move_says_what_the_file_was_called_and_what_it_is_called_then() {
    let call = |kind, title: &str| call(kind, title, ToolStatus::Completed);
    let row = |t: ToolCall, width| {
        let head =
            with_ctx(width, Some(Fold::Closed), |ctx| flat(&lines(&entry(Body::Tool(Box::new(t))), ctx))).remove(0);
        head.split(" >> ").next().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let (from, to) = ("/proj/src/handlers/old_accounts.rs", "/proj/src/routes/v2/accounts_by_number.rs");
    let both = "✓ move src/handlers/old_accounts.rs → src/routes/v2/accounts_by_number.rs";
    let body = ChangeBody::Nothing;
    let mut changed = call(ToolKind::Edit, "Editing files");
    let change = Change { operation: Operation::Move, path: to.into(), from: Some(from.into()), body };
    changed.content = vec![ToolContent::Change(change)];
    let mut given = call(ToolKind::Move, "move_file");
    given.raw_input = Some(json!({ "source": from, "destination": to }));
    let titled = call(ToolKind::Move, &format!("Move {from} to {to}"));
    let mut placed = call(ToolKind::Move, &format!("Move {from}"));
    placed.locations = [from, to].map(|path| Location { path: path.into(), line: None }).to_vec();
    placed.title = from.into();
    for t in [changed, given, titled, placed] {
        assert_eq!(row(t.clone(), 120), both);
        let narrow = row(t.clone(), 80);
        assert!(narrow.contains("/old_accounts.rs → src/") && narrow.ends_with("/accounts_by_number.rs"), "{narrow}");
        let narrower = row(t, 60);
        assert!(narrower.contains("old_accounts.rs → ") && narrower.ends_with("accounts_by_number.rs"), "{narrower}");
    }
    let mut one = call(ToolKind::Move, "");
    one.locations = vec![Location { path: format!("/proj/{}x.rs", "directory/".repeat(9)), line: None }];
    assert!(row(one, 60).ends_with("/x.rs"), "the name is kept where only one is known");
    assert_eq!(row(call(ToolKind::Move, "Move it to the end of the list"), 80), "✓ move it to the end of the list");
}

#[test]
fn opened_output_is_capped_and_says_so() {
    let mut t = call(ToolKind::Execute, "x", ToolStatus::Completed);
    t.content = vec![output(2200)];
    let shown = tool(t, Some(Fold::Open));
    assert_eq!(shown.len(), 2002);
    assert_eq!(shown[2001], "   … 200 more lines");
}

#[test]
fn a_fence_around_the_whole_output_is_not_output() {
    let mut t = call(ToolKind::Read, "x", ToolStatus::Completed);
    t.content = vec![ToolContent::Block(Block::Text("```console\nfn x() {}\n```".into()))];
    assert_eq!(tool(t, Some(Fold::Open))[1..], ["   fn x() {}"]);
}

#[test]
fn a_finished_edit_shows_its_diff_readable_without_colour() {
    let new = (1..=40).map(|n| format!("n{n}")).collect::<Vec<_>>().join("\n") + "\n";
    let mut t = call(ToolKind::Edit, "Edit a.rs", ToolStatus::Completed);
    t.content = vec![diff(Some("a\n"), &new)];
    let lines = tool(t.clone(), None);
    assert_eq!(lines[0], "✓ edit     a.rs >> +40 −1   2 s");
    assert_eq!(lines[1], "   - a");
    assert_eq!(lines[2], "   + n1");
    assert_eq!(lines.len(), 14, "{lines:?}");
    assert_eq!(lines[13], "   … 29 more lines");
    assert_eq!(tool(t, Some(Fold::Open)).len(), 42);
}

#[test]
fn an_unknown_terminal_says_so() {
    let mut t = call(ToolKind::Execute, "x", ToolStatus::InProgress);
    t.content = vec![ToolContent::Terminal(TermId::from("gone"))];
    assert_eq!(tool(t, None)[1], "   terminal output not available");
}

#[test]
fn raw_values_are_bounded() {
    let mut t = call(ToolKind::Other, "x", ToolStatus::Completed);
    let big: Vec<_> = (0..100_000).map(|n| json!({"n": n, "text": "a\nb\u{1b}[2J"})).collect();
    t.raw_input = Some(json!({"path": "/x", "list": big}));
    let shown = tool(t, Some(Fold::Open));
    assert!(shown.len() <= 204, "{}", shown.len());
    assert!(shown.contains(&"   path: /x".to_owned()), "{:?}", &shown[..4]);
    assert!(!shown.iter().any(|l| l.chars().any(char::is_control)));
}

#[test]
fn a_failure_without_content_shows_the_raw_output() {
    let mut t = call(ToolKind::Other, "x", ToolStatus::Failed);
    t.raw_output = Some(json!({"error": "no such file"}));
    assert!(tool(t, None).contains(&"   output  error: no such file".to_owned()));
}

#[test]
fn files_served_are_one_line() {
    let op = |outcome| {
        Body::File(FileOp { verb: FileVerb::Write, path: "/proj/src/main.rs".into(), outcome, is_outside: false })
    };
    let written = |old: Option<&str>, created| FileOutcome::Written {
        created,
        bytes: 4,
        old: old.map(Into::into),
        new: "a\nc\n".into(),
    };
    assert_eq!(shown(op(written(Some("a\nb\n"), false)), None), ["· wrote src/main.rs  +1 −1"]);
    assert_eq!(shown(op(written(None, true)), None), ["· created src/main.rs  +2"]);
    assert_eq!(shown(op(written(None, false)), None), ["· wrote src/main.rs  4 B"]);
    let cut =
        FileOutcome::Written { created: true, bytes: 30_000_000, old: None, new: "a\n… [2 bytes left out]".into() };
    assert_eq!(shown(op(cut), None), ["· created src/main.rs  30 MB"]);
    assert_eq!(
        shown(op(FileOutcome::Refused("outside of the roots".into())), None),
        ["✗ refused to write src/main.rs: outside of the roots"]
    );
}

#[test]
fn prompts_name_their_files_and_whether_they_count() {
    let user = UserMessage {
        text: "do\nit".into(),
        links: vec!["src/a.rs".into()],
        state: UserState::Dropped,
        message_id: None,
        sent: None,
    };
    assert_eq!(shown(Body::User(user), None), ["▌ do", "▌ it", "@src/a.rs", "not part of the conversation any more"]);
}

#[test]
fn what_the_client_tells_the_agent_is_none_of_the_persons_words() {
    let user = |text: String| UserMessage {
        text,
        links: Vec::new(),
        state: UserState::OfClient,
        message_id: None,
        sent: None,
    };
    assert_eq!(
        shown(Body::User(user("Refused\nby a rule".into())), None),
        ["· acp-tui tells the agent:", "  Refused", "  by a rule"]
    );
    let long = shown(Body::User(user("line\n".repeat(40))), None);
    assert_eq!((long.len(), &*long[0], &*long[8]), (10, "· acp-tui tells the agent:", "  line"));
    assert!(long[9].contains("32 more lines"), "{long:?}");
}

#[test]
fn the_time_of_day_stands_beside_a_prompt_also_of_one_that_is_folded() {
    let user = |text: String| {
        let sent = Some(Duration::from_secs(1_795_000_000));
        UserMessage { text, links: Vec::new(), state: UserState::Sent, message_id: None, sent }
    };
    assert_eq!(shown(Body::User(user("do\nit".into())), None), ["▌ do >> 11:06", "▌ it"]);
    let long = shown(Body::User(user("line\n".repeat(40))), None);
    assert_eq!((long[0].as_str(), long[1].as_str()), ("▌ line >> 11:06", "▌ line"));
}

#[test]
fn what_the_person_has_allowed_says_so_where_that_cuts_nothing() {
    let mut t = call(ToolKind::Execute, "make all", ToolStatus::Completed);
    let row = |t: &ToolCall, width| {
        with_ctx(width, None, |ctx| flat(&lines(&entry(Body::Tool(Box::new(t.clone()))), ctx)).remove(0))
    };
    assert_eq!(row(&t, 100), "✓ run      make all >> 2 s");
    t.allowed = true;
    assert_eq!(row(&t, 100), "✓ run      make all >> you allowed it   2 s");
    assert_eq!(row(&t, 40), "✓ run  make all >> you allowed it");
    assert_eq!(row(&t, 24), "✓ run  make all", "the command comes first");
    t.refused = true;
    assert!(!row(&t, 100).contains("you allowed it"), "that was before");
}

#[test]
fn a_call_without_a_kind_is_what_the_name_of_its_tool_says() {
    let of = |title: &str| {
        let t = call(ToolKind::Other, title, ToolStatus::Completed);
        shown(Body::Tool(Box::new(t)), None).remove(0).replace(" >> 2 s", "").trim_end().to_owned()
    };
    for (title, row) in [
        ("ReadFile: src/main.rs", "✓ read     src/main.rs"),
        ("Grep: fn add", "✓ search   fn add"),
        ("read_many_files", "✓ read"),
        ("FetchURL: https://example.org/a", "✓ fetch    https://example.org/a"),
        ("SetTodoList", "✓ tool     SetTodoList"),
        ("Read the manual", "✓ tool     Read the manual"),
        ("read: ", "✓ read"),
        ("no_such_tool: x", "✓ tool     no_such_tool: x"),
        ("", "✓ tool"),
    ] {
        assert_eq!(of(title), row, "{title:?}");
    }
}

#[test]
fn what_a_running_call_is_given_is_no_output_and_says_what_is_done_to_what() {
    let shows = |title: &str, text: &str, status: ToolStatus| {
        let mut call = call(ToolKind::Other, title, status);
        call.content = vec![ToolContent::Block(Block::Text(text.into()))];
        tool(call, None)
    };
    for (title, text, wanted) in [
        ("ReadFile: src/ma", r#"{"path": "/proj/src/ma"#, "⠹ read     src/ma"),
        ("ReadFile: src/main.rs", r#"{"path": "/proj/src/main.rs"}"#, "⠹ read     src/main.rs"),
        ("ReadFile", r#"{"path": "/proj/src/main.rs"}"#, "⠹ read     src/main.rs"),
        ("Glob", r#"{"pattern": "**/*.rs", "directory": "/proj"}"#, "⠹ search   **/*.rs"),
        ("FetchURL", r#"{"url": "http://127.0.0.1/"}"#, "⠹ fetch    http://127.0.0.1/"),
        ("Shell: echo one...two", r#"{"command": "echo one; echo two"}"#, "⠹ run      echo one; echo two"),
        ("Frobnicate", "{", "⠹ tool     Frobnicate"),
    ] {
        let rows = shows(title, text, ToolStatus::InProgress);
        assert!(rows.len() == 1 && rows[0].starts_with(wanted), "{title}: {rows:?}");
        assert!(rows[0].contains('▸'), "it can be opened: {rows:?}");
    }
    let long = format!(r#"{{"path": "a", "content": "{}"#, "é".repeat(9000));
    assert_eq!(shows("WriteFile: a", &long, ToolStatus::InProgress).len(), 1);
    // Output is shown: of what ended, and what is no object.
    assert!(shows("Shell: x", r#"{"a": 1}"#, ToolStatus::Failed).len() > 1);
    assert!(shows("Shell: x", "{1, 2}", ToolStatus::InProgress).len() > 1);
    assert!(shows("Shell: x", "{\"a\": 1}\n{\"a\": 2}", ToolStatus::InProgress).len() > 1);
    let mut known = call(ToolKind::Execute, "curl x", ToolStatus::InProgress);
    known.content = vec![ToolContent::Block(Block::Text("{\"a\": ".into()))];
    assert!(tool(known, None).len() > 1);
    let mut named = call(ToolKind::Other, "read_file", ToolStatus::Completed);
    named.raw_input = Some(json!({"file_path": "/proj/a.rs"}));
    assert!(tool(named, None)[0].starts_with("✓ read     a.rs"));
}

#[test]
fn what_was_left_out_of_a_message_is_said() {
    let message = Message { text: "hi".into(), dropped: 2_100_000, ..Message::default() };
    assert_eq!(shown(Body::Agent(message), None), ["hi", "… 2.1 MB more are not kept here"]);
}

#[test]
fn a_message_that_its_agent_has_replaced_bears_a_mark() {
    let message = |replaced| Body::Agent(Message { text: "hi".into(), replaced, ..Message::default() });
    let mark = "the agent has replaced what it said here before";
    assert_eq!(shown(message(0), None), ["hi"]);
    assert_eq!(shown(message(1), None), ["hi", mark]);
    assert_eq!(shown(message(3), None), ["hi", &format!("{mark}, 3 times")]);
}

#[test]
fn plans_and_notices() {
    let step = |content: &str, status| PlanEntry { content: content.into(), priority: Priority::High, status };
    let plan =
        vec![step("a", PlanStatus::Completed), step("b\nc", PlanStatus::InProgress), step("d", PlanStatus::Pending)];
    let raw = vec![PlanEntry { content: "Fix the `add` **now**".into(), ..plan[0].clone() }];
    assert_eq!(shown(Body::Plan(raw), None)[1], "   ✓ Fix the add now", "as in an answer");
    assert_eq!(shown(Body::Plan(plan.clone()), Some(Fold::Closed)), ["≡ plan  1 of 3 >> ▸"]);
    assert_eq!(shown(Body::Plan(plan), None), ["≡ plan  1 of 3", "   ✓ a", "   ▸ b c", "   · d"]);
    let other = vec![step("e", PlanStatus::Other("blo\u{1b}[1mcked".into())), step("2 more", PlanStatus::Unreadable)];
    assert_eq!(shown(Body::Plan(other), None), ["≡ plan  0 of 1", "   · e  blocked", "   ? 2 more"]);
    let detail = vec!["why\u{7}".into()];
    let notice = Notice::new(Level::Error, "it broke", detail);
    assert_eq!(shown(Body::Notice(notice.clone()), None), ["✗ it broke", "why"]);
    // Nothing that the agent says looks as if the client said it.
    let of_agent = Notice { by_agent: true, ..notice.clone() };
    assert_eq!(shown(Body::Notice(of_agent), None), ["✗ the agent says: it broke", "why"]);
    let folded = Body::Notice(Notice { fold: DetailFold::Nothing, ..notice });
    assert_eq!(shown(folded.clone(), None).len(), 1);
    assert_eq!(shown(folded, Some(Fold::Open)), ["✗ it broke", "why"]);
}

#[test]
fn a_summary_is_laid_out_as_answers_are_and_searched_as_it_was_sent() {
    let text = "# What was **done**\n\n- one `x`\n- two\n\n```rust\nfn main() {}\n```";
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let notice = Notice { is_prose: true, ..Notice::new(Level::Info, "a summary", lines) };
    let answer = shown(Body::Agent(Message { text: text.into(), ..Message::default() }), None);
    let summary = entry(Body::Notice(notice.clone()));
    assert_eq!(shown(Body::Notice(notice), None)[1..], answer);
    assert!(!answer.concat().contains("**") && answer.iter().any(|line| line.contains("• one x")), "{answer:?}");
    let model = Model::default();
    assert_eq!(source(&summary, model.first()), format!("a summary\n{text}"));
    let parts = super::parts::parts(&summary, model.first());
    assert!(parts.iter().any(|part| part.text.trim_end() == "fn main() {}"), "{parts:?}");
}

#[test]
fn of_what_an_agent_has_printed_before_its_end_the_last_lines_are_shown_that_are_no_part_of_others() {
    let told = |detail: &[&str], fold| {
        let detail = detail.iter().map(|line| (*line).to_owned()).collect();
        let title = "the agent ended: exit 1";
        shown(Body::Notice(Notice { fold: DetailFold::End, ..Notice::new(Level::Error, title, detail) }), fold)
    };
    let title = "✗ the agent ended: exit 1";
    let stack =
        ["listening", "connected", "Error: gone", "    at main.js:1:1", "    at main.js:2:1", "", "Node.js v22"];
    assert_eq!(told(&stack, None), [title, "⋯ 4 lines >> ▸", "connected", "Error: gone", "Node.js v22"]);
    assert_eq!(told(&stack, Some(Fold::Open)).len(), 1 + stack.len());
    assert_eq!(told(&stack, Some(Fold::Closed)), told(&stack, None));
    assert_eq!(told(&stack[3..5], None), [title, "    at main.js:1:1", "    at main.js:2:1"], "little is whole");
    assert_eq!(told(&[" a", " b", " c", " d"], None), [title, "⋯ 1 line >> ▸", " b", " c", " d"]);
    // One that would take several rows has one, until it is asked for.
    let long = "word ".repeat(100);
    assert_eq!(told(&[&long], None), [title, "⋯ >> ▸", &long]);
    assert_eq!(told(&[&long], Some(Fold::Open)), [title, &long]);
}

#[test]
fn r_331_the_dock_gets_the_whole_command_and_diff() {
    let long = format!("echo {}\nrm -rf build", "x".repeat(5000));
    let mut t = call(ToolKind::Execute, "Clean up", ToolStatus::Pending);
    t.raw_input = Some(json!({"command": long, "cwd": "/proj/sub"}));
    t.content = vec![diff(None, "1\n2\n3\n")];
    let entry = entry(Body::Tool(Box::new(t)));
    let shown = with_ctx(80, None, |ctx| flat(&permission_body(&entry, &[], &[], ctx)));
    assert_eq!(shown[0], format!("run  echo {}", "x".repeat(5000)));
    assert_eq!(shown[1], "     rm -rf build");
    assert_eq!(shown[2..4], ["Clean up", "in sub"]);
    assert!(shown.iter().any(|l| l.ends_with("+ 3")), "{shown:?}");
    assert!(flat(&raw_input(&entry)).iter().any(|l| l.contains("cwd: /proj/sub")));
}

#[test]
fn what_stands_beside_a_command_or_a_diff_and_is_not_shown_there_is_set_out() {
    let asked = |kind, title: &str, input: serde_json::Value, content: Vec<ToolContent>| {
        let mut t = call(kind, title, ToolStatus::Pending);
        (t.raw_input, t.content) = (Some(input), content);
        with_ctx(80, None, |ctx| flat(&permission_body(&entry(Body::Tool(Box::new(t))), &[], &[], ctx))).join("\n")
    };
    let runs = |input| asked(ToolKind::Execute, "git status", input, Vec::new());
    for (input, said) in [
        (json!({"command": "git status", "env": {"LD_PRELOAD": "/tmp/x.so"}}), "LD_PRELOAD: /tmp/x.so"),
        (json!({"command": "git status", "environment": ["GIT_PAGER=rm x"]}), "GIT_PAGER=rm x"),
        (json!({"command": "bash", "stdin": "rm -rf ~"}), "stdin: rm -rf ~"),
        (json!({"command": "git", "Args": ["push", "--force"]}), "--force"),
        (json!({"command": "git", "argv": ["push", "--force"]}), "--force"),
        (json!({"command": "git status", "then": "rm -rf ~"}), "then: rm -rf ~"),
        (json!({"command": "git status", "Script": "git status\nrm -rf ~"}), "rm -rf ~"),
        (json!({"command": "ls", "shell": "/tmp/evil/bash"}), "shell: /tmp/evil/bash"),
        (json!({"command": "ls", "parallel": [{"command": "rm -rf ~"}]}), "run  rm -rf ~"),
        (json!({"command": "ls", "host": "prod", "user": "root"}), "user: root"),
        (json!({"command": "ls", "cwd": "/proj", "Working-Dir": "/etc"}), "Working-Dir: /etc"),
        (json!({"command": "bash", "script": "diff a b; rm -rf ~"}), "rm -rf ~"),
        (json!({"command": "bash", "code": "--- a\n+++ b; rm -rf ~"}), "rm -rf ~"),
    ] {
        let shown = runs(input.clone());
        assert!(shown.contains(said), "{input}: {shown}");
    }
    let plain = json!({"command": "git status", "args": [], "timeout": 5, "description": "Looks", "cwd": "/proj", "shell": "bash",
        "parsed_cmd": [{"cmd": "git status"}], "call_id": "c7", "env": {}});
    assert_eq!(runs(plain), "run  git status");
    let edits = |input| asked(ToolKind::Edit, "Edit a.rs", input, vec![diff(Some("one\ntwo\n"), "one\nthree\n")]);
    let plain = edits(json!({"path": "/proj/a.rs", "old_string": "two", "new_string": "three\n", "replace_all": true}));
    assert!(!plain.contains("input"), "{plain}");
    for (input, said) in [
        (json!({"path": "/proj/a.rs", "run": "rm -rf ~"}), "and it has a command\nrun  rm -rf ~"),
        (json!({"path": "/proj/a.rs", "content": "one\nevil text\n"}), "evil text"),
        (json!({"path": "/proj/a.rs", "edits": [{"new_text": "four"}]}), "new_text: four"),
        (json!({"path": "/proj/a.rs", "x": {"y/z": 1}}), "y/z"),
    ] {
        let shown = edits(input.clone());
        assert!(shown.contains(said), "{input}: {shown}");
    }
    // What a line of the change has among others, or a line that is not shown, says nothing of it.
    let old = (0..40).map(|n| format!("line {n} rm -rf ~")).collect::<Vec<_>>().join("\n");
    let new = old.replace("line 20", "other 20");
    let edits_of = |input| asked(ToolKind::Edit, "Edit a.rs", input, vec![diff(Some(&old), &new)]);
    for input in [
        json!({"path": "/proj/a.rs", "code": "rm -rf ~"}),
        json!({"path": "/proj/a.rs", "script": "rm -rf ~"}),
        json!({"path": "/proj/a.rs", "insert": "line 3 rm -rf ~"}),
    ] {
        assert!(edits_of(input.clone()).contains("input"), "{input}");
    }
    for input in [
        json!({"path": "/proj/a.rs", "old_string": "line 20", "new_string": "other 20"}),
        json!({"path": "/proj/a.rs", "old_string": "line 21 rm -rf ~"}),
        json!({"path": "/proj/a.rs", "old_string": "rm -rf ~\nline 20", "new_string": "rm -rf ~\nother 20"}),
    ] {
        assert!(!edits_of(input.clone()).contains("input"), "{input}");
    }
    let long = (0..400).map(|n| format!("row {n}")).collect::<Vec<_>>().join("\n");
    let shown = edits(json!({"path": "/proj/a.rs", "also": long}));
    assert!(shown.contains("row 5") && !shown.contains("row 60") && shown.contains("more"), "{shown}");
}

#[test]
fn a_file_that_only_the_input_names_is_shown_and_where_it_really_is() {
    let out = |path: &str, real: Option<&str>| Outside { path: path.into(), real: real.map(str::to_owned) };
    for input in [
        json!({"path": "/etc/passwd"}),
        json!({"file_path": "/etc/passwd"}),
        json!({"target_file": "/etc/passwd", "x": 1}),
        json!({"paths": ["/etc/passwd"]}),
        json!({"changes": {"/etc/passwd": {"type": "update"}}}),
        json!({"edits": [{"path": "/etc/passwd"}]}),
    ] {
        let mut t = call(ToolKind::Edit, "Edit a file", ToolStatus::Pending);
        t.raw_input = Some(input.clone());
        let entry = entry(Body::Tool(Box::new(t)));
        let outside = [out("/etc/passwd", Some("/etc/passwd"))];
        let shown = with_ctx(80, None, |ctx| flat(&permission_body(&entry, &[], &outside, ctx)));
        assert_eq!(shown[1..], ["/etc/passwd: outside of the session's directory"], "{input}");
    }
    let mut t = call(ToolKind::Read, "Read /etc/passwd", ToolStatus::Pending);
    t.locations = vec![Location { path: "/etc/passwd".into(), line: Some(1) }];
    let shown = with_ctx(80, None, |ctx| {
        flat(&permission_body(&entry(Body::Tool(Box::new(t))), &[], &[out("/etc/passwd", Some("/etc/passwd"))], ctx))
    });
    assert_eq!(shown[1..], ["OUTSIDE of the session's directory"], "what is named above is not named again");
    let mut t = call(ToolKind::Edit, "edit src/a.rs", ToolStatus::Pending);
    t.raw_input = Some(json!({"path": "/proj/src/a.rs"}));
    let entry = entry(Body::Tool(Box::new(t)));
    let outside = [out("/proj/src/a.rs", Some("/home/me/\u{202e}x")), out("b", None)];
    let shown = with_ctx(80, None, |ctx| flat(&permission_body(&entry, &[], &outside, ctx)));
    let expected =
        ["src/a.rs: really /home/me/⟨U+202E⟩x, outside of the session's directory", "b: where it leads cannot be told"];
    assert_eq!(shown[1..], expected, "what the title names is not said twice");
}

/// As in the recordings of agents that ask in words, which the title shortens.
#[test]
fn a_command_that_is_asked_about_in_words_is_said_once_and_whole() {
    let question = |title: &str, text: &str| {
        let mut t = call(ToolKind::Other, title, ToolStatus::Pending);
        t.content = vec![ToolContent::Block(Block::Text(text.into()))];
        with_ctx(80, None, |ctx| flat(&permission_body(&entry(Body::Tool(Box::new(t))), &[], &[], ctx)))
    };
    let asks = |command: &str| format!("Requesting approval to perform: Run command `{command}`");
    assert_eq!(question("Shell: echo one; sleep 1", &asks("echo one; sleep 1")), ["tool  echo one; sleep 1"]);
    let whole = "printf '\\033[31mred\\033[0m'; ls; for i in 1 2 3; do echo $i; done; echo to-stderr 1>&2";
    let cut = "Shell: printf '\\033[31mred\\033[0...done; echo to-stderr 1>&2";
    assert_eq!(question(cut, &asks(whole)), [format!("tool  {whole}")]);
    let two = question("Shell: ls", &asks("ls\n  rm x"));
    assert_eq!(two.len(), 3, "the title has less than is run: {two:?}");
    // What says anything else stays.
    for text in [asks("rm x"), "Run the command on all hosts: `ls`".to_owned(), format!("{} now", asks("ls"))] {
        let shown = question("Shell: ls", &text);
        assert_eq!(shown.len(), 2, "{shown:?}");
        assert!(shown[1].contains(&text), "{shown:?}");
    }
    assert_eq!(question("Read: ls", &asks("ls")).len(), 2, "it says that it reads");
    // What was not answered keeps its row, which has all of it.
    let mut stopped = call(ToolKind::Other, cut, ToolStatus::Failed);
    stopped.unanswered = true;
    stopped.content = vec![ToolContent::Block(Block::Text(asks(whole)))];
    let rows = tool(stopped, None);
    assert!(rows.len() == 1 && rows[0].contains("for i in 1 2 3"), "{rows:?}");
}

#[test]
fn that_a_file_outside_is_not_reviewed_takes_no_second_row() {
    let path = format!("/srv/{}new.txt", "somewhere/".repeat(6));
    let written = FileOutcome::Written { created: false, bytes: 6, old: Some("hello\n".into()), new: "hallo\n".into() };
    let op = FileOp { verb: FileVerb::Write, path: path.clone(), outcome: written, is_outside: true };
    for width in [64, 78, 118] {
        let rows = with_ctx(width, None, |ctx| flat(&super::lines(&entry(Body::File(op.clone())), ctx)));
        let [row] = &rows[..] else { panic!("{rows:?}") };
        assert!(row.chars().count() <= usize::from(width) + 2, "{row}");
        assert!(row.contains("/new.txt") && row.ends_with("outside: not reviewed, no undo"), "{row}");
        assert_eq!(row.contains(&path), width == 118, "{row}");
    }
}

/// After an answer some agents say why they have stopped in place of the command.
#[test]
fn a_command_that_was_asked_about_in_words_is_whole_after_the_answer() {
    let whole = "printf '\\033[31mred\\033[0m'; ls; for i in 1 2 3; do echo $i; done; echo to-stderr 1>&2";
    let said = "The tool call is rejected by the user.";
    let mut s = crate::ui::fixtures::Scene::working(80, 24);
    let mut patch = ToolPatch::new("t".into());
    patch.title = Patch::Set("Shell: printf '\\033[31mred\\033[0...done; echo to-stderr 1>&2".into());
    let text = format!("Requesting approval to perform: Run command `{whole}`");
    patch.content = Patch::Set(vec![ToolContent::Block(Block::Text(text))]);
    // No answer refuses once: it is cancelled.
    s.ask_patch(1, patch, &["Approve once", "Reject"]);
    s.intent(Intent::Refuse { req: ReqId(1), reason: String::new() });
    let mut patch = ToolPatch::new("t".into());
    patch.content = Patch::Set(vec![ToolContent::Block(Block::Text(said.into()))]);
    patch.status = Patch::Set(ToolStatus::Failed);
    s.update(Update::ToolUpdate(patch.into()));
    assert!(s.draw().contains("; for"), "{}", s.shown);
    s.press(Code::F(10)).press(Code::Enter).draw();
    let shown = s.shown.replace('┃', " ").split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(shown.contains(whole), "{}", s.shown);
    let session = s.model.first();
    let entry =
        session.entries().slots().rev().filter_map(|slot| slot.here()).find(|e| matches!(e.body, Body::Tool(_)));
    let entry = entry.unwrap();
    assert_eq!(source(entry, session), format!("{whole}\n{said}"));
    let parts = super::parts::parts(entry, session);
    assert!(parts.iter().any(|part| part.what == "command" && part.text == whole), "{parts:?}");
}

#[test]
fn what_is_searched_has_what_is_copied_of_a_change_and_no_more_than_is_near_it() {
    let model = Model::default();
    let texts = |old: &str, new: &str| {
        let mut t = call(ToolKind::Edit, "edit", ToolStatus::Completed);
        t.content = vec![ToolContent::Change(Change::of_texts("/proj/a.rs", Some(old.into()), new.into()))];
        let entry = entry(Body::Tool(Box::new(t)));
        (source(&entry, model.first()), searched(&entry, model.first()))
    };
    let lines = |of: &[u32]| of.iter().map(|n| format!("line {n};\n")).collect::<Vec<_>>().concat();
    let all: Vec<u32> = (0..40).collect();
    let (mut gone, mut twice) = (all.clone(), all.clone());
    gone.drain(20..22);
    twice.splice(30..31, [90, 91]);
    twice.insert(10, 10);
    for new in [&gone, &twice, &all[..39].to_vec(), &all[1..].to_vec(), &Vec::new()] {
        let (copied, searched) = texts(&lines(&all), &lines(new));
        let shown = copied.lines().filter(|line| !line.starts_with("---") && !line.starts_with("+++"));
        for line in shown.filter_map(|line| line.strip_prefix(['-', '+', ' '])) {
            assert!(searched.lines().any(|has| has == line), "{line}: {searched}");
        }
    }
    let (copied, searched) = texts(&lines(&all), &lines(&gone));
    assert!(copied.contains("-line 20;\n-line 21;\n"), "{copied}");
    assert!(!searched.contains("line 16;") && !searched.contains("line 25;"), "{searched}");
}

#[test]
fn copying_an_edit_by_itself_gives_its_patch_and_nothing_else() {
    let mut s = Scene::working(80, 24);
    let edit = |s: &mut Scene, changes: &[(&str, Option<&str>, &str)]| {
        let mut patch = ToolPatch::new("t".into());
        patch.title = Patch::Set("Edit a.rs".into());
        patch.kind = Patch::Set(ToolKind::Edit);
        patch.status = Patch::Set(ToolStatus::Completed);
        let of = |(path, old, new): &(&str, Option<&str>, &str)| {
            let path = format!("/home/me/src/shop/{path}");
            ToolContent::Change(Change::of_texts(&path, old.map(Into::into), (*new).into()))
        };
        let said = ToolContent::Block(Block::Text("The file was updated.".into()));
        patch.content = Patch::Set(std::iter::once(said).chain(changes.iter().map(of)).collect());
        s.update(Update::ToolCall(patch.into()));
        s.draw();
    };
    let copies = |s: &mut Scene, keys: &str| {
        s.outs.clear();
        s.press(Code::F(10)).typed(keys).press(Code::Esc);
        s.outs.iter().find_map(|out| if let Out::Copy(_, text) = out { Some(text.clone()) } else { None }).unwrap()
    };
    let patch = "--- a/a.rs\n+++ b/a.rs\n@@ -1,1 +1,1 @@\n-one\n+two\n";
    edit(&mut s, &[("a.rs", Some("one\n"), "two\n")]);
    assert_eq!(copies(&mut s, "y"), patch);
    let several = copies(&mut s, "vy");
    assert!(several.starts_with("Edit a.rs\nThe file was updated.\n") && several.ends_with(patch), "{several}");
    edit(&mut s, &[("b.rs", None, "new\n")]);
    assert_eq!(copies(&mut s, "y"), "new\n");
    edit(&mut s, &[("a.rs", Some("one\n"), "two\n"), ("b.rs", None, "new\n")]);
    assert_eq!(copies(&mut s, "y"), format!("{patch}--- /dev/null\n+++ b/b.rs\n@@ -0,0 +1,1 @@\n+new\n"));
    edit(&mut s, &[]);
    assert_eq!(copies(&mut s, "y"), "Edit a.rs\nThe file was updated.");
}

#[test]
fn of_two_paths_of_a_call_both_names_are_told() {
    let change = |path: &str| ToolContent::Change(Change::of_texts(path, Some("a\n".into()), "b\n".into()));
    let mut edit = call(ToolKind::Edit, "edit", ToolStatus::Completed);
    edit.content = vec![change("/proj/src/ui/view/review/hunks.rs"), change("/proj/src/ui/view/review/line.rs")];
    let mut read = call(ToolKind::Read, "read", ToolStatus::Completed);
    let at = |path: &str| Location { path: path.into(), line: None };
    read.locations = vec![at("/proj/README.md"), at("/proj/src/ui/view/review/hunks.rs"), at("/proj/src/ui/line.rs")];
    for (call, width, words) in [
        (&edit, 36, "…/hunks.rs · …w/line.rs"),
        (&edit, 60, "…view/review/hunks.rs · …/view/review/line.rs"),
        (&edit, 90, "src/ui/view/review/hunks.rs · src/ui/view/review/line.rs"),
        (&read, 60, "README.md · …ui/view/review/hunks.rs · src/ui/line.rs"),
    ] {
        let entry = entry(Body::Tool(Box::new(call.clone())));
        let first = with_ctx(width, None, |ctx| lines(&entry, ctx).remove(0));
        assert_eq!(first.text.as_str(), words, "{width}");
        let wide = |text: &StyledText| crate::text::width::styled_width(text);
        let figures = if first.right.is_empty() { 0 } else { wide(&first.right) + 2 };
        assert!(wide(&first.prefix) + wide(&first.text) + figures <= usize::from(width), "{width}");
    }
}

#[test]
fn copying_gives_the_text_as_it_was_sent() {
    let model = Model::default();
    let message = Message { text: "# a\n\n*b*".into(), ..Message::default() };
    assert_eq!(source(&entry(Body::Agent(message)), model.first()), "# a\n\n*b*");
}

fn term(text: &str, code: Option<u32>) -> crate::model::terminal::Terminal {
    use crate::model::terminal::{Terminal, TerminalOrigin};
    let mut tail = crate::base::tail::TailBuffer::new(1 << 20);
    tail.push(text);
    let id = TermId::from("term-1");
    Terminal {
        command: "make".into(),
        cwd: "/proj".into(),
        ended: code.map(|_| Duration::from_secs(1)),
        exit: code.map(|code| crate::model::tool::Exit { code: Some(i64::from(code)), signal: None }),
        text: tail,
        ..Terminal::new(id, TerminalOrigin::Ours, TurnId(1), Duration::ZERO)
    }
}

#[test]
fn a_terminal_shows_its_end() {
    let text = (1..=30).map(|n| format!("\u{1b}[31mrow {n}\u{1b}[0m\r")).collect::<Vec<_>>().join("\n") + "\n";
    let shown = flat(&terminal::body(&term(&text, Some(3)), terminal::PREVIEW));
    assert_eq!(shown.len(), 9);
    assert_eq!(
        [&shown[0], &shown[1], &shown[8]],
        ["   ⋯ >> ▸", "   row 23", "   row 30"],
        "there is more to be opened"
    );
    let rows = |max| flat(&terminal::body(&term(&text, Some(3)), max));
    assert_eq!(rows(terminal::OPENED)[0], "   row 1", "all of it");
    let mut emulated = term("not this", Some(0));
    let screen = crate::text::grid::ScreenSnapshot {
        rows: vec![StyledText::from("from the screen"), StyledText::new()],
        ..crate::text::grid::ScreenSnapshot::default()
    };
    emulated.screen = Some(std::sync::Arc::new(screen));
    assert_eq!(flat(&terminal::body(&emulated, terminal::OPENED)), ["   from the screen"]);
    assert!(terminal::body(&emulated, 0).is_empty());
}

#[test]
fn a_line_that_the_emulator_has_broken_is_one_line_again() {
    let mut emulated = term("", Some(0));
    let rows = ["first", "abcdef", "ghijkl", "mn"].map(StyledText::from).to_vec();
    let go_on = std::collections::BTreeSet::from([1, 2]);
    let screen = crate::text::grid::ScreenSnapshot { rows, cols: 6, go_on, ..Default::default() };
    emulated.screen = Some(std::sync::Arc::new(screen));
    let line = "   abcdefghijklmn";
    assert_eq!(flat(&terminal::body(&emulated, terminal::OPENED)), ["   first", line]);
    let tail = terminal::tail(&emulated, terminal::TAIL);
    assert_eq!(flat(&tail), ["   ⋯ >> ▸", line]);
    assert_eq!(tail[1].copied(0..99).as_deref(), Some("abcdefghijklmn"));
    assert_eq!(terminal::printed(&emulated, 2).0.len(), 2, "elsewhere each row of the emulator is a row");
}

fn diff(old: Option<&str>, new: &str) -> ToolContent {
    ToolContent::Change(Change::of_texts("/proj/a.rs", old.map(Into::into), new.into()))
}

fn edit(content: Vec<ToolContent>) -> ToolCall {
    let mut t = call(ToolKind::Edit, "Edit a.rs", ToolStatus::Completed);
    t.content = content;
    t
}

/// One that is told without its texts.
fn change(operation: Operation, from: Option<&str>, body: ChangeBody) -> ToolContent {
    let (path, from) = ("/proj/a.rs".to_owned(), from.map(str::to_owned));
    ToolContent::Change(Change { operation, path, from, body })
}

#[test]
fn a_change_that_is_told_as_a_patch_has_its_numbers_and_one_without_a_text_says_what_it_is() {
    let patch = |text: &str| ChangeBody::Patch(text.into());
    let hunk = "--- /proj/a.rs\n+++ /proj/a.rs\n@@ -6,2 +6,2 @@\n-six\n+SIX\n seven\n";
    let shown = tool(edit(vec![change(Operation::Modify, None, patch(hunk))]), None);
    assert!(shown[0].contains("+1 −1"), "{shown:?}");
    assert_eq!(shown[1..], ["   6 - six", "   6 + SIX", "   7   seven"]);
    let only = |operation, from, body| tool(edit(vec![change(operation, from, body)]), None)[1..].join("\n");
    assert_eq!(only(Operation::Modify, None, patch("what it says")), "     what it says");
    assert_eq!(only(Operation::Move, Some("/proj/b.rs"), ChangeBody::Nothing), "   moved from /proj/b.rs");
    assert_eq!(only(Operation::Copy, Some("/b\u{1b}[2J"), ChangeBody::Nothing).matches('\u{1b}').count(), 0);
    assert_eq!(only(Operation::Delete, None, ChangeBody::Nothing), "   removed");
    assert_eq!(only(Operation::Modify, None, ChangeBody::Nothing), "   changed");
    assert_eq!(only(Operation::Other("chmod".into()), None, ChangeBody::Nothing), "   chmod");
    assert!(only(Operation::Move, Some("/proj/b.rs"), patch(hunk)).ends_with("seven\n   moved from /proj/b.rs"));
}

#[test]
fn a_question_about_changes_of_which_not_all_have_texts_shows_each_and_the_previews_where_they_belong() {
    let mut t = edit(vec![change(Operation::Move, Some("/proj/b.rs"), ChangeBody::Nothing), diff(Some("two"), "TWO")]);
    t.kind = ToolKind::Edit;
    let (old, new) = (Some("one\ntwo\n".into()), "one\nTWO\n".into());
    let preview = crate::model::changes::WritePreview { path: "/proj/a.rs".into(), old, new, differs: None };
    t.learn(std::slice::from_ref(&preview));
    assert_eq!(t.line_of(1), Some(2));
    let entry = entry(Body::Tool(Box::new(t)));
    let shown = with_ctx(80, None, |ctx| flat(&permission_body(&entry, &[preview], &[], ctx))).join("\n");
    assert!(shown.contains("moved from /proj/b.rs") && shown.contains("2 - two"), "{shown}");
}

#[test]
fn of_a_call_with_more_texts_than_are_compared_those_that_come_later_are_counted_and_so_in_its_question() {
    let same = "x\n".repeat(3 << 17);
    let (old, new) = (format!("{same}a\n"), format!("{same}b\n"));
    let t = edit((0..4).map(|_| diff(Some(&old), &new)).collect());
    let body = entry(Body::Tool(Box::new(t.clone())));
    let asked = with_ctx(80, None, |ctx| flat(&permission_body(&body, &[], &[], ctx)));
    for shown in [tool(t, Some(Fold::Open)), asked] {
        let count = |what: &str| shown.iter().filter(|line| line.trim_start().starts_with(what)).count();
        assert_eq!((count("+ b"), count("too large")), (2, 2), "{shown:?}");
    }
}

#[test]
fn the_end_of_a_piece_says_nothing_about_the_end_of_the_file() {
    let shown = |old, new| tool(edit(vec![diff(old, new)]), None).join("\n");
    assert!(!shown(Some("six\nseven"), "SIX\nseven").contains("no newline"));
    assert!(!shown(Some("six\nseven"), "six\nSEVEN").contains("no newline"));
    assert!(shown(Some("six\nseven\n"), "six\nSEVEN").contains("no newline at the end"));
    assert!(shown(None, "six\nseven").contains("no newline at the end"));
}

#[test]
fn a_piece_has_numbers_only_when_its_place_is_known() {
    let piece = || diff(Some("six\nseven"), "SIX\nseven");
    assert_eq!(tool(edit(vec![piece()]), None)[1..], ["   - six", "   + SIX", "     seven"]);
    let mut t = edit(vec![piece()]);
    t.locations = vec![Location { path: "/proj/a.rs".into(), line: Some(6) }];
    assert_eq!(tool(t.clone(), None)[1..], ["   6 - six", "   6 + SIX", "   7   seven"]);
    t.locations.push(Location { path: "/proj/a.rs".into(), line: Some(60) });
    assert_eq!(tool(t.clone(), None)[1], "   - six", "which of the two is not said");
    t.content.push(diff(Some("x\n"), "y\n"));
    let shown = tool(t, None);
    assert!(shown.contains(&"   6 - six".to_owned()) && shown.contains(&"   60 - x".to_owned()), "{shown:?}");
    let mut t = edit(vec![piece()]);
    t.locations = vec![Location { path: "/proj/b.rs".into(), line: Some(6) }];
    assert_eq!(tool(t, None)[1], "   - six", "another file");
    assert_eq!(tool(edit(vec![diff(None, "a\n")]), None)[1], "   1 + a", "a new file begins at line 1");
}

#[test]
fn what_the_review_knew_is_kept() {
    use crate::model::changes::WritePreview;
    let preview = |old: &str, new: &str, differs: Option<&str>| WritePreview {
        path: "/proj/a.rs".into(),
        old: Some(old.into()),
        new: new.into(),
        differs: differs.map(Into::into),
    };
    let file = "1\n2\n3\n4\n5\nlet six = 6;\nseven\n8\n";
    let known = preview(file, &file.replace("six", "SIX"), None);
    let mut t = edit(vec![diff(Some("six = 6;\nseven"), "SIX = 6;\nseven")]);
    t.learn(std::slice::from_ref(&known));
    assert_eq!(tool(t.clone(), None)[1..], ["   6 - six = 6;", "   6 + SIX = 6;", "   7   seven"]);
    // Other texts than those that were compared.
    t.content = vec![diff(Some("8"), "eight")];
    assert_eq!(tool(t, None)[1], "   - 8");
    let mut t = edit(vec![diff(Some("tow"), "TWO")]);
    t.learn(&[preview("tow", "TWO", Some("it is not in the file"))]);
    assert_eq!(tool(t, None)[1], "   - tow", "that was the agent's own word");
    let mut t = edit(vec![diff(None, "x\n"), diff(Some("six"), "SIX")]);
    t.learn(&[preview("", "x\n", None), known]);
    let shown = tool(t, None);
    assert!(shown.contains(&"   6 - six".to_owned()), "{shown:?}");
    // Nobody was asked: where it stands was looked up.
    let mut t = edit(vec![diff(Some("six"), "SIX")]);
    assert!(t.lacks_places());
    t.place(&[Some(6)]);
    assert!(!t.lacks_places());
    assert_eq!(tool(t, None)[1], "   6 - six");
}

#[test]
fn a_call_that_failed_says_so_and_one_that_was_refused_says_by_whom() {
    let mut t = call(ToolKind::Execute, "make", ToolStatus::Failed);
    t.refused = true;
    assert_eq!(tool(t.clone(), None), ["– run      make >> refused by you   2 s"]);
    t.refused = false;
    assert_eq!(tool(t, None), ["✗ run      make >> 2 s"]);
}

#[test]
fn which_rule_has_decided_stands_with_the_call_at_any_width() {
    let mut t = call(ToolKind::Execute, "make", ToolStatus::Completed);
    let by = |by: &str, allows: bool| Some(Decided { allows, by: by.into() });
    t.decided = by("rule Bash(make)", true);
    let rows = tool(t.clone(), None);
    assert!(rows.len() == 1 && rows[0].contains("allowed by rule Bash(make)"), "{rows:?}");
    (t.refused, t.decided) = (true, by("rule Bash(make): not here", false));
    let rows = tool(t.clone(), None);
    assert!(rows.len() == 1 && rows[0].contains("refused by rule Bash(make): not here"), "{rows:?}");
    assert!(!rows[0].contains("by a rule"), "once: {rows:?}");
    t.decided = by(&format!("rule Bash({})", "x".repeat(150)), false);
    let rows = tool(t, None);
    assert!(rows.len() == 2 && rows[1].contains("refused by rule Bash(xxx"), "{rows:?}");
}

#[test]
fn a_call_that_waited_for_an_answer_when_the_turn_was_stopped_is_cancelled_and_took_no_time() {
    use crate::model::event::{Intent, Update};
    use crate::model::tool::ToolPatch;
    let mut s = crate::ui::fixtures::Scene::working(100, 30);
    s.ask_edit(1, "NOTES.md", "a\n", "b\n", &["Reject"]);
    s.after(136_000);
    s.intent(Intent::Cancel);
    let mut patch = ToolPatch::new("call-1".into());
    patch.status = Patch::Set(ToolStatus::Failed);
    s.update(Update::ToolUpdate(patch.into()));
    s.draw();
    let row = s.shown.lines().find(|row| row.contains("NOTES.md")).unwrap_or_default();
    assert!(row.contains("– edit") && row.contains("cancelled"), "{}", s.shown);
    assert!(!row.contains("2:16"), "{}", s.shown);
}

#[test]
fn a_command_that_ended_without_a_word_how_has_failed_when_its_call_has() {
    use crate::model::event::{AgentEvent, Intent, PermissionKind, PermissionOption, Update};
    use crate::model::event::{AgentRequest, Event};
    use crate::model::tool::{Exit, ToolPatch};
    let mut s = crate::ui::fixtures::Scene::working(100, 30);
    let patch = |id: &str, status| {
        let mut patch = ToolPatch::new(id.into());
        patch.kind = Patch::Set(ToolKind::Execute);
        patch.title = Patch::Set(format!("make {id}"));
        patch.status = Patch::Set(status);
        patch
    };
    for (id, status) in [("bad", ToolStatus::Failed), ("good", ToolStatus::Completed)] {
        let mut update = patch(id, status);
        update.content = Patch::Set(vec![ToolContent::Terminal(TermId::from(id))]);
        update.terminal.info = Some((TermId::from(id), None));
        update.terminal.exit = Some((TermId::from(id), Exit::default()));
        s.update(Update::ToolCall(update.into()));
    }
    let option = |id: &str, kind| PermissionOption { id: id.into(), name: id.into(), kind };
    let options = vec![option("yes", PermissionKind::AllowOnce), option("no", PermissionKind::RejectAlways)];
    for (req, answer) in [(1, "no"), (2, "yes")] {
        let id = format!("asked-{answer}");
        let request = AgentRequest::Permission { tool: patch(&id, ToolStatus::Pending), options: options.clone() };
        let req = crate::model::ids::ReqId(req);
        s.event(Event::Agent(AgentEvent::Request {
            req,
            session: Some(crate::ui::fixtures::session()),
            request: request.into(),
        }));
        s.intent(Intent::Answer { req, option: answer.into() });
        s.update(Update::ToolUpdate(patch(&id, ToolStatus::Failed).into()));
    }
    s.draw();
    let row = |part: &str| s.shown.lines().find(|l| l.contains(part)).unwrap_or_else(|| panic!("{part}\n{}", s.shown));
    assert!(row("make bad").contains("failed"), "{}", s.shown);
    assert!(!s.shown.contains("ended"), "{}", s.shown);
    assert!(!row("make good").contains("failed"), "{}", s.shown);
    assert!(row("make asked-no").contains("refused by you"), "{}", s.shown);
    assert!(!row("make asked-yes").contains("refused"), "{}", s.shown);
}

#[test]
fn a_picture_is_rows_of_halves_once_it_is_known_and_words_where_it_cannot_be() {
    use crate::base::graphics::{Form, Image, piece};
    use crate::base::picture::Picture;
    use crate::ui::state::pictures::{Cells, Pictures, Raster};
    let picture = std::sync::Arc::new(Picture::of("image/png".into(), "AAAA").unwrap());
    let block = Block::Other {
        label: "image image/png, 3 B".into(),
        uri: None,
        text: None,
        picture: Some(std::sync::Arc::clone(&picture)),
    };
    let entry = entry(Body::Attachment(Attachment { from: ChunkKind::Agent, message_id: None, block }));
    let shown =
        |pictures: &Pictures| with_ctx(80, None, |ctx| lines(&entry, &CellCtx { pictures: Some(pictures), ..*ctx }));
    let mut known = Pictures::default();
    assert_eq!(flat(&shown(&known)), ["[image image/png, 3 B]"]);
    let cells = vec![([1, 2, 3], [4, 5, 6]); 3];
    known.learn(&picture, 76, Ok(Raster { size: (1200, 800), cells: Cells::Halves(vec![cells; 2]) }));
    let rows = shown(&known);
    assert_eq!(flat(&rows)[..3], ["[image image/png, 3 B]", "▀▀▀", "▀▀▀"]);
    assert!(flat(&rows)[3].starts_with("1,200 × 800 pixels"), "{:?}", flat(&rows));
    let (_, style) = rows[1].text.iter().next().unwrap();
    assert_eq!((style.fg, style.bg), (Some(AnsiColor::Rgb(1, 2, 3)), Some(AnsiColor::Rgb(4, 5, 6))));
    let image = Image { columns: 3, rows: 2, cell: (10, 20), form: Form::Whole(Vec::new()) };
    known.learn(&picture, 76, Ok(Raster { size: (1200, 800), cells: Cells::Image(std::sync::Arc::new(image)) }));
    let number = known.images().next().unwrap().0;
    let rows = shown(&known);
    let (text, style) = rows[2].text.iter().next().unwrap();
    let symbols: Vec<_> =
        crate::text::width::graphemes(text).map(|(_, symbol, width)| (piece(symbol), width)).collect();
    assert_eq!(symbols, [(Some((1, 0)), 1), (Some((1, 1)), 1), (Some((1, 2)), 1)]);
    assert_eq!((style.fg, rows.len()), (Some(AnsiColor::Indexed(number)), 4));
    let mut known = Pictures::default();
    known.learn(&picture, 76, Err("30000 × 30000 pixels are too many\u{1b}[2J".into()));
    let words = &flat(&shown(&known))[1];
    assert!(words.starts_with("not shown: 30000 × 30000 pixels are too many") && !words.contains('\u{1b}'), "{words}");
}

#[test]
fn a_call_of_which_nothing_but_the_id_is_known_names_nothing_of_it() {
    let id = "read_file__call_fake000008";
    let row = |kind, title: &str, input: Option<serde_json::Value>| {
        let mut t = call(kind, title, ToolStatus::Failed);
        (t.id, t.raw_input, t.ended) = (ToolId::from(id), input, None);
        tool(t, None)[0].trim_end().to_owned()
    };
    assert_eq!(row(ToolKind::Read, "", None), "✗ read");
    assert_eq!(row(ToolKind::Read, id, None), "✗ read");
    assert_eq!(row(ToolKind::Other, id, None), "✗ tool");
    assert_eq!(row(ToolKind::Read, id, Some(json!({ "file_path": "/proj/src/a.rs" }))), "✗ read     src/a.rs");
    assert_eq!(row(ToolKind::Search, id, Some(json!({ "pattern": "fn add" }))), "✗ search   fn add");
    assert_eq!(row(ToolKind::Fetch, "", Some(json!({ "url": "https://a.example/" }))), "✗ fetch    https://a.example/");
    assert_eq!(row(ToolKind::Execute, id, Some(json!({ "command": "make" }))), "✗ run      make");
}

#[test]
fn a_title_that_is_the_name_of_a_tool_gives_way_to_what_the_tool_is_given() {
    let mut t = call(ToolKind::Search, "glob", ToolStatus::Failed);
    (t.ended, t.locations) = (None, vec![Location { path: "/proj".into(), line: None }]);
    assert_eq!(tool(t.clone(), None), ["✗ search   glob"], "nothing else says anything");
    t.raw_input = Some(json!({ "pattern": "**/*.rs", "path": "/proj" }));
    assert_eq!(tool(t, None), ["✗ search   **/*.rs"]);
}

#[test]
fn the_verb_stays_in_its_column_and_a_file_without_a_name_is_no_object() {
    let row = |kind, title: &str| tool(call(kind, title, ToolStatus::Pending), None)[0].trim_end().to_owned();
    assert_eq!(row(ToolKind::SwitchMode, "Ready to code?"), "· mode     Ready to code?");
    assert_eq!(row(ToolKind::Read, "Read File"), "· read");
}

/// A write that was asked about with its text and answered; then the agent leaves the text out.
fn answered_write(answer: Option<&str>, writes: bool) -> crate::ui::fixtures::Scene {
    use crate::model::event::{AgentEvent, AgentRequest, Event, Intent, PermissionKind, PermissionOption, Update};
    use crate::model::ids::ReqId;
    use crate::model::tool::ToolPatch;
    let mut s = crate::ui::fixtures::Scene::working(100, 30);
    let path = format!("{}/NOTES.md", s.model.first().session().cwd);
    let patch = |status| {
        let mut patch = ToolPatch::new("w".into());
        patch.kind = Patch::Set(ToolKind::Edit);
        patch.title = Patch::Set("write".into());
        patch.locations = Patch::Set(vec![Location { path: path.clone(), line: None }]);
        patch.raw_input = Patch::Set(json!({ "filePath": path, "content": "one\ntwo\nthree\n" }));
        patch.status = Patch::Set(status);
        patch
    };
    let mut asked = patch(ToolStatus::Pending);
    let new = Change::of_texts(&path, Some("".into()), "one\ntwo\nthree\n".into());
    asked.content = Patch::Set(vec![ToolContent::Change(new)]);
    let option = |id: &str, kind| PermissionOption { id: id.into(), name: id.into(), kind };
    let options = vec![option("yes", PermissionKind::AllowOnce), option("no", PermissionKind::RejectOnce)];
    if let Some(answer) = answer {
        let (req, session) = (ReqId(1), Some(crate::ui::fixtures::session()));
        let request = AgentRequest::Permission { tool: asked, options }.into();
        s.event(Event::Agent(AgentEvent::Request { req, session, request }));
        s.intent(Intent::Answer { req, option: answer.into() });
    } else {
        s.update(Update::ToolCall(patch(ToolStatus::InProgress).into()));
    }
    if writes {
        use crate::model::event::{HostEvent, WriteFact, WriteHow};
        let (req, session) = (ReqId(2), Some(crate::ui::fixtures::session()));
        let request = AgentRequest::WriteFile {
            path: path.clone(),
            content: "one\ntwo\nthree\n".into(),
            how: WriteHow::default(),
        };
        s.event(Event::Agent(AgentEvent::Request { req, session, request: request.into() }));
        let checked = HostEvent::WriteChecked { req, path: path.clone(), real: None, outside: false, result: Ok(()) };
        s.event(Event::Host(checked));
        let result = Ok(WriteFact { created: true, bytes: 14, old: None, outside: None });
        s.event(Event::Host(HostEvent::FileWritten { req, path: path.clone(), result }));
    }
    let mut last = patch(if answer == Some("no") { ToolStatus::Failed } else { ToolStatus::Completed });
    last.content = Patch::Set(vec![ToolContent::Block(Block::Text("that is over".into()))]);
    s.update(Update::ToolUpdate(last.into()));
    s.draw();
    s
}

#[test]
fn a_refused_call_keeps_the_verb_the_figures_and_the_diff_that_were_asked_about() {
    let s = answered_write(Some("no"), false);
    let row = s.shown.lines().find(|row| row.contains("NOTES.md")).unwrap_or_default();
    assert!(row.contains("– create") && row.contains("+3") && row.contains("refused by you"), "{}", s.shown);
    assert!(s.shown.contains("1 + one"), "{}", s.shown);
}

#[test]
fn a_write_and_the_call_that_names_its_file_without_a_change_are_one_row() {
    // Asked about with its text; never asked about, so that only what was written tells; allowed, and not yet written.
    for (answer, writes) in [(Some("yes"), true), (None, true), (Some("yes"), false)] {
        let s = answered_write(answer, writes);
        let rows: Vec<&str> = s.shown.lines().filter(|row| row.contains("NOTES.md")).collect();
        let [row] = rows.as_slice() else { panic!("{answer:?} {}", s.shown) };
        assert!(row.contains("✓ create") && row.contains("+3"), "{answer:?} {}", s.shown);
        assert!(s.shown.contains("1 + one"), "{answer:?} {}", s.shown);
    }
}

#[test]
fn a_notice_stands_apart_from_the_end_of_the_turn() {
    use crate::model::history::Kind;
    assert_eq!(gap_between(Kind::Notice, Kind::Changes), 1);
    assert_eq!(gap_between(Kind::Notice, Kind::Notice), 0);
}

#[test]
fn a_call_that_says_less_when_it_is_asked_about_is_still_what_it_was_announced_as() {
    let mut t = call(ToolKind::Other, "/elsewhere", ToolStatus::Pending);
    t.locations = ["/elsewhere/secret.txt", "/elsewhere"].map(|path| Location { path: path.into(), line: None }).into();
    t.raw_input = Some(json!({ "filepath": "/elsewhere/secret.txt", "parentDir": "/elsewhere" }));
    assert_eq!(wish(&t, &[]), ABOUT, "nothing says what is wanted of it");
    assert_eq!(tool(t.clone(), None), ["· tool     /elsewhere/secret.txt"]);
    t.kind_before = Some(ToolKind::Read);
    assert_eq!(wish(&t, &[]), "read");
    assert_eq!(tool(t.clone(), None), ["· read     /elsewhere/secret.txt"]);
    let outside =
        ["/elsewhere/secret.txt", "/elsewhere"].map(|path| Outside { path: path.into(), real: Some(path.into()) });
    let body = with_ctx(100, None, |ctx| flat(&permission_body(&entry(Body::Tool(Box::new(t))), &[], &outside, ctx)));
    assert_eq!(body.iter().filter(|row| row.to_lowercase().contains("outside")).count(), 1, "{body:?}");
    assert!(body.iter().any(|row| row.trim() == "/elsewhere"), "{body:?}");
}

#[test]
fn what_a_question_leaves_out_of_a_call_is_remembered() {
    use crate::model::tool::{Announced, ToolPatch};
    let mut t = call(ToolKind::Read, "read", ToolStatus::Pending);
    let patch = ToolPatch { kind: Patch::Set(ToolKind::Other), ..ToolPatch::new("t".into()) };
    t.apply(patch, Announced::No, Duration::ZERO);
    assert_eq!((t.kind, t.kind_before), (ToolKind::Other, Some(ToolKind::Read)));
}

#[test]
fn that_the_person_allowed_a_call_is_said_however_long_its_command_is() {
    let mut t = call(ToolKind::Execute, "x", ToolStatus::Completed);
    t.raw_input = Some(json!({"command": "cargo test --all -- --ignored ".repeat(9)}));
    t.allowed = true;
    let right =
        |width| with_ctx(width, None, |ctx| lines(&entry(Body::Tool(Box::new(t.clone()))), ctx)[0].right.clone());
    assert_eq!(right(100).as_str(), "you allowed it   2 s");
    assert_eq!(right(77).as_str(), "you allowed it");
    assert_eq!(right(30).as_str(), "", "there the command is all there is room for");
    t.allowed = false;
    t.decided = Some(Decided { allows: true, by: "Bash(cargo *)".into() });
    let rows = with_ctx(77, None, |ctx| flat(&lines(&entry(Body::Tool(Box::new(t.clone()))), ctx)));
    assert!(rows[1].contains("allowed by Bash(cargo *)"), "a rule has its own row: {rows:?}");
}

#[test]
fn why_a_call_has_failed_is_cut_at_words_and_columns_are_left_as_they_are() {
    let wraps = |text: &str, status| {
        let mut t = call(ToolKind::Read, "Read a", status);
        t.content = vec![ToolContent::Block(Block::Text(text.into()))];
        with_ctx(100, Some(Fold::Open), |ctx| lines(&entry(Body::Tool(Box::new(t))), ctx)[1].wrap)
    };
    let words = "Path not in workspace: it resolves outside the allowed directories";
    assert_eq!(wraps(words, ToolStatus::Failed), WrapMode::Words);
    assert_eq!(wraps(words, ToolStatus::Completed), WrapMode::Anywhere);
    assert_eq!(wraps("PID   COMMAND", ToolStatus::Failed), WrapMode::Anywhere);
}

#[test]
fn of_a_failed_call_that_names_no_file_the_one_that_its_words_name_is_what_it_was_about() {
    let row = |kind, title: &str, text: &str, status| {
        let mut t = call(kind, title, status);
        t.content = vec![ToolContent::Block(Block::Text(text.into()))];
        tool(t, Some(Fold::Closed)).remove(0)
    };
    let outside = "Path not in workspace: Attempted path \"/etc/x.txt\" resolves outside of /proj";
    assert!(
        row(ToolKind::Read, "", "File not found: /proj/missing.txt", ToolStatus::Failed)
            .contains("read     missing.txt")
    );
    assert!(row(ToolKind::Edit, "", outside, ToolStatus::Failed).contains("edit     /etc/x.txt"));
    assert!(
        row(ToolKind::Edit, "", "denied (/proj/src/a.rs) by policy", ToolStatus::Failed).contains("edit     src/a.rs")
    );
    assert!(
        row(ToolKind::Read, "Read b.rs", outside, ToolStatus::Failed).contains("read     b.rs"),
        "it says it itself"
    );
    assert!(!row(ToolKind::Execute, "", "/bin/sh: no such file", ToolStatus::Failed).contains("/bin/sh"));
    assert!(!row(ToolKind::Read, "", "a // b and / c", ToolStatus::Failed).contains("//"));
}

#[test]
fn the_directory_of_a_command_is_told_where_it_is_another_one_and_as_any_other_is() {
    let asks = |text: &str| {
        let mut t = call(ToolKind::Execute, "ls -la", ToolStatus::Pending);
        t.content = vec![ToolContent::Block(Block::Text(text.into()))];
        with_ctx(100, None, |ctx| flat(&permission_body(&entry(Body::Tool(Box::new(t))), &[], &[], ctx)))
    };
    assert_eq!(asks("[current working directory /proj]"), ["run  ls -la"]);
    assert_eq!(
        asks("[current working directory /proj/../srv]"),
        ["run  ls -la", "in /srv"].map(|row| row.replace(
            "/srv",
            &super::message::display("/proj/../srv", Places { roots: &[PathBuf::from("/proj")], home: None })
        ))
    );
    for other in ["[1/2]", "see [in /proj]", "[in /proj] rm -rf /", "[a/b] [in /proj]"] {
        assert!(asks(other).iter().any(|row| row.contains(other)), "{other}");
    }
    let row = |text: &str, status| {
        let mut t = call(ToolKind::Execute, "ls -la", status);
        t.content = vec![ToolContent::Block(Block::Text(text.into()))];
        tool(t, None)
    };
    assert_eq!(row("[current working directory /proj]", ToolStatus::InProgress), ["⠹ run      ls -la >> 9 s"]);
    assert_eq!(row("[current working directory /srv]", ToolStatus::InProgress).len(), 2);
    assert!(
        !row("[current working directory /proj]", ToolStatus::Cancelled)[0].contains(FOLDED.trim()),
        "nothing is folded"
    );
}
