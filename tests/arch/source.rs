//! Reads Rust source just well enough for the rules of `arch.rs`: words, strings, paths, and which lines are tests.
//!
//! No parser: it knows comments, literals, attributes, inline modules and use-trees, and resolves `crate`, `self` and
//! `super`. What a macro builds is not seen.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// One source file. `path` is relative to the package, with `/`.
pub struct Source {
    pub path: String,
    pub text: String,
    /// All tokens, tests included.
    pub all: Vec<Token>,
    /// The tokens that are part of the program.
    pub code: Vec<Token>,
    /// Lines of items under `#[cfg(test)]`.
    test_lines: BTreeSet<usize>,
    /// Files that this one declares as `#[cfg(test)] mod …;`.
    test_files: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    pub what: What,
    pub line: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    Word(String),
    /// The inside of a string literal.
    Text(String),
    /// `::`
    Sep,
    Mark(char),
}

/// A path as written, made absolute where it begins with `crate`, `self` or `super` (then `inner` is true and the
/// segments stand below the crate's root).
#[derive(Debug, PartialEq, Eq)]
pub struct Named {
    pub segments: Vec<String>,
    pub inner: bool,
    pub line: usize,
}

impl Token {
    pub fn is_word(&self, word: &str) -> bool {
        matches!(&self.what, What::Word(w) if w == word)
    }

    pub fn is(&self, mark: char) -> bool {
        self.what == What::Mark(mark)
    }
}

impl Source {
    pub fn new(path: &str, text: &str) -> Self {
        let all = lex(text);
        let mut source = Self {
            path: path.into(),
            text: text.into(),
            code: Vec::new(),
            all,
            test_lines: BTreeSet::new(),
            test_files: Vec::new(),
        };
        source.separate();
        source
    }

    /// Below `src/`, without the ending: `["ui", "view", "mod"]`.
    fn stem(&self) -> Vec<String> {
        let inside = self.path.trim_start_matches("src/").trim_end_matches(".rs");
        inside.split('/').map(str::to_owned).collect()
    }

    /// The module that this file is: `["ui", "view"]` for `src/ui/view/mod.rs`.
    pub fn module(&self) -> Vec<String> {
        let mut stem = self.stem();
        if stem.last().is_some_and(|last| last == "mod" || last == "lib" || last == "main") {
            stem.pop();
        }
        stem
    }

    /// Lines that are neither in a test module nor otherwise under `#[cfg(test)]`.
    pub fn program_lines(&self) -> usize {
        (1..=self.text.lines().count()).filter(|line| !self.test_lines.contains(line)).count()
    }

    /// Splits `all` into the program and what stands under `#[cfg(test)]`.
    fn separate(&mut self) {
        let mut at = 0;
        while at < self.all.len() {
            let Some((inside, after)) = attribute(&self.all, at) else {
                self.code.push(self.all[at].clone());
                at += 1;
                continue;
            };
            if !is_test_only(inside) {
                self.code.extend_from_slice(&self.all[at..after]);
                at = after;
                continue;
            }
            let (file, end) = self.item_after(after);
            self.test_files.extend(file);
            let last = self.all[end - 1].line;
            self.test_lines.extend(self.all[at].line..=last);
            at = end;
        }
    }

    /// Behind the item that begins at `at`, and the file that it names if it is `mod NAME;`.
    fn item_after(&self, mut at: usize) -> (Option<String>, usize) {
        let mut path = None;
        while let Some((inside, after)) = attribute(&self.all, at) {
            if inside.first().is_some_and(|t| t.is_word("path"))
                && let Some(What::Text(file)) = inside.last().map(|t| &t.what)
            {
                path = Some(file.clone());
            }
            at = after;
        }
        let start = at;
        let mut depth = 0_usize;
        while at < self.all.len() {
            match self.all[at].what {
                What::Mark('(' | '[') => depth += 1,
                What::Mark(')' | ']') => depth = depth.saturating_sub(1),
                What::Mark('{') if depth == 0 => return (None, closing(&self.all, at) + 1),
                What::Mark(';') if depth == 0 => break,
                _ => {}
            }
            at += 1;
        }
        let words: Vec<&str> = self.all[start..at].iter().filter_map(word).collect();
        let file = match words.as_slice() {
            [.., "mod", name] => Some(self.child_file(name, path.as_deref())),
            _ => None,
        };
        (file, (at + 1).min(self.all.len()))
    }

