//! Plain POST to servers that keep to the rules, and to those that do not.

use super::super::test_server::{self, Pieces};
use super::super::{reaching, test_server::say};
use super::*;
use crate::base::transport::Transport;
use crate::wire::duplex::{self, End};
use hyper::Response;
use tokio::task::JoinHandle;

/// Goes by what stands in the message.
async fn answer(body: String, asked: mpsc::Sender<String>, say: mpsc::Sender<Bytes>) -> hyper::http::response::Builder {
    let has = |word: &str| body.contains(word);
    let answer = Response::builder();
    let head = if has("stream") || has("cut") || has("half") { EVENTS } else { JSON };
    let text = match () {
        () if has("stream") => {
            say.send("data: {\"id\":\"q\",\"method\":\"ask\"}\n\n".into()).await.unwrap();
            tokio::spawn(async move {
                // The answer to it is a request of its own.
                asked.closed().await;
                say.send("data: {\"id\":2,\n".into()).await.unwrap();
                say.send("data: \"result\":{}}\n\n".into()).await.unwrap();
            });
            return answer.header("content-type", head);
        }
        () if has("cut") => "data: {\"method\":\"told\"}\n\n",
        () if has("half") => "data: {\"id\"",
        () if has("nothing") => "",
        () if has("refuse") => return answer.status(503),
        () => "{\"id\":1,\"result\":{}}",
    };
    if !text.is_empty() {
        say.send(text.into()).await.unwrap();
    }
    answer.header("content-type", head)
}

struct Rig {
    ours: End,
    carried: JoinHandle<Lost>,
    told: mpsc::Receiver<Told>,
    bodies: mpsc::Receiver<String>,
}

async fn begun(is_http_2: bool) -> Rig {
    let (seen, bodies) = mpsc::channel(100);
    // Closed once the question on the stream is answered.
    let asked = Arc::new(Mutex::new(Some(mpsc::channel::<String>(1))));
    let address = test_server::answer(is_http_2, move |request| {
        let (seen, asked) = (seen.clone(), Arc::clone(&asked));
        async move {
            assert_eq!(request.headers()["content-type"], JSON);
            assert_eq!(request.headers()["accept"], EITHER);
            let body = request.into_body().collect().await.unwrap().to_bytes();
            let body = String::from_utf8(body.to_vec()).unwrap();
            seen.send(body.clone()).await.unwrap();
            let (say, pieces) = mpsc::channel(4);
            if body.starts_with("{\"id\":\"q\"") {
                asked.lock().unwrap().take();
                return Response::builder().status(202).body(Pieces(pieces)).unwrap();
            }
            let question = asked.lock().unwrap().as_ref().map(|(question, _)| question.clone());
            let question = question.unwrap_or_else(|| mpsc::channel(1).0);
            answer(body, question, say).await.body(Pieces(pieces)).unwrap()
        }
    })
    .await;
    let web = Web::read(&address).unwrap();
    let (theirs, mut ours) = duplex::pair(64 << 10);
    let (tell, told) = mpsc::channel(4);
    let carried = tokio::spawn(async move { reaching::carry(&web, &[], &[Transport::Sse], theirs, tell).await });
    ours.send_line("{\"id\":1,\"method\":\"initialize\"}").await.unwrap();
    assert_eq!(ours.next_line().await.unwrap().as_deref(), Some("{\"id\":1,\"result\":{}}"));
    let mut rig = Rig { ours, carried, told, bodies };
    assert!(rig.bodies.recv().await.unwrap().contains("initialize"));
    rig
}

impl Rig {
    async fn says(&mut self, line: &str) {
        self.ours.send_line(line).await.unwrap();
        assert_eq!(self.bodies.recv().await.as_deref(), Some(line));
    }

    async fn hears(&mut self, line: &str) {
        assert_eq!(self.ours.next_line().await.unwrap().as_deref(), Some(line));
    }
}

#[tokio::test]
async fn s_071_s_072_s_073_a_question_comes_on_the_stream_of_a_request_and_its_answer_goes_beside_it() {
    for is_http_2 in [false, true] {
        let mut rig = begun(is_http_2).await;
        rig.says("{\"id\":2,\"method\":\"stream\"}").await;
        rig.hears("{\"id\":\"q\",\"method\":\"ask\"}").await;
        rig.says("{\"method\":\"nothing\"}").await;
        rig.says("{\"id\":1,\"method\":\"other\"}").await;
        rig.hears("{\"id\":1,\"result\":{}}").await;
        rig.says("{\"id\":\"q\",\"result\":{}}").await;
        rig.hears("{\"id\":2, \"result\":{}}").await;
        assert!(!rig.carried.is_finished() && rig.told.try_recv().is_err());
    }
}

#[tokio::test]
async fn s_073_that_the_agent_can_ask_for_nothing_is_told() {
    let mut rig = begun(false).await;
    rig.says("{\"id\":1,\"method\":\"session/prompt\",\"params\":{\"sessionId\":\"s\"}}").await;
    rig.hears("{\"id\":1,\"result\":{}}").await;
    assert_eq!(rig.told.recv().await, Some(Told::AsksNothing));
}

#[tokio::test]
async fn s_074_what_is_refused_or_not_answered_is_an_answer() {
    let mut rig = begun(false).await;
    rig.says("{\"id\":7,\"method\":\"refuse\"}").await;
    rig.hears(
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":-32603,\"message\":\"the server has a fault (503)\"}}",
    )
    .await;
    rig.says("{\"id\":8,\"method\":\"nothing\"}").await;
    assert!(rig.ours.next_line().await.unwrap().unwrap().contains("given no answer to it (200)"));
    rig.says("{\"method\":\"refuse\"}").await;
    rig.says("{\"id\":1,\"method\":\"next\"}").await;
    rig.hears("{\"id\":1,\"result\":{}}").await;
}

#[tokio::test]
async fn s_073_a_stream_that_ends_too_early_is_a_loss() {
    for (method, why) in [
        ("cut", "the agent has closed the connection before it has answered"),
        ("half", "the agent has closed the connection in the middle of a message"),
    ] {
        let mut rig = begun(true).await;
        rig.says(&format!("{{\"id\":3,\"method\":\"{method}\"}}")).await;
        assert_eq!(rig.carried.await.unwrap().why, why);
    }
    let (address, saying) = say(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 0\r\n\r\n").await;
    let (theirs, mut ours) = duplex::pair(1024);
    ours.send_line("{}").await.unwrap();
    let web = Web::read(&address).unwrap();
    let lost = reaching::carry(&web, &[], &[Transport::Sse], theirs, mpsc::channel(1).0).await;
    saying.abort();
    assert!(lost.why.ends_with("cannot be reached: what it answers is no message"), "{}", lost.why);
}
