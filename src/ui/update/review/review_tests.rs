use crate::model::changes::{
    HunkState, ReviewAction, ReviewDoc, ReviewEvent, RewindOutcome, Rewound, Scope, Target, Verdict,
};
use crate::model::event::{AgentEvent, Event, HostEvent, Intent, Opening, SessionResult};
use crate::model::ids::{Address, Addressed, AgentKey, EntryId, SessionKey};
use crate::model::reduce::reduce;
use crate::model::tool::{ToolKind, ToolStatus};
use crate::text::diff::{DiffLine, Kind};
use crate::text::token::Token;
use crate::ui::fixtures::{Scene, doc_of, file_doc, review_doc};
use crate::ui::keys::{Action, Code, Key, Keymap, Layer, ReviewKey};
use crate::ui::msg::{EditorJob, Out, What};
use crate::ui::state::Focus;
use crate::ui::state::folds::Fold;
use crate::ui::state::review::index::Spot;
use crate::ui::state::review::{Pane, Presence};
use crate::ui::state::scroll::Scroll;
use crate::ui::state::trees::{Tree, Trees};
use crate::ui::tty::{Click, Input};
use std::sync::Arc;

/// The review is open at the first hunk that waits, drawn, and what opening led to is forgotten.
fn scene(width: u16, height: u16) -> Scene {
    let mut s = Scene::working(width, height);
    s.say("Done.");
    s.show_review(review_doc(1));
    s.draw();
    s.key(Key::alt(Code::Char('r'))).draw();
    s.draw();
    if width < 100 {
        s.press(Code::Enter).draw();
    }
    s.outs.clear();
    s
}

fn actions(s: &Scene) -> Vec<ReviewAction> {
    let of = |i| if let Intent::Review(action) = i { Some(action) } else { None };
    s.intents().into_iter().filter_map(of).collect()
}

fn decided(s: &Scene) -> Vec<(Target, Verdict)> {
    let of = |a| if let ReviewAction::Decide { target, verdict, .. } = a { Some((target, verdict)) } else { None };
    actions(s).into_iter().filter_map(of).collect()
}

fn place(s: &Scene) -> (String, Spot) {
    let review = s.ui.view.review.as_ref().unwrap();
    (review.file().unwrap().path.to_string_lossy().into_owned(), review.spot())
}

/// Goes to a hunk and draws it.
fn at(s: &mut Scene, path: &str, hunk: usize) {
    let review = s.ui.view.review.as_mut().unwrap();
    let file = review.doc().unwrap().files.iter().position(|f| f.path.to_str() == Some(path)).unwrap();
    review.layout.pane = Pane::Hunks;
    review.go(file, Spot { hunk, line: None });
    s.draw();
}

fn id(s: &Scene, path: &str, hunk: usize) -> Target {
    let doc = s.model.first().session().review().unwrap();
    let file = doc.files.iter().find(|f| f.path.to_str() == Some(path)).unwrap();
    Target::Hunk(path.into(), file.hunks[hunk].id)
}

fn copied(s: &Scene) -> Option<(What, &str)> {
    s.outs
        .iter()
        .rev()
        .find_map(|out| if let Out::Copy(what, text) = out { Some((*what, text.as_str())) } else { None })
}

/// Another document comes, and is drawn.
fn later(s: &mut Scene, doc: Arc<ReviewDoc>) {
    s.show_review(doc);
    let (width, height) = s.size;
    s.input(Input::Resize(width, height));
    s.draw();
}

/// The row of the screen with these words.
fn row(s: &Scene, words: &str) -> u16 {
    s.shown.lines().position(|row| row.contains(words)).unwrap_or_else(|| panic!("{words}\n{}", s.shown)) as u16
}

const ADDED: &str = "    for item in items { sum += item.price; }\n    // What a discount takes off.\n    \
                     let rate = discount(\"summer\", 10);";

#[test]
fn lines_that_are_selected_with_the_mouse_are_copied_as_they_are_in_the_file() {
    let mut s = scene(120, 40);
    at(&mut s, "src/cart.rs", 0);
    let (first, last) = (row(&s, "for item"), row(&s, "let rate"));
    for (from, to) in [((40, first), (119, last)), ((119, last), (40, first))] {
        s.outs.clear();
        s.drag(from, to);
        assert_eq!(copied(&s), Some((What::Characters(ADDED.chars().count()), ADDED)), "{}", s.shown);
    }
    // It is marked from where the text begins, Ctrl+C copies it once more, and Esc does nothing else.
    s.draw();
    let x = s.info.review.as_ref().unwrap().lines[0].x;
    let selected = s.theme.style(Token::Selected);
    let is_marked = |s: &Scene, x: u16| {
        let style = s.buf[(x, first)].style();
        style.bg == selected.bg.or(style.bg) && style.add_modifier.contains(selected.add_modifier)
    };
    assert!(is_marked(&s, x) && !is_marked(&s, x - 2), "{:?}", s.buf[(x, first)]);
    s.outs.clear();
    s.ctrl('c');
    assert_eq!(copied(&s).map(|(_, text)| text), Some(ADDED));
    s.press(Code::Esc).draw();
    assert!(!is_marked(&s, x) && s.ui.view.focus == Focus::Review && decided(&s).is_empty());
    // A part of a line; of removed and added lines all have their signs.
    s.outs.clear();
    s.drag((x + 4, first), (x + 7, first));
    assert_eq!(copied(&s).map(|(_, text)| text), Some("for "));
    let removed = row(&s, "line_44");
    s.drag((x, removed), (119, first));
    assert_eq!(
        copied(&s).map(|(_, text)| text),
        Some("-    let line_44 = 44;\n+    for item in items { sum += item.price; }")
    );
    s.outs.clear();
    s.click(x, first);
    assert_eq!(copied(&s), None, "a click selects nothing");
}

