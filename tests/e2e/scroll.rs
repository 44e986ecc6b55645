//! The transcript under way: held views, the end, other sizes, live terminals.

use super::session::{CTRL_END, CTRL_HOME, CTRL_L, CTRL_O, ESC, F1, PAGE_DOWN, PAGE_UP, Place, Session, UP, composer};
use std::time::Duration;

const STREAM: &str = r#"
[[turn]]
default = true
step = [
  { do = "repeat", times = 80, step = [{ do = "say", text = "early line {n}\n\n" }] },
  { do = "repeat", times = 120, step = [{ do = "wait", ms = 15, firm = true }, { do = "say", text = "late line {n}\n\n" }] },
  { do = "say", text = "the very end" },
]
"#;

fn rows_of_text(screen: &str) -> Vec<String> {
    screen.lines().filter(|l| l.contains("y line") || l.contains("e line")).map(str::to_owned).collect()
}

#[test]
fn new_output_never_moves_a_scrolled_view() {
    let place = Place::new();
    let mut s = place.play(STREAM, (80, 24));
    s.ready();
    s.prompt("go");
    s.see("late line");
    s.send(PAGE_UP);
    let first = s.see("below · Ctrl+End");
    let once = rows_of_text(&first);
    s.send(PAGE_UP);
    s.wait_for("the second page", |screen| screen.contains("early line") && rows_of_text(screen) != once);
    s.quiet_rule();
    let held = rows_of_text(&s.screen());
    assert!(held.len() > 5, "{first}");
    let screen = s.wait_for("the end of the turn", |screen| !screen.contains("Esc stops"));
    assert_eq!(rows_of_text(&screen), held);
    s.send(CTRL_END);
    s.see_no("below · Ctrl+End");
    s.see("the very end");
    s.send(CTRL_HOME);
    s.wait_for("the beginning", |screen| screen.contains("❯ go") || screen.contains("early line 1\n"));
    // The wheel down and an end key in the kitty way.
    s.send("\x1b[<65;10;5M");
    s.send(CTRL_END);
    s.see("the very end");
    s.quit(&place);
}

/// A conversation in which something was said, while it is read.
fn reading(place: &Place, pager: &str) -> Session {
    let script = "[[turn]]\ndefault = true\nstep = [{ do = \"say\", text = \"said once\" }]\n";
    let mut s = place.play_with(script, (80, 24), &[("PAGER", pager)]);
    s.ready();
    s.prompt("go");
    s.see("said once");
    s.wait_for("the end of the turn", |screen| !screen.contains("Esc stops"));
    s.send("\x1b[21~");
    s.see("y copies");
    s
}

#[test]
fn what_a_pager_only_prints_stands_until_a_key() {
    let place = Place::new();
    let mut s = reading(&place, "cat");
    // Ctrl+C is a key as well, and one that is several bytes leaves none behind.
    for (before, key) in ["q", "\r", "\x03", "\x1b[15~"].into_iter().enumerate() {
        s.send("p");
        // What was there before stands above it.
        let is_there = |screen: &str| screen.matches("any key goes back to acp-tui").count() == before + 1;
        let screen = s.wait_for("the pager's end", is_there);
        assert!(screen.contains("said once") && !screen.contains("y copies"), "{screen}");
        assert!(!s.keys_are_signals(), "Ctrl+C may fall between two commands of the shell that waits");
        s.send(key);
        s.see("y copies");
    }
    s.send(ESC);
    s.quit(&place);
}

#[test]
fn a_pager_is_waited_for_that_prints_for_long_and_not_one_that_takes_keys() {
    let place = Place::new();
    // Both take longer than what is always waited for.
    let slow = "sh -c 'cat \"$1\"; sleep 1.2' slow";
    let keys = "sh -c 'kept=$(stty -g); stty -icanon -echo; echo \"a pager\"; dd bs=1 count=1 > /dev/null 2>&1; \
        sleep 1.2; stty \"$kept\"' keys";
    for (pager, is_waited_for) in [(slow, true), (keys, false)] {
        let mut s = reading(&place, pager);
        s.send("p");
        if is_waited_for {
            s.see("any key goes back to acp-tui");
        } else {
            s.see("a pager");
        }
        s.send("x");
        s.see("y copies");
        s.send(ESC);
        s.quit(&place);
    }
}

