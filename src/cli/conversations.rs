//! Conversations for the command line: what the journals know of them, together with the changes that are kept.
//!
//! A run has one journal and, for each directory, one review under the same name. Opens a review only to sum it up.
//! Invariants: what only one half knows is listed too; a conversation that is open elsewhere is never opened.

use super::archived::reviews;
use super::output::say;
use super::usage::Usage;
use crate::base::origins::Origins;
use crate::base::{human, paths, sanitize};
use crate::config::dirs::{Dirs, Env};
use crate::engine::forgetting::{self, Whose};
use crate::engine::merging::{MERGE, MERGES};
use crate::engine::recalling;
use crate::model::account;
use crate::model::changes::{Scope, Totals};
use crate::model::draft::Sent;
use crate::model::entry::Body;
use crate::model::ids::SessionId;
use crate::review::archive::{self, LAST, Listed};
use crate::review::error::ReviewError;
use crate::review::protocol::AgentSession;
use crate::review::session::ReviewSession;
use crate::store::claims;
use crate::store::drafts;
use crate::store::prompts::Prompts;
use crate::store::sessions::{self, Asked, Can, Figures, Forgotten, Known, NotFound, State};
use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A conversation and where its changes are kept.
pub(super) struct Row {
    pub known: Known,
    pub reviews: Vec<Listed>,
    /// Reviews of which it is the newest session: what is only known of all is said here.
    sums: Vec<PathBuf>,
    /// Of what is kept for undo there is nothing but a directory that cannot be read.
    pub is_damaged: bool,
}

/// What changed; or why that is not known.
pub(super) type Changes = Result<Option<Totals>, String>;

impl Row {
    /// Nothing is kept for undo.
    #[cfg(test)]
    pub fn of_journal(known: Known) -> Self {
        Self { known, reviews: Vec::new(), sums: Vec::new(), is_damaged: false }
    }

    /// Opens the reviews, and counts again only where that is necessary. Of a run that several sessions shared only what
    /// this one has changed, if it has.
    pub fn changes(&self) -> Changes {
        let (mut sum, mut is_told) = (None::<Totals>, false);
        // A file that two runs have changed is one.
        let mut files: HashSet<PathBuf> = HashSet::new();
        for listed in &self.reviews {
            let is_first = self.sums.contains(&listed.dir);
            let totals = if listed.locked {
                match (self.known.own_totals, self.known.totals) {
                    (Some(own), _) if own.is_empty() || is_told => continue,
                    (Some(own), _) => {
                        is_told = true;
                        own
                    }
                    // Where it has had no company, what is told while it is open is told of all.
                    _ if !is_first => continue,
                    (None, Some(totals)) => totals,
                    // Of this run nothing was told yet.
                    (None, None) if self.reviews.len() > 1 => continue,
                    (None, None) => return Err("open in another acp-tui".to_owned()),
                }
            } else if listed.head.is_none() {
                return Err("cannot be read".to_owned());
            } else {
                let changed = self.changed_in(listed, is_first).map_err(|error| error.to_string())?;
                let Some((totals, paths)) = changed else { continue };
                let top = listed.head.as_ref().map(|head| head.cwd.clone()).unwrap_or_default();
                let known = paths.iter().filter(|path| !files.insert(top.join(path))).count();
                Totals { files: totals.files.saturating_sub(known as u64), ..totals }
            };
            let sum = sum.get_or_insert_default();
            sum.added += totals.added;
            sum.removed += totals.removed;
            sum.files += totals.files;
            sum.pending += totals.pending;
        }
        Ok(sum)
    }

    /// What this session has changed in a run, and in which files. Nothing where others had the run as well, and it has
    /// changed nothing.
    fn changed_in(&self, listed: &Listed, is_first: bool) -> Result<Option<(Totals, Vec<PathBuf>)>, ReviewError> {
        let mut review = ReviewSession::open(&listed.dir)?;
        if review.turns().are_shared() {
            let changed = review.totals_of(&self.known.session_id)?;
            return Ok(Some(changed).filter(|(totals, _)| !totals.is_empty()));
        }
        if !is_first {
            return Ok(None);
        }
        let doc = review.outline(Scope::Session)?;
        Ok(Some((doc.totals, doc.files.iter().map(|file| file.path.clone()).collect())))
    }

