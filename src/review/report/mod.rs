//! The review for scripts and for git: JSON and patches.
//!
//! Decides nothing. Invariant: of what is written file by file, only so much is in memory; what is more stands in a file
//! without a name beside the review, where the reader fetches it.

pub mod blame;
pub mod json;
pub mod patch;

use crate::review::error::{ReviewError, words};
use crate::review::session::ReviewSession;
use std::io::{self, BufWriter, Seek as _, Write as _};
use tempfile::SpooledTempFile;

/// Bytes that are kept in memory: what is no larger can be had also when the disk of the review is full.
const IN_MEMORY: usize = 8 << 20;

/// Something that was written, to be read from its beginning.
pub type Draft = SpooledTempFile;

/// A short one.
pub fn draft_of(text: &str) -> Draft {
    let mut draft = Draft::new(usize::MAX);
    // Memory takes it.
    let _ = draft.write_all(text.as_bytes()).and_then(|()| draft.rewind());
    draft
}

/// One to be written.
fn begun(review: &ReviewSession) -> BufWriter<Draft> {
    BufWriter::new(tempfile::spooled_tempfile_in(IN_MEMORY, review.dir()))
}

/// One that was written.
fn done(written: BufWriter<Draft>) -> Result<Draft, ReviewError> {
    let mut draft = written.into_inner().map_err(|error| unready(error.into_error()))?;
    draft.rewind().map_err(unready)?;
    Ok(draft)
}

fn unready(error: io::Error) -> ReviewError {
    ReviewError::Refused(format!("it could not be made ready beside the review: {}", words(&error)))
}
