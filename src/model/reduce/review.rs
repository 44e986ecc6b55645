//! The review beside the turns: prompts wait for the snapshot, turns are looked at after their end, numbers are kept.
//!
//! Without a review nothing waits. Invariant: a prompt waits at most [`COVERAGE_PATIENCE`] (longer without a
//! screen), and that it went out too early is said and kept.

use super::super::changes::{ReviewAction, ReviewCommand, ReviewEvent, RewindOutcome, Rewound, Totals, WritePreview};
use super::super::effect::{Effect, FrontEnd};
use super::super::effort;
use super::super::entries::Slot;
use super::super::entry::{Body, Entry, Level, TurnChanges};
use super::super::event::Timer;
use super::super::ids::{EntryId, Now, ReqId, TurnId};
use super::super::question::About;
use super::super::session::{Policy, Session, Turn};
use super::Cx;
use super::{MAX_NOTICED, gate, notice, prompt};
use crate::base::human;
use crate::base::paths::visible;
use std::time::Duration;

/// As the review calls its trouble with a session's directory that is gone, or another one.
const OF_ROOT: &str = "root";
/// Entries that are looked at for the calls of a turn.
const NEWEST: usize = 2000;
/// How long a prompt waits for the snapshot of the files.
pub const COVERAGE_PATIENCE: Duration = Duration::from_secs(3);
/// The same without a screen.
const PATIENCE_ALONE: Duration = Duration::from_secs(30);
/// Files that a notice names.
const MAX_NAMED: usize = 50;
/// Bytes of the texts of a preview that are kept for the dock.
const MAX_PREVIEW: usize = 1 << 20;
/// Bytes of those of all questions of a session.
const MAX_PREVIEWS: usize = 16 << 20;

/// What the review says.
pub fn fact(session: &mut Session, event: ReviewEvent, cx: &mut Cx) {
    match event {
        ReviewEvent::ReviewShown { doc } => session.review = Some(doc),
        ReviewEvent::TurnCovered { turn, covered } => is_covered(session, turn, covered, cx),
        ReviewEvent::TurnReviewed { turn, totals, session: sum, after } => {
            seen(session, sum, after);
            reviewed(session, turn, totals, cx);
        }
        ReviewEvent::TurnNotReviewed { turn } => not_reviewed(session, turn, cx),
        ReviewEvent::ChangesSeen { session: sum, after } => seen(session, sum, after),
        ReviewEvent::FilesSeen { newest } => session.changes.newest = newest,
        ReviewEvent::LeftBefore(hunks) => session.changes.left_before = hunks,
        // For the list of sessions, which reads it in the journal.
        ReviewEvent::OwnChanges { .. } => {}
        ReviewEvent::Previews { req, asked, previews } => compared(session, req, asked, previews),
        ReviewEvent::PlacesFound { entry, lines } => {
            session.entries.change(entry, |e| {
                if let Body::Tool(tool) = &mut e.body {
                    tool.place(&lines);
                }
            });
        }
        ReviewEvent::WriteHeld { req } => gate::held(session, req, cx),
        ReviewEvent::DiskCompared { req, same } => gate::compared(session, req, same, cx),
        ReviewEvent::NotKept { req } => gate::not_kept(session, req, cx),
        ReviewEvent::WriteAgain { req } => gate::again(session, req, cx),
        ReviewEvent::HeldDecided { req, outcome } => gate::decided(session, req, outcome, cx),
        ReviewEvent::ReviewDone { words, rewound } => done(session, words, &rewound, cx),
        ReviewEvent::RewindPreviewed { turn, rewound } => session.rewind = Some((turn, rewound)),
        ReviewEvent::ReviewWrites { done, of } => {
            let (done, of) = (human::thousands(done as u64), human::thousands(of as u64));
            cx.push(Effect::FrontEnd(FrontEnd::Said(format!("writing: {done} of {of} files"))));
        }
        ReviewEvent::ReviewFailed { message } => cx.push(Effect::FrontEnd(FrontEnd::Said(message))),
        ReviewEvent::ReviewTrouble { what, message } => {
            trouble(session, &what, &message, cx.now);
            if what == OF_ROOT {
                session.changes.displaced = Some(message);
            }
        }
        ReviewEvent::ReviewOff { message } => off(session, &message, cx),
        ReviewEvent::ReviewWaits { message } => {
            session.changes.waits |= session.changes.is_on;
            off(session, &format!("{message}; it begins when there is room"), cx);
        }
        ReviewEvent::ReviewBegun => begun(session, cx),
    }
}

