//! A look may come between what a call does and the news of the call: whose the change is does not hang on that.

use super::super::tests::{Place, changed, lines};
use super::super::*;
use crate::model::changes::{Cause, ReviewAction};
use crate::model::ids::EntryId;
use crate::review::protocol::{ClaimedEdit, ToolEffect, ToolNote};
use crate::review::session::attribution::SLACK;
use std::fs;
use std::time::{Duration, Instant, SystemTime};

/// Long before anything that is tried here.
const EARLIER: Duration = Duration::from_mins(1);

impl Place {
    /// The news of a call that may have begun `since` then.
    fn hears(&mut self, doing: ToolEffect, names: &[&str], since: Instant, finished: bool) {
        self.hears_claim(doing, names, Vec::new(), (since, finished));
    }

    fn hears_claim(
        &mut self,
        doing: ToolEffect,
        names: &[&str],
        claims: Vec<ClaimedEdit>,
        (since, finished): (Instant, bool),
    ) {
        let paths = names.iter().map(|name| self.at(name)).collect();
        let (entry, at) = (EntryId(self.entry), Instant::now());
        let note = ToolNote { entry, turn: None, doing, at, since, finished, waits: false, paths, claims };
        self.review.tool(&note).unwrap();
    }

    /// An agent that tells what it does has done so in this turn.
    fn begins_and_tells(&mut self) {
        self.review.begin_turn(1).unwrap();
        self.tool_writes("other", "told\n");
        self.entry += 1;
    }

    fn causes(&self, name: &str) -> Vec<(Cause, bool)> {
        let history = self.review.log.history(Path::new(name)).unwrap();
        history.steps.iter().map(|step| (step.cause, step.doubt)).collect()
    }
}

#[test]
fn what_a_look_finds_before_the_news_of_the_call_is_the_calls() {
    let text = lines(9);
    let mut place = Place::with(&[("f", text.as_bytes())]);
    place.begins_and_tells();
    let since = Instant::now();
    let first = changed(&text, &[(2, "one")]);
    place.write("f", &first);
    place.look("f");
    assert_eq!(place.causes("f"), [(Cause::Unknown, true)]);
    place.review.verify_invariants();
    // The next edit is on the disk by then.
    place.write("f", &changed(&first, &[(7, "two")]));
    place.hears(ToolEffect::Edits, &["f"], since, false);
    assert_eq!(place.causes("f"), [(Cause::Tool, false); 2]);
    place.review.verify_invariants();
    place.hears(ToolEffect::Edits, &["f"], since, true);
    place.review.end_turn(1).unwrap();
    let mut place = place.reopen();
    assert_eq!(place.causes("f"), [(Cause::Tool, false); 2], "as the ledger has it");
    place.review.act(&ReviewAction::Rewind { turn: 1 }).unwrap();
    assert_eq!(place.read("f"), text);
    place.review.verify_invariants();
}

/// What came long before the call, what the call does not name, what it says nothing of, and what came after it was over.
#[test]
fn what_the_call_cannot_have_done_stays_in_doubt() {
    let text = lines(9);
    let mut place = Place::with(&[("f", text.as_bytes()), ("g", b"one\n")]);
    place.begins_and_tells();
    let since = Instant::now();
    for name in ["f", "g"] {
        place.write(name, &changed(&text, &[(2, "saved")]));
        place.look(name);
    }
    let doubt = [(Cause::Unknown, true)];
    place.hears(ToolEffect::Edits, &["g"], since + EARLIER, false);
    assert_eq!(place.causes("g"), doubt, "it was there before");
    place.entry += 1;
    place.hears(ToolEffect::ReadOnly, &["f"], since, true);
    place.entry += 1;
    place.hears(ToolEffect::Edits, &["other"], since, true);
    assert_eq!(place.causes("f"), doubt, "not named, or only read");
    place.entry += 1;
    let claim = |old: &str, new: &str| ClaimedEdit { path: place.at("f"), old: Some(old.into()), new: new.into() };
    let claims = vec![claim("line 5", "five")];
    place.hears_claim(ToolEffect::Edits, &["f"], claims, (since, false));
    assert_eq!(place.causes("f"), doubt, "it puts something else there");
    place.review.verify_invariants();
}

