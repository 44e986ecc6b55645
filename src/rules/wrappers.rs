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

/// What of the command that an opaque one runs has to be in the pattern, beside the name of the wrapper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Needs {
    Nothing,
    /// The name of its program, unless the command is allowed by itself.
    Allowed,
    /// The name of its program.
    Program,
    /// The same, and each word that a shell reads once more.
    Line,
    /// Every word: each may be a line.
    Each,
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
    pub(super) needs: Needs,
}

const fn row(
    kind: Kind,
    names: &'static [&'static str],
    valued: &'static str,
    flags: &'static str,
    before: usize,
) -> Row {
    Row { names, kind, valued, flags, before, feeds: false, needs: Needs::Nothing }
}

pub(super) const TABLE: &[Row] = &[
    // Only say how long, how important, or how it is measured.
    row(Kind::Plain, &["timeout", "gtimeout"], "ks", "v", 1),
    row(Kind::Plain, &["nice"], "n", "", 0),
    row(Kind::Plain, &["time"], "", "p", 0),
    row(Kind::Plain, &["command", "builtin"], "", "p", 0),
    row(Kind::Joined, &["eval"], "", "", 0),
    // Another user, or another machine.
    row(Kind::Opaque, &["sudo", "sudo-rs", "doas", "run0"], "ughpCDRTUrt", "", 0),
    row(Kind::Opaque, &["su", "runuser", "pkexec"], "cgGsuw", "", 0),
    row(Kind::Opaque, &["ssh", "mosh"], "BbcDEeFIiJLlmOopQRSWw", "", 1),
    // Another environment, directory, group or terminal.
    row(Kind::Opaque, &["env"], "uCSP", "", 0),
    row(
        Kind::Opaque,
        &[
            "chroot",
            "unshare",
            "nsenter",
            "chpst",
            "setpriv",
            "systemd-run",
            "firejail",
            "bwrap",
            "setarch",
            "linux32",
            "linux64",
            "i386",
            "x86_64",
            "uname26",
            "arch",
            "sg",
            "newgrp",
            "gosu",
            "su-exec",
            "setuidgid",
            "softlimit",
            "envdir",
            "capsh",
            "runcon",
            "aa-exec",
            "cgexec",
            "schroot",
            "proot",
            "fakeroot",
            "fakechroot",
            "systemd-nspawn",
            "machinectl",
            "distrobox",
            "toolbox",
            "flatpak",
            "snap",
            "sandbox-exec",
            "faketime",
        ],
        "",
        "",
        0,
    ),
    row(
        Kind::Opaque,
        &[
            "nohup",
            "setsid",
            "ionice",
            "chrt",
            "taskset",
            "stdbuf",
            "numactl",
            "caffeinate",
            "prlimit",
            "choom",
            "cpulimit",
            "eatmydata",
            "catchsegv",
            "logsave",
            "chronic",
            "ifne",
            "pee",
            "mispipe",
            "run-one",
            "rlwrap",
            "winpty",
        ],
        "cnpioe",
        "",
        0,
    ),
    row(
        Kind::Opaque,
        &[
            "script",
            "screen",
            "tmux",
            "expect",
            "unbuffer",
            "at",
            "batch",
            "crontab",
            "ssh-agent",
            "dbus-run-session",
            "dbus-launch",
            "xvfb-run",
            "systemd-inhibit",
            "start-stop-daemon",
            "daemonize",
            "dumb-init",
            "tini",
            "execlineb",
            "run-parts",
        ],
        "",
        "",
        0,
    ),
    // Another processor, loader, file system or terminal, or a file that one command's output is kept in.
    row(
        Kind::Opaque,
        &[
            "ld.so",
            "ld-linux.so.2",
            "ld-linux-x86-64.so.2",
            "ld-linux-aarch64.so.1",
            "ld-musl-x86_64.so.1",
            "ld-musl-aarch64.so.1",
            "qemu-x86_64",
            "qemu-x86_64-static",
            "qemu-aarch64",
            "qemu-aarch64-static",
            "qemu-i386",
            "qemu-arm",
            "box64",
            "wine",
            "wine64",
            "apptainer",
            "singularity",
            "crun",
            "runc",
            "lxc",
            "lxc-attach",
            "vagrant",
            "xterm",
            "urxvt",
            "rxvt",
            "gnome-terminal",
            "konsole",
            "kitty",
            "alacritty",
            "foot",
            "wezterm",
            "x-terminal-emulator",
            "i3-msg",
            "swaymsg",
            "hyprctl",
            "dtach",
            "abduco",
            "zellij",
        ],
        "",
        "",
        0,
    ),
    // With secrets, another user, or what they measure and keep.
    row(
        Kind::Opaque,
        &[
            "aws-vault",
            "op",
            "doppler",
            "chamber",
            "sshpass",
            "autossh",
            "s6-setuidgid",
            "s6-envdir",
            "trickle",
            "rr",
            "uftrace",
            "heaptrack",
            "kcov",
            "multitime",
            "ccache",
            "distcc",
            "sccache",
            "icecc",
            "coreutils",
        ],
        "",
        "",
        0,
    ),
    // Another network.
    row(
        Kind::Opaque,
        &["ip", "torsocks", "torify", "tsocks", "proxychains", "proxychains4", "pdsh", "clush"],
        "",
        "",
        0,
    ),
    // Only tell what it does.
    Row { needs: Needs::Allowed, ..row(Kind::Opaque, &["strace"], "abeEIoOpPsSuUX", "", 0) },
    Row { needs: Needs::Program, ..row(Kind::Opaque, &["ltrace"], "aADeFlnopsuwxX", "", 0) },
    row(Kind::Opaque, &["gdb", "lldb", "valgrind", "perf"], "abeEIoOpPsSuUX", "", 0),
    // A line, again and again.
    Row { needs: Needs::Line, ..row(Kind::Opaque, &["watch"], "nqs", "", 0) },
    Row { needs: Needs::Line, ..row(Kind::Opaque, &["entr"], "", "", 0) },
    Row { needs: Needs::Each, ..row(Kind::Opaque, &["hyperfine", "watchexec"], "", "", 0) },
    // Words that only come when it runs, or more than once.
    Row { feeds: true, ..row(Kind::Opaque, &["xargs", "gxargs", "parallel"], "InPLdEsaj", "", 0) },
    row(
        Kind::Opaque,
        &[
            "flock",
            "nodemon",
            "dotenv",
            "concurrently",
            "npm-run-all",
            "run-s",
            "run-p",
            "cross-env",
            "cross-env-shell",
            "env-cmd",
            "dotenvx",
            "onchange",
            "chokidar",
            "pm2",
            "forever",
            "foreman",
            "overmind",
            "honcho",
            "bear",
            "scan-build",
            "intercept-build",
            "libtool",
            "start-server-and-test",
        ],
        "ndIjw",
        "",
        0,
    ),
    row(Kind::Opaque, &["busybox", "toybox"], "", "", 0),
    // Run what a package, a file or a string says.
    row(
        Kind::Opaque,
        &[
            "npx",
            "pnpx",
            "bunx",
            "uvx",
            "pipx",
            "poetry",
            "uv",
            "direnv",
            "mise",
            "asdf",
            "nix",
            "nix-shell",
            "pipenv",
            "hatch",
            "pdm",
            "rye",
            "pixi",
            "conda",
            "mamba",
            "micromamba",
            "bundle",
            "rustup",
            "rbenv",
            "pyenv",
            "nodenv",
            "rvm",
            "nvm",
            "fnm",
            "volta",
            "corepack",
            "lerna",
            "guix",
            "devbox",
        ],
        "cp",
        "",
        0,
    ),
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

/// Shells that take a line with `-c`; of the first it is known how they read `sh -c LINE`.
const SHELLS: &[&str] = &["sh", "bash", "dash", "zsh", "ksh", "ash"];
const MORE_SHELLS: &[&str] =
    &["rbash", "csh", "tcsh", "mksh", "yash", "posh", "fish", "nu", "elvish", "xonsh", "pwsh", "powershell"];

/// Options of what runs each of its words that run nothing themselves.
const FLAGS: &str = "-- -i -N -w -m -M -r --ignore-failure --warmup --min-runs --max-runs --runs --show-output";

/// Options of shells that change nothing in what a line means.
const HARMLESS: &str = "clexu";
/// Options of shells that take the next word.
const VALUED: &str = "oO";
const VALUED_LONGS: &[&str] = &["--rcfile", "--init-file", "--init-command", "-init-file", "-rcfile"];

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

/// Which words a pattern has to have for the command which begins at `inner`; all where that is not known.
pub(super) fn needed(row: &Row, words: &[Word], inner: Option<usize>) -> Vec<usize> {
    let all = 1..words.len();
    let is_plain = |word: &Word| !word.text.is_empty() && word.text.chars().all(is_of_name);
    let is_number = |word: &Word| word.is_known() && word.text.bytes().all(|byte| byte.is_ascii_digit());
    let is_flag = |word: &Word| FLAGS.split(' ').any(|flag| word.known() == Some(flag));
    let program = inner.map_or(all.clone(), |inner| inner..inner + 1 + unsure(words, inner));
    let is_needed = |at: &usize, word: &Word| match row.needs {
        Needs::Nothing => false,
        Needs::Allowed | Needs::Program => program.contains(at),
        Needs::Line => program.contains(at) || !(is_plain(word) && word.is_known()),
        Needs::Each => !is_number(word) && !is_flag(word),
    };
    all.clone().filter(|at| words.get(*at).is_some_and(|word| is_needed(at, word))).collect()
}

/// Whether a command may be judged in place of the wrapper, since it begins there for certain.
pub(super) fn is_judged(row: &Row, words: &[Word], inner: usize) -> bool {
    row.needs == Needs::Allowed && unsure(words, inner) == 0
}

/// How many options before a command may have taken a word of it for their value.
fn unsure(words: &[Word], inner: usize) -> usize {
    let before = words.get(1..inner).unwrap_or_default();
    let is_unsure = |word: &&Word| word.text.len() > 2 && word.text.starts_with("--") && !word.text.contains('=');
    before.iter().filter(is_unsure).count()
}

/// Not one of those that a shell takes for its own.
fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || "-_./:=,+@%^".contains(c)
}

