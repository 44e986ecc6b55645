//! The rules of the house that a machine can check. Each rule is a function from sources to complaints, and each has
//! a test beside it that feeds it a violation: a rule that cannot fail checks nothing.
//!
//! When a rule stops you, move the code; when the rule is wrong, change the table here and the map in `src/lib.rs` in
//! the same commit. Exceptions carry their reason, and one that is no longer needed is a complaint too.

#[path = "arch/source.rs"]
mod source;

use source::{Named, Source, Token, Tree, What, read_tree};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// Lines of one file under `src/`, tests not counted.
const MAX_LINES: usize = 600;
/// Files that may be longer, at most three: `(file, reason)`.
const LONG_FILES: &[(&str, &str)] = &[];

/// Who may import what. A target is a room, or a module of it when the rest of the room is out of reach. Below `ui`
/// each folder or file is a room of its own.
const ROOMS: &[(&str, &[&str])] = &[
    ("base", &[]),
    ("text", &["base"]),
    ("theme", &["text", "base"]),
    // Its files are read so that nothing waits for who keeps them shut.
    ("config", &["host::fs::read_written", "base"]),
    // Rules, a request and a way to resolve links go in, a verdict comes out.
    ("rules", &["base"]),
    // What a file says goes in, and what variables hold; servers come out.
    ("mcp", &["base"]),
    // The text of a registry goes in; what would be run comes out.
    ("registry", &["base"]),
    // A long message is held once, and what is made of it by all rooms alike.
    ("wire", &["base::shared"]),
    // Bytes and addresses; no message of the protocol.
    ("remote", &["wire", "base"]),
    ("host", &["text", "base"]),
    ("model", &["text", "base"]),
    // The types of events and effects, never the session or the reducer.
    (
        "agent",
        &[
            "wire",
            "mcp",
            "base",
            "model::auth_status",
            "model::child",
            "model::effect",
            "model::entry",
            "model::event",
            "model::form",
            "model::frames",
            "model::ids",
            "model::login",
            "model::options",
            "model::patch",
            "model::refusal",
            "model::ruling",
            "model::tool",
        ],
    ),
    // What kept frames say is read by the codec; recordings are made of records.
    ("store", &["agent::codec", "wire::trace", "wire::frame", "model", "base"]),
    // What a review looks like is the model's; the session and the reducer are not its business.
    (
        "review",
        &[
            "review::worktree::walk",
            // Read by `fuzz/`.
            "review::history::ledger",
            "review::history::undo_log",
            "store::lock",
            "store::private",
            "store::replace",
            "model::changes",
            "model::ids",
            "text",
            "base",
        ],
    ),
    ("review::text", &["model::changes", "text", "base"]),
    ("review::worktree", &["review::error", "review::state", "host::fs", "base"]),
    (
        "review::snapshot",
        &[
            "review::worktree",
            "review::dir",
            "review::state",
            "review::error",
            "host::fs",
            "store::private",
            "store::replace",
            "base",
        ],
    ),
    (
        "review::history",
        &[
            "review::snapshot",
            "review::text",
            "review::state",
            "review::error",
            // Contents of a merge.
            "host::worktrees::Thing",
            "store::private",
            "model::changes",
            "base",
        ],
    ),
    (
        "review::decide",
        &[
            "review::history",
            "review::text",
            "review::protocol",
            "review::state",
            "review::error",
            "model::changes",
            "model::ids",
            "base",
        ],
    ),
    (
        "review::session",
        &[
            "review",
            "host::fs",
            "host::worktrees",
            "store::lock",
            "store::private",
            "model::changes",
            "model::ids",
            // How a held write differs from what was wanted, for the agent to read.
            "text::unified",
            "base",
        ],
    ),
    (
        "review::report",
        &[
            "review::session",
            "review::protocol",
            "review::state",
            "review::error",
            "review::text",
            // The file that is asked about may be a pipe by now.
            "host::fs::read_regular",
            "model::changes",
            "text",
            "base",
        ],
    ),
    ("engine", &["agent", "remote", "wire", "host", "review", "store", "rules", "mcp", "model", "base"]),
    ("headless", &["engine", "model", "base"]),
    // Sees what an engine would make up for.
    (
        "conformance",
        &[
            "agent::codec::watch",
            "wire",
            "host::process",
            "host::fs",
            "model::frames",
            "model::ids",
            "model::policy",
            // Whether a name is that of a secret.
            "rules",
            "base",
        ],
    ),
    // What is asked about is told as the screen does; output waits for a slow reader as that of `exec` does.
    (
        "plain",
        &[
            "headless::code",
            "headless::printer",
            "ui::cells",
            "ui::labels",
            // When a silence is told.
            "ui::state::silence",
            "ui::state::timing",
            "engine",
            "model",
            "text",
            "base",
        ],
    ),
    // Shares no code with the client that it is to test.
    ("demo", &[]),
    (
        "cli",
        &[
            "plain",
            "headless",
            "conformance",
            "ui::run",
            "ui::screen",
            "ui::agent_picker",
            // What is printed is called as it is on the screen.
            "ui::labels",
            "ui::cells",
            // Messages of a file on the screen.
            "ui::message_file",
            "ui::state::inspector",
            // Earlier sessions as the list takes them.
            "ui::past::Archive",
            "ui::past::Lease",
            // What is written on the screen as it is kept.
            "ui::autosave::DraftStore",
            "ui::state::session_list",
            "ui::state::standing",
            "ui::state::trees",
            "ui::tty",
            // The person's keys are read with the configuration.
            "ui::keys",
            // Whether anything moves is asked of the environment.
            "ui::view::Animation",
            "theme",
            "demo",
            "engine",
            "review",
            "rules",
            "mcp",
            "registry",
            // Addresses are typed.
            "remote::Address",
            "remote::Header",
            "remote::Remote",
            // The files that the person asked for, and those that they name.
            "host::fs::output",
            "host::fs::open_regular",
            // Values that are typed to log in are kept, and removed.
            "host::keyring",
            "host::process",
            // What may be done with the directories of this program.
            "host::rights",
            // Agents come in archives.
            "host::unpack",
            "host::worktrees",
            "config",
            "model",
            "text",
            // The branch that a session begins on.
            "store::branch",
            // The log of decisions is printed.
            "store::audit",
            // Messages of a file are listed.
            "store::frames",
            // Journals go out and come in.
            "store::lines",
            "store::lock",
            "store::private",
            "store::claims",
            "store::drafts",
            "store::log",
            "store::preview",
            "store::prompts",
            "store::recording",
            // Rules are changed in one step.
            "store::replace",
            "store::search",
            "store::sessions",
            // What of a project is trusted.
            "store::trusted",
            "base",
        ],
    ),
    ("ui", &[]),
    ("ui::keys", &["base"]),
    ("ui::tty", &["ui::keys", "base"]),
    ("ui::frame", &["model::ids"]),
    ("ui::pace", &["model::ids"]),
    ("ui::md", &["text", "base"]),
    ("ui::notify", &["ui::labels", "ui::state", "model", "text", "base"]),
    ("ui::paint", &["theme", "text", "base::sanitize"]),
    ("ui::composer", &["ui::keys", "base"]),
    // What a decoded picture is, and what is decoded.
    ("ui::work", &["ui::msg::What", "ui::state::pictures", "text", "base::graphics", "base::picture"]),
    ("ui::labels", &["ui::keys", "model", "text", "base"]),
    (
        "ui::status_line",
        &["ui::cells", "ui::keys", "ui::labels", "ui::state::timing", "ui::state::silence", "model", "text", "base"],
    ),
    ("ui::state", &["ui::composer", "ui::keys", "model", "text", "base"]),
    // Of pictures the cells are plain data, too.
    (
        "ui::cells",
        &["ui::keys", "ui::md", "ui::labels", "ui::state::timing", "ui::state::pictures", "model", "text", "base"],
    ),
    (
        "ui::transcript",
        &[
            "ui::cells",
            "ui::keys",
            "ui::md",
            "ui::paint",
            "ui::state",
            "model",
            "theme",
            "text",
            "base::weighted",
            "base::width",
            "base::zone",
        ],
    ),
    ("ui::msg", &["ui::state", "ui::frame", "ui::keys", "model", "base::picture"]),
    (
        "ui::view",
        &[
            "ui::state",
            "ui::composer",
            "ui::transcript",
            "ui::cells",
            "ui::paint",
            "ui::keys",
            "ui::labels",
            "ui::status_line",
            "ui::msg",
            "ui::frame",
            // A side answer is laid out where it is drawn.
            "ui::md",
            "model",
            "theme",
            "text",
            "base",
        ],
    ),
    (
        "ui::update",
        &[
            "ui::state",
            "ui::composer",
            "ui::cells",
            "ui::keys",
            "ui::labels",
            "ui::msg",
            "ui::tty::Input",
            "ui::tty::Click",
            "model",
            "text",
            "base",
        ],
    ),
    (
        "ui::agent_picker",
        &["ui::keys", "ui::state", "ui::view::paint", "ui::tty::Input", "ui::tty::Click", "theme", "text", "base"],
    ),
    ("ui::autosave", &["ui::state", "model"]),
    ("ui::past", &["ui::state::session_list", "ui::state::standing", "ui::state::trees", "model::agent", "model::ids"]),
    (
        "ui::session_picker",
        &["ui::keys", "ui::state", "ui::view::session_list", "ui::tty::Input", "ui::tty::Click", "theme"],
    ),
    (
        "ui::message_file",
        &[
            "ui::keys",
            "ui::state",
            "ui::view::inspector",
            "ui::view::paint",
            "ui::tty::Input",
            "ui::tty::Click",
            // It takes messages while their file is read.
            "model::frames",
            "model::ids",
            "theme",
            "text",
            "base::human",
        ],
    ),
    ("ui::screen", &["ui::keys", "ui::tty", "engine::wait", "base::graphics"]),
    ("ui::editor_session", &["ui::msg", "ui::tty", "model", "base::sanitize"]),
    // A picture is written into a file by what its bytes say that it is; what a program of the person's is told is cleaned.
    (
        "ui::run",
        &[
            "ui",
            "engine",
            "model",
            "theme",
            "text::width",
            "base::graphics",
            "base::media",
            "base::picture",
            "base::sanitize",
            "base::width",
            "base::zone",
        ],
    ),
];

