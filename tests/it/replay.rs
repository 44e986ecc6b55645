//! The commits of a small history, replayed as an agent's work: patch, report, undo and redo give git's own trees.
//!
//! Drives the tracker itself, so nothing races here. `scripts/replay-commits` does the same with the program and any
//! repository.

use acp_tui::model::changes::{ReviewAction, RewindOutcome, Scope};
use acp_tui::model::ids::EntryId;
use acp_tui::review::protocol::{AgentSession, SessionInfo, ToolEffect, ToolNote};
use acp_tui::review::report::json::report;
use acp_tui::review::report::patch;
use acp_tui::review::session::ReviewSession;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Read as _;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Longer ago than what is forgiven between a change and the news of it.
const OLD: Duration = Duration::from_secs(1);
/// Makes the history; `c` commits all that is there, ignored or not.
const HISTORY: &str = r#"
set -e
c() { git add -A -f .; git commit -q --allow-empty -m "$1"; }
lines() { i=0; while [ $i -lt "$1" ]; do i=$((i + 1)); echo "line $i"; done; }

lines 30 > text.txt; lines 30 > other.txt; lines 9 > twin-1; cp twin-1 twin-2; cp twin-1 twin-3
printf 'a\r\nb\r\nc\r\n' > crlf.txt; printf 'no newline' > nonl.txt; : > empty; printf '\000\001\377bin' > bin.dat
mkdir -p dir/deep/er sub; lines 12 > dir/a.txt; lines 20 > dir/deep/b.txt; lines 3 > dir/deep/er/c.txt; echo s > sub/s
printf '#!/bin/sh\necho run\n' > run.sh; chmod +x run.sh
ln -s text.txt link; ln -s nowhere dangling; ln -s dir to-dir
lines 5 > 'ünï cödé.txt'; lines 6 > 'two  words'; lines 7 > '"quoted" \ and	tab'; lines 8 > ' lead'; lines 4 > -dash
lines 5 > '日本語'; lines 2 > Case.txt; echo glob > '[a]*?.txt'; printf 'x\n' > 'new
line'
echo swap > swap-file; mkdir swap-dir; echo x > swap-dir/x; echo y > swap-dir/y
printf '*.log\nbuild/\n' > .gitignore; echo kept > kept.log; mkdir build; lines 5 > build/out.txt
c base
sed -i.bak 's/line 7$/SEVEN/; s/line 25$/&\
inserted/' text.txt; rm text.txt.bak
printf 'a\r\nB\r\nc\r\nd\r\n' > crlf.txt; printf 'still no\nnewline' > nonl.txt; printf '\000\002bin' > bin.dat; echo full > empty
c 'edits'
mkdir -p moved/deeper; git mv dir/deep moved/deeper/deep; git mv dir/a.txt dir/renamed.txt; git mv other.txt sub/other.txt
echo 'one more' >> sub/other.txt; git mv run.sh sub/run.sh; git mv bin.dat sub/bin.dat; git mv link sub/link
c 'renames, with and without an edit'
chmod -x sub/run.sh; chmod +x text.txt crlf.txt; echo more >> crlf.txt; chmod +x kept.log
c 'modes'
rm to-dir dangling; ln -s sub to-dir; ln -s else dangling; rm nonl.txt; ln -s text.txt nonl.txt
rm sub/link; echo 'a file now' > sub/link; ln -s ../text.txt dir/new-link
c 'links, and files that become links'
rm swap-file; mkdir swap-file; echo in > swap-file/in; mkdir swap-file/sub; echo in > swap-file/sub/in
rm -r swap-dir; echo 'a file now' > swap-dir; rm to-dir; mkdir to-dir; echo in > to-dir/in
c 'files and directories in each other'"'"'s place'
printf '*.tmp\nsub/*\n' > .gitignore; printf '*.o\nrenamed*\n' > dir/.gitignore; echo again >> kept.log
lines 6 > build/out.txt; echo s2 > sub/s
c 'other rules: what is tracked is ignored now, and what was ignored is not'
rm -r moved build dir/.gitignore; rm twin-2 empty -- -dash; git mv kept.log other-name.log
c 'deletions'
git mv 'ünï cödé.txt' 'ÜNÏ.txt'; git mv ' lead' 'trail '; git mv '[a]*?.txt' '*'; git mv '日本語' '日本/語' 2>/dev/null ||
{ mkdir '日本'; git mv '日本語' '日本/語'; }
git mv Case.txt case.tmp.txt; git mv case.tmp.txt case.TXT; echo 'and more' >> '"quoted" \ and	tab'; rm 'new
line'; printf 'y\n' > 'cr
'; echo two > 'two  words'
[ -z "$ODD" ] || { printf 'x\n' > "$(printf 'caf\351')"; lines 9 > "$(printf '\377\376 b')"; }
c 'odd names'
mkdir -p a/b/c/d/e/f/g/h/i/j/k; lines 3000 > a/b/c/d/e/f/g/h/i/j/k/long.txt; lines 3 > a/b/c/x; printf 'z' > a/b/z
c 'deep directories'
sed -i.bak 's/line \(.*\)77$/changed \1/; 1,40d' a/b/c/d/e/f/g/h/i/j/k/long.txt; rm a/b/c/d/e/f/g/h/i/j/k/long.txt.bak
printf 'a\nb\nc\n' > crlf.txt; printf 'z\n' > a/b/z; : > a/b/c/x; printf 'now text\n' > sub/bin.dat
printf 'trailing  \n\t\n' > sub/s; mv twin-1 keep; mv text.txt twin-1; mv keep text.txt
c 'ends of lines, emptied, two files exchanged'
mkdir copies; git mv twin-3 copies/one; cp copies/one copies/two; git mv a/b/c shorter; lines 12 > dir/a.txt
[ -z "$ODD" ] || git mv "$(printf 'caf\351')" "dir/$(printf 'caf\350')"
c 'moved again, one of several that are the same'
c 'nothing at all'
git read-tree -u --reset HEAD~12
c 'all of it back'
"#;

