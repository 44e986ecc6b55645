//! What was typed, checked for its own sense; nothing is looked up here.

mod agents;
mod check;
mod exec;
mod rules;
mod search;
mod servers;
mod worktrees;

use super::audit::Audit;
use super::commands::{Agent, Name};
use super::flags::{Flag, ReachFlags, Takes, Typed, one_removal};
use super::usage::Usage;
use super::values::{Format, Without, text};
use crate::config::agents::known;
use crate::config::schema::Spoken;
use crate::model::permission_mode::ModeChoice;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

pub use agents::Agents;
pub use check::{Check, Form, Inspect};
pub use exec::Exec;
pub use rules::{Rules, RulesChange, RulesTest};
pub use search::Search;
pub use servers::Mcp;
pub use worktrees::Worktrees;

/// The session that is meant when none is named.
const LAST: &str = crate::review::archive::LAST;
const ALL: &str = crate::review::archive::ALL;

#[derive(Debug, PartialEq, Eq)]
pub enum Command {
    /// The help of a command; of the full screen the overview.
    Help(Name),
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
    Blame(Blame),
    Sessions(Sessions),
    Worktrees(Worktrees),
    /// Whether keys are pressed and told of, instead of all being listed.
    Keys(bool),
    Search(Search),
    Export(Export),
    /// A file that becomes a conversation.
    Import(PathBuf),
    Rules(Rules),
    Mcp(Mcp),
    Agents(Agents),
    /// As JSON lines or as text.
    Usage {
        json: bool,
    },
    Audit(Audit),
    Doctor(Box<Doctor>),
    Check(Box<Check>),
    Inspect(Inspect),
    /// Repairs the terminal.
    Reset,
    Processes {
        json: bool,
        /// Without a question.
        yes: bool,
    },
    Replay {
        file: PathBuf,
        fast: bool,
    },
    Login(Login),
    Logout(Common),
}

#[derive(Debug, PartialEq, Eq)]
pub struct Doctor {
    /// The agent to start, if one is named.
    pub common: Common,
    pub json: bool,
    pub redact: bool,
    pub timeout: Option<Duration>,
}

