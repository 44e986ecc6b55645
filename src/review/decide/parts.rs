//! What separates two states of a file, in parts that can be decided one by one.
//!
//! Pure but for reading contents. Invariant: all parts put in give the new state, all taken back the old one.

use crate::base::human;
use crate::model::changes::HunkId;
use crate::review::error::ReviewError;
use crate::review::history::contents::Contents;
use crate::review::state::{Oid, State};
use crate::review::text::diff::{HunkLines, replaced, with, with_all, without, without_all};
use crate::review::text::lines::Lines;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

#[derive(Clone, Debug)]
pub enum Part {
    Lines(Arc<HunkLines>),
    /// Decided only as a whole; what it is, in words.
    Whole(HunkId, String),
    /// Permission bits.
    Mode(HunkId, u32, u32),
}

impl Part {
    pub fn id(&self) -> HunkId {
        match self {
            Self::Lines(hunk) => hunk.id,
            Self::Whole(id, _) | Self::Mode(id, ..) => *id,
        }
    }
}

/// Two states and what separates them.
#[derive(Clone, Debug)]
pub struct Parts {
    pub old: State,
    pub new: State,
    /// When both are texts or nothing; what is unknown is taken for nothing.
    pub texts: Option<(Lines, Lines)>,
    pub parts: Vec<Part>,
}

/// What one decision is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Chosen {
    Part(HunkId),
    /// Indices into the lines of the hunk.
    Lines(HunkId, Range<usize>),
}

impl Chosen {
    pub const fn id(&self) -> HunkId {
        match self {
            Self::Part(id) | Self::Lines(id, _) => *id,
        }
    }
}

impl Parts {
    pub fn of(files: &mut Contents, old: &State, new: &State) -> Result<Self, ReviewError> {
        let mut parts = Vec::new();
        let plain = |s: &State| matches!(s, State::Absent | State::File { .. });
        // Of what is there now all lines are shown; to take them back as a whole is refused all the same.
        let known = if is_unknown_before(old, new) { State::Absent } else { *old };
        let texts = if plain(&known) && plain(new) { files.text(&known)?.zip(files.text(new)?) } else { None };
        match &texts {
            Some(_) => {
                parts.extend(files.hunks(&known, new)?.iter().map(|h| Part::Lines(Arc::clone(h))));
                if parts.is_empty() && old.is_absent() != new.is_absent() {
                    let words = if old.is_absent() { "an empty file, new" } else { "an empty file, deleted" };
                    parts.push(Part::Whole(whole_id(old, new), words.to_owned()));
                }
            }
            None => parts.push(Part::Whole(whole_id(old, new), whole_words(files, old, new))),
        }
        if let (State::File { mode: was, .. }, State::File { mode: is, .. }) = (old, new)
            && was != is
        {
            if texts.is_none() && old.oid() == new.oid() {
                parts.clear();
            }
            parts.push(Part::Mode(HunkId(u64::from(was << 16 | is)), *was, *is));
        }
        Ok(Self { old: *old, new: *new, texts, parts })
    }

    pub fn part(&self, id: HunkId) -> Option<&Part> {
        self.parts.iter().find(|p| p.id() == id)
    }

    fn is_all(&self, chosen: &[Chosen]) -> bool {
        let chosen: HashSet<&Chosen> = chosen.iter().collect();
        self.parts.iter().all(|p| chosen.contains(&Chosen::Part(p.id())))
    }

    /// The new state with these taken back.
    pub fn without(&self, files: &mut Contents, chosen: &[Chosen]) -> Result<State, ReviewError> {
        if self.is_all(chosen) {
            return Ok(self.old);
        }
        let Some((old, new)) = &self.texts else { return Ok(self.mixed(chosen, &self.old, &self.new)) };
        let text = match self.whole(chosen) {
            Some(hunks) => again(without_all(old, new, &hunks))?,
            None => self.each(new, chosen, |text, hunk, lines| without(old, text, hunk, lines))?,
        };
        let mode = self.mode(chosen, &self.old, &self.new);
        written(files, &text, mode, self.old.is_absent() && text.is_empty())
    }

    /// The old state with these put in.
    pub fn with(&self, files: &mut Contents, chosen: &[Chosen]) -> Result<State, ReviewError> {
        if self.is_all(chosen) {
            return Ok(self.new);
        }
        let Some((old, new)) = &self.texts else { return Ok(self.mixed(chosen, &self.new, &self.old)) };
        let text = match self.whole(chosen) {
            Some(hunks) => again(with_all(old, new, &hunks))?,
            None => self.each(old, chosen, |text, hunk, lines| with(text, new, hunk, lines))?,
        };
        let mode = self.mode(chosen, &self.new, &self.old);
        written(files, &text, mode, self.new.is_absent() && text.is_empty())
    }

    /// The hunks that were chosen, when none of them is only in part.
    fn whole(&self, chosen: &[Chosen]) -> Option<Vec<&HunkLines>> {
        let mut ids = HashSet::new();
        for one in chosen {
            match one {
                Chosen::Part(id) => ids.insert(*id),
                Chosen::Lines(..) => return None,
            };
        }
        let parts = self.parts.iter();
        let hunks = parts.filter_map(|part| match part {
            Part::Lines(hunk) if ids.contains(&hunk.id) => Some(&**hunk),
            _ => None,
        });
        Some(hunks.collect())
    }

