//! What holds of every review, after random histories of an agent, a person and their decisions.

use super::tests::Place;
use super::*;
use crate::model::changes::{FileDoc, HunkState, ReviewAction, Target, Verdict};
use crate::model::ids::{EntryId, ReqId};
use crate::review::decide::doc::Room;
use crate::review::protocol::Proposal;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::fs;

impl ReviewSession {
    /// Between any two calls, in a tree that can be read and written.
    pub(crate) fn verify_invariants(&mut self) {
        let Self { files, log, attribution, held, shown, totals, .. } = self;
        log.verify_invariants(files);
        attribution.verify_invariants(log.turns());
        held.verify_invariants(log.turns());
        assert!(files.snapshot.is_saved() && !files.snapshot.objects.is_gathering(), "not on the disk");
        for (path, history) in log.histories() {
            let seen = files.snapshot.known(path).unwrap_or_default();
            assert_eq!(seen, history.last(), "{}: the log and the snapshot disagree", path.display());
        }
        // Warm equals cold.
        let (warm, cold) = (totals.totals(log, files).unwrap(), TotalsCache::default().totals(log, files).unwrap());
        assert_eq!(warm, cold);
        for session in self.dir.sessions() {
            let turns = Turns::new(self.dir.sessions(), log.turns());
            let is_its = |turn| turns.is_of(turn, &session.id);
            let warm = totals.of_session((&session.id, turns.as_of()), is_its, log, files).unwrap();
            assert_eq!(warm, totals_where(is_its, log, files).unwrap().0, "{}", session.id);
        }
        for scope in log.turns().iter().map(|turn| Scope::Turn(*turn)).chain([Scope::Session]) {
            for room in [Room::SHOWN, Room { bytes: 900, hunks: 2, has_lines: true }, Room::OUTLINE] {
                let warm = shown.files((scope, room), log, held, files).unwrap();
                let cold = ShownDocs::default().files((scope, room), log, held, files).unwrap();
                assert_eq!(warm, cold, "{scope:?} {room:?}");
            }
            // One by one it is the same, but for the lines.
            let mut all = ShownDocs::default().files((scope, Room::SHOWN), log, held, files).unwrap().into_iter();
            let (mut totals, mut cold) = (Totals::default(), ShownDocs::default());
            cold.each(scope, log, held, files, |one, _| {
                let whole = all.next().unwrap();
                let sums = |file: &FileDoc| -> Vec<_> {
                    file.hunks.iter().map(|h| (h.id, h.state, h.cause, h.turn, h.added, h.removed)).collect()
                };
                assert_eq!((&one.path, one.change, sums(one)), (&whole.path, whole.change, sums(&whole)));
                assert!(one.hunks.iter().all(|hunk| hunk.lines.is_empty()));
                totals.added += one.added;
                totals.removed += one.removed;
                totals.files += 1;
                totals.pending += one.pending() as u64;
                Ok(())
            })
            .unwrap();
            assert!(all.next().is_none());
            assert_eq!(cold.totals(scope, log, held, files).unwrap(), totals, "{scope:?}");
        }
        // What is decided is not pending, and what is seen for the first time has not been decided.
        let warm = shown.files((Scope::Pending, Room::SHOWN), log, held, files).unwrap();
        for file in warm.iter().filter(|file| file.held.is_none()) {
            let history = log.history(&file.path).unwrap();
            let is_decided = history.accepted == history.last();
            assert!(!is_decided || file.renamed_from.is_some() || file.pending() == 0, "{file:?}");
        }
        for file in ShownDocs::default().files((Scope::Pending, Room::SHOWN), log, held, files).unwrap() {
            assert!(file.held.is_some() || file.hunks.iter().all(|h| h.state == HunkState::Pending), "{file:?}");
        }
        // All that waits is in sight.
        for path in held.newest_first().map(|held| held.path.clone()).collect::<BTreeSet<_>>() {
            let first = held.newest_first().filter(|held| held.path == path).last().map(|held| held.req);
            let file = warm.iter().find(|file| file.path == path).unwrap();
            assert_eq!(file.held, first, "{}: another write is to be decided", path.display());
        }
    }

