//! The sessions of all journals, as each journal tells of them, and which of them go on with which.
//!
//! Reads nothing but whether a journal is being written. Invariants: one that its agent had not kept goes on with none; a
//! clock that was set between two runs makes no second session of one, and what went on with turns that it knew of stands
//! behind these; what was imported is part of one of our own only if that says that it went on from this journal.

use super::found::Found;
use super::index::{Entry, IMPORTED};
use super::{Known, State, is_open};
use crate::agent::codec::SharedCodec;
use crate::agent::codec::stored::Origin;
use crate::base::limits;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

/// So much earlier than it began, by the clock, a session may have been taken up again by a run that does not say what it
/// knew of it. What is earlier still is another one, whose id was given again.
const MAX_SET_BACK: Duration = Duration::from_hours(24);

/// Bytes of what a session was called where it was exported.
const MAX_TITLE: usize = 1 << 10;

/// A journal.
pub(super) struct Journal {
    pub(super) codec: Option<SharedCodec>,
    pub(super) began: Duration,
    pub(super) last: Duration,
    /// It has one session.
    pub(super) is_alone: bool,
}

/// A session of a journal.
pub(super) struct OfJournal {
    pub(super) journal: Rc<Journal>,
    /// The agent's key in it.
    pub(super) agent: u32,
    /// Turns that were known of it before, where all of it was read then.
    before: Option<u64>,
    /// Of earlier journals those that were imported, by their names.
    imported: Vec<String>,
    pub(super) known: Known,
}

/// All sessions of all journals, the oldest first, and for each the place of the one that goes on in it. Those that do not go
/// on with an earlier one have the next place.
pub(super) fn gather(dir: &Path, entries: Vec<Entry>) -> (Vec<OfJournal>, Vec<Option<usize>>) {
    let mut all: Vec<OfJournal> = Vec::with_capacity(entries.len());
    for entry in entries {
        of_journal(dir, entry, &mut all);
    }
    all.sort_by(|a, b| (a.known.created, &a.known.journal).cmp(&(b.known.created, &b.known.journal)));
    if let Some(places) = set_right(&all) {
        let mut placed: Vec<_> = places.into_iter().zip(all).collect();
        placed.sort_by_key(|(place, _)| *place);
        all = placed.into_iter().map(|(_, part)| part).collect();
    }
    let (mut names, mut count) = (Names::of(&all), 0);
    let mut places = Vec::with_capacity(all.len());
    let taken_up = taken_up(&all);
    for OfJournal { known: part, .. } in &all {
        // Of thousands few are ever gone on with, and only those are looked for.
        if !taken_up.contains(part.session_id.as_str()) {
            places.push(None);
            count += 1;
            continue;
        }
        // An agent may give an id again: only one that it has kept is the same session.
        let place = names.get(part).filter(|_| part.is_older);
        let at = place.unwrap_or(count);
        count += usize::from(place.is_none());
        names.insert(part, at);
        places.push(place);
    }
    drop((names, taken_up));
    (all, places)
}

/// The ids of those that were ever gone on with.
fn taken_up(all: &[OfJournal]) -> HashSet<&str> {
    all.iter().filter(|part| part.known.is_older).map(|part| part.known.session_id.as_str()).collect()
}

/// Whose a session is its command says; what was imported has no command.
type Key<'a> = (&'a str, &'a str, bool);

fn key(known: &Known) -> Key<'_> {
    let whose = if known.is_imported { &known.agent } else { &known.command };
    (&known.session_id, whose, known.is_imported)
}

/// Whose a session is, and what it is under another command line of what calls itself the same.
#[derive(Default)]
struct Names<'a> {
    by_key: HashMap<Key<'a>, usize>,
    by_name: HashMap<(&'a str, &'a str, &'a Path), usize>,
    /// Sessions of imported journals, by the names of these, from which one of our own went on: that one.
    gone_on: HashMap<(&'a str, &'a str), &'a Known>,
}

impl<'a> Names<'a> {
    fn of(all: &'a [OfJournal]) -> Self {
        let mut names = Self::default();
        for part in all.iter().filter(|part| !part.known.is_imported) {
            for imported in &part.imported {
                names.gone_on.entry((imported, &part.known.session_id)).or_insert(&part.known);
            }
        }
        names
    }

