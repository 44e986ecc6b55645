//! What is written and not sent, one small file for each session.
//!
//! Writes when it is told to; nothing here knows what was written before. A draft of a directory, or of a session that
//! another window has, is of one window of acp-tui, and another takes it over only when that window is gone: it has a file
//! of its own that is locked for as long as it lives. Invariants: a file is whole and the owner's alone; a draft goes only to the session that it is of.

use super::lines;
use super::lock::{Lock, is_locked};
use super::private;
use super::replace::{Durability, Replacement};
use crate::base::digest::digest;
use crate::model::draft::{Draft, Place};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::SystemTime;

/// Bytes that are kept of one draft.
const MAX_TEXT: usize = 4 << 20;
/// Bytes of a file that are read: a control character takes six.
const MAX_FILE: u64 = 6 * MAX_TEXT as u64 + (1 << 20);
/// Files that are kept; the oldest go.
const MAX_FILES: usize = 500;
const VERSION: u32 = 1;
const DRAFT: &str = "draft";
const WINDOW: &str = "window";

#[derive(Serialize, Deserialize)]
struct StoredDraft {
    v: u32,
    agent: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cwd: Option<PathBuf>,
    #[serde(flatten)]
    draft: Draft,
}

/// Where they are kept below the directory of states.
pub fn dir(state: &Path) -> PathBuf {
    state.join("written")
}

/// A session is forgotten, and what was written in it with it.
pub fn forget(state: &Path, agent: &str, id: &str) -> io::Result<()> {
    let place = Place::Session { agent: agent.to_owned(), id: id.to_owned() };
    let drafts = Drafts::new(dir(state));
    for left in drafts.left_behind(&group(&place)) {
        if of_session(&left, &place).is_ok_and(|draft| draft.is_some()) {
            fs::remove_file(left)?;
        }
    }
    drafts.keep(&place, &Draft::default())
}

/// The sessions in which something is written and not sent, each by its agent and its id.
pub fn unsent(state: &Path) -> HashSet<(String, String)> {
    let drafts = Drafts::new(dir(state));
    let files = drafts.files().filter(|(_, name, _)| name.starts_with(DRAFT));
    let kept = files.filter_map(|(path, ..)| read(&path).ok().flatten());
    let unsent = kept.filter(|kept| !Draft { mode: String::new(), ..kept.draft.clone() }.is_empty());
    unsent.filter_map(|kept| Some((kept.agent, kept.session?))).collect()
}

/// The mode that a session is to have again when it goes on; see [`Draft::mode`].
pub fn mode_of(state: &Path, agent: &str, id: &str) -> Option<String> {
    let place = Place::Session { agent: agent.to_owned(), id: id.to_owned() };
    let draft = of_session(&Drafts::new(dir(state)).path(&place), &place).ok().flatten()?;
    Some(draft.mode).filter(|mode| !mode.is_empty())
}

#[derive(Debug)]
pub struct Drafts {
    dir: PathBuf,
    /// The name of this window.
    window: OnceLock<String>,
    /// What says that it lives.
    lock: Mutex<Option<Lock>>,
}

impl Drafts {
    /// Nothing is made before something is kept.
    pub fn new(dir: PathBuf) -> Self {
        Self { dir, window: OnceLock::new(), lock: Mutex::default() }
    }

