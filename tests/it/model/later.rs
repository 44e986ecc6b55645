//! Every MUST that is ours, every trap and every fact is named by a test, or listed here with the reason.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// What concerns something that is neither there nor advertised yet.
const LATER: &[(&str, &str)] = &[];

/// The MUSTs of the checklist that issue 3 assigns; unstable ones excepted.
const MUST: &[u16] = &[
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 29, 32, 34, 35, 38,
    39, 40, 41, 42, 46, 48, 49, 51, 52, 53, 55, 56, 57, 58, 59, 61, 62, 63, 64, 65, 66, 67, 68, 70, 74, 75, 76, 77, 79,
    81, 82, 83, 84, 85, 88, 89, 93, 94, 95, 96, 125, 126, 127, 134, 135, 136, 137, 138, 139, 188, 189, 190, 191, 192,
    195, 196, 199, 201, 202, 205, 206, 207, 208, 211, 212, 213, 215, 216, 217, 218, 219, 221, 224, 225, 228, 229, 230,
    232, 233, 235, 236, 240, 241, 242, 244, 245, 246, 247, 249, 250, 251, 252, 253, 255, 256, 257, 258, 259, 267, 268,
    269, 271, 272, 273, 274, 275, 301, 302, 303, 304, 305, 306, 307, 310, 311, 312, 313, 316, 318, 319, 320, 321, 323,
    324, 325, 326, 327, 328, 329, 330, 331, 334, 335, 336, 337, 338, 339, 340, 341, 343, 344, 346, 347, 348, 349, 350,
    351, 352, 353, 354, 357, 360, 362, 364, 365, 366, 367, 368, 369, 370, 371, 374, 375, 376, 377, 378, 379, 380, 381,
    383, 384, 385, 386, 387, 388, 389, 390, 392, 393, 394, 395, 396, 398, 445, 446, 447, 449, 450, 451, 452, 453, 454,
    455, 456,
];

const FACTS: &[u16] = &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 18, 19, 20, 22, 23, 24, 26, 28, 29];

/// Names like `r_303`, `fact_05`, `trap_17` in the names of functions; `r_377_to_r_381` names all between.
fn named(dir: &Path, out: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            named(&path, out);
        } else if path.extension().is_some_and(|e| e == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            for line in text.lines() {
                let Some(name) = line.trim_start().trim_start_matches("async ").strip_prefix("fn ") else { continue };
                names_in(name.split('(').next().unwrap_or_default(), out);
            }
        }
    }
}

fn names_in(function: &str, out: &mut BTreeSet<String>) {
    let words: Vec<&str> = function.split('_').collect();
    let number = |at: usize| words.get(at).and_then(|w| w.parse::<u16>().ok());
    for (at, word) in words.iter().enumerate() {
        let (kind, width) = match *word {
            "r" => ("r", 3),
            "fact" => ("fact", 2),
            "trap" => ("trap", 2),
            _ => continue,
        };
        let Some(first) = number(at + 1) else { continue };
        let last = if words.get(at + 2) == Some(&"to") { number(at + 4).unwrap_or(first) } else { first };
        out.extend((first..=last).map(|n| format!("{kind}_{n:0width$}")));
    }
}

fn all_named() -> BTreeSet<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut out = BTreeSet::new();
    named(&root.join("src"), &mut out);
    named(&root.join("tests"), &mut out);
    out
}

#[test]
fn every_must_fact_and_trap_is_named_by_a_test() {
    let names = all_named();
    let listed: BTreeMap<&str, &str> = LATER.iter().copied().collect();
    let wanted = MUST
        .iter()
        .map(|n| format!("r_{n:03}"))
        .chain(FACTS.iter().map(|n| format!("fact_{n:02}")))
        .chain((1..=20).map(|n| format!("trap_{n:02}")));
    let missing: Vec<String> = wanted.filter(|w| !names.contains(w) && !listed.contains_key(w.as_str())).collect();
    assert!(missing.is_empty(), "without a test: {missing:?}");
}

#[test]
fn what_is_listed_as_later_has_no_test_and_is_ours() {
    let names = all_named();
    for (name, _) in LATER {
        assert!(!names.contains(*name), "{name} has a test: strike it from LATER");
    }
    let ours: BTreeSet<String> = MUST.iter().map(|n| format!("r_{n:03}")).collect();
    assert!(LATER.iter().all(|(n, _)| ours.contains(*n)));
    let mut sorted = MUST.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!(sorted, MUST);
}

#[test]
fn names_are_read_as_they_are_written() {
    let mut out = BTreeSet::new();
    names_in("r_303_content_r_304", &mut out);
    names_in("r_377_to_r_379_the_end", &mut out);
    names_in("fact_05_x", &mut out);
    names_in("for_r_x", &mut out);
    assert_eq!(out.into_iter().collect::<Vec<_>>(), ["fact_05", "r_303", "r_304", "r_377", "r_378", "r_379"]);
}
