//! What a text has in it wherever an expression is found there, so that most lines of a journal need not be read.
//!
//! Knows no journal. Invariant: what errs here errs towards reading: where there is a match there is a clue.

use memchr::memchr;
use memchr::memmem::Finder;
use regex_automata::Span;
use regex_automata::meta::Regex;
use regex_automata::util::prefilter::Prefilter;
use regex_automata::util::syntax;
use regex_syntax::hir::literal::Extractor;
use regex_syntax::hir::{Class, Hir, HirKind, Repetition};
use std::sync::LazyLock;

/// Bytes of a clue, and how many there are, more or less: few short ones are found faster.
const MAX_CLUE: usize = 32;
const MAX_CLUES: usize = 24;
/// Parts of an expression that are tried as its beginning.
const MAX_PARTS: usize = 16;
const MAX_CHANCE: f64 = 0.01;
/// What texts and programs are made of, the most frequent first.
const OFTEN: &[u8] = b" etaoinsrhldcumfpgwybvkxjqz";
/// Any letter may be spelt like this.
static ESCAPE: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\\u"));

/// In which texts an expression may be found.
#[derive(Debug)]
pub enum Clues {
    /// In those that have one of a few words.
    Words(Words),
    /// In those in which this one is found, which is as the first but knows no borders.
    Looser(Looser),
    /// In any.
    None,
}

/// Words of which one is in every text that matters.
#[derive(Debug)]
pub struct Words {
    all: Prefilter,
    /// The part of each that every JSON writer spells as it is, unless one has none.
    spelt: Option<Prefilter>,
}

#[derive(Debug)]
pub struct Looser {
    regex: Regex,
    /// It is never found across the end of a line.
    is_of_line: bool,
}

impl Clues {
    pub fn of_literal(text: &str) -> Self {
        Words::of(&[text.as_bytes().to_vec()]).map_or(Self::None, Self::Words)
    }

    /// Of an expression that can be built.
    pub fn of_regex(text: &str) -> Self {
        let Ok(hir) = syntax::parse(text) else { return Self::None };
        let words = required(&hir).filter(|words| tell(words));
        if let Some(words) = words.as_deref().and_then(Words::of) {
            return Self::Words(words);
        }
        let loose = without_borders(&hir);
        let is_of_line = !may_end_line(&loose);
        match Regex::builder().build_from_hir(&loose) {
            Ok(regex) if !regex.is_match("") => Self::Looser(Looser { regex, is_of_line }),
            _ => Self::None,
        }
    }
}

impl Words {
    fn of(words: &[Vec<u8>]) -> Option<Self> {
        let spelt: Option<Vec<&[u8]>> = words.iter().map(|word| plain(word)).collect();
        let find = |words: &[&[u8]]| Prefilter::new(regex_automata::MatchKind::LeftmostFirst, words);
        let all = find(&words.iter().map(Vec::as_slice).collect::<Vec<_>>())?;
        Some(Self { all, spelt: spelt.and_then(|spelt| find(&spelt)) })
    }

    pub fn is_in(&self, text: &[u8]) -> bool {
        self.all.find(text, Span::from(0..text.len())).is_some()
    }

    /// Bytes at the end of a text in which one may begin that goes on.
    pub fn reach(&self) -> usize {
        self.all.max_needle_len().saturating_sub(1)
    }

    /// Whether one may be in a string of this JSON. `room` is used again.
    pub fn may_be_in_json(&self, json: &[u8], room: &mut Vec<u8>) -> bool {
        let Some(spelt) = &self.spelt else { return true };
        let has = |text: &[u8]| spelt.find(text, Span::from(0..text.len())).is_some();
        if has(json) {
            return true;
        }
        room.clear();
        ESCAPE.find(json).is_some() && (!unescape(json, room) || has(room))
    }
}

impl Looser {
    pub fn is_in(&self, text: &[u8]) -> bool {
        self.regex.is_match(text)
    }

    /// Whether it may be found in strings of this JSON that are put together line by line. `room` is used again.
    pub fn may_be_in_json(&self, json: &[u8], room: &mut Vec<u8>) -> bool {
        if !self.is_of_line {
            return true;
        }
        if memchr(b'\\', json).is_none() {
            return self.is_in(json);
        }
        room.clear();
        !unescape(json, room) || self.is_in(room)
    }
}

/// The longest part of a text that every JSON writer spells as it is, or with `\u`.
fn plain(word: &[u8]) -> Option<&[u8]> {
    let is_plain = |byte: &u8| *byte >= b' ' && !b"\"\\/".contains(byte);
    word.split(|byte| !is_plain(byte)).max_by_key(|part| part.len()).filter(|part| !part.is_empty())
}

/// How often one of a few words begins at a place of a text, more or less, by the rarest letters of each: those of a
/// language's frequent words come together.
fn chance(words: &[Vec<u8>]) -> f64 {
    let of = |byte: &u8| {
        let place = OFTEN.iter().position(|often| *often == byte.to_ascii_lowercase());
        let case = if byte.is_ascii_uppercase() { 0.25 } else { 1.0 };
        place.map_or(0.01, |place| case / (6 + 2 * place) as f64)
    };
    let of_word = |word: &Vec<u8>| {
        let mut letters: Vec<f64> = plain(word).unwrap_or_default().iter().map(of).collect();
        letters.sort_by(f64::total_cmp);
        letters.iter().take(3).product::<f64>()
    };
    words.iter().map(of_word).sum()
}

