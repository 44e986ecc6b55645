//! What waits for the person: the questions of a session, and a log-in of its agent.
//!
//! Plain data. Who asks and what becomes of an answer is the reducer's; how it looks is the front ends'. Invariant: all
//! that waits for the person is found through [`SessionRef::waiting`](super::session_ref::SessionRef::waiting).

use super::changes::WritePreview;
use super::event::{Asking, PermissionKind, PermissionOption, TerminalSpec};
use super::ids::{EntryId, Now, ReqId, ToolId};
use super::login::LogIn;
use super::session::Session;
use super::tool::{ToolCall, Wording};
use crate::base::sanitize::deceives;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A request of the agent that the person answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    pub req: ReqId,
    /// The tool call it is about, or the entry that tells of the write or command.
    pub entry: EntryId,
    pub about: About,
    pub options: Vec<PermissionOption>,
    /// Of a permission, in the agent's own words; those of another question about the same call are not these.
    pub wording: Option<Box<Wording>>,
    pub at: Now,
    /// A request for a session that we do not know, or outside a turn, says so.
    pub note: Option<String>,
    /// What its diffs would really do, in their order; empty until that is known.
    pub previews: Vec<WritePreview>,
    /// How often its diffs have changed.
    pub(super) asked: u64,
    /// Where files that it names really are, of those outside of the session's directory.
    pub outside: Vec<Outside>,
    /// The decision hook is asked about it.
    pub is_hook_asked: bool,
    /// The decision hook has left it to the person, with its reason, if it gave one; no rule that allows answers it.
    pub hook: Option<LeftByHook>,
    /// Nobody is there any more who could answer it.
    pub is_left: bool,
    /// Whether the rules are asked about it.
    pub(super) ruling: Asks,
}

/// What the decision hook has said of a question that it leaves to the person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftByHook {
    pub reason: Option<String>,
}

impl LeftByHook {
    /// For the person.
    pub fn words(&self) -> String {
        match &self.reason {
            Some(reason) => format!("the decision hook asks: {reason}"),
            None => "the decision hook asks".to_owned(),
        }
    }
}

impl Question {
    /// What its diffs would do is being found out.
    pub const fn is_being_compared(&self) -> bool {
        self.asked > 0 && self.previews.is_empty()
    }
}

/// What a question comes with: its words, and what can be answered.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Offered {
    pub wording: Option<Box<Wording>>,
    pub options: Vec<PermissionOption>,
}

/// The answer of this kind that can be given without the person: none that lasts, by its name, or because the agent gives
/// the same id to an answer of another kind.
pub fn once(options: &[PermissionOption], kind: PermissionKind) -> Option<&PermissionOption> {
    let is_alone = |one: &&PermissionOption| !options.iter().any(|other| other.id == one.id && other.kind != one.kind);
    let is_it = |one: &&PermissionOption| one.kind == kind && !lasts(&one.name);
    let mut found = options.iter().filter(is_alone).filter(is_it);
    let first = found.next()?;
    let others: Vec<&PermissionOption> = found.collect();
    // Of several one may do more: none is chosen to allow that does not say yes alone.
    let is_certain = others.is_empty() || kind != PermissionKind::AllowOnce;
    let mut all = std::iter::once(first).chain(others);
    let plain = all.find(|one| is_plain(&one.name));
    plain.or_else(|| Some(first).filter(|_| is_certain))
}

/// The only answer that allows: for this once, or where there is none of these, one that lasts. Of several each may say
/// something else.
pub fn only_to_allow(options: &[PermissionOption]) -> Option<&PermissionOption> {
    let of = |kind| options.iter().filter(move |option| option.kind == kind);
    let first = of(PermissionKind::AllowOnce).chain(of(PermissionKind::AllowAlways)).next()?;
    of(first.kind).all(|other| other.id == first.id).then_some(first)
}

