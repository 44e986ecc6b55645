use super::*;
use crate::ui::fixtures::text;
use crate::ui::keys::{Code, Key};
use crate::ui::state::session_list::tell_apart;

fn item(id: &str, name: &str, command: &str, found: bool, hint: &str) -> PickItem {
    PickItem { id: id.into(), name: name.into(), command: command.into(), found, hint: hint.into() }
}

fn picker() -> AgentPicker {
    AgentPicker::new(vec![
        item("codex", "Codex", "codex-acp", false, "npm install -g codex-acp"),
        item("gemini", "Gemini CLI", "gemini --acp", true, "found on PATH"),
        item("claude", "Claude Code", "claude-agent-acp", true, "found on PATH"),
        item("demo", "Demo", "built in, no account, in a throw-away copy", true, ""),
    ])
}

fn press(p: &mut AgentPicker, code: Code) -> Option<Picked> {
    p.input(Input::Key(Key::plain(code)))
}

fn drawn(p: &AgentPicker, width: u16, height: u16) -> String {
    let mut buf = Buffer::empty(Rect::new(0, 0, width, height));
    p.clone().draw(&Theme::default(), "~/src/shop", &mut buf);
    text(&buf)
}

#[test]
fn it_looks_like_a_list() {
    assert_eq!(
        drawn(&picker(), 80, 10),
        "
  Which agent?                                                       ~/src/shop

  ❯ Gemini CLI   gemini --acp                                     found on PATH
    Claude Code  claude-agent-acp                                 found on PATH
    Demo         built in, no account, in a throw-away copy
    Codex        codex-acp                                        not installed


  type to filter · Enter starts · Esc quits · F8 earlier sessions
"
    );
}

#[test]
fn the_highlight_starts_on_the_first_found_else_on_the_demo() {
    assert_eq!(press(&mut picker(), Code::Enter), Some(Picked::Agent("gemini".into())));
    let mut p = AgentPicker::new(vec![item("x", "X", "x", false, ""), item("demo", "Demo", "", true, "")]);
    assert_eq!(press(&mut p, Code::Enter), Some(Picked::Agent("demo".into())));
}

#[test]
fn what_is_not_installed_cannot_be_started() {
    let mut p = picker();
    press(&mut p, Code::End);
    assert_eq!(press(&mut p, Code::Enter), None);
    assert!(drawn(&p, 80, 10).contains("Codex is not installed. npm install -g codex-acp"));
    press(&mut p, Code::Up);
    assert_eq!(press(&mut p, Code::Enter), Some(Picked::Agent("demo".into())));
}

#[test]
fn how_to_install_is_said_whole() {
    let hint = "npm install -g @agentclientprotocol/claude-agent-acp, then start acp-tui again";
    let mut p = AgentPicker::new(vec![item("x", "Claude Code", "claude-agent-acp", false, hint)]);
    press(&mut p, Code::Enter);
    for (width, height) in [(80, 24), (40, 10)] {
        let shown = drawn(&p, width, height);
        let bare = |text: &str| text.replace(char::is_whitespace, "");
        assert!(bare(&shown).contains(&bare(hint)), "{shown}");
    }
}

#[test]
fn typing_filters_and_esc_quits() {
    let mut p = picker();
    for c in "clau".chars() {
        assert_eq!(p.input(Input::Key(Key::char(c))), None);
    }
    let shown = drawn(&p, 80, 10);
    assert!(shown.contains("Which agent? clau") && !shown.contains("Gemini"), "{shown}");
    assert_eq!(press(&mut p.clone(), Code::Enter), Some(Picked::Agent("claude".into())));
    p.input(Input::Paste("zzz\r".into()));
    assert!(drawn(&p, 80, 10).contains("nothing matches"));
    assert_eq!(press(&mut p, Code::Enter), None);
    assert!(drawn(&p, 80, 10).contains("Esc clears the filter"));
    assert_eq!(press(&mut p, Code::Esc), None, "the filter first");
    assert!(drawn(&p, 80, 10).contains("Gemini"));
    assert_eq!(press(&mut p, Code::Esc), Some(Picked::Quit));
}

