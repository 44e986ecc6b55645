//! The tools that patterns and requests name.
//!
//! Invariant: a pattern for a kind covers every tool of that kind, one for a tool only that tool.

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

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tool {
    pub kind: Kind,
    /// In small letters.
    name: String,
    /// Named like its kind: in a pattern it covers all of them.
    is_general: bool,
}

/// Tools of a kind, the first being the kind's own name.
const KINDS: &[(Kind, &[&str])] = &[
    (Kind::Bash, &["bash", "shell", "terminal", "execute"]),
    (Kind::Read, &["read", "grep", "glob", "search", "ls"]),
    (Kind::Edit, &["edit", "write", "create", "delete", "move", "multiedit"]),
    (Kind::Fetch, &["fetch", "webfetch"]),
    (Kind::Mcp, &["mcp"]),
];

impl Tool {
    /// The tool of this name; upper and lower case are the same.
    pub fn named(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':')) {
            return None;
        }
        let row = KINDS.iter().find(|(_, names)| names.contains(&name.as_str()));
        let is_general = row.is_some_and(|(_, names)| names.first() == Some(&name.as_str()));
        Some(Self { kind: row.map_or(Kind::Other, |(kind, _)| *kind), name, is_general })
    }

    /// In small letters.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// What a redirection does to its file.
    pub(super) fn of_file(is_write: bool) -> Self {
        let (kind, name) = if is_write { (Kind::Edit, "edit") } else { (Kind::Read, "read") };
        Self { kind, name: name.to_owned(), is_general: true }
    }

    /// Whether a pattern for this tool is for the other one too.
    pub fn covers(&self, other: &Self) -> bool {
        self.kind == other.kind && (self.is_general || self.name == other.name)
    }
}
