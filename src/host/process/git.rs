//! The person's git, run to its end.
//!
//! Knows nothing of what it is run for. Invariants: it reads no terminal and waits for no input; what it prints is
//! bounded; none takes longer than its time, and one that does, or that is running when this program ends, is killed
//! with its group; variables that would lead it to another repository do not reach it; it asks no other machine. It starts
//! no program that the repository names: no hook, and no filter, merge driver or monitor of the repository's own
//! configuration, which an agent may have written. Filters of the person's own configuration run as they do for them.

use super::waited::{HELPERS, Helper};
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write as _};
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

/// Bytes that it may print, and of what it complains about.
const MAX_OUTPUT: u64 = 64 << 20;
const MAX_WORDS: u64 = 64 << 10;
/// A call that takes longer hangs.
const LONGEST: Duration = Duration::from_mins(10);
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
/// What holds for each call.
const SETTINGS: &[&str] = &[
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.safecrlf=false",
    "advice.addEmbeddedRepo=false",
    "submodule.recurse=false",
    // Verifying runs a program.
    "log.showSignature=false",
];
const ENVIRONMENT: &[(&str, &str)] = &[
    ("LC_ALL", "C"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_EDITOR", "false"),
    ("GIT_PAGER", "cat"),
    // What a partial clone has not fetched is missing; fetching runs what the repository says.
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_AUTHOR_NAME", "acp-tui"),
    ("GIT_COMMITTER_NAME", "acp-tui"),
    ("GIT_AUTHOR_EMAIL", "acp-tui@localhost"),
    ("GIT_COMMITTER_EMAIL", "acp-tui@localhost"),
];
/// Commands that run no program but hooks that are files: they convert no file, write no index (which may compare files
/// once more) and move no ref.
const HARMLESS: &[&str] =
    &["cat-file", "commit-tree", "diff-tree", "ls-files", "ls-tree", "reflog", "rev-list", "rev-parse", "show-ref"];

#[derive(Debug, thiserror::Error)]
pub enum GitError {
    #[error("git was not found: install it, or put it on the PATH")]
    NotFound,
    /// In its own words.
    #[error("git: {0}")]
    Said(String),
    #[error("git has not come to its end in time and was stopped")]
    TooLate,
    #[error("git could not be run: {0}")]
    Io(#[from] io::Error),
}

/// A place to run it in.
#[derive(Clone, Debug)]
pub struct Git {
    dir: PathBuf,
    /// Variables that lead it elsewhere than the repository does.
    led: BTreeMap<&'static str, OsString>,
    /// When each call is to be over.
    until: Option<Instant>,
    settings: &'static [&'static str],
}

impl Git {
    pub fn at(dir: &Path) -> Self {
        Self { dir: dir.to_owned(), led: BTreeMap::new(), until: None, settings: &[] }
    }

    /// With this working tree, also when the repository comes to say that it has another one.
    pub fn with_top(self, top: &Path) -> Self {
        self.led("GIT_WORK_TREE", top.into())
    }

    /// What it makes is kept in this directory, and read there besides those that are named in its own way.
    pub fn with_objects(self, made: &Path, read: OsString) -> Self {
        self.led("GIT_OBJECT_DIRECTORY", made.into()).led("GIT_ALTERNATE_OBJECT_DIRECTORIES", read)
    }

    fn led(mut self, variable: &'static str, to: OsString) -> Self {
        self.led.insert(variable, to);
        self
    }

    /// No call goes on after that.
    pub fn until(self, until: Instant) -> Self {
        Self { until: Some(until), ..self }
    }

    /// With another file for the index, and with these settings.
    pub fn with_index(&self, index: &Path, settings: &'static [&'static str]) -> Self {
        Self { settings, ..self.clone().led("GIT_INDEX_FILE", index.into()) }
    }

    /// Filters of the repository's own configuration that are not run.
    pub fn filters_left_out(&self) -> Result<Vec<String>, GitError> {
        let left_out = self.programs()?.filters;
        Ok(left_out.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect())
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// What it prints.
    pub fn run<S: AsRef<OsStr>>(&self, args: &[S]) -> Result<Vec<u8>, GitError> {
        self.fed(args, b"")
    }

    /// The same of what prints one path.
    pub fn path<S: AsRef<OsStr>>(&self, args: &[S]) -> Result<PathBuf, GitError> {
        let mut path = self.run(args)?;
        while path.last() == Some(&b'\n') {
            path.pop();
        }
        Ok(PathBuf::from(OsString::from_vec(path)))
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
        let is_harmless = args.first().is_some_and(|name| HARMLESS.iter().any(|one| name.as_ref() == *one));
        let replaced = if is_harmless { BTreeMap::new() } else { self.programs()?.replaced };
        run(self.command(&replaced).args(args), input, self.limit())
    }

    fn limit(&self) -> Instant {
        let longest = Instant::now() + LONGEST;
        self.until.map_or(longest, |until| until.min(longest))
    }

    /// The programs that the repository's own configuration names, as it is now.
    fn programs(&self) -> Result<Programs, GitError> {
        let none = BTreeMap::new();
        let list = ["config", "--list", "--show-scope", "-z"];
        let (code, out, words) = run(self.command(&none).args(list), b"", self.limit())?;
        if code == Some(0) { Ok(Programs::of(&out)) } else { Err(GitError::Said(words)) }
    }

    /// The one place that makes a command of git.
    fn command(&self, replaced: &BTreeMap<Vec<u8>, OsString>) -> Command {
        let mut command = Command::new("git");
        for name in STRAY {
            command.env_remove(name);
        }
        command.arg("--no-pager");
        for setting in SETTINGS.iter().chain(self.settings) {
            command.args(["-c", setting]);
        }
        // By the environment, since a name may have any character.
        for (number, (name, value)) in replaced.iter().enumerate() {
            let variable = format!("ACP_TUI_GIT_{number}");
            let name = [b"--config-env=", &name[..], b"=", variable.as_bytes()].concat();
            command.arg(OsString::from_vec(name)).env(variable, value);
        }
        command
            .current_dir(&self.dir)
            .envs(ENVIRONMENT.iter().copied())
            .envs(&self.led)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }
}

/// Runs it to its end, or until its time is over.
fn run(command: &mut Command, input: &[u8], until: Instant) -> Result<(Option<i32>, Vec<u8>, String), GitError> {
    command.stdin(if input.is_empty() { Stdio::null() } else { Stdio::piped() });
    if Instant::now() >= until {
        return Err(GitError::TooLate);
    }
    let mut helper = HELPERS.start(command).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => GitError::NotFound,
        // Nobody waits for any more.
        io::ErrorKind::Interrupted => GitError::TooLate,
        _ => GitError::Io(error),
    })?;
    let heard = heard(&mut helper, input, until);
    if heard.is_err() {
        helper.kill();
    }
    let mut child = helper.let_go();
    match heard {
        Ok(heard) => finished(child.wait()?, heard),
        Err(error) => {
            // What a disk holds that does not answer cannot even be killed.
            thread::Builder::new().name("git-end".into()).spawn(move || child.wait())?;
            Err(error)
        }
    }
}

