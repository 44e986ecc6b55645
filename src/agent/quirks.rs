//! Deviations of single agents that no shape of a message tells: data, each with the recording that forced it.
//!
//! Nothing else in the code base asks for an agent's name.

use std::time::Duration;

/// What a read of a missing file inside the roots yields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingFile {
    /// -32002, as the protocol says.
    NotFound,
    /// `""`.
    Empty,
}

/// Recording `gemini/edit.jsonl` against `gemini/edit-missing-empty.jsonl`: before it creates a file this agent reads
/// it through the client, and takes the proper error for a failure of the tool.
const READS_BEFORE_CREATING: &[&str] = &["gemini-cli"];

/// `name` is `agentInfo.name`.
pub fn missing_file(name: Option<&str>) -> MissingFile {
    if name.is_some_and(|n| READS_BEFORE_CREATING.contains(&n)) { MissingFile::Empty } else { MissingFile::NotFound }
}

/// Recording `gemini/load-now.jsonl`: a session that is loaded in the minute in which it was made or loaded before is not
/// found, and what was kept of it is destroyed, since the file bears the minute in its name.
const KEEPS_BY_THE_MINUTE: &[&str] = &["gemini-cli"];

/// How long after it was opened a session can be loaded again.
pub fn youngest(name: Option<&str>) -> Duration {
    let is_one = name.is_some_and(|n| KEEPS_BY_THE_MINUTE.contains(&n));
    if is_one { Duration::from_mins(1) } else { Duration::ZERO }
}
