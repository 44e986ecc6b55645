//! What waits above the composer for the next turn: prompts that are queued, and what the person's commands have printed.
//!
//! The transcript gives way to it. Invariants: a selected prompt is in view; of each command its line is drawn before more
//! of any output is.

use super::lists::window;
use super::{ViewCx, paint, split_bottom};
use crate::base::{human, sanitize};
use crate::model::session::{HeldPrompt, PromptKind};
use crate::model::terminal::Terminal;
use crate::text::run::{Mods, RunStyle, StyledText};
use crate::text::token::Token;
use crate::text::width;
use crate::ui::cells;
use crate::ui::keys::{Action, Layer};
use crate::ui::labels;
use crate::ui::msg::{FrameInfo, ShellFold};
use crate::ui::state::Focus;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Prompts that are drawn, and while one is selected.
const PROMPTS: usize = 4;
const SELECTED: usize = 8;
/// Rows of output: of what has ended, of what runs.
const ENDED: usize = 3;
const RUNNING: usize = 6;
/// Below so many columns only a sign says how a command ended.
const NARROW: u16 = 40;
/// Columns from which the numbers of prompts stand below one another, behind what is said of all.
const ALIGNED: u16 = 60;
/// Columns before a row of output.
const SIGN: u16 = 4;
/// Bytes of a prompt that can be seen in its row.
const MAX_ROW: usize = 2 << 10;

/// The prompts that wait, in at most `room` rows.
pub fn held(cx: &ViewCx<'_>, area: Rect, room: u16, buf: &mut Buffer) -> Rect {
    let Some(words) = labels::held(cx.session) else { return area };
    let prompts = &cx.session.held;
    let is_free = cx.state.view.composer.is_empty() && !cx.state.view.composer.is_shell();
    let selected = cx.state.view.queued.filter(|_| cx.state.view.focus == Focus::Composer);
    let selected = selected.and_then(|after| prompts.len().checked_sub(after + 1));
    let most = if selected.is_some() { SELECTED } else { PROMPTS };
    let rows = prompts.len().min(most).min(usize::from(room));
    let (above, list) = split_bottom(area, u16::try_from(rows).unwrap_or_default());
    let first = selected.map_or(0, |at| window(at, rows));
    for ((n, prompt), y) in prompts.iter().enumerate().skip(first).zip(list.y..list.bottom()) {
        let is_selected = selected == Some(n);
        let is_last = usize::from(y - list.y) + 1 == rows;
        let left = prompts.len() - n - 1;
        let mut text = StyledText::of(if is_selected { "▸ " } else { "  " }, Token::Accent);
        let sign = match (n == first, prompts.len()) {
            (_, 1) => format!("{words}: "),
            (is_first, all) => {
                let (number, digits) = (n + 1, all.to_string().len());
                let head = format!("{words} · ");
                match () {
                    () if is_first => format!("{head}{number:>digits$}. "),
                    () if list.width < ALIGNED => format!("{number}. "),
                    () => format!("{}{number:>digits$}. ", " ".repeat(width::str_width(&head))),
                }
            }
        };
        text.push(&sign, Token::Dim);
        let style =
            if is_selected { RunStyle::from(Token::Selected).with_mods(Mods::REVERSE) } else { Token::User.into() };
        // Where all of them are held, the first row says so.
        if prompt.stays && prompts.flows() {
            text.push("held · ", Token::Warn);
        }
        text.push(&row(prompt), style);
        let line = Rect { y, height: 1, width: list.width.saturating_sub(1), ..list };
        let keys = match selected {
            Some(at) if at == n => of_selected(cx),
            None if is_last && is_free => of_list(cx, left == 0),
            _ => Vec::new(),
        };
        let more = if is_last && left > 0 { format!("{left} more") } else { String::new() };
        let fits = |keys: &&String| width::str_width(keys) + 24 <= usize::from(line.width);
        let keys = keys.iter().find(fits).map_or("", String::as_str);
        let between = if more.is_empty() || keys.is_empty() { "" } else { " · " };
        let right = StyledText::of(format!("{more}{between}{keys}"), Token::Dim);
        let columns = usize::from(line.width).saturating_sub(width::styled_width(&right) + 2);
        let text = width::truncate_styled(&text, columns);
        let used = paint::put(buf, line.x, y, line.width, &text, cx.theme);
        paint::put_right(buf, line, used, &right, cx.theme);
    }
    above
}

