//! `review`, `undo` and `redo`: what a session changed, after the fact.
//!
//! Starts no agent. Invariant: an undo touches nothing before its question, where there is a person to ask, is answered
//! with yes.

use super::archived::{reviews, say_namesakes, sums};
use super::args::Undo;
use super::output::{can_draw, confirmed, is_screen, print, say};
use super::progress;
use super::usage::Usage;
use crate::base::{human, paths};
use crate::headless::code;
use crate::model::changes::{
    Cause, FileChange, FileDoc, HunkDoc, HunkKind, HunkState, ReviewAction, ReviewDoc, RewindOutcome, Rewound, Scope,
};
use crate::review::archive::{self, Found, Listed};
use crate::review::error::ReviewError;
use crate::review::protocol::{AgentSession, Done};
use crate::review::session::{Newest, ReviewSession};
use crate::text::diff::Kind;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Files that are named of those that could not be read.
const NAMED: usize = 20;

/// The review that is meant.
pub(super) fn find(home: &Path, name: &str) -> Result<Found, ReviewError> {
    let here = std::env::current_dir().and_then(|dir| dir.canonicalize());
    let found = archive::find(home, name, here.ok().as_deref());
    if name == archive::LAST {
        say_namesakes(&archive::list(home), name);
    }
    found
}

/// Says what went wrong. Gives the exit code.
pub(super) fn failed(error: &ReviewError) -> u8 {
    say(&error.to_string());
    match error {
        ReviewError::Io { .. } | ReviewError::Store(_) => code::OWN_FAULT,
        _ => code::USAGE,
    }
}

fn done(outcome: Result<u8, ReviewError>) -> u8 {
    outcome.unwrap_or_else(|error| failed(&error))
}

/// `acp-tui review [SESSION]`.
pub fn review(name: &str) -> Result<u8, Usage> {
    let home = reviews()?;
    let found = match find(&home, name) {
        Ok(found) => found,
        Err(error) => return Ok(failed(&error)),
    };
    if can_draw() {
        // What stands in the way is said before the screen is taken, and not on an empty one.
        if let Err(error) = ReviewSession::open(&found.dir).map(drop) {
            return Ok(failed(&error));
        }
        return super::screen::review(&found.dir);
    }
    list(&found.dir)
}

/// What there is to look at, without a screen.
pub(super) fn list(dir: &Path) -> Result<u8, Usage> {
    let doc = ReviewSession::open(dir).and_then(|mut tracker| tracker.doc(Scope::Session));
    match doc {
        Ok(doc) => print(&listing(&doc)),
        Err(error) => Ok(failed(&error)),
    }
}

/// `acp-tui undo SESSION`.
pub fn undo(undo: &Undo) -> Result<u8, Usage> {
    let home = reviews()?;
    Ok(done(take_back(&home, undo)))
}

fn take_back(home: &Path, undo: &Undo) -> Result<u8, ReviewError> {
    let found = find(home, &undo.session)?;
    let mut tracker = ReviewSession::open(&found.dir)?;
    if undo.turn.is_none()
        && let Some((words, Newest::Merge(files))) = tracker.newest_decision()
    {
        return unmerge(&mut tracker, undo, &words, &files);
    }
    let turn = first_turn(tracker.sessions(), found.session.as_ref(), undo.turn, tracker.last_turn())?;
    if let Some(trouble) = tracker.trouble() {
        say(&trouble);
    }
    if tracker.is_behind() {
        say_touched(&tracker.touched());
    }
    for later in later(tracker.sessions(), found.session.as_ref()) {
        say(&format!("the later session {} of the same run is taken back too", archive::shown_id(later)));
    }
    let ask = is_screen() && !undo.yes;
    if undo.dry_run || ask {
        let preview = tracker.act(&ReviewAction::PreviewRewind { turn })?;
        let printed = show(&preview.rewound, Tense::Would, &tracker);
        if undo.dry_run || preview.rewound.is_empty() || printed == code::READER_GONE {
            return Ok(printed);
        }
        if !confirmed("Take this back?") {
            say("nothing was taken back");
            return Ok(code::OK);
        }
    }
    let (taken, stopped) = progress::act(&mut tracker, &ReviewAction::Rewind { turn }, "taking back")?;
    let printed = if taken.stopped.is_some() && taken.rewound.is_empty() {
        code::OK
    } else {
        show(&taken.rewound, Tense::Did, &tracker)
    };
    if undo.turn.is_none() {
        say_earlier(home, &found);
    }
    Ok(stopped.unwrap_or(printed.max(code_of(&taken))))
}

