//! `exec --fan-out`: one prompt to several agents, each in a worktree of its own, side by side.
//!
//! Each run is one of `exec` without its output. Invariants: they begin with the same files; nothing of one is seen by
//! another; the table has a row for each that was asked for, with its outcome.

use super::args::{Common, Exec};
use super::attached::{Attached, LATE_FILES};
use super::launch::{self, Surroundings};
use super::output::{print, say};
use super::runtime;
use super::usage::Usage;
use super::worktrees::{ForSession, for_agent, sums};
use crate::base::human;
use crate::config::agents::AgentCommand;
use crate::engine::{Engine, EngineConfig};
use crate::headless::{self, ExecOptions, Style, code};
use crate::host::worktrees::{self, Difference, Worktree};
use crate::model::budget::Budget;
use crate::model::event::Opening;
use crate::model::session::Policy;
use crate::review::report::json;
use serde_json::{Value, json};
use std::io::{self, Write};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Of the table as JSON.
const VERSION: u32 = 1;
/// Bytes of a run's last line that are kept.
const MAX_LINE: usize = 1 << 20;

/// The exit code of a run, its session, and how long it took.
type Ended = (u8, Option<String>, Duration);

/// What became of one run.
struct Ran {
    agent: String,
    worktree: Worktree,
    session_id: Option<String>,
    code: u8,
    took: Duration,
    changes: Option<Difference>,
}

/// Runs the prompt with each of the agents, and prints what they changed.
pub(super) fn run(
    exec: &Exec,
    prompt: &str,
    surroundings: &Surroundings,
    budget: Option<&Budget>,
) -> Result<u8, Usage> {
    let agents = &exec.fan_out;
    let dir = launch::directory(&exec.common)?;
    let directories = launch::directories(&exec.common.add_dir)?;
    if let Some(why) = budget.and_then(|budget| super::spent::used_up(budget, None)) {
        say(&why);
        return Ok(code::NOT_FINISHED);
    }
    let named = |name: &String| {
        let common = Common { agent: Some(name.clone()), ..Common::default() };
        let found = launch::named_agent(&common, &surroundings.config)?;
        found.ok_or_else(|| Usage(format!("there is no agent `{name}`")))
    };
    // What is wrong with one is said before any is started.
    let answers = exec.answers.as_deref().map(super::values::answers).transpose()?;
    let commands: Vec<AgentCommand> = agents.iter().map(named).collect::<Result<_, _>>()?;
    let (attached, timeout) = match super::attached::read(&exec.attach, exec.timeout)? {
        Attached::Read(attached, left) => (attached, left),
        Attached::Late => {
            say(LATE_FILES);
            return Ok(code::TIMEOUT);
        }
    };
    let with_changes = exec.common.worktree.as_ref().is_some_and(|wanted| wanted.with_changes);
    let mut made: Vec<ForSession> = Vec::new();
    for name in agents {
        made.push(for_agent(name, &dir, with_changes)?);
    }
    let mut runs = Vec::new();
    for ((name, command), made) in agents.iter().zip(commands).zip(made) {
        made.remarks.iter().for_each(|remark| say(remark));
        let rules = exec.rules.as_deref();
        let dirs = surroundings.dirs.as_ref();
        let rules = match rules {
            Some(file) => super::rules::only(file, &command.name, dirs)?,
            None => super::rules::none(&command.name, dirs),
        };
        let policy = Policy::Auto(exec.allow);
        let Common { sandbox, permission_mode, .. } = exec.common;
        let add_dir = exec.common.add_dir.clone();
        let common = Common { add_dir, sandbox, permission_mode, ..Common::default() };
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
            options: exec.config.clone(),
            timeout,
            answers: answers.clone(),
            opening: Opening::New,
            agent: name.clone(),
            attached: attached.clone(),
            account: None,
        };
        // Runs are told apart by when they began.
        let (begun, begins) = sync_channel(1);
        let thread = thread::Builder::new().name(format!("run {name}"));
        let thread = thread.spawn(move || one(config, options, &begun));
        let thread = thread.map_err(|error| Usage(format!("cannot start: {error}")))?;
        let began = Instant::now();
        // One that could not begin is over.
        let _ = begins.recv();
        while began.elapsed() < Duration::from_millis(2) {
            thread::yield_now();
        }
        runs.push((name.clone(), made.worktree, thread));
    }
    let ended = |(agent, worktree, thread): (String, Worktree, thread::JoinHandle<Ended>)| {
        let (code, session_id, took) = thread.join().unwrap_or((code::OWN_FAULT, None, Duration::ZERO));
        let changes = worktrees::changes(&worktree).inspect_err(|error| say(&format!("{agent}: {error}"))).ok();
        Ran { agent, worktree, session_id, code, took, changes }
    };
    let ran: Vec<Ran> = runs.into_iter().map(ended).collect();
    let printed = print(&if exec.json { as_json(&ran) } else { as_text(&ran) })?;
    if !exec.json {
        say("`acp-tui worktrees merge NAME` takes one of them, `acp-tui review SESSION` looks at it first");
    }
    Ok(ran.iter().map(|one| one.code).find(|code| *code != code::OK).unwrap_or(printed))
}

/// Runs the prompt with one agent.
fn one(config: EngineConfig, options: ExecOptions, begun: &SyncSender<()>) -> Ended {
    let (began, last) = (Instant::now(), LastLine::default());
    let out = last.clone();
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
    let session_id = last.session_id();
    (ended.unwrap_or(code::OWN_FAULT), session_id, began.elapsed())
}

/// Of what is written only the last line is kept, which has the result.
#[derive(Clone, Default)]
struct LastLine(Arc<Mutex<Vec<u8>>>);

impl LastLine {
    fn session_id(&self) -> Option<String> {
        let line = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let result: Value = serde_json::from_slice(&line).ok()?;
        result["session_id"].as_str().map(str::to_owned)
    }
}

impl Write for LastLine {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut line = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            if line.last() == Some(&b'\n') {
                line.clear();
            }
            let room = MAX_LINE.saturating_sub(line.len());
            line.extend_from_slice(&piece[..piece.len().min(room)]);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn as_json(ran: &[Ran]) -> String {
    let value = |one: &Ran| {
        json!({
            "agent": one.agent,
            "exit": one.code,
            "seconds": one.took.as_secs_f64(),
            "session_id": one.session_id,
            "worktree": one.worktree.name,
            "path": one.worktree.path.to_string_lossy(),
            "changes": one.changes.map(|d| json!({ "added": d.added, "removed": d.removed, "files": d.files })),
        })
    };
    json::text(&json!({ "v": VERSION, "runs": ran.iter().map(value).collect::<Vec<_>>() }))
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
