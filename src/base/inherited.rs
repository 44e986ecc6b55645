//! Which variables of this program's own environment the programs that it starts get, by name and pattern.
//!
//! Reads no environment. Invariant: what is kept back by a name is so whatever else lets it through.

/// Without these hardly any program runs, and none of them is a secret.
const NEEDED: [&str; 15] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "TERM",
    "COLORTERM",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "TZ",
    "TMPDIR",
    "XDG_*",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
];

/// Names, in which `*` is any text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inherited {
    /// The only ones besides what every program needs; all without it.
    pub only: Option<Vec<String>>,
    /// None of these.
    pub without: Vec<String>,
}

impl Inherited {
    pub fn has(&self, name: &str) -> bool {
        let is_among = |patterns: &[String]| patterns.iter().any(|pattern| fits(pattern, name));
        let is_needed = || NEEDED.iter().any(|pattern| fits(pattern, name));
        !is_among(&self.without) && self.only.as_deref().is_none_or(|only| is_among(only) || is_needed())
    }

    /// Of one program, where this is said of all: it may name others that it gets, and lose more.
    #[must_use]
    pub fn within(&self, all: &Self) -> Self {
        Self {
            only: self.only.clone().or_else(|| all.only.clone()),
            without: self.without.iter().chain(&all.without).cloned().collect(),
        }
    }
}

fn fits(pattern: &str, name: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(left) = name.strip_prefix(start) else { return false };
    let rest = rest.trim_start_matches('*');
    rest.is_empty() || left.char_indices().any(|(at, _)| left.get(at..).is_some_and(|left| fits(rest, left)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(only: Option<&[&str]>, without: &[&str]) -> Inherited {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Inherited { only: only.map(owned), without: owned(without) }
    }

    #[test]
    fn names_and_patterns_say_which_variables_go_on() {
        assert!(of(None, &[]).has("ANY_TOKEN"));
        let without = of(None, &["*_TOKEN", "AWS_*", "*KEY*ID", "SECRET"]);
        for (name, goes) in [
            ("GITHUB_TOKEN", false),
            ("TOKEN", true),
            ("TOKENS", true),
            ("AWS_", false),
            ("AWS_SECRET_ACCESS_KEY", false),
            ("MY_KEY_AND_ID", false),
            ("MY_KEY", true),
            ("SECRET", false),
            ("SECRETS", true),
            ("PATH", true),
        ] {
            assert_eq!(without.has(name), goes, "{name}");
        }
        let only = of(Some(&["MY_*", "PATH"]), &["MY_SECRET", "XDG_RUNTIME_DIR"]);
        for (name, goes) in [
            ("MY_KEY", true),
            ("MY_SECRET", false),
            ("GITHUB_TOKEN", false),
            ("HOME", true),
            ("LC_ALL", true),
            ("XDG_STATE_HOME", true),
            ("XDG_RUNTIME_DIR", false),
        ] {
            assert_eq!(only.has(name), goes, "{name}");
        }
    }

    #[test]
    fn what_is_said_of_all_holds_for_each_and_for_one_of_which_nothing_is_said() {
        let all = of(Some(&["ALL"]), &["*_TOKEN"]);
        let own = of(Some(&["OWN", "OWN_TOKEN"]), &["OTHER"]).within(&all);
        assert!(own.has("OWN") && !own.has("ALL") && !own.has("OWN_TOKEN") && !own.has("OTHER"));
        assert!(of(None, &[]).within(&all).has("ALL"));
    }
}
