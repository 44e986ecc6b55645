//! `@path` in a prompt: files that go along as links.
//!
//! Only what exists below the session's directory or is named by an absolute path; the text of the prompt stays as it
//! was typed. Nothing is read.

use crate::base::paths;
use crate::model::event::Link;
use std::path::Path;

/// Links of one prompt; more are left as text.
const MAX_LINKS: usize = 64;

pub fn links(text: &str, cwd: &Path) -> Vec<Link> {
    let mut links: Vec<Link> = Vec::new();
    for word in text.split_whitespace() {
        let Some(name) = word.strip_prefix('@') else { continue };
        let found = [name, name.trim_end_matches([',', '.', ';', ':', '!', '?', ')', ']', '"', '\''])]
            .into_iter()
            .filter(|n| !n.is_empty())
            .find(|n| cwd.join(n).exists());
        let Some(name) = found else { continue };
        let uri = paths::file_uri(&paths::normalize(&cwd.join(name)));
        if links.len() < MAX_LINKS && !links.iter().any(|l| l.uri == uri) {
            links.push(Link { name: name.to_owned(), uri });
        }
    }
    links
}
