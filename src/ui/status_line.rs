//! What the status line says: pure functions from the model and the time to a few words.
//!
//! Draws nothing and decides nothing. Invariants: text of the agent is sanitised here; when the line is too narrow,
//! the order in which words give way is data (`rank`), and the state and the key that helps go last.

use super::cells;
use super::keys::{Keymap, Layer};
use super::labels::{OBJECT, agent, clock, cost, sums, to_review, to_review_before, unrecorded};
use super::state::silence;
use super::state::timing::{LOOKING_AFTER, SILENT_AFTER, START_PATIENCE, countdown};
use crate::base::{human, patience, sanitize};
use crate::model::agent::{Death, DeathKind};
use crate::model::changes::Gate;
use crate::model::effect::Ended;
use crate::model::entry::Body;
use crate::model::event::Stop;
use crate::model::ids::Now;
use crate::model::login::LogIn;
use crate::model::options::{OptionKind, OptionValue, Usage};
use crate::model::permission_mode::PermissionMode;
use crate::model::session::{Phase, Session, SessionState, Turn, TurnEnd};
use crate::model::session_ref::SessionRef;
use crate::text::run::StyledText;
use crate::text::token::Token;
use crate::text::width;
use std::time::Duration;

mod fit;

pub use fit::fit;

const KEEP: u8 = u8::MAX;
/// Of the keys that lead on, where a shorter hint is to take the place of a longer one.
const HINT: u8 = 250;

/// Of what is not left out while there is room for anything.
const WARNING: u8 = 251;

/// Of context and cost.
const CONTEXT: u8 = 30;
const COST: u8 = 10;

/// Of what Enter does while the agent works.
const SENDS: u8 = 5;

/// Of the words of what runs, and columns that they are cut to one after the other.
const RUNNING: u8 = 62;
const SHORTER: [usize; 4] = [32, 26, 20, 16];

/// Columns of the bar that shows how full the context is.
const GAUGE: usize = 8;
/// Percent from which the context is nearly full.
pub const NEARLY_FULL: u128 = 80;

const STOPS: (&str, &str) = ("{Esc} stops the turn", "{Esc} stops");

/// What leads to the dock, where the keyboard is not there.
const TO_DOCK: &str = "{Tab}, then ";

/// What is to be known besides the session.
#[derive(Clone, Copy, Debug)]
pub struct Leads<'a> {
    pub keys: &'a Keymap,
    /// The keyboard is in the dock.
    pub in_dock: bool,
    /// Other sessions work in the same directory: what is open to review is that of all of them.
    pub is_shared: bool,
}

/// A few words of the status line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Piece {
    /// What stands between this piece and the one before.
    sep: &'static str,
    text: StyledText,
    /// Said instead when room is short, the longest first.
    short: Vec<(u8, StyledText)>,
    /// Pieces with a low rank give way first; [`KEEP`] never does.
    rank: u8,
}

impl Piece {
    fn new(sep: &'static str, text: impl Into<String>, token: Token, rank: u8) -> Self {
        Self { sep, text: StyledText::of(text, token), short: Vec::new(), rank }
    }

    /// Which key leads on, in many words and in few; nothing where none does.
    fn hint(to: Leads<'_>, (long, short): (&'static str, &'static str)) -> Option<Self> {
        let say = |words: &'static str| {
            let words = if to.in_dock { words.strip_prefix(TO_DOCK).unwrap_or(words) } else { words };
            to.keys.hint(Layer::Composer, words)
        };
        let piece = Self::new(" · ", say(long)?, Token::Dim, HINT);
        // There it leads nowhere.
        Some(if short.is_empty() || to.in_dock && short == "{Tab}" {
            piece
        } else {
            piece.or(50, say(short)?, Token::Dim)
        })
    }

    fn or(mut self, rank: u8, short: impl Into<String>, token: Token) -> Self {
        self.short.push((rank, StyledText::of(short, token)));
        self
    }
}

/// Whether the state shows a glyph that moves.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Busy {
    /// The agent does something.
    Yes,
    #[default]
    No,
}

