//! The whole client in one thread: an engine over memory, a terminal that is made of values, and a clock that stands
//! still until nobody has anything left to do. What the person sees is read from an emulator.
//!
//! A test gives two sides, the agent's and the person's, and both wait on what they see. With `start_paused` a wait for
//! what never comes fails at once, and [`Person::pass`] costs no time.

use super::schema::Watched;
use acp_tui::agent::codec;
use acp_tui::engine::link::{self, Link, memory};
use acp_tui::engine::wait::Signal;
use acp_tui::engine::{AgentSetup, Engine, EngineConfig, Further};
use acp_tui::model::event::{Intent, Opening};
use acp_tui::model::ids::SessionId;
use acp_tui::theme::color::Depth;
use acp_tui::theme::looks::{Ground, Looks};
use acp_tui::ui::autosave::DraftStore;
use acp_tui::ui::keys::{Code, Key, Mouse};
use acp_tui::ui::past::Archive;
use acp_tui::ui::run::{Conversation, Ended, Models, Notices, Outside, Purpose, Tools, UiOptions, run_on};
use acp_tui::ui::screen::{Device, Happening, Screen};
use acp_tui::ui::tty::outside::Channel;
use acp_tui::ui::tty::{Beside, Input, Multiplexer, Place, Questions, Told};
use acp_tui::ui::view::Animation;
use alacritty_terminal::Term;
use alacritty_terminal::event::VoidListener;
use alacritty_terminal::grid::Dimensions;
use alacritty_terminal::index::{Column, Line};
use alacritty_terminal::term::Config;
use alacritty_terminal::term::cell::Flags;
use alacritty_terminal::vte::ansi::Processor;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::{Notify, mpsc};

/// Of the clock that stands still: only ever waited for when a test fails.
const PATIENCE: Duration = Duration::from_mins(1);

/// An engine that starts no process, keeps no journal and has no review.
pub fn config(root: &Path) -> EngineConfig {
    let command = "nothing that could be started".into();
    EngineConfig { command, cwd: root.to_owned(), ..EngineConfig::default() }
}

/// Columns and rows of an emulator.
#[derive(Clone, Copy)]
pub struct Size(pub u16, pub u16);

impl Dimensions for Size {
    fn total_lines(&self) -> usize {
        self.screen_lines()
    }
    fn screen_lines(&self) -> usize {
        usize::from(self.1)
    }
    fn columns(&self) -> usize {
        usize::from(self.0)
    }
}

/// What the person looks at.
struct Shown {
    term: Term<VoidListener>,
    parser: Processor,
    size: (u16, u16),
    /// Bytes of frames so far.
    bytes: usize,
    /// Behind how many of them it was asked whether they have arrived.
    asked: Vec<usize>,
    title: String,
    sent: Vec<u8>,
    lent: bool,
}

#[derive(Clone)]
pub struct Glass {
    shown: Arc<Mutex<Shown>>,
    changed: Arc<Notify>,
}

impl Glass {
    fn new(size: (u16, u16)) -> Self {
        let term = Term::new(Config::default(), &Size(size.0, size.1), VoidListener);
        let shown = Shown {
            term,
            parser: Processor::new(),
            size,
            bytes: 0,
            asked: Vec::new(),
            title: String::new(),
            sent: Vec::new(),
            lent: false,
        };
        Self { shown: Arc::new(Mutex::new(shown)), changed: Arc::default() }
    }

    fn with<T>(&self, what: impl FnOnce(&mut Shown) -> T) -> T {
        what(&mut self.shown.lock().unwrap())
    }

    pub fn text(&self) -> String {
        self.with(|shown| {
            let grid = shown.term.grid();
            let row = |line: usize| {
                let row = &grid[Line(i32::try_from(line).unwrap())];
                let cells = (0..grid.columns()).map(|column| &row[Column(column)]);
                let spacers = Flags::WIDE_CHAR_SPACER | Flags::LEADING_WIDE_CHAR_SPACER;
                let text: String = cells.filter(|cell| !cell.flags.intersects(spacers)).map(|cell| cell.c).collect();
                text.trim_end().to_owned()
            };
            (0..grid.screen_lines()).map(row).collect::<Vec<_>>().join("\n")
        })
    }

    pub fn bytes(&self) -> usize {
        self.with(|shown| shown.bytes)
    }

    pub fn asked(&self) -> Vec<usize> {
        self.with(|shown| shown.asked.clone())
    }

    /// What was sent to the terminal besides frames.
    pub fn sent(&self) -> String {
        self.with(|shown| String::from_utf8_lossy(&shown.sent).into_owned())
    }

    pub fn title(&self) -> String {
        self.with(|shown| shown.title.clone())
    }
}

