//! What the keys in the input of a call are for, however agents put their words together: data, and ways to find them.
//!
//! Knows no claims. Keys stand here in small letters, without what stands between words.

use serde_json::{Map, Value};

pub(super) const COMMANDS: [&str; 7] =
    ["command", "cmd", "commandline", "cmdline", SEVERAL_COMMANDS, "shellcommand", "bashcommand"];
pub(super) const SEVERAL_COMMANDS: &str = "commands";
pub(super) const DIRECTORIES: [&str; 11] = [
    "cwd",
    "cd",
    "workdir",
    "workingdir",
    "workingdirectory",
    "currentdir",
    "currentdirectory",
    "currentworkingdirectory",
    "basedirectory",
    "directory",
    "dirpath",
];
/// Of a command they say where it runs, too.
pub(super) const PLACES: [&str; 4] = ["path", "dir", "folder", "root"];
pub(super) const SETTINGS: [&str; 2] = ["env", "environment"];
/// Beside a command: it is not known what becomes of it.
pub(super) const FURTHER: [&str; 4] = ["argv", "arguments", "stdin", "input"];
/// The same: what is said of it, and how it is run. None of these is a command.
const SAID_OF_COMMANDS: [&str; 32] = [
    "description",
    "title",
    "name",
    "summary",
    "purpose",
    "goal",
    "explanation",
    "reason",
    "justification",
    "intent",
    "mode",
    "type",
    "kind",
    "id",
    "callid",
    "turnid",
    "itemid",
    "threadid",
    "sessionid",
    "shellid",
    "processid",
    "approvalid",
    "toolcallid",
    "risklevel",
    "risklevelreason",
    "parsedcmd",
    "commandactions",
    "availabledecisions",
    "timeout",
    "timeoutms",
    "timeoutsecs",
    "timeoutseconds",
];
/// Whether it may leave the sandbox of its agent, and what says that it does not.
const SANDBOX: &str = "sandboxpermissions";
const IN_SANDBOX: [&str; 2] = ["", "usedefault"];
/// What is looked for, or said: words that are no files more often than they are.
const LOOKED_FOR: [&str; 12] = [
    "text",
    "query",
    "queries",
    "searchquery",
    "searchterm",
    "search",
    "regex",
    "regexp",
    "prompt",
    "question",
    "message",
    "q",
];
/// What a command is given to.
pub(super) const GIVEN_TO: [&str; 3] = ["shell", "interpreter", "executable"];
/// These, and several of each (`paths`).
const PATHS: [&str; 28] = [
    "path",
    "file",
    "filepath",
    "absolutepath",
    "notebookpath",
    "oldpath",
    "newpath",
    "source",
    "destination",
    "targetfile",
    "targetpath",
    "relativepath",
    "relativeworkspacepath",
    "filename",
    "fileuri",
    "uri",
    "fspath",
    "from",
    "to",
    "src",
    "dest",
    "dst",
    "target",
    "root",
    "dir",
    "folder",
    "inputpath",
    "outputpath",
];
/// How other keys for paths end, and what ends so and is none.
const PATH_ENDS: [&str; 6] = ["path", "file", "filename", "dir", "directory", "folder"];
const NO_PATH: &str = "profile";
/// Where stands into which file goes what comes of a call, whatever it does besides. At some, such as `output`, may stand
/// just as well in which form it comes.
const OUTPUTS: [&str; 17] = [
    "output",
    "out",
    "destination",
    "dest",
    "dst",
    "saveto",
    "saveas",
    "writeto",
    "downloadto",
    "exportto",
    "rename",
    "renameto",
    "newname",
    "moveto",
    "copyto",
    "into",
    "backup",
];
/// How other keys for paths begin that say it.
const OUTPUT_BEGINS: [&str; 5] = ["output", "outfile", "save", "download", "export"];
/// How keys for addresses end.
pub(super) const ADDRESS_ENDS: [&str; 6] = ["url", "urls", "uri", "uris", "href", "link"];
/// How keys for machines end that what is fetched goes through.
const THROUGH: [&str; 4] = ["proxy", "proxies", "host", "endpoint"];
/// Programs that are no lines for a shell of this machine for certain.
pub(super) const PROGRAMS: [&str; 3] = [SCRIPT, "code", "sourcecode"];
pub(super) const SCRIPT: &str = "script";
/// The further words of a command.
pub(super) const ARGUMENTS: &str = "args";
/// Where names of files stand with `*` in them; the last is a regular expression in other tools.
pub(super) const GLOBS: [&str; 7] = ["glob", "globs", "globpattern", "filepattern", "include", "includes", PATTERN];
pub(super) const PATTERN: &str = "pattern";
/// Where only keys of an object are files.
const CHANGES: &str = "changes";

