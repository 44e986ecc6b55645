//! Lists that stand between the transcript and the composer: modes and options, commands, held prompts.
//!
//! The transcript gives way to them; none covers the composer.

use super::paint::{self, Placed};
use super::{ViewCx, split_bottom, split_top};
use crate::base::{human, sanitize};
use crate::model::options::Command;
use crate::text::run::{Mods, RunStyle, StyledText};
use crate::text::token::Token;
use crate::text::width;
use crate::ui::keys::Layer;
use crate::ui::msg::FrameInfo;
use crate::ui::state::Focus;
use crate::ui::state::picker::{Choice, Row, asks_nothing, bypasses, group_head, is_current};
use crate::ui::status_line::lets_all_pass;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

/// The most commands that are listed at once, and columns of a name with its hint.
const COMMANDS: usize = 12;
const NAME: usize = 28;
const SHORT_NAME: usize = 14;
/// The most files.
const FILES: usize = 8;
/// The most rows of the picker, its filter line included.
const PICKER: u16 = 14;

/// Columns of a row's group and of its name in the picker.
const GROUP: usize = 24;
const LABEL: usize = 64;
/// Columns of what stands behind a name that a long one gives way to: a key.
const DETAIL: usize = 18;
const DETAIL_FROM: u16 = 60;

/// First index of a window of `len` rows that shows `selected`.
pub(super) fn window(selected: usize, len: usize) -> usize {
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
    let awaits = picker.awaits(cx.session);
    let starts = if awaits { " (the agent is starting)" } else { "" };
    if head.width >= 40 {
        let colon = if picker.title.ends_with('?') { "" } else { ":" };
        line.push(&format!("{}{starts}{colon} ", picker.title), Token::Dim);
    } else if awaits && picker.filter().is_empty() {
        line.push("the agent is starting", Token::Dim);
    }
    line.push(picker.filter(), Token::Text);
    let used = paint::put(buf, head.x, head.y, head.width, &line, cx.theme);
    info.cursor = Some(Position { x: (head.x + used).min(head.right().saturating_sub(1)), y: head.y });
    // Of the keys as many as there is room for: the last is how to leave.
    let all = ["type to filter · {Enter} chooses · {Esc} closes", "{Enter} chooses · {Esc} closes", "{Esc} closes"];
    let hides = rows.len() > usize::from(list.height);
    let count = if hides { format!("{} of {}", picker.selected() + 1, rows.len()) } else { String::new() };
    for words in all.map(|words| cx.say(Layer::Picker, words)).into_iter().chain([String::new()]) {
        let parts = [&count, &words].into_iter().filter(|part| !part.is_empty()).map(String::as_str);
        let keys = StyledText::of(parts.collect::<Vec<_>>().join(" · "), Token::Dim);
        let line = Rect { width: head.width.saturating_sub(1), ..head };
        if paint::put_right(buf, line, used + 2, &keys, cx.theme) == Placed::Yes {
            break;
        }
    }
    if rows.is_empty() {
        let none = StyledText::of("nothing matches", Token::Dim);
        paint::put(buf, list.x + 2, list.y, list.width.saturating_sub(2), &none, cx.theme);
    }
    let first = window(picker.selected(), usize::from(list.height));
    let shown = || rows.iter().skip(first).take(usize::from(list.height));
    let widest =
        |of: fn(&Row) -> &str, most: usize| shown().map(|row| width::str_width(of(row))).max().unwrap_or(0).min(most);
    // On a narrow screen the words are what is needed, and a key.
    let detail: fn(&Row) -> &str = if list.width >= DETAIL_FROM { |row| &row.detail } else { first_key };
    let (groups, details) = (widest(|row| &row.group, GROUP), widest(detail, DETAIL));
    let beside = 4 + if groups > 0 { groups + 2 } else { 0 } + if details > 0 { details + 3 } else { 1 };
    let labels = widest(|row| &row.label, LABEL).min(usize::from(list.width).saturating_sub(beside));
    let mut above_group = "";
    for ((n, row), y) in rows.iter().enumerate().skip(first).zip(list.y..list.bottom()) {
        let selected = n == picker.selected();
        let idle = if matches!(row.choice, Choice::NotNow(_)) { Token::Dim } else { Token::Text };
        let is_dangerous = is_dangerous(cx, row);
        let is_theme = matches!(row.choice, Choice::Theme(name) if cx.state.theme == Some(name));
        let mark = if is_theme || is_current(cx.session, &row.choice) { "✓ " } else { "  " };
        let style = match (selected, is_dangerous) {
            (true, true) => RunStyle::from(Token::Danger).with_mods(Mods::REVERSE),
            (true, false) => RunStyle::from(Token::Selected).with_mods(Mods::REVERSE),
            (false, true) => Token::Danger.into(),
            (false, false) => idle.into(),
        };
        let mut text = StyledText::of(if selected { "▸ " } else { "  " }, Token::Accent);
        text.push(mark, Token::Good);
        if groups > 0 {
            // A group is named once.
            let group = if row.group == above_group { "" } else { &row.group };
            let colon = if group.is_empty() { " " } else { ":" };
            let group = group_head(group);
            let group = width::truncate(&group, GROUP);
            let pad = " ".repeat(groups.saturating_sub(width::str_width(&group)) + 1);
            text.push(&format!("{group}{colon}{pad}"), Token::Dim);
            above_group = &row.group;
        }
        let detail = detail(row);
        let label = if detail.is_empty() { (&*row.label).into() } else { width::truncate(&row.label, labels) };
        text.push(&label, style);
        if !detail.is_empty() {
            text.push(&" ".repeat(labels.saturating_sub(width::str_width(&label)) + 2), Token::Dim);
            text.push(detail, Token::Dim);
        }
        let room = list.width.saturating_sub(1);
        let text = width::truncate_styled(&text, usize::from(room));
        paint::put(buf, list.x, y, room, &text, cx.theme);
    }
    above
}

