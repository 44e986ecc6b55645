//! Options that make a harmless-looking program run or write something else: data, each row with its reason.
//!
//! Invariant: nothing but data.

use super::Row;
use super::sign::Sign::{
    Addresses, After, Always, Bare, BeforeScript, Begins, But, Device, Each, Escapes, Has, HasAll, Imports, Input,
    Letters, Longs, NoScript, Of, Only, OnlyTwo, Open, OtherDashes, OtherLongs, Part, Query, Redirects, SecondName,
    SedScript, Short, Steering, Token, Unknown, Value, Words,
};

/// Programs that read nothing of the directory which they run in but the files that they are given.
pub(super) const STEADY: &[&str] = &[
    "echo",
    "printf",
    "true",
    "false",
    ":",
    "pwd",
    "cd",
    "pushd",
    "popd",
    "date",
    "sleep",
    "ls",
    "cat",
    "head",
    "tail",
    "wc",
    "grep",
    "cut",
    "tr",
    "stat",
    "basename",
    "dirname",
    "diff",
    "cmp",
    "du",
    "df",
    "nl",
    "tac",
    "md5sum",
    "sha1sum",
    "sha256sum",
    "readlink",
    "realpath",
    "uname",
    "whoami",
    "exit",
    "return",
    "break",
    "continue",
];