/// What is written: no tool that only reads is given it.
const WRITTEN: [&str; 28] = [
    "content",
    "contents",
    "newcontent",
    "newcontents",
    "updatedcontent",
    "filecontent",
    "filecontents",
    "filetext",
    "newstring",
    "newstr",
    "newtext",
    "newsource",
    "newcode",
    "oldstring",
    "oldstr",
    "oldtext",
    "replacement",
    "replacements",
    "replacewith",
    "insert",
    "inserttext",
    "append",
    "patch",
    "diff",
    "edits",
    "codeedit",
    "hunks",
    "overwrite",
];

/// A key, however its words are put together.
pub fn plain(key: &str) -> String {
    key.chars().filter(|c| !matches!(c, '_' | '-' | ' ')).flat_map(char::to_lowercase).collect()
}

/// What stands at these keys.
pub(super) fn of_keys(input: &Map<String, Value>, is_one: impl Fn(&str) -> bool) -> impl Iterator<Item = &Value> {
    input.iter().filter(move |(key, _)| is_one(&plain(key))).map(|(_, value)| value)
}

/// What stands at these keys of objects within the members of an input, but for members that are left out.
pub(super) fn of_keys_below(
    input: &Map<String, Value>,
    is_left_out: impl Fn(&str) -> bool,
    is_one: impl Fn(&str) -> bool,
) -> Vec<&Value> {
    let objects = objects(of_keys(input, |key| !is_left_out(key)));
    objects.into_iter().flat_map(|map| of_keys(map, &is_one)).collect()
}

/// The objects in these values, however deep.
fn objects<'a>(values: impl Iterator<Item = &'a Value>) -> Vec<&'a Map<String, Value>> {
    let (mut found, mut open) = (Vec::new(), values.collect::<Vec<_>>());
    while let Some(value) = open.pop() {
        match value {
            Value::Array(list) => open.extend(list),
            Value::Object(map) => {
                found.push(map);
                open.extend(map.values());
            }
            _ => {}
        }
    }
    found
}

/// Whether it is known what a key beside a command is for.
fn is_known_beside_command(key: &str) -> bool {
    let here = [&COMMANDS[..], &DIRECTORIES, &PLACES, &SETTINGS, &FURTHER, &GIVEN_TO, &[ARGUMENTS, SCRIPT]];
    here.iter().chain(&[&SAID_OF_COMMANDS[..]]).any(|keys| keys.contains(&key))
}

/// What stands beside a command at keys of which that is not known.
pub(super) fn beside_command(input: &Map<String, Value>) -> impl Iterator<Item = (&str, &Value)> {
    let is_known = |key: &str, value: &Value| is_known_beside_command(key) || is_in_sandbox(key, value);
    input.iter().filter(move |(key, value)| !is_known(&plain(key), value)).map(|(key, value)| (&**key, value))
}

/// Whether something stands beside a command of which it is not known that it is none.
pub(super) fn has_unknown_beside_command(input: &Map<String, Value>) -> bool {
    let (mut said, mut paths) = (Vec::new(), Vec::new());
    for (key, value) in beside_command(input) {
        texts(value, if is_for_paths(key) { &mut paths } else { &mut said });
    }
    said.iter().any(|text| !text.is_empty()) || paths.iter().any(|text| !text.is_empty() && !is_like_a_path(text))
}

/// Whether a key, in small letters, is for what is said of a command.
pub(super) fn is_said_of_commands(key: &str) -> bool {
    SAID_OF_COMMANDS.contains(&key)
}

/// The same, for whether it leaves a sandbox, where it stays in it.
pub(super) fn is_in_sandbox(key: &str, value: &Value) -> bool {
    key == SANDBOX && value.as_str().is_none_or(|text| IN_SANDBOX.contains(&&*plain(text))) && !value.is_object()
}

/// The same, for what is looked for, or said.
pub(super) fn is_looked_for(key: &str) -> bool {
    LOOKED_FOR.contains(&key)
}

/// The same, for names of files with `*` in them.
pub(super) fn is_for_names(key: &str) -> bool {
    GLOBS.contains(&key)
}

/// The same, for what is written.
pub(super) fn is_written(key: &str) -> bool {
    WRITTEN.contains(&key)
}

/// Whether patches stand at a key.
pub(super) fn is_for_patches(key: &str) -> bool {
    let key = plain(key);
    ["patch", "patches", "diff", "diffs", "patchtext", "hunks", "input"].iter().any(|end| key.ends_with(end))
}

