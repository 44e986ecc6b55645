//! What the person has the system keep for an agent: values of variables, below the agent's name.
//!
//! The kernel's keyring on Linux, the keychain on macOS. Invariants: a value is in no error and in no debug output; what is
//! kept for one agent is never given for another.

use super::lock;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};

/// What our entries are called beside those of other programs.
const SERVICE: &str = "acp-tui";

/// Where values are kept.
#[derive(Clone, Default)]
pub enum Keyring {
    /// Nowhere.
    #[default]
    Missing,
    System,
    /// In this process alone, by the names of agents.
    Memory(Arc<Mutex<BTreeMap<String, Vec<u8>>>>),
}

/// A variable's value.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    pub name: String,
    pub value: String,
    /// It is no secret, as the agent has said.
    pub is_open: bool,
}

impl Keyring {
    /// All that is kept for an agent.
    ///
    /// # Errors
    /// When there is no keyring, or it may not be used; in words for people.
    pub fn read(&self, agent: &str) -> Result<Vec<Kept>, String> {
        // What is not ours to read is worth nothing.
        Ok(self.load(agent)?.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default())
    }

    /// Keeps values beside those that are kept of other variables.
    ///
    /// # Errors
    /// The same, and where it has no room.
    pub fn keep(&self, agent: &str, new: Vec<Kept>) -> Result<(), String> {
        let mut all = self.read(agent)?;
        all.retain(|old| new.iter().all(|one| one.name != old.name));
        all.extend(new);
        let bytes = serde_json::to_vec(&all).map_err(|_| "the values cannot be written".to_owned())?;
        match self {
            Self::Missing => Err(missing()),
            Self::System => apart(agent, |entry| entry.set_secret(&bytes).map_err(words)),
            Self::Memory(kept) => {
                lock(kept).insert(agent.to_owned(), bytes);
                Ok(())
            }
        }
    }

    /// Removes all that is kept for an agent, and gives the names of it.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub fn forget(&self, agent: &str) -> Result<Vec<String>, String> {
        if self.load(agent)?.is_none() {
            return Ok(Vec::new());
        }
        let names = self.read(agent)?.into_iter().map(|kept| kept.name).collect();
        match self {
            Self::Missing => {}
            Self::System => apart(agent, |entry| entry.delete_credential().map_err(words))?,
            Self::Memory(kept) => drop(lock(kept).remove(agent)),
        }
        Ok(names)
    }

    fn load(&self, agent: &str) -> Result<Option<Vec<u8>>, String> {
        match self {
            Self::Missing => Err(missing()),
            Self::System => apart(agent, |entry| match entry.get_secret() {
                Ok(bytes) => Ok(Some(bytes)),
                Err(keyring::Error::NoEntry) => Ok(None),
                Err(error) => Err(words(error)),
            }),
            Self::Memory(kept) => Ok(lock(kept).get(agent).cloned()),
        }
    }
}

/// On a thread of its own: to look into the kernel's keyring may give a thread another session keyring, which programs that
/// it starts would have, too.
fn apart<T: Send>(agent: &str, work: impl FnOnce(keyring::Entry) -> Result<T, String> + Send) -> Result<T, String> {
    let work = || {
        let entry = || keyring::Entry::new(SERVICE, agent).map_err(words);
        // The first one is about the session keyring that was there before it.
        entry()?;
        work(entry()?)
    };
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("keyring".into()).spawn_scoped(scope, work);
        thread.map_err(|error| error.to_string())?.join().unwrap_or_else(|_| Err("it cannot be used".to_owned()))
    })
}

fn missing() -> String {
    "there is no keyring".to_owned()
}

/// An error without what it may hold.
fn words(error: keyring::Error) -> String {
    match error {
        keyring::Error::PlatformFailure(why) | keyring::Error::NoStorageAccess(why) => why.to_string(),
        keyring::Error::NoEntry => "it may not be used here".to_owned(),
        keyring::Error::TooLong(..) => "too long for it".to_owned(),
        _ => "it does not take them".to_owned(),
    }
}

impl fmt::Debug for Keyring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Missing => "Missing",
            Self::System => "System",
            Self::Memory(_) => "Memory(…)",
        })
    }
}

impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kept").field("name", &self.name).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(name: &str, value: &str) -> Kept {
        Kept { name: name.into(), value: value.into(), is_open: false }
    }

    #[test]
    fn values_are_kept_by_agent_and_variable_until_they_are_removed() {
        let keyring = Keyring::Memory(Arc::default());
        assert_eq!(keyring.forget("a"), Ok(Vec::new()));
        keyring.keep("a", vec![kept("KEY", "hunter1"), kept("REGION", "eu")]).unwrap();
        keyring.keep("a", vec![kept("KEY", "hunter2")]).unwrap();
        assert_eq!(keyring.read("a"), Ok(vec![kept("REGION", "eu"), kept("KEY", "hunter2")]));
        assert_eq!(keyring.read("b"), Ok(Vec::new()));
        assert!(!format!("{keyring:?} {:?}", keyring.read("a")).contains("hunter"));
        assert_eq!(keyring.forget("a"), Ok(vec!["REGION".to_owned(), "KEY".to_owned()]));
        assert_eq!(keyring.read("a"), Ok(Vec::new()));
    }

    #[test]
    fn without_a_keyring_it_is_said_and_what_is_none_of_ours_is_worth_nothing() {
        for told in
            [Keyring::Missing.keep("a", vec![kept("KEY", "hunter2")]).unwrap_err(), words(keyring::Error::NoEntry)]
        {
            assert!(!told.is_empty() && !told.contains("hunter"), "{told}");
        }
        let others = Keyring::Memory(Arc::new(Mutex::new(BTreeMap::from([("a".to_owned(), b"hunter2".to_vec())]))));
        assert_eq!(others.read("a"), Ok(Vec::new()));
        assert_eq!(others.forget("a"), Ok(Vec::new()));
        others.keep("a", vec![kept("KEY", "x")]).unwrap();
        assert_eq!(others.read("a"), Ok(vec![kept("KEY", "x")]));
        let secret = keyring::Error::BadEncoding(b"hunter2".to_vec());
        assert_eq!(words(secret), "it does not take them");
    }
}
