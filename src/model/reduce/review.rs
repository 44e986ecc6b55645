//! The review beside the turns: prompts wait for the snapshot, turns are looked at after their end, numbers are kept.
//!
//! Without a review nothing waits. Invariant: a prompt waits at most [`COVERAGE_PATIENCE`] (longer without a
//! screen), and that it went out too early is said and kept.

use super::super::Model;
use super::super::changes::Truth;
use super::super::changes::{ReviewAction, RewindOutcome, Rewound, Totals};
use super::super::effect::{Effect, FrontEnd, ReviewEffect};
use super::super::entry::{Body, Level, TurnChanges};
use super::super::event::Timer;
use super::super::ids::{EntryId, Now, ReqId, TurnId};
use super::super::session::{About, Policy};
use super::{MAX_NOTICED, gate, notice, prompt};
use crate::base::paths::visible;
use std::time::Duration;

/// How long a prompt waits for the snapshot of the files.
pub const COVERAGE_PATIENCE: Duration = Duration::from_secs(3);
/// The same where nobody sits before a screen.
const PATIENCE_ALONE: Duration = Duration::from_secs(30);
/// Files that a notice names.
const MAX_NAMED: usize = 50;
/// Bytes of the texts of a truth that are kept for the dock.
const MAX_TRUTH: usize = 1 << 20;

/// Asks for the snapshot before a turn. False: nobody looks, so nothing waits.
pub fn begin(model: &Model, turn: TurnId, out: &mut Vec<Effect>) -> bool {
    if model.changes.is_on {
        out.push(Effect::Review(ReviewEffect::BeginTurn(turn)));
        let after = if matches!(model.policy, Policy::Auto(_)) { PATIENCE_ALONE } else { COVERAGE_PATIENCE };
        out.push(Effect::StartTimer { timer: Timer::Coverage(turn), after });
    }
    model.changes.is_on
}

pub fn covered(model: &mut Model, turn: TurnId, covered: Result<(), String>, now: Now, out: &mut Vec<Effect>) {
    if let Err(message) = covered {
        model.changes.uncovered_turns.insert(turn.0);
        trouble(model, "snapshot", &format!("the files could not be looked at before the turn: {message}"), now);
    }
    prompt::transmit(model, turn, now, out);
}

pub fn late(model: &mut Model, turn: TurnId, now: Now, out: &mut Vec<Effect>) {
    if model.session.turn.as_ref().is_none_or(|t| t.id != turn || t.unsent.is_none()) {
        return;
    }
    model.changes.uncovered_turns.insert(turn.0);
    let words = "the snapshot is not finished: changes of this turn may not all be covered";
    notice(model, Level::Warn, words, Vec::new(), now);
    out.push(Effect::Review(ReviewEffect::SentEarly(turn)));
    prompt::transmit(model, turn, now, out);
}

/// A turn is over, however it ended.
pub fn ended(model: &mut Model, turn: TurnId, out: &mut Vec<Effect>) {
    if model.changes.is_on {
        model.changes.ending.insert(turn.0);
        out.push(Effect::Review(ReviewEffect::EndTurn(turn)));
    }
}

pub fn reviewed(model: &mut Model, turn: TurnId, totals: Totals, now: Now, out: &mut Vec<Effect>) {
    model.changes.ending.remove(&turn.0);
    if !totals.is_empty() && model.changes.turns.insert(turn.0, totals).is_none() {
        // The next turn may have begun: entries are in the order in which they appear.
        let entry = model.entries.push(model.last_turn, now, Body::Changes(TurnChanges { turn, totals }));
        model.entries.finish(entry);
        model.changes.entries.push(entry);
    }
    out.push(Effect::FrontEnd(FrontEnd::TurnReviewed(turn)));
}

pub fn seen(model: &mut Model, session: Totals, after: bool) {
    let changes = &mut model.changes;
    if changes.totals == session && changes.after == after {
        return;
    }
    changes.totals = session;
    changes.after = after;
    for entry in &changes.entries {
        model.entries.touch(*entry);
    }
}

/// News of a tool call for the review.
pub fn tool(model: &Model, entry: EntryId, out: &mut Vec<Effect>) {
    if model.changes.is_on {
        out.push(Effect::Review(ReviewEffect::Tool(entry)));
    }
}

