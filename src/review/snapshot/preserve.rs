//! Keeps what only the person's repositories have: damage to a `.git` must not damage the snapshot.
//!
//! Hard links to their packs and loose objects, which cost nothing as long as the person has them too; where the
//! system refuses links, copies in our packs, within a bound; of what no store has as it should be, copies from the files.
//! Done in slices, after the looks. Writes nothing to a repository. Invariants: what counts as kept was read from where it
//! is kept, since a pack may be damaged or say what it has not; and what is neither linked nor copied is counted.

use super::alternates::{Alternates, Lies, loose_path};
use super::manifest::Entries;
use super::packs::{Pack, PackStore, encode};
use crate::base::human::thousands;
use crate::review::error::ReviewError;
use crate::review::state::Oid;
use crate::store::private::make_private_dir;
use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Bytes of content that are copied where links are refused, for one run.
pub(crate) const MAX_COPIED: u64 = 128 << 20;
/// Bytes of one copy; a larger one would keep others waiting.
const MAX_COPY: u64 = 8 << 20;
/// Links to loose objects; beyond that they are copied.
const MAX_LINKS: usize = 10_000;
/// Bytes of copies after which their pack is finished.
const PACK_BYTES: u64 = 8 << 20;
/// So many are kept whatever the clock says, before harm may be done.
const LEAST: usize = 4096;
/// But not for longer.
const LONGEST: Duration = Duration::from_secs(3);
/// Where links are, below the directory of a store.
pub(crate) const KEPT: &str = "kept";

/// How much is kept before something else is done.
#[derive(Clone, Copy, Debug)]
pub struct Share {
    /// So many contents, however long they take.
    least: usize,
    /// More until then.
    until: Instant,
    /// But no longer than until then.
    end: Instant,
}

impl Share {
    /// What there is time for.
    pub fn until(until: Instant) -> Self {
        Self { least: 0, until, end: until }
    }

    /// The same before something that may do harm: on a busy machine, or a slow one, no less is kept than on any other.
    pub fn before_harm(until: Instant) -> Self {
        Self { least: LEAST, until, end: until.max(Instant::now() + LONGEST) }
    }

    fn is_over(&self, done: usize) -> bool {
        let now = Instant::now();
        now >= self.end || done >= self.least && now >= self.until
    }
}

/// What is still to be kept, and what cannot be.
pub(crate) struct Preserved {
    /// A directory of objects, made of links.
    dir: PathBuf,
    waiting: Vec<Oid>,
    /// What could not be kept.
    missed: HashSet<Oid>,
    /// Of those, what no store has as it should be: the file that had it may have it still.
    unreadable: HashSet<Oid>,
    /// Of those, what was not looked for in the files yet.
    fresh: HashSet<Oid>,
    /// Packs that the system does not let us link, or that are linked.
    tried: HashSet<PathBuf>,
    links: usize,
    /// Bytes that may still be copied.
    left: u64,
    /// Copies that are not in a store yet, and their bytes.
    pack: Option<(Pack, u64)>,
    copies: Vec<Oid>,
    link: fn(&Path, &Path) -> io::Result<()>,
}

impl Preserved {
    /// For the store in `dir`.
    pub(crate) fn new(dir: &Path) -> Self {
        Self {
            dir: dir.join(KEPT),
            waiting: Vec::new(),
            missed: HashSet::new(),
            unreadable: HashSet::new(),
            fresh: HashSet::new(),
            tried: HashSet::new(),
            links: 0,
            left: MAX_COPIED,
            pack: None,
            copies: Vec::new(),
            link: |from, to| fs::hard_link(from, to),
        }
    }

    /// Takes note of contents that are named from now on.
    pub(crate) fn need(&mut self, oids: impl Iterator<Item = Oid>) {
        self.waiting.extend(oids);
    }

    /// Whether there is something left to do.
    pub(crate) fn waits(&self) -> bool {
        !self.waiting.is_empty() || self.pack.is_some() || !self.fresh.is_empty()
    }

