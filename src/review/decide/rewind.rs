//! Taking back what the agent did in some turns, and leaving what the person did.
//!
//! Computes states, writes nothing. Invariant: where the two cannot be told apart, the file is left alone.

use super::brought_back::brought_back;
use super::doc;
use super::only_copies::{For, only_copies};
use super::parts::Parts;
use crate::model::changes::{Cause, HunkState, RewindOutcome, Rewound};
use crate::review::error::ReviewError;
use crate::review::history::change_log::ChangeLog;
use crate::review::history::contents::{Contents, Joined};
use crate::review::history::file_history::{FileHistory, carry_lines as carry};
use crate::review::history::ignored_copies::IgnoredCopies;
use crate::review::history::ledger::{ChangeRecord, FileDecision};
use crate::review::state::State;
use std::path::{Path, PathBuf};

/// Why permissions stay as they are, in words.
pub const MODE_OF_BOTH: &str = "its permissions were changed since, too";
const UNREAD: &str = "what it was before could not be read";
const BESIDE_PERSONS: &str = "a command of yours (!) ran then, so it may be yours";

/// What a file would be, or why it is left alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Rewind {
    outcome: RewindOutcome,
    /// The states to be; nothing when the file is left alone.
    to: Option<(State, State)>,
}

/// Everything since a turn: what is to be written, and what there is to say of each file, with the state that it is to
/// get.
pub struct Rewinds {
    pub files: Vec<FileDecision>,
    pub outcomes: Vec<(Rewound, Option<State>)>,
    /// Of those left alone, what may be readable another time.
    pub unread: Vec<PathBuf>,
}

/// Takes back what the agent did from that turn on; `previews` when nothing is to be written.
pub fn since(turn: u64, log: &ChangeLog, contents: &mut Contents, previews: bool) -> Result<Rewinds, ReviewError> {
    let (mut files, mut outcomes, mut unread) = (Vec::new(), Vec::new(), Vec::new());
    // Of files that are as they were before an earlier turn nothing more is taken back: a tree between two turns never was.
    let earlier = log.undo_log().rewound_to().filter(|earlier| *earlier < turn);
    for (path, history) in log.histories() {
        contents.go_on()?;
        let disk = history.last();
        let is_of_it = |s: &ChangeRecord| s.is_agents() && s.turn >= turn;
        if let Some(source) = contents.snapshot.unread(path)
            && history.steps.iter().any(is_of_it)
        {
            let remark = Some(ReviewError::Unread { path: path.clone(), source }.why());
            outcomes.push((Rewound { path: path.clone(), outcome: RewindOutcome::Failed, remark }, None));
            unread.push(path.clone());
            continue;
        }
        if has_come_and_gone(history, turn) {
            continue;
        }
        let is_back = match earlier {
            Some(earlier) => rewind(history, &disk, |t| t >= earlier, contents)?.is_none(),
            None => false,
        };
        let rewind = if is_back { None } else { rewind(history, &disk, |t| t >= turn, contents)? };
        let outcome = match &rewind {
            None if history.has_doubtful(turn) && !is_kept(history, turn, contents) => RewindOutcome::NotKept,
            None if history.is_beside_run(turn) => RewindOutcome::Beside,
            None if history.has_doubtful(turn) => RewindOutcome::Doubtful,
            None => continue,
            Some(rewind) => rewind.outcome,
        };
        let to = rewind.and_then(|rewind| rewind.to);
        if let Some((to, accepted)) = to {
            let accepted = (history.accepted, accepted);
            files.push(FileDecision { path: path.clone(), disk: (disk, to), accepted, by_hand: false });
        }
        let by_both = outcome == RewindOutcome::Conflict && is_mode_of_both(history, &disk, |t| t >= turn);
        let stays = previews && to.is_some() && contents.snapshot.peeks().is_only(path);
        let remark = match (by_both, stays) {
            (true, _) => Some(MODE_OF_BOTH.to_owned()),
            (_, true) => Some("what is there now stays beside it".to_owned()),
            _ if outcome == RewindOutcome::Failed => {
                unread.push(path.clone());
                Some(UNREAD.to_owned())
            }
            _ if outcome == RewindOutcome::Beside => Some(log.run_beside(path)),
            _ if outcome == RewindOutcome::Doubtful && history.is_beside_persons(turn) => {
                Some(BESIDE_PERSONS.to_owned())
            }
            _ => None,
        };
        outcomes.push((Rewound { path: path.clone(), outcome, remark }, to.map(|(to, _)| to)));
    }
    let is_alone = |one: &Rewound| matches!(one.outcome, RewindOutcome::Conflict | RewindOutcome::NotKept);
    let alone: Vec<&Path> = outcomes.iter().filter(|(one, _)| is_alone(one)).map(|(one, _)| &*one.path).collect();
    let left = only_copies(&files, &alone, For::Rewind(turn), log, contents);
    files.retain(|file| !left.has(&file.path));
    outcomes.retain(|(one, _)| !left.has(&one.path));
    call_only_copies_so(&mut outcomes, &files, log, contents);
    let failed = |(path, why)| (Rewound { path, outcome: RewindOutcome::Failed, remark: Some(why) }, None);
    outcomes.extend(left.words.into_iter().map(failed));
    outcomes.sort_by(|one, other| one.0.path.cmp(&other.0.path));
    Ok(Rewinds { files, outcomes, unread })
}

