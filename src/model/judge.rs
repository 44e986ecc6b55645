//! May it be done? What an agent asks for is judged here before the person is asked about it or it is served.
//!
//! Pure: knows what was asked, by whom and under which settings, and nothing of how it is asked, answered or done. What
//! names a file is judged twice: when it is asked for, and with its real path right before the file is touched. Invariant:
//! nothing is served that was not allowed here, and the person is asked only about what would be served.

use super::changes::Gate;
use super::effect::Withdrawal;
use super::event::TerminalSpec;
use super::ids::{AgentKey, SessionKey};
use super::permission_mode::PermissionMode;
use super::refusal::{Reason, Refusal, Subject};
use super::ruling::{Ruled, Ruling};
use super::session::{Allow, Policy};
use super::tool::ToolKind;
use std::path::PathBuf;
use std::sync::Arc;

/// What is to be judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    pub agent: AgentKey,
    pub session: SessionKey,
    /// The session's directory, absolute.
    pub cwd: Arc<str>,
    pub deed: Deed,
    /// Where that is, of what names a file or directory.
    pub place: Place,
    pub policy: Policy,
    pub mode: PermissionMode,
    /// Of a side question: only reading is allowed, also where a rule allows more.
    pub is_aside: bool,
    /// Off without a person to ask.
    pub gate: Gate,
    /// The turn is being stopped.
    pub is_stopping: bool,
    /// The person has said yes to it.
    pub is_granted: bool,
    /// What the rules say of it, where there are any.
    pub ruling: Option<Ruling>,
}

/// What the agent wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deed {
    /// To do something by itself.
    Permission {
        kind: ToolKind,
        /// As it names them.
        paths: Vec<String>,
        /// All of the call is there to be looked at.
        is_whole: bool,
        /// What it is about is known here.
        is_known: bool,
        /// It offers an answer.
        has_choice: bool,
        /// One of them allows it for this once.
        has_once: bool,
        /// It has no more than a kind and a title in which no file can be named.
        names_nothing: bool,
    },
    Read(Arc<str>),
    Write(Arc<str>),
    /// A command in a terminal of the client.
    Run(Arc<TerminalSpec>),
}

/// What a path really means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// Not looked up yet, or nothing is named.
    Unknown,
    /// Inside the roots of the session; nothing where the real path is not known here.
    Inside(Option<PathBuf>),
    /// Outside of them, where it really is.
    Outside(PathBuf),
    /// Outside, the client's own, or undecidable.
    Forbidden(Refusal),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Allow(Ground),
    Refuse(Ground),
    /// The person decides.
    Ask,
}

/// Why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ground {
    /// Files and commands of the session's directory are served.
    Served,
    /// By the person.
    Granted,
    /// `exec --allow`.
    Flag(Allow),
    /// A rule of the person or the project; without a person to ask, an ask rule too.
    Rule(Ruling),
    /// The permission mode, where no rule decided.
    Mode(PermissionMode),
    /// A side question changes nothing.
    Aside,
    /// Only what a rule allows is done, and none is for it.
    NoRule,
    Stopping,
    /// What it is about cannot be told.
    NotWhole,
    /// What it is about is of a kind that is not known here, and nobody is there to be asked.
    NotKnown,
    /// There is nothing to answer with.
    NoChoice,
    Forbidden(Refusal),
    /// It needs the person's word and has not got it.
    Unasked,
}

impl Verdict {
    /// Why it is not done by itself.
    pub fn against(self) -> Ground {
        match self {
            Self::Allow(ground) | Self::Refuse(ground) => ground,
            Self::Ask => Ground::Unasked,
        }
    }
}

impl Ground {
    /// Why something was refused, for the person.
    pub fn words(&self) -> String {
        match self {
            Self::Flag(allow) => format!("--allow {}", allow.name()),
            Self::Rule(ruling) => match &ruling.reason {
                Some(reason) if ruling.verdict == Ruled::Deny => format!("{}: {reason}", ruling.words()),
                _ => ruling.words(),
            },
            Self::Mode(mode) => format!("permission mode {}", mode.name()),
            Self::Aside => "a side question changes nothing".to_owned(),
            Self::NoRule => "--rules, none of which allows it".to_owned(),
            Self::Forbidden(refusal) => refusal.words().to_owned(),
            Self::Stopping => Withdrawal::TurnStopped.words().to_owned(),
            Self::NotWhole => "it cannot be shown whole".to_owned(),
            Self::NotKnown => "it does not say what it is about in a way that is known here".to_owned(),
            Self::NoChoice => "it offers no answer".to_owned(),
            Self::Unasked => "you were not asked".to_owned(),
            Self::Served | Self::Granted => String::new(),
        }
    }

