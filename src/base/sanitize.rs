//! Makes text of agents and programs harmless before it reaches the terminal or goes back to an agent.
//!
//! Does not wrap, does not measure, keeps no colours (see `text::ansi`). Invariant: no control character comes out,
//! except `\n` and `\t` where the function says so; nothing is allocated when nothing changes.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::escape::{Escapes, Step};

/// What happens to a tab and to the end of a line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Layout {
    /// Both become a space.
    Line,
    /// Ends of lines become a space, tabs stay.
    Tabbed,
    /// Both stay.
    Block,
    /// Both stay, and what is not seen does as well: a copy is no picture of a text.
    Copy,
    /// The same of a file: an end of a line that is CR LF stays such.
    FileCopy,
}

impl Layout {
    const fn is_copy(self) -> bool {
        matches!(self, Self::Copy | Self::FileCopy)
    }
}

/// One line for the screen (R-245, R-451): titles, names, paths, messages.
pub fn line(text: &str) -> Cow<'_, str> {
    clean(text, Layout::Line)
}

/// One line for the screen whose tabs stay (a line of a file).
pub fn tabbed(text: &str) -> Cow<'_, str> {
    clean(text, Layout::Tabbed)
}

/// Lines for the screen (R-245): `\n` and `\t` stay, CR LF and a lone CR become `\n`.
pub fn block(text: &str) -> Cow<'_, str> {
    clean(text, Layout::Block)
}

/// What is copied of what an agent or a program says: pasted into a shell or an editor it must be nothing but text. No
/// escape sequence and no control character but `\n` and `\t` is left; CR LF and a lone CR become `\n`.
pub fn copied(text: &str) -> Cow<'_, str> {
    copy(text, Layout::Copy)
}

/// [`copied`] of what is in a file, or is to be put into one: CR LF stays, as a patch would not go in without.
pub fn copied_file(text: &str) -> Cow<'_, str> {
    copy(text, Layout::FileCopy)
}

fn copy(text: &str, layout: Layout) -> Cow<'_, str> {
    // 0xC2 begins C1 controls; most texts have neither.
    let is_suspect = |byte: u8| byte < b' ' && !matches!(byte, b'\n' | b'\t') || matches!(byte, 0x7f | 0xc2);
    if text.bytes().any(is_suspect) { clean(text, layout) } else { Cow::Borrowed(text) }
}

/// Text for an agent (R-384): no escape sequence and no control character but `\n` and `\t`.
pub fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    PlainStream::new().push(text, &mut out);
    out
}

/// [`plain`] for text that arrives in pieces: the cuts do not matter.
#[derive(Clone, Debug, Default)]
pub struct PlainStream {
    escapes: Escapes,
}

impl PlainStream {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn push(&mut self, text: &str, out: &mut String) {
        for c in text.chars() {
            if let Step::Char(c) = self.escapes.feed(c)
                && (!c.is_control() || matches!(c, '\n' | '\t'))
            {
                out.push(c);
            }
        }
    }
}

/// Whether a character is not visible or moves others about, so that text would not be what it seems to be.
///
/// ZWJ, ZWNJ and variation selectors (U+FE00–FE0F) are not among them: emoji and several scripts need them. Tags are:
/// what they spell is invisible wherever it stands, also behind the black flag, which some emoji begin with.
pub const fn is_deceptive(c: char) -> bool {
    matches!(
        c,
        // Soft hyphen, joiner of graphemes, marks and overrides of direction, zero-width spaces, ends of lines.
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff0}'..='\u{fffb}'
            // Letters that are blank.
            | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{2800}' | '\u{3164}' | '\u{ffa0}'
            // Controls of Mongolian, shorthand and musical notation.
            | '\u{180b}'..='\u{180f}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            // Tags, more variation selectors, and what is kept free for their like.
            | '\u{e0000}'..='\u{e0fff}'
            // What stands for pieces of pictures, here and in terminals.
            | '\u{10eeee}'
    )
}

/// Writes what a terminal could obey as JSON escapes it in a string.
pub fn escape_json(c: char, out: &mut String) {
    for unit in c.encode_utf16(&mut [0; 2]) {
        // Writing to a string cannot fail.
        let _ = write!(out, "\\u{unit:04x}");
    }
}

/// Whether what is shown of this text has something that stands for a character: it could not be written back.
pub fn has_stand_ins(text: &str) -> bool {
    !text.is_ascii() && text.chars().any(is_deceptive)
}

/// Appends a character as it may be shown: deceptive ones as `⟨U+202E⟩`, control characters not at all.
pub fn push_visible(c: char, out: &mut String) {
    if is_deceptive(c) {
        // Writing to a string cannot fail.
        let _ = write!(out, "⟨U+{:04X}⟩", c as u32);
    } else if !c.is_control() {
        out.push(c);
    }
}

