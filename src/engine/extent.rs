//! What a request comes to that rules leave to the person: the permission mode decides by it.
//!
//! Blocks on the disk, as the rules do. Invariant: what is not known for certain is not plain.

use super::real_paths::real_path;
use crate::model::claims::{Claim, Claimed, Claims};
use crate::model::ruling::{Extent, Ruled};
use crate::rules::{self, Kind, Request, RuleRef, Rules, Subject, Tool, Verdict};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// What reads and edits inside of the roots. A name alone is a pattern for what lies there and steers no later command.
const PLAIN: [&str; 5] = ["Read", "Edit", "Bash(mkdir *)", "Bash(rm *)", "Bash(mv *)"];
/// What is more than an edit although such a pattern is for it: it removes all that there is.
const ALL: [&str; 4] = [".", "./", "*", "./*"];
/// Tools that change files and are no edits.
const NO_EDITS: [&str; 2] = ["delete", "move"];
/// Words of a command that are looked for outside.
const MAX_WORDS: usize = 200;
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
    let mut extent = Extent { is_plain: true, ..Extent::default() };
    for (claim, verdict) in claims.all.iter().zip(verdicts) {
        let kind = Tool::named(&claim.tool).map_or(Kind::Other, |tool| tool.kind);
        if !claim.only_narrows {
            extent.changes |= matches!(kind, Kind::Bash | Kind::Edit);
            extent.is_plain &= *verdict == Ruled::Allow || may_be_plain(claim) && covered(claim);
        }
        extent.leaves |= kind == Kind::Bash && leaves(place, claims, claim);
    }
    Some(extent)
}

fn may_be_plain(claim: &Claim) -> bool {
    !NO_EDITS.contains(&claim.tool.as_str()) && !words(claim).iter().any(|word| ALL.contains(&word.as_str()))
}

fn words(claim: &Claim) -> Vec<String> {
    match &claim.what {
        Claimed::Line(line) => rules::named(Subject::Line(line)),
        Claimed::Words(words) => rules::named(Subject::Words(words)),
        Claimed::Paths(_) | Claimed::Text(_) | Claimed::Unknown => Vec::new(),
    }
}

/// Whether a command runs, or names a file, outside of the session's directories.
fn leaves(at: &Place<'_>, claims: &Claims, claim: &Claim) -> bool {
    let Place { root, roots, home } = *at;
    let is_outside = |path: &Path| !real_path(path).is_some_and(|real| roots.iter().any(|root| real.starts_with(root)));
    let below = |from: &Path, path: &str| match (path.strip_prefix('~'), home) {
        (Some(rest), Some(home)) => home.join(rest.trim_start_matches('/')),
        _ => from.join(path),
    };
    let begins = claims.cwd.as_ref().map_or_else(|| root.to_owned(), |cwd| below(root, cwd));
    let words = words(claim);
    let place = |word: &String| -> Option<PathBuf> {
        // Text with blanks in it is a message or a program more often than a file.
        let is_text = word.contains("://") || word.contains(char::is_whitespace);
        let is_no_file = NO_FILES.iter().any(|name| Path::new(word).starts_with(name));
        if is_text || is_no_file {
            return None;
        }
        Some(below(&begins, word))
    };
    is_outside(&begins) || words.len() > MAX_WORDS || words.iter().filter_map(place).any(|path| is_outside(&path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::rulebook::Rulebook;
    use crate::model::event::TerminalSpec;
    use std::os::unix::fs::symlink;
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
        ] {
            assert_eq!(extent(&root, &command(line)).leaves, leaves, "{line}");
        }
        let elsewhere = Claims { cwd: Some("/".into()), ..command("ls") };
        assert!(extent(&root, &elsewhere).leaves);
    }
}