/// The line of `sh -c LINE`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Script {
    pub(super) at: usize,
    /// Every shell finds it there, and no option changes what it means.
    pub(super) is_plain: bool,
}

/// Where the line of a shell stands; `None` where no option says that there is one.
pub(super) fn script(program: &str, words: &[Word]) -> Option<Script> {
    let is_known = SHELLS.contains(&program);
    if !is_known && !MORE_SHELLS.contains(&program) {
        return None;
    }
    let (mut is_line, mut is_plain, mut at) = (false, is_known, 1);
    while let Some(text) = words.get(at).and_then(Word::known) {
        let letters = text.strip_prefix(['-', '+']).filter(|letters| !letters.is_empty() || text == "-");
        let Some(letters) = letters else { break };
        at += 1;
        if matches!(text, "-" | "--") {
            is_plain &= text == "--";
            break;
        }
        if letters.starts_with('-') || VALUED_LONGS.contains(&text) {
            is_plain = false;
            is_line |= letters.starts_with("-c");
            at += usize::from(VALUED_LONGS.contains(&text));
        } else {
            is_plain &= text.starts_with('-') && letters.chars().all(|c| HARMLESS.contains(c));
            is_line |= letters.to_ascii_lowercase().contains('c');
            at += letters.chars().filter(|c| VALUED.contains(*c)).count();
        }
    }
    is_line.then_some(Script { at, is_plain })
}

/// `NAME=VALUE`.
pub(super) fn is_setting(text: &str) -> bool {
    let Some((name, _)) = text.split_once('=') else { return false };
    !name.is_empty() && name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric())
}
