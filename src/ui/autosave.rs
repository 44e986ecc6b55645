//! What is written and not sent is kept, and what was sent is remembered: a worker does it, the loop of the screen only
//! says what has changed.
//!
//! Where it is stored is the store's. Invariants: there is no thread before the first job, and it sleeps while
//! nothing changes; of each draft only the newest waits to be written; nothing is written of a session before what was
//! kept of it has been read, and nothing at its place as long as another window has it; [`Autosave::next`] never ends while nothing is on its way.

use super::state::App;
use crate::model::Model;
use crate::model::account;
use crate::model::draft::{Draft, Place, Sent};
use crate::model::event::Before;
use crate::model::ids::{SessionKey, TermId};
use crate::model::session::ReadOnly;
use crate::model::session::shell::quoted;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::mem::take;
use std::sync::{Arc, Condvar, Mutex, PoisonError, mpsc as std_mpsc};
use std::time::Duration;
use tokio::sync::mpsc;

/// How long words are gathered before they are written.
const GATHER: Duration = Duration::from_millis(250);
/// What could not be written is tried again after this time: a full disk has room again.
const AGAIN: Duration = Duration::from_secs(2);
/// How long the last of it may take on its way to the disk.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// What the worker has found and the loop has not heard of yet.
const FOUND: usize = 64;

/// Where it is kept. Each may take its time.
pub trait DraftStore: Send + Sync {
    /// An empty draft is none.
    fn keep(&self, place: &Place, draft: &Draft) -> Result<(), String>;

    /// What was kept, which is this window's from now on.
    fn fetch(&self, place: &Place) -> Result<Option<Draft>, String>;

    fn remember(&self, sent: &Sent) -> Result<(), String>;

    /// The newest first, each once.
    fn prompts(&self) -> Result<Vec<Sent>, String>;
}

/// What the worker has found.
#[derive(Debug)]
pub enum Brought {
    Draft(SessionKey, Option<Draft>),
    Prompts(Arc<[Sent]>),
    Failed(String),
}

#[derive(Default)]
struct Jobs {
    /// What is kept at these places, each below the one before.
    fetch: VecDeque<(SessionKey, Vec<Place>)>,
    drafts: BTreeMap<Place, Draft>,
    sent: Vec<Sent>,
    wants_prompts: bool,
    is_over: bool,
}

impl Jobs {
    /// A caller waits for it, or it must not be lost. What was sent or cleared is a draft no more, and after a kill it would
    /// be one again.
    fn is_urgent(&self) -> bool {
        let is_gone = |jobs: &Self| jobs.drafts.values().any(Draft::is_empty);
        self.is_over || self.wants_prompts || !self.fetch.is_empty() || !self.sent.is_empty() || is_gone(self)
    }
}

#[derive(Default)]
struct Shared {
    jobs: Mutex<Jobs>,
    changed: Condvar,
}

impl Shared {
    fn change(&self, f: impl FnOnce(&mut Jobs)) {
        f(&mut self.jobs.lock().unwrap_or_else(PoisonError::into_inner));
        self.changed.notify_one();
    }

    /// What could not be written is to be done again, unless there is something newer, after a while or at the end.
    fn do_again(&self, left: Jobs) {
        let mut jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        for (place, draft) in left.drafts {
            jobs.drafts.entry(place).or_insert(draft);
        }
        jobs.sent.splice(0..0, left.sent);
        drop(self.changed.wait_timeout_while(jobs, AGAIN, |jobs| !jobs.is_over));
    }

