//! The bytes of `Surface`, read by a small terminal of our own.

use proptest::prelude::*;
use ratatui::buffer::CellWidth as _;
use ratatui::style::{Color, Modifier, Style};
use unicode_segmentation::UnicodeSegmentation;

use super::*;

/// Counts writes and keeps their bytes.
#[derive(Default)]
struct Wire {
    writes: Vec<Vec<u8>>,
}

impl Write for &mut Wire {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writes.push(bytes.to_vec());
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// How the terminal measures what `Surface` calls a cluster or symbol.
#[derive(Clone, Copy)]
enum Measures {
    Alike,
    SymbolsWider,
    /// By a table from before emoji.
    WideSignsNarrow,
    /// Each character for itself.
    Apart,
}

#[derive(Clone, PartialEq, Debug)]
struct Slot {
    /// Empty for the second half of a wide character.
    text: String,
    pen: Pen,
}

struct Vt {
    w: usize,
    h: usize,
    slots: Vec<Slot>,
    x: usize,
    y: usize,
    pen: Pen,
    visible: bool,
    synced: bool,
    measures: Measures,
}

impl Vt {
    fn new(w: u16, h: u16, measures: Measures) -> Self {
        let (w, h) = (usize::from(w), usize::from(h));
        // Rubbish, as after another program.
        let slots = vec![Slot { text: "#".into(), pen: PENS[3] }; w * h];
        Self { w, h, slots, x: w / 2, y: h / 2, pen: PENS[5], visible: true, synced: false, measures }
    }

    fn sgr(&mut self, params: &[usize]) {
        const COLORS: [Color; 7] =
            [Color::Black, Color::Red, Color::Green, Color::Yellow, Color::Blue, Color::Magenta, Color::Cyan];
        let pen = &mut self.pen;
        let mut it = params.iter().copied();
        while let Some(n) = it.next() {
            match n {
                0 => *pen = Pen::default(),
                1 => pen.modifier |= Modifier::BOLD,
                2 => pen.modifier |= Modifier::DIM,
                4 => pen.modifier |= Modifier::UNDERLINED,
                7 => pen.modifier |= Modifier::REVERSED,
                22 => pen.modifier -= Modifier::BOLD | Modifier::DIM,
                24 => pen.modifier -= Modifier::UNDERLINED,
                27 => pen.modifier -= Modifier::REVERSED,
                30..=36 => pen.fg = COLORS[n - 30],
                39 => pen.fg = Color::Reset,
                40..=46 => pen.bg = COLORS[n - 40],
                49 => pen.bg = Color::Reset,
                38 | 48 => {
                    assert_eq!(it.next(), Some(5));
                    let c = Color::Indexed(it.next().unwrap() as u8);
                    if n == 38 { pen.fg = c } else { pen.bg = c }
                }
                n => panic!("sgr {n}"),
            }
        }
    }

    fn blank_out(&mut self, x: usize) {
        // Overwriting half of a wide character blanks the other half.
        let i = self.y * self.w + x;
        if self.slots[i].text.is_empty() && x > 0 {
            self.slots[i - 1].text = " ".into();
        }
        if x + 1 < self.w && self.slots[i + 1].text.is_empty() {
            self.slots[i + 1].text = " ".into();
        }
    }

    fn put(&mut self, g: &str) {
        assert!(self.synced, "text outside the synchronized update");
        assert!(!g.chars().any(|c| c.is_control()), "control {g:?}");
        let letter = g.chars().count() == 1 && g.chars().all(char::is_alphanumeric);
        let symbol = !(g.is_ascii() || letter);
        let mut cells = usize::from(g.cell_width());
        if matches!(self.measures, Measures::SymbolsWider) && symbol {
            cells += 1;
        }
        if matches!(self.measures, Measures::Apart) {
            cells = width::apart(g);
        }
        if matches!(self.measures, Measures::WideSignsNarrow) && symbol {
            cells = cells.min(1);
        }
        // Wrapping is off: what does not fit stays at the edge.
        if self.x + cells > self.w {
            self.x = self.w - cells.min(self.w);
        }
        let pen = self.pen;
        for k in 0..cells {
            self.blank_out(self.x + k);
        }
        for k in 0..cells {
            let text = if k == 0 { g.to_owned() } else { String::new() };
            self.slots[self.y * self.w + self.x + k] = Slot { text, pen };
        }
        self.x = (self.x + cells).min(self.w - 1);
    }

