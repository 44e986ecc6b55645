//! What a call does to a file as a patch, for being copied.
//!
//! Draws nothing. Invariant: a patch goes in with `git apply` in the session's directory, as far as the place of its texts
//! in the file is known.

use crate::base::paths;
use crate::model::session_ref::SessionRef;
use crate::model::tool::{Change, ChangeBody, Operation};
use crate::text::unified;
use std::borrow::Cow;
use std::path::Path;
use std::time::Duration;

/// For the changed lines of a patch.
const TIME: Duration = Duration::from_millis(50);

/// Nothing where the call does not say what it changes.
pub(super) fn of_change(change: &Change, line: Option<u32>, session: SessionRef<'_>) -> Option<String> {
    match &change.body {
        ChangeBody::Texts { old, new } => Some(of_texts(&change.path, (old.as_deref(), new), line, session)),
        ChangeBody::Patch(patch) => Some(named_patch(patch, names(&change.path, session), &change.operation)),
        ChangeBody::Nothing => None,
    }
}

/// `line`: where the texts begin in the file, if that is known.
pub(super) fn of_texts(
    path: &str,
    (old, new): (Option<&str>, &str),
    line: Option<u32>,
    session: SessionRef<'_>,
) -> String {
    let above = line.map_or(0, |line| line.saturating_sub(1) as usize);
    // A piece from within a file does not end it.
    let is_piece = above > 0 && old.is_some_and(|old| !old.ends_with('\n') && !new.ends_with('\n'));
    let whole = |text| if is_piece { Cow::Owned(format!("{text}\n")) } else { Cow::Borrowed(text) };
    let (from, to) = (whole(old.unwrap_or_default()), whole(new));
    let mut patch = head(&names(path, session), old.is_none(), false).into_bytes();
    unified::hunks_below(above, (from.as_bytes(), to.as_bytes()), TIME, &mut patch);
    String::from_utf8_lossy(&patch).into_owned()
}

/// What a patch calls a file before and after.
struct Names {
    before: String,
    after: String,
}

/// From the session's directory on; of a file outside of it, the whole path.
fn names(path: &str, session: SessionRef<'_>) -> Names {
    let dir = paths::normalize(Path::new(&session.cwd));
    let path = paths::normalize(&dir.join(path));
    match path.strip_prefix(&dir) {
        Ok(below) => {
            let below = below.to_string_lossy();
            Names { before: format!("a/{below}"), after: format!("b/{below}") }
        }
        Err(_) => {
            let path = path.to_string_lossy().into_owned();
            Names { before: path.clone(), after: path }
        }
    }
}

fn head(names: &Names, is_new: bool, is_gone: bool) -> String {
    const NOTHING: &str = "/dev/null";
    let before = if is_new { NOTHING } else { &names.before };
    let after = if is_gone { NOTHING } else { &names.after };
    format!("--- {before}\n+++ {after}\n")
}

/// The hunks of an agent's patch of one file below the names that it has here; what has none, or is git's, as it is.
fn named_patch(patch: &str, names: Names, operation: &Operation) -> String {
    let is_gits = patch.lines().any(|line| line.starts_with("diff --git "));
    let begin = if patch.starts_with("@@ ") { Some(0) } else { patch.find("\n@@ ").map(|at| at + 1) };
    match begin.and_then(|at| patch.get(at..)) {
        Some(hunks) if !is_gits => {
            let head = head(&names, *operation == Operation::Add, *operation == Operation::Delete);
            format!("{head}{hunks}")
        }
        _ => patch.to_owned(),
    }
}
