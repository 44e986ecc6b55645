//! A terminal behind a link that takes 4 kB a second, and needs 100 ms there and back: what is under way is counted.

use crate::support::app::{Agent, Person, play_where};
use acp_tui::ui::keys::{Code, Key};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::time::Duration;

const SIZE: (u16, u16) = (80, 24);
const TICK: Duration = Duration::from_millis(5);
/// Bytes that the link takes in a tick.
const RATE: usize = 20;
/// Ticks that the way there and back takes.
const WAY: usize = 20;
/// What the link takes in 0.3 s.
const SOON: usize = 1200;

/// Says three hundred pieces a second, until it is stopped.
async fn streams(mut agent: Agent) {
    agent.opens().await;
    let prompt = agent.called("session/prompt").await;
    for n in 0..1500 {
        agent.says(&format!("word number {n} of a long answer, ")).await;
        if n % 40 == 39 {
            agent.says("\n\n").await;
        }
        agent.thinks(Duration::from_micros(3300)).await;
    }
    agent.ends(&prompt, "end_turn").await;
    agent.stays().await;
}

/// What is on the way.
#[derive(Default)]
struct Link {
    carried: Cell<usize>,
    /// The most that was behind the first bytes of the turn.
    most: Cell<usize>,
    counts: Cell<bool>,
    ends: Cell<bool>,
}

impl Link {
    fn under_way(&self, person: &Person) -> usize {
        person.glass.bytes() - self.carried.get()
    }

    /// Carries what is drawn, and says when it has arrived, or does not.
    async fn carries(&self, person: &Person, answers: bool) {
        let (mut known, coming) = (0, RefCell::new(VecDeque::new()));
        for tick in 0.. {
            if self.ends.get() {
                break;
            }
            self.carried.set((self.carried.get() + RATE).min(person.glass.bytes()));
            let asked = person.glass.asked();
            while asked.get(known).is_some_and(|behind| *behind <= self.carried.get()) {
                known += 1;
                coming.borrow_mut().push_back(tick + WAY);
            }
            while coming.borrow().front().is_some_and(|due| *due <= tick) {
                coming.borrow_mut().pop_front();
                if answers {
                    person.has_it().await;
                }
            }
            if self.counts.get() {
                self.most.set(self.most.get().max(self.under_way(person)));
            }
            person.pass(TICK).await;
        }
    }
}

/// Types while the agent speaks. Gives the most bytes that were under way, and the most that lay before a letter was seen.
async fn types_into(is_inline: bool, answers: bool) -> (usize, usize) {
    let found = Cell::new((0, 0));
    let person = async |person: Person| {
        let link = Link::default();
        let types = async {
            person.sees("write a request, Enter sends it").await;
            person.pass(Duration::from_secs(2)).await;
            person.prompts("go").await;
            person.sees("word number 60").await;
            person.pass(Duration::from_secs(1)).await;
            link.counts.set(true);
            let (mut before, mut text) = (0, String::from("❯ "));
            for letter in "letters typed while it speaks".chars() {
                let carried = link.carried.get();
                person.types(&letter.to_string()).await;
                text.push(letter);
                person.sees(text.trim_end()).await;
                before = before.max(person.glass.bytes() - carried);
                person.pass(Duration::from_millis(130)).await;
            }
            found.set((link.most.get(), before));
            link.counts.set(false);
            // All of it comes once the agent is silent.
            person
                .waits_for("the end", |screen| screen.contains("word number 1499") && screen.contains("Enter sends"))
                .await;
            person.press(Key::ctrl(Code::Char('c'))).await;
            person.pass(Duration::from_secs(1)).await;
            person.quits().await;
            link.ends.set(true);
        };
        tokio::join!(types, link.carries(&person, answers));
    };
    play_where(is_inline, SIZE, streams, person).await;
    found.get()
}

#[tokio::test(start_paused = true)]
async fn what_is_typed_while_it_streams_has_little_before_it() {
    let (most, before) = types_into(false, true).await;
    assert!(before <= SOON, "{before} bytes lay before a letter");
    assert!(most <= 2 * SOON, "{most} bytes were under way");
}

#[tokio::test(start_paused = true)]
async fn what_is_typed_while_it_streams_inline_has_little_before_it() {
    let (most, before) = types_into(true, true).await;
    assert!(before <= SOON, "{before} bytes lay before a letter");
    assert!(most <= 2 * SOON, "{most} bytes were under way");
}

#[tokio::test(start_paused = true)]
async fn a_terminal_that_does_not_answer_is_drawn_as_ever() {
    let (most, _) = types_into(false, false).await;
    assert!(most > 10 * SOON, "nothing is held back: {most}");
}