    /// What the agent is told when its request is refused for this.
    pub fn refusal(self, about: Subject) -> Refusal {
        let of = |why, message: &str| Refusal::new(why, message);
        match self {
            Self::Flag(allow) => {
                let message = format!("Refused: this client was started with --allow {}", allow.name());
                Refusal::new(Reason::DeniedByPolicy, message).about(about)
            }
            Self::Rule(Ruling { secret: Some(secret), rule: None, by_hook: false, .. }) => {
                Refusal::new(Reason::DeniedByPolicy, format!("Refused: {}", secret.why)).about(about)
            }
            Self::Rule(ruling) => {
                let by = if ruling.by_hook { "the decision hook" } else { "a rule" };
                let message = match ruling.reason {
                    Some(reason) => format!("Refused by {by}: {reason}"),
                    None => format!("Refused by {by}"),
                };
                Refusal::new(Reason::DeniedByPolicy, message).about(about)
            }
            Self::Mode(mode) => of(Reason::DeniedByPolicy, refusal_of(mode)).about(about),
            Self::Aside => {
                let message =
                    "Refused: this is a side question, and nothing is changed for its answer. Read what you need.";
                of(Reason::DeniedByPolicy, message).about(about)
            }
            Self::NoRule => of(Reason::DeniedByPolicy, "Refused: no rule allows it").about(about),
            Self::Stopping | Self::NoChoice => of(Reason::Cancelled, "Request cancelled"),
            Self::NotWhole => of(Reason::TooLarge, "Too large: the call that is asked about cannot be shown whole"),
            Self::Forbidden(refusal) => refusal,
            Self::NotKnown | Self::Served | Self::Granted | Self::Unasked => {
                of(Reason::DeniedByPolicy, "Refused").about(about)
            }
        }
    }
}

/// What an agent is told that is refused something by a mode.
pub const fn refusal_of(mode: PermissionMode) -> &'static str {
    match mode {
        PermissionMode::Plan => {
            "Refused: the client is in its permission mode plan. Files are not changed and commands are not run until the \
             user chooses another mode. Read what you need, describe what you would do, and do not try another way."
        }
        PermissionMode::Default | PermissionMode::AcceptEdits | PermissionMode::BypassPermissions => "Refused",
    }
}

impl Request {
    /// The path that it names to the client; of a command the directory to run in, where one is given.
    pub fn path(&self) -> Option<&str> {
        match &self.deed {
            Deed::Read(path) | Deed::Write(path) => Some(path),
            Deed::Run(spec) => spec.cwd.as_deref(),
            Deed::Permission { .. } => None,
        }
    }

    #[must_use]
    pub fn at(self, place: Place) -> Self {
        Self { place, ..self }
    }

    #[must_use]
    pub fn ruled(self, ruling: Option<Ruling>) -> Self {
        Self { ruling, ..self }
    }

    #[must_use]
    pub fn granted(self) -> Self {
        Self { is_granted: true, ..self }
    }
}

/// In this order: the first that says something decides.
const RULES: &[fn(&Request) -> Option<Verdict>] = &[
    stopping, forbidden, denied, planned, aside, allowed, by_mode, flag, showable, granted, outside, asked, gate,
    served,
];

/// Decides. What no rule speaks of is the person's to decide.
pub fn judge(request: &Request) -> Verdict {
    RULES.iter().find_map(|rule| rule(request)).unwrap_or(Verdict::Ask)
}

/// The person wants the turn to end, not to be asked something more.
fn stopping(request: &Request) -> Option<Verdict> {
    let would_ask = match request.deed {
        Deed::Permission { .. } => true,
        Deed::Write(_) | Deed::Run(_) if request.gate != Gate::Off => true,
        Deed::Read(_) | Deed::Write(_) | Deed::Run(_) => ruled(request) == Some(Ruled::Ask) || leads_outside(request),
    };
    (request.is_stopping && would_ask).then_some(Verdict::Refuse(Ground::Stopping))
}

fn forbidden(request: &Request) -> Option<Verdict> {
    match &request.place {
        Place::Forbidden(why) => Some(Verdict::Refuse(Ground::Forbidden(why.clone()))),
        Place::Unknown | Place::Inside(_) | Place::Outside(_) => None,
    }
}

