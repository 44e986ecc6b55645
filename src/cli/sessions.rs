//! `sessions`: the conversations that are kept, with their changes, and how to be rid of them.
//!
//! Invariant: a session that is open elsewhere is shown, never opened and never removed.

use super::archived::{say_namesakes, say_removed, sums};
use super::args::Sessions;
use super::conversations::{self, Changes, Row, all, beside, find, fits, here, state};
use super::launch::{Surroundings, limits, now};
use super::output::{columns, confirmed, is_screen, print, say};
use super::usage::Usage;
use crate::base::origins::Origins;
use crate::base::{date, human, paths, sanitize, threads};
use crate::headless::code;
use crate::host::worktrees;
use crate::model::account;
use crate::model::changes::Totals;
use crate::review::archive;
use crate::review::report::json;
use crate::store::sessions::{self, Known, State};
use crate::text::width::{str_width, truncate, truncate_start};
use serde::Serialize;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Columns of an agent's name, and of what a conversation is about.
const AGENT_COLUMNS: usize = 24;
const TITLE_COLUMNS: usize = 48;
const HEAD: [&str; 8] = ["session", "used", "agent", "directory", "turns", "changes", "size", "about"];
const DIRECTORY: usize = 3;
/// To what each column is cut on a terminal; a session's name and figures are whole.
const LEAST: [usize; HEAD.len()] = [usize::MAX, 12, 8, 12, usize::MAX, 12, usize::MAX, 16];
/// Which columns are left out where that is not enough, the first one first.
const LEFT_OUT: [usize; HEAD.len() - 1] = [6, 4, DIRECTORY, 5, 2, 1, 7];
/// Of the list as JSON.
const VERSION: u32 = 2;
/// Room for a session in it.
const ITEM_BYTES: usize = 768;

/// `acp-tui sessions`.
pub fn run(what: &Sessions) -> Result<u8, Usage> {
    let state = state()?;
    let home = archive::below(&state);
    match what {
        Sessions::List { all: true, json, query, .. } => list(&state, Of::All, *json, query.as_deref()),
        Sessions::List { cwd, json, query, .. } => list(&state, Of::Directory(cwd.as_deref()), *json, query.as_deref()),
        Sessions::Remove { name, yes } => remove(&state, name, *yes),
        Sessions::RemoveAll { yes } => remove_all(&state, *yes),
        Sessions::Prune => {
            let pruned = archive::prune(&home, None);
            archive::take_removed(&home, None);
            let surroundings = Surroundings::read();
            for warning in &surroundings.warnings {
                say(&warning.to_string());
            }
            let gone = sessions::prune(&state, limits(surroundings.config.keep), now(), None)
                .map_err(|error| Usage(format!("the journals cannot be read: {error}")))?;
            print(&format!(
                "removed {}, {}; what is kept for undo of {}, {}\n",
                human::count(gone.sessions, "session"),
                human::bytes(gone.bytes),
                human::count(pruned.removed as u64, "session"),
                human::bytes(pruned.bytes)
            ))
        }
    }
}

fn remove(state: &Path, name: &str, yes: bool) -> Result<u8, Usage> {
    let row = find(all(state)?, name, &worktrees::origins(state)).map_err(|error| Usage(error.to_string()))?;
    let about = row.known.title.as_ref().or(row.known.first_prompt.as_ref());
    let about =
        about.map_or_else(String::new, |about| format!(" (“{}”)", short(&account::title_of(about), TITLE_COLUMNS)));
    let id = archive::shown_id(&row.known.session_id);
    let beside: Vec<String> = beside(state, &row).into_iter().map(archive::shown_id).collect();
    let undone = if beside.is_empty() {
        "and its changes not undone".to_owned()
    } else {
        format!("its changes only together with those of {}", beside.join(", "))
    };
    let question = format!("Forget session {id}{about}? It can no longer be read or gone on with, {undone}.");
    if !may_remove(&question, yes)? {
        return Ok(code::OK);
    }
    conversations::remove(state, &row).map_err(Usage)?;
    // What the index remembers of it goes with the next look.
    drop(sessions::list(state));
    if row.known.is_only_told() {
        let command = &row.known.command;
        return print(&format!("what {command} tells of {id} is left out from now on; the agent still has it\n"));
    }
    print(&format!("removed {}; the files stay as they are\n", human::count(1, "session")))
}

