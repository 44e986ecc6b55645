//! Signs for terminals that show only ASCII.
//!
//! Replaces what has been painted, cell by cell; knows nothing of what it means. Invariant: what comes out is printable
//! ASCII and takes as many columns as before.

use crate::base::width;
use ratatui::buffer::Buffer;

/// What the terminal can show.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Letters {
    #[default]
    Unicode,
    Ascii,
}

impl Letters {
    /// From the values of `LC_ALL`, `LC_CTYPE` and `LANG`, the first that says something. Where none does, as in many
    /// containers, the terminal around is most likely no older than UTF-8.
    pub fn from_env(all: Option<&str>, ctype: Option<&str>, lang: Option<&str>) -> Self {
        match [all, ctype, lang].into_iter().flatten().find(|value| !value.is_empty()) {
            Some(locale) if !locale.to_ascii_lowercase().replace('-', "").contains("utf8") => Self::Ascii,
            _ => Self::Unicode,
        }
    }

    pub(super) fn reduce(self, buf: &mut Buffer) {
        if self == Self::Unicode {
            if width::ambiguous_is_wide() {
                make_room(buf);
            }
            return;
        }
        for cell in &mut buf.content {
            let symbol = cell.symbol();
            if symbol.is_ascii() || width::grapheme(symbol) == 0 {
                continue;
            }
            let sign = char_of(symbol);
            cell.set_char(sign);
        }
    }

    pub fn text(self, text: &str) -> String {
        match self {
            Self::Unicode => text.to_owned(),
            Self::Ascii => text.chars().map(|c| if c.is_ascii() { c } else { sign(c) }).collect(),
        }
    }
}

/// Where ambiguous characters are wide: what lines are made of becomes ASCII, and what has been given a single column,
/// because it is a sign of ours, instead of lying over what stands beside it.
fn make_room(buf: &mut Buffer) {
    let columns = usize::from(buf.area.width.max(1));
    for row in buf.content.chunks_mut(columns) {
        let mut x = 0;
        while let Some(cell) = row.get(x) {
            let first = cell.symbol().chars().next();
            let is_wide = first.is_some_and(width::is_ambiguous);
            let has_room = row.get(x + 1).is_some_and(|next| next.symbol() == " ");
            let is_alone = has_room && !first.is_some_and(width::is_drawing);
            if is_wide && !is_alone {
                let sign = char_of(cell.symbol());
                if let Some(cell) = row.get_mut(x) {
                    cell.set_char(sign);
                }
            }
            x += if is_wide && is_alone { 2 } else { 1 };
        }
    }
}

fn char_of(symbol: &str) -> char {
    symbol.chars().next().map_or(' ', sign)
}

const fn sign(c: char) -> char {
    match c {
        '✓' => 'v',
        '✗' | '×' => 'x',
        '╹' | '╻' | '⠹' | '⠦' | '▌' | '▎' | '┃' | '│' | '┊' | '╷' | '╵' | '║' => '|',
        '⠸' | '⠧' => '/',
        '⠴' | '⠏' => '\\',
        '⠼' | '⠇' | '·' | '–' | '—' | '−' | '─' | '╌' | '▱' | '╺' | '╸' => '-',
        '━' | '═' => '=',
        '☰' | '≡' | '▰' | '█' | '▓' => '#',
        '›' | '❯' | '▸' | '▶' | '→' | '»' => '>',
        '←' | '◂' | '«' => '<',
        '↑' | '▲' => '^',
        '↓' | '▾' | '▼' => 'v',
        '•' | '●' | '★' | '✱' => '*',
        '◦' | '○' => 'o',
        '∴' | '±' | '≈' | '…' => '~',
        '⋯' | '⋮' => ':',
        '‘' | '’' => '\'',
        '“' | '”' => '"',
        '⚠' => '!',
        '┌' | '┐' | '└' | '┘' | '├' | '┤' | '┬' | '┴' | '┼' | '┏' | '┓' | '┗' | '┛' | '┣' | '┫' | '┳' | '╭' | '╮'
        | '╰' | '╯' => '+',
        '\u{2500}'..='\u{257f}' => '+',
        '\u{2580}'..='\u{259f}' => '#',
        '\u{a0}' | '\u{2007}' | '\u{202f}' => ' ',
        _ => '?',
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::layout::Rect;
    use ratatui::style::Style;

    #[test]
    fn what_is_painted_becomes_ascii_of_the_same_width() {
        let mut buf = Buffer::empty(Rect::new(0, 0, 20, 1));
        buf.set_string(0, 0, "✓ run 漢x · é…", Style::new());
        Letters::Ascii.reduce(&mut buf);
        let row: String = buf.content.iter().map(|cell| cell.symbol()).collect();
        assert_eq!(row, "v run ? x - ?~      ");
        assert_eq!(Letters::Ascii.text("acp-tui · a — b"), "acp-tui - a - b");
    }

    #[test]
    fn where_ambiguous_characters_are_wide_signs_lie_over_nothing() {
        let mut buf = Buffer::empty(Rect::new(0, 0, 12, 2));
        buf.set_string(0, 0, "────▎word…x│", Style::new());
        buf.set_string(0, 1, "· § é ❯ │ a", Style::new());
        make_room(&mut buf);
        let row = |y: u16| (0..12).map(|x| buf[(x, y)].symbol()).collect::<String>();
        assert_eq!(row(0), "----|word~x|");
        assert_eq!(row(1), "· § é ❯ | a ");
    }

    #[test]
    fn signs_of_states_stay_different() {
        let signs: std::collections::HashSet<char> =
            ['✓', '✗', '·', '∴', '▌', '☰', '▸'].map(sign).into_iter().collect();
        assert_eq!(signs.len(), 7);
    }

    mod letters_from_the_environment {
        use super::*;

        fn check((all, ctype, lang): (Option<&str>, Option<&str>, Option<&str>), letters: Letters) {
            assert_eq!(Letters::from_env(all, ctype, lang), letters);
        }

        cases! {
            check {
                utf_8: (None, None, Some("en_US.UTF-8")), Letters::Unicode;
                as_macos_writes_it: (None, Some("UTF-8"), None), Letters::Unicode;
                in_small_letters: (None, None, Some("C.utf8")), Letters::Unicode;
                the_plain_locale: (None, None, Some("C")), Letters::Ascii;
                another_code: (None, None, Some("de_DE.ISO-8859-1")), Letters::Ascii;
                all_wins: (Some("C"), None, Some("en_US.UTF-8")), Letters::Ascii;
                what_is_empty_says_nothing: (Some(""), None, Some("en_US.UTF-8")), Letters::Unicode;
                nothing_is_said: (None, None, None), Letters::Unicode;
            }
        }
    }
}
