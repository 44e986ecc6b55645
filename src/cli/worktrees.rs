//! `worktrees`: those that were made for sessions, back into the place that they came from, or given up.
//!
//! What git has to do is for `host::worktrees`. Invariant: nothing goes before its question, where there is a person to
//! ask, is answered with yes, and never while a session is open in it.

use super::args::{InWorktree, Worktrees};
use super::conversations::{here, state};
use super::output::{confirmed, is_screen, print, say};
use super::progress;
use super::usage::Usage;
use crate::base::{date, human, paths, sanitize};
use crate::engine::merging;
use crate::headless::code;
use crate::headless::stop::Stop;
use crate::host::process::GitError;
use crate::host::worktrees::{
    self, Difference, Files, Listed, Made, Merge, Naming, Opening, Removal, Worktree, WorktreeError,
};
use crate::review::archive;
use crate::review::protocol::Progress;
use crate::review::report::json;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

/// Of the list as JSON.
const VERSION: u32 = 1;
/// How long figures are waited for, and the same where there is no time any more.
const FIGURES: Duration = Duration::from_secs(10);
const MOMENT: Duration = Duration::from_millis(300);
/// After so long it is said what is waited for.
const LONG: Duration = Duration::from_secs(4);
/// Letters of an agent's name in that of a worktree.
const AGENT: usize = 40;

/// `acp-tui worktrees`.
pub fn run(what: &Worktrees) -> Result<u8, Usage> {
    let state = state()?;
    match what {
        Worktrees::List { json } => print(&list(&worktrees::list(&state), *json)),
        Worktrees::Merge(name) => merge(&state, &find(&state, name)?),
        Worktrees::Discard { name, yes, drop_ignored } => discard(&state, &find(&state, name)?, *yes, *drop_ignored),
    }
}

fn said(error: &WorktreeError) -> Usage {
    Usage(error.to_string())
}

/// For a line that is not said but shown.
pub(super) fn cleaned(error: &WorktreeError) -> String {
    sanitize::line(&error.to_string()).into_owned()
}

fn find(state: &Path, name: &str) -> Result<Worktree, Usage> {
    worktrees::find(state, name, &here().unwrap_or_default()).map_err(|error| said(&error))
}

/// A worktree for a session.
pub(super) struct ForSession {
    pub worktree: Worktree,
    /// The directory that the session is to have.
    pub cwd: PathBuf,
    /// What the person should know, in words.
    pub remarks: Vec<String>,
    pub opening: Opening,
}

/// Makes one for a session that was meant to be in `dir`.
pub(super) fn for_session(wanted: &InWorktree, dir: &Path) -> Result<ForSession, Usage> {
    let name = wanted.name.as_deref().map_or(Naming::Numbered("w"), Naming::Exactly);
    make(name, dir, |state, name| worktrees::create(state, dir, name, wanted.with_changes))
}

/// The same, named after an agent; it begins with these files, where any are given.
pub(super) fn for_agent(agent: &str, dir: &Path, files: Option<&Files>) -> Result<ForSession, Usage> {
    let plain: String = agent.chars().filter(|c| c.is_ascii_alphanumeric() || "_-".contains(*c)).take(AGENT).collect();
    let name = format!("{}-", plain.trim_start_matches('-'));
    let name = Naming::Numbered(if name == "-" { "agent-" } else { &name });
    make(name, dir, |state, name| worktrees::create_with(state, dir, name, files))
}

fn make<'a>(
    name: Naming<'a>,
    dir: &Path,
    create: impl FnOnce(&Path, Naming<'a>) -> Result<Made, WorktreeError>,
) -> Result<ForSession, Usage> {
    let Made { worktree, remarks: more, opening } = create(&state()?, name).map_err(|error| said(&error))?;
    let mut remarks =
        vec![format!("worktree {} on branch {}: {}", worktree.name, worktree.branch, shown(&worktree.path))];
    remarks.extend(more);
    let below = dir.strip_prefix(&worktree.origin).unwrap_or(Path::new(""));
    // Joining nothing would leave a slash at its end.
    let mut cwd: PathBuf = worktree.path.components().chain(below.components()).collect();
    if !cwd.is_dir() {
        remarks.push(format!("{} is not in the commit, so the session begins at the top", shown(below)));
        cwd.clone_from(&worktree.path);
    }
    Ok(ForSession { worktree, cwd, remarks, opening })
}