#[test]
fn of_sides_one_is_selected_and_a_selection_goes_on_beyond_the_edge_and_goes_with_its_file() {
    let mut s = scene(140, 40);
    at(&mut s, "src/cart.rs", 0);
    s.typed("s").draw();
    let (first, last) = (row(&s, "for item"), row(&s, "let rate"));
    let right = s.info.review.as_ref().unwrap().lines.iter().map(|line| line.x).max().unwrap();
    s.drag((right, first), (40, last));
    let (_, text) = copied(&s).unwrap();
    assert_eq!(text, ADDED.rsplit_once("let rate").unwrap().0.trim_end_matches(' ').to_owned() + "", "{}", s.shown);
    s.drag((right, first), (139, last));
    assert_eq!(copied(&s).map(|(_, text)| text), Some(ADDED));
    let left = s.info.review.as_ref().unwrap().lines.iter().map(|line| line.x).min().unwrap();
    s.drag((left, first), (139, last));
    let (_, text) = copied(&s).unwrap();
    assert_eq!(text, "    let line_43 = 43;\n    let line_44 = 44;");
    // Beyond the edge it scrolls.
    let mut s = scene(80, 14);
    at(&mut s, "src/cart.rs", 0);
    let hunks = s.info.review.as_ref().unwrap().hunks;
    let x = s.info.review.as_ref().unwrap().lines[0].x;
    s.input(Input::Mouse { what: Click::Left, x, y: row(&s, "line_41") });
    for _ in 0..30 {
        s.input(Input::Mouse { what: Click::Drag, x: 79, y: hunks.bottom() + 1 });
        s.draw();
    }
    s.input(Input::Mouse { what: Click::Up, x: 79, y: hunks.bottom() + 1 });
    let (_, text) = copied(&s).unwrap();
    assert!(text.starts_with(" let line_41") || text.starts_with("     let line_41"), "{text}");
    assert!(text.contains("\n+    let rate") && text.contains("\n     let line_87"), "{text}");
    // The same file in a later document keeps it, another one does not.
    later(&mut s, review_doc(2));
    assert!(s.ui.view.review.as_ref().unwrap().grip.is_selected());
    later(&mut s, without_the_last_hunk(3));
    assert!(!s.ui.view.review.as_ref().unwrap().grip.is_selected());
}

#[test]
fn a_key_copies_the_hunk_as_a_patch_and_the_chosen_lines_as_they_are() {
    let mut s = scene(120, 40);
    at(&mut s, "src/main.rs", 0);
    s.typed("y");
    let patch = "--- a/src/main.rs\n+++ b/src/main.rs\n@@ -1,3 +1,4 @@\n use std::env;\n \n\
                 -fn add(a: i32, b: i32) -> i32 { a - b }\n+/// Adds two numbers.\n\
                 +fn add(a: i32, b: i32) -> i32 { a + b }\n";
    assert_eq!(copied(&s), Some((What::Patch, patch)));
    s.press(Code::Down).typed("vy");
    assert_eq!(copied(&s), Some((What::Characters(14), "use std::env;\n")));
    s.press(Code::Esc);
    at(&mut s, "notes.md", 0);
    s.typed("y");
    let new = "--- /dev/null\n+++ b/notes.md\n@@ -0,0 +1,3 @@\n+# Notes\n+\n+The sum is right now.\n";
    assert!(copied(&s).is_some_and(|(_, text)| text.starts_with(new)), "{:?}", copied(&s));
    // In the list of files all hunks of the file.
    at(&mut s, "src/cart.rs", 0);
    s.press(Code::Left).draw();
    s.typed("y");
    let (what, text) = copied(&s).unwrap();
    assert!(what == What::Patch);
    assert!(text.starts_with("--- a/src/cart.rs\n+++ b/src/cart.rs\n@@ -40,8 +40,9 @@\n"), "{text}");
    assert_eq!(text.lines().filter(|line| line.starts_with("@@ ")).count(), 3);
    assert_eq!(decided(&s), []);
}

#[test]
fn what_is_not_shown_exactly_is_not_copied_as_a_patch() {
    let mut file = file_doc("a", "one\n", "two\n");
    file.note = Some("CRLF".into());
    let cases = [("CRLF", file), ("cannot be shown", file_doc("a", "one\n", "t\u{202e}wo\n"))];
    for (why, file) in cases {
        let mut s = scene(120, 40);
        later(&mut s, doc_of(2, vec![file]));
        at(&mut s, "a", 0);
        s.typed("y").draw();
        assert!(copied(&s).is_none() && s.shown.contains("not copied") && s.shown.contains(why), "{}", s.shown);
        assert!(s.last_row().contains("w writes a patch of it"), "{}", s.shown);
    }
    let mut s = scene(120, 40);
    at(&mut s, "assets/logo.png", 0);
    s.typed("y").draw();
    assert!(copied(&s).is_none() && s.shown.contains("it is no text"), "{}", s.shown);
}

#[test]
fn one_that_has_ended_says_why_and_compares_nothing() {
    let mut s = Scene::working(120, 40);
    for message in ["it has stopped", "no space left"] {
        s.event(Event::Host(HostEvent::Review(ReviewEvent::ReviewOff { message: message.into() })));
    }
    s.key(Key::alt(Code::Char('r')));
    assert!(s.draw().contains("no review of changes: no space left"), "{}", s.shown);
    assert!(!s.shown.contains("comparing files…"), "{}", s.shown);
}

#[test]
fn it_opens_with_the_focus_and_closes_without_a_trace() {
    let mut s = Scene::working(120, 40);
    s.typed("draft").draw();
    s.key(Key::alt(Code::Char('r')));
    assert_eq!(s.ui.view.focus, Focus::Review);
    assert_eq!(actions(&s), [ReviewAction::Show(Scope::Pending)]);
    assert!(s.draw().contains("comparing files…"), "{}", s.shown);
    assert!(s.shown.contains("❯ draft"), "{}", s.shown);
    s.show_review(review_doc(1));
    assert!(s.after(1).draw().contains("5 of 7 hunks open"), "{}", s.shown);
    s.press(Code::Tab).typed("ed");
    assert_eq!(s.ui.view.composer.text(), "drafted");
    s.press(Code::Tab);
    assert_eq!(s.ui.view.focus, Focus::Review);
    s.press(Code::Esc);
    assert!(s.ui.view.review.is_none());
    assert_eq!(s.ui.view.focus, Focus::Composer);
    assert_eq!(actions(&s).last(), Some(&ReviewAction::Close));
    assert!(!s.intents().contains(&Intent::Cancel), "Esc closes the review, not the turn");
}

#[test]
fn no_key_that_came_together_with_others_decides() {
    let keys = ('!'..='~').map(Key::char).chain(['a', 'x'].map(|c| Key::alt(Code::Char(c))));
    for key in keys {
        let mut s = scene(120, 40);
        s.input(Input::Hasty(key));
        assert!(s.outs.iter().all(|out| !matches!(out, Out::Edit(_))), "{key}");
        assert!(
            actions(&s).iter().all(|action| matches!(action, ReviewAction::Show(_) | ReviewAction::Close)),
            "{key}"
        );
    }
    let mut s = scene(120, 40);
    s.key(Key::alt(Code::Char('x'))).draw();
    s.input(Input::Hasty(Key::char('y')));
    assert_eq!(decided(&s), []);
    s.after(400).typed("y");
    assert_ne!(decided(&s), []);
}

