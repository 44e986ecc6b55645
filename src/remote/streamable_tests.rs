//! Streamable HTTP of servers that keep to the rules, over both versions of HTTP, and of those that do not. Over loopback, ports
//! are the system's choice.

use super::super::reaching;
use super::super::test_server::{self, Pieces, say};
use super::*;
use crate::base::transport::Transport;
use crate::wire::duplex::{self, End};
use hyper::{Request, Response};
use serde_json::json;
use std::collections::HashMap;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// A request as the server has seen it: method, its headers in words, and the body.
type Seen = (String, String);
type Streams = Arc<Mutex<HashMap<String, mpsc::Sender<Bytes>>>>;

struct Server {
    seen: mpsc::Receiver<Seen>,
    streams: Streams,
    ours: End,
    carried: JoinHandle<Lost>,
}

impl Server {
    /// Says these bytes on the stream of a session, or of the connection.
    async fn say(&self, session: &str, bytes: impl Into<Bytes>) {
        let stream = self.streams.lock().unwrap()[session].clone();
        stream.send(bytes.into()).await.unwrap();
    }

    fn close(&self, session: &str) {
        self.streams.lock().unwrap().remove(session);
    }

    async fn sees(&mut self, what: &str, body: &str) {
        assert_eq!(self.seen.recv().await.unwrap(), (what.to_owned(), body.to_owned()));
    }

    async fn hears(&mut self, line: &str) {
        assert_eq!(self.ours.next_line().await.unwrap().as_deref(), Some(line));
    }
}

const ANSWER: &str = "{\"id\":0,\"result\":{}}";

/// Answers the first message, opens streams, and takes everything else but what has `refuse` in it.
async fn answer(request: Request<Incoming>, seen: mpsc::Sender<Seen>, streams: Streams) -> Response<Pieces> {
    let header = |name: &str| {
        let values = request.headers().get_all(name).into_iter().map(|value| value.to_str().unwrap());
        values.collect::<Vec<_>>().join("; ")
    };
    let names = ["acp-connection-id", "acp-session-id", "authorization", "cookie", "accept", "content-type"];
    let [connection, session, secret, cookie, accept, kind] = names.map(header);
    assert_eq!((secret.as_str(), request.uri().path()), ("Bearer top-secret", "/acp"));
    let method = request.method().clone();
    assert_eq!(kind, if method == "POST" { "application/json" } else { "" });
    assert_eq!(accept == "text/event-stream", method == "GET");
    let body = request.into_body().collect().await.unwrap().to_bytes();
    let body = String::from_utf8(body.to_vec()).unwrap();
    let (say, pieces) = mpsc::channel(1);
    let mut answer = Response::builder();
    if connection.is_empty() {
        say.send(ANSWER.into()).await.unwrap();
        answer = answer.header("acp-connection-id", "c1").header("content-type", "application/json");
        answer = answer.header("set-cookie", "k=v; Path=/");
    } else if session == "unknown" {
        answer = answer.status(404);
    } else if method == "GET" {
        answer = answer.header("content-type", "text/event-stream; charset=utf-8");
        streams.lock().unwrap().insert(session.clone(), say);
    } else if body.contains("refuse") {
        answer = answer.status(429).header("retry-after", "7");
    } else {
        answer = answer.status(202);
    }
    seen.send((format!("{method} {connection} {session} {cookie}").trim_end().to_owned(), body)).await.unwrap();
    answer.body(Pieces(pieces)).unwrap()
}

async fn begun(is_http_2: bool) -> Server {
    let (tell, seen) = mpsc::channel(100);
    let streams = Streams::default();
    let all = Arc::clone(&streams);
    let address = test_server::answer(is_http_2, move |request| answer(request, tell.clone(), Arc::clone(&all))).await;
    let web = Web::read(&address).unwrap();
    let (theirs, ours) = duplex::pair(64 << 10);
    let carried = tokio::spawn(async move {
        let headers = [Header::typed("Authorization: Bearer top-secret").unwrap()];
        reaching::carry(&web, &headers, &[Transport::Http, Transport::WebSocket], theirs, mpsc::channel(1).0).await
    });
    let mut server = Server { seen, streams, ours, carried };
    server.ours.send_line("{\"id\":0,\"method\":\"initialize\"}").await.unwrap();
    server.sees("POST", "{\"id\":0,\"method\":\"initialize\"}").await;
    server.sees("GET c1  k=v", "").await;
    server.hears(ANSWER).await;
    server
}

