//! The agents of an engine, each at the other end of a link of its own.
//!
//! Starts them, waits for them in turn and lets them go; what is heard is applied elsewhere. Invariant: an agent that
//! was served is the last to be served again, so that no agent, however much it sends, keeps another one waiting.

use super::decoding::Decoding;
use super::fact::Facts;
use super::link::{Connect, Ended, Link};
use super::running::{Running, STDERR_LINES};
use crate::agent::codec::Decoded;
use crate::base::inherited::Inherited;
use crate::host::process::{self, AgentSpec, Graces, Sandbox, Survivor};
use crate::model::confined::Confined;
use crate::model::event::{HostEvent, Protocol};
use crate::model::ids::AgentKey;
use crate::model::login::quote;
use crate::remote::{Address, Remote, Told};
use crate::wire::framing::Framing;
use crate::wire::outbox::{Load, Outbox};
use crate::wire::pump::{Incoming, WordForWord};
use crate::wire::stderr::StderrTail;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::collections::btree_map::RangeMut;
use std::future::poll_fn;
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use std::task::Poll;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// How long what waits for a dying agent may take to be written.
const LAST_WORDS: Duration = Duration::from_millis(200);
/// How long the error stream has to be silent, and how long that is waited for, before its end is shown.
const STDERR_QUIET: Duration = Duration::from_millis(50);
const STDERR_LIMIT: Duration = Duration::from_millis(250);

/// How an agent is started.
#[derive(Clone, Debug, Default)]
pub struct AgentSetup {
    pub command: String,
    pub args: Vec<String>,
    pub env: Vec<(String, String)>,
    /// What it and its commands get of this program's own environment.
    pub inherited: Inherited,
    /// How to install it, where that is known.
    pub install: Option<String>,
    /// Where its program is started; in its first session's directory without.
    pub start_in: Option<PathBuf>,
    /// In which versions of the protocol it is spoken to.
    pub protocol: Protocol,
    pub reach: Reach,
    /// What it may write besides the session's directory, where that is confined.
    pub sandbox: Option<Sandbox>,
    /// Its name in the system's keyring; nothing is kept for it without.
    pub kept_as: Option<String>,
}

/// How messages get to an agent and back.
#[derive(Clone, Debug, Default)]
pub struct Reach {
    pub framing: Framing,
    /// An agent behind an address, which is not started, or why it cannot be reached.
    pub remote: Option<Result<Remote, String>>,
}

/// What an agent is called in the system's keyring that is known by its command alone. One that names files of the
/// project is another agent in each project.
pub fn kept_by_command(command: &str, args: &[String], cwd: &Path) -> String {
    let words = || std::iter::once(command).chain(args.iter().map(String::as_str));
    let is_of_project = words().any(|word| !Path::new(word).is_absolute() && cwd.join(word).exists());
    let place = if is_of_project { cwd.as_os_str().as_encoded_bytes() } else { b"" };
    let line = words().map(quote).collect::<Vec<_>>().join(" ");
    let digest = Sha256::digest([line.as_bytes(), &[0], place].concat());
    digest.iter().fold("command ".to_owned(), |name, byte| name + &format!("{byte:02x}"))
}

impl AgentSetup {
    /// Of which only the command line is known, for a session of this directory: that may be an address.
    pub fn recorded(command: &str, args: &[String], cwd: &Path) -> Self {
        let remote = (args.is_empty() && Address::is_one(command)).then(|| Remote::read(command));
        // What is behind an address gets no variables.
        let kept_as = remote.is_none().then(|| kept_by_command(command, args, cwd));
        let reach = Reach { remote, ..Reach::default() };
        Self { command: command.to_owned(), args: args.to_vec(), reach, kept_as, ..Self::default() }
    }

    /// What it may write in a session of this directory, where that is confined.
    pub fn sandbox_in(&self, cwd: &Path) -> Option<Sandbox> {
        let own = self.sandbox.as_ref()?;
        let writable = std::iter::once(cwd).chain(own.writable.iter().map(PathBuf::as_path)).map(Path::to_owned);
        Some(Sandbox { writable: writable.collect(), ..own.clone() })
    }

