//! The list of sessions at any size: what is seen, and how much of it is laid out.

use super::*;
use crate::base::origins::{Origin, Origins};
use crate::ui::fixtures::text;
use crate::ui::keys::{Action, Keymap};
use crate::ui::state::session_list::{Offers, Starts, Taste, tell_apart};
use crate::ui::state::trees::Trees;
use std::path::PathBuf;
use std::sync::Arc;

fn list(count: usize, command: &str, starts: &Starts) -> SessionList {
    let one = |n: usize| {
        PastSession::clean(n.to_string(), "Gemini", command.to_owned(), starts.clone(), "/shop".into())
            .about(Some(&format!("number {n} ✓ 2 other")), Some("first"), Some("last"))
            .used(
                7200,
                2,
                if n == 1 { End::Interrupted } else { End::Ended },
                vec![PathBuf::from(n.to_string())],
                n == 2,
            )
    };
    let mut list = SessionList::new("/shop".into(), Vec::new(), Past::Reading, Taste::default());
    list.told(Past::Read((0..count).map(one).collect()));
    list
}

fn drawn(list: &SessionList, width: u16, height: u16) -> (String, ListFrame) {
    let mut buf = Buffer::empty(Rect::new(0, 0, width, height));
    let (theme, mut frame) = (Theme::default(), ListFrame::default());
    let look = Look {
        theme: &theme,
        home: None,
        open: &|_, _| None,
        said: &|_| Vec::new(),
        keys: &Keymap::default(),
        escape: "{Esc} closes",
    };
    let area = buf.area;
    draw(list, look, area, &mut frame, &mut buf);
    (text(&buf), frame)
}

#[test]
fn what_is_drawn_is_what_is_seen_however_many_there_are() {
    let mut list = list(10_000, "gemini", &Starts::Unknown);
    let (shown, frame) = drawn(&list, 80, 24);
    assert!(frame.rows.len() < 24 && frame.rows[0].1 == 0, "{frame:?}");
    assert!(shown.contains("1 of 10,000") && shown.contains("earlier, in /shop"), "{shown}");
    assert!(shown.contains("“number 1 ✓ 2 other”") && shown.contains("interrupted"), "{shown}");
    assert!(shown.contains("directory gone") && shown.contains("2 turns") && shown.contains("2 h ago"), "{shown}");
    list.step(isize::MAX);
    let (shown, frame) = drawn(&list, 80, 24);
    assert_eq!(frame.rows.last().map(|(_, row)| *row), Some(9999));
    assert!(shown.contains("▸ “number 9999"), "{shown}");
}

#[test]
fn of_turns_that_only_its_agent_knows_no_number_is_shown() {
    let past = |id: &str, journals: &[&str]| {
        let starts = Starts::Configured("gemini".into());
        let past = PastSession::clean(id.into(), "Gemini", "gemini".into(), starts, "/shop".into());
        let journals = journals.iter().map(PathBuf::from).collect();
        past.about(Some(id), None, None).used(60, 0, End::Ended, journals, false)
    };
    let mut list = list(0, "gemini", &Starts::Unknown);
    list.told(Past::Read([past("loaded", &["j"]), past("listed", &[])].into()));
    let (shown, _) = drawn(&list, 80, 24);
    let row = |name: &str| shown.lines().find(|line| line.contains(name)).unwrap().to_owned();
    assert!(!shown.contains("0 turns") && !row("loaded").contains("its agent's"), "{shown}");
    assert!(row("listed").contains("its agent's"), "{shown}");
}

#[test]
fn the_chosen_row_is_seen_at_any_size() {
    let mut list = list(50, "gemini", &Starts::Unknown);
    for at in [0, 1, 25, 49] {
        list.step(isize::MIN);
        list.step(at);
        for (width, height) in [(80, 24), (120, 40), (40, 10), (20, 4), (10, 2), (3, 1), (0, 0)] {
            let (shown, frame) = drawn(&list, width, height);
            if width > 5 && height > 1 {
                assert!(frame.rows.iter().any(|(_, row)| *row == at as usize), "{at} at {width}×{height}\n{shown}");
                assert!(shown.contains('▸'), "{shown}");
            }
        }
    }
}

