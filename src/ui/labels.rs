//! What things are called on the screen: tool calls, agents, sums of changes, waits.
//!
//! Pure functions from the model to a few words; they know neither the status line nor the screen. Invariant: text of
//! the agent is sanitised here.

use crate::base::{human, paths, sanitize};
use crate::model::account;
use crate::model::agent::{Agent, OddCounts};
use crate::model::changes::{Gate, Left, LeftRun, ReviewDoc, Totals, TurnName};
use crate::model::confined::Confined;
use crate::model::event::{AuthKind, PermissionKind};
use crate::model::login;
use crate::model::question::Question;
use crate::model::session::Phase;
use crate::model::session::changes::Changes;
use crate::model::session_ref::SessionRef;
use crate::model::setup::Unrecorded;
use crate::model::spent::Spent;
use crate::model::tool::{ToolKind, deed};
use crate::text::address;
use crate::text::width;
use crate::ui::keys::Sort;
use std::path::Path;
use std::time::Duration;

/// Columns for what a tool call is about, and for names.
pub const OBJECT: usize = 40;

/// A session that can be gone on with, for a line in a shell: its id, and what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoesOn {
    pub id: String,
    pub about: String,
    /// An earlier journal has it.
    pub is_stored: bool,
}

/// `name` is the person's own for it.
pub fn goes_on(session: SessionRef<'_>, name: Option<&str>) -> Option<GoesOn> {
    let id = session.id_to_go_on(session.agent())?.as_str().to_owned();
    let told = session.called().filter(|told| !account::is_ours(told));
    let title = name.or(told).or_else(|| session.first_words()).unwrap_or_default();
    let title = sanitize::line(&account::title_of(title)).trim().replace(['“', '”'], "\"");
    let agent = agent(session);
    let title = width::truncate(&title, OBJECT);
    let about = if title.is_empty() { agent } else { format!("“{title}” ({agent})") };
    Some(GoesOn { id, about, is_stored: session.is_recalled() })
}

/// What is left of an earlier run, and how that is had, in one line.
pub fn left_run(run: &LeftRun) -> String {
    let (words, commands) = left_run_parts(run);
    if commands.is_empty() { words } else { format!("{words}: {}", commands.join(" · ")) }
}

/// The same, with the commands by themselves.
pub fn left_run_parts(run: &LeftRun) -> (String, Vec<String>) {
    let stem = sanitize::line(&run.stem);
    match &run.left {
        Ok(Left { files, pending }) => {
            let pending = match pending {
                0 => "all decided".to_owned(),
                pending => format!("{} to review", human::count(*pending, "hunk")),
            };
            let files = human::count(*files, "file");
            let words = format!("an earlier run of the session has changed {files}, {pending}");
            (words, vec![format!("acp-tui review {stem}"), format!("acp-tui undo {stem}")])
        }
        Err(why) => {
            let why = sanitize::line(why);
            (format!("an earlier run of the session, {stem}, cannot be looked at: {why}"), Vec::new())
        }
    }
}

/// A turn of a run as its conversation counts it, and which that is where the run has several.
pub fn turn(doc: Option<&ReviewDoc>, turn: u64) -> String {
    let name = doc.map(|doc| doc.name(turn));
    match name {
        None => format!("turn {turn}"),
        Some(TurnName { number, session: None }) => format!("turn {number}"),
        Some(TurnName { number, session: Some(id) }) => {
            format!("turn {number} of {}", width::truncate(&sanitize::line(&id), OBJECT))
        }
    }
}

/// Why what happens is not on the disk, in a few words.
pub const fn unrecorded(why: Unrecorded) -> &'static str {
    match why {
        Unrecorded::Waits => "disk full, not recorded",
        Unrecorded::Ended => "not recorded",
    }
}

