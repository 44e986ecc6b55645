//! A conversation in the formats that it is exported in.
//!
//! Invariants: no text of the conversation is taken for HTML, for a heading of ours or for the end of a block; the file
//! needs nothing from the network, and none of its links runs anything.

use super::entries::{Item, Part, Who};
use crate::base::{date, human, sanitize};
use crate::cli::values::Format;
use crate::review::report::json;
use crate::store::sessions::Known;
use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag};
use serde_json::json;
use std::fmt::Write as _;

/// Marks a file of ours, for the import.
pub const KIND: &str = "acp-tui conversation";
pub const VERSION: u32 = 1;
/// The terminal of a recording.
const COLUMNS: usize = 100;
const ROWS: usize = 30;
/// How often Markdown is read again after a change to it.
const ROUNDS: usize = 8;

const STYLE: &str = "body{font:15px/1.5 sans-serif;max-width:60em;margin:2em auto;padding:0 1em;color:#222;\
background:#fff}pre{white-space:pre-wrap;overflow-wrap:anywhere;margin:.4em 0}.code{background:#f4f4f4;padding:.6em;\
border-radius:4px;font-size:13px}.prose{font:inherit}section{margin:1.2em 0}h2{font-size:1em;margin:0;color:#555}\
.you{background:#eef4ff;padding:.6em 1em;border-radius:6px}.thought{color:#666}";

fn about(known: &Known) -> String {
    let turns = human::count(known.turns, "turn");
    format!("{} · {} · {turns} · session {}", known.agent, date::rfc3339(known.created), known.session_id)
}

/// A conversation on its way out in a format, piece by piece.
pub struct Document {
    format: Format,
    /// When the entry before began.
    last: f64,
}

impl Document {
    pub const fn new(format: Format) -> Self {
        Self { format, last: 0.0 }
    }

    pub fn head(&self, title: &str, known: &Known) -> String {
        match self.format {
            Format::Html => html_head(title, known),
            Format::Cast => cast_head(title, known),
            _ => format!("# {}\n\n{}\n", flat(title), flat(&about(known))),
        }
    }

    pub fn item(&mut self, item: &Item) -> String {
        match self.format {
            Format::Html => html(item),
            Format::Cast => {
                // Times of a later journal begin anew.
                self.last = self.last.max(item.at.as_secs_f64());
                cast(item, self.last)
            }
            _ => markdown(item),
        }
    }

    pub const fn end(&self) -> &'static str {
        if matches!(self.format, Format::Html) { "</body></html>\n" } else { "" }
    }
}

fn markdown(item: &Item) -> String {
    let beside = if item.title.is_empty() { String::new() } else { format!(": {}", flat(&item.title)) };
    let mut out = format!("\n## {}{beside}\n", item.who.word());
    for part in &item.parts {
        out.push('\n');
        match part {
            Part::Prose(text) if item.who == Who::Agent => out.push_str(&quiet(text)),
            Part::Prose(text) => out.push_str(&plain(text)),
            Part::Code(language, text) => out.push_str(&fenced(language, text)),
        }
    }
    out
}

