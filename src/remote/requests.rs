//! Requests to one endpoint, over HTTP/2 where the server speaks it, else over HTTP/1.1.
//!
//! Knows no message. Invariants: headers and cookies go to the host of the address only, a redirect to another is refused with
//! both names (S-076); nothing is sent a second time but what certainly was not sent at all; heads and what is read of
//! refusals are bounded, and compressed answers are refused.

mod cookies;

use super::dial::{Dialled, PATIENCE, Pipe, dial};
use super::header::Header;
use super::saying::{Failure, Speech, reason};
use super::web::Web;
use cookies::Cookies;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use std::error::Error as _;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::timeout;

pub(super) type Answer = Response<Incoming>;
type Body = Full<Bytes>;

pub(super) const JSON: &str = "application/json";
pub(super) const EVENTS: &str = "text/event-stream";
pub(super) const EITHER: &str = "application/json, text/event-stream";
/// How long nothing may come over HTTP/2 before the server is asked whether it is there, and then until it is given up.
const SILENCE: Duration = Duration::from_secs(30);
/// What is read of a refusal, and how long that is waited for.
const REFUSAL: usize = 4096;
const REFUSAL_PATIENCE: Duration = Duration::from_secs(2);
/// What is thrown away of an answer without a use, so that its connection can be used again.
const WASTE: usize = 64 << 10;
/// Redirects within a host, one after the other.
const REDIRECTS: usize = 3;
/// What a server may send ahead on each stream over HTTP/2, and on all of them together: where a few that are not read
/// yet had all of the latter, the one that is read would never go on.
const AHEAD: u32 = 256 << 10;
const ALL_AHEAD: u32 = 16 << 20;
const HTTP_2: &[u8] = b"h2";
const HTTP_1: &[u8] = b"http/1.1";

/// What moves the bytes of a connection; it ends with this.
struct Moved(JoinHandle<()>);

impl Drop for Moved {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// A connection that takes one request after the other.
pub(super) struct Line {
    sender: http1::SendRequest<Body>,
    _moved: Moved,
}

/// A connection that takes many at once.
struct Shared {
    sender: http2::SendRequest<Body>,
    _moved: Moved,
}

/// A message to be sent, or a stream to be opened.
pub(super) struct Ask {
    pub method: Method,
    pub accept: Option<&'static str>,
    pub headers: Vec<(&'static str, HeaderValue)>,
    pub body: Bytes,
}

pub(super) struct Client {
    web: Web,
    headers: HeaderMap,
    speech: Arc<Speech>,
    cookies: Mutex<Cookies>,
    shared: Mutex<Option<Shared>>,
}

impl Client {
    pub fn new(web: Web, headers: &[Header], speech: Arc<Speech>) -> Result<Self, String> {
        let fields: Result<Vec<_>, String> = headers.iter().map(Header::fields).collect();
        let mut headers = HeaderMap::new();
        for (name, value) in fields? {
            headers.append(name, value);
        }
        Ok(Self { web, headers, speech, cookies: Mutex::default(), shared: Mutex::default() })
    }

    /// The first request: finds out what the server speaks, and goes on to another path of it.
    pub async fn first(&mut self, line: &mut Option<Line>, ask: &Ask) -> Result<Answer, Failure> {
        for _ in 0..=REDIRECTS {
            let answer = match self.send(line, ask).await {
                // Without encryption nothing says beforehand that it speaks HTTP/2 alone.
                Err(failure) if failure.is_unsuited && !self.web.is_secure => {
                    let dialled = dial(&self.web, &[]).await?;
                    self.share(dialled.stream).await?;
                    // What the first attempt has shown says more.
                    self.send(line, ask).await.map_err(|_| failure)?
                }
                answer => answer?,
            };
            let is_moved = matches!(answer.status(), StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT);
            let location = answer.headers().get(header::LOCATION).filter(|_| is_moved);
            match location.and_then(|value| self.web.path_of(value.to_str().ok()?)) {
                Some(path) => self.web.path = path,
                None => return Ok(answer),
            }
        }
        Err("it sends on again and again".to_owned().into())
    }