    /// Bytes of journals and of what is kept for undo.
    pub fn bytes(&self) -> u64 {
        self.known.bytes + self.reviews.iter().map(|listed| archive::bytes(&listed.dir)).sum::<u64>()
    }

    /// Where it is stored, for what has no name that could be typed.
    pub fn stem(&self) -> &str {
        self.known.stem()
    }
}

/// acp-tui's directory for state, closed to others.
pub(super) fn state() -> Result<PathBuf, Usage> {
    reviews()?;
    let dirs = Dirs::new(Env::read(|name| std::env::var_os(name)));
    dirs.map(|dirs| dirs.state).ok_or_else(|| Usage("no home directory, so no sessions are kept".into()))
}

/// The person's home directory, where that is known.
pub(super) fn home() -> Option<PathBuf> {
    Dirs::new(Env::read(|name| std::env::var_os(name))).and_then(|dirs| dirs.home)
}

/// Everything that is known, the newest first. Says what cannot be read.
pub(super) fn all(state: &Path) -> Result<Vec<Row>, Usage> {
    let listing = sessions::list(state).map_err(|error| Usage(NotFound::Io(error).to_string()))?;
    for problem in &listing.problems {
        say(&format!("{}: {}", paths::visible(problem.path.as_os_str()), problem.why));
    }
    let rows = merged(listing.sessions, archive::list(&archive::below(state)), &sessions::hidden(state));
    Ok(with_questions(rows, &listing.asides))
}

/// What was asked aside and not kept is in no list, but what its agent has changed is; it is known by the question.
fn with_questions(mut rows: Vec<Row>, asides: &[Asked]) -> Vec<Row> {
    for row in rows.iter_mut().filter(|row| row.known.journals.is_empty()) {
        let is_its = |asked: &&Asked| {
            let is_of = |review: &Listed| is_of_run(review, sessions::stem(&asked.journal));
            asked.session_id == row.known.session_id && row.reviews.iter().any(is_of)
        };
        if let Some(asked) = asides.iter().find(is_its) {
            row.known.first_prompt = Some(asked.question.clone());
        }
    }
    rows
}

fn merged(known: Vec<Known>, reviews: Vec<Listed>, forgotten: &Forgotten) -> Vec<Row> {
    let (mut summed, mut listed) = (HashSet::new(), HashSet::new());
    let mut rows: Vec<Row> = Vec::with_capacity(known.len());
    for known in known {
        let own: Vec<Listed> = reviews.iter().filter(|review| is_of(&known, review)).cloned().collect();
        listed.extend(own.iter().map(|one| (one.dir.clone(), known.session_id.clone())));
        let mut row = Row { known, reviews: own, sums: Vec::new(), is_damaged: false };
        // One that was closed has ended, although others of its run have not.
        let was_closed = row.known.state == State::Ended && row.known.is_held;
        if !was_closed && row.reviews.iter().any(|review| review.locked) {
            row.known.state = State::Open;
        }
        // Where nothing was said there may be changes still; those that others share stand with these.
        let is_its_own = |review: &Listed| {
            // The turn may have been that of a side question, which changed nothing.
            let is_left = || {
                let own = review.sessions.iter().find(|one| one.id == row.known.session_id);
                review.sessions.iter().all(AgentSession::counts) || own.is_none_or(|own| has_part(review, own))
            };
            !archive::is_empty(&review.dir) && sharers(&row, review, forgotten).is_empty() && is_left()
        };
        if row.known.is_empty() && row.known.state != State::Open && !row.reviews.iter().any(is_its_own) {
            continue;
        }
        let dirs = row.reviews.iter().map(|review| review.dir.clone());
        row.sums = dirs.filter(|dir| summed.insert(dir.clone())).collect();
        rows.push(row);
    }
    // What has no journal any more can still be undone.
    for review in &reviews {
        let mut lone: Vec<AgentSession> = review.sessions.iter().rev().filter(|one| one.counts()).cloned().collect();
        let command = review.head.as_ref().map_or("", |head| &head.command);
        lone.retain(|session| !listed.contains(&(review.dir.clone(), session.id.clone())));
        lone.retain(|session| !forgotten.contains(command, &session.agent, &session.id) && has_part(review, session));
        let is_listed = || listed.iter().any(|(dir, _)| *dir == review.dir);
        if review.head.is_none() || review.is_nameless && !archive::is_empty(&review.dir) && !is_listed() {
            lone.push(AgentSession::new(&review.stem, 1, ""));
        }
        for session in lone {
            let sums = if summed.insert(review.dir.clone()) { vec![review.dir.clone()] } else { Vec::new() };
            if let Some(row) = rows.iter_mut().find(|row| has_run(&row.known, review, &session)) {
                row.reviews.push(review.clone());
                row.reviews.sort_by_key(|one| std::cmp::Reverse(one.number));
                row.sums.extend(sums);
                if review.locked {
                    row.known.state = State::Open;
                }
                continue;
            }
            let known = of_review(review, session);
            rows.push(Row { known, reviews: vec![review.clone()], sums, is_damaged: review.head.is_none() });
        }
    }
    rows.sort_by_key(|row| std::cmp::Reverse(row.known.updated));
    rows
}

