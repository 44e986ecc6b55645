//! Options of builders, checkers and watchers that load code, run a program or work elsewhere: data, each row with its
//! reason.
//!
//! Invariant: nothing but data.

use super::Row;
use super::sign::Sign::{
    After, Any, Begins, Behind, But, Colons, Each, Has, Input, Letters, Longs, Only, OnlyTwo, OtherDashes, OtherLongs,
    Paths, Set, Short, Unless, Words,
};

pub(super) const LOADERS: &[Row] = &[
    Row { programs: &["tar", "gtar"], signs: &[Longs("--volno-file")], reason: "writes a file of any name" },
    Row {
        programs: &["mvn", "mvnw"],
        signs: &[
            Short("-s"),
            Short("-f"),
            Short("-t"),
            Short("-b"),
            Begins("-gs"),
            Begins("-gt"),
            Longs("--settings --global-settings --file --toolchains --global-toolchains --builder"),
            Has("maven.ext"),
            Has("exec:"),
            Has("exec-maven"),
            Has("-dexec"),
            Has("antrun"),
            // A plug-in that is named with its group.
            Colons(2),
            Has("jvm="),
            Begins("exec."),
            Has("argline"),
            Has("surefire.debug"),
            Has("failsafe.debug"),
            Has("forkedprocess"),
        ],
        reason: "takes settings or a project from elsewhere, loads code, or runs a program of any name",
    },
    Row {
        programs: &["gradle", "gradlew"],
        signs: &[
            Short("-I"),
            Short("-p"),
            Short("-b"),
            Short("-c"),
            Short("-g"),
            Longs(
                "--init-script --project-dir --build-file --settings-file --include-build --gradle-user-home \
                --project-cache-dir",
            ),
            Begins("-Dorg.gradle"),
            Has("publish"),
            Has("upload"),
        ],
        reason: "loads code, works elsewhere, or sends away what it built",
    },
    Row {
        programs: &["dotnet"],
        signs: &[
            Only(
                "build test restore run clean format list add remove new sln pack --version --info --list-sdks \
                --list-runtimes",
            ),
            Short("-s"),
            Short("-p:"),
            Begins("/p:"),
            Longs(
                "--settings --logger --collect --diag --test-adapter-path --property -property --source --configfile",
            ),
        ],
        reason: "runs what it is given, or loads code",
    },
    Row {
        programs: &["terraform", "tofu"],
        signs: &[
            Only("version validate fmt show output providers graph plan init get -version --version"),
            Longs("-chdir --chdir -plugin-dir --plugin-dir"),
            // Not `test`, which makes what it tests. Secrets are shown then:
            After("output"),
            Words(&["output", "-json"]),
            Words(&["output", "--json"]),
            Words(&["output", "-raw"]),
            Words(&["output", "--raw"]),
            Words(&["show", "-json"]),
            Words(&["show", "--json"]),
        ],
        reason: "changes what there is elsewhere, works there, or shows secrets",
    },
    Row {
        programs: &["strace"],
        signs: &[Has("|"), Has("!"), Letters("E"), Longs("--env")],
        reason: "writes to a program, or sets a variable that loads code",
    },
    Row { programs: &["perf"], signs: &[Longs("--objdump --addr2line")], reason: "runs a program of any name" },
    Row {
        programs: &["ip"],
        signs: &[Only(
            "-4 -6 -0 -br -brief -s -stats -d -details -j -json -p -pretty -c -color -o -oneline -t -ts -h -V -Version \
            a addr address addrlabel l link r ro route rule n neigh neighbor neighbour maddr maddress mroute ntable \
            netconf monitor tunnel token tcp_metrics help netns/ netns/list netns/ls netns/show netns/identify \
            netns/pids vrf/ vrf/list vrf/show vrf/identify vrf/pids",
        )],
        reason: "runs a program within another network, or commands from a file",
    },
    Row {
        programs: &["tc"],
        signs: &[Only("-s -d -r -p -j -json -n -V qdisc q class c filter f chain action actions a monitor m help")],
        reason: "runs a program, or commands from a file",
    },
    Row { programs: &["gdb", "lldb"], signs: &[Each, Input], reason: "its commands run programs" },
    Row { programs: &["script"], signs: &[Letters("c"), Longs("--command")], reason: "runs a line" },
    Row { programs: &["sbatch"], signs: &[Longs("--wrap")], reason: "runs a line" },
    Row {
        programs: &["nodemon"],
        signs: &[Letters("x"), Longs("--exec --execMap --require")],
        reason: "runs a line in the place of node, or loads code",
    },
    Row { programs: &["tmux", "nix-shell"], signs: &[Each], reason: "runs a program of any name" },
    Row {
        programs: &["nix"],
        signs: &[Only("search log path-info why-depends --version hash")],
        reason: "runs and builds what an address names",
    },
    Row {
        programs: &["cmake"],
        signs: &[
            Short("-C"),
            Longs("--toolchain --install --open --preset --workflow"),
            Begins("/"),
            Begins("~"),
            Has("compiler"),
            Has("launcher"),
            Has("toolchain"),
            Has("linker"),
            Has("_include"),
            Has("_program"),
            Has("_command"),
            Any("install install/strip install/local uninstall"),
            Begins("--target=install"),
            Begins("-tinstall"),
            // What builds takes these.
            Behind(&[
                But("jklsnvB", ""),
                OtherLongs("--jobs --keep-going --silent --quiet --verbose --dry-run --always-make"),
                Set("V VERBOSE"),
            ]),
        ],
        reason: "loads code, names a program that builds, or puts in what was built",
    },
    Row { programs: &["ninja", "samu"], signs: &[Letters("ft")], reason: "works elsewhere, or removes what was built" },
    Row {
        programs: &["bazel", "bazelisk"],
        signs: &[Longs(
            "--bazelrc --run_under --override_repository --override_module --output_base --output_user_root \
            --install_base --host_jvm_args --server_javabase --shell_executable --workspace_status_command \
            --script_path --invocation_policy --action_env --plugin",
        )],
        reason: "runs a program of any name, or takes settings from elsewhere",
    },
    Row {
        programs: &["just"],
        signs: &[
            Letters("cfdeE"),
            Longs(
                "--shell --shell-arg --command --justfile --working-directory --edit --choose --chooser --init \
                --dotenv-path --dotenv-filename --global-justfile --tempdir --set",
            ),
        ],
        reason: "runs a program of any name, or takes recipes from elsewhere",
    },
    Row {
        programs: &["task", "go-task"],
        signs: &[Letters("tdgi"), Longs("--taskfile --dir --entrypoint --global --init")],
        reason: "takes recipes from elsewhere",
    },
    Row {
        programs: &["pre-commit"],
        signs: &[Letters("c"), Longs("--config"), Words(&["try-repo"])],
        reason: "takes hooks from elsewhere",
    },
    Row { programs: &["ruff"], signs: &[Letters("o"), Longs("--output-file")], reason: "writes to a file of any name" },
    Row {
        programs: &["mypy", "pyright", "pylint", "flake8"],
        signs: &[Longs(
            "--python-executable --pythonpath --config-file --rcfile --config --append-config --load-plugins \
            --init-hook --output-file --junit-xml --custom-typeshed-dir --shadow-file --install-types",
        )],
        reason: "runs a program, loads code, or writes to a file of any name",
    },
    Row {
        programs: &["jest", "vitest", "mocha"],
        signs: &[
            Letters("cr"),
            Longs(
                "--config --globalSetup --globalTeardown --setupFiles --setupFilesAfterEnv --rootDir --root \
                --transform --runner --testRunner --resolver \
                --watchPlugins --preset --dir --outputFile --require --import --loader --file --package --opts \
                --node-option --api --api.host --api.port",
            ),
            // Of a name that stands in the project it is known what it is; vitest empties the directory for its reports.
            Paths(
                "--testEnvironment --env --environment --ui -u --reporters --reporter --coverage.reporter --browser.provider --pool",
            ),
            Begins("--coverage.custom"),
            Begins("--coverage.reportsDirectory"),
            Begins("--coverage.provider=custom"),
            Words(&["--coverage.provider", "custom"]),
        ],
        reason: "loads code, works elsewhere, or empties a directory",
    },
    Row { programs: &["mocha"], signs: &[Short("-n")], reason: "loads code" },
    Row {
        programs: &["prove"],
        signs: &[
            But("vfolbscDrpqQmhHV?TtwW", "j"),
            OtherLongs(
                "--verbose --failures --comments --lib --blib --shuffle --color --nocolor --colour --nocolour --count --nocount \
                --dry --ignore-exit --recurse --reverse --parse --quiet --QUIET --merge --state --directives --help --man \
                --version --jobs --timer --normalize --norc --ext --trap",
            ),
        ],
        reason: "runs a program of any name in the place of perl, loads code, or writes to a file of any name",
    },
    Row {
        programs: &["busted"],
        signs: &[
            Letters("efomC"),
            Longs("--lua --helper --loaders --output --config-file --coverage-config-file --lpath --cpath --directory"),
        ],
        reason: "runs a program of any name, or loads code",
    },
    Row {
        programs: &["bats"],
        signs: &[
            Letters("o"),
            Longs("--output --gather-test-outputs-in --tempdir --setup-suite-file --parallel-binary-name"),
            Paths("-F --formatter --report-formatter"),
        ],
        reason: "runs a program of any name, loads code, or writes elsewhere",
    },
    Row {
        programs: &["shellspec"],
        signs: &[
            Letters("srOIcCo"),
            Longs(
                "--shell --require --options --load-path --helperdir --env-from --docker --directory --chdir --output \
                --kcov-path --kcov-options --reportdir --covdir --tmpdir --gen-bin",
            ),
        ],
        reason: "runs a program of any name, or loads code",
    },
    Row {
        programs: &["cucumber", "cucumber-js"],
        signs: &[
            Letters("rco"),
            Longs("--require --require-module --import --loader --config --out --publish"),
            Paths("-f --format"),
        ],
        reason: "loads code, writes to a file of any name, or sends away what came of it",
    },
    Row {
        programs: &["cloc"],
        // One dash or two, in any letters.
        signs: &[OtherDashes(
            "-v -3 -by-file -by-file-by-lang -by-percent -csv -csv-delimiter -diff -docstring-as-code -exclude-content \
            -exclude-dir -exclude-ext -exclude-lang -force-lang -fullpath -git -help -hide-rate -include-content \
            -include-ext -include-lang -json -match-d -match-f -max-file-size -md -no-autogen -no3 -not-match-d \
            -not-match-f -processes -progress-rate -quiet -show-ext -show-lang -skip-uniqueness -sum-one -timeout \
            -verbose -version -xml -yaml",
        )],
        reason: "runs the line that the option has, takes settings from elsewhere, or writes to a file of any name",
    },
    Row {
        programs: &["lcov", "geninfo", "genhtml", "gcovr", "grcov", "fastcov"],
        signs: &[
            // In any letters, and with one dash, too.
            Has("-gcov"),
            Has("-demangle"),
            Has("-script"),
            Has("-config"),
            Begins("--rc"),
            Begins("-rc"),
            Has("-output"),
            Has("-llvm-path"),
            Letters("o"),
        ],
        reason: "runs a program of any name, takes settings from elsewhere, or writes to a file of any name",
    },
    Row { programs: &["eslint"], signs: &[Short("-f"), Longs("--init")], reason: "loads code" },
    Row { programs: &["pytest", "py.test"], signs: &[Longs("--pdbcls")], reason: "loads code" },
    Row { programs: &["protoc", "buf"], signs: &[Longs("--plugin --template")], reason: "runs a program of any name" },
    Row {
        programs: &["as", "ctags", "etags", "cscope"],
        signs: &[Letters("of"), Longs("--options -options --MD")],
        reason: "writes to a file of any name, or takes settings from elsewhere",
    },
    Row {
        programs: &["pip", "pip3"],
        signs: &[
            Letters("t"),
            Longs("--python --target --prefix --root --src --log --editor --cache-dir"),
            Words(&["config", "set"]),
            Words(&["config", "edit"]),
        ],
        reason: "runs a program, writes elsewhere, or keeps settings",
    },
    Row {
        programs: &["systemctl"],
        signs: &[
            OnlyTwo(
                "status/ show/ cat/ list-units/ list-unit-files/ list-timers/ list-sockets/ list-dependencies/ \
                is-active/ is-enabled/ is-failed/",
            ),
            Short("-H"),
            Short("-M"),
            Longs("--host --machine --root --image"),
        ],
        reason: "starts, ends and changes services",
    },
    Row {
        programs: &["journalctl"],
        signs: &[
            Short("-D"),
            Longs(
                "--vacuum-size --vacuum-time --vacuum-files --rotate --flush --sync --relinquish-var \
                --smart-relinquish-var --setup-keys --update-catalog --cursor-file --directory --root --image",
            ),
        ],
        reason: "removes what was logged, or writes a file",
    },
    Row { programs: &["crontab"], signs: &[Only("-l"), Unless("-l")], reason: "runs programs later" },
    Row {
        programs: &["compgen", "complete", "compopt"],
        signs: &[Letters("CFW")],
        reason: "runs what the option names",
    },
    Row { programs: &["history"], signs: &[Letters("anrw")], reason: "writes a file, or takes lines from one" },
    Row { programs: &["hash"], signs: &[Letters("p")], reason: "a name stands for another program afterwards" },
    Row { programs: &["enable"], signs: &[Letters("fn")], reason: "loads code, or a name stands for another program" },
    Row { programs: &["alias"], signs: &[Has("=")], reason: "a name stands for another program afterwards" },
    Row { programs: &["bind"], signs: &[Letters("fxu")], reason: "runs a program when a key is pressed" },
    Row { programs: &["trap", "fc"], signs: &[Each], reason: "runs it later, or once more" },
];
