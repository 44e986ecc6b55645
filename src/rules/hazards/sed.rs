//! Which scripts of sed only print, delete and replace.
//!
//! Invariant: a script is plain where every sed reads it so: addresses that are numbers, `$` or plain text between
//! slashes, and the commands `p`, `d`, `q`, `=` and `s` with the flags that run and write nothing.

use crate::rules::word::Word;
use std::iter::Peekable;
use std::str::Chars;

/// What may stand around the parts of `s`.
const MARKS: &str = "/|#,:@!%";
/// What may follow a backslash outside of brackets: no bracket, no mark, and nothing that stands for another character.
const ESCAPED: &str = ".*+?(){}$^&bnstwWS123456789";

/// The words that are scripts and more than plain, with their lengths.
pub(super) fn scripts(words: &[Word]) -> Vec<(usize, usize)> {
    let scripts = all(words).into_iter().filter(|(_, script)| !is_plain(script));
    scripts.filter_map(|(at, _)| Some((at, words.get(at)?.text.len()))).collect()
}

/// The words that are plain scripts, where none stands in a file.
pub(super) fn plain_scripts(words: &[Word]) -> Vec<usize> {
    let takes_file =
        |text: &str| text.starts_with("--f") || text.starts_with('-') && !text.starts_with("--") && text.contains('f');
    if words.iter().skip(1).any(|word| word.could_be_option() || takes_file(&word.text)) {
        return Vec::new();
    }
    let is_known = |at: usize| words.get(at).is_some_and(Word::is_known);
    let plain = all(words).into_iter().filter(|(at, script)| is_known(*at) && is_plain(script));
    plain.map(|(at, _)| at).collect()
}

/// The option that has files changed in place, and the files: `None` where another sed would take one of its words for
/// something else.
pub(in crate::rules) fn in_place(words: &[Word]) -> Option<(usize, Vec<&Word>)> {
    let scripts = all(words);
    let options = || words.iter().enumerate().skip(1).filter(|(_, word)| word.text.starts_with('-'));
    let is_it = |text: &str| {
        text == "--in-place" || text.strip_suffix('i').is_some_and(|rest| rest.chars().all(|c| "-nEr".contains(c)))
    };
    let is_other = |text: &str| text.strip_prefix('-').is_some_and(|rest| rest.chars().all(|c| "nErsue".contains(c)));
    let (mut in_place, others): (Vec<_>, Vec<_>) = options().partition(|(_, word)| is_it(&word.text));
    let (option, _) = in_place.pop().filter(|_| in_place.is_empty())?;
    let is_script = |at: usize| scripts.iter().any(|(script, _)| *script == at);
    let is_known = words.iter().all(Word::is_known) && others.iter().all(|(_, word)| is_other(&word.text));
    let has_script = !scripts.is_empty() && scripts.iter().all(|(_, script)| !script.is_empty());
    let files = words.iter().enumerate().skip(1).filter(|(at, word)| !word.text.starts_with('-') && !is_script(*at));
    let files: Vec<&Word> = files.map(|(_, word)| word).collect();
    let are_files = !files.is_empty() && files.iter().all(|word| is_only_file(&word.text));
    (is_known && has_script && are_files).then_some((option, files))
}

/// Whether a name is no script of another sed either, which takes the script for the ending of a copy.
fn is_only_file(text: &str) -> bool {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || "._-/+".contains(c);
    let mut chars = text.chars();
    let first = chars.next().unwrap_or('w');
    let is_ended = chars.next().is_none_or(|mark| text.matches(mark).count() > 2);
    let runs = "wWrRe/".contains(first) || first.is_ascii_digit() || "sy".contains(first) && is_ended;
    text.chars().all(is_of_name) && !runs
}

/// The words that hold scripts, and those.
fn all(words: &[Word]) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut takes_next = false;
    let mut is_given = false;
    for (at, word) in words.iter().enumerate().skip(1) {
        let text = word.text.as_str();
        let script = if takes_next {
            takes_next = false;
            Some(text)
        } else if let Some(script) = text.strip_prefix("--e") {
            script.split_once('=').map(|(_, script)| script).or_else(|| {
                takes_next = true;
                None
            })
        } else if text.starts_with("--") {
            None
        } else if let Some(letters) = text.strip_prefix('-') {
            match letters.split_once('e') {
                Some((_, "")) => {
                    takes_next = true;
                    None
                }
                Some((_, script)) => Some(script),
                None => None,
            }
        } else if is_given {
            None
        } else {
            Some(text)
        };
        is_given |= script.is_some() || takes_next;
        found.extend(script.map(|script| (at, script)));
    }
    found
}

/// `5p`, `1,20p`, `$d`, `/text/,/more/d`, `s/a/b/g`, several of them with `;`.
pub(in crate::rules) fn is_plain(script: &str) -> bool {
    let mut rest = script.chars().peekable();
    loop {
        while rest.next_if(|c| matches!(c, ' ' | ';' | '\n')).is_some() {}
        if rest.peek().is_none() {
            return true;
        }
        if command(&mut rest).is_none() {
            return false;
        }
        while rest.next_if_eq(&' ').is_some() {}
        if !matches!(rest.peek(), None | Some(';' | '\n')) {
            return false;
        }
    }
}

/// Reads a plain command; `None` for anything else.
fn command(rest: &mut Peekable<Chars<'_>>) -> Option<()> {
    loop {
        while rest.next_if(|c| c.is_ascii_digit() || matches!(c, ',' | '$' | '!' | ' ' | '~' | '+')).is_some() {}
        if rest.next_if_eq(&'/').is_none() {
            break;
        }
        part(rest, '/')?;
        rest.next_if_eq(&'I');
    }
    match rest.next()? {
        'p' | 'd' | 'q' | '=' => Some(()),
        's' => {
            let mark = rest.next().filter(|mark| MARKS.contains(*mark))?;
            part(rest, mark)?;
            part(rest, mark)?;
            while rest.next_if(|c| c.is_ascii_digit() || matches!(c, 'g' | 'p' | 'i' | 'I')).is_some() {}
            Some(())
        }
        _ => None,
    }
}

/// What stands before a mark: text in which nothing could hide the mark.
fn part(rest: &mut Peekable<Chars<'_>>, mark: char) -> Option<()> {
    loop {
        match rest.next()? {
            c if c == mark => return Some(()),
            '\\' => drop(rest.next().filter(|c| ESCAPED.contains(*c) && *c != mark)?),
            '[' => bracket(rest, mark)?,
            '\n' => return None,
            _ => {}
        }
    }
}

/// What stands in brackets, where it is nothing that some take for the end of them and some for the end of the part.
fn bracket(rest: &mut Peekable<Chars<'_>>, mark: char) -> Option<()> {
    rest.next_if_eq(&'^');
    if rest.peek() == Some(&']') {
        return None;
    }
    loop {
        match rest.next()? {
            ']' => return Some(()),
            // `[:space:]`
            '[' => {
                rest.next_if_eq(&':').filter(|_| mark != ':')?;
                while rest.next_if(char::is_ascii_lowercase).is_some() {}
                (rest.next()? == ':' && rest.next()? == ']').then_some(())?;
            }
            c if c == mark || matches!(c, '\\' | '\n') => return None,
            _ => {}
        }
    }
}

#[cfg(test)]
#[path = "sed_tests.rs"]
mod tests;