/// The files that patches in it name.
pub(super) fn patched(input: &Map<String, Value>) -> Vec<String> {
    given(input, is_for_patches).iter().flat_map(|patch| crate::text::patch::names(patch)).map(str::to_owned).collect()
}

/// Addresses that stand at other keys than those for them: programs go there, too.
pub(super) fn further_addresses(input: &Map<String, Value>) -> Vec<String> {
    let mut said = Vec::new();
    of_keys(input, |key| !is_for_addresses(key)).for_each(|value| texts(value, &mut said));
    said.retain(|text| text.contains("://") && !text.trim().contains(char::is_whitespace));
    of_keys(input, |key| THROUGH.iter().any(|end| key.ends_with(end))).for_each(|value| texts(value, &mut said));
    said.retain(|text| !text.is_empty());
    said
}

/// Whether a key is for paths.
pub(super) fn is_for_paths(key: &str) -> bool {
    let key = plain(key);
    let is_none = || one_of(&key) == NO_PATH || DIRECTORIES.contains(&key.as_str());
    is_among(&PATHS, &key) || PATH_ENDS.iter().any(|end| one_of(&key).ends_with(end)) && !is_none()
}

/// Whether a key is one of the words for paths, not only one that ends so.
fn is_word_for_paths(key: &str) -> bool {
    is_among(&PATHS, &plain(key))
}

/// Whether a key has a meaning here: it is no name of a file.
pub(super) fn is_known(key: &str) -> bool {
    let known = [&COMMANDS[..], &DIRECTORIES, &PLACES, &SETTINGS, &FURTHER, &SAID_OF_COMMANDS, &GIVEN_TO, &PATHS];
    let further = [&OUTPUTS[..], &ADDRESS_ENDS, &THROUGH, &PROGRAMS, &[ARGUMENTS], &GLOBS, &[CHANGES], &WRITTEN];
    known.iter().chain(&further).any(|keys| is_among(keys, key))
}

/// Whether it is one of these keys, or one for several.
fn is_among(keys: &[&str], key: &str) -> bool {
    keys.contains(&key) || keys.contains(&one_of(key))
}

/// A key for several as one for a single one.
fn one_of(key: &str) -> &str {
    key.strip_suffix('s').unwrap_or(key)
}

/// Whether a key says into which file something goes.
pub(super) fn is_for_outputs(key: &str) -> bool {
    let plain = plain(key);
    is_among(&OUTPUTS, &plain) || is_for_paths(key) && OUTPUT_BEGINS.iter().any(|begin| plain.starts_with(begin))
}

/// Files into which something goes.
pub(super) fn outputs(input: &Map<String, Value>) -> Vec<String> {
    let perhaps = given(input, |key| is_for_outputs(key) && !is_for_paths(key));
    let mut all = given(input, |key| is_for_outputs(key) && is_for_paths(key));
    all.extend(perhaps.into_iter().filter(|text| is_like_a_path(text)));
    all
}

/// Whether a text looks like the path of a file rather than like a word or a sentence.
pub(super) fn is_like_a_path(text: &str) -> bool {
    let is_words = text.contains(char::is_whitespace) && !text.starts_with(['/', '~', '.', '$']);
    let is_of_web = text.contains("://") && !is_address_of_file(text);
    text.contains(['/', '.', '~', '$']) && !text.contains(['\n', '\r']) && !is_words && !is_of_web
}

/// Whether a key may be the path of a file itself: the name of a setting has no such signs.
pub(super) fn is_path_as_key(key: &str) -> bool {
    is_like_a_path(key) && (key.contains(['/', '.']) || key.starts_with('~')) && key.contains(char::is_alphanumeric)
}

/// The keys of what is said to be changed.
pub(super) fn changed(input: &Map<String, Value>) -> impl Iterator<Item = String> {
    of_keys(input, |key| key == CHANGES).filter_map(Value::as_object).flat_map(Map::keys).cloned()
}

/// Keys that may be paths, however deep.
pub(super) fn paths_as_keys(input: &Map<String, Value>) -> Vec<String> {
    std::iter::once(input).chain(objects(input.values())).flat_map(file_keys).collect()
}

/// Keys of an object that may be paths of files.
pub fn file_keys(map: &Map<String, Value>) -> Vec<String> {
    map.keys().filter(|key| is_path_as_key(key)).cloned().collect()
}

