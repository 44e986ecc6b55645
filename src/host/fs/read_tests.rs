//! Tests of how far a read goes.

use super::super::Roots;
use super::*;
use std::cell::Cell;
use std::fs;
use tempfile::TempDir;

fn place() -> (TempDir, Roots, std::path::PathBuf) {
    let temp = TempDir::new().unwrap();
    let roots = Roots::new(vec![temp.path().to_owned()]);
    let path = temp.path().canonicalize().unwrap().join("f");
    (temp, roots, path)
}

/// Counts what was read of it.
struct Counted<R>(R, Cell<u64>);

impl<R: Read> Read for &mut Counted<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.0.read(into)?;
        self.1.set(self.1.get() + read as u64);
        Ok(read)
    }
}

#[test]
fn a_line_far_into_a_file_is_refused_after_a_bounded_part_of_it() {
    for (line, text) in [(1, io::repeat(b'x')), (5, io::repeat(b'x')), (u64::MAX, io::repeat(b'\n'))] {
        let mut endless = Counted(text, Cell::new(0));
        let read = read_lines(BufReader::with_capacity(4096, &mut endless), line, Some(1), 1 << 20).unwrap();
        assert!(matches!(read, Lines::TooFar));
        assert!(endless.1.get() <= (1 << 20) + 4096, "{} bytes", endless.1.get());
    }
    // What ends before is read as far as it goes, and a line right behind it as well.
    let text = ["x".repeat(99), "\n".into(), "wanted\n".into()].concat();
    assert!(matches!(read_lines(text.as_bytes(), 1, Some(1), 100).unwrap(), Lines::Text(line) if line == b"wanted\n"));
    assert!(matches!(read_lines(text.as_bytes(), 1, Some(1), 99).unwrap(), Lines::TooFar));
    assert!(matches!(read_lines(text.as_bytes(), 9, Some(1), 107).unwrap(), Lines::Text(line) if line.is_empty()));
}

#[test]
fn a_sparse_file_of_a_terabyte_is_refused_and_says_what_to_do() {
    let (_temp, roots, path) = place();
    fs::File::create(&path).unwrap().set_len(1 << 40).unwrap();
    let reads = Cell::new(0_u64);
    let counted = || {
        reads.set(reads.get() + 1);
        true
    };
    let error = read_text(roots.check(&path).unwrap(), Some(2), Some(1), &counted).unwrap_err();
    assert!(matches!(error, FsError::TooFar { .. }));
    assert!(reads.get() <= MAX_SKIPPED_BYTES / CHUNK as u64 + 1, "{} reads", reads.get());
    let message = error.to_string();
    assert!(
        message.contains("line 2 ") && message.contains("earlier line") && message.contains("command"),
        "{message}"
    );
}

#[test]
fn what_nobody_wants_any_more_is_not_read_on() {
    let (_temp, roots, path) = place();
    fs::File::create(&path).unwrap().set_len(1 << 24).unwrap();
    for (line, limit) in [(None, None), (Some(2), Some(1)), (None, Some(1))] {
        let left = Cell::new(3);
        let wanted = || {
            left.set(left.get() - 1);
            left.get() > 0
        };
        let error = read_text(roots.check(&path).unwrap(), line, limit, &wanted).unwrap_err();
        assert!(matches!(error, FsError::NotWanted(_)), "{error}");
        assert_eq!(left.get(), -1, "asked once more for the reason");
    }
}