/// What there is to do with it when the session is over.
pub(super) fn say_what_next(worktree: &Worktree, until: Instant) {
    let name = &worktree.name;
    match worktrees::changes_until(worktree, until) {
        Ok(Difference { files: 0, .. }) => {
            say(&format!("worktree {name} has no changes; `acp-tui worktrees discard {name}` removes it"));
        }
        Ok(changes) => {
            say(&format!("worktree {name}: {}; `acp-tui worktrees merge {name}` puts it here", sums(changes)));
        }
        Err(WorktreeError::Git(GitError::TooLate)) => say(&format!(
            "worktree {name}: what was changed in it could not be counted in time; `acp-tui worktrees merge {name}` puts it \
             here"
        )),
        Err(error) => say(&format!("worktree {name}: {error}")),
    }
}

/// Until when figures of a run are waited for; `is_cut`: it was ended before its time, or by it.
pub(super) fn counted(is_cut: bool, deadline: Option<Instant>) -> Instant {
    let now = Instant::now();
    match deadline {
        _ if is_cut => now + MOMENT,
        Some(deadline) => deadline.clamp(now + MOMENT, now + FIGURES),
        None => now + FIGURES,
    }
}

pub(super) fn sums(changes: Difference) -> String {
    format!("+{} −{} in {}", changes.added, changes.removed, human::count(changes.files, "file"))
}

fn shown(path: &Path) -> String {
    paths::visible(path.as_os_str())
}

fn list(listed: &[Listed], as_json: bool) -> String {
    if as_json {
        let all: Vec<Value> = listed.iter().map(value).collect();
        return json::text(&json!({ "v": VERSION, "worktrees": all }));
    }
    if listed.is_empty() {
        return "no worktrees; `acp-tui --worktree` begins a session in a new one\n".to_owned();
    }
    let line = |one: &Listed| {
        let changes = match &one.changes {
            Ok(changes) if changes.files == 0 => "no changes".to_owned(),
            Ok(changes) => sums(*changes),
            Err(error) => cleaned(error),
        };
        let Worktree { name, origin, path, .. } = &one.worktree;
        format!("{name}  {changes}\n    of {}\n    in {}\n", shown(origin), shown(path))
    };
    listed.iter().map(line).collect()
}

fn value(one: &Listed) -> Value {
    let Worktree { name, origin, path, branch, start, created, .. } = &one.worktree;
    let changes = one.changes.as_ref().ok();
    json!({
        "name": name,
        "origin": origin.to_string_lossy(),
        "path": path.to_string_lossy(),
        "branch": branch,
        "start": start,
        "created": date::rfc3339(Duration::from_secs(*created)),
        "changes": changes.map(|d| json!({ "added": d.added, "removed": d.removed, "files": d.files })),
        "error": one.changes.as_ref().err().map(ToString::to_string),
    })
}

/// As long as it is there, and that is long, what is waited for is said.
struct Waits {
    _ends: SyncSender<()>,
}

impl Waits {
    fn for_what(what: &str) -> Self {
        Self::telling(LONG, format!("still waiting: {what}; Ctrl+C ends it, and nothing is merged"), say)
    }

    fn telling(long: Duration, words: String, tell: impl FnOnce(&str) + Send + 'static) -> Self {
        let (ends, ended) = sync_channel(0);
        // Without a thread nothing is said.
        let _ = thread::Builder::new().name("waits".into()).spawn(move || {
            if ended.recv_timeout(long) == Err(RecvTimeoutError::Timeout) {
                tell(&words);
            }
        });
        Self { _ends: ends }
    }
}

