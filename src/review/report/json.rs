//! The whole review as JSON, for scripts; `assets/schema/review.json` describes it.
//!
//! Invariants: every file that the review knows stands in it once, with the causes and turns of its old name when it was
//! renamed; of the files one at a time is made, and its lines not at all.

use super::{Draft, begun, done, unready};
use crate::base::sanitize;
use crate::model::changes::{FileDoc, HunkDoc, HunkKind, Scope, Totals};
use crate::review::error::ReviewError;
use crate::review::protocol::{AgentSession, Changed};
use crate::review::session::{Content, ReviewSession};
use crate::review::state::State;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io;
use std::path::Path;

/// Version of the report.
pub const VERSION: u32 = 1;

/// What the whole session has changed, and what was decided of it; see [`text`]. `more` is not covered either.
pub fn report(review: &mut ReviewSession, more: &[String]) -> Result<Draft, ReviewError> {
    let totals = review.shown_totals(Scope::Session)?;
    let mut turns = Vec::new();
    for turn in review.turns_that_changed() {
        turns.push(turn_value(turn, review.shown_totals(Scope::Turn(turn))?));
    }
    let changed = review.changed(Scope::Session)?;
    let by_path: BTreeMap<&Path, &Changed> = changed.iter().map(|one| (one.path.as_path(), one)).collect();
    let file = |file: &FileDoc, content: Content<'_>| {
        let names = std::iter::once(&file.path).chain(&file.renamed_from);
        let of_file: Vec<&Changed> = names.filter_map(|path| by_path.get(path.as_path()).copied()).collect();
        let lines = file.hunks.iter().any(|hunk| hunk.what == HunkKind::Lines);
        let binary = !lines && holds_zero(content, &of_file);
        file_value(file, &of_file, binary)
    };
    let sessions: Vec<Value> = review
        .sessions()
        .iter()
        .filter(|one| one.counts())
        .map(|one| json!({ "session_id": one.id, "agent": one.agent, "first_turn": one.first_turn }))
        .collect();
    let newest = AgentSession::newest(review.sessions());
    let head = review.head();
    let mut out = json!({
        "v": VERSION,
        "session_id": newest.map(|one| &one.id),
        "agent": newest.map(|one| &one.agent),
        "sessions": sessions,
    });
    put_path(&mut out, "cwd", &head.cwd);
    let rest = json!({
        "command": head.command,
        "started": head.started,
        "totals": totals_value(totals),
        "reviewed_after": review.is_after(),
        "turns": turns,
        "files": [],
        "not_covered": ([review.uncovered().as_slice(), more].concat()),
    });
    add(&mut out, rest);
    let begin = |review: &ReviewSession| Writing { to: begun(review), files: 0, is_begun: false };
    let written = review.each_file(Scope::Session, begin, |writing, doc, content| {
        writing.begin(&out).and_then(|()| writing.file(&file(doc, content))).map_err(unready)
    })?;
    done(written.end(&out).map_err(unready)?)
}

/// Writes the text of a report, of whose files there may be so many that only one is made at a time.
struct Writing<W> {
    to: W,
    files: usize,
    is_begun: bool,
}

impl<W: io::Write> Writing<W> {
    /// All that stands before the files, once.
    fn begin(&mut self, report: &Value) -> io::Result<()> {
        if std::mem::replace(&mut self.is_begun, true) {
            return Ok(());
        }
        let mut out = "{".to_owned();
        for (at, (name, value)) in members(report).enumerate() {
            out.push_str(if at > 0 { ",\n  " } else { "\n  " });
            escaped(&format!("{}: ", json!(name)), 2, &mut out);
            if name == FILES {
                out.push('[');
                break;
            }
            escaped(&format!("{value:#}"), 2, &mut out);
        }
        self.to.write_all(out.as_bytes())
    }

    fn file(&mut self, file: &Value) -> io::Result<()> {
        let mut out = if self.files > 0 { "," } else { "" }.to_owned();
        self.files += 1;
        out.push_str("\n    ");
        escaped(&format!("{file:#}"), 4, &mut out);
        self.to.write_all(out.as_bytes())
    }

    /// All that stands behind the files.
    fn end(mut self, report: &Value) -> io::Result<W> {
        self.begin(report)?;
        let mut out = if self.files > 0 { "\n  ]" } else { "]" }.to_owned();
        for (name, value) in members(report).skip_while(|(name, _)| *name != FILES).skip(1) {
            out.push_str(",\n  ");
            escaped(&format!("{}: {value:#}", json!(name)), 2, &mut out);
        }
        out.push_str("\n}\n");
        self.to.write_all(out.as_bytes())?;
        Ok(self.to)
    }
}

/// The member that is written one by one.
const FILES: &str = "files";

fn members(report: &Value) -> impl Iterator<Item = (&String, &Value)> {
    report.as_object().into_iter().flatten()
}

/// A report of a run of which no review was kept, and why; `more` is not covered either.
pub fn nothing(cwd: &Path, command: &str, why: &str, more: &[String]) -> Value {
    let mut out = json!({
        "v": VERSION, "session_id": null, "agent": null, "sessions": [], "command": command, "started": null,
        "totals": totals_value(Totals::default()), "reviewed_after": false, "turns": [], "files": [],
        "not_covered": ([&[why.to_owned()], more].concat()),
    });
    put_path(&mut out, "cwd", cwd);
    out
}

