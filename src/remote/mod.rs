//! Agents that are not started but reached at an address: moves whole messages between a connection and the pumps.
//!
//! Knows no message of the protocol. Invariants: what waits in either direction is bounded by the streams in between; why a
//! connection has ended is said once, in words for a person (S-060).

mod address;
mod header;
#[cfg(feature = "remote")]
mod tls;
mod unix;
#[cfg(feature = "remote")]
mod web;
#[cfg(feature = "remote")]
mod websocket;

pub use address::Address;
pub use header::Header;

use crate::base::transport::{Reached, Transport};
use crate::wire::duplex::End;

/// An agent behind an address, and what of this machine it may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remote {
    pub address: Address,
    /// Sent with each request to an address on the web.
    pub headers: Vec<Header>,
    pub files: bool,
    pub terminals: bool,
}

impl Remote {
    /// From an address as it is written; neither files nor commands of this machine are for it (S-062).
    pub fn read(text: &str) -> Result<Self, String> {
        Ok(Self { address: Address::read(text)?, headers: Vec::new(), files: false, terminals: false })
    }

    pub fn reached(&self) -> Reached {
        Reached { transport: self.transport(), files: self.files, terminals: self.terminals }
    }

    fn transport(&self) -> Transport {
        match self.address {
            Address::Unix(_) => Transport::Unix,
            #[cfg(feature = "remote")]
            Address::Web(_) => Transport::WebSocket,
        }
    }

    /// The same with these headers, over the transport of this name where one is named.
    pub fn with(self, headers: Vec<Header>, transport: Option<&str>) -> Result<Self, String> {
        let own = self.transport();
        if let Some(name) = transport.filter(|name| *name != own.word()) {
            return Err(format!("this address is reached over {}, not over {name}", own.word()));
        }
        if own == Transport::Unix && !headers.is_empty() {
            return Err("a socket of this machine takes no headers".to_owned());
        }
        Ok(Self { headers, ..self })
    }
}

/// Connects, and moves messages until the connection ends; gives why it did.
pub async fn carry(remote: Remote, end: End) -> String {
    match &remote.address {
        Address::Unix(path) => unix::carry(path, end).await,
        #[cfg(feature = "remote")]
        Address::Web(web) => websocket::carry(web, &remote.headers, end).await,
    }
}
