//! F8 and Alt+J: the list is there at once, and a key leads to the session that needs the person.

use crate::base::origins::{Origin, Origins};
use crate::model::event::{Event, Intent, Opening};
use crate::model::ids::{Address, Addressed, SessionKey};
use crate::model::reduce::reduce;
use crate::ui::fixtures::Scene;
use crate::ui::keys::{Code, Key};
use crate::ui::msg::Out;
use crate::ui::state::Focus;
use crate::ui::state::session_list::{End, Past, PastSession, Starts, tell_apart};
use crate::ui::state::trees::Trees;
use crate::ui::tty::{Click, Input};
use std::path::PathBuf;
use std::sync::Arc;

fn shown() -> PastSession {
    PastSession::clean("old".into(), "Gemini", "gemini --acp".into(), Starts::Unknown, "/home/me/src/shop".into())
        .about(Some("mend the cart"), Some("please"), None)
        .used(60, 2, End::Interrupted, vec![PathBuf::from("old.jsonl")], false)
}

#[test]
fn the_list_is_painted_before_anything_is_read() {
    let mut s = Scene::ready(80, 24);
    s.press(Code::F(8));
    assert_eq!(s.outs, [Out::ReadSessions]);
    let screen = s.draw();
    assert!(screen.contains("open here") && screen.contains("earlier, in ~/src/shop"), "{screen}");
    assert!(screen.contains("reading…") && screen.contains("▸ 1 "), "{screen}");
    s.press(Code::F(8));
    assert!(!s.draw().contains("open here"));
}

#[test]
fn no_hint_of_the_list_is_cut() {
    let mut s = Scene::ready(80, 24);
    s.press(Code::F(8));
    let screen = s.draw();
    assert!(screen.contains("^D rows") && screen.contains("^S by last use"), "{screen}");
    let mut s = Scene::ready(160, 40);
    s.press(Code::F(8));
    let screen = s.draw();
    assert!(screen.contains("Ctrl+D rows") && screen.contains("Ctrl+S by last use"), "{screen}");
}

#[test]
fn what_was_read_before_is_in_the_first_frame_and_read_anew() {
    let mut s = Scene::ready(80, 24);
    s.ui.past = Past::Read([shown()].into());
    s.press(Code::F(8));
    assert_eq!(s.outs, [Out::ReadSessions]);
    let screen = s.draw();
    assert!(screen.contains("“mend the cart”") && !screen.contains("reading…"), "{screen}");
}

#[test]
fn the_first_screen_tells_sessions_of_one_name_apart() {
    let one = |id: &str, last: &str| {
        PastSession::clean(id.into(), "Gemini", "gemini".into(), Starts::Unknown, "/home/me/src/shop".into()).about(
            Some("the shop"),
            None,
            Some(last),
        )
    };
    let mut all = [one("a", "mend the cart"), one("b", "write a test")];
    tell_apart(&mut all);
    let mut s = Scene::ready(120, 40);
    s.ui.past = Past::Read(all.into());
    let screen = s.draw();
    assert!(screen.contains("1  the shop · “mend the cart”"), "{screen}");
    assert!(screen.contains("2  the shop · “write a test”"), "{screen}");
}

#[test]
fn the_palette_goes_on_with_an_earlier_session_that_it_finds() {
    let mut s = Scene::ready(120, 40);
    s.ui.past = Past::Read([shown()].into());
    s.ctrl('p').typed("mend").draw();
    assert!(s.shown.contains("earlier: mend the cart") && s.shown.contains("interrupted"), "{}", s.shown);
    s.press(Code::Enter);
    assert_eq!(s.outs.last(), Some(&Out::GoOn(Box::new(shown()))));
}

