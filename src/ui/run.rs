//! The loop of the full-screen client: signals, the person, the engine and the clock, in this order.
//!
//! The only file of the screen that holds the engine. Invariants: the first frame is drawn before anything of the
//! agent is waited for; a key and a turn's end are drawn at once, output at most once a frame; with nothing moving
//! there is no timer; the person's terminal is given back before anything else is tidied up.

mod asides;
mod colouring;
mod context;
mod copying;
mod drafts;
mod editing;
mod ended;
mod feeding;
mod files;
mod forgetting;
mod found;
mod ground;
mod handing_over;
mod inline;
mod inspecting;
mod listing;
mod messages;
mod models;
mod pacing;
mod pictures;
mod pointing;
mod scrolling;
mod selecting;
mod sessions;
mod start;
mod telling;
mod worktrees;

use super::autosave::{Autosave, Brought, DraftStore};
use super::frame::{Frames, Urgency};
use super::keys::Keymap;
use super::msg::{EditorJob, FrameInfo, Out};
use super::pace::Pace;
use super::past::{Archive, Found, Lease, Reader};
use super::screen::{Device, Happening, Screen};
use super::state::App;
use super::state::dock::Dialog;
use super::state::own_prompts::OwnPrompt;
use super::state::session_list::Place;
use super::status_line;
use super::transcript::Transcript;
use super::tty::{Hyperlink, Input, Multiplexer};
use super::update;
use super::view::{self, Animation};
use super::work::colours::Colours;
use super::work::copier::{Copied, Copier};
use super::work::files::{Answer, Finder};
use super::work::highlight::Coloured;
use super::work::pictures::{Painted, Painter};
use super::work::status_command::{self, StatusCommand};
use crate::base::zone;
use crate::engine::wait::sleep_until;
use crate::engine::{Engine, LinkWake, Wake};
use crate::model::changes::Scope;
use crate::model::effect::FrontEnd;
use crate::model::event::Intent;
use crate::model::ids::{Address, Addressed, SessionKey, TermId};
use crate::model::login::{Keep, Secret};
use crate::theme::looks::{self, Looks};
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use tracing::{info, warn};

/// How long what is queued is applied before the screen has its turn.
const DRAIN: Duration = Duration::from_millis(4);
/// Inputs taken together before a frame.
const INPUTS: usize = 512;

pub use super::work::copier::{ToFile, Tools};
pub use super::work::programs::{Ask, Branch, Run};
pub use super::work::status_command::Command as StatusProgram;
use context::{update_cx, view_cx};
pub use ended::{Ended, Exit};
use forgetting::Forgetting;
use ground::{ask, hear};
pub use inline::Conversation;
pub use messages::{Feed, Feeding, feeding, read_messages};
pub use models::{ModelChoice, Models};
pub use start::{Pick, choose, pick};
pub use telling::{Notices, Outside};

pub struct UiOptions {
    pub looks: Looks,
    pub animation: Animation,
    pub keys: Arc<Keymap>,
    /// What of the person's files for the screen could not be used.
    pub remarks: Vec<String>,
    /// The person's own prompts: names and texts.
    pub prompts: Vec<(String, String)>,
    pub home: Option<PathBuf>,
    pub multiplexer: Multiplexer,
    pub purpose: Purpose,
    /// Parts of the protocol that may still change are used, too.
    pub unstable: bool,
    /// Agents that a further session can be opened with: the name under which each is configured, and its command line.
    pub agents: Box<dyn Fn() -> Vec<(String, String)>>,
    /// Where earlier sessions are kept, if anywhere.
    pub past: Option<Arc<dyn Archive>>,
    /// What says that the first session is ours, where it goes on.
    pub lease: Option<Lease>,
    /// Where in the session something was found that the person wants to see.
    pub place: Option<Place>,
    /// Where what is written is kept, if anywhere.
    pub drafts: Option<Arc<dyn DraftStore>>,
    pub models: Models,
    /// How a person who looks elsewhere is told.
    pub outside: Outside,
    /// Programs that take what is copied.
    pub clipboard: Tools,
    /// What Enter sends where nothing is written and nothing was said yet.
    pub tour: Option<String>,
    /// Whether ambiguous characters have two columns; the terminal is asked where nobody says.
    pub ambiguous_is_wide: Option<bool>,
    /// Makes words for the status line.
    pub status_command: Option<StatusProgram>,
    pub conversation: Conversation,
}

