//! A place of its own for each run of the program: home, state, configuration, an empty directory to work in, and a
//! mark in the environment by which everything that was started can be found again.

use crate::support::schema::{Watched, check_journals};
use serde_json::Value;
use serde_json::value::RawValue;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tempfile::TempDir;

pub const PROGRAM: &str = env!("CARGO_BIN_EXE_acp-tui");
/// Nothing here takes as long on a machine that is not broken.
pub const LIMIT: Duration = Duration::from_secs(90);
const MARK: &str = "ACP_TUI_TEST_MARK";
static RUNS: AtomicU64 = AtomicU64::new(0);

pub struct Lab {
    dir: TempDir,
    mark: String,
}

impl Lab {
    pub fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for name in ["home", "state", "config/acp-tui", "work"] {
            std::fs::create_dir_all(dir.path().join(name)).unwrap();
        }
        let number = RUNS.fetch_add(1, Ordering::Relaxed);
        Self { dir, mark: format!("{}-{number}", std::process::id()) }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(name)
    }

    pub fn cwd(&self) -> PathBuf {
        self.path("work")
    }

    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// An executable shell script that is the agent.
    pub fn shell_agent(&self, text: &str) -> Vec<String> {
        let path = self.write("agent.sh", text);
        vec!["sh".into(), path.to_str().unwrap().into()]
    }

    /// The demo agent with a script of its own.
    pub fn script(&self, text: &str) -> Vec<String> {
        let path = self.write("agent.toml", text);
        demo(path.to_str().unwrap())
    }

    /// Another one, beside the first.
    pub fn script_named(&self, name: &str, text: &str) -> Vec<String> {
        let path = self.write(&format!("{name}.toml"), text);
        demo(path.to_str().unwrap())
    }

    /// The demo agent with one turn for every prompt.
    pub fn turn(&self, steps: &str) -> Vec<String> {
        self.script(&format!("[[turn]]\ndefault = true\nstep = [\n{steps}\n]\n"))
    }

    /// The program itself in this place, with nothing else of the environment but the path.
    pub fn program(&self) -> Command {
        self.command(PROGRAM)
    }

    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env_clear().current_dir(self.cwd());
        command.env("PATH", std::env::var_os("PATH").unwrap_or_else(|| OsString::from("/usr/bin:/bin")));
        command.env("HOME", self.path("home")).env("XDG_STATE_HOME", self.path("state"));
        command.env("XDG_CONFIG_HOME", self.path("config")).env(MARK, &self.mark);
        command
    }

    /// `exec` with `args`, then the agent after `--`.
    pub fn exec_command(&self, args: &[&str], agent: &[String]) -> Command {
        let mut command = self.program();
        command.arg("exec").args(args);
        if !agent.is_empty() {
            command.arg("--").args(agent);
        }
        command
    }

    pub fn exec(&self, args: &[&str], agent: &[String]) -> Done {
        Running::start(self.exec_command(args, agent), Stdio::null()).finish()
    }

    pub fn start(&self, args: &[&str], agent: &[String]) -> Running {
        Running::start(self.exec_command(args, agent), Stdio::null())
    }

    /// Runs `exec --record`, and reads the recording.
    pub fn record(&self, args: &[&str], agent: &[String]) -> (Done, Recording) {
        let file = self.path("record.jsonl");
        let mut all: Vec<&str> = vec!["--record", file.to_str().unwrap()];
        all.extend(args);
        let done = self.exec(&all, agent);
        let recording = Recording::read(&file);
        if !args.contains(&"--dialect") {
            recording.assert_valid();
        }
        (done, recording)
    }

    pub fn sessions(&self) -> PathBuf {
        self.path("state/acp-tui/sessions")
    }

    /// The only journal.
    pub fn journal(&self) -> (PathBuf, String) {
        let mut all: Vec<PathBuf> =
            std::fs::read_dir(self.sessions()).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(all.len(), 1, "{all:?}");
        let path = all.remove(0);
        let text = String::from_utf8(std::fs::read(&path).unwrap()).unwrap();
        (path, text)
    }

    /// Living processes that were started from here, with their command lines. Linux only.
    pub fn left(&self) -> Vec<(i32, String)> {
        let wanted = format!("{MARK}={}", self.mark);
        let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
        entries
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok())
            .filter(|pid| {
                let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
                environment.split(|b| *b == 0).any(|one| one == wanted.as_bytes()) && is_alive(*pid)
            })
            .map(|pid| {
                let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
                (pid, String::from_utf8_lossy(&line).replace('\0', " "))
            })
            .collect()
    }

    /// Nothing may be left; a process that is on its way out gets a moment.
    pub fn assert_nothing_left(&self) {
        if cfg!(target_os = "linux") {
            wait_until("nothing is left", || self.left().is_empty());
        }
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        for (pid, _) in self.left() {
            kill(pid, rustix::process::Signal::KILL);
        }
        if !std::thread::panicking() {
            let _ = check_journals(&self.path("state"));
        }
    }
}

