//! Spellings of one name: many file systems (macOS, Windows, USB sticks) find a file by any of them.
//!
//! Knows names; what a directory finds and lists it is told. Invariant: a name that its directory lists has no other
//! spelling.

/// The name that a directory lists for what is found in it by this one; nothing where that is the name itself, or where it
/// is not known. The directory is listed only where spellings may be one.
pub fn listed(
    name: &[u8],
    finds: &dyn Fn(&[u8]) -> bool,
    names: impl FnOnce() -> Option<Vec<Box<[u8]>>>,
) -> Option<Box<[u8]>> {
    if name.is_ascii() && !in_other_case(name).is_some_and(|other| finds(&other)) {
        return None;
    }
    let names = names().filter(|names| names.iter().all(|is| **is != *name))?;
    let wanted = folded(name);
    names.into_iter().find(|is| folded(is) == wanted)
}

/// What all spellings of a name in small and large letters have in common.
pub fn folded(name: &[u8]) -> Vec<u8> {
    match std::str::from_utf8(name) {
        // Of the letters that have two small ones there is one large one.
        Ok(text) => {
            let large = text.chars().flat_map(char::to_uppercase);
            large.flat_map(char::to_lowercase).collect::<String>().into_bytes()
        }
        Err(_) => name.to_ascii_lowercase(),
    }
}

/// Another spelling of a name; nothing where it has no letters of two cases.
pub fn in_other_case(name: &[u8]) -> Option<Vec<u8>> {
    let text = String::from_utf8_lossy(name);
    let of_text = [text.to_uppercase(), text.to_lowercase()].map(String::into_bytes);
    let others = [name.to_ascii_uppercase(), name.to_ascii_lowercase()].into_iter().chain(of_text);
    let is_other = |other: &Vec<u8>| other != name && folded(other) == folded(name);
    others.into_iter().find(is_other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_found_by_another_spelling_has_the_name_that_is_listed() {
        let of = |name: &str, has: &[&str], minds: bool| {
            let finds = |asked: &[u8]| {
                let is_it = |is: &&&str| is.as_bytes() == asked || !minds && folded(is.as_bytes()) == folded(asked);
                has.iter().find(is_it).is_some()
            };
            let names = || Some(has.iter().map(|is| is.as_bytes().into()).collect());
            listed(name.as_bytes(), &finds, names).map(|is| String::from_utf8(is.into_vec()).unwrap())
        };
        assert_eq!(of("A.TXT", &["b", "a.txt"], false).as_deref(), Some("a.txt"));
        assert_eq!(of("ΟΔΟΣ", &["οδος"], false).as_deref(), Some("οδος"));
        assert_eq!(of("a.txt", &["a.txt", "A.TXT"], true), None, "two files");
        assert_eq!(of("a.txt", &["a.txt"], false), None, "it is spelled so");
        assert_eq!(of("1", &["1"], false), None);
        assert_eq!(of("\u{e9}", &["e\u{301}"], false), None, "composed otherwise: not known");
        let never = || -> Option<Vec<Box<[u8]>>> { panic!("it is not listed where another spelling finds nothing") };
        assert_eq!(listed(b"a.txt", &|_| false, never), None);
    }

    #[test]
    fn bytes_that_are_no_text_have_another_spelling_when_they_have_letters() {
        assert_eq!(in_other_case(b"a\xff"), Some(b"A\xff".to_vec()));
        assert_eq!(in_other_case(b"\xff1"), None);
        assert_eq!(in_other_case(b""), None);
    }
}
