//! Text with SGR sequences (command output) becomes styled lines.
//!
//! Not a terminal: there is no screen and no cursor, everything but SGR is dropped (see `base::escape`), and a lone
//! carriage return only lets what follows replace the line. Invariants: no control character but `\t` comes out; the
//! work and the memory are linear in the input.

use crate::base::escape::{Escapes, Step};
use crate::base::sanitize;

use super::run::{AnsiColor, Mods, RunStyle, StyledText};

/// Parameters of one SGR sequence that are looked at.
const MAX_PARAMS: usize = 32;

/// The lines of a text; a line feed at the very end does not start another one.
pub fn parse(text: &str) -> Vec<StyledText> {
    let mut parser = Parser::default();
    for c in text.chars() {
        match parser.escapes.feed(c) {
            Step::Char(c) => parser.char(c),
            Step::Csi('m') => parser.sgr(),
            Step::Csi(_) | Step::Inside => {}
        }
    }
    parser.flush();
    if !parser.line.is_empty() {
        parser.lines.push(parser.line);
    }
    parser.lines
}

#[derive(Default)]
struct Parser {
    escapes: Escapes,
    lines: Vec<StyledText>,
    line: StyledText,
    /// Text of the current style that is not in the line yet.
    run: String,
    style: RunStyle,
    /// A carriage return came; the next character replaces the line.
    returned: bool,
}

impl Parser {
    fn char(&mut self, c: char) {
        match c {
            '\n' => {
                self.flush();
                self.lines.push(std::mem::take(&mut self.line));
                self.returned = false;
            }
            '\r' => self.returned = true,
            c => {
                if c.is_control() && c != '\t' {
                    return;
                }
                if std::mem::take(&mut self.returned) {
                    self.run.clear();
                    self.line = StyledText::new();
                }
                if c == '\t' {
                    self.run.push(c);
                } else {
                    sanitize::push_visible(c, &mut self.run);
                }
            }
        }
    }

    fn flush(&mut self) {
        self.line.push(&self.run, self.style);
        self.run.clear();
    }

    fn sgr(&mut self) {
        let mut style = self.style;
        apply_sgr(&mut style, self.escapes.params());
        if style != self.style {
            self.flush();
            self.style = style;
        }
    }
}

/// Applies the parameters of one SGR sequence (`1;38;5;9`) to a style. Unknown ones change nothing.
pub fn apply_sgr(style: &mut RunStyle, params: &str) {
    // A private sequence (`CSI > 4 m`) is not SGR.
    if !params.bytes().all(|b| matches!(b, b'0'..=b'9' | b';' | b':')) {
        return;
    }
    let mut items = params.split(';').take(MAX_PARAMS);
    while let Some(item) = items.next() {
        let mut parts = item.split(':');
        let code = number(parts.next());
        match code {
            38 | 48 => {
                let color = if item.contains(':') { colon_color(parts) } else { semicolon_color(&mut items) };
                let Some(color) = color else { continue };
                if code == 38 {
                    style.fg = Some(color);
                } else {
                    style.bg = Some(color);
                }
            }
            // An underline colour has the same form and is not shown.
            58 if !item.contains(':') => {
                semicolon_color(&mut items);
            }
            4 if item == "4:0" => style.mods = style.mods.without(Mods::UNDERLINE),
            _ => simple(style, code),
        }
    }
}

fn number(text: Option<&str>) -> u16 {
    match text {
        None | Some("") => 0,
        Some(digits) => digits.parse().unwrap_or(u16::MAX),
    }
}

fn byte(text: Option<&str>) -> Option<u8> {
    u8::try_from(number(Some(text?))).ok()
}

fn indexed(n: u8) -> AnsiColor {
    if n < 16 { AnsiColor::Named(n) } else { AnsiColor::Indexed(n) }
}

/// `5;n` or `2;r;g;b`.
fn semicolon_color<'a>(items: &mut impl Iterator<Item = &'a str>) -> Option<AnsiColor> {
    match number(items.next()) {
        5 => byte(items.next()).map(indexed),
        2 => {
            let (r, g, b) = (byte(items.next()), byte(items.next()), byte(items.next()));
            Some(AnsiColor::Rgb(r?, g?, b?))
        }
        _ => None,
    }
}

/// `5:n`, `2:r:g:b` or, with a colour space, `2:space:r:g:b`.
fn colon_color<'a>(parts: impl Iterator<Item = &'a str>) -> Option<AnsiColor> {
    let parts: Vec<&str> = parts.take(6).collect();
    match parts.as_slice() {
        ["5", n, ..] => byte(Some(n)).map(indexed),
        ["2", r, g, b] | ["2", _, r, g, b, ..] => Some(AnsiColor::Rgb(byte(Some(r))?, byte(Some(g))?, byte(Some(b))?)),
        _ => None,
    }
}

