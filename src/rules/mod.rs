//! Rules: what agents may do without a question, what they may not do at all, and what is asked.
//!
//! Knows no session, no agent, no file and no screen: rules, a request and a way to resolve links go in, a verdict comes
//! out. Floors, from below: `glob`, `marks`, `word`, `wrappers` (data), `shell` (reads a line), `steering`, `secrets`, `hazards` (data),
//! `tool`, `pattern`, `tree`, `list`, `judge`, `propose` (patterns for a request), `file` (TOML to rules) and `edit` (adds and removes in
//! that text). Invariants: deny goes before ask, ask before allow, and without a rule it is ask; all that cannot be
//! read for certain is asked about.

mod document;
mod edit;
mod file;
mod glob;
mod hazards;
mod judge;
mod list;
mod marks;
mod pattern;
mod propose;
mod secrets;
mod shell;
mod steering;
mod tool;
mod tree;
mod word;
mod words;
mod wrappers;

pub use edit::{Edit, NotEdited, edit};
pub use file::{Loaded, Trust, load};
pub use judge::{judge, verdict};
pub use propose::{patterns, propose};
pub use tool::{Kind, Tool, is_of_server};
pub use words::{Named, named, words};

use list::List;
use pattern::Pattern;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// In the order in which a worse one wins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    Allow,
    #[default]
    Ask,
    Deny,
}

/// Which list a rule stands in is its verdict.
pub const LISTS: [(Verdict, &str); 3] = [(Verdict::Allow, "allow"), (Verdict::Ask, "ask"), (Verdict::Deny, "deny")];

impl Verdict {
    pub fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        LISTS.iter().find(|(_, list)| *list == name).map(|(verdict, _)| *verdict)
    }
}

/// A rule as it stands in its file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuleRef {
    pub list: Verdict,
    pub pattern: String,
    /// Goes to the agent when the rule denies.
    pub reason: Option<String>,
    /// The configured agent that it is for; any without.
    pub agent: Option<String>,
    /// From this second on, counted from 1970, it is none any more.
    pub until: Option<i64>,
    pub file: Arc<str>,
    /// From 1.
    pub line: usize,
}

/// Why a file is asked about that is written.
pub const STEERS: &str = "later commands take programs or rules from this file";

/// Why it is asked although no rule says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// No rule is for it.
    NoRule,
    /// A pattern fits, but does not have words itself with which the program does more than it usually does.
    NotSpelled,
    /// The same, with what the program may do then.
    DoesMore(&'static str),
    /// It is no line of a shell.
    Unreadable,
    /// Shells read it differently.
    Dialect,
    /// What is not seen, or looks like something else.
    Deceptive,
    TooLong,
    /// Sums evaluate what variables hold.
    Arithmetic,
    /// A variable is not just replaced.
    Parameter,
    /// It sets a variable other than by `NAME=VALUE`.
    Setting,
    /// Which program it is only shows when it runs.
    Program,
    /// What could become an option.
    Options,
    /// The file is only known when it runs.
    File,
    /// The file is what is of a process, which only that knows.
    OfProcess,
    /// Where the file is depends on a change of the directory, or the program on the files of another one.
    Moved,
    /// Later commands run what this file names, or may do so.
    Steering,
    /// The same by a name that means nothing else.
    SurelySteering,
    /// It might be what a rule denies or asks about.
    PerhapsDenied,
    /// It is about all of a directory, below which a rule denies or asks about something.
    DeniedBelow,
    /// An earlier command of the line may have made a link of it.
    Linked,
    /// What a rule denies or asks about may run by another name afterwards.
    Renamed,
    /// A deny that could not be read.
    BrokenDeny,
    /// No rule with a host is for such an address.
    Address,
    /// It names a file that may hold secrets, and no rule does; with what is known of it.
    Secret(&'static str),
}

impl Doubt {
    /// Whether no more is known of it than that no rule speaks.
    pub const fn is_silence(self) -> bool {
        matches!(self, Self::NoRule | Self::Address | Self::NotSpelled | Self::DoesMore(_))
    }

    /// For the person.
    pub fn words(self) -> Cow<'static, str> {
        let words = match self {
            Self::NoRule => "no rule is for it",
            Self::NotSpelled => {
                "a rule for it has to spell out the subcommand, the option or the file that is used here"
            }
            Self::Unreadable => "the line cannot be read",
            Self::Dialect => "shells do not agree on what the line means",
            Self::Deceptive => "it holds characters that are not seen, or look like something else",
            Self::TooLong => "it is too long or too deep to be judged",
            Self::Arithmetic => "a sum or a test may run what variables hold",
            Self::Parameter => "what becomes of a variable may run something",
            Self::Setting => "it sets a variable, of which later programs are made",
            Self::Program => "which program it is only shows when it runs",
            Self::Options => "something may turn out to be an option when it runs",
            Self::File => "which file it is only shows when it runs",
            Self::OfProcess => "which file it is only the process knows that it is of",
            Self::Moved => "what it does depends on a directory that is not the session's",
            Self::PerhapsDenied => "it may be what a rule denies or asks about",
            Self::DeniedBelow => "it is about a directory, below which a rule denies or asks about something",
            Self::Linked => "an earlier command of the line may have made a link of a file that it names",
            Self::Renamed => "it may give another name to a program that a rule denies or asks about",
            Self::BrokenDeny => "a rule that denies could not be read",
            Self::Address => {
                "rules for a host or an address are for https at its own port; `Fetch` alone allows others"
            }
            Self::Secret(why) => why,
            Self::Steering | Self::SurelySteering => {
                return format!("{STEERS}; a rule has to spell the name out").into();
            }
            Self::DoesMore(why) => return format!("{} ({why})", Self::NotSpelled.words()).into(),
        };
        words.into()
    }
}

