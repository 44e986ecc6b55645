use super::*;
use crate::ui::keys::{Code, Key, Mods};
use crate::ui::tty::event::{Click, Scheme, Told};
use proptest::prelude::*;

fn all(pieces: &[&[u8]]) -> Vec<Input> {
    let (mut parser, mut out) = (Parser::default(), Vec::new());
    for piece in pieces {
        parser.feed(piece, &mut out);
    }
    out
}

fn one(bytes: &[u8]) -> Option<Key> {
    match all(&[bytes]).as_slice() {
        [Input::Key(key)] => Some(*key),
        [] => None,
        other => unreachable!("{other:?}"),
    }
}

#[test]
fn the_keys_of_the_seventies() {
    assert_eq!(one(b"a"), Some(Key::char('a')));
    assert_eq!(one("é".as_bytes()), Some(Key::char('é')));
    assert_eq!(one("👍".as_bytes()), Some(Key::char('👍')));
    assert_eq!(one(b"\r"), Some(Key::plain(Code::Enter)));
    assert_eq!(one(b"\n"), Some(Key::ctrl(Code::Char('j'))));
    assert_eq!(one(b"\t"), Some(Key::plain(Code::Tab)));
    assert_eq!(one(b"\x7f"), Some(Key::plain(Code::Backspace)));
    assert_eq!(one(b"\x08"), Some(Key::plain(Code::Backspace)));
    assert_eq!(one(b"\x03"), Some(Key::ctrl(Code::Char('c'))));
    assert_eq!(one(b"\x1f"), Some(Key::ctrl(Code::Char('_'))));
    assert_eq!(one(b"\x1b"), Some(Key::plain(Code::Esc)));
    assert_eq!(one(b"\x1bb"), Some(Key::alt(Code::Char('b'))));
    assert_eq!(one(b"\x1b\r"), Some(Key::alt(Code::Enter)));
    assert_eq!(one(b"\x1b[A"), Some(Key::plain(Code::Up)));
    assert_eq!(one(b"\x1bOA"), Some(Key::plain(Code::Up)));
    assert_eq!(one(b"\x1b[3~"), Some(Key::plain(Code::Delete)));
    assert_eq!(one(b"\x1b[15~"), Some(Key::plain(Code::F(5))));
    assert_eq!(one(b"\x1b[24~"), Some(Key::plain(Code::F(12))));
    assert_eq!(one(b"\x1b[[A"), Some(Key::plain(Code::F(1))));
    assert_eq!(one(b"\x1b[Z"), Some(Key::plain(Code::BackTab)));
}

#[test]
fn modifiers_and_the_kitty_protocol() {
    assert_eq!(one(b"\x1b[1;5C"), Some(Key::ctrl(Code::Right)));
    assert_eq!(one(b"\x1b[1;2R"), Some(Key::shift(Code::F(3))));
    assert_eq!(one(b"\x1b[12;40R"), None, "a cursor position");
    assert_eq!(one(b"\x1b[13;2u"), Some(Key::shift(Code::Enter)));
    assert_eq!(one(b"\x1b[27u"), Some(Key::plain(Code::Esc)));
    assert_eq!(one(b"\x1b[27;2;13~"), Some(Key::shift(Code::Enter)));
    assert_eq!(one(b"\x1b[99;5u"), Some(Key::ctrl(Code::Char('c'))));
    assert_eq!(one(b"\x1b[9;2u"), Some(Key::plain(Code::BackTab)));
    assert_eq!(one(b"\x1b[57400u"), Some(Key::char('1')));
    assert_eq!(one(b"\x1b[99;5:3u"), None, "a release");
    assert_eq!(one(b"\x1b[1;1:3A"), None, "a release");
    assert_eq!(one(b"\x1b[57441u"), None, "a bare Shift");
    assert_eq!(one(b"\x1b[97;9u"), None, "Super");
    let both = Mods { ctrl: true, alt: true, shift: false };
    assert_eq!(one(b"\x1b[97;7u"), Some(Key { code: Code::Char('a'), mods: both }));
}