/// The one conversation of which this is true. Says nothing.
pub(super) fn find_known(state: &Path, is_it: impl Fn(&Known) -> bool) -> Result<Row, String> {
    let listing = sessions::list(state).map_err(|error| error.to_string())?;
    let rows = merged(listing.sessions, archive::list(&archive::below(state)), &sessions::hidden(state));
    with_questions(rows, &listing.asides)
        .into_iter()
        .find(|row| is_it(&row.known))
        .ok_or_else(|| "it is not there any more".to_owned())
}

/// Whether a review is of one of the session's runs and knows the session.
fn is_of(known: &Known, review: &Listed) -> bool {
    (review.is_nameless || review.sessions.iter().any(|session| session.id == known.session_id))
        && known.journals.iter().any(|journal| is_of_run(review, sessions::stem(journal)))
}

/// Whether a review is of the run with this journal.
fn is_of_run(review: &Listed, stem: &str) -> bool {
    let further = review.stem.strip_prefix(stem);
    further.is_some_and(|rest| rest.is_empty() || rest.strip_prefix('-').is_some_and(|n| n.parse::<u32>().is_ok()))
}

/// Whether a session has left anything in a run of which there is no journal, or may be at it.
fn has_part(review: &Listed, session: &AgentSession) -> bool {
    if review.locked || review.head.is_none() {
        return true;
    }
    let is_left = || {
        let mut tracker = ReviewSession::open(&review.dir).ok()?;
        if tracker.turns().are_shared() {
            return tracker.totals_of(&session.id).ok().map(|(totals, _)| !totals.is_empty());
        }
        // What was undone can be done again.
        let has_decided = tracker.newest_decision().is_some();
        tracker.doc(Scope::Session).ok().map(|doc| has_decided || !doc.files.is_empty())
    };
    !archive::is_empty(&review.dir) && is_left().unwrap_or(true)
}

/// Whether a run is of this session, although there is no journal of it: the session went on there, or goes on from there,
/// or nothing but its agent's word is known of it. Another one may have had its id before.
fn has_run(known: &Known, review: &Listed, session: &AgentSession) -> bool {
    let command = review.head.as_ref().map(|head| &head.command);
    let is_its = known.session_id == session.id
        && (known.agent == session.agent || command.is_some_and(|command| known.is_of(command)));
    let is_later = known.created >= Duration::from_secs(review.started);
    is_its && !known.is_imported && (known.is_only_told() || session.goes_on || known.is_older && is_later)
}

/// What is only kept so that a merge of a worktree can be undone is no conversation.
pub(super) fn is_merge(row: &Row) -> bool {
    row.known.journals.is_empty() && row.known.agent == MERGES && row.known.session_id.starts_with(MERGE)
}

