//! Programs that run another one: data, each row with its reason, and where in their words that other one begins.
//!
//! Knows nothing of patterns. Invariant: a place is given only where the options before it are all known.

use super::word::Word;

/// What a program does with the command that it is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Runs it as it stands: it is judged instead.
    Plain,
    /// Its arguments, joined, are a line.
    Joined,
    /// Runs it as another user, elsewhere, or with other words, or changes what later words mean: asked unless a
    /// pattern has its name.
    Opaque,
}

#[derive(Debug)]
pub(super) struct Row {
    names: &'static [&'static str],
    pub(super) kind: Kind,
    /// Letters of options that take a value.
    valued: &'static str,
    /// Letters of options that take none. For the opaque any other is taken for one.
    flags: &'static str,
    /// Words before the command.
    before: usize,
    /// Adds words of its own to the command.
    pub(super) feeds: bool,
}

const fn row(
    kind: Kind,
    names: &'static [&'static str],
    valued: &'static str,
    flags: &'static str,
    before: usize,
) -> Row {
    Row { names, kind, valued, flags, before, feeds: false }
}

pub(super) const TABLE: &[Row] = &[
    // Only say how long, how important, or how it is measured.
    row(Kind::Plain, &["timeout", "gtimeout"], "ks", "v", 1),
    row(Kind::Plain, &["nice"], "n", "", 0),
    row(Kind::Plain, &["time"], "", "p", 0),
    row(Kind::Plain, &["command", "builtin"], "", "p", 0),
    row(Kind::Joined, &["eval"], "", "", 0),
    // Another user, or another machine.
    row(Kind::Opaque, &["sudo", "doas"], "ughpCDRTUrt", "", 0),
    row(Kind::Opaque, &["su", "runuser", "pkexec"], "cgGsuw", "", 0),
    row(Kind::Opaque, &["ssh", "mosh"], "BbcDEeFIiJLlmOopQRSWw", "", 1),
    // Another environment, directory, group or terminal.
    row(Kind::Opaque, &["env"], "uCSP", "", 0),
    row(
        Kind::Opaque,
        &["chroot", "unshare", "nsenter", "chpst", "setpriv", "systemd-run", "firejail", "bwrap"],
        "",
        "",
        0,
    ),
    row(
        Kind::Opaque,
        &["nohup", "setsid", "ionice", "chrt", "taskset", "stdbuf", "numactl", "caffeinate"],
        "cnpioe",
        "",
        0,
    ),
    row(Kind::Opaque, &["script", "screen", "tmux", "expect", "unbuffer", "at", "batch", "crontab"], "", "", 0),
    row(Kind::Opaque, &["strace", "ltrace", "gdb", "lldb", "valgrind", "perf"], "abeEIoOpPsSuUX", "", 0),
    // Words that only come when it runs, or more than once.
    Row { feeds: true, ..row(Kind::Opaque, &["xargs", "gxargs", "parallel"], "InPLdEsaj", "", 0) },
    row(Kind::Opaque, &["watch", "flock", "entr", "hyperfine", "nodemon", "watchexec", "dotenv"], "ndIjw", "", 0),
    row(Kind::Opaque, &["busybox", "toybox"], "", "", 0),
    // Other limits, names or rights of a process, and shells that are seldom met.
    row(
        Kind::Opaque,
        &[
            "prlimit", "setarch", "linux32", "linux64", "i386", "x86_64", "uname26", "choom", "fakeroot", "sg",
            "logsave",
        ],
        "",
        "",
        0,
    ),
    row(
        Kind::Opaque,
        &["ssh-agent", "ip", "start-stop-daemon", "systemd-inhibit", "dbus-run-session", "xvfb-run", "proot"],
        "",
        "",
        0,
    ),
    row(Kind::Opaque, &["csh", "tcsh", "rbash", "mksh", "yash", "pwsh", "nu", "elvish", "xonsh"], "", "", 0),
    // Run what a package, a file or a string says.
    row(
        Kind::Opaque,
        &["npx", "pnpx", "bunx", "uvx", "pipx", "poetry", "uv", "direnv", "mise", "asdf", "nix", "nix-shell"],
        "cp",
        "",
        0,
    ),
    row(Kind::Opaque, &["pipenv", "hatch", "pdm", "conda", "mamba", "micromamba", "bundle", "rustup"], "", "", 0),
    row(Kind::Opaque, &["source", ".", "exec", "coproc", "trap", "fc", "noglob", "nocorrect", "-"], "a", "", 0),
    // Change what later words of the line mean.
    row(
        Kind::Opaque,
        &["alias", "unalias", "enable", "hash", "set", "shopt", "setopt", "unsetopt", "emulate"],
        "",
        "",
        0,
    ),
    row(
        Kind::Opaque,
        &["export", "declare", "typeset", "local", "readonly", "unset", "let", "read", "getopts"],
        "",
        "",
        0,
    ),
    row(
        Kind::Opaque,
        &["mapfile", "readarray", "bind", "complete", "compgen", "autoload", "zmodload", "functions"],
        "",
        "",
        0,
    ),
];

