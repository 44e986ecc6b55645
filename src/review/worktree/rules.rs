//! What git ignores: rules of files, from the top of a repository down to a directory.
//!
//! Opens nothing that `plain` has not looked at. Invariant: a file of rules that cannot be used counts as none, so that
//! more is seen and nothing is hidden.

use super::plain::{self, Links, Odd};
use super::repo;
use super::walk::{self, RelPath};
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::path::Path;
use std::sync::Arc;

/// The name of a file of rules in a working tree.
pub(crate) const NAME: &str = ".gitignore";
/// A larger file of rules is not applied: what they are compiled to has many times their size.
pub(crate) const LARGEST: u64 = 128 << 10;
/// Nor are those that come after so many bytes of rules in the directories above.
pub(crate) const TOGETHER: usize = 256 << 10;

/// Any rules of so many bytes can be compiled.
const SMALL: usize = 8 << 10;

/// What the text of a file of rules says.
fn parse(text: &[u8]) -> Result<Gitignore, Odd> {
    let mut builder = GitignoreBuilder::new("");
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    for line in text.split(|byte| *byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if let Ok(line) = std::str::from_utf8(line) {
            // A line that is no rule is none.
            let _ = builder.add_line(None, line);
        }
    }
    builder.build().map_err(|_| Odd::Broken)
}

/// The bytes of a file of rules in a working tree, if it can be used.
fn text(file: &Path, links: Links) -> Option<Vec<u8>> {
    plain::read(file, links, LARGEST).ok().flatten()
}

/// Why a file of rules is not applied, if so.
pub(crate) fn why_not(file: &Path, links: Links) -> Option<Odd> {
    match plain::read(file, links, LARGEST) {
        // What is small can be compiled.
        Ok(text) => parse(&text.filter(|text| text.len() > SMALL)?).err(),
        Err(odd) => Some(odd),
    }
}

/// The rules of one file, and where what they are about begins in a path.
struct File {
    rules: Gitignore,
    skip: usize,
}

impl File {
    fn of(dir: &Path, text: Option<&[u8]>) -> Option<Self> {
        let rules = parse(text?).ok().filter(|rules| !rules.is_empty())?;
        let len = walk::bytes(dir).len();
        // The root of all has its slash already.
        Some(Self { rules, skip: if walk::bytes(dir).ends_with(b"/") { len } else { len + 1 } })
    }

    /// Whether they hide a path or say that it is not hidden; nothing when they do not speak of it.
    fn say(&self, full: &[u8], is_dir: bool) -> Option<bool> {
        let said = self.rules.matched(walk::path(full.get(self.skip..)?), is_dir);
        if said.is_none() { None } else { Some(said.is_ignore()) }
    }
}

/// The rules that hold in a directory: its own, and those above.
pub(crate) struct Rules {
    above: Option<Arc<Rules>>,
    /// Those of the person's settings.
    global: Option<Arc<File>>,
    own: Option<File>,
    exclude: Option<File>,
    /// Rules count in repositories only.
    in_git: bool,
    /// Here begins a repository: rules of directories above do not count.
    top: bool,
    /// Whether any rules count here.
    apply: bool,
    /// Bytes of the rules here and above.
    bytes: usize,
}

impl Rules {
    /// Those that hold at `root`, without its own. `in_git`: there are rules in repositories only.
    pub(crate) fn above(root: &Path, in_git: bool) -> Arc<Self> {
        let global = repo::global_exclude().and_then(|file| text(&file, Links::Followed));
        let mut rules = Arc::new(Self {
            above: None,
            global: File::of(root, global.as_deref()).map(Arc::new),
            own: None,
            exclude: None,
            in_git,
            top: false,
            apply: !in_git,
            bytes: 0,
        });
        if in_git && !is_top(root) {
            let above: Vec<&Path> = root.ancestors().skip(1).collect();
            // Rules above the repository are not meant for it.
            let top = above.iter().position(|dir| is_top(dir)).map_or(0, |at| at + 1);
            for dir in above[..top].iter().rev() {
                rules = rules.with(dir, text(&dir.join(NAME), Links::Refused), is_top(dir));
            }
        }
        rules
    }

    /// Those that hold in `dir` below, which says `own`, and in which a repository may begin.
    pub(crate) fn with(self: Arc<Self>, dir: &Path, own: Option<Vec<u8>>, is_top: bool) -> Arc<Self> {
        let exclude = if is_top { repo::exclude(dir).and_then(|file| text(&file, Links::Followed)) } else { None };
        let mut bytes = self.bytes;
        let mut take = |text: Option<Vec<u8>>| {
            let text = text.filter(|text| bytes + text.len() <= TOGETHER)?;
            bytes += text.len();
            File::of(dir, Some(&text))
        };
        let (own, exclude, top) = (take(own), take(exclude), is_top && self.in_git);
        if own.is_none() && exclude.is_none() && !top {
            return self;
        }
        let (global, in_git, apply) = (self.global.clone(), self.in_git, self.apply || top);
        Arc::new(Self { above: Some(self), global, own, exclude, in_git, top, apply, bytes })
    }

    /// Whether they hide what is at a full path.
    pub(crate) fn hide(&self, full: &[u8], is_dir: bool) -> bool {
        if !self.apply {
            return false;
        }
        let (mut own, mut exclude, mut at) = (None, None, Some(self));
        while let Some(rules) = at {
            own = own.or_else(|| rules.own.as_ref()?.say(full, is_dir));
            if own.is_some() {
                break;
            }
            exclude = exclude.or_else(|| rules.exclude.as_ref()?.say(full, is_dir));
            at = if rules.top { None } else { rules.above.as_deref() };
        }
        let global = || self.global.as_ref()?.say(full, is_dir);
        own.or(exclude).or_else(global).unwrap_or(false)
    }
}

/// Whether a repository begins in a directory.
pub(crate) fn is_top(dir: &Path) -> bool {
    dir.join(".git").metadata().is_ok()
}

/// What a file of rules said earlier.
pub(crate) struct OldRules {
    dir: RelPath,
    rules: Gitignore,
}

impl OldRules {
    /// `key` is the file that said `text`. Nothing when that were no rules.
    pub(crate) fn of(key: &[u8], text: &[u8]) -> Option<Self> {
        let dir = key.iter().rposition(|byte| *byte == b'/').map_or(&key[..0], |at| &key[..at]);
        if text.len() as u64 > LARGEST {
            return None;
        }
        Some(Self { dir: dir.into(), rules: parse(text).ok()? })
    }

    /// Whether they hide a file.
    pub(crate) fn hide(&self, key: &[u8]) -> bool {
        let inside = if self.dir.is_empty() {
            Some(key)
        } else {
            key.strip_prefix(&*self.dir).and_then(|rest| rest.strip_prefix(b"/"))
        };
        inside.is_some_and(|inside| self.rules.matched_path_or_any_parents(walk::path(inside), false).is_ignore())
    }
}

#[cfg(test)]
#[path = "rules_tests.rs"]
mod tests;