    /// Waits for something to do.
    fn wait(&self) -> Jobs {
        let jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        let is_idle = |jobs: &mut Jobs| !jobs.is_urgent() && jobs.drafts.is_empty();
        let jobs = self.changed.wait_while(jobs, is_idle).unwrap_or_else(PoisonError::into_inner);
        let waited = self.changed.wait_timeout_while(jobs, GATHER, |jobs| !jobs.is_urgent());
        let (mut jobs, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let is_over = jobs.is_over;
        Jobs { is_over, ..take(&mut jobs) }
    }
}

struct Worker {
    shared: Arc<Shared>,
    found: mpsc::Receiver<Brought>,
    /// Comes to its end with the thread.
    at_work: std_mpsc::Receiver<()>,
}

impl Worker {
    fn start(drafts: Arc<dyn DraftStore>) -> Self {
        let shared: Arc<Shared> = Arc::default();
        let (tell, found) = mpsc::channel(FOUND);
        let (ends_with_thread, at_work) = std_mpsc::sync_channel(0);
        let jobs = Arc::clone(&shared);
        let work = move || {
            let _at_work = ends_with_thread;
            loop {
                let now = jobs.wait();
                let is_over = now.is_over;
                let (all, left) = done(&*drafts, now);
                for brought in all {
                    // At the end the receiver is gone.
                    let _ = if is_over { tell.try_send(brought).is_ok() } else { tell.blocking_send(brought).is_ok() };
                }
                if is_over {
                    return;
                }
                if !left.drafts.is_empty() || !left.sent.is_empty() {
                    jobs.do_again(left);
                }
            }
        };
        // Without a thread the channel is closed, which is told.
        drop(std::thread::Builder::new().name("drafts".into()).spawn(work));
        Self { shared, found, at_work }
    }
}

/// What comes of them, and those that could not be written.
fn done(drafts: &dyn DraftStore, jobs: Jobs) -> (Vec<Brought>, Jobs) {
    let mut brought = Vec::new();
    let mut failure = None;
    let mut left = Jobs::default();
    for sent in jobs.sent {
        if let Err(why) = drafts.remember(&sent) {
            failure = Some(why);
            left.sent.push(sent);
        }
    }
    // First what is new: what has moved is nowhere missing.
    let (gone, written): (Vec<_>, Vec<_>) = jobs.drafts.into_iter().partition(|(_, draft)| draft.is_empty());
    for (place, draft) in written.into_iter().chain(gone) {
        // What could not be written where it is now stays where it was.
        let is_moving = draft.is_empty() && !left.drafts.is_empty();
        let kept = if is_moving { Err(None) } else { drafts.keep(&place, &draft).map_err(Some) };
        if let Err(why) = kept {
            failure = why.or(failure);
            left.drafts.insert(place, draft);
        }
    }
    for (key, places) in jobs.fetch {
        let mut found: Option<Draft> = None;
        for place in places {
            match drafts.fetch(&place) {
                Ok(draft) => found = found.into_iter().chain(draft).reduce(Draft::above),
                Err(why) => failure = Some(why),
            }
        }
        brought.push(Brought::Draft(key, found));
    }
    if jobs.wants_prompts {
        match drafts.prompts() {
            Ok(all) => brought.push(Brought::Prompts(all.into())),
            Err(why) => failure = Some(why),
        }
    }
    brought.extend(failure.map(Brought::Failed));
    (brought, left)
}

/// What is kept of a session.
struct SessionDraft {
    place: Place,
    draft: Draft,
    /// The commands whose output is kept with it.
    ran: Vec<TermId>,
    /// What was kept before has been read.
    is_read: bool,
    /// Where this window has kept it while another one had the session. It gives way once it is kept at its place.
    from: Option<Place>,
}

pub struct Autosave {
    drafts: Option<Arc<dyn DraftStore>>,
    worker: Option<Worker>,
    kept: BTreeMap<SessionKey, SessionDraft>,
    /// Where this window has kept what was written in sessions that other windows have.
    beside: BTreeSet<Place>,
    has_failed: bool,
}

impl Autosave {
    /// Without a place nothing is kept.
    pub fn new(drafts: Option<Arc<dyn DraftStore>>) -> Self {
        Self { drafts, worker: None, kept: BTreeMap::new(), beside: BTreeSet::new(), has_failed: false }
    }