/// Imports that break the table for a reason: `(file, target, reason)`.
const IMPORT_EXCEPTIONS: &[(&str, &str, &str)] = &[
    ("src/ui/cells/mod.rs", "ui::state::folds::Fold", "plain data: how far an entry is unfolded"),
    ("src/ui/cells/message.rs", "ui::state::folds::Fold", "the same"),
    ("src/ui/cells/terminal.rs", "ui::state::folds::Fold", "the same"),
    ("src/ui/cells/tool.rs", "ui::state::folds::Fold", "the same"),
];

/// Files in which a type may have methods of its own: its module, and modules below that.
const MAX_METHOD_FILES: usize = 3;
/// Types whose methods stand elsewhere, or in more files: `(type, module that defines it, reason)`, at most three.
const SCATTERED: &[(&str, &str, &str)] =
    &[("Agent", "demo::agent", "one scripted agent: what it plays and what it serves are two files beside it")];

/// Files that may use each other: all of a room, or of a part of it. `(room, reason)`, at most five.
const CIRCLES: &[(&str, &str)] = &[
    ("model", "events, effects and entries are one vocabulary; a reducer calls the one whose part comes next"),
    ("host::pty", "the registry starts terminals, which tell it of their end"),
    ("review::worktree", "what is ignored is said by the files that are walked through"),
    ("ui::update", "the dock hands keys on to forms and drafts, which give the keyboard back"),
    ("agent::codec", "an error may bring the ways to log in"),
];

/// A name that may be used in some places only. It is found as a run of segments in any path of the program.
struct Fence {
    names: &'static [&'static str],
    /// Files, or folders ending in `/`, below `src/`.
    allowed: &'static [&'static str],
    why: &'static str,
}