    /// The same, confined where the first agent is and as that one, without what that one may write besides: only its
    /// command is known, and not whether it should be.
    #[must_use]
    pub fn confined_as(self, first: Option<&Self>) -> Self {
        let of_first = first.and_then(|first| first.sandbox.as_ref());
        let sandbox = self.sandbox.or_else(|| of_first.map(|own| Sandbox { writable: Vec::new(), ..own.clone() }));
        Self { sandbox, ..self }
    }

    /// The command line as the person would type it.
    pub fn line(&self) -> String {
        let words = std::iter::once(&self.command).chain(&self.args);
        words.map(|word| quote(word)).collect::<Vec<_>>().join(" ")
    }
}

impl Reach {
    /// What is not to be shown or written down, whoever says it.
    pub fn secrets(&self) -> impl Iterator<Item = &str> {
        let remote = self.remote.as_ref().and_then(|remote| remote.as_ref().ok());
        remote.into_iter().flat_map(|remote| &remote.headers).flat_map(|header| header.secrets())
    }
}

/// Agents that can be added, by the names under which they are configured; read when the first one is.
#[derive(Debug)]
pub struct Further {
    configured: LazyLock<Setups, Box<dyn FnOnce() -> Setups + Send>>,
    /// Those that are known otherwise.
    added: Setups,
    /// What is said of all: what one gets of this program's own environment of which only the command is known.
    inherited: Inherited,
}

type Setups = BTreeMap<String, AgentSetup>;

impl Further {
    pub fn read_by(read: impl FnOnce() -> BTreeMap<String, AgentSetup> + Send + 'static) -> Self {
        Self { configured: LazyLock::new(Box::new(read)), added: Setups::new(), inherited: Inherited::default() }
    }

    #[must_use]
    pub fn inheriting(self, inherited: Inherited) -> Self {
        Self { inherited, ..self }
    }

    pub fn get(&self, name: &str) -> Option<&AgentSetup> {
        self.added.get(name).or_else(|| self.configured.get(name))
    }

    /// One of which only the command is known.
    pub fn add(&mut self, name: String, setup: AgentSetup) {
        self.added.insert(name, AgentSetup { inherited: self.inherited.clone(), ..setup });
    }
}

impl Default for Further {
    fn default() -> Self {
        Self::read_by(BTreeMap::new)
    }
}

/// What a link was waited for.
#[derive(Debug)]
pub enum LinkWake {
    Incoming(Incoming),
    /// A large update is ready to be applied.
    Decoded(Decoded),
    Stderr(Arc<str>),
    /// What the connection to its address has to tell of itself.
    Told(Told),
    Ended(Ended),
    InputClosed,
    Written,
}

#[derive(Default)]
struct Far {
    /// Nothing when no agent of the name is configured.
    setup: Option<AgentSetup>,
    running: Option<Running>,
    /// What its newest process wrote to its error stream, also when it has ended.
    stderr: Option<StderrTail>,
    /// It said nothing to lines: it is written to with lengths.
    has_lengths: bool,
    /// What the keyring has for it was asked for.
    is_given_kept: bool,
}

/// What an agent has left.
#[derive(Debug, Default)]
pub(super) struct Remains {
    pub survivors: Vec<Survivor>,
    /// What is to be told of it, where nobody was there any more who could hear it.
    pub unheard: Option<String>,
}

pub(super) struct Links {
    agents: BTreeMap<AgentKey, Far>,
    /// Makes the links to agents that are no processes.
    connect: Option<Connect>,
    /// How long those are waited for that are let go.
    graces: Graces,
    /// The one that was served last.
    last: AgentKey,
    /// Those that were let go.
    ending: Vec<JoinHandle<Remains>>,
}

impl Links {
    pub fn new(first: AgentSetup, connect: Option<Connect>, graces: Graces) -> Self {
        let mut links = Self { agents: BTreeMap::new(), connect, graces, last: AgentKey::FIRST, ending: Vec::new() };
        links.add(AgentKey::FIRST, Some(first));
        links
    }

