use super::*;
use crate::model::changes::ReviewEvent;
use crate::model::changes::Totals;
use crate::model::confined::Confined;
use crate::model::entry::ChunkKind;
use crate::model::event::{
    AgentEvent, AuthKind, AuthMethod, CallError, Can, ErrorKind, Event, HostEvent, InitResult, Intent, Opening, Stop,
    Update,
};
use crate::model::ids::{Addressed, AgentKey, SessionKey};
use crate::model::reduce::reduce;
use crate::model::tool::{Exit, ToolKind, ToolStatus};
use crate::ui::fixtures::Scene;
use crate::ui::keys::{Code, Keymap};

fn said(s: &Scene, columns: usize) -> (String, String) {
    let (left, right) = fit(
        &status(
            s.model.first(),
            Leads { keys: &Keymap::default(), in_dock: false, is_shared: s.model.is_shared(SessionKey::FIRST) },
            &["the hint".to_owned()],
            Setup::InStatus,
            s.now,
        ),
        columns,
    );
    (left.as_str().to_owned(), right.as_str().to_owned())
}

fn left(s: &Scene) -> String {
    said(s, 200).0
}

#[test]
fn starting() {
    let mut s = Scene::new(80, 24);
    assert_eq!(left(&s), "starting", "nothing moves yet");
    s.start();
    s.after(2000);
    assert_eq!(left(&s), "starting gemini 2 s");
    s.agent(AgentEvent::Initialized(Ok(InitResult::default())));
    s.after(4000);
    assert_eq!(left(&s), "waiting for session 4 s");
    s.after(58_000);
    assert_eq!(left(&s), "no answer for 1:02 · Tab, then s shows its messages, q ends it");
}

/// An agent that must not load a session again so soon.
#[test]
fn a_session_that_is_too_new_counts_down() {
    let mut s = Scene::new(80, 24);
    s.event(Event::Host(HostEvent::OpenedBefore { age: Duration::from_secs(20) }));
    s.intent(Intent::OpenAs(Opening::Load("s".into())));
    s.start();
    let mut init = InitResult::default();
    init.caps.youngest = Duration::from_mins(1);
    init.caps.sessions = [Can::Load].into_iter().collect();
    s.agent(AgentEvent::Initialized(Ok(init)));
    assert_eq!(left(&s), "too new to be loaded, asked for in 40 s");
    s.after(30_500);
    assert_eq!(left(&s), "too new to be loaded, asked for in 10 s");
    assert!(s.model.first().is_waiting(), "the clock runs");
    s.after(60_000);
    assert_eq!(left(&s), "too new to be loaded, asked for in 1 s");
}

#[test]
fn log_in() {
    let mut s = Scene::new(80, 24);
    s.start();
    let method = AuthMethod { id: "w".into(), name: "Web\u{1b}[1m".into(), description: None, kind: AuthKind::Agent };
    s.agent(AgentEvent::Initialized(Ok(InitResult { auth_methods: vec![method], ..InitResult::default() })));
    s.agent(AgentEvent::SessionOpened(Err(CallError::new(ErrorKind::AuthRequired, "no"))));
    assert!(left(&s).starts_with("log-in needed"));
    s.intent(Intent::Authenticate { method: "w".into() });
    s.after(12_000);
    assert_eq!(left(&s), "logging in: Web 12 s · Esc leaves");
}

#[test]
fn working() {
    let mut s = Scene::working(80, 24);
    s.after(3000);
    assert_eq!(left(&s), "thinking 3 s · Esc stops the turn");
    s.chunk(ChunkKind::Thought, "hm");
    s.after(8000);
    assert_eq!(left(&s), "thinking 8 s · Esc stops the turn");
    s.say("So");
    s.after(2000);
    assert_eq!(left(&s), "writing 2 s · Esc stops the turn");
    s.tool("t", ToolKind::Execute, "`cargo test`", ToolStatus::InProgress);
    s.after(4000);
    assert_eq!(left(&s), "run cargo test 4 s · Esc stops the turn");
    s.after(16_000);
    assert_eq!(left(&s), "run cargo test 20 s · silent for 0:20 · Esc stops the turn");
    s.tool("t", ToolKind::Execute, "cargo test", ToolStatus::Completed);
    s.after(20_000);
    assert_eq!(left(&s), "silent for 0:20 · Esc stops the turn");
}

