//! How much may be on its way to the terminal: frames wait for the link instead of standing in a queue before it.
//!
//! Behind a frame the terminal is asked whether it is there (DSR 5). What its answer covers has arrived, and how long it took
//! tells what the link takes in a short time: no more than that is under way. Where answers come at once, one in half a
//! second of drawing is asked for and nothing waits; a terminal that never answers is never waited for. A multiplexer answers
//! for itself: the link behind it is not seen.
//!
//! Pure: it is told the time, and how much was written. Invariants: where something waits, an answer is on its way that
//! ends it, or a time that does; with nothing drawn nothing is asked.

use crate::model::ids::Now;
use std::time::Duration;

/// An answer that took no longer costs nobody anything.
const QUICK: Duration = Duration::from_millis(50);
/// How long what is drawn may stand in the queue before the link.
const QUEUE: Duration = Duration::from_millis(100);
/// No way is taken for longer: more would be under way than the person wants to wait for.
const LONGEST_WAY: Duration = Duration::from_millis(200);
/// How often a link that was quick is asked while something is drawn.
const SELDOM: Duration = Duration::from_millis(500);
/// An answer that has not come by then is lost.
const LOST: Duration = Duration::from_secs(5);
/// After so many lost answers in a row nothing is asked any more.
const MOST_LOST: u8 = 2;
/// So few bytes take no time: their answer tells how long the way is.
const FEW: u64 = 64;
/// What may be under way over a link of which only that it is slow is known, and at least over any.
const UNSURE: u64 = 1024;
const LEAST: u64 = 512;

/// Whether a frame may be drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Leave {
    Whole,
    /// With about so many bytes; what is left is for the next one.
    AtMost(usize),
    /// Until an answer comes, at the latest until then.
    Wait(Now),
}

/// Asked, and not answered yet.
#[derive(Clone, Copy, Debug)]
struct Asked {
    at: Now,
    /// What had been written by then.
    written: u64,
    /// When the first was written of what the answer covers.
    since: Now,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Pace {
    written: u64,
    arrived: u64,
    asked: Option<Asked>,
    last_asked: Option<Now>,
    /// When the first was written that nothing asked covers.
    since: Option<Now>,
    /// There and back, with nothing before it in the queue.
    way: Option<Duration>,
    /// What may be under way; none where answers come at once.
    window: Option<u64>,
    has_answered: bool,
    lost: u8,
}

impl Pace {
    /// Nothing has been drawn yet: the terminal is asked, so that its answer tells how long the way is.
    pub fn begin(&mut self, now: Now) {
        self.asked = Some(Asked { at: now, written: self.written, since: now });
        self.last_asked = Some(now);
    }

    /// What may be drawn now; `presses` when it shows what the person did.
    pub fn leave(&mut self, presses: bool, now: Now) -> Leave {
        if !self.has_answered {
            return Leave::Whole;
        }
        self.lose_late(now);
        let lost_at = self.asked.map(|asked| asked.at.saturating_add(LOST));
        let waits_long = self.asked.is_some_and(|asked| now.saturating_sub(asked.at) > QUICK);
        let Some(window) = self.window.or_else(|| waits_long.then_some(UNSURE)) else { return Leave::Whole };
        let under_way = self.written - self.arrived;
        let room = window.saturating_sub(under_way);
        let may = if presses { under_way < window * 2 } else { room >= window / 2 };
        match lost_at {
            Some(until) if !may => Leave::Wait(until),
            _ => Leave::AtMost(usize::try_from(room.max(window / 4)).unwrap_or(usize::MAX)),
        }
    }

    /// So many bytes have been written in all. Whether the terminal is to be asked now.
    #[must_use]
    pub fn wrote(&mut self, bytes: u64, now: Now) -> bool {
        if bytes > self.written {
            self.since.get_or_insert(now);
            self.written = bytes;
        }
        self.lose_late(now);
        let is_seldom = self.last_asked.is_none_or(|last| now >= last.saturating_add(SELDOM));
        let asks = self.asked.is_none()
            && self.lost < MOST_LOST
            && self.written > self.arrived
            && (is_seldom || self.window.is_some());
        if asks {
            self.asked = Some(Asked { at: now, written: self.written, since: self.since.take().unwrap_or(now) });
            self.last_asked = Some(now);
        }
        asks
    }

