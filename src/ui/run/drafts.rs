//! What the loop does with drafts that were kept and prompts that were sent.
//!
//! Holds nothing of its own. Invariant: what comes back is put before what has been written since, and is never sent.

use super::{Running, asides};
use crate::model::draft::Sent;
use crate::model::event::{Before, Intent, QueueAct, Words};
use crate::ui::autosave::Brought;
use crate::ui::frame::Urgency;
use crate::ui::screen::Device;
use crate::ui::state::session_view::ModeBack;
use std::sync::Arc;
use tracing::warn;

impl<D: Device> Running<D> {
    /// A prompt goes out: it is among those that can be found again, first of all.
    pub(super) fn remember(&mut self, text: &str) {
        let Some(cwd) = self.engine.model().session_of(self.app.shown()).map(|session| session.cwd.clone()) else {
            return;
        };
        let sent = Sent { cwd, text: Arc::from(text) };
        let others = self.app.prompts.iter().filter(|other| other.text != sent.text);
        self.app.prompts = std::iter::once(&sent).chain(others).cloned().collect();
        self.autosave.remember(sent);
    }

    pub(super) fn brought(&mut self, brought: Brought) {
        let now = self.engine.now();
        match brought {
            Brought::Draft(key, draft) => {
                let session = self.engine.model().at(key);
                let can_wait = session.is_some_and(|session| session.read_only().is_none() && !session.is_closed());
                let may_run = session.is_some_and(|session| session.read_only().is_none());
                let mut draft = self.autosave.fetched(key, draft, can_wait);
                let mode = draft.as_mut().map(|draft| std::mem::take(&mut draft.mode)).filter(|mode| !mode.is_empty());
                if let (Some(id), Some(view)) = (mode, self.app.view_of(key)) {
                    view.mode_back = Some(ModeBack { id, is_asked: false });
                    asides::go_on(self);
                }
                let draft = draft.filter(|draft| !draft.is_empty());
                if let Some((draft, view)) = draft.zip(self.app.view_of(key)) {
                    view.composer.bring(&draft.text, &draft.command, may_run);
                    let aside = draft.aside.len();
                    view.stash.splice(0..0, draft.aside);
                    let words = match aside {
                        0 => "what you had written is here again".to_owned(),
                        n => format!("what you had written is here again, {n} put aside"),
                    };
                    self.app.say(words, now);
                    if let Some(before) = draft.follows {
                        let news = self.engine.intent_in(key, Intent::Follows(Before { session: key, ..before }));
                        self.news(news);
                    }
                    if !draft.held.is_empty() {
                        let held = draft.held.into_iter().map(|text| Words { text, links: Vec::new() }).collect();
                        let news = self.engine.intent_in(key, Intent::Queue(QueueAct::Restore(held)));
                        self.news(news);
                    }
                }
            }
            Brought::Prompts(all) => self.app.recall(self.engine.model(), all),
            Brought::Failed(why) => {
                warn!(%why, "drafts or prompts cannot be kept");
                self.app.say(format!("what is written is not kept on the disk: {why}"), now);
            }
        }
        self.frames.want(Urgency::NextFrame, now);
    }
}
