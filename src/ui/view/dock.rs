//! The dock above the composer: what is asked or wrong, and the keys that help.
//!
//! Answers nothing. Invariants: the choices are always visible, in the order the agent gave them and with its names
//! made harmless; what the body does not show can be scrolled to.

use super::ViewCx;
use super::paint::{self, Painted, Placed};
use crate::base::{human, paths, sanitize};
use crate::model::Model;
use crate::model::event::{AuthKind, CallError};
use crate::model::ids::Now;
use crate::model::session::{About, PendingPermission, Phase};
use crate::text::line::{LogicalLine, WrapMode};
use crate::text::run::{Mods, RunStyle, StyledText};
use crate::text::token::Token;
use crate::text::width;
use crate::ui::cells;
use crate::ui::state::Focus;
use crate::ui::state::dock::{Dialog, Raw};
use crate::ui::words;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Columns that a name of an option gets at least before options are left out.
const SHORTEST_NAME: usize = 6;
const LONGEST_NAME: usize = 60;
/// Lines of an error or of the agent's messages that are shown before the person asks for more.
const DETAIL_LINES: usize = 4;

/// Something that can be chosen: the key and what it does.
#[derive(Clone, Debug)]
struct Choice {
    key: String,
    name: String,
}

struct Contents {
    body: Vec<LogicalLine>,
    choices: Vec<Choice>,
}

/// The dock laid out for a width and a height.
pub struct Dock {
    dialog: Dialog,
    body: Vec<Painted>,
    /// Rows of choices; the first row's first choice and the text.
    answers: Vec<(Range<usize>, StyledText)>,
    /// First row of the body that is shown, and how many.
    top: usize,
    shown: usize,
    /// First row of the choices that is shown, and how many.
    answers_top: usize,
    answers_shown: usize,
}

impl Dock {
    pub fn height(&self) -> u16 {
        u16::try_from(self.shown + self.answers_shown).unwrap_or(u16::MAX)
    }

    pub fn dialog(&self) -> &Dialog {
        &self.dialog
    }

    /// The choices that can be read.
    pub fn options(&self) -> Range<usize> {
        let rows = self.answers.iter().skip(self.answers_top).take(self.answers_shown);
        rows.fold(0..0, |all, (r, _)| if all.is_empty() { r.clone() } else { all.start..r.end.max(all.end) })
    }

    pub fn scroll_max(&self) -> usize {
        self.body.len().saturating_sub(self.shown)
    }
}

/// Lays the dock out in at most `max` rows; `None` when there is nothing to show or no room at all.
pub fn layout(cx: &ViewCx<'_>, columns: u16, max: u16) -> Option<Dock> {
    let dialog = cx.state.dock.dialog.clone()?;
    let max = usize::from(max);
    let inner = columns.checked_sub(2).filter(|c| *c > 0)?;
    let contents = contents(cx, &dialog, columns)?;
    let body = paint::rows(&contents.body, inner);
    let answers = flow(cx, &contents.choices, usize::from(inner), max.saturating_sub(1).max(1));
    let answers_shown = answers.len().min(max.saturating_sub(1).max(1)).min(max);
    let shown = body.len().min(max - answers_shown);
    let highlighted = cx.state.dock.highlighted.unwrap_or(0);
    let at = answers.iter().position(|(r, _)| r.contains(&highlighted)).unwrap_or(0);
    let answers_top = (at + 1).saturating_sub(answers_shown);
    let top = cx.state.dock.scroll.min(body.len() - shown);
    (max > 0).then_some(Dock { dialog, body, answers, top, shown, answers_top, answers_shown })
}

pub fn draw(cx: &ViewCx<'_>, dock: &Dock, area: Rect, buf: &mut Buffer) {
    let focused = cx.state.focus == Focus::Dock;
    let bar = StyledText::of("▌ ", if focused { Token::Accent } else { Token::Dock });
    let mut y = area.y;
    let line = |y: u16| Rect { x: area.x.saturating_add(2), y, width: area.width.saturating_sub(2), height: 1 };
    for row in dock.body.iter().skip(dock.top).take(dock.shown) {
        if y >= area.bottom() {
            return;
        }
        paint::put(buf, area.x, y, area.width, &bar, cx.theme);
        paint::row(buf, line(y), row, cx.theme);
        y += 1;
    }
    let mut rows = Vec::new();
    for (_, text) in dock.answers.iter().skip(dock.answers_top).take(dock.answers_shown) {
        if y >= area.bottom() {
            break;
        }
        paint::put(buf, area.x, y, area.width, &bar, cx.theme);
        let used = paint::put(buf, area.x + 2, y, area.width.saturating_sub(2), text, cx.theme);
        rows.push((y, if used == 0 { 0 } else { used + 1 }));
        y += 1;
    }
    let token = if focused { Token::Accent } else { Token::Dim };
    for hint in hints(dock, &cx.state.focus) {
        let hint = StyledText::of(hint, token);
        let at =
            rows.iter().rev().find(|(y, used)| paint::put_right(buf, line(*y), *used, &hint, cx.theme) == Placed::Yes);
        if at.is_some() {
            return;
        }
    }
}