/// A report as text, with everything escaped that a terminal could obey.
pub fn text(report: &impl Serialize) -> String {
    // Nothing in it can fail: names are text, and numbers are numbers.
    let json = serde_json::to_string_pretty(report).unwrap_or_default();
    let mut out = String::with_capacity(json.len() + 1);
    escaped(&json, 0, &mut out);
    out.push('\n');
    out
}

/// Adds the members of a list, a line each that begins `deep` blanks deep, as [`text`] would write them.
pub fn add_members<T: Serialize>(all: impl Iterator<Item = T>, deep: usize, to: &mut String) {
    let mut one = Vec::new();
    for (at, member) in all.enumerate() {
        to.push_str(if at > 0 { ",\n" } else { "\n" });
        to.extend(std::iter::repeat_n(' ', deep));
        one.clear();
        // Nothing in it can fail: see `text`.
        let _ = serde_json::to_writer_pretty(&mut one, &member);
        escaped(std::str::from_utf8(&one).unwrap_or_default(), deep, to);
    }
}

/// An object on a line of its own.
pub fn line(object: &Value) -> String {
    cleaned(&format!("{object}\n"))
}

/// JSON with nothing in it that a terminal could obey.
pub fn cleaned(json: &str) -> String {
    let mut out = String::new();
    escaped(json, 0, &mut out);
    out
}

/// `json`, with `deep` blanks at the beginning of every line but the first.
fn escaped(json: &str, deep: usize, out: &mut String) {
    let mut rest = json;
    // Nearly all of it is plain.
    while let Some(at) = rest.bytes().position(|byte| !matches!(byte, b' '..=b'~')) {
        let (plain, other) = rest.split_at(at);
        out.push_str(plain);
        let Some(c) = other.chars().next() else { break };
        rest = &other[c.len_utf8()..];
        if !(c.is_control() || sanitize::is_deceptive(c)) {
            out.push(c);
        } else if c == '\n' {
            out.push(c);
            out.extend(std::iter::repeat_n(' ', deep));
        } else {
            sanitize::escape_json(c, out);
        }
    }
    out.push_str(rest);
}

fn totals_value(totals: Totals) -> Value {
    json!({ "added": totals.added, "removed": totals.removed, "files": totals.files, "pending": totals.pending })
}

fn turn_value(turn: u64, totals: Totals) -> Value {
    json!({ "turn": turn, "added": totals.added, "removed": totals.removed, "files": totals.files })
}

fn file_value(file: &FileDoc, of_file: &[&Changed], binary: bool) -> Value {
    // In the order of their first appearance.
    let mut causes = Vec::new();
    for cause in of_file.iter().flat_map(|one| &one.causes) {
        if !causes.contains(cause) {
            causes.push(*cause);
        }
    }
    if causes.is_empty() {
        causes.push(file.cause);
    }
    let mut turns: BTreeSet<u64> = of_file.iter().flat_map(|one| one.turns.iter().copied()).collect();
    if turns.is_empty() {
        turns.extend(file.hunks.iter().map(|hunk| hunk.turn).filter(|turn| *turn > 0));
    }
    let mut out = json!({});
    put_path(&mut out, "path", &file.path);
    if let Some(from) = &file.renamed_from {
        put_path(&mut out, "renamed_from", from);
    }
    let rest = json!({
        "change": file.change,
        "added": file.added,
        "removed": file.removed,
        "causes": causes,
        "turns": turns,
        "binary": binary,
        "hunks": file.hunks.iter().map(hunk_value).collect::<Vec<_>>(),
    });
    add(&mut out, rest);
    if let (Some(note), Some(map)) = (&file.note, out.as_object_mut()) {
        map.insert("note".into(), json!(note));
    }
    out
}

fn hunk_value(hunk: &HunkDoc) -> Value {
    let (what, detail) = match &hunk.what {
        HunkKind::Lines => ("lines", Value::Null),
        HunkKind::Whole(words) => ("whole", json!(words)),
        HunkKind::Mode(old, new) => ("mode", json!(format!("{old:o} → {new:o}"))),
    };
    json!({
        "state": hunk.state,
        "cause": hunk.cause,
        "turn": hunk.turn,
        "old_start": hunk.old_start,
        "new_start": hunk.new_start,
        "added": hunk.added,
        "removed": hunk.removed,
        "what": what,
        "detail": detail,
    })
}

/// Whether one of the contents is none that a text would have. What is not kept is not known to be text.
fn holds_zero(content: Content<'_>, changed: &[&Changed]) -> bool {
    changed.iter().flat_map(|one| [&one.before, &one.after]).any(|state| match state {
        State::Absent | State::Link { .. } => false,
        State::Unkept { .. } => true,
        State::File { .. } => content(state).is_ok_and(|bytes| bytes.contains(&0)),
    })
}

/// A path as text; the bytes stand beside it when the text does not say them.
fn put_path(value: &mut Value, member: &str, path: &Path) {
    let Value::Object(map) = value else { return };
    map.insert(member.to_owned(), json!(path.to_string_lossy()));
    if path.to_str().is_none() {
        map.insert(format!("{member}_bytes"), json!(hex(path)));
    }
}

fn add(value: &mut Value, rest: Value) {
    if let (Value::Object(map), Value::Object(rest)) = (value, rest) {
        map.extend(rest);
    }
}

fn hex(path: &Path) -> String {
    path.as_os_str().as_encoded_bytes().iter().fold(String::new(), |mut hex, byte| {
        // Writing to a string cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

#[cfg(test)]
#[path = "json_tests.rs"]
mod tests;