/// Nothing is removed before the answer is yes; where there is no terminal, only with `--yes`.
fn may_remove(question: &str, yes: bool) -> Result<bool, Usage> {
    if yes {
        return Ok(true);
    }
    if !is_screen() {
        return Err(Usage(format!("{question} That is asked on a terminal; `--yes` does it without a question")));
    }
    let is_confirmed = confirmed(question);
    if !is_confirmed {
        say("nothing was removed");
    }
    Ok(is_confirmed)
}

fn remove_all(state: &Path, yes: bool) -> Result<u8, Usage> {
    let mut rows = all(state)?;
    say_namesakes(&archive::list(&archive::below(state)), archive::ALL);
    let (mut removed, mut outcome) = (0, code::OK);
    let question = format!(
        "Forget all that is kept of {}? They can no longer be read or gone on with, and their changes not undone.",
        human::count(rows.len() as u64, "session")
    );
    if !rows.is_empty() && !may_remove(&question, yes)? {
        return Ok(code::OK);
    }
    let sessions::Listing { sessions: listed, problems, .. } =
        sessions::list(state).map_err(|error| Usage(error.to_string()))?;
    let told = rows.len();
    rows.retain(|row| !row.known.is_only_told());
    let told = told - rows.len();
    let (mut gone, mut stay): (Vec<&Known>, Vec<&Known>) = (Vec::new(), Vec::new());
    let staying = staying(&rows);
    for (row, stays) in rows.iter().zip(staying) {
        if rows.iter().any(|other| other.known.state == State::Open && other.stem() == row.stem()) {
            say(&format!("{} is open in another acp-tui and stays", row.stem()));
            stay.push(&row.known);
            continue;
        }
        if stays || stay.iter().any(|by| are_together(&row.known, by)) {
            say(&format!("{} stays: it holds a part of another that stays", row.stem()));
            stay.push(&row.known);
            continue;
        }
        match conversations::remove_with_others(row) {
            Ok(()) => {
                gone.push(&row.known);
                removed += 1;
            }
            Err(why) => {
                say(&format!("{}: {why}", row.stem()));
                stay.push(&row.known);
                outcome = code::OWN_FAULT;
            }
        }
    }
    let kept: Vec<PathBuf> = stay.iter().flat_map(|known| known.journals.iter().cloned()).collect();
    // Those in which nothing was said go with their journals.
    let is_empty = |known: &&Known| known.is_empty() && !known.journals.iter().any(|journal| kept.contains(journal));
    gone.extend(listed.iter().filter(is_empty));
    let hidden = conversations::hide(state, &gone);
    if let Err(why) = hidden.and_then(|()| sessions::hide_all_but(state, &stay).map_err(|error| error.to_string())) {
        say(&format!("what agents have told: {why}"));
        outcome = code::OWN_FAULT;
    }
    // Of those that stay as well, where they are asked for once more: an account of all that went would take its time.
    let asked: HashSet<String> = stay.iter().flat_map(|known| conversations::asked_in(state, known)).collect();
    if let Err(why) = conversations::forget_prompts(state, |sent| asked.contains(&*sent.text)) {
        say(&why);
        outcome = code::OWN_FAULT;
    }
    // Those of which nothing is listed.
    let home = archive::below(state);
    for review in archive::list(&home).iter().filter(|review| !review.locked && archive::is_empty(&review.dir)) {
        if let Err(error) = archive::remove(&review.dir) {
            say(&format!("{}: {error}", review.stem));
            outcome = code::OWN_FAULT;
        }
    }
    // Nobody was asked about what cannot be read: a newer version may read it, or a person.
    let unread = problems.into_iter().map(|problem| problem.path).filter(|path| path.is_file() && !kept.contains(path));
    let unread: Vec<PathBuf> = unread.collect();
    for path in &unread {
        say(&format!(
            "{} stays, since it cannot be read; remove the file if nobody needs it",
            paths::visible(path.as_os_str())
        ));
    }
    match sessions::remove_all_but(state, &[kept, unread].concat()) {
        Ok(0) => {}
        Ok(count) => say(&format!("{} without a session went too", human::count(count, "journal"))),
        Err(error) => {
            say(&format!("the other journals: {error}"));
            outcome = code::OWN_FAULT;
        }
    }
    let told = match told {
        0 => String::new(),
        told => format!("; what agents tell of {told} more is left out from now on"),
    };
    let removed = human::count(removed, "session");
    let printed = print(&format!("removed {removed}; the files stay as they are{told}\n"))?;
    Ok(if outcome == code::OK { printed } else { outcome })
}