/// What the screen is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Purpose {
    /// A session with an agent.
    Session,
    /// The review of an earlier one, without an agent; it ends when the review is closed.
    Review,
}

enum Awaited {
    Person(Happening),
    Engine(Wake),
    Coloured(Coloured),
    Files(Answer),
    Past(Found),
    Autosaved(Brought),
    Copied(Copied),
    Painted(Painted),
    Fed(status_command::Answer),
    Frame,
}

/// Runs a session until the person quits; the terminal is given back first, then the agent is ended.
pub async fn run_on<D: Device>(screen: Screen<D>, mut engine: Engine, mut options: UiOptions) -> io::Result<Ended> {
    zone::use_of_system();
    engine.keep_little_in_memory();
    let mut app = App::with_keys(Arc::clone(&options.keys), looks::names().collect(), OwnPrompt::all(&options.prompts));
    app.theme = options.looks.name();
    // On the heap: the futures around it stay small.
    let mut running = Box::new(Running {
        screen,
        engine,
        app,
        transcript: Transcript::new(),
        info: FrameInfo::default(),
        past: Reader::new(options.past.clone()),
        wishes: models::Wishes::new(std::mem::take(&mut options.models)),
        painter: Painter::default(),
        terminal: pictures::Terminal::default(),
        copier: Copier::new(std::mem::take(&mut options.clipboard)),
        telling: telling::Telling::default(),
        status_command: StatusCommand::new(options.status_command.take()),
        has_told_fault: false,
        pointing: pointing::Pointing::default(),
        leases: options.lease.take().map(|lease| (SessionKey::FIRST, lease)).into_iter().collect(),
        asked: listing::Asked::default(),
        forgetting: Forgetting::default(),
        autosave: Autosave::new(options.drafts.clone().filter(|_| options.purpose == Purpose::Session)),
        frames: Frames::default(),
        pace: Pace::default(),
        most: None,
        options,
        title: String::new(),
        editor: None,
        colours: Colours::default(),
        files: Finder::default(),
        log_in_size: None,
        printed: inline::Printed::default(),
    });
    running.app.is_inline = running.options.conversation.is_inline && running.options.purpose == Purpose::Session;
    running.app.tour = running.options.tour.take();
    telling::take_remarks(&mut running);
    running.app.tells_titles = running.options.unstable;
    running.app.view.place = running.options.place.take();
    let ended = running.drive().await;
    if ended.is_ok() && running.options.purpose == Purpose::Session {
        // A terminal that takes nothing any more is given back all the same.
        let _ = inline::leave(&mut running);
    }
    let is_session = running.options.purpose == Purpose::Session;
    let Running { screen, mut engine, mut app, mut autosave, .. } = *running;
    drop(screen);
    autosave.look(engine.model(), &app);
    let can_go_on = sessions::can_go_on(engine.model(), &app);
    let undecided =
        engine.model().at(app.shown()).filter(|_| is_session).map_or(0, |shown| shown.changes().totals.pending);
    let has_talked = engine.model().sessions().any(|(_, session)| session.has_talked());
    autosave.close();
    asides::leave(&mut engine, &mut app.asides).await;
    let exit = ended.unwrap_or(Exit::TerminalGone);
    engine.leave_nothing(exit.hangs_up());
    let goodbye = engine.shutdown().await;
    Ok(Ended { exit, goodbye, can_go_on, undecided, has_talked })
}

struct Running<D: Device> {
    screen: Screen<D>,
    engine: Engine,
    app: App,
    transcript: Transcript,
    info: FrameInfo,
    frames: Frames,
    pace: Pace,
    /// Bytes that the next frame may have.
    most: Option<usize>,
    options: UiOptions,
    title: String,
    /// What the person's editor is to be started for.
    editor: Option<EditorJob>,
    colours: Colours,
    files: Finder,
    past: Reader,
    /// Agents that were asked for their sessions.
    asked: listing::Asked,
    forgetting: Forgetting,
    /// Models that sessions are to have.
    wishes: models::Wishes,
    autosave: Autosave,
    /// What the terminal of a log-in was told last of its size.
    log_in_size: Option<(TermId, (u16, u16))>,
    /// What says that sessions are ours that go on.
    leases: BTreeMap<SessionKey, Lease>,
    copier: Copier,
    painter: Painter,
    terminal: pictures::Terminal,
    telling: telling::Telling,
    status_command: StatusCommand,
    /// What is wrong with it was said.
    has_told_fault: bool,
    pointing: pointing::Pointing,
    printed: inline::Printed,
}