    fn tell(&mut self, f: impl FnOnce(&mut Jobs)) {
        let Some(drafts) = &self.drafts else { return };
        self.worker.get_or_insert_with(|| Worker::start(Arc::clone(drafts))).shared.change(f);
    }

    pub fn read_prompts(&mut self) {
        self.tell(|jobs| jobs.wants_prompts = true);
    }

    /// A prompt was sent.
    pub fn remember(&mut self, sent: Sent) {
        self.tell(|jobs| jobs.sent.push(sent));
    }

    /// Looks what has changed in the drafts of all sessions. To be called after each input and event. True
    /// when there is a session that was not there before.
    pub fn look(&mut self, model: &Model, app: &App) -> bool {
        let mut has_grown = false;
        if self.drafts.is_none() {
            return has_grown;
        }
        let gone = self.kept.extract_if(.., |key, _| !app.has_view(*key));
        let closed: Vec<Place> = gone.map(|(_, kept)| kept.place).collect();
        for (key, view) in app.views() {
            let Some(session) = model.at(key) else { continue };
            let is_elsewhere = matches!(session.read_only(), Some(ReadOnly::Elsewhere(_)));
            if session.is_to_be_shown() && !is_elsewhere {
                continue;
            }
            let Some(kept) = self.kept.get_mut(&key) else {
                has_grown = true;
                self.begin(key, Place::of(session, None), &closed, !view.composer.prompt().is_empty());
                continue;
            };
            if !kept.is_read {
                continue;
            }
            let place = Place::of(session, Some(&kept.place));
            let follows = session.follows.clone().filter(|_| matches!(place, Place::Directory { .. }));
            let own = |text| own(&place, follows.as_ref(), text);
            let text = own(view.composer.prompt());
            let aside = view.stash.iter().map(|text| own(text)).filter(|text| !text.is_empty());
            let held = session.held.iter().map(|prompt| own(&prompt.text)).filter(|text| !text.is_empty());
            let command = view.composer.command();
            let is_same = kept.draft.text == text && kept.draft.command == command;
            let is_same =
                is_same && kept.draft.held.iter().eq(held.clone()) && kept.draft.aside.iter().eq(aside.clone());
            let is_same = is_same && kept.ran.iter().eq(session.ended_shell().map(|term| &term.id));
            let is_same = is_same && kept.draft.questions.iter().eq(app.asides.unsent_beside(key));
            // What is of a directory is of no session.
            let mode = view.mode_back.as_ref().filter(|_| matches!(place, Place::Session { .. }));
            let mode = mode.map(|back| &*back.id).unwrap_or_default();
            let is_same = is_same && kept.draft.mode == mode;
            if place == kept.place && is_same && kept.from.is_none() {
                continue;
            }
            let from = kept.from.take();
            let (held, aside) = (held.map(str::to_owned).collect(), aside.map(str::to_owned).collect());
            kept.ran = session.ended_shell().map(|term| term.id.clone()).collect();
            let ran = session.ended_shell().map(quoted).collect();
            let questions = app.asides.unsent_beside(key).map(str::to_owned).collect();
            let (text, command, mode) = (text.to_owned(), command.to_owned(), mode.to_owned());
            kept.draft = Draft { text, held, aside, command, ran, questions, mode, follows };
            let (draft, before) = (kept.draft.clone(), std::mem::replace(&mut kept.place, place.clone()));
            self.tell(|jobs| {
                let has_moved = before != place;
                jobs.drafts.extend(from.into_iter().chain([before]).map(|place| (place, Draft::default())));
                // What may be kept elsewhere gives way to words only.
                if !has_moved || !draft.is_empty() {
                    jobs.drafts.insert(place, draft);
                }
            });
        }
        has_grown
    }

