//! Runs what the command line asks for and maps the outcome to an exit code.

use super::args::{self, Command, Common, Exec};
use super::attached::{Attached, LATE_FILES};
use super::deliver::{Outputs, Patience, Run, Written};
use super::guard;
use super::help::help;
use super::launch::{self, Surroundings};
use super::output::{can_draw, is_screen, print, say, say_goodbye};
use super::resume::{self, Resumed};
use super::runtime::{self, Runtime};
use super::usage::Usage;
use super::values::answers;
use super::watched::{self, Watched};
use crate::base::paths::visible;
use crate::config::agents::{self, AgentCommand};
use crate::config::dirs::{Dirs, Env};
use crate::demo;
use crate::engine::{Engine, EngineConfig, Goodbye, RulesConfig, recalling, wait};
use crate::headless::{self, Account, ExecOptions, Style, code};
use crate::host::{process, worktrees};
use crate::model::account;
use crate::model::event::{Before, Opening};
use crate::model::ids::{SessionId, SessionKey};
use crate::model::session::{Allow, Policy};
use crate::review::session::recorded;
use crate::store::drafts;
use crate::store::log;
use crate::store::sessions::{self, Known};
use crate::ui::tty;
use std::ffi::OsString;
use std::io::{self, Read as _};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use tracing::level_filters::LevelFilter;
use tracing::{debug, info, warn};

/// What the demo is asked without a prompt.
const DEMO_PROMPT: &str = "Fix the subtraction in add() and run the tests.";
/// Bytes of a prompt from standard input.
const MAX_PROMPT: u64 = 16 << 20;
/// The whole program. `args` are those after the program's name.
pub fn main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let started = Instant::now();
    let args: Vec<OsString> = args.into_iter().collect();
    if let Some(code) = guard::again(&args) {
        return ExitCode::from(code);
    }
    let command = match args::parse(args) {
        Ok(command) => command,
        Err(usage) => return fail(&usage),
    };
    if let Some(code) = guard::begin(&command) {
        return ExitCode::from(code);
    }
    wait::outlive_full_files();
    runtime::tell_of_threads();
    let _log = match command {
        Command::Help(_) | Command::Version | Command::DemoAgent { .. } | Command::Replay { .. } | Command::Reset => {
            None
        }
        _ => start_log(),
    };
    // `exec` tells also in files that nothing was begun.
    let begins = matches!(
        command,
        Command::Check(_) | Command::Login(_) | Command::Logout(_) | Command::Demo(_) | Command::Screen(_)
    );
    let no_room = if begins { runtime::without_room() } else { None };
    let outcome = no_room.map_or_else(|| carry_out(command, started), Ok);
    process::end_helpers();
    process::end_guard();
    match outcome {
        Ok(code) => {
            info!(code, "ends");
            ExitCode::from(code)
        }
        Err(usage) => {
            info!(code = code::USAGE, "cannot do what was asked");
            fail(&usage)
        }
    }
}

fn carry_out(command: Command, started: Instant) -> Result<u8, Usage> {
    match command {
        Command::Help(name) => print(&help(name)),
        Command::Version => print(concat!("acp-tui ", env!("CARGO_PKG_VERSION"), "\n")),
        Command::DemoAgent { script, fast } => demo_agent(script.as_deref(), fast),
        Command::Replay { file, fast } => replay(&file, fast),
        Command::Reset => reset(),
        Command::Processes { json, yes } => super::processes::run(json, yes),
        Command::Doctor(asked) => super::doctor::run(&asked),
        Command::Check(asked) => super::check::run(&asked),
        Command::Inspect(asked) => super::inspect::run(&asked),
        Command::Exec(exec) => run_exec(*exec, started),
        Command::Review(session) => super::review::review(&session),
        Command::Undo(undo) => super::review::undo(&undo),
        Command::Redo(session) => super::review::redo(&session),
        Command::Blame(blame) => super::blame::run(&blame),
        Command::Sessions(what) => super::sessions::run(&what),
        Command::Keys(presses) => super::keys::run(presses),
        Command::Usage { json } => super::spent::run(json),
        Command::Audit(asked) => super::audit::run(&asked),
        Command::Worktrees(what) => super::worktrees::run(&what),
        Command::Search(search) => super::search::run(&search),
        Command::Export(export) => super::export::export(&export),
        Command::Import(file) => super::export::import(&file),
        Command::Rules(asked) => super::rules::run(&asked),
        Command::Mcp(asked) => super::mcp::run(&asked),
        Command::Agents(asked) => super::agents::run(&asked),
        Command::Login(asked) => super::login::log_in(&asked),
        Command::Logout(common) => super::login::log_out(&common),
        Command::Demo(common) => run_demo(&common),
        Command::Screen(common) => run_screen(&common),
    }
}