    /// Says how an agent is to be started.
    pub fn add(&mut self, agent: AgentKey, setup: Option<AgentSetup>) {
        self.agents.insert(agent, Far { setup, ..Far::default() });
    }

    pub fn setup(&self, agent: AgentKey) -> Option<&AgentSetup> {
        self.agents.get(&agent)?.setup.as_ref()
    }

    /// What an agent that is started in this directory can do, where that is kept.
    pub fn confined(&self, agent: AgentKey, cwd: &Path) -> Option<Confined> {
        let Sandbox { writable, readable, connects, listens } = self.setup(agent)?.sandbox_in(cwd)?;
        let names = |paths: Vec<PathBuf>| paths.iter().map(|path| path.to_string_lossy().into_owned()).collect();
        let keeps_apart = process::keeps_apart();
        Some(Confined { writes: names(writable), reads: readable.map(names), connects, listens, keeps_apart })
    }

    /// From now on lengths stand before the agent's messages: it has said nothing to lines.
    pub fn try_lengths(&mut self, agent: AgentKey) {
        if let Some(far) = self.agents.get_mut(&agent) {
            far.has_lengths = true;
        }
    }

    /// From now on the agent is started with these variables too.
    pub fn set_variables(&mut self, agent: AgentKey, values: Vec<(String, String)>) {
        if let Some(setup) = self.agents.get_mut(&agent).and_then(|far| far.setup.as_mut()) {
            setup.env.retain(|(name, _)| values.iter().all(|(new, _)| new != name));
            setup.env.extend(values);
        }
    }

    pub fn unset_variables(&mut self, agent: AgentKey, names: &[String]) {
        if let Some(setup) = self.agents.get_mut(&agent).and_then(|far| far.setup.as_mut()) {
            setup.env.retain(|(name, _)| !names.contains(name));
        }
    }

    /// The agent's name in the keyring, when it is asked for the first time.
    pub fn kept_as_at_first(&mut self, agent: AgentKey) -> Option<String> {
        let far = self.agents.get_mut(&agent)?;
        let is_first = !std::mem::replace(&mut far.is_given_kept, true);
        far.setup.as_ref().filter(|_| is_first)?.kept_as.clone()
    }

    pub fn running(&self, agent: AgentKey) -> Option<&Running> {
        self.agents.get(&agent)?.running.as_ref()
    }

    pub fn running_mut(&mut self, agent: AgentKey) -> Option<&mut Running> {
        self.agents.get_mut(&agent)?.running.as_mut()
    }

    /// Starts an agent, in place of the one that runs, and tells what came of it.
    pub fn start(&mut self, agent: AgentKey, cwd: PathBuf, words: WordForWord) -> HostEvent {
        self.end(agent);
        let failed = |message, hint| HostEvent::SpawnFailed { message, hint };
        let Some(far) = self.agents.get_mut(&agent) else { return failed("no such agent".into(), String::new()) };
        far.stderr = None;
        let link = match (&mut self.connect, &far.setup) {
            (Some(connect), _) => Ok(connect(agent)),
            (None, Some(AgentSetup { reach: Reach { remote: Some(remote), framing }, .. })) => match remote {
                Ok(remote) => Ok(Link::remote(remote.clone(), *framing)),
                Err(why) => return failed(why.clone(), String::new()),
            },
            (None, Some(setup)) => {
                let sandbox = setup.sandbox_in(&cwd);
                let spec = spec(setup, setup.start_in.clone().unwrap_or(cwd), sandbox);
                process::spawn(&spec).map(|process| Link::process(process, setup.reach.framing))
            }
            (None, None) => return failed("no agent of this name is configured".into(), String::new()),
        };
        match link {
            Ok(mut link) => {
                if far.has_lengths {
                    link.framing = Framing::Lengths;
                }
                let begun = link.far.begun();
                let running = Running::new(link, words);
                far.stderr = Some(running.stderr.clone());
                far.running = Some(running);
                begun
            }
            Err(error) => {
                let missing = matches!(error, process::SpawnError::NotFound { .. });
                let install = far.setup.as_ref().and_then(|setup| setup.install.as_ref()).filter(|_| missing);
                let hint = install.map(|how| format!("To install it: {how}")).unwrap_or_default();
                failed(error.to_string(), hint)
            }
        }
    }

