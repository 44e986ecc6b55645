//! Finds terminal escape sequences in a stream of characters.
//!
//! Interprets none of them; it only says what is text and hands out CSI sequences whole. Works character by
//! character, so a sequence may be split between two pieces of input. Invariant: state is bounded (a sequence with an
//! absurd number of parameters is swallowed without being kept).
//!
//! A line feed ends a string sequence (OSC, DCS, APC, PM, SOS) that was never terminated: otherwise one stray
//! introducer would hide everything that follows.

const MAX_PARAMS: usize = 128;

/// What one character turned out to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// Not part of a sequence (may still be a control character).
    Char(char),
    /// Part of a sequence.
    Inside,
    /// The end of a CSI sequence, with its final character; see [`Escapes::params`].
    Csi(char),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum State {
    #[default]
    Ground,
    /// After ESC.
    Esc,
    /// After ESC and an intermediate character.
    EscIntermediate,
    Csi,
    /// In the payload of OSC, DCS, APC, PM or SOS.
    Payload,
    /// In a payload, after ESC.
    PayloadEsc,
}

#[derive(Clone, Debug, Default)]
pub struct Escapes {
    state: State,
    params: String,
    overflow: bool,
}

impl Escapes {
    pub fn new() -> Self {
        Self::default()
    }

    /// Parameters and intermediates of the CSI sequence that just ended.
    pub fn params(&self) -> &str {
        &self.params
    }

    pub fn feed(&mut self, c: char) -> Step {
        match self.state {
            State::Ground => self.ground(c),
            State::Esc => match c {
                '[' => self.begin_csi(),
                ']' | 'P' | 'X' | '^' | '_' => self.inside(State::Payload),
                ' '..='/' => self.inside(State::EscIntermediate),
                '0'..='~' => self.inside(State::Ground),
                _ => self.ground(c),
            },
            State::EscIntermediate => match c {
                ' '..='/' => Step::Inside,
                '0'..='~' => self.inside(State::Ground),
                _ => self.ground(c),
            },
            State::Csi => match c {
                ' '..='?' => {
                    if self.params.len() < MAX_PARAMS {
                        self.params.push(c);
                    } else {
                        self.overflow = true;
                    }
                    Step::Inside
                }
                '@'..='~' => {
                    self.state = State::Ground;
                    if self.overflow { Step::Inside } else { Step::Csi(c) }
                }
                _ => self.ground(c),
            },
            State::Payload => self.payload(c),
            State::PayloadEsc => match c {
                '\\' => self.inside(State::Ground),
                _ => {
                    self.state = State::Esc;
                    self.feed(c)
                }
            },
        }
    }

    fn ground(&mut self, c: char) -> Step {
        match c {
            '\u{1b}' => self.inside(State::Esc),
            '\u{9b}' => self.begin_csi(),
            '\u{90}' | '\u{98}' | '\u{9d}' | '\u{9e}' | '\u{9f}' => self.inside(State::Payload),
            _ => {
                self.state = State::Ground;
                Step::Char(c)
            }
        }
    }

    fn payload(&mut self, c: char) -> Step {
        match c {
            '\u{1b}' => self.inside(State::PayloadEsc),
            '\u{7}' | '\u{18}' | '\u{1a}' | '\u{9c}' => self.inside(State::Ground),
            '\n' => self.ground(c),
            _ => Step::Inside,
        }
    }

    fn begin_csi(&mut self) -> Step {
        self.params.clear();
        self.overflow = false;
        self.inside(State::Csi)
    }

    fn inside(&mut self, state: State) -> Step {
        self.state = state;
        Step::Inside
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(input: &str) -> String {
        let mut escapes = Escapes::new();
        input.chars().filter_map(|c| if let Step::Char(c) = escapes.feed(c) { Some(c) } else { None }).collect()
    }

    #[test]
    fn sequences_are_found_whole() {
        assert_eq!(text("a\x1b[31;1mb\x1b[?25lc"), "abc");
        assert_eq!(text("a\x1b]8;;http://x\x07b\x1b]0;t\x1b\\c\x1b]52;c;QQ==\u{9c}d"), "abcd");
        assert_eq!(text("a\x1bPq#0;2\x1b\\b\x1b_Gf=100\x1b\\c\u{90}x\u{9c}d\u{9b}2Je"), "abcde");
        assert_eq!(text("a\x1b7b\x1b(Bc\x1b\x1b[md"), "abcd");
    }

    #[test]
    fn unfinished_sequences_do_not_hide_the_next_line() {
        assert_eq!(text("a\x1b]0;title\nb"), "a\nb");
        assert_eq!(text("a\x1b[12\nb"), "a\nb");
        assert_eq!(text("a\x1bäb"), "aäb");
    }

    #[test]
    fn an_escape_inside_a_payload_starts_a_new_sequence() {
        assert_eq!(text("\x1b]0;t\x1b[31mred"), "red");
    }

    #[test]
    fn absurd_parameters_are_swallowed() {
        let mut escapes = Escapes::new();
        let long = format!("\x1b[{}mx", "1;".repeat(100_000));
        assert!(long.chars().all(|c| !matches!(escapes.feed(c), Step::Csi(_))));
        assert!(escapes.params().len() <= MAX_PARAMS);
    }
}
