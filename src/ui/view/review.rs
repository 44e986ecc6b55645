//! The review: a line that says what is shown, the files, the hunks of one file, and the keys.
//!
//! Reads the state and draws; the rows were counted before. Invariants: only rows in view are laid out, at any
//! size of the change; every state has a sign or a word besides its colour; it draws into any size.

mod bars;
mod files;
mod hunks;
mod line;
mod trees;

use super::paint::{self, Placed};
use super::{ViewCx, split_bottom, split_top};
use crate::base::{human, sanitize};
use crate::model::changes::{Cause, FileChange, FileDoc, HunkDoc, ReviewDoc, Scope};
use crate::model::entry::Body;
use crate::model::session::Phase;
use crate::text::run::{Mods, RunStyle, StyledText};
use crate::text::token::Token;
use crate::text::width;
use crate::ui::cells;
use crate::ui::labels;
use crate::ui::msg::{FrameInfo, ReviewFrame};
use crate::ui::state::Focus;
use crate::ui::state::review::bar::Bar;
use crate::ui::state::review::index::Look;
use crate::ui::state::review::{BESIDE_FROM, BOTH_FROM, Extent, Measured, Pane, ReviewState};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Said as long as the session is being opened.
const OPENING: &str = "not known yet: the session is still being opened";
/// The list of files has a quarter of the width, the rest is for the changes: at least so many columns, and at most.
const FILES_LEAST: u16 = 28;
const FILES: u16 = 44;
/// From this height on there is air between the parts.
const AIR_FROM: u16 = 12;
/// From this height on files stand above their hunks, as long as they take no more than such a part of it.
const STACKED_FROM: u16 = 14;
const STACKED_PART: u16 = 4;

/// Columns of the name of another session.
const MAX_SESSION: usize = 24;
/// Columns of the command that made a change.
const MAX_COMMAND: usize = 32;

/// What the review leaves to the conversation, where there is one, and what it takes itself.
pub fn place(cx: &ViewCx<'_>, review: &ReviewState, area: Rect) -> (Option<Rect>, Rect) {
    let is_whole = review.layout.extent == Extent::Whole || cx.session.is_only_reviewed();
    if area.width < BESIDE_FROM || is_whole {
        return (None, area);
    }
    let wide = (area.width * 3 / 5).max(BOTH_FROM);
    let left = Rect { width: area.width - wide - 2, ..area };
    (Some(left), Rect { x: area.x + area.width - wide, width: wide, ..area })
}