#[test]
fn a_command_is_shown_whole_or_not_started() {
    let command = format!("sh -c '{}end'", "do something; ".repeat(20));
    let mut list = list(1, &command, &Starts::Recorded(vec!["sh".into()]));
    let nobody = Offers { runs: &|_| false, deletes: &|_| false, forks: &|_| None };
    list.act(Action::Accept, &ListFrame::default(), nobody);
    let (shown, frame) = drawn(&list, 80, 24);
    assert!(frame.is_whole && shown.contains("end'") && shown.contains("y starts it"), "{shown}");
    let (shown, frame) = drawn(&list, 40, 6);
    assert!(!frame.is_whole && shown.contains("too long for this window"), "{shown}");
}

#[test]
fn nothing_earlier_says_so_and_where_there_is_more() {
    let mut list = SessionList::new("/mill".into(), Vec::new(), Past::Reading, Taste::default());
    assert!(drawn(&list, 80, 24).0.contains("reading…"));
    let all = self::list(2, "gemini", &Starts::Unknown);
    list.told(all.past().clone());
    assert!(drawn(&list, 80, 24).0.contains("none of this directory · Tab shows 2 of others"));
    list.told(Past::Failed("no\x1b[31m way".into()));
    assert!(drawn(&list, 80, 24).0.contains("cannot be read: no"));
}

fn wide(list: &mut SessionList, width: u16, height: u16) -> String {
    if let Some(past) = list.wants_end(drawn(list, width, height).1.has_preview) {
        let said = [
            Said::new(Who::Person, "mend it"),
            Said::new(Who::Agent, &format!("**bold** {}", "a long answer ".repeat(20))),
        ];
        list.previews.told(past.which(), Ok(said.into()));
    }
    drawn(list, width, height).0
}

#[test]
fn beside_the_end_of_what_was_said_a_row_names_the_agent_and_the_end_of_a_long_title() {
    let one = |id: &str, title: &str| {
        PastSession::clean(id.into(), "Gemini", "gemini".into(), Starts::Unknown, "/shop".into())
            .about(Some(title), None, None)
            .used(7200, 2, End::Open, vec![PathBuf::from(id)], false)
    };
    let title = "mend the cart of the shop so that it takes more than one discount";
    let mut list = SessionList::new("/shop".into(), Vec::new(), Past::Reading, Taste::default());
    list.told(Past::Read([one("a", title), one("b", &format!("{title} (fork)"))].into()));
    let (shown, _) = drawn(&list, 120, 40);
    let rows: Vec<&str> = shown.lines().filter(|line| line.contains("“mend")).collect();
    assert!(rows.iter().all(|row| row.contains("Gemini  2 h ago  open elsewhere")), "{shown}");
    assert!(!rows[0].contains("(fork)”") && rows[1].contains("(fork)”"), "{shown}");
}

#[test]
fn sessions_of_one_name_say_what_tells_them_apart_as_far_as_there_is_room() {
    let one = |id: &str, title: &str, last: &str| {
        PastSession::clean(id.into(), "Gemini", "gemini".into(), Starts::Unknown, "/shop".into())
            .about(Some(title), Some("first"), Some(last))
            .used(7200, 2, End::Ended, vec![PathBuf::from(id)], false)
    };
    let mut all = [one("a", "shop", "mend the cart"), one("b", "shop", "write tests"), one("c", "mill", "grind")];
    tell_apart(&mut all);
    let mut list = SessionList::new("/shop".into(), Vec::new(), Past::Reading, Taste::default());
    list.told(Past::Read(all.into()));
    let (shown, _) = drawn(&list, 80, 24);
    assert!(shown.contains("“shop” · “mend the cart”"), "{shown}");
    assert!(shown.contains("“shop” · “write tests”") && shown.contains("“mill”  "), "{shown}");
    assert!(drawn(&list, 31, 24).0.contains("“shop” · “mend the ca…”"), "{}", drawn(&list, 31, 24).0);
    assert!(!drawn(&list, 28, 24).0.contains("“mend"), "nothing in pieces");
}

#[test]
fn the_end_of_what_was_said_stands_beside_the_list_from_a_hundred_columns_on() {
    let mut list = list(3, "gemini", &Starts::Unknown);
    assert!(wide(&mut list, 100, 24).contains("how it ended"));
    let shown = wide(&mut list, 120, 30);
    assert!(shown.contains("│") && shown.contains("a long answer") && shown.contains("❯ mend it"), "{shown}");
    assert!(shown.contains("bold a long") && !shown.contains("**"), "as in the transcript: {shown}");
    assert!(!wide(&mut list, 99, 24).contains("how it ended"));
    list.step(1);
    assert!(drawn(&list, 120, 24).0.contains("reading…"));
}