/// A letter alone is in nearly every line, and so is what is found that often.
fn tell(words: &[Vec<u8>]) -> bool {
    words.iter().all(|word| plain(word).is_some_and(|word| word.len() > 1)) && chance(words) < MAX_CHANCE
}

fn rarest(all: impl Iterator<Item = Vec<Vec<u8>>>) -> Option<Vec<Vec<u8>>> {
    all.min_by(|one, other| chance(one).total_cmp(&chance(other)))
}

/// Words of which one is in everything that the expression matches.
fn required(hir: &Hir) -> Option<Vec<Vec<u8>>> {
    let inner = match hir.kind() {
        HirKind::Capture(group) => required(&group.sub),
        HirKind::Repetition(more) if more.min > 0 => required(&more.sub),
        HirKind::Alternation(all) => {
            let all: Option<Vec<_>> = all.iter().map(required).collect();
            all.map(|all| all.concat()).filter(|words| words.len() <= MAX_CLUES)
        }
        HirKind::Concat(parts) => {
            let rests = (1..parts.len().min(MAX_PARTS)).filter_map(|at| begins(&Hir::concat(parts[at..].to_vec())));
            rarest(rests.chain(parts.iter().take(MAX_PARTS).filter_map(required)))
        }
        _ => None,
    };
    rarest([begins(hir), inner].into_iter().flatten())
}

/// What everything that the expression matches begins with.
fn begins(hir: &Hir) -> Option<Vec<Vec<u8>>> {
    let mut words = Extractor::new().extract(hir);
    words.keep_first_bytes(MAX_CLUE);
    // Of `(?i)needle` there are 64, and a few beginnings.
    for length in [6, 4, 3] {
        if words.len().is_some_and(|count| count > MAX_CLUES) {
            words.keep_first_bytes(length);
            words.sort();
            words.dedup();
        }
    }
    Some(words.literals()?.iter().map(|word| word.as_bytes().to_vec()).collect())
}

/// The same without what is said of the text around it: it matches what the expression does, and more, wherever that
/// stands.
fn without_borders(hir: &Hir) -> Hir {
    let all = |parts: &[Hir]| parts.iter().map(without_borders).collect();
    match hir.kind() {
        HirKind::Look(_) => Hir::empty(),
        HirKind::Capture(group) => without_borders(&group.sub),
        HirKind::Repetition(more) => {
            Hir::repetition(Repetition { sub: Box::new(without_borders(&more.sub)), ..more.clone() })
        }
        HirKind::Concat(parts) => Hir::concat(all(parts)),
        HirKind::Alternation(parts) => Hir::alternation(all(parts)),
        HirKind::Empty | HirKind::Literal(_) | HirKind::Class(_) => hir.clone(),
    }
}

fn may_end_line(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => false,
        HirKind::Literal(text) => text.0.contains(&b'\n'),
        HirKind::Class(Class::Unicode(class)) => {
            class.iter().any(|range| (range.start()..=range.end()).contains(&'\n'))
        }
        HirKind::Class(Class::Bytes(class)) => class.iter().any(|range| (range.start()..=range.end()).contains(&b'\n')),
        HirKind::Capture(group) => may_end_line(&group.sub),
        HirKind::Repetition(more) => may_end_line(&more.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().any(may_end_line),
    }
}

/// Puts what strings of JSON say in place of how it is spelt; false where that cannot be told.
pub fn unescape(json: &[u8], out: &mut Vec<u8>) -> bool {
    let mut rest = json;
    while let Some(at) = memchr(b'\\', rest) {
        out.extend_from_slice(&rest[..at]);
        let Some(escaped) = rest.get(at + 1) else { return false };
        rest = &rest[at + 2..];
        out.push(match escaped {
            b'n' => b'\n',
            b't' => b'\t',
            b'r' => b'\r',
            b'b' => 8,
            b'f' => 12,
            b'"' | b'\\' | b'/' => *escaped,
            b'u' => {
                let Some((letter, more)) = letter(rest) else { return false };
                out.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
                rest = more;
                continue;
            }
            _ => return false,
        });
    }
    out.extend_from_slice(rest);
    true
}

/// What stands behind `\u`: a letter, of which the second half may follow.
fn letter(text: &[u8]) -> Option<(char, &[u8])> {
    let unit = |text: &[u8]| {
        let (digits, more) = text.split_first_chunk::<4>()?;
        let unit = u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
        Some((unit, text.len() - more.len()))
    };
    let (first, used) = unit(text)?;
    let rest = &text[used..];
    if let Some(letter) = char::from_u32(u32::from(first)) {
        return Some((letter, rest));
    }
    let behind = rest.strip_prefix(b"\\u")?;
    let (second, used) = unit(behind)?;
    let letter = char::decode_utf16([first, second]).next()?.ok()?;
    Some((letter, &behind[used..]))
}

#[cfg(test)]
#[path = "clues_tests.rs"]
pub(super) mod tests;
