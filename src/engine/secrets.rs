//! What a person has typed to log in, hidden wherever it would be shown or written down.
//!
//! What an agent asks for is done with what it has said: no file, command, path or answer is changed here. Invariants:
//! a value is found however JSON spells it, and in a message also where it comes in pieces; what is held back until
//! the rest of it may come is shorter than a value, and said before anything that follows it.

mod pieces;

use self::pieces::Pieces;
use super::masking::string_at;
use crate::agent::codec::Codec;
use crate::base::shared::SharedText;
use crate::model::entry::{Block, ChunkKind};
use crate::model::event::{Activity, Hint, HostEvent, Update};
use crate::model::ids::{AgentKey, SessionId};
use crate::wire::frame::{self, Frame};
use serde::Serialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// Stands for what is left out.
const MASK: &str = "…";
/// Shorter ones would tear ordinary words out of what is said.
const MIN_SECRET: usize = 8;
/// Messages whose ends are held back at once.
const MAX_HELD: usize = 64;

/// Values that a person has typed, the longest first.
#[derive(Clone, Debug, Default)]
pub(super) struct Secrets(Vec<String>);

/// Which strings of a JSON text are looked at.
type Looks<'a> = &'a dyn Fn(Member) -> bool;

/// A string of a JSON text.
#[derive(Clone, Copy)]
enum Member<'a> {
    /// The name of a member.
    Name,
    /// What is in a member of this name, as deep as it may be.
    Inside(&'a str),
}

const ALL: Looks<'static> = &|_| true;
/// Of what a journal must be able to read again.
const VALUES: Looks<'static> = &|member| !matches!(member, Member::Name);

impl Secrets {
    pub fn add(&mut self, value: &str) {
        if value.len() >= MIN_SECRET && !self.0.iter().any(|known| known == value) {
            self.0.push(value.to_owned());
            // One may be a part of another.
            self.0.sort_by_key(|known| std::cmp::Reverse(known.len()));
        }
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The text without them; nothing when there are none in it.
    pub fn hidden(&self, text: &str) -> Option<String> {
        let mut out: Option<String> = None;
        for secret in &self.0 {
            let now = out.as_deref().unwrap_or(text);
            if now.contains(secret.as_str()) {
                out = Some(now.replace(secret.as_str(), MASK));
            }
        }
        out
    }

    pub fn hide(&self, text: String) -> String {
        self.hidden(&text).unwrap_or(text)
    }

    /// How many bytes at the end of a text may be the beginning of one.
    fn begun(&self, text: &str) -> usize {
        let begins = |secret: &String| {
            let lengths = (1..secret.len().min(text.len() + 1)).rev();
            lengths.into_iter().find(|len| secret.is_char_boundary(*len) && text.ends_with(&secret[..*len]))
        };
        self.0.iter().filter_map(begins).max().unwrap_or(0)
    }

    /// A line as it is written down; nothing when there are none in it.
    pub fn line(&self, line: &str, is_json: bool) -> Option<String> {
        let quoted = self.json(line, ALL);
        if is_json {
            return quoted;
        }
        // They may stand outside of strings, too.
        self.hidden(quoted.as_deref().unwrap_or(line)).or(quoted)
    }

    /// A fact or an intent as it is written down; nothing when there are none in it.
    pub fn fact(&self, fact: &impl Serialize) -> Option<Box<RawValue>> {
        if self.is_empty() {
            return None;
        }
        let text = serde_json::to_string(fact).ok()?;
        RawValue::from_string(self.json(&text, VALUES)?).ok()
    }

    /// The end of an agent with its last words.
    pub fn ending(&self, event: HostEvent) -> HostEvent {
        let hide = |stderr: Vec<String>| stderr.into_iter().map(|line| self.hide(line)).collect();
        match event {
            HostEvent::AgentExited { exit, stderr } => HostEvent::AgentExited { exit, stderr: hide(stderr) },
            HostEvent::StdoutClosed { stderr } => HostEvent::StdoutClosed { stderr: hide(stderr) },
            other => other,
        }
    }

    /// What a terminal shows.
    pub fn screen(&self, hint: Hint) -> Hint {
        match hint {
            Hint::Screen(term, screen) if !self.is_empty() => {
                let covered = screen.covered(&|line| self.places(line));
                Hint::Screen(term, covered.map_or(screen, Arc::new))
            }
            hint => hint,
        }
    }

    fn places(&self, text: &str) -> Vec<Range<usize>> {
        let of =
            |secret: &String| text.match_indices(secret.as_str()).map(|(at, s)| at..at + s.len()).collect::<Vec<_>>();
        self.0.iter().flat_map(of).collect()
    }

    /// JSON, or what looks like it, without them in the strings that are looked at.
    fn json(&self, text: &str, looks: Looks) -> Option<String> {
        // Only what is written with a backslash can be spelt in another way.
        let may_be = text.contains('\\') || self.0.iter().any(|secret| text.contains(secret.as_str()));
        if self.is_empty() || !may_be {
            return None;
        }
        let (mut out, mut kept, mut at) = (String::new(), 0, 0);
        // The names of the members that are open, and of the one whose value comes next.
        let (mut open, mut name): (Vec<Cow<str>>, Cow<str>) = (Vec::new(), Cow::Borrowed(""));
        while let Some(next) = text[at..].find(['"', '{', '}', '[', ']', ',']) {
            at += next;
            let token = match text.as_bytes()[at] {
                b'"' => string_at(&text[at..]),
                b'{' | b'[' => {
                    open.push(std::mem::take(&mut name));
                    at += 1;
                    continue;
                }
                b'}' | b']' => {
                    open.pop();
                    at += 1;
                    continue;
                }
                _ => {
                    name = Cow::Borrowed("");
                    at += 1;
                    continue;
                }
            };
            let end = at + token.len();
            let is_name = text[end..].trim_start().starts_with(':');
            let looked = if is_name {
                looks(Member::Name)
            } else {
                open.iter().chain([&name]).all(|name| looks(Member::Inside(name)))
            };
            if looked && let Some(hidden) = self.in_string(token) {
                out.push_str(&text[kept..at]);
                out.push_str(&hidden);
                kept = end;
            }
            if is_name {
                name = plain(token);
            }
            at = end;
        }
        if kept == 0 {
            return None;
        }
        out.push_str(&text[kept..]);
        Some(out)
    }

    /// A string with its quotes, as it is spelt.
    fn in_string(&self, token: &str) -> Option<String> {
        if token.contains('\\')
            && let Ok(text) = serde_json::from_str::<String>(token)
        {
            return serde_json::to_string(&self.hidden(&text)?).ok();
        }
        // Plain, or cut off, or with half a character.
        let inside = token.strip_prefix('"')?;
        let (inside, end) = inside.strip_suffix('"').map_or((inside, ""), |inside| (inside, "\""));
        Some(format!("\"{}{end}", self.hidden(inside)?))
    }
}

/// What a string stands for.
fn plain(token: &str) -> Cow<'_, str> {
    if token.contains('\\') {
        return Cow::Owned(serde_json::from_str(token).unwrap_or_default());
    }
    Cow::Borrowed(token.trim_matches('"'))
}