pub fn draw(cx: &ViewCx<'_>, review: &ReviewState, area: Rect, info: &mut FrameInfo, buf: &mut Buffer) {
    let beside = info.transcript.width > 0;
    let mut frame = ReviewFrame { area, ..ReviewFrame::default() };
    frame.measured = Measured { columns: area.width, beside, ..review.layout.measured };
    if beside && area.x > 0 {
        let bar = StyledText::of("│", Token::Rule);
        for y in area.y..area.bottom() {
            paint::put(buf, area.x - 1, y, 1, &bar, cx.theme);
        }
    }
    let area = trees::line(cx, area, buf);
    let (rest, foot) = split_bottom(area, 1);
    bars::draw(cx, review, foot, info, buf);
    // The only file is named above its hunks.
    let is_only = review.doc().is_some_and(|doc| doc.files.len() == 1) && review.layout.pane == Pane::Hunks;
    let files_wide = if is_only { 0 } else { (area.width / 4).clamp(FILES_LEAST, FILES).min(area.width) };
    let narrow_for_sides = review.effective() == Look::Sides && area.width - files_wide < BOTH_FROM;
    // Not wide enough for both beside each other, a few files leave the hunks room below them.
    let files = u16::try_from(review.tree().rows.len()).unwrap_or(u16::MAX);
    let is_stacked = area.width < BOTH_FROM
        && !is_only
        && area.height >= STACKED_FROM
        && (1..=area.height / STACKED_PART).contains(&files)
        && !matches!(review.bar, Some(Bar::Rewind { .. } | Bar::Edit(_)));
    frame.measured.both = area.width >= BOTH_FROM && !narrow_for_sides || is_stacked;
    let alone = !frame.measured.both && (review.layout.pane == Pane::Hunks || matches!(review.bar, Some(Bar::Edit(_))));
    let (head, mut body) = split_top(rest, u16::from(rest.height > 1));
    let low = area.height < AIR_FROM;
    // With a single row its place is what is looked at.
    if head.is_empty() {
    } else if low && alone && review.file().is_some() {
        file_title(cx, review, head, buf);
    } else {
        title(cx, review, head, buf);
    }
    // Where there is nothing else to see, what there is elsewhere is the news.
    if !low || review.doc().is_some_and(|doc| doc.files.is_empty() && !doc.left.is_empty()) {
        let notes = notes(review, body);
        let (rows, below) = split_top(body, (notes.len() as u16).max(1));
        for (words, y) in notes.into_iter().zip(rows.y..rows.bottom()) {
            paint::put(buf, rows.x + 2, y, rows.width.saturating_sub(3), &StyledText::of(words, Token::Warn), cx.theme);
        }
        body = below;
    }
    if let Some(doc) = review.doc() {
        frame.rev = doc.rev;
    }
    let words = nothing(review, cx.session.review_is_off()).filter(|_| !body.is_empty());
    let words = words.map(|words| if is_opening(cx) { OPENING.to_owned() } else { words });
    if let Some(words) = words {
        let words = StyledText::of(width::truncate(&words, usize::from(body.width.saturating_sub(3))), Token::Dim);
        paint::put(buf, body.x + 2, body.y, body.width.saturating_sub(2), &words, cx.theme);
    } else if frame.measured.both && is_only {
        main(cx, review, body, !low, info, &mut frame, buf);
    } else if is_stacked {
        let (above, below) = split_top(body, files);
        files::draw(cx, review, above, &mut frame, buf);
        main(cx, review, split_top(below, 1).1, true, info, &mut frame, buf);
    } else if frame.measured.both {
        let left = Rect { width: files_wide, ..body };
        let right = Rect { x: body.x + files_wide + 2, width: body.width - files_wide - 2, ..body };
        files::draw(cx, review, left, &mut frame, buf);
        let bar = StyledText::of("┊", Token::Rule);
        for y in body.y..body.bottom() {
            paint::put(buf, body.x + files_wide, y, 1, &bar, cx.theme);
        }
        main(cx, review, right, !low, info, &mut frame, buf);
    } else if alone || matches!(review.bar, Some(Bar::Rewind { .. })) {
        main(cx, review, body, !low, info, &mut frame, buf);
    } else {
        files::draw(cx, review, body, &mut frame, buf);
    }
    info.review = Some(frame);
}

/// The hunks, or what stands over them.
fn main(
    cx: &ViewCx<'_>,
    review: &ReviewState,
    area: Rect,
    named: bool,
    info: &mut FrameInfo,
    frame: &mut ReviewFrame,
    buf: &mut Buffer,
) {
    match &review.bar {
        Some(Bar::Rewind { turn, scroll }) => bars::rewind(cx, review, (*turn, *scroll), area, frame, buf),
        Some(Bar::Edit(edit)) => bars::edit(cx, edit, area, info, buf),
        _ => {
            let mut at = area;
            if named {
                let (head, below) = split_top(area, 1);
                file_line(cx, review, head, buf);
                at = split_top(below, u16::from(below.height > 8)).1;
            }
            hunks::draw(cx, review, at, frame, buf);
        }
    }
}

/// Whether it is not known yet what the session has changed: the agent has not opened it.
fn is_opening(cx: &ViewCx<'_>) -> bool {
    matches!(cx.session.phase(), Phase::Starting { .. } | Phase::Opening { .. } | Phase::PutOff { .. })
}