#[test]
fn a_call_that_was_refused_does_not_run_before_the_agent_says_so() {
    let mut s = Scene::working(80, 24);
    s.tool("call-1", ToolKind::Execute, "touch zz", ToolStatus::InProgress);
    s.after(1000);
    assert_eq!(left(&s), "run touch zz 1 s · Esc stops the turn");
    s.ask(1, "touch zz", &["Reject"]);
    s.intent(Intent::Refuse { req: crate::model::ids::ReqId(1), reason: String::new() });
    s.after(2000);
    assert_eq!(left(&s), "thinking 2 s · Esc stops the turn");
    s.draw();
    let row = s.shown.lines().find(|row| row.contains("touch zz")).unwrap_or_default();
    assert!(row.contains("refused by you"), "{}", s.shown);
    s.tool("call-1", ToolKind::Execute, "touch zz", ToolStatus::InProgress);
    assert!(left(&s).starts_with("run touch zz "), "what the agent says later counts: {}", left(&s));
}

/// Some agents name their tool in the title and say nothing of its kind.
#[test]
fn what_runs_is_called_as_in_its_row() {
    let mut s = Scene::working(80, 24);
    s.tool("t", ToolKind::Other, "Shell: cargo test --all", ToolStatus::InProgress);
    s.after(1000);
    assert_eq!(left(&s), "run cargo test --all 1 s · Esc stops the turn");
    s.draw();
    let row = s.shown.lines().find(|row| row.contains("cargo test --all")).unwrap_or_default();
    assert!(row.contains("run    cargo test --all"), "{}", s.shown);
}

#[test]
fn a_command_that_prints_or_ends_is_not_silent() {
    let mut s = Scene::working(80, 24);
    s.starts(7, "cargo build");
    s.after(30_000);
    assert!(left(&s).contains("silent for 0:30"), "{}", left(&s));
    s.prints(7, "Compiling");
    assert!(!left(&s).contains("silent"), "{}", left(&s));
    s.after(25_000);
    assert!(left(&s).contains("silent for 0:25"), "{}", left(&s));
    s.exits(7, 0);
    s.after(3_000);
    assert!(!left(&s).contains("silent"), "{}", left(&s));
}

#[test]
fn the_persons_time_is_no_silence_of_the_agent() {
    let mut s = Scene::working(80, 24);
    s.tool("call-1", ToolKind::Execute, "touch zz", ToolStatus::InProgress);
    s.ask(1, "touch zz", &["Reject"]);
    s.after(60_000);
    s.intent(Intent::Refuse { req: crate::model::ids::ReqId(1), reason: String::new() });
    s.after(2000);
    assert_eq!(left(&s), "thinking 2 s · Esc stops the turn");
    s.after(28_000);
    assert_eq!(left(&s), "silent for 0:30 · Esc stops the turn");
}

#[test]
fn waiting_for_the_person_is_always_first() {
    let mut s = Scene::asked(80, 24);
    s.after(12_000);
    let status = status(
        s.model.first(),
        Leads { keys: &Keymap::default(), in_dock: false, is_shared: s.model.is_shared(SessionKey::FIRST) },
        &[],
        Setup::InStatus,
        s.now,
    );
    let (l, _) = fit(&status, 200);
    assert_eq!(l.as_str(), "waiting for you 0:12 · Esc stops the turn");
    assert_eq!(l.iter().next().unwrap().1.token, Token::Warn);
    assert_eq!(status.busy, Busy::No);
}

#[test]
fn cancelling() {
    let mut s = Scene::working(80, 24);
    s.press(Code::Esc).after(1000);
    assert_eq!(left(&s), "stopping 1 s");
    s.after(5000);
    assert_eq!(left(&s), "has not confirmed · Tab, then k ends the agent");
}

#[test]
fn ended_oddly() {
    for (stop, words) in [
        (Stop::MaxTokens, "stopped at the token limit · the hint"),
        (Stop::Refusal, "refused · the hint"),
        (Stop::EndTurn, "ended without a word · the hint"),
    ] {
        let mut s = Scene::working(80, 24);
        s.end_turn(stop);
        assert_eq!(left(&s), words);
    }
    let mut s = Scene::working(80, 24);
    s.say("fine");
    s.end_turn(Stop::EndTurn);
    assert_eq!(left(&s), "the hint", "never empty");
}

