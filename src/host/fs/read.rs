//! `fs/read_text_file`: a text file or some of its lines, exactly as they are on disk.
//!
//! No line ending, byte order mark or final newline is touched. Invariants: what is returned is a byte-exact part of the
//! file and at most `MAX_READ_BYTES` long; a range reads the file as a stream, of which at most `MAX_SKIPPED_BYTES` are
//! passed over; it ends soon after its request is void.

use std::io::{self, BufRead, BufReader, Read};

use super::beneath::{Missing, open_parent, open_regular};
use super::{FsError, Resolved};

/// The most that one answer carries.
pub const MAX_READ_BYTES: u64 = 16 * 1024 * 1024;
/// The most that is read to get to the first line wanted.
pub const MAX_SKIPPED_BYTES: u64 = 256 * 1024 * 1024;
/// Read at once; whether it is still wanted is asked in between.
const CHUNK: usize = 64 * 1024;

/// Reads the text of a file, from line `line` (1-based) on, at most `limit` lines, as long as it `is_wanted`.
pub fn read_text(
    at: Resolved,
    line: Option<u32>,
    limit: Option<u32>,
    is_wanted: &dyn Fn() -> bool,
) -> Result<String, FsError> {
    let (dir, name) = open_parent(&at, Missing::Refuse)?;
    let (file, stat) = open_regular(&at, &dir, &name)?;
    let too_large = || FsError::TooLarge { path: at.asked.clone(), limit: MAX_READ_BYTES };
    let skip = u64::from(line.unwrap_or(1).max(1)) - 1;
    if skip == 0 && limit.is_none() && u64::try_from(stat.st_size).unwrap_or(0) > MAX_READ_BYTES {
        return Err(too_large());
    }
    let reader = BufReader::with_capacity(CHUNK, Cancellable { file, is_wanted });
    match read_lines(reader, skip, limit.map(u64::from), MAX_SKIPPED_BYTES) {
        Ok(Lines::Text(bytes)) => String::from_utf8(bytes).map_err(|_| FsError::NotText(at.asked)),
        Ok(Lines::TooLarge) => Err(too_large()),
        Ok(Lines::TooFar) => {
            Err(FsError::TooFar { path: at.asked, line: skip.saturating_add(1), limit: MAX_SKIPPED_BYTES })
        }
        Err(_) if !is_wanted() => Err(FsError::NotWanted(at.asked)),
        Err(e) => Err(FsError::os(&at.asked, e)),
    }
}

/// Fails as soon as the request is void.
struct Cancellable<'a, R> {
    file: R,
    is_wanted: &'a dyn Fn() -> bool,
}

impl<R: Read> Read for Cancellable<'_, R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if (self.is_wanted)() { self.file.read(into) } else { Err(io::ErrorKind::TimedOut.into()) }
    }
}

enum Lines {
    Text(Vec<u8>),
    /// There is more than one answer carries.
    TooLarge,
    /// The first line lies behind what may be passed over.
    TooFar,
}

/// Skips lines without keeping them, then takes some.
fn read_lines(mut reader: impl BufRead, mut skip: u64, take: Option<u64>, mut to_pass: u64) -> io::Result<Lines> {
    let mut left = take.unwrap_or(u64::MAX);
    let mut out = Vec::new();
    while left > 0 {
        let chunk = match reader.fill_buf() {
            Ok([]) => break,
            Ok(chunk) => chunk,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(e),
        };
        let (piece, ended) = match chunk.iter().position(|&b| b == b'\n') {
            Some(at) => (chunk.get(..=at).unwrap_or(chunk), true),
            None => (chunk, false),
        };
        let used = piece.len();
        if skip == 0 {
            out.extend_from_slice(piece);
            left -= u64::from(ended);
        } else {
            skip -= u64::from(ended);
            let Some(rest) = to_pass.checked_sub(used as u64) else { return Ok(Lines::TooFar) };
            to_pass = rest;
        }
        reader.consume(used);
        if out.len() as u64 > MAX_READ_BYTES {
            return Ok(Lines::TooLarge);
        }
    }
    Ok(Lines::Text(out))
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;