#[derive(Clone, Debug)]
struct Rule {
    pattern: Pattern,
    source: RuleRef,
}

/// A deny that could not be read: its tool is asked about, all of them when it names none.
#[derive(Clone, Debug)]
struct Broken {
    tool: Option<Tool>,
    agent: Option<String>,
}

#[derive(Clone, Debug, Default)]
pub struct Rules {
    allow: List,
    ask: List,
    deny: List,
    broken: Vec<Broken>,
}

/// What an agent wants to do.
#[derive(Clone, Copy, Debug)]
pub enum Subject<'a> {
    /// A line for a shell.
    Line(&'a str),
    /// A program and its arguments, started without a shell.
    Words(&'a [String]),
    /// Every file that is read, written, made, removed, or moved from and to.
    Paths(&'a [&'a Path]),
    /// An address, `server/tool`, or what else the tool is given.
    Text(&'a str),
}

/// Gives the real path of one that may not exist; `None` when it cannot be told.
pub type Links<'a> = dyn Fn(&Path) -> Option<PathBuf> + 'a;

/// Whether there may be files below a path: it is a directory, or that cannot be told.
pub type Above<'a> = dyn Fn(&Path) -> bool + 'a;

/// The names in a directory, none where it is none; `None` when they are too many, or cannot be told.
pub type Names<'a> = dyn Fn(&Path) -> Option<Vec<String>> + 'a;

/// Whether a private key may stand in a file.
pub type HoldsKey<'a> = dyn Fn(&Path) -> bool + 'a;

pub struct Request<'a> {
    pub tool: &'a Tool,
    pub subject: Subject<'a>,
    /// Where relative paths begin; real.
    pub cwd: &'a Path,
    /// Real.
    pub roots: &'a [PathBuf],
    pub home: Option<&'a Path>,
    /// The configured name.
    pub agent: Option<&'a str>,
    /// Seconds from 1970.
    pub now: i64,
    /// This program's own files and directories; real.
    pub ours: &'a [PathBuf],
    /// Where it keeps what was said and allowed; real.
    pub state: Option<&'a Path>,
    pub links: &'a Links<'a>,
    pub is_above: &'a Above<'a>,
    pub names: &'a Names<'a>,
    pub holds_key: &'a HoldsKey<'a>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    pub verdict: Verdict,
    pub rule: Option<RuleRef>,
    /// Further rules without which it would not be allowed.
    pub also: Vec<RuleRef>,
    /// Where no rule decided.
    pub doubt: Option<Doubt>,
}

impl Rules {
    /// Adds a rule. One that cannot be read has no effect, but for a deny: its tool is asked about from then on.
    pub fn add(&mut self, source: RuleRef) -> Result<(), String> {
        match pattern::parse(&source.pattern) {
            Ok(pattern) => {
                self.list_mut(source.list).push(Rule { pattern, source });
                Ok(())
            }
            Err(reason) => {
                if source.list == Verdict::Deny {
                    self.broken(Some(&source.pattern), source.agent);
                }
                Err(reason)
            }
        }
    }

    /// A deny that could not be read, with what can be read of it.
    pub fn broken(&mut self, text: Option<&str>, agent: Option<String>) {
        let name = text.and_then(|text| text.trim().split('(').next());
        let tool = name.and_then(|name| Tool::named(name.trim())).filter(|tool| tool.kind != Kind::Other);
        self.broken.push(Broken { tool, agent });
    }

