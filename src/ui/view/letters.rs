//! Letters on all that can be copied, while the person chooses one of them.
//!
//! Copies nothing. Invariant: a letter stands for one part of an entry that is on the screen: on the row where that begins
//! if it has one, else on the first of its entry.

use super::{ViewCx, paint};
use crate::base::sanitize;
use crate::text::run::{Mods, RunStyle, StyledText};
use crate::text::token::Token;
use crate::text::width;
use crate::ui::cells::parts::{Part, parts};
use crate::ui::msg::{FrameInfo, Letter};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::collections::BTreeMap;

/// Those that are easy to reach first.
const LETTERS: &str = "asdfghjklqwertuiopzxcvbnmyASDFGHJKLQWERTUIOPZXCVBNMY";
/// Characters by which the beginning of a part is found on the screen.
const BEGINNING: usize = 24;
/// Fewer are found everywhere.
const LEAST: usize = 3;

/// Puts the letters over the rows of the conversation that were drawn in `area`.
pub fn draw(cx: &ViewCx<'_>, area: Rect, info: &mut FrameInfo, buf: &mut Buffer) {
    let mut letters = LETTERS.chars();
    let mut marks: BTreeMap<u16, Vec<(char, String)>> = BTreeMap::new();
    for rows in info.hits.chunk_by(|(_, one), (_, next)| one == next) {
        let Some(entry) = rows.first().and_then(|(_, id)| cx.session.entries().get(*id)) else { continue };
        let texts: Vec<(u16, String)> = rows.iter().map(|(y, _)| (*y, row(buf, area, *y))).collect();
        let mut from = 0;
        for (at, part) in parts(entry, cx.session).iter().enumerate() {
            let begins = if at == 0 { None } else { beginning(part) };
            let found = begins.and_then(|begins| texts.iter().skip(from).position(|(_, text)| text.contains(&begins)));
            from += found.unwrap_or_default();
            let Some((y, _)) = texts.get(if found.is_some() { from } else { 0 }) else { continue };
            let Some(letter) = letters.next() else { return };
            marks.entry(*y).or_default().push((letter, part.what.clone()));
            info.letters.push(Letter { letter, entry: entry.id, part: at });
        }
    }
    for (y, marks) in marks {
        let mut text = StyledText::of(" ", Token::Text);
        for (letter, what) in marks {
            let style = RunStyle::from(Token::Accent).with_mods(Mods::BOLD.with(Mods::REVERSE));
            text.push(&format!(" {letter} "), style);
            text.push(&format!(" {} ", sanitize::line(&what)), Token::Dim);
        }
        let text = width::truncate_styled(&text, usize::from(area.width));
        let columns = u16::try_from(width::styled_width(&text)).unwrap_or(area.width);
        let at = Rect { x: area.right().saturating_sub(columns), y, width: columns, height: 1 };
        // Of a wide sign that begins before it nothing is left.
        if let Some(before) = at.x.checked_sub(1).and_then(|x| buf.cell_mut((x, y)))
            && width::str_width(before.symbol()) > 1
        {
            before.set_symbol(" ");
        }
        paint::put(buf, at.x, y, columns, &text, cx.theme);
    }
}

/// What the first row of a part has on the screen, where that says enough.
fn beginning(part: &Part) -> Option<String> {
    let line = part.text.lines().find(|line| !line.trim().is_empty())?;
    let head: String = sanitize::line(line).trim().chars().take(BEGINNING).collect();
    Some(head).filter(|head| head.len() >= LEAST)
}

fn row(buf: &Buffer, area: Rect, y: u16) -> String {
    let mut text = String::new();
    let mut x = area.left();
    while x < area.right() {
        let Some(cell) = buf.cell((x, y)) else { break };
        text.push_str(cell.symbol());
        x += u16::try_from(width::str_width(cell.symbol())).unwrap_or(1).max(1);
    }
    text
}