    /// The file of `mod name;`. A directory `name/mod.rs` for tests is not foreseen.
    fn child_file(&self, name: &str, path: Option<&str>) -> String {
        let folder = self.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        match path {
            Some(path) => format!("{folder}/{path}"),
            None if self.path.ends_with("/mod.rs") || self.path.ends_with("/lib.rs") => format!("{folder}/{name}.rs"),
            None => format!("{}/{name}.rs", self.path.trim_end_matches(".rs")),
        }
    }

    /// Every path with at least one `::` in the program, use-trees taken apart.
    pub fn paths(&self) -> Vec<Named> {
        let mut found = Vec::new();
        let mut module = self.module();
        // Depths at which inline modules were opened.
        let (mut depth, mut opened) = (0_usize, Vec::new());
        let mut at = 0;
        while at < self.code.len() {
            match &self.code[at].what {
                What::Mark('{') => depth += 1,
                What::Mark('}') => {
                    depth = depth.saturating_sub(1);
                    if opened.last() == Some(&depth) {
                        opened.pop();
                        module.pop();
                    }
                }
                What::Word(w) if w == "mod" && self.code.get(at + 2).is_some_and(|t| t.is('{')) => {
                    module.extend(self.code.get(at + 1).and_then(word).map(str::to_owned));
                    opened.push(depth);
                }
                What::Word(_) if self.is_path_start(at) => {
                    let mut raw = Vec::new();
                    at = tree(&self.code, at, &[], &mut raw);
                    found.extend(raw.into_iter().map(|(segments, line)| absolute(segments, line, &module)));
                    continue;
                }
                _ => {}
            }
            at += 1;
        }
        found
    }

    /// The types that the program defines here.
    pub fn types(&self) -> impl Iterator<Item = &str> {
        self.code.windows(2).filter_map(|pair| {
            let defines = ["struct", "enum", "union"].iter().any(|what| pair[0].is_word(what));
            word(&pair[1]).filter(|_| defines)
        })
    }

    /// The types that have methods of their own here, with the line.
    pub fn methods_of(&self) -> Vec<(&str, usize)> {
        let mut found = Vec::new();
        for (at, token) in self.code.iter().enumerate() {
            let is_item = at == 0 || matches!(self.code[at - 1].what, What::Mark(';' | '{' | '}' | ']'));
            if token.is_word("impl") && is_item {
                found.extend(method_type(&self.code[at + 1..]).map(|name| (name, token.line)));
            }
        }
        found
    }

    fn is_path_start(&self, at: usize) -> bool {
        let joined = at > 0 && self.code[at - 1].what == What::Sep;
        !joined && self.code.get(at + 1).is_some_and(|t| t.what == What::Sep)
    }
}

fn word(token: &Token) -> Option<&str> {
    match &token.what {
        What::Word(w) => Some(w),
        _ => None,
    }
}

/// The last name of the type that an `impl` is of; nothing when it is of a trait.
fn method_type(code: &[Token]) -> Option<&str> {
    let (mut depth, mut name) = (0_usize, None);
    for (at, token) in code.iter().enumerate() {
        match &token.what {
            What::Mark('<') => depth += 1,
            // Not that of `->`.
            What::Mark('>') if at > 0 && !code[at - 1].is('-') => depth = depth.saturating_sub(1),
            // What a macro is given.
            What::Mark('$') => return None,
            What::Mark('{') => return name,
            What::Word(w) if depth == 0 && w == "where" => return name,
            What::Word(w) if depth == 0 && w == "for" => return None,
            What::Word(w) if depth == 0 => name = Some(w.as_str()),
            _ => {}
        }
    }
    None
}

