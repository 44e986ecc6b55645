//! The end of what was said in a session, from the last bytes of its journals.
//!
//! Reads no more than it takes: whole journals only where its agent tells late what was said before. Invariant: however
//! large a journal is, what is read of it is bounded.

use super::lines;
use super::messages::Reader;
use super::sessions;
use super::whole::Whole;
use crate::model::entry::Body;
use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};

pub use super::messages::Message;

/// Bytes at the end of a journal that are read, and how many if they do not say enough.
const ENDS: [u64; 3] = [256 << 10, 4 << 20, 32 << 20];
/// Messages that are given, and how many are enough.
const MAX_SAID: usize = 40;
const ENOUGH: usize = 8;
/// Journals of one session that are looked at, the newest first.
const MAX_JOURNALS: usize = 3;
/// Bytes of a journal that is read whole; nothing is known of a larger one.
const MAX_WHOLE: u64 = 64 << 20;

/// The messages of a session that were said last, the newest last. `journals` are those that it is in, the newest last,
/// and `state` has all. What its agent told again when it was loaded stands in an earlier one, as long as there is one.
pub fn end_of(state: &Path, journals: &[PathBuf], session_id: &str) -> io::Result<Vec<Message>> {
    let mut said = VecDeque::new();
    let mut told_again = Vec::new();
    for journal in journals.iter().rev().take(MAX_JOURNALS) {
        let (again, own): (Vec<_>, Vec<_>) =
            end_of_journal(state, journal, session_id)?.into_iter().partition(|message| message.is_told_again);
        own.into_iter().rev().for_each(|message| said.push_front(message));
        if told_again.is_empty() {
            told_again = again;
        }
        if said.len() >= ENOUGH {
            break;
        }
    }
    let is_only_told = journals.len() == 1 || said.is_empty();
    Ok(told_again.into_iter().filter(|_| is_only_told).chain(said).collect())
}

fn end_of_journal(state: &Path, journal: &Path, session_id: &str) -> io::Result<VecDeque<Message>> {
    let mut file = lines::open(journal)?;
    let known = |agent: u32, id: &str, t: f64| {
        if id == session_id { said_before(state, journal, (agent, id), t) } else { Vec::new() }
    };
    let size = file.metadata()?.len();
    let mut said = VecDeque::new();
    for window in ENDS {
        let from = size.saturating_sub(window);
        said = read(&mut file, from, session_id, &known)?;
        if from == 0 || said.len() >= ENOUGH {
            break;
        }
    }
    Ok(said)
}

/// What was said in a session of an agent before a moment of a journal.
fn said_before(state: &Path, journal: &Path, session: (u32, &str), t: f64) -> Vec<Body> {
    let Ok((mut parts, _)) = sessions::parts(state) else { return Vec::new() };
    parts.retain(|part| part.journal.metadata().is_ok_and(|file| file.len() <= MAX_WHOLE));
    let is_it = |part: &sessions::Part| part.journal == journal && (part.key, &*part.session_id) == session;
    let at = parts.iter().position(is_it);
    at.map(|at| Whole::new(&parts).before(at, t)).unwrap_or_default()
}

fn read(
    file: &mut std::fs::File,
    from: u64,
    session_id: &str,
    known: &dyn Fn(u32, &str, f64) -> Vec<Body>,
) -> io::Result<VecDeque<Message>> {
    let mut first = None;
    first_line(file, &mut first)?;
    let Some(codec) = first.as_deref().and_then(sessions::codec_of) else {
        return Err(io::Error::other("it was written by a newer acp-tui, or is no journal"));
    };
    let (mut said, mut reader, mut is_cut) = (VecDeque::new(), Reader::knowing(Box::new(known)), from > 0);
    let mut out = |message: Message| {
        if message.session == session_id && !message.text.trim().is_empty() {
            said.push_back(message);
            if said.len() > MAX_SAID {
                said.pop_front();
            }
        }
    };
    lines::each(file, from, |line| {
        // The first one began before.
        if !std::mem::take(&mut is_cut)
            && let Some(row) = lines::row(line)
        {
            reader.take(&codec, &row, &mut out);
        }
    })?;
    reader.finish(&mut out);
    Ok(said)
}

