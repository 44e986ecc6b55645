//! From what the model wants of the review to jobs for its thread.
//!
//! Looks at no file. Invariant: an agent that repeats itself causes no work; a call is told anew only when its status,
//! its paths or its diffs have changed.

use super::reviewing::{Given, Job};
use super::run::Engine;
use crate::base::paths;
use crate::model::changes::{ReviewAction, ReviewCommand, ReviewEvent};
use crate::model::event::HostEvent;
use crate::model::ids::{EntryId, ReqId, SessionKey, TurnId};
use crate::model::question::About;
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
    pub(super) fn review(&mut self, at: SessionKey, effect: ReviewCommand) {
        let job = match effect {
            ReviewCommand::Session { id, first_turn, agent } => {
                Job::Session { id: id.as_str().to_owned(), first_turn, agent }
            }
            ReviewCommand::BeginTurn(turn) => {
                self.name_session(at, turn);
                Job::Begin(turn)
            }
            ReviewCommand::SentEarly(turn) => {
                if let Some(reviewing) = self.workspaces.reviewing(at) {
                    reviewing.sent_early(turn);
                }
                return;
            }
            ReviewCommand::EndTurn(turn) => {
                if let Some(reviewing) = self.workspaces.reviewing(at) {
                    // A late word of a call is told once more; that does no harm.
                    reviewing.notes.retain(|(of, _), _| *of != at);
                }
                Job::End(turn)
            }
            ReviewCommand::Tool(entry) => match self.tool_note(at, entry) {
                Some(note) => Job::Note(note),
                None => return,
            },
            ReviewCommand::Command { entry, settled } => {
                let doing = ToolEffect::Runs;
                let (turn, at) = (self.turn_of(at).map(|turn| turn.0), Instant::now());
                let (paths, claims) = (Vec::new(), Vec::new());
                Job::Note(ToolNote { entry, turn, doing, at, settled, waits: false, paths, claims })
            }
            ReviewCommand::Truth { req, asked } => Job::Truth { req, asked, claims: self.claims_of_question(at, req) },
            ReviewCommand::Hold { req, path, content, entry, asked } => {
                let turn = self.turn_of(at);
                Job::Hold { req, path: path.into(), content, turn, entry, asked }
            }
            ReviewCommand::DecideHeld { req, write } => Job::DecideHeld { req, write },
            ReviewCommand::CommandAsked => Job::CommandAsked,
            ReviewCommand::LetGo(req) => Job::LetGo(req),
            ReviewCommand::Act(action) => {
                if let Some(reviewing) = self.workspaces.reviewing(at) {
                    match &action {
                        ReviewAction::Show(_) => drop(reviewing.viewers.insert(at)),
                        ReviewAction::Close => drop(reviewing.viewers.remove(&at)),
                        _ => {}
                    }
                }
                Job::Act(action)
            }
        };
        self.give(at, job);
    }

    pub(super) fn give(&mut self, at: SessionKey, job: Job) {
        if let Some(reviewing) = self.workspaces.reviewing(at) {
            let given = reviewing.give(at, job);
            self.after_giving(at, given);
        }
    }

    /// The turn of a session that what happens in it now is of.
    pub(super) fn turn_of(&self, at: SessionKey) -> Option<TurnId> {
        self.model().session_of(at)?.unended_turn()
    }

    /// Turns from one on belong to the session that was named last: where several take turns, each is named anew.
    fn name_session(&mut self, at: SessionKey, first_turn: TurnId) {
        let Some(reviewing) = self.workspaces.reviewing(at) else { return };
        let before = reviewing.newest.replace(at);
        let (Some(session), false) = (self.core.model.at(at), before.is_none_or(|before| before == at)) else { return };
        let Some(id) = &session.id else { return };
        let (id, agent) = (id.as_str().to_owned(), session.agent().label().to_owned());
        self.give(at, Job::Session { id, first_turn, agent });
    }

    /// Hands over what had to wait, and shows what is new.
    pub(super) fn tend_review(&mut self) {
        let new: Vec<_> =
            self.workspaces.reviews().map(|(at, review)| (at, review.take_shown(), review.drain())).collect();
        for (at, shown, given) in new {
            for (viewer, doc) in shown {
                self.apply(viewer, HostEvent::Review(ReviewEvent::ReviewShown { doc }));
            }
            self.after_giving(at, given);
        }
    }

    fn after_giving(&mut self, at: SessionKey, given: Given) {
        let event = match given {
            Given::Taken => return,
            Given::LeftOut => HostEvent::Review(ReviewEvent::ReviewTrouble {
                what: "behind".into(),
                message: "the review does not keep up: some tool calls are left out of it".into(),
            }),
            Given::Gone => {
                self.workspaces.set(at, None);
                HostEvent::Review(ReviewEvent::ReviewOff { message: "it has stopped".into() })
            }
        };
        for at in self.workspaces.beside(at) {
            self.apply(at, event.clone());
        }
    }

    /// News of a tool call, unless they are none.
    fn tool_note(&mut self, at: SessionKey, entry: EntryId) -> Option<ToolNote> {
        let session = self.core.model.session_of(at)?;
        let asks = session.questions().iter().any(|p| p.entry == entry && p.about == About::Permission);
        let turn = session.unended_turn().map(|turn| turn.0);
        let cwd = self.workspaces.directory(at)?;
        let note = ToolNote { waits: asks, turn, ..note(entry, session.tool(entry)?, cwd) };
        let mut hash = DefaultHasher::new();
        (note.settled, note.waits, note.doing as u8, &note.paths).hash(&mut hash);
        for claim in &note.claims {
            (&claim.old, &claim.new).hash(&mut hash);
        }
        let print = hash.finish();
        let notes = &mut self.workspaces.reviewing(at)?.notes;
        if notes.len() >= MAX_NOTES {
            // What is told once more does no harm.
            notes.clear();
        }
        (notes.insert((at, entry), print) != Some(print)).then_some(note)
    }

    fn claims_of_question(&self, at: SessionKey, req: ReqId) -> Vec<ClaimedEdit> {
        let Some(cwd) = self.workspaces.directory(at) else { return Vec::new() };
        let Some(session) = self.model().session_of(at) else { return Vec::new() };
        let Some(pending) = session.question(req) else { return Vec::new() };
        match &pending.about {
            About::Permission => session.tool(pending.entry).map(|t| claims(t, cwd)).unwrap_or_default(),
            About::Write => session.write(req).map_or_else(Vec::new, |write| {
                vec![ClaimedEdit { path: absolute(&write.path, cwd), old: None, new: Arc::clone(&write.content) }]
            }),
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
    let (at, settled) = (Instant::now(), tool.is_settled());
    ToolNote { entry, turn: None, doing, at, settled, waits: false, paths, claims }
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
