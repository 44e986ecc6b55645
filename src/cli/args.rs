//! What was typed, checked for its own sense; nothing is looked up here.

use crate::model::session::Allow;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// The session that is meant when none is named.
const LAST: &str = crate::review::home::LAST;
const ALL: &str = crate::review::home::ALL;

#[derive(Debug, PartialEq, Eq)]
pub enum Command {
    Help,
    Version,
    /// The full screen; without an agent the picker.
    Screen(Common),
    /// The client with the demo agent.
    Demo(Common),
    /// The demo agent itself, on standard input and output.
    DemoAgent {
        script: Option<PathBuf>,
        fast: bool,
    },
    Exec(Box<Exec>),
    /// The changes of a session, after the fact.
    Review(String),
    Undo(Undo),
    /// Takes back what was last done to a session's changes.
    Redo(String),
    Sessions(Sessions),
}

/// A session is named by its id, a beginning of it, or `last`.
#[derive(Debug, PartialEq, Eq)]
pub struct Undo {
    pub session: String,
    /// From this turn of the session on; all of it without.
    pub turn: Option<u64>,
    pub dry_run: bool,
    /// Without a question.
    pub yes: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Sessions {
    List {
        json: bool,
    },
    Remove(String),
    RemoveAll {
        /// Without a question.
        yes: bool,
    },
    Prune,
}

/// What the full screen and `exec` have in common.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Common {
    /// After `--`.
    pub command: Vec<OsString>,
    /// `--agent NAME`.
    pub agent: Option<String>,
    pub cwd: Option<PathBuf>,
    pub record: Option<PathBuf>,
    pub theme: Option<String>,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Exec {
    pub common: Common,
    /// `-` is standard input.
    pub prompt: String,
    pub json: bool,
    pub allow: Allow,
    pub mode: Option<String>,
    pub config: Vec<(String, String)>,
    pub timeout: Option<Duration>,
    /// Where the report of the changes goes.
    pub review: Option<PathBuf>,
    /// Where a patch of the changes goes.
    pub patch: Option<PathBuf>,
}

/// A command line that cannot be understood; says what to do instead.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Usage(pub String);

impl From<lexopt::Error> for Usage {
    fn from(error: lexopt::Error) -> Self {
        Self(error.to_string())
    }
}

/// Reads the arguments after the program's name.
pub fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Command, Usage> {
    let mut args: Vec<OsString> = args.into_iter().collect();
    let command = match args.iter().position(|a| a == "--") {
        Some(at) => {
            let command = args.split_off(at + 1);
            args.pop();
            if command.is_empty() {
                return Err(Usage("no agent after `--`; for example: acp-tui -- gemini --acp".into()));
            }
            command
        }
        None => Vec::new(),
    };
    let parsed = match args.first().and_then(|a| a.to_str()) {
        Some("exec") => exec(args.split_off(1), command)?,
        Some("demo-agent") if command.is_empty() => demo_agent(args.split_off(1))?,
        Some("demo") if command.is_empty() => match screen(args.split_off(1), command)? {
            Command::Screen(common) if common.agent.is_none() => Command::Demo(common),
            Command::Screen(_) => return Err(Usage("`demo` brings its own agent".into())),
            other => other,
        },
        Some("review") if command.is_empty() => named("review", args.split_off(1), Command::Review)?,
        Some("redo") if command.is_empty() => named("redo", args.split_off(1), Command::Redo)?,
        Some("undo") if command.is_empty() => undo(args.split_off(1))?,
        Some("sessions") if command.is_empty() => sessions(args.split_off(1))?,
        Some(word @ ("review" | "undo" | "redo" | "sessions")) => {
            return Err(Usage(format!("`{word}` starts no agent; leave out `--` and what follows")));
        }
        Some("help") => Command::Help,
        _ => screen(args, command)?,
    };
    match &parsed {
        Command::Screen(c) | Command::Demo(c) => one_agent(c)?,
        Command::Exec(e) => one_agent(&e.common)?,
        _ => {}
    }
    Ok(parsed)
}

fn one_agent(common: &Common) -> Result<(), Usage> {
    if common.agent.is_some() && !common.command.is_empty() {
        return Err(Usage("give either --agent NAME or a command after `--`, not both".into()));
    }
    Ok(())
}

/// Takes an option that both front ends know. False: it is none of them.
fn common_option(
    common: &mut Common,
    option: &lexopt::Arg<'_>,
    value: impl FnOnce() -> Result<OsString, lexopt::Error>,
) -> Result<bool, Usage> {
    match option {
        lexopt::Arg::Long("agent") => common.agent = Some(text(value()?)?),
        lexopt::Arg::Long("cwd") | lexopt::Arg::Short('C') => common.cwd = Some(value()?.into()),
        lexopt::Arg::Long("record") => common.record = Some(value()?.into()),
        _ => return Ok(false),
    }
    Ok(true)
}

fn screen(args: Vec<OsString>, command: Vec<OsString>) -> Result<Command, Usage> {
    let mut common = Common { command, ..Common::default() };
    let mut parser = lexopt::Parser::from_args(args);
    while let Some(arg) = parser.next()? {
        let arg = owned(&arg);
        match arg.arg() {
            lexopt::Arg::Long("help") | lexopt::Arg::Short('h') => return Ok(Command::Help),
            lexopt::Arg::Long("version") | lexopt::Arg::Short('V') => return Ok(Command::Version),
            lexopt::Arg::Long("theme") => common.theme = Some(text(parser.value()?)?),
            lexopt::Arg::Value(word) => {
                let word = word.to_string_lossy().into_owned();
                return Err(Usage(format!(
                    "there is no command `{word}`; to start an agent put its command after `--`: acp-tui -- {word} …"
                )));
            }
            other => {
                if !common_option(&mut common, &other, || parser.value())? {
                    return Err(unexpected(&other));
                }
            }
        }
    }
    Ok(Command::Screen(common))
}

fn demo_agent(args: Vec<OsString>) -> Result<Command, Usage> {
    let (mut script, mut fast) = (None, false);
    let mut parser = lexopt::Parser::from_args(args);
    while let Some(arg) = parser.next()? {
        match owned(&arg).arg() {
            lexopt::Arg::Long("help") | lexopt::Arg::Short('h') => return Ok(Command::Help),
            lexopt::Arg::Long("script") => script = Some(parser.value()?.into()),
            lexopt::Arg::Long("fast") => fast = true,
            other => return Err(unexpected(&other)),
        }
    }
    Ok(Command::DemoAgent { script, fast })
}

fn exec(args: Vec<OsString>, command: Vec<OsString>) -> Result<Command, Usage> {
    let mut exec = Exec {
        common: Common { command, ..Common::default() },
        prompt: String::new(),
        json: false,
        allow: Allow::Reads,
        mode: None,
        config: Vec::new(),
        timeout: None,
        review: None,
        patch: None,
    };
    let mut prompt: Option<String> = None;
    let mut parser = lexopt::Parser::from_args(args);
    while let Some(arg) = parser.next()? {
        match owned(&arg).arg() {
            lexopt::Arg::Long("help") | lexopt::Arg::Short('h') => return Ok(Command::Help),
            lexopt::Arg::Long("json") => exec.json = true,
            lexopt::Arg::Long("allow") => exec.allow = allow(&text(parser.value()?)?)?,
            lexopt::Arg::Long("mode") => exec.mode = Some(text(parser.value()?)?),
            lexopt::Arg::Long("config") => exec.config.push(pair(&text(parser.value()?)?)?),
            lexopt::Arg::Long("timeout") => exec.timeout = Some(seconds(&text(parser.value()?)?)?),
            lexopt::Arg::Long("review") => exec.review = Some(file("--review", parser.value()?)?),
            lexopt::Arg::Long("patch") => exec.patch = Some(file("--patch", parser.value()?)?),
            lexopt::Arg::Value(word) if prompt.is_none() => prompt = Some(text(word.clone())?),
            lexopt::Arg::Value(_) => return Err(Usage("more than one prompt; put it in quotes".into())),
            other => {
                if !common_option(&mut exec.common, &other, || parser.value())? {
                    return Err(unexpected(&other));
                }
            }
        }
    }
    exec.prompt = prompt.ok_or_else(|| Usage("no prompt; `-` reads it from standard input".into()))?;
    if exec.prompt.trim().is_empty() {
        return Err(Usage("the prompt is empty".into()));
    }
    Ok(Command::Exec(Box::new(exec)))
}

/// A command with one session, the newest when none is named.
fn named(word: &str, args: Vec<OsString>, command: fn(String) -> Command) -> Result<Command, Usage> {
    let mut session = None;
    let mut parser = lexopt::Parser::from_args(args);
    while let Some(arg) = parser.next()? {
        match owned(&arg).arg() {
            lexopt::Arg::Long("help") | lexopt::Arg::Short('h') => return Ok(Command::Help),
            lexopt::Arg::Value(name) => one_session(&mut session, name)?,
            other => return Err(no_option_of(word, &other)),
        }
    }
    Ok(command(session.unwrap_or_else(|| LAST.to_owned())))
}

fn undo(args: Vec<OsString>) -> Result<Command, Usage> {
    let (mut session, mut turn, mut dry_run, mut yes) = (None, None, false, false);
    let mut parser = lexopt::Parser::from_args(args);
    while let Some(arg) = parser.next()? {
        match owned(&arg).arg() {
            lexopt::Arg::Long("help") | lexopt::Arg::Short('h') => return Ok(Command::Help),
            lexopt::Arg::Long("turn") => turn = Some(number("--turn", &text(parser.value()?)?)?),
            lexopt::Arg::Long("dry-run") => dry_run = true,
            lexopt::Arg::Long("yes") | lexopt::Arg::Short('y') => yes = true,
            lexopt::Arg::Value(name) => one_session(&mut session, name)?,
            other => return Err(no_option_of("undo", &other)),
        }
    }
    let missing = || Usage("no session; `last` is the newest, `acp-tui sessions` lists them".into());
    Ok(Command::Undo(Undo { session: session.ok_or_else(missing)?, turn, dry_run, yes }))
}

fn sessions(args: Vec<OsString>) -> Result<Command, Usage> {
    let (mut json, mut yes, mut what) = (false, false, None);
    let mut parser = lexopt::Parser::from_args(args);
    while let Some(arg) = parser.next()? {
        let next = match owned(&arg).arg() {
            lexopt::Arg::Long("help") | lexopt::Arg::Short('h') => return Ok(Command::Help),
            lexopt::Arg::Long("json") => {
                json = true;
                continue;
            }
            lexopt::Arg::Long("yes") | lexopt::Arg::Short('y') => {
                yes = true;
                continue;
            }
            lexopt::Arg::Long("remove") => match text(parser.value()?)? {
                name if name == ALL => Sessions::RemoveAll { yes: false },
                name => Sessions::Remove(name),
            },
            lexopt::Arg::Long("prune") => Sessions::Prune,
            other => return Err(no_option_of("sessions", &other)),
        };
        if what.replace(next).is_some() {
            return Err(Usage("one --remove or --prune at a time".into()));
        }
    }
    match what {
        Some(_) if json => Err(Usage("--json is for the list alone".into())),
        Some(Sessions::RemoveAll { .. }) => Ok(Command::Sessions(Sessions::RemoveAll { yes })),
        _ if yes => Err(Usage("--yes is for --remove all".into())),
        Some(what) => Ok(Command::Sessions(what)),
        None => Ok(Command::Sessions(Sessions::List { json })),
    }
}

fn one_session(session: &mut Option<String>, name: OsString) -> Result<(), Usage> {
    let name = text(name)?;
    if name.trim().is_empty() {
        return Err(Usage("the session's name is empty".into()));
    }
    match session.replace(name) {
        None => Ok(()),
        Some(_) => Err(Usage("more than one session".into())),
    }
}

/// `word` is the command: the option may well be one of another's.
fn no_option_of(word: &str, arg: &lexopt::Arg<'_>) -> Usage {
    let Usage(words) = unexpected(arg);
    Usage(format!("{word}: {words}"))
}

/// lexopt borrows the parser for the names of options; a copy sets it free for the value.
struct OwnedArg {
    long: Option<String>,
    short: Option<char>,
    value: OsString,
}

fn owned(arg: &lexopt::Arg<'_>) -> OwnedArg {
    match arg {
        lexopt::Arg::Long(name) => OwnedArg { long: Some((*name).to_owned()), short: None, value: OsString::new() },
        lexopt::Arg::Short(c) => OwnedArg { long: None, short: Some(*c), value: OsString::new() },
        lexopt::Arg::Value(value) => OwnedArg { long: None, short: None, value: value.clone() },
    }
}

impl OwnedArg {
    fn arg(&self) -> lexopt::Arg<'_> {
        match (&self.long, self.short) {
            (Some(name), _) => lexopt::Arg::Long(name),
            (None, Some(c)) => lexopt::Arg::Short(c),
            (None, None) => lexopt::Arg::Value(self.value.clone()),
        }
    }
}