fn merge(state: &Path, worktree: &Worktree) -> Result<u8, Usage> {
    let waits = Waits::for_what(&format!("git looks at {} and {}", shown(&worktree.path), shown(&worktree.origin)));
    let merge = Merge::of(worktree, None).map_err(|error| said(&error))?;
    drop(waits);
    if let Some(recovery) = &merge.recovery {
        say(&format!("what {} was before is kept as {recovery}", shown(&worktree.origin)));
    }
    let (stop, mut watch) = progress::watch("merging");
    let merged = merging::kept(state, worktree, merge, |done, of| watch(Progress { done, of }));
    // The line goes with it.
    drop(watch);
    let merged = merged.map_err(|error| Usage(error.to_string()))?;
    let mut text = String::new();
    // Writing to a string cannot fail.
    for file in &merged.files {
        let _ = writeln!(text, "merged {}", shown(file));
    }
    for (file, why) in &merged.left {
        let _ = writeln!(text, "left alone {}: {}", shown(file), sanitize::line(why));
    }
    if text.is_empty() && merged.stopped == 0 {
        "nothing to merge\n".clone_into(&mut text);
    }
    for (file, lost) in &merged.remarks {
        say(&format!("{}: {lost}", shown(file)));
    }
    let printed = print(&text)?;
    let name = &worktree.name;
    if !merged.files.is_empty() {
        let undo = merging::undone_by(state, &worktree.origin, here().as_deref());
        let (files, origin) = (human::count(merged.files.len() as u64, "file"), shown(&worktree.origin));
        say(&format!("merged {files} of {name} into {origin}: `acp-tui undo {undo} --dry-run` lists them"));
        say(&format!("`acp-tui undo {undo}` takes it back"));
    }
    if merged.stopped > 0 {
        let done = merged.files.len();
        say(&progress::stopped(Progress { done, of: done + merged.stopped }));
        return Ok(stop.as_ref().and_then(Stop::asked).unwrap_or(code::OWN_FAULT));
    }
    if merged.left.is_empty() {
        return Ok(printed);
    }
    say(&format!(
        "{} left alone; make both sides alike, here or in {}, or clear the way, and merge {name} once more",
        human::count(merged.left.len() as u64, "file"),
        shown(&worktree.path)
    ));
    Ok(code::OWN_FAULT)
}

/// Whether another acp-tui has a session open in it. The names of reviews have the process in them.
fn is_in_use(state: &Path, worktree: &Worktree) -> bool {
    let own = std::process::id().to_string();
    let is_own = |stem: &str| stem.split('-').nth(2) == Some(&*own);
    let open = archive::list(&archive::below(state)).into_iter().filter(|one| one.locked && !is_own(&one.stem));
    open.filter_map(|one| one.head).any(|head| head.cwd.starts_with(&worktree.path))
}

/// A session that is about to begin in a directory: the worktree that it is in stays until its review is open.
pub(super) fn opening(state: &Path, cwd: &Path) -> Result<Option<Opening>, Usage> {
    // Of a session whose worktree was discarded, what is recorded is shown.
    if cwd.is_dir() { Opening::at(state, cwd).map_err(|error| said(&error)) } else { Ok(None) }
}

/// Removes one, unless a session is open in it or just opening. Gives the ref that keeps all of it.
pub(super) fn removed(state: &Path, worktree: &Worktree, drop_ignored: bool) -> Result<Option<String>, WorktreeError> {
    // From here on no session opens in it that is not seen by the look that follows.
    let _removal = Removal::of(worktree)?;
    if is_in_use(state, worktree) {
        let words = format!("a session is open in worktree {}; close it first", worktree.name);
        return Err(WorktreeError::Refused(words));
    }
    worktrees::discard(worktree, drop_ignored)
}

fn discard(state: &Path, worktree: &Worktree, yes: bool, drop_ignored: bool) -> Result<u8, Usage> {
    let name = &worktree.name;
    if is_in_use(state, worktree) {
        return Err(Usage(format!("a session is open in worktree {name}; close it first")));
    }
    if !yes {
        let changes = worktrees::changes(worktree).map_or_else(|error| cleaned(&error), sums);
        let but = if drop_ignored { ", but for what git ignores" } else { "" };
        let question = format!("Discard worktree {name} ({changes})? A recovery ref keeps all that is in it{but}.");
        if !is_screen() {
            return Err(Usage(format!(
                "discarding {name} is asked for on a terminal; `--yes` does it without a question"
            )));
        }
        if !confirmed(&question) {
            say("nothing was discarded");
            return Ok(code::OK);
        }
    }
    match removed(state, worktree, drop_ignored).map_err(|error| said(&error))? {
        Some(kept) => {
            let but = if drop_ignored { " but for what git ignores" } else { "" };
            print(&format!(
                "discarded {name}; all of it{but} is kept as {kept}; `git worktree add {} {kept}` brings it back\n",
                shown(&worktree.path)
            ))
        }
        None => {
            let branch = if worktrees::has_branch(worktree) {
                format!("its branch {} stays", worktree.branch)
            } else {
                format!("so is its branch {}", worktree.branch)
            };
            print(&format!("forgot {name}, whose directory was gone; {branch}\n"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_waited_for_is_said_only_when_that_is_long() {
        let (tell, told) = sync_channel(1);
        let again = tell.clone();
        drop(Waits::telling(LONG, "short".to_owned(), move |words| drop(again.send(words.to_owned()))));
        let _waits =
            Waits::telling(Duration::from_millis(1), "long".to_owned(), move |words| drop(tell.send(words.to_owned())));
        assert_eq!(told.iter().collect::<Vec<String>>(), ["long"]);
    }
}
