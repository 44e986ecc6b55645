//! The options of all commands, each once: the parser, the help of each command and the overview read this table.
//!
//! Knows nothing of what the commands do. Invariant: an option stands once, whatever commands have it, so its place
//! before or after the command does not matter.

mod checking;
mod content;
mod looks;

use super::commands::Name;
use super::usage::Usage;
use super::values::{Format, Without, allow, day, file, format, names, number, pair, role, seconds, text};
use crate::config::schema::Spoken;
use crate::engine::Framing;
use crate::model::session::Allow;
use crate::remote::Header;
use crate::store::search::Role;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// The day that is named belongs to what is looked for.
const DAY: Duration = Duration::from_hours(24);

/// Everything that options can say, before it is known whether it makes sense together.
#[derive(Debug, Default)]
pub struct Typed {
    pub help: bool,
    pub version: bool,
    pub agent: Option<String>,
    /// The agent's name is not the value of `--agent`.
    pub is_bare: bool,
    pub cwd: Option<PathBuf>,
    pub record: Option<PathBuf>,
    pub theme: Option<String>,
    pub plain: bool,
    pub inline: bool,
    pub print_on_exit: bool,
    pub resume: Option<String>,
    /// `--resume` was given; without a name the session is chosen from a list.
    pub resumes: bool,
    pub goes_on: bool,
    pub worktree: Option<String>,
    /// `--worktree` was given, with a name or without.
    pub in_worktree: bool,
    pub with_changes: bool,
    pub fan_out: Option<Vec<String>>,
    pub drop_ignored: bool,
    pub with_transcript: bool,
    pub json: bool,
    pub verify: bool,
    pub press: bool,
    pub limit: Option<u64>,
    pub session: Option<String>,
    pub permission_mode: Option<crate::model::permission_mode::ModeChoice>,
    pub allow: Option<Allow>,
    pub model: Option<String>,
    pub mode: Option<String>,
    pub config: Vec<(String, String)>,
    pub timeout: Option<Duration>,
    pub answers: Option<PathBuf>,
    pub review: Option<PathBuf>,
    pub patch: Option<PathBuf>,
    pub turn: Option<u64>,
    pub dry_run: bool,
    pub yes: bool,
    pub remove: Option<String>,
    pub prune: bool,
    pub all: bool,
    pub regex: bool,
    pub role: Option<Role>,
    pub tool: Option<String>,
    pub file: Option<PathBuf>,
    pub since: Option<Duration>,
    pub until: Option<Duration>,
    pub format: Option<Format>,
    pub redact: bool,
    pub output: Option<PathBuf>,
    pub rules: Option<PathBuf>,
    pub mcp: Vec<PathBuf>,
    pub registry: Option<String>,
    pub attach: Vec<PathBuf>,
    pub no_mcp: Without,
    pub add_dir: Vec<PathBuf>,
    pub sandbox: bool,
    pub spoken: Spoken,
    pub reach: ReachFlags,
    pub script: Option<PathBuf>,
    pub fast: bool,
    pub junit: bool,
    pub filter: Option<String>,
    pub prompts: Vec<String>,
}

/// How messages get to the agent and back; overrules the configuration.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ReachFlags {
    pub framing: Option<Framing>,
    /// The address of an agent.
    pub url: Option<String>,
    pub transport: Option<String>,
    pub headers: Vec<Header>,
}