/// The line that says how the others are read.
fn first_line(file: &std::fs::File, first: &mut Option<Vec<u8>>) -> io::Result<()> {
    use std::os::unix::fs::FileExt as _;
    let mut head = vec![0; 64 << 10];
    let read = file.read_at(&mut head, 0)?;
    head.truncate(read);
    *first = head.iter().position(|byte| *byte == b'\n').map(|end| head[..end].to_vec());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::messages::Role;
    use proptest::prelude::*;
    use serde_json::{Value, json};
    use std::fs;

    fn journal(turns: usize, words: usize) -> String {
        let mut lines =
            vec![json!({ "v": 2, "started": 1, "cwd": "/w", "command": "a", "codec": "acp-1" }).to_string()];
        let mut frame = |dir: &str, frame: Value| lines.push(json!({ "t": 1, "dir": dir, "frame": frame }).to_string());
        for n in 0..turns {
            let prompt = json!([{ "type": "text", "text": format!("ask {n}") }]);
            let params = json!({ "sessionId": "s", "prompt": prompt });
            frame("client->agent", json!({ "id": n, "method": "session/prompt", "params": params }));
            let content = json!({ "type": "text", "text": format!("answer {n} {}", "word ".repeat(words)) });
            let update = json!({ "sessionUpdate": "agent_message_chunk", "content": content });
            for id in ["s", "other"] {
                let params = json!({ "sessionId": id, "update": update });
                frame("agent->client", json!({ "method": "session/update", "params": params }));
            }
            frame("agent->client", json!({ "id": n, "result": { "stopReason": "end_turn" } }));
        }
        lines.join("\n") + "\n"
    }

    #[test]
    fn the_end_is_read_and_not_the_whole() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("a.jsonl");
        for (turns, words) in [(1, 1), (30, 10), (2000, 100)] {
            fs::write(&path, journal(turns, words)).unwrap();
            let said = end_of(temp.path(), std::slice::from_ref(&path), "s").unwrap();
            assert!(said.len() <= MAX_SAID && said.len() >= turns.min(ENOUGH / 2) * 2, "{}", said.len());
            let asked = &said[said.len() - 2];
            assert_eq!((asked.role, &asked.text), (Role::User, &format!("ask {}", turns - 1)));
            assert!(said.last().unwrap().text.starts_with(&format!("answer {}", turns - 1)));
        }
    }

    #[test]
    fn what_an_agent_told_again_when_it_loaded_the_session_is_not_shown_twice() {
        let temp = tempfile::tempdir().unwrap();
        let (old, new) = (temp.path().join("a.jsonl"), temp.path().join("b.jsonl"));
        let text = journal(2, 1);
        fs::write(&old, &text).unwrap();
        let head = text.lines().next().unwrap();
        let row = |dir: &str, frame: Value| json!({ "t": 1, "dir": dir, "frame": frame }).to_string();
        let mut lines = vec![head.to_owned()];
        let load = json!({ "id": 7, "method": "session/load", "params": { "sessionId": "s", "cwd": "/w" } });
        lines.push(row("client->agent", load));
        for n in 0..2 {
            for (kind, words) in [("user_message_chunk", "ask"), ("agent_message_chunk", "answer")] {
                let content = json!({ "type": "text", "text": format!("{words} {n}") });
                let params = json!({ "sessionId": "s", "update": { "sessionUpdate": kind, "content": content } });
                lines.push(row("agent->client", json!({ "method": "session/update", "params": params })));
            }
        }
        lines.push(row("agent->client", json!({ "id": 7, "result": {} })));
        fs::write(&new, lines.join("\n") + "\n").unwrap();
        let both = end_of(temp.path(), &[old, new.clone()], "s").unwrap();
        assert_eq!(both.iter().filter(|message| message.text.starts_with("ask 1")).count(), 1, "{both:?}");
        // Where only the agent knew of it, that is all there is.
        assert_eq!(end_of(temp.path(), &[new], "s").unwrap().len(), 4);
    }

    /// It comes once the next prompt was sent, before what is said to that or behind it.
    #[test]
    fn what_an_agent_tells_again_late_is_not_shown_twice() {
        let temp = tempfile::tempdir().unwrap();
        let dir = sessions::journals(temp.path());
        fs::create_dir(&dir).unwrap();
        let (old, new) = (dir.join("a.jsonl"), dir.join("b.jsonl"));
        let text = journal(2, 1);
        let (first, turns) = text.split_once('\n').unwrap();
        let head = first.replace("\"started\":1", "\"started\":100");
        let row = |dir: &str, frame: Value| json!({ "t": 9, "dir": dir, "frame": frame }).to_string();
        let open = row("client->agent", json!({ "id": 90, "method": "session/new", "params": { "cwd": "/w" } }));
        let opened = row("agent->client", json!({ "id": 90, "result": { "sessionId": "s" } }));
        fs::write(&old, [first, &open, &opened, turns].join("\n")).unwrap();
        let update = |kind: &str, words: &str| {
            let content = json!({ "type": "text", "text": words });
            let params = json!({ "sessionId": "s", "update": { "sessionUpdate": kind, "content": content } });
            row("agent->client", json!({ "method": "session/update", "params": params }))
        };
        let load = json!({ "id": 7, "method": "session/load", "params": { "sessionId": "s", "cwd": "/w" } });
        let ask = json!({ "sessionId": "s", "prompt": [{ "type": "text", "text": "and now" }] });
        let begins = [
            head,
            row("client->agent", load),
            row("agent->client", json!({ "id": 7, "result": {} })),
            row("client->agent", json!({ "id": 8, "method": "session/prompt", "params": ask })),
        ];
        let told: Vec<String> = (0..2)
            .flat_map(|n| {
                let asked = update("user_message_chunk", &format!("ask {n}"));
                [asked, update("agent_message_chunk", &format!("answer {n} word "))]
            })
            .collect();
        let end = row("agent->client", json!({ "id": 8, "result": { "stopReason": "end_turn" } }));
        let said = [update("agent_message_chunk", "this"), end];
        for late in [[&told[..], &said[..]], [&said[..], &told[..]]] {
            let lines: Vec<&str> = begins.iter().chain(late.into_iter().flatten()).map(String::as_str).collect();
            fs::write(&new, lines.join("\n") + "\n").unwrap();
            let all = end_of(temp.path(), &[old.clone(), new.clone()], "s").unwrap();
            let texts: Vec<&str> = all.iter().map(|message| message.text.trim()).collect();
            assert_eq!(texts, ["ask 0", "answer 0 word", "ask 1", "answer 1 word", "and now", "this"]);
        }
        // What is asked goes out while it is told, also within a message.
        let [head, load, answer, ask] = begins;
        let pieces =
            [&told[..3], &[update("agent_message_chunk", "answer"), update("agent_message_chunk", " 1 word ")]];
        let pieces = pieces.concat();
        for cut in 1..pieces.len() {
            let (before, after) = pieces.split_at(cut);
            let begins =
                [&[head.clone(), load.clone(), answer.clone()][..], before, std::slice::from_ref(&ask), after, &said]
                    .concat();
            fs::write(&new, begins.join("\n") + "\n").unwrap();
            let all = end_of(temp.path(), &[old.clone(), new.clone()], "s").unwrap();
            let texts: Vec<&str> = all.iter().map(|message| message.text.trim()).collect();
            assert_eq!(texts, ["ask 0", "answer 0 word", "ask 1", "answer 1 word", "and now", "this"], "{cut}");
        }
    }

    #[test]
    fn a_journal_that_says_nothing_of_it_leads_to_the_one_before_and_one_that_is_none_is_told() {
        let temp = tempfile::tempdir().unwrap();
        let (old, new) = (temp.path().join("a.jsonl"), temp.path().join("b.jsonl"));
        fs::write(&old, journal(1, 1)).unwrap();
        fs::write(&new, journal(0, 0)).unwrap();
        assert_eq!(end_of(temp.path(), &[old.clone(), new.clone()], "s").unwrap().len(), 2);
        fs::write(&new, "no journal\n").unwrap();
        assert!(end_of(temp.path(), &[old, new], "s").is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn whatever_stands_in_a_journal_the_end_is_read_or_refused(
            bytes in proptest::collection::vec(any::<u8>(), 0..200), at in 0..4000usize, cut in 0..5000usize,
        ) {
            let temp = tempfile::tempdir().unwrap();
            let path = temp.path().join("a.jsonl");
            let mut text = journal(3, 5).into_bytes();
            text.truncate(cut);
            let at = at.min(text.len());
            text.splice(at..at, bytes);
            fs::write(&path, text).unwrap();
            let said = end_of(temp.path(), &[path], "s");
            prop_assert!(said.map_or(true, |said| said.len() <= MAX_SAID));
        }
    }
}
