//! The loop of the full-screen client: signals, the person, the engine and the clock, in this order.
//!
//! The only file of the screen that holds the engine. Invariants: the first frame is drawn before anything of the
//! agent is waited for; a key is drawn at once, output at most once a frame; with nothing moving there is no timer;
//! the person's terminal is given back before anything else is tidied up.

use super::agent_picker::{AgentPicker, Picked};
use super::frame::{Frames, Urgency};
use super::keys::Mouse;
use super::msg::{EditorJob, FrameInfo, Out, ScrollBy};
use super::state::UiState;
use super::state::dock::{Dialog, Raw};
use super::transcript::Transcript;
use super::tty::editor::{self, Draft};
use super::tty::{Input, InputStream, Multiplexer, Surface, Tty, TtyOut, osc52};
use super::update::{self, Cx};
use super::view::{self, Animation, ViewCx};
use super::words;
use super::work::highlight::{Coloured, Highlighter, Job};
use crate::engine::wait::{Signal, Signals, sleep_until};
use crate::engine::{Engine, LinkWake, Wake};
use crate::model::changes::Scope;
use crate::model::changes::{HunkId, ReviewAction};
use crate::model::effect::FrontEnd;
use crate::model::event::Intent;
use crate::model::ids::{Addressed, AgentKey, Now, TermId};
use crate::theme::resolve::Theme;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
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

/// The person's terminal while it is ours.
pub struct Screen {
    tty: Tty,
    surface: Surface<TtyOut>,
    /// Gone while another program has the terminal.
    input: Option<InputStream>,
    signals: Signals,
}

impl Screen {
    /// Takes the terminal over. Must be called inside the runtime.
    pub fn open() -> io::Result<Self> {
        let signals = Signals::listen()?;
        let tty = Tty::enter(Mouse::Ours)?;
        let (width, height) = tty.size()?;
        let surface = Surface::new(TtyOut, width, height);
        Ok(Self { tty, surface, input: Some(InputStream::open()?), signals })
    }

    fn fit(&mut self) {
        if let Ok((width, height)) = self.tty.size() {
            self.surface.resize(width, height);
        }
    }

    /// Ctrl+Z; comes back with `fg`.
    fn suspend(&mut self) -> io::Result<()> {
        self.input = None;
        let result = self.tty.suspend();
        self.input = Some(InputStream::open()?);
        self.surface.invalidate();
        result
    }

    /// For a program that the person uses meanwhile.
    fn lend(&mut self) {
        self.input = None;
        self.tty.pause();
    }

    fn take_back(&mut self) -> io::Result<()> {
        self.tty.resume()?;
        self.input = Some(InputStream::open()?);
        self.surface.invalidate();
        Ok(())
    }

    async fn next_input(&mut self) -> Awaited {
        let Self { input, signals, .. } = self;
        let Some(input) = input else { return Awaited::Signal(signals.next().await) };
        tokio::select! {
            biased;
            signal = signals.next() => Awaited::Signal(signal),
            input = input.next() => input.map_or(Awaited::Gone, Awaited::Input),
        }
    }

    fn ready(&mut self) -> Option<Input> {
        self.input.as_mut()?.ready()
    }
}

/// The worker that colours program text, while there is a review.
struct Colours {
    worker: Option<(Highlighter, mpsc::Receiver<Coloured>)>,
    /// Nothing is on its way.
    idle: bool,
}

impl Default for Colours {
    fn default() -> Self {
        Self { worker: None, idle: true }
    }
}

impl Colours {
    fn ask(&mut self, job: Job) {
        if self.worker.is_none() {
            let (found, results) = mpsc::channel(1);
            // Without a thread everything stays plain.
            let worker = Highlighter::start(move |coloured| found.blocking_send(coloured).is_ok());
            self.worker = worker.ok().map(|worker| (worker, results));
        }
        self.idle = !self.worker.as_ref().is_some_and(|(worker, _)| worker.ask(job));
    }

    async fn next(&mut self) -> Coloured {
        let found = match &mut self.worker {
            Some((_, results)) => results.recv().await,
            None => None,
        };
        match found {
            Some(found) => found,
            None => std::future::pending().await,
        }
    }
}

enum Awaited {
    Signal(Signal),
    Input(Input),
    /// Nobody can type any more.
    Gone,
    Engine(Wake),
    Coloured(Coloured),
    Frame,
}

