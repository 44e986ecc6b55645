//! Streamable HTTP: messages go out as requests, one after the other, and come in on a stream of the connection and one of
//! each session.
//!
//! What a message names of its session is read in `wire::route`. Invariants: a stream stands before anything is sent that is
//! answered on it (S-079, S-080); messages go out in order, answers in an order of their own, so that nothing waits for an
//! answer that waits behind it (S-083); what waits is counted in bytes, and whole messages come in one after the other.

mod sessions;

use super::Lost;
use super::events::{Events, Held};
use super::header::Header;
use super::lines::{Waiting, hand_on, not_taken, queue, sort, too_long, write, write_lines};
use super::requests::{Answer, Ask, Client, EVENTS, JSON, Line, has_type, in_time, waste, whole};
use super::saying::{Failure, Speech};
use super::web::Web;
use crate::wire::framing::MAX_LINE;
use crate::wire::route::{Kind, Route};
use http::{HeaderValue, Method};
use http_body_util::BodyExt as _;
use hyper::body::{Bytes, Incoming};
use sessions::{Ours, Sessions};
use std::future::pending;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, DuplexStream};
use tokio::sync::{Mutex as AsyncMutex, mpsc};
use tokio::task::JoinSet;

const CONNECTION: &str = "acp-connection-id";
const SESSION: &str = "acp-session-id";
/// Said of a refusal where the server has no stream for the session: there are some that never get one for what was loaded.
const UNKNOWN: &str = "; this server has no stream for the session, which goes on over --transport websocket perhaps";
/// Streams that are open and not listened to yet.
const FRESH: usize = 16;

/// A server that has answered the first message.
pub(super) struct Opened {
    client: Client,
    line: Option<Line>,
    /// Its name of the connection; nothing where the agent has refused it.
    id: Option<HeaderValue>,
    answer: Vec<u8>,
}

pub(super) async fn open(web: &Web, headers: &[Header], speech: &Arc<Speech>, first: &[u8]) -> Result<Opened, Failure> {
    let mut client = Client::new(web.clone(), headers, Arc::clone(speech))?;
    let mut line = None;
    let ask =
        Ask { method: Method::POST, accept: Some(JSON), headers: Vec::new(), body: Bytes::copy_from_slice(first) };
    let answer = client.first(&mut line, &ask).await?;
    if !answer.status().is_success() {
        return Err(client.refused("it takes no messages over HTTP", answer).await);
    }
    let id = answer.headers().get(CONNECTION).cloned();
    if !has_type(&answer, JSON) {
        return Err(Failure::unsuited("what it answers is no message".to_owned()));
    }
    let body = whole(answer.into_body(), MAX_LINE).await.map_err(|error| client.broken(&error))?;
    let answer = body.ok_or_else(|| too_long().why)?;
    let route = Route::of(&answer);
    if route.kind != Kind::Answer {
        return Err(Failure::unsuited("what it answers is no message".to_owned()));
    }
    if id.is_none() && !route.is_error {
        return Err(Failure::unsuited("its answer names no connection (Acp-Connection-Id)".to_owned()));
    }
    Ok(Opened { client, line, id, answer })
}

/// A stream of events, of the connection or of a session.
struct Stream {
    session: Option<String>,
    body: Incoming,
    /// Over HTTP/1.1 it has a connection of its own.
    _line: Option<Line>,
}

struct Connection {
    client: Client,
    id: HeaderValue,
    /// Where messages come out, one at a time.
    writer: AsyncMutex<DuplexStream>,
    sessions: Mutex<Sessions>,
    held: Held,
    fresh: mpsc::Sender<Stream>,
}

