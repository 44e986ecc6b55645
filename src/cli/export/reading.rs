//! A file of ours, read from its beginning to its end while its journals are written: however large it is, no more than a
//! line of it is held.
//!
//! Invariant: what is written has no name yet, and goes when the file turns out to be none of ours.

use super::write::{KIND, VERSION};
use super::{Fault, MAX_LINE};
use crate::base::human;
use crate::cli::usage::Usage;
use crate::store::lines;
use crate::store::sessions::{self, IMPORTED};
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;
use std::cell::Cell;
use std::fmt;
use std::io::{self, BufReader, BufWriter, Read, Write as _};
use std::path::Path;
use std::rc::Rc;
use std::time::{SystemTime, UNIX_EPOCH};
use tempfile::NamedTempFile;

/// A journal that is written, and the name that it is to have.
pub struct Taken {
    pub name: String,
    /// The journal of which it is a part, where it is one.
    pub run: Option<String>,
    pub temp: BufWriter<NamedTempFile>,
    sum: crc32fast::Hasher,
    bytes: usize,
}

impl Taken {
    pub fn new(dir: &Path) -> io::Result<Self> {
        let temp = BufWriter::new(NamedTempFile::new_in(dir)?);
        Ok(Self { name: String::new(), run: None, temp, sum: crc32fast::Hasher::new(), bytes: 0 })
    }

    pub fn line(&mut self, line: &[u8]) -> io::Result<()> {
        self.sum.update(line);
        self.bytes += line.len() + 1;
        self.temp.write_all(line)?;
        self.temp.write_all(b"\n")
    }

    /// Hands over each line of a file until one cannot be written.
    pub fn each(&mut self, file: &Path, mut take: impl FnMut(&mut Self, &[u8]) -> io::Result<()>) -> Result<(), Fault> {
        let mut file = lines::open(file)?;
        let mut done = Ok(());
        lines::each_up_to(&mut file, MAX_LINE, |line| {
            if done.is_ok() {
                done = take(self, line);
            }
        })?;
        Ok(done?)
    }
}

/// The journals of an exported conversation; nothing when the file is none.
pub fn of_export(file: &Path, dir: &Path) -> Result<Option<Vec<Taken>>, Fault> {
    let opened = lines::open(file).map_err(|error| Usage(format!("{}: {error}", file.display())))?;
    let left = Rc::new(Cell::new(MAX_LINE as u64));
    let mut read =
        Export { dir, left: Rc::clone(&left), kind: Value::Null, v: Value::Null, journals: None, fault: None };
    let mut json =
        serde_json::Deserializer::from_reader(Bounded { file: BufReader::new(opened), left: Rc::clone(&left) });
    let done = json.deserialize_map(&mut read);
    if let Some(error) = read.fault {
        return Err(error.into());
    }
    // A recording has at least one line that is whole.
    if done.as_ref().is_err_and(serde_json::Error::is_eof) && (read.journals.is_some() || left.get() < MAX_LINE as u64)
    {
        return Err(Usage("it is cut off: the JSON that it begins with has no end; export it once more".into()).into());
    }
    if done.is_err() && read.journals.is_none() || done.is_ok() && read.kind != KIND {
        return Ok(None);
    }
    done.map_err(|error| Usage(format!("it is damaged: {error}")))?;
    if read.v.as_u64().is_none_or(|v| v > u64::from(VERSION)) {
        return Err(Usage("it was written by a newer acp-tui".into()).into());
    }
    let journals = read.journals.ok_or_else(|| Usage("it has no journals".into()))?;
    Ok(Some(journals.into_iter().filter(|taken| taken.bytes > 0).collect()))
}

/// The first line of a journal that came in a file: marked as such, and not begun in times to come.
pub fn marked(head: &Value) -> Option<Value> {
    let mut head = head.as_object()?.clone();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let started = head.get("started").and_then(Value::as_u64).unwrap_or(0).min(now);
    head.insert("imported".into(), true.into());
    head.insert("started".into(), started.into());
    Some(Value::Object(head))
}

/// The name of what has such a sum and so many bytes.
pub fn named(sum: u32, bytes: usize) -> String {
    format!("{IMPORTED}{sum:08x}-{bytes}{}", sessions::ENDING)
}

