//! Patterns as people write them: `Bash(git *)`, `Read(src/**)`, `Fetch(domain:docs.rs)`, `Mcp(server/tool)`, `Edit`.
//!
//! Knows nothing of lists and files. Invariants: what is allowed is matched to the letter; what is denied or asked about
//! is matched wider, and what might match is told apart from what does.

use super::glob::Glob;
use super::marks::{MARKS, may_be};
use super::steering;
use super::tool::{Kind, Tool};
use super::word::{Rest, Word};
use std::path::{Component, Path, PathBuf};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pattern {
    pub(super) tool: Tool,
    pub(super) spec: Spec,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Spec {
    /// Every use; of reads and edits those inside the roots.
    Any,
    Command(CommandSpec),
    Path(PathSpec),
    Domain {
        host: String,
        /// Those below it instead.
        is_below: bool,
    },
    Url(Glob),
    Tool {
        server: Glob,
        tool: Option<Glob>,
    },
    Text(Glob),
}

/// Words of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CommandSpec {
    pub(super) words: Vec<WordSpec>,
    /// Any further words.
    pub(super) is_open: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WordSpec {
    pub(super) glob: Glob,
    /// Ends with `:*`: this, or this and anything after a colon.
    pub(super) has_colon: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PathSpec {
    base: Base,
    parts: Vec<Part>,
}

/// Where the paths of a pattern begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Base {
    Roots,
    Top,
    Home,
}

impl Base {
    pub(super) const ALL: [Self; 3] = [Self::Roots, Self::Top, Self::Home];
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Any,
    One(Glob),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Match {
    No,
    /// Not itself, but maybe what is below it.
    Below,
    /// Depends on what only shows when it runs.
    Perhaps,
    Yes,
}

impl Pattern {
    /// Whether it is for all calls that say nothing of what they do: some agents send commands and edits so.
    pub(super) fn is_for_anything(&self) -> bool {
        self.tool.is_nameless()
            && match &self.spec {
                Spec::Any => true,
                Spec::Text(glob) => glob.text().chars().all(|c| c == '*' || c.is_whitespace()),
                _ => false,
            }
    }

    /// The same with paths that begin in this directory instead of in those of the session. A `*` in the directory's own name
    /// stands for more than that.
    pub(super) fn at(&self, dir: &Path) -> Self {
        let Spec::Path(PathSpec { base: Base::Roots, parts }) = &self.spec else { return self.clone() };
        let names = dir.components().filter_map(|part| match part {
            Component::Normal(name) => Some(Part::One(Glob::new(&name.to_string_lossy()))),
            _ => None,
        });
        let parts = names.chain(parts.iter().cloned()).collect();
        Self { tool: self.tool.clone(), spec: Spec::Path(PathSpec { base: Base::Top, parts }) }
    }
}

impl Spec {
    /// Whether it is for the name of a tool, or for another text that is no line, path or address. `is_wide`: `*` stands
    /// for several names with `/` between them too.
    pub(super) fn is_for(&self, text: &str, is_wide: bool) -> bool {
        match self {
            Self::Any => true,
            Self::Text(glob) => glob.matches(text),
            Self::Tool { server, tool } => match (text.split_once('/'), tool) {
                (Some((of, _)), None) => server.matches(of),
                (Some((of, name)), Some(tool)) => {
                    let is_it = server.matches(of) && tool.matches(name) && (is_wide || fits_names(tool.text(), name));
                    // Where its server ends a name does not say that has further such marks.
                    let joined = |server: &str, tool: &str| format!("{server}__{tool}");
                    let is_joined = || Glob::new(&joined(server.text(), tool.text())).matches(&joined(of, name));
                    is_it || is_wide && is_joined()
                }
                (None, tool) => tool.is_none() && server.matches(text),
            },
            _ => false,
        }
    }
}

/// Name for name; `**` at the end is for all that are left.
fn fits_names(pattern: &str, text: &str) -> bool {
    let (mut parts, mut names) = (pattern.split('/'), text.split('/'));
    loop {
        match (parts.next(), names.next()) {
            (None, None) => return true,
            (Some("**"), Some(_)) => return parts.next().is_none(),
            (Some(part), Some(name)) if Glob::new(part).matches(name) => {}
            _ => return false,
        }
    }
}

/// Reads a pattern; the reason when it is none.
pub(super) fn parse(text: &str) -> Result<Pattern, String> {
    let text = text.trim();
    if text.chars().any(char::is_control) {
        return Err("it holds control characters".to_owned());
    }
    let (name, spec) = match text.split_once('(') {
        Some((name, rest)) => (name, Some(rest.strip_suffix(')').ok_or("the `)` at its end is missing")?)),
        None => (text, None),
    };
    if let Some(tool) = of_server(name) {
        return match spec {
            None => Ok(tool),
            Some(_) => {
                Err("a tool of a server has nothing in parentheses: mcp__SERVER__TOOL or Mcp(SERVER/TOOL)".to_owned())
            }
        };
    }
    let tool = Tool::named(name)
        .ok_or_else(|| format!("{name:?} is no name of a tool; allowed: Bash, Read, Edit, Fetch, Mcp and the like"))?;
    let spec = match spec {
        None => Spec::Any,
        Some(spec) if spec.trim().is_empty() => return Err("nothing stands between its parentheses".to_owned()),
        Some(spec) => match tool.kind {
            Kind::Bash => Spec::Command(command(spec)?),
            Kind::Read | Kind::Edit => Spec::Path(path(spec)?),
            // What it is to look for.
            Kind::Fetch if tool.is_web_search() && fetch(spec).is_err() => Spec::Text(Glob::new(spec)),
            Kind::Fetch => fetch(spec)?,
            Kind::Mcp => match spec.trim().split_once('/') {
                Some((server, tool)) => Spec::Tool { server: Glob::new(server), tool: Some(Glob::new(tool)) },
                None => Spec::Tool { server: Glob::new(spec.trim()), tool: None },
            },
            Kind::Other => Spec::Text(Glob::new(spec)),
        },
    };
    Ok(Pattern { tool, spec })
}

/// `mcp__SERVER__TOOL` and `mcp__SERVER`, with or without `*`.
fn of_server(name: &str) -> Option<Pattern> {
    let tool = Tool::named(&name.replace('*', "x"))?;
    tool.of_server()?;
    let rest = name.get(name.find("__")? + 2..)?;
    let (server, of) = rest.split_once("__").map_or((rest, None), |(server, of)| (server, Some(of)));
    let spec = Spec::Tool { server: Glob::new(server), tool: of.map(Glob::new) };
    Some(Pattern { tool: Tool::named("mcp")?, spec })
}

fn command(spec: &str) -> Result<CommandSpec, String> {
    let mut words = Vec::new();
    let mut chars = spec.chars().peekable();
    while chars.peek().is_some() {
        while chars.next_if(|c| c.is_whitespace()).is_some() {}
        let mut word = String::new();
        let mut is_word = false;
        while let Some(c) = chars.next_if(|c| !c.is_whitespace()) {
            is_word = true;
            match c {
                '\'' | '"' => loop {
                    match chars.next() {
                        Some(end) if end == c => break,
                        Some(inside) => word.push(inside),
                        None => return Err(format!("the {c} that ends a word is missing")),
                    }
                },
                // A pattern is for one command; a line is taken apart first.
                '|' | ';' | '&' | '<' | '>' | '`' => {
                    return Err(format!("{c} is no part of a command; give each command a pattern of its own"));
                }
                c => word.push(c),
            }
        }
        if is_word {
            words.push(word);
        }
    }
    let is_open = words.last().is_some_and(|last| last == "*");
    if is_open {
        words.pop();
    }
    let words = words.iter().map(|word| match word.strip_suffix(":*") {
        Some(start) => WordSpec { glob: Glob::new(start), has_colon: true },
        None => WordSpec { glob: Glob::new(word), has_colon: false },
    });
    Ok(CommandSpec { words: words.collect(), is_open })
}

fn path(spec: &str) -> Result<PathSpec, String> {
    let spec = spec.trim();
    let (base, rest) = match spec.strip_prefix("~/").or_else(|| (spec == "~").then_some("")) {
        Some(rest) => (Base::Home, rest),
        None if spec.starts_with('/') => (Base::Top, spec),
        None => (Base::Roots, spec),
    };
    let mut parts = Vec::new();
    for part in rest.split('/') {
        match part {
            "" | "." => {}
            ".." => return Err("`..` has no place in a pattern; write the path out".to_owned()),
            "**" => parts.push(Part::Any),
            part if part.contains("**") => return Err("`**` stands for whole parts of a path: `src/**`".to_owned()),
            part => parts.push(Part::One(Glob::new(part))),
        }
    }
    if rest.len() > 1 && rest.ends_with('/') {
        parts.push(Part::Any);
    }
    Ok(PathSpec { base, parts })
}

fn fetch(spec: &str) -> Result<Spec, String> {
    let spec = spec.trim();
    if let Some(host) = spec.strip_prefix("domain:") {
        let (host, is_below) = host.strip_prefix("*.").map_or((host, false), |host| (host, true));
        let host = of_host(host);
        if !is_host(&host) {
            return Err(format!("{host:?} is no host; allowed: domain:docs.rs or domain:*.docs.rs"));
        }
        return Ok(Spec::Domain { host, is_below });
    }
    let Some(rest) = spec.strip_prefix("https://") else {
        return Err("allowed: Fetch(domain:docs.rs) or Fetch(https://docs.rs/…)".to_owned());
    };
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let host = of_host(host);
    if !is_host(&host) {
        return Err(format!("{host:?} is no host; a host stands without `*`: Fetch(https://docs.rs/*)"));
    }
    Ok(Spec::Url(Glob::new(&format!("{host}/{path}"))))
}

/// A dot at its end says nothing but that it is all of the name.
fn of_host(text: &str) -> String {
    text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase()
}

/// The bytes of a host, and of each name in it.
const MAX_HOST: usize = 253;
const MAX_LABEL: usize = 63;

/// Whether a text is a host, in small letters: names with dots between them, none of which is empty.
pub(super) fn is_host(text: &str) -> bool {
    let is_label = |label: &str| {
        (1..=MAX_LABEL).contains(&label.len())
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    text.len() <= MAX_HOST && text.split('.').all(is_label)
}

impl CommandSpec {
    /// `program`: what the first word may also be called, its name without the path before it.
    pub(super) fn matches(&self, words: &[Word], program: Option<&Word>) -> Match {
        let mut result = Match::Yes;
        for (at, spec) in self.words.iter().enumerate() {
            let Some(word) = words.get(at) else { return Match::No };
            let found = match (word.rest, program) {
                // From here on no word is in its place.
                (Rest::Words, _) if at > 0 => return Match::Perhaps,
                (_, Some(program)) if at == 0 => spec.matches(word).max(spec.matches(program)),
                _ => spec.matches(word),
            };
            if found == Match::No {
                return Match::No;
            }
            result = result.min(found);
        }
        let mut further = words.get(self.words.len()..).unwrap_or_default().iter();
        if self.is_open || words.len() == self.words.len() {
            result
        } else if further.all(|word| word.rest == Rest::Words) {
            Match::Perhaps
        } else {
            Match::No
        }
    }

    /// Whether it matches when options before the second word are left out: `git -C x push` for `git push`.
    pub(super) fn matches_without_options(&self, words: &[Word], name: &Word) -> bool {
        let [program, rest @ ..] = words else { return false };
        if !rest.first().is_some_and(|word| word.text.starts_with(['-', '+'])) || self.words.len() < 2 {
            return false;
        }
        let Some((first, wanted)) = self.words.split_first() else { return false };
        if first.matches(name).max(first.matches(program)) == Match::No {
            return false;
        }
        let mut rest = rest.iter();
        wanted.iter().all(|spec| rest.any(|word| spec.matches(word) != Match::No))
    }

    /// Whether it matches with its options in other places: `git commit -m x --amend` for `git commit --amend *`. Most programs take
    /// them anywhere.
    pub(super) fn matches_with_options_elsewhere(&self, words: &[Word], name: &Word) -> bool {
        let ([program, rest @ ..], Some((first, wanted))) = (words, self.words.split_first()) else { return false };
        let is_option = |spec: &&WordSpec| spec.glob.text().starts_with('-') && spec.glob.text() != "--";
        if !(self.is_open || words.len() == self.words.len()) || !wanted.iter().any(|spec| is_option(&spec)) {
            return false;
        }
        if first.matches(name).max(first.matches(program)) == Match::No {
            return false;
        }
        let mut in_order = rest.iter();
        wanted.iter().all(|spec| {
            let is_it = |word: &Word| spec.matches(word) != Match::No;
            if is_option(&spec) { rest.iter().any(is_it) } else { in_order.any(is_it) }
        })
    }

    /// The word at this place, where it is written out.
    pub(super) fn literal(&self, at: usize) -> Option<&str> {
        self.words.get(at).filter(|word| word.glob.is_literal() && !word.has_colon).map(|word| word.glob.text())
    }

    /// The word at this place, `*` in it being any text.
    pub(super) fn word(&self, at: usize) -> Option<&str> {
        self.words.get(at).map(|spec| spec.glob.text())
    }

    /// Whether the word at this place begins with the first bytes of itself in the pattern too, without a `*`.
    pub(super) fn spells(&self, at: usize, bytes: usize) -> bool {
        self.words.get(at).is_some_and(|spec| spec.glob.prefix().len() >= bytes)
    }
}

impl WordSpec {
    /// Whether it has any text but `*`.
    pub(super) fn names(&self) -> bool {
        self.glob.text().contains(|c| c != '*')
    }

    fn matches(&self, word: &Word) -> Match {
        if word.is_known() {
            return self.matches_text(&word.text);
        }
        let glob = &self.glob;
        if glob.text() == "*" && word.rest == Rest::Text {
            return Match::Yes;
        }
        let is_prefix_and_star = glob.text().len() == glob.prefix().len() + 1;
        let is_within = word.text.starts_with(glob.prefix()) && !glob.text().contains('/');
        if word.rest == Rest::Text && is_prefix_and_star && is_within {
            return Match::Yes;
        }
        if self.has_colon || glob.could_begin(&word.text) { Match::Perhaps } else { Match::No }
    }

    fn matches_text(&self, text: &str) -> Match {
        if self.glob.matches(text) {
            // The name of a file that leaves the directory which the pattern names.
            let leaves =
                !self.glob.is_literal() && self.glob.text().contains('/') && text.split('/').any(|part| part == "..");
            return if leaves { Match::Perhaps } else { Match::Yes };
        }
        let mut colons = text.match_indices(':').filter_map(|(at, _)| text.get(..at));
        if self.has_colon && colons.any(|start| self.glob.matches(start)) { Match::Yes } else { Match::No }
    }
}

/// The program without the path before it.
pub(super) fn base_name(word: &Word) -> Word {
    let mut word = word.clone();
    if let Some((_, name)) = word.text.rsplit_once('/') {
        word.text = name.to_owned();
    }
    word
}

impl PathSpec {
    pub(super) const fn base(&self) -> Base {
        self.base
    }

    /// The names written out with which it begins.
    pub(super) fn beginning(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().map_while(|part| match part {
            Part::One(glob) if glob.is_literal() => Some(glob.text()),
            _ => None,
        })
    }

    /// Whether it has any text but `*`.
    pub(super) fn names(&self) -> bool {
        let is_text = |part: &Part| matches!(part, Part::One(glob) if glob.text().contains(|c| c != '*'));
        self.parts.iter().any(is_text)
    }

    /// `is_wide`: a directory stands for what is in it, and `dir/**` for the directory too.
    pub(super) fn matches(&self, path: &Path, roots: &[PathBuf], home: Option<&Path>, is_wide: bool) -> bool {
        let below = |base: &Path| path.strip_prefix(base).is_ok_and(|rest| self.fits(rest, is_wide));
        match self.base {
            Base::Roots => roots.iter().any(|root| below(root)),
            Base::Top => below(Path::new("/")),
            Base::Home => home.is_some_and(below),
        }
    }

    /// Whether something below a directory could match.
    pub(super) fn is_below(&self, dir: &Path, roots: &[PathBuf], home: Option<&Path>) -> bool {
        let below = |base: &Path| match dir.strip_prefix(base) {
            Ok(rest) => self.could_go_on(rest),
            // All that it is for lies below.
            Err(_) => base.starts_with(dir),
        };
        match self.base {
            Base::Roots => roots.iter().any(|root| below(root)),
            Base::Top => below(Path::new("/")),
            Base::Home => home.is_some_and(below),
        }
    }

    /// Whether a path with the marks of a shell in it may be one that matches, or with `goes_down` one above that.
    pub(super) fn may_fit(&self, shape: &Path, roots: &[PathBuf], home: Option<&Path>, goes_down: bool) -> bool {
        let below = |base: &Path| match shape.strip_prefix(base) {
            Ok(rest) => self.may_go_on(rest, goes_down),
            // One of its marks may stand for a name of the base.
            Err(_) => shape.to_string_lossy().contains(MARKS),
        };
        match self.base {
            Base::Roots => roots.iter().any(|root| below(root)),
            Base::Top => below(Path::new("/")),
            Base::Home => home.is_some_and(below),
        }
    }

    fn may_go_on(&self, shape: &Path, goes_down: bool) -> bool {
        let mut names = shape.components().map(|part| part.as_os_str().to_string_lossy());
        for part in &self.parts {
            match (part, names.next()) {
                (Part::Any, _) => return true,
                (Part::One(_), None) => return goes_down,
                (Part::One(glob), Some(name)) if glob.is_literal() && !may_be(&name, glob.text()) => return false,
                (Part::One(glob), Some(name)) if !name.contains(MARKS) && !glob.matches(&name) => return false,
                (Part::One(glob), Some(name)) => {
                    let before = name.split(MARKS).next().unwrap_or_default();
                    if !before.starts_with(glob.prefix()) && !glob.prefix().starts_with(before) {
                        return false;
                    }
                }
            }
        }
        // A name written out may be a directory's.
        true
    }

    /// Whether parts are left for names behind those of a directory.
    fn could_go_on(&self, dir: &Path) -> bool {
        let mut names = dir.components().map(|part| part.as_os_str().to_string_lossy());
        for part in &self.parts {
            match (part, names.next()) {
                (Part::Any, _) | (_, None) => return true,
                (Part::One(glob), Some(name)) if !glob.matches(&name) => return false,
                (Part::One(_), Some(_)) => {}
            }
        }
        false
    }

    /// Whether every name that steers later commands is written out in the pattern.
    pub(super) fn spells(&self, path: &Path) -> bool {
        let spelled = |name: &str| {
            self.parts.iter().any(|part| matches!(part, Part::One(glob) if glob.is_literal() && glob.text() == name))
        };
        steering::names(path)
            .all(|name| name.text.to_str().is_some_and(|text| !steering::steers(name) || spelled(text)))
    }

    /// Whether it has a part of which `is_named` says that it names the file.
    pub(super) fn has_part(&self, is_named: impl Fn(&str) -> bool) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::One(glob) if is_named(glob.text())))
    }

    /// Whether the file's own name is written out in the pattern.
    pub(super) fn spells_name(&self, path: &Path) -> bool {
        let is_name = |glob: &Glob| glob.is_literal() && path.file_name().is_some_and(|name| name == glob.text());
        matches!(self.parts.last(), Some(Part::One(glob)) if is_name(glob))
    }

    fn fits(&self, path: &Path, is_wide: bool) -> bool {
        // Most patterns differ from a path in one of its first names.
        for (part, name) in self.parts.iter().zip(path.components()) {
            match (part, name) {
                (Part::Any, _) => break,
                (Part::One(glob), Component::Normal(name)) if name.to_str().is_some_and(|name| glob.matches(name)) => {}
                // What is no text is only looked at below.
                (Part::One(_), Component::Normal(name)) if name.to_str().is_none() => break,
                (Part::One(_), _) => return false,
            }
        }
        let mut names = Vec::new();
        for part in path.components() {
            match part {
                Component::Normal(name) => match name.to_str() {
                    Some(name) => names.push(std::borrow::Cow::Borrowed(name)),
                    // What is no text is only denied.
                    None if is_wide => names.push(name.to_string_lossy()),
                    None => return false,
                },
                _ => return false,
            }
        }
        let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
        fits(&self.parts, &names, is_wide)
    }
}

/// Which beginnings of the path the parts so far can be.
fn fits(parts: &[Part], names: &[&str], is_wide: bool) -> bool {
    let mut reach = vec![false; names.len() + 1];
    reach[0] = true;
    for (at, part) in parts.iter().enumerate() {
        let mut next = vec![false; names.len() + 1];
        match part {
            Part::Any => {
                let is_last = at + 1 == parts.len();
                let first = reach.iter().position(|reached| *reached);
                if let Some(first) = first {
                    // At the end at least one name, else the directory itself would be meant.
                    let from = if is_last && !is_wide && !parts[..at].is_empty() { first + 1 } else { first };
                    next.iter_mut().skip(from).for_each(|reached| *reached = true);
                }
            }
            Part::One(glob) => {
                for (i, name) in names.iter().enumerate() {
                    next[i + 1] = reach[i] && glob.matches(name);
                }
            }
        }
        reach = next;
    }
    // A name written out may be a directory's.
    let is_name = matches!(parts.last(), Some(Part::One(glob)) if glob.is_literal());
    reach[names.len()] || is_wide && is_name && reach.contains(&true)
}
