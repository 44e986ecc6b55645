//! `exec --fan-out`: one prompt to several agents, each in a worktree of its own, side by side.
//!
//! Each run is one of `exec` without its output. Invariants: they begin with the same files; nothing of one is seen by
//! another; the table has a row for each that was asked for, with its outcome; what was written outside of the worktrees is
//! named.

use super::args::{Common, Exec};
use super::attached::{Attached, LATE_FILES};
use super::launch::{self, Surroundings};
use super::output::{print, say};
use super::runtime;
use super::usage::Usage;
use super::watched::Watched;
use super::worktrees::{ForSession, cleaned, counted, for_agent, sums};
use crate::base::{human, paths};
use crate::config::agents::AgentCommand;
use crate::engine::{Engine, EngineConfig};
use crate::headless::{self, ExecOptions, Style, code};
use crate::host::worktrees::{self, Difference, Files, Worktree};
use crate::model::budget::Budget;
use crate::model::event::Opening;
use crate::model::session::Policy;
use crate::review::report::json;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Of the table as JSON.
const VERSION: u32 = 1;
/// Bytes of a run's last line that are kept.
const MAX_LINE: usize = 1 << 20;

/// Files outside of its worktree that are kept of a run, and how many of them are named in a line.
const MAX_OUTSIDE: usize = 1000;
const MAX_NAMED: usize = 5;

/// The exit code of a run, how long it took, and what it has said.
type Ended = (u8, Duration, Heard);
/// The same with what was changed, where that is known.
type Counted = (u8, Duration, Heard, Option<Difference>);

/// What became of one run.
struct Ran {
    agent: String,
    worktree: Worktree,
    session_id: Option<String>,
    code: u8,
    took: Duration,
    changes: Option<Difference>,
    /// What its calls have written that is not in its worktree.
    outside: BTreeSet<PathBuf>,
}

fn commands(agents: &[String], surroundings: &Surroundings) -> Result<Vec<AgentCommand>, Usage> {
    let named = |name: &String| {
        let common = Common { agent: Some(name.clone()), ..Common::default() };
        let found = launch::named_agent(&common, &surroundings.config)?;
        found.ok_or_else(|| Usage(format!("there is no agent `{name}`")))
    };
    agents.iter().map(named).collect()
}

