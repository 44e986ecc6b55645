//! What was found, as text, JSON or JUnit.
//!
//! Decides nothing. Invariants: what is printed for people is cleaned; of a message no more is shown than is needed to
//! find it.

use crate::base::{human, sanitize};
use crate::model::frames::Flaw;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::time::Duration;

/// Characters of a message that are shown.
const MAX_FRAME: usize = 1000;
/// Different violations that are listed of one step.
const MAX_FINDINGS: usize = 20;

#[derive(Debug, Default)]
pub struct Report {
    pub command: String,
    /// Its own name and version.
    pub agent: Option<String>,
    pub steps: Vec<Step>,
    /// Why it does not start, and what it said.
    pub not_started: Option<String>,
    /// It opens no session before a log-in.
    pub wants_log_in: bool,
}

#[derive(Debug, Default)]
pub struct Step {
    pub name: &'static str,
    /// What was seen, or why it was left out.
    pub note: String,
    pub is_left_out: bool,
    pub findings: Vec<Finding>,
    pub took: Duration,
}

/// A requirement that the agent does not keep.
#[derive(Debug)]
pub struct Finding {
    pub rule: &'static str,
    pub what: String,
    /// The message that shows it; of something that did not come, what it was to answer.
    pub frame: String,
    pub times: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Conforms,
    Violates,
    DoesNotStart,
}

impl Step {
    /// The same violation is listed once.
    pub fn find(&mut self, flaw: Flaw, frame: &str) {
        let Flaw { rule, what } = flaw;
        if let Some(found) = self.findings.iter_mut().find(|found| found.rule == rule && found.what == what) {
            found.times += 1;
        } else if self.findings.len() < MAX_FINDINGS {
            let frame = clipped(frame);
            self.findings.push(Finding { rule, what, frame, times: 1 });
        }
    }

    fn word(&self) -> &'static str {
        match self {
            Self { findings, .. } if !findings.is_empty() => "VIOLATED",
            Self { is_left_out: true, .. } => "-",
            _ => "ok",
        }
    }
}

fn clipped(frame: &str) -> String {
    let mut text: String = frame.chars().take(MAX_FRAME).collect();
    if text.len() < frame.len() {
        let _ = write!(text, "… ({})", human::bytes(frame.len() as u64));
    }
    text
}

impl Report {
    pub fn verdict(&self) -> Verdict {
        match self {
            Self { not_started: Some(_), .. } => Verdict::DoesNotStart,
            Self { steps, .. } if steps.iter().any(|step| !step.findings.is_empty()) => Verdict::Violates,
            _ => Verdict::Conforms,
        }
    }

    fn violations(&self) -> usize {
        self.steps.iter().map(|step| step.findings.len()).sum()
    }

    pub fn as_text(&self) -> String {
        let mut lines = Vec::new();
        lines.extend(self.agent.as_ref().map(|agent| format!("agent            {agent}")));
        for step in &self.steps {
            let took = human::precise(step.took);
            let line = format!("{:15}  {:8}  {took:>7}  {}", step.name, step.word(), step.note);
            lines.push(line.trim_end().to_owned());
            for Finding { rule, what, frame, times } in &step.findings {
                let times = if *times > 1 { format!(" ({times} times)") } else { String::new() };
                lines.push(format!("    {rule}: {what}{times}"));
                lines.extend((!frame.is_empty()).then(|| format!("      {frame}")));
            }
        }
        lines.push(match (&self.not_started, self.violations()) {
            (Some(why), _) => format!("it does not start: {why}"),
            (None, 0) if self.wants_log_in => "nothing is violated, as far as it goes without a log-in".to_owned(),
            (None, 0) => "nothing is violated".to_owned(),
            (None, count) => human::count(count as u64, "violation"),
        });
        lines.iter().map(|line| sanitize::line(line).into_owned() + "\n").collect()
    }

    pub fn as_json(&self) -> String {
        let finding = |found: &Finding| {
            let Finding { rule, what, frame, times } = found;
            json!({ "requirement": rule, "what": what, "frame": frame, "times": times })
        };
        let step = |step: &Step| {
            json!({
                "step": step.name,
                "result": match step.word() { "ok" => "ok", "-" => "left_out", _ => "violated" },
                "note": step.note,
                "seconds": step.took.as_secs_f64(),
                "violations": step.findings.iter().map(finding).collect::<Vec<Value>>(),
            })
        };
        let report = json!({
            "command": self.command,
            "agent": self.agent,
            "starts": self.not_started.is_none(),
            "why": self.not_started,
            "log_in": self.wants_log_in,
            "violations": self.violations(),
            "steps": self.steps.iter().map(step).collect::<Vec<Value>>(),
        });
        report.to_string() + "\n"
    }

