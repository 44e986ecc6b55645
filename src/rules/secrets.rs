//! Names of files that hold secrets: they are asked about unless a rule names them, whatever else is allowed.
//!
//! Looks nothing up. Invariants: names are compared in small letters; what is named `*` by a rule names no secret.

use super::glob::Glob;
use super::hazards::is_plain;
use super::marks::{MARKS, expanded, may_be, may_end_so};
use std::borrow::Cow;
use std::collections::HashMap;
use std::path::{Component, Path};
use std::sync::LazyLock;

/// Names that follow each other in a path, a line each, below why what they lead to is asked about.
const NAMES: &str = include_str!("../../assets/secrets.txt");
/// What stands before such a reason.
const HEADING: &str = "== ";
/// The heading of names that are no secrets, and of those that are none outside of directories for secrets and without a
/// private key in them.
const PUBLIC: &str = "public";
const USUALLY: &str = "usually public";
/// Of this program's own.
pub(super) const OURS: &str =
    "it belongs to acp-tui itself: what was said in other sessions, or what is allowed in them";

/// Separates the names of files in the word of a command.
pub(super) const BETWEEN: [char; 5] = ['=', ':', ',', '@', '\0'];
/// The same where the word is a program, beside blanks.
const IN_PROGRAM: [char; 15] = ['=', ':', ',', '@', '\'', '"', '`', '(', ')', '[', ']', ';', '<', '>', '|'];
/// What programs put around texts.
const QUOTES: [char; 3] = ['\'', '"', '`'];
/// How names of files with data end: of a mark before such an ending nothing says that it stands for a secret, and the files
/// that it does stand for are looked at.
const DATA: [&str; 10] = [".json", ".yaml", ".yml", ".toml", ".txt", ".ini", ".xml", ".csv", ".properties", ".php"];
/// Letters of options that a value may stand behind in one word, beside those that go before a sign.
const MAX_LETTERS: usize = 4;

/// A row of the table.
#[derive(Debug)]
pub(super) struct Secret {
    names: Vec<Glob>,
    /// A name that the row is for, where it is for one name alone.
    example: Option<String>,
    pub(super) why: &'static str,
}

static SECRETS: LazyLock<Vec<Secret>> = LazyLock::new(|| {
    let mut why = "";
    let lines = NAMES.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let row = |line: &'static str| {
        if let Some(heading) = line.strip_prefix(HEADING) {
            why = heading;
            return None;
        }
        let example = match line.strip_prefix('*') {
            // Before it stands what no name says, so that only marks are taken for it.
            Some(ending) => format!("\0{ending}"),
            None => line.replace('*', ""),
        };
        let is_data = |name: &String| !name.starts_with('.') && DATA.iter().any(|ending| name.ends_with(ending));
        let example = Some(example).filter(|name| !name.contains('/') && !is_data(name));
        Some(Secret { names: line.split('/').map(Glob::new).collect(), example, why })
    };
    lines.filter_map(row).collect()
});

/// Where in the table the rows are that may be for a name without marks.
struct Index {
    /// Those that begin with a name written out.
    named: HashMap<&'static str, Vec<usize>>,
    /// Those of one name with a `*` in it, by the byte that it begins with, or by the one that it ends with.
    begun: HashMap<u8, Vec<usize>>,
    ended: HashMap<u8, Vec<usize>>,
    others: Vec<usize>,
    /// Of names that are no secrets, and of those that usually are none.
    public: Vec<usize>,
    usually: Vec<usize>,
}

impl Index {
    /// The rows that may be for a name without marks.
    fn of(&self, name: &str) -> impl Iterator<Item = usize> {
        let (first, last) = (name.as_bytes().first(), name.as_bytes().last());
        let begun = first.and_then(|first| self.begun.get(first));
        let ended = last.and_then(|last| self.ended.get(last));
        self.named.get(name).into_iter().chain(begun).chain(ended).flatten().copied()
    }
}