/// Whether two have a journal in common, as a copy has with what it was made of where it begins with that one's journals.
fn are_together(one: &Known, other: &Known) -> bool {
    one.journals.iter().any(|journal| other.journals.contains(journal))
}

/// Which stay, since they are open or have a journal in common with one that stays.
fn staying(rows: &[Row]) -> Vec<bool> {
    let all: Vec<&Known> = rows.iter().map(|row| &row.known).collect();
    sessions::with_sharers(&all, all.iter().map(|known| known.state == State::Open).collect())
}

/// Which are listed.
#[derive(Clone, Copy)]
enum Of<'a> {
    All,
    /// The current one without.
    Directory(Option<&'a Path>),
}

fn list(state: &Path, of: Of<'_>, as_json: bool, query: Option<&str>) -> Result<u8, Usage> {
    say_removed(&archive::below(state), None);
    let mut rows = all(state)?;
    rows.retain(|row| !conversations::is_merge(row));
    let (count, everywhere) = (rows.len(), matches!(of, Of::All));
    let here = match of {
        Of::All => None,
        Of::Directory(None) => here(),
        // Sessions outlive their directories.
        Of::Directory(Some(dir)) => dir.canonicalize().or_else(|_| std::path::absolute(dir)).ok(),
    };
    let origins = if everywhere { Origins::default() } else { worktrees::origins(state) };
    rows.retain(|row| {
        let is_here = everywhere || here.as_ref().is_some_and(|here| origins.are_alike(&row.known.cwd, here));
        is_here && query.is_none_or(|query| fits(&row.known, query))
    });
    if as_json {
        let printed = print(&document(&rows))?;
        if printed != code::OK || !rows.is_empty() {
            leave(rows);
            return Ok(printed);
        }
    }
    if rows.is_empty() {
        return Err(Usage(nothing(count, everywhere, query)));
    }
    let home_dir = conversations::home();
    let cells: Vec<_> = rows.iter().map(|row| (row, row.changes(), row.bytes())).collect();
    let printed = print(&table(&cells, now(), home_dir.as_deref(), columns()));
    leave(rows);
    printed
}

/// The program ends here: thousands of pieces of memory are not given back one by one.
fn leave(rows: Vec<Row>) {
    std::mem::forget(rows);
}

/// What to do where there is nothing to list.
fn nothing(count: usize, everywhere: bool, query: Option<&str>) -> String {
    match (count, query) {
        (0, _) => "no sessions are kept yet; `acp-tui --agent NAME` or `acp-tui exec` begins one".to_owned(),
        (_, Some(query)) if everywhere => {
            format!("no session has `{query}` in what it is named by; `acp-tui search` looks through what was said")
        }
        (_, Some(query)) => format!("no session of this directory has `{query}`; `--all` looks at those of others"),
        (_, None) => format!("no sessions of this directory; `--all` lists {count} of other directories"),
    }
}

