//! Options and commands that show what others run on this machine, or change it, this program's own among them: data, each row
//! with its reason.
//!
//! Invariant: nothing but data.

use super::Row;
use super::sign::Sign::{Any, Bundle, Has, Input, Letters, Longs, Name, OnlyTwo, OtherLongs, Short};

pub(super) const MACHINE: &[Row] = &[
    Row {
        programs: &["ps"],
        signs: &[
            Bundle(
                "e",
                "C N G U O g k o p q s t u --sort --pid --ppid --user --User --group --Group --format --tty --sid",
            ),
            Letters("E"),
            Has("environ"),
        ],
        reason: "shows what variables hold that programs are started with",
    },
    Row {
        programs: &["acp-tui"],
        signs: &[
            OnlyTwo(
                "rules/test rules/list rules/suggest mcp/list agents/list sessions/ worktrees/ usage/ keys/ ps/ \
                audit/--verify --version/ --help/",
            ),
            Any("merge discard"),
            OtherLongs(
                "--json --all --limit --session --cwd --rules --agent --since --until --verify --regex --help --version",
            ),
            Short("-y"),
            Input,
        ],
        reason: "changes the rules, takes away what it keeps, shows what was said elsewhere, or starts an agent",
    },
    Row { programs: &["date"], signs: &[Name("drI"), Letters("sF"), Longs("--set")], reason: "changes the machine" },
    Row { programs: &["hostname"], signs: &[Name(""), Letters("sF"), Longs("--file")], reason: "changes the machine" },
];
