//! Facts from this machine that are of one session: files, terminals and its review.

use super::super::audit::{By, Decision, Matter, Outcome};
use super::super::effect::{Answer, Effect};
use super::super::entry::{Body, FileOutcome, FileVerb, Level};
use super::super::event::{HostEvent, Timer, WriteFact};
use super::super::ids::{EntryId, Now, ReqId, TermId, TurnId};
use super::super::judge::Place;
use super::super::refusal::{Reason, Refusal};
use super::super::session::{Session, Waiter, Write};
use super::super::terminal::{Terminal, TerminalOrigin};
use super::super::tool::Exit;
use super::Cx;
use super::{audit, gate, notice, permission_mode, prompt, review, ruling, service, shell};
use crate::base::limits::{self, MAX_TEXT};
use crate::base::shared::SharedText;
use crate::text::grid::ScreenSnapshot;
use std::path::PathBuf;
use std::sync::Arc;

/// Bytes that the transcript keeps of a text of which it does not keep all: the file has it, and the journal.
const BEGIN: usize = 256 << 10;

pub fn fact(session: &mut Session, event: HostEvent, cx: &mut Cx) {
    match event {
        HostEvent::FileRead { req, path, result } => file_read(session, req, &path, result, cx),
        HostEvent::FileWritten { req, result, .. } => file_written(session, req, result, cx),
        HostEvent::WriteChecked { req, real, outside, result, .. } => {
            let place = match (result, real.map(PathBuf::from)) {
                (Err(why), _) => Place::Forbidden(why),
                (Ok(()), Some(real)) if outside => Place::Outside(real),
                (Ok(()), real) => Place::Inside(real),
            };
            gate::checked(session, req, place, cx);
        }
        HostEvent::HookAsked { req } => ruling::hook_asked(session, req, cx),
        HostEvent::Ruled { req, ruling } => ruling::ruled(session, req, ruling, cx),
        HostEvent::RanDenied { entry, ruling } => ruling::ran_denied(session, entry, &ruling, cx),
        HostEvent::RulesWeighed(weighing) => ruling::weighed(session, weighing),
        HostEvent::RulesHeld(rules) => ruling::held(session, rules, cx),
        HostEvent::RulesMade { made, unkept, fault } => ruling::made(session, made, unkept, fault, cx),
        HostEvent::RulesKept(rules) => session.rules.kept = Some(rules),
        HostEvent::RuleDropped { rule, fault } => ruling::dropped(session, rule, fault, cx),
        HostEvent::RulesChanged => ruling::rules_changed(session, cx),
        HostEvent::PermissionMode(choice) => permission_mode::choose(session, choice, By::Flag, cx),
        HostEvent::TerminalStarted { req, term } => terminal_started(session, req, term, cx),
        HostEvent::TerminalFailed { req, error } => {
            if let Some(spec) = session.creating.remove(&req) {
                let words = format!("could not run {}: {}", spec.line(), error.message);
                notice(session, Level::Warn, words, Vec::new(), cx.now);
            }
            review::command_started(session, req, None, cx);
            cx.push(Effect::Respond { req, answer: Answer::Error(error) });
        }
        HostEvent::TerminalExited { term, exit, end } => {
            if !shell::exited(session, &term, &exit, &end, cx) {
                terminal_exited(session, &term, exit, &end, cx);
            }
        }
        HostEvent::ShellStarted { term, line } => shell::started(session, term, line, cx),
        HostEvent::ShellFailed { line, message } => shell::failed(session, &line, &message, cx),
        HostEvent::TerminalMoved { term } if shell::moved(session, &term, None, cx.now) => {}
        HostEvent::TerminalMoved { term } => {
            if let Some(terminal) = session.terminals.get_mut(&term) {
                terminal.moved = cx.now;
                touch_shown(session, &term);
            }
        }
        HostEvent::OpenedBefore { age } => session.age = Some((cx.now, age)),
        HostEvent::ServersFound(names) => session.servers.find(names),
        HostEvent::Review(event) => review::fact(session, event, cx),
        HostEvent::Warning { message } => {
            notice(session, Level::Warn, message, Vec::new(), cx.now);
        }
        // Of the agent, or of no session in particular.
        HostEvent::AgentSpawned { .. }
        | HostEvent::AgentConfined(_)
        | HostEvent::Connecting(_)
        | HostEvent::ReachedOver(_)
        | HostEvent::AsksNothing
        | HostEvent::ConnectionLost { .. }
        | HostEvent::SpawnFailed { .. }
        | HostEvent::AgentExited { .. }
        | HostEvent::LogInPrinted { .. }
        | HostEvent::LogInStarted { .. }
        | HostEvent::LogInFailed { .. }
        | HostEvent::LogInEnded { .. }
        | HostEvent::LogInSet { .. }
        | HostEvent::LogInTyped { .. }
        | HostEvent::KeyringGave { .. }
        | HostEvent::KeyringTook { .. }
        | HostEvent::KeyringForgot { .. }
        | HostEvent::StdoutClosed { .. }
        | HostEvent::ConnectionDropped { .. }
        | HostEvent::NothingHeard
        | HostEvent::Recalled(_)
        | HostEvent::JournalFailed { .. }
        | HostEvent::JournalWaits { .. }
        | HostEvent::JournalGoesOn { .. }
        | HostEvent::Budget(_)
        | HostEvent::Spent(_)
        | HostEvent::ClockSet(_)
        | HostEvent::Directories(_) => {}
    }
}

