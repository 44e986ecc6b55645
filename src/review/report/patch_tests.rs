use super::*;
use proptest::prelude::*;
use std::cell::Cell;
use std::fs;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Command;
use tempfile::TempDir;

#[derive(Clone, Debug, PartialEq, Eq)]
enum Node {
    /// Whether it may be executed, and its content.
    File(bool, Vec<u8>),
    Link(Vec<u8>),
}

type Tree = BTreeMap<PathBuf, Node>;

impl Node {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::File(_, bytes) | Self::Link(bytes) => bytes,
        }
    }

    fn state(&self) -> State {
        let size = self.bytes().len() as u64;
        let oid = Side::file(0o644, self.bytes()).oid().unwrap();
        match self {
            // Bits that a patch cannot say must not get in its way.
            Self::File(true, _) => State::File { oid, mode: 0o750, size },
            Self::File(false, _) => State::File { oid, mode: 0o664, size },
            Self::Link(_) => State::Link { oid, size },
        }
    }
}

/// A patch as one text.
fn whole(changed: &[Changed], content: impl Fn(&State) -> Result<Vec<u8>, ReviewError>) -> Vec<u8> {
    written(changed, content, || Ok(Vec::new())).unwrap()
}

/// The patch between two trees.
fn patch(old: &Tree, new: &Tree) -> Vec<u8> {
    let state = |tree: &Tree, path: &PathBuf| tree.get(path).map(Node::state).unwrap_or_default();
    let mut paths: Vec<&PathBuf> = old.keys().chain(new.keys()).collect();
    paths.sort();
    paths.dedup();
    let changed: Vec<Changed> = paths
        .into_iter()
        .map(|path| Changed {
            path: path.clone(),
            before: state(old, path),
            after: state(new, path),
            causes: Vec::new(),
            turns: Vec::new(),
        })
        .filter(|one| one.before != one.after)
        .collect();
    let content = |state: &State| {
        let Some(oid) = state.oid() else { return Ok(Vec::new()) };
        let found = old.values().chain(new.values()).find(|node| node.state().oid() == Some(oid));
        Ok(found.unwrap().bytes().to_vec())
    };
    whole(&changed, content)
}

fn put(dir: &Path, tree: &Tree) {
    for (path, node) in tree {
        let path = dir.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        match node {
            Node::File(executable, bytes) => {
                fs::write(&path, bytes).unwrap();
                let mode = if *executable { 0o755 } else { 0o644 };
                fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            }
            Node::Link(target) => std::os::unix::fs::symlink(std::ffi::OsStr::from_bytes(target), &path).unwrap(),
        }
    }
}

fn look(dir: &Path) -> Tree {
    let (mut tree, mut open) = (Tree::new(), vec![dir.to_owned()]);
    while let Some(place) = open.pop() {
        for entry in fs::read_dir(place).unwrap() {
            let path = entry.unwrap().path();
            let meta = path.symlink_metadata().unwrap();
            let node = if meta.is_dir() {
                open.push(path);
                continue;
            } else if meta.is_symlink() {
                Node::Link(fs::read_link(&path).unwrap().into_os_string().into_vec())
            } else {
                Node::File(meta.permissions().mode() & 0o100 != 0, fs::read(&path).unwrap())
            };
            tree.insert(path.strip_prefix(dir).unwrap().to_owned(), node);
        }
    }
    tree
}

/// `git apply` in `dir`, which is in no repository, without anybody's settings.
fn apply(dir: &Path, patch: &Path, more: &[&str]) -> Result<(), String> {
    let mut command = Command::new("git");
    command.current_dir(dir).env("GIT_CEILING_DIRECTORIES", "/").env("GIT_CONFIG_GLOBAL", "/dev/null");
    command.env("GIT_CONFIG_NOSYSTEM", "1").env_remove("GIT_DIR").env_remove("GIT_WORK_TREE");
    let out =
        command.args(["apply", "--whitespace=nowarn"]).args(more).arg(patch).output().expect("these tests need git");
    if out.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&out.stderr).into_owned()) }
}

/// The old tree as `git apply -R` gives it: it forgets what a file was that it has to make again, also with git's own
/// patches, and makes a plain one.
fn taken_back(old: &Tree, new: &Tree) -> Tree {
    let moved = |node: &Node| {
        let oid = node.state().oid();
        let may = matches!(node, Node::File(_, bytes) if !bytes.is_empty());
        may && new
            .iter()
            .any(|(path, n)| !old.contains_key(path) && matches!(n, Node::File(..)) && n.state().oid() == oid)
    };
    let known = |path: &PathBuf, node: &Node| match new.get(path) {
        Some(now) => matches!((node, now), (Node::File(..), Node::File(..)) | (Node::Link(_), Node::Link(_))),
        None => moved(node),
    };
    let plain = |path: &PathBuf, node: &Node| {
        if known(path, node) { node.clone() } else { Node::File(false, node.bytes().to_vec()) }
    };
    old.iter().map(|(path, node)| (path.clone(), plain(path, node))).collect()
}

