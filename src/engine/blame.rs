//! Which session, turn and prompt each line of a file came from.
//!
//! The change that a line came with is told by the reviews, what was asked then by the journals. Invariants: nothing of a
//! review, of a journal or of the file is changed; what cannot be read costs only what it would have told, and is said.

use super::recalling::earlier;
use super::replay::{Had, each_session};
use super::review_entries::shared;
use crate::base::paths::visible;
use crate::base::{human, sanitize};
use crate::host::worktrees;
use crate::model::changes::Cause;
use crate::model::entry::Body;
use crate::model::ids::SessionId;
use crate::model::past::Past;
use crate::model::session::{Allow, Policy};
use crate::model::{Model, account};
use crate::review::archive::{self, Listed};
use crate::review::protocol::AgentSession;
use crate::review::report::blame::{File, Origin, StoredReview, blame as follow};
use crate::store::lines::{self, Text};
use crate::store::sessions::{self, ENDING, Known, Part};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Characters that are said of one line: of the prompt so many that a usual screen has them, of the call and of others
/// no more than fits beside them on a wide one.
const PROMPT: usize = 60;
const CALL: usize = 40;
const AGENT: usize = 24;
const ID: usize = 12;
/// Stands for the end of a line where ends differ.
const CR_MARK: char = '␍';

/// A turn, as the person knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    pub session_id: String,
    pub agent: String,
    /// Of the session, from 1.
    pub number: u64,
    /// Nothing when no journal has it.
    pub prompt: Option<String>,
}

/// A line that was asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// From 0.
    pub at: usize,
    pub from: Option<Source>,
}

/// Where a line came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Which of the turns.
    pub turn: usize,
    pub cause: Cause,
    /// Which of the calls, where it was one.
    pub call: Option<usize>,
}

#[derive(Debug, Default)]
pub struct LineOrigins {
    pub lines: Vec<Line>,
    pub turns: Vec<Turn>,
    /// Titles.
    pub calls: Vec<String>,
    /// Why something may be unknown that was known once, in words.
    pub remarks: Vec<String>,
    /// Which sessions are open, in words: what they change just now may be missing.
    pub open: Vec<String>,
}

/// How much may be read for it.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    pub until: Instant,
    /// Bytes of a journal.
    pub journal: u64,
}

/// Asks about a file, or about one line of it, from 0. The error says that nothing is kept that could know it.
pub fn blame(state: &Path, file: &File, only: Option<usize>, bounds: Bounds) -> Result<LineOrigins, String> {
    let listed = listed(state, &file.path);
    let known = sessions::list(state).map(|listing| listing.sessions).unwrap_or_default();
    let forgotten = forgotten(&known, &listed, &file.path);
    if listed.is_empty() {
        return Err(nothing_kept(&file.path, forgotten));
    }
    let kept: Vec<StoredReview> = listed.iter().map(|(kept, _)| kept.clone()).collect();
    let followed = follow(&kept, file, only, bounds.until);
    let mut out = LineOrigins { remarks: followed.remarks, open: followed.open, ..LineOrigins::default() };
    if forgotten > 0 && followed.lines.iter().any(|(_, origin)| origin.is_none()) {
        out.remarks.push(format!("{}: what they wrote is unknown", not_kept(forgotten)));
    }
    let told = Told::read(state, &listed, &followed.lines, bounds.journal, &mut out.remarks);
    let (mut turns, mut calls) = (HashMap::new(), HashMap::new());
    for (at, origin) in followed.lines {
        let from = origin.and_then(|origin| {
            let key = (origin.review, origin.turn);
            let turn = told.turns.get(&key)?;
            let turn = *turns.entry(key).or_insert_with(|| {
                out.turns.push(turn.clone());
                out.turns.len() - 1
            });
            let call = origin.entry.and_then(|entry| {
                let key = (origin.review, entry);
                let title = told.calls.get(&key)?;
                Some(*calls.entry(key).or_insert_with(|| {
                    out.calls.push(title.clone());
                    out.calls.len() - 1
                }))
            });
            Some(Source { turn, cause: origin.cause, call })
        });
        out.lines.push(Line { at, from });
    }
    Ok(out)
}

/// The same of one line, from 0, in words; `here` is the session that asks. `text` is what it was when it was looked at.
pub fn of_line(
    state: &Path,
    path: &Path,
    (line, text): (usize, &str),
    here: Option<&str>,
    bounds: Bounds,
) -> Result<String, String> {
    let file = File::open(path)?;
    // A mark of its end is no part of it.
    if file.text(line).trim_end_matches(CR_MARK) != text.trim_end_matches(CR_MARK) {
        return Err("the line has changed since; look again".to_owned());
    }
    let blamed = blame(state, &file, Some(line), bounds)?;
    let from = blamed.lines.first().and_then(|line| line.from.as_ref());
    let turn = from.and_then(|from| blamed.turns.get(from.turn));
    let Some((from, turn)) = from.zip(turn) else {
        return Ok(format!("line {}: {}", line + 1, unknown(&blamed.remarks)));
    };
    let call = from.call.and_then(|call| blamed.calls.get(call)).map(String::as_str);
    Ok(format!("line {}: {}", line + 1, words(turn, call, here)))
}

