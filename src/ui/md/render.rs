//! Events of the parser to lines: blocks, containers in front of them, inline styles.
//!
//! One pass, no tree. Invariant: every block at the top gives at least one line, so that pieces of a text are
//! separated like blocks of one text.

use super::code::{self, Lang};
use super::table::{Table, head_style};
use crate::base::sanitize;
use crate::text::line::{LogicalLine, WrapMode};
use crate::text::run::{Mods, RunStyle, StyledText};
use crate::text::token::Token;
use pulldown_cmark::{BrokenLink, CodeBlockKind, CowStr, Event, HeadingLevel, LinkType, Options, Parser, Tag, TagEnd};
use std::collections::BTreeMap;

/// Containers deeper than this are not drawn (their text is).
const MAX_DEPTH: usize = 12;
/// An address longer than this is cut; the text below a link is what a person reads.
const MAX_URL: usize = 1024;
const RULE: usize = 12;

/// Link reference definitions of the whole text, by normalised label.
pub(super) type Links = BTreeMap<String, String>;

/// Whether the language of a code block is named at the right of its first row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Label {
    Shown,
    /// The text begins in the middle of a code block.
    Hidden,
}

/// Labels match without regard to case and, as the parser has it, to how much white space of ASCII stands in one place. Some
/// letters have more small forms than one, some more large ones.
fn normalise(label: &str) -> String {
    let mut out = String::with_capacity(label.len());
    for c in label.chars() {
        match c {
            ' ' | '\t'..='\r' if out.ends_with(' ') => {}
            ' ' | '\t'..='\r' => out.push(' '),
            _ => out.push(c),
        }
    }
    out.to_lowercase().to_uppercase()
}

pub(super) const OPTIONS: Options =
    Options::ENABLE_TABLES.union(Options::ENABLE_STRIKETHROUGH).union(Options::ENABLE_TASKLISTS);

/// The labels and addresses that a text defines.
pub(super) fn defined(text: &str) -> Links {
    let parser = Parser::new_ext(text, OPTIONS);
    let definitions = parser.reference_definitions().iter();
    definitions.map(|(label, definition)| (normalise(label), definition.dest.to_string())).collect()
}

/// Whether a text is more than definitions and blank lines.
pub(super) fn draws(text: &str) -> bool {
    Parser::new_ext(text, OPTIONS).next().is_some()
}

pub(super) fn render(text: &str, width: u16, label: Label, links: &Links) -> Vec<LogicalLine> {
    let mut callback = |link: BrokenLink<'_>| {
        let url = links.get(&normalise(&link.reference))?;
        Some((CowStr::from(url.clone()), CowStr::Borrowed("")))
    };
    let parser = Parser::new_with_broken_link_callback(text, OPTIONS, Some(&mut callback));
    let mut state = Renderer::new(text, width, label);
    for (event, range) in parser.into_offset_iter() {
        // The parser's ranges of containers may reach into what follows them.
        let ended = match event {
            // Its range may begin before its mark.
            Event::Start(Tag::Item) => Some(range.start + blanks(text, range.start) + 1),
            Event::Start(_) | Event::End(TagEnd::List(_) | TagEnd::Item | TagEnd::BlockQuote(_)) => None,
            _ => Some(range.end),
        };
        let event = if let Event::Start(tag) = event { Event::Start(as_first_defined(tag, links)) } else { event };
        state.event(event, range.start);
        state.ended = ended.unwrap_or(state.ended);
    }
    state.flush(WrapMode::Words);
    state.out
}

/// Of several definitions of a label the first one counts: it may stand in a piece before this one.
fn as_first_defined<'a>(mut tag: Tag<'a>, links: &Links) -> Tag<'a> {
    if let Tag::Link { link_type, dest_url, id, .. } | Tag::Image { link_type, dest_url, id, .. } = &mut tag
        && matches!(link_type, LinkType::Reference | LinkType::Collapsed | LinkType::Shortcut)
        && let Some(url) = links.get(&normalise(id))
    {
        *dest_url = url.clone().into();
    }
    tag
}

enum Container {
    /// `from`: how many lines there were before it. `at`: byte of the source where it begins.
    Quote { from: usize, at: usize },
    /// `marker` stands in front of the first line, blanks of its width in front of the others.
    Item { marker: String, used: bool },
}

struct Link {
    url: String,
    /// Where its text begins in the current line.
    from: usize,
    image: bool,
}

