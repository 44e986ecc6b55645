//! The worker that finds files of a directory by pieces of their names.
//!
//! Opens no file and follows no link; what git ignores is looked at only where nothing else is found, and stands last.
//! Invariants: there is no thread before the first question; the newest question is answered last, and more than once
//! while its directory is walked; what is kept of a tree is bounded in names, in bytes and in time.

use crate::text::fuzzy::{Ranking, letters};
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
/// How often a walk is looked at for what it has found, and for newer questions.
const STEP: Duration = Duration::from_millis(20);
/// Names that a thread hands on together.
const BATCH: usize = 512;
/// After how long what was found so far is shown; then after twice as long, and so on.
const FIRST: Duration = Duration::from_millis(50);
/// Names that are ranked together, and after how long what was found among them is shown while others are left.
const CHUNK: usize = 20_000;
const SOON: Duration = Duration::from_millis(15);
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
        let mut worker = Worker { shared: theirs, found, tree: None };
        while let Some(question) = worker.shared.wait() {
            if worker.serve(question).is_none() {
                return;
            }
        }
    })?;
    Ok((shared, results))
}

/// A name with how deep it stands; a directory ends in `/`. In this order the shallow ones are first.
type Name = (usize, String);

/// What is known of a directory.
struct Tree {
    dir: PathBuf,
    since: Instant,
    names: Vec<Name>,
    /// Of each name, once all are known.
    letters: Vec<u64>,
    /// What git ignores; looked for when nothing else is found.
    ignored: Option<Vec<Name>>,
}

impl Tree {
    fn new(dir: &Path, names: Vec<Name>) -> Self {
        Self { dir: dir.to_owned(), since: Instant::now(), names, letters: Vec::new(), ignored: None }
    }
}

struct Worker {
    shared: Arc<Shared>,
    found: mpsc::Sender<Answer>,
    tree: Option<Tree>,
}

impl Worker {
    /// Answers from what is known, and once more when the directory has been walked. `None` when nobody listens.
    fn serve(&mut self, mut question: Question) -> Option<()> {
        let mut known = self.tree.take().filter(|tree| tree.dir == question.dir);
        let mut found = 0;
        if let Some(tree) = &known {
            found = self.tell(&question, tree)?;
        }
        if known.as_ref().is_none_or(|tree| tree.since.elapsed() >= FRESH) {
            let since = Instant::now();
            let names = self.walked(&mut question, Ignored::Not, known.as_ref())?;
            if self.shared.has_other(&question.dir) {
                return Some(());
            }
            let letters = names.iter().map(|(_, name)| letters(name)).collect();
            let tree = known.insert(Tree { dir: question.dir.clone(), since, names, letters, ignored: None });
            found = self.tell(&question, tree)?;
        }
        let mut tree = known?;
        if found == 0 && tree.ignored.is_none() && !question.text.is_empty() {
            let mut all = self.walked(&mut question, Ignored::Too, Some(&tree))?;
            all.retain(|name| tree.names.binary_search(name).is_err());
            if self.shared.has_other(&question.dir) {
                return Some(());
            }
            tree.ignored = Some(all);
            self.tell(&question, &tree)?;
        }
        self.tree = Some(tree);
        Some(())
    }

    /// All names below the directory. What is asked about it meanwhile is answered by what is known of it, else by what
    /// was found so far.
    fn walked(&self, question: &mut Question, ignored: Ignored, known: Option<&Tree>) -> Option<Vec<Name>> {
        let walking = Walking::default();
        let mut tree = Tree::new(&question.dir, Vec::new());
        let dir = tree.dir.clone();
        thread::scope(|scope| {
            scope.spawn(|| {
                walk(&dir, ignored, known.is_some(), &walking, &self.shared);
                walking.end();
            });
            let mut due = FIRST;
            loop {
                let is_over = walking.wait(STEP);
                tree.names.append(&mut walking.take());
                if is_over {
                    tree.names.sort_unstable();
                    return Some(tree.names);
                }
                let newer = self.shared.newer(&dir);
                let is_due = known.is_none() && tree.since.elapsed() >= due;
                if newer.is_none() && !is_due {
                    continue;
                }
                *question = newer.unwrap_or_else(|| question.clone());
                due = tree.since.elapsed().saturating_mul(2);
                tree.names.sort_unstable();
                if self.tell(question, known.unwrap_or(&tree)).is_none() {
                    self.shared.lock().is_over = true;
                    return None;
                }
            }
        })
    }