#[test]
fn mouse_and_focus() {
    let click = |what| vec![Input::Mouse { what, x: 3, y: 4 }];
    assert_eq!(all(&[b"\x1b[<0;4;5M"]), click(Click::Left));
    assert_eq!(all(&[b"\x1b[<64;4;5M"]), click(Click::WheelUp));
    assert_eq!(all(&[b"\x1b[<81;4;5M"]), click(Click::WheelDown), "with Ctrl held");
    assert_eq!(all(&[b"\x1b[M \x24\x25"]), click(Click::Left));
    assert_eq!(all(&[b"\x1b[<32;4;5M\x1b[<0;4;5m"]), [click(Click::Drag), click(Click::Up)].concat());
    assert_eq!(all(&[b"\x1b[M#\x24\x25"]), click(Click::Up));
    for nothing in [&b"\x1b[<35;4;5M"[..], b"\x1b[<2;4;5M", b"\x1b[<2;4;5m", b"\x1b[<34;4;5M"] {
        assert_eq!(all(&[nothing]), []);
    }
    assert_eq!(all(&[b"\x1b[I\x1b[O"]), [Input::Focus(true), Input::Focus(false)]);
}

#[test]
fn a_paste_is_never_keys() {
    let pasted = |s: &str| Input::Paste(s.into());
    assert_eq!(all(&[b"\x1b[200~1\ry\x1b[201~"]), [pasted("1\ry")]);
    assert_eq!(torn(&[b"\x1b[200~a\x1b", b"[20", b"1~", b"b"], 0), [pasted("a")]);
    assert_eq!(torn(&[b"\x1b[200~a\x1b[201~", b"b"], 60), [pasted("a"), Input::Key(Key::char('b'))]);
    assert_eq!(all(&[b"\x1b[200~\x1b[A\x1b[201~"]), [pasted("\x1b[A")]);
    assert_eq!(
        all(&[b"\x1b[200~\xff\x1b[201~\x1b[200~\x1b[201~\x1b[200~x\x1b[201~"]),
        [pasted("\u{fffd}"), pasted("x")]
    );
}

#[test]
fn a_paste_whose_end_does_not_come_gives_the_keys_back() {
    let (mut parser, mut out) = (Parser::default(), Vec::new());
    parser.feed(b"\x1b[200~one\rtwo", &mut out);
    silence(&mut parser, 900, &mut out);
    parser.feed(b"\r3", &mut out);
    assert_eq!(out, [], "it was slow, no more");
    silence(&mut parser, 1100, &mut out);
    assert_eq!(parser.incomplete(), None);
    assert_eq!(std::mem::take(&mut out), [Input::Paste("one\rtwo\r3".into())]);
    // It goes on after all: more than one key at once is text, and what the terminal tells is neither.
    parser.feed(b"\x1b[0n\x1b[O", &mut out);
    assert_eq!(std::mem::take(&mut out), [Input::Told(Told::Arrived), Input::Focus(false)]);
    parser.feed(b"\ry", &mut out);
    silence(&mut parser, 1100, &mut out);
    assert_eq!(std::mem::take(&mut out), [Input::Paste("\ry".into())]);
    for (bytes, key) in [(&b"\r"[..], Key::plain(Code::Enter)), (b"y", Key::char('y')), (b"\x1b[201~", Key::char('z'))]
    {
        parser.feed(bytes, &mut out);
        silence(&mut parser, 60, &mut out);
        if bytes.starts_with(&[ESC]) {
            parser.feed(b"z", &mut out);
        }
        assert_eq!(std::mem::take(&mut out), [Input::Key(key)], "{}", bytes.escape_ascii());
    }
}

#[test]
fn who_stops_a_paste_that_stands_still_has_its_text_and_the_keys() {
    for stop in [&b"\x03"[..], b"\x1b[99;5u", b"\x1b", b"\x1b[27u"] {
        let (mut parser, mut out) = (Parser::default(), Vec::new());
        parser.feed(b"\x1b[200~one\r", &mut out);
        parser.feed(stop, &mut out);
        assert_eq!(out, [], "within what comes it is text");
        let (mut parser, mut out) = (Parser::default(), Vec::new());
        parser.feed(b"\x1b[200~one\r", &mut out);
        silence(&mut parser, 100, &mut out);
        parser.feed(stop, &mut out);
        silence(&mut parser, 60, &mut out);
        assert_eq!(std::mem::take(&mut out), [Input::Paste("one\r".into())], "{}", stop.escape_ascii());
        parser.feed(b"\x03", &mut out);
        assert_eq!(out, [Input::Key(Key::ctrl(Code::Char('c')))], "{}", stop.escape_ascii());
    }
    // No other key does.
    for text in [&b"\r"[..], b"\n", b"y", b"\x04", b"\x1b[A"] {
        let out = torn(&[b"\x1b[200~one", text, b"two\x1b[201~"], 100);
        assert_eq!(out, [Input::Paste(format!("one{}two", String::from_utf8_lossy(text)))], "{}", text.escape_ascii());
    }
}