/// The log costs nothing until there is a line.
fn start_log() -> Option<log::Guard> {
    let dirs = Dirs::new(Env::read(|name| std::env::var_os(name)))?;
    let level = log::level(std::env::var("ACP_TUI_LOG").ok().as_deref());
    let guard = log::start(dirs.state.join("log"), level.unwrap_or(LevelFilter::WARN));
    if level.is_none() {
        warn!("ACP_TUI_LOG is none of off, error, warn, info, debug, trace");
    }
    info!(version = env!("CARGO_PKG_VERSION"), screen = is_screen(), "starts");
    Some(guard)
}

fn fail(usage: &Usage) -> ExitCode {
    say(&usage.to_string());
    ExitCode::from(code::USAGE)
}

fn demo_agent(script: Option<&Path>, fast: bool) -> Result<u8, Usage> {
    played(demo::run_stdio(script, pace(fast)).map_err(|error| Usage(error.to_string()))?)
}

fn replay(file: &Path, fast: bool) -> Result<u8, Usage> {
    let name = visible(file.as_os_str());
    played(demo::play_stdio(file, pace(fast)).map_err(|error| Usage(format!("{name}: {error}")))?)
}

fn pace(fast: bool) -> demo::Pace {
    if fast { demo::Pace::Fast } else { demo::Pace::Human }
}

/// How an agent of ours ends.
fn played(exit: demo::ExitKind) -> Result<u8, Usage> {
    Ok(u8::try_from(exit.carry_out()).unwrap_or(code::OWN_FAULT))
}

fn reset() -> Result<u8, Usage> {
    tty::repair().map_err(|error| Usage(format!("the terminal cannot be repaired: {error}")))?;
    Ok(code::OK)
}

/// `started`: when the program was.
fn run_exec(exec: Exec, started: Instant) -> Result<u8, Usage> {
    let wanted = Outputs::resolve(exec.review.as_deref(), exec.patch.as_deref(), exec.common.record.as_deref())?;
    if let Some(code) = runtime::without_room() {
        watched::write_nothing(&wanted);
        return Ok(code);
    }
    let wanted = Arc::new(wanted);
    let of_run = Arc::clone(&wanted);
    watched::run(&wanted, move |watched| exec_watched(exec, &of_run, started, watched))
}

/// What the agent is held to.
fn held_to(
    file: Option<&Path>,
    agent: &AgentCommand,
    cwd: &Path,
    surroundings: &Surroundings,
) -> Result<RulesConfig, Usage> {
    let dirs = surroundings.dirs.as_ref();
    let rules = match file {
        Some(file) => super::rules::only(file, &agent.name, dirs)?,
        None => super::rules::narrowing(cwd, &agent.name, dirs)?,
    };
    let (rules, unknown) = launch::with_names(rules, agent, cwd, surroundings);
    for said in &unknown {
        say(said);
    }
    Ok(rules)
}

