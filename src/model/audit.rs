//! What is logged of a decision: who decided what, by which rule, and what was shown.
//!
//! Plain data; where it is written is not known here. Invariant: no contents of files, no values of variables, nothing
//! that was filled into a form.

use super::claims::Claims;
use super::event::{PermissionKind, PermissionOption, TerminalSpec};
use super::judge::Ground;
use super::ruling::Ruling;
use serde::Serialize;

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Decision {
    /// `permission`, `read`, `write`, `run`, `form`, `rule`, `gate`, `login` or `logout`.
    pub event: &'static str,
    /// As it was shown.
    pub what: String,
    /// The kind of the tool call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Commands, paths and addresses, as rules see them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claims: Option<Claims>,
    /// The answers that could be chosen.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// The chosen one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub option: Option<String>,
    /// `allow`, `deny`, `cancelled` or `answered`; of a rule its list or `removed`, of a gate its state.
    pub verdict: &'static str,
    /// `person`, `rule`, `hook`, `flag`, `agent` or `client`.
    pub by: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The file of the rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How long the question stood.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waited_ms: Option<u64>,
}

pub const ALLOW: &str = "allow";
pub const DENY: &str = "deny";
pub const CANCELLED: &str = "cancelled";
pub const ANSWERED: &str = "answered";

pub const PERSON: &str = "person";
pub const AGENT: &str = "agent";
pub const CLIENT: &str = "client";

impl Decision {
    pub fn new(event: &'static str, what: impl Into<String>, verdict: &'static str, by: &'static str) -> Self {
        Self { event, what: what.into(), verdict, by, ..Self::default() }
    }

    /// Decided without a question.
    pub fn because(event: &'static str, what: impl Into<String>, is_allowed: bool, ground: &Ground) -> Self {
        let verdict = if is_allowed { ALLOW } else { DENY };
        let by = match ground {
            Ground::Stopping => return Self::new(event, what, CANCELLED, PERSON),
            Ground::Granted => PERSON,
            Ground::Flag(_) => "flag",
            Ground::Rule(ruling) => {
                let Ruling { rule, place, reason, secret, by_hook, .. } = ruling.clone();
                let by = match secret {
                    _ if by_hook => "hook",
                    Some(secret) if rule.is_none() => {
                        return Self { reason: Some(secret.why), ..Self::new(event, what, verdict, CLIENT) };
                    }
                    _ => "rule",
                };
                return Self { rule, place, reason, ..Self::new(event, what, verdict, by) };
            }
            Ground::Served
            | Ground::NoRule
            | Ground::NotWhole
            | Ground::NotKnown
            | Ground::NoChoice
            | Ground::Forbidden(_)
            | Ground::Unasked => CLIENT,
        };
        let reason = Some(ground.words()).filter(|words| !words.is_empty());
        Self { reason, ..Self::new(event, what, verdict, by) }
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

/// What the chosen answer of an agent's question means.
pub fn verdict_of(kind: PermissionKind) -> &'static str {
    match kind {
        PermissionKind::AllowOnce | PermissionKind::AllowAlways => ALLOW,
        PermissionKind::RejectOnce | PermissionKind::RejectAlways => DENY,
        PermissionKind::Unknown => ANSWERED,
    }
}
