//! Tests of `lines`.

use proptest::prelude::*;

use super::*;

fn of(bytes: &[u8]) -> Lines {
    Lines::of(bytes).expect("text")
}

fn shown(lines: &Lines) -> Vec<String> {
    (0..lines.len()).map(|n| lines.shown(n)).collect()
}

fn utf16(encoding: Encoding, text: &str) -> Vec<u8> {
    let mut bytes = if encoding == Encoding::Utf16Le { vec![0xff, 0xfe] } else { vec![0xfe, 0xff] };
    for unit in text.encode_utf16() {
        bytes.extend(if encoding == Encoding::Utf16Le { unit.to_le_bytes() } else { unit.to_be_bytes() });
    }
    bytes
}

#[test]
fn no_bytes_are_no_lines() {
    assert_eq!((of(b"").len(), of(b"").label(), of(b"").end(0)), (0, None, LineEnd::None));
    assert!(Lines::default().is_empty());
    assert_eq!(of(b"a").raw(7), b"");
    assert_eq!(of(b"a").raw(usize::MAX), b"");
}

#[test]
fn lines_have_their_ends_and_are_shown_without() {
    let lines = of(b"a\tb\r\nc\n\n\x1b[31md\r");
    assert_eq!(shown(&lines), ["a\tb", "c", "", "d "]);
    assert_eq!(lines.raw(0), b"a\tb\r\n");
    let ends: Vec<LineEnd> = (0..4).map(|n| lines.end(n)).collect();
    assert_eq!(ends, [LineEnd::CrLf, LineEnd::Lf, LineEnd::Lf, LineEnd::None]);
}

#[test]
fn labels_say_what_is_unusual() {
    let label = |bytes: &[u8]| of(bytes).label();
    assert_eq!(label(b"a\nb"), None);
    assert_eq!(label(b"a\r\nb\r\n").as_deref(), Some("CRLF"));
    assert_eq!(label(b"a\r\nb\n").as_deref(), Some("mixed line ends"));
    assert_eq!(label(b"\xef\xbb\xbfa\r\n").as_deref(), Some("BOM, CRLF"));
    assert_eq!(label(b"caf\xe9\n").as_deref(), Some("not UTF-8"));
    assert_eq!(label(&utf16(Encoding::Utf16Be, "a\r\n")).as_deref(), Some("UTF-16, CRLF"));
}

#[test]
fn a_byte_order_mark_belongs_to_the_first_line_and_is_not_shown() {
    let lines = of(b"\xef\xbb\xbfa\nb\n");
    assert_eq!((lines.raw(0), lines.shown(0), lines.has_bom()), (&b"\xef\xbb\xbfa\n"[..], "a".to_owned(), true));
    assert_eq!(shown(&of(b"\xef\xbb\xbf")), [""]);
}

#[test]
fn utf_16_is_text_when_it_survives() {
    for encoding in [Encoding::Utf16Le, Encoding::Utf16Be] {
        // The second character has 0x0a for one of its bytes and ends no line.
        let lines = of(&utf16(encoding, "ab\r\n\u{0a41}\u{410a}🦀\nend"));
        assert_eq!((lines.encoding(), shown(&lines).len()), (encoding, 3));
        assert_eq!(shown(&lines)[1], "\u{0a41}\u{410a}🦀");
        assert_eq!((lines.end(0), lines.end(1), lines.end(2)), (LineEnd::CrLf, LineEnd::Lf, LineEnd::None));
    }
    assert!(Lines::of(&b"\xff\xfea\0b"[..]).is_none(), "an odd byte");
    assert!(Lines::of(&b"\xff\xfe\x00\xd8a\0"[..]).is_none(), "half a pair");
    assert!(Lines::of(&b"\xff\xfe\0\0a\0\0\0"[..]).is_none(), "UTF-32");
    assert!(Lines::of(&b"a\0b"[..]).is_none());
}

#[test]
fn a_nul_far_down_does_not_make_it_binary() {
    let mut bytes = vec![b'a'; LOOK];
    bytes.push(0);
    assert!(Lines::of(bytes.clone()).is_some());
    bytes[LOOK - 1] = 0;
    assert!(Lines::of(bytes).is_none());
}

#[test]
fn too_large_is_no_text() {
    assert!(Lines::of(vec![b'a'; MAX_TEXT]).is_some());
    assert!(Lines::of(vec![b'a'; MAX_TEXT + 1]).is_none());
    assert!(Lines::of(vec![b'\n'; MAX_LINES]).is_some());
    assert!(Lines::of(vec![b'\n'; MAX_LINES + 1]).is_none());
    // Half of another character, in UTF-16, ends nothing.
    let halves = utf16(Encoding::Utf16Le, &"\u{0a0a}".repeat(MAX_LINES / 2 + 1));
    assert_eq!(of(&halves).len(), 1);
}

#[test]
fn bytes_that_are_not_utf_8_are_one_character_each() {
    let lines = of(b"caf\xe9 \x9b31mred\x85\n");
    assert_eq!(lines.encoding(), Encoding::Bytes);
    assert_eq!(lines.shown(0), "café \u{fffd}31mred\u{fffd}");
}

#[test]
fn text_of_a_person_takes_the_form_of_the_file() {
    assert_eq!(of(b"a\nb\n").encode("x\ny"), b"x\ny");
    assert_eq!(of(b"a\r\nb\r\nc\n").encode("x\ny\r\n"), b"x\r\ny\r\n");
    assert_eq!(of(b"caf\xe9\n").encode("\u{feff}thé €\n"), b"th\xe9 \xe2\x82\xac\n");
    let le = of(&utf16(Encoding::Utf16Le, "a\r\n"));
    assert_eq!(le.encode("🦀\n"), utf16(Encoding::Utf16Le, "🦀\r\n")[2..]);
}

fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just(&b"\n"[..]),
        Just(&b"\r\n"[..]),
        Just(&b"\r"[..]),
        Just(&b"a"[..]),
        Just(&b"\xef\xbb\xbf"[..]),
        Just(&b"\xff\xfe"[..]),
        Just(&b"\xfe\xff"[..]),
        Just(&b"\xe9"[..]),
        Just(&b"\0"[..]),
        Just("漢🦀".as_bytes()),
    ];
    prop_oneof![
        proptest::collection::vec(piece, 0..12).prop_map(|p| p.concat()),
        ".{0,12}".prop_map(|text| utf16(Encoding::Utf16Le, &text)),
        ".{0,12}\r?\n?.{0,3}".prop_map(|text| utf16(Encoding::Utf16Be, &text)),
    ]
}

proptest! {
    #[test]
    fn raw_lines_are_the_bytes_of_the_file(bytes in pieces()) {
        if let Some(lines) = Lines::of(bytes.clone()) {
            let raw: Vec<u8> = (0..lines.len()).flat_map(|n| lines.raw(n).to_vec()).collect();
            prop_assert_eq!(&raw, &bytes);
            prop_assert!((1..lines.len()).all(|n| lines.end(n - 1) != LineEnd::None), "only the last line may be open");
            for n in 0..lines.len() {
                prop_assert!(!lines.shown(n).contains(['\n', '\r']));
            }
        }
    }

    #[test]
    fn what_was_decoded_is_encoded_to_the_same_bytes(bytes in pieces()) {
        if let Some(lines) = Lines::of(bytes.clone()) {
            let mut again = lines.bom().to_vec();
            for n in 0..lines.len() {
                again.extend(lines.recode(&lines.decoded(n)));
            }
            prop_assert_eq!(again, bytes);
        }
    }
}
