//! Lists that stand between the transcript and the composer: modes and options, commands, held prompts, help.
//!
//! The transcript gives way to them; none covers the composer.

use super::paint;
use super::{ViewCx, split_bottom, split_top};
use crate::base::{human, sanitize};
use crate::text::run::{Mods, RunStyle, StyledText};
use crate::text::token::Token;
use crate::text::width;
use crate::ui::keys::Layer;
use crate::ui::labels;
use crate::ui::msg::FrameInfo;
use crate::ui::state::Focus;
use crate::ui::state::picker::is_current;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use std::collections::BTreeSet;

/// Rows from which the help says how much of it is on the screen.
const HELP_FOOT_FROM: u16 = 3;
/// What is typed, and what it does; a command of the agent's with such a name goes first.
const TYPED: [(&str, &str); 2] = [
    ("/btw QUESTION", "a side question, answered beside the conversation"),
    ("/fan-out A,B PROMPT", "the prompt for two to five agents, each in a git worktree of its own"),
];
/// Vim's commands in the composer.
const VIM: [(&str, &str); 7] = [
    ("Esc", "Vim: commands instead of writing; there once more, what Esc does without Vim"),
    ("i a I A o O R", "Vim: write here, behind, at the line's start or end, below, above, over it"),
    ("h j k l w b e 0 ^ $ gg G f t ; % { ( …", "Vim: motions, also with a count"),
    ("d c y > < g~ gu gU", "Vim: operators for a motion, a text object (iw a\" i( ip …), or twice for the line"),
    ("x X D C Y S s r J ~ p P", "Vim: changes of characters and lines"),
    ("v V", "Vim: select characters, lines"),
    ("u Ctrl+R . \"a", "Vim: undo, redo, again; a register, + is the clipboard"),
];
/// The most commands that are listed at once.
const COMMANDS: usize = 6;
/// The most files.
const FILES: usize = 8;
/// The most rows of the picker, its filter line included.
const PICKER: u16 = 14;

/// First index of a window of `len` rows that shows `selected`.
fn window(selected: usize, len: usize) -> usize {
    (selected + 1).saturating_sub(len)
}

/// The list of modes and options at the bottom of `area`; returns what is left above it.
pub fn picker(cx: &ViewCx<'_>, area: Rect, info: &mut FrameInfo, buf: &mut Buffer) -> Rect {
    let Some(picker) = &cx.state.picker else { return area };
    let rows = picker.matching();
    let wanted = u16::try_from(rows.len().max(1)).unwrap_or(PICKER).saturating_add(1);
    let (above, at) = split_bottom(area, wanted.min(PICKER));
    let (head, list) = split_top(at, 1);
    let mut line = StyledText::of("  ", Token::Accent);
    if head.width >= 40 {
        line.push(&format!("{}: ", picker.title), Token::Dim);
    }
    line.push(picker.filter(), Token::Text);
    let used = paint::put(buf, head.x, head.y, head.width, &line, cx.theme);
    info.cursor = Some(Position { x: (head.x + used).min(head.right().saturating_sub(1)), y: head.y });
    let esc = if picker.filter().is_empty() { "Esc closes" } else { "Esc clears" };
    let keys = StyledText::of(format!("type to filter · Enter chooses · {esc}"), Token::Dim);
    paint::put_right(buf, head, used + 2, &keys, cx.theme);
    if rows.is_empty() {
        let none = StyledText::of("nothing matches", Token::Dim);
        paint::put(buf, list.x + 2, list.y, list.width.saturating_sub(2), &none, cx.theme);
    }
    let first = window(picker.selected(), usize::from(list.height));
    for ((n, row), y) in rows.iter().enumerate().skip(first).zip(list.y..list.bottom()) {
        let selected = n == picker.selected();
        let mark = if is_current(cx.session, &row.choice) { "✓ " } else { "  " };
        let style =
            if selected { RunStyle::from(Token::Selected).with_mods(Mods::REVERSE) } else { Token::Text.into() };
        let mut text = StyledText::of(if selected { "▸ " } else { "  " }, Token::Accent);
        text.push(mark, Token::Good);
        if !row.group.is_empty() {
            text.push(&format!("{}: ", width::truncate(&row.group, 24)), Token::Dim);
        }
        text.push(&row.label, style);
        if !row.detail.is_empty() {
            text.push("  ", Token::Dim);
            text.push(&row.detail, Token::Dim);
        }
        let room = list.width.saturating_sub(1);
        let text = width::truncate_styled(&text, usize::from(room));
        paint::put(buf, list.x, y, room, &text, cx.theme);
    }
    above
}

