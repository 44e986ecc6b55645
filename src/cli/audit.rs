//! `acp-tui audit`: what was decided, by whom or which rule, and whether the log of it is whole.
//!
//! Changes nothing. Invariant: what is printed for people is cleaned, and no two requests look the same.

use super::conversations::state;
use super::output::{print, say};
use super::usage::Usage;
use crate::base::{human, paths};
use crate::headless::code;
use crate::store::audit::{self, Checked, Fault};
use serde_json::{Value, json};

/// The log is not as it was written.
const BROKEN: u8 = 1;

/// Characters of what a decision was about, and of who took it.
const MAX_WHAT: usize = 200;
/// Columns of the word for what was decided, and of that for what it was about.
const VERDICT: usize = 9;
const EVENT: usize = 10;

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Audit {
    /// Only say whether it is whole.
    pub verify: bool,
    pub json: bool,
    /// Only the newest.
    pub limit: Option<u64>,
    /// Only of the session whose id begins so.
    pub session: Option<String>,
}

pub fn run(asked: &Audit) -> Result<u8, Usage> {
    let state = state()?;
    let cannot = |error| Usage(format!("{}: {error}", paths::visible(audit::lines_dir(&state).as_os_str())));
    if asked.verify {
        return verified(&audit::verify(&state).map_err(cannot)?, asked.json);
    }
    let limit = asked.limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
    // Each run has a file of its own, and runs may overlap.
    let mut newest: Vec<(String, Value)> = Vec::new();
    let mut shown = Shown::default();
    let mut has_any = false;
    for file in audit::files(&state).map_err(cannot)? {
        let records = match audit::records(&file) {
            Ok(records) => records,
            Err(error) => {
                say(&format!("{}: {error}", paths::visible(file.as_os_str())));
                continue;
            }
        };
        for record in records.filter(|record| asked.wants(record)) {
            has_any = true;
            if asked.limit.is_some() {
                newest.push((record["time"].as_str().unwrap_or_default().to_owned(), record));
                if newest.len() / 2 > limit {
                    keep_newest(&mut newest, limit);
                }
                continue;
            }
            let written = print(&shown.lines(&record, asked.json))?;
            if written != code::OK {
                return Ok(written);
            }
        }
    }
    if let Some(id) = asked.session.as_deref().filter(|_| !has_any) {
        let id = paths::visible(id.as_ref());
        say(&format!(
            "the log has no decision of a session whose id begins with {id}; `acp-tui sessions` lists the ids"
        ));
    }
    keep_newest(&mut newest, limit);
    for (_, record) in newest {
        let written = print(&shown.lines(&record, asked.json))?;
        if written != code::OK {
            return Ok(written);
        }
    }
    Ok(code::OK)
}

fn keep_newest(records: &mut Vec<(String, Value)>, limit: usize) {
    records.sort_by(|one, other| one.0.cmp(&other.0));
    records.drain(..records.len().saturating_sub(limit));
}

impl Audit {
    fn wants(&self, record: &Value) -> bool {
        self.session.as_deref().is_none_or(|id| record["session"].as_str().is_some_and(|of| of.starts_with(id)))
    }
}

/// What was printed last: decisions of one session and day have one line above them that says so.
#[derive(Default)]
struct Shown {
    heading: String,
}

impl Shown {
    fn lines(&mut self, record: &Value, as_json: bool) -> String {
        if as_json {
            return record.to_string() + "\n";
        }
        let text = |key: &str| record[key].as_str().unwrap_or_default();
        let (day, time) = text("time").split_once('T').unwrap_or(("", text("time")));
        let of = ["session", "agent", "cwd"].map(|key| clean(text(key), usize::MAX));
        let of = of.into_iter().filter(|part| !part.is_empty());
        let heading = std::iter::once(clean(day, usize::MAX)).chain(of).collect::<Vec<_>>().join(" · ");
        let line = line(record, time.trim_end_matches('Z')) + "\n";
        if heading == self.heading {
            return line;
        }
        let gap = if self.heading.is_empty() { "" } else { "\n" };
        let lines = format!("{gap}{heading}\n{line}");
        self.heading = heading;
        lines
    }
}