    /// Keeps a draft in place of the one before; an empty one takes it away.
    pub fn keep(&self, place: &Place, draft: &Draft) -> io::Result<()> {
        let path = self.path(place);
        if draft.is_empty() {
            return match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            };
        }
        self.live()?;
        let (agent, session, cwd) = match place.clone() {
            Place::Session { agent, id } | Place::Beside { agent, id } => (agent, Some(id), None),
            Place::Directory { agent, cwd, .. } => (agent, None, Some(cwd)),
        };
        let kept = StoredDraft { v: VERSION, agent, session, cwd, draft: bounded(draft) };
        let mut file = Replacement::of(&path)?;
        serde_json::to_writer(&mut file, &kept)?;
        file.flush()?;
        file.finish(Durability::Whole)
    }

    /// The draft of a session, and below it what windows that are gone have written while another one had the session. Of
    /// a directory, the newest one that a window has left behind; it is this window's from now on.
    pub fn fetch(&self, place: &Place) -> io::Result<Option<Draft>> {
        self.fetch_of(place, &[])
    }

    /// The same where the agent of a session has had these command lines, too.
    pub fn fetch_of(&self, place: &Place, also: &[String]) -> io::Result<Option<Draft>> {
        let path = self.path(place);
        match place {
            Place::Session { id, .. } => {
                let under = |agent: &String| Place::Session { agent: agent.clone(), id: id.clone() };
                self.joined(place, &path, &also.iter().map(under).collect::<Vec<_>>())
            }
            Place::Beside { .. } => Ok(of_session(&path, place)?),
            Place::Directory { agent, cwd, .. } => {
                let is_its = |kept: &StoredDraft| kept.agent == *agent && kept.cwd.as_ref() == Some(cwd);
                for left in self.left_behind(&group(place)) {
                    // The process that moves it has it.
                    if read(&left).is_ok_and(|kept| kept.is_some_and(|kept| is_its(&kept)))
                        && self.live().is_ok()
                        && fs::rename(&left, &path).is_ok()
                    {
                        return Ok(read(&path)?.map(|kept| kept.draft));
                    }
                }
                Ok(None)
            }
        }
    }

    /// The same of a session. What is below is removed where it was only once it is kept here.
    fn joined(&self, place: &Place, path: &Path, also: &[Place]) -> io::Result<Option<Draft>> {
        let mut found = of_session(path, place)?;
        let mut gone = Vec::new();
        let mut add = |path: PathBuf, place: &Place| {
            if let Ok(Some(draft)) = of_session(&path, place) {
                found = Some(found.take().unwrap_or_default().above(draft));
                gone.push(path);
            }
        };
        for other in also {
            add(self.path(other), other);
        }
        for one in std::iter::once(place).chain(also) {
            // The oldest first.
            self.left_behind(&group(one)).into_iter().rev().for_each(|left| add(left, one));
        }
        if let Some(draft) = found.as_ref().filter(|_| !gone.is_empty()) {
            self.keep(place, draft)?;
            gone.into_iter().try_for_each(fs::remove_file)?;
        }
        Ok(found)
    }

    /// Removes what is too much: the oldest drafts, and what windows that are gone have left of themselves.
    pub fn make_room(&self) -> io::Result<()> {
        let mut drafts = Vec::new();
        for (path, name, changed) in self.files() {
            if name.starts_with(DRAFT) {
                drafts.push((changed, path));
            } else if name.starts_with(WINDOW) && lines::open(&path).is_ok_and(|file| !is_locked(&file)) {
                fs::remove_file(path)?;
            }
        }
        drafts.sort();
        let too_many = drafts.len().saturating_sub(MAX_FILES);
        drafts.into_iter().take(too_many).try_for_each(|(_, path)| fs::remove_file(path))
    }

    fn files(&self) -> impl Iterator<Item = (PathBuf, String, SystemTime)> {
        let entries = fs::read_dir(&self.dir).into_iter().flatten().flatten();
        entries.filter_map(|entry| {
            let changed = entry.metadata().ok().filter(fs::Metadata::is_file)?.modified().ok()?;
            Some((entry.path(), entry.file_name().into_string().ok()?, changed))
        })
    }

    /// Drafts of windows that are gone, the newest first.
    fn left_behind(&self, group: &str) -> Vec<PathBuf> {
        let mut left: Vec<(SystemTime, PathBuf)> = Vec::new();
        for (path, name, changed) in self.files() {
            // Without a window it is the session's own.
            let Some(rest) = name.strip_prefix(group).and_then(|rest| rest.strip_prefix('-')) else { continue };
            let window = rest.split(['-', '.']).next().unwrap_or_default();
            let lock = self.dir.join(window_file(window));
            if window != self.window() && !lines::open(&lock).is_ok_and(|file| is_locked(&file)) {
                left.push((changed, path));
            }
        }
        left.sort_by(|a, b| b.cmp(a));
        left.into_iter().map(|(_, path)| path).collect()
    }

    fn path(&self, place: &Place) -> PathBuf {
        let name = match place {
            Place::Session { .. } => format!("{}.json", group(place)),
            Place::Beside { .. } => format!("{}-{}.json", group(place), self.window()),
            Place::Directory { key, .. } => format!("{}-{}-{}.json", group(place), self.window(), key.0),
        };
        self.dir.join(name)
    }

    /// A name that no other window has, now or later.
    fn window(&self) -> &str {
        self.window.get_or_init(|| {
            let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
            format!("{:x}_{:x}", now.as_nanos(), std::process::id())
        })
    }

    /// Without a lock another window would take what is kept for left behind. The directory may have been removed since.
    fn live(&self) -> io::Result<()> {
        let mut lock = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        let path = self.dir.join(window_file(self.window()));
        if lock.is_none() || !path.is_file() {
            private::make_private_dir(&self.dir)?;
            *lock = Some(Lock::wait(private::private_file().write(true).create_new(true).open(path)?));
        }
        Ok(())
    }
}

