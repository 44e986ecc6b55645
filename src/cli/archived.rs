//! The reviews that earlier starts have left: where they lie, and what is said of them beside a list.
//!
//! Reads the archive and takes nothing back; knows of no command.

use super::output::say;
use super::usage::Usage;
use crate::base::human;
use crate::config::dirs::{Dirs, Env};
use crate::model::changes::Totals;
use crate::review::archive::{self, Listed};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The directory of all reviews.
pub(super) fn reviews() -> Result<PathBuf, Usage> {
    let dirs = Dirs::new(Env::read(|name| std::env::var_os(name)));
    let dirs = dirs.ok_or_else(|| Usage("no home directory, so no sessions are kept".into()))?;
    archive::secure(&dirs.state).map_err(|e| Usage(e.to_string()))?;
    Ok(archive::below(&dirs.state))
}

/// Says how a session is named that an agent has called like a word of ours.
pub(super) fn say_namesakes(all: &[Listed], word: &str) {
    for one in all.iter().filter(|one| one.sessions.iter().any(|session| session.id == word)) {
        say(&format!("`{word}` is not taken for the session whose id that is; it is named {}", one.stem));
    }
}

/// Says how many sessions earlier starts have removed, once; see [`archive::take_removed`].
pub(super) fn say_removed(home: &Path, now: Option<SystemTime>) {
    if let Some(removed) = archive::take_removed(home, now) {
        let sessions = human::count(removed as u64, "session");
        say(&format!("{sessions} removed, since at most 50 sessions, 2 GiB and 30 days are kept"));
    }
}

/// The same of conversations, which go only where the configuration says how many are kept.
pub(super) fn say_conversations_removed(state: &Path, now: SystemTime) {
    if let Some(removed) = archive::take_removed(state, Some(now)) {
        let conversations = human::count(removed as u64, "conversation");
        say(&format!("{conversations} removed, since the configuration limits what is kept ([sessions] keep)"));
    }
}

/// `+a −r in n files · k to review`.
pub(super) fn sums(totals: Totals) -> String {
    if totals.is_empty() {
        return "no changes".to_owned();
    }
    let files = human::count(totals.files, "file");
    format!("+{} −{} in {files} · {} to review", totals.added, totals.removed, totals.pending)
}