/// What the system did not let be written is a fault: the same command again does the rest.
fn code_of(done: &Done) -> u8 {
    if done.unwritten.is_empty() { code::OK } else { code::OWN_FAULT }
}

/// A session that went on in a later run has a review of each: names those before this one that still have something.
fn say_earlier(home: &Path, found: &Found) {
    let Some(session) = &found.session else { return };
    let all = archive::list(home);
    let Some(this) = all.iter().position(|one| one.dir == found.dir) else { return };
    let cwd = all.get(this).and_then(|one| one.head.as_ref()).map(|head| &head.cwd);
    let is_its = |one: &&Listed| {
        one.sessions.iter().any(|other| other.id == session.id) && one.head.as_ref().map(|head| &head.cwd) == cwd
    };
    for one in all.iter().skip(this + 1).filter(is_its) {
        let left = ReviewSession::open(&one.dir).and_then(|mut review| {
            let preview = review.act(&ReviewAction::PreviewRewind { turn: 0 })?;
            Ok(preview.rewound.len())
        });
        match left {
            Ok(0) => {}
            Ok(files) => say(&format!(
                "the session began in an earlier run, which changed {} more; `acp-tui undo {}` takes that back as well",
                human::count(files as u64, "file"),
                one.stem
            )),
            Err(error) => say(&format!("the session's earlier run {} cannot be looked at: {error}", one.stem)),
        }
    }
}

/// Takes a merge back that was made after all that the session did.
fn unmerge(tracker: &mut ReviewSession, undo: &Undo, words: &str, files: &[PathBuf]) -> Result<u8, ReviewError> {
    let ask = is_screen() && !undo.yes;
    if undo.dry_run || ask {
        let mut text = line(&format!("would take back: {words}"));
        text.extend(files.iter().map(|file| line(&format!("  {}", paths::visible(file.as_os_str())))));
        let printed = print_or_gone(&text);
        if undo.dry_run || printed == code::READER_GONE {
            return Ok(printed);
        }
        if !confirmed("Take this back?") {
            say("nothing was taken back");
            return Ok(code::OK);
        }
    }
    let (taken, stopped) = progress::act(tracker, &ReviewAction::Undo, "taking back")?;
    let printed = print_or_gone(&line(&taken.words));
    say("`acp-tui redo` brings it again; one more `undo` takes back what the session changed");
    Ok(stopped.unwrap_or(printed.max(code_of(&taken))))
}

/// Names files that nobody could look at: an undo does not know them.
fn say_touched(found: &[PathBuf]) {
    if found.is_empty() {
        return;
    }
    let mut names: Vec<String> = found.iter().take(NAMED).map(|path| paths::visible(path.as_os_str())).collect();
    if found.len() > NAMED {
        names.push(format!("{} more", found.len() - NAMED));
    }
    say(&format!("changed since they were looked at last, and left alone as they are now: {}", names.join(", ")));
}

/// `acp-tui redo [SESSION]`.
pub fn redo(name: &str) -> Result<u8, Usage> {
    let home = reviews()?;
    let outcome = find(&home, name)
        .and_then(|found| ReviewSession::open(&found.dir))
        .and_then(|mut tracker| bring_back(&mut tracker))
        .map(|(taken, stopped)| stopped.unwrap_or_else(|| print_or_gone(&line(&taken.words)).max(code_of(&taken))));
    Ok(done(outcome))
}

