//! What makes a harmless-looking program run or write something else: data, each row with its reason.
//!
//! Rules with a `*` do not cover these; only a pattern that has the word itself does. Knows nothing of patterns.
//! Invariant: long options are known by any beginning of theirs, as the programs themselves do.

use super::word::Word;

/// What a row looks for in the words after the program.
#[derive(Clone, Copy, Debug)]
pub(super) enum Sign {
    /// A long option or a beginning of it, with or without `=VALUE`; of one dash when it is written so.
    Long(&'static str),
    /// A short option, its value attached or not.
    Short(&'static str),
    /// A letter among short options.
    Letter(char),
    /// Words in this order, options between them not counted.
    Words(&'static [&'static str]),
    /// A word that begins so.
    Begins(&'static str),
    /// A word that has this text in it.
    Has(&'static str),
    /// No word that names a program to interpret: it comes from standard input.
    NoScript,
    /// A script that is more than plain lines to print, delete or replace.
    SedScript,
    /// A second name.
    SecondName,
    /// A word that is not known before it runs.
    Unknown,
}

#[derive(Debug)]
pub(super) struct Row {
    programs: &'static [&'static str],
    signs: &'static [Sign],
    /// For whoever reads the table, and for the question.
    pub(super) reason: &'static str,
}

use Sign::{Begins, Has, Letter, Long, NoScript, SecondName, SedScript, Short, Unknown, Words};

pub(super) const TABLE: &[Row] = &[
    Row {
        programs: &["git"],
        signs: &[Short("-c"), Long("--config-env"), Long("--exec-path")],
        reason: "settings of one call name programs: pagers, aliases, hooks",
    },
    Row {
        programs: &["git"],
        signs: &[Short("-C"), Long("--git-dir"), Long("--work-tree")],
        reason: "another repository's own settings name programs",
    },
    Row {
        programs: &["git"],
        signs: &[
            Long("--upload-pack"),
            Long("--receive-pack"),
            Long("--exec"),
            Words(&["clone", "-u"]),
            Begins("ext::"),
        ],
        reason: "names the program that speaks for the other side",
    },
    Row {
        programs: &["git"],
        signs: &[
            Long("--ext-diff"),
            Long("--textconv"),
            Long("--open-files-in-pager"),
            Words(&["grep", "-O"]),
            Long("--extcmd"),
            Long("--tool"),
            Words(&["difftool"]),
            Words(&["mergetool"]),
            Words(&["instaweb"]),
            Words(&["web--browse"]),
            Words(&["send-email"]),
        ],
        reason: "runs a program that settings or options name",
    },
    Row {
        programs: &["git"],
        signs: &[
            Long("--output"),
            Long("--output-directory"),
            Words(&["archive", "-o"]),
            Words(&["format-patch", "-o"]),
            Words(&["bundle", "create"]),
        ],
        reason: "writes to a file of any name",
    },
    Row {
        programs: &["git"],
        signs: &[
            Words(&["bisect", "run"]),
            Words(&["submodule", "foreach"]),
            Words(&["rebase", "-x"]),
            Words(&["rebase", "-i"]),
            Long("--interactive"),
            Words(&["filter-branch"]),
            Words(&["for-each-repo"]),
            Words(&["hook"]),
        ],
        reason: "runs the commands that it is given",
    },
    Row {
        programs: &["git"],
        signs: &[Words(&["config"]), Long("--template"), Long("--config"), Words(&["credential"])],
        reason: "keeps settings and hooks that later calls run",
    },
    Row {
        programs: &["find"],
        signs: &[
            Begins("-exec"),
            Begins("-ok"),
            Begins("-delete"),
            Begins("-fprint"),
            Begins("-fls"),
            Begins("-files0-from"),
        ],
        reason: "runs, deletes or writes for each file",
    },
    Row {
        programs: &["fd", "fdfind"],
        signs: &[Letter('x'), Letter('X'), Long("--exec"), Long("--exec-batch")],
        reason: "runs a command for each file",
    },
    Row { programs: &["rg"], signs: &[Long("--pre"), Long("--hostname-bin")], reason: "runs a program for each file" },
    Row {
        programs: &["ag", "bat", "delta"],
        signs: &[Long("--pager")],
        reason: "names a program that shows the output",
    },
    Row {
        programs: &["tar", "bsdtar", "gtar"],
        signs: &[
            Long("--checkpoint-action"),
            Long("--to-command"),
            Long("--use-compress-program"),
            Long("--rsh-command"),
            Long("--rmt-command"),
            Long("--info-script"),
            Long("--new-volume-script"),
            Letter('I'),
            Letter('F'),
        ],
        reason: "runs the program that the option names",
    },
    Row {
        programs: &["zip"],
        signs: &[Short("-T"), Long("--unzip-command"), Letter('T')],
        reason: "tests with a program of any name",
    },
    Row {
        programs: &["rsync"],
        signs: &[Letter('e'), Long("--rsh"), Long("--rsync-path")],
        reason: "names the program that connects",
    },
    Row {
        programs: &["scp", "sftp", "ssh"],
        signs: &[Letter('o'), Letter('S'), Letter('F'), Letter('D'), Letter('E')],
        reason: "settings of the connection name programs and files",
    },
    Row {
        programs: &["sed", "gsed"],
        signs: &[SedScript, Unknown, Letter('i'), Letter('f'), Letter('I'), Long("--in-place"), Long("--file")],
        reason: "its commands run programs and write files (e, w)",
    },
    Row {
        programs: &["awk", "gawk", "mawk", "nawk"],
        signs: &[
            Unknown,
            Has("system"),
            Has("|"),
            Has(">"),
            Has("getline"),
            Has("@"),
            Has("\\"),
            Letter('f'),
            Letter('i'),
            Letter('l'),
            Letter('E'),
            Letter('o'),
            Letter('d'),
            Letter('p'),
            Begins("--"),
        ],
        reason: "its programs run programs and write files",
    },
    Row {
        programs: &["sort"],
        signs: &[Letter('o'), Letter('T'), Long("--output"), Long("--compress-program")],
        reason: "writes to a file of any name, or runs a program",
    },
    Row { programs: &["uniq"], signs: &[SecondName], reason: "its second name is written" },
    Row { programs: &["split"], signs: &[Long("--filter")], reason: "runs a command for each part" },
    Row { programs: &["tree"], signs: &[Letter('o')], reason: "writes to a file of any name" },
    Row {
        programs: &["curl"],
        signs: &[
            Letter('o'),
            Letter('O'),
            Letter('K'),
            Letter('T'),
            Letter('D'),
            Letter('c'),
            Letter('J'),
            Letter('F'),
            Letter('d'),
            Long("--output"),
            Long("--output-dir"),
            Long("--remote-name"),
            Long("--remote-name-all"),
            Long("--config"),
            Long("--upload-file"),
            Long("--dump-header"),
            Long("--cookie-jar"),
            Long("--trace"),
            Long("--trace-ascii"),
            Long("--stderr"),
            Long("--libcurl"),
            Long("--etag-save"),
            Long("--hsts"),
            Long("--alt-svc"),
            Long("--data"),
            Long("--data-binary"),
            Long("--data-urlencode"),
            Long("--form"),
        ],
        reason: "writes files of any name, or sends them away",
    },
    Row {
        programs: &["wget"],
        signs: &[
            Letter('O'),
            Letter('o'),
            Letter('a'),
            Letter('e'),
            Letter('P'),
            Long("--output-document"),
            Long("--output-file"),
            Long("--append-output"),
            Long("--execute"),
            Long("--directory-prefix"),
            Long("--use-askpass"),
            Long("--post-file"),
            Long("--body-file"),
            Long("--config"),
        ],
        reason: "writes files of any name, or sends them away",
    },
    Row {
        programs: &["vim", "vi", "nvim", "view", "ex", "emacs", "emacsclient", "nano", "ed"],
        signs: &[
            Short("-c"),
            Begins("+"),
            Short("-S"),
            Short("-s"),
            Short("-u"),
            Long("--cmd"),
            Long("--eval"),
            Long("-eval"),
            Long("--load"),
            Short("-l"),
            Short("-f"),
            Short("-w"),
            Short("-W"),
            NoScript,
        ],
        reason: "editors run commands",
    },
    Row {
        programs: &["less", "more", "man"],
        signs: &[
            Begins("+"),
            Letter('o'),
            Letter('O'),
            Letter('k'),
            Letter('P'),
            Letter('H'),
            Long("--pager"),
            Long("--html"),
            Long("--log-file"),
            Long("--LOG-FILE"),
            Long("--lesskey-file"),
            Long("--lesskey-src"),
            Long("--lesskey-content"),
        ],
        reason: "pagers run commands and write logs",
    },
    Row {
        programs: &["python", "python2", "python3", "pypy", "pypy3"],
        signs: &[Letter('c'), Letter('m'), Letter('i'), NoScript, Begins("/dev/"), Begins("/proc/")],
        reason: "runs a program from the line or from standard input",
    },
    Row {
        programs: &["node", "nodejs", "bun", "deno", "tsx", "ts-node"],
        signs: &[
            Letter('e'),
            Letter('p'),
            Letter('r'),
            Long("--eval"),
            Long("--print"),
            Long("--require"),
            Long("--import"),
            Long("--loader"),
            Long("--experimental-loader"),
            Long("--env-file"),
            Words(&["eval"]),
            NoScript,
            Begins("/dev/"),
            Begins("/proc/"),
        ],
        reason: "runs a program from the line or from standard input",
    },
    Row {
        programs: &[
            "perl",
            "ruby",
            "lua",
            "php",
            "osascript",
            "Rscript",
            "julia",
            "elixir",
            "groovy",
            "tclsh",
            "guile",
        ],
        signs: &[
            Letter('e'),
            Letter('E'),
            Letter('r'),
            Letter('R'),
            Letter('B'),
            Letter('d'),
            Letter('x'),
            Letter('I'),
            Letter('M'),
            Letter('m'),
            Letter('i'),
            Letter('l'),
            Letter('c'),
            Long("--run"),
            Long("--eval"),
            NoScript,
            Begins("/dev/"),
            Begins("/proc/"),
        ],
        reason: "runs a program from the line or from standard input",
    },
    Row {
        programs: &["sh", "bash", "dash", "zsh", "ksh", "ash", "fish"],
        signs: &[
            Letter('c'),
            Letter('s'),
            Letter('i'),
            Letter('O'),
            Letter('o'),
            Begins("+"),
            Long("--rcfile"),
            Long("--init-file"),
            Long("--command"),
            Long("--init-command"),
            NoScript,
            Begins("/dev/"),
            Begins("/proc/"),
        ],
        reason: "runs a program from the line or from standard input",
    },
    Row {
        programs: &["npm", "pnpm", "yarn", "bunx", "npx", "pnpx"],
        signs: &[
            Words(&["exec"]),
            Words(&["dlx"]),
            Words(&["explore"]),
            Words(&["x"]),
            Words(&["config"]),
            Words(&["set"]),
            Words(&["edit"]),
            Long("--call"),
            Letter('c'),
            Long("--script-shell"),
            Long("--shell"),
            Long("--node-options"),
            Long("--prefix"),
            Long("--editor"),
            Long("--viewer"),
            Long("--git"),
            Long("--userconfig"),
            Long("--globalconfig"),
        ],
        reason: "runs a program of any name, or keeps settings that do",
    },
    Row {
        programs: &["cargo"],
        signs: &[Long("--config"), Begins("+"), Short("-Z"), Short("-C"), Long("--manifest-path"), Words(&["install"])],
        reason: "settings of one call name compilers and runners",
    },
    Row {
        programs: &["rustc", "rustdoc"],
        signs: &[Short("-C"), Long("--codegen"), Short("-o"), Long("--out-dir"), Short("-Z")],
        reason: "names a linker, or writes to a file of any name",
    },
    Row {
        programs: &["go"],
        signs: &[
            Long("-exec"),
            Long("--exec"),
            Long("-toolexec"),
            Long("--toolexec"),
            Long("-vettool"),
            Long("--vettool"),
            Long("-o"),
            Long("-overlay"),
            Words(&["generate"]),
            Words(&["tool"]),
            Words(&["env", "-w"]),
            Short("-C"),
        ],
        reason: "runs or writes what the option names",
    },
    Row {
        programs: &["gcc", "g++", "cc", "c++", "clang", "clang++"],
        signs: &[
            Short("-wrapper"),
            Begins("-fplugin"),
            Short("-B"),
            Short("-o"),
            Begins("@"),
            Short("-specs"),
            Long("--specs"),
        ],
        reason: "runs or writes what the option names",
    },
    Row {
        programs: &["make", "gmake"],
        signs: &[
            Long("--eval"),
            Letter('E'),
            Letter('f'),
            Letter('C'),
            Letter('I'),
            Long("--file"),
            Long("--makefile"),
            Long("--directory"),
            Long("--include-dir"),
            Has("="),
        ],
        reason: "runs what it is given, or another directory's rules",
    },
    Row { programs: &["dd"], signs: &[Begins("of=")], reason: "writes to a file of any name" },
    Row {
        programs: &["jq", "yq"],
        signs: &[Letter('i'), Long("--inplace"), Long("--in-place"), Letter('L')],
        reason: "writes the file, or loads code",
    },
    Row {
        programs: &["date", "hostname"],
        signs: &[Letter('s'), Long("--set"), Letter('F')],
        reason: "changes the machine",
    },
    Row {
        programs: &["printf", "test", "[", "wait"],
        signs: &[Short("-v"), Has("[$("), Has("[`")],
        reason: "names a variable whose index is evaluated",
    },
    Row {
        programs: &["openssl"],
        signs: &[Begins("-out"), Begins("-engine"), Begins("-provider")],
        reason: "writes files, or loads code",
    },
    Row {
        programs: &["docker", "podman", "kubectl"],
        signs: &[Words(&["run"]), Words(&["exec"]), Words(&["cp"]), Words(&["create"]), Words(&["debug"])],
        reason: "runs a command, with the machine's files if it wants",
    },
    Row { programs: &["file"], signs: &[Letter('C'), Long("--compile")], reason: "writes a file" },
];

/// The first words that a pattern has to have itself: where, how many bytes of it, and why.
pub(super) fn find(program: &str, words: &[Word]) -> Vec<(usize, usize, &'static str)> {
    let mut found = Vec::new();
    for row in rows(program) {
        for sign in row.signs {
            if let Some((at, bytes)) = sign.find(words) {
                found.push((at, bytes, row.reason));
            }
        }
    }
    found
}

/// Whether the program has options that matter.
pub(super) fn is_listed(program: &str) -> bool {
    rows(program).next().is_some()
}

fn rows(program: &str) -> impl Iterator<Item = &'static Row> {
    // Versions: python3.12, clang-17.
    let bare = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-').to_owned();
    let program = program.to_owned();
    TABLE.iter().filter(move |row| row.programs.iter().any(|name| *name == program || *name == bare))
}

impl Sign {
    /// The word, counted from the program, and how much of it has to be in the pattern.
    fn find(self, words: &[Word]) -> Option<(usize, usize)> {
        let arguments = || words.iter().enumerate().skip(1);
        let options = || arguments().filter(|(_, word)| word.text.starts_with('-') && word.text.len() > 1);
        match self {
            Self::Long(name) => options().find_map(|(at, word)| {
                let typed = word.text.split('=').next().unwrap_or_default();
                let is_it = typed == name || is_beginning(typed, name);
                is_it.then(|| (at, word.text.len().min(typed.len() + 1)))
            }),
            Self::Short(name) => {
                options().find(|(_, word)| word.text.starts_with(name)).map(|(at, _)| (at, name.len()))
            }
            Self::Letter(letter) => options().find_map(|(at, word)| {
                let letters = word.text.strip_prefix('-').filter(|rest| !rest.starts_with('-'))?;
                letters.contains(letter).then_some((at, word.text.len()))
            }),
            Self::Words(names) => {
                let mut last = None;
                let mut rest = arguments();
                for name in names {
                    let is_it = |(_, word): &(usize, &Word)| {
                        word.text == *name || name.starts_with('-') && word.text.starts_with(name)
                    };
                    last = Some(rest.find(is_it)?.0);
                }
                last.and_then(|at| Some((at, words.get(at)?.text.len())))
            }
            Self::Begins(start) => {
                arguments().find(|(_, word)| word.text.starts_with(start)).map(|(at, _)| (at, start.len()))
            }
            Self::Has(part) => {
                arguments().find(|(_, word)| word.text.contains(part)).map(|(at, word)| (at, word.text.len()))
            }
            Self::NoScript => {
                let has_script = arguments().any(|(_, word)| !word.text.starts_with('-'));
                let dash = arguments().find(|(_, word)| word.text == "-");
                match dash {
                    Some((at, _)) => Some((at, 1)),
                    None if has_script => None,
                    // The last word, so that a pattern without `*` is the only one.
                    None => Some((words.len(), 1)),
                }
            }
            Self::SedScript => sed_script(words),
            Self::Unknown => arguments().find(|(_, word)| !word.is_known()).map(|(at, word)| (at, word.text.len() + 1)),
            Self::SecondName => {
                let mut names =
                    arguments().filter(|(_, word)| !word.text.starts_with('-') && !word.text.starts_with('+'));
                names.nth(1).map(|(at, word)| (at, word.text.len()))
            }
        }
    }
}

/// A beginning of an option of two dashes is the option, if there is no other.
fn is_beginning(typed: &str, name: &str) -> bool {
    typed.len() > 2 && typed.starts_with("--") && name.starts_with(typed)
}

fn sed_script(words: &[Word]) -> Option<(usize, usize)> {
    let mut takes_next = false;
    let mut is_given = false;
    for (at, word) in words.iter().enumerate().skip(1) {
        let text = word.text.as_str();
        let script = if takes_next {
            takes_next = false;
            Some(text)
        } else if let Some(script) = text.strip_prefix("--e") {
            script.split_once('=').map(|(_, script)| script).or_else(|| {
                takes_next = true;
                None
            })
        } else if text.starts_with("--") {
            None
        } else if let Some(letters) = text.strip_prefix('-') {
            match letters.split_once('e') {
                Some((_, "")) => {
                    takes_next = true;
                    None
                }
                Some((_, script)) => Some(script),
                None => None,
            }
        } else if is_given {
            None
        } else {
            Some(text)
        };
        is_given |= script.is_some() || takes_next;
        if script.is_some_and(|script| !is_plain_sed(script)) {
            return Some((at, text.len()));
        }
    }
    None
}

/// `5p`, `1,20p`, `$d`, `/text/d`, `s/a/b/g`, several of them with `;`.
fn is_plain_sed(script: &str) -> bool {
    script.split([';', '\n']).all(|command| {
        let command = command.trim();
        let address = |c: char| c.is_ascii_digit() || matches!(c, ',' | '$' | '!' | ' ' | '~' | '+');
        let mut command = command.trim_start_matches(address);
        if let Some((_, rest)) =
            command.strip_prefix('/').filter(|rest| !rest.contains('\\')).and_then(|r| r.split_once('/'))
        {
            command = rest.trim_start_matches(address);
        }
        let Some(rest) = command.strip_prefix('s') else { return matches!(command, "" | "p" | "d" | "q" | "=") };
        let Some(mark) = rest.chars().next().filter(|c| c.is_ascii_punctuation() && *c != '\\') else { return false };
        // A mark that is escaped, or stands in brackets, would shift what follows.
        if rest.contains(&format!("\\{mark}")) || rest.contains('[') {
            return false;
        }
        let parts: Vec<&str> = rest.split(mark).collect();
        parts.len() == 4 && parts[3].chars().all(|c| c.is_ascii_digit() || matches!(c, 'g' | 'p' | 'i' | 'I' | ' '))
    })
}
