//! The terminal is the person's editor's for a while.
//!
//! Knows nothing of what is edited (`editor_session`). Invariant: nothing is drawn until the editor has ended.

use super::ground::ask;
use super::{Exit, Running};
use crate::engine::wait::Signal;
use crate::model::event::Intent;
use crate::ui::editor_session::{EditorSession, Outcome};
use crate::ui::frame::Urgency;
use crate::ui::msg::EditorJob;
use crate::ui::screen::Device;
use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;
use tracing::debug;

/// Lends the terminal to the person's editor. The engine works on meanwhile; nothing is drawn.
pub(super) async fn edit<D: Device>(running: &mut Running<D>, job: EditorJob) -> io::Result<Option<Exit>> {
    let Some(shown) = running.engine.model().at(running.app.shown()) else { return Ok(None) };
    let cwd = PathBuf::from(&shown.cwd);
    let session = match EditorSession::of(job, &cwd) {
        Ok(session) => session,
        Err(error) => {
            running.app.say(format!("no file for the editor: {error}"), running.engine.now());
            return Ok(None);
        }
    };
    running.screen.lend();
    let result = match session.start() {
        Ok(mut child) => loop {
            let Running { screen, engine, .. } = &mut *running;
            let wake = tokio::select! {
                biased;
                signal = screen.signal() => match signal {
                    // Meant for the editor: both belong to the terminal.
                    Signal::Interrupt | Signal::Quit => continue,
                    signal => return Ok(Some(Exit::Signal(signal))),
                },
                status = child.wait() => break status,
                wake = engine.next() => wake,
            };
            running.step(wake);
        },
        Err(error) => Err(error),
    };
    running.screen.take_back()?;
    running.has_left();
    ask(&mut running.screen, &running.options)?;
    debug!(ended_well = result.as_ref().is_ok_and(ExitStatus::success), "back from the editor");
    match session.outcome(result, running.app.view.review.as_ref().map(|r| r.scope)) {
        Outcome::Write(prompt) => running.app.view.composer.set_text(prompt.trim_end()),
        Outcome::Say(words) => running.app.say(words, running.engine.now()),
        Outcome::Act(action) => {
            running.intent(Intent::Review(action));
        }
        Outcome::Nothing => {}
    }
    running.frames.want(Urgency::AtOnce, running.engine.now());
    Ok(None)
}
