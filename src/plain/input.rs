//! What the person writes, line by line.
//!
//! Reads on a thread of its own, since nothing can wait for standard input without holding up everything else. Invariant:
//! a line has a largest length, whatever comes.

use std::io::{BufRead as _, BufReader, Read};
use std::time::Instant;
use tokio::sync::mpsc;

/// Bytes of one line.
const MAX_LINE: u64 = 1 << 20;
/// Lines that are read before they are asked for.
const AHEAD: usize = 16;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Heard {
    /// Without its end.
    Line(String, Instant),
    TooLong,
    NoText,
    End,
}

#[derive(Debug)]
pub struct Input {
    lines: mpsc::Receiver<Heard>,
    /// Somebody types it: what is typed is on the screen already, and may be typed at any time.
    pub(super) by_hand: bool,
}

impl Input {
    /// Reads on until the end, or until this is dropped.
    pub fn new(reader: impl Read + Send + 'static, by_hand: bool) -> Self {
        let (tx, lines) = mpsc::channel(AHEAD);
        // Without the thread the sender is gone: that is the end of the input.
        let _ = std::thread::Builder::new().name("input".into()).spawn(move || {
            let mut reader = BufReader::new(reader);
            while let Some(heard) = next(&mut reader) {
                if tx.blocking_send(heard).is_err() {
                    return;
                }
            }
        });
        Self { lines, by_hand }
    }

    /// May be dropped and called again.
    pub(super) async fn next(&mut self) -> Heard {
        self.lines.recv().await.unwrap_or(Heard::End)
    }
}

/// Nothing at the end.
fn next(reader: &mut BufReader<impl Read>) -> Option<Heard> {
    let mut bytes = Vec::new();
    let read = reader.by_ref().take(MAX_LINE).read_until(b'\n', &mut bytes).ok()?;
    if read == 0 {
        return None;
    }
    if bytes.last() != Some(&b'\n') && bytes.len() as u64 == MAX_LINE {
        reader.skip_until(b'\n').ok()?;
        return Some(Heard::TooLong);
    }
    let Ok(mut line) = String::from_utf8(bytes) else { return Some(Heard::NoText) };
    line.truncate(line.trim_end_matches(['\r', '\n']).len());
    Some(Heard::Line(line, Instant::now()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn lines_come_one_by_one_and_what_is_none_is_told() {
        let mut bytes = b"first\r\n\n\xff\n".to_vec();
        bytes.extend(std::iter::repeat_n(b'x', 3 << 20));
        bytes.extend(b"\nlast");
        let mut input = Input::new(std::io::Cursor::new(bytes), false);
        let mut heard = Vec::new();
        loop {
            match input.next().await {
                Heard::End => break,
                Heard::Line(line, _) => heard.push(line),
                other => heard.push(format!("{other:?}")),
            }
        }
        assert_eq!(heard, ["first", "", "NoText", "TooLong", "last"]);
        assert_eq!(input.next().await, Heard::End, "and stays there");
    }
}
