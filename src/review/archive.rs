//! The directory of all reviews: what is there, which one is meant, what may go.
//!
//! Opens no review and writes nothing but its lock. Invariants: a review that is open elsewhere is never removed; one
//! that cannot be read is listed all the same, and goes when it is old.

use super::dir::{self, HEAD, LEDGER, LOCK, NUMBER, SESSIONS, write_json};
use super::error::ReviewError;
use super::protocol::{AgentSession, SessionInfo};
use crate::base::paths::visible;
use crate::review::worktree::walk;
use crate::store::lock::is_locked as is_held;
use crate::store::private::{self, check_owner, make_private_dir, open};
use crate::text::width::truncate;
use serde::de::DeserializeOwned;
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// What is kept at most; the oldest goes first.
pub const MAX_SESSIONS: usize = 50;
pub const MAX_BYTES: u64 = 2 << 30;
pub const MAX_AGE: Duration = Duration::from_hours(30 * 24);
/// What the clock said at the starts: since when it has gone on without a jump, and last.
const CLOCK: &str = ".clock";
/// The clock is never taken for right at once: no pause between two runs is that long.
const JUMP: Duration = Duration::from_hours(2 * 24);
const STEADY: Duration = Duration::from_hours(24);
/// How many were removed, until the person is told.
const REMOVED: &str = ".removed";
/// When the person was told last without asking, in seconds since 1970.
const TOLD: &str = ".told";
/// Without a head, a review this young may be about to get one.
const BEGINNING: Duration = Duration::from_hours(1);

/// The newest session of this directory in which something happened, else the newest whose directory is still there.
pub const LAST: &str = "last";
/// Every session, where sessions are removed.
pub const ALL: &str = "all";
/// Columns of a session's id on the screen.
const ID_COLUMNS: usize = 48;
/// Before the name of a review that is being removed.
pub(crate) const GOING: &str = ".going-";
/// Bytes that are read of each of the two.
const MAX_FILE: u64 = 4 << 20;
/// How many are named when a name is ambiguous.
const MAX_NAMED: usize = 8;

/// A review in the directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    pub dir: PathBuf,
    /// The name of `dir`.
    pub stem: String,
    /// Nothing when it cannot be read.
    pub head: Option<SessionInfo>,
    pub sessions: Vec<AgentSession>,
    /// Which sessions it had is not known: the list of them is gone or damaged.
    pub is_nameless: bool,
    /// Seconds since 1970.
    pub started: u64,
    /// Those that began later have higher ones, whether the clock was right or not.
    pub number: u64,
    /// Open elsewhere.
    pub locked: bool,
}

/// The review that is meant, and the session of it when that is what was named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    pub dir: PathBuf,
    pub session: Option<AgentSession>,
}

/// What [`prune`] did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    pub removed: usize,
    pub bytes: u64,
}

/// The directory of all reviews below acp-tui's directory for state.
pub fn below(state: &Path) -> PathBuf {
    state.join("review")
}

/// The directory of what sessions have found true of indexes, beside that of all reviews.
pub fn verified(home: &Path) -> PathBuf {
    home.with_file_name("verified")
}

/// What of the directory for state is the client's alone. A session may be elsewhere in that directory, and is covered.
pub fn private(state: &Path) -> Vec<PathBuf> {
    let rules = ["rules", "rules-trusted.jsonl", "mcp-trusted.jsonl"];
    let told = ["review", "sessions", "listed", "written", "open", "crashes", "log", "audit", "audit-ends", "verified"];
    rules.iter().chain(&told).map(|name| state.join(name)).collect()
}

/// Closes to others what is there of the directory for state. Fails where some of it belongs to another user.
pub fn secure(state: &Path) -> Result<(), ReviewError> {
    for dir in std::iter::once(state.to_owned()).chain(private(state)).filter(|dir| dir.symlink_metadata().is_ok()) {
        check_owner(&dir).map_err(|e| ReviewError::io(&dir, e))?;
        // What cannot be changed is said where something is to be written.
        let _: io::Result<()> = make_private_dir(&dir);
    }
    // Whatever else is there may have been put there for others to look into what comes to be in it.
    for entry in fs::read_dir(state).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            let _: io::Result<()> = make_private_dir(&entry.path());
        }
    }
    Ok(())
}

/// All reviews, the newest first.
pub fn list(home: &Path) -> Vec<Listed> {
    let mut all: Vec<Listed> = dirs(home).map(|(dir, stem)| look(&dir, stem)).collect();
    // By their numbers first: the clock may have been another one.
    all.sort_by(|a, b| (b.number, b.started, &b.stem).cmp(&(a.number, a.started, &a.stem)));
    all
}

