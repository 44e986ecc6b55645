//! Colours of program text: which bytes of a line are a keyword, a string, a comment.
//!
//! One worker, started when the first text is to be coloured; only then the grammars are loaded, and they go when there is
//! nothing to do for a while.
//! Says what a piece is, never what colour it has. A text that grows is taken up where it was left. Invariants: one job at
//! a time waits; text that is too long, takes too long or upsets a grammar stays plain.

use crate::text::diff::Kind;
use crate::text::token::Token;
use std::collections::VecDeque;
use std::io;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};
use syntect::parsing::{ParseState, Scope, ScopeStack, SyntaxReference, SyntaxSet};

/// Texts with more lines stay plain.
pub const MAX_LINES: usize = 5000;
/// Longer lines stay plain, in bytes.
pub const MAX_LINE: usize = 2000;
/// What is not done by then stays plain, or is another job.
const TIME: Duration = if cfg!(test) { Duration::from_secs(20) } else { Duration::from_millis(500) };
/// What one text may take in all its jobs.
const TIME_IN_ALL: Duration = Duration::from_secs(4);

/// Coloured pieces of one line: bytes and what they are. Sorted; what is nothing in particular is left out.
pub type Spans = Vec<(Range<u32>, Token)>;

/// How long grammars are kept without a job.
const KEPT: Duration = Duration::from_mins(1);
/// Texts of which it is known how far they are, at most.
const STATES: usize = 8;

/// Lines of a change or a text, in their order.
#[derive(Clone, Debug)]
pub struct Job {
    /// Tells the language, by its name too.
    pub path: PathBuf,
    /// For the requester.
    pub id: u64,
    pub lines: Vec<(Kind, String)>,
    /// One for each line, the same only for the same lines up to there; or none.
    pub keys: Vec<u64>,
}

#[derive(Clone, Debug)]
pub struct Coloured {
    pub path: PathBuf,
    pub id: u64,
    /// One for each line of the job; empty when all of it stays plain. With keys, fewer where time was short: ask again.
    pub lines: Vec<Spans>,
    /// Those of the job.
    pub keys: Vec<u64>,
}

/// The worker. Dropping it ends it once its job is done.
#[derive(Debug)]
pub struct Highlighter {
    jobs: SyncSender<Job>,
}

impl Highlighter {
    /// `deliver` is called on the worker's thread; false ends it.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn start(deliver: impl Fn(Coloured) -> bool + Send + 'static) -> io::Result<Self> {
        let (jobs, waiting) = sync_channel(1);
        std::thread::Builder::new().name("highlight".into()).spawn(move || work(&waiting, &deliver))?;
        Ok(Self { jobs })
    }

    /// False when another job waits already, or the worker is gone.
    pub fn ask(&self, job: Job) -> bool {
        self.jobs.try_send(job).is_ok()
    }
}

fn work(jobs: &Receiver<Job>, deliver: &dyn Fn(Coloured) -> bool) {
    let mut grammars = None;
    let mut known = Known::default();
    loop {
        let job = match &grammars {
            // They are large, and loaded again in no time.
            Some(_) => match jobs.recv_timeout(KEPT) {
                Err(RecvTimeoutError::Timeout) => {
                    (grammars, known) = (None, Known::default());
                    continue;
                }
                other => other.ok(),
            },
            None => jobs.recv().ok(),
        };
        let Some(job) = job else { return };
        let set = grammars.get_or_insert_with(two_face::syntax::extra_newlines);
        // A grammar is data from elsewhere and the text is hostile: a panic costs the colours, nothing else.
        let found = catch_unwind(AssertUnwindSafe(|| colours(set, &job, &mut known))).unwrap_or_default();
        let Job { path, id, keys, .. } = job;
        if !deliver(Coloured { path, id, lines: found, keys }) {
            return;
        }
    }
}

/// Texts that may grow: what is known at a line, the latest last.
#[derive(Default)]
struct Known(VecDeque<(u64, State)>);

#[derive(Clone)]
struct State {
    /// The old and the new text are two texts: what one opens the other does not close.
    old: Side,
    new: Side,
    /// Of all lines so far.
    out: Vec<Spans>,
    /// What they took.
    spent: Duration,
}

impl Known {
    /// The furthest line of a text that is known.
    fn take(&mut self, keys: &[u64]) -> Option<State> {
        let found = keys.iter().rev().find_map(|key| self.0.iter().position(|(known, _)| known == key))?;
        self.0.remove(found).map(|(_, state)| state)
    }

    fn keep(&mut self, key: u64, state: State) {
        if self.0.len() == STATES {
            self.0.pop_front();
        }
        self.0.push_back((key, state));
    }
}

