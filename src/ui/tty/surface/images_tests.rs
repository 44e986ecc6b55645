//! Frames with pictures, read by a terminal of our own that knows the protocols and shares no code with what writes them.

use super::*;
use crate::base::graphics::symbol;
use crate::ui::tty::Surface;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use proptest::prelude::*;
use ratatui::layout::Rect;
use ratatui::style::Style;

const PICTURE: (u16, u16) = (6, 4);

/// What is seen in a cell: a letter, or the row and column of a picture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Seen {
    Letter(char),
    Piece(u8, u16, u16),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Placed {
    x: u16,
    y: u16,
    row: u16,
    column: u16,
    columns: u16,
}

#[derive(Default)]
struct Glass {
    size: (u16, u16),
    cells: BTreeMap<(u16, u16), Seen>,
    at: (u16, u16),
    /// Of kitty's protocol: what was sent, by number, and where it is shown.
    sent: BTreeMap<u32, Vec<u8>>,
    sending: Option<(u32, String)>,
    placed: BTreeMap<(u32, u32), Placed>,
    bytes: usize,
}

impl Glass {
    fn new(width: u16, height: u16) -> Self {
        Self { size: (width, height), ..Self::default() }
    }

    fn put(&mut self, what: Option<Seen>) {
        assert!(self.at.0 < self.size.0 && self.at.1 < self.size.1, "outside: {:?}", self.at);
        match what {
            Some(seen) => self.cells.insert((self.at.1, self.at.0), seen),
            None => self.cells.remove(&(self.at.1, self.at.0)),
        };
        self.at.0 += 1;
    }

    fn feed(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len();
        let mut rest = std::str::from_utf8(bytes).unwrap();
        while let Some(c) = rest.chars().next() {
            if let Some(string) = rest.strip_prefix("\x1b_G") {
                let (body, after) = string.split_once("\x1b\\").unwrap();
                self.kitty(body);
                rest = after;
            } else if let Some(string) = rest.strip_prefix("\x1bP") {
                let (body, after) = string.split_once("\x1b\\").unwrap();
                let numbers: Vec<u16> = body.split(';').map(|n| n.parse().unwrap()).collect();
                let [number, row, columns] = numbers[..] else { panic!("{body:?}") };
                let from = self.at;
                (0..columns).for_each(|column| self.put(Some(Seen::Piece(number as u8, row, column))));
                // Terminals differ about where it leaves the cursor.
                self.at = (0, from.1 + 1);
                rest = after;
            } else if let Some(body) = rest.strip_prefix("\x1b[") {
                let end = body.find(|c: char| c.is_ascii_alphabetic()).unwrap();
                self.csi(&body[..end], body.as_bytes()[end]);
                rest = &body[end + 1..];
            } else {
                match c {
                    '\r' => self.at.0 = 0,
                    '\n' => self.at.1 += 1,
                    '\x08' => self.at.0 -= 1,
                    ' ' => self.put(None),
                    c => {
                        assert!(!c.is_control(), "{c:?}");
                        self.put(Some(Seen::Letter(c)));
                    }
                }
                rest = &rest[c.len_utf8()..];
            }
        }
    }

    /// From the cursor to this column.
    fn wipe(&mut self, to: u16) {
        let (from, row) = self.at;
        self.cells.retain(|(y, x), _| *y != row || !(from..to).contains(x));
    }

    fn csi(&mut self, params: &str, last: u8) {
        let number = |text: &str| text.parse::<u16>().ok();
        let (first, second) = params.split_once(';').unwrap_or((params, ""));
        match last {
            b'H' => self.at = (number(second).unwrap_or(1) - 1, number(first).unwrap_or(1) - 1),
            b'G' => self.at.0 = number(params).unwrap() - 1,
            b'C' => self.at.0 += number(params).unwrap_or(1),
            b'K' => self.wipe(self.size.0),
            b'X' => self.wipe(self.at.0 + number(params).unwrap()),
            b'm' | b'h' | b'l' => {}
            other => panic!("{params} {other}"),
        }
    }

    fn kitty(&mut self, body: &str) {
        let (keys, data) = body.split_once(';').unwrap_or((body, ""));
        let keys: BTreeMap<&str, &str> = keys.split(',').map(|pair| pair.split_once('=').unwrap()).collect();
        let key = |name: &str| keys[name].parse::<u32>().unwrap();
        assert_eq!(keys["q"], "2", "no answer is wanted");
        if !keys.contains_key("a") || keys["a"] == "t" {
            assert!(data.len() <= 4096);
            let (_, text) = self.sending.get_or_insert_with(|| (key("i"), String::new()));
            text.push_str(data);
            if keys["m"] == "0" {
                let (id, text) = self.sending.take().unwrap();
                self.sent.insert(id, STANDARD.decode(text).unwrap());
            }
            return;
        }
        assert!(self.sending.is_none(), "nothing comes between the pieces of a picture");
        match (keys["a"], keys.get("d")) {
            ("p", _) => {
                assert!(self.sent.contains_key(&key("i")), "shown before it was sent");
                assert_eq!((keys["C"], keys["r"], key("h")), ("1", "1", 20));
                assert_eq!((key("x") % 10, key("y") % 20, key("w")), (0, 0, key("c") * 10));
                let cell = |name, side| u16::try_from(key(name) / side).unwrap();
                let (row, column, columns) = (cell("y", 20), cell("x", 10), cell("c", 1));
                let placed = Placed { x: self.at.0, y: self.at.1, row, column, columns };
                self.placed.insert((key("i"), key("p")), placed);
            }
            ("d", Some(&"i")) => drop(self.placed.remove(&(key("i"), key("p")))),
            ("d", Some(&"I")) => {
                self.sent.remove(&key("i"));
                self.placed.retain(|(id, _), _| *id != key("i"));
            }
            other => panic!("{other:?}"),
        }
    }

