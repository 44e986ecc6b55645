//! The foot of the review: its keys, or what it asks for; and what stands over the hunks meanwhile.
//!
//! Keys are named by the table that decides what they do.

use crate::base::{human, paths};
use crate::model::changes::{RewindOutcome, Rewound, Verdict};
use crate::text::run::{Mods, RunStyle, StyledText};
use crate::text::token::Token;
use crate::text::width;
use crate::ui::composer::Composer;
use crate::ui::keys::{Action, Keymap, Layer, ReviewKey as R};
use crate::ui::labels;
use crate::ui::msg::{FrameInfo, ReviewFrame};
use crate::ui::state::Focus;
use crate::ui::state::review::bar::{Bar, Doubtful, Edit};
use crate::ui::state::review::{Pane, ReviewState};
use crate::ui::view::paint::{self, Placed};
use crate::ui::view::{ViewCx, split_top};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use std::borrow::Cow;

/// Between two hints.
const GAP: usize = 2;

/// Keys and a word for them, the most useful first.
type Hints = &'static [(&'static [R], &'static str)];

const IN_HUNKS: Hints = &[
    (&[R::Accept], "accept"),
    (&[R::Reject], "reject"),
    (&[R::RejectNote], "reject + why"),
    (&[R::NextHunk, R::PreviousHunk], "hunk"),
    (&[R::Blame], "blame"),
    (&[R::NextFile, R::PreviousFile], "file"),
    (&[R::Undo], "undo"),
    (&[R::SelectLines], "lines"),
    (&[R::Copy], "copy"),
    (&[R::Edit, R::EditOutside], "edit"),
    (&[R::Back], "files"),
    (&[R::AcceptFile, R::RejectFile], "whole file"),
    (&[R::AcceptNote], "accept + note"),
    (&[R::Search], "search"),
    (&[R::ScopePending, R::ScopeTurn, R::ScopeSession], "scope"),
    (&[R::ToolCall], "made by"),
    (&[R::OpenFile], "open"),
    (&[R::Sides], "sides"),
    (&[R::Fold, R::FoldAll], "fold"),
    (&[R::Wide], "wide"),
    (&[R::Redo], "redo"),
    (&[R::AcceptAll, R::RejectAll], "all"),
    (&[R::Export], "patch"),
    (&[R::Rewind], "rewind"),
    (&[R::ScrollLeft, R::ScrollRight], "long lines"),
    (&[R::SearchNext, R::SearchPrevious], "found"),
    (&[R::TurnBack, R::TurnForward], "turn"),
];

const IN_FILES: Hints = &[
    (&[R::Into], "hunks"),
    (&[R::AcceptFile], "accept"),
    (&[R::RejectFile], "reject"),
    (&[R::Undo], "undo"),
    (&[R::Fold], "fold"),
    (&[R::AcceptAll, R::RejectAll], "all"),
    (&[R::Search], "search"),
    (&[R::Copy], "copy"),
    (&[R::ScopePending, R::ScopeTurn, R::ScopeSession], "scope"),
    (&[R::RejectNote], "reject + why"),
    (&[R::AcceptNote], "accept + note"),
    (&[R::OpenFile], "open"),
    (&[R::Rewind], "rewind"),
    (&[R::Export], "patch"),
    (&[R::Redo], "redo"),
    (&[R::Wide], "wide"),
    (&[R::TurnBack, R::TurnForward], "turn"),
    (&[R::SearchNext, R::SearchPrevious], "found"),
];

/// Where nothing is shown: what shows something else.
const IN_NOTHING: Hints = &[
    (&[R::ScopePending, R::ScopeTurn, R::ScopeSession], "scope"),
    (&[R::Undo], "undo"),
    (&[R::Redo], "redo"),
    (&[R::TurnBack, R::TurnForward], "turn"),
];

const CHOOSING: Hints = &[
    (&[R::Accept], "accept these"),
    (&[R::Reject], "reject these"),
    (&[R::RejectNote], "because"),
    (&[R::Copy], "copy"),
];

/// Under a question.
const YES_OR_NO: &str = "{y} yes · {n} no";

const IN_CONFLICT: Hints = &[(&[R::Force], "reject anyway")];