struct Renderer<'a> {
    source: &'a str,
    width: u16,
    label: Label,
    out: Vec<LogicalLine>,
    containers: Vec<Container>,
    /// Next number of each open list; `None` for bullets.
    lists: Vec<Option<u64>>,
    style: Vec<RunStyle>,
    links: Vec<Link>,
    current: StyledText,
    code: Option<(String, String)>,
    table: Option<Table>,
    row: Vec<StyledText>,
    in_head: bool,
    gap: bool,
    /// Byte of the source where the last block ended.
    ended: usize,
    /// Byte of the source where the last quote without content began: what stands before it is no more between two blocks.
    empty: usize,
    /// Quotes that go on through the blank line.
    gap_bars: usize,
    /// The last block wants a blank line after it, also where the source has none.
    stands_apart: bool,
}

impl<'a> Renderer<'a> {
    fn new(source: &'a str, width: u16, label: Label) -> Self {
        Self {
            source,
            width,
            label,
            out: Vec::new(),
            containers: Vec::new(),
            lists: Vec::new(),
            style: Vec::new(),
            links: Vec::new(),
            current: StyledText::new(),
            code: None,
            table: None,
            row: Vec::new(),
            in_head: false,
            gap: false,
            ended: 0,
            empty: 0,
            gap_bars: 0,
            stands_apart: false,
        }
    }

    fn event(&mut self, event: Event<'_>, at: usize) {
        match event {
            Event::Start(tag) => self.start(tag, at),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => match &mut self.code {
                Some((_, body)) => body.push_str(&text),
                None => self.text(&text, self.style()),
            },
            Event::Code(text) => {
                let style = RunStyle { token: Token::Code, ..self.style() };
                self.text(&text, style);
            }
            Event::InlineHtml(html) if is_break(&html) && self.table.is_none() => self.flush(WrapMode::Words),
            Event::InlineHtml(html) if is_break(&html) => self.text(" ", self.style()),
            Event::InlineHtml(html) => self.text(&html, Token::Dim.into()),
            Event::Html(html) => {
                for line in html.lines() {
                    self.text(line, Token::Dim.into());
                    self.emit(WrapMode::Words);
                }
            }
            Event::SoftBreak => self.text(" ", self.style()),
            Event::HardBreak if self.table.is_some() => self.text(" ", self.style()),
            Event::HardBreak => self.emit(WrapMode::Words),
            Event::Rule => {
                self.block(at, true);
                let columns = RULE.min(self.room());
                self.current.push(&"─".repeat(columns), Token::Rule);
                self.emit(WrapMode::Truncate);
                if let Some(line) = self.out.last_mut() {
                    line.source = Some("---".into());
                }
                self.stands_apart = true;
            }
            Event::TaskListMarker(done) => self.task(done),
            // Switched off; shown as written if it ever comes.
            Event::FootnoteReference(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.text(&text, self.style());
            }
        }
    }