#[test]
fn what_a_turn_left_unexplained_is_no_later_calls_doing() {
    let mut place = Place::with(&[("f", b"one\n")]);
    place.begins_and_tells();
    let since = Instant::now();
    place.write("f", "two\n");
    place.look("f");
    place.review.end_turn(1).unwrap();
    place.review.begin_turn(2).unwrap();
    place.entry += 1;
    place.hears(ToolEffect::Edits, &["f"], since, false);
    assert_eq!(place.causes("f"), [(Cause::Unknown, true)]);
    place.review.end_turn(2).unwrap();
    place.review.verify_invariants();
}

/// Of two edits a look has found both, and only the first was told of by then, with what it puts there.
#[test]
fn what_is_beyond_one_call_is_the_next_ones_if_that_says_so() {
    for says in ["seven", "another"] {
        let text = lines(9);
        let mut place = Place::with(&[("f", text.as_bytes())]);
        place.begins_and_tells();
        let since = Instant::now();
        place.hears(ToolEffect::Edits, &["f"], since, false);
        place.write("f", &changed(&text, &[(2, "two"), (7, "seven")]));
        let claim = |old: &str, new: &str| ClaimedEdit {
            path: place.at("f"),
            old: Some(format!("{old}\n").into()),
            new: format!("{new}\n").into(),
        };
        let (first, second) = (vec![claim("line 2", "two")], vec![claim("line 7", says)]);
        place.hears_claim(ToolEffect::Edits, &["f"], first, (since, true));
        assert_eq!(place.causes("f"), [(Cause::Unknown, true), (Cause::Tool, false)]);
        place.entry += 1;
        place.hears(ToolEffect::Edits, &["f"], since, false);
        assert_eq!(place.causes("f")[0], (Cause::Unknown, true), "it does not say so yet");
        place.hears_claim(ToolEffect::Edits, &["f"], second, (since, true));
        let is_its = says == "seven";
        assert_eq!(place.causes("f")[0], if is_its { (Cause::Tool, false) } else { (Cause::Unknown, true) });
        place.review.end_turn(1).unwrap();
        place.review.verify_invariants();
    }
}

/// A look has found three edits when only the first was told of: the last one explains what is left of them.
#[test]
fn what_is_beyond_one_call_is_that_of_all_others_together() {
    let text = lines(30);
    let edits = [("line 2\n", "line 2\nput in\n"), ("line 10\nline 11\n", "line 11\n"), ("line 20\n", "twenty\n")];
    let done = edits.iter().fold(text.clone(), |text, (old, new)| text.replacen(old, new, 1));
    for (saved, causes) in
        [("", [(Cause::Tool, false); 2]), ("saved\n", [(Cause::Unknown, true), (Cause::Tool, false)])]
    {
        let mut place = Place::with(&[("f", text.as_bytes())]);
        place.begins_and_tells();
        let since = Instant::now();
        let claims = |place: &Place, at: usize| {
            let (old, new) = edits[at];
            vec![ClaimedEdit { path: place.at("f"), old: Some(old.into()), new: new.into() }]
        };
        place.write("f", &format!("{done}{saved}"));
        for at in 0..edits.len() {
            let claims = claims(&place, at);
            place.hears_claim(ToolEffect::Edits, &["f"], claims, (since, true));
            assert_eq!(place.causes("f")[1], (Cause::Tool, false));
            let is_last = at + 1 == edits.len();
            assert_eq!(place.causes("f")[0], if is_last { causes[0] } else { (Cause::Unknown, true) }, "{at}");
            place.entry += 1;
        }
        place.review.end_turn(1).unwrap();
        place.review.verify_invariants();
        place.review.act(&ReviewAction::Rewind { turn: 1 }).unwrap();
        assert_eq!(place.read("f") == text, saved.is_empty());
    }
}

