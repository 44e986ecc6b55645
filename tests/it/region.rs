//! The end of the terminal's own screen, read by an emulator with a scrollback that wraps rows anew when it is resized.

use crate::support::app::Size;
use acp_tui::ui::tty::{Region, Sheet};
use alacritty_terminal::Term;
use alacritty_terminal::event::VoidListener;
use alacritty_terminal::grid::Dimensions;
use alacritty_terminal::index::{Column, Line};
use alacritty_terminal::term::Config;
use alacritty_terminal::vte::ansi::Processor;
use proptest::prelude::*;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Style};
use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;

/// Rows that were printed are never wider, so that they are found again in one piece. Nor is the cursor ever shown further
/// to the right: a row that is wrapped before the cursor takes it along.
const NARROW: u16 = 12;

#[derive(Clone)]
struct Glass(Rc<RefCell<(Term<VoidListener>, Processor)>>);

impl Write for Glass {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let (term, parser) = &mut *self.0.borrow_mut();
        parser.advance(term, bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Stage {
    glass: Glass,
    region: Region<Glass>,
    size: (u16, u16),
    printed: Vec<String>,
    /// The rows that were drawn last.
    live: Vec<String>,
}

impl Stage {
    fn new(size: (u16, u16)) -> Self {
        let config = Config { scrolling_history: 100_000, ..Config::default() };
        let term = Term::new(config, &Size(size.0, size.1), VoidListener);
        let mut glass = Glass(Rc::new(RefCell::new((term, Processor::new()))));
        // As the program sets it; what a shell has written stands above.
        glass.write_all(b"\x1b[?7l$ before\r\n").unwrap();
        Self { region: Region::new(glass.clone()), glass, size, printed: vec!["$ before".to_owned()], live: Vec::new() }
    }

    /// Unless the rows that are drawn again are not all on the screen then: no program can erase those.
    fn resize(&mut self, (width, height): (u16, u16)) {
        let rows = |text: &String| u16::try_from(text.chars().count()).unwrap().div_ceil(width).max(1);
        let wrapped: u16 = self.live.iter().map(rows).sum();
        let line = self.glass.0.borrow().0.grid().cursor.point.line.0;
        let more = wrapped - u16::try_from(self.live.len()).unwrap();
        if wrapped <= height && i32::from(more) <= line {
            self.size = (width, height);
            self.resize_behind(self.size);
        }
    }

    /// The region is not told.
    fn resize_behind(&mut self, size: (u16, u16)) {
        self.glass.0.borrow_mut().0.resize(Size(size.0, size.1));
    }

    fn draw(&mut self, prints: usize, height: u16, fill: u16, cursor: Option<(u16, u16)>) {
        self.write(prints, height, fill, cursor);
        let shown = self.rows(usize::from(self.size.1));
        let ours: Vec<&String> = shown.iter().filter(|row| row.contains('~')).collect();
        let wanted: Vec<&String> = self.live.iter().filter(|row| !row.is_empty()).collect();
        assert_eq!(ours, wanted, "{shown:#?}");
    }

    fn write(&mut self, prints: usize, height: u16, fill: u16, cursor: Option<(u16, u16)>) {
        let (width, rows) = self.size;
        let mut printed = Buffer::empty(Rect::new(0, 0, width, prints as u16));
        for y in 0..prints {
            let words = format!("p{}", self.printed.len());
            printed.set_string(0, y as u16, &words, Style::new().fg(Color::Green));
            self.printed.push(words);
        }
        let height = height.clamp(1, rows);
        let mut live = Buffer::empty(Rect::new(0, 0, width, height));
        for y in 0..height {
            let n = usize::from(fill.wrapping_mul(y + 3) % width);
            live.set_string(0, y, "~".repeat(n), Style::new().bg(Color::Blue));
        }
        let cursor = cursor.map(|(x, y)| (x % width, y % height));
        let sheet = |buf| Sheet { buf, links: Vec::new() };
        self.region.draw(self.size, sheet(printed), sheet(live.clone()), cursor).unwrap();
        self.live = (0..height).map(|y| text(&live, y)).collect();
    }

    /// The rows that have something: all of the screen, and so many at the most of the scrollback.
    fn rows(&self, above: usize) -> Vec<String> {
        let (term, _) = &*self.glass.0.borrow();
        let grid = term.grid();
        let first = -i32::try_from(grid.history_size().min(above)).unwrap();
        let rows = (first..i32::try_from(grid.screen_lines()).unwrap()).map(|line| {
            let row = &grid[Line(line)];
            (0..grid.columns()).map(|x| row[Column(x)].c).collect::<String>().trim_end().to_owned()
        });
        rows.filter(|row| !row.is_empty()).collect()
    }
}

fn text(buf: &Buffer, y: u16) -> String {
    (0..buf.area.width).map(|x| buf[(x, y)].symbol()).collect::<String>().trim_end().to_owned()
}

#[derive(Clone, Debug)]
enum Op {
    Draw(usize, u16, u16, Option<(u16, u16)>),
    Resize(u16, u16),
    Erase,
}

fn op() -> impl Strategy<Value = Op> {
    let draw = (0..7usize, 1..12u16, 0..200u16, prop::option::of((0..NARROW, 0..12u16)));
    prop_oneof![
        6 => draw.prop_map(|(prints, height, fill, cursor)| Op::Draw(prints, height, fill, cursor)),
        3 => (NARROW..100, 3..30u16).prop_map(|(w, h)| Op::Resize(w, h)),
        1 => Just(Op::Erase),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    /// What was printed stands there once and in order, and nothing of what was drawn below it is left behind, whatever
    /// sizes the terminal had in between.
    #[test]
    fn what_was_printed_stays_and_what_was_drawn_goes(ops in prop::collection::vec(op(), 1..40)) {
        let mut stage = Stage::new((80, 24));
        for op in ops {
            match op {
                Op::Draw(prints, height, fill, cursor) => stage.draw(prints, height, fill, cursor),
                Op::Resize(w, h) => stage.resize((w, h)),
                Op::Erase => {
                    stage.region.erase().unwrap();
                    stage.live.clear();
                }
            }
        }
        stage.draw(1, 3, 7, Some((2, 1)));
        stage.region.erase().unwrap();
        prop_assert_eq!(stage.rows(usize::MAX), stage.printed);
    }
}

#[test]
fn a_frame_that_changes_nothing_writes_nothing() {
    let mut stage = Stage::new((40, 10));
    stage.draw(2, 4, 9, Some((3, 3)));
    let live = Buffer::empty(Rect::new(0, 0, 40, 2));
    let sheet = |buf| Sheet { buf, links: Vec::new() };
    assert!(stage.region.draw((40, 10), Sheet::default(), sheet(live.clone()), None).unwrap());
    assert!(!stage.region.draw((40, 10), Sheet::default(), sheet(live), None).unwrap());
}
