//! The line of sessions: what is said of each at any width, and the line of a directory.

use super::*;

fn tab(number: u32, name: Name, attention: Attention) -> Tab {
    Tab { key: SessionKey(number), number: usize::try_from(number).unwrap(), name, attention }
}

fn said(tabs: &[Tab], room: usize) -> Option<String> {
    let text = |detail| tabs.iter().map(|t| piece(t, t.number == 1, detail).as_str().to_owned()).collect::<Vec<_>>();
    DETAILS.into_iter().map(text).map(|pieces| pieces.join("  ")).find(|line| width::str_width(line) <= room)
}

#[test]
fn one_long_title_does_not_take_the_names_of_all() {
    let tabs = [
        tab(1, Name::Title("A title that never comes to an end, as agents write".into()), Attention::Works),
        tab(2, Name::Ours("gemini api".into()), Attention::Waits),
    ];
    assert_eq!(said(&tabs, 80).unwrap(), "▸1 “A title that never co…” works   2 gemini api waits for you");
    assert_eq!(said(&tabs, 52).unwrap(), "▸1 “A title tha…” works   2 gemini api waits for you");
    assert_eq!(said(&tabs, 40).unwrap(), "▸1 “A title tha…” …   2 gemini api ?");
    assert_eq!(said(&tabs, 28).unwrap(), "▸1 “A ti…” …   2 gemini… ?");
}

#[test]
fn a_title_cannot_speak_for_the_line() {
    let title = Name::Title("fine ✓  2 other ? waits for you".into());
    assert_eq!(said(&[tab(1, title, Attention::Nothing)], 80).unwrap(), "▸1 “fine ✓  2 other ? wai…”");
}

#[test]
fn the_cursor_stays_on_a_line_that_is_longer_than_the_screen() {
    assert_eq!(scrolled("/home/me/work", 13, 20), ("/home/me/work".into(), 13));
    assert_eq!(scrolled("/home/me/work", 13, 8), ("…e/work".into(), 7));
    assert_eq!(scrolled("/home/me/work", 0, 8), ("/home/m…".into(), 0));
    assert_eq!(scrolled("/home/me/work", 13, 1), ("…".into(), 1));
    assert_eq!(scrolled("日本語", 9, 5), ("…語".into(), 3));
}