    /// Says what was found, and how many; of very many names also what was found soon. Something newer is not waited for.
    fn tell(&self, question: &Question, tree: &Tree) -> Option<usize> {
        let mut ranking = Ranking::new(&question.text, ROWS);
        let mut soon = Some(Instant::now());
        let mut left = tree.names.len();
        let mut known = tree.letters.iter().copied();
        for names in tree.names.chunks(CHUNK) {
            for (_, name) in names {
                ranking.add_known(name, known.next().unwrap_or(u64::MAX));
            }
            left -= names.len();
            if left > 0 && soon.is_some_and(|begun| begun.elapsed() >= SOON) {
                let paths = listed(question, &tree.names, &ranking.best());
                if !paths.is_empty() {
                    soon = None;
                    self.found.blocking_send(Answer { text: question.text.clone(), paths }).ok()?;
                }
            }
            if left > 0 && self.shared.has_newer() {
                return Some(usize::MAX);
            }
        }
        let mut paths = listed(question, &tree.names, &ranking.best());
        if let Some(ignored) = tree.ignored.as_ref().filter(|_| !question.text.is_empty()) {
            let mut ranking = Ranking::new(&question.text, ROWS);
            for (_, name) in ignored {
                ranking.add(name);
            }
            paths.extend(listed(question, ignored, &ranking.best()));
        }
        paths.truncate(ROWS);
        let count = paths.len();
        self.found.blocking_send(Answer { text: question.text.clone(), paths }).ok().map(|()| count)
    }
}

impl Shared {
    fn has_other(&self, dir: &Path) -> bool {
        let next = self.lock();
        next.is_over || next.question.as_ref().is_some_and(|question| question.dir != dir)
    }

    fn has_newer(&self) -> bool {
        let next = self.lock();
        next.is_over || next.question.is_some()
    }

    /// A newer question about the same directory.
    fn newer(&self, dir: &Path) -> Option<Question> {
        self.lock().question.take_if(|question| question.dir == dir)
    }
}

/// What a walk has found and nobody has taken yet.
#[derive(Default)]
struct Walking {
    names: Mutex<(Vec<Name>, bool)>,
    ended: Condvar,
}

impl Walking {
    fn lock(&self) -> MutexGuard<'_, (Vec<Name>, bool)> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self) -> Vec<Name> {
        std::mem::take(&mut self.lock().0)
    }

    fn end(&self) {
        self.lock().1 = true;
        self.ended.notify_one();
    }

    /// Whether the walk has ended, after so long at most.
    fn wait(&self, pause: Duration) -> bool {
        let waited = self.ended.wait_timeout_while(self.lock(), pause, |(_, is_over)| !*is_over);
        waited.unwrap_or_else(PoisonError::into_inner).0.1
    }
}

/// Names that one thread has found; handed on when there are some, and when the thread is done.
struct Batch<'a> {
    names: Vec<Name>,
    to: &'a Walking,
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        self.to.lock().0.append(&mut self.names);
    }
}

