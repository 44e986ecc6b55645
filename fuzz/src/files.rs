//! Files that are read again after a crash, or after somebody wrote into them.

use acp_tui::engine::replay::replay;
use acp_tui::model::Model;
use acp_tui::model::session::Policy;
use acp_tui::review::{Ledger, UndoLog};
use acp_tui::store::sessions::index::{entries, file_of};
use acp_tui::store::{frames, lines};
use serde_json::value::RawValue;
use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A file in memory where there is such a place.
fn with_file<T>(data: &[u8], look: impl FnOnce(&Path) -> T) -> T {
    thread_local! {
        static DIR: RefCell<Option<TempDir>> = const { RefCell::new(None) };
    }
    DIR.with_borrow_mut(|dir| {
        let dir = dir.get_or_insert_with(|| {
            let memory = Path::new("/dev/shm");
            let made = if memory.is_dir() { TempDir::new_in(memory) } else { TempDir::new() };
            made.expect("a directory")
        });
        let path = dir.path().join("file");
        fs::write(&path, data).expect("a file");
        look(&path)
    })
}

/// The index of the journals is only a memory: of any bytes, as the whole file and as one record of it, no more is read
/// than stands there, once each.
pub fn index(data: &[u8]) {
    for file in [data.to_vec(), file_of(data)] {
        let read = entries(&file);
        assert!(read.len() <= file.len() / 8, "each has a length and a sum");
        assert!(read.is_sorted_by(|a, b| a.name < b.name));
        for entry in &read {
            let _ = (entry.latest(), entry.scan.refusal(), entry.scan.codec().is_some(), entry.scan.is_in_turn(0));
        }
        // What follows a record that is whole is read, too.
        let twice = [file.as_slice(), file.as_slice()].concat();
        assert!(entries(&twice).len() <= read.len() + data.len());
    }
}

/// Lines read up to any end of a line and from there on are the lines of the whole; what our own reader of most lines says
/// is what JSON says; and no journal is too strange to be played.
pub fn journal(data: &[u8]) {
    let Some((at, data)) = data.split_first() else { return };
    with_file(data, |path| {
        let read = |from: u64| {
            let mut all: Vec<Vec<u8>> = Vec::new();
            let mut file = lines::open(path).expect("our file");
            let reached = lines::each(&mut file, from, |line| all.push(line.to_vec())).expect("it can be read");
            (all, reached)
        };
        let (whole, reached) = read(0);
        assert!(reached.offset <= data.len() as u64);
        let ends: Vec<u64> = (1..).zip(data).filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at).collect();
        let is_before = |end: &u64| *end <= reached.offset;
        if let Some(end) = ends.get(usize::from(*at) % ends.len().max(1)).copied().filter(is_before) {
            let before = ends.iter().filter(|other| **other <= end).count();
            let (rest, again) = read(end);
            assert_eq!((&whole[before..], reached.offset), (rest.as_slice(), again.offset));
        }
        for line in &whole {
            let Some(row) = lines::row(line) else { continue };
            assert!(row.t.is_finite() && row.t >= 0.0);
            let (lines::What::Sent(agent, frame) | lines::What::Heard(agent, frame)) = row.what else { continue };
            // What is cut or goes on behind the frame is found out when that is read.
            let is_whole = serde_json::from_str::<&RawValue>(frame).is_ok();
            let Ok(record) = serde_json::from_slice::<lines::Record<'_>>(line) else { continue };
            if !is_whole {
                continue;
            }
            assert_eq!((record.frame.map(|frame| frame.get()), record.t), (Some(frame.trim()), row.t));
            let of = acp_tui::model::ids::Address::from(agent);
            assert!(record.peer() == of || !matches!(record.peer(), acp_tui::model::ids::Address::Agent(_)));
        }
        let (mut shown, counted) = (0, frames::read(path, &mut |_| ()).expect("it can be read"));
        frames::read(path, &mut |_| shown += 1).expect("it can be read");
        assert_eq!(shown, counted.messages);
        let text = String::from_utf8_lossy(data);
        let model = Model::new("agent".into(), "/project".into(), Policy::Ask);
        let (_, skipped) = replay(model, PathBuf::from("/project"), text.lines());
        assert!(skipped <= text.lines().count());
    });
}

/// What is read of a damaged log of decisions is a log: it never offers to undo what was undone, never loops, and what is
/// added behind it is read again while the damage stays known.
pub fn undo_log(data: &[u8]) {
    with_file(data, |path| {
        let (mut ledger, records) = Ledger::open(path).expect("it can be read");
        let damage = ledger.damage();
        let mut log = UndoLog::default();
        let mut known = Vec::new();
        for record in &records {
            if let acp_tui::review::Record::Act(decision) = record {
                known.push(decision.id);
            }
            log.take(record.clone());
        }
        assert!(log.next_id() > 0);
        for act in [log.undoable(), log.redoable(), log.unfinished()].into_iter().flatten() {
            assert!(known.contains(&act.id));
            assert!(!log.words(act).is_empty() || act.words.is_empty());
        }
        for id in &known {
            let mut files = log.all_files(*id);
            let (count, first) = (files.len(), log.first_part(*id));
            files.dedup_by(|one, other| one.path == other.path);
            assert!(first <= *id && files.len() <= count);
            if let Some((merge, _)) = log.merge_of(*id) {
                assert!(known.contains(&merge));
            }
        }
        let more = acp_tui::review::Record::Turn { turn: 7, begins: true, early: false };
        ledger.add(&more).expect("it can be written");
        let (again, after) = Ledger::open(path).expect("it can be read");
        assert_eq!(after.len(), records.len() + 1, "{records:?} {after:?}");
        assert!(after.starts_with(&records) && after.last() == Some(&more));
        assert!(damage.is_none() || again.damage().is_some(), "the damage is forgotten: {damage:?}");
    });
}