fn unexpected(arg: &lexopt::Arg<'_>) -> Usage {
    Usage(format!(
        "{}; `acp-tui --help` lists the options",
        match arg {
            lexopt::Arg::Long(name) => format!("unknown option --{name}"),
            lexopt::Arg::Short(c) => format!("unknown option -{c}"),
            lexopt::Arg::Value(value) => format!("unexpected argument {}", value.to_string_lossy()),
        }
    ))
}

fn text(value: OsString) -> Result<String, Usage> {
    value.into_string().map_err(|v| Usage(format!("not UTF-8: {}", v.to_string_lossy())))
}

fn allow(value: &str) -> Result<Allow, Usage> {
    match value {
        "all" => Ok(Allow::All),
        "reads" => Ok(Allow::Reads),
        "none" => Ok(Allow::None),
        other => Err(Usage(format!("--allow is all, reads or none, not `{other}`"))),
    }
}

fn pair(value: &str) -> Result<(String, String), Usage> {
    match value.split_once('=') {
        Some((id, value)) if !id.is_empty() => Ok((id.to_owned(), value.to_owned())),
        _ => Err(Usage(format!("--config takes ID=VALUE, not `{value}`"))),
    }
}

fn file(option: &str, value: OsString) -> Result<PathBuf, Usage> {
    if value.is_empty() || value == "-" {
        return Err(Usage(format!("{option} takes a file; standard output is the answer's")));
    }
    Ok(value.into())
}

