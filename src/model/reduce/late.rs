//! A history that an agent tells although it has answered the call to load its session, however late.
//!
//! What the transcript has of it, in its order, is left out: a prompt that stands there, and behind it what was said and
//! done in that turn. By the protocol nothing of the history comes by then, so anything else is new. Invariants: what
//! differs from the transcript by a word is shown, whole and in its order; a turn that has told nothing else has what may
//! have been its answer.

use super::retold::{Turn, bare};
use super::{Cx, update};
use crate::model::entries::Slot;
use crate::model::entry::{Block, Body, ChunkKind};
use crate::model::event::Update;
use crate::model::history::{Kind, Words, fingerprint};
use crate::model::ids::EntryId;
use crate::model::patch::Patch;
use crate::model::retold::{Call, Expected, Late, LateTurn, Texts};
use crate::model::session::Session;
use crate::model::tool::ToolPatch;

/// Pieces that a prompt comes in, and prompts of ours that a piece may be the beginning of.
const MAX_PIECES: usize = 16;
const MAX_COMPARED: usize = 8;

/// The history is told up to this prompt, and what is left of its turn. What is here by now may be told yet.
pub fn after(session: &Session, told: Option<(EntryId, Option<LateTurn>)>) -> Late {
    let (prompt, turn) = told.unzip();
    let next = prompt.map_or(EntryId(session.entries.gone()), |prompt| EntryId(prompt.0 + 1));
    let turn = turn.flatten();
    let (held, left_out) = (Vec::new(), Vec::new());
    let end = session.entries.next_id();
    Late { next, end, turn, is_before: true, is_behind: false, may_be_echo: false, held, left_out }
}

/// What is left of the turn of this prompt, where all that was told behind the prompt is its beginning.
pub fn left_of<'a>(session: &Session, prompt: EntryId, told: impl Iterator<Item = &'a Body>) -> Option<LateTurn> {
    let mut turn = turn_of(session, prompt);
    for body in told {
        let (expected, text) = match body {
            Body::Agent(message) => (&mut turn.said, &message.text),
            Body::Thought(thought) => (&mut turn.thought, &thought.message.text),
            Body::Tool(tool) => {
                let (kind, title) = (Patch::Set(tool.kind), Patch::Set(tool.title.clone()));
                if !has_call(&mut turn, &ToolPatch { title, kind, ..ToolPatch::new(tool.id.clone()) }) {
                    return None;
                }
                continue;
            }
            _ => continue,
        };
        let text = bare(text);
        let is_it = text.is_empty()
            || match fits(expected, &text) {
                Fit::No => false,
                // Of one that has left memory it cannot be said.
                Fit::Begins => matches!(expected.list.front(), Some(Expected::Text(_))),
                Fit::Ends => true,
            };
        if !is_it {
            return None;
        }
    }
    let is_left =
        |turn: &LateTurn| !turn.said.list.is_empty() || !turn.thought.list.is_empty() || !turn.calls.is_empty();
    Some(turn).filter(is_left)
}

/// What of an update is to be shown, in its order; of what is the history, nothing.
pub fn sift(session: &mut Session, update: Update) -> Vec<Update> {
    let Some(mut late) = session.late.take() else { return vec![update] };
    let shown = sorted(&mut late, session, update);
    session.late = Some(late);
    shown
}

/// What was waited with in a turn that has ended and, where that is without another word, what was left out of it.
pub fn rest(session: &mut Session) -> Vec<Update> {
    let is_silent = session.turn.as_ref().is_some_and(|turn| !turn.spoke);
    let Some(late) = &mut session.late else { return Vec::new() };
    let left_out = std::mem::take(&mut late.left_out);
    let mut shown = if is_silent { left_out } else { Vec::new() };
    shown.append(&mut late.held);
    shown
}

