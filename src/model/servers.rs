//! Servers of tools that a session can have, by their names, and those that the person has switched off for it.
//!
//! Knows no commands and no values. Invariant: what is switched counts when the session is opened the next time.

use std::collections::BTreeSet;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Servers {
    /// Those that there were when it was opened last, in the order in which they are given.
    found: Vec<String>,
    off: BTreeSet<String>,
}

impl Servers {
    /// Each, and whether it is given the next time.
    pub fn all(&self) -> impl Iterator<Item = (&str, bool)> {
        self.found.iter().map(|name| (name.as_str(), self.is_on(name)))
    }

    pub fn is_on(&self, name: &str) -> bool {
        !self.off.contains(name)
    }

    pub(super) fn find(&mut self, names: Vec<String>) {
        self.found = names;
    }

    /// False for one that there is not.
    pub(super) fn switch(&mut self, name: &str, on: bool) -> bool {
        if on {
            self.off.remove(name);
        } else if self.found.iter().any(|found| found == name) {
            self.off.insert(name.to_owned());
        }
        self.is_on(name) == on
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_off_stays_off_and_what_there_is_not_is_not_switched() {
        let mut servers = Servers::default();
        assert!(!servers.switch("db", false));
        servers.find(vec!["db".into(), "docs".into()]);
        assert!(servers.switch("db", false));
        servers.find(vec!["docs".into(), "db".into()]);
        assert_eq!(servers.all().collect::<Vec<_>>(), [("docs", true), ("db", false)]);
        assert!(servers.switch("db", true) && servers.is_on("db"));
    }
}
