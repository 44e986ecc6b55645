//! WebSockets of servers that keep to the rules, and of those that do not. Over loopback, ports are the system's choice.

use super::*;
use crate::wire::duplex::{self, End};
use futures_util::sink::unfold;
use tokio::io::AsyncReadExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_tungstenite::accept_hdr_async;
use tokio_tungstenite::tungstenite::handshake::server::{Request, Response as Accepted};
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role};

type Server = WebSocketStream<TcpStream>;

async fn carry(web: &Web, headers: &[Header], end: End) -> String {
    let speech = Speech::new(web, headers);
    match open(web, headers, &speech).await {
        Ok(socket) => run(socket, end.reader, end.writer, &speech).await.why,
        Err(failure) => format!("{web} cannot be reached: {}", failure.lost.why),
    }
}

/// A connection that is carried, and the server's side of it.
async fn carried() -> (JoinHandle<String>, duplex::End, Server) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let (theirs, ours) = duplex::pair(64 << 10);
    let web = Web::read(&format!("ws://127.0.0.1:{port}/acp?a=b")).unwrap();
    let carried = tokio::spawn(async move {
        let headers = [Header::typed("Authorization: Bearer top-secret").unwrap()];
        carry(&web, &headers, theirs).await
    });
    let (stream, _) = listener.accept().await.unwrap();
    // The library says how a request is refused.
    #[allow(clippy::result_large_err)]
    let look = |request: &Request, response: Accepted| {
        assert_eq!(request.uri(), "/acp?a=b");
        assert_eq!(request.headers()["authorization"], "Bearer top-secret");
        assert!(!request.headers().contains_key("sec-websocket-protocol"));
        assert!(!request.headers().contains_key("sec-websocket-extensions"));
        Ok(response)
    };
    (carried, ours, accept_hdr_async(stream, look).await.unwrap())
}

#[tokio::test]
async fn s_093_s_095_s_097_a_line_is_a_text_message_and_the_other_way_round() {
    let (carried, mut ours, mut server) = carried().await;
    ours.send_line("{\"n\":1}").await.unwrap();
    assert_eq!(server.next().await.unwrap().unwrap(), Message::text("{\"n\":1}"));
    for _ in 0..1000 {
        server.send(Message::Ping(Vec::new().into())).await.unwrap();
    }
    server.send(Message::binary(vec![1, 2])).await.unwrap();
    server.send(Message::text("{\"a\":\n\"é\"}")).await.unwrap();
    server.send(Message::text("last")).await.unwrap();
    let reason = "it is\u{1b} late".into();
    server.send(Message::Close(Some(CloseFrame { code: CloseCode::Away, reason }))).await.unwrap();
    assert_eq!(ours.next_line().await.unwrap().as_deref(), Some("{\"a\": \"é\"}"));
    assert_eq!(ours.next_line().await.unwrap().as_deref(), Some("last"));
    assert_eq!(ours.next_line().await.unwrap(), None);
    assert_eq!(carried.await.unwrap(), "the agent has closed the connection: it is late");
}

#[tokio::test]
async fn s_097_who_lets_the_agent_go_says_so() {
    let (carried, ours, mut server) = carried().await;
    drop(ours.writer);
    loop {
        match server.next().await {
            Some(Ok(Message::Close(_))) => {}
            Some(Ok(other)) => panic!("{other:?}"),
            Some(Err(_)) | None => break,
        }
    }
    assert_eq!(carried.await.unwrap(), "the agent has closed the connection");
}

#[tokio::test]
async fn s_098_a_message_that_is_too_large_ends_the_connection_by_its_length_alone() {
    let (carried, _ours, mut server) = carried().await;
    // The head of a text message of 1 GiB.
    server.get_mut().write_all(&[0x81, 127, 0, 0, 0, 0, 0x40, 0, 0, 0]).await.unwrap();
    let why = carried.await.unwrap();
    assert_eq!(why, "the agent sent a message of 1073741824 bytes; at most 67108864 are taken");
}

