//! What of an entry can be copied by itself: a code block, a command, what it printed, a patch, a path, an address.
//!
//! Copies nothing. Invariants: each is as it was sent, without layout and without control characters (see `source`), and
//! there are at most `MAX`; of patches see `patch`.

use super::source::{self, clean};
use super::{named, patch};
use crate::base::{human, sanitize};
use crate::model::entry::{Block, Body, Entry, FileOutcome};
use crate::model::session_ref::SessionRef;
use crate::model::terminal::Terminal;
use crate::model::tool::{Change, ToolCall, ToolContent, ToolKind};
use crate::text::address;
use crate::ui::md;
use std::collections::BTreeSet;

const MAX: usize = 100;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Part {
    /// What it is.
    pub what: String,
    pub text: String,
}

/// The whole entry first.
pub fn parts(entry: &Entry, session: SessionRef<'_>) -> Vec<Part> {
    let mut out = Parts::default();
    out.push("all of it".to_owned(), source::source(entry, session));
    match &entry.body {
        Body::User(m) => out.markdown(&m.text),
        Body::Agent(m) => out.markdown(&m.text),
        Body::Thought(t) => out.markdown(&t.message.text),
        Body::Tool(call) => out.call(call, session),
        Body::Terminal(id) => out.terminal(session.terminal(id)),
        Body::File(op) => {
            out.add("path", op.path.clone());
            if let FileOutcome::Written { old, new, .. } = &op.outcome {
                out.of_file("patch", patch::of_texts(&op.path, (old.as_deref(), new), None, session));
            }
        }
        Body::Notice(n) if n.is_prose => out.markdown(&n.detail.join("\n")),
        Body::Attachment(_) | Body::Plan(_) | Body::Notice(_) | Body::Changes(_) => {}
    }
    out.0
}

#[derive(Default)]
struct Parts(Vec<Part>);

impl Parts {
    fn add(&mut self, what: impl Into<String>, text: impl Into<String>) {
        let (what, text) = (what.into(), clean(text.into(), sanitize::copied));
        self.push(what, text);
    }

    /// What is in a file, or is to be put into one.
    fn of_file(&mut self, what: &str, text: String) {
        self.push(what.to_owned(), clean(text, sanitize::copied_file));
    }

    fn push(&mut self, what: String, text: String) {
        if !text.is_empty() && self.0.len() < MAX {
            self.0.push(Part { what, text });
        }
    }

    fn markdown(&mut self, text: &str) {
        for (language, code) in md::blocks(text) {
            let lines = human::count(code.lines().count() as u64, "line");
            self.add(if language.is_empty() { format!("code, {lines}") } else { format!("{language}, {lines}") }, code);
        }
        self.addresses(text);
    }

    fn addresses(&mut self, text: &str) {
        let pages: BTreeSet<&str> = address::all(text).take(MAX).collect();
        for page in pages {
            self.add("address", page);
        }
    }

    fn call(&mut self, call: &ToolCall, session: SessionRef<'_>) {
        let asked = || named::asked_command(call).filter(|_| named::kind_of(call) == ToolKind::Execute);
        let command = named::command(call.raw_input.as_ref()).or_else(|| asked().map(str::to_owned));
        self.add("command", command.unwrap_or_default());
        let mut paths: BTreeSet<&str> = call.locations.iter().map(|at| at.path.as_str()).collect();
        for (at, content) in call.content.iter().enumerate() {
            match content {
                _ if named::only_asks(call, content) => {}
                ToolContent::Block(Block::Text(text)) | ToolContent::Unread(Block::Text(text)) => {
                    self.add("output", text.as_str());
                    self.addresses(text);
                }
                ToolContent::Block(_) | ToolContent::Unread(_) => {}
                ToolContent::Change(change) => {
                    paths.insert(&change.path);
                    self.change(change, call.line_of(at), session);
                }
                ToolContent::Terminal(id) => self.terminal(session.terminal(id)),
            }
        }
        for path in paths {
            self.add("path", path);
        }
    }