/// Applies the patch and takes it back; says what went wrong.
fn round_trip(old: &Tree, new: &Tree) -> Result<(), String> {
    let text = patch(old, new);
    let lab = TempDir::new().unwrap();
    let (dir, file) = (lab.path().join("tree"), lab.path().join("patch"));
    fs::create_dir(&dir).unwrap();
    put(&dir, old);
    fs::write(&file, &text).unwrap();
    if text.is_empty() {
        return if old == new { Ok(()) } else { Err("an empty patch for a change".into()) };
    }
    for (more, wanted) in [(&[][..], new.clone()), (&["-R"][..], taken_back(old, new))] {
        let shown = String::from_utf8_lossy(&text);
        apply(&dir, &file, more).map_err(|why| format!("{more:?}: {why}\n{shown}"))?;
        let found = look(&dir);
        if found != wanted {
            return Err(format!("{more:?}: {found:?} instead of {wanted:?}\n{shown}"));
        }
    }
    Ok(())
}

/// Without what stands below another of its paths.
fn tree(nodes: impl IntoIterator<Item = (Vec<u8>, Node)>) -> Tree {
    let mut tree = Tree::new();
    for (path, node) in nodes {
        let path = PathBuf::from(std::ffi::OsString::from_vec(path));
        let clash = |other: &PathBuf| other != &path && (other.starts_with(&path) || path.starts_with(other));
        if !tree.keys().any(clash) {
            tree.insert(path, node);
        }
    }
    tree
}

const NAMES: &[&[u8]] = &[
    b"plain.rs",
    b"two words",
    b" leading",
    b"trailing ",
    b"tab\there",
    b"quo\"te",
    b"back\\slash",
    b"line\nend",
    b"-dash",
    b"dir/deep/file",
    b"dir",
    b"dir/deep",
    b"x b/x",
    b"a/b",
    "b/日本".as_bytes(),
    b"\x01\x7f",
    #[cfg(target_os = "linux")]
    b"caf\xe9",
];

fn content() -> impl Strategy<Value = Vec<u8>> {
    let words: &[&[u8]] = &[b"", b"one", b"two", b"\xff\xfe", b"- minus", b"@@ -1 +1 @@", b"\\ No newline", b"\xc3"];
    let line = (prop::sample::select(words), prop::sample::select(vec![&b"\n"[..], b"\n", b"\r\n", b"\r"]));
    let text = (prop::collection::vec(line, 0..30), any::<bool>()).prop_map(|(lines, cut)| {
        let mut text: Vec<u8> = lines.into_iter().flat_map(|(word, end)| [word, end].concat()).collect();
        if cut {
            text.pop();
        }
        text
    });
    let wide = "[a-c\n]{0,20}".prop_map(|text| text.encode_utf16().flat_map(u16::to_le_bytes).collect());
    prop_oneof![6 => text, 1 => prop::collection::vec(any::<u8>(), 0..300), 1 => wide]
}

fn node() -> impl Strategy<Value = Node> {
    let link = prop::sample::select(vec![&b"plain.rs"[..], b"../up", b"with blank", b"n\xc3\xb6"]);
    prop_oneof![
        5 => (any::<bool>(), content()).prop_map(|(executable, bytes)| Node::File(executable, bytes)),
        1 => link.prop_map(|target| Node::Link(target.to_vec())),
    ]
}

#[derive(Clone, Debug)]
enum Edit {
    Keep,
    Delete,
    /// Puts a line at a place, given as a part of 256, or takes the line there away.
    Lines(Vec<(u8, bool)>),
    Mode,
    Replace(Node),
    Move(usize),
}

/// A link to itself is a loop, through which git cannot look for what lies below another link to it.
fn without_loop(name: &[u8], node: Node) -> Node {
    match node {
        Node::Link(target) if target == name => Node::Link(b"../up".to_vec()),
        node => node,
    }
}

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        1 => Just(Edit::Keep),
        1 => Just(Edit::Delete),
        4 => prop::collection::vec(any::<(u8, bool)>(), 1..5).prop_map(Edit::Lines),
        1 => Just(Edit::Mode),
        2 => node().prop_map(Edit::Replace),
        2 => (0..NAMES.len()).prop_map(Edit::Move),
    ]
}