/// Why there is nothing to look at.
fn nothing(review: &ReviewState, off: Option<&str>) -> Option<String> {
    let Some(doc) = review.doc() else {
        let off = off.map(|why| format!("no review of changes: {}", sanitize::line(why)));
        return Some(off.unwrap_or_else(|| "comparing files…".into()));
    };
    if !doc.files.is_empty() {
        return None;
    }
    Some(match doc.scope {
        Scope::Pending if doc.turns.is_empty() && !doc.left.is_empty() => {
            "nothing was changed in this run of the session; see above".into()
        }
        Scope::Pending | Scope::Session if doc.turns.is_empty() && doc.is_partial => {
            "nothing that is known was changed; not everything could be looked at".into()
        }
        Scope::Pending if doc.turns.is_empty() => "nothing was changed".into(),
        // Of what could not be looked at, or only in part, nobody knows.
        Scope::Pending if !doc.uncovered.is_empty() => {
            "nothing to decide in what could be looked at · 3 shows the whole session".into()
        }
        Scope::Pending => "everything is decided · 3 shows the whole session".into(),
        Scope::Turn(turn) => format!("{} has changed nothing that is still there", labels::turn(Some(doc), turn)),
        Scope::Session => "nothing was changed in this session".into(),
    })
}

/// What is shown, and how far it is decided.
fn title(cx: &ViewCx<'_>, review: &ReviewState, area: Rect, buf: &mut Buffer) {
    let Some(doc) = review.doc() else {
        let text = StyledText::of("review", Token::Dim);
        paint::put(buf, area.x + 2, area.y, area.width.saturating_sub(2), &text, cx.theme);
        return;
    };
    let inner = Rect { x: area.x + 2, width: area.width.saturating_sub(3), ..area };
    let files = human::count(doc.totals.files, "file");
    let mut left = StyledText::of(files, RunStyle::from(Token::Text).with_mods(Mods::BOLD));
    left.push("  ", Token::Dim);
    left.append(&counts(doc.totals.added, doc.totals.removed));
    let used = paint::put(buf, inner.x, inner.y, inner.width, &left, cx.theme);
    let (done, all) = doc.decided;
    let open = all.saturating_sub(done);
    for words in [
        match open {
            _ if all == 0 => "no hunks".to_owned(),
            0 if all == 1 => "the hunk is decided".to_owned(),
            0 => format!("all {} decided", human::count(all, "hunk")),
            open => format!("{open} of {} open", human::count(all, "hunk")),
        },
        if open == 0 { "all decided".to_owned() } else { format!("{open} open") },
        format!("{done}/{all}"),
    ] {
        if paint::put_right(buf, inner, used + 1, &StyledText::of(&*words, Token::Dim), cx.theme) == Placed::Yes {
            let free = inner.width.saturating_sub(used + words.len() as u16 + 2);
            let gap = if free > 60 { 8 } else { 3 };
            let at = inner.x + used + gap;
            let shown =
                scope_words(doc).into_iter().find(|w| width::str_width(w) + usize::from(gap) <= usize::from(free));
            if let Some(shown) = shown {
                paint::put(buf, at, inner.y, free, &StyledText::of(shown, Token::Text), cx.theme);
            }
            break;
        }
    }
}

/// What the document is about, longest first.
fn scope_words(doc: &ReviewDoc) -> Vec<String> {
    let count = doc.turns.len();
    match doc.scope {
        Scope::Pending => vec!["not decided yet".into(), "undecided".into()],
        Scope::Session => vec!["the whole session".into(), "session".into()],
        Scope::Turn(turn) => {
            let at = doc.turns.iter().position(|t| *t == turn).map_or(0, |n| n + 1);
            let (name, short) = (doc.name(turn), labels::turn(Some(doc), turn));
            // Turns that changed nothing are not counted.
            if name.session.is_none() && (at as u64 == name.number || at == 0) {
                vec![format!("{short} of {count} · , and . go to others"), format!("{short} of {count}"), short]
            } else {
                vec![format!("{short} · {at} of {count} with changes"), short, format!("turn {}", name.number)]
            }
        }
    }
}

