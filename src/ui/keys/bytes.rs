//! Keys as the bytes that a terminal sends for them (xterm's encodings), for programs that are typed into.
//!
//! Only the ordinary modes: no application cursor keys, no bracketed paste. Invariant: what is pasted types no
//! control but Tab and Enter, for any clipboard.

use super::key::{Code, Key, Mods};

/// What a terminal sends for a key; nothing for keys that it has no bytes for.
pub fn bytes(key: Key) -> Vec<u8> {
    let mods = key.mods;
    match key.code {
        Code::Char(c) => alt(mods, &character(c, mods)),
        Code::Enter => alt(mods, b"\r"),
        Code::Tab => alt(mods, b"\t"),
        Code::Esc => alt(mods, b"\x1b"),
        Code::Backspace => alt(mods, if mods.ctrl { b"\x08" } else { b"\x7f" }),
        Code::BackTab => b"\x1b[Z".to_vec(),
        Code::Up => letter('A', "[", mods),
        Code::Down => letter('B', "[", mods),
        Code::Right => letter('C', "[", mods),
        Code::Left => letter('D', "[", mods),
        Code::Home => letter('H', "[", mods),
        Code::End => letter('F', "[", mods),
        Code::Insert => number(2, mods),
        Code::Delete => number(3, mods),
        Code::PageUp => number(5, mods),
        Code::PageDown => number(6, mods),
        Code::F(n) => function(n, mods),
    }
}

/// What a terminal sends for text that is pasted: its lines end with Enter.
pub fn pasted(text: &str) -> Vec<u8> {
    let text = text.replace("\r\n", "\r").replace('\n', "\r");
    text.chars().filter(|c| !c.is_control() || matches!(c, '\r' | '\t')).collect::<String>().into_bytes()
}

/// With Ctrl the byte of the seventies, where there is one.
fn character(c: char, mods: Mods) -> Vec<u8> {
    if mods.ctrl {
        match c {
            ' ' | '@' => return vec![0],
            '?' => return vec![0x7f],
            // The letters and [ \ ] ^ _: the lower five bits.
            'a'..='z' | 'A'..='Z' | '['..='_' => return vec![c as u8 & 0x1f],
            _ => {}
        }
    }
    c.encode_utf8(&mut [0; 4]).as_bytes().to_vec()
}

fn alt(mods: Mods, bytes: &[u8]) -> Vec<u8> {
    let mut out = if mods.alt { vec![0x1b] } else { Vec::new() };
    out.extend_from_slice(bytes);
    out
}

/// The number for Shift, Alt and Ctrl in a sequence; 1 is none.
fn modifier(mods: Mods) -> u8 {
    1 + u8::from(mods.shift) + 2 * u8::from(mods.alt) + 4 * u8::from(mods.ctrl)
}

/// `CSI A`, with modifiers `CSI 1 ; 5 A`; `SS3 P` for the first function keys.
fn letter(last: char, plain: &str, mods: Mods) -> Vec<u8> {
    match modifier(mods) {
        1 => format!("\x1b{plain}{last}").into_bytes(),
        n => format!("\x1b[1;{n}{last}").into_bytes(),
    }
}

/// `CSI 3 ~`, with modifiers `CSI 3 ; 5 ~`.
fn number(first: u8, mods: Mods) -> Vec<u8> {
    match modifier(mods) {
        1 => format!("\x1b[{first}~").into_bytes(),
        n => format!("\x1b[{first};{n}~").into_bytes(),
    }
}

fn function(n: u8, mods: Mods) -> Vec<u8> {
    match n {
        1 => letter('P', "O", mods),
        2 => letter('Q', "O", mods),
        3 => letter('R', "O", mods),
        4 => letter('S', "O", mods),
        5 => number(15, mods),
        6..=10 => number(n + 11, mods),
        11 | 12 => number(n + 12, mods),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(key: Key) -> String {
        String::from_utf8(bytes(key)).unwrap()
    }

    #[test]
    fn keys_are_sent_as_a_terminal_sends_them() {
        let shift_alt = Key { code: Code::Up, mods: Mods { shift: true, alt: true, ctrl: false } };
        for (key, expected) in [
            (Key::char('a'), "a"),
            (Key::char('ß'), "ß"),
            (Key::char('漢'), "漢"),
            (Key::plain(Code::Enter), "\r"),
            (Key::shift(Code::Enter), "\r"),
            (Key::plain(Code::Backspace), "\x7f"),
            (Key::ctrl(Code::Backspace), "\x08"),
            (Key::plain(Code::Tab), "\t"),
            (Key::plain(Code::BackTab), "\x1b[Z"),
            (Key::plain(Code::Esc), "\x1b"),
            (Key::plain(Code::Up), "\x1b[A"),
            (Key::plain(Code::Left), "\x1b[D"),
            (Key::ctrl(Code::Right), "\x1b[1;5C"),
            (shift_alt, "\x1b[1;4A"),
            (Key::plain(Code::Home), "\x1b[H"),
            (Key::plain(Code::End), "\x1b[F"),
            (Key::plain(Code::PageUp), "\x1b[5~"),
            (Key::plain(Code::PageDown), "\x1b[6~"),
            (Key::plain(Code::Insert), "\x1b[2~"),
            (Key::plain(Code::Delete), "\x1b[3~"),
            (Key::ctrl(Code::Delete), "\x1b[3;5~"),
            (Key::ctrl(Code::Char('c')), "\x03"),
            (Key::ctrl(Code::Char('d')), "\x04"),
            (Key::ctrl(Code::Char('j')), "\n"),
            (Key::ctrl(Code::Char(' ')), "\0"),
            (Key::ctrl(Code::Char('\\')), "\x1c"),
            (Key::ctrl(Code::Char('_')), "\x1f"),
            (Key::ctrl(Code::Char('2')), "2"),
            (Key::alt(Code::Char('x')), "\x1bx"),
            (Key::alt(Code::Enter), "\x1b\r"),
        ] {
            assert_eq!(sent(key), expected, "{key}");
        }
    }

    #[test]
    fn function_keys() {
        let expected = ["OP", "OQ", "OR", "OS", "[15~", "[17~", "[18~", "[19~", "[20~", "[21~", "[23~", "[24~"];
        for (n, expected) in (1..).zip(expected) {
            assert_eq!(sent(Key::plain(Code::F(n))), format!("\x1b{expected}"));
        }
        assert_eq!(sent(Key::ctrl(Code::F(1))), "\x1b[1;5P");
        assert_eq!(sent(Key::plain(Code::F(0))), "");
        assert_eq!(sent(Key::plain(Code::F(255))), "");
    }

    #[test]
    fn a_paste_is_text_with_enters() {
        assert_eq!(pasted("a\r\nb\nc\td\re"), b"a\rb\rc\td\re");
        assert_eq!(pasted("x\u{1b}[201~\u{3}\u{9b}ä"), "x[201~ä".as_bytes());
    }
}
