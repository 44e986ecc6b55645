//! What a line of the person's is: words for the agent, the number of an answer, or a command of ours.
//!
//! Does nothing. Invariant: help and parser read the same table.

/// What begins a command.
const MARK: char = ':';
/// A line of these alone begins and ends a prompt of several lines.
pub(super) const BLOCK: &str = "\"\"\"";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Command {
    Help,
    Stop,
    No,
    Again,
    Status,
    Changes,
    Accept,
    Reject,
    Undo,
    Redo,
    Output,
    Commands,
    Mode,
    Model,
    Set,
    Gate,
    Permissions,
    TakeBack,
    Go,
    LogIn,
    Restart,
    Quit,
}

struct Row {
    word: &'static str,
    takes: &'static str,
    help: &'static str,
    command: Command,
}

const ROWS: &[Row] = &[
    Row { word: "help", takes: "", help: "this list", command: Command::Help },
    Row { word: "stop", takes: "", help: "stop the turn, as Ctrl+C does", command: Command::Stop },
    Row { word: "no", takes: "[REASON]", help: "refuse what is asked; the agent is told why", command: Command::No },
    Row { word: "again", takes: "", help: "print the question that waits once more", command: Command::Again },
    Row { word: "status", takes: "", help: "what the agent is at, and how it is set", command: Command::Status },
    Row { word: "changes", takes: "[FILE]", help: "what was changed and is not decided", command: Command::Changes },
    Row { word: "accept", takes: "all|FILE", help: "keep these changes", command: Command::Accept },
    Row { word: "reject", takes: "all|FILE", help: "take these changes back", command: Command::Reject },
    Row { word: "undo", takes: "", help: "take the last decision back", command: Command::Undo },
    Row { word: "redo", takes: "", help: "do it again", command: Command::Redo },
    Row { word: "output", takes: "", help: "what the last command printed", command: Command::Output },
    Row { word: "commands", takes: "", help: "the agent's own commands, typed as /NAME", command: Command::Commands },
    Row { word: "mode", takes: "[ID]", help: "the agent's modes; with ID, this one", command: Command::Mode },
    Row { word: "model", takes: "[ID]", help: "its models; with ID, this one", command: Command::Model },
    Row {
        word: "set",
        takes: "[ID VALUE]",
        help: "what else can be set; with ID and VALUE, that",
        command: Command::Set,
    },
    Row {
        word: "gate",
        takes: "[off|ask]",
        help: "whether each write and command is asked about",
        command: Command::Gate,
    },
    Row {
        word: "permissions",
        takes: "[MODE[:TIME]]",
        help: "the client's own mode: default, acceptEdits, plan or bypassPermissions",
        command: Command::Permissions,
    },
    Row { word: "back", takes: "", help: "take back the prompts that wait", command: Command::TakeBack },
    Row { word: "go", takes: "", help: "send the prompts that are held", command: Command::Go },
    Row { word: "login", takes: "", help: "log in, although nothing was refused", command: Command::LogIn },
    Row { word: "restart", takes: "", help: "start the agent again", command: Command::Restart },
    Row { word: "quit", takes: "", help: "end; what the session was is printed", command: Command::Quit },
];

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Said<'a> {
    Nothing,
    /// From 1.
    Number(usize),
    /// With what follows it.
    Command(Command, &'a str),
    /// It would be a command of the person's own on the screen.
    Shell,
    /// It begins like a command and is none.
    Unknown(&'a str),
    Words(&'a str),
}

/// A line that begins with `!` is never words: on the screen it would be run. A command needs only as much of its word as no other one begins with; `::` begins words with a `:`.
pub(super) fn read(line: &str) -> Said<'_> {
    let trimmed = line.trim();
    if trimmed.is_empty() {
        return Said::Nothing;
    }
    if let Some(rest) = trimmed.strip_prefix(MARK) {
        if rest.starts_with(MARK) {
            return Said::Words(rest);
        }
        let (word, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let mut fitting = ROWS.iter().filter(|row| row.word.starts_with(word));
        let exact = ROWS.iter().find(|row| row.word == word);
        return match (exact, fitting.next(), fitting.next()) {
            (Some(row), ..) | (None, Some(row), None) => Said::Command(row.command, rest.trim()),
            _ => Said::Unknown(word),
        };
    }
    if line.starts_with('!') {
        return Said::Shell;
    }
    match trimmed.parse() {
        Ok(number) if trimmed.bytes().all(|byte| byte.is_ascii_digit()) => Said::Number(number),
        _ => Said::Words(line),
    }
}

/// A line for each.
pub(super) fn help() -> impl Iterator<Item = String> {
    let intro = [
        "what you type goes to the agent; a question is answered by the number of an answer".to_owned(),
        format!(
            "a prompt of several lines stands between two lines {BLOCK}; a prompt that begins with : is typed with ::"
        ),
    ];
    let rows = ROWS.iter().map(|row| {
        let blank = if row.takes.is_empty() { "" } else { " " };
        format!("{MARK}{}{blank}{}: {}", row.word, row.takes, row.help)
    });
    intro.into_iter().chain(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_number_a_command_or_words() {
        for (line, said) in [
            ("", Said::Nothing),
            ("  ", Said::Nothing),
            ("2", Said::Number(2)),
            (" 12 ", Said::Number(12)),
            ("+2", Said::Words("+2")),
            ("2 files", Said::Words("2 files")),
            ("99999999999999999999999", Said::Words("99999999999999999999999")),
            (":no it is not mine", Said::Command(Command::No, "it is not mine")),
            (":cha src/a.rs", Said::Command(Command::Changes, "src/a.rs")),
            (":mode", Said::Command(Command::Mode, "")),
            (":re", Said::Unknown("re")),
            (":re x", Said::Unknown("re")),
            (":", Said::Unknown("")),
            (":wq", Said::Unknown("wq")),
            ("::wq", Said::Words(":wq")),
            ("/init", Said::Words("/init")),
        ] {
            assert_eq!(read(line), said, "{line}");
        }
    }

    #[test]
    fn words_of_commands_differ() {
        let words: std::collections::BTreeSet<_> = ROWS.iter().map(|row| row.word).collect();
        assert_eq!(words.len(), ROWS.len());
        assert_eq!(help().count(), ROWS.len() + 2);
    }
}