const SHELLS: &[&str] = &["sh", "bash", "dash", "zsh", "ksh", "ash"];

pub(super) fn find(program: &str) -> Option<&'static Row> {
    TABLE.iter().find(|row| row.names.contains(&program))
}

/// Where the command begins among these words, the first being the wrapper.
pub(super) fn inner(row: &Row, words: &[Word]) -> Option<usize> {
    let mut at = 1;
    while let Some(word) = words.get(at) {
        let text = word.known()?;
        if text == "--" {
            at += 1;
            break;
        }
        if row.kind == Kind::Opaque && is_setting(text) {
            at += 1;
            continue;
        }
        let Some(letters) = text.strip_prefix('-').filter(|letters| !letters.is_empty()) else { break };
        if letters.starts_with('-') {
            // Of long options it is not known whether they take a value, but for those of the plain ones.
            let is_known = ["--preserve-status", "--foreground", "--verbose"].contains(&text)
                || ["--kill-after=", "--signal=", "--adjustment="].iter().any(|long| text.starts_with(long));
            if !is_known && row.kind != Kind::Opaque {
                return None;
            }
            at += 1;
            continue;
        }
        // `nice -10`.
        let is_number = row.names.contains(&"nice") && letters.bytes().all(|b| b.is_ascii_digit());
        let first_valued = letters.find(|c| row.valued.contains(c));
        let before = letters.get(..first_valued.unwrap_or(letters.len())).unwrap_or_default();
        if row.kind != Kind::Opaque && !is_number && !before.chars().all(|c| row.flags.contains(c)) {
            return None;
        }
        // Its value is the rest of the word or the next one.
        at += if first_valued.is_some_and(|first| first + 1 == letters.len()) { 2 } else { 1 };
    }
    let at = at + row.before;
    // What stands before it must be known as well.
    let is_known = words.get(..=at)?.iter().all(Word::is_known);
    is_known.then_some(at)
}

/// Where the line of `sh -c LINE` stands; `None` for anything else.
pub(super) fn script(program: &str, words: &[Word]) -> Option<usize> {
    if !SHELLS.contains(&program) {
        return None;
    }
    let mut is_line = false;
    for (at, word) in words.iter().enumerate().skip(1) {
        let text = word.text.as_str();
        match text.strip_prefix('-').filter(|_| word.is_known()) {
            // Both end the options.
            Some("" | "-") => return is_line.then_some(at + 1),
            Some(letters) if letters.chars().all(|c| "clexu".contains(c)) => is_line |= letters.contains('c'),
            // Further options, which may take the next word.
            Some(_) => return None,
            None if text.starts_with('+') => return None,
            None => return is_line.then_some(at),
        }
    }
    None
}

/// `NAME=VALUE`.
pub(super) fn is_setting(text: &str) -> bool {
    let Some((name, _)) = text.split_once('=') else { return false };
    !name.is_empty() && name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric())
}
