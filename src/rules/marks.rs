//! Marks of which a shell makes names: `*`, `?`, `[…]` and `{…}` in a word, and which names they may stand for.
//!
//! Looks nothing up. Invariants: what a shell may make of a name is said to be possible, whatever else may be too; the number
//! of names and the time are bounded.

pub(super) const MARKS: [char; 4] = ['*', '?', '[', '{'];
/// Braces of one name, and names that are made of them.
const MAX_BRACES: usize = 6;
const MAX_NAMES: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    Any,
    One,
    Char(char),
}

/// Whether a name stands for itself alone.
pub(super) fn is_plain(name: &str) -> bool {
    !name.contains(['*', '?', '[', ']', '{', '}'])
}

/// What a shell makes of the braces in a name; of too many a `*`.
pub(super) fn expanded(name: &str) -> Vec<String> {
    if name.matches('{').count() > MAX_BRACES {
        let (before, rest) = name.split_once('{').unwrap_or_default();
        return vec![format!("{before}*{}", rest.rsplit_once('}').map_or("", |(_, after)| after))];
    }
    let (mut done, mut open) = (Vec::new(), vec![name.to_owned()]);
    while let Some(name) = open.pop() {
        let end = name.find('}');
        let Some((start, end)) = end.and_then(|end| Some((name.get(..end)?.rfind('{')?, end))) else {
            // Of a word that was cut in its braces.
            let behind = name.rsplit_once('}').map_or(name.clone(), |(_, after)| format!("*{after}"));
            done.push(behind.split_once('{').map_or(behind.clone(), |(before, _)| format!("{before}*")));
            continue;
        };
        let (before, inner, after) = (&name[..start], &name[start + 1..end], &name[end + 1..]);
        if done.len() + open.len() > MAX_NAMES || !inner.contains(',') {
            open.push(format!("{before}*{after}"));
        } else {
            open.extend(inner.split(',').map(|one| format!("{before}{one}{after}")));
        }
    }
    done
}

/// The characters of a name with marks: nothing for one that is not known, and what `*` stands for.
fn marks(name: &str) -> Vec<Mark> {
    // `[]a]`, `[[:alpha:]]`, or more than one class: what stands between may be anything.
    let is_one_class = name.matches('[').count() == 1 && name.matches(']').count() == 1;
    let classes = name.find('[').zip(name.rfind(']')).filter(|(start, end)| start < end);
    let each = |(at, c): (usize, char)| match (c, classes) {
        (_, Some((start, end))) if (start..=end).contains(&at) => {
            let mark = if is_one_class { Mark::One } else { Mark::Any };
            (at == start).then_some(mark)
        }
        ('*' | '{' | '}', _) => Some(Mark::Any),
        ('?', _) => Some(Mark::One),
        (c, _) => Some(Mark::Char(c)),
    };
    name.char_indices().filter_map(each).collect()
}

/// Whether a name with marks may be this one.
pub(super) fn may_be(name: &str, this: &str) -> bool {
    let this: Vec<char> = this.chars().collect();
    // The places in the name that may come next.
    let mut at: Vec<bool> = std::iter::once(true).chain(this.iter().map(|_| false)).collect();
    for mark in marks(name) {
        let mut next = vec![false; at.len()];
        for (place, _) in at.iter().enumerate().filter(|(_, is_here)| **is_here) {
            match mark {
                Mark::Any => next[place..].fill(true),
                Mark::One => next.iter_mut().skip(place + 1).take(1).for_each(|is_here| *is_here = true),
                Mark::Char(c) => {
                    if this.get(place) == Some(&c) {
                        next[place + 1] = true;
                    }
                }
            }
        }
        at = next;
    }
    at.last().is_some_and(|is_end| *is_end)
}

/// Whether a name with marks may end so, and says at least the dot and a letter of it.
pub(super) fn may_end_so(name: &str, ending: &str) -> bool {
    let marks = marks(name);
    let ending: Vec<char> = ending.chars().collect();
    let fits = |of: &[Mark], ending: &[char]| {
        let is_said = of.iter().filter(|mark| matches!(mark, Mark::Char(_))).count() > 1;
        is_said
            && of.len() == ending.len()
            && of.iter().zip(ending).all(|(mark, c)| matches!(mark, Mark::One) || *mark == Mark::Char(*c))
    };
    match marks.split_last() {
        Some((Mark::Any, before)) => {
            let last = before.iter().rposition(|mark| *mark == Mark::Char('.')).unwrap_or(before.len());
            let said = before.len() - last;
            ending.get(..said).is_some_and(|ending| fits(&before[last..], ending))
        }
        _ => marks.len() >= ending.len() && fits(&marks[marks.len() - ending.len()..], &ending),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_marks_may_be_what_a_shell_makes_of_it() {
        for (name, this) in [
            (".e*", ".env"),
            (".e?v", ".env"),
            (".e[mn]v", ".env"),
            (".e[!m]v", ".env"),
            (".e[[:alpha:]]v", ".env"),
            (".e[]n]v", ".env"),
            (".[e][n]v", ".env"),
            ("n[[:alnum:]]tes*.txt", "notes2.txt"),
        ] {
            assert!(may_be(name, this), "{name} {this}");
        }
        for (name, this) in [("*.rs", "secret"), ("a?", "a"), ("[a]b", "b"), ("a[", "b"), ("x", "X")] {
            assert!(!may_be(name, this), "{name} {this}");
        }
    }

    #[test]
    fn of_braces_a_bounded_number_of_names_is_made() {
        assert!(expanded(&"{a,b}".repeat(20_000)).len() <= MAX_NAMES);
        assert_eq!(expanded("a{b,c}").len(), 2);
    }
}
