//! An agent behind a WebSocket: a message of the protocol is a text message (S-095).
//!
//! Invariants: no redirect is followed, so headers go to no other host; a message above the limit ends the connection before
//! memory is taken for it (S-098); who is silent for long is asked, and given up when no answer comes.

use super::Lost;
use super::dial::{Dialled, PATIENCE, Pipe, dial};
use super::frames::Frames;
use super::header::Header;
use super::lines::{TOGETHER, add_line, not_read, write_pieces};
use super::saying::{Failure, Speech, reason};
use super::web::Web;
use crate::wire::framing::MAX_LINE;
use futures_util::{Sink, SinkExt as _, Stream, StreamExt as _};
use std::future::{pending, poll_fn};
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::Duration;
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::time::{MissedTickBehavior, interval, timeout};
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::error::{CapacityError, ProtocolError};
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Error, Message, Utf8Bytes};
use tokio_tungstenite::{WebSocketStream, client_async_with_config};

/// How long nothing may come before the agent is asked whether it is there, and then until it is given up.
const SILENCE: Duration = Duration::from_secs(30);
/// Bytes that wait to be sent: a message, and answers to pings.
const MAX_HELD: usize = MAX_LINE + (1 << 20);

pub(super) struct Socket(WebSocketStream<Frames<Box<dyn Pipe>>>);

pub(super) async fn open(web: &Web, headers: &[Header], speech: &Speech) -> Result<Socket, Failure> {
    let opened = timeout(PATIENCE, shake_hands(web, headers, speech)).await;
    opened.unwrap_or_else(|_| Err(format!("no answer within {} s", PATIENCE.as_secs()).into()))
}

/// Moves messages until the connection ends; gives why it did.
pub(super) async fn run(
    socket: Socket,
    reader: impl AsyncBufRead + Unpin,
    writer: impl AsyncWrite + Unpin,
    speech: &Speech,
) -> Lost {
    let (sink, stream) = socket.0.split();
    let was_heard = AtomicBool::new(true);
    let why = tokio::select! {
        why = send(sink, reader, &was_heard, SILENCE) => why,
        why = receive(stream, writer, &was_heard, speech) => why,
    };
    why.into()
}

async fn shake_hands(web: &Web, headers: &[Header], speech: &Speech) -> Result<Socket, Failure> {
    let Dialled { stream, .. } = dial(web, &[b"http/1.1"]).await?;
    let mut request = web.socket().to_string().into_client_request().map_err(|error| error.to_string())?;
    for header in headers {
        let (name, value) = header.fields()?;
        request.headers_mut().append(name, value);
    }
    match client_async_with_config(request, Frames::new(stream), Some(settings(MAX_HELD))).await {
        Ok((socket, _)) => Ok(Socket(socket)),
        Err(Error::Http(response)) => {
            let body = response.body().as_deref().unwrap_or_default();
            Err(speech.refused("it opens no WebSocket", response.status().as_u16(), response.headers(), body))
        }
        Err(error @ Error::Io(_)) => Err(ended(&error, speech).into()),
        Err(error) => Err(Failure::unsuited(ended(&error, speech))),
    }
}

/// Of one that sends pings and does not read what they are answered with, only the last ping is answered once `held` bytes wait.
fn settings(held: usize) -> WebSocketConfig {
    let settings = WebSocketConfig::default().max_message_size(Some(MAX_LINE)).max_frame_size(Some(MAX_LINE));
    settings.max_write_buffer_size(held)
}