    fn feed(&mut self, bytes: &[u8]) {
        let text = std::str::from_utf8(bytes).unwrap();
        assert!(text.starts_with("\x1b[?2026h") && text.ends_with("\x1b[?2026l"));
        assert_eq!(text.matches("2026").count(), 2);
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            match c {
                '\x1b' => {
                    let body = rest.strip_prefix("\x1b[").expect("only CSI");
                    let end = body.find(|c: char| c.is_ascii_alphabetic()).unwrap();
                    self.csi(&body[..end], body.as_bytes()[end]);
                    rest = &body[end + 1..];
                }
                '\r' => (self.x, rest) = (0, &rest[1..]),
                '\n' => (self.y, rest) = (self.y + 1, &rest[1..]),
                '\x08' => (self.x, rest) = (self.x - 1, &rest[1..]),
                _ => {
                    let stop = rest.find(|c: char| c.is_control()).unwrap_or(rest.len());
                    let g = rest[..stop].graphemes(true).next().unwrap();
                    self.put(g);
                    rest = &rest[g.len()..];
                }
            }
            assert!(self.y < self.h);
        }
        assert!(!self.synced);
    }

    fn csi(&mut self, params: &str, last: u8) {
        let n: Vec<usize> = params.split(';').map(|p| p.parse().unwrap_or(0)).collect();
        let one = n[0].max(1);
        match (params, last) {
            ("?2026", b'h') => self.synced = true,
            ("?2026", b'l') => self.synced = false,
            ("?25", b'h') => self.visible = true,
            ("?25", b'l') => self.visible = false,
            (_, b'H') => (self.y, self.x) = (one - 1, n.get(1).copied().unwrap_or(1).max(1) - 1),
            (_, b'G') => self.x = one - 1,
            (_, b'C') => self.x += one,
            (_, b'K') => {
                assert!(self.synced && params.is_empty());
                assert!(self.pen.is_erased_blank(), "erasing with {:?}", self.pen);
                self.blank_out(self.x);
                for x in self.x..self.w {
                    self.slots[self.y * self.w + x] = Slot { text: " ".into(), pen: Pen::default() };
                }
            }
            (_, b'm') => self.sgr(&n),
            other => panic!("unexpected {other:?}"),
        }
        assert!(self.x < self.w);
    }
}

const fn pen(fg: Color, bg: Color, modifier: Modifier) -> Pen {
    Pen { fg, bg, modifier }
}

const PENS: [Pen; 6] = [
    pen(Color::Reset, Color::Reset, Modifier::empty()),
    pen(Color::Red, Color::Reset, Modifier::BOLD),
    pen(Color::Reset, Color::Reset, Modifier::DIM),
    pen(Color::Indexed(9), Color::Blue, Modifier::empty()),
    pen(Color::Reset, Color::Reset, Modifier::REVERSED),
    pen(Color::Green, Color::Reset, Modifier::UNDERLINED),
];

/// Whether the terminal shows what was painted: same characters, same look.
fn check(vt: &Vt, buf: &Buffer) {
    let w = buf.area.width;
    for y in 0..buf.area.height {
        let row = &buf.content[usize::from(y) * usize::from(w)..][..usize::from(w)];
        let mut x = 0;
        while x < w {
            let glyph = glyph_at(row, x);
            let slot = &vt.slots[usize::from(y * w + x)];
            assert_eq!(slot.text, glyph.text, "at {x},{y}");
            let want = Pen::of(&row[usize::from(x)]);
            if glyph.text == " " {
                assert!(want.same_blank(slot.pen), "blank at {x},{y}: {:?} for {want:?}", slot.pen);
            } else {
                assert_eq!(slot.pen, want, "at {x},{y}");
            }
            for k in 1..glyph.cells {
                assert_eq!(vt.slots[usize::from(y * w + x + k)].text, "", "second half at {x},{y}");
            }
            x += glyph.cells;
        }
    }
}