/// The agent is named, or given by its command.
#[derive(Debug, PartialEq, Eq)]
pub struct Login {
    pub common: Common,
    /// By its id or name.
    pub method: Option<String>,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Export {
    pub session: String,
    pub format: Format,
    pub redact: bool,
    /// Standard output without it.
    pub output: Option<PathBuf>,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Blame {
    /// With the line where one stands behind it.
    pub file: String,
    pub json: bool,
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
        /// Those of every directory.
        all: bool,
        /// Those of this one.
        cwd: Option<PathBuf>,
        json: bool,
        query: Option<String>,
    },
    Remove {
        name: String,
        /// Also those of the same run.
        yes: bool,
    },
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
    /// The agent's name stood alone, where a command stands: it may be a mistyped one.
    pub is_bare: bool,
    pub cwd: Option<PathBuf>,
    pub record: Option<PathBuf>,
    pub theme: Option<String>,
    /// In lines, and not on a screen.
    pub plain: bool,
    /// In the terminal's own scrollback.
    pub inline: bool,
    pub print_on_exit: bool,
    /// A session that is to go on, in place of a new one.
    pub goes_on: Option<SessionChoice>,
    /// It begins in a git worktree of its own.
    pub worktree: Option<InWorktree>,
    /// Files of servers of tools, besides what is configured.
    pub mcp: Vec<PathBuf>,
    pub no_mcp: Without,
    /// Directories besides the session's own.
    pub add_dir: Vec<PathBuf>,
    /// What the agents write is confined.
    pub sandbox: bool,
    /// What the first session begins with.
    pub permission_mode: Option<ModeChoice>,
    /// Overrules the configuration.
    pub spoken: Spoken,
    pub reach: ReachFlags,
    /// Set before the first prompt.
    pub model: Option<String>,
}

impl Common {
    /// Which agent is meant is said.
    pub fn names_agent(&self) -> bool {
        self.agent.is_some() || self.reach.url.is_some() || !self.command.is_empty()
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InWorktree {
    /// A free one is found without.
    pub name: Option<String>,
    /// What is not committed is taken along.
    pub with_changes: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionChoice {
    /// Of this directory.
    Newest,
    /// By its id or a beginning of it.
    Named(String),
    /// By the person, from a list on the screen.
    Chosen,
}

/// Reads the arguments after the program's name.
pub fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Command, Usage> {
    let mut args: Vec<OsString> = args.into_iter().collect();
    let mut agent = match args.iter().position(|a| a == "--") {
        Some(at) => {
            let agent = args.split_off(at + 1);
            args.pop();
            if agent.is_empty() {
                return Err(Usage("no agent after `--`; for example: acp-tui -- gemini --acp".into()));
            }
            agent
        }
        None => Vec::new(),
    };
    let mut items = items(args);
    let (name, bare) = command_of(&mut items)?;
    // What is looked for may look like an option.
    let looked_for = if name == Name::Search { std::mem::take(&mut agent) } else { Vec::new() };
    if !agent.is_empty() {
        may_start(name)?;
    }
    let mut typed = Typed { agent: bare.clone(), is_bare: bare.is_some(), ..Typed::default() };
    let mut words = Words { name, first: None, more: Vec::new() };
    for item in items {
        match item {
            Item::Option(flag, option, value) => {
                if flag.help(name).is_none() {
                    return Err(not_of(name, flag, &option));
                }
                match flag.takes {
                    Takes::Nothing(set) => set(&mut typed),
                    Takes::Optional(_, set) => set(&mut typed, value)?,
                    Takes::Value(_, set) => set(&mut typed, value.unwrap_or_default())?,
                }
            }
            Item::Word(word) => words.take(word)?,
            Item::Unknown(option) => return Err(unexpected(name, &format!("unknown option {option}"))),
            Item::Bad(usage) => return Err(usage),
        }
        if typed.help {
            return Ok(Command::Help(name));
        }
        if typed.version {
            return Ok(Command::Version);
        }
    }
    looked_for.into_iter().try_for_each(|word| words.take(word))?;
    made(words, typed, agent)
}

/// What was typed, in its order, before it is known what it is for.
enum Item {
    /// As it was typed.
    Option(&'static Flag, String, Option<OsString>),
    Word(OsString),
    Unknown(String),
    Bad(Usage),
}

/// Ends with the first that cannot be read: what follows it may be its value.
fn items(args: Vec<OsString>) -> Vec<Item> {
    let mut items = Vec::new();
    let mut parser = lexopt::Parser::from_args(args);
    loop {
        let (flag, typed) = match parser.next() {
            Ok(None) => return items,
            Ok(Some(lexopt::Arg::Value(word))) => {
                items.push(Item::Word(word));
                continue;
            }
            Ok(Some(lexopt::Arg::Long(long))) => (Flag::named(long), format!("--{long}")),
            Ok(Some(lexopt::Arg::Short(letter))) => (Flag::short(letter), format!("-{letter}")),
            Err(error) => {
                items.push(Item::Bad(error.into()));
                return items;
            }
        };
        let item = match flag {
            None => Item::Unknown(typed),
            Some(flag) => match flag.takes {
                Takes::Nothing(_) => Item::Option(flag, typed, None),
                Takes::Optional(..) if !has_value(&mut parser) => Item::Option(flag, typed, None),
                Takes::Value(..) | Takes::Optional(..) => match parser.value() {
                    Ok(value) => Item::Option(flag, typed, Some(value)),
                    Err(error) => Item::Bad(error.into()),
                },
            },
        };
        let is_last = matches!(item, Item::Unknown(_) | Item::Bad(_));
        items.push(item);
        if is_last {
            return items;
        }
    }
}

/// Whether a value follows: what begins with `-` is another option.
fn has_value(parser: &mut lexopt::Parser) -> bool {
    match parser.try_raw_args() {
        // It stands behind a `=`.
        None => true,
        Some(raw) => raw.peek().is_some_and(|next| !next.to_string_lossy().starts_with('-')),
    }
}

/// The first word that is no option's value is the command, or else the agent of that name, which may not be there.
/// `help COMMAND` is `COMMAND --help`.
fn command_of(items: &mut Vec<Item>) -> Result<(Name, Option<String>), Usage> {
    let Some(at) = items.iter().position(|item| matches!(item, Item::Word(_))) else { return Ok((Name::Screen, None)) };
    let Item::Word(word) = items.remove(at) else { return Ok((Name::Screen, None)) };
    let word = word.to_string_lossy().into_owned();
    if word == "help" {
        let (name, bare) = command_of(items)?;
        if let Some(word) = bare.filter(|word| known().iter().all(|agent| agent.id != *word)) {
            return Err(no_command(&word));
        }
        items.splice(0..0, Flag::named("help").map(|flag| Item::Option(flag, "help".into(), None)));
        return Ok((name, None));
    }
    if let Some(name) = Name::of(&word) {
        return Ok((name, None));
    }
    // What is beside it may be meant for a command, or for the agent: options of its own belong behind `--`.
    let is_of_screen = |item: &Item| match item {
        Item::Option(flag, ..) => flag.long != "agent" && flag.help(Name::Screen).is_some(),
        Item::Word(_) | Item::Unknown(_) | Item::Bad(_) => false,
    };
    if items.iter().all(is_of_screen) { Ok((Name::Screen, Some(word))) } else { Err(no_command(&word)) }
}

/// A known agent is started by its name: alone, its command may lack the words that it needs.
pub(super) fn no_command(word: &str) -> Usage {
    let known = known();
    let of_command = || known.iter().filter(|agent| agent.command == word);
    let one = || of_command().next().filter(|_| of_command().count() == 1);
    Usage(match known.iter().find(|agent| agent.id == word).or_else(one) {
        Some(agent) => {
            let id = &agent.id;
            format!("there is no command `{word}`; the agent of that name is started by `acp-tui --agent {id}`")
        }
        None => format!(
            "there is no command `{word}`, nor an agent of that name; one is started by its command after `--`: acp-tui -- {word} …"
        ),
    })
}

/// Whether a command for an agent may stand after `--`.
fn may_start(name: Name) -> Result<(), Usage> {
    match name.agent() {
        Agent::Named => Ok(()),
        Agent::BuiltIn => Err(own_agent(name)),
        Agent::None => Err(Usage(format!("`{}` starts no agent; leave out `--` and what follows", name.word()))),
    }
}

fn own_agent(name: Name) -> Usage {
    Usage(format!("`{}` brings its own agent", name.word()))
}

/// An option of another command.
fn not_of(name: Name, flag: &Flag, typed: &str) -> Usage {
    match (name, flag.long) {
        (Name::Demo, "agent") => own_agent(name),
        (Name::Demo, "cwd") => Usage("`demo` has a directory of its own".into()),
        _ => unexpected(name, &format!("unknown option {typed}")),
    }
}

fn unexpected(name: Name, what: &str) -> Usage {
    // The option may well be one of another command.
    let of = if name.agent() == Agent::None { format!("{}: ", name.word()) } else { String::new() };
    Usage(format!("{of}{what}; `acp-tui --help` lists the options"))
}

/// The words that are no options: a prompt, a session, what `rules` is to do, or an agent and a method.
struct Words {
    name: Name,
    first: Option<String>,
    /// Of `rules`, `mcp`, `agents`, `worktrees`, `login` and `logout`.
    more: Vec<String>,
}

impl Words {
    fn take(&mut self, word: OsString) -> Result<(), Usage> {
        let more = match self.name {
            Name::Rules | Name::Mcp | Name::Agents | Name::Worktrees | Name::Login | Name::Logout => {
                self.more.push(text(word)?);
                return Ok(());
            }
            Name::Exec => "more than one prompt; put it in quotes",
            Name::Review | Name::Undo | Name::Redo | Name::Export => "more than one session",
            Name::Sessions | Name::Search => "more than one thing to look for; put it in quotes",
            Name::Import | Name::Blame | Name::Replay | Name::Inspect => "more than one file",
            Name::Screen
            | Name::Keys
            | Name::Usage
            | Name::Audit
            | Name::Doctor
            | Name::Check
            | Name::Reset
            | Name::Processes
            | Name::Demo
            | Name::DemoAgent => {
                return Err(unexpected(self.name, &format!("unexpected argument {}", word.to_string_lossy())));
            }
        };
        let word = text(word)?;
        let is_text = matches!(self.name, Name::Exec | Name::Sessions | Name::Search);
        if !is_text && word.trim().is_empty() {
            let what = if matches!(self.name, Name::Import | Name::Blame | Name::Replay | Name::Inspect) {
                "file"
            } else {
                "session"
            };
            return Err(Usage(format!("the {what}'s name is empty")));
        }
        match self.first.replace(word) {
            None => Ok(()),
            Some(_) => Err(Usage(more.into())),
        }
    }
}

fn made(words: Words, typed: Typed, agent: Vec<OsString>) -> Result<Command, Usage> {
    if typed.agent.is_some() && !agent.is_empty() {
        return Err(Usage("give either --agent NAME or a command after `--`, not both".into()));
    }
    if typed.reach.url.is_some() && (typed.agent.is_some() || !agent.is_empty()) {
        return Err(Usage("give an agent by --url or by its name or command, not both".into()));
    }
    let session = |first: Option<String>| first.unwrap_or_else(|| LAST.to_owned());
    Ok(match words.name {
        Name::Screen => Command::Screen(common(typed, agent)?),
        Name::Demo => Command::Demo(common(typed, agent)?),
        Name::DemoAgent => Command::DemoAgent { script: typed.script, fast: typed.fast },
        Name::Exec => Command::Exec(Box::new(exec::exec(words.first, typed, agent)?)),
        Name::Review => Command::Review(session(words.first)),
        Name::Redo => Command::Redo(session(words.first)),
        Name::Blame => {
            let file = words.first.ok_or_else(|| Usage("no file; for example: acp-tui blame src/main.rs:12".into()))?;
            Command::Blame(Blame { file, json: typed.json })
        }
        Name::Undo => {
            let missing = || Usage("no session; `last` is the newest, `acp-tui sessions` lists them".into());
            let session = words.first.ok_or_else(missing)?;
            Command::Undo(Undo { session, turn: typed.turn, dry_run: typed.dry_run, yes: typed.yes })
        }
        Name::Sessions => Command::Sessions(sessions(words.first, typed)?),
        Name::Search => Command::Search(search::search(words.first, typed)?),
        Name::Export => {
            let missing = || Usage("no session; `last` is the newest, `acp-tui sessions` lists them".into());
            let session = words.first.ok_or_else(missing)?;
            let (format, output) = (typed.format.unwrap_or_default(), typed.output);
            Command::Export(Export { session, format, redact: typed.redact, output })
        }
        Name::Import => {
            let missing = || Usage("no file; one of `acp-tui export --format json` or of `--record`".into());
            Command::Import(words.first.ok_or_else(missing)?.into())
        }
        Name::Worktrees => Command::Worktrees(worktrees::worktrees(words.more, &typed)?),
        Name::Keys => Command::Keys(typed.press),
        Name::Usage => Command::Usage { json: typed.json },
        Name::Audit => Command::Audit(audit(typed)?),
        Name::Doctor => {
            let (json, redact, timeout) = (typed.json, typed.redact, typed.timeout);
            Command::Doctor(Box::new(Doctor { common: common(typed, agent)?, json, redact, timeout }))
        }
        Name::Check => Command::Check(Box::new(check::check(typed, agent)?)),
        Name::Inspect => Command::Inspect(check::inspect(words.first, typed)?),
        Name::Reset => Command::Reset,
        Name::Processes => Command::Processes { json: typed.json, yes: typed.yes },
        Name::Replay => {
            let missing = || Usage("no file; one that `--record FILE` has written, or a journal".into());
            Command::Replay { file: words.first.ok_or_else(missing)?.into(), fast: typed.fast }
        }
        Name::Rules => Command::Rules(rules::rules(words.more, typed)?),
        Name::Mcp => Command::Mcp(servers::mcp(words.more, typed)?),
        Name::Agents => Command::Agents(agents::agents(words.more, typed, agent)?),
        Name::Login => Command::Login(login(words.more, typed, agent)?),
        Name::Logout => {
            let Login { common, method } = login(words.more, typed, agent)?;
            match method {
                Some(word) => return Err(unexpected(Name::Logout, &format!("unexpected argument {word}"))),
                None => Command::Logout(common),
            }
        }
    })
}

fn common(typed: Typed, command: Vec<OsString>) -> Result<Common, Usage> {
    let goes_on = match (typed.resume, typed.goes_on) {
        _ if typed.resumes && typed.goes_on => {
            return Err(Usage("give either --resume ID or --continue, not both".into()));
        }
        (Some(name), _) if name.trim().is_empty() => return Err(Usage("the session's name is empty".into())),
        (Some(name), _) => Some(SessionChoice::Named(name)),
        (None, _) if typed.resumes => Some(SessionChoice::Chosen),
        (None, true) => Some(SessionChoice::Newest),
        (None, false) => None,
    };
    let worktree = match typed.in_worktree {
        true if goes_on.is_some() => {
            return Err(Usage("a session goes on in its own directory; leave out --worktree".into()));
        }
        true => Some(InWorktree { name: typed.worktree, with_changes: typed.with_changes }),
        false if typed.with_changes => return Err(Usage("--with-changes is for --worktree".into())),
        false => None,
    };
    let Typed { agent, is_bare, cwd, record, theme, plain, inline, print_on_exit, mcp, .. } = typed;
    let Typed { no_mcp, add_dir, sandbox, spoken, reach, model, .. } = typed;
    let permission_mode = typed.permission_mode;
    Ok(Common {
        command,
        agent,
        is_bare,
        cwd,
        record,
        theme,
        plain,
        inline,
        print_on_exit,
        goes_on,
        worktree,
        mcp,
        no_mcp,
        add_dir,
        sandbox,
        permission_mode,
        spoken,
        reach,
        model,
    })
}

fn audit(typed: Typed) -> Result<Audit, Usage> {
    let Typed { verify, json, limit, session, .. } = typed;
    if verify && (limit.is_some() || session.is_some()) {
        return Err(Usage("--verify looks at the whole log; leave out --limit and --session".into()));
    }
    Ok(Audit { verify, json, limit, session })
}

fn sessions(query: Option<String>, typed: Typed) -> Result<Sessions, Usage> {
    let what = match typed.remove {
        Some(_) if typed.prune => return Err(one_removal()),
        Some(name) if name == ALL => Some(Sessions::RemoveAll { yes: typed.yes }),
        Some(name) => Some(Sessions::Remove { name, yes: typed.yes }),
        None => typed.prune.then_some(Sessions::Prune),
    };
    match what {
        Some(_) if typed.json => Err(Usage("--json is for the list alone".into())),
        Some(_) if typed.all => Err(Usage("--all is for the list; `--remove all` removes every one".into())),
        Some(_) if typed.cwd.is_some() => Err(Usage("--cwd (-C) is for the list alone".into())),
        None if typed.cwd.is_some() && typed.all => {
            Err(Usage("--all is of every directory; leave out it or --cwd (-C)".into()))
        }
        Some(_) if query.is_some() => Err(Usage("a query is for the list alone".into())),
        Some(Sessions::Prune) | None if typed.yes => Err(Usage("--yes is for --remove".into())),
        Some(what) => Ok(what),
        None => Ok(Sessions::List { all: typed.all, cwd: typed.cwd, json: typed.json, query }),
    }
}

/// The agent comes first, unless its command stands behind `--`; the method follows.
fn login(words: Vec<String>, typed: Typed, agent: Vec<OsString>) -> Result<Login, Usage> {
    let mut words = words.into_iter();
    let mut common = common(typed, agent)?;
    if common.command.is_empty() && common.agent.is_none() {
        let missing = || Usage("which agent? its name, or its command after `--`".into());
        common.agent = Some(words.next().ok_or_else(missing)?);
    }
    let login = Login { common, method: words.next() };
    let unexpected = |word| Err(Usage(format!("unexpected argument {word}; a method with blanks is put in quotes")));
    words.next().map_or(Ok(login), unexpected)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::session::Allow;
    use crate::store::search::Role;

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
    fn resume_without_a_name_is_a_choice_from_a_list() {
        let earlier = |words: &[&str]| match parse_words(words) {
            Ok(Command::Screen(common)) => Ok(common.goes_on),
            Ok(other) => panic!("{other:?}"),
            Err(usage) => Err(usage.0),
        };
        let named = Ok(Some(SessionChoice::Named("abc".into())));
        assert_eq!(earlier(&["--resume"]), Ok(Some(SessionChoice::Chosen)));
        assert_eq!(earlier(&["--resume", "--theme", "dark"]), Ok(Some(SessionChoice::Chosen)));
        assert_eq!(earlier(&["--resume", "--", "gemini"]), Ok(Some(SessionChoice::Chosen)));
        assert_eq!(earlier(&["--resume", "abc"]), named);
        assert_eq!(earlier(&["--resume=abc"]), named);
        assert!(earlier(&["--resume", ""]).is_err_and(|why| why.contains("empty")));
        assert!(earlier(&["--resume="]).is_err_and(|why| why.contains("empty")));
        assert!(parse_words(&["exec", "x", "--resume"]).is_err_and(|usage| usage.0.contains("which session")));
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

    fn undo_of(turn: Option<u64>, dry_run: bool, yes: bool) -> Command {
        Command::Undo(Undo { session: "abc".into(), turn, dry_run, yes })
    }

    fn list_of(all: bool, json: bool, query: Option<&str>) -> Command {
        Command::Sessions(Sessions::List { all, cwd: None, json, query: query.map(str::to_owned) })
    }

    #[test]
    fn lists_of_a_directory_take_another_one() {
        let cwd = || Some(PathBuf::from("d"));
        for (words, wanted) in [
            (["sessions", "-C"], Command::Sessions(Sessions::List { all: false, cwd: cwd(), json: true, query: None })),
            (["rules list", "-C"], Command::Rules(Rules::List { cwd: cwd(), json: true })),
            (["rules suggest", "--cwd"], Command::Rules(Rules::Suggest { cwd: cwd(), json: true })),
        ] {
            let words: Vec<&str> = words.iter().flat_map(|word| word.split(' ')).chain(["d", "--json"]).collect();
            assert_eq!(parse_words(&words), Ok(wanted));
        }
    }

    #[test]
    fn search_takes_what_looks_like_an_option_behind_two_dashes() {
        let Ok(Command::Search(search)) = parse_words(&["search", "--regex", "--", "--json"]) else { panic!() };
        assert_eq!((search.text.as_str(), search.is_regex, search.json), ("--json", true, false));
        assert!(parse_words(&["search", "one", "--", "two"]).is_err());
    }

    #[test]
    fn search_takes_its_filters() {
        let words = [
            "search",
            "a text",
            "--regex",
            "--json",
            "--agent",
            "x",
            "-C",
            "/d",
            "--role",
            "tool",
            "--since",
            "2026-01-02",
            "--until",
            "2026-01-02",
            "--tool",
            "edit",
            "--file",
            "src/lib.rs",
        ];
        let Ok(Command::Search(search)) = parse_words(&words) else { panic!() };
        let want = Search {
            text: "a text".into(),
            is_regex: true,
            json: true,
            agent: Some("x".into()),
            cwd: Some("/d".into()),
            role: Some(Role::Tool),
            tool: Some("edit".into()),
            file: Some("src/lib.rs".into()),
            since: Some(Duration::from_hours(490_920)),
            // The day belongs to it.
            until: Some(Duration::from_hours(490_944)),
        };
        assert_eq!(search, want);
    }

    #[test]
    fn export_takes_a_session_a_format_and_a_file() {
        let export = |words: &[&str]| match parse_words(words) {
            Ok(Command::Export(export)) => export,
            other => panic!("{other:?}"),
        };
        let all = export(&["export", "abc", "--format", "html", "--redact", "-o", "f.html"]);
        let output = Some("f.html".into());
        assert_eq!(all, Export { session: "abc".into(), format: Format::Html, redact: true, output });
        let plain = Export { session: "abc".into(), format: Format::Markdown, redact: false, output: None };
        assert_eq!(export(&["export", "abc"]), plain);
        assert_eq!(parse_words(&["import", "f"]), Ok(Command::Import("f".into())));
    }

    mod the_commands_of_the_review {
        use super::*;

        fn check(words: &[&str], wanted: Command) {
            assert_eq!(parse_words(words), Ok(wanted));
        }

        cases! {
            check {
                review_of_the_last: &["review"], Command::Review("last".into());
                review_of_one: &["review", "abc"], Command::Review("abc".into());
                redo_of_the_last: &["redo"], Command::Redo("last".into());
                redo_of_one: &["redo", "abc"], Command::Redo("abc".into());
                redo_with_yes: &["redo", "abc", "--yes"], Command::Redo("abc".into());
                undo: &["undo", "abc"], undo_of(None, false, false);
                undo_from_a_turn_dry: &["undo", "--turn", "2", "abc", "--dry-run"], undo_of(Some(2), true, false);
                undo_from_the_largest_turn:
                    &["undo", "--turn=18446744073709551615", "-y", "abc"], undo_of(Some(u64::MAX), false, true);
                blame: &["blame", "a:3"], Command::Blame(Blame { file: "a:3".into(), json: false });
                blame_as_json: &["blame", "--json", "a"], Command::Blame(Blame { file: "a".into(), json: true });
                keys: &["keys"], Command::Keys(false);
                keys_pressed: &["keys", "--press"], Command::Keys(true);
                worktrees: &["worktrees", "--json"], Command::Worktrees(Worktrees::List { json: true });
                a_worktree_is_merged: &["worktrees", "merge", "a"], Command::Worktrees(Worktrees::Merge("a".into()));
                a_worktree_is_discarded:
                    &["worktrees", "discard", "a", "-y"],
                    Command::Worktrees(Worktrees::Discard { name: "a".into(), yes: true, drop_ignored: false });
                sessions: &["sessions"], list_of(false, false, None);
                sessions_as_json: &["sessions", "--json"], list_of(false, true, None);
                sessions_of_all_directories: &["--all", "sessions", "the word"], list_of(true, false, Some("the word"));
                a_session_is_removed:
                    &["sessions", "--remove", "abc"],
                    Command::Sessions(Sessions::Remove { name: "abc".into(), yes: false });
                a_session_is_removed_with_its_run:
                    &["sessions", "--remove", "abc", "-y"],
                    Command::Sessions(Sessions::Remove { name: "abc".into(), yes: true });
                all_are_removed: &["sessions", "--remove=all"], Command::Sessions(Sessions::RemoveAll { yes: false });
                all_are_removed_unasked:
                    &["sessions", "-y", "--remove", "all"], Command::Sessions(Sessions::RemoveAll { yes: true });
                sessions_are_pruned: &["sessions", "--prune"], Command::Sessions(Sessions::Prune);
            }
        }
    }

    #[test]
    fn exec_takes_the_files_of_the_review() {
        let Ok(Command::Exec(exec)) = parse_words(&["exec", "--patch", "p", "x", "--review=r.json", "--", "a"]) else {
            panic!()
        };
        assert_eq!((exec.review, exec.patch), (Some("r.json".into()), Some("p".into())));
    }

    mod the_place_of_an_option_before_or_after_the_command_does_not_matter {
        use super::*;

        fn check(before: &str, after: &str) {
            let words = |line: &str| parse_words(&line.split(' ').collect::<Vec<_>>());
            assert_eq!(words(before), words(after));
            assert!(words(before).is_ok(), "{:?}", words(before));
        }

        cases! {
            check {
                cwd: "--cwd X exec hi -- a", "exec hi --cwd X -- a";
                several: "-CX --json exec --allow all hi -- a", "exec hi -C X --allow=all --json -- a";
                theme: "--theme dark demo", "demo --theme dark";
                yes: "-y undo abc --dry-run", "undo abc -y --dry-run";
                json: "--json sessions", "sessions --json";
                fast: "--fast demo-agent --script s", "demo-agent --script s --fast";
                help: "--help undo", "undo --help";
                help_as_a_word: "help undo", "undo --help";
            }
        }
    }

    mod help_is_that_of_the_command {
        use super::*;

        fn check(words: &[&str], name: Name) {
            assert_eq!(parse_words(words), Ok(Command::Help(name)));
        }

        cases! {
            check {
                of_none: &["--help"], Name::Screen;
                of_none_as_a_word: &["help"], Name::Screen;
                before_the_command: &["-h", "exec"], Name::Exec;
                before_what_is_wrong: &["exec", "--help", "--bogus"], Name::Exec;
                behind_an_option: &["undo", "--dry-run", "--help"], Name::Undo;
                by_its_letter: &["undo", "-h"], Name::Undo;
                of_sessions: &["sessions", "--help"], Name::Sessions;
                of_a_command_by_name: &["help", "demo-agent"], Name::DemoAgent;
            }
        }
    }

    #[test]
    fn a_known_agents_name_is_enough() {
        let of = |words: &[&str]| match parse_words(words) {
            Ok(Command::Screen(common)) if common.is_bare => (common.agent, common.inline),
            other => panic!("{words:?}: {other:?}"),
        };
        assert_eq!(of(&["gemini"]), (Some("gemini".into()), false));
        assert_eq!(of(&["--inline", "codex"]), (Some("codex".into()), true));
        // One of the configuration may have any name.
        assert_eq!(of(&["mine", "--inline"]), (Some("mine".into()), true));
        assert_eq!(parse_words(&["help", "gemini"]), Ok(Command::Help(Name::Screen)));
        // Neither another agent's command nor a prompt is guessed from what stands beside it.
        for words in [&["gemini", "--", "other"][..], &["gemini", "fix it"], &["gemini", "exec"]] {
            assert!(parse_words(words).is_err(), "{words:?}");
        }
    }

    mod bad_input_says_what_to_do {
        use super::*;

        fn check(words: &[&str], hint: &str) {
            let Err(Usage(said)) = parse_words(words) else { panic!("{words:?} was taken") };
            assert!(said.contains(hint), "{said}");
        }

        cases! {
            check {
                agent_without_dashes: &["my-agent", "--acp"], "after `--`: acp-tui -- my-agent";
                known_agent_with_options: &["gemini", "--acp"], "`acp-tui --agent gemini`";
                dashes_without_an_agent: &["--"], "no agent after";
                exec_without_a_prompt: &["exec", "--", "a"], "no prompt";
                empty_prompt: &["exec", " \n", "--", "a"], "empty";
                allow_of_another_word: &["exec", "x", "--allow", "some"], "all, reads or none";
                timeout_of_nothing: &["exec", "x", "--timeout", "0"], "above 0";
                config_without_an_id: &["exec", "x", "--config", "=1"], "ID=VALUE";
                agent_twice: &["--agent", "x", "--", "y"], "not both";
                unknown_option: &["--bogus"], "--help";
                unknown_option_before_a_command: &["--bogus", "exec", "x"], "unknown option --bogus";
                option_of_the_screen_before_exec: &["--theme", "dark", "exec", "x", "--", "a"], "unknown option --theme";
                option_of_no_command_here: &["--json"], "unknown option --json";
                help_on_no_command: &["help", "me"], "there is no command `me`";
                demo_with_an_agent: &["demo", "--", "agent"], "brings its own agent";
                demo_with_a_named_agent: &["demo", "--agent", "x"], "brings its own agent";
                demo_agent_with_an_agent: &["demo-agent", "--", "agent"], "starts no agent";
                demo_with_a_directory: &["demo", "--cwd", "x"], "a directory of its own";
                turn_0_before_the_command: &["--turn", "0", "undo", "a"], "from 1";
                two_prompts: &["exec", "x", "y", "--", "a"], "more than one prompt";
                review_into_stdout: &["exec", "x", "--review", "-"], "--review takes a file";
                patch_without_a_name: &["exec", "x", "--patch", ""], "--patch takes a file";
                patch_without_a_value: &["exec", "x", "--patch"], "--patch";
                undo_without_a_session: &["undo"], "no session";
                undo_of_two: &["undo", "a", "b"], "more than one session";
                undo_of_an_empty_name: &["undo", ""], "name is empty";
                undo_from_turn_0: &["undo", "a", "--turn", "0"], "from 1";
                undo_from_a_word: &["undo", "a", "--turn", "first"], "from 1";
                undo_with_a_directory: &["undo", "a", "-C", "x"], "undo: unknown option -C";
                all_sessions_of_a_directory: &["sessions", "--all", "-C", "x"], "--cwd (-C)";
                no_session_of_a_directory: &["sessions", "--remove", "a", "--cwd", "x"], "is for the list alone";
                rule_for_a_directory: &["rules", "add", "deny", "Edit", "-C", "x"], "--cwd (-C) is not for `rules add`";
                undo_by_force: &["undo", "a", "--force"], "undo: unknown option --force";
                undo_with_an_agent: &["undo", "a", "--", "agent"], "starts no agent";
                review_of_two: &["review", "a", "b"], "more than one session";
                review_with_an_agent: &["review", "--", "agent"], "starts no agent";
                sessions_with_two_words: &["sessions", "a", "b"], "put it in quotes";
                a_query_with_remove: &["sessions", "a", "--remove", "b"], "for the list alone";
                all_with_prune: &["sessions", "--all", "--prune"], "for the list";
                search_of_nothing: &["search", ""], "nothing to look for";
                search_of_an_unknown_role: &["search", "x", "--role", "me"], "user, agent, thought or tool";
                search_since_a_word: &["search", "x", "--since", "friday"], "YYYY-MM-DD";
                search_until_a_word: &["search", "x", "--until", "friday"], "--until takes a day";
                export_of_nothing: &["export"], "no session";
                merge_of_nothing: &["worktrees", "merge"], "which one?";
                another_word_of_worktrees: &["worktrees", "list"], "merge NAME, discard NAME";
                merge_with_yes: &["worktrees", "merge", "a", "--yes"], "worktrees discard";
                fan_out_to_one: &["exec", "x", "--fan-out", "a"], "two to 5 agents";
                fan_out_to_nobody: &["exec", "x", "--fan-out", "a,,b"], "names of agents";
                fan_out_with_an_agent: &["exec", "x", "--fan-out", "a,b", "--", "c"], "leave out a command";
                fan_out_into_one_file: &["exec", "x", "--fan-out", "a,b", "--patch", "p"], "leave out --patch";
                changes_without_a_worktree: &["exec", "x", "--with-changes"], "--worktree";
                a_worktree_for_an_earlier_session: &["--worktree", "a", "--continue"], "leave out --worktree";
                export_as_another_word: &["export", "x", "--format", "pdf"], "md, html, json or cast";
                import_of_nothing: &["import"], "no file";
                blame_of_nothing: &["blame"], "no file";
                blame_of_two: &["blame", "a", "b"], "more than one file";
                blame_of_an_empty_name: &["blame", ""], "the file's name is empty";
                remove_without_a_session: &["sessions", "--remove"], "--remove";
                prune_and_remove: &["sessions", "--prune", "--remove", "all"], "at a time";
                remove_and_prune: &["sessions", "--remove", "all", "--prune"], "at a time";
                two_removals: &["sessions", "--remove", "a", "--remove", "b"], "at a time";
                prune_as_json: &["sessions", "--prune", "--json"], "for the list";
                yes_for_the_list: &["sessions", "--yes"], "--remove";
            }
        }
    }
}