#[tokio::test]
async fn s_096_answers_to_pings_that_nobody_reads_take_no_more_than_their_share_of_memory() {
    const HELD: usize = 256 << 10;
    let (mut pings, from_server) = tokio::io::duplex(64 << 10);
    let (to_server, mut pongs) = tokio::io::duplex(1 << 10);
    let pipe = tokio::io::join(from_server, to_server);
    let mut socket = WebSocketStream::from_raw_socket(pipe, Role::Client, Some(settings(HELD))).await;
    let flood = async {
        let ping = [&[0x89, 125][..], &[b'x'; 125]].concat();
        for _ in 0..10_000 {
            pings.write_all(&ping).await.unwrap();
        }
        pings.write_all(b"\x81\x02hi").await.unwrap();
    };
    tokio::join!(flood, async { while !matches!(socket.next().await, Some(Ok(Message::Text(_)))) {} });
    let mut answered = Vec::new();
    let flush = async move { socket.flush().await.unwrap() };
    let ((), read) = tokio::join!(flush, pongs.read_to_end(&mut answered));
    assert!((1 << 10..HELD + (4 << 10)).contains(&read.unwrap()), "{}", answered.len());
}

#[tokio::test]
async fn what_is_no_websocket_ends_with_a_clear_line() {
    let (carried, _ours, mut server) = carried().await;
    server.get_mut().write_all(&b"HTTP/1.1 200 OK\r\n".repeat(20)).await.unwrap();
    assert!(carried.await.unwrap().starts_with("what came is no WebSocket: "));
    let (carried, _ours, server) = self::carried().await;
    drop(server);
    assert_eq!(carried.await.unwrap(), "the connection to the agent broke");
}

#[tokio::test]
async fn s_076_s_093_whatever_a_server_says_instead_is_told_in_words() {
    for (answer, why) in [
        (
            "302 Found\r\nLocation: https://other.example/acp",
            "127.0.0.1:PORT sends on to https://other.example/acp; no redirect",
        ),
        ("401 Unauthorized", "who you are (401): give --header"),
        ("403 Forbidden", "who you are (403)"),
        ("404 Not Found", "nothing at this path (404)"),
        ("408 Request Timeout", "no answer came in time (408)"),
        ("429 Too Many Requests\r\nRetry-After: 7", "asked too often (429), again after 7 s"),
        ("429 Too Many Requests", "asked too often (429)"),
        ("500 Internal Server Error", "the server has a fault (500)"),
        ("504 Gateway Timeout", "in time (504)"),
        ("400 Bad Request", "it opens no WebSocket (400)"),
        ("200 OK", "it opens no WebSocket (200)"),
        ("101 Switching Protocols", "what came is no WebSocket"),
        (
            "101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: x",
            "is no WebSocket",
        ),
        ("\u{1b}[2J", "is no WebSocket"),
    ] {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let web = Web::read(&format!("ws://127.0.0.1:{port}")).unwrap();
        let carried = tokio::spawn(async move { carry(&web, &[], duplex::pair(64).0).await });
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut request = vec![0; 1024];
        assert!(stream.read(&mut request).await.unwrap() > 0);
        stream.write_all(format!("HTTP/1.1 {answer}\r\nContent-Length: 0\r\n\r\n").as_bytes()).await.unwrap();
        drop(stream);
        let said = carried.await.unwrap();
        assert!(said.contains(&why.replace("PORT", &port.to_string())), "{answer}: {said}");
        assert!(!said.contains('\u{1b}'));
    }
}

#[tokio::test]
async fn a_header_without_an_end_and_a_server_that_does_not_encrypt_are_refused() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let flood = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut sent = 0;
        let begun = stream.write_all(b"HTTP/1.1 101 Switching Protocols\r\nX-Long: ").await;
        while begun.is_ok() && stream.write_all(&[b'x'; 4096]).await.is_ok() {
            sent += 4096;
        }
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.write_all(b"I speak plainly\r\n\r\n").await.unwrap();
        sent
    });
    let web = Web::read(&format!("ws://127.0.0.1:{port}")).unwrap();
    let said = carry(&web, &[], duplex::pair(64).0).await;
    assert!(said.contains("cannot be reached: "), "{said}");
    let web = Web::read(&format!("wss://localhost:{port}")).unwrap();
    let said = carry(&Web { host: "127.0.0.1".into(), ..web }, &[], duplex::pair(64).0).await;
    assert!(said.contains("the connection cannot be encrypted: ") || said.contains("no certificates"), "{said}");
    flood.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn s_096_who_is_silent_is_asked_and_then_given_up() {
    let (theirs, _ours) = duplex::pair(64);
    let was_heard = AtomicBool::new(true);
    let mut pings = 0;
    let sink = unfold(&mut pings, |pings: &mut u32, message: Message| async move {
        *pings += u32::from(message.is_ping());
        Ok::<_, Error>(pings)
    });
    let begun = tokio::time::Instant::now();
    assert_eq!(send(Box::pin(sink), theirs.reader, &was_heard, SILENCE).await, "the agent does not answer any more");
    assert_eq!((pings, begun.elapsed()), (1, SILENCE * 2));
}