/// What the right end says, longest first.
fn hints(dock: &Dock, focus: &Focus) -> Vec<String> {
    let more = dock.scroll_max();
    let focused = *focus == Focus::Dock;
    let (long, short, shortest) = match focus {
        Focus::Dock => ("Esc back to writing", "Esc back", "Esc"),
        Focus::Composer => ("Tab to answer", "Tab", "Tab"),
        Focus::Review => ("Alt+P to answer", "Alt+P", "Alt+P"),
        // Tab goes to the command.
        Focus::Terminal(_) => ("Ctrl+], then Tab to answer", "Ctrl+], Tab", "Ctrl+]"),
    };
    let mut hints = Vec::new();
    if more > 0 {
        let at = format!("rows {}–{} of {}", dock.top + 1, dock.top + dock.shown, dock.body.len());
        let key = if focused { "PageDown" } else { "Tab" };
        if focused {
            hints.push(format!("{at}, {key} · {long}"));
            hints.push(format!("{at}, {key} · {shortest}"));
        } else {
            hints.push(format!("{at} · {long}"));
        }
        hints.push(format!("+{more} {} · {shortest}", if more == 1 { "row" } else { "rows" }));
    }
    hints.extend([long.to_owned(), short.to_owned(), shortest.to_owned()]);
    hints
}

/// The choices in rows. Names give way before rows do, rows before choices.
fn flow(cx: &ViewCx<'_>, choices: &[Choice], columns: usize, max_rows: usize) -> Vec<(Range<usize>, StyledText)> {
    let mut longest = LONGEST_NAME.min(columns.saturating_sub(3)).max(1);
    // Room for the shortest word at the right end of the last row.
    loop {
        let rows = flow_with(cx, choices, columns, longest);
        if rows.len() <= max_rows || longest <= SHORTEST_NAME {
            return rows;
        }
        longest = (longest * 3 / 4).max(SHORTEST_NAME);
    }
}

fn flow_with(cx: &ViewCx<'_>, choices: &[Choice], columns: usize, longest: usize) -> Vec<(Range<usize>, StyledText)> {
    let focused = cx.state.focus == Focus::Dock;
    let gap = if columns >= 70 { 3 } else { 2 };
    let mut rows: Vec<(Range<usize>, StyledText)> = Vec::new();
    for (at, choice) in choices.iter().enumerate() {
        let marked = focused && cx.state.dock.highlighted == Some(at);
        let key: RunStyle = if focused { Token::Accent } else { Token::Dock }.into();
        let name: RunStyle = if marked { Token::Selected } else { Token::Text }.into();
        let extra = if marked { Mods::REVERSE } else { Mods::NONE };
        let mut text = StyledText::of(&choice.key, key.with_mods(Mods::BOLD).with_mods(extra));
        text.push(" ", name.with_mods(extra));
        text.push(&width::truncate(&choice.name, longest), name.with_mods(extra));
        let wide = width::styled_width(&text);
        match rows.last_mut() {
            Some((range, row)) if width::styled_width(row) + gap + wide <= columns => {
                row.push(&" ".repeat(gap), Token::Text);
                row.append(&text);
                range.end = at + 1;
            }
            _ => rows.push((at..at + 1, text)),
        }
    }
    if rows.is_empty() {
        rows.push((0..0, StyledText::new()));
    }
    // The word that names the key must not be lost because every row is full.
    if columns >= 12 && rows.iter().all(|(_, row)| width::styled_width(row) + 4 > columns) {
        let end = choices.len();
        rows.push((end..end, StyledText::new()));
    }
    rows
}