/// What could not be looked at, and what earlier runs have left, in rows: no more than a third of the place while there are
/// files to show.
fn notes(review: &ReviewState, area: Rect) -> Vec<String> {
    let Some(doc) = review.doc() else { return Vec::new() };
    let columns = usize::from(area.width.saturating_sub(3));
    let mut rows = Vec::new();
    let uncovered = doc.uncovered.split_first().map(|(first, rest)| {
        let more = if rest.is_empty() { String::new() } else { format!(" · and {} more", rest.len()) };
        format!("not covered: {}{more}", crate::base::sanitize::line(first))
    });
    if !doc.files.is_empty() {
        rows.extend(uncovered.clone());
    }
    for run in &doc.left {
        let (words, commands) = labels::left_run_parts(run);
        let (whole, joined) = (labels::left_run(run), commands.join(" · "));
        if commands.is_empty() || width::str_width(&whole) <= columns {
            rows.push(whole);
            continue;
        }
        rows.push(format!("{words}:"));
        if width::str_width(&joined) + 2 <= columns {
            rows.push(format!("  {joined}"));
        } else {
            rows.extend(commands.into_iter().map(|command| format!("  {command}")));
        }
    }
    if doc.files.is_empty() {
        rows.extend(uncovered);
    }
    let room = if doc.files.is_empty() { area.height.saturating_sub(1) } else { area.height / 3 };
    let room = usize::from(room).max(1);
    if rows.len() > room {
        let rest = rows.len() - room + 1;
        rows.truncate(room - 1);
        rows.push(format!("and {rest} more: acp-tui review last"));
    }
    rows.into_iter().map(|row| width::truncate(&row, columns).into_owned()).collect()
}

/// On a low screen: the file instead of the sums.
fn file_title(cx: &ViewCx<'_>, review: &ReviewState, area: Rect, buf: &mut Buffer) {
    let (Some(doc), Some(file)) = (review.doc(), review.file()) else { return };
    let inner = Rect { x: area.x + 2, width: area.width.saturating_sub(3), ..area };
    let (done, all) = doc.decided;
    let at = review.file_index().unwrap_or(0) + 1;
    let words = format!("file {at}/{} · {done}/{all} done", doc.files.len());
    let right = StyledText::of(words, Token::Dim);
    let room = usize::from(inner.width).saturating_sub(width::styled_width(&right) + 2);
    let name = path(file);
    let name = StyledText::of(width::truncate_start(&name, room), RunStyle::from(Token::Text).with_mods(Mods::BOLD));
    let used = paint::put(buf, inner.x, inner.y, inner.width, &name, cx.theme);
    paint::put_right(buf, inner, used, &right, cx.theme);
}

/// Path, figures, and what became of the file; by what.
fn file_line(cx: &ViewCx<'_>, review: &ReviewState, area: Rect, buf: &mut Buffer) {
    let Some(file) = review.file() else { return };
    let inner = Rect { x: area.x + 2, width: area.width.saturating_sub(3), ..area };
    let mut right = Vec::new();
    if file.held.is_some() {
        right.push("held back until it is decided".to_owned());
    }
    if let Some(note) = &file.note {
        right.push(crate::base::sanitize::line(note).into_owned());
    }
    right.push(cause_of(cx, file));
    let token = if file.held.is_some() { Token::Warn } else { Token::Dim };
    let mut right = StyledText::of(right.join(" · "), token);
    let limit = usize::from(inner.width / 2);
    if width::styled_width(&right) > limit {
        right = width::truncate_styled(&right, limit);
    }
    let room = usize::from(inner.width).saturating_sub(width::styled_width(&right) + 2);
    let mut rest = StyledText::from("  ");
    rest.append(&counts(file.added, file.removed));
    if let Some(word) = change_words(file) {
        rest.push(&format!("  {word}"), Token::Dim);
    }
    let rest = width::truncate_styled(&rest, room / 2);
    let name = width::truncate_start(&path(file), room.saturating_sub(width::styled_width(&rest))).into_owned();
    let mut left = StyledText::of(name, RunStyle::from(Token::Text).with_mods(Mods::BOLD));
    left.append(&rest);
    let used = paint::put(buf, inner.x, inner.y, inner.width, &left, cx.theme);
    paint::put_right(buf, inner, used, &right, cx.theme);
}

