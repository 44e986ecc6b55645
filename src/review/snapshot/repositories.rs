//! What of git's is noted at the first look: its own directories that are not called `.git`, where its histories are, and
//! what it is set to; and which files a decision leaves since they are git's.
//!
//! A directory is git's own where a `.git` that is a file or a link leads there, and where that one's `commondir` leads,
//! if there is nothing else in it. Nothing becomes one later. Which of their files are git's says `git_form`. Invariants:
//! no index of a repository here names what is hidden; an index that cannot be read hides nothing where it may name
//! something; what was a repository's when it was seen first and is not there any more is named; and of a record that is
//! not whole nothing is believed.

use super::Snapshot;
use super::preserve::KEPT;
use super::prior::Ignored;
use crate::review::error::ReviewError;
use crate::review::state::{Going, OfGit};
use crate::review::worktree::git_dirs::{self, GitDirs, Print};
use crate::review::worktree::git_form::{self, Beginning, Forms};
use crate::review::worktree::git_history::{self, Histories, Losses, Mark};
use crate::review::worktree::git_settings::{Settings, short};
use crate::review::worktree::own_files::OwnFiles;
use crate::review::worktree::repo;
use crate::review::worktree::walk::{self, RelPath, Time, Walked};
use crate::store::replace::{Durability, Replacement};
use std::cell::LazyCell;
use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// In the store.
pub(crate) const FILE: &str = "repositories";
const MAX_FILE: u64 = 64 << 20;
/// Before and behind the sum of all that is before it.
const END: &[u8] = b"/end ";
const LAST: &[u8] = b"\0-\0";
const SUM: usize = 32;
/// Files that an index names and that are git's by their form: so many are noted.
const TRACKED: usize = 50_000;

impl Snapshot {
    /// Takes note of what git has where the first walk, which `began` then, has come past. Whether it has shown what is
    /// hidden from now on.
    pub(super) fn finds_git(&mut self, walked: &Walked, began: Time) -> Result<bool, ReviewError> {
        let root = self.root.path();
        let tops: BTreeSet<&Path> = walked.repos.iter().map(PathBuf::as_path).chain(root.ancestors()).collect();
        let mut git = GitDirs::new(began);
        for dir in tops.iter().flat_map(|top| repo::own_dirs(top)) {
            let below = dir.strip_prefix(root).ok().filter(|below| !below.as_os_str().is_empty());
            let is_named = |below: &&Path| below.components().any(|part| part.as_os_str() == ".git");
            if let Some(below) = below.filter(|below| !is_named(below) && git_form::is_all_gits(&dir)) {
                git.dirs.insert(walk::bytes(below).into(), Print::Unknown);
            }
        }
        let (mut forms, mut tracked, mut unknown) = (Forms::new(root), BTreeSet::new(), Vec::new());
        for top in &tops {
            let mut is_tracked = |path: &Path| {
                let Ok(below) = path.strip_prefix(root) else { return };
                let key = walk::bytes(below);
                git.dirs.retain(|dir, _| key.strip_prefix(&**dir).is_none_or(|rest| rest.first() != Some(&b'/')));
                if tracked.len() < TRACKED && forms.dir_of(key).is_some() {
                    tracked.insert(RelPath::from(key));
                }
            };
            unknown.extend(repo::tracked(top, &mut is_tracked));
        }
        git.tracked = tracked;
        git.dirs.retain(|dir, _| !unknown.iter().any(|top| root.join(walk::path(dir)).starts_with(top)));
        let (mut left, names) = (git_dirs::room(), git.tops().cloned().collect::<Vec<RelPath>>());
        for dir in names {
            let print = git_dirs::print(root, &dir, &git, &mut left);
            git.dirs.insert(dir, print);
        }
        let has_some = !git.dirs.is_empty();
        self.hidden = Arc::new((*self.hidden).clone().and(git));
        note(&self.dir, &self.hidden)?;
        Ok(has_some)
    }

