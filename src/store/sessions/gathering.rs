//! The sessions of all journals, as each journal tells of them, and which of them go on with which.
//!
//! Reads nothing but whether a journal is being written. Invariants: one that its agent had not kept goes on with none; a
//! clock that was set back between two runs makes no second session of one.

use super::index::{Entry, IMPORTED};
use super::{Known, State, is_open};
use crate::agent::codec::SharedCodec;
use crate::agent::codec::stored::Origin;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

/// So much earlier than it began, by the clock, a session may have been taken up again. What is earlier still is another one,
/// whose id was given again.
const MAX_SET_BACK: Duration = Duration::from_hours(24);

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
    let (mut known, mut named, mut count) = (HashMap::new(), HashMap::new(), 0);
    let mut places = Vec::with_capacity(all.len());
    let taken_up = taken_up(&all);
    for OfJournal { known: part, .. } in &all {
        // Of thousands few are ever gone on with, and only those are looked for.
        if !taken_up.contains(part.session_id.as_str()) {
            places.push(None);
            count += 1;
            continue;
        }
        let key = key(part);
        // The person has gone on with it under another command line of what calls itself the same.
        let name = part.agents_name().filter(|_| !part.is_imported);
        let name = name.map(|name| (part.session_id.as_str(), name, part.cwd.as_path()));
        let earlier = known.get(&key).or_else(|| named.get(name.as_ref()?)).copied();
        // An agent may give an id again: only one that it has kept is the same session.
        let place = earlier.filter(|_| part.is_older);
        let at = place.unwrap_or(count);
        count += usize::from(place.is_none());
        known.insert(key, at);
        named.extend(name.map(|name| (name, at)));
        places.push(place);
    }
    drop((known, named, taken_up));
    (all, places)
}

/// The ids of those that were ever gone on with.
fn taken_up(all: &[OfJournal]) -> HashSet<&str> {
    all.iter().filter(|part| part.known.is_older).map(|part| part.known.session_id.as_str()).collect()
}

/// Whose a session is its command says; what was imported has no command.
fn key(known: &Known) -> (&str, &str, bool) {
    let whose = if known.is_imported { &known.agent } else { &known.command };
    (&known.session_id, whose, known.is_imported)
}

/// By what they are to be sorted where the clock was set back: what goes on with a session stands behind its beginning.
/// Nothing where that is so already.
fn set_right(all: &[OfJournal]) -> Option<Vec<(usize, usize)>> {
    let taken_up = taken_up(all);
    let mut beginnings = HashMap::new();
    let is_one = |known: &Known| taken_up.contains(known.session_id.as_str());
    for (at, OfJournal { known, .. }) in all.iter().enumerate().filter(|(_, part)| is_one(&part.known)) {
        if !known.is_older {
            beginnings.entry(key(known)).or_insert((at, known.created));
        }
    }
    let place = |(at, part): (usize, &OfJournal)| {
        let known = &part.known;
        let beginning = beginnings.get(&key(known)).filter(|_| known.is_older);
        let later =
            beginning.filter(|(begins, created)| *begins > at && created.saturating_sub(known.created) <= MAX_SET_BACK);
        // Behind the beginning they stay in their order.
        later.map_or((at, 0), |(begins, _)| (*begins, at + 1))
    };
    let places: Vec<_> = all.iter().enumerate().map(place).collect();
    (!places.is_sorted()).then_some(places)
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
    for (place, found) in found.into_iter().enumerate().filter(|(_, found)| !found.is_aside) {
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
            title: found.title,
            first_prompt: found.first_prompt,
            turns: found.turns,
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
            used_as_told: None,
        };
        all.push(OfJournal { journal: Rc::clone(&journal), agent: found.agent, known });
    }
}

/// When a journal was begun. Its first line says it in seconds, its name in milliseconds as well.
pub(super) fn began(started: u64, name: &str) -> Duration {
    let (seconds, rest) = name.strip_prefix(IMPORTED).unwrap_or(name).split_once('-').unwrap_or_default();
    let millis = rest.split_once('-').and_then(|(millis, _)| millis.parse().ok());
    let millis = millis.filter(|millis: &u64| seconds.parse() == Ok(started) && *millis < 1000);
    Duration::from_secs(started) + Duration::from_millis(millis.unwrap_or_default())
}
