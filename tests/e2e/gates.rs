//! Gates: writes and commands that wait for the person, on the screen and on the disk.

use super::review::{decided, disk, numbered, open, put, shell, turn, twice, write};
use super::session::{BIN, ESC, Place, Session, TAB, composer};

const ALT_G: &str = "\x1bg";
const ALT_R: &str = "\x1br";
const SIZE: (u16, u16) = (100, 36);

/// The agent says what came of its request.
const ANSWER: &str = "{ do = \"say\", text = \"the client said [{answer}]\" },\n";

/// A session in which the agent's write is held.
fn held(place: &Place) -> Session {
    put(place, "a.txt", &numbered(20));
    place.config("gate = \"hold\"\n");
    let mut s = place.play(&turn(&format!("{}{ANSWER}", write("a.txt", &twice()))), SIZE);
    s.ready();
    s.see("writes: review first");
    s.prompt("go");
    s.see("not written yet");
    assert_eq!(disk(place, "a.txt"), numbered(20));
    s
}

#[test]
fn a_held_write_is_decided_hunk_by_hunk_and_the_agent_is_told_after_the_turn() {
    let place = Place::new();
    put(&place, "a.txt", &numbered(20));
    let script = format!(
        "[[turn]]\nstep = [\n{}{ANSWER}{{ do = \"permission\", tool = \"p\", call = {{ title = \"go on\" }} }},\n]\n\
         [[turn]]\ndefault = true\nstep = [{{ do = \"say\", text = \"read it\" }}]\n",
        write("a.txt", &twice())
    );
    let mut s = place.play(&script, SIZE);
    s.ready();
    s.send(ALT_G);
    s.see("gate ask: each write and command is a question");
    s.send(ALT_G);
    s.see("gate hold: writes wait for your review");
    s.prompt("go");
    s.see("not written yet");
    assert_eq!(disk(&place, "a.txt"), numbered(20));
    open(&mut s);
    s.see("held");
    decided(&s, 0, 2);
    s.send("x");
    s.see("rejected in a held write of a.txt");
    s.wait_for("the second hunk", |screen| screen.contains("▸ @@ 14") && screen.contains("✗ rejected hunk 1 of 2"));
    decided(&s, 1, 2);
    assert_eq!(disk(&place, "a.txt"), numbered(20), "one hunk still waits");
    s.send("a");
    // The write is answered, and the agent goes on to its question.
    s.see("wants to");
    s.see("go on");
    assert_eq!(disk(&place, "a.txt"), twice().replace("three\n", "line 3\n"));
    s.send("q");
    // The write was answered as done, and what differs waits where the person sees it.
    s.see("the client said []");
    let screen = s.see("queued: I reviewed what you wrote and changed it");
    assert!(!screen.contains("read it"), "{screen}");
    s.focus();
    s.send("1");
    let screen = s.see("read it");
    for words in ["I reviewed what you wrote and changed it", "-three", "+line 3"] {
        assert!(screen.contains(words), "{words}\n{screen}");
    }
    assert!(!screen.contains("queued") && !screen.contains("-seventeen"), "{screen}");
    s.quit(&place);
}

#[test]
fn two_decisions_in_one_go_are_about_two_hunks_of_a_held_write() {
    let place = Place::new();
    put(&place, "a.txt", &numbered(20));
    let mut s = place.play(&turn(&write("a.txt", &twice())), SIZE);
    s.ready();
    s.send(ALT_G);
    s.send(ALT_G);
    s.see("gate hold: writes wait for your review");
    s.prompt("go");
    s.see("not written yet");
    open(&mut s);
    s.see("held");
    decided(&s, 0, 2);
    s.send("x");
    s.send("a");
    s.see("✓ accepted");
    assert_eq!(disk(&place, "a.txt"), twice().replace("three\n", "line 3\n"));
    s.send("q");
    s.see("the turn is over");
    s.quit(&place);
}

#[test]
fn a_held_write_that_is_accepted_is_written_as_it_stands() {
    let place = Place::new();
    let mut s = held(&place);
    open(&mut s);
    s.send("A");
    s.see("accepted in a held write of a.txt");
    s.send("q");
    s.see("the client said []");
    assert_eq!(disk(&place, "a.txt"), twice());
    let screen = s.see("the turn is over");
    assert!(!screen.contains("I reviewed"), "{screen}");
    s.quit(&place);
}

#[test]
fn a_held_write_that_is_refused_is_an_error_to_the_agent() {
    let place = Place::new();
    let mut s = held(&place);
    open(&mut s);
    s.send("X");
    s.send("q");
    s.see("the client said [refused by the user:");
    assert_eq!(disk(&place, "a.txt"), numbered(20));
    s.quit(&place);
}

