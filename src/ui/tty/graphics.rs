//! What is said to a terminal about pictures: whether it takes them, and what kitty's protocol has beyond that.
//!
//! Encodes no picture. Invariants: nothing that is sent is answered but for the questions; all numbers are our own, so that
//! no picture of another program is touched.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::io::Write as _;

/// Whether it speaks kitty's protocol, whether that of iTerm2 (only such terminals tell the size of a cell this way), and
/// how many colours its sixels have. That it has sixels stands in the attributes, which every terminal is asked for.
pub(super) const ASK: &[u8] = b"\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\\x1b]1337;ReportCellSize\x07\x1b[?1;1;0S";
/// The answers, without what frames them.
pub(super) const TAKES_KITTY: &str = "Gi=31;OK";
pub(super) const TAKES_FILES: &str = "1337;ReportCellSize=";
/// Bytes of one piece of what is sent.
const CHUNK: usize = 4096;

/// A piece of a picture at the cursor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Placement {
    /// Of the picture.
    pub(super) id: u32,
    /// Of the place on the screen: a picture that is put there anew takes the place of what was there of it.
    pub(super) place: u32,
    /// The first cell of the picture that is shown, and how many beside it.
    pub(super) row: u16,
    pub(super) column: u16,
    pub(super) columns: u16,
    /// Pixels of the picture in a cell.
    pub(super) cell: (u16, u16),
}

/// Sends a picture; nothing is shown of it yet.
pub(super) fn send(id: u32, png: &[u8], out: &mut Vec<u8>) {
    let text = STANDARD.encode(png);
    let mut pieces = text.as_bytes().chunks(CHUNK).peekable();
    let mut is_first = true;
    while let Some(piece) = pieces.next() {
        let more = u8::from(pieces.peek().is_some());
        // Writing to a Vec cannot fail.
        let _ = if is_first {
            write!(out, "\x1b_Ga=t,f=100,t=d,i={id},q=2,m={more};")
        } else {
            write!(out, "\x1b_Gm={more},q=2;")
        };
        out.extend_from_slice(piece);
        out.extend_from_slice(b"\x1b\\");
        is_first = false;
    }
}

impl Placement {
    pub(super) fn show(&self, out: &mut Vec<u8>) {
        let Self { id, place, row, column, columns, cell } = *self;
        let (wide, high) = (u32::from(cell.0), u32::from(cell.1));
        let (x, y, w) = (u32::from(column) * wide, u32::from(row) * high, u32::from(columns) * wide);
        let _ = write!(out, "\x1b_Ga=p,i={id},p={place},x={x},y={y},w={w},h={high},c={columns},r=1,C=1,q=2\x1b\\");
    }

    pub(super) fn hide(&self, out: &mut Vec<u8>) {
        let _ = write!(out, "\x1b_Ga=d,d=i,i={},p={},q=2\x1b\\", self.id, self.place);
    }
}

/// Takes a picture back, and all that is shown of it.
pub(super) fn forget(id: u32, out: &mut Vec<u8>) {
    let _ = write!(out, "\x1b_Ga=d,d=I,i={id},q=2\x1b\\");
}
