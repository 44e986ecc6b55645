//! What an agent says it is about to do, in the form that rules are about.
//!
//! Knows no rules. Invariants: all that may be done is among the claims, and what cannot be told from a call is claimed
//! as unknown, which no rule allows.

mod anywhere;
mod doubtful;
mod globs;
mod keys;
mod names;
mod shown;
mod titles;

use super::event::TerminalSpec;
use super::login::quote;
use super::tool::asked::leaves_out;
use super::tool::{ToolCall, ToolContent, ToolKind};
use crate::base::limits::MAX_COMMAND;
use keys::{
    ADDRESS_ENDS, ARGUMENTS, COMMANDS, DIRECTORIES, FURTHER, GIVEN_TO, PLACES, PROGRAMS, SCRIPT, SETTINGS,
    SEVERAL_COMMANDS, is_for_paths, is_nothing, of_keys, texts, writes,
};
pub use keys::{file_keys, is_address_of_file, is_glob, needs_expansion, plain};
use names::{by_name, is_of_talk, is_untold, narrowing, of_servers, web_search};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
pub use shown::{has_settings, is_for_programs, is_made_of_command, is_of_no_account};
use std::path::Path;
pub use titles::may_leave;

/// Something that is to be done, with its place.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claims {
    /// Where relative paths begin, if not in the session's directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    pub all: Vec<Claim>,
    /// Every file that is named, as it is named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// What may name files besides: programs, addresses, a title where nothing else does.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub texts: Vec<String>,
    /// What the title may name where nothing else does: a person reads it there, so that it is looked at where it lies.
    #[serde(skip)]
    pub titled: Vec<String>,
    /// Texts anywhere else in its input that may be files: they are looked at for what holds secrets or steers.
    #[serde(skip)]
    pub strays: Vec<String>,
    /// Those of them that look like the path of a file, and where names with `*` lead: rules that deny or ask are for these
    /// too, and it is looked at where they lie.
    #[serde(skip)]
    pub likely: Vec<String>,
    /// Where the pattern of a search would lead out that may as well be a regular expression: the same where there is such
    /// a place.
    #[serde(skip)]
    pub matched: Vec<String>,
    /// Files of these into which goes what comes of it, by a tool that is no command.
    #[serde(skip)]
    pub outputs: Vec<String>,
    /// Texts and keys in its input that may be names of files and do not look like paths (`Makefile`, `My Notes.txt`): such a
    /// one is a file where a rule that denies or asks names it, or where there is a file of that name.
    #[serde(skip)]
    pub names: Vec<String>,
    /// Those of them that would be written: keys, and what stands where something goes to (`output`).
    #[serde(skip)]
    pub written_names: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// As patterns name it.
    pub tool: String,
    pub what: Claimed,
    /// It follows from another claim: it can be denied, and need not be allowed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub only_narrows: bool,
    /// What it names may be no path at all: what would be denied is asked about.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_guess: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Claimed {
    /// For a shell.
    Line(String),
    /// A program and its arguments.
    Words(Vec<String>),
    Paths(Vec<String>),
    /// An address, `server/tool`, or a title.
    Text(String),
    /// It cannot be told.
    Unknown,
}

const BASH: &str = "bash";

impl Claim {
    /// To change a file.
    pub fn of_edit(path: &str) -> Self {
        Self::new("edit", Claimed::Paths(vec![path.to_owned()]))
    }

    /// To use a file as a tool of that name does.
    pub fn of_path(tool: &str, path: &str) -> Self {
        Self::new(tool, Claimed::Paths(vec![path.to_owned()]))
    }

    fn new(tool: &str, what: Claimed) -> Self {
        Self { tool: tool.to_owned(), what, only_narrows: false, is_guess: false }
    }
}

impl Claims {
    /// About how many bytes they have.
    pub fn size(&self) -> usize {
        let of = |claim: &Claim| match &claim.what {
            Claimed::Line(text) | Claimed::Text(text) => text.len(),
            Claimed::Words(texts) | Claimed::Paths(texts) => texts.iter().map(String::len).sum(),
            Claimed::Unknown => 0,
        };
        let named = [&self.files, &self.texts, &self.titled, &self.strays, &self.likely, &self.outputs];
        let named = named.into_iter().chain([&self.matched, &self.names, &self.written_names]).flatten();
        self.all.iter().map(of).chain(named.map(String::len)).sum()
    }

