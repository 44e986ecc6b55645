//! What outlives a kill of the program or of its agent: what is written, what was said, what was asked before.

use super::processes;
use super::session::{BIN, CTRL_C, CTRL_D, DOWN, ENTER, ESC, Place, Session, TAB, UP, composer};
use std::path::PathBuf;
use std::time::{Duration, Instant};

const SIZE: (u16, u16) = (100, 30);
const CTRL_R: &str = "\x12";
const F8: &str = "\x1b[19~";

/// A place with an agent that keeps its sessions, answers, and on one word works without an end.
fn keeper() -> (Place, Vec<String>) {
    let place = Place::new();
    let script = place.script(&format!(
        "[agent]\nkeeps = {:?}\ncapabilities = {{ loadSession = true }}\n\
         [[turn]]\nmatch = \"work\"\nstep = [{{ do = \"say\", text = \"at work\" }}, {{ do = \"wait\", ms = 600000, firm = true }}]\n\
         [[turn]]\nmatch = \"fall\"\nstep = [{{ do = \"say\", text = \"I fall\" }}, {{ do = \"late\", step = [{{ do = \"die\", code = 9 }}] }}]\n\
         [[turn]]\ndefault = true\nstep = [{{ do = \"say\", text = \"turn {{turn}}: {{prompt}}\" }}]\n",
        place.path("kept.json").display().to_string()
    ));
    let agent = ["--", BIN, "demo-agent", "--fast", "--script", script.to_str().unwrap()].map(str::to_owned).to_vec();
    (place, agent)
}

fn start(place: &Place, options: &[&str], agent: &[String]) -> Session {
    let args: Vec<&str> = options.iter().copied().chain(agent.iter().map(String::as_str)).collect();
    place.start(&args, SIZE)
}

/// A new session, ready for its first prompt.
fn ready(place: &Place, agent: &[String]) -> Session {
    let s = start(place, &[], agent);
    s.ready();
    s
}

/// A new session in which this was said and answered.
fn told(place: &Place, agent: &[String], words: &str) -> Session {
    let mut s = ready(place, agent);
    s.prompt(words);
    s.see(&format!("turn 1: {words}"));
    s
}

/// The list of sessions, with the one of this name in it.
fn list(s: &mut Session, name: &str) {
    s.send(F8);
    s.see(name);
}

/// The files in which these words are kept.
fn kept(place: &Place, words: &str) -> Vec<PathBuf> {
    let files = std::fs::read_dir(place.path("state/acp-tui/written")).into_iter().flatten().flatten();
    let files = files.map(|file| file.path()).filter(|path| path.to_string_lossy().contains("draft-"));
    files.filter(|path| std::fs::read_to_string(path).is_ok_and(|text| text.contains(words))).collect()
}

/// Waits until these words are kept at one place, at most the second that is promised. What moves is at two for a moment:
/// first it is written where it goes, then removed where it was.
#[track_caller]
fn is_kept(place: &Place, words: &str) {
    let end = Instant::now() + Duration::from_secs(1);
    loop {
        let kept = kept(place, words);
        if kept.len() == 1 {
            return;
        }
        assert!(Instant::now() < end, "not kept at one place within a second: {words}: {kept:?}");
        std::thread::park_timeout(Duration::from_millis(2));
    }
}

/// Waits until these words are no draft any more.
#[track_caller]
fn is_kept_nowhere(place: &Place, words: &str) {
    let end = Instant::now() + Duration::from_secs(5);
    while !kept(place, words).is_empty() {
        assert!(Instant::now() < end, "still kept: {words}");
        std::thread::park_timeout(Duration::from_millis(2));
    }
}

fn kill(s: &mut Session, place: &Place) {
    s.signal(rustix::process::Signal::KILL);
    s.end();
    processes::wait_until(&place.mark(), <[String]>::is_empty);
}