#[test]
fn what_is_written_behind_a_key_that_was_too_soon_is_no_key_of_the_review() {
    let mut s = scene(120, 40);
    s.input(Input::Hasty(Key::char('!')));
    // The next read of a slow link begins with a key that came alone.
    for key in "keep it at".chars().map(Key::char) {
        s.after(100).key(key);
    }
    assert_eq!((s.ui.view.focus.clone(), s.ui.view.composer.text()), (Focus::Review, ""));
    assert_eq!(actions(&s), []);
    s.after(400).press(Code::Tab);
    assert_eq!(s.ui.view.focus, Focus::Composer, "a key by itself is one again");
}

#[test]
fn a_file_of_which_only_its_row_is_on_the_screen_is_shown_before_it_is_decided() {
    for (key, verdict) in [('a', Verdict::Accept), ('x', Verdict::Reject)] {
        let mut s = scene(40, 10);
        s.press(Code::Left).draw();
        let file = s.ui.view.review.as_ref().unwrap().file().unwrap().path.clone();
        s.press(Code::Char(key)).draw();
        assert_eq!(decided(&s), []);
        assert!(s.shown.contains(&format!("shown first · {key} again")), "{}", s.shown);
        s.press(Code::Char(key));
        let of_file = |target: &Target| matches!(target, Target::Hunk(path, _) if *path == file);
        assert!(
            matches!(&decided(&s)[..], [(target, given)] if of_file(target) && *given == verdict),
            "{:?}",
            decided(&s)
        );
    }
    let mut s = scene(40, 10);
    s.press(Code::Left).draw();
    let file = s.ui.view.review.as_ref().unwrap().file().unwrap().path.clone();
    s.typed("A").draw();
    assert_eq!(decided(&s), []);
    s.typed("A");
    assert_eq!(decided(&s), [(Target::File(file), Verdict::Accept)]);
    // Beside the list they are there.
    let mut s = scene(120, 40);
    s.press(Code::Left).draw();
    s.typed("a");
    assert_eq!(decided(&s).len(), 1);
}

#[test]
fn letters_are_text_while_the_person_writes_whatever_is_shown() {
    for (w, h) in [(160, 40), (120, 40), (80, 24), (40, 10)] {
        let mut s = scene(w, h);
        s.press(Code::Tab).draw();
        let all = "axAX+!uUvoeEnpNPjk<>fFsz/t123,.RCwq?y ";
        s.typed(all);
        for c in "ax".chars() {
            // No letter with Alt decides there either.
            s.key(Key::alt(Code::Char(c)));
        }
        s.input(Input::Paste("a x A X\rq".into()));
        assert_eq!(actions(&s), [], "{w}x{h}");
        assert!(s.ui.view.composer.text().starts_with(all), "{}", s.ui.view.composer.text());
        assert_eq!(s.ui.view.focus, Focus::Composer);
    }
}

#[test]
fn pasted_text_is_never_a_key() {
    let mut s = scene(120, 40);
    s.input(Input::Paste("a\rx\ry\rA\r".into()));
    assert_eq!(s.outs, []);
    assert!(s.ui.view.composer.is_empty());
    s.typed("!");
    s.input(Input::Paste("two\nlines\r".into()));
    assert_eq!(s.outs, [], "a pasted line end sends nothing");
    s.press(Code::Enter);
    assert_eq!(decided(&s).len(), 1);
}

#[test]
fn a_question_never_takes_the_focus_from_the_review() {
    let mut s = scene(120, 40);
    s.ask(1, "rm -rf /", &["Allow", "Reject"]);
    assert!(s.draw().contains("rm -rf /"), "{}", s.shown);
    assert!(s.shown.contains("Alt+P to answer"), "{}", s.shown);
    assert_eq!(s.ui.view.focus, Focus::Review);
    s.after(1000).typed("12");
    assert_eq!(s.answers(), []);
    s.key(Key::alt(Code::Char('p'))).after(700).draw();
    s.typed("2");
    assert_eq!(s.answers().len(), 1);
    // And the other way round: keys of the review do nothing in the question.
    let mut s = scene(120, 40);
    s.ask(1, "rm -rf /", &["Allow", "Reject"]);
    s.key(Key::alt(Code::Char('p'))).after(700).draw();
    s.typed("axAX!").key(Key::alt(Code::Char('a')));
    assert_eq!(actions(&s), []);
}

#[test]
fn hunk_file_and_all_are_decided_and_the_cursor_goes_on() {
    let mut s = scene(120, 40);
    at(&mut s, "src/cart.rs", 0);
    s.typed("a");
    assert_eq!(decided(&s), [(id(&s, "src/cart.rs", 0), Verdict::Accept)]);
    assert_eq!(place(&s), ("src/cart.rs".into(), Spot { hunk: 2, line: None }), "the second is decided already");
    s.draw();
    s.outs.clear();
    at(&mut s, "src/cart.rs", 0);
    s.typed("x");
    assert_eq!(decided(&s), [(id(&s, "src/cart.rs", 0), Verdict::Reject)]);
    for (key, verdict) in [("A", Verdict::Accept), ("X", Verdict::Reject)] {
        let mut s = scene(120, 40);
        at(&mut s, "src/cart.rs", 1);
        s.typed(key);
        assert_eq!(decided(&s), [(Target::File("src/cart.rs".into()), verdict)]);
        assert_eq!(place(&s).0, "src/main.rs");
    }
    let mut s = scene(120, 40);
    s.key(Key::alt(Code::Char('a')));
    assert_eq!(decided(&s), [(Target::All, Verdict::Accept)]);
}

#[test]
fn in_the_list_of_files_a_file_is_decided() {
    let mut s = scene(120, 40);
    s.press(Code::Left).draw();
    s.press(Code::Home).draw();
    s.typed("x");
    assert_eq!(decided(&s), [(Target::File("Cargo.toml".into()), Verdict::Reject)]);
    s.press(Code::Home).press(Code::Down).press(Code::Down).press(Code::Down).draw();
    s.typed("a");
    assert!(s.draw().contains("choose a file"), "a folder is no file: {}", s.shown);
    assert_eq!(decided(&s).len(), 1);
}

