//! Leaves out of what is passed on what looks like a secret, and where the person's home directory is.
//!
//! Looks at the disk once, for where the home directory really is. Invariant: a text with neither is not changed.

use crate::base::redact;
use regex_automata::meta::Regex;
use std::path::Path;

pub struct Redaction {
    /// The home directory as it is named and as it really is, in every way in which paths are written.
    home: Option<Regex>,
}

impl Redaction {
    pub fn new(home: Option<&Path>) -> Self {
        let real = home.and_then(|home| home.canonicalize().ok());
        let named = home.into_iter().chain(real.as_deref());
        let mut all: Vec<String> = named.map(|home| home.to_string_lossy().trim_end_matches('/').to_owned()).collect();
        all.retain(|home| home.len() > 1);
        // Where one lies in the other, the longer one is meant.
        all.sort_by_key(|home| std::cmp::Reverse(home.len()));
        all.dedup();
        // The first slash of an address in which it stands is not its own.
        let as_written = |home: &String| home.chars().enumerate().map(|(at, c)| written(c, at > 0)).collect();
        let written: Vec<String> = all.iter().map(as_written).collect();
        let regex = (!written.is_empty()).then(|| Regex::new_many(&written).ok()).flatten();
        Self { home: regex }
    }

    pub fn text(&self, text: &str) -> String {
        let text = redact::masked(text).unwrap_or_else(|| text.to_owned());
        let Some(home) = &self.home else { return text };
        let (mut out, mut at) = (String::with_capacity(text.len()), 0);
        for found in home.find_iter(&text) {
            // `/home/alice` is not below `/home/al`.
            let next = text.get(found.end()..).and_then(|rest| rest.chars().next());
            if next.is_none_or(|c| !c.is_alphanumeric() && !matches!(c, '_' | '-')) {
                out.push_str(text.get(at..found.start()).unwrap_or_default());
                out.push('~');
                at = found.end();
            }
        }
        out + text.get(at..).unwrap_or_default()
    }
}

/// What finds a character of a path: as it is, behind a backslash, or in the digits of an address.
fn written(c: char, may_repeat: bool) -> String {
    let mut bytes = [0; 4];
    let digits: Vec<String> = c.encode_utf8(&mut bytes).bytes().map(|byte| format!("%(?i:{byte:02x})")).collect();
    let digits = digits.concat();
    let plain = format!(r"\x{{{:x}}}", u32::from(c));
    match c {
        // However many there are.
        '/' if may_repeat => format!(r"(?:\\*{plain}|{digits})+"),
        c if c.is_alphanumeric() => format!("(?:{plain}|{digits})"),
        _ => format!(r"(?:\\*{plain}|{digits})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(home: &str, text: &str) -> String {
        Redaction::new(Some(Path::new(home))).text(text)
    }

    #[test]
    fn the_home_directory_is_left_out_however_it_is_written() {
        for (text, wanted) in [
            ("/home/a b/x", "~/x"),
            ("/home/a b", "~"),
            ("in /home/a b. It", "in ~. It"),
            (r"cat /home/a\ b/x", "cat ~/x"),
            (r"'/home/a b'", "'~'"),
            ("file:///home/a%20b/x", "file://~/x"),
            ("uri=%2Fhome%2fa%20b%2Fx", "uri=~%2Fx"),
            (r#""\/home\/a b\/x""#, r#""~\/x""#),
            ("/home//a b/x", "~/x"),
            ("/home/a bc and /home/a b_c, /home/a b-c", "/home/a bc and /home/a b_c, /home/a b-c"),
            ("/home/a b:/home/a b/bin", "~:~/bin"),
        ] {
            assert_eq!(said("/home/a b", text), wanted);
            assert_eq!(said("/home/a b/", text), wanted, "with a slash at its end");
        }
        assert_eq!(said("/home/al", "/home/alice/x of /home/al/x"), "/home/alice/x of ~/x");
        assert_eq!(said("/home/zoë", "/home/zo%C3%AB/x, /home/zoë"), "~/x, ~");
        for none in ["/", ""] {
            assert_eq!(said(none, "/x of /"), "/x of /");
        }
        assert_eq!(Redaction::new(None).text("/x --token=abcdef123456"), "/x --token=[redacted]");
    }

    #[test]
    fn where_a_link_leads_is_left_out_as_well() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("real/me")).unwrap();
        std::os::unix::fs::symlink(root.join("real"), root.join("home")).unwrap();
        let (named, real) = (root.join("home/me"), root.join("real/me"));
        let text = format!("{}/x {}/x {}2", named.display(), real.display(), real.display());
        assert_eq!(Redaction::new(Some(&named)).text(&text), format!("~/x ~/x {}2", real.display()));
    }
}