/// The demo agent with one of its own scripts, or with a file.
pub fn demo(script: &str) -> Vec<String> {
    [PROGRAM, "demo-agent", "--fast", "--script", script].map(str::to_owned).to_vec()
}

pub fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

pub fn kill(pid: i32, signal: rustix::process::Signal) {
    if let Some(pid) = rustix::process::Pid::from_raw(pid) {
        let _ = rustix::process::kill_process(pid, signal);
    }
}

pub fn is_alive(pid: i32) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with(['Z', 'X']))
}

/// Looks again and again until it is so.
#[track_caller]
pub fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let until = Instant::now() + LIMIT;
    while !condition() {
        assert!(Instant::now() < until, "waited in vain: {what}");
        std::thread::park_timeout(Duration::from_millis(10));
    }
}

/// A program that runs; killed when it is dropped.
pub struct Running {
    pub pid: i32,
    child: Child,
    started: Instant,
    stdout: Option<BufReader<ChildStdout>>,
    /// What of stdout was read line by line.
    seen: Vec<u8>,
    stderr: Option<JoinHandle<Vec<u8>>>,
}

pub struct Done {
    pub code: Option<i32>,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    pub took: Duration,
    /// The highest memory in KiB, Linux only.
    pub peak_kib: u64,
}

impl Running {
    pub fn start(mut command: Command, stdin: Stdio) -> Self {
        let mut child = command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let stderr = child.stderr.take().map(drain);
        Self {
            pid: child.id() as i32,
            started: Instant::now(),
            stdout: child.stdout.take().map(BufReader::new),
            seen: Vec::new(),
            stderr,
            child,
        }
    }

    pub fn give(&mut self, input: &[u8]) {
        let mut stdin = self.child.stdin.take().unwrap();
        stdin.write_all(input).unwrap();
    }

    /// Reads on until a line of the output contains this.
    pub fn until_line(&mut self, part: &str) -> String {
        let stdout = self.stdout.as_mut().unwrap();
        loop {
            let mut line = Vec::new();
            let count = stdout.read_until(b'\n', &mut line).unwrap();
            self.seen.extend(&line);
            let text = String::from_utf8_lossy(&line).into_owned();
            assert!(count > 0, "`{part}` never came: {}", String::from_utf8_lossy(&self.seen));
            if text.contains(part) {
                return text;
            }
        }
    }

    /// What a reader does that has seen enough.
    pub fn close_stdout(&mut self) {
        self.stdout = None;
    }

    pub fn signal(&self, signal: rustix::process::Signal) {
        kill(self.pid, signal);
    }

    /// Waits for the end without reading any more of the output.
    pub fn finish_unread(mut self) -> (Option<i32>, String) {
        let (_tell, told) = channel();
        let (code, _) = self.wait(&told);
        let stderr = self.stderr.take().map(|t| t.join().unwrap()).unwrap_or_default();
        (code, String::from_utf8_lossy(&stderr).into_owned())
    }

