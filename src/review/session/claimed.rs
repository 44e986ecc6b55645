//! A text without what calls say that they have put into it: what is left of a change then was done by somebody else.
//!
//! Plain text; knows no files and no calls. Invariant: a piece is taken out only where it is beyond doubt that it was put
//! in: it stands there once, and did not before.

use std::collections::HashMap;
use std::sync::Arc;

/// A text that a call says it puts in the place of another one.
pub type Piece = (Option<Arc<str>>, Arc<str>);

/// Bytes that are searched for pieces; what is not found by then is not taken out.
const MAX_SEARCHED: usize = 512 << 20;
/// Texts that calls only took away.
const MAX_REMOVALS: usize = 64;

/// What was there before each call, by its place in the list: what happened last comes first. Nothing was taken out where
/// none of it has happened yet. `None` where the pieces do not tell. `calls` has the newest first, of which it has to be
/// known what it did unless all is explained.
pub fn taken_out(before: &str, after: &str, calls: &[Vec<Piece>]) -> Option<Vec<(usize, String)>> {
    let (mut out, mut left): (Vec<(usize, String)>, Vec<usize>) = (Vec::new(), (0..calls.len()).collect());
    let mut room = MAX_SEARCHED;
    let puts = |text: &str| calls.iter().flatten().any(|(_, new)| new.contains(text));
    // Where calls ran side by side, any of them may have been the last one.
    loop {
        let text = out.last().map_or(after, |(_, text)| text.as_str());
        let found = left
            .iter()
            .enumerate()
            .find_map(|(at, call)| Some((at, without(before, text, &calls[*call], &puts, &mut room)?)));
        let Some((at, text)) = found else { break };
        out.push((left.remove(at), text));
    }
    let removed = removals(before, out.last().map_or(after, |(_, text)| text), calls);
    out.extend(removed);
    let is_all = out.last().is_some_and(|(_, text)| text == before);
    let newest = calls.first()?;
    let tells = out.iter().any(|(call, _)| *call == 0) || !newest.is_empty() && newest.iter().all(|p| waits(after, p));
    let keeps = || out.last().is_none_or(|(_, text)| has_all(&counted([before, text, after])));
    (is_all || tells && keeps()).then_some(out)
}

/// The text without the pieces of one call, where any of them is in it. `puts` tells whether some call puts in a text.
fn without(
    before: &str,
    text: &str,
    pieces: &[Piece],
    puts: &impl Fn(&str) -> bool,
    room: &mut usize,
) -> Option<String> {
    let mut rest: Option<String> = None;
    for (old, new) in pieces.iter().rev() {
        let old = old.as_deref().unwrap_or_default();
        let text = rest.as_deref().unwrap_or(text);
        *room = room.checked_sub(before.len() + text.len())?;
        if is_made(before, text, (old, new)) {
            rest = Some(String::new());
        } else if is_in(before, text, (old, new)) {
            let without = text.replacen(&**new, old, 1);
            if before.contains(old) || puts(old) || is_between(before, &without, text) {
                rest = Some(without);
            }
        }
    }
    rest
}

/// What was there before each call that only took something away, where that is all in which two texts differ: where it has
/// stood only the text before can tell.
fn removals(before: &str, text: &str, calls: &[Vec<Piece>]) -> Vec<(usize, String)> {
    let (mut states, mut less) = (Vec::new(), before.to_owned());
    let all = calls.iter().enumerate().flat_map(|(call, pieces)| pieces.iter().map(move |piece| (call, piece)));
    let gone = all.filter_map(|(call, (old, new))| Some((call, old.as_deref()?)).filter(|_| new.is_empty()));
    for (call, old) in gone.filter(|(_, old)| !old.is_empty()).take(MAX_REMOVALS) {
        if text.len() < less.len() && less.matches(old).take(2).count() == 1 && !text.contains(old) {
            let rest = less.replacen(old, "", 1);
            states.push((call, std::mem::replace(&mut less, rest)));
        }
    }
    states.reverse();
    if less == text { states } else { Vec::new() }
}

/// Whether the file was made with this.
fn is_made(before: &str, text: &str, (old, new): (&str, &str)) -> bool {
    before.is_empty() && old.is_empty() && !new.is_empty() && text == new
}