    pub fn as_junit(&self) -> String {
        let steps = &self.steps;
        let (failures, errors) =
            (steps.iter().filter(|step| !step.findings.is_empty()).count(), usize::from(self.not_started.is_some()));
        let left_out = steps.iter().filter(|step| step.word() == "-").count();
        let took: Duration = steps.iter().map(|step| step.took).sum();
        let mut xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned();
        let name = xml_text(self.agent.as_ref().unwrap_or(&self.command));
        line(
            &mut xml,
            format_args!(
                "<testsuite name=\"{name}\" tests=\"{}\" failures=\"{failures}\" errors=\"{errors}\" \
                 skipped=\"{left_out}\" time=\"{:.3}\">",
                steps.len() + errors,
                took.as_secs_f64()
            ),
        );
        for step in steps {
            let (name, time) = (xml_text(step.name), step.took.as_secs_f64());
            line(&mut xml, format_args!("  <testcase classname=\"acp\" name=\"{name}\" time=\"{time:.3}\">"));
            for Finding { rule, what, frame, .. } in &step.findings {
                let (what, frame) = (xml_text(&format!("{rule}: {what}")), xml_text(frame));
                line(&mut xml, format_args!("    <failure type=\"{rule}\" message=\"{what}\">{frame}</failure>"));
            }
            if step.word() == "-" {
                line(&mut xml, format_args!("    <skipped message=\"{}\"/>", xml_text(&step.note)));
            }
            xml.push_str("  </testcase>\n");
        }
        if let Some(why) = &self.not_started {
            xml.push_str("  <testcase classname=\"acp\" name=\"start\" time=\"0\">\n");
            line(&mut xml, format_args!("    <error type=\"start\" message=\"{}\"/>", xml_text(why)));
            xml.push_str("  </testcase>\n");
        }
        xml + "</testsuite>\n"
    }
}

fn line(text: &mut String, words: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{words}");
}

/// As it may stand in an element or between quotes. Characters that XML has not are left out.
fn xml_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in sanitize::line(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            '\u{fffe}' | '\u{ffff}' => {}
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> Report {
        let mut bad = Step { name: "prompt", ..Step::default() };
        for _ in 0..2 {
            bad.find(Flaw { rule: "R-219", what: "no \"reason\" <x>\u{1b}[2J".into() }, &"é".repeat(2000));
        }
        let good = Step { name: "initialize", took: Duration::from_millis(20), ..Step::default() };
        let left = Step { name: "load", is_left_out: true, note: "not advertised".into(), ..Step::default() };
        Report { command: "a b".into(), steps: vec![good, bad, left], ..Report::default() }
    }

    #[test]
    fn the_same_violation_is_listed_once_and_its_message_is_cut() {
        let report = report();
        assert_eq!((report.verdict(), report.violations()), (Verdict::Violates, 1));
        let text = report.as_text();
        assert!(text.contains("R-219: no \"reason\" <x>") && text.contains("(2 times)"), "{text}");
        assert!(text.contains("… (") && !text.contains('\u{1b}') && text.ends_with("1 violation\n"), "{text}");
        assert!(text.lines().any(|line| line.starts_with("load") && line.ends_with("not advertised")), "{text}");
    }

    #[test]
    fn the_forms_for_programs_say_the_same() {
        let report = report();
        let json: Value = serde_json::from_str(&report.as_json()).unwrap();
        assert_eq!((&json["violations"], &json["steps"][1]["violations"][0]["times"]), (&json!(1), &json!(2)));
        assert_eq!(json["steps"][2]["result"], "left_out");
        let xml = report.as_junit();
        assert!(xml.contains("tests=\"3\" failures=\"1\" errors=\"0\" skipped=\"1\""), "{xml}");
        assert!(xml.contains("message=\"R-219: no &quot;reason&quot; &lt;x&gt;") && !xml.contains('\u{1b}'), "{xml}");
        let none = Report { not_started: Some("gone".into()), ..Report::default() };
        assert_eq!(none.verdict(), Verdict::DoesNotStart);
        assert!(none.as_junit().contains("errors=\"1\"") && none.as_text().contains("does not start: gone"));
    }
}
