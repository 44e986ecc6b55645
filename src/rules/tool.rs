//! The tools that patterns and requests name.
//!
//! Invariants: a pattern that denies or asks covers every tool of its kind, whatever name of them it has; one that allows
//! covers no more than its name says.

use crate::base::tools::{self, Does};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Bash,
    Read,
    Edit,
    Fetch,
    Mcp,
    /// A tool that is only known by its name.
    Other,
}

impl Kind {
    pub(super) const COUNT: usize = 6;
}

/// What of its kind a tool does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    All,
    /// Of reads.
    Search,
    /// Of edits: what is in a file.
    Write,
    Delete,
    Move,
    /// Of fetches: without an address.
    WebSearch,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tool {
    pub kind: Kind,
    part: Part,
    /// In small letters; of a tool of a server as it is.
    name: String,
    /// What it is called is what it does: agents name others as they like.
    is_own: bool,
}

/// What patterns call that which a tool does.
const fn kind_of(does: Does) -> (Kind, Part) {
    match does {
        Does::Runs => (Kind::Bash, Part::All),
        Does::Reads => (Kind::Read, Part::All),
        Does::Searches => (Kind::Read, Part::Search),
        Does::Edits => (Kind::Edit, Part::All),
        Does::Writes => (Kind::Edit, Part::Write),
        Does::Deletes => (Kind::Edit, Part::Delete),
        Does::Moves => (Kind::Edit, Part::Move),
        Does::Fetches => (Kind::Fetch, Part::All),
        Does::SearchesWeb => (Kind::Fetch, Part::WebSearch),
        Does::Calls => (Kind::Mcp, Part::All),
    }
}

/// How kinds are called in patterns.
const KINDS: [(Kind, &str); 5] =
    [(Kind::Bash, "Bash"), (Kind::Read, "Read"), (Kind::Edit, "Edit"), (Kind::Fetch, "Fetch"), (Kind::Mcp, "Mcp")];
/// A call that says nothing of its kind and has no name.
const NAMELESS: &str = "other";
/// What tools of servers are called by: `mcp__SERVER__TOOL`.
const OF_SERVER: &str = "mcp__";

impl Tool {
    /// The tool of this name; upper and lower case are the same.
    pub fn named(name: &str) -> Option<Self> {
        if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':')) {
            return None;
        }
        if let Some(rest) = of_server(name) {
            let (part, name, is_own) = (Part::All, name.to_owned(), rest.contains("__"));
            return Some(Self { kind: Kind::Mcp, part, name, is_own });
        }
        let name = name.to_ascii_lowercase();
        let Some((does, is_own)) = tools::named(&name) else {
            return Some(Self { kind: Kind::Other, part: Part::All, name, is_own: false });
        };
        let (kind, part) = kind_of(does);
        Some(Self { kind, part, name, is_own })
    }

    /// In small letters.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// It is one that requests have here.
    pub(super) const fn is_own(&self) -> bool {
        self.is_own
    }

    /// What a redirection or a command does to its file, which may be anything of that kind.
    pub(super) const fn of_file(is_write: bool) -> Self {
        let kind = if is_write { Kind::Edit } else { Kind::Read };
        Self { kind, part: Part::All, name: String::new(), is_own: true }
    }

    /// What a command does with an address.
    pub(super) const fn of_address() -> Self {
        Self { kind: Kind::Fetch, part: Part::All, name: String::new(), is_own: true }
    }

    /// `SERVER/TOOL`, where its name says that.
    pub fn of_server(&self) -> Option<String> {
        let rest = of_server(&self.name)?;
        Some(rest.replacen("__", "/", 1))
    }

    /// Whether a pattern for this tool that denies or asks is for the other one too.
    pub fn covers(&self, other: &Self) -> bool {
        self.kind == other.kind && (self.kind != Kind::Other || self.name == other.name)
    }

    /// The same of a pattern that allows.
    pub(super) fn allows(&self, other: &Self) -> bool {
        let is_part = match self.part {
            Part::All => self.kind != Kind::Other,
            // What writes a file is called an edit by most agents.
            Part::Write => other.part == Part::Write || other.name == "edit",
            part => other.part == part,
        };
        self.kind == other.kind && (self.name == other.name || is_part && other.is_own)
    }

    /// Whether it only searches the web, for which it is given no address.
    pub(super) fn is_web_search(&self) -> bool {
        self.part == Part::WebSearch
    }

    /// Whether it is what calls are called that have no name and say nothing of their kind.
    pub(super) fn is_nameless(&self) -> bool {
        self.name == NAMELESS
    }

    /// Whether its name means nothing here.
    pub fn is_unknown(&self) -> bool {
        self.kind == Kind::Other && !self.is_nameless()
    }

    /// What is to be said of a pattern that has a name which means nothing here, with the name as it is written.
    pub(super) fn unknown(&self, written: &str) -> Option<String> {
        let meant = self.meant().map(|name| format!("; did you mean {name}?")).unwrap_or_default();
        self.is_unknown().then(|| format!("unknown tool {written}: holds only for calls of that name{meant}"))
    }

    /// A known name that is like its own.
    pub fn meant(&self) -> Option<String> {
        let names = KINDS.iter().map(|(_, name)| name.to_ascii_lowercase());
        let far = if self.name.len() > 4 { 2 } else { 1 };
        let alike = names.chain(tools::names().map(str::to_owned)).map(|name| (distance(&name, &self.name), name));
        let meant = alike.filter(|(distance, _)| *distance <= far).min_by_key(|(distance, _)| *distance);
        meant.map(|(_, name)| capital(&name))
    }
}