fn ruled(request: &Request) -> Option<Ruled> {
    request.ruling.as_ref().map(|ruling| ruling.verdict)
}

/// Nothing overrides it.
fn denied(request: &Request) -> Option<Verdict> {
    let denies = |ruling: &&Ruling| ruling.verdict == Ruled::Deny;
    request.ruling.as_ref().filter(denies).map(|ruling| Verdict::Refuse(Ground::Rule(ruling.clone())))
}

/// In this mode nothing is changed that no rule allows, and the person is not asked about it.
fn planned(request: &Request) -> Option<Verdict> {
    let by_rule = |ruling: &Ruling| ruling.verdict == Ruled::Allow && !ruling.by_hook;
    if request.mode != PermissionMode::Plan || request.ruling.as_ref().is_some_and(by_rule) {
        return None;
    }
    let changes = match request.deed {
        Deed::Write(_) | Deed::Run(_) => true,
        Deed::Read(_) => false,
        Deed::Permission { kind, .. } => {
            let is_known = matches!(kind, ToolKind::Edit | ToolKind::Delete | ToolKind::Move | ToolKind::Execute);
            is_known || request.ruling.as_ref().and_then(|ruling| ruling.extent).is_some_and(|extent| extent.changes)
        }
    };
    changes.then_some(Verdict::Refuse(Ground::Mode(request.mode)))
}

/// A side question changes nothing: its flag is asked before rules can allow more.
fn aside(request: &Request) -> Option<Verdict> {
    let verdict = if request.is_aside { flag(request) } else { None };
    verdict.map(|verdict| match verdict {
        Verdict::Refuse(Ground::Flag(_)) => Verdict::Refuse(Ground::Aside),
        verdict => verdict,
    })
}

/// By a rule. What is not there to be looked at may be something else.
fn allowed(request: &Request) -> Option<Verdict> {
    let allows = |ruling: &&Ruling| ruling.verdict == Ruled::Allow && is_clear(request);
    request.ruling.as_ref().filter(allows).map(|ruling| Verdict::Allow(Ground::Rule(ruling.clone())))
}

/// What it is about is there to be looked at, and there is an answer that does not last.
fn is_clear(request: &Request) -> bool {
    !matches!(
        request.deed,
        Deed::Permission { is_whole: false, .. }
            | Deed::Permission { is_known: false, .. }
            | Deed::Permission { has_once: false, .. }
    )
}

/// By the mode, where the rules leave it to the person. What leads outside is never a mode's to allow.
fn by_mode(request: &Request) -> Option<Verdict> {
    if matches!(request.place, Place::Outside(_)) {
        return None;
    }
    let ruling = request.ruling.as_ref().filter(|ruling| ruling.verdict == Ruled::Open && ruling.outside.is_empty())?;
    let extent = ruling.extent.filter(|extent| !extent.leaves)?;
    let is_allowed = match request.mode {
        PermissionMode::Default => false,
        PermissionMode::Plan => extent.is_plain && !extent.changes,
        PermissionMode::AcceptEdits => extent.is_plain,
        PermissionMode::BypassPermissions => true,
    };
    (is_allowed && is_clear(request)).then_some(Verdict::Allow(Ground::Mode(request.mode)))
}

/// There is no person to ask: what a rule asks about is refused, and what no rule is for is decided by the flag.
fn flag(request: &Request) -> Option<Verdict> {
    let Policy::Auto(allow) = request.policy else { return None };
    if let Some(ruling) = request.ruling.as_ref().filter(|ruling| ruling.verdict == Ruled::Ask) {
        return Some(Verdict::Refuse(Ground::Rule(ruling.clone())));
    }
    if allow == Allow::Rules {
        return Some(Verdict::Refuse(Ground::NoRule));
    }
    if matches!(request.deed, Deed::Permission { is_known: false, .. }) {
        return Some(Verdict::Refuse(Ground::NotKnown));
    }
    let only_reads = match request.deed {
        Deed::Permission { kind, names_nothing, .. } => only_reads(kind, names_nothing, request),
        Deed::Read(_) => true,
        Deed::Write(_) | Deed::Run(_) => false,
    };
    let is_allowed = match allow {
        Allow::All => true,
        Allow::Reads => only_reads,
        Allow::None | Allow::Rules => false,
    };
    // Nobody has seen where it leads.
    let outside = if leads_outside(request) { request.path() } else { edited_outside(request) };
    if let Some(path) = outside.filter(|_| is_allowed) {
        let why = Refusal::new(Reason::Outside, format!("outside the workspace: {path}"));
        return Some(Verdict::Refuse(Ground::Forbidden(why.about(Subject::Path(path.to_owned())))));
    }
    let ground = Ground::Flag(allow);
    Some(if is_allowed { Verdict::Allow(ground) } else { Verdict::Refuse(ground) })
}

