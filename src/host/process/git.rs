//! The person's git, run to its end.
//!
//! Knows nothing of what it is run for. Invariants: it reads no terminal and waits for no input; what it prints is
//! bounded; variables that would lead it to another repository do not reach it.

use std::ffi::OsStr;
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Bytes that it may print, and of what it complains about.
const MAX_OUTPUT: u64 = 64 << 20;
const MAX_WORDS: u64 = 64 << 10;
/// Variables of a git that has started us.
const STRAY: &[&str] = &[
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_COMMON_DIR",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
];

#[derive(Debug, thiserror::Error)]
pub enum GitError {
    #[error("git was not found: install it, or put it on the PATH")]
    NotFound,
    /// In its own words.
    #[error("git: {0}")]
    Said(String),
    #[error("git could not be run: {0}")]
    Io(#[from] io::Error),
}

/// A place to run it in.
#[derive(Clone, Debug)]
pub struct Git {
    dir: PathBuf,
    index: Option<PathBuf>,
}

impl Git {
    pub fn at(dir: &Path) -> Self {
        Self { dir: dir.to_owned(), index: None }
    }

    /// With another file for the index.
    pub fn with_index(&self, index: &Path) -> Self {
        Self { index: Some(index.to_owned()), ..self.clone() }
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// What it prints.
    pub fn run<S: AsRef<OsStr>>(&self, args: &[S]) -> Result<Vec<u8>, GitError> {
        self.fed(args, b"")
    }

    /// The same, after it has read this.
    pub fn fed<S: AsRef<OsStr>>(&self, args: &[S], input: &[u8]) -> Result<Vec<u8>, GitError> {
        let (code, out, words) = self.carried_out(args, input)?;
        if code == Some(0) { Ok(out) } else { Err(GitError::Said(words)) }
    }

    /// The same where 1 is an answer, too: whether it was 0.
    pub fn asked<S: AsRef<OsStr>>(&self, args: &[S]) -> Result<(bool, Vec<u8>), GitError> {
        match self.carried_out(args, b"")? {
            (Some(code @ 0..=1), out, _) => Ok((code == 0, out)),
            (_, _, words) => Err(GitError::Said(words)),
        }
    }

    /// Its only line.
    pub fn line<S: AsRef<OsStr>>(&self, args: &[S]) -> Result<String, GitError> {
        let out = self.run(args)?;
        Ok(String::from_utf8_lossy(&out).trim_end_matches(['\n', '\r']).to_owned())
    }

    fn carried_out<S: AsRef<OsStr>>(
        &self,
        args: &[S],
        input: &[u8],
    ) -> Result<(Option<i32>, Vec<u8>, String), GitError> {
        let mut command = Command::new("git");
        for name in STRAY {
            command.env_remove(name);
        }
        command
            .args(["-c", "core.fsmonitor=false", "-c", "core.safecrlf=false", "-c", "advice.addEmbeddedRepo=false"])
            .args(args)
            .current_dir(&self.dir)
            .env("LC_ALL", "C")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_OPTIONAL_LOCKS", "0")
            .envs(["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"].map(|name| (name, "acp-tui")))
            .envs(["GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"].map(|name| (name, "acp-tui@localhost")))
            .envs(self.index.iter().map(|index| ("GIT_INDEX_FILE", index)))
            .stdin(if input.is_empty() { Stdio::null() } else { Stdio::piped() })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => GitError::NotFound,
            _ => GitError::Io(error),
        })?;
        let words = std::thread::scope(|scope| {
            let (stdin, stderr) = (child.stdin.take(), child.stderr.take());
            // One that ends before it has read everything says why.
            scope.spawn(move || stdin.map(|mut pipe| pipe.write_all(input)));
            let words = scope.spawn(move || stderr.map(|pipe| drained(pipe, MAX_WORDS)));
            let out = child.stdout.take().map(|pipe| drained(pipe, MAX_OUTPUT)).transpose();
            (out, words.join())
        });
        finished(child, words)
    }
}

type Drained = (io::Result<Option<(Vec<u8>, bool)>>, std::thread::Result<Option<io::Result<(Vec<u8>, bool)>>>);

fn finished(mut child: Child, (out, words): Drained) -> Result<(Option<i32>, Vec<u8>, String), GitError> {
    let status = child.wait()?;
    let (out, is_whole) = out?.unwrap_or_default();
    if !is_whole {
        return Err(GitError::Said("it printed more than is read of it".to_owned()));
    }
    let words = words.ok().flatten().and_then(Result::ok).map(|(bytes, _)| bytes).unwrap_or_default();
    let words = String::from_utf8_lossy(&words).trim().replace('\n', "; ");
    let words = if words.is_empty() { format!("it ended with {status}") } else { words };
    Ok((status.code(), out, words))
}

/// Reads to the end, and keeps the beginning; whether that is all.
fn drained(mut pipe: impl Read, most: u64) -> io::Result<(Vec<u8>, bool)> {
    let mut kept = Vec::new();
    pipe.by_ref().take(most).read_to_end(&mut kept)?;
    let more = io::copy(&mut pipe, &mut io::sink())?;
    Ok((kept, more == 0))
}