    /// Takes note of the histories of repositories that have not been seen before, at the first look also of those that
    /// are ignored and of what all are set to.
    pub(super) fn notes_histories(&mut self, walked: &Walked, is_first: bool) -> Result<(), ReviewError> {
        let root = self.root.path();
        let mut histories = self.hidden.histories().clone();
        let mut tops: BTreeSet<PathBuf> = walked.repos.iter().cloned().collect();
        if is_first {
            tops.extend(root.ancestors().skip(1).map(Path::to_owned));
            tops.extend(self.ignored.repositories().map(|dir| root.join(walk::path(dir))));
        } else {
            // What leads elsewhere is noted there.
            tops.retain(|top| !histories.tops.contains(top) && top.join(".git").is_dir());
            if tops.is_empty() {
                return Ok(());
            }
        }
        for top in &tops {
            let (own, dot_git) = (repo::own_dirs(top), top.join(".git"));
            if !own.is_empty() && !own.contains(&dot_git) {
                histories.note_pointer(&dot_git);
            }
            for dir in &own {
                histories.note(dir, root);
            }
        }
        let settings = if is_first {
            Settings::of(root, tops.clone(), histories.dirs().cloned().collect())
        } else {
            self.hidden.settings().clone()
        };
        histories.tops.extend(tops);
        self.hidden = Arc::new((*self.hidden).clone().with(histories, settings));
        note(&self.dir, &self.hidden)
    }

    /// A file that was seen is no file of git's, whatever it is called.
    pub(super) fn keeps_seen(&mut self) {
        self.seen.retain(|key, _| !self.hidden.has_own(key));
        self.seen.keys().for_each(|key| self.hidden.git().is_ordinary(key));
    }

    /// Whether a path below the root that is on record is one that the client keeps for itself. Any other stays a file.
    pub fn hides(&self, path: &Path) -> bool {
        self.hidden.git().is_ordinary(walk::bytes(path));
        self.hidden.has_own(walk::bytes(path))
    }

    /// What repositories have lost since they were seen first.
    pub(crate) fn losses(&self) -> Losses {
        self.hidden.histories().losses(&self.dir.join(KEPT))
    }

    /// Why it is not known what repositories had when they were seen first, or what was ignored, in words.
    pub(crate) fn damage(&self) -> Option<String> {
        let is_gone = || self.looked && self.dir.join(FILE).symlink_metadata().is_err();
        let of_git = (self.hidden.histories().is_lost || is_gone()).then_some(
            "the record of what git had here when the session began is not there, or is not what was written: what git \
             has lost since is not known",
        );
        let of_ignored = (self.looked && !Ignored::is_whole(&self.dir)).then_some(
            "the record of what git ignored here when the session began is not there, or is not what was written: what \
             of it is gone, and what may be the only copy of it, is not known",
        );
        of_git.into_iter().chain(of_ignored).map(str::to_owned).reduce(|one, other| format!("{one}; {other}"))
    }

