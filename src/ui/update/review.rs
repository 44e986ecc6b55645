//! Keys while the review has the focus: looking around. What decides is in `decide`, what is written in `bars`.
//!
//! Invariant: nothing here changes a file; what is wanted leaves as an intent.

mod bars;
mod copying;
mod decide;
mod mouse;

use super::{Cx, common};
use crate::model::changes::{ReviewAction, Scope};
use crate::model::event::Intent;
use crate::model::ids::{EntryId, SessionKey};
use crate::ui::keys::{Action, Layer, ReviewKey};
use crate::ui::msg::{EditorJob, Out};
use crate::ui::state::folds::Fold;
use crate::ui::state::review::bar::Bar;
use crate::ui::state::review::index::{Item, Look, Spot};
use crate::ui::state::review::search::{Direction, Query, find};
use crate::ui::state::review::{BESIDE_FROM, BOTH_FROM, Extent, Pane, Presence, ReviewState};
use crate::ui::state::scroll::Scroll;
use crate::ui::state::timing::STRAY;
use crate::ui::state::{App, Focus};
pub(super) use copying::{again, drag, release};
pub(super) use mouse::{click, wheel};
use std::cmp::Ordering;

/// Columns that long lines are moved at once.
const STEP: usize = 8;

/// Shows the review and gives it the focus; the engine is asked to look at the disk again.
pub fn open(state: &mut App, cx: Cx<'_>, scope: Scope, out: &mut Vec<Out>) {
    if let Some(review) = &mut state.view.review {
        review.scope = scope;
        review.layout.presence = Presence::Here;
    } else {
        let mut review = ReviewState::new(scope);
        // A list of one file has nothing to choose.
        if cx.frame.transcript.width < BOTH_FROM && cx.session.changes().totals.files != 1 {
            review.layout.pane = Pane::Files;
        }
        review.sync(cx.session.review());
        state.view.review = Some(review);
    }
    state.view.focus = Focus::Review;
    act(out, ReviewAction::Show(scope));
}

/// Opens the review, goes to it, and from it back to writing.
pub(super) fn toggle(state: &mut App, cx: Cx<'_>, out: &mut Vec<Out>) {
    match state.view.review.as_ref().map(|r| (r.layout.presence, r.scope)) {
        None => open(state, cx, Scope::default(), out),
        Some((Presence::Away, scope)) => open(state, cx, scope, out),
        Some((Presence::Here, _)) if cx.session.is_only_reviewed() => state.view.focus = Focus::Review,
        Some((Presence::Here, _)) if state.view.focus == Focus::Review => state.view.focus = Focus::Composer,
        Some((Presence::Here, _)) => state.view.focus = Focus::Review,
    }
}

/// The same file in the review of the session in the next worktree of the same files.
fn beside(state: &mut App, cx: Cx<'_>, direction: Direction, out: &mut Vec<Out>) {
    let all = state.in_trees_beside(cx.model);
    let Some(at) = all.iter().position(|key| *key == state.shown()) else {
        return state.say("no other session works in a worktree of the same files", cx.now);
    };
    let next = match direction {
        Direction::Next => at + 1,
        Direction::Previous => at + all.len() - 1,
    } % all.len();
    let Some((key, session)) = all.get(next).and_then(|key| Some((*key, cx.model.at(*key)?))) else { return };
    let Some(review) = &state.view.review else { return };
    let scope = if matches!(review.scope, Scope::Turn(_)) { Scope::Session } else { review.scope };
    let (path, pane, extent, look) =
        (review.path().to_owned(), review.layout.pane, review.layout.extent, review.layout.look);
    if !state.show(key) {
        return;
    }
    open(state, Cx { session, ..cx }, scope, out);
    if let Some(review) = &mut state.view.review {
        (review.layout.pane, review.layout.extent, review.layout.look) = (pane, extent, look);
        review.look_for(path);
    }
}

fn close(state: &mut App, out: &mut Vec<Out>) {
    state.view.review = None;
    state.view.focus = Focus::Composer;
    act(out, ReviewAction::Close);
}

