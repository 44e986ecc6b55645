//! When to draw: requests for a frame become one deadline.
//!
//! Pure: it is told the time and says when it wants to be woken; it neither draws nor sleeps. Invariant: with
//! nothing asked for and nothing moving there is no deadline at all, so an idle screen never wakes up.

use crate::model::ids::Now;
use std::time::Duration;

/// Output of the agent is drawn at most this often.
pub const FRAME: Duration = Duration::from_micros(16_600);
/// One step of the spinner.
pub const SPINNER: Duration = Duration::from_millis(100);
/// Ends of turns that come closer than this share frames like all output: a version-2 agent says by itself when a turn ends.
const TURN_ENDS: Duration = Duration::from_millis(250);
const SECOND: Duration = Duration::from_secs(1);

/// How soon a change has to be seen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Urgency {
    /// The person did something.
    AtOnce,
    /// Something else changed; several changes share a frame.
    NextFrame,
    /// A turn ended: nothing is likely to follow that could share its frame. At once, as long as turns do not end one upon another.
    TurnEnd,
}

/// What goes on changing on the screen by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Motion {
    #[default]
    Still,
    /// A time is shown that counts seconds.
    Clock,
    /// A spinner is visible.
    Spinner,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Frames {
    last: Option<Now>,
    deadline: Option<Now>,
    turn_end: Option<Now>,
    presses: bool,
}

impl Frames {
    /// Something changed.
    pub fn want(&mut self, urgency: Urgency, now: Now) {
        self.presses |= urgency == Urgency::AtOnce;
        let before = if urgency == Urgency::TurnEnd { self.turn_end.replace(now) } else { None };
        let shares = match urgency {
            Urgency::AtOnce => false,
            Urgency::NextFrame => true,
            Urgency::TurnEnd => before.is_some_and(|before| now < before.saturating_add(TURN_ENDS)),
        };
        let at = match self.last {
            Some(last) if shares => now.max(last.saturating_add(FRAME)),
            _ => now,
        };
        self.want_at(at);
    }

    /// Something will change at a known time (a message goes away).
    pub fn want_at(&mut self, at: Now) {
        self.deadline = Some(self.deadline.map_or(at, |d| d.min(at)));
    }

    /// When to wake up for the next frame; `None` means never.
    pub fn deadline(&self) -> Option<Now> {
        self.deadline
    }

    /// Whether the next frame shows what the person did.
    pub fn presses(&self) -> bool {
        self.presses
    }

    pub fn is_due(&self, now: Now) -> bool {
        self.deadline.is_some_and(|d| d <= now)
    }

    /// A frame was drawn; `motion` is what it showed.
    pub fn drawn(&mut self, motion: Motion, now: Now) {
        self.last = Some(now);
        self.presses = false;
        self.deadline = match motion {
            Motion::Still => None,
            Motion::Clock => Some(next_multiple(now, SECOND)),
            Motion::Spinner => Some(next_multiple(now, SPINNER)),
        };
    }
}

/// The first multiple of `step` after `now`.
fn next_multiple(now: Now, step: Duration) -> Now {
    let step = step.as_nanos().max(1);
    let next = (now.as_nanos() / step + 1) * step;
    Duration::from_nanos(u64::try_from(next).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    #[test]
    fn idle_has_no_deadline() {
        let mut frames = Frames::default();
        assert_eq!(frames.deadline(), None);
        frames.want(Urgency::NextFrame, ms(5));
        assert!(frames.is_due(ms(5)), "the first frame waits for nothing");
        frames.drawn(Motion::Still, ms(5));
        assert_eq!(frames.deadline(), None);
        assert!(!frames.is_due(ms(100_000)));
    }

    #[test]
    fn output_shares_frames_and_keys_do_not_wait() {
        let mut frames = Frames::default();
        frames.drawn(Motion::Still, ms(100));
        frames.want(Urgency::NextFrame, ms(101));
        frames.want(Urgency::NextFrame, ms(110));
        assert_eq!(frames.deadline(), Some(ms(100) + FRAME));
        assert!(!frames.is_due(ms(110)));
        frames.want(Urgency::AtOnce, ms(111));
        assert!(frames.is_due(ms(111)));
    }

    #[test]
    fn output_after_a_pause_is_drawn_at_once() {
        let mut frames = Frames::default();
        frames.drawn(Motion::Still, ms(100));
        frames.want(Urgency::NextFrame, ms(500));
        assert!(frames.is_due(ms(500)));
    }

    #[test]
    fn the_end_of_a_turn_does_not_wait_unless_turns_end_one_upon_another() {
        let mut frames = Frames::default();
        frames.drawn(Motion::Still, ms(100));
        frames.want(Urgency::TurnEnd, ms(101));
        assert!(frames.is_due(ms(101)));
        frames.drawn(Motion::Still, ms(101));
        frames.want(Urgency::TurnEnd, ms(102));
        assert_eq!(frames.deadline(), Some(ms(101) + FRAME), "such ends share a frame");
        frames.drawn(Motion::Still, ms(900));
        frames.want(Urgency::TurnEnd, ms(901));
        assert!(frames.is_due(ms(901)), "a turn of its own again");
    }

    #[test]
    fn clocks_tick_on_the_second_and_spinners_on_the_tenth() {
        let mut frames = Frames::default();
        frames.drawn(Motion::Clock, ms(1234));
        assert_eq!(frames.deadline(), Some(ms(2000)));
        frames.drawn(Motion::Spinner, ms(1234));
        assert_eq!(frames.deadline(), Some(ms(1300)));
        frames.drawn(Motion::Clock, ms(2000));
        assert_eq!(frames.deadline(), Some(ms(3000)));
        frames.drawn(Motion::Still, ms(2001));
        assert_eq!(frames.deadline(), None);
    }
}
