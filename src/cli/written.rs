//! Where what is written on the screen is kept: drafts of sessions and the prompts that were sent.
//!
//! Decides nothing. Invariant: room is made once, when the first is kept or looked for.

use crate::model::draft::{Draft, Place, Sent};
use crate::store::drafts::{self, Drafts};
use crate::store::prompts::Prompts;
use crate::store::sessions::{self, Known};
use crate::ui::autosave::DraftStore;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Once;
use tracing::warn;

pub(super) struct Written {
    state: PathBuf,
    drafts: Drafts,
    prompts: Prompts,
    has_room: Once,
}

impl Written {
    /// `state` is acp-tui's directory for state.
    pub fn new(state: &Path) -> Self {
        let dir = drafts::dir(state);
        let (state, drafts) = (state.to_owned(), Drafts::new(dir.clone()));
        Self { state, drafts, prompts: Prompts::new(dir), has_room: Once::new() }
    }

    /// The other command lines that the agent of a session has had.
    fn also(&self, place: &Place) -> Vec<String> {
        let Place::Session { agent, id } = place else { return Vec::new() };
        let is_it = |known: &&Known| known.session_id == *id && known.is_of(agent) && !known.is_imported;
        let known = sessions::list(&self.state).map(|listing| listing.sessions).unwrap_or_default();
        let others = known.iter().filter(is_it).flat_map(Known::commands).filter(|command| command != agent);
        others.map(str::to_owned).collect()
    }

    /// What cannot be removed now is removed another time.
    fn make_room(&self) {
        self.has_room.call_once(|| drop(self.drafts.make_room()));
    }
}

fn told<T>(result: io::Result<T>) -> Result<T, String> {
    result.map_err(|error| error.to_string())
}

/// Remembers a prompt among those of all sessions; `cwd` is the directory that it was for.
pub(super) fn remember(state: &Path, cwd: &Path, prompt: &str) {
    let sent = Sent { cwd: cwd.to_string_lossy().into_owned(), text: prompt.into() };
    if let Err(error) = Prompts::new(drafts::dir(state)).remember(&sent) {
        // It is sent all the same.
        warn!(kind = ?error.kind(), "a prompt is not remembered");
    }
}

impl DraftStore for Written {
    fn keep(&self, place: &Place, draft: &Draft) -> Result<(), String> {
        told(self.drafts.keep(place, draft))
    }

    fn fetch(&self, place: &Place) -> Result<Option<Draft>, String> {
        let found = told(self.drafts.fetch_of(place, &self.also(place)));
        self.make_room();
        found
    }

    fn remember(&self, sent: &Sent) -> Result<(), String> {
        told(self.prompts.remember(sent))
    }

    fn prompts(&self) -> Result<Vec<Sent>, String> {
        told(self.prompts.list())
    }
}