    /// A file that the client is to read or to write.
    pub fn of_file(tool: &str, path: &str) -> Self {
        let files = vec![path.to_owned()];
        Self { all: vec![Claim::new(tool, Claimed::Paths(files.clone()))], files, ..Self::default() }
    }

    /// A command in a terminal of the client.
    pub fn of_command(spec: &TerminalSpec) -> Self {
        let TerminalSpec { command, args, env, cwd, .. } = spec;
        let mut all = Vec::new();
        if args.is_empty() {
            all.push(Claim::new(BASH, Claimed::Line(command.clone())));
            if !env.is_empty() {
                // They are for all of the line, which has no form for it.
                all.push(Claim::new(BASH, Claimed::Unknown));
            }
        } else {
            let words: Vec<String> = std::iter::once(command).chain(args).cloned().collect();
            if !env.is_empty() {
                let settings = env.iter().map(|(name, value)| format!("{name}={}", quote(value)));
                let line: Vec<String> = settings.chain(words.iter().map(|word| quote(word))).collect();
                all.push(Claim::new(BASH, Claimed::Line(line.join(" "))));
            }
            let only_narrows = !env.is_empty();
            all.push(Claim { only_narrows, ..Claim::new(BASH, Claimed::Words(words)) });
        }
        Self { cwd: cwd.clone(), all, ..Self::default() }
    }