impl Write for Glass {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.with(|shown| {
            assert!(!shown.lent, "a frame while another program has the terminal");
            shown.parser.advance(&mut shown.term, bytes);
            shown.bytes += bytes.len();
        });
        self.changed.notify_waiters();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A terminal without a device.
pub struct Terminal {
    glass: Glass,
    happenings: mpsc::Receiver<Input>,
    signals: mpsc::Receiver<Signal>,
}

impl Device for Terminal {
    type Out = Glass;

    fn out(&self) -> Glass {
        self.glass.clone()
    }

    fn size(&self) -> io::Result<(u16, u16)> {
        Ok(self.glass.with(|shown| shown.size))
    }

    async fn next(&mut self) -> Happening {
        tokio::select! {
            biased;
            Some(signal) = self.signals.recv() => Happening::Signal(signal),
            input = self.happenings.recv() => input.map_or(Happening::Gone, Happening::Input),
        }
    }

    async fn signal(&mut self) -> Signal {
        match self.signals.recv().await {
            Some(signal) => signal,
            None => std::future::pending().await,
        }
    }

    fn ready(&mut self) -> Option<Input> {
        self.happenings.try_recv().ok()
    }

    fn set_mouse(&mut self, _: Mouse) -> io::Result<()> {
        Ok(())
    }

    fn set_place(&mut self, _: Place) -> io::Result<()> {
        Ok(())
    }

    fn set_title(&mut self, title: &str) -> io::Result<()> {
        self.glass.with(|shown| title.clone_into(&mut shown.title));
        self.glass.changed.notify_waiters();
        Ok(())
    }

    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.glass.with(|shown| shown.sent.extend_from_slice(bytes));
        self.glass.changed.notify_waiters();
        Ok(())
    }

    fn show_beside(&mut self, _: Beside, bytes: &[u8]) -> io::Result<()> {
        self.send(bytes)
    }

    fn ask(&mut self, _: Questions, _: Multiplexer) -> io::Result<()> {
        Ok(())
    }

    fn ask_arrival(&mut self) -> io::Result<()> {
        self.glass.with(|shown| shown.asked.push(shown.bytes));
        self.glass.changed.notify_waiters();
        Ok(())
    }

    fn lend(&mut self) {
        self.glass.with(|shown| shown.lent = true);
    }

    fn take_back(&mut self) -> io::Result<()> {
        self.glass.with(|shown| shown.lent = false);
        Ok(())
    }

