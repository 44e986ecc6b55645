//! Side questions: a session beside the conversation is opened, asked, and thrown away or kept.
//!
//! Invariant: there is one at a time; the conversation that it is asked beside is not touched.

use super::Running;
use crate::model::account;
use crate::model::event::{Can, Intent, Opening};
use crate::model::session::Phase;
use crate::ui::labels;
use crate::ui::screen::Device;
use crate::ui::state::aside::Aside;

impl<D: Device> Running<D> {
    /// Asks on a copy of the conversation where the agent makes one, else in a new session with an account of it.
    pub(super) fn ask_aside(&mut self, question: String) {
        self.throw_away();
        let Some(shown) = self.engine.model().at(self.app.shown()) else { return };
        if shown.phase() != Phase::Ready {
            return self.app.say("a side question needs a session that is open", self.engine.now());
        }
        let (beside, agent, cwd) = (shown.key(), shown.agent_key(), shown.cwd.clone());
        let from = shown.id.clone().filter(|_| shown.agent().can(Can::Fork));
        let text = match from {
            Some(_) => format!("A side question; answer it in a few words and change nothing: {question}"),
            None => {
                let account = account::of_session(shown.session(), self.engine.history(), &labels::agent(shown));
                format!("{account}\n\nA side question; answer it in a few words and change nothing:\n{question}")
            }
        };
        let before = self.engine.model().sessions().count();
        let how = Opening::Aside { beside, from };
        let news = self.engine.intent_to(agent.into(), Intent::OpenSession { cwd, how });
        self.news(news);
        let Some((key, _)) = self.engine.model().sessions().nth(before) else { return };
        let news = self.engine.intent_in(key, Intent::Prompt { text, links: Vec::new() });
        self.news(news);
        self.app.asides.open = Some(Aside { key, beside, question, scroll: 0 });
    }

    /// Nothing of it stays, with the agent neither where that can forget.
    pub(super) fn throw_away(&mut self) {
        let Some(aside) = self.app.asides.open.take() else { return };
        let Some(session) = self.engine.model().at(aside.key) else { return };
        let (id, agent, can_delete) = (session.id.clone(), session.agent_key(), session.agent().can(Can::Delete));
        let news = self.engine.intent_in(aside.key, Intent::CloseSession);
        self.news(news);
        if let Some(id) = id.filter(|_| can_delete) {
            self.app.asides.thrown_away = Some(id.clone());
            let news = self.engine.intent_to(agent.into(), Intent::DeleteSession { id });
            self.news(news);
        }
    }

    /// From now on it is a session like any other.
    pub(super) fn keep_aside(&mut self) {
        let Some(aside) = self.app.asides.open.take() else { return };
        let news = self.engine.intent_in(aside.key, Intent::KeepAside);
        self.news(news);
        let now = self.engine.now();
        self.app.sync(self.engine.model(), now);
        self.app.say("kept as a session of its own · Ctrl+PageDown goes there", now);
    }
}
