//! What is logged of a decision: who decided what, by which rule, and what was shown.
//!
//! Plain data; where it is written is not known here. Invariant: no contents of files, no values of variables, nothing
//! that was filled into a form.

use super::changes::Gate;
use super::claims::Claims;
use super::event::{PermissionKind, PermissionOption, TerminalSpec};
use super::judge::Ground;
use super::question::Outside;
use super::ruling::{Ruled, Ruling};
use serde::Serialize;

/// What a decision is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Matter {
    #[default]
    Permission,
    Read,
    Write,
    Run,
    Form,
    Rule,
    Gate,
    /// The permission mode.
    Mode,
    Login,
    Logout,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    Allow,
    Deny,
    /// There is no answer any more.
    #[default]
    Cancelled,
    Answered,
    /// Of a rule or a gate: from now on it is asked.
    Ask,
    Removed,
    /// Of a gate.
    Off,
    Hold,
    /// Of a mode.
    Set,
}

/// Who has decided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum By {
    Person,
    Rule,
    Hook,
    Mode,
    Flag,
    Agent,
    #[default]
    Client,
}

impl From<Gate> for Outcome {
    fn from(gate: Gate) -> Self {
        match gate {
            Gate::Off => Self::Off,
            Gate::Ask => Self::Ask,
            Gate::Hold => Self::Hold,
        }
    }
}

impl From<Ruled> for Outcome {
    fn from(list: Ruled) -> Self {
        match list {
            Ruled::Allow => Self::Allow,
            Ruled::Open | Ruled::Ask => Self::Ask,
            Ruled::Deny => Self::Deny,
        }
    }
}

impl From<PermissionKind> for Outcome {
    fn from(kind: PermissionKind) -> Self {
        match kind {
            PermissionKind::AllowOnce | PermissionKind::AllowAlways => Self::Allow,
            PermissionKind::RejectOnce | PermissionKind::RejectAlways => Self::Deny,
            PermissionKind::Unknown => Self::Answered,
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Decision {
    pub event: Matter,
    /// As it was shown.
    pub what: String,
    /// The kind of the tool call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Commands, paths and addresses, as rules see them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claims: Option<Claims>,
    /// Files that it names outside of the session's directories, and where they really are.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outside: Vec<Outside>,
    /// The answers that could be chosen.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// The chosen one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub option: Option<String>,
    pub verdict: Outcome,
    pub by: By,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The file of the rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// For how long or where a rule or a mode holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How long the question stood.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waited_ms: Option<u64>,
}

impl Decision {
    pub fn new(event: Matter, what: impl Into<String>, verdict: Outcome, by: By) -> Self {
        Self { event, what: what.into(), verdict, by, ..Self::default() }
    }

    /// Of a question that says itself what it is about.
    pub fn of(verdict: Outcome, by: By) -> Self {
        Self { verdict, by, ..Self::default() }
    }

    /// Decided without a question.
    pub fn because(is_allowed: bool, ground: &Ground) -> Self {
        let verdict = if is_allowed { Outcome::Allow } else { Outcome::Deny };
        let by = match ground {
            Ground::Stopping => return Self::of(Outcome::Cancelled, By::Person),
            Ground::Granted => By::Person,
            Ground::Flag(_) | Ground::Aside => By::Flag,
            Ground::Mode(_) => By::Mode,
            Ground::Rule(ruling) => {
                let Ruling { rule, place, reason, secret, by_hook, .. } = ruling.clone();
                let by = match secret {
                    _ if by_hook => By::Hook,
                    Some(secret) if rule.is_none() => {
                        return Self { reason: Some(secret.why), ..Self::of(verdict, By::Client) };
                    }
                    _ => By::Rule,
                };
                return Self { rule, place, reason, ..Self::of(verdict, by) };
            }
            Ground::Served
            | Ground::NoRule
            | Ground::NotWhole
            | Ground::NotKnown
            | Ground::NoChoice
            | Ground::Forbidden(_)
            | Ground::Unasked => By::Client,
        };
        let reason = Some(ground.words()).filter(|words| !words.is_empty());
        Self { reason, ..Self::of(verdict, by) }
    }

    #[must_use]
    pub fn offered(self, options: &[PermissionOption]) -> Self {
        Self { options: options.iter().map(|option| option.name.clone()).collect(), ..self }
    }

    #[must_use]
    pub fn about(self, claims: Option<Claims>) -> Self {
        Self { claims, ..self }
    }
}

/// A command without the values of its variables.
pub fn claims_of(spec: &TerminalSpec) -> Claims {
    let env = spec.env.iter().map(|(name, _)| (name.clone(), "…".to_owned())).collect();
    Claims::of_command(&TerminalSpec { env, ..spec.clone() })
}
