//! A history that an agent tells again although it is shown here: after a new start of the agent, or behind what our own
//! journal has of the session.
//!
//! It is collected beside the transcript. What the transcript has already is left out, by ids of calls, else by content;
//! what it has not goes to its end. Knows nothing of the wire. Invariants: nothing that was shown goes; nothing is shown
//! twice, although agents tell a history in other pieces and words than it was said in: where that is in doubt, one line
//! holds it.

use super::{Cx, late, notice, update};
use crate::base::{human, limits};
use crate::model::entries::Entries;
use crate::model::entry::{Block, Body, ChunkKind, Entry, Level, Message};
use crate::model::event::Update;
use crate::model::history::{Kind, fingerprint, fingerprint_of, is_nothing};
use crate::model::ids::EntryId;
use crate::model::retold::{Call, LateTurn, Retold};
use crate::model::session::Session;
use crate::model::terminal::Terminal;
use std::collections::HashSet;
use std::mem::swap;
use std::num::NonZeroU64;

/// A prompt of ours that a longer one holds has at least so many bytes; what follows or precedes it is the agent's.
const MIN_HELD: usize = 12;
/// Turns of ours and told ones that are compared word by word, and bytes of each text.
const MAX_OURS: usize = 8;
const MAX_TOLD: usize = 200;
const COMPARED: usize = 16 << 10;
/// What is told differently: lines of it that are kept, and bytes of one.
const MAX_LINES: usize = 400;
const LINE: usize = 2000;

/// One update of it. Turns are counted anew there: they become turns only if they are kept.
pub fn hear(session: &mut Session, what: Update, cx: &mut Cx) {
    let Some(mut told) = session.retold.take() else { return };
    exchange(session, &mut told);
    let last_turn = std::mem::replace(&mut cx.last_turn, session.last_turn);
    let piece = match &what {
        Update::Chunk { kind: ChunkKind::User, block: Block::Text(text), .. } => Some(text.clone()),
        _ => None,
    };
    update::apply(session, what, cx);
    if let Some(piece) = piece {
        told.note_piece(&session.entries, &piece);
    }
    if session.entries.is_over() {
        session.entries.shed();
    }
    cx.last_turn = last_turn;
    exchange(session, &mut told);
    session.retold = Some(told);
}

fn exchange(session: &mut Session, told: &mut Retold) {
    swap(&mut session.entries, &mut told.entries);
    swap(&mut session.newest_tool, &mut told.newest_tool);
    swap(&mut session.messages, &mut told.messages);
    swap(&mut session.plans, &mut told.plans);
    swap(&mut session.terminals, &mut told.terminals);
    swap(&mut session.fed, &mut told.fed);
    swap(&mut session.last_turn, &mut told.turn);
}

/// What the transcript has.
struct Shown {
    /// By what its entries are known again.
    said: HashSet<NonZeroU64>,
    /// Its prompts in their order.
    prompts: Vec<(EntryId, NonZeroU64)>,
}

impl Shown {
    fn of(session: &Session) -> Self {
        let mut shown = Self { said: HashSet::new(), prompts: Vec::new() };
        for (index, slot) in session.entries.slots().enumerate() {
            let Some(print) = slot.fingerprint() else { continue };
            shown.said.insert(print);
            if slot.kind() == Kind::User {
                shown.prompts.push((session.entries.id_at(index), print));
            }
        }
        shown
    }

    fn has(&self, body: &Body) -> bool {
        fingerprint_of(body).is_some_and(|print| self.said.contains(&print))
    }

    /// Which prompt a told one is, from `next` on.
    fn place(&self, session: &Session, told: &Retold, turn: &[&Entry], next: usize) -> Option<usize> {
        let (id, text) = prompt_of(turn)?;
        let later = self.prompts.get(next..)?;
        let prints = told.prints(id, text);
        let known = prints.iter().find_map(|print| later.iter().position(|(_, shown)| shown == print));
        // Only the next one may be a part of it: short words are a part of much.
        let holds_next = || {
            let (prompt, _) = later.first()?;
            let Body::User(user) = &session.entries.get(*prompt)?.body else { return None };
            holds(&bare(text), &bare(&user.text)).then_some(0)
        };
        known.or_else(holds_next).map(|at| at + next)
    }
}

/// Whether a told prompt has this one of ours in it; both are bare.
pub(super) fn holds(told: &str, own: &str) -> bool {
    !own.is_empty() && told.ends_with(own) || own.len() >= MIN_HELD && told.contains(own)
}

fn prompt_of<'a>(turn: &[&'a Entry]) -> Option<(EntryId, &'a str)> {
    match turn.first()? {
        Entry { id, body: Body::User(user), .. } => Some((*id, &user.text)),
        _ => None,
    }
}

fn turns_of(entries: &Entries) -> Vec<Vec<&Entry>> {
    let mut turns: Vec<Vec<&Entry>> = vec![Vec::new()];
    for entry in entries {
        if matches!(entry.body, Body::User(_)) {
            turns.push(Vec::new());
        }
        if let Some(turn) = turns.last_mut() {
            turn.push(entry);
        }
    }
    turns
}

