//! What a call is called, and what follows from that: which kind of tool it is, which one of a server, and what rules
//! that deny a name are to see.
//!
//! Invariant: a name that anybody may have given grants nothing; a name that all know says what its input is.

use super::keys::{is_for_paths, of_keys, plain};
use super::{Claim, Claimed};
use crate::base::tools::{self, Does};
use crate::model::tool::asked::leaves_out;
use crate::model::tool::{ToolCall, ToolKind};
use serde_json::{Map, Value};

/// Where the input of a call names a server, and a tool of it.
const SERVERS: [&str; 3] = ["server", "servername", "mcpserver"];
const TOOLS: [&str; 3] = ["tool", "toolname", "mcptool"];

/// Where a question about a command has it, and where the directories that it leads to, and what is in them.
const COMMAND: &str = "command";
const LED_TO: [&str; 2] = ["directories", "patterns"];

/// What agents call a tool that searches the web, however its words are put together, and what it is called here.
const WEB_SEARCHES: [&str; 3] = [WEB_SEARCH, "googlewebsearch", "searchweb"];
pub(super) const WEB_SEARCH: &str = "websearch";
/// What is given to one, and to no other tool.
const OF_WEB_SEARCHES: [&str; 6] =
    ["query", "queries", "search_query", "allowed_domains", "blocked_domains", "max_results"];
/// What a call does: as it says, and where it says nothing of that, as a tool does that has its name.
pub(super) fn kind(tool: &ToolCall) -> ToolKind {
    if !is_untold(tool.kind) {
        return tool.kind;
    }
    match tool.name.as_deref().and_then(tools::named) {
        Some((Does::Runs, _)) => ToolKind::Execute,
        Some((Does::Reads, _)) => ToolKind::Read,
        Some((Does::Searches, _)) => ToolKind::Search,
        Some((Does::Edits | Does::Writes, _)) => ToolKind::Edit,
        Some((Does::Deletes, _)) => ToolKind::Delete,
        Some((Does::Moves, _)) => ToolKind::Move,
        Some((Does::Fetches | Does::SearchesWeb, _)) => ToolKind::Fetch,
        None if is_as_before(tool) => tool.kind_before.unwrap_or(tool.kind),
        None if is_command_as_before(tool) => ToolKind::Execute,
        Some((Does::Calls, _)) | None => tool.kind,
    }
}

/// Whether a call that was announced as one of files is asked about without a word of its kind, and names files and nothing
/// else: some agents ask so about what lies outside of the session's directory, with the directory above it as their title.
pub(super) fn is_as_before(tool: &ToolCall) -> bool {
    let is_of_files = matches!(tool.kind_before, Some(ToolKind::Read | ToolKind::Search | ToolKind::Edit));
    if tool.kind != ToolKind::Other || !is_of_files || tool.name.is_some() || !tool.content.is_empty() {
        return false;
    }
    let Some(input) = tool.raw_input.as_ref().and_then(Value::as_object) else { return false };
    let mut named = tool.locations.iter().map(|location| location.path.as_str());
    let title = tool.title.trim_end_matches('*').trim_end_matches('/');
    let is_one = |path: &str| path.trim_end_matches('/') == title;
    let is_named = named.any(is_one) || input.values().filter_map(Value::as_str).any(is_one);
    !input.is_empty() && is_named && input.iter().all(|(key, value)| is_for_paths(key) && value.is_string())
}

/// The same of a call that was announced as a command: it is what is asked about, and beside it stand only directories that
/// it leads to.
pub(super) fn is_command_as_before(tool: &ToolCall) -> bool {
    let is_of_command = tool.kind == ToolKind::Other && tool.kind_before == Some(ToolKind::Execute);
    if !is_of_command || tool.name.is_some() || !tool.content.is_empty() {
        return false;
    }
    let Some(input) = tool.raw_input.as_ref().and_then(Value::as_object) else { return false };
    let is_place = |key: &str, value: &Value| {
        LED_TO.contains(&key) && value.as_array().is_some_and(|places| places.iter().all(Value::is_string))
    };
    let is_command = |key: &str, value: &Value| key == COMMAND && value.as_str() == Some(&tool.title);
    input.contains_key(COMMAND) && input.iter().all(|(key, value)| is_command(key, value) || is_place(key, value))
}

/// Whether only its name says what a tool of this kind does.
pub(super) const fn is_untold(kind: ToolKind) -> bool {
    matches!(kind, ToolKind::Think | ToolKind::SwitchMode | ToolKind::Other)
}