    fn start(&mut self, tag: Tag<'_>, at: usize) {
        match tag {
            Tag::Paragraph => self.block(at, false),
            Tag::HtmlBlock => self.block(at, false),
            Tag::Heading { level, .. } => {
                self.block(at, true);
                self.style.push(heading(level));
            }
            Tag::BlockQuote(_) => {
                self.block(at, self.containers.is_empty());
                self.containers.push(Container::Quote { from: self.out.len(), at });
                self.style.push(RunStyle { token: Token::Quote, ..self.style() });
            }
            Tag::CodeBlock(kind) => {
                self.block(at, true);
                let info = match kind {
                    CodeBlockKind::Fenced(info) => info.to_string(),
                    CodeBlockKind::Indented => String::new(),
                };
                self.code = Some((info, String::new()));
            }
            Tag::List(first) => {
                self.block(at, false);
                self.lists.push(first);
            }
            Tag::Item => self.item(at),
            Tag::Table(aligns) => {
                self.block(at, true);
                self.table = Some(Table { aligns, ..Table::default() });
            }
            Tag::TableHead => self.in_head = true,
            Tag::TableRow | Tag::TableCell => {}
            Tag::Emphasis => self.push_mods(Mods::ITALIC),
            Tag::Strong => self.push_mods(Mods::BOLD),
            Tag::Strikethrough => self.push_mods(Mods::STRIKE),
            Tag::Link { dest_url, .. } => {
                self.links.push(Link { url: address(&dest_url), from: self.current.len(), image: false });
                self.style.push(RunStyle { token: Token::Link, ..self.style() });
            }
            Tag::Image { dest_url, .. } => {
                self.text("[image: ", self.style());
                self.links.push(Link { url: address(&dest_url), from: self.current.len(), image: true });
                self.style.push(self.style());
            }
            _ => self.style.push(self.style()),
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph => self.emit(WrapMode::Words),
            TagEnd::HtmlBlock => self.flush(WrapMode::Words),
            TagEnd::Heading(_) => {
                self.style.pop();
                self.emit(WrapMode::Words);
                self.stands_apart = true;
            }
            TagEnd::BlockQuote(_) => {
                self.flush(WrapMode::Words);
                if let Some(Container::Quote { from, at }) = self.containers.last()
                    && *from == self.out.len()
                {
                    self.empty = *at;
                    self.emit(WrapMode::Words);
                }
                self.style.pop();
                self.containers.pop();
                self.stands_apart = self.containers.is_empty();
            }
            TagEnd::CodeBlock => self.code_block(),
            TagEnd::List(_) => {
                self.lists.pop();
            }
            TagEnd::Item => {
                if !self.current.is_empty()
                    || matches!(self.containers.last(), Some(Container::Item { used: false, .. }))
                {
                    self.emit(WrapMode::Words);
                }
                self.containers.pop();
                self.stands_apart = false;
            }
            TagEnd::Table => self.table_end(),
            TagEnd::TableHead => {
                self.in_head = false;
                let head = std::mem::take(&mut self.row);
                if let Some(table) = &mut self.table {
                    table.head = head;
                }
            }
            TagEnd::TableRow => {
                let row = std::mem::take(&mut self.row);
                if let Some(table) = &mut self.table {
                    table.rows.push(row);
                }
            }
            TagEnd::TableCell => self.row.push(std::mem::take(&mut self.current)),
            TagEnd::Link | TagEnd::Image => self.link_end(),
            _ => {
                self.style.pop();
            }
        }
    }

    fn style(&self) -> RunStyle {
        self.style.last().copied().unwrap_or_default()
    }

    fn push_mods(&mut self, mods: Mods) {
        self.style.push(self.style().with_mods(mods));
    }

    fn text(&mut self, text: &str, style: RunStyle) {
        let style = if self.in_head { head_style(style) } else { style };
        self.current.push(&sanitize::line(text), style);
    }

    /// A block begins: decides about the blank line before it.
    fn block(&mut self, at: usize, apart: bool) {
        self.flush(WrapMode::Words);
        if !self.gap {
            self.gap_bars = self.containers.iter().take_while(|c| matches!(c, Container::Quote { .. })).count();
        }
        self.gap |= self.stands_apart || apart || blank_line_between(self.source, self.ended, self.empty, at);
        self.stands_apart = false;
    }

    fn item(&mut self, at: usize) {
        self.block(at, false);
        let marker = match self.lists.last_mut() {
            Some(Some(n)) => {
                let marker = format!("{n}. ");
                *n = n.saturating_add(1);
                marker
            }
            _ => "• ".to_owned(),
        };
        self.containers.push(Container::Item { marker, used: false });
    }

    fn task(&mut self, done: bool) {
        let mark = if done { "☑ " } else { "☐ " };
        if let Some(Container::Item { marker, .. }) = self.containers.last_mut() {
            if marker == "• " {
                marker.clear();
            }
            marker.push_str(mark);
        }
    }

    fn link_end(&mut self) {
        self.style.pop();
        let Some(link) = self.links.pop() else { return };
        if link.image {
            self.text("]", self.style());
        }
        let from = self.current.as_str().floor_char_boundary(link.from);
        let shown = self.current.as_str().get(from..).unwrap_or_default();
        let bare = link.url.strip_prefix("mailto:").unwrap_or(&link.url);
        if link.url.is_empty() || shown == link.url || shown == bare {
            return;
        }
        if shown.is_empty() {
            self.text(&link.url, Token::Link.into());
        } else {
            self.text(&format!(" ({})", link.url), Token::Dim.into());
        }
    }

    fn code_block(&mut self) {
        let Some((info, body)) = self.code.take() else { return };
        let tag = code::tag(&info);
        let hidden = std::mem::replace(&mut self.label, Label::Shown) == Label::Hidden;
        if !(body.is_empty() && hidden) {
            let mut right = StyledText::of(if hidden { "".into() } else { sanitize::line(tag) }, Token::Dim);
            for line in code::lines(&body, Lang::of(&info), tag) {
                let mut prefix = self.front();
                prefix.push("  ", Token::CodeBlock);
                let mut hang = self.front();
                hang.push("  ", Token::CodeBlock);
                self.push(LogicalLine { prefix, hang, right: std::mem::take(&mut right), ..line });
            }
        }
        self.stands_apart = true;
    }

