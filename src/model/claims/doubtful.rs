//! What takes back that which a call says of itself: an input that is not read here, or words beside it that name another
//! command. And texts in its input that may be files although their keys say nothing of that, and files that it is to write
//! besides.
//!
//! Invariant: claims are only narrowed: what could be denied still can.

use super::keys::{self, ARGUMENTS, COMMANDS, DIRECTORIES, PROGRAMS, SCRIPT, plain, texts};
use super::{BASH, Claim, Claimed, Claims, anywhere, files_named, globs, names, words};
use crate::model::tool::asked::contradiction;
use crate::model::tool::{ToolCall, ToolKind};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// Texts of one input that are looked at, with those that look like paths, and the bytes of each: no system opens longer
/// paths.
const MAX_TEXTS: usize = 512;
const MAX_PATHS: usize = 2048;
const MAX_BYTES: usize = 4096;
/// Bytes of a name: no file system has longer ones.
const MAX_NAME: usize = 255;
/// Of these and of commands in it that are judged.
const MAX_LIKELY: usize = 64;
pub(super) fn looked_at(tool: &ToolCall, mut claims: Claims) -> Claims {
    let kind = names::kind(tool);
    if let Some((input, said)) = tool.raw_input.as_ref().and_then(unread) {
        take_back(&mut claims.all);
        if kind == ToolKind::Execute {
            claims.all.extend(commands(input, &said));
        }
        claims.texts.extend(said);
    }
    if (kind == ToolKind::Execute || names::is_untold(kind))
        && let Some(command) = contradiction(tool, &lines(&claims.all))
    {
        // By another name of the same tool: a question shows it as it stands there.
        let said = Claim::new("shell", Claimed::Line(command.to_owned()));
        take_back(&mut claims.all);
        claims.all.push(Claim { only_narrows: true, ..said });
    }
    claims.strays = strays(tool, kind, &claims.files);
    (claims.names, claims.written_names) = names_in(tool, &claims);
    let likely = likely(tool, kind, &claims);
    let guesses = guesses(kind, &claims.all, &likely);
    claims.all.extend(guesses);
    // A command works where it likes: of what stands beside it only rules are asked.
    if kind != ToolKind::Execute {
        claims.likely = likely;
    }
    claims.matched = globs::perhaps_matched(kind, tool, &claims.files);
    if may_match(kind) {
        let input = tool.raw_input.as_ref().and_then(Value::as_object);
        let by_names = globs::is_by_names(tool);
        claims.strays.extend(input.into_iter().flat_map(|input| globs::last_names(input, by_names)));
    }
    let inner = inner_commands(tool, kind);
    let unknown = Claim::new(BASH, Claimed::Unknown);
    if !inner.is_empty() && !names::is_untold(kind) && !claims.all.contains(&unknown) {
        claims.all.push(unknown);
    }
    claims.all.extend(inner);
    let anywhere = anywhere::claims(tool, kind, &claims.all);
    claims.all.extend(anywhere);
    if let Some(input) = tool.raw_input.as_ref().and_then(Value::as_object).filter(|_| kind != ToolKind::Execute) {
        claims.outputs = keys::outputs(input);
    }
    claims
}

/// An input that says something and has no names for it, with its texts: what it is about may be anything.
fn unread(input: &Value) -> Option<(&Value, Vec<String>)> {
    if input.is_object() {
        return None;
    }
    let mut said = Vec::new();
    texts(input, &mut said);
    said.iter().any(|text| !text.trim().is_empty()).then_some((input, said))
}

/// What is claimed can be denied, and allows nothing.
fn take_back(all: &mut Vec<Claim>) {
    let mut unknown: Vec<Claim> = Vec::new();
    for claim in all.iter_mut().filter(|claim| !claim.only_narrows) {
        let is_new = unknown.iter().all(|one| one.tool != claim.tool);
        unknown.extend(is_new.then(|| Claim::new(&claim.tool, Claimed::Unknown)));
        claim.only_narrows = true;
    }
    all.extend(unknown);
}

