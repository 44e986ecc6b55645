//! Looks through what was said and done in all journals.
//!
//! Most of a journal is passed over by a look at its bytes, which errs on the side of reading: a text may be spelt with
//! escapes, and go over the border of two pieces. Invariants: a hit is one message; one that is in two journals,
//! since the agent told it again, is found once.

use super::lines::{self, Row, What};
use super::messages::{Message, Reader};
use super::sessions::{self, Part, Problem};
use crate::agent::codec::SharedCodec;
use crate::agent::codec::stored::{Called, Look};
use memchr::memmem::Finder;
use regex_automata::meta::Regex;
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Duration;

pub use super::messages::Role;

/// Bytes that a compiled expression may take.
const MAX_REGEX: usize = 16 << 20;
/// Bytes of a turn that are held until it is known whether they have to be read.
const MAX_HELD: usize = 32 << 20;
/// Streams whose ends are remembered.
const MAX_STREAMS: usize = 1000;
/// Any letter may be spelt like this.
static ESCAPE: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\\u"));

/// What is looked for in a text.
#[derive(Debug)]
pub enum Matcher {
    Literal(Finder<'static>),
    Regex(Box<Regex>),
}

impl Matcher {
    pub fn literal(text: &str) -> Self {
        Self::Literal(Finder::new(text).into_owned())
    }

    /// The error says what is wrong with it, for people.
    pub fn regex(text: &str) -> Result<Self, String> {
        let config = Regex::config().nfa_size_limit(Some(MAX_REGEX));
        let built = Regex::builder().configure(config).build(text);
        built.map(|regex| Self::Regex(Box::new(regex))).map_err(|error| match error.syntax_error() {
            Some(error) => error.to_string(),
            None => error.to_string(),
        })
    }

    /// Where it is first.
    pub fn find(&self, text: &str) -> Option<Range<usize>> {
        match self {
            Self::Literal(finder) => finder.find(text.as_bytes()).map(|at| at..at + finder.needle().len()),
            Self::Regex(regex) => regex.find(text).map(|found| found.range()),
        }
    }
}

#[derive(Debug)]
pub struct Query {
    pub matcher: Matcher,
    /// In its name or command, in small or large letters.
    pub agent: Option<String>,
    /// This directory or one below.
    pub cwd: Option<PathBuf>,
    pub role: Option<Role>,
    /// In the sort or the title of what was done, in small or large letters.
    pub tool: Option<String>,
    /// What was done to this file: a path, or the end of one.
    pub file: Option<PathBuf>,
    /// Since 1970; before the end.
    pub since: Option<Duration>,
    pub until: Option<Duration>,
}

impl Query {
    /// Everywhere.
    pub const fn of(matcher: Matcher) -> Self {
        let (agent, cwd, role, tool, file, since, until) = (None, None, None, None, None, None, None);
        Self { matcher, agent, cwd, role, tool, file, since, until }
    }

    fn wants(&self, part: &Part) -> bool {
        let is_named = |wanted: &String| {
            [&part.agent, &part.command].iter().any(|text| text.to_lowercase().contains(&wanted.to_lowercase()))
        };
        self.agent.as_ref().is_none_or(is_named)
            && self.cwd.as_ref().is_none_or(|cwd| part.cwd.starts_with(cwd))
            && self.since.is_none_or(|since| part.last >= since)
            && self.until.is_none_or(|until| part.began < until)
    }

    fn wants_message(&self, message: &Message, time: Duration) -> bool {
        let is_tool = |wanted: &String| {
            message.role == Role::Tool && message.tool.to_lowercase().contains(&wanted.to_lowercase())
        };
        let is_of = |wanted: &PathBuf| message.files.iter().any(|file| Path::new(file).ends_with(wanted));
        self.role.is_none_or(|role| role == message.role)
            && self.tool.as_ref().is_none_or(is_tool)
            && self.file.as_ref().is_none_or(is_of)
            && self.since.is_none_or(|since| time >= since)
            && self.until.is_none_or(|until| time < until)
    }
}

/// A message in which it was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    pub journal: PathBuf,
    pub session_id: String,
    pub agent: String,
    pub cwd: PathBuf,
    /// Counted from 1 over all journals of the session.
    pub turn: u64,
    pub role: Role,
    /// Since 1970.
    pub time: Duration,
    pub text: String,
    /// Where in the text it was found first.
    pub at: Range<usize>,
}

