//! What earlier journals have of a session: its agent tells it again when it is taken up, and that is found once.
//!
//! Reads a journal when something was told again in which there is what is looked for. Invariants: what no earlier journal
//! has is found where it was told; where more would have to be held than is good, all counts as known, and nothing of what
//! is told late.

use super::sieve::Sieve;
use super::{Query, lines};
use crate::model::entry::Body;
use crate::model::history::{fingerprint, is_nothing};
use crate::store::messages::{Message, Role};
use crate::store::sessions::Part;
use crate::store::whole::Whole;
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::io;
use std::num::NonZeroU64;
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes of one journal that are held, and of all.
const MAX_HELD: usize = 32 << 20;
const MAX_ALL: usize = 128 << 20;
/// Copies of copies that are followed.
const MAX_COPIES: usize = 32;
/// A prompt that a told one holds has at least so many bytes; what follows or precedes it is the agent's.
const MIN_HELD: usize = 12;

/// A journal as far as it may have what is looked for: bare words.
#[derive(Default)]
struct Texts {
    turns: Vec<Turn>,
    /// Messages of any turn, and what was done, by what it shows and by names.
    said: HashSet<NonZeroU64>,
    calls: HashSet<String>,
    bytes: usize,
}

#[derive(Default)]
struct Turn {
    prompt: String,
    /// Everything that the agent has said in it.
    said: String,
    /// What was done in it: what that is called, and what it shows.
    done: Vec<(String, String)>,
}

impl Turn {
    fn is_asked(&self, told: &str) -> bool {
        let own = &*self.prompt;
        !own.is_empty() && (told.ends_with(own) || own.len() >= MIN_HELD && told.contains(own))
    }

    /// Some agents give a call another id when they tell of it again, and less of what it shows, or its input instead of
    /// what a command has printed.
    fn has_done(&self, told: &Message) -> bool {
        let lines: Vec<String> = told.text.lines().map(bare).collect();
        let is_it = |text: &str| lines.iter().all(|line| text.contains(line.as_str()) || has_input(text, line));
        self.done.iter().any(|(tool, text)| *tool == told.tool && is_it(text))
    }

    fn begins_with(&self, told: &str) -> bool {
        !told.is_empty() && self.prompt.starts_with(told)
    }
}

impl Texts {
    fn take(&mut self, message: Message) {
        let text = bare(&message.text);
        self.bytes += text.len() + 64;
        if self.bytes > MAX_HELD {
            return;
        }
        self.said.insert(fingerprint(&message.text));
        self.calls.extend(message.call);
        if message.role == Role::User || self.turns.is_empty() {
            self.turns.push(Turn::default());
        }
        match (self.turns.last_mut(), message.role) {
            (Some(turn), Role::User) => turn.prompt = text,
            (Some(turn), Role::Agent) => turn.said.push_str(&text),
            (Some(turn), Role::Tool) => turn.done.push((message.tool, text)),
            _ => {}
        }
    }

    fn is_full(&self) -> bool {
        self.bytes > MAX_HELD
    }

    /// `asked` is the prompt under which it was told.
    fn has(&self, message: &Message, asked: &str) -> bool {
        let is_said = || self.said.contains(&fingerprint(&message.text));
        if message.is_cut && self.turns.iter().any(|turn| turn.begins_with(asked)) {
            return true;
        }
        let mut asked = self.turns.iter().filter(|turn| turn.is_asked(asked));
        is_said()
            || match message.role {
                // Agents tell a thought in other words, and show it with what followed.
                Role::User | Role::Thought => asked.next().is_some(),
                Role::Agent => {
                    let text = bare(&message.text);
                    asked.any(|turn| turn.said.contains(&text))
                }
                Role::Tool => {
                    message.call.as_ref().is_some_and(|call| self.calls.contains(call))
                        || asked.any(|turn| turn.has_done(message))
                }
            }
    }
}

/// Whether a line is an object each text of which stands there.
fn has_input(text: &str, line: &str) -> bool {
    let input: Option<HashMap<String, Value>> =
        Some(line).filter(|line| line.starts_with('{')).and_then(|line| serde_json::from_str(line).ok());
    input.is_some_and(|input| {
        !input.is_empty() && input.values().all(|value| value.as_str().is_some_and(|value| text.contains(&bare(value))))
    })
}

