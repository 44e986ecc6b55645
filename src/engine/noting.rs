//! What the review is told of a tool call or of a question: what it does, which paths it names, which edits it claims.
//!
//! Looks at no file. Invariants: paths are absolute; what one call claims is bounded.

use crate::base::paths;
use crate::model::ids::{EntryId, ReqId};
use crate::model::question::About;
use crate::model::session::Session;
use crate::model::tool::{ToolCall, ToolContent, ToolKind};
use crate::review::protocol::{ClaimedEdit, ToolEffect, ToolNote};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// Bytes of the diffs of one call that are told, together; larger ones are left out.
const MAX_CLAIMS: usize = 4 << 20;
/// Paths of one call.
const MAX_PATHS: usize = 1000;

/// What is to be told of a tool call of a session now.
pub(super) fn of(session: &Session, entry: EntryId, cwd: &Path) -> Option<ToolNote> {
    let waits = session.questions().iter().any(|p| p.entry == entry && p.about == About::Permission);
    let turn = session.unended_turn().map(|turn| turn.0);
    Some(ToolNote { turn, waits, ..note(entry, session.tool(entry)?, cwd) })
}

/// Of all by which two notes of one call differ for the review.
pub(super) fn fingerprint(note: &ToolNote) -> u64 {
    let mut hash = DefaultHasher::new();
    (note.finished, note.waits, note.doing as u8, &note.paths).hash(&mut hash);
    for claim in &note.claims {
        (&claim.old, &claim.new).hash(&mut hash);
    }
    hash.finish()
}

/// What would be changed if a question were answered with yes.
pub(super) fn claims_of_question(session: &Session, req: ReqId, cwd: &Path) -> Vec<ClaimedEdit> {
    let Some(pending) = session.question(req) else { return Vec::new() };
    match &pending.about {
        About::Permission => session.tool(pending.entry).map(|t| claims(t, cwd)).unwrap_or_default(),
        About::Write => session.write(req).map_or_else(Vec::new, |write| {
            let real = pending.outside.first().and_then(|outside| outside.real.as_deref());
            let path = absolute(real.unwrap_or(&write.path), cwd);
            vec![ClaimedEdit { path, old: None, new: (&write.content).into() }]
        }),
        About::Read(_) | About::Run(_) | About::Asked { .. } => Vec::new(),
    }
}

fn note(entry: EntryId, tool: &ToolCall, cwd: &Path) -> ToolNote {
    let mut claims = claims(tool, cwd);
    let changes = || tool.content.iter().filter_map(ToolContent::change).take(MAX_PATHS);
    let doing = match tool.kind {
        _ if changes().next().is_some() => ToolEffect::Edits,
        ToolKind::Edit | ToolKind::Delete | ToolKind::Move => ToolEffect::Edits,
        ToolKind::Read | ToolKind::Search | ToolKind::Fetch => ToolEffect::ReadOnly,
        ToolKind::Think => ToolEffect::Thinks,
        _ => ToolEffect::Runs,
    };
    let changed = changes().flat_map(|change| std::iter::once(&change.path).chain(&change.from));
    let named = tool.locations.iter().map(|l| &l.path).chain(changed).map(|path| absolute(path, cwd));
    let mut paths: Vec<PathBuf> = named.take(MAX_PATHS).collect();
    paths.sort();
    paths.dedup();
    let bytes: usize = claims.iter().map(|c| c.new.len() + c.old.as_ref().map_or(0, |o| o.len())).sum();
    if bytes > MAX_CLAIMS {
        claims.clear();
    }
    let (at, finished) = (Instant::now(), tool.is_finished());
    ToolNote { entry, turn: None, doing, at, since: at, finished, waits: false, paths, claims }
}

/// The texts of a call's changes, in their order.
fn claims(tool: &ToolCall, cwd: &Path) -> Vec<ClaimedEdit> {
    let claim = |(path, old, new): (&str, Option<&Arc<str>>, &Arc<str>)| ClaimedEdit {
        path: absolute(path, cwd),
        old: old.cloned(),
        new: Arc::clone(new),
    };
    tool.texts().take(MAX_PATHS).map(claim).collect()
}

fn absolute(path: &str, cwd: &Path) -> PathBuf {
    paths::normalize(&cwd.join(path))
}

#[cfg(test)]
#[path = "noting_tests.rs"]
mod tests;
