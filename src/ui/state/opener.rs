//! Opening a further session: of which agent, and in which directory.
//!
//! Starts nothing and looks at no disk. The agent is chosen in a [`super::picker::Picker`]; here is the line with the
//! directory that follows it.

use crate::model::ids::AgentKey;
use crate::ui::composer::Composer;

/// An agent that a session can be opened with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Whose {
    /// One that runs.
    Running(AgentKey),
    /// One that is to be started, by the name under which it is configured.
    Configured(String),
}

/// Which files a further session works on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Files {
    /// Those of its directory.
    #[default]
    Shared,
    /// A worktree of its own, as of the last commit.
    Committed,
    /// The same with what is not committed.
    Uncommitted,
}

impl Files {
    #[must_use]
    pub const fn next(self) -> Self {
        match self {
            Self::Shared => Self::Committed,
            Self::Committed => Self::Uncommitted,
            Self::Uncommitted => Self::Shared,
        }
    }

    pub const fn words(self) -> &'static str {
        match self {
            Self::Shared => "works on these files",
            Self::Committed => "in a git worktree of its own",
            Self::Uncommitted => "in a git worktree of its own, with what is not committed",
        }
    }
}

/// A further session that the person wants.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewSession {
    pub whose: Whose,
    /// As it was typed.
    pub directory: String,
    pub files: Files,
}

/// The directory of a further session, while it is typed.
#[derive(Debug)]
pub struct Opener {
    pub whose: Whose,
    /// The agent's name, for the person.
    pub name: String,
    pub line: Composer,
    pub files: Files,
    /// Its worktree is being made.
    pub is_making: bool,
    /// Why what was typed does not do.
    pub trouble: Option<String>,
}

impl Opener {
    pub fn new(whose: Whose, name: String, directory: &str) -> Self {
        let mut line = Composer::default();
        line.set_text(directory);
        Self { whose, name, line, files: Files::default(), is_making: false, trouble: None }
    }

    pub fn wanted(&self) -> NewSession {
        let directory = self.line.text().trim().to_owned();
        NewSession { whose: self.whose.clone(), directory, files: self.files }
    }
}
