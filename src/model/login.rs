//! A log-in that an agent waits for, and the exact command of one that runs in a terminal: the agent's own with
//! the method's arguments and variables, or the one that the agent describes. The one builder of it, for every front end.
//!
//! Plain data, changed by `reduce` only. Invariant: nothing that a person types to log in is ever in it.

use super::agent::Agent;
use super::event::{AuthKind, CallError};
use super::ids::{Now, TermId};
use crate::text::grid::ScreenSnapshot;
use std::fmt;
use std::sync::Arc;

/// Lines printed during one that are kept.
pub const LOGIN_LINES: usize = 50;

/// What an agent wants before it goes on.
#[derive(Clone, Debug, PartialEq)]
pub struct LogIn {
    /// Why, in the agent's words, or what came of the last try.
    pub error: CallError,
    /// The person wants it: nothing was refused.
    pub is_wanted: bool,
    /// The way that the person has chosen, while it is gone.
    pub attempt: Option<Attempt>,
    /// It is of no session in particular: each of the agent's shows it and goes on.
    pub(super) is_of_agent: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Attempt {
    /// Id of the method.
    pub method: String,
    pub since: Now,
    pub how: How,
}

#[derive(Clone, Debug, PartialEq)]
pub enum How {
    /// `authenticate` is on its way; which of our calls the answer has to be to.
    Call(u64),
    /// A command in a terminal of ours; without an id until that is there.
    Terminal { id: Option<TermId>, screen: Arc<ScreenSnapshot> },
    /// It has ended well. The agent is started again once none of its sessions works.
    Restart,
}

/// For how long values are good that the person types.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    #[default]
    ThisRun,
    /// The system keeps them for later starts of the agent.
    InKeyring,
}

/// A value that a person has typed and that is to be said nowhere.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Secret(pub String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

impl LogIn {
    /// The terminal in which the person logs in.
    pub fn terminal(&self) -> Option<(&TermId, &Arc<ScreenSnapshot>)> {
        match &self.attempt.as_ref()?.how {
            How::Terminal { id: Some(id), screen } => Some((id, screen)),
            _ => None,
        }
    }

    /// Whether the agent was called to do it.
    pub fn is_called(&self) -> bool {
        self.attempt.as_ref().is_some_and(|attempt| matches!(attempt.how, How::Call(_)))
    }
}

/// Nothing for methods that are not the person's to run.
pub fn command_line(agent: &Agent, kind: &AuthKind) -> Option<String> {
    let (command, args, env) = match kind {
        AuthKind::Terminal { args, env } => (agent.command.clone(), args, env),
        AuthKind::Command { command, args, env } => (quote(command), args, env),
        AuthKind::Env { vars, .. } if !vars.is_empty() => {
            return Some(vars.iter().map(|v| format!("export {v}=…")).collect::<Vec<_>>().join("; "));
        }
        AuthKind::Agent | AuthKind::Env { .. } | AuthKind::Typed { .. } => return None,
    };
    let mut words = Vec::new();
    if matches!(kind, AuthKind::Terminal { .. }) {
        // The agent is started with them too; their values may be secret.
        let given = |name: &&String| env.iter().any(|(given, _)| given == *name);
        words.extend(agent.env.iter().filter(|name| !given(name)).map(|name| format!("{name}=…")));
    }
    words.extend(env.iter().map(|(name, value)| format!("{name}={}", quote(value))));
    words.push(command);
    words.extend(args.iter().map(|a| quote(a)));
    Some(words.join(" "))
}

/// A word as a POSIX shell reads it back.
pub fn quote(word: &str) -> String {
    let plain = !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || "_-./=:,@%+".contains(c));
    if plain { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}