#[test]
fn a_paste_cut_at_any_place_by_any_pause_loses_nothing_and_types_nothing() {
    let text = "one\r\u{e9}\u{1f4dd}\x1b[20two\x1b";
    let bytes = format!("\x1b[200~{text}\x1b[201~");
    for cut in 6..bytes.len() {
        for gap in [0, 60, 300, 1100, 4000] {
            let (before, after) = bytes.as_bytes().split_at(cut);
            let mut pasted = String::new();
            for input in torn(&[before, after], gap) {
                match input {
                    Input::Paste(piece) => pasted.push_str(&piece),
                    other => assert!(other == Input::Key(Key::plain(Code::Esc)), "{cut} {gap}: {other:?}"),
                }
            }
            assert_eq!(pasted, text, "cut at {cut}, {gap} ms");
        }
    }
}

#[test]
fn a_paste_is_handed_on_before_it_is_too_large() {
    let (mut parser, mut out) = (Parser::default(), Vec::new());
    let piece = vec![b'x'; 1 << 20];
    parser.feed(b"\x1b[200~", &mut out);
    (0..20).for_each(|_| parser.feed(&piece, &mut out));
    let length =
        |out: &[Input]| out.iter().map(|i| if let Input::Paste(text) = i { text.len() } else { 0 }).sum::<usize>();
    assert!((16 << 20..20 << 20).contains(&length(&out)), "{}", length(&out));
    parser.feed(b"\x1b[201~", &mut out);
    assert_eq!(length(&out), 20 << 20);
}

#[test]
fn an_end_within_what_is_pasted_makes_no_keys_of_the_rest() {
    let text = |text: &str| Input::Paste(text.into());
    for (rest, wanted) in [
        (&b"\rrm -rf x\r"[..], vec![text("a"), text("\rrm -rf x\r")]),
        (b"\r", vec![text("a"), text("\r")]),
        (b"\x04", vec![text("a")]),
        (b"\x1b[A\x03\x04\t\nx\x1by", vec![text("a"), text("\t\nx")]),
        (b"\x1b[<0;4;5M\r", vec![text("a"), text("\r")]),
        (b"\x1b[0ny", vec![text("a"), Input::Told(Told::Arrived), text("y")]),
        // Another beginning does not help, nor another end.
        (b"\r\x1b[200~b", vec![text("a"), text("\r"), text("b")]),
        (b"\x1b[201~\r\x1b[201~", vec![text("a"), text("\r")]),
    ] {
        let bytes = [b"a\x1b[201~", rest, b"\x1b[201~"].concat();
        for size in [1, 2, 3, 7, 100] {
            let (mut parser, mut out) = (Parser::default(), Vec::new());
            parser.feed(b"\x1b[200~", &mut out);
            bytes.chunks(size).for_each(|piece| parser.feed(piece, &mut out));
            assert_eq!(out, wanted, "{} by {size}", rest.escape_ascii());
            silence(&mut parser, 60, &mut out);
            parser.feed(b"\r", &mut out);
            assert_eq!(out.last(), Some(&Input::Key(Key::plain(Code::Enter))), "{}", rest.escape_ascii());
        }
    }
}

#[test]
fn one_key_behind_a_paste_is_a_key_and_more_at_once_are_text() {
    let behind = |bytes: &[u8]| torn(&[&[b"\x1b[200~a\x1b[201~", bytes].concat()], 60).split_off(1);
    assert_eq!(behind(b"\r"), [Input::Hasty(Key::plain(Code::Enter))], "a link that sends both at once");
    assert_eq!(behind(b"\x1b"), [Input::Hasty(Key::plain(Code::Esc))]);
    assert_eq!(behind(b"\x1b[A"), [Input::Hasty(Key::plain(Code::Up))]);
    assert_eq!(behind(b"\x1b[I"), [Input::Focus(true)]);
    assert_eq!(behind(b" please\r"), [Input::Paste(" please\r".into())]);
    assert_eq!(behind(b"\x1b[200~b\x1b[201~"), [Input::Paste("b".into())], "two files are dropped");
}