static INDEX: LazyLock<Index> = LazyLock::new(|| {
    let (mut named, mut others) = (HashMap::<_, Vec<usize>>::new(), Vec::new());
    let (mut begun, mut ended) = (HashMap::<_, Vec<usize>>::new(), HashMap::<_, Vec<usize>>::new());
    for (at, row) in SECRETS.iter().enumerate().filter(|(_, row)| !row.is_exempt()) {
        match row.names.first() {
            Some(glob) if glob.is_literal() => named.entry(glob.text()).or_default().push(at),
            Some(glob) if row.names.len() == 1 => match glob.text().as_bytes() {
                [first, ..] if *first != b'*' => begun.entry(*first).or_default().push(at),
                [.., last] if *last != b'*' => ended.entry(*last).or_default().push(at),
                _ => others.push(at),
            },
            _ => others.push(at),
        }
    }
    let under = |heading: &'static str| {
        (0..SECRETS.len()).filter(move |at| SECRETS.get(*at).is_some_and(|row| row.why == heading))
    };
    Index { named, begun, ended, others, public: under(PUBLIC).collect(), usually: under(USUALLY).collect() }
});

impl Secret {
    /// Names that are no secrets.
    fn is_exempt(&self) -> bool {
        [PUBLIC, USUALLY].contains(&self.why)
    }

    /// Whether a name of which a shell makes others may become one that the row is for.
    fn may_come_of(&self, made: &[String]) -> bool {
        made.iter().any(|name| {
            // Of marks alone everything comes, but for what begins with a dot.
            let says_something = name.starts_with('.') || name.chars().any(char::is_alphanumeric);
            let is_itself = !name.contains(MARKS) && matches!(&*self.names, [glob] if glob.matches(name));
            let is_ending = self.is_ending() && self.ending().is_some_and(|ending| may_end_so(name, ending));
            is_itself
                || is_ending
                || says_something && self.example.as_ref().is_some_and(|example| may_be(name, example))
        })
    }

    /// What all names of the row end with.
    fn ending(&self) -> Option<&str> {
        self.names.last()?.text().strip_prefix('*').filter(|ending| !ending.contains('*'))
    }

    /// Whether a part of a pattern names it: its last name, or a text in the same form.
    pub(super) fn is_named(&self, part: &str) -> bool {
        self.names.last().is_some_and(|name| name.matches(&part.to_lowercase()))
    }

    /// Whether it is for any file of an ending.
    fn is_ending(&self) -> bool {
        matches!(&*self.names, [name] if name.text().starts_with('*'))
    }

    fn is_in(&self, names: &[Name]) -> bool {
        // A mark stands for a name where others say which file it is.
        let one = |(glob, name): (&Glob, &Name)| {
            glob.matches(&name.text) || name.made.iter().any(|name| may_be(name, glob.text()))
        };
        let says = |names: &[Name]| {
            let is_marked = |name: &Name| !name.made.is_empty();
            names.iter().any(is_marked) && !names.iter().all(is_marked)
        };
        let fits = |names: &[Name]| {
            let both = || self.names.iter().zip(names);
            both().all(|(glob, name)| glob.matches(&name.text)) || says(names) && both().all(one)
        };
        names.iter().any(|name| self.may_come_of(&name.made)) || names.windows(self.names.len()).any(fits)
    }
}

/// One name of a path.
struct Name {
    /// In small letters.
    text: String,
    /// What a shell makes of it; nothing where it has no marks.
    made: Vec<String>,
}

impl Name {
    fn new(text: String) -> Self {
        let made = if text.contains(MARKS) { expanded(&text) } else { Vec::new() };
        Self { text, made }
    }
}

/// The rows that the file at this path is in, as far as its names say.
pub(super) fn rows_of(path: &Path) -> impl Iterator<Item = &'static Secret> + use<> {
    let names: Vec<Name> = path
        .components()
        .filter_map(|part| match part {
            Component::Normal(name) => Some(name.to_string_lossy().to_lowercase()),
            _ => None,
        })
        .flat_map(|name| if is_of_drive(&name) { name.split('\\').map(str::to_owned).collect() } else { vec![name] })
        .map(Name::new)
        .collect();
    let mut rows: Vec<usize> = if names.iter().all(|name| name.made.is_empty()) {
        names.iter().flat_map(|name| INDEX.of(&name.text)).chain(INDEX.others.iter().copied()).collect()
    } else {
        (0..SECRETS.len()).collect()
    };
    // In the table's order, which says what is spoken of first.
    rows.sort_unstable();
    rows.dedup();
    let is_one = |secret: &&Secret| !secret.is_exempt() && secret.is_in(&names);
    let mut rows: Vec<&Secret> = rows.into_iter().filter_map(|at| SECRETS.get(at)).filter(is_one).collect();
    if !rows.is_empty() {
        let last = names.last().map_or("", |name| &*name.text);
        // Of what is usually public only the directories above it say something.
        let kept = match last {
            _ if is_among(&INDEX.public, last) => 0,
            _ if is_among(&INDEX.usually, last) => names.len() - 1,
            _ => names.len(),
        };
        rows.retain(|secret| kept == names.len() || names.get(..kept).is_some_and(|names| secret.is_in(names)));
    }
    rows.into_iter()
}

