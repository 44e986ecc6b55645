//! Where names with `*` in the input of a search lead, and which names of secrets they may stand for.
//!
//! Looks nothing up. Invariants: what such a name may lead to outside of where it begins is among the places, and more
//! places than are looked at are more than anybody allows; a name is given as it stands there, too, so that whoever knows
//! the names of secrets can tell which of them it may be.

use super::keys::{GLOBS, PATTERN, of_keys, of_keys_below, plain, texts};
use super::needs_expansion;
use crate::model::tool::{ToolCall, ToolKind};
use serde_json::{Map, Value};

/// Places that patterns of one search lead to: one more than the guesses about a call that are judged, so that of more none
/// is allowed.
const MAX_PLACES: usize = 65;
/// Patterns that one with alternatives in it stands for.
const MAX_ALTERNATIVES: usize = 256;
/// Names that files may have which a search is for, and what a `*` in one may stand for.
const MAX_LAST: usize = 256;
const STARS: [&str; 5] = ["", "env", "nv", "rsa", "id"];
/// How the names of settings end of which the beginning is the secret.
const ENDS_OF_ENV: [&str; 6] = [".local", ".production", ".development", ".staging", ".prod", ".dev"];
const ENV: &str = ".env";
/// How names of data, settings and texts end that are looked for every day: before such an ending a `*` says nothing.
const USUAL_ENDS: [&str; 12] =
    [".json", ".yaml", ".yml", ".toml", ".txt", ".ini", ".xml", ".csv", ".properties", ".php", ".conf", ".js"];
/// What agents call a tool whose pattern is for names of files.
const BY_NAMES: [&str; 5] = ["glob", "globsearch", "findfiles", "find", "filesearch"];
/// What is a sign in a name with `*`, or in a regular expression.
const SIGNS: [char; 10] = ['*', '?', '[', '{', '\\', '(', '|', '+', '^', '$'];
/// Characters by which a name leads elsewhere.
const LEADING: [char; 4] = ['/', '.', '~', '$'];

/// Whether the pattern of a search is for names of files for certain: it is called so.
pub(super) fn is_by_names(tool: &ToolCall) -> bool {
    tool.name.as_deref().is_some_and(|name| BY_NAMES.contains(&&*plain(name)))
}

/// Directories, or files, that the patterns of a search lead to: what stands before the first `*` of each, below each
/// place that is searched. Without those that may be regular expressions where they are to be names for certain, unless
/// the search is one `by_names`.
pub(super) fn matched_below(
    places: &[String],
    input: &Map<String, Value>,
    is_certain: bool,
    by_names: bool,
) -> Vec<String> {
    let is_name = |key: &str| GLOBS.contains(&key) && (key != PATTERN || by_names);
    let mut begins = Vec::new();
    for pattern in given(input, is_name) {
        begins.extend(spellings(&pattern).iter().flat_map(|spelled| beginnings(spelled, &['{', '['])));
    }
    if !is_certain && !by_names {
        // A class of a regular expression may have any character.
        begins.extend(given(input, |key| key == PATTERN).iter().flat_map(|pattern| beginnings(pattern, &['{'])));
    }
    let at = |start: String| {
        let joined = |place: &String| format!("{}/{start}", place.trim_end_matches('/'));
        if start.starts_with('/') || needs_expansion(&start) || places.is_empty() {
            vec![start]
        } else {
            places.iter().map(joined).collect()
        }
    };
    begins.into_iter().filter(|start| !start.is_empty()).flat_map(at).take(MAX_PLACES).collect()
}

/// Where the pattern of a search may lead that may as well be a regular expression: it begins as a path that leads out, and
/// says more than signs. Whether there is anything tells which of both it is.
pub(super) fn perhaps_matched(kind: ToolKind, tool: &ToolCall, places: &[String]) -> Vec<String> {
    let input = tool.raw_input.as_ref().and_then(Value::as_object).filter(|_| kind == ToolKind::Search);
    let Some(input) = input.filter(|_| !is_by_names(tool)) else { return Vec::new() };
    let leads =
        |text: &String| text.starts_with('/') || text.starts_with("~/") || text.starts_with("../") || home_of(text) > 0;
    let patterns = given(input, |key| key == PATTERN).into_iter().filter(leads);
    let begins = patterns.flat_map(|pattern| beginnings(&pattern, &['{']));
    let says = |start: &String| start.contains(char::is_alphanumeric) || start.starts_with(['.', '~']);
    let at = |start: String| match places.first() {
        Some(place) if start.starts_with("..") => format!("{}/{start}", place.trim_end_matches('/')),
        _ => start,
    };
    begins.filter(says).map(at).take(MAX_PLACES).collect()
}