/// Whether a key is for addresses.
pub(super) fn is_for_addresses(key: &str) -> bool {
    let key = plain(key);
    ADDRESS_ENDS.iter().any(|end| key.ends_with(end))
}

/// The same, or for machines that what is fetched goes through.
pub(super) fn is_for_machines(key: &str) -> bool {
    is_for_addresses(key) || THROUGH.iter().any(|end| key.ends_with(end))
}

/// Whether anything in it says what is to be written.
pub(super) fn writes(input: &Map<String, Value>) -> bool {
    input.iter().any(|(key, value)| {
        let key = plain(key);
        let is_written = WRITTEN.contains(&key.as_str()) || PROGRAMS.contains(&key.as_str()) && value != "";
        is_written && !is_nothing(value) && *value != Value::Bool(false) || writes_in(value)
    })
}

fn writes_in(value: &Value) -> bool {
    match value {
        Value::Array(list) => list.iter().any(writes_in),
        Value::Object(map) => writes(map),
        _ => false,
    }
}

/// Whether it is the address of a file.
pub fn is_address_of_file(text: &str) -> bool {
    text.trim_start().get(..5).is_some_and(|start| start.eq_ignore_ascii_case("file:"))
}

pub(super) fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
        _ => false,
    }
}

/// All texts in a value.
pub(super) fn texts(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.push(text.clone()),
        Value::Array(list) => list.iter().for_each(|value| texts(value, found)),
        Value::Object(map) => map.values().for_each(|value| texts(value, found)),
        _ => {}
    }
}

/// What stands at such keys for paths.
pub(super) fn given(input: &Map<String, Value>, is_one: fn(&str) -> bool) -> Vec<String> {
    let mut given = Vec::new();
    input.iter().for_each(|(key, value)| gather(key, value, is_one, &mut given));
    given
}

/// What stands at such a key for paths, in lists and objects too. One that is an object names its path somewhere in it, be
/// it by a key; where it is for several and has no member that is one for paths for certain, each of its keys may be one.
fn gather(key: &str, value: &Value, is_one: fn(&str) -> bool, paths: &mut Vec<String>) {
    let is_named = is_one(key);
    match value {
        Value::String(path) if is_named => paths.push(path.clone()),
        Value::Array(list) => list.iter().for_each(|value| gather(key, value, is_one, paths)),
        Value::Object(map) if is_named && !has_member(map, key, is_one) => {
            let is_for_several = is_for_several(key);
            paths.extend(map.keys().filter(|key| is_for_several || is_path_as_key(key)).cloned());
            texts(value, paths);
        }
        Value::Object(map) => {
            // `Makefile` ends as a key for a path does, and is a file.
            let is_name = |key: &&String| is_named && is_one(key) && !is_word_for_paths(key);
            paths.extend(map.keys().filter(is_name).cloned());
            map.iter().for_each(|(key, value)| gather(key, value, is_one, paths));
        }
        _ => {}
    }
}

/// Whether an object at a key has a member that says which path is meant. Where it is for several, a key that only ends as
/// one for paths does may be the name of a file as well.
fn has_member(map: &Map<String, Value>, key: &str, is_one: fn(&str) -> bool) -> bool {
    let is_for_several = is_for_several(key);
    map.keys().any(|key| is_one(key) && (!is_for_several || !is_for_paths(key) || is_word_for_paths(key)))
}

fn is_for_several(key: &str) -> bool {
    key.ends_with(['s', 'S'])
}

/// The paths of a list that stands as one text at a key for several: between commas, or on lines.
pub(super) fn listed_paths<'t>(key: &str, text: &'t str) -> impl Iterator<Item = &'t str> {
    let is_list = is_for_several(key) && is_for_paths(key) && text.contains([',', ';', '\n']);
    let pieces = (if is_list { text } else { "" }).split([',', ';', '\n']);
    let pieces = pieces.map(|piece| piece.trim_matches(|c: char| c.is_whitespace() || "[]\"'".contains(c)));
    pieces.filter(|piece| !piece.is_empty())
}

/// Whether a path may stand for several.
pub fn is_glob(path: &str) -> bool {
    path.contains(['*', '?', '[', '{'])
}

/// Whether a path leads somewhere only after a shell's expansion (`~`, `$NAME`), or is an address.
pub fn needs_expansion(path: &str) -> bool {
    let scheme = path.split_once(':').map(|(scheme, _)| scheme);
    path.starts_with('~')
        || path.contains('$')
        || scheme
            .is_some_and(|scheme| scheme.len() > 1 && scheme.chars().all(|c| c.is_ascii_alphanumeric() || c == '+'))
}
