//! The worker that finds files of a directory by pieces of their names.
//!
//! Opens no file and follows no link; what git ignores is looked at only where nothing else is found, and stands last.
//! Invariants: there is no thread before the first question; the newest question is answered last, and more than once
//! while its directory is walked; what is kept of a tree is bounded in names, in bytes and in time.

use crate::text::fuzzy::{Ranking, letters, narrows};
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
/// Names that a thread hands on together.
const BATCH: usize = 512;
/// After how long what was found so far is shown; then after twice as long, and so on.
const FIRST: Duration = Duration::from_millis(50);
/// Names that are ranked together, and after how long what was found among them is shown while others are left.
const CHUNK: usize = 2_000;
const SOON: Duration = Duration::from_millis(8);
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
    /// The walk has come to its end.
    is_walked: bool,
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
        let mut worker = Worker { shared: theirs, found, tree: None, narrowed: Narrowed::default() };
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
    letters: Vec<u128>,
    /// What git ignores; looked for when nothing else is found.
    ignored: Option<Vec<Name>>,
}

impl Tree {
    fn new(dir: &Path, names: Vec<Name>) -> Self {
        Self { dir: dir.to_owned(), since: Instant::now(), names, letters: Vec::new(), ignored: None }
    }
}

/// Where names are that match a text: those that match more of it are among them.
#[derive(Default)]
struct Narrowed {
    text: String,
    among: Vec<u32>,
    /// From here on nobody has looked.
    from: usize,
}

struct Worker {
    shared: Arc<Shared>,
    found: mpsc::Sender<Answer>,
    tree: Option<Tree>,
    /// Of this tree.
    narrowed: Narrowed,
}

impl Worker {
    /// Answers from what is known, and once more when the directory has been walked. `None` when nobody listens.
    fn serve(&mut self, mut question: Question) -> Option<()> {
        let mut known = self.tree.take().filter(|tree| tree.dir == question.dir);
        let mut narrowed = std::mem::take(&mut self.narrowed);
        let mut found = 0;
        match &known {
            Some(tree) => found = self.tell(&question, tree, &mut narrowed)?,
            None => narrowed = Narrowed::default(),
        }
        if known.as_ref().is_none_or(|tree| tree.since.elapsed() >= FRESH) {
            let since = Instant::now();
            let (names, letters) = self.walked(&mut question, Ignored::Not, known.as_ref(), &mut narrowed)?;
            if self.shared.has_other(&question.dir) {
                return Some(());
            }
            let tree = Tree { dir: question.dir.clone(), since, names, letters, ignored: None };
            narrowed = Narrowed::default();
            // It takes a while to let go of a million names: the answer comes first.
            let older = known.replace(tree);
            found = self.tell(&question, known.as_ref()?, &mut narrowed)?;
            drop(older);
        }
        let mut tree = known?;
        if found == 0 && tree.ignored.is_none() && !question.text.is_empty() {
            let (all, _) = self.walked(&mut question, Ignored::Too, Some(&tree), &mut narrowed)?;
            if self.shared.has_other(&question.dir) {
                return Some(());
            }
            tree.ignored = Some(all);
            self.tell(&question, &tree, &mut narrowed)?;
        }
        (self.tree, self.narrowed) = (Some(tree), narrowed);
        Some(())
    }