impl Hit {
    /// The line in which it was found first, and where in the text it begins.
    pub fn line(&self) -> (usize, &str) {
        let begin = self.text[..self.at.start].rfind('\n').map_or(0, |at| at + 1);
        let end = self.text[self.at.end..].find('\n').map_or(self.text.len(), |at| self.at.end + at);
        (begin, &self.text[begin..end])
    }
}

/// Looks through everything, the newest journal first. `take` gets the hits of a journal in their order, and says whether
/// to go on. Gives what could not be read.
pub fn search(state: &Path, query: &Query, take: impl FnMut(Vec<Hit>) -> bool + Send) -> io::Result<Vec<Problem>> {
    let (parts, mut problems) = sessions::parts(state)?;
    let mut journals: BTreeMap<PathBuf, Vec<Part>> = BTreeMap::new();
    for part in parts.into_iter().filter(|part| query.wants(part)) {
        journals.entry(part.journal.clone()).or_default().push(part);
    }
    let mut journals: Vec<_> = journals.into_iter().collect();
    let newest = |parts: &[Part]| parts.iter().map(|part| part.last).max();
    journals.sort_by(|(a, x), (b, y)| (newest(y), b).cmp(&(newest(x), a)));
    let turn = Mutex::new(Turn { next: 0, early: BTreeMap::new(), take, goes_on: true });
    let found = sessions::in_parallel(journals.into_iter().enumerate().collect(), |(number, (path, parts))| {
        let turn = || turn.lock().unwrap_or_else(PoisonError::into_inner);
        if !turn().goes_on {
            return None;
        }
        let (hits, problem) = match in_journal(&path, &parts, query) {
            Ok(hits) => (hits, None),
            Err(error) => (Vec::new(), Some(Problem { path, why: error.to_string() })),
        };
        turn().hand_over(number, hits);
        problem
    });
    problems.extend(found.into_iter().flatten());
    Ok(problems)
}

/// Hits come out in the order of the journals, not of the threads.
struct Turn<F> {
    next: usize,
    early: BTreeMap<usize, Vec<Hit>>,
    take: F,
    goes_on: bool,
}

impl<F: FnMut(Vec<Hit>) -> bool> Turn<F> {
    fn hand_over(&mut self, number: usize, hits: Vec<Hit>) {
        self.early.insert(number, hits);
        while let Some(hits) = self.early.remove(&self.next) {
            self.next += 1;
            if self.goes_on && !hits.is_empty() {
                self.goes_on = (self.take)(hits);
            }
        }
    }
}

fn in_journal(path: &Path, parts: &[Part], query: &Query) -> io::Result<Vec<Hit>> {
    let Some(first) = parts.first() else { return Ok(Vec::new()) };
    let mut file = lines::open(path)?;
    let mut sieve = Sieve::new(query, first.codec.clone(), first.is_alone);
    let mut hits = Vec::new();
    let mut out = |message: Message| hits.extend(hit(parts, query, message));
    lines::each(&mut file, 0, |line| sieve.take(line, &mut out))?;
    sieve.finish(&mut out);
    Ok(hits)
}

fn hit(parts: &[Part], query: &Query, message: Message) -> Option<Hit> {
    let part = parts.iter().find(|part| (part.key, &part.session_id) == (message.agent, &message.session))?;
    let time = part.began.saturating_add(Duration::try_from_secs_f64(message.t).unwrap_or_default());
    // What an earlier journal has was found there.
    let is_double = message.is_told_again && part.goes_on;
    let is_wanted = query.wants_message(&message, time) && !is_double;
    let at = if is_wanted { query.matcher.find(&message.text) } else { None }?;
    Some(Hit {
        journal: part.journal.clone(),
        session_id: message.session,
        agent: part.agent.clone(),
        cwd: part.cwd.clone(),
        turn: part.turns_before + message.turn,
        role: message.role,
        time,
        text: message.text,
        at,
    })
}

