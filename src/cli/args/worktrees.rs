//! What stands behind `worktrees`.

use super::super::flags::Typed;
use super::super::usage::Usage;

#[derive(Debug, PartialEq, Eq)]
pub enum Worktrees {
    List { json: bool },
    Merge(String),
    Discard { name: String, yes: bool, drop_ignored: bool },
}

pub fn worktrees(words: Vec<String>, typed: &Typed) -> Result<Worktrees, Usage> {
    let Typed { json, yes, drop_ignored, .. } = *typed;
    let discards = yes || drop_ignored;
    let mut words = words.into_iter();
    match (words.next().as_deref(), words.next(), words.next()) {
        (None, ..) | (Some("merge"), Some(_), None) if discards => {
            Err(Usage("--yes and --drop-ignored are for `worktrees discard NAME`".into()))
        }
        (None, ..) => Ok(Worktrees::List { json }),
        (Some(_), Some(_), None) if json => Err(Usage("--json is for the list".into())),
        (Some("merge"), Some(name), None) => Ok(Worktrees::Merge(name)),
        (Some("discard"), Some(name), None) => Ok(Worktrees::Discard { name, yes, drop_ignored }),
        (Some(what @ ("merge" | "discard")), None, _) => {
            Err(Usage(format!("which one? `acp-tui worktrees {what} NAME`; `acp-tui worktrees` lists them")))
        }
        _ => Err(Usage("worktrees: merge NAME, discard NAME, or nothing to list them".into())),
    }
}
