//! Agents that do not start, speak something else, or die.

use super::session::{BIN, CTRL_G, ENTER, Place, TAB, composer, in_dock};

const SIZE: (u16, u16) = (100, 30);

const DIES: &str = r#"
[[turn]]
match = "die"
step = [
  { do = "tool", name = "work", title = "Work that is never done", kind = "execute", status = "in_progress" },
  { do = "stderr", text = "demo: out of cheese\n" },
  { do = "wait", ms = 600, firm = true },
  { do = "die", code = 7 },
]

[[turn]]
default = true
step = [{ do = "say", text = "alive with {prompt}" }]
"#;

#[test]
fn r_026_death_in_a_turn_is_told_and_one_key_in_the_dock_starts_anew() {
    let place = Place::new();
    let mut s = place.play(DIES, SIZE);
    s.ready();
    s.prompt("die now");
    s.see("never done");
    s.write("my next words");
    let screen = s.see("out of cheese");
    assert!(screen.contains("exit 7"), "{screen}");
    assert_eq!(composer(&screen), "my next words");
    // In the composer they are text.
    s.send("rq");
    let screen = s.wait_for("letters as text", |screen| composer(screen) == "my next wordsrq");
    assert!(screen.contains("start it again"), "{screen}");
    s.send("\x7f\x7f");
    s.focus();
    s.send("r");
    s.see("starting the agent again, with a new session");
    s.see_no("r start it again");
    s.wait_for("the words are kept", |screen| composer(screen) == "my next words");
    s.ready();
    s.send(ENTER);
    s.see("alive with my next words");
    s.quit(&place);
}

#[test]
fn q_in_the_dock_quits() {
    let place = Place::new();
    let mut s = place.play("death", SIZE);
    s.ready();
    s.prompt("kill");
    s.see("SIGKILL");
    s.focus();
    s.send("q");
    assert_eq!(s.end(), 0);
    s.assert_restored();
}

#[test]
fn a_prompt_for_a_dead_agent_waits_in_sight() {
    let place = Place::new();
    let mut s = place.play(DIES, SIZE);
    s.ready();
    s.prompt("die now");
    s.see("exit 7");
    s.prompt("after death");
    s.wait_for("it is kept", |screen| screen.contains("after death"));
    s.focus();
    s.send("r");
    // It was written for a session that does not go on: it waits for the person, and says so.
    s.wait_for("it is held", |screen| screen.contains("held: after death") && screen.contains("Enter sends it"));
    assert!(!s.see("it is not sent in another by itself").contains("alive with after death"));
    s.send(ENTER);
    s.see("alive with after death");
    s.quit(&place);
}

#[test]
fn stdout_closed_while_it_lives_on_is_a_death() {
    let place = Place::new();
    let mut s = place.play("death", SIZE);
    s.ready();
    s.prompt("close");
    s.see("start it again");
    s.quit(&place);
}

#[test]
fn a_question_that_dies_with_its_agent_gives_the_focus_back() {
    let place = Place::new();
    let script = r#"
[[turn]]
default = true
step = [
  { do = "permission", tool = "ask", wait = false, call = { title = "rm -rf build", kind = "execute" } },
  { do = "wait", ms = 1500, firm = true },
  { do = "die", code = 3 },
]
"#;
    let mut s = place.play(script, SIZE);
    s.ready();
    s.prompt("ask");
    s.see("rm -rf build");
    s.focus();
    s.see("exit 3");
    // What was meant for the question starts nothing and ends nothing.
    s.send("1rq");
    let screen = s.wait_for("text", |screen| composer(screen) == "1rq");
    assert!(!in_dock(&screen) && !screen.contains("Allow once"), "{screen}");
    s.quit_with_text(&place);
}

