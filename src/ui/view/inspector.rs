//! The inspector: a row for each message, or one of them set out.
//!
//! Invariant: the work for a frame is that of the rows that are seen.

use super::{paint, split_top};
use crate::base::{human, sanitize};
use crate::model::frames::{FrameDir, FrameKind, FrameRow};
use crate::text::line::LogicalLine;
use crate::text::run::{Mods, RunStyle, StyledText};
use crate::text::token::Token;
use crate::text::width;
use crate::theme::resolve::Theme;
use crate::ui::keys::{Keymap, Layer};
use crate::ui::state::inspector::{Inspector, Opened};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

/// Columns of a method, and of the id that stands behind it.
const METHOD: usize = 30;
const ID: usize = 6;
const TIME: usize = 9;
/// Columns from which each message says how it goes on.
const WIDE: u16 = 90;
/// Bytes of a message that are looked at for its row.
const LOOKED_AT: usize = 400;

/// What it needs to know besides what it shows.
#[derive(Clone, Copy)]
pub struct Look<'a> {
    pub theme: &'a Theme,
    pub keys: &'a Keymap,
    /// There is more than one agent: each message says whose it is.
    pub has_several: bool,
    /// The messages are those of a file, and no more will come.
    pub is_file: bool,
}

/// What was drawn: the rows for messages, and where the cursor stands.
#[derive(Default)]
pub struct Drawn {
    pub rows: usize,
    pub cursor: Option<Position>,
}

pub fn draw(cx: Look<'_>, inspector: &Inspector, area: Rect, buf: &mut Buffer) -> Drawn {
    if area.height == 0 {
        return Drawn::default();
    }
    let (head, body) = split_top(area, 1);
    let mut drawn = Drawn { rows: usize::from(body.height), cursor: None };
    if let Some(opened) = &inspector.opened {
        message(cx, opened, head, body, buf);
        return drawn;
    }
    let mut line = StyledText::of("  messages: ", Token::Dim);
    line.push(inspector.filter(), Token::Text);
    let used = paint::put(buf, head.x, head.y, head.width, &line, cx.theme);
    drawn.cursor = Some(Position { x: (head.x + used).min(head.right().saturating_sub(1)), y: head.y });
    let (all, fitting) = inspector.count();
    let so_far = if inspector.is_sifting() { "…" } else { "" };
    let count = if fitting == all { all.to_string() } else { format!("{fitting}{so_far} of {all}") };
    let place = if cx.is_file {
        let more = if fitting == all { String::new() } else { format!(", {all} in all") };
        format!("{} of {fitting}{so_far}{more}", inspector.number())
    } else {
        let missed = match inspector.missed() {
            0 => String::new(),
            missed => format!(" · {missed} came too fast"),
        };
        format!(
            "{count}{missed} · {}",
            if inspector.follows() { "follows".to_owned() } else { cx.keys.say(Layer::Picker, "{End} follows") }
        )
    };
    let keys = StyledText::of(
        format!("{place} · {}", cx.keys.say(Layer::Picker, "! violations · {Enter} opens · {Esc} closes")),
        Token::Dim,
    );
    let inner = Rect { width: head.width.saturating_sub(1), ..head };
    paint::put_right(buf, inner, used + 2, &keys, cx.theme);
    let (rows, chosen) = inspector.window(usize::from(body.height));
    if rows.is_empty() {
        let words = match all {
            0 => "no message yet",
            _ if inspector.is_sifting() => "looking…",
            _ => "nothing matches",
        };
        paint::put(buf, body.x + 2, body.y, body.width, &StyledText::of(words, Token::Dim), cx.theme);
    }
    for ((n, row), y) in rows.into_iter().enumerate().zip(body.y..body.bottom()) {
        let text = width::truncate_styled(&one(cx, row, n == chosen, body.width), usize::from(body.width) - 1);
        paint::put(buf, body.x, y, body.width, &text, cx.theme);
    }
    drawn
}