    /// Those of the files that are git's by their form, or may hold what a repository has lost; so has one, too, if one of
    /// the paths that are `gone` is an object of git's. What an index named at the first look is neither, nor is what was
    /// there before the directory around it was dressed as git's: its `HEAD` has come, of which `has_come` says so.
    pub(crate) fn of_git<'a>(
        &self,
        going: impl Iterator<Item = Going<'a>>,
        mut gone: impl Iterator<Item = &'a Path>,
        has_come: impl Fn(&Path) -> bool,
    ) -> OfGit {
        let root = self.root.path();
        let is_object = |path: &Path| git_form::is_object_by_name(walk::bytes(path));
        let losses = LazyCell::new(|| self.losses());
        let has_lost = LazyCell::new(|| gone.any(is_object) || !losses.are_none());
        let (mut forms, mut found) = (Forms::new(root), OfGit::default());
        let mut new = Vec::new();
        for Going { path, is_there, stays } in going {
            let (is_now, will_be) = is_there;
            let key = walk::bytes(path);
            if self.hidden.git().tracked.contains(key) {
                continue;
            }
            if let Some(dir) = forms.dir_of(key) {
                let dir_path = walk::path(&dir);
                let is_dressed = || will_be && has_come(&dir_path.join("HEAD"));
                // What comes back to a repository harms nothing, but for a ref in the place of one that is packed; nor do
                // its hooks, and settings as they were.
                let harms = match is_now {
                    false => is_packed(root, key),
                    true if stays => true,
                    // Once something is lost they may be the person's, carried there.
                    true if Forms::is_aside(key, &dir) => !will_be && *has_lost,
                    true => !(will_be && Forms::is_setting(key, &dir) && !git_form::has_extensions(&root.join(path))),
                };
                if harms && !is_dressed() {
                    found.parts.entry(dir_path.to_owned()).or_default().insert(path.to_owned());
                    if is_now && will_be {
                        found.changed.insert(path.to_owned());
                    }
                    if Forms::is_run(key, &dir) {
                        found.run.insert(dir_path.to_owned());
                    }
                    continue;
                }
                // Once something is lost it may be what is left of that, whatever it is a part of here.
                if !is_now || will_be || stays || !*has_lost || !losses.may_be(&root.join(path)) {
                    continue;
                }
            }
            // What was there is what it is taken back to, whatever it begins with now.
            if !is_now || will_be {
                continue;
            }
            match git_form::begins(&root.join(path)) {
                Beginning::History => drop(found.parts.entry(path.to_owned()).or_default().insert(path.to_owned())),
                Beginning::Archive if *has_lost => drop(found.copies.insert(path.to_owned())),
                _ if *has_lost && losses.may_be(&root.join(path)) => drop(found.alike.insert(path.to_owned())),
                Beginning::Archive | Beginning::Other => new.push(path),
            }
        }
        // The other parts of an archive in several files begin like nothing.
        let pieces = Pieces::of(found.copies.iter());
        found.copies.extend(new.into_iter().filter(|path| pieces.has_others_of(path)).map(Path::to_owned));
        found
    }
}

/// The names of archives that may be the first of several pieces, as `split` and archivers count them: with letters from
/// `a` or with digits.
struct Pieces(BTreeSet<Piece>);

/// Where a piece is, what is in its name before what is counted and behind it, how many letters or digits that are, and
/// which of the two.
type Piece = (PathBuf, Vec<u8>, Vec<u8>, usize, bool);

impl Pieces {
    /// So many letters or digits are counted with at most.
    const MOST: usize = 3;

    fn of<'a>(archives: impl Iterator<Item = &'a PathBuf>) -> Self {
        Self(archives.flat_map(|path| Self::forms(path, |letter| letter == b'a')).collect())
    }

    fn has_others_of(&self, path: &Path) -> bool {
        !self.0.is_empty() && Self::forms(path, |letter| letter.is_ascii_lowercase()).any(|form| self.0.contains(&form))
    }

    fn forms(path: &Path, is_letter: fn(u8) -> bool) -> impl Iterator<Item = Piece> {
        let name = walk::bytes(Path::new(path.file_name().unwrap_or_default())).to_vec();
        let dir = path.parent().unwrap_or(path).to_owned();
        let places = (1..name.len()).flat_map(|at| (1..=Self::MOST).map(move |count| (at, count)));
        places.filter_map(move |(at, count)| {
            let (before, rest) = name.split_at_checked(at)?;
            let (counted, behind) = rest.split_at_checked(count)?;
            let are_digits = counted.iter().all(u8::is_ascii_digit);
            let is_counted = are_digits || counted.iter().all(|letter| is_letter(*letter));
            is_counted.then(|| (dir.clone(), before.to_vec(), behind.to_vec(), count, are_digits))
        })
    }
}

/// Whether a path is that of a ref which is packed in the directory of git's above it.
fn is_packed(root: &Path, key: &[u8]) -> bool {
    walk::parents(key).any(|dir| {
        let below = walk::below(key, dir);
        let dir = root.join(walk::path(dir));
        below.starts_with(b"refs/") && git_form::has_head(&dir) && git_history::is_packed(&dir, below)
    })
}

