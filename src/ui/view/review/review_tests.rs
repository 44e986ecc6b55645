use super::line::{Numbers, Style, line};
use crate::model::changes::{Cause, FileDoc, HunkState, Left, LeftRun, ReviewDoc, Scope, TurnName};
use crate::model::ids::{EntryId, SessionKey};
use crate::model::tool::{ToolKind, ToolStatus};
use crate::text::diff::{DiffLine, Kind};
use crate::text::token::Token;
use crate::text::width::{str_width, styled_width};
use crate::ui::fixtures::{Scene, doc_of, file_doc, review_doc};
use crate::ui::keys::{Action, Code, Key, Keymap, Layer, ReviewKey};
use crate::ui::state::Focus;
use crate::ui::state::review::Pane;
use crate::ui::state::review::index::{Row, Rows, Spot};
use proptest::prelude::*;
use std::collections::BTreeSet;

fn scene(width: u16, height: u16) -> Scene {
    let mut s = Scene::working(width, height);
    s.model = std::mem::take(&mut s.model).with_review(true);
    s.say("Done.");
    s.show_review(review_doc(1));
    s.draw();
    s.key(Key::alt(Code::Char('r'))).draw();
    s.draw();
    s
}

/// The first hunk of the long file.
fn cart(width: u16, height: u16) -> Scene {
    let mut s = scene(width, height);
    let review = s.ui.view.review.as_mut().unwrap();
    review.layout.pane = Pane::Hunks;
    review.go(3, Spot::default());
    s.draw();
    s
}

/// One large hunk that begins with a removal.
fn large(lines: usize) -> FileDoc {
    let mut file = file_doc("big.txt", "x\n", "y\n");
    let line = file.hunks[0].lines[1].clone();
    let more = (0..lines as u32).map(|n| DiffLine { new: Some(n + 2), text: format!("line {n}"), ..line.clone() });
    file.hunks[0].lines = file.hunks[0].lines.iter().cloned().chain(more).collect();
    file
}

#[test]
fn the_wide_screen_has_the_conversation_beside_it() {
    let s = cart(160, 40);
    assert!(s.shown.contains("Done.") && s.shown.contains("fn total"), "{}", s.shown);
    assert!(s.info.transcript.width >= 40);
    let mut s = s;
    s.typed("z").draw();
    assert!(!s.shown.contains("Done."), "{}", s.shown);
    assert!(s.row(0).starts_with("  5 files  +10 −6        not decided yet"), "{}", s.shown);
    s.typed("z").draw();
    assert!(s.shown.contains("Done."), "{}", s.shown);
}

#[test]
fn who_reviews_beside_a_question_on_a_small_screen_sees_the_change() {
    let mut s = cart(40, 10);
    s.ask_edit(1, "/home/me/src/shop/a.rs", "one\n", "two\n", &["Allow once", "Always allow edits", "Reject"]);
    s.after(1000).draw();
    for words in ["fn total", "let line_40", "let line_41", "edit a.rs", "Alt+P", "a accept"] {
        assert!(s.shown.contains(words), "{words}: {}", s.shown);
    }
    s.key(Key::alt(Code::Char('p'))).draw();
    assert!(s.shown.contains("1 Allow once") && s.shown.contains("3 Reject"), "{}", s.shown);
}

#[test]
fn what_a_key_of_the_review_came_to_is_read_whole_while_a_question_waits() {
    let mut s = cart(80, 24);
    s.ask(1, "cargo test", &["Allow", "Reject"]);
    let words =
        format!("line 43: {} · Edit src/cart.rs · turn 1 of this session", "Make the sum right. ".repeat(3).trim());
    s.ui.say(words, s.now);
    s.draw();
    let said = "line 43: Make the sum right. Make the sum right. Make the sum right.";
    assert!(s.last_row().contains(said), "{}", s.shown);
}

/// An earlier session: no agent was started.
fn earlier(width: u16, height: u16) -> Scene {
    let mut s = Scene::new(width, height);
    s.model = std::mem::take(&mut s.model).with_review(true);
    s.show_review(review_doc(1));
    s.draw();
    s.key(Key::alt(Code::Char('r'))).draw();
    s.draw();
    s
}