/// Time, direction, method, id, how long it took, what is wrong with it, how it goes on.
fn one(cx: Look<'_>, row: &FrameRow, is_chosen: bool, columns: u16) -> StyledText {
    let FrameRow { at, dir, agent, kind, method, id, latency, flaws, text } = row;
    let mut line = StyledText::of(if is_chosen { "▸ " } else { "  " }, Token::Accent);
    line.push(&format!("{:>TIME$.3} ", at.as_secs_f64()), Token::Dim);
    if cx.has_several {
        line.push(&format!("{} ", agent.0 + 1), Token::Dim);
    }
    let token = match (dir, kind) {
        (FrameDir::Stderr | FrameDir::Note, _) => Token::Warn,
        (_, FrameKind::Error) => Token::Bad,
        (FrameDir::ToAgent, _) => Token::User,
        (FrameDir::FromAgent, _) => Token::Text,
    };
    line.push(&format!("{} ", dir.arrow()), token);
    if matches!(dir, FrameDir::Stderr | FrameDir::Note) {
        line.push(&sanitize::line(start(text)), Token::Dim);
        return line;
    }
    let update = update(text);
    let name = match kind {
        FrameKind::Notification if columns < WIDE && update.is_some() => update.unwrap_or_default().0.to_owned(),
        FrameKind::Answer => format!("= {method}"),
        FrameKind::Error => format!("✗ {method}"),
        FrameKind::Request | FrameKind::Notification => method.to_string(),
        FrameKind::Other => "no message".to_owned(),
    };
    let name = sanitize::line(&name).into_owned();
    let style = if is_chosen { RunStyle::from(Token::Selected).with_mods(Mods::REVERSE) } else { token.into() };
    let name = width::truncate(&name, METHOD).into_owned();
    let pad = METHOD.saturating_sub(width::str_width(&name));
    line.push(&name, style);
    let id = width::truncate(&sanitize::line(id.as_deref().unwrap_or_default()), ID).into_owned();
    line.push(&format!("{:pad$} {id:>ID$} ", ""), Token::Dim);
    let took = latency.map(|latency| took(latency.as_secs_f64())).unwrap_or_default();
    line.push(&format!("{took:>8} "), Token::Dim);
    for flaw in flaws {
        line.push(&format!("{} ", flaw.rule), Token::Bad);
    }
    if columns >= WIDE {
        if let Some((kind, _)) = update {
            line.push(&format!("{} ", sanitize::line(kind)), token);
        }
        let said = update.map_or_else(|| content(text), |(_, rest)| rest);
        line.push(&sanitize::line(start(said)), Token::Dim);
    }
    line
}

/// What kind of update it tells of, and what it says beside that.
fn update(text: &str) -> Option<(&str, &str)> {
    const MEMBER: &str = "\"sessionUpdate\"";
    let behind = text.get(start(text).find(MEMBER)? + MEMBER.len()..)?;
    let (kind, rest) = behind.trim_start_matches([':', ' ']).strip_prefix('"')?.split_once('"')?;
    Some((kind, rest.trim_start_matches([',', ' '])))
}

fn took(seconds: f64) -> String {
    if seconds < 1.0 { format!("{:.1} ms", seconds * 1e3) } else { format!("{seconds:.2} s") }
}

/// What it says, without what the row says already.
fn content(text: &str) -> &str {
    let head = start(text);
    let from =
        ["\"params\":", "\"result\":", "\"error\":"].iter().find_map(|member| Some(head.find(member)? + member.len()));
    text.get(from.unwrap_or_default()..).unwrap_or_default()
}

/// As much as a row can have of it.
fn start(text: &str) -> &str {
    text.get(..text.floor_char_boundary(LOOKED_AT)).unwrap_or_default()
}

fn message(cx: Look<'_>, opened: &Opened, head: Rect, body: Rect, buf: &mut Buffer) {
    let Opened { row, lines, top } = opened;
    let mut title = StyledText::of(format!("  {} ", row.dir.arrow()), Token::Accent);
    let size = human::bytes(row.text.len() as u64);
    title.push(&format!("{} {} · {size}", row.kind.name(), sanitize::line(&row.method)), Token::Text);
    let used = paint::put(buf, head.x, head.y, head.width, &title, cx.theme);
    let keys = StyledText::of(cx.keys.say(Layer::Picker, "y copies · s saves · {Esc} back"), Token::Dim);
    paint::put_right(buf, head, used + 2, &keys, cx.theme);
    let flaws = row.flaws.iter().map(|flaw| {
        LogicalLine::text(StyledText::of(format!("{}: {}", flaw.rule, sanitize::line(&flaw.what)), Token::Bad))
    });
    let lines = lines.iter().map(|line| LogicalLine::text(StyledText::of(line.as_str(), Token::Text)));
    let mut y = body.y;
    for line in flaws.chain(lines).skip(*top) {
        for row in paint::rows(std::slice::from_ref(&line), body.width.saturating_sub(4).max(1)) {
            if y >= body.bottom() {
                return;
            }
            paint::put(buf, body.x + 2, y, body.width.saturating_sub(3), &row.text, cx.theme);
            y += 1;
        }
    }
}