/// Words that an answer consists of which says yes or no and nothing more.
const PLAIN: [&str; 24] = [
    "allow", "yes", "ok", "okay", "approve", "accept", "proceed", "continue", "run", "do", "it", "this", "once",
    "time", "just", "only", "the", "command", "reject", "deny", "no", "decline", "refuse", "cancel",
];

fn is_plain(name: &str) -> bool {
    let name = name.to_lowercase();
    let mut words = name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).peekable();
    words.peek().is_some() && words.all(|word| PLAIN.contains(&word))
}

/// Whether an answer holds for more than this once: by its kind, or where that says otherwise by its name.
pub fn holds(option: &PermissionOption) -> bool {
    match option.kind {
        PermissionKind::AllowAlways | PermissionKind::RejectAlways => true,
        PermissionKind::AllowOnce => lasts(&option.name),
        PermissionKind::RejectOnce | PermissionKind::Unknown => false,
    }
}

/// Whether words of an agent say that an answer holds for more than this once. That of a refusal may.
pub fn lasts(name: &str) -> bool {
    let name = name.to_lowercase();
    let words: Vec<&str> = name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(word));
    has(&["yolo", "bypass", "unrestricted", "dangerously"])
        || has(&["always", "session", "forever", "permanently", "permanent", "remember", "future", "trust", "auto"])
        || has(&["all", "every", "everything", "automatically", "autoaccept", "autoapprove", "allowlist", "whitelist"])
        || has(&["again", "ask", "asking"]) && has(&["not", "don", "dont", "never", "without", "stop"])
        || words.windows(3).any(|three| three == ["from", "now", "on"])
}

/// A path that leads out of the session's directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outside {
    /// As the agent names it.
    pub path: String,
    /// With every link followed; nothing where that cannot be told.
    pub real: Option<String>,
}

/// Whether something is asked about a request that can change meanwhile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Asks {
    #[default]
    No,
    Yes,
    /// What the answer will be about is not so any more: it is asked once more then.
    Stale,
}

impl Question {
    /// Whether what is asked holds something that is not seen as it is.
    pub fn deceives(&self, session: &Session) -> bool {
        let is_named = self.options.iter().any(|option| deceives(&option.name));
        let is_run = match &self.about {
            About::Run(spec) => spec_texts(spec).any(deceives),
            About::Read(read) => deceives(&read.path),
            About::Permission | About::Write | About::Asked { .. } => false,
        };
        let is_written = session.write(self.req).is_some_and(|write| deceives(&write.path) || deceives(&write.content));
        let is_in_terminal = |call: &ToolCall| {
            call.terminals().filter_map(|id| session.terminal(id)).any(|t| deceives(&t.command) || deceives(&t.cwd))
        };
        let is_worded = self.wording.as_deref().is_some_and(Wording::deceives);
        is_named
            || is_worded
            || is_run
            || is_written
            || session.tool(self.entry).is_some_and(|call| call.deceives() || is_in_terminal(call))
    }
}

fn spec_texts(spec: &TerminalSpec) -> impl Iterator<Item = &str> {
    let env = spec.env.iter().flat_map(|(name, value)| [name, value]);
    std::iter::once(&spec.command).chain(&spec.args).chain(env).chain(&spec.cwd).map(String::as_str)
}

/// What a question is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum About {
    /// The agent asks, with options of its own.
    Permission,
    /// A gate asks: a write through the client, which is the session's of the same request.
    Write,
    /// A rule asks, or what may be secret: a file that the client is to read.
    Read(Arc<ReadSpec>),
    /// A gate asks: a command in a terminal of the client.
    Run(Arc<TerminalSpec>),
    /// The agent asks for more than yes or no.
    Asked {
        asking: Asking,
        /// The call of ours that it is for; without one, the session.
        call: Option<u64>,
        /// The tool call that waits for it.
        of: Option<ToolId>,
    },
}