    /// A call that the agent does by itself, as it describes it: its input and the commands that it runs in terminals of
    /// its own, its title where there is nothing else.
    pub fn of_tool(tool: &ToolCall, running: &[Running<'_>]) -> Self {
        doubtful::looked_at(tool, Self::as_told(tool, running))
    }

    fn as_told(tool: &ToolCall, running: &[Running<'_>]) -> Self {
        let empty = Map::new();
        let input = tool.raw_input.as_ref().and_then(Value::as_object).unwrap_or(&empty);
        let kind = names::kind(tool);
        let mut all = commands(kind, tool, input, running);
        let has_command = !all.is_empty();
        let cwd = directory(kind, tool, input, running);
        if has_command && cwd.is_err() {
            all.push(Claim::new(BASH, Claimed::Unknown));
        }
        let changed = changed(tool);
        let (files, above) = files_and_above(tool, input);
        // A request that names none may be about those that the call has named before.
        let named = if files.is_empty() { tool.named_before.clone() } else { files.clone() };
        let is_unnamed = files.is_empty();
        let of_files = |name: &str, paths: Vec<String>| {
            // Of a move that names one place it is not known where the other is.
            let is_half = name == "move" && paths.len() < 2;
            let what = if cwd.is_err() || is_half { Claimed::Unknown } else { claimed_paths(name, paths) };
            Claim { only_narrows: has_command, ..Claim::new(name, what) }
        };
        let matched = globs::matched_below(&files, input, false, globs::is_by_names(tool));
        if doubtful::may_match(kind) && !matched.is_empty() {
            all.push(Claim { only_narrows: true, is_guess: true, ..of_files("search", matched) });
        }
        if !above.is_empty() {
            all.push(Claim { only_narrows: true, is_guess: true, ..of_files("read", above) });
        }
        let counts = |claim| Claim { only_narrows: false, ..claim };
        // A command speaks for a file that the call names beside it no more than that for the command.
        let beside = |claim: Claim| if files.is_empty() { claim } else { counts(claim) };
        let besides = besides(kind, tool, input, &files);
        match kind {
            ToolKind::Execute => {}
            ToolKind::Read => all.push(beside(of_files("read", files.clone()))),
            ToolKind::Search => {
                all.push(web_search(tool, input).unwrap_or_else(|| beside(of_files("search", files.clone()))));
                // Where it searches is not known.
                let is_lost = cwd.is_err() && files.is_empty();
                all.extend(is_lost.then(|| Claim::new("read", Claimed::Unknown)));
            }
            // A command beside it does not speak for what is changed.
            ToolKind::Edit => all.push(counts(of_files("edit", files))),
            ToolKind::Delete => all.push(counts(of_files("delete", files))),
            ToolKind::Move => all.push(counts(of_files("move", files))),
            ToolKind::Fetch => all.extend(fetched(tool, input)),
            ToolKind::Think | ToolKind::SwitchMode | ToolKind::Other => {
                for name in ["read", "edit"] {
                    if !files.is_empty() {
                        all.push(Claim { only_narrows: true, ..of_files(name, files.clone()) });
                    }
                }
                // Where it works is not known, whoever speaks for it.
                all.extend(cwd.is_err().then(|| Claim::new("read", Claimed::Unknown)));
                let servers = of_servers(tool, input);
                // What another tool than a shell calls a command may be none of this machine's.
                all.extend(if servers.is_empty() { by_name(tool) } else { servers });
            }
        }
        all.extend(besides.into_iter().map(|(name, paths)| counts(of_files(name, paths))));
        if is_given_program(kind, tool, input) {
            all.push(Claim::new(BASH, Claimed::Unknown));
        }
        // A tool of a server is one whatever it says that it does.
        if !is_untold(kind) {
            all.extend(of_servers(tool, input).into_iter().map(|claim| Claim { only_narrows: true, ..claim }));
        }
        // So is any tool by its names, and by what others than the protocol have agreed on nothing is granted.
        for claim in names::names(tool).flat_map(|name| narrowing(name, tool)) {
            if !all.iter().any(|known| (&known.tool, &known.what) == (&claim.tool, &claim.what)) {
                all.push(claim);
            }
        }
        // What a command has named beside itself says no more of it before than it would now: where it runs.
        let is_known = has_command && all.iter().all(|claim| claim.what != Claimed::Unknown);
        let is_command = kind == ToolKind::Execute && is_known;
        if is_unnamed && !is_command && !named.is_empty() {
            let is_read = matches!(kind, ToolKind::Read | ToolKind::Search);
            let names: &[&str] = if is_read { &["read"] } else { &["read", "edit"] };
            all.extend(names.iter().map(|name| Claim { only_narrows: true, ..of_files(name, named.clone()) }));
        }
        let edits = matches!(kind, ToolKind::Edit | ToolKind::Delete | ToolKind::Move);
        if !edits && !changed.is_empty() {
            all.push(counts(of_files("edit", changed)));
        }
        if tool.content.iter().any(|part| matches!(part, ToolContent::Unread(_))) {
            all.push(Claim::new("edit", Claimed::Unknown));
        }
        let is_of_files = matches!(
            kind,
            ToolKind::Read | ToolKind::Search | ToolKind::Edit | ToolKind::Delete | ToolKind::Move | ToolKind::Other
        );
        let texts = said(tool, input, is_of_files && is_unnamed && !has_command);
        let titled = if has_command { Vec::new() } else { titles::named(kind, tool.named(), is_unnamed) };
        Self { cwd: cwd.ok().flatten(), all, files: named, texts, titled, ..Self::default() }
    }
}

/// What an agent says that runs in a terminal of its own, and where.
#[derive(Clone, Copy, Debug)]
pub struct Running<'a> {
    pub command: &'a str,
    pub cwd: &'a str,
}

/// Paths as a tool of this name uses them, as far as that can be told.
pub fn claimed_paths(tool: &str, paths: Vec<String>) -> Claimed {
    let is_pattern = |path: &String| needs_expansion(path) || tool != "edit" && is_glob(path);
    if paths.is_empty() || paths.iter().any(is_pattern) { Claimed::Unknown } else { Claimed::Paths(paths) }
}

/// What is fetched by a call of that kind.
fn fetched(tool: &ToolCall, input: &Map<String, Value>) -> Vec<Claim> {
    let mut given = Vec::new();
    of_keys(input, |key| ADDRESS_ENDS.iter().any(|end| key.ends_with(end))).for_each(|value| texts(value, &mut given));
    if given.is_empty() {
        return vec![web_search(tool, input).unwrap_or_else(|| Claim::new("fetch", Claimed::Unknown))];
    }
    given.extend(keys::further_addresses(input));
    given.into_iter().map(|text| Claim::new("fetch", Claimed::Text(text))).collect()
}

/// Files that are given to a tool which needs none, or what writes to one that does not write: what would be done with them
/// has to be allowed by itself.
fn besides(
    kind: ToolKind,
    tool: &ToolCall,
    input: &Map<String, Value>,
    files: &[String],
) -> Vec<(&'static str, Vec<String>)> {
    let strays = match kind {
        ToolKind::Read | ToolKind::Search | ToolKind::Delete | ToolKind::Move => {
            let edited = match kind {
                _ if writes(input) => return vec![("edit", files.to_vec())],
                // Where it is moved to is judged with what is moved.
                ToolKind::Move => Vec::new(),
                _ => keys::outputs(input),
            };
            return if edited.is_empty() { Vec::new() } else { vec![("edit", edited)] };
        }
        // Where a command runs is no file.
        ToolKind::Execute => {
            let mut strays = keys::given(input, |key| is_for_paths(key) && !PLACES.contains(&&*keys::plain(key)));
            strays.extend(keys::outputs(input));
            strays.sort_unstable();
            strays.dedup();
            strays
        }
        ToolKind::Fetch => {
            let mut strays = keys::given(input, |key| is_for_paths(key) && !keys::is_for_addresses(key));
            strays.extend(tool.locations.iter().map(|location| location.path.clone()));
            for path in keys::outputs(input) {
                if !strays.contains(&path) {
                    strays.push(path);
                }
            }
            strays.extend(files.iter().filter(|path| is_address_of_file(path)).cloned());
            strays
        }
        _ if is_of_talk(tool) => files.to_vec(),
        _ => Vec::new(),
    };
    if strays.is_empty() { Vec::new() } else { vec![("read", strays.clone()), ("edit", strays)] }
}

/// Whether a tool that needs none is given a program.
fn is_given_program(kind: ToolKind, tool: &ToolCall, input: &Map<String, Value>) -> bool {
    let is_one = kind == ToolKind::Fetch || is_of_talk(tool);
    is_one && of_keys(input, |key| PROGRAMS.contains(&key)).any(|value| !is_nothing(value) && value != "")
}

/// All texts in the input of a call.
pub fn texts_in_input(tool: &ToolCall) -> Vec<String> {
    let mut said = Vec::new();
    tool.raw_input.iter().for_each(|input| texts(input, &mut said));
    said
}

/// Whether a call has no more than a kind and a title, and no file can be named in that.
pub fn names_nothing(tool: &ToolCall) -> bool {
    let has_none = tool.locations.is_empty() && tool.named_before.is_empty() && tool.content.is_empty();
    has_none && texts_in_input(tool).is_empty() && !tool.title.contains(['/', '~', '$', '.'])
}

/// Whether a call shows nothing of what it would do but which files it is about.
pub fn is_bare(tool: &ToolCall) -> bool {
    let (said, named) = (texts_in_input(tool), files_named(tool));
    tool.content.is_empty() && said.iter().all(|text| named.contains(text))
}

/// Files that only the input of a call names.
pub fn files_in_input(tool: &ToolCall) -> Vec<String> {
    let Some(input) = tool.raw_input.as_ref().and_then(Value::as_object) else { return Vec::new() };
    let mut named = files(tool, input);
    let changed = changed(tool);
    named.retain(|path| !changed.contains(path) && tool.locations.iter().all(|location| location.path != *path));
    named
}

/// What may name files beside the keys for paths; the title where nothing else names one.
fn said(tool: &ToolCall, input: &Map<String, Value>, is_unnamed: bool) -> Vec<String> {
    let mut found = Vec::new();
    let programs = of_keys(input, |key| PROGRAMS.contains(&key) || DIRECTORIES.contains(&key));
    programs.for_each(|value| texts(value, &mut found));
    found.extend(Some(&tool.title).filter(|title| is_unnamed && !title.is_empty()).cloned());
    found
}

/// Commands that it names, also where its kind is another.
fn commands(kind: ToolKind, tool: &ToolCall, input: &Map<String, Value>, running: &[Running<'_>]) -> Vec<Claim> {
    let named = of_keys(input, |key| COMMANDS.contains(&key));
    let mut given: Vec<Claimed> = named.map(|value| command(value, input)).collect();
    // A list at the key for several may be one command in words, or each of its texts a command; and a lone text is hardly
    // the name of a program.
    let mut lists: Vec<Vec<String>> = of_keys(input, |key| key == SEVERAL_COMMANDS).filter_map(words).collect();
    lists.retain(|list| list.len() > 1);
    let lone = of_keys(input, |key| COMMANDS.contains(&key)).filter_map(words);
    lists.extend(lone.filter(|list| matches!(list.as_slice(), [line] if line.contains(is_of_line))));
    given.extend(lists.into_iter().flatten().map(Claimed::Line));
    for Running { command, .. } in running {
        // What was cut is longer than the bound.
        let what = if command.len() > MAX_COMMAND { Claimed::Unknown } else { Claimed::Line((*command).to_owned()) };
        if !given.contains(&what) {
            given.push(what);
        }
    }
    let has = |keys: &[&str]| of_keys(input, |key| keys.contains(&key)).any(|value| !is_nothing(value));
    let is_odd = has(&SETTINGS) || has(&FURTHER) || !of_keys(input, |key| GIVEN_TO.contains(&key)).all(is_usual);
    let has_setting = || {
        keys::beside_command(input).any(|(key, value)| !shown::is_of_wait(key) && shown::says_what_is_done(key, value))
    };
    let is_strange =
        |input| !names::is_command_as_before(tool) && (keys::has_unknown_beside_command(input) || has_setting());
    let is_odd = is_odd || kind == ToolKind::Execute && is_strange(input);
    let unknown = is_odd.then_some(Claimed::Unknown);
    // What runs in a terminal of the agent's own stands there, whatever the title says.
    let is_shown = tool.terminals().next().is_some();
    // Nor where the input says something that is not known here: the title may be a word about it.
    let mut said = Vec::new();
    input.values().for_each(|value| texts(value, &mut said));
    let is_told = is_shown || said.iter().any(|text| !text.is_empty());
    let title = || (kind == ToolKind::Execute).then(|| if is_told { Claimed::Unknown } else { titled(tool) });
    let scripts = || of_keys(input, |key| key == SCRIPT);
    let is_silent = given.is_empty() && !scripts().any(Value::is_string);
    let given = if is_silent { title().into_iter().collect() } else { given };
    let unknown = unknown.filter(|_| !given.is_empty());
    // Of a tool that only its name tells what is done with it is not known whether it is for this machine.
    let is_of_this = !is_untold(kind);
    let has_script = scripts().any(|value| !is_nothing(value) && value != "");
    let unknown = unknown.or_else(|| (has_script && is_of_this).then_some(Claimed::Unknown));
    given.into_iter().chain(unknown).map(|what| Claim::new(BASH, what)).collect()
}

fn command(value: &Value, input: &Map<String, Value>) -> Claimed {
    let mut given = of_keys(input, |key| key == ARGUMENTS).filter(|args| !is_nothing(args));
    let args = given.next();
    if given.next().is_some() {
        return Claimed::Unknown;
    }
    match (value, args) {
        (Value::String(line), None) => Claimed::Line(line.clone()),
        (Value::String(program), Some(args)) => match words(args) {
            Some(args) => Claimed::Words(std::iter::once(program.clone()).chain(args).collect()),
            None => Claimed::Unknown,
        },
        (value, None) => words(value).filter(|words| !words.is_empty()).map_or(Claimed::Unknown, Claimed::Words),
        _ => Claimed::Unknown,
    }
}

/// Whether a text with it says more than a program's name.
fn is_of_line(c: char) -> bool {
    c.is_whitespace() || "|&;<>()$`".contains(c)
}

fn words(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(|word| word.as_str().map(str::to_owned)).collect()
}

/// The title as a line for a shell: some agents say the command nowhere else.
fn titled(tool: &ToolCall) -> Claimed {
    let title = tool.title.trim();
    let inner = title.strip_prefix('`').and_then(|rest| rest.strip_suffix('`')).filter(|inner| !inner.contains('`'));
    let line = inner.unwrap_or(title);
    // What was shortened says nothing of its end.
    if tool.cut || leaves_out(line) || line.is_empty() { Claimed::Unknown } else { Claimed::Line(line.to_owned()) }
}

/// Files that it says it changes.
fn changed(tool: &ToolCall) -> Vec<String> {
    let changes = tool.content.iter().filter_map(ToolContent::change);
    let mut paths: Vec<String> =
        changes.flat_map(|change| std::iter::once(&change.path).chain(&change.from)).cloned().collect();
    paths.dedup();
    paths
}

/// Every file that a call names anywhere, as it is now.
pub fn files_named(tool: &ToolCall) -> Vec<String> {
    let empty = Map::new();
    files(tool, tool.raw_input.as_ref().and_then(Value::as_object).unwrap_or(&empty))
}

/// Every file that it names anywhere.
fn files(tool: &ToolCall, input: &Map<String, Value>) -> Vec<String> {
    let mut paths = changed(tool);
    paths.extend(tool.locations.iter().map(|location| location.path.clone()));
    paths.extend(keys::given(input, is_for_paths));
    let mut addresses = Vec::new();
    of_keys(input, |key| ADDRESS_ENDS.iter().any(|end| key.ends_with(end)))
        .for_each(|value| texts(value, &mut addresses));
    paths.extend(addresses.into_iter().filter(|address| is_address_of_file(address)));
    paths.extend(keys::outputs(input));
    // Of a patch alone it is not known that all of its files are found.
    if !paths.is_empty() {
        paths.extend(keys::patched(input));
    }
    paths.extend(keys::changed(input));
    if names::is_of_files(names::kind(tool)) {
        paths.extend(keys::paths_as_keys(input));
    }
    paths.sort_unstable();
    paths.dedup();
    paths
}

/// The same. The directory right above one of them is apart where a question about a call names it beside the file: it says
/// where that is.
fn files_and_above(tool: &ToolCall, input: &Map<String, Value>) -> (Vec<String>, Vec<String>) {
    let all = files(tool, input);
    let is_above = |dir: &String| all.iter().any(|path| Path::new(path).parent() == Some(Path::new(dir)));
    if !names::is_as_before(tool) {
        return (all, Vec::new());
    }
    let (above, files) = all.iter().cloned().partition(is_above);
    (files, above)
}

/// Whether a key is for what is written, looked for to be replaced, or for patches.
pub fn is_for_what_is_written(key: &str) -> bool {
    keys::is_written(&keys::plain(key)) || PROGRAMS.contains(&&*keys::plain(key)) || keys::is_for_patches(key)
}

/// Whether a key says where a command runs.
pub fn is_for_places(key: &str) -> bool {
    let key = &*keys::plain(key);
    DIRECTORIES.contains(&key) || PLACES.contains(&key)
}

/// What a command is given to is one of the shells that are judged alike.
fn is_usual(value: &Value) -> bool {
    let Value::String(shell) = value else { return !value.is_array() && !value.is_object() };
    let name = ["/bin/", "/usr/bin/", "/usr/local/bin/"].iter().find_map(|dir| shell.strip_prefix(dir));
    ["", "sh", "bash", "dash", "zsh", "ksh"].contains(&name.unwrap_or(shell))
}

/// Where relative paths begin, if it is said; an error where that cannot be told.
fn directory(
    kind: ToolKind,
    tool: &ToolCall,
    input: &Map<String, Value>,
    running: &[Running<'_>],
) -> Result<Option<String>, ()> {
    let is_command = kind == ToolKind::Execute;
    let is_one = |key: &str| DIRECTORIES.contains(&key) || is_command && PLACES.contains(&key);
    let named = of_keys(input, is_one).filter(|value| !value.is_null());
    let has_inner = || keys::of_keys_below(input, |_| false, is_one).into_iter().any(|value| !is_nothing(value));
    if is_command && tool.runs_elsewhere || names::is_of_files(kind) && has_inner() {
        return Err(());
    }
    let told = running.iter().map(|running| running.cwd).filter(|cwd| !cwd.is_empty()).map(Some);
    let mut said = named.map(Value::as_str).chain(told);
    let Some(first) = said.next() else { return Ok(None) };
    let is_plain = |path: &&str| !needs_expansion(path) && !is_glob(path);
    let path = first.filter(is_plain).filter(|_| said.all(|other| other == first));
    path.map(|path| Some(path.to_owned())).ok_or(())
}

#[cfg(test)]
#[path = "claims_tests.rs"]
mod tests;
