//! A link to an agent of a test in this program; what goes over it is looked at on its way.

use super::schema::Watched;
use acp_tui::engine::link::{self, Agent, Link};
use acp_tui::wire::duplex::{self, End};
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};

const CAPACITY: usize = 64 << 10;

/// As `link::memory`. A message of the client that is not valid ends what it sends, and says why.
pub fn memory() -> (Link, Agent) {
    let (link, mut agent) = link::memory();
    let (near, theirs) = duplex::pair(CAPACITY);
    let ours = std::mem::replace(&mut agent.lines, theirs);
    let (End { reader: from_client, writer: to_client }, End { reader: from_agent, writer: to_agent }) = (ours, near);
    let watched = Arc::new(Mutex::new(Watched::default()));
    let heard = Arc::clone(&watched);
    tokio::spawn(pass(from_agent, to_client, move |line| heard.lock().unwrap().hear(line)));
    tokio::spawn(pass(from_client, to_agent, move |line| {
        watched.lock().unwrap().sent(&serde_json::from_slice(line).unwrap());
    }));
    (link, agent)
}

/// Lines go on as they are, once they were looked at.
async fn pass(mut from: BufReader<DuplexStream>, mut to: DuplexStream, mut look: impl FnMut(&[u8])) {
    let mut line = Vec::new();
    while from.read_until(b'\n', &mut line).await.is_ok_and(|count| count > 0) {
        look(&line);
        if to.write_all(&line).await.is_err() {
            return;
        }
        line.clear();
    }
}