/// Whether a row leads to a mode in which little or nothing is asked: it has the colour that the mode has once it is set.
fn is_dangerous(cx: &ViewCx<'_>, row: &Row) -> bool {
    let of_agent = asks_nothing(cx.session, row).is_some_and(|asks_nothing| asks_nothing || lets_all_pass(&row.label));
    of_agent || bypasses(row)
}

/// What there is room for of what stands behind a name where there is little.
fn first_key(row: &Row) -> &str {
    match row.choice {
        Choice::Do(_) | Choice::NotNow(_) => row.detail.split(", ").next().unwrap_or_default(),
        _ => "",
    }
}

/// The commands that match what is typed, in at most `room` rows.
pub fn commands(cx: &ViewCx<'_>, area: Rect, room: u16, buf: &mut Buffer) -> Rect {
    let is_covered = cx.state.picker.is_some() || cx.state.help.is_some();
    if cx.state.view.focus != Focus::Composer || is_covered || cx.state.commands() || cx.state.view.composer.is_shell()
    {
        return area;
    }
    let files = cx.state.view.mentions.listed(&cx.state.view.composer);
    if !files.is_empty() {
        return self::files(cx, files, area, room, buf);
    }
    if cx.state.view.mentions.has_none(&cx.state.view.composer) && room > 0 {
        let (above, at) = split_bottom(area, 1);
        paint::put(
            buf,
            at.x + 2,
            at.y,
            at.width.saturating_sub(2),
            &StyledText::of("no file matches", Token::Dim),
            cx.theme,
        );
        return above;
    }
    let found = cx.state.names(cx.session);
    let third = usize::from(buf.area.height / 3).max(1);
    let len = found.len().min(COMMANDS).min(third).min(usize::from(room));
    let (above, list) = split_bottom(area, u16::try_from(len).unwrap_or(0));
    // In few columns what a command does comes before what is typed behind it.
    let (most, has_hints) = if list.width >= DETAIL_FROM { (NAME, true) } else { (SHORT_NAME, false) };
    let hint = |command: &Command| {
        let hint = command
            .hint
            .as_deref()
            .filter(|hint| has_hints && !hint.is_empty())
            .map(|hint| format!(" {}", sanitize::line(hint)));
        hint.unwrap_or_default()
    };
    let name = |command: &Command| format!("/{}", sanitize::line(&command.name).trim());
    let columns = |command: &Command| width::str_width(&name(command)) + width::str_width(&hint(command));
    let names = found.iter().copied().map(columns).max().unwrap_or(0).min(most);
    let selected = cx.state.view.completion.selected.min(found.len().saturating_sub(1));
    let completes = cx.say(Layer::Composer, "{Tab}");
    for ((n, command), y) in found.iter().copied().enumerate().skip(window(selected, len)).zip(list.y..list.bottom()) {
        let mark = if n == selected { "▸ " } else { "  " };
        let mut text = StyledText::of(mark, Token::Accent);
        let (name, hint) = (name(command), hint(command));
        let shown = width::truncate(&name, most);
        let room = most.saturating_sub(width::str_width(&shown));
        text.push(&shown, Token::Text);
        let hint = width::truncate(&hint, room);
        text.push(&hint, Token::Dim);
        let used = width::str_width(&shown) + width::str_width(&hint);
        text.push(&" ".repeat(names.saturating_sub(used) + 2), Token::Dim);
        text.push(&sanitize::line(&command.description), Token::Dim);
        let key = match () {
            () if n != selected => String::new(),
            () if found.len() > len => format!("{} of {}  {completes}", n + 1, found.len()),
            () => completes.clone(),
        };
        // At the right a column stays free, as everywhere.
        let line = Rect { y, height: 1, width: list.width.saturating_sub(1), ..list };
        let room = line.width.saturating_sub(if found.len() > len { 18 } else { 6 });
        let text = width::truncate_styled(&text, usize::from(room));
        let used = paint::put(buf, list.x, y, room, &text, cx.theme);
        paint::put_right(buf, line, used, &StyledText::of(key, Token::Dim), cx.theme);
    }
    above
}

/// The files that match what is typed behind `@`, in at most `room` rows.
fn files(cx: &ViewCx<'_>, files: &[(String, u64)], area: Rect, room: u16, buf: &mut Buffer) -> Rect {
    let len = files.len().min(FILES).min(usize::from(room));
    let (above, list) = split_bottom(area, u16::try_from(len).unwrap_or(0));
    let selected = cx.state.view.mentions.selected.min(files.len() - 1);
    let completes = cx.say(Layer::Composer, "{Tab}");
    for ((n, (path, size)), y) in files.iter().enumerate().skip(window(selected, len)).zip(list.y..list.bottom()) {
        let mark = if n == selected { "▸ " } else { "  " };
        let mut text = StyledText::of(mark, Token::Accent);
        text.push(
            &width::truncate_start(&sanitize::line(path), usize::from(list.width.saturating_sub(16))),
            Token::Text,
        );
        let size = if path.ends_with('/') { String::new() } else { human::bytes(*size) };
        let pad = " ".repeat(width::str_width(&completes));
        let right = format!("{size}   {}", if n == selected { &completes } else { &pad });
        let used = paint::put(buf, list.x, y, list.width, &text, cx.theme);
        let line = Rect { y, height: 1, width: list.width.saturating_sub(1), ..list };
        paint::put_right(buf, line, used, &StyledText::of(right, Token::Dim), cx.theme);
    }
    above
}