    /// What a person sees.
    fn seen(&self) -> BTreeMap<(u16, u16), Seen> {
        let mut seen = self.cells.clone();
        for ((id, _), placed) in &self.placed {
            for column in 0..placed.columns {
                let piece = Seen::Piece((id & 0xff) as u8, placed.row, placed.column + column);
                let before = seen.insert((placed.y, placed.x + column), piece);
                assert!(!matches!(before, Some(Seen::Piece(..))), "one over the other at {placed:?}");
            }
        }
        seen
    }
}

fn whole(bytes: usize) -> Arc<Image> {
    let png = (0..bytes).map(|n| (n % 251) as u8).collect();
    Arc::new(Image { columns: PICTURE.0, rows: PICTURE.1, cell: (10, 20), form: Form::Whole(png) })
}

/// Each strip says what it is.
fn strips(number: u8) -> Arc<Image> {
    let rows = (0..PICTURE.1).map(|row| format!("\x1bP{number};{row};{}\x1b\\", PICTURE.0).into_bytes()).collect();
    Arc::new(Image { columns: PICTURE.0, rows: PICTURE.1, cell: (10, 20), form: Form::Rows(rows) })
}

/// Two pictures with words between them, so far down, and something above them.
#[derive(Clone, Debug)]
struct Scene {
    top: i32,
    over: Option<(u16, u16, u16, u16)>,
    indent: u16,
    is_unknown: bool,
    size: (u16, u16),
}

const NUMBERS: [u8; 2] = [20, 21];

impl Scene {
    fn paint(&self, area: Rect, buf: &mut Buffer) {
        let mut put = |x: u16, y: i32, symbol: &str, style: Style| {
            if let Some(cell) = u16::try_from(y).ok().and_then(|y| buf.cell_mut((x, y))) {
                cell.set_symbol(symbol).set_style(style);
            }
        };
        for (n, number) in NUMBERS.into_iter().enumerate() {
            let top = self.top + (n as i32) * i32::from(PICTURE.1 + 1);
            (0..4).for_each(|x| put(x, top - 1, "w", Style::new()));
            for row in 0..PICTURE.1 {
                let y = top + i32::from(row);
                put(0, y, "|", Style::new());
                for column in 0..PICTURE.0 {
                    put(self.indent + column, y, &symbol(row, column), Style::new().fg(Color::Indexed(number)));
                }
                put(self.indent + PICTURE.0 + 1, y, "e", Style::new());
            }
        }
        if let Some((x, y, width, height)) = self.over {
            for y in y..(y + height).min(area.height) {
                (x..(x + width).min(area.width)).for_each(|x| put(x, y.into(), "o", Style::new()));
            }
        }
    }

    fn wanted(&self, (width, height): (u16, u16)) -> BTreeMap<(u16, u16), Seen> {
        let mut buf = Buffer::empty(Rect::new(0, 0, width, height));
        self.paint(buf.area, &mut buf);
        let places = (0..height).flat_map(|y| (0..width).map(move |x| (y, x)));
        let seen = places.filter_map(|(y, x)| {
            let cell = &buf[(x, y)];
            let seen = match piece_of(cell) {
                Some((number, row, column)) => Seen::Piece(number, row, column),
                None => Seen::Letter(cell.symbol().chars().next().filter(|c| *c != ' ')?),
            };
            Some(((y, x), seen))
        });
        seen.collect()
    }
}

fn scenes() -> impl Strategy<Value = Vec<Scene>> {
    let over = proptest::option::of((0..20u16, 0..12u16, 1..9u16, 1..9u16));
    let size = prop_oneof![4 => Just((20, 12)), 1 => (14..24u16, 6..14u16)];
    let scene = (-6..12i32, over, 1..4u16, proptest::bool::weighted(0.1), size)
        .prop_map(|(top, over, indent, is_unknown, size)| Scene { top, over, indent, is_unknown, size });
    proptest::collection::vec(scene, 1..12)
}