fn style(p: Pen) -> Style {
    Style::default().fg(p.fg).bg(p.bg).add_modifier(p.modifier)
}

const WORDS: [&str; 14] = [
    "a",
    "hello world",
    "   ",
    "漢字",
    "é",
    "e\u{301}",
    "❤\u{fe0f}",
    "👩\u{200d}👩\u{200d}👧",
    "…",
    "─────",
    "x y",
    "🇩🇪",
    "ナ",
    "क्षि",
];

/// x, y, word, pen.
type Stroke = (u16, u16, usize, usize);

fn strokes() -> impl Strategy<Value = Vec<Stroke>> {
    prop::collection::vec((0..24u16, 0..6u16, 0..WORDS.len(), 0..PENS.len()), 0..12)
}

fn paint(buf: &mut Buffer, strokes: &[Stroke]) {
    for &(x, y, word, p) in strokes {
        if x < buf.area.width && y < buf.area.height {
            buf.set_string(x, y, WORDS[word], style(PENS[p]));
        }
    }
}

#[test]
fn a_cluster_that_is_drawn_apart_spoils_only_its_own_cells() {
    let mut wire = Wire::default();
    let mut vt = Vt::new(20, 1, Measures::Apart);
    let mut surface = Surface::new(&mut wire, 20, 1);
    let family = "\u{1f469}\u{200d}\u{1f469}\u{200d}\u{1f467}";
    for (row, behind) in [
        ("ab words behind".to_owned(), " words behind"),
        (format!("{family} words behind"), " words behind"),
        (format!("{family} wards behind"), " wards behind"),
        (family.to_owned(), "             "),
        (format!("{family} w"), " w           "),
        ("ab w".to_owned(), " w           "),
    ] {
        surface
            .draw(|_, buf| {
                buf.set_string(0, 0, &row, Style::new());
                None
            })
            .unwrap();
        vt.feed(surface.out.writes.last().unwrap());
        let shown: String = vt.slots[2..15].iter().map(|slot| slot.text.as_str()).collect();
        assert_eq!(shown, behind, "{row}");
    }
}

#[test]
fn a_cursor_inside_a_wide_character_does_not_cut_it() {
    let mut wire = Wire::default();
    let mut kept = Buffer::empty(Rect::new(0, 0, 20, 5));
    let mut vt = Vt::new(20, 5, Measures::Alike);
    let mut surface = Surface::new(&mut wire, 20, 5);
    for (stroke, cursor) in [((2, 4, 13, 0), Some((3, 4))), ((5, 4, 0, 0), None)] {
        paint(&mut kept, &[stroke]);
        surface
            .draw(|_, buf| {
                buf.clone_from(&kept);
                cursor
            })
            .unwrap();
        vt.feed(surface.out.writes.last().unwrap());
        check(&vt, &kept);
    }
}

