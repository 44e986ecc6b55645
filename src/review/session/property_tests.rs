//! Random histories of an agent and a person in one file: nothing of the person's is lost.
//!
//! Every line is unique, so that it is certain whose it is. The person leaves the agent's lines alone here; what
//! happens otherwise is a conflict, and tested by itself.

use super::tests::Place;
use crate::model::changes::{ReviewAction, RewindOutcome, Scope, Target, Verdict};
use proptest::prelude::*;

#[derive(Clone, Copy, Debug)]
enum Who {
    /// Through the client.
    Client,
    /// A tool call that names the file.
    Tool,
    Command,
    /// Between turns.
    Person,
    /// In a turn, when no tool call runs: without attribution.
    PersonMeanwhile,
}

#[derive(Clone, Copy, Debug)]
enum What {
    Replace,
    Delete,
    Insert,
}

#[derive(Clone, Debug)]
struct Op {
    who: Who,
    what: What,
    /// Where, as a share of the lines.
    at: u16,
    new_turn: bool,
}

fn op() -> impl Strategy<Value = Op> {
    let who = prop_oneof![
        Just(Who::Client),
        Just(Who::Tool),
        Just(Who::Tool),
        Just(Who::Command),
        Just(Who::Person),
        Just(Who::Person),
        Just(Who::PersonMeanwhile),
    ];
    let what = prop_oneof![Just(What::Replace), Just(What::Delete), Just(What::Insert)];
    (who, what, any::<u16>(), prop::bool::weighted(0.4)).prop_map(|(who, what, at, new_turn)| Op {
        who,
        what,
        at,
        new_turn,
    })
}

#[derive(Clone, PartialEq, Debug)]
struct Line {
    text: String,
    agents: bool,
}

/// What is on the disk, and what it would be without the agent.
struct World {
    disk: Vec<Line>,
    person: Vec<String>,
    next: usize,
}

impl World {
    fn new(lines: usize) -> Self {
        let person: Vec<String> = (0..lines).map(|n| format!("original {n}")).collect();
        let disk = person.iter().map(|text| Line { text: text.clone(), agents: false }).collect();
        Self { disk, person, next: 0 }
    }

    fn text<'a>(lines: impl Iterator<Item = &'a str>) -> String {
        lines.flat_map(|line| [line, "\n"]).collect()
    }

    fn disk(&self) -> String {
        Self::text(self.disk.iter().map(|line| line.text.as_str()))
    }

    fn person(&self) -> String {
        Self::text(self.person.iter().map(String::as_str))
    }

    fn fresh(&mut self, who: &str) -> String {
        self.next += 1;
        format!("{who} {}", self.next)
    }

    fn agent(&mut self, what: What, at: u16) {
        let text = self.fresh("agent");
        let at = usize::from(at) % (self.disk.len() + 1);
        match what {
            What::Insert => self.disk.insert(at, Line { text, agents: true }),
            What::Replace if at < self.disk.len() => self.disk[at] = Line { text, agents: true },
            What::Delete if at < self.disk.len() => drop(self.disk.remove(at)),
            What::Replace | What::Delete => {}
        }
    }

    /// Whether the person's line there has its own lines around it, so that it is clear where theirs belongs.
    fn place(&self, at: usize) -> Option<usize> {
        let own = |n: usize| self.disk.get(n).filter(|line| !line.agents);
        let line = own(at)?;
        let found = self.person.iter().position(|text| *text == line.text)?;
        let before =
            at == 0 && found == 0 || own(at.checked_sub(1)?)?.text == *self.person.get(found.checked_sub(1)?)?;
        let after = match (own(at + 1), self.person.get(found + 1)) {
            (Some(line), Some(text)) => line.text == *text,
            (None, None) => at + 1 == self.disk.len(),
            _ => false,
        };
        (before && after).then_some(found)
    }

    /// Whether something was done.
    fn persons(&mut self, what: What, at: u16) -> bool {
        let at = usize::from(at) % (self.disk.len() + 1);
        let Some(found) = self.place(at) else { return false };
        let text = self.fresh("person");
        let line = Line { text: text.clone(), agents: false };
        match what {
            What::Replace => {
                self.disk[at] = line;
                self.person[found] = text;
            }
            What::Delete => {
                self.disk.remove(at);
                self.person.remove(found);
            }
            What::Insert => {
                self.disk.insert(at, line);
                self.person.insert(found, text);
            }
        }
        true
    }
}