/// With a session that has a stream.
async fn begun_with_session(is_http_2: bool) -> Server {
    let mut server = begun(is_http_2).await;
    let new = "{\"id\":1,\"method\":\"session/new\",\"params\":{}}";
    server.ours.send_line(new).await.unwrap();
    server.sees("POST c1  k=v", new).await;
    server.say("", "data: {\"id\":1,\ndata: \"result\":{\"sessionId\":\"s\"}}\n\n").await;
    server.sees("GET c1 s k=v", "").await;
    server.hears("{\"id\":1, \"result\":{\"sessionId\":\"s\"}}").await;
    server
}

async fn a_session(is_http_2: bool) {
    let mut server = begun_with_session(is_http_2).await;
    let prompt = "{\"id\":2,\"method\":\"session/prompt\",\"params\":{\"sessionId\":\"s\"}}";
    server.ours.send_line(prompt).await.unwrap();
    server.sees("POST c1 s k=v", prompt).await;
    let asked = "{\"id\":\"q\",\"method\":\"ask\",\"params\":{\"sessionId\":\"s\"}}";
    server.say("s", format!("data: {asked}\n\n")).await;
    server.hears(asked).await;
    let answer = "{\"id\":\"q\",\"result\":{}}";
    server.ours.send_line(answer).await.unwrap();
    server.sees("POST c1 s k=v", answer).await;
    let told = "{\"method\":\"$/cancel\",\"params\":{\"sessionId\":\"s\"}}";
    server.ours.send_line(told).await.unwrap();
    server.sees("POST c1  k=v", told).await;
    // One that is loaded has its stream before it is asked for.
    let load = "{\"id\":3,\"method\":\"session/load\",\"params\":{\"sessionId\":\"t\"}}";
    server.ours.send_line(load).await.unwrap();
    server.sees("GET c1 t k=v", "").await;
    server.sees("POST c1 t k=v", load).await;
    // A closed session needs its stream no more.
    let close = "{\"id\":4,\"method\":\"session/close\",\"params\":{\"sessionId\":\"t\"}}";
    server.ours.send_line(close).await.unwrap();
    server.sees("POST c1 t k=v", close).await;
    server.close("t");
    server.say("", "data: {\"id\":4,\"result\":null}\n\n").await;
    server.hears("{\"id\":4,\"result\":null}").await;
    let Server { mut seen, streams, ours, carried } = server;
    drop(ours.writer);
    assert_eq!(seen.recv().await.unwrap().0, "DELETE c1  k=v");
    streams.lock().unwrap().clear();
    assert_eq!(carried.await.unwrap().why, "the agent has closed the connection");
}

#[tokio::test]
async fn s_078_s_079_s_080_s_081_a_session_over_http_1() {
    a_session(false).await;
}

#[tokio::test]
async fn s_082_s_083_s_084_s_085_s_089_a_session_over_http_2_that_nothing_has_announced() {
    a_session(true).await;
}

#[tokio::test]
async fn s_080_a_session_that_the_server_gives_no_stream_is_loaded_over_the_connections_own() {
    let mut server = begun(false).await;
    let load = "{\"id\":3,\"method\":\"session/load\",\"params\":{\"sessionId\":\"unknown\"}}";
    server.ours.send_line(load).await.unwrap();
    server.sees("GET c1 unknown k=v", "").await;
    server.sees("POST c1  k=v", load).await;
    server.say("", "data: {\"id\":3,\"result\":null}\n\n").await;
    server.sees("GET c1 unknown k=v", "").await;
    server.hears("{\"id\":3,\"result\":null}").await;
    assert!(!server.carried.is_finished());
    // What is refused then says what may help.
    let prompt = "{\"id\":4,\"method\":\"session/prompt\",\"params\":{\"sessionId\":\"unknown\",\"x\":\"refuse\"}}";
    server.ours.send_line(prompt).await.unwrap();
    server.sees("GET c1 unknown k=v", "").await;
    server.sees("POST c1  k=v", prompt).await;
    let answer = server.ours.next_line().await.unwrap().unwrap();
    assert!(answer.contains("again after 7 s; this server has no stream for the session"), "{answer}");
    assert!(answer.contains("--transport websocket"), "{answer}");
}