/// Time, what was decided, about what, and by whom or what.
fn line(record: &Value, time: &str) -> String {
    let text = |key: &str| record[key].as_str().unwrap_or_default();
    let verdict = match text("verdict") {
        "allow" => "allowed",
        "deny" => "refused",
        other => other,
    };
    let by = match text("by") {
        "person" => "by you".to_owned(),
        "rule" => format!("by rule {}", text("rule")),
        "hook" => "by the decision hook".to_owned(),
        "mode" => "by mode".to_owned(),
        "flag" if text("event") == "mode" => "by --permission-mode".to_owned(),
        "flag" => "by --allow".to_owned(),
        "agent" => "by the agent".to_owned(),
        _ => "by the client".to_owned(),
    };
    let more = ["option", "scope", "reason"].map(text).into_iter().filter(|more| !more.is_empty());
    let by = std::iter::once(by.as_str()).chain(more).collect::<Vec<_>>().join(", ");
    let mut what = clean(text("what"), MAX_WHAT);
    for real in record["outside"].as_array().into_iter().flatten().filter_map(|outside| outside["real"].as_str()) {
        if real != text("what") {
            what = what + ", really " + &clean(real, MAX_WHAT);
        }
        what += ", outside";
    }
    let gap = if what.is_empty() { "" } else { "  " };
    let (verdict, event, by) = (clean(verdict, MAX_WHAT), clean(text("event"), MAX_WHAT), clean(&by, MAX_WHAT));
    format!("  {}  {verdict:VERDICT$} {event:EVENT$} {what}{gap}({by})", clean(time, MAX_WHAT))
}

/// One line of so many characters, in which the ends of lines and all that is not seen are signs.
fn clean(text: &str, most: usize) -> String {
    let line = paths::visible(text.as_ref());
    let mut kept: String = line.chars().take(most).collect();
    if kept.len() < line.len() {
        kept.push('…');
    }
    kept
}

fn verified(files: &[Checked], as_json: bool) -> Result<u8, Usage> {
    let faults = files.iter().filter(|file| file.fault.is_some()).count();
    let mut text = String::new();
    for Checked { path, lines, fault } in files {
        let path = path.to_string_lossy();
        let line = match fault {
            Some(Fault::Changed(line) | Fault::Behind(line) | Fault::Line(line)) => Some(*line),
            _ => None,
        };
        if as_json {
            let fault = fault.as_ref().map(Fault::words);
            text = text + &json!({ "file": path, "lines": lines, "line": line, "fault": fault }).to_string() + "\n";
        } else if let Some(fault) = fault {
            let at = line.map(|line| format!(":{line}")).unwrap_or_default();
            say(&format!("{path}{at}: {}", fault.words()));
        }
    }
    if !as_json {
        let lines: u64 = files.iter().map(|file| file.lines).sum();
        let of = format!("{} in {}", human::count(lines, "line"), human::count(files.len() as u64, "file"));
        text = if faults == 0 { format!("whole: {of}\n") } else { format!("broken: {faults} of {}\n", files.len()) };
    }
    let written = print(&text)?;
    Ok(if faults > 0 { BROKEN } else { written })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(time: &str, session: &str) -> Value {
        json!({
            "prev": "ab", "time": time, "event": "permission", "what": "rm\u{1b}[2J -rf\nx", "verdict": "deny",
            "by": "rule", "rule": "Bash(rm *)", "agent": "demo", "cwd": "/p", "session": session,
        })
    }

    #[test]
    fn a_decision_is_one_clean_line_below_its_day_and_session() {
        let mut shown = Shown::default();
        let text = shown.lines(&record("2026-11-23T01:00:00Z", "s1"), false);
        let (head, line) = text.trim_end().split_once('\n').unwrap();
        assert_eq!(head, "2026-11-23 · s1 · demo · /p");
        assert!(line.starts_with("  01:00:00  refused   permission rm"), "{line}");
        assert!(line.ends_with("(by rule Bash(rm *))") && !line.contains(['\u{1b}', '\n']), "{line}");
        assert!(line.contains("rm⟨U+001B⟩[2J -rf⟨U+000A⟩x  ("), "{line}");
        let next = shown.lines(&record("2026-11-23T01:00:01Z", "s1"), false);
        assert_eq!(next.lines().count(), 1, "{next}");
        for (time, session) in [("2026-11-24T01:00:01Z", "s1"), ("2026-11-24T01:00:01Z", "s2")] {
            let other = shown.lines(&record(time, session), false);
            assert_eq!(other.lines().count(), 3, "{other}");
        }
        assert!(shown.lines(&record("x", "s"), true).starts_with('{'));
    }

    #[test]
    fn a_session_is_named_by_the_beginning_of_its_id() {
        let asked = |id: Option<&str>| Audit { session: id.map(str::to_owned), ..Audit::default() };
        let one = record("2026-11-23T01:00:00Z", "abc-1");
        assert!(asked(None).wants(&one) && asked(Some("abc")).wants(&one));
        assert!(!asked(Some("bc")).wants(&one) && !asked(Some("abc")).wants(&json!({ "session": null })));
    }
}