/// A session of which there is no journal.
fn of_review(review: &Listed, session: AgentSession) -> Known {
    let AgentSession { id: session_id, agent, goes_on, .. } = session;
    let head = review.head.as_ref();
    let started = Duration::from_secs(review.started);
    Known {
        session_id,
        agent,
        command: head.map(|head| head.command.clone()).unwrap_or_default(),
        cwd: head.map(|head| head.cwd.clone()).unwrap_or_default(),
        branch: None,
        title: None,
        titled: None,
        first_prompt: None,
        last_prompt: None,
        created: started,
        opened: started,
        updated: started,
        turns: 0,
        asked: None,
        state: if review.locked { State::Open } else { State::Ended },
        can: Can::default(),
        figures: Figures::default(),
        totals: None,
        own_totals: None,
        journal: PathBuf::from(&review.stem),
        journals: Vec::new(),
        bytes: 0,
        is_older: goes_on,
        follows: None,
        thread: None,
        is_imported: false,
        is_untouched: false,
        is_held: false,
        is_listed: false,
        is_named: false,
        copy_of: None,
        is_question: false,
        also: Vec::new(),
        used_as_told: None,
    }
}

/// The current directory, as sessions name theirs.
pub(super) fn here() -> Option<PathBuf> {
    std::env::current_dir().and_then(|dir| dir.canonicalize()).ok()
}

/// The conversation that a name means: an id, the name under which it is stored, a beginning of either that only one
/// has, or `last`: the newest of this directory or of a worktree that stands for it, else of all.
pub(super) fn find(rows: Vec<Row>, name: &str, origins: &Origins) -> Result<Row, NotFound> {
    let none = || NotFound::None(name.to_owned());
    if name == LAST {
        let here = here();
        let is_here = |row: &Row| here.as_ref().is_some_and(|here| origins.are_alike(&row.known.cwd, here));
        // One that is open may be one in which nothing was said yet.
        let is_silent = |row: &Row| row.known.is_empty() && row.known.state == State::Open;
        let is_one = |row: &Row| !is_merge(row) && !is_silent(row);
        let newest = rows.iter().position(|row| is_here(row) && is_one(row));
        let newest = newest.or_else(|| rows.iter().position(is_one));
        let newest = newest.or_else(|| rows.iter().position(|row| !is_merge(row))).unwrap_or(0);
        return rows.into_iter().nth(newest).ok_or_else(none);
    }
    let stored = |row: &Row| !name.is_empty() && row.known.stem() == name;
    let is_known = rows.iter().any(|row| row.known.session_id == name);
    if !is_known && let Some(at) = rows.iter().position(stored) {
        return rows.into_iter().nth(at).ok_or_else(none);
    }
    let known = rows.iter().map(|row| row.known.clone()).collect();
    match sessions::choose(known, name, None) {
        Ok(chosen) => rows.into_iter().find(|row| row.known == chosen).ok_or_else(none),
        Err(NotFound::None(_)) => {
            let fits = |row: &&Row| !name.is_empty() && row.stem().starts_with(name);
            let stems: HashSet<&str> = rows.iter().filter(fits).map(Row::stem).collect();
            match stems.len() {
                0 => Err(none()),
                1 => rows.into_iter().find(|row| fits(&row)).ok_or_else(none),
                _ => {
                    let mut ids: Vec<String> = stems.into_iter().map(str::to_owned).collect();
                    ids.sort();
                    Err(NotFound::Several { name: name.to_owned(), ids })
                }
            }
        }
        Err(error) => Err(error),
    }
}

/// Whether every word of a query stands somewhere in what is known of it, in small or large letters.
pub(super) fn fits(known: &Known, query: &str) -> bool {
    let cwd = known.cwd.to_string_lossy();
    let texts = [&known.title, &known.first_prompt, &known.last_prompt, &known.branch];
    let named = [known.session_id.as_str(), &known.agent, &known.command, &cwd];
    let texts = texts.into_iter().flatten().map(String::as_str).chain(named);
    let text = texts.collect::<Vec<_>>().join("\n").to_lowercase();
    query.to_lowercase().split_whitespace().all(|word| text.contains(word))
}

