//! Options of programs that build, test and put packages in: data, each row with its reason.
//!
//! Invariant: nothing but data.

use super::Row;
use super::sign::Sign::{
    After, Assignment, Before, Begins, But, Elsewhere, Has, Letters, Longs, Marks, Only, OnlyBehind, OtherDashes,
    OtherLongs, Unplain, Words,
};

/// What those which keep packages do with scripts and packages of the project.
const OF_PACKAGES: &str = "run run-script test t start build lint install i ci add remove uninstall update list ls outdated \
    view info why explain audit pack version search root prefix bin ping pkg/get --version -v";

/// What of this puts nothing in: all that is known behind the name of a package of the workspace.
const OF_SCRIPTS: &str = "run run-script test t start build lint list ls outdated why explain";

pub(super) const BUILDS: &[Row] = &[
    Row {
        programs: &["npm"],
        signs: &[OnlyBehind("-ws --workspaces -w= --workspace=", OF_PACKAGES, OF_SCRIPTS)],
        reason: "runs a program of any name, or keeps settings that do",
    },
    Row {
        programs: &["yarn"],
        signs: &[OnlyBehind("workspace=", OF_PACKAGES, OF_SCRIPTS)],
        reason: "runs a program of any name, or keeps settings that do",
    },
    Row {
        // Whatever a package is called, its program runs.
        programs: &["bunx", "npx", "pnpx", "uvx"],
        signs: &[Only("--version -v -V")],
        reason: "runs a program of any name",
    },
    Row {
        programs: &["pnpm"],
        // In every package of the workspace, or in its own.
        signs: &[OnlyBehind("-r --recursive -w --workspace-root --filter= -F=", OF_PACKAGES, OF_SCRIPTS)],
        reason: "runs a program of any name, or keeps settings that do",
    },
    Row {
        programs: &["npm", "pnpm", "yarn", "bunx", "npx", "pnpx"],
        signs: &[
            // A package may run what it wants to while it is put in or packed, and an address tells what it is asked.
            After("install i add update pack"),
            Unplain("view info"),
            // It runs what stands behind it.
            Words(&["run", "env"]),
            Words(&["run-script", "env"]),
            Words(&["rum", "env"]),
            Words(&["urn", "env"]),
            Letters("Cc"),
            // Shells of scripts may read what stands behind them once more.
            Has("$("),
            Has("`"),
            // npm reads `-prefix` as `--prefix`.
            Before(&[
                But("DEOBPSWfysdqlavhr", "wF"),
                OtherLongs(
                    "--silent --json --production --omit --include --workspace --workspaces --workspace-root --filter --recursive \
                    --parallel --save --save-dev --save-exact --no-save --legacy-peer-deps --force --no-audit \
                    --no-fund --if-present --loglevel --prefer-offline --offline --frozen-lockfile --immutable \
                    --ignore-scripts --depth --long --all --dry-run --version --watch --coverage --verbose --ci \
                    --run --fix --check",
                ),
            ]),
        ],
        reason: "runs a program of any name, or keeps settings that do",
    },
    Row {
        programs: &["cargo"],
        signs: &[
            Only(
                "build b check c test t run r bench clippy fmt doc d rustdoc rustc install tree metadata update fetch \
                search info version clean fix remove rm generate-lockfile package locate-project pkgid \
                read-manifest verify-project help nextest audit outdated deny machete expand miri llvm-cov init new -V --version --list -h --help",
            ),
            Letters("ZCo"),
            Begins("+"),
            // Behind a `--` a program of tests writes there.
            Longs("--config --codegen --emit --out-dir --print --sysroot --extern --logfile"),
            Before(&[OtherLongs(
                "--release --lib --bin --bins --test --tests --example --examples --bench --benches --doc --all \
                    --workspace --package --exclude --features --all-features --no-default-features --all-targets \
                    --no-run --no-fail-fast --keep-going --quiet --verbose --locked --offline --frozen \
                    --message-format --color --profile --jobs --target --check --fix --allow-dirty --allow-staged \
                    --allow-no-vcs --depth --edges --invert --no-deps --document-private-items --list --version \
                    --help --edition --name --dry-run --precise --aggressive --recursive --limit --dev --build \
                    --optional --timings --format-version --filter-platform --no-dedupe --prefix --format --duplicates",
            )]),
            Words(&["install"]),
            Words(&["rustc"]),
            Words(&["rustdoc"]),
            // `cargo fmt -- FILE` formats any file.
            Elsewhere("fmt"),
            Elsewhere("init"),
            Elsewhere("new"),
            Words(&["self"]),
        ],
        reason: "settings of one call name compilers, runners and directories, and others of its commands write elsewhere",
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
            Only("build test vet fmt run list mod doc version env clean get install fix help"),
            // Fetched from where the name says.
            After("get install"),
            Elsewhere("fmt"),
            Elsewhere("fix"),
            Words(&["tool"]),
            Words(&["env", "-w"]),
            Words(&["env", "--w"]),
            Words(&["env", "-u"]),
            Words(&["env", "--u"]),
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
            // How much is printed.
            Assignment("V VERBOSE"),
            // What a target is called stands unquoted in the lines of rules for targets of many names.
            Marks,
        ],
        reason: "runs what it is given, or another directory's rules",
    },
];