fn act(out: &mut Vec<Out>, action: ReviewAction) {
    out.push(Out::Intent(Intent::Review(action)));
}

/// Pasted text is text where text is written, and nothing elsewhere.
pub(super) fn paste(state: &mut App, cx: Cx<'_>, text: &str) {
    let Some(review) = &mut state.view.review else { return };
    match &mut review.bar {
        Some(Bar::Edit(edit)) => edit.lines.paste(text),
        Some(bar) => {
            if let Some(line) = bar.text() {
                line.paste(&text.replace(['\n', '\r'], " "));
            }
        }
        None => state.say(state.keys.say(Layer::Review, "nothing is written here · {Tab} goes to the prompt"), cx.now),
    }
}

pub(super) fn action(state: &mut App, cx: Cx<'_>, action: Action, out: &mut Vec<Out>) {
    let Some(review) = &mut state.view.review else { return };
    if review.bar.is_some() {
        return bars::action(state, cx, action, out);
    }
    if let Some(until) = review.deaf_until.take()
        && cx.now < until
        && matches!(action, Action::Review(_) | Action::Help | Action::Up | Action::Down)
    {
        review.deaf_until = Some(cx.now.saturating_add(STRAY));
        return;
    }
    if action != Action::Review(ReviewKey::Undo) {
        review.undoing = 0;
    }
    match action {
        Action::Review(key) => own(state, cx, key, out),
        Action::Up => step(review, -1),
        Action::Down => step(review, 1),
        Action::PageUp => step(review, -page(review)),
        Action::PageDown => step(review, page(review)),
        Action::Home => step(review, isize::MIN / 2),
        Action::End => step(review, isize::MAX / 2),
        Action::Tab if cx.session.is_only_reviewed() => {}
        Action::Tab => state.view.focus = Focus::Composer,
        Action::Escape if review.cursor.selection.is_some() => {
            review.cursor.selection = None;
            review.recount();
        }
        Action::Escape => close(state, out),
        _ => common(state, cx, action, out),
    }
}

fn own(state: &mut App, cx: Cx<'_>, key: ReviewKey, out: &mut Vec<Out>) {
    use ReviewKey as R;
    let Some(review) = &mut state.view.review else { return };
    match key {
        R::NextHunk => hunk(state, cx, Direction::Next),
        R::PreviousHunk => hunk(state, cx, Direction::Previous),
        R::NextFile => file(state, cx, Direction::Next),
        R::PreviousFile => file(state, cx, Direction::Previous),
        R::Into => into(review),
        R::Back => back(review),
        R::SelectLines => select(state, cx),
        R::Copy => copying::key(state, cx, out),
        R::OpenFile => open_file(state, cx, out),
        R::TakeFile => out.extend(review.file().map(|file| Out::TakeFile(file.path.clone()))),
        R::NextTree => beside(state, cx, Direction::Next, out),
        R::PreviousTree => beside(state, cx, Direction::Previous, out),
        R::Blame => blame(state, cx, out),
        R::ToolCall => tool_call(state, cx),
        R::Search => review.bar = Some(Bar::Search(bars::line(&review.query.clone()))),
        R::SearchNext => search(state, cx, Direction::Next),
        R::SearchPrevious => search(state, cx, Direction::Previous),
        R::Fold => match review.folder().cloned() {
            Some(folder) => review.flip_folder(&folder),
            None => review.flip_fold(),
        },
        R::FoldAll => review.flip_all(),
        R::Sides => sides(state, cx),
        R::ScrollLeft => review.layout.column = review.layout.column.saturating_sub(STEP),
        R::ScrollRight => review.layout.column = (review.layout.column + STEP).min(1 << 20),
        R::ScopePending => show(review, Scope::Pending, out),
        R::ScopeSession => show(review, Scope::Session, out),
        R::ScopeTurn => turn(state, cx, Turning::Here, out),
        R::TurnBack => turn(state, cx, Turning::Back, out),
        R::TurnForward => turn(state, cx, Turning::Forward, out),
        R::Wide => wide(state, cx),
        R::Close => close(state, out),
        R::Accept
        | R::Reject
        | R::AcceptFile
        | R::RejectFile
        | R::AcceptAll
        | R::RejectAll
        | R::AcceptNote
        | R::RejectNote
        | R::Edit
        | R::EditOutside
        | R::Undo
        | R::Redo
        | R::TakePart
        | R::Export
        | R::Rewind
        | R::Force => decide::key(state, cx, key, out),
    }
}

