//! `keys --press`: what the terminal sends for a key, which key that is, and what it does.
//!
//! Draws no screen, and sets the terminal as for one: what it sends depends on that. Invariants: what came is written as
//! visible characters; Ctrl+C twice or Ctrl+D ends it, whatever they are bound to.

use super::event::Input;
use super::guard::{Place, Tty, size};
use super::parse::{Parser, Patience};
use crate::ui::keys::{Key, Keymap, Mouse};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::AsFd as _;

/// How long the rest of what has begun may take.
const REST: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
const HEAD: &str =
    "Press keys: what the terminal sends, which key that is, and what it does. Ctrl+C twice ends this.\r\n";
/// Columns of a terminal that does not tell how many it has.
const COLUMNS: u16 = 80;
/// Columns of what was sent, and of the name of a key.
const SENT: usize = 18;
const NAME: usize = 14;

/// Until the person ends it, or the terminal is gone.
pub fn show(keys: &Keymap) -> io::Result<()> {
    let mut tty = Tty::enter(Mouse::Free)?;
    tty.set_place(Place::Main)?;
    tty.send(HEAD.as_bytes())?;
    let mut input = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let (mut parser, mut sent, mut found) = (Parser::default(), Vec::new(), Vec::new());
    let mut buffer = [0; 4096];
    let mut wants_to_leave = false;
    loop {
        let is_begun = matches!(parser.incomplete(), Some(Patience::Short | Patience::Long));
        let mut fds = [PollFd::new(&input, PollFlags::IN)];
        match poll(&mut fds, if is_begun { Some(&REST) } else { None }) {
            Err(Errno::INTR) => continue,
            Err(error) => return Err(error.into()),
            Ok(0) => {
                parser.give_up(&mut found);
                if found.is_empty() && matches!(parser.incomplete(), Some(Patience::Short | Patience::Long)) {
                    continue;
                }
            }
            Ok(_) => {
                let n = input.read(&mut buffer)?;
                if n == 0 {
                    return Ok(());
                }
                let bytes = buffer.get(..n).unwrap_or_default();
                sent.extend_from_slice(bytes);
                parser.feed(bytes, &mut found);
                if matches!(parser.incomplete(), Some(Patience::Short | Patience::Long)) {
                    continue;
                }
            }
        }
        tty.send(told(keys, &sent, &found, size().map_or(COLUMNS, |(columns, _)| columns)).as_bytes())?;
        for input in found.drain(..) {
            let (Input::Key(key) | Input::Hasty(key)) = input else { continue };
            let is_ctrl_c = Key::parse("ctrl+c") == Some(key);
            if is_ctrl_c && wants_to_leave || Key::parse("ctrl+d") == Some(key) {
                return Ok(());
            }
            wants_to_leave = is_ctrl_c;
        }
        sent.clear();
    }
}

/// The rows about what came together. Answers of the terminal are no keys.
fn told(keys: &Keymap, sent: &[u8], found: &[Input], columns: u16) -> String {
    let sent = sent.escape_ascii().to_string();
    let mut rows = String::new();
    let mut row = |name: &str, means: &str| {
        let mut front = if rows.is_empty() { &*sent } else { "" };
        let mut name = name;
        for means in pieces(means, usize::from(columns).saturating_sub(SENT + NAME + 5)) {
            rows.push_str(format!("{front:SENT$}  {name:NAME$}  {means}").trim_end());
            rows.push_str("\r\n");
            (front, name) = ("", "");
        }
    };
    for input in found {
        match input {
            Input::Key(key) | Input::Hasty(key) => {
                let means = keys.meanings(*key);
                let mut name = key.to_string();
                for (places, what) in &means {
                    row(&name, &format!("{what} · {}", places.join(", ")));
                    name.clear();
                }
                if means.is_empty() {
                    row(&name, "does nothing");
                }
            }
            Input::Paste(text) => row("paste", &format!("{} characters", text.chars().count())),
            Input::Focus(true) => row("focus", "comes"),
            Input::Focus(false) => row("focus", "goes"),
            Input::Mouse { .. } | Input::Resize(..) | Input::Told(_) => {}
        }
    }
    if found.is_empty() {
        row("", "not understood, or a piece of something");
    }
    rows
}

/// Words in rows of so many columns; one that is longer has its own.
fn pieces(words: &str, columns: usize) -> Vec<String> {
    let mut rows = vec![String::new()];
    for word in words.split(' ') {
        let Some(row) = rows.last_mut() else { break };
        if row.is_empty() {
            row.push_str(word);
        } else if row.chars().count() + 1 + word.chars().count() <= columns {
            row.extend([" ", word]);
        } else {
            rows.push(word.to_owned());
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(sent: &[u8]) -> String {
        rows_within(sent, 200)
    }

    fn rows_within(sent: &[u8], columns: u16) -> String {
        let (mut parser, mut found) = (Parser::default(), Vec::new());
        parser.feed(sent, &mut found);
        told(&Keymap::default(), sent, &found, columns)
    }

    #[test]
    fn what_a_key_does_in_many_places_goes_on_in_the_next_row_below_its_beginning() {
        for sent in [&b"\x1b"[..], b"\r", b"x"] {
            let (wide, narrow) = (rows_within(sent, 400), rows_within(sent, 60));
            assert!(wide.lines().any(|row| row.chars().count() > 60), "{wide}");
            assert!(narrow.lines().all(|row| row.chars().count() < 60), "{narrow}");
            let words = |rows: &str| rows.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            assert_eq!(words(&narrow), words(&wide), "no word is cut or lost");
            let at = SENT + NAME + 4;
            assert!(narrow.lines().all(|row| !row[at..].starts_with(' ')), "{narrow}");
        }
        assert!(!rows_within(b"x", 10).is_empty());
    }

    #[test]
    fn what_came_is_shown_with_its_key_and_with_what_that_does_where() {
        let f3 = rows(b"\x1bOR");
        assert!(f3.starts_with("\\x1bOR              F3              "), "{f3}");
        assert!(f3.contains("review what was changed · composer"), "{f3}");
        let y = rows(b"y");
        assert!(y.contains("types it · composer") && y.contains("allow this once · question"), "several meanings: {y}");
        assert!(rows(b"\x1b[24;7~").contains("does nothing"), "{}", rows(b"\x1b[24;7~"));
        assert!(rows(b"\x1b[200~ab\x1b[201~").contains("2 characters"));
        assert!(!rows(b"\x1b[99999z").contains('\x1b'));
    }
}
