//! Options of what converts pictures, sound, films, documents and archives, which run programs, load code or write what the input
//! names: data, each row with its reason.
//!
//! Where the names that they are given lead is looked at as with every program. Invariant: nothing but data.

use super::Row;
use super::sign::Sign::{Bare, Begins, But, Has, Letters, Longs, Only, OtherLongs, Short, Words};

pub(super) const CONVERTERS: &[Row] = &[
    Row {
        programs: &[
            "convert",
            "magick",
            "mogrify",
            "composite",
            "montage",
            "identify",
            "compare",
            "import",
            "display",
            "animate",
            "stream",
            "conjure",
            "gm",
        ],
        signs: &[Has("|"), Has("msl:"), Has("ephemeral:"), Has("@"), Has("-script"), Has("://"), Words(&["batch"])],
        reason: "its names may be programs, or scripts of its own",
    },
    Row {
        programs: &["ffmpeg", "ffprobe", "ffplay"],
        signs: &[Has("dump_attachment"), Has("ladspa"), Has("frei0r"), Has("lv2"), Has("://")],
        reason: "loads code, sends away, or writes what the input names",
    },
    Row {
        programs: &["sox", "play", "rec", "soxi"],
        signs: &[Has("|"), Longs("--effects-file")],
        reason: "its names may be programs",
    },
    Row {
        programs: &["gs", "gsc", "ps2pdf", "ps2ps", "ps2ascii", "pdf2ps", "eps2eps", "epstopdf", "pdf2dsc"],
        signs: &[Has("|"), Has("%pipe"), Has("nosafer"), Has("permit"), Short("-c"), Has("@")],
        reason: "its names may be programs, or it is a language of its own",
    },
    Row {
        programs: &["inkscape"],
        signs: &[Longs("--actions --action-file --shell --export-extension --extension-directory --with-gui --pipe")],
        reason: "runs scripts and extensions",
    },
    Row { programs: &["gimp", "gimp-console", "blender"], signs: &[Begins("-")], reason: "runs scripts" },
    Row {
        programs: &["mpv", "vlc", "cvlc", "mplayer"],
        signs: &[Begins("-"), Has("://")],
        reason: "loads scripts, or writes files of any name",
    },
    Row {
        programs: &["yt-dlp", "youtube-dl"],
        signs: &[
            Letters("oPa"),
            Longs(
                "--exec --exec-before-download --config-location --config-locations --plugin-dirs --downloader --external-downloader --downloader-args --external-downloader-args --postprocessor-args --ppa --use-postprocessor --ffmpeg-location --output --paths --cookies --cookies-from-browser --load-info-json --batch-file --netrc-cmd --print-to-file --cache-dir --download-archive --alias",
            ),
        ],
        reason: "runs a program, loads code, or writes files of any name",
    },
    Row {
        programs: &["chromium", "chromium-browser", "google-chrome", "chrome"],
        signs: &[Longs(
            "--renderer-cmd-prefix --utility-cmd-prefix --gpu-launcher --browser-subprocess-path --load-extension --user-data-dir --remote-debugging-port --remote-debugging-pipe --no-sandbox --ppapi-plugin-launcher",
        )],
        reason: "runs a program of any name, or lets others",
    },
    Row {
        programs: &["exiftool"],
        signs: &[
            Has("${"),
            Has("="),
            Has("<"),
            Begins("-if"),
            Begins("-config"),
            Begins("-@"),
            Begins("-o"),
            Begins("-execute"),
            Begins("-stay"),
            Begins("-use"),
            Begins("-api"),
            Begins("-p"),
            Begins("-w"),
        ],
        reason: "its expressions are programs, or it writes files of any name",
    },
    Row {
        programs: &["asciidoctor", "asciidoctor-pdf", "asciidoctor-epub3"],
        signs: &[
            Short("-r"),
            Short("-I"),
            Short("-T"),
            Short("-E"),
            Longs("--require --load-path --template-dir --template-engine"),
        ],
        reason: "loads code",
    },
    Row {
        programs: &["sphinx-build", "sphinx-apidoc", "sphinx-autobuild"],
        signs: &[
            Short("-D"),
            Short("-c"),
            Longs("--define --conf-dir --pre-build --post-build --extensions --templatedir"),
        ],
        reason: "loads code, or runs a program",
    },
    Row {
        programs: &["pandoc"],
        signs: &[
            Has(".lua"),
            Has(".wasm"),
            // Another program makes it.
            Has(".pdf"),
            Longs("--pdf-engine-opt --syntax-definition --extract-media --print-default-data-file --log --css"),
            Has("://"),
        ],
        reason: "runs a program of its own language, or fetches what an address names",
    },
    Row {
        programs: &["doxygen"],
        signs: &[Words(&["-"])],
        reason: "takes its settings, which name programs, from standard input",
    },
    Row {
        programs: &["mkdocs"],
        signs: &[Only("build serve get-deps --version -V --help"), Short("-f"), Longs("--config-file")],
        reason: "takes settings from elsewhere, or sends what it made away",
    },
    Row { programs: &["jekyll"], signs: &[Short("-p"), Longs("--plugins --config --layouts")], reason: "loads code" },
    Row {
        programs: &["hugo"],
        signs: &[
            Words(&["deploy"]),
            Words(&["mod", "get"]),
            Words(&["mod", "vendor"]),
            Longs("--config --configDir --themesDir --cacheDir"),
        ],
        reason: "takes settings from elsewhere, or sends what it made away",
    },
    Row {
        programs: &["groff", "troff", "pic", "nroff", "ditroff", "grog"],
        signs: &[Letters("UPL"), Longs("--unsafe")],
        reason: "its texts run programs then",
    },
    Row {
        programs: &["javadoc"],
        signs: &[Begins("-doclet"), Begins("-taglet"), Begins("-J"), Begins("@")],
        reason: "loads code",
    },
    Row {
        programs: &["typedoc", "jsdoc", "compodoc", "yard"],
        signs: &[
            Short("-e"),
            Short("-t"),
            Longs("--plugin --options --load --template --template-path --configure --yardopts --theme"),
        ],
        reason: "loads code",
    },
    Row {
        programs: &["protoc"],
        signs: &[
            Begins("@"),
            OtherLongs(
                "--python_out --pyi_out --cpp_out --csharp_out --java_out --kotlin_out --objc_out --php_out --ruby_out --rust_out --go_out --go-grpc_out --go_opt --go-grpc_opt --grpc_out --grpc_python_out --js_out --ts_out --ts_proto_out --ts_proto_opt --es_out --es_opt --dart_out --swift_out --doc_out --doc_opt --validate_out --grpc-gateway_out --grpc-gateway_opt --openapiv2_out --openapiv2_opt --proto_path --descriptor_set_out --include_imports --include_source_info --experimental_allow_proto3_optional --fatal_warnings --version --help",
            ),
        ],
        reason: "runs the program that the name of an option is made of",
    },
    Row { programs: &["capnp"], signs: &[Short("-o"), Longs("--output")], reason: "runs a program of any name" },
    Row { programs: &["bison", "yacc"], signs: &[Short("-S"), Longs("--skeleton")], reason: "loads code" },
    Row { programs: &["lessc"], signs: &[Longs("--plugin --js")], reason: "loads code" },
    Row { programs: &["xmllint"], signs: &[Longs("--shell")], reason: "its commands write files" },
    Row {
        programs: &["jupyter", "jupyter-nbconvert"],
        signs: &[
            Only("nbconvert kernelspec troubleshoot --version --paths"),
            Longs("--execute --config --post --template-file --extra-template-basedir"),
            Has("preprocessor"),
            Has("exporter"),
            Has("c."),
        ],
        reason: "runs what stands in the notebook, or loads code",
    },
    Row {
        programs: &["7z", "7za", "7zr", "7zz"],
        signs: &[Only("l t h i a u"), Begins("-sdel"), Begins("-si"), Begins("-i@"), Begins("@")],
        reason: "writes what the archive names, or removes what it packs",
    },
    Row {
        programs: &["rar", "unrar", "unar", "lsar", "lha", "arj", "cabextract", "unsquashfs"],
        signs: &[Only("l lb lt lta v vb vt t p -l -ll -lls -s -stat -t --list --test --version")],
        reason: "writes what the archive names",
    },
    Row {
        programs: &["dpkg-deb"],
        signs: &[Only("-I -c -f -W --info --contents --field --show --version")],
        reason: "writes what the archive names, or a package",
    },
    Row {
        programs: &["cpio", "pax", "bsdcpio"],
        signs: &[
            But("otvBc", "H"),
            Longs("--extract --pass-through --make-directories --file --rsh-command --to-stdout --directory"),
        ],
        reason: "writes what the archive names",
    },
    Row {
        programs: &["ar"],
        signs: &[Letters("x"), Bare("x"), Longs("--output")],
        reason: "writes what the archive names",
    },
    Row {
        programs: &["jar"],
        signs: &[Letters("xuP"), Bare("xuP"), Longs("--extract --update --dir"), Begins("-J"), Begins("@")],
        reason: "writes what the archive names, or loads code",
    },
];