/// Holds a turn until it is known whether it is to be read.
struct Sieve<'a> {
    query: &'a Query,
    codec: SharedCodec,
    /// What stands in a line as it is, when what is looked for does: its longest part that no JSON writer escapes.
    sign: Option<Finder<'a>>,
    /// Turns of one session do not overlap.
    is_alone: bool,
    held: Vec<u8>,
    is_wanted: bool,
    /// What of a message is before the next piece, as long as what is looked for could begin in it.
    tails: HashMap<(u32, [String; 3]), Vec<u8>>,
    reader: Reader,
}

impl<'a> Sieve<'a> {
    fn new(query: &'a Query, codec: SharedCodec, is_alone: bool) -> Self {
        let sign = match &query.matcher {
            Matcher::Literal(finder) => sign(finder.needle()).map(Finder::new),
            Matcher::Regex(_) => None,
        };
        let (held, tails) = (Vec::new(), HashMap::new());
        Self { query, codec, sign, is_alone, held, is_wanted: false, tails, reader: Reader::default() }
    }

    fn take(&mut self, line: &[u8], out: &mut impl FnMut(Message)) {
        let Some(row) = lines::row(line) else { return };
        let is_prompt = match row.what {
            What::Sent(_, frame) => matches!(self.codec.called(frame), Some((_, Called::Prompt { .. }))),
            What::Heard(..) => false,
            _ => return,
        };
        if is_prompt && self.is_alone || self.held.len() > MAX_HELD {
            self.let_go(out);
        }
        self.is_wanted = self.is_wanted || self.may_have(line, &row);
        if is_prompt && !self.is_wanted {
            // Turns are counted whether they are read or not.
            self.reader.take(&self.codec, &row, out);
            return;
        }
        self.held.extend_from_slice(line);
        self.held.push(b'\n');
    }

    fn finish(&mut self, out: &mut impl FnMut(Message)) {
        self.let_go(out);
    }

    fn let_go(&mut self, out: &mut impl FnMut(Message)) {
        let mut held = std::mem::take(&mut self.held);
        if std::mem::take(&mut self.is_wanted) {
            for row in held.split(|byte| *byte == b'\n').filter_map(lines::row) {
                self.reader.take(&self.codec, &row, out);
            }
        }
        self.reader.finish(out);
        self.tails.clear();
        held.clear();
        self.held = held;
    }

    /// Whether the line, or what ends with it, may have what is looked for.
    fn may_have(&mut self, line: &[u8], row: &Row<'_>) -> bool {
        let (Matcher::Literal(finder), Some(sign)) = (&self.query.matcher, &self.sign) else { return true };
        if let What::Heard(agent, frame) = row.what {
            match self.codec.look(frame) {
                Look::Piece { of, text } => return self.goes_on((agent.0, of.map(str::to_owned)), text, finder),
                // The text may go on from another piece, or in one.
                Look::Unclear => return true,
                Look::Other => {}
            }
        }
        sign.find(line).is_some() || ESCAPE.find(line).is_some()
    }

    /// Whether it is at the end of a message, now that this piece has come.
    fn goes_on(&mut self, of: (u32, [String; 3]), text: &str, finder: &Finder<'_>) -> bool {
        if self.tails.len() >= MAX_STREAMS && !self.tails.contains_key(&of) {
            return true;
        }
        let tail = self.tails.entry(of).or_default();
        if text.contains('\\') {
            let Ok(text) = serde_json::from_str::<String>(&format!("\"{text}\"")) else { return true };
            tail.extend_from_slice(text.as_bytes());
        } else {
            tail.extend_from_slice(text.as_bytes());
        }
        let found = finder.find(tail).is_some();
        let keep = finder.needle().len().saturating_sub(1);
        tail.drain(..tail.len().saturating_sub(keep));
        found
    }
}

/// The longest part of a text that every JSON writer spells as it is.
fn sign(needle: &[u8]) -> Option<&[u8]> {
    let is_plain = |byte: &u8| matches!(byte, b' '..=b'~') && !b"\"\\/<>&'".contains(byte);
    needle.split(|byte| !is_plain(byte)).max_by_key(|part| part.len()).filter(|part| !part.is_empty())
}

#[cfg(test)]
#[path = "search_tests.rs"]
mod tests;