/// The status line before it is fitted to a width.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Status {
    pub busy: Busy,
    pub left: Vec<Piece>,
    pub right: Vec<Piece>,
    /// The words of that which says how the turn is stopped.
    stops: Option<String>,
}

impl Status {
    /// Whether the state waits for the person; then no message of ours may hide it.
    pub fn is_urgent(&self) -> bool {
        let token = self.left.first().and_then(|p| p.text.iter().next()).map(|(_, style)| style.token);
        matches!(token, Some(Token::Warn | Token::Bad))
    }

    /// What Esc does where it does not stop the turn.
    pub fn set_escape(&mut self, words: String) {
        if let Some(stops) = self.stops.take() {
            self.left.retain(|piece| piece.text.as_str() != stops);
            if !words.is_empty() {
                self.left.push(Piece::new(" · ", words, Token::Dim, HINT));
            }
        }
    }

    /// What Enter does while the agent works.
    pub fn set_sends(&mut self, words: String, short: String) {
        if !words.is_empty() {
            self.left.push(Piece::new(" · ", words, Token::Dim, SENDS).or(SENDS, short, Token::Dim));
        }
    }

    /// Words of the person's own program take the place of context and cost.
    pub fn set_own(&mut self, line: &StyledText) {
        self.right.retain(|piece| piece.rank != CONTEXT && piece.rank != COST);
        let short = |rank, columns| (rank, width::truncate_styled(line, columns));
        let sep = if self.right.is_empty() { "" } else { " · " };
        let short = vec![short(12, 60), short(25, 40), short(42, 20)];
        self.right.push(Piece { sep, text: line.clone(), short, rank: 48 });
    }

    /// A message of ours takes the right end for a while.
    pub fn set_toast(&mut self, text: &str) {
        self.right.retain(|piece| piece.rank == WARNING);
        self.right.push(Piece::new(" · ", text, Token::Text, KEEP));
    }
}

/// Where mode and model stand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Setup {
    /// On the rule above the composer.
    OnRule,
    InStatus,
}

/// What the status line has to say.
pub fn status(session: SessionRef<'_>, to: Leads<'_>, hint: &[String], setup: Setup, now: Now) -> Status {
    let (busy, left) = left(session, to, hint, now);
    let stops =
        Piece::hint(to, STOPS).map(|piece| piece.text).filter(|stops| left.iter().any(|piece| piece.text == *stops));
    let stops = stops.map(|stops| stops.as_str().to_owned());
    Status { busy, left, right: right(session, to, setup, now), stops }
}

/// What a session does or waits for, without the keys that lead on: for a row of a list.
pub fn brief(session: SessionRef<'_>, now: Now, columns: usize) -> StyledText {
    let (busy, mut left) =
        left(session, Leads { keys: &Keymap::default(), in_dock: false, is_shared: false }, &[], now);
    // Hints give way first anywhere.
    left.retain(|piece| piece.rank != HINT);
    fit(&Status { busy, left, ..Status::default() }, columns).0
}

/// The state while the person types into a command of the agent.
pub fn typing(keys: &Keymap, command: &str) -> Vec<Piece> {
    let command = sanitize::line(command);
    let into = |columns| format!("into: {}", width::truncate(command.trim(), columns));
    let mut pieces = vec![
        Piece::new("", "typing", Token::Warn, KEEP),
        Piece::new(" ", into(OBJECT), Token::Warn, 90).or(70, into(8), Token::Warn),
    ];
    let say = |words| keys.hint(Layer::Terminal, words);
    if let (Some(long), Some(short)) = (say("{Ctrl+]} back to writing"), say("{Ctrl+]} back")) {
        pieces.push(Piece::new(" · ", long, Token::Dim, KEEP).or(60, short, Token::Dim));
    }
    pieces
}