/// The history is told, or no more of it will be: what is new of it goes into the transcript. Gives the last prompt of
/// ours that was told, and what is left of its turn.
pub fn merge(session: &mut Session, cx: &mut Cx) -> Option<(EntryId, Option<LateTurn>)> {
    let mut told = session.retold.take()?;
    let shown = Shown::of(session);
    let turns = turns_of(&told.entries);
    let mut next = 0;
    let place = |turn: &Vec<&Entry>| {
        let place = shown.place(session, &told, turn, next);
        next = place.map_or(next, |at| at + 1);
        place
    };
    let places: Vec<Option<usize>> = turns.iter().map(place).collect();
    let last_found = places.iter().rposition(Option::is_some);
    let last_prompt = last_found.and_then(|number| {
        let (prompt, _) = shown.prompts.get(places[number]?)?;
        let (_, told) = turns[number].split_first().filter(|_| number + 1 == turns.len()).unzip();
        Some((*prompt, told.and_then(|told| late::left_of(session, *prompt, told.iter().map(|entry| &entry.body)))))
    });
    let unknown: Vec<EntryId> = shown.prompts.iter().skip(next).take(MAX_OURS).map(|(prompt, _)| *prompt).collect();
    let told_calls: HashSet<NonZeroU64> = turns
        .iter()
        .flatten()
        .filter_map(|entry| match &entry.body {
            Body::Tool(_) => fingerprint_of(&entry.body),
            _ => None,
        })
        .collect();
    let (mut about, mut compared) = (Turn::default(), 0);
    let (mut fresh, mut doubtful): (Vec<Body>, Vec<Body>) = (Vec::new(), Vec::new());
    for (number, (turn, place)) in turns.iter().zip(places).enumerate() {
        if let Some(at) = place {
            about = shown.prompts.get(at).map(|(prompt, _)| Turn::of(session, *prompt)).unwrap_or_default();
            about.calls.retain(|call| !call.id.is_some_and(|id| told_calls.contains(&id)));
            // The rest of an earlier turn is the agent's other telling of it.
            if at + 1 < shown.prompts.len() {
                continue;
            }
        }
        let mut is_new = |entry: &&&Entry| match &entry.body {
            Body::Agent(message) => {
                let bare = bare(&message.text);
                !bare.is_empty() && !shown.has(&entry.body) && !about.bare.contains(&bare)
            }
            // Some agents give their calls other ids when they tell of them again.
            Body::Tool(tool) => {
                let same = |call: &Call| call.is_like(tool.kind, &tool.title);
                !shown.has(&entry.body) && about.calls.iter().position(same).map(|at| about.calls.remove(at)).is_none()
            }
            _ => false,
        };
        let new: Vec<&Entry> = turn.iter().filter(|entry| is_new(entry)).copied().collect();
        if place.is_some() {
            let is_told_differently = about.is_like(turn);
            for entry in new {
                if !complete(session, &entry.body) {
                    let is_doubtful = is_told_differently && matches!(entry.body, Body::Agent(_));
                    if is_doubtful { &mut doubtful } else { &mut fresh }.push(entry.body.clone());
                }
            }
        } else if !new.is_empty() || shown.prompts.is_empty() && shown.said.is_empty() {
            let is_kept = |entry: &&&Entry| match &entry.body {
                Body::Agent(_) | Body::Tool(_) => new.iter().any(|kept| kept.id == entry.id),
                Body::Notice(_) => false,
                _ => true,
            };
            let kept = turn.iter().filter(is_kept).map(|entry| entry.body.clone());
            // What stands between turns that are known, or is much like one that was not told, is another telling.
            let is_before = last_found.is_some_and(|last| number < last);
            compared += 1;
            let unknown = if compared <= MAX_TOLD { unknown.as_slice() } else { &[] };
            let is_like_unknown = || unknown.iter().any(|prompt| is_like_turn(session, *prompt, turn));
            if is_before || is_like_unknown() { &mut doubtful } else { &mut fresh }.extend(kept);
        }
    }
    for (id, terminal) in std::mem::take(&mut told.terminals) {
        session.terminals.entry(id).or_insert(Terminal { entry: None, embedded: Vec::new(), ..terminal });
    }
    say_doubtful(session, &doubtful, cx);
    append(session, fresh, cx);
    last_prompt
}