/// Runs the prompt with each of the agents, and prints what they changed.
pub(super) fn run(
    exec: &Exec,
    prompt: &str,
    surroundings: &Surroundings,
    budget: Option<&Budget>,
    deadline: Option<Instant>,
    watched: &Watched,
) -> Result<u8, Usage> {
    let agents = &exec.fan_out;
    let (dir, directories) = (launch::directory(&exec.common)?, launch::directories(&exec.common.add_dir)?);
    if let Some(why) = budget.and_then(|budget| super::spent::used_up(budget, None)) {
        say(&why);
        return Ok(code::NOT_FINISHED);
    }
    // What is wrong with one is said before any is started.
    let answers = exec.answers.as_deref().map(super::values::answers).transpose()?;
    let commands = commands(agents, surroundings)?;
    let attached = match super::attached::read(&exec.attach, deadline)? {
        Attached::Read(attached) => attached,
        Attached::Late => {
            say(LATE_FILES);
            return Ok(code::TIMEOUT);
        }
    };
    let with_changes = exec.common.worktree.as_ref().is_some_and(|wanted| wanted.with_changes);
    if let Some(dirs) = &surroundings.dirs {
        super::written::remember(&dirs.state, &dir, prompt);
    }
    // All begin with what is there now. It is looked at again in the end: an agent may write by absolute paths, or by a
    // command.
    let files = Files::around(&dir);
    if let (true, Err(error)) = (with_changes, &files) {
        return Err(Usage(cleaned(error)));
    }
    let (files, unseen) = files.map_or_else(|error| (None, Some(error)), |files| (Some(files), None));
    let mut made: Vec<ForSession> = Vec::new();
    for name in agents {
        made.push(for_agent(name, &dir, files.as_ref().filter(|_| with_changes))?);
    }
    // Where no worktree can be made, that has said it already.
    if let Some(error) = unseen {
        say(&cleaned(&error));
    }
    let mut runs = Vec::new();
    if !watched.begins() {
        return Ok(code::TIMEOUT);
    }
    for ((name, command), made) in agents.iter().zip(commands).zip(made) {
        made.remarks.iter().for_each(|remark| say(remark));
        let dirs = surroundings.dirs.as_ref();
        let rules = match exec.rules.as_deref() {
            Some(file) => super::rules::only(file, &command.name, dirs)?,
            None => super::rules::narrowing(&dir, &command.name, dirs)?,
        };
        let policy = Policy::Auto(exec.allow);
        let Common { sandbox, permission_mode, .. } = exec.common;
        let common = Common { add_dir: exec.common.add_dir.clone(), sandbox, permission_mode, ..Common::default() };
        let servers = super::servers::of_session(&exec.common, surroundings, &command.name)?;
        let mut config = launch::engine_config(command, made.cwd, policy, &common, dirs)?;
        config.rules = Some(rules);
        config.directories.clone_from(&directories);
        config.budget = budget.cloned();
        config.servers = Some(servers);
        let options = ExecOptions {
            prompt: prompt.to_owned(),
            style: Style::Json,
            model: exec.common.model.clone(),
            mode: exec.mode.clone(),
            mode_back: None,
            options: exec.config.clone(),
            deadline,
            answers: answers.clone(),
            opening: Opening::New,
            age: None,
            agent: name.clone(),
            attached: attached.clone(),
            account: None,
        };
        // Runs are told apart by when they began.
        let (begun, begins) = sync_channel(1);
        let thread = thread::Builder::new().name(format!("run {name}"));
        let (of, agent) = (made.worktree.clone(), name.clone());
        let thread = thread.spawn(move || {
            let (code, took, heard) = one(config, options, &begun);
            // One of which this takes long holds up no other.
            let changes = worktrees::changes_until(&of, counted(code::is_cut(code), deadline));
            (code, took, heard, changes.inspect_err(|error| say(&format!("{agent}: {error}"))).ok())
        });
        let thread = thread.map_err(|error| Usage(format!("cannot start: {error}")))?;
        let began = Instant::now();
        // One that could not begin is over.
        let _ = begins.recv();
        while began.elapsed() < Duration::from_millis(2) {
            thread::yield_now();
        }
        runs.push((name.clone(), made.worktree, thread));
    }
    let ended = |(agent, worktree, thread): (String, Worktree, thread::JoinHandle<Counted>)| {
        let (code, took, heard, changes) =
            thread.join().unwrap_or((code::OWN_FAULT, Duration::ZERO, Heard::default(), None));
        let outside = heard.outside(&worktree.path);
        Ran { agent, worktree, session_id: heard.session_id, code, took, changes, outside }
    };
    let ran: Vec<Ran> = runs.into_iter().map(ended).collect();
    watched.has_run();
    let until = counted(ran.iter().any(|one| code::is_cut(one.code)), deadline);
    let changed = files.and_then(|files| files.changed(until).inspect_err(|error| say(&cleaned(error))).ok());
    let changed = changed.unwrap_or_default();
    let printed = print(&if exec.json { as_json(&ran, &changed) } else { as_text(&ran) })?;
    say_elsewhere(&ran, &changed);
    if !exec.json {
        say("`acp-tui worktrees merge NAME` takes one of them, `acp-tui review SESSION` looks at it first");
    }
    Ok(ran.iter().map(|one| one.code).find(|code| *code != code::OK).unwrap_or(printed))
}

/// What has changed in other places than the worktrees.
fn say_elsewhere(ran: &[Ran], changed: &[PathBuf]) {
    for one in ran.iter().filter(|one| !one.outside.is_empty()) {
        say(&format!("{} wrote outside of its worktree: {}", one.worktree.name, first_of(one.outside.iter())));
    }
    if !changed.is_empty() {
        let files = first_of(changed.iter());
        say(&format!("not in a worktree, but in the files that they were made from, there changed meanwhile: {files}"));
    }
}

/// Runs the prompt with one agent.
fn one(config: EngineConfig, options: ExecOptions, begun: &SyncSender<()>) -> Ended {
    let (began, lines) = (Instant::now(), Lines::default());
    let out = lines.clone();
    let ended = runtime::start().map(|runtime| {
        let outcome = runtime.block_on(async {
            let engine = Engine::new(config);
            // Its waiter is there.
            let _ = begun.send(());
            Box::pin(headless::run(engine, options, out)).await
        });
        runtime.shutdown_background();
        outcome.map_or(code::OWN_FAULT, |outcome| outcome.code)
    });
    let heard = std::mem::take(&mut lines.0.lock().unwrap_or_else(PoisonError::into_inner).heard);
    (ended.unwrap_or(code::OWN_FAULT), began.elapsed(), heard)
}

