//! Agents that are not started but reached at an address: moves whole messages between a connection and the pumps.
//!
//! Knows no message of the protocol. Invariants: what waits in either direction is bounded by the streams in between; why a
//! connection has ended is said once, in words for a person (S-060).

mod address;
mod unix;

pub use address::Address;

use crate::base::transport::{Reached, Transport};
use crate::wire::duplex::End;

/// An agent behind an address, and what of this machine it may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remote {
    pub address: Address,
    pub files: bool,
    pub terminals: bool,
}

impl Remote {
    /// From an address as it is written; neither files nor commands of this machine are for it (S-062).
    pub fn read(text: &str) -> Result<Self, String> {
        Ok(Self { address: Address::read(text)?, files: false, terminals: false })
    }

    pub fn reached(&self) -> Reached {
        let transport = match self.address {
            Address::Unix(_) => Transport::Unix,
        };
        Reached { transport, files: self.files, terminals: self.terminals }
    }
}

/// Connects, and moves messages until the connection ends; gives why it did.
pub async fn carry(remote: Remote, end: End) -> String {
    match &remote.address {
        Address::Unix(path) => unix::carry(path, end).await,
    }
}