#[tokio::test]
async fn s_086_a_message_comes_whole_in_whatever_pieces_it_is_sent() {
    let mut server = begun_with_session(true).await;
    for byte in "data: \"é\"\r\n\r\n: alive\rdata: 2\r\r".bytes() {
        server.say("s", vec![byte]).await;
    }
    server.hears("\"é\"").await;
    server.hears("2").await;
    for n in 0..2000 {
        server.say(if n % 2 == 0 { "" } else { "s" }, format!("data: {n}\n\n")).await;
    }
    let mut last = [None, None];
    for _ in 0..2000 {
        let n: u32 = server.ours.next_line().await.unwrap().unwrap().parse().unwrap();
        let before = last[(n % 2) as usize].replace(n);
        assert!(before.is_none_or(|before| before + 2 == n), "those of a stream keep their order");
    }
}

#[tokio::test]
async fn s_088_the_end_of_a_stream_is_the_end_of_the_connection() {
    for (session, bytes, why) in [
        ("", "", "the agent has closed the connection"),
        ("s", "", "the agent has closed the connection"),
        ("s", "data: half", "the agent has closed the connection in the middle of a message"),
    ] {
        let server = begun_with_session(false).await;
        server.say(session, bytes).await;
        server.close(session);
        assert_eq!(server.carried.await.unwrap().why, why);
    }
}

#[tokio::test]
async fn s_087_s_146_a_request_that_is_refused_is_answered_so_and_not_sent_again() {
    let mut server = begun_with_session(false).await;
    let prompt = "{\"id\":2,\"method\":\"session/prompt\",\"params\":{\"sessionId\":\"s\",\"x\":\"refuse\"}}";
    server.ours.send_line(prompt).await.unwrap();
    server.sees("POST c1 s k=v", prompt).await;
    let answer = server.ours.next_line().await.unwrap().unwrap();
    let answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
    assert_eq!((&answer["id"], &answer["error"]["data"]["retryAfter"]), (&json!(2), &json!(7)));
    assert_eq!(answer["error"]["message"], "it is asked too often (429), again after 7 s");
    let told = "{\"method\":\"refuse\"}";
    server.ours.send_line(told).await.unwrap();
    server.sees("POST c1  k=v", told).await;
    let told = "{\"method\":\"next\"}";
    server.ours.send_line(told).await.unwrap();
    server.sees("POST c1  k=v", told).await;
    let answer = "{\"id\":\"refuse\",\"result\":{}}";
    server.ours.send_line(answer).await.unwrap();
    assert!(server.carried.await.unwrap().why.starts_with("it is asked too often"));
}

/// What is said to a server that answers the first message with these bytes.
async fn said_to(answer: &[u8], ways: &'static [Transport]) -> String {
    let (address, saying) = say(answer).await;
    let web = Web::read(&address).unwrap();
    let (theirs, mut ours) = duplex::pair(1024);
    ours.send_line("{\"id\":0,\"method\":\"initialize\"}").await.unwrap();
    let headers = [Header::typed("Authorization: Bearer top-secret").unwrap()];
    let lost = reaching::carry(&web, &headers, ways, theirs, mpsc::channel(1).0).await;
    saying.abort();
    lost.why.replace(&web.port.to_string(), "PORT")
}

