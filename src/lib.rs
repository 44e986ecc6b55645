//! acp-tui: the terminal where people drive any coding agent that speaks the Agent Client Protocol.
//!
//! Map of rooms (each imports only what stands to its right):
//!
//! ```text
//! cli      -> plain, headless, conformance, ui (run, picker, labels, cells, tty), demo, engine, review, rules, mcp, registry, remote,
//!             host (process, outputs, unpack), config, theme, model, store (journals, lock, log, recording, search, sessions), base
//! plain    -> headless (printer), ui (cells, labels), engine, model, text, base
//! headless -> engine, model, base
//! conformance -> agent (codec), wire, host (process, fs), model (frames), rules (secrets), base
//! ui       -> (run only: engine) model, theme, text, base
//! engine   -> agent, remote, host, review, store, mcp, model, wire, base
//! review   -> host (fs, worktrees), store (private), model (what a review is), text, base
//! store    -> agent (codec), wire (trace, frame), model, base
//! agent    -> wire, mcp, model (event types), base
//! remote   -> wire, base
//! host     -> text, base
//! model    -> text, base
//! rules, mcp, registry -> base
//! theme    -> text, base      config -> host (fs), base      text -> base      wire -> base (shared)      demo -> nothing
//! ```
//!
//! How a chunk gets to the screen: `wire::pump` reads and parses, `engine::connection` decodes, `engine::core` reduces,
//! `ui::transcript` lays out what is visible, `ui::tty::surface` writes what differs. Inline, `ui::transcript::print` gives what
//! stays as it is once, for the terminal's own scrollback, and `ui::tty::surface::region` draws the rest below it.
//!
//! How what an agent asks for is decided: `model::judge` allows, refuses or leaves it to the person; `engine::admitting`
//! asks it once more with the real path, right before a file or directory is used.
//!
//! Terminology: an *intent* is what the person wants, an *event* is what happened, an *effect* is what is to be
//! done, a *fact* may never be dropped, a *hint* may be overwritten by a later one. Each bears an *address*: the *key* of
//! the agent or session that it is of (our own number; the agent's name of a session is its *id*). A *connection* leads
//! to one agent, which may have several *sessions*; a *stray* names a session whose id is not known yet. A *codec* turns
//! the messages of one version of the protocol into events and calls into messages; a *link* is what it goes over.
//! Sessions of one directory share a *workspace*: its files and one review. On the screen each session has a *view*; the
//! *app* is all views and which of them is shown.
//!
//! Of the review: the *snapshot* is what every file was when it was last looked at; a *look* or *scan* brings it up to
//! date, and what differs is put down to the agent or the person by *attribution*. A *decision* accepts or rejects, the
//! *undo log* takes decisions back; both, and what has become of each file, are in the *change log*. A *held* write waits
//! for one. Floors of the room, from below: `text`, `worktree` (the files), `snapshot`, `history` (change log, ledger and
//! undo log), `decide` (computes), `session` (owns, locks, writes), `report`.
//!
//! Of the rules: a *pattern* says what a *rule* is for, the list that it stands in is its *verdict*: allow, ask or deny. A
//! *doubt* is why something is asked about though no rule says so.

/// A test of its own for each row of a table: `cases! { check { name: argument, argument; } }`.
#[cfg(test)]
macro_rules! cases {
    ($check:ident { $($name:ident: $($given:expr),+;)+ }) => {
        $(#[test]
        fn $name() {
            $check($($given),+);
        })+
    };
}

/// The settings of a test of so many random cases; `PROPTEST_CASES` overrules their number.
#[cfg(test)]
fn random(cases: u32) -> proptest::test_runner::Config {
    let usual = proptest::test_runner::Config::default();
    let is_overruled = std::env::var_os("PROPTEST_CASES").is_some();
    proptest::test_runner::Config { cases: if is_overruled { usual.cases } else { cases }, ..usual }
}

pub mod agent;
pub mod base;
pub mod cli;
pub mod config;
pub mod conformance;
pub mod demo;
pub mod engine;
pub mod headless;
pub mod host;
pub mod mcp;
pub mod model;
pub mod plain;
pub mod registry;
pub mod remote;
pub mod review;
pub mod rules;
pub mod store;
pub mod text;
pub mod theme;
pub mod ui;
pub mod wire;