#[test]
fn a_session_that_was_killed_in_a_turn_goes_on_with_its_draft() {
    let (place, agent) = keeper();
    let mut s = told(&place, &agent, "hello there");
    s.prompt("work");
    s.see("at work");
    s.prompt("afterwards this");
    s.see("afterwards this");
    s.write("half a thou");
    is_kept(&place, "half a thou");
    kill(&mut s, &place);
    // The next start says so, and the list has it.
    let mut s = start(&place, &[], &agent);
    s.see("interrupted · ");
    s.ready();
    assert_eq!(composer(&s.screen()), "", "the draft is not of this session");
    list(&mut s, "hello there");
    s.send(DOWN);
    s.send(ENTER);
    let screen =
        s.wait_for("the draft and the queue", |s| s.contains("half a thou") && s.contains("held: afterwards this"));
    assert_eq!(composer(&screen), "half a thou");
    let screen = s.wait_for("all of it", |s| s.contains("turn 1: hello there") && s.contains("at work"));
    assert_eq!(screen.matches("turn 1: hello there").count(), 1, "{screen}");
    s.send(CTRL_C);
    s.see("cleared");
    s.send(CTRL_C);
    s.see("again quits");
    s.send(CTRL_C);
    s.end();
    assert_eq!(kept(&place, "half"), Vec::<PathBuf>::new(), "the person has cleared it");
    let screen = String::from_utf8_lossy(&s.bytes()).into_owned();
    let mut lines = screen.lines().skip_while(|line| !line.contains("to go on with “"));
    let (about, command) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    assert!(about.trim_end().ends_with("):") && command.contains("  acp-tui --resume "), "{}", s.dump());
}

#[test]
fn going_on_before_the_agent_is_up_leaves_no_empty_session_beside_it() {
    let (place, agent) = keeper();
    // Up as soon as there is a file.
    let (go, run) = (place.path("go"), agent[1..].join("' '"));
    let program = format!("#!/bin/sh\nuntil [ -e '{}' ]; do sleep 0.05; done\nexec '{run}'\n", go.display());
    place.program("late-agent", &program);
    let late = ["--", "late-agent"].map(str::to_owned);
    std::fs::write(&go, "").unwrap();
    let mut s = told(&place, &late, "hello there");
    is_kept_nowhere(&place, "hello there");
    kill(&mut s, &place);
    std::fs::remove_file(&go).unwrap();
    let mut s = start(&place, &[], &late);
    s.see("Go on with");
    s.see("starting late-agent");
    s.send(TAB);
    s.send("1");
    s.see("turn 1: hello there");
    std::fs::write(&go, "").unwrap();
    let screen = s.wait_for("the session", |screen| screen.contains("the session goes on"));
    let first = screen.lines().next().unwrap_or_default();
    assert!(!first.contains("▸2") && first.contains("hello there"), "one session is open: {screen}");
    s.prompt("and more");
    s.see("turn 2: and more");
}

#[test]
fn a_draft_of_a_session_in_which_nothing_was_said_belongs_to_the_directory() {
    let (place, agent) = keeper();
    let mut first = ready(&place, &agent);
    first.write("nothing said yet");
    is_kept(&place, "nothing said yet");
    // Another window does not take it away.
    let mut second = ready(&place, &agent);
    second.quiet(Duration::from_millis(300));
    assert_eq!(composer(&second.screen()), "");
    second.send(CTRL_D);
    second.end();
    kill(&mut first, &place);
    let third = start(&place, &[], &agent);
    third.wait_for("the draft", |screen| composer(screen) == "nothing said yet");
    assert_eq!(kept(&place, "nothing said yet").len(), 1);
    third.quit_with_text(&place);
    assert_eq!(kept(&place, "nothing said yet").len(), 0);
}

#[test]
fn prompts_of_all_sessions_can_be_found_again() {
    let (place, agent) = keeper();
    let mut s = ready(&place, &agent);
    s.prompt("the first of all");
    s.see("turn 1");
    s.prompt("another thing");
    s.see("turn 2");
    s.send("\x1b[200~two rows\n\x1b]0;x\x07here\x1b[201~");
    s.send(ENTER);
    s.see("turn 3");
    s.quit(&place);
    let mut s = ready(&place, &agent);
    s.write("draft");
    s.send(CTRL_R);
    s.wait_for("all prompts", |screen| {
        let is_joined = screen.lines().any(|l| l.contains("two rows") && l.contains("here"));
        screen.contains("the first of all") && screen.contains("another thing") && is_joined
    });
    s.send("frst");
    s.see_no("another thing");
    s.send(ESC);
    s.wait_for("as it was", |screen| composer(screen) == "draft" && !screen.contains("another thing"));
    s.send(CTRL_R);
    s.see("the first of all");
    s.send("frst");
    s.see_no("another thing");
    s.send(ENTER);
    s.wait_for("written", |screen| composer(screen) == "the first of all");
    // Up goes on to them too.
    s.send(CTRL_C);
    s.see("cleared");
    for _ in 0..3 {
        s.send(UP);
    }
    s.wait_for("an earlier one", |screen| composer(screen) == "another thing");
    s.quit_with_text(&place);
}

