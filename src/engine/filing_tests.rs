//! Tests of files whose requests are void.

use super::super::reviewing::tests::{engine, place};
use super::super::run::{Engine, Wake};
use super::*;
use crate::agent::quirks::MissingFile;
use crate::base::shared::SharedText;
use crate::model::changes::{ReviewAction, Scope};
use crate::model::entry::Body;
use crate::model::event::Intent;
use crate::model::event::WriteHow;
use crate::model::ids::EntryId;
use crate::model::judge::Deed;
use std::path::Path;

const AT: SessionKey = SessionKey::FIRST;

fn request(deed: Deed) -> Box<Request> {
    Box::new(Request::of(deed))
}

fn job(req: u64, path: &Path, turn: Option<TurnId>) -> FileJob {
    FileJob::Read(ReadJob {
        at: SessionKey::FIRST,
        req: ReqId(req),
        request: request(Deed::Read(path.to_string_lossy().into())),
        line: None,
        limit: None,
        missing: MissingFile::NotFound,
        turn,
        rules: None,
    })
}

/// A read that does not come back.
fn hangs(engine: &mut Engine, turn: Option<TurnId>, until: Instant) -> Arc<AtomicBool> {
    let stop = Arc::<AtomicBool>::default();
    let reading = Reading { req: ReqId(1), path: "hangs".into(), turn, stop: Stop(Arc::clone(&stop)), until };
    let lane = engine.files.lane(AT);
    lane.is_busy = true;
    lane.reading = Some(reading);
    stop
}

async fn idle(engine: &mut Engine) {
    while engine.files.lane(AT).is_busy {
        let wake = tokio::time::timeout(Duration::from_secs(20), engine.next()).await.expect("nothing happens");
        engine.step(wake);
    }
}

#[tokio::test]
async fn a_read_that_does_not_come_back_holds_nobody_up() {
    let place = place();
    let path = place.root.join("x");
    std::fs::write(&path, "text").unwrap();
    let mut engine = engine(&place, "", None);
    let stop = hangs(&mut engine, None, Instant::now());
    engine.files.push(job(2, &path, None));
    assert!(engine.files.deadline().is_some(), "the loop wakes for it");
    engine.mind_reading();
    assert!(stop.load(Ordering::Relaxed), "it ends as soon as it can");
    assert_eq!(engine.files.lane(AT).reading.as_ref().map(|r| r.req), Some(ReqId(2)), "the next one is read");
    idle(&mut engine).await;
    assert_eq!(engine.files.stuck, 1);
    // Its late answer is dropped, and not taken for that of a later read.
    hangs(&mut engine, None, Instant::now() + PATIENCE);
    engine.files.lane(AT).reading.as_mut().unwrap().req = ReqId(3);
    assert!(!engine.files.has_read(AT, ReqId(1)));
    assert!(engine.files.lane(AT).is_busy && engine.files.stuck == 0);
    assert!(engine.files.has_read(AT, ReqId(3)) && !engine.files.lane(AT).is_busy);
    engine.shutdown().await;
}

#[tokio::test]
async fn reads_that_do_not_come_back_are_not_more_and_more() {
    let place = place();
    let path = place.root.join("x");
    std::fs::write(&path, "text").unwrap();
    let mut engine = engine(&place, "", None);
    engine.files.stuck = MAX_STUCK;
    engine.queue_file(job(1, &path, None));
    engine.queue_file(job(2, &path, None));
    let lane = engine.files.lane(AT);
    assert!(lane.jobs.is_empty() && !lane.is_busy && lane.reading.is_none());
    engine.shutdown().await;
}

#[tokio::test]
async fn a_read_ends_with_its_turn_and_those_behind_it_are_not_begun() {
    let place = place();
    let mut engine = engine(&place, "", None);
    let over = Some(TurnId(7));
    let stop = hangs(&mut engine, over, Instant::now() + PATIENCE);
    (2..40).for_each(|req| engine.files.push(job(req, Path::new("/nowhere"), over)));
    engine.mind_reading();
    assert!(stop.load(Ordering::Relaxed));
    assert!(engine.files.has_read(AT, ReqId(1)));
    engine.next_file(AT);
    let lane = engine.files.lane(AT);
    assert!(lane.jobs.is_empty() && !lane.is_busy, "all were answered at once");
    // And with the program.
    let stop = hangs(&mut engine, None, Instant::now() + PATIENCE);
    engine.shutdown().await;
    assert!(stop.load(Ordering::Relaxed));
}

#[tokio::test]
async fn other_names_of_a_file_that_keep_what_it_was_are_said() {
    let place = place();
    let (path, other) = (place.root.join("x"), place.root.with_file_name("other"));
    std::fs::write(&path, "text").unwrap();
    std::fs::hard_link(&path, &other).unwrap();
    let mut engine = engine(&place, "", None);
    engine.queue_file(write_job(1, &path, &"agent".into()));
    let said = |engine: &Engine| {
        let session = engine.model().session_of(AT).unwrap();
        let notices = session.entries().iter().filter_map(|entry| match &entry.body {
            Body::Notice(notice) => Some(notice.title.clone()),
            _ => None,
        });
        notices.filter(|title| title.contains("hard link")).collect::<Vec<_>>()
    };
    while said(&engine).is_empty() {
        let wake = tokio::time::timeout(Duration::from_secs(20), engine.next()).await.expect("nothing is said");
        engine.step(wake);
    }
    let words = "was written under this name; 1 other name of the file (hard links) keeps what it was";
    assert_eq!(said(&engine), [format!("{} {words}", path.display())]);
    assert_eq!(std::fs::read_to_string(other).unwrap(), "text");
    engine.shutdown().await;
}

