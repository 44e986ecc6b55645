//! The texts of `--help`, made from the tables of commands and options. Kept in step with the manual by a test.

use super::commands::{COMMANDS, CommandRow, Name, Note};
use super::flags::{Flag, Takes, flags};
use std::fmt::Write as _;

/// Columns before what a command does, and before what an option does.
const COMMAND_COLUMNS: usize = 36;
const OPTION_COLUMNS: usize = 23;

const EXIT_CODES: &str = "\
Exit codes of exec:
  0 done · 1 fault of acp-tui · 2 usage · 3 the turn did not end well · 4 log-in needed · 5 no session, or the agent
  is gone · 124 timeout · 129 hung up · 130 interrupted · 131 quit · 134 aborted · 141 nobody reads the output ·
  143 terminated
";
const SESSION: &str = "\
SESSION is the agent's session id (exec --json prints it), the beginning of one, or `last`: the newest session of this
directory, else the newest of all.
";
const RULES: &str = "\
Rules: rules.toml beside config.toml; .acp-tui/rules.toml of a project may only ask and deny until it is trusted,
and again when it has changed. PATTERN is for example Bash(git *), Read(src/**), Edit(src/**), Fetch(domain:docs.rs)
or Mcp(server/tool). They answer what agents ask and hold for files and commands of the client; what they leave open
is asked as before.
Exit codes of rules test: 0 allow · 1 deny · 2 usage · 3 ask
";
const MCP: &str = "\
MCP servers: [mcp.NAME] of the configuration, a project's .mcp.json once you trust it, files that --mcp names.
Exit codes of mcp check: 0 all answered · 2 usage · 3 a server did not answer
";
const AGENTS: &str = "\
Registries: --registry names a file, an https: address (read by curl) or `public`, the registry of the protocol; the
copy that was read last serves without it. Nothing is downloaded or started before a yes to what is shown.
Agents that were added are in $XDG_DATA_HOME/acp-tui/agents (else ~/.local/share/acp-tui/agents)
Exit codes of agents: 0 done · 2 usage · 3 a download failed or is not what it should be; of check as those of exec
";
const AUDIT: &str = "\
The log is $XDG_STATE_HOME/acp-tui/audit (else ~/.local/state/acp-tui/audit), a file for each run; audit-ends beside it
holds the hash of the last line of each.
Exit codes of audit: 0 done or whole · 1 broken, with file and line · 2 usage
";
const DOCTOR: &str = "\
Exit codes of doctor: 0 nothing is wrong · 1 something is · 2 usage; with an agent that does not start as those of exec
";
const CHECK: &str = "\
check starts the agent in a new directory below the system's temporary one and tries each step: session, prompt, cancel,
what it asks for, load, errors, shutdown. Its questions are answered as --allow says; no command is run for it. A step
that takes too long is a violation. The numbers are those of tests/requirements; a step that needs a log-in is left out.
Exit codes of check: 0 nothing is violated · 1 something is · 2 usage · 5 the agent does not start
";
const REPLAY: &str = "\
FILE is what --record has written, or a journal of $XDG_STATE_HOME/acp-tui/sessions. What the agent said is said again;
what it asked the client to read, write or run is asked again, and decided anew.
";
const FILES: &str = "\
Configuration: $XDG_CONFIG_HOME/acp-tui/config.toml (else ~/.config/acp-tui/config.toml); keys: keys.toml beside it
Kept for review and undo: $XDG_STATE_HOME/acp-tui/review (else ~/.local/state/acp-tui/review)
On the full screen: F1 the keys · F3 review what was changed · F4 have writes and commands wait for you (gate)
";

/// The help of a command; that of the full screen is the overview.
pub fn help(name: Name) -> String {
    match name.row() {
        Some(row) if name != Name::Screen => of_command(row),
        _ => overview(),
    }
}

fn overview() -> String {
    let mut text =
        "acp-tui: the terminal for any coding agent that speaks the Agent Client Protocol\n\nUsage:\n".to_owned();
    for row in COMMANDS {
        usage(&mut text, row);
    }
    text.push_str("\nOptions:\n");
    for (flag, what) in options_of(Name::Screen) {
        option(&mut text, flag, what);
    }
    for row in COMMANDS.iter().filter(|row| row.name != Name::Screen) {
        // What the full screen has as well stands above once.
        let screen = |flag: &Flag| flag.help(Name::Screen);
        let mut own = options_of(row.name).filter(|(flag, what)| screen(flag) != Some(*what)).peekable();
        if own.peek().is_some() {
            line(&mut text, format_args!("\nOptions of {}:", row.word));
            own.for_each(|(flag, what)| option(&mut text, flag, what));
        }
    }
    for note in [SESSION, RULES, MCP, AGENTS, AUDIT, DOCTOR, CHECK, REPLAY, EXIT_CODES, FILES] {
        text.push('\n');
        text.push_str(note);
    }
    text
}

fn of_command(row: &CommandRow) -> String {
    let mut text = String::new();
    line(&mut text, format_args!("Usage:"));
    usage(&mut text, row);
    text.push_str("\nOptions:\n");
    for (flag, what) in options_of(row.name) {
        option(&mut text, flag, what);
    }
    for note in row.notes {
        text.push('\n');
        text.push_str(match note {
            Note::Session => SESSION,
            Note::ExitCodes => EXIT_CODES,
            Note::Rules => RULES,
            Note::Mcp => MCP,
            Note::Agents => AGENTS,
            Note::Audit => AUDIT,
            Note::Doctor => DOCTOR,
            Note::Check => CHECK,
            Note::Replay => REPLAY,
        });
    }
    text
}

fn usage(text: &mut String, row: &CommandRow) {
    for (typed, what) in row.usage {
        let typed = format!("acp-tui {typed}");
        let width = COMMAND_COLUMNS.max(typed.chars().count() + 2);
        line(text, format_args!("  {typed:<width$}{what}"));
    }
}

/// The options of a command, and what each does there.
fn options_of(name: Name) -> impl Iterator<Item = (&'static Flag, &'static str)> {
    flags().filter_map(move |flag| Some((flag, flag.help(name)?)))
}

fn option(text: &mut String, flag: &Flag, what: &str) {
    let short = flag.short.map(|letter| format!("-{letter}, ")).unwrap_or_default();
    let value = match flag.takes {
        Takes::Nothing(_) => String::new(),
        Takes::Value(name, _) => format!(" {name}"),
        Takes::Optional(name, _) => format!(" [{name}]"),
    };
    let typed = format!("{short}--{}{value}", flag.long);
    // A blank at least, however long it is.
    let width = OPTION_COLUMNS.max(typed.chars().count() + 1);
    line(text, format_args!("  {typed:<width$}{what}"));
}

fn line(text: &mut String, words: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{words}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_of_a_command_has_its_options_and_nobody_elses() {
        for row in COMMANDS {
            let text = help(row.name);
            for flag in flags() {
                let typed = format!("--{}", flag.long);
                for one in flag.uses {
                    let has = text.lines().any(|line| line.contains(&typed) && line.ends_with(one.help));
                    let wanted = row.name == Name::Screen || flag.help(row.name) == Some(one.help);
                    assert_eq!(has, wanted, "{} --{}: {}", row.word, flag.long, one.help);
                }
            }
            for (_, what) in row.usage {
                assert!(text.contains(what), "{}", row.word);
            }
        }
    }

    #[test]
    fn help_fits_a_wide_terminal_and_ends_no_line_with_a_blank() {
        for line in COMMANDS.iter().flat_map(|row| help(row.name).lines().map(str::to_owned).collect::<Vec<_>>()) {
            assert!(line.chars().count() <= 120, "{line}");
            assert_eq!(line.trim_end(), line);
        }
    }
}
