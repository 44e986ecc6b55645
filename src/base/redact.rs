//! Leaves out of a text what looks like a secret.
//!
//! Knows the shapes that keys and tokens usually have, and no more: what has another shape stays. Invariant: a text
//! without such a shape is not changed.

use regex_automata::Input;
use regex_automata::meta::Regex;
use std::ops::Range;
use std::sync::LazyLock;

/// Stands for what is left out.
pub const MASK: &str = "[redacted]";

/// What a value has to look like to be one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Looks {
    Any,
    /// Like none of [`WORDS`]: what stands there may be part of a sentence, or of a program.
    NoWord,
    /// Like nothing that is read: with a digit, or with large letters behind small ones.
    Random,
}

use Looks::{Any, NoWord, Random};

/// What secrets are called. Other words may stand before it.
const NAMES: &str = "api[_-]?key|access[_-]?key|account[_-]?key|auth[_-]?token|token|secret|passwd|password|passphrase";

/// A value behind a name: all between its quotes, those of JSON within JSON too, or one word of six characters at least.
const VALUE: &str =
    r#"(?:"((?:\\.|[^"\\\r\n]){3,})"|'([^'\r\n]{3,})'|\\+"([^"\r\n]{3,}?)\\+"|["']?([^\s"',;:=][^\s"',;]{5,}))"#;

/// The same as a further word of a command, however short. A variable is none.
const ARGUMENT: &str = r#"(?:"([^"$\r\n][^"\r\n]*)"|'([^'\r\n]+)'|([^\s"'<>|;&$-][^\s"'|;&]*))"#;

/// What a header begins with.
const AUTHORIZATION: &str = r#"\bauthorization\\*["']?\s*[:=]\s*\\*["']?"#;