fn page(review: &ReviewState) -> isize {
    let height = if review.layout.pane == Pane::Files {
        review.layout.measured.files_height
    } else {
        review.layout.measured.height
    };
    isize::try_from(height.saturating_sub(1).max(1)).unwrap_or(1)
}

/// Pages of the review while it covers the conversation and something else has the keys; false when it does not.
pub(super) fn page_from_outside(state: &mut App, pages: isize) -> bool {
    let Some(review) = &mut state.view.review else { return false };
    if review.layout.presence == Presence::Away || review.layout.measured.beside {
        return false;
    }
    step(review, pages * page(review));
    true
}

/// Moves the cursor by rows; the choice of lines stays in its hunk.
fn step(review: &mut ReviewState, by: isize) {
    if review.layout.pane == Pane::Files {
        let last = review.tree().rows.len().saturating_sub(1);
        let row = review.tree_row().saturating_add_signed(by).min(last);
        return review.choose_row(row);
    }
    let spot = review.rows().moved(review.spot(), by);
    if review.cursor.selection.is_some() {
        let here = review.spot();
        let lines = review.hunk().map_or(0, |h| h.lines.len());
        let line = match spot.hunk.cmp(&here.hunk) {
            Ordering::Greater => lines.saturating_sub(1),
            Ordering::Less => 0,
            Ordering::Equal => spot.line.unwrap_or(0),
        };
        return review.stand(Spot { hunk: here.hunk, line: Some(line) });
    }
    review.stand(spot);
}

fn hunk(state: &mut App, cx: Cx<'_>, to: Direction) {
    let Some(review) = &mut state.view.review else { return };
    let Some(file) = review.file_index() else { return };
    review.layout.pane = Pane::Hunks;
    let count = review.file().map_or(0, |f| f.hunks.len());
    let at = review.spot().hunk;
    let next = match to {
        Direction::Next => Some(at + 1).filter(|n| *n < count),
        // From the lines of a hunk first to its own header.
        Direction::Previous if review.spot().line.is_some() => Some(at),
        Direction::Previous => at.checked_sub(1),
    };
    if let Some(hunk) = next {
        return review.go(file, Spot { hunk, line: None });
    }
    let files = review.doc().map_or(0, |d| d.files.len());
    let other = match to {
        Direction::Next => Some(file + 1).filter(|n| *n < files),
        Direction::Previous => file.checked_sub(1),
    };
    match other {
        Some(other) => {
            let last = review.doc().and_then(|d| d.files.get(other)).map_or(0, |f| f.hunks.len().saturating_sub(1));
            let hunk = if to == Direction::Next { 0 } else { last };
            review.go(other, Spot { hunk, line: None });
        }
        None if to == Direction::Next => state.say("that was the last hunk", cx.now),
        None => state.say("that was the first hunk", cx.now),
    }
}

fn file(state: &mut App, cx: Cx<'_>, to: Direction) {
    let Some(review) = &mut state.view.review else { return };
    let Some(file) = review.file_index() else { return };
    let files = review.doc().map_or(0, |d| d.files.len());
    let other = match to {
        Direction::Next => Some(file + 1).filter(|n| *n < files),
        Direction::Previous => file.checked_sub(1),
    };
    match other {
        Some(other) => {
            let spot = review.first_pending(other);
            review.go(other, spot);
        }
        None if to == Direction::Next => state.say("that was the last file", cx.now),
        None => state.say("that was the first file", cx.now),
    }
}

fn into(review: &mut ReviewState) {
    match (review.layout.pane, review.folder().cloned()) {
        (Pane::Files, Some(folder)) => review.flip_folder(&folder),
        (Pane::Files, None) => review.layout.pane = Pane::Hunks,
        (Pane::Hunks, _) => review.unfold(review.spot().hunk),
    }
}