#[test]
fn rejecting_everything_is_asked_back() {
    let mut s = scene(120, 40);
    s.key(Key::alt(Code::Char('x')));
    assert_eq!(decided(&s), []);
    assert!(s.draw().contains("reject all 7 hunks?"), "{}", s.shown);
    s.typed("x a q");
    assert_eq!(decided(&s), [], "only y means yes");
    s.typed("n");
    assert!(!s.draw().contains("reject all 7"), "{}", s.shown);
    s.key(Key::alt(Code::Char('x'))).draw();
    s.typed("y");
    assert_eq!(decided(&s), [(Target::All, Verdict::Reject)]);
}

/// Another document, in which the file shown has one hunk less.
fn without_the_last_hunk(rev: u64) -> Arc<ReviewDoc> {
    let mut files: Vec<_> = review_doc(rev).files.iter().map(|f| (**f).clone()).collect();
    files.iter_mut().find(|f| f.path.to_str() == Some("src/cart.rs")).unwrap().hunks.pop();
    doc_of(rev, files)
}

#[test]
fn a_hunk_is_decided_right_after_another_of_the_same_file() {
    let mut s = scene(120, 40);
    at(&mut s, "src/cart.rs", 0);
    // The answer to an earlier decision has come and is not drawn yet: the hunks are where they were.
    s.show_review(review_doc(2));
    for key in ["A", "X"] {
        s.after(2000).typed(key);
        assert_eq!(s.outs, [], "{key}: it is about more than was looked at");
    }
    let target = id(&s, "src/cart.rs", 0);
    s.after(2000).typed("a");
    assert_eq!(decided(&s), [(target, Verdict::Accept)]);
}

#[test]
fn what_changed_since_the_frame_is_not_decided() {
    let mut s = scene(120, 40);
    at(&mut s, "src/cart.rs", 0);
    s.show_review(without_the_last_hunk(2));
    for key in ["a", "x", "A", "X", "+", "!", "e", "E"] {
        s.after(2000).typed(key);
        assert_eq!(s.outs, [], "{key}");
        assert!(s.ui.view.review.as_ref().unwrap().bar.is_none(), "{key}");
    }
    s.after(2000);
    for c in ['a', 'x'] {
        s.key(Key::alt(Code::Char(c)));
    }
    assert_eq!(s.outs, []);
    assert!(s.draw().contains("it changed just now; look again"), "{}", s.shown);
    s.typed("a");
    assert_eq!(decided(&s).len(), 1, "now it was seen");
    s.key(Key::alt(Code::Char('x'))).draw();
    s.show_review(review_doc(3));
    s.typed("y");
    assert_eq!(decided(&s).len(), 1, "yes was said to something else");
}

#[test]
fn letters_after_a_refused_note_decide_nothing() {
    for key in ["!", "+", "e"] {
        let mut s = scene(120, 40);
        at(&mut s, "src/cart.rs", 0);
        s.show_review(without_the_last_hunk(2));
        s.typed(key);
        assert!(s.ui.view.review.as_ref().unwrap().bar.is_none());
        for c in "an axe A X".chars() {
            s.after(700).draw();
            s.typed(&c.to_string());
        }
        s.input(Input::Key(Key::alt(Code::Char('a'))));
        assert_eq!(s.outs, [], "{key}");
        s.after(1100).draw();
        s.typed("a");
        assert_eq!(decided(&s).len(), 1, "after a pause");
    }
}

#[test]
fn what_is_not_on_the_screen_is_not_decided() {
    let mut s = scene(80, 24);
    at(&mut s, "src/cart.rs", 0);
    let at_hunk = s.info.review.as_ref().unwrap().hunks;
    for _ in 0..6 {
        s.input(Input::Mouse { what: Click::WheelDown, x: at_hunk.x + 5, y: at_hunk.y + 3 });
    }
    assert!(!s.draw().contains("fn total"), "{}", s.shown);
    s.typed("x");
    assert_eq!(s.outs, []);
    assert!(s.draw().contains("not on the screen"), "{}", s.shown);
    assert!(s.shown.contains("fn total"), "it is brought back: {}", s.shown);
    s.typed("x");
    assert_eq!(decided(&s).len(), 1);
    // Before anything was drawn of it.
    let mut s = Scene::working(120, 40);
    s.show_review(review_doc(1));
    s.key(Key::alt(Code::Char('r'))).typed("aA");
    assert_eq!(decided(&s), []);
}

#[test]
fn a_long_hunk_whose_end_is_not_on_the_screen_is_asked_about() {
    let mut s = Scene::working(120, 40);
    let mut doc = review_doc(1);
    let hunk = &mut Arc::make_mut(&mut Arc::make_mut(&mut doc).files[0]).hunks[0];
    let line = hunk.lines.iter().find(|line| line.kind == Kind::Add).unwrap().clone();
    hunk.lines = (1..=3000).map(|n| DiffLine { new: Some(n), ..line.clone() }).collect();
    (hunk.added, hunk.removed) = (3000, 0);
    let path = doc.files[0].path.to_string_lossy().into_owned();
    s.show_review(doc);
    s.draw();
    s.key(Key::alt(Code::Char('r'))).draw();
    at(&mut s, &path, 0);
    for (key, question) in [("a", "accept 3,000 lines, "), ("x", "reject 3,000 lines, ")] {
        s.typed(key);
        assert_eq!(decided(&s), []);
        assert!(s.draw().contains(question) && s.shown.contains(" of them on the screen?"), "{}", s.shown);
        s.typed("n");
        s.draw();
    }
    s.typed("a").draw();
    s.typed("y");
    assert_eq!(decided(&s), [(id(&s, &path, 0), Verdict::Accept)]);
    s.outs.clear();
    // At its end there is nothing to ask.
    at(&mut s, &path, 0);
    s.press(Code::End).draw();
    s.typed("a");
    assert_eq!(decided(&s).len(), 1, "{}", s.draw());
}

#[test]
fn a_hunk_that_is_not_shown_whole_is_asked_about_and_cannot_be_changed() {
    let mut s = Scene::working(120, 40);
    let mut doc = review_doc(1);
    let hunk = &mut Arc::make_mut(&mut Arc::make_mut(&mut doc).files[0]).hunks[0];
    (hunk.added, hunk.removed) = (30, 0);
    let shown = hunk.lines.len();
    let all = shown + hunk.left_out();
    assert!(all > shown);
    let path = doc.files[0].path.to_string_lossy().into_owned();
    s.show_review(doc);
    s.draw();
    s.key(Key::alt(Code::Char('r'))).draw();
    at(&mut s, &path, 0);
    s.typed("e");
    assert!(s.draw().contains("not all of its lines are shown"), "{}", s.shown);
    assert!(s.ui.view.review.as_ref().unwrap().bar.is_none());
    s.after(1000);
    s.typed("a");
    assert_eq!(decided(&s), []);
    assert!(s.draw().contains(&format!("accept {all} lines, {shown} of them on the screen?")), "{}", s.shown);
    s.typed("y");
    assert_eq!(decided(&s).len(), 1);
}