    /// Whether only what is copied waits for its pack.
    pub(crate) fn is_done(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Goes on until nothing is left or the share is done. What is kept can be read when it returns, but for copies
    /// that wait for [`Preserved::seal`].
    pub(crate) fn go_on(&mut self, own: &mut PackStore, theirs: &mut Alternates, share: Share) {
        let mut done = 0;
        while let Some(oid) = self.waiting.pop() {
            let is_kept = self.keep(oid, own, theirs);
            theirs.trust.done_with(&oid);
            match is_kept {
                Ok(true) => drop(self.missed.remove(&oid)),
                Ok(false) => {
                    self.missed.insert(oid);
                }
                // The disk is full, most likely: looks are worth more.
                Err(_) => {
                    self.missed.insert(oid);
                    return self.give_up();
                }
            }
            done += 1;
            if share.is_over(done) {
                return;
            }
        }
        self.seal(own);
    }

    /// What is left to do is only counted.
    fn give_up(&mut self) {
        self.missed.extend(self.waiting.drain(..).chain(self.copies.drain(..)));
        self.pack = None;
    }

    /// Puts the copies into the store.
    pub(crate) fn seal(&mut self, own: &mut PackStore) {
        match self.pack.take().map(|(pack, _)| own.finish(pack)) {
            Some(Err(_)) => self.give_up(),
            Some(Ok(())) | None => self.copies.clear(),
        }
    }

    /// Whether it is in a place that is ours now.
    fn keep(&mut self, oid: Oid, own: &mut PackStore, theirs: &mut Alternates) -> Result<bool, ReviewError> {
        if own.has(&oid) || self.pack.as_ref().is_some_and(|(pack, _)| pack.has(&oid)) {
            return Ok(true);
        }
        if theirs.keeps(&self.dir, &oid) {
            return Ok(true);
        }
        let found = theirs.find(&self.dir, &oid);
        match &found {
            Some(Lies::Packed(list)) if !self.tried.contains(list) => {
                let is_linked = self.link_pack(list).is_ok();
                self.tried.insert(list.clone());
                if is_linked {
                    theirs.has_more(&self.dir);
                    if theirs.keeps(&self.dir, &oid) {
                        return Ok(true);
                    }
                }
            }
            Some(Lies::Loose(path)) if self.links < MAX_LINKS && self.link_loose(path, &oid, theirs).is_ok() => {
                if self.links == 1 {
                    // From now on there is a place of ours.
                    theirs.has_more(&self.dir);
                }
                return Ok(true);
            }
            Some(_) | None => {}
        }
        let is_copied = found.is_some() && self.copy(oid, own, theirs)?;
        if found.is_none() {
            self.unreadable.insert(oid);
            self.fresh.insert(oid);
        }
        Ok(is_copied)
    }

    /// What no store has as it should be and is to be looked for in the files that had it.
    pub(crate) fn take_fresh(&mut self) -> HashSet<Oid> {
        std::mem::take(&mut self.fresh)
    }

    /// That was found in a file.
    pub(crate) fn found(&mut self, oid: Oid, bytes: &[u8], own: &mut PackStore) -> Result<(), ReviewError> {
        self.add(oid, bytes, own)?;
        self.unreadable.remove(&oid);
        self.missed.remove(&oid);
        Ok(())
    }

    /// Whether it was found that no store has it as it should be.
    pub(crate) fn is_unreadable(&self, oid: &Oid) -> bool {
        self.unreadable.contains(oid)
    }

    fn copy(&mut self, oid: Oid, own: &mut PackStore, theirs: &Alternates) -> Result<bool, ReviewError> {
        let room = |size: u64| self.left.checked_sub(size).filter(|_| size <= MAX_COPY);
        // Its length is asked first: what there is no room for need not be read.
        let Some(left) = theirs.size(&oid).and_then(room) else { return Ok(false) };
        let Some(bytes) = theirs.read(&oid) else { return Ok(false) };
        self.left = left;
        self.add(oid, &bytes, own)?;
        Ok(true)
    }

    fn add(&mut self, oid: Oid, bytes: &[u8], own: &mut PackStore) -> Result<(), ReviewError> {
        let (mut pack, size) = match self.pack.take() {
            Some(begun) => begun,
            None => (own.begin()?, 0),
        };
        pack.add(&encode(oid, bytes)?)?;
        let size = size + bytes.len() as u64;
        self.copies.push(oid);
        self.pack = Some((pack, size));
        if size >= PACK_BYTES {
            self.seal(own);
        }
        Ok(())
    }

    /// Links a pack and then its index: only what has an index counts.
    fn link_pack(&self, index: &Path) -> io::Result<()> {
        let dir = self.dir.join("pack");
        make_private_dir(&dir)?;
        let pack = index.with_extension("pack");
        // Two stores may have packs of one name.
        let names = (0..100).map(|number| match (number, index.file_stem()) {
            (0, Some(stem)) => Path::new(stem).with_added_extension("pack"),
            (number, _) => PathBuf::from(format!("other-{number}.pack")),
        });
        for name in names {
            let to = dir.join(name);
            if to.with_extension("idx").symlink_metadata().is_ok() {
                continue;
            }
            // What an interrupted attempt has left.
            let _ = fs::remove_file(&to);
            self.link_file(&pack, &to)?;
            return self.link_file(index, &to.with_extension("idx"));
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    fn link_loose(&mut self, path: &Path, oid: &Oid, theirs: &Alternates) -> io::Result<()> {
        let to = loose_path(&self.dir, oid);
        make_private_dir(to.parent().unwrap_or(&self.dir))?;
        self.link_file(path, &to)?;
        if !theirs.is_whole(&to, oid) {
            fs::remove_file(&to)?;
            return Err(io::ErrorKind::InvalidData.into());
        }
        self.links += 1;
        Ok(())
    }

    /// Links a plain file; it may have been exchanged for something else just now.
    fn link_file(&self, from: &Path, to: &Path) -> io::Result<()> {
        (self.link)(from, to)?;
        if to.symlink_metadata()?.is_file() {
            return Ok(());
        }
        fs::remove_file(to)?;
        Err(io::ErrorKind::InvalidInput.into())
    }

    /// How many files have a content that is not kept, or not yet, in words.
    pub(crate) fn at_risk(&self, own: &PackStore, theirs: &Alternates, seen: &Entries) -> Option<String> {
        if self.waiting.is_empty() && self.missed.is_empty() {
            return None;
        }
        let waiting: HashSet<&Oid> = self.waiting.iter().collect();
        let is_waiting = |oid: &Oid| waiting.contains(oid) && !theirs.is_kept(&self.dir, oid);
        let is_at_risk = |oid: &Oid| !own.has(oid) && (self.missed.contains(oid) || is_waiting(oid));
        let files = seen.values().filter_map(|entry| entry.state.oid()).filter(is_at_risk).count();
        let (are, they) = if files == 1 { ("file is", "it") } else { ("files are", "they") };
        let number = thousands(files as u64);
        let words = "only in your repository's .git: if that is harmed";
        (files > 0).then(|| format!("{number} {are} {words}, {they} cannot be taken back"))
    }

    /// As on a system without links, and with room for so many bytes.
    #[cfg(test)]
    pub(crate) fn refuse_links(&mut self, left: u64) {
        let refuse: fn(&Path, &Path) -> io::Result<()> = |_, _| Err(io::ErrorKind::CrossesDevices.into());
        (self.link, self.left) = (refuse, left);
    }
}