#[test]
fn an_earlier_session_has_neither_a_conversation_nor_keys_for_an_agent() {
    for width in [80, 120, 160, 200] {
        let mut s = earlier(width, 40);
        assert!(s.shown.contains("review of an earlier session") && s.shown.contains("5 files"), "{}", s.shown);
        for words in ["Enter sends", "Shift+Tab", "F4 gate", "gemini", "to review"] {
            assert!(!s.shown.contains(words), "{words}, {width}:\n{}", s.shown);
        }
        s.outs.clear();
        s.press(Code::F(4)).draw();
        assert!(s.outs.is_empty() && s.shown.contains("no agent runs here"), "{}", s.shown);
        s.press(Code::F(2)).draw();
        assert!(s.outs.is_empty() && s.ui.picker.is_none(), "{}", s.shown);
    }
}

#[test]
fn while_a_session_is_being_opened_it_is_not_said_that_nothing_was_changed() {
    let mut s = Scene::new(120, 40);
    s.model = std::mem::take(&mut s.model).with_review(true);
    s.start();
    s.show_review(ReviewDoc { rev: 1, ..ReviewDoc::default() }.into());
    s.draw();
    s.key(Key::alt(Code::Char('r'))).draw();
    s.draw();
    assert!(s.shown.contains("not known yet: the session is still being opened"), "{}", s.shown);
    assert!(!s.shown.contains("nothing was changed"), "{}", s.shown);
}

#[test]
fn where_not_all_could_be_looked_at_nothing_is_said_to_be_decided() {
    let mut doc = (*doc_of(2, Vec::new())).clone();
    doc.uncovered = vec!["the session's directory is gone".into()];
    let mut s = scene(120, 40);
    s.show_review(doc.into());
    s.after(1).draw();
    assert!(!s.shown.contains("everything is decided"), "{}", s.shown);
    assert!(s.shown.contains("nothing to decide in what could be looked at"), "{}", s.shown);
    assert!(s.shown.contains("scope") && !s.shown.contains("accept"), "nothing is there to be decided: {}", s.shown);
}

#[test]
fn in_the_lowest_screens_no_row_is_drawn_over_another() {
    for height in 1..16 {
        let mut s = scene(40, height);
        s.show_review(ReviewDoc { rev: 1, ..ReviewDoc::default() }.into());
        s.after(1).draw();
        let rows = s.shown.lines().filter(|row| row.contains("nothing was"));
        assert_eq!(rows.filter(|row| row.trim() != "nothing was changed").collect::<Vec<_>>(), [""; 0], "{height}");
    }
}

#[test]
fn where_looks_have_failed_and_in_a_run_that_goes_on_it_is_not_said_that_nothing_was_changed() {
    let empty = || ReviewDoc { rev: 1, ..ReviewDoc::default() };
    let shown = |doc: ReviewDoc| {
        let mut s = scene(120, 40);
        s.show_review(doc.into());
        s.after(1).draw();
        s.shown
    };
    assert!(shown(empty()).contains("nothing was changed"));
    let partial = shown(ReviewDoc { is_partial: true, uncovered: vec!["no store".into()], ..empty() });
    assert!(partial.contains("nothing that is known was changed"), "{partial}");
    let run = "an earlier run of the session has changed 1 file, 1 hunk to review: acp-tui review s · acp-tui undo s";
    let left = LeftRun { stem: "s".into(), left: Ok(Left { files: 1, pending: 1 }) };
    let later = shown(ReviewDoc { left: vec![left], uncovered: vec!["x (ignored)".into()], ..empty() });
    assert!(later.contains("nothing was changed in this run of the session") && later.contains(run), "{later}");
}

