//! What a request comes to that rules leave to the person: the permission mode decides by it.
//!
//! Blocks on the disk, as the rules do. Invariant: what is not known for certain is not plain.

use super::real_paths::{names, real_path};
use crate::model::claims::{Claim, Claimed, Claims, is_glob, may_leave, needs_expansion};
use crate::model::ruling::{Extent, Ruled};
use crate::rules::{self, Kind, Named, Request, RuleRef, Rules, Subject, Tool, Verdict};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// What reads and edits inside of the roots. A name alone is a pattern for what lies there and steers no later command.
const PLAIN: [&str; 5] = ["Read", "Edit", "Bash(mkdir *)", "Bash(rm *)", "Bash(mv *)"];
/// What is more than an edit although such a pattern is for it: it removes all that there is.
const ALL: [&str; 4] = [".", "./", "*", "./*"];
/// Tools that change files and are no edits.
const NO_EDITS: [&str; 2] = ["delete", "move"];
/// What a search is called, and the place of one that says none.
const SEARCH: &str = "search";
const HERE: &str = ".";
/// Words of a command that are looked for outside.
const MAX_WORDS: usize = 200;
/// Directories that a line goes to.
const MAX_DIRS: usize = 4;
/// Files below a directory that is removed or moved.
const MAX_BELOW: usize = 2_000;
/// Names of the system's for what is no file.
const NO_FILES: [&str; 6] = ["/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/fd"];

static RULES: LazyLock<Rules> = LazyLock::new(|| {
    let mut rules = Rules::default();
    for pattern in PLAIN {
        let rule = RuleRef { list: Verdict::Allow, pattern: pattern.to_owned(), ..RuleRef::default() };
        // They are patterns, as a test of them shows.
        let _ = rules.add(rule);
    }
    rules
});

/// Where claims are looked at.
pub(super) struct Place<'a> {
    pub root: &'a Path,
    pub roots: &'a [PathBuf],
    pub home: Option<&'a Path>,
}

/// Whether the patterns of what is plain are for a request.
pub(super) fn covers(request: &Request<'_>) -> bool {
    rules::judge(&RULES, request).verdict == Verdict::Allow
}

/// What the rules say of each claim is known; nothing where nothing is claimed. `covered` says of a claim what [`covers`] does.
pub(super) fn of(
    place: &Place<'_>,
    claims: &Claims,
    verdicts: &[Ruled],
    covered: impl Fn(&Claim) -> bool,
) -> Option<Extent> {
    if claims.all.iter().all(|claim| claim.only_narrows) {
        return None;
    }
    let has_outputs = !claims.outputs.is_empty();
    let mut extent = Extent { is_plain: true, changes: has_outputs, edits: has_outputs, ..Extent::default() };
    for (claim, verdict) in claims.all.iter().zip(verdicts) {
        let kind = Tool::named(&claim.tool).map_or(Kind::Other, |tool| tool.kind);
        if !claim.only_narrows {
            extent.changes |= matches!(kind, Kind::Bash | Kind::Edit);
            extent.edits |= kind == Kind::Edit;
            let is_plain =
                |claim: &Claim| may_be_plain(claim) && covered(claim) && is_plain_below(place, claims, claim, &covered);
            let is_here = || is_search_here(claims, claim) && is_plain(&Claim::of_path(SEARCH, HERE));
            extent.is_plain &= *verdict == Ruled::Allow || is_plain(claim) || is_here();
        }
        extent.reaches |= matches!(kind, Kind::Fetch | Kind::Mcp) && !is_mention(claim, kind);
        extent.leaves |= match kind {
            Kind::Bash => leaves(place, claims, claim),
            Kind::Read | Kind::Edit => is_unplaced(place, claims, claim),
            Kind::Fetch | Kind::Mcp | Kind::Other => false,
        };
    }
    Some(extent)
}

/// Whether an address only stands in what a call says: nothing says that it is fetched.
fn is_mention(claim: &Claim, kind: Kind) -> bool {
    kind == Kind::Fetch && claim.is_guess
}

/// Whether it is searched where the session is, since no place is said, and the title says none that leads out.
fn is_search_here(claims: &Claims, claim: &Claim) -> bool {
    let is_titled = || claims.titled.iter().any(|path| may_leave(path) || path.contains(['$', '~']));
    claim.tool == SEARCH && claim.what == Claimed::Unknown && claims.files.is_empty() && !claim.is_guess && !is_titled()
}