/// `C:\Users`: of a shell on another system.
fn is_of_drive(name: &str) -> bool {
    matches!(name.as_bytes(), [letter, b':', b'\\', ..] if letter.is_ascii_alphabetic())
}

fn is_among(rows: &[usize], name: &str) -> bool {
    let mut rows = rows.iter().filter_map(|at| SECRETS.get(*at));
    rows.any(|secret| secret.names.iter().any(|glob| glob.matches(name)))
}

/// The row that a file is in although its name is a usual one of what everybody may read, if a private key stands in it.
pub(super) fn with_key(path: &Path) -> Option<&'static Secret> {
    let name = path.file_name()?.to_string_lossy().to_lowercase();
    let ending = Path::new(&name).extension()?.to_str()?;
    let row = || SECRETS.iter().find(|row| row.is_ending() && row.ending() == Some(&format!(".{ending}")));
    is_among(&INDEX.usually, &name).then(row).flatten()
}

/// What the file at this path is.
pub(super) fn of_path(path: &Path) -> Option<&'static Secret> {
    rows_of(path).next()
}

/// The parts of a word of a command that may be names of files: all of it, what stands between marks, and what may be the
/// value of an option in the same word. A sentence has none.
pub(super) fn parts(text: &str) -> impl Iterator<Item = &str> {
    let is_sentence = text.contains(char::is_whitespace);
    let bundle = text.strip_prefix('-').filter(|rest| !rest.starts_with('-') && !rest.contains('='));
    let behind_letters = bundle.map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_alphanumeric()));
    let behind_some = (1..=MAX_LETTERS).filter_map(move |at| bundle?.get(at..));
    let pieces = text.split(|c| c == '\0' || is_between(c)).filter(|piece| piece.len() < text.len());
    let parts = std::iter::once(text).chain(pieces).chain(behind_letters).chain(behind_some);
    parts.filter(move |_| !is_sentence)
}

/// What a word of a command names, or a path that is only known as text.
pub(super) fn of_word(text: &str) -> Option<&'static Secret> {
    parts(text).find_map(|part| of_path(Path::new(part)))
}

/// What any part of a line for a shell names.
pub(super) fn of_line(text: &str) -> Option<&'static Secret> {
    without_scripts(text).split(is_between).find_map(|part| of_path(Path::new(part)))
}

/// What a program names in its quotes; one of a whole language outside of them too, but for what only an ending says:
/// `x.key` is a part of x there.
pub(super) fn of_program(text: &str, is_language: bool) -> Option<&'static Secret> {
    let text = without_scripts(text);
    let text = &*text;
    let (mut open, mut is_escaped, mut start, mut parts) = (None, false, 0, Vec::new());
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        let is_quote = QUOTES.contains(&c);
        if is_between(c) {
            let is_behind = text.get(..start).is_some_and(|before| before.ends_with(QUOTES));
            let is_quoted = open.is_some() || is_quote || is_behind;
            parts.extend(text.get(start..at).filter(|part| !part.is_empty()).map(|part| (part, is_quoted)));
            start = at + c.len_utf8();
        }
        match open {
            _ if is_escaped => {}
            Some(quote) if quote == c => open = None,
            None if is_quote => open = Some(c),
            _ => {}
        }
        is_escaped = c == '\\' && !is_escaped;
    }
    // Of quotes that do not end it is not known what is in them.
    let is_any = open.is_some();
    let counts = |secret: &&Secret, is_quoted: bool| is_quoted || is_any || is_language && !secret.is_ending();
    parts.into_iter().find_map(|(part, is_quoted)| rows_of(Path::new(part)).find(|secret| counts(secret, is_quoted)))
}