/// Of a line that came with no change that is kept. That a session is open says nothing of it: this one always is.
fn unknown(remarks: &[String]) -> String {
    match remarks.first() {
        Some(why) => format!("nobody knows where it came from: {why}"),
        None => "no agent has changed it, as far as changes are kept".to_owned(),
    }
}

/// What was asked and what was done for it come first: a screen may have room for no more.
fn words(turn: &Turn, call: Option<&str>, here: Option<&str>) -> String {
    let Turn { session_id, agent, number, prompt } = turn;
    let of = if here == Some(session_id) {
        format!("turn {number} of this session")
    } else {
        format!("turn {number} of {}, session {}", short(agent, AGENT), short(&archive::shown_id(session_id), ID))
    };
    let prompt = prompt.as_deref().map(|prompt| short(prompt, PROMPT));
    let parts = [prompt, call.map(|title| short(title, CALL)), Some(of)];
    parts.into_iter().flatten().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ")
}

/// On one line, and cut where it has more characters than that.
fn short(text: &str, most: usize) -> String {
    let line = sanitize::line(text.trim());
    match line.char_indices().nth(most) {
        Some(_) => format!("{}…", line.chars().take(most - 1).collect::<String>().trim_end()),
        None => line.into_owned(),
    }
}

/// The reviews of directories above the file, and of worktrees that may have been merged there; the newest first.
fn listed(state: &Path, file: &Path) -> Vec<(StoredReview, Listed)> {
    let trees = worktrees::below(state);
    let trees = trees.canonicalize().unwrap_or(trees);
    let listed = archive::list(&archive::below(state)).into_iter().filter_map(|one| {
        let cwd = &one.head.as_ref()?.cwd;
        let root = cwd.canonicalize().unwrap_or_else(|_| cwd.clone());
        let id = AgentSession::newest(&one.sessions)
            .map_or_else(|| one.stem.clone(), |session| archive::shown_id(&session.id));
        let kept = StoredReview { dir: one.dir.clone(), root, name: format!("session {id}"), is_open: one.locked };
        (file.starts_with(&kept.root) || kept.root.starts_with(&trees)).then_some((kept, one))
    });
    let listed: Vec<_> = listed.collect();
    let is_known = listed.iter().any(|(kept, _)| file.starts_with(&kept.root));
    if is_known { listed } else { Vec::new() }
}

/// How many of our own sessions of directories above the file have no review any more.
fn forgotten(known: &[Known], listed: &[(StoredReview, Listed)], file: &Path) -> usize {
    let is_kept = |known: &Known| listed.iter().any(|(_, one)| one.sessions.iter().any(|s| s.id == known.session_id));
    let is_here = |known: &&Known| !known.is_imported && known.turns > 0 && file.starts_with(&known.cwd);
    known.iter().filter(is_here).filter(|known| !is_kept(known)).count()
}

fn not_kept(forgotten: usize) -> String {
    let sessions = human::count(forgotten as u64, "session");
    format!("the changes of {sessions} here are not kept, or not any more (50 sessions, 2 GiB and 30 days are)")
}

fn nothing_kept(file: &Path, forgotten: usize) -> String {
    let file = visible(file.as_os_str());
    if forgotten > 0 {
        return format!("nothing is known of {file}: {}", not_kept(forgotten));
    }
    format!("no session has worked in a directory above {file}; `acp-tui sessions --all` lists those that there are")
}

/// What the journals say of turns, by the review and the turn of its run, and of calls, by the review and the entry.
#[derive(Default)]
struct Told {
    turns: HashMap<(usize, u64), Turn>,
    calls: HashMap<(usize, u64), String>,
}

impl Told {
    fn read(
        state: &Path,
        listed: &[(StoredReview, Listed)],
        lines: &[(usize, Option<Origin>)],
        most: u64,
        remarks: &mut Vec<String>,
    ) -> Self {
        let mut wanted: BTreeMap<usize, BTreeSet<u64>> = BTreeMap::new();
        for origin in lines.iter().filter_map(|(_, origin)| *origin) {
            wanted.entry(origin.review).or_default().insert(origin.turn);
        }
        let parts = sessions::parts(state).map(|(parts, _)| parts).unwrap_or_default();
        let mut told = Self::default();
        for (review, turns) in wanted {
            let Some((kept, one)) = listed.get(review) else { continue };
            if let Some(journal) = journal(state, &one.stem) {
                match lines::text(&journal, most) {
                    Ok(Text { text, is_damaged }) => {
                        if is_damaged {
                            remarks.push(format!("{}: its journal is damaged, and read only in part", kept.name));
                        }
                        let earlier = earlier(&parts, &journal, most.saturating_sub(text.len() as u64));
                        if earlier.is_none() {
                            remarks.push(format!("{}: its earlier journals are too large to be read", kept.name));
                        }
                        replayed(&text, one, earlier.unwrap_or_default(), |had| {
                            told.take((review, one), &had, &turns, &journal, &parts);
                        });
                    }
                    Err(error) => remarks.push(format!("{}: its journal cannot be read: {error}", kept.name)),
                }
            }
            for turn in turns {
                let of = || one.sessions.iter().rfind(|session| session.first_turn <= turn);
                if !told.turns.contains_key(&(review, turn))
                    && let Some(session) = of()
                {
                    let number = turn - session.first_turn.min(turn) + 1;
                    let (session_id, agent) = (session.id.clone(), session.agent.clone());
                    told.turns.insert((review, turn), Turn { session_id, agent, number, prompt: None });
                }
            }
        }
        told
    }

