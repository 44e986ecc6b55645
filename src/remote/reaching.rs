//! An address on the web: one way after the other is tried, until there is one that the server knows.
//!
//! Invariants: another way is tried only where the server has answered that it does not know this one; the first message is
//! the only one that may go out twice, and it changes nothing at the agent (S-144).

use super::header::Header;
use super::saying::{Failure, Speech};
use super::web::Web;
use super::{Lost, Told};
use super::{posting, streamable, websocket};
use crate::base::transport::Transport;
use crate::wire::duplex::End;
use std::future::pending;
use std::io::Cursor;
use std::sync::Arc;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _};
use tokio::sync::mpsc;

enum Opened {
    Socket(websocket::Socket),
    Streams(streamable::Opened),
    Posts(posting::Opened),
}

pub(super) async fn carry(
    web: &Web,
    headers: &[Header],
    ways: &[Transport],
    end: End,
    told: mpsc::Sender<Told>,
) -> Lost {
    let speech = Arc::new(Speech::new(web, headers));
    let End { mut reader, writer } = end;
    let (mut first, mut reasons) = (Vec::new(), Vec::new());
    for (at, way) in ways.iter().enumerate() {
        let opened = match way {
            Transport::WebSocket => websocket::open(web, headers, &speech).await.map(Opened::Socket),
            _ => {
                if first.is_empty() && !reader.read_until(b'\n', &mut first).await.is_ok_and(|count| count > 0) {
                    // It was let go before anything was said.
                    return pending().await;
                }
                let first = first.trim_ascii_end();
                match way {
                    Transport::Sse => posting::open(web, headers, &speech, first).await.map(Opened::Posts),
                    _ => streamable::open(web, headers, &speech, first).await.map(Opened::Streams),
                }
            }
        };
        match opened {
            Ok(opened) => {
                if at > 0 {
                    // Who does not want to know it has let the connection go.
                    let _ = told.try_send(Told::Over(*way));
                }
                return match opened {
                    Opened::Socket(socket) => {
                        websocket::run(socket, Cursor::new(first).chain(reader), writer, &speech).await
                    }
                    Opened::Streams(streams) => streamable::run(streams, reader, writer).await,
                    Opened::Posts(posts) => posting::run(posts, reader, writer, told).await,
                };
            }
            Err(Failure { lost, is_unsuited, .. }) => {
                reasons.push(if ways.len() > 1 { format!("over {}: {}", way.word(), lost.why) } else { lost.why });
                if !is_unsuited || at + 1 == ways.len() {
                    return Lost { why: format!("{web} cannot be reached: {}", reasons.join("; ")), ..lost };
                }
            }
        }
    }
    Lost::default()
}