proptest! {
    #![proptest_config(crate::random(400))]

    #[test]
    fn the_terminal_shows_what_was_painted(
        frames in prop::collection::vec((strokes(), prop::option::of((0..30u16, 0..9u16)), 0..8u8), 1..8)
    ) {
        let mut wire = Wire::default();
        let mut kept = Buffer::empty(Rect::new(0, 0, 20, 5));
        let mut vt = Vt::new(20, 5, Measures::Alike);
        let mut surface = Surface::new(&mut wire, 20, 5);
        for (strokes, cursor, kind) in frames {
            match kind {
                0 => {
                    // Another size and back: what the terminal shows is anything.
                    surface.resize(7, 3);
                    surface.resize(20, 5);
                    vt = Vt::new(20, 5, Measures::Alike);
                }
                1 => kept.reset(),
                _ => {}
            }
            paint(&mut kept, &strokes);
            let before = surface.out.writes.len();
            let wrote = surface.draw(|_, buf| { buf.clone_from(&kept); cursor }).unwrap();
            let writes = &surface.out.writes[before..];
            prop_assert_eq!(writes.len(), usize::from(wrote));
            for bytes in writes {
                vt.feed(bytes);
            }
            check(&vt, &kept);
            prop_assert_eq!(vt.visible, cursor.is_some());
            if let Some((x, y)) = cursor {
                prop_assert_eq!((vt.x, vt.y), (usize::from(x.min(19)), usize::from(y.min(4))));
            }
            // The same again costs nothing.
            let again = surface.draw(|_, buf| { buf.clone_from(&kept); cursor }).unwrap();
            prop_assert!(!again);
        }
    }

    #[test]
    fn a_terminal_that_measures_otherwise_does_not_shift_the_row(strokes in strokes()) {
        let mut wire = Wire::default();
        let mut vt = Vt::new(30, 6, Measures::SymbolsWider);
        let mut surface = Surface::new(&mut wire, 30, 6);
        let mut kept = Buffer::empty(Rect::new(0, 0, 30, 6));
        paint(&mut kept, &strokes);
        surface.draw(|_, buf| { buf.clone_from(&kept); None }).unwrap();
        for bytes in &wire.writes {
            vt.feed(bytes);
        }
        // Plain letters that do not touch a doubtful character are where they belong.
        for y in 0..6u16 {
            let row = &kept.content[usize::from(y) * 30..][..30];
            let mut x = 0;
            let mut after_doubt = 0;
            while x < 30 {
                let glyph = glyph_at(row, x);
                if glyph.width == Width::Sure {
                    if after_doubt == 0 && glyph.text != " " {
                        let next_sure = (x + 1..x + 3).all(|k| k >= 30 || glyph_at(row, k).width == Width::Sure);
                        if next_sure {
                            prop_assert_eq!(&vt.slots[usize::from(y * 30 + x)].text, glyph.text);
                        }
                    }
                    after_doubt = 0;
                } else {
                    after_doubt = 1;
                }
                x += glyph.cells;
            }
        }
    }
}

#[test]
fn beside_a_wide_sign_that_the_terminal_draws_narrow_nothing_is_left() {
    let mut wire = Wire::default();
    let mut vt = Vt::new(8, 1, Measures::WideSignsNarrow);
    let mut surface = Surface::new(&mut wire, 8, 1);
    for text in ["abcdefgh", "a🚀🍎fgh"] {
        frame(&mut surface, text, None);
        vt.feed(surface.out.writes.last().unwrap());
    }
    let shown: Vec<&str> = vt.slots.iter().map(|slot| slot.text.as_str()).collect();
    assert_eq!(shown, ["a", "🚀", " ", "🍎", " ", "f", "g", "h"]);
}

fn frame(surface: &mut Surface<&mut Wire>, text: &str, cursor: Option<(u16, u16)>) -> bool {
    surface
        .draw(|_, buf| {
            buf.set_string(0, 0, text, Style::default());
            cursor
        })
        .unwrap()
}

#[test]
fn an_unchanged_frame_writes_nothing() {
    let mut wire = Wire::default();
    let mut s = Surface::new(&mut wire, 40, 10);
    assert!(frame(&mut s, "abc", Some((3, 0))));
    assert!(!frame(&mut s, "abc", Some((3, 0))));
    assert_eq!(wire.writes.len(), 1);
}

#[test]
fn a_typed_letter_costs_little_more_than_itself() {
    let mut wire = Wire::default();
    let mut s = Surface::new(&mut wire, 40, 10);
    frame(&mut s, "abc", Some((3, 0)));
    frame(&mut s, "abcd", Some((4, 0)));
    assert_eq!(wire.writes[1], b"\x1b[?2026hd\x1b[?2026l");
}

#[test]
fn nothing_ever_clears_the_screen() {
    let mut wire = Wire::default();
    let mut s = Surface::new(&mut wire, 40, 10);
    frame(&mut s, "abc", None);
    s.resize(20, 4);
    frame(&mut s, "abc", None);
    s.invalidate();
    frame(&mut s, "", None);
    for bytes in &wire.writes {
        let text = String::from_utf8_lossy(bytes);
        assert!(!text.contains('J') && !text.contains("\x1bc") && !text.contains("1049"), "{text:?}");
    }
    assert_eq!(wire.writes.len(), 3);
}

#[test]
fn long_tails_are_erased_not_overwritten() {
    let mut wire = Wire::default();
    let mut s = Surface::new(&mut wire, 80, 3);
    frame(&mut s, &"x".repeat(70), None);
    frame(&mut s, "xx", None);
    assert_eq!(wire.writes[1], b"\x1b[?2026h\x1b[1;3H\x1b[K\x1b[?2026l");
}

