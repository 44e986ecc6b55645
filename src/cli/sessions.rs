//! `sessions`: whose changes are kept, and how to be rid of them.
//!
//! Invariant: a session that is open elsewhere is shown, never opened and never removed.

use super::args::Sessions;
use super::output::{confirmed, is_screen, print, say};
use super::review::{failed, find, reviews, say_namesakes, say_removed, sums};
use super::usage::Usage;
use crate::base::{human, paths, sanitize};
use crate::config::dirs::{Dirs, Env};
use crate::headless::code;
use crate::model::changes::{Scope, Totals};
use crate::review::archive::{self, Listed};
use crate::review::report::json;
use crate::review::session::ReviewSession;
use crate::text::width::{str_width, truncate};
use serde_json::{Value, json};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// Columns of an agent's name.
const AGENT_COLUMNS: usize = 32;

/// A session with what has to be looked up for it.
struct Row {
    listed: Listed,
    bytes: u64,
    /// All turns, and the sums; or why they are not known.
    changes: Result<(Vec<u64>, Totals), String>,
}

/// `acp-tui sessions`.
pub fn run(what: &Sessions) -> Result<u8, Usage> {
    let home = reviews()?;
    match what {
        Sessions::List { json } => list(&home, *json),
        Sessions::Remove(name) => match find(&home, name).and_then(|found| archive::remove(&found.dir)) {
            Ok(()) => print("removed 1 session; the files stay as they are\n"),
            Err(error) => Ok(failed(&error)),
        },
        Sessions::RemoveAll { yes } => remove_all(&home, *yes),
        Sessions::Prune => {
            let pruned = archive::prune(&home, None);
            archive::take_removed(&home, None);
            print(&format!(
                "removed {}, {}\n",
                human::count(pruned.removed as u64, "session"),
                human::bytes(pruned.bytes)
            ))
        }
    }
}

/// Where there is somebody to ask, nothing is removed before the answer is yes.
fn remove_all(home: &Path, yes: bool) -> Result<u8, Usage> {
    let all = archive::list(home);
    say_namesakes(&all, archive::ALL);
    let (mut removed, mut outcome) = (0, code::OK);
    let question = format!(
        "Forget what is kept of {}? Their changes can no longer be undone.",
        human::count(all.len() as u64, "session")
    );
    if is_screen() && !yes && !all.is_empty() && !confirmed(&question) {
        say("nothing was removed");
        return Ok(code::OK);
    }
    for one in all {
        if one.locked {
            say(&format!("{} is open in another acp-tui and stays", one.stem));
            continue;
        }
        match archive::remove(&one.dir) {
            Ok(()) => removed += 1,
            Err(error) => outcome = failed(&error),
        }
    }
    let printed = print(&format!("removed {}; the files stay as they are\n", human::count(removed, "session")))?;
    Ok(if outcome == code::OK { printed } else { outcome })
}

fn list(home: &Path, json: bool) -> Result<u8, Usage> {
    say_removed(home, None);
    let rows: Vec<Row> = archive::list(home).into_iter().map(looked_up).collect();
    if json {
        let sessions: Vec<Value> = rows.iter().map(value).collect();
        return print(&json::text(&json!({ "v": json::VERSION, "sessions": sessions })));
    }
    if rows.is_empty() {
        return print("no sessions are kept\n");
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let home_dir = Dirs::new(Env::read(|name| std::env::var_os(name))).and_then(|dirs| dirs.home);
    print(&table(&rows, now, home_dir.as_deref()))
}

fn looked_up(listed: Listed) -> Row {
    let bytes = archive::bytes(&listed.dir);
    let changes = if listed.locked {
        Err("open in another acp-tui".to_owned())
    } else if listed.head.is_none() {
        Err("cannot be read".to_owned())
    } else {
        let looked = ReviewSession::open(&listed.dir).and_then(|mut tracker| {
            let doc = tracker.doc(Scope::Session)?;
            Ok((tracker.all_turns(), doc.totals))
        });
        looked.map_err(|error| error.to_string())
    };
    Row { listed, bytes, changes }
}

fn value(row: &Row) -> Value {
    let Listed { stem, head, sessions, started, locked, .. } = &row.listed;
    let sessions: Vec<Value> = sessions
        .iter()
        .map(|one| json!({ "session_id": one.id, "agent": one.agent, "first_turn": one.first_turn }))
        .collect();
    let changes = row.changes.as_ref().ok();
    json!({
        "name": stem,
        "sessions": sessions,
        "cwd": head.as_ref().map(|head| head.cwd.to_string_lossy()),
        "command": head.as_ref().map(|head| &head.command),
        "started": started,
        "open": locked,
        "bytes": row.bytes,
        "turns": changes.map(|(turns, _)| turns),
        "totals": changes.map(|(_, totals)| totals),
        "problem": row.changes.as_ref().err(),
    })
}

fn table(rows: &[Row], now: u64, home: Option<&Path>) -> String {
    let mut cells: Vec<[String; 7]> =
        vec![["session", "begun", "agent", "directory", "turns", "changes", "size"].map(str::to_owned)];
    for row in rows {
        let Listed { stem, head, sessions, started, .. } = &row.listed;
        let begun = ago(now.saturating_sub(*started));
        let place = head.as_ref().map_or_else(String::new, |head| paths::display(&head.cwd, &[], home));
        let (turns, changes) = match &row.changes {
            Ok((turns, totals)) => (turns.len().to_string(), sums(*totals)),
            Err(why) => (String::new(), format!("({why})")),
        };
        // The newest session of the run has the numbers; earlier ones stand below it, by their name alone.
        let mut named = sessions.iter().rev();
        let newest = named.next();
        let id = newest.map_or_else(|| stem.clone(), |one| name(&one.id, stem));
        let agent = newest.map_or_else(String::new, |one| short(&one.agent));
        cells.push([id, begun, agent, place, turns, changes, human::bytes(row.bytes)]);
        for earlier in named {
            let none = String::new;
            cells.push([name(&earlier.id, stem), none(), short(&earlier.agent), none(), none(), none(), none()]);
        }
    }
    let mut widths = [0; 7];
    for row in &mut cells {
        for (cell, width) in row.iter_mut().zip(&mut widths) {
            *cell = sanitize::line(cell).into_owned();
            *width = str_width(cell).max(*width);
        }
    }
    let mut text = String::new();
    for row in &cells {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(widths) {
            line.push_str(cell);
            line.extend(std::iter::repeat_n(' ', width + 2 - str_width(cell)));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text.push_str("\n`acp-tui sessions --remove SESSION` forgets one; the files stay as they are\n");
    text
}

/// What a session is named by: its id, or the name of its directory with the id behind it.
fn name(id: &str, stem: &str) -> String {
    if archive::is_name(id) { id.to_owned() } else { format!("{stem} (id `{}`)", archive::shown_id(id)) }
}

fn short(agent: &str) -> String {
    truncate(&sanitize::line(agent), AGENT_COLUMNS).into_owned()
}

fn ago(seconds: u64) -> String {
    match seconds {
        0..60 => "just now".to_owned(),
        60..3600 => format!("{} min ago", seconds / 60),
        3600..86400 => format!("{} h ago", seconds / 3600),
        _ => format!("{} d ago", seconds / 86400),
    }
}

#[cfg(test)]
#[path = "sessions_tests.rs"]
mod tests;