/// Whether one text was put in the place of another one, and can be found.
fn is_in(before: &str, text: &str, (old, new): (&str, &str)) -> bool {
    // What only takes something away leaves what was there.
    let has_happened = || if old.contains(new) { !text.contains(old) } else { !before.contains(new) };
    !old.is_empty() && !new.is_empty() && text.matches(new).take(2).count() == 1 && has_happened()
}

/// How often each line stands in what was there before, in what is said to have been there, and in what is there now.
type Counts<'a> = HashMap<&'a str, [usize; 3]>;

fn counted(texts: [&str; 3]) -> Counts<'_> {
    let mut lines = Counts::new();
    for (at, text) in texts.into_iter().enumerate() {
        text.split_inclusive('\n').for_each(|line| lines.entry(line).or_default()[at] += 1);
    }
    lines
}

/// Whether what is said to have been there has all that was there all the time.
fn has_all(lines: &Counts<'_>) -> bool {
    lines.values().all(|[before, said, after]| said >= before.min(after))
}

/// Whether it has nothing besides that never was in the file: what a call says that it found may hold what somebody else has
/// put there.
fn is_between(before: &str, said: &str, after: &str) -> bool {
    let lines = counted([before, said, after]);
    has_all(&lines) && lines.values().all(|[before, said, after]| said <= before.max(after))
}

