//! Entries to logical lines: one function per kind.
//!
//! Does not wrap, paint or cache; reads the model and changes nothing. Invariants: every text of an agent passes
//! `sanitize` on its way, and no entry gives more lines than its caps allow.

mod changes;
mod diffs;
pub mod group;
mod head;
mod lines;
mod message;
mod moved;
mod named;
mod nested;
pub mod parts;
mod patch;
mod permission;
pub mod pictures;
pub mod plan;
mod source;
mod terminal;
mod tool;
mod unsaid;
mod values;

use crate::model::entry::{Body, Entry};
use crate::model::history::Kind;
use crate::model::ids::{Now, TermId};
use crate::model::session_ref::SessionRef;
use crate::model::terminal::Terminal;
use crate::text::line::LogicalLine;
use crate::text::run::{RunStyle, StyledText};
use crate::ui::keys::{Keymap, Layer};
use crate::ui::md::split::{Markdown, StablePrefix};
use crate::ui::state::folds::Fold;
use crate::ui::state::pictures::Pictures;
pub use changes::changed;
pub use head::FOLDED;
pub use named::{ABOUT, in_words, object_in_words, waits_for, wish};
pub use permission::{Asked, Sent, asked, raw_input};
pub use source::{copied, searched, source};
use std::path::{Path, PathBuf};
pub use terminal::printed;
pub use tool::{exit_of, told};

/// The glyph of what runs; the painter replaces it by the picture of the moment.
pub const SPINNER: &str = "⠹";

/// What a cell may look at.
#[derive(Clone, Copy)]
pub struct CellCtx<'a> {
    pub session: SessionRef<'a>,
    /// Columns for prefix and text, the gutter not counted.
    pub width: u16,
    pub now: Now,
    /// Calls that follow and have no row of their own.
    pub with: &'a [&'a Entry],
    /// What the person chose.
    pub fold: Option<Fold>,
    /// The panel shows the plan.
    pub plan_beside: bool,
    /// The command that the person types into.
    pub typing: Option<&'a TermId>,
    /// Directories that paths are shown relative to.
    pub roots: &'a [PathBuf],
    pub home: Option<&'a Path>,
    /// What is known of pictures, where any are drawn.
    pub pictures: Option<&'a Pictures>,
    /// The keys as they are bound; nothing where none counts.
    pub keys: Option<&'a Keymap>,
}

/// What paths are shown relative to.
#[derive(Clone, Copy)]
pub struct Places<'a> {
    pub roots: &'a [PathBuf],
    pub home: Option<&'a Path>,
}

impl<'a> From<&CellCtx<'a>> for Places<'a> {
    fn from(ctx: &CellCtx<'a>) -> Self {
        Self { roots: ctx.roots, home: ctx.home }
    }
}

impl CellCtx<'_> {
    /// Words with the keys in them as they are bound.
    fn say(&self, words: &'static str) -> String {
        match self.keys {
            Some(keys) => keys.say(Layer::Composer, words),
            None => words.split(" · ").filter(|part| !part.contains('{')).collect::<Vec<_>>().join(" · "),
        }
    }
}

/// Text that is laid out piece by piece because it may be long and may grow.
#[derive(Clone, Copy, Debug)]
pub struct Flow<'a> {
    pub text: &'a str,
    pub markdown: Markdown,
}

/// The text of an entry that flows; `None` for entries that are laid out as a whole.
pub fn flow(entry: &Entry, fold: Option<Fold>) -> Option<Flow<'_>> {
    match &entry.body {
        Body::User(m) if fold != Some(Fold::Open) && message::is_long(m) => None,
        Body::User(m) => Some(Flow { text: &m.text, markdown: Markdown::No }),
        Body::Agent(m) => Some(Flow { text: &m.text, markdown: Markdown::Yes }),
        Body::Thought(t) if fold == Some(Fold::Open) => Some(Flow { text: &t.message.text, markdown: Markdown::Yes }),
        _ => None,
    }
}

/// Whether entries of a kind flow.
pub fn flows(kind: Kind, fold: Option<Fold>) -> bool {
    matches!(kind, Kind::User | Kind::Agent) || kind == Kind::Thought && fold == Some(Fold::Open)
}

/// The lines of one piece of an entry that flows.
pub fn piece(entry: &Entry, ctx: &CellCtx<'_>, split: &StablePrefix, index: usize) -> Vec<LogicalLine> {
    match &entry.body {
        Body::User(m) => message::user(m, ctx, split, index),
        Body::Agent(m) => message::agent(m, ctx, split, index),
        Body::Thought(t) => message::thought_open(t, ctx, split, index),
        _ => Vec::new(),
    }
}