/// Whether a file came in doubt since then and is gone again by other hands than the person's: to take back a part of that
/// would make a file that was not there when the turn began.
fn has_come_and_gone(history: &FileHistory, turn: u64) -> bool {
    let Some(first) = history.steps.iter().position(|step| step.turn >= turn) else { return false };
    let steps = history.steps.get(first..).unwrap_or_default();
    let was_there = |step: &ChangeRecord| !step.before.is_absent();
    let is_of_turns = |step: &ChangeRecord| step.is_shown() && step.turn >= turn;
    steps.iter().all(is_of_turns)
        && steps.iter().any(|step| step.doubt)
        && history.last().is_absent()
        && !steps.first().is_some_and(was_there)
        && history.steps.get(..first).unwrap_or_default().last().is_none_or(|step| step.after.is_absent())
}

/// Whether what the file was before its first change without attribution can be had.
fn is_kept(history: &FileHistory, turn: u64, contents: &Contents) -> bool {
    let first = history.steps.iter().find(|step| step.doubt && step.turn >= turn);
    first.is_none_or(|step| {
        !matches!(step.before, State::Unkept { .. })
            && !matches!(contents.content(&step.before), Err(ReviewError::NotKept(_)))
    })
}

/// Of what is left since it was not known before, or is in doubt, it is said when it may be the only copy of something.
fn call_only_copies_so(
    outcomes: &mut [(Rewound, Option<State>)],
    files: &[FileDecision],
    log: &ChangeLog,
    contents: &Contents,
) {
    let is_not_kept = |one: &Rewound| matches!(one.outcome, RewindOutcome::NotKept | RewindOutcome::Doubtful);
    let not_kept: Vec<PathBuf> =
        outcomes.iter().filter(|(one, _)| is_not_kept(one)).map(|(one, _)| one.path.clone()).collect();
    if not_kept.is_empty() {
        return;
    }
    // Of none of them is it known that its content stays.
    let unknown = not_kept.iter().map(|path| (&**path, State::Unkept { mark: 0, mode: 0, size: 0 }));
    let to_be = files.iter().map(|file| (&*file.path, file.disk.1)).chain(unknown);
    let copies = IgnoredCopies::new(to_be, log, &contents.snapshot);
    for (one, _) in outcomes.iter_mut().filter(|(one, _)| is_not_kept(one)) {
        let why = log.last(&one.path).and_then(|is| copies.why(&one.path, &is));
        if why.is_some() {
            (one.outcome, one.remark) = (RewindOutcome::Failed, why);
        }
    }
}

/// Takes the agent's steps of the turns out of `disk`. Nothing when it has none there.
fn rewind(
    history: &FileHistory,
    disk: &State,
    turns: impl Fn(u64) -> bool,
    files: &mut Contents,
) -> Result<Option<Rewind>, ReviewError> {
    let wanted = |s: &ChangeRecord| s.is_agents() && turns(s.turn);
    let Some(first) = history.steps.iter().position(wanted) else { return Ok(None) };
    let steps = history.steps.get(first..).unwrap_or_default();
    // What could not be read for a while and was then read again was known before.
    let mut last = None;
    let is_unknown = |s: &ChangeRecord| {
        let continues = last.replace(s.after) == Some(s.before);
        wanted(s) && matches!(s.before, State::Unkept { .. }) && !continues
    };
    if steps.iter().any(is_unknown) {
        return Ok(Some(Rewind { outcome: RewindOutcome::NotKept, to: None }));
    }
    let earlier = history.steps.get(..first).unwrap_or_default().iter().any(ChangeRecord::is_agents);
    let Some((to, accepted)) = back(steps, history, disk, (&wanted, &turns), earlier, files)? else {
        return Ok(Some(Rewind { outcome: RewindOutcome::Conflict, to: None }));
    };
    if to == *disk && is_mode_of_both(history, disk, &turns) {
        return Ok(Some(Rewind { outcome: RewindOutcome::Conflict, to: None }));
    }
    // What the agent has taken back itself after it was accepted is accepted no more; a change without attribution stays
    // to review.
    let has_doubt = || history.steps.iter().any(|step| step.doubt && turns(step.turn));
    if to == *disk && (accepted == history.accepted || has_doubt()) {
        return Ok(None);
    }
    if to.is_absent() && matches!(disk, State::Unkept { .. }) {
        // It may be the only copy of what was moved here.
        return Ok(Some(Rewind { outcome: RewindOutcome::NotKept, to: None }));
    }
    if matches!(files.content(&to), Err(ReviewError::NotKept(_))) {
        let may_return = to.oid().is_some_and(|oid| files.snapshot.objects.own.may_return(&oid));
        let outcome = if may_return { RewindOutcome::Failed } else { RewindOutcome::NotKept };
        return Ok(Some(Rewind { outcome, to: None }));
    }
    let before = history.steps.get(first).map_or(State::Absent, |s| s.before);
    let outcome = if to != before {
        RewindOutcome::Merged
    } else if to.is_absent() {
        RewindOutcome::Removed
    } else {
        RewindOutcome::Restored
    };
    Ok(Some(Rewind { outcome, to: Some((to, accepted)) }))
}

