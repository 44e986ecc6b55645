//! `acp-tui audit`: what was decided, by whom or which rule, and whether the log of it is whole.
//!
//! Changes nothing. Invariant: what is printed for people is cleaned.

use super::conversations::state;
use super::output::{print, say};
use super::usage::Usage;
use crate::base::{human, paths, sanitize};
use crate::headless::code;
use crate::store::audit::{self, Checked, Fault};
use serde_json::{Value, json};

/// The log is not as it was written.
const BROKEN: u8 = 1;

#[derive(Debug, PartialEq, Eq)]
pub struct Audit {
    /// Only say whether it is whole.
    pub verify: bool,
    pub json: bool,
}

pub fn run(asked: &Audit) -> Result<u8, Usage> {
    let state = state()?;
    let cannot = |error| Usage(format!("{}: {error}", paths::visible(audit::lines_dir(&state).as_os_str())));
    if asked.verify {
        return verified(&audit::verify(&state).map_err(cannot)?, asked.json);
    }
    for file in audit::files(&state).map_err(cannot)? {
        let records = match audit::records(&file) {
            Ok(records) => records,
            Err(error) => {
                say(&format!("{}: {error}", paths::visible(file.as_os_str())));
                continue;
            }
        };
        for record in records {
            let line = if asked.json { record.to_string() } else { as_text(&record) };
            let written = print(&(line + "\n"))?;
            if written != code::OK {
                return Ok(written);
            }
        }
    }
    Ok(code::OK)
}

fn as_text(record: &Value) -> String {
    let text = |key: &str| record.get(key).and_then(Value::as_str).unwrap_or_default();
    let by = match text("by") {
        "rule" => format!("rule {}", text("rule")),
        by => by.to_owned(),
    };
    let mut parts = vec![text("time").to_owned(), format!("{} {} by {by}", text("event"), text("verdict"))];
    parts.extend(["what", "option", "scope", "reason", "agent", "cwd"].map(|key| text(key).to_owned()));
    parts.retain(|part| !part.is_empty());
    sanitize::line(&parts.join(" · ")).into_owned()
}

fn verified(files: &[Checked], as_json: bool) -> Result<u8, Usage> {
    let faults = files.iter().filter(|file| file.fault.is_some()).count();
    let mut text = String::new();
    for Checked { path, lines, fault } in files {
        let path = path.to_string_lossy();
        let line = match fault {
            Some(Fault::Line(line)) => Some(*line),
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

    #[test]
    fn a_decision_is_one_clean_line() {
        let record = json!({
            "prev": "ab", "time": "2026-11-23T01:00:00Z", "event": "permission", "what": "rm\u{1b}[2J -rf\nx",
            "verdict": "deny", "by": "rule", "rule": "Bash(rm *)", "agent": "demo", "cwd": "/p", "session": null,
        });
        let text = as_text(&record);
        assert!(text.starts_with("2026-11-23T01:00:00Z · permission deny by rule Bash(rm *) · rm"), "{text}");
        assert!(text.ends_with("· demo · /p") && !text.contains(['\u{1b}', '\n']), "{text}");
    }
}
