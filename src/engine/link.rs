//! The four ends of a connection: frames in, frames out, an error stream if there is one, and the end.
//!
//! A child process has them, and so has an agent in this program, over memory. Knows no message. Invariant: the process
//! at the other end, its end is told once and the same each time it is asked for.

use crate::base::exit::Exit;
use crate::host::process::{AgentProcess, Graces, Survivor};
use crate::model::ids::AgentKey;
use crate::wire::duplex;
use crate::wire::framing::Framing;
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream};
use tokio::sync::mpsc;

/// Bytes under way in memory, in each direction.
const CAPACITY: usize = 64 << 10;

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
        Self { incoming, outgoing, errors, framing, far: Far::Process(Box::new(process)) }
    }
}

/// Who is at the other end.
#[derive(Debug)]
pub enum Far {
    Process(Box<AgentProcess>),
    Memory { exit: mpsc::Receiver<Exit>, ended: Option<Exit> },
}

impl Far {
    /// 0 where there is no process.
    pub fn pid(&self) -> u32 {
        match self {
            Self::Process(process) => u32::try_from(process.pid).unwrap_or(0),
            Self::Memory { .. } => 0,
        }
    }

    /// Resolves when it has ended. May be dropped and called again.
    pub async fn wait(&mut self) -> Exit {
        match self {
            Self::Process(process) => process.wait().await.unwrap_or_default(),
            Self::Memory { ended: Some(exit), .. } => exit.clone(),
            Self::Memory { exit, ended } => {
                // One that is dropped has ended without saying how.
                let exit = exit.recv().await.unwrap_or_default();
                ended.insert(exit).clone()
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
        }
    }

    /// Remembers what descends from it; to be called before its input is closed.
    pub fn look_around(&mut self) {
        if let Self::Process(process) = self {
            process.look_around();
        }
    }

    /// Ends it with all that belongs to it, and names what could not be ended.
    pub async fn shutdown(self, graces: Graces) -> Vec<Survivor> {
        match self {
            Self::Process(process) => process.shutdown(graces).await.survivors,
            // Its streams are closed by now; it has nothing else of ours.
            Self::Memory { .. } => Vec::new(),
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
    let link = Link { incoming, outgoing, errors: Some(Box::new(printed)), framing: Framing::Lines, far };
    (link, Agent { lines, errors, exit: tell })
}