/// Whether the agent has changed the permissions in these turns and another author has changed them once more.
fn is_mode_of_both(history: &FileHistory, disk: &State, turns: impl Fn(u64) -> bool) -> bool {
    let mut steps =
        history.steps.iter().filter(|s| s.is_agents() && turns(s.turn) && s.before.mode() != s.after.mode());
    let Some(first) = steps.next() else { return false };
    let last = steps.next_back().unwrap_or(first);
    is_mode_of_three(&last.after, disk, &first.before)
}

/// Whether three states have three different permissions.
pub fn is_mode_of_three(one: &State, other: &State, third: &State) -> bool {
    let modes = [one, other, third].map(State::mode);
    matches!(modes, [Some(one), Some(other), Some(third)] if one != other && other != third && third != one)
}

/// How neighbouring steps are taken together.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Together {
    /// With the decisions between them, and what a decision brought back later: right when there is nothing of the
    /// agent's before.
    WithDecisions,
    Neighbours,
    No,
}

/// The disk and the accepted state without the steps wanted; what one way of going back cannot do, another may. Nothing
/// when something of them would be left to review and nothing be done.
fn back(
    steps: &[ChangeRecord],
    history: &FileHistory,
    disk: &State,
    (wanted, turns): (&impl Fn(&ChangeRecord) -> bool, &impl Fn(u64) -> bool),
    earlier: bool,
    files: &mut Contents,
) -> Result<Option<(State, State)>, ReviewError> {
    let ways: &[Together] =
        if earlier { &[Together::No, Together::Neighbours] } else { &[Together::WithDecisions, Together::No] };
    let mut in_part = None;
    'ways: for way in ways {
        let (mut to, mut accepted) = (*disk, history.accepted);
        for (before, after) in groups(steps, wanted, *way, files)? {
            match files.join(&after, &to, &before)? {
                Joined::Clean(state) => to = state,
                Joined::Conflict(_) => continue 'ways,
            }
            // What was accepted goes as well, as far as it is there; the rest was not accepted.
            accepted = carry(files, &after, &accepted, &before)?;
        }
        if !leaves_some(history, disk, &to, turns, files)? {
            return Ok(Some((to, if earlier { accepted } else { to })));
        }
        if to != *disk {
            in_part.get_or_insert((to, accepted));
        }
    }
    Ok(in_part)
}

/// Whether something of these turns would still be to review with that on the disk.
fn leaves_some(
    history: &FileHistory,
    disk: &State,
    to: &State,
    turns: &impl Fn(u64) -> bool,
    files: &mut Contents,
) -> Result<bool, ReviewError> {
    // A change without attribution stays to review, and that is said.
    if history.accepted == *disk || history.steps.iter().any(|step| step.doubt && turns(step.turn)) {
        return Ok(false);
    }
    let Some(pair) = history.fold(files, turns)?.filter(|pair| pair.old != *to) else { return Ok(false) };
    let mut then = history.clone();
    if to != disk {
        let (turn, cause, entry) = (0, Cause::Review, None);
        let (before, after) = (*disk, *to);
        then.steps.push(ChangeRecord { decided: true, ..ChangeRecord::new(turn, cause, entry, before, after) });
    }
    let parts = Parts::of(files, &pair.old, &pair.new)?;
    for part in &parts.parts {
        files.go_on()?;
        if doc::state_of(part, &parts, &then, &pair, files)? == HunkState::Pending {
            return Ok(true);
        }
    }
    Ok(false)
}

/// States before and after the steps wanted, newest first.
fn groups(
    steps: &[ChangeRecord],
    wanted: &impl Fn(&ChangeRecord) -> bool,
    way: Together,
    files: &mut Contents,
) -> Result<Vec<(State, State)>, ReviewError> {
    let mut groups: Vec<(State, State)> = Vec::new();
    let mut agents: Vec<&ChangeRecord> = Vec::new();
    let mut open = false;
    for step in steps {
        let is_decision = way == Together::WithDecisions && step.cause == Cause::Review;
        let goes_along = match way {
            Together::WithDecisions => open && (wanted(step) || is_decision),
            Together::Neighbours => open && wanted(step),
            Together::No => false,
        };
        let mut begins = wanted(step).then_some((step.before, step.after));
        if is_decision && !open {
            begins = brought_back(step, &agents, files)?;
        }
        open = goes_along || begins.is_some();
        match groups.last_mut() {
            Some(group) if goes_along => group.1 = step.after,
            _ => groups.extend(begins),
        }
        if wanted(step) {
            agents.push(step);
        }
    }
    groups.reverse();
    Ok(groups)
}
