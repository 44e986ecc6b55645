//! The directory of one session's review: its files, and who has it open.

use super::error::ReviewError;
use crate::store::lock::Lock;
use crate::store::private::{open_as, private_file, read};
use crate::store::replace::{Durability, Replacement};
use std::fs::{File, TryLockError};
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// An agent whose client was killed may go on for so long.
pub const AFTERMATH: Duration = Duration::from_secs(10);
/// The signs may be so much older than the end.
pub const SIGN_LAG: Duration = Duration::from_millis(500);
/// Files of a session's directory.
pub const HEAD: &str = "head.json";
/// Counts the sessions.
pub const NUMBER: &str = "number";
pub const SESSIONS: &str = "sessions.json";
pub const LEDGER: &str = "ledger.jsonl";
pub const LOCK: &str = "lock";
pub const STORE: &str = "store";
/// What went wrong; made as long as this from the start, since there may be no room later.
pub const TROUBLE: &str = "trouble";
const TROUBLE_BYTES: usize = 512;
/// At the end of it: only the session's directory is not there, which may come back.
const OF_ROOT: u8 = b'\0';

/// When the session was last heard of: its ledger or its journal was written then, or its lock touched.
pub fn last_sign(dir: &Path, stem: &str) -> SystemTime {
    let journal = dir.ancestors().nth(2).map(|state| state.join("sessions").join(format!("{stem}.jsonl")));
    let signs = [Some(dir.join(LEDGER)), Some(dir.join(LOCK)), journal];
    let written = signs.into_iter().flatten().filter_map(|path| path.metadata().and_then(|m| m.modified()).ok());
    written.max().unwrap_or(SystemTime::UNIX_EPOCH)
}

/// No other process may have the session open meanwhile.
pub fn lock(dir: &Path) -> Result<Lock, ReviewError> {
    let path = dir.join(LOCK);
    let fail = |e| ReviewError::io(&path, e);
    let file = open_as(private_file().create(true).truncate(false).write(true), &path).map_err(fail)?;
    Lock::take(file).map_err(|error| match error {
        TryLockError::WouldBlock => ReviewError::Locked,
        TryLockError::Error(error) => fail(error),
    })
}

/// Makes room for a word on what will have gone wrong.
pub fn make_room_for_trouble(dir: &Path) -> Result<(), ReviewError> {
    let path = dir.join(TROUBLE);
    let file = open_as(private_file().write(true).create(true).truncate(true), &path);
    file.and_then(|mut file| file.write_all(&[b' '; TROUBLE_BYTES])).map_err(|e| ReviewError::io(&path, e))
}

/// Notes that a look has failed: what is known of the files is not all from now on.
pub fn note_trouble(dir: &Path, why: &ReviewError) {
    note(dir, words_of_trouble(why), b' ');
}

/// The same of something else that is missing.
pub fn note_words(dir: &Path, words: &str) {
    note(dir, words.to_owned(), b' ');
}

/// Notes that the session's directory is not there; see [`root_is_back`].
pub fn note_root_lost(dir: &Path, why: &ReviewError) {
    note(dir, words_of_trouble(why), OF_ROOT);
}

pub fn words_of_trouble(why: &ReviewError) -> String {
    format!("the files could not be looked at: {why}")
}

fn note(dir: &Path, words: String, end: u8) {
    // What can be forgotten gives way.
    if trouble(dir).is_some() && !is_of_root(dir) {
        return;
    }
    let mut words = words.into_bytes();
    words.resize(TROUBLE_BYTES - 1, b' ');
    words.push(end);
    overwrite(dir, &words);
}

/// The session's directory is there and no other: that it was not need not be known any more.
pub fn root_is_back(dir: &Path) {
    if is_of_root(dir) {
        overwrite(dir, &[b' '; TROUBLE_BYTES]);
    }
}

fn is_of_root(dir: &Path) -> bool {
    read(&dir.join(TROUBLE)).is_ok_and(|bytes| bytes.len() == TROUBLE_BYTES && bytes.ends_with(&[OF_ROOT]))
}

fn overwrite(dir: &Path, words: &[u8]) {
    // Without that file there is nothing more that could be done.
    if let Ok(mut file) = open_as(File::options().write(true), &dir.join(TROUBLE)) {
        let _ = std::io::Write::write_all(&mut file, words);
    }
}

/// Notes in the copy of a review that the last look was not over when it was made.
pub fn note_unfinished(dir: &Path) {
    // Without room there is still the exit code.
    if trouble(dir).is_none() && make_room_for_trouble(dir).is_ok() {
        note_trouble(dir, &ReviewError::Refused("the last look was not over yet; changes may be missing".to_owned()));
    }
}

/// What has gone wrong, in words.
pub fn trouble(dir: &Path) -> Option<String> {
    let bytes = read(&dir.join(TROUBLE)).ok().filter(|bytes| bytes.len() <= TROUBLE_BYTES)?;
    let words = String::from_utf8_lossy(bytes.strip_suffix(&[OF_ROOT]).unwrap_or(&bytes)).trim().to_owned();
    (!words.is_empty()).then_some(words)
}

/// Whole or not at all.
pub fn write_json(path: &Path, value: &impl serde::Serialize) -> Result<(), ReviewError> {
    let fail = |e| ReviewError::io(path, e);
    let text = serde_json::to_vec_pretty(value).map_err(|e| fail(e.into()))?;
    let mut file = Replacement::of(path).map_err(fail)?;
    file.write_all(&text).and_then(|()| file.finish(Durability::None)).map_err(fail)
}

pub fn read_json<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, ReviewError> {
    let fail = |e| ReviewError::io(path, e);
    let text = read(path).map_err(fail)?;
    serde_json::from_slice(&text).map_err(|e| fail(e.into()))
}
