//! Colours of program text: which bytes of a line are a keyword, a string, a comment.
//!
//! One worker, started when the first text is to be coloured; only then the grammars are loaded, and they go with it.
//! Says what a piece is, never what colour it has. Invariants: one job at a time waits; text that is too long, takes
//! too long or upsets a grammar stays plain.

use crate::text::diff::Kind;
use crate::text::token::Token;
use std::io;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};
use syntect::parsing::{ParseState, Scope, ScopeStack, SyntaxReference, SyntaxSet};

/// Texts with more lines stay plain.
pub const MAX_LINES: usize = 5000;
/// Longer lines stay plain, in bytes.
pub const MAX_LINE: usize = 2000;
/// What is not done by then stays plain.
const TIME: Duration = if cfg!(test) { Duration::from_secs(20) } else { Duration::from_millis(500) };

/// Coloured pieces of one line: bytes and what they are. Sorted; what is nothing in particular is left out.
pub type Spans = Vec<(Range<u32>, Token)>;

/// Lines of a change, in their order.
#[derive(Clone, Debug)]
pub struct Job {
    /// Tells the language.
    pub path: PathBuf,
    /// For whoever asked.
    pub id: u64,
    pub lines: Vec<(Kind, String)>,
}

#[derive(Clone, Debug)]
pub struct Coloured {
    pub path: PathBuf,
    pub id: u64,
    /// One for each line of the job; empty when all of it stays plain.
    pub lines: Vec<Spans>,
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
    while let Ok(job) = jobs.recv() {
        let Job { path, id, lines } = job;
        let set = grammars.get_or_insert_with(two_face::syntax::extra_newlines);
        // A grammar is data from elsewhere and the text is hostile: a panic costs the colours, nothing else.
        let found = catch_unwind(AssertUnwindSafe(|| colours(set, &path, &lines))).unwrap_or_default();
        if !deliver(Coloured { path, id, lines: found }) {
            return;
        }
    }
}

/// The colours of the lines; nothing when they stay plain.
fn colours(set: &SyntaxSet, path: &Path, lines: &[(Kind, String)]) -> Vec<Spans> {
    let Some(syntax) = language(set, path).filter(|_| lines.len() <= MAX_LINES) else { return Vec::new() };
    let kinds = Kinds::new();
    let until = Instant::now() + TIME;
    // The old and the new text are two texts: what one opens the other does not close.
    let (mut old, mut new) = (Side::new(syntax), Side::new(syntax));
    let mut out = Vec::with_capacity(lines.len());
    for (kind, line) in lines {
        if Instant::now() >= until {
            out.resize(lines.len(), Vec::new());
            break;
        }
        out.push(match kind {
            Kind::Del => old.line(set, &kinds, line),
            Kind::Add => new.line(set, &kinds, line),
            Kind::Context => {
                old.line(set, &kinds, line);
                new.line(set, &kinds, line)
            }
        });
    }
    out
}

fn language<'a>(set: &'a SyntaxSet, path: &Path) -> Option<&'a SyntaxReference> {
    let name = path.file_name()?.to_str()?;
    let by_name = set.find_syntax_by_extension(name);
    by_name.or_else(|| set.find_syntax_by_extension(path.extension()?.to_str()?))
}

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
        assert!(worker.ask(Job { path: path.into(), id: 7, lines }));
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
