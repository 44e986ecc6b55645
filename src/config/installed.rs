//! The agents that were added from a registry: what is started of each, without the registry.
//!
//! Downloads nothing. Invariant: what cannot be read is said and never written over.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Below the directory of agents.
pub const FILE: &str = "installed.json";
/// The form of the file.
const VERSION: u64 = 1;

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Installed {
    pub id: String,
    /// The registry that it is from. An agent is this and its id.
    pub source: String,
    pub name: String,
    pub version: String,
    pub command: String,
    #[serde(default)]
    pub args: Vec<String>,
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Of a binary: where it was unpacked, and the digest of what was downloaded.
    #[serde(default)]
    pub dir: Option<PathBuf>,
    #[serde(default)]
    pub sha256: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct Content<T> {
    version: u64,
    agents: T,
}

/// Those of the directory of agents; none when there is no such file.
///
/// # Errors
/// Says why the file cannot be read.
pub fn read(agents: &Path) -> Result<Vec<Installed>, String> {
    let Some(text) = super::load::read(&agents.join(FILE))? else { return Ok(Vec::new()) };
    let content: Content<Vec<Installed>> = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    if content.version != VERSION {
        return Err(format!("it was written by another version of this program (form {})", content.version));
    }
    Ok(content.agents)
}

/// The text of the file.
pub fn text(agents: &[Installed]) -> String {
    // Texts and maps of texts: this cannot fail.
    serde_json::to_string_pretty(&Content { version: VERSION, agents }).unwrap_or_default() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_what_is_not_ours_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(read(dir.path()), Ok(Vec::new()));
        let one = Installed {
            id: "one".into(),
            source: "public".into(),
            name: "One".into(),
            version: "1.0".into(),
            command: "npx".into(),
            args: vec!["--yes".into(), "one@1.0".into()],
            env: BTreeMap::from([("A".into(), "b".into())]),
            dir: None,
            sha256: None,
        };
        std::fs::write(dir.path().join(FILE), text(std::slice::from_ref(&one))).unwrap();
        assert_eq!(read(dir.path()), Ok(vec![one]));
        for bad in ["", "[]", "{\"version\":2,\"agents\":[]}"] {
            std::fs::write(dir.path().join(FILE), bad).unwrap();
            assert!(read(dir.path()).is_err(), "{bad}");
        }
    }
}