pub fn draw(cx: &ViewCx<'_>, review: &ReviewState, area: Rect, info: &mut FrameInfo, buf: &mut Buffer) {
    if area.is_empty() {
        return;
    }
    match &review.bar {
        None => hints(cx, review, area, buf),
        Some(Bar::Note(note)) => {
            let (long, short) = match note.verdict {
                Verdict::Accept => ("accept + note: ", "say: "),
                Verdict::Reject => ("reject + why: ", "why: "),
            };
            line(cx, &note.line, (long, short), "{Enter} decides and sends · {Esc} leaves", area, info, buf);
        }
        Some(Bar::Search(text)) => line(cx, text, ("search: ", "/"), "{Enter} finds · {Esc} leaves", area, info, buf),
        Some(Bar::Export(text)) => {
            line(cx, text, ("write a patch to: ", "to: "), "{Enter} writes · {Esc} leaves", area, info, buf);
        }
        Some(Bar::Edit(_)) => {
            let strong = RunStyle::from(Token::Accent);
            let long = if area.width >= 60 { "{Ctrl+S} puts these lines in its place" } else { "{Ctrl+S} saves" };
            let (long, leaves) = (cx.say(Layer::ReviewEdit, long), cx.say(Layer::ReviewEdit, " · {Esc} leaves it"));
            words(cx, &[(&long, strong), (&leaves, Token::Dim.into())], area, buf);
        }
        Some(Bar::Confirm(confirm)) => {
            let question = match &confirm.what {
                Doubtful::RejectAll(1) => "reject the hunk shown?".to_owned(),
                Doubtful::RejectAll(n) => format!("reject all {n} hunks?"),
                Doubtful::Force(..) => "reject it, later edits of these lines included?".to_owned(),
                Doubtful::Unseen { verdict, lines, shown, .. } => {
                    let verb = if *verdict == Verdict::Accept { "accept" } else { "reject" };
                    format!("{verb} {} lines, {shown} of them on the screen?", human::thousands(*lines as u64))
                }
            };
            words(cx, &[(&question, Token::Warn.into()), (&answers(cx, YES_OR_NO), Token::Text.into())], area, buf);
        }
        Some(Bar::Rewind { turn, .. }) => {
            let ready = cx.session.rewind_preview().is_some_and(|(of, _)| of == turn);
            let turn = labels::turn(review.doc().map(|doc| &**doc), *turn);
            let question = format!("take these back to before {turn}?");
            let answers = answers(cx, if ready { YES_OR_NO } else { "{Esc} leaves" });
            words(cx, &[(&question, Token::Warn.into()), (&answers, Token::Text.into())], area, buf);
        }
    }
}

/// What answers a question, with air before it.
fn answers(cx: &ViewCx<'_>, words: &'static str) -> String {
    format!("  {}", cx.say(Layer::ReviewConfirm, words))
}

fn words(cx: &ViewCx<'_>, pieces: &[(&str, RunStyle)], area: Rect, buf: &mut Buffer) {
    let mut text = StyledText::new();
    for (piece, style) in pieces.iter().rev() {
        // The keys at the end stay, the question is cut.
        let room = usize::from(area.width.saturating_sub(2)).saturating_sub(width::styled_width(&text));
        let mut front = StyledText::of(width::truncate(piece, room), *style);
        front.append(&text);
        text = front;
    }
    paint::put(buf, area.x + 1, area.y, area.width.saturating_sub(1), &text, cx.theme);
}

/// One line that is written.
fn line(
    cx: &ViewCx<'_>,
    text: &Composer,
    (long, short): (&str, &str),
    keys: &'static str,
    area: Rect,
    info: &mut FrameInfo,
    buf: &mut Buffer,
) {
    let label = if area.width >= 60 { long } else { short };
    let used = 1 + paint::put(
        buf,
        area.x + 1,
        area.y,
        area.width.saturating_sub(1),
        &StyledText::of(label, Token::Accent),
        cx.theme,
    );
    let room = area.width.saturating_sub(used + 1).max(1);
    let laid = text.layout(room, 1);
    let row = laid.rows.first().map(String::as_str).unwrap_or_default();
    let wide = paint::put(buf, area.x + used, area.y, room, &StyledText::from(row), cx.theme);
    let inner = Rect { width: area.width.saturating_sub(1), ..area };
    paint::put_right(buf, inner, used + wide + 4, &cx.dim(Layer::Line, keys), cx.theme);
    if cx.state.view.focus == Focus::Review {
        let x = (area.x + used + laid.cursor.0).min(area.right().saturating_sub(1));
        info.cursor = Some(Position { x, y: area.y });
    }
}

