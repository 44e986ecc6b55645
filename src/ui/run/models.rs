//! Which model a new session is given: the one of the command line, else the one that was chosen last for its agent in its
//! directory.
//!
//! Stores nothing itself. Invariants: a session is asked once; what its agent does not offer is said where the person has
//! named it, and forgotten else.

use super::Running;
use crate::model::Model;
use crate::model::event::Intent;
use crate::model::ids::SessionKey;
use crate::model::options::{OptionValue, model_choice};
use crate::model::session::Phase;
use crate::model::session_ref::SessionRef;
use crate::ui::screen::Device;
use std::collections::BTreeMap;

/// What was chosen for an agent, by its command line, in a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelChoice {
    pub command: String,
    pub cwd: String,
    pub model: String,
}

/// What the person wants of models.
#[derive(Default)]
pub struct Models {
    /// Of the command line, for the first session.
    pub named: Option<String>,
    /// The newest last.
    pub chosen: Vec<ModelChoice>,
    /// Remembers a choice; takes no time.
    pub keep: Option<Box<dyn Fn(ModelChoice)>>,
}

/// A model that a session is to have.
struct Wish {
    model: String,
    /// The person has named it for this session.
    is_named: bool,
}

pub(super) struct Wishes {
    models: Models,
    /// By session; nothing where it has been asked for, or none is wished.
    wishes: BTreeMap<SessionKey, Option<Wish>>,
}

impl Wishes {
    pub fn new(models: Models) -> Self {
        Self { models, wishes: BTreeMap::new() }
    }

    /// What is to be set now, or said.
    pub fn look(&mut self, model: &Model) -> Vec<(SessionKey, Result<Intent, String>)> {
        self.wishes.retain(|key, _| model.at(*key).is_some());
        let mut due = Vec::new();
        for (key, session) in model.sessions() {
            if !self.wishes.contains_key(&key) {
                let wish = model.at(key).and_then(|session| self.wish_of(session));
                self.wishes.insert(key, wish);
            }
            let Some(slot) = self.wishes.get_mut(&key).filter(|wish| wish.is_some()) else { continue };
            let Some(at) = model.at(key).filter(|at| at.phase() == Phase::Ready) else { continue };
            let offers = session.settings().any(|option| option.is_category("model"));
            // It may tell of its models after it has opened the session.
            if !offers && at.turn.is_none() {
                continue;
            }
            let Some(wish) = slot.take() else { continue };
            match model_choice(|| session.settings(), &wish.model) {
                Ok((_, _, true)) => {}
                Ok((id, value, false)) => due.push((key, Ok(Intent::SetOption { id, value }))),
                Err(why) if wish.is_named => due.push((key, Err(why))),
                Err(_) => {}
            }
        }
        due
    }

    fn wish_of(&mut self, session: SessionRef<'_>) -> Option<Wish> {
        if session.key() == SessionKey::FIRST
            && let Some(model) = self.models.named.take()
        {
            return Some(Wish { model, is_named: true });
        }
        // An earlier session has its own.
        if !session.begins_anew() {
            return None;
        }
        let is_it = |choice: &&ModelChoice| choice.command == session.agent().command && choice.cwd == session.cwd;
        let chosen = self.models.chosen.iter().rev().find(is_it)?;
        Some(Wish { model: chosen.model.clone(), is_named: false })
    }

    /// The person sets an option.
    pub fn chosen(&mut self, session: Option<SessionRef<'_>>, id: &str, value: &OptionValue) {
        let (Some(session), OptionValue::Id(model)) = (session, value) else { return };
        self.wishes.insert(session.key(), None);
        if !session.settings().any(|option| option.id == *id && option.is_category("model")) {
            return;
        }
        let (command, cwd) = (session.agent().command.clone(), session.cwd.clone());
        let choice = ModelChoice { command, cwd, model: model.clone() };
        self.models.chosen.push(choice.clone());
        if let Some(keep) = &self.models.keep {
            keep(choice);
        }
    }
}

/// Sets the models that are due, and says what cannot be set.
pub(super) fn set<D: Device>(running: &mut Running<D>) {
    for (key, wish) in running.wishes.look(running.engine.model()) {
        match wish {
            Ok(intent) => {
                let news = running.engine.intent_in(key, intent);
                running.news(news);
                running.app.sync(running.engine.model(), running.engine.now());
            }
            Err(why) => running.app.say(why, running.engine.now()),
        }
    }
}