    fn change(&mut self, change: &Change, line: Option<u32>, session: SessionRef<'_>) {
        self.of_file("patch", patch::of_change(change, line, session).unwrap_or_default());
        if let Some((_, new)) = change.texts() {
            self.of_file("new text", new.to_string());
        }
    }

    fn terminal(&mut self, terminal: Option<&Terminal>) {
        let Some(terminal) = terminal else { return };
        let command = sanitize::copied(&terminal.command);
        if self.0.iter().all(|part| part.text != command) {
            self.add("command", command);
        }
        self.add("output", terminal.printed());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::event::Update;
    use crate::model::patch::Patch;
    use crate::model::tool::{ChangeBody, Location, Operation, ToolPatch, ToolStatus};
    use crate::ui::fixtures::Scene;

    /// The patches of a call with this change, in a session in `/home/me/src/shop`.
    fn patches(change: Change, line: Option<u32>) -> Vec<String> {
        let mut scene = Scene::working(80, 24);
        let mut patch = ToolPatch::new("t".into());
        patch.status = Patch::Set(ToolStatus::Completed);
        patch.locations = Patch::Set(vec![Location { path: change.path.clone(), line }]);
        patch.content = Patch::Set(vec![ToolContent::Change(change)]);
        scene.update(Update::ToolCall(patch.into()));
        let session = scene.model.first();
        let parts = session.entries().last().map(|entry| parts(entry, session)).unwrap_or_default();
        parts.into_iter().filter(|part| part.what == "patch").map(|part| part.text).collect()
    }

    #[test]
    fn a_patch_names_files_from_the_sessions_directory_on_and_what_lies_outside_by_its_whole_path() {
        let of = |path, old: Option<&str>| patches(Change::of_texts(path, old.map(Into::into), "two\n".into()), None);
        let mended = "--- a/src/main.rs\n+++ b/src/main.rs\n@@ -1,1 +1,1 @@\n-one\n+two\n";
        assert_eq!(of("/home/me/src/shop/src/main.rs", Some("one\n")), [mended]);
        assert_eq!(of("./src/main.rs", Some("one\n")), [mended]);
        assert_eq!(of("/home/me/src/shop/new.md", None), ["--- /dev/null\n+++ b/new.md\n@@ -0,0 +1,1 @@\n+two\n"]);
        assert_eq!(of("/etc/hosts", Some("one\n")), ["--- /etc/hosts\n+++ /etc/hosts\n@@ -1,1 +1,1 @@\n-one\n+two\n"]);
    }

    #[test]
    fn a_piece_of_a_file_is_patched_where_it_stands() {
        let piece = Change::of_texts("/home/me/src/shop/a.rs", Some("one\nold".into()), "one\nnew".into());
        let wanted = "--- a/a.rs\n+++ b/a.rs\n@@ -40,2 +40,2 @@\n one\n-old\n+new\n";
        assert_eq!(patches(piece, Some(40)), [wanted]);
    }

    #[test]
    fn the_hunks_of_an_agents_patch_stand_below_names_that_hold_here() {
        let change = |body: &str| Change {
            body: ChangeBody::Patch(body.into()),
            ..Change::of_texts("/home/me/src/shop/a.rs", None, "".into())
        };
        let wanted = "--- a/a.rs\n+++ b/a.rs\n@@ -1 +1 @@\n-old\n+new\n";
        let of = |body: &str| patches(Change { operation: Operation::Modify, ..change(body) }, None);
        assert_eq!(of("@@ -1 +1 @@\n-old\n+new\n"), [wanted]);
        assert_eq!(of("--- /home/me/src/shop/a.rs\n+++ /home/me/src/shop/a.rs\n@@ -1 +1 @@\n-old\n+new\n"), [wanted]);
        let gits = "diff --git a/a.rs b/a.rs\n--- a/a.rs\n+++ b/a.rs\n@@ -1 +1 @@\n-old\n+new\n";
        assert_eq!(of(gits), [gits]);
        assert_eq!(of("what it says"), ["what it says"]);
    }
}