/// Mode as git names it, permissions as the disk has them, and the content or the target.
type Node = (&'static str, u32, Vec<u8>);
type Tree = BTreeMap<PathBuf, Node>;

struct History {
    temp: TempDir,
    /// From the first commit on: its name, the name of its tree, and what is in it.
    commits: Vec<(String, String, Tree)>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    /// With its own hands; each file is announced by a tool call.
    Told,
    /// The same without a word.
    Silent,
    /// Through the client as far as it can.
    Client,
    /// A command, by one kind of git.
    Command(Means),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Means {
    Move,
    Add,
    ReadTree,
    Checkout,
    Stash,
    Reset,
}

impl History {
    fn new() -> Self {
        let mut all = Self { temp: TempDir::new().unwrap(), commits: Vec::new() };
        fs::create_dir_all(all.work()).unwrap();
        all.git(&["init", "-q"]);
        fs::write(all.work().join(".git/info/exclude"), "person.txt\n").unwrap();
        let mut script = all.command("sh");
        script.args(["-c", HISTORY]).env("ODD", if cfg!(target_os = "linux") { "1" } else { "" });
        done(&mut script);
        for commit in all.line(&["rev-list", "--reverse", "HEAD"]).lines() {
            all.git(&["checkout", "-q", "-f", "--detach", commit]);
            let tree = all.line(&["rev-parse", &format!("{commit}^{{tree}}")]);
            all.commits.push((commit.to_owned(), tree, all.read()));
        }
        assert_eq!(all.commits.len(), 14);
        all.git(&["checkout", "-q", "-f", "--detach", &all.commits[0].0]);
        // Ignored and nobody's business.
        fs::write(all.work().join("person.txt"), "mine").unwrap();
        all
    }

    fn work(&self) -> PathBuf {
        self.temp.path().canonicalize().unwrap().join("work")
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        let home = self.temp.path();
        command.current_dir(self.work()).env("HOME", home).env("XDG_CONFIG_HOME", home).env("LC_ALL", "C");
        command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CEILING_DIRECTORIES", home);
        for who in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{who}_NAME"), "a").env(format!("GIT_{who}_EMAIL"), "a@b");
        }
        command
    }

    fn git(&self, args: &[impl AsRef<OsStr>]) -> Vec<u8> {
        done(self.command("git").args(args))
    }

    fn line(&self, args: &[&str]) -> String {
        String::from_utf8(self.git(args)).unwrap().trim().to_owned()
    }

    /// With an index of its own.
    fn apart(&self, args: &[&OsStr]) -> String {
        let mut command = self.command("git");
        command.env("GIT_INDEX_FILE", self.temp.path().join("index")).args(args);
        String::from_utf8(done(&mut command)).unwrap().trim().to_owned()
    }

    /// The name that git gives to what lies there.
    fn tree_there(&self) -> String {
        let _ = fs::remove_file(self.temp.path().join("index"));
        self.apart(&["add", "-A", "-f", "--", ".", ":!person.txt"].map(OsStr::new));
        self.apart(&["write-tree".as_ref()])
    }

    fn read(&self) -> Tree {
        let mut tree = Tree::new();
        read_below(&self.work(), Path::new(""), &mut tree);
        tree.remove(Path::new("person.txt"));
        tree
    }

    /// Renames as git guesses them.
    fn renames(&self, n: usize) -> Vec<(PathBuf, PathBuf)> {
        let args = ["diff-tree", "-r", "-M", "-z", "--name-status", "--diff-filter=R"];
        let out = self.git(&[&args[..], &[&self.commits[n - 1].0, &self.commits[n].0]].concat());
        let fields: Vec<&[u8]> = out.split(|b| *b == 0).collect();
        let path = |bytes: &[u8]| PathBuf::from(OsString::from_vec(bytes.to_vec()));
        fields.chunks_exact(3).map(|one| (path(one[1]), path(one[2]))).collect()
    }
}

fn done(command: &mut Command) -> Vec<u8> {
    let out = command.output().unwrap_or_else(|e| panic!("these tests need git and sh: {e}: {command:?}"));
    assert!(out.status.success(), "{command:?}: {}", String::from_utf8_lossy(&out.stderr));
    out.stdout
}

fn read_below(root: &Path, below: &Path, tree: &mut Tree) {
    for entry in fs::read_dir(root.join(below)).unwrap() {
        let path = below.join(entry.unwrap().file_name());
        let full = root.join(&path);
        let meta = full.symlink_metadata().unwrap();
        if path == Path::new(".git") {
        } else if meta.is_dir() {
            read_below(root, &path, tree);
        } else if meta.is_symlink() {
            tree.insert(path, ("120000", 0, fs::read_link(full).unwrap().into_os_string().into_vec()));
        } else {
            let mode = meta.permissions().mode() & 0o7777;
            let kind = if mode & 0o100 == 0 { "100644" } else { "100755" };
            tree.insert(path, (kind, mode, fs::read(full).unwrap()));
        }
    }
}

/// What differs between two trees, with both sides.
fn changes<'a>(old: &'a Tree, new: &'a Tree) -> Vec<(&'a Path, Option<&'a Node>, Option<&'a Node>)> {
    let paths: BTreeSet<&PathBuf> = old.keys().chain(new.keys()).collect();
    let both = paths.into_iter().map(|path| (path.as_path(), old.get(path), new.get(path)));
    both.filter(|(_, old, new)| old != new).collect()
}