/// What a terminal of ours shows.
pub fn screen(session: &mut Session, id: &TermId, screen: Arc<ScreenSnapshot>, now: Now) {
    if shell::moved(session, id, Some(Arc::clone(&screen)), now) {
        return;
    }
    if let Some(terminal) = session.terminals.get_mut(id) {
        terminal.screen = Some(screen);
        touch_shown(session, id);
    }
}

/// Entries that show a terminal are drawn anew.
fn touch_shown(session: &mut Session, id: &TermId) {
    let Some(terminal) = session.terminals.get(id) else { return };
    for entry in terminal.entry.iter().chain(&terminal.embedded) {
        session.entries.touch(*entry);
    }
}

fn file_read(session: &mut Session, req: ReqId, path: &str, result: Result<String, Refusal>, cx: &mut Cx) {
    gate::read_unasked(session, req);
    let answer = match result {
        Ok(text) => match session.slices.remove(&req) {
            Some(slice) => slice.of(&text),
            None => Answer::Content { text, lines: None },
        },
        // Of a file that is too large to be counted, the part is read all the same.
        Err(error)
            if error.why == Reason::TooLarge
                && let Some(again) = service::read_part(session, req) =>
        {
            return cx.push(again);
        }
        Err(error) => {
            // A file that is not there is an everyday answer; anything else is shown.
            if error.why != Reason::NotFound {
                last_word(Matter::Read, path, &error, cx);
                service::refuse_file_because(session, FileVerb::Read, path, error.words().to_owned(), cx.now);
            }
            Answer::Error(error)
        }
    };
    cx.push(Effect::Respond { req, answer });
}

/// What was allowed turned out to be something that is not, when it was about to be done.
fn last_word(event: Matter, path: &str, error: &Refusal, cx: &mut Cx) {
    if let Reason::DeniedByPolicy | Reason::Outside = error.why {
        let reason = Some(error.words().to_owned());
        audit::tell(cx, || Decision { reason, ..Decision::new(event, path, Outcome::Deny, By::Client) });
    }
}

/// What the transcript keeps of what was there and was written: of a long text the begin, which is compared with nothing.
fn shown(old: Option<String>, new: &SharedText) -> (Option<Arc<str>>, Arc<str>) {
    if new.len() > MAX_TEXT { (None, limits::cut(&**new, BEGIN).into()) } else { (old.map(Arc::from), new.into()) }
}