/// All lines of an entry.
pub fn lines(entry: &Entry, ctx: &CellCtx<'_>) -> Vec<LogicalLine> {
    if let Some(flow) = flow(entry, ctx.fold) {
        let mut split = match flow.markdown {
            Markdown::Yes => StablePrefix::new(),
            Markdown::No => StablePrefix::plain(),
        };
        split.extend(flow.text, flow.markdown);
        split.finish(flow.text);
        return (0..split.pieces().len()).flat_map(|index| piece(entry, ctx, &split, index)).collect();
    }
    match &entry.body {
        Body::User(m) => message::user_closed(m, ctx),
        Body::Agent(_) => Vec::new(),
        Body::Thought(t) => message::thought_closed(entry, t, ctx),
        Body::Attachment(a) => message::attachment(a, ctx),
        Body::Tool(t) if !group::is_of_calls(ctx.with) => tool::lines(entry, t, ctx),
        Body::Tool(t) => {
            let others =
                ctx.with.iter().filter_map(|entry| if let Body::Tool(t) = &entry.body { Some(&**t) } else { None });
            group::lines(entry, &std::iter::once(&**t).chain(others).collect::<Vec<_>>(), ctx)
        }
        Body::Plan(entries) => plan::lines(entries, ctx),
        Body::Terminal(id) => terminal::own(id, ctx),
        Body::File(op) => message::file(op, ctx),
        Body::Notice(n) => message::notice(n, ctx),
        Body::Changes(c) => changes::lines(entry, c, ctx),
    }
}

/// What an entry is called in a line about it: a call as in its row.
pub fn name(entry: &Entry, ctx: &CellCtx<'_>) -> String {
    match &entry.body {
        Body::Tool(tool) => format!("{} {}", named::deed(tool), named::object(tool, ctx).as_str()),
        Body::Plan(_) => "the plan".to_owned(),
        Body::Thought(_) => "a thought".to_owned(),
        _ => "what runs".to_owned(),
    }
}

/// Whether an entry draws nothing.
pub fn is_blank(entry: &Entry, session: SessionRef<'_>) -> bool {
    match &entry.body {
        Body::Terminal(id) => session.terminal(id).is_none_or(|t| !t.embedded.is_empty()),
        body => body.is_blank(),
    }
}

/// Whether the person is being asked about this entry.
pub fn is_waiting(entry: &Entry, session: SessionRef<'_>) -> bool {
    session.questions().iter().any(|p| p.entry == entry.id)
}

/// Whether a clock or a spinner of the entry runs.
pub fn is_live(entry: &Entry, session: SessionRef<'_>) -> bool {
    match &entry.body {
        Body::Tool(t) => tool::is_running(t),
        Body::Thought(_) => !entry.finished,
        Body::Terminal(id) => session.terminal(id).is_some_and(Terminal::is_running),
        _ => false,
    }
}

/// Whether the lines of an entry depend on the time: it is live, or a command that it shows is.
pub fn ticks(entry: &Entry, session: SessionRef<'_>) -> bool {
    let runs = |id: &TermId| session.terminal(id).is_some_and(Terminal::is_running);
    is_live(entry, session) || matches!(&entry.body, Body::Tool(t) if t.terminals().any(runs))
}

/// Blank rows between two entries.
pub fn gap_between(above: Kind, below: Kind) -> u8 {
    u8::from(!matches!(
        (Group::of(above), Group::of(below)),
        (Group::Work, Group::Work)
            | (Group::Plan, Group::Plan)
            | (Group::Notice, Group::Notice)
            | (Group::End, Group::End)
            | (Group::Thought, Group::Thought)
            | (Group::User | Group::Attachment, Group::Attachment)
    ))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Group {
    User,
    Agent,
    Thought,
    Attachment,
    Work,
    Plan,
    Notice,
    End,
}

impl Group {
    const fn of(kind: Kind) -> Self {
        match kind {
            Kind::User => Self::User,
            Kind::UserAttachment => Self::Attachment,
            Kind::Agent | Kind::Attachment => Self::Agent,
            Kind::Thought => Self::Thought,
            Kind::Tool | Kind::Terminal | Kind::File => Self::Work,
            Kind::Plan => Self::Plan,
            Kind::Notice => Self::Notice,
            Kind::Changes => Self::End,
        }
    }
}

/// A glyph and the column after it.
fn gutter(glyph: &str, style: impl Into<RunStyle>) -> StyledText {
    StyledText::of(format!("{glyph} "), style)
}

#[cfg(test)]
#[path = "cells_tests.rs"]
mod tests;
