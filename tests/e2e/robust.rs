//! Odd input of the terminal and of the person, and what the transcript shows of a turn.

use super::session::{BIN, CTRL_C, CTRL_END, CTRL_HOME, CTRL_O, ESC, Place, composer};
use std::time::{Duration, Instant, SystemTime};

const SIZE: (u16, u16) = (80, 24);

#[test]
fn reports_of_the_terminal_are_not_text() {
    let place = Place::new();
    let mut s = place.play("permissions", SIZE);
    s.ready();
    s.send("\x1b[I\x1b[O\x1b[?62;22c\x1b[5;7R\x1b[<35;3;3M\x1b[<0;3;3m\x1b[57441;1:3u");
    s.write("only this");
    assert_eq!(composer(&s.screen()), "only this", "{}", s.dump());
    s.quit_with_text(&place);
}

#[test]
fn a_large_paste_is_taken_and_drawn_soon() {
    let place = Place::new();
    let mut s = place.play("permissions", SIZE);
    s.ready();
    let line = "some pasted words and then more of them, 日本語 too\n";
    let text = line.repeat(200_000 / line.len());
    let from = Instant::now();
    s.send("\x1b[200~");
    s.send(&text);
    s.send("the last line\x1b[201~");
    s.see("[pasted ");
    s.send("\x0f");
    s.see("the last line");
    eprintln!("paste of {} bytes on screen after {:?}", text.len(), from.elapsed());
    let typed = Instant::now();
    s.write(" and a key");
    eprintln!("key in a composer of {} bytes after {:?}", text.len(), typed.elapsed());
    assert!(typed.elapsed() < Duration::from_secs(3));
    s.quit_with_text(&place);
}

#[test]
fn words_of_every_script_are_written_and_come_back() {
    let place = Place::new();
    let mut s = place.start(&["--", BIN, "demo-agent", "--fast", "--script", "demo"], SIZE);
    s.ready();
    // Not a directory of its own, so it changes nothing there; only the words count.
    std::fs::write(place.path("work/mine"), "mine").unwrap();
    s.prompt("grüße 日本語 🍎 e\u{301}");
    s.see("grüße 日本語 🍎");
    s.ready();
    s.quit(&place);
    assert_eq!(std::fs::read_to_string(place.path("work/mine")).unwrap(), "mine");
}

#[test]
fn a_printed_line_is_on_the_screen_at_once() {
    let place = Place::new();
    let script = r#"
[[turn]]
default = true
step = [
  { do = "terminal", tool = "run", command = "sh", args = ["-c", "sleep 0.3; date +at-%s-%N; exec sleep 600"] },
]
"#;
    let mut s = place.play(script, SIZE);
    s.ready();
    s.prompt("run");
    let found = |screen: &str| -> Option<Duration> {
        let (_, rest) = screen.split_once("at-1").or_else(|| screen.split_once("at-2"))?;
        let mut parts = rest.split_whitespace().next()?.split('-');
        let seconds: u64 = format!("1{}", parts.next()?).parse().ok()?;
        Some(Duration::new(seconds, parts.next()?.parse().ok()?))
    };
    let screen = s.wait_for("the time", |screen| found(screen).is_some());
    let seen = SystemTime::UNIX_EPOCH.elapsed().unwrap();
    let after = seen.saturating_sub(found(&screen).unwrap());
    eprintln!("a printed line was seen after {after:?}");
    assert!(after < Duration::from_secs(1), "{after:?}");
    s.send(ESC);
    s.see("stopped");
    s.quit(&place);
}

#[test]
fn a_turn_shows_its_thought_plan_tools_and_diff() {
    let place = Place::new();
    let script = r##"
[[turn]]
default = true
step = [
  { do = "thought", text = "Heading of the thought\n\nits hidden body" },
  { do = "plan", entries = [{ content = "First thing", status = "completed" }, { content = "Second thing", status = "in_progress" }, { content = "Third thing" }] },
  { do = "tool", name = "e", title = "Edit a.rs", kind = "edit", status = "completed", locations = ["{cwd}/a.rs"], content = [{ type = "diff", path = "{cwd}/a.rs", oldText = "old words\n", newText = "new words\n" }] },
  { do = "tool", name = "r", title = "Read b.rs", kind = "read", status = "failed", text = "no such file" },
  { do = "say", text = "# Over\n\n- one\n- **two**\n\n[a link](https://example.com/x)\n" },
  { do = "update", update = { sessionUpdate = "agent_message_chunk", content = { type = "image", mimeType = "image/png", data = "AAAA" } } },
  { do = "usage", used = 1500, size = 10000 },
]
"##;
    let mut s = place.play(script, (100, 40));
    s.ready();
    s.prompt("go");
    let screen = s.wait_for("the end", |screen| screen.contains("15 %") && screen.contains("nothing changed ─"));
    for words in [
        "Heading of the thought",
        "First thing",
        "Second thing",
        "Third thing",
        "a.rs",
        "old words",
        "new words",
        "b.rs",
        "no such file",
        "Over",
        "two",
        "https://example.com/x",
        "image/png",
    ] {
        assert!(screen.contains(words), "{words}\n{screen}");
    }
    assert!(!screen.contains("its hidden body") && !screen.contains("**two**"), "{screen}");
    // A click on the thought unfolds it, another folds it. What is said of the picture comes later, and moves the rows.
    s.see("not shown: ");
    let screen = s.screen();
    let y = screen.lines().position(|l| l.contains("Heading of the thought")).unwrap() + 1;
    s.send(&format!("\x1b[<0;5;{y}M\x1b[<0;5;{y}m"));
    s.see("its hidden body");
    s.send(&format!("\x1b[<0;5;{y}M\x1b[<0;5;{y}m"));
    s.see_no("its hidden body");
    s.send(CTRL_O);
    s.send(CTRL_HOME);
    s.send(CTRL_END);
    s.see("Over");
    s.quit(&place);
}

#[test]
fn a_quarter_of_a_million_words_do_not_hold_up_a_key() {
    let place = Place::new();
    let mut s = place.play("slow", SIZE);
    s.see("❯");
    s.prompt("flood");
    s.see("word word");
    let typed = Instant::now();
    s.write("typed in the flood");
    let after = typed.elapsed();
    eprintln!("18 keys in a flood of chunks after {after:?}");
    assert!(after < Duration::from_secs(5), "{after:?}");
    s.send(ESC);
    s.see("stopped");
    s.send(CTRL_C);
    s.see("cleared");
    s.quit(&place);
}
