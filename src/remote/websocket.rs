//! An agent behind a WebSocket: a message of the protocol is a text message (S-095).
//!
//! Invariants: no redirect is followed, so headers go to no other host; a message above the limit ends the connection before
//! memory is taken for it (S-098); who is silent for long is asked, and given up when no answer comes.

use super::header::Header;
use super::tls;
use super::web::Web;
use crate::wire::duplex::End;
use crate::wire::framing::MAX_LINE;
use futures_util::{Sink, SinkExt as _, Stream, StreamExt as _};
use http::{HeaderName, HeaderValue, Response};
use std::future::pending;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::{MissedTickBehavior, interval, timeout};
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::error::{CapacityError, ProtocolError};
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{WebSocketStream, client_async_with_config};

/// How long it may take until a connection stands.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long nothing may come before the agent is asked whether it is there, and then until it is given up.
const SILENCE: Duration = Duration::from_secs(30);
/// Bytes of the beginning of a secret that are not shown without the rest either.
const BEGINNING: usize = 8;
/// Characters of what a server says that are shown.
const SHOWN: usize = 200;

trait Pipe: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Pipe for T {}

pub(super) async fn carry(web: &Web, headers: &[Header], end: End) -> String {
    without(headers, carried(web, headers, end).await)
}

/// What a server says may have what it was sent: that is for nobody else.
fn without(headers: &[Header], mut text: String) -> String {
    for secret in headers.iter().flat_map(Header::secrets).filter(|secret| !secret.is_empty()) {
        text = text.replace(secret, "…");
        // What is shown of it may be cut.
        while let Some(at) = secret.get(..BEGINNING).and_then(|beginning| text.find(beginning)) {
            let rest = text.get(at..).unwrap_or_default().chars();
            let same = rest.zip(secret.chars()).take_while(|(a, b)| a == b);
            let length: usize = same.map(|(c, _)| c.len_utf8()).sum();
            text.replace_range(at..at + length, "…");
        }
    }
    text
}

async fn carried(web: &Web, headers: &[Header], end: End) -> String {
    let socket = match timeout(PATIENCE, open(web, headers)).await {
        Ok(Ok(socket)) => socket,
        Ok(Err(why)) => return format!("{web} cannot be reached: {why}"),
        Err(_) => return format!("{web} cannot be reached: no answer within {} s", PATIENCE.as_secs()),
    };
    let (sink, stream) = socket.split();
    let was_heard = AtomicBool::new(true);
    let End { reader, writer } = end;
    tokio::select! {
        why = send(sink, reader, &was_heard, SILENCE) => why,
        why = receive(stream, writer, &was_heard) => why,
    }
}

async fn open(web: &Web, headers: &[Header]) -> Result<WebSocketStream<Box<dyn Pipe>>, String> {
    let tcp = TcpStream::connect((web.host.as_str(), web.port)).await.map_err(|error| reason(&error))?;
    // Messages are short and waited for; where it cannot be said they are sent all the same.
    let _ = tcp.set_nodelay(true);
    let stream: Box<dyn Pipe> = if web.is_secure { Box::new(tls::over(tcp, &web.host).await?) } else { Box::new(tcp) };
    let mut request = web.to_string().into_client_request().map_err(|error| error.to_string())?;
    for Header { name, value } in headers {
        let name = HeaderName::try_from(name).map_err(|error| error.to_string())?;
        let mut value = HeaderValue::try_from(value).map_err(|_| format!("the value of {name} is none of a header"))?;
        value.set_sensitive(true);
        request.headers_mut().append(name, value);
    }
    let config = WebSocketConfig::default().max_message_size(Some(MAX_LINE)).max_frame_size(Some(MAX_LINE));
    match client_async_with_config(request, stream, Some(config)).await {
        Ok((socket, _)) => Ok(socket),
        Err(Error::Http(response)) => Err(refused(web, &response)),
        Err(error) => Err(ended(&error)),
    }
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
        if sink.send(message).await.is_err() {
            // What was said before is read first, and then why it has ended.
            return pending().await;
        }
    }
}

/// Text messages come in as lines. Gives why there are no more.
async fn receive(
    mut messages: impl Stream<Item = Result<Message, Error>> + Unpin,
    mut writer: impl AsyncWrite + Unpin,
    was_heard: &AtomicBool,
) -> String {
    loop {
        let message = match messages.next().await {
            Some(Ok(message)) => message,
            Some(Err(error)) => return ended(&error),
            None => return ended(&Error::ConnectionClosed),
        };
        was_heard.store(true, Ordering::Relaxed);
        match message {
            Message::Text(text) => {
                // Between the values of JSON there may be line ends.
                let line = if text.contains('\n') { text.replace('\n', " ") } else { text.to_string() };
                if writer.write_all(line.as_bytes()).await.is_err() || writer.write_all(b"\n").await.is_err() {
                    return "the connection is not read any more".to_owned();
                }
            }
            Message::Close(Some(frame)) if !frame.reason.is_empty() => {
                return format!("the agent has closed the connection: {}", shown(&frame.reason));
            }
            Message::Close(_) => return ended(&Error::ConnectionClosed),
            // Pings are answered by the library; messages of bytes are of nobody.
            Message::Ping(_) | Message::Pong(_) | Message::Binary(_) | Message::Frame(_) => {}
        }
    }
}

/// What the server says in place of a WebSocket.
fn refused(web: &Web, response: &Response<Option<Vec<u8>>>) -> String {
    let status = response.status().as_u16();
    let header =
        |name: &str| response.headers().get(name).map(|value| shown(&String::from_utf8_lossy(value.as_bytes())));
    match status {
        300..=399 => {
            let place = header("location").unwrap_or_else(|| "nowhere".to_owned());
            format!(
                "{} sends on to {place}; no redirect is followed, name that address if you trust it",
                web.authority()
            )
        }
        401 | 403 => format!(
            "it wants to know who you are ({status}): give --header 'Authorization: …', or headers in the configuration"
        ),
        404 => "there is nothing at this path (404)".to_owned(),
        408 | 504 => format!("no answer came in time ({status})"),
        429 => match header("retry-after") {
            Some(after) => format!("it is asked too often (429), again after {after} s"),
            None => "it is asked too often (429)".to_owned(),
        },
        500..=599 => format!("the server has a fault ({status})"),
        _ => {
            let body = response.body().as_deref().map(String::from_utf8_lossy).unwrap_or_default();
            format!("it opens no WebSocket ({status}) {}", shown(&body)).trim_end().to_owned()
        }
    }
}

/// Why a connection is at its end.
fn ended(error: &Error) -> String {
    match error {
        Error::ConnectionClosed | Error::AlreadyClosed => "the agent has closed the connection".to_owned(),
        Error::Protocol(ProtocolError::ResetWithoutClosingHandshake) => "the connection to the agent broke".to_owned(),
        Error::Io(error) => reason(error),
        Error::Capacity(CapacityError::MessageTooLong { size, max_size }) => {
            format!("the agent sent a message of {size} bytes; at most {max_size} are taken")
        }
        error => format!("what came is no WebSocket: {}", shown(&error.to_string())),
    }
}

fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => "no program listens there; is the agent running?".to_owned(),
        io::ErrorKind::ConnectionReset | io::ErrorKind::UnexpectedEof => "the connection to the agent broke".to_owned(),
        _ => error.to_string(),
    }
}

fn shown(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(SHOWN).collect()
}

#[cfg(test)]
#[path = "websocket_tests.rs"]
mod tests;
