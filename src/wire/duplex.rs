//! An in-memory connection: two ends, each with a reader and a writer, as a process's pipes would be.
//!
//! For tests and for agents that live in this process. Invariant: dropping a writer is end of file at the other end.

use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};

#[derive(Debug)]
pub struct End {
    pub reader: BufReader<DuplexStream>,
    pub writer: DuplexStream,
}

/// Two connected ends; each direction holds up to `capacity` bytes.
pub fn pair(capacity: usize) -> (End, End) {
    let (to_b, from_a) = tokio::io::duplex(capacity);
    let (to_a, from_b) = tokio::io::duplex(capacity);
    let end = |reader, writer| End { reader: BufReader::new(reader), writer };
    (end(from_b, to_b), end(from_a, to_a))
}

impl End {
    pub async fn send_line(&mut self, line: &str) -> std::io::Result<()> {
        self.writer.write_all(line.as_bytes()).await?;
        self.writer.write_all(b"\n").await?;
        self.writer.flush().await
    }

    /// The next line without its newline; `None` at the end of the stream.
    pub async fn next_line(&mut self) -> std::io::Result<Option<String>> {
        let mut line = String::new();
        let read = self.reader.read_line(&mut line).await?;
        Ok((read > 0).then(|| line.trim_end_matches('\n').to_owned()))
    }
}