#[test]
fn a_session_in_a_worktree_goes_on_from_the_first_screen_and_the_palette() {
    let scene = || {
        let mut s = Scene::ready(80, 24);
        let worktrees = "/state/worktrees/shop".into();
        let origins = Origins::new(vec![Origin { worktrees, top: "/home/me/src/shop".into(), ..Origin::default() }]);
        s.ui.trees = Arc::new(Trees { origins, ..Trees::default() });
        let cwd = PathBuf::from("/state/worktrees/shop/w1");
        let apart = PastSession::clean("apart".into(), "Gemini", "gemini --acp".into(), Starts::Unknown, cwd)
            .about(Some("mend it apart"), None, None)
            .used(60, 2, End::Ended, vec![PathBuf::from("apart.jsonl")], false);
        s.ui.past = Past::Read([shown(), apart].into());
        s.draw();
        s
    };
    let gone_on = |s: &Scene| match s.outs.last() {
        Some(Out::GoOn(past)) => Some(past.id.clone()),
        _ => None,
    };
    let mut s = scene();
    assert!(s.shown.contains("2  mend it apart"), "{}", s.shown);
    s.key(Key::alt(Code::Char('2')));
    assert_eq!(gone_on(&s).as_deref(), Some("apart"));
    let mut s = scene();
    s.ctrl('p').typed("apart").draw();
    s.press(Code::Enter);
    assert_eq!(gone_on(&s).as_deref(), Some("apart"));
}

#[test]
fn an_earlier_session_of_an_agent_that_runs_goes_on_with_enter() {
    let mut s = Scene::ready(80, 24);
    s.press(Code::F(8));
    s.ui.list.as_mut().unwrap().told(Past::Read([shown()].into()));
    s.draw();
    assert!(s.shown.contains("“mend the cart”") && s.shown.contains("interrupted"), "{}", s.shown);
    s.press(Code::Down).press(Code::Enter);
    assert_eq!(s.outs.last(), Some(&Out::GoOn(Box::new(shown()))));
}

#[test]
fn who_waits_stands_in_the_list_with_what_is_asked_and_enter_goes_there() {
    for size in [(80, 24), (120, 40), (40, 10), (20, 5)] {
        let mut s = Scene::asked(size.0, size.1);
        s.press(Code::F(8));
        let screen = s.draw();
        let waits = if size.0 >= 40 { "waiting for you" } else { "?" };
        assert!(screen.lines().any(|row| row.contains("▸ 1 ") && row.contains(waits)), "{size:?}\n{screen}");
        s.press(Code::Enter);
        assert_eq!(s.outs.last(), Some(&Out::Visit(SessionKey::FIRST)), "{size:?}");
        assert!(s.answers().is_empty() && s.ui.list.is_none());
    }
}

#[test]
fn where_agents_differ_a_row_of_the_open_ones_names_its_agent() {
    for (width, is_named) in [(120, true), (80, true), (40, false)] {
        let mut s = Scene::working(width, 40);
        s.ui.view.name = Some("mend it".into());
        let row = |s: &mut Scene| {
            s.ui.sync(&s.model, s.now);
            let shown = s.draw().to_owned();
            shown.lines().find(|row| row.contains(" 1 “mend it”")).unwrap_or_else(|| panic!("{shown}")).to_owned()
        };
        s.press(Code::F(8));
        assert!(!row(&mut s).contains("gemini"), "{}", s.shown);
        let (command, cwd) = ("/opt/bin/other-agent --acp".into(), "/home/me/src/shop".into());
        let add = Intent::AddAgent { command, env: Vec::new(), cwd, how: Opening::New, protocol: None };
        drop(reduce(&mut s.model, Addressed { at: Address::All, what: Event::User(add) }, s.now));
        assert_eq!(row(&mut s).contains("” gemini-cli"), is_named, "{}", s.shown);
    }
}

#[test]
fn keys_of_the_list_do_not_write_and_what_opens_something_else_closes_it() {
    let mut s = Scene::ready(80, 24);
    s.press(Code::F(8)).typed("rq1");
    assert!(s.ui.view.composer.is_empty());
    assert_eq!(s.ui.list.as_ref().unwrap().filter(), "rq1");
    s.key(Key::alt(Code::Char('r')));
    assert!(s.ui.list.is_none());
    s.press(Code::F(8)).press(Code::F(1));
    assert!(s.ui.list.is_some() && s.ui.help.is_some());
    s.press(Code::Esc).press(Code::Esc);
    assert!(s.ui.list.is_none() && s.ui.help.is_none());
    assert!(!s.intents().contains(&Intent::Cancel));
}