#[test]
fn how_a_turn_ended_is_not_read_out_of_a_notice() {
    let mut s = Scene::working(80, 24);
    s.say("fine");
    s.end_turn(Stop::EndTurn);
    s.event(Event::Host(HostEvent::Warning { message: "the journal: is full; nothing more is kept".into() }));
    assert_eq!(left(&s), "the hint", "a warning is no end of a turn");
    let mut s = Scene::working(80, 24);
    s.end_turn(Stop::MaxTokens);
    s.event(Event::Host(HostEvent::Warning { message: "something else".into() }));
    assert_eq!(left(&s), "stopped at the token limit · the hint");
    s.intent(Intent::Prompt { text: "go on".into(), links: Vec::new() });
    s.say("So");
    s.end_turn(Stop::EndTurn);
    assert_eq!(left(&s), "the hint", "the next turn has ended well");
}

#[test]
fn dead() {
    let mut s = Scene::working(80, 24);
    s.after(129_000);
    let exit = Exit { code: Some(3), signal: None };
    s.event(Event::Host(HostEvent::AgentExited { exit, stderr: Vec::new() }));
    assert_eq!(left(&s), "agent ended after 2:09 · Tab, then r starts it again");
    let mut s = Scene::new(80, 24);
    s.intent(Intent::Start);
    s.event(Event::Host(HostEvent::SpawnFailed { message: "no such agent".into(), hint: String::new() }));
    assert_eq!(left(&s), "agent did not start · Tab, then r starts it again");
}

#[test]
fn how_an_agent_ended_is_not_read_out_of_the_message() {
    let mut s = Scene::working(80, 24);
    let why = "the agent has closed its input; it had said: we ended: well".to_owned();
    s.event(Event::Host(HostEvent::ConnectionDropped { why }));
    assert_eq!(left(&s), "agent ended after 0 s · Tab, then r starts it again");
    // The conversation has how it ended, and once is enough.
    let mut s = Scene::working(80, 24);
    let exit = Exit { code: None, signal: Some("SIGKILL".into()) };
    s.event(Event::Host(HostEvent::AgentExited { exit, stderr: Vec::new() }));
    assert_eq!(left(&s), "agent ended after 0 s · Tab, then r starts it again");
    assert_eq!(s.draw().matches("SIGKILL").count(), 1, "{}", s.shown);
}

#[test]
fn the_right_end_and_what_gives_way_first() {
    let mut s = Scene::working(80, 24);
    s.update(Update::Usage {
        used: 380_000,
        size: 1_000_000,
        cost: crate::model::patch::Patch::Set((0.125, "USD".into())),
    });
    s.say("x");
    let all = "default · context ▰▰▰▰▱▱▱▱ 38 % of 1 M · $0.12";
    assert_eq!(said(&s, 100).1, all);
    let full = "writing 0 s · Esc stops the turn";
    let rows: Vec<(String, String)> = (1..=100).rev().map(|columns| said(&s, columns)).collect();
    let mut rights: Vec<&str> = rows.iter().map(|(_, r)| r.as_str()).collect();
    rights.dedup();
    let short = ["default · 38 % of 1 M · $0.12", "default · 38 % of 1 M", "default · 38 %", "default", ""];
    assert_eq!(rights, [&[all][..], &short].concat());
    assert_eq!(said(&s, 50).0, full);
    assert_eq!(said(&s, 24).0, "writing 0 s · Esc stops");
    assert_eq!(said(&s, 10).0, "writing");
    for (n, (l, r)) in rows.iter().enumerate() {
        let columns = 100 - n;
        assert!(width::str_width(l) + width::str_width(r) <= columns, "{l:?} {r:?} at {columns}");
    }
}

#[test]
fn scenario_16_a_context_of_no_size_or_more_than_full_is_said_without_nonsense() {
    let mut s = Scene::working(80, 24);
    let mut told = |used, size| {
        s.update(Update::Usage { used, size, cost: crate::model::patch::Patch::Keep });
        said(&s, 100).1
    };
    assert_eq!(told(0, 0), "default");
    let without = told(5_000, 0);
    assert!(without.contains("5 k tokens") && !without.contains('%'), "{without}");
    for (used, size, expected) in
        [(0, 200, "▱ 0 % of 200"), (300, 200, "▰ 150 % of 200"), (u64::MAX, 1, "▰ 999 % of 1")]
    {
        let right = told(used, size);
        assert!(right.ends_with(expected), "{used} of {size}: {right}");
    }
}

#[test]
fn r_456_the_title_is_ours() {
    let mut s = Scene::asked(80, 24);
    s.update(Update::Info {
        title: crate::model::patch::Patch::Set("evil title".into()),
        updated: crate::model::patch::Patch::Keep,
    });
    assert_eq!(terminal_title(s.model.first(), false), "acp-tui · waiting for you — shop");
    let mut s = Scene::ready(80, 24);
    assert_eq!(terminal_title(s.model.first(), false), "acp-tui · ready — shop");
    s.intent(Intent::Prompt { text: "x".into(), links: Vec::new() });
    assert_eq!(terminal_title(s.model.first(), false), "acp-tui · working — shop");
}