/// What is kept of the lines that a run writes.
#[derive(Default)]
struct Heard {
    session_id: Option<String>,
    /// What its calls say that they write.
    written: BTreeSet<PathBuf>,
}

impl Heard {
    fn take(&mut self, line: &[u8]) {
        let Ok(line) = serde_json::from_slice::<Value>(line) else { return };
        if let Some(id) = line["session_id"].as_str() {
            self.session_id = Some(id.to_owned());
        }
        let writes = ["edit", "delete", "move"].iter().any(|kind| line["kind"] == *kind);
        if line["type"] == "tool" && writes && line["status"] == "completed" {
            let places = line["locations"].as_array().into_iter().flatten();
            let paths = places.filter_map(|place| place["path"].as_str()).map(PathBuf::from);
            let room = MAX_OUTSIDE.saturating_sub(self.written.len());
            self.written.extend(paths.filter(|path| path.is_absolute()).take(room));
        }
    }

    /// What was written that is not below this directory.
    fn outside(&self, worktree: &Path) -> BTreeSet<PathBuf> {
        let real = worktree.canonicalize().unwrap_or_else(|_| worktree.to_owned());
        let is_outside = |path: &&PathBuf| !paths::normalize(path).starts_with(worktree) && !path.starts_with(&real);
        self.written.iter().filter(is_outside).cloned().collect()
    }
}

/// Takes the lines of a run, one at a time.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Taken>>);

#[derive(Default)]
struct Taken {
    /// As far as it has come.
    line: Vec<u8>,
    heard: Heard,
}

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut taken = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Taken { line, heard } = &mut *taken;
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let room = MAX_LINE.saturating_sub(line.len());
            line.extend_from_slice(&piece[..piece.len().min(room)]);
            if piece.ends_with(b"\n") {
                heard.take(line);
                line.clear();
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The first of these paths, and how many more there are.
fn first_of<'a>(all: impl ExactSizeIterator<Item = &'a PathBuf>) -> String {
    let count = all.len();
    let mut names: Vec<String> = all.take(MAX_NAMED).map(|path| paths::visible(path.as_os_str())).collect();
    if count > MAX_NAMED {
        names.push(format!("{} more", count - MAX_NAMED));
    }
    names.join(", ")
}

fn as_json(ran: &[Ran], changed: &[PathBuf]) -> String {
    let texts = |paths: &mut dyn Iterator<Item = &PathBuf>| -> Vec<String> {
        paths.map(|path| path.to_string_lossy().into_owned()).collect()
    };
    let value = |one: &Ran| {
        json!({
            "agent": one.agent,
            "exit": one.code,
            "seconds": (one.took.as_secs_f64() * 1e3).round() / 1e3,
            "session_id": one.session_id,
            "worktree": one.worktree.name,
            "path": one.worktree.path.to_string_lossy(),
            "changes": one.changes.map(|d| json!({ "added": d.added, "removed": d.removed, "files": d.files })),
            "outside": texts(&mut one.outside.iter()),
        })
    };
    let runs: Vec<Value> = ran.iter().map(value).collect();
    json::text(&json!({ "v": VERSION, "runs": runs, "changed": texts(&mut changed.iter()) }))
}

fn as_text(ran: &[Ran]) -> String {
    let mut rows = vec![["worktree", "exit", "time", "changes", "session"].map(str::to_owned)];
    rows.extend(ran.iter().map(|one| {
        let changes = match one.changes {
            None => "not known".to_owned(),
            Some(changes) if changes.files == 0 => "none".to_owned(),
            Some(changes) => sums(changes),
        };
        let session = one.session_id.as_deref().map_or_else(|| "none".to_owned(), crate::review::archive::shown_id);
        [one.worktree.name.clone(), one.code.to_string(), human::duration(one.took), changes, session]
    }));
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; 5] = std::array::from_fn(width);
    let line = |row: &[String; 5]| {
        let cells: Vec<String> = row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        format!("{}\n", cells.join("  ").trim_end())
    };
    rows.iter().map(line).collect()
}