/// `m:ss`, for what waits.
pub fn clock(d: Duration) -> String {
    let s = d.as_secs();
    if s < 3600 {
        format!("{}:{:02}", s / 60, s % 60)
    } else {
        format!("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60)
    }
}

/// Words that a name allows with, and those that it refuses with.
pub const YES: [&str; 4] = ["allow", "yes", "approve", "accept"];
pub const NO: [&str; 4] = ["reject", "no", "deny", "refuse"];

/// Whether a name says that it is meant for a session, and nothing but one of these verbs.
pub fn is_of_session(name: &str, verbs: [&str; 4]) -> bool {
    let words = || name.split(|c: char| !c.is_alphanumeric());
    let turns = |word: &str| matches!(word, "not" | "don" | "dont" | "never" | "nothing" | "without" | "unless");
    let is_other = |word: &str| (YES.contains(&word) || NO.contains(&word)) && !verbs.contains(&word);
    words().any(|word| word == "session")
        && words().any(|word| verbs.contains(&word))
        && !words().any(|word| turns(word) || is_other(word))
}

/// How long a turn waited for the person, where that is worth a word.
pub fn waited(spent: Spent) -> Option<String> {
    (spent.person >= Duration::from_secs(1)).then(|| format!("waited {} for you", human::duration(spent.person)))
}

/// The plain word for a kind of tool call.
pub const fn verb(kind: ToolKind) -> &'static str {
    match kind {
        ToolKind::SwitchMode => "switch",
        ToolKind::Other => "use",
        kind => deed::verb(kind),
    }
}

/// Where a file of ours is.
pub fn file(path: &Path, home: Option<&Path>) -> String {
    paths::display(path, &[], home)
}

/// Whether one option alone does something.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Only {
    None,
    One(usize),
    Several,
}

/// The option of a question that has this sort, when there is just one: letters answer by what an option does, so two
/// that do the same have digits only.
pub fn only(question: &Question, sort: Sort) -> Only {
    let kind = match sort {
        Sort::AllowOnce => PermissionKind::AllowOnce,
        Sort::AllowAlways => PermissionKind::AllowAlways,
        Sort::RejectOnce => PermissionKind::RejectOnce,
        Sort::RejectAlways => PermissionKind::RejectAlways,
    };
    let mut found = question.options.iter().enumerate().filter(|(_, option)| option.kind == kind).map(|(at, _)| at);
    match (found.next(), found.next()) {
        (None, _) => Only::None,
        (Some(at), None) => Only::One(at),
        (Some(_), Some(_)) => Only::Several,
    }
}

/// The name of an agent as it is shown.
pub fn agent(session: SessionRef<'_>) -> String {
    by_itself(session.agent())
}

fn by_itself(agent: &Agent) -> String {
    if agent.title.is_none() && agent.name.is_none() {
        return program(&agent.command);
    }
    let label = sanitize::line(agent.label());
    width::truncate(label.trim(), OBJECT).into_owned()
}

/// With whom a conversation was had: as the agent calls itself, else as it is configured. `configured` gives names with
/// their command lines.
pub fn whom(agent: &Agent, configured: impl Fn() -> Vec<(String, String)>) -> String {
    let is_unnamed = agent.title.is_none() && agent.name.is_none();
    let all = if is_unnamed { configured() } else { Vec::new() };
    let named = all.into_iter().find(|(_, line)| *line == agent.command);
    named.map_or_else(|| by_itself(agent), |(name, _)| name)
}

/// The file name of a command line's program.
fn program(command: &str) -> String {
    let first = command.split_whitespace().next().unwrap_or("agent");
    let name = first.rsplit(['/', '\\']).find(|s| !s.is_empty()).unwrap_or(first);
    sanitize::line(name.trim_matches(['\'', '"'])).into_owned()
}

/// The exact command line of a log-in that the person runs.
pub fn login_command(kind: &AuthKind, agent: &Agent) -> Option<String> {
    login::command_line(agent, kind).map(|line| sanitize::line(&line).into_owned())
}

/// The address that was printed last for the log-in: by the agent, or in its terminal.
pub fn log_in_page(session: SessionRef<'_>) -> Option<String> {
    let log_in = session.log_in()?;
    let in_terminal = log_in.terminal().map(|(_, screen)| address::unwrapped(&screen.rows, screen.cols));
    let printed = session.log_in_lines().iter().filter(|_| log_in.attempt.is_some()).cloned();
    let said = log_in.error.data_lines().into_iter().rev().chain([log_in.error.message.clone()]);
    let texts = in_terminal.into_iter().chain(printed.rev()).chain(said);
    texts.into_iter().find_map(|text| address::last(&text).map(|found| sanitize::line(found).into_owned()))
}

/// "queued", "2 held".
pub fn held(session: SessionRef<'_>) -> Option<String> {
    let n = session.held.len();
    let is_held = n > 0 && !session.held.flows();
    let until = match (session.phase(), &session.turn) {
        _ if is_held => "",
        (_, Some(_)) => "",
        (Phase::AuthNeeded | Phase::Authenticating { .. }, None) => " until you are logged in",
        (_, None) => " until the session is open",
    };
    let count = if n > 1 { format!("{n} ") } else { String::new() };
    let how = if is_held { "held" } else { "queued" };
    (n > 0).then(|| format!("{count}{how}{until}"))
}