    fn table_end(&mut self) {
        let Some(table) = self.table.take() else { return };
        for (text, wrap, source) in table.lines(self.room()) {
            let (prefix, hang) = self.fronts();
            self.push(LogicalLine { prefix, hang, text, wrap, source: Some(source), ..LogicalLine::default() });
        }
        self.stands_apart = true;
    }

    /// Columns that the containers leave.
    fn room(&self) -> usize {
        let front: usize = self
            .containers
            .iter()
            .take(MAX_DEPTH)
            .map(|c| match c {
                Container::Quote { .. } => 2,
                Container::Item { marker, .. } => marker.chars().count(),
            })
            .sum();
        usize::from(self.width).saturating_sub(front).max(1)
    }

    /// What stands in front of the next line; uses the markers up.
    fn front(&mut self) -> StyledText {
        let mut front = StyledText::new();
        for container in self.containers.iter_mut().take(MAX_DEPTH) {
            match container {
                Container::Quote { .. } => front.push("▎ ", Token::Quote),
                Container::Item { marker, used: false } => front.push(marker, Token::Dim),
                Container::Item { marker, .. } => front.push(&" ".repeat(marker.chars().count()), Token::Text),
            }
        }
        for container in &mut self.containers {
            if let Container::Item { used, .. } = container {
                *used = true;
            }
        }
        front
    }

    fn fronts(&mut self) -> (StyledText, StyledText) {
        self.blank_if_due();
        (self.front(), self.front())
    }

    fn blank_if_due(&mut self) {
        if std::mem::take(&mut self.gap) && !self.out.is_empty() {
            let prefix = StyledText::of("▎ ".repeat(self.gap_bars.min(MAX_DEPTH)), Token::Quote);
            self.out.push(LogicalLine { prefix, ..LogicalLine::default() });
        }
    }

    fn push(&mut self, line: LogicalLine) {
        self.blank_if_due();
        self.out.push(line);
    }

    /// Ends the current line, even when it is empty.
    fn emit(&mut self, wrap: WrapMode) {
        let (prefix, hang) = self.fronts();
        let text = std::mem::take(&mut self.current);
        for link in &mut self.links {
            link.from = 0;
        }
        self.out.push(LogicalLine { prefix, hang, text, wrap, ..LogicalLine::default() });
    }

    fn flush(&mut self, wrap: WrapMode) {
        if !self.current.is_empty() {
            self.emit(wrap);
        }
    }
}

fn heading(level: HeadingLevel) -> RunStyle {
    let (token, mods) = match level {
        HeadingLevel::H1 => (Token::Heading1, Mods::BOLD.with(Mods::UNDERLINE)),
        HeadingLevel::H2 => (Token::Heading2, Mods::BOLD),
        HeadingLevel::H3 => (Token::Heading3, Mods::BOLD.with(Mods::ITALIC)),
        _ => (Token::Heading3, Mods::ITALIC),
    };
    RunStyle::from(token).with_mods(mods)
}

fn address(url: &str) -> String {
    let clean = sanitize::line(url);
    let end = clean.floor_char_boundary(MAX_URL);
    let cut = clean.get(..end).unwrap_or_default();
    if end < clean.len() { format!("{cut}…") } else { cut.to_owned() }
}

fn is_break(html: &str) -> bool {
    matches!(html.to_ascii_lowercase().as_str(), "<br>" | "<br/>" | "<br />")
}

/// Blanks from there on.
fn blanks(text: &str, from: usize) -> usize {
    let rest = text.get(from..).unwrap_or_default();
    rest.len() - rest.trim_start_matches([' ', '\t']).len()
}

/// Whether a blank line stands between two blocks, of which the first ended not before `least`; marks of quotes count as
/// blank.
fn blank_line_between(source: &str, end: usize, least: usize, start: usize) -> bool {
    let before = source.get(..source.floor_char_boundary(end.min(start))).unwrap_or_default();
    let from = before.trim_end_matches([' ', '\t', '\n', '>']).len().max(least);
    let Some((between, _)) = source.get(from..start).and_then(|s| s.rsplit_once('\n')) else { return false };
    between.split('\n').skip(1).any(|line| line.chars().all(|c| matches!(c, ' ' | '\t' | '>')))
}
