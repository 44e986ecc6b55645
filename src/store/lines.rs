//! The lines of a journal or a recording, as they stand in the file.
//!
//! Decodes no frame. Invariants: nothing but a plain file of the person's own is opened, and opening never blocks; a
//! line that is too long is passed over and never held; what cannot be read is counted. A zero byte, which no line has,
//! costs the line that it is in: they are what a crash leaves where a block was not written. However long a run of them
//! is, no more than a block of it is held, and of a hole none is read.

use crate::base::human;
use crate::model::ids::{Address, AgentKey};
use memchr::memchr;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fs::{File, Metadata};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// Bytes that are read at once, unless a line is longer.
const BLOCK: usize = 256 << 10;
/// A longer line is passed over. One of an agent has at most 64 MiB, and as text of a record a little more.
const MAX_LINE: usize = 128 << 20;

pub use super::private::{open, open_as};

/// The whole lines of a file that is read as a journal.
#[derive(Debug, Default)]
pub struct Text {
    /// What is no text in it is replaced.
    pub text: String,
    /// Lines with zero bytes are left out.
    pub is_damaged: bool,
}

/// All of them, unless they have more bytes than that.
pub fn text(path: &Path, most: u64) -> io::Result<Text> {
    let too_large = || io::Error::other(format!("it is larger than {}", human::bytes(most)));
    let (mut file, mut bytes) = (open(path)?, Vec::new());
    if written(&file.metadata()?) > most.saturating_add(BLOCK as u64) {
        return Err(too_large());
    }
    let mut is_too_large = false;
    let reached = each(&mut file, 0, |line| {
        is_too_large |= (bytes.len() + line.len()) as u64 > most;
        if !is_too_large {
            bytes.extend_from_slice(line);
            bytes.push(b'\n');
        }
    })?;
    if is_too_large {
        return Err(too_large());
    }
    let text = String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
    Ok(Text { text, is_damaged: reached.damaged > 0 })
}

/// Bytes of a file that were written: one that has holes is larger.
pub fn written(meta: &Metadata) -> u64 {
    meta.len().min(meta.blocks().saturating_mul(512))
}

/// How far a file was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reached {
    /// Behind the last line.
    pub offset: u64,
    /// Lines with zero bytes.
    pub damaged: u64,
    /// Lines that were too long.
    pub passed_over: u64,
}

/// Hands over each line from an offset on, without its end. A last line without an end is one only when it is whole JSON:
/// else it is still being written, or its writer was stopped.
pub fn each(file: &mut File, from: u64, take: impl FnMut(&[u8])) -> io::Result<Reached> {
    each_within(file, from, (BLOCK, MAX_LINE), take)
}

/// The same; a line with more than `most` bytes is passed over.
pub fn each_up_to(file: &mut File, most: usize, take: impl FnMut(&[u8])) -> io::Result<Reached> {
    each_within(file, 0, (BLOCK, most), take)
}