/// Moves messages until the connection ends; gives why it did.
pub(super) async fn run(opened: Opened, mut reader: impl AsyncBufRead + Unpin, writer: DuplexStream) -> Lost {
    let writer = AsyncMutex::new(writer);
    let Opened { client, line, id, answer } = opened;
    let Some(id) = id else {
        // The refusal is dealt with there, which lets the connection go.
        let _ = write(&writer, &answer).await;
        while reader.read_until(b'\n', &mut Vec::new()).await.is_ok_and(|count| count > 0) {}
        return pending().await;
    };
    let (fresh, mut begun) = mpsc::channel(FRESH);
    let (sessions, held) = (Mutex::default(), Held::default());
    let connection = Arc::new(Connection { client, id, writer, sessions, held, fresh });
    let mut streams = JoinSet::new();
    match connection.open(None).await {
        Ok(stream) => streams.spawn(Arc::clone(&connection).listen(stream)),
        Err(failure) => return failure.lost,
    };
    let (messages, ordered) = queue();
    let (answers, unordered) = queue();
    let work = async {
        write(&connection.writer, &answer).await?;
        tokio::try_join!(
            sort(reader, (Kind::Answer, answers), messages),
            connection.post_in_order(line, ordered),
            connection.post_answers(unordered)
        )?;
        connection.leave().await;
        // What is still said is read.
        pending::<Result<(), Lost>>().await
    };
    tokio::pin!(work);
    loop {
        tokio::select! {
            done = &mut work => return done.err().unwrap_or_default(),
            Some(stream) = begun.recv() => {
                let session = stream.session.clone();
                let listening = streams.spawn(Arc::clone(&connection).listen(stream));
                if let Some(session) = session {
                    connection.sessions().listens(session, listening);
                }
            }
            Some(ended) = streams.join_next() => if let Ok(Err(lost)) = ended {
                return lost;
            },
        }
    }
}