fn number(option: &str, value: &str) -> Result<u64, Usage> {
    let number = value.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| Usage(format!("{option} takes a number from 1, not `{value}`")))
}

fn seconds(value: &str) -> Result<Duration, Usage> {
    let bad = || Usage(format!("--timeout takes seconds above 0, not `{value}`"));
    let seconds: f64 = value.parse().map_err(|_| bad())?;
    let duration = Duration::try_from_secs_f64(seconds).map_err(|_| bad())?;
    if duration.is_zero() { Err(bad()) } else { Ok(duration) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_words(words: &[&str]) -> Result<Command, Usage> {
        parse(words.iter().map(OsString::from))
    }

    #[test]
    fn the_agent_stands_after_two_dashes() {
        let Ok(Command::Screen(common)) = parse_words(&["--cwd", "/tmp", "--", "gemini", "--acp"]) else { panic!() };
        assert_eq!(common.command, ["gemini", "--acp"]);
        assert_eq!(common.cwd, Some("/tmp".into()));
    }

    #[test]
    fn exec_takes_its_options_before_and_after_the_prompt() {
        let words =
            ["exec", "--json", "do it", "--allow", "all", "--config", "model=x=y", "--timeout", "1.5", "--", "a"];
        let Ok(Command::Exec(exec)) = parse_words(&words) else { panic!() };
        assert_eq!((exec.prompt.as_str(), exec.json, exec.allow), ("do it", true, Allow::All));
        assert_eq!(exec.config, [("model".to_owned(), "x=y".to_owned())]);
        assert_eq!(exec.timeout, Some(Duration::from_millis(1500)));
    }

    #[test]
    fn the_commands_of_the_review() {
        let undo = |turn, dry_run, yes| Command::Undo(Undo { session: "abc".into(), turn, dry_run, yes });
        for (words, wanted) in [
            (vec!["review"], Command::Review("last".into())),
            (vec!["review", "abc"], Command::Review("abc".into())),
            (vec!["redo"], Command::Redo("last".into())),
            (vec!["redo", "abc"], Command::Redo("abc".into())),
            (vec!["undo", "abc"], undo(None, false, false)),
            (vec!["undo", "--turn", "2", "abc", "--dry-run"], undo(Some(2), true, false)),
            (vec!["undo", "--turn=18446744073709551615", "-y", "abc"], undo(Some(u64::MAX), false, true)),
            (vec!["sessions"], Command::Sessions(Sessions::List { json: false })),
            (vec!["sessions", "--json"], Command::Sessions(Sessions::List { json: true })),
            (vec!["sessions", "--remove", "abc"], Command::Sessions(Sessions::Remove("abc".into()))),
            (vec!["sessions", "--remove=all"], Command::Sessions(Sessions::RemoveAll { yes: false })),
            (vec!["sessions", "-y", "--remove", "all"], Command::Sessions(Sessions::RemoveAll { yes: true })),
            (vec!["sessions", "--prune"], Command::Sessions(Sessions::Prune)),
            (vec!["sessions", "--help"], Command::Help),
            (vec!["undo", "-h"], Command::Help),
        ] {
            assert_eq!(parse_words(&words), Ok(wanted), "{words:?}");
        }
        let Ok(Command::Exec(exec)) = parse_words(&["exec", "--patch", "p", "x", "--review=r.json", "--", "a"]) else {
            panic!()
        };
        assert_eq!((exec.review, exec.patch), (Some("r.json".into()), Some("p".into())));
    }

    #[test]
    fn bad_input_says_what_to_do() {
        for (words, hint) in [
            (vec!["gemini", "--acp"], "after `--`"),
            (vec!["--"], "no agent after"),
            (vec!["exec", "--", "a"], "no prompt"),
            (vec!["exec", " \n", "--", "a"], "empty"),
            (vec!["exec", "x", "--allow", "some"], "all, reads or none"),
            (vec!["exec", "x", "--timeout", "0"], "above 0"),
            (vec!["exec", "x", "--config", "=1"], "ID=VALUE"),
            (vec!["--agent", "x", "--", "y"], "not both"),
            (vec!["--bogus"], "--help"),
            (vec!["exec", "x", "--review", "-"], "--review takes a file"),
            (vec!["exec", "x", "--patch", ""], "--patch takes a file"),
            (vec!["exec", "x", "--patch"], "--patch"),
            (vec!["undo"], "no session"),
            (vec!["undo", "a", "b"], "more than one session"),
            (vec!["undo", ""], "name is empty"),
            (vec!["undo", "a", "--turn", "0"], "from 1"),
            (vec!["undo", "a", "--turn", "first"], "from 1"),
            (vec!["undo", "a", "--force"], "undo: unknown option --force"),
            (vec!["undo", "a", "--", "agent"], "starts no agent"),
            (vec!["redo", "a", "--yes"], "redo: unknown option --yes"),
            (vec!["review", "a", "b"], "more than one session"),
            (vec!["review", "--", "agent"], "starts no agent"),
            (vec!["sessions", "last"], "sessions: unexpected argument last"),
            (vec!["sessions", "--remove"], "--remove"),
            (vec!["sessions", "--prune", "--remove", "all"], "at a time"),
            (vec!["sessions", "--prune", "--json"], "for the list"),
            (vec!["sessions", "--remove", "abc", "--yes"], "--remove all"),
        ] {
            let Err(Usage(words_said)) = parse_words(&words) else { panic!("{words:?} was taken") };
            assert!(words_said.contains(hint), "{words:?}: {words_said}");
        }
    }
}
