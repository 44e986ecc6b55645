//! Keys while the review asks for something: a note, a search, a file name, other lines, a yes.
//!
//! Invariant: Esc leaves everything as it was, and a yes counts only for what was on the screen.

use super::{act, decide, search};
use crate::model::changes::{HunkId, ReviewAction, Target, Verdict};
use crate::model::event::Intent;
use crate::ui::composer::Composer;
use crate::ui::keys::Action;
use crate::ui::msg::Out;
use crate::ui::state::App;
use crate::ui::state::review::bar::{Bar, Confirm, Doubtful, Edit, Note};
use crate::ui::state::review::note::prompt;
use crate::ui::state::review::search::Direction;
use crate::ui::update::{Cx, common};
use std::path::PathBuf;

const CHANGED: &str = "it changed just now; look again";

/// A line to write in, with something in it.
pub(super) fn line(text: &str) -> Composer {
    let mut line = Composer::default();
    line.set_text(text);
    line
}

pub(super) fn action(state: &mut App, cx: Cx<'_>, action: Action, out: &mut Vec<Out>) {
    let Some(review) = &mut state.view.review else { return };
    let Some(bar) = &mut review.bar else { return };
    match action {
        Action::Escape => review.bar = None,
        Action::Accept => done(state, cx, out),
        Action::CtrlC => {
            review.bar = None;
            state.say("left", cx.now);
        }
        Action::Up | Action::Down => {
            if let Bar::Rewind { scroll, .. } = bar {
                let max = cx.frame.review.as_ref().map_or(0, |f| f.preview_max);
                let by = if action == Action::Up { -1 } else { 1 };
                *scroll = scroll.saturating_add_signed(by).min(max);
            } else if let Bar::Edit(edit) = bar {
                let _ = edit.lines.apply(action);
            }
        }
        // A note is one line.
        Action::Newline if !matches!(bar, Bar::Edit(_)) => {}
        Action::Help | Action::FocusDock | Action::OpenReview | Action::Suspend | Action::Redraw => {
            common(state, cx, action, out);
        }
        _ => {
            if let Some(text) = bar.text() {
                let _ = text.apply(action);
            }
        }
    }
}

fn done(state: &mut App, cx: Cx<'_>, out: &mut Vec<Out>) {
    let Some(review) = &mut state.view.review else { return };
    match review.bar.take() {
        Some(Bar::Note(note)) => self::note(state, cx, note, out),
        Some(Bar::Search(line)) => {
            line.text().trim().clone_into(&mut review.query);
            if !review.query.is_empty() {
                search(state, cx, Direction::Next);
            }
        }
        Some(Bar::Export(line)) => {
            let path = line.text().trim();
            if path.is_empty() {
                return;
            }
            let scope = decide::scope(review);
            act(out, ReviewAction::Export { scope, path: PathBuf::from(path) });
        }
        Some(Bar::Edit(edit)) => save(edit, out),
        Some(Bar::Confirm(confirm)) => confirmed(state, cx, confirm, out),
        Some(Bar::Rewind { turn, scroll }) => {
            // Only what was read is agreed to.
            let preview = cx.session.rewind_preview().filter(|(of, _)| *of == turn);
            let shown = cx.frame.review.as_ref().and_then(|f| f.preview) == Some(turn);
            if preview.is_some() && shown {
                act(out, ReviewAction::Rewind { turn });
            } else {
                review.bar = Some(Bar::Rewind { turn, scroll });
            }
        }
        None => {}
    }
}

/// The decision, then the word about it; both are about what was on the screen when it was begun.
fn note(state: &mut App, cx: Cx<'_>, note: Note, out: &mut Vec<Out>) {
    let Some(review) = &mut state.view.review else { return };
    let Some(doc) = review.doc().cloned() else { return };
    let still = match &note.target {
        Target::Hunk(path, id) | Target::Lines(path, id, _) => {
            doc.files.iter().any(|f| f.path == *path && f.hunks.iter().any(|h| h.id == *id))
        }
        Target::File(_) | Target::All => doc.rev == note.rev,
    };
    if !still {
        state.say(CHANGED, cx.now);
        let text = note.line.text().to_owned();
        if !text.trim().is_empty() {
            // What was written is not lost.
            state.view.composer.prepend(&text);
        }
        return;
    }
    let text = prompt(&doc, note.verdict, &note.target, note.line.text());
    decide::decide(review, note.target, note.verdict, out);
    if let Some(text) = text {
        out.push(Out::Intent(Intent::Prompt { text, links: Vec::new() }));
    }
}

fn save(edit: Edit, out: &mut Vec<Out>) {
    let mut text = edit.lines.text().to_owned();
    if !text.is_empty() && !edit.no_newline {
        text.push('\n');
    }
    let Edit { scope, path, hunk, .. } = edit;
    act(out, ReviewAction::Edit { scope, path, hunk, text });
}

fn confirmed(state: &mut App, cx: Cx<'_>, confirm: Confirm, out: &mut Vec<Out>) {
    let Some(review) = &mut state.view.review else { return };
    let same = review.doc().is_some_and(|d| d.rev == confirm.rev);
    let seen = cx.frame.review.as_ref().is_some_and(|f| f.rev == confirm.rev);
    if !same || !seen {
        return state.say(CHANGED, cx.now);
    }
    match confirm.what {
        Doubtful::RejectAll(_) => decide::decide(review, Target::All, Verdict::Reject, out),
        Doubtful::Force(path, hunk) => forced(state, path, hunk, out),
        Doubtful::Unseen { target, verdict, .. } => decide::decide(review, target, verdict, out),
    }
}

fn forced(state: &mut App, path: PathBuf, hunk: HunkId, out: &mut Vec<Out>) {
    let Some(review) = &mut state.view.review else { return };
    let scope = decide::scope(review);
    act(out, ReviewAction::Force { scope, path, hunk });
}