#[test]
fn a_key_goes_to_the_question_of_the_session_that_is_shown_when_no_other_needs_anything() {
    let mut s = Scene::ready(80, 24);
    s.key(Key::alt(Code::Char('j')));
    assert!(s.draw().contains("no session needs you"), "{}", s.shown);
    let mut s = Scene::asked(80, 24);
    s.key(Key::alt(Code::Char('j')));
    assert_eq!(s.outs, [Out::Visit(SessionKey::FIRST)]);
    assert!(s.ui.to_question());
    assert_eq!(s.ui.view.focus, Focus::Dock);
}

#[test]
fn an_empty_session_says_how_many_were_interrupted_here() {
    for size in [(80, 24), (40, 10), (120, 40)] {
        let mut s = Scene::ready(size.0, size.1);
        assert!(!s.draw().contains("interrupted here"));
        s.ui.interrupted.insert("/home/me/src/shop".into(), 2);
        assert!(s.draw().contains("2 were interrupted here"), "{}", s.shown);
    }
}

#[test]
fn the_first_screen_says_how_many_were_interrupted_in_other_directories() {
    for size in [(80, 24), (40, 10), (120, 40)] {
        let mut s = Scene::ready(size.0, size.1);
        s.ui.interrupted.insert("/home/me/src/mill".into(), 2);
        let part = if size.0 < 60 { "2 were interrupted in" } else { "2 were interrupted in other directories" };
        assert!(s.draw().contains(part), "{}", s.shown);
        s.ui.interrupted.insert("/home/me/src/shop".into(), 1);
        assert!(s.draw().contains("1 was interrupted here"), "{}", s.shown);
        assert_eq!(s.shown.contains(" · 2 in other directories"), size.0 >= 60, "{}", s.shown);
        // Those of this directory are listed then, with what they are.
        s.ui.past = Past::Read([shown()].into());
        assert!(s.draw().contains(part) || size.1 < 20, "{}", s.shown);
        assert!(!s.shown.contains("interrupted here") || size.1 < 20, "{}", s.shown);
        s.ui.interrupted.insert("/home/me/src/mill".into(), 1);
        assert!(s.draw().contains("1 was interrupted in another directory") || size.0 < 60, "{}", s.shown);
    }
}

#[test]
fn a_digit_behind_tab_goes_on_with_a_session_of_the_first_screen() {
    let first_screen = || {
        let mut s = Scene::ready(80, 24);
        let older = PastSession::clean("older".into(), "Gemini", "gemini --acp".into(), Starts::Unknown, shown().cwd)
            .about(Some("add a test"), None, None)
            .used(90, 2, End::Ended, vec![PathBuf::from("older.jsonl")], false);
        s.ui.past = Past::Read([shown(), older].into());
        assert!(s.draw().contains("1  mend the cart") && s.shown.contains("2  add a test"), "{}", s.shown);
        s
    };
    let gone_on = |s: &Scene| match s.outs.last() {
        Some(Out::GoOn(past)) => Some(past.id.clone()),
        _ => None,
    };
    let mut s = first_screen();
    s.press(Code::Tab);
    assert!(s.draw().contains("a digit goes on with that session"), "{}", s.shown);
    s.typed("2");
    assert_eq!(gone_on(&s).as_deref(), Some("older"));
    let mut s = first_screen();
    s.key(Key::alt(Code::Char('1')));
    assert_eq!(gone_on(&s).as_deref(), Some("old"), "Alt+digit from anywhere");
    for keys in ["2", "\t3", "\tx1", "x\t1"] {
        let mut s = first_screen();
        for c in keys.chars() {
            if c == '\t' {
                s.press(Code::Tab)
            } else {
                s.typed(&c.to_string())
            };
        }
        assert_eq!(gone_on(&s), None, "{keys:?}");
        assert_eq!(s.ui.view.composer.text(), keys.replace('\t', ""), "{keys:?} is text");
    }
    let mut s = first_screen();
    s.press(Code::Tab).after(5_000);
    s.typed("1");
    assert_eq!((gone_on(&s), s.ui.view.composer.text().to_string().as_str()), (None, "1"), "that was long ago");
    let mut s = first_screen();
    let y = s.shown.lines().position(|row| row.contains("2  add a test")).unwrap();
    s.input(Input::Mouse { what: Click::Left, x: 10, y: y as u16 });
    s.input(Input::Mouse { what: Click::Up, x: 10, y: y as u16 });
    assert_eq!(gone_on(&s).as_deref(), Some("older"), "a click does the same");
}