#[test]
fn what_is_not_understood_types_nothing() {
    assert_eq!(all(&[b"\x1b[?62;22y\x1b[>1;2c\x1b[999~\x1b[5;5t"]), []);
    assert_eq!(all(&[b"\xff\xfe", b"a"]), [Input::Key(Key::char('a'))]);
    assert_eq!(all(&[b"\x1b[12\x03"]), [Input::Key(Key::ctrl(Code::Char('c')))], "a broken sequence swallows no key");
}

#[test]
fn a_torn_sequence_waits_and_is_given_up() {
    let (mut parser, mut out) = (Parser::default(), Vec::new());
    parser.feed(b"\x1b[", &mut out);
    assert!(parser.incomplete().is_some() && out.is_empty());
    parser.feed(b"A", &mut out);
    assert_eq!(std::mem::take(&mut out), [Input::Key(Key::plain(Code::Up))]);
    parser.feed(b"\x1b[", &mut out);
    parser.give_up(&mut out);
    assert_eq!(parser.incomplete(), Some(Patience::Memory), "its rest may come, but nothing is held back");
    assert_eq!(std::mem::take(&mut out), [Input::Key(Key::alt(Code::Char('[')))]);
    parser.feed(b"\xe2\x82", &mut out);
    parser.give_up(&mut out);
    assert_eq!(out, []);
}

/// What can be a part of a key or an answer that has lost its escape is known as one only where it comes in one piece.
fn plain_byte() -> impl Strategy<Value = u8> {
    prop_oneof![0..=0x1au8, 0x1c..=0x20u8, b'a'..=b'z', 0xa0..=0xffu8]
}

/// As the fuzzer of keys asks for: its inputs of old, and others.
#[track_caller]
fn is_calm_in_the_end(bytes: &[u8], size: usize) {
    let (mut parser, mut out) = (Parser::default(), Vec::new());
    bytes.chunks(size).for_each(|piece| parser.feed(piece, &mut out));
    // A string without an end is given up in steps.
    (0..16).for_each(|_| parser.give_up(&mut out));
    assert_eq!(parser.incomplete(), None, "{}", bytes.escape_ascii());
}

#[test]
fn nothing_is_held_back_for_ever() {
    is_calm_in_the_end(b"\x1b[\xc3\xa9\xf0\x8fmA\x1b\0\0\0\0", 1);
    is_calm_in_the_end(b"\x1b]11;rgb:ffff/ffff/ffff\x1b\\", 3);
}

proptest! {
    #[test]
    fn however_it_is_cut_it_means_the_same(bytes in proptest::collection::vec(
        prop_oneof![Just(b'['), Just(b'O'), Just(b'2'), Just(b'0'), Just(b';'), Just(b'~'), Just(b'<'), Just(b'M'), any::<u8>()], 0..60),
        at in 0usize..60)
    {
        // A lone escape at the end of a piece is a key of its own.
        let bytes: Vec<u8> = b"\x1b[200~\x1b[1;5A".iter().copied().chain(bytes).filter(|b| *b != 0x1b).collect();
        let (a, b) = bytes.split_at(at.min(bytes.len()));
        prop_assert_eq!(all(&[a, b]), all(&[&bytes]));
    }

    #[test]
    fn plain_bytes_mean_the_same_however_they_are_cut(
        bytes in proptest::collection::vec(plain_byte(), 0..40), size in 1usize..16
    ) {
        let calm = |input| if let Input::Hasty(key) = input { Input::Key(key) } else { input };
        let read = |pieces: &[&[u8]]| all(pieces).into_iter().map(calm).collect::<Vec<_>>();
        prop_assert_eq!(read(&[&bytes]), read(&bytes.chunks(size).collect::<Vec<_>>()));
    }

    #[test]
    fn any_bytes_are_over_once_nothing_more_comes(
        bytes in proptest::collection::vec(any::<u8>(), 0..40), size in 1usize..16
    ) {
        is_calm_in_the_end(&bytes, size);
    }

    #[test]
    fn no_bytes_are_too_strange(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let (mut parser, mut out) = (Parser::default(), Vec::new());
        parser.feed(b"\x1b[", &mut out);
        parser.feed(&bytes, &mut out);
        silence(&mut parser, 7000, &mut out);
        prop_assert!(parser.incomplete().is_none());
    }
}

