//! `fs/read_text_file`: a text file or some of its lines, exactly as they are on disk.
//!
//! No line ending, byte order mark or final newline is touched. Invariant: what is returned is a byte-exact part
//! of the file and at most `MAX_READ_BYTES` long; a range reads the file as a stream.

use std::io::{self, BufRead, BufReader, Read};

use super::beneath::{Missing, open_parent, open_regular};
use super::{FsError, Roots};
use std::path::Path;

/// The most that one answer carries.
pub const MAX_READ_BYTES: u64 = 16 * 1024 * 1024;

/// Reads the text of a file, from line `line` (1-based) on, at most `limit` lines.
pub fn read_text(
    roots: &Roots,
    path: impl AsRef<Path>,
    line: Option<u32>,
    limit: Option<u32>,
) -> Result<String, FsError> {
    let at = roots.check(path)?;
    let (dir, name) = open_parent(&at, Missing::Refuse)?;
    let (file, stat) = open_regular(&at, &dir, &name)?;
    let too_large = || FsError::TooLarge { path: at.asked.clone(), limit: MAX_READ_BYTES };
    let skip = u64::from(line.unwrap_or(1).max(1)) - 1;
    let whole = skip == 0 && limit.is_none();
    if whole && u64::try_from(stat.st_size).unwrap_or(0) > MAX_READ_BYTES {
        return Err(too_large());
    }
    let read = match limit {
        // The size that the system reports may be out of date or zero, so the bound holds while reading too.
        None if whole => read_all(file),
        _ => read_lines(BufReader::with_capacity(64 * 1024, file), skip, limit.map(u64::from)),
    };
    let bytes = read.map_err(|e| FsError::os(&at.asked, e))?.ok_or_else(too_large)?;
    String::from_utf8(bytes).map_err(|_| FsError::NotText(at.asked.clone()))
}

/// `None`: larger than allowed.
pub(super) fn read_all(file: impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    file.take(MAX_READ_BYTES + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= MAX_READ_BYTES).then_some(bytes))
}

/// Skips lines without keeping them, then takes some. `None`: larger than allowed.
fn read_lines(mut reader: impl BufRead, mut skip: u64, take: Option<u64>) -> io::Result<Option<Vec<u8>>> {
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
        }
        reader.consume(used);
        if out.len() as u64 > MAX_READ_BYTES {
            return Ok(None);
        }
    }
    Ok(Some(out))
}
