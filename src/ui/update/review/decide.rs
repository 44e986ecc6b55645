//! What accepts, rejects, undoes: the keys of the review that lead to a change of files.
//!
//! Invariant: only what the last frame showed is decided, and only when what it is about has not changed since.

use super::{act, bars};
use crate::model::changes::{FileDoc, HunkDoc, HunkKind, ReviewAction, Scope, Target, Verdict};
use crate::ui::keys::{Action, Layer, ReviewKey};
use crate::ui::msg::{EditorJob, Out};
use crate::ui::state::App;
use crate::ui::state::review::bar::{Bar, Confirm, Doubtful, Edit, Note};
use crate::ui::state::review::index::{Item, new_lines, new_part};
use crate::ui::state::review::{NextFrom, Pane, ReviewState, Sight};
use crate::ui::state::timing::STRAY;
use crate::ui::update::Cx;
use std::collections::BTreeSet;
use std::path::PathBuf;

const CHANGED: &str = "it changed just now; look again";
/// Lines of a hunk above which it is asked about where its end is not on the screen.
const LONG: usize = 200;

pub(super) fn key(state: &mut App, cx: Cx<'_>, key: ReviewKey, out: &mut Vec<Out>) {
    use ReviewKey as R;
    match key {
        R::Accept | R::Reject | R::AcceptFile | R::RejectFile | R::AcceptNote | R::RejectNote
            if shows_first(state, cx, key) => {}
        R::Accept => here(state, cx, Verdict::Accept, out),
        R::Reject => here(state, cx, Verdict::Reject, out),
        R::AcceptFile => of_file(state, cx, Verdict::Accept, out),
        R::RejectFile => of_file(state, cx, Verdict::Reject, out),
        R::AcceptAll => all(state, cx, Verdict::Accept, out),
        R::RejectAll => all(state, cx, Verdict::Reject, out),
        R::AcceptNote | R::RejectNote if cx.session.is_only_reviewed() => {
            state.say_here("no agent runs here that could be told · a accepts, x rejects", cx.now);
        }
        R::AcceptNote => note(state, cx, Verdict::Accept),
        R::RejectNote => note(state, cx, Verdict::Reject),
        R::Edit => edit(state, cx, Place::Here, out),
        R::EditOutside => edit(state, cx, Place::Outside, out),
        R::Undo => undo(state, cx, ReviewAction::Undo, out),
        R::Redo => undo(state, cx, ReviewAction::Redo, out),
        R::TakePart => take(state, cx, out),
        R::Export => export(state, cx),
        R::Rewind => rewind(state, cx, out),
        R::Force => force(state, cx),
        _ => {}
    }
}

/// The hunk of the cursor, its chosen lines, or the file in the list of files.
fn target(review: &ReviewState) -> Option<Target> {
    let path = review.file()?.path.clone();
    if review.layout.pane == Pane::Files {
        return review.folder().is_none().then_some(Target::File(path));
    }
    let hunk = review.hunk()?.id;
    Some(match review.chosen() {
        Some(lines) => Target::Lines(path, hunk, lines),
        None => Target::Hunk(path, hunk),
    })
}

/// Puts the hunk, or its chosen lines, into the files that the worktree came from.
fn take(state: &mut App, cx: Cx<'_>, out: &mut Vec<Out>) {
    let Some(review) = &state.view.review else { return };
    match target(review) {
        None => refuse(state, cx, "choose a hunk"),
        Some(Target::File(path)) => out.push(Out::TakeFile(path)),
        Some(target) => match unseen(review, cx, &target) {
            Some(why) => refuse(state, cx, why),
            None => out.push(Out::TakePart(review.doc().map_or(review.scope, |doc| doc.scope), target)),
        },
    }
}