fn may_be_plain(claim: &Claim) -> bool {
    !NO_EDITS.contains(&claim.tool.as_str()) && !named(claim).words.iter().any(|word| ALL.contains(&word.as_str()))
}

fn named(claim: &Claim) -> Named {
    match &claim.what {
        Claimed::Line(line) => rules::named(Subject::Line(line)),
        Claimed::Words(words) => rules::named(Subject::Words(words)),
        Claimed::Paths(_) | Claimed::Text(_) | Claimed::Unknown => Named::default(),
    }
}

impl Place<'_> {
    fn is_outside(&self, path: &Path) -> bool {
        !real_path(path).is_some_and(|real| self.roots.iter().any(|root| real.starts_with(root)))
    }

    fn below(&self, from: &Path, path: &str) -> PathBuf {
        match (path.strip_prefix('~'), self.home) {
            (Some(rest), Some(home)) => home.join(rest.trim_start_matches('/')),
            _ => from.join(path),
        }
    }

    /// Where commands and relative paths begin.
    fn begins(&self, claims: &Claims) -> PathBuf {
        claims.cwd.as_ref().map_or_else(|| self.root.to_owned(), |cwd| self.below(self.root, cwd))
    }
}

/// Whether what is below the directories that a command names is as plain as they are.
fn is_plain_below(at: &Place<'_>, claims: &Claims, claim: &Claim, covered: &impl Fn(&Claim) -> bool) -> bool {
    let begins = at.begins(claims);
    let words = named(claim).words;
    let mut open: Vec<PathBuf> = words.iter().map(|word| at.below(&begins, word)).collect();
    let mut found = 0;
    while let Some(dir) = open.pop() {
        // What a link leads to is neither removed nor moved with it.
        if !dir.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
            continue;
        }
        let Some(names) = names(&dir) else { return false };
        found += names.len();
        let below: Vec<PathBuf> = names.iter().map(|name| dir.join(name)).collect();
        let is_link = |path: &PathBuf| path.symlink_metadata().is_ok_and(|meta| meta.is_symlink());
        let is_plain = |path: &PathBuf| is_link(path) || covered(&Claim::of_edit(&path.to_string_lossy()));
        if found > MAX_BELOW || !below.iter().all(is_plain) {
            return false;
        }
        open.extend(below);
    }
    true
}

/// Whether a command runs, or names a file, outside of the session's directories, or may do so.
fn leaves(at: &Place<'_>, claims: &Claims, claim: &Claim) -> bool {
    let begins = at.begins(claims);
    let Named { words, dirs, is_open } = named(claim);
    if is_open || at.is_outside(&begins) || words.len() > MAX_WORDS || dirs.len() > MAX_DIRS {
        return true;
    }
    // Text with blanks in it is a message or a program more often than a file.
    let is_text = |word: &str| word.contains("://") || word.contains(char::is_whitespace);
    let is_no_file = |word: &str| NO_FILES.iter().any(|name| Path::new(word).starts_with(name));
    let files: Vec<&String> = words.iter().filter(|word| !is_text(word) && !is_no_file(word)).collect();
    let dirs = dirs.iter().map(|dir| at.below(&begins, dir));
    let mut begin = std::iter::once(begins.clone()).chain(dirs);
    begin.any(|begins| files.iter().any(|word| at.is_outside(&at.below(&begins, word))))
}

