//! A connection that is read in such pieces that what a WebSocket has kept of it is used up when a large frame ends.
//!
//! Who reads frames out of one buffer keeps what is before them as long as anything is behind them: of large messages, one
//! after the other, several would be in memory. Passes every byte on as it is and judges nothing; what is no frame only
//! comes in other pieces. Invariant: no read gives nothing where there is something.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncBufRead as _, AsyncRead, AsyncWrite, BufReader, ReadBuf};

/// Behind a frame with more bytes a read ends.
const LARGE: u64 = 64 << 10;
/// Bytes that are read at once.
const BLOCK: usize = 64 << 10;
/// Ends the answer that opens the connection.
const OPENED: &[u8] = b"\r\n\r\n";

/// Where in the stream the next byte is.
#[derive(Debug)]
enum At {
    /// In the answer before all frames, so many bytes of its end have come.
    Opening(usize),
    /// In the head of a frame.
    Head(Vec<u8>),
    /// In a frame, with so many bytes to come of all of it.
    Inside { left: u64, all: u64 },
}

pub(super) struct Frames<S> {
    stream: BufReader<S>,
    at: At,
}

impl<S: AsyncRead> Frames<S> {
    pub fn new(stream: S) -> Self {
        Self { stream: BufReader::with_capacity(BLOCK, stream), at: At::Opening(0) }
    }
}

impl At {
    /// How many of these bytes are given at once: up to the end of the first large frame.
    fn pass(&mut self, bytes: &[u8]) -> usize {
        let mut given = 0;
        while let Some(byte) = bytes.get(given) {
            match self {
                Self::Opening(come) => {
                    *come = if OPENED.get(*come) == Some(byte) { *come + 1 } else { usize::from(*byte == OPENED[0]) };
                    given += 1;
                    if *come == OPENED.len() {
                        *self = Self::Head(Vec::new());
                    }
                }
                Self::Head(head) => {
                    head.push(*byte);
                    given += 1;
                    if let Some(all) = length(head) {
                        *self = Self::Inside { left: all, all };
                    }
                }
                Self::Inside { left, all } => {
                    let now = (bytes.len() - given).min(usize::try_from(*left).unwrap_or(usize::MAX));
                    given += now;
                    *left -= now as u64;
                    if *left == 0 {
                        let is_large = *all > LARGE;
                        *self = Self::Head(Vec::new());
                        if is_large {
                            break;
                        }
                    }
                }
            }
        }
        given
    }
}

/// The bytes behind the head of a frame, once it is whole: those of the mask as well.
fn length(head: &[u8]) -> Option<u64> {
    let second = *head.get(1)?;
    let mask = if second & 0x80 == 0 { 0 } else { 4 };
    let said = match second & 0x7f {
        126 => u64::from(u16::from_be_bytes(*head.get(2..)?.first_chunk()?)),
        127 => u64::from_be_bytes(*head.get(2..)?.first_chunk()?),
        few => u64::from(few),
    };
    Some(said.saturating_add(mask))
}

impl<S: AsyncRead + Unpin> AsyncRead for Frames<S> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let bytes = ready!(Pin::new(&mut this.stream).poll_fill_buf(cx))?;
        let room = bytes.len().min(into.remaining());
        let given = this.at.pass(&bytes[..room]);
        into.put_slice(&bytes[..given]);
        Pin::new(&mut this.stream).consume(given);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Frames<S> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(self.get_mut().stream.get_mut()).poll_write(cx, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(self.get_mut().stream.get_mut()).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(self.get_mut().stream.get_mut()).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use tokio::io::AsyncReadExt as _;

    fn frame(length: usize) -> Vec<u8> {
        let head = match length {
            0..126 => vec![0x81, length as u8],
            126..65536 => [&[0x81, 126][..], &(length as u16).to_be_bytes()].concat(),
            _ => [&[0x81, 127][..], &(length as u64).to_be_bytes()].concat(),
        };
        [head, vec![b'x'; length]].concat()
    }

    #[tokio::test]
    async fn a_read_ends_with_a_large_frame_and_small_ones_come_together() {
        let large = frame(LARGE as usize + 1);
        let text = [&b"HTTP/1.1 101 \r\nA: b\r\n\r\n"[..], &frame(3), &frame(200), &large, &large, &frame(5)].concat();
        let ends = [23 + 5 + 204 + large.len(), 23 + 5 + 204 + 2 * large.len(), text.len()];
        let mut frames = Frames::new(text.as_slice());
        let (mut read, mut into, mut at) = (0, vec![0; 1 << 20], Vec::new());
        loop {
            let count = frames.read(&mut into).await.unwrap();
            if count == 0 {
                break;
            }
            read += count;
            at.push(read);
        }
        assert!(ends.iter().all(|end| at.contains(end)), "{at:?} {ends:?}");
        assert!(at.len() <= 6, "{at:?}");
    }

    proptest! {
        #![proptest_config(crate::random(64))]
        #[test]
        fn every_byte_is_passed_on_whatever_it_is(
            text in prop::collection::vec(any::<u8>(), 0..3000),
            is_open: bool,
            cuts in prop::collection::vec(1usize..900, 1..9),
        ) {
            let text = [if is_open { OPENED } else { b"" }, &text].concat();
            let (mut at, mut rest, mut passed) = (At::Opening(0), text.as_slice(), 0);
            for cut in cuts.iter().cycle() {
                let given = at.pass(&rest[..rest.len().min(*cut)]);
                prop_assert!(given > 0 || rest.is_empty());
                (passed, rest) = (passed + given, &rest[given..]);
                if rest.is_empty() { break; }
            }
            prop_assert_eq!(passed, text.len());
        }
    }
}
