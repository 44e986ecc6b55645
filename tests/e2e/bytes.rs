//! What the client may write to a terminal: every byte is taken apart and held against a list of what is allowed.

use super::session::find;

/// One thing that was written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Token {
    Text(char),
    Control(u8),
    /// Parameters and final character.
    Csi(String),
    Osc(String),
    Apc(String),
    /// Escape and one other byte; another string sequence (DCS, PM, SOS) shows by its first byte.
    Escape(u8),
}

pub fn tokens(bytes: &[u8]) -> Vec<Token> {
    let text = std::str::from_utf8(bytes).expect("only UTF-8 is written");
    let mut tokens = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\x1b' {
            tokens.push(if c < ' ' || c == '\x7f' { Token::Control(c as u8) } else { Token::Text(c) });
            continue;
        }
        match chars.next() {
            Some('[') => {
                let mut sequence = String::new();
                for c in chars.by_ref() {
                    sequence.push(c);
                    if ('@'..='~').contains(&c) {
                        break;
                    }
                }
                tokens.push(Token::Csi(sequence));
            }
            Some(']') => {
                let mut sequence = String::new();
                for c in chars.by_ref() {
                    if c == '\x07' {
                        break;
                    }
                    assert_ne!(c, '\x1b', "an OSC is ended by BEL here: {sequence:?}");
                    sequence.push(c);
                }
                tokens.push(Token::Osc(sequence));
            }
            Some('_') => {
                let sequence: String = chars.by_ref().take_while(|c| *c != '\x1b').collect();
                assert_eq!(chars.next(), Some('\\'), "an APC is ended by ST: {sequence:?}");
                tokens.push(Token::Apc(sequence));
            }
            other => tokens.push(Token::Escape(other.map_or(0, |c| c as u8))),
        }
    }
    tokens
}

/// Fails on anything that a screen of ours has no use for. Titles must start with ours; returns the OSC 52 strings.
pub fn assert_harmless(bytes: &[u8]) -> Vec<String> {
    let mut clipboard = Vec::new();
    let tokens = tokens(bytes);
    let leaves = |at: usize| matches!(tokens.get(at + 1), Some(Token::Csi(next)) if next == "?1049l");
    for (at, token) in tokens.iter().enumerate() {
        match token {
            // All is erased only to leave nothing of it behind.
            Token::Csi(sequence) if sequence == "2J" => assert!(leaves(at), "{token:?}"),
            Token::Text(c) => assert!(!is_forbidden(*c), "{c:?} was written"),
            Token::Control(b) => assert!(matches!(b, b'\r' | b'\n' | b'\x08'), "{token:?}"),
            Token::Csi(sequence) => assert!(is_allowed(sequence), "{token:?}"),
            Token::Osc(text) => match text.strip_prefix("52;c;") {
                Some(data) => clipboard.push(data.to_owned()),
                // What is behind the words, whether the state of programs is shown, and files of pictures taken.
                None if ["11;?", "7501;?", "1337;ReportCellSize"].contains(&text.as_str()) => {}
                // Where words lead.
                None if is_link(text) => {}
                None => assert!(text.starts_with("2;acp-tui · ") && !text.contains("owned"), "{token:?}"),
            },
            // Whether pictures are taken.
            Token::Apc(text) => assert_eq!(text, "Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA"),
            Token::Escape(_) => panic!("{token:?}"),
        }
    }
    clipboard
}

fn is_link(text: &str) -> bool {
    let is_plain = |to: &str| to.bytes().all(|b| b.is_ascii_graphic());
    let leads = |to: &str| to.is_empty() || ["http://", "https://", "file:///"].iter().any(|s| to.starts_with(s));
    text.strip_prefix("8;;").is_some_and(|to| is_plain(to) && leads(to))
}

/// C1 controls, bidirectional controls and what else is invisible but not harmless.
fn is_forbidden(c: char) -> bool {
    matches!(c, '\u{80}'..='\u{9f}' | '\u{200e}' | '\u{200f}' | '\u{61c}' | '\u{202a}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}' | '\u{feff}' | '\u{2028}' | '\u{2029}' | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e007f}')
}