/// Two calls were told of before either had done anything, and a look finds what both did.
#[test]
fn of_what_a_look_finds_each_call_has_its_part() {
    let text = lines(30);
    let edits = [("line 2\n", "line 2\nput in\n"), ("put in\n", "put in later\n"), ("line 10\nline 11\n", "line 11\n")];
    let done = edits.iter().fold(text.clone(), |text, (old, new)| text.replacen(old, new, 1));
    for saved in ["", "saved\n"] {
        let mut place = Place::with(&[("f", text.as_bytes())]);
        place.begins_and_tells();
        let first = place.entry;
        let since = Instant::now();
        let tells = |place: &mut Place, at: usize, finished: bool| {
            let (old, new) = edits[at];
            let claims = vec![ClaimedEdit { path: place.at("f"), old: Some(old.into()), new: new.into() }];
            place.entry = first + at as u64;
            place.hears_claim(ToolEffect::Edits, &["f"], claims, (since, finished));
        };
        (0..edits.len()).for_each(|at| tells(&mut place, at, false));
        place.write("f", &format!("{done}{saved}"));
        (0..edits.len()).for_each(|at| tells(&mut place, at, true));
        let history = place.review.log.history(Path::new("f")).unwrap();
        let by: Vec<_> = history.steps.iter().map(|step| (step.cause, step.entry)).collect();
        let its = (0..3).map(|at| (Cause::Tool, Some(first + at)));
        let wanted: Vec<_> = (!saved.is_empty()).then_some((Cause::Unknown, None)).into_iter().chain(its).collect();
        let sorted = |mut by: Vec<(Cause, Option<u64>)>| {
            by.sort_by_key(|(_, entry)| *entry);
            by
        };
        assert_eq!(sorted(by), wanted, "{saved:?}");
        place.review.end_turn(1).unwrap();
        place.review.verify_invariants();
        place.review.act(&ReviewAction::Rewind { turn: 1 }).unwrap();
        assert_eq!(place.read("f"), if saved.is_empty() { text.clone() } else { format!("{text}{saved}") });
    }
}

/// The client was woken late: what was changed long before it heard of the call is the call's if that says just so.
#[test]
fn late_news_explain_what_they_say_and_nothing_else() {
    for (says, is_its) in [("saved", true), ("another", false)] {
        let text = lines(9);
        let mut place = Place::with(&[("f", text.as_bytes())]);
        place.begins_and_tells();
        place.write("f", &text.replace("line 2\n", "saved\n"));
        place.look("f");
        let claims =
            vec![ClaimedEdit { path: place.at("f"), old: Some("line 2\n".into()), new: format!("{says}\n").into() }];
        place.hears_claim(ToolEffect::Edits, &["f"], claims, (Instant::now() + EARLIER, false));
        assert_eq!(place.causes("f")[0], if is_its { (Cause::Tool, false) } else { (Cause::Unknown, true) });
        place.review.end_turn(1).unwrap();
        place.review.verify_invariants();
    }
}

/// With its own hands: a tree is removed, and another one becomes a file.
#[test]
fn a_call_that_names_a_directory_has_changed_what_is_below_it() {
    let files: [(&str, &[u8]); 5] =
        [("src/a", b"a\n"), ("src/deep/b", b"b\n"), ("src2/c", b"c\n"), ("lib/d", b"d\n"), ("p", b"mine\n")];
    let mut place = Place::with(&files);
    place.begins_and_tells();
    let since = Instant::now();
    place.hears(ToolEffect::Edits, &["src"], since, false);
    std::fs::remove_dir_all(place.at("src")).unwrap();
    place.write("p", "saved\n");
    std::fs::remove_file(place.at("src2/c")).unwrap();
    place.hears(ToolEffect::Edits, &["src"], since, true);
    place.entry += 1;
    place.hears(ToolEffect::Edits, &["lib"], since, false);
    std::fs::remove_dir_all(place.at("lib")).unwrap();
    place.write("lib", "now a file\n");
    place.hears(ToolEffect::Edits, &["lib"], since, true);
    place.review.end_turn(1).unwrap();
    for its in ["src/a", "src/deep/b", "lib", "lib/d"] {
        assert_eq!(place.causes(its), [(Cause::Tool, false)], "{its}");
    }
    for other in ["src2/c", "p"] {
        assert_eq!(place.causes(other), [(Cause::Unknown, true)], "{other}");
    }
    place.review.verify_invariants();
    place.review.act(&ReviewAction::Rewind { turn: 1 }).unwrap();
    for (name, text) in files.iter().filter(|(name, _)| !["src2/c", "p"].contains(name)) {
        assert_eq!(place.read(name).as_bytes(), *text, "{name}");
    }
    assert_eq!(place.read("p"), "saved\n");
}