fn contents(cx: &ViewCx<'_>, dialog: &Dialog, columns: u16) -> Option<Contents> {
    let model = cx.model;
    Some(match dialog {
        Dialog::Permission(req) => {
            let pending = model.session().pending.iter().find(|p| p.req == *req)?;
            permission(cx, pending, columns)
        }
        Dialog::LogIn => {
            let Phase::AuthNeeded { error } = model.phase() else { return None };
            log_in(model, error)
        }
        Dialog::Authenticating(method) => {
            let Phase::Authenticating { since, .. } = model.phase() else { return None };
            authenticating(model, method, cx.now.saturating_sub(*since))
        }
        Dialog::Dead => {
            let Phase::Dead(death) = model.phase() else { return None };
            let mut body = vec![strong(&death.message, Token::Bad)];
            // The agent's last lines stand in the transcript, right above.
            if !death.hint.is_empty() {
                body.push(plain(&death.hint, Token::Text));
            }
            Contents { body, choices: keys(&[("r", "start it again"), ("q", "quit")]) }
        }
        Dialog::Silent => silent(cx)?,
        Dialog::Unconfirmed => {
            let since = model.session().turn.as_ref()?.cancelling?;
            let waited = words::clock(cx.now.saturating_sub(since));
            let words = format!("{} has not confirmed the stop for {waited}", words::agent(model));
            let note = "Ending it closes the session; the files it has written stay.";
            Contents {
                body: vec![strong(&words, Token::Warn), plain(note, Token::Dim)],
                choices: keys(&[("k", "end the agent")]),
            }
        }
    })
}

fn keys(list: &[(&str, &str)]) -> Vec<Choice> {
    list.iter().map(|(key, name)| Choice { key: (*key).to_owned(), name: (*name).to_owned() }).collect()
}

fn plain(text: &str, token: Token) -> LogicalLine {
    LogicalLine::text(StyledText::of(sanitize::line(text).trim(), token))
}

fn strong(text: &str, token: Token) -> LogicalLine {
    let style = RunStyle::from(token).with_mods(Mods::BOLD);
    LogicalLine::text(StyledText::of(sanitize::line(text).trim(), style))
}

/// Words that are not ours.
fn quoted(text: &str) -> LogicalLine {
    LogicalLine {
        prefix: StyledText::of("  ", Token::Dim),
        hang: StyledText::of("  ", Token::Dim),
        text: StyledText::of(sanitize::line(text).trim_end(), Token::Quote),
        wrap: WrapMode::Anywhere,
        ..LogicalLine::default()
    }
}

fn permission(cx: &ViewCx<'_>, pending: &PendingPermission, columns: u16) -> Contents {
    let model = cx.model;
    let mut body = Vec::new();
    let waiting = model.session().pending.len();
    let at = 1 + model.session().pending.iter().position(|p| p.req == pending.req).unwrap_or(0);
    let waited = words::clock(cx.now.saturating_sub(pending.at));
    let count = match (waiting, columns) {
        (0 | 1, _) => String::new(),
        (n, 0..60) => format!("{at}/{n} "),
        (n, _) => format!("{at} of {n} · "),
    };
    let right = StyledText::of(format!("{count}{waited}"), Token::Dim);
    let agent = words::agent(model);
    let verb = match &pending.about {
        About::Tool => model.tool(pending.entry).map_or("do", |tool| words::verb(tool.kind)),
        About::Write { .. } | About::Held { .. } => "write",
        About::Run(_) => "run",
    };
    let raw = match cx.state.dock.raw {
        Raw::Shown => cells::RawInput::Shown,
        Raw::Hidden => cells::RawInput::Hidden,
    };
    let roots = [PathBuf::from(&model.session().cwd)];
    let entry = model.entries().get(pending.entry);
    let ctx = cx.cell_ctx(columns.saturating_sub(2), &roots);
    let lines = if pending.about == About::Tool {
        entry.map(|e| cells::permission_body(e, &pending.truths, &ctx, raw)).unwrap_or_default()
    } else {
        cells::gate_body(pending, &ctx)
    };
    // What is asked comes first: verb and the whole command or path. The place follows it.
    let indent = " ".repeat(lines.first().map_or(0, |l| l.prefix.len()));
    let what = 1 + lines.iter().skip(1).take_while(|l| !indent.is_empty() && l.prefix.as_str() == indent).count();
    let mut lines = lines.into_iter();
    let mut first = lines.next().unwrap_or_default();
    let wide = columns >= 100;
    let mut prefix = StyledText::new();
    if wide {
        prefix.push(&format!("{agent} wants to "), Token::Text);
    }
    prefix.push(verb, RunStyle::from(Token::Text).with_mods(Mods::BOLD));
    prefix.push(if wide { "   " } else { "  " }, Token::Text);
    first.prefix = prefix;
    first.hang = StyledText::of("  ", Token::Text);
    first.right = right;
    first.wrap = WrapMode::Words;
    body.push(first);
    body.extend(lines.by_ref().take(what - 1));
    // R-452: which agent asks is always said.
    let place = paths::display(Path::new(&model.session().cwd), &[], cx.home);
    let mut place = if wide { format!("in {place}") } else { format!("{agent} in {place}") };
    if let Some(note) = &pending.note {
        place.push_str(" · ");
        place.push_str(&sanitize::line(note));
    }
    body.push(LogicalLine { wrap: WrapMode::Words, ..plain(&place, Token::Dim) });
    // The review shows the same, and there it can be decided piece by piece.
    let is_shown = cx.state.review.is_some() && matches!(pending.about, About::Held { .. });
    if !is_shown {
        body.extend(lines);
    }
    let choices = pending
        .options
        .iter()
        .enumerate()
        .map(|(at, option)| {
            let name = sanitize::line(&option.name);
            let name = if name.trim().is_empty() { sanitize::line(&option.id) } else { name };
            Choice { key: digit(at), name: name.trim().to_owned() }
        })
        .collect();
    Contents { body, choices }
}

