//! Programs of small languages that only look: comparisons of awk, and questions to a database.
//!
//! Knows no table. Invariant: what is not read for certain does more than look.

use super::listed;
use crate::rules::word::Word;

/// What makes it uncertain, outside of a text, where one, a comment or a group of awk ends.
const UNREAD: &[char] = &['/', '#', '\\'];
/// What a `select` may call, and words that may stand before a group.
const CALLED: &str = "count sum avg min max total group_concat lower upper length substr substring trim ltrim rtrim round \
    abs coalesce ifnull nullif iif instr replace hex typeof date time datetime julianday strftime \
    json_extract json_array_length json_type row_number rank over in and or not where on from join \
    select as values by when then else having like union all exists distinct between case is";

/// Whether a text of awk may put out what it makes elsewhere: `>` is for comparing only before the braces, and in the
/// parentheses behind `if`, `while` and `for`.
pub(super) fn redirects(text: &str) -> bool {
    if !text.contains('>') {
        return false;
    }
    let (mut is_text, mut braces, mut groups, mut last) = (false, 0_usize, Vec::new(), String::new());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if is_text || c == '"' {
            // What is escaped ends no text; a line does.
            let next = if c == '\\' { chars.next() } else { Some(c) };
            if next.is_none_or(|next| next == '\n') {
                return true;
            }
            is_text ^= c == '"';
            last.clear();
            continue;
        }
        match c {
            _ if UNREAD.contains(&c) => return true,
            '{' => braces += 1,
            '}' => braces = braces.saturating_sub(1),
            '(' => {
                let is_in = groups.last().is_some_and(|is_test| *is_test);
                groups.push(is_in || matches!(last.trim_end(), "if" | "while" | "for"));
            }
            ')' => drop(groups.pop()),
            '>' if braces > 0 && groups.last() != Some(&true) => return true,
            _ => {}
        }
        // The name before a group, with blanks between them.
        if c.is_alphanumeric() || c == '_' {
            if last.ends_with(' ') {
                last.clear();
            }
            last.push(c);
        } else if c == ' ' && !last.is_empty() {
            last.push(c);
        } else {
            last.clear();
        }
    }
    false
}

/// Whether a backslash stands before any other character than these.
pub(super) fn escapes(text: &str, harmless: &str) -> bool {
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c == '\\' && !chars.next().is_some_and(|next| harmless.contains(next)) {
            return true;
        }
    }
    false
}

/// Whether a program of jq takes in another file, by words that are neither a field nor a key.
pub(super) fn imports(text: &str) -> bool {
    let is_word = |word: &str| {
        text.match_indices(word).any(|(at, _)| {
            let before = text.get(..at).and_then(|before| before.chars().next_back());
            let behind = text.get(at + word.len()..).and_then(|behind| behind.chars().next());
            before.is_none_or(|c| c.is_whitespace() || c == ';' || c == '}')
                && !behind.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':')
        })
    };
    is_word("import") || is_word("include")
}

/// `NAME 'select …'`: nothing but one question of plain words to the database of a name.
pub(super) fn is_plain(words: &[Word]) -> bool {
    let [_, name, query] = words else { return false };
    let (Some(name), Some(query)) = (name.known(), query.known()) else { return false };
    let is_name = !name.is_empty() && !name.starts_with(['-', '.', '|']) && !name.contains([':', '?']);
    is_name && is_question(query)
}

fn is_question(query: &str) -> bool {
    let query = query.trim().trim_end_matches(';').to_ascii_lowercase();
    let is_select = query.strip_prefix("select").is_some_and(|rest| rest.starts_with([' ', '\'', '*', '(']));
    // What is quoted may be a name that is called.
    let is_plain = |c: char| c.is_ascii_alphanumeric() || " _.,*()=<>!+-%'|\n".contains(c);
    let mut is_text = false;
    let mut code = String::new();
    for c in query.chars() {
        is_text ^= c == '\'';
        code.push(if is_text { ' ' } else { c });
    }
    let calls = code.match_indices('(').all(|(at, _)| {
        let before = code.get(..at).unwrap_or_default().trim_end();
        let start = before.rfind(|c: char| !c.is_ascii_alphanumeric() && c != '_').map_or(0, |at| at + 1);
        let called = before.get(start..).unwrap_or_default();
        called.is_empty() || listed(CALLED).any(|one| one == called)
    });
    is_select && !is_text && code.chars().all(is_plain) && !code.contains("--") && calls
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sign_that_compares_puts_nothing_out() {
        for text in ["$1 > 3", "$1>3{n++}", "{if ($1 > 3) n++}", "{while ((a) > (b)) n++}", "$1 > 3 {print \">\"}", "a"]
        {
            assert!(!redirects(text), "{text}");
        }
        for text in [
            "{print > \"x\"}",
            "{print ($1) > $2}",
            "{print (a)>b}",
            "{if (a > 1) print > b}",
            "/}/ {print > b}",
            "{f(a > b)}",
            "{fif (a > b)}",
            "{print \"}\" > b}",
            "{x = a > b}",
            "{print if > b}",
        ] {
            assert!(redirects(text), "{text}");
        }
    }

    #[test]
    fn one_select_of_plain_words_is_a_question() {
        for query in
            ["select 1", "SELECT count(*) FROM t WHERE a IN (1, 2) AND b = 'x(y); z';", "select a.b from t limit 5"]
        {
            assert!(is_question(query), "{query}");
        }
        for query in [
            "drop table t",
            "select 1; drop table t",
            "select writefile('a', b)",
            "select \"writefile\"('a', 1)",
            "selectx",
            "select load_extension('x')",
            "select 1 -- x",
            "select [edit](1)",
            "select 'a",
            "with a as (select 1) delete from a",
            "select readfile ('x')",
            "select pragma_x(1)",
        ] {
            assert!(!is_question(query), "{query}");
        }
    }
}
