//! How agents were reached that were typed and not configured, so that a session goes on in the same way: framing, transport and
//! headers.
//!
//! Invariants: of a header its name is kept, and its value only where that is a variable with a word for the way to log in
//! before it; what is kept is bounded.

use super::args::Common;
use super::usage::Usage;
use crate::config::schema::ReachConfig;
use crate::remote::Header;
use crate::store::private::open;
use crate::store::replace::{Durability, Replacement};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::{self, Read as _, Write as _};
use std::path::Path;
use tracing::warn;

const FILE: &str = "reached.json";
const MAX_BYTES: u64 = 1 << 20;
const MAX_KEPT: usize = 200;

/// The newest last.
#[derive(Default, Serialize, Deserialize)]
struct File(Vec<Kept>);

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct Kept {
    /// The command line, or the address.
    agent: String,
    framing: Option<String>,
    transport: Option<String>,
    /// By their names, what their values are filled in from.
    headers: BTreeMap<String, Option<String>>,
}

/// Remembers what was typed, if anything.
pub fn keep(state: &Path, agent: &str, common: &Common) {
    let typed = &common.reach;
    if typed.framing.is_none() && typed.transport.is_none() && typed.headers.is_empty() {
        return;
    }
    let header = |header: &Header| (header.name.clone(), template(&header.value).map(str::to_owned));
    let kept = Kept {
        agent: agent.to_owned(),
        framing: typed.framing.map(|framing| framing.name().to_owned()),
        transport: typed.transport.clone(),
        headers: typed.headers.iter().map(header).collect(),
    };
    let mut all = read(state);
    all.retain(|other| other.agent != agent);
    all.push(kept);
    if let Err(error) = write(state, all) {
        warn!(kind = ?error.kind(), "how the agent was reached is not remembered");
    }
}

/// The same, completed with what was remembered; or which header has to be typed again.
pub fn recall(state: &Path, agent: &str, reach: ReachConfig, common: &Common) -> Result<ReachConfig, Usage> {
    let Some(kept) = read(state).into_iter().rfind(|kept| kept.agent == agent) else { return Ok(reach) };
    let mut headers = BTreeMap::new();
    for (name, value) in kept.headers {
        match value {
            Some(value) => drop(headers.insert(name, value)),
            None if common.reach.headers.iter().any(|header| header.name == name) => {}
            None => {
                let how = format!("--header '{name}: …'");
                return Err(Usage(format!(
                    "the value of the header {name} was typed and is kept nowhere; give {how} again"
                )));
            }
        }
    }
    Ok(ReachConfig { framing: kept.framing, transport: kept.transport, headers, ..reach })
}

/// A value that has no secret in it: a variable, perhaps behind one word.
fn template(value: &str) -> Option<&str> {
    let variable = match value.split_once(' ') {
        Some(("Bearer" | "Basic" | "Token", variable)) => variable,
        Some(_) => return None,
        None => value,
    };
    let name = variable.strip_prefix("${")?.strip_suffix('}')?;
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric());
    is_name.then_some(value)
}

fn read(state: &Path) -> Vec<Kept> {
    let mut text = Vec::new();
    let read = open(&state.join(FILE)).and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut text));
    if read.is_err() || text.len() as u64 > MAX_BYTES {
        return Vec::new();
    }
    // What cannot be read is written anew.
    serde_json::from_slice::<File>(&text).unwrap_or_default().0
}

fn write(state: &Path, mut all: Vec<Kept>) -> io::Result<()> {
    all.drain(..all.len().saturating_sub(MAX_KEPT));
    let mut file = Replacement::of(&state.join(FILE))?;
    file.write_all(&serde_json::to_vec(&File(all))?)?;
    file.finish(Durability::None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Framing;

    fn typed(headers: &[&str]) -> Common {
        let mut common = Common::default();
        common.reach.framing = Some(Framing::Lengths);
        common.reach.transport = Some("http".into());
        common.reach.headers = headers.iter().map(|header| Header::typed(header).unwrap()).collect();
        common
    }

    #[test]
    fn s_076_what_was_typed_is_remembered_without_the_values_of_headers() {
        let state = tempfile::tempdir().unwrap();
        let recall = |agent, common: &Common| recall(state.path(), agent, ReachConfig::default(), common);
        assert_eq!(recall("a", &Common::default()).unwrap(), ReachConfig::default());
        keep(state.path(), "a", &Common::default());
        assert!(!state.path().join(FILE).exists(), "nothing was typed");
        keep(state.path(), "a", &typed(&["Authorization: Bearer ${TOKEN}", "X-Key: ${KEY}"]));
        keep(state.path(), "b", &typed(&["Authorization: Bearer top-secret", "Cookie: ${A}top-secret", "X: a ${B}"]));
        let reach = recall("a", &Common::default()).unwrap();
        assert_eq!((reach.framing.as_deref(), reach.transport.as_deref()), (Some("content-length"), Some("http")));
        let headers: Vec<_> = reach.headers.into_iter().collect();
        let wanted = [("authorization", "Bearer ${TOKEN}"), ("x-key", "${KEY}")];
        assert_eq!(headers, wanted.map(|(name, value)| (name.to_owned(), value.to_owned())));
        let why = recall("b", &Common::default()).unwrap_err().to_string();
        assert!(why.contains("give --header 'authorization: …' again"), "{why}");
        assert!(recall("b", &typed(&["Authorization: x", "Cookie: y", "X: z"])).is_ok());
        assert!(!fs::read_to_string(state.path().join(FILE)).unwrap().contains("top-secret"));
        for n in 0..MAX_KEPT + 5 {
            keep(state.path(), &n.to_string(), &typed(&[]));
        }
        assert_eq!(read(state.path()).len(), MAX_KEPT);
        fs::write(state.path().join(FILE), "[{\"agent\":7}]").unwrap();
        assert!(read(state.path()).is_empty());
    }
}
