//! Paths that an agent may take otherwise than they are written: with a home in them, as the address of a file, with signs
//! for characters.
//!
//! Looks nothing up. Invariant: each way to take a path is judged, and none of them is left out because another is allowed.

use crate::base::percent::decoded;
use crate::model::claims::{Claim, Claimed, Claims, claimed_paths, is_address_of_file};
use crate::rules::{Kind, Tool};
use std::borrow::Cow;
use std::path::Path;

/// Paths of one call that are looked at; who names more is asked about all of them.
const MAX_PATHS: usize = 200;
/// How often signs for characters are made of signs for characters.
const MAX_ROUNDS: usize = 8;
/// What stands for a home directory at the beginning of a path.
const HOMES: [&str; 3] = ["~", "$HOME", "${HOME}"];

/// Whether only the agent knows which file that is: no address of a web, and no path from a directory that is known.
pub(super) fn is_of_agent(path: &str) -> bool {
    let path = meant(path);
    path.starts_with('~') || path.contains('$') || is_address_of_file(&path)
}

/// A path with each `%2E` as the character that it stands for.
pub(super) fn meant(path: &str) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(path);
    for _ in 0..MAX_ROUNDS {
        match decoded(&text) {
            Some(next) => text = Cow::Owned(next),
            None => break,
        }
    }
    text
}

/// The claims with those that there are if paths are taken otherwise.
pub(super) fn with_meant<'a>(claims: &'a Claims, root: &Path, home: Option<&Path>) -> Cow<'a, Claims> {
    let paths = claims.all.iter().filter_map(|claim| match &claim.what {
        Claimed::Paths(paths) => Some((claim, paths)),
        _ => None,
    });
    let mut more: Vec<Claim> = paths.filter_map(|(claim, paths)| otherwise(claim, paths, root)).collect();
    let is_edit = |claim: &Claim| Tool::named(&claim.tool).is_some_and(|tool| tool.kind == Kind::Edit);
    let tools: &[&str] = if claims.all.iter().any(is_edit) { &["read", "edit"] } else { &["read"] };
    for path in claims.files.iter().filter(|path| is_of_agent(path)).take(MAX_PATHS) {
        let Some(placed) = placed(path, home) else { continue };
        more.extend(tools.iter().map(|tool| Claim {
            tool: (*tool).to_owned(),
            what: Claimed::Paths(vec![placed.clone()]),
            only_narrows: true,
            is_guess: true,
        }));
    }
    if more.is_empty() {
        return Cow::Borrowed(claims);
    }
    let mut claims = claims.clone();
    claims.all.extend(more);
    Cow::Owned(claims)
}

/// The same claim of what is meant where paths have signs for characters below the session's directory.
fn otherwise(claim: &Claim, paths: &[String], root: &Path) -> Option<Claim> {
    let root = root.to_str().unwrap_or_default();
    let below = |path: &'_ String| path.strip_prefix(root).map_or(0, |_| root.len());
    let is_plain =
        |path: &String| !path.contains('%') || decoded(path.get(below(path)..).unwrap_or_default()).is_none();
    if paths.iter().all(is_plain) {
        return None;
    }
    let taken = |path: &String| {
        let (start, rest) = path.split_at_checked(below(path)).unwrap_or((path, ""));
        format!("{start}{}", meant(rest))
    };
    let what = if paths.len() > MAX_PATHS {
        Claimed::Unknown
    } else {
        claimed_paths(&claim.tool, paths.iter().map(taken).collect())
    };
    Some(Claim { what, ..claim.clone() })
}

/// Where most programs would find what only the agent knows for certain.
pub(super) fn placed(path: &str, home: Option<&Path>) -> Option<String> {
    if !is_of_agent(path) {
        return None;
    }
    let path = &*meant(path);
    if is_address_of_file(path) {
        let (_, rest) = path.split_once(':')?;
        let rest = rest.trim_start_matches('/');
        let rest = rest.strip_prefix("localhost/").unwrap_or(rest);
        let end = rest.find(['?', '#']).unwrap_or(rest.len());
        return Some(format!("/{}", rest.get(..end)?));
    }
    let rest = HOMES.iter().find_map(|mark| path.strip_prefix(mark))?;
    let rest = rest.strip_prefix('/').or_else(|| rest.is_empty().then_some(""))?;
    Some(home?.join(rest).to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_placed_as_most_programs_would_find_it() {
        let home = Some(Path::new("/home/me"));
        for (path, place) in [
            ("~/.ssh/x", Some("/home/me/.ssh/x")),
            ("~", Some("/home/me/")),
            ("$HOME/x", Some("/home/me/x")),
            ("${HOME}/x", Some("/home/me/x")),
            ("file:///a/b?c#d", Some("/a/b")),
            ("FILE://localhost/a", Some("/a")),
            ("file:/a", Some("/a")),
            ("~other/x", None),
            ("$HOMES/x", None),
            ("$X/x", None),
            ("src/x", None),
        ] {
            assert_eq!(placed(path, home).as_deref(), place, "{path}");
        }
        assert_eq!(placed("~/x", None), None);
    }

    #[test]
    fn signs_for_characters_are_those_however_often_they_were_made() {
        for (path, is) in [("%2Eenv", ".env"), ("%252eenv", ".env"), ("100%", "100%"), ("%zz", "%zz"), ("%7E/x", "~/x")]
        {
            assert_eq!(meant(path), is);
        }
        assert!(is_of_agent("%7E/x") && is_of_agent("a/$X") && is_of_agent("file%3A///x"));
        assert!(!is_of_agent("https://docs.rs/x") && !is_of_agent("a%20b") && !is_of_agent("a/~/b"));
    }

    #[test]
    fn a_directory_of_the_session_with_a_sign_in_its_name_is_no_sign() {
        let of = |path: &str| Claims::of_file("read", path);
        let root = Path::new("/w/a%2Fb");
        assert_eq!(with_meant(&of("/w/a%2Fb/x"), root, None).all.len(), 1);
        let both = with_meant(&of("/w/a%2Fb/%2Eenv"), root, None).into_owned();
        assert_eq!(both.all[1].what, Claimed::Paths(vec!["/w/a%2Fb/.env".into()]));
    }
}
