//! How much of what agents say is under way to the thread of the review, in bytes.
//!
//! Invariant: what a job counts for is counted until it is dropped, wherever it is.

use super::{Asked, Job};
use crate::model::ids::SessionKey;
use crate::review::protocol::{ClaimedEdit, ToolNote};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes of texts and paths of all jobs that wait. What goes beyond that loses its texts, and news of a call whose paths
/// alone do are left out. What is larger itself goes when it is alone.
pub(super) const MAX_WAITING: usize = 16 << 20;

/// What all jobs of a review count for.
#[derive(Debug, Default)]
pub(in crate::engine) struct Waiting {
    news: AtomicUsize,
    /// Of what is written, which is never left out: agents are held back for it.
    writes: AtomicUsize,
}

impl Waiting {
    pub fn news(&self) -> usize {
        self.news.load(Ordering::Acquire)
    }

    pub fn writes(&self) -> usize {
        self.writes.load(Ordering::Acquire)
    }
}

/// What a job counts for.
#[derive(Debug, Default)]
pub(in crate::engine) struct Load {
    news: usize,
    writes: usize,
    all: Arc<Waiting>,
}

impl Load {
    pub fn of(job: &Job, all: &Arc<Waiting>) -> Self {
        let (news, writes) = (size(job), written(job));
        all.news.fetch_add(news, Ordering::AcqRel);
        all.writes.fetch_add(writes, Ordering::AcqRel);
        Self { news, writes, all: Arc::clone(all) }
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.all.news.fetch_sub(self.news, Ordering::AcqRel);
        self.all.writes.fetch_sub(self.writes, Ordering::AcqRel);
    }
}

impl Asked {
    pub fn new(at: SessionKey, job: Job, all: &Arc<Waiting>) -> Self {
        Self { at, load: Load::of(&job, all), job }
    }

    #[cfg(test)]
    pub fn of(at: SessionKey, job: Job) -> Self {
        Self { at, job, load: Load::default() }
    }
}

/// Takes from a job what there is no room for: its texts, and what another review has told, also its paths. Whether there is
/// room for the rest of news.
pub(super) fn fit(job: &mut Job, waiting: usize) -> bool {
    let fits = |job: &Job| waiting == 0 || waiting + size(job) <= MAX_WAITING;
    if !fits(job) {
        drop_texts(job);
    }
    if let Job::Beside { job, .. } = job
        && !fits(job)
        && let Job::Note(note) = &mut **job
    {
        note.paths.clear();
    }
    !matches!(job, Job::Note(_)) || fits(job)
}

/// What is claimed is compared with nothing then.
pub(super) fn drop_texts(job: &mut Job) {
    match job {
        Job::Note(note) => note.claims.clear(),
        Job::Places { claims, .. } => claims.clear(),
        Job::Preview { claims, is_too_much, .. } => {
            *is_too_much = true;
            for claim in claims {
                (claim.old, claim.new) = (None, "".into());
            }
        }
        Job::Beside { job, .. } | Job::After { job, .. } => drop_texts(job),
        _ => {}
    }
}

fn size(job: &Job) -> usize {
    let path = |path: &Path| size_of::<PathBuf>() + path.as_os_str().len();
    let claim = |c: &ClaimedEdit| path(&c.path) + c.old.as_ref().map_or(0, |old| old.len()) + c.new.len();
    let claims = |claims: &[ClaimedEdit]| claims.iter().map(claim).sum::<usize>();
    match job {
        Job::Note(ToolNote { paths, claims: of, .. }) => claims(of) + paths.iter().map(|p| path(p)).sum::<usize>(),
        Job::Preview { claims: of, .. } | Job::Places { claims: of, .. } => claims(of),
        Job::Beside { job, .. } | Job::After { job, .. } => size(job),
        _ => 0,
    }
}

/// What is written, of a write that the review is to look at.
fn written(job: &Job) -> usize {
    match job {
        Job::BeforeWrite { content, .. } | Job::NotWritten { content, .. } | Job::Wrote { content, .. } => {
            content.len()
        }
        Job::Beside { job, .. } | Job::After { job, .. } => written(job),
        _ => 0,
    }
}