pub(super) const TABLE: &[Row] = &[
    Row {
        programs: &["find"],
        signs: &[OtherDashes(
            "-name -iname -path -ipath -wholename -iwholename -lname -ilname -type -xtype -maxdepth -mindepth \
                -depth -print -print0 -printf -ls -quit -prune -not -a -o -and -or -size -empty -perm -user \
                -group -uid -gid -nouser -nogroup -mtime -mmin -atime -amin -ctime -cmin -newer* -anewer -cnewer \
                -regex -iregex -regextype -follow -xdev -mount -fstype -L -H -P -readable -writable -executable \
                -links -inum -samefile -daystart -true -false -noleaf -warn -nowarn",
        )],
        reason: "runs, deletes or writes for each file",
    },
    Row {
        programs: &["fd", "fdfind"],
        signs: &[Letters("xX"), Longs("--exec --exec-batch")],
        reason: "runs a command for each file",
    },
    Row { programs: &["rg"], signs: &[Longs("--pre --hostname-bin")], reason: "runs a program for each file" },
    Row {
        programs: &["ag", "ack", "bat", "delta", "ugrep", "ug"],
        signs: &[Longs("--pager --filter --view --config --config-file --ackrc")],
        reason: "names a program that reads files or shows the output",
    },
    Row {
        programs: &["tar", "bsdtar", "gtar"],
        signs: &[
            Longs(
                "--checkpoint-action --to-command --use-compress-program --rsh-command --rmt-command \
                --info-script --new-volume-script --files-from --index-file --listed-incremental \
                --absolute-names --directory --extract --get --remove-files",
            ),
            Letters("IFTgPCx"),
            Bare("IFTgPCx"),
            Steering,
            // Another machine.
            Has(":"),
        ],
        reason: "writes what the archive names, or runs the program that the option names",
    },
    Row { programs: &["unzip"], signs: &[Only("-l -v -t -Z -p -lv -tq -Z1")], reason: "writes what the archive names" },
    Row {
        programs: &["zip"],
        signs: &[Short("-T"), Longs("--unzip-command"), Letters("TmO"), Longs("--move --output-file"), Steering],
        reason: "tests with a program of any name, or removes what it packs",
    },
    Row {
        programs: &["rsync"],
        signs: &[
            But("avzrltpgoDHAXEnhPqcuOJSWxLkiCm", ""),
            OtherLongs(
                "--archive --verbose --recursive --dry-run --delete --delete-after --delete-before \
                --delete-during --exclude --include --progress --stats --partial --human-readable --compress \
                --checksum --update --times --links --copy-links --perms --owner --group --list-only \
                --itemize-changes --max-size --min-size --bwlimit --size-only --ignore-existing --existing \
                --relative --mkpath --info --version",
            ),
            // Another machine.
            Has(":"),
        ],
        reason: "names the program that connects, or a file that is written",
    },
    Row {
        programs: &["scp", "sftp", "ssh"],
        signs: &[Letters("oSFDEIb")],
        reason: "settings of the connection name programs and files",
    },
    Row { programs: &["scp"], signs: &[Has(":")], reason: "brings files to another machine, or from one" },
    Row {
        programs: &["sed", "gsed"],
        signs: &[SedScript, Unknown, But("nErsuz", "e"), Longs("--in-place --file --line-length")],
        reason: "its commands run programs and write files (e, w)",
    },
    Row {
        programs: &["awk", "gawk", "mawk", "nawk"],
        signs: &[
            Unknown,
            Has("system"),
            Has("|"),
            Redirects,
            Has("getline"),
            // What variables hold that the program is started with.
            Token("ENVIRON"),
            // Names of files to read, be it by the table of all variables.
            Has("argv"),
            Has("symtab"),
            Has("@"),
            // By their number any characters could be made, and the end of a line could part a word.
            Escapes("ntr\\\"./$()[]{}+*?^-&swSWyB"),
            But("", "Fv"),
            Begins("--"),
        ],
        reason: "its programs run programs and write files",
    },
    Row {
        programs: &["sort"],
        signs: &[
            But("bdfgiMhnRrVcCmsuz", "kSt"),
            OtherLongs(
                "--reverse --numeric-sort --unique --key --field-separator --human-numeric-sort --version-sort \
                --general-numeric-sort --month-sort --random-sort --ignore-case --ignore-leading-blanks \
                --ignore-nonprinting --dictionary-order --stable --check --merge --zero-terminated --parallel \
                --buffer-size --debug --version --help",
            ),
        ],
        reason: "writes to a file of any name, or runs a program",
    },
    Row {
        programs: &["uniq"],
        signs: &[
            SecondName("fsw"),
            But("cdDuiz", "fsw"),
            OtherLongs(
                "--count --repeated --all-repeated --group --unique --ignore-case --zero-terminated --skip-fields \
                --skip-chars --check-chars --version --help",
            ),
        ],
        reason: "its second name is written",
    },
    Row {
        programs: &["shuf"],
        signs: &[
            But("erz", "in"),
            OtherLongs("--echo --head-count --input-range --repeat --zero-terminated --version --help"),
        ],
        reason: "writes to a file of any name",
    },
    Row {
        programs: &["xxd", "cpp", "pdftotext", "ptx"],
        signs: &[SecondName(""), Letters("o")],
        reason: "its second name is written",
    },
    Row {
        programs: &["split"],
        signs: &[SecondName("abCln"), Longs("--filter")],
        reason: "writes to files of any name, or runs a command for each part",
    },
    Row { programs: &["csplit"], signs: &[Letters("f"), Longs("--prefix")], reason: "writes to files of any name" },
    Row {
        programs: &["iconv", "tree"],
        signs: &[Letters("o"), Longs("--output")],
        reason: "writes to a file of any name",
    },
    Row {
        programs: &["curl"],
        signs: &[
            But("sSLfkiIvgGN46", "HAmuberXyYzow"),
            OtherLongs(
                "--silent --show-error --location --fail --fail-with-body --head --include --verbose --insecure \
                --compressed --header --user-agent --max-time --connect-timeout --retry --retry-delay \
                --retry-all-errors --request --get --globoff --ipv4 --ipv6 --http1.1 --http2 --no-progress-meter \
                --progress-bar --max-redirs --range --referer --user --tlsv1.2 --tlsv1.3 --proto --no-buffer \
                --url --output --write-out --version --help",
            ),
            Value("HAmuberXyYzow", 'X', "--request", "GET HEAD OPTIONS get head options"),
            Value("HAmuberXyYzow", 'o', "--output", "/dev/null -"),
            Has("%output"),
            Has("@"),
            // Files, and bytes of any kind to what listens on this machine.
            Addresses(
                "HAmuberXyYzow",
                "--header --user-agent --max-time --connect-timeout --retry --retry-delay --request --max-redirs \
                --range --referer --user --proto --output --write-out",
            ),
        ],
        reason: "writes files of any name, sends them away, or changes what is elsewhere",
    },
    Row {
        programs: &["wget"],
        signs: &[
            But("qvSc46", "tTUwO"),
            OtherLongs(
                "--quiet --no-verbose --spider --timeout --tries --user-agent --header --no-check-certificate \
                --continue --server-response --show-progress --https-only --output-document --version --help",
            ),
            Value("tTUwO", 'O', "--output-document", "/dev/null -"),
            Steering,
            Addresses("tTUwO", "--timeout --tries --user-agent --header --output-document"),
        ],
        reason: "writes files of any name, or sends them away",
    },
    Row {
        programs: &["vim", "vi", "nvim", "view", "ex", "emacs", "emacsclient", "nano", "ed"],
        signs: &[Always],
        reason: "editors run commands, also from standard input",
    },
    Row {
        programs: &["less"],
        signs: &[But("EFJMNRSWimnrswG", ""), Begins("--"), Begins("+")],
        reason: "pagers run commands and write logs",
    },
    Row {
        programs: &["more", "man"],
        signs: &[Begins("+"), Letters("oOkPpHCTX"), Begins("--")],
        reason: "pagers run commands and write logs",
    },
    Row {
        programs: &["python", "python2", "python3", "pypy", "pypy3"],
        signs: &[BeforeScript("uBOsEIqv", &[Letters("cmi")]), NoScript, Device],
        reason: "runs a program from the line or from standard input",
    },
    Row {
        programs: &["python", "python2", "python3", "pypy", "pypy3"],
        signs: &[Of(
            "manage.py",
            "shell shell_plus dbshell flush loaddata runscript reset_db createsuperuser changepassword",
        )],
        reason: "runs a program from the line, or takes away what is in a database",
    },
    Row {
        programs: &["php"],
        signs: &[Of(
            "artisan",
            "tinker db db:wipe db:seed migrate:fresh migrate:reset migrate:refresh migrate:rollback key:generate down env:decrypt",
        )],
        reason: "runs a program from the line, or takes away what is in a database",
    },
    Row {
        programs: &["node", "nodejs", "bun", "deno", "tsx", "ts-node"],
        signs: &[
            BeforeScript(
                "",
                &[
                    Letters("epr"),
                    // Its long options have many spellings.
                    Begins("--"),
                    Words(&["eval"]),
                    Words(&["x"]),
                    Words(&["exec"]),
                    Words(&["inspect"]),
                    Words(&["debug"]),
                    Words(&["repl"]),
                    Words(&["create"]),
                    Has("npm:"),
                    Has("jsr:"),
                    Has("://"),
                ],
            ),
            NoScript,
            Device,
        ],
        reason: "runs a program from the line or from standard input",
    },
    Row {
        programs: &["bun", "deno"],
        signs: &[
            Words(&["run", "env"]),
            Words(&["publish"]),
            Words(&["upgrade"]),
            Words(&["compile"]),
            Words(&["jupyter"]),
            Words(&["link"]),
            // A package may run what it wants to while it is put in, and one that is named comes from elsewhere.
            After("add a install i update up link pm fmt lint"),
            Letters("A"),
        ],
        reason: "runs what a package brings, or allows it everything",
    },
    Row {
        programs: &["ruby", "lua", "osascript", "Rscript", "julia", "elixir", "groovy", "tclsh", "guile"],
        signs: &[
            BeforeScript("wv", &[Letters("eErRBdxIMmilcSFCat"), Longs("--run --eval --server")]),
            NoScript,
            Device,
        ],
        reason: "runs a program from the line or from standard input, or serves the directory",
    },
    Row {
        programs: &["php"],
        // Not `-l`, which only reads what it is given.
        signs: &[BeforeScript("", &[Letters("eErRBdxIMmicSFCatz"), Longs("--run --eval --server")]), NoScript, Device],
        reason: "runs a program from the line or from standard input, or serves the directory",
    },
    Row {
        programs: &["perl"],
        signs: &[BeforeScript("wWtTvcu", &[But("wWtTvcu", ""), Begins("--")]), NoScript, Device],
        reason: "runs a program from the line or from standard input",
    },
    Row {
        programs: &["sh", "bash", "dash", "zsh", "ksh", "ash", "fish", "rbash", "csh", "tcsh", "mksh", "yash", "posh"],
        signs: &[
            BeforeScript(
                "eux",
                &[Letters("csiOoC"), Begins("+"), Longs("--rcfile --init-file --command --init-command")],
            ),
            NoScript,
            Device,
        ],
        reason: "runs a program from the line or from standard input",
    },
    Row {
        programs: &["nu", "elvish", "xonsh", "pwsh", "powershell", "rc", "es", "sash", "jjs"],
        signs: &[Begins("-"), NoScript, Device, Input],
        reason: "runs a program from the line or from standard input",
    },
    Row { programs: &["dd"], signs: &[Begins("of=")], reason: "writes to a file of any name" },
    Row {
        programs: &["jq", "yq"],
        signs: &[Letters("iL"), Longs("--inplace --in-place --library-path --security-enable-system-operator")],
        reason: "writes the file, or loads code",
    },
    Row {
        programs: &["jq", "yq"],
        signs: &[Imports, Token("modulemeta")],
        reason: "reads files where its program says",
    },
    Row { programs: &["yq"], signs: &[Letters("s"), Longs("--split-exp")], reason: "writes files of any name" },
    Row {
        programs: &["jq", "yq"],
        signs: &[Token("env"), Token("strenv"), Token("envsubst"), Token("$ENV")],
        reason: "shows what variables hold that the program is started with",
    },
    Row {
        programs: &["yq"],
        // What is evaluated may be put together.
        signs: &[
            HasAll(&["eval", "("]),
            Token("load"),
            Token("load_str"),
            Token("load_xml"),
            Token("load_props"),
            Token("load_base64"),
        ],
        reason: "reads files where its program says",
    },
    Row { programs: &["sqlite3"], signs: &[Query], reason: "its commands run programs and write files" },
    Row {
        programs: &["psql", "mysql", "mariadb", "sftp", "ftp", "lftp", "telnet", "mail", "mailx", "mutt", "dc", "m4"],
        signs: &[Always],
        reason: "its commands, also those from standard input, run programs and write files",
    },
    Row {
        programs: &["gnuplot", "octave", "R", "mongo", "mongosh", "irb", "ghci", "erl", "iex", "jshell", "debugfs"],
        signs: &[Begins("-"), Input],
        reason: "its commands run programs",
    },
    Row {
        programs: &["nc", "ncat", "netcat"],
        signs: &[Letters("ec"), Longs("--exec --sh-exec --lua-exec --output --hex-dump")],
        reason: "gives the connection to a program",
    },
    Row { programs: &["socat"], signs: &[Each], reason: "its addresses name programs and files" },
    Row {
        programs: &["hg"],
        signs: &[
            Only(
                "status st stat log diff summary sum identify id branch branches tags heads parents cat annotate blame \
                files manifest paths root tip version help grep bookmarks bookmark add addremove forget commit ci update \
                up checkout co merge graft rebase phase verify pull push incoming in outgoing out resolve revert --version \
                --help",
            ),
            // Another repository has hooks of its own, and what is sent goes there.
            After("pull push incoming in outgoing out"),
            But("vqpgabwBmnucAUGfildksMSIX", "rT"),
            OtherLongs(
                "--verbose --quiet --rev --limit --template --patch --git --stat --graph --all --modified --added \
                --removed --deleted --clean --unknown --ignored --no-status --copies --include --exclude --message \
                --addremove --amend --user --date --branch --closed --follow --only-merges --no-merges --keyword \
                --change --text --ignore-all-space --ignore-space-change --ignore-blank-lines --unified --number \
                --line-number --active --force --list --mark --unmark --no-backup --dry-run --style --pager --version \
                --help --noninteractive --color --abort --continue --source --dest --base --keep --newest-first",
            ),
        ],
        reason: "settings of one call and of other repositories name programs, and extensions bring commands of any kind",
    },
    Row {
        programs: &["svn"],
        signs: &[
            Only(
                "status st stat log diff di info list ls cat blame praise annotate proplist pl propget pg add commit ci \
                update up revert resolved help --version --help",
            ),
            Has("://"),
            But("vquNcgm", "rl"),
            OtherLongs(
                "--verbose --quiet --revision --change --limit --message --non-interactive --depth --recursive --stop-on-copy \
                --show-updates --no-ignore --summarize --xml --incremental --force --accept --version --help --git \
                --search --diff --ignore-externals",
            ),
        ],
        reason: "settings of one call name programs, and addresses too",
    },
    Row {
        programs: &["gh"],
        signs: &[
            OnlyTwo(
                "pr/view pr/list pr/status pr/diff pr/checks issue/view issue/list issue/status run/view run/list \
                run/watch release/view release/list repo/view repo/list workflow/view workflow/list label/list search/ \
                cache/list gist/view gist/list secret/list variable/list ruleset/list ruleset/view ruleset/check \
                org/list project/list project/view status/ version/ help/ --version/ --help/",
            ),
            Letters("weFOD"),
            // `--body` begins like it.
            Short("--body-file"),
            Longs("--web --editor --notes-file --hostname --input --output --dir --clone --field --raw-field"),
        ],
        reason: "changes or sends what is elsewhere, runs extensions, or writes what others sent",
    },
    Row {
        programs: &["glab"],
        signs: &[
            OnlyTwo("mr/view mr/list mr/diff issue/view issue/list ci/list ci/status version/ help/"),
            Letters("w"),
            Longs("--web"),
        ],
        reason: "changes or sends what is elsewhere, runs extensions, or writes what others sent",
    },
    Row {
        programs: &[
            "export",
            "declare",
            "typeset",
            "local",
            "readonly",
            "unset",
            "let",
            "read",
            "getopts",
            "mapfile",
            "readarray",
            "coproc",
        ],
        signs: &[Each],
        reason: "sets variables, of which later programs are made",
    },
    Row { programs: &["wait"], signs: &[Letters("p")], reason: "names a variable that is set" },
    Row {
        programs: &["printf", "print", "test", "[", "wait"],
        signs: &[Short("-v"), Has("[$"), Has("$("), Has("`")],
        reason: "names a variable whose index is evaluated",
    },
    Row { programs: &["openssl"], signs: &[Words(&["engine"])], reason: "loads code" },
    Row {
        programs: &["install"],
        signs: &[Longs("--strip-program")],
        reason: "runs the program that the option names",
    },
    Row {
        programs: &["openssl"],
        signs: &[OtherDashes(
            "-in -inform -outform -noout -text -check -dates -enddate -startdate -subject -issuer -serial \
                -fingerprint -modulus -pubkey -pubin -pubout -purpose -ext -sha1 -sha256 -sha384 -sha512 -md5 \
                -connect -servername -showcerts -brief -tls1_2 -tls1_3 -verify_return_error -CAfile -CApath -a \
                -v -hex -base64 -d -e -r -binary -hmac -aes-256-cbc -pbkdf2 -iter -salt",
        )],
        reason: "writes files, or loads code",
    },
    Row {
        programs: &["docker", "podman"],
        signs: &[
            Only(
                "ps images logs version info inspect top port history stats compose/ps compose/logs compose/top compose/port \
                compose/images compose/version",
            ),
            Letters("Hov"),
            Longs(
                "--host --context --config --output --secret --ssh --allow --builder --iidfile --metadata-file --cidfile \
                --volume --volumes-from --mount --privileged --device --pid --ipc --uts --userns --cap-add --security-opt \
                --network --net --env-file --file --push --build-context --cache-to --use-api-socket \
                --cache-from --device-cgroup-rule --label-file --project-directory --group-add --runtime --cgroup-parent",
            ),
        ],
        reason: "runs a command, with the machine's files if it wants",
    },
    Row {
        programs: &["kubectl"],
        signs: &[
            Only("get describe logs explain version top api-resources api-versions"),
            But("Awfp", "nolcL"),
            OtherLongs(
                "--namespace --all-namespaces --output --selector --watch --show-labels --tail --follow --previous \
                --container --since --timestamps --field-selector --sort-by --no-headers --all-containers --client \
                --recursive --label-columns --chunk-size --ignore-not-found --containers --help",
            ),
            // Of logs only: what else has an address there reads from it.
            Has("://"),
            Part("secret secrets"),
        ],
        reason: "runs a command, shows secrets, or sends them to the server that an option names",
    },
    // What these write is what later commands read.
    Row {
        programs: &["ln", "install", "rsync", "scp", "tee", "sponge", "truncate", "dd", "chmod"],
        signs: &[Steering, Unknown],
        reason: "writes files from which later commands take programs",
    },
    Row {
        programs: &["cp", "mv"],
        signs: &[Steering, Open],
        reason: "writes files from which later commands take programs",
    },
    Row {
        programs: &["gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz", "zstd", "unzstd"],
        signs: &[Steering],
        reason: "writes files from which later commands take programs",
    },
    Row {
        programs: &["ln", "link"],
        signs: &[Always],
        reason: "afterwards another name stands for a file that rules are about",
    },
    Row {
        programs: &["cp"],
        signs: &[Letters("ls"), Longs("--link --symbolic-link")],
        reason: "afterwards another name stands for a file that rules are about",
    },
    Row { programs: &["patch"], signs: &[Always], reason: "what it writes does not stand in the line" },
    Row {
        programs: &["pytest", "py.test"],
        signs: &[
            Letters("pco"),
            Longs(
                "--basetemp --rootdir --confcutdir --config-file --override-ini --junitxml --junit-xml --log-file --pyargs \
                --import-mode --debug --pastebin",
            ),
        ],
        reason: "empties a directory, writes a file, or loads code",
    },
    Row { programs: &["cmake"], signs: &[Short("-P"), Short("-E")], reason: "runs commands and writes files" },
    Row {
        programs: &["ar", "nm", "ld", "ranlib", "objdump", "strip", "size"],
        signs: &[Longs("--plugin -plugin")],
        reason: "loads code",
    },
    Row {
        programs: &["eslint", "prettier"],
        signs: &[
            Letters("co"),
            Longs("--config --plugin --rulesdir --resolve-plugins-relative-to --output-file --format --parser"),
        ],
        reason: "loads code, or writes to a file of any name",
    },
    Row {
        programs: &["tcpdump", "pandoc"],
        signs: &[
            Letters("zwZoFLd"),
            Longs("--filter --lua-filter --output --pdf-engine --data-dir --defaults --extract-media --template"),
        ],
        reason: "runs a program, or writes to a file of any name",
    },
    Row {
        programs: &["file"],
        signs: &[Letters("Cfm"), Longs("--compile --files-from --magic-file")],
        reason: "writes a file, or prints what stands in one",
    },
];