    fn suspend(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Who sits before the terminal.
pub struct Person {
    pub glass: Glass,
    inputs: mpsc::Sender<Input>,
    signals: mpsc::Sender<Signal>,
}

impl Person {
    async fn does(&self, input: Input) {
        self.inputs.send(input).await.expect("the client has ended");
    }

    pub async fn press(&self, key: Key) {
        self.does(Input::Key(key)).await;
    }

    pub async fn types(&self, text: &str) {
        for c in text.chars() {
            self.press(Key::char(c)).await;
        }
    }

    /// Writes a prompt and sends it.
    pub async fn prompts(&self, text: &str) {
        self.types(text).await;
        self.press(Key::plain(Code::Enter)).await;
    }

    /// The window gains the keyboard, or loses it.
    pub async fn looks(&self, here: bool) {
        self.does(Input::Focus(here)).await;
    }

    /// Ctrl+D in an empty composer.
    pub async fn quits(&self) {
        self.press(Key::ctrl(Code::Char('d'))).await;
    }

    pub async fn resizes(&self, width: u16, height: u16) {
        self.glass.with(|shown| {
            shown.size = (width, height);
            shown.term.resize(Size(width, height));
        });
        self.does(Input::Resize(width, height)).await;
    }

    /// What was drawn has arrived.
    pub async fn has_it(&self) {
        self.does(Input::Told(Told::Arrived)).await;
    }

    pub async fn signals(&self, signal: Signal) {
        self.signals.send(signal).await.expect("the client has ended");
    }

    /// Waits until it stands on the screen, and gives the screen.
    pub async fn sees(&self, words: &str) -> String {
        self.waits_for(words, |screen| screen.contains(words)).await
    }

    pub async fn waits_for(&self, what: &str, is_so: impl Fn(&str) -> bool) -> String {
        // Something on the screen may move for ever.
        let end = tokio::time::Instant::now() + PATIENCE;
        loop {
            let screen = self.glass.text();
            if is_so(&screen) {
                return screen;
            }
            let change = tokio::time::timeout_at(end, self.glass.changed.notified()).await;
            assert!(change.is_ok(), "never on the screen: {what}\n{screen}");
        }
    }

    /// Lets time go by in which nothing is done.
    pub async fn pass(&self, time: Duration) {
        tokio::time::sleep(time).await;
    }
}

/// The agent's side of the connection.
pub struct Agent {
    link: link::Agent,
    watched: Watched,
}

impl Agent {
    fn of(link: link::Agent) -> Self {
        Self { link, watched: Watched::default() }
    }

    pub async fn send(&mut self, message: Value) {
        self.watched.hear(message.to_string().as_bytes());
        self.link.lines.send_line(&message.to_string()).await.unwrap();
    }

    pub async fn receive(&mut self) -> Value {
        let line = self.link.lines.next_line().await.unwrap().expect("the client has gone");
        let message = serde_json::from_str(&line).unwrap();
        self.watched.sent(&message);
        message
    }

    /// The next message, which calls this method.
    pub async fn called(&mut self, method: &str) -> Value {
        let call = self.receive().await;
        assert_eq!(call["method"], method, "{call}");
        call
    }

    pub async fn answer(&mut self, call: &Value, result: Value) {
        self.send(json!({ "jsonrpc": "2.0", "id": call["id"], "result": result })).await;
    }

    /// Opens the session `s`.
    pub async fn opens(&mut self) {
        let call = self.called("initialize").await;
        self.answer(&call, json!({ "protocolVersion": 1 })).await;
        let call = self.called("session/new").await;
        self.answer(&call, json!({ "sessionId": "s" })).await;
    }

    /// A request of the agent, and the client's answer.
    pub async fn asks(&mut self, method: &str, params: Value) -> Value {
        self.send(json!({ "jsonrpc": "2.0", "id": "a", "method": method, "params": params })).await;
        let answer = self.receive().await;
        assert_eq!(answer["id"], "a", "{answer}");
        answer
    }

    /// Opens a further session of this name.
    pub async fn opens_further(&mut self, session: &str) -> Value {
        let call = self.called("session/new").await;
        self.answer(&call, json!({ "sessionId": session })).await;
        call
    }

    pub async fn says(&mut self, text: &str) {
        self.says_in("s", text).await;
    }

    pub async fn says_in(&mut self, session: &str, text: &str) {
        let update = json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": text } });
        let params = json!({ "sessionId": session, "update": update });
        self.send(json!({ "jsonrpc": "2.0", "method": "session/update", "params": params })).await;
    }

    /// Says nothing for so long.
    pub async fn thinks(&mut self, time: Duration) {
        tokio::time::sleep(time).await;
    }

    pub async fn ends(&mut self, prompt: &Value, stop: &str) {
        self.answer(prompt, json!({ "stopReason": stop })).await;
    }

    /// The agent's process ends.
    pub fn dies(self) {
        self.link.exit(acp_tui::base::exit::Exit { code: Some(3), signal: None });
    }

    /// Waits until the client has gone.
    pub async fn stays(&mut self) {
        while self.link.lines.next_line().await.unwrap().is_some() {}
    }
}

/// Runs the client between an agent and a person. Gives how it ended, and the screen as it was when the agent was
/// started.
pub async fn play(
    size: (u16, u16),
    agent: impl AsyncFnOnce(Agent),
    person: impl AsyncFnOnce(Person),
) -> (Ended, String) {
    play_with(size, None, agent, person).await
}

/// The same with a place where earlier sessions are kept. Not for a clock that stands still: they are read by a thread.
pub async fn play_with(
    size: (u16, u16),
    past: Option<Arc<dyn Archive>>,
    agent: impl AsyncFnOnce(Agent),
    person: impl AsyncFnOnce(Person),
) -> (Ended, String) {
    play_wishing(size, past, Models::default(), agent, person).await
}

/// The same with what is wished of models.
pub async fn play_wishing(
    size: (u16, u16),
    past: Option<Arc<dyn Archive>>,
    models: Models,
    agent: impl AsyncFnOnce(Agent),
    person: impl AsyncFnOnce(Person),
) -> (Ended, String) {
    let (link, far) = memory();
    let agent = agent(Agent::of(far));
    let dir = tempfile::tempdir().unwrap();
    let place = Conversation::default();
    play_linked(size, config(dir.path()), (past, models, place), vec![link], agent, person).await
}

/// The same in the terminal's own scrollback, or on the alternate screen.
pub async fn play_where(
    is_inline: bool,
    size: (u16, u16),
    agent: impl AsyncFnOnce(Agent),
    person: impl AsyncFnOnce(Person),
) -> (Ended, String) {
    let (link, far) = memory();
    let agent = agent(Agent::of(far));
    let dir = tempfile::tempdir().unwrap();
    let place = Conversation { is_inline, is_printed_at_end: false };
    play_linked(size, config(dir.path()), (None, Models::default(), place), vec![link], agent, person).await
}

/// With two agents: the first is there from the start, the other one is called `b` and can be chosen for a session.
pub async fn play_two(
    size: (u16, u16),
    config: EngineConfig,
    agent: impl AsyncFnOnce(Agent),
    other: impl AsyncFnOnce(Agent),
    person: impl AsyncFnOnce(Person),
) -> Ended {
    let ((link, far), (further, beyond)) = (memory(), memory());
    let agents = async {
        tokio::join!(agent(Agent::of(far)), other(Agent::of(beyond)));
    };
    let nothing = (None, Models::default(), Conversation::default());
    play_linked(size, config, nothing, vec![link, further], agents, person).await.0
}

/// With a place where what is written is kept; goes on with the session of that name, where there is one. Not for a clock
/// that stands still.
pub async fn play_keeping(
    size: (u16, u16),
    drafts: Arc<dyn DraftStore>,
    goes_on: Option<&str>,
    agent: impl AsyncFnOnce(Agent),
    person: impl AsyncFnOnce(Person),
) -> Ended {
    let (link, far) = memory();
    let agent = agent(Agent::of(far));
    let dir = tempfile::tempdir().unwrap();
    let nothing = (None, Models::default(), Conversation::default());
    let kept = Kept { drafts: Some(drafts), goes_on: goes_on.map(SessionId::from) };
    play_kept(size, config(dir.path()), nothing, kept, vec![link], agent, person).await.0
}

/// What there is from earlier runs.
#[derive(Default)]
struct Kept {
    drafts: Option<Arc<dyn DraftStore>>,
    goes_on: Option<SessionId>,
}

/// Lets the clock that stands still go on by so much whenever `file` has been written to the disk: what a thread does
/// takes it a few such steps, on any machine.
pub async fn goes_on_with_the_disk(file: &File, step: Duration) {
    loop {
        let file = file.try_clone().unwrap();
        let written = tokio::task::spawn_blocking(move || {
            (&file).write_all(b".").unwrap();
            file.sync_all().unwrap();
        });
        written.await.unwrap();
        tokio::time::sleep(step).await;
    }
}

async fn play_linked(
    size: (u16, u16),
    config: EngineConfig,
    beside: (Option<Arc<dyn Archive>>, Models, Conversation),
    links: Vec<Link>,
    agents: impl Future<Output = ()>,
    person: impl AsyncFnOnce(Person),
) -> (Ended, String) {
    play_kept(size, config, beside, Kept::default(), links, agents, person).await
}

async fn play_kept(
    size: (u16, u16),
    mut config: EngineConfig,
    (past, models, conversation): (Option<Arc<dyn Archive>>, Models, Conversation),
    kept: Kept,
    links: Vec<Link>,
    agents: impl Future<Output = ()>,
    person: impl AsyncFnOnce(Person),
) -> (Ended, String) {
    let glass = Glass::new(size);
    let (inputs, happenings) = mpsc::channel(1024);
    let (signals, signalled) = mpsc::channel(8);
    let first = Arc::new(Mutex::new(String::new()));
    let (at_start, before) = (glass.clone(), Arc::clone(&first));
    let has_further = links.len() > 1;
    let mut links = links.into_iter();
    let connect = Box::new(move |_| {
        let mut first = before.lock().unwrap();
        if first.is_empty() {
            *first = at_start.text();
        }
        links.next().expect("each is started once")
    });
    if has_further {
        config.further = Further::read_by(|| BTreeMap::from([("b".into(), setup())]));
    }
    let mut engine = Engine::connected(config, codec::shipped(), Some(connect));
    if let Some(id) = kept.goes_on {
        engine.intent(Intent::OpenAs(Opening::Continue(id)));
    }
    let options = UiOptions {
        looks: Looks::named("dark", Depth::None, Ground::Unknown).unwrap(),
        animation: Animation::Off,
        keys: Arc::default(),
        remarks: Vec::new(),
        prompts: Vec::new(),
        home: None,
        multiplexer: Multiplexer::None,
        purpose: Purpose::Session,
        unstable: false,
        agents: Box::new(move || if has_further { vec![("b".into(), "b-acp".into())] } else { Vec::new() }),
        past,
        drafts: kept.drafts,
        lease: None,
        place: None,
        models,
        outside: Outside { notices: Notices::Terminal(Channel::Osc9), ..Outside::default() },
        clipboard: Tools::default(),
        status_command: None,
        tour: None,
        ambiguous_is_wide: None,
        conversation,
    };
    let terminal = Terminal { glass: glass.clone(), happenings, signals: signalled };
    let screen = Screen::on(terminal).unwrap();
    let client = Box::pin(run_on(screen, engine, options));
    let person = person(Person { glass, inputs, signals });
    let (ended, (), ()) = tokio::join!(client, agents, person);
    let first = first.lock().unwrap().clone();
    (ended.unwrap(), first)
}

fn setup() -> AgentSetup {
    let protocol = acp_tui::model::event::Protocol::Auto;
    AgentSetup { protocol, command: "b-acp".into(), ..AgentSetup::default() }
}