    /// Lets an agent go in the background: input closed, then asked, then killed.
    pub fn end(&mut self, agent: AgentKey) {
        let graces = self.graces;
        let Some(mut running) = self.agents.get_mut(&agent).and_then(|far| far.running.take()) else { return };
        running.far.look_around();
        self.ending.push(tokio::spawn(async move {
            running.close_input(LAST_WORDS).await;
            Remains { survivors: running.far.shutdown(graces).await, unheard: None }
        }));
    }

    /// The same with one that has died: what it has left ends, too, and that is told.
    pub fn clear_up(&mut self, agent: AgentKey, facts: &Facts) {
        let (graces, facts) = (self.graces, facts.clone());
        let Some(mut running) = self.agents.get_mut(&agent).and_then(|far| far.running.take()) else { return };
        self.ending.push(tokio::spawn(async move {
            running.close_input(Duration::ZERO).await;
            let (survivors, ended) = running.far.clear_up(graces).await;
            let mut unheard = None;
            if !ended.is_empty() {
                let message = format!("the agent had left something running, which was ended: {}", ended.join(", "));
                let is_heard = facts.hears(agent.into(), HostEvent::Warning { message: message.clone() }).await;
                unheard = Some(message).filter(|_| !is_heard);
            }
            Remains { survivors, unheard }
        }));
    }

    /// The same with all of them. Gives what is to be waited for.
    pub fn end_all(&mut self) -> Vec<JoinHandle<Remains>> {
        let agents: Vec<AgentKey> = self.agents.keys().copied().collect();
        for agent in agents {
            self.end(agent);
        }
        std::mem::take(&mut self.ending)
    }

    /// From now on agents are ended within that time or soon after it.
    pub fn hurry(&mut self, left: Duration) {
        self.graces = self.graces.within(left);
    }

    /// Ends an agent's group at once.
    pub fn kill(&mut self, agent: AgentKey) {
        if let Some(running) = self.running_mut(agent) {
            running.far.kill();
        }
    }

    /// Remembers that one of the ends of an agent's link has come to its end.
    pub fn note(&mut self, agent: AgentKey, wake: LinkWake) {
        let Some(running) = self.running_mut(agent) else { return };
        match wake {
            LinkWake::Incoming(Incoming::Closed { error, .. }) => running.note_closed(error),
            LinkWake::Ended(ended) => running.note_ended(ended),
            LinkWake::InputClosed => running.note_input_closed(),
            LinkWake::Incoming(_)
            | LinkWake::Decoded(_)
            | LinkWake::Stderr(_)
            | LinkWake::Told(_)
            | LinkWake::Written => {}
        }
    }

    /// When to look again for an end that is near.
    pub fn deadline(&self) -> Option<Instant> {
        self.agents.values().filter_map(|far| far.running.as_ref()?.deadline()).min()
    }

    /// Agents whose ends are certain.
    pub fn ended(&self) -> Vec<(AgentKey, HostEvent)> {
        self.agents.iter().filter_map(|(agent, far)| Some((*agent, far.running.as_ref()?.end()?))).collect()
    }