/// The directories of all that there are, with their names.
pub fn dirs(home: &Path) -> impl Iterator<Item = (PathBuf, String)> {
    fs::read_dir(home).into_iter().flatten().flatten().filter_map(|entry| {
        // A link is no review.
        let is_dir = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let stem = entry.file_name().to_string_lossy().into_owned();
        (is_dir && !stem.starts_with('.')).then(|| (entry.path(), stem))
    })
}

/// The number of a review that begins now: one more than all that there are.
pub fn next_number(home: &Path) -> u64 {
    let entries = fs::read_dir(home).into_iter().flatten().flatten();
    entries.map(|entry| number_of(&entry.path())).max().unwrap_or(0).saturating_add(1)
}

/// 0 for one that was begun by a version that gave them none.
fn number_of(dir: &Path) -> u64 {
    read(&dir.join(NUMBER)).unwrap_or(0)
}

/// What there is to be said of the one in `dir`, whose name is `stem`.
pub fn look(dir: &Path, stem: String) -> Listed {
    let head: Option<SessionInfo> = read(&dir.join(HEAD));
    let sessions = head.as_ref().and_then(|_| sessions_of(dir));
    let is_nameless = head.is_some() && sessions.is_none();
    let sessions = sessions.unwrap_or_default();
    let started = head.as_ref().map_or_else(|| age_of(dir, &stem), |head| head.started);
    let (number, locked) = (number_of(dir), is_locked(dir));
    Listed { dir: dir.to_owned(), stem, head, sessions, is_nameless, started, number, locked }
}

fn sessions_of(dir: &Path) -> Option<Vec<AgentSession>> {
    read(&dir.join(SESSIONS))
}

/// What is not known of a run whose list of sessions is gone or damaged, in words.
pub fn nameless(dir: &Path) -> Option<String> {
    sessions_of(dir).is_none().then(words_of_nameless)
}

pub(crate) fn words_of_nameless() -> String {
    format!("which sessions this run had is not known: {SESSIONS} in its record is gone or damaged")
}

/// From its name, which begins with the seconds, else from the file system.
fn age_of(dir: &Path, stem: &str) -> u64 {
    let named = stem.split('-').next().and_then(|seconds| seconds.parse().ok());
    let written = || {
        let time = dir.metadata().and_then(|meta| meta.modified()).ok()?;
        Some(time.duration_since(UNIX_EPOCH).ok()?.as_secs())
    };
    named.or_else(written).unwrap_or(0)
}

fn read<T: DeserializeOwned>(path: &Path) -> Option<T> {
    let mut bytes = Vec::new();
    open(path).ok()?.take(MAX_FILE).read_to_end(&mut bytes).ok()?;
    serde_json::from_slice(&bytes).ok()
}

/// Whether a process has it open.
pub fn is_locked(dir: &Path) -> bool {
    open(&dir.join(LOCK)).is_ok_and(|file| is_held(&file))
}

/// A file: which, of how many names, and its bytes.
struct Shared {
    file: (u64, u64),
    names: u64,
    bytes: u64,
}

/// Bytes of all files below that are nowhere else, links not followed; and the others, which only have a name more.
fn measure(dir: &Path) -> (u64, Vec<Shared>) {
    let (mut sum, mut shared, mut open) = (0, Vec::new(), vec![dir.to_owned()]);
    while let Some(place) = open.pop() {
        let Ok(entries) = fs::read_dir(place) else { continue };
        for entry in entries.flatten() {
            let Ok(meta) = entry.metadata() else { continue };
            if meta.is_dir() {
                open.push(entry.path());
                continue;
            }
            match walk::names_of(&meta) {
                (_, 0 | 1) => sum += meta.len(),
                (file, names) => shared.push(Shared { file, names, bytes: meta.len() }),
            }
        }
    }
    (sum, shared)
}

/// Bytes that only this directory has.
pub fn bytes(dir: &Path) -> u64 {
    measure(dir).0
}

/// Nothing has happened that it would know of.
pub fn is_empty(dir: &Path) -> bool {
    dir.join(LEDGER).metadata().is_ok_and(|meta| meta.len() == 0)
}

/// Runs that have changed something and of which nothing can be shown or taken back, since what they were is gone from
/// their records: those that began after this one, or all.
pub fn headless(home: &Path, after: Option<&Path>) -> Vec<String> {
    let has_ledger = |one: &Listed| one.dir.join(LEDGER).metadata().is_ok_and(|meta| meta.len() > 0);
    let later = list(home).into_iter().take_while(|one| Some(one.dir.as_path()) != after);
    later.filter(|one| one.head.is_none() && !one.locked && has_ledger(one)).map(|one| one.stem).collect()
}