/// The commands that match what is typed, in at most `room` rows.
pub fn commands(cx: &ViewCx<'_>, area: Rect, room: u16, buf: &mut Buffer) -> Rect {
    let is_covered = cx.state.picker.is_some() || cx.state.help.is_some();
    if cx.state.view.focus != Focus::Composer || is_covered || cx.state.commands() {
        return area;
    }
    let files = cx.state.view.mentions.listed(&cx.state.view.composer);
    if !files.is_empty() {
        return self::files(cx, files, area, room, buf);
    }
    let found = cx.state.view.completion.matching(cx.session, cx.state.view.composer.text());
    let len = found.len().min(COMMANDS).min(usize::from(room));
    let (above, list) = split_bottom(area, u16::try_from(len).unwrap_or(0));
    let selected = cx.state.view.completion.selected.min(found.len().saturating_sub(1));
    for ((n, command), y) in found.iter().enumerate().skip(window(selected, len)).zip(list.y..list.bottom()) {
        let mark = if n == selected { "▸ " } else { "  " };
        let mut text = StyledText::of(mark, Token::Accent);
        let name = sanitize::line(&command.name);
        text.push(&format!("/{}", width::truncate(name.trim(), 32)), Token::Text);
        if let Some(hint) = command.hint.as_deref().filter(|h| !h.is_empty()) {
            text.push(&format!(" {}", width::truncate(&sanitize::line(hint), 24)), Token::Dim);
        }
        text.push("  ", Token::Dim);
        text.push(&sanitize::line(&command.description), Token::Dim);
        let key = if n == selected { "Tab" } else { "" };
        let room = list.width.saturating_sub(6);
        let text = width::truncate_styled(&text, usize::from(room));
        let used = paint::put(buf, list.x, y, room, &text, cx.theme);
        let line = Rect { y, height: 1, ..list };
        paint::put_right(buf, line, used, &StyledText::of(key, Token::Dim), cx.theme);
    }
    above
}

/// The files that match what is typed behind `@`, in at most `room` rows.
fn files(cx: &ViewCx<'_>, files: &[(String, u64)], area: Rect, room: u16, buf: &mut Buffer) -> Rect {
    let len = files.len().min(FILES).min(usize::from(room));
    let (above, list) = split_bottom(area, u16::try_from(len).unwrap_or(0));
    let selected = cx.state.view.mentions.selected.min(files.len() - 1);
    for ((n, (path, size)), y) in files.iter().enumerate().skip(window(selected, len)).zip(list.y..list.bottom()) {
        let mark = if n == selected { "▸ " } else { "  " };
        let mut text = StyledText::of(mark, Token::Accent);
        text.push(
            &width::truncate_start(&sanitize::line(path), usize::from(list.width.saturating_sub(16))),
            Token::Text,
        );
        let size = if path.ends_with('/') { String::new() } else { human::bytes(*size) };
        let right = if n == selected { format!("{size}   Tab") } else { format!("{size}      ") };
        let used = paint::put(buf, list.x, y, list.width, &text, cx.theme);
        let line = Rect { y, height: 1, width: list.width.saturating_sub(1), ..list };
        paint::put_right(buf, line, used, &StyledText::of(right, Token::Dim), cx.theme);
    }
    above
}

