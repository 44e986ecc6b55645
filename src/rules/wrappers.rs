//! Programs that run another one: data, each row with its reason, and where in their words that other one begins.
//!
//! Knows nothing of patterns. Invariant: a place is given only where the options before it are all known.

use super::word::Word;
use std::collections::HashMap;
use std::sync::LazyLock;

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
    /// Subcommands behind which it begins; without one of them there is none.
    under: &'static str,
    /// Adds words of its own to the command.
    pub(super) feeds: bool,
    pub(super) needs: Needs,
}

impl Row {
    fn runs_under(&self, word: &str) -> bool {
        self.under.split(' ').any(|one| one == word)
    }

    /// It does something else without a command than to run one.
    const fn may_be_alone(&self) -> bool {
        self.before > 0 || !self.under.is_empty()
    }
}

const fn row(
    kind: Kind,
    names: &'static [&'static str],
    valued: &'static str,
    flags: &'static str,
    before: usize,
) -> Row {
    Row { names, kind, valued, flags, before, under: "", feeds: false, needs: Needs::Nothing }
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
    Row {
        needs: Needs::Line,
        ..row(Kind::Opaque, &["ssh", "mosh", "autossh"], "BbcDEeFIiJLlmOopQRSWw", "46AaCfGgKkNnqsTtVvXxYy", 1)
    },
    // Another environment, directory, group or terminal.
    row(Kind::Opaque, &["env"], "uCSP", "", 0),
    Row {
        needs: Needs::Program,
        ..row(
            Kind::Opaque,
            &[
                "unshare",
                "nsenter",
                "chpst",
                "setpriv",
                "systemd-run",
                "firejail",
                "bwrap",
                "linux32",
                "linux64",
                "i386",
                "x86_64",
                "uname26",
                "arch",
                "newgrp",
                "softlimit",
                "capsh",
                "aa-exec",
                "cgexec",
                "schroot",
                "proot",
                "fakeroot",
                "fakechroot",
                "systemd-nspawn",
                "sandbox-exec",
            ],
            "",
            "",
            0,
        )
    },
    Row {
        needs: Needs::Program,
        ..row(
            Kind::Opaque,
            &["chroot", "setarch", "sg", "gosu", "su-exec", "setuidgid", "envdir", "runcon", "faketime"],
            "",
            "",
            1,
        )
    },
    Row {
        needs: Needs::Program,
        under: "run exec shell enter",
        ..row(Kind::Opaque, &["machinectl", "distrobox", "toolbox", "flatpak", "snap"], "", "", 0)
    },
    // Another terminal, priority or place of memory.
    Row {
        needs: Needs::Allowed,
        ..row(Kind::Opaque, &["nohup", "eatmydata", "catchsegv", "run-one", "chronic"], "", "", 0)
    },
    Row { needs: Needs::Allowed, ..row(Kind::Opaque, &["setsid"], "", "cfw", 0) },
    Row { needs: Needs::Allowed, ..row(Kind::Opaque, &["stdbuf"], "ioe", "", 0) },
    Row { needs: Needs::Allowed, ..row(Kind::Opaque, &["ionice"], "cnpPu", "t", 0) },
    Row { needs: Needs::Allowed, ..row(Kind::Opaque, &["taskset"], "", "c", 1) },
    Row {
        needs: Needs::Program,
        ..row(
            Kind::Opaque,
            &[
                "chrt",
                "numactl",
                "caffeinate",
                "prlimit",
                "choom",
                "cpulimit",
                "logsave",
                "ifne",
                "pee",
                "mispipe",
                "rlwrap",
                "winpty",
            ],
            "cnpioe",
            "",
            0,
        )
    },
    row(Kind::Opaque, &["tmux", "expect", "at", "batch", "crontab"], "", "", 0),
    Row { needs: Needs::Program, ..row(Kind::Opaque, &["script"], "", "aefqr", 1) },
    Row { needs: Needs::Program, ..row(Kind::Opaque, &["screen"], "", "adLmqU", 0) },
    Row {
        needs: Needs::Program,
        ..row(
            Kind::Opaque,
            &[
                "unbuffer",
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
        )
    },
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
        &["aws-vault", "op", "doppler", "chamber", "sshpass", "ccache", "distcc", "sccache", "icecc", "coreutils"],
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
    Row { needs: Needs::Allowed, ..row(Kind::Opaque, &["strace"], "abeEIoOpPsSuUX", "cCdDfhiknNqrtTvVwxyYzZ", 0) },
    Row { needs: Needs::Allowed, ..row(Kind::Opaque, &["valgrind"], "", "dhqv", 0) },
    Row { needs: Needs::Program, ..row(Kind::Opaque, &["ltrace"], "aADeFlnopsuwxX", "bcCfhiLrStTV", 0) },
    Row { needs: Needs::Program, ..row(Kind::Opaque, &["heaptrack", "multitime", "trickle"], "", "", 0) },
    Row { needs: Needs::Program, ..row(Kind::Opaque, &["kcov", "s6-setuidgid", "s6-envdir"], "", "", 1) },
    Row {
        needs: Needs::Program,
        under: "stat record trace mem c2c sched lock kvm kwork timechart ftrace iostat top",
        ..row(Kind::Opaque, &["perf"], "", "", 0)
    },
    Row { needs: Needs::Program, under: "record live", ..row(Kind::Opaque, &["rr", "uftrace"], "", "", 0) },
    row(Kind::Opaque, &["gdb", "lldb"], "abeEIoOpPsSuUX", "", 0),
    // In several processes, on several machines.
    Row {
        needs: Needs::Program,
        ..row(Kind::Opaque, &["mpirun", "mpiexec", "orterun", "prterun", "srun", "salloc"], "", "", 0)
    },
    // A line, again and again.
    Row { needs: Needs::Line, ..row(Kind::Opaque, &["watch"], "nqs", "bcdegptvwxCrf", 0) },
    Row { needs: Needs::Line, ..row(Kind::Opaque, &["entr"], "", "acdnprsxz", 0) },
    Row { needs: Needs::Each, ..row(Kind::Opaque, &["hyperfine", "watchexec", "concurrently"], "", "", 0) },
    Row {
        needs: Needs::Each,
        ..row(Kind::Opaque, &["onchange", "chokidar", "start-server-and-test", "cross-env-shell"], "", "", 0)
    },
    // Words that only come when it runs, or more than once.
    Row { feeds: true, ..row(Kind::Opaque, &["xargs", "gxargs"], "InPLdEsaj", "", 0) },
    Row { feeds: true, needs: Needs::Line, ..row(Kind::Opaque, &["parallel"], "InPLdEsaj", "0kqtuvmX", 0) },
    // While nobody else does, with variables from a file, or watching what it does.
    Row { needs: Needs::Line, ..row(Kind::Opaque, &["flock"], "", "eFnosux", 1) },
    Row {
        needs: Needs::Program,
        ..row(
            Kind::Opaque,
            &["dotenv", "dotenvx", "cross-env", "env-cmd", "bear", "scan-build", "intercept-build", "libtool"],
            "",
            "",
            0,
        )
    },
    Row {
        needs: Needs::Line,
        under: "start run",
        ..row(Kind::Opaque, &["pm2", "forever", "foreman", "overmind", "honcho"], "", "", 0)
    },
    row(Kind::Opaque, &["nodemon", "npm-run-all", "run-s", "run-p"], "ndIjw", "", 0),
    // One of many programs.
    Row { needs: Needs::Program, ..row(Kind::Opaque, &["busybox", "toybox"], "", "", 0) },
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
    // Its other subcommands run what the project says under a name, or nothing.
    Row { under: "exec x", ..row(Kind::Opaque, &["mise"], "cp", "", 0) },
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
const MORE_SHELLS: &[&str] = &[
    "rbash",
    "csh",
    "tcsh",
    "mksh",
    "yash",
    "posh",
    "fish",
    "nu",
    "elvish",
    "xonsh",
    "pwsh",
    "powershell",
    "rc",
    "es",
    "sash",
];

/// Options of what runs each of its words that run nothing themselves.
const FLAGS: &str = "-- -i -N -w -m -M -r --ignore-failure --warmup --min-runs --max-runs --runs --show-output";

/// Options of shells that change nothing in what a line means.
const HARMLESS: &str = "clexu";
/// Options of shells that take the next word.
const VALUED: &str = "oO";
const VALUED_LONGS: &[&str] = &["--rcfile", "--init-file", "--init-command", "-init-file", "-rcfile"];

/// The row of each name: the first, where there are several.
static BY_NAME: LazyLock<HashMap<&str, &Row>> = LazyLock::new(|| {
    let mut rows = HashMap::new();
    for (name, row) in TABLE.iter().flat_map(|row| row.names.iter().map(move |name| (*name, row))) {
        rows.entry(name).or_insert(row);
    }
    rows
});

pub(super) fn find(program: &str) -> Option<&'static Row> {
    BY_NAME.get(program).copied()
}

/// Where the command begins among these words, the first being the wrapper; behind them where it is given none.
pub(super) fn inner(row: &Row, words: &[Word]) -> Option<usize> {
    let mut at = behind_options(row, words, 1)?;
    if !row.under.is_empty() {
        let is_under = |at: usize| words.get(at).and_then(Word::known).is_some_and(|word| row.runs_under(word));
        let is_known = words.get(at).is_none_or(Word::is_known);
        if !is_under(at) {
            return is_known.then_some(words.len());
        }
        while is_under(at) {
            at = behind_options(row, words, at + 1)?;
        }
    }
    let at = (at + row.before).min(words.len());
    // What stands before it must be known as well.
    let is_known = words.iter().take(at + 1).all(Word::is_known);
    is_known.then_some(at)
}

/// The first word from there on that is no option of the wrapper.
fn behind_options(row: &Row, words: &[Word], mut at: usize) -> Option<usize> {
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
    Some(at)
}

/// Which words a pattern has to have for the command which begins at `inner`; all where that is not known.
pub(super) fn needed(row: &Row, words: &[Word], inner: Option<usize>, has_input: bool) -> Vec<usize> {
    let all = 1..words.len();
    let is_plain = |word: &Word| !word.text.is_empty() && word.text.chars().all(is_of_name);
    let is_number = |word: &Word| word.is_known() && word.text.bytes().all(|byte| byte.is_ascii_digit());
    let is_flag = |word: &Word| FLAGS.split(' ').any(|flag| word.known() == Some(flag));
    let program = match inner {
        None => all.clone(),
        // Without a command some begin a shell, which reads what it is given.
        Some(inner) if inner >= words.len() && row.may_be_alone() && !has_input => return Vec::new(),
        Some(inner) if inner >= words.len() => all.clone(),
        Some(inner) => {
            // A program does not begin like an option: it stands behind it.
            let rest = words.get(inner..).unwrap_or_default();
            let options = rest.iter().take_while(|word| word.text.starts_with('-')).count();
            inner..inner + 1 + options + unsure(row, words, inner)
        }
    };
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
    row.needs == Needs::Allowed && unsure(row, words, inner) == 0
}

/// How many options before a command may have taken a word of it for their value.
fn unsure(row: &Row, words: &[Word], inner: usize) -> usize {
    let before = words.get(1..inner.saturating_sub(row.before)).unwrap_or_default();
    if before.last().is_some_and(|word| word.text == "--") {
        return 0;
    }
    let is_unsure = |word: &&Word| match word.text.strip_prefix('-') {
        Some(long) if long.starts_with('-') => long.len() > 1 && !long.contains('='),
        Some(letters) => {
            let is_known = |c: char| row.flags.contains(c) || row.valued.contains(c);
            let first_valued = letters.find(|c| row.valued.contains(c)).unwrap_or(letters.len());
            !letters.is_empty() && !letters.get(..first_valued).unwrap_or_default().chars().all(is_known)
        }
        None => false,
    };
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
