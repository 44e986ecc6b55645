//! Pictures of the agent as cells of two colours each, the upper half in the one and the lower half in the other, or as
//! cells that stand for pieces of an image, where the terminal takes such.
//!
//! Decodes nothing: one that is not known yet takes no rows, and the loop of the screen has it drawn. Invariant: nothing
//! is drawn where there are no colours.

use super::CellCtx;
use super::lines::dim;
use crate::base::graphics::{self, Image};
use crate::base::human;
use crate::base::picture::Picture;
use crate::base::sanitize;
use crate::model::entry::{Block, Body, Entry};
use crate::model::tool::ToolContent;
use crate::text::line::{LogicalLine, WrapMode};
use crate::text::run::{AnsiColor, RunStyle, StyledText};
use crate::ui::state::pictures::{Cells, Rgb};
use std::sync::Arc;

/// Pictures of one entry that are drawn.
const MAX_PICTURES: usize = 8;
const HALF: &str = "▀";

/// The pictures of an entry.
pub fn of(entry: &Entry) -> impl Iterator<Item = &Arc<Picture>> {
    let (alone, parts): (_, &[ToolContent]) = match &entry.body {
        Body::Attachment(attachment) => (Some(&attachment.block), &[]),
        Body::Tool(tool) => (None, &tool.content),
        _ => (None, &[]),
    };
    let blocks = parts.iter().filter_map(|part| if let ToolContent::Block(block) = part { Some(block) } else { None });
    alone.into_iter().chain(blocks).filter_map(Block::picture).take(MAX_PICTURES)
}

pub(super) fn lines(picture: &Arc<Picture>, ctx: &CellCtx<'_>) -> Vec<LogicalLine> {
    match ctx.pictures.and_then(|pictures| pictures.of(picture, columns(ctx.width))) {
        None => Vec::new(),
        Some((_, Err(why))) => vec![dim(format!("not shown: {}", sanitize::line(why)))],
        Some((number, Ok(raster))) => {
            let (width, height) = raster.size;
            let pixels = |side: u32| human::thousands(u64::from(side));
            let keys = ctx.say(" · read it ({F10}): {reading o} opens, {reading s} saves");
            let words = format!("{} × {} pixels{keys}", pixels(width), pixels(height));
            let mut rows: Vec<_> = match &raster.cells {
                Cells::Halves(rows) => rows.iter().map(|cells| row(cells)).collect(),
                Cells::Image(image) => (0..image.rows).map(|row| pieces(number, image, row)).collect(),
            };
            rows.push(dim(words));
            rows
        }
    }
}

/// How many columns a picture is drawn for where there are so many.
pub const fn columns(width: u16) -> u16 {
    // What is shown of a call is indented.
    width.saturating_sub(4)
}

fn row(cells: &[(Rgb, Rgb)]) -> LogicalLine {
    let mut text = StyledText::default();
    let colour = |[red, green, blue]: Rgb| Some(AnsiColor::Rgb(red, green, blue));
    for (upper, lower) in cells {
        text.push(HALF, RunStyle { fg: colour(*upper), bg: colour(*lower), ..RunStyle::default() });
    }
    LogicalLine { wrap: WrapMode::Truncate, ..LogicalLine::text(text) }
}

/// The image that is meant is told by the colour, which is the same wherever there are enough of them.
fn pieces(number: u8, image: &Image, row: u16) -> LogicalLine {
    let symbols: String = (0..image.columns).map(|column| graphics::symbol(row, column)).collect();
    let mut text = StyledText::default();
    text.push(&symbols, RunStyle { fg: Some(AnsiColor::Indexed(number)), ..RunStyle::default() });
    LogicalLine { wrap: WrapMode::Truncate, ..LogicalLine::text(text) }
}