const FENCES: &[Fence] = &[
    Fence { names: &["ratatui"], allowed: &["ui/", "theme/resolve.rs", "theme/color.rs"], why: "drawing is for ui" },
    Fence {
        names: &["crossterm"],
        allowed: &["ui/tty/", "ui/keys/"],
        why: "the terminal is behind ui/tty and ui/keys",
    },
    Fence {
        names: &["alacritty_terminal"],
        allowed: &["host/pty/screen.rs"],
        why: "the emulator is guarded in one file, its input is hostile",
    },
    Fence {
        names: &["fork::fork", "fork::Fork"],
        allowed: &["host/process/guard.rs"],
        why: "only the guard is forked off, before there is a second thread",
    },
    Fence { names: &["portable_pty"], allowed: &["host/pty/"], why: "terminals are started in host/pty" },
    Fence {
        names: &["agent_client_protocol_schema"],
        allowed: &["agent/codec/"],
        why: "the types of the protocol stop at the codec",
    },
    Fence {
        names: &["pulldown_cmark"],
        allowed: &["ui/md/", "cli/export/write.rs"],
        why: "Markdown is read in ui/md; an export makes it harmless",
    },
    Fence {
        names: &["tokio"],
        allowed: &[
            "engine/",
            "wire/pump.rs",
            "wire/outbox.rs",
            "wire/stderr.rs",
            "wire/duplex.rs",
            "remote/",
            "host/process/",
            "headless/",
            "conformance/",
            "plain/",
            "ui/run.rs",
            // Before there is a session the person is waited for.
            "ui/run/start.rs",
            // The same for the messages of a file.
            "ui/run/messages.rs",
            // The loop waits for what was read.
            "ui/past.rs",
            // The loop waits for what was kept.
            "ui/autosave.rs",
            "ui/screen.rs",
            // The loop waits for what was found.
            "ui/work/colours.rs",
            "ui/work/files.rs",
            // Programs that take a text or tell of something are waited for, and not for ever.
            "ui/work/copier.rs",
            "ui/work/pictures.rs",
            "ui/work/status_command.rs",
            "ui/run/telling.rs",
            "ui/tty/input.rs",
            // The loop waits for the person's editor.
            "ui/tty/editor.rs",
            "ui/run/editing.rs",
            "demo/",
            "cli/runtime.rs",
            // A server of tools is waited for, and not for ever.
            "cli/probe.rs",
            // A check is ended by an interrupt.
            "cli/check.rs",
            // The same for a download.
            "cli/agents/fetch.rs",
        ],
        why: "everything else is synchronous and cannot await",
    },
    Fence {
        names: &["os::unix", "rustix", "signal::unix"],
        allowed: &[
            "host/",
            "store/",
            // The signals that end the program.
            "engine/wait.rs",
            "ui/tty/",
            "demo/",
            // The execute bit of a program.
            "config/agents.rs",
            // Numbers of a file that tell whether it was touched.
            "review/worktree/walk.rs",
            "review/worktree/walk/",
            // Whether a file is plain is known before and after it is opened.
            "review/worktree/plain.rs",
            // Paths are bytes here; `file://` addresses are made of them.
            "base/paths.rs",
        ],
        why: "another system must only have to replace these files",
    },
    Fence {
        names: &["Command::new", "process::Command"],
        // The person's editor is in our own group and ends by itself.
        allowed: &["host/process/", "ui/tty/editor.rs"],
        why: "processes are started where their groups are ended",
    },
    Fence {
        names: &["tokio_tungstenite", "tokio_rustls", "rustls_graviola", "rustls_native_certs"],
        allowed: &["remote/"],
        why: "the network is behind remote",
    },
    Fence {
        names: &["keyring::Entry", "keyring::Error"],
        allowed: &["host/keyring.rs"],
        why: "what is kept has one place",
    },
    Fence { names: &["brush_parser"], allowed: &["rules/shell.rs"], why: "lines of shells are read in one file" },
    Fence { names: &["gix"], allowed: &["review/"], why: "objects are kept by review" },
    Fence {
        names: &["ignore"],
        allowed: &["review/worktree/rules.rs", "ui/work/files.rs"],
        why: "one file says what is ignored; another walks as git does to find what is named in a prompt",
    },
    Fence { names: &["syntect", "two_face"], allowed: &["ui/work/"], why: "highlighting is slow: a worker does it" },
    Fence {
        names: &["unbounded_channel", "unbounded"],
        // Bounded in bytes, which the crate does not count.
        allowed: &["base/weighted.rs"],
        why: "every queue has a bound",
    },
    Fence { names: &["thread::sleep"], allowed: &[], why: "wait on a condition, not on time" },
];

/// Rooms that are functions of their arguments: nothing in them may look at the world.
const PURE: &[&str] = &[
    "base/",
    "text/",
    "theme/",
    "model/",
    "rules/",
    "ui/composer/",
    "ui/keys/",
    "ui/state/",
    "ui/md/",
    "ui/cells/",
    "ui/transcript/",
    "ui/update/",
    "ui/view/",
    "ui/labels.rs",
    "ui/status_line.rs",
    "ui/msg.rs",
    "ui/frame.rs",
];
const WORLD: &[&str] = &[
    "Instant::now",
    "SystemTime",
    "std::fs",
    "std::env",
    "std::net",
    "std::thread",
    "sync::mpsc",
    "io::stdout",
    "io::stderr",
    "io::stdin",
];
/// `(file, name, reason)`.
const WORLD_EXCEPTIONS: &[(&str, &str, &str)] = &[
    ("src/text/diff.rs", "Instant::now", "words of a diff are found until a time; what it gives then is still a diff"),
    ("src/text/edits.rs", "Instant::now", "a diff gives up after a time; what it gives then is still a diff"),
    ("src/base/threads.rs", "std::thread", "work is shared; what comes of it does not depend on how many share it"),
];

/// Behaviour follows the shape of messages, never a name (comments and tests may give one).
const AGENTS: &[&str] =
    &["gemini", "claude", "codex", "opencode", "kimi", "qwen", "copilot", "droid", "auggie", "vibe", "cline"];
/// Where a name may stand: the quirks, and texts for people that give an example.
const AGENT_PLACES: &[&str] = &["src/agent/quirks.rs", "src/cli/commands.rs", "src/cli/args.rs"];

/// Who may name what is peculiar to the protocol: the codecs, the envelope, the agent that is no part of the client, and what
/// tries the agents of others.
const SPEAKERS: &[&str] = &["agent/codec/", "wire/", "demo/", "conformance/"];
const METHODS: &[&str] =
    &["session/", "fs/read", "fs/write", "terminal/", "$/", "toolCall", "sessionId", "requestId", "authMethods"];

// ---- the rules

fn short_files(tree: &Tree) -> Vec<String> {
    let mut complaints = Vec::new();
    for file in &tree.program {
        let allowed = LONG_FILES.iter().any(|(name, _)| *name == file.path);
        let lines = file.program_lines();
        if lines > MAX_LINES && !allowed {
            complaints.push(format!("{}: {lines} lines without tests, {MAX_LINES} are allowed; split it", file.path));
        }
        if lines <= MAX_LINES && allowed {
            complaints.push(format!("{}: short enough, take it out of LONG_FILES", file.path));
        }
    }
    complaints
}

