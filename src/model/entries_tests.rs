//! The bounds of the transcript, and the work that keeping them costs.

use super::*;
use crate::model::entry::{DetailFold, Message};
use crate::model::tool::ToolCall;

fn call(n: usize) -> Body {
    Body::Tool(Box::new(ToolCall::new(format!("t{n}").into(), Now::ZERO)))
}

fn text(bytes: usize) -> Body {
    Body::Agent(Message { text: "x".repeat(bytes), ..Message::default() })
}

fn is_emptied(entries: &Entries, id: EntryId) -> bool {
    matches!(&entries.get(id).unwrap().body, Body::Notice(n) if n.title.starts_with("left out here to save memory"))
}

#[test]
fn of_very_many_entries_a_bounded_number_is_kept_and_a_line_says_how_many_are_gone() {
    let mut entries = Entries::default();
    for n in 0..600_000 {
        let id = entries.push(TurnId(1), Now::ZERO, if n % 10 == 0 { call(n) } else { text(0) });
        assert_eq!(id.0, n as u64);
        entries.shed();
    }
    assert!(entries.len() <= MAX_ENTRIES && entries.bytes <= TRANSCRIPT_BUDGET);
    assert_eq!(entries.gone() + entries.len() as u64, 600_000);
    let first = entries.slot(0).and_then(Slot::here).unwrap();
    assert_eq!(first.id, EntryId(entries.gone()));
    let said = format!("{} earlier entries are left out", entries.gone() + 1);
    assert!(matches!(&first.body, Body::Notice(n) if n.title.starts_with(&said)), "{first:?}");
    assert!(entries.walked <= 600_000, "{} steps", entries.walked);
    assert!(entries.get(EntryId(0)).is_none() && entries.index_of(EntryId(0)).is_none());
    let next = entries.next_id();
    assert_eq!(entries.get(EntryId(next.0 - 1)).unwrap().id.0, next.0 - 1);
}

#[test]
fn entries_that_are_too_small_to_give_way_are_fewer() {
    let mut entries = Entries::default();
    for n in 0..MAX_ENTRIES {
        entries.push(TurnId(1), Now::ZERO, call(n));
        entries.shed();
    }
    assert!(entries.bytes <= MAX_IN_MEMORY, "{} bytes", entries.bytes);
    assert!(entries.len() > MAX_ENTRIES / 4 && entries.gone() > 0, "{} entries", entries.len());
    assert_eq!(entries.bytes, entries.iter().map(|entry| size_of_entry(&entry.body)).sum::<usize>());
}

#[test]
fn one_large_entry_does_not_make_the_others_go() {
    let mut entries = Entries::default();
    for n in 0..2 * BATCH {
        entries.push(TurnId(1), Now::ZERO, if n == 0 { text(1) } else { text(0) });
    }
    let last = entries.push(TurnId(1), Now::ZERO, text(MAX_IN_MEMORY));
    for _ in 0..4 {
        entries.shed();
        entries.change(last, |e| e.finished = true);
    }
    assert!(entries.len() > BATCH && entries.gone() <= BATCH as u64, "{} entries", entries.len());
}

#[test]
fn the_journal_is_named_only_where_one_is_written() {
    let mut entries = Entries::default();
    for _ in 0..3 {
        entries.push(TurnId(1), Now::ZERO, text(TRANSCRIPT_BUDGET / 2 + 1));
    }
    let Body::Notice(notice) = &entries.get(EntryId(0)).unwrap().body else { panic!() };
    assert_eq!(notice.title, "left out here to save memory");
}

#[test]
fn nothing_gives_way_in_a_transcript_that_is_to_be_whole() {
    let mut model = crate::model::Model::new("agent".into(), "/w".into(), crate::model::session::Policy::Ask).whole();
    let key = model.first().key();
    let entries = &mut model.sessions.get_mut(&key).unwrap().entries;
    let all = (0..3).map(|_| entries.push(TurnId(1), Now::ZERO, text(TRANSCRIPT_BUDGET))).collect::<Vec<_>>();
    assert!(all.into_iter().all(|id| !is_emptied(entries, id)) && !entries.is_over());
}

#[test]
fn an_entry_that_grows_after_the_budget_has_passed_it_gives_way_too() {
    let mut entries = Entries::default();
    let small = entries.push(TurnId(1), Now::ZERO, text(1));
    let half = TRANSCRIPT_BUDGET / 2 + 1;
    for _ in 0..4 {
        entries.push(TurnId(1), Now::ZERO, text(half));
    }
    assert!(!is_emptied(&entries, small) && entries.bytes <= TRANSCRIPT_BUDGET);
    for _ in 0..4 {
        entries.change(small, |e| e.body = text(half));
        assert!(entries.bytes <= TRANSCRIPT_BUDGET, "{}", entries.bytes);
    }
}

#[test]
fn titles_paths_and_short_lines_count_for_the_budget() {
    let mut entries = Entries::default();
    for n in 0..300 {
        let mut tool = ToolCall::new(format!("t{n}").into(), Now::ZERO);
        tool.title = "x".repeat(1 << 20);
        entries.push(TurnId(1), Now::ZERO, Body::Tool(Box::new(tool)));
        let detail = vec![String::new(); 1 << 16];
        entries.push(
            TurnId(1),
            Now::ZERO,
            Body::Notice(Notice {
                level: Level::Info,
                title: "n".into(),
                detail,
                by_agent: false,
                fold: DetailFold::All,
                is_prose: false,
            }),
        );
    }
    let held = |e: &Entry| match &e.body {
        Body::Tool(tool) => tool.title.len(),
        Body::Notice(n) => n.detail.len() * size_of::<String>(),
        _ => 0,
    };
    let held: usize = entries.iter().map(held).sum();
    assert!(held <= TRANSCRIPT_BUDGET, "{held}");
}

#[test]
fn what_has_changed_is_named_without_a_look_at_the_rest() {
    let mut entries = Entries::default();
    let ids: Vec<EntryId> = (0..10).map(|n| entries.push(TurnId(1), Now::ZERO, call(n))).collect();
    let then = entries.generation();
    assert_eq!(entries.changed_since(then), Changed::Only(Vec::new()));
    entries.touch(ids[7]);
    entries.finish(ids[3]);
    entries.touch(ids[7]);
    assert_eq!(entries.changed_since(then), Changed::Only(vec![ids[3], ids[7]]));
    // A text that grows piece by piece takes no more room than one change.
    for _ in 0..10 * RECENT {
        entries.touch(ids[1]);
    }
    assert_eq!(entries.changed_since(then), Changed::Only(vec![ids[1], ids[3], ids[7]]));
    assert_eq!(entries.changed_since(entries.generation() - 5), Changed::Only(vec![ids[1]]));
    let before = entries.generation();
    for n in 0..RECENT {
        entries.touch(ids[n % 2]);
    }
    assert_eq!(entries.changed_since(before - 1), Changed::Any);
    assert_eq!(entries.changed_since(before), Changed::Only(vec![ids[0], ids[1]]));
    assert_eq!(entries.changed_since(entries.generation() - 1), Changed::Only(vec![ids[1]]));
    entries.clear();
    assert_eq!(entries.changed_since(before), Changed::Any);
    assert_eq!(entries.changed_since(entries.generation()), Changed::Only(Vec::new()));
}
