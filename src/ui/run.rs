//! The loop of the full-screen client: signals, the person, the engine and the clock, in this order.
//!
//! The only file of the screen that holds the engine. Invariants: the first frame is drawn before anything of the
//! agent is waited for; a key is drawn at once, output at most once a frame; with nothing moving there is no timer;
//! the person's terminal is given back before anything else is tidied up.

use super::agent_picker::{AgentPicker, Picked};
use super::editor_session::{EditorSession, Outcome};
use super::frame::{Frames, Urgency};
use super::msg::{EditorJob, FrameInfo, Out, ScrollBy};
use super::screen::{Device, Happening, Screen};
use super::state::UiState;
use super::state::dock::{Dialog, Raw};
use super::status_line;
use super::transcript::Transcript;
use super::tty::{Input, Multiplexer, osc52};
use super::update::{self, Cx};
use super::view::{self, Animation, ViewCx};
use super::work::colours::Colours;
use super::work::highlight::{Coloured, Job};
use crate::engine::wait::{Signal, sleep_until};
use crate::engine::{Engine, LinkWake, Wake};
use crate::model::changes::HunkId;
use crate::model::changes::Scope;
use crate::model::effect::FrontEnd;
use crate::model::event::Intent;
use crate::model::ids::{Addressed, AgentKey, Now, TermId};
use crate::theme::resolve::Theme;
use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;
use tokio::time::Instant;
use tracing::{debug, info, warn};

/// How long what is queued is applied before the screen has its turn.
const DRAIN: Duration = Duration::from_millis(4);
/// Inputs taken together before a frame.
const INPUTS: usize = 512;
/// Lines of the agent's messages that are shown while it is silent.
const STDERR: usize = 200;

pub struct UiOptions {
    /// Already reduced to the colours of the terminal.
    pub theme: Theme,
    pub animation: Animation,
    pub home: Option<PathBuf>,
    pub multiplexer: Multiplexer,
    pub purpose: Purpose,
}

/// What the screen is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Purpose {
    /// A session with an agent.
    Session,
    /// The review of an earlier one, without an agent; it ends when the review is closed.
    Review,
}

/// Why the screen ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exit {
    Quit,
    Signal(Signal),
    /// The terminal does not take or give anything any more.
    TerminalGone,
}

/// How it all ended, for the caller to say once the terminal is the person's again.
#[derive(Debug)]
pub struct Ended {
    pub exit: Exit,
    /// Processes of the agent that moved out of its group; named, not killed.
    pub survivors: Vec<String>,
}

enum Awaited {
    Person(Happening),
    Engine(Wake),
    Coloured(Coloured),
    Frame,
}

/// Lets the person choose an agent.
pub async fn pick<D: Device>(
    screen: &mut Screen<D>,
    mut picker: AgentPicker,
    options: &UiOptions,
    place: &str,
) -> io::Result<Pick> {
    loop {
        screen.draw(|buf| picker.draw(&options.theme, place, buf))?;
        let mut input = match screen.next().await {
            Happening::Signal(signal) => return Ok(Pick::Ended(Exit::Signal(signal))),
            Happening::Gone => return Ok(Pick::Ended(Exit::TerminalGone)),
            Happening::Input(input) => Some(input),
        };
        while let Some(one) = input {
            if is_suspend(&one) {
                screen.suspend()?;
            }
            match picker.input(one) {
                Some(Picked::Agent(id)) => return Ok(Pick::Agent(id)),
                Some(Picked::Quit) => return Ok(Pick::Ended(Exit::Quit)),
                None => input = screen.ready(),
            }
        }
    }
}

fn is_suspend(input: &Input) -> bool {
    use super::keys::{Action, Layer, resolve};
    matches!(input, Input::Key(key) if resolve(Layer::Picker, *key) == Some(Action::Suspend))
}

/// What came of the choice.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Pick {
    Agent(String),
    Ended(Exit),
}

/// Runs a session until the person quits; the terminal is given back first, then the agent is ended.
pub async fn run_on<D: Device>(screen: Screen<D>, engine: Engine, options: UiOptions) -> io::Result<Ended> {
    // On the heap: the futures around it stay small.
    let mut running = Box::new(Running {
        screen,
        engine,
        ui: UiState::default(),
        transcript: Transcript::new(),
        info: FrameInfo::default(),
        frames: Frames::default(),
        options,
        title: String::new(),
        editor: None,
        colours: Colours::default(),
    });
    let ended = running.drive().await;
    let Running { screen, engine, .. } = *running;
    drop(screen);
    let goodbye = engine.shutdown().await;
    Ok(Ended { exit: ended.unwrap_or(Exit::TerminalGone), survivors: goodbye.survivors })
}

struct Running<D: Device> {
    screen: Screen<D>,
    engine: Engine,
    ui: UiState,
    transcript: Transcript,
    info: FrameInfo,
    frames: Frames,
    options: UiOptions,
    title: String,
    /// What the person's editor is to be started for.
    editor: Option<EditorJob>,
    colours: Colours,
}