#[test]
fn the_preview_of_one_that_is_open_elsewhere_says_nothing_of_an_end() {
    let one = PastSession::clean("a".into(), "Gemini", "gemini".into(), Starts::Unknown, "/shop".into())
        .about(Some("a"), None, None)
        .used(7200, 2, End::Open, vec![PathBuf::from("a")], false);
    let mut list = SessionList::new("/shop".into(), Vec::new(), Past::Reading, Taste::default());
    list.told(Past::Read([one].into()));
    let shown = wide(&mut list, 120, 24);
    assert!(shown.contains("what was said last") && !shown.contains("how it ended"), "{shown}");
}

#[test]
fn a_session_of_a_discarded_worktree_stands_with_its_branch() {
    let one = |id: &str, cwd: &str| {
        PastSession::clean(id.into(), "Gemini", "gemini".into(), Starts::Unknown, cwd.into())
            .on_branch(Some("acp-tui/w1"))
            .about(Some(id), None, None)
            .used(7200, 2, End::Ended, vec![PathBuf::from(id)], true)
    };
    let origin = Origin { worktrees: "/state/shop".into(), top: "/shop".into(), ..Origin::default() };
    let trees = Trees { all: Vec::new(), origins: Origins::new(vec![origin]) };
    let list = SessionList::new("/shop".into(), Vec::new(), Past::Reading, Taste::default());
    let mut list = list.with(Arc::new(trees));
    list.told(Past::Read([one("discarded", "/state/shop/w1"), one("plain", "/shop")].into()));
    let (shown, _) = drawn(&list, 160, 24);
    let row = |name: &str| shown.lines().find(|line| line.contains(name)).unwrap().to_owned();
    assert!(row("“discarded”").contains("acp-tui/w1"), "{shown}");
    assert!(!row("“plain”").contains("acp-tui/w1"), "{shown}");
}

#[test]
fn two_rows_for_each_have_who_and_where_and_what_was_said_last() {
    let mut list = list(50, "gemini", &Starts::Unknown);
    list.act(
        Action::Density,
        &ListFrame::default(),
        Offers { runs: &|_| false, deletes: &|_| false, forks: &|_| None },
    );
    let (shown, frame) = drawn(&list, 80, 24);
    assert!(shown.contains("Gemini · /shop · “last”"), "{shown}");
    assert_eq!((frame.rows[0].1, frame.rows[1].1), (frame.rows[0].1, frame.rows[0].1), "both rows are one");
    for at in [0, 25, 49] {
        list.step(isize::MIN);
        list.step(at);
        for (width, height) in [(80, 24), (120, 40), (40, 10), (20, 4)] {
            let (shown, _) = drawn(&list, width, height);
            assert!(shown.contains('▸'), "{at} at {width}×{height}\n{shown}");
        }
    }
}

#[test]
fn a_name_is_asked_for_with_the_cursor_behind_it() {
    let mut list = list(1, "gemini", &Starts::Unknown);
    list.act(
        Action::RenameSession,
        &ListFrame::default(),
        Offers { runs: &|_| false, deletes: &|_| false, forks: &|_| None },
    );
    list.type_text("!");
    let (shown, _) = drawn(&list, 80, 24);
    assert!(shown.contains("name (only here): number 0 ✓ 2 other!") && shown.contains("Enter names it"), "{shown}");
}

#[test]
fn a_session_that_its_agent_cannot_take_up_is_marked_and_enter_shows_it() {
    let one = |id: &str, goes_on| {
        PastSession::clean(id.into(), "Gemini", "gemini".into(), Starts::Unknown, "/shop".into())
            .about(Some(id), None, None)
            .used(60, 1, End::Ended, vec![PathBuf::from(id)], false)
            .going_on(goes_on)
    };
    let mut list = SessionList::new("/shop".into(), Vec::new(), Past::Reading, Taste::default());
    list.told(Past::Read([one("kept", false), one("alive", true)].into()));
    for width in [60, 80, 140] {
        let (shown, _) = drawn(&list, width, 24);
        let row = |name: &str| shown.lines().find(|row| row.contains(name)).unwrap_or_default().to_owned();
        assert!(row("“kept”").contains("read only") && !row("“alive”").contains("read only"), "{shown}");
    }
    assert!(drawn(&list, 80, 24).0.contains("Enter shows it"));
    list.step(1);
    assert!(drawn(&list, 80, 24).0.contains("Enter goes on"));
}
