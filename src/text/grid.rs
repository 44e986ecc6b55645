//! `ScreenSnapshot`: the visible state of an emulated terminal as plain data.
//!
//! The host makes it, the model keeps the last one, the screen paints it. Cheap to share behind `Arc`.

use super::run::StyledText;
use super::token::Token;
use super::width;
use std::collections::BTreeSet;
use std::ops::Range;

/// Stands for one character that is not shown: what follows stays in its place.
const COVER: char = '•';

/// History and screen of an emulated terminal, oldest row first, trailing blank rows and columns dropped.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ScreenSnapshot {
    pub rows: Vec<StyledText>,
    pub cols: u16,
    /// Grows with every change of the terminal.
    pub generation: u64,
    /// Rows that scrolled out of the history.
    pub dropped_rows: u64,
    /// Rows, by their place, that were too narrow for their line: the next one goes on with it.
    pub go_on: BTreeSet<usize>,
}

impl ScreenSnapshot {
    /// What was printed, in lines as they were before the width broke them, without the blanks at their ends.
    pub fn text(&self) -> String {
        let mut out = String::new();
        for (at, row) in self.rows.iter().enumerate() {
            out.push_str(row.as_str());
            if let Some(next) = self.next_of(at) {
                out.extend(std::iter::repeat_n(' ', self.blanks_between(row, next)));
            } else {
                out.truncate(out.trim_end_matches(' ').len());
                out.push('\n');
            }
        }
        out.truncate(out.trim_end().len());
        out
    }

    /// The last lines, each as it was before the width broke it, and whether there is more above them. There are as many
    /// as fill `max` rows; of one that takes more than `most` rows besides, the end.
    pub fn last_lines(&self, max: usize, most: usize) -> (Vec<StyledText>, bool) {
        let used = self.rows.iter().rposition(|row| !row.as_str().trim().is_empty()).map_or(0, |last| last + 1);
        let least = used.saturating_sub(max);
        let earliest = least.saturating_sub(most);
        // The line that is the first has its beginning.
        let mut from = least;
        while from > earliest && self.go_on.contains(&(from - 1)) {
            from -= 1;
        }
        let mut lines = Vec::new();
        let mut line = StyledText::new();
        for (at, row) in self.rows.iter().enumerate().take(used).skip(from) {
            line.append(row);
            match self.next_of(at).filter(|_| at + 1 < used) {
                Some(next) => line.push(&" ".repeat(self.blanks_between(row, next)), Token::Text),
                None => lines.push(std::mem::take(&mut line)),
            }
        }
        (lines, from > 0 || self.dropped_rows > 0)
    }

    /// The row that goes on with the line of this one.
    fn next_of(&self, at: usize) -> Option<&StyledText> {
        self.rows.get(at + 1).filter(|_| self.go_on.contains(&at))
    }

    /// Blanks at the end of a row are dropped; a wide character may have had no room in the last column.
    fn blanks_between(&self, row: &StyledText, next: &StyledText) -> usize {
        let blank = usize::from(self.cols).saturating_sub(width::styled_width(row));
        let is_wide = next.as_str().chars().next().is_some_and(|c| width::str_width(c.encode_utf8(&mut [0; 4])) > 1);
        if is_wide && blank == 1 { 0 } else { blank }
    }

    /// The same with these places covered; nothing when there are none. They are asked for in lines, each of which is as
    /// many rows as a program has filled without a break.
    pub fn covered(&self, places: &dyn Fn(&str) -> Vec<Range<usize>>) -> Option<Self> {
        let mut covered: Option<Self> = None;
        let mut at = 0;
        while at < self.rows.len() {
            let is_full = |row: &&StyledText| row.as_str().chars().count() >= usize::from(self.cols);
            let full = self.rows[at..].iter().take_while(is_full).count();
            let end = (at + full + 1).min(self.rows.len());
            let line: String = self.rows[at..end].iter().map(StyledText::as_str).collect();
            let found = places(&line);
            if !found.is_empty() {
                let screen = covered.get_or_insert_with(|| self.clone());
                let mut from = 0;
                for row in &mut screen.rows[at..end] {
                    let bytes = row.len();
                    *row = with_covers(row, from, &found);
                    from += bytes;
                }
            }
            at = end;
        }
        covered
    }
}

/// A row that begins so many bytes after its line.
fn with_covers(row: &StyledText, mut from: usize, places: &[Range<usize>]) -> StyledText {
    let mut out = StyledText::new();
    for (text, style) in row.iter() {
        let cover = |(at, c)| if places.iter().any(|place| place.contains(&(from + at))) { COVER } else { c };
        let now: String = text.char_indices().map(cover).collect();
        from += text.len();
        out.push(&now, style);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_the_width_broke_are_one_line_again() {
        let rows = ["abcdef", "gh", "ab", " cd", "ijklm", "漢", "abcdef", "x", ""];
        let rows = rows.map(|row| StyledText::of(row, Token::Text)).to_vec();
        let go_on = BTreeSet::from([0, 2, 4]);
        let screen = ScreenSnapshot { rows, cols: 6, go_on, ..ScreenSnapshot::default() };
        assert_eq!(screen.text(), "abcdefgh\nab     cd\nijklm漢\nabcdef\nx");
        assert_eq!(ScreenSnapshot::default().text(), "");
    }

    #[test]
    fn the_last_lines_are_whole_and_of_a_very_long_one_its_end_is_there() {
        let rows =
            ["one", "abcdef", "gh", "ab", " cd", "last", ""].map(|row| StyledText::of(row, Token::Text)).to_vec();
        let screen = ScreenSnapshot { rows, cols: 6, go_on: BTreeSet::from([1, 3]), ..ScreenSnapshot::default() };
        let lines = |max, most| {
            let (lines, more) = screen.last_lines(max, most);
            (lines.iter().map(|line| line.as_str().to_owned()).collect::<Vec<_>>(), more)
        };
        let all = ["one", "abcdefgh", "ab     cd", "last"].map(str::to_owned);
        assert_eq!(lines(9, 9), (all.to_vec(), false));
        assert_eq!(lines(1, 9), (all[3..].to_vec(), true));
        assert_eq!(lines(2, 9), (all[2..].to_vec(), true), "the line that is cut has its beginning");
        assert_eq!(lines(4, 9), (all[1..].to_vec(), true));
        assert_eq!(lines(2, 0), (vec![" cd".to_owned(), "last".to_owned()], true));
        assert_eq!(ScreenSnapshot::default().last_lines(3, 3), (Vec::new(), false));
    }

    #[test]
    fn what_goes_on_in_the_next_row_is_covered_and_keeps_its_place() {
        let rows = ["x abcd", "ef yz", "abcdef"].map(|row| StyledText::of(row, Token::Text)).to_vec();
        let screen = ScreenSnapshot { rows, cols: 6, ..ScreenSnapshot::default() };
        let places = |line: &str| line.match_indices("abcdef").map(|(at, s)| at..at + s.len()).collect();
        let shown: Vec<String> =
            screen.covered(&places).unwrap().rows.iter().map(|row| row.as_str().to_owned()).collect();
        assert_eq!(shown, ["x ••••", "•• yz", "••••••"]);
        assert_eq!(screen.covered(&|_| Vec::new()), None);
    }
}