/// Names that files may have which a search is for: the last part of each of its patterns, as it stands there and with some
/// of what its `*` may stand for in names of secrets.
pub(super) fn last_names(input: &Map<String, Value>, by_names: bool) -> Vec<String> {
    let patterns = given(input, |key| GLOBS.contains(&key) && (key != PATTERN || by_names));
    let spelled = patterns.iter().flat_map(|pattern| spellings(pattern));
    let each = spelled.flat_map(|pattern| alternatives(&pattern, &['{', '[']));
    let last = each.map(|one| one.rsplit('/').next().unwrap_or_default().to_owned());
    let mut found: Vec<String> = Vec::new();
    for name in last.filter(|name| name.contains(char::is_alphanumeric) || name.starts_with('.')) {
        let name = name.replace("**", "*");
        let of_env = ENDS_OF_ENV.iter().filter(|end| may_be_env(&name, end)).map(|end| format!("{ENV}{end}"));
        let names = STARS.iter().map(|star| name.replace(['*', '?'], star)).chain(of_env);
        let is_usual = name.starts_with(['*', '?']) && USUAL_ENDS.iter().any(|end| name.ends_with(end));
        let itself = Some(name.clone()).filter(|_| !is_usual);
        for name in itself.into_iter().chain(names).filter(|name| name.len() > 1) {
            if found.len() < MAX_LAST && !found.contains(&name) {
                found.push(name);
            }
        }
    }
    found
}

/// Whether a name with `*` that has such an ending may be that of the settings which end so.
fn may_be_env(name: &str, end: &str) -> bool {
    let Some(before) = name.strip_suffix(end).filter(|before| before.contains(['*', '?'])) else { return false };
    ENV.contains(&before.replace(['*', '?'], ""))
}

/// What stands at such keys, however deep.
fn given(input: &Map<String, Value>, is_one: impl Fn(&str) -> bool) -> Vec<String> {
    let mut patterns = Vec::new();
    of_keys(input, &is_one).for_each(|value| texts(value, &mut patterns));
    for value in of_keys_below(input, |_| false, &is_one) {
        texts(value, &mut patterns);
    }
    patterns
}

/// A pattern as it stands there, without the backslashes that take their meaning from signs, and with alternatives in brackets
/// (`@(a|b)`) as those in braces.
fn spellings(pattern: &str) -> Vec<String> {
    let mut all = vec![pattern.to_owned()];
    if pattern.contains('\\') {
        all.push(pattern.replace('\\', ""));
    }
    if pattern.contains('(') {
        let pattern =
            ["@(", "+(", "?(", "*(", "!("].iter().fold(pattern.to_owned(), |all, mark| all.replace(mark, "{"));
        all.push(pattern.replace('(', "{").replace('|', ",").replace(')', "}"));
    }
    all
}

/// Where a pattern leads, by each of its alternatives.
fn beginnings(pattern: &str, groups: &[char]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for one in alternatives(pattern, groups) {
        let start = beginning(&one);
        if !found.contains(&start) {
            found.push(start);
        }
    }
    found
}

/// What stands before the first sign of a pattern, as far as the directory; as far as the last `..` where one comes later: it
/// leads out of what the signs stand for, which may be nothing.
fn beginning(pattern: &str) -> String {
    let home = home_of(pattern);
    let rest = pattern.get(home..).unwrap_or_default();
    let Some(first) = rest.find(SIGNS).map(|at| at + home) else { return pattern.to_owned() };
    let is_back = |at: &usize| pattern.get(at + 3..).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    let back = pattern.match_indices("/..").map(|(at, _)| at).filter(|at| *at >= first);
    if let Some(at) = back.filter(is_back).last() {
        let rest = pattern.get(at + 3..).unwrap_or_default();
        let end = rest.find(SIGNS).map_or(pattern.len(), |end| at + 3 + end);
        let parts = pattern.get(..end).unwrap_or_default().split('/').filter(|part| *part != "**");
        return parts.collect::<Vec<_>>().join("/");
    }
    let start = pattern.get(..first).unwrap_or_default();
    if home > 0 && start.matches('/').count() < 2 {
        return start.split_inclusive('/').next().unwrap_or_default().to_owned();
    }
    start.rsplit_once('/').map_or("", |(dir, _)| if dir.is_empty() { "/" } else { dir }).to_owned()
}

/// How far a pattern begins with the name of a directory that only its agent knows (`$HOME/`): no regular expression does.
fn home_of(pattern: &str) -> usize {
    let is_name = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let name = pattern.split('/').next().unwrap_or_default();
    let inner = name
        .strip_prefix('$')
        .map(|inner| inner.strip_prefix('{').and_then(|inner| inner.strip_suffix('}')).unwrap_or(inner));
    if inner.is_some_and(is_name) && pattern.len() > name.len() { name.len() } else { 0 }
}