/// Asks for the snapshot before a turn. False: there is no review, so nothing waits.
pub fn begin(session: &Session, turn: TurnId, cx: &mut Cx) -> bool {
    if session.changes.is_on {
        cx.push(Effect::Review(ReviewCommand::BeginTurn(turn)));
        let is_alone = matches!(session.policy, Policy::Auto(_)) && !session.is_aside();
        let after = if is_alone { PATIENCE_ALONE } else { COVERAGE_PATIENCE };
        cx.push(Effect::StartTimer { timer: Timer::Coverage(turn), after });
    }
    session.changes.is_on
}

/// The same for a turn that runs already.
pub fn begin_late(session: &mut Session, turn: TurnId, cx: &mut Cx) {
    if session.changes.is_on {
        session.changes.uncovered_turns.insert(turn.0);
        cx.push(Effect::Review(ReviewCommand::BeginTurn(turn)));
        cx.push(Effect::Review(ReviewCommand::SentEarly(turn)));
    }
}

fn is_covered(session: &mut Session, turn: TurnId, covered: Result<(), String>, cx: &mut Cx) {
    if let Err(message) = covered {
        session.changes.uncovered_turns.insert(turn.0);
        trouble(session, "snapshot", &format!("the files could not be looked at before the turn: {message}"), cx.now);
    }
    prompt::transmit(session, turn, cx);
}

pub fn late(session: &mut Session, turn: TurnId, cx: &mut Cx) {
    if session.turn.as_ref().is_none_or(|t| t.id != turn || !t.is_unsent) {
        return;
    }
    session.changes.uncovered_turns.insert(turn.0);
    let words = "the snapshot is not finished: changes of this turn may not all be covered";
    notice(session, Level::Warn, words, Vec::new(), cx.now);
    cx.push(Effect::Review(ReviewCommand::SentEarly(turn)));
    prompt::transmit(session, turn, cx);
}

/// A turn is over, however it ended.
pub fn ended(session: &mut Session, turn: TurnId, cx: &mut Cx) {
    if session.changes.is_on {
        session.changes.ending.insert(turn.0);
        cx.push(Effect::Review(ReviewCommand::EndTurn(turn)));
    }
}

/// The rule below a turn, before anything that comes after it; what the turn has changed is not known yet.
pub fn rule_off(session: &mut Session, turn: &Turn, cx: &Cx) {
    if session.changes.is_on {
        let (spent, effort) = (Some(turn.spent(cx.now)), session.changes.tally.of(turn.id));
        let changes = TurnChanges { turn: turn.id, totals: Totals::default(), is_unknown: true, spent, effort };
        let entry = session.entries.push(session.last_turn, cx.now, Body::Changes(changes));
        session.changes.entries.push(entry);
    }
}

/// A call has begun, or says more of what it does. Files that it has changed count once it has ended.
pub fn worked(session: &mut Session, entry: EntryId, is_new: bool, had_ended: bool) {
    let turn = session.last_turn;
    let Some(found) = session.entries.get(entry) else { return };
    let Body::Tool(call) = &found.body else { return };
    let tally = &mut session.changes.tally;
    let before = tally.of(turn);
    if is_new {
        tally.called(turn);
    }
    // What a call of an earlier turn has changed is told once, when it ends.
    if !had_ended || found.turn == turn {
        tally.changed(turn, effort::changed_by(call), &session.cwd);
    }
    if tally.of(turn) != before {
        told_late(session, turn);
    }
}