/// What follows an option, and what it sets.
#[derive(Clone, Copy)]
pub enum Takes {
    Nothing(fn(&mut Typed)),
    /// The value's name in the help.
    Value(&'static str, fn(&mut Typed, OsString) -> Result<(), Usage>),
    /// The same where the value may be left out.
    Optional(&'static str, fn(&mut Typed, Option<OsString>) -> Result<(), Usage>),
}

pub struct Flag {
    pub long: &'static str,
    pub short: Option<char>,
    pub takes: Takes,
    /// The commands that have it, and what it does there.
    pub uses: &'static [Use],
}

pub struct Use {
    /// Empty: all of them.
    pub commands: &'static [Name],
    pub help: &'static str,
}

/// All of them, in the order in which the help has them.
pub fn flags() -> impl Iterator<Item = &'static Flag> {
    FLAGS.iter().chain(looks::LOOKS).chain(content::CONTENT).chain(checking::CHECKING)
}

const FLAGS: &[Flag] = &[
    Flag {
        long: "agent",
        short: None,
        takes: Takes::Value("NAME", |typed, value| {
            typed.agent = Some(text(value)?);
            Ok(())
        }),
        uses: &[
            Use {
                commands: &[Name::Screen, Name::Exec, Name::Login, Name::Logout, Name::Doctor, Name::Check],
                help: "instead of a command after --",
            },
            Use { commands: &[Name::Search], help: "only of agents with this in their name or command" },
            Use { commands: &[Name::Rules], help: "the configured agent that it is about" },
            Use { commands: &[Name::Mcp], help: "what this agent would be given" },
        ],
    },
    Flag {
        long: "cwd",
        short: Some('C'),
        takes: Takes::Value("DIR", |typed, value| {
            typed.cwd = Some(value.into());
            Ok(())
        }),
        uses: &[
            Use { commands: &[Name::Screen, Name::Exec], help: "the session's directory (default: this one)" },
            Use { commands: &[Name::Search], help: "only of sessions in this directory or below it" },
            Use { commands: &[Name::Sessions], help: "of this directory (default: this one)" },
            Use {
                commands: &[Name::Rules],
                help: "of which directory test, list, suggest and remove tell (default: this one)",
            },
            Use { commands: &[Name::Mcp], help: "the project's directory (default: this one)" },
            Use { commands: &[Name::Check], help: "the session's directory (default: a new one, which is removed)" },
        ],
    },
    Flag {
        long: "continue",
        short: None,
        takes: Takes::Nothing(|typed| typed.goes_on = true),
        uses: &[Use { commands: &[Name::Screen, Name::Exec], help: "go on with the newest session of this directory" }],
    },
    Flag {
        long: "resume",
        short: None,
        takes: Takes::Optional("ID", |typed, value| {
            typed.resumes = true;
            typed.resume = value.map(text).transpose()?;
            Ok(())
        }),
        uses: &[Use {
            commands: &[Name::Screen, Name::Exec],
            help: "go on with this session, in its own directory; without ID choose from a list",
        }],
    },
    Flag {
        long: "worktree",
        short: None,
        takes: Takes::Optional("NAME", |typed, value| {
            typed.in_worktree = true;
            typed.worktree = value.map(text).transpose()?;
            Ok(())
        }),
        uses: &[Use {
            commands: &[Name::Screen, Name::Exec],
            help: "begin in a git worktree of its own, on branch acp-tui/NAME; see `worktrees`",
        }],
    },
    Flag {
        long: "with-changes",
        short: None,
        takes: Takes::Nothing(|typed| typed.with_changes = true),
        uses: &[Use {
            commands: &[Name::Screen, Name::Exec],
            help: "take what is not committed along into the worktree, untracked files too",
        }],
    },
    Flag {
        long: "fan-out",
        short: None,
        takes: Takes::Value("AGENT,AGENT", |typed, value| {
            typed.fan_out = Some(names(&text(value)?)?);
            Ok(())
        }),
        uses: &[Use {
            commands: &[Name::Exec],
            help: "to two to five agents at once, each in a worktree; prints what each changed",
        }],
    },
    Flag {
        long: "with-transcript",
        short: None,
        takes: Takes::Nothing(|typed| typed.with_transcript = true),
        uses: &[Use {
            commands: &[Name::Exec],
            help: "where `--resume ID` cannot go on: begin a new session with an account of the old one",
        }],
    },
    Flag {
        long: "record",
        short: None,
        takes: Takes::Value("FILE", |typed, value| {
            typed.record = Some(value.into());
            Ok(())
        }),
        uses: &[Use {
            commands: &[Name::Screen, Name::Exec, Name::Demo],
            help: "write every frame to FILE as JSON lines (mode 0600)",
        }],
    },
    Flag {
        long: "json",
        short: None,
        takes: Takes::Nothing(|typed| typed.json = true),
        uses: &[
            Use { commands: &[Name::Exec], help: "one JSON object a line instead of text" },
            Use {
                commands: &[Name::Sessions, Name::Worktrees, Name::Rules, Name::Doctor, Name::Processes],
                help: "as JSON",
            },
            Use { commands: &[Name::Search], help: "one JSON object a line for each message" },
            Use { commands: &[Name::Blame], help: "one JSON object a line for each line of the file" },
            Use { commands: &[Name::Agents], help: "one JSON object a line for each agent" },
            Use { commands: &[Name::Usage], help: "one JSON object a line for each day and session" },
            Use {
                commands: &[Name::Audit],
                help: "one JSON object a line for each decision; with --verify for each file",
            },
            Use { commands: &[Name::Mcp], help: "one JSON object a line for each server" },
            Use { commands: &[Name::Check], help: "one JSON object with every step and violation" },
            Use { commands: &[Name::Inspect], help: "one JSON object a line, with the message itself" },
        ],
    },
    Flag {
        long: "allow",
        short: None,
        takes: Takes::Value("all|reads|none", |typed, value| {
            typed.allow = Some(allow(&text(value)?)?);
            Ok(())
        }),
        uses: &[
            Use { commands: &[Name::Exec], help: "what is allowed without asking (default: reads)" },
            Use { commands: &[Name::Check], help: "what the agent's questions are answered with (default: reads)" },
        ],
    },
    Flag {
        long: "rules",
        short: None,
        takes: Takes::Value("FILE", |typed, value| {
            typed.rules = Some(value.into());
            Ok(())
        }),
        uses: &[
            Use { commands: &[Name::Exec], help: "what FILE allows, and no more; --allow decides where it is silent" },
            Use { commands: &[Name::Rules], help: "only the rules of FILE (of test)" },
        ],
    },
    Flag {
        long: "model",
        short: None,
        takes: Takes::Value("ID", |typed, value| {
            typed.model = Some(text(value)?);
            Ok(())
        }),
        uses: &[Use { commands: &[Name::Screen, Name::Exec], help: "set this model before the first prompt" }],
    },
    Flag {
        long: "mode",
        short: None,
        takes: Takes::Value("ID", |typed, value| {
            typed.mode = Some(text(value)?);
            Ok(())
        }),
        uses: &[Use { commands: &[Name::Exec], help: "set this mode before the prompt" }],
    },
    Flag {
        long: "config",
        short: None,
        takes: Takes::Value("ID=VALUE", |typed, value| {
            typed.config.push(pair(&text(value)?)?);
            Ok(())
        }),
        uses: &[Use { commands: &[Name::Exec], help: "set this option before the prompt (repeatable)" }],
    },
    Flag {
        long: "timeout",
        short: None,
        takes: Takes::Value("S", |typed, value| {
            typed.timeout = Some(seconds(&text(value)?)?);
            Ok(())
        }),
        uses: &[
            Use { commands: &[Name::Exec], help: "give up after S seconds" },
            Use {
                commands: &[Name::Agents, Name::Doctor],
                help: "how long an agent that is started may take (default: 60)",
            },
            Use { commands: &[Name::Mcp], help: "of check: how long a server may take (default: 20)" },
            Use {
                commands: &[Name::Check],
                help: "no step may take longer (each has a limit of its own, that of a turn is 180)",
            },
        ],
    },
    Flag {
        long: "answers",
        short: None,
        takes: Takes::Value("FILE", |typed, value| {
            typed.answers = Some(value.into());
            Ok(())
        }),
        uses: &[Use {
            commands: &[Name::Exec],
            help: "answer the agent's forms with FILE, a JSON object by field name (default: decline)",
        }],
    },
    Flag {
        long: "review",
        short: None,
        takes: Takes::Value("FILE", |typed, value| {
            typed.review = Some(file("--review", value)?);
            Ok(())
        }),
        uses: &[Use { commands: &[Name::Exec], help: "write what was changed to FILE as JSON, whatever the end" }],
    },
    Flag {
        long: "patch",
        short: None,
        takes: Takes::Value("FILE", |typed, value| {
            typed.patch = Some(file("--patch", value)?);
            Ok(())
        }),
        uses: &[Use { commands: &[Name::Exec], help: "write what was changed to FILE as a patch for git apply" }],
    },
    Flag {
        long: "turn",
        short: None,
        takes: Takes::Value("N", |typed, value| {
            typed.turn = Some(number("--turn", &text(value)?)?);
            Ok(())
        }),
        uses: &[Use { commands: &[Name::Undo], help: "only from before turn N of the session on" }],
    },
    Flag {
        long: "dry-run",
        short: None,
        takes: Takes::Nothing(|typed| typed.dry_run = true),
        uses: &[Use { commands: &[Name::Undo], help: "only say what would happen" }],
    },
    Flag {
        long: "yes",
        short: Some('y'),
        takes: Takes::Nothing(|typed| typed.yes = true),
        uses: &[
            Use { commands: &[Name::Undo, Name::Processes], help: "without a question" },
            Use { commands: &[Name::Redo], help: "as of undo; it asks nothing" },
            Use { commands: &[Name::Sessions], help: "without a question; with --remove also others of the same run" },
            Use { commands: &[Name::Worktrees, Name::Mcp, Name::Rules], help: "of discard and trust: do not ask" },
            Use { commands: &[Name::Agents], help: "of add and remove: do not ask" },
        ],
    },
    Flag {
        long: "all",
        short: None,
        takes: Takes::Nothing(|typed| typed.all = true),
        uses: &[Use { commands: &[Name::Sessions], help: "those of every directory" }],
    },
    Flag {
        long: "regex",
        short: None,
        takes: Takes::Nothing(|typed| typed.regex = true),
        uses: &[Use { commands: &[Name::Search], help: "TEXT is a regular expression" }],
    },
    Flag {
        long: "role",
        short: None,
        takes: Takes::Value("ROLE", |typed, value| {
            typed.role = Some(role(&text(value)?)?);
            Ok(())
        }),
        uses: &[Use { commands: &[Name::Search], help: "only what this one said or did: user, agent, thought, tool" }],
    },
    Flag {
        long: "since",
        short: None,
        takes: Takes::Value("YYYY-MM-DD", |typed, value| {
            typed.since = Some(day("--since", &text(value)?)?);
            Ok(())
        }),
        uses: &[Use { commands: &[Name::Search], help: "only from this day on (UTC)" }],
    },
    Flag {
        long: "until",
        short: None,
        takes: Takes::Value("YYYY-MM-DD", |typed, value| {
            typed.until = Some(day("--until", &text(value)?)?.saturating_add(DAY));
            Ok(())
        }),
        uses: &[Use { commands: &[Name::Search], help: "only up to this day, which belongs to it (UTC)" }],
    },
    Flag {
        long: "tool",
        short: None,
        takes: Takes::Value("NAME", |typed, value| {
            typed.tool = Some(text(value)?);
            Ok(())
        }),
        uses: &[Use {
            commands: &[Name::Search],
            help: "only what was done with this in its word, kind or title: run, read, edit, …",
        }],
    },
    Flag {
        long: "file",
        short: None,
        takes: Takes::Value("PATH", |typed, value| {
            typed.file = Some(value.into());
            Ok(())
        }),
        uses: &[Use { commands: &[Name::Search], help: "only what was done to this file: a path, or the end of one" }],
    },
    Flag {
        long: "format",
        short: None,
        takes: Takes::Value("md|html|json|cast", |typed, value| {
            typed.format = Some(format(&text(value)?)?);
            Ok(())
        }),
        uses: &[Use { commands: &[Name::Export], help: "what it becomes (default: md)" }],
    },
    Flag {
        long: "redact",
        short: None,
        takes: Takes::Nothing(|typed| typed.redact = true),
        uses: &[Use {
            commands: &[Name::Export, Name::Doctor],
            help: "leave out what looks like a secret, and your home directory",
        }],
    },
    Flag {
        long: "output",
        short: Some('o'),
        takes: Takes::Value("FILE", |typed, value| {
            typed.output = Some(file("--output", value)?);
            Ok(())
        }),
        uses: &[Use { commands: &[Name::Export], help: "into this file, which must not be there yet" }],
    },
    Flag {
        long: "remove",
        short: None,
        takes: Takes::Value("SESSION|all", |typed, value| {
            let name = text(value)?;
            typed.remove.replace(name).map_or(Ok(()), |_| Err(one_removal()))
        }),
        uses: &[Use {
            commands: &[Name::Sessions],
            help: "forget a conversation and what is kept for undo, after a question; the files stay",
        }],
    },
    Flag {
        long: "prune",
        short: None,
        takes: Takes::Nothing(|typed| typed.prune = true),
        uses: &[Use {
            commands: &[Name::Sessions],
            help: "remove: for undo 50 sessions, 2 GiB and 30 days are kept, conversations as `keep` says",
        }],
    },
    Flag {
        long: "drop-ignored",
        short: None,
        takes: Takes::Nothing(|typed| typed.drop_ignored = true),
        uses: &[Use { commands: &[Name::Worktrees], help: "of discard: files that git ignores are not kept" }],
    },
    Flag {
        long: "script",
        short: None,
        takes: Takes::Value("FILE", |typed, value| {
            typed.script = Some(value.into());
            Ok(())
        }),
        uses: &[Use { commands: &[Name::DemoAgent], help: "play this scenario" }],
    },
    Flag {
        long: "fast",
        short: None,
        takes: Takes::Nothing(|typed| typed.fast = true),
        uses: &[Use { commands: &[Name::DemoAgent, Name::Replay], help: "without pauses" }],
    },
    Flag {
        long: "help",
        short: Some('h'),
        takes: Takes::Nothing(|typed| typed.help = true),
        uses: &[Use { commands: &[], help: "this text; after a command that command's" }],
    },
    Flag {
        long: "version",
        short: Some('V'),
        takes: Takes::Nothing(|typed| typed.version = true),
        uses: &[Use { commands: &[], help: "the version" }],
    },
];

impl Flag {
    /// What it does at `command`, where that has it.
    pub fn help(&self, command: Name) -> Option<&'static str> {
        let there = self.uses.iter().find(|one| one.commands.is_empty() || one.commands.contains(&command))?;
        Some(there.help)
    }

    pub fn named(long: &str) -> Option<&'static Self> {
        flags().find(|flag| flag.long == long)
    }

    pub fn short(letter: char) -> Option<&'static Self> {
        flags().find(|flag| flag.short == Some(letter))
    }
}

pub fn one_removal() -> Usage {
    Usage("one --remove or --prune at a time".into())
}

#[cfg(test)]
mod tests {
    use super::super::commands::COMMANDS;
    use super::*;

    #[test]
    fn each_option_stands_once_and_does_one_thing_at_a_command() {
        for (at, flag) in flags().enumerate() {
            for other in flags().skip(at + 1) {
                assert_ne!(flag.long, other.long);
                assert!(flag.short.is_none() || flag.short != other.short, "--{}", flag.long);
            }
            for command in COMMANDS {
                let is_there = |one: &&Use| one.commands.is_empty() || one.commands.contains(&command.name);
                assert!(flag.uses.iter().filter(is_there).count() <= 1, "--{} of {}", flag.long, command.word);
            }
        }
    }
}