#[track_caller]
fn assert_same(found: &Tree, wanted: &Tree, when: &str) {
    let apart: Vec<String> = changes(wanted, found)
        .iter()
        .map(|(path, wanted, found)| {
            format!("{}: {found:?} instead of {wanted:?}", path.display()).chars().take(300).collect()
        })
        .collect();
    assert!(apart.is_empty(), "{when}: {apart:#?}");
}

fn remove(work: &Path, path: &Path) {
    fs::remove_file(work.join(path)).unwrap();
    // As git does it: a directory without files is no more.
    let above = path.ancestors().skip(1).filter(|dir| *dir != Path::new(""));
    above.map(|dir| fs::remove_dir(work.join(dir))).find(Result::is_err);
}

fn put(work: &Path, path: &Path, (kind, mode, bytes): &Node) {
    let full = work.join(path);
    fs::create_dir_all(full.parent().unwrap()).unwrap();
    let is_link = full.is_symlink();
    if is_link || (*kind == "120000" && full.exists()) {
        fs::remove_file(&full).unwrap();
    }
    if *kind == "120000" {
        symlink(OsStr::from_bytes(bytes), &full).unwrap();
        return;
    }
    fs::write(&full, bytes).unwrap();
    fs::set_permissions(&full, fs::Permissions::from_mode(*mode)).unwrap();
}