#[test]
fn lines_of_a_hunk_are_chosen_and_decided() {
    let mut s = scene(120, 40);
    at(&mut s, "src/cart.rs", 0);
    s.typed("v").press(Code::Down).press(Code::Down).draw();
    assert!(s.shown.contains("3 lines"), "{}", s.shown);
    s.typed("a");
    let Target::Hunk(path, hunk) = id(&s, "src/cart.rs", 0) else { panic!() };
    // The choice begins at what is changed first, behind three lines of context.
    assert_eq!(decided(&s), [(Target::Lines(path, hunk, 3..6), Verdict::Accept)]);
    s.draw();
    s.typed("v").press(Code::End);
    let review = s.ui.view.review.as_ref().unwrap();
    assert_eq!(review.spot().hunk, 0, "the choice stays in its hunk");
    s.press(Code::Esc);
    assert!(s.ui.view.review.as_ref().is_some_and(|r| r.cursor.selection.is_none()), "Esc ends the choice only");
}

#[test]
fn a_note_goes_out_with_the_decision_and_the_rejected_patch() {
    let mut s = scene(120, 40);
    at(&mut s, "src/cart.rs", 0);
    let target = id(&s, "src/cart.rs", 0);
    s.typed("!sums must not overflow ").press(Code::Enter);
    let [Intent::Review(ReviewAction::Decide { target: decided, verdict, .. }), Intent::Prompt { text, links }] =
        &s.intents()[..]
    else {
        panic!("{:?}", s.intents())
    };
    assert_eq!((decided, verdict), (&target, &Verdict::Reject));
    assert!(links.is_empty());
    assert!(
        text.starts_with("I rejected your change of src/cart.rs at line 43, because: sums must not overflow\n"),
        "{text}"
    );
    assert!(text.contains("```diff\n--- a/src/cart.rs\n+++ b/src/cart.rs\n@@ -40,8 +40,9 @@\n"), "{text}");
    assert!(
        text.contains("\n-    let line_43 = 43;\n") && text.contains("\n+    // What a discount takes off.\n"),
        "{text}"
    );

    let mut s = scene(120, 40);
    s.typed("+good").press(Code::Enter);
    let [Intent::Review(_), Intent::Prompt { text, .. }] = &s.intents()[..] else { panic!("{:?}", s.intents()) };
    assert!(text.starts_with("I accepted ") && text.ends_with(": good"), "{text}");
    assert!(!text.contains("```"), "{text}");

    let mut s = scene(120, 40);
    s.typed("!").press(Code::Enter);
    assert_eq!(s.intents().len(), 1, "nothing was said: {:?}", s.intents());
    s.draw();
    s.typed("!left").press(Code::Esc);
    assert_eq!(s.intents().len(), 1);
    assert!(s.ui.view.review.is_some(), "Esc leaves the note only");
}

#[test]
fn a_patch_with_fences_stays_in_its_block() {
    let mut s = scene(120, 40);
    let file = crate::ui::fixtures::file_doc("a.md", "old\n", "````\nrm -rf /\n````\n");
    s.show_review(doc_of(2, vec![file]));
    s.after(1).draw();
    s.typed("!no").press(Code::Enter);
    let Some(Intent::Prompt { text, .. }) = s.intents().pop() else { panic!() };
    assert!(text.contains("\n`````diff\n") && text.ends_with("\n`````\n"), "{text}");
}

#[test]
fn a_note_about_what_is_gone_comes_back_as_a_draft() {
    let mut s = scene(120, 40);
    at(&mut s, "src/cart.rs", 0);
    s.typed("!why so");
    s.show_review(doc_of(2, vec![crate::ui::fixtures::file_doc("b", "x\n", "y\n")]));
    s.press(Code::Enter);
    assert_eq!(s.intents(), []);
    assert_eq!(s.ui.view.composer.text().trim(), "why so");
}

#[test]
fn a_conflict_is_rejected_only_by_its_own_key_and_a_yes() {
    let mut s = scene(120, 40);
    at(&mut s, "src/cart.rs", 2);
    s.typed("x").typed("!");
    assert_eq!(s.outs, []);
    assert!(s.ui.view.review.as_ref().unwrap().bar.is_none());
    s.after(2000).typed("C");
    assert_eq!(s.outs, []);
    assert!(s.draw().contains("later edits of these lines included?"), "{}", s.shown);
    s.typed("y");
    let Target::Hunk(path, hunk) = id(&s, "src/cart.rs", 2) else { panic!() };
    assert_eq!(actions(&s), [ReviewAction::Force { scope: Scope::Pending, path, hunk }]);
    at(&mut s, "src/cart.rs", 0);
    s.typed("C");
    assert!(s.draw().contains("not in conflict"), "{}", s.shown);
}

#[test]
fn undo_and_redo_are_asked_for_when_there_is_something() {
    let mut s = scene(120, 40);
    s.typed("uU");
    assert_eq!(s.outs, []);
    let mut doc = (*review_doc(2)).clone();
    doc.undo = Some("accept src/cart.rs".into());
    doc.redo = Some("reject src/cart.rs".into());
    s.show_review(doc.into());
    s.typed("u").ctrl('r').typed("U");
    assert_eq!(actions(&s), [ReviewAction::Undo, ReviewAction::Redo, ReviewAction::Redo]);
}

/// The review with these hunks accepted, which an undo takes back.
fn accepted(rev: u64, hunks: &[(&str, usize)]) -> Arc<ReviewDoc> {
    let mut doc = (*review_doc(rev)).clone();
    doc.undo = Some("accept".into());
    for (path, hunk) in hunks {
        let file = doc.files.iter_mut().find(|file| file.path.to_str() == Some(path)).unwrap();
        Arc::make_mut(file).hunks[*hunk].state = HunkState::Accepted;
    }
    doc.into()
}

fn show(s: &mut Scene, doc: Arc<ReviewDoc>) {
    s.show_review(doc);
    s.after(1).draw();
}