/// What is heard of one that runs.
enum News {
    Out(io::Result<(Vec<u8>, bool)>),
    Words(io::Result<(Vec<u8>, bool)>),
    Ended,
}

/// What it has printed, and complained about.
#[derive(Default)]
struct Heard {
    out: Vec<u8>,
    is_whole: bool,
    words: Vec<u8>,
}

/// Waits for its end and the ends of its pipes. It was not waited for then: its number is still its own.
fn heard(helper: &mut Helper<'_>, input: &[u8], until: Instant) -> Result<Heard, GitError> {
    let (tell, told) = sync_channel(3);
    let begin = |name: &str, work: Box<dyn FnOnce() + Send>| thread::Builder::new().name(name.into()).spawn(work);
    let news = |tell: &SyncSender<News>, of: Box<dyn FnOnce() -> News + Send>| -> Box<dyn FnOnce() + Send> {
        let tell = tell.clone();
        // Who waited may have left.
        Box::new(move || drop(tell.send(of())))
    };
    if let Some(mut pipe) = helper.child.stdin.take() {
        let input = input.to_owned();
        // One that ends before it has read everything says why.
        begin("git-in", Box::new(move || drop(pipe.write_all(&input))))?;
    }
    if let Some(pipe) = helper.child.stdout.take() {
        begin("git-out", news(&tell, Box::new(|| News::Out(drained(pipe, MAX_OUTPUT)))))?;
    }
    if let Some(pipe) = helper.child.stderr.take() {
        begin("git-words", news(&tell, Box::new(|| News::Words(drained(pipe, MAX_WORDS)))))?;
    }
    let id = i32::try_from(helper.child.id()).ok().and_then(Pid::from_raw);
    let ended = move || {
        let _ = id.map(|id| waitid(WaitId::Pid(id), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT));
        News::Ended
    };
    begin("git-wait", news(&tell, Box::new(ended)))?;
    drop(tell);
    let mut heard = Heard::default();
    loop {
        match told.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(News::Out(out)) => (heard.out, heard.is_whole) = out?,
            Ok(News::Words(words)) => heard.words = words.unwrap_or_default().0,
            Ok(News::Ended) => {}
            // Everybody has told.
            Err(RecvTimeoutError::Disconnected) => return Ok(heard),
            Err(RecvTimeoutError::Timeout) => return Err(GitError::TooLate),
        }
    }
}

/// What the configuration of a repository says is to be run, and what takes its place.
#[derive(Debug, Default, PartialEq, Eq)]
struct Programs {
    /// Settings, with what the person's own configuration says, or what turns them off.
    replaced: BTreeMap<Vec<u8>, OsString>,
    /// Filters that are turned off.
    filters: BTreeSet<Vec<u8>>,
}