/// The agent has changed a file outside of the session's directory through the client.
pub fn wrote_outside(session: &mut Session, path: &str) {
    let turn = session.last_turn;
    session.changes.tally.changed(turn, std::iter::once(path), &session.cwd);
    told_late(session, turn);
}

/// Agents also work after the end of a turn: its rule says so.
fn told_late(session: &mut Session, turn: TurnId) {
    let Some(rule) = session.changes.entries.last().copied().filter(|_| session.turn.is_none()) else { return };
    let effort = session.changes.tally.of(turn);
    session.entries.change(rule, |entry| {
        if let Body::Changes(changes) = &mut entry.body
            && changes.turn == turn
        {
            changes.effort = effort;
        }
    });
}

/// The rule of a turn whose changes are not known yet.
fn open_rule(session: &Session, turn: TurnId) -> Option<EntryId> {
    let is_it = |entry: &Entry| matches!(&entry.body, Body::Changes(c) if c.turn == turn && c.is_unknown);
    session.changes.entries.iter().rev().copied().find(|id| session.entries.get(*id).is_some_and(is_it))
}

fn reviewed(session: &mut Session, turn: TurnId, totals: Totals, cx: &mut Cx) {
    session.changes.ending.remove(&turn.0);
    let is_first = totals.is_empty() || session.changes.turns.insert(turn.0, totals).is_none();
    if let Some(rule) = open_rule(session, turn) {
        session.entries.change(rule, |entry| {
            if let Body::Changes(changes) = &mut entry.body {
                (changes.totals, changes.is_unknown) = (totals, false);
            }
        });
        session.entries.finish(rule);
    } else if is_first && !totals.is_empty() {
        let effort = session.changes.tally.of(turn);
        let changes = TurnChanges { turn, totals, is_unknown: false, spent: None, effort };
        let entry = session.entries.push(session.last_turn, cx.now, Body::Changes(changes));
        session.entries.finish(entry);
        session.changes.entries.push(entry);
    }
    cx.push(Effect::FrontEnd(FrontEnd::TurnReviewed(turn)));
}

/// Nothing is said to have changed, nor that nothing has.
fn not_reviewed(session: &mut Session, turn: TurnId, cx: &mut Cx) {
    close_rule(session, turn);
    if session.changes.ending.remove(&turn.0) && has_worked(session, turn) {
        let words = "what this turn has changed is not known: the files could not be looked at after it";
        notice(session, Level::Warn, words, Vec::new(), cx.now);
    }
    cx.push(Effect::FrontEnd(FrontEnd::TurnReviewed(turn)));
}

fn close_rule(session: &mut Session, turn: TurnId) {
    if let Some(rule) = open_rule(session, turn) {
        session.entries.finish(rule);
    }
}

/// Whether a turn called any tool or wrote where the review does not look, as far as its newest entries tell.
fn has_worked(session: &Session, turn: TurnId) -> bool {
    has(session, turn, |body| match body {
        Body::Tool(_) => true,
        Body::File(file) => file.is_outside,
        _ => false,
    })
}

fn has(session: &Session, turn: TurnId, is_it: impl Fn(&Body) -> bool) -> bool {
    let newest = session.entries.slots().rev().take(NEWEST).filter_map(Slot::here);
    newest.take_while(|entry| entry.turn >= turn).any(|e| e.turn == turn && is_it(&e.body))
}

fn seen(session: &mut Session, sum: Totals, after: bool) {
    let changes = &mut session.changes;
    if changes.totals == sum && changes.after == after {
        return;
    }
    changes.totals = sum;
    changes.after = after;
    for entry in &changes.entries {
        session.entries.touch(*entry);
    }
}

/// News of a tool call for the review.
/// What is told of earlier says nothing of the files as they are.
pub fn tool(session: &Session, entry: EntryId, cx: &mut Cx) {
    if session.changes.is_on && !session.is_loading() {
        cx.push(Effect::Review(ReviewCommand::ToolCall(entry)));
    }
}