/// An agent at work, told to a tracker as the program tells it.
struct Work<'a> {
    history: &'a History,
    tracker: ReviewSession,
    work: PathBuf,
    entry: u64,
}

impl<'a> Work<'a> {
    /// Everything was looked at once.
    fn new(history: &'a History, name: &str) -> Self {
        let work = history.work();
        let head = SessionInfo {
            stem: name.into(),
            cwd: work.clone(),
            command: "agent".into(),
            started: 0,
            private: Vec::new(),
            directories: Vec::new(),
        };
        let mut tracker = ReviewSession::create(&history.temp.path().join("home"), head).unwrap();
        tracker.session(AgentSession::new("session", 1, "agent")).unwrap();
        tracker.first_look().unwrap();
        Self { history, tracker, work, entry: 0 }
    }

    fn note(&mut self, doing: ToolEffect, path: Option<&Path>, finished: bool) {
        self.entry += u64::from(!finished);
        let paths = path.iter().map(|path| self.work.join(path)).collect();
        let at = Instant::now();
        let entry = EntryId(self.entry);
        self.tracker
            .tool(&ToolNote {
                entry,
                turn: None,
                doing,
                at,
                since: at,
                finished,
                waits: false,
                paths,
                claims: Vec::new(),
            })
            .unwrap();
    }

    /// One commit in one turn.
    fn turn(&mut self, turn: u64, n: usize, way: Way) {
        self.tracker.begin_turn(turn).unwrap();
        match way {
            Way::Told | Way::Silent | Way::Client => self.by_hand(n, way),
            Way::Command(means) => {
                if n.is_multiple_of(2) {
                    // Through the client; else its own.
                    self.tracker.before_command().unwrap();
                }
                self.prepare(n, means);
                self.note(ToolEffect::Runs, None, false);
                self.run(n, means);
                self.note(ToolEffect::Runs, None, true);
            }
        }
        self.tracker.end_turn(turn).unwrap();
        assert_same(&self.history.read(), &self.history.commits[n].2, &format!("{n} {way:?}: what the agent did"));
    }

    fn by_hand(&mut self, n: usize, way: Way) {
        let mut changed = changes(&self.history.commits[n - 1].2, &self.history.commits[n].2);
        // What goes makes room for what comes in its place.
        changed.sort_by_key(|(_, _, new)| new.is_some());
        for (path, old, new) in changed {
            let text = new.filter(|new| old.map_or(new.0 == "100644", |old| old.0 == new.0 && old.1 == new.1));
            let text = text.filter(|new| new.0 != "120000").and_then(|new| std::str::from_utf8(&new.2).ok());
            let full = self.work.join(path);
            if let (Way::Client, Some(text)) = (way, text) {
                self.entry += 1;
                self.tracker.before_write(&full, text).unwrap();
                fs::create_dir_all(full.parent().unwrap()).unwrap();
                fs::write(&full, text).unwrap();
                self.tracker.wrote(&full, text, Some(EntryId(self.entry)), None).unwrap();
                continue;
            }
            // Who names a link means what it leads to.
            let doing = if full.is_symlink() { ToolEffect::Runs } else { ToolEffect::Edits };
            let told = way != Way::Silent;
            if told {
                self.note(doing, Some(path), false);
            }
            match new {
                Some(new) => put(&self.work, path, new),
                None => remove(&self.work, path),
            }
            if told {
                self.note(doing, Some(path), true);
            }
        }
    }