#[test]
fn streaming_text_costs_at_most_two_bytes_a_changed_byte() {
    let mut wire = Wire::default();
    let mut s = Surface::new(&mut wire, 120, 40);
    let words = "the quick brown fox jumps over it, ".repeat(40);
    let (mut changed, mut at) = (0, 0);
    frame(&mut s, "", Some((2, 38)));
    while at + 60 < words.len() {
        at += 60;
        changed += 60;
        s.draw(|_, buf| {
            for (y, row) in words.as_bytes()[..at].chunks(100).enumerate() {
                buf.set_string(2, y as u16, std::str::from_utf8(row).unwrap(), Style::default());
            }
            Some((2, 38))
        })
        .unwrap();
    }
    let written: usize = wire.writes.iter().skip(1).map(Vec::len).sum();
    assert!(written <= changed * 2, "{written} bytes for {changed}");
}

#[test]
fn controls_in_cells_do_not_reach_the_terminal() {
    let mut wire = Wire::default();
    let mut s = Surface::new(&mut wire, 10, 2);
    s.draw(|_, buf| {
        for (x, symbol) in ["\x1b]0;x\x07", "\u{9b}", "\u{202e}", "\n", "a\u{200b}\r"].into_iter().enumerate() {
            buf.content[x].set_symbol(symbol);
        }
        None
    })
    .unwrap();
    let text = String::from_utf8(wire.writes[0].clone()).unwrap();
    assert!(!text.contains(['\u{9b}', '\u{202e}', '\x07']) && !text.contains("\x1b]"), "{text:?}");
    assert!(text.contains("\u{fffd}"));
}

#[test]
fn any_size_is_drawn() {
    for (w, h) in [(0, 0), (1, 1), (5, 3), (681, 180), (u16::MAX, 1), (0, 9)] {
        let mut wire = Wire::default();
        let mut s = Surface::new(&mut wire, w, h);
        s.draw(|area, buf| {
            for y in 0..area.height {
                buf.set_stringn(0, y, "漢字 text", area.width.into(), Style::default());
            }
            Some((u16::MAX, u16::MAX))
        })
        .unwrap();
        assert_eq!(wire.writes.len(), usize::from(w > 0 && h > 0));
    }
}

/// What is written for a row with a link on some of its columns.
fn linked(surface: &mut Surface<Vec<u8>>, text: &str, columns: Range<u16>, address: &str) -> String {
    surface.out.clear();
    let paint = |_: Rect, buf: &mut Buffer, links: &mut Vec<Hyperlink>| {
        buf.set_string(0, 0, text, ratatui::style::Style::new());
        links.push(Hyperlink { y: 0, columns, address: address.into() });
        None
    };
    surface.draw_linked(paint).unwrap();
    String::from_utf8(surface.out.clone()).unwrap()
}

#[test]
fn a_link_is_opened_once_and_closed_behind_its_last_cell() {
    let mut surface = Surface::new(Vec::new(), 20, 2);
    let out = linked(&mut surface, "go to a.example now", 6..15, "https://a.example");
    assert!(out.contains("go to \u{1b}]8;;https://a.example\u{7}a.example\u{1b}]8;;\u{7} now"), "{out:?}");
    assert_eq!(out.matches("]8;").count(), 2, "{out:?}");
    let out = linked(&mut surface, "go to a.example now", 6..15, "https://a.example");
    assert_eq!(out, "", "nothing has changed");
    let out = linked(&mut surface, "go to a.example now", 6..15, "https://b.example");
    assert!(out.contains("https://b.example") && out.ends_with("\u{1b}[?2026l"), "{out:?}");
}

#[test]
fn an_address_that_is_not_plain_leads_nowhere() {
    for address in ["https://a\u{1b}\\evil", "https://a\u{7}", "https://é", "https://a b"] {
        let mut surface = Surface::new(Vec::new(), 20, 2);
        let out = linked(&mut surface, "go to a.example now", 6..15, address);
        assert!(!out.contains("]8;"), "{out:?}");
    }
}
