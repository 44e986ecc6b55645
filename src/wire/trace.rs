//! Lines that crossed the connection as records, for a journal and for a recording.
//!
//! Interprets nothing and keeps nothing. Invariant: a record is one JSON object on one line, and the frame inside is the
//! text that was on the wire, not a retelling.

use std::fmt::Write as _;
use std::time::Duration;

use memchr::memchr2;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dir {
    ToAgent,
    FromAgent,
    Stderr,
    /// Nobody said it: what has happened to the agent.
    Note,
}

impl Dir {
    pub fn label(self) -> &'static str {
        match self {
            Self::ToAgent => "client->agent",
            Self::FromAgent => "agent->client",
            Self::Stderr => "stderr",
            Self::Note => "note",
        }
    }
}

/// Whether a line may stand in a record as JSON or has to be quoted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Json,
    Raw,
}

impl Form {
    pub fn of(frame: &super::frame::Frame) -> Self {
        if frame.is_json() { Self::Json } else { Self::Raw }
    }
}

/// Appends one record, without a newline. JSON text is embedded as it is, anything else as a string. `more` is JSON members
/// of the record, each with a comma after it.
pub fn append_record(out: &mut String, t: Duration, dir: Dir, more: &str, line: &str, form: Form) {
    match form {
        Form::Json => {
            open_record(out, t, dir, more);
            push_frame(out, line);
        }
        Form::Raw => {
            head(out, t, dir, more);
            out.push_str(r#""raw":"#);
            out.push_str(&serde_json::Value::from(line).to_string());
        }
    }
    out.push('}');
}

/// The text of a frame as it stands in a record: on one line.
pub fn push_frame(out: &mut String, line: &str) {
    if memchr2(b'\n', b'\r', line.as_bytes()).is_some() {
        out.push_str(&line.replace(['\n', '\r'], " "));
    } else {
        out.push_str(line);
    }
}

/// The part of a record before the text of a frame; after it comes `}`.
pub fn open_record(out: &mut String, t: Duration, dir: Dir, more: &str) {
    head(out, t, dir, more);
    out.push_str(r#""frame":"#);
}

fn head(out: &mut String, t: Duration, dir: Dir, more: &str) {
    // Writing to a string cannot fail.
    let _ = write!(out, r#"{{"t":{}.{:06},"dir":"{}",{more}"#, t.as_secs(), t.subsec_micros(), dir.label());
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn a_record_is_one_line_wherever_the_break_is() {
        for at in [0, 31, 32, 63, 64, 70] {
            for (pad, byte) in [('x', '\r'), ('x', '\n')] {
                let mut line = pad.to_string().repeat(71);
                line.replace_range(at..=at, &byte.to_string());
                let mut out = String::new();
                push_frame(&mut out, &line);
                assert_eq!((out.len(), out.find(' ')), (71, Some(at)));
            }
        }
    }

    #[test]
    fn a_record_embeds_json_and_quotes_the_rest() {
        let record = |dir, line, form| {
            let mut out = String::new();
            append_record(&mut out, Duration::from_micros(1_234_005), dir, "", line, form);
            out
        };
        let frame = record(Dir::FromAgent, r#"{"id":9007199254740993}"#, Form::Json);
        assert_eq!(frame, r#"{"t":1.234005,"dir":"agent->client","frame":{"id":9007199254740993}}"#);
        let raw: Value = serde_json::from_str(&record(Dir::Stderr, "a\"\u{1b}", Form::Raw)).unwrap();
        assert_eq!(raw, json!({"t": 1.234_005, "dir": "stderr", "raw": "a\"\u{1b}"}));
    }
}