/// Whether a call is said to read and nothing that it has says that it does more: its kind is only what the agent says.
fn only_reads(kind: ToolKind, names_nothing: bool, request: &Request) -> bool {
    let extent = request.ruling.as_ref().and_then(|ruling| ruling.extent);
    let is_more = extent.is_some_and(|extent| extent.changes || extent.reaches);
    let leaves = extent.is_some_and(|extent| extent.leaves);
    match kind {
        // Rules know no thinking.
        ToolKind::Think => !is_more && !leaves,
        ToolKind::Read | ToolKind::Search if names_nothing => !is_more,
        ToolKind::Read | ToolKind::Search => !is_more && !leaves && extent.is_none_or(|extent| extent.is_plain),
        _ => false,
    }
}

/// What cannot be shown or answered is no question.
fn showable(request: &Request) -> Option<Verdict> {
    match request.deed {
        Deed::Permission { is_whole: false, .. } => Some(Verdict::Refuse(Ground::NotWhole)),
        //
        Deed::Permission { has_choice: false, .. } => Some(Verdict::Refuse(Ground::NoChoice)),
        _ => None,
    }
}

fn granted(request: &Request) -> Option<Verdict> {
    request.is_granted.then_some(Verdict::Allow(Ground::Granted))
}

/// Outside nothing is read or written but with the person's word, or by a rule that names it.
fn outside(request: &Request) -> Option<Verdict> {
    leads_outside(request).then_some(Verdict::Ask)
}

/// Whether it reads or writes a file of which it is known where outside it is.
fn leads_outside(request: &Request) -> bool {
    let (Deed::Read(path) | Deed::Write(path)) = &request.deed else { return false };
    let is_known = || {
        let outside = request.ruling.as_ref().map_or(&[][..], |ruling| ruling.outside.as_slice());
        !outside.is_empty() && outside.iter().all(|outside| outside.real.is_some())
    };
    match request.place {
        Place::Outside(_) => true,
        Place::Unknown => path.starts_with('/') && is_known(),
        Place::Inside(_) | Place::Forbidden(_) => false,
    }
}

/// A file outside that an agent names to change it by itself, by something else than a command.
fn edited_outside(request: &Request) -> Option<&str> {
    let Deed::Permission { kind, .. } = request.deed else { return None };
    let ruling = request.ruling.as_ref()?;
    let edits = match kind {
        ToolKind::Execute => false,
        ToolKind::Edit | ToolKind::Delete | ToolKind::Move => true,
        _ => ruling.extent.is_some_and(|extent| extent.edits),
    };
    ruling.outside.first().filter(|_| edits).map(|outside| outside.path.as_str())
}

/// A rule says that the person is to be asked.
fn asked(request: &Request) -> Option<Verdict> {
    (ruled(request) == Some(Ruled::Ask)).then_some(Verdict::Ask)
}

/// Writes and commands that the person wants to see first.
fn gate(request: &Request) -> Option<Verdict> {
    let is_gated = matches!(request.deed, Deed::Write(_) | Deed::Run(_)) && request.gate != Gate::Off;
    is_gated.then_some(Verdict::Ask)
}

fn served(request: &Request) -> Option<Verdict> {
    let is_service = !matches!(request.deed, Deed::Permission { .. });
    is_service.then_some(Verdict::Allow(Ground::Served))
}

#[cfg(test)]
impl Request {
    /// As a session asks in which nothing is special.
    pub(crate) fn of(deed: Deed) -> Self {
        Self {
            agent: AgentKey::FIRST,
            session: SessionKey::FIRST,
            cwd: "/p".into(),
            deed,
            place: Place::Unknown,
            policy: Policy::Ask,
            mode: PermissionMode::Default,
            is_aside: false,
            gate: Gate::Off,
            is_stopping: false,
            is_granted: false,
            ruling: None,
        }
    }
}

#[cfg(test)]
#[path = "judge_tests.rs"]
mod tests;