#[test]
fn the_background_and_pictures_are_told_in_every_way_of_writing_it() {
    let told = |bytes: &[u8]| match all(&[bytes]).as_slice() {
        [Input::Told(told)] => Some(*told),
        [] => None,
        other => unreachable!("{other:?}"),
    };
    let white = Some(Told::Background(255, 255, 255));
    assert_eq!(told(b"\x1b]11;rgb:ffff/ffff/ffff\x1b\\"), white);
    assert_eq!(told(b"\x1b]11;rgb:ff/ff/ff\x07"), white);
    assert_eq!(told(b"\x1b]11;rgba:f/f/f/f\x07"), white);
    assert_eq!(told(b"\x1b]11;#ffffff\x07"), white);
    assert_eq!(told(b"\x1b]11;rgb:0000/8080/ffff\x07"), Some(Told::Background(0, 128, 255)));
    assert_eq!(told(b"\x1b[?62;22c"), Some(Told::Attributes { sixel: false }));
    assert_eq!(told(b"\x1b[?997;2n"), Some(Told::Scheme(Scheme::Light)));
    // What is said of pictures, in the same ways.
    assert_eq!(told(b"\x1b[?63;1;2;4;6c"), Some(Told::Attributes { sixel: true }));
    assert_eq!(
        told(b"\x1b[?4;2c"),
        Some(Told::Attributes { sixel: false }),
        "the first number is the kind of terminal"
    );
    assert_eq!(told(b"\x1b_Gi=31;OK\x1b\\"), Some(Told::TakesKitty));
    assert_eq!(told(b"\x1b]1337;ReportCellSize=17.0;8.0;2.0\x1b\\"), Some(Told::TakesFiles));
    assert_eq!(told(b"\x1b[?1;0;1024S"), Some(Told::Colours(1024)));
    for nothing in [
        &b"\x1b]11;\x07"[..],
        b"\x1b_Gi=31;ENOTSUPPORTED:no\x1b\\",
        b"\x1b_Gi=30;OK\x1b\\",
        b"\x1bPGi=31;OK\x1b\\",
        b"\x1b]1337;File=x\x07",
        b"\x1b[?1;1;1024S",
        b"\x1b[?1;0;99999999S",
        b"\x1b[?2;0;640;480S",
        b"\x1b]11;rgb:ffff/ffff\x07",
        b"\x1b]11;rgb:fffff/0/0\x07",
        b"\x1b]11;rgb:x/y/z\x1b\\",
        b"\x1b]11;#ff\x07",
        b"\x1b]10;rgb:0/0/0\x07",
        b"\x1b]52;c;Zm9v\x07",
        b"\x1b]11;rgb:0/0/0\x18",
    ] {
        assert_eq!(told(nothing), None, "{}", nothing.escape_ascii());
    }
}

#[test]
fn alt_and_a_bracket_stay_a_key() {
    let (mut parser, mut out) = (Parser::default(), Vec::new());
    parser.feed(b"\x1b]", &mut out);
    assert!(out.is_empty());
    parser.give_up(&mut out);
    assert_eq!(out, [Input::Key(Key::alt(Code::Char(']')))]);
    assert_eq!(all(&[b"\x1b]a"]), [Input::Key(Key::alt(Code::Char(']'))), Input::Key(Key::char('a'))]);
}

#[test]
fn an_answer_that_is_expected_may_be_torn_after_its_escape() {
    let answer = b"\x1b]11;rgb:0/0/0\x1b\\\x1b[?62;22c";
    for cut in 0..answer.len() {
        let (mut parser, mut out) = (Parser { expects: true, ..Parser::default() }, Vec::new());
        parser.feed(&answer[..cut], &mut out);
        parser.feed(&answer[cut..], &mut out);
        let both = [Told::Background(0, 0, 0), Told::Attributes { sixel: false }].map(Input::Told);
        assert_eq!(out, both, "cut at {cut}");
    }
    let (mut parser, mut out) = (Parser { expects: true, ..Parser::default() }, Vec::new());
    parser.feed(b"\x1b", &mut out);
    assert_eq!((parser.incomplete(), out.len()), (Some(Patience::Short), 0));
    parser.give_up(&mut out);
    assert_eq!(out, [Input::Key(Key::plain(Code::Esc))]);
}

#[test]
fn that_what_was_drawn_has_arrived_is_told_also_from_within_a_paste() {
    let arrived = || Input::Told(Told::Arrived);
    assert_eq!(all(&[b"\x1b[0n\x1b[3n"]), [arrived(), arrived()]);
    assert_eq!(all(&[b"\x1b", b"[0n"]), [Input::Key(Key::plain(Code::Esc)), arrived()]);
    assert_eq!(all(&[b"\x1b[200~be\x1b[0", b"nhind\x1b[201~"]), [arrived(), Input::Paste("behind".into())]);
    assert_eq!(all(&[b"\x1b[2;2R"]), [Input::Told(Told::Ambiguous { is_wide: false })]);
    assert_eq!(all(&[b"\x1b[2;3R"]), [Input::Told(Told::Ambiguous { is_wide: true })]);
}