/// Whether what a piece takes the place of is still there.
fn waits(text: &str, (old, new): &Piece) -> bool {
    let is_there =
        |old: &str| !old.is_empty() && text.contains(old) && (old.contains(&**new) || !text.contains(&**new));
    old.as_deref().is_some_and(is_there)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(pieces: &[(&str, &str)]) -> Vec<Piece> {
        pieces.iter().map(|(old, new)| (Some((*old).into()), (*new).into())).collect()
    }

    /// What is left, and which calls were taken out.
    fn left(before: &str, after: &str, calls: &[Vec<Piece>]) -> Option<(String, Vec<usize>)> {
        let out = taken_out(before, after, calls)?;
        let rest = out.last().map_or(after, |(_, text)| text).to_owned();
        Some((rest, out.into_iter().map(|(call, _)| call).collect()))
    }

    fn whole(before: &str, calls: &[usize]) -> Option<(String, Vec<usize>)> {
        Some((before.to_owned(), calls.to_vec()))
    }

    #[test]
    fn of_several_calls_each_is_taken_out_in_whatever_order_they_ran() {
        let before = "a\nb\nc\nd\n";
        let [put, del, rep] = [call(&[("b\n", "b\nnew\n")]), call(&[("c\nd\n", "d\n")]), call(&[("a\n", "one\n")])];
        let after = "one\nb\nnew\nd\n";
        for calls in [[put.clone(), del.clone(), rep.clone()], [rep, put, del]] {
            assert_eq!(left(before, after, &calls), whole(before, &[0, 1, 2]));
        }
        // Two put something behind the same line, and the first of them is named first.
        let calls = [call(&[("b\n", "b\none\n")]), call(&[("b\n", "b\ntwo\n")])];
        assert_eq!(left(before, "a\nb\ntwo\none\nc\nd\n", &calls), whole(before, &[1, 0]));
    }

    #[test]
    fn one_call_goes_on_with_what_another_one_put_there() {
        let calls = [call(&[("y\n", "z\n")]), call(&[("x\n", "y\n")])];
        assert_eq!(left("x\n1\n", "z\n1\n", &calls), whole("x\n1\n", &[0, 1]));
        let whole_texts = [call(&[("b\n", "c\n")]), call(&[("a\n", "b\n")])];
        assert_eq!(left("a\n", "c\n", &whole_texts), whole("a\n", &[0, 1]));
        let made = [call(&[("b\n", "c\n")]), vec![(None, "a\nb\n".into())]];
        assert_eq!(left("", "a\nc\n", &made), whole("", &[0, 1]));
    }

    #[test]
    fn what_was_only_taken_away_is_put_back_where_it_was() {
        let calls = [call(&[("d\n", "")]), call(&[("b\n", "b\nnew\n")]), call(&[("a\n", "")])];
        assert_eq!(left("a\nb\nc\nd\n", "b\nnew\nc\n", &calls), whole("a\nb\nc\nd\n", &[1, 2, 0]));
        assert_eq!(left("a\nb\nc\nd\n", "b\nnew\nkept\n", &calls), None, "where it was is not known");
        assert_eq!(left("a\na\n", "a\n", &[call(&[("a\n", "")])]), Some(("a\n".to_owned(), vec![])));
    }

    #[test]
    fn what_nobody_says_is_left() {
        let calls = [call(&[("b\n", "two\n")]), call(&[("c\n", "three\n")])];
        assert_eq!(left("a\nb\nc\n", "one\ntwo\nthree\n", &calls), Some(("one\nb\nc\n".to_owned(), vec![0, 1])));
        assert_eq!(left("a\nb\nc\n", "one\ntwo\nc\n", &calls), Some(("one\nb\nc\n".to_owned(), vec![0])));
    }

    /// What it found has a line of somebody else in it, which is still there; or so it says.
    #[test]
    fn what_a_call_has_found_may_be_somebody_elses_but_is_never_made_up() {
        let call = |found: &str| [call(&[(&format!("a\n{found}c\n"), &format!("one\n{found}c\n"))])];
        let after = "one\nsaved\nc\n";
        assert_eq!(left("a\nc\n", after, &call("saved\n")), Some(("a\nsaved\nc\n".to_owned(), vec![0])));
        let made_up = [vec![(Some("evil\n".into()), after.into())]];
        assert_eq!(left("a\nc\n", after, &made_up), None);
        let drops = [vec![(Some("a\n".into()), after.into())]];
        assert_eq!(left("a\nc\n", after, &drops), None, "what was there all the time");
    }

    /// A deletion leaves what was there: it is not taken out before it has happened.
    #[test]
    fn what_has_not_happened_is_not_taken_out() {
        let del = [call(&[("b\nc\n", "c\n")])];
        assert_eq!(left("a\nb\nc\n", "one\nb\nc\n", &del), Some(("one\nb\nc\n".to_owned(), vec![])));
        let put = [call(&[("b\n", "b\nnew\n")])];
        assert_eq!(left("a\nb\n", "one\nb\n", &put), Some(("one\nb\n".to_owned(), vec![])));
        // Nor what had happened before.
        assert_eq!(left("a\nb\nnew\n", "one\nb\nnew\n", &put), None);
    }

    #[test]
    fn pieces_that_cannot_be_found_do_not_tell() {
        assert_eq!(left("a\na\n", "b\nb\n", &[call(&[("a\n", "b\n")])]), None);
        assert_eq!(left("a\n", "b\n", &[Vec::new()]), None);
        assert_eq!(left("a\n", "b\n", &[]), None);
        // The newest does not tell, and more was changed than another one says.
        let calls = [call(&[("x", "y")]), call(&[("b\n", "two\n")])];
        assert_eq!(left("a\nb\n", "one\ntwo\n", &calls), None);
    }

    #[test]
    fn what_is_searched_is_bounded_and_many_calls_are_found_in_either_order() {
        let lines = |sign: &str| (0..60).map(|n| format!("{sign}{n:02}\n")).collect::<Vec<_>>().concat();
        let mut calls: Vec<_> = (0..60).map(|n| call(&[(&format!("a{n:02}\n"), &format!("b{n:02}\n"))])).collect();
        for _ in 0..2 {
            let out = taken_out(&lines("a"), &lines("b"), &calls).unwrap();
            assert_eq!((out.len(), out.last().unwrap().1 == lines("a")), (60, true));
            calls.reverse();
        }
        let large = format!("{}{}", "x\n".repeat(1 << 20), lines("b"));
        let before = format!("{}{}", "x\n".repeat(1 << 20), lines("a"));
        let many: Vec<_> = (0..4000).map(|n| call(&[(&format!("a{n:02}\n"), &format!("b{n:02}\n"))])).rev().collect();
        assert_eq!(taken_out(&before, &large, &many), None, "the newest of them are not in it");
    }
}