impl<D: Device> Running<D> {
    /// An error means that the terminal is gone.
    async fn drive(&mut self) -> io::Result<Exit> {
        self.draw()?;
        match self.options.purpose {
            Purpose::Session => {
                let news = self.engine.intent(Intent::Start);
                self.news(news);
            }
            Purpose::Review => self.open_review()?,
        }
        self.frames.want(Urgency::AtOnce, self.engine.now());
        loop {
            if self.options.purpose == Purpose::Review && self.ui.review.is_none() {
                return Ok(Exit::Quit);
            }
            if self.frames.is_due(self.engine.now()) {
                self.draw()?;
            }
            match self.wait().await {
                Awaited::Person(Happening::Signal(signal)) => {
                    info!(?signal, "ends");
                    return Ok(Exit::Signal(signal));
                }
                Awaited::Person(Happening::Gone) => {
                    warn!("the terminal is gone");
                    return Ok(Exit::TerminalGone);
                }
                Awaited::Frame => {}
                Awaited::Engine(wake) => self.step(wake),
                Awaited::Person(Happening::Input(input)) => {
                    if let Some(exit) = self.inputs(input)? {
                        return Ok(exit);
                    }
                    if let Some(job) = self.editor.take()
                        && let Some(exit) = self.edit(job).await?
                    {
                        return Ok(exit);
                    }
                }
                Awaited::Coloured(found) => {
                    if let Some(review) = &mut self.ui.review {
                        review.colour(&found.path, HunkId(found.id), found.lines);
                        self.frames.want(Urgency::NextFrame, self.engine.now());
                    }
                }
            }
        }
    }

    fn open_review(&mut self) -> io::Result<()> {
        let cx = Cx { model: self.engine.model(), frame: &self.info, now: self.engine.now() };
        let mut out = Vec::new();
        update::review::open(&mut self.ui, cx, Scope::Pending, &mut out);
        for one in out {
            self.carry_out(one)?;
        }
        Ok(())
    }

    async fn wait(&mut self) -> Awaited {
        let pause = self.frames.deadline().map(|at| at.saturating_sub(self.engine.now()));
        let until = pause.map(|pause| (Instant::now() + pause).into_std());
        let Self { screen, engine, colours, .. } = self;
        tokio::select! {
            biased;
            happening = screen.next() => Awaited::Person(happening),
            wake = engine.next() => Awaited::Engine(wake),
            found = colours.next() => Awaited::Coloured(found),
            () = sleep_until(until) => Awaited::Frame,
        }
    }

    fn step(&mut self, wake: Wake) {
        // What is not in the model but may be on the screen; the model itself tells whether it has changed, also by
        // what came with the wake.
        let visible = match &wake {
            Wake::Hint => true,
            Wake::Link(_, LinkWake::Stderr(_)) => self.ui.dock.dialog == Some(Dialog::Silent),
            _ => false,
        };
        let before = self.engine.version();
        let mut news = self.engine.step(wake);
        news.extend(self.engine.drain(DRAIN));
        let changed = visible || !news.is_empty() || self.engine.version() != before;
        self.news(news);
        self.ui.sync(self.engine.model(), self.engine.now());
        if changed {
            self.frames.want(Urgency::NextFrame, self.engine.now());
        }
    }

    fn news(&mut self, news: Vec<Addressed<FrontEnd>>) {
        let now = self.engine.now();
        for one in news {
            update::news(&mut self.ui, one.what, now);
        }
    }

    /// What the person did, and what else has been read already: one frame for all of it.
    fn inputs(&mut self, first: Input) -> io::Result<Option<Exit>> {
        let mut next = Some(first);
        let mut typed: Option<(TermId, Vec<u8>)> = None;
        for _ in 0..INPUTS {
            let Some(input) = next.take() else { break };
            let cx = Cx { model: self.engine.model(), frame: &self.info, now: self.engine.now() };
            for out in update::input(&mut self.ui, cx, input) {
                if let Out::Type(term, bytes) = out {
                    // A terminal takes few pieces at a time, whatever their size.
                    match &mut typed {
                        Some((same, all)) if *same == term => all.extend(bytes),
                        _ => self.type_into(typed.replace((term, bytes))),
                    }
                    continue;
                }
                self.type_into(typed.take());
                if let Some(exit) = self.carry_out(out)? {
                    return Ok(Some(exit));
                }
            }
            next = self.screen.ready();
        }
        self.type_into(typed);
        self.frames.want(Urgency::AtOnce, self.engine.now());
        Ok(None)
    }

    fn carry_out(&mut self, out: Out) -> io::Result<Option<Exit>> {
        match out {
            Out::Intent(intent) => {
                let news = self.engine.intent(intent);
                self.news(news);
                self.ui.sync(self.engine.model(), self.engine.now());
            }
            Out::Scroll(by) => self.scroll(by),
            Out::Type(term, bytes) => self.type_into(Some((term, bytes))),
            Out::Copy(text) => match osc52(&text, self.options.multiplexer) {
                Ok(bytes) => self.screen.send(&bytes)?,
                Err(error) => self.ui.say(format!("not copied: {error}"), self.engine.now()),
            },
            Out::Mouse(mouse) => self.screen.set_mouse(mouse)?,
            Out::Edit(job) => self.editor = Some(job),
            Out::Suspend => self.screen.suspend()?,
            Out::Redraw => self.screen.invalidate(),
            Out::Quit => return Ok(Some(Exit::Quit)),
        }
        Ok(None)
    }

