//! The directory of the review that is open: what it is about, the agent's sessions, the lock, and what went wrong.
//!
//! What is in its ledger and its store is for others. Invariant: only one process has it open.

use crate::host::fs::Private;
use crate::review::archive::{self, Listed};
use crate::review::dir::{self, HEAD, LEDGER, NUMBER, SESSIONS, last_sign, lock, read_json, write_json};
use crate::review::error::ReviewError;
use crate::review::protocol::{AgentSession, SessionInfo};
use crate::review::snapshot::Snapshot;
use crate::review::worktree::git_dirs;
use crate::store::lock::Lock;
use crate::store::private::{check_owner, make_private_dir};
use std::cell::RefCell;
use std::collections::HashMap;
use std::fs::File;
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use tempfile::TempDir;

pub struct SessionDir {
    path: PathBuf,
    head: SessionInfo,
    sessions: Vec<AgentSession>,
    /// The list of them was gone or damaged when it was read.
    is_nameless: bool,
    /// Open elsewhere as long as its lock is held.
    lock: Lock,
    /// Why what is known is not all, where that could not be written down.
    unwritten: RefCell<Option<String>>,
    /// It is a copy of what was recorded, and goes with the review.
    copy: Option<TempDir>,
    /// What was read of the directories beside it, by their names.
    others: RefCell<HashMap<String, Other>>,
}

/// Another run, as far as it has to be read once only.
enum Other {
    /// It works elsewhere.
    Far,
    /// It works in the same tree; with the bytes of its ledger when it was looked at.
    Near(Listed, Option<u64>),
}

impl SessionDir {
    /// A new one below `home`, the directory of all reviews.
    pub fn create(home: &Path, head: SessionInfo) -> Result<Self, ReviewError> {
        let path = home.join(&head.stem);
        for dir in [home, &path] {
            make_private_dir(dir).map_err(|e| ReviewError::io(dir, e))?;
        }
        let lock = lock(&path)?;
        dir::make_room_for_trouble(&path)?;
        write_json(&path.join(NUMBER), &archive::next_number(home))?;
        write_json(&path.join(HEAD), &head)?;
        write_json(&path.join(SESSIONS), &Vec::<AgentSession>::new())?;
        Ok(Self {
            path,
            head,
            sessions: Vec::new(),
            is_nameless: false,
            lock,
            unwritten: RefCell::default(),
            copy: None,
            others: RefCell::default(),
        })
    }

    /// That of an earlier session.
    pub fn open(path: &Path) -> Result<Self, ReviewError> {
        check_owner(path).map_err(|e| ReviewError::io(path, e))?;
        let lock = lock(path)?;
        Self::read(path, lock)
    }

    /// The copy of one.
    pub fn open_copy(copy: TempDir) -> Result<Self, ReviewError> {
        let mut dir = Self::read(copy.path(), lock(copy.path())?)?;
        dir.copy = Some(copy);
        Ok(dir)
    }