    /// All that a review knows which can be read again.
    fn recorded(&self) -> String {
        let log = (self.log.histories(), self.log.undo_log(), self.log.turns());
        format!("{log:?} {:?}", self.dir.sessions())
    }
}

const NAMES: [&str; 3] = ["f", "g", "sub/h"];

#[derive(Clone, Copy, Debug)]
enum Who {
    Client,
    Tool,
    /// A call of which nobody has told when a look comes.
    LateTool,
    Command,
    Person,
}

#[derive(Clone, Copy, Debug)]
enum What {
    /// One line, the number of its text.
    Line(usize, u8),
    Remove,
    Move(usize),
    Mode(bool),
}

#[derive(Clone, Copy, Debug)]
enum Of {
    All,
    File,
    Hunk(usize),
}

#[derive(Clone, Debug)]
enum Step {
    Changes(Who, usize, What),
    /// At most two turns run at a time.
    Begins,
    Ends,
    Holds(usize, u8, bool),
    Answers(Verdict),
    LetsGo,
    Decides(Of, usize, Verdict),
    Undoes,
    Redoes,
    Rewinds(u64, bool),
    Looks,
    Leaves,
    Restarts,
}

fn step() -> impl Strategy<Value = Step> {
    let who =
        prop_oneof![Just(Who::Client), Just(Who::Tool), Just(Who::LateTool), Just(Who::Command), Just(Who::Person)];
    let what = prop_oneof![
        6 => (0..12_usize, 0..6_u8).prop_map(|(line, text)| What::Line(line, text)),
        1 => Just(What::Remove),
        1 => (0..3_usize).prop_map(What::Move),
        1 => any::<bool>().prop_map(What::Mode),
    ];
    let of = prop_oneof![Just(Of::All), Just(Of::File), (0..4_usize).prop_map(Of::Hunk)];
    let verdict = || prop_oneof![Just(Verdict::Accept), Just(Verdict::Reject)];
    prop_oneof![
        12 => (who, 0..3_usize, what).prop_map(|(who, file, what)| Step::Changes(who, file, what)),
        3 => Just(Step::Begins),
        2 => Just(Step::Ends),
        2 => (0..3_usize, 0..6_u8, any::<bool>()).prop_map(|(file, text, asked)| Step::Holds(file, text, asked)),
        2 => verdict().prop_map(Step::Answers),
        1 => Just(Step::LetsGo),
        5 => (of, 0..3_usize, verdict()).prop_map(|(of, file, verdict)| Step::Decides(of, file, verdict)),
        3 => Just(Step::Undoes),
        2 => Just(Step::Redoes),
        1 => (0..4_u64, any::<bool>()).prop_map(|(turn, preview)| Step::Rewinds(turn, preview)),
        1 => Just(Step::Looks),
        1 => Just(Step::Leaves),
        1 => Just(Step::Restarts),
    ]
}

struct World {
    place: Option<Place>,
    open: Vec<u64>,
    newest: u64,
    asked: u64,
    waiting: Vec<ReqId>,
}

impl World {
    fn new() -> Self {
        let text = super::tests::lines(12);
        let place = Place::with(&[("f", text.as_bytes()), ("g", b"one\ntwo\n"), ("sub/other", b"o\n")]);
        Self { place: Some(place), open: Vec::new(), newest: 0, asked: 0, waiting: Vec::new() }
    }

    fn place(&mut self) -> &mut Place {
        self.place.as_mut().unwrap()
    }

