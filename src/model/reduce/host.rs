//! Facts from this machine: the agent process, files and terminals.

use super::super::Model;
use super::super::effect::{Answer, Effect, FrontEnd};
use super::super::entry::{Body, FileOutcome, FileVerb, Level};
use super::super::event::{HostEvent, WriteFact};
use super::super::ids::{EntryId, Now, ReqId, TermId, TurnId};
use super::super::refusal::{Reason, Refusal};
use super::super::session::{DeathKind, Phase, Terminal, TerminalOrigin};
use super::super::tool::Exit;
use super::{gate, lifecycle, notice, prompt, review, service};
use crate::base::human;
use std::sync::Arc;

pub fn host_event(model: &mut Model, event: HostEvent, now: Now, out: &mut Vec<Effect>) {
    match event {
        HostEvent::AgentSpawned { .. } => lifecycle::spawned(model, now, out),
        HostEvent::SpawnFailed { message, hint } => {
            lifecycle::die(model, DeathKind::NotStarted, message, hint, Vec::new(), now, out);
        }
        HostEvent::LogInPrinted { line } => {
            lifecycle::login_line(model, &line, now);
        }
        HostEvent::AgentExited { exit, stderr } => exited(model, &exit, stderr, now, out),
        HostEvent::StdoutClosed { stderr } => {
            let (message, hint) = gone(model, "closed its output while it was still running");
            lifecycle::die(model, kind_of_end(model), message, hint, stderr, now, out);
        }
        HostEvent::ConnectionDropped { why } => {
            lifecycle::die(model, DeathKind::Gone, why, String::new(), Vec::new(), now, out);
        }
        HostEvent::FileRead { req, path, result } => file_read(model, req, &path, result, now, out),
        HostEvent::FileWritten { req, result, .. } => file_written(model, req, result, out),
        HostEvent::WriteChecked { req, path, result } => gate::checked(model, req, path, result, now, out),
        HostEvent::TerminalStarted { req, term } => terminal_started(model, req, term, now, out),
        HostEvent::TerminalFailed { req, error } => {
            if let Some(spec) = model.creating.remove(&req) {
                let words = format!("could not run {}: {}", spec.line(), error.message);
                notice(model, Level::Warn, words, Vec::new(), now);
            }
            out.push(Effect::Respond { req, answer: Answer::Error(error) });
        }
        HostEvent::TerminalExited { term, exit, end } => terminal_exited(model, &term, exit, &end, now, out),
        HostEvent::TurnCovered { turn, covered } => review::covered(model, turn, covered, now, out),
        HostEvent::TurnReviewed { turn, totals, session, after } => {
            review::seen(model, session, after);
            review::reviewed(model, turn, totals, now, out);
        }
        HostEvent::ChangesSeen { session, after } => review::seen(model, session, after),
        HostEvent::Truths { req, asked, truths } => review::truths(model, req, asked, truths),
        HostEvent::WriteHeld { req } => gate::held(model, req, now, out),
        HostEvent::NotKept { req } => gate::not_kept(model, req, out),
        HostEvent::WriteAgain { req } => gate::again(model, req, now, out),
        HostEvent::HeldDecided { req, outcome } => gate::decided(model, req, outcome, out),
        HostEvent::ReviewDone { words, rewound } => review::done(model, words, &rewound, now, out),
        HostEvent::RewindPreviewed { turn, rewound } => model.show_rewind(Some((turn, rewound))),
        HostEvent::ReviewWrites { done, of } => {
            let (done, of) = (human::thousands(done as u64), human::thousands(of as u64));
            out.push(Effect::FrontEnd(FrontEnd::Said(format!("writing: {done} of {of} files"))));
        }
        HostEvent::ReviewFailed { message } => out.push(Effect::FrontEnd(FrontEnd::Said(message))),
        HostEvent::ReviewTrouble { what, message } => review::trouble(model, &what, &message, now),
        HostEvent::ReviewOff { message } => review::off(model, &message, now, out),
        HostEvent::Warning { message } => {
            notice(model, Level::Warn, message, Vec::new(), now);
        }
        HostEvent::JournalFailed { message } => {
            notice(model, Level::Warn, format!("the journal is not written any more: {message}"), Vec::new(), now);
        }
    }
}

fn kind_of_end(model: &Model) -> DeathKind {
    if matches!(model.phase, Phase::Starting { .. }) { DeathKind::Early } else { DeathKind::Gone }
}

fn gone(model: &Model, how: &str) -> (String, String) {
    let message = if kind_of_end(model) == DeathKind::Early {
        format!("`{}` {how} before it answered initialize", model.agent.command)
    } else {
        format!("the agent {how}")
    };
    let talks = model.suggestion.is_some() || model.agent.early_stray.is_some();
    let early = kind_of_end(model) == DeathKind::Early;
    let hint = if early && talks { model.interface_hint() } else { String::new() };
    (message, hint)
}