/// Whether it is not known which file is read or changed, or only from a title that names one outside.
fn is_unplaced(at: &Place<'_>, claims: &Claims, claim: &Claim) -> bool {
    // Without a place it is searched where the session is.
    let is_here = claim.tool == SEARCH && claims.files.is_empty();
    if claim.what != Claimed::Unknown || claim.is_guess || is_here {
        return false;
    }
    if !claims.files.is_empty() {
        // Patterns of names are known as far as they stand there.
        let is_known = |path: &String| is_glob(path) && !needs_expansion(path.strip_prefix("file://").unwrap_or(path));
        return !claims.files.iter().all(is_known);
    }
    let begins = at.begins(claims);
    let said = claims.texts.iter().flat_map(|text| text.split_whitespace());
    let said = said.map(|word| word.trim_matches(|c: char| !c.is_alphanumeric() && !"/.~_$".contains(c)));
    let mut files =
        said.map(|word| word.trim_end_matches('.')).filter(|word| word.contains(['/', '.', '~', '$'])).peekable();
    files.peek().is_none() || files.any(|word| needs_expansion(word) || at.is_outside(&at.below(&begins, word)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::rulebook::Rulebook;
    use crate::model::event::TerminalSpec;
    use crate::model::ids::ToolId;
    use crate::model::tool::{ToolCall, ToolKind};
    use serde_json::json;
    use std::os::unix::fs::symlink;
    use std::time::Duration;
    use tempfile::TempDir;

    fn command(line: &str) -> Claims {
        let (command, args, env) = (line.to_owned(), Vec::new(), Vec::new());
        Claims::of_command(&TerminalSpec { command, args, env, cwd: None, limit: None, patience: None })
    }

    fn extent(root: &Path, claims: &Claims) -> Extent {
        let home = root.parent();
        let book = Rulebook::new(None, home.map(Path::to_owned));
        let (roots, verdicts) = ([root.to_owned()], vec![Ruled::Open; claims.all.len()]);
        let covered = |claim: &Claim| book.request(None, root, claims, claim, covers) == Some(true);
        of(&Place { root, roots: &roots, home }, claims, &verdicts, covered).unwrap()
    }

    fn place() -> (TempDir, PathBuf) {
        let temp = TempDir::new().unwrap();
        let root = temp.path().canonicalize().unwrap().join("ws");
        std::fs::create_dir_all(root.join("src")).unwrap();
        symlink(temp.path(), root.join("way-out")).unwrap();
        symlink(temp.path(), root.join("src/way-out")).unwrap();
        std::fs::create_dir_all(root.join("kept/deep")).unwrap();
        std::fs::write(root.join("kept/deep/server.key"), "").unwrap();
        (temp, root)
    }

    #[test]
    fn every_pattern_of_ours_is_one() {
        assert!(PLAIN.iter().all(|pattern| rules::check(pattern).is_ok()));
        assert_eq!(RULES.iter().count(), PLAIN.len());
    }

    #[test]
    fn files_inside_are_plain_and_others_are_not() {
        let (_temp, root) = place();
        for (tool, path, is_plain) in [
            ("read", "src/a.rs", true),
            ("write", "src/new/a.rs", true),
            ("edit", "a", true),
            ("read", ".env", false),
            ("edit", ".env", false),
            ("edit", ".git/config", false),
            ("edit", ".envrc", false),
            ("edit", "../other", false),
            ("edit", "way-out/x", false),
            ("read", "/etc/passwd", false),
            ("delete", "src/a.rs", false),
            ("move", "src/a.rs", false),
        ] {
            let found = extent(&root, &Claims::of_file(tool, path));
            assert_eq!(found.is_plain, is_plain, "{tool} {path}");
            assert_eq!(found.changes, tool != "read", "{tool} {path}");
        }
        let place = Place { root: &root, roots: &[], home: None };
        assert_eq!(of(&place, &Claims::default(), &[], |_| true), None);
    }

    #[test]
    fn a_file_of_which_only_a_title_says_where_it_is_leaves_where_that_is_not_inside() {
        let (_temp, root) = place();
        let titled = |title: &str, files: &[&str]| {
            let files: Vec<String> = files.iter().map(|file| (*file).to_owned()).collect();
            let texts = if files.is_empty() { vec![title.to_owned()] } else { Vec::new() };
            let claim = Claim { what: Claimed::Unknown, ..Claim::of_edit("x") };
            Claims { all: vec![claim], files, texts, ..Claims::default() }
        };
        for (title, files, leaves) in [
            ("Edit src/a.rs", &[][..], false),
            ("Write `src/a.rs`.", &[], false),
            ("Edit /etc/passwd", &[], true),
            ("Edit ../x", &[], true),
            ("Edit ~/.bashrc", &[], true),
            ("Edit $HOME/x", &[], true),
            ("Edit", &[], true),
            ("Apply the patch", &[], true),
            ("", &["$HOME/x"], true),
            ("", &["~/x"], true),
            ("", &["src/*"], false),
            ("", &["src/a", "src/*"], true),
        ] {
            assert_eq!(extent(&root, &titled(title, files)).leaves, leaves, "{title} {files:?}");
        }
    }

    #[test]
    fn a_search_that_names_no_place_is_one_of_the_sessions_directory() {
        let (_temp, root) = place();
        let told = |input: serde_json::Value, title: &str| {
            let mut tool = ToolCall::new(ToolId::from("t"), Duration::ZERO);
            (tool.kind, tool.title, tool.raw_input) = (ToolKind::Search, title.to_owned(), Some(input));
            let found = extent(&root, &Claims::of_tool(&tool, &[]));
            (found.is_plain, found.leaves)
        };
        assert_eq!(told(json!({ "pattern": "x" }), "grep x"), (true, false));
        assert_eq!(told(json!({ "pattern": "x", "path": "." }), "grep x"), (true, false));
        for input in [json!({ "pattern": "x", "cwd": "~/x" }), json!({ "pattern": "x", "cwd": "$HOME" })] {
            assert!(!told(input.clone(), "grep x").0, "{input}");
        }
        for title in ["Search /etc", "Search ../x", "Search ~/x"] {
            assert!(!told(json!({}), title).0, "{title}");
        }
    }

    #[test]
    fn of_commands_only_those_are_plain_that_put_away_files_inside() {
        let (_temp, root) = place();
        for (line, is_plain) in [
            ("mkdir -p src/x", true),
            ("rm src/a.rs", true),
            ("mv src/a.rs src/b.rs && mkdir y", true),
            ("rm -rf .", false),
            ("rm -rf *", false),
            ("rm .env", false),
            ("rm -rf .git", false),
            ("rm ../x", false),
            ("rm way-out/x", false),
            ("rm $X", false),
            ("cargo test", false),
            ("rm a && cargo test", false),
            ("echo x > a", false),
            ("mv a ~/b", false),
            ("rm -r src", true),
            ("rm -r kept", false),
            ("mv kept src/x", false),
        ] {
            let found = extent(&root, &command(line));
            assert_eq!((found.is_plain, found.changes), (is_plain, true), "{line}");
        }
    }

    #[test]
    fn a_command_leaves_where_it_names_something_outside() {
        let (_temp, root) = place();
        for (line, leaves) in [
            ("cargo test", false),
            ("/usr/bin/env", false),
            ("bash -lc 'ls src'", false),
            ("ls > /dev/null 2>&1", false),
            ("git commit -m 'see /etc/passwd for more'", false),
            ("curl https://example.com/x", false),
            ("cat /etc/passwd", true),
            ("bash -lc 'cat /etc/passwd'", true),
            ("cp a ~/x", true),
            ("tar xf a.tar -C/etc", true),
            ("make --directory=/etc", true),
            ("gcc -I./src a.c", false),
            ("ls ..", true),
            ("cat way-out/x", true),
            ("echo x > /tmp/y", true),
            ("cc --output=/tmp/x a.c", true),
            ("touch $HOME/x", true),
            ("touch \"${HOME}/x\"", true),
            ("cat $(echo /etc)/passwd", true),
            ("cat `echo /etc/passwd`", true),
            ("cd; touch x", true),
            ("cd && touch x", true),
            ("cd -P; touch x", true),
            ("cd -; touch x", true),
            ("cd \"$X\" && ls", true),
            ("popd; touch x", true),
            ("x=/etc; cat $x/passwd", true),
            ("for f in /etc/passwd; do cat $f; done", true),
            ("for f in passwd; do cat /etc/$f; done", true),
            ("x=.; cat $x./y", true),
            ("a=..; cat $a/$a/x", true),
            ("cd src && cat way-out/x", true),
            ("cd src && ls", false),
            ("echo $HOME \"$X\"", false),
            ("for f in src/*; do wc -l \"$f\"; done", false),
            ("for f in a b; do cat src/$f.rs; done", false),
            ("x=src; cat $x/a", false),
            ("cat \"$PWD/src/a\"", false),
            ("git commit -m \"$MESSAGE\"", false),
        ] {
            assert_eq!(extent(&root, &command(line)).leaves, leaves, "{line}");
        }
        let elsewhere = Claims { cwd: Some("/".into()), ..command("ls") };
        assert!(extent(&root, &elsewhere).leaves);
    }
}