/// To the files, and there to the folder that holds the file, which is folded then.
fn back(review: &mut ReviewState) {
    if review.layout.pane == Pane::Hunks {
        review.layout.pane = Pane::Files;
        return;
    }
    let row = review.tree_row();
    match review.tree().rows.get(row).map(|r| (r.depth, r.item.clone())) {
        Some((_, Item::Folder { path, closed: false, .. })) => review.flip_folder(&path),
        Some((depth, _)) if depth > 0 => {
            let above = review.tree().rows.iter().take(row).rposition(|r| r.depth < depth);
            if let Some(above) = above {
                review.choose_row(above);
            }
        }
        _ => {}
    }
}

fn select(state: &mut App, cx: Cx<'_>) {
    let Some(review) = &mut state.view.review else { return };
    if review.cursor.selection.take().is_some() {
        return review.recount();
    }
    let lines = review.hunk().map_or(0, |h| h.lines.len());
    if review.layout.pane == Pane::Files {
        return state.say(state.keys.say(Layer::Review, "choose a hunk first · {Enter} shows them"), cx.now);
    }
    if lines == 0 {
        return state.say("this is decided as a whole", cx.now);
    }
    let spot = review.spot();
    review.unfold(spot.hunk);
    // A choice that begins at the header begins with what is changed first.
    let changed = |h: &crate::model::changes::HunkDoc| {
        h.lines.iter().position(|l| l.kind != crate::text::diff::Kind::Context).unwrap_or(0)
    };
    let line = spot.line.or_else(|| review.hunk().map(changed)).unwrap_or(0);
    review.stand(Spot { line: Some(line), ..spot });
    review.cursor.selection = Some(line);
    review.recount();
}

fn open_file(state: &mut App, cx: Cx<'_>, out: &mut Vec<Out>) {
    use crate::model::changes::FileChange;
    let Some(review) = &mut state.view.review else { return };
    let Some(file) = review.file() else { return };
    if file.change == FileChange::Deleted {
        return state.say("the file is not there any more", cx.now);
    }
    let hunk = review.hunk();
    let line = hunk.and_then(|h| {
        // The line of the cursor, else the nearest below or above it that is in the file now.
        let at = review.spot().line.unwrap_or(0);
        let below = h.lines.iter().skip(at).find_map(|l| l.new);
        below.or_else(|| h.lines.iter().take(at).rev().find_map(|l| l.new)).or(Some(h.new_start))
    });
    out.push(Out::Edit(EditorJob::Open { path: file.path.clone(), line: line.unwrap_or(1).max(1) }));
}

/// Asks which prompt the line of the cursor came from; from the header of a hunk the first line that it has put there.
fn blame(state: &mut App, cx: Cx<'_>, out: &mut Vec<Out>) {
    use crate::text::diff::Kind;
    let Some(review) = &mut state.view.review else { return };
    let at = review.spot().line;
    let line = review.hunk().and_then(|hunk| match at {
        Some(at) => hunk.lines.get(at),
        None => hunk.lines.iter().find(|line| line.kind == Kind::Add),
    });
    let asked = line.and_then(|line| Some((line.new?.checked_sub(1)? as usize, line.text.clone())));
    let (Some(file), Some((line, text))) = (review.file(), asked) else {
        return state.say("choose a line that is in the file now", cx.now);
    };
    act(out, ReviewAction::Blame { path: file.path.clone(), line, text });
}

/// Shows in the conversation what made the change, also in that of another session. Where both fit, the review stays.
fn tool_call(state: &mut App, cx: Cx<'_>) {
    let Some(review) = &state.view.review else { return };
    let made_by = review.hunk().and_then(|h| Some((h.elsewhere.unwrap_or(cx.session.key()), h.entry?)));
    let is_there = |(key, entry): &(SessionKey, EntryId)| {
        cx.model.session_of(*key).is_some_and(|session| session.entries().index_of(*entry).is_some())
    };
    let Some((key, entry)) = made_by.filter(is_there) else {
        return state.say("nothing in the conversation is known to have made this change", cx.now);
    };
    let beside = review.layout.measured.beside;
    if !state.show(key) {
        return state.say("the session that made this change is closed", cx.now);
    }
    state.view.scroll = Scroll::at(entry);
    state.view.folds.set(entry, Fold::Open);
    if key != cx.session.key() {
        if let Some(review) = &mut state.view.review {
            review.layout.presence = Presence::Away;
        }
        state.view.focus = Focus::Composer;
        return state.say("this session made the change", cx.now);
    }
    if !beside {
        state.view.focus = Focus::Composer;
        uncover(state, cx);
    }
}