/// What a command is whose input is a line or words alone; else each of its texts may be one.
fn commands(input: &Value, said: &[String]) -> Vec<Claim> {
    let narrow = |what, is_guess| Claim { only_narrows: true, is_guess, ..Claim::new(BASH, what) };
    match (input, words(input)) {
        (Value::String(line), _) => vec![narrow(Claimed::Line(line.clone()), false)],
        (_, Some(words)) => vec![narrow(Claimed::Words(words), false)],
        _ => said.iter().take(MAX_TEXTS).map(|text| narrow(Claimed::Line(text.clone()), true)).collect(),
    }
}

fn has_command(input: &Map<String, Value>) -> bool {
    keys::of_keys(input, |key| COMMANDS.contains(&key)).next().is_some()
}

/// Commands within the members of an input: nothing says what becomes of them.
fn inner_commands(tool: &ToolCall, kind: ToolKind) -> Vec<Claim> {
    let Some(input) = tool.raw_input.as_ref().and_then(Value::as_object) else { return Vec::new() };
    // What is said of a command may repeat it.
    let is_of_command = kind == ToolKind::Execute || has_command(input);
    let is_said = |key: &str| is_of_command && keys::is_said_of_commands(key);
    let found = keys::of_keys_below(input, is_said, |key| COMMANDS.contains(&key) || key == SCRIPT);
    let guess = |what| Claim { only_narrows: true, is_guess: true, ..Claim::new(BASH, what) };
    let of = |value: &Value| match (value, words(value)) {
        (Value::String(line), _) => Claimed::Line(line.clone()),
        (_, Some(words)) => Claimed::Words(words),
        _ => Claimed::Unknown,
    };
    let says = |value: &&Value| {
        let mut said = Vec::new();
        texts(value, &mut said);
        said.iter().any(|text| !text.is_empty())
    };
    found.into_iter().filter(says).take(MAX_LIKELY).map(|value| guess(of(value))).collect()
}

/// Those of the strays that look like the path of a file, and where names with `*` lead.
fn likely(tool: &ToolCall, kind: ToolKind, claims: &Claims) -> Vec<String> {
    let files = files_named(tool);
    let is_path = |text: &str| keys::is_like_a_path(text) && text.contains(char::is_alphanumeric);
    let is_one = |text: &&String| is_path(text) && !files.contains(text);
    let mut found: Vec<String> = claims.strays.iter().filter(is_one).cloned().collect();
    if let Some(input) = tool.raw_input.as_ref().and_then(Value::as_object).filter(|_| may_match(kind)) {
        found.extend(globs::matched_below(&claims.files, input, true, globs::is_by_names(tool)));
    }
    found
}

/// What rules that deny or ask are to see of them. Of more than are looked at nothing is known.
fn guesses(kind: ToolKind, all: &[Claim], likely: &[String]) -> Vec<Claim> {
    let is_read = matches!(kind, ToolKind::Read | ToolKind::Search) && all.iter().all(|one| one.tool != "edit");
    let tools: &[&str] = if is_read { &["read"] } else { &["edit", "read"] };
    let is_of_agent = |text: &str| {
        let is_pattern = text.contains(['^', '\\', '|', '(', '+']);
        text.starts_with('~')
            || text.contains('$') && text.contains('/') && !is_pattern
            || keys::is_address_of_file(text)
    };
    let guess = |tool: &&str, text: &String| {
        let what = if is_of_agent(text) { Claimed::Unknown } else { Claimed::Paths(vec![text.clone()]) };
        Claim { only_narrows: true, is_guess: true, ..Claim::new(tool, what) }
    };
    let seen = likely.iter().take(MAX_LIKELY);
    let mut all: Vec<Claim> = seen.flat_map(|text| tools.iter().map(move |tool| guess(tool, text))).collect();
    if likely.len() > MAX_LIKELY {
        all.extend(tools.iter().map(|tool| Claim::new(tool, Claimed::Unknown)));
    }
    all
}

/// Whether names with `*` in the input of such a call say which files it is about.
pub(super) const fn may_match(kind: ToolKind) -> bool {
    matches!(kind, ToolKind::Read | ToolKind::Search | ToolKind::Other)
}

