//! The bounds of what is kept of one message of an agent, in one place; what the transcript keeps in all is bounded in
//! `model::entries`, a line and what is read ahead in `wire`.
//!
//! What is longer is cut, and the cut text itself says how much is missing; the journal has the whole. Three things are
//! never cut: an id (a longer one is refused, since it would become another), what is to be carried out, and what a
//! person is asked (such a request is refused as a whole).

/// Bytes of an id: of sessions, calls, terminals, modes, options, values, commands, messages. Longer ones are refused;
/// of a message's, which is only told apart from others, a digest is kept where it is long.
pub const MAX_ID: usize = 1 << 10;
/// Bytes of a name: of agents, modes, options, values, commands, units.
pub const MAX_NAME: usize = 1 << 10;
/// Bytes of the title of a tool call, also of a line in a plan: some agents put a whole command there.
pub const MAX_TITLE: usize = 64 << 10;
/// Bytes of what explains: descriptions, notices, words for a reason.
pub const MAX_WORDS: usize = 16 << 10;
/// Bytes of a line of a plan.
pub const MAX_STEP: usize = 4 << 10;
/// Bytes of a path or address that is shown.
pub const MAX_PATH: usize = 4 << 10;
/// Bytes of one text of a tool call or of an embedded resource.
pub const MAX_TEXT: usize = 4 << 20;
/// Bytes of all that one tool call shows, and as many of its raw input and output.
pub const MAX_CONTENT: usize = 32 << 20;
/// Bytes of what is kept of usage as reported.
pub const MAX_USAGE: usize = 16 << 10;

/// Steps of a plan.
pub const MAX_STEPS: usize = 1000;
/// Parts of a tool call, and its places.
pub const MAX_PARTS: usize = 1000;
/// Slash commands.
pub const MAX_COMMANDS: usize = 2000;
/// Modes, options, ways to log in.
pub const MAX_CHOICES: usize = 500;
/// Values of one option.
pub const MAX_VALUES: usize = 5000;
/// Answers to one question; a question with more is refused.
pub const MAX_ANSWERS: usize = 500;
/// Fields of a form, and bytes of it with all its words; a larger one is refused.
pub const MAX_FIELDS: usize = 200;
pub const MAX_FORM: usize = 256 << 10;
/// Bytes of command, arguments and variables of a command to run; a larger one is refused.
pub const MAX_COMMAND: usize = 256 << 10;
/// Lines of a command to run; one with more is refused.
pub const MAX_COMMAND_LINES: usize = 2000;
/// Variables of a command to run, and its arguments; one with more is refused.
pub const MAX_VARIABLES: usize = 1000;
/// Sessions in one list of an agent, and pages of it.
pub const MAX_LISTED: usize = 10_000;
pub const MAX_PAGES: u32 = 1_000;
/// Further directories of a listed session.
pub const MAX_DIRECTORIES: usize = 100;
/// Values of all kinds in one message beside its texts; an object counts as several.
pub const MAX_VALUES_READ: usize = 200_000;

/// Commands of agents that run at once.
pub const MAX_TERMINALS: usize = 256;

/// A text of at most `max` bytes and, where something is missing, words that say how much.
pub fn cut(text: impl AsRef<str> + Into<String>, max: usize) -> String {
    let whole = text.as_ref();
    if whole.len() <= max {
        return text.into();
    }
    let at = whole.floor_char_boundary(max);
    let head = whole.get(..at).unwrap_or_default();
    format!("{head}{}", left_out(whole.len() - at))
}

/// What stands where bytes are missing.
pub fn left_out(bytes: usize) -> String {
    format!("… [{bytes} bytes left out]")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_text_says_how_many_bytes_are_missing_and_is_cut_between_characters() {
        assert_eq!(cut("short", 5), "short");
        assert_eq!(cut("longer", 4), "long… [2 bytes left out]");
        assert_eq!(cut("aé", 2), "a… [2 bytes left out]");
    }
}