fn each_within(
    file: &mut File,
    from: u64,
    (block, most): (usize, usize),
    mut take: impl FnMut(&[u8]),
) -> io::Result<Reached> {
    file.seek(SeekFrom::Start(from))?;
    let mut buffer = vec![0; block];
    // What is in the buffer and not yet taken; the offset of its first byte; where the line begins that is passed over.
    let (mut held, mut at, mut skipped) = (0, from, None);
    let (mut damaged, mut passed_over) = (0, 0);
    loop {
        if held == buffer.len() {
            if buffer.len() >= most {
                passed_over += 1;
                (skipped, at, held) = (Some(at), at + held as u64, 0);
            } else {
                buffer.resize(buffer.len() * 2, 0);
            }
        }
        let read = match file.read(&mut buffer[held..]) {
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if read == 0 {
            let rest = &buffer[..held];
            if rest.ends_with(b"}") && serde_json::from_slice::<&RawValue>(rest).is_ok() {
                take(rest);
                at += held as u64;
            }
            return Ok(Reached { offset: skipped.unwrap_or(at), damaged, passed_over });
        }
        let (mut begin, mut look) = (0, held);
        let has_zeros = memchr(0, &buffer[held..held + read]).is_some();
        let is_damaged = |line: &[u8]| has_zeros && memchr(0, line).is_some();
        held += read;
        while let Some(end) = memchr(b'\n', &buffer[look..held]) {
            let end = look + end;
            let line = &buffer[begin..end];
            if skipped.take().is_none() {
                if is_damaged(line) {
                    damaged += 1;
                } else {
                    take(line);
                }
            }
            (begin, look) = (end + 1, end + 1);
        }
        if skipped.is_none() && is_damaged(&buffer[begin..held]) {
            damaged += 1;
            skipped = Some(at + begin as u64);
        }
        if skipped.is_some() {
            // Nothing of it is needed.
            at += held as u64;
            if has_zeros && buffer[..held].iter().all(|byte| *byte == 0) {
                at = behind_hole(file, at)?;
            }
            held = 0;
        } else {
            buffer.copy_within(begin..held, 0);
            (at, held) = (at + begin as u64, held - begin);
        }
    }
}

/// Goes on where something was written again, at the earliest here.
fn behind_hole(file: &mut File, here: u64) -> io::Result<u64> {
    match rustix::fs::seek(&*file, rustix::fs::SeekFrom::Data(here)) {
        Ok(at) => Ok(at),
        // There is nothing more.
        Err(rustix::io::Errno::NXIO) => file.seek(SeekFrom::End(0)),
        // There are file systems that know of no holes.
        Err(_) => file.seek(SeekFrom::Start(here)),
    }
}

/// What a line of a journal is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What<'a> {
    /// A frame to or from this agent.
    Sent(AgentKey, &'a str),
    Heard(AgentKey, &'a str),
    /// What the person wanted, and what happened on this machine, of this session or agent.
    Intent(Option<Address>, &'a str),
    Fact(Option<Address>, &'a str),
    /// The branch that a directory is on in which a session is about to begin.
    Branch(&'a str),
    /// The writer ended here.
    End,
    Other,
}

/// A line, and when it was written, in seconds since the journal began.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row<'a> {
    pub t: f64,
    pub what: What<'a>,
}

/// All members that a line of a journal or a recording may have.
#[derive(Deserialize)]
pub struct Record<'a> {
    #[serde(default)]
    pub t: f64,
    #[serde(borrow, default)]
    pub dir: Cow<'a, str>,
    /// Whom it concerns; missing in version 1, which knows one agent with one session, and in recordings.
    #[serde(default)]
    pub at: Option<Address>,
    /// Of recordings: the agent's key, unless it is the first one. Old headers have a text here.
    #[serde(borrow, default)]
    agent: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub frame: Option<&'a RawValue>,
    /// A frame with bytes that could not be kept.
    #[serde(borrow, default)]
    pub raw: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub intent: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub fact: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub timer: Option<&'a RawValue>,
    /// Of the header: when the program was started, in seconds since 1970.
    #[serde(default)]
    pub started: Option<u64>,
    /// Of the header: whether prompts waited for the snapshot, and the gate at first.
    #[serde(borrow, default)]
    pub review: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub gate: Option<&'a RawValue>,
    /// Of the header: whether rules were asked.
    #[serde(borrow, default)]
    pub rules: Option<&'a RawValue>,
    /// Of the header: whether earlier journals were read, and how was decided what agents ask for.
    #[serde(borrow, default)]
    pub earlier: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub policy: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub unstable: Option<&'a RawValue>,
    /// Of the header: how the agent was spoken to.
    #[serde(borrow, default)]
    pub codec: Option<Cow<'a, str>>,
    /// Whether another version was spoken where the agent refused that; older headers do not say it, and none was.
    #[serde(borrow, default)]
    pub protocol: Option<&'a RawValue>,
    /// Of a journal out of which a conversation was taken: what is counted over all goes on from here.
    #[serde(borrow, default)]
    pub numbers: Option<&'a RawValue>,
    /// The same of a call to an agent: whose it is.
    #[serde(default)]
    pub of: Option<Address>,
    /// Of a directory in which a session begins; the header has a text here.
    #[serde(borrow, default)]
    branch: Option<&'a RawValue>,
    #[serde(default)]
    end: bool,
}

impl Record<'_> {
    /// Whom a frame concerns.
    pub fn peer(&self) -> Address {
        let further = || self.agent.and_then(|agent| serde_json::from_str::<AgentKey>(agent.get()).ok());
        self.at.unwrap_or_else(|| further().unwrap_or(AgentKey::FIRST).into())
    }
}

/// Reads a line; nothing when it is none of a journal.
pub fn row(line: &[u8]) -> Option<Row<'_>> {
    let line = std::str::from_utf8(line).ok().filter(|line| line.starts_with('{'))?;
    plain(line).or_else(|| parsed(line)).filter(|row| row.t.is_finite() && row.t >= 0.0)
}

/// A frame as our own writer puts it down, told by its first bytes: most lines are such.
fn plain(line: &str) -> Option<Row<'_>> {
    let rest = line.strip_prefix("{\"t\":")?;
    let (t, rest) = rest.split_at_checked(memchr(b',', rest.as_bytes())?)?;
    let rest = rest.strip_prefix(",\"dir\":\"")?;
    let (is_heard, rest) = match rest.strip_prefix("agent->client\",") {
        Some(rest) => (true, rest),
        None => (false, rest.strip_prefix("client->agent\",")?),
    };
    let (agent, rest) = match rest.strip_prefix("\"at\":{\"agent\":").or_else(|| rest.strip_prefix("\"agent\":")) {
        None => (0, rest),
        Some(rest) => {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            let (number, rest) = rest.split_at_checked(digits)?;
            (number.parse().ok()?, rest.strip_prefix('}').unwrap_or(rest).strip_prefix(',')?)
        }
    };
    let frame = rest.strip_prefix("\"frame\":")?.strip_suffix('}')?;
    let what = if is_heard { What::Heard(AgentKey(agent), frame) } else { What::Sent(AgentKey(agent), frame) };
    // What is cut or goes on behind the frame is found out when the frame is read.
    Some(Row { t: t.parse().ok()?, what })
}

fn parsed(line: &str) -> Option<Row<'_>> {
    let record: Record<'_> = serde_json::from_str(line).ok()?;
    let agent = if let Address::Agent(agent) = record.peer() { agent } else { AgentKey::FIRST };
    let what = match (&*record.dir, record.frame) {
        ("client->agent", Some(frame)) => What::Sent(agent, frame.get()),
        ("agent->client", Some(frame)) => What::Heard(agent, frame.get()),
        _ if record.end => What::End,
        _ => match (record.intent, record.fact, record.branch) {
            (Some(intent), ..) => What::Intent(record.at, intent.get()),
            (None, Some(fact), _) => What::Fact(record.at, fact.get()),
            (None, None, Some(branch)) if record.dir == "host" => What::Branch(branch.get()),
            (None, None, _) => What::Other,
        },
    };
    Some(Row { t: record.t, what })
}

#[cfg(test)]
#[path = "lines_tests.rs"]
mod tests;
