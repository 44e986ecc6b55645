//! Streams of zlib, by few packers and unpackers that are used again: one of them takes up to 380 KB, and made anew for each
//! blob they leave holes in the memory of a long session that grow with every turn.
//!
//! Knows no objects. Invariants: one of each is kept, however many are in use at once; each begins anew with
//! every stream, whatever became of the one before.

use gix::zlib::stream::deflate::{Compress, FlushCompress};
use gix::zlib::{Compression, Decompress, FlushDecompress, Status};
use std::io::{self, BufRead, Write};
use std::sync::{Mutex, PoisonError};

static PACKERS: Pool<Compress> = Pool::new();
static UNPACKERS: Pool<Decompress> = Pool::new();
/// Bytes that are packed or unpacked at a time.
const PIECE: usize = 8 << 10;

struct Pool<T>(Mutex<Option<T>>);

impl<T> Pool<T> {
    const fn new() -> Self {
        Self(Mutex::new(None))
    }

    /// One that nobody else uses meanwhile.
    fn with<R>(&self, make: impl FnOnce() -> T, used: impl FnOnce(&mut T) -> R) -> R {
        let kept = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = kept().take();
        let mut one = before.unwrap_or_else(make);
        let result = used(&mut one);
        *kept() = Some(one);
        result
    }
}

/// Writes what comes of these bytes, piece by piece: what is packed of a large file is nowhere as a whole.
pub(super) fn pack(bytes: &[u8], out: &mut impl Write) -> io::Result<()> {
    let new = || Compress::new(Compression::BEST_SPEED);
    PACKERS.with(new, |packer| {
        packer.reset();
        let (mut rest, mut buffer) = (bytes, [0; PIECE]);
        loop {
            let (before_in, before_out) = (packer.total_in(), packer.total_out());
            let status = packer.compress(rest, &mut buffer, FlushCompress::Finish).map_err(io::Error::other)?;
            let read = (packer.total_in() - before_in) as usize;
            let wrote = (packer.total_out() - before_out) as usize;
            rest = rest.get(read..).unwrap_or_default();
            out.write_all(buffer.get(..wrote).unwrap_or_default())?;
            if status == Status::StreamEnd {
                return Ok(());
            }
            if read == 0 && wrote == 0 {
                return Err(io::Error::other("the packer stopped"));
            }
        }
    })
}

/// The bytes of a stream; `None` when it is cut short or there are more than `most`. Memory grows with what is there.
pub(crate) fn unpack(file: &mut impl BufRead, most: usize) -> io::Result<Option<Vec<u8>>> {
    let (out, is_whole) = unpack_until(file, most.saturating_add(1))?;
    Ok((is_whole && out.len() <= most).then_some(out))
}

/// The first bytes of a stream, `most` at most.
pub(super) fn unpack_some(file: &mut impl BufRead, most: usize) -> io::Result<Vec<u8>> {
    let (mut out, _) = unpack_until(file, most)?;
    out.truncate(most);
    Ok(out)
}

/// Unpacks until there are `enough` bytes or no more. Whether the stream ends there.
fn unpack_until(file: &mut impl BufRead, enough: usize) -> io::Result<(Vec<u8>, bool)> {
    UNPACKERS.with(Decompress::new, |unpacker| {
        unpacker.reset();
        let (mut out, mut buffer) = (Vec::new(), [0; PIECE]);
        loop {
            let input = file.fill_buf()?;
            let (before_in, before_out) = (unpacker.total_in(), unpacker.total_out());
            let flush = if input.is_empty() { FlushDecompress::Finish } else { FlushDecompress::None };
            let status = unpacker.decompress(input, &mut buffer, flush).map_err(io::Error::other)?;
            let read = (unpacker.total_in() - before_in) as usize;
            let wrote = (unpacker.total_out() - before_out) as usize;
            file.consume(read);
            out.extend_from_slice(buffer.get(..wrote).unwrap_or_default());
            if status == Status::StreamEnd {
                return Ok((out, true));
            }
            if out.len() >= enough || (read == 0 && wrote == 0) {
                return Ok((out, false));
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn what_is_made_once_is_used_again_and_no_more_than_one_is_kept() {
        let (pool, made) = (Pool::new(), Cell::new(0));
        let make = || made.replace(made.get() + 1);
        for _ in 0..1000 {
            pool.with(make, |_| {});
        }
        assert_eq!(made.get(), 1);
        // Two at once.
        pool.with(make, |one| pool.with(make, |other| assert_ne!(one, other)));
        assert_eq!(made.get(), 2);
        pool.with(make, |_| {});
        assert_eq!(made.get(), 2);
    }

    #[test]
    fn what_was_packed_is_unpacked_also_after_what_was_broken_off() {
        let mut texts = vec![Vec::new(), b"x".to_vec(), vec![b'a'; 100_000]];
        texts.push((0..50_000_u32).flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()).collect());
        for text in &texts {
            let mut packed = Vec::new();
            pack(text, &mut packed).unwrap();
            assert_eq!(unpack(&mut &packed[..packed.len() / 2], text.len()).unwrap(), None);
            assert_eq!(unpack(&mut &*packed, text.len()).unwrap().as_ref(), Some(text));
            if let Some(less) = text.len().checked_sub(1) {
                assert_eq!(unpack(&mut &*packed, less).unwrap(), None);
            }
            assert!(unpack(&mut &b"no stream of zlib"[..], 100).is_err());
        }
    }
}
