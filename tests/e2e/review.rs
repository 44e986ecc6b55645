//! The review as a person uses it: keys in, the screen read, the disk looked at.

use super::session::{BIN, CTRL_C, ENTER, ESC, Place, Session, TAB, composer, find};
use std::path::Path;

pub const ALT_R: &str = "\x1br";
const ALT_X: &str = "\x1bx";
const CTRL_S: &str = "\x13";
pub const SIZE: (u16, u16) = (100, 30);

pub fn numbered(n: usize) -> String {
    (1..=n).map(|n| format!("line {n}\n")).collect::<Vec<_>>().concat()
}

/// Twenty lines with two of them changed, far enough from each other for two hunks.
pub fn twice() -> String {
    numbered(20).replace("line 3\n", "three\n").replace("line 17\n", "seventeen\n")
}

pub fn put(place: &Place, name: &str, text: &str) {
    std::fs::write(place.path("work").join(name), text).unwrap();
}

pub fn disk(place: &Place, name: &str) -> String {
    std::fs::read_to_string(place.path("work").join(name)).unwrap()
}

/// A step that writes through the client.
pub fn write(name: &str, text: &str) -> String {
    format!("{{ do = \"write\", tool = \"w\", path = {name:?}, text = {text:?} }},\n")
}

/// A step in which a shell runs this line.
pub fn shell(line: &str) -> String {
    format!("{{ do = \"terminal\", tool = \"t\", command = \"sh\", args = [\"-c\", {line:?}] }},\n")
}

/// One turn for the first prompt, and words that come back for all others.
pub fn turn(steps: &str) -> String {
    let said = "{ do = \"say\", text = \"the turn is over\" },";
    let other = "[[turn]]\ndefault = true\nstep = [{ do = \"say\", text = \"read it\" }]\n";
    format!("[[turn]]\nstep = [\n{steps}{said}\n]\n{other}")
}

/// A session whose first turn has written a file of twenty lines with two changes.
pub fn changed(place: &Place, size: (u16, u16)) -> Session {
    put(place, "a.txt", &numbered(20));
    let s = worked(place, &turn(&write("a.txt", &twice())), size);
    assert_eq!(disk(place, "a.txt"), twice());
    s
}

/// A session whose first turn is over and changed something.
pub fn worked(place: &Place, script: &str, size: (u16, u16)) -> Session {
    let mut s = place.play(script, size);
    s.ready();
    s.prompt("go");
    s.wait_for("the sums of the turn", |screen| {
        screen.lines().any(|l| l.starts_with('±') && l.contains("review") && l.contains("F3"))
    });
    s
}

/// Opens the review and waits until it shows a hunk that waits.
#[track_caller]
pub fn open(s: &mut Session) {
    s.send(ALT_R);
    s.wait_for("the review", |screen| screen.contains("hunk 1 of ") && !screen.contains("goes to the review"));
}

/// What the top row says of the hunks.
#[track_caller]
pub fn decided(s: &Session, done: usize, all: usize) {
    let hunks = if all == 1 { "hunk" } else { "hunks" };
    s.see(&match all - done {
        0 if all == 1 => "the hunk is decided".to_owned(),
        0 => format!("all {all} {hunks} decided"),
        open => format!("{open} of {all} {hunks} open"),
    });
}

