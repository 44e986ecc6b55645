//! A history that is told late, beside what is known of its session: for who reads frames without a model.
//!
//! What of it is new is found out by what finds it out for the transcript. Reads nothing itself.

use super::retold::{bare, holds};
use super::{Cx, late, update};
use crate::model::entry::{Body, ChunkKind, UserMessage, UserState};
use crate::model::event::Update;
use crate::model::history::{Kind, fingerprint};
use crate::model::ids::{EntryId, Now, TurnId};
use crate::model::session::{Session, Turn};
use crate::model::spent::Waits;
use std::num::NonZeroU64;

/// A session whose agent has answered the call to load it.
pub struct Sifting(Session);

impl Sifting {
    /// `known` is what was said before, `told` are the prompts that its agent has told again before it answered, and
    /// `since` what it has told behind the last of them.
    pub fn of(known: impl IntoIterator<Item = Body>, told: &[String], since: &[Body]) -> Self {
        let mut session = Session::default();
        for body in known {
            let id = session.entries.push(TurnId::default(), Now::ZERO, body);
            session.entries.finish(id);
        }
        let slots = session.entries.slots().enumerate().filter(|(_, slot)| slot.kind() == Kind::User);
        let prompts: Vec<(EntryId, Option<NonZeroU64>)> =
            slots.map(|(at, slot)| (session.entries.id_at(at), slot.fingerprint())).collect();
        let (mut next, mut is_last) = (0, false);
        for text in told {
            let print = Some(fingerprint(text));
            let at = prompts.iter().skip(next).position(|(_, own)| *own == print);
            let holds_next = || {
                let (prompt, _) = prompts.get(next)?;
                let Body::User(user) = &session.entries.get(*prompt)?.body else { return None };
                holds(&bare(text), &bare(&user.text)).then_some(0)
            };
            let at = at.or_else(holds_next);
            (next, is_last) = (at.map_or(next, |at| next + at + 1), at.is_some());
        }
        let last = next
            .checked_sub(1)
            .and_then(|at| prompts.get(at))
            .map(|(prompt, _)| (*prompt, is_last.then(|| late::left_of(&session, *prompt, since.iter())).flatten()));
        session.late = Some(Box::new(late::after(&session, last)));
        Self(session)
    }

    /// This was told since, behind the answer; only the beginning of a prompt is still waited with.
    pub fn heard(&mut self, updates: impl IntoIterator<Item = Update>) {
        for update in updates {
            self.sift(update);
        }
        let is_prompt = |update: &Update| late::words(update).is_some_and(|(kind, _)| kind == ChunkKind::User);
        if let Some(late) = &mut self.0.late {
            late.held.retain(is_prompt);
        }
    }

    /// This was asked, and something was said since.
    pub fn asks(&mut self, prompt: String, spoke: bool) {
        let session = &mut self.0;
        let (links, id) = (Vec::new(), TurnId::default());
        let user = UserMessage { text: prompt.clone(), links, state: UserState::Sent, message_id: None, sent: None };
        let entry = session.entries.push(id, Now::ZERO, Body::User(user));
        session.entries.finish(entry);
        session.turn = Some(Turn {
            goes_on: false,
            id,
            entry,
            is_taken: true,
            started: Now::ZERO,
            waits: Waits::default(),
            heard: Now::ZERO,
            cancelling: None,
            links: Vec::new(),
            is_unsent: false,
            spoke,
            prompt,
            echo: String::new(),
            unechoed: Vec::new(),
        });
    }

    /// What of an update is no history.
    pub fn sift(&mut self, update: Update) -> Vec<Update> {
        let shown = late::sift(&mut self.0, update);
        self.take(&shown);
        shown
    }

    /// The turn has ended: what of it was waited with.
    pub fn turn_over(&mut self) -> Vec<Update> {
        let shown = late::rest(&mut self.0);
        self.take(&shown);
        late::turn_ended(&mut self.0);
        self.0.turn = None;
        shown
    }

    fn take(&mut self, shown: &[Update]) {
        let mut cx = Cx::new(Now::ZERO);
        for update in shown {
            update::take(&mut self.0, update.clone(), &mut cx);
        }
    }
}
