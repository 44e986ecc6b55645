//! Which sessions the person has forgotten.
//!
//! Plain data; reads nothing. Invariant: a session of one agent is not taken for that of another which gives the same id.

use std::collections::HashMap;

/// By id: of which command, and what the agent calls itself.
#[derive(Clone, Debug, Default)]
pub struct Forgotten(HashMap<String, Vec<(String, String)>>);

impl Forgotten {
    pub(super) fn add(&mut self, id: String, command: &str, agent: &str) {
        self.0.entry(id).or_default().push((command.to_owned(), agent.to_owned()));
    }

    /// Of a run one command is known, that of its first agent, and of each session the name of its agent. The name
    /// tells more, where both are known.
    pub fn contains(&self, command: &str, agent: &str, id: &str) -> bool {
        let is_it = |(its_command, its_name): &(String, String)| {
            let is_named = !agent.is_empty() && !its_name.is_empty() && its_name != its_command;
            if is_named { its_name == agent } else { its_command == command }
        };
        self.0.get(id).is_some_and(|all| all.iter().any(is_it))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whose_a_forgotten_session_is_its_agents_name_says_and_else_the_command() {
        let mut forgotten = Forgotten::default();
        forgotten.add("s".into(), "two --acp", "Two");
        forgotten.add("old".into(), "one --acp", "");
        let is = |agent: &str, id: &str| forgotten.contains("one --acp", agent, id);
        assert!(is("Two", "s"), "of the second agent of the run");
        assert!(!is("One", "s"), "the first gives the same id");
        assert!(is("One", "old") && !is("Two", "t"));
    }
}