fn files_say_what_they_are(tree: &Tree) -> Vec<String> {
    // Files of tests are named after what they test.
    let silent = tree.program.iter().filter(|f| !f.text.starts_with("//!"));
    silent.map(|f| format!("{}: begins without `//!` (what it does, and what it does not)", f.path)).collect()
}

fn no_rag_bags(tree: &Tree) -> Vec<String> {
    const BAGS: &[&str] = &["utils", "util", "helpers", "misc", "common"];
    let named = |f: &&Source| f.module().last().is_some_and(|name| BAGS.contains(&name.as_str()));
    tree.program.iter().filter(named).map(|f| format!("{}: a file is named after its one job", f.path)).collect()
}

fn imports_follow_the_map(tree: &Tree) -> Vec<String> {
    let mut complaints = Vec::new();
    let mut used = BTreeSet::new();
    for file in &tree.program {
        let module = file.module();
        let Some(room) = room_of(&module) else {
            if module != ["main"] && !module.is_empty() {
                complaints.push(format!("{}: the room has no row in ROOMS", file.path));
            }
            continue;
        };
        let allowed = ROOMS.iter().find(|(name, _)| *name == room).map_or(&[][..], |(_, allowed)| allowed);
        for Named { segments, line, .. } in file.paths().iter().filter(|p| p.inner && !p.segments.is_empty()) {
            let target = segments.join("::");
            let is_own = room_of(segments).is_some_and(|own| own == room) || segments.len() == 1 && room == "ui";
            let fits = |prefix: &&str| is_prefix(prefix, segments);
            if is_own || allowed.iter().any(fits) {
                continue;
            }
            match IMPORT_EXCEPTIONS.iter().find(|(name, path, _)| *name == file.path && is_prefix(path, segments)) {
                Some(exception) => drop(used.insert(exception)),
                None => complaints.push(format!("{}:{line}: {room} must not import {target}", file.path)),
            }
        }
    }
    let known = |name: &str| tree.program.iter().any(|f| f.path == name);
    for unused in IMPORT_EXCEPTIONS.iter().filter(|e| known(e.0) && !used.contains(e)) {
        complaints.push(format!("{}: the exception for {} is no longer needed", unused.0, unused.1));
    }
    complaints
}

/// A fence that is wider than needed hides the next import that nobody meant.
fn rooms_use_what_they_may(tree: &Tree) -> Vec<String> {
    let mut used = BTreeSet::new();
    for file in &tree.program {
        let module = file.module();
        let Some((room, allowed)) = room_of(&module).and_then(|room| ROOMS.iter().find(|row| row.0 == room)) else {
            continue;
        };
        for Named { segments, .. } in file.paths().iter().filter(|p| p.inner && !p.segments.is_empty()) {
            let is_own = room_of(segments).is_some_and(|own| own == *room);
            let fits = |prefix: &&&str| is_prefix(prefix, segments);
            let best = allowed.iter().filter(fits).max_by_key(|prefix| prefix.len());
            used.extend(best.filter(|_| !is_own).map(|target| (*room, *target)));
        }
    }
    let all = ROOMS.iter().flat_map(|(room, allowed)| allowed.iter().map(move |target| (*room, *target)));
    let unused = all.filter(|row| !used.contains(row));
    unused.map(|(room, target)| format!("{room} is allowed to import {target} and does not")).collect()
}

/// A type's methods stand where it is defined or below, and in few files: what needs more owns too much and is to be
/// given parts. Implementations of traits may stand anywhere.
fn types_have_their_methods_in_one_place(tree: &Tree) -> Vec<String> {
    let mut homes: BTreeMap<&str, Vec<Vec<String>>> = BTreeMap::new();
    for file in &tree.program {
        for name in file.types() {
            homes.entry(name).or_default().push(file.module());
        }
    }
    let mut complaints = Vec::new();
    let mut files: BTreeMap<(&str, String), BTreeSet<&str>> = BTreeMap::new();
    let mut needed = BTreeSet::new();
    for file in &tree.program {
        let module = file.module();
        for (name, line) in file.methods_of() {
            let known = homes.get(name).map_or(&[][..], Vec::as_slice);
            // Of several with that name the nearest above.
            let home = known.iter().filter(|home| module.starts_with(home)).max_by_key(|home| home.len());
            match home {
                Some(home) => drop(files.entry((name, home.join("::"))).or_default().insert(&file.path)),
                None if known.iter().any(|home| is_scattered(name, &home.join("::"))) => drop(needed.insert(name)),
                None => {
                    complaints
                        .push(format!("{}:{line}: methods of {name}, which is not defined here or above", file.path));
                }
            }
        }
    }
    for ((name, home), files) in files.into_iter().filter(|(_, files)| files.len() > MAX_METHOD_FILES) {
        if is_scattered(name, &home) {
            needed.insert(name);
        } else {
            complaints.push(format!("{home}: methods of {name} in {} files; give it parts", files.len()));
        }
    }
    let known = |home: &str| tree.program.iter().any(|file| file.module().join("::") == home);
    for (name, home, _) in SCATTERED.iter().filter(|(name, home, _)| known(home) && !needed.contains(name)) {
        complaints.push(format!("{home}: {name} has its methods in one place, take it out of SCATTERED"));
    }
    complaints
}