fn left(session: SessionRef<'_>, to: Leads<'_>, hint: &[String], now: Now) -> (Busy, Vec<Piece>) {
    let turn = session.turn.as_ref();
    if let Some(first) = session.questions().first() {
        let mut pieces = vec![
            Piece::new("", "waiting for you", Token::Warn, KEEP),
            Piece::new(" ", clock(now.saturating_sub(first.at)), Token::Warn, 80),
        ];
        match turn {
            Some(_) => pieces.extend(Piece::hint(to, STOPS)),
            None if to.in_dock => {}
            None => pieces.extend(Piece::hint(to, ("{Tab} to answer", ""))),
        }
        return (Busy::No, pieces);
    }
    match session.phase() {
        // What is about to start is drawn once before it does. An earlier session that is reviewed has no agent.
        Phase::NotStarted if session.state == SessionState::Waiting && session.review().is_none() => {
            (Busy::No, vec![Piece::new("", "starting", Token::Dim, KEEP)])
        }
        Phase::NotStarted if session.is_only_reviewed() => {
            let what = Piece::new("", "review of an earlier session", Token::Text, KEEP);
            (Busy::No, [what].into_iter().chain(Piece::hint(to, ("{review q} closes", ""))).collect())
        }
        Phase::NotStarted => (Busy::No, vec![Piece::new("", "no agent runs here", Token::Dim, KEEP)]),
        Phase::Starting { since } => starting(to, ("starting", &agent(session)), now.saturating_sub(since)),
        Phase::Opening { since } => starting(to, ("waiting", "for session"), now.saturating_sub(since)),
        Phase::PutOff { until } => {
            // The timer may be a little behind the clock.
            let left = countdown(until.saturating_sub(now).max(Duration::from_secs(1)));
            let asked = Piece::new(", asked for in ", left, Token::Text, 80);
            (Busy::Yes, vec![Piece::new("", "too new to be loaded", Token::Text, KEEP), asked])
        }
        Phase::AuthNeeded => {
            let what = Piece::new("", "log-in needed", Token::Warn, KEEP);
            (Busy::No, [what].into_iter().chain(Piece::hint(to, ("{Tab}, then a digit chooses", "{Tab}"))).collect())
        }
        Phase::Authenticating { method, since, .. } => {
            let name = session.agent().auth_methods.iter().find(|m| m.id == method).map_or(method, |m| &m.name);
            let name = sanitize::line(name);
            let is_called = session.log_in().is_some_and(LogIn::is_called);
            let leave = if is_called && !to.in_dock { "{Esc} leaves" } else { "{Tab}, then {question x} leaves" };
            let pieces = [
                Piece::new("", "logging in", Token::Text, KEEP),
                Piece::new(": ", width::truncate(&name, OBJECT), Token::Text, 60),
                Piece::new(" ", human::duration(now.saturating_sub(since)), Token::Text, 80),
            ];
            (Busy::Yes, pieces.into_iter().chain(Piece::hint(to, (leave, ""))).collect())
        }
        Phase::Dead(death) => {
            let mut pieces =
                vec![Piece::new("", death_in_short(death, session.agent().reached.is_some()), Token::Bad, KEEP)];
            if death.kind == DeathKind::Gone || death.kind == DeathKind::Early {
                pieces.push(Piece::new(" after ", human::duration(death.after), Token::Bad, 80));
            }
            let restarts = ("{Tab}, then {question r} starts it again", "{Tab}, then {question r}");
            pieces.extend(Piece::hint(to, restarts));
            (Busy::No, pieces)
        }
        Phase::ReadOnly(why) => {
            let why = Piece::new(": ", sanitize::line(&why.words()), Token::Dim, HINT);
            (Busy::No, vec![Piece::new("", "read only", Token::Warn, KEEP), why])
        }
        Phase::Ready if session.waits_for_person() => {
            let what = Piece::new("", "the agent waits for you", Token::Warn, KEEP);
            (Busy::No, [what].into_iter().chain(Piece::hint(to, STOPS)).collect())
        }
        Phase::Ready => match turn {
            Some(turn) => working(session, to, turn, now),
            None => idle(session, hint),
        },
    }
}