/// What can be done with the selected one, in many words and in few.
fn of_selected(cx: &ViewCx<'_>) -> Vec<String> {
    let key = |action| cx.state.keys.label(Layer::Queue, action);
    let does = |action, words: &str| key(action).map(|key| format!("{key} {words}"));
    let alone = |action| key(action);
    let moves = match (key(Action::MoveUp).as_deref(), key(Action::MoveDown).as_deref()) {
        (Some("Shift+Up"), Some("Shift+Down")) => Some("Shift+↑↓ moves".to_owned()),
        (Some(up), Some(down)) => Some(format!("{up}, {down} move it")),
        (Some(one), None) | (None, Some(one)) => Some(format!("{one} moves it")),
        (None, None) => None,
    };
    let edits = || does(Action::Accept, "edits");
    let of = |parts: Vec<Option<String>>| parts.into_iter().flatten().collect::<Vec<_>>().join(" · ");
    vec![
        of(vec![edits(), does(Action::SendNow, "sends now"), alone(Action::Delete), moves, alone(Action::Escape)]),
        of(vec![edits(), does(Action::SendNow, "sends"), alone(Action::Delete), alone(Action::Escape)]),
        of(vec![edits()]),
    ]
}

/// How they go on where they are held, and how they are come at.
fn of_list(cx: &ViewCx<'_>, is_all: bool) -> Vec<String> {
    let key = |action| cx.state.keys.label(Layer::Composer, action);
    let selects = key(Action::Up);
    let it = if is_all { " it" } else { "" };
    let (long, short) = (selects.as_ref().map(|key| format!("{key} selects{it}")), selects.clone());
    let count = cx.session.held.staying();
    let sends = key(Action::Submit).filter(|_| cx.session.can_let_go());
    let Some(sends) = sends else {
        return [long, short].into_iter().flatten().collect();
    };
    let all = format!("{sends} sends {}", if count > 1 { "them" } else { "it" });
    let more = long.map(|long| format!("{all} · {long}"));
    more.into_iter().chain([all, sends]).collect()
}

/// Columns and rows that can be seen of a command of the person's on a screen: beside the sign before them.
pub fn seen_of_shell(screen: Rect) -> (u16, u16) {
    (screen.width.saturating_sub(SIGN + 1).max(1), screen.height.max(1))
}

/// The first words of a prompt; of a reason that is not its own first line of a patch.
fn row(prompt: &HeldPrompt) -> String {
    let cut = prompt.text.get(..prompt.text.floor_char_boundary(MAX_ROW)).unwrap_or_default();
    let lines = cut.trim().lines().count();
    let words = match prompt.kind {
        PromptKind::Person => sanitize::line(cut.trim()).into_owned(),
        PromptKind::Reason | PromptKind::Explained | PromptKind::ChangedWrites => {
            let first = cut.trim().lines().find(|line| !line.starts_with("```")).unwrap_or_default();
            sanitize::line(first).into_owned()
        }
    };
    if lines > 1 { format!("{words} ({})", human::count(lines as u64, "line")) } else { words }
}

/// The person's commands that run or go along, in at most `room` rows.
pub fn shell(cx: &ViewCx<'_>, area: Rect, room: u16, info: &mut FrameInfo, buf: &mut Buffer) -> Rect {
    let all = cx.session.shell();
    // Of a session that is only reviewed the journal may not know the end of one.
    let Some(newest) = all.last().filter(|_| !cx.session.is_only_reviewed()) else { return area };
    let heads = all.len().min(usize::from(room));
    let free = usize::from(room).saturating_sub(all.len());
    let most = match () {
        () if cx.state.view.unfolds_shell => free,
        () if newest.is_running() => RUNNING,
        () => ENDED,
    };
    let (rows, has_more) = cells::printed(newest, most.min(free));
    let columns = usize::from(area.width.saturating_sub(1 + SIGN));
    let is_cut = rows.iter().any(|row| width::styled_width(row) > columns);
    let folded = if newest.is_running() { RUNNING } else { ENDED };
    info.shell_fold = match () {
        () if has_more && !cx.state.view.unfolds_shell && free > rows.len() => ShellFold::Unfolds,
        () if has_more || is_cut => ShellFold::Pages,
        () if rows.len() > folded => ShellFold::Folds,
        () => ShellFold::Nothing,
    };
    let folds = info.shell_fold;
    let (above, at) = split_bottom(area, u16::try_from(heads + rows.len()).unwrap_or_default());
    let hidden = all.len() - heads;
    let mut y = at.y;
    for (n, term) in all.iter().enumerate().skip(hidden) {
        let line = Rect { y, height: 1, width: at.width.saturating_sub(1), ..at };
        // The first that is drawn counts those that are not.
        let line = if n == hidden && hidden > 0 { count(cx, line, hidden, buf) } else { line };
        head(cx, term, (term.id == newest.id).then_some(folds), line, buf);
        y += 1;
    }
    for row in rows {
        let mut text = StyledText::of("  │ ", Token::Dim);
        text.append(&row);
        let text = width::truncate_styled(&text, usize::from(at.width.saturating_sub(1)));
        paint::put(buf, at.x, y, at.width, &text, cx.theme);
        y += 1;
    }
    above
}