fn exited(model: &mut Model, exit: &Exit, stderr: Vec<String>, now: Now, out: &mut Vec<Effect>) {
    model.agent.alive = false;
    let how = match (&exit.signal, exit.code) {
        (Some(signal), _) => format!("was killed by {signal}"),
        (None, Some(code)) => format!("ended: exit {code}"),
        (None, None) => "ended".to_owned(),
    };
    let (message, hint) = gone(model, &how);
    let mut detail = stderr;
    if detail.is_empty()
        && kind_of_end(model) == DeathKind::Early
        && let Some(stray) = &model.agent.early_stray
    {
        detail.push(stray.clone());
    }
    lifecycle::die(model, kind_of_end(model), message, hint, detail, now, out);
}

fn file_read(
    model: &mut Model,
    req: ReqId,
    path: &str,
    result: Result<String, Refusal>,
    now: Now,
    out: &mut Vec<Effect>,
) {
    let answer = match result {
        Ok(content) => Answer::Content(content),
        Err(error) => {
            // A file that is not there is an everyday answer; anything else is shown.
            if error.why != Reason::NotFound {
                service::refuse_file_because(model, FileVerb::Read, path, error.message.clone(), now);
            }
            Answer::Error(error)
        }
    };
    out.push(Effect::Respond { req, answer });
}

pub fn file_written(model: &mut Model, req: ReqId, result: Result<WriteFact, Refusal>, out: &mut Vec<Effect>) {
    let Some((entry, new)) = model.writes.remove(&req) else { return };
    let (outcome, answer) = match result {
        Ok(WriteFact { created, bytes, old }) => {
            (FileOutcome::Written { created, bytes, old: old.map(Arc::from), new }, Answer::Empty)
        }
        Err(error) => (FileOutcome::Refused(error.message.clone()), Answer::Error(error)),
    };
    model.entries.change(entry, |e| {
        e.finished = true;
        if let Body::File(op) = &mut e.body {
            op.outcome = outcome;
        }
    });
    out.push(Effect::Respond { req, answer });
}

fn terminal_started(model: &mut Model, req: ReqId, term: TermId, now: Now, out: &mut Vec<Effect>) {
    // Whoever asked for it is gone.
    let Some(spec) = model.creating.remove(&req) else { return out.push(Effect::TerminalKill(term)) };
    let turn = model.last_turn;
    let entry = model.entries.push(turn, now, Body::Terminal(term.clone()));
    let command = spec.line();
    let cwd = spec.cwd.unwrap_or_else(|| model.session.cwd.clone());
    // A tool call may have named the id before the terminal was there.
    let embedded = model.terminals.remove(&term).map(|t| t.embedded).unwrap_or_default();
    let fresh = Terminal::new(term.clone(), TerminalOrigin::Ours, turn, now);
    model.terminals.insert(term.clone(), Terminal { command, cwd, entry: Some(entry), embedded, ..fresh });
    let grace = prompt::grace_of_terminals(model);
    let cancelled = model.session.turn.as_ref().and_then(|t| t.cancelling);
    let too_late = cancelled.is_some_and(|since| now.saturating_sub(since) >= grace);
    if too_late {
        out.push(Effect::TerminalKill(term.clone()));
    }
    review::command(model, entry, false, out);
    out.push(Effect::Respond { req, answer: Answer::Terminal(term) });
}

fn terminal_exited(model: &mut Model, term: &TermId, exit: Exit, end: &str, now: Now, out: &mut Vec<Effect>) {
    let Some(terminal) = model.terminals.get_mut(term) else { return };
    terminal.exit = Some(exit.clone());
    terminal.ended = Some(now);
    if terminal.screen.is_none() {
        terminal.text.push(end);
    }
    for req in terminal.waiters.drain(..) {
        out.push(Effect::Respond { req, answer: Answer::Exit(exit.clone()) });
    }
    let shown: Vec<EntryId> = terminal.embedded.clone();
    let own = terminal.entry;
    if let Some(own) = own {
        model.entries.finish(own);
        review::command(model, own, true, out);
    }
    for entry in shown {
        model.entries.touch(entry);
    }
}

/// what a cancelled turn left running.
pub fn kill_terminals_of(model: &mut Model, turn: TurnId, out: &mut Vec<Effect>) {
    for terminal in model.terminals.values() {
        if terminal.turn == turn && terminal.origin == TerminalOrigin::Ours && terminal.exit.is_none() {
            out.push(Effect::TerminalKill(terminal.id.clone()));
        }
    }
}
