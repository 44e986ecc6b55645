//! A patch, taken apart by its files.

use super::*;
use serde_json::json;

fn read(patch: &str, changes: &Value) -> (Vec<ToolContent>, bool) {
    let mut cut = false;
    let diff = json!({ "type": "diff", "changes": changes, "patch": { "format": "git_patch", "text": patch } });
    (parts(&diff, Owner::Agent, &mut cut), cut)
}

fn bodies(patch: &str, paths: &[&str]) -> Vec<String> {
    let changes = paths.iter().map(|path| json!({ "operation": "modify", "path": path })).collect::<Vec<_>>();
    let (parts, _) = read(patch, &json!(changes));
    let body = |part: &ToolContent| match part {
        ToolContent::Change(Change { body: ChangeBody::Patch(text), .. }) => text.to_string(),
        ToolContent::Change(_) => "nothing".to_owned(),
        ToolContent::Unread(Block::Text(text)) => format!("raw: {text}"),
        other => format!("{other:?}"),
    };
    parts.iter().map(body).collect()
}

#[test]
fn v2_093_each_file_gets_its_own_part_of_a_patch() {
    let of = |path: &str| format!("diff --git {path} {path}\n--- {path}\n+++ {path}\n@@ -1 +1 @@\n-a\n+b\n");
    let patch = format!("{}{}", of("/a b"), of("/c"));
    assert_eq!(bodies(&patch, &["/c", "/a b"]), [of("/c"), of("/a b")]);
    let quoted = "diff --git \"/\\303\\251\\t\" \"/\\303\\251\\t\"\n@@ -0,0 +1 @@\n+x\n";
    assert_eq!(bodies(quoted, &["/é\t"]), [quoted]);
    let prefixed = "diff --git a//p/x b//p/x\n--- a//p/x\n+++ b//p/x\n@@ -1 +1 @@\n-a\n+b\n";
    assert_eq!(bodies(prefixed, &["/p/x"]), [prefixed], "an older habit");
    let gone = "diff --git /x /x\n--- /x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n";
    assert_eq!(bodies(gone, &["/x", "/dev/null"]), [gone, "nothing"]);
}

#[test]
fn v2_096_what_a_patch_says_of_no_file_is_shown_as_it_is() {
    assert_eq!(bodies("not a patch", &["/a"]), ["nothing", "raw: not a patch"]);
    let other = "diff --git /other /other\n@@ -1 +1 @@\n-a\n+b\n";
    let here = "diff --git /a /a\n@@ -1 +1 @@\n-c\n+d\n";
    assert_eq!(bodies(&format!("{here}{other}"), &["/a"]), [here, &format!("raw: {other}")], "nothing is hidden");
    assert_eq!(bodies(&format!("{here}{here}"), &["/a"]), [here, &format!("raw: {here}")]);
    let (parts, _) = read("", &json!([{ "operation": "move", "oldPath": "/a", "path": "/b" }]));
    assert_eq!(parts.len(), 1, "v2_094");
    let mut cut = false;
    let odd = json!({ "type": "diff", "changes": [], "patch": { "format": "ed", "text": "1d" } });
    assert_eq!(super::parts(&odd, Owner::Agent, &mut cut), [ToolContent::Unread(Block::Text("1d".into()))], "v2_095");
}

#[test]
fn a_part_of_a_patch_that_names_another_file_too_is_of_none() {
    let moved = "diff --git /a /secret\nrename from /a\nrename to /secret\n";
    assert_eq!(bodies(moved, &["/a"]), ["nothing", &format!("raw: {moved}")]);
    let (parts, _) = read(moved, &json!([{ "operation": "move", "oldPath": "/a", "path": "/secret" }]));
    assert_eq!(parts.len(), 1, "{parts:?}");
    let hidden =
        "diff --git /a /a\n--- /a\n+++ /a\n@@ -1 +1 @@\n-a\n+b\n--- /secret\n+++ /secret\n@@ -1 +1 @@\n-a\n+b\n";
    assert_eq!(bodies(hidden, &["/a"]), ["nothing", &format!("raw: {hidden}")]);
    let signs = "diff --git /a /a\n@@ -1,2 +1,2 @@\n--- b\n+++ c\n d\n";
    assert_eq!(bodies(signs, &["/a"]), [signs], "lines that begin with signs");
    let (parts, _) = read("", &json!([{ "path": "/a" }, { "operation": "delete" }]));
    assert!(matches!(parts.as_slice(), [ToolContent::Change(_), ToolContent::Unread(_)]), "{parts:?}");
}

#[test]
fn a_patch_of_very_many_files_is_bounded() {
    let changes: Vec<Value> = (0..3000).map(|n| json!({ "operation": "modify", "path": format!("/f{n}") })).collect();
    let patch = (0..3000).map(|n| format!("diff --git /f{n} /f{n}\n")).collect::<Vec<_>>().concat();
    let (parts, cut) = read(&patch, &json!(changes));
    assert!(cut && parts.len() <= MAX_PARTS + 2, "{}", parts.len());
}

#[test]
fn names_of_a_tool_are_found_in_what_adapters_say_of_their_own() {
    let names = |meta: Value| names_in_meta(&json!({ "toolCallId": "t", "_meta": meta }));
    assert_eq!(names(json!({ "claudeCode": { "toolName": "Task" } })), ["Task"]);
    assert_eq!(names(json!({ "terminal_info": {}, "x": { "tool_name": "y" } })), ["y"]);
    assert_eq!(names(json!({ "toolName": "z" })), ["z"]);
    assert_eq!(names(json!({ "claudeCode": { "toolName": "mcp__acp__Edit" } })), ["Edit"]);
    assert_eq!(names(json!({ "claudeCode": { "toolName": "mcp__lab__echo" } })), ["mcp__lab__echo"]);
    let several =
        json!({ "a": { "toolName": "TodoWrite", "tool_name": "Bash" }, "b": { "toolName": "Task" }, "toolName": "c" });
    assert_eq!(names(several), ["TodoWrite", "Bash", "Task", "c"], "none hides another one");
    for none in [json!({}), json!({ "a": { "toolName": "" } }), json!({ "a": { "toolName": 1 } }), json!("x")] {
        assert_eq!(names(none.clone()), [""; 0], "{none}");
    }
}

#[test]
fn parts_take_no_more_room_than_they_need() {
    for count in [1, 2, 5, 100] {
        let list = vec![json!({ "type": "content", "content": { "type": "text", "text": "x" } }); count];
        let parts = contents(&list, Owner::Client, 0, &mut false);
        assert_eq!((parts.len(), parts.capacity()), (count, count));
    }
}