    /// Sends a request and gives the answer once its head has come.
    pub async fn send(&self, line: &mut Option<Line>, ask: &Ask) -> Result<Answer, Failure> {
        let answer = self.answer(line, ask).await?;
        if let Ok(mut cookies) = self.cookies.lock() {
            cookies.take(answer.headers());
        }
        let coding = answer.headers().get(header::CONTENT_ENCODING).filter(|coding| *coding != "identity");
        match coding {
            Some(coding) => {
                let coding = self.speech.shown(&String::from_utf8_lossy(coding.as_bytes()));
                Err(format!("its answer is compressed ({coding}), which was not asked for").into())
            }
            None => Ok(answer),
        }
    }

    async fn answer(&self, line: &mut Option<Line>, ask: &Ask) -> Result<Answer, Failure> {
        if let Some(answer) = self.over_shared(ask).await {
            return answer;
        }
        if let Some(mut open) = line.take()
            && open.sender.ready().await.is_ok()
        {
            match open.sender.try_send_request(self.request(ask, false)?).await {
                Ok(answer) => {
                    *line = Some(open);
                    return Ok(answer);
                }
                // The server has closed the connection in the meantime, and has read nothing of it.
                Err(error) if error.message().is_some() => {}
                Err(error) => return Err(self.broken(error.error())),
            }
        }
        let Dialled { stream, protocol } = dial(&self.web, &[HTTP_2, HTTP_1]).await?;
        if protocol.as_deref() == Some(HTTP_2) {
            self.share(stream).await?;
            let gone = || Failure::from("the connection to the agent broke".to_owned());
            return self.over_shared(ask).await.unwrap_or_else(|| Err(gone()));
        }
        let shaken = http1::handshake(TokioIo::new(stream)).await;
        let (mut sender, connection) = shaken.map_err(|error| self.broken(&error))?;
        let moved = Moved(tokio::spawn(async move { drop(connection.await) }));
        let answer = sender.send_request(self.request(ask, false)?).await.map_err(|error| self.broken(&error))?;
        *line = Some(Line { sender, _moved: moved });
        Ok(answer)
    }

    /// Over HTTP/2, where that is spoken.
    async fn over_shared(&self, ask: &Ask) -> Option<Result<Answer, Failure>> {
        let mut sender = self.shared.lock().unwrap_or_else(PoisonError::into_inner).as_ref()?.sender.clone();
        let sent = async {
            let request = self.request(ask, true)?;
            sender.ready().await.map_err(|error| self.broken(&error))?;
            sender.send_request(request).await.map_err(|error| self.broken(&error))
        };
        Some(sent.await)
    }

    /// Speaks HTTP/2 over this connection from now on.
    async fn share(&self, stream: Box<dyn Pipe>) -> Result<(), Failure> {
        let mut builder = http2::Builder::new(TokioExecutor::new());
        builder.timer(TokioTimer::new()).keep_alive_interval(SILENCE).keep_alive_timeout(SILENCE);
        builder.keep_alive_while_idle(true);
        builder.initial_stream_window_size(AHEAD).initial_connection_window_size(ALL_AHEAD);
        let (sender, connection) =
            builder.handshake(TokioIo::new(stream)).await.map_err(|error| self.broken(&error))?;
        let moved = Moved(tokio::spawn(async move { drop(connection.await) }));
        *self.shared.lock().unwrap_or_else(PoisonError::into_inner) = Some(Shared { sender, _moved: moved });
        Ok(())
    }

