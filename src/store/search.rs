//! Looks through what was said and done in all journals.
//!
//! Most of a journal is passed over by a look at its bytes, which errs on the side of reading: a text may be spelt with
//! escapes, and go over the border of two pieces. Invariants: a hit is one message; one that is in two journals,
//! since the agent told it again, is found once.

mod clues;
mod earlier;
mod sieve;

use super::lines;
use super::messages::Message;
use super::sessions::{self, Part, Problem};
use crate::base::origins::Origins;
use clues::Clues;
use earlier::{Earlier, Told};
use memchr::memmem::Finder;
use regex_automata::meta::Regex;
use sieve::Sieve;
use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

pub use super::messages::Role;

/// Bytes that a compiled expression may take.
const MAX_REGEX: usize = 16 << 20;
/// Bytes of hits of one journal that wait for its turn, or to be taken.
const MAX_WAITING: usize = 4 << 20;

/// What is looked for in a text.
#[derive(Debug)]
pub struct Matcher {
    how: How,
    clues: Clues,
}

#[derive(Debug)]
enum How {
    Literal(Finder<'static>),
    Regex(Box<Regex>),
}

impl Matcher {
    pub fn literal(text: &str) -> Self {
        Self { how: How::Literal(Finder::new(text).into_owned()), clues: Clues::of_literal(text) }
    }

    /// The error says what is wrong with it, for people.
    pub fn regex(text: &str) -> Result<Self, String> {
        let config = Regex::config().nfa_size_limit(Some(MAX_REGEX));
        let built = Regex::builder().configure(config).build(text);
        let regex = built.map_err(|error| match error.syntax_error() {
            Some(error) => error.to_string(),
            None => error.to_string(),
        })?;
        Ok(Self { how: How::Regex(Box::new(regex)), clues: Clues::of_regex(text) })
    }

    /// Where it is first.
    pub fn find(&self, text: &str) -> Option<Range<usize>> {
        match &self.how {
            How::Literal(finder) => finder.find(text.as_bytes()).map(|at| at..at + finder.needle().len()),
            How::Regex(regex) => regex.find(text).map(|found| found.range()),
        }
    }
}

#[derive(Debug)]
pub struct Query {
    pub matcher: Matcher,
    /// In its name or command, in small or large letters.
    pub agent: Option<String>,
    /// This directory or one below, or a worktree that stands for one.
    pub cwd: Option<PathBuf>,
    pub origins: Origins,
    pub role: Option<Role>,
    /// In the word in its row, the sort, the title or the tool's name of what was done, in small or large letters.
    pub tool: Option<String>,
    /// What was done to this file: a path, or the end of one.
    pub file: Option<PathBuf>,
    /// Since 1970; before the end.
    pub since: Option<Duration>,
    pub until: Option<Duration>,
}

impl Query {
    /// Everywhere.
    pub fn of(matcher: Matcher) -> Self {
        let (agent, cwd, role, tool, file, since, until) = (None, None, None, None, None, None, None);
        Self { matcher, agent, cwd, origins: Origins::default(), role, tool, file, since, until }
    }

    fn wants(&self, part: &Part) -> bool {
        let is_named = |wanted: &String| {
            [&part.agent, &part.command].iter().any(|text| text.to_lowercase().contains(&wanted.to_lowercase()))
        };
        let home = |dir: &Path| self.origins.home_of(dir);
        let is_below = |cwd: &PathBuf| part.cwd.starts_with(cwd) || home(&part.cwd).starts_with(home(cwd));
        self.agent.as_ref().is_none_or(is_named)
            && self.cwd.as_ref().is_none_or(is_below)
            && self.since.is_none_or(|since| part.last >= since)
            && self.until.is_none_or(|until| part.began < until)
    }

