//! What was asked in earlier sessions of a directory, as the audit log has it: for rules to be weighed by.
//!
//! Reads the disk, so it is for threads that may wait; judges nothing. Invariants: what is read and kept is bounded, the
//! newest first; nothing of the session itself is among it, and nothing of which a part was left out.

use crate::model::claims::Claims;
use crate::store::audit;
use serde_json::Value;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes of the log that are looked through; a file of it has at most 16 MiB.
const MAX_BYTES: u64 = 24 << 20;
/// Different requests that are kept.
const MAX_ASKED: usize = 500;
/// What stands in a log for what was left out of it: nobody can tell what a rule would have said of that.
const LEFT_OUT: [&str; 2] = ["…", "[redacted]"];

/// Different requests, and how often each was made.
pub(super) type Requests = Vec<(Claims, usize)>;

#[derive(Debug)]
pub(super) struct Earlier {
    state: PathBuf,
    /// The file of this run.
    run: String,
    /// What was read last.
    read: Mutex<Option<Read>>,
}

/// Of which directory and session, and what.
type Read = (PathBuf, Option<String>, Arc<Requests>);

impl Earlier {
    pub fn new(state: PathBuf, run: String) -> Self {
        Self { state, run, read: Mutex::new(None) }
    }

    /// Those of a directory, but for those of this session. What was read before does, unless it `is_new` that they are
    /// wanted.
    pub fn of(&self, cwd: &Path, session: Option<&str>, is_new: bool) -> Arc<Requests> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |dir: &Path, of: Option<&str>| !is_new && dir == cwd && of == session;
        match &*read {
            Some((dir, of, known)) if is_it(dir, of.as_deref()) => Arc::clone(known),
            _ => {
                let found = Arc::new(self.look(cwd, session));
                *read = Some((cwd.to_owned(), session.map(str::to_owned), Arc::clone(&found)));
                found
            }
        }
    }

    fn look(&self, cwd: &Path, session: Option<&str>) -> Requests {
        let real = cwd.canonicalize().unwrap_or_else(|_| cwd.to_owned());
        let (mut left, mut known, mut all) = (MAX_BYTES, HashMap::<String, usize>::new(), Requests::new());
        // A log that cannot be read has nothing; `acp-tui audit` says why.
        for file in audit::files(&self.state).unwrap_or_default().into_iter().rev() {
            let Some(rest) = file.metadata().ok().and_then(|meta| left.checked_sub(meta.len())) else { continue };
            left = rest;
            let is_this_run = file.file_name().and_then(|name| name.to_str()).is_some_and(|n| n.starts_with(&self.run));
            for mut record in audit::records(&file).into_iter().flatten() {
                if is_this_run && record["session"].as_str() == session {
                    continue;
                }
                let Some(claims) = claims_in(&mut record, |dir| dir == cwd || dir == real) else { continue };
                let Some(key) = key(&claims) else { continue };
                let is_full = all.len() >= MAX_ASKED;
                match known.get(&key).copied().and_then(|at| all.get_mut(at)) {
                    Some((_, times)) => *times += 1,
                    None if is_full => {}
                    None => {
                        known.insert(key, all.len());
                        all.push((claims, 1));
                    }
                }
            }
        }
        all
    }
}

/// What a record of the log says that was asked for, in such a directory.
pub fn claims_in(record: &mut Value, is_wanted: impl Fn(&Path) -> bool) -> Option<Claims> {
    let is_here = record["cwd"].as_str().is_some_and(|dir| is_wanted(Path::new(dir)));
    if is_here { serde_json::from_value(record["claims"].take()).ok() } else { None }
}

/// Tells requests apart; nothing of one of which a part was left out.
pub(super) fn key(claims: &Claims) -> Option<String> {
    let key = serde_json::to_string(claims).ok()?;
    (!LEFT_OUT.iter().any(|sign| key.contains(sign))).then_some(key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::audit::Chain;
    use serde_json::json;
    use std::io::Write as _;

    fn log(state: &Path, run: &str, rows: &[(&str, &str, &Path)]) {
        let mut chain = Chain::new(state.to_owned(), run.to_owned());
        for (line, session, cwd) in rows {
            let record = json!({ "session": session, "cwd": cwd, "verdict": "allow", "claims": asked(line) });
            chain.write_all(format!("{record}\n").as_bytes()).unwrap();
        }
    }

    fn asked(line: &str) -> Claims {
        let (command, args, env) = (line.to_owned(), Vec::new(), Vec::new());
        let spec = crate::model::event::TerminalSpec { command, args, env, cwd: None, limit: None, patience: None };
        Claims::of_command(&spec)
    }

    #[test]
    fn requests_of_other_sessions_here_are_counted_and_none_of_this_one() {
        let temp = tempfile::tempdir().unwrap();
        let state = temp.path().canonicalize().unwrap();
        let (here, there) = (state.join("here"), state.join("there"));
        std::fs::create_dir(&here).unwrap();
        let rows = [("ls a", "s1", &*here), ("ls a", "s1", &here), ("ls b", "s1", &there), ("echo …", "s1", &here)];
        log(&state, "1-1", &rows);
        log(&state, "2-2", &[("ls a", "s2", &here), ("ls c", "me", &here), ("git log", "other", &here)]);
        let earlier = Earlier::new(state.clone(), "2-2".to_owned());
        let found = |is_new| {
            let mut all: Vec<(String, usize)> = earlier
                .of(&here, Some("me"), is_new)
                .iter()
                .map(|(claims, times)| (key(claims).unwrap(), *times))
                .collect();
            all.sort();
            all
        };
        let mut wanted =
            [("ls a", 3), ("git log", 1)].map(|(line, times)| (key(&asked(line)).unwrap(), times)).to_vec();
        wanted.sort();
        assert_eq!(found(true), wanted);
        log(&state, "3-3", &[("pwd", "s3", &here)]);
        assert_eq!(found(false).len(), 2, "while somebody types");
        assert_eq!(found(true).len(), 3);
        assert_eq!(Earlier::new(state.join("none"), "1".to_owned()).of(&here, None, true).len(), 0);
    }

    #[test]
    fn what_is_kept_of_them_is_bounded() {
        let temp = tempfile::tempdir().unwrap();
        let here = temp.path().canonicalize().unwrap();
        let lines: Vec<String> = (0..MAX_ASKED + 50).map(|number| format!("ls {number}")).collect();
        let rows: Vec<_> = lines.iter().map(|line| (line.as_str(), "s", &*here)).collect();
        log(&here, "1-1", &rows);
        assert_eq!(Earlier::new(here.clone(), "2-2".to_owned()).of(&here, None, true).len(), MAX_ASKED);
    }
}
