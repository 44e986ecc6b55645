//! Lengths before messages: pieces of any size, and lengths that are wrong.

use super::super::{Agreed, Framing, MAX_LINE};
use super::*;
use proptest::prelude::*;

const MESSAGES: [&str; 4] = ["{\"a\":\"é\u{2028}\"}", "{}", "[1,\n2]", "{\"text\":\"Content-Length: 3\"}"];

fn written(messages: &[&str]) -> Vec<u8> {
    let framing = Agreed::from(Framing::Lengths);
    let mut out = Vec::new();
    for message in messages {
        framing.head(message.len(), &mut out);
        out.extend_from_slice(message.as_bytes());
        out.extend_from_slice(framing.tail());
    }
    out
}

/// What comes out of these bytes in pieces of such sizes, and why the rest cannot be told apart.
fn read(framing: Framing, bytes: &[u8], sizes: &[usize]) -> (Vec<String>, Option<String>) {
    let mut decoder = Agreed::from(framing).decoder();
    let (mut out, mut rest) = (Vec::new(), bytes);
    for size in sizes.iter().cycle() {
        let (now, later) = rest.split_at((*size).min(rest.len()));
        decoder.push(now, &mut out);
        rest = later;
        if rest.is_empty() {
            break;
        }
    }
    out.extend(decoder.finish());
    let (mut lines, mut lost) = (Vec::new(), None);
    for decoded in out {
        assert_eq!(lost, None, "nothing comes after the loss");
        match decoded {
            Decoded::Line(line) => lines.push(String::from_utf8(line.into_owned()).unwrap()),
            Decoded::Lost(why) => lost = Some(why),
            Decoded::TooLong { .. } => panic!("it is refused by its length"),
        }
    }
    (lines, lost)
}

#[test]
fn s_064_s_070_frames_are_dribbled_byte_by_byte() {
    let mut bytes = written(&MESSAGES);
    assert!(bytes.starts_with("Content-Length: 13\r\n\r\n{\"a\":\"é\u{2028}\"}Content-".as_bytes()));
    bytes.extend_from_slice(b"\r\n\n  \r\n");
    bytes.extend(written(&["{\"last\":1}"]));
    for framing in [Framing::Lengths, Framing::Auto] {
        let (lines, lost) = read(framing, &bytes, &[1]);
        assert_eq!(lines, [MESSAGES[0], "{}", "[1, 2]", MESSAGES[3], "{\"last\":1}"]);
        assert_eq!(lost, None);
    }
}

#[test]
fn s_065_names_in_any_case_other_headers_and_bare_line_ends() {
    let bytes =
        b"content-type: application/json; charset=utf-8\ncOnTent-LENGTH :2\n\n{}CONTENT-LENGTH:2\r\nX-Y: z\r\n\r\n[]";
    for framing in [Framing::Lengths, Framing::Auto] {
        assert_eq!(read(framing, bytes, &[7]), (vec!["{}".to_owned(), "[]".to_owned()], None));
    }
}

#[test]
fn s_069_a_length_that_is_wrong_ends_the_stream_with_a_clear_line() {
    for (header, why) in [
        ("Content-Length: -5", "is no number: \"Content-Length: -5\""),
        ("Content-Length: +5", "is no number"),
        ("Content-Length: 5 bytes", "is no number"),
        ("Content-Length:", "is no number"),
        ("Content-Length: 67108865", "a message of 67108865 bytes is announced; at most 67108864 are taken"),
        ("Content-Length: 99999999999999999999999999", "a message of 99999999999999999999 bytes"),
        ("Content-Length: 2\r\nContent-Length: 3", "two lengths"),
        ("Content-Type: application/json", "has no Content-Length"),
        ("npm WARN old lockfile", "no header: \"npm WARN old lockfile\""),
    ] {
        let bytes = [&written(&["{}"]), header.as_bytes(), b"\r\n\r\n{}", &written(&["{}"])].concat();
        for size in [1, 4096] {
            let (lines, lost) = read(Framing::Lengths, &bytes, &[size]);
            assert_eq!(lines, ["{}"], "{header}");
            assert!(lost.as_ref().is_some_and(|lost| lost.contains(why)), "{header}: {lost:?}");
        }
    }
}

#[test]
fn s_069_memory_is_taken_for_what_came_and_not_for_what_is_announced() {
    let mut decoder = LengthDecoder::new(MAX_LINE);
    let mut out = Vec::new();
    let announced = format!("Content-Length: {MAX_LINE}\r\n\r\n{{");
    decoder.push(announced.as_bytes(), &mut out);
    assert!(decoder.part.capacity() < 64 && out.is_empty());
    let mut decoder = LengthDecoder::new(MAX_LINE);
    for _ in 0..1000 {
        decoder.push(b"a header without an end ", &mut out);
    }
    assert!(matches!(out.as_slice(), [Decoded::Lost(why)] if why.contains("more than 8192 bytes")), "{out:?}");
    assert_eq!(decoder.part.capacity(), 0);
}

#[test]
fn s_067_lines_are_the_default_and_names_are_known() {
    assert_eq!(
        Framing::NAMES.map(Framing::named).to_vec(),
        [Some(Framing::default()), Some(Framing::Lengths), Some(Framing::Auto)]
    );
    assert_eq!(Framing::named("lsp"), None);
}

#[test]
fn s_066_s_068_the_first_bytes_decide_for_both_directions() {
    for (first, tail) in [(&b"\r\n{\"a\":1}\n"[..], &b"\n"[..]), (b"\nCONTENT-length: 2\n\n{}", b""), (b"Con\n", b"\n")]
    {
        let framing = Agreed::from(Framing::Auto);
        assert!(framing.is_open());
        assert_eq!(framing.tail(), b"\n", "what is said first is a line");
        let mut decoder = framing.decoder();
        let mut out = Vec::new();
        for byte in first {
            decoder.push(std::slice::from_ref(byte), &mut out);
        }
        assert_eq!((out.len(), framing.is_open(), framing.tail()), (1, false, tail));
    }
}

proptest! {
    #![proptest_config(crate::random(100))]
    #[test]
    fn pieces_do_not_matter(bodies in proptest::collection::vec("[ -~é]{0,40}", 0..6),
                            sizes in proptest::collection::vec(1usize..60, 1..20)) {
        let bodies: Vec<&str> = bodies.iter().map(String::as_str).collect();
        let expected: Vec<String> = bodies.iter().filter(|body| !body.is_empty()).map(|body| (*body).to_owned()).collect();
        for framing in [Framing::Lengths, Framing::Auto] {
            prop_assert_eq!(read(framing, &written(&bodies), &sizes), (expected.clone(), None));
        }
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200), size in 1usize..50) {
        for framing in [Framing::Lengths, Framing::Auto] {
            let mut decoder = Agreed::from(framing).decoder();
            let mut out = Vec::new();
            bytes.chunks(size).for_each(|piece| decoder.push(piece, &mut out));
            decoder.finish();
        }
    }
}