/// Frames of agents, as they are shown and written down: with what is done left as it is.
#[derive(Default)]
pub(super) struct Hearing {
    pub secrets: Secrets,
    held: BTreeMap<(AgentKey, SessionId), HeldBack>,
    pieces: Pieces,
}

/// The end of a message that may be the beginning of a value.
struct HeldBack {
    kind: ChunkKind,
    message: Option<Arc<str>>,
    text: String,
}

impl HeldBack {
    /// A piece of a message, or the update that is none.
    fn of(update: Update) -> Result<Self, Box<Update>> {
        match update {
            Update::Chunk { kind, message_id: message, block: Block::Text(text) } => Ok(Self { kind, message, text }),
            Update::Part { kind, text, .. } => Ok(Self { kind, message: None, text }),
            other => Err(Box::new(other)),
        }
    }
}

/// Frames with their texts as they are written down.
type Frames = Vec<(Frame, SharedText)>;

impl Hearing {
    /// Frames as they came.
    pub fn all(&mut self, agent: AgentKey, codec: &dyn Codec, frames: Frames) -> Frames {
        if self.secrets.is_empty() {
            return frames;
        }
        frames.into_iter().flat_map(|(frame, line)| self.hear(agent, codec, frame, line)).collect()
    }

    /// What an agent's output ends with.
    pub fn last(&mut self, agent: AgentKey, codec: &dyn Codec, half: Option<(Frame, SharedText)>) -> Frames {
        let mut frames = self.all(agent, codec, half.into_iter().collect());
        frames.extend(self.rest(agent, codec));
        frames
    }