/// Two files that use each other are one file in two places. A module and what stands below it are one.
fn files_do_not_use_each_other(tree: &Tree) -> Vec<String> {
    let modules: BTreeMap<Vec<String>, &Source> = tree.program.iter().map(|file| (file.module(), file)).collect();
    let of = |mut segments: &[String]| loop {
        if segments.is_empty() || modules.contains_key(segments) {
            return segments.to_vec();
        }
        segments = &segments[..segments.len() - 1];
    };
    let uses = |file: &Source| -> BTreeSet<Vec<String>> {
        file.paths().iter().filter(|path| path.inner).map(|path| of(&path.segments)).collect()
    };
    let all: BTreeMap<&Vec<String>, BTreeSet<Vec<String>>> =
        modules.iter().map(|(module, file)| (module, uses(file))).collect();
    let (mut complaints, mut needed) = (Vec::new(), BTreeSet::new());
    for (one, used) in &all {
        // Each pair once.
        for other in used.iter().filter(|other| *other > *one && !other.starts_with(one)) {
            if !all.get(other).is_some_and(|back| back.contains(*one)) {
                continue;
            }
            match CIRCLES.iter().find(|(room, _)| is_prefix(room, one) && is_prefix(room, other)) {
                Some((room, _)) => drop(needed.insert(*room)),
                None => complaints.push(format!("{} and {} use each other", one.join("::"), other.join("::"))),
            }
        }
    }
    let known = |room: &str| modules.keys().any(|module| is_prefix(room, module));
    for (room, _) in CIRCLES.iter().filter(|(room, _)| known(room) && !needed.contains(room)) {
        complaints.push(format!("{room}: no files use each other, take it out of CIRCLES"));
    }
    complaints
}

fn is_scattered(name: &str, home: &str) -> bool {
    SCATTERED.iter().any(|(scattered, of, _)| *scattered == name && *of == home)
}

/// The row for a module: `ui::view` if there is one, else `ui`.
fn room_of(module: &[String]) -> Option<&'static str> {
    let fits = |name: &&str| is_prefix(name, module);
    ROOMS.iter().map(|(name, _)| *name).filter(fits).max_by_key(|name| name.len())
}

fn is_prefix(prefix: &str, segments: &[String]) -> bool {
    let prefix: Vec<&str> = prefix.split("::").collect();
    prefix.len() <= segments.len() && prefix.iter().zip(segments).all(|(a, b)| a == b)
}

fn contains(path: &Named, name: &str) -> bool {
    let name: Vec<&str> = name.split("::").collect();
    path.segments.windows(name.len()).any(|window| window.iter().zip(&name).all(|(a, b)| a == b))
}

fn names_stay_behind_their_fences(tree: &Tree) -> Vec<String> {
    let mut complaints = Vec::new();
    for file in &tree.program {
        let inside = file.path.trim_start_matches("src/");
        let paths = file.paths();
        for Fence { names, allowed, why } in FENCES {
            if allowed.iter().any(|place| inside == *place || place.ends_with('/') && inside.starts_with(place)) {
                continue;
            }
            for name in *names {
                let hits = paths.iter().filter(|path| contains(path, name)).map(|path| path.line);
                let lone = file.code.iter().filter(|token| token.is_word(name)).map(|token| token.line);
                let lines: BTreeSet<usize> = hits.chain(lone).collect();
                complaints.extend(lines.iter().map(|line| format!("{}:{line}: {name} here, but {why}", file.path)));
            }
        }
    }
    complaints
}

fn fences_are_tight(tree: &Tree) -> Vec<String> {
    let mut complaints = Vec::new();
    for Fence { names, allowed, .. } in FENCES {
        for place in *allowed {
            let uses = |file: &Source| {
                let paths = file.paths();
                names.iter().any(|name| {
                    paths.iter().any(|path| contains(path, name)) || file.code.iter().any(|token| token.is_word(name))
                })
            };
            let inside = |file: &&Source| file.path.trim_start_matches("src/").starts_with(place);
            if !tree.program.iter().filter(inside).any(uses) {
                complaints.push(format!("{place} is allowed to use {names:?} and does not"));
            }
        }
    }
    complaints
}

fn pure_rooms_do_not_look_at_the_world(tree: &Tree) -> Vec<String> {
    let mut complaints = Vec::new();
    for file in &tree.program {
        let inside = file.path.trim_start_matches("src/");
        if !PURE.iter().any(|room| inside.starts_with(room)) {
            continue;
        }
        for path in file.paths() {
            for name in WORLD.iter().filter(|name| contains(&path, name)) {
                if !WORLD_EXCEPTIONS.iter().any(|(place, allowed, _)| *place == file.path && allowed == name) {
                    complaints.push(format!("{}:{}: {name} in a room that is pure", file.path, path.line));
                }
            }
        }
    }
    complaints
}

fn no_agent_is_called_by_name(tree: &Tree) -> Vec<String> {
    let mut complaints = Vec::new();
    for file in tree.program.iter().filter(|f| !AGENT_PLACES.contains(&f.path.as_str())) {
        for Token { what, line } in &file.code {
            let (What::Word(text) | What::Text(text)) = what else { continue };
            for name in AGENTS.iter().filter(|name| says(text, name)) {
                complaints.push(format!("{}:{line}: `{name}`; behaviour follows the shape of messages", file.path));
            }
        }
    }
    complaints
}

/// What is peculiar to a version of the protocol is the codec's: names of methods, and numbers of errors, which JSON-RPC
/// keeps from -32899 to -32000.
fn the_protocol_is_spoken_by_the_codec_alone(tree: &Tree) -> Vec<String> {
    let mut complaints = Vec::new();
    let outside =
        |file: &&Source| !SPEAKERS.iter().any(|place| file.path.trim_start_matches("src/").starts_with(place));
    for file in tree.program.iter().filter(outside) {
        for (at, Token { what, line }) in file.code.iter().enumerate() {
            let complaint = match what {
                What::Text(text) => METHODS.iter().find(|name| text.contains(**name)).map(|name| format!("`{name}…`")),
                What::Word(word) => {
                    let digits: String = word.chars().filter(|c| *c != '_').collect();
                    let number = digits.trim_end_matches(|c: char| c.is_alphabetic()).get(..5);
                    let is_code = number.is_some_and(|n| ("32000".."32900").contains(&n)) && at > 0;
                    (is_code && file.code[at - 1].is('-')).then(|| format!("-{word}"))
                }
                _ => None,
            };
            complaints.extend(complaint.map(|what| format!("{}:{line}: {what}; the codec knows it", file.path)));
        }
    }
    complaints
}

/// Whether `name` is a word of `text`: `GEMINI_CLI` and `isGemini` say gemini, `incline` and `recline` do not say
/// cline.
fn says(text: &str, name: &str) -> bool {
    let lower = text.to_lowercase();
    let starts_word = |at: usize| {
        let before = text.get(..at).and_then(|t| t.chars().next_back());
        let here = text.get(at..).and_then(|t| t.chars().next());
        before.is_none_or(|c| !c.is_alphabetic() || c.is_lowercase() && here.is_some_and(char::is_uppercase))
    };
    lower.len() == text.len() && lower.match_indices(name).any(|(at, _)| starts_word(at))
}