/// A look has come while the file was written: it was empty by then, or a part of it was there.
#[test]
fn what_is_seen_half_written_is_one_change_with_the_rest() {
    let text = lines(30);
    let edits = [("line 2\n", "line 2\nput in\n"), ("line 20\n", "twenty\n"), ("line 25\nline 26\n", "line 26\n")];
    let [first, second, third] =
        [1, 2, 3].map(|n| edits[..n].iter().fold(text.clone(), |text, (old, new)| text.replacen(old, new, 1)));
    for seen in [vec![String::new()], vec![second[..40].to_owned()], vec![String::new(), second[..40].to_owned()]] {
        let mut place = Place::with(&[("f", text.as_bytes())]);
        place.begins_and_tells();
        let since = Instant::now();
        let claim = |place: &Place, (old, new): (&str, &str)| {
            vec![ClaimedEdit { path: place.at("f"), old: Some(old.into()), new: new.into() }]
        };
        let (one, two, three) = (claim(&place, edits[0]), claim(&place, edits[1]), claim(&place, edits[2]));
        place.write("f", &first);
        place.hears_claim(ToolEffect::Edits, &["f"], one, (since, true));
        place.entry += 1;
        for seen in &seen {
            place.write("f", seen);
            place.hears_claim(ToolEffect::Edits, &["f"], two.clone(), (since, false));
            place.look("f");
        }
        // The third edit is on the disk before anybody tells of it.
        place.write("f", &third);
        place.hears_claim(ToolEffect::Edits, &["f"], two, (since, true));
        place.entry += 1;
        place.hears_claim(ToolEffect::Edits, &["f"], three, (since, true));
        assert!(place.causes("f").iter().all(|by| *by == (Cause::Tool, false)), "{seen:?}: {:?}", place.causes("f"));
        place.review.end_turn(1).unwrap();
        place.review.verify_invariants();
        let mut place = place.reopen();
        place.review.act(&ReviewAction::Rewind { turn: 1 }).unwrap();
        assert_eq!(place.read("f"), text);
        place.review.verify_invariants();
    }
}

/// Between two edits of an agent the person saves a line in the same file, and no look comes before the second one; but one
/// may come while that is written, when the file is empty.
#[test]
fn what_the_person_saves_between_two_edits_stays_whatever_the_calls_say_and_whenever_a_look_comes() {
    let text = lines(30);
    for (is_whole, is_emptied) in [(false, false), (false, true), (true, false), (true, true)] {
        let mut place = Place::with(&[("f", text.as_bytes())]);
        place.begins_and_tells();
        let mut now = text.clone();
        for (at, new) in [(2, "two"), (20, "twenty")] {
            let since = Instant::now();
            let found = now.clone();
            now = now.replace(&format!("line {at}\n"), &format!("{new}\n"));
            let (old, new) = if is_whole { (found, now.clone()) } else { (format!("line {at}\n"), format!("{new}\n")) };
            let claims = vec![ClaimedEdit { path: place.at("f"), old: Some(old.into()), new: new.into() }];
            if is_emptied {
                place.write("f", "");
                place.hears_claim(ToolEffect::Edits, &["f"], claims.clone(), (since, false));
            }
            place.write("f", &now);
            place.hears_claim(ToolEffect::Edits, &["f"], claims, (since, true));
            place.entry += 1;
            now = now.replace("line 10\n", "line 10\nsaved\n");
            place.write("f", &now);
        }
        // The second of them was saved after the last call was over.
        now = now.replacen("saved\nsaved\n", "saved\n", 1);
        place.write("f", &now);
        place.review.end_turn(1).unwrap();
        place.review.verify_invariants();
        place.review.act(&ReviewAction::Rewind { turn: 1 }).unwrap();
        let wanted = text.replace("line 10\n", "line 10\nsaved\n");
        assert_eq!(place.read("f"), wanted, "whole texts: {is_whole}, found empty: {is_emptied}");
        place.review.verify_invariants();
    }
}