impl Programs {
    /// `listed` is what `git config --list --show-scope -z` prints.
    fn of(listed: &[u8]) -> Self {
        let mut parts = listed.split(|byte| *byte == 0);
        let (mut named, mut persons) = (BTreeSet::new(), BTreeMap::new());
        while let (Some(scope), Some(setting)) = (parts.next(), parts.next()) {
            let mut halves = setting.splitn(2, |byte| *byte == b'\n');
            let name = halves.next().unwrap_or_default();
            if matches!(scope, b"local" | b"worktree") {
                named.insert(name);
            } else {
                // A setting without a value is true.
                persons.insert(name, halves.next().unwrap_or(b"true"));
            }
        }
        let mut programs = Self::default();
        for name in &named {
            let mut dots = name.iter().enumerate().filter(|(_, byte)| **byte == b'.').map(|(at, _)| at);
            let (Some(first), Some(last)) = (dots.next(), dots.next_back()) else { continue };
            let settings: &[(&str, &str)] = match (&name[..first], &name[last + 1..]) {
                (b"filter", _) => &[("clean", ""), ("smudge", ""), ("process", ""), ("required", "false")],
                // A conflict.
                (b"merge", b"driver") => &[("driver", "exit 1")],
                (b"hook", _) => &[("enabled", "false")],
                _ => continue,
            };
            for (setting, off) in settings {
                let one = [&name[..=last], setting.as_bytes()].concat();
                let own = persons.get(&one[..]).filter(|_| *setting != "enabled");
                if own.is_none() && one == *name && off.is_empty() {
                    programs.filters.insert(name[first + 1..last].to_vec());
                }
                let value = own.map_or(off.as_bytes(), |own| own);
                programs.replaced.insert(one, OsString::from_vec(value.to_vec()));
            }
        }
        programs
    }
}

fn finished(status: ExitStatus, heard: Heard) -> Result<(Option<i32>, Vec<u8>, String), GitError> {
    if !heard.is_whole {
        return Err(GitError::Said("it printed more than is read of it".to_owned()));
    }
    let words = String::from_utf8_lossy(&heard.words).trim().replace('\n', "; ");
    let words = if words.is_empty() { format!("it ended with {status}") } else { words };
    Ok((status.code(), heard.out, words))
}

/// Reads to the end, and keeps the beginning; whether that is all.
fn drained(mut pipe: impl Read, most: u64) -> io::Result<(Vec<u8>, bool)> {
    let mut kept = Vec::new();
    pipe.by_ref().take(most).read_to_end(&mut kept)?;
    let more = io::copy(&mut pipe, &mut io::sink())?;
    Ok((kept, more == 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_that_waits_for_ever_ends_with_its_time() {
        let temp = tempfile::tempdir().unwrap();
        let dir = temp.path();
        Git::at(dir).run(&["init", "--quiet"]).unwrap();
        let pipe = dir.join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RWXU).unwrap();
        // Each call reads the configuration.
        std::fs::write(dir.join(".git/config"), format!("[include]\npath = {}\n", pipe.display())).unwrap();
        let git = Git::at(dir).until(Instant::now() + Duration::from_millis(300));
        assert!(matches!(git.run(&["status"]), Err(GitError::TooLate)));
        assert!(matches!(git.run(&["--version"]), Err(GitError::TooLate)), "none is started then");
    }

    #[test]
    fn programs_of_the_repository_are_turned_off_and_the_persons_stay() {
        let listed =
            b"system\0filter.lfs.clean\nold\0global\0filter.lfs.clean\ngit-lfs clean\0global\0filter.lfs.required\0\
            local\0filter.lfs.clean\nevil\0worktree\0filter.a=.b\xff.smudge\nevil\0local\0merge.m.driver\nevil\0\
            local\0merge.m.name\nm\0local\0hook.h.command\nevil\0global\0hook.h.enabled\ntrue\0local\0user.name\nx\0";
        let programs = Programs::of(listed);
        let replaced: Vec<(&[u8], &[u8])> =
            programs.replaced.iter().map(|(name, value)| (&name[..], value.as_encoded_bytes())).collect();
        assert_eq!(
            replaced,
            [
                (&b"filter.a=.b\xff.clean"[..], &b""[..]),
                (b"filter.a=.b\xff.process", b""),
                (b"filter.a=.b\xff.required", b"false"),
                (b"filter.a=.b\xff.smudge", b""),
                (b"filter.lfs.clean", b"git-lfs clean"),
                (b"filter.lfs.process", b""),
                (b"filter.lfs.required", b"true"),
                (b"filter.lfs.smudge", b""),
                (b"hook.h.enabled", b"false"),
                (b"merge.m.driver", b"exit 1"),
            ]
        );
        assert_eq!(programs.filters, [b"a=.b\xff".to_vec()].into());
    }
}