/// The state in a few words; the dock and the transcript have the message.
const fn death_in_short(death: &Death, is_far: bool) -> &'static str {
    match death.kind {
        DeathKind::NotStarted if is_far => "agent not reached",
        DeathKind::NotStarted => "agent did not start",
        DeathKind::Lost => "connection lost",
        DeathKind::Version => "agent speaks another version",
        DeathKind::Refused => "agent opened no session",
        DeathKind::Early | DeathKind::Gone => "agent ended",
    }
}

/// What it does, and for whom, who may have a long name.
fn starting(to: Leads<'_>, (does, whom): (&str, &str), waited: Duration) -> (Busy, Vec<Piece>) {
    if waited >= START_PATIENCE {
        let ends = "{Tab}, then {question q} ends it";
        let hint = Piece::hint(to, ("{Tab}, then {question s} shows its messages, {question q} ends it", ends));
        let pieces =
            [Piece::new("", "no answer", Token::Warn, KEEP), Piece::new(" for ", clock(waited), Token::Warn, 80)];
        return (Busy::Yes, pieces.into_iter().chain(hint).collect());
    }
    let what = Piece::new("", format!("{does} {whom}"), Token::Text, KEEP).or(RUNNING, does, Token::Text);
    (Busy::Yes, vec![what, Piece::new(" ", human::duration(waited), Token::Text, 80)])
}

fn working(session: SessionRef<'_>, to: Leads<'_>, turn: &Turn, now: Now) -> (Busy, Vec<Piece>) {
    if let Some(since) = turn.cancelling {
        let waited = now.saturating_sub(since);
        if waited >= patience::WATCHED {
            let what = Piece::new("", "has not confirmed", Token::Warn, KEEP);
            let hint = Piece::hint(to, ("{Tab}, then {question k} ends the agent", "{Tab}, then {question k}"));
            return (Busy::Yes, [what].into_iter().chain(hint).collect());
        }
        let time = Piece::new(" ", human::duration(waited), Token::Text, 80);
        return (Busy::Yes, vec![Piece::new("", "stopping", Token::Text, KEEP), time]);
    }
    let waited = now.saturating_sub(turn.started);
    if turn.is_unsent && waited > LOOKING_AFTER {
        let pieces = [
            Piece::new("", "looking at the files", Token::Text, KEEP),
            Piece::new(" ", human::duration(waited), Token::Text, 80),
        ];
        return (Busy::Yes, pieces.into_iter().chain(Piece::hint(to, STOPS)).collect());
    }
    let silent = now.saturating_sub(silence::heard(session).unwrap_or(turn.heard));
    let mut pieces = Vec::new();
    let tool = session.running_tool();
    if let Some(tool) = tool {
        let what = cells::in_words(tool, session);
        let mut running = Piece::new("", width::truncate(&what, OBJECT), Token::Text, KEEP);
        // Its end gives way before how long it runs and how it is stopped.
        for (rank, columns) in (RUNNING..).zip(SHORTER) {
            running = running.or(rank, width::truncate(&what, columns), Token::Text);
        }
        pieces.push(running);
        pieces.push(Piece::new(" ", human::duration(now.saturating_sub(tool.started)), Token::Text, 80));
    }
    if silent >= SILENT_AFTER {
        let sep = if tool.is_some() { " · " } else { "" };
        let rank = if tool.is_some() { 70 } else { KEEP };
        pieces.push(Piece::new(sep, format!("silent for {}", clock(silent)), Token::Warn, rank));
    } else if tool.is_none() {
        let newest = session.entries().iter().rev().take_while(|e| e.turn == turn.id).find(|e| !e.finished);
        if let Some(answer) = newest.filter(|entry| matches!(entry.body, Body::Agent(_))) {
            pieces.push(Piece::new("", "writing", Token::Text, KEEP));
            pieces.push(Piece::new(" ", human::duration(now.saturating_sub(answer.at)), Token::Text, 80));
        } else {
            let since = match newest {
                Some(entry) if matches!(entry.body, Body::Thought(_)) => entry.at,
                _ => turn.waits.answered().unwrap_or(turn.started),
            };
            pieces.push(Piece::new("", "thinking", Token::Text, KEEP));
            pieces.push(Piece::new(" ", human::duration(now.saturating_sub(since)), Token::Text, 80));
        }
    }
    pieces.extend(Piece::hint(to, STOPS));
    (Busy::Yes, pieces)
}

