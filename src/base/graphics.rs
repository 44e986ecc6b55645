//! Pictures as terminals take them that draw pictures, and the cells that stand for them until they are drawn.
//!
//! Encodes and draws nothing. Invariant: a cell that stands for a piece has a symbol that no text of others may hold
//! ([`super::sanitize::is_deceptive`]), so that nobody else can ask for a piece.

/// In a private plane: the first character of a symbol that stands for a piece.
pub const SIGN: char = '\u{10eeee}';
/// The most columns and rows of a picture.
pub const MAX_COLUMNS: u16 = 60;
pub const MAX_ROWS: u16 = 20;
/// Numbers of pictures, each a colour of the fixed palette.
pub const FIRST_NUMBER: u8 = 16;
/// Marks that combine, one for each row and column.
const MARKS: u32 = 0x300;

/// How a terminal takes pictures.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Graphics {
    /// The protocol of kitty: sent once, then pieces of it are placed.
    Kitty,
    /// That of iTerm2: a file for each row of cells.
    Files,
    /// Six rows of pixels at a time, in so many colours.
    Sixel { colours: u16 },
}

/// A terminal that draws pictures.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Canvas {
    pub graphics: Graphics,
    /// Width and height of a cell in pixels.
    pub cell: (u16, u16),
}

/// A picture for a terminal, cut at its cells.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Image {
    pub columns: u16,
    pub rows: u16,
    /// Width and height of the pixels that are shown in a cell.
    pub cell: (u16, u16),
    pub form: Form,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Form {
    /// A PNG whose pieces are placed.
    Whole(Vec<u8>),
    /// For each row of cells the bytes that draw it from the cursor on.
    Rows(Vec<Vec<u8>>),
}

impl Image {
    pub fn bytes(&self) -> usize {
        match &self.form {
            Form::Whole(png) => png.len(),
            Form::Rows(rows) => rows.iter().map(Vec::len).sum(),
        }
    }
}

/// What stands in a cell for a piece of a picture.
pub fn symbol(row: u16, column: u16) -> String {
    let mark = |n: u16, most: u16| char::from_u32(MARKS + u32::from(n.min(most - 1)));
    let (row, column) = (mark(row, MAX_ROWS), mark(column, MAX_COLUMNS));
    [Some(SIGN), row, column].into_iter().flatten().collect()
}

/// The row and the column of the piece that a symbol stands for.
pub fn piece(symbol: &str) -> Option<(u16, u16)> {
    let mut chars = symbol.strip_prefix(SIGN)?.chars();
    let mut mark = |most: u16| {
        let n = u32::from(chars.next()?).checked_sub(MARKS)?;
        u16::try_from(n).ok().filter(|n| *n < most)
    };
    let found = (mark(MAX_ROWS)?, mark(MAX_COLUMNS)?);
    chars.next().is_none().then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use unicode_segmentation::UnicodeSegmentation as _;
    use unicode_width::UnicodeWidthStr as _;

    #[test]
    fn a_piece_is_one_cell_that_names_its_row_and_column() {
        for row in 0..MAX_ROWS {
            for column in 0..MAX_COLUMNS {
                let symbol = symbol(row, column);
                assert_eq!(piece(&symbol), Some((row, column)));
                assert_eq!((symbol.width(), symbol.graphemes(true).count()), (1, 1), "{row} {column}");
            }
        }
        let (first, second) = (symbol(0, 0), symbol(0, 1));
        assert_eq!(format!("{first}{second}").graphemes(true).count(), 2, "neighbours stay apart");
        for other in ["", "a", "\u{10eeee}", "\u{10eeee}\u{300}", "\u{10eeee}\u{300}\u{300}\u{300}", "\u{10eeee}ab"] {
            assert_eq!(piece(other), None, "{other:?}");
        }
        assert!(super::super::sanitize::is_deceptive(SIGN));
    }
}
