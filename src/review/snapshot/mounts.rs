//! What is mounted below the root, compared with what was when the session began.
//!
//! Reads what the system says of mounts, and none of them. Invariants: it is bounded; where the system does not say it, nothing
//! is said to have changed.

use crate::review::dir::{read_json, write_json};
use crate::review::error::ReviewError;
use crate::review::worktree::plain::{self, Links};
use crate::review::worktree::walk::{self, RelPath};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const FILE: &str = "mounts";
/// Where the system says it.
const INFO: &str = "/proc/self/mountinfo";
/// Bytes of that.
const LARGEST: u64 = 4 << 20;

/// By where it is mounted, all that is mounted there, one over the other: the file system, and which directory or file of it.
type Mounted = BTreeMap<RelPath, Vec<u8>>;

/// Those of the first look.
pub(crate) struct Mounts {
    store: PathBuf,
    /// Nothing where that was not known.
    first: Option<Mounted>,
}

/// What has become of a place at which something is mounted, or was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Became {
    Mounted,
    Unmounted,
    Another,
}

impl Mounts {
    pub(crate) fn new(store: &Path) -> Self {
        Self { store: store.to_owned(), first: None }
    }

    /// As it was written down in `store`.
    pub(crate) fn read(store: &Path) -> Self {
        let rows: Option<Vec<(Vec<u8>, Vec<u8>)>> = read_json(&store.join(FILE)).ok();
        let first = rows.map(|rows| rows.into_iter().map(|(key, what)| (key.into(), what)).collect());
        Self { first, ..Self::new(store) }
    }

    /// Takes note of what is mounted below `root`.
    pub(crate) fn note(&mut self, root: &Path) -> Result<(), ReviewError> {
        self.first = mounted(root);
        let Some(first) = &self.first else { return Ok(()) };
        let rows: Vec<(&[u8], &Vec<u8>)> = first.iter().map(|(key, what)| (&**key, what)).collect();
        write_json(&self.store.join(FILE), &rows)
    }

    /// Where that is not what it was.
    pub(crate) fn differing(&self, root: &Path) -> Vec<(RelPath, Became)> {
        let Some((first, now)) = self.first.as_ref().zip(mounted(root)) else { return Vec::new() };
        let gone = first.keys().filter(|key| !now.contains_key(*key)).map(|key| (key.clone(), Became::Unmounted));
        let other = now.iter().filter_map(|(key, what)| match first.get(key) {
            None => Some((key.clone(), Became::Mounted)),
            Some(was) => (was != what).then(|| (key.clone(), Became::Another)),
        });
        gone.chain(other).collect()
    }
}

/// What is mounted below `root` now; nothing where the system does not say it.
fn mounted(root: &Path) -> Option<Mounted> {
    Some(below(&plain::read(Path::new(INFO), Links::Followed, LARGEST).ok()??, root))
}

/// What is mounted below `root` by the lines of `info`.
fn below(info: &[u8], root: &Path) -> Mounted {
    let mut all = Mounted::new();
    for line in info.split(|byte| *byte == b'\n') {
        // Its number, that of the one it is in, the file system, the directory of it, and where that is.
        let mut fields = line.split(|byte| *byte == b' ').skip(2);
        let (Some(device), Some(dir), Some(place)) = (fields.next(), fields.next(), fields.next()) else { continue };
        let place = unescaped(place);
        let Ok(place) = walk::path(&place).strip_prefix(root) else { continue };
        if !place.as_os_str().is_empty() {
            let what = all.entry(walk::bytes(place).into()).or_default();
            what.extend([device, b" ", dir, b"\n"].concat());
        }
    }
    all
}

/// Blanks and the like are written as `\` and three digits.
fn unescaped(text: &[u8]) -> Vec<u8> {
    let (mut out, mut rest) = (Vec::with_capacity(text.len()), text);
    while let Some((first, more)) = rest.split_first() {
        let digits = more.get(..3).filter(|digits| *first == b'\\' && digits.iter().all(|d| (b'0'..b'8').contains(d)));
        match digits {
            Some(digits) => {
                out.push(digits.iter().fold(0_u8, |byte, digit| byte.wrapping_mul(8).wrapping_add(digit - b'0')));
                rest = &more[3..];
            }
            None => {
                out.push(*first);
                rest = more;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &[u8] =
        b"22 1 8:1 / / rw - ext4 a rw\n30 22 8:1 /w/x /w/tree/a\\040b rw - ext4 a rw\n31 22 0:9 / /w/tree/c rw\n";

    #[test]
    fn what_is_mounted_below_the_root_is_known_by_where_and_what_it_is() {
        let all = below(BEFORE, Path::new("/w/tree"));
        let keys: Vec<&[u8]> = all.keys().map(|key| &**key).collect();
        assert_eq!(keys, [&b"a b"[..], b"c"]);
        assert!(below(BEFORE, Path::new("/w/tree/c")).is_empty(), "the root itself is compared elsewhere");
        assert!(below(b"\n1 2\nx", Path::new("/")).is_empty());
    }

    #[test]
    fn what_came_and_went_since_is_told_also_after_a_restart() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let mut mounts = Mounts::new(&root);
        mounts.note(&root).unwrap();
        if mounts.first.is_none() {
            return;
        }
        assert_eq!(Mounts::read(&root).first, mounts.first);
        assert!(mounts.differing(&root).is_empty());
        mounts.first = Some(Mounted::from([(b"gone"[..].into(), b"8:1 /\n".to_vec())]));
        assert_eq!(mounts.differing(&root), [(b"gone"[..].into(), Became::Unmounted)]);
        assert!(Mounts::read(Path::new("/nowhere")).differing(&root).is_empty());
    }

    #[test]
    fn one_over_another_is_something_else() {
        let root = Path::new("/w/tree");
        let twice = [BEFORE, b"40 31 8:1 /etc /w/tree/c rw\n"].concat();
        let (one, other) = (below(BEFORE, root), below(&twice, root));
        assert_ne!(one[&b"c"[..]], other[&b"c"[..]]);
        assert_eq!(one[&b"a b"[..]], other[&b"a b"[..]]);
    }
}