/// Takes back an undo, of turns or of a merge, and nothing else: a decision made since then would have to be undone first.
fn bring_back(tracker: &mut ReviewSession) -> Result<(Done, Option<u8>), ReviewError> {
    if tracker.has_undone_merge() {
        return progress::act(tracker, &ReviewAction::Redo, "bringing back");
    }
    let (turn, undone) = match tracker.newest_decision() {
        Some((words, Newest::Other | Newest::Merge(_))) => {
            return Err(ReviewError::Refused(format!(
                "the last thing done was no undo but: {words}; `acp-tui review` undoes it"
            )));
        }
        None => return Err(ReviewError::Refused("nothing to do again".to_owned())),
        Some((words, Newest::Rewind(turn))) => (turn, format!("undone: {words}")),
    };
    let (mut taken, stopped) = progress::act(tracker, &ReviewAction::Undo, "bringing back")?;
    // What was left alone is said behind it.
    let left = taken.words.strip_prefix(&undone).map(str::to_owned);
    let from = if turn == 0 { "the beginning".to_owned() } else { format!("turn {turn}") };
    let again = left.map(|left| format!("done again: what was changed from {from} on{left}"));
    taken.words = again.unwrap_or(taken.words);
    Ok((taken, stopped))
}

/// Where there may be more to take back than is known, that is a fault. A directory that is not there is known to be gone.
fn show(rewound: &[Rewound], tense: Tense, tracker: &ReviewSession) -> u8 {
    let is_there = tracker.root_stands().is_ok();
    let is_untold = rewound.is_empty() && tracker.trouble().is_some();
    let is_partial = tracker.damage().is_some() || (tracker.is_behind() || is_untold) && is_there;
    let text = match rewound {
        [] if is_partial => "nothing that is known to take back\n".to_owned(),
        [] => "nothing to take back\n".to_owned(),
        rewound => rewound.iter().map(|one| line(&outcome(one, tense))).collect(),
    };
    if is_partial { print_or_gone(&text).max(code::OWN_FAULT) } else { print_or_gone(&text) }
}

fn print_or_gone(text: &str) -> u8 {
    print(text).unwrap_or(code::READER_GONE)
}

fn line(words: &str) -> String {
    format!("{}\n", crate::base::sanitize::line(words))
}

/// The turn of the run with which the undo begins. `wanted` counts the turns of the session from 1, `last` those of the
/// run.
fn first_turn(
    sessions: &[AgentSession],
    session: Option<&AgentSession>,
    wanted: Option<u64>,
    last: u64,
) -> Result<u64, ReviewError> {
    let first = session.map_or(1, |session| session.first_turn.max(1));
    // What was changed before the first turn of the run belongs to its first session.
    let Some(wanted) = wanted else { return Ok(if first == 1 { 0 } else { first }) };
    let turn = first.saturating_add(wanted.saturating_sub(1));
    let behind = last.saturating_add(1).max(first);
    let next = after(sessions, first).filter(|_| session.is_some()).map_or(behind, |next| next.min(behind));
    if turn < next {
        return Ok(turn);
    }
    Err(ReviewError::Refused(format!("the session has no turn {wanted}, only {}", next - first)))
}

/// The first turn of the session that follows the one that begins with `first`.
fn after(sessions: &[AgentSession], first: u64) -> Option<u64> {
    sessions.iter().map(|session| session.first_turn).filter(|turn| *turn > first).min()
}

/// Sessions that the person did not name and that follow the one named.
fn later<'a>(sessions: &'a [AgentSession], session: Option<&AgentSession>) -> Vec<&'a str> {
    let Some(named) = session else { return Vec::new() };
    let follows = |one: &&AgentSession| one.first_turn > named.first_turn && one.id != named.id;
    sessions.iter().filter(follows).map(|one| one.id.as_str()).collect()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tense {
    Did,
    Would,
}

