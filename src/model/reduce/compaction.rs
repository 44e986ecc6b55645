//! Compactions: one entry for each, which changes until it is over. What was said before stays.

use super::super::compaction::{Compaction, MAX_COMPACTIONS};
use super::super::entry::{Body, Level, Notice};
use super::super::event::CompactionPatch;
use super::super::session::Session;
use super::Cx;
use crate::base::limits::{self, MAX_WORDS};

/// Without an id it is the last one, as long as that is not over.
pub fn changed(session: &mut Session, patch: CompactionPatch, cx: &Cx) {
    let CompactionPatch { id, status, summary, more, error } = patch;
    if let Some(turn) = &mut session.turn {
        turn.spoke = true;
    }
    let is_it = |one: &Compaction| one.id == id && (id.is_some() || !one.is_over());
    let at = session.compactions.iter().rposition(is_it).unwrap_or_else(|| {
        if session.compactions.len() >= MAX_COMPACTIONS {
            session.compactions.remove(0);
        }
        let body = Body::Notice(Notice::new(Level::Info, String::new(), Vec::new()));
        let entry = session.entries.push(session.last_turn, cx.now, body);
        let (status, summary, error) = ("in_progress".to_owned(), String::new(), String::new());
        session.compactions.push(Compaction { id, status, summary, error, entry });
        session.compactions.len() - 1
    });
    let Some(one) = session.compactions.get_mut(at) else { return };
    if let Some(status) = status {
        one.status = status;
    }
    summary.put(&mut one.summary);
    // A summary that was cut says so, and takes no more.
    if !more.is_empty() && one.summary.len() <= MAX_WORDS {
        one.summary = limits::cut(std::mem::take(&mut one.summary) + &more, MAX_WORDS);
    }
    error.put(&mut one.error);
    let (entry, is_over) = (one.entry, one.is_over());
    let level = if one.status == "failed" { Level::Warn } else { Level::Info };
    let detail = one.error.lines().chain(one.summary.lines()).map(str::to_owned).collect();
    let is_prose = one.error.is_empty();
    let notice = Notice { is_prose, ..Notice::new(level, one.words(), detail) };
    session.entries.change(entry, |e| {
        e.body = Body::Notice(notice);
    });
    if is_over {
        session.entries.finish(entry);
    }
}
