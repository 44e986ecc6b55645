//! Files that come back under another spelling of a name that is there: some file systems take both for one file.
//!
//! There the name is spelled anew before anything is written. Invariant: nothing is removed that what is to come back would
//! be found by, and no directory gets another name as long as something known in it is to stay.

use crate::host::fs;
use crate::review::history::contents::Contents;
use crate::review::history::ledger::FileDecision;
use crate::review::session::shown;
use crate::review::snapshot::Snapshot;
use crate::review::state::State;
use crate::review::worktree::walk;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

/// A decision after names were spelled as they are to be.
pub(super) struct Spelled<'a> {
    /// What was under the other spelling is where it is to be.
    pub decided: Cow<'a, [FileDecision]>,
    /// Files that are left alone, by their numbers, and why.
    pub stay: BTreeMap<usize, String>,
    /// Files that are to go, and do so from the directory that has its other name by now.
    pub elsewhere: Vec<PathBuf>,
}

/// A file that comes back, and the name by which it is found now.
struct Coming {
    at: usize,
    path: PathBuf,
    is: PathBuf,
}

/// Whether a file is not there and is to be.
pub(super) fn comes(file: &FileDecision) -> bool {
    file.disk.0.is_absent() && !file.disk.1.is_absent()
}

/// Spells the names of what comes back as they were.
pub(super) fn spell<'a>(decided: &'a [FileDecision], files: &Contents) -> Spelled<'a> {
    let root = files.snapshot.root();
    let coming = decided.iter().enumerate().filter(|(_, file)| comes(file));
    let coming = coming.filter_map(|(at, file)| {
        let is = walk::spelled(root, walk::bytes(&file.path))?;
        Some(Coming { at, path: file.path.clone(), is: walk::path(&is).to_owned() })
    });
    let coming: Vec<Coming> = coming.collect();
    let mut spelled = Spelled { decided: Cow::Borrowed(decided), stay: BTreeMap::new(), elsewhere: Vec::new() };
    if coming.is_empty() {
        return spelled;
    }
    let going = decided.iter().enumerate().filter(|(_, f)| !f.disk.0.is_absent() && f.disk.1.is_absent());
    let going: HashMap<&Path, usize> = going.map(|(at, file)| (&*file.path, at)).collect();
    let goes = |path: &Path| going.contains_key(path);
    let is_as_decided = |path: &Path, now: &Path| {
        let file = going.get(path).and_then(|at| decided.get(*at));
        file.is_some_and(|file| files.snapshot.peek(now).is_ok_and(|(is, _)| is == file.disk.0))
    };
    let may = |path: &Path, now: &Path, is_whole: bool| {
        if is_whole { is_as_decided(path, now) } else { all_below(&files.snapshot, path, &goes) }
    };
    let rename = |from: &Path, to: &Path| to.file_name().is_some_and(|name| fs::respell(root, from, name).is_ok());
    let (stay, renamed) = in_the_way(&coming, &may, &rename);
    let comes: BTreeSet<&Path> = decided.iter().filter(|file| comes(file)).map(|file| &*file.path).collect();
    for (path, at) in &going {
        let now = after(path, &renamed);
        if now != *path && !comes.contains(&*now) {
            spelled.elsewhere.push((*path).to_owned());
            spelled.decided.to_mut().get_mut(*at).into_iter().for_each(|file| file.path.clone_from(&now));
        }
    }
    // What is as it is to be is found to be done.
    let is_other = |at: usize, was: &State| decided.get(at).is_some_and(|file| file.disk.1 != *was);
    for one in coming {
        let old = going.get(&*one.is).copied();
        if let Some(there) = stay.get(&one.at) {
            spelled.stay.insert(one.at, format!("{} is there, another spelling of its name", shown(there)));
            let why = format!("left alone, since {} could not be written", shown(&one.path));
            spelled.stay.extend(old.map(|old| (old, why)));
        } else if let Some(was) = old.and_then(|old| Some(decided.get(old)?.disk.0)).filter(|was| is_other(one.at, was))
        {
            spelled.decided.to_mut().get_mut(one.at).into_iter().for_each(|file| file.disk.0 = was);
        }
    }
    spelled
}

