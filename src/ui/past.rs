//! The worker that reads earlier sessions, looks through them, names, exports and forgets one and remembers what agents
//! tell of theirs, and what it has found, for the loop of the screen.
//!
//! Where they are stored is the archive's. Invariants: there is no thread before the first job, and none after the
//! last; jobs are done one after the other; [`Reader::next`] never ends while nothing is on its way.

use super::state::session_list::{Hit, PastSession, Query, Said, Which, tell_apart};
use super::state::standing::Standing;
use super::state::trees::{Fate, Made, Making, Tree, Trees};
use crate::model::agent::Told;
use crate::model::ids::SessionKey;
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use tokio::sync::mpsc;

/// Where earlier sessions are kept. Everything but `busy` may take its time.
pub trait Archive: Send + Sync {
    /// The newest first.
    fn list(&self) -> Result<Vec<PastSession>, String>;

    /// How many journals could not be read when it was listed last.
    fn unread(&self) -> usize {
        0
    }

    /// Claims it before its agent is asked for it. Gives the place where it is open instead, as part of a sentence.
    fn claim(&self, past: &PastSession) -> Result<Option<Lease>, String>;

    /// Why it cannot even be shown at this moment.
    fn busy(&self, past: &PastSession) -> Option<String>;

    /// Why it cannot be forgotten at this moment, before its agent is asked to delete it.
    fn held(&self, _past: &PastSession) -> Option<String> {
        None
    }

    fn forget(&self, past: &PastSession) -> Result<(), String>;

    /// Its messages that were said last, the newest last.
    fn end_of(&self, past: &PastSession) -> Result<Vec<Said>, String>;

    /// The newest first, and whether there are more.
    fn find(&self, query: &Query) -> Result<(Vec<Hit>, bool), String>;

    /// Calls a session like this from now on; without a name as its agent does.
    fn rename(&self, which: &Which, name: Option<&str>) -> Result<(), String>;

    /// Writes a transcript into the session's directory. Gives where it is, for the person.
    fn export(&self, which: &Which) -> Result<String, String>;

    /// The worktrees that were made for sessions.
    fn trees(&self) -> Trees;

    /// Makes worktrees; all or, where one cannot be made, those before it, which are said.
    fn make(&self, making: &Making) -> Result<Vec<Made>, String>;

    /// What came of it, for the person.
    fn decide(&self, tree: &Tree, fate: &Fate) -> Result<String, String>;

    /// Remembers what an agent has told of its sessions.
    fn learn(&self, told: &Told) -> Result<(), String>;

    /// What the repository around a directory says of it, if there is one and it has a branch.
    fn standing(&self, _dir: &Path) -> Option<Standing> {
        None
    }

    /// What sessions of all programs have cost today, where there is a budget for a day.
    fn spent(&self) -> Option<f64> {
        None
    }
}

/// Says that a session is ours, until it is dropped.
pub type Lease = Box<dyn Send>;

enum Job {
    List,
    Held(Box<PastSession>),
    Forget(Box<PastSession>),
    Learn(Box<Told>),
    End(Box<PastSession>),
    Find(Query),
    Rename(Which, Option<String>),
    Export(Which),
    Make(Box<Making>),
    Decide(Box<Tree>, Fate),
    WaitFor(Receiver<Result<String, String>>),
    Spent,
    Stand(SessionKey, PathBuf),
}

/// What came of a job.
#[derive(Debug)]
pub enum Found {
    /// With the worktrees, and how many journals could not be read.
    List(Result<Arc<[PastSession]>, String>, Arc<Trees>, usize),
    /// Whether something keeps it from being forgotten, and what.
    Held(Box<PastSession>, Option<String>),
    Forgotten(Box<PastSession>, Result<(), String>),
    Learnt(Result<(), String>),
    End(Which, Result<Arc<[Said]>, String>),
    Hits(Query, Result<(Arc<[Hit]>, bool), String>),
    Renamed(Which, Option<String>, Result<(), String>),
    Exported(Result<String, String>),
    Made(Box<Making>, Result<Vec<Made>, String>),
    Decided(Result<String, String>),
    Spent(Option<f64>),
    Standing(SessionKey, Option<Standing>),
}

pub struct Reader {
    archive: Option<Arc<dyn Archive>>,
    jobs: VecDeque<Job>,
    on_its_way: Option<mpsc::Receiver<Found>>,
}

impl Reader {
    pub fn new(archive: Option<Arc<dyn Archive>>) -> Self {
        Self { archive, jobs: VecDeque::new(), on_its_way: None }
    }

    pub fn archive(&self) -> Option<&Arc<dyn Archive>> {
        self.archive.as_ref()
    }

    /// False when there is nothing to read from. What waits to be read already is read once.
    pub fn list(&mut self) -> bool {
        if !matches!(self.jobs.back(), Some(Job::List)) {
            self.jobs.push_back(Job::List);
        }
        self.start()
    }

    /// Before its agent is asked to delete it.
    pub fn held(&mut self, past: PastSession) {
        self.jobs.push_back(Job::Held(Box::new(past)));
        self.start();
    }