    /// All names below the directory, or those that are new. What is asked about it meanwhile is answered at once, by what
    /// is known of it, else by what was found so far.
    fn walked(
        &self,
        question: &mut Question,
        ignored: Ignored,
        known: Option<&Tree>,
        narrowed: &mut Narrowed,
    ) -> Option<(Vec<Name>, Vec<u128>)> {
        let found = Found::default();
        let mut tree = Tree::new(&question.dir, Vec::new());
        let dir = tree.dir.clone();
        self.shared.lock().is_walked = false;
        thread::scope(|scope| {
            let work = || {
                walk(&dir, ignored, known.is_some(), &found, &self.shared);
                if let Some(known) = known {
                    // Here nobody waits for it.
                    let mut names = found.take();
                    if ignored == Ignored::Too {
                        names.retain(|name| known.names.binary_search(name).is_err());
                    }
                    found.set_in_order(names);
                }
                self.shared.lock().is_walked = true;
                self.shared.changed.notify_one();
            };
            // Without another thread it is done before anything newer is heard.
            if thread::Builder::new().spawn_scoped(scope, work).is_err() {
                work();
            }
            let mut due = FIRST;
            loop {
                let (newer, is_walked) = self.shared.wait_in(&dir, due.saturating_sub(tree.since.elapsed()));
                if is_walked && known.is_none() {
                    tree.names.append(&mut found.take());
                    found.set_in_order(std::mem::take(&mut tree.names));
                }
                if is_walked {
                    *question = newer.unwrap_or_else(|| question.clone());
                    return Some(found.all());
                }
                if newer.is_none() {
                    due = tree.since.elapsed().saturating_mul(2);
                }
                let told = match (newer, known) {
                    (None, Some(_)) => continue,
                    (Some(newer), _) => {
                        *question = newer;
                        known.map(|known| self.tell(question, known, narrowed))
                    }
                    (None, None) => None,
                };
                let told = told.unwrap_or_else(|| {
                    tree.names.append(&mut found.take());
                    tree.names.sort_unstable();
                    self.tell(question, &tree, &mut Narrowed::default())
                });
                if told.is_none() {
                    self.shared.lock().is_over = true;
                    return None;
                }
            }
        })
    }

