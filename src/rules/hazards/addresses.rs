//! Which words a program would take for an address, and which of those are of the web.
//!
//! Knows no table. Invariant: a word of which it is not certain that it is of the web is of something else.

use super::listed;

/// Names of machines from which a program guesses what is spoken there.
const GUESSED: &[&str] = &["ftp.", "ftps.", "dict.", "ldap.", "imap.", "smtp.", "pop3."];

/// The words that lead elsewhere than to the web; the values of these letters and long options are none.
pub(super) fn others<'a>(
    arguments: impl Iterator<Item = (usize, &'a str)>,
    letters: &str,
    longs: &'static str,
) -> Vec<(usize, &'a str)> {
    let mut takes_next = false;
    let mut found = Vec::new();
    for (at, text) in arguments {
        if std::mem::take(&mut takes_next) {
            continue;
        }
        let is_long = |name: &str| listed(longs).any(|long| long == name);
        if text.starts_with("--") {
            takes_next = is_long(text);
            let value = text.split_once('=').filter(|(name, value)| !is_long(name) && !is_of_web(value));
            found.extend(value.map(|_| (at, text)));
        } else if text.len() > 1 && text.starts_with('-') {
            takes_next = text.find(|c| letters.contains(c)) == Some(text.len() - 1);
        } else if !is_of_web(text) {
            found.push((at, text));
        }
    }
    found
}

/// `https://…`, or a machine and a path without what is spoken there.
fn is_of_web(text: &str) -> bool {
    let text = text.trim_matches(|c: char| c.is_whitespace() || c.is_control()).to_ascii_lowercase();
    if text.starts_with("http://") || text.starts_with("https://") {
        return true;
    }
    let machine = text.trim_start_matches('/').split('/').next().unwrap_or_default();
    // Of `{file,http}:` a program makes several, and before a `/` it is what is spoken.
    let is_spoken = machine.ends_with(':');
    !is_spoken && !machine.contains(['{', '[']) && !GUESSED.iter().any(|name| machine.starts_with(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_of_the_web_says_so_or_says_nothing() {
        for text in [
            "http://a",
            "HTTPS://a/{b,c}[1-3]",
            "a.example:8080/x?next=ftp://b",
            "localhost:3000/{a,b}",
            "a/b:/c",
            "ftpserver/x",
            "",
        ] {
            assert!(is_of_web(text), "{text}");
        }
        for text in [
            "file:///a",
            "file:/a",
            "FILE://a",
            " file:///a",
            "{file,http}:///a",
            "fi[l-l]e:///a",
            "f{ile:/a,}",
            "gopher://a:1/_x",
            "dict.localhost:6379/x",
            "//ftp.a/x",
            "ftp://a",
        ] {
            assert!(!is_of_web(text), "{text}");
        }
    }

    #[test]
    fn a_value_is_no_address() {
        let found = |line: &'static str| {
            let words = line.split(' ').enumerate().skip(1);
            others(words, "Hw", "--header").into_iter().map(|(at, _)| at).collect::<Vec<_>>()
        };
        assert_eq!(found("x -H a:/b -sw %{x} http://a"), [0; 0]);
        assert_eq!(found("x --header a:/b --url=file:/x"), [3]);
        assert_eq!(found("x -H --header a:/b"), [3]);
        assert_eq!(found("x -Ha a:/b --header=x c:/d"), [2, 4]);
    }
}
