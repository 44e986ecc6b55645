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

/// Recordings `gemini/load-now.jsonl` (the first) and a second load of one session: a session that is not there any more is
/// an internal error, and only its words tell it from any other.
const SAYS_THAT_IT_IS_GONE: &[&str] = &["No previous sessions found for this project", "Invalid session identifier"];

/// Whether an error says, in words alone, that there is no such session.
pub fn says_it_is_gone(words: &str) -> bool {
    SAYS_THAT_IT_IS_GONE.iter().any(|said| words.contains(said))
}

/// Recording `gemini/shell.jsonl`: a command stands in the title of its call, whose text is `[current working directory DIR]`. Where
/// the model has named another directory this agent (0.61, `getContextualDetails`) writes `[in DIR]` there and says it nowhere
/// else, and what stands behind it is the model's.
const SAYS_ELSEWHERE: &str = "[in ";

/// Whether the text of a call says, in words alone, that its command runs in another directory than the session's.
pub fn says_elsewhere(text: &str) -> bool {
    text.trim_start().starts_with(SAYS_ELSEWHERE)
}

/// Recordings `claude-code-acp/edit.jsonl` and `shell.jsonl`: tools of a server of its own stand in the place of those that are
/// built in, and do what those do.
const IN_PLACE: &str = "mcp__acp__";

/// The name of a tool without that of such a server.
pub fn tool_name(name: &str) -> &str {
    name.strip_prefix(IN_PLACE).filter(|rest| !rest.is_empty()).unwrap_or(name)
}

/// Observed with Gemini CLI 0.61: a load begins a second, empty file with the same short id, and the next start of the
/// agent removes both as one that has expired.
const LOSES_WHAT_IT_LOADS: &[&str] = &["gemini-cli"];

/// What the person can set so that sessions which were loaded once can be loaded again.
pub fn against_loss(name: Option<&str>) -> Option<&'static str> {
    let loses = name.is_some_and(|n| LOSES_WHAT_IT_LOADS.contains(&n));
    loses.then_some(
        "This agent removes what it has kept of a session when that is loaded a second time; with \
         \"general\": { \"sessionRetention\": { \"enabled\": false } } in its settings.json it keeps all.",
    )
}