/// A file, or a part of it, that an agent has the client read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadSpec {
    pub path: String,
    pub line: Option<u32>,
    pub limit: Option<u32>,
    /// It wants to know how many lines there are.
    pub counts: bool,
}

impl About {
    /// It goes on when the turn does not.
    pub(super) const fn is_for_a_call(&self) -> bool {
        matches!(self, Self::Asked { call: Some(_), .. })
    }
}

/// One of the things that wait for the person.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Waiting<'a> {
    Question(&'a Question),
    /// Its agent wants to know who the person is.
    LogIn(&'a LogIn),
}

#[cfg(test)]
mod tests {
    use super::{is_plain, lasts, once, only_to_allow};
    use crate::model::event::{PermissionKind, PermissionOption};

    #[test]
    fn of_several_answers_that_hold_once_the_plain_one_is_chosen_or_none() {
        let options = |names: &[&str], kind| -> Vec<PermissionOption> {
            names.iter().map(|name| PermissionOption { id: (*name).into(), name: (*name).into(), kind }).collect()
        };
        let chosen = |names: &[&str], kind| once(&options(names, kind), kind).map(|one| one.name.clone());
        let (allow, reject) = (PermissionKind::AllowOnce, PermissionKind::RejectOnce);
        assert_eq!(chosen(&["Allow and run the hooks", "Allow"], allow).as_deref(), Some("Allow"));
        assert_eq!(
            chosen(&["Allow and enable YOLO mode", "Allow with network"], allow).as_deref(),
            Some("Allow with network")
        );
        assert_eq!(chosen(&["Allow and run hooks", "Allow with network"], allow), None);
        assert_eq!(chosen(&["Yes, proceed as planned"], allow).as_deref(), Some("Yes, proceed as planned"));
        assert_eq!(chosen(&["No, and say why", "Reject"], reject).as_deref(), Some("Reject"));
        assert_eq!(chosen(&["No, and say why", "No, stop here"], reject).as_deref(), Some("No, and say why"));
        assert!(is_plain("Yes, once") && !is_plain("Yes, and edit") && !is_plain("✓"));
    }

    #[test]
    fn of_several_answers_that_allow_none_is_the_only_one() {
        use PermissionKind::{AllowAlways, AllowOnce, RejectOnce};
        let chosen = |options: &[(&str, PermissionKind)]| {
            let option = |(id, kind): &(&str, _)| PermissionOption { id: (*id).into(), name: "N".into(), kind: *kind };
            only_to_allow(&options.iter().map(option).collect::<Vec<_>>()).map(|one| (one.id.clone(), one.kind))
        };
        assert_eq!(chosen(&[("a", AllowOnce), ("b", AllowAlways), ("c", AllowAlways)]), Some(("a".into(), AllowOnce)));
        assert_eq!(chosen(&[("n", RejectOnce), ("b", AllowAlways)]), Some(("b".into(), AllowAlways)));
        for several in [
            &[("a", AllowOnce), ("b", AllowOnce)][..],
            &[("a", AllowOnce), ("b", AllowOnce), ("c", AllowAlways)],
            &[("a", AllowAlways), ("b", AllowAlways)],
            &[("n", RejectOnce)],
        ] {
            assert_eq!(chosen(several), None, "{several:?}");
        }
    }

    #[test]
    fn an_answer_lasts_by_what_it_is_called() {
        for name in [
            "Always allow",
            "Yes, and don't ask again",
            "Yes, for this session",
            "Yes to all",
            "Allow all edits",
            "Trust this tool",
            "Yes, auto-accept edits",
            "Stop asking",
            "From now on",
            "Allow and enable YOLO mode",
        ] {
            assert!(lasts(name), "{name}");
        }
        for name in [
            "Allow",
            "Allow once",
            "Yes",
            "Yes, proceed",
            "Yes, and manually approve edits",
            "Approve once",
            "Run this time",
        ] {
            assert!(!lasts(name), "{name}");
        }
    }
}