/// A review that covers the conversation goes out of its way, until its key brings it back.
pub(super) fn uncover(state: &mut App, cx: Cx<'_>) {
    let Some(review) = &mut state.view.review else { return };
    if review.layout.presence == Presence::Here && !review.layout.measured.beside {
        review.layout.presence = Presence::Away;
        state.say(state.keys.say(Layer::Composer, "the review stays open · {F3} goes back to it"), cx.now);
    }
}

pub(super) fn search(state: &mut App, cx: Cx<'_>, to: Direction) {
    let Some(review) = &mut state.view.review else { return };
    let (Some(doc), Some(query)) = (review.doc().cloned(), Query::of(&review.query)) else {
        return state.say("nothing to look for · / asks for it", cx.now);
    };
    let from = (review.file_index().unwrap_or(0), review.spot());
    match find(&doc, &query, from, to) {
        Some((file, spot)) => {
            review.go(file, spot);
            review.unfold(spot.hunk);
            if spot.line.is_some() {
                review.layout.pane = Pane::Hunks;
            }
        }
        None => {
            let words = format!("not found: {}", crate::base::sanitize::line(&review.query));
            state.say(words, cx.now);
        }
    }
}

fn sides(state: &mut App, cx: Cx<'_>) {
    let Some(review) = &mut state.view.review else { return };
    review.layout.look = match review.layout.look {
        Look::Sides => Look::Unified,
        Look::Unified if review.layout.measured.columns >= BOTH_FROM => Look::Sides,
        Look::Unified => {
            return state.say(format!("side by side needs {BOTH_FROM} columns"), cx.now);
        }
    };
    review.cursor.selection = None;
    review.recount();
}

fn wide(state: &mut App, cx: Cx<'_>) {
    let Some(review) = &mut state.view.review else { return };
    let room = review.layout.measured.beside
        || review.layout.extent == Extent::Whole && review.layout.measured.columns >= BESIDE_FROM;
    if !room {
        return state.say(format!("beside the conversation needs {BESIDE_FROM} columns"), cx.now);
    }
    review.layout.extent = match review.layout.extent {
        Extent::Beside => Extent::Whole,
        Extent::Whole => Extent::Beside,
    };
}

fn show(review: &mut ReviewState, scope: Scope, out: &mut Vec<Out>) {
    review.scope = scope;
    act(out, ReviewAction::Show(scope));
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Turning {
    Here,
    Back,
    Forward,
}

/// The turn of the cursor's hunk or the newest, else a neighbour of the one shown.
fn turn(state: &mut App, cx: Cx<'_>, to: Turning, out: &mut Vec<Out>) {
    let Some(review) = &mut state.view.review else { return };
    let turns = review.doc().map(|d| d.turns.clone()).unwrap_or_default();
    let next = match (review.scope, to) {
        (Scope::Turn(now), Turning::Back) => turns.iter().rev().find(|t| **t < now),
        (Scope::Turn(now), Turning::Forward) => turns.iter().find(|t| **t > now),
        (Scope::Turn(_), Turning::Here) => return,
        _ => {
            let of_hunk = review.hunk().map(|h| h.turn);
            turns.iter().find(|t| Some(**t) == of_hunk).or(turns.last())
        }
    };
    match (next, to) {
        (Some(turn), _) => show(review, Scope::Turn(*turn), out),
        (None, Turning::Here) => state.say("no turn has changed anything", cx.now),
        (None, Turning::Back) => state.say("that was the first turn", cx.now),
        (None, Turning::Forward) => state.say("that was the last turn", cx.now),
    }
}

#[cfg(test)]
#[path = "review/review_tests.rs"]
mod tests;