#[test]
fn undo_brings_the_cursor_back_to_the_hunk_that_waits_again() {
    let mut s = scene(120, 40);
    let all = [("notes.md", 0), ("src/cart.rs", 0), ("src/main.rs", 0)];
    show(&mut s, accepted(2, &all));
    at(&mut s, "src/cart.rs", 2);
    // Two at once: each is gone to when it is taken back.
    s.typed("uu");
    show(&mut s, accepted(3, &all[..2]));
    assert_eq!(place(&s), ("src/main.rs".into(), Spot { hunk: 0, line: None }), "{}", s.shown);
    show(&mut s, accepted(4, &all[..1]));
    assert_eq!(place(&s), ("src/cart.rs".into(), Spot { hunk: 0, line: None }), "{}", s.shown);
    // What waits for another reason moves nothing, nor does an undo after which the person has gone elsewhere.
    at(&mut s, "src/cart.rs", 2);
    show(&mut s, accepted(5, &[]));
    assert_eq!(place(&s), ("src/cart.rs".into(), Spot { hunk: 2, line: None }));
    show(&mut s, accepted(6, &all));
    s.typed("uk");
    let before = place(&s);
    show(&mut s, accepted(7, &all[1..]));
    assert_eq!(place(&s), before);
}

#[test]
fn a_hunk_is_changed_in_place() {
    let mut s = scene(80, 24);
    at(&mut s, "src/main.rs", 0);
    s.typed("e").draw();
    assert!(s.shown.contains("fn add(a: i32, b: i32) -> i32 { a + b }"), "{}", s.shown);
    assert!(!s.shown.contains("use std::env"), "only what the hunk puts there: {}", s.shown);
    s.typed("// ax").press(Code::Enter).draw();
    s.ctrl('s');
    let Target::Hunk(path, hunk) = id(&s, "src/main.rs", 0) else { panic!() };
    let text = "// ax\n/// Adds two numbers.\nfn add(a: i32, b: i32) -> i32 { a + b }\n".into();
    assert_eq!(actions(&s), [ReviewAction::Edit { scope: Scope::Pending, path: path.clone(), hunk, text }]);
    s.outs.clear();
    s.draw();
    s.typed("e").typed("zzz").press(Code::Esc);
    assert_eq!(s.outs, []);
    assert!(s.ui.view.review.as_ref().unwrap().bar.is_none());
    s.draw();
    s.typed("E");
    let [Out::Edit(EditorJob::Hunk { path: of, hunk: which, text, .. })] = &s.outs[..] else { panic!("{:?}", s.outs) };
    assert_eq!((of, which, text.lines().count()), (&path, &hunk, 2));
}

#[test]
fn source_that_names_a_character_is_changed_in_place_and_what_stands_for_one_is_not() {
    for (new, is_refused) in [("let s = \"⟨U+202E⟩\";\n", false), ("let s = \"\u{202e}\";\n", true)] {
        let mut s = Scene::working(80, 24);
        s.say("Done.");
        s.show_review(doc_of(1, vec![file_doc("a.rs", "let s = 1;\n", new)]));
        s.draw();
        s.key(Key::alt(Code::Char('r'))).draw();
        s.press(Code::Enter).draw();
        s.typed("e").draw();
        assert_eq!(s.ui.view.review.as_ref().unwrap().bar.is_none(), is_refused, "{}", s.shown);
        assert_eq!(s.shown.contains("characters that cannot be shown"), is_refused, "{}", s.shown);
    }
}

#[test]
fn a_file_is_opened_at_the_line_of_the_cursor() {
    let mut s = scene(120, 40);
    at(&mut s, "src/cart.rs", 0);
    s.typed("o");
    for _ in 0..5 {
        s.press(Code::Down);
    }
    // On a removed line: the next one that is still there.
    s.typed("o");
    let open = |line| Out::Edit(EditorJob::Open { path: "src/cart.rs".into(), line });
    assert_eq!(s.outs, [open(40), open(43)]);
}

#[test]
fn a_line_that_is_there_is_asked_about_and_one_that_is_not_is_no_question() {
    let mut s = scene(120, 40);
    at(&mut s, "src/cart.rs", 0);
    let file = s.ui.view.review.as_ref().unwrap().file().unwrap().clone();
    let added = file.hunks[0].lines.iter().find(|line| line.kind == crate::text::diff::Kind::Add).unwrap();
    let (line, text) = (added.new.unwrap() as usize - 1, added.text.clone());
    s.typed("b");
    assert_eq!(actions(&s), [ReviewAction::Blame { path: "src/cart.rs".into(), line, text }]);
    for _ in 0..5 {
        s.press(Code::Down);
    }
    s.outs.clear();
    s.typed("b");
    assert!(s.draw().contains("choose a line that is in the file"), "{}", s.shown);
    assert_eq!(actions(&s), []);
}

#[test]
fn scopes_and_turns_are_asked_for() {
    let mut s = scene(120, 40);
    s.typed("3").typed("2");
    let show = |scope| ReviewAction::Show(scope);
    assert_eq!(actions(&s), [show(Scope::Session), show(Scope::Turn(3))]);
    s.typed(",").typed(",").typed(",").typed(".").typed("1");
    let after = [Scope::Turn(2), Scope::Turn(1), Scope::Turn(2), Scope::Pending].map(show);
    assert_eq!(actions(&s).split_off(2), after);
}

#[test]
fn a_decision_is_about_what_is_shown_not_what_was_asked_for() {
    let mut s = scene(120, 40);
    s.typed("3a");
    let Some(ReviewAction::Decide { scope, .. }) = actions(&s).pop() else { panic!() };
    assert_eq!(scope, Scope::Pending);
}

#[test]
fn a_rewind_shows_what_it_does_before_it_is_done() {
    let mut s = scene(120, 40);
    s.typed("R");
    assert_eq!(actions(&s), [ReviewAction::PreviewRewind { turn: 3 }]);
    s.draw();
    s.typed("y");
    assert_eq!(actions(&s).len(), 1, "nothing was shown yet");
    let rewound = |path: &str, outcome| Rewound { path: path.into(), outcome, remark: None };
    let rewound = vec![rewound("src/cart.rs", RewindOutcome::Restored), rewound("x.rs", RewindOutcome::Conflict)];
    s.event(Event::Host(HostEvent::Review(ReviewEvent::RewindPreviewed { turn: 3, rewound })));
    s.typed("y");
    assert_eq!(actions(&s).len(), 1, "nor drawn");
    let shown = s.draw();
    assert!(shown.contains("✓ restored") && shown.contains("left alone: these lines were changed since"), "{shown}");
    s.typed("y");
    assert_eq!(actions(&s).last(), Some(&ReviewAction::Rewind { turn: 3 }));
}