    fn hear(&mut self, agent: AgentKey, codec: &dyn Codec, frame: Frame, line: SharedText) -> Frames {
        let mut out = Vec::new();
        match &frame {
            Frame::Notification { method, params: Some(params) } if codec.is_update(method.as_str()) => {
                match codec.update(params.as_str()).map(|told| (told.session, HeldBack::of(told.update))) {
                    Ok((session, Ok(piece))) => {
                        let whole = self.whole(codec, (agent, session), piece, &mut out);
                        if !whole {
                            return out;
                        }
                    }
                    Ok((session, Err(update))) => {
                        if ends_message(&update) {
                            let held = self.held.remove(&(agent, session.clone()));
                            out.extend(held.and_then(|held| self.said(codec, &session, &held)));
                        }
                        if let Some(lines) = self.pieces.hear(&self.secrets, (agent, &session), &update, &line) {
                            out.extend(lines.into_iter().map(|line| self.read(codec, line)));
                            return out;
                        }
                    }
                    Err(_) => {}
                }
            }
            Frame::Request { .. } | Frame::Response { .. } => out.extend(self.rest(agent, codec)),
            _ => {}
        }
        out.push(self.kept(codec, frame, line));
        out
    }

    /// What is held back of an agent's messages: they are at their end.
    fn rest(&mut self, agent: AgentKey, codec: &dyn Codec) -> Frames {
        let of_agent = self.held.extract_if(.., |(of, _), _| *of == agent).collect::<Vec<_>>();
        let mut out: Frames =
            of_agent.iter().filter_map(|((_, session), held)| self.said(codec, session, held)).collect();
        out.extend(self.pieces.rest(agent).into_iter().map(|line| self.read(codec, line)));
        out
    }

    /// A piece of a message: whether it can be taken as it came. Else what can be said of it by now is put out.
    fn whole(&mut self, codec: &dyn Codec, at: (AgentKey, SessionId), piece: HeldBack, out: &mut Frames) -> bool {
        let before = match self.held.remove(&at) {
            Some(held) if (held.kind, &held.message) == (piece.kind, &piece.message) => held.text,
            Some(held) => {
                out.extend(self.said(codec, &at.1, &held));
                String::new()
            }
            None => String::new(),
        };
        let HeldBack { kind, message, text } = piece;
        let is_alone = before.is_empty();
        let joined = before + &text;
        let hidden = self.secrets.hidden(&joined);
        let is_free = is_alone && hidden.is_none();
        let mut now = hidden.unwrap_or(joined);
        let begun = if self.held.len() < MAX_HELD { self.secrets.begun(&now) } else { 0 };
        if is_free && begun == 0 {
            return true;
        }
        let later = now.split_off(now.len() - begun);
        if !now.is_empty() {
            out.extend(self.said(codec, &at.1, &HeldBack { kind, message: message.clone(), text: now }));
        }
        if !later.is_empty() {
            self.held.insert(at, HeldBack { kind, message, text: later });
        }
        false
    }

    /// A piece of a message as its agent would have said it.
    fn said(&self, codec: &dyn Codec, session: &SessionId, piece: &HeldBack) -> Option<(Frame, SharedText)> {
        let (method, params) = codec.piece(session, piece.kind, piece.message.as_deref(), &piece.text);
        Some(self.read(codec, frame::notification(&method, &params).ok()?))
    }

    /// A line in place of one that an agent has said.
    fn read(&self, codec: &dyn Codec, line: String) -> (Frame, SharedText) {
        let (frame, line) = Frame::read(Cow::Owned(line.into_bytes()), codec.word_for_word());
        self.kept(codec, frame, line)
    }

    /// A frame with what is only shown of it, and its text, without values.
    fn kept(&self, codec: &dyn Codec, frame: Frame, line: SharedText) -> (Frame, SharedText) {
        let Some(kept) = self.secrets.line(&line, frame.is_json()) else { return (frame, line) };
        let frame = match frame {
            Frame::Notification { ref method, .. } if codec.is_update(method.as_str()) => {
                let is_shown = |member: Member| matches!(member, Member::Inside(name) if !codec.is_used(name));
                let shown = self.secrets.json(&line, &is_shown);
                shown.map_or(frame, |line| Frame::read(Cow::Owned(line.into_bytes()), codec.word_for_word()).0)
            }
            Frame::Response { id, outcome: Err(mut error) } => {
                error.message = self.secrets.hide(error.message);
                let data = error.data.as_ref().and_then(|data| self.secrets.json(&data.to_string(), ALL));
                error.data = data.and_then(|data| serde_json::from_str(&data).ok()).or(error.data);
                Frame::Response { id, outcome: Err(error) }
            }
            other => other,
        };
        (frame, kept.into())
    }
}

/// Whether what comes after it is another message, or another piece of this one.
fn ends_message(update: &Update) -> bool {
    match update {
        Update::Commands(_) | Update::Mode(_) | Update::Options(_) | Update::Info { .. } | Update::Usage { .. } => {
            false
        }
        Update::Activity(activity, _) => matches!(activity, Activity::Idle(_)),
        Update::Partly { update, .. } => ends_message(update),
        _ => true,
    }
}

#[cfg(test)]
#[path = "secrets_tests.rs"]
mod tests;