/// The review that `name` means: a session's id (the newest that has it in the current directory, else anywhere), the name
/// of a review, a beginning of either that only one has, or [`LAST`]. `cwd` is the current directory.
pub fn find(home: &Path, name: &str, cwd: Option<&Path>) -> Result<Found, ReviewError> {
    let all: Vec<Listed> = list(home).into_iter().filter(|one| one.head.is_some()).collect();
    let nameless: Vec<&str> = all.iter().filter(|one| one.is_nameless).map(|one| one.stem.as_str()).collect();
    let none = || match nameless.get(..MAX_NAMED.min(nameless.len())).unwrap_or_default() {
        [] => ReviewError::NoSession(name.to_owned()),
        some => ReviewError::Refused(format!(
            "no session is called {}; the lists of sessions of these runs are gone or damaged, so that it may be in one of them: {}",
            shown_id(name),
            some.join(", ")
        )),
    };
    let is_here = |one: &&Listed| one.head.as_ref().is_some_and(|head| Some(head.cwd.as_path()) == cwd);
    if name == LAST {
        // A run that never got as far as a session has changed nothing.
        let has_begun = |one: &&Listed| !one.sessions.is_empty() || one.is_nameless && !is_empty(&one.dir);
        let all: Vec<&Listed> = all.iter().filter(has_begun).collect();
        // The demo's directory is gone with it: there is nothing to be put back.
        let there = |one: &&Listed| one.head.as_ref().is_some_and(|head| head.cwd.is_dir());
        // One in which nothing was said is meant only where no other is.
        let first = |fits: &dyn Fn(&&Listed) -> bool| {
            let mut fitting = all.iter().copied().filter(fits);
            let newest = fitting.clone().next();
            fitting.find(|one| !is_empty(&one.dir)).or(newest)
        };
        let newest = first(&is_here).or_else(|| first(&there)).or_else(|| first(&|_| true));
        let newest = newest.ok_or_else(|| ReviewError::Refused("no sessions are kept yet".to_owned()))?;
        return Ok(Found { dir: newest.dir.clone(), session: AgentSession::newest(&newest.sessions).cloned() });
    }
    let of = |one: &Listed, session: &AgentSession| Found { dir: one.dir.clone(), session: Some(session.clone()) };
    let exact = |one: &Listed| one.sessions.iter().find(|s| s.id == name).map(|s| of(one, s));
    if let Some(found) = all.iter().filter(is_here).find_map(exact).or_else(|| all.iter().find_map(exact)) {
        return Ok(found);
    }
    if let Some(one) = all.iter().find(|one| one.stem == name) {
        return Ok(Found { dir: one.dir.clone(), session: None });
    }
    if name.is_empty() {
        return Err(none());
    }
    let mut found: Vec<(String, Found)> = Vec::new();
    for one in &all {
        if one.stem.starts_with(name) {
            found.push((one.stem.clone(), Found { dir: one.dir.clone(), session: None }));
        }
        for session in one.sessions.iter().filter(|s| s.id.starts_with(name)) {
            // The newest is meant when several have the same id.
            if !found.iter().any(|(other, _)| *other == session.id) {
                found.push((session.id.clone(), of(one, session)));
            }
        }
    }
    match found.len() {
        0 => Err(none()),
        1 => found.pop().map(|(_, found)| found).ok_or_else(none),
        _ => {
            let found = found.into_iter().take(MAX_NAMED).map(|(other, _)| shown_id(&other)).collect();
            Err(ReviewError::Ambiguous { name: name.to_owned(), found })
        }
    }
}

/// A session's id on the screen.
pub fn shown_id(id: &str) -> String {
    truncate(&visible(OsStr::new(id)), ID_COLUMNS).into_owned()
}

/// Whether a session can be named by its id: one that is a word with a meaning, that cannot be typed or is shown
/// shortened is named by its directory.
pub fn is_name(id: &str) -> bool {
    !id.trim().is_empty() && ![LAST, ALL].contains(&id) && !id.starts_with('-') && shown_id(id) == id
}

/// What a session's review began with.
pub fn head(dir: &Path) -> Result<SessionInfo, ReviewError> {
    let path = dir.join(HEAD);
    let bytes = private::read(&path).map_err(|e| ReviewError::io(&path, e))?;
    serde_json::from_slice(&bytes).map_err(|e| ReviewError::io(&path, std::io::Error::from(e)))
}

/// Removes a review, unless it is open elsewhere.
pub fn remove(dir: &Path) -> Result<(), ReviewError> {
    let _lock = dir::lock(dir)?;
    let (Some(parent), Some(name)) = (dir.parent(), dir.file_name()) else {
        return Err(ReviewError::Refused(format!("{} is no review", visible(dir.as_os_str()))));
    };
    // All at once for everybody else, however long it takes.
    let mut going = std::ffi::OsString::from(GOING);
    going.push(name);
    let going = parent.join(going);
    fs::rename(dir, &going).map_err(|e| ReviewError::io(dir, e))?;
    fs::remove_dir_all(&going).map_err(|e| ReviewError::io(&going, e))
}

