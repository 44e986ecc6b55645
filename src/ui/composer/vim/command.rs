//! What keys in normal and visual mode mean: a register, a count, and what is to be done.
//!
//! Pure: reads the characters of a command that were typed so far. Knows no text.

use super::motion::{Find, Motion, Size, Way};
use super::object::Object;
use std::str::Chars;

/// The highest count: more repeats nothing that could be seen.
const MAX_COUNT: usize = 99_999;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Command {
    pub(super) register: Option<char>,
    pub(super) count: Option<usize>,
    pub(super) verb: Verb,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Verb {
    Move(Motion),
    Operate(Operator, Target),
    Edit(Edit),
    /// Begins a selection, or makes it one of lines or characters, or ends it.
    Select {
        lines: bool,
    },
    /// The selection becomes this object.
    SelectObject(Object),
    /// To the other end of the selection.
    OtherEnd,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Operator {
    Delete,
    Change,
    Yank,
    Indent,
    Outdent,
    Toggle,
    Lower,
    Upper,
    /// `r` over a selection.
    Fill(char),
    Join,
    /// What is in the register takes the place of the selection.
    Put,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Target {
    /// The line of the cursor, and those below by the count.
    Lines,
    Motion(Motion),
    Object(Object),
    Selection,
    /// All lines of it.
    SelectedLines,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Edit {
    Insert(Place),
    Overwrite,
    Fill(char),
    Toggle,
    Put(Way),
    Undo,
    Again,
}

/// Where an insertion begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    Here,
    Behind,
    FirstCharacter,
    LineEnd,
    LineAbove,
    LineBelow,
}

/// What was typed so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Typed {
    Whole(Command),
    /// More keys belong to it.
    Part,
    Nothing,
}

/// A part of a command: `Err` tells what became of the whole.
type Part<T> = Result<T, Typed>;

pub(super) fn read(keys: &str, selects: bool) -> Typed {
    match command(&mut keys.chars(), selects) {
        Ok(command) => Typed::Whole(command),
        Err(other) => other,
    }
}

fn next(keys: &mut Chars<'_>) -> Part<char> {
    keys.next().ok_or(Typed::Part)
}

fn command(keys: &mut Chars<'_>, selects: bool) -> Part<Command> {
    let mut register = None;
    let mut count = None;
    loop {
        count = multiply(count, digits(keys)?);
        if !keys.as_str().starts_with('"') {
            break;
        }
        keys.next();
        let name = next(keys)?;
        if !matches!(name, 'a'..='z' | 'A'..='Z' | '0' | '"' | '_' | '+' | '*') {
            return Err(Typed::Nothing);
        }
        register = Some(name);
    }
    let (verb, own) = if selects { (selected(keys)?, None) } else { verb(keys)? };
    Ok(Command { register, count: multiply(count, own), verb })
}

/// A number that does not begin with 0, if one stands there.
fn digits(keys: &mut Chars<'_>) -> Part<Option<usize>> {
    let text = keys.as_str();
    if text.starts_with('0') {
        return Ok(None);
    }
    let len = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, rest) = text.split_at(len);
    *keys = rest.chars();
    if len == 0 {
        return Ok(None);
    }
    if rest.is_empty() {
        return Err(Typed::Part);
    }
    Ok(Some(number.parse().unwrap_or(MAX_COUNT).min(MAX_COUNT)))
}

fn multiply(one: Option<usize>, other: Option<usize>) -> Option<usize> {
    match (one, other) {
        (Some(a), Some(b)) => Some(a.saturating_mul(b).min(MAX_COUNT)),
        (a, b) => a.or(b),
    }
}

/// A command of normal mode, and the count behind its operator.
fn verb(keys: &mut Chars<'_>) -> Part<(Verb, Option<usize>)> {
    use Operator::{Change, Delete, Yank};
    let from = keys.clone();
    let first = next(keys)?;
    if let Some((operator, twice)) = operator(first, keys)? {
        let count = digits(keys)?;
        return Ok((Verb::Operate(operator, target(keys, twice)?), count));
    }
    let operate = |operator, motion| Verb::Operate(operator, Target::Motion(motion));
    let verb = match first {
        'x' => operate(Delete, Motion::Right),
        'X' => operate(Delete, Motion::Left),
        's' => operate(Change, Motion::Right),
        'D' => operate(Delete, Motion::LineEnd),
        'C' => operate(Change, Motion::LineEnd),
        'S' => Verb::Operate(Change, Target::Lines),
        'Y' => Verb::Operate(Yank, Target::Lines),
        'J' => Verb::Operate(Operator::Join, Target::Lines),
        'i' => Verb::Edit(Edit::Insert(Place::Here)),
        'a' => Verb::Edit(Edit::Insert(Place::Behind)),
        'I' => Verb::Edit(Edit::Insert(Place::FirstCharacter)),
        'A' => Verb::Edit(Edit::Insert(Place::LineEnd)),
        'o' => Verb::Edit(Edit::Insert(Place::LineBelow)),
        'O' => Verb::Edit(Edit::Insert(Place::LineAbove)),
        'R' => Verb::Edit(Edit::Overwrite),
        'r' => Verb::Edit(Edit::Fill(next(keys)?)),
        '~' => Verb::Edit(Edit::Toggle),
        'p' => Verb::Edit(Edit::Put(Way::Forth)),
        'P' => Verb::Edit(Edit::Put(Way::Back)),
        'u' => Verb::Edit(Edit::Undo),
        '.' => Verb::Edit(Edit::Again),
        'v' => Verb::Select { lines: false },
        'V' => Verb::Select { lines: true },
        _ => {
            *keys = from;
            Verb::Move(motion(keys)?)
        }
    };
    Ok((verb, None))
}

/// A command of visual mode.
fn selected(keys: &mut Chars<'_>) -> Part<Verb> {
    let from = keys.clone();
    let first = next(keys)?;
    let operate = |operator| Verb::Operate(operator, Target::Selection);
    let lines = |operator| Verb::Operate(operator, Target::SelectedLines);
    Ok(match first {
        'u' => operate(Operator::Lower),
        'U' => operate(Operator::Upper),
        '~' => operate(Operator::Toggle),
        'x' => operate(Operator::Delete),
        's' => operate(Operator::Change),
        'p' | 'P' => operate(Operator::Put),
        'r' => operate(Operator::Fill(next(keys)?)),
        'J' => lines(Operator::Join),
        'D' | 'X' => lines(Operator::Delete),
        'Y' => lines(Operator::Yank),
        'C' | 'S' | 'R' => lines(Operator::Change),
        'v' => Verb::Select { lines: false },
        'V' => Verb::Select { lines: true },
        'o' => Verb::OtherEnd,
        'i' | 'a' => Verb::SelectObject(Object::of(next(keys)?, first == 'a').ok_or(Typed::Nothing)?),
        _ => match operator(first, keys)? {
            Some((operator @ (Operator::Indent | Operator::Outdent), _)) => lines(operator),
            Some((operator, _)) => operate(operator),
            None => {
                *keys = from;
                Verb::Move(motion(keys)?)
            }
        },
    })
}

/// An operator, and what stands for the line when it follows.
fn operator(first: char, keys: &mut Chars<'_>) -> Part<Option<(Operator, char)>> {
    let operator = match first {
        'd' => Operator::Delete,
        'c' => Operator::Change,
        'y' => Operator::Yank,
        '>' => Operator::Indent,
        '<' => Operator::Outdent,
        'g' => {
            let mut behind = keys.clone();
            let (operator, twice) = match next(&mut behind)? {
                '~' => (Operator::Toggle, '~'),
                'u' => (Operator::Lower, 'u'),
                'U' => (Operator::Upper, 'U'),
                _ => return Ok(None),
            };
            *keys = behind;
            return Ok(Some((operator, twice)));
        }
        _ => return Ok(None),
    };
    Ok(Some((operator, first)))
}

fn target(keys: &mut Chars<'_>, twice: char) -> Part<Target> {
    let from = keys.clone();
    let first = next(keys)?;
    if first == twice {
        return Ok(Target::Lines);
    }
    if let 'i' | 'a' = first {
        return Ok(Target::Object(Object::of(next(keys)?, first == 'a').ok_or(Typed::Nothing)?));
    }
    // `gugu` is the same as `guu`.
    if matches!(twice, '~' | 'u' | 'U') && first == 'g' && keys.as_str().starts_with(twice) {
        keys.next();
        return Ok(Target::Lines);
    }
    *keys = from;
    Ok(Target::Motion(motion(keys)?))
}

fn motion(keys: &mut Chars<'_>) -> Part<Motion> {
    use Size::{Big, Word};
    let find = |keys: &mut Chars<'_>, way, till| Ok(Motion::Find(Find { what: next(keys)?, way, till }));
    Ok(match next(keys)? {
        'h' => Motion::Left,
        'l' | ' ' => Motion::Right,
        'k' => Motion::Up,
        'j' => Motion::Down,
        '-' => Motion::LineUp,
        '+' => Motion::LineDown,
        '_' => Motion::LineHere,
        'w' => Motion::Word(Word),
        'W' => Motion::Word(Big),
        'b' => Motion::Back(Word),
        'B' => Motion::Back(Big),
        'e' => Motion::End(Word),
        'E' => Motion::End(Big),
        '0' => Motion::Start,
        '^' => Motion::FirstCharacter,
        '$' => Motion::LineEnd,
        'G' => Motion::Last,
        '|' => Motion::Column,
        'f' => find(keys, Way::Forth, false)?,
        't' => find(keys, Way::Forth, true)?,
        'F' => find(keys, Way::Back, false)?,
        'T' => find(keys, Way::Back, true)?,
        ';' => Motion::Again { reversed: false },
        ',' => Motion::Again { reversed: true },
        '%' => Motion::Pair,
        ')' => Motion::Sentence(Way::Forth),
        '(' => Motion::Sentence(Way::Back),
        '}' => Motion::Paragraph(Way::Forth),
        '{' => Motion::Paragraph(Way::Back),
        'g' => match next(keys)? {
            'g' => Motion::First,
            'e' => Motion::BackEnd(Word),
            'E' => Motion::BackEnd(Big),
            '_' => Motion::LastCharacter,
            _ => return Err(Typed::Nothing),
        },
        _ => return Err(Typed::Nothing),
    })
}
