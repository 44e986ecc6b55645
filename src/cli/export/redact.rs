//! Leaves out of an export what looks like a secret, and where the person's home directory is.
//!
//! Invariant: a text with neither is not changed.

use crate::base::redact;
use std::path::Path;

pub struct Redaction {
    home: Option<String>,
}

impl Redaction {
    pub fn new(home: Option<&Path>) -> Self {
        Self { home: home.map(|home| home.to_string_lossy().into_owned()).filter(|home| home.len() > 1) }
    }

    pub fn text(&self, text: &str) -> String {
        let out = redact::masked(text).unwrap_or_else(|| text.to_owned());
        match &self.home {
            Some(home) => out.replace(home, "~"),
            None => out,
        }
    }
}