/// What follows the sign of a tool of a server.
fn of_server(name: &str) -> Option<&str> {
    let start = name.get(..OF_SERVER.len()).filter(|start| start.eq_ignore_ascii_case(OF_SERVER))?;
    name.get(start.len()..).filter(|rest| !rest.is_empty())
}

/// Whether a text names a server, or a tool of one: none of its parts is empty.
pub fn is_of_server(text: &str) -> bool {
    text.split('/').all(|part| !part.trim().is_empty())
}

fn capital(name: &str) -> String {
    let (first, rest) = name.split_at(name.len().min(1));
    first.to_ascii_uppercase() + rest
}

/// How many letters have to be put in, taken out, changed or exchanged with the next one to make one name of the other.
fn distance(one: &str, other: &str) -> usize {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut rows: Vec<Vec<usize>> = vec![(0..=other.len()).collect()];
    for (i, a) in one.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, b) in other.iter().enumerate() {
            let mut least = (rows[i][j] + usize::from(a != b)).min(rows[i][j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *a == other[j - 1] && one[i - 1] == *b {
                least = least.min(rows[i - 1][j - 1] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[one.len()][other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> Tool {
        Tool::named(name).unwrap()
    }

    #[test]
    fn what_patterns_call_a_kind_is_all_of_it() {
        for (kind, name) in KINDS {
            assert_eq!((named(name).kind, named(name).part), (kind, Part::All));
        }
    }

    #[test]
    fn a_name_that_means_nothing_is_told_with_one_that_is_like_it() {
        let said = |name: &str| named(name).unknown(name);
        let told = |name: &str, meant: &str| {
            let meant = if meant.is_empty() { String::new() } else { format!("; did you mean {meant}?") };
            assert_eq!(said(name), Some(format!("unknown tool {name}: holds only for calls of that name{meant}")));
        };
        told("bsah", "Bash");
        told("bsh", "Bash");
        told("wrte", "Write");
        told("edits", "Edit");
        told("webfetsh", "Webfetch");
        told("task", "");
        told("exitplanmode", "");
        for name in ["Bash", "notebook_edit", "NotebookEdit", "run_shell_command", "Other", "mcp__tracker__list"] {
            assert_eq!(said(name), None, "{name}");
        }
    }
}