/// The key of a choice; beyond nine only the arrows reach it.
fn digit(at: usize) -> String {
    if at < 9 { (at + 1).to_string() } else { "·".to_owned() }
}

fn log_in(model: &Model, error: &CallError) -> Contents {
    let agent = words::agent(model);
    let mut body = vec![strong(&format!("{agent} needs a log-in"), Token::Warn)];
    if !error.message.trim().is_empty() {
        body.push(quoted(&error.message));
    }
    body.extend(error.data_lines().iter().take(DETAIL_LINES).map(|l| quoted(l)));
    let methods = &model.agent().auth_methods;
    if methods.is_empty() {
        body.push(plain("It names no way to log in: use its own program, then start it again.", Token::Text));
    }
    for (at, method) in methods.iter().enumerate() {
        if let Some(line) = words::login_command(&method.kind, &model.agent().command) {
            let what = if matches!(method.kind, AuthKind::Env { .. }) {
                "set before the start: "
            } else {
                "run in another terminal: "
            };
            let mut text = StyledText::of(format!("{} ", digit(at)), Token::Dock);
            text.push(what, Token::Dim);
            text.push(&line, RunStyle::from(Token::Text).with_mods(Mods::BOLD));
            body.push(LogicalLine { text, wrap: WrapMode::Anywhere, ..LogicalLine::default() });
        }
        if let Some(description) = method.description.as_deref().filter(|d| !d.trim().is_empty()) {
            body.push(LogicalLine { wrap: WrapMode::Words, ..quoted(description) });
        }
    }
    let mut choices: Vec<Choice> = methods
        .iter()
        .enumerate()
        .map(|(at, method)| {
            let name = sanitize::line(&method.name);
            let name = name.trim();
            let name = if matches!(method.kind, AuthKind::Agent) { name.to_owned() } else { format!("copy: {name}") };
            Choice { key: digit(at), name }
        })
        .collect();
    choices.extend(keys(&[("r", "start it again"), ("q", "quit")]));
    Contents { body, choices }
}

fn authenticating(model: &Model, method: &str, waited: Now) -> Contents {
    let name = model.agent().auth_methods.iter().find(|m| m.id == method).map_or(method, |m| m.name.as_str());
    let name = sanitize::line(name);
    let words = format!("logging in to {} with {}", words::agent(model), name.trim());
    let head = LogicalLine { right: StyledText::of(words::clock(waited), Token::Dim), ..strong(&words, Token::Text) };
    let note = "It may have opened a page in your browser. Esc while writing leaves this.";
    Contents { body: vec![head, plain(note, Token::Dim)], choices: keys(&[("r", "start it again")]) }
}

fn silent(cx: &ViewCx<'_>) -> Option<Contents> {
    let (Phase::Starting { since } | Phase::Opening { since }) = cx.model.phase() else { return None };
    let waited = human::duration(cx.now.saturating_sub(*since));
    let command = sanitize::line(&cx.model.agent().command);
    let mut body = vec![strong(&format!("no answer for {waited} from {}", command.trim()), Token::Warn)];
    let lines = &cx.state.dock.stderr;
    let keep = if cx.state.dock.all_stderr == Raw::Shown { usize::MAX } else { DETAIL_LINES - 1 };
    if lines.is_empty() {
        body.push(plain("It has printed no messages.", Token::Dim));
    }
    body.extend(lines.iter().skip(lines.len().saturating_sub(keep)).map(|l| quoted(l)));
    let s = if cx.state.dock.all_stderr == Raw::Shown { "fewer messages" } else { "all its messages" };
    Some(Contents { body, choices: keys(&[("s", s), ("q", "end it")]) })
}

#[cfg(test)]
#[path = "dock_tests.rs"]
mod tests;
