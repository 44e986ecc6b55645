//! The worker that finds files of a directory by pieces of their names.
//!
//! Opens no file and follows no link; what git ignores is left out. Invariants: there is no thread before the first
//! question; only the newest question is answered; what is kept of a tree is bounded in names, in bytes and in time.

use crate::text::fuzzy;
use ignore::{WalkBuilder, WalkState};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// The most names that are kept of a tree, and their bytes.
const MAX_NAMES: usize = 1_000_000;
const MAX_BYTES: usize = 64 << 20;
/// How long a tree is walked at most, and how long what was found counts as new.
const WALK: Duration = Duration::from_secs(5);
const FRESH: Duration = Duration::from_secs(10);
const THREADS: usize = 4;
/// The most that is found.
const ROWS: usize = 50;

/// What is looked for, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Question {
    pub dir: PathBuf,
    pub text: String,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Answer {
    pub text: String,
    /// Below the directory, the best first; a directory ends in `/`.
    pub paths: Vec<(String, u64)>,
}

/// What the loop of the screen holds.
#[derive(Default)]
pub struct Finder {
    worker: Option<(Arc<Shared>, mpsc::Receiver<Answer>)>,
    asked: Option<Question>,
}

#[derive(Default)]
struct Shared {
    next: Mutex<Next>,
    changed: Condvar,
}

#[derive(Default)]
struct Next {
    question: Option<Question>,
    is_over: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Next> {
        self.next.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait(&self) -> Option<Question> {
        let mut next = self.lock();
        loop {
            if next.is_over {
                return None;
            }
            if let Some(question) = next.question.take() {
                return Some(question);
            }
            next = self.changed.wait(next).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Finder {
    /// Asks, unless that is what was asked last.
    pub fn ask(&mut self, question: Question) {
        if self.asked.as_ref() == Some(&question) {
            return;
        }
        if self.worker.is_none() {
            self.worker = start().ok();
        }
        if let Some((shared, _)) = &self.worker {
            shared.lock().question = Some(question.clone());
            shared.changed.notify_one();
        }
        self.asked = Some(question);
    }

    /// Nothing is looked for any more: the next question is a new one.
    pub fn rest(&mut self) {
        self.asked = None;
    }

    /// What was found last. May be dropped and called again.
    pub async fn next(&mut self) -> Answer {
        let found = match &mut self.worker {
            Some((_, results)) => results.recv().await,
            None => None,
        };
        match found {
            Some(found) => found,
            None => std::future::pending().await,
        }
    }
}

impl Drop for Finder {
    fn drop(&mut self) {
        if let Some((shared, _)) = &self.worker {
            shared.lock().is_over = true;
            shared.changed.notify_one();
        }
    }
}

fn start() -> io::Result<(Arc<Shared>, mpsc::Receiver<Answer>)> {
    let shared = Arc::new(Shared::default());
    let (found, results) = mpsc::channel(1);
    let theirs = Arc::clone(&shared);
    thread::Builder::new().name("files".to_owned()).spawn(move || {
        let mut tree: Option<(PathBuf, Instant, Vec<String>)> = None;
        while let Some(Question { dir, text }) = theirs.wait() {
            let known = tree.take().filter(|(of, since, _)| *of == dir && since.elapsed() < FRESH);
            let (of, since, names) = known.unwrap_or_else(|| (dir.clone(), Instant::now(), walk(&dir)));
            let answer = Answer { paths: best(&dir, &text, &names), text };
            tree = Some((of, since, names));
            if found.blocking_send(answer).is_err() {
                return;
            }
        }
    })?;
    Ok((shared, results))
}

/// The best names, with the sizes of files.
fn best(dir: &Path, text: &str, names: &[String]) -> Vec<(String, u64)> {
    let refs: Vec<&str> = names.iter().map(String::as_str).collect();
    let found = fuzzy::rank(text, &refs).into_iter().take(ROWS).filter_map(|(at, _)| refs.get(at));
    found.map(|name| ((*name).to_owned(), dir.join(name).symlink_metadata().map_or(0, |meta| meta.len()))).collect()
}

/// All names below a directory, the shallow ones first.
fn walk(dir: &Path) -> Vec<String> {
    let (names, bytes, end) = (Mutex::new(Vec::new()), AtomicUsize::new(0), Instant::now() + WALK);
    let mut walk = WalkBuilder::new(dir);
    walk.hidden(false)
        .require_git(false)
        .follow_links(false)
        .threads(THREADS)
        .filter_entry(|entry| entry.file_name() != ".git");
    walk.build_parallel().run(|| {
        Box::new(|entry| {
            let Ok(entry) = entry else { return WalkState::Continue };
            let Some(name) = entry.path().strip_prefix(dir).ok().and_then(Path::to_str).filter(|name| !name.is_empty())
            else {
                return WalkState::Continue;
            };
            let is_dir = entry.file_type().is_some_and(|sort| sort.is_dir());
            let name = if is_dir { format!("{name}/") } else { name.to_owned() };
            let used = bytes.fetch_add(name.len(), Ordering::Relaxed);
            let mut names = names.lock().unwrap_or_else(PoisonError::into_inner);
            if names.len() >= MAX_NAMES || used > MAX_BYTES || Instant::now() > end {
                return WalkState::Quit;
            }
            names.push(name);
            WalkState::Continue
        })
    });
    let mut names = names.into_inner().unwrap_or_else(PoisonError::into_inner);
    let depth = |name: &str| name.trim_end_matches('/').matches('/').count();
    names.sort_by(|a, b| depth(a).cmp(&depth(b)).then_with(|| a.cmp(b)));
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_git_ignores_is_left_out_and_the_newest_question_is_answered() {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in
            [("src/main.rs", "fn"), ("src/deep/model.rs", ""), ("target/main.rs", ""), (".gitignore", "target\n")]
        {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let mut finder = Finder::default();
        let ask = |text: &str| Question { dir: dir.path().to_owned(), text: text.to_owned() };
        finder.ask(ask("m"));
        finder.ask(ask("main"));
        let mut answer = finder.next().await;
        while answer.text != "main" {
            answer = finder.next().await;
        }
        assert_eq!(answer.paths, [("src/main.rs".to_owned(), 2)]);
        finder.ask(ask(""));
        let all: Vec<String> = finder.next().await.paths.into_iter().map(|(path, _)| path).collect();
        assert_eq!(all, [".gitignore", "src/", "src/deep/", "src/main.rs", "src/deep/model.rs"]);
    }
}