fn check(scenes: &[Scene], images: impl Fn(u8) -> Arc<Image>) -> Result<(), TestCaseError> {
    let mut out = Vec::new();
    let mut surface = Surface::new(&mut out, 20, 12);
    surface.set_images(NUMBERS.into_iter().map(|number| (number, images(number))));
    let mut frames = Vec::new();
    for scene in scenes {
        if scene.is_unknown {
            surface.invalidate();
        }
        surface.resize(scene.size.0, scene.size.1);
        surface
            .draw(|area, buf| {
                scene.paint(area, buf);
                None
            })
            .unwrap();
        frames.push(surface.out.len());
    }
    let mut from = 0;
    let mut glass = Glass::new(20, 12);
    for (scene, to) in scenes.iter().zip(frames) {
        glass.size = scene.size;
        let (width, height) = scene.size;
        // What is outside of a window that became smaller is gone; what was placed there is not drawn.
        glass.cells.retain(|(y, x), _| *y < height && *x < width);
        glass.feed(&out[from..to]);
        from = to;
        prop_assert_eq!(glass.seen(), scene.wanted(scene.size));
    }
    Ok(())
}

proptest! {
    #![proptest_config(crate::random(300))]

    #[test]
    fn a_terminal_that_keeps_pictures_shows_those_of_the_frame_and_no_others(scenes in scenes()) {
        check(&scenes, |_| whole(9000))?;
    }

    #[test]
    fn a_terminal_that_draws_them_into_its_cells_shows_those_of_the_frame_and_no_others(scenes in scenes()) {
        check(&scenes, strips)?;
    }
}

fn scene(top: i32) -> Scene {
    Scene { top, over: None, indent: 2, is_unknown: false, size: (20, 12) }
}

fn draw(surface: &mut Surface<Vec<u8>>, scene: &Scene) -> String {
    surface.out.clear();
    surface
        .draw(|area, buf| {
            scene.paint(area, buf);
            None
        })
        .unwrap();
    String::from_utf8(surface.out.clone()).unwrap()
}

#[test]
fn a_picture_is_sent_once_moved_for_little_and_taken_back_when_it_is_not_known_any_more() {
    let mut surface = Surface::new(Vec::new(), 20, 12);
    let image = whole(100_000);
    surface.set_images([(20, Arc::clone(&image))].into_iter());
    let first = draw(&mut surface, &scene(1));
    assert!(first.len() > 133_000 && first.matches("a=t,").count() == 1, "{}", first.len());
    let begin = first.find("\x1b[?2026h").unwrap();
    assert!(first.rfind("\x1b_Gm=0").unwrap() < begin, "sent before the frame, which is short");
    assert_eq!(draw(&mut surface, &scene(1)), "", "nothing has changed");
    let moved = draw(&mut surface, &scene(2));
    assert!(moved.len() < 1500 && !moved.contains("a=t"), "{} {moved:?}", moved.len());
    surface.set_images([(20, image)].into_iter());
    assert_eq!(draw(&mut surface, &scene(2)), "", "the same one");
    surface.set_images(std::iter::empty());
    let gone = draw(&mut surface, &scene(2));
    assert_eq!(gone.matches("a=d,d=I,").count(), 1, "{gone:?}");
    assert!(!draw(&mut surface, &scene(3)).contains("\x1b_G"));
}

#[test]
fn a_terminal_that_was_lent_forgets_what_it_was_sent_and_is_sent_it_again() {
    let mut surface = Surface::new(Vec::new(), 20, 12);
    surface.set_images([(20, whole(10)), (21, whole(10))].into_iter());
    draw(&mut surface, &scene(1));
    surface.out.clear();
    surface.take_images_back().unwrap();
    assert_eq!(String::from_utf8(surface.out.clone()).unwrap().matches("a=d,d=I,").count(), 2);
    surface.out.clear();
    surface.take_images_back().unwrap();
    assert!(surface.out.is_empty());
    surface.invalidate();
    surface.lose_images();
    let again = draw(&mut surface, &scene(1));
    assert_eq!((again.matches("a=t,").count(), again.matches("a=p,").count()), (2, 8));
}

#[test]
fn where_pictures_are_drawn_into_cells_a_frame_that_changes_other_rows_draws_none_again() {
    let mut surface = Surface::new(Vec::new(), 20, 12);
    surface.set_images([(20, strips(20))].into_iter());
    assert_eq!(draw(&mut surface, &scene(1)).matches("\x1bP").count(), 4);
    let other = Scene { over: Some((0, 11, 5, 1)), ..scene(1) };
    assert_eq!(draw(&mut surface, &other).matches("\x1bP").count(), 0);
    let over = Scene { over: Some((4, 2, 2, 1)), ..scene(1) };
    assert_eq!(
        draw(&mut surface, &over).matches("\x1bP").count(),
        1,
        "one row of it, once, though it is in two pieces"
    );
}

#[test]
fn pieces_of_what_is_not_known_are_blank_and_text_of_others_is_none() {
    let mut surface = Surface::new(Vec::new(), 20, 12);
    let drawn = draw(&mut surface, &scene(1));
    assert!(!drawn.contains("\x1bP") && !drawn.contains("\x1b_") && !drawn.contains(crate::base::graphics::SIGN));
    surface.out.clear();
    surface
        .draw(|_, buf| {
            buf[(0, 0)].set_symbol("\u{10eeee}x");
            None
        })
        .unwrap();
    assert!(!String::from_utf8(surface.out).unwrap().contains('\u{10eeee}'));
}