fn play(ops: &[Op]) -> (Place, World) {
    let mut world = World::new(12);
    let mut place = Place::with(&[("f", world.disk().as_bytes())]);
    let mut turn = 1;
    place.review.begin_turn(turn).unwrap();
    // So that it is an agent that says what it does.
    place.tool_writes("other", "said\n");
    for op in ops {
        if op.new_turn || matches!(op.who, Who::Person) {
            place.review.end_turn(turn).unwrap();
            if matches!(op.who, Who::Person) && world.persons(op.what, op.at) {
                place.write("f", &world.disk());
            }
            turn += 1;
            place.review.begin_turn(turn).unwrap();
            place.tool_writes("other", &format!("said {turn}\n"));
        }
        match op.who {
            Who::Person => {}
            Who::PersonMeanwhile => {
                if world.persons(op.what, op.at) {
                    place.write("f", &world.disk());
                }
            }
            Who::Client => {
                world.agent(op.what, op.at);
                place.client_writes("f", &world.disk());
            }
            Who::Tool => {
                place.look("f");
                world.agent(op.what, op.at);
                place.tool_writes("f", &world.disk());
            }
            Who::Command => {
                // What was seen before it began is not its doing.
                place.look("f");
                world.agent(op.what, op.at);
                place.command(|p| p.write("f", &world.disk()));
            }
        }
    }
    place.review.end_turn(turn).unwrap();
    (place, world)
}

/// Plays a history and looks at what rewinding, rejecting and accepting it all leaves.
fn check(ops: &[Op], reopened: bool) {
    let (mut place, world) = play(ops);
    if reopened {
        place = place.reopen();
    }
    assert_eq!(place.read("f"), world.disk());
    // Undoing every turn leaves what the person wrote, or the file alone, and says so.
    let done = place.act(ReviewAction::Rewind { turn: 1 });
    match done.rewound.iter().find(|r| r.path.as_os_str() == "f").map(|r| r.outcome) {
        Some(RewindOutcome::Conflict) => assert_eq!(place.read("f"), world.disk()),
        _ => assert_eq!(place.read("f"), world.person()),
    }
    place.act(ReviewAction::Undo);
    assert_eq!(place.read("f"), world.disk());
    // Rejecting everything leaves at least what the person wrote, and nothing of the agent's that was decided.
    let before = place.pending();
    let done = place.decide(Target::All, Verdict::Reject);
    assert!(done.is_ok(), "{:?}", done);
    let left = place.doc(Scope::Pending);
    let open = left.files.iter().filter(|f| f.path.as_os_str() == "f").map(|f| f.pending()).sum::<usize>();
    if open == 0 {
        assert_eq!(place.read("f"), world.person());
    }
    for line in world.disk.iter().filter(|line| !line.agents) {
        assert!(place.read("f").contains(&line.text), "{} is lost", line.text);
    }
    if done.is_ok_and(|d| !d.words.starts_with("rejected 0")) {
        place.act(ReviewAction::Undo);
    }
    assert_eq!(place.read("f"), world.disk());
    assert_eq!(place.pending(), before);
    // Accepting everything leaves the disk alone.
    place.decide(Target::All, Verdict::Accept).unwrap();
    assert_eq!(place.read("f"), world.disk());
    assert!(place.pending().is_empty());
}

proptest! {
    #![proptest_config(crate::random(30))]
    #[test]
    fn nothing_of_the_persons_is_lost(ops in prop::collection::vec(op(), 1..14), reopened in any::<bool>()) {
        check(&ops, reopened);
    }
}

/// Found by it: what the person put in the place of other lines, in doubt, and the agent overwrote.
#[test]
fn lines_in_doubt_come_back_in_the_place_of_what_they_replaced() {
    use What::{Insert, Replace};
    use Who::{Client, PersonMeanwhile};
    let ops = [
        (Client, Insert, 48948),
        (PersonMeanwhile, Replace, 39732),
        (PersonMeanwhile, Replace, 99),
        (Client, Replace, 2592),
        (Client, Replace, 1),
        (Client, Replace, 1),
        (Client, Replace, 1),
        (Client, Replace, 14057),
    ];
    check(&ops.map(|(who, what, at)| Op { who, what, at, new_turn: false }), false);
}

/// Found by it: what the person put there in a turn, and the agent took away, so that the file is as it was.
#[test]
fn a_line_in_doubt_that_the_agent_took_away_comes_back() {
    let inserted = Op { who: Who::PersonMeanwhile, what: What::Insert, at: 33111, new_turn: false };
    let deleted = Op { who: Who::Client, what: What::Delete, at: 21784, new_turn: false };
    check(&[inserted, deleted], false);
}
