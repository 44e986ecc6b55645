//! A conversation in the formats that it is exported in.
//!
//! Invariants: no text of the conversation is taken for HTML, for a heading of ours or for the end of a block; the file
//! needs nothing from the network.

use super::entries::{Item, Part, Who};
use super::redact::Redaction;
use crate::base::{date, human, sanitize};
use crate::store::sessions::Known;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Marks a file of ours, for the import.
pub const KIND: &str = "acp-tui conversation";
pub const VERSION: u32 = 1;
/// The terminal of a recording.
const COLUMNS: usize = 100;
const ROWS: usize = 30;

const STYLE: &str = "body{font:15px/1.5 sans-serif;max-width:60em;margin:2em auto;padding:0 1em;color:#222;\
background:#fff}pre{white-space:pre-wrap;overflow-wrap:anywhere;margin:.4em 0}.code{background:#f4f4f4;padding:.6em;\
border-radius:4px;font-size:13px}.prose{font:inherit}section{margin:1.2em 0}h2{font-size:1em;margin:0;color:#555}\
.you{background:#eef4ff;padding:.6em 1em;border-radius:6px}.thought{color:#666}";

fn about(known: &Known) -> String {
    let turns = human::count(known.turns, "turn");
    format!("{} · {} · {turns} · session {}", known.agent, date::rfc3339(known.created), known.session_id)
}

pub fn markdown(title: &str, known: &Known, items: &[Item]) -> String {
    let mut out = format!("# {}\n\n{}\n", flat(title), flat(&about(known)));
    for item in items {
        let beside = if item.title.is_empty() { String::new() } else { format!(": {}", flat(&item.title)) };
        // Writing to a string cannot fail.
        let _ = writeln!(out, "\n## {}{beside}", item.who.word());
        for part in &item.parts {
            out.push('\n');
            match part {
                Part::Prose(text) => out.push_str(&quiet(text, item.who != Who::Agent)),
                Part::Code(language, text) => out.push_str(&fenced(language, text)),
            }
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

/// A block that ends where the text does, whatever stands in it.
fn fenced(language: &str, text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{text}\n{fence}\n")
}

/// Markdown without HTML, below our headings, with its blocks closed. `plain`: words of a person, which are none.
fn quiet(text: &str, plain: bool) -> String {
    if plain {
        // Two blanks keep the ends of lines.
        return text.lines().flat_map(|line| [flat(line), "  \n".into()]).collect();
    }
    let (mut out, mut fence) = (String::new(), None::<(char, usize)>);
    for line in text.lines() {
        let bare = line.trim_start_matches([' ', '>']);
        let run = bare
            .chars()
            .next()
            .filter(|c| "`~".contains(*c))
            .map(|c| (c, bare.chars().take_while(|d| *d == c).count()));
        match (fence, run) {
            (None, Some((c, n))) if n >= 3 && !(c == '`' && bare[n..].contains('`')) => fence = run,
            (Some((c, n)), Some((d, m))) if c == d && m >= n && bare[m..].trim().is_empty() => fence = None,
            (Some(_), _) => {}
            (None, _) => {
                let heading = bare.len() - bare.trim_start_matches('#').len();
                if (1..=6).contains(&heading) {
                    out.push_str(&line[..line.len() - bare.len()]);
                    out.push_str(&"#".repeat((heading + 2).min(6)));
                    out.push_str(&no_html(&bare[heading..]));
                } else {
                    let is_rule = bare.len() > 1
                        && (bare.trim_end().chars().all(|c| c == '=') || bare.trim_end().chars().all(|c| c == '-'));
                    if is_rule {
                        // Else the line above would be a heading.
                        out.push('\n');
                    }
                    out.push_str(&no_html(line));
                }
                out.push('\n');
                continue;
            }
        }
        out.push_str(line);
        out.push('\n');
    }
    if let Some((c, n)) = fence {
        out.extend(std::iter::repeat_n(c, n));
        out.push('\n');
    }
    out
}

/// Outside of code, what would be a tag is none.
fn no_html(line: &str) -> String {
    let (mut out, mut ticks) = (String::new(), 0);
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        let run = if c == '`' { rest.len() - rest.trim_start_matches('`').len() } else { 0 };
        if run > 0 {
            let closes = "`".repeat(run);
            if ticks == run {
                ticks = 0;
            } else if ticks == 0 && rest[run..].split('`').count() > 1 && rest[run..].contains(&closes) {
                ticks = run;
            }
            out.push_str(&closes);
            rest = &rest[run..];
            continue;
        }
        if c == '<' && ticks == 0 {
            out.push('\\');
        }
        out.push(c);
        rest = &rest[c.len_utf8()..];
    }
    out
}

pub fn html(title: &str, known: &Known, items: &[Item]) -> String {
    let title = escaped(title);
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width\"><title>{title}</title>\n<style>{STYLE}</style></head>\n\
         <body><h1>{title}</h1>\n<p>{}</p>\n",
        escaped(&about(known))
    );
    for item in items {
        let (word, class) = (item.who.word(), item.who.word().to_lowercase());
        let beside = if item.title.is_empty() { String::new() } else { format!(": {}", escaped(&item.title)) };
        // Writing to a string cannot fail.
        let _ = writeln!(out, "<section class=\"{class}\"><h2>{word}{beside}</h2>");
        for part in &item.parts {
            let _ = match part {
                Part::Prose(text) => writeln!(out, "<pre class=\"prose\">{}</pre>", escaped(text)),
                Part::Code(_, text) => writeln!(out, "<pre class=\"code\">{}</pre>", escaped(text)),
            };
        }
        out.push_str("</section>\n");
    }
    out.push_str("</body></html>\n");
    out
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
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
pub fn cast(title: &str, known: &Known, items: &[Item]) -> String {
    let head = json!({ "version": 2, "width": COLUMNS, "height": ROWS, "timestamp": known.created.as_secs(),
        "title": sanitize::line(title) });
    let (mut out, mut last) = (format!("{head}\n"), 0.0f64);
    for item in items {
        // Times of a later journal begin anew.
        last = last.max(item.at.as_secs_f64());
        let mut text = format!("\u{1b}[1m{}\u{1b}[0m {}\n", item.who.word(), item.title);
        for part in &item.parts {
            let (Part::Prose(words) | Part::Code(_, words)) = part;
            text.push_str(words);
            text.push('\n');
        }
        text.push('\n');
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{}", json!([last, "o", text.replace('\n', "\r\n")]));
    }
    out
}

/// The conversation with its journals, from which it can be imported.
pub fn json(known: &Known, journals: &[(String, Vec<Value>)], redaction: Option<&Redaction>) -> String {
    let journals: Vec<Value> = journals.iter().map(|(name, lines)| json!({ "name": name, "lines": lines })).collect();
    let mut value = json!({
        "v": VERSION,
        "kind": KIND,
        "session_id": known.session_id,
        "agent": known.agent,
        "cwd": known.cwd.to_string_lossy(),
        "title": known.title,
        "created": date::rfc3339(known.created),
        "updated": date::rfc3339(known.updated),
        "turns": known.turns,
        "journals": journals,
    });
    if let Some(redaction) = redaction {
        redaction.value(&mut value);
    }
    crate::review::report::json::line(&value)
}
