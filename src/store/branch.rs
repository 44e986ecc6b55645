//! The git branch that a directory is on, for the header of a journal.
//!
//! Starts no git and writes nothing. Invariant: of what lies there only two small plain files of the person's own are
//! read; anything odd is no branch.

use super::lines;
use std::io::Read as _;
use std::path::{Path, PathBuf};

const MAX_FILE: u64 = 4 << 10;
const BRANCHES: &str = "ref: refs/heads/";

/// The branch; nothing without a repository, or when it is on none.
pub fn of(dir: &Path) -> Option<String> {
    let git = dir.ancestors().map(|dir| dir.join(".git")).find(|git| git.symlink_metadata().is_ok())?;
    let git = if git.is_dir() { git } else { linked(&git)? };
    Some(read(&git.join("HEAD"))?.strip_prefix(BRANCHES)?.to_owned())
}

/// Where the repository of a further working tree is.
fn linked(file: &Path) -> Option<PathBuf> {
    let text = read(file)?;
    Some(file.parent()?.join(text.strip_prefix("gitdir: ")?))
}

fn read(path: &Path) -> Option<String> {
    let mut text = String::new();
    lines::open(path).ok()?.take(MAX_FILE).read_to_string(&mut text).ok()?;
    let line = text.lines().next()?.trim_end();
    (text.lines().count() == 1 && !line.is_empty()).then(|| line.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_branch_is_found_from_below_and_in_a_further_working_tree() {
        let temp = tempfile::tempdir().unwrap();
        let (main, tree) = (temp.path().join("main"), temp.path().join("tree"));
        fs::create_dir_all(main.join(".git/worktrees/tree")).unwrap();
        fs::create_dir_all(main.join("src/deep")).unwrap();
        fs::create_dir(&tree).unwrap();
        fs::write(main.join(".git/HEAD"), "ref: refs/heads/feature/one\n").unwrap();
        fs::write(main.join(".git/worktrees/tree/HEAD"), "ref: refs/heads/two\n").unwrap();
        fs::write(tree.join(".git"), "gitdir: ../main/.git/worktrees/tree\n").unwrap();
        assert_eq!(of(&main.join("src/deep")).as_deref(), Some("feature/one"));
        assert_eq!(of(&tree).as_deref(), Some("two"));
    }

    #[test]
    fn what_is_odd_is_no_branch() {
        let temp = tempfile::tempdir().unwrap();
        assert_eq!(of(temp.path()), None);
        let head = temp.path().join(".git/HEAD");
        fs::create_dir(temp.path().join(".git")).unwrap();
        for text in ["", "0123456789abcdef\n", "ref: refs/tags/x\n", "ref: refs/heads/a\nb\n", "\u{0}"] {
            fs::write(&head, text).unwrap();
            assert_eq!(of(temp.path()), None, "{text:?}");
        }
        fs::remove_file(&head).unwrap();
        std::os::unix::fs::symlink("elsewhere", &head).unwrap();
        assert_eq!(of(temp.path()), None);
    }
}