#[test]
fn a_rewind_that_would_do_nothing_asks_nothing() {
    let mut s = scene(120, 40);
    s.typed("R");
    s.event(Event::Host(HostEvent::Review(ReviewEvent::RewindPreviewed { turn: 3, rewound: Vec::new() })));
    assert!(s.draw().contains("nothing to take back"), "{}", s.shown);
    assert!(!s.shown.contains("take these back"), "{}", s.shown);
    s.typed("y");
    assert_eq!(actions(&s), [ReviewAction::PreviewRewind { turn: 3 }]);
    // The same question once more is answered anew.
    s.typed("R");
    assert!(s.draw().contains("take these back"), "{}", s.shown);
}

#[test]
fn a_patch_is_written_to_a_name() {
    let mut s = scene(120, 40);
    s.typed("w").draw();
    assert!(s.shown.contains("acp-tui.patch"), "{}", s.shown);
    s.ctrl('u').typed("out/mine.patch").press(Code::Enter);
    assert_eq!(actions(&s), [ReviewAction::Export { scope: Scope::Pending, path: "out/mine.patch".into() }]);
}

#[test]
fn the_search_goes_through_paths_and_lines_and_around() {
    let mut s = scene(120, 40);
    at(&mut s, "Cargo.toml", 0);
    s.typed("/DISCOUNT").press(Code::Enter);
    assert!(s.ui.toast.is_some(), "capital letters are meant");
    s.typed("/").ctrl('u').typed("discount").press(Code::Enter);
    let first = place(&s);
    assert_eq!((first.0.as_str(), first.1.hunk), ("src/cart.rs", 0));
    s.ctrl('n');
    let second = place(&s);
    assert!(second.1 > first.1, "{second:?}");
    s.ctrl('n');
    assert_eq!(place(&s), first, "around the end");
    s.ctrl('b');
    assert_eq!(place(&s), second);
    s.typed("/").ctrl('u').typed("logo").press(Code::Enter);
    assert_eq!(place(&s).0, "assets/logo.png");
}

#[test]
fn the_tool_call_is_shown_and_alt_r_comes_back_to_the_same_place() {
    for (width, beside) in [(80, false), (160, true)] {
        let mut s = Scene::working(width, 24);
        s.tool("t", ToolKind::Edit, "src/cart.rs", ToolStatus::Completed);
        let entry = s.model.first().session().entries().last().map(|e| e.id).unwrap();
        let mut doc = (*review_doc(1)).clone();
        let mut file = (*doc.files[3]).clone();
        file.hunks[2].entry = Some(entry);
        file.hunks[1].entry = Some(EntryId(u32::MAX.into()));
        doc.files[3] = file.into();
        s.show_review(doc.into());
        s.draw();
        s.key(Key::alt(Code::Char('r'))).draw();
        at(&mut s, "src/cart.rs", 1);
        s.typed("t");
        assert_eq!(s.ui.view.focus, Focus::Review, "the entry is not there");
        at(&mut s, "src/cart.rs", 2);
        let before = place(&s);
        s.typed("t");
        assert_eq!(s.ui.view.scroll, Scroll::at(entry));
        let presence = s.ui.view.review.as_ref().unwrap().layout.presence;
        assert_eq!(presence == Presence::Here, beside, "{width}");
        s.draw();
        if !beside {
            assert_eq!(s.ui.view.focus, Focus::Composer);
            assert!(s.shown.contains("edit"), "{}", s.shown);
            s.key(Key::alt(Code::Char('r'))).draw();
        }
        assert_eq!((s.ui.view.focus.clone(), place(&s)), (Focus::Review, before));
    }
}

#[test]
fn a_change_of_another_session_leads_to_its_call_there() {
    let mut s = scene(80, 24);
    let second = SessionKey(1);
    let mut tell = |at: Address, what| drop(reduce(&mut s.model, Addressed { at, what }, s.now));
    let open = Intent::OpenSession { cwd: "/home/me/src/shop".into(), how: Opening::New };
    tell(AgentKey::FIRST.into(), Event::User(open));
    let opened = SessionResult { id: "s2".into(), modes: None, options: None, model: None, commands: None, earlier: 0 };
    tell(second.into(), Event::Agent(AgentEvent::SessionOpened(Ok(opened.into()))));
    tell(second.into(), Event::User(Intent::Prompt { text: "there".into(), links: Vec::new() }));
    s.ui.sync(&s.model, s.now);
    let entry = s.model.session_of(second).unwrap().entries().id_at(0);
    let mut doc = (*review_doc(2)).clone();
    let mut file = (*doc.files[3]).clone();
    (file.hunks[1].entry, file.hunks[1].elsewhere) = (Some(entry), Some(SessionKey(7)));
    (file.hunks[2].entry, file.hunks[2].elsewhere) = (Some(entry), Some(second));
    doc.files[3] = file.into();
    s.show_review(doc.into());
    s.draw();
    at(&mut s, "src/cart.rs", 1);
    s.typed("t");
    assert_eq!(s.ui.shown(), SessionKey::FIRST, "there is no such session");
    at(&mut s, "src/cart.rs", 2);
    s.typed("t");
    assert_eq!((s.ui.shown(), s.ui.view.scroll), (second, Scroll::at(entry)));
    assert_eq!((s.ui.view.focus.clone(), s.ui.view.folds.of(entry)), (Focus::Composer, Some(Fold::Open)));
    s.ui.show(SessionKey::FIRST);
    assert_eq!(s.ui.view.focus, Focus::Review, "the review is as it was left");
}