impl Connection {
    fn sessions(&self) -> MutexGuard<'_, Sessions> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn headers(&self, session: Option<&str>) -> Result<Vec<(&'static str, HeaderValue)>, Failure> {
        let mut headers = vec![(CONNECTION, self.id.clone())];
        if let Some(session) = session {
            let value = HeaderValue::from_bytes(session.as_bytes());
            let value = value.map_err(|_| "the agent's name of the session cannot stand in a header".to_owned())?;
            headers.push((SESSION, value));
        }
        Ok(headers)
    }

    /// Opens a stream of events.
    async fn open(&self, session: Option<&str>) -> Result<Stream, Failure> {
        let headers = self.headers(session)?;
        let ask = Ask { method: Method::GET, accept: Some(EVENTS), headers, body: Bytes::new() };
        let mut line = None;
        let answer = in_time(self.client.send(&mut line, &ask)).await?;
        if !answer.status().is_success() {
            return Err(self.refused("it opens no stream of events", answer).await);
        }
        if !has_type(&answer, EVENTS) {
            return Err("what it gives is no stream of events".to_owned().into());
        }
        Ok(Stream { session: session.map(str::to_owned), body: answer.into_body(), _line: line })
    }

    /// Opens the stream of a session that has none.
    async fn attach(&self, session: &str) -> Result<(), Failure> {
        if !self.sessions().attach(session) {
            return Ok(());
        }
        match self.open(Some(session)).await {
            // Its reader ends with everything.
            Ok(stream) => drop(self.fresh.send(stream).await),
            Err(failure) => {
                self.sessions().detach(session);
                return Err(failure);
            }
        }
        Ok(())
    }

    async fn refused(&self, what: &str, answer: Answer) -> Failure {
        let mut failure = self.client.refused(what, answer).await;
        if failure.status == Some(404) {
            "the server does not know this connection or session any more (404)".clone_into(&mut failure.lost.why);
        }
        failure
    }

    /// Reads a stream to its end.
    async fn listen(self: Arc<Self>, mut stream: Stream) -> Result<(), Lost> {
        let (mut events, mut messages, mut lines) = (Events::new(self.held.clone()), Vec::new(), Vec::new());
        while let Some(frame) = stream.body.frame().await {
            let frame = frame.map_err(|error| self.client.broken(&error).lost)?;
            let Ok(data) = frame.into_data() else { continue };
            let taken = events.push(&data, &mut messages);
            for message in messages.drain(..) {
                self.deliver(stream.session.as_deref(), &message, &mut lines).await?;
            }
            write_lines(&self.writer, &mut lines).await?;
            taken.map_err(|_| too_long())?;
            events.wait_for_others().await;
        }
        if events.is_torn() {
            return Err("the agent has closed the connection in the middle of a message".to_owned().into());
        }
        match stream.session {
            Some(session) if self.sessions().is_ending(&session) => Ok(()),
            _ => Err("the agent has closed the connection".to_owned().into()),
        }
    }

    /// Adds a message that has come on the stream of a session, or of the connection, to those that are handed on.
    async fn deliver(&self, session: Option<&str>, message: &[u8], lines: &mut Vec<u8>) -> Result<(), Lost> {
        let route = Route::of_incoming(message);
        match (route.kind, route.id) {
            (Kind::Request, Some(id)) => self.sessions().is_asked(id, session),
            (Kind::Answer, Some(id)) => {
                let names = self.sessions().is_answered(&id, route.opened, route.is_error);
                for name in names {
                    // That takes a while.
                    write_lines(&self.writer, lines).await?;
                    match self.attach(&name).await {
                        // There are servers that say everything of a session that was loaded on the connection's stream.
                        Err(failure) if failure.status != Some(404) => return Err(failure.lost),
                        Ok(()) | Err(_) => {}
                    }
                }
            }
            _ => {}
        }
        hand_on(&self.writer, message, lines).await
    }

    /// The same with one that has come by itself.
    async fn deliver_one(&self, message: &[u8]) -> Result<(), Lost> {
        let mut lines = Vec::new();
        self.deliver(None, message, &mut lines).await?;
        write_lines(&self.writer, &mut lines).await
    }

    async fn post(&self, line: &mut Option<Line>, message: Bytes, session: Option<&str>) -> Result<Answer, Failure> {
        let ask = Ask { method: Method::POST, accept: Some(JSON), headers: self.headers(session)?, body: message };
        self.client.send(line, &ask).await
    }

    /// Requests and notifications, each when the one before it was taken.
    async fn post_in_order(&self, mut line: Option<Line>, mut queue: mpsc::Receiver<Waiting>) -> Result<(), Lost> {
        while let Some((message, _room)) = queue.recv().await {
            let Route { kind, id, session, is_last, .. } = Route::of(&message);
            let id = id.filter(|_| kind == Kind::Request);
            let (mut named, mut opens) = (session.as_deref(), None);
            if let Some(name) = named {
                match self.attach(name).await {
                    Ok(()) => {}
                    // There are servers that know a session only when it was loaded.
                    Err(failure) if failure.status == Some(404) => {
                        named = None;
                        opens.clone_from(&session);
                    }
                    Err(failure) => return Err(failure.lost),
                }
            }
            let is_unknown = opens.is_some();
            if let Some(id) = id.clone() {
                let session = session.clone().filter(|_| is_last);
                self.sessions().is_sent(id, Ours { opens, ends: session });
            }
            let answer = self.post(&mut line, message, named).await.map_err(|failure| failure.lost)?;
            if !answer.status().is_success() {
                let mut failure = self.refused("it does not take the message", answer).await;
                if is_unknown {
                    failure.lost.why.push_str(UNKNOWN);
                }
                if let Some(answer) = not_taken(id.as_ref(), failure)? {
                    self.deliver_one(answer.as_bytes()).await?;
                }
            } else if has_type(&answer, JSON) {
                let body = whole(answer.into_body(), MAX_LINE).await.map_err(|e| self.client.broken(&e).lost)?;
                let body = body.ok_or_else(too_long)?;
                if Route::of(&body).kind == Kind::Answer {
                    self.deliver_one(&body).await?;
                }
            } else {
                waste(answer.into_body()).await;
            }
        }
        Ok(())
    }

    /// Answers to what the agent has asked.
    async fn post_answers(&self, mut queue: mpsc::Receiver<Waiting>) -> Result<(), Lost> {
        let mut line = None;
        while let Some((message, _room)) = queue.recv().await {
            let session = Route::of(&message).id.and_then(|id| self.sessions().asked_by(&id));
            let answer = self.post(&mut line, message, session.as_deref()).await.map_err(|failure| failure.lost)?;
            if !answer.status().is_success() {
                return Err(self.refused("it does not take the answer", answer).await.lost);
            }
            waste(answer.into_body()).await;
        }
        Ok(())
    }

    /// Tells the server that nothing more comes. It is the end in any case.
    async fn leave(&self) {
        if let Ok(headers) = self.headers(None) {
            let ask = Ask { method: Method::DELETE, accept: None, headers, body: Bytes::new() };
            let _ = self.client.send(&mut None, &ask).await;
        }
    }
}

#[cfg(test)]
#[path = "streamable_tests.rs"]
mod tests;
