//! Patterns that the person could mean who allows one request: the narrowest first, each next one wider.
//!
//! Judges nothing: the caller looks first whether an offered pattern allows the request. Invariant: the first that is
//! given for a command or a file is for that command or that file only.

use super::shell::{self, Command, Segment};
use super::tool::{Kind, Tool};
use super::word::Word;
use super::{Request, Subject, check, wrappers};
use crate::base::paths::normalize;
use std::path::Path;

/// Lines in lines.
const MAX_DEPTH: usize = 4;
/// Parts of one request that patterns are made for.
const MAX_PARTS: usize = 12;

/// Patterns that each allow the request together, the narrowest set first.
pub fn propose(request: &Request<'_>) -> Vec<Vec<String>> {
    let mut parts = Vec::new();
    match request.subject {
        Subject::Line(line) => of_line(request, line, 0, &mut parts),
        Subject::Words(words) => {
            let word = |text: &String| Word { text: text.clone(), ..Word::default() };
            of_command(
                request,
                &Command { words: words.iter().map(word).collect(), ..Command::default() },
                0,
                &mut parts,
            );
        }
        Subject::Paths(paths) => parts.extend(paths.iter().map(|path| of_path(request, request.tool, path))),
        Subject::Text(text) => parts.push(of_text(request.tool, text)),
    }
    // What cannot be written as a pattern, for example a name with a newline in it, has none; a wider one is not for it alone.
    if parts.iter().flatten().any(|pattern| check(pattern).is_err()) {
        return Vec::new();
    }
    if parts.is_empty() || parts.len() > MAX_PARTS || parts.iter().any(Vec::is_empty) {
        return Vec::new();
    }
    let levels = parts.iter().map(Vec::len).max().unwrap_or(0);
    let mut sets: Vec<Vec<String>> = Vec::new();
    for level in 0..levels {
        let mut set: Vec<String> = Vec::new();
        for part in &parts {
            let pattern = part.get(level).or(part.last());
            if let Some(pattern) = pattern.filter(|pattern| !set.contains(pattern)) {
                set.push(pattern.clone());
            }
        }
        if !sets.contains(&set) {
            sets.push(set);
        }
    }
    sets
}

/// Patterns in one line, as people write several: `Bash(git status), Read(src/**)`.
pub fn patterns(text: &str) -> Result<Vec<String>, String> {
    let mut found = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        // The shortest beginning that is a pattern: what stands in quotes may hold anything.
        let ends = rest.match_indices(", ").map(|(at, _)| at).chain([rest.len()]);
        let mut ends = ends.filter_map(|at| Some((at, rest.get(..at)?)));
        let Some((at, pattern)) = ends.find(|(_, pattern)| check(pattern).is_ok()) else {
            return Err(check(rest).err().unwrap_or_else(|| "it is no pattern".to_owned()));
        };
        found.push(pattern.trim().to_owned());
        rest = rest.get(at..).unwrap_or_default().trim_start_matches(',').trim_start();
    }
    if found.is_empty() { Err("no pattern is written".to_owned()) } else { Ok(found) }
}

fn of_line(request: &Request<'_>, line: &str, depth: usize, parts: &mut Vec<Vec<String>>) {
    if depth > MAX_DEPTH {
        return parts.push(Vec::new());
    }
    for segment in shell::read(line, shell::State::default(), Some(request.cwd)).segments {
        match segment {
            Segment::Command(command) => of_command(request, &command, depth, parts),
            Segment::Passed(_) => {}
            Segment::File { word, is_write, .. } => match word.known() {
                Some(text) if is_no_file(text) => {}
                Some(text) => parts.push(of_path(request, &Tool::of_file(is_write), Path::new(text))),
                None => parts.push(Vec::new()),
            },
        }
    }
}

fn is_no_file(text: &str) -> bool {
    text.starts_with("/dev/fd/") || matches!(text, "/dev/null" | "/dev/stdin" | "/dev/stdout" | "/dev/stderr")
}

/// A command that only passes on another one is that one.
fn of_command(request: &Request<'_>, command: &Command, depth: usize, parts: &mut Vec<Vec<String>>) {
    let words = &command.words;
    let Some(program) = words.first().and_then(Word::known).filter(|_| command.settings.is_empty()) else {
        return parts.push(of_words(command));
    };
    let script = wrappers::script(program, words).filter(|script| script.is_plain);
    if let Some(line) = script.and_then(|script| words.get(script.at)?.known()) {
        return of_line(request, line, depth + 1, parts);
    }
    let row = wrappers::find(program).filter(|row| row.kind == wrappers::Kind::Plain);
    let inner = row.and_then(|row| words.get(wrappers::inner(row, words)?..)).filter(|inner| !inner.is_empty());
    match inner {
        Some(inner) if depth < MAX_DEPTH => {
            let inner = Command { words: inner.to_vec(), ..Command::default() };
            of_command(request, &inner, depth + 1, parts);
        }
        _ => parts.push(of_words(command)),
    }
}