/// The commands that are claimed, as lines.
fn lines(all: &[Claim]) -> Vec<String> {
    let line = |claim: &Claim| match &claim.what {
        Claimed::Line(line) => Some(line.clone()),
        // What such a shell is given is what is asked about.
        Claimed::Words(words) => match words.as_slice() {
            [_, option, line] if option.starts_with('-') && option.ends_with('c') => Some(line.clone()),
            words => Some(words.join(" ")),
        },
        Claimed::Paths(_) | Claimed::Text(_) | Claimed::Unknown => None,
    };
    all.iter().filter(|claim| !claim.only_narrows).filter_map(line).collect()
}

/// Texts in an input, each as a whole, that may be files and are not judged as such. What is written or looked for is none.
fn strays(tool: &ToolCall, kind: ToolKind, files: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    let Some(input) = &tool.raw_input else { return found };
    let has_command = input.as_object().is_some_and(has_command);
    let is_judged = |key: &str| {
        let is_of_command = COMMANDS.contains(&key) || has_command && key == ARGUMENTS;
        let is_said = kind == ToolKind::Execute && keys::is_said_of_commands(key);
        let is_looked_at = PROGRAMS.contains(&key) || DIRECTORIES.contains(&key);
        let is_looked_at = is_looked_at || keys::is_for_names(key) && may_match(kind);
        is_of_command || is_said || is_looked_at || keys::is_written(key) || keys::is_looked_for(key)
    };
    let mut add = |text: &String| {
        let is_new = may_be_path(text) && !files.contains(text) && !found.contains(text);
        // However many words stand before a path.
        let most = if keys::is_like_a_path(text) { MAX_PATHS } else { MAX_TEXTS };
        if is_new && found.len() < most {
            found.push(text.clone());
        }
    };
    let mut open: Vec<(String, &Value)> = vec![(String::new(), input)];
    while let Some((key, value)) = open.pop() {
        match value {
            Value::String(text) if !is_judged(&key) => {
                add(text);
                keys::listed_paths(&key, text).for_each(|path| add(&path.to_owned()));
            }
            Value::Array(list) => open.extend(list.iter().rev().map(|value| (key.clone(), value))),
            Value::Object(map) => {
                map.keys().filter(|key| keys::is_path_as_key(key)).for_each(&mut add);
                open.extend(map.iter().rev().map(|(key, value)| (plain(key), value)));
            }
            _ => {}
        }
    }
    found
}

/// Texts that may be names of files and do not look like paths: strays, and keys that have no meaning here. With those of
/// them that would be written.
fn names_in(tool: &ToolCall, claims: &Claims) -> (Vec<String>, Vec<String>) {
    let (mut found, mut written) = (BTreeSet::new(), BTreeSet::new());
    let may_be = |text: &str| {
        let is_name = text.len() <= MAX_NAME && may_be_path(text) && text.contains(char::is_alphanumeric);
        is_name && !keys::is_like_a_path(text) && !claims.files.iter().any(|path| path == text)
    };
    found.extend(claims.strays.iter().filter(|text| may_be(text)).cloned());
    let mut open: Vec<(bool, &Value)> = tool.raw_input.iter().map(|input| (false, input)).collect();
    while let Some((is_output, value)) = open.pop() {
        // Of more none is allowed where a rule denies or asks.
        if written.len() > MAX_TEXTS {
            break;
        }
        match value {
            Value::String(text) if is_output && may_be(text) => drop(written.insert(text.clone())),
            Value::Array(list) => open.extend(list.iter().map(|value| (is_output, value))),
            Value::Object(map) => {
                let is_name = |key: &&String| !keys::is_known(&plain(key)) && may_be(key);
                written.extend(map.keys().filter(is_name).take(MAX_TEXTS + 1).cloned());
                open.extend(map.iter().map(|(key, value)| (is_output || keys::is_for_outputs(key), value)));
            }
            _ => {}
        }
    }
    found.extend(written.iter().cloned());
    (found.into_iter().collect(), written.into_iter().collect())
}

fn may_be_path(text: &str) -> bool {
    let is_of_web = text.contains("://") && !keys::is_address_of_file(text);
    !text.trim().is_empty() && text.len() <= MAX_BYTES && !text.contains(['\n', '\r']) && !is_of_web
}