#[tokio::test]
async fn a_write_that_a_save_came_in_the_way_of_is_begun_again_before_anything_else() {
    let place = place();
    let (path, other) = (place.root.join("x"), place.root.join("other"));
    std::fs::write(&other, "text").unwrap();
    let mut engine = engine(&place, "", None);
    engine.files.lane(AT).is_busy = true;
    engine.files.push(job(2, &other, None));
    let content: SharedText = "agent".into();
    let request = request(Deed::Write(path.to_string_lossy().into()));
    let again = WriteJob {
        at: AT,
        req: ReqId(1),
        request,
        content,
        how: WriteHow::default(),
        entry: EntryId(1),
        tries: 1,
        rules: None,
    };
    engine.step(Wake::Fact(Fact::WriteAgain(again)));
    assert!(engine.files.lane(AT).is_busy && engine.files.lane(AT).jobs.len() == 1, "the read waits for it");
    let again: SharedText = "once more".into();
    engine.files.push(write_job(3, &other, &again));
    assert_eq!(engine.files.bytes(), "agent".len() + again.len(), "of what is under way and of what waits");
    while engine.files.lane(AT).is_busy {
        let wake = tokio::time::timeout(Duration::from_secs(20), engine.next()).await.expect("nothing happens");
        engine.step(wake);
    }
    assert_eq!(std::fs::read_to_string(path).unwrap(), "agent");
    assert!(engine.files.lane(AT).jobs.is_empty() && engine.files.bytes() == 0);
    engine.shutdown().await;
}

#[tokio::test]
async fn a_read_that_does_not_come_back_holds_up_its_own_session_only() {
    let place = place();
    let path = place.root.join("x");
    std::fs::write(&path, "text").unwrap();
    let mut engine = engine(&place, "", None);
    hangs(&mut engine, None, Instant::now() + PATIENCE);
    let other = SessionKey(1);
    engine.queue_file(job(2, &path, None));
    let FileJob::Read(mine) = job(3, &path, None) else { return };
    engine.queue_file(FileJob::Read(ReadJob { at: other, ..mine }));
    while engine.files.lane(other).is_busy {
        let wake = tokio::time::timeout(Duration::from_secs(20), engine.next()).await.expect("nothing happens");
        engine.step(wake);
    }
    assert!(engine.files.lane(AT).is_busy && engine.files.lane(AT).jobs.len() == 1, "it waits");
    engine.shutdown().await;
}

fn write_job(req: u64, path: &Path, content: &SharedText) -> FileJob {
    let request = request(Deed::Write(path.to_string_lossy().into()));
    let entry = EntryId(req);
    FileJob::Write(WriteJob {
        at: AT,
        req: ReqId(req),
        request,
        content: content.clone(),
        how: WriteHow::default(),
        entry,
        tries: 0,
        rules: None,
    })
}

/// When the client ends, each write is either known to the review or never done.
#[test]
fn nothing_is_written_once_the_client_has_ended_and_what_was_is_known() {
    let content: SharedText = "agent\n".repeat(1 << 10).into();
    let mut written = 0;
    // Ends before the first is written, while one is, and after some.
    for done in 0..4 {
        let place = place();
        let path = |n: u64| place.root.join(format!("f{n}"));
        (0..8).for_each(|n| std::fs::write(path(n), "mine\n").unwrap());
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let dir = runtime.block_on(async {
            let mut engine = engine(&place, "", None);
            let dir = place.home.join(engine.stem());
            // The first look is over when there is something to show.
            engine.intent(Intent::Review(ReviewAction::Show(Scope::Session)));
            while engine.model().first().session().review().is_none() {
                let wake = tokio::time::timeout(Duration::from_secs(20), engine.next()).await.expect("nothing happens");
                engine.step(wake);
            }
            engine.intent(Intent::Review(ReviewAction::Close));
            (0..8).for_each(|n| engine.queue_file(write_job(n, &path(n), &content)));
            while engine.files.lane(AT).jobs.len() > 7 - done {
                let wake = tokio::time::timeout(Duration::from_secs(20), engine.next()).await.expect("nothing happens");
                engine.step(wake);
            }
            engine.shutdown().await;
            dir
        });
        let is_changed = |n: &u64| std::fs::metadata(path(*n)).unwrap().len() > 5;
        let at_the_end: Vec<u64> = (0..8).filter(is_changed).collect();
        // Waits for every thread that has still something to do.
        drop(runtime);
        assert_eq!((0..8).filter(is_changed).collect::<Vec<_>>(), at_the_end, "written after the end");
        let names = std::fs::read_dir(&place.root).unwrap().flatten().map(|e| e.file_name());
        assert_eq!(names.filter(|name| name.to_string_lossy().starts_with('.')).count(), 0, "left behind");
        let mut review = crate::review::session::ReviewSession::open(&dir).unwrap();
        let doc = review.doc(Scope::Session).unwrap();
        let known: Vec<_> = doc.files.iter().map(|file| place.root.join(&file.path)).collect();
        assert_eq!(known, at_the_end.iter().map(|n| path(*n)).collect::<Vec<_>>(), "not known");
        written += at_the_end.len();
    }
    assert!(written > 0, "nothing was ever written");
}
