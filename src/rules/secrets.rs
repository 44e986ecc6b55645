//! Names of files that hold secrets: they are asked about unless a rule names them, whatever else is allowed.
//!
//! Looks nothing up. Invariants: names are compared in small letters; what is named `*` by a rule names no secret.

use super::glob::Glob;
use std::path::{Component, Path};
use std::sync::LazyLock;

/// Names that follow each other in a path, and why what they lead to is asked about. `*` is any text in one name.
const TABLE: &[(&str, &str)] = &[
    (".env*", PROJECT),
    ("*.pem", KEY),
    ("*.key", KEY),
    ("*.p12", KEY),
    ("*.pfx", KEY),
    ("*.ppk", KEY),
    ("*.jks", KEY),
    ("*.keystore", KEY),
    ("id_rsa*", KEY),
    ("id_dsa*", KEY),
    ("id_ecdsa*", KEY),
    ("id_ed25519*", KEY),
    (".ssh", KEY),
    (".gnupg", KEY),
    (".netrc", STORE),
    ("_netrc", STORE),
    (".pgpass", STORE),
    (".my.cnf", STORE),
    (".git-credentials", STORE),
    ("git/credentials", STORE),
    (".aws/credentials", STORE),
    (".aws/sso", STORE),
    (".azure", STORE),
    (".config/gcloud", STORE),
    (".config/gh", STORE),
    (".config/hub", STORE),
    (".docker/config.json", STORE),
    (".kube/config", STORE),
    (".npmrc", STORE),
    (".yarnrc.yml", STORE),
    (".pypirc", STORE),
    (".cargo/credentials*", STORE),
    (".gem/credentials", STORE),
    (".terraformrc", STORE),
    (".terraform.d/credentials*", STORE),
    (".vault-token", STORE),
    (".local/share/keyrings", KEYRING),
    ("library/keychains", KEYRING),
    ("*.keychain-db", KEYRING),
    ("*.kdbx", KEYRING),
    (".password-store", KEYRING),
    ("etc/shadow", STORE),
];

const PROJECT: &str = "it may hold the project's passwords and keys";
const KEY: &str = "it may be a private key";
const STORE: &str = "programs keep passwords and tokens there";
const KEYRING: &str = "it is a store of passwords";
/// Of this program's own.
pub(super) const OURS: &str =
    "it belongs to acp-tui itself: what was said in other sessions, or what is allowed in them";

/// What is known to be public among them.
const PUBLIC: &str = ".pub";
/// Separates the names of files in the word of a command.
const BETWEEN: [char; 5] = ['=', ':', ',', '@', '\0'];
/// The same where the word is a program.
const IN_PROGRAM: [char; 12] = ['=', ':', ',', '@', '\'', '"', '`', '(', ')', '[', ']', ';'];

/// A row of the table.
#[derive(Debug)]
pub(super) struct Secret {
    names: Vec<Glob>,
    /// A name that the row is for, where it is for one name alone.
    example: Option<String>,
    pub(super) why: &'static str,
}

static SECRETS: LazyLock<Vec<Secret>> = LazyLock::new(|| {
    let row = |(names, why): &(&str, &'static str)| {
        let example = match names.strip_prefix('*') {
            Some(ending) => format!("x{ending}"),
            None => names.replace('*', ""),
        };
        let example = Some(example).filter(|name| !name.contains('/'));
        Secret { names: names.split('/').map(Glob::new).collect(), example, why }
    };
    TABLE.iter().map(row).collect()
});

impl Secret {
    /// Whether a shell may make a name that the row is for of this one, which has marks such as `*` in it.
    fn may_come_of(&self, name: &str) -> bool {
        let Some(example) = &self.example else { return false };
        let (mut glob, mut depth) = (String::new(), 0_u32);
        for c in name.chars() {
            match c {
                '{' | '[' => {
                    depth += 1;
                    glob.push('*');
                }
                '}' | ']' => depth = depth.saturating_sub(1),
                _ if depth > 0 => {}
                '?' => glob.push('*'),
                c => glob.push(c),
            }
        }
        // Of marks alone everything comes, but for what begins with a dot.
        let says_something = glob.chars().any(|c| c.is_alphanumeric());
        let begins_alike = !example.starts_with('.') || glob.starts_with('.');
        glob.contains('*') && says_something && begins_alike && Glob::new(&glob).matches(example)
    }