    /// An answer has come. Whether the terminal is to be asked again, for what was written meanwhile.
    #[must_use]
    pub fn arrived(&mut self, now: Now) -> bool {
        let Some(asked) = self.asked.take() else { return false };
        let bytes = asked.written - self.arrived;
        self.arrived = asked.written;
        (self.has_answered, self.lost) = (true, 0);
        self.measure(bytes, asked, now);
        self.wrote(self.written, now)
    }

    fn measure(&mut self, bytes: u64, asked: Asked, now: Now) {
        let took = now.saturating_sub(asked.at);
        match self.way {
            Some(way) if took < way => self.way = Some(took),
            Some(way) if bytes <= FEW => self.way = Some(way + took.saturating_sub(way) / 8),
            None if bytes <= FEW => self.way = Some(took),
            Some(_) | None => {}
        }
        if bytes == 0 {
            self.window = (took > QUICK).then_some(UNSURE);
            return;
        }
        let before = self.window.unwrap_or(UNSURE);
        // Of few bytes nothing is learnt but that they were too many.
        let are_many = bytes >= before / 2;
        if took <= QUICK {
            self.window = self.window.filter(|_| !are_many);
            return;
        }
        let is_again = asked.since < asked.at;
        if is_again && !are_many {
            return;
        }
        let way = self.way.unwrap_or_default();
        let carrying = now.saturating_sub(asked.since).saturating_sub(way).max(Duration::from_millis(1));
        let time = QUEUE + way.min(LONGEST_WAY);
        let mut found = u64::try_from(u128::from(bytes) * time.as_micros() / carrying.as_micros()).unwrap_or(u64::MAX);
        if are_many && took.saturating_sub(way) < QUEUE / 2 {
            // Hardly anything stood before the question: the link had little to do with them.
            found = found.max(before.saturating_add(before / 3));
        }
        // No single answer opens it wide.
        let most = if are_many { before.saturating_mul(2) } else { before };
        self.window = Some((before / 2 + found.min(most).div_ceil(2)).max(LEAST));
    }

