//! Leaves out of what is passed on what looks like a secret, what variables hold that are called so, and where the person's
//! home directory is.
//!
//! Looks at the disk once, for where the home directory really is. Invariant: a text with none of them is not changed.

use crate::base::redact;
use regex_automata::meta::Regex;
use std::ffi::OsString;
use std::path::Path;

pub struct Redaction {
    /// The home directory as it is named and as it really is, in every way in which paths are written.
    home: Option<Regex>,
    /// Values that are secrets, in the ways in which texts have them, the longest first.
    secrets: Vec<String>,
}

/// What the last letters of a word of a name say of a variable: it holds a secret.
const ENDINGS: [&str; 17] = [
    "SECRET",
    "SECRETS",
    "PASSWORD",
    "PASSWORDS",
    "PASSWD",
    "PASSPHRASE",
    "TOKEN",
    "TOKENS",
    "APIKEY",
    "CREDENTIAL",
    "CREDENTIALS",
    "COOKIE",
    "AUTH",
    "PASS",
    "BEARER",
    "DSN",
    "WEBHOOK",
];
/// Addresses that are secrets themselves.
const ADDRESSES: [&str; 2] = ["WEBHOOK_URL", "WEBHOOK_URI"];
/// Words that end so and are none.
const NO_SECRETS: [&str; 3] = ["BYPASS", "COMPASS", "ENCOMPASS"];
/// The same of whole words.
const WORDS: [&str; 7] = ["KEY", "KEYS", "PW", "PWD", "PSW", "PAT", "JWT"];
/// The last words of names of what is only about a secret.
const ABOUT: [&str; 23] = [
    "FILE", "FILES", "PATH", "DIR", "ID", "NAME", "TYPE", "URL", "URI", "HOST", "PORT", "SOCK", "TTL", "TIMEOUT",
    "LENGTH", "LIMIT", "LIMITS", "HELPER", "COMMAND", "CMD", "MODE", "STORE", "ENABLED",
];
/// The first words of names of options that count something, or say that there is none.
const COUNTS: [&str; 4] = ["MAX", "MIN", "NUM", "NO"];
/// What is shorter stands in many words that are none: it is left as it is, in characters.
const LEAST: usize = 6;

/// Whether a variable is called a secret.
fn is_secret(name: &str) -> bool {
    let name = name.to_uppercase();
    let mut words = name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let is_one = |word: &str| {
        let is_called = ENDINGS.iter().any(|ending| word.ends_with(ending));
        WORDS.contains(&word) || is_called && !NO_SECRETS.contains(&word)
    };
    if ADDRESSES.iter().any(|address| name.ends_with(address)) {
        return true;
    }
    // Where one is and was.
    !matches!(&*name, "PWD" | "OLDPWD")
        && words.clone().any(is_one)
        && words.next_back().is_none_or(|last| !ABOUT.contains(&last))
}

/// What arguments of a program hold by a name: `--key VALUE`, `--key=VALUE` and `KEY=VALUE`.
pub fn named(arguments: &[String]) -> Vec<(String, String)> {
    let next = arguments.iter().skip(1).map(String::as_str).chain([""]);
    let named = arguments.iter().zip(next).filter_map(|(word, next)| {
        let (name, value) = word.split_once('=').unwrap_or((word, if word.starts_with('-') { next } else { "" }));
        let first = name.split(|c: char| !c.is_alphanumeric()).find(|word| !word.is_empty())?.to_uppercase();
        // A text with blanks is a line, and what begins with a dash another option.
        let is_one = !name.contains(char::is_whitespace) && !value.starts_with('-') && !COUNTS.contains(&&*first);
        is_one.then(|| (name.to_owned(), value.to_owned()))
    });
    named.collect()
}

/// The value as it is, in JSON, in a line of a shell and in an address.
fn ways(value: &str) -> Vec<String> {
    let in_json = serde_json::to_string(value).unwrap_or_default();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '~');
    let in_shell =
        value.chars().flat_map(|c| (!is_plain(c) && c != '/').then_some('\\').into_iter().chain([c])).collect();
    let in_address = |sign: fn(u8) -> String| {
        let written = |byte: u8| if is_plain(byte.into()) { char::from(byte).into() } else { sign(byte) };
        value.bytes().map(written).collect()
    };
    let in_json = in_json.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or_default().to_owned();
    let in_addresses = [in_address(|byte| format!("%{byte:02X}")), in_address(|byte| format!("%{byte:02x}"))];
    [value.to_owned(), in_json, in_shell].into_iter().chain(in_addresses).filter(|way| !way.is_empty()).collect()
}

