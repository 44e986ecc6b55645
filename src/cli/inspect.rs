//! `acp-tui inspect FILE`: the messages of a recording or a journal, on the screen or as lines.
//!
//! Changes nothing. Invariants: what is printed for people is cleaned; a file of any size is read line by line, the screen
//! is there before it is read, and keeps no more of it than fits into a bound.

use super::args::Inspect;
use super::output::{can_draw, print, say};
use super::screen;
use super::usage::Usage;
use crate::base::{human, paths::visible, sanitize};
use crate::headless::code;
use crate::model::frames::{FrameDir, FrameRow, words};
use crate::model::ids::AgentKey;
use crate::store::frames;
use crate::ui::message_file::{MessageFile, Piece};
use crate::ui::run::{Feed, feeding};
use crate::ui::state::inspector::Inspector;
use serde_json::{Value, json};
use std::path::Path;

/// Columns of a kind and a method.
const WHAT: usize = 42;

/// Bytes of messages that the screen keeps, the last ones of the file.
const MAX_KEPT: usize = 512 << 20;

/// Messages and bytes that are handed to the screen at a time: no more than can be looked at between two keys.
const PIECE: usize = 1000;
const PIECE_BYTES: usize = 1 << 20;

pub fn run(asked: &Inspect) -> Result<u8, Usage> {
    if asked.plain || asked.json || !can_draw() { print_all(asked) } else { show(asked) }
}

/// Filters, opens, copies and saves, while the file is read beside it.
fn show(asked: &Inspect) -> Result<u8, Usage> {
    let name = visible(asked.file.as_os_str());
    let (feed, mut feeding) = feeding();
    let path = asked.file.clone();
    // One that still reads ends with the program.
    let thread = std::thread::Builder::new().name("inspect".into()).spawn(move || read(&path, &feed));
    thread.map_err(|error| Usage(format!("{name}: {error}")))?;
    let first = feeding.first();
    if let Some(Piece::Failed(why)) = first {
        return Err(Usage(format!("{name}: {why}")));
    }
    let Some(first @ Piece::Messages(_)) = first else { return Err(empty(&name)) };
    let mut inspector = Inspector::keeping(MAX_KEPT);
    inspector.type_text(asked.filter.as_deref().unwrap_or_default());
    let mut file = MessageFile::new(inspector, name);
    file.take(first);
    screen::messages(file, feeding)
}

/// Puts messages there in pieces, and then that there are no more.
fn read(path: &Path, feed: &Feed) {
    let (mut rows, mut bytes, mut is_wanted) = (Vec::new(), 0, true);
    let mut take = |row: &FrameRow| {
        if is_wanted {
            bytes += row.text.len();
            rows.push(row.clone());
        }
        if rows.len() >= PIECE || bytes >= PIECE_BYTES {
            bytes = 0;
            is_wanted = feed.put(Piece::Messages(std::mem::take(&mut rows)));
        }
    };
    let read = frames::read(path, &mut take);
    if !rows.is_empty() {
        feed.put(Piece::Messages(rows));
    }
    feed.put(match read {
        Ok(read) => Piece::End { unread: read.unread },
        Err(error) => Piece::Failed(error.to_string()),
    });
}

fn empty(name: &str) -> Usage {
    Usage(format!("{name}: no message is in it; `--record FILE` writes a recording"))
}

fn print_all(asked: &Inspect) -> Result<u8, Usage> {
    let name = visible(asked.file.as_os_str());
    let words = words(asked.filter.as_deref().unwrap_or_default());
    let mut written = code::OK;
    let mut take = |row: &FrameRow| {
        if written == code::OK && row.fits(&words) {
            let text = if asked.json { as_json(row) } else { as_text(row) };
            // A closed output is the only fault there is.
            written = print(&text).unwrap_or(code::READER_GONE);
        }
    };
    let read = frames::read(&asked.file, &mut take).map_err(|error| Usage(format!("{name}: {error}")))?;
    if read.messages == 0 {
        return Err(empty(&name));
    }
    if read.unread > 0 {
        say(&format!("{} cannot be read", human::count(read.unread, "line")));
    }
    Ok(written)
}

/// Time, direction, method, id, how long it took, size; below it what is wrong.
fn as_text(row: &FrameRow) -> String {
    let FrameRow { at, dir, agent, kind, method, id, latency, flaws, text } = row;
    let agent = if *agent == AgentKey::FIRST { String::new() } else { format!("{} ", agent.0 + 1) };
    let mut line = format!("{:>10.3} {agent}{} ", at.as_secs_f64(), dir.arrow());
    if matches!(dir, FrameDir::Stderr | FrameDir::Note) {
        line += text;
    } else {
        let what = format!("{} {method}", kind.name());
        let took = latency.map(|latency| format!("{:.1} ms", latency.as_secs_f64() * 1e3)).unwrap_or_default();
        let (id, size) = (id.as_deref().unwrap_or_default(), human::bytes(text.len() as u64));
        line = format!("{line}{what:<WHAT$} {id:>6} {took:>10} {size:>9}");
    }
    let mut lines = sanitize::line(line.trim_end()).into_owned() + "\n";
    for flaw in flaws {
        lines = lines + "             " + &sanitize::line(&format!("{}: {}", flaw.rule, flaw.what)) + "\n";
    }
    lines
}

fn as_json(row: &FrameRow) -> String {
    let FrameRow { at, dir, agent, kind, method, id, latency, flaws, text } = row;
    // The id and the message as they were, where they are JSON.
    let whole = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_else(|_| text.into());
    let violations: Vec<Value> =
        flaws.iter().map(|flaw| json!({ "requirement": flaw.rule, "what": flaw.what })).collect();
    let line = json!({
        "t": at.as_secs_f64(),
        "dir": dir.name(),
        "agent": agent.0,
        "kind": kind.name(),
        "method": (!method.is_empty()).then_some(&**method),
        "id": id.as_deref().map(whole),
        "latency_ms": latency.map(|latency| latency.as_secs_f64() * 1e3),
        "bytes": text.len(),
        "violations": violations,
        "frame": whole(text),
    });
    escaped(&line.to_string()) + "\n"
}

/// JSON in which no character is one that a terminal obeys or that is not seen: such stand in texts alone.
fn escaped(json: &str) -> String {
    let is_harmful = |c: char| c.is_control() || sanitize::is_deceptive(c);
    if !json.contains(is_harmful) {
        return json.to_owned();
    }
    let mut out = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        if is_harmful(c) { sanitize::escape_json(c, &mut out) } else { out.push(c) }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn what_a_terminal_could_obey_stands_as_its_number() {
        let json = serde_json::json!({ "a": "x\u{9b}y\u{202e}\u{e0041}z\u{7f}" }).to_string();
        let shown = escaped(&json);
        assert!(shown.is_ascii() && shown.contains(r"x\u009by\u202e\udb40\udc41z\u007f"), "{shown}");
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&shown).unwrap(),
            serde_json::from_str::<serde_json::Value>(&json).unwrap()
        );
        assert_eq!(escaped(r#"{"a":"é"}"#), r#"{"a":"é"}"#);
    }
}