/// As some agents tell of them: only when they are over, and one goes on with what another one has left. Looks come when
/// several are on the disk.
#[test]
fn edits_that_stand_in_one_another_are_all_explained_once_the_last_one_was_told_of() {
    let text = lines(30);
    let edits = [
        ("line 2\n", "put in\nline 2\n"),
        ("put in\nline 2\n", "put in\ntwo\n"),
        ("line 9\nline 10\n", "line 10\n"),
        ("line 10\n", "ten\n"),
        ("put in\ntwo\n", "two\n"),
    ];
    let states: Vec<String> = edits
        .iter()
        .scan(text.clone(), |text, (old, new)| {
            *text = text.replacen(old, new, 1);
            Some(text.clone())
        })
        .collect();
    for ahead in 1..4 {
        let mut place = Place::with(&[("f", text.as_bytes())]);
        place.begins_and_tells();
        let since = Instant::now();
        for (at, (old, new)) in edits.iter().enumerate() {
            place.write("f", &states[(at + ahead).min(states.len() - 1)]);
            let claims = vec![ClaimedEdit { path: place.at("f"), old: Some((*old).into()), new: (*new).into() }];
            place.hears_claim(ToolEffect::Edits, &["f"], claims, (since, true));
            place.entry += 1;
        }
        assert!(place.causes("f").iter().all(|by| *by == (Cause::Tool, false)), "{ahead}: {:?}", place.causes("f"));
        place.review.end_turn(1).unwrap();
        place.review.verify_invariants();
        place.review.act(&ReviewAction::Rewind { turn: 1 }).unwrap();
        assert_eq!(place.read("f"), text);
    }
}

/// No news is about what the person saves in a turn: a look that nothing set off tells it from what a call does later.
#[test]
fn what_was_saved_before_a_call_that_does_not_say_what_it_does_is_no_part_of_it() {
    let text = lines(9);
    let mut place = Place::with(&[("f", text.as_bytes())]);
    place.begins_and_tells();
    let saved = changed(&text, &[(2, "saved")]);
    place.write("f", &saved);
    assert!(place.review.look_late().unwrap());
    // The call is told of later than what it did, by as much as that may take.
    let (now, heard) = (SystemTime::now(), Instant::now() + SLACK);
    let both = changed(&saved, &[(7, "agent")]);
    while fs::symlink_metadata(place.at("f")).and_then(|f| f.modified()).unwrap() <= now {
        place.write("f", &both);
    }
    place.hears(ToolEffect::Edits, &["f"], heard, false);
    place.hears(ToolEffect::Edits, &["f"], heard, true);
    assert_eq!(place.causes("f"), [(Cause::Unknown, true), (Cause::Tool, false)]);
    place.review.end_turn(1).unwrap();
    place.review.act(&ReviewAction::Rewind { turn: 1 }).unwrap();
    assert_eq!(place.read("f"), saved);
    place.review.verify_invariants();
}

#[test]
fn what_a_look_finds_that_nothing_set_off_is_the_calls_that_is_told_of_only_at_its_end() {
    let mut place = Place::with(&[("f", b"one\n")]);
    place.begins_and_tells();
    place.write("f", "two\n");
    assert!(place.review.look_late().unwrap());
    assert_eq!(place.causes("f"), [(Cause::Unknown, true)]);
    place.hears(ToolEffect::Edits, &["f"], Instant::now() + EARLIER, true);
    assert_eq!(place.causes("f"), [(Cause::Tool, false)]);
    place.review.verify_invariants();
}

#[test]
fn what_a_call_does_not_say_in_the_end_was_somebody_elses() {
    let text = lines(9);
    for also in [&[][..], &[(5, "five")]] {
        let mut place = Place::with(&[("f", text.as_bytes())]);
        place.begins_and_tells();
        let since = Instant::now();
        let saved = changed(&text, also);
        place.write("f", &changed(&saved, &[(2, "agent")]));
        place.hears(ToolEffect::Edits, &["f"], since, false);
        assert_eq!(place.causes("f"), [(Cause::Tool, false)]);
        let claim = ClaimedEdit { path: place.at("f"), old: Some("line 2".into()), new: "agent".into() };
        place.hears_claim(ToolEffect::Edits, &["f"], vec![claim], (since, true));
        let its = (Cause::Tool, false);
        let expected = if also.is_empty() { vec![its] } else { vec![(Cause::Unknown, true), its] };
        assert_eq!(place.causes("f"), expected);
        place.review.verify_invariants();
        place.review.end_turn(1).unwrap();
        let mut place = place.reopen();
        assert_eq!(place.causes("f"), expected, "as the ledger has it");
        place.review.act(&ReviewAction::Rewind { turn: 1 }).unwrap();
        assert_eq!(place.read("f"), saved);
    }
}