/// The list as JSON, of which another thread writes the second half: of thousands that takes longer than all else.
fn document(rows: &[Row]) -> String {
    // Two rows may have one review, which is open once at a time.
    let rows: Vec<_> = rows.iter().map(|row| (row, row.changes())).collect();
    let add = |rows: &[(&Row, Changes)], to: &mut String| {
        to.reserve(rows.len() * ITEM_BYTES);
        json::add_members(rows.iter().map(|(row, changes)| Item::of(row, changes)), 4, to);
    };
    let (first, second) = rows.split_at(rows.len().div_ceil(2));
    let rest = || {
        let mut text = String::new();
        add(second, &mut text);
        text
    };
    let mut text = format!("{{\n  \"v\": {VERSION},\n  \"sessions\": [");
    let (part, ()) = threads::both(rest, || add(first, &mut text));
    if !second.is_empty() {
        text.extend([",", &part.unwrap_or_else(rest)]);
    }
    text.push_str(if rows.is_empty() { "]\n}\n" } else { "\n  ]\n}\n" });
    text
}

/// A session of the list.
#[derive(Serialize)]
struct Item<'a> {
    session_id: &'a str,
    agent: &'a str,
    command: &'a str,
    cwd: Cow<'a, str>,
    branch: Option<&'a str>,
    title: Option<&'a str>,
    first_prompt: Option<&'a str>,
    last_prompt: Option<&'a str>,
    created: Option<String>,
    updated: Option<String>,
    turns: u64,
    state: State,
    source: &'static str,
    can: Vec<&'static str>,
    thread: Option<&'a str>,
    changes: Option<Totals>,
    bytes: u64,
}

impl<'a> Item<'a> {
    fn of(row: &'a Row, changes: &Changes) -> Self {
        let known = &row.known;
        let can = [
            ("load", known.can.load),
            ("resume", known.can.resume),
            ("fork", known.can.fork),
            ("close", known.can.close),
            ("delete", known.can.delete),
        ];
        Self {
            session_id: &known.session_id,
            agent: &known.agent,
            command: &known.command,
            cwd: known.cwd.to_string_lossy(),
            branch: known.branch.as_deref(),
            title: known.title.as_deref(),
            first_prompt: known.first_prompt.as_deref(),
            last_prompt: known.last_prompt.as_deref(),
            created: time(known.created),
            updated: time(known.updated),
            turns: known.turns,
            state: known.state,
            source: known.source(),
            can: can.into_iter().filter(|(_, can)| *can).map(|(what, _)| what).collect(),
            thread: known.thread.as_deref(),
            changes: changes.as_ref().ok().copied().flatten(),
            bytes: row.bytes(),
        }
    }
}

/// Nothing where no time is known: its agent has told none.
fn time(time: Duration) -> Option<String> {
    (time > Duration::ZERO).then(|| date::rfc3339(time))
}

/// `columns`: of the terminal, where it is one.
fn table(rows: &[(&Row, Changes, u64)], now: Duration, home: Option<&Path>, columns: Option<usize>) -> String {
    let mut cells = Cells::default();
    for cell in &HEAD {
        cells.push(cell);
    }
    // The id of an imported one is that of ours once it has gone on here; it means ours then.
    let own: HashSet<&str> =
        rows.iter().filter(|(row, ..)| !row.known.is_imported).map(|(row, ..)| &*row.known.session_id).collect();
    // Many have one directory.
    let mut places: HashMap<&Path, String> = HashMap::new();
    for (row, changes, bytes) in rows {
        let known = &row.known;
        let is_twice = known.is_imported && own.contains(&*known.session_id);
        cells.push(&if is_twice { stored(&known.session_id, row.stem()) } else { name(&known.session_id, row.stem()) });
        let ago = || human::ago(now.saturating_sub(known.updated).as_secs());
        match known.state {
            _ if known.updated.is_zero() => {
                cells.push(&short(known.used_as_told.as_deref().unwrap_or_default(), AGENT_COLUMNS));
            }
            State::Open => cells.push("open"),
            State::Interrupted => cells.push(&format!("{}, interrupted", ago())),
            State::Ended => cells.push(&ago()),
        }
        cells.push(&short(&known.agent, AGENT_COLUMNS));
        let place = places.entry(&known.cwd).or_insert_with(|| paths::display(&known.cwd, &[], home));
        cells.push(if row.is_damaged { "" } else { place });
        cells.push(&if known.turns == 0 { String::new() } else { known.turns.to_string() });
        match changes {
            Ok(Some(totals)) => cells.push(&sums(*totals)),
            Ok(None) => cells.push(""),
            Err(why) => cells.push(&format!("({why})")),
        }
        cells.push(&human::bytes(*bytes));
        let about = known.title.as_ref().or(known.first_prompt.as_ref());
        cells.push(&short(&account::title_of(about.map_or("", |about| about)), TITLE_COLUMNS));
    }
    let mut text = cells.lines(columns);
    let (prints, forgets) = (
        "`acp-tui export SESSION` prints one,",
        "`acp-tui sessions --remove SESSION` forgets one; the files stay as they are",
    );
    let is_narrow = columns.is_some_and(|columns| columns <= prints.len() + forgets.len());
    text.extend(["\n", prints, if is_narrow { "\n" } else { " " }, forgets, "\n"]);
    text
}

