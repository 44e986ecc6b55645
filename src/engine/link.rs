//! The four ends of a connection: frames in, frames out, an error stream if there is one, and the end.
//!
//! A child process has them, and so has an agent in this program, over memory. Knows no message. Invariant: the process
//! at the other end, its end is told once and the same each time it is asked for.

use crate::base::exit::Exit;
use crate::base::transport::{Reached, Transport};
use crate::host::process::{AgentProcess, Graces, Survivor};
use crate::model::event::HostEvent;
use crate::model::ids::AgentKey;
use crate::remote::{self, Lost, Remote, Told};
use crate::wire::duplex;
use crate::wire::framing::Framing;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// Bytes under way in memory, in each direction.
const CAPACITY: usize = 64 << 10;
/// How long an agent behind an address may take to end a connection that we have ended.
const LAST_BYTES: Duration = Duration::from_millis(500);

/// What a connection has to tell of itself before it is looked at.
const TOLD: usize = 4;

pub type Incoming = Box<dyn AsyncRead + Send + Unpin>;
pub type Outgoing = Box<dyn AsyncWrite + Send + Unpin>;
/// Makes the link when an agent is to be started.
pub type Connect = Box<dyn FnMut(AgentKey) -> Link + Send>;

pub struct Link {
    pub incoming: Incoming,
    pub outgoing: Outgoing,
    pub errors: Option<Incoming>,
    /// How messages are told apart in both directions.
    pub framing: Framing,
    /// What a connection to an address has to tell of itself.
    pub told: Option<mpsc::Receiver<Told>>,
    pub far: Far,
}

impl Link {
    /// Takes the pipes of a fresh process.
    pub fn process(mut process: AgentProcess, framing: Framing) -> Self {
        let incoming: Incoming = match process.stdout.take() {
            Some(stdout) => Box::new(stdout),
            None => Box::new(tokio::io::empty()),
        };
        let outgoing: Outgoing = match process.stdin.take() {
            Some(stdin) => Box::new(stdin),
            None => Box::new(tokio::io::sink()),
        };
        let errors = process.stderr.take().map(|stderr| Box::new(stderr) as Incoming);
        Self { incoming, outgoing, errors, framing, told: None, far: Far::Process(Box::new(process)) }
    }

    /// Reaches an agent at its address; that it cannot be reached is told as the end.
    pub fn remote(remote: Remote, framing: Framing) -> Self {
        let (ours, theirs) = duplex::pair(CAPACITY);
        let reached = remote.reached();
        // Elsewhere the transport tells messages apart.
        let framing = if reached.transport == Transport::Unix { framing } else { Framing::Lines };
        let (tell, told) = mpsc::channel(TOLD);
        let task = tokio::spawn(remote::carry(remote, theirs, tell));
        let far = Far::Remote { reached, task, ended: None };
        let (incoming, outgoing) = (Box::new(ours.reader), Box::new(ours.writer));
        Self { incoming, outgoing, errors: None, framing, told: Some(told), far }
    }
}

impl From<Told> for HostEvent {
    fn from(told: Told) -> Self {
        match told {
            Told::Over(transport) => Self::ReachedOver(transport),
            Told::AsksNothing => Self::AsksNothing,
        }
    }
}

/// How the far end has ended.
#[derive(Clone, Debug)]
pub enum Ended {
    Exited(Exit),
    /// The connection to it, and why.
    Lost(Lost),
}

/// Who is at the other end.
#[derive(Debug)]
pub enum Far {
    Process(Box<AgentProcess>),
    Memory { exit: mpsc::Receiver<Exit>, ended: Option<Exit> },
    Remote { reached: Reached, task: JoinHandle<Lost>, ended: Option<Lost> },
}

impl Far {
    /// What there is to tell of its begin. The number is 0 where there is no process.
    pub fn begun(&self) -> HostEvent {
        match self {
            Self::Process(process) => HostEvent::AgentSpawned { pid: u32::try_from(process.pid).unwrap_or(0) },
            Self::Memory { .. } => HostEvent::AgentSpawned { pid: 0 },
            Self::Remote { reached, .. } => HostEvent::Connecting(*reached),
        }
    }

    /// Resolves when it has ended. May be dropped and called again.
    pub async fn wait(&mut self) -> Ended {
        match self {
            Self::Process(process) => Ended::Exited(process.wait().await.unwrap_or_default()),
            Self::Memory { ended: Some(exit), .. } => Ended::Exited(exit.clone()),
            Self::Memory { exit, ended } => {
                // One that is dropped has ended without saying how.
                let exit = exit.recv().await.unwrap_or_default();
                Ended::Exited(ended.insert(exit).clone())
            }
            Self::Remote { ended: Some(lost), .. } => Ended::Lost(lost.clone()),
            Self::Remote { task, ended, .. } => {
                let lost = task.await.unwrap_or_else(|_| "the connection to the agent was ended".to_owned().into());
                Ended::Lost(ended.insert(lost).clone())
            }
        }
    }

    /// Ends it at once, without waiting.
    pub fn kill(&mut self) {
        match self {
            Self::Process(process) => process.kill_now(),
            Self::Memory { ended, .. } => {
                ended.get_or_insert_with(|| Exit { code: None, signal: Some("SIGKILL".into()) });
            }
            Self::Remote { task, .. } => task.abort(),
        }
    }

    /// Remembers what descends from it; to be called before its input is closed.
    pub fn look_around(&mut self) {
        if let Self::Process(process) = self {
            process.look_around();
        }
    }

    /// The same of one that has died, with what has moved away from it. Gives that by the words for it, too.
    pub async fn clear_up(self, graces: Graces) -> (Vec<Survivor>, Vec<String>) {
        let Self::Process(process) = self else { return (self.shutdown(graces).await, Vec::new()) };
        let (left, ended) = process.clear_up(graces).await;
        (left, ended.iter().map(|one| format!("{} {}", one.pid, one.command)).collect())
    }

    /// Ends it with all that belongs to it, and names what could not be ended.
    pub async fn shutdown(self, graces: Graces) -> Vec<Survivor> {
        match self {
            Self::Process(process) => process.shutdown(graces).await.survivors,
            // Its streams are closed by now; it has nothing else of ours.
            Self::Memory { .. } => Vec::new(),
            Self::Remote { mut task, ended, .. } => {
                if ended.is_none() && timeout(LAST_BYTES, &mut task).await.is_err() {
                    task.abort();
                }
                Vec::new()
            }
        }
    }
}

/// The agent's side of a link over memory. Dropping it is its end.
#[derive(Debug)]
pub struct Agent {
    pub lines: duplex::End,
    pub errors: DuplexStream,
    exit: mpsc::Sender<Exit>,
}

impl Agent {
    pub fn exit(self, exit: Exit) {
        // The end of one that was let go is not awaited.
        let _ = self.exit.try_send(exit);
    }
}

/// A link to an agent in this program, and that agent's side of it.
pub fn memory() -> (Link, Agent) {
    let (ours, lines) = duplex::pair(CAPACITY);
    let (printed, errors) = tokio::io::duplex(CAPACITY);
    let (tell, exit) = mpsc::channel(1);
    let far = Far::Memory { exit, ended: None };
    let (incoming, outgoing) = (Box::new(ours.reader), Box::new(ours.writer));
    let link = Link { incoming, outgoing, errors: Some(Box::new(printed)), framing: Framing::Lines, told: None, far };
    (link, Agent { lines, errors, exit: tell })
}
