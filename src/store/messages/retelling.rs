//! A history that an agent tells again only when it has answered the call to load its session, and was asked something more.
//!
//! What is known of the session is asked for when a prompt is told by then, and not before.

use crate::model::entry::{Body, ChunkKind};
use crate::model::event::Update;
use crate::model::reduce::Sifting;

/// Prompts that are remembered.
const MAX_TOLD: usize = 10_000;

/// A session that was loaded.
#[derive(Default)]
pub struct Retelling {
    /// Prompts that were told before.
    told: Vec<String>,
    /// What was asked since, and when.
    asked: Option<(String, f64)>,
    /// The agent has said something to that.
    spoke: bool,
    /// The turn has ended.
    is_behind: bool,
    sifting: Option<Sifting>,
}

impl Retelling {
    pub fn has_told(&mut self, prompt: &str) {
        if self.told.len() < MAX_TOLD {
            self.told.push(prompt.to_owned());
        }
    }

    /// False: something was asked before, and no history comes any more.
    pub fn asks(&mut self, prompt: &str, t: f64) -> bool {
        if self.asked.is_some() {
            return false;
        }
        self.asked = Some((prompt.to_owned(), t));
        if let Some(sifting) = &mut self.sifting {
            sifting.asks(prompt.to_owned(), false);
        }
        true
    }

    /// What of an update is no history. `known` is what was said in the session before a moment.
    pub fn sift(&mut self, update: Update, t: f64, known: impl FnOnce(f64) -> Vec<Body>) -> Vec<Update> {
        let is_prompt = matches!(
            update,
            Update::Chunk { kind: ChunkKind::User, .. }
                | Update::Part { kind: ChunkKind::User, .. }
                | Update::Message { kind: ChunkKind::User, .. }
                | Update::Whole { kind: ChunkKind::User, .. }
        );
        if self.sifting.is_none() && is_prompt {
            let running = self.asked.as_ref().filter(|_| !self.is_behind);
            let mut sifting = Sifting::of(known(running.map_or(t, |(_, t)| *t)), &self.told);
            if let Some((prompt, _)) = running {
                sifting.asks(prompt.clone(), self.spoke);
            }
            self.sifting = Some(sifting);
        }
        self.spoke = true;
        match &mut self.sifting {
            Some(sifting) => sifting.sift(update),
            None => vec![update],
        }
    }

    /// The turn has ended: what of it was waited with.
    pub fn turn_over(&mut self) -> Vec<Update> {
        self.is_behind = true;
        self.sifting.as_mut().map(Sifting::turn_over).unwrap_or_default()
    }
}
