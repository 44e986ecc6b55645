//! The newest lines of all connections, for the inspector.
//!
//! As they go into the journal: what is masked there is masked here. Nothing is made of them before somebody looks.
//! Invariant: no more than [`MAX_BYTES`] are kept, [`MAX_LOOKED`] while somebody looks, and of a long line only what it is.

use crate::agent::codec::watch::Watch;
use crate::base::limits::{self, MAX_NAME};
use crate::base::shared::SharedText;
use crate::model::frames::{FrameDir, FrameRow};
use crate::model::ids::{AgentKey, Now};
use crate::wire::frame::Frame;
use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};

/// Bytes of lines that are kept, with what each costs besides.
pub const MAX_BYTES: usize = 2 << 20;
/// The same while somebody looks: of 10,000 lines a second what comes while the screen has something else to do for seconds.
pub const MAX_LOOKED: usize = 16 << 20;
const COST: usize = 64;
/// A longer line is kept as what it is, without its content.
const LONG: usize = 128 << 10;
/// Bytes of a long line that is no message.
const HEAD: usize = 1 << 10;

#[derive(Debug)]
struct Kept {
    at: Now,
    agent: AgentKey,
    dir: FrameDir,
    text: SharedText,
    is_cut: bool,
}

#[derive(Debug, Default)]
pub struct Frames {
    kept: VecDeque<Kept>,
    bytes: usize,
    /// Lines that were dropped before the first one.
    dropped: u64,
    looking: Option<Looking>,
}

/// What is known of the connections while somebody looks, and the number of the next line to look at.
#[derive(Debug, Default)]
struct Looking {
    watches: BTreeMap<AgentKey, Watch>,
    next: u64,
}

impl Frames {
    /// `frame` is what the line was read as, where it was.
    pub(super) fn push(&mut self, at: Now, agent: AgentKey, dir: FrameDir, text: &SharedText, frame: Option<&Frame>) {
        let is_cut = text.len() > LONG;
        let text = match frame {
            _ if !is_cut => text.clone(),
            Some(frame) => cut(frame, text),
            None if dir == FrameDir::Stderr => cut(&Frame::Stray, text),
            None => cut(&Frame::parse(text.as_bytes()), text),
        };
        self.bytes += text.len() + COST;
        self.kept.push_back(Kept { at, agent, dir, text, is_cut });
        let most = if self.looking.is_some() { MAX_LOOKED } else { MAX_BYTES };
        if self.bytes <= most {
            return;
        }
        // Many go at once, since another thread allocates lines at the same time: freed one by one, each of them would wait for
        // the allocator's lock.
        while self.bytes > most / 4 * 3
            && let Some(first) = self.kept.pop_front()
        {
            self.bytes -= first.text.len() + COST;
            self.dropped += 1;
        }
    }

    /// How many lines there are that were not looked at.
    pub fn waiting(&self) -> u64 {
        let end = self.dropped + self.kept.len() as u64;
        self.looking.as_ref().map_or(0, |looking| end - looking.next.clamp(self.dropped, end))
    }

    /// Whether there are any.
    pub fn has_news(&self) -> bool {
        self.waiting() > 0
    }

    /// Nobody looks any more.
    pub fn stop(&mut self) {
        self.looking = None;
    }

    /// The next lines since the last call, at most so many, and how many before them went by too fast; at first the oldest
    /// that are kept.
    pub fn next(&mut self, most: usize) -> (Vec<FrameRow>, u64) {
        let Self { kept, dropped, looking, .. } = self;
        let looking = looking.get_or_insert_with(|| Looking { next: *dropped, ..Looking::default() });
        // What was dropped before it was looked at is not missed in the pairs: its answers are known without requests.
        let from = looking.next.max(*dropped);
        let missed = from - looking.next;
        let skipped = usize::try_from(from - *dropped).unwrap_or(usize::MAX);
        let mut rows = Vec::new();
        for Kept { at, agent, dir, text, is_cut } in kept.iter().skip(skipped).take(most) {
            let watch = looking.watches.entry(*agent).or_insert_with(|| Watch::new(*agent));
            let frame = match dir {
                FrameDir::Stderr | FrameDir::Note => Frame::Stray,
                _ => Frame::read(Cow::Borrowed(text.as_bytes()), &[]).0,
            };
            let mut row = watch.see(*at, *dir, &frame, &text.into());
            if *is_cut {
                row.flaws.clear();
            }
            rows.push(row);
        }
        looking.next = from + rows.len() as u64;
        (rows, missed)
    }
}