impl<D: Device> Running<D> {
    /// An error means that the terminal is gone.
    async fn drive(&mut self) -> io::Result<Exit> {
        pictures::ask_terminal(self)?;
        pacing::begin(self)?;
        self.draw()?;
        match self.options.purpose {
            Purpose::Session => {
                // One that is only shown needs no agent.
                let shown = self.engine.model().first();
                if shown.read_only().is_none() && !shown.is_to_be_shown() {
                    self.intent(Intent::Start);
                }
                self.read_sessions();
                self.autosave.read_prompts();
            }
            Purpose::Review => self.open_review()?,
        }
        self.frames.want(Urgency::AtOnce, self.engine.now());
        loop {
            if self.options.purpose == Purpose::Review && self.app.view.review.is_none() {
                return Ok(Exit::Quit);
            }
            scrolling::look_on(self);
            if pacing::may_draw(self) {
                self.draw()?;
                self.look_around();
            }
            self.leases.retain(|key, _| self.app.has_view(*key));
            if self.autosave.look(self.engine.model(), &self.app) {
                self.app.recall(self.engine.model(), Arc::clone(&self.app.prompts));
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
                Awaited::Past(found) => self.found(found),
                Awaited::Autosaved(brought) => self.brought(brought),
                Awaited::Copied(copied) => copying::copied(self, copied)?,
                Awaited::Painted(painted) => pictures::painted(self, painted),
                Awaited::Fed(answer) => feeding::fed(self, answer),
                Awaited::Person(Happening::Input(input)) => {
                    if let Some(exit) = self.inputs(input)? {
                        return Ok(exit);
                    }
                    if let Some(job) = self.editor.take()
                        && let Some(exit) = editing::edit(self, job).await?
                    {
                        return Ok(exit);
                    }
                }
                Awaited::Files(Answer { text, paths }) => {
                    self.app.view.mentions.find(text, paths);
                    self.frames.want(Urgency::NextFrame, self.engine.now());
                }
                Awaited::Coloured(found) => colouring::coloured(self, found),
            }
        }
    }

    fn open_review(&mut self) -> io::Result<()> {
        let Some(cx) = update_cx(&self.engine, &self.app, &self.info) else { return Ok(()) };
        let mut out = Vec::new();
        update::review::open(&mut self.app, cx, Scope::Pending, &mut out);
        for one in out {
            self.carry_out(one)?;
        }
        Ok(())
    }

    async fn wait(&mut self) -> Awaited {
        let until = pacing::pause(self).and_then(|pause| Instant::now().checked_add(pause)).map(Instant::into_std);
        let Self { screen, engine, colours, files, past, autosave, copier, painter, status_command, .. } = self;
        tokio::select! {
            biased;
            happening = screen.next() => Awaited::Person(happening),
            wake = engine.next() => Awaited::Engine(wake),
            found = colours.next() => Awaited::Coloured(found),
            found = files.next() => Awaited::Files(found),
            found = past.next() => Awaited::Past(found),
            brought = autosave.next() => Awaited::Autosaved(brought),
            copied = copier.next() => Awaited::Copied(copied),
            painted = painter.next() => Awaited::Painted(painted),
            answer = status_command.next() => Awaited::Fed(answer),
            () = sleep_until(until) => Awaited::Frame,
        }
    }

    fn step(&mut self, wake: Wake) {
        // What is not in the model but may be on the screen; the model itself tells whether it has changed, also by
        // what came with the wake.
        let visible = match &wake {
            Wake::Hint => true,
            Wake::Link(_, LinkWake::Stderr(_)) => self.app.view.dock.dialog == Some(Dialog::Silent),
            _ => false,
        };
        let before = self.engine.version();
        let mut news = self.engine.step(wake);
        news.extend(self.engine.drain(DRAIN));
        let visible = visible || inspecting::has_news(self);
        let changed = visible || !news.is_empty() || self.engine.version() != before;
        self.news(news);
        self.app.sync(self.engine.model(), self.engine.now());
        if changed {
            listing::ask_new(self);
            models::set(self);
            asides::go_on(self);
            self.frames.want(Urgency::NextFrame, self.engine.now());
        }
    }