/// The keys that fit, and at the end those that always help.
fn hints(cx: &ViewCx<'_>, review: &ReviewState, area: Rect, buf: &mut Buffer) {
    if cx.state.view.focus != Focus::Review {
        let tab = if cx.state.view.dock.dialog.is_none() && cx.state.view.focus == Focus::Composer {
            ["{Tab} or {F3} goes to the review", "{F3} goes to the review", "{Tab} goes to the review"].as_slice()
        } else {
            &["{F3} goes to the review"]
        };
        let found = tab.iter().find_map(|words| cx.state.keys.hint(Layer::Composer, words)).unwrap_or_default();
        return words(cx, &[(&found, Token::Dim.into())], area, buf);
    }
    let mut list: Vec<(String, &str)> = Vec::new();
    let front = match review.hunk() {
        _ if review.cursor.selection.is_some() => CHOOSING,
        Some(hunk) if hunk.conflict.is_some() && review.layout.pane == Pane::Hunks => IN_CONFLICT,
        _ => &[],
    };
    let rest = match review.layout.pane {
        _ if review.cursor.selection.is_some() => &[],
        _ if review.doc().is_some_and(|doc| doc.files.is_empty()) => IN_NOTHING,
        Pane::Files => IN_FILES,
        Pane::Hunks => IN_HUNKS,
    };
    let is_alone = cx.session.is_only_reviewed();
    let tells = |keys: &[R]| keys.iter().any(|key| matches!(key, R::AcceptNote | R::RejectNote));
    let all = front.iter().chain(rest).filter(|(keys, _)| !(is_alone && tells(keys)));
    let all = all.map(|(keys, what)| (names(&cx.state.keys, keys), *what));
    list.extend(all.filter(|(keys, _)| !keys.is_empty()));
    let ends: &[&[&'static str]] = if review.cursor.selection.is_some() {
        &[&["{Esc} ends the choice"], &["{Esc}"]]
    } else if is_alone {
        &[&["{?} keys", "{q} closes"], &["{?} keys"]]
    } else {
        &[&["{Tab} prompt", "{?} keys", "{q} closes"], &["{?} keys", "{q} closes"], &["{?} keys"]]
    };
    let end_of = |parts: &&[&'static str]| {
        let parts = parts.iter().filter_map(|words| cx.state.keys.hint(Layer::Review, words));
        parts.collect::<Vec<_>>().join("  ")
    };
    let ends: Vec<String> = ends.iter().map(end_of).collect();
    let chosen = review.chosen().map(|c| c.len());
    let mut rest = list.as_slice();
    for y in area.y..area.bottom() {
        let row = Rect { x: area.x + 1, y, width: area.width.saturating_sub(2), height: 1 };
        let mut room = usize::from(row.width);
        if y + 1 == area.bottom() {
            let share = if chosen.is_some() { 4 } else { 3 };
            let end = ends.iter().find(|e| e.len() * share <= room).or(ends.last()).map_or("", String::as_str);
            if paint::put_right(buf, row, 0, &StyledText::of(end, Token::Dim), cx.theme) == Placed::Yes {
                room = room.saturating_sub(end.len() + GAP);
            }
        }
        let mut text = StyledText::new();
        if let Some(count) = chosen {
            text.push(&format!("{}  ", human::count(count as u64, "line")), Token::Text);
        }
        while let Some(((keys, what), more)) = rest.split_first() {
            let gap = if text.is_empty() || chosen.is_some() && text.as_str().ends_with("  ") { 0 } else { GAP };
            let wide = gap + width::str_width(keys) + 1 + width::str_width(what);
            if width::styled_width(&text) + wide > room {
                break;
            }
            text.push(&" ".repeat(gap), Token::Dim);
            text.push(keys, RunStyle::from(Token::Text).with_mods(Mods::BOLD));
            text.push(&format!(" {what}"), Token::Dim);
            rest = more;
        }
        paint::put(buf, row.x, y, row.width, &text, cx.theme);
    }
}

/// `a`, or `n/p`.
fn names(map: &Keymap, keys: &[R]) -> String {
    let names: Vec<String> = keys.iter().filter_map(|k| map.label(Layer::Review, Action::Review(*k))).collect();
    names.join("/")
}

/// The lines of a hunk while they are changed.
pub fn edit(cx: &ViewCx<'_>, edit: &Edit, area: Rect, info: &mut FrameInfo, buf: &mut Buffer) {
    let (head, body) = if area.height > 3 { split_top(area, 1) } else { (Rect { height: 0, ..area }, area) };
    if !head.is_empty() {
        let path = paths::visible(edit.path.as_os_str());
        let room = usize::from(head.width.saturating_sub(2));
        let words = format!("the new lines of this hunk in {path}");
        let text = StyledText::of(width::truncate(&words, room), Token::Dim);
        paint::put(buf, head.x + 2, head.y, head.width.saturating_sub(2), &text, cx.theme);
    }
    let columns = body.width.saturating_sub(3).max(1);
    let laid = edit.lines.layout(columns, body.height.max(1));
    let bar = StyledText::of("┃ ", Token::Accent);
    for (row, y) in laid.rows.iter().zip(body.y..body.bottom()) {
        paint::put(buf, body.x, y, body.width, &bar, cx.theme);
        paint::put(buf, body.x + 2, y, columns, &StyledText::from(row.as_str()), cx.theme);
    }
    if cx.state.view.focus == Focus::Review && !body.is_empty() {
        info.cursor = Some(Position {
            x: (body.x + 2 + laid.cursor.0).min(body.right().saturating_sub(1)),
            y: (body.y + laid.cursor.1).min(body.bottom().saturating_sub(1)),
        });
    }
}

/// What taking the files back would do.
pub fn rewind(
    cx: &ViewCx<'_>,
    review: &ReviewState,
    (turn, scroll): (u64, usize),
    area: Rect,
    frame: &mut ReviewFrame,
    buf: &mut Buffer,
) {
    let preview = cx.session.rewind_preview().filter(|(of, _)| *of == turn);
    let inner = Rect { x: area.x + 2, width: area.width.saturating_sub(3), ..area };
    let room = usize::from(inner.width);
    let (head, body) = split_top(inner, 1);
    let title = match preview {
        None => "looking at what that would do".to_owned(),
        Some(_) => {
            let turn = labels::turn(review.doc().map(|doc| &**doc), turn);
            format!("what going back to before {turn} does (files only, the conversation stays):")
        }
    };
    let title = StyledText::of(width::truncate(&title, room), RunStyle::from(Token::Text).with_mods(Mods::BOLD));
    paint::put(buf, head.x, head.y, head.width, &title, cx.theme);
    let Some((_, files)) = preview else { return };
    frame.preview = Some(turn);
    frame.preview_max = files.len().saturating_sub(usize::from(body.height));
    let name = |file: &Rewound| paths::visible(file.path.as_os_str());
    let shown = files.iter().skip(scroll.min(frame.preview_max)).take(usize::from(body.height));
    let longest = shown.clone().map(|f| width::str_width(&name(f))).max().unwrap_or(0);
    let columns = (longest + 2).min(room / 2);
    for (file, y) in shown.zip(body.y..body.bottom()) {
        let (words, token) = outcome(file);
        let name = name(file);
        let name = width::truncate_start(&name, columns.saturating_sub(2));
        let pad = columns.saturating_sub(width::str_width(&name));
        let mut text = StyledText::of(name, Token::Text);
        text.push(&" ".repeat(pad), Token::Text);
        text.push(&words, token);
        let text = width::truncate_styled(&text, room);
        paint::put(buf, body.x, y, body.width, &text, cx.theme);
    }
}

fn outcome(file: &Rewound) -> (Cow<'static, str>, Token) {
    let (words, token) = match file.outcome {
        RewindOutcome::Restored => ("✓ restored", Token::Good),
        RewindOutcome::Removed => ("✓ removed", Token::Good),
        RewindOutcome::Merged => ("✓ without the agent's changes; others stay", Token::Good),
        RewindOutcome::Conflict => ("✗ left alone: these lines were changed since", Token::Warn),
        RewindOutcome::Doubtful | RewindOutcome::Beside => match &file.remark {
            Some(why) => return (format!("✗ left alone: {why}").into(), Token::Warn),
            None => ("✗ left alone: nobody said who changed it", Token::Warn),
        },
        RewindOutcome::NotKept => ("✗ left alone: what it was is not kept", Token::Warn),
        RewindOutcome::Failed => match &file.remark {
            Some(why) => return (format!("✗ left alone: {why}").into(), Token::Bad),
            None => ("✗ left alone: it could not be written", Token::Bad),
        },
    };
    (words.into(), token)
}