/// Whether a call of this kind is about the files that it names, and nothing else.
pub(super) const fn is_of_files(kind: ToolKind) -> bool {
    matches!(kind, ToolKind::Read | ToolKind::Search | ToolKind::Edit | ToolKind::Delete | ToolKind::Move)
}

/// Whether it is one that all know and that is given neither files nor programs.
pub(super) fn is_of_talk(tool: &ToolCall) -> bool {
    tool.name.as_deref().is_some_and(tools::is_of_talk)
}

/// Tools of servers: `mcp__SERVER__TOOL` as its name and as its title, and those that its input names. Where these do not
/// agree it may be any of them, and each has to be allowed.
pub(super) fn of_servers(tool: &ToolCall, input: &Map<String, Value>) -> Vec<Claim> {
    let texts =
        |keys: &[&str]| -> Vec<&str> { of_keys(input, |key| keys.contains(&key)).filter_map(Value::as_str).collect() };
    let named = [tool.name.as_deref().unwrap_or_default(), tool.title.trim()];
    let named: Vec<&str> = named.into_iter().filter_map(|name| name.strip_prefix("mcp__")).collect();
    let mut found: Vec<Claim> = Vec::new();
    let mut add = |server: &str, of: &str, is_guess: bool| {
        let what = Claimed::Text(format!("{server}/{of}"));
        if found.iter().all(|claim| claim.what != what) {
            found.push(Claim { only_narrows: is_guess, is_guess, ..Claim::new("mcp", what) });
        }
    };
    for (server, of) in named.iter().filter_map(|name| name.split_once("__")) {
        add(server, of, false);
    }
    let tools = texts(&TOOLS);
    for server in texts(&SERVERS) {
        for of in &tools {
            add(server, of, false);
        }
    }
    // The name of a server may have these marks itself.
    for (server, of) in named.iter().filter_map(|name| name.rsplit_once("__")) {
        add(server, of, true);
    }
    found
}

/// A tool that is only known by its name. A title that leaves something out may stand for anything: what it says can be
/// denied, and allows nothing.
pub(super) fn by_name(tool: &ToolCall) -> Vec<Claim> {
    let name = tool.name.as_deref().unwrap_or("other");
    let said = Claim::new(name, Claimed::Text(tool.title.clone()));
    if leaves_out(&tool.title) {
        vec![Claim::new(name, Claimed::Unknown), Claim { only_narrows: true, ..said }]
    } else {
        vec![said]
    }
}

/// All that a tool is called: as the protocol has it, as adapters say it, and as only the id of its call begins, as in the
/// recording `gemini/search.jsonl`: `list_directory__ID`. One word alone may be anything.
pub(super) fn names(tool: &ToolCall) -> impl Iterator<Item = &str> {
    let is_name = |name: &str| {
        let words: Vec<&str> = name.split('_').collect();
        words.len() > 1 && words.iter().all(|word| !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase()))
    };
    let in_id = tool.id.as_str().split_once("__").map(|(name, _)| name).filter(|name| is_name(name));
    tool.name.as_deref().into_iter().chain(tool.also_named.iter().map(String::as_str)).chain(in_id)
}

/// What a name says of a call for rules that deny or ask.
pub(super) fn narrowing(name: &str, tool: &ToolCall) -> Vec<Claim> {
    let only_narrows = |claim| Claim { only_narrows: true, ..claim };
    let Some(of_server) = name.strip_prefix("mcp__") else {
        return vec![only_narrows(Claim::new(name, Claimed::Text(tool.title.clone())))];
    };
    // The name of a server may have these marks itself.
    let parts = [of_server.split_once("__"), of_server.rsplit_once("__")];
    let mcp = |(server, of): (&str, &str)| only_narrows(Claim::new("mcp", Claimed::Text(format!("{server}/{of}"))));
    parts.into_iter().flatten().map(mcp).collect()
}

/// A search of the web, where its name says so and nothing else is asked for.
pub(super) fn web_search(tool: &ToolCall, input: &Map<String, Value>) -> Option<Claim> {
    let is_named = tool.name.as_deref().is_some_and(|name| WEB_SEARCHES.contains(&plain(name).as_str()));
    let has_others = !tool.locations.is_empty() || !tool.content.is_empty() || !tool.named_before.is_empty();
    let is_one = is_named && !has_others && input.keys().all(|key| OF_WEB_SEARCHES.contains(&key.as_str()));
    is_one.then(|| Claim::new(WEB_SEARCH, Claimed::Text(tool.title.clone())))
}
