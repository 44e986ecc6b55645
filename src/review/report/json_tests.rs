use super::*;
use crate::model::changes::{Cause, FileChange, HunkId, HunkState};
use crate::review::protocol::{AgentSession, SessionInfo};
use crate::review::state::Oid;
use std::path::PathBuf;
use std::sync::Arc;

const SCHEMA: &str = include_str!("../../../assets/schema/review.json");

/// As much of JSON Schema as the schema uses. Where `value` breaks it; members that it does not know break it too.
fn check(schema: &Value, value: &Value, at: &str, root: &Value) -> Vec<String> {
    let known = ["type", "required", "properties", "items", "enum", "const", "minimum", "pattern", "$ref"];
    let words = ["$schema", "title", "description", "$defs"];
    for key in schema.as_object().unwrap().keys() {
        assert!(known.contains(&key.as_str()) || words.contains(&key.as_str()), "{at}: {key} is not checked");
    }
    let mut wrong = Vec::new();
    let mut complain = |ok: bool, what: &str| {
        if !ok {
            wrong.push(format!("{at}: {value} breaks {what}"));
        }
    };
    if let Some(name) = schema["$ref"].as_str() {
        let target = root.pointer(name.trim_start_matches('#')).unwrap_or_else(|| panic!("no {name}"));
        return check(target, value, at, root);
    }
    let is = |kind: &str| match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_u64(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("{at}: type {other}"),
    };
    match &schema["type"] {
        Value::String(kind) => complain(is(kind), kind),
        Value::Array(kinds) => complain(kinds.iter().any(|k| is(k.as_str().unwrap())), "its types"),
        _ => {}
    }
    if let Some(allowed) = schema["enum"].as_array() {
        complain(allowed.contains(value), "enum");
    }
    if !schema["const"].is_null() {
        complain(schema["const"] == *value, "const");
    }
    if schema["pattern"].is_string() {
        let hex = value.as_str().is_some_and(|text| text.len() % 2 == 0 && text.chars().all(|c| c.is_ascii_hexdigit()));
        complain(hex, "pattern");
    }
    for name in schema["required"].as_array().into_iter().flatten() {
        complain(value.get(name.as_str().unwrap()).is_some(), &format!("required {name}"));
    }
    if schema["properties"].is_object() {
        for (name, inner) in value.as_object().into_iter().flatten() {
            match schema["properties"].get(name) {
                Some(schema) => wrong.extend(check(schema, inner, &format!("{at}.{name}"), root)),
                None => wrong.push(format!("{at}.{name} is not in the schema")),
            }
        }
    }
    if schema["items"].is_object() {
        for (n, inner) in value.as_array().into_iter().flatten().enumerate() {
            wrong.extend(check(&schema["items"], inner, &format!("{at}[{n}]"), root));
        }
    }
    wrong
}

fn breaks(report: &Value) -> Vec<String> {
    let schema = serde_json::from_str(SCHEMA).unwrap();
    check(&schema, report, "", &schema)
}

fn hunk(what: HunkKind, (added, removed): (u32, u32), turn: u64) -> HunkDoc {
    HunkDoc {
        id: HunkId(1),
        state: HunkState::Pending,
        cause: Cause::Tool,
        entry: None,
        elsewhere: None,
        turn,
        old_start: 3,
        new_start: 4,
        heading: String::new(),
        what,
        count: 1,
        added,
        removed,
        lines: Arc::default(),
        conflict: None,
    }
}

fn file_doc(path: PathBuf, hunks: Vec<HunkDoc>) -> FileDoc {
    FileDoc {
        path,
        renamed_from: None,
        change: FileChange::Modified,
        added: 2,
        removed: 1,
        cause: Cause::Tool,
        hunks,
        note: None,
        held: None,
    }
}

fn changed(path: &str, causes: &[Cause], turns: &[u64]) -> Changed {
    let state = State::File { oid: Oid([1; 20]), mode: 0o644, size: 1 };
    Changed { path: path.into(), before: State::Absent, after: state, causes: causes.into(), turns: turns.into() }
}

fn review() -> (tempfile::TempDir, ReviewSession) {
    let home = tempfile::tempdir().unwrap();
    let head = SessionInfo {
        stem: "1-2-3".into(),
        cwd: "/work".into(),
        command: "agent --acp".into(),
        started: 9,
        private: Vec::new(),
        directories: Vec::new(),
    };
    let review = ReviewSession::create(home.path(), head).unwrap();
    (home, review)
}