#[test]
fn a_killed_client_leaves_no_agent_that_honours_end_of_file() {
    let place = Place::new();
    let mut s = place.play("slow", SIZE);
    s.see("❯");
    s.prompt("hang on");
    s.see("thinking");
    s.signal(rustix::process::Signal::KILL);
    s.end();
    super::processes::wait_until(&place.mark(), <[String]>::is_empty);
    let mut files = std::fs::read_dir(place.path("state/acp-tui/sessions")).unwrap().flatten().map(|file| file.path());
    let journal = files.find(|file| file.extension().is_some_and(|end| end == "jsonl")).unwrap();
    let journal = std::fs::read_to_string(journal).unwrap();
    assert!(journal.contains("hang on"), "{journal}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_guard_that_took_the_place_of_another_one_gives_the_terminal_back() {
    let place = Place::new();
    let mut s = place.play("slow", SIZE);
    s.ready();
    s.prompt("hang on");
    s.see("thinking");
    let first = super::processes::guards(s.pid);
    let pid = rustix::process::Pid::from_raw(first[0]).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    // Once the first one is no zombie any more, the other one knows what it knew.
    super::processes::wait_until(&place.mark(), |_| !super::processes::guards(s.pid).contains(&first[0]));
    s.signal(rustix::process::Signal::KILL);
    s.end();
    super::processes::wait_until(&place.mark(), <[String]>::is_empty);
    s.assert_usual();
}

/// A client with this editor open, below a shell that goes on: with the end of its terminal's own session all would end.
#[cfg(target_os = "linux")]
fn edits_below_a_shell(place: &Place, editor: &std::path::Path) -> super::session::Session {
    let set = format!("EDITOR={}", editor.display());
    let shell = r#"set -m; "$@"; read -r line; echo "the shell goes on"; read -r line"#;
    let agent = [BIN, "--", BIN, "demo-agent", "--fast", "--script", "permissions"];
    let args: Vec<&str> = ["-c", shell, "sh", "env", &set].into_iter().chain(agent).collect();
    let mut s = place.run("/bin/sh", &args, SIZE);
    s.ready();
    s.send(CTRL_G);
    s.see("editing");
    s
}

/// Nothing but the shell is left, and its terminal is as it was.
#[cfg(target_os = "linux")]
fn the_shell_goes_on(place: &Place, mut s: super::session::Session) {
    super::processes::wait_until(&place.mark(), |all| all.len() == 1);
    s.see_first_screen();
    s.assert_usual();
    s.send(ENTER);
    s.see("the shell goes on");
    s.send(ENTER);
    assert_eq!(s.end(), 0);
}

/// It is in the client's group, which a shell with job control takes the terminal away from when the client is killed.
#[test]
#[cfg(target_os = "linux")]
fn an_editor_ends_with_a_killed_client_and_the_terminal_is_given_back_after_it() {
    for trap in ["", "trap '' HUP TERM"] {
        let place = Place::new();
        let editor = format!(
            "#!/bin/sh\n{trap}\nstty raw -echo\nprintf '\\033[?1049h\\033[?1000h%s' editing\nwhile :; do sleep 1; done\n"
        );
        let s = edits_below_a_shell(&place, &place.program("my-editor", &editor));
        let client = super::processes::children(s.pid);
        let client = rustix::process::Pid::from_raw(client[0]).unwrap();
        rustix::process::kill_process(client, rustix::process::Signal::KILL).unwrap();
        the_shell_goes_on(&place, s);
    }
}

/// What `$EDITOR` is may be a script: who it has started is not ended by its end.
#[test]
#[cfg(target_os = "linux")]
fn an_editor_that_a_script_has_started_ends_with_a_client_that_is_asked_to_end() {
    use rustix::process::Signal;
    for (trap, signal) in [("", Signal::TERM), ("", Signal::HUP), ("trap '' HUP TERM", Signal::TERM)] {
        let place = Place::new();
        let vi = format!(
            "#!/bin/sh\n{trap}\nstty raw -echo\nprintf '\\033[?1049h\\033[?1000h%s' editing\nwhile :; do sleep 1; done\n"
        );
        let vi = place.program("my-vi", &vi);
        let script = place.program("my-editor", &format!("#!/bin/sh\n'{}' \"$@\"\necho edited\n", vi.display()));
        let s = edits_below_a_shell(&place, &script);
        let client = super::processes::children(s.pid);
        rustix::process::kill_process(rustix::process::Pid::from_raw(client[0]).unwrap(), signal).unwrap();
        the_shell_goes_on(&place, s);
    }
}

#[test]
fn a_command_that_is_not_there_is_named() {
    let place = Place::new();
    let s = place.start(&["--", "no-such-agent-at-all", "--acp"], SIZE);
    let screen = s.see("no-such-agent-at-all was not found");
    assert!(screen.contains("start it again"), "{screen}");
    s.quit(&place);
}

#[test]
fn a_file_that_may_not_be_executed_is_named() {
    let place = Place::new();
    let file = place.path("work/agent.sh");
    std::fs::write(&file, "#!/bin/sh\n").unwrap();
    let s = place.start(&["--", file.to_str().unwrap()], SIZE);
    s.see("may not be executed");
    s.quit(&place);
}

#[test]
fn an_end_before_initialize_shows_status_and_stderr() {
    let place = Place::new();
    let s = place.play("[agent]\nexit_at_start = 3\nstderr = \"demo: no licence\\n\"\n", SIZE);
    let screen = s.wait_for("the reason", |screen| screen.contains("exit 3") && screen.contains("demo: no licence"));
    assert!(screen.contains("before it answered initialize"), "{screen}");
    s.quit(&place);
}

#[test]
fn another_protocol_version_is_said() {
    let place = Place::new();
    let s = place.play("[agent]\nprotocol_version = 2\n", SIZE);
    s.see("speaks protocol version 2, this client speaks version 1");
    s.quit(&place);
}

#[test]
fn an_error_from_initialize_and_from_session_new_is_shown() {
    for method in ["initialize", "session/new"] {
        let place = Place::new();
        let script = format!(
            "[agent]\n[agent.error.\"{method}\"]\ncode = -32603\nmessage = \"No room\"\ndata = {{ details = \"the disk is full\" }}\n"
        );
        let s = place.play(&script, SIZE);
        let screen = s.see(&format!("{method} failed: No room"));
        assert!(screen.contains("the disk is full"), "{screen}");
        s.quit(&place);
    }
}

#[test]
fn did_you_mean_the_option_that_speaks_the_protocol() {
    // One that ends after some drawing, one that echoes what it reads.
    let draws = "#!/bin/sh\nprintf '\\033[2J\\033[1mWelcome to Gemini\\033[0m\\n> '\nexit 1\n";
    for text in [draws, "#!/bin/sh\nexec cat\n"] {
        let place = Place::new();
        place.program("gemini", text);
        let s = place.start(&["--", "gemini"], SIZE);
        s.see("Did you mean `gemini --acp`?");
        let bytes = s.quit(&place);
        super::bytes::assert_harmless(&bytes);
    }
}

#[test]
fn a_program_that_draws_and_waits_is_explained_while_it_lives() {
    let place = Place::new();
    place.program("gemini", "#!/bin/sh\nprintf '\\033[2J\\033[1mWelcome to Gemini\\033[0m\\n> \\n'\nexec sleep 600\n");
    let s = place.start(&["--", "gemini"], SIZE);
    s.see("Did you mean `gemini --acp`?");
    assert!(s.screen().contains("starting"), "nothing is killed unasked\n{}", s.dump());
    let bytes = s.quit(&place);
    super::bytes::assert_harmless(&bytes);
}

#[test]
fn an_echo_without_a_known_option_is_said_too() {
    let place = Place::new();
    let s = place.play("[agent]\necho_input = true\n", SIZE);
    s.see("writes back what it is told");
    s.quit(&place);
}

#[test]
fn noise_on_stdout_is_not_fatal() {
    let place = Place::new();
    let mut s = place.play("corruption", SIZE);
    s.ready();
    s.prompt("go");
    s.see("five");
    drop(s);
    let script = "[agent]\nbanner = \"[INFO] hello\\n\\nnull\\n[1]\\n\"\n[[turn]]\ndefault = true\nstep = [{ do = \"say\", text = \"fine\" }]\n";
    let place = Place::new();
    let mut s = place.play(script, SIZE);
    s.ready();
    s.prompt("go");
    s.see("fine");
    s.quit(&place);
}

#[test]
fn the_dock_takes_no_focus_by_itself() {
    let place = Place::new();
    let mut s = place.start(&["--", "no-such-agent-at-all"], SIZE);
    let screen = s.see("was not found");
    assert!(!in_dock(&screen), "{screen}");
    s.send("q");
    s.wait_for("text", |screen| composer(screen) == "q");
    s.send(TAB);
    s.wait_for("focus", in_dock);
    assert!(s.screen().contains(BIN) || s.screen().contains("no-such-agent"), "{}", s.dump());
    s.send(TAB);
    s.see("Tab to answer");
    s.quit_with_text(&place);
}