    pub fn finish(mut self) -> Done {
        let rest = self.stdout.take().map(drain);
        let stderr = self.stderr.take();
        // Read in threads: a child that is waited for must not wait for us.
        let (tell, told) = channel();
        let reader = std::thread::spawn(move || {
            let out = rest.map(|t| t.join().unwrap()).unwrap_or_default();
            let err = stderr.map(|t| t.join().unwrap()).unwrap_or_default();
            let _ = tell.send(());
            (out, err)
        });
        let (code, peak_kib) = self.wait(&told);
        let took = self.started.elapsed();
        // A process that survived may hold the pipes; that is looked at elsewhere.
        let until = Instant::now() + LIMIT;
        while !reader.is_finished() && Instant::now() < until {
            std::thread::park_timeout(Duration::from_millis(5));
        }
        assert!(reader.is_finished(), "somebody still holds the output open");
        let (out, stderr) = reader.join().unwrap();
        let mut stdout = std::mem::take(&mut self.seen);
        stdout.extend(out);
        Done { code, stdout, stderr, took, peak_kib }
    }

    fn wait(&mut self, tick: &Receiver<()>) -> (Option<i32>, u64) {
        let mut peak = 0;
        loop {
            peak = peak.max(peak_of(self.pid));
            if let Some(status) = self.child.try_wait().unwrap() {
                return (status.code(), peak);
            }
            if self.started.elapsed() > LIMIT {
                kill(self.pid, rustix::process::Signal::KILL);
                self.child.wait().unwrap();
                panic!("it did not end within {LIMIT:?}");
            }
            // The pipes close when the program ends, or at the latest a moment after.
            if let Err(RecvTimeoutError::Disconnected) = tick.recv_timeout(Duration::from_millis(5)) {
                std::thread::park_timeout(Duration::from_millis(5));
            }
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

fn drain(mut source: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut all = Vec::new();
        let _ = source.read_to_end(&mut all);
        all
    })
}

fn peak_of(pid: i32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

impl Done {
    #[track_caller]
    pub fn out(&self) -> &str {
        std::str::from_utf8(&self.stdout).expect("stdout is UTF-8")
    }

    #[track_caller]
    pub fn err(&self) -> &str {
        std::str::from_utf8(&self.stderr).expect("stderr is UTF-8")
    }

    fn story(&self) -> String {
        let mut text = String::new();
        let cut = |bytes: &[u8]| String::from_utf8_lossy(bytes).chars().take(3000).collect::<String>();
        let _ = write!(text, "code {:?}\nstdout: {}\nstderr: {}", self.code, cut(&self.stdout), cut(&self.stderr));
        text
    }

    #[track_caller]
    pub fn assert_code(&self, code: i32) -> &Self {
        assert_eq!(self.code, Some(code), "{}", self.story());
        self
    }

    /// The code, and what standard error has to say.
    #[track_caller]
    pub fn assert_says(&self, code: i32, parts: &[&str]) -> &Self {
        self.assert_code(code);
        let reason = self.err().lines().find(|line| line.starts_with("acp-tui: "));
        assert!(reason.is_some(), "no reason on stderr\n{}", self.story());
        for part in parts {
            assert!(self.err().contains(part), "`{part}` is missing\n{}", self.story());
        }
        self
    }

    /// The lines of `--json`.
    #[track_caller]
    pub fn json(&self) -> Vec<Value> {
        let lines: Vec<Value> = self
            .out()
            .lines()
            .map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}\n{}", self.story())))
            .collect();
        for line in &lines {
            assert_eq!(line["v"], 1, "{line}");
            assert!(line["type"].is_string(), "{line}");
        }
        let results = lines.iter().filter(|line| line["type"] == "result").count();
        assert_eq!(results, 1, "{}", self.story());
        let last = lines.last().unwrap();
        assert_eq!(last["type"], "result", "{}", self.story());
        for member in ["stop_reason", "session_id", "usage"] {
            assert!(last.get(member).is_some(), "{member} is missing in {last}");
        }
        lines
    }

    #[track_caller]
    pub fn result(&self) -> Value {
        self.json().pop().unwrap()
    }

    /// All text of one type in the lines of `--json`.
    #[track_caller]
    pub fn json_text(&self, kind: &str) -> String {
        let lines = self.json();
        lines.iter().filter(|line| line["type"] == kind).filter_map(|line| line["text"].as_str()).collect()
    }
}

/// A recording, or the part of a journal that has the same form.
pub struct Recording {
    pub records: Vec<Record>,
}

#[derive(serde::Deserialize)]
pub struct Record {
    pub t: f64,
    pub dir: String,
    #[serde(default)]
    frame: Option<Box<RawValue>>,
    #[serde(default)]
    pub raw: Option<String>,
}

impl Record {
    pub fn text(&self) -> &str {
        self.frame.as_ref().map_or("", |frame| frame.get())
    }