fn edited(name: usize, node: Node, edit: Edit) -> Option<(usize, Node)> {
    let node = match (edit, node) {
        (Edit::Keep, node) => node,
        (Edit::Delete, _) => return None,
        (Edit::Lines(edits), Node::File(executable, bytes)) => {
            let mut lines: Vec<&[u8]> = bytes.split_inclusive(|b| *b == b'\n').collect();
            for (at, insert) in edits {
                let at = usize::from(at) * lines.len() / 256;
                if insert || lines.is_empty() {
                    lines.insert(at, b"new\n");
                } else {
                    lines.remove(at);
                }
            }
            Node::File(executable, lines.concat())
        }
        (Edit::Mode, Node::File(executable, bytes)) => Node::File(!executable, bytes),
        (Edit::Replace(node), _) => node,
        (Edit::Move(to), node) => return Some((to, node)),
        (_, link) => link,
    };
    Some((name, node))
}

proptest! {
    #![proptest_config(crate::random(150))]

    #[test]
    fn git_applies_it_to_the_byte_and_takes_it_back(
        old in prop::collection::btree_map(0..NAMES.len(), (node(), edit()), 0..7),
        fresh in prop::collection::vec((0..NAMES.len(), node()), 0..3),
    ) {
        let named = |(name, node): (usize, Node)| (NAMES[name].to_vec(), without_loop(NAMES[name], node));
        let before = tree(old.iter().map(|(name, (node, _))| (*name, node.clone())).map(named));
        let moved = old.into_iter().filter_map(|(name, (node, edit))| edited(name, node, edit));
        let after = tree(moved.chain(fresh).map(named));
        prop_assert_eq!(round_trip(&before, &after), Ok(()));
    }
}

fn one(path: &str, node: Node) -> Tree {
    tree([(path.as_bytes().to_vec(), node)])
}

fn file(text: &str) -> Node {
    Node::File(false, text.as_bytes().to_vec())
}

fn text(old: &Tree, new: &Tree) -> String {
    String::from_utf8(patch(old, new)).unwrap()
}

#[test]
fn a_file_that_only_moved_is_a_rename() {
    let old = one("old name", file("same\n"));
    let new = one("new", Node::File(true, b"same\n".to_vec()));
    let said = text(&old, &new);
    assert!(said.contains("rename from old name\nrename to new\n") && said.contains("new mode 100755"), "{said}");
    assert!(!said.contains("same"), "{said}");
    // Nothing tells where an empty file has come from.
    let said = text(&one("a", file("")), &one("b", file("")));
    assert!(said.contains("deleted file") && said.contains("new file"), "{said}");
}

#[test]
fn what_git_cannot_express_gives_no_patch() {
    let mut out = Vec::new();
    file_patch(Path::new("a"), &Side::file(0o644, b"x"), &Side::file(0o600, b"x"), &mut out).unwrap();
    assert_eq!(out, b"");
}

#[test]
fn context_is_three_lines_and_far_changes_are_apart() {
    let numbers = |odd: &[u32]| {
        (1..=30).map(|n| if odd.contains(&n) { format!("odd {n}\n") } else { format!("{n}\n") }).collect::<String>()
    };
    let said = text(&one("n", file(&numbers(&[]))), &one("n", file(&numbers(&[5, 25]))));
    assert!(said.contains("@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+odd 5\n 6\n 7\n 8\n@@ -22,7 +22,7 @@\n"), "{said}");
}

#[test]
fn content_that_is_not_kept_is_named_and_the_rest_still_written() {
    let kept = file("new\n");
    let changed = |path: &str, after: State| Changed {
        path: path.into(),
        before: State::Absent,
        after,
        causes: Vec::new(),
        turns: Vec::new(),
    };
    let all = [changed("huge\nname", State::Unkept { mark: 1, mode: 0o644, size: 9 }), changed("small", kept.state())];
    let said = whole(&all, |state| Ok(if state.is_absent() { Vec::new() } else { b"new\n".to_vec() }));
    let said = String::from_utf8(said).unwrap();
    assert!(said.starts_with("# not in this patch, its content was not kept: \"huge\\nname\"\n"), "{said}");
    let lab = TempDir::new().unwrap();
    let file = lab.path().join("p");
    fs::write(&file, &said).unwrap();
    apply(lab.path(), &file, &[]).unwrap();
    assert_eq!(fs::read(lab.path().join("small")).unwrap(), b"new\n");
}

#[test]
fn what_turns_out_not_to_be_kept_stands_at_the_head_and_the_patch_is_made_once_more() {
    let new = |path: &str, text: &str| Changed {
        path: path.into(),
        before: State::Absent,
        after: file(text).state(),
        causes: Vec::new(),
        turns: Vec::new(),
    };
    let all = [new("a", "a\n"), new("b", "gone\n"), new("c", "c\n"), new("d", "gone\n")];
    let begun = Cell::new(0);
    let content = |state: &State| match state.oid() {
        None => Ok(Vec::new()),
        oid if oid == file("gone\n").state().oid() => Err(ReviewError::NotKept("a file".into())),
        oid => Ok(if oid == file("a\n").state().oid() { b"a\n".to_vec() } else { b"c\n".to_vec() }),
    };
    let said = written(&all, content, || {
        begun.set(begun.get() + 1);
        Ok(Vec::new())
    });
    let said = String::from_utf8(said.unwrap()).unwrap();
    let why = "# not in this patch, its content was not kept: ";
    assert!(said.starts_with(&format!("{why}b\n{why}d\ndiff --git a/a b/a\n")), "{said}");
    assert_eq!((said.matches("diff --git").count(), begun.get()), (2, 2));
}

