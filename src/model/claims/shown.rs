//! What in the input of a call a question about it need not show: words about it, and numbers and switches that say only how
//! much of a file is read, how long a command may take, or what is so anyway.
//!
//! Invariant: what is not in a list here is shown.

use super::is_usual;
use super::keys::{self, GIVEN_TO, plain};
use crate::model::tool::ToolCall;
use serde_json::Value;

/// The answers that an agent takes, which stand below the question.
const ANSWERS: &str = "availabledecisions";
/// What an agent has read out of the command beside it.
const OF_COMMAND: [&str; 2] = ["parsedcmd", "commandactions"];
/// Numbers and switches of how much is read, found or replaced and where in a file: none of them makes a call do anything
/// else.
const OF_AMOUNT: [&str; 46] = [
    "limit",
    "offset",
    "line",
    "lines",
    "lineno",
    "linenumber",
    "linenumbers",
    "linestart",
    "lineend",
    "startline",
    "endline",
    "startlinenumber",
    "endlinenumber",
    "startlineoneindexed",
    "endlineoneindexedinclusive",
    "shouldreadentirefile",
    "insertline",
    "viewrange",
    "column",
    "maxlines",
    "maxbytes",
    "maxchars",
    "maxlength",
    "maxresults",
    "maxmatches",
    "maxtokens",
    "maxoutputtokens",
    "maxdepth",
    "depth",
    "page",
    "pages",
    "pagesize",
    "numresults",
    "topk",
    "headlimit",
    "context",
    "contextlines",
    "expectedreplacements",
    "yieldtimems",
    "casesensitive",
    "caseinsensitive",
    "ignorecase",
    "multiline",
    "respectgitignore",
    "includehidden",
    "replaceall",
];
/// The same as options of a program that searches.
const OPTIONS: [&str; 6] = ["-A", "-B", "-C", "-i", "-n", "-o"];
/// Switches that say how a command is waited for, and not what it does.
const OF_WAIT: [&str; 5] = ["runinbackground", "isbackground", "background", "tty", "interactive"];
/// Others that say nothing where they are off, since that is so anyway.
const OFF: [&str; 4] = ["modifiedbyuser", "overwrite", "dangerouslydisablesandbox", "withescalatedpermissions"];

/// Whether a key of a command is for how it is waited for.
pub(super) fn is_of_wait(key: &str) -> bool {
    OF_WAIT.contains(&&*plain(key))
}

/// Whether what stands at a key of an input says nothing of what is done. Of an object each member says it for itself.
pub fn is_of_no_account(key: &str, value: &Value) -> bool {
    let name = &*plain(key);
    let is_said = || keys::is_said_of_commands(name);
    let is_amount = || OF_AMOUNT.contains(&name) || OPTIONS.contains(&key);
    match value {
        _ if name == ANSWERS => true,
        Value::Null => true,
        Value::Object(_) => false,
        Value::Array(list) => list.iter().all(|value| !value.is_object() && is_of_no_account(key, value)),
        Value::Bool(false) => is_said() || is_amount() || OFF.contains(&name) || OF_WAIT.contains(&name),
        Value::Bool(true) | Value::Number(_) => is_said() || is_amount(),
        Value::String(_) => {
            is_said() || GIVEN_TO.contains(&name) && is_usual(value) || keys::is_in_sandbox(name, value)
        }
    }
}

/// Whether what stands at a key is what an agent has read out of the command beside it.
pub fn is_made_of_command(key: &str) -> bool {
    OF_COMMAND.contains(&&*plain(key))
}

/// Whether a program stands at a key.
pub fn is_for_programs(key: &str) -> bool {
    keys::PROGRAMS.contains(&&*plain(key))
}

/// Whether the input of a call has a number or a switch that says what is done.
pub fn has_settings(tool: &ToolCall) -> bool {
    tool.raw_input.iter().any(|input| says_what_is_done("", input))
}

/// Whether a value, or one within it, is a number or a switch that says what is done.
pub(super) fn says_what_is_done(key: &str, value: &Value) -> bool {
    let mut open = vec![(key, value)];
    while let Some((key, value)) = open.pop() {
        match value {
            _ if is_of_no_account(key, value) => {}
            Value::Bool(_) | Value::Number(_) => return true,
            Value::Array(list) => open.extend(list.iter().map(|value| (key, value))),
            Value::Object(map) => open.extend(map.iter().map(|(key, value)| (&**key, value))),
            Value::Null | Value::String(_) => {}
        }
    }
    false
}
