//! Agents that mean no good, or know no better: what they send must not reach the person's terminal, exhaust memory,
//! or keep us from answering and ending.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::format_push_string)]

use crate::exec::support::{Done, Lab, demo};
use std::collections::BTreeMap;
use std::time::Duration;

/// Everything that a terminal could obey, or that turns text around.
fn is_bad(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t')
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[track_caller]
fn assert_clean(done: &Done, what: &str) {
    for (name, text) in [("stdout", done.out()), ("stderr", done.err())] {
        if let Some((at, c)) = text.char_indices().find(|(_, c)| is_bad(*c)) {
            let around: String = text.get(at.saturating_sub(60)..).unwrap_or(&text[at..]).chars().take(120).collect();
            panic!("{what}: {c:?} in {name}: {around:?}");
        }
    }
}

/// Runs both forms and looks at both outputs.
#[track_caller]
fn clean_runs(lab: &Lab, args: &[&str], agent: &[String]) -> (Done, Done) {
    let text = lab.exec(args, agent);
    assert_clean(&text, "text");
    let json = lab.exec(&[args, &["--json"]].concat(), agent);
    assert_clean(&json, "json");
    json.json();
    (text, json)
}

#[test]
fn no_scenario_gets_a_control_character_out() {
    for (script, prompts) in [
        ("corruption", &["x", "half", "id"][..]),
        ("reorder", &["go", "late"]),
        ("death", &["exit 7", "kill", "half", "close", "ask", "error", "auth", "unknown"]),
        ("slow", &["x"]),
        ("permissions", &["several", "empty", "huge", "x"]),
        ("auth", &["x"]),
        ("demo", &["x"]),
    ] {
        for prompt in prompts {
            let lab = Lab::new();
            clean_runs(&lab, &[prompt, "--allow", "all"], &demo(script));
        }
    }
}

#[test]
fn the_escape_corpus_stays_inside() {
    for allow in ["all", "reads", "none"] {
        let lab = Lab::new();
        let (text, json) = clean_runs(&lab, &["go", "--allow", allow], &demo("escape"));
        text.assert_code(0);
        assert!(text.out().ends_with("corpus done\n"));
        // Not lost, only made harmless: a reader of JSON gets what the agent wrote.
        assert!(json.json_text("text").contains("\u{1b}]52;c;"));
    }
    let lab = Lab::new();
    let (text, _) = clean_runs(&lab, &["error"], &demo("escape"));
    text.assert_says(3, &["owned"]);
}

const CORPUS: &str = r"a\u0007 b\u001b[2Jc\u001b]0;owned\u0007 d\u001b]52;c;eA==\u001b\\ e\u009b31m f\u009d0;x\u009c g\u202eh\u202c i\u2066j\u2069 k\u0000\r\b\u000el\u007f";

#[test]
fn the_escape_corpus_stays_inside_before_there_is_a_session() {
    let e = CORPUS;
    let script = |text: String| format!("[agent]\n{}\n", text.replace("E!", e));
    let cases: Vec<(String, &[&str], i32)> = vec![
        (script("exit_at_start = 3\nstderr = \"E!\\nE!\\n\"".into()), &[], 5),
        (script("banner = \"E!\\n\"\nexit_at_start = 3".into()), &[], 5),
        (script("error.initialize = { code = 1, message = \"E!\", data = { \"E!\" = \"E!\" } }".into()), &[], 5),
        (script("error.\"session/new\" = { code = 1, message = \"E!\", data = [\"E!\", { details = \"E!\" }] }".into()), &[], 5),
        (script("error.\"session/new\" = { code = -32000, message = \"E!\", data = \"E!\" }\nauth_methods = [{ id = \"E!\", name = \"E!\", description = \"E!\" }, { id = \"t\", name = \"E!\", type = \"terminal\", args = [\"E!\"], env = { \"E!\" = \"E!\" } }, { id = \"m\", name = \"M\", _meta = { terminal-auth = { command = \"E!\", args = [\"E!\"], label = \"E!\" } } }]".into()), &[], 4),
        (script("protocol_version = \"E!\"".into()), &[], 5),
        (script("agent_info = { name = \"E!\", title = \"E!\", version = \"E!\" }".into()), &[], 0),
        (script("modes = { currentModeId = \"E!\", availableModes = [{ id = \"E!\", name = \"E!\" }] }".into()), &["--mode", "no"], 2),
        (script("config_options = [{ id = \"E!\", name = \"E!\", category = \"E!\", type = \"select\", currentValue = \"E!\", options = [{ value = \"E!\", name = \"E!\" }] }]".into()), &["--config", "no=no"], 2),
        (script("error.\"session/set_mode\" = { code = 1, message = \"E!\" }".into()), &["--mode", "auto"], 3),
        (format!("[[turn]]\ndefault = true\nstep = [{{ do = \"stop\", reason = \"{e}\" }}]\n"), &[], 3),
        (format!("[[turn]]\ndefault = true\nstep = [{{ do = \"stderr\", text = \"{e}\" }}, {{ do = \"die\", code = 3 }}]\n"), &[], 5),
        (format!("[[turn]]\ndefault = true\nstep = [{{ do = \"request\", method = \"fs/read_text_file\", params = {{ sessionId = \"{{session}}\", path = \"/{e}\" }} }}, {{ do = \"request\", method = \"terminal/create\", params = {{ sessionId = \"{{session}}\", command = \"{e}\", args = [\"{e}\"] }} }}, {{ do = \"request\", method = \"{e}\" }}]\n"), &["--allow", "all"], 0),
    ];
    for (text, args, code) in cases {
        let lab = Lab::new();
        let agent = lab.script(&text);
        let (plain, _) = clean_runs(&lab, &[&["x"], args].concat(), &agent);
        assert_eq!(plain.code, Some(code), "{text}\n{}", plain.err());
    }
}

#[test]
fn an_escape_in_the_command_line_of_the_agent_stays_inside() {
    let lab = Lab::new();
    let (text, _) = clean_runs(&lab, &["x"], &["no\u{1b}]0;owned\u{7}\u{202e}such".to_owned()]);
    text.assert_code(5);
}

/// Ids as they stand in the requests of [`every_id_is_answered_once_byte_for_byte`].
const IDS: &[&str] = &[
    "0",
    "1",
    "2",
    "3",
    "-7",
    "-3.5",
    "1e3",
    "1.0",
    "12345678901234567890123456789",
    "\"\"",
    "\"0\"",
    "\"seven\"",
    "\"\\u0041\"",
    "\"a\\/b\"",
    "\"日本\"",
    "\"\\ud83d\\ude00\"",
    "null",
];

#[test]
fn every_id_is_answered_once_byte_for_byte() {
    let lab = Lab::new();
    std::fs::write(lab.cwd().join("there.txt"), "text").unwrap();
    let mut steps = String::new();
    for (n, id) in IDS.iter().enumerate() {
        let (method, params) = match n % 4 {
            0 => ("fs/read_text_file", r#"{"sessionId":"{session}","path":"{cwd}/there.txt"}"#),
            1 => ("terminal/output", r#"{"sessionId":"{session}","terminalId":"none"}"#),
            2 => ("_unknown/method", "{}"),
            _ => (
                "session/request_permission",
                r#"{"sessionId":"{session}","toolCall":{"toolCallId":"t"},"options":[]}"#,
            ),
        };
        let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#);
        // Twice: a repeated id is the agent's problem, but each request has its answer.
        steps += &format!("{{ do = \"raw\", text = '{line}' }},\n{{ do = \"raw\", text = '{line}' }},\n");
    }
    steps.push_str(r#"{ do = "wait", ms = 100, firm = true }, { do = "say", text = "still here" }"#);
    let (done, record) = lab.record(&["x"], &lab.turn(&steps));
    assert_eq!(done.assert_code(0).out(), "still here\n");
    let mut asked: BTreeMap<String, i32> = BTreeMap::new();
    for (id, _) in record.questions() {
        *asked.entry(id).or_default() += 1;
    }
    assert_eq!(asked.len(), IDS.len(), "{asked:?}");
    for (id, _) in record.answers() {
        *asked.entry(id).or_default() -= 1;
    }
    assert!(asked.values().all(|open| *open == 0), "{asked:?}");
}

#[test]
fn fifty_mebibytes_on_stderr_are_drained() {
    for text in [
        "head -c 52428800 /dev/zero | tr '\\0' e >&2",
        "yes 'a line on stderr that is about as long as lines of a log use to be, or so' | head -c 52428800 >&2",
    ] {
        let lab = Lab::new();
        let agent = format!("{text}\nexec {}\n", lab.script("").join(" "));
        let done = lab.exec(&["hello"], &lab.shell_agent(&agent));
        assert_eq!(done.assert_code(0).out(), "You said: hello\n");
        assert!(done.peak_kib < 150 << 10, "{} KiB", done.peak_kib);
    }
}

/// Answers `initialize` and `session/new`, then asks for a file of 1 MiB again and again and reads nothing.
const DEAF: &str = r#"
id() { printf '%s' "$1" | sed 's/.*"id":\([0-9]*\).*/\1/'; }
read -r line; printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":1}}\n' "$(id "$line")"
read -r line; printf '{"jsonrpc":"2.0","id":%s,"result":{"sessionId":"s"}}\n' "$(id "$line")"
read -r line
n=0
while [ $n -lt 200 ]; do
  n=$((n + 1))
  printf '{"jsonrpc":"2.0","id":"r%s","method":"fs/read_text_file","params":{"sessionId":"s","path":"%s/big.txt"}}\n' $n "$PWD"
done
exec sleep 1000
"#;

#[test]
fn an_agent_that_stops_reading_is_given_up_at_64_mib() {
    let lab = Lab::new();
    std::fs::write(lab.cwd().join("big.txt"), "x".repeat(1 << 20)).unwrap();
    let done = lab.exec(&["x", "--timeout", "60"], &lab.shell_agent(DEAF));
    done.assert_says(5, &["stopped reading", "64 MiB"]);
    assert!(done.peak_kib < 350 << 10, "{} KiB", done.peak_kib);
    lab.assert_nothing_left();
}

/// Answers `initialize` and `session/new`, changes a file when it is asked for something, and says one line without end.
const FLOOD: &str = r#"
id() { printf '%s' "$1" | sed 's/.*"id":\([0-9]*\).*/\1/'; }
read -r line; printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":1}}\n' "$(id "$line")"
read -r line; printf '{"jsonrpc":"2.0","id":%s,"result":{"sessionId":"s"}}\n' "$(id "$line")"
read -r line
echo x > changed.txt
"#;

#[test]
fn a_flood_does_not_hold_up_the_end_that_a_timeout_makes() {
    let update = |update: &str| {
        format!(r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s","update":{update}}}}}"#)
    };
    let long = "x".repeat(1000);
    let text = format!(r#"{{"sessionUpdate":"agent_message_chunk","content":{{"type":"text","text":"{long}"}}}}"#);
    let call = format!(
        r#"{{"sessionUpdate":"tool_call","toolCallId":"t","title":"{long}","kind":"execute","status":"in_progress"}}"#
    );
    for (update, trap) in [(update(&text), ""), (update(&call), "trap '' TERM HUP INT\n")] {
        let lab = Lab::new();
        let (review, patch) = (lab.path("review.json"), lab.path("all.patch"));
        let files = ["--review", review.to_str().unwrap(), "--patch", patch.to_str().unwrap()];
        let agent = lab.shell_agent(&format!("{FLOOD}\n{trap}exec yes '{update}'\n"));
        let done = lab.exec(&[&["x", "--allow", "all", "--timeout", "2"][..], &files].concat(), &agent);
        done.assert_says(124, &["--timeout"]);
        assert!(done.took < Duration::from_millis(4500), "{:?}", done.took);
        let report = std::fs::read_to_string(review).unwrap();
        assert!(report.contains("changed.txt") && patch.is_file(), "{report}");
        lab.assert_nothing_left();
    }
}

#[test]
fn a_flood_of_nonsense_is_survived() {
    let lab = Lab::new();
    let text = format!(
        "yes '[INFO] noise' | head -n 100000\nyes 'null' | head -n 100000\nyes '{{\"jsonrpc\":\"2.0\"' | head -n 20000\nexec {}\n",
        lab.script("").join(" ")
    );
    let done = lab.exec(&["hello"], &lab.shell_agent(&text));
    assert_eq!(done.assert_code(0).out(), "You said: hello\n");
    assert!(done.peak_kib < 250 << 10, "{} KiB", done.peak_kib);
    assert!(done.stderr.len() < 100_000, "{} bytes on stderr", done.stderr.len());
}

#[test]
fn deep_nesting_and_huge_numbers_are_survived() {
    let lab = Lab::new();
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    let message = format!(
        r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"{{session}}","update":{{"sessionUpdate":"tool_call","toolCallId":"t","title":"T","rawInput":{deep}}}}}}}"#
    );
    let numbers = r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"{session}","update":{"sessionUpdate":"usage_update","used":1e400,"size":99999999999999999999999999}}}"#;
    let steps = format!(
        "{{ do = \"raw\", text = '{message}' }}, {{ do = \"raw\", text = '{numbers}' }}, {{ do = \"say\", text = \"alive\" }}"
    );
    let (text, _) = clean_runs(&lab, &["x"], &lab.turn(&steps));
    assert_eq!(text.assert_code(0).out(), "alive\n");
}

#[test]
fn five_thousand_questions_at_once_are_each_answered() {
    let lab = Lab::new();
    let steps = r#"{ do = "repeat", times = 5000, step = [{ do = "request", method = "session/request_permission", wait = false, params = { sessionId = "{session}", toolCall = { toolCallId = "t{n}", kind = "execute" }, options = [{ optionId = "no", name = "No", kind = "reject_once" }] } }] }, { do = "await_answers" }, { do = "say", text = "settled" }"#;
    let (done, record) = lab.record(&["x"], &lab.turn(steps));
    assert_eq!(done.assert_code(0).out(), "settled\n");
    assert_eq!(record.outcomes().len(), 5000);
}