#[test]
fn sessions_of_this_directory_stand_below_the_agents_and_go_on() {
    let one = |id: &str, cwd: &str, starts: Starts, end: End| {
        PastSession::clean(id.into(), "Gemini", "gemini --acp".into(), starts, cwd.into())
            .about(Some(id), None, None)
            .used(60, 1, end, vec![id.into()], false)
    };
    let configured = || Starts::Configured("gemini".into());
    let all = [
        one("new", "/here", configured(), End::Ended),
        one("other", "/there", configured(), End::Ended),
        one("broken", "/here", configured(), End::Interrupted),
        one("odd", "/here", Starts::Recorded(vec!["sh".into()]), End::Ended),
        one("taken", "/here", configured(), End::Open),
    ];
    let mut p = picker();
    p.told(&all, &Trees::default(), Path::new("/here"));
    let mut buf = Buffer::empty(Rect::new(0, 0, 80, 24));
    p.draw(&Theme::default(), "~/src/shop", &mut buf);
    let shown = text(&buf);
    assert!(shown.contains("Or go on here") && shown.contains("“broken”"), "{shown}");
    assert!(!shown.contains("other") && !shown.contains("taken"), "{shown}");
    for (row, want) in [(4, Some("broken")), (5, Some("new")), (6, None)] {
        press(&mut p, Code::Home);
        p.step(row);
        let picked = press(&mut p, Code::Enter);
        match want {
            Some(id) => assert!(matches!(&picked, Some(Picked::Session(one)) if one.id == id), "{picked:?}"),
            None => assert_eq!(picked, Some(Picked::Sessions), "its command has to be shown first"),
        }
    }
    press(&mut p, Code::End);
    p.input(Input::Paste("gem".into()));
    assert_eq!(press(&mut p, Code::Enter), Some(Picked::Agent("gemini".into())));
    assert!(!drawn(&p, 80, 10).contains("Or go on here"), "no room, or a filter");
}

/// The first start of a person who has two of very many agents.
#[test]
fn agents_that_are_not_installed_give_way_to_the_sessions_of_this_directory() {
    let item = |n: usize| PickItem {
        id: format!("a{n}"),
        name: format!("Agent {n}"),
        command: "agent --acp".into(),
        found: n < 2,
        hint: String::new(),
    };
    let mut p = AgentPicker::new((0..29).map(item).collect());
    let one = PastSession::clean(
        "s".into(),
        "Agent 0",
        "agent --acp".into(),
        Starts::Configured("a0".into()),
        "/here".into(),
    );
    let one = one.about(Some("mend the roof"), None, None).used(60, 1, End::Ended, vec!["s".into()], false);
    p.told(&[one], &Trees::default(), Path::new("/here"));
    let shown = drawn(&p, 80, 36);
    assert!(shown.contains("Or go on here") && shown.contains("“mend the roof”"), "{shown}");
    assert!(shown.contains("acp-tui ") && !shown.contains("Agent 2 "), "{shown}");
    let long = PastSession::clean("s".into(), "Agent 0", "agent --acp".into(), Starts::Unknown, "/here".into());
    let long = long.about(Some(&"mend the roof ".repeat(20)), None, None);
    p.told(&[long.used(60, 1, End::Interrupted, vec!["s".into()], false)], &Trees::default(), Path::new("/here"));
    assert!(drawn(&p, 80, 36).contains("Agent 0  1 min ago  interrupted"), "whose it is: {}", drawn(&p, 80, 36));
    press(&mut p, Code::Down);
    press(&mut p, Code::Down);
    assert!(drawn(&p, 80, 36).contains("❯ 27 more, not installed · Enter lists them"), "{}", drawn(&p, 80, 36));
    assert_eq!(press(&mut p, Code::Enter), None);
    assert!(drawn(&p, 80, 36).contains("❯ Agent 2 "), "{}", drawn(&p, 80, 36));
    let mut typed = p.clone();
    typed.is_unfolded = false;
    typed.input(Input::Paste("28".into()));
    assert!(drawn(&typed, 80, 36).contains("❯ Agent 28 "), "what is looked for is found, folded or not");
    let mut buf = Buffer::empty(Rect::new(0, 0, 80, 20));
    p.draw(&Theme::default(), "~", &mut buf);
    for row in 0..30 {
        press(&mut p, Code::Home);
        p.step(row);
        p.draw(&Theme::default(), "~", &mut buf);
        let shown = text(&buf);
        let want = if row < 29 { format!("❯ Agent {row} ") } else { "❯ “mend the roof".to_owned() };
        assert!(shown.contains(&want), "{row}: {shown}");
    }
}

#[test]
fn any_size() {
    for width in 0..90 {
        for height in 0..14 {
            drawn(&picker(), width, height);
        }
    }
}

#[test]
fn a_pasted_text_types_and_starts_nothing() {
    let mut p = picker();
    for key in [Key::char('d'), Key::char('e'), Key::char('m'), Key::plain(Code::Enter)] {
        assert_eq!(p.input(Input::Hasty(key)), None);
    }
    assert_eq!(press(&mut p, Code::Enter), Some(Picked::Agent("demo".into())), "it was typed");
}

#[test]
fn earlier_sessions_of_one_name_are_told_apart() {
    let one = |id: &str, last: &str| {
        PastSession::clean(id.into(), "Gemini", "gemini".into(), Starts::Unknown, "/shop".into())
            .about(Some("the shop"), None, Some(last))
            .used(60, 2, End::Ended, vec![std::path::PathBuf::from(id)], false)
    };
    let mut all = [one("a", "mend the cart"), one("b", "write a test")];
    tell_apart(&mut all);
    let mut p = picker();
    p.told(&all, &Trees::default(), Path::new("/shop"));
    let shown = drawn(&p, 80, 24);
    assert!(shown.contains("“the shop” · “mend the cart”") && shown.contains("“the shop” · “write a test”"), "{shown}");
}