#[test]
fn an_agent_that_dies_between_turns_is_started_again_and_the_session_goes_on() {
    let (place, agent) = keeper();
    let mut s = told(&place, &agent, "hello");
    s.prompt("fall");
    s.see("I fall");
    s.write("and then");
    s.see("starting the agent again");
    let goes_on = |screen: &str| screen.contains("asking it for the session") && screen.contains("Enter sends");
    let screen = s.wait_for("it goes on", goes_on);
    assert_eq!(screen.matches("turn 1: hello").count(), 1, "{screen}");
    s.wait_for("the draft", |screen| composer(screen) == "and then");
    s.send(ENTER);
    s.see("and then");
    s.see("turn");
    // Once more, and the person says no.
    s.prompt("fall");
    s.see("started again in");
    s.send(ESC);
    s.see_no("started again in");
    s.send(TAB);
    s.see("r start it again");
    s.pass(Duration::from_millis(1500));
    assert!(s.screen().contains("r start it again"), "{}", s.dump());
}

#[test]
fn a_second_window_shows_the_session_and_says_where_it_is_open() {
    let (place, agent) = keeper();
    let mut first = told(&place, &agent, "hello");
    first.write("of the first window");
    is_kept(&place, "of the first window");
    let mut second = start(&place, &["--continue"], &agent);
    let screen = second.see(&format!("another acp-tui (process {} on /dev/pts/", first.pid));
    assert!(!screen.contains("of the first window"), "{screen}");
    second.see("turn 1: hello");
    second.send(CTRL_D);
    second.end();
    assert_eq!(kept(&place, "of the first window").len(), 1, "its draft stays");
    first.quit_with_text(&place);
}

#[test]
fn what_was_written_in_a_second_window_is_there_after_a_kill_of_both() {
    let (place, agent) = keeper();
    let mut first = told(&place, &agent, "hello");
    let mut second = start(&place, &["--continue"], &agent);
    second.see("it is open in");
    second.see("turn 1: hello");
    second.write("half a thought");
    is_kept(&place, "half a thought");
    second.signal(rustix::process::Signal::KILL);
    second.end();
    kill(&mut first, &place);
    let third = start(&place, &["--continue"], &agent);
    third.see("the session goes on");
    third.wait_for("the words", |screen| composer(screen) == "half a thought");
    third.quit_with_text(&place);
}

#[test]
fn of_two_windows_that_go_on_at_once_only_one_does() {
    let (place, agent) = keeper();
    let s = told(&place, &agent, "hello");
    s.quit(&place);
    let windows = [start(&place, &["--continue"], &agent), start(&place, &["--continue"], &agent)];
    let is_finished = |screen: &str| screen.contains("turn 1: hello") && !screen.contains("starting");
    let screens = windows.each_ref().map(|window| window.wait_for("the session", is_finished));
    let shown = screens.iter().filter(|screen| screen.contains("another acp-tui")).count();
    assert_eq!(shown, 1, "{}\n{}", screens[0], screens[1]);
}

#[test]
fn a_second_window_goes_on_with_the_session_once_the_first_has_ended() {
    let (place, agent) = keeper();
    let mut first = told(&place, &agent, "plums are blue");
    first.ready();
    let mut second = ready(&place, &agent);
    list(&mut second, "plums");
    second.send(DOWN);
    second.send(ENTER);
    second.see("it is open in");
    second.see("turn 1: plums are blue");
    // As long as the first one is there, nothing is taken from it.
    list(&mut second, "plums");
    second.send(ENTER);
    second.see("it is open in");
    first.write("of the first window");
    is_kept(&place, "of the first window");
    second.write("of the second window");
    is_kept(&place, "of the second window");
    first.signal(rustix::process::Signal::TERM);
    first.end();
    is_kept(&place, "of the first window");
    list(&mut second, "plums");
    second.send(ENTER);
    second.see("the session goes on");
    second.see_no("it is open in");
    second.wait_for("both drafts", |screen| {
        screen.contains("of the first window") && screen.contains("of the second window")
    });
    is_kept(&place, "of the first window\\n\\nof the second window");
    is_kept(&place, "of the second window");
    second.send(CTRL_C);
    second.see("cleared");
    second.prompt("and pears");
    second.see("turn 2: and pears");
    second.ready();
    second.send(CTRL_D);
    assert_eq!(second.end(), 0);
}