impl Redaction {
    /// With the variables that this program was started with, and more.
    pub fn here(home: Option<&Path>, more: impl IntoIterator<Item = (String, String)>) -> Self {
        let text = |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value.into_string().ok()?));
        Self::new(home, std::env::vars_os().filter_map(text).chain(more))
    }

    /// With variables that programs may have read.
    pub fn new(home: Option<&Path>, variables: impl IntoIterator<Item = (String, String)>) -> Self {
        let values =
            variables.into_iter().filter(|(name, _)| is_secret(name)).map(|(_, value)| value.trim().to_owned());
        let values = values.filter(|value| value.chars().count() >= LEAST);
        let mut secrets: Vec<String> = values.flat_map(|value| ways(&value)).collect();
        // One may be a part of another one.
        secrets.sort_by(|one, other| other.len().cmp(&one.len()).then_with(|| one.cmp(other)));
        secrets.dedup();
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
        Self { home: regex, secrets }
    }

    pub fn text(&self, text: &str) -> String {
        // Before the shapes, of which one may be a part of such a value.
        let known = self.secrets.iter().filter(|secret| text.contains(&***secret)).collect::<Vec<_>>();
        let text = known.into_iter().fold(text.to_owned(), |text, secret| text.replace(&**secret, redact::MASK));
        let text = redact::masked(&text).unwrap_or(text);
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
        Redaction::new(Some(Path::new(home)), []).text(text)
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
        assert_eq!(Redaction::new(None, []).text("/x --token=abcdef123456"), "/x --token=[redacted]");
    }

    #[test]
    fn values_of_variables_that_are_called_secrets_are_left_out_wherever_they_stand() {
        let held = [
            ("MY_SECRET", "hunter2hunter2"),
            ("DB_PASSWORD", "a b\"c/d"),
            ("PGPASSWORD", "corgi99x"),
            ("SECRET_KEY_BASE", "corgi99x and more"),
            ("api-key", "wolf77"),
            ("SHORT_KEY", "fox12"),
            ("GITHUB_TOKEN_FILE", "/home/me/token"),
            ("PWD", "/home/me/work"),
            ("KEYBOARD", "us-intl"),
            ("REGISTRY_AUTH", "heron55x"),
            ("MYSQLPASS", "otter31x"),
            ("API_BEARER", "lynx4242"),
            ("SENTRY_DSN", "badger77"),
            ("CI_WEBHOOK", "stoat888"),
            ("CI_WEBHOOK_URL", "weasel99"),
            ("PROXY_BYPASS", "localhost"),
            ("SSH_AUTH_SOCK", "/run/agent"),
        ];
        let held = held.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let redaction = Redaction::new(None, held);
        for (text, is) in [
            ("A hunter2hunter2, and Xhunter2hunter2X", "A [redacted], and X[redacted]X"),
            (r#"a b"c/d or {"x":"a b\"c/d"}"#, r#"[redacted] or {"x":"[redacted]"}"#),
            (r#"a\ b\"c/d a%20b%22c%2Fd a%20b%22c%2fd"#, "[redacted] [redacted] [redacted]"),
            ("corgi99x and more, corgi99x and", "[redacted], [redacted] and"),
            ("wolf77", "[redacted]"),
            ("heron55x otter31x lynx4242", "[redacted] [redacted] [redacted]"),
            ("badger77 stoat888 weasel99", "[redacted] [redacted] [redacted]"),
            ("localhost /run/agent", "localhost /run/agent"),
            ("fox12 /home/me/token /home/me/work us-intl", "fox12 /home/me/token /home/me/work us-intl"),
        ] {
            assert_eq!(redaction.text(text), is);
        }
    }

    #[test]
    fn values_of_options_that_are_called_secrets_are_left_out_wherever_they_stand() {
        let redaction = |line: &str| {
            let arguments: Vec<String> = line.split('|').map(str::to_owned).collect();
            Redaction::new(None, named(&arguments))
        };
        for (arguments, text, is) in [
            ("acp|--key|corgi99x", "--key corgi99x, said corgi99x", "--key [redacted], said [redacted]"),
            ("--signing-key=otter31x", "--signing-key=otter31x", "--signing-key=[redacted]"),
            ("-e|MY_PAT=lynx4242", "MY_PAT=lynx4242", "MY_PAT=[redacted]"),
            ("--key-file|stoat888", "stoat888", "stoat888"),
            ("--max-tokens|100000", "100000", "100000"),
            ("--no-auth|serving", "serving", "serving"),
            ("--key|--verbose", "--verbose", "--verbose"),
            ("key|badger77", "badger77", "badger77"),
            ("-c|run my key=weasel99", "weasel99", "weasel99"),
        ] {
            assert_eq!(redaction(arguments).text(text), is, "{arguments}");
        }
    }

    #[test]
    fn where_a_link_leads_is_left_out_as_well() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("real/me")).unwrap();
        std::os::unix::fs::symlink(root.join("real"), root.join("home")).unwrap();
        let (named, real) = (root.join("home/me"), root.join("real/me"));
        let text = format!("{}/x {}/x {}2", named.display(), real.display(), real.display());
        assert_eq!(Redaction::new(Some(&named), []).text(&text), format!("~/x ~/x {}2", real.display()));
    }
}