/// Nothing runs: how the last turn ended, when that was odd, and what can be done next.
fn idle(session: SessionRef<'_>, hint: &[String]) -> (Busy, Vec<Piece>) {
    let mut pieces = Vec::new();
    let unknown = || session.is_of_unknown_state().then(|| "the agent has not said whether it works".to_owned());
    let odd = odd_end(&session).or_else(unknown);
    let first = if odd.is_some() { 41 } else { KEEP };
    pieces.extend(odd.map(|odd| Piece::new("", odd, Token::Warn, KEEP)));
    // Keys give way before what is to be reviewed, and the last of them first.
    for (at, part) in hint.iter().enumerate() {
        pieces.push(Piece::new(" · ", part.as_str(), Token::Dim, if at == 0 { first } else { 40 - at.min(10) as u8 }));
    }
    (Busy::No, pieces)
}

/// How the last turn ended, when that was not as the person expects it.
fn odd_end(session: &Session) -> Option<String> {
    let TurnEnd { ended, by_person, spoke } = session.ended.as_ref()?;
    let words = match ended {
        Ended::Stopped(result) => match &result.stop {
            Stop::EndTurn if !by_person && !spoke => "ended without a word".to_owned(),
            Stop::Cancelled if !by_person => "stopped by the agent".to_owned(),
            Stop::EndTurn | Stop::Cancelled => return None,
            Stop::MaxTokens => "stopped at the token limit".to_owned(),
            Stop::MaxTurnRequests => "stopped at the limit of model requests".to_owned(),
            Stop::Refusal => "refused".to_owned(),
            Stop::Odd(None) => "the agent gave no stop reason".to_owned(),
            Stop::Odd(Some(_)) => "stopped for a reason we do not know".to_owned(),
        },
        // The log-in has been asked for, and says the rest.
        Ended::Failed(error) if *by_person || error.is_auth() => return None,
        // What it was stands in the transcript.
        Ended::Failed(_) => "ended with an error".to_owned(),
        Ended::Gone => return None,
    };
    Some(words)
}

/// What of the agent's changes is open, else what they are, whether the client could have stopped it, and the gate.
fn changes(session: SessionRef<'_>, to: Leads<'_>, now: Now) -> Vec<Piece> {
    let changes = session.changes();
    let mut pieces = Vec::new();
    if session.is_only_reviewed() {
        // The review says what it shows; beside it the sums of the session would be read as another account of that.
        return pieces;
    }
    // What is open is one figure with that of the review; a sum of all that was changed beside it would be another account.
    match to_review(changes.totals) {
        Some(open) => {
            let short = format!("{} open", changes.totals.pending);
            let piece = if to.is_shared {
                Piece::new(" · ", format!("{open} in this directory"), Token::Text, 60).or(56, open, Token::Text)
            } else {
                Piece::new(" · ", open, Token::Text, 60)
            };
            pieces.push(piece.or(52, short, Token::Text));
        }
        None if changes.totals.is_empty() => {}
        None => {
            let lines = format!("+{} −{}", changes.totals.added, changes.totals.removed);
            pieces.push(Piece::new(" · ", sums(changes.totals), Token::Text, 60).or(33, lines, Token::Text));
        }
    }
    if let Some(before) = to_review_before(changes) {
        let looks = to.keys.now(Layer::Composer, "F3").map(|key| format!("{before}: {key}"));
        pieces.push(Piece::new(" · ", looks.unwrap_or(before), Token::Text, 59));
    }
    if session.agent().caps.works_alone && session.gate() != Gate::Off {
        // Neither files nor commands come by here: there is nothing that the gate could hold.
        pieces.push(Piece::new(" · ", "agent works alone", Token::Warn, 46));
    } else if session.gate() != Gate::Off {
        pieces.push(Piece::new(" · ", gated(session.gate()), Token::Dim, 45));
        if changes.after {
            // Without a gate that is so for all of it, and nothing to be told.
            pieces.push(Piece::new(" · ", "some past the gate", Token::Warn, 44));
        }
    }
    pieces.extend(permissions(session, now));
    pieces
}