fn outcome(one: &Rewound, tense: Tense) -> String {
    let path = paths::visible(one.path.as_os_str());
    let verb = |did: &'static str, would: &'static str| if tense == Tense::Did { did } else { would };
    let alone = verb("left alone", "would leave alone");
    let remark = one.remark.as_ref().map(|remark| format!(" ({remark})")).unwrap_or_default();
    match one.outcome {
        RewindOutcome::Restored => format!("{} {path}{remark}", verb("restored", "would restore")),
        RewindOutcome::Removed => format!("{} {path}{remark}", verb("removed", "would remove")),
        RewindOutcome::Merged => format!("{} {path} (your changes stay){remark}", verb("merged", "would merge")),
        RewindOutcome::Conflict => {
            format!("{alone} {path}: {}", one.remark.as_deref().unwrap_or("these lines were changed since"))
        }
        RewindOutcome::Doubtful => format!("{alone} {path}: nobody said who changed it; `acp-tui review` shows it"),
        RewindOutcome::NotKept => format!("{alone} {path}: what it was before is not kept"),
        RewindOutcome::Failed => {
            format!("{alone} {path}: {}", one.remark.as_deref().unwrap_or("it could not be written"))
        }
    }
}

fn listing(doc: &ReviewDoc) -> String {
    let mut text = line(&sums(doc.totals));
    for file in &doc.files {
        text.push_str(&line(&file_words(file)));
        for hunk in &file.hunks {
            text.push_str("  ");
            text.push_str(&line(&hunk_words(hunk)));
        }
    }
    for words in &doc.uncovered {
        text.push_str(&line(&format!("not covered: {words}")));
    }
    text
}

fn file_words(file: &FileDoc) -> String {
    let change = match file.change {
        FileChange::Created => "created",
        FileChange::Modified => "modified",
        FileChange::Deleted => "deleted",
        FileChange::Renamed => "renamed",
        FileChange::Mode => "mode of",
        FileChange::Kind => "kind of",
    };
    let path = |path: &Path| paths::display(path, &[], None);
    let mut words = format!("{change} {}", path(&file.path));
    // Writing to a string cannot fail.
    if let Some(from) = &file.renamed_from {
        let _ = write!(words, " (was {})", path(from));
    }
    let _ = write!(words, "  +{} −{}", file.added, file.removed);
    if let Some(note) = &file.note {
        let _ = write!(words, "  {note}");
    }
    words
}

fn hunk_words(hunk: &HunkDoc) -> String {
    let count = |kind: Kind| hunk.lines.iter().filter(|line| line.kind == kind).count();
    let mut words = match &hunk.what {
        HunkKind::Lines => {
            let (added, removed) = (count(Kind::Add), count(Kind::Del));
            let heading = if hunk.heading.is_empty() { String::new() } else { format!("{}  ", hunk.heading) };
            format!("@@ -{} +{} @@  {heading}+{added} −{removed}", hunk.old_start, hunk.new_start)
        }
        HunkKind::Whole(what) => what.clone(),
        HunkKind::Mode(old, new) => format!("mode {old:o} → {new:o}"),
    };
    let state = match hunk.state {
        HunkState::Pending => "to review",
        HunkState::Accepted => "accepted",
        HunkState::Rejected => "rejected",
        HunkState::Edited => "edited",
        HunkState::Superseded => "superseded",
    };
    let cause = match hunk.cause {
        Cause::Write => "write",
        Cause::Tool => "tool call",
        Cause::Command => "command",
        Cause::Unknown => "cause not known",
        Cause::Person => "you",
        Cause::Review => "review",
        Cause::Merge => "merge",
    };
    // Writing to a string cannot fail.
    let _ = write!(words, "  {state}, {cause}");
    if hunk.turn > 0 {
        let _ = write!(words, ", turn {}", hunk.turn);
    }
    words
}

#[cfg(test)]
#[path = "review_tests.rs"]
mod tests;
