//! Which scripts of sed only print, delete and replace.
//!
//! Invariant: a script is plain where every sed reads it so: addresses that are numbers, `$` or plain text between
//! slashes, and the commands `p`, `d`, `q`, `=` and `s` with the flags that run and write nothing.

use crate::rules::word::Word;
use std::iter::Peekable;
use std::str::Chars;

/// What may stand around the parts of `s`.
const MARKS: &str = "/|#,:@!%";
/// What may follow a backslash: no bracket, no mark, and nothing that stands for another character.
const ESCAPED: &str = ".*+?(){}$^&bnstwWS123456789";

/// The words that are scripts and more than plain, with their lengths.
pub(super) fn scripts(words: &[Word]) -> Vec<(usize, usize)> {
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
        if script.is_some_and(|script| !is_plain(script)) {
            found.push((at, text.len()));
        }
    }
    found
}

/// `5p`, `1,20p`, `$d`, `/text/,/more/d`, `s/a/b/g`, several of them with `;`.
fn is_plain(script: &str) -> bool {
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
            '[' | '\n' => return None,
            _ => {}
        }
    }
}

#[cfg(test)]
#[path = "sed_tests.rs"]
mod tests;
