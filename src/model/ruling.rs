//! What the rules of the person and the project say about one request of an agent, and rules that the person makes there.
//!
//! Plain data that a journal holds: the rules themselves are kept and read elsewhere. Invariant: a journal says what the
//! rules said then, so a replay needs none.

use super::claims::Claims;
use super::event::AgentRequest;
use super::ids::{EntryId, ReqId};
use super::question::{Offered, Outside};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ruling {
    pub verdict: Ruled,
    /// The pattern that decided, where one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Where it stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// For the agent, where it is denied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Files that the request names outside of the session's directory.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outside: Vec<Outside>,
    /// It names what may hold secrets, and no rule does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<Secret>,
    /// What it comes to, as far as that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extent: Option<Extent>,
    /// The decision hook has decided, no rule.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_hook: bool,
}

/// What a request comes to, for modes to decide about that which no rule is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extent {
    /// It reads and edits files, no more than that, all of them inside of the session's directories, and none that a
    /// pattern has to name itself.
    pub is_plain: bool,
    /// It changes something or runs a command.
    pub changes: bool,
    /// A command names something outside of the session's directories.
    pub leaves: bool,
    /// It uses an address, or a tool of a server.
    #[serde(default)]
    pub reaches: bool,
    /// It writes a file by something else than a command.
    #[serde(default)]
    pub edits: bool,
}

/// What is asked about although nothing speaks against it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Secret {
    pub why: String,
    /// The narrowest rule that would allow it, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
}

impl Secret {
    pub fn of(why: &str) -> Self {
        Self { why: why.to_owned(), rule: None }
    }

    /// For the person.
    pub fn words(&self) -> String {
        match &self.rule {
            Some(rule) => format!("{}; the rule {rule} would allow it", self.why),
            None => format!("{}; a rule has to name it", self.why),
        }
    }
}

/// In the order in which a worse one wins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Ruled {
    Allow,
    /// No rule is for it: it goes on as without rules.
    #[default]
    Open,
    /// The person is asked, also where a rule would decide.
    Ask,
    Deny,
}

impl Ruled {
    /// The list that such a rule stands in.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Open | Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

impl Ruling {
    pub const OPEN: Self = Self {
        verdict: Ruled::Open,
        rule: None,
        place: None,
        reason: None,
        outside: Vec::new(),
        secret: None,
        extent: None,
        by_hook: false,
    };

    /// The same, when it turns out that no rule can allow it.
    #[must_use]
    pub fn unless_allowed(self) -> Self {
        if self.verdict == Ruled::Allow { Self::OPEN } else { self }
    }

    /// Who decided, for the person.
    pub fn words(&self) -> String {
        match (&self.rule, &self.secret) {
            (Some(rule), _) => format!("rule {rule}"),
            (None, Some(secret)) if !self.by_hook => format!("the client, as {}", secret.words()),
            (None, _) if self.by_hook => "the decision hook".to_owned(),
            (None, _) => "the rules".to_owned(),
        }
    }
}

/// For how long a rule holds that the person makes in a question.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Scope {
    /// Until the turn that runs is over.
    Turn,
    /// Until the session is closed; not after a restart of the program, and in no other session.
    Session,
    /// In this directory, for 24 hours.
    Day,
    /// In this directory, until it is taken back.
    #[default]
    Workspace,
    /// Everywhere, until it is taken back.
    Always,
}

impl Scope {
    pub const ALL: [Self; 5] = [Self::Turn, Self::Session, Self::Day, Self::Workspace, Self::Always];

    /// As part of a sentence.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Turn => "for this turn",
            Self::Session => "for this session",
            Self::Day => "in this directory for a day",
            Self::Workspace => "in this directory",
            Self::Always => "everywhere",
        }
    }

    /// The next one; the first follows the last.
    #[must_use]
    pub fn next(self) -> Self {
        let at = Self::ALL.iter().position(|scope| *scope == self).unwrap_or(0);
        Self::ALL.get(at + 1).copied().unwrap_or(Self::Turn)
    }

    /// It is kept on the disk.
    pub const fn is_kept(self) -> bool {
        matches!(self, Self::Day | Self::Workspace | Self::Always)
    }
}

