//! Tells a person who looks elsewhere: notices, progress, and what this program is at.
//!
//! What is told is decided by `ui::notify`; this file knows how this terminal takes it. Invariant: what the terminal shows
//! is sent again only when it has changed.

use super::Running;
use crate::ui::notify::{Asks, Notice, Status, Watch};
use crate::ui::screen::Device;
use crate::ui::tty::outside::{self, Channel, Progress};
use crate::ui::tty::{Beside, Input, Told};
use crate::ui::work::programs::Run;
use std::io;
use std::time::Duration;

/// A program of the person's that tells them is ended after so long.
const PATIENCE: Duration = Duration::from_secs(10);

/// How a person who looks elsewhere is told.
#[derive(Clone, Default)]
pub struct Outside {
    pub notices: Notices,
    /// The terminal shows how far the work is.
    pub shows_progress: bool,
    /// It can be asked whether it shows what programs are at.
    pub takes_questions: bool,
}

#[derive(Clone, Default)]
pub enum Notices {
    #[default]
    Off,
    Terminal(Channel),
    /// A program and its arguments, which title and text follow, and how it is run.
    Program(Vec<String>, Run),
}

/// What was told.
#[derive(Default)]
pub(super) struct Telling {
    watch: Watch,
    /// The terminal shows what programs are at.
    takes_status: bool,
    /// What it shows of this one, once anything is.
    shown: Option<Status>,
}

impl Telling {
    pub(super) fn hear(&mut self, input: &Input) {
        match input {
            Input::Focus(has_it) => self.watch.focus(*has_it),
            Input::Key(_) | Input::Paste(_) | Input::Mouse { .. } => self.watch.focus(true),
            Input::Told(Told::TakesStatus) => {
                self.takes_status = true;
                self.shown = None;
            }
            Input::Hasty(_) | Input::Resize(..) | Input::Told(_) => {}
        }
    }

    /// The terminal was given back, and has forgotten what it showed.
    pub(super) fn has_left(&mut self) {
        self.shown = None;
    }
}

/// What of the person's files could not be used: the first screen names it, and where there is none it is said.
pub(super) fn take_remarks<D: Device>(running: &mut Running<D>) {
    running.app.remarks = std::mem::take(&mut running.options.remarks);
    if let Some(first) = running.app.remarks.first().cloned()
        && (running.app.is_inline || running.engine.model().first().is_to_go_on())
    {
        let more = if running.app.remarks.len() > 1 { " · acp-tui doctor names the others" } else { "" };
        running.app.say(format!("{first}{more}"), running.engine.now());
    }
}

/// Tells what has changed since the last frame.
pub(super) fn tell<D: Device>(running: &mut Running<D>) -> io::Result<()> {
    let Running { screen, engine, app, options, telling, .. } = running;
    let notices = telling.watch.look(engine.model(), app, engine.now());
    let status = telling.watch.status(engine.model(), app);
    for Notice { session, title, body } in notices {
        match &options.outside.notices {
            Notices::Off => {}
            Notices::Terminal(channel) => {
                screen.send(&outside::notice(*channel, session.0.into(), &title, &body, options.multiplexer))?;
            }
            Notices::Program(words, run) => {
                // Begins with our own name: what agents are called must not be an option.
                let words = words.iter().cloned().chain([format!("acp-tui: {title}"), body]).collect();
                tokio::spawn(run(words, Vec::new(), PATIENCE));
            }
        }
    }
    // That nothing goes on need not be said to a terminal that was told nothing.
    if telling.shown == Some(status) || telling.shown.is_none() && status == Status::Idle {
        return Ok(());
    }
    telling.shown = Some(status);
    if options.outside.shows_progress {
        screen.show_beside(Beside::Progress, outside::progress(progress(status)))?;
    }
    if telling.takes_status {
        let (state, kind) = state(status);
        screen.show_beside(Beside::Status, &outside::status(state, kind))?;
    }
    Ok(())
}

const fn progress(status: Status) -> Progress {
    match status {
        Status::Idle | Status::Done => Progress::None,
        Status::Working => Progress::Working,
        Status::Blocked(_) => Progress::Waits,
        Status::Failed => Progress::Failed,
    }
}

const fn state(status: Status) -> (&'static str, Option<&'static str>) {
    match status {
        Status::Idle => ("idle", None),
        Status::Working => ("working", None),
        Status::Done => ("done", None),
        Status::Failed => ("error", None),
        Status::Blocked(Asks::Permission) => ("blocked", Some("permission")),
        Status::Blocked(Asks::Question) => ("blocked", Some("question")),
        Status::Blocked(Asks::LogIn) => ("blocked", Some("auth")),
    }
}