/// Says how many more there are above a line; returns what is left of it.
fn count(cx: &ViewCx<'_>, line: Rect, hidden: usize, buf: &mut Buffer) -> Rect {
    let words = StyledText::of(format!("+{hidden} "), Token::Dim);
    let used = paint::put(buf, line.x, line.y, line.width, &words, cx.theme).min(line.width);
    Rect { x: line.x + used, width: line.width - used, ..line }
}

/// How it is with it in few columns.
fn narrow(term: &Terminal) -> (String, Token) {
    match &term.exit {
        None => ("…".to_owned(), Token::SignRun),
        Some(exit) if exit.is_success() => ("✓".to_owned(), Token::SignGood),
        Some(_) => ("✗".to_owned(), Token::SignBad),
    }
}

fn head(cx: &ViewCx<'_>, term: &Terminal, newest: Option<ShellFold>, line: Rect, buf: &mut Buffer) {
    let is_newest = newest.is_some();
    let mut text = StyledText::of("! ", Token::Warn);
    let until = term.ended.unwrap_or(cx.now);
    let took = human::duration(until.saturating_sub(term.started));
    let (how, token) = match &term.exit {
        _ if line.width < NARROW => narrow(term),
        None => (format!("runs {took}"), Token::SignRun),
        Some(exit) if exit.is_success() => (format!("✓ {took}"), Token::SignGood),
        Some(exit) => (format!("✗ {exit} · {took}"), Token::SignBad),
    };
    let say = |words| cx.say(Layer::Composer, words);
    let folds = match newest {
        Some(ShellFold::Folds) => say(" · {Ctrl+O} folds"),
        Some(ShellFold::Unfolds) => say(" · {Ctrl+O} more"),
        Some(ShellFold::Pages) => say(" · {Ctrl+O} pages all of it"),
        Some(ShellFold::Nothing) | None => String::new(),
    };
    let is_free = cx.state.view.composer.is_empty() && !cx.state.view.composer.is_shell();
    let keys: Vec<String> = match (is_newest, term.is_running()) {
        // All keys go to it.
        (true, true) if cx.typing() == Some(&term.id) => vec![cx.say(Layer::Terminal, "{Ctrl+]} back to writing")],
        (true, true) => vec![format!("{}{folds}", say("{F6} types · {F7} kills")), say("{F7} kills")],
        (true, false) if !is_free => vec![format!("goes along{folds}"), "goes along".to_owned()],
        (true, false) => {
            vec![
                format!("{}{folds}", say("goes along · {Delete} leaves it out")),
                format!("{}{folds}", say("{Delete} leaves it out")),
                format!("{}{folds}", say("{Delete}")),
                say("{Delete} leaves it out"),
                say("{Delete}"),
            ]
        }
        (false, true) => Vec::new(),
        (false, false) => vec!["goes along".to_owned()],
    };
    let fits = |keys: &&String| width::str_width(keys) + width::str_width(&how) + 16 <= usize::from(line.width);
    let mut right = StyledText::of(how.as_str(), token);
    if let Some(keys) = keys.iter().find(fits) {
        right.push(&format!("  {keys}"), Token::Dim);
    }
    text.push(sanitize::line(&term.command).trim(), Token::Text);
    let columns = usize::from(line.width).saturating_sub(width::styled_width(&right) + 2);
    let text = width::truncate_styled(&text, columns);
    let used = paint::put(buf, line.x, line.y, line.width, &text, cx.theme);
    paint::put_right(buf, line, used, &right, cx.theme);
}
