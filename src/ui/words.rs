//! What the status line says: pure functions from the model and the time to a few words.
//!
//! Draws nothing and decides nothing. Invariants: text of the agent is sanitised here; when the line is too narrow,
//! the order in which words give way is data (`rank`), and the state and the key that helps go last.

use crate::base::{human, paths, patience, sanitize};
use crate::model::Model;
use crate::model::agent::{Agent, Death, DeathKind, OddCounts};
use crate::model::changes::{Gate, Totals};
use crate::model::entry::{Body, Level};
use crate::model::event::AuthKind;
use crate::model::ids::Now;
use crate::model::login;
use crate::model::options::{OptionKind, OptionValue};
use crate::model::session::{Phase, Turn};
use crate::model::tool::{ToolCall, ToolKind};
use crate::text::run::StyledText;
use crate::text::token::Token;
use crate::text::width;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A wait for the snapshot of the files that takes so long is named.
pub const LOOKING_AFTER: Duration = Duration::from_millis(300);
/// A working agent that has said nothing for so long is called silent.
pub const SILENT_AFTER: Duration = Duration::from_secs(20);
/// A running command that has printed nothing for so long may wait for somebody to type.
pub const QUIET: Duration = Duration::from_secs(10);
/// A start that takes so long is offered to be given up.
pub const START_PATIENCE: Duration = Duration::from_mins(1);

/// Columns for what a tool call is about.
const OBJECT: usize = 40;
const KEEP: u8 = u8::MAX;

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
}

impl Status {
    /// Whether the state waits for the person; then no message of ours may hide it.
    pub fn is_urgent(&self) -> bool {
        let token = self.left.first().and_then(|p| p.text.iter().next()).map(|(_, style)| style.token);
        matches!(token, Some(Token::Warn | Token::Bad))
    }