#[test]
fn no_more_than_the_part_of_one_file_is_held() {
    struct Out<'a>(&'a Cell<usize>);
    impl Write for Out<'_> {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            assert!(bytes.len() <= PART * 5 / 4, "{} bytes at once", bytes.len());
            self.0.set(self.0.get() + bytes.len());
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    // What cannot be packed takes a quarter more in a patch.
    const PART: usize = 100_000;
    let bytes = |n: u8| {
        let mut seed = u64::from(n) + 1;
        let mut next = || {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            seed as u8
        };
        let mut text = |at: usize| if at.is_multiple_of(40) { b'\n' } else { b'a' + (next() & 15) };
        if n.is_multiple_of(2) {
            (0..PART).map(|_| next()).collect()
        } else {
            (0..PART).map(&mut text).collect::<Vec<u8>>()
        }
    };
    let states: Vec<State> = (0..8).map(|n| Node::File(false, bytes(n)).state()).collect();
    let all: Vec<Changed> = (0..8)
        .map(|n| Changed {
            path: format!("f{n}").into(),
            before: states[n],
            after: State::Absent,
            causes: Vec::new(),
            turns: Vec::new(),
        })
        .collect();
    let (out, asked) = (Cell::new(0), Cell::new(0));
    let content = |state: &State| {
        let Some(at) = states.iter().position(|one| one == state) else { return Ok(Vec::new()) };
        // All of the files before is out, when the next is read.
        assert!(out.get() >= at * PART, "{} bytes are out when file {at} is read", out.get());
        asked.set(asked.get() + 1);
        Ok(bytes(at as u8))
    };
    written(&all, content, || Ok(Out(&out))).unwrap();
    assert_eq!(asked.get(), 8);
    assert!(out.get() > 8 * PART);
}

#[test]
fn a_binary_patch_is_refused_by_a_file_that_is_something_else() {
    let said = patch(&one("b", Node::File(false, b"\0old".to_vec())), &one("b", Node::File(false, b"\0new".to_vec())));
    let lab = TempDir::new().unwrap();
    let patch = lab.path().join("p");
    fs::write(&patch, said).unwrap();
    fs::write(lab.path().join("b"), b"\0odd").unwrap();
    assert!(apply(lab.path(), &patch, &[]).is_err());
    fs::write(lab.path().join("b"), b"\0old").unwrap();
    apply(lab.path(), &patch, &[]).unwrap();
}

#[test]
fn names_that_git_refuses_are_named_and_the_rest_can_be_applied() {
    let one = |path: &str| Changed {
        path: path.into(),
        before: State::Absent,
        after: file("new\n").state(),
        causes: Vec::new(),
        turns: Vec::new(),
    };
    let refused = [".GIT/e", ".git /f", "a/.git. .", "b/GIT~1/x", ".git::$DATA"];
    let fine = [".github/a", ".gitignore2", "git~10", "x.git/b"];
    let all: Vec<Changed> = refused.iter().chain(&fine).map(|path| one(path)).collect();
    let said = whole(&all, |state| Ok(if state.is_absent() { Vec::new() } else { b"new\n".to_vec() }));
    let said = String::from_utf8(said).unwrap();
    for path in refused {
        assert!(said.contains(&format!("# not in this patch, git takes no such path: {path}\n")), "{path}: {said}");
    }
    let lab = TempDir::new().unwrap();
    let place = lab.path().join("p");
    fs::write(&place, &said).unwrap();
    apply(lab.path(), &place, &[]).unwrap();
    for path in fine {
        assert_eq!(fs::read(lab.path().join(path)).unwrap(), b"new\n", "{path}");
    }
}

#[test]
fn text_of_too_many_lines_stands_in_the_patch_as_a_whole() {
    let old = one("lines", Node::File(false, vec![b'\n'; MAX_LINES / 2]));
    let new = one("lines", Node::File(false, vec![b'\n'; MAX_LINES / 2 + 1]));
    let text = patch(&old, &new);
    assert!(text.len() < 10_000 && text.windows(16).any(|part| part == b"GIT binary patch"));
    round_trip(&old, &new).unwrap();
    let (old, new) = (one("long", file("a")), one("long", Node::File(false, vec![b'x'; MAX_TEXT + 1])));
    assert!(patch(&old, &new).len() < 1 << 20);
    round_trip(&old, &new).unwrap();
}
