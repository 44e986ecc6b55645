//! Which directory one in a git worktree of ours stands for, also when the worktree has been discarded.
//!
//! Plain data; looks at no disk. Invariant: a directory in no worktree stands for itself.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

/// A directory that worktrees were made from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The directory that its worktrees are in, one below it for each.
    pub worktrees: PathBuf,
    /// The top of the working tree.
    pub top: PathBuf,
    /// The refs that keep what was in worktrees that were discarded, by their names.
    pub discarded: BTreeMap<String, String>,
}

/// All of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origins(Vec<Origin>);

/// A worktree that was discarded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Discarded {
    pub path: PathBuf,
    /// The top of the working tree that it came from.
    pub origin: PathBuf,
    /// The ref that keeps all that was in it.
    pub kept: String,
}

impl Origins {
    pub fn new(all: Vec<Origin>) -> Self {
        Self(all)
    }

    /// The origin of the worktree that a directory is in, the name of the worktree, and the way from there.
    fn find<'a>(&self, dir: &'a Path) -> Option<(&Origin, &'a str, &'a Path)> {
        self.0.iter().find_map(|origin| {
            let mut below = dir.strip_prefix(&origin.worktrees).ok()?.components();
            let Component::Normal(name) = below.next()? else { return None };
            Some((origin, name.to_str()?, below.as_path()))
        })
    }

    /// The directory that one in a worktree stands for: that of the same place in what the worktree came from.
    pub fn home_of(&self, dir: &Path) -> PathBuf {
        match self.find(dir) {
            // Joining nothing would leave a slash at its end.
            Some((origin, _, below)) => origin.top.components().chain(below.components()).collect(),
            None => dir.to_owned(),
        }
    }

    /// Whether both are the same directory, or stand for the same one.
    pub fn are_alike(&self, a: &Path, b: &Path) -> bool {
        a == b || self.home_of(a) == self.home_of(b)
    }

    /// Whether a directory is in a worktree, or was.
    pub fn is_worktree(&self, dir: &Path) -> bool {
        self.find(dir).is_some()
    }

    /// The worktree of a directory that is not there any more, where it was discarded.
    pub fn discarded(&self, dir: &Path) -> Option<Discarded> {
        let (origin, name, _) = self.find(dir)?;
        let kept = origin.discarded.get(name)?.clone();
        Some(Discarded { path: origin.worktrees.join(name), origin: origin.top.clone(), kept })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_in_a_worktree_stands_for_the_same_place_of_its_origin_and_any_other_for_itself() {
        let discarded = [("w1".to_owned(), "refs/kept".to_owned())].into();
        let origins = Origins::new(vec![Origin { worktrees: "/s/shop-1".into(), top: "/shop".into(), discarded }]);
        let home = |dir: &str| origins.home_of(Path::new(dir));
        assert_eq!(home("/s/shop-1/w1/src").as_os_str(), "/shop/src");
        assert_eq!(home("/s/shop-1/w2").as_os_str(), "/shop");
        for itself in ["/shop", "/s/shop-1", "/s/shop-12/w1", "/"] {
            assert_eq!(home(itself).as_os_str(), itself);
        }
        let alike = |a: &str, b: &str| origins.are_alike(Path::new(a), Path::new(b));
        assert!(alike("/shop", "/s/shop-1/w1") && alike("/s/shop-1/w2/a", "/s/shop-1/w1/a"));
        assert!(!alike("/shop", "/s/shop-1/w1/src") && !alike("/shop/src", "/shop"));
        let gone = |dir: &str| origins.discarded(Path::new(dir)).map(|one| (one.path, one.origin, one.kept));
        assert_eq!(gone("/s/shop-1/w1/src"), Some(("/s/shop-1/w1".into(), "/shop".into(), "refs/kept".into())));
        assert_eq!((gone("/s/shop-1/w2"), gone("/shop")), (None, None));
    }
}