    /// Under which session it is known: one of our own stands for what it went on from.
    fn own(&self, known: &'a Known) -> &'a Known {
        let name = || known.journal.file_name().and_then(|name| name.to_str());
        let gone_on = known.is_imported.then(|| self.gone_on.get(&(name()?, &*known.session_id))).flatten();
        gone_on.copied().unwrap_or(known)
    }

    fn name(known: &'a Known) -> Option<(&'a str, &'a str, &'a Path)> {
        let name = known.agents_name().filter(|_| !known.is_imported)?;
        Some((known.session_id.as_str(), name, known.cwd.as_path()))
    }

    fn get(&self, known: &'a Known) -> Option<usize> {
        let own = self.own(known);
        self.by_key.get(&key(own)).or_else(|| self.by_name.get(&Self::name(own)?)).copied()
    }

    fn insert(&mut self, known: &'a Known, at: usize) {
        let own = self.own(known);
        self.by_key.insert(key(own), at);
        self.by_name.extend(Self::name(own).map(|name| (name, at)));
    }
}

/// The places of the parts where the clock was set: what goes on with a session stands behind its beginning, and behind
/// the turns that were known when it did. Nothing where that is so already.
fn set_right(all: &[OfJournal]) -> Option<Vec<usize>> {
    let taken_up = taken_up(all);
    let is_one = |part: &&OfJournal| taken_up.contains(part.known.session_id.as_str());
    let (mut beginnings, mut current) = (Names::of(all), Names::of(all));
    for (at, part) in all.iter().enumerate().filter(|(_, part)| is_one(part) && !part.known.is_older) {
        if beginnings.get(&part.known).is_none() {
            beginnings.insert(&part.known, at);
        }
    }
    let mut conversations: Vec<Vec<usize>> = Vec::new();
    // Conversations of which the beginning comes later, by that.
    let mut awaited: HashMap<usize, usize> = HashMap::new();
    for (at, part) in all.iter().enumerate().filter(|(_, part)| is_one(part)) {
        let known = &part.known;
        let is_its = |begins: &usize| {
            let beginning = &all[*begins].known;
            let knew_it = part.before.is_some_and(|turns| turns > 0 && turns >= beginning.turns);
            knew_it || beginning.created.saturating_sub(known.created) <= MAX_SET_BACK
        };
        let earlier = current.get(known).filter(|_| known.is_older);
        let begins = if known.is_older {
            beginnings.get(known).filter(|begins| *begins > at && is_its(begins))
        } else {
            Some(at)
        };
        let begins = begins.filter(|_| earlier.is_none());
        let place = earlier.or_else(|| awaited.get(&begins?).copied()).unwrap_or(conversations.len());
        if place == conversations.len() {
            conversations.push(Vec::new());
        }
        conversations[place].push(at);
        match begins {
            Some(begins) if begins > at => drop(awaited.insert(begins, place)),
            _ => current.insert(known, place),
        }
    }
    let mut places: Vec<usize> = (0..all.len()).collect();
    for slots in conversations.into_iter().filter(|slots| slots.len() > 1) {
        for (slot, at) in slots.iter().zip(in_order(all, &slots)) {
            places[at] = *slot;
        }
    }
    (!places.is_sorted()).then_some(places)
}

/// The parts of one conversation: its beginning, and then those that say how many turns there were before by that; among
/// them the others stay where the clock has them.
fn in_order(all: &[OfJournal], slots: &[usize]) -> Vec<usize> {
    let mut order = slots.to_vec();
    // Sorting is stable: by the clock, where nothing else is known.
    order.sort_by_key(|at| all[*at].known.is_older);
    let (places, mut known): (Vec<usize>, Vec<_>) = order
        .iter()
        .enumerate()
        .filter(|(_, at)| all[**at].known.is_older)
        .filter_map(|(place, at)| Some((place, (all[*at].before?, all[*at].known.turns > 0, *at))))
        .unzip();
    known.sort_unstable();
    for (place, (.., at)) in places.into_iter().zip(known) {
        order[place] = at;
    }
    order
}

/// The sessions of one journal.
fn of_journal(dir: &Path, entry: Entry, all: &mut Vec<OfJournal>) {
    let (path, latest) = (dir.join(&entry.name), entry.latest());
    let Entry { name, size, mut scan, .. } = entry;
    let Some(head) = &scan.head else { return };
    let is_open = !scan.is_ended && !scan.sessions.is_empty() && is_open(&path);
    let was_killed = head.ends && !scan.is_ended;
    let state = |is_in_turn: bool, is_closed: bool| match is_closed {
        true => State::Ended,
        false if is_open => State::Open,
        false if was_killed || is_in_turn => State::Interrupted,
        false => State::Ended,
    };
    let (began, started) = (began(head.started, &name), Duration::from_secs(head.started).min(latest));
    let since = |t: f64| Duration::try_from_secs_f64(t).unwrap_or_default();
    let moment = |t: f64| began.saturating_add(since(t)).min(latest);
    let journal = Rc::new(Journal {
        codec: scan.codec(),
        began: started,
        last: started.saturating_add(since(scan.last)).min(latest),
        is_alone: scan.sessions.len() == 1,
    });
    let found = std::mem::take(&mut scan.sessions);
    let is_listed = |found: &Found| !found.is_aside && head.only.as_ref().is_none_or(|only| *only == found.id);
    let called = head.title.as_ref().filter(|_| head.imported);
    for (place, found) in found.into_iter().enumerate().filter(|(_, found)| is_listed(found)) {
        let is_in_turn = scan.is_in_turn(place);
        let agent =
            if journal.is_alone { scan.agents.remove(found.agent) } else { scan.agents.get(found.agent).cloned() };
        let agent = agent.unwrap_or_default();
        let known = Known {
            agent: agent.name.unwrap_or_else(|| agent.command.clone()),
            command: if head.imported { String::new() } else { agent.command },
            also: Vec::new(),
            branch: found.branch,
            created: moment(found.created),
            opened: moment(found.opened),
            updated: moment(if is_in_turn { scan.last } else { found.updated }),
            state: state(is_in_turn, found.is_closed),
            last_prompt: found.last_prompt.or_else(|| found.first_prompt.clone()),
            session_id: found.id,
            cwd: PathBuf::from(found.cwd),
            titled: found.title.is_some().then(|| moment(found.titled)),
            title: match called {
                Some(called) => Some(limits::cut(called.clone(), MAX_TITLE)).filter(|called| !called.is_empty()),
                None => found.title,
            },
            first_prompt: found.first_prompt,
            turns: found.turns,
            asked: found.asked.map(moment),
            can: agent.can,
            figures: found.figures,
            totals: found.key.and_then(|key| scan.totals.get(key)).copied(),
            own_totals: found.key.and_then(|key| scan.own_totals.get(key)).copied(),
            journal: path.clone(),
            journals: vec![path.clone()],
            bytes: size,
            is_older: matches!(found.origin, Origin::Loaded | Origin::Resumed),
            follows: found.follows,
            thread: None,
            is_imported: head.imported,
            is_untouched: found.turns == 0 && matches!(found.origin, Origin::New),
            is_held: is_open,
            is_listed: false,
            is_named: false,
            copy_of: found.copy_of,
            is_question: found.was_aside,
            used_as_told: None,
        };
        let (agent, before, imported) = (found.agent, found.before, found.imported);
        all.push(OfJournal { journal: Rc::clone(&journal), agent, before, imported, known });
    }
}

/// When a journal was begun. Its first line says it in seconds, its name in milliseconds as well.
pub(super) fn began(started: u64, name: &str) -> Duration {
    let (seconds, rest) = name.strip_prefix(IMPORTED).unwrap_or(name).split_once('-').unwrap_or_default();
    let millis = rest.split_once('-').and_then(|(millis, _)| millis.parse().ok());
    let millis = millis.filter(|millis: &u64| seconds.parse() == Ok(started) && *millis < 1000);
    Duration::from_secs(started) + Duration::from_millis(millis.unwrap_or_default())
}