    fn wants_message(&self, message: &Message, time: Duration) -> bool {
        let is_tool = |wanted: &String| {
            let name = message.done.as_ref().and_then(|call| call.name.as_deref());
            let names = [message.deed, &message.tool, name.unwrap_or_default()];
            let wanted = wanted.to_lowercase();
            message.role == Role::Tool && names.iter().any(|name| name.to_lowercase().contains(&wanted))
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

/// Looks through everything, the newest journal first. `take` gets the hits of a journal in their order, in one
/// or more parts, and says whether to go on. Gives what could not be read.
pub fn search(state: &Path, query: &Query, take: impl FnMut(Vec<Hit>) -> bool + Send) -> io::Result<Vec<Problem>> {
    let (parts, mut problems) = sessions::parts(state)?;
    let mut journals: BTreeMap<&Path, Vec<&Part>> = BTreeMap::new();
    for part in parts.iter().filter(|part| query.wants(part)) {
        journals.entry(&part.journal).or_default().push(part);
    }
    let earlier = Earlier::new(query, &parts);
    let mut journals: Vec<_> = journals.into_iter().collect();
    let newest = |parts: &[&Part]| parts.iter().map(|part| part.last).max();
    journals.sort_by(|(a, x), (b, y)| (newest(y), b).cmp(&(newest(x), a)));
    let turn =
        Turns { turn: Mutex::new(Turn { next: 0, early: BTreeMap::new(), take, goes_on: true }), came: Condvar::new() };
    let found = sessions::in_parallel(journals.into_iter().enumerate().collect(), |(number, (path, parts))| {
        if !turn.now().goes_on {
            return None;
        }
        let mut place = Place { turns: &turn, number, hits: Vec::new(), bytes: 0 };
        let done = in_journal(path, &parts, query, &earlier, &mut place);
        done.err().map(|error| Problem { path: path.to_owned(), why: error.to_string() })
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

struct Turns<F> {
    turn: Mutex<Turn<F>>,
    /// The next journal is another one.
    came: Condvar,
}

impl<F: FnMut(Vec<Hit>) -> bool> Turn<F> {
    fn take(&mut self, hits: Vec<Hit>) {
        if self.goes_on && !hits.is_empty() {
            self.goes_on = (self.take)(hits);
        }
    }

    /// The last that a journal has.
    fn hand_over(&mut self, number: usize, hits: Vec<Hit>) {
        self.early.insert(number, hits);
        while let Some(hits) = self.early.remove(&self.next) {
            self.next += 1;
            self.take(hits);
        }
    }
}

impl<F: FnMut(Vec<Hit>) -> bool> Turns<F> {
    fn now(&self) -> MutexGuard<'_, Turn<F>> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a journal has, on its way out. However the look at it ends, those behind it have their turn.
struct Place<'a, F: FnMut(Vec<Hit>) -> bool> {
    turns: &'a Turns<F>,
    number: usize,
    hits: Vec<Hit>,
    bytes: usize,
}

impl<F: FnMut(Vec<Hit>) -> bool> Place<'_, F> {
    /// Waits for its turn when there is too much of it. False: no more is wanted.
    fn put(&mut self, hit: Hit) -> bool {
        self.bytes += size_of::<Hit>() + hit.text.len();
        self.hits.push(hit);
        if self.bytes < MAX_WAITING {
            return true;
        }
        let is_not_yet = |turn: &mut Turn<F>| turn.goes_on && turn.next != self.number;
        let turn = self.turns.came.wait_while(self.turns.now(), is_not_yet);
        let mut turn = turn.unwrap_or_else(PoisonError::into_inner);
        self.bytes = 0;
        turn.take(std::mem::take(&mut self.hits));
        turn.goes_on
    }
}

impl<F: FnMut(Vec<Hit>) -> bool> Drop for Place<'_, F> {
    fn drop(&mut self) {
        self.turns.now().hand_over(self.number, std::mem::take(&mut self.hits));
        self.turns.came.notify_all();
    }
}

fn in_journal(
    path: &Path,
    parts: &[&Part],
    query: &Query,
    earlier: &Earlier<'_>,
    place: &mut Place<'_, impl FnMut(Vec<Hit>) -> bool>,
) -> io::Result<()> {
    let Some(first) = parts.first() else { return Ok(()) };
    let mut file = lines::open(path)?;
    let part = |agent: u32, id: &str| parts.iter().find(|part| (part.key, &*part.session_id) == (agent, id)).copied();
    let known = |agent: u32, id: &str, t: f64| part(agent, id).map(|part| earlier.said(part, t)).unwrap_or_default();
    let mut sieve = Sieve::new(query, first.codec.clone(), first.is_alone).knowing(Box::new(known));
    let (mut goes_on, mut told) = (true, Told::default());
    let mut out = |message: Message| {
        told.note(&message);
        if let Some(hit) = hit(parts, query, message, (earlier, &told)).filter(|_| goes_on) {
            goes_on = place.put(hit);
        }
    };
    lines::each(&mut file, 0, |line| sieve.take(line, &mut out))?;
    sieve.finish(&mut out);
    Ok(())
}

fn hit(parts: &[&Part], query: &Query, message: Message, (earlier, told): (&Earlier<'_>, &Told)) -> Option<Hit> {
    let part = parts.iter().find(|part| (part.key, &part.session_id) == (message.agent, &message.session))?;
    let time = part.began.saturating_add(Duration::try_from_secs_f64(message.t).unwrap_or_default());
    let at = if query.wants_message(&message, time) { query.matcher.find(&message.text) } else { None }?;
    // What an earlier journal has, or a turn before in this one, was found there.
    let may_be_known = part.goes_on || part.copy_of.is_some() || message.turn > 0;
    if message.is_told_again && may_be_known && earlier.has(part, &message, told) {
        return None;
    }
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

#[cfg(test)]
#[path = "search_tests.rs"]
mod tests;