/// What is wrong wherever it stands, in tests too.
fn nothing_unfinished_or_unsafe(tree: &Tree) -> Vec<String> {
    let mut complaints = Vec::new();
    for file in tree.everything() {
        let mut complain = |line: usize, what: &str| complaints.push(format!("{}:{line}: {what}", file.path));
        for (at, token) in file.all.iter().enumerate() {
            let follows = |offset: usize, mark: char| file.all.get(at + offset).is_some_and(|t| t.is(mark));
            if (token.is_word("todo") || token.is_word("unimplemented")) && follows(1, '!') {
                complain(token.line, "unfinished code");
            }
            if token.is_word("unsafe") {
                complain(token.line, "unsafe code");
            }
            if token.is_word("ignore") && at >= 2 && file.all[at - 1].is('[') && file.all[at - 2].is('#') {
                complain(token.line, "a test that is never run");
            }
            let sleep = token.is_word("sleep") && at >= 2 && file.all[at - 2].is_word("thread");
            if sleep && file.all[at - 1].what == What::Sep {
                complain(token.line, "thread::sleep; wait on a condition, not on time");
            }
        }
    }
    complaints
}

/// `std::sync::mpsc::channel()`; tests may collect with it.
fn channels_have_a_bound(tree: &Tree) -> Vec<String> {
    let mut complaints = Vec::new();
    for file in &tree.program {
        for (at, token) in file.code.iter().enumerate() {
            if token.is_word("channel") && takes_no_bound(&file.code[at + 1..]) {
                complaints.push(format!("{}:{}: a channel without a bound", file.path, token.line));
            }
        }
    }
    complaints
}

/// Whether `()` follows, perhaps behind `::<…>`.
fn takes_no_bound(mut rest: &[Token]) -> bool {
    if rest.first().is_some_and(|t| t.what == What::Sep) && rest.get(1).is_some_and(|t| t.is('<')) {
        let open = rest.iter().position(|t| t.is('(')).unwrap_or(rest.len());
        rest = &rest[open..];
    }
    matches!(rest, [open, close, ..] if open.is('(') && close.is(')'))
}

fn the_map_names_every_room(lib: &str, tree: &Tree) -> Vec<String> {
    let rooms: BTreeSet<String> =
        tree.program.iter().filter_map(|f| f.module().first().cloned()).filter(|room| room != "main").collect();
    let map: BTreeSet<&str> = lib
        .lines()
        .filter_map(|line| line.strip_prefix("//! "))
        .flat_map(|line| line.split(|c: char| !c.is_alphanumeric() && c != '_'))
        .collect();
    rooms.iter().filter(|room| !map.contains(room.as_str())).map(|room| format!("src/lib.rs: no {room}")).collect()
}

// ---- the tree keeps them

/// Read once for all rules.
static TREE: LazyLock<Tree> = LazyLock::new(|| read_tree().unwrap_or_else(|_| Tree::new(Vec::new())));

fn hold(rule: impl Fn(&Tree) -> Vec<String>) {
    assert!(TREE.program.len() > 80, "the sources were not found");
    let complaints = rule(&TREE);
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), complaints.join("\n"));
}

#[test]
fn files_are_short() {
    hold(short_files);
    assert!(LONG_FILES.len() <= 3, "split files instead");
}

#[test]
fn every_file_says_what_it_is() {
    hold(files_say_what_they_are);
    hold(no_rag_bags);
}

#[test]
fn rooms_import_what_the_map_allows() {
    hold(imports_follow_the_map);
    hold(|tree| {
        let lib = tree.program.iter().find(|f| f.path == "src/lib.rs").map_or("", |f| f.text.as_str());
        the_map_names_every_room(lib, tree)
    });
}

#[test]
fn rooms_are_not_allowed_more_than_they_use() {
    hold(rooms_use_what_they_may);
}

#[test]
fn methods_stand_with_their_type() {
    hold(types_have_their_methods_in_one_place);
    assert!(SCATTERED.len() <= 3, "give the type parts instead");
}

#[test]
fn no_two_files_use_each_other() {
    hold(files_do_not_use_each_other);
    assert!(CIRCLES.len() <= 5, "move what both use into a third file instead");
}

#[test]
fn names_are_fenced_in() {
    hold(names_stay_behind_their_fences);
    hold(fences_are_tight);
}

#[test]
fn pure_rooms_are_pure() {
    hold(pure_rooms_do_not_look_at_the_world);
}

#[test]
fn agents_have_no_names() {
    hold(no_agent_is_called_by_name);
}

#[test]
fn the_protocol_stops_at_the_codec() {
    hold(the_protocol_is_spoken_by_the_codec_alone);
}

#[test]
fn nothing_is_unfinished() {
    hold(nothing_unfinished_or_unsafe);
    hold(channels_have_a_bound);
}

// ---- and each of them can fail

fn tree(files: &[(&str, &str)]) -> Tree {
    Tree::new(files.iter().map(|(path, text)| Source::new(path, text)).collect())
}

/// How often `rule` complains about one file with this text.
fn count(rule: impl Fn(&Tree) -> Vec<String>, path: &str, text: &str) -> usize {
    rule(&tree(&[(path, text)])).len()
}

#[test]
fn a_601st_line_is_noticed_and_tests_do_not_count() {
    let program = "fn f() {}\n".repeat(MAX_LINES);
    let test = "#[cfg(test)]\nmod tests {\n    fn g() {}\n}\n";
    assert_eq!(count(short_files, "src/base/a.rs", &program), 0);
    assert_eq!(count(short_files, "src/base/a.rs", &format!("{program}{test}")), 0);
    assert_eq!(count(short_files, "src/base/a.rs", &format!("{program}\n")), 1);
    assert_eq!(count(short_files, "src/base/a.rs", &format!("{program}fn g() {{}}\n{test}")), 1);
    // A file of tests is one that is declared so, whatever its name.
    let long = format!("{program}fn g() {{}}\n");
    let declared = tree(&[
        ("src/base/a.rs", "#[cfg(test)]\n#[path = \"a_tests.rs\"]\nmod tests;"),
        ("src/base/a_tests.rs", &long),
    ]);
    assert_eq!(short_files(&declared).len(), 0);
    assert_eq!(count(short_files, "src/base/a_tests.rs", &long), 1);
}