/// In the store: what each is, which begins like no path below the root, and its name, with a zero byte behind each.
fn note(store: &Path, own: &OwnFiles) -> Result<(), ReviewError> {
    let path = store.join(FILE);
    let (git, histories, settings) = (own.git(), own.histories(), own.settings());
    let (secs, nanos) = git.began;
    let mut bytes = format!("/began\0{secs} {nanos}\0").into_bytes();
    let mut add = |head: &str, name: &[u8]| bytes.extend([head.as_bytes(), b"\0", name, b"\0"].concat());
    for (place, mark) in &histories.parts {
        let mark = serde_json::to_string(mark).map_err(|e| ReviewError::io(&path, e))?;
        add(&format!("/part {mark}"), walk::bytes(place));
    }
    if histories.is_lost {
        add("/lost -", b"lost");
    }
    histories.tops.iter().for_each(|top| add("/seen -", walk::bytes(top)));
    git.tracked.iter().for_each(|key| add("/tracked -", key));
    settings.tops.iter().for_each(|top| add("/top -", walk::bytes(top)));
    settings.dirs.iter().for_each(|dir| add("/set -", walk::bytes(dir)));
    settings.files.iter().for_each(|(file, sum)| add(&format!("/setting {sum}"), walk::bytes(file)));
    settings.rules.iter().for_each(|(file, sum)| add(&format!("/rules {sum}"), walk::bytes(file)));
    if settings.is_known {
        add("/settings -", if settings.is_full { b"full" } else { b"known" });
    }
    for (dir, print) in &git.dirs {
        add(&format!("/dir {}", if let Print::Was(print) = print { print } else { "unknown" }), dir);
    }
    let sum = short(&bytes);
    bytes.extend([END, sum.as_bytes(), LAST].concat());
    let written = Replacement::of(&path).and_then(|mut file| {
        file.write_all(&bytes)?;
        file.finish(Durability::Whole)
    });
    written.map_err(|e| ReviewError::io(&path, e))
}

/// What a record says, when it is whole.
fn whole(bytes: &[u8]) -> Option<&[u8]> {
    let (body, end) = bytes.split_at_checked(bytes.len().checked_sub(END.len() + SUM + LAST.len())?)?;
    let sum = end.strip_prefix(END)?.strip_suffix(LAST)?;
    (sum == short(body).as_bytes()).then_some(body)
}

/// The same client's files and what was noted. `is_noted`: something was.
pub(crate) fn read(store: &Path, own: OwnFiles, is_noted: bool) -> OwnFiles {
    let (mut bytes, mut git) = (Vec::new(), GitDirs::default());
    let (mut histories, mut settings) = (Histories::default(), Settings::default());
    let file = walk::open_plain(&store.join(FILE));
    let is_read = file.is_some_and(|file| file.take(MAX_FILE).read_to_end(&mut bytes).is_ok());
    let Some(body) = whole(&bytes).filter(|_| is_read) else {
        histories.is_lost = is_noted;
        return own.with(histories, settings);
    };
    let mut parts = body.split(|byte| *byte == 0).filter(|part| !part.is_empty());
    while let (Some(head), Some(name)) = (parts.next(), parts.next()) {
        let Ok(head) = std::str::from_utf8(head) else { break };
        let path = || walk::path(name).to_owned();
        match head.split_once(' ') {
            None => {
                let said = std::str::from_utf8(name).unwrap_or_default().split_once(' ');
                let times = said.and_then(|(secs, nanos)| Some((secs.parse().ok()?, nanos.parse().ok()?)));
                git.began = times.unwrap_or_default();
            }
            Some(("/part", mark)) => {
                histories.parts.push((path(), serde_json::from_str(mark).unwrap_or(Mark::Unknown)));
            }
            Some(("/lost", _)) => histories.is_lost = true,
            Some(("/seen", _)) => drop(histories.tops.insert(path())),
            Some(("/tracked", _)) => drop(git.tracked.insert(name.into())),
            Some(("/top", _)) => drop(settings.tops.insert(path())),
            Some(("/set", _)) => drop(settings.dirs.insert(path())),
            Some(("/setting", sum)) => drop(settings.files.insert(path(), sum.to_owned())),
            Some(("/rules", sum)) => drop(settings.rules.insert(path(), sum.to_owned())),
            Some(("/settings", _)) => (settings.is_known, settings.is_full) = (true, name == b"full"),
            Some(("/dir", "unknown")) => drop(git.dirs.insert(name.into(), Print::Unknown)),
            Some(("/dir", print)) => drop(git.dirs.insert(name.into(), Print::Was(print.to_owned()))),
            Some(_) => {}
        }
    }
    own.and(git).with(histories, settings)
}