/// Reads one use-tree or path; returns the place behind it.
fn tree(code: &[Token], mut at: usize, prefix: &[String], found: &mut Vec<(Vec<String>, usize)>) -> usize {
    let mut segments = prefix.to_vec();
    let mut line = code.get(at).map_or(0, |t| t.line);
    while let Some(token) = code.get(at) {
        match &token.what {
            What::Word(w) => {
                line = token.line;
                if w != "self" || segments.is_empty() {
                    segments.push(w.clone());
                }
                at += 1;
                if code.get(at).is_some_and(|t| t.what == What::Sep) {
                    at += 1;
                    continue;
                }
            }
            What::Mark('*') => at += 1,
            What::Mark('{') => {
                at += 1;
                while code.get(at).is_some_and(|t| !t.is('}')) {
                    let before = at;
                    at = tree(code, at, &segments, found);
                    // `as name` and commas.
                    while code.get(at).is_some_and(|t| !t.is(',') && !t.is('}')) {
                        at += 1;
                    }
                    if code.get(at).is_some_and(|t| t.is(',')) || at == before {
                        at += 1;
                    }
                }
                return at + 1;
            }
            _ => {}
        }
        break;
    }
    found.push((segments, line));
    at
}

fn absolute(segments: Vec<String>, line: usize, module: &[String]) -> Named {
    let mut rest = segments.iter().map(String::as_str).peekable();
    let mut base: Vec<String> = match rest.peek() {
        Some(&"crate") => {
            rest.next();
            Vec::new()
        }
        Some(&"self") => {
            rest.next();
            module.to_vec()
        }
        Some(&"super") => module.to_vec(),
        _ => return Named { segments, inner: false, line },
    };
    while rest.next_if_eq(&"super").is_some() {
        base.pop();
    }
    base.extend(rest.map(str::to_owned));
    Named { segments: base, inner: true, line }
}

/// The tokens inside `#[…]` or `#![…]` at `at`, and the place behind it.
fn attribute(tokens: &[Token], at: usize) -> Option<(&[Token], usize)> {
    let inner = usize::from(tokens.get(at + 1).is_some_and(|t| t.is('!')));
    let open = at + 1 + inner;
    if !tokens[at].is('#') || !tokens.get(open)?.is('[') {
        return None;
    }
    let mut depth = 0_usize;
    for (index, token) in tokens.iter().enumerate().skip(open) {
        match token.what {
            What::Mark('[') => depth += 1,
            What::Mark(']') => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some((&tokens[open + 1..index], index + 1));
        }
    }
    None
}

fn is_test_only(attribute: &[Token]) -> bool {
    let has = |w: &str| attribute.iter().any(|t| t.is_word(w));
    attribute.first().is_some_and(|t| t.is_word("cfg")) && has("test") && !has("not") && !has("any")
}

/// The place of the `}` for the `{` at `open`.
fn closing(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0_usize;
    for (index, token) in tokens.iter().enumerate().skip(open) {
        match token.what {
            What::Mark('{') => depth += 1,
            What::Mark('}') => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return index;
        }
    }
    tokens.len() - 1
}