#[tokio::test]
async fn s_074_s_076_s_078_s_087_what_a_server_says_instead_is_told_in_words() {
    let long = format!("200 OK\r\nX-Long: {}", "x".repeat(1 << 20));
    let event = "200 OK\r\nContent-Type: text/event-stream";
    for (head, body, why) in [
        (
            "302 Found\r\nLocation: https://other.example/?sk=top-secret",
            "",
            "127.0.0.1:PORT sends on to https://other.example/?sk=…; no redirect",
        ),
        (
            "307 Temporary Redirect\r\nLocation: //other.example/acp",
            "",
            "127.0.0.1:PORT sends on to //other.example/acp; no redirect",
        ),
        ("308 Permanent Redirect\r\nLocation: /acp", "", "it sends on again and again"),
        ("401 Unauthorized", "", "who you are (401): give --header"),
        ("404 Not Found", "", "there is nothing at this path (404)"),
        ("418 I'm a teapot", "you are Bearer top-secret\u{1b}[2J", "it takes no messages over HTTP (418) you are …[2J"),
        ("429 Too Many Requests\r\nRetry-After: 7", "", "too often (429), again after 7 s"),
        ("503 Service Unavailable", "", "the server has a fault (503)"),
        ("200 OK\r\nContent-Type: application/json", ANSWER, "its answer names no connection (Acp-Connection-Id)"),
        ("200 OK\r\nContent-Type: application/json\r\nAcp-Connection-Id: c", "[]", "what it answers is no message"),
        ("200 OK\r\nContent-Type: text/html\r\nAcp-Connection-Id: c", "<html>", "what it answers is no message"),
        (
            "200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip",
            "\u{1f}x",
            "its answer is compressed (gzip)",
        ),
        (event, "data: 1\n\n", "what it answers is no message"),
        (&long, "", "the head of its answer is too large"),
        ("\u{1b}[2J", "", "what came is no HTTP"),
    ] {
        let answer = format!("HTTP/1.1 {head}\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        let said = said_to(answer.as_bytes(), &[Transport::Http]).await;
        assert!(
            said.starts_with("http://127.0.0.1:PORT/acp cannot be reached: ") && said.contains(why),
            "{head:.50}: {said}"
        );
    }
    let said = said_to(b"", &[Transport::Http]).await;
    assert!(said.ends_with("the connection to the agent broke"), "{said}");
    let said = said_to(b"HTTP/1.1 405 No\r\nContent-Length: 0\r\n\r\n", &[Transport::Http, Transport::WebSocket]).await;
    let both = "over http: it takes no messages over HTTP (405); over websocket: it opens no WebSocket (405)";
    assert!(said.ends_with(both), "{said}");
    // One answer is enough to know that who asks is not known.
    let said = said_to(b"HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n", &[Transport::WebSocket, Transport::Http]).await;
    assert!(said.contains("over websocket: it wants to know") && !said.contains("over http"), "{said}");
}

#[tokio::test]
async fn s_078_an_agent_that_refuses_has_its_words_heard() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let web = Web::read(&format!("http://127.0.0.1:{}", listener.local_addr().unwrap().port())).unwrap();
    let (theirs, mut ours) = duplex::pair(1024);
    ours.send_line("{\"id\":0,\"method\":\"initialize\"}").await.unwrap();
    let refusal = "{\"id\":0,\"error\":{\"code\":1,\"message\":\"no\"}}";
    tokio::spawn(async move { reaching::carry(&web, &[], &[Transport::Http], theirs, mpsc::channel(1).0).await });
    let (mut tcp, _) = listener.accept().await.unwrap();
    assert!(tcp.read(&mut [0; 4096]).await.unwrap() > 0);
    let head =
        format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n", refusal.len());
    tcp.write_all(format!("{head}{refusal}").as_bytes()).await.unwrap();
    assert_eq!(ours.next_line().await.unwrap().as_deref(), Some(refusal));
}

#[tokio::test(start_paused = true)]
async fn s_091_a_stream_that_does_not_begin_is_not_waited_for_for_ever() {
    let why = in_time(pending()).await.unwrap_err().lost.why;
    assert_eq!(why, "its stream of events has not begun within 20 s; does a proxy hold it back?");
}

/// A stream that waits until the one that is read has gone on may have come first, and be as large.
#[tokio::test]
async fn over_http_2_streams_that_are_not_read_take_nothing_from_the_one_that_is() {
    const LARGE: usize = 4 << 20;
    let address = test_server::answer(true, |_| async {
        let (say, pieces) = mpsc::channel(1);
        say.send(Bytes::from(vec![b'x'; LARGE])).await.unwrap();
        Response::new(Pieces(pieces))
    });
    let web = Web::read(&address.await).unwrap();
    let speech = Arc::new(Speech::new(&web, &[]));
    let mut client = Client::new(web, &[], speech).unwrap();
    let ask = Ask { method: Method::GET, accept: Some(EVENTS), headers: Vec::new(), body: Bytes::new() };
    let mut line = None;
    let mut unread = vec![client.first(&mut line, &ask).await.unwrap()];
    for _ in 0..7 {
        unread.push(client.send(&mut line, &ask).await.unwrap());
    }
    let read = client.send(&mut line, &ask).await.unwrap().into_body().collect();
    let read = tokio::time::timeout(Duration::from_secs(20), read).await;
    assert_eq!(read.expect("it goes on").unwrap().to_bytes().len(), LARGE);
    drop(unread);
}