#[test]
fn the_sessions_in_worktrees_are_gone_to_from_that_in_the_directory_they_came_from_too() {
    let mut s = scene(120, 40);
    let origin = s.model.first().cwd.clone();
    let tree = |name: &str| {
        let path = format!("/state/worktrees/{name}").into();
        Tree { name: name.into(), branch: name.into(), origin: origin.clone().into(), path }
    };
    s.ui.trees = Arc::new(Trees { all: vec![tree("uno"), tree("due")], ..Trees::default() });
    s.typed("}");
    assert!(s.draw().contains("no other session works in a worktree of the same files"), "{}", s.shown);
    for (key, cwd, id) in [(1, "/state/worktrees/uno", "s2"), (2, "/state/worktrees/due", "s3"), (3, "/else", "s4")] {
        let mut tell = |at: Address, what| drop(reduce(&mut s.model, Addressed { at, what }, s.now));
        let open = Intent::OpenSession { cwd: cwd.into(), how: Opening::New };
        tell(AgentKey::FIRST.into(), Event::User(open));
        let opened =
            SessionResult { id: id.into(), modes: None, options: None, model: None, commands: None, earlier: 0 };
        tell(SessionKey(key).into(), Event::Agent(AgentEvent::SessionOpened(Ok(opened.into()))));
    }
    s.ui.sync(&s.model, s.now);
    assert!(s.draw().contains("uno") && s.shown.contains("{ } others") && !s.shown.contains("M takes"), "{}", s.shown);
    s.typed("}");
    assert_eq!(s.ui.shown(), SessionKey(1));
    // Among them, that of the directory is not one.
    for next in [2, 1] {
        s.typed("}");
        assert_eq!(s.ui.shown(), SessionKey(next));
    }
}

#[test]
fn a_later_document_leaves_the_cursor_with_its_hunk() {
    let mut s = scene(120, 40);
    at(&mut s, "src/cart.rs", 2);
    s.press(Code::Down).press(Code::Down);
    let line = place(&s).1.line;
    assert_eq!(line, Some(1));
    let mut doc = (*review_doc(2)).clone();
    let mut file = (*doc.files[3]).clone();
    file.hunks.remove(0);
    doc.files[3] = file.into();
    doc.files.remove(0);
    s.show_review(doc.clone().into());
    s.after(1);
    assert_eq!(place(&s), ("src/cart.rs".into(), Spot { hunk: 1, line }));
    // The file is gone: the one after it.
    doc.files.retain(|f| f.path.to_str() != Some("src/cart.rs"));
    s.show_review(doc.into());
    s.after(1);
    assert_eq!(place(&s).0, "src/main.rs");
    s.show_review(doc_of(4, Vec::new()));
    assert!(s.after(1).draw().contains("everything is decided"), "{}", s.shown);
    s.typed("axAXnpNPveEoutFfs/").press(Code::Esc);
    s.close_review();
    s.after(1).draw();
    s.typed("axAXnpNPveEoutFf").draw();
    assert_eq!(decided(&s), []);
}

#[test]
fn hunks_and_files_follow_each_other() {
    let mut s = scene(120, 40);
    at(&mut s, "Cargo.toml", 0);
    let mut seen = vec![place(&s)];
    for _ in 0..20 {
        s.typed("n");
        seen.push(place(&s));
    }
    seen.dedup();
    assert_eq!(seen.len(), 7, "{seen:?}");
    let mut back = vec![place(&s)];
    for _ in 0..20 {
        s.typed("p");
        back.push(place(&s));
    }
    back.dedup();
    back.reverse();
    assert_eq!(seen, back);
    s.typed("N");
    assert_eq!(place(&s).0, "assets/logo.png");
    s.typed("]").typed("P").typed("[");
    assert_eq!(place(&s).0, "Cargo.toml");
}

#[test]
fn folders_fold_and_hunks_fold() {
    let mut s = scene(80, 24);
    s.press(Code::Left).press(Code::End).draw();
    assert!(s.shown.contains("main.rs"), "{}", s.shown);
    s.press(Code::Left).press(Code::Left).draw();
    assert!(!s.shown.contains("cart.rs") && s.shown.contains("2 files"), "{}", s.shown);
    s.typed(" ").draw();
    assert!(s.shown.contains("cart.rs"), "{}", s.shown);
    at(&mut s, "src/cart.rs", 0);
    assert!(s.shown.contains("let rate"), "{}", s.shown);
    s.typed("f").draw();
    assert!(!s.shown.contains("let rate") && s.shown.contains("11 lines folded"), "{}", s.shown);
    s.typed("F").draw();
    assert_eq!(s.shown.matches("lines folded").count(), 3, "{}", s.shown);
    s.typed("F").draw();
    assert!(s.shown.contains("let rate"), "{}", s.shown);
}

#[test]
fn the_mouse_chooses_scrolls_and_decides_only_on_the_words() {
    let mut s = scene(120, 40);
    at(&mut s, "src/cart.rs", 0);
    let frame = s.info.review.clone().unwrap();
    let buttons = frame.buttons.clone();
    assert_eq!(buttons.len(), 2, "{}", s.shown);
    for y in 0..40 {
        for x in 0..120 {
            if !buttons.iter().any(|(r, _)| r.contains((x, y).into())) {
                s.input(Input::Mouse { what: Click::Left, x, y });
            }
        }
    }
    assert_eq!(decided(&s), []);
    at(&mut s, "src/cart.rs", 0);
    let frame = s.info.review.clone().unwrap();
    let (y, _) = frame.file_rows.iter().find(|(_, row)| *row == 0).copied().unwrap();
    s.input(Input::Mouse { what: Click::Left, x: 5, y });
    assert_eq!(place(&s).0, "Cargo.toml");
    at(&mut s, "src/cart.rs", 0);
    let frame = s.info.review.clone().unwrap();
    let (y, spot) = frame.hunk_rows[5];
    s.input(Input::Mouse { what: Click::Left, x: frame.hunks.x + 9, y });
    assert_eq!(place(&s).1, spot);
    s.draw();
    let (at, verdict) = s.info.review.as_ref().unwrap().buttons[0];
    s.press(Code::Tab).draw();
    s.input(Input::Mouse { what: Click::Left, x: at.x, y: at.y });
    assert_eq!(decided(&s), [(id(&s, "src/cart.rs", 0), verdict)]);
}

#[test]
fn every_key_of_the_review_has_a_name_that_works() {
    for key in [ReviewKey::Accept, ReviewKey::Reject, ReviewKey::Undo, ReviewKey::Search, ReviewKey::Close] {
        assert!(Keymap::default().label(Layer::Review, Action::Review(key)).is_some(), "{key:?}");
    }
}

#[test]
fn what_is_read_is_seen_also_where_the_review_covers_the_screen() {
    let mut s = scene(120, 40);
    assert!(!s.shown.contains("Done."), "{}", s.shown);
    s.press(Code::F(10)).draw();
    assert!(s.shown.contains("┃") && s.shown.contains("Done."), "{}", s.shown);
    assert!(s.shown.contains("the review stays open"), "{}", s.shown);
    s.press(Code::Esc).press(Code::F(3)).draw();
    assert_eq!(s.ui.view.focus, Focus::Review);
    assert!(!s.shown.contains("Done."), "{}", s.shown);
}