/// The terminal is silent for so many milliseconds, as the reader sees it.
fn silence(parser: &mut Parser, mut left: u32, out: &mut Vec<Input>) {
    while let Some(patience) = parser.incomplete() {
        let takes = match patience {
            Patience::Short => 50,
            Patience::Long => 1000,
            Patience::Memory => 5000,
        };
        let Some(rest) = left.checked_sub(takes) else { return };
        left = rest;
        parser.give_up(out);
    }
}

/// What is no press of a key that types or answers: an escape, or Alt with a character, does neither.
fn is_quiet(input: &Input) -> bool {
    match input {
        Input::Hasty(_) | Input::Mouse { .. } | Input::Focus(_) => true,
        Input::Key(key) if !matches!(key.code, Code::Char(_) | Code::Enter | Code::Tab) => true,
        Input::Key(key) => *key == Key::plain(Code::Esc) || key.mods.alt,
        other => matches!(other, Input::Told(_)),
    }
}

fn strings() -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = [
        &b"\x1b]11;rgb:1111/1111/1111\x1b\\"[..],
        b"\x1b]11;rgba:1111/1111/1111/ffff\x07",
        b"\x1b]11;#111111\x07",
        b"\x9d11;rgb:1111/1111/1111\x9c",
        b"\x9d11;rgb:1111/1111/1111\x1b\\",
        b"\xc2\x9d11;rgb:1111/1111/1111\xc2\x9c",
        b"\x1bP1$r0000LEAK\x1b\\",
        b"\x901$r0000LEAK\x9c",
        b"\xc2\x901$r0000LEAK\xc2\x9c",
        b"\x1b_G1111 LEAK\x1b\\",
        b"\x1b^1111 LEAK\x1b\\",
        b"\x1bX1111 LEAK\x1b\\",
        b"\x9f1111\x9c\x9e1111\x9c\x981111\x9c",
        b"\x1b[?62;11;22c",
        b"\x9b?62;11;22c",
        b"\x1b[0n",
        b"\x1b[2;3R",
    ]
    .map(<[u8]>::to_vec)
    .to_vec();
    all.push([b"\x1b]11;", "1".repeat(20_000).as_bytes(), b"\x1b\\"].concat());
    all.push([b"\x1b]11;", "1".repeat(50_000).as_bytes()].concat());
    all
}

#[test]
fn a_string_cut_at_any_place_with_any_gap_types_nothing_and_answers_nothing() {
    for string in strings() {
        // In a long string every place is not worth its time.
        let long = [1, 2, 3, 10, 4095, 4096, 4103, string.len() - 2, string.len() - 1];
        let cuts = if string.len() < 100 { (0..string.len()).collect() } else { long.to_vec() };
        for cut in cuts {
            for gap in [0, 40, 55, 200, 1100, 1600, 2500, 4000] {
                for expects in [false, true] {
                    let (mut parser, mut out) = (Parser { expects, ..Parser::default() }, Vec::new());
                    for piece in string[..cut].chunks(4096) {
                        parser.feed(piece, &mut out);
                    }
                    silence(&mut parser, gap, &mut out);
                    for piece in string[cut..].chunks(4096) {
                        parser.feed(piece, &mut out);
                    }
                    let shown = string[..string.len().min(40)].escape_ascii();
                    assert!(out.iter().all(is_quiet), "{shown} cut at {cut}, {gap} ms, {expects}: {out:?}");
                    // In the end the keys are the person's again.
                    out.clear();
                    silence(&mut parser, 7000, &mut out);
                    parser.feed(b"1", &mut out);
                    parser.feed(b"1", &mut out);
                    assert_eq!(out.last(), Some(&Input::Key(Key::char('1'))), "{shown} cut at {cut}, {gap} ms");
                }
            }
        }
    }
}

#[test]
fn a_long_string_types_nothing() {
    assert_eq!(all(&[b"\x1b]11;", "1".repeat(200_000).as_bytes(), b"\x1b\\a"]), [Input::Key(Key::char('a'))]);
}

