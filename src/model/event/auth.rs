//! The ways to log in that an agent offers.
//!
//! Data only; which of them can be gone is not known here.

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthMethod {
    pub id: String,
    pub name: String,
    pub description: Option<String>,
    pub kind: AuthKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AuthKind {
    /// `authenticate` with its id.
    Agent,
    /// The agent's own command with these arguments and variables, in a terminal.
    Terminal { args: Vec<String>, env: Vec<(String, String)> },
    /// `_meta["terminal-auth"]`: a complete command line.
    Command { command: String, args: Vec<String>, env: Vec<(String, String)> },
    /// The historic `env_var`: variables to set before the agent is started.
    Env {
        vars: Vec<String>,
        /// Those of them that are no secrets, as the agent says.
        open: Vec<String>,
    },
    /// `authenticate` with its id and values that the person types, by these names (S-019).
    Typed { names: Vec<String> },
}