    /// Whether a part of a pattern names it: its last name, or a text in the same form.
    pub(super) fn is_named(&self, part: &str) -> bool {
        self.names.last().is_some_and(|name| name.matches(&part.to_lowercase()))
    }
}

/// What the file at this path is, as far as its names say.
pub(super) fn of_path(path: &Path) -> Option<&'static Secret> {
    let names: Vec<String> = path
        .components()
        .filter_map(|part| match part {
            Component::Normal(name) => Some(name.to_string_lossy().to_lowercase()),
            _ => None,
        })
        .collect();
    if names.last().is_some_and(|name| name.ends_with(PUBLIC)) {
        return None;
    }
    SECRETS.iter().find(|secret| {
        let is_made = names.iter().any(|name| name.contains(['*', '?', '[', '{']) && secret.may_come_of(name));
        is_made
            || names
                .windows(secret.names.len())
                .any(|names| secret.names.iter().zip(names).all(|(glob, name)| glob.matches(name)))
    })
}

/// What a word of a command names, or a path that is only known as text. `is_program`: it is read as a program itself.
pub(super) fn of_word(text: &str, is_program: bool) -> Option<&'static Secret> {
    if !is_program && text.contains(char::is_whitespace) {
        return None;
    }
    let between =
        |c: char| if is_program { c.is_whitespace() || IN_PROGRAM.contains(&c) } else { BETWEEN.contains(&c) };
    std::iter::once(text).chain(text.split(between)).find_map(|piece| of_path(Path::new(piece)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_hold_secrets_are_known_wherever_they_stand() {
        for path in [
            ".env",
            "a/.env.local",
            ".ENV",
            "/home/me/.ssh/config",
            "id_rsa",
            "k/ID_ED25519",
            "server.pem",
            ".npmrc",
            "/r/.aws/credentials",
            ".config/gh/hosts.yml",
            ".docker/config.json",
            ".local/share/keyrings/login",
            ".netrc",
        ] {
            assert!(of_path(Path::new(path)).is_some(), "{path}");
        }
        for path in
            ["env", "src/environment.rs", "id_rsa.pub", ".aws/config.md", "config.json", "docs/keys.md", ".config"]
        {
            assert!(of_path(Path::new(path)).is_none(), "{path}");
        }
    }

    #[test]
    fn what_a_shell_makes_of_a_name_may_be_one() {
        for path in [".e*", ".[e]nv", ".en{v,x}", "keys/id_r*", ".??v", "~/.s*/config", "*.p?m", "*.key"] {
            assert!(of_path(Path::new(path)).is_some(), "{path}");
        }
        for path in ["*", "src/*", "*.rs", "*.{ts,tsx}", "src/[a-c]*.py", "**/*.md", "e*", ".gith*"] {
            assert!(of_path(Path::new(path)).is_none(), "{path}");
        }
    }

    #[test]
    fn a_word_names_one_behind_an_option_too_and_a_sentence_does_not() {
        for word in [".env", "--file=.env", "@.env", "host:~/.netrc", "$HOME/.ssh/id_rsa", "-i=x,.env"] {
            assert!(of_word(word, false).is_some(), "{word}");
        }
        assert!(of_word("the .env is ignored", false).is_none());
        assert!(of_word("print(open('.env').read())", true).is_some());
        assert!(of_word("print(os.environ)", true).is_none());
    }

    #[test]
    fn a_pattern_names_a_secret_in_its_own_form_only() {
        let secret = of_path(Path::new(".env.local")).unwrap();
        assert!(secret.is_named(".env.local") && secret.is_named(".env*") && secret.is_named(".env"));
        assert!(!secret.is_named("*") && !secret.is_named(".*") && !secret.is_named("**"));
    }
}