#[test]
fn a_silent_file_is_noticed() {
    assert_eq!(count(files_say_what_they_are, "src/base/a.rs", "// A comment.\nfn f() {}"), 1);
    assert_eq!(count(files_say_what_they_are, "src/base/a.rs", "//! Does f."), 0);
    assert_eq!(count(no_rag_bags, "src/base/utils.rs", "//! Things."), 1);
}

#[test]
fn a_forbidden_import_is_noticed_in_every_spelling() {
    for (path, text) in [
        ("src/base/a.rs", "use crate::text::width;"),
        ("src/base/a.rs", "fn f() { crate::text::width::str_width(\"\"); }"),
        ("src/base/a.rs", "use crate::{base::ring, text::{self, width as w}};"),
        ("src/base/a.rs", "use super::super::text::width;"),
        ("src/base/mod.rs", "use super::text::width;"),
        ("src/base/a.rs", "pub(crate) use crate::text::*;"),
        ("src/host/pty/spawn.rs", "use crate::model::Model;"),
        ("src/wire/a.rs", "use crate::host::process;"),
        ("src/agent/a.rs", "use crate::model::reduce::reduce;"),
        ("src/agent/a.rs", "use crate::model;"),
        ("src/model/a.rs", "use crate::engine::Engine;"),
        ("src/ui/view/a.rs", "use crate::ui::update::Cx;"),
        ("src/ui/view/a.rs", "use super::super::run::run;"),
        ("src/ui/view/mod.rs", "use super::tty::Surface;"),
        ("src/ui/view/a.rs", "use crate::engine::Engine;"),
        ("src/ui/cells/plan.rs", "use crate::ui::state::UiState;"),
        ("src/ui/update/a.rs", "use crate::ui::tty::Surface;"),
        ("src/ui/md/a.rs", "use crate::model::entry::Entry;"),
        ("src/ui/composer/a.rs", "use crate::ui::state::UiState;"),
        ("src/ui/keys/a.rs", "mod inner { use super::super::super::super::engine::Engine; }"),
        ("src/demo/a.rs", "use crate::wire::frame::Frame;"),
        ("src/newroom/a.rs", "use crate::base::ring;"),
    ] {
        assert!(count(imports_follow_the_map, path, text) > 0, "{path}: {text}");
    }
}

#[test]
fn a_lawful_import_is_no_complaint() {
    for (path, text) in [
        ("src/text/a.rs", "use crate::base::ring::Ring;\nuse super::width;\nuse self::inner::x;"),
        ("src/agent/a.rs", "use crate::model::{event::AgentEvent, ids::*};"),
        (
            "src/ui/view/a.rs",
            "use super::ViewCx;\nuse super::super::state::UiState;\nuse crate::theme::resolve::Theme;",
        ),
        ("src/ui/run.rs", "use super::view;\nuse crate::engine::Engine;"),
        ("src/base/a.rs", "//! crate::engine\n// crate::engine::Engine\nconst S: &str = \"crate::engine::Engine\";"),
        ("src/base/a.rs", "#[cfg(test)]\nmod tests {\n    use crate::engine::Engine;\n}"),
        ("src/main.rs", "fn main() { acp_tui::cli::main(std::env::args_os()) }"),
    ] {
        assert_eq!(imports_follow_the_map(&tree(&[(path, text)])), Vec::<String>::new(), "{path}: {text}");
    }
}

#[test]
fn an_exception_without_need_is_noticed() {
    assert_eq!(count(imports_follow_the_map, "src/ui/cells/tool.rs", "use crate::ui::state::folds::Fold;"), 0);
    assert_eq!(count(imports_follow_the_map, "src/ui/cells/tool.rs", "use crate::text::run;"), 1);
    assert!(!fences_are_tight(&tree(&[("src/ui/run.rs", "use tokio::select;")])).is_empty());
}

#[test]
fn an_allowance_that_nothing_uses_is_noticed() {
    let complains = |text: &str| {
        let complaints = rooms_use_what_they_may(&tree(&[("src/theme/a.rs", text)]));
        complaints.iter().any(|c| c == "theme is allowed to import text and does not")
    };
    assert!(complains("use crate::base::ring;"));
    assert!(!complains("use crate::text::width;"));
}

#[test]
fn files_that_use_each_other_are_noticed() {
    let rule = |files: &[(&str, &str)]| files_do_not_use_each_other(&tree(files)).len();
    let (one, other) = (("src/base/a.rs", "use super::b::B;"), ("src/base/b.rs", "fn f() -> crate::base::a::A {}"));
    assert_eq!(rule(&[one, other]), 1);
    assert_eq!(rule(&[one, ("src/base/b.rs", "#[cfg(test)]\nmod tests { use super::super::a::A; }")]), 0);
    assert_eq!(rule(&[("src/base/a.rs", "use self::b::B;"), ("src/base/a/b.rs", "use super::A;")]), 0, "one below");
    // An exception that is no longer needed.
    assert_eq!(rule(&[("src/model/a.rs", "")]), 1);
}

#[test]
fn methods_away_from_their_type_are_noticed() {
    let rule = |files: &[(&str, &str)]| types_have_their_methods_in_one_place(&tree(files)).len();
    let defined = ("src/base/thing.rs", "pub struct Thing<T>(T);\nimpl<T: Fn() -> u8> Thing<T> {}");
    assert_eq!(rule(&[defined]), 0);
    for text in
        ["impl Thing<u8> {}", "use x;\nimpl<'a, T> Thing<T> where T: 'a {}", "#[cfg(unix)]\nimpl super::Thing {}"]
    {
        assert_eq!(rule(&[defined, ("src/base/other.rs", text)]), 1, "{text}");
        assert_eq!(rule(&[defined, ("src/base/thing/part.rs", text)]), 0, "{text}");
    }
    // What another trait asks for, an argument, a test.
    for text in [
        "impl From<u8> for Thing<u8> {}",
        "impl<T> Iterator for Thing<T> where for<'a> T: Fn(&'a u8) {}",
        "fn f(a: impl Fn() -> u8) -> impl Iterator<Item = Thing> {}",
        "#[cfg(test)]\nmod tests { impl Thing {} }",
        "struct Thing;\nimpl Thing {}",
    ] {
        assert_eq!(rule(&[defined, ("src/base/other.rs", text)]), 0, "{text}");
    }
    let parts = ["a", "b", "c"].map(|name| format!("src/base/thing/{name}.rs"));
    let mut files = vec![defined];
    files.extend(parts.iter().map(|path| (path.as_str(), "impl Thing<u8> {}")));
    assert_eq!(rule(&files), 1);
    assert_eq!(rule(&files[..3]), 0);
    // An exception that is no longer needed.
    assert_eq!(rule(&[("src/demo/agent.rs", "struct Agent;\nimpl Agent {}")]), 1);
}