/// This command; its subcommand with anything after it; its program with anything.
fn of_words(command: &Command) -> Vec<String> {
    let all: Vec<&Word> = command.settings.iter().chain(&command.words).collect();
    let known: Vec<String> =
        all.iter().map_while(|word| word.known().filter(|text| !text.contains('*'))).map(quoted).collect();
    let first = command.settings.len();
    if known.len() <= first {
        return Vec::new();
    }
    let mut patterns = Vec::new();
    // A `*` of its own stands for any text in its place; more than that is meant by one at the end and behind a colon.
    let is_more = |text: &str| text == "*" || text.ends_with(":*");
    let each: Option<Vec<&str>> = all.iter().map(|word| word.known().filter(|text| !is_more(text))).collect();
    if let Some(each) = each {
        patterns.push(format!("Bash({})", each.into_iter().map(quoted).collect::<Vec<_>>().join(" ")));
    }
    let is_name = |word: &&Word| word.text.starts_with(|c: char| c.is_ascii_alphabetic()) && !word.text.contains('/');
    if all.get(first + 1).is_some_and(is_name) && known.len() > first + 1 {
        patterns.push(format!("Bash({} *)", known.get(..first + 2).unwrap_or_default().join(" ")));
    }
    patterns.push(format!("Bash({} *)", known.get(..=first).unwrap_or_default().join(" ")));
    patterns
}

/// As a pattern takes it for one word.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| !c.is_whitespace() && !"'\"|;&<>`".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    if !word.contains('\'') {
        return format!("'{word}'");
    }
    if !word.contains('"') {
        return format!("\"{word}\"");
    }
    format!("'{}'", word.replace('\'', "'\"'\"'"))
}

/// This file; what is below its directory; every file inside.
fn of_path(request: &Request<'_>, tool: &Tool, path: &Path) -> Vec<String> {
    let joined = request.cwd.join(path);
    let real = (request.links)(&joined).unwrap_or_else(|| normalize(&joined));
    // What begins nowhere is in each of the roots: of further ones the whole path is for one file alone.
    let inside = request.roots.first().and_then(|root| real.strip_prefix(root).ok());
    let is_inside = inside.is_some() || request.roots.iter().any(|root| real.starts_with(root));
    let named = inside.unwrap_or(&real);
    let name = if tool.kind == Kind::Edit { "Edit" } else { "Read" };
    let mut patterns = Vec::new();
    let written = |path: &Path| path.to_str().filter(|text| !text.contains('*') && !text.is_empty()).map(str::to_owned);
    if let Some(text) = written(named) {
        patterns.push(format!("{name}({text})"));
    }
    if let Some(dir) = named.parent().and_then(written).filter(|dir| dir != "/") {
        patterns.push(format!("{name}({dir}/**)"));
    }
    if is_inside {
        patterns.push(name.to_owned());
    }
    patterns
}

/// This; all of its host or server.
fn of_text(tool: &Tool, text: &str) -> Vec<String> {
    let literal = !text.is_empty() && !text.contains('*');
    match tool.kind {
        Kind::Fetch => {
            let (scheme, rest) = text.trim().split_once("://").unwrap_or_default();
            let host = rest.split(['/', '?', '#', ':']).next().unwrap_or_default().to_ascii_lowercase();
            if host.is_empty() {
                return Vec::new();
            }
            let exact = (literal && scheme == "https" && !rest.contains(':')).then(|| format!("Fetch(https://{rest})"));
            exact.into_iter().chain([format!("Fetch(domain:{host})")]).collect()
        }
        Kind::Mcp => {
            let exact = literal.then(|| format!("Mcp({text})"));
            let server = text.split_once('/').map(|(server, _)| format!("Mcp({server})"));
            exact.into_iter().chain(server).collect()
        }
        // A tool that is called so and says nothing that a rule for such a tool is about.
        Kind::Bash | Kind::Read | Kind::Edit if tool.is_own() => Vec::new(),
        Kind::Bash | Kind::Read | Kind::Edit => vec![tool.name().to_owned()],
        Kind::Other => {
            let exact = literal.then(|| format!("{}({text})", tool.name()));
            let all = (!tool.is_nameless()).then(|| tool.name().to_owned());
            exact.into_iter().chain(all).collect()
        }
    }
}

#[cfg(test)]
#[path = "propose_tests.rs"]
mod tests;