/// Removes the oldest until what is left is within the limits. `keep` is never removed, nor what is open.
///
/// By age only when the clock has gone on for a day without a jump: one that is wrong for a while removes nothing.
pub fn prune(home: &Path, keep: Option<&Path>) -> Pruned {
    prune_at(home, keep, SystemTime::now())
}

fn prune_at(home: &Path, keep: Option<&Path>, now: SystemTime) -> Pruned {
    let age = if is_clock_steady(home, now) { MAX_AGE } else { Duration::MAX };
    let pruned = prune_to(home, keep, &Limits { sessions: MAX_SESSIONS, bytes: MAX_BYTES, age }, now);
    note_removed(home, pruned.removed);
    pruned
}

/// Notes in a directory of ours that so many went, for [`take_removed`].
pub fn note_removed(home: &Path, more: usize) {
    if more > 0 {
        // Then nothing is told.
        let _ = fs::write(home.join(REMOVED), (more + removed(home).unwrap_or(0)).to_string());
    }
}

/// How many sessions were removed since this was last told. `now`: it was not asked for, so that one telling a day will
/// do; where there are as many sessions as are kept, each start removes one.
pub fn take_removed(home: &Path, now: Option<SystemTime>) -> Option<usize> {
    let removed = removed(home)?;
    if let Some(now) = now {
        let now = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let told = read::<u64>(&home.join(TOLD)).and_then(|told| now.checked_sub(told));
        if told.is_some_and(|since| since <= STEADY.as_secs()) {
            return None;
        }
        // Without the note it is told again the next time.
        let _ = write_json(&home.join(TOLD), &now);
    }
    fs::remove_file(home.join(REMOVED)).ok().map(|()| removed)
}

fn removed(home: &Path) -> Option<usize> {
    read(&home.join(REMOVED))
}

/// Whether the clock has been right for a day, as far as anybody knows. Notes what it says in a directory of ours: each has
/// its own. Nothing goes by its age otherwise.
pub fn is_clock_steady(home: &Path, now: SystemTime) -> bool {
    let now = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let (since, last) = read::<(u64, u64)>(&home.join(CLOCK)).unwrap_or((now, now));
    let jumped = now < last || now - last > JUMP.as_secs();
    let since = if jumped { now } else { since };
    // Without the note nothing goes by its age the next time either.
    home.is_dir() && write_json(&home.join(CLOCK), &(since, now)).is_ok() && now - since >= STEADY.as_secs()
}

struct Limits {
    sessions: usize,
    bytes: u64,
    age: Duration,
}

fn prune_to(home: &Path, keep: Option<&Path>, limits: &Limits, now: SystemTime) -> Pruned {
    finish_removals(home);
    let now = now.duration_since(UNIX_EPOCH).unwrap_or_default();
    let mut pruned = Pruned::default();
    let (mut sessions, mut sum, mut full, mut counted) = (0, 0, false, HashSet::new());
    // From the newest on: from where the limits are reached, everything older goes.
    let sized: Vec<_> = list(home).into_iter().map(|one| (measure(&one.dir), one)).collect();
    // What the person has removed and several reviews still have costs once.
    let mut names: HashMap<(u64, u64), u64> = HashMap::new();
    sized.iter().flat_map(|((_, shared), _)| shared).for_each(|s| *names.entry(s.file).or_default() += 1);
    for ((size, shared), one) in sized {
        let ours = shared.iter().filter(|s| names.get(&s.file).is_some_and(|n| *n >= s.names));
        let last: u64 = ours.filter(|s| counted.insert(s.file)).map(|s| s.bytes).sum();
        let size = size + last;
        let age = now.saturating_sub(Duration::from_secs(one.started));
        full = full || sessions >= limits.sessions || sum + size > limits.bytes || age > limits.age;
        let stays = one.locked || keep == Some(one.dir.as_path()) || one.head.is_none() && age < BEGINNING;
        if full && !stays && remove(&one.dir).is_ok() {
            pruned.removed += 1;
            pruned.bytes += size;
        } else {
            sessions += 1;
            sum += size;
        }
    }
    pruned
}

/// Removals that were interrupted.
fn finish_removals(home: &Path) {
    let Ok(entries) = fs::read_dir(home) else { return };
    for entry in entries.flatten() {
        if entry.file_name().to_string_lossy().starts_with(GOING) {
            // The next one tries again.
            let _: io::Result<()> = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
#[path = "archive_tests.rs"]
mod tests;
