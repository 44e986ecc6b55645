//! What git ignores: rules of files, from the top of a repository down to a directory.
//!
//! Opens nothing that `plain` has not looked at. Invariants: a file of rules that cannot be used counts as none, so that
//! more is seen and nothing is hidden; and what rules cost in time and memory is bounded, in one file, from the root down
//! to a directory and in one look, however many there are.

use super::plain::{self, Links, Odd};
use super::repo;
use super::walk::{self, RelPath};
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The name of a file of rules in a working tree.
pub(crate) const NAME: &str = ".gitignore";
/// A larger file of rules is not applied: what they are compiled to has many times their size.
pub(crate) const LARGEST: u64 = 128 << 10;
/// Bytes of patterns in one file that is applied. What they are compiled to may have 1,500 times as many, and takes a
/// millisecond for each 150 of them; any so many can be compiled.
pub(crate) const PATTERNS: usize = 16 << 10;
/// Nor are those applied that come after so much in the directories above.
const TOGETHER: Size = Size { bytes: 256 << 10, patterns: 32 << 10 };
/// Nor those that come after so much in one look.
const IN_ONE_LOOK: Size = Size { bytes: 4 << 20, patterns: 256 << 10 };

/// How much there is of rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Size {
    bytes: usize,
    /// Bytes of lines that are more than a name or an ending.
    patterns: usize,
}

impl Size {
    fn of(text: &[u8]) -> Self {
        let is_pattern = |line: &&[u8]| !line.starts_with(b"#") && !is_plain(line);
        let patterns = text.split(|byte| *byte == b'\n').filter(is_pattern).map(|line| line.len() + 1).sum();
        Self { bytes: text.len(), patterns }
    }

    /// Both together.
    pub(crate) const fn and(self, other: Self) -> Self {
        Self { bytes: self.bytes + other.bytes, patterns: self.patterns + other.patterns }
    }

    const fn fits(self, limit: Self) -> bool {
        self.bytes <= limit.bytes && self.patterns <= limit.patterns
    }

    /// Whether rules from the root down to a directory are applied.
    pub(crate) const fn fits_together(self) -> bool {
        self.fits(TOGETHER)
    }
}

/// Whether a line is a name, a path or an ending: such rules are looked up, and cost little.
fn is_plain(line: &[u8]) -> bool {
    let has = |text: &[u8], bytes: &[u8]| text.iter().any(|byte| bytes.contains(byte));
    let ending = line.strip_prefix(b"!").unwrap_or(line).strip_prefix(b"*.");
    !has(line, b"*?[{\\") || ending.is_some_and(|ending| !has(ending, b"*?[{\\./"))
}

/// What one look may still spend on rules.
pub(crate) struct Budget {
    bytes: AtomicUsize,
    patterns: AtomicUsize,
}

impl Default for Budget {
    fn default() -> Self {
        Self { bytes: AtomicUsize::new(IN_ONE_LOOK.bytes), patterns: AtomicUsize::new(IN_ONE_LOOK.patterns) }
    }
}

impl Budget {
    /// Whether there was enough of it for so much. Once there was not, there is none.
    fn takes(&self, size: Size) -> bool {
        let take = |left: &AtomicUsize, wanted: usize| {
            let less = |left: usize| Some(left.saturating_sub(wanted));
            left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok_and(|before| before >= wanted)
        };
        take(&self.bytes, size.bytes) && take(&self.patterns, size.patterns)
    }
}

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

/// How much there is in a file of rules, or why it is not applied.
pub(crate) fn size(file: &Path, links: Links) -> Result<Size, Odd> {
    let size = plain::read(file, links, LARGEST)?.map_or(Size::default(), |text| Size::of(&text));
    if size.patterns > PATTERNS { Err(Odd::Patterns(PATTERNS)) } else { Ok(size) }
}

/// Why a file of rules is not applied, if so.
pub(crate) fn why_not(file: &Path, links: Links) -> Option<Odd> {
    size(file, links).err()
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
    /// Of the rules here and above.
    size: Size,
}

impl Rules {
    /// Those that hold at `root`, without its own. `in_git`: there are rules in repositories only.
    pub(crate) fn above(root: &Path, in_git: bool) -> Arc<Self> {
        let global = repo::global_exclude().and_then(|file| text(&file, Links::Followed));
        let global = global.filter(|text| Size::of(text).patterns <= PATTERNS);
        let mut rules = Arc::new(Self {
            above: None,
            global: File::of(root, global.as_deref()).map(Arc::new),
            own: None,
            exclude: None,
            in_git,
            top: false,
            apply: !in_git,
            size: Size::default(),
        });
        if in_git && !is_top(root) {
            let above: Vec<&Path> = root.ancestors().skip(1).collect();
            // Rules above the repository are not meant for it.
            let top = above.iter().position(|dir| is_top(dir)).map_or(0, |at| at + 1);
            for dir in above[..top].iter().rev() {
                rules = rules.with(dir, text(&dir.join(NAME), Links::Refused), is_top(dir), &Budget::default()).0;
            }
        }
        rules
    }

    /// Those that hold in `dir` below, which says `own`, and in which a repository may begin; and whether what is left of
    /// the budget was enough for them.
    pub(crate) fn with(
        self: Arc<Self>,
        dir: &Path,
        own: Option<Vec<u8>>,
        is_top: bool,
        budget: &Budget,
    ) -> (Arc<Self>, bool) {
        let exclude = if is_top { repo::exclude(dir).and_then(|file| text(&file, Links::Followed)) } else { None };
        let (mut size, mut is_enough) = (self.size, true);
        let mut take = |text: Option<Vec<u8>>| {
            let text = text?;
            let more = Size::of(&text);
            if more.patterns > PATTERNS || !size.and(more).fits_together() {
                return None;
            }
            is_enough &= budget.takes(more);
            if !is_enough {
                return None;
            }
            size = size.and(more);
            File::of(dir, Some(&text))
        };
        let (own, exclude, top) = (take(own), take(exclude), is_top && self.in_git);
        if own.is_none() && exclude.is_none() && !top {
            return (self, is_enough);
        }
        let (global, in_git, apply) = (self.global.clone(), self.in_git, self.apply || top);
        (Arc::new(Self { above: Some(self), global, own, exclude, in_git, top, apply, size }), is_enough)
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
pub(crate) enum OldRules {
    /// They were not applied.
    None,
    Of(RelPath, Gitignore),
    /// There is not enough of the budget left to know.
    Unknown,
}

impl OldRules {
    /// Those of a file in `dir` that said `text`.
    pub(crate) fn of(dir: &[u8], text: &[u8], budget: &Budget) -> Self {
        let size = Size::of(text);
        if size.bytes as u64 > LARGEST || size.patterns > PATTERNS {
            return Self::None;
        }
        if !budget.takes(size) {
            return Self::Unknown;
        }
        parse(text).map_or(Self::None, |rules| Self::Of(dir.into(), rules))
    }

    /// Whether they may have hidden a file below their directory.
    pub(crate) fn may_hide(&self, key: &[u8]) -> bool {
        match self {
            Self::None => false,
            Self::Of(dir, rules) => {
                rules.matched_path_or_any_parents(walk::path(walk::below(key, dir)), false).is_ignore()
            }
            Self::Unknown => true,
        }
    }
}

#[cfg(test)]
#[path = "rules_tests.rs"]
mod tests;
