//! Which of the sessions that are about to begin a call to open one is for.
//!
//! Calls name no keys, and their answers name the session: what it will be to others is known by the order of calls.
//! Knows no frames. Invariants: it is bounded; a call for a session takes what belongs to one of the same agent, asked for
//! in the same way, or nothing.

use crate::agent::codec::stored::Origin;
use crate::model::event::{Before, Opening};
use crate::model::ids::AgentKey;
use serde::{Deserialize, Serialize};

/// Sessions that wait, and bytes of a name.
const MAX: usize = 64;
const MAX_NAME: usize = 1 << 10;

/// What a session is to others.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) enum Role {
    #[default]
    None,
    /// It continues the one of this name.
    Follows(String),
    Aside,
    /// A side question that is kept.
    Kept,
}

/// A session that its agent has not been asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Begins {
    pub key: u32,
    pub agent: u32,
    pub role: Role,
    /// The session that it is to be a copy of.
    of: Option<String>,
    /// The copy was refused: it may be asked for as a new one.
    is_refused: bool,
}

/// By their keys: an agent is asked for its sessions in this order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Beginnings(Vec<Begins>);

impl Beginnings {
    /// This is how a session will be asked for.
    pub fn add(&mut self, key: u32, agent: u32, how: Opening) {
        self.forget(key);
        let (role, of) = match how {
            Opening::New => (Role::None, None),
            Opening::After(Before { id, .. }) => {
                let id = id.map(|id| id.as_str().to_owned()).filter(|id| id.len() <= MAX_NAME);
                (id.map_or(Role::None, Role::Follows), None)
            }
            Opening::Aside { from, .. } => (Role::Aside, from),
            Opening::Fork(from) | Opening::Copy(from) => (Role::None, Some(from)),
            Opening::Load(_) | Opening::Resume(_) | Opening::Continue(_) | Opening::Show { .. } => return,
        };
        self.insert(Begins { key, agent, role, of: of.map(|id| id.as_str().to_owned()), is_refused: false });
    }

    /// Its agent has made no copy of this one for it.
    pub fn refused(&mut self, key: u32, agent: AgentKey, role: Role, of: Option<String>) {
        self.insert(Begins { key, agent: agent.0, role, of, is_refused: true });
    }

    fn insert(&mut self, one: Begins) {
        if one.of.as_ref().is_none_or(|of| of.len() <= MAX_NAME) && self.0.len() < MAX {
            self.0.insert(self.0.partition_point(|other| other.key < one.key), one);
        }
    }

    /// An agent is asked for a session in this way: a copy of the one that is named, where it is to be one.
    pub fn asked(&mut self, agent: AgentKey, origin: Origin, of: Option<&str>) -> Option<Begins> {
        let is_it = |one: &Begins| {
            let is_so = match origin {
                Origin::New => one.of.is_none() || one.is_refused,
                Origin::Forked => one.of.is_some() && one.of.as_deref() == of,
                Origin::Loaded | Origin::Resumed => false,
            };
            is_so && one.agent == agent.0
        };
        self.0.iter().position(is_it).map(|at| self.0.remove(at))
    }

    pub fn role_of(&mut self, key: u32) -> Option<&mut Role> {
        self.0.iter_mut().find(|one| one.key == key).map(|one| &mut one.role)
    }

    /// It is closed, and no agent is asked for it.
    pub fn forget(&mut self, key: u32) {
        self.0.retain(|one| one.key != key);
    }
}
