//! What the repository around a session's directory says of it: its branch, and how much of it is in no commit.
//!
//! Found beside the screen, once for each session that begins there. Invariant: what is kept is of the session that it was
//! asked for.

use crate::base::{human, sanitize};
use crate::model::ids::SessionKey;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Standing {
    pub branch: String,
    /// Files; nothing where counting them takes too long.
    pub uncommitted: Option<usize>,
}

impl Standing {
    pub fn branch(&self) -> String {
        sanitize::line(&self.branch).into_owned()
    }

    /// In words, the longest first.
    pub fn words(&self) -> Vec<String> {
        let branch = self.branch();
        let counted = self.uncommitted.filter(|files| *files > 0);
        let whole = counted.map(|files| format!("{branch}, {} not committed", human::count(files as u64, "file")));
        whole.into_iter().chain([branch]).collect()
    }
}

/// The newest that was asked for, and what was found.
#[derive(Debug, Default)]
pub struct Standings(Option<(SessionKey, Option<Standing>)>);

impl Standings {
    /// Whether it is to be found now; asked for once.
    pub fn wants(&mut self, at: SessionKey) -> bool {
        let is_new = self.0.as_ref().is_none_or(|(of, _)| *of != at);
        if is_new {
            self.0 = Some((at, None));
        }
        is_new
    }

    pub fn told(&mut self, at: SessionKey, standing: Option<Standing>) {
        if let Some((of, found)) = &mut self.0
            && *of == at
        {
            *found = standing;
        }
    }

    pub fn of(&self, at: SessionKey) -> Option<&Standing> {
        self.0.as_ref().filter(|(of, _)| *of == at)?.1.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_is_of_the_session_it_was_asked_for() {
        let (one, other) = (SessionKey::FIRST, SessionKey(2));
        let standing = |uncommitted| Standing { branch: "ma\u{7}in".into(), uncommitted };
        let mut all = Standings::default();
        assert!(all.wants(one) && !all.wants(one));
        all.told(one, Some(standing(Some(1))));
        assert_eq!(all.of(one).unwrap().words(), ["main, 1 file not committed", "main"]);
        assert!(all.wants(other) && all.of(one).is_none());
        all.told(one, Some(standing(None)));
        assert_eq!(all.of(other), None, "it came too late");
        assert_eq!(standing(None).words(), ["main"]);
        assert_eq!(standing(Some(0)).words(), ["main"]);
    }
}