fn simple(style: &mut RunStyle, code: u16) {
    let on = |m: Mods| style.mods.with(m);
    let off = |m: Mods| style.mods.without(m);
    match code {
        0 => (style.mods, style.fg, style.bg) = (Mods::NONE, None, None),
        1 => style.mods = on(Mods::BOLD),
        2 => style.mods = on(Mods::FAINT),
        3 => style.mods = on(Mods::ITALIC),
        4 | 21 => style.mods = on(Mods::UNDERLINE),
        7 => style.mods = on(Mods::REVERSE),
        9 => style.mods = on(Mods::STRIKE),
        22 => style.mods = off(Mods::BOLD.with(Mods::FAINT)),
        23 => style.mods = off(Mods::ITALIC),
        24 => style.mods = off(Mods::UNDERLINE),
        27 => style.mods = off(Mods::REVERSE),
        29 => style.mods = off(Mods::STRIKE),
        30..=37 => style.fg = Some(AnsiColor::Named((code - 30) as u8)),
        90..=97 => style.fg = Some(AnsiColor::Named((code - 90 + 8) as u8)),
        39 => style.fg = None,
        40..=47 => style.bg = Some(AnsiColor::Named((code - 40) as u8)),
        100..=107 => style.bg = Some(AnsiColor::Named((code - 100 + 8) as u8)),
        49 => style.bg = None,
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn texts(input: &str) -> Vec<String> {
        parse(input).iter().map(|l| l.as_str().to_owned()).collect()
    }

    fn style_of(sgr: &str) -> RunStyle {
        parse(&format!("\x1b[{sgr}mx"))[0].iter().next().unwrap().1
    }

    #[test]
    fn colours_and_attributes() {
        let lines = parse("a\x1b[1;31mb\x1b[0mc\n\x1b[32md\ne");
        let runs: Vec<_> = lines[0].iter().collect();
        assert_eq!(runs[0], ("a", RunStyle::default()));
        assert_eq!(runs[1], ("b", RunStyle { mods: Mods::BOLD, fg: Some(AnsiColor::Named(1)), ..RunStyle::default() }));
        assert_eq!(runs[2], ("c", RunStyle::default()));
        assert_eq!(lines[2].iter().next().unwrap().1.fg, Some(AnsiColor::Named(2)), "a style lasts over lines");
    }

    #[test]
    fn all_forms_of_colour() {
        assert_eq!(style_of("38;5;9").fg, Some(AnsiColor::Named(9)));
        assert_eq!(style_of("38;5;200").fg, Some(AnsiColor::Indexed(200)));
        assert_eq!(style_of("48;2;1;2;3").bg, Some(AnsiColor::Rgb(1, 2, 3)));
        assert_eq!(style_of("38:2::1:2:3").fg, Some(AnsiColor::Rgb(1, 2, 3)));
        assert_eq!(style_of("38:2:1:2:3").fg, Some(AnsiColor::Rgb(1, 2, 3)));
        assert_eq!(style_of("38:5:77;1").mods, Mods::BOLD);
        assert_eq!(style_of("97;104").fg, Some(AnsiColor::Named(15)));
        assert_eq!(style_of("97;104").bg, Some(AnsiColor::Named(12)));
        assert_eq!(style_of("58;5;1;3").mods, Mods::ITALIC);
        assert_eq!(style_of("31;;1").fg, None, "an empty parameter is a reset");
    }

    #[test]
    fn nonsense_changes_nothing() {
        for sgr in ["38;5;999", "38;2;1;2", "38", "99999999999", ">4;1", "38:9:1", "5", "8"] {
            assert_eq!(style_of(sgr), RunStyle::default(), "{sgr}");
        }
        assert_eq!(style_of("4:0"), RunStyle::default());
        assert_eq!(style_of("4:3").mods, Mods::UNDERLINE);
    }

    #[test]
    fn only_text_is_left() {
        assert_eq!(texts("a\x1b]0;t\x07b\x1b[2Jc\x08\x1bPx\x1b\\d\u{202e}"), ["abcd⟨U+202E⟩"]);
        assert_eq!(texts("a\tb\x00"), ["a\tb"]);
    }

    #[test]
    fn lines_end_with_lf_or_crlf_and_a_lone_cr_starts_over() {
        assert_eq!(texts("a\r\nb\n\nc\n"), ["a", "b", "", "c"]);
        assert_eq!(texts("10%\r50%\r\x1b[32m100%\r\nok\r"), ["100%", "ok"]);
        assert_eq!(texts(""), Vec::<String>::new());
    }

    proptest! {
        #[test]
        fn no_control_character_comes_out(text in "(\\PC|[\x00-\x1f]|\x1b\\[[0-9;:]{0,12}m|\x1b[\\]P]){0,40}") {
            for line in parse(&text) {
                prop_assert!(!line.as_str().chars().any(|c| c.is_control() && c != '\t'));
                prop_assert_eq!(line.iter().map(|(t, _)| t).collect::<String>(), line.as_str());
            }
        }
    }
}