#[test]
fn two_hunks_are_decided_undone_and_the_draft_is_still_there() {
    let place = Place::new();
    let mut s = changed(&place, SIZE);
    s.see("+2 −2 in 1 file · 2 to review ──");
    s.write("a draft");
    open(&mut s);
    decided(&s, 0, 2);
    s.send("n");
    s.wait_for("the second hunk", |screen| screen.contains("▸ @@ 14"));
    s.send("x");
    s.see("rejected 1 hunk in a.txt");
    decided(&s, 1, 2);
    assert_eq!(disk(&place, "a.txt"), twice().replace("seventeen\n", "line 17\n"));
    s.wait_for("the first hunk", |screen| screen.contains("▸ @@ 1 "));
    s.send("a");
    s.see("accepted 1 hunk in a.txt");
    decided(&s, 2, 2);
    s.send("u");
    s.see("undone: accepted 1 hunk in a.txt");
    decided(&s, 1, 2);
    s.send("u");
    s.see("undone: rejected 1 hunk in a.txt");
    decided(&s, 0, 2);
    assert_eq!(disk(&place, "a.txt"), twice());
    s.send("U");
    s.see("done again: rejected 1 hunk in a.txt");
    assert_eq!(disk(&place, "a.txt"), twice().replace("seventeen\n", "line 17\n"));
    s.send("q");
    let screen = s.wait_for("the conversation", |screen| screen.contains("the turn is over"));
    assert_eq!(composer(&screen), "a draft");
    s.see("+2 −2 in 1 file · 1 to review ──");
    s.quit_with_text(&place);
}

#[test]
fn what_a_command_changed_is_reviewed_after_and_rejected_as_a_whole_file() {
    let place = Place::new();
    put(&place, "a.txt", &numbered(20));
    let line = "sed -i -e 's/line 3$/three/' -e 's/line 17$/seventeen/' a.txt";
    let mut s = worked(&place, &turn(&shell(line)), (140, 30));
    assert_eq!(disk(&place, "a.txt"), twice());
    open(&mut s);
    s.see("by: sh -c 'sed -i");
    s.send("X");
    s.see("rejected 2 hunks in a.txt");
    decided(&s, 2, 2);
    assert_eq!(disk(&place, "a.txt"), numbered(20));
    s.send("q");
    s.quit(&place);
}

#[test]
fn a_rejection_with_a_reason_goes_to_the_agent_with_the_patch() {
    let place = Place::new();
    let mut s = changed(&place, (100, 40));
    open(&mut s);
    s.send("!");
    s.see("reject + why:");
    s.send("keep the digits");
    s.see("reject + why: keep the digits");
    assert_eq!(disk(&place, "a.txt"), twice(), "nothing is decided while the reason is written");
    s.send(ENTER);
    decided(&s, 1, 2);
    s.send("q");
    let screen = s.see("read it");
    for words in ["I rejected your change of a.txt at line 3, because: keep the digits", "-line 3", "+three"] {
        assert!(screen.contains(words), "{words}\n{screen}");
    }
    assert!(!screen.contains("+seventeen") && !screen.contains("-line 17"), "{screen}");
    assert_eq!(disk(&place, "a.txt"), twice().replace("three\n", "line 3\n"));
    s.quit(&place);
}

#[test]
fn letters_in_the_composer_and_pasted_text_decide_nothing() {
    let place = Place::new();
    let mut s = changed(&place, SIZE);
    open(&mut s);
    s.send("\x1b[200~aXxA\ryq\x1b[201~");
    s.see("nothing is written here");
    decided(&s, 0, 2);
    s.send(TAB);
    s.see("goes to the review");
    let letters = "axAXuUR!eEqwCy";
    s.write(letters);
    s.send("\x1b[200~XA\x1b[201~");
    s.wait_for("pasted", |screen| composer(screen) == format!("{letters}XA"));
    s.send(ALT_X);
    s.send("z");
    s.wait_for("all of it", |screen| composer(screen).ends_with("XAz"));
    decided(&s, 0, 2);
    assert_eq!(disk(&place, "a.txt"), twice());
    // The same letter is a key once the review has the focus.
    s.send(ALT_R);
    s.see_no("goes to the review");
    s.send("X");
    decided(&s, 2, 2);
    assert_eq!(disk(&place, "a.txt"), numbered(20));
    s.send("q");
    s.see("the turn is over");
    s.quit_with_text(&place);
}