#[test]
fn in_a_turn_everything_is_looked_at_now_and_then_but_while_a_command_runs() {
    let mut place = Place::with(&[("f", b"one\n")]);
    assert_eq!(place.review.late_look(), None);
    place.review.begin_turn(1).unwrap();
    assert_eq!(
        place.review.late_look(),
        None,
        "the agent has not told of anything: what is found now would be its doing"
    );
    place.tool_writes("other", "told\n");
    place.entry += 1;
    assert!(place.review.late_look().unwrap() <= Instant::now() + Duration::from_secs(2));
    place.review.pace.took = Duration::from_mins(1);
    assert!(
        place.review.late_look().unwrap() > Instant::now() + Duration::from_mins(40),
        "it takes little of the time"
    );
    place.review.pace.took = Duration::ZERO;
    place.hears(ToolEffect::Runs, &[], Instant::now(), false);
    assert_eq!(place.review.late_look(), None);
    place.hears(ToolEffect::Runs, &[], Instant::now(), true);
    assert!(place.review.late_look().is_some());
    place.review.end_turn(1).unwrap();
    assert_eq!(place.review.late_look(), None);
}

/// Looks come at any moment, also right after a program has emptied the file that it writes anew.
#[test]
fn what_a_command_writes_anew_is_one_change_wherever_a_look_comes() {
    let text = lines(30);
    let agents = changed(&text, &[(2, "agent")]);
    let both = changed(&agents, &[(20, "person")]);
    let all = changed(&both, &[(9, "command")]);
    let middles = ["", &all[..12]];
    for (middle, is_told) in middles.into_iter().flat_map(|middle| [(middle, false), (middle, true)]) {
        let mut place = Place::with(&[("f", text.as_bytes())]);
        place.turn(1, |place| place.tool_writes("f", &agents));
        place.write("f", &both);
        place.review.begin_turn(2).unwrap();
        place.tool_writes("other", "told\n");
        place.entry += 1;
        let since = Instant::now();
        if is_told {
            place.hears(ToolEffect::Runs, &[], since, false);
        }
        place.write("f", middle);
        place.look("f");
        place.hears(ToolEffect::Runs, &[], since, false);
        place.write("f", &all);
        place.hears(ToolEffect::Runs, &[], since, true);
        place.review.end_turn(2).unwrap();
        assert_eq!(place.causes("f").last(), Some(&(Cause::Command, false)), "{middle:?} {is_told}");
        place.review.verify_invariants();
        let mut place = place.reopen();
        place.review.act(&ReviewAction::Rewind { turn: 2 }).unwrap();
        assert_eq!(place.read("f"), both, "{middle:?} {is_told}");
        place.review.act(&ReviewAction::Rewind { turn: 1 }).unwrap();
        assert_eq!(place.read("f"), changed(&text, &[(20, "person")]), "{middle:?} {is_told}");
    }
}

/// Of a directory that a call has named which has just ended, what changes while a command runs is the command's, what
/// changes without one is in doubt.
#[test]
fn a_command_that_runs_is_asked_before_a_call_that_has_ended() {
    for runs in [true, false] {
        let mut place = Place::with(&[("src/a", b"a\n")]);
        place.begins_and_tells();
        let command = place.entry;
        if runs {
            place.hears(ToolEffect::Runs, &[], Instant::now(), false);
        }
        place.entry += 1;
        let names = ["src/a", "src/new"];
        let ended = loop {
            let before = Instant::now();
            for name in names {
                place.write(name, "of the agent\n");
            }
            if before.elapsed() < SLACK / 4 {
                break before.checked_sub(SLACK / 2).unwrap();
            }
        };
        let note = ToolNote {
            entry: EntryId(place.entry),
            turn: None,
            doing: ToolEffect::Edits,
            at: ended,
            since: ended,
            finished: true,
            waits: false,
            paths: vec![place.at("src")],
            claims: Vec::new(),
        };
        place.review.tool(&note).unwrap();
        for name in names {
            place.look(name);
            let wanted = if runs { (Cause::Command, false) } else { (Cause::Unknown, true) };
            assert_eq!(place.causes(name), [wanted], "{name}, {runs}");
            let by = place.review.log.history(Path::new(name)).unwrap().steps[0].entry;
            assert_eq!(by, runs.then_some(command), "{name}");
        }
        place.review.end_turn(1).unwrap();
        place.review.verify_invariants();
        place.review.act(&ReviewAction::Rewind { turn: 1 }).unwrap();
        assert_eq!(place.read("src/a"), if runs { "a\n" } else { "of the agent\n" });
        assert_eq!(place.at("src/new").exists(), !runs);
    }
}