/// The prompts that wait.
pub fn held(cx: &ViewCx<'_>, area: Rect, room: u16, buf: &mut Buffer) -> Rect {
    let (Some(words), Some(first)) = (labels::held(cx.session), cx.session.held.front()) else { return area };
    let (above, line) = split_bottom(area, room.min(1));
    if line.is_empty() {
        return above;
    }
    let mut text = StyledText::of(format!("  {words}"), Token::Dim);
    let prompt = sanitize::line(first.text.trim());
    text.push(": ", Token::Dim);
    text.push(&prompt, Token::User);
    let key = if cx.state.view.composer.is_empty() { "Up takes it back" } else { "" };
    let keep = if line.width >= 50 { 18 } else { 1 };
    let columns = line.width.saturating_sub(keep);
    let text = width::truncate_styled(&text, usize::from(columns));
    let used = paint::put(buf, line.x, line.y, columns, &text, cx.theme);
    let inner = Rect { width: line.width.saturating_sub(1), ..line };
    paint::put_right(buf, inner, used, &StyledText::of(key, Token::Dim), cx.theme);
    above
}

/// All keys, from the table that also decides what they do, and what could not be used of what came.
pub fn help(cx: &ViewCx<'_>, area: Rect, top: usize, info: &mut FrameInfo, buf: &mut Buffer) {
    let column = match area.width {
        0..60 => 14,
        60..100 => 28,
        _ => 46,
    };
    let mut lines = Vec::new();
    let mut layers = vec![
        ("writing", Layer::Composer),
        ("in the question", Layer::Dock),
        ("typing into a command", Layer::Terminal),
        ("in the review", Layer::Review),
        ("reading", Layer::Reading),
        ("in the list of sessions", Layer::Sessions),
        ("in a list", Layer::Picker),
    ];
    // What the person is in comes first. What is asked for in the review names its keys itself.
    layers.sort_by_key(|(_, layer)| cx.state.view.focus != Focus::Review || *layer != Layer::Review);
    let mut said = BTreeSet::new();
    for (title, layer) in layers {
        if !lines.is_empty() {
            lines.push(StyledText::new());
        }
        lines.push(StyledText::of(title, RunStyle::from(Token::Text).with_mods(Mods::BOLD)));
        let typed = if layer == Layer::Composer { &TYPED[..] } else { &[] };
        let modal = if layer == Layer::Composer && cx.state.keys.is_modal() { &VIM[..] } else { &[] };
        let typed = typed.iter().chain(modal).map(|(what, words)| ((*what).to_owned(), *words));
        // What holds everywhere is said once.
        let rows = cx.state.keys.help(layer).filter(|row| said.insert((row.keys.clone(), row.what)));
        let rows =
            rows.filter(|row| row.what != "text").map(|row| (row.keys, row.what)).collect::<Vec<_>>().into_iter();
        for (key, what) in rows.chain(typed) {
            let mut line = StyledText::of(format!("{key:<column$}"), Token::Text);
            // Several keys for one thing take a row of their own where they would push the words aside.
            if key.len() >= column {
                lines.push(line);
                line = StyledText::of(" ".repeat(column), Token::Text);
            }
            line.push(what, Token::Dim);
            lines.push(line);
        }
    }
    let odd = labels::odd_messages(cx.session.agent().odd);
    if !odd.is_empty() {
        lines.push(StyledText::new());
        let title = "what the agent sent beside the protocol";
        lines.push(StyledText::of(title, RunStyle::from(Token::Text).with_mods(Mods::BOLD)));
        lines.extend(odd.into_iter().map(|line| StyledText::of(line, Token::Dim)));
    }
    let more = lines.len() > usize::from(area.height) && area.height >= HELP_FOOT_FROM;
    let (body, foot) = split_bottom(area, u16::from(more));
    let height = usize::from(body.height);
    info.help_page = height;
    let max = lines.len().saturating_sub(height);
    let top = top.min(max);
    let room = area.width.saturating_sub(3);
    for (line, y) in lines.iter().skip(top).zip(body.y..body.bottom()) {
        let line = width::truncate_styled(line, usize::from(room));
        paint::put(buf, area.x + 2, y, room, &line, cx.theme);
    }
    if more {
        let key = if top < max { "PageDown more" } else { "PageUp back" };
        let words = format!("{}–{} of {} · {key} · Esc closes", top + 1, top + height, lines.len());
        let words = StyledText::of(width::truncate(&words, usize::from(room)), Token::Accent);
        paint::put(buf, foot.x + 2, foot.y, room, &words, cx.theme);
    }
    info.help_scroll_max = max;
}
