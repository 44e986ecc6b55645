//! Files of rules as they are changed: the person's own, and one for each directory, kept with what else is the program's.
//!
//! Blocks on the disk. Judges nothing. Invariants: a file that is written is whole, its owner's, and readable by no
//! other else; a directory's rules are never in the directory.

use crate::base::digest::digest;
use crate::host::fs::read_written;
use crate::rules::{Edit, NotEdited, edit};
use crate::store::lock::Lock;
use crate::store::private::{make_private_dir, open_as, private_file};
use crate::store::replace::{Durability, Replacement};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Characters of a directory's name in that of its file.
const MAX_NAME: usize = 40;

/// Why the rules are as they were.
#[derive(Debug, thiserror::Error)]
pub enum NotChanged {
    #[error(transparent)]
    Edit(#[from] NotEdited),
    #[error("{0}")]
    Unread(String),
    #[error(transparent)]
    Unwritten(#[from] io::Error),
}

/// Where the rules of a directory are that its person has made, among all of them.
pub fn of_directory(all: &Path, cwd: &Path) -> PathBuf {
    let name = cwd.file_name().unwrap_or_default().to_string_lossy();
    let name: String =
        name.chars().filter(|c| c.is_ascii_alphanumeric() || "-_.".contains(*c)).take(MAX_NAME).collect();
    all.join(format!("{name}-{:016x}.toml", digest(&[cwd.as_os_str().as_encoded_bytes()])))
}

/// How the first line of such a file begins and ends.
const HEADING: [&str; 2] = ["# Rules for ", ", made in questions.\n"];

/// The first line of such a file: which directory it is of. Others may have the same number.
pub fn heading(cwd: &Path) -> String {
    let [start, end] = HEADING;
    format!("{start}{}{end}", cwd.as_os_str().as_encoded_bytes().escape_ascii())
}

/// Whether a file with this heading is this one: it stands in it, or none does, since somebody has taken it away.
pub fn is_headed(text: &str, heading: &str) -> bool {
    let [start, end] = HEADING;
    let mut headings =
        text.split_inclusive('\n').filter(|line| line.starts_with(start) && line.ends_with(end)).peekable();
    headings.peek().is_none() || headings.any(|line| line == heading)
}

/// Changes a file of rules; `heading` begins a new one.
pub fn change(file: &Path, heading: &str, change: Edit<'_>) -> Result<(), NotChanged> {
    // A link stays one: what it leads to is written.
    let file = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    // Held until the file is written, so that of two who change it at once neither loses what the other added.
    let _lock = lock(&file)?;
    let text = read_text(&file).map_err(NotChanged::Unread)?.unwrap_or_else(|| heading.to_owned());
    if !heading.is_empty() && !is_headed(&text, heading) {
        return Err(NotChanged::Unread("it is for another directory; move it away".to_owned()));
    }
    Ok(write(&file, &below(heading, &text, change)?)?)
}

/// The text with the change, and with the heading on top: a list may be put before the first one, with the comment right above it.
fn below(heading: &str, text: &str, change: Edit<'_>) -> Result<String, NotEdited> {
    let Some(rules) = text.strip_prefix(heading).filter(|_| !heading.is_empty()) else {
        return Ok(format!("{heading}{}", edit(text, change)?));
    };
    // A blank line in its place, so that a fault is told with the line where it stands.
    let edited = edit(&format!("\n{rules}"), change)?;
    Ok(format!("{heading}{}", edited.strip_prefix('\n').unwrap_or(&edited)))
}

/// Waits a while for others who change the file. The file itself is replaced, so that a lock on it would say nothing.
fn lock(file: &Path) -> io::Result<Lock> {
    std::fs::create_dir_all(file.parent().ok_or(io::ErrorKind::NotFound)?)?;
    let lock = file.with_extension("toml.lock");
    Lock::within(open_as(private_file().write(true).create(true).truncate(false), &lock)?)
}

/// In one step, so that a reader finds the old or the new rules; for the owner alone.
fn write(file: &Path, text: &str) -> io::Result<()> {
    let mut new = Replacement::of(file)?;
    new.write_all(text.as_bytes())?;
    new.finish(Durability::Whole)
}

/// A place for the rules of directories, for its owner only.
pub fn make_place(all: &Path) -> io::Result<()> {
    make_private_dir(all)
}

/// The text of a rules file; `None` when there is none.
pub fn read_text(file: &Path) -> Result<Option<String>, String> {
    match file.metadata() {
        // Where a directory above it is none, there is no such file either.
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => Ok(None),
        _ => read_written(file),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::Verdict;
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt as _;

    fn add(pattern: &str) -> Edit<'_> {
        Edit { list: Verdict::Allow, pattern, agent: None, reason: None, until: None, is_removal: false }
    }

    #[test]
    fn what_is_written_is_whole_and_the_owners_alone() {
        let temp = tempfile::tempdir().unwrap();
        let file = temp.path().join("new/rules.toml");
        change(&file, "", add("Bash(ls)")).unwrap();
        std::fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
        change(&file, "", add("Bash(pwd)")).unwrap();
        assert_eq!(read_text(&file).unwrap().unwrap(), "allow = [\n    \"Bash(ls)\",\n    \"Bash(pwd)\",\n]\n");
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert!(matches!(change(&file, "", add("Bash(ls)")), Err(NotChanged::Edit(NotEdited::There))));
        assert!(change(temp.path(), "", add("Bash(ls)")).is_err());
    }

    #[test]
    fn a_directorys_rules_are_not_changed_in_a_file_of_another_one() {
        let temp = tempfile::tempdir().unwrap();
        let (one, other) = (Path::new("/a/p\n"), Path::new("/b/p"));
        let file = of_directory(temp.path(), one);
        assert!(file != of_directory(temp.path(), other) && file.starts_with(temp.path()));
        change(&file, &heading(one), add("Bash(ls)")).unwrap();
        assert!(read_text(&file).unwrap().unwrap().starts_with("# Rules for /a/p\\n, made in questions.\nallow"));
        assert!(matches!(change(&file, &heading(other), add("Bash(w)")), Err(NotChanged::Unread(_))));
    }

    #[test]
    fn another_list_comes_below_the_heading() {
        let temp = tempfile::tempdir().unwrap();
        let (file, heading) = (temp.path().join("p.toml"), heading(Path::new("/a/p")));
        let deny = |pattern| Edit { list: Verdict::Deny, ..add(pattern) };
        let text = || read_text(&file).unwrap().unwrap();
        change(&file, &heading, add("Bash(ls)")).unwrap();
        change(&file, &heading, deny("Bash(rm *)")).unwrap();
        let both = format!("{heading}deny = [\n    \"Bash(rm *)\",\n]\n\nallow = [\n    \"Bash(ls)\",\n]\n");
        assert_eq!(text(), both);
        let list = Edit { agent: Some("one"), list: Verdict::Ask, ..add("Read") };
        change(&file, &heading, list).unwrap();
        change(&file, &heading, Edit { is_removal: true, ..list }).unwrap();
        assert_eq!(text(), both);

        // As earlier versions have left it, and as somebody has who took the heading away.
        let rules = both.strip_prefix(&heading).unwrap();
        for written in [rules.replacen("allow", &format!("{heading}allow"), 1), rules.to_owned()] {
            std::fs::write(&file, &written).unwrap();
            change(&file, &heading, deny("Bash(w)")).unwrap();
            assert!(text().starts_with(&heading) && text().contains("Bash(w)") && is_headed(&text(), &heading));
        }
        std::fs::write(&file, format!("{heading}allow = [\n1]\n")).unwrap();
        let malformed = change(&file, &heading, add("Read")).unwrap_err();
        assert!(malformed.to_string().starts_with("line 3: "), "{malformed}");
    }
}