fn exec_watched(exec: Exec, wanted: &Outputs, started: Instant, watched: &Watched) -> Result<u8, Usage> {
    let prompt = if exec.prompt == "-" { prompt_from_stdin()? } else { exec.prompt.clone() };
    let deadline = exec.timeout.map(|timeout| begun(&exec.prompt, started) + timeout);
    deadline.inspect(|deadline| watched.counts(*deadline));
    let surroundings = Surroundings::read();
    say_warnings(&surroundings);
    let budget = super::spent::budget(&surroundings);
    if !exec.fan_out.is_empty() {
        return super::fan_out::run(&exec, &prompt, &surroundings, budget.as_ref(), deadline, watched);
    }
    let answers = exec.answers.as_deref().map(answers).transpose()?;
    let (review, patch) = (exec.review.as_deref(), exec.patch.as_deref());
    let going = resume::find(&exec.common, &surroundings)?;
    // The claim is held until the end.
    let (cwd, opening, recorded, known, _claim) = match going {
        Some(Resumed { opening: Opening::Show { id, why }, .. }) => {
            let shows = format!("`acp-tui --resume {id}` shows what is recorded of it");
            let [why, next] = [why.words(), why.advice().map_or_else(String::new, |advice| format!("; {advice}"))];
            return Err(Usage(format!("session {id}: {why}{next}; {shows}")));
        }
        Some(going) => (going.cwd, going.opening, going.agent, Some(going.known), going.claim),
        None => (launch::directory(&exec.common)?, Opening::New, None, None, None),
    };
    if let (Some(known), Some(dirs)) = (&known, &surroundings.dirs) {
        say_worktree(known, &dirs.state);
    }
    let opened = known.as_ref().map(|known| known.opened);
    let cost = known.as_ref().and_then(|known| known.figures.cost.clone());
    let mode_back = known.as_ref().and_then(|known| mode_back(known, &surroundings));
    let account = known.filter(|_| exec.with_transcript).map(|known| account(&known, &surroundings)).transpose()?;
    debug!(allow = ?exec.allow, json = exec.json, timeout = ?exec.timeout, "exec");
    let agent = match launch::named_agent(&exec.common, &surroundings.config)?.or(recorded) {
        Some(agent) => agent,
        None => match &surroundings.config.default_agent {
            Some(name) => {
                let common = Common { agent: Some(name.clone()), ..Common::default() };
                launch::named_agent(&common, &surroundings.config)?.ok_or_else(no_agent)?
            }
            None => return Err(no_agent()),
        },
    };
    let name = launch::name_to_type(&agent, &surroundings.config);
    if let Some(why) = budget.as_ref().and_then(|budget| super::spent::used_up(budget, cost.as_ref())) {
        say(&why);
        return Ok(code::NOT_FINISHED);
    }
    let attached = match super::attached::read(&exec.attach, deadline)? {
        Attached::Read(attached) => attached,
        Attached::Late => {
            say(LATE_FILES);
            return Ok(code::TIMEOUT);
        }
    };
    if let Some(dirs) = &surroundings.dirs {
        super::written::remember(&dirs.state, &cwd, &prompt);
    }
    let made = exec.common.worktree.as_ref().map(|wanted| super::worktrees::for_session(wanted, &cwd)).transpose()?;
    made.iter().flat_map(|made| &made.remarks).for_each(|remark| say(remark));
    let (worktree, cwd, kept) = match made {
        Some(made) => (Some(made.worktree), made.cwd, Some(made.opening)),
        None => (None, cwd, None),
    };
    let policy = Policy::Auto(exec.allow);
    let dirs = surroundings.dirs.as_ref();
    let servers = super::servers::of_session(&exec.common, &surroundings, &agent.name)?;
    let rules = held_to(exec.rules.as_deref(), &agent, &cwd, &surroundings)?;
    let mut config = launch::engine_config(agent, cwd, policy, &exec.common, dirs)?;
    // It has its own.
    drop(kept);
    if let Some(words) = launch::own_program(&config, &surroundings) {
        say(&words);
    }
    launch::keep_within_limits(&surroundings, &opening);
    config.rules = Some(rules);
    config.budget = budget;
    config.keeps_form_answers = surroundings.config.keeps_form_answers;
    config.servers = Some(servers);
    config.private.extend([review, patch].into_iter().filter_map(launch::own_file));
    let options = ExecOptions {
        prompt,
        style: if exec.json { Style::Json } else { Style::Text },
        model: exec.common.model,
        mode: exec.mode,
        mode_back,
        options: exec.config,
        deadline,
        answers,
        opening,
        age: opened.map(sessions::age),
        agent: name,
        attached,
        account: account.flatten(),
    };
    if !watched.begins() {
        return Ok(code::TIMEOUT);
    }
    let ended = execute(config, options, wanted);
    watched.has_run();
    let is_cut = ended.as_ref().is_ok_and(|code| code::is_cut(*code));
    if let Some(one) = &worktree {
        super::worktrees::say_what_next(one, super::worktrees::counted(is_cut, deadline));
    }
    ended
}

