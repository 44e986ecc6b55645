//! What a path is at one moment: nothing, a file, a link.
//!
//! Names content by its hash; who has the content is `store`.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};

/// The SHA-1 of a git blob with the raw bytes of a file, or of the target of a link.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Oid(pub [u8; 20]);

impl fmt::Display for Oid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Oid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Oid {
    /// From forty hexadecimal digits.
    pub fn parse(hex: &str) -> Option<Self> {
        let mut bytes = [0; 20];
        if hex.len() != 40 || !hex.is_ascii() {
            return None;
        }
        for (at, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(hex.get(at * 2..at * 2 + 2)?, 16).ok()?;
        }
        Some(Self(bytes))
    }
}

impl Serialize for Oid {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Oid {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let hex = String::deserialize(deserializer)?;
        Self::parse(&hex).ok_or_else(|| serde::de::Error::custom("not forty hexadecimal digits"))
    }
}

/// A path at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    #[default]
    Absent,
    File {
        oid: Oid,
        /// Permission bits, at most 0o7777.
        mode: u32,
        size: u64,
    },
    /// A symbolic link; its content is the target.
    Link { oid: Oid, size: u64 },
    /// A file whose content was not kept; `mark` differs when it was touched.
    Unkept { mark: u64, mode: u32, size: u64 },
}

impl State {
    pub const fn oid(&self) -> Option<Oid> {
        match self {
            Self::File { oid, .. } | Self::Link { oid, .. } => Some(*oid),
            Self::Absent | Self::Unkept { .. } => None,
        }
    }

    pub const fn mode(&self) -> Option<u32> {
        match self {
            Self::File { mode, .. } | Self::Unkept { mode, .. } => Some(*mode),
            Self::Absent | Self::Link { .. } => None,
        }
    }

    pub const fn size(&self) -> u64 {
        match self {
            Self::Absent => 0,
            Self::File { size, .. } | Self::Link { size, .. } | Self::Unkept { size, .. } => *size,
        }
    }

    pub const fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }
}

/// A path that is not what it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Below the root.
    pub path: PathBuf,
    pub before: State,
    pub after: State,
}

/// Nothing is lost with an empty file.
pub fn content(state: &State) -> Option<Oid> {
    match state {
        State::File { size: 0, .. } => None,
        state => state.oid(),
    }
}

/// A file that a decision would change.
#[derive(Clone, Copy, Debug)]
pub struct Going<'a> {
    pub path: &'a Path,
    /// Whether it is there now, and would be.
    pub is_there: (bool, bool),
    /// It is left alone anyway; only what it is a part of is asked for.
    pub stays: bool,
}

/// Files that are git's by their form, or may hold what git has lost.
#[derive(Debug, Default)]
pub struct OfGit {
    /// By the repository; a history that is one file by its own path.
    pub parts: BTreeMap<PathBuf, BTreeSet<PathBuf>>,
    /// Those among them that were there before and would stay otherwise than they were.
    pub changed: BTreeSet<PathBuf>,
    /// The repositories of which something is among them for which git runs a program.
    pub run: BTreeSet<PathBuf>,
    /// What may have a copy of what a repository has lost.
    pub copies: BTreeSet<PathBuf>,
    /// What may be such a copy itself.
    pub alike: BTreeSet<PathBuf>,
}