    fn read(path: &Path, lock: Lock) -> Result<Self, ReviewError> {
        let head: SessionInfo = read_json(&path.join(HEAD))?;
        let sessions: Option<Vec<AgentSession>> = read_json(&path.join(SESSIONS)).ok();
        let (is_nameless, sessions) = (sessions.is_none(), sessions.unwrap_or_default());
        Ok(Self {
            path: path.to_owned(),
            head,
            sessions,
            is_nameless,
            lock,
            unwritten: RefCell::default(),
            copy: None,
            others: RefCell::default(),
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Further directories that the agent works in, in words.
    pub fn beside(&self) -> Option<String> {
        let names = self.head().directories.iter().map(|dir| super::shown(dir));
        let why = "what is written there is not looked at, and an undo leaves it";
        (names.len() > 0).then(|| {
            format!("directories besides the session's own ({why}): {}", git_dirs::some(names, super::FEW_NAMED))
        })
    }

    pub const fn head(&self) -> &SessionInfo {
        &self.head
    }

    /// Sessions of the agent, oldest first.
    pub fn sessions(&self) -> &[AgentSession] {
        &self.sessions
    }

    pub const fn is_copy(&self) -> bool {
        self.copy.is_some()
    }

    /// The agent has opened one more. One that was asked aside is none any more once it is named as another.
    pub fn add_session(&mut self, mut session: AgentSession) -> Result<(), ReviewError> {
        for known in self.sessions.iter_mut().filter(|known| known.id == session.id) {
            known.is_aside &= session.is_aside;
            session.has_changed |= known.has_changed;
        }
        self.sessions.push(session);
        write_json(&self.path.join(SESSIONS), &self.sessions)
    }

    /// A turn of the session has changed something. Of one that was not asked aside nobody wants to know it.
    pub fn has_changed(&mut self, id: &str) -> Result<(), ReviewError> {
        let is_news = |known: &&mut AgentSession| known.id == id && known.is_aside && !known.has_changed;
        let mut news = self.sessions.iter_mut().filter(is_news).peekable();
        if news.peek().is_none() {
            return Ok(());
        }
        news.for_each(|known| known.has_changed = true);
        write_json(&self.path.join(SESSIONS), &self.sessions)
    }

    /// What says whose the run is stands there again as it was written, whoever has removed or changed it meanwhile.
    pub fn restore(&self) {
        if self.is_copy() {
            return;
        }
        // What cannot be written is said where the run is looked for.
        if read_json::<SessionInfo>(&self.path.join(HEAD)).ok().as_ref() != Some(&self.head) {
            let _ = write_json(&self.path.join(HEAD), &self.head);
        }
        let list = self.path.join(SESSIONS);
        if !self.is_nameless && read_json::<Vec<AgentSession>>(&list).ok().as_ref() != Some(&self.sessions) {
            let _ = write_json(&list, &self.sessions);
        }
    }

    /// What is not known of its sessions, in words.
    pub fn nameless(&self) -> Option<String> {
        self.is_nameless.then(archive::words_of_nameless)
    }

    /// A sign for after a crash.
    pub fn still_here(&self) {
        // Without it only the agent's last word counts.
        let mut lock: &File = &self.lock;
        let _ = lock.seek(SeekFrom::Start(0)).and_then(|_| lock.write_all(b"\n"));
    }

    /// When the session was last heard of.
    pub fn last_sign(&self) -> SystemTime {
        last_sign(&self.path, &self.head.stem)
    }

    /// What the client keeps for itself: what it was when the session began, and where its review is now.
    pub fn private(&self) -> Private {
        let home = self.path.parent().unwrap_or(&self.path).to_owned();
        let state = home.parent().filter(|state| archive::below(state) == home);
        let beside = state.map(archive::private).unwrap_or_default();
        Private::new(self.head.private.iter().cloned().chain([home]).chain(beside))
    }

    /// Whether another process works in the same tree: a file under a name of ours may be theirs.
    pub fn is_shared(others: &[Listed]) -> bool {
        others.iter().any(|one| one.locked)
    }

    /// Other runs in the same tree, or in one around or below it. Of one that was over, and has written nothing since, only
    /// the length of its ledger is asked: who goes on with it writes there first.
    pub fn others(&self) -> Vec<Listed> {
        let mine: &PathBuf = &self.head.cwd;
        let meets = |cwd: &PathBuf| cwd.starts_with(mine) || mine.starts_with(cwd);
        let mut known = self.others.borrow_mut();
        let mut near = Vec::new();
        for (dir, stem) in self.path.parent().into_iter().flat_map(archive::dirs).filter(|(dir, _)| *dir != self.path) {
            let written = dir.join(LEDGER).metadata().ok().map(|meta| meta.len());
            match known.get(&stem) {
                Some(Other::Far) => continue,
                Some(Other::Near(run, then)) if !run.locked && *then == written => {
                    near.push(run.clone());
                    continue;
                }
                _ => {}
            }
            let run = archive::look(&dir, stem.clone());
            // One that has no head yet may be about to get it.
            let Some(head) = &run.head else { continue };
            if meets(&head.cwd) {
                near.push(run.clone());
                known.insert(stem, Other::Near(run, written));
            } else {
                known.insert(stem, Other::Far);
            }
        }
        near
    }

    /// Notes that a look has failed.
    pub fn note_trouble(&self, why: &ReviewError) {
        dir::note_trouble(&self.path, why);
        if dir::trouble(&self.path).is_none() {
            self.unwritten.borrow_mut().get_or_insert_with(|| dir::words_of_trouble(why));
        }
    }

    /// Notes that what the files were when they were looked at last is not there any more.
    pub fn note_lost(&self) {
        let words = "what the files were when they were looked at last is gone from its record: changes may be missing";
        dir::note_words(&self.path, words);
        if dir::trouble(&self.path).is_none() {
            self.unwritten.borrow_mut().get_or_insert_with(|| words.to_owned());
        }
    }

    /// Why what is known of the files may not be all, in words.
    pub fn trouble(&self) -> Option<String> {
        dir::trouble(&self.path).or_else(|| self.unwritten.borrow().clone())
    }

    /// Notes that the session's working directory is not there: what is known is not all. Or that it is back.
    pub fn note_root(&self, snapshot: &Snapshot) {
        match root_stands(snapshot) {
            Err(error) if snapshot.root.is_lost() => dir::note_root_lost(&self.path, &error),
            Err(_) => {}
            Ok(()) => dir::root_is_back(&self.path),
        }
    }
}

impl Drop for SessionDir {
    fn drop(&mut self) {
        self.restore();
    }
}

/// Whether the session's working directory is there, and no other.
pub fn root_stands(snapshot: &Snapshot) -> Result<(), ReviewError> {
    snapshot.root.words().map_or(Ok(()), |words| Err(ReviewError::Refused(words)))
}

#[cfg(test)]
#[path = "directory_tests.rs"]
mod tests;
