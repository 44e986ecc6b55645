//! What a journal has, as numbers, so that it can be seen whether another one has all of it.
//!
//! Holds eight bytes for a line. Invariant: how a line is laid out makes no difference.

use super::codec_of;
use crate::agent::codec::stored::{Called, named};
use crate::store::lines::{self, What};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::hash::{DefaultHasher, Hasher as _};
use std::io;
use std::path::Path;

/// In the order of the journal.
#[derive(Debug)]
pub struct Said(Vec<u64>);

impl Said {
    /// A number for each line but the head; lines of more than `most` bytes are passed over.
    pub fn lines_of(journal: &Path, most: usize) -> io::Result<Self> {
        let (mut numbers, mut is_head) = (Vec::new(), true);
        lines::each_up_to(&mut lines::open(journal)?, most, |line| {
            if !std::mem::take(&mut is_head) {
                numbers.push(number(line));
            }
        })?;
        Ok(Self(numbers))
    }

    /// A number for each prompt and each word of an agent on a session, which are the same in a journal and in a recording.
    pub fn messages_of(journal: &Path, most: usize) -> io::Result<Self> {
        let (mut numbers, mut codec, mut is_head) = (Vec::new(), None, true);
        lines::each_up_to(&mut lines::open(journal)?, most, |line| {
            if std::mem::take(&mut is_head) {
                codec = codec_of(line);
                return;
            }
            let frame = match (lines::row(line).map(|row| row.what), &codec) {
                (Some(What::Sent(_, frame)), Some(codec)) => {
                    let is_prompt = matches!(codec.called(frame), Some((_, Called::Prompt { .. })));
                    Some(frame).filter(|_| is_prompt)
                }
                (Some(What::Heard(_, frame)), _) => Some(frame).filter(|frame| is_news(frame)),
                _ => None,
            };
            numbers.extend(frame.map(|frame| number(frame.as_bytes())));
        })?;
        Ok(Self(numbers))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether all of the other stands in it, in its order.
    pub fn has(&self, other: &Self) -> bool {
        let mut own = self.0.iter();
        other.0.iter().all(|one| own.any(|other| other == one))
    }
}

/// A notification that names a session.
fn is_news(frame: &str) -> bool {
    #[derive(Deserialize)]
    struct Frame<'a> {
        #[serde(borrow, default)]
        id: Option<&'a RawValue>,
        #[serde(borrow, default)]
        params: Option<&'a RawValue>,
    }
    let params = |frame: Frame<'_>| frame.params.filter(|_| frame.id.is_none()).and_then(|params| named(params.get()));
    serde_json::from_str(frame).ok().and_then(params).is_some()
}

fn number(json: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    match serde_json::from_slice::<Value>(json) {
        Ok(value) => hasher.write(value.to_string().as_bytes()),
        Err(_) => hasher.write(json),
    }
    hasher.finish()
}