    pub fn value(&self) -> Value {
        serde_json::from_str(self.text()).unwrap_or(Value::Null)
    }

    pub fn is_ours(&self) -> bool {
        self.dir == "client->agent"
    }
}

#[derive(serde::Deserialize)]
struct Ided<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<&'a RawValue>,
}

impl Recording {
    pub fn read(file: &Path) -> Self {
        let text = String::from_utf8(std::fs::read(file).unwrap()).unwrap();
        let records = text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}")));
        Self { records: records.collect() }
    }

    /// What we sent is valid in the published schemas.
    #[track_caller]
    fn assert_valid(&self) {
        let mut watched = Watched::default();
        for record in self.records.iter().filter(|record| record.dir != "note" && !record.text().is_empty()) {
            if record.is_ours() {
                watched.sent(&record.value());
            } else {
                watched.hear(record.text().as_bytes());
            }
        }
    }

    /// The requests and notifications with this method that went one way.
    pub fn calls(&self, ours: bool, method: &str) -> Vec<Value> {
        let wanted = |value: &Value| value["method"] == method;
        self.records.iter().filter(|r| r.is_ours() == ours).map(Record::value).filter(wanted).collect()
    }

    /// What we answered, with the id as text.
    pub fn answers(&self) -> Vec<(String, Value)> {
        self.ids(true, false).into_iter().map(|(id, value, _)| (id, value)).collect()
    }

    /// Ids of what the agent asked, as text, with their methods, in order.
    pub fn questions(&self) -> Vec<(String, String)> {
        self.ids(false, true).into_iter().map(|(id, _, method)| (id, method)).collect()
    }

    fn ids(&self, ours: bool, requests: bool) -> Vec<(String, Value, String)> {
        let frames = self.records.iter().filter(|r| r.is_ours() == ours && !r.text().is_empty());
        frames
            .filter_map(|record| {
                let found: Ided<'_> = serde_json::from_str(record.text()).ok()?;
                let method = found.method.map(|m| m.get().trim_matches('"').to_owned());
                // A null id is an id; serde takes it for none.
                let id = match found.id {
                    Some(id) => id.get().to_owned(),
                    None if record.value().get("id").is_some() => "null".to_owned(),
                    None => return None,
                };
                (method.is_some() == requests).then(|| (id, record.value(), method.unwrap_or_default()))
            })
            .collect()
    }

    /// The outcomes of permission requests, in the order of the requests.
    pub fn outcomes(&self) -> Vec<Value> {
        let answers = self.answers();
        let asked = self.questions().into_iter().filter(|(_, method)| method == "session/request_permission");
        asked
            .map(|(id, _)| {
                let mut found = answers.iter().filter(|(answered, _)| *answered == id);
                let answer =
                    found.next().unwrap_or_else(|| panic!("{id} was not answered")).1["result"]["outcome"].clone();
                assert!(found.next().is_none(), "{id} was answered twice");
                answer
            })
            .collect()
    }
}

/// What a command of the program does and says.
pub fn run(lab: &Lab, args: &[&str]) -> Done {
    let mut command = lab.program();
    command.args(args);
    Running::start(command, Stdio::null()).finish()
}

/// A command of git by somebody with a name, which succeeds.
pub fn git(lab: &Lab, args: &[&str]) {
    let mut command = lab.command("git");
    command.args(["-c", "user.name=x", "-c", "user.email=x@x"]).args(args);
    Running::start(command, Stdio::null()).finish().assert_code(0);
}

/// The directory as a repository with one file in one commit.
pub fn repository(lab: &Lab) {
    git(lab, &["init", "-q", "-b", "main"]);
    lab.write("work/f", "one\n");
    git(lab, &["add", "-A"]);
    git(lab, &["commit", "-q", "-m", "first"]);
}