#[test]
fn the_dock_writes_a_held_file_as_a_whole() {
    let place = Place::new();
    let mut s = held(&place);
    s.focus();
    s.send("1");
    s.see("the client said []");
    assert_eq!(disk(&place, "a.txt"), twice());
    s.quit(&place);
}

#[test]
fn a_turn_that_is_stopped_writes_nothing_of_what_was_held_and_the_agent_gets_its_answer() {
    let place = Place::new();
    put(&place, "a.txt", &numbered(20));
    place.config("gate = \"hold\"\n");
    let script = place.script(&turn(&write("a.txt", &twice())));
    let record = place.path("record.jsonl");
    let args = ["--record", record.to_str().unwrap(), "--", BIN, "demo-agent", "--fast", "--script"];
    let args: Vec<&str> = args.into_iter().chain([script.to_str().unwrap()]).collect();
    let mut s = place.start(&args, SIZE);
    s.ready();
    s.prompt("go");
    s.see("not written yet");
    s.send(ESC);
    s.see("stopped");
    s.see_no("not written yet");
    assert_eq!(disk(&place, "a.txt"), numbered(20));
    s.quit(&place);
    assert_eq!(disk(&place, "a.txt"), numbered(20));
    let frames = std::fs::read_to_string(&record).unwrap();
    let lines: Vec<serde_json::Value> = frames.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let asked = lines.iter().find(|l| l["frame"]["method"] == "fs/write_text_file").unwrap();
    let answers: Vec<_> = lines
        .iter()
        .filter(|l| l["dir"] == "client->agent" && l["frame"]["id"] == asked["frame"]["id"])
        .filter(|l| l["frame"].get("method").is_none())
        .collect();
    assert_eq!(answers.len(), 1, "{answers:?}");
    assert_eq!(answers[0]["frame"]["error"]["code"], -32800, "{answers:?}");
}

#[test]
fn a_held_write_may_be_left_waiting_when_the_program_ends() {
    let place = Place::new();
    let mut s = held(&place);
    s.send("\x03");
    s.send("\x03");
    // Whatever it takes to quit in a turn, nothing is written.
    assert_eq!(s.end(), 0, "{}", s.dump());
    assert_eq!(disk(&place, "a.txt"), numbered(20));
}

#[test]
fn letters_in_the_composer_decide_nothing_of_a_held_write() {
    let place = Place::new();
    let mut s = held(&place);
    open(&mut s);
    s.send(TAB);
    s.see("goes to the review");
    s.write("axAX1y");
    assert_eq!(disk(&place, "a.txt"), numbered(20));
    assert!(s.screen().contains("2 of 2 hunks open"), "{}", s.dump());
    s.send(ALT_R);
    s.see_no("goes to the review");
    s.send("A");
    s.see("accepted in a held write of a.txt");
    s.send("q");
    s.see("the client said []");
    let screen = s.see("the turn is over");
    assert_eq!(composer(&screen), "axAX1y");
    s.quit_with_text(&place);
}

#[test]
fn ask_is_a_question_for_each_write_and_command() {
    let place = Place::new();
    put(&place, "a.txt", &numbered(20));
    place.config("gate = \"ask\"\n");
    let refused = shell("echo ran > ran.txt")
        .replace(" },\n", &format!(", rejected = [{}] }},\n", ANSWER.trim().trim_end_matches(',')));
    let steps = format!("{}{ANSWER}{refused}{}", write("a.txt", &twice()), write("b.txt", "b\n"));
    let mut s = place.play(&turn(&steps), SIZE);
    s.ready();
    s.prompt("go");
    s.see("2 n Refuse");
    let screen = s.see("- line 3");
    assert!(screen.contains("three") && screen.contains("1 y Write it"), "{screen}");
    s.focus();
    s.send("2");
    s.see("the client said [refused by the user:");
    assert_eq!(disk(&place, "a.txt"), numbered(20));
    s.see("1 y Run it");
    s.focus();
    s.send("2");
    s.see("refused by you: sh -c");
    s.wait_for("the next file", |screen| screen.contains("1 y Write it") && screen.contains("b.txt"));
    assert!(!place.path("work/ran.txt").exists());
    assert!(!place.path("work/b.txt").exists());
    s.focus();
    s.send("1");
    s.see("the turn is over");
    assert_eq!(disk(&place, "b.txt"), "b\n");
    assert!(!place.path("work/ran.txt").exists());
    s.see("+1 −0 in 1 file");
    s.quit(&place);
}
