//! What agents ask of files, with all that it takes to do it. Plain data.

use super::ruling::RulesInForce;
use crate::agent::quirks::MissingFile;
use crate::base::shared::SharedText;
use crate::model::event::WriteHow;
use crate::model::ids::{EntryId, ReqId, SessionKey, TurnId};
use crate::model::judge::Request;

#[derive(Debug)]
pub enum FileJob {
    Read(ReadJob),
    Check { at: SessionKey, req: ReqId, path: String },
    Write(WriteJob),
}

impl FileJob {
    pub fn session(&self) -> SessionKey {
        match self {
            Self::Read(ReadJob { at, .. }) | Self::Check { at, .. } | Self::Write(WriteJob { at, .. }) => *at,
        }
    }
}

#[derive(Debug)]
pub struct ReadJob {
    pub at: SessionKey,
    pub req: ReqId,
    pub request: Box<Request>,
    pub line: Option<u32>,
    pub limit: Option<u32>,
    pub missing: MissingFile,
    /// The turn in which it was asked for; nothing outside of turns.
    pub turn: Option<TurnId>,
    /// The rules that hold where it is asked for.
    pub rules: Option<RulesInForce>,
}

#[derive(Debug)]
pub struct WriteJob {
    pub at: SessionKey,
    pub req: ReqId,
    pub request: Box<Request>,
    pub content: SharedText,
    pub how: WriteHow,
    pub entry: EntryId,
    /// How often it was begun before.
    pub tries: u8,
    /// The rules that hold where it is asked for.
    pub rules: Option<RulesInForce>,
}
