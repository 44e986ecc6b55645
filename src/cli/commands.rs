//! The commands, each once: the parser, the help of each command and the overview read this table.
//!
//! Knows nothing of what the commands do, nor of their options. Invariant: a command has one row and one word.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Name {
    /// The full screen, which has no word of its own.
    Screen,
    Exec,
    Review,
    Undo,
    Redo,
    Blame,
    Sessions,
    Worktrees,
    Search,
    Export,
    Import,
    Rules,
    Mcp,
    Agents,
    Usage,
    Audit,
    Keys,
    Doctor,
    Check,
    Inspect,
    Reset,
    Processes,
    Login,
    Logout,
    Demo,
    DemoAgent,
    Replay,
}

/// Which agent a command starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agent {
    /// The one that is named, or stands after `--`.
    Named,
    BuiltIn,
    None,
}

#[derive(Debug)]
pub struct CommandRow {
    pub name: Name,
    pub word: &'static str,
    pub agent: Agent,
    /// How it is typed, and what that does in one line.
    pub usage: &'static [(&'static str, &'static str)],
    /// What else its help says.
    pub notes: &'static [Note],
}

/// A paragraph that the help of several commands shares and the overview has once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    Session,
    ExitCodes,
    Rules,
    Mcp,
    Agents,
    Audit,
    Doctor,
    Check,
    Replay,
}