    /// Gives up an answer that is not to come any more.
    fn lose_late(&mut self, now: Now) {
        let Some(asked) = self.asked.take_if(|asked| now >= asked.at.saturating_add(LOST)) else { return };
        self.arrived = asked.written;
        self.lost = self.lost.saturating_add(1);
        if self.lost >= MOST_LOST {
            (self.window, self.has_answered) = (None, false);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    /// One whose answer behind so many bytes took so long.
    fn after(answers: &[(u64, u64)]) -> (Pace, u64, Duration) {
        let (mut pace, mut written, mut now) = (Pace::default(), 0, ms(1000));
        for (bytes, took) in answers {
            written += bytes;
            now += SELDOM;
            assert!(pace.wrote(written, now), "asked behind {bytes} bytes");
            now += ms(*took);
            assert!(!pace.arrived(now));
        }
        (pace, written, now)
    }

    #[test]
    fn a_terminal_that_has_not_answered_is_not_waited_for() {
        let mut pace = Pace::default();
        assert!(pace.wrote(5000, ms(0)));
        for now in (10..20_000).step_by(10) {
            assert_eq!(pace.leave(false, ms(now)), Leave::Whole);
        }
        assert!(pace.wrote(6000, ms(20_000)), "once more");
        assert!(!pace.wrote(7000, ms(40_000)), "and no more");
    }

    #[test]
    fn a_quick_link_is_asked_seldom_and_nothing_waits() {
        let (mut pace, mut written, start) = after(&[(5000, 2), (5000, 2), (50, 2)]);
        let mut asked = 0;
        for frame in 1..=600u32 {
            let now = start + ms(10) * frame;
            assert_eq!(pace.leave(false, now), Leave::Whole);
            written += 3000;
            if pace.wrote(written, now) {
                asked += 1;
                assert!(!pace.arrived(now + ms(2)));
            }
        }
        assert!((11..=13).contains(&asked), "{asked} in six seconds");
        assert!(!pace.wrote(written, start + ms(60_000)), "nothing was drawn");
    }

    #[test]
    fn output_waits_for_what_is_under_way_and_keys_hardly() {
        // 4 kB a second, 100 ms there and back.
        let (mut pace, written, now) = after(&[(2000, 600), (40, 110), (800, 300), (800, 300), (800, 300)]);
        let window = pace.window.unwrap();
        assert!((600..1100).contains(&window), "{window}");
        assert_eq!(pace.leave(false, now), Leave::AtMost(window as usize), "nothing is under way");
        assert!(pace.wrote(written + window, now));
        let lost = now + LOST;
        assert_eq!(pace.leave(false, now + ms(16)), Leave::Wait(lost));
        assert_eq!(pace.leave(true, now + ms(16)), Leave::AtMost((window / 4) as usize));
        assert!(!pace.wrote(written + window * 2, now + ms(16)), "one question at a time");
        assert_eq!(pace.leave(true, now + ms(32)), Leave::Wait(lost), "not any number of keys");
        assert!(pace.arrived(now + ms(300)), "for what the keys have shown");
        assert_eq!(pace.leave(false, lost), Leave::Wait(now + ms(300) + LOST));
        assert!(!pace.arrived(now + ms(600)));
        assert!(matches!(pace.leave(false, now + ms(600)), Leave::AtMost(600..)));
    }

    #[test]
    fn a_long_way_that_takes_much_at_a_time_does_not_cut_frames() {
        let (mut pace, mut written, mut now) = after(&[
            (3000, 155),
            (60, 150),
            (3000, 153),
            (60, 152),
            (3000, 154),
            (4000, 155),
            (6000, 155),
            (9000, 155),
        ]);
        for _ in 0..20 {
            now += ms(16);
            assert!(matches!(pace.leave(false, now), Leave::Whole | Leave::AtMost(3000..)), "{pace:?}");
            written += 3000;
            if pace.wrote(written, now) {
                let _ = pace.arrived(now + ms(2));
            }
        }
    }

    #[test]
    fn a_link_that_becomes_slow_is_noticed_before_its_answer_and_a_lost_one_ends_the_wait() {
        let (mut pace, written, now) = after(&[(5000, 2)]);
        let now = now + SELDOM;
        assert!(pace.wrote(written + 4000, now));
        assert_eq!(pace.leave(false, now + ms(20)), Leave::Whole);
        assert_eq!(pace.leave(false, now + ms(60)), Leave::Wait(now + LOST));
        assert_eq!(pace.leave(false, now + LOST), Leave::Whole);
        assert!(pace.wrote(written + 8000, now + LOST));
        let _ = pace.leave(false, now + LOST * 2);
        assert!(!pace.wrote(written + 9000, now + LOST * 3), "it answers no more");
        assert!(!pace.arrived(now + LOST * 3), "an answer to nothing");
    }

    #[test]
    fn how_long_the_way_is_is_known_before_anything_is_drawn() {
        let mut pace = Pace::default();
        pace.begin(ms(0));
        assert!(!pace.wrote(2000, ms(5)), "one question at a time");
        assert_eq!(pace.leave(false, ms(100)), Leave::Whole, "it may not answer");
        assert!(pace.arrived(ms(150)), "for what was drawn meanwhile");
        assert_eq!((pace.way, pace.window), (Some(ms(150)), Some(UNSURE)));
        assert!(!pace.arrived(ms(300)));
        assert!(pace.window.unwrap() > UNSURE, "it had nothing to do with them: {pace:?}");
    }

    #[test]
    fn a_link_that_is_quick_again_is_not_held_back() {
        let (mut pace, written, now) = after(&[(2000, 600), (800, 10)]);
        assert!(pace.wrote(written + 9000, now + SELDOM));
        assert_eq!(pace.leave(false, now + SELDOM + ms(5)), Leave::Whole);
    }
}