/// Reads no more than is left.
struct Bounded {
    file: BufReader<std::fs::File>,
    left: Rc<Cell<u64>>,
}

impl Read for Bounded {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.left.get();
        if left == 0 {
            let most = human::bytes(MAX_LINE as u64);
            return Err(io::Error::other(format!("one of its lines has more than {most}")));
        }
        let most = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let read = self.file.read(&mut buffer[..most])?;
        self.left.set(left - read as u64);
        Ok(read)
    }
}

struct Export<'a> {
    dir: &'a Path,
    /// Bytes that may be read before the next line is over.
    left: Rc<Cell<u64>>,
    kind: Value,
    v: Value,
    journals: Option<Vec<Taken>>,
    /// What could not be written.
    fault: Option<io::Error>,
}

impl Export<'_> {
    /// The value, unless it could not be written.
    fn written<T, E: serde::de::Error>(&mut self, done: io::Result<T>) -> Result<T, E> {
        done.map_err(|error| {
            let words = E::custom(&error);
            self.fault = Some(error);
            words
        })
    }
}

impl<'de> Visitor<'de> for &mut Export<'_> {
    type Value = ();

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("a conversation")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key::<String>()? {
            match name.as_str() {
                "kind" => self.kind = map.next_value()?,
                "v" => self.v = map.next_value()?,
                "journals" => {
                    self.journals = Some(Vec::new());
                    map.next_value_seed(Journals(self))?;
                }
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
            self.left.set(MAX_LINE as u64);
        }
        Ok(())
    }
}

/// The list of journals, one of them, and its lines.
struct Journals<'a, 'b>(&'a mut Export<'b>);
struct Journal<'a, 'b>(&'a mut Export<'b>);
struct Lines<'a, 'b>(&'a mut Export<'b>, &'a mut Taken);

impl<'de> DeserializeSeed<'de> for Journals<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Journals<'_, '_> {
    type Value = ();

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("a list of journals")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while let Some(taken) = list.next_element_seed(Journal(self.0))? {
            self.0.journals.get_or_insert_default().push(taken);
        }
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Journal<'_, '_> {
    type Value = Taken;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Taken, D::Error> {
        json.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Journal<'_, '_> {
    type Value = Taken;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("a journal")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Taken, A::Error> {
        let taken = Taken::new(self.0.dir);
        let (mut taken, mut told, mut run) = (self.0.written(taken)?, Value::Null, Value::Null);
        while let Some(name) = map.next_key::<String>()? {
            match name.as_str() {
                "name" => told = map.next_value()?,
                "run" => run = map.next_value()?,
                "lines" => map.next_value_seed(Lines(self.0, &mut taken))?,
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        taken.run = ours(&run).map(|run| format!("{run}{}", sessions::ENDING));
        taken.name = match ours(&told) {
            Some(name) => format!("{IMPORTED}{}{}", name.strip_prefix(IMPORTED).unwrap_or(name), sessions::ENDING),
            None => named(taken.sum.clone().finalize(), taken.bytes),
        };
        Ok(taken)
    }
}

/// A name is a file here: only one that we could have given is taken.
fn ours(name: &Value) -> Option<&str> {
    let is_ours = |name: &&str| {
        !name.is_empty() && name.len() < 100 && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
    };
    name.as_str().filter(is_ours)
}

impl<'de> DeserializeSeed<'de> for Lines<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Lines<'_, '_> {
    type Value = ();

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("a list of lines")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let Self(export, taken) = self;
        while let Some(line) = list.next_element::<Box<RawValue>>()? {
            let done = if taken.bytes == 0 {
                let head: Value = serde_json::from_str(line.get()).map_err(A::Error::custom)?;
                let head = marked(&head).ok_or_else(|| A::Error::custom("a journal without a head"))?;
                taken.line(head.to_string().as_bytes())
            } else if line.get().contains(['\n', '\r']) {
                // It was laid out by another program.
                let value: Value = serde_json::from_str(line.get()).map_err(A::Error::custom)?;
                taken.line(value.to_string().as_bytes())
            } else {
                taken.line(line.get().as_bytes())
            };
            export.written(done)?;
            export.left.set(MAX_LINE as u64);
        }
        Ok(())
    }
}
