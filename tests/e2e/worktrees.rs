//! One prompt for several agents, each in a git worktree, from the prompt to the files that are kept.

use super::session::{BIN, CTRL_G, ESC, Place};

const SIZE: (u16, u16) = (120, 40);
const F8: &str = "\x1b[19~";
const END: &str = "\x1b[F";
const CTRL_X: &str = "\x18";

fn git(place: &Place, args: &[&str]) {
    let mut command = std::process::Command::new("git");
    command.current_dir(place.path("work")).env("HOME", place.path("home"));
    let done = command.args(["-c", "user.name=x", "-c", "user.email=x@x"]).args(args).output().unwrap();
    assert!(done.status.success(), "{done:?}");
}

/// An agent that adds a line with its name to `f`.
fn agent(place: &Place, name: &str) -> String {
    let file = place.path(&format!("{name}.toml"));
    let step = format!("{{ do = \"write\", tool = \"w\", path = \"f\", text = \"one\\n{name}\\n\" }}");
    std::fs::write(&file, format!("[[turn]]\nstep = [{step}, {{ do = \"say\", text = \"{name} is done\" }}]\n"))
        .unwrap();
    let file = file.display();
    format!("[agents.{name}]\ncommand = \"{BIN}\"\nargs = [\"demo-agent\", \"--fast\", \"--script\", \"{file}\"]\n")
}

#[test]
fn one_prompt_goes_to_two_agents_and_the_better_one_is_kept() {
    let place = Place::new();
    git(&place, &["init", "-q", "-b", "main"]);
    std::fs::write(place.path("work/f"), "one\n").unwrap();
    git(&place, &["add", "-A"]);
    git(&place, &["commit", "-q", "-m", "first"]);
    place.config(&[agent(&place, "uno"), agent(&place, "due")].concat());
    let read = || std::fs::read_to_string(place.path("work/f")).unwrap();
    let mut s = place.start(&["--agent", "uno"], SIZE);
    s.ready();
    s.prompt("/fan-out uno,nope add a line");
    s.see("there is no agent `nope` here");
    s.wait_for("what was written", |screen| screen.contains("❯ /fan-out uno,nope add a line"));
    s.send("\x15");
    s.prompt("/fan-out uno,due add a line");
    s.see("due is done");
    s.send(F8);
    s.wait_for("both with their branches", |screen| {
        screen.contains("acp-tui/uno-1") && screen.contains("acp-tui/due-1") && !screen.contains("reading…")
    });
    assert_eq!(read(), "one\n");
    // The last of those that are open: nothing earlier is listed below.
    s.send(END);
    s.see("^G merges its worktree");
    s.send(CTRL_G);
    s.see("y merges it");
    s.send("y");
    s.see("merged 1 file of");
    assert!(["one\nuno\n", "one\ndue\n"].contains(&read().as_str()), "{}", read());
    // A worktree in which somebody works is not given up.
    s.send(CTRL_X);
    s.see("y discards it");
    s.send("y");
    s.see("a session is open in it");
    s.send(ESC);
    s.quit(&place);
}