    /// What the person has had in the stash for long.
    fn prepare(&self, n: usize, means: Means) {
        let (git, commits) = (self.history, &self.history.commits);
        if means == Means::Stash {
            let (head, tree) = (&commits[n - 1].0, &commits[n].1);
            let index = git.line(&["commit-tree", tree, "-p", head, "-m", "index"]);
            let stash = git.line(&["commit-tree", tree, "-p", head, "-p", &index, "-m", "stash"]);
            git.git(&["stash", "store", &stash]);
        }
    }

    fn run(&self, n: usize, means: Means) {
        let (git, commits) = (self.history, &self.history.commits);
        let (commit, changed) = (commits[n].0.as_str(), changes(&commits[n - 1].2, &commits[n].2));
        let with = |args: &[&str], paths: &[&Path]| {
            if !paths.is_empty() {
                let paths = paths.iter().map(|path| path.as_os_str());
                git.git(&args.iter().map(OsStr::new).chain(paths).collect::<Vec<_>>());
            }
        };
        let literal = "--literal-pathspecs";
        let gone: Vec<&Path> = changed.iter().filter(|(_, _, new)| new.is_none()).map(|(path, ..)| *path).collect();
        let come: Vec<&Path> = changed.iter().filter(|(_, _, new)| new.is_some()).map(|(path, ..)| *path).collect();
        match means {
            Means::Move => {
                // What takes the place of a directory, or the other way round, cannot simply be moved.
                let blocked =
                    |one: &Path| changed.iter().any(|(p, ..)| *p != one && (p.starts_with(one) || one.starts_with(p)));
                let pairs: Vec<(PathBuf, PathBuf)> =
                    git.renames(n).into_iter().filter(|(from, to)| !blocked(from) && !blocked(to)).collect();
                let moved = |path: &&Path| pairs.iter().any(|(from, _)| from == path);
                with(
                    &[literal, "rm", "-q", "-f", "--"],
                    &gone.iter().copied().filter(|p| !moved(p)).collect::<Vec<_>>(),
                );
                for (from, to) in &pairs {
                    fs::create_dir_all(self.work.join(to).parent().unwrap()).unwrap();
                    with(&[literal, "mv", "--"], &[from, to]);
                }
                with(&[literal, "checkout", "-q", commit, "--"], &come);
            }
            Means::Add => {
                with(&[literal, "rm", "-q", "-f", "--"], &gone);
                for (path, _, new) in &changed {
                    if let Some(new) = new {
                        put(&self.work, path, new);
                    }
                }
                with(&[literal, "add", "-f", "--"], &come);
            }
            Means::ReadTree => drop(git.git(&["read-tree", "-m", "-u", "HEAD", commit])),
            Means::Checkout => {
                with(&[literal, "rm", "-q", "-f", "--"], &gone);
                git.git(&["checkout", "-q", commit, "--", "."]);
            }
            Means::Stash => drop(git.git(&["stash", "pop", "-q", "--index"])),
            Means::Reset => drop(git.git(&["reset", "-q", "--hard", commit])),
        }
    }

    /// Report and patch of the session against git's own difference between two commits.
    fn assert_told(&mut self, from: usize, to: usize, when: &str) {
        let ((_, _, old), (_, tree, new)) = (&self.history.commits[from], &self.history.commits[to]);
        let wanted: BTreeSet<(PathBuf, &str)> = changes(old, new)
            .into_iter()
            .map(|(path, old, new)| match (old, new) {
                (None, _) => (path.to_owned(), "created"),
                (_, None) => (path.to_owned(), "deleted"),
                (Some(old), Some(new)) if (old.0 == "120000") != (new.0 == "120000") => (path.to_owned(), "kind"),
                (Some(old), Some(new)) if old.2 == new.2 => (path.to_owned(), "mode"),
                _ => (path.to_owned(), "modified"),
            })
            .collect();
        let report: Value = serde_json::from_reader(report(&mut self.tracker, &[]).unwrap()).unwrap();
        let mut found = BTreeSet::new();
        let mut once = |path: PathBuf, what: &'static str| assert!(found.insert((path, what)), "{when}: twice");
        for file in report["files"].as_array().unwrap() {
            match file["change"].as_str().unwrap() {
                "renamed" => {
                    once(path_of(file, "renamed_from"), "deleted");
                    once(path_of(file, "path"), "created");
                }
                what => {
                    let words = ["created", "deleted", "modified", "mode", "kind"];
                    once(path_of(file, "path"), words.iter().find(|word| **word == what).unwrap());
                }
            }
        }
        let apart: Vec<_> = found.symmetric_difference(&wanted).collect();
        assert!(apart.is_empty(), "{when}: the report has no or other words for {apart:?}");
        let mut made = patch::export(&mut self.tracker, Scope::Session).unwrap();
        let mut patch = Vec::new();
        made.read_to_end(&mut patch).unwrap();
        assert_eq!(patch.is_empty(), wanted.is_empty(), "{when}: the patch");
        if wanted.is_empty() {
            return;
        }
        let file = self.history.temp.path().join("changes.patch");
        fs::write(&file, patch).unwrap();
        self.history.apart(&["read-tree".as_ref(), OsStr::new(&self.history.commits[from].0)]);
        self.history.apart(&["apply".as_ref(), "--cached".as_ref(), "--whitespace=nowarn".as_ref(), file.as_os_str()]);
        assert_eq!(self.history.apart(&["write-tree".as_ref()]), *tree, "{when}: the patch, applied");
    }