/// Cells of a table, row by row. All are in one text: pieces of memory for each would take longer than all else.
#[derive(Default)]
struct Cells {
    text: String,
    ends: Vec<usize>,
    widths: [usize; HEAD.len()],
}

impl Cells {
    fn push(&mut self, cell: &str) {
        let (cell, column) = (sanitize::line(cell), self.ends.len() % HEAD.len());
        self.widths[column] = self.widths[column].max(str_width(&cell));
        self.text.push_str(&cell);
        self.ends.push(self.text.len());
    }

    /// Each column as wide as its widest cell, or as there is room for on the terminal.
    fn lines(&self, columns: Option<usize>) -> String {
        let widths = columns.map_or(self.widths, |columns| fitted(self.widths, columns));
        let mut text = String::with_capacity(self.text.len() * 2);
        let mut begin = 0;
        for row in self.ends.chunks(HEAD.len()) {
            for (column, (end, width)) in row.iter().zip(widths).enumerate() {
                let cell = &self.text[begin..*end];
                begin = *end;
                if width == 0 {
                    continue;
                }
                // The end of a directory tells more than its beginning.
                let cell = if column == DIRECTORY { truncate_start(cell, width) } else { truncate(cell, width) };
                text.push_str(&cell);
                text.extend(std::iter::repeat_n(' ', width + 2 - str_width(&cell)));
            }
            text.truncate(text.trim_end_matches(' ').len());
            text.push('\n');
        }
        text
    }
}

/// The widths with which a row has room in `columns`; 0 for what is left out.
fn fitted(mut widths: [usize; HEAD.len()], columns: usize) -> [usize; HEAD.len()] {
    let row = |widths: &[usize; HEAD.len()]| widths.iter().filter(|w| **w > 0).map(|w| w + 2).sum::<usize>() - 2;
    let least = |widths: &[usize; HEAD.len()]| std::array::from_fn(|column| widths[column].min(LEAST[column]));
    for column in LEFT_OUT {
        if row(&least(&widths)) <= columns {
            break;
        }
        widths[column] = 0;
    }
    while row(&widths) > columns {
        let can_shrink = (0..widths.len()).filter(|column| widths[*column] > LEAST[*column]);
        let Some(widest) = can_shrink.max_by_key(|column| widths[*column]) else { break };
        widths[widest] -= 1;
    }
    widths
}

/// What a session is named by: its id, or the name under which it is stored with the id behind it.
fn name(id: &str, stem: &str) -> String {
    if archive::is_name(id) { id.to_owned() } else { stored(id, stem) }
}

fn stored(id: &str, stem: &str) -> String {
    format!("{stem} (id `{}`)", archive::shown_id(id))
}

fn short(text: &str, columns: usize) -> String {
    truncate(&sanitize::line(text), columns).into_owned()
}

#[cfg(test)]
#[path = "sessions_tests.rs"]
mod tests;