    fn request(&self, ask: &Ask, is_http_2: bool) -> Result<Request<Body>, Failure> {
        let uri = if is_http_2 {
            format!("{}://{}{}", if self.web.is_secure { "https" } else { "http" }, self.web.authority(), self.web.path)
        } else {
            self.web.path.clone()
        };
        let mut request = Request::builder().method(ask.method.clone()).uri(uri);
        if let Some(headers) = request.headers_mut() {
            headers.extend(self.headers.clone());
            if !is_http_2 && let Ok(host) = HeaderValue::from_str(&self.web.authority()) {
                headers.insert(header::HOST, host);
            }
            if ask.method == Method::POST {
                headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(JSON));
            }
            if let Some(accept) = ask.accept {
                headers.insert(header::ACCEPT, HeaderValue::from_static(accept));
            }
            for (name, value) in &ask.headers {
                headers.insert(*name, value.clone());
            }
            if let Some(cookies) = self.cookies.lock().ok().and_then(|cookies| cookies.header()) {
                headers.append(header::COOKIE, cookies);
            }
        }
        let request = request.body(Full::new(ask.body.clone()));
        request.map_err(|error| error.to_string().into())
    }

    /// The answer in words where it is none that was asked for; `what` the server does not do.
    pub async fn refused(&self, what: &str, answer: Answer) -> Failure {
        let (head, body) = answer.into_parts();
        let body = timeout(REFUSAL_PATIENCE, read(body, REFUSAL)).await.unwrap_or_default();
        self.speech.refused(what, head.status.as_u16(), &head.headers, &body)
    }

    pub fn broken(&self, error: &hyper::Error) -> Failure {
        if error.is_parse() && error.to_string().contains("too large") {
            return "the head of its answer is too large".to_owned().into();
        }
        if error.is_parse() {
            return Failure::unsuited("what came is no HTTP".to_owned());
        }
        if error.is_incomplete_message() || error.is_closed() || error.is_canceled() {
            return Failure::unsuited("the connection to the agent broke".to_owned());
        }
        let source = error.source();
        let below = source.and_then(|source| source.downcast_ref::<h2::Error>()).and_then(h2::Error::get_io);
        let why = match below.or_else(|| source.and_then(|source| source.downcast_ref::<io::Error>())) {
            // Who speaks HTTP/2 alone may close the connection with what it has not read.
            Some(error) if is_closed(error) => return Failure::unsuited(reason(error)),
            Some(error) => reason(error),
            None => {
                let source = source.map(|source| format!(": {source}")).unwrap_or_default();
                self.speech.shown(&format!("{error}{source}"))
            }
        };
        why.into()
    }
}

fn is_closed(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
    matches!(error.kind(), BrokenPipe | ConnectionAborted | ConnectionReset | UnexpectedEof)
}

/// Opens what may take no longer than a connection: a stream whose first bytes a server in between holds back never begins.
pub(super) async fn in_time(sent: impl Future<Output = Result<Answer, Failure>>) -> Result<Answer, Failure> {
    let answer = timeout(PATIENCE, sent).await;
    answer.unwrap_or_else(|_| {
        let seconds = PATIENCE.as_secs();
        Err(format!("its stream of events has not begun within {seconds} s; does a proxy hold it back?").into())
    })
}

/// The first bytes of a body.
async fn read(mut body: Incoming, most: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    while bytes.len() < most
        && let Some(Ok(frame)) = body.frame().await
    {
        bytes.extend_from_slice(
            frame.data_ref().map(|data| &data[..data.len().min(most - bytes.len())]).unwrap_or_default(),
        );
    }
    bytes
}

/// A whole body; nothing where it is longer than that.
pub(super) async fn whole(mut body: Incoming, most: usize) -> Result<Option<Vec<u8>>, hyper::Error> {
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        if let Ok(data) = frame?.into_data() {
            if bytes.len() + data.len() > most {
                return Ok(None);
            }
            bytes.extend_from_slice(&data);
        }
    }
    Ok(Some(bytes))
}

/// Reads what is of no use.
pub(super) async fn waste(body: Incoming) {
    // What is longer closes its connection.
    let _ = timeout(REFUSAL_PATIENCE, read(body, WASTE)).await;
}

pub(super) fn has_type(answer: &Answer, wanted: &str) -> bool {
    let value = answer.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    value.is_some_and(|value| value.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case(wanted))
}