fn lex(text: &str) -> Vec<Token> {
    let chars: Vec<char> = text.chars().collect();
    let (mut tokens, mut at, mut line) = (Vec::new(), 0, 1);
    while at < chars.len() {
        let c = chars[at];
        let next = chars.get(at + 1).copied();
        let start = line;
        let end = match (c, next) {
            ('/', Some('/')) => seek(&chars, at, |i| chars[i] == '\n'),
            ('/', Some('*')) => comment(&chars, at),
            ('"', _) => {
                let end = string(&chars, at);
                tokens.push(Token { what: What::Text(chars[at + 1..end - 1].iter().collect()), line: start });
                end
            }
            ('r', Some('"' | '#')) if raw_string(&chars, at).is_some() => {
                let end = raw_string(&chars, at).unwrap_or(at + 1);
                tokens.push(Token { what: What::Text(chars[at + 1..end].iter().collect()), line: start });
                end
            }
            ('b' | 'c', Some('"' | 'r' | '\'')) if is_prefix(&chars, at) => at + 1,
            ('\'', Some('\\')) => seek(&chars, at + 3, |i| chars[i] == '\'') + 1,
            ('\'', _) if chars.get(at + 2) == Some(&'\'') => at + 3,
            (':', Some(':')) => {
                tokens.push(Token { what: What::Sep, line });
                at + 2
            }
            _ if c.is_alphanumeric() || c == '_' => {
                let end = seek(&chars, at, |i| !(chars[i].is_alphanumeric() || chars[i] == '_'));
                tokens.push(Token { what: What::Word(chars[at..end].iter().collect()), line });
                end
            }
            _ => {
                if !c.is_whitespace() {
                    tokens.push(Token { what: What::Mark(c), line });
                }
                at + 1
            }
        };
        let end = end.min(chars.len());
        line += chars[at..end].iter().filter(|c| **c == '\n').count();
        at = end;
    }
    tokens
}

fn seek(chars: &[char], from: usize, found: impl Fn(usize) -> bool) -> usize {
    (from..chars.len()).find(|i| found(*i)).unwrap_or(chars.len())
}

/// Whether the letter at `at` belongs to the literal behind it (`b"…"`, `br"…"`, `b'…'`, `c"…"`).
fn is_prefix(chars: &[char], at: usize) -> bool {
    match chars[at + 1] {
        'r' => raw_string(chars, at + 1).is_some(),
        _ => true,
    }
}

fn comment(chars: &[char], mut at: usize) -> usize {
    let mut depth = 0_usize;
    while at < chars.len() {
        match (chars[at], chars.get(at + 1)) {
            ('/', Some('*')) => (depth, at) = (depth + 1, at + 2),
            ('*', Some('/')) => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    at
}

/// Behind the closing quote of the string at `at`.
fn string(chars: &[char], at: usize) -> usize {
    let mut i = at + 1;
    while i < chars.len() && chars[i] != '"' {
        i += if chars[i] == '\\' { 2 } else { 1 };
    }
    (i + 1).clamp(at + 2, chars.len().max(at + 2))
}

/// Behind the raw string that begins with the `r` at `at`, if it is one.
fn raw_string(chars: &[char], at: usize) -> Option<usize> {
    let quote = seek(chars, at + 1, |i| chars[i] != '#');
    if chars.get(quote) != Some(&'"') {
        return None;
    }
    let hashes = quote - at - 1;
    let end = seek(chars, quote + 1, |i| {
        chars[i] == '"' && i + hashes < chars.len() && chars[i + 1..=i + hashes].iter().all(|c| *c == '#')
    });
    Some(end + 1 + hashes)
}

/// All sources below `folder` of the package, those that are only compiled for tests marked as such.
pub struct Tree {
    pub program: Vec<Source>,
    pub tests: Vec<Source>,
}

impl Tree {
    pub fn new(files: Vec<Source>) -> Self {
        let declared: BTreeSet<String> = files.iter().flat_map(|f| f.test_files.iter().cloned()).collect();
        let (tests, program) =
            files.into_iter().partition(|f| declared.contains(&f.path) || f.path.starts_with("tests/"));
        Self { program, tests }
    }

    pub fn everything(&self) -> impl Iterator<Item = &Source> {
        self.program.iter().chain(&self.tests)
    }
}

/// Reads `src/` and `tests/` of the package.
pub fn read_tree() -> std::io::Result<Tree> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for folder in ["src", "tests"] {
        collect(&root.join(folder), &mut files)?;
    }
    files.sort();
    let mut sources = Vec::new();
    for file in files {
        let name = file.strip_prefix(root).unwrap_or(&file).to_string_lossy().replace('\\', "/");
        sources.push(Source::new(&name, &std::fs::read_to_string(&file)?));
    }
    Ok(Tree::new(sources))
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            files.push(path);
        }
    }
    Ok(())
}
