//! What a session does about its directory when that is gone or another.
//!
//! Which one it was is for the snapshot. Invariant: nothing is written where something else stands in its place.

use super::ReviewSession;
use crate::review::dir;
use crate::review::error::ReviewError;
use crate::review::history::ledger::FileDecision;

impl ReviewSession {
    /// Whether the session's directory is there, and no other.
    pub fn root_stands(&self) -> Result<(), ReviewError> {
        self.files.snapshot.root_words().map_or(Ok(()), |words| Err(ReviewError::Refused(words)))
    }

    /// Notes at the end of a turn that the directory is not there: what is known is not all. Or that it is back.
    pub(crate) fn note_root(&self) {
        match self.root_stands() {
            Err(error) if self.files.snapshot.is_root_lost() => dir::note_root_lost(&self.dir, &error),
            Err(_) => {}
            Ok(()) => dir::root_is_back(&self.dir),
        }
    }

    /// Refuses what could not be carried out since something stands in the place of the directory.
    pub(crate) fn look_at_root(&self, files: &[FileDecision]) -> Result<(), ReviewError> {
        if files.iter().any(|f| f.disk.0 != f.disk.1) { self.files.snapshot.free_root() } else { Ok(()) }
    }

    /// Makes the directory anew when some of these files are to be in it.
    pub(crate) fn make_root(&mut self, files: &[FileDecision]) -> Result<(), ReviewError> {
        self.look_at_root(files)?;
        let comes = files.iter().any(|f| f.disk.0 != f.disk.1 && !f.disk.1.is_absent());
        if comes {
            self.files.snapshot.make_root()?;
            self.note_root();
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "directory_tests.rs"]
mod tests;