/// Lines go out as text messages. Ends when the agent does not answer any more.
async fn send(
    mut sink: impl Sink<Message, Error = Error> + Unpin,
    mut lines: impl AsyncBufRead + Unpin,
    was_heard: &AtomicBool,
    silence: Duration,
) -> String {
    let (mut line, mut is_asked) = (Vec::new(), false);
    let mut pulse = interval(silence);
    pulse.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let message = tokio::select! {
            read = lines.read_until(b'\n', &mut line) => {
                if !read.is_ok_and(|count| count > 0) {
                    // It is let go; what it still says is read.
                    let _ = sink.close().await;
                    return pending().await;
                }
                let text = std::mem::take(&mut line);
                Message::text(String::from_utf8_lossy(text.trim_ascii_end()).into_owned())
            }
            _ = pulse.tick() => match (was_heard.swap(false, Ordering::Relaxed), is_asked) {
                (true, _) => {
                    is_asked = false;
                    continue;
                }
                (false, true) => return "the agent does not answer any more".to_owned(),
                (false, false) => {
                    is_asked = true;
                    Message::Ping(Vec::new().into())
                }
            },
        };
        match sink.send(message).await {
            Ok(()) => {}
            Err(Error::WriteBufferFull(_)) => return "the agent does not read what it is sent".to_owned(),
            // What was said before is read first, and then why it has ended.
            Err(_) => return pending().await,
        }
    }
}

/// Text messages come in as lines. Gives why there are no more.
async fn receive(
    mut messages: impl Stream<Item = Result<Message, Error>> + Unpin,
    mut writer: impl AsyncWrite + Unpin,
    was_heard: &AtomicBool,
    speech: &Speech,
) -> String {
    let mut lines = Vec::new();
    loop {
        let next = next_lines(&mut messages, &mut lines, speech).await;
        was_heard.store(true, Ordering::Relaxed);
        let mut written = writer.write_all(&lines).await;
        if let (Ok(()), Next::Large(text)) = (&written, &next) {
            written = write_pieces(&mut writer, text.as_bytes()).await;
        }
        if written.is_err() {
            return not_read();
        }
        lines.clear();
        if let Next::End(why) = next {
            return why;
        }
    }
}

/// What stands behind the lines that have come.
enum Next {
    More,
    Large(Utf8Bytes),
    /// There are no more, and why.
    End(String),
}

/// Waits for messages, and takes with the first those that are there already: who reads them is not woken for each.
async fn next_lines(
    messages: &mut (impl Stream<Item = Result<Message, Error>> + Unpin),
    lines: &mut Vec<u8>,
    speech: &Speech,
) -> Next {
    let mut has_heard = false;
    poll_fn(|cx| {
        while lines.len() < TOGETHER {
            let Poll::Ready(next) = messages.poll_next_unpin(cx) else {
                return if has_heard { Poll::Ready(Next::More) } else { Poll::Pending };
            };
            has_heard = true;
            match next {
                Some(Ok(Message::Text(text))) if text.len() >= TOGETHER => return Poll::Ready(Next::Large(text)),
                Some(Ok(Message::Text(text))) => add_line(text.as_bytes(), lines),
                Some(Ok(Message::Close(Some(frame)))) if !frame.reason.is_empty() => {
                    let why = format!("the agent has closed the connection: {}", speech.shown(&frame.reason));
                    return Poll::Ready(Next::End(why));
                }
                Some(Ok(Message::Close(_))) | None => {
                    return Poll::Ready(Next::End(ended(&Error::ConnectionClosed, speech)));
                }
                // Pings are answered by the library; messages of bytes are of nobody.
                Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Binary(_) | Message::Frame(_))) => {
                    return Poll::Ready(Next::More);
                }
                Some(Err(error)) => return Poll::Ready(Next::End(ended(&error, speech))),
            }
        }
        Poll::Ready(Next::More)
    })
    .await
}

/// Why a connection is at its end.
fn ended(error: &Error, speech: &Speech) -> String {
    match error {
        Error::ConnectionClosed | Error::AlreadyClosed => "the agent has closed the connection".to_owned(),
        Error::Protocol(ProtocolError::ResetWithoutClosingHandshake) => "the connection to the agent broke".to_owned(),
        Error::Io(error) => reason(error),
        Error::Capacity(CapacityError::MessageTooLong { size, max_size }) => {
            format!("the agent sent a message of {size} bytes; at most {max_size} are taken")
        }
        error => format!("what came is no WebSocket: {}", speech.shown(&error.to_string())),
    }
}

#[cfg(test)]
#[path = "websocket_tests.rs"]
mod tests;