    /// Takes the rules of another file too.
    pub fn extend(&mut self, other: Self) {
        self.allow.extend(other.allow);
        self.ask.extend(other.ask);
        self.deny.extend(other.deny);
        self.broken.extend(other.broken);
    }

    /// The agents that rules are for alone, each once.
    pub fn agents(&self) -> BTreeSet<&str> {
        let broken = self.broken.iter().filter_map(|broken| broken.agent.as_deref());
        self.iter().filter_map(|rule| rule.agent.as_deref()).chain(broken).collect()
    }

    /// The same with what is for agents of other names for the one of this name, too.
    #[must_use]
    pub fn also_for(mut self, name: &str, others: &[String]) -> Self {
        let is_other = |agent: &Option<String>| agent.as_ref().is_some_and(|agent| others.contains(agent));
        let name = || Some(name.to_owned());
        for list in [&mut self.allow, &mut self.ask, &mut self.deny] {
            let more: Vec<Rule> = list.iter().filter(|rule| is_other(&rule.source.agent)).cloned().collect();
            for rule in more {
                list.push(Rule { source: RuleRef { agent: name(), ..rule.source }, ..rule });
            }
        }
        let broken = self.broken.iter().filter(|broken| is_other(&broken.agent));
        let broken: Vec<Broken> = broken.map(|broken| Broken { agent: name(), ..broken.clone() }).collect();
        self.broken.extend(broken);
        self
    }

    /// Without those that allow.
    #[must_use]
    pub fn narrowing(self) -> Self {
        Self { allow: List::default(), ..self }
    }

    /// The same for a file that belongs to this directory: paths of patterns begin there, and in no other one.
    #[must_use]
    pub fn narrowing_at(self, dir: &Path) -> Self {
        let at = |list: List| {
            let mut all = List::default();
            for rule in list.iter() {
                all.push(Rule { pattern: rule.pattern.at(dir), source: rule.source.clone() });
            }
            all
        };
        Self { allow: List::default(), ask: at(self.ask), deny: at(self.deny), broken: self.broken }
    }

    /// Whether any rule asks or denies, or might if it could be read.
    pub fn narrow(&self) -> bool {
        !(self.ask.is_empty() && self.deny.is_empty() && self.broken.is_empty())
    }

    /// Whether any rule denies.
    pub fn denies(&self) -> bool {
        !self.deny.is_empty()
    }

    /// Whether any rule is for this tool.
    pub fn has_any_for(&self, tool: &Tool) -> bool {
        let mut all = [&self.deny, &self.ask, &self.allow].into_iter().flat_map(List::iter);
        all.any(|rule| rule.pattern.tool.covers(tool))
    }

    /// Every rule, the strictest list first; also those whose time is over.
    pub fn iter(&self) -> impl Iterator<Item = &RuleRef> {
        [&self.deny, &self.ask, &self.allow].into_iter().flat_map(List::iter).map(|rule| &rule.source)
    }

    fn list_mut(&mut self, list: Verdict) -> &mut List {
        match list {
            Verdict::Allow => &mut self.allow,
            Verdict::Ask => &mut self.ask,
            Verdict::Deny => &mut self.deny,
        }
    }
}

/// Why a path that is only known as text is asked about, where it names a file that may hold secrets.
pub fn secret(path: &str) -> Option<&'static str> {
    secrets::of_word(path).map(|secret| secret.why)
}

/// The same of a text that may be a program, or say what is done to a file.
pub fn secret_in(text: &str) -> Option<&'static str> {
    let is_sentence = !text.contains('(');
    let named = secrets::of_program(text, true).or_else(|| secrets::of_line(text).filter(|_| is_sentence));
    named.map(|secret| secret.why)
}

/// What is to be said of a pattern of this list that holds for less than it seems to.
pub fn remark(list: Verdict, pattern: &str) -> Option<String> {
    let name = pattern.split('(').next()?.trim();
    let read = pattern::parse(pattern).ok()?;
    let is_empty = list == Verdict::Allow && read.is_for_anything();
    let empty = || {
        format!("{pattern} allows nothing: what says nothing else is allowed by its title, as in {name}(Update plan)")
    };
    if is_empty { Some(empty()) } else { read.tool.unknown(name) }
}

/// Why a pattern is none.
pub fn check(pattern: &str) -> Result<(), String> {
    pattern::parse(pattern).map(drop)
}