#[test]
fn a_report_is_what_the_schema_says() {
    let (_home, mut review) = review();
    review.session(AgentSession::new("s-1", 1, "demo")).unwrap();
    let written = io::read_to_string(report(&mut review, &[]).unwrap()).unwrap();
    let mut whole: Value = serde_json::from_str(&written).unwrap();
    assert_eq!(written, text(&whole), "file by file it is the same");
    assert_eq!(whole["cwd"], "/work");
    assert_eq!(whole["command"], "agent --acp");
    let hunks = vec![
        hunk(HunkKind::Lines, (2, 1), 2),
        hunk(HunkKind::Whole("line endings LF → CRLF".into()), (0, 0), 0),
        hunk(HunkKind::Mode(0o644, 0o755), (0, 0), 1),
    ];
    let mut file = file_doc("src/new.rs".into(), hunks);
    file.renamed_from = Some("src/old.rs".into());
    file.note = Some("CRLF".into());
    let old = changed("src/old.rs", &[Cause::Write, Cause::Tool], &[2, 3]);
    let new = changed("src/new.rs", &[Cause::Tool, Cause::Person], &[1]);
    let value = file_value(&file, &[&new, &old], true);
    assert_eq!(value["causes"], json!(["tool", "person", "write"]));
    assert_eq!(value["turns"], json!([1, 2, 3]));
    assert_eq!((&value["hunks"][0]["added"], &value["hunks"][0]["removed"]), (&json!(2), &json!(1)));
    assert_eq!(value["hunks"][2]["detail"], "644 → 755");
    whole["files"] = json!([value]);
    whole["turns"] = json!([turn_value(2, Totals { added: 2, removed: 1, files: 1, pending: 3 })]);
    assert_eq!(breaks(&whole), [""; 0]);
    assert_eq!(breaks(&nothing(Path::new("/x"), "agent", "no home", &[])), [""; 0]);
    // The check itself can fail.
    whole["files"][0]["change"] = json!("eaten");
    whole["files"][0].as_object_mut().unwrap().remove("binary");
    whole["more"] = json!(1);
    assert_eq!(breaks(&whole).len(), 3, "{:?}", breaks(&whole));
}

#[test]
fn every_value_of_the_model_is_in_the_schema() {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let allowed = |pointer: &str, value: Value| {
        let list = schema.pointer(pointer).and_then(Value::as_array).unwrap_or_else(|| panic!("{pointer}"));
        assert!(list.contains(&value), "{value} is not in {pointer}");
    };
    for cause in [Cause::Write, Cause::Tool, Cause::Command, Cause::Unknown, Cause::Person, Cause::Review] {
        allowed("/$defs/cause/enum", json!(cause));
    }
    use HunkState::{Accepted, Edited, Pending, Rejected, Superseded};
    for state in [Pending, Accepted, Rejected, Edited, Superseded] {
        allowed("/$defs/hunk/properties/state/enum", json!(state));
    }
    use FileChange::{Created, Deleted, Kind, Mode, Modified, Renamed};
    for change in [Created, Modified, Deleted, Renamed, Mode, Kind] {
        allowed("/$defs/file/properties/change/enum", json!(change));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_path_that_is_no_text_has_its_bytes_beside_it() {
    use std::os::unix::ffi::OsStringExt as _;
    let path = PathBuf::from(std::ffi::OsString::from_vec(b"caf\xe9".to_vec()));
    let value = file_value(&file_doc(path, Vec::new()), &[], false);
    assert_eq!((&value["path"], &value["path_bytes"]), (&json!("caf\u{fffd}"), &json!("636166e9")));
}

#[test]
fn the_text_holds_nothing_that_a_terminal_obeys_and_is_the_same_value() {
    let value = json!({ "path": "a\u{1b}[2J\u{202e}b\u{9b}\u{7f}é" });
    let said = text(&value);
    assert!(said.ends_with("}\n") && said.contains('é'), "{said}");
    assert!(!said.chars().any(|c| c != '\n' && c.is_control() || c == '\u{202e}'), "{said:?}");
    assert_eq!(serde_json::from_str::<Value>(&said).unwrap(), value);
}

#[test]
fn a_report_that_is_written_file_by_file_is_the_same_text() {
    let files =
        |count: usize| (0..count).map(|n| json!({ "path": format!("f{n}"), "hunks": [{ "a": 1 }], "turns": [] }));
    for count in [0, 1, 3] {
        let with = |files: Value| json!({ "cwd": "/w", "files": files, "turns": [1, 2], "a\u{1b}": {} });
        let whole: Value = files(count).collect();
        let (report, mut writing) = (with(json!([])), Writing { to: Vec::new(), files: 0, is_begun: false });
        for file in files(count) {
            writing.begin(&report).unwrap();
            writing.file(&file).unwrap();
        }
        let written = writing.end(&report).unwrap();
        assert_eq!(String::from_utf8(written).unwrap(), text(&with(whole)));
    }
}