    fn take(
        &mut self,
        (review, one): (usize, &Listed),
        had: &Had<'_>,
        turns: &BTreeSet<u64>,
        journal: &Path,
        parts: &[Part],
    ) {
        let id = had.id();
        let part = parts.iter().find(|part| part.journal == journal && part.session_id == id.as_str());
        // What the agent has told of before it opened the session was said in other turns.
        let opened = one.sessions.iter().filter(|session| session.id == id.as_str()).map(|session| session.first_turn);
        let first = opened.min().unwrap_or_default().max(1);
        // What was asked beside another session is in no list, and begins where it was asked.
        let of_review = || one.sessions.iter().find(|session| session.id == id.as_str());
        let (agent, before) = match part {
            Some(part) => (part.agent.clone(), part.turns_before),
            None => (of_review().map(|session| session.agent.clone()).unwrap_or_default(), 0),
        };
        let mut seen: BTreeSet<u64> = BTreeSet::new();
        for entry in had.entries().filter(|entry| entry.turn.0 >= first) {
            let turn = entry.turn.0;
            seen.insert(turn);
            if !turns.contains(&turn) {
                continue;
            }
            let of_turn = self.turns.entry((review, turn)).or_insert_with(|| {
                let number = before + seen.len() as u64;
                Turn { session_id: id.as_str().to_owned(), agent: agent.clone(), number, prompt: None }
            });
            match &entry.body {
                // Of a hand-over what the person has written, and not the account above it.
                Body::User(message) if of_turn.prompt.is_none() => {
                    let own = account::own_words(&message.text);
                    of_turn.prompt = Some(if own.is_empty() { message.text.clone() } else { own.to_owned() });
                }
                Body::Tool(tool) => drop(self.calls.insert((review, shared(had.key, entry.id).0), tool.title.clone())),
                _ => {}
            }
        }
    }
}

/// That of the run of a review: reviews of further directories have a number behind the run's name.
fn journal(state: &Path, stem: &str) -> Option<PathBuf> {
    let at = |stem: &str| sessions::journals(state).join(format!("{stem}{ENDING}"));
    let names = [Some(stem), stem.rsplit_once('-').map(|(run, _)| run)];
    names.into_iter().flatten().map(at).find(|path| path.is_file())
}

/// Shows every session of a journal.
fn replayed(text: &str, one: &Listed, earlier: HashMap<SessionId, Past>, look: impl FnMut(Had<'_>)) {
    let (command, cwd) = one.head.as_ref().map(|head| (head.command.clone(), head.cwd.clone())).unwrap_or_default();
    let model = Model::new(command, cwd.to_string_lossy().into_owned(), Policy::Auto(Allow::None));
    let lines = |take: &mut dyn FnMut(&str)| -> Result<(), Infallible> {
        text.lines().for_each(take);
        Ok(())
    };
    let Ok(()) = each_session(model, cwd, earlier, lines, look);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_line_the_prompt_and_the_call_are_said_first_and_whose_they_are_last() {
        let turn = |prompt: Option<&str>| Turn {
            session_id: "01a05cc4-77aa-7a51-9f35-1c1b2ee0e1c5".into(),
            agent: "an agent".into(),
            number: 3,
            prompt: prompt.map(str::to_owned),
        };
        let here = turn(None).session_id;
        let asked = turn(Some("make it\nblue\n"));
        assert_eq!(
            words(&asked, Some("Edit a.css"), Some(&here)),
            "make it blue · Edit a.css · turn 3 of this session"
        );
        let other = "make it blue · turn 3 of an agent, session 01a05cc4-77…";
        assert_eq!([words(&asked, None, None), words(&asked, None, Some("s"))], [other; 2]);
        assert_eq!(words(&turn(None), None, Some(&here)), "turn 3 of this session");
        let long = words(&turn(Some(&"word ".repeat(99))), Some(&"x".repeat(99)), Some(&here));
        let cut = format!("{}word… · {}… · turn 3 of this session", "word ".repeat(11), "x".repeat(39));
        assert_eq!(long, cut);
    }

    #[test]
    fn of_a_line_that_came_with_no_change_no_session_is_named() {
        assert_eq!(unknown(&[]), "no agent has changed it, as far as changes are kept");
        let why = "an earlier version is not kept".to_owned();
        assert_eq!(unknown(&[why]), "nobody knows where it came from: an earlier version is not kept");
    }
}
