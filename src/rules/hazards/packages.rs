//! Options and commands of what puts packages and versions of programs in: data, each row with its reason.
//!
//! What the project's own files name may be put in, and run what it wants while it is: as `make` and `npm run` run what the
//! project says. What the line names, another source, and what a package has brought are asked about.
//!
//! Invariant: nothing but data.

use super::Row;
use super::sign::Sign::{After, Always, Brought, But, Each, Has, Longs, Only, OnlyTwo, OtherLongs, Short, Words};

/// Why most of them ask.
const BRINGS: &str = "brings in what is named, from where an option or an address says, or runs what that brings";

pub(super) const PACKAGES: &[Row] = &[
    Row {
        programs: &["pip", "pip3"],
        signs: &[
            Only(
                "install uninstall list show freeze check download wheel inspect index hash help debug config --version -V --help",
            ),
            Brought("install download wheel", "rce", "--requirement --constraint --editable"),
            Has("://"),
            Has("git+"),
            But("qvUIhVyl", "rce"),
            OtherLongs(
                "--quiet --verbose --upgrade --no-deps --requirement --constraint --editable --no-cache-dir --disable-pip-version-check --no-input --pre --no-build-isolation --force-reinstall --ignore-installed --yes --outdated --format --version --help --require-hashes --no-warn-script-location --only-binary --no-binary --upgrade-strategy --progress-bar --files --not-required --local --dry-run --no-index --all --exclude --group",
            ),
        ],
        reason: BRINGS,
    },
    Row {
        programs: &["uv"],
        signs: &[
            OnlyTwo(
                "sync/ lock/ tree/ export/ version/ build/ venv/ init/ remove/ help/ --version/ -V/ pip/list pip/show pip/freeze pip/check pip/tree pip/compile pip/sync pip/uninstall pip/install python/list python/find tool/list cache/dir",
            ),
            Brought("pip/install", "rce", "--requirement --constraint --editable"),
            Has("://"),
            Has("git+"),
            Short("-p"),
            Short("-i"),
            Short("-f"),
            Short("-C"),
            Longs(
                "--with --with-editable --with-requirements --python --index --index-url --default-index --extra-index-url --find-links --directory --project --config-file --config-setting --cache-dir --target --prefix --env-file --script --keyring-provider --allow-insecure-host --system --override --overrides --build-constraint --break-system-packages",
            ),
        ],
        reason: BRINGS,
    },
    Row {
        programs: &["poetry"],
        signs: &[
            OnlyTwo(
                "install/ lock/ sync/ show/ check/ build/ version/ env/info env/list remove/ update/ about/ search/ list/ help/ export/ --version/ -V/",
            ),
            Longs("--directory --project --executable"),
            Short("-C"),
            Short("-P"),
        ],
        reason: BRINGS,
    },
    Row {
        programs: &["pdm"],
        signs: &[
            OnlyTwo("install/ sync/ lock/ list/ show/ info/ build/ remove/ update/ outdated/ export/ --version/ -V/"),
            Longs("--project --global --config --venv"),
            Short("-p"),
            Short("-g"),
            Short("-c"),
        ],
        reason: BRINGS,
    },
    Row {
        programs: &["pipenv"],
        signs: &[
            OnlyTwo("install/ sync/ lock/ graph/ check/ verify/ uninstall/ clean/ requirements/ --version/"),
            Brought("install", "r", "--requirements"),
            Longs("--python --index --pypi-mirror --editable"),
            Short("-e"),
            Short("-i"),
            Has("://"),
        ],
        reason: BRINGS,
    },
    Row {
        programs: &["hatch"],
        signs: &[
            OnlyTwo("build/ test/ fmt/ version/ status/ clean/ dep/ env/show --version/"),
            Longs("--config --data-dir --cache-dir --project"),
            Short("-p"),
        ],
        reason: BRINGS,
    },
    Row {
        programs: &["rye"],
        signs: &[OnlyTwo("sync/ lock/ list/ show/ build/ test/ fmt/ lint/ --version/")],
        reason: BRINGS,
    },
    Row {
        programs: &["pixi"],
        signs: &[OnlyTwo("install/ list/ info/ tree/ search/ lock/ task/list --version/"), Longs("--manifest-path")],
        reason: BRINGS,
    },
    Row {
        programs: &["conda", "mamba", "micromamba"],
        signs: &[OnlyTwo("list/ info/ search/ env/list env/export --version/ -V/")],
        reason: BRINGS,
    },
    Row { programs: &["pipx"], signs: &[OnlyTwo("list/ environment/ --version/ help/")], reason: BRINGS },
    Row {
        programs: &["rustup"],
        signs: &[OnlyTwo("show/ check/ which/ doc/ target/list component/list toolchain/list --version/ -V/ help/")],
        reason: BRINGS,
    },
    Row {
        programs: &[
            "rbenv", "pyenv", "nodenv", "rvm", "nvm", "fnm", "volta", "asdf", "corepack", "guix", "devbox", "devenv",
        ],
        signs: &[Only("version versions list ls current which whence where --version help")],
        reason: BRINGS,
    },
    Row {
        programs: &["mise"],
        signs: &[
            Only("ls list current where which doctor tasks run r version --version -V help"),
            Longs("--cd --tool --shell"),
            Short("-C"),
            Short("-t"),
            Short("-s"),
        ],
        reason: BRINGS,
    },
    Row {
        programs: &["bundle", "bundler"],
        signs: &[
            OnlyTwo("install/ list/ show/ info/ outdated/ check/ lock/ version/ platform/ doctor/ --version/ update/"),
            Longs("--path --gemfile --binstubs --shebang --trust-policy"),
        ],
        reason: BRINGS,
    },
    Row {
        programs: &["gem"],
        signs: &[
            Only(
                "list query search info contents dependency environment env outdated specification which help build --version -v",
            ),
            Longs("--config-file --norc"),
            Short("-C"),
        ],
        reason: BRINGS,
    },
    Row {
        programs: &["brew"],
        signs: &[Only(
            "list ls info search outdated deps uses leaves config doctor desc log cat tap-info commands help --version --prefix --cellar",
        )],
        reason: BRINGS,
    },
    Row {
        programs: &["apt", "apt-get", "apt-cache", "aptitude"],
        signs: &[
            Only("list show search policy depends rdepends madison showpkg help --version -v"),
            Short("-o"),
            Short("-c"),
            Longs("--option --config-file"),
        ],
        reason: BRINGS,
    },
    Row {
        programs: &["opkg"],
        signs: &[
            Only("list list-installed list-upgradable info status search files whatdepends whatprovides --version"),
            Longs("--conf --offline-root --add-dest --cache"),
            Short("-f"),
            Short("-o"),
        ],
        reason: BRINGS,
    },
    Row {
        programs: &["pkg"],
        signs: &[Only("info search query rquery version stats which check audit list-all list-installed -v")],
        reason: BRINGS,
    },
    Row { programs: &["easy_install"], signs: &[Only("--version --help")], reason: BRINGS },
    Row {
        programs: &["apk"],
        signs: &[
            Only("info list search version policy --version"),
            Longs("--root --repositories-file --keys-dir --repository"),
            Short("-p"),
            Short("-X"),
        ],
        reason: BRINGS,
    },
    Row {
        programs: &["dnf", "yum", "microdnf", "tdnf"],
        signs: &[
            Only("list info search provides repolist check-update history repoquery deplist --version"),
            Longs("--setopt --config --installroot --releasever --repofrompath --enableplugin"),
            Short("-c"),
        ],
        reason: BRINGS,
    },
    Row {
        programs: &["zypper"],
        signs: &[
            Only("search se info if list-updates lu repos lr packages pa --version"),
            Longs("--config --root --installroot --plus-repo"),
            Short("-c"),
            Short("-R"),
        ],
        reason: BRINGS,
    },
    Row {
        programs: &["pacman", "yay", "paru"],
        signs: &[
            Only("-Q -Qi -Ql -Qs -Qo -Qe -Qu -Ss -Si -Sl -F -Fl --version -V --query"),
            Longs("--config --root --dbpath --hookdir --gpgdir --cachedir --sysroot --logfile"),
            Short("-r"),
        ],
        reason: BRINGS,
    },
    Row {
        programs: &["dpkg"],
        signs: &[
            Only(
                "-l -L -s -S -p -I -c --list --listfiles --status --search --print-architecture --print-foreign-architectures --info --contents --compare-versions --version --verify -V",
            ),
            Longs("--root --instdir --admindir --pre-invoke --post-invoke --status-logger"),
        ],
        reason: BRINGS,
    },
    Row {
        programs: &["rpm"],
        signs: &[
            Only("-q -qa -qi -ql -qf -qc -qd -qR -qp -qpl -qpi -V --version --query --verify"),
            Short("-E"),
            Short("-D"),
            Has("%("),
            Has("%{lua"),
            Longs("--eval --define --pipe --root --dbpath --rcfile --macros --load --undefine"),
        ],
        reason: BRINGS,
    },
    Row {
        programs: &["snap", "flatpak"],
        signs: &[Only("list info find search version remotes remote-ls --version")],
        reason: BRINGS,
    },
    Row {
        programs: &["port", "choco", "scoop", "winget"],
        signs: &[Only("list installed info search variants deps contents outdated version --version")],
        reason: BRINGS,
    },
    Row {
        programs: &["luarocks"],
        signs: &[
            Only("list show search doc which make build test lint path --version"),
            Brought("build", "", ""),
            Longs("--server --only-server --tree --project-tree --lua-dir"),
            Has("://"),
        ],
        reason: BRINGS,
    },
    Row {
        programs: &["cpanm"],
        signs: &[
            Brought("", "", ""),
            Longs(
                "--mirror --mirror-only --local-lib --local-lib-contained --configure-args --build-args --look --interactive --scandeps",
            ),
            Short("-l"),
            Short("-L"),
            Has("://"),
        ],
        reason: BRINGS,
    },
    Row { programs: &["cpan"], signs: &[Always], reason: BRINGS },
    Row {
        programs: &["cookiecutter", "copier", "yo", "degit", "create-react-app", "create-next-app", "create-vite"],
        signs: &[Each],
        reason: "runs what a template brings",
    },
    Row {
        programs: &["opam"],
        signs: &[
            Only("list show info search install lint env var config --version"),
            Brought("install", "", ""),
            Longs("--root --switch --cli --shell"),
            Has("://"),
        ],
        reason: BRINGS,
    },
    Row {
        programs: &["cabal"],
        signs: &[
            Only(
                "build v2-build test v2-test bench run check list info update freeze outdated haddock sdist clean configure path --version -V --numeric-version",
            ),
            Short("-w"),
            Longs(
                "--with-compiler --with-ghc --with-hc-pkg --with-hsc2hs --with-gcc --with-ld --with-ar --with-strip --project-file --config-file --store-dir --prefix --ghc-options --builddir --package-db --extra-prog-path",
            ),
        ],
        reason: BRINGS,
    },
    Row {
        programs: &["stack"],
        signs: &[
            Only("build test bench haddock clean path list ls dot query run --version --numeric-version"),
            Brought("build", "", ""),
            Longs(
                "--exec --stack-yaml --ghc-options --setup-info-yaml --local-bin-path --copy-bins --with-gcc --with-hpack --work-dir --stack-root --docker --nix-shell-options --nix-packages --extra-package-dbs --haddock-arguments",
            ),
        ],
        reason: BRINGS,
    },
    Row {
        programs: &["composer"],
        signs: &[
            Only(
                "install i validate show info outdated licenses status depends why why-not prohibits diagnose dump-autoload dumpautoload check-platform-reqs audit about list help run-script run test lint stan phpstan analyse cs fix fund search remove update u upgrade config exec global create-project --version -V",
            ),
            After("update u upgrade"),
            Has("://"),
        ],
        reason: BRINGS,
    },
    Row {
        programs: &["dart", "flutter"],
        signs: &[
            OnlyTwo(
                "test/ analyze/ format/ fix/ compile/ doc/ run/ build/ doctor/ devices/ clean/ gen-l10n/ info/ pub/get pub/outdated pub/deps pub/upgrade --version/",
            ),
            Longs(
                "--packages --enable-asserts-in --dds-port --flutter-root --local-engine --local-engine-src-path --extra-front-end-options --extra-gen-snapshot-options",
            ),
        ],
        reason: BRINGS,
    },
    Row {
        programs: &["rebar3"],
        signs: &[Only(
            "compile eunit ct test dialyzer xref deps tree get-deps fmt lint edoc cover clean version help unlock check escriptize release tar --version",
        )],
        reason: BRINGS,
    },
    Row {
        programs: &["lein"],
        signs: &[Only("test compile check deps classpath clean jar uberjar javac version help run doc"), Short("-m")],
        reason: BRINGS,
    },
    Row {
        programs: &["nimble"],
        signs: &[
            Only("build test check list search dump path tasks c cc cpp install"),
            Brought("install", "", ""),
            Longs("--nim --nimbleDir --tags"),
            Has("://"),
        ],
        reason: BRINGS,
    },
    Row {
        programs: &["vcpkg"],
        signs: &[
            Only("list search version format-manifest install owns help"),
            Brought("install", "", ""),
            Longs(
                "--overlay-ports --overlay-triplets --vcpkg-root --x-install-root --x-manifest-root --x-asset-sources --binarysource",
            ),
        ],
        reason: BRINGS,
    },
    Row {
        programs: &["conan"],
        signs: &[
            Only("install search list inspect graph info build version --version"),
            Brought("install", "", ""),
            Longs("--requires --tool-requires --deployer --deployer-folder --remote --conf --output-folder"),
            Short("-r"),
        ],
        reason: BRINGS,
    },
    Row {
        programs: &["pod"],
        signs: &[Only("install list search outdated env lib --version"), Longs("--project-directory --sources")],
        reason: BRINGS,
    },
    Row {
        programs: &["nuget"],
        signs: &[Only("list search locals restore help"), Longs("-source -configfile -msbuildpath")],
        reason: BRINGS,
    },
    Row {
        programs: &["mix"],
        signs: &[Has("local."), Has("hex.publish"), Has("hex.repo"), Has("archive.")],
        reason: BRINGS,
    },
    Row {
        programs: &["dotnet"],
        signs: &[
            Words(&["add", "package"]),
            Words(&["new", "-i"]),
            Words(&["new", "--install"]),
            Words(&["add", "reference"]),
        ],
        reason: BRINGS,
    },
    Row {
        programs: &["go"],
        signs: &[Words(&["get"]), Words(&["mod", "edit"]), Words(&["work", "edit"])],
        reason: BRINGS,
    },
    Row {
        programs: &["ansible-galaxy"],
        signs: &[Only("list info search --version"), Longs("--server --roles-path --collections-path")],
        reason: BRINGS,
    },
    Row { programs: &["twine"], signs: &[Only("check --version")], reason: "sends away what is built" },
];
