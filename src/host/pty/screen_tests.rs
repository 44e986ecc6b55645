//! Tests of the emulated screen.

use proptest::prelude::*;

use super::*;

fn shown_after(bytes: &[u8]) -> Vec<String> {
    let mut screen = Screen::new(100, 24);
    screen.advance(bytes);
    rows(&screen)
}

fn rows(screen: &Screen) -> Vec<String> {
    screen.snapshot().rows.iter().map(|row| row.as_str().to_owned()).collect()
}

#[test]
fn rows_without_trailing_blanks() {
    assert_eq!(shown_after(b"one   \r\n\r\n  two\r\n\r\n"), ["one", "", "  two"]);
    assert!(shown_after(b"").is_empty());
}

#[test]
fn colours_and_attributes_become_runs() {
    let mut screen = Screen::new(100, 24);
    screen.advance(b"\x1b[1;31mred\x1b[0m plain \x1b[38;5;200mx\x1b[48;2;1;2;3my\x1b[0;2;3;4;7;9mz\x1b[0m");
    let snapshot = screen.snapshot();
    let runs: Vec<_> = snapshot.rows[0].iter().collect();
    let all = [Mods::ITALIC, Mods::UNDERLINE, Mods::REVERSE, Mods::STRIKE].iter().fold(Mods::FAINT, |a, b| a.with(*b));
    let text = RunStyle::from(Token::Text);
    let pink = RunStyle { fg: Some(AnsiColor::Indexed(200)), ..text };
    assert_eq!(
        runs,
        [
            ("red", RunStyle { fg: Some(AnsiColor::Named(1)), mods: Mods::BOLD, ..text }),
            (" plain ", text),
            ("x", pink),
            ("y", RunStyle { bg: Some(AnsiColor::Rgb(1, 2, 3)), ..pink }),
            ("z", RunStyle { mods: all, ..text }),
        ]
    );
}

#[test]
fn wide_characters_take_their_place_once() {
    assert_eq!(shown_after("漢字 e\u{301} ok".as_bytes()), ["漢字 e\u{301} ok"]);
    let mut screen = Screen::new(4, 3);
    screen.advance("abc漢".as_bytes());
    assert_eq!(rows(&screen), ["abc", "漢"]);
}

#[test]
fn fact_titles_clipboard_and_links_never_show() {
    let bytes =
        b"a\x1b]0;evil title\x07b\x1b]52;c;ZXZpbA==\x07c\x1b]8;;http://evil\x1b\\d\x1b]8;;\x1b\\\x1bPevil\x1b\\e";
    assert_eq!(shown_after(bytes), ["abcde"]);
}

#[test]
fn nothing_that_reorders_or_hides() {
    let text = "a\u{202e}b\u{200b}c\u{2066}d\u{feff}e\u{85}f\u{e0041}";
    let rows = shown_after(text.as_bytes());
    assert!(rows.iter().all(|row| row.chars().all(|c| c.is_ascii_alphabetic() || c == ' ')), "{rows:?}");
}

#[test]
fn the_alternate_screen_comes_and_goes() {
    let mut screen = Screen::new(100, 24);
    screen.advance(b"before\r\n\x1b[?1049h\x1b[2J\x1b[Hfull screen");
    assert_eq!(rows(&screen), ["full screen"]);
    screen.advance(b"\x1b[?1049lafter");
    assert_eq!(rows(&screen), ["before", "after"]);
}

#[test]
fn an_open_synchronised_update_does_not_freeze() {
    assert_eq!(shown_after(b"\x1b[?2026hshown"), ["shown"]);
}

#[test]
fn history_is_bounded_and_what_is_gone_is_counted() {
    let mut screen = Screen::new(100, 24);
    let lines = (0..10_000).fold(String::new(), |all, n| all + &format!("line {n}\r\n"));
    screen.advance(lines.as_bytes());
    let snapshot = screen.snapshot();
    assert_eq!(snapshot.rows.len(), 2000 + 23);
    assert_eq!(snapshot.rows.last().unwrap().as_str(), "line 9999");
    assert_eq!(snapshot.dropped_rows, 10_000 - 2000 - 23);
    assert_eq!(snapshot.rows[0].as_str(), format!("line {}", snapshot.dropped_rows));
}

#[test]
fn queries_are_answered_and_answers_bounded() {
    let mut screen = Screen::new(100, 24);
    screen.advance(b"ab\x1b[6n");
    assert_eq!(screen.take_replies(), b"\x1b[1;3R");
    assert!(screen.take_replies().is_empty());
    screen.advance(&b"\x1b[6n".repeat(10_000));
    assert!(screen.take_replies().len() <= MAX_REPLIES);
}

#[test]
fn combining_characters_in_one_cell_are_bounded() {
    let mut screen = Screen::new(100, 24);
    screen.advance("e".as_bytes());
    for _ in 0..200 {
        screen.advance("\u{301}".repeat(1000).as_bytes());
    }
    let marks = screen.term.grid()[Line(0)][Column(0)].zerowidth().unwrap().len();
    assert!(marks <= MAX_MARKS, "{marks}");
    assert!(rows(&screen)[0].chars().count() <= 1 + MAX_MARKS);
}

#[test]
fn a_defect_of_the_emulator_costs_the_screen_only() {
    let mut screen = Screen::new(100, 24);
    screen.advance(b"lost");
    assert!(!panic_is_contained());
    screen.guarded(|_| {
        assert!(panic_is_contained());
        panic!("as if the emulator had a defect");
    });
    assert!(!panic_is_contained());
    screen.advance(b"goes on");
    let rows = rows(&screen);
    assert!(rows[0].starts_with("[terminal reset"), "{rows:?}");
    assert_eq!(rows[1], "goes on");
}