/// The groups of a shape are the secret, or all of it where it has none. Names in braces stand for
/// those above.
const SHAPES: &[(&str, Looks)] = &[
    // Private keys.
    (r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\z)", Any),
    (r"\bAGE-SECRET-KEY-1[A-Z0-9]{16,}", Any),
    // Keys that say by their beginning whose they are: of models,
    (r"\b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{16,}|\bnvapi-[A-Za-z0-9_-]{20,}", Any),
    (r"\b(?:hf_|gsk_|r8_|pplx-|xai-)[A-Za-z0-9]{20,}", Random),
    // of repositories and registries,
    (r"\bgh[opusr]_[A-Za-z0-9]{16,}|\bgithub_pat_[A-Za-z0-9_]{16,}|\bATATT3x[A-Za-z0-9_=-]{16,}", Any),
    (r"\bgl(?:pat|dt|rt|ft|ptt|cbt|soat|agent|oas)-[A-Za-z0-9_-]{16,}", Any),
    (r"\b(?:npm|rubygems)_[A-Za-z0-9]{20,}|\bpypi-AgE[A-Za-z0-9_-]{16,}|\bdckr_[op]at_[A-Za-z0-9_-]{16,}", Any),
    // of clouds and what runs there,
    (r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bAIza[A-Za-z0-9_-]{30,}", Any),
    (
        r"\bGOCSPX-[A-Za-z0-9_-]{16,}|\bya29\.[A-Za-z0-9._-]{16,}|\b1//0[A-Za-z0-9_-]{16,}|\bdo[opr]_v1_[A-Fa-f0-9]{16,}",
        Any,
    ),
    (r"\bhv[bsr]\.[A-Za-z0-9_-]{16,}|\btskey-[a-z]+-[A-Za-z0-9-]{10,}|\bsbp_[a-f0-9]{20,}", Any),
    // of services.
    (r"\bxox[abeprs]-[A-Za-z0-9-]{10,}|\bxapp-[0-9]-[A-Za-z0-9-]{10,}", Any),
    (r"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}|\bshp(?:at|ca|pa|ss)_[A-Fa-f0-9]{16,}", Any),
    (r"\bSK[a-f0-9]{32}\b|\bfigd_[A-Za-z0-9_-]{16,}|\bdp\.(?:pt|ct|sa|st|scim|audit)\.[A-Za-z0-9._-]{16,}", Any),
    (r"\b(?:lin_api|ntn)_[A-Za-z0-9]{16,}|\bglc_[A-Za-z0-9+/=]{16,}|\bsntry[su]_[A-Za-z0-9+/=_-]{16,}", Any),
    (r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+", Any),
    // Addresses that are secrets, and what is secret in them.
    (r"\bhooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9_/-]+)", Any),
    (r"\bdiscord(?:app)?\.com/api/(?:v[0-9]+/)?webhooks/([0-9]+/[A-Za-z0-9_-]+)", Any),
    (r"\b(?:bot)?[0-9]{8,10}:AA[A-Za-z0-9_-]{30,}", Any),
    (r"://[^\s/:@]*:[^\s/@]+@", Any),
    (r#"(?i)[?&](?:x-(?:amz|goog)-(?:signature|security-token|credential)|sig|signature)=([^\s&"'<>#]{6,})"#, Any),
    (r#"(?i)[?&](?:code|key|auth|jwt|session(?:_?id)?)=([^\s&"'<>#]{6,})"#, Random),
    // Headers: with a scheme that has one value, with one that has several, with none and with another one.
    (r"(?i)\bbearer\s+([A-Za-z0-9._~+/=-]{8,})", Random),
    (
        r#"(?i){AUTHORIZATION}(?:basic|bearer|negotiate|ntlm|token|api-?key|bot|dpop|ssws)\s+([^\s"',;\\{$<]{4,})"#,
        NoWord,
    ),
    (r"(?i){AUTHORIZATION}(?:digest|aws4-[a-z0-9-]+|hawk|signature|oauth|hmac[a-z0-9-]*)\s+([^'\r\n]*=[^'\r\n]*)", Any),
    (r#"(?im){AUTHORIZATION}([^\s"',;\\{$<]{8,})(?:["',;\\]|[ \t]*\r?$)"#, Random),
    (r#"(?i){AUTHORIZATION}[a-z][a-z0-9_-]*\s+([^\s"',;\\{$<]{8,})"#, Random),
    (r#"(?i)\bcookie\\*["']?\s*:\s*\\*["']?([^\s"';=,]+=[^\s"';,]+(?:;[ \t]*[^\s"';=,]+(?:=[^\s"';,]*)?)*)"#, Any),
    // What is called a secret.
    (r#"(?i)(?:{NAMES})\\*["']?\s*(?::=|=>|[:=])\s*{VALUE}"#, NoWord),
    (r#"\b[A-Z0-9_]+_(?:PASS|PWD|PW)=(?:"([^"\r\n]+)"|'([^'\r\n]+)'|([^\s"',;$]+))"#, Any),
    // Options of programs, and words of their files.
    (r#"(?i)(?:^|[\s"'\[(`])--?(?:[a-z0-9]+[_-])*(?:{NAMES}|pass)(?:[ \t]+|=){ARGUMENT}"#, NoWord),
    (r#"\bcurl\s(?:[^\r\n|;]*?\s)?(?:-u|--user|--proxy-user)[ =]?["']?[^\s"':$]+:([^\s"'$]+)"#, Any),
    (r#"\b(?:mysql|mariadb|7z|sshpass)[a-z-]*\s(?:[^\r\n|;&]*?\s)?-p["']?([^\s"'$-][^\s"']*)"#, Any),
    (r#"\b(?:sshpass|(?:docker|podman)\s+login)\s(?:[^\r\n|;&]*?\s)?-p\s+["']?([^\s"'$-][^\s"']*)"#, Any),
    (r"\b(?:machine\s+\S+|default)\s+login\s+\S+\s+password\s+(\S+)", Any),
    (r"(?m)^[ \t]*(?:password|passphrase)[ \t]+(\S+)[ \t]*$", Random),
];

/// What stands behind the name of a secret and is none: words of sentences about it, types of programs, and what stands for a value.
const WORDS: &str = "&str a and any are argument as auth authentication authorization bool boolean bytes can credentials default \
    do does enabled expired false field file flag for form from given has header if in incorrect instead invalid \
    is it manager may missing must none not null number of on option option<string optional or parameter \
    parameters password prompt rejected required requires reset secret should so str string switch takes text \
    that the to token tokens true type undefined unknown value was when which will with without you your";

impl Looks {
    fn fits(self, value: &str) -> bool {
        match self {
            Any => true,
            NoWord => {
                let word = value.trim_matches(|c: char| ".,:;!?)]}`*>\\".contains(c)).to_lowercase();
                !WORDS.split(' ').any(|one| one == word)
            }
            Random => {
                let mut letters = value.chars().skip_while(|c| !c.is_ascii_lowercase());
                value.bytes().any(|byte| byte.is_ascii_digit()) || letters.any(|c| c.is_ascii_uppercase())
            }
        }
    }
}

struct Shapes {
    /// Whether there is any: most texts have none.
    any: Regex,
    each: Vec<(Regex, Looks)>,
}

static SHAPES_READ: LazyLock<Option<Shapes>> = LazyLock::new(|| {
    // Words end where letters of ASCII do: secrets have no others, and texts in all languages are looked through as fast.
    let full = |shape: &str| {
        let parts =
            [("{NAMES}", NAMES), ("{VALUE}", VALUE), ("{ARGUMENT}", ARGUMENT), ("{AUTHORIZATION}", AUTHORIZATION)];
        let shape = parts.iter().fold(shape.to_owned(), |shape, (name, part)| shape.replace(name, part));
        shape.replace(r"\b", r"(?-u:\b)")
    };
    let all: Vec<String> = SHAPES.iter().map(|(shape, _)| full(shape)).collect();
    let any = Regex::new_many(&all).ok()?;
    let each = all.iter().zip(SHAPES).map(|(shape, (_, looks))| Some((Regex::new(shape).ok()?, *looks)));
    Some(Shapes { any, each: each.collect::<Option<_>>()? })
});

/// The text without them; nothing when there are none in it. Without the shapes all of it is left out.
pub fn masked(text: &str) -> Option<String> {
    let Some(shapes) = &*SHAPES_READ else { return Some(MASK.to_owned()) };
    if !shapes.any.is_match(text) {
        return None;
    }
    let mut found: Vec<Range<usize>> =
        shapes.each.iter().flat_map(|(shape, looks)| values(shape, *looks, text)).collect();
    found.sort_by_key(|value| value.start);
    let (mut out, mut at) = (None::<String>, 0);
    for value in found {
        // What two shapes have in common is left out once.
        if out.is_none() || value.start >= at {
            let out = out.get_or_insert_default();
            out.push_str(text.get(at..value.start).unwrap_or_default());
            out.push_str(MASK);
        }
        at = at.max(value.end);
    }
    out.map(|out| out + text.get(at..).unwrap_or_default())
}

/// Where secrets of this shape are.
fn values(shape: &Regex, looks: Looks, text: &str) -> Vec<Range<usize>> {
    let (mut found, mut at) = (Vec::new(), 0);
    let mut captures = shape.create_captures();
    while at <= text.len() {
        shape.captures(Input::new(text).range(at..), &mut captures);
        let Some(whole) = captures.get_match() else { break };
        let groups = (1..captures.group_len()).filter_map(|group| captures.get_group(group));
        let value = groups.map(|group| group.range()).next().unwrap_or(whole.range());
        let is_one = looks.fits(text.get(value.clone()).unwrap_or_default());
        // Another one may begin within what is none.
        let next = if is_one { value.end } else { value.start };
        at = next.max(at + 1);
        while !text.is_char_boundary(at) && at < text.len() {
            at += 1;
        }
        found.extend(is_one.then_some(value));
    }
    found
}

/// Whether the word of a command that follows this one is a secret.
pub fn announces(word: &str) -> bool {
    word.starts_with('-')
        && !word.contains(['=', ' '])
        && masked(&format!("{word} 0x0X")).is_some_and(|masked| masked.starts_with(word))
}

#[cfg(test)]
#[path = "redact_tests.rs"]
mod tests;