fn path(file: &FileDoc) -> String {
    crate::base::paths::visible(file.path.as_os_str())
}

/// `+2 −1`; nothing for what has no lines.
fn counts(added: u64, removed: u64) -> StyledText {
    let mut text = StyledText::new();
    if added > 0 {
        text.push(&format!("+{added}"), Token::Good);
    }
    if removed > 0 {
        text.push(if text.is_empty() { "" } else { " " }, Token::Dim);
        text.push(&format!("−{removed}"), Token::Bad);
    }
    text
}

fn change_words(file: &FileDoc) -> Option<String> {
    Some(match file.change {
        FileChange::Created => "new".into(),
        FileChange::Deleted => "deleted".into(),
        FileChange::Mode => "mode only".into(),
        FileChange::Kind => "another kind of file".into(),
        FileChange::Renamed => {
            let from = file.renamed_from.as_ref().map(|p| crate::base::paths::visible(p.as_os_str()));
            format!("renamed from {}", from.unwrap_or_default())
        }
        FileChange::Modified => return None,
    })
}

/// By what the newest change was made, and of which session, where it is not the one that looks.
fn cause_of(cx: &ViewCx<'_>, file: &FileDoc) -> String {
    let newest = file.hunks.iter().rev().find(|hunk| hunk.cause == file.cause);
    let by = made_by(cx, file.cause, newest);
    match newest.and_then(|hunk| hunk.elsewhere) {
        None => by,
        Some(key) => match cx.model.at(key) {
            Some(session) => format!("{by} in {}", super::sessions::label(cx, session, MAX_SESSION)),
            None => format!("{by} in a closed session"),
        },
    }
}

/// By what it was made: a command by its name, as long as the conversation has it.
fn made_by(cx: &ViewCx<'_>, cause: Cause, hunk: Option<&HunkDoc>) -> String {
    let words = match cause {
        Cause::Write => "written through acp-tui",
        Cause::Tool => "by the agent itself",
        Cause::Command => match hunk.and_then(|hunk| command_of(cx, hunk)) {
            Some(command) => return format!("by: {}", width::truncate(&command, MAX_COMMAND)),
            None => "by a command",
        },
        Cause::Unknown => "unknown writer",
        Cause::Person => "by you",
        Cause::Review => "by a decision",
        Cause::Merge => "from a worktree",
    };
    words.to_owned()
}

fn command_of(cx: &ViewCx<'_>, hunk: &HunkDoc) -> Option<String> {
    let session = match hunk.elsewhere {
        None => cx.session,
        Some(key) => cx.model.at(key)?,
    };
    let command = match &session.entries().get(hunk.entry?)?.body {
        Body::Tool(call) => cells::object_in_words(call, session),
        Body::Terminal(id) => sanitize::line(&session.command(id)?.command).trim().to_owned(),
        _ => return None,
    };
    Some(command).filter(|command| !command.is_empty())
}

/// Whether the keys go to this half of the review.
fn has_keys(cx: &ViewCx<'_>, review: &ReviewState, pane: Pane) -> bool {
    cx.state.view.focus == Focus::Review && review.layout.pane == pane && review.bar.is_none()
}

#[cfg(test)]
#[path = "review/review_tests.rs"]
mod tests;
