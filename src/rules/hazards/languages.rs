//! Options of compilers, of the builders of single languages and of what sets texts, which load code, run a program or write
//! elsewhere: data, each row with its reason.
//!
//! Invariant: nothing but data.

use super::Row;
use super::sign::Sign::{BeforeScript, Begins, Has, Letters, Longs, Of, Only, OtherDashes, Set, Words};

pub(super) const LANGUAGES: &[Row] = &[
    Row {
        programs: &[
            "tex", "latex", "pdftex", "pdflatex", "xetex", "xelatex", "luatex", "lualatex", "luahbtex", "platex",
            "uplatex",
        ],
        signs: &[Has("shell-escape"), Has("write18"), Has("output-d"), Has("aux-d"), Has("cnf-line"), Has("\\")],
        reason: "its texts run programs then, or it writes elsewhere",
    },
    Row {
        programs: &["latexmk", "arara"],
        signs: &[OtherDashes(
            "-pdf -pdfxe -pdflua -pdfdvi -dvi -ps -c -C -CA -quiet -silent -verbose -f -g -halt-on-error -file-line-error \
            -interaction=* -synctex=* -bibtex -bibtex- -version --version -v",
        )],
        reason: "names the programs that it runs, takes settings from elsewhere, or writes there",
    },
    Row {
        programs: &["helm"],
        signs: &[Longs("--post-renderer --post-renderer-args --kubeconfig --repository-config"), Words(&["plugin"])],
        reason: "runs a program of any name",
    },
    Row {
        programs: &["composer"],
        signs: &[
            Words(&["exec"]),
            Words(&["config"]),
            Words(&["global"]),
            Words(&["create-project"]),
            Letters("d"),
            Longs("--working-dir"),
        ],
        reason: "runs a program of any name, keeps settings that do, or works elsewhere",
    },
    Row {
        programs: &["rake", "rackup", "thor"],
        signs: &[
            Letters("fegEGIpRrC"),
            Longs(
                "--execute --execute-print --execute-continue --rakefile --require --rakelibdir --libdir --system \
                --nosearch --directory",
            ),
            Begins("--rake"),
        ],
        reason: "loads code",
    },
    Row {
        programs: &["rake", "rackup", "thor"],
        // Variables of what it starts: as those that stand in front of a command.
        signs: &[Set("TEST VERBOSE TRACE SEED")],
        reason: "sets variables, which may name programs, options and files",
    },
    Row {
        programs: &["rake", "rails"],
        signs: &[
            Has("db:drop"),
            Has("db:purge"),
            Has("db:reset"),
            Has("db:setup"),
            Has("db:truncate"),
            Has("db:rollback"),
            Has("db:schema:load"),
            Has("db:structure:load"),
            Has("db:seed:replant"),
            Has("db:migrate:"),
            Has("db:environment"),
            Has("db:fixtures"),
        ],
        reason: "takes away what is in a database",
    },
    Row {
        programs: &["rake", "rails"],
        signs: &[Has("credentials:"), Has("encrypted:"), Has("secrets:")],
        reason: "shows secrets, or opens an editor",
    },
    Row {
        programs: &["php"],
        signs: &[
            Of("artisan", "config:show"),
            Of(
                "console",
                "secrets:list secrets:reveal secrets:decrypt-to-local debug:dotenv doctrine:database:drop \
                doctrine:schema:drop doctrine:fixtures:load doctrine:query:sql dbal:run-sql",
            ),
        ],
        reason: "shows secrets, or takes away what is in a database",
    },
    Row {
        programs: &["mix"],
        signs: &[
            Has("ecto.drop"),
            Has("ecto.reset"),
            Has("ecto.rollback"),
            Has("ecto.load"),
            Has("ash.reset"),
            Has("ash.tear_down"),
            Has("ash.rollback"),
            Has("ash_postgres.drop"),
            Has("ash_postgres.rollback"),
        ],
        reason: "takes away what is in a database",
    },
    Row {
        programs: &["hanami"],
        signs: &[Of("db", "drop rollback structure")],
        reason: "takes away what is in a database",
    },
    Row {
        programs: &["mix"],
        signs: &[
            Words(&["run"]),
            Words(&["eval"]),
            Words(&["cmd"]),
            Words(&["do"]),
            Words(&["archive.install"]),
            Words(&["escript.install"]),
        ],
        reason: "runs a program from the line or of any name, or puts one in",
    },
    Row {
        programs: &["bun"],
        signs: &[BeforeScript("", &[Letters("c")])],
        reason: "takes settings from elsewhere, which load code",
    },
    Row {
        programs: &["deno"],
        // What the long ones with `--allow` before them do, too.
        signs: &[BeforeScript("", &[Letters("cPRWNESI")])],
        reason: "takes settings from elsewhere, or allows the program more",
    },
    Row { programs: &["ts-node"], signs: &[BeforeScript("", &[Letters("CPO")])], reason: "loads code" },
    Row {
        programs: &["pandoc"],
        signs: &[Words(&["lua"]), Words(&["server"])],
        reason: "runs a program from the line, or serves the directory",
    },
    Row {
        programs: &["zig"],
        signs: &[
            Only("build build-exe build-lib build-obj test fmt ast-check env version targets zen"),
            Longs(
                "--build-file --build-runner --zig-lib-dir --prefix --cache-dir --global-cache-dir --test-cmd \
                --test-runner",
            ),
            Begins("-p"),
            Begins("-femit"),
        ],
        reason: "runs a program of any name, or writes elsewhere",
    },
    Row {
        programs: &["nim", "nimble"],
        signs: &[
            Has("pass"),
            Has(".exe"),
            Has("linkerexe"),
            Begins("--out"),
            Begins("-o"),
            Words(&["e"]),
            Words(&["js"]),
        ],
        reason: "names the programs that it runs, or the file that it writes",
    },
    Row {
        programs: &["ghc", "runghc", "runhaskell"],
        signs: &[
            Begins("-e"),
            Begins("-pgm"),
            Begins("-opt"),
            Begins("-F"),
            Begins("-fplugin"),
            Begins("-package-db"),
            Begins("@"),
        ],
        reason: "runs a program from the line or of any name, or loads code",
    },
    Row {
        programs: &["javac", "kotlinc", "scalac"],
        signs: &[Has("processor"), Has("plugin"), Begins("-J"), Begins("@")],
        reason: "loads code",
    },
    Row {
        programs: &["java"],
        signs: &[
            Has("agent"),
            Has("onerror"),
            Has("onoutofmemory"),
            Has("bootclasspath"),
            Has("patch-module"),
            Begins("@"),
        ],
        reason: "loads code, or runs a program of any name",
    },
    Row {
        programs: &["swift"],
        signs: &[
            Begins("-X"),
            Begins("-e"),
            Begins("-load"),
            Words(&["plugin"]),
            Longs(
                "--package-path --build-path --scratch-path --disable-sandbox --allow-writing-to-package-directory \
                --toolchain --swift-sdk",
            ),
        ],
        reason: "loads code, or works elsewhere",
    },
    Row {
        programs: &["dotnet"],
        signs: &[
            Begins("-a"),
            Begins("-l"),
            Begins("/l"),
            Begins("/r:"),
            Words(&["new", "install"]),
            Words(&["--project"]),
        ],
        reason: "loads code, or works elsewhere",
    },
];
