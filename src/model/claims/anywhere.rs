//! Commands and addresses that stand anywhere in the input of a call, whatever it says that it does: rules that deny or ask
//! are for these, too.
//!
//! Invariant: nothing is allowed by what stands here.

use super::keys::{self, ARGUMENTS, COMMANDS, GIVEN_TO, PROGRAMS, SCRIPT, SEVERAL_COMMANDS, plain};
use super::{BASH, Claim, Claimed, names, words};
use crate::model::tool::{ToolCall, ToolKind};
use serde_json::Value;

/// Further keys at which a line for a shell may stand, beside those for commands.
const LINES: [&str; 9] = ["shell", "bash", "sh", "zsh", "run", "exec", "execute", "shellscript", "bashscript"];
/// What repeats the command, or names those that an answer would allow.
const REPEATED: [&str; 3] = ["parsedcmd", "commandactions", "availabledecisions"];
/// Where a machine may stand without its scheme.
const MACHINES: [&str; 7] = ["domain", "domains", "hostname", "site", "website", "server", "address"];
/// Of each sort that are judged.
const MAX_FOUND: usize = 64;
/// Objects as texts in texts that are read, and their bytes.
const MAX_DEPTH: usize = 3;
const MAX_JSON: usize = 64 << 10;
/// What stands around an address in a sentence.
const AROUND: [char; 10] = ['.', ',', ';', ':', '!', '?', ')', ']', '}', '*'];
const ENDS: [char; 10] = ['\'', '"', '`', '<', '>', '|', '(', '{', '\\', '^'];
const FETCH: &str = "fetch";

#[derive(Default)]
struct Found {
    lines: Vec<Claimed>,
    /// With whether nothing else stands there, at a key that is for addresses.
    addresses: Vec<(String, bool)>,
}

/// What is to be judged besides what is claimed already.
pub(super) fn claims(tool: &ToolCall, kind: ToolKind, all: &[Claim]) -> Vec<Claim> {
    let mut found = Found::default();
    match &tool.raw_input {
        Some(Value::Object(map)) => {
            // What stands right there is judged as the call's own.
            let others = map.iter().filter(|(key, _)| !COMMANDS.contains(&&*plain(key)));
            others.for_each(|(key, value)| found.member(key, value, kind, 0));
        }
        Some(input) => found.look("", input, kind, (0, false)),
        None => {}
    }
    if names::is_untold(kind) || kind == ToolKind::Fetch {
        found.addresses.extend(addresses(&tool.title).map(|address| (address.to_owned(), false)));
    }
    let is_new = |tool: &str, what: &Claimed| all.iter().all(|claim| claim.tool != tool || claim.what != *what);
    let guess = |tool: &str, what| Claim { only_narrows: true, is_guess: true, ..Claim::new(tool, what) };
    let mut claims: Vec<Claim> = Vec::new();
    let has_more = [(BASH, found.lines.len()), (FETCH, found.addresses.len())];
    let lines = found.lines.into_iter().take(MAX_FOUND).filter(|what| is_new(BASH, what));
    claims.extend(lines.map(|what| guess(BASH, what)));
    for (address, is_certain) in found.addresses.into_iter().take(MAX_FOUND) {
        let what = Claimed::Text(address);
        if is_new(FETCH, &what) {
            let is_guess = !(is_certain && names::is_untold(kind));
            claims.push(Claim { is_guess, ..guess(FETCH, what) });
        }
    }
    // Of more nothing is known.
    claims
        .extend(has_more.iter().filter(|(_, count)| *count > MAX_FOUND).map(|(tool, _)| guess(tool, Claimed::Unknown)));
    claims
}