impl Drop for Drafts {
    fn drop(&mut self) {
        if self.lock.get_mut().unwrap_or_else(PoisonError::into_inner).is_some() {
            // It is not needed; one that is left is removed later.
            let _ = fs::remove_file(self.dir.join(window_file(self.window())));
        }
    }
}

fn window_file(window: &str) -> String {
    format!("{WINDOW}-{window}")
}

/// What the names of files begin with. They only find: whose a draft is, it says itself.
fn group(place: &Place) -> String {
    match place {
        Place::Session { agent, id } | Place::Beside { agent, id } => {
            format!("{DRAFT}-s-{:016x}", digest(&[agent.as_bytes(), id.as_bytes()]))
        }
        Place::Directory { agent, cwd, .. } => {
            format!("{DRAFT}-d-{:016x}", digest(&[agent.as_bytes(), cwd.as_os_str().as_encoded_bytes()]))
        }
    }
}

/// As much as is kept, from its beginning.
fn bounded(draft: &Draft) -> Draft {
    let mut room = MAX_TEXT;
    let mut cut = |text: &str| {
        let text = &text[..text.floor_char_boundary(room.min(text.len()))];
        room -= text.len();
        text.to_owned()
    };
    let text = cut(&draft.text);
    let command = cut(&draft.command);
    let held = draft.held.iter().map(|prompt| cut(prompt)).collect();
    let aside = draft.aside.iter().map(|text| cut(text)).collect();
    let ran = draft.ran.iter().map(|quoted| cut(quoted)).collect();
    let questions = draft.questions.iter().map(|question| cut(question)).collect();
    let mode = cut(&draft.mode);
    Draft { text, command, held, aside, ran, questions, mode, follows: draft.follows.clone() }
}

/// The draft of a file, if it is of that session.
fn of_session(path: &Path, place: &Place) -> io::Result<Option<Draft>> {
    let (Place::Session { agent, id } | Place::Beside { agent, id }) = place else { return Ok(None) };
    let is_its = |kept: &StoredDraft| kept.agent == *agent && kept.session.as_ref() == Some(id);
    Ok(read(path)?.filter(is_its).map(|kept| kept.draft))
}

/// Nothing where there is none, or none that can be read.
fn read(path: &Path) -> io::Result<Option<StoredDraft>> {
    let file = match lines::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    let mut text = String::new();
    file.take(MAX_FILE).read_to_string(&mut text)?;
    Ok(serde_json::from_str(&text).ok().filter(|kept: &StoredDraft| kept.v == VERSION))
}

#[cfg(test)]
#[path = "drafts_tests.rs"]
mod tests;