/// A history of which a part has not been told may come yet, until something is asked again; what was said in the turn is
/// of it by then.
pub fn turn_ended(session: &mut Session) {
    let Some(mut late) = session.late.take() else { return };
    if untold(&late, session).next().is_some() {
        (late.turn, late.is_behind, late.may_be_echo) = (None, true, false);
        late.end = session.entries.next_id();
        session.late = Some(late);
    }
}

pub fn turn_over(session: &mut Session, cx: &mut Cx) {
    for update in rest(session) {
        update::take(session, update, cx);
    }
    turn_ended(session);
}

/// Something is asked again.
pub fn asked(session: &mut Session, cx: &mut Cx) {
    if session.late.as_ref().is_some_and(|late| late.is_behind) {
        over(session, cx);
    }
}

/// No history comes any more.
pub fn over(session: &mut Session, cx: &mut Cx) {
    turn_over(session, cx);
    session.late = None;
}

/// Prompts of the history that have not been told, in their order.
fn untold<'a>(late: &Late, session: &'a Session) -> impl Iterator<Item = (EntryId, &'a Slot)> + use<'a> {
    let entries = &session.entries;
    let from = entries.index_of(late.next).unwrap_or(entries.len());
    let to = entries.index_of(late.end).unwrap_or(entries.len());
    let all = (from..to).filter_map(move |at| Some((entries.id_at(at), entries.slot(at)?)));
    all.filter(|(_, slot)| slot.kind() == Kind::User)
}

/// The words of a message, or of a piece of one.
pub(super) fn words(update: &Update) -> Option<(ChunkKind, String)> {
    let blocks = |kind: ChunkKind, blocks: &[Block]| {
        let texts = blocks.iter().map(|block| if let Block::Text(text) = block { Some(text.as_str()) } else { None });
        Some((kind, texts.collect::<Option<String>>()?))
    };
    match update {
        Update::Chunk { kind, block: Block::Text(text), .. } | Update::Part { kind, text, .. } => {
            Some((*kind, text.clone()))
        }
        Update::Message { kind, content: Patch::Set(content), .. } | Update::Whole { kind, content } => {
            blocks(*kind, content)
        }
        _ => None,
    }
}

/// The name of the message that it is a piece of.
fn named(update: &Update) -> Option<&str> {
    if let Update::Chunk { message_id, .. } = update { message_id.as_deref() } else { None }
}

/// What the transcript has of the turn of this prompt.
fn turn_of(session: &Session, prompt: EntryId) -> LateTurn {
    let from = session.entries.index_of(prompt).unwrap_or_default() + 1;
    let mut turn = LateTurn { calls: Turn::of(session, prompt).into_calls(), ..LateTurn::default() };
    for slot in session.entries.slots().skip(from).take_while(|slot| slot.kind() != Kind::User) {
        let texts = match slot.kind() {
            Kind::Agent => &mut turn.said,
            Kind::Thought => &mut turn.thought,
            _ => continue,
        };
        let text = match slot {
            Slot::Here(entry) => match &entry.body {
                Body::Agent(message) => Expected::Text(bare(&message.text)),
                Body::Thought(thought) => Expected::Text(bare(&thought.message.text)),
                _ => continue,
            },
            Slot::Away(away) => match away.fingerprint() {
                Some(print) => Expected::Away { print, most: away.text_len(), words: Words::default() },
                None => continue,
            },
        };
        texts.list.push_back(text);
    }
    turn
}

/// What a piece of a text is of those that are expected.
enum Fit {
    No,
    /// A part of one; more is to come.
    Begins,
    /// The end of one.
    Ends,
}

/// Looks for a piece of a text among those that are expected, in their order, and lets go of what is heard to its end.
fn fits(expected: &mut Texts, piece: &str) -> Fit {
    for from in 0..expected.list.len() {
        let (mut rest, mut at, mut heard) = (piece, from, if from == 0 { expected.heard } else { 0 });
        if from > 0 && expected.heard > 0 {
            break;
        }
        while let Some(next) = expected.list.get_mut(at) {
            let (is_end, is_part) = match next {
                Expected::Text(own) => {
                    let left = own.get(heard..).unwrap_or_default();
                    match rest.strip_prefix(left) {
                        Some(more) if !more.is_empty() => {
                            (rest, at, heard) = (more, at + 1, 0);
                            continue;
                        }
                        more => (more.is_some(), left.starts_with(rest)),
                    }
                }
                Expected::Away { print, most, words } => {
                    words.add(rest);
                    (words.print() == *print, heard + rest.len() < *most)
                }
            };
            if is_end {
                expected.list.drain(..=at);
                expected.heard = 0;
                return Fit::Ends;
            }
            if is_part {
                expected.list.drain(..at);
                expected.heard = heard + rest.len();
                return Fit::Begins;
            }
            break;
        }
    }
    Fit::No
}

fn sorted(late: &mut Late, session: &Session, update: Update) -> Vec<Update> {
    let is_running = session.turn.is_some();
    let is_known = match &update {
        // A call that the turn before had, which was told already, may be made once more now.
        Update::ToolCall(_) if late.is_before && is_running => return works(late, update),
        Update::ToolCall(patch) => Some(late.turn.as_mut().is_some_and(|turn| has_call(turn, patch))),
        Update::ToolUpdate(patch) => Some(late.turn.as_ref().is_some_and(|turn| turn.told.contains(&patch.id))),
        _ => None,
    };
    match is_known {
        Some(true) => {
            let shown = stop_waiting(late, None);
            if is_running {
                late.left_out.push(update);
            }
            return shown;
        }
        Some(false) => {
            let mut shown = said_now(late, session);
            shown.extend(stop_waiting(late, Some(update)));
            return shown;
        }
        None => {}
    }
    let Some((kind, text)) = words(&update) else { return vec![update] };
    if let Some((before, _)) = late.held.last().and_then(words)
        && before != kind
    {
        let mut shown = stop_waiting(late, None);
        shown.extend(sorted(late, session, update));
        return shown;
    }
    match kind {
        ChunkKind::User => prompt(late, session, &text, update),
        ChunkKind::Agent | ChunkKind::Thought => said(late, session, kind, &text, update),
    }
}

/// The agent works on what it was asked now, and what was left out since then was said for that.
fn works(late: &mut Late, update: Update) -> Vec<Update> {
    late.turn = None;
    let mut shown = std::mem::take(&mut late.left_out);
    shown.extend(stop_waiting(late, Some(update)));
    shown
}

/// What was waited with is no history, and then this.
fn stop_waiting(late: &mut Late, update: Option<Update>) -> Vec<Update> {
    let held = std::mem::take(&mut late.held);
    // White space alone is no message.
    let is_nothing = update.is_none() && held.iter().filter_map(words).all(|(_, text)| bare(&text).is_empty());
    if is_nothing { Vec::new() } else { held.into_iter().chain(update).collect() }
}

/// What was taken for the history is the answer to what is asked now: that was asked before, was told back, and no more of
/// the history followed.
fn said_now(late: &mut Late, session: &Session) -> Vec<Update> {
    let was_echo = std::mem::take(&mut late.may_be_echo) && untold(late, session).next().is_some();
    if was_echo { std::mem::take(&mut late.left_out) } else { Vec::new() }
}

fn prompt(late: &mut Late, session: &Session, text: &str, update: Update) -> Vec<Update> {
    let untold: Vec<(EntryId, &Slot)> = untold(late, session).collect();
    let own_words = |slot: &Slot| match slot.here().map(|entry| &entry.body) {
        Some(Body::User(user)) => Some(bare(&user.text)),
        _ => None,
    };
    // The prompt of the turn that runs, as its agent tells it back.
    let is_echo = |prompt: &str, echo: &str| {
        prompt.strip_prefix(echo).is_some_and(|rest| !prompt.is_empty() && rest.starts_with(text))
    };
    let is_echo = session.turn.as_ref().is_some_and(|turn| is_echo(&turn.prompt, &turn.echo));
    // It may have been asked before: the history is told in its order, and before what is asked now.
    let reach = if late.is_before { 1 } else { MAX_COMPARED };
    let begins = |(_, slot): &(EntryId, &Slot)| match own_words(slot) {
        Some(own) => own.starts_with(&bare(text)),
        None => slot.fingerprint() == Some(fingerprint(text)),
    };
    if is_echo && !untold.iter().take(reach).any(begins) {
        late.turn = None;
        late.left_out.clear();
        return stop_waiting(late, Some(update));
    }
    let mut pieces: Vec<String> = late.held.iter().filter_map(words).map(|(_, text)| text).collect();
    pieces.push(text.to_owned());
    // An agent may put texts of its own before a prompt.
    let candidates: Vec<String> = (0..pieces.len()).map(|from| pieces[from..].concat()).collect();
    let prints: Vec<_> = candidates.iter().map(|text| fingerprint(text)).collect();
    let mut may_become_one = false;
    for (number, (prompt, slot)) in untold.iter().enumerate() {
        if slot.fingerprint().is_some_and(|print| prints.contains(&print)) {
            let asked = session.turn.as_ref().map(|turn| fingerprint(&turn.prompt));
            late.may_be_echo = late.is_before && asked.is_some_and(|asked| prints.contains(&asked));
            late.held.clear();
            late.left_out.clear();
            late.next = EntryId(prompt.0 + 1);
            (late.turn, late.is_before) = (Some(turn_of(session, *prompt)), false);
            return Vec::new();
        }
        if number < MAX_COMPARED
            && let Some(own) = own_words(slot)
        {
            may_become_one |= candidates.iter().map(|text| bare(text)).any(|text| own.starts_with(&text));
        }
    }
    if may_become_one && pieces.len() < MAX_PIECES {
        late.held.push(update);
        return Vec::new();
    }
    late.turn = None;
    stop_waiting(late, Some(update))
}

fn said(late: &mut Late, session: &Session, kind: ChunkKind, text: &str, update: Update) -> Vec<Update> {
    let Some(turn) = &mut late.turn else { return vec![update] };
    let (expected, piece) = (if kind == ChunkKind::Agent { &mut turn.said } else { &mut turn.thought }, bare(text));
    let fit = if piece.is_empty() { Fit::Begins } else { fits(expected, &piece) };
    match fit {
        Fit::Begins => {
            late.held.push(update);
            Vec::new()
        }
        Fit::Ends => {
            let known = stop_waiting(late, Some(update));
            if kind == ChunkKind::Agent && session.turn.is_some() {
                late.left_out.extend(known);
            }
            Vec::new()
        }
        Fit::No => {
            late.turn = None;
            // What was left out of this very message is no history either.
            let is_of_it = |one: &Update| named(&update).is_some_and(|id| named(one) == Some(id));
            let from = late.left_out.iter().position(is_of_it).unwrap_or(late.left_out.len());
            let of_it = late.left_out.split_off(from);
            let mut shown = said_now(late, session);
            shown.extend(of_it);
            shown.extend(stop_waiting(late, Some(update)));
            shown
        }
    }
}

fn has_call(turn: &mut LateTurn, told: &ToolPatch) -> bool {
    let print = fingerprint(told.id.as_str());
    let (kind, title) = (told.kind.as_set(), told.title.as_set());
    let is_it = |call: &Call| {
        call.id == Some(print)
            || title.is_some_and(|title| call.what.is_some() && call.is_like(kind.copied().unwrap_or_default(), title))
    };
    let Some(at) = turn.calls.iter().position(is_it) else { return false };
    turn.calls.remove(at);
    turn.told.insert(told.id.clone());
    true
}

#[cfg(test)]
#[path = "late_tests.rs"]
mod tests;