/// One line holds what may have been shown in other words. It is not there twice.
fn say_doubtful(session: &mut Session, bodies: &[Body], cx: &Cx) {
    if bodies.is_empty() {
        return;
    }
    let title = format!("its agent tells {} differently", human::count(bodies.len() as u64, "earlier message"));
    let mut detail = Vec::new();
    for body in bodies {
        let (who, text) = match body {
            Body::User(user) => ("User", user.text.as_str()),
            Body::Agent(message) => ("Agent", message.text.as_str()),
            Body::Tool(tool) => ("Tool", tool.title.as_str()),
            _ => continue,
        };
        let lines = text.lines().filter(|line| !line.trim().is_empty()).enumerate();
        detail.extend(lines.map(|(at, line)| {
            let line = limits::cut(line.to_owned(), LINE);
            if at == 0 { format!("{who}: {line}") } else { format!("  {line}") }
        }));
    }
    if detail.len() > MAX_LINES {
        let left_out = human::count((detail.len() - MAX_LINES) as u64, "further line");
        detail.truncate(MAX_LINES);
        detail.push(format!("… {left_out} left out; the journal has them"));
    }
    let is_it =
        |entry: &Entry| matches!(&entry.body, Body::Notice(said) if said.title == title && said.detail == detail);
    if !session.entries.iter().any(is_it) {
        notice(session, Level::Info, title, detail, cx.now);
    }
}

/// Without white space and what is not seen.
pub(super) fn bare(text: &str) -> String {
    text.chars().filter(|c| !is_nothing(*c)).collect()
}

/// Whether two texts have more than half of their words in common.
fn is_like(one: &str, other: &str) -> bool {
    let words = |text: &str| -> HashSet<u64> {
        let text = &text[..text.floor_char_boundary(COMPARED)];
        text.split_whitespace().map(|word| fingerprint(word).get()).collect()
    };
    let (one, other) = (words(one), words(other));
    let common = one.intersection(&other).count();
    common > 0 && 2 * common > one.len().max(other.len())
}

/// Whether a told turn is much like the one of this prompt: what was asked, or what was answered.
fn is_like_turn(session: &Session, prompt: EntryId, told: &[&Entry]) -> bool {
    let own = session.entries.get(prompt).map(|entry| &entry.body);
    let is_asked = match (own, prompt_of(told)) {
        (Some(Body::User(own)), Some((_, told))) => is_like(&own.text, told),
        _ => false,
    };
    is_asked || Turn::of(session, prompt).is_like(told)
}

/// What the transcript has of a turn.
#[derive(Default)]
pub(super) struct Turn {
    /// All that the agent has said in it, message by message.
    said: Vec<String>,
    /// The same, bare and in one.
    bare: String,
    calls: Vec<Call>,
}

impl Turn {
    pub(super) fn of(session: &Session, prompt: EntryId) -> Self {
        let from = session.entries.index_of(prompt).unwrap_or_default();
        let mut turn = Self::default();
        for slot in session.entries.slots().skip(from + 1).take_while(|slot| slot.kind() != Kind::User) {
            let id = slot.fingerprint();
            match slot.here().map(|entry| &entry.body) {
                Some(Body::Agent(message)) => turn.said.push(message.text.clone()),
                Some(Body::Tool(tool)) => {
                    turn.calls.push(Call { id, what: Some((tool.kind, tool.title.clone())) });
                }
                None if slot.kind() == Kind::Tool => turn.calls.push(Call { id, what: None }),
                _ => {}
            }
        }
        turn.bare = turn.said.iter().map(|text| bare(text)).collect();
        turn
    }

    pub(super) fn into_calls(self) -> Vec<Call> {
        self.calls
    }

    /// Whether what is told says about the same, and yet not all of what was said is in it.
    fn is_like(&self, told: &[&Entry]) -> bool {
        let texts = told.iter().filter_map(|entry| match &entry.body {
            Body::Agent(message) => Some(message.text.as_str()),
            _ => None,
        });
        let told: Vec<&str> = texts.collect();
        let whole: String = told.iter().map(|text| bare(text)).collect();
        let is_all_there = self.said.iter().all(|text| whole.contains(&bare(text)));
        !is_all_there && is_like(&self.said.join("\n"), &told.join("\n"))
    }
}

/// Gives the last message, which was cut off by the end of the agent, its rest. False: this is another one.
fn complete(session: &mut Session, told: &Body) -> bool {
    let Body::Agent(Message { text, .. }) = told else { return false };
    let last = session.entries.iter().rev().find_map(|entry| match &entry.body {
        Body::Agent(message) => Some((entry.id, bare(&message.text))),
        _ => None,
    });
    let is_beginning = |said: &str| !said.is_empty() && bare(text).starts_with(said);
    let Some((id, _)) = last.filter(|(_, said)| is_beginning(said)) else { return false };
    session.entries.change(id, |entry| {
        if let Body::Agent(message) = &mut entry.body {
            message.text.clone_from(text);
        }
    });
    true
}

/// Adds what was said elsewhere to the end of the transcript. Prompts begin turns, as they did there.
pub fn append(session: &mut Session, bodies: Vec<Body>, cx: &mut Cx) {
    for body in bodies {
        if matches!(body, Body::User(_)) {
            let turn = cx.next_turn();
            (cx.last_turn, session.last_turn) = (turn, turn);
        }
        let tool = if let Body::Tool(tool) = &body { Some(tool.id.clone()) } else { None };
        let id = session.entries.push(session.last_turn, cx.now, body);
        session.entries.finish(id);
        if let Some(tool) = tool {
            session.newest_tool.insert(tool, id);
        }
    }
}