#[test]
fn what_earlier_runs_have_left_undecided_stands_at_the_right() {
    let mut s = Scene::ready(80, 24);
    s.event(Event::Host(HostEvent::Review(ReviewEvent::LeftBefore(2))));
    assert_eq!(said(&s, 200).1, "2 to review from before: F3 · default");
    s.event(Event::Host(HostEvent::Review(ReviewEvent::LeftBefore(0))));
    assert_eq!(said(&s, 200).1, "default");
}

fn changed(s: &mut Scene, after: bool) {
    let session = Totals { added: 120, removed: 14, files: 6, pending: 3 };
    s.event(Event::Host(HostEvent::Review(ReviewEvent::ChangesSeen { session, after })));
}

#[test]
fn what_was_changed_stands_at_the_right() {
    let mut s = Scene::ready(80, 24);
    assert_eq!(said(&s, 200).1, "default");
    changed(&mut s, false);
    assert_eq!(said(&s, 200).1, "3 to review · default");
    let narrow = said(&s, 40);
    assert!(narrow.1.starts_with("3 to review"), "{narrow:?}");
    assert_eq!(said(&s, 18).1, "3 open", "{:?}", said(&s, 18));
    changed(&mut s, true);
    s.intent(Intent::SetGate(Gate::Hold));
    assert_eq!(said(&s, 200).1, "3 to review · writes: review first · some past the gate · default");
    let narrow = said(&s, 66).1;
    assert_eq!(narrow, "3 to review · writes: review first · some past the gate", "the mode gives way first");
    let decided = Totals { added: 1, removed: 0, files: 1, pending: 0 };
    s.event(Event::Host(HostEvent::Review(ReviewEvent::ChangesSeen { session: decided, after: false })));
    assert!(said(&s, 200).1.starts_with("+1 −0 in 1 file · writes: review first"), "{:?}", said(&s, 200));
}

#[test]
fn what_is_open_to_review_is_said_to_be_of_the_directory_where_several_sessions_work_in_it() {
    let mut s = Scene::ready(80, 24);
    changed(&mut s, false);
    let opens = |s: &mut Scene, cwd: String| {
        let open = Event::User(Intent::OpenSession { cwd, how: Opening::New });
        drop(reduce(&mut s.model, Addressed::new(AgentKey::FIRST, open), s.now));
    };
    opens(&mut s, "/elsewhere".into());
    assert_eq!(said(&s, 200).1, "3 to review · default");
    let cwd = s.model.first().cwd.clone();
    opens(&mut s, cwd);
    assert_eq!(said(&s, 200).1, "3 to review in this directory · default");
    assert!(said(&s, 40).1.starts_with("3 to review"), "{:?}", said(&s, 40));
}

#[test]
fn a_long_wait_for_the_snapshot_is_named() {
    let mut s = Scene::ready(80, 24);
    s.model = std::mem::take(&mut s.model).with_review(true);
    s.intent(Intent::Prompt { text: "hi".into(), links: Vec::new() });
    s.after(200);
    assert!(left(&s).starts_with("thinking"), "{}", left(&s));
    s.after(1000);
    assert_eq!(left(&s), "looking at the files 1 s · Esc stops the turn");
    let turn = s.model.first().session().last_turn();
    s.event(Event::Host(HostEvent::Review(ReviewEvent::TurnCovered { turn, covered: Ok(()) })));
    assert!(left(&s).starts_with("thinking"), "{}", left(&s));
}

#[test]
fn the_sums_after_a_turn_do_not_hide_how_it_ended() {
    let mut s = Scene::working(80, 24);
    s.end_turn(Stop::MaxTokens);
    let odd = left(&s);
    let totals = Totals { added: 1, removed: 0, files: 1, pending: 0 };
    let turn = s.model.first().session().last_turn();
    s.event(Event::Host(HostEvent::Review(ReviewEvent::TurnReviewed { turn, totals, session: totals, after: false })));
    assert_eq!(left(&s), odd);
    assert!(odd.contains("token limit"), "{odd}");
}