pub fn file_written(session: &mut Session, req: ReqId, result: Result<WriteFact, Refusal>, cx: &mut Cx) {
    let Some(Write { entry, path, content: new, .. }) = session.writes.remove(&req) else { return };
    let mut outside = None;
    let (outcome, answer) = match result {
        Ok(WriteFact { created, bytes, old, outside: real }) => {
            outside = real;
            let answer = Answer::Written { bytes, created };
            let (old, new) = shown(old, &new);
            (FileOutcome::Written { created, bytes, old, new }, answer)
        }
        Err(error) => {
            last_word(Matter::Write, &path, &error, cx);
            (FileOutcome::Refused(error.words().to_owned()), Answer::Error(error))
        }
    };
    session.entries.change(entry, |e| {
        e.finished = true;
        if let Body::File(op) = &mut e.body {
            op.outcome = outcome;
            if let Some(real) = &outside {
                (op.path, op.is_outside) = (real.clone(), true);
            }
        }
    });
    if let Some(real) = outside {
        review::wrote_outside(session, &real);
    }
    cx.push(Effect::Respond { req, answer });
}

fn terminal_started(session: &mut Session, req: ReqId, term: TermId, cx: &mut Cx) {
    let Some(spec) = session.creating.remove(&req) else {
        // The agent that asked for it is gone.
        review::command_started(session, req, None, cx);
        return cx.push(Effect::TerminalKill(term));
    };
    let turn = session.last_turn;
    let entry = session.entries.push(turn, cx.now, Body::Terminal(term.clone()));
    let command = spec.line();
    let cwd = spec.cwd.clone().unwrap_or_else(|| session.cwd.clone());
    // A tool call may have named the id before the terminal was there.
    let embedded = session.terminals.remove(&term).map(|t| t.embedded).unwrap_or_default();
    let fresh = Terminal::new(term.clone(), TerminalOrigin::Ours, turn, cx.now);
    session.terminals.insert(term.clone(), Terminal { command, cwd, entry: Some(entry), embedded, ..fresh });
    let grace = prompt::grace_of_terminals(session);
    let cancelled = session.turn.as_ref().and_then(|t| t.cancelling);
    let too_late = cancelled.is_some_and(|since| cx.now.saturating_sub(since) >= grace);
    if too_late {
        cx.push(Effect::TerminalKill(term.clone()));
    }
    if let Some(after) = spec.patience {
        session.limited.insert(req, term.clone());
        cx.push(Effect::StartTimer { timer: Timer::Command(req), after });
    }
    review::command_started(session, req, Some(entry), cx);
    cx.push(Effect::Respond { req, answer: Answer::Terminal(term) });
}

fn terminal_exited(session: &mut Session, term: &TermId, exit: Exit, end: &str, cx: &mut Cx) {
    let Some(terminal) = session.terminals.get_mut(term) else { return };
    terminal.exit = Some(exit.clone());
    terminal.ended = Some(cx.now);
    if terminal.screen.is_none() {
        terminal.text.push(end);
    }
    for Waiter { req, with_output } in terminal.waiters.drain(..) {
        cx.push(service::exited(req, term, &exit, with_output));
    }
    let shown: Vec<EntryId> = terminal.embedded.clone();
    let own = terminal.entry;
    if let Some(own) = own {
        session.entries.finish(own);
        review::command_ended(session, own, cx);
    }
    for entry in shown {
        session.entries.touch(entry);
    }
}

/// The time that a command had is over.
pub fn command_over(session: &mut Session, req: ReqId, cx: &mut Cx) {
    let Some(term) = session.limited.remove(&req) else { return };
    if session.terminals.get(&term).is_some_and(|terminal| terminal.exit.is_none()) {
        cx.push(Effect::TerminalKill(term));
    }
}

/// what a cancelled turn left running.
pub fn kill_terminals_of(session: &mut Session, turn: TurnId, cx: &mut Cx) {
    for terminal in session.terminals.values() {
        if terminal.turn == turn && terminal.origin == TerminalOrigin::Ours && terminal.exit.is_none() {
            cx.push(Effect::TerminalKill(terminal.id.clone()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_text_that_was_written_the_begin_is_kept() {
        let (old, new) = shown(Some("old".into()), &"x".repeat(MAX_TEXT).into());
        assert_eq!((old.as_deref(), new.len()), (Some("old"), MAX_TEXT));
        let (old, new) = shown(Some("old".into()), &"x".repeat(30 << 20).into());
        assert!(old.is_none() && new.len() < BEGIN + 100 && new.ends_with(" bytes left out]"), "{}", new.len());
    }
}
