//! Plain POST: each message is a request of its own, and what belongs to it comes as the answer: a message, or a stream of events
//! that ends with it (S-071 to S-073).
//!
//! Knows of no connection. Invariants: notifications and answers go out in order, each when the one before it was taken, and
//! no request waits for another to be answered; what is under way is bounded in messages and bytes; nothing is sent twice.

use super::events::{Events, Held};
use super::header::Header;
use super::lines::{Waiting, hand_on, not_taken, queue, sort, too_long, write, write_lines};
use super::requests::{Answer, Ask, Client, EITHER, EVENTS, JSON, Line, has_type, waste, whole};
use super::saying::{Failure, Speech};
use super::web::Web;
use super::{Lost, Told};
use crate::wire::frame::{RawId, response_err};
use crate::wire::framing::MAX_LINE;
use crate::wire::route::{Kind, Route};
use crate::wire::rpc_error::{INTERNAL_ERROR, RpcError};
use http::Method;
use http_body_util::BodyExt as _;
use hyper::body::{Bytes, Incoming};
use std::future::pending;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::io::{AsyncBufRead, DuplexStream};
use tokio::sync::{Mutex as AsyncMutex, mpsc};
use tokio::task::JoinSet;

/// Requests that are under way.
const UNDER_WAY: usize = 64;
/// Connections without a request that are kept for the next one.
const IDLE: usize = 4;

/// A server that has begun to answer the first message.
pub(super) struct Opened {
    client: Client,
    line: Option<Line>,
    first: Route,
    answer: Answer,
}

pub(super) async fn open(web: &Web, headers: &[Header], speech: &Arc<Speech>, first: &[u8]) -> Result<Opened, Failure> {
    let mut client = Client::new(web.clone(), headers, Arc::clone(speech))?;
    let mut line = None;
    let answer = client.first(&mut line, &ask(Bytes::copy_from_slice(first))).await?;
    if !answer.status().is_success() {
        return Err(client.refused("it takes no messages over HTTP", answer).await);
    }
    if !has_type(&answer, JSON) && !has_type(&answer, EVENTS) {
        return Err(Failure::unsuited("what it answers is no message".to_owned()));
    }
    Ok(Opened { client, line, first: Route::of(first), answer })
}

fn ask(message: Bytes) -> Ask {
    Ask { method: Method::POST, accept: Some(EITHER), headers: Vec::new(), body: message }
}

struct Posts {
    client: Client,
    idle: Mutex<Vec<Line>>,
    /// Where messages come out, one at a time.
    writer: AsyncMutex<DuplexStream>,
    held: Held,
    told: mpsc::Sender<Told>,
}

/// Moves messages until the agent is not there any more; gives why.
pub(super) async fn run(
    opened: Opened,
    reader: impl AsyncBufRead + Unpin,
    writer: DuplexStream,
    told: mpsc::Sender<Told>,
) -> Lost {
    let Opened { client, line, first, answer } = opened;
    let (idle, writer, held) = (Mutex::default(), AsyncMutex::new(writer), Held::default());
    let posts = Arc::new(Posts { client, idle, writer, held, told });
    let mut under_way = JoinSet::new();
    let begun = Arc::clone(&posts);
    under_way.spawn(async move { begun.take(line, &first, answer).await });
    let (requests, mut asked) = queue();
    let (others, notes) = queue();
    let work = async {
        tokio::try_join!(sort(reader, (Kind::Request, requests), others), posts.tell(notes))?;
        // It is let go; what it still says is read.
        pending::<Result<(), Lost>>().await
    };
    tokio::pin!(work);
    loop {
        tokio::select! {
            done = &mut work => return done.err().unwrap_or_default(),
            Some(waiting) = asked.recv(), if under_way.len() < UNDER_WAY => {
                under_way.spawn(Arc::clone(&posts).exchange(waiting));
            }
            Some(ended) = under_way.join_next() => if let Ok(Err(lost)) = ended {
                return lost;
            },
        }
    }
}