/// Rules that the person makes in one line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewRules {
    pub list: Ruled,
    /// One pattern or several.
    pub text: String,
    pub scope: Scope,
}

/// What the person wants of rules while something is asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RuleWish {
    /// To know what rules of this text would do, or which rules could answer this question.
    Weigh {
        req: ReqId,
        list: Ruled,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
    },
    /// These hold from now on; what they answer is not asked any more.
    Make(NewRules),
    /// To know which ones are kept that can be taken back.
    List,
    Drop(MadeRule),
}

/// A rule that the person has made and that holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MadeRule {
    pub list: Ruled,
    pub pattern: String,
    pub scope: Scope,
    /// The configured agent that it is for; any without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
}

impl MadeRule {
    /// What it does, for the person.
    pub fn words(&self) -> String {
        format!("{} {} {}", self.list.name(), self.pattern, self.reach())
    }

    /// Where and for how long it holds, and for whom.
    pub fn reach(&self) -> String {
        let words = self.scope.words();
        self.agent.as_ref().map_or_else(|| words.to_owned(), |agent| format!("{words} for {agent}"))
    }
}

/// What patterns would do that are not rules yet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Weighed {
    pub text: String,
    /// Why they are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
    /// The questions that would be answered.
    #[serde(default, alias = "settles")]
    pub resolves: Vec<ReqId>,
    /// How many earlier requests of the session they are for, and of how many.
    pub here: (usize, usize),
    /// The same of earlier sessions in this directory.
    pub before: (usize, usize),
}

/// What there is to choose from for the question of this request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Weighing {
    pub req: ReqId,
    /// For which list something is proposed.
    #[serde(default)]
    pub list: Ruled,
    /// The narrowest first. None: no rule can answer it.
    pub proposed: Vec<Weighed>,
    /// What the person has written instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub typed: Option<Weighed>,
    /// Why nothing is proposed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why_none: Option<String>,
}

/// A request that the rules have not spoken of yet.
#[derive(Clone, Debug, PartialEq)]
pub enum Unruled {
    Permission {
        entry: EntryId,
        offered: Offered,
        /// What the rules are asked about; the call can change meanwhile.
        claims: Box<Claims>,
    },
    Service(Box<AgentRequest>),
}

/// What a session knows of rules.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionRules {
    /// There are some to be asked.
    pub(super) are_there: bool,
    /// Those that were made in it and hold.
    pub(super) made: Vec<MadeRule>,
    /// Those that are kept, also of other sessions; nothing before that was asked and while it is.
    pub(super) kept: Option<Vec<MadeRule>>,
    /// Made, and hold although they are in no file yet.
    pub(super) unkept: Vec<MadeRule>,
    /// Requests that wait for what the rules said before the last change.
    pub(super) stale: BTreeSet<ReqId>,
    /// What one would do that the person thinks of.
    pub(super) weighing: Option<Weighing>,
    /// Reasons of refusals that the agent has been told.
    pub(super) told: BTreeSet<String>,
    /// What they were asked about, the oldest first.
    pub(super) judged: VecDeque<Arc<Claims>>,
}

impl SessionRules {
    pub fn are_there(&self) -> bool {
        self.are_there
    }

    pub fn made(&self) -> &[MadeRule] {
        &self.made
    }

    /// Those that are kept and were not made here, where that is known.
    pub fn kept_before(&self) -> Option<impl Iterator<Item = &MadeRule>> {
        Some(self.kept.as_ref()?.iter().filter(|rule| !self.made.contains(rule)))
    }

    /// Those that hold and are in no file.
    pub fn in_no_file(&self) -> impl Iterator<Item = &MadeRule> {
        self.made.iter().filter(|rule| !rule.scope.is_kept()).chain(&self.unkept)
    }

    pub fn weighing(&self) -> Option<&Weighing> {
        self.weighing.as_ref()
    }
}

impl Weighing {
    /// What is known of this text.
    pub fn of(&self, text: &str) -> Option<&Weighed> {
        self.typed.iter().chain(&self.proposed).find(|weighed| weighed.text == text)
    }
}