/// Whether a text holds something that is not seen as it is: what it does may not be what it looks like.
pub fn deceives(text: &str) -> bool {
    text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\r' | '\t') || is_deceptive(c))
}

/// Whether it ends a line somewhere.
pub const fn is_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

fn unchanged(c: char, layout: Layout) -> bool {
    match c {
        ' '..='~' => true,
        '\n' => !matches!(layout, Layout::Line | Layout::Tabbed),
        '\t' => layout != Layout::Line,
        _ if layout.is_copy() => !c.is_control(),
        _ => !c.is_control() && !is_break(c) && !is_deceptive(c),
    }
}

/// Whether every character is a letter, digit, sign or space of ASCII: most names and lines are such.
pub fn is_plain_ascii(text: &[u8]) -> bool {
    text.iter().all(|byte| matches!(byte, b' '..=b'~'))
}

fn clean(text: &str, layout: Layout) -> Cow<'_, str> {
    if is_plain_ascii(text.as_bytes()) {
        return Cow::Borrowed(text);
    }
    let Some((first, _)) = text.char_indices().find(|(_, c)| !unchanged(*c, layout)) else {
        return Cow::Borrowed(text);
    };
    let mut out = String::with_capacity(text.len() + 16);
    out.push_str(&text[..first]);
    let mut escapes = Escapes::new();
    let mut after_cr = false;
    for c in text[first..].chars() {
        let Step::Char(c) = escapes.feed(c) else { continue };
        let completes_crlf = after_cr && c == '\n';
        after_cr = c == '\r';
        if completes_crlf {
            if layout == Layout::FileCopy {
                out.pop();
                out.push_str("\r\n");
            }
            continue;
        }
        match c {
            '\t' => out.push(if layout == Layout::Line { ' ' } else { '\t' }),
            c if layout.is_copy() => match c {
                '\n' | '\r' | '\u{85}' => out.push('\n'),
                c if c.is_control() => {}
                c => out.push(c),
            },
            c if is_break(c) => out.push(if layout == Layout::Block { '\n' } else { ' ' }),
            c => push_visible(c, &mut out),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn r_245_escape_sequences_vanish_whole() {
        assert_eq!(line("a\x1b[31mred\x1b[0m b"), "ared b");
        assert_eq!(line("x\x1b]52;c;cHduZWQ=\x07y\x1b]0;title\x1b\\z"), "xyz");
        assert_eq!(line("x\x1bP1$r\x1b\\y\u{9b}31mz"), "xyz");
        assert_eq!(line("x\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\"), "xlink");
    }

    #[test]
    fn r_245_control_characters_vanish() {
        assert_eq!(line("a\x00\x07\x08\x7f\u{80}\u{99}b"), "ab");
        assert_eq!(line("a\u{85}b"), "a b");
    }

    #[test]
    fn r_245_direction_and_zero_width_characters_become_visible() {
        assert_eq!(line("a\u{202e}b"), "a⟨U+202E⟩b");
        assert_eq!(line("a\u{200b}\u{feff}b"), "a⟨U+200B⟩⟨U+FEFF⟩b");
        assert_eq!(line("👩\u{200d}🚀 ❤\u{fe0f}"), "👩\u{200d}🚀 ❤\u{fe0f}");
    }

    #[test]
    fn r_245_what_cannot_be_seen_becomes_visible() {
        for range in [
            0xad..=0xad,
            0x34f..=0x34f,
            0x61c..=0x61c,
            0x115f..=0x1160,
            0x17b4..=0x17b5,
            0x180b..=0x180f,
            0x200b..=0x200b,
            0x200e..=0x200f,
            0x202a..=0x202e,
            0x2060..=0x206f,
            0x2800..=0x2800,
            0x3164..=0x3164,
            0xfeff..=0xfeff,
            0xffa0..=0xffa0,
            0xfff0..=0xfffb,
            0x1_bca0..=0x1_bca3,
            0x1_d173..=0x1_d17a,
            0xe_0001..=0xe_0001,
            0xe_0020..=0xe_007f,
            0xe_0100..=0xe_01ef,
        ] {
            for c in range.map(|number| char::from_u32(number).unwrap()) {
                let shown = format!("a⟨U+{:04X}⟩b", c as u32);
                assert_eq!(line(&format!("a{c}b")), shown.as_str());
                assert_eq!(block(&format!("a{c}b")), shown.as_str());
            }
        }
        // What neither is nor hides anything.
        let fine = "\u{200c}\u{200d}\u{fe00}\u{fe0f}\u{fffc}\u{fffd}\u{2027}\u{2801}\u{180a}\u{3163}\u{350}\u{f0000}";
        assert_eq!(line(fine), fine);
    }

    #[test]
    fn a_text_deceives_when_something_in_it_is_not_seen() {
        for text in ["a\u{202e}b", "\u{200b}", "a\x1b[2K", "x\u{7f}"] {
            assert!(deceives(text), "{text:?}");
        }
        for text in ["", "a\n\tb\r\n", "grüße 👩\u{200d}🚀"] {
            assert!(!deceives(text), "{text:?}");
        }
    }

    #[test]
    fn r_451_a_title_is_one_line() {
        assert_eq!(line("a\nb\tc\r\nd\u{2028}e"), "a b c d e");
        assert_eq!(tabbed("a\tb\nc"), "a\tb c");
    }

    #[test]
    fn a_block_keeps_lines_and_tabs() {
        assert_eq!(block("a\r\nb\rc\n\td\x1b[m"), "a\nb\nc\n\td");
        assert_eq!(block("a\r\r\nb"), "a\n\nb");
    }

    #[test]
    fn what_is_copied_has_no_control_characters_and_is_otherwise_as_it_was_said() {
        let said = "\u{1b}[31mred\u{1b}[0m a\u{202e}b\u{200b}\tc\u{7}\r\n50%\r100%\u{85}\u{9b}1mé\u{2028}d";
        assert_eq!(copied(said), "red a\u{202e}b\u{200b}\tc\n50%\n100%\né\u{2028}d");
        assert_eq!(copied_file("-a\r\n+\u{1b}[1mb\r\n\r c\n"), "-a\r\n+b\r\n\n c\n");
        for same in ["grüße 🦀\n\tb", "a\u{a0}b", "a\u{202e}b"] {
            assert!(matches!(copied(same), Cow::Borrowed(_)), "{same:?}");
        }
    }

    #[test]
    fn borrowed_when_nothing_changes() {
        assert!(matches!(line("grüße 🦀 漢字"), Cow::Borrowed(_)));
        assert!(matches!(block("a\n\tb"), Cow::Borrowed(_)));
        assert!(matches!(line(""), Cow::Borrowed("")));
    }

    #[test]
    fn r_384_plain_text_for_the_agent() {
        assert_eq!(plain("\x1b[1mok\x1b[0m\r\n\tx\x08\x07 50%\r100%\r\n"), "ok\n\tx 50%100%\n");
        assert_eq!(plain("a\u{202e}b"), "a\u{202e}b");
    }

    #[test]
    fn r_384_a_sequence_may_be_split() {
        let mut stream = PlainStream::new();
        let mut out = String::new();
        for piece in ["a\x1b", "[3", "1mb\r", "\nc\x1b]0;ti", "tle\x1b", "\\d"] {
            stream.push(piece, &mut out);
        }
        assert_eq!(out, "ab\ncd");
    }

    fn hostile() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            any::<char>().prop_map(String::from),
            ".{0,3}",
            Just("\x1b[".to_owned()),
            Just("\x1b]".to_owned()),
            Just("\x1b\\".to_owned()),
            Just("\x1bP".to_owned()),
            Just("\r\n".to_owned()),
            (0u32..0xa0).prop_map(|c| char::from_u32(c).unwrap_or(' ').to_string()),
        ];
        proptest::collection::vec(piece, 0..30).prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn r_245_no_control_character_ever_comes_out(text in hostile()) {
            prop_assert!(!line(&text).chars().any(|c| c.is_control() || is_deceptive(c)));
            prop_assert!(!tabbed(&text).chars().any(|c| c != '\t' && c.is_control()));
            prop_assert!(!block(&text).chars().any(|c| !matches!(c, '\n' | '\t') && (c.is_control() || is_deceptive(c))));
            prop_assert!(!plain(&text).chars().any(|c| !matches!(c, '\n' | '\t') && c.is_control()));
            prop_assert!(!copied(&text).chars().any(|c| !matches!(c, '\n' | '\t') && c.is_control()));
            let file = copied_file(&text).replace("\r\n", "\n");
            prop_assert!(!file.chars().any(|c| !matches!(c, '\n' | '\t') && c.is_control()));
        }

        #[test]
        fn cleaning_twice_changes_nothing(text in hostile()) {
            let once = line(&text).into_owned();
            prop_assert_eq!(line(&once), once.as_str());
            let once = block(&text).into_owned();
            prop_assert_eq!(block(&once), once.as_str());
            let once = copied_file(&text).into_owned();
            prop_assert_eq!(copied_file(&once), once.as_str());
        }

        #[test]
        fn r_384_cuts_do_not_matter(text in hostile(), step in 1usize..6) {
            let chars: Vec<char> = text.chars().collect();
            let mut stream = PlainStream::new();
            let mut out = String::new();
            for chunk in chars.chunks(step) {
                stream.push(&chunk.iter().collect::<String>(), &mut out);
            }
            prop_assert_eq!(out, plain(&text));
        }
    }
}