#[test]
fn the_commands_for_each_earlier_run_can_be_read_whole() {
    let run = |n: u64| LeftRun { stem: format!("1795489800-5123{n}-2"), left: Ok(Left { files: n, pending: n }) };
    let left: Vec<LeftRun> = (1..=3).map(run).collect();
    let shown = |columns, rows, files: bool| {
        let mut s = scene(columns, rows);
        let doc = if files { ReviewDoc::clone(&review_doc(2)) } else { ReviewDoc { rev: 1, ..ReviewDoc::default() } };
        s.show_review(ReviewDoc { left: left.clone(), ..doc }.into());
        s.after(1).draw();
        s.shown
    };
    for (columns, rows) in [(40, 20), (80, 24), (100, 36), (110, 36), (160, 40)] {
        let shown = shown(columns, rows, false);
        for n in 1..=3 {
            for what in ["review", "undo"] {
                let command = format!("acp-tui {what} 1795489800-5123{n}-2");
                assert!(shown.contains(&command), "{columns}×{rows}: {shown}");
            }
        }
    }
    let high = shown(80, 24, true);
    assert!(high.contains("acp-tui undo 1795489800-51231-2") && high.contains("cart.rs"), "{high}");
    let low = shown(80, 16, true);
    assert!(low.contains("more: acp-tui review last") && low.contains("cart.rs"), "{low}");
}

/// A run counts its own turns; what is shown is how the conversation counts them.
#[test]
fn turns_are_called_as_their_conversation_counts_them() {
    let mut s = scene(140, 40);
    let mut doc = ReviewDoc::clone(&review_doc(2));
    doc.scope = Scope::Turn(2);
    doc.names = [(2, TurnName { number: 7, session: None })].into();
    s.show_review(doc.clone().into());
    s.after(1).draw();
    assert!(s.shown.contains("turn 7 · 2 of 3 with changes"), "{}", s.shown);
    s.typed("R").draw();
    assert!(s.shown.contains("take these back to before turn 7?"), "{}", s.shown);
    doc.rev += 1;
    doc.names = [(2, TurnName { number: 2, session: Some("s-1".into()) })].into();
    s.show_review(doc.into());
    s.after(1).draw();
    assert!(s.shown.contains("turn 2 of s-1 · 2 of 3"), "{}", s.shown);
}

