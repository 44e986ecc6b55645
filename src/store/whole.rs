//! All that was said in a session, by what all journals have of it: what its agent tells late is compared with it.
//!
//! Reads a journal when that is wanted, once. Invariant: what is held is bounded; of what is not held nothing is known.

use super::lines;
use super::messages::{Message, Reader, body};
use super::sessions::Part;
use crate::model::entry::Body;
use crate::model::history::fingerprint;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes of one journal that are held, and of all.
const MAX_HELD: usize = 32 << 20;
const MAX_ALL: usize = 128 << 20;
/// Copies of copies that are followed.
const MAX_COPIES: usize = 32;

/// A message of a session.
struct Said {
    t: f64,
    is_told_again: bool,
    body: Body,
}

/// What one journal has of a session.
#[derive(Default)]
struct All {
    said: Vec<Said>,
    bytes: usize,
}

impl All {
    fn take(&mut self, message: Message) {
        if message.is_cut {
            return;
        }
        self.bytes += message.text.len() + 256;
        if self.bytes <= MAX_HELD {
            let (t, is_told_again) = (message.t, message.is_told_again);
            self.said.push(Said { t, is_told_again, body: body(message) });
        }
    }
}

/// All journals, as far as they were read for this.
pub struct Whole<'a> {
    /// The oldest first.
    parts: &'a [Part],
    read: Mutex<HashMap<usize, Arc<All>>>,
}

impl<'a> Whole<'a> {
    pub fn new(parts: &'a [Part]) -> Self {
        Self { parts, read: Mutex::default() }
    }

    /// What was said in the session of the part at this place before a moment of its journal, in its order.
    pub fn before(&self, at: usize, t: f64) -> Vec<Body> {
        self.with(at, &self.of(at), t)
    }

    /// Journals that have what was said before that of this place, the oldest first.
    fn earlier(&self, at: usize) -> Vec<usize> {
        let mut found: Vec<usize> = Vec::new();
        let mut at = at;
        for _ in 0..MAX_COPIES {
            let Some(part) = self.parts.get(at) else { break };
            let before = |is_it: &dyn Fn(&Part) -> bool| {
                let all = self.parts.iter().take(at).enumerate();
                all.filter(|(_, one)| is_it(one)).map(|(at, _)| at).collect::<Vec<usize>>()
            };
            let own = before(&|one| one.session == part.session);
            let copy_of =
                own.iter().filter_map(|at| self.parts.get(*at)).chain([part]).find_map(|one| one.copy_of.clone());
            found.splice(0..0, own);
            let Some(of) = copy_of else { break };
            let source = before(&|one| one.session_id == of && one.command == part.command);
            let Some(last) = source.last() else { break };
            found.insert(0, *last);
            at = *last;
        }
        found
    }

    /// The same where this is known of its own journal.
    fn with(&self, at: usize, own: &All, t: f64) -> Vec<Body> {
        let (mut bodies, mut prompts, mut is_known) = (Vec::new(), HashSet::new(), false);
        let mut add = |said: &Said| {
            // What each load tells is there once.
            is_known = match &said.body {
                Body::User(user) => !prompts.insert(fingerprint(&user.text)) && said.is_told_again,
                _ => is_known && said.is_told_again,
            };
            if !is_known {
                bodies.push(said.body.clone());
            }
        };
        for all in self.earlier(at).into_iter().map(|one| self.of(one)) {
            all.said.iter().for_each(&mut add);
        }
        own.said.iter().filter(|said| said.t < t).for_each(add);
        bodies
    }

    fn of(&self, at: usize) -> Arc<All> {
        let read = || self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = read().get(&at) {
            return Arc::clone(known);
        }
        let is_full = read().values().map(|known| known.bytes).sum::<usize>() > MAX_ALL;
        let part = self.parts.get(at).filter(|_| !is_full);
        // What cannot be read has nothing.
        let all = Arc::new(part.and_then(|part| self.all(at, part).ok()).unwrap_or_default());
        read().insert(at, Arc::clone(&all));
        all
    }

    fn all(&self, at: usize, part: &Part) -> io::Result<All> {
        let mut file = lines::open(&part.journal)?;
        let all = RefCell::new(All::default());
        let is_it = |agent: u32, id: &str| (agent, id) == (part.key, part.session_id.as_str());
        let known =
            |agent: u32, id: &str, t: f64| if is_it(agent, id) { self.with(at, &all.borrow(), t) } else { Vec::new() };
        let mut reader = Reader::knowing(Box::new(known));
        let mut take = |message: Message| {
            if is_it(message.agent, &message.session) {
                all.borrow_mut().take(message);
            }
        };
        lines::each(&mut file, 0, |line| {
            if let Some(row) = lines::row(line) {
                reader.take(&part.codec, &row, &mut take);
            }
        })?;
        reader.finish(&mut take);
        drop(reader);
        Ok(all.into_inner())
    }
}