/// What becomes of writes.
const fn gated(gate: Gate) -> &'static str {
    match gate {
        Gate::Off => "writes: at once",
        Gate::Ask => "writes: ask me",
        Gate::Hold => "writes: review first",
    }
}

/// The client's own mode, and how long it still holds. The one that asks nothing stays in sight.
fn permissions(session: SessionRef<'_>, now: Now) -> Option<Piece> {
    let mode = session.chosen_permission_mode();
    let left = session.permission_mode_left(now).map(|left| format!(" {}", countdown(left))).unwrap_or_default();
    let words = format!("permissions {}{left}", mode.name());
    match mode {
        PermissionMode::Default => None,
        PermissionMode::AcceptEdits | PermissionMode::Plan => {
            Some(Piece::new(" · ", words, Token::Warn, 53).or(47, format!("{}{left}", mode.name()), Token::Warn))
        }
        PermissionMode::BypassPermissions => {
            Some(Piece::new(" · ", words, Token::Danger, WARNING).or(47, format!("bypass{left}"), Token::Danger))
        }
    }
}

fn right(session: SessionRef<'_>, to: Leads<'_>, setup: Setup, now: Now) -> Vec<Piece> {
    let lack = session.unrecorded().map(unrecorded);
    let lack = lack.map(|words| Piece::new(" · ", words, Token::Warn, WARNING).or(47, "not recorded", Token::Warn));
    let mut pieces: Vec<Piece> = lack.into_iter().chain(changes(session, to, now)).collect();
    let in_status = setup == Setup::InStatus;
    if let Some((mode, token)) = mode(session).filter(|_| in_status) {
        let sep = if pieces.is_empty() { "" } else { " · " };
        pieces.push(Piece::new(sep, mode, if token == Token::Danger { token } else { Token::Dim }, 40));
    }
    let reached = session.agent().reached;
    let mut push = |text: String, rank: u8| {
        let sep = if pieces.is_empty() { "" } else { " · " };
        pieces.push(Piece::new(sep, text, Token::Dim, rank));
        pieces.len() - 1
    };
    if session.agent().confined.is_some() {
        push("sandbox".to_owned(), 46);
    }
    if let Some(reached) = reached {
        // It names files, and they are not always those that are looked at here.
        let whose = if reached.files { "your files" } else { "its own files" };
        push(format!("over {}: {whose}", reached.transport.word()), 45);
    }
    if let Some(name) = self::model(session).filter(|_| in_status) {
        push(name, 20);
    }
    if !session.background.is_empty() {
        push(format!("{} in the background", session.background.len()), 35);
    }
    let mut context = None;
    if let Some(usage) = session.usage.as_ref().filter(|u| u.size > 0 || u.used > 0) {
        context = Some(if usage.size == 0 {
            (push(format!("{} tokens", human::tokens(usage.used)), CONTEXT), None)
        } else {
            let percent = percent(usage);
            let words = format!("{percent} % of {}", human::tokens(usage.size));
            let bar = format!("context {} {words}", gauge(percent, GAUGE));
            (push(bar, CONTEXT), Some((words, format!("{percent} %"), percent)))
        });
        if let Some(spent) = usage.cost.as_ref().and_then(cost) {
            push(spent, COST);
        }
    }
    if let Some((at, Some((words, short, percent)))) = context
        && let Some(piece) = pieces.get_mut(at)
    {
        let token = if percent >= NEARLY_FULL { Token::Warn } else { Token::Dim };
        piece.text = std::mem::take(&mut piece.text).retoken(token);
        piece.short = vec![(5, StyledText::of(words, token)), (15, StyledText::of(short, token))];
    }
    pieces
}