    fn news(&mut self, news: Vec<Addressed<FrontEnd>>) {
        let now = self.engine.now();
        for one in news {
            match (one.at, &one.what) {
                (Address::Agent(agent), FrontEnd::Listed) => listing::listed(self, agent),
                (Address::Agent(of), FrontEnd::Deleted(id, done)) => forgetting::deleted(self, of, id, done.is_ok()),
                (_, FrontEnd::TurnEnded(..)) => {
                    self.frames.want(Urgency::TurnEnd, now);
                    // Other programs may have spent meanwhile.
                    if self.engine.model().budget().is_some() {
                        self.past.spent();
                    }
                }
                _ => {}
            }
            update::news(&mut self.app, one, now);
        }
    }

    /// What the person did, and what else has been read already: one frame for all of it.
    fn inputs(&mut self, first: Input) -> io::Result<Option<Exit>> {
        let mut next = Some(first);
        let mut typed: Option<(TermId, Vec<u8>)> = None;
        let mut does = false;
        for _ in 0..INPUTS {
            let Some(input) = next.take() else { break };
            if pacing::hear(self, &input)? {
                next = self.screen.ready();
                continue;
            }
            does = true;
            hear(&mut self.screen, &mut self.options, &input)?;
            self.telling.hear(&input);
            self.terminal.hear(&input);
            let Some(cx) = update_cx(&self.engine, &self.app, &self.info) else { break };
            for out in update::input(&mut self.app, cx, input) {
                if let Out::Type(term, bytes) = out {
                    // A terminal takes few pieces of any size at a time.
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
        if does {
            self.frames.want(Urgency::AtOnce, self.engine.now());
        }
        Ok(None)
    }

    /// Does what the person wants with the session that is shown, or with its agent.
    fn intent(&mut self, intent: Intent) {
        asides::chosen(&self.engine, &mut self.app, &intent);
        let news = self.engine.intent_in(self.app.shown(), intent);
        self.news(news);
        self.app.sync(self.engine.model(), self.engine.now());
    }

    fn carry_out(&mut self, out: Out) -> io::Result<Option<Exit>> {
        match out {
            Out::Intent(intent) => {
                if let Intent::Prompt { text, .. } | Intent::Steer { text, .. } | Intent::Refuse { reason: text, .. } =
                    &intent
                {
                    self.remember(text);
                }
                if let Intent::SetOption { id, value } = &intent {
                    self.wishes.chosen(self.engine.model().at(self.app.shown()), id, value);
                }
                self.intent(intent);
            }
            Out::Send { written, intent } => {
                self.remember(&written);
                self.intent(intent);
            }
            Out::Show(key) => {
                self.app.show(key);
            }
            Out::Theme(name) => self.options.looks = self.options.looks.renamed(name),
            Out::Visit(key) => self.visit(key),
            Out::ReadSessions => {
                self.read_sessions();
                listing::ask(self);
            }
            Out::AskAgents => listing::ask(self),
            Out::ReadPrompts => self.autosave.read_prompts(),
            Out::GoOn(past) => self.go_on(&past),
            Out::Fork(past) => self.copy(&past),
            Out::ForkOpen(key) => self.fork_open(key),
            // What could not be opened is said in the list, which is still there.
            Out::GoTo(place) if self.app.list.is_none() => self.app.view.place = Some(place),
            Out::GoTo(_) => {}
            Out::AnswerBelow(key) => self.answer_below(key),
            Out::Rename(which, name) => self.past.rename(which, name),
            Out::Export(which) => self.past.export(which),
            Out::Find(query) => self.past.find(query),
            Out::Forget(past) => forgetting::forget(self, *past),
            Out::ListAgents(purpose) => self.list_agents(purpose),
            Out::HandOver(whose) => handing_over::hand_over(self, whose),
            Out::Aside(question) => {
                self.remember(&format!("/btw {question}"));
                asides::ask(self, question);
            }
            Out::ThrowAway => asides::throw_away(self),
            Out::Keep => asides::keep(self),
            Out::Open(wanted) => self.open(&wanted),
            Out::FanOut(agents, text) => self.fan_out(agents, text),
            Out::TakeFile(file) => worktrees::take_file(self, &file),
            Out::TakePart(scope, target) => worktrees::take_part(self, scope, target),
            Out::Tree(tree, fate) => worktrees::decide(self, tree, fate),
            Out::Scroll(by) => scrolling::scroll(self, by),
            Out::Seek(way) => scrolling::seek(self, way),
            Out::Fold(entry) => scrolling::fold(self, entry),
            Out::FoldInPlace(entry) => scrolling::fold_in_place(self, entry),
            Out::Type(term, bytes) => self.type_into(Some((term, bytes))),
            Out::Select(from, to) => selecting::select(self, from, to),
            Out::CopySelected => selecting::copy(self),
            Out::Copy(what, text) => self.copier.copy(what, text),
            Out::Save(what, text) => self.copier.save(what, text),
            Out::Picture(picture, whither) => pictures::keep(self, picture, whither),
            Out::LogInWith { method, values, keep } => self.log_in_with(method, values, keep),
            Out::OpenPage(address) => self.engine.open_page(self.app.shown(), address),
            Out::Mouse(mouse) => self.screen.set_mouse(mouse)?,
            Out::Edit(job) => self.editor = Some(job),
            Out::Suspend => {
                self.screen.suspend()?;
                self.title.clear();
                self.has_left();
                ask(&mut self.screen, &self.options)?;
            }
            Out::Redraw => self.screen.invalidate(),
            Out::Quit => return Ok(Some(Exit::Quit)),
        }
        Ok(None)
    }

    /// The terminal was given back, and has forgotten what it showed beside the screen.
    fn has_left(&mut self) {
        self.telling.has_left();
        self.pointing = pointing::Pointing::default();
    }

    fn type_into(&mut self, typed: Option<(TermId, Vec<u8>)>) {
        if let Some((term, bytes)) = typed
            && !self.engine.type_into(&term, &bytes)
        {
            self.app.say("not typed: the command does not read", self.engine.now());
        }
    }

    fn log_in_with(&mut self, method: String, values: Vec<(String, Secret)>, keep: Keep) {
        self.engine.log_in_with(self.app.shown(), method, values, keep);
        self.app.sync(self.engine.model(), self.engine.now());
    }

    fn draw(&mut self) -> io::Result<()> {
        self.engine.refresh_terminals();
        inspecting::look(self);
        let now = self.engine.now();
        if let Some(intent) = self.app.view.rested_mode(now) {
            self.intent(intent);
        }
        self.app.sync(self.engine.model(), now);
        self.go_to_place();
        asides::ask_what_waits(self);
        inspecting::hear_stderr(self);
        pictures::bring(self);
        self.screen.allow(self.most);
        let Self { screen, engine, app, transcript, info, options, .. } = self;
        let Some(cx) = view_cx(engine, app, options, now) else { return Ok(()) };
        let title = status_line::terminal_title(cx.session, view::sessions::others_wait(&cx));
        if view::inline::needs_screen(&cx) {
            screen.draw_linked(|buf, links| {
                *info = view::draw(&cx, transcript, buf);
                let link = |(y, columns, address)| Hyperlink { y, columns, address };
                links.extend(info.links.drain(..).map(link));
                info.cursor.map(|at| (at.x, at.y))
            })?;
        } else {
            inline::draw(self)?;
        }
        self.screen.weigh(update::weighs(&self.app, now));
        self.app.has_panel = !self.info.panel.is_empty();
        self.app.view.note_frame(
            (self.info.scroll, self.info.seen_end),
            (self.info.dialog.as_ref(), self.info.seen),
            now,
        );
        if self.info.log_in != self.log_in_size {
            self.log_in_size.clone_from(&self.info.log_in);
            if let Some((term, size)) = &self.log_in_size {
                self.engine.resize(term, *size);
            }
        }
        self.engine.fit_shell(self.info.shell);
        self.frames.drawn(self.info.motion, now);
        pacing::drawn(self)?;
        if let (Some(review), Some(frame)) = (&mut self.app.view.review, &self.info.review)
            && review.measure(frame.measured)
        {
            self.frames.want(Urgency::NextFrame, now);
        }
        if self.transcript.is_behind() || self.printed.has_more {
            self.frames.want(Urgency::NextFrame, now);
        }
        let shown = self.engine.model().at(self.app.shown());
        if let Some(at) = shown.and_then(|shown| self.app.next_change(shown, now)) {
            self.frames.want_at(at);
        }
        colouring::ask(self);
        pictures::ask(self);
        files::look(&mut self.files, &self.app, self.engine.model());
        self.preview();
        feeding::feed(self);
        pointing::point(self)?;
        if title != self.title {
            self.screen.set_title(&title)?;
            self.title = title;
        }
        telling::tell(self)
    }
}