    /// Waits for what any agent does next, beginning behind the one that was served last. May be dropped and called
    /// again without a loss.
    pub async fn next(&mut self) -> (AgentKey, LinkWake) {
        let mut running = self.agents.iter_mut().filter_map(|(agent, far)| Some((*agent, far.running.as_mut()?)));
        let (mut first, second) = (running.next(), running.next());
        if let (Some((agent, alone)), None) = (&mut first, &second) {
            self.last = *agent;
            return (*agent, wake(alone).await);
        }
        let running = first.into_iter().chain(second).chain(running);
        let mut waits: Vec<_> = running.map(|(agent, running)| (agent, Box::pin(wake(running)))).collect();
        let after = waits.partition_point(|(agent, _)| *agent <= self.last);
        waits.rotate_left(after);
        let (agent, wake) = poll_fn(|cx| {
            let mut polled = waits.iter_mut().map(|(agent, wait)| (*agent, wait.as_mut().poll(cx)));
            let ready = polled.find_map(|(agent, wake)| match wake {
                Poll::Ready(wake) => Some((agent, wake)),
                Poll::Pending => None,
            });
            ready.map_or(Poll::Pending, Poll::Ready)
        })
        .await;
        drop(waits);
        self.last = agent;
        (agent, wake)
    }

    /// What has arrived and may be applied now, from the agents in turn.
    pub fn ready(&mut self) -> Option<(AgentKey, Incoming)> {
        let first = |agents: RangeMut<'_, AgentKey, Far>| {
            agents.into_iter().find_map(|(agent, far)| Some((*agent, far.running.as_mut()?.ready()?)))
        };
        let behind = first(self.agents.range_mut((Bound::Excluded(self.last), Bound::Unbounded)));
        let (agent, incoming) = behind.or_else(|| first(self.agents.range_mut(..=self.last)))?;
        self.last = agent;
        Some((agent, incoming))
    }

    /// The agent's last lines on stderr while it runs.
    pub fn stderr_tail(&self, agent: AgentKey, lines: usize) -> Vec<String> {
        self.running(agent).map(|running| running.stderr_tail(lines)).unwrap_or_default()
    }

    /// The last lines on stderr of an agent that may have ended; waits a moment for what is still on its way.
    pub fn last_words(&self, agent: AgentKey) -> impl Future<Output = Vec<String>> + use<> {
        let tail = self.agents.get(&agent).and_then(|far| far.stderr.clone());
        async move {
            let Some(tail) = tail else { return Vec::new() };
            tail.quiet_for(STDERR_QUIET, STDERR_LIMIT).await;
            tail.last_lines(STDERR_LINES)
        }
    }
}

fn spec(setup: &AgentSetup, cwd: PathBuf, sandbox: Option<Sandbox>) -> AgentSpec {
    AgentSpec {
        command: setup.command.clone().into(),
        args: setup.args.iter().map(Into::into).collect(),
        env: setup.env.iter().map(|(k, v)| (k.into(), v.into())).collect(),
        inherited: setup.inherited.clone(),
        cwd,
        sandbox,
    }
}

/// What one agent does next. This and what it waits for may be dropped at any time and begun again without a loss.
async fn wake(running: &mut Running) -> LinkWake {
    let (has_ended, closed) = (running.has_ended(), running.is_closed());
    let Running { far, told, incoming, decoding, stderr_lines, outbox, tx, .. } = running;
    let idle = decoding.is_none();
    tokio::select! {
        biased;
        Some(line) = stderr_lines.recv() => LinkWake::Stderr(line),
        Some(told) = heard(told) => LinkWake::Told(told),
        written = write(outbox, tx.as_ref()) => if written { LinkWake::Written } else { LinkWake::InputClosed },
        decoded = decoded(decoding) => LinkWake::Decoded(decoded),
        Some(incoming) = incoming.recv(), if !closed && idle => LinkWake::Incoming(incoming),
        ended = far.wait(), if !has_ended => LinkWake::Ended(ended),
        else => std::future::pending().await,
    }
}

async fn heard(told: &mut Option<mpsc::Receiver<Told>>) -> Option<Told> {
    told.as_mut()?.recv().await
}

async fn write(outbox: &mut Outbox, tx: Option<&mpsc::Sender<Load>>) -> bool {
    match tx {
        Some(tx) => outbox.ready(tx).await.is_ok(),
        None => std::future::pending().await,
    }
}

async fn decoded(decoding: &mut Option<Decoding>) -> Decoded {
    match decoding {
        Some(decoding) => decoding.done().await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
#[path = "links_tests.rs"]
mod tests;