    /// All of it taken back, and done again.
    fn assert_goes_back(&mut self, from: usize, when: &str) {
        let (_, tree, wanted) = &self.history.commits[from];
        let (now, now_tree) = (self.history.read(), self.history.tree_there());
        let done = self.tracker.act(&ReviewAction::Rewind { turn: 1 }).unwrap();
        assert_same(&self.history.read(), wanted, &format!("{when}: undo said {:?}", done.rewound));
        assert_eq!(self.history.tree_there(), *tree, "{when}: undo");
        if now_tree != *tree {
            self.tracker.act(&ReviewAction::Undo).unwrap();
        }
        assert_same(&self.history.read(), &now, &format!("{when}: redo"));
        assert_eq!(self.history.tree_there(), now_tree, "{when}: redo");
        assert_eq!(fs::read(self.work.join("person.txt")).unwrap(), b"mine");
    }
}

fn path_of(file: &Value, member: &str) -> PathBuf {
    let Some(hex) = file[format!("{member}_bytes")].as_str() else { return file[member].as_str().unwrap().into() };
    let byte = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
    OsString::from_vec((0..hex.len()).step_by(2).map(byte).collect()).into()
}

/// Each commit in a session of its own.
fn replay(ways: &[Way]) {
    let history = History::new();
    // The last commit makes files that are ignored: who names them is believed, of others it is not known what was there.
    let named = ways.iter().all(|way| matches!(way, Way::Told | Way::Client));
    let last = history.commits.len() - usize::from(!named);
    for n in 1..last {
        let way = ways[n % ways.len()];
        let when = format!("commit {n} {way:?}");
        let mut work = Work::new(&history, &format!("s{n}"));
        work.turn(1, n, way);
        work.assert_told(n - 1, n, &when);
        work.assert_goes_back(n - 1, &when);
        history.git(&["reset", "-q", &history.commits[n].0]);
    }
}

#[test]
fn commits_made_by_the_agents_own_hands_and_announced_equal_gits_trees() {
    replay(&[Way::Told]);
}

#[test]
fn commits_made_by_the_agents_own_hands_without_a_word_equal_gits_trees() {
    replay(&[Way::Silent]);
}

#[test]
fn commits_written_through_the_client_equal_gits_trees() {
    replay(&[Way::Client]);
}

#[test]
fn commits_made_by_a_command_with_git_mv_rm_and_checkout_equal_gits_trees() {
    replay(&[Way::Command(Means::Move)]);
}

#[test]
fn commits_made_by_a_command_with_git_add_equal_gits_trees() {
    replay(&[Way::Command(Means::Add)]);
}

#[test]
fn commits_put_in_place_by_git_as_a_whole_equal_gits_trees() {
    let means = [Means::ReadTree, Means::Checkout, Means::Stash, Means::Reset];
    replay(&means.map(Way::Command));
}