impl Posts {
    /// Notifications and answers, one after the other.
    async fn tell(&self, mut queue: mpsc::Receiver<Waiting>) -> Result<(), Lost> {
        let mut line = None;
        while let Some((message, _room)) = queue.recv().await {
            let is_answer = Route::of(&message).kind == Kind::Answer;
            let answer = self.client.send(&mut line, &ask(message)).await.map_err(|failure| failure.lost)?;
            if answer.status().is_success() {
                waste(answer.into_body()).await;
                continue;
            }
            let failure = self.client.refused("it does not take the message", answer).await;
            if is_answer {
                return Err(failure.lost);
            }
            not_taken(None, failure)?;
        }
        Ok(())
    }

    /// A request with all that belongs to it.
    async fn exchange(self: Arc<Self>, (message, _room): Waiting) -> Result<(), Lost> {
        let route = Route::of(&message);
        let mut line = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let answer = self.client.send(&mut line, &ask(message)).await.map_err(|failure| failure.lost)?;
        if !answer.status().is_success() {
            let failure = self.client.refused("it does not take the message", answer).await;
            if let Some(answer) = not_taken(route.id.as_ref(), failure)? {
                write(&self.writer, answer.as_bytes()).await?;
            }
            return Ok(());
        }
        self.take(line, &route, answer).await
    }

    /// Reads the answer to its end.
    async fn take(&self, line: Option<Line>, route: &Route, answer: Answer) -> Result<(), Lost> {
        let status = answer.status();
        if has_type(&answer, EVENTS) {
            self.listen(route.id.as_ref(), answer.into_body()).await?;
        } else if let Some(message) = self.message(answer).await? {
            if route.is_turn {
                // Once it was told it is known.
                let _ = self.told.try_send(Told::AsksNothing);
            }
            write(&self.writer, &message).await?;
        } else if let Some(id) = &route.id {
            let why = format!("the server has taken the message and given no answer to it ({})", status.as_u16());
            write(&self.writer, response_err(id, &RpcError::new(INTERNAL_ERROR, why)).as_bytes()).await?;
        }
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.extend(line);
        idle.truncate(IDLE);
        Ok(())
    }

    /// The message that an answer is, if it is one.
    async fn message(&self, answer: Answer) -> Result<Option<Vec<u8>>, Lost> {
        if !has_type(&answer, JSON) {
            waste(answer.into_body()).await;
            return Ok(None);
        }
        let body = whole(answer.into_body(), MAX_LINE).await.map_err(|error| self.client.broken(&error).lost)?;
        let body = body.ok_or_else(too_long)?;
        Ok(Some(body).filter(|body| Route::of(body).kind == Kind::Answer))
    }

    /// Reads messages until the stream ends, with or without the answer.
    async fn listen(&self, id: Option<&RawId>, mut body: Incoming) -> Result<(), Lost> {
        let (mut events, mut is_answered) = (Events::new(self.held.clone()), false);
        let (mut messages, mut lines) = (Vec::new(), Vec::new());
        while let Some(frame) = body.frame().await {
            let Ok(data) = frame.map_err(|error| self.client.broken(&error).lost)?.into_data() else { continue };
            let taken = events.push(&data, &mut messages);
            for message in messages.drain(..) {
                let route = Route::of_incoming(&message);
                is_answered |= route.kind == Kind::Answer && route.id.as_ref() == id;
                hand_on(&self.writer, &message, &mut lines).await?;
            }
            write_lines(&self.writer, &mut lines).await?;
            taken.map_err(|_| too_long())?;
            events.wait_for_others().await;
        }
        match (events.is_torn(), is_answered) {
            (true, _) => Err("the agent has closed the connection in the middle of a message".to_owned().into()),
            (false, false) => Err("the agent has closed the connection before it has answered".to_owned().into()),
            (false, true) => Ok(()),
        }
    }
}

#[cfg(test)]
#[path = "posting_tests.rs"]
mod tests;