/// What a long line is, as a message.
fn cut(frame: &Frame, text: &str) -> SharedText {
    let size = format!("\"… {} bytes\"", text.len());
    // It may be all of the line.
    let method = |method: &str| serde_json::Value::from(limits::cut(method, MAX_NAME)).to_string();
    match frame {
        Frame::Request { id, method: name, .. } => {
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":{},"params":{size}}}"#, method(name.as_str()))
        }
        Frame::Notification { method: name, .. } => {
            format!(r#"{{"jsonrpc":"2.0","method":{},"params":{size}}}"#, method(name.as_str()))
        }
        Frame::Response { id, outcome: Ok(_) } => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{size}}}"#),
        Frame::Response { id, outcome: Err(error) } => {
            format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{},"message":{size}}}}}"#, error.code)
        }
        _ => {
            let end = (0..=HEAD.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or_default();
            format!("{} {size}", text.get(..end).unwrap_or_default())
        }
    }
    .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn push(frames: &mut Frames, dir: FrameDir, text: &str) {
        frames.push(Now::from_secs(1), AgentKey::FIRST, dir, &text.into(), None);
    }

    #[test]
    fn the_newest_lines_are_kept_within_their_bytes() {
        let mut frames = Frames::default();
        let line = format!(r#"{{"jsonrpc":"2.0","method":"_x","params":"{}"}}"#, "x".repeat(1000));
        for _ in 0..20_000 {
            push(&mut frames, FrameDir::FromAgent, &line);
        }
        assert!(frames.bytes <= MAX_BYTES && frames.dropped > 0);
        let kept = frames.kept.len();
        assert_eq!(kept as u64 + frames.dropped, 20_000);
        assert_eq!(frames.next(5).0.len(), 5);
        assert!(frames.has_news());
        assert_eq!(frames.next(usize::MAX).0.len(), kept - 5);
        assert!(!frames.has_news() && frames.next(9).0.is_empty());
        push(&mut frames, FrameDir::Stderr, "late");
        let (late, missed) = frames.next(9);
        assert_eq!(missed, 0);
        assert_eq!((late.len(), &*late[0].text, late[0].flaws.len()), (1, "late", 0));
        for _ in 0..20_000 {
            push(&mut frames, FrameDir::FromAgent, &line);
        }
        assert!(frames.bytes <= MAX_LOOKED);
        let (rows, missed) = frames.next(usize::MAX);
        assert_eq!((missed > 0, rows.len() as u64 + missed), (true, 20_000), "what went by is counted");
        frames.stop();
        assert!(!frames.has_news());
        push(&mut frames, FrameDir::FromAgent, &line);
        assert!(frames.bytes <= MAX_BYTES, "nobody looks any more");
    }

    #[test]
    fn who_looks_misses_none_of_three_seconds_with_10_000_lines_each() {
        let mut frames = Frames::default();
        push(&mut frames, FrameDir::FromAgent, "first");
        assert_eq!(frames.next(9).0.len(), 1);
        let line = format!(r#"{{"jsonrpc":"2.0","method":"_x","params":"{}"}}"#, "x".repeat(250));
        for _ in 0..30_000 {
            push(&mut frames, FrameDir::FromAgent, &line);
        }
        assert_eq!(frames.waiting(), 30_000);
        let (rows, missed) = frames.next(usize::MAX);
        assert_eq!((rows.len(), missed, frames.waiting()), (30_000, 0, 0));
    }

    #[test]
    fn a_long_line_keeps_its_place_in_a_pair_and_not_its_content() {
        let mut frames = Frames::default();
        push(&mut frames, FrameDir::ToAgent, r#"{"jsonrpc":"2.0","id":7,"method":"session/load","params":{}}"#);
        let long = format!(r#"{{"jsonrpc":"2.0","id":7,"result":"{}"}}"#, "x".repeat(LONG));
        push(&mut frames, FrameDir::FromAgent, &long);
        push(&mut frames, FrameDir::FromAgent, &"é".repeat(LONG));
        assert!(frames.bytes < 4 * HEAD);
        let rows = frames.next(9).0;
        assert_eq!((&*rows[1].method, rows[1].latency, rows[1].flaws.len()), ("session/load", Some(Now::ZERO), 0));
        assert!(rows[1].text.contains("bytes") && rows[2].text.starts_with('é'));
    }

    #[test]
    fn of_a_method_as_long_as_its_line_the_beginning_is_kept() {
        let mut frames = Frames::default();
        push(&mut frames, FrameDir::FromAgent, &format!(r#"{{"id":1,"method":"{}"}}"#, "m".repeat(LONG)));
        assert!(frames.bytes < 4 * HEAD, "{}", frames.bytes);
        assert!(frames.next(9).0[0].method.starts_with("mmm"));
    }
}
