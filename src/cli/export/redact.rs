//! Leaves out of an export what looks like a secret, and where the person's home directory is.
//!
//! Knows the shapes that keys and tokens usually have, and no more: what has another shape stays. Invariant: a text
//! without such a shape is not changed.

use super::super::usage::Usage;
use regex_automata::meta::Regex;
use std::path::Path;

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

pub struct Redaction {
    shapes: Regex,
    home: Option<String>,
}

impl Redaction {
    pub fn new(home: Option<&Path>) -> Result<Self, Usage> {
        let shapes = Regex::new_many(SHAPES).map_err(|error| Usage(error.to_string()))?;
        let home = home.map(|home| home.to_string_lossy().into_owned()).filter(|home| home.len() > 1);
        Ok(Self { shapes, home })
    }

    pub fn text(&self, text: &str) -> String {
        let (mut out, mut at) = (String::with_capacity(text.len()), 0);
        for found in self.shapes.find_iter(text) {
            out.push_str(&text[at..found.start()]);
            out.push_str(MASK);
            at = found.end();
        }
        out.push_str(&text[at..]);
        match &self.home {
            Some(home) => out.replace(home, "~"),
            None => out,
        }
    }
}