/// From when on the time of a run counts: a prompt that is waited for is none of its doing.
fn begun(prompt: &str, started: Instant) -> Instant {
    if prompt == "-" { Instant::now() } else { started }
}

/// The mode that a kept side question is to have again.
fn mode_back(known: &Known, surroundings: &Surroundings) -> Option<String> {
    let state = &surroundings.dirs.as_ref()?.state;
    known.commands().find_map(|command| drafts::mode_of(state, command, &known.session_id))
}

/// Where the files are that it goes on with, when that is not where it was called.
fn say_worktree(known: &Known, state: &Path) {
    let origins = worktrees::origins(state);
    let home = origins.home_of(&known.cwd);
    if home != known.cwd {
        let (cwd, home) = (visible(known.cwd.as_os_str()), visible(home.as_os_str()));
        say(&format!("the session goes on in a worktree of {home}: {cwd}"));
    }
}

/// What an agent is told that cannot go on with a session, where anything is known of it.
fn account(known: &Known, surroundings: &Surroundings) -> Result<Option<Account>, Usage> {
    let Some(dirs) = &surroundings.dirs else { return Ok(None) };
    let id = SessionId::from(known.session_id.as_str());
    let read = recalling::recall(&sessions::journals(&dirs.state), &id, &known.command, recalling::Bounds::default());
    let (past, trouble) = read.map_err(|error| Usage(format!("the journals cannot be read: {error}")))?;
    if let Some(trouble) = trouble {
        say(&trouble);
    }
    // One that has not said what it is called is known by its command.
    let is_it = |listed: &agents::Listed| known.agent == known.command && launch::line(&listed.agent) == known.command;
    let configured = agents::list(&surroundings.config).into_iter().find(is_it);
    let agent = configured.map_or_else(|| known.agent.clone(), |listed| listed.id);
    let before = Before { session: SessionKey::FIRST, id: Some(id), agent: agent.clone(), to: None };
    Ok((!past.entries.is_empty()).then(|| Account { text: account::of_past(&past, &agent), before }))
}

fn no_agent() -> Usage {
    Usage("no agent: put its command after `--`, or use --agent NAME".into())
}

fn execute(config: EngineConfig, options: ExecOptions, wanted: &Outputs) -> Result<u8, Usage> {
    headless::said::bound();
    let runtime = runtime::start()?;
    let (reviews, cwd) = (config.review.as_ref().map(|review| review.home.clone()), config.cwd.clone());
    let outcome = runtime.block_on(async {
        let engine = Engine::new(config);
        let command = engine.model().first().agent().command.clone();
        Box::pin(headless::run(engine, options, io::stdout())).await.map(|outcome| (outcome, command))
    });
    let ended = match outcome {
        Ok((outcome, command)) => {
            say_goodbye(&outcome.goodbye, false);
            // Why there is none was said when it ended. Without a home there is no place for one: work just goes on.
            let is_off = reviews.is_some() && outcome.review.is_none();
            let dir = reviews.zip(outcome.review).map(|(home, stem)| home.join(stem));
            let trouble = dir.as_deref().filter(|_| wanted.is_nothing()).and_then(recorded::trouble);
            // A fault that the run itself has found was said.
            if let Some(words) = trouble.as_ref().filter(|_| outcome.code != code::OWN_FAULT) {
                say(words);
            } else if is_off && outcome.code == code::OK {
                say("what the turn changed was not recorded");
            }
            let Goodbye { survivors, ended, .. } = outcome.goodbye;
            let run = Run { is_begun: true, dir, cwd, command, survivors, ended };
            let code = deliver(&runtime, wanted, run, outcome.until, outcome.code);
            Ok(if code == code::OK && (is_off || trouble.is_some()) { code::OWN_FAULT } else { code })
        }
        Err(error) => {
            say(&error.to_string());
            Ok(code::OWN_FAULT)
        }
    };
    // A thread that still waits for a slow reader or disk must not hold the exit.
    runtime.shutdown_background();
    ended
}