    fn does(&mut self, step: &Step) {
        match *step {
            Step::Changes(who, file, what) => self.changes(who, NAMES[file], what),
            Step::Begins if self.open.len() < 2 => {
                self.newest += 1;
                let turn = self.newest;
                self.open.push(turn);
                self.place().review.begin_turn(turn).unwrap();
            }
            Step::Begins => {}
            Step::Ends => {
                if !self.open.is_empty() {
                    let turn = self.open.remove(0);
                    self.place().review.end_turn(turn).unwrap();
                }
            }
            Step::Holds(file, text, asked) => self.holds(NAMES[file], text, asked),
            Step::Answers(verdict) => {
                if let Some(req) = self.waiting.first().copied() {
                    may_be_refused(self.place().review.decide_write(req, verdict));
                    self.is_released();
                }
            }
            Step::LetsGo => {
                if let Some(req) = self.waiting.pop() {
                    self.place().review.let_go(req);
                }
            }
            Step::Decides(of, file, verdict) => {
                let target = match of {
                    Of::All => Target::All,
                    Of::File => Target::File(NAMES[file].into()),
                    Of::Hunk(number) => match self.place().pending().get(number) {
                        Some((path, id)) => Target::Hunk(path.clone(), *id),
                        None => return,
                    },
                };
                may_be_refused(self.place().decide(target, verdict));
                self.is_released();
            }
            Step::Undoes => may_be_refused(self.place().review.act(&ReviewAction::Undo)),
            Step::Redoes => may_be_refused(self.place().review.act(&ReviewAction::Redo)),
            Step::Rewinds(turn, true) => may_be_refused(self.place().review.act(&ReviewAction::PreviewRewind { turn })),
            Step::Rewinds(turn, false) => may_be_refused(self.place().review.act(&ReviewAction::Rewind { turn })),
            Step::Looks => drop(self.place().doc(Scope::Pending)),
            Step::Leaves => self.place().review.stop_looking(),
            Step::Restarts => self.restarts(),
        }
    }

    fn changes(&mut self, who: Who, name: &str, what: What) {
        let place = self.place();
        let before = fs::read_to_string(place.at(name)).unwrap_or_default();
        let text = match what {
            What::Line(line, text) => with_line(&before, line, &format!("text {text}")),
            _ => before.clone(),
        };
        let path = place.at(name);
        let does = |place: &Place| match what {
            What::Line(..) => place.write(name, &text),
            What::Remove => drop(fs::remove_file(&path)),
            What::Move(to) => drop(fs::rename(&path, place.at(NAMES[to]))),
            What::Mode(executable) => drop(fs::set_permissions(&path, mode(executable))),
        };
        match (who, what) {
            (Who::Person, _) => does(place),
            (Who::Client, What::Line(..)) => place.client_writes(name, &text),
            (Who::Client | Who::Command, _) => place.command(does),
            (Who::Tool, _) => place.tool_does(name, does),
            (Who::LateTool, _) => {
                does(place);
                place.look(name);
                place.tool_does(name, |_| ());
            }
        }
    }

    fn holds(&mut self, name: &str, text: u8, asked: bool) {
        self.asked += 1;
        let (req, entry) = (ReqId(self.asked), EntryId(1000 + self.asked));
        let place = self.place();
        let path = place.at(name);
        let content = with_line(&fs::read_to_string(&path).unwrap_or_default(), usize::from(text), "held");
        let proposal = Proposal { req, entry, turn: None, path, asked };
        if place.review.hold(&proposal, &content).unwrap() {
            self.waiting.push(req);
        }
    }

    /// Writes what is decided of those that wait.
    fn is_released(&mut self) {
        for req in self.waiting.clone() {
            let released = self.place().review.released(req);
            let is_over = !matches!(released, Ok(None | Some(crate::review::protocol::Released::Again { .. })));
            may_be_refused(released);
            if is_over {
                self.waiting.retain(|waits| *waits != req);
            }
        }
    }

    /// What waits goes with the agent; turns have ended by then, so that nothing is looked at.
    fn restarts(&mut self) {
        for turn in std::mem::take(&mut self.open) {
            self.place().review.end_turn(turn).unwrap();
        }
        for req in std::mem::take(&mut self.waiting) {
            self.place().review.let_go(req);
        }
        let before = self.place().review.recorded();
        self.place = self.place.take().map(Place::reopen);
        assert_eq!(self.place().review.recorded(), before);
    }
}

