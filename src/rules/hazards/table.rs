//! Options that make a harmless-looking program run or write something else: data, each row with its reason.
//!
//! Invariant: nothing but data.

use super::Row;
use super::Sign::{
    After, Always, Bare, Begins, But, Device, Each, Has, Input, Letters, Longs, Name, NoScript, NoSecondName, Only,
    OtherDashes, OtherLongs, SecondName, SedScript, Short, Steering, Unknown, Words,
};

/// Programs that read nothing of the directory which they run in but the files that they are given.
pub(super) const STEADY: &[&str] = &[
    "echo", "printf", "true", "false", ":", "pwd", "cd", "pushd", "popd", "date", "sleep", "ls", "cat", "head", "tail",
    "wc", "grep", "cut", "tr", "stat", "basename", "dirname", "diff", "cmp",
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
        programs: &["ag", "bat", "delta"],
        signs: &[Longs("--pager")],
        reason: "names a program that shows the output",
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
        ],
        reason: "writes what the archive names, or runs the program that the option names",
    },
    Row { programs: &["unzip"], signs: &[Only("-l -v -t -Z -p -lv -tq -Z1")], reason: "writes what the archive names" },
    Row {
        programs: &["zip"],
        signs: &[Short("-T"), Longs("--unzip-command"), Letters("TmO"), Longs("--move --output-file")],
        reason: "tests with a program of any name, or removes what it packs",
    },
    Row {
        programs: &["rsync"],
        signs: &[
            But("avzrltpgoDHAXEnhPqcuOJSWxLkKiCm", ""),
            OtherLongs(
                "--archive --verbose --recursive --dry-run --delete --delete-after --delete-before \
                --delete-during --exclude --include --progress --stats --partial --human-readable --compress \
                --checksum --update --times --links --copy-links --perms --owner --group --list-only \
                --itemize-changes --max-size --min-size --bwlimit --size-only --ignore-existing --existing \
                --relative --mkpath --info --version",
            ),
        ],
        reason: "names the program that connects, or a file that is written",
    },
    Row {
        programs: &["scp", "sftp", "ssh"],
        signs: &[Letters("oSFDEIb")],
        reason: "settings of the connection name programs and files",
    },
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
            Has(">"),
            Has("getline"),
            Has("@"),
            Has("\\"),
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
            But("sSLfkiIvgGN46", "HAmuxberXyYz"),
            OtherLongs(
                "--silent --show-error --location --fail --fail-with-body --head --include --verbose --insecure \
                --compressed --header --user-agent --max-time --connect-timeout --retry --retry-delay \
                --retry-all-errors --request --get --globoff --ipv4 --ipv6 --http1.1 --http2 --no-progress-meter \
                --progress-bar --max-redirs --range --referer --user --tlsv1.2 --tlsv1.3 --proto --no-buffer \
                --url --version --help",
            ),
            Has("@"),
        ],
        reason: "writes files of any name, or sends them away",
    },
    Row {
        programs: &["wget"],
        signs: &[
            But("qvScN46", "tTUw"),
            OtherLongs(
                "--quiet --no-verbose --spider --timeout --tries --user-agent --header --no-check-certificate \
                --continue --timestamping --server-response --show-progress --https-only --version --help",
            ),
            Steering,
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
        signs: &[Letters("cmi"), NoScript, Device],
        reason: "runs a program from the line or from standard input",
    },
    Row {
        programs: &["node", "nodejs", "bun", "deno", "tsx", "ts-node"],
        signs: &[
            Letters("epr"),
            // Its long options have many spellings.
            Begins("--"),
            Words(&["eval"]),
            Words(&["x"]),
            Words(&["exec"]),
            Has("://"),
            NoScript,
            Device,
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
        signs: &[Letters("eErRBdxIMmilc"), Longs("--run --eval"), NoScript, Device],
        reason: "runs a program from the line or from standard input",
    },
    Row {
        programs: &["sh", "bash", "dash", "zsh", "ksh", "ash", "fish", "rbash", "csh", "tcsh", "mksh", "yash", "posh"],
        signs: &[
            Letters("csiOoC"),
            Begins("+"),
            Longs("--rcfile --init-file --command --init-command"),
            NoScript,
            Device,
        ],
        reason: "runs a program from the line or from standard input",
    },
    Row {
        programs: &["nu", "elvish", "xonsh", "pwsh", "powershell"],
        signs: &[Begins("-"), NoScript, Device, Input],
        reason: "runs a program from the line or from standard input",
    },
    Row {
        programs: &["npm", "pnpm", "yarn", "bunx", "npx", "pnpx"],
        signs: &[
            Only(
                "run run-script test t start build lint install i ci add remove uninstall update list ls outdated \
                view info why audit pack version --version -v",
            ),
            // A package may run what it wants to while it is put in.
            After("install i add update"),
            Letters("Cc"),
            OtherLongs(
                "--silent --json --production --omit --include --workspace --workspaces --filter --recursive \
                --parallel --save --save-dev --save-exact --no-save --legacy-peer-deps --force --no-audit \
                --no-fund --if-present --loglevel --prefer-offline --offline --frozen-lockfile --immutable \
                --ignore-scripts --depth --long --all --dry-run --version --watch --coverage --verbose --ci \
                --run",
            ),
        ],
        reason: "runs a program of any name, or keeps settings that do",
    },
    Row {
        programs: &["cargo"],
        signs: &[
            Letters("ZCo"),
            Begins("+"),
            Longs("--config --codegen --emit --out-dir --print --sysroot --extern"),
            OtherLongs(
                "--release --lib --bin --bins --test --tests --example --examples --bench --benches --doc --all \
                --workspace --package --exclude --features --all-features --no-default-features --all-targets \
                --no-run --no-fail-fast --keep-going --quiet --verbose --locked --offline --frozen \
                --message-format --color --profile --jobs --target --check --fix --allow-dirty --allow-staged \
                --allow-no-vcs --depth --edges --invert --no-deps --document-private-items --list --version \
                --help --edition --name --dry-run --precise --aggressive --recursive --limit --dev --build \
                --optional --format-version --filter-platform --no-dedupe --prefix --format --duplicates",
            ),
            Words(&["install"]),
            Words(&["rustc"]),
            Words(&["rustdoc"]),
        ],
        reason: "settings of one call name compilers, runners and directories",
    },
    Row {
        programs: &["rustc", "rustdoc"],
        signs: &[
            OtherDashes(
                "-V -vV -v --version --verbose --edition --crate-type --crate-name --test -O -g -A* -W* -D* -F* \
                --cfg --check-cfg --cap-lints --color --error-format --explain",
            ),
            Begins("@"),
        ],
        reason: "names a linker, or writes to a file of any name",
    },
    Row {
        programs: &["go"],
        signs: &[
            OtherDashes(
                "-v -race -run -skip -list -bench -benchmem -benchtime -count -short -timeout -failfast -parallel \
                -shuffle -cpu -cover -covermode -coverpkg -json -tags -mod -x -n -a -p -trimpath -buildvcs -f \
                -deps -test -e -m -u -versions -all -src -s -w -l -d -h -help",
            ),
            Words(&["generate"]),
            Words(&["tool"]),
            Words(&["env", "-w"]),
            Words(&["env", "--w"]),
            Has("@"),
        ],
        reason: "runs or writes what the option names",
    },
    Row {
        programs: &["gcc", "g++", "cc", "c++", "clang", "clang++"],
        signs: &[
            OtherDashes(
                "-c -S -E -O* -g -g0 -g1 -g2 -g3 -ggdb -W* -w -D* -U* -I* -L* -l* -isystem -include -std -ansi \
                -pedantic -pedantic-errors -pthread -x -s -v -static -shared -fPIC -fpic -fPIE -fno-* -fsanitize \
                -fsyntax-only -fopenmp -fstack-* -fvisibility -fexceptions -frtti -fwrapv -ffast-math \
                -fomit-frame-pointer -fcommon -fcoroutines -fmax-errors -fdiagnostics-color -fcolor-diagnostics \
                -march -mtune -mcpu -m32 -m64 -version -dumpversion -dumpmachine -print-*",
            ),
            Begins("@"),
            Begins("-Wl,"),
            Begins("-Wa,"),
            Begins("-Wp,"),
        ],
        reason: "runs or writes what the option names",
    },
    Row {
        programs: &["make", "gmake"],
        signs: &[
            But("kBnsqiwjl", ""),
            OtherLongs(
                "--keep-going --jobs --load-average --always-make --dry-run --just-print --silent --quiet \
                --question --no-print-directory --print-directory --warn-undefined-variables --output-sync \
                --ignore-errors --debug --trace --version --help",
            ),
            Has("="),
        ],
        reason: "runs what it is given, or another directory's rules",
    },
    Row { programs: &["dd"], signs: &[Begins("of=")], reason: "writes to a file of any name" },
    Row {
        programs: &["jq", "yq"],
        signs: &[Letters("iL"), Longs("--inplace --in-place --library-path")],
        reason: "writes the file, or loads code",
    },
    Row { programs: &["yq"], signs: &[Letters("s"), Longs("--split-exp")], reason: "writes files of any name" },
    Row {
        programs: &["sqlite3"],
        signs: &[Has("."), Has("load_extension"), Has("writefile"), Has("edit("), Begins("-"), NoSecondName, Input],
        reason: "its commands run programs and write files",
    },
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
        programs: &["hg", "svn"],
        signs: &[
            Longs(
                "--config --config-option --config-dir --diff-cmd --diff3-cmd --editor-cmd --repository --cwd \
                --output --tool --merge-tool",
            ),
            Letters("Rot"),
            Words(&["extdiff"]),
            Words(&["config"]),
            Words(&["histedit"]),
            Words(&["bisect"]),
        ],
        reason: "settings of one call and of other repositories name programs",
    },
    Row {
        programs: &["gh", "glab"],
        signs: &[
            Words(&["alias"]),
            Words(&["extension"]),
            Words(&["ext"]),
            Words(&["config"]),
            Words(&["extensions"]),
            Words(&["clone"]),
            Words(&["download"]),
            Words(&["checkout"]),
            Words(&["codespace"]),
            Words(&["cs"]),
            Words(&["auth"]),
        ],
        reason: "keeps settings and programs that later calls run, or writes what others sent",
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
    Row { programs: &["date"], signs: &[Name("drI"), Letters("sF"), Longs("--set")], reason: "changes the machine" },
    Row { programs: &["hostname"], signs: &[Name(""), Letters("sF"), Longs("--file")], reason: "changes the machine" },
    Row {
        programs: &["printf", "print", "test", "[", "wait"],
        signs: &[Short("-v"), Has("[$"), Has("$("), Has("`")],
        reason: "names a variable whose index is evaluated",
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
        programs: &["docker", "podman", "kubectl"],
        signs: &[
            Only("ps images logs version info inspect top port history stats get describe explain"),
            Longs("--kubeconfig"),
        ],
        reason: "runs a command, with the machine's files if it wants",
    },
    Row { programs: &["file"], signs: &[Letters("C"), Longs("--compile")], reason: "writes a file" },
];