/// Lets the person choose an agent.
pub async fn pick(screen: &mut Screen, mut picker: AgentPicker, options: &UiOptions, place: &str) -> io::Result<Pick> {
    loop {
        screen.fit();
        screen.surface.draw(|_, buf| picker.draw(&options.theme, place, buf))?;
        let mut input = match screen.next_input().await {
            Awaited::Signal(signal) => return Ok(Pick::Ended(Exit::Signal(signal))),
            Awaited::Gone => return Ok(Pick::Ended(Exit::TerminalGone)),
            Awaited::Input(input) => Some(input),
            Awaited::Engine(_) | Awaited::Coloured(_) | Awaited::Frame => None,
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

/// Runs a session on a terminal of its own.
pub async fn run(engine: Engine, options: UiOptions) -> io::Result<Ended> {
    match Screen::open() {
        Ok(screen) => run_on(screen, engine, options).await,
        Err(error) => {
            engine.shutdown().await;
            Err(error)
        }
    }
}

/// Runs a session until the person quits; the terminal is given back first, then the agent is ended.
pub async fn run_on(screen: Screen, engine: Engine, options: UiOptions) -> io::Result<Ended> {
    // On the heap: the futures around it stay small.
    let mut app = Box::new(App {
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
    let ended = app.drive().await;
    let App { screen, engine, .. } = *app;
    drop(screen);
    let goodbye = engine.shutdown().await;
    Ok(Ended { exit: ended.unwrap_or(Exit::TerminalGone), survivors: goodbye.survivors })
}

struct App {
    screen: Screen,
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

impl App {
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
                Awaited::Signal(signal) => {
                    info!(?signal, "ends");
                    return Ok(Exit::Signal(signal));
                }
                Awaited::Gone => {
                    warn!("the terminal is gone");
                    return Ok(Exit::TerminalGone);
                }
                Awaited::Frame => {}
                Awaited::Engine(wake) => self.step(wake),
                Awaited::Input(input) => {
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
                    self.colours.idle = true;
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
        let until = pause.map(|pause| Instant::now() + pause);
        let Self { screen, engine, colours, .. } = self;
        tokio::select! {
            biased;
            input = screen.next_input() => input,
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
                Ok(bytes) => self.screen.tty.send(&bytes)?,
                Err(error) => self.ui.say(format!("not copied: {error}"), self.engine.now()),
            },
            Out::Mouse(mouse) => self.screen.tty.set_mouse(mouse)?,
            Out::Edit(job) => self.editor = Some(job),
            Out::Suspend => self.screen.suspend()?,
            Out::Redraw => self.screen.surface.invalidate(),
            Out::Quit => return Ok(Some(Exit::Quit)),
        }
        Ok(None)
    }

    /// Lends the terminal to the person's editor. The engine works on meanwhile; nothing is drawn.
    async fn edit(&mut self, job: EditorJob) -> io::Result<Option<Exit>> {
        let started = match &job {
            EditorJob::Open { path, line } => {
                Ok((Path::new(&self.engine.model().session().cwd).join(path), Some(*line), None))
            }
            EditorJob::Hunk { path, text, .. } => {
                Draft::of(text, path).map(|draft| (draft.path().to_owned(), None, Some(draft)))
            }
        };
        let (file, line, draft) = match started {
            Ok(started) => started,
            Err(error) => {
                self.ui.say(format!("no file for the editor: {error}"), self.engine.now());
                return Ok(None);
            }
        };
        self.screen.lend();
        let result = match editor::start(&editor::command(), &file, line) {
            Ok(mut child) => loop {
                let Self { screen, engine, .. } = self;
                let wake = tokio::select! {
                    biased;
                    signal = screen.signals.next() => match signal {
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
        self.edited(job, draft, result);
        self.frames.want(Urgency::AtOnce, self.engine.now());
        Ok(None)
    }

    /// What came of it.
    fn edited(&mut self, job: EditorJob, draft: Option<Draft>, result: io::Result<ExitStatus>) {
        let now = self.engine.now();
        debug!(ended_well = result.as_ref().is_ok_and(ExitStatus::success), "back from the editor");
        match result {
            Err(error) => return self.ui.say(format!("the editor could not be started: {error}"), now),
            Ok(status) if !status.success() => {
                return self.ui.say(format!("the editor ended with {status}; nothing was changed here"), now);
            }
            Ok(_) => {}
        }
        let scope = self.ui.review.as_ref().map(|r| r.scope);
        let action = match (job, draft) {
            (EditorJob::Hunk { path, hunk, scope, text: before }, Some(draft)) => match draft.text() {
                Ok(text) if text == before => return self.ui.say("nothing was changed", now),
                Ok(text) => Some(ReviewAction::Edit { scope, path, hunk, text }),
                Err(error) => return self.ui.say(format!("the text could not be read back: {error}"), now),
            },
            // Whatever was changed in the file is to be seen.
            _ => scope.map(ReviewAction::Show),
        };
        if let Some(action) = action {
            let news = self.engine.intent(Intent::Review(action));
            self.news(news);
            self.ui.sync(self.engine.model(), self.engine.now());
        }
    }

    /// Has what is in view coloured, one hunk at a time; without a review there is no worker.
    fn colour(&mut self) {
        let Some(review) = &mut self.ui.review else {
            self.colours = Colours::default();
            return;
        };
        let Some(frame) = self.info.review.as_ref().filter(|_| self.colours.idle) else { return };
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
        self.screen.fit();
        let Self { screen, engine, ui, transcript, info, options, .. } = self;
        let cx = view_cx(engine, ui, options, now);
        screen.surface.draw(|_, buf| {
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
        let title = words::terminal_title(self.engine.model());
        if title != self.title {
            self.screen.tty.set_title(&title)?;
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
