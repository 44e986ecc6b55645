//! Messages in a stream of events (SSE): an event is a message, its data are the text of it (S-086).
//!
//! Reads no JSON. Invariants: the pieces in which a stream comes do not matter; the work is linear; a message above the
//! limit ends the stream before more memory is taken for it, and what all streams of a connection hold is counted; of their
//! large messages one is read at a time.

use crate::wire::framing::MAX_LINE;
use crate::wire::pump::LARGE;
use memchr::memchr2;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::{Mutex, OwnedMutexGuard};

/// Bytes of messages that have begun, in all streams of a connection.
const MAX_BEGUN: usize = 2 * MAX_LINE;
/// The field that counts, and the blank behind it that does not.
const DATA: &[u8] = b"data:";

/// Bytes that the streams of a connection hold.
#[derive(Clone, Debug)]
pub(super) struct Held {
    bytes: Arc<AtomicUsize>,
    /// How long one message, and all that have begun, may be.
    most: (usize, usize),
    /// Had by the stream whose large message is read.
    large: Arc<Mutex<()>>,
}

impl Default for Held {
    fn default() -> Self {
        Self { bytes: Arc::default(), most: (MAX_LINE, MAX_BEGUN), large: Arc::default() }
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooLong;

/// What the line is that has begun.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
enum Line {
    Unknown,
    Data,
    /// A comment or a field that does not count.
    Other,
}

#[derive(Debug)]
pub(super) struct Events {
    held: Held,
    line: Line,
    /// The first bytes of a line, until it is known what it is.
    begun: Vec<u8>,
    message: Vec<u8>,
    /// The event that has begun has data, which may be empty.
    has_data: bool,
    /// The last byte was the first half of `\r\n`, or a line end of its own.
    was_return: bool,
    /// Nothing has come yet: a mark of the byte order may.
    is_fresh: bool,
    /// As long as a large message is read.
    alone: Option<OwnedMutexGuard<()>>,
}

impl Events {
    pub fn new(held: Held) -> Self {
        let (begun, message) = (Vec::new(), Vec::new());
        let (line, has_data, was_return, is_fresh) = (Line::Unknown, false, false, true);
        Self { held, line, begun, message, has_data, was_return, is_fresh, alone: None }
    }

    /// Appends the messages that these bytes complete. None of them has a line end in it.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<Vec<u8>>) -> Result<(), TooLong> {
        let mut rest = bytes;
        while !rest.is_empty() {
            if std::mem::take(&mut self.was_return) && rest[0] == b'\n' {
                rest = &rest[1..];
                continue;
            }
            let Some(end) = memchr2(b'\r', b'\n', rest) else {
                return self.add(rest);
            };
            self.add(&rest[..end])?;
            self.was_return = rest[end] == b'\r';
            rest = &rest[end + 1..];
            out.extend(self.end_line()?);
        }
        Ok(())
    }

    /// Before more is read, when what was completed has been handed on: where a large message has begun, those of other
    /// streams are done.
    pub async fn wait_for_others(&mut self) {
        if self.message.len() <= LARGE {
            self.alone = None;
        } else if self.alone.is_none() {
            self.alone = Some(Arc::clone(&self.held.large).lock_owned().await);
        }
    }

    /// The stream has ended in the middle of an event.
    pub fn is_torn(&self) -> bool {
        self.has_data || !self.begun.is_empty() || self.line != Line::Unknown
    }

    fn add(&mut self, piece: &[u8]) -> Result<(), TooLong> {
        let mut piece = piece;
        if self.line == Line::Unknown {
            // The field, the blank behind it, and a mark of the byte order before it.
            let room = (DATA.len() + 1 + 3).saturating_sub(self.begun.len()).min(piece.len());
            self.begun.extend_from_slice(&piece[..room]);
            piece = &piece[room..];
            if piece.is_empty() {
                return Ok(());
            }
            self.decide()?;
        }
        if self.line == Line::Data { self.append(piece) } else { Ok(()) }
    }

    /// Says what the line is by what has come of it.
    fn decide(&mut self) -> Result<(), TooLong> {
        let begun = std::mem::take(&mut self.begun);
        let mut begun = begun.as_slice();
        if std::mem::take(&mut self.is_fresh) {
            begun = begun.strip_prefix("\u{feff}".as_bytes()).unwrap_or(begun);
        }
        let Some(value) =
            begun.strip_prefix(DATA).or_else(|| begun.strip_prefix(b"data").filter(|rest| rest.is_empty()))
        else {
            self.line = Line::Other;
            return Ok(());
        };
        self.line = Line::Data;
        if std::mem::replace(&mut self.has_data, true) {
            // Between the values of JSON a blank is as good as a line end.
            self.append(b" ")?;
        }
        self.append(value.strip_prefix(b" ").unwrap_or(value))
    }

    fn append(&mut self, piece: &[u8]) -> Result<(), TooLong> {
        let Held { bytes, most: (one, all), .. } = &self.held;
        let held = bytes.fetch_add(piece.len(), Ordering::Relaxed).saturating_add(piece.len());
        self.message.extend_from_slice(piece);
        if self.message.len() > *one || held > *all { Err(TooLong) } else { Ok(()) }
    }

    fn end_line(&mut self) -> Result<Option<Vec<u8>>, TooLong> {
        if self.line == Line::Unknown {
            if self.begun.is_empty() {
                return Ok(self.end_event());
            }
            self.decide()?;
        }
        self.line = Line::Unknown;
        Ok(None)
    }

    fn end_event(&mut self) -> Option<Vec<u8>> {
        self.is_fresh = false;
        let message = std::mem::take(&mut self.message);
        self.held.bytes.fetch_sub(message.len(), Ordering::Relaxed);
        (std::mem::take(&mut self.has_data) && !message.is_empty()).then_some(message)
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        self.held.bytes.fetch_sub(self.message.len(), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(pieces: &[&[u8]]) -> (Vec<String>, bool) {
        let (mut events, mut out) = (Events::new(Held::default()), Vec::new());
        for piece in pieces {
            events.push(piece, &mut out).unwrap();
        }
        (out.into_iter().map(|message| String::from_utf8(message).unwrap()).collect(), events.is_torn())
    }

    #[test]
    fn s_086_events_are_read_with_every_line_end_and_only_their_data_count() {
        for (text, messages) in [
            ("data: {\"a\":1}\n\n", vec!["{\"a\":1}"]),
            ("data:1\r\n\r\ndata:2\r\rdata: 3\n\r\n", vec!["1", "2", "3"]),
            ("\u{feff}data: 1\n\n", vec!["1"]),
            (": alive\n\nevent: message\nid: 7\nretry: 1\ndata: {\ndata: }\n\n", vec!["{ }"]),
            (":\n:\n\n\n\n", vec![]),
            ("data\n\ndata:\n\n", vec![]),
            ("data:  two blanks\n\n", vec![" two blanks"]),
            ("database: no\ndata: yes\n\n", vec!["yes"]),
            ("dat\nda: x\n\n", vec![]),
            ("data: é\n\ndata: \u{2028}\n\n", vec!["é", "\u{2028}"]),
        ] {
            assert_eq!(
                read(&[text.as_bytes()]),
                (messages.iter().map(ToString::to_string).collect(), false),
                "{text:?}"
            );
        }
        assert_eq!(read(&[b"data: 1\r"]), (vec![], true));
        assert_eq!(read(&[b"data: 1\n\nda"]), (vec!["1".to_owned()], true));
    }

    #[test]
    fn s_098_a_message_above_the_limit_is_noticed_before_it_is_whole() {
        let held = Held { most: (1 << 20, 2 << 20), ..Held::default() };
        let (mut events, mut out) = (Events::new(held.clone()), Vec::new());
        events.push(b"data: ", &mut out).unwrap();
        let block = vec![b'x'; 1 << 14];
        let taken = (0..100).take_while(|_| events.push(&block, &mut out).is_ok()).count();
        assert_eq!((taken, out.len()), (64, 0));
        // Comments are thrown away, however long they are.
        let mut quiet = Events::new(held.clone());
        quiet.push(b":", &mut out).unwrap();
        for _ in 0..200 {
            quiet.push(&block, &mut out).unwrap();
        }
        drop((events, quiet));
        assert_eq!(held.bytes.load(Ordering::Relaxed), 0, "what is not there any more is not counted");
        // What many streams hold is counted together.
        let mut many: Vec<Events> = (0..300).map(|_| Events::new(held.clone())).collect();
        let text = [b"data: ", block.as_slice()].concat();
        let taken = many.iter_mut().map_while(|events| events.push(&text, &mut out).ok());
        assert_eq!(taken.count(), 128);
    }

    #[tokio::test]
    async fn of_the_large_messages_of_several_streams_one_is_read_at_a_time() {
        let (held, mut out) = (Held::default(), Vec::new());
        let [mut one, mut other, mut small] = [(); 3].map(|()| Events::new(held.clone()));
        let begin = [DATA, &vec![b'x'; LARGE + 1]].concat();
        for events in [&mut one, &mut other] {
            events.push(&begin, &mut out).unwrap();
        }
        small.push(b"data: 1", &mut out).unwrap();
        one.wait_for_others().await;
        one.wait_for_others().await;
        small.wait_for_others().await;
        let mut waits = Box::pin(other.wait_for_others());
        assert!(futures_util::poll!(&mut waits).is_pending());
        one.push(b"\n\n", &mut out).unwrap();
        assert!(futures_util::poll!(&mut waits).is_pending(), "it is handed on first");
        one.wait_for_others().await;
        waits.await;
        // A stream that ends lets the next go on.
        one.push(&begin, &mut out).unwrap();
        let mut waits = Box::pin(one.wait_for_others());
        assert!(futures_util::poll!(&mut waits).is_pending());
        drop(other);
        waits.await;
    }

    proptest! {
        #![proptest_config(crate::random(64))]
        #[test]
        fn s_086_the_pieces_in_which_a_stream_comes_do_not_matter(
            text in proptest::collection::vec(
                prop_oneof![Just("data: é"), Just("data"), Just(":"), Just("\r"), Just("\n"), Just("\r\n"), Just("x"), Just("id: 1")],
                0..60),
            cuts in proptest::collection::vec(1usize..7, 1..20)) {
            let text = text.concat();
            let whole = read(&[text.as_bytes()]);
            let (mut pieces, mut rest) = (Vec::new(), text.as_bytes());
            for cut in cuts.iter().cycle() {
                let (now, later) = rest.split_at((*cut).min(rest.len()));
                pieces.push(now);
                rest = later;
                if rest.is_empty() { break; }
            }
            prop_assert_eq!(read(&pieces), whole);
        }
    }
}