#[test]
fn files_and_hunks_stand_beside_each_other() {
    let s = cart(120, 40);
    let rows: Vec<&str> = s.shown.lines().take(12).collect();
    assert_eq!(
        rows.join("\n"),
        "  5 files  +10 −6        not decided yet                                                              5 of 7 hunks open

  Cargo.toml  +1 −1         ✓ ┊   src/cart.rs  +4 −4                                                by the agent itself
  assets/logo.png         1 · ┊
  notes.md       +3  new  1 · ┊ ▸ @@ 40 fn total(items: &[Item]) -> u64 {              [accept] [reject]  ▸ hunk 1 of 3
  src/                        ┊    40  40       let line_40 = 40;
▸   cart.rs   +4 −4       2 · ┊    41  41       let line_41 = 41;
    main.rs   +2 −1 held  1 · ┊    42  42       let line_42 = 42;
                              ┊    43     -     let line_43 = 43;
                              ┊    44     -     let line_44 = 44;
                              ┊        43 +     for item in items { sum += item.price; }
                              ┊        44 +     // What a discount takes off."
    );
    for words in ["✗ rejected hunk 2 of 3", "conflict: you changed line 111 since", "@@ 108   by a command"] {
        assert!(s.shown.contains(words), "{words}: {}", s.shown);
    }
}

#[test]
fn a_few_files_stand_above_their_hunks_where_there_is_no_room_beside_them() {
    let open = |height: u16| {
        let files = vec![file_doc("a.rs", "one\ntwo\n", "one\nTWO\n"), file_doc("b.rs", "x\n", "y\n")];
        let mut s = Scene::working(80, height);
        s.model = std::mem::take(&mut s.model).with_review(true);
        s.show_review(doc_of(1, files));
        s.draw();
        s.key(Key::alt(Code::Char('r'))).draw();
        s.draw();
        s
    };
    let mut s = open(24);
    assert!(s.shown.contains("▸ a.rs") && s.shown.contains("TWO") && !s.shown.contains("+ y"), "{}", s.shown);
    s.press(Code::Down).draw();
    assert!(s.shown.contains("▸ b.rs") && s.shown.contains("+ y") && !s.shown.contains("TWO"), "{}", s.shown);
    s.press(Code::Enter).draw();
    assert_eq!(s.ui.view.review.as_ref().unwrap().layout.pane, Pane::Hunks);
    assert!(s.shown.contains("a.rs") && s.shown.contains("+ y"), "both stay: {}", s.shown);
    let s = open(15);
    assert!(s.shown.contains("▸ a.rs") && !s.shown.contains("TWO"), "{}", s.shown);
}

#[test]
fn a_narrow_screen_shows_files_or_hunks() {
    let mut s = scene(80, 24);
    assert!(s.shown.contains("cart.rs") && !s.shown.contains("fn total"), "{}", s.shown);
    assert!(s.shown.contains("held  1 ·") && s.shown.contains("new  1 ·"), "{}", s.shown);
    s.press(Code::Home).press(Code::End).press(Code::Up).draw();
    s.press(Code::Enter).draw();
    assert!(s.shown.contains("fn total") && !s.shown.contains("logo.png"), "{}", s.shown);
    s.press(Code::Left).draw();
    assert!(s.shown.contains("logo.png"), "{}", s.shown);
}

#[test]
fn a_file_with_nothing_to_be_called_keeps_its_figures_beside_one_that_is_new() {
    let mut s = Scene::working(100, 30);
    let (new, edited) = (file_doc("NOTES.md", "", "a\nb\nc\n"), file_doc("src/main.rs", "a\nb\n", "a\nx\ny\n"));
    s.show_review(doc_of(1, vec![new, edited]));
    s.key(Key::alt(Code::Char('r'))).draw();
    s.draw();
    let row = |name: &str| s.shown.lines().find(|row| row.contains(name)).unwrap_or_default().to_owned();
    assert!(row("src/main.rs").contains("+2 −1  1 ·"), "{}", s.shown);
}

#[test]
fn the_small_screen_is_usable() {
    let mut s = cart(40, 10);
    assert_eq!(
        s.shown,
        "  src/cart.rs       file 4/5 · 2/7 done
▸ @@ 40 fn total(items: … ▸ hunk 1 of 3
   40       let line_40 = 40;
   41       let line_41 = 41;
   42       let line_42 = 42;
   43 -     let line_43 = 43;
 a accept  x reject              ? keys
── default ─────────────────────────────
❯
 ⠼ writing 0 s · Esc closes the review
"
    );
    for _ in 0..200 {
        s.press(Code::Down).draw();
        assert!(s.shown.contains('▸'), "the cursor is in sight: {}", s.shown);
    }
    assert!(s.shown.contains("114"), "{}", s.shown);
}

#[test]
fn side_by_side_where_there_is_room() {
    let mut s = cart(80, 24);
    s.typed("s").draw();
    assert!(s.shown.contains("side by side needs 100 columns"), "{}", s.shown);
    let mut s = cart(120, 40);
    s.typed("s").draw();
    s.draw();
    let row = s.shown.lines().find(|l| l.contains("line_43")).unwrap_or_default();
    assert!(row.contains("43 -     let line_43 = 43;") && row.contains("┊  43 +     for item in items"), "{}", s.shown);
    // The choice of lines is line by line.
    s.typed("v").draw();
    assert!(!s.shown.contains("┊  43 +"), "{}", s.shown);
    s.press(Code::Esc).draw();
    assert!(s.shown.contains("┊  43 +"), "{}", s.shown);
    // A window that became narrow.
    s.size = (80, 24);
    s.draw();
    s.draw();
    assert!(!s.shown.contains("┊  43 +") && s.shown.contains("line_43"), "{}", s.shown);
}

#[test]
fn every_state_has_a_word_or_a_sign() {
    let states = [
        (HunkState::Accepted, "✓ accepted"),
        (HunkState::Rejected, "✗ rejected"),
        (HunkState::Edited, "~ edited"),
        (HunkState::Superseded, "superseded"),
        (HunkState::Pending, "hunk 1 of 1"),
    ];
    for (state, words) in states {
        let mut file = file_doc("a.rs", "one\n", "two\n");
        file.hunks[0].state = state;
        let mut s = scene(120, 40);
        s.show_review(doc_of(2, vec![file]));
        assert!(s.after(1).draw().contains(words), "{}", s.shown);
    }
}

#[test]
fn what_another_session_has_made_bears_its_name() {
    let shown_by = |key: SessionKey| {
        let mut file = file_doc("a.rs", "one\n", "two\n");
        file.hunks[0].elsewhere = Some(key);
        let mut s = scene(120, 40);
        s.ui.view.name = Some("Fix the tests".into());
        s.show_review(doc_of(2, vec![file]));
        s.after(1).draw().to_owned()
    };
    let screen = shown_by(SessionKey::FIRST);
    assert!(screen.contains("by the agent itself in “Fix the tests”"), "{screen}");
    let screen = shown_by(SessionKey(99));
    assert!(screen.contains("by the agent itself in a closed session"), "{screen}");
}

/// As long as the conversation has the call.
#[test]
fn what_a_command_has_made_bears_the_name_of_the_command() {
    let mut s = scene(120, 40);
    s.tool("fmt", ToolKind::Execute, "cargo fmt --all", ToolStatus::Completed);
    let call = s.model.first().session().entries().last().unwrap().id;
    let mut shown_by = |entry: Option<EntryId>| {
        let mut file = file_doc("a.rs", "one\n", "two\n");
        file.cause = Cause::Command;
        (file.hunks[0].cause, file.hunks[0].entry) = (Cause::Command, entry);
        s.show_review(doc_of(2, vec![file]));
        s.after(1).draw().to_owned()
    };
    let screen = shown_by(Some(call));
    assert!(screen.contains("by: cargo fmt --all"), "{screen}");
    let screen = shown_by(None);
    assert!(screen.contains("by a command"), "{screen}");
}

#[test]
fn esc_is_named_by_what_it_leaves_in_the_review() {
    let mut s = cart(120, 40);
    let mut says = |code: Code, words: &str| {
        s.press(code);
        assert!(s.draw().lines().last().unwrap().contains(words), "{code:?}: {}", s.shown);
    };
    says(Code::Down, "Esc closes the review");
    says(Code::Char('/'), "Esc closes it");
    says(Code::Esc, "Esc closes the review");
}

#[test]
fn what_is_not_covered_is_said() {
    let mut s = scene(80, 24);
    let mut doc = (*review_doc(2)).clone();
    doc.uncovered = vec!["node_modules: ignored".into(), "big.iso: too large".into()];
    s.show_review(doc.into());
    assert!(s.after(1).draw().contains("not covered: node_modules: ignored · and 1 more"), "{}", s.shown);
}

#[test]
fn text_that_does_not_end_with_a_newline_is_said() {
    let mut s = scene(120, 40);
    s.show_review(doc_of(2, vec![file_doc("a", "one\n", "two")]));
    assert!(s.after(1).draw().contains("+ two  no newline at the end"), "{}", s.shown);
}

#[test]
fn a_note_stands_in_place_of_the_keys_and_the_cursor_in_it() {
    let mut s = cart(80, 24);
    s.typed("!too slow").draw();
    let row = s.shown.lines().position(|l| l.starts_with(" reject + why: too slow")).unwrap();
    let at = s.info.cursor.unwrap();
    assert_eq!((usize::from(at.y), at.x), (row, 23));
}

#[test]
fn every_action_is_in_the_help() {
    let map = Keymap::default();
    let listed: Vec<(String, &str)> = map.help(Layer::Review).map(|row| (row.keys, row.what)).collect();
    let mut s = scene(110, 60);
    s.typed("?").draw();
    let mut all = s.shown.clone();
    for _ in 0..20 {
        s.press(Code::PageDown).draw();
        all.push_str(&s.shown);
    }
    // What is long takes more than one row.
    let all = all.split_whitespace().collect::<Vec<_>>().join(" ");
    for (keys, what) in &listed {
        assert!(all.contains(keys.as_str()) && all.contains(what), "{keys} {what}");
    }
    for key in [ReviewKey::Force, ReviewKey::Rewind, ReviewKey::EditOutside, ReviewKey::ScrollRight] {
        let name = map.label(Layer::Review, Action::Review(key)).unwrap();
        assert!(listed.iter().any(|(keys, _)| keys.split(", ").any(|k| k == name)), "{name}");
    }
}

#[test]
fn blame_is_named_where_there_are_80_columns() {
    let s = cart(80, 24);
    for words in ["a accept", "x reject", "! reject + why", "n/p hunk", "b blame", "? keys", "q closes"] {
        assert!(s.shown.contains(words), "{words}: {}", s.shown);
    }
}

#[test]
fn hints_show_every_action_where_there_is_room() {
    let mut s = cart(120, 40);
    s.size = (700, 40);
    s.typed("z").draw();
    s.draw();
    for words in [
        "a accept",
        "x reject",
        "e/E edit",
        "A/X whole file",
        "v lines",
        "n/p hunk",
        "u undo",
        "! reject + why",
        "+ accept + note",
        "/ search",
        "1/2/3 scope",
        "o open",
        "t made by",
        "b blame",
        "w patch",
        "R rewind",
        "U redo",
        "s sides",
        "f/F fold",
        "z wide",
        "Alt+A/Alt+X all",
        "</> long lines",
        ",/. turn",
        "Tab prompt",
        "? keys",
        "q closes",
    ] {
        assert!(s.shown.contains(words), "{words}: {}", s.shown);
    }
}

#[test]
fn a_large_hunk_costs_what_is_visible() {
    let mut s = scene(80, 24);
    s.show_review(doc_of(2, vec![large(100_000)]));
    s.after(1).press(Code::Enter).draw();
    s.draw();
    for key in [Code::End, Code::PageUp, Code::Home, Code::PageDown] {
        s.press(key).draw();
        let frame = s.info.review.as_ref().unwrap();
        assert!(frame.laid_out <= 24, "{}", frame.laid_out);
        assert!(frame.laid_out > 5, "{}", s.shown);
    }
    s.press(Code::End).draw();
    assert!(s.shown.contains("line 99999"), "{}", s.shown);
}

#[test]
fn rows_and_places_agree_in_both_looks() {
    use crate::ui::state::review::index::Look;
    let doc = review_doc(1);
    for file in &doc.files {
        for look in [Look::Unified, Look::Sides] {
            let rows = Rows::of(file, look, &BTreeSet::new());
            let mut lines = BTreeSet::new();
            for at in 0..rows.len() {
                let row = rows.row(at).unwrap();
                if let Some(spot) = rows.spot(at) {
                    assert_eq!(rows.row_of(spot), at, "{row:?}");
                }
                match row {
                    Row::Line(h, l) => drop(lines.insert((h, l))),
                    Row::Pair(h, pair) => {
                        lines.extend([pair.old, pair.new].into_iter().flatten().map(|l| (h, l as usize)));
                    }
                    _ => {}
                }
            }
            let all = file.hunks.iter().enumerate().flat_map(|(h, hunk)| (0..hunk.lines.len()).map(move |l| (h, l)));
            assert_eq!(lines, all.collect(), "{look:?}");
            assert_eq!(rows.row(rows.len()), None);
            for (h, hunk) in file.hunks.iter().enumerate() {
                for l in 0..hunk.lines.len() {
                    let at = rows.row_of(Spot { hunk: h, line: Some(l) });
                    let shows = match rows.row(at) {
                        Some(Row::Line(_, n)) => n == l,
                        Some(Row::Pair(_, p)) => [p.old, p.new].contains(&Some(l as u32)),
                        _ => false,
                    };
                    assert!(shows, "{look:?} {h} {l}");
                }
            }
        }
    }
}

#[test]
fn colours_are_taken_for_the_line_they_belong_to() {
    let mut s = cart(120, 40);
    let review = s.ui.view.review.as_mut().unwrap();
    let (path, hunk, lines) = review.uncoloured([0]).unwrap();
    assert!(review.uncoloured([0]).is_none(), "asked for once");
    assert_eq!(path.to_str(), Some("src/cart.rs"));
    assert_eq!(lines[0], (Kind::Context, "    let line_40 = 40;".to_owned()));
    let spans = lines.iter().map(|_| vec![(4..7, Token::CodeKeyword)]).collect();
    review.colour(&path, hunk, spans);
    assert_eq!(review.colours(hunk).unwrap()[0], [(4..7, Token::CodeKeyword)]);
    let before = s.shown.clone();
    s.draw();
    assert_eq!(s.shown, before, "the text is the same");
    let review = s.ui.view.review.as_mut().unwrap();
    review.go(0, Spot::default());
    review.colour(&path, hunk, Vec::new());
    assert!(review.colours(hunk).is_none(), "of another file");
}

#[test]
fn a_line_is_marked_without_colour_and_cut_with_a_sign() {
    let file = file_doc("a", "let total = 1;\n", "let total = 2;\n");
    let style = Style { digits: 1, column: 0, query: None, is_tinted: true };
    let text = |n: usize, columns| line(&file.hunks[0].lines[n], None, Numbers::Both, style, columns);
    assert_eq!(text(0, 40).as_str(), "1   - let total = 1;");
    assert_eq!(text(1, 40).as_str(), "  1 + let total = 2;");
    assert_eq!(text(1, 12).as_str(), "  1 + let t…");
    assert!(text(1, 40).iter().any(|(t, s)| t == "2" && s.token == Token::DiffAddWord));
    for (n, sign, token) in [(0, "- ", Token::SignBad), (1, "+ ", Token::SignGood)] {
        let has_colour = text(n, 40).iter().any(|(t, s)| t == sign && s.token == token);
        assert!(has_colour, "as in the conversation: with 16 colours it is all that is coloured");
    }
    let moved = Style { column: 4, ..style };
    let text = line(&file.hunks[0].lines[1], None, Numbers::Both, moved, 40);
    assert_eq!(text.as_str(), "  1 + …otal = 2;");
}

proptest! {
    #[test]
    fn no_line_is_wider_than_asked_for(text in "(\\PC|\t|漢|👩\u{200d}🚀|\u{301}){0,40}", column in 0usize..30, columns in 0usize..50) {
        let file = file_doc("a", "", &format!("{text}x"));
        for l in file.hunks.iter().flat_map(|h| &*h.lines) {
            for numbers in [Numbers::Both, Numbers::One] {
                let style = Style { digits: 3, column, query: None, is_tinted: true };
                let out = line(l, None, numbers, style, columns);
                prop_assert!(styled_width(&out) <= columns, "{:?}", out.as_str());
            }
        }
    }
}

#[test]
fn any_size_in_any_state_is_survived() {
    let keys = ["", "v", "!note", "e", "/x", "w", "R", "?", "s", "z", "f", "F"];
    for keys in keys {
        for pane in [Pane::Files, Pane::Hunks] {
            let mut s = cart(120, 40);
            s.ui.view.review.as_mut().unwrap().layout.pane = pane;
            s.typed(keys);
            for w in [1, 10, 11, 20, 21, 40, 59, 60, 99, 100, 149, 150, 200] {
                for h in [1, 3, 4, 5, 6, 7, 10, 12, 17, 60] {
                    s.size = (w, h);
                    s.draw();
                    assert!(s.shown.lines().all(|l| str_width(l) <= usize::from(w)));
                }
                s.press(Code::Down);
            }
        }
    }
}

#[test]
fn with_no_room_for_the_review_nothing_of_it_is_decided() {
    let mut s = cart(120, 40);
    s.size = (18, 4);
    s.draw();
    assert_eq!(s.ui.view.focus, Focus::Review);
    s.typed("aAxX").key(Key::alt(Code::Char('a')));
    assert_eq!(s.intents().len(), 1, "only that it was opened: {:?}", s.intents());
}