#[test]
fn a_bare_answer_about_the_background_types_nothing() {
    for bare in ["]11;rgb:1/1/1\x07", "11;rgb:1/1/1\x07", "1;rgba:1/1/1/1\x07", ";rgb:1/1/1\x07", "11;#111111\x07"] {
        assert_eq!(all(&[bare.as_bytes()]), [Input::Told(Told::Background(17, 17, 17))], "{bare:?}");
    }
}

#[test]
fn a_person_types_on_soon_after_a_torn_string() {
    for string in [&b"\x1b]11;rgb:"[..], b"\x1bP1$r", b"\x9d11;rgb:11"] {
        for (typed, key) in
            [(&b"h"[..], Key::char('h')), (b"\r", Key::plain(Code::Enter)), (b"\x1b[A", Key::plain(Code::Up))]
        {
            let (mut parser, mut out) = (Parser::default(), Vec::new());
            parser.feed(string, &mut out);
            silence(&mut parser, 1100, &mut out);
            parser.feed(typed, &mut out);
            assert_eq!(out, [Input::Key(key)], "{}", string.escape_ascii());
            parser.feed(b"1", &mut out);
            assert_eq!(out.len(), 2, "the digit is a key again");
        }
    }
}

#[test]
fn a_byte_within_a_character_is_no_control() {
    for text in ["\u{275d}1", "ÝÐß1", "\u{1f4dd}1"] {
        let keys: Vec<Input> = text.chars().map(|c| Input::Key(Key::char(c))).collect();
        assert_eq!(all(&[text.as_bytes()]), keys, "{text}");
        for cut in 1..text.len() {
            assert_eq!(all(&[&text.as_bytes()[..cut], &text.as_bytes()[cut..]]), keys, "{text} cut at {cut}");
        }
    }
}

#[test]
fn a_torn_paste_is_a_paste_and_a_torn_report_of_the_mouse_is_nothing() {
    for (beginning, rest, wanted) in [
        (&b"\x1b[2"[..], &b"00~1\x1b[201~"[..], Some("1")),
        (b"\x1b[20", b"0~1\x1b[201~", Some("1")),
        (b"\x1b[200", b"~1\r1\x1b[201~", Some("1\r1")),
        (b"\x9b20", b"0~1\x1b[201~", Some("1")),
        (b"\x1b[M", b"`11", None),
        (b"\x1b[M`", b"11", None),
        (b"\x1b[M`1", b"1", None),
    ] {
        let (mut parser, mut out) = (Parser::default(), Vec::new());
        parser.feed(beginning, &mut out);
        parser.give_up(&mut out);
        parser.feed(rest, &mut out);
        let wanted: Vec<Input> = wanted.map(|text| Input::Paste(text.to_owned())).into_iter().collect();
        assert_eq!(out, wanted, "{beginning:?}");
        silence(&mut parser, 60, &mut out);
        parser.feed(b"x", &mut out);
        assert_eq!(out.last(), Some(&Input::Key(Key::char('x'))), "{beginning:?}");
    }
}

/// What terminals send for keys, the mouse and the window.
fn sequences() -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for last in b"ABCDEFHIMOPQRSZ" {
        all.push(vec![0x1b, b'[', *last]);
        all.push(vec![0x1b, b'O', *last]);
        all.push(format!("\x1b[1;5{}", char::from(*last)).into_bytes());
        all.push(format!("\x1bO5{}", char::from(*last)).into_bytes());
    }
    all.extend((b'j'..=b'y').map(|last| vec![0x1b, b'O', last]));
    all.extend((b'A'..=b'E').map(|last| vec![0x1b, b'[', b'[', last]));
    all.extend((1..=34).map(|n| format!("\x1b[{n}~").into_bytes()));
    all.extend(
        ["\x1b[3;5~", "\x1b[27;2;13~", "\x1b[13u", "\x1b[49u", "\x1b[97;1u", "\x1b[49;3u", "\x1b[57400u"]
            .map(Vec::from),
    );
    all.extend(
        ["\x1b[<0;4;5M", "\x1b[<0;4;5m", "\x1b[M #$", "\x1b[?62;22c", "\x1b[12;40R", "\x1b[?997;1n"].map(Vec::from),
    );
    all
}

/// Pieces of a sequence come after pauses, as the reader sees them.
fn torn(pieces: &[&[u8]], gap: u32) -> Vec<Input> {
    let (mut parser, mut out) = (Parser::default(), Vec::new());
    for piece in pieces {
        parser.feed(piece, &mut out);
        silence(&mut parser, gap, &mut out);
    }
    out
}

