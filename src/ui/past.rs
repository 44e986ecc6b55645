//! The worker that reads earlier sessions and forgets them, and what it has found, for the loop of the screen.
//!
//! Where they are kept, somebody else knows. Invariants: there is no thread before the first job, and none after the
//! last; jobs are done one after the other; [`Reader::next`] never ends while nothing is on its way.

use super::state::session_list::Earlier;
use std::collections::VecDeque;
use std::sync::Arc;
use tokio::sync::mpsc;

/// Where earlier sessions are kept. Everything but `busy` may take its time.
pub trait Archive: Send + Sync {
    /// The newest first.
    fn list(&self) -> Result<Vec<Earlier>, String>;

    /// Claims it before its agent is asked for it. Gives the place where it is open instead, as part of a sentence.
    fn claim(&self, earlier: &Earlier) -> Result<Option<Held>, String>;

    /// Why it cannot even be shown at this moment.
    fn busy(&self, earlier: &Earlier) -> Option<String>;

    fn forget(&self, earlier: &Earlier) -> Result<(), String>;
}

/// Says that a session is ours, until it is dropped.
pub type Held = Box<dyn Send>;

enum Job {
    List,
    Forget(Box<Earlier>),
}

/// What came of a job.
#[derive(Debug)]
pub enum Found {
    List(Result<Arc<[Earlier]>, String>),
    Forgotten(Box<Earlier>, Result<(), String>),
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

    pub fn forget(&mut self, earlier: Earlier) {
        self.jobs.push_back(Job::Forget(Box::new(earlier)));
        self.start();
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
        let found = told.recv().await.unwrap_or_else(|| Found::List(Err("there is no thread to read them".to_owned())));
        self.on_its_way = None;
        self.start();
        found
    }
}

fn done(archive: &dyn Archive, job: Job) -> Found {
    match job {
        Job::List => Found::List(archive.list().map(Into::into)),
        Job::Forget(earlier) => {
            let done = archive.forget(&earlier);
            Found::Forgotten(earlier, done)
        }
    }
}