/// Why a conversation cannot be forgotten now, if it is open or stands in a journal that is being written.
pub(super) fn held(journals: &[PathBuf], is_open: bool) -> Option<String> {
    let written = journals.iter().find(|journal| sessions::is_open(journal));
    let writer = written.and_then(|journal| claims::writer_of(journal));
    if writer.is_some_and(|holder| holder.is_me()) {
        return Some("it stands in the journal that this acp-tui writes; forget it once this one has ended".to_owned());
    }
    match written {
        _ if is_open => Some("open in another acp-tui; close it there first".to_owned()),
        Some(_) => {
            Some("another acp-tui writes the journal that it is in; forget it once that one has ended".to_owned())
        }
        None => None,
    }
}

/// Why a conversation cannot be forgotten before others: they are copies of it, which begin with its journals.
pub(super) fn copies_of(state: &Path, is_it: impl Fn(&Known) -> bool) -> Option<String> {
    let all = sessions::list(state).ok()?.sessions;
    copies_on(&all, all.iter().find(|known| is_it(known))?)
}

fn copies_on(others: &[Known], known: &Known) -> Option<String> {
    let copies: Vec<String> = others.iter().filter(|other| other.builds_on(known)).map(called).collect();
    let them = if copies.len() == 1 { "it" } else { "them" };
    let names = copies.join(" and ");
    (!copies.is_empty())
        .then(|| format!("forget {them} first: what {names} begins with is kept with it and would be lost"))
}

fn refused(row: &Row) -> Result<(), String> {
    let is_open =
        row.known.state == State::Open || !row.known.is_held && row.reviews.iter().any(|review| review.locked);
    held(&row.known.journals, is_open).map_or(Ok(()), Err)
}

/// Removes what is kept of a conversation, and of no other. First it is taken out of the journals that others are in,
/// which are written anew without it; then its changes go, which no process may have open, but for those that are kept
/// together with changes of others. What its agent tells of it is left out from now on.
pub(super) fn remove(state: &Path, row: &Row) -> Result<(), String> {
    refused(row)?;
    let asked = asked_in(state, &row.known);
    sessions::take_left_behind(state);
    let known = &row.known;
    let forgotten = sessions::hidden(state);
    let others = sessions::list(state).map_err(|error| error.to_string())?.sessions;
    copies_on(&others, known).map_or(Ok(()), Err)?;
    // In these nothing was said: they go with the run that they are of.
    let is_beside = |other: &&Known| other.is_empty() && other.journals.iter().all(|one| known.journals.contains(one));
    let empty: Vec<&Known> = others.iter().filter(is_beside).filter(|other| !other.journals.is_empty()).collect();
    let is_said = |id: &str| empty.iter().all(|other| other.session_id != id);
    let is_its_own = |review: &&Listed| !sharers(row, review, &forgotten).into_iter().any(is_said);
    let is_other = |other: &&Known| {
        !other.is_empty() && (&other.session_id, &other.journal) != (&known.session_id, &known.journal)
    };
    let shared: HashSet<&PathBuf> = others.iter().filter(is_other).flat_map(|other| &other.journals).collect();
    // What may not be possible comes first: then nothing has gone yet.
    let (in_part, whole): (Vec<_>, Vec<_>) = known.journals.iter().partition(|journal| shared.contains(journal));
    for (gone, journal) in in_part.iter().enumerate() {
        let of = |command| forgetting::take_out(state, journal, Whose { id: &known.session_id, command });
        let done = if sessions::was_imported(journal) {
            of(None)
        } else {
            known.commands().try_for_each(|command| of(Some(command)))
        };
        went(journal, done).map_err(|why| in_part_only(gone, why))?;
    }
    for review in row.reviews.iter().filter(is_its_own) {
        archive::remove(&review.dir).map_err(|error| in_part_only(in_part.len(), error.to_string()))?;
    }
    for (gone, journal) in whole.iter().enumerate() {
        went(journal, std::fs::remove_file(journal)).map_err(|why| in_part_only(in_part.len() + gone, why))?;
    }
    let beside = empty.into_iter().filter(|other| !other.journals.iter().any(|journal| shared.contains(journal)));
    hide(state, &beside.chain([known]).collect::<Vec<_>>())?;
    forget_prompts(state, |sent| !asked.contains(&*sent.text))
}