#[test]
fn sizes_are_clamped() {
    for (cols, rows, clamped) in [(0, 0, MIN_COLS), (1, 0, MIN_COLS), (u16::MAX, u16::MAX, MAX_COLS)] {
        let mut screen = Screen::new(cols, rows);
        screen.advance("abc\r\ndef漢".as_bytes());
        assert_eq!(screen.snapshot().cols, clamped);
    }
}

proptest! {
    #![proptest_config(crate::random(200))]
    #[test]
    fn any_bytes_and_sizes_are_survived(
        cols in 0_u16..12, rows in 0_u16..6,
        steps in prop::collection::vec(
            prop::collection::vec(
                prop_oneof![Just(0x1b_u8), Just(b'['), Just(b']'), Just(b'?'), Just(b'9'), any::<u8>()], 0..60),
            1..6)
    ) {
        let mut screen = Screen::new(cols, rows);
        for bytes in steps {
            screen.advance(&bytes);
            for row in screen.snapshot().rows {
                prop_assert!(row.as_str().chars().all(|c| !c.is_control()));
            }
        }
    }
}

#[test]
fn rows_that_a_smaller_history_drops_are_counted() {
    let line = |n: usize| format!("row {n}\r\n");
    let all: String = (0..3000).map(line).collect();
    let mut screen = Screen::new(100, 24);
    screen.advance(all.as_bytes());
    assert_eq!((rows(&screen).len(), screen.snapshot().dropped_rows), (2023, 977));
    screen.confine(100);
    assert_eq!((rows(&screen).len(), screen.snapshot().dropped_rows), (123, 2877));
    assert_eq!(rows(&screen)[0], "row 2877");
    screen.advance(all.as_bytes());
    assert_eq!((rows(&screen).len(), screen.snapshot().dropped_rows), (123, 5877));
    screen.confine(0);
    assert_eq!(rows(&screen).len(), FEWEST_ROWS + 23);
    let mut other = Screen::new(100, 24);
    other.confine(100);
    all.bytes().for_each(|byte| other.advance(&[byte]));
    assert_eq!((rows(&other).len(), other.snapshot().dropped_rows), (123, 2877));
}

#[test]
fn lines_that_are_longer_than_the_screen_is_wide_are_whole_in_the_text() {
    let mut screen = Screen::new(20, 4);
    let long = "one two three four five six seven eight nine ten";
    screen.advance(format!("{long}\r\n12345678901234567890\r\nnext\r\n1234567890123456789漢字\r\n").as_bytes());
    let mut last = screen.follow(&ScreenSnapshot::default()).0;
    for n in 0..6 {
        screen.advance(format!("{n}\r\n").as_bytes());
        last = screen.follow(&last).0;
    }
    let text = format!("{long}\n12345678901234567890\nnext\n1234567890123456789漢字\n0\n1\n2\n3\n4\n5");
    assert_eq!((last.text(), screen.snapshot().text()), (text.clone(), text));
}

#[test]
fn what_has_scrolled_away_is_read_once() {
    let mut screen = Screen::new(80, 24);
    let (mut last, mut read) = screen.follow(&ScreenSnapshot::default());
    for n in 0..3_000 {
        screen.advance(format!("line {n}\r\n").as_bytes());
        let (next, rows) = screen.follow(&last);
        (last, read) = (next, read + rows);
    }
    assert_eq!(last.rows, screen.snapshot().rows);
    assert!(read <= 3_001 * 25, "{read} rows were read for 3,000 lines");
}

#[test]
fn what_is_followed_is_what_is_there() {
    let mut screen = Screen::new(40, 6);
    let mut last = screen.follow(&ScreenSnapshot::default()).0;
    let pieces: [&str; 12] = [
        "one\r\ntwo\r\nthree\r\nfour\r\nfive\r\nsix\r\nseven\r\n",
        "\x1b[31ma red row that is longer than forty columns by a good deal\x1b[0m\r\n",
        "\x1b[2J\x1b[Hcleared\r\n",
        "\x1b[?1049h\x1b[Halternate\r\n1\r\n2\r\n3\r\n4\r\n5\r\n6\r\n7\r\n",
        "\x1b[?1049lback\r\nand on\r\n",
        "\x1b[3Jno history\r\n",
        "\x1b[2;4rregion\r\n\x1b[r",
        "\x1bMup\x1b[5;1H\x1b[3L",
        "\x1bcreset\r\n",
        "1\r\n2\r\n3\r\n4\r\n5\r\n6\r\n7\r\n8\r\n9\r\n10\r\n11\r\n12\r\n",
        "\x1b[?1049h\x1b[?1049lx\r\ny\r\nz\r\n",
        "\x1b[6;1H\r\n\r\n\r\n",
    ];
    let sizes = [(40, 6), (20, 6), (60, 3), (40, 12)];
    // Each piece after each other one, at sizes that come and go.
    for n in 0..1_000_usize {
        screen.advance(pieces[(n * 7 + n / 12 * 5 + n / 144) % 12].as_bytes());
        if n % 17 == 0 {
            let (cols, rows) = sizes[n / 17 % 4];
            screen.resize(cols, rows);
        }
        if n % 131 == 0 {
            screen.confine(if n % 2 == 0 { 100 } else { 2_000 });
        }
        last = screen.follow(&last).0;
        assert_eq!((&last.rows, last.dropped_rows), (&screen.snapshot().rows, screen.snapshot().dropped_rows), "{n}");
        assert_eq!(last.go_on, screen.snapshot().go_on, "{n}");
    }
}
