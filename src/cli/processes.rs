//! `acp-tui ps`: the processes that runs of this program have started, and an end for those that a run has left behind.
//!
//! Ends nothing that belongs to a run that is still there, and nothing without a yes. Invariant: what is printed for
//! people is cleaned.

use super::output::{confirmed, print, say};
use super::usage::Usage;
use crate::base::{human, sanitize};
use crate::headless::code;
use crate::host::process::{Marked, end_marked, marked};
use serde_json::json;
use std::io::{self, IsTerminal as _};

pub fn run(as_json: bool, yes: bool) -> Result<u8, Usage> {
    let all = marked();
    let text: String = all.iter().map(|one| if as_json { as_line(one) } else { as_text(one) }).collect();
    let written = print(&text)?;
    if all.is_empty() && !as_json {
        say("nothing runs that acp-tui has started");
    }
    let left: Vec<Marked> = all.into_iter().filter(|one| one.is_left).collect();
    if left.is_empty() || written != code::OK {
        return Ok(written);
    }
    let question = format!("end {} that a run has left behind?", human::count(left.len() as u64, "process"));
    if !yes && (!io::stdin().is_terminal() || !confirmed(&question)) {
        return Ok(written);
    }
    let stay = end_marked(left);
    for one in &stay {
        say(&format!("{} does not end: {}", one.pid, one.command));
    }
    Ok(if stay.is_empty() { written } else { code::OWN_FAULT })
}

fn as_line(one: &Marked) -> String {
    let Marked { pid, command, client, is_left, .. } = one;
    json!({ "pid": pid, "command": command, "client": client, "left": is_left }).to_string() + "\n"
}

fn as_text(one: &Marked) -> String {
    let state = if one.is_left { "left behind by" } else { "of" };
    sanitize::line(&format!("{:>7}  {state} run {}  {}", one.pid, one.client, one.command)).into_owned() + "\n"
}