    /// Says what was found, and how many; of very many names also what was found soon. Something newer is not waited for.
    fn tell(&self, question: &Question, tree: &Tree, narrowed: &mut Narrowed) -> Option<usize> {
        let mut ranking = Ranking::new(&question.text, ROWS);
        let before = std::mem::take(narrowed);
        let before = if narrows(&before.text, &question.text) { before } else { Narrowed::default() };
        let all = before.among.iter().map(|at| *at as usize).chain(before.from..tree.names.len());
        let mut among = Vec::new();
        let mut soon = Some(Instant::now());
        for (looked, at) in all.enumerate() {
            if looked % CHUNK == CHUNK - 1 {
                if soon.is_some_and(|begun| begun.elapsed() >= SOON) {
                    let paths = listed(question, &tree.names, &ranking.best());
                    if !paths.is_empty() {
                        soon = None;
                        self.found.blocking_send(Answer { text: question.text.clone(), paths }).ok()?;
                    }
                }
                if self.shared.has_newer() {
                    among.extend(before.among.iter().skip(looked));
                    let from = before.from + looked.saturating_sub(before.among.len());
                    *narrowed = Narrowed { text: question.text.clone(), among, from };
                    return Some(usize::MAX);
                }
            }
            let Some((_, name)) = tree.names.get(at) else { continue };
            if ranking.add_known(at, name, tree.letters.get(at).copied().unwrap_or(u128::MAX)) {
                among.extend(u32::try_from(at));
            }
        }
        *narrowed = Narrowed { text: question.text.clone(), among, from: tree.names.len() };
        let mut paths = listed(question, &tree.names, &ranking.best());
        if let Some(ignored) = tree.ignored.as_ref().filter(|_| !question.text.is_empty()) {
            let mut ranking = Ranking::new(&question.text, ROWS);
            for (at, (_, name)) in ignored.iter().enumerate() {
                ranking.add(at, name);
                if at % CHUNK == CHUNK - 1 && self.shared.has_newer() {
                    return Some(usize::MAX);
                }
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

    /// A newer question about the directory that is walked, and whether the walk has ended, as soon as there is one of
    /// them; after a pause neither.
    fn wait_in(&self, dir: &Path, pause: Duration) -> (Option<Question>, bool) {
        let is_of = |next: &Next| next.question.as_ref().is_some_and(|question| question.dir == dir);
        let waited = self.changed.wait_timeout_while(self.lock(), pause, |next| !next.is_walked && !is_of(next));
        let mut next = waited.unwrap_or_else(PoisonError::into_inner).0;
        (next.question.take_if(|question| question.dir == dir), next.is_walked)
    }
}

/// What a walk has found and nobody has taken yet; in the end all of it, in order and with its letters.
#[derive(Default)]
struct Found(Mutex<(Vec<Name>, Vec<u128>)>);

impl Found {
    fn lock(&self) -> MutexGuard<'_, (Vec<Name>, Vec<u128>)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self) -> Vec<Name> {
        std::mem::take(&mut self.lock().0)
    }

    fn set_in_order(&self, mut names: Vec<Name>) {
        names.sort_unstable();
        let letters = names.iter().map(|(_, name)| letters(name)).collect();
        *self.lock() = (names, letters);
    }

    fn all(&self) -> (Vec<Name>, Vec<u128>) {
        std::mem::take(&mut *self.lock())
    }
}

/// Names that one thread has found; handed on when there are some, and when the thread is done.
struct Batch<'a> {
    names: Vec<Name>,
    to: &'a Found,
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
fn walk(dir: &Path, ignored: Ignored, is_known: bool, to: &Found, shared: &Shared) {
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
        let question = |text: &str| Question { dir: "/nowhere".into(), text: text.to_owned() };
        let (found, mut results) = mpsc::channel(64);
        let worker = Worker { shared: Arc::default(), found, tree: None, narrowed: Narrowed::default() };
        let mut narrowed = Narrowed::default();
        assert_eq!(worker.tell(&question("main"), &tree, &mut narrowed), Some(ROWS));
        assert_eq!(narrowed.among.len(), 3 * CHUNK + 1);
        worker.shared.lock().question = Some(question("main"));
        assert_eq!(worker.tell(&question("main.rs"), &tree, &mut narrowed), Some(usize::MAX));
        assert_eq!(
            (narrowed.among.len(), narrowed.from),
            (2 * CHUNK + 2, 3 * CHUNK + 1),
            "what it has looked at it keeps"
        );
        worker.shared.lock().question = None;
        // What is typed on is looked for among what was found; something else everywhere.
        for text in ["main.rs", "main_1", "main_59", "main_599", "zz"] {
            let mut fresh = Narrowed::default();
            let count = worker.tell(&question(text), &tree, &mut fresh);
            assert!(count.is_some_and(|count| (1..=ROWS).contains(&count)), "{text}");
            assert_eq!(worker.tell(&question(text), &tree, &mut narrowed), count, "{text}");
            assert_eq!((&narrowed.among, narrowed.from), (&fresh.among, fresh.from), "{text}");
        }
        let answers: Vec<String> = std::iter::from_fn(|| results.try_recv().ok())
            .filter_map(|mut a| Some(a.paths.drain(..).next()?.0))
            .collect();
        assert!(answers.contains(&"zz/main.rs".to_owned()), "{answers:?}");
    }

    #[tokio::test]
    async fn what_is_known_of_a_tree_is_said_before_it_is_walked_again() {
        let dir = tempfile::tempdir().unwrap();
        let (found, mut results) = mpsc::channel(8);
        let name = |name: &str| (0, name.to_owned());
        let long_ago = Instant::now().checked_sub(FRESH).unwrap();
        let tree = Tree { since: long_ago, ..Tree::new(dir.path(), vec![name("known")]) };
        let narrowed = Narrowed { text: String::new(), among: vec![0], from: 1 };
        let mut worker = Worker { shared: Arc::default(), found, tree: Some(tree), narrowed };
        std::fs::write(dir.path().join("new"), "").unwrap();
        let question = Question { dir: dir.path().to_owned(), text: String::new() };
        let worker = tokio::task::spawn_blocking(move || worker.serve(question).map(|()| worker)).await.unwrap();
        let said = async |results: &mut mpsc::Receiver<Answer>| results.recv().await.unwrap().paths.remove(0).0;
        assert_eq!(said(&mut results).await, "known");
        assert_eq!(said(&mut results).await, "new");
        assert!(worker.unwrap().tree.is_some_and(|tree| tree.names == [name("new")] && tree.since > long_ago));
    }
}