#[test]
fn a_hunk_is_changed_in_place() {
    let place = Place::new();
    let mut s = changed(&place, SIZE);
    open(&mut s);
    s.send("e");
    s.see("the new lines of this hunk in a.txt");
    s.send("my own words, not ");
    s.see("my own words, not three");
    // Left once: nothing is written.
    s.send(ESC);
    s.see_no("the new lines");
    assert_eq!(disk(&place, "a.txt"), twice());
    s.send("e");
    s.see("the new lines of this hunk in a.txt");
    s.send("not ");
    s.see("┃ not three");
    s.send(CTRL_S);
    decided(&s, 1, 2);
    s.see("~ edited");
    assert_eq!(disk(&place, "a.txt"), twice().replace("three\n", "not three\n"));
    s.send("u");
    decided(&s, 0, 2);
    assert_eq!(disk(&place, "a.txt"), twice());
    s.send("q");
    s.quit(&place);
}

#[test]
fn a_turn_is_rewound_after_a_preview_and_brought_back() {
    let place = Place::new();
    put(&place, "a.txt", &numbered(20));
    put(&place, "gone.txt", "bye\n");
    let steps = format!("{}{}{}", write("a.txt", &twice()), write("new/b.txt", "new\n"), shell("rm gone.txt"));
    let mut s = worked(&place, &turn(&steps), SIZE);
    open(&mut s);
    s.send("R");
    let screen = s.see("take these back to before turn 1?");
    s.see("y yes");
    for (name, what) in [("a.txt", "✓ restored"), ("b.txt", "✓ removed"), ("gone.txt", "✓ restored")] {
        s.wait_for(name, |screen| screen.lines().any(|l| l.contains(name) && l.contains(what)));
    }
    assert_eq!(disk(&place, "a.txt"), twice(), "a preview changes nothing\n{screen}");
    s.send("n");
    s.see_no("take these back");
    assert!(place.path("work/new/b.txt").exists());
    s.send("R");
    s.see("y yes");
    s.send("y");
    s.see("rewound to before turn 1");
    decided(&s, 4, 4);
    assert_eq!(disk(&place, "a.txt"), numbered(20));
    assert_eq!(disk(&place, "gone.txt"), "bye\n");
    assert!(!place.path("work/new/b.txt").exists());
    s.send("u");
    s.see("undone");
    assert_eq!(disk(&place, "a.txt"), twice());
    assert_eq!(disk(&place, "new/b.txt"), "new\n");
    assert!(!place.path("work/gone.txt").exists());
    s.send("q");
    s.quit(&place);
}

#[test]
fn the_patch_is_one_that_git_takes_back() {
    let place = Place::new();
    put(&place, "a.txt", &numbered(20));
    let steps = format!("{}{}", write("a.txt", &twice()), write("b.txt", "no end of line"));
    let mut s = worked(&place, &turn(&steps), SIZE);
    open(&mut s);
    s.send("w");
    s.see("write a patch to: acp-tui.patch");
    s.send(ENTER);
    let patch = place.path("work/acp-tui.patch");
    s.see("acp-tui.patch");
    s.wait_for("written", |screen| screen.contains("acp-tui.patch") && !screen.contains("write a patch to"));
    let text = std::fs::read_to_string(&patch).unwrap();
    assert!(text.contains("+seventeen") && text.contains("No newline at end of file"), "{text}");
    git(&place.path("work"), &["apply", "-R", "acp-tui.patch"]);
    assert_eq!(disk(&place, "a.txt"), numbered(20));
    assert!(!place.path("work/b.txt").exists());
    s.send("q");
    s.quit(&place);
}

#[track_caller]
pub fn git(dir: &Path, args: &[&str]) {
    let mut command = std::process::Command::new("git");
    command.current_dir(dir).args(args).env("GIT_CEILING_DIRECTORIES", dir.parent().unwrap());
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    for who in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{who}_NAME"), "a").env(format!("GIT_{who}_EMAIL"), "a@b");
    }
    let done = command.output().expect("these tests need git");
    assert!(done.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&done.stderr));
}

