//! Contents behind states, and the merging of states.
//!
//! Wraps the shadow store with a bounded cache of texts. Decides nothing about who changed what. Invariant: a merge
//! either has everything of both sides or says that it has not.

use super::error::ReviewError;
use super::lines::Lines;
use super::merge::{Merged, merge};
use super::shadow::Shadow;
use super::state::{Oid, State};
use std::collections::HashMap;
use std::path::Path;

/// Bytes of texts that are kept in memory; beyond it all are read anew.
const CACHE: usize = 32 << 20;

pub struct Files {
    pub shadow: Shadow,
    texts: HashMap<Oid, Option<Lines>>,
    cached: usize,
}

/// What came of merging three states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Joined {
    Clean(State),
    /// Why not, in words.
    Conflict(String),
}

impl Files {
    pub fn new(shadow: Shadow) -> Self {
        Self { shadow, texts: HashMap::new(), cached: 0 }
    }

    pub fn content(&self, state: &State) -> Result<Vec<u8>, ReviewError> {
        if state.is_absent() { Ok(Vec::new()) } else { self.shadow.content(state) }
    }

    /// The lines of a file; nothing for what is no text, a link, or not kept. An absent file has no lines.
    pub fn text(&mut self, state: &State) -> Result<Option<Lines>, ReviewError> {
        let oid = match state {
            State::Absent => return Ok(Lines::of(Vec::new())),
            State::Link { .. } | State::Unkept { .. } => return Ok(None),
            State::File { oid, .. } => *oid,
        };
        if let Some(lines) = self.texts.get(&oid) {
            return Ok(lines.clone());
        }
        let bytes = self.shadow.content(state)?;
        let size = bytes.len();
        if self.cached + size > CACHE {
            self.texts.clear();
            self.cached = 0;
        }
        let lines = Lines::of(bytes);
        self.cached += size;
        self.texts.insert(oid, lines.clone());
        Ok(lines)
    }

    /// Keeps a text that is to be on the disk.
    pub fn file(&mut self, bytes: &[u8], mode: u32) -> Result<State, ReviewError> {
        let oid = self.shadow.keep(bytes)?;
        Ok(State::File { oid, mode, size: bytes.len() as u64 })
    }

    /// The state on the disk now, its content kept.
    pub fn on_disk(&mut self, path: &Path) -> Result<State, ReviewError> {
        let (state, content) = self.shadow.peek(path)?;
        if state.oid().is_some()
            && let Some(content) = content
        {
            self.shadow.keep(&content)?;
        }
        Ok(state)
    }

    /// What differs between `base` and `theirs`, put into `ours`.
    pub fn join(&mut self, base: &State, ours: &State, theirs: &State) -> Result<Joined, ReviewError> {
        if ours == base || ours == theirs {
            return Ok(Joined::Clean(*theirs));
        }
        if theirs == base {
            return Ok(Joined::Clean(*ours));
        }
        let (
            State::File { oid: base_oid, mode: base_mode, .. },
            State::File { oid: our_oid, mode: our_mode, size: our_size },
            State::File { oid: their_oid, mode: their_mode, size: their_size },
        ) = (base, ours, theirs)
        else {
            return Ok(Joined::Conflict(unlike(base, ours, theirs).to_owned()));
        };
        let mode = if our_mode == base_mode { *their_mode } else { *our_mode };
        let with = |oid: &Oid, size: &u64| Joined::Clean(State::File { oid: *oid, mode, size: *size });
        if our_oid == base_oid || our_oid == their_oid {
            return Ok(with(their_oid, their_size));
        }
        if their_oid == base_oid {
            return Ok(with(our_oid, our_size));
        }
        let texts = (self.text(base)?, self.text(ours)?, self.text(theirs)?);
        let (Some(base), Some(ours), Some(theirs)) = texts else {
            return Ok(Joined::Conflict("changed by two, and not a text".to_owned()));
        };
        match merge(&base, &ours, &theirs) {
            Merged::Clean(bytes) => Ok(Joined::Clean(self.file(&bytes, mode)?)),
            Merged::Conflict { why } => Ok(Joined::Conflict(why)),
        }
    }

    /// Like [`Files::join`]; nothing when that is a conflict.
    pub fn joined(&mut self, base: &State, ours: &State, theirs: &State) -> Result<Option<State>, ReviewError> {
        Ok(match self.join(base, ours, theirs)? {
            Joined::Clean(state) => Some(state),
            Joined::Conflict(_) => None,
        })
    }
}

fn unlike(base: &State, ours: &State, theirs: &State) -> &'static str {
    if ours.is_absent() {
        "deleted meanwhile"
    } else if theirs.is_absent() {
        "changed after it was created"
    } else if base.is_absent() {
        "created by two"
    } else {
        "changed by two, and not a plain file"
    }
}
