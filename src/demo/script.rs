//! What the scripted agent is told to do, read from TOML.
//!
//! A script is data only: it holds no state and starts nothing. Misbehaviour is written out in the same vocabulary as
//! good behaviour, so that every field bug of a real agent can become one more scenario.
//! Invariant: all that `parse` accepts can be played; an error names the line of the table that is wrong.

use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;

use super::step::{ErrorSpec, Step};

/// The scripts that come with the program, by name.
const BUILTIN: &[(&str, &str)] = &[
    ("demo", include_str!("../../assets/scenarios/demo.toml")),
    ("corruption", include_str!("../../assets/scenarios/corruption.toml")),
    ("reorder", include_str!("../../assets/scenarios/reorder.toml")),
    ("death", include_str!("../../assets/scenarios/death.toml")),
    ("slow", include_str!("../../assets/scenarios/slow.toml")),
    ("escape", include_str!("../../assets/scenarios/escape.toml")),
    ("auth", include_str!("../../assets/scenarios/auth.toml")),
    ("permissions", include_str!("../../assets/scenarios/permissions.toml")),
];

/// A whole script: how the agent introduces itself, the project it may lay down, and its turns.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Script {
    pub agent: AgentOptions,
    /// Files of the project that the `seed` step writes into an empty session directory.
    pub file: Vec<SeedFile>,
    pub turn: Vec<Turn>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeedFile {
    /// Relative to the session's directory.
    pub path: String,
    pub text: String,
}

/// What happens between one prompt and its answer.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Turn {
    /// Played whenever the prompt contains this text. A turn without it is played once, in order.
    #[serde(rename = "match")]
    pub pattern: Option<String>,
    /// Played for every prompt that nothing else answers.
    pub default: bool,
    /// With `match`: takes its place in the order as well.
    pub in_order: bool,
    pub step: Vec<Step>,
}

/// How the agent starts, what it says about itself, and how it misbehaves before the first turn.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AgentOptions {
    /// End at once with this exit code, before anything is read.
    pub exit_at_start: Option<i32>,
    /// Written to stdout before anything is read.
    pub banner: Option<String>,
    /// Written to stderr before anything is read.
    pub stderr: Option<String>,
    pub init_delay_ms: u64,
    pub session_delay_ms: u64,
    /// The value of `protocolVersion`; not necessarily a number.
    pub protocol_version: Option<Value>,
    /// The versions of the protocol that it speaks; 1 and 2 where nothing is said.
    pub speaks: Option<Vec<u64>>,
    /// Laid over the agent's usual answer, key by key.
    pub agent_info: Option<Value>,
    pub capabilities: Option<Value>,
    pub auth_methods: Vec<Value>,
    /// `session/new` is refused with -32000 until `authenticate` succeeds.
    pub auth_required: bool,
    /// The person is signed in when this file is there.
    pub auth_file: Option<PathBuf>,
    /// The same when this variable has a value.
    pub auth_variable: Option<String>,
    /// Methods that are never answered.
    pub silent: OneOrMany,
    /// Methods that are answered with an error.
    pub error: BTreeMap<String, ErrorSpec>,
    /// Methods that are answered with exactly this result.
    pub result: BTreeMap<String, Value>,
    /// Send every line of the client back, as a program does that is no agent.
    pub echo_input: bool,
    /// Live on after the end of input.
    pub ignore_eof: bool,
    /// Live on after SIGTERM.
    pub ignore_term: bool,
    pub modes: Option<Value>,
    pub config_options: Option<Vec<Value>>,
    pub commands: Option<Vec<Value>>,
    /// A file for its sessions, so that they outlive the process. What it can do with them is said in `capabilities`.
    pub keeps: Option<PathBuf>,
    /// Played before `session/new` is answered.
    pub before_session: Vec<Step>,
    /// Played after `session/new` was answered, outside any turn.
    pub after_session: Vec<Step>,
}

/// `"a"` or `["a", "b"]`.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

impl Default for OneOrMany {
    fn default() -> Self {
        Self::Many(Vec::new())
    }
}

impl OneOrMany {
    pub fn contains(&self, name: &str) -> bool {
        match self {
            Self::One(one) => one == name,
            Self::Many(many) => many.iter().any(|one| one == name),
        }
    }
}

/// Why a script cannot be played.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    #[error("line {line}: {message}")]
    Syntax { line: usize, message: String },
    #[error("cannot read {path}: {source}")]
    Unreadable { path: String, source: std::io::Error },
}

impl Script {
    pub fn parse(text: &str) -> Result<Self, ScriptError> {
        toml::from_str(text).map_err(|e| {
            let start = e.span().map_or(0, |span| span.start);
            let line = 1 + text.bytes().take(start).filter(|byte| *byte == b'\n').count();
            ScriptError::Syntax { line, message: e.message().to_owned() }
        })
    }

    /// Reads a script file.
    pub fn load(path: &std::path::Path) -> Result<Self, ScriptError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| ScriptError::Unreadable { path: path.display().to_string(), source })?;
        Self::parse(&text)
    }

    /// One of the scripts that come with the program.
    pub fn builtin(name: &str) -> Option<Self> {
        let (_, text) = BUILTIN.iter().find(|(known, _)| *known == name)?;
        Self::parse(text).ok()
    }

    pub fn builtin_names() -> impl Iterator<Item = &'static str> {
        BUILTIN.iter().map(|(name, _)| *name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_builtin_script_parses() {
        for (name, text) in BUILTIN {
            if let Err(e) = Script::parse(text) {
                panic!("{name}.toml: {e}");
            }
        }
        assert!(Script::builtin("no such script").is_none());
    }

    #[test]
    fn an_error_names_its_line() {
        let line_of = |text: &str| match Script::parse(text) {
            Err(ScriptError::Syntax { line, message }) => (line, message),
            other => panic!("{other:?}"),
        };
        let (line, message) = line_of("[agent]\nbanner = \"x\"\nbanana = 1\n");
        assert_eq!(line, 3, "{message}");
        assert!(message.contains("banana"), "{message}");
        let (line, _) = line_of("[agent]\n\n\nbanner = \n");
        assert_eq!(line, 4);
        let (line, message) =
            line_of("[[turn]]\n[[turn.step]]\ndo = \"say\"\ntext = \"a\"\n\n[[turn.step]]\ndo = \"dance\"\n");
        assert!((6..=7).contains(&line), "{line}: {message}");
        assert!(message.contains("dance"), "{message}");
        let (line, message) = line_of("[[turn]]\n\n[[turn.step]]\ndo = \"wait\"\nmilliseconds = 3\n");
        assert!((3..=5).contains(&line), "{line}: {message}");
    }
}