/// Why a target must not be decided now.
fn unseen(review: &ReviewState, cx: Cx<'_>, target: &Target) -> Option<&'static str> {
    let (Some(doc), Some(frame)) = (review.doc(), &cx.frame.review) else { return Some("it is not on the screen") };
    let drawn = frame.file.as_ref();
    // A quick person decides the next hunk before the answer to the last decision is drawn.
    let holds = |path: &PathBuf| match (drawn, doc.files.iter().find(|f| f.path == *path)) {
        (Some(drawn), Some(now)) => drawn.path == *path && is_like(drawn, now),
        _ => false,
    };
    let same = match target {
        Target::Hunk(path, _) | Target::Lines(path, _, _) => doc.rev == frame.rev || holds(path),
        Target::File(_) | Target::All => doc.rev == frame.rev,
    };
    if !same {
        return Some(CHANGED);
    }
    let is_drawn = |path: &PathBuf| drawn.is_some_and(|f| f.path == *path);
    let is_shown = match target {
        Target::All => true,
        Target::Hunk(path, id) | Target::Lines(path, id, _) => is_drawn(path) && frame.shown.contains(id),
        Target::File(path) => {
            let file = doc.files.iter().position(|f| f.path == *path);
            let listed = |row: &usize| {
                review.tree().rows.get(*row).is_some_and(|r| file.is_some_and(|n| r.item == Item::File(n)))
            };
            is_drawn(path) || frame.file_rows.iter().any(|(_, row)| listed(row))
        }
    };
    (!is_shown).then_some("not on the screen; look again")
}

/// The same changes at the same places; what was decided of them may differ.
fn is_like(drawn: &FileDoc, now: &FileDoc) -> bool {
    let like = |(a, b): (&HunkDoc, &HunkDoc)| {
        (a.id, a.new_start, a.old_start, a.lines.len()) == (b.id, b.new_start, b.old_start, b.lines.len())
    };
    drawn.hunks.len() == now.hunks.len() && drawn.hunks.iter().zip(&now.hunks).all(like)
}

/// Says why something is not done; the cursor is brought into sight.
fn refuse(state: &mut App, cx: Cx<'_>, why: &str) {
    if let Some(review) = &mut state.view.review {
        review.layout.sight = Sight::Cursor;
    }
    state.say(why, cx.now);
}

/// The same where the person goes on writing: the letters that follow decide nothing.
fn refuse_writing(state: &mut App, cx: Cx<'_>, why: &str) {
    refuse(state, cx, why);
    if let Some(review) = &mut state.view.review {
        review.deaf_until = Some(cx.now.saturating_add(STRAY));
    }
}

/// What can be decided here, or why nothing.
fn seen(review: &ReviewState, cx: Cx<'_>, verdict: Verdict) -> Result<Target, String> {
    let Some(target) = target(review) else {
        let on_folder = review.folder().is_some();
        return Err(if on_folder { "choose a file".into() } else { "nothing to decide here".into() });
    };
    if let Some(why) = unseen(review, cx, &target) {
        return Err(why.into());
    }
    let conflict = review.hunk().filter(|_| !matches!(target, Target::File(_))).and_then(|h| h.conflict.as_ref());
    match conflict {
        Some(_) if verdict == Verdict::Reject => {
            Err("later edits touched it · C rejects it all the same, e changes it".into())
        }
        _ => Ok(target),
    }
}

/// A file of which only the row in the list was on the screen is opened where it waits, and nothing of it is decided by this
/// key. False: its hunks were there, or no file is chosen.
fn shows_first(state: &mut App, cx: Cx<'_>, key: ReviewKey) -> bool {
    let Some(review) = &mut state.view.review else { return false };
    let is_listed_alone = cx.frame.review.as_ref().is_some_and(|frame| frame.file.is_none());
    if review.layout.pane != Pane::Files || review.folder().is_some() || !is_listed_alone {
        return false;
    }
    let Some(file) = review.file_index() else { return false };
    let spot = review.first_pending(file);
    review.go(file, spot);
    review.layout.pane = Pane::Hunks;
    let words = match key {
        ReviewKey::Accept => "shown first · {a} again accepts",
        ReviewKey::Reject => "shown first · {x} again rejects",
        ReviewKey::AcceptFile => "shown first · {A} again accepts the file",
        ReviewKey::RejectFile => "shown first · {X} again rejects the file",
        _ => "shown first · again for it",
    };
    state.say_here(state.keys.say(Layer::Review, words), cx.now);
    true
}

pub(super) fn here(state: &mut App, cx: Cx<'_>, verdict: Verdict, out: &mut Vec<Out>) {
    let Some(review) = &mut state.view.review else { return };
    match seen(review, cx, verdict) {
        Ok(target) => match below_the_screen(review, cx, &target) {
            Some((lines, shown)) => {
                let rev = review.doc().map_or(0, |d| d.rev);
                let what = Doubtful::Unseen { target, verdict, lines, shown };
                review.bar = Some(Bar::Confirm(Confirm { what, rev }));
            }
            None => decide(review, target, verdict, out),
        },
        Err(why) => refuse(state, cx, &why),
    }
}

/// Of a long hunk whose end is not on the screen, or of one that is not shown whole: how many lines it has, and how many of
/// them are on the screen.
fn below_the_screen(review: &ReviewState, cx: Cx<'_>, target: &Target) -> Option<(usize, usize)> {
    let hunk = review.hunk().filter(|_| matches!(target, Target::Hunk(..)))?;
    let (lines, left_out) = (hunk.lines.len(), hunk.left_out());
    if lines <= LONG && left_out == 0 {
        return None;
    }
    let at = review.spot().hunk;
    let rows = cx.frame.review.iter().flat_map(|frame| &frame.hunk_rows);
    let shown: BTreeSet<usize> = rows.filter(|(_, spot)| spot.hunk == at).filter_map(|(_, spot)| spot.line).collect();
    let is_below = left_out > 0 || shown.last().is_none_or(|last| last + 1 < lines);
    is_below.then_some((lines + left_out, shown.len()))
}

/// Sends the decision off and goes to what waits next.
pub(super) fn decide(review: &mut ReviewState, target: Target, verdict: Verdict, out: &mut Vec<Out>) {
    let next = match &target {
        Target::All => None,
        Target::File(_) => Some(NextFrom::File),
        Target::Hunk(..) => Some(NextFrom::Hunk),
        // The rest of the hunk still waits.
        Target::Lines(..) => {
            review.cursor.selection = None;
            review.recount();
            None
        }
    };
    act(out, ReviewAction::Decide { scope: scope(review), target, verdict });
    if let Some(from) = next {
        review.to_next_pending(from);
    }
}

/// What the person decides about is what is shown, not what was asked for since.
pub(super) fn scope(review: &ReviewState) -> Scope {
    review.doc().map_or(review.scope, |d| d.scope)
}

fn of_file(state: &mut App, cx: Cx<'_>, verdict: Verdict, out: &mut Vec<Out>) {
    let Some(review) = &mut state.view.review else { return };
    let Some(file) = review.file().filter(|_| review.folder().is_none()) else {
        return refuse(state, cx, "choose a file");
    };
    let target = Target::File(file.path.clone());
    match unseen(review, cx, &target) {
        Some(why) => refuse(state, cx, why),
        None => decide(review, target, verdict, out),
    }
}

fn all(state: &mut App, cx: Cx<'_>, verdict: Verdict, out: &mut Vec<Out>) {
    let Some(review) = &mut state.view.review else { return };
    if let Some(why) = unseen(review, cx, &Target::All) {
        return refuse(state, cx, why);
    }
    let hunks = review.tree().marks.iter().map(|m| m.hunks).sum();
    let rev = review.doc().map_or(0, |d| d.rev);
    match (hunks, verdict) {
        (0, _) => refuse(state, cx, "nothing to decide here"),
        (_, Verdict::Accept) => decide(review, Target::All, verdict, out),
        (_, Verdict::Reject) => review.bar = Some(Bar::Confirm(Confirm { what: Doubtful::RejectAll(hunks), rev })),
    }
}

fn note(state: &mut App, cx: Cx<'_>, verdict: Verdict) {
    let Some(review) = &mut state.view.review else { return };
    match seen(review, cx, verdict) {
        Ok(target) => {
            let rev = review.doc().map_or(0, |d| d.rev);
            review.bar = Some(Bar::Note(Note { verdict, target, rev, line: bars::line("") }));
        }
        Err(why) => refuse_writing(state, cx, &why),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Here,
    Outside,
}

fn edit(state: &mut App, cx: Cx<'_>, place: Place, out: &mut Vec<Out>) {
    let Some(review) = &mut state.view.review else { return };
    let Some((path, hunk)) =
        review.file().map(|f| f.path.clone()).zip(review.hunk().filter(|_| review.layout.pane == Pane::Hunks))
    else {
        return refuse_writing(state, cx, "choose a hunk");
    };
    if hunk.what != HunkKind::Lines {
        return refuse_writing(state, cx, "only lines can be changed here");
    }
    if let Some(why) = unseen(review, cx, &Target::Hunk(path.clone(), hunk.id)) {
        return refuse_writing(state, cx, why);
    }
    // What is written takes the place of all of it.
    if hunk.left_out() > 0 {
        return refuse_writing(state, cx, "not all of its lines are shown · o opens the file");
    }
    let text = new_lines(hunk);
    // What stands for a character would be written into the file.
    if new_part(hunk).any(|line| line.has_stand_ins) {
        return refuse_writing(state, cx, "it holds characters that cannot be shown · o opens the file");
    }
    let (hunk, scope) = (hunk.id, scope(review));
    if place == Place::Outside {
        return out.push(Out::Edit(EditorJob::Hunk { path, hunk, scope, text }));
    }
    let no_newline = !text.is_empty() && !text.ends_with('\n');
    let mut lines = bars::line(text.strip_suffix('\n').unwrap_or(&text));
    let _ = lines.apply(Action::BufferStart);
    review.bar = Some(Bar::Edit(Edit { scope, path, hunk, no_newline, lines }));
}

fn undo(state: &mut App, cx: Cx<'_>, action: ReviewAction, out: &mut Vec<Out>) {
    let Some(doc) = state.view.review.as_ref().and_then(|r| r.doc()) else { return };
    let (what, none) = match action {
        ReviewAction::Undo => (&doc.undo, "nothing to undo"),
        _ => (&doc.redo, "nothing to do again"),
    };
    if what.is_some() {
        let is_undo = action == ReviewAction::Undo;
        act(out, action);
        if let Some(review) = state.view.review.as_mut().filter(|_| is_undo) {
            review.undoing = review.undoing.saturating_add(1);
        }
    } else {
        state.say(none, cx.now);
    }
}

fn export(state: &mut App, cx: Cx<'_>) {
    let Some(review) = &mut state.view.review else { return };
    if review.doc().is_none_or(|d| d.files.is_empty()) {
        return state.say("nothing to write", cx.now);
    }
    review.bar = Some(Bar::Export(bars::line("acp-tui.patch")));
}

fn rewind(state: &mut App, cx: Cx<'_>, out: &mut Vec<Out>) {
    let Some(review) = &mut state.view.review else { return };
    let shown = match scope(review) {
        Scope::Turn(turn) => Some(turn),
        Scope::Pending | Scope::Session => review.doc().and_then(|d| d.turns.last().copied()),
    };
    let Some(turn) = shown else { return state.say("no turn has changed anything", cx.now) };
    review.bar = Some(Bar::Rewind { turn, scroll: 0 });
    act(out, ReviewAction::PreviewRewind { turn });
}

fn force(state: &mut App, cx: Cx<'_>) {
    let Some(review) = &mut state.view.review else { return };
    let hunk = review.hunk().filter(|h| review.layout.pane == Pane::Hunks && h.conflict.is_some());
    let Some((path, hunk)) = review.file().map(|f| f.path.clone()).zip(hunk.map(|h| h.id)) else {
        return refuse(state, cx, "this hunk is not in conflict");
    };
    if let Some(why) = unseen(review, cx, &Target::Hunk(path.clone(), hunk)) {
        return refuse(state, cx, why);
    }
    let rev = review.doc().map_or(0, |d| d.rev);
    review.bar = Some(Bar::Confirm(Confirm { what: Doubtful::Force(path, hunk), rev }));
}