/// One line in which nothing is markup.
fn flat(text: &str) -> String {
    let mut out = String::new();
    for c in sanitize::line(text).chars() {
        if "\\`*_[]<>&#|!".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// A block that ends where the text does, for any text.
fn fenced(language: &str, text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{text}\n{fence}\n")
}

/// Words of a person, which are no Markdown. Two blanks keep the ends of lines.
fn plain(text: &str) -> String {
    text.lines().flat_map(|line| [flat(line), "  \n".into()]).collect()
}

/// Markdown without HTML, below our headings, with its blocks closed. What does not come to rest is shown as plain words.
fn quiet(text: &str) -> String {
    let mut out = format!("{}\n", text.trim_end_matches('\n'));
    for _ in 0..ROUNDS {
        let mut is_quiet = true;
        // What is code without tables may be none with them.
        for options in [Options::empty(), Options::ENABLE_TABLES] {
            if let Some(edited) = tamed(&out, options) {
                (out, is_quiet) = (edited, false);
            }
        }
        if is_quiet {
            return closed(out).unwrap_or_else(|| plain(text));
        }
    }
    plain(text)
}

/// Whether following it does no more than show a page, a letter or a file.
fn is_plain_address(address: &str) -> bool {
    let scheme = address.find([':', '/', '?', '#']).filter(|end| address[*end..].starts_with(':'));
    scheme.is_none_or(|end| ["http", "https", "mailto"].iter().any(|plain| address[..end].eq_ignore_ascii_case(plain)))
}

/// The same with no `<` outside of code, no picture, no link that runs something and no heading as high as ours; nothing
/// when that is so already. An edit can change
/// what is around it, so the caller asks again.
fn tamed(text: &str, options: Options) -> Option<String> {
    let (mut code, mut edits) = (Vec::new(), Vec::<(usize, usize, &str)>::new());
    for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
        match event {
            Event::Code(_) | Event::Start(Tag::CodeBlock(_)) => code.push(range),
            // A viewer of the file would fetch it.
            Event::Start(Tag::Image { .. }) => edits.push((range.start + 1, 0, "\\")),
            Event::Start(Tag::Link { dest_url, .. }) if !is_plain_address(&dest_url) => {
                edits.push((range.start, 0, "\\"));
            }
            Event::Start(Tag::Heading { level, .. }) if level <= HeadingLevel::H2 => {
                let source = text[range.clone()].trim_end();
                let indent = source.len() - source.trim_start().len();
                if source[indent..].starts_with('#') {
                    edits.push((range.start + indent, 0, "##"));
                } else if let Some(end) = source.rfind('\n') {
                    // Else the line below would make a heading of it.
                    edits.push((range.start + end, 0, "\n"));
                }
            }
            _ => {}
        }
    }
    code.sort_by_key(|range| range.start);
    let mut code = code.into_iter().peekable();
    for (at, _) in text.match_indices('<') {
        while code.next_if(|range| range.end <= at).is_some() {}
        if code.peek().is_none_or(|range| at < range.start) {
            edits.push((at, 1, "&lt;"));
        }
    }
    edits.sort_by_key(|edit| edit.0);
    let (mut out, mut from) = (String::with_capacity(text.len() + edits.len() * 4), 0);
    for (at, len, with) in &edits {
        out.push_str(&text[from..*at]);
        out.push_str(with);
        from = at + len;
    }
    out.push_str(&text[from..]);
    (!edits.is_empty()).then_some(out)
}

/// With the end of a block of code that has none, so that a heading of ours behind it is one.
fn closed(mut text: String) -> Option<String> {
    for _ in 0..2 {
        let (mut block, mut is_closed) = (None, false);
        let probe = format!("{text}\n## x\n");
        for (event, range) in Parser::new(&probe).into_offset_iter() {
            match event {
                Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) => block = Some(range.start),
                Event::Start(Tag::Heading { .. }) if range.start == text.len() + 1 => is_closed = true,
                _ => {}
            }
        }
        if is_closed {
            return Some(text);
        }
        let fence = text.get(block?..)?.trim_start();
        let mark = fence.chars().next().filter(|mark| "`~".contains(*mark))?;
        let run = fence.chars().take_while(|c| *c == mark).count();
        text.extend(std::iter::repeat_n(mark, run));
        text.push('\n');
    }
    None
}

fn html_head(title: &str, known: &Known) -> String {
    let title = escaped(title);
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width\"><title>{title}</title>\n<style>{STYLE}</style></head>\n\
         <body><h1>{title}</h1>\n<p>{}</p>\n",
        escaped(&about(known))
    )
}

fn html(item: &Item) -> String {
    let (word, class) = (item.who.word(), item.who.word().to_lowercase());
    let beside = if item.title.is_empty() { String::new() } else { format!(": {}", escaped(&item.title)) };
    let mut out = format!("<section class=\"{class}\"><h2>{word}{beside}</h2>\n");
    for part in &item.parts {
        // Writing to a string cannot fail.
        let _ = match part {
            Part::Prose(text) => writeln!(out, "<pre class=\"prose\">{}</pre>", escaped(text)),
            Part::Code(_, text) => writeln!(out, "<pre class=\"code\">{}</pre>", escaped(text)),
        };
    }
    out.push_str("</section>\n");
    out
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in sanitize::block(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// A recording for asciinema: each entry appears when it began.
fn cast_head(title: &str, known: &Known) -> String {
    let head = json!({ "version": 2, "width": COLUMNS, "height": ROWS, "timestamp": known.created.as_secs(),
        "title": sanitize::line(title) });
    format!("{head}\n")
}

fn cast(item: &Item, at: f64) -> String {
    let mut text = format!("\u{1b}[1m{}\u{1b}[0m {}\n", item.who.word(), sanitize::line(&item.title));
    for part in &item.parts {
        let (Part::Prose(words) | Part::Code(_, words)) = part;
        text.push_str(words);
        text.push('\n');
    }
    text.push('\n');
    format!("{}\n", json!([at, "o", text.replace('\n', "\r\n")]))
}

/// What a file from which the conversation can be imported begins with: all of it but the journals.
pub fn json_head(known: &Known) -> String {
    let value = json!({
        "v": VERSION,
        "kind": KIND,
        "session_id": known.session_id,
        "agent": known.agent,
        "cwd": known.cwd.to_string_lossy(),
        "title": known.title,
        "created": date::rfc3339(known.created),
        "updated": date::rfc3339(known.updated),
        "turns": known.turns,
    });
    let text = value.to_string();
    json::cleaned(text.strip_suffix('}').unwrap_or(&text)) + ",\"journals\":["
}
