//! An agent behind a socket of this machine: bytes, as over the pipes of a process.

use crate::wire::duplex::End;
use std::future::pending;
use std::io;
use std::path::Path;
use std::time::Duration;
use tokio::io::{AsyncWriteExt as _, copy, copy_buf};
use tokio::net::UnixStream;
use tokio::time::timeout;

/// How long a socket may take to be opened; it waits where its program does not accept.
const PATIENCE: Duration = Duration::from_secs(10);

pub(super) async fn carry(path: &Path, end: End) -> String {
    let shown = path.display();
    let stream = match timeout(PATIENCE, UnixStream::connect(path)).await {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) => return format!("unix:{shown} cannot be reached: {}", reason(&error)),
        Err(_) => return format!("unix:{shown} cannot be reached: nobody has answered for {} s", PATIENCE.as_secs()),
    };
    let (mut from, mut to) = stream.into_split();
    let End { mut reader, mut writer } = end;
    let sent = async {
        if copy_buf(&mut reader, &mut to).await.is_ok() {
            // It was let go, and may still say something.
            let _ = to.shutdown().await;
        }
        // What it said before is read first, and then the end.
        pending::<()>().await;
    };
    tokio::select! {
        () = sent => String::new(),
        received = copy(&mut from, &mut writer) => match received {
            Ok(_) => "the agent has closed the connection".to_owned(),
            Err(error) => format!("the connection to the agent broke: {error}"),
        },
    }
}

fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such socket; is the agent running?".to_owned(),
        io::ErrorKind::ConnectionRefused => "no program listens there; is the agent running?".to_owned(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::duplex;
    use tokio::io::{AsyncBufReadExt as _, BufReader};
    use tokio::net::UnixListener;

    #[tokio::test]
    async fn s_060_why_a_socket_cannot_be_reached_is_said() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.sock");
        let said = carry(&path, duplex::pair(64).0).await;
        assert!(said.ends_with("there is no such socket; is the agent running?"), "{said}");
        drop(UnixListener::bind(&path).unwrap());
        let said = carry(&path, duplex::pair(64).0).await;
        assert!(said.ends_with("no program listens there; is the agent running?"), "{said}");
        let file = dir.path().join("file");
        std::fs::write(&file, "").unwrap();
        assert!(carry(&file, duplex::pair(64).0).await.contains("cannot be reached"));
        assert!(carry(&dir.path().join("x".repeat(200)), duplex::pair(64).0).await.contains("cannot be reached"));
    }

    #[tokio::test]
    async fn s_059_lines_go_both_ways_and_the_last_one_comes_before_the_end() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.sock");
        let listener = UnixListener::bind(&path).unwrap();
        let (theirs, mut ours) = duplex::pair(16);
        let carried = tokio::spawn(async move { carry(&path, theirs).await });
        let (stream, _) = listener.accept().await.unwrap();
        let (read, mut write) = stream.into_split();
        let mut lines = BufReader::new(read).lines();
        for line in ["{\"a\":1}", &"long ".repeat(1000)] {
            let (sent, got) = tokio::join!(ours.send_line(line), lines.next_line());
            sent.unwrap();
            assert_eq!(got.unwrap().as_deref(), Some(line));
        }
        write.write_all(b"the last\n").await.unwrap();
        drop((write, lines));
        assert_eq!(ours.next_line().await.unwrap().as_deref(), Some("the last"));
        assert_eq!(ours.next_line().await.unwrap(), None);
        assert_eq!(carried.await.unwrap(), "the agent has closed the connection");
    }
}