    /// A message of ours takes the right end for a while.
    pub fn set_toast(&mut self, text: &str) {
        self.right = vec![Piece::new("", text, Token::Text, KEEP)];
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

/// The plain word for a kind of tool call.
pub const fn verb(kind: ToolKind) -> &'static str {
    match kind {
        ToolKind::Read => "read",
        ToolKind::Edit => "edit",
        ToolKind::Delete => "delete",
        ToolKind::Move => "move",
        ToolKind::Search => "search",
        ToolKind::Execute => "run",
        ToolKind::Think => "think",
        ToolKind::Fetch => "fetch",
        ToolKind::SwitchMode => "switch",
        ToolKind::Other => "use",
    }
}

/// What a tool call is about, on one line: its label without the verb that already stands in front of it.
pub fn object(tool: &ToolCall, cwd: &str) -> String {
    let label = tool.label().trim().trim_matches('`');
    let verb = verb(tool.kind);
    let rest = match label.split_once(char::is_whitespace) {
        Some((first, rest)) if first.eq_ignore_ascii_case(verb) && !rest.trim().is_empty() => rest.trim(),
        _ => label,
    };
    let rest = rest.trim_matches('`');
    if rest.starts_with('/') && !rest.contains(' ') {
        return paths::display(Path::new(rest), &[PathBuf::from(cwd)], None);
    }
    sanitize::line(rest).trim().to_owned()
}

/// The name of an agent as it is shown.
pub fn agent(model: &Model) -> String {
    let agent = model.agent();
    if agent.title.is_none() && agent.name.is_none() {
        return program(&agent.command);
    }
    let label = sanitize::line(agent.label());
    width::truncate(label.trim(), OBJECT).into_owned()
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

/// "1 prompt waits for this turn".
pub fn held(model: &Model) -> Option<String> {
    let n = model.session().held.len();
    let wait = if n == 1 { "waits" } else { "wait" };
    let what = match (model.phase(), &model.session().turn) {
        (_, Some(_)) => "this turn",
        (Phase::AuthNeeded { .. } | Phase::Authenticating { .. }, None) => "the log-in",
        (_, None) => "the session",
    };
    (n > 0).then(|| format!("{} {wait} for {what}", human::count(n as u64, "prompt")))
}

/// What the status line has to say.
pub fn status(model: &Model, hint: &str, now: Now) -> Status {
    let (busy, left) = left(model, hint, now);
    Status { busy, left, right: right(model) }
}

/// The state while the person types into a command of the agent.
pub fn typing(command: &str) -> Vec<Piece> {
    let command = sanitize::line(command);
    let into = |columns| format!("into: {}", width::truncate(command.trim(), columns));
    vec![
        Piece::new("", "typing", Token::Warn, KEEP),
        Piece::new(" ", into(OBJECT), Token::Warn, 90).or(70, into(8), Token::Warn),
        Piece::new(" · ", "Ctrl+] back to writing", Token::Dim, KEEP).or(60, "Ctrl+] back", Token::Dim),
    ]
}

fn left(model: &Model, hint: &str, now: Now) -> (Busy, Vec<Piece>) {
    let session = model.session();
    let turn = session.turn.as_ref();
    if let Some(first) = session.pending.first() {
        let mut pieces = vec![
            Piece::new("", "waiting for you", Token::Warn, KEEP),
            Piece::new(" ", clock(now.saturating_sub(first.at)), Token::Warn, 80),
        ];
        if turn.is_some() {
            pieces.push(Piece::new(" · ", "esc stops the turn", Token::Dim, 250).or(50, "esc stops", Token::Dim));
        } else {
            pieces.push(Piece::new(" · ", "Tab to answer", Token::Dim, 250));
        }
        return (Busy::No, pieces);
    }
    match model.phase() {
        Phase::NotStarted => (Busy::Yes, vec![Piece::new("", "starting", Token::Text, KEEP)]),
        Phase::Starting { since } => starting(&format!("starting {}", agent(model)), now.saturating_sub(since)),
        Phase::Opening { since } => starting("waiting for session", now.saturating_sub(since)),
        Phase::AuthNeeded { .. } => (
            Busy::No,
            vec![
                Piece::new("", "log-in needed", Token::Warn, KEEP),
                Piece::new(" · ", "Tab, then a digit chooses", Token::Dim, 250).or(50, "Tab", Token::Dim),
            ],
        ),
        Phase::Authenticating { method, since, .. } => {
            let name = model.agent().auth_methods.iter().find(|m| m.id == method).map_or(method, |m| &m.name);
            let name = sanitize::line(name);
            (
                Busy::Yes,
                vec![
                    Piece::new("", "logging in", Token::Text, KEEP),
                    Piece::new(" with ", width::truncate(&name, OBJECT), Token::Text, 60),
                    Piece::new(" ", human::duration(now.saturating_sub(since)), Token::Text, 80),
                    Piece::new(" · ", "esc leaves", Token::Dim, 250),
                ],
            )
        }
        Phase::Dead(death) => {
            let mut pieces = vec![Piece::new("", death_in_short(death), Token::Bad, KEEP)];
            if death.kind == DeathKind::Gone || death.kind == DeathKind::Early {
                pieces.push(Piece::new(" after ", human::duration(death.after), Token::Bad, 80));
            }
            pieces.push(Piece::new(" · ", "Tab, then r starts it again", Token::Dim, 250).or(
                50,
                "Tab, then r",
                Token::Dim,
            ));
            (Busy::No, pieces)
        }
        Phase::Ready => match turn {
            Some(turn) => working(model, turn, now),
            None => idle(model, hint),
        },
    }
}

/// The state in a few words; the dock and the transcript have the message.
fn death_in_short(death: &Death) -> String {
    match death.kind {
        DeathKind::NotStarted => "agent did not start".to_owned(),
        DeathKind::Version => "agent speaks another version".to_owned(),
        DeathKind::Refused => "agent opened no session".to_owned(),
        DeathKind::Early | DeathKind::Gone => {
            let message = sanitize::line(&death.message);
            let how = message.rsplit_once("ended: ").map(|(_, how)| how.split(" before").next().unwrap_or(how));
            how.map_or_else(|| "agent ended".to_owned(), |how| format!("agent ended: {}", width::truncate(how, 24)))
        }
    }
}

fn starting(what: &str, waited: Duration) -> (Busy, Vec<Piece>) {
    if waited >= START_PATIENCE {
        return (
            Busy::Yes,
            vec![
                Piece::new("", "no answer", Token::Warn, KEEP),
                Piece::new(" for ", clock(waited), Token::Warn, 80),
                Piece::new(" · ", "Tab, then s shows its messages, q ends it", Token::Dim, 250).or(
                    50,
                    "Tab, then q ends it",
                    Token::Dim,
                ),
            ],
        );
    }
    let pieces =
        vec![Piece::new("", what, Token::Text, KEEP), Piece::new(" ", human::duration(waited), Token::Text, 80)];
    (Busy::Yes, pieces)
}

fn working(model: &Model, turn: &Turn, now: Now) -> (Busy, Vec<Piece>) {
    if let Some(since) = turn.cancelling {
        let waited = now.saturating_sub(since);
        if waited >= patience::WATCHED {
            return (
                Busy::Yes,
                vec![
                    Piece::new("", "has not confirmed", Token::Warn, KEEP),
                    Piece::new(" · ", "Tab, then k ends the agent", Token::Dim, 250).or(50, "Tab, then k", Token::Dim),
                ],
            );
        }
        let time = Piece::new(" ", human::duration(waited), Token::Text, 80);
        return (Busy::Yes, vec![Piece::new("", "stopping", Token::Text, KEEP), time]);
    }
    let waited = now.saturating_sub(turn.started);
    if turn.unsent.is_some() && waited > LOOKING_AFTER {
        return (
            Busy::Yes,
            vec![
                Piece::new("", "looking at the files", Token::Text, KEEP),
                Piece::new(" ", human::duration(waited), Token::Text, 80),
                Piece::new(" · ", "esc stops the turn", Token::Dim, 250).or(50, "esc stops", Token::Dim),
            ],
        );
    }
    let silent = now.saturating_sub(turn.heard);
    let mut pieces = Vec::new();
    let tool = model.running_tool();
    if let Some(tool) = tool {
        let what = format!("{} {}", verb(tool.kind), width::truncate(&object(tool, &model.session().cwd), OBJECT));
        pieces.push(Piece::new("", what, Token::Text, KEEP));
        pieces.push(Piece::new(" ", human::duration(now.saturating_sub(tool.started)), Token::Text, 80));
    }
    if silent >= SILENT_AFTER {
        let sep = if tool.is_some() { " · " } else { "" };
        let rank = if tool.is_some() { 70 } else { KEEP };
        pieces.push(Piece::new(sep, format!("silent for {}", clock(silent)), Token::Warn, rank));
    } else if tool.is_none() {
        let newest = model.entries().iter().rev().take_while(|e| e.turn == turn.id).find(|e| !e.finished);
        if matches!(newest.map(|e| &e.body), Some(Body::Agent(_))) {
            pieces.push(Piece::new("", "writing", Token::Text, KEEP));
        } else {
            let since = match newest {
                Some(entry) if matches!(entry.body, Body::Thought(_)) => entry.at,
                _ => turn.started,
            };
            pieces.push(Piece::new("", "thinking", Token::Text, KEEP));
            pieces.push(Piece::new(" ", human::duration(now.saturating_sub(since)), Token::Text, 80));
        }
    }
    pieces.push(Piece::new(" · ", "esc stops the turn", Token::Dim, 250).or(50, "esc stops", Token::Dim));
    (Busy::Yes, pieces)
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

/// Nothing runs: how the last turn ended, when that was odd, and what can be done next.
fn idle(model: &Model, hint: &str) -> (Busy, Vec<Piece>) {
    let mut pieces = Vec::new();
    let odd = odd_end(model);
    let first = if odd.is_some() { 41 } else { KEEP };
    pieces.extend(odd.map(|odd| Piece::new("", odd, Token::Warn, KEEP)));
    // Keys give way before what is to be reviewed, and the last of them first.
    for (at, part) in hint.split(" · ").enumerate() {
        pieces.push(Piece::new(" · ", part, Token::Dim, if at == 0 { first } else { 40 - at.min(5) as u8 }));
    }
    (Busy::No, pieces)
}

/// The title of the notice with which the last turn ended.
fn odd_end(model: &Model) -> Option<String> {
    // The sums of the turn say nothing of how it ended.
    let last = model.entries().iter().rev().find(|e| !matches!(e.body, Body::Changes(_)))?;
    match &last.body {
        Body::Notice(notice) if notice.level != Level::Info && last.turn == model.last_turn() && last.turn.0 > 0 => {
            let title = sanitize::line(&notice.title);
            let words = title.split([';', ':']).next().unwrap_or_default().trim();
            let words = words.strip_prefix("the turn ").unwrap_or(words);
            Some(width::truncate(words, OBJECT).into_owned())
        }
        _ => None,
    }
}

/// "3 to review", or nothing when all is decided.
pub fn to_review(totals: Totals) -> Option<String> {
    (totals.pending > 0).then(|| format!("{} to review", totals.pending))
}

/// "+120 −14 in 6 files · 3 to review"
pub fn sums(totals: Totals) -> String {
    let sums = format!("+{} −{} in {}", totals.added, totals.removed, human::count(totals.files, "file"));
    to_review(totals).map_or_else(|| sums.clone(), |open| format!("{sums} · {open}"))
}

/// What a gate does, for the person who has chosen it.
pub const fn gate(gate: Gate, is_reviewed: bool) -> &'static str {
    match (gate, is_reviewed) {
        (Gate::Off, _) => "gate off: writes and commands go through",
        (Gate::Ask, _) => "gate ask: each write and command is a question",
        (Gate::Hold, true) => "gate hold: writes wait for your review, commands are a question",
        (Gate::Hold, false) => "gate hold: without a review each write and command is a question",
    }
}

/// What the agent has changed, whether the client could have stopped it, and the gate.
fn changes(model: &Model) -> Vec<Piece> {
    let changes = model.changes();
    let mut pieces = Vec::new();
    if !changes.totals.is_empty() {
        let Totals { added, removed, pending, .. } = changes.totals;
        let lines = format!("+{added} −{removed}");
        let mut piece = Piece::new(" · ", sums(changes.totals), Token::Text, 60);
        piece = match to_review(changes.totals) {
            Some(open) => piece.or(33, format!("{lines} · {open}"), Token::Text).or(
                52,
                format!("{lines} · {pending}"),
                Token::Text,
            ),
            None => piece.or(33, lines, Token::Text),
        };
        pieces.push(piece);
        if changes.after {
            pieces.push(Piece::new(" · ", "reviewed after", Token::Dim, 44));
        }
    }
    if model.gate() != Gate::Off {
        pieces.push(Piece::new(" · ", format!("gate {}", model.gate().name()), Token::Dim, 45));
    }
    pieces
}

fn right(model: &Model) -> Vec<Piece> {
    let session = model.session();
    let mut pieces: Vec<Piece> = changes(model);
    let mut push = |text: String, rank: u8| {
        let sep = if pieces.is_empty() { "" } else { " · " };
        pieces.push(Piece::new(sep, text, Token::Dim, rank));
        pieces.len() - 1
    };
    if let Some(mode) = mode(model) {
        push(mode, 40);
    }
    if let Some(name) = self::model(model) {
        push(name, 20);
    }
    let mut context = None;
    if let Some(usage) = session.usage.as_ref().filter(|u| u.size > 0 || u.used > 0) {
        context = Some(if usage.size == 0 {
            (push(format!("{} tokens", human::tokens(usage.used)), 30), None)
        } else {
            let percent = u128::from(usage.used) * 100 / u128::from(usage.size);
            let full = format!("{percent} % of {}", human::tokens(usage.size));
            (push(full, 30), Some(format!("{percent} %")))
        });
        if let Some((amount, unit)) = &usage.cost {
            push(format!("{amount:.2} {}", width::truncate(&sanitize::line(unit), 8)), 10);
        }
    }
    if let Some((at, Some(short))) = context
        && let Some(piece) = pieces.get_mut(at)
    {
        piece.short = vec![(15, StyledText::of(short, Token::Dim))];
    }
    pieces
}

/// The mode in force, or the one asked for with `…` behind it.
fn mode(model: &Model) -> Option<String> {
    let session = model.session();
    let (name, pending) = if let Some(modes) = &session.modes {
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
    (!name.is_empty()).then(|| format!("{}{pending}", width::truncate(name, 24)))
}

fn model(model: &Model) -> Option<String> {
    let session = model.session();
    let name = match session.options.iter().find(|o| o.is_category("model")) {
        Some(option) => option.current_name(),
        None => session.legacy_model.as_ref()?.name.as_str(),
    };
    let name = sanitize::line(name);
    let name = name.trim();
    (!name.is_empty()).then(|| width::truncate(name, 32).into_owned())
}

/// The two ends of the line for a number of columns; both fit with two columns between them.
pub fn fit(status: &Status, columns: usize) -> (StyledText, StyledText) {
    let mut left = status.left.clone();
    let mut right = status.right.clone();
    loop {
        let (l, r) = (join(&left), join(&right));
        let gap = if r.is_empty() { 0 } else { 2 };
        if width::styled_width(&l) + gap + width::styled_width(&r) <= columns {
            return (l, r);
        }
        if !give_way(&mut left, &mut right) {
            return (width::truncate_styled(&l, columns), StyledText::new());
        }
    }
}

/// Shortens or drops the piece that matters least; false when all that is left must stay.
fn give_way(left: &mut Vec<Piece>, right: &mut Vec<Piece>) -> bool {
    let lowest = |pieces: &[Piece]| {
        pieces
            .iter()
            .enumerate()
            .map(|(at, p)| (p.short.first().map_or(p.rank, |(rank, _)| *rank), at))
            .filter(|(rank, _)| *rank < KEEP)
            .min()
    };
    let (pieces, at) = match (lowest(left), lowest(right)) {
        (None, None) => return false,
        (Some((_, at)), None) => (left, at),
        (None, Some((_, at))) => (right, at),
        (Some((l, at)), Some((r, _))) if l < r => (left, at),
        (_, Some((_, at))) => (right, at),
    };
    match pieces.get_mut(at) {
        Some(piece) if !piece.short.is_empty() => piece.text = piece.short.remove(0).1,
        _ => {
            pieces.remove(at);
        }
    }
    true
}

fn join(pieces: &[Piece]) -> StyledText {
    let mut out = StyledText::new();
    for piece in pieces {
        if !out.is_empty() {
            let style = piece.text.iter().next().map_or(Token::Dim.into(), |(_, style)| style);
            out.push(piece.sep, if piece.sep == " · " { Token::Dim.into() } else { style });
        }
        out.append(&piece.text);
    }
    out
}

/// The title of the person's terminal: our state and the name of the directory, never a word of the agent (R-456).
pub fn terminal_title(model: &Model) -> String {
    let session = model.session();
    let state = match (session.pending.first(), model.phase()) {
        (Some(_), _) => "waiting for you",
        (None, Phase::NotStarted | Phase::Starting { .. } | Phase::Opening { .. }) => "starting",
        (None, Phase::AuthNeeded { .. } | Phase::Authenticating { .. }) => "log-in needed",
        (None, Phase::Dead(_)) => "agent ended",
        (None, Phase::Ready) => match &session.turn {
            Some(turn) if turn.cancelling.is_some() => "stopping",
            Some(_) => "working",
            None => "ready",
        },
    };
    let project = session.cwd.rsplit('/').find(|s| !s.is_empty()).unwrap_or("/");
    format!("acp-tui · {state} — {}", width::truncate(&sanitize::line(project), 40))
}

#[cfg(test)]
#[path = "words_tests.rs"]
mod tests;
