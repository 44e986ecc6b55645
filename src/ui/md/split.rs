//! Cuts a growing text at places where Markdown certainly begins a new block, so that what is finished is laid out
//! once and only the last piece is parsed again.
//!
//! Reads each line once. A cut is made only where no later text can change what stands before it; in doubt there is
//! no cut. A link definition reaches all pieces once its last line has come whole, or the text has. Invariant: no piece
//! stays open beyond [`OPEN_MAX`] bytes and a line; beyond that the text is cut at the next best place and, if need be,
//! shown as plain lines, so that a change costs little.

use super::render::{Links, defined, draws};
use crate::base::sanitize;

/// The open piece is parsed again with every change: this bounds it.
pub const OPEN_MAX: usize = 16 << 10;
/// Pieces of code and plain text.
const PIECE: usize = 4 << 10;
/// Reference definitions that are remembered.
const MAX_LINKS: usize = 1000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Byte of the text where it starts; it ends where the next one starts.
    pub start: u32,
    pub kind: PieceKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PieceKind {
    Markdown,
    /// Goes on with a code block whose opening line is these bytes of the text.
    Fence {
        from: u32,
        to: u32,
    },
    /// Shown as it is.
    Plain,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fence {
    mark: u8,
    len: usize,
}

/// What the open piece is known to contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
struct Blocks {
    /// The line before was blank.
    blank: bool,
    /// Something that is drawn has been seen.
    content: bool,
    /// No telling where this ends.
    doubt: bool,
    /// In a list: the column from which lines belong to its item.
    item: Option<usize>,
    /// A line may or may not have left the list.
    loose_end: bool,
    /// A line since the last blank one began with `<`.
    html: bool,
    /// Where the last item of the list at the top starts.
    last_item: Option<usize>,
    /// A definition may stand here.
    defining: bool,
    /// The line before may be a definition that goes on here.
    defined: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Open {
    Blocks(Blocks),
    Fence { fence: Fence, from: u32, to: u32 },
    Plain { blank: bool },
}

/// The pieces of a text that only grows.
#[derive(Clone, Debug)]
pub struct StablePrefix {
    pieces: Vec<Piece>,
    open: Open,
    /// Lines before this byte have been read.
    read: usize,
    /// `read` is in the middle of a line that was cut.
    in_line: bool,
    /// How much text there is.
    end: usize,
    pub(super) links: Links,
    /// Definitions before this byte are known.
    learned: usize,
}

impl Default for StablePrefix {
    fn default() -> Self {
        Self::new()
    }
}

impl StablePrefix {
    pub fn new() -> Self {
        Self {
            pieces: vec![Piece { start: 0, kind: PieceKind::Markdown }],
            open: Open::Blocks(Blocks { defining: true, ..Blocks::default() }),
            read: 0,
            in_line: false,
            end: 0,
            links: Links::new(),
            learned: 0,
        }
    }

    /// For text that is no Markdown: pieces of lines.
    pub fn plain() -> Self {
        Self {
            pieces: vec![Piece { start: 0, kind: PieceKind::Plain }],
            open: Open::Plain { blank: false },
            ..Self::new()
        }
    }

    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// Where a piece ends.
    pub fn end_of(&self, piece: usize) -> Option<usize> {
        self.pieces.get(piece)?;
        Some(self.pieces.get(piece + 1).map_or(self.end, |next| next.start as usize))
    }

    /// Grows when a definition was found that may change what links before it show.
    pub fn links_seen(&self) -> usize {
        self.links.len()
    }

    fn start(&self) -> usize {
        self.pieces.last().map_or(0, |p| p.start as usize)
    }

    /// Reads what was appended. `markdown` is off for text that is shown as it is.
    pub fn extend(&mut self, text: &str, markdown: Markdown) {
        self.end = text.len();
        while let Some(line) = text.get(self.read..) {
            let Some(len) = line.find('\n') else { break };
            let line = line.get(..len).unwrap_or_default();
            let at = self.read;
            self.read += len + 1;
            if std::mem::take(&mut self.in_line) {
                // The rest of a line that was cut says nothing of blocks.
                self.bound(text, self.read);
                continue;
            }
            let (start, was_markdown) = (self.start(), matches!(self.open, Open::Blocks(_)));
            self.line(at, line.strip_suffix('\r').unwrap_or(line), markdown);
            self.bound(text, self.read);
            if was_markdown && self.start() > start {
                self.learn(text, start, self.start());
                self.join_to_first(text);
            }
        }
        if matches!(self.open, Open::Blocks(_)) && self.read > self.learned && !may_head_table(text, self.read) {
            self.learn(text, self.start(), self.read);
        }
        if let Some(rest) = text.get(self.read..).filter(|r| !r.is_empty())
            && !self.in_line
        {
            let start = self.start();
            self.partial(rest);
            if self.start() > start {
                self.join_to_first(text);
            }
        }
        self.bound(text, text.len());
    }

    /// A first piece that draws nothing, of definitions alone, is one with the second: a blank line stands between two that draw.
    fn join_to_first(&mut self, text: &str) {
        if let [first, second] = self.pieces.as_slice()
            && first.kind == PieceKind::Markdown
            && second.kind == PieceKind::Markdown
            && let Some(lines) = text.get(..second.start as usize).and_then(defining)
            && !draws(&lines)
        {
            self.pieces.pop();
        }
    }

    /// Nothing follows what was read: its last line may be a definition without an end of line.
    pub fn finish(&mut self, text: &str) {
        if matches!(self.open, Open::Blocks(_)) && self.end == text.len() && self.end > self.learned {
            self.learn(text, self.start(), self.end);
        }
    }

    /// Takes note of the definitions of whole lines. No later line makes one of them another, but for the one below the head of
    /// a table.
    fn learn(&mut self, text: &str, from: usize, to: usize) {
        self.learned = to;
        let Some(lines) = text.get(from..to).and_then(defining) else { return };
        for (label, url) in defined(&lines) {
            if self.links.len() < MAX_LINKS {
                self.links.entry(label).or_insert(url);
            }
        }
    }

    fn cut(&mut self, at: usize, kind: PieceKind, open: Open) {
        self.open = open;
        match self.pieces.last_mut() {
            Some(last) if last.start as usize == at => last.kind = kind,
            _ => self.pieces.push(Piece { start: at as u32, kind }),
        }
    }

    fn cut_block(&mut self, at: usize) {
        self.cut(at, PieceKind::Markdown, Open::Blocks(Blocks { defining: true, ..Blocks::default() }));
    }

    /// A complete line, without its end.
    fn line(&mut self, at: usize, raw: &str, markdown: Markdown) {
        let (line, odd) = visible(raw);
        let line = line.as_ref();
        match self.open {
            Open::Plain { blank } => {
                if line.trim_ascii().is_empty() {
                    self.open = Open::Plain { blank: true };
                } else if blank
                    && markdown == Markdown::Yes
                    && !odd
                    && !line.starts_with([' ', '\t'])
                    && marker(0, line).is_none()
                {
                    self.cut_block(at);
                    self.line_of_blocks(at, line, odd, Blocks::default());
                } else {
                    self.open = Open::Plain { blank: false };
                }
            }
            Open::Fence { fence, .. } => {
                // An odd one may be several when it is drawn, of which any may close it.
                let mut lines = line.split('\n');
                if lines.any(|line| closes(line, fence)) {
                    if lines.next().is_none() {
                        self.cut_block(self.read);
                    } else {
                        self.open = Open::Blocks(Blocks { doubt: true, content: true, ..Blocks::default() });
                    }
                }
            }
            Open::Blocks(blocks) => self.line_of_blocks(at, line, odd, blocks),
        }
    }

    fn line_of_blocks(&mut self, at: usize, line: &str, odd: bool, mut b: Blocks) {
        let (indent, rest) = indentation(line);
        if rest.is_empty() {
            b.blank = true;
            b.html = false;
            b.defining = true;
            b.defined = false;
            self.open = Open::Blocks(b);
            return;
        }
        if b.blank && b.content && !b.doubt && !odd && begins_block(indent, rest, b.item.is_some()) {
            self.cut_block(at);
            b = Blocks { defining: true, ..Blocks::default() };
        }
        let after_blank = std::mem::take(&mut b.blank);
        let may_define = std::mem::take(&mut b.defining) && b.item.is_none();
        let goes_on = std::mem::take(&mut b.defined);
        if odd || b.doubt {
            b.doubt = true;
            b.content = true;
            self.open = Open::Blocks(b);
            return;
        }
        if let Some(column) = b.item {
            if indent >= column {
                if b.loose_end && (opener(rest).is_some() || rest.starts_with('<')) {
                    b.doubt = true;
                }
                self.open = Open::Blocks(b);
                return;
            }
            let next = if indent <= 3 && !is_rule(rest) { marker(indent, rest) } else { None };
            if let Some(next) = next {
                b.doubt |= next.empty || b.loose_end && next.number.is_some_and(|n| n != 1);
                b.item = Some(indent + next.width);
                if indent == 0 {
                    b.last_item = Some(at);
                }
                self.open = Open::Blocks(b);
                return;
            }
            if after_blank || is_rule(rest) {
                b.item = None;
            } else if indent > 3 || opener(rest).is_none() {
                b.loose_end = true;
                b.doubt |= rest.starts_with('<');
                self.open = Open::Blocks(b);
                return;
            }
        }
        self.line_at_top(at, line.len() - rest.len(), indent, rest, Line { after_blank, may_define, goes_on }, b);
    }

    fn line_at_top(&mut self, at: usize, skip: usize, indent: usize, rest: &str, how: Line, mut b: Blocks) {
        let is_deep = indent > 3;
        if is_deep && !how.goes_on {
            b.content = true;
            self.open = Open::Blocks(b);
            return;
        }
        if let Some(fence) = opener(rest).filter(|_| !is_deep) {
            if b.html {
                b.doubt = true;
                self.open = Open::Blocks(b);
                return;
            }
            let to = at + skip + rest.len();
            let open = Open::Fence { fence, from: at as u32, to: to as u32 };
            if b.content {
                self.cut(at, PieceKind::Markdown, open);
            } else {
                self.open = open;
            }
            return;
        }
        if rest.starts_with('<') && !is_deep {
            b.doubt |= b.html || opens_html(rest);
            b.html = true;
        }
        if !is_deep
            && !is_rule(rest)
            && let Some(next) = marker(indent, rest)
        {
            let goes_on = b.content && !how.after_blank;
            b.doubt |= next.empty || b.html || goes_on && next.number.is_some_and(|n| n != 1);
            b.item = Some(indent + next.width);
            b.loose_end = false;
            b.last_item = Some(at);
        }
        // Its label may be written over several lines.
        if (how.may_define && rest.starts_with('[') || how.goes_on) && (rest.contains("]:") || !rest.contains(']')) {
            b.defining = true;
            b.defined = true;
        } else {
            b.content |= !how.goes_on;
            b.defining = ends_itself(rest);
        }
        self.open = Open::Blocks(b);
    }

    /// A line whose end has not come: its first character may already tell that a block begins.
    fn partial(&mut self, line: &str) {
        let Open::Blocks(b) = self.open else { return };
        let (indent, rest) = indentation(line);
        // What is not drawn may be the end of a line.
        let certain = line.trim_start_matches([' ', '\t']).starts_with(|c: char| c.is_alphabetic());
        if b.blank && b.content && !b.doubt && certain && begins_block(indent, rest, b.item.is_some()) {
            self.cut(self.read, PieceKind::Markdown, Open::Blocks(Blocks { defining: true, ..Blocks::default() }));
        }
    }

    /// Cuts what has grown too large. `end` is the end of what the open piece may take.
    fn bound(&mut self, text: &str, end: usize) {
        loop {
            let start = self.start();
            let size = end.saturating_sub(start);
            match self.open {
                Open::Blocks(b) => {
                    if size <= OPEN_MAX {
                        return;
                    }
                    if let Some(item) = b.last_item.filter(|item| *item > start && !b.doubt) {
                        self.cut(item, PieceKind::Markdown, self.open);
                    } else {
                        let at = break_near(text, start + OPEN_MAX / 2, start + OPEN_MAX);
                        self.cut(at, PieceKind::Plain, Open::Plain { blank: false });
                    }
                }
                Open::Fence { from, to, .. } => {
                    // A piece of code ends with a line when it can.
                    let limit = if end == self.read { PIECE } else { OPEN_MAX };
                    if size <= limit || (start <= from as usize && end <= to as usize + 1) {
                        return;
                    }
                    let at = if end == self.read && size <= OPEN_MAX {
                        end
                    } else {
                        break_near(text, start + PIECE / 2, start + PIECE).max(to as usize + 1).min(end)
                    };
                    self.cut(at, PieceKind::Fence { from, to }, self.open);
                }
                Open::Plain { .. } => {
                    let limit = if end == self.read { PIECE } else { 2 * PIECE };
                    if size <= limit {
                        return;
                    }
                    let at = if end == self.read && size <= 2 * PIECE {
                        end
                    } else {
                        break_near(text, start + PIECE / 2, start + PIECE)
                    };
                    self.cut(at, PieceKind::Plain, self.open);
                }
            }
            let start = self.start();
            if start > self.read || (start == self.read && text.as_bytes().get(start.wrapping_sub(1)) != Some(&b'\n')) {
                self.in_line = true;
                self.read = start;
            }
        }
    }
}

/// A place to cut between two bytes: the last end of a line, else the last space, else any character.
fn break_near(text: &str, low: usize, high: usize) -> usize {
    let high = text.floor_char_boundary(high);
    let low = text.floor_char_boundary(low);
    let window = text.get(low..high).unwrap_or_default();
    window.rfind('\n').or_else(|| window.rfind(' ')).map_or(high, |i| low + i + 1)
}

/// Whether a text is Markdown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Markdown {
    Yes,
    No,
}

#[derive(Clone, Copy)]
struct Line {
    after_blank: bool,
    may_define: bool,
    /// May still be a definition's address or title, which draw nothing.
    goes_on: bool,
}

/// The line as it is drawn, and whether it holds something that could change what lines are.
fn visible(raw: &str) -> (std::borrow::Cow<'_, str>, bool) {
    if raw.bytes().all(|b| matches!(b, b'\t' | b' '..=b'~')) {
        return (raw.into(), false);
    }
    let clean = sanitize::block(raw);
    let odd = clean.contains('\n') || raw.chars().any(|c| c == '\u{1b}' || ('\u{80}'..='\u{9f}').contains(&c));
    (clean, odd)
}

/// Columns of white space in front, and the rest without white space at either end.
fn indentation(line: &str) -> (usize, &str) {
    (blanks(line, 0), line.trim_matches([' ', '\t', '\u{b}', '\u{c}', '\r']))
}

/// Columns of white space in front of what stands at that column: how many a tab has depends on it.
fn blanks(text: &str, column: usize) -> usize {
    let mut at = column;
    for byte in text.bytes() {
        match byte {
            b' ' => at += 1,
            b'\t' => at += 4 - at % 4,
            _ => break,
        }
    }
    at - column
}

/// After a blank line: whether this line cannot belong to what stands before.
fn begins_block(indent: usize, rest: &str, in_list: bool) -> bool {
    if in_list { indent == 0 && (marker(indent, rest).is_none() || is_rule(rest)) } else { indent <= 3 }
}

struct Marker {
    /// Columns up to the text of the item.
    width: usize,
    number: Option<u32>,
    empty: bool,
}

/// Whether a line (without its indentation of so many columns) begins an item of a list.
fn marker(indent: usize, rest: &str) -> Option<Marker> {
    let bytes = rest.as_bytes();
    let digits = bytes.iter().take(10).take_while(|b| b.is_ascii_digit()).count();
    let (length, number) = match bytes.first()? {
        b'-' | b'+' | b'*' => (1, None),
        b'0'..=b'9' if digits <= 9 && matches!(bytes.get(digits), Some(b'.' | b')')) => {
            (digits + 1, rest.get(..digits)?.parse().ok())
        }
        _ => return None,
    };
    let after = rest.get(length..)?;
    if !after.is_empty() && !after.starts_with([' ', '\t']) {
        return None;
    }
    let (spaces, text) = (blanks(after, indent + length), indentation(after).1);
    let width = if spaces > 4 || text.is_empty() { length + 1 } else { length + spaces };
    // Within other blocks a tab may stop elsewhere: the narrowest reading is kept out of doubt by `empty`.
    Some(Marker { width, number, empty: text.is_empty() || after.starts_with('\t') })
}

fn is_rule(rest: &str) -> bool {
    let Some(mark @ (b'-' | b'*' | b'_')) = rest.bytes().next() else { return false };
    rest.bytes().all(|b| b == mark || b == b' ' || b == b'\t') && rest.bytes().filter(|b| *b == mark).count() >= 3
}

fn opener(rest: &str) -> Option<Fence> {
    let mark = rest.bytes().next().filter(|b| matches!(b, b'`' | b'~'))?;
    let len = rest.bytes().take_while(|b| *b == mark).count();
    let info = rest.get(len..)?;
    (len >= 3 && !(mark == b'`' && info.contains('`'))).then_some(Fence { mark, len })
}

/// Whether the next line may make a head of a table of the last one before `end`.
fn may_head_table(text: &str, end: usize) -> bool {
    text.get(..end).and_then(|lines| lines.lines().next_back()).is_some_and(|line| line.contains('|'))
}

/// What is drawn of lines that may hold definitions; what is not drawn may stand within their signs.
fn defining(lines: &str) -> Option<std::borrow::Cow<'_, str>> {
    Some(sanitize::block(lines)).filter(|lines| lines.contains("]:"))
}

/// As the parser has it: behind the marks may stand spaces, but no tabs.
fn closes(line: &str, fence: Fence) -> bool {
    let line = line.trim_end_matches(' ');
    let (indent, marks) = indentation(line);
    indent <= 3 && marks.len() >= fence.len && marks.bytes().all(|b| b == fence.mark) && line.ends_with(marks)
}

/// A heading or a rule: the next line begins something else.
fn ends_itself(rest: &str) -> bool {
    let level = rest.bytes().take_while(|b| *b == b'#').count();
    is_rule(rest) || (1..=6).contains(&level) && matches!(rest.as_bytes().get(level), None | Some(b' ' | b'\t'))
}

/// HTML that does not end with a blank line.
fn opens_html(rest: &str) -> bool {
    let lower: String = rest.chars().take(12).collect::<String>().to_ascii_lowercase();
    ["<!", "<?", "<pre", "<script", "<style", "<textarea"].iter().any(|tag| lower.starts_with(tag))
}

#[cfg(test)]
#[path = "split_tests.rs"]
mod tests;
