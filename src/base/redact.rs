//! Leaves out of a text what looks like a secret.
//!
//! Knows the shapes that keys and tokens usually have, and no more: what has another shape stays. Invariant: a text
//! without such a shape is not changed.

use regex_automata::meta::Regex;
use std::sync::LazyLock;

/// Stands for what is left out.
const MASK: &str = "[redacted]";

const SHAPES: &[&str] = &[
    // Private keys.
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\z)",
    // Keys that say by their beginning whose they are.
    r"\b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{16,}",
    r"\bgh[opusr]_[A-Za-z0-9]{16,}|\bgithub_pat_[A-Za-z0-9_]{16,}|\bglpat-[A-Za-z0-9_-]{16,}",
    r"\bxox[abeprs]-[A-Za-z0-9-]{10,}",
    r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bAIza[A-Za-z0-9_-]{30,}",
    r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+",
    // What is called a secret.
    r"(?i)\bbearer\s+[A-Za-z0-9._~+/=-]{8,}",
    r#"(?i)(?:api[_-]?key|access[_-]?key|auth[_-]?token|token|secret|passwd|password)["']?\s*[:=]\s*["']?[^\s"',;]{6,}"#,
    r"://[^\s/:@]+:[^\s/@]+@",
];

static ALL: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new_many(SHAPES).ok());

/// The text without them; nothing when there are none in it. Without the shapes all of it is left out.
pub fn masked(text: &str) -> Option<String> {
    let Some(shapes) = &*ALL else { return Some(MASK.to_owned()) };
    let (mut out, mut at) = (None::<String>, 0);
    for found in shapes.find_iter(text) {
        let out = out.get_or_insert_default();
        out.push_str(text.get(at..found.start()).unwrap_or_default());
        out.push_str(MASK);
        at = found.end();
    }
    out.map(|out| out + text.get(at..).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_like_a_secret_is_left_out_and_nothing_else() {
        assert_eq!(masked("git log --oneline"), None);
        assert_eq!(masked("deploy --token=abcdef123456 now").as_deref(), Some("deploy --[redacted] now"));
        assert_eq!(masked("curl https://me:pass@host/").as_deref(), Some("curl https[redacted]host/"));
    }
}