fn bare(text: &str) -> String {
    text.chars().filter(|c| !is_nothing(*c)).collect()
}

/// All journals, as far as they were read for this.
pub struct Earlier<'a> {
    query: &'a Query,
    /// The oldest first.
    parts: &'a [Part],
    read: Mutex<HashMap<(usize, bool), Arc<Texts>>>,
    whole: Whole<'a>,
}

impl<'a> Earlier<'a> {
    pub fn new(query: &'a Query, parts: &'a [Part]) -> Self {
        Self { query, parts, read: Mutex::default(), whole: Whole::new(parts) }
    }

    fn place(&self, part: &Part) -> usize {
        self.parts.iter().position(|one| std::ptr::eq(one, part)).unwrap_or_default()
    }

    /// What was said in the session of a part before a moment of its journal, in its order.
    pub fn said(&self, part: &Part, t: f64) -> Vec<Body> {
        self.whole.before(self.place(part), t)
    }

    /// Whether a turn of this journal has what was told again, or a journal before it, or one of the session that it was
    /// made of.
    pub fn has(&self, part: &Part, message: &Message, told: &Told) -> bool {
        let is_it = |one: &Part| one.session == part.session;
        let here = self.place(part);
        let mut before = (0..here).rev().filter_map(|at| Some((at, self.parts.get(at).filter(|one| is_it(one))?)));
        let asked = told.asked(message);
        let has_in = |at: usize, one: &Part, is_own: bool| {
            let texts = self.of(at, one, is_own);
            texts.is_full() || texts.has(message, &asked)
        };
        let has = |at: usize, one: &Part| has_in(at, one, false);
        if message.turn > 0 && has_in(here, part, true) {
            return true;
        }
        let (mut goes_on, mut copy_of) = (part.goes_on, part.copy_of.as_deref());
        while goes_on && let Some((at, one)) = before.next() {
            if has(at, one) {
                return true;
            }
            (goes_on, copy_of) = (one.goes_on, copy_of.or(one.copy_of.as_deref()));
        }
        // What is left out of the search is not found there.
        let is_source =
            |one: &Part, id: &str| one.session_id == id && one.command == part.command && self.query.wants(one);
        for _ in 0..MAX_COPIES {
            let Some(id) = copy_of.take() else { break };
            for (at, one) in self.parts.iter().enumerate().filter(|(_, one)| is_source(one, id)) {
                if has(at, one) {
                    return true;
                }
                copy_of = copy_of.or(one.copy_of.as_deref());
            }
        }
        false
    }

    /// `is_own`: without what was told again in that journal.
    fn of(&self, at: usize, part: &Part, is_own: bool) -> Arc<Texts> {
        let read = || self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = read().get(&(at, is_own)) {
            return Arc::clone(known);
        }
        // What cannot be read has nothing.
        let texts = Arc::new(self.texts(part, is_own).unwrap_or_default());
        let mut read = read();
        if read.values().map(|known| known.bytes).sum::<usize>() > MAX_ALL {
            read.clear();
        }
        read.insert((at, is_own), Arc::clone(&texts));
        texts
    }

    fn texts(&self, part: &Part, is_own: bool) -> io::Result<Texts> {
        let mut file = lines::open(&part.journal)?;
        let mut sieve = Sieve::new(self.query, part.codec.clone(), part.is_alone);
        let mut texts = Texts::default();
        let mut take = |message: Message| {
            let is_wanted = !(is_own && message.is_told_again);
            if is_wanted && (message.agent, &message.session) == (part.key, &part.session_id) {
                texts.take(message);
            }
        };
        lines::each(&mut file, 0, |line| sieve.take(line, &mut take))?;
        sieve.finish(&mut take);
        Ok(texts)
    }
}

/// The prompt that was told last in a journal.
#[derive(Default)]
pub struct Told(String);

impl Told {
    pub fn note(&mut self, message: &Message) {
        if message.is_told_again && message.role == Role::User {
            self.0.clone_from(&message.text);
        }
    }

    fn asked(&self, message: &Message) -> String {
        bare(if message.role == Role::User { &message.text } else { &self.0 })
    }
}
