//! Earlier sessions for the list on the screen, from the journals.
//!
//! Reads and removes, opens none. Invariant: a session that an acp-tui has open is never removed.

use super::args::Common;
use super::conversations;
use super::earlier::{self, Going};
use super::launch::Surroundings;
use super::usage::Usage;
use crate::base::paths::visible;
use crate::config::agents;
use crate::config::schema::Config;
use crate::store::sessions::{self, Known, State};
use crate::ui::past::{Archive, Held};
use crate::ui::state::session_list::{Earlier, End, Starts};
use std::collections::HashMap;
use std::path::PathBuf;
use std::time::SystemTime;

pub(super) struct Journals {
    state: PathBuf,
    config: Config,
}

impl Journals {
    /// `state` is acp-tui's directory for state.
    pub fn new(state: PathBuf, config: Config) -> Self {
        Self { state, config }
    }
}

impl Archive for Journals {
    fn list(&self) -> Result<Vec<Earlier>, String> {
        let listing = sessions::list(&self.state).map_err(|error| error.to_string())?;
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let configured = agents::list(&self.config);
        let starts = |known: &Known| {
            let Some(words) = known.argv() else { return Starts::Unknown };
            let Some((command, args)) = words.split_first() else { return Starts::Unknown };
            let is_it = |listed: &&agents::Listed| listed.agent.command == *command && listed.agent.args == args;
            match configured.iter().find(is_it) {
                // By this name it is among those that can be added.
                Some(listed) => Starts::Configured(listed.agent.name.clone()),
                None => Starts::Recorded(words),
            }
        };
        let mut gone: HashMap<PathBuf, bool> = HashMap::new();
        let mut commands: HashMap<String, Starts> = HashMap::new();
        let earlier = |known: Known| {
            let is_gone = *gone.entry(known.cwd.clone()).or_insert_with(|| !known.cwd.is_dir());
            let starts = commands.entry(known.command.clone()).or_insert_with(|| starts(&known)).clone();
            let age = now.saturating_sub(known.updated).as_secs();
            let end = match known.state {
                State::Open => End::Open,
                State::Interrupted => End::Interrupted,
                State::Ended => End::Ended,
            };
            let one = Earlier::clean(known.session_id, &known.agent, known.command, starts, known.cwd);
            let one = one.about(known.title.as_deref(), known.first_prompt.as_deref(), known.last_prompt.as_deref());
            one.used(age, known.turns, end, known.journals, is_gone)
        };
        Ok(listing.sessions.into_iter().filter(|known| !known.is_empty()).map(earlier).collect())
    }

    fn claim(&self, earlier: &Earlier) -> Result<Option<Held>, String> {
        // It may have ended since it was listed.
        let open = earlier.journals.iter().rev().find(|journal| sessions::is_open(journal));
        let open = open.filter(|_| earlier.end == End::Open);
        let claim = earlier::claimed(Some(&self.state), &earlier.command, &earlier.id, open.map(PathBuf::as_path));
        Ok(claim?.map(|claim| -> Held { Box::new(claim) }))
    }

    fn busy(&self, earlier: &Earlier) -> Option<String> {
        (!earlier.cwd.is_dir()).then(|| format!("its directory is gone: {}", visible(earlier.cwd.as_os_str())))
    }

    fn forget(&self, earlier: &Earlier) -> Result<(), String> {
        let row = conversations::find_known(&self.state, |known| is_it(known, earlier))?;
        conversations::remove(&row)
    }
}

fn is_it(known: &Known, earlier: &Earlier) -> bool {
    known.session_id == earlier.id && known.journals == earlier.journals
}

/// The session that was chosen, as the journals know it now.
pub(super) fn going(chosen: &Earlier, common: &Common, surroundings: &Surroundings) -> Result<Going, Usage> {
    let none = || Usage("the session is not there any more".into());
    let dirs = surroundings.dirs.as_ref().ok_or_else(none)?;
    let row = conversations::find_known(&dirs.state, |known| is_it(known, chosen)).map_err(Usage)?;
    earlier::going(row.known, common, surroundings)
}