#[test]
fn the_main_path_works_at_every_size() {
    for (size, is_small) in [((80, 24), true), ((40, 10), true), ((160, 40), false)] {
        let place = Place::new();
        let mut s = changed(&place, size);
        s.write("draft");
        s.send(ALT_R);
        // A list of one file would say nothing that the diff does not.
        let screen = s.wait_for("the first hunk", |screen| screen.contains("▸ @@ 1"));
        // Beside the conversation where there is room for both.
        assert_eq!(screen.contains("the turn is over"), !is_small, "{screen}");
        s.send("x");
        s.wait_for("decided", |screen| {
            ["1 of 2 hunks open", "1 open", "1/2 done", " 1/2"].iter().any(|w| screen.contains(w))
        });
        assert_eq!(disk(&place, "a.txt"), twice().replace("three\n", "line 3\n"), "{size:?}");
        s.wait_for("the second hunk", |screen| screen.contains("▸ @@ 14"));
        s.send("a");
        s.wait_for("all decided", |screen| {
            ["all 2 hunks decided", "all decided", "2/2 done", " 2/2"].iter().any(|w| screen.contains(w))
        });
        s.send("u");
        s.send("u");
        s.wait_for("undone", |screen| {
            ["2 of 2 hunks open", "2 open", "0/2 done", " 0/2"].iter().any(|w| screen.contains(w))
        });
        assert_eq!(disk(&place, "a.txt"), twice(), "{size:?}");
        s.send("q");
        s.wait_for("the draft", |screen| composer(screen) == "draft" && screen.contains("the turn is over"));
        s.quit_with_text(&place);
    }
}

/// An editor that notes its arguments and what it got, and puts other lines in its place.
fn editor(place: &Place, words: &str) -> String {
    let seen = place.path("seen");
    let text = format!(
        "#!/bin/sh\nfor last; do :; done\nprintf '%s\\n' \"$@\" > '{0}'\ncat \"$last\" > '{0}.text'\n{words}\n",
        seen.display()
    );
    format!("EDITOR={} --wait", place.program("my-editor", &text).display())
}

#[test]
fn the_editor_gets_the_file_and_the_line_and_the_hunk_comes_back() {
    let place = Place::new();
    put(&place, "a.txt", &numbered(20));
    let script = place.script(&turn(&write("a.txt", &twice())));
    // The file itself is only looked at; a hunk is rewritten.
    let set = editor(&place, "case $last in */a.txt) ;; *) printf 'by hand\\nand more\\n' > \"$last\";; esac");
    let args = [&set, BIN, "--", BIN, "demo-agent", "--fast", "--script", script.to_str().unwrap()];
    let mut s = place.run("env", &args, SIZE);
    s.ready();
    s.prompt("go");
    s.see("2 to review ──");
    open(&mut s);
    s.send("n");
    s.wait_for("the second hunk", |screen| screen.contains("▸ @@ 14"));
    let from = s.written();
    s.send("o");
    // The screen is given away and taken back.
    s.wait_for_bytes(from, b"\x1b[?1049l");
    s.wait_for_bytes(from + find(&s.bytes()[from..], b"\x1b[?1049l").unwrap(), b"\x1b[?1049h");
    s.see("▸ @@ 14");
    let arguments = std::fs::read_to_string(place.path("seen")).unwrap();
    let file = place.path("work/a.txt").canonicalize().unwrap();
    let wanted = format!("--wait\n+14\n{}\n", file.display());
    assert_eq!(arguments, wanted);
    assert_eq!(std::fs::read_to_string(place.path("seen.text")).unwrap(), twice());
    s.send("E");
    decided(&s, 1, 2);
    assert_eq!(std::fs::read_to_string(place.path("seen.text")).unwrap(), "seventeen\n");
    assert_eq!(disk(&place, "a.txt"), twice().replace("seventeen\n", "by hand\nand more\n"));
    let left: Vec<_> = std::fs::read_dir(place.path("tmp")).unwrap().flatten().map(|e| e.path()).collect();
    assert!(left.is_empty(), "{left:?}");
    s.send("q");
    s.see("the turn is over");
    s.write("still typing");
    s.send(CTRL_C);
    s.see("cleared");
    s.quit(&place);
}