/// Writes what is wanted of the run that is over; its exit code, unless that fails.
fn deliver(runtime: &Runtime, wanted: &Outputs, run: Run, until: Option<Instant>, code: u8) -> u8 {
    if wanted.is_nothing() {
        return code;
    }
    let stop = Arc::new(AtomicBool::new(false));
    let signalled = Arc::clone(&stop);
    runtime.spawn(async move {
        if headless::stop::interrupted().await.is_ok() {
            signalled.store(true, Ordering::Relaxed);
        }
    });
    let Written { problems, unfinished } = wanted.write(run, &Patience { until, stop });
    if unfinished.is_some() || !problems.is_empty() {
        warn!(problems = problems.len(), unfinished = unfinished.is_some(), "report or patch is not whole");
    }
    for problem in problems.iter().chain(&unfinished) {
        say(problem);
    }
    // Who did not give it the time knows why it is not all.
    let is_cut = code::is_cut(code);
    let is_late = code == code::OK && until.is_some_and(|until| Instant::now() >= until);
    match unfinished {
        _ if !problems.is_empty() => code::OWN_FAULT,
        Some(_) if is_late => code::TIMEOUT,
        Some(_) if !is_cut => code::OWN_FAULT,
        _ => code,
    }
}

fn prompt_from_stdin() -> Result<String, Usage> {
    let mut bytes = Vec::new();
    io::stdin()
        .take(MAX_PROMPT + 1)
        .read_to_end(&mut bytes)
        .map_err(|e| Usage(format!("the prompt could not be read: {e}")))?;
    if bytes.len() as u64 > MAX_PROMPT {
        return Err(Usage("the prompt is longer than 16 MiB".into()));
    }
    let prompt = String::from_utf8(bytes).map_err(|_| Usage("the prompt is not UTF-8".into()))?;
    if prompt.trim().is_empty() { Err(Usage("the prompt is empty".into())) } else { Ok(prompt) }
}

fn say_warnings(surroundings: &Surroundings) {
    for warning in &surroundings.warnings {
        say(&warning.to_string());
    }
}

/// Where there is no terminal and no agent is named, the demo is shown.
fn run_screen(common: &Common) -> Result<u8, Usage> {
    if common.plain {
        return super::plain::run(common);
    }
    let is_asked_for_more = common.goes_on.is_some() || common.worktree.is_some() || common.cwd.is_some();
    if is_screen() || common.names_agent() || is_asked_for_more {
        return super::screen::run(common);
    }
    headless_demo(common)
}

fn run_demo(common: &Common) -> Result<u8, Usage> {
    if common.plain || is_screen() && !can_draw() {
        return super::plain::demo(common);
    }
    if can_draw() { super::screen::demo(common) } else { headless_demo(common) }
}

/// Without a terminal the demo is played all the same, and says so.
fn headless_demo(common: &Common) -> Result<u8, Usage> {
    let surroundings = Surroundings::read();
    super::screen::asked(common, &surroundings)?;
    say_warnings(&surroundings);
    say("this is no terminal, so the built-in demo is played without a screen");
    let dir = launch::demo_directory()?;
    let cwd = dir.path().canonicalize().map_err(|e| Usage(e.to_string()))?;
    let config = launch::engine_config(
        launch::demo_agent()?,
        cwd,
        Policy::Auto(Allow::All),
        common,
        surroundings.dirs.as_ref(),
    )?;
    let options = ExecOptions {
        prompt: DEMO_PROMPT.into(),
        style: Style::Text,
        model: None,
        mode: None,
        mode_back: None,
        options: Vec::new(),
        deadline: None,
        answers: None,
        opening: Opening::New,
        age: None,
        agent: String::new(),
        attached: Vec::new(),
        account: None,
    };
    execute(config, options, &Outputs::default())
}
