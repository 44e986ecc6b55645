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
use crate::engine::counting::{Before, before, turns_before};
use crate::headless::code;
use crate::model::changes::{
    Cause, FileChange, FileDoc, HunkDoc, HunkKind, HunkState, ReviewAction, ReviewDoc, RewindOutcome, Rewound, Scope,
};
use crate::review::archive::{self, Found};
use crate::review::error::ReviewError;
use crate::review::protocol::{AgentSession, Done};
use crate::review::session::{
    EarlierRun, Newest, ReviewSession, Turns, earlier_runs_until, namesakes, runs_before, unknown_beginnings,
};
use crate::ui::labels::left_run;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Files that are named of those that could not be read.
const NAMED: usize = 20;

/// Sessions that are named which have the same id.
const NAMESAKES: usize = 5;

/// The review that is meant. Where others are called the same, they are named.
pub(super) fn find(home: &Path, name: &str) -> Result<Found, ReviewError> {
    let here = std::env::current_dir().and_then(|dir| dir.canonicalize());
    let found = archive::find(home, name, here.ok().as_deref());
    let after = found.as_ref().ok().map(|found| found.dir.as_path());
    if name == archive::LAST || found.is_err() {
        for stem in archive::headless(home, after).iter().take(NAMESAKES) {
            say(&format!(
                "nothing of a run can be shown or taken back, head.json in its record is gone or damaged: {stem}"
            ));
        }
    }
    let nameless = found.as_ref().ok().filter(|found| found.session.is_none());
    if let Some(words) = nameless.and_then(|found| archive::nameless(&found.dir)) {
        say(&format!("{words}; all of it is meant"));
    }
    if name == archive::LAST {
        say_namesakes(&archive::list(home), name);
    } else if let Ok(Found { dir, session: Some(session) }) = &found {
        let others = namesakes(home, dir, session);
        if !others.is_empty() {
            let run = dir.file_name().map(paths::visible).unwrap_or_default();
            let id = archive::shown_id(&session.id);
            let more = others.len().saturating_sub(NAMESAKES);
            let mut named = others.into_iter().take(NAMESAKES).collect::<Vec<_>>().join(", ");
            if more > 0 {
                let _ = write!(named, " and {more} more");
            }
            say(&format!("{id} is the id of several sessions; this one is {run}, others are {named}"));
        }
    }
    found
}