pub const COMMANDS: &[CommandRow] = &[
    CommandRow {
        name: Name::Screen,
        word: "",
        agent: Agent::Named,
        usage: &[
            ("", "pick one of the agents found here, or the demo"),
            ("-- AGENT [ARGS…]", "full screen with this agent, e.g. acp-tui -- gemini --acp"),
            ("--agent NAME", "full screen with a known or configured agent"),
        ],
        notes: &[],
    },
    CommandRow {
        name: Name::Exec,
        word: "exec",
        agent: Agent::Named,
        usage: &[("exec \"PROMPT\" -- AGENT…", "one prompt without a screen; PROMPT - reads standard input")],
        notes: &[Note::ExitCodes],
    },
    CommandRow {
        name: Name::Review,
        word: "review",
        agent: Agent::None,
        usage: &[("review [SESSION]", "look at what a session changed, and decide")],
        notes: &[Note::Session],
    },
    CommandRow {
        name: Name::Undo,
        word: "undo",
        agent: Agent::None,
        usage: &[("undo SESSION", "take a session's changes back")],
        notes: &[Note::Session],
    },
    CommandRow {
        name: Name::Redo,
        word: "redo",
        agent: Agent::None,
        usage: &[("redo [SESSION]", "take the last undo back")],
        notes: &[Note::Session],
    },
    CommandRow {
        name: Name::Blame,
        word: "blame",
        agent: Agent::None,
        usage: &[("blame FILE[:LINE]", "the session, turn and prompt that each line of a file came from")],
        notes: &[],
    },
    CommandRow {
        name: Name::Sessions,
        word: "sessions",
        agent: Agent::None,
        usage: &[("sessions [QUERY]", "the conversations of this directory, and what each changed")],
        notes: &[Note::Session],
    },
    CommandRow {
        name: Name::Worktrees,
        word: "worktrees",
        agent: Agent::None,
        usage: &[
            ("worktrees", "the git worktrees that sessions were begun in with --worktree"),
            ("worktrees merge NAME", "put its changes into the files that it came from"),
            ("worktrees discard NAME", "remove it; a recovery ref keeps all that is in it"),
        ],
        notes: &[],
    },
    CommandRow {
        name: Name::Search,
        word: "search",
        agent: Agent::None,
        usage: &[("search TEXT", "look through what was said and done in all conversations")],
        notes: &[],
    },
    CommandRow {
        name: Name::Export,
        word: "export",
        agent: Agent::None,
        usage: &[("export SESSION", "a conversation as Markdown, HTML, JSON or a terminal recording")],
        notes: &[Note::Session],
    },
    CommandRow {
        name: Name::Import,
        word: "import",
        agent: Agent::None,
        usage: &[("import FILE", "take in what `export --format json` or `--record` has written")],
        notes: &[],
    },
    CommandRow {
        name: Name::Rules,
        word: "rules",
        agent: Agent::None,
        usage: &[
            ("rules test TOOL TEXT", "what the rules say, e.g. acp-tui rules test Bash \"git status\""),
            ("rules list", "the rules that there are"),
            ("rules suggest", "rules that would have answered what you answered by hand in this directory"),
            ("rules add|remove LIST PATTERN", "change your own; LIST is allow, ask or deny"),
            ("rules trust [FILE]", "show a project's .acp-tui/rules.toml, and let it allow until it changes"),
        ],
        notes: &[Note::Rules],
    },
    CommandRow {
        name: Name::Mcp,
        word: "mcp",
        agent: Agent::None,
        usage: &[
            ("mcp list", "the MCP servers that agents are given here, and those that are left out"),
            ("mcp check [NAME]", "start them and list their tools"),
            ("mcp trust [FILE]", "show what a project's .mcp.json would run, and use it until it changes"),
        ],
        notes: &[Note::Mcp],
    },
    CommandRow {
        name: Name::Agents,
        word: "agents",
        agent: Agent::Named,
        usage: &[
            ("agents list", "the agents that are set up or known here, and those of a registry"),
            ("agents add NAME", "show what a registry's agent would run here, and set it up; again for an update"),
            ("agents check NAME", "start an agent and tell what it can; a command may stand after --"),
            ("agents remove NAME", "remove one that was added"),
        ],
        notes: &[Note::Agents],
    },
    CommandRow {
        name: Name::Usage,
        word: "usage",
        agent: Agent::None,
        usage: &[("usage", "what agents have told of cost, tokens and context, by day, agent and session")],
        notes: &[],
    },
    CommandRow {
        name: Name::Audit,
        word: "audit",
        agent: Agent::None,
        usage: &[
            ("audit", "every decision: what was asked, and who or which rule allowed or refused it"),
            ("audit --limit 20 --session ID", "the newest ones of a session"),
            ("audit --verify", "whether a line of that log was changed, removed or cut off"),
        ],
        notes: &[Note::Audit],
    },
    CommandRow {
        name: Name::Keys,
        word: "keys",
        agent: Agent::None,
        usage: &[
            ("keys", "every key as it is bound now, in the form of keys.toml"),
            ("keys --press", "what the terminal sends for a key that you press, and what it does"),
        ],
        notes: &[],
    },
    CommandRow {
        name: Name::Doctor,
        word: "doctor",
        agent: Agent::Named,
        usage: &[
            ("doctor", "what is wrong here: terminal, directories, configuration, rules, agents"),
            ("doctor -- AGENT…", "the same, and start this agent: why it does not start"),
        ],
        notes: &[Note::Doctor],
    },
    CommandRow {
        name: Name::Check,
        word: "check",
        agent: Agent::Named,
        usage: &[("check -- AGENT…", "what this agent does against the protocol, by the number of each requirement")],
        notes: &[Note::Check],
    },
    CommandRow {
        name: Name::Inspect,
        word: "inspect",
        agent: Agent::None,
        usage: &[("inspect FILE", "every message of a recording or a journal: pairs, times, violations")],
        notes: &[],
    },
    CommandRow {
        name: Name::Reset,
        word: "reset",
        agent: Agent::None,
        usage: &[("reset", "repair a terminal that a program has left in disorder")],
        notes: &[],
    },
    CommandRow {
        name: Name::Processes,
        word: "ps",
        agent: Agent::None,
        usage: &[("ps", "what agents and their commands still run, and end what a run has left behind")],
        notes: &[],
    },
    CommandRow {
        name: Name::Login,
        word: "login",
        agent: Agent::Named,
        usage: &[
            ("login NAME [METHOD]", "log in; variables that it asks for are kept in the keyring"),
            ("login [METHOD] -- AGENT…", "the same with the agent's command"),
        ],
        notes: &[Note::ExitCodes],
    },
    CommandRow {
        name: Name::Logout,
        word: "logout",
        agent: Agent::Named,
        usage: &[("logout NAME, logout -- AGENT…", "have the agent, and the keyring, forget who you are")],
        notes: &[Note::ExitCodes],
    },
    CommandRow {
        name: Name::Demo,
        word: "demo",
        agent: Agent::BuiltIn,
        usage: &[("demo", "full screen with the built-in demo agent")],
        notes: &[],
    },
    CommandRow {
        name: Name::DemoAgent,
        word: "demo-agent",
        agent: Agent::None,
        usage: &[("demo-agent [--script FILE]", "the demo agent itself, on standard input and output")],
        notes: &[],
    },
    CommandRow {
        name: Name::Replay,
        word: "replay",
        agent: Agent::None,
        usage: &[("replay FILE", "play a recording or a journal as an agent: acp-tui -- acp-tui replay FILE")],
        notes: &[Note::Replay],
    },
];

impl Name {
    /// The command of this name, if there is one.
    pub fn of(word: &str) -> Option<Self> {
        COMMANDS.iter().find(|row| !row.word.is_empty() && row.word == word).map(|row| row.name)
    }

    pub fn row(self) -> Option<&'static CommandRow> {
        COMMANDS.iter().find(|row| row.name == self)
    }

    pub fn word(self) -> &'static str {
        self.row().map_or("", |row| row.word)
    }

    pub fn agent(self) -> Agent {
        self.row().map_or(Agent::None, |row| row.agent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_has_one_row_and_one_word() {
        for row in COMMANDS {
            assert_eq!(COMMANDS.iter().filter(|other| other.word == row.word || other.name == row.name).count(), 1);
            assert_eq!(Name::of(row.word), (row.name != Name::Screen).then_some(row.name));
        }
    }
}