    /// A text after something was done to every hunk that was chosen; from the end, so that the lines of what is left
    /// keep their numbers.
    fn each(
        &self,
        text: &Lines,
        chosen: &[Chosen],
        done: impl Fn(&Lines, &HunkLines, Option<&Range<usize>>) -> Vec<u8>,
    ) -> Result<Lines, ReviewError> {
        let mut text = text.clone();
        for part in self.parts.iter().rev() {
            if let (Part::Lines(hunk), Some(chosen)) = (part, chosen.iter().find(|c| c.id() == part.id())) {
                let lines = match chosen {
                    Chosen::Part(_) => None,
                    Chosen::Lines(_, range) => Some(range),
                };
                text = again(done(&text, hunk, lines))?;
            }
        }
        Ok(text)
    }

    /// Both states with a hunk's lines replaced by the person's.
    pub fn edited(&self, files: &mut Contents, id: HunkId, by: &str) -> Result<(State, State), ReviewError> {
        let refused = || ReviewError::Refused("only lines can be edited".to_owned());
        let Some((old, new)) = &self.texts else { return Err(refused()) };
        let Some(Part::Lines(hunk)) = self.part(id) else { return Err(refused()) };
        let by = &unsanitised(by, new, &hunk.new);
        let by = if self.new.is_absent() { old.encode(by) } else { new.encode(by) };
        let is = again(replaced(new, hunk, &by))?;
        let mut turned = (**hunk).clone();
        turned.new = hunk.old.clone();
        let was = again(replaced(old, &turned, &by))?;
        let mode = self.new.mode().or(self.old.mode()).unwrap_or(0o644);
        Ok((written(files, &was, mode, false)?, written(files, &is, mode, false)?))
    }

    fn mode(&self, chosen: &[Chosen], wanted: &State, kept: &State) -> u32 {
        let is_chosen =
            self.parts.iter().any(|p| matches!(p, Part::Mode(id, ..) if chosen.contains(&Chosen::Part(*id))));
        let state = if is_chosen { wanted } else { kept };
        state.mode().or(self.new.mode()).or(self.old.mode()).unwrap_or(0o644)
    }

    /// One of two parts of something that is no text: its content and its mode.
    fn mixed(&self, chosen: &[Chosen], wanted: &State, kept: &State) -> State {
        let whole = self.parts.iter().any(|p| matches!(p, Part::Whole(id, _) if chosen.contains(&Chosen::Part(*id))));
        let content = if whole { wanted } else { kept };
        match *content {
            State::File { oid, size, .. } => State::File { oid, size, mode: self.mode(chosen, wanted, kept) },
            other => other,
        }
    }
}

/// Whether there are lines of which it is not known what they were before. An empty file has none.
pub const fn is_unknown_before(old: &State, new: &State) -> bool {
    matches!((old, new), (State::Unkept { size: 0, .. }, State::File { size: 1.., .. }))
}

fn written(files: &mut Contents, text: &Lines, mode: u32, gone: bool) -> Result<State, ReviewError> {
    if gone { Ok(State::Absent) } else { files.file(text.bytes(), mode) }
}

/// Lines that the person has left as they were shown are what they were: what is shown has lost control characters.
fn unsanitised(text: &str, new: &Lines, core: &Range<usize>) -> String {
    let shown: HashMap<String, usize> = core.clone().map(|line| (new.shown(line), line)).collect();
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let (body, end) = line.strip_suffix('\n').map_or((line, ""), |body| (body, "\n"));
        match shown.get(body) {
            Some(line) => out.push_str(new.decoded(*line).trim_end_matches(['\r', '\n'])),
            None => out.push_str(body),
        }
        out.push_str(end);
    }
    out
}

fn again(bytes: Vec<u8>) -> Result<Lines, ReviewError> {
    Lines::of(bytes).ok_or_else(|| ReviewError::Refused("the result would be no text any more".to_owned()))
}

fn whole_id(old: &State, new: &State) -> HunkId {
    let part = |state: &State| {
        let Oid(bytes) = state.oid().unwrap_or(Oid([0; 20]));
        bytes.iter().take(8).fold(0_u64, |sum, byte| sum << 8 | u64::from(*byte))
    };
    HunkId(part(old).rotate_left(17) ^ part(new))
}

fn whole_words(files: &Contents, old: &State, new: &State) -> String {
    let describe = |state: &State| match state {
        State::Absent => "nothing".to_owned(),
        State::File { size, .. } => human::bytes(*size),
        State::Unkept { size: 0, .. } => "not kept".to_owned(),
        State::Unkept { size, .. } => format!("{}, not kept", human::bytes(*size)),
        State::Link { .. } => {
            let target = files.content(state).unwrap_or_default();
            format!("link to {}", crate::base::sanitize::line(&String::from_utf8_lossy(&target)))
        }
    };
    let binary = matches!((old, new), (State::File { .. } | State::Absent, State::File { .. } | State::Absent));
    let what = if binary { "binary, " } else { "" };
    match (old, new) {
        (State::Absent, new) => format!("{what}{}, new", describe(new)),
        (old, State::Absent) => format!("{what}{}, deleted", describe(old)),
        (old, new) => format!("{what}{} → {}", describe(old), describe(new)),
    }
}