/// Says what went wrong. Gives the exit code.
pub(super) fn failed(error: &ReviewError) -> u8 {
    say(&error.to_string());
    match error {
        ReviewError::Stopped => progress::asked().unwrap_or(code::OWN_FAULT),
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
    let runs = earlier(&home, &found);
    let printed = list(&found.dir, !runs.is_empty())?;
    for earlier in runs {
        say(&left_run(&earlier.run));
    }
    Ok(printed)
}

/// The review of a run, which counts turns as its sessions do.
fn opened(dir: &Path) -> Result<ReviewSession, ReviewError> {
    let mut review = ReviewSession::open(dir)?;
    review.count_on(turns_before(dir, review.sessions()));
    Ok(review)
}

/// What there is to look at, without a screen.
fn list(dir: &Path, has_earlier: bool) -> Result<u8, Usage> {
    match opened(dir).and_then(|mut review| review.outline(Scope::Session)) {
        Ok(doc) => print(&listing(&doc, has_earlier)),
        Err(error) => Ok(failed(&error)),
    }
}

/// `acp-tui undo SESSION`.
pub fn undo(undo: &Undo) -> Result<u8, Usage> {
    let home = reviews()?;
    Ok(done(take_back(&home, undo)))
}

fn take_back(home: &Path, undo: &Undo) -> Result<u8, ReviewError> {
    let mut found = find(home, &undo.session)?;
    let tracker = opened(&found.dir)?;
    if undo.session == archive::LAST && found.session.is_some() {
        // Not one that was only opened.
        found.session = tracker.turns().newest().cloned().or(found.session);
    }
    take_back_of(home, undo, &found, tracker)
}

fn take_back_of(home: &Path, undo: &Undo, found: &Found, mut tracker: ReviewSession) -> Result<u8, ReviewError> {
    if undo.turn.is_none()
        && let Some((words, Newest::Merge(files))) = tracker.newest_decision()
    {
        return unmerge(&mut tracker, undo, &words, &files);
    }
    let (turns, wanted) = (tracker.turns(), undo.turn);
    let before = |session: &AgentSession| before(&found.dir, session).unwrap_or_default();
    let session = found.session.as_ref().or_else(|| turns.only_session());
    let elsewhere = |stem: &str, at| in_run(home, stem, session?, (at, wanted?));
    let turn = first_turn(turns, found.session.as_ref(), wanted, before, elsewhere)?;
    if undo.turn.is_none() && undo.session != archive::LAST {
        is_its_own(&mut tracker, found.session.as_ref(), turn)?;
    }
    if let Some(trouble) = tracker.trouble() {
        say(&trouble);
    }
    if tracker.is_behind() {
        say_touched(&tracker.touched());
    }
    let ask = is_screen() && !undo.yes;
    if undo.dry_run || ask {
        let preview = tracker.act(&ReviewAction::PreviewRewind { turn })?;
        if preview.rewound.is_empty() {
            return nothing(home, undo, found, tracker);
        }
        say_later(&tracker, found);
        let printed = show(&preview.rewound, Tense::Would, &tracker);
        if undo.dry_run || printed == code::READER_GONE {
            return Ok(printed);
        }
        if !confirmed("Take this back?") {
            say("nothing was taken back");
            return Ok(code::OK);
        }
    }
    let (taken, stopped) = progress::act(&mut tracker, &ReviewAction::Rewind { turn }, "taking back")?;
    if taken.rewound.is_empty() && taken.stopped.is_none() && stopped.is_none() {
        return nothing(home, undo, found, tracker);
    }
    if !(undo.dry_run || ask) {
        say_later(&tracker, found);
    }
    let printed = if taken.stopped.is_some() && taken.rewound.is_empty() {
        code::OK
    } else {
        show(&taken.rewound, Tense::Did, &tracker)
    };
    if is_all_left(&taken) {
        say("nothing was taken back: all of it was left alone");
    }
    for words in unknown_beginnings(&tracker) {
        say(&words);
    }
    say_gone(&tracker);
    say_uncovered(&tracker);
    drop(tracker);
    if undo.turn.is_none() && found.session.is_some() {
        for earlier in earlier(home, found) {
            say(&left_run(&earlier.run));
        }
    }
    Ok(stopped.or_else(progress::asked).unwrap_or(printed.max(code_of(&taken))))
}

/// Refuses where what other sessions have changed since would be taken back with what the named one did.
fn is_its_own(tracker: &mut ReviewSession, named: Option<&AgentSession>, turn: u64) -> Result<(), ReviewError> {
    let Some(named) = named else { return Ok(()) };
    let changed = tracker.turns_that_changed();
    let turns = tracker.turns();
    let others = changed.into_iter().filter(|one| *one >= turn).filter_map(|one| turns.owner(one));
    let others: BTreeSet<&str> = others.map(|owner| owner.id.as_str()).filter(|id| *id != named.id).collect();
    if others.is_empty() {
        return Ok(());
    }
    let (id, stem) = (archive::shown_id(&named.id), &tracker.head().stem);
    let others: Vec<String> = others.into_iter().map(archive::shown_id).collect();
    let from = if turn == 0 { String::new() } else { format!(" --turn {turn}") };
    Err(ReviewError::Refused(format!(
        "in the run of session {id} files were changed since by {}, which would be taken back too: \
         `acp-tui undo {stem}{from}` takes all of it back, `acp-tui review {stem}` decides piece by piece",
        others.join(", ")
    )))
}

/// What git ignored and no undo or redo brings back.
fn say_gone(tracker: &ReviewSession) {
    tracker.gone_for_good().iter().for_each(|words| say(words));
}

/// How much was changed that no undo takes back.
fn say_uncovered(tracker: &ReviewSession) {
    if let Some(words) = tracker.not_covered() {
        say(&format!("{words}: acp-tui review {}", tracker.head().stem));
    }
}

fn say_later(tracker: &ReviewSession, found: &Found) {
    for later in later(tracker.turns(), found.session.as_ref()) {
        say(&format!("later turns of session {} in the same run are taken back too", archive::shown_id(later)));
    }
}

/// Nothing of what was named is left to be taken back. What is left beside it is named; of the last session an earlier
/// run is taken back instead.
fn nothing(home: &Path, undo: &Undo, found: &Found, mut tracker: ReviewSession) -> Result<u8, ReviewError> {
    say_gone(&tracker);
    say_uncovered(&tracker);
    let Some(session) = found.session.as_ref().filter(|_| undo.turn.is_none()) else {
        return Ok(show(&[], Tense::Did, &tracker));
    };
    let beside = tracker.act(&ReviewAction::PreviewRewind { turn: 0 })?.rewound.len();
    if beside > 0 {
        // Of an earlier session of the run.
        let (id, stem) = (archive::shown_id(&session.id), &tracker.head().stem);
        say(&format!(
            "before session {id} its run has changed {}: acp-tui review {stem} · acp-tui undo {stem}",
            human::count(beside as u64, "file")
        ));
    }
    let runs = earlier(home, found);
    let next = runs.iter().find(|earlier| earlier.run.left.as_ref().is_ok_and(|left| left.files > 0));
    let is_all_known = tracker.trouble().is_none() && !tracker.is_behind();
    if beside == 0
        && is_all_known
        && undo.session == archive::LAST
        && let Some(run) = next
    {
        let stem = &run.listed.stem;
        say(&format!("the last run of the session has nothing left to take back; this is its earlier run {stem}"));
        drop(tracker);
        let found = Found { dir: run.listed.dir.clone(), session: Some(run.session.clone()) };
        return take_back_of(home, undo, &found, opened(&found.dir)?);
    }
    for earlier in &runs {
        say(&left_run(&earlier.run));
    }
    if beside == 0 && runs.is_empty() {
        return Ok(show(&[], Tense::Did, &tracker));
    }
    let printed = show_nothing_of("this run of the session", &tracker);
    Ok(printed)
}

/// Earlier runs of what was found in which something is left.
fn earlier(home: &Path, found: &Found) -> Vec<EarlierRun> {
    earlier_runs_until(home, &found.dir, found.session.as_ref(), progress::stop().as_ref())
}

/// What the system did not let be written is a fault: the same command again does the rest. So it is when nothing at all
/// could be done of what was asked for, or another run wrote some of it.
fn code_of(done: &Done) -> u8 {
    let is_beside = done.rewound.iter().any(|one| one.outcome == RewindOutcome::Beside);
    if done.unwritten.is_empty() && !is_all_left(done) && !is_beside { code::OK } else { code::OWN_FAULT }
}

fn is_all_left(done: &Done) -> bool {
    let is_done =
        |one: &Rewound| matches!(one.outcome, RewindOutcome::Restored | RewindOutcome::Removed | RewindOutcome::Merged);
    done.stopped.is_none() && !done.rewound.is_empty() && !done.rewound.iter().any(is_done)
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
        .and_then(|found| if name == archive::LAST { last_undone(&home, &found) } else { opened(&found.dir) })
        .and_then(|mut tracker| bring_back(&mut tracker).inspect(|_| say_gone(&tracker)))
        .map(|(taken, stopped)| stopped.unwrap_or_else(|| print_or_gone(&line(&taken.words)).max(code_of(&taken))));
    Ok(done(outcome))
}

/// The run in which something was decided last, of those of a session: `undo` takes its earlier ones back as well.
fn last_undone(home: &Path, found: &Found) -> Result<ReviewSession, ReviewError> {
    let tracker = opened(&found.dir)?;
    let Some(session) = found.session.as_ref().filter(|_| !tracker.has_undone_merge()) else { return Ok(tracker) };
    let at = |tracker: &ReviewSession| tracker.newest_decision().map(|_| tracker.decided_at().unwrap_or_default());
    let mut newest = at(&tracker);
    let mut dir = None;
    for (run, _) in runs_before(home, &found.dir, Some(session)) {
        // One that cannot be opened was not the last either.
        let decided = ReviewSession::open(&run.dir).ok().and_then(|tracker| at(&tracker));
        if decided > newest {
            (newest, dir) = (decided, Some((run.dir, run.stem)));
        }
    }
    let Some((dir, stem)) = dir else { return Ok(tracker) };
    drop(tracker);
    say(&format!("the last undo was of {stem}, an earlier run of the session"));
    opened(&dir)
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
    let (mut taken, stopped) = match progress::act(tracker, &ReviewAction::Undo, "bringing back") {
        // Every file was left alone, and why is said.
        Err(ReviewError::Refused(words)) if tracker.root_stands().is_ok() => {
            let unwritten = tracker.unwritten();
            (Done { words: format!("{undone}; left alone: {words}"), unwritten, ..Done::default() }, None)
        }
        acted => acted?,
    };
    // What was left alone is said behind it.
    let left = taken.words.strip_prefix(&undone).map(str::to_owned);
    let from = if turn == 0 { "the beginning".to_owned() } else { tracker.turn_words(turn) };
    let again = left.map(|left| format!("done again: what was changed from {from} on{left}"));
    taken.words = again.unwrap_or(taken.words);
    Ok((taken, stopped))
}

/// Where there may be more to take back than is known, that is a fault. A directory that is not there is known to be gone.
fn show(rewound: &[Rewound], tense: Tense, tracker: &ReviewSession) -> u8 {
    let is_there = tracker.root_stands().is_ok();
    let is_partial = tracker.damage().is_some() || (tracker.is_behind() || tracker.trouble().is_some()) && is_there;
    let text = match rewound {
        [] => nothing_words("", is_partial),
        rewound => rewound.iter().map(|one| line(&outcome(one, tense))).collect(),
    };
    if is_partial { print_or_gone(&text).max(code::OWN_FAULT) } else { print_or_gone(&text) }
}

/// The same where something is left elsewhere, which was said.
fn show_nothing_of(what: &str, tracker: &ReviewSession) -> u8 {
    let is_partial = tracker.damage().is_some() || tracker.trouble().is_some();
    let printed = print_or_gone(&nothing_words(&format!(" of {what}"), is_partial));
    if is_partial { printed.max(code::OWN_FAULT) } else { printed }
}

fn nothing_words(of: &str, is_partial: bool) -> String {
    let known = if is_partial { " that is known" } else { "" };
    format!("nothing{of}{known} to take back\n")
}

fn print_or_gone(text: &str) -> u8 {
    print(text).unwrap_or(code::READER_GONE)
}

fn line(words: &str) -> String {
    format!("{}\n", crate::base::sanitize::line(words))
}

/// The turn of the run with which the undo begins. `wanted` is counted as the conversation counts it, also where the run
/// was named: only one that several sessions share counts its own. `elsewhere` tells how a turn of an earlier run is
/// named there.
fn first_turn(
    turns: Turns<'_>,
    session: Option<&AgentSession>,
    wanted: Option<u64>,
    before: impl FnOnce(&AgentSession) -> Before,
    elsewhere: impl FnOnce(&str, u64) -> Option<u64>,
) -> Result<u64, ReviewError> {
    let Some(wanted) = wanted else { return Ok(session.map_or(0, |session| turns.beginning(session))) };
    let none = |there: u64| Err(ReviewError::Refused(format!("the session has no turn {wanted}, only {there}")));
    let Some(session) = session.or_else(|| turns.only_session()) else {
        let last = turns.last();
        return if wanted <= last { Ok(wanted) } else { none(last) };
    };
    let before = before(session);
    if let Some((stem, first)) =
        before.runs.iter().rfind(|(_, first)| *first < wanted).filter(|_| wanted <= before.turns)
    {
        let was = format!("turn {wanted} was in an earlier run of the session");
        return Err(ReviewError::Refused(match elsewhere(stem, wanted - first) {
            Some(turn) => format!("{was}: acp-tui undo {stem} --turn {turn}"),
            None => format!("{was}, of which no changes are kept"),
        }));
    }
    let at = usize::try_from(wanted.saturating_sub(before.turns).saturating_sub(1)).unwrap_or(usize::MAX);
    turns.of(&session.id).nth(at).map_or_else(|| none(before.turns + turns.of(&session.id).count() as u64), Ok)
}

/// What `undo RUN --turn N` calls the turn that was the `at`th of a session in an earlier run.
fn in_run(home: &Path, stem: &str, session: &AgentSession, (at, wanted): (u64, u64)) -> Option<u64> {
    let review = ReviewSession::open(&home.join(stem)).ok()?;
    let turns = review.turns();
    let turn = turns.of(&session.id).nth(usize::try_from(at).ok()?.checked_sub(1)?)?;
    Some(if turns.only_session().is_some() { wanted } else { turn })
}

/// Sessions that the person did not name, with turns behind the beginning of the one named.
fn later<'a>(turns: Turns<'a>, session: Option<&AgentSession>) -> Vec<&'a str> {
    session.map(|named| turns.others_from(turns.beginning(named), &named.id)).unwrap_or_default()
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
        RewindOutcome::Merged => format!("{} {path} (other changes stay){remark}", verb("merged", "would merge")),
        RewindOutcome::Conflict => {
            format!("{alone} {path}: {}", one.remark.as_deref().unwrap_or("these lines were changed since"))
        }
        RewindOutcome::Doubtful | RewindOutcome::Beside => {
            let why = one.remark.as_deref().unwrap_or("nobody said who changed it");
            format!("{alone} {path}: {why}; `acp-tui review` shows it, and x there takes it back")
        }
        RewindOutcome::NotKept => format!("{alone} {path}: what it was before is not kept"),
        RewindOutcome::Failed => {
            format!("{alone} {path}: {}", one.remark.as_deref().unwrap_or("it could not be written"))
        }
    }
}

fn listing(doc: &ReviewDoc, has_earlier: bool) -> String {
    let of = if has_earlier && doc.totals.is_empty() { " in this run of the session" } else { "" };
    let mut text = line(&format!("{}{of}", sums(doc.totals)));
    for file in &doc.files {
        text.push_str(&line(&file_words(file)));
        for hunk in &file.hunks {
            text.push_str("  ");
            text.push_str(&line(&hunk_words(hunk, doc.name(hunk.turn).number)));
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

/// `turn`: as the session counts it.
fn hunk_words(hunk: &HunkDoc, turn: u64) -> String {
    let mut words = match &hunk.what {
        HunkKind::Lines => {
            let heading = if hunk.heading.is_empty() { String::new() } else { format!("{}  ", hunk.heading) };
            let HunkDoc { old_start, new_start, added, removed, .. } = hunk;
            format!("@@ -{old_start} +{new_start} @@  {heading}+{added} −{removed}")
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
        let _ = write!(words, ", turn {turn}");
    }
    words
}

#[cfg(test)]
#[path = "review_tests.rs"]
mod tests;