pub fn command(model: &Model, entry: EntryId, settled: bool, out: &mut Vec<Effect>) {
    if model.changes.is_on {
        out.push(Effect::Review(ReviewEffect::Command { entry, settled }));
    }
}

/// The diffs of a question are compared with the disk; what was known of them is forgotten.
pub fn ask_truth(model: &mut Model, req: ReqId, out: &mut Vec<Effect>) {
    let is_on = model.changes.is_on;
    let Some(pending) = model.session.pending.iter_mut().find(|p| p.req == req) else { return };
    pending.truths.clear();
    pending.asked += 1;
    if is_on {
        out.push(Effect::Review(ReviewEffect::Truth { req, asked: pending.asked }));
    }
}

pub fn truths(model: &mut Model, req: ReqId, asked: u64, mut truths: Vec<Truth>) {
    let Some(pending) = model.session.pending.iter_mut().find(|p| p.req == req && p.asked == asked) else { return };
    for truth in &mut truths {
        if pending.about != About::Tool {
            // A write claims nothing of what was there before.
            truth.differs = None;
        }
        if truth.new.len() + truth.old.as_ref().map_or(0, |o| o.len()) > MAX_TRUTH {
            truth.old = None;
            truth.new = "".into();
        }
    }
    pending.truths = truths;
    let entry = pending.entry;
    model.entries.touch(entry);
}

pub fn act(model: &mut Model, action: ReviewAction, out: &mut Vec<Effect>) {
    if action == ReviewAction::Close {
        model.review = None;
        model.show_rewind(None);
    }
    if model.changes.is_on {
        out.push(Effect::Review(ReviewEffect::Act(action)));
    } else if action != ReviewAction::Close {
        out.push(Effect::FrontEnd(FrontEnd::Said("there is no review in this session".into())));
    }
}

pub fn done(model: &mut Model, words: String, rewound: &[Rewound], now: Now, out: &mut Vec<Effect>) {
    if !rewound.is_empty() {
        model.show_rewind(None);
        let mut lines: Vec<String> = rewound.iter().take(MAX_NAMED).map(line).collect();
        if rewound.len() > MAX_NAMED {
            lines.push(format!("… {} more files", rewound.len() - MAX_NAMED));
        }
        notice(model, Level::Info, words.clone(), lines, now);
    }
    if !words.is_empty() {
        out.push(Effect::FrontEnd(FrontEnd::Said(words)));
    }
}

fn line(rewound: &Rewound) -> String {
    let what = match rewound.outcome {
        RewindOutcome::Restored => "as before",
        RewindOutcome::Removed => "removed",
        RewindOutcome::Merged => "as before, with your changes",
        RewindOutcome::Doubtful => "left alone: nobody said who changed it",
        RewindOutcome::NotKept => "left alone: what it was before is not kept",
        RewindOutcome::Conflict | RewindOutcome::Failed => match &rewound.remark {
            Some(why) => return format!("{}: left alone: {why}", visible(rewound.path.as_os_str())),
            None if rewound.outcome == RewindOutcome::Conflict => "left alone: you changed the same lines",
            None => "left alone: it could not be written",
        },
    };
    let remark = rewound.remark.as_ref().map(|remark| format!(" ({remark})")).unwrap_or_default();
    format!("{}: {what}{remark}", visible(rewound.path.as_os_str()))
}

/// Says once that something of this sort does not work.
pub fn trouble(model: &mut Model, what: &str, message: &str, now: Now) {
    if model.noticed.len() < MAX_NOTICED && model.noticed.insert(format!("review: {what}")) {
        notice(model, Level::Warn, message.to_owned(), Vec::new(), now);
    }
}

/// The session goes on without a review.
pub fn off(model: &mut Model, message: &str, now: Now, out: &mut Vec<Effect>) {
    if !std::mem::take(&mut model.changes.is_on) {
        return;
    }
    notice(model, Level::Warn, format!("no review of changes: {message}"), Vec::new(), now);
    gate::fail_held(model, "the review has ended; the file was not written", out);
    for turn in std::mem::take(&mut model.changes.ending) {
        out.push(Effect::FrontEnd(FrontEnd::TurnReviewed(TurnId(turn))));
    }
    if let Some(turn) = model.session.turn.as_ref().map(|t| t.id) {
        prompt::transmit(model, turn, now, out);
    }
}