/// Names with the sizes of files.
fn listed(question: &Question, names: &[Name], best: &[usize]) -> Vec<(String, u64)> {
    let size = |name: &str| question.dir.join(name).symlink_metadata().map_or(0, |meta| meta.len());
    best.iter().filter_map(|at| names.get(*at)).map(|(_, name)| (name.clone(), size(name))).collect()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Ignored {
    Not,
    Too,
}

/// Finds all names below a directory; one that is known has time, and leaves it to what is asked meanwhile.
fn walk(dir: &Path, ignored: Ignored, is_known: bool, to: &Walking, shared: &Shared) {
    let (threads, most) = if is_known { (1, WALK * 4) } else { (THREADS, WALK) };
    let (count, bytes, end) = (AtomicUsize::new(0), AtomicUsize::new(0), Instant::now() + most);
    let mut walk = WalkBuilder::new(dir);
    walk.standard_filters(ignored == Ignored::Not)
        .hidden(false)
        .require_git(false)
        .follow_links(false)
        .threads(threads)
        .filter_entry(|entry| entry.file_name() != ".git");
    let (count, bytes) = (&count, &bytes);
    walk.build_parallel().run(|| {
        let mut batch = Batch { names: Vec::new(), to };
        Box::new(move |entry| {
            let Ok(entry) = entry else { return WalkState::Continue };
            let Some(name) = entry.path().strip_prefix(dir).ok().and_then(Path::to_str).filter(|name| !name.is_empty())
            else {
                return WalkState::Continue;
            };
            let is_dir = entry.file_type().is_some_and(|sort| sort.is_dir());
            let depth = name.matches('/').count();
            let name = if is_dir { format!("{name}/") } else { name.to_owned() };
            let used = bytes.fetch_add(name.len(), Ordering::Relaxed);
            if count.fetch_add(1, Ordering::Relaxed) >= MAX_NAMES || used > MAX_BYTES {
                return WalkState::Quit;
            }
            batch.names.push((depth, name));
            if is_dir || batch.names.len() >= BATCH {
                to.lock().0.append(&mut batch.names);
                if Instant::now() > end || shared.has_other(dir) {
                    return WalkState::Quit;
                }
            }
            WalkState::Continue
        })
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_git_ignores_is_last_and_the_newest_question_is_answered() {
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
        while answer.text != "main" || answer.paths.is_empty() {
            answer = finder.next().await;
        }
        assert_eq!(answer.paths, [("src/main.rs".to_owned(), 2)]);
        let answered = async |finder: &mut Finder, text: &str, count: usize| {
            finder.ask(ask(text));
            loop {
                let answer = finder.next().await;
                if answer.text == text && answer.paths.len() == count {
                    return answer.paths.into_iter().map(|(path, _)| path).collect::<Vec<_>>();
                }
            }
        };
        let all = answered(&mut finder, "", 5).await;
        assert_eq!(all, [".gitignore", "src/", "src/deep/", "src/main.rs", "src/deep/model.rs"]);
        // Nothing else has this name; from then on they stand behind what git does not ignore.
        assert_eq!(answered(&mut finder, "target", 2).await, ["target/", "target/main.rs"]);
        assert_eq!(answered(&mut finder, "main", 2).await, ["src/main.rs", "target/main.rs"]);
        assert_eq!(answered(&mut finder, "", 5).await, all);
    }

    #[test]
    fn of_very_many_names_the_last_answer_has_the_best_and_a_newer_question_is_not_kept_waiting() {
        let mut names: Vec<Name> = (0..3 * CHUNK).map(|n| (1, format!("m/a/i/n_{n:06}"))).collect();
        names.push((2, "zz/main.rs".to_owned()));
        let tree = Tree::new(Path::new("/nowhere"), names);
        let question = Question { dir: "/nowhere".into(), text: "main".to_owned() };
        let (found, mut results) = mpsc::channel(8);
        let worker = Worker { shared: Arc::default(), found, tree: None };
        assert_eq!(worker.tell(&question, &tree), Some(ROWS));
        worker.shared.lock().question = Some(question.clone());
        assert_eq!(worker.tell(&question, &tree), Some(usize::MAX));
        let answers: Vec<String> =
            std::iter::from_fn(|| results.try_recv().ok()).map(|answer| answer.paths[0].0.clone()).collect();
        assert!(answers.contains(&"zz/main.rs".to_owned()), "{answers:?}");
    }

    #[tokio::test]
    async fn what_is_known_of_a_tree_is_said_before_it_is_walked_again() {
        let dir = tempfile::tempdir().unwrap();
        let (found, mut results) = mpsc::channel(8);
        let name = |name: &str| (0, name.to_owned());
        let long_ago = Instant::now().checked_sub(FRESH).unwrap();
        let tree = Tree { since: long_ago, ..Tree::new(dir.path(), vec![name("known")]) };
        let mut worker = Worker { shared: Arc::default(), found, tree: Some(tree) };
        std::fs::write(dir.path().join("new"), "").unwrap();
        let question = Question { dir: dir.path().to_owned(), text: String::new() };
        let worker = tokio::task::spawn_blocking(move || worker.serve(question).map(|()| worker)).await.unwrap();
        let said = async |results: &mut mpsc::Receiver<Answer>| results.recv().await.unwrap().paths.remove(0).0;
        assert_eq!(said(&mut results).await, "known");
        assert_eq!(said(&mut results).await, "new");
        assert!(worker.unwrap().tree.is_some_and(|tree| tree.names == [name("new")] && tree.since > long_ago));
    }
}