fn with_line(text: &str, at: usize, line: &str) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    match lines.len() {
        0 => lines.push(line),
        len => lines[at % len] = line,
    }
    lines.join("\n") + "\n"
}

/// A decision need not be possible, but nothing else may come in its way.
fn may_be_refused<T>(done: Result<T, ReviewError>) {
    match done.map(drop) {
        Ok(()) | Err(ReviewError::Refused(_) | ReviewError::Conflict { .. } | ReviewError::Moved(_)) => {}
        Err(error) => panic!("{error}"),
    }
}

fn mode(executable: bool) -> fs::Permissions {
    use std::os::unix::fs::PermissionsExt as _;
    fs::Permissions::from_mode(if executable { 0o755 } else { 0o644 })
}

fn check(steps: &[Step]) {
    let mut world = World::new();
    for step in steps {
        world.does(step);
        world.place().review.verify_invariants();
    }
}

proptest! {
    #![proptest_config(crate::random(12))]
    #[test]
    fn every_invariant_holds_after_each_step_of_a_random_history(steps in prop::collection::vec(step(), 1..60)) {
        check(&steps);
    }
}

fn turn_with_a_line(world: &mut World) {
    for step in [Step::Begins, Step::Changes(Who::Tool, 0, What::Line(0, 1)), Step::Ends] {
        world.does(&step);
    }
}

/// Found by it: the write was put over the person's edit, which no look had found by then and which was taken for the
/// agent's.
#[test]
fn what_the_person_saves_while_a_write_waits_is_the_persons_when_it_is_let_through() {
    let mut world = World::new();
    turn_with_a_line(&mut world);
    let steps = [
        Step::Begins,
        Step::Holds(0, 3, true),
        Step::Ends,
        Step::Changes(Who::Person, 0, What::Line(9, 2)),
        Step::Answers(Verdict::Accept),
    ];
    for step in steps {
        world.does(&step);
        world.place().review.verify_invariants();
    }
    assert!(world.place().read("f").contains("text 2"));
    let history = world.place().review.log.history(Path::new("f")).unwrap();
    assert!(history.steps.iter().any(|step| step.cause == crate::model::changes::Cause::Person), "{history:?}");
}

/// Found by it: of two held writes of the same content the second was one that changes nothing.
#[test]
fn a_held_write_of_what_another_has_written_meanwhile_is_no_change() {
    let mut world = World::new();
    let holds = || Step::Holds(1, 2, false);
    let client = |file| Step::Changes(Who::Client, file, What::Line(file, 0));
    for step in [holds(), client(1), holds(), Step::Decides(Of::All, 0, Verdict::Accept), client(0)] {
        world.does(&step);
        world.place().review.verify_invariants();
    }
}

/// Found by it: the end of a turn counted as the beginning of one.
#[test]
fn a_decision_of_a_turn_that_has_ended_is_after_a_restart_what_it_was() {
    let mut world = World::new();
    world.does(&Step::Begins);
    world.does(&Step::Changes(Who::Tool, 0, What::Line(0, 1)));
    world.does(&Step::Rewinds(1, false));
    world.does(&Step::Restarts);
}

/// Found by it: what was rejected of a held write counted as written when a plain answer decided the rest.
#[test]
fn an_answer_after_parts_were_decided_in_the_review_writes_what_was_chosen() {
    let mut world = World::new();
    let client = |what| Step::Changes(Who::Client, 0, what);
    let steps = [
        client(What::Mode(true)),
        Step::Holds(0, 0, true),
        client(What::Remove),
        client(What::Line(0, 0)),
        client(What::Line(0, 0)),
        Step::Answers(Verdict::Accept),
        Step::Decides(Of::Hunk(0), 0, Verdict::Reject),
        Step::Answers(Verdict::Accept),
    ];
    for step in steps {
        world.does(&step);
        world.place().review.verify_invariants();
    }
    assert_eq!(world.place().read("f"), "text 0\n");
}