    pub fn forget(&mut self, past: PastSession) {
        self.jobs.push_back(Job::Forget(Box::new(past)));
        self.start();
    }

    /// What was told of the same before and waits to be remembered is not needed any more. Listed anew afterwards.
    pub fn learn(&mut self, told: Told) {
        self.jobs.retain(|job| !matches!(job, Job::Learn(t) if (&t.command, &t.cwd) == (&told.command, &told.cwd)));
        self.jobs.push_back(Job::Learn(Box::new(told)));
        self.list();
    }

    /// Only the one that is wanted last is read.
    pub fn end_of(&mut self, past: PastSession) {
        self.jobs.retain(|job| !matches!(job, Job::End(_)));
        self.jobs.push_back(Job::End(Box::new(past)));
        self.start();
    }

    /// Only what is wanted last is looked for.
    pub fn find(&mut self, query: Query) {
        self.jobs.retain(|job| !matches!(job, Job::Find(_)));
        self.jobs.push_back(Job::Find(query));
        self.start();
    }

    pub fn rename(&mut self, which: Which, name: Option<String>) {
        self.jobs.push_back(Job::Rename(which, name));
        self.start();
    }

    pub fn export(&mut self, which: Which) {
        self.jobs.push_back(Job::Export(which));
        self.start();
    }

    pub fn make(&mut self, making: Making) -> bool {
        self.jobs.push_back(Job::Make(Box::new(making)));
        self.start()
    }

    /// What becomes of a worktree; listed anew afterwards.
    pub fn decide(&mut self, tree: Tree, fate: Fate) {
        self.jobs.push_back(Job::Decide(Box::new(tree), fate));
        self.list();
    }

    /// What waits to be read already is read once.
    pub fn spent(&mut self) {
        if !matches!(self.jobs.back(), Some(Job::Spent)) {
            self.jobs.push_back(Job::Spent);
        }
        self.start();
    }

    /// What is told of the directory of a session that begins.
    pub fn stand(&mut self, at: SessionKey, dir: PathBuf) {
        self.jobs.push_back(Job::Stand(at, dir));
        self.start();
    }

    /// Waits for what becomes of a worktree elsewhere; listed anew afterwards.
    pub fn wait_for(&mut self, decided: Receiver<Result<String, String>>) {
        self.jobs.push_back(Job::WaitFor(decided));
        self.list();
    }

    fn start(&mut self) -> bool {
        let Some(archive) = &self.archive else {
            self.jobs.clear();
            return false;
        };
        if self.on_its_way.is_none()
            && let Some(job) = self.jobs.pop_front()
        {
            let (archive, (found, told)) = (Arc::clone(archive), mpsc::channel(1));
            self.on_its_way = Some(told);
            let work = move || drop(found.blocking_send(done(&*archive, job)));
            // Without a thread the channel is closed, which is told as a failure.
            drop(std::thread::Builder::new().name("sessions".into()).spawn(work));
        }
        true
    }

    /// What the oldest job has found. May be dropped and called again.
    pub async fn next(&mut self) -> Found {
        let Some(told) = &mut self.on_its_way else { return std::future::pending().await };
        let found = told
            .recv()
            .await
            .unwrap_or_else(|| Found::List(Err("there is no thread to read them".to_owned()), Arc::default(), 0));
        self.on_its_way = None;
        self.start();
        found
    }
}

fn done(archive: &dyn Archive, job: Job) -> Found {
    match job {
        Job::List => {
            let mut all = archive.list();
            if let Ok(all) = &mut all {
                tell_apart(all);
            }
            Found::List(all.map(Into::into), Arc::new(archive.trees()), archive.unread())
        }
        Job::End(past) => {
            let end = archive.end_of(&past).map(Into::into);
            Found::End(past.which(), end)
        }
        Job::Find(query) => {
            let hits = archive.find(&query).map(|(hits, more)| (hits.into(), more));
            Found::Hits(query, hits)
        }
        Job::Rename(which, name) => {
            let done = archive.rename(&which, name.as_deref());
            Found::Renamed(which, name, done)
        }
        Job::Make(making) => {
            let made = archive.make(&making);
            Found::Made(making, made)
        }
        Job::Decide(tree, fate) => Found::Decided(archive.decide(&tree, &fate)),
        Job::WaitFor(decided) => {
            Found::Decided(decided.recv().unwrap_or_else(|_| Err("the review has stopped".to_owned())))
        }
        Job::Spent => Found::Spent(archive.spent()),
        Job::Stand(at, dir) => Found::Standing(at, archive.standing(&dir)),
        Job::Export(which) => Found::Exported(archive.export(&which)),
        Job::Learn(told) => Found::Learnt(archive.learn(&told)),
        Job::Held(past) => {
            let why = archive.held(&past);
            Found::Held(past, why)
        }
        Job::Forget(past) => {
            let done = archive.forget(&past);
            Found::Forgotten(past, done)
        }
    }
}