    /// A session that was not there before; `closed` is where drafts of those were that have just been closed.
    fn begin(&mut self, key: SessionKey, place: Place, closed: &[Place], has_words: bool) {
        // A session that begins with words of its own takes none that were left in its directory.
        let is_read = matches!(place, Place::Directory { .. }) && has_words || closed.contains(&place);
        if matches!(place, Place::Beside { .. }) {
            self.beside.insert(place.clone());
        }
        let from = place.beside().filter(|beside| self.beside.remove(beside));
        // What was on the screen until now has been put into the session by who has closed that.
        let left = from.clone().filter(|from| !closed.contains(from));
        let places = std::iter::once(place.clone()).chain(left).collect();
        let (draft, ran) = (Draft::default(), Vec::new());
        self.kept.insert(key, SessionDraft { place, draft, ran, is_read, from });
        if !is_read {
            self.tell(|jobs| jobs.fetch.push_back((key, places)));
        }
    }

    /// What was kept of a session has been read: what is to be put into its composer, and which prompts wait again. Of a
    /// session in which nothing was said those are text as well, and so they are where none can be sent. What commands have
    /// printed is text below it: their terminals are gone. What was to be asked beside it is written as it was.
    pub fn fetched(&mut self, key: SessionKey, draft: Option<Draft>, can_wait: bool) -> Option<Draft> {
        let kept = self.kept.get_mut(&key)?;
        kept.is_read = true;
        kept.draft = draft?;
        let mut draft = kept.draft.clone();
        if !can_wait || matches!(kept.place, Place::Directory { .. }) {
            let (command, aside) = (std::mem::take(&mut draft.command), std::mem::take(&mut draft.aside));
            let (ran, follows) = (std::mem::take(&mut draft.ran), draft.follows.take());
            let questions = std::mem::take(&mut draft.questions);
            // An earlier version has left accounts there.
            let text = own(&kept.place, follows.as_ref(), &draft.joined()).to_owned();
            draft = Draft { text, aside, command, ran, questions, follows, ..Draft::default() };
        }
        for quoted in std::mem::take(&mut draft.ran) {
            let blank = if draft.text.is_empty() { "" } else { "\n\n" };
            draft.text = format!("{}{blank}{}", draft.text.trim_end(), quoted.trim_start());
        }
        // One is there to be sent, the others and what was to be sent stand where one key brings them.
        let mut questions = std::mem::take(&mut draft.questions).into_iter().map(|question| format!("/btw {question}"));
        if draft.text.is_empty() && draft.command.is_empty() && draft.held.is_empty() {
            draft.text = questions.next().unwrap_or_default();
        }
        draft.aside.extend(questions);
        Some(draft).filter(|draft| !draft.is_empty())
    }

    /// What the worker has found. May be dropped and called again.
    pub async fn next(&mut self) -> Brought {
        let Some(worker) = &mut self.worker else { return std::future::pending().await };
        loop {
            match worker.found.recv().await {
                Some(Brought::Failed(_)) if self.has_failed => {}
                Some(brought) => {
                    self.has_failed |= matches!(brought, Brought::Failed(_));
                    return brought;
                }
                None if self.has_failed => return std::future::pending().await,
                None => {
                    self.has_failed = true;
                    return Brought::Failed("there is no thread for it".to_owned());
                }
            }
        }
    }

    /// Writes what is left and ends, within a moment.
    pub fn close(self) {
        if let Some(Worker { shared, found, at_work }) = self.worker {
            drop(found);
            shared.change(|jobs| jobs.is_over = true);
            // It says nothing; it ends.
            let _ = at_work.recv_timeout(LAST_WORDS);
        }
    }
}

/// What is kept there of a text: the account of one conversation is nothing to others of the directory, but for one that
/// will continue it.
fn own<'a>(place: &Place, follows: Option<&Before>, text: &'a str) -> &'a str {
    if matches!(place, Place::Directory { .. }) && follows.is_none() { account::own_words(text) } else { text }
}

#[cfg(test)]
#[path = "autosave_tests.rs"]
mod tests;