impl Found {
    /// `is_listed`: it is one of several at the key.
    fn look(&mut self, key: &str, value: &Value, kind: ToolKind, (depth, is_listed): (usize, bool)) {
        let is_written = keys::is_written(key) || keys::is_for_patches(key) || keys::is_looked_for(key);
        if is_written || REPEATED.contains(&key) {
            return;
        }
        match value {
            Value::String(text) => {
                self.text(key, text, kind, is_listed);
                if depth < MAX_DEPTH
                    && let Some(inner) = opened(text)
                {
                    self.look(key, &inner, kind, (depth + 1, false));
                }
            }
            Value::Array(list) => {
                if is_for_lines(key, kind)
                    && let Some(words) = words(value).filter(|words| !words.is_empty())
                {
                    self.line(Claimed::Words(words));
                }
                for value in list {
                    self.look(key, value, kind, (depth, list.len() > 1));
                }
            }
            Value::Object(map) => map.iter().for_each(|(key, value)| self.member(key, value, kind, depth)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn member(&mut self, key: &str, value: &Value, kind: ToolKind, depth: usize) {
        self.addresses.extend(addresses(key).map(|address| (address.to_owned(), false)));
        self.look(&plain(key), value, kind, (depth, false));
    }

    fn line(&mut self, what: Claimed) {
        if self.lines.len() <= MAX_FOUND && !self.lines.contains(&what) {
            self.lines.push(what);
        }
    }

    fn text(&mut self, key: &str, text: &str, kind: ToolKind, is_listed: bool) {
        // The words of one command are no lines, nor is the name of a shell that is given one.
        let is_word = is_listed && COMMANDS.contains(&key) && key != SEVERAL_COMMANDS;
        let is_word = is_word || GIVEN_TO.contains(&key) && !text.trim().contains(char::is_whitespace);
        if is_for_lines(key, kind) && !is_word && !text.trim().is_empty() {
            self.line(Claimed::Line(text.to_owned()));
        }
        // What a command names is judged with it; and what is written is no address.
        let is_judged =
            COMMANDS.contains(&key) || LINES.contains(&key) || key == ARGUMENTS && kind == ToolKind::Execute;
        let is_written = PROGRAMS.contains(&key) && kind == ToolKind::Edit;
        if is_judged || is_written || self.addresses.len() > MAX_FOUND {
            return;
        }
        let text = text.trim();
        let is_for_one = keys::is_for_machines(key) || MACHINES.contains(&key);
        if is_for_one && !text.contains("://") && text.contains('.') && !text.contains(char::is_whitespace) {
            self.addresses.push((text.to_owned(), true));
        }
        for address in addresses(text) {
            let is_whole = address.len() == text.len();
            // Words about a call may name what it has nothing to do with.
            if is_whole || !keys::is_said_of_commands(key) {
                self.addresses.push((address.to_owned(), is_whole && is_for_one));
            }
        }
    }
}

/// Of a call that says what it does a script is claimed as unknown, or found with the commands within its members.
fn is_for_lines(key: &str, kind: ToolKind) -> bool {
    COMMANDS.contains(&key) || LINES.contains(&key) || key == SCRIPT && names::is_untold(kind)
}

/// An object, or a list, that stands there as a text.
fn opened(text: &str) -> Option<Value> {
    let is_one = text.len() <= MAX_JSON && text.trim_start().starts_with(['{', '[']);
    let value: Value = if is_one { serde_json::from_str(text).ok()? } else { return None };
    (value.is_object() || value.is_array()).then_some(value)
}

/// The addresses of the web in a text.
fn addresses(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices("://").filter_map(|(at, _)| {
        let before = text.get(..at)?;
        let is_of_scheme = |c: char| c.is_ascii_alphanumeric() || "+.-".contains(c);
        let start = before
            .rfind(|c| !is_of_scheme(c))
            .map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8));
        let rest = text.get(start..)?;
        let end = rest.find(|c: char| c.is_whitespace() || c.is_control() || ENDS.contains(&c)).unwrap_or(rest.len());
        let address = rest.get(..end)?.trim_end_matches(AROUND);
        (start < at && address.len() > at + 3 - start && !keys::is_address_of_file(address)).then_some(address)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ids::ToolId;
    use serde_json::json;
    use std::time::Duration;

    fn found(kind: ToolKind, input: Value) -> Vec<(String, Claimed, bool)> {
        let mut tool = ToolCall::new(ToolId::from("t"), Duration::ZERO);
        (tool.kind, tool.raw_input) = (kind, Some(input));
        claims(&tool, kind, &[]).into_iter().map(|claim| (claim.tool, claim.what, claim.is_guess)).collect()
    }

    #[test]
    fn addresses_and_commands_are_found_wherever_they_stand() {
        let line = |text: &str| (BASH.to_owned(), Claimed::Line(text.to_owned()), true);
        let at = |text: &str, is_guess| (FETCH.to_owned(), Claimed::Text(text.to_owned()), is_guess);
        for (input, wanted) in [
            (json!({ "url": "https://evil.com/x" }), at("https://evil.com/x", false)),
            (json!({ "extra": "https://evil.com/x" }), at("https://evil.com/x", true)),
            (json!({ "body": "see (https://evil.com/x), please" }), at("https://evil.com/x", true)),
            (json!({ "a": [{ "host": "evil.com" }] }), at("evil.com", false)),
            (json!({ "https://evil.com": 1 }), at("https://evil.com", true)),
            (json!({ "args": "{\"url\":\"https://evil.com\"}" }), at("https://evil.com", false)),
            (json!({ "script": "rm x" }), line("rm x")),
            (json!({ "description": { "run": "rm x" } }), line("rm x")),
            (json!({ "args": "{\"command\":\"rm x\"}" }), line("rm x")),
            (json!({ "a": { "commands": ["ls", "rm x"] } }), line("rm x")),
        ] {
            let all = found(ToolKind::Other, input.clone());
            assert!(all.contains(&wanted), "{input}: {all:?}");
        }
        for input in [
            json!({ "content": "see https://evil.com", "new_string": "{\"command\":\"rm x\"}" }),
            json!({ "description": "as https://evil.com says", "query": "https://evil.com" }),
            json!({ "shell": "/bin/bash", "run": true, "script": "" }),
            json!({ "parsed_cmd": [{ "cmd": "rm x" }], "url": "file:///etc/x" }),
        ] {
            assert_eq!(found(ToolKind::Execute, input.clone()), [], "{input}");
        }
        let words = ["ls", "-la", "rm -rf src"].map(str::to_owned).to_vec();
        let all = found(ToolKind::Execute, json!({ "a": { "command": words } }));
        assert_eq!(all, [(BASH.to_owned(), Claimed::Words(words), true)]);
        assert_eq!(found(ToolKind::Execute, json!({ "command": "rm x" })), []);
    }

    #[test]
    fn of_more_than_are_judged_nothing_is_known() {
        let many: Vec<String> = (0..200).map(|n| format!("https://m{n}.example")).collect();
        let all = found(ToolKind::Other, json!({ "urls": many }));
        assert!(all.contains(&(FETCH.to_owned(), Claimed::Unknown, true)), "{all:?}");
        assert!(all.len() <= MAX_FOUND + 1);
    }
}