/// The same without what stands for any name in the plain scripts of sed that it has in quotes: `1s/.*/x/` is no path. Names
/// that are written out in one stay.
fn without_scripts(text: &str) -> Cow<'_, str> {
    // What is quoted itself may end no text.
    let is_certain = QUOTES.iter().all(|quote| !text.contains(&format!("\\{quote}")));
    if !is_certain || !text.contains(MARKS) || !text.contains(QUOTES) {
        return Cow::Borrowed(text);
    }
    let mut kept = String::new();
    keep_names(text, &mut kept);
    Cow::Owned(kept)
}

/// In a text in quotes may be others, of the other sorts.
fn keep_names(mut text: &str, kept: &mut String) {
    while let Some((before, rest)) = text.split_once(QUOTES) {
        let quote = text.get(before.len()..text.len() - rest.len()).unwrap_or_default();
        let Some((inside, behind)) = rest.split_once(quote) else { break };
        kept.push_str(before);
        kept.push_str(quote);
        if inside.contains(MARKS) && is_plain(inside) {
            kept.extend(inside.split_inclusive('/').filter(|name| !name.contains(MARKS)));
        } else {
            keep_names(inside, kept);
        }
        kept.push_str(quote);
        text = behind;
    }
    kept.push_str(text);
}

fn is_between(c: char) -> bool {
    c.is_whitespace() || IN_PROGRAM.contains(&c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_may_make_a_bounded_number_of_names() {
        for (name, is_one) in [
            (".{env,x}", true),
            ("{.env,x}", true),
            ("{a,.{b,env}}", true),
            ("server.pe[m]", true),
            ("server.{pem,x}", true),
            (".???", true),
            ("~/.{docker,x}/config.json", true),
            ("~/.aws/*", true),
            ("*", false),
            ("a*", false),
            ("x*", false),
            ("?.e*v", true),
            ("k*", true),
            ("{a,b}.rs", false),
            ("src/*/mod.rs", false),
            ("file.p", false),
        ] {
            assert_eq!(of_path(Path::new(name)).is_some(), is_one, "{name}");
        }
        assert!(of_path(Path::new(&format!(".e{}v", "{n,}".repeat(20_000)))).is_some());
    }

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
            ".env.pub",
            ".codex/auth.json",
            "/home/me/.local/share/opencode/auth.json",
            "/etc/shadow-",
            "/proc/1/environ",
            ".m2/settings.xml",
            "server.p8",
            "deploy/prod.env",
            ".flaskenv",
            "config/secrets.yml",
            ".streamlit/secrets.toml",
            "credentials.json",
            "service_account-1.json",
            "infra/terraform.tfvars",
            "terraform.tfstate",
            "/var/run/secrets/kubernetes.io/serviceaccount/token",
            "/home/me/.cache/huggingface/token",
            "/home/me/.mozilla/firefox/x.default/logins.json",
            "/home/me/.config/google-chrome/Default/Cookies",
            "/home/me/.gradle/gradle.properties",
            "/home/me/.psql_history",
            "/home/me/.local/share/fish/fish_history",
            "kubeconfig",
            "local.settings.json",
            "wallet.dat",
            "config/secret.yml",
            "secrets.yaml",
            "auth.json",
            ".aws/config",
            "docs/passwords.txt",
            "group_vars/all/vault.yml",
            "my-app-firebase-adminsdk-x1.json",
            "/etc/wireguard/home.conf",
            "wg0.conf",
            "Default/Login Data",
            "k8s/secrets.prod.yaml",
            "secrets.json",
            "prod.auto.tfvars",
            ".vault-password",
            "ansible/.vault_pass.txt",
            "service-account.json",
            ".dev.vars",
            "deploy_rsa",
            "app/keystore.properties",
            "x/kubeconfig.yaml",
            "fastagent.secrets.yaml",
        ] {
            assert!(of_path(Path::new(path)).is_some(), "{path}");
        }
        for path in [
            "env",
            "src/environment.rs",
            "id_rsa.pub",
            "/home/me/.ssh/id_ed25519.pub",
            ".aws/config.md",
            "config.json",
            "docs/keys.md",
            ".config",
            ".env.example",
            "app/.env.local.sample",
            ".env.template",
            "example.env",
            "prod.env.example",
            "terraform.tfvars.example",
            "gradle.properties",
            "secrets.rs",
            "src/credentials.ts",
            "settings.json",
            "cert.pem",
            "tls/server-cert.pem",
            "secret.rs",
            "docs/secrets.md",
            "vault.rs",
            "tokens.json",
            "deploy_rsa.pub",
        ] {
            assert!(of_path(Path::new(path)).is_none(), "{path}");
        }
    }

    #[test]
    fn what_a_shell_makes_of_a_name_may_be_one() {
        for path in [".e*", ".[e]nv", ".en{v,x}", "keys/id_r*", ".??v", "~/.s*/config", "*.p?m", "*.key"] {
            assert!(of_path(Path::new(path)).is_some(), "{path}");
        }
        for path in [
            "*.json",
            "*.toml",
            "*.txt",
            "*.php",
            "*.xml",
            "*.csv",
            "*",
            "src/*",
            "*.rs",
            "*.{ts,tsx}",
            "src/[a-c]*.py",
            "**/*.md",
            "e*",
            ".gith*",
        ] {
            assert!(of_path(Path::new(path)).is_none(), "{path}");
        }
    }

    #[test]
    fn a_word_names_one_behind_an_option_too_and_a_sentence_does_not() {
        for word in
            [".env", "--file=.env", "@.env", "host:~/.netrc", "$HOME/.ssh/id_rsa", "-i=x,.env", "-f.env", "-iid_rsa"]
        {
            assert!(of_word(word).is_some(), "{word}");
        }
        for word in ["the .env is ignored", "-Dapp.environment=x", "-rn"] {
            assert!(of_word(word).is_none(), "{word}");
        }
    }

    #[test]
    fn of_a_program_counts_what_stands_in_quotes_and_of_a_language_more() {
        for text in
            ["open('a.key')", "cat \"x\" 'keys/a.pem'", "system(\"cat a.key\")", "'it's a.key'", "open F, '<a.key'"]
        {
            assert!(of_program(text, false).is_some(), "{text}");
        }
        for text in ["print(open('.env').read())", "q(.env)", "open F, q(id_rsa)"] {
            assert!(of_program(text, true).is_some(), "{text}");
        }
        for text in ["print(os.environ)", "print(obj.key)", "a.key === 'x'", "process.env.KEY", "d['x'].key"] {
            assert!(of_program(text, true).is_none(), "{text}");
        }
        for text in [".env", ".env.PATH", ".items[].key", "/self.key/", "{print $1.key}"] {
            assert!(of_program(text, false).is_none(), "{text}");
        }
    }

    #[test]
    fn a_script_of_sed_is_no_path_and_a_name_that_is_written_out_in_one_is() {
        for text in [
            "sed -i '1s/.*/x/' m.txt",
            "sed -i \"1s/.*/x y/\" m.txt",
            "cd a && sed '/^#/d; s/[a-z].*/.x/g' m.txt | head",
            "bash -c \"sed -i '1s/.*/x/' m.txt\"",
        ] {
            assert!(of_program(text, true).is_none() && of_line(text).is_none(), "{text}");
        }
        for text in [
            "sed -i '1s/.*/x/' .env",
            "sed 's/.env/x/' '.env'",
            "sed 's/.*/x/e' m.txt",
            "cat '.*'",
            "cat 's/.*'",
            "sed 's/.*/id_rsa/' x",
            "cat 'a' s/.*/p/g 'b'",
        ] {
            assert!(of_program(text, true).is_some(), "{text}");
        }
    }

    #[test]
    fn a_pattern_names_a_secret_in_its_own_form_only() {
        let secret = of_path(Path::new(".env.local")).unwrap();
        assert!(secret.is_named(".env.local") && secret.is_named(".env*") && secret.is_named(".env"));
        assert!(!secret.is_named("*") && !secret.is_named(".*") && !secret.is_named("**"));
    }
}
