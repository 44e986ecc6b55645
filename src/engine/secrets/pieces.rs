//! Values in what comes in pieces that are no messages of the session: what a command of the agent's own prints, and
//! what sessions that it has begun are told.
//!
//! Knows no member of a frame: a piece is found in its line by what it says. Invariants: what is held back is shorter
//! than a value, and it is said before anything that follows it in the same place.

use super::{MAX_HELD, MIN_SECRET, Secrets, plain};
use crate::base::shared::SharedText;
use crate::engine::masking::string_at;
use crate::model::event::Update;
use crate::model::ids::{AgentKey, SessionId};
use base64::Engine as _;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use memchr::memmem;
use std::collections::BTreeMap;
use std::sync::Arc;

const BASE64: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// How bytes are written in a string of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Spelling {
    Text,
    Base64,
}

impl Spelling {
    fn reads(self, text: &str, bytes: &[u8]) -> bool {
        match self {
            Self::Text => text.as_bytes() == bytes,
            // Of what is very long only the end is read.
            Self::Base64 => BASE64.decode(text).is_ok_and(|read| read.ends_with(bytes)),
        }
    }

    fn write(self, bytes: &[u8]) -> String {
        match self {
            Self::Text => String::from_utf8_lossy(bytes).into_owned(),
            Self::Base64 => BASE64.encode(bytes),
        }
    }
}

/// What an update says as a piece of something longer.
struct Piece<'a> {
    of: Of,
    bytes: &'a [u8],
    spelling: Spelling,
    /// It goes on with what came before.
    is_more: bool,
    /// More of it may come.
    goes_on: bool,
}

/// What pieces belong together.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Of {
    Terminal(String),
    Passed(Arc<str>),
}

impl<'a> Piece<'a> {
    fn of(update: &'a Update) -> Option<Self> {
        Some(match update {
            Update::Terminal(patch) => {
                let whole = patch.output.as_set();
                Self {
                    of: Of::Terminal(patch.id.as_str().to_owned()),
                    bytes: whole.map_or(&patch.append, |whole| whole),
                    spelling: Spelling::Base64,
                    is_more: whole.is_none(),
                    goes_on: whole.is_none() && patch.exit.as_set().is_none(),
                }
            }
            Update::Passed(passed) => Self {
                of: Of::Passed(Arc::clone(&passed.id)),
                bytes: passed.text.as_deref()?.as_bytes(),
                spelling: Spelling::Text,
                is_more: passed.is_more,
                goes_on: passed.is_more,
            },
            _ => return None,
        })
    }
}

/// The end of a piece that may be the beginning of a value.
struct Held {
    /// In which the piece came, and what it said there.
    line: SharedText,
    said: Vec<u8>,
    rest: Vec<u8>,
    spelling: Spelling,
}

impl Held {
    fn line(&self) -> Option<String> {
        put(&self.line, &self.said, &self.rest, self.spelling)
    }
}

/// What is held back of all pieces.
#[derive(Default)]
pub(super) struct Pieces(BTreeMap<(AgentKey, SessionId, Of), Held>);

impl Pieces {
    /// What is to be said in place of a line, in its order; nothing when the line can be taken as it came.
    pub fn hear(
        &mut self,
        secrets: &Secrets,
        (agent, session): (AgentKey, &SessionId),
        update: &Update,
        line: &SharedText,
    ) -> Option<Vec<String>> {
        let Piece { of, bytes, spelling, is_more, goes_on } = Piece::of(update)?;
        let at = (agent, session.clone(), of);
        if bytes.is_empty() && goes_on {
            return None;
        }
        // What is said as a whole takes the place of all that came before.
        let before = self.0.remove(&at).filter(|_| is_more);
        if bytes.is_empty() {
            return Some(vec![before?.line()?, line.to_string()]);
        }
        let mut joined = before.as_ref().map(|held| held.rest.clone()).unwrap_or_default();
        joined.extend_from_slice(bytes);
        let hidden = secrets.hidden_bytes(&joined);
        let is_free = before.is_none() && hidden.is_none();
        let mut now = hidden.unwrap_or(joined);
        let begun = if goes_on && self.0.len() < MAX_HELD { secrets.begun_bytes(&now, spelling) } else { 0 };
        if is_free && begun == 0 {
            return None;
        }
        let rest = now.split_off(now.len() - begun);
        let Some(said) = put(line, bytes, &now, spelling) else {
            // It is not one string: what was held back goes before it.
            return Some(vec![before?.line()?, line.to_string()]);
        };
        if !rest.is_empty() {
            self.0.insert(at, Held { line: line.clone(), said: bytes.to_vec(), rest, spelling });
        }
        Some(vec![said])
    }

    /// What is held back of an agent's: it says something that may depend on it.
    pub fn rest(&mut self, agent: AgentKey) -> Vec<String> {
        self.0.extract_if(.., |(of, _, _), _| *of == agent).filter_map(|(_, held)| held.line()).collect()
    }
}

/// The line with the last string that reads so put in another way.
fn put(line: &str, from: &[u8], to: &[u8], spelling: Spelling) -> Option<String> {
    let (mut at, mut found) = (0, None);
    while let Some(next) = line[at..].find('"') {
        at += next;
        let token = string_at(&line[at..]);
        let end = at + token.len();
        let is_name = line[end..].trim_start().starts_with(':');
        if !is_name && spelling.reads(&plain(token), from) {
            found = Some(at..end);
        }
        at = end;
    }
    let found = found?;
    let to = serde_json::to_string(&spelling.write(to)).ok()?;
    Some(format!("{}{to}{}", &line[..found.start], &line[found.end..]))
}

impl Secrets {
    fn hidden_bytes(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let mut out: Option<Vec<u8>> = None;
        for secret in self.0.iter().filter(|secret| secret.len() >= MIN_SECRET) {
            let now = out.as_deref().unwrap_or(bytes);
            let found: Vec<usize> = memmem::find_iter(now, secret.as_bytes()).collect();
            if found.is_empty() {
                continue;
            }
            let (mut next, mut from) = (Vec::with_capacity(now.len()), 0);
            for at in found {
                next.extend_from_slice(&now[from..at]);
                next.extend_from_slice(super::MASK.as_bytes());
                from = at + secret.len();
            }
            next.extend_from_slice(&now[from..]);
            out = Some(next);
        }
        out
    }

    /// How many bytes at the end may be the beginning of a value.
    fn begun_bytes(&self, bytes: &[u8], spelling: Spelling) -> usize {
        let begins = |secret: &String| {
            let lengths = (1..secret.len().min(bytes.len() + 1)).rev();
            let may_end = |len: &usize| spelling == Spelling::Base64 || secret.is_char_boundary(*len);
            lengths.filter(may_end).find(|len| bytes.ends_with(&secret.as_bytes()[..*len]))
        };
        self.0.iter().filter_map(begins).max().unwrap_or(0)
    }
}
