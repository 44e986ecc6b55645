//! The line of sessions: what is said of each at any width, and the line of a directory.

use super::*;
use crate::model::event::{AgentEvent, Event, Intent, Opening, SessionResult};
use crate::model::ids::{Address, Addressed, AgentKey};
use crate::model::reduce::reduce;
use crate::ui::fixtures::Scene;

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

#[test]
fn sessions_that_would_read_the_same_are_told_by_what_was_asked_in_them() {
    let mut s = Scene::ready(120, 24);
    let prompt = |text: &str| Event::User(Intent::Prompt { text: text.into(), links: Vec::new() });
    let mut tell = |at: Address, what| drop(reduce(&mut s.model, Addressed { at, what }, s.now));
    tell(SessionKey::FIRST.into(), prompt("mend the cart"));
    for (key, id) in [(1, "s2"), (2, "s3")] {
        let open = Intent::OpenSession { cwd: "/home/me/src/shop".into(), how: Opening::New };
        tell(AgentKey::FIRST.into(), Event::User(open));
        let opened =
            SessionResult { id: id.into(), modes: None, options: None, model: None, commands: None, earlier: 0 };
        tell(SessionKey(key).into(), Event::Agent(AgentEvent::SessionOpened(Ok(opened.into()))));
    }
    tell(SessionKey(1).into(), prompt("write a test"));
    s.ui.sync(&s.model, s.now);
    let shown = s.draw().to_owned();
    let line = shown.lines().find(|line| line.contains("▸1")).unwrap_or_else(|| panic!("{shown}"));
    assert!(line.contains("1 “mend the cart”") && line.contains("2 “write a test”"), "{line}");
    assert!(line.contains("3 gemini-cli shop"), "nothing was said in it: {line}");
}
