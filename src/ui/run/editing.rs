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
use crate::ui::tty::editor::{self, Borrower, Ended};
use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;
use tracing::debug;

/// A pager that ends sooner has not been read in.
const TOO_SHORT_TO_READ: Duration = Duration::from_secs(1);

/// Waits for a program that has the terminal; a signal that ends us comes first, and ends the program too.
async fn lent<D: Device>(running: &mut Running<D>, program: io::Result<Borrower>) -> Result<io::Result<Ended>, Signal> {
    let mut program = match program {
        Ok(program) => program,
        Err(error) => return Ok(Err(error)),
    };
    loop {
        let Running { screen, engine, .. } = &mut *running;
        let wake = tokio::select! {
            biased;
            signal = screen.signal() => match signal {
                // Meant for the program: both belong to the terminal.
                Signal::Interrupt | Signal::Quit => continue,
                signal => {
                    program.end().await;
                    return Err(signal);
                }
            },
            status = program.wait() => return Ok(status),
            wake = engine.next() => wake,
        };
        running.step(wake);
    }
}

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
    // The other program sets its own.
    running.title.clear();
    let begun = running.engine.now();
    let result = match lent(running, session.start()).await {
        Ok(result) => result,
        Err(signal) => return Ok(Some(Exit::Signal(signal))),
    };
    // A pager that only prints has shown nothing as soon as the screen is ours again, however long it took.
    let is_short = running.engine.now().saturating_sub(begun) < TOO_SHORT_TO_READ;
    if session.is_page() && result.as_ref().is_ok_and(|ended| is_short || !ended.took_keys) {
        match lent(running, editor::pause()).await {
            Ok(Ok(_)) => {}
            Ok(Err(error)) => debug!(%error, "what the pager printed is not waited for"),
            Err(signal) => return Ok(Some(Exit::Signal(signal))),
        }
    }
    running.screen.take_back()?;
    running.has_left();
    ask(&mut running.screen, &running.options)?;
    let result = result.map(|ended| ended.status);
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
