//! What an engine is begun with.
//!
//! Plain data; knows nothing of where it was read.

use super::links::{Further, Reach};
use super::reviewing::ReviewConfig;
use super::ruling::RulesConfig;
use super::servers::ServersConfig;
use crate::base::inherited::Inherited;
use crate::host::keyring::Keyring;
use crate::host::process::{Graces, Sandbox};
use crate::model::budget::Budget;
use crate::model::changes::Gate;
use crate::model::event::Protocol;
use crate::model::permission_mode::ModeChoice;
use crate::model::session::Policy;
use crate::store::recording;
use std::path::PathBuf;

/// What an engine needs to know. The command and what belongs to it are of the first agent. By default nothing is kept,
/// written or reviewed.
#[derive(Debug, Default)]
pub struct EngineConfig {
    pub command: String,
    pub args: Vec<String>,
    pub env: Vec<(String, String)>,
    /// What the agent and its commands get of this program's own environment.
    pub inherited: Inherited,
    /// Where the agent's program is started; in the session's directory without.
    pub start_in: Option<PathBuf>,
    /// In which versions of the protocol the agent is spoken to.
    pub protocol: Protocol,
    pub reach: Reach,
    /// What the person has the system keep.
    pub keyring: Keyring,
    /// The agent's name in it; nothing is kept for it without.
    pub kept_as: Option<String>,
    /// What the agent may write besides the session's directory, where that is confined.
    pub sandbox: Option<Sandbox>,
    pub further: Further,
    /// The session's directory, absolute.
    pub cwd: PathBuf,
    pub policy: Policy,
    /// Where journals go; none are written without it.
    pub journals: Option<PathBuf>,
    pub record: Option<recording::Place>,
    /// A command that the person may have meant.
    pub suggestion: Option<String>,
    /// How to install the agent, where that is known.
    pub install: Option<String>,
    /// The person's `$SHELL`.
    pub shell: Option<String>,
    pub graces: Graces,
    /// Where changes of the agent are kept for the review; none is done without it.
    pub review: Option<ReviewConfig>,
    /// How writes and commands are let through, at first.
    pub gate: Gate,
    /// The mode that the first session begins with.
    pub permission_mode: Option<ModeChoice>,
    /// What agents are held to; without it there are no rules.
    pub rules: Option<RulesConfig>,
    /// Servers of tools for the agents; without it they are given none.
    pub servers: Option<ServersConfig>,
    /// Parts of the protocol are used that may still change.
    pub unstable: bool,
    /// What the person fills into forms stands in journal and transcript.
    pub keeps_form_answers: bool,
    /// The state directory, below which decisions are logged; none are without it.
    pub audit: Option<PathBuf>,
    /// Absolute paths that are the client's own: the agent gets none of them, and the review leaves them out.
    pub private: Vec<PathBuf>,
    /// Directories besides its own that the session may use, real paths.
    pub directories: Vec<PathBuf>,
    /// What may be spent.
    pub budget: Option<Budget>,
}
