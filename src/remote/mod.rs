//! Agents that are not started but reached at an address: moves whole messages between a connection and the pumps.
//!
//! Knows no message of the protocol. Invariants: what waits in either direction is bounded by the streams in between; why a
//! connection has ended is said once, in words for a person (S-060).

mod address;
#[cfg(feature = "remote")]
mod dial;
#[cfg(feature = "remote")]
mod events;
#[cfg(feature = "remote")]
mod frames;
mod header;
#[cfg(feature = "remote")]
mod lines;
#[cfg(feature = "remote")]
mod posting;
#[cfg(feature = "remote")]
mod reaching;
#[cfg(feature = "remote")]
mod requests;
#[cfg(feature = "remote")]
mod saying;
#[cfg(feature = "remote")]
mod streamable;
#[cfg(feature = "remote")]
#[cfg(test)]
mod test_server;
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
use std::time::Duration;
use tokio::sync::mpsc;

/// An agent behind an address, and what of this machine it may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remote {
    pub address: Address,
    /// Over what it is reached where that was said; else one after the other is tried.
    pub transport: Option<Transport>,
    /// Sent with each request to an address on the web.
    pub headers: Vec<Header>,
    pub files: bool,
    pub terminals: bool,
}

/// Why a connection is at its end, or has not come about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lost {
    pub why: String,
    /// The server has said when it may be asked again.
    pub retry_after: Option<Duration>,
}

/// What a connection has to tell of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// It is over this, which was not tried first.
    Over(Transport),
    /// A turn was answered with one message: the agent can ask for nothing on the way (S-073).
    AsksNothing,
}

impl From<String> for Lost {
    fn from(why: String) -> Self {
        Self { why, retry_after: None }
    }
}

impl Remote {
    /// From an address as it is written; neither files nor commands of this machine are for it (S-062).
    pub fn read(text: &str) -> Result<Self, String> {
        let address = Address::read(text)?;
        Ok(Self { address, transport: None, headers: Vec::new(), files: false, terminals: false })
    }

    /// Its transport is the first that is tried.
    pub fn reached(&self) -> Reached {
        let transport = self.ways().first().copied().unwrap_or_default();
        Reached { transport, files: self.files, terminals: self.terminals }
    }

    /// The transports that are tried, in this order.
    fn ways(&self) -> &[Transport] {
        match &self.transport {
            Some(one) => std::slice::from_ref(one),
            None => self.possible().get(..2).unwrap_or(self.possible()),
        }
    }

    /// Those that its address allows, the likeliest first (S-100). The third is taken only when it is named.
    fn possible(&self) -> &'static [Transport] {
        match &self.address {
            Address::Unix(_) => &[Transport::Unix],
            #[cfg(feature = "remote")]
            Address::Web(web) if web.is_socket => &[Transport::WebSocket],
            #[cfg(feature = "remote")]
            Address::Web(web) if web.is_secure => &[Transport::WebSocket, Transport::Http, Transport::Sse],
            #[cfg(feature = "remote")]
            Address::Web(_) => &[Transport::Http, Transport::WebSocket, Transport::Sse],
        }
    }

    /// The same with these headers, over the transport of this name where one is named.
    pub fn with(self, headers: Vec<Header>, transport: Option<&str>) -> Result<Self, String> {
        let possible = self.possible();
        let transport = transport.map(|name| {
            possible.iter().copied().find(|possible| possible.word() == name).ok_or_else(|| {
                let words: Vec<&str> = possible.iter().map(|possible| possible.word()).collect();
                format!("this address is reached over {}, not over {name}", words.join(", "))
            })
        });
        if possible == [Transport::Unix] && !headers.is_empty() {
            return Err("a socket of this machine takes no headers".to_owned());
        }
        Ok(Self { headers, transport: transport.transpose()?, ..self })
    }
}

/// Connects, and moves messages until the connection ends; gives why it did.
#[cfg_attr(not(feature = "remote"), expect(unused_variables, reason = "a socket has nothing to tell"))]
pub async fn carry(remote: Remote, end: End, told: mpsc::Sender<Told>) -> Lost {
    match &remote.address {
        Address::Unix(path) => unix::carry(path, end).await.into(),
        #[cfg(feature = "remote")]
        Address::Web(web) => reaching::carry(web, &remote.headers, remote.ways(), end, told).await,
    }
}

#[cfg(feature = "remote")]
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s_092_s_100_an_address_says_over_what_it_is_reached_and_the_person_may_say_otherwise() {
        use Transport::{Http, Sse, Unix, WebSocket};
        for (address, ways) in [
            ("unix:/a", &[Unix][..]),
            ("ws://localhost/", &[WebSocket]),
            ("wss://example.com/", &[WebSocket]),
            ("https://example.com/", &[WebSocket, Http]),
            ("http://localhost/", &[Http, WebSocket]),
        ] {
            let remote = Remote::read(address).unwrap();
            assert_eq!((remote.ways(), remote.reached().transport), (ways, ways[0]), "{address}");
        }
        let named = |address: &str, name| Remote::read(address).unwrap().with(Vec::new(), Some(name));
        assert_eq!(named("https://example.com/", "sse").unwrap().ways(), [Sse]);
        assert_eq!(named("http://localhost/", "websocket").unwrap().ways(), [WebSocket]);
        let why = named("https://example.com/", "unix").unwrap_err();
        assert_eq!(why, "this address is reached over websocket, http, sse, not over unix");
        assert!(named("unix:/a", "http").unwrap_err().ends_with("over unix, not over http"));
    }
}