/// How full the context is, in percent; more than can be is said as that, and never in many digits.
pub fn percent(usage: &Usage) -> u128 {
    (u128::from(usage.used) * 100 / u128::from(usage.size.max(1))).min(999)
}

/// A bar of so many columns; what is not empty has at least one.
pub fn gauge(percent: u128, columns: usize) -> String {
    let full = (percent.min(100) as usize * columns).div_ceil(100);
    format!("{}{}", "▰".repeat(full), "▱".repeat(columns - full))
}

/// The mode in force, or the one asked for with `…` behind it, and how it is to be shown.
pub fn mode(session: SessionRef<'_>) -> Option<(String, Token)> {
    let modes = session.modes.as_ref().filter(|_| session.mode_option().is_none());
    let (name, pending) = if let Some(modes) = modes {
        match &modes.pending {
            Some(id) => (modes.name_of(id), "…"),
            None => (modes.name_of(&modes.current), ""),
        }
    } else {
        let option = session.options.iter().find(|o| o.is_category("mode"))?;
        match (&option.pending, &option.kind) {
            (Some(OptionValue::Id(id)), OptionKind::Select { values, .. }) => {
                (values.iter().find(|v| v.value == *id).map_or(id.as_str(), |v| v.name.as_str()), "…")
            }
            _ => (option.current_name(), ""),
        }
    };
    let name = sanitize::line(name);
    let name = name.trim();
    let token = if lets_all_pass(name) { Token::Danger } else { Token::Text };
    (!name.is_empty()).then(|| (format!("{}{pending}", width::truncate(name, 24)), token))
}

/// Whether a mode goes by a name under which agents ask for nothing, or for little. It is coloured, nothing else.
pub fn lets_all_pass(mode: &str) -> bool {
    let mode = mode.to_ascii_lowercase();
    ["auto", "bypass", "yolo", "accept", "full access", "danger"].iter().any(|word| mode.contains(word))
}

/// The name of the model, where the agent tells it; "model" in front of one that is only a figure, or could be a mode.
pub fn model(session: SessionRef<'_>) -> Option<String> {
    let name = sanitize::line(session.settings().find(|o| o.is_category("model"))?.current_name());
    let name = name.trim();
    let could_be_a_mode = ["auto", "default"].iter().any(|word| name.eq_ignore_ascii_case(word));
    let says_nothing = could_be_a_mode || !name.chars().any(char::is_alphabetic);
    let what = if says_nothing { "model " } else { "" };
    (!name.is_empty()).then(|| format!("{what}{}", width::truncate(name, 32)))
}

/// What a session is at, in a word or two of ours.
pub fn state(session: SessionRef<'_>) -> &'static str {
    match (session.questions().first(), session.phase()) {
        (Some(_), _) => "waiting for you",
        (None, Phase::NotStarted) => "no agent",
        (None, Phase::Starting { .. } | Phase::Opening { .. } | Phase::PutOff { .. }) => "starting",
        (None, Phase::AuthNeeded | Phase::Authenticating { .. }) => "log-in needed",
        (None, Phase::Dead(_)) => "agent ended",
        (None, Phase::ReadOnly(_)) => "read only",
        (None, Phase::Ready) => match &session.turn {
            Some(turn) if turn.cancelling.is_some() => "stopping",
            Some(_) => "working",
            None => "ready",
        },
    }
}

/// The title of the person's terminal: our state and the name of the directory, never a word of the agent.
pub fn terminal_title(session: SessionRef<'_>, others_wait: bool) -> String {
    let asks = !session.questions().is_empty();
    let state = if others_wait && !asks { "another session waits for you" } else { state(session) };
    let project = session.cwd.rsplit('/').find(|s| !s.is_empty()).unwrap_or("/");
    format!("acp-tui · {state} — {}", width::truncate(&sanitize::line(project), 40))
}

#[cfg(test)]
#[path = "status_line_tests.rs"]
mod tests;