/// How many messages of the agent could not be used, by sort; those that there were.
pub fn odd_messages(odd: OddCounts) -> Vec<String> {
    let sorts = [
        (odd.stray, "no message at all"),
        (odd.malformed, "not readable"),
        (odd.unknown, "of a kind that is not known here"),
        (odd.too_long, "too long"),
        (odd.late, "an answer to nothing"),
    ];
    sorts.into_iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} × {what}")).collect()
}

/// "$0.04"; of other currencies "0.04 EUR"; nothing of what costs nothing.
pub fn cost((amount, unit): &(f64, String)) -> Option<String> {
    let words = match unit.as_str() {
        "USD" => format!("${amount:.2}"),
        unit => format!("{amount:.2} {}", width::truncate(&sanitize::line(unit), 8)),
    };
    (*amount != 0.0).then_some(words)
}

/// "3 to review", or nothing when all is decided.
pub fn to_review(totals: Totals) -> Option<String> {
    (totals.pending > 0).then(|| format!("{} to review", totals.pending))
}

/// The same of earlier runs, which the review names.
pub fn to_review_before(changes: &Changes) -> Option<String> {
    (changes.left_before > 0).then(|| format!("{} to review from before", changes.left_before))
}

/// "+120 −14 in 6 files"
pub fn lines_in_files(totals: Totals) -> String {
    format!("+{} −{} in {}", totals.added, totals.removed, human::count(totals.files, "file"))
}

/// "+120 −14 in 6 files · 3 to review"
pub fn sums(totals: Totals) -> String {
    let sums = lines_in_files(totals);
    to_review(totals).map_or_else(|| sums.clone(), |open| format!("{sums} · {open}"))
}

/// Of a prompt that is to go into a running turn.
pub const STOPS_FIRST: &str = "the turn is stopped first: this agent takes nothing into one";
/// Of an agent of which neither files nor commands come by here.
pub const GATE_IN_VAIN: &str =
    "this agent works alone: a gate holds nothing of it, what it changes is reviewed afterwards";

/// What a gate does, for the person who has chosen it.
pub const fn gate(gate: Gate, is_reviewed: bool) -> &'static str {
    match (gate, is_reviewed) {
        (Gate::Off, _) => "gate off: writes and commands go through",
        (Gate::Ask, _) => "gate ask: each write and command is a question",
        (Gate::Hold, true) => "gate hold: writes wait for your review, commands are a question",
        (Gate::Hold, false) => "gate hold: without a review each write and command is a question",
    }
}

/// What a sandbox leaves its agent and the commands in its terminals, part by part.
pub fn confined(confined: &Confined, cwd: &str) -> Vec<(&'static str, String)> {
    let Confined { writes, reads, connects, listens, keeps_apart } = confined;
    let name = |path: &String| {
        if path == cwd { "this directory".to_owned() } else { paths::visible(path.as_ref()) }
    };
    let all = |paths: &[String]| paths.iter().map(name).collect::<Vec<_>>().join(", ");
    let ports = |ports: &Option<Vec<u16>>| match ports.as_deref() {
        None => "every port of TCP".to_owned(),
        Some([]) => "no port of TCP".to_owned(),
        Some(ports) => {
            format!("only TCP {}", ports.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))
        }
    };
    let reads = match reads {
        None => "everything".to_owned(),
        Some(reads) if reads.is_empty() => "nothing else".to_owned(),
        Some(reads) => format!("besides only below {}", all(reads)),
    };
    let has_none = |ports: &Option<Vec<u16>>| ports.as_ref().is_some_and(Vec::is_empty);
    let waiting =
        if has_none(connects) && has_none(listens) { "" } else { "waiting on a port that the kernel chooses, " };
    let apart = if *keeps_apart { "stay inside" } else { "not confined: that needs Linux 6.12" };
    vec![
        ("writes", format!("only below {}", all(writes))),
        ("reads", reads),
        ("connects to", ports(connects)),
        ("listens on", ports(listens)),
        ("signals, abstract sockets", apart.to_owned()),
        ("not confined", format!("UDP, vsock, {waiting}sockets in the file system, modes and owners of your files")),
    ]
}

#[cfg(test)]
#[path = "labels_tests.rs"]
mod tests;