/// A pattern with each of its alternatives (`{a,b}`), and with each character of a class (`[/]`) by which it leads
/// elsewhere, as far as such groups are any; other signs stay. Of too many alternatives the root stands for the rest.
fn alternatives(pattern: &str, groups: &[char]) -> Vec<String> {
    let (mut open, mut found) = (vec![(String::new(), pattern.to_owned())], Vec::new());
    while let Some((before, rest)) = open.pop() {
        if found.len() + open.len() > MAX_ALTERNATIVES {
            found.insert(0, "/".to_owned());
            break;
        }
        let from = if before.is_empty() { home_of(&rest) } else { 0 };
        let Some(at) = rest.get(from..).and_then(|rest| rest.find(groups)).map(|at| at + from) else {
            found.push(before + &rest);
            continue;
        };
        let (start, group) = rest.split_at(at);
        let end = if group.starts_with('{') { end_of_braces(group) } else { end_of_class(group) };
        let Some(end) = end else {
            found.push(before + &rest);
            continue;
        };
        let (inner, tail) = (group.get(1..end).unwrap_or_default(), group.get(end + 1..).unwrap_or_default());
        let said = before + start;
        if group.starts_with('{') {
            open.extend(parts_of(inner).into_iter().map(|part| (said.clone(), format!("{part}{tail}"))));
        } else {
            open.extend(led_to_by(inner).into_iter().map(|c| (format!("{said}{c}"), tail.to_owned())));
            open.push((format!("{said}?"), tail.to_owned()));
        }
    }
    found
}

/// Where the brace at the beginning closes.
fn end_of_braces(group: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

/// The same of a class: a bracket right at its beginning is one of its characters.
fn end_of_class(group: &str) -> Option<usize> {
    let start = group.get(1..)?;
    let skipped = start.find(|c| !matches!(c, '!' | '^')).unwrap_or(start.len());
    let from = 1 + skipped + usize::from(start.get(skipped..)?.starts_with(']'));
    group.get(from..)?.find(']').map(|at| from + at)
}

/// What stands between the commas of braces, but for those in braces within them.
fn parts_of(inner: &str) -> Vec<&str> {
    let (mut parts, mut from, mut depth) = (Vec::new(), 0, 0_usize);
    for (at, c) in inner.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(inner.get(from..at).unwrap_or_default());
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(inner.get(from..).unwrap_or_default());
    parts
}

/// The characters of a class by which a name leads elsewhere.
fn led_to_by(inner: &str) -> Vec<char> {
    let others = inner.strip_prefix(['!', '^']);
    let chars: Vec<char> = others.unwrap_or(inner).chars().collect();
    let has = |c: char| {
        chars.contains(&c) || chars.windows(3).any(|of| matches!(of, [from, '-', to] if (*from..=*to).contains(&c)))
    };
    // What is in no class that leaves some out can be anything.
    LEADING.into_iter().filter(|c| has(*c) != others.is_some()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn led_to(pattern: &str) -> Vec<String> {
        let input = json!({ "glob": pattern });
        let mut found = matched_below(&["docs".to_owned()], input.as_object().unwrap(), true, false);
        found.sort_unstable();
        found
    }

    #[test]
    fn a_pattern_leads_where_each_of_its_alternatives_does() {
        for (pattern, places) in [
            ("*.md", &[][..]),
            ("src/**/*.rs", &["docs/src"]),
            ("/etc/*", &["/etc"]),
            ("{/etc,x}/*", &["/etc", "docs/x"]),
            ("{a,{b,/etc}}/*", &["/etc", "docs/a", "docs/b"]),
            ("[/]etc/*", &["/etc"]),
            ("[.][.]/x/*", &["docs/../x"]),
            ("$HOME/*", &["$HOME/"]),
            ("$HOME/x*", &["$HOME/"]),
            ("${HOME}/x/*", &["${HOME}/x"]),
            ("~/x/*", &["~/x"]),
            ("\\/etc/*", &["/etc"]),
            ("@(/etc|x)/*", &["/etc", "docs/x"]),
            ("*/../../etc/..x", &["docs/*/../../etc/..x"]),
            ("src/**/../../x/*", &["docs/src/../../x/"]),
            ("src/*/../../../*", &["docs/src/*/../../../"]),
            ("*.{rs,toml}", &[]),
            ("**/*.{test,spec}.[jt]s", &[]),
            ("^foo$", &[]),
            ("fn [a-z]+\\(", &[]),
        ] {
            let found = led_to(pattern);
            for place in places {
                assert!(found.iter().any(|one| one == place), "{pattern}: {place} of {found:?}");
            }
            assert!(!places.is_empty() || found.is_empty(), "{pattern}: {found:?}");
        }
    }

    #[test]
    fn more_patterns_than_are_looked_at_and_more_alternatives_are_no_fewer_places() {
        let globs: Vec<String> = (0..200).map(|n| format!("d{n}/*")).chain(["/etc/*".to_owned()]).collect();
        let input = json!({ "include": globs });
        assert_eq!(matched_below(&[], input.as_object().unwrap(), true, false).len(), MAX_PLACES);
        let many = format!("{}/*", "{a,b}".repeat(20));
        assert!(led_to(&many).iter().any(|place| place == "/"), "{:?}", led_to(&many));
    }
}