#[test]
fn a_name_outside_its_fence_is_noticed() {
    for (path, text) in [
        ("src/model/a.rs", "use ratatui::style::Color;"),
        ("src/theme/load.rs", "use ratatui::style::Color;"),
        ("src/ui/view/a.rs", "use crossterm::event::KeyCode;"),
        ("src/host/pty/spawn.rs", "fn f() { let _ = alacritty_terminal::Term::new(); }"),
        ("src/host/fs/a.rs", "use portable_pty::PtySize;"),
        ("src/model/a.rs", "#[tokio::main]\nasync fn f() {}"),
        ("src/wire/frame.rs", "use tokio;"),
        ("src/cli/args.rs", "use std::{io, os::unix::fs::PermissionsExt};"),
        ("src/model/a.rs", "use rustix::process::Signal;"),
        ("src/engine/a.rs", "use tokio::signal::unix::signal;"),
        ("src/ui/run.rs", "use tokio::{select, signal::unix::{self, signal}};"),
        ("src/engine/a.rs", "use std::process::Command;"),
        ("src/engine/a.rs", "use tokio::sync::mpsc::unbounded_channel;"),
        ("src/engine/a.rs", "use std::thread::sleep;"),
        ("src/model/a.rs", "use agent_client_protocol_schema::v1::Plan;"),
    ] {
        assert!(count(names_stay_behind_their_fences, path, text) > 0, "{path}: {text}");
    }
    assert_eq!(count(names_stay_behind_their_fences, "src/engine/a.rs", "use tokio::select; // rustix"), 0);
}

#[test]
fn a_look_at_the_world_is_noticed() {
    let rule = pure_rooms_do_not_look_at_the_world;
    assert_eq!(count(rule, "src/model/a.rs", "fn f() { let t = std::time::Instant::now(); }"), 1);
    assert_eq!(count(rule, "src/ui/view/a.rs", "use std::{env, fs};"), 2);
    assert_eq!(count(rule, "src/ui/update/a.rs", "use std::sync::mpsc::sync_channel;"), 1);
    assert_eq!(count(rule, "src/ui/run.rs", "use std::time::Instant;\nfn f() { Instant::now(); }"), 0);
}

#[test]
fn an_agents_name_is_noticed() {
    let rule = no_agent_is_called_by_name;
    for text in
        ["if name == \"gemini-cli\" {}", "fn is_claude() {}", "struct OpenCodex; struct IsCodex;", "r#\"Kimi\"#"]
    {
        assert!(count(rule, "src/engine/a.rs", text) > 0, "{text}");
    }
    for text in ["// gemini-cli sends two", "let recline = \"incline\";", "#[cfg(test)]\nfn f() { \"gemini\"; }"] {
        assert_eq!(count(rule, "src/engine/a.rs", text), 0, "{text}");
    }
    assert_eq!(count(rule, "src/agent/quirks.rs", "\"gemini-cli\""), 0);
}

#[test]
fn the_protocol_outside_of_the_codec_is_noticed() {
    let rule = the_protocol_is_spoken_by_the_codec_alone;
    for text in [
        "if method == \"session/update\" {}",
        "const M: &str = r#\"$/cancel_request\"#;",
        "fn f() { json!({ \"sessionId\": id }) }",
        "fn f() { g(-32602) }",
        "const C: i64 = -32_000i64;",
        "match code { -32800 => {} }",
    ] {
        assert_eq!(count(rule, "src/engine/a.rs", text), 1, "{text}");
        assert_eq!(count(rule, "src/agent/codec/v1/a.rs", text) + count(rule, "src/demo/a.rs", text), 0, "{text}");
    }
    for text in ["let x = n - 3;", "let x = 32602;", "// session/update, -32602", "let x = -320;", "\"a session\";"] {
        assert_eq!(count(rule, "src/engine/a.rs", text), 0, "{text}");
    }
    assert_eq!(count(rule, "src/engine/a.rs", "#[cfg(test)]\nmod tests { const M: &str = \"session/new\"; }"), 0);
}

#[test]
fn unfinished_and_unsafe_code_is_noticed() {
    let rule = nothing_unfinished_or_unsafe;
    for text in [
        "fn f() { todo!() }",
        "fn f() { unimplemented!(\"later\") }",
        "fn f() { unsafe { g() } }",
        "#[cfg(test)]\nmod tests {\n#[test]\n#[ignore = \"slow\"]\nfn f() {}\n}",
        "fn f() { std::thread::sleep(t) }",
    ] {
        assert_eq!(count(rule, "src/base/a.rs", text), 1, "{text}");
        assert_eq!(count(rule, "tests/it/a.rs", text), 1, "{text}");
    }
    for text in ["let (tx, rx) = mpsc::channel();", "let (tx, rx) = std::sync::mpsc::channel::<Vec<u8>>();"] {
        assert_eq!(count(channels_have_a_bound, "src/base/a.rs", text), 1, "{text}");
    }
    let fine = "// todo!()\nlet (tx, rx) = mpsc::channel(16);\nlet s = \"unsafe\"; channel::<u8>(1);";
    assert_eq!(count(rule, "src/base/a.rs", fine) + count(channels_have_a_bound, "src/base/a.rs", fine), 0);
}

#[test]
fn a_room_that_is_not_on_the_map_is_noticed() {
    let sources = tree(&[("src/base/mod.rs", ""), ("src/cellar/mod.rs", "")]);
    assert_eq!(the_map_names_every_room("//! base", &sources), ["src/lib.rs: no cellar"]);
}

#[test]
fn literals_and_comments_are_told_from_code() {
    let text =
        "let a = '\"'; let b = b'\\''; let c = br#\"x\"y\"#; /* a /* b */ c */ let d: &'static str = \"\\\"q\"; done";
    let words: Vec<String> = Source::new("src/a.rs", text)
        .code
        .into_iter()
        .filter_map(|t| match t.what {
            What::Word(w) => Some(w),
            _ => None,
        })
        .collect();
    assert_eq!(words.join(" "), "let a let b let c let d static str done");
}