/// The colours of the lines; nothing when they stay plain.
fn colours(set: &SyntaxSet, job: &Job, known: &mut Known) -> Vec<Spans> {
    let lines = &job.lines;
    let Some(syntax) = language(set, &job.path).filter(|_| lines.len() <= MAX_LINES) else { return Vec::new() };
    let kinds = Kinds::new();
    let begun = Instant::now();
    let new = || State { old: Side::new(syntax), new: Side::new(syntax), out: Vec::new(), spent: Duration::ZERO };
    let mut state = known.take(&job.keys).filter(|state| state.out.len() <= lines.len()).unwrap_or_else(new);
    let first = state.out.len();
    for (n, (kind, line)) in lines.iter().enumerate().skip(first) {
        // At least one line, so that a text comes to its end.
        if begun.elapsed() >= TIME && n > first {
            state.spent += begun.elapsed();
            match job.keys.get(n - 1).filter(|_| state.spent < TIME_IN_ALL) {
                Some(key) => known.keep(*key, state.clone()),
                None => state.out.resize(lines.len(), Vec::new()),
            }
            return state.out;
        }
        let spans = match kind {
            Kind::Del => state.old.line(set, &kinds, line),
            Kind::Add => state.new.line(set, &kinds, line),
            Kind::Context => {
                state.old.line(set, &kinds, line);
                state.new.line(set, &kinds, line)
            }
        };
        state.out.push(spans);
        // The last line may still grow, the one before it does not.
        if n + 2 == lines.len()
            && let Some(key) = job.keys.get(n)
        {
            known.keep(*key, state.clone());
        }
    }
    state.out
}

fn language<'a>(set: &'a SyntaxSet, path: &Path) -> Option<&'a SyntaxReference> {
    let name = path.file_name()?.to_str()?;
    let by_extension = || set.find_syntax_by_extension(path.extension()?.to_str()?);
    // What a block of an answer says may be the name of a language.
    let by_token = || set.find_syntax_by_token(name).filter(|_| !name.contains('.'));
    set.find_syntax_by_extension(name).or_else(by_extension).or_else(by_token)
}

#[derive(Clone)]
struct Side {
    state: ParseState,
    stack: ScopeStack,
}

impl Side {
    fn new(syntax: &SyntaxReference) -> Self {
        Self { state: ParseState::new(syntax), stack: ScopeStack::new() }
    }

    fn line(&mut self, set: &SyntaxSet, kinds: &Kinds, line: &str) -> Spans {
        let mut out = Spans::new();
        if line.len() > MAX_LINE {
            return out;
        }
        let Ok(steps) = self.state.parse_line(&format!("{line}\n"), set) else { return out };
        let mut from = 0;
        for (at, step) in steps {
            let at = at.min(line.len());
            kinds.push(&self.stack, from..at, &mut out);
            from = at;
            if self.stack.apply(&step).is_err() {
                return out;
            }
        }
        kinds.push(&self.stack, from..line.len(), &mut out);
        out
    }
}

/// What the names of grammars mean here.
struct Kinds(Vec<(Scope, Option<Token>)>);

impl Kinds {
    fn new() -> Self {
        // The first that fits counts.
        let names = [
            ("comment", Some(Token::CodeComment)),
            ("string", Some(Token::CodeString)),
            ("constant.numeric", Some(Token::CodeNumber)),
            ("constant.language", Some(Token::CodeNumber)),
            ("keyword.operator", None),
            ("keyword", Some(Token::CodeKeyword)),
            ("storage.type", Some(Token::CodeKeyword)),
            ("storage.modifier", Some(Token::CodeKeyword)),
            ("entity.name.function", Some(Token::CodeFunction)),
            ("support.function", Some(Token::CodeFunction)),
            ("variable.function", Some(Token::CodeFunction)),
            ("entity.name.tag", Some(Token::CodeKeyword)),
            ("entity.name", Some(Token::CodeType)),
            ("support.type", Some(Token::CodeType)),
            ("support.class", Some(Token::CodeType)),
            ("markup.heading", Some(Token::CodeKeyword)),
        ];
        Self(names.into_iter().filter_map(|(name, token)| Some((Scope::new(name).ok()?, token))).collect())
    }