/// A command of the client runs, with this entry, or could not be started.
pub fn command_started(session: &Session, req: ReqId, entry: Option<EntryId>, cx: &mut Cx) {
    if session.changes.is_on {
        cx.push(Effect::Review(ReviewCommand::CommandStarted { req, entry }));
    }
}

pub fn command_ended(session: &Session, entry: EntryId, cx: &mut Cx) {
    if session.changes.is_on {
        cx.push(Effect::Review(ReviewCommand::CommandEnded(entry)));
    }
}

/// A command of the person's.
pub fn shell(session: &Session, number: u64, finished: bool, cx: &mut Cx) {
    if session.changes.is_on {
        cx.push(Effect::Review(ReviewCommand::ShellRun { number, finished }));
    }
}

/// The diffs of a question are compared with the disk; what was known of them is forgotten.
pub fn ask_preview(session: &mut Session, req: ReqId, cx: &mut Cx) {
    let is_on = session.changes.is_on;
    let Some(pending) = session.questions.iter_mut().find(|p| p.req == req) else { return };
    pending.previews.clear();
    pending.asked += 1;
    if is_on {
        cx.push(Effect::Review(ReviewCommand::Preview { req, asked: pending.asked }));
    }
}

fn compared(session: &mut Session, req: ReqId, asked: u64, mut previews: Vec<WritePreview>) {
    let texts = |preview: &WritePreview| preview.new.len() + preview.old.as_ref().map_or(0, |old| old.len());
    let mut all: usize = session.questions.iter().flat_map(|p| &p.previews).map(texts).sum();
    let Some(pending) = session.questions.iter_mut().find(|p| p.req == req && p.asked == asked) else { return };
    for preview in &mut previews {
        if pending.about != About::Permission {
            // A write claims nothing of what was there before.
            preview.differs = None;
        }
        let size = texts(preview);
        if size > MAX_PREVIEW || all + size > MAX_PREVIEWS {
            preview.old = None;
            preview.new = "".into();
        } else {
            all += size;
        }
    }
    pending.previews = previews;
    let entry = pending.entry;
    session.entries.touch(entry);
}

pub fn act(session: &mut Session, action: ReviewAction, cx: &mut Cx) {
    if action == ReviewAction::Close {
        session.review = None;
    }
    // What was told earlier is no answer to what is asked now.
    if matches!(action, ReviewAction::Close | ReviewAction::PreviewRewind { .. }) {
        session.rewind = None;
    }
    if session.changes.is_on {
        cx.push(Effect::Review(ReviewCommand::Act(action)));
    } else if action != ReviewAction::Close {
        cx.push(Effect::FrontEnd(FrontEnd::Said("there is no review in this session".into())));
    }
}

fn done(session: &mut Session, words: String, rewound: &[Rewound], cx: &mut Cx) {
    if !rewound.is_empty() {
        session.rewind = None;
        let mut lines: Vec<String> = rewound.iter().take(MAX_NAMED).map(line).collect();
        if rewound.len() > MAX_NAMED {
            lines.push(format!("… {} more files", rewound.len() - MAX_NAMED));
        }
        notice(session, Level::Info, words.clone(), lines, cx.now);
    }
    if !words.is_empty() {
        cx.push(Effect::FrontEnd(FrontEnd::Said(words)));
    }
}

fn line(rewound: &Rewound) -> String {
    let what = match rewound.outcome {
        RewindOutcome::Restored => "as before",
        RewindOutcome::Removed => "removed",
        RewindOutcome::Merged => "as before, with other changes",
        RewindOutcome::Doubtful => "left alone: nobody said who changed it",
        RewindOutcome::NotKept => "left alone: what it was before is not kept",
        RewindOutcome::Conflict | RewindOutcome::Failed | RewindOutcome::Beside => match &rewound.remark {
            Some(why) => return format!("{}: left alone: {why}", visible(rewound.path.as_os_str())),
            None if rewound.outcome == RewindOutcome::Beside => "left alone: another run of acp-tui wrote it too",
            None if rewound.outcome == RewindOutcome::Conflict => "left alone: these lines were changed since",
            None => "left alone: it could not be written",
        },
    };
    let remark = rewound.remark.as_ref().map(|remark| format!(" ({remark})")).unwrap_or_default();
    format!("{}: {what}{remark}", visible(rewound.path.as_os_str()))
}