#[test]
fn the_mode_that_asks_nothing_says_how_long_it_still_holds() {
    use crate::model::permission_mode::ModeChoice;
    let mut s = Scene::ready(80, 24);
    s.intent(Intent::SetPermissionMode(ModeChoice::read("bypassPermissions:2m").unwrap()));
    assert!(said(&s, 200).1.contains("permissions bypassPermissions 2 min"), "{}", said(&s, 200).1);
    let mut words = Vec::new();
    // It is drawn anew exactly when those words change.
    while let Some(at) = s.ui.next_change(s.model.first(), s.now).filter(|_| words.len() < 70) {
        s.now = at;
        let (_, right) = said(&s, 200);
        if let Some((_, mode)) = right.split_once("permissions ") {
            words.push(mode.to_owned());
        }
    }
    let has = |part: &str| words.iter().any(|words| words.contains(part));
    assert!(has("60 s") && has("59 s") && has(" 1 s"), "{words:?}");
    s.intent(Intent::SetPermissionMode(ModeChoice::read("plan").unwrap()));
    let right = said(&s, 200).1;
    assert!(right.contains("permissions plan") && !right.contains(" s ") && !right.contains("min"), "{right}");
}

#[test]
fn a_sandbox_is_named_and_f2_says_what_it_leaves_and_what_it_cannot_keep() {
    let mut s = Scene::ready(120, 40);
    let writes = vec![s.model.first().cwd.clone(), "/tmp/\u{1b}[2J".to_owned()];
    let confined = Confined { writes, connects: Some(vec![443]), ..Confined::default() };
    s.event(Event::Host(HostEvent::AgentConfined(confined.into())));
    assert!(said(&s, 200).1.contains("sandbox"), "{:?}", said(&s, 200));
    s.press(Code::F(2)).typed("sandbox");
    let screen = s.draw().to_owned();
    for words in ["this directory, /tmp/", "everything", "only TCP 443", "every port of TCP", "Linux 6.12", "UDP"] {
        assert!(screen.contains(words), "{words}: {screen}");
    }
    s.press(Code::Enter);
    assert!(s.intents().is_empty(), "nothing of it can be set");
    let unconfined = Scene::ready(120, 40);
    assert!(!said(&unconfined, 200).1.contains("sandbox"));
}

#[test]
fn an_agent_that_ends_early_in_a_sandbox_is_told_why_that_may_be() {
    let mut s = Scene::new(120, 40);
    s.event(Event::Host(HostEvent::AgentConfined(Confined::default().into())));
    s.start();
    let ended =
        || Event::Host(HostEvent::AgentExited { exit: Exit { code: Some(1), signal: None }, stderr: Vec::new() });
    s.event(ended());
    assert!(s.draw().contains("sandbox_write"), "{}", s.shown);
    let reads = Some(vec!["/usr".to_owned()]);
    s.event(Event::Host(HostEvent::AgentConfined(Confined { reads, ..Confined::default() }.into())));
    s.intent(Intent::Restart);
    s.event(Event::Host(HostEvent::AgentSpawned { pid: 2 }));
    s.event(ended());
    assert!(s.draw().contains("often /proc"), "also the second time: {}", s.shown);
}

#[test]
fn that_nothing_is_recorded_stays_in_sight_as_long_as_it_is_so() {
    let mut s = Scene::working(80, 24);
    let message = || "no room".to_owned();
    s.event(Event::Host(HostEvent::JournalWaits { message: message() }));
    assert!(said(&s, 80).1.contains("disk full, not recorded"), "{:?}", said(&s, 80));
    assert!(said(&s, 46).1.contains("not recorded"), "{:?}", said(&s, 46));
    let mut status = status(
        s.model.first(),
        Leads { keys: &Keymap::default(), in_dock: false, is_shared: s.model.is_shared(SessionKey::FIRST) },
        &["the hint".to_owned()],
        Setup::InStatus,
        s.now,
    );
    status.set_toast("copied");
    assert_eq!(fit(&status, 80).1.as_str(), "disk full, not recorded · copied");
    s.event(Event::Host(HostEvent::JournalGoesOn { message: message() }));
    assert!(!said(&s, 80).1.contains("recorded"));
    s.event(Event::Host(HostEvent::JournalFailed { message: message() }));
    assert!(said(&s, 80).1.starts_with("not recorded"), "{:?}", said(&s, 80));
}

#[test]
fn what_runs_is_cut_before_how_long_it_runs_and_how_it_is_stopped() {
    let mut s = Scene::working(40, 10);
    s.tool("x", ToolKind::Execute, "cargo build --release --all-features --locked", ToolStatus::InProgress);
    s.after(12_000);
    assert_eq!(said(&s, 36).0, "run cargo build… 12 s · Esc stops");
    assert_eq!(said(&s, 60).0, "run cargo build --release --all-feature… 12 s · Esc stops");
}
