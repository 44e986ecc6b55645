//! Terminals of agents, as the engine sees to them: their screens, their ends, and their output where the agent is told of
//! it.
//!
//! Invariant: an agent that is told of output has all of it that is kept before it is told of the exit.

use super::Engine;
use crate::engine::pushing::PIECE;
use crate::host::pty::MAX_OUTPUT_BYTES;
use crate::model::event::HostEvent;
use crate::model::ids::{AgentKey, TermId};
use crate::model::tool::Exit;
use std::time::{Duration, Instant};

/// How long screens of terminals are fetched for one frame; one is fetched at least.
const SCREENS: Duration = Duration::from_millis(4);

/// Pulls new screens of terminals into the model, before a frame is drawn: for a moment, in turn. What is left over
/// asks for another frame.
pub(super) fn refresh_all(engine: &mut Engine) {
    let until = Instant::now() + SCREENS;
    while let Some(id) = engine.terminals.next_dirty() {
        refresh(engine, &id);
        if Instant::now() >= until {
            break;
        }
    }
    if engine.terminals.is_dirty() {
        engine.hint.notify_one();
    }
}

pub(super) fn refresh(engine: &mut Engine, id: &TermId) {
    let now = engine.now();
    if let Some(agent) = engine.core.model().agent_of_log_in(id) {
        if let Some(screen) = engine.terminals.shown(id) {
            engine.core.hint(agent, screen, now);
        }
        return;
    }
    let Some((at, screen, has_moved)) = engine.terminals.refreshed(id, engine.core.model(), now) else { return };
    if has_moved {
        engine.apply(at, HostEvent::TerminalMoved { term: id.clone() });
    }
    engine.core.hint(at, engine.hearing.secrets.screen(screen), now);
}

pub(super) fn exited(engine: &mut Engine, id: TermId, exit: Exit) {
    // Before it is told that the command has ended.
    push(engine, &id, true);
    engine.pushing.end(&id);
    refresh(engine, &id);
    if let Some(agent) = engine.core.model().agent_of_log_in(&id) {
        return engine.apply(agent, HostEvent::LogInEnded { term: id, exit });
    }
    let at = engine.core.model().session_of_terminal(&id).and_then(|at| engine.core.model().session_of(at));
    let is_shell = at.is_some_and(|session| session.is_shell(&id));
    let end = if is_shell { engine.terminals.end_of_shell(&id) } else { engine.terminals.end_of(&id) };
    let end = engine.hearing.secrets.hide(end);
    if let Some(at) = engine.core.model().session_of_terminal(&id) {
        engine.apply(at, HostEvent::TerminalExited { term: id, exit, end });
    }
}

/// A command has been started: its agent may want to be told what it prints.
pub(super) fn begin_to_push(engine: &mut Engine, id: &TermId) {
    let at = engine.core.model().session_of_terminal(id);
    // What the person runs is no agent's.
    let at = at.filter(|at| engine.core.model().session_of(*at).is_some_and(|session| !session.is_shell(id)));
    let agent = at.and_then(|at| engine.core.agent_at(at.into()));
    if let Some(agent) = agent
        && engine.core.connection(agent).is_some_and(|connection| connection.hears_output())
    {
        engine.pushing.begin(id.clone(), agent);
    }
}

/// Tells what has been printed, not too often.
pub(super) fn push_all(engine: &mut Engine) {
    for id in engine.pushing.due() {
        push(engine, &id, false);
    }
}

/// The same of one, and at its end in one piece whatever the agent has not answered yet.
pub(super) fn push(engine: &mut Engine, id: &TermId, is_last: bool) {
    let most = if is_last { MAX_OUTPUT_BYTES as usize } else { PIECE };
    while let Some((agent, position)) = engine.pushing.place(id)
        && (is_last || keeps_up(engine, agent))
        && let Some(more) = engine.terminals.output_after(id, position, most)
        && !more.text.is_empty()
    {
        let text = if more.lost > 0 { format!("\n[{} bytes left out]\n{}", more.lost, more.text) } else { more.text };
        let line = engine.core.connection(agent).and_then(|connection| connection.printed(id.as_str(), &text));
        let Some(line) = line else { return engine.pushing.end(id) };
        engine.pushing.told(id, more.next);
        engine.send(line);
    }
}

fn keeps_up(engine: &mut Engine, agent: AgentKey) -> bool {
    engine.core.connection(agent).is_some_and(|connection| connection.keeps_up())
}