/// Says once that something of this sort does not work.
fn trouble(session: &mut Session, what: &str, message: &str, now: Now) {
    if session.noticed.len() < MAX_NOTICED && session.noticed.insert(format!("review: {what}")) {
        notice(session, Level::Warn, message.to_owned(), Vec::new(), now);
    }
}

/// There is room for a review now.
fn begun(session: &mut Session, cx: &mut Cx) {
    if !std::mem::take(&mut session.changes.waits) {
        return;
    }
    (session.changes.is_on, session.changes.off) = (true, None);
    let words = "there is room again, and changes are reviewed from now on: what was changed before is in doubt";
    notice(session, Level::Warn, words, Vec::new(), cx.now);
    if let Some(turn) = session.turn.as_ref().map(|turn| turn.id) {
        begin_late(session, turn, cx);
    }
}

/// The session goes on without a review.
fn off(session: &mut Session, message: &str, cx: &mut Cx) {
    session.changes.off = Some(message.to_owned());
    if !std::mem::take(&mut session.changes.is_on) {
        return;
    }
    notice(session, Level::Warn, format!("no review of changes: {message}"), Vec::new(), cx.now);
    gate::fail_held(session, "the review has ended; the file was not written", cx);
    for turn in std::mem::take(&mut session.changes.ending) {
        close_rule(session, TurnId(turn));
        cx.push(Effect::FrontEnd(FrontEnd::TurnReviewed(TurnId(turn))));
    }
    if let Some(turn) = session.turn.as_ref().map(|t| t.id) {
        prompt::transmit(session, turn, cx);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Model;
    use crate::model::event::{AgentEvent, AgentRequest, Event, HostEvent, PermissionKind, PermissionOption};
    use crate::model::fixture;
    use crate::model::ids::{Now, SessionId};
    use crate::model::patch::Patch;
    use crate::model::reduce::reduce;
    use crate::model::session::Policy;
    use crate::model::tool::{Change, ToolContent, ToolPatch};
    use std::sync::Arc;

    #[test]
    fn however_many_questions_are_open_the_texts_of_their_comparisons_are_bounded() {
        let mut model = Model::new("agent".into(), "/w".into(), Policy::Ask).with_review(true);
        let mut apply = |event: Event| drop(reduce(&mut model, event.at_home(), Now::ZERO));
        fixture::opening().into_iter().chain([fixture::prompt()]).for_each(&mut apply);
        let text: Arc<str> = "x".repeat(MAX_PREVIEW - 1).into();
        for n in 0..50 {
            let content = vec![ToolContent::Change(Change::of_texts("a", None, "b".into()))];
            let tool = ToolPatch { content: Patch::Set(content), ..ToolPatch::new(format!("t{n}").into()) };
            let option = PermissionOption { id: "o".into(), name: "Allow".into(), kind: PermissionKind::AllowOnce };
            let request = AgentRequest::Permission { tool, options: vec![option] }.into();
            apply(Event::Agent(AgentEvent::Request { req: ReqId(n), session: Some(SessionId::from("s")), request }));
            let preview = WritePreview { path: "/w/a".into(), old: None, new: Arc::clone(&text), differs: None };
            let compared = ReviewEvent::Previews { req: ReqId(n), asked: 1, previews: vec![preview] };
            apply(Event::Host(HostEvent::Review(compared)));
        }
        let questions = model.first().session().questions();
        assert!(questions.len() == 50 && questions.iter().all(|question| question.previews.len() == 1));
        let kept: usize = questions.iter().flat_map(|question| &question.previews).map(|one| one.new.len()).sum();
        assert!((MAX_PREVIEWS / 2..=MAX_PREVIEWS).contains(&kept), "{kept}");
    }
}