#[test]
fn a_key_torn_at_any_place_by_any_pause_neither_types_nor_answers() {
    for sequence in sequences() {
        let bytes: Vec<&[u8]> = sequence.chunks(1).collect();
        for gap in [60, 300, 1000, 6000, 60_000] {
            for cut in 1..sequence.len() {
                let out = torn(&[&sequence[..cut], &sequence[cut..]], gap);
                assert!(out.iter().all(is_quiet), "{} cut at {cut}, {gap} ms: {out:?}", sequence.escape_ascii());
                for more in cut + 1..sequence.len() {
                    let out = torn(&[&sequence[..cut], &sequence[cut..more], &sequence[more..]], gap);
                    // An escape alone is the key; what introduces a sequence may be typed then.
                    let out: Vec<&Input> = out.iter().filter(|input| !is_introducer(input)).collect();
                    let what = sequence.escape_ascii();
                    assert!(
                        out.iter().all(|input| is_quiet(input)),
                        "{what} cut at {cut} and {more}, {gap} ms: {out:?}"
                    );
                }
            }
            let out = torn(&bytes, gap);
            let answers =
                |input: &Input| matches!(input, Input::Key(key) if "AaynN!".chars().any(|c| *key == Key::char(c)));
            assert!(!out.iter().any(answers), "{} byte by byte, {gap} ms: {out:?}", sequence.escape_ascii());
        }
    }
}

fn is_introducer(input: &Input) -> bool {
    ['[', 'O'].iter().any(|c| *input == Input::Key(Key::char(*c)))
}

#[test]
fn after_alt_and_a_bracket_one_sequence_is_the_most_that_is_taken_for_its_rest() {
    for (rest, wanted) in
        [(&b"A"[..], Some(Key::plain(Code::Up))), (b"1;5A", Some(Key::ctrl(Code::Up))), (b"49u", None)]
    {
        let (mut parser, mut out) = (Parser::default(), Vec::new());
        parser.feed(b"\x1b[", &mut out);
        silence(&mut parser, 60, &mut out);
        parser.feed(rest, &mut out);
        parser.feed(b"A", &mut out);
        let keys = [Some(Key::alt(Code::Char('['))), wanted, Some(Key::char('A'))];
        assert_eq!(out, keys.into_iter().flatten().map(Input::Key).collect::<Vec<_>>(), "{}", rest.escape_ascii());
    }
    let (mut parser, mut out) = (Parser::default(), Vec::new());
    parser.feed(b"\x1b[", &mut out);
    silence(&mut parser, 60_000, &mut out);
    parser.feed(b"x", &mut out);
    parser.feed(b"x", &mut out);
    assert_eq!(out[1..], [Input::Hasty(Key::char('x')), Input::Key(Key::char('x'))], "no rest of a key");
}

#[test]
fn alt_with_a_digit_answers_after_an_escape() {
    for gap in [60, 1000, 60_000] {
        let escape = Input::Key(Key::plain(Code::Esc));
        assert_eq!(torn(&[b"\x1b", b"\x1b1"], gap), [escape, Input::Key(Key::alt(Code::Char('1')))], "{gap}");
    }
}

#[test]
fn the_keypad_is_its_digits_and_signs() {
    assert_eq!(one(b"\x1bOq"), Some(Key::char('1')));
    assert_eq!(one(b"\x1bOy"), Some(Key::char('9')));
    assert_eq!(one(b"\x1bOj"), Some(Key::char('*')));
    assert_eq!(one(b"\x1bOM"), Some(Key::plain(Code::Enter)));
    assert_eq!(one(b"\x1bOE"), None);
}

#[test]
fn what_follows_a_shift_for_one_character_is_no_key_of_the_person() {
    for (shift, rest) in [(&[0x8f][..], b"A"), (&[0xc2, 0x8f], b"A"), (&[ESC, b'N'], b"y"), (&[0x8e], b"y")] {
        let (mut parser, mut out) = (Parser::default(), Vec::new());
        parser.feed(shift, &mut out);
        parser.give_up(&mut out);
        out.clear();
        parser.feed(rest, &mut out);
        let answers = |input: &Input| matches!(input, Input::Key(key) if *key == Key::char(char::from(rest[0])));
        assert!(!out.iter().any(answers), "{shift:?} {out:?}");
    }
}
