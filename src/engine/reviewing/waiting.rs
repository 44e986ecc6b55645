//! A review that cannot begin since the disk is full: it waits, and begins as soon as there is room.
//!
//! Looks at no file. Invariant: who asks something of it meanwhile is not kept waiting; what was asked is dropped, as of a
//! review that is off.

use super::{Asked, Job};
use crate::engine::fact::Facts;
use crate::model::changes::ReviewEvent;
use crate::model::event::HostEvent;
use crate::model::ids::SessionKey;
use crate::review::error::ReviewError;
use crate::store::writer::is_full;
use std::collections::BTreeSet;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// Between two tries.
pub(super) const TRY_AGAIN: Duration = Duration::from_millis(500);

/// What was told while there was no room.
#[derive(Debug)]
pub(super) struct Waited {
    /// The sessions of the directory.
    pub members: BTreeSet<SessionKey>,
    /// There is no screen.
    pub is_alone: bool,
    pub since: Instant,
}

/// What comes of the review of a directory: it, and what was waited for; nothing when the client ends before.
pub(super) fn begin<R>(
    create: impl Fn() -> Result<R, ReviewError>,
    queue: &Receiver<Asked>,
    first: SessionKey,
    facts: &Facts,
) -> Result<Option<(R, Option<Waited>)>, ReviewError> {
    let (mut waited, since) = (None, Instant::now());
    loop {
        let error = match create() {
            Ok(review) => return Ok(Some((review, waited))),
            Err(error) if lacks_room(&error) => error,
            Err(error) => return Err(error),
        };
        let message = error.to_string();
        let tell = |at| facts.tell(at, HostEvent::Review(ReviewEvent::ReviewWaits { message: message.clone() }));
        let waited = waited.get_or_insert_with(|| {
            tell(first);
            Waited { members: BTreeSet::from([first]), is_alone: false, since }
        });
        let until = Instant::now() + TRY_AGAIN;
        loop {
            match queue.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(Asked { at, job: Job::Join, .. }) => {
                    waited.members.insert(at);
                    tell(at);
                }
                Ok(Asked { at, job: Job::Leave, .. }) => drop(waited.members.remove(&at)),
                Ok(Asked { job: Job::Look { alone }, .. }) => waited.is_alone |= alone.is_some(),
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout) => break,
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
            }
        }
    }
}

pub(super) fn lacks_room(error: &ReviewError) -> bool {
    match error {
        ReviewError::Io { source, .. } | ReviewError::Unwritten { source, .. } => is_full(source),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::fact::Fact;
    use crate::model::ids::Address;
    use std::io;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::mpsc::sync_channel;

    fn full() -> ReviewError {
        ReviewError::io("x".as_ref(), io::ErrorKind::StorageFull)
    }

    #[test]
    fn it_begins_when_there_is_room_and_each_session_has_been_told_that_it_waits() {
        let (jobs, queue) = sync_channel(8);
        let (facts, mut told) = tokio::sync::mpsc::channel(8);
        let (further, gone) = (SessionKey(1), SessionKey(2));
        let (looked, mut over) = tokio::sync::mpsc::channel(1);
        for (at, job) in [
            (SessionKey::FIRST, Job::Look { alone: Some(looked) }),
            (further, Job::Join),
            (gone, Job::Join),
            (gone, Job::Leave),
        ] {
            jobs.try_send(Asked::of(at, job)).unwrap();
        }
        let has_room = AtomicBool::new(false);
        let create = || if has_room.swap(true, Ordering::Relaxed) { Ok("review") } else { Err(full()) };
        let begun = begin(create, &queue, SessionKey::FIRST, &Facts(facts)).unwrap();
        let (review, waited) = begun.unwrap();
        let waited = waited.unwrap();
        assert_eq!((review, waited.is_alone), ("review", true));
        assert_eq!(waited.members, BTreeSet::from([SessionKey::FIRST, further]));
        assert!(over.try_recv().is_err(), "who starts the agent does not wait");
        for at in [SessionKey::FIRST, further, gone] {
            let Ok(Fact::Host(Address::Session(to), HostEvent::Review(ReviewEvent::ReviewWaits { .. }))) =
                told.try_recv()
            else {
                panic!("told")
            };
            assert_eq!(to, at);
        }
        drop(jobs);
        assert!(
            begin(|| Err::<(), _>(full()), &queue, further, &Facts(tokio::sync::mpsc::channel(8).0)).unwrap().is_none()
        );
        let other = || Err::<(), _>(ReviewError::Locked);
        assert!(begin(other, &queue, further, &Facts(tokio::sync::mpsc::channel(8).0)).is_err());
    }
}