/// What was asked in a conversation, as far as its journals can be read.
pub(super) fn asked_in(state: &Path, known: &Known) -> HashSet<String> {
    let (journals, id) = (sessions::journals(state), SessionId::from(known.session_id.as_str()));
    let read = recalling::recall(&journals, &id, &known.command, recalling::Bounds::default());
    let entries = read.map(|(past, _)| past.entries).unwrap_or_default().into_iter();
    let asked = entries.filter_map(|entry| if let Body::User(said) = entry.body { Some(said.text) } else { None });
    let known = [&known.first_prompt, &known.last_prompt].into_iter().flatten().cloned();
    asked.chain(known).map(|text| account::own_words(&text).to_owned()).collect()
}

/// Forgets prompts of which the composer brings back the earlier ones.
pub(super) fn forget_prompts(state: &Path, stays: impl Fn(&Sent) -> bool) -> Result<(), String> {
    let forgot = Prompts::new(drafts::dir(state)).retain(stays);
    forgot.map_err(|error| format!("the prompts that it had cannot be forgotten: {error}"))
}

/// Removes all that is kept of a conversation but what its agent tells, and what else is in its journals and reviews. Of
/// a run with several conversations the reviews went with the first of them.
pub(super) fn remove_with_others(row: &Row) -> Result<(), String> {
    refused(row)?;
    for review in row.reviews.iter().filter(|review| review.dir.exists()) {
        archive::remove(&review.dir).map_err(|error| error.to_string())?;
    }
    for journal in &row.known.journals {
        went(journal, std::fs::remove_file(journal))?;
    }
    Ok(())
}

/// A session by its id and its name.
fn called(known: &Known) -> String {
    let name = known.name().map(|name| format!(" (“{}”)", sanitize::line(name))).unwrap_or_default();
    format!("the copy {}{name}", archive::shown_id(&known.session_id))
}

/// Why not all has gone, and what has.
fn in_part_only(gone: usize, why: String) -> String {
    match gone {
        0 => why,
        _ => format!("{why}; what {} had of it has gone", human::count(gone as u64, "other journal")),
    }
}

fn went(journal: &Path, done: io::Result<()>) -> Result<(), String> {
    match done {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(format!("{}: {error}", paths::visible(journal.as_os_str())))
        }
        _ => Ok(()),
    }
}

/// Leaves out from now on what agents tell of these, and forgets what was written in them and not sent.
pub(super) fn hide(state: &Path, all: &[&Known]) -> Result<(), String> {
    let ours: Vec<&Known> = all.iter().filter(|known| !known.is_imported).copied().collect();
    let mut named = ours.iter().flat_map(|known| known.commands().map(|command| (command, &known.session_id)));
    named.try_for_each(|(command, id)| drafts::forget(state, command, id)).map_err(|error| error.to_string())?;
    sessions::hide(state, &ours).map_err(|error| error.to_string())
}

/// The other conversations, not forgotten ones, whose changes are kept together with its own.
fn sharers<'a>(row: &Row, review: &'a Listed, forgotten: &Forgotten) -> Vec<&'a str> {
    let command = review.head.as_ref().map_or("", |head| &head.command);
    let is_there = |session: &&AgentSession| {
        session.counts()
            && session.id != row.known.session_id
            && !forgotten.contains(command, &session.agent, &session.id)
    };
    review.sessions.iter().filter(is_there).map(|session| session.id.as_str()).collect()
}

/// The other conversations with which it has its kept changes in common.
pub(super) fn beside<'a>(state: &Path, row: &'a Row) -> Vec<&'a str> {
    let forgotten = sessions::hidden(state);
    let mut ids: Vec<&str> = row.reviews.iter().flat_map(|review| sharers(row, review, &forgotten)).collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

#[cfg(test)]
#[path = "conversations_tests.rs"]
mod tests;