fn is_allowed(sequence: &str) -> bool {
    let (parameters, last) = sequence.split_at(sequence.len().saturating_sub(1));
    let numbers = |text: &str| text.bytes().all(|b| b.is_ascii_digit() || b == b';');
    match last {
        // Cursor, erase to the end of the row, colours.
        "H" | "G" | "C" | "K" | "m" => numbers(parameters),
        // How Alt is told: kept, set, given back.
        "s" | "r" => parameters == "?1036;1039",
        "h" if parameters == "?1036;1039" => true,
        "h" | "l" => {
            matches!(
                parameters,
                "?25" | "?7" | "?1000" | "?1002" | "?1004" | "?1006" | "?1049" | "?2004" | "?2026" | "?2031"
            )
        }
        // What every terminal answers.
        "c" => parameters.is_empty(),
        // Whether what was drawn has arrived.
        "n" => matches!(parameters, "5" | "6"),
        "u" => matches!(parameters, ">1" | "<1"),
        // How many colours pictures may have.
        "S" => parameters == "?1;1;0",
        "t" => matches!(parameters, "22;2" | "23;2"),
        _ => false,
    }
}

/// Every mode that was set has been reset, in the right order, and the last bytes are those of leaving.
#[track_caller]
pub fn assert_modes_given_back(bytes: &[u8]) {
    for (set, reset) in [
        ("\x1b[?1049h", "\x1b[?1049l"),
        ("\x1b[?2004h", "\x1b[?2004l"),
        ("\x1b[?1004h", "\x1b[?1004l"),
        ("\x1b[?2031h", "\x1b[?2031l"),
        ("\x1b[?1036;1039h", "\x1b[?1036;1039r"),
        ("\x1b[?7l", "\x1b[?7h"),
        ("\x1b[>1u", "\x1b[<1u"),
        ("\x1b[22;2t", "\x1b[23;2t"),
    ] {
        let (on, off) = (last(bytes, set), last(bytes, reset));
        assert!(on.is_some(), "{set:?} was never written");
        assert!(off > on, "{set:?} at {on:?}, {reset:?} at {off:?}");
    }
    for (set, reset) in [
        ("\x1b[?1000h", "\x1b[?1000l"),
        ("\x1b[?1002h", "\x1b[?1002l"),
        ("\x1b[?1006h", "\x1b[?1006l"),
        ("\x1b[?2026h", "\x1b[?2026l"),
        ("\x1b[?25l", "\x1b[?25h"),
    ] {
        assert!(last(bytes, reset) > last(bytes, set), "{set:?} is left");
    }
    // The keyboard belongs to the alternate screen.
    assert!(last(bytes, "\x1b[<1u") < last(bytes, "\x1b[?1049l"));
    let left = last(bytes, "\x1b[?1049l").unwrap();
    let after = String::from_utf8_lossy(&bytes[left..]).replace("\x1b[?1049l", "").replace("\x1b[23;2t", "");
    assert!(!after.contains('\x1b'), "after the screen was left: {after:?}");
}

fn last(bytes: &[u8], what: &str) -> Option<usize> {
    let what = what.as_bytes();
    let mut from = 0;
    let mut found = None;
    while let Some(at) = find(&bytes[from..], what) {
        found = Some(from + at);
        from += at + what.len();
    }
    found
}

#[test]
fn what_must_not_be_written_is_found() {
    for bad in
        ["\x1b[2J", "\x1b[c\x1b[?15n", "\x1b]0;x\x07", "\x1bP1\x1b\\", "\x1b_x\x1b\\", "\u{9b}2J", "\u{202e}", "\x07"]
    {
        assert!(std::panic::catch_unwind(|| assert_harmless(bad.as_bytes())).is_err(), "{bad:?}");
    }
    assert_eq!(assert_harmless("\x1b[1;2H\x1b[38;5;1mé日\x1b[K\x1b]52;c;eA==\x07".as_bytes()), ["eA=="]);
}
