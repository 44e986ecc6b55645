//! What the dock is to show: what is asked, the choices, and where something is written.
//!
//! Draws nothing.

use super::choices::Choice;
use crate::text::line::LogicalLine;
use crate::text::token::Token;
use crate::ui::state::dock::Unshown;
use crate::ui::view::paint;
use std::ops::Range;

/// What the dock is to show, before it is laid out.
pub(super) struct Contents {
    pub(super) body: Vec<LogicalLine>,
    /// Lines of the body at its end that are what the agent sent.
    pub(super) raw: RawLines,
    /// Lines of the body that say what is asked: those before these, or all of them.
    pub(super) asked: usize,
    /// Lines above the first of what was sent, be it its beginning.
    pub(super) above: usize,
    pub(super) unshown: Unshown,
    pub(super) choices: Vec<Choice>,
    /// Further keys, in words for the end of a row.
    pub(super) unnamed: String,
    /// The same keys as choices, where there is room for a row of them.
    pub(super) further: Vec<Choice>,
    pub(super) at: Option<Place>,
    /// What stands between the body and the choices however little room there is.
    pub(super) fixed: Vec<LogicalLine>,
    /// Of a form the lines of each field.
    pub(super) fields: Vec<Range<usize>>,
}

/// Where the cursor of a form stands, in lines of the body.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// The first line of its field, and the one behind it.
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) line: usize,
    /// Column in that line, where something is written.
    pub(super) cursor: Option<u16>,
}

impl Contents {
    pub(super) fn of(body: Vec<LogicalLine>, choices: Vec<Choice>) -> Self {
        let asked = body.len();
        let (raw, unnamed, further, at) = (RawLines::None, String::new(), Vec::new(), None);
        let (above, unshown) = (asked, Unshown::Nothing);
        let (fixed, fields) = (Vec::new(), Vec::new());
        Self { body, raw, asked, above, unshown, choices, unnamed, further, at, fixed, fields }
    }

    /// The lines that stay as they are right above the first that is changed.
    pub(super) fn above_change(&self) -> Range<usize> {
        let has =
            |line: &LogicalLine, tokens: &[Token]| line.prefix.iter().any(|(_, style)| tokens.contains(&style.token));
        let is_changed = |line: &LogicalLine| has(line, &[Token::SignBad, Token::SignGood]);
        let change = self.body.iter().position(is_changed).unwrap_or(0);
        let above = self.body.iter().take(change).rev().take_while(|line| has(line, &[Token::LineNumber])).count();
        change - above..change
    }

    /// Leaves these out; whether there are any.
    pub(super) fn begin_with_change(&mut self) -> bool {
        let above = self.above_change();
        let count = above.len();
        self.body.drain(above);
        self.asked = self.asked.saturating_sub(count);
        self.above = self.above.saturating_sub(count);
        count > 0
    }
}

/// What the agent sent, as the last lines of the body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum RawLines {
    None,
    /// There are some, and they are not in the body.
    Hidden,
    Shown,
}

/// Which fields are in view whole, or fill the view, from the first to before the second.
pub(super) fn fields(contents: &Contents, inner: u16, view: Range<usize>) -> (usize, usize) {
    let mut row =
        paint::rows(contents.body.get(..contents.fields.first().map_or(0, |f| f.start)).unwrap_or_default(), inner)
            .len();
    let is_in_view = |lines: &Range<usize>| {
        let from = row;
        row += paint::rows(contents.body.get(lines.clone()).unwrap_or_default(), inner).len();
        let (is_whole, fills) = (from >= view.start && row <= view.end, from <= view.start && row >= view.end);
        is_whole || fills && !view.is_empty()
    };
    let in_view: Vec<bool> = contents.fields.iter().map(is_in_view).collect();
    let first = in_view.iter().position(|is| *is).unwrap_or(0);
    (first, in_view.iter().rposition(|is| *is).map_or(first, |last| last + 1))
}