    fn push(&self, stack: &ScopeStack, bytes: Range<usize>, out: &mut Spans) {
        if bytes.is_empty() {
            return;
        }
        // The innermost name that means something.
        let found = stack
            .as_slice()
            .iter()
            .rev()
            .find_map(|scope| self.0.iter().find(|(kind, _)| kind.is_prefix_of(*scope)).map(|(_, token)| *token));
        let Some(Some(token)) = found else { return };
        let (from, to) = (bytes.start as u32, bytes.end as u32);
        match out.last_mut() {
            Some((last, same)) if last.end == from && *same == token => last.end = to,
            _ => out.push((from..to, token)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coloured(path: &str, lines: &[(Kind, &str)]) -> Coloured {
        let (found, results) = sync_channel(1);
        let worker = Highlighter::start(move |c| found.send(c).is_ok()).unwrap();
        let lines = lines.iter().map(|(kind, line)| (*kind, (*line).to_owned())).collect();
        assert!(worker.ask(Job { path: path.into(), id: 7, lines, keys: Vec::new() }));
        results.recv_timeout(Duration::from_secs(30)).unwrap()
    }

    fn tokens<'a>(spans: &Spans, line: &'a str) -> Vec<(&'a str, Token)> {
        spans.iter().map(|(r, t)| (&line[r.start as usize..r.end as usize], *t)).collect()
    }

    #[test]
    fn words_of_a_language_are_known() {
        let line = "fn add() -> u32 { let s = \"two\"; 42 } // sum";
        let found = coloured("src/a.rs", &[(Kind::Add, line)]);
        assert_eq!((found.path, found.id), (PathBuf::from("src/a.rs"), 7));
        let tokens = tokens(&found.lines[0], line);
        for wanted in [
            ("fn", Token::CodeKeyword),
            ("add", Token::CodeFunction),
            ("\"two\"", Token::CodeString),
            ("42", Token::CodeNumber),
            ("// sum", Token::CodeComment),
        ] {
            assert!(tokens.contains(&wanted), "{wanted:?} in {tokens:?}");
        }
    }

    #[test]
    fn a_text_that_grows_is_coloured_as_the_whole() {
        let lines = ["let a = 1; /* open", "still", "closed */ let b = \"x\";", "fn c() {}"];
        let job = |count: usize| Job {
            path: "rust".into(),
            id: 0,
            lines: lines[..count].iter().map(|l| (Kind::Context, (*l).to_owned())).collect(),
            keys: (0..count as u64).collect(),
        };
        let set = two_face::syntax::extra_newlines();
        let whole = colours(&set, &job(4), &mut Known::default());
        assert!(whole.iter().all(|spans| !spans.is_empty()));
        let mut known = Known::default();
        for count in 1..=4 {
            assert_eq!(colours(&set, &job(count), &mut known), whole[..count], "{count} lines");
        }
        assert!(known.take(&[2]).is_some(), "it went on from where it was");
    }

    #[test]
    fn the_old_text_opens_nothing_in_the_new_one() {
        let lines = [(Kind::Del, "/* gone"), (Kind::Add, "let x = 1;"), (Kind::Context, "let y = 2;")];
        let found = coloured("a.rs", &lines);
        assert_eq!(tokens(&found.lines[0], lines[0].1), [("/* gone", Token::CodeComment)]);
        for (spans, (_, line)) in found.lines.iter().zip(&lines).skip(1) {
            assert!(tokens(spans, line).contains(&("let", Token::CodeKeyword)), "{line}");
        }
    }

    #[test]
    fn what_is_too_long_or_of_no_language_stays_plain() {
        let long = format!("let x = \"{}\";", "a".repeat(MAX_LINE));
        let found = coloured("a.rs", &[(Kind::Add, long.as_str()), (Kind::Add, "let y = 1;")]);
        assert!(found.lines[0].is_empty());
        assert!(!found.lines[1].is_empty());
        let many = vec![(Kind::Add, "let y = 1;"); MAX_LINES + 1];
        assert!(coloured("a.rs", &many).lines.is_empty());
        assert!(coloured("a.unheardof", &[(Kind::Add, "let y = 1;")]).lines.is_empty());
    }

    #[test]
    fn spans_lie_within_their_line_whatever_it_holds() {
        let lines = ["\"open", "\u{0}\u{1b}[31m ä漢 //", "'\\", "r#\"", "}}}}(((("];
        let jobs: Vec<(Kind, &str)> = lines.iter().map(|l| (Kind::Context, *l)).collect();
        for (spans, line) in coloured("a.rs", &jobs).lines.iter().zip(lines) {
            let mut last = 0;
            for (range, _) in spans {
                assert!(range.start >= last && range.end as usize <= line.len(), "{line:?} {spans:?}");
                assert!(line.get(range.start as usize..range.end as usize).is_some(), "{line:?} {spans:?}");
                last = range.end;
            }
        }
    }
}
