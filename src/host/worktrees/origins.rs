//! Where worktrees came from, remembered beside them, also of those that were discarded.
//!
//! A file in the directory of the worktrees of one origin: a line says the origin, the others what was discarded and
//! which ref keeps it. Invariant: what it says counts only where the directory bears the name of that origin.

use super::{Outcome, Worktree, all, below, io_at, stem};
use crate::base::origins::{Origin, Origins};
use crate::host::fs as files;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// No worktree has a name that begins with a dot.
const FILE: &str = ".origin";
const MAX_FILE: u64 = 1 << 20;

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    Origin(PathBuf),
    Discarded {
        name: String,
        kept: String,
    },
    /// A worktree has the name again.
    Made {
        name: String,
    },
}

/// Remembers in the directory of its worktrees what they come from.
pub(super) fn note_origin(home: &Path, top: &Path) -> Outcome<()> {
    if home.join(FILE).exists() { Ok(()) } else { add(home, &Line::Origin(top.to_owned())) }
}

/// Remembers that a worktree was discarded, and what keeps it.
pub(super) fn note_discarded(worktree: &Worktree, kept: &str) -> Outcome<()> {
    let Some(home) = worktree.path.parent() else { return Ok(()) };
    note_origin(home, &worktree.origin)?;
    add(home, &Line::Discarded { name: worktree.name.clone(), kept: kept.to_owned() })
}

/// A worktree was made under a name that another one may have had.
pub(super) fn note_made(home: &Path, name: &str) -> Outcome<()> {
    if discarded(home).contains_key(name) { add(home, &Line::Made { name: name.to_owned() }) } else { Ok(()) }
}

fn add(home: &Path, line: &Line) -> Outcome<()> {
    let path = home.join(FILE);
    let write = || -> io::Result<()> {
        let text = serde_json::to_string(line)? + "\n";
        let mut file = files::open_regular_as(fs::OpenOptions::new().append(true).create(true).mode(0o600), &path)?;
        // In one piece, so that two processes do not mix their lines.
        file.write_all(text.as_bytes())
    };
    write().map_err(io_at(&path))
}

fn read(home: &Path) -> Option<Origin> {
    let text = files::read_regular(&home.join(FILE), MAX_FILE).ok()?;
    let (mut top, mut origin) = (None, Origin { worktrees: home.to_owned(), ..Origin::default() });
    for line in text.split(|byte| *byte == b'\n') {
        match serde_json::from_slice(line) {
            Ok(Line::Origin(path)) => top = Some(path),
            Ok(Line::Discarded { name, kept }) => drop(origin.discarded.insert(name, kept)),
            Ok(Line::Made { name }) => drop(origin.discarded.remove(&name)),
            Err(_) => {}
        }
    }
    origin.top = top?;
    Some(origin)
}

/// The worktrees in this directory that were discarded, and what keeps each.
pub(super) fn discarded(home: &Path) -> BTreeMap<String, String> {
    read(home).map(|origin| origin.discarded).unwrap_or_default()
}

/// All that worktrees were made from, of which anything is known.
pub fn origins(state: &Path) -> Origins {
    let dirs = fs::read_dir(below(state)).into_iter().flatten().flatten();
    let mut found: Vec<Origin> = dirs.filter_map(|dir| read(&dir.path())).collect();
    // An earlier version has left no such file.
    for worktree in all(state) {
        let Some(home) = worktree.path.parent() else { continue };
        if !found.iter().any(|origin| origin.worktrees == home) {
            let (worktrees, top) = (home.to_owned(), worktree.origin);
            found.push(Origin { worktrees, top, ..Origin::default() });
        }
    }
    found.retain(|origin| origin.worktrees.file_name().is_some_and(|name| *name == *stem(&origin.top)));
    // Sessions name their directories by where they really are.
    if let Ok(real) = below(state).canonicalize()
        && real != below(state)
    {
        let elsewhere = |origin: &Origin| {
            let worktrees = real.join(origin.worktrees.file_name().unwrap_or_default());
            Origin { worktrees, ..origin.clone() }
        };
        found.extend(found.iter().map(elsewhere).collect::<Vec<_>>());
    }
    Origins::new(found)
}