/// Whether all files go that are known below a directory.
fn all_below(snapshot: &Snapshot, dir: &Path, goes: &dyn Fn(&Path) -> bool) -> bool {
    let is_there = |key: &[u8]| snapshot.seen.get(key).is_some_and(|entry| !entry.state.is_absent());
    snapshot.within(walk::bytes(dir)).iter().filter(|key| is_there(key)).all(|key| goes(walk::path(key)))
}

/// Where something is after directories and files were renamed.
fn after(path: &Path, renamed: &BTreeMap<PathBuf, PathBuf>) -> PathBuf {
    path.iter().fold(PathBuf::new(), |above, name| {
        let now = above.join(name);
        renamed.get(&now).cloned().unwrap_or(now)
    })
}

/// Renames, where that may be, what is found by another spelling, from the top down. What of it stays in the way of whom, and
/// what was renamed. `may` is asked for a name as it was and as it is by now, and whether it is the whole path.
fn in_the_way(
    coming: &[Coming],
    may: &dyn Fn(&Path, &Path, bool) -> bool,
    rename: &dyn Fn(&Path, &Path) -> bool,
) -> (BTreeMap<usize, PathBuf>, BTreeMap<PathBuf, PathBuf>) {
    let (mut stay, mut renamed) = (BTreeMap::new(), BTreeMap::new());
    for one in coming {
        let (mut is, mut above) = (PathBuf::new(), PathBuf::new());
        for (old, new) in one.is.iter().zip(one.path.iter()) {
            is.push(old);
            let (from, to) = (above.join(old), above.join(new));
            if from != to && renamed.get(&from) != Some(&to) {
                if !may(&is, &from, is == one.is) || !rename(&from, &to) {
                    stay.insert(one.at, is);
                    break;
                }
                renamed.insert(from, to.clone());
            }
            above = to;
        }
    }
    (stay, renamed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    fn coming(all: &[(&str, &str)]) -> Vec<Coming> {
        let one = |(at, (path, is)): (usize, &(&str, &str))| Coming { at, path: path.into(), is: is.into() };
        all.iter().enumerate().map(one).collect()
    }

    #[test]
    fn a_name_is_spelled_anew_once_and_only_where_nothing_else_is_to_stay_there() {
        let all = coming(&[
            ("a.txt", "A.txt"),
            ("dir/c", "DIR/c"),
            ("dir/Sub/d", "DIR/sub/D"),
            ("full/e", "Full/e"),
            ("full/f", "Full/f"),
            ("mine", "Mine"),
        ]);
        let renamed = RefCell::new(Vec::new());
        let may = |path: &Path, now: &Path, is_whole: bool| {
            assert_eq!(is_whole, !["DIR", "DIR/sub", "Full"].map(Path::new).contains(&path), "{}", now.display());
            !path.starts_with("Full") && path != Path::new("Mine")
        };
        let rename = |from: &Path, to: &Path| {
            renamed.borrow_mut().push(format!("{} {}", from.display(), to.display()));
            true
        };
        let (stay, names) = in_the_way(&all, &may, &rename);
        assert_eq!(after(Path::new("DIR/sub/new"), &names), Path::new("dir/Sub/new"));
        assert_eq!(after(Path::new("Full/e"), &names), Path::new("Full/e"));
        let stay: Vec<_> = stay.into_iter().map(|(at, there)| (at, there.display().to_string())).collect();
        assert_eq!(stay, [(3, "Full".to_owned()), (4, "Full".to_owned()), (5, "Mine".to_owned())]);
        assert_eq!(*renamed.borrow(), ["A.txt a.txt", "DIR dir", "dir/sub dir/Sub", "dir/Sub/D dir/Sub/d"]);
        let (stay, _) = in_the_way(&all[..1], &may, &|_, _| false);
        assert_eq!(stay.get(&0), Some(&PathBuf::from("A.txt")), "the system did not let it be renamed");
    }
}