#[test]
fn what_a_command_adds_although_it_is_ignored_is_shown_and_what_undo_leaves_is_said() {
    for means in [Means::Move, Means::Add, Means::ReadTree, Means::Checkout, Means::Stash, Means::Reset] {
        let history = History::new();
        let last = history.commits.len() - 1;
        history.git(&["checkout", "-q", "-f", "--detach", &history.commits[last - 1].0]);
        let mut work = Work::new(&history, "ignored");
        work.turn(1, last, Way::Command(means));
        let report: Value = serde_json::from_reader(report(&mut work.tracker, &[]).unwrap()).unwrap();
        let of_path = |member| report["files"].as_array().unwrap().iter().map(move |f| path_of(f, member));
        let known: BTreeSet<PathBuf> = of_path("path").collect();
        let changed = changes(&history.commits[last - 1].2, &history.commits[last].2);
        let missing: Vec<_> = changed.iter().filter(|(path, _, new)| new.is_some() && !known.contains(*path)).collect();
        assert!(missing.is_empty(), "{means:?}: {missing:?}");
        let done = work.tracker.act(&ReviewAction::Rewind { turn: 1 }).unwrap();
        for left in done.rewound.iter().filter(|one| one.outcome == RewindOutcome::NotKept) {
            assert!(["kept.log", "build/out.txt"].map(Path::new).contains(&left.path.as_path()), "{means:?}: {left:?}");
            remove(&work.work, &left.path);
        }
        assert_same(&history.read(), &history.commits[last - 1].2, &format!("{means:?}: undo said {:?}", done.rewound));
    }
}

#[test]
fn what_a_command_moves_with_its_directory_is_its_doing_however_old_it_is() {
    for git in [true, false] {
        let history = History::new();
        let there = history.work().join("dir/a.txt");
        // Changes are told apart by their times; these files are older than any doubt about that.
        let old = || there.metadata().unwrap().modified().unwrap().elapsed().unwrap_or_default() > OLD;
        while !old() {
            std::thread::park_timeout(Duration::from_millis(20));
        }
        let before = history.read();
        let mut work = Work::new(&history, "moved");
        work.tracker.begin_turn(1).unwrap();
        work.note(ToolEffect::Runs, None, false);
        if git {
            history.git(&["mv", "dir", "elsewhere"]);
        } else {
            fs::rename(history.work().join("dir"), history.work().join("elsewhere")).unwrap();
        }
        work.note(ToolEffect::Runs, None, true);
        work.tracker.end_turn(1).unwrap();
        let done = work.tracker.act(&ReviewAction::Rewind { turn: 1 }).unwrap();
        assert_same(&history.read(), &before, &format!("by git: {git}, undo said {:?}", done.rewound));
    }
}

#[test]
fn a_link_that_a_call_names_and_replaces_is_the_calls_doing() {
    let history = History::new();
    let before = history.read();
    let mut work = Work::new(&history, "link");
    work.tracker.begin_turn(1).unwrap();
    for name in ["link", "dangling", "to-dir"] {
        work.note(ToolEffect::Edits, Some(Path::new(name)), false);
        put(&work.work, Path::new(name), &("120000", 0, b"elsewhere".to_vec()));
        work.note(ToolEffect::Edits, Some(Path::new(name)), true);
    }
    work.tracker.end_turn(1).unwrap();
    let done = work.tracker.act(&ReviewAction::Rewind { turn: 1 }).unwrap();
    assert_same(&history.read(), &before, &format!("undo said {:?}", done.rewound));
}

#[test]
fn a_session_of_many_turns_goes_back_to_before_all_of_them() {
    let ways = [Way::Client, Way::Command(Means::Move), Way::Told, Way::Command(Means::Checkout), Way::Silent];
    let history = History::new();
    let last = history.commits.len() - 2;
    let mut work = Work::new(&history, "all");
    for n in 1..=last {
        work.turn(n as u64, n, ways[n % ways.len()]);
        history.git(&["reset", "-q", &history.commits[n].0]);
        if n % 4 == 0 || n == last {
            let when = format!("commits 1 to {n}");
            work.assert_told(0, n, &when);
            work.assert_goes_back(0, &when);
        }
    }
}
