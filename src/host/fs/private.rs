//! Paths that the client keeps for itself: its state, and the files that it was asked to write.
//!
//! Which these are its caller says; it changes nothing. Invariant: such a path is recognised under every name by which
//! it can be reached, through links, another mount or, where the file system does not tell them apart, in other case.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::policy::real_path;

/// Real paths; what is below one belongs to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Private {
    paths: Vec<PathBuf>,
}

/// What the system knows a file or directory by.
type Identity = (u64, u64);

impl Private {
    /// `paths` are absolute and need not exist. One that is a link is kept as well as what it leads to.
    pub fn new(paths: impl IntoIterator<Item = PathBuf>) -> Self {
        let mut real: Vec<PathBuf> = Vec::new();
        for path in paths {
            let parent = path.parent().and_then(real_path);
            let itself = parent.zip(path.file_name()).map(|(parent, name)| parent.join(name));
            for found in itself.into_iter().chain(real_path(&path)) {
                if !real.contains(&found) {
                    real.push(found);
                }
            }
        }
        Self { paths: real }
    }

    pub fn paths(&self) -> &[PathBuf] {
        &self.paths
    }

    /// Whether a real path is one of them or lies below one; neither need exist.
    pub fn holds(&self, real: &Path) -> bool {
        if self.paths.iter().any(|own| real.starts_with(own)) {
            return true;
        }
        let own: Vec<Place<'_>> = self.paths.iter().map(|path| Place::of(path)).collect();
        !own.is_empty() && real.ancestors().map(Place::of).any(|place| own.iter().any(|own| place.is(own)))
    }

    /// The system's numbers of those that are there. A file with none of these is none of them under its own name.
    pub fn numbers(&self) -> BTreeSet<u64> {
        self.paths.iter().filter_map(|path| Some(identity(&look(path)?).1)).collect()
    }
}

fn look(path: &Path) -> Option<Metadata> {
    path.symlink_metadata().ok()
}

fn identity(meta: &Metadata) -> Identity {
    (meta.dev(), meta.ino())
}

/// A name, and what is there now.
struct Place<'a> {
    path: &'a Path,
    meta: Option<Metadata>,
}

impl<'a> Place<'a> {
    fn of(path: &'a Path) -> Self {
        Self { path, meta: look(path) }
    }

    /// Whether two names are of one place. Another name of a file's content, a hard link, is a place of its own.
    fn is(&self, own: &Place<'_>) -> bool {
        let found = self.meta.as_ref().zip(own.meta.as_ref());
        let found = found.map(|(one, other)| (identity(one) == identity(other), one.is_dir()));
        if let Some((same, true)) = found {
            return same;
        }
        let (Some(name), Some(own_name)) = (self.path.file_name(), own.path.file_name()) else { return false };
        let fold = |name: &OsStr| name.to_string_lossy().to_lowercase();
        // A file system that does not mind the case finds the same file under both names.
        let alike = name == own_name || found.is_some_and(|(same, _)| same) && fold(name) == fold(own_name);
        let parent = |path: &Path| path.parent().and_then(look).map(|meta| identity(&meta));
        alike && parent(own.path).is_some_and(|dir| parent(self.path) == Some(dir))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    fn is_same(one: &Path, other: &Path) -> bool {
        Place::of(one).is(&Place::of(other))
    }

    fn lab() -> (tempfile::TempDir, PathBuf) {
        let temp = tempfile::tempdir().unwrap();
        let base = temp.path().canonicalize().unwrap();
        fs::create_dir_all(base.join("state/review/one")).unwrap();
        fs::write(base.join("state/review/one/ledger"), "").unwrap();
        (temp, base)
    }

    #[test]
    fn what_lies_below_belongs_to_it_and_what_only_begins_alike_does_not() {
        let (_temp, base) = lab();
        let private = Private::new([base.join("state/review"), base.join("state/crashes"), base.join("r.json")]);
        for own in ["state/review", "state/review/one/ledger", "state/review/new/x", "state/crashes", "state/crashes/1"]
        {
            assert!(private.holds(&base.join(own)), "{own}");
        }
        for other in ["state", "state/reviews", "state/other", "r.json.bak", "sub/r.json"] {
            assert!(!private.holds(&base.join(other)), "{other}");
        }
        assert!(private.holds(&base.join("r.json")) && !Private::default().holds(&base.join("r.json")));
    }

    #[test]
    fn links_and_detours_lead_to_the_same() {
        let (_temp, base) = lab();
        symlink(base.join("state"), base.join("door")).unwrap();
        symlink("gone/out.json", base.join("out.json")).unwrap();
        let private = Private::new([base.join("door/../state/./review"), base.join("out.json")]);
        assert!(private.holds(&base.join("state/review/one")));
        // The link is ours, and the file that it will lead to.
        assert!(private.holds(&base.join("out.json")) && private.holds(&base.join("gone/out.json")));
    }

    #[test]
    fn another_name_of_the_same_directory_is_recognised() {
        let (_temp, base) = lab();
        let private = Private::new([base.join("state/review")]);
        // Renamed since: what the system knows it by is asked each time, so a new one of that name counts as well.
        fs::rename(base.join("state"), base.join("moved")).unwrap();
        assert!(!private.holds(&base.join("moved/review/one")), "nothing is known of what was moved away");
        fs::create_dir(base.join("state")).unwrap();
        fs::rename(base.join("moved/review"), base.join("state/review")).unwrap();
        assert!(private.holds(&base.join("state/review/one")));
        assert!(is_same(&base.join("state/../state/review"), &base.join("state/review")));
        assert_eq!(private.numbers().len(), 1);
    }

    #[test]
    fn a_name_in_other_case_counts_where_it_is_the_same_file() {
        let (_temp, base) = lab();
        let own = base.join("r.json");
        fs::write(&own, "").unwrap();
        let folds = base.join("R.JSON").exists();
        fs::write(base.join("R.JSON"), "").unwrap();
        assert_eq!(is_same(&base.join("R.JSON"), &own), folds);
        assert!(!is_same(&base.join("state/r.json"), &own));
    }

    #[test]
    fn a_hard_link_is_a_file_of_its_own() {
        let (_temp, base) = lab();
        fs::hard_link(base.join("state/review/one/ledger"), base.join("linked")).unwrap();
        assert!(!Private::new([base.join("state/review")]).holds(&base.join("linked")));
    }
}
