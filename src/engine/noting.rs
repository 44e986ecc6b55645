//! From what the model wants of the review to jobs for its thread.
//!
//! Looks at no file. Invariant: an agent that repeats itself causes no work; a call is told anew only when its status,
//! its paths or its diffs have changed.

use super::reviewing::{Given, Job};
use super::run::Engine;
use crate::base::paths;
use crate::model::changes::ReviewAction;
use crate::model::effect::ReviewEffect;
use crate::model::event::HostEvent;
use crate::model::ids::{EntryId, ReqId, SessionKey};
use crate::model::session::About;
use crate::model::tool::{ToolCall, ToolContent, ToolKind};
use crate::review::protocol::{ClaimedEdit, ToolEffect, ToolNote};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// Bytes of the diffs of one call that are told, together; larger ones are left out.
const MAX_CLAIMS: usize = 4 << 20;
/// Calls of which it is remembered what was told.
const MAX_NOTES: usize = 1 << 14;
/// Paths of one call.
const MAX_PATHS: usize = 1000;

impl Engine {
    pub(super) fn review(&mut self, at: SessionKey, effect: ReviewEffect) {
        let job = match effect {
            ReviewEffect::Session { id, first_turn, agent } => {
                Job::Session { id: id.as_str().to_owned(), first_turn, agent }
            }
            ReviewEffect::BeginTurn(turn) => Job::Begin(turn),
            ReviewEffect::SentEarly(turn) => {
                if let Some(reviewing) = &mut self.reviewing {
                    reviewing.sent_early(turn);
                }
                return;
            }
            ReviewEffect::EndTurn(turn) => {
                if let Some(reviewing) = &mut self.reviewing {
                    // A late word of a call is told once more; that does no harm.
                    reviewing.notes.clear();
                }
                Job::End(turn)
            }
            ReviewEffect::Tool(entry) => match self.tool_note(at, entry) {
                Some(note) => Job::Note(note),
                None => return,
            },
            ReviewEffect::Command { entry, settled } => {
                let doing = ToolEffect::Runs;
                let at = Instant::now();
                Job::Note(ToolNote { entry, doing, at, settled, waits: false, paths: Vec::new(), claims: Vec::new() })
            }
            ReviewEffect::Truth { req, asked } => Job::Truth { req, asked, claims: self.claims_of_question(at, req) },
            ReviewEffect::Hold { req, path, content, entry, asked } => {
                Job::Hold { req, path: path.into(), content, entry, asked }
            }
            ReviewEffect::DecideHeld { req, write } => Job::DecideHeld { req, write },
            ReviewEffect::LetGo(req) => Job::LetGo(req),
            ReviewEffect::Act(action) => {
                if let Some(reviewing) = &mut self.reviewing {
                    match &action {
                        ReviewAction::Show(_) => reviewing.is_open = true,
                        ReviewAction::Close => reviewing.is_open = false,
                        _ => {}
                    }
                }
                Job::Act(action)
            }
        };
        self.give(job);
    }

    pub(super) fn give(&mut self, job: Job) {
        if let Some(reviewing) = &mut self.reviewing {
            let given = reviewing.give(job);
            self.after_giving(given);
        }
    }

    /// Hands over what had to wait, and shows what is new.
    pub(super) fn tend_review(&mut self) {
        let Some(reviewing) = &mut self.reviewing else { return };
        let (at, shown) = (reviewing.at, reviewing.take_shown());
        let given = reviewing.drain();
        if let Some(doc) = shown {
            self.apply(at, HostEvent::ReviewShown { doc });
        }
        self.after_giving(given);
    }

    fn after_giving(&mut self, given: Given) {
        let Some(at) = self.reviewing.as_ref().map(|reviewing| reviewing.at) else { return };
        let event = match given {
            Given::Taken => return,
            Given::LeftOut => HostEvent::ReviewTrouble {
                what: "behind".into(),
                message: "the review does not keep up: some tool calls are left out of it".into(),
            },
            Given::Gone => {
                self.reviewing = None;
                HostEvent::ReviewOff { message: "it has stopped".into() }
            }
        };
        self.apply(at, event);
    }

    /// News of a tool call, unless they are none.
    fn tool_note(&mut self, at: SessionKey, entry: EntryId) -> Option<ToolNote> {
        let session = self.core.model.session_of(at)?;
        let asks = session.pending.iter().any(|p| p.entry == entry && p.about == About::Tool);
        let note = ToolNote { waits: asks, ..note(entry, session.tool(entry)?, &self.config.cwd) };
        let mut hash = DefaultHasher::new();
        (note.settled, note.waits, note.doing as u8, &note.paths).hash(&mut hash);
        for claim in &note.claims {
            (&claim.old, &claim.new).hash(&mut hash);
        }
        let print = hash.finish();
        let notes = &mut self.reviewing.as_mut()?.notes;
        if notes.len() >= MAX_NOTES {
            // What is told once more does no harm.
            notes.clear();
        }
        (notes.insert(entry, print) != Some(print)).then_some(note)
    }

    fn claims_of_question(&self, at: SessionKey, req: ReqId) -> Vec<ClaimedEdit> {
        let cwd = &self.config.cwd;
        let Some(session) = self.model().session_of(at) else { return Vec::new() };
        let Some(pending) = session.pending.iter().find(|p| p.req == req) else { return Vec::new() };
        match &pending.about {
            About::Tool => session.tool(pending.entry).map(|t| claims(t, cwd)).unwrap_or_default(),
            About::Write { path, content } | About::Held { path, content } => {
                vec![ClaimedEdit { path: absolute(path, cwd), old: None, new: Arc::clone(content) }]
            }
            About::Run(_) => Vec::new(),
        }
    }
}

fn note(entry: EntryId, tool: &ToolCall, cwd: &Path) -> ToolNote {
    let mut claims = claims(tool, cwd);
    let changes = || tool.content.iter().filter_map(ToolContent::change).take(MAX_PATHS);
    let doing = match tool.kind {
        _ if changes().next().is_some() => ToolEffect::Edits,
        ToolKind::Edit | ToolKind::Delete | ToolKind::Move => ToolEffect::Edits,
        ToolKind::Read | ToolKind::Search | ToolKind::Think | ToolKind::Fetch => ToolEffect::ReadOnly,
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
    ToolNote { entry, doing, at: Instant::now(), settled: tool.is_settled(), waits: false, paths, claims }
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
