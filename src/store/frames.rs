//! The messages of a recording or a journal, one after the other.
//!
//! Invariant: one line is held at a time.

use super::lines::{self, Record};
use crate::agent::codec::watch::Watch;
use crate::base::exit::Exit;
use crate::model::event::HostEvent;
use crate::model::frames::{FrameDir, FrameRow};
use crate::model::ids::{Address, AgentKey, Now};
use crate::wire::frame::Frame;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// A later time is none.
const MAX_SECONDS: f64 = 1e9;

/// How the fact begins that an agent has ended.
const ENDED: &str = r#"{"AgentExited""#;

/// What was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Read {
    pub messages: u64,
    /// Lines that are none of such a file.
    pub unread: u64,
}

/// Hands over each line to, from or beside an agent.
pub fn read(path: &Path, take: &mut dyn FnMut(&FrameRow)) -> io::Result<Read> {
    let mut file = lines::open(path)?;
    let (mut read, mut watches) = (Read::default(), BTreeMap::new());
    lines::each(&mut file, 0, |line| match row(line, &mut watches) {
        Ok(Some(row)) => {
            read.messages += 1;
            take(&row);
        }
        Ok(None) => {}
        Err(()) => read.unread += u64::from(!line.is_empty()),
    })?;
    Ok(read)
}

/// Nothing for lines of a journal that are about something else.
fn row(line: &[u8], watches: &mut BTreeMap<AgentKey, Watch>) -> Result<Option<FrameRow>, ()> {
    let record: Record<'_> = serde_json::from_slice(line).map_err(|_| ())?;
    let dir = match record.dir.as_ref() {
        "client->agent" => FrameDir::ToAgent,
        "agent->client" => FrameDir::FromAgent,
        "stderr" => FrameDir::Stderr,
        // Other clients note more, which is no matter of the agent.
        "note" if record.frame.is_some_and(|note| Exit::of_note(note.get()).is_some()) => FrameDir::Note,
        // In a journal the end of an agent is a fact.
        "host" if record.fact.is_some_and(|fact| fact.get().starts_with(ENDED)) => FrameDir::Note,
        _ => return Ok(None),
    };
    let text: Arc<str> = match (record.frame, &record.raw) {
        (None, None) if dir == FrameDir::Note => match record.fact.map(|fact| serde_json::from_str(fact.get())) {
            Some(Ok(HostEvent::AgentExited { exit, .. })) => exit.to_note().into(),
            _ => return Ok(None),
        },
        // Of recordings of other clients.
        (Some(frame), _) if dir == FrameDir::Stderr => {
            let value: Value = serde_json::from_str(frame.get()).unwrap_or_default();
            value["line"].as_str().unwrap_or(frame.get()).into()
        }
        (Some(frame), _) => frame.get().into(),
        (None, Some(raw)) => raw.as_ref().into(),
        (None, None) => return Err(()),
    };
    if text.trim().is_empty() {
        return Ok(None);
    }
    let agent = match record.peer() {
        Address::Agent(agent) => agent,
        Address::All | Address::Session(_) => AgentKey::FIRST,
    };
    let t = if record.t.is_finite() { record.t.clamp(0.0, MAX_SECONDS) } else { 0.0 };
    let frame = match dir {
        FrameDir::Stderr | FrameDir::Note => Frame::Stray,
        FrameDir::ToAgent | FrameDir::FromAgent => Frame::read(Cow::Borrowed(text.as_bytes()), &[]).0,
    };
    let watch = watches.entry(agent).or_insert_with(|| Watch::new(agent));
    Ok(Some(watch.see(Now::from_secs_f64(t), dir, &frame, &text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_and_a_journal_say_the_same() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("r.jsonl");
        let lines = [
            r#"{"client":"acp-tui","v":2}"#,
            r#"{"t":0.5,"dir":"client->agent","frame":{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}}"#,
            r#"{"t":0.6,"dir":"stderr","raw":"hm"}"#,
            r#"{"t":0.75,"dir":"agent->client","at":{"agent":0},"frame":{"jsonrpc":"2.0","id":0,"result":{}}}"#,
            r#"{"t":0.76,"dir":"agent->client","raw":" "}"#,
            r#"{"t":0.8,"dir":"agent->client","agent":1,"raw":"banner"}"#,
            r#"{"t":0.9,"dir":"host","at":{"agent":0},"fact":"x"}"#,
            r#"{"t":0.9,"dir":"note","frame":{"event":"disk","code":0}}"#,
            r#"{"t":0.9,"dir":"host","at":{"agent":1},"fact":{"AgentExited":{"exit":{"code":3,"signal":null},"stderr":[]}}}"#,
            r#"{"t":0.9,"dir":"note","agent":1,"frame":{"event":"exit","code":3,"signal":null}}"#,
            "torn",
        ];
        std::fs::write(&file, lines.join("\n") + "\n").unwrap();
        let mut rows = Vec::new();
        let read = read(&file, &mut |row| rows.push(row.clone())).unwrap();
        assert_eq!(read, Read { messages: 6, unread: 1 });
        assert_eq!((&rows[4].dir, &rows[4].agent), (&FrameDir::Note, &AgentKey(1)));
        assert_eq!((&rows[4], &*rows[4].text), (&rows[5], r#"{"event":"exit","code":3,"signal":null}"#));
        let answer = &rows[2];
        assert_eq!((&*answer.method, answer.latency), ("initialize", Some(Now::from_millis(250))));
        assert_eq!(answer.flaws[0].rule, "R-081");
        assert_eq!((rows[3].agent, rows[3].flaws[0].rule), (AgentKey(1), "R-052"));
    }
}