    /// Lends the terminal to the person's editor. The engine works on meanwhile; nothing is drawn.
    async fn edit(&mut self, job: EditorJob) -> io::Result<Option<Exit>> {
        let cwd = PathBuf::from(&self.engine.model().session().cwd);
        let session = match EditorSession::of(job, &cwd) {
            Ok(session) => session,
            Err(error) => {
                self.ui.say(format!("no file for the editor: {error}"), self.engine.now());
                return Ok(None);
            }
        };
        self.screen.lend();
        let result = match session.start() {
            Ok(mut child) => loop {
                let Self { screen, engine, .. } = self;
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
                self.step(wake);
            },
            Err(error) => Err(error),
        };
        self.screen.take_back()?;
        debug!(ended_well = result.as_ref().is_ok_and(ExitStatus::success), "back from the editor");
        match session.outcome(result, self.ui.review.as_ref().map(|r| r.scope)) {
            Outcome::Say(words) => self.ui.say(words, self.engine.now()),
            Outcome::Act(action) => {
                let news = self.engine.intent(Intent::Review(action));
                self.news(news);
                self.ui.sync(self.engine.model(), self.engine.now());
            }
            Outcome::Nothing => {}
        }
        self.frames.want(Urgency::AtOnce, self.engine.now());
        Ok(None)
    }

    /// Has what is in view coloured, one hunk at a time; without a review there is no worker.
    fn colour(&mut self) {
        let Some(review) = &mut self.ui.review else {
            self.colours = Colours::default();
            return;
        };
        let Some(frame) = self.info.review.as_ref().filter(|_| self.colours.is_idle()) else { return };
        if let Some((path, hunk, lines)) = review.uncoloured(frame.hunk_rows.iter().map(|(_, spot)| spot.hunk)) {
            self.colours.ask(Job { path, id: hunk.0, lines });
        }
    }

    fn type_into(&mut self, typed: Option<(TermId, Vec<u8>)>) {
        if let Some((term, bytes)) = typed
            && !self.engine.type_into(&term, &bytes)
        {
            self.ui.say("not typed: the command does not read", self.engine.now());
        }
    }

    fn scroll(&mut self, by: ScrollBy) {
        let area = self.info.transcript;
        if area.is_empty() {
            if by == ScrollBy::End {
                self.ui.scroll = super::state::scroll::Scroll::Follow;
            }
            return;
        }
        let mut scroll = self.ui.scroll;
        let cx = view_cx(&self.engine, &self.ui, &self.options, self.engine.now());
        let cx = cx.draw_ctx();
        let page = i32::from(area.height).saturating_sub(1).max(1);
        match by {
            ScrollBy::Rows(rows) => self.transcript.scroll_by(&cx, area, &mut scroll, rows),
            ScrollBy::Pages(pages) => {
                self.transcript.scroll_by(&cx, area, &mut scroll, pages.saturating_mul(page));
            }
            ScrollBy::Top => self.transcript.to_top(&cx, area, &mut scroll),
            ScrollBy::End => self.transcript.to_end(&cx, area, &mut scroll),
        }
        self.ui.scroll = scroll;
    }

    fn draw(&mut self) -> io::Result<()> {
        self.engine.refresh_terminals();
        let now = self.engine.now();
        self.ui.sync(self.engine.model(), now);
        if self.ui.dock.dialog == Some(Dialog::Silent) {
            let lines = if self.ui.dock.all_stderr == Raw::Shown { STDERR } else { 3 };
            self.ui.dock.stderr = self.engine.stderr_tail(AgentKey::FIRST, lines);
        }
        let Self { screen, engine, ui, transcript, info, options, .. } = self;
        let cx = view_cx(engine, ui, options, now);
        screen.draw(|buf| {
            *info = view::draw(&cx, transcript, buf);
            info.cursor.map(|at| (at.x, at.y))
        })?;
        self.ui.scroll = self.info.scroll;
        self.frames.drawn(self.info.motion, now);
        if let (Some(review), Some(frame)) = (&mut self.ui.review, &self.info.review)
            && review.measure(frame.measured)
        {
            self.frames.want(Urgency::NextFrame, now);
        }
        if self.transcript.is_behind() {
            self.frames.want(Urgency::NextFrame, now);
        }
        if let Some(at) = self.ui.next_change(self.engine.model(), now) {
            self.frames.want_at(at);
        }
        self.colour();
        let title = status_line::terminal_title(self.engine.model());
        if title != self.title {
            self.screen.set_title(&title)?;
            self.title = title;
        }
        Ok(())
    }
}

fn view_cx<'a>(engine: &'a Engine, ui: &'a UiState, options: &'a UiOptions, now: Now) -> ViewCx<'a> {
    ViewCx {
        model: engine.model(),
        state: ui,
        theme: &options.theme,
        now,
        animation: options.animation,
        home: options.home.as_deref(),
    }
}