#[test]
fn a_storm_of_sizes_leaves_a_sane_screen() {
    let place = Place::new();
    let mut s = place.play("permissions", (80, 24));
    s.ready();
    s.prompt("huge");
    s.asks();
    s.write("kept words");
    let odd = [(10, 3), (1, 1), (200, 60), (20, 4), (3, 50), (300, 1), (40, 10), (2, 2), (80, 24), (19, 5)];
    for n in 0..50u16 {
        let (cols, rows) = odd[usize::from(n) % odd.len()];
        s.resize(cols + n % 3, rows + n % 2);
        if n % 7 == 0 {
            s.send("\x1b[<64;3;3M");
        }
    }
    for (cols, rows) in [(10, 3), (40, 10), (80, 24)] {
        s.resize(cols, rows);
        s.quiet(Duration::from_millis(250));
        let screen = s.screen();
        assert!(screen.contains('❯') || screen.contains("wait"), "{cols}×{rows}\n{}", s.dump());
        // Drawn anew it is the same, but for what counts seconds.
        s.send(CTRL_L);
        s.quiet(Duration::from_millis(250));
        let steady =
            |text: &str| -> String { text.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect() };
        assert_eq!(steady(&s.screen()), steady(&screen), "{cols}×{rows}");
    }
    let screen = s.screen();
    assert_eq!(composer(&screen), "kept words", "{screen}");
    assert!(screen.contains("Allow once") && screen.contains("waiting for you"), "{screen}");
    s.quit_with_text(&place);
}

#[test]
fn a_running_command_is_seen_before_it_ends_and_kept_after_release() {
    let place = Place::new();
    let script = r#"
[[turn]]
default = true
step = [
  { do = "terminal", tool = "run", command = "sh", args = ["-c", "printf '\\033[32ml%sve\\033[0m\\n' i; exec sleep 600"] },
]
"#;
    let mut s = place.play(script, (80, 24));
    s.ready();
    s.prompt("run");
    s.see("live");
    assert!(super::processes::marked(&place.mark()).iter().any(|p| p.contains("sleep 600")), "still running");
    s.send(ESC);
    s.see("stopped");
    s.see("ready · F1");
    if !s.screen().contains("live") {
        s.send(CTRL_O);
    }
    s.see("live");
    s.quit(&place);
}

#[test]
fn commands_that_end_at_once_are_all_told_to_have_ended() {
    let place = Place::new();
    let script = r#"
[[turn]]
default = true
step = [
  { do = "repeat", times = 150, step = [{ do = "terminal", tool = "run{n}", command = "true" }] },
  { do = "say", text = "all have ended" },
]
"#;
    let mut s = place.play(script, (80, 24));
    s.ready();
    s.prompt("go");
    s.see("all have ended");
    s.quit(&place);
}

#[test]
fn help_opens_and_closes_and_nothing_is_lost() {
    let place = Place::new();
    let mut s = place.play("permissions", (80, 24));
    s.ready();
    s.write("words");
    s.send(F1);
    let screen = s.see("quit when nothing is written");
    assert!(screen.contains("stop the turn") && !screen.contains("empty the filter"), "{screen}");
    // To its end and back, and no further: one key up moves at once.
    for _ in 0..60 {
        s.send(PAGE_DOWN);
    }
    let is_end = |line: &str| {
        let rows = line.trim().trim_start_matches("rows ").split(' ').next().and_then(|rows| rows.split_once('–'));
        rows.is_some_and(|(_, last)| line.contains(&format!("–{last} of {last} ")))
    };
    let end = s.wait_for("the end", |screen| screen.lines().any(is_end));
    s.send(UP);
    s.wait_for("one row up", |screen| *screen != end && !screen.lines().any(is_end));
    s.send(ESC);
    let screen = s.wait_for("closed", |screen| !screen.contains("Esc closes"));
    assert_eq!(composer(&screen), "words");
    s.quit_with_text(&place);
}

impl super::session::Session {
    /// Waits until a view is held: the rule says how much is below.
    #[track_caller]
    fn quiet_rule(&self) {
        self.see("below · Ctrl+End");
    }
}
