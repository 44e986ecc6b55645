//! The person's own editor, on the person's own terminal.
//!
//! Starts it and no more; who waits for it gives the terminal back before and takes it again after. The command is
//! what the environment says, read by a shell as it is for other programs; names of files are arguments, never part
//! of that line. Invariant: a text handed to it lies in a file that only its owner may read, and goes with the value.

use super::guard::{end_program, tell_of_program};
use super::repair::{LineSettings, line_settings, repair_after_lending};
use rustix::fs::OFlags;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, IsTerminal as _, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use tempfile::NamedTempFile;
use tokio::process::{Child, Command};
use tokio::time::{Interval, MissedTickBehavior, interval};

/// More is not read back, in bytes.
const MAX_TEXT: u64 = 8 << 20;
/// A longer one tells an editor nothing, in bytes.
const MAX_EXTENSION: usize = 32;
/// Says something, once any key will do, and takes one with all of the bytes that it is sent as. Ctrl+C is one as well:
/// as a signal it would be lost between two commands of this line.
const ONE_KEY: &str = "trap : INT; kept=$(stty -g); stty -icanon -echo -isig min 1 time 0; printf '\\n%s ' \"$1\"; \
    dd bs=64 count=1 > /dev/null 2>&1; printf '\\n'; stty \"$kept\"";
/// How often it is looked whether a program has set the terminal for keys, until it has.
const LOOKS: Duration = Duration::from_millis(200);
/// Where neither `VISUAL` nor `EDITOR` is set.
const USUAL: &str = "vi";

/// What the person edits with.
pub fn command() -> OsString {
    let set = |name| std::env::var_os(name).filter(|c| !c.to_string_lossy().trim().is_empty());
    set("VISUAL").or_else(|| set("EDITOR")).unwrap_or_else(|| USUAL.into())
}

/// What the person reads long texts with.
pub fn pager() -> OsString {
    std::env::var_os("PAGER").filter(|c| !c.to_string_lossy().trim().is_empty()).unwrap_or_else(|| "less".into())
}

/// Starts the editor on a file, at a line from 1. Must be called inside the runtime, while the terminal is not ours.
///
/// # Errors
/// When there is no shell; an editor that is not there shows as its exit status.
pub fn start(command: &OsString, file: &Path, line: Option<u32>) -> io::Result<Borrower> {
    let mut words = command.clone();
    words.push(" \"$@\"");
    let mut shell = shell(words);
    shell.arg(command);
    if let Some(line) = line {
        shell.arg(format!("+{line}"));
    }
    Borrower::start(shell.arg(file))
}

/// Waits for a key: what was printed before would be gone with the next frame.
///
/// # Errors
/// When there is no shell.
pub fn pause() -> io::Result<Borrower> {
    Borrower::start(shell(ONE_KEY).args(["sh", "The pager has ended · any key goes back to acp-tui"]))
}

/// A program that has the terminal while it runs, which is told. Dropping it ends it, but not what it has started.
#[derive(Debug)]
pub struct Borrower {
    child: Child,
    pid: Option<u32>,
    /// What the terminal was set to before.
    before: Option<LineSettings>,
    /// It has set the terminal otherwise, as what takes keys does.
    took_keys: bool,
    looks: Interval,
}

/// How a program has ended, and whether it was seen to take keys while it had the terminal.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    pub status: ExitStatus,
    pub took_keys: bool,
}

impl Borrower {
    fn start(command: &mut Command) -> io::Result<Self> {
        let before = line_settings();
        let child = command.spawn()?;
        let pid = child.id();
        pid.inspect(|pid| tell_of_program(*pid, true));
        let mut looks = interval(LOOKS);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Ok(Self { child, pid, before, took_keys: false, looks })
    }

    /// Ends it before its time, with all that it has started, and puts the terminal in order after it.
    pub async fn end(mut self) {
        if let Some(pid) = self.pid {
            // What does not listen is waited for a while.
            let _ = tokio::task::spawn_blocking(move || end_program(pid)).await;
        }
        // A terminal that is gone takes nothing.
        let _ = repair_after_lending(self.before.as_ref());
        let _ = self.child.start_kill();
    }

    /// # Errors
    /// When it cannot be waited for.
    pub async fn wait(&mut self) -> io::Result<Ended> {
        loop {
            tokio::select! {
                biased;
                status = self.child.wait() => return status.map(|status| Ended { status, took_keys: self.took_keys }),
                _ = self.looks.tick(), if !self.took_keys && self.before.is_some() => {
                    let text = |settings: &LineSettings| settings.to_text();
                    self.took_keys = line_settings().as_ref().map(text) != self.before.as_ref().map(text);
                }
            }
        }
    }
}

impl Drop for Borrower {
    fn drop(&mut self) {
        self.pid.inspect(|pid| tell_of_program(*pid, false));
    }
}

/// A shell that reads from the terminal.
fn shell(words: impl AsRef<OsStr>) -> Command {
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(words).kill_on_drop(true);
    // Where standard input is something else; without a terminal the program says so itself.
    if !io::stdin().is_terminal()
        && let Ok(tty) = File::open("/dev/tty")
    {
        shell.stdin(Stdio::from(tty));
    }
    shell
}

/// A text in a private file, named so that editors know its language.
#[derive(Debug)]
pub struct Draft(NamedTempFile);

impl Draft {
    /// # Errors
    /// When the file cannot be written.
    pub fn of(text: &str, like: &Path) -> io::Result<Self> {
        let mut suffix = OsString::new();
        // One as long as a name may be leaves no room for the rest.
        if let Some(extension) = like.extension().filter(|extension| extension.len() <= MAX_EXTENSION) {
            suffix.push(".");
            suffix.push(extension);
        }
        let mut file = tempfile::Builder::new().prefix("acp-tui-").suffix(&suffix).tempfile()?;
        file.write_all(text.as_bytes())?;
        file.flush()?;
        Ok(Self(file))
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// What is in it now, with LF line ends.
    ///
    /// # Errors
    /// When it is gone, too long, or no UTF-8.
    pub fn text(&self) -> io::Result<String> {
        // By its name: many editors put a new file in its place. A pipe is not waited for.
        let mut text = String::new();
        let flags = OFlags::NONBLOCK.bits().cast_signed();
        let file = File::options().read(true).custom_flags(flags).open(self.path())?;
        file.take(MAX_TEXT + 1).read_to_string(&mut text)?;
        if text.len() as u64 > MAX_TEXT {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, "the text is too long"));
        }
        Ok(text.replace("\r\n", "\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[tokio::test]
    async fn the_command_may_have_arguments_and_the_name_may_be_odd() {
        let dir = tempfile::tempdir().unwrap();
        let (script, seen) = (dir.path().join("edit or"), dir.path().join("seen"));
        std::fs::write(&script, format!("printf '%s\\n' \"$@\" > '{}'\n", seen.display())).unwrap();
        // Read by a shell: a program just written may be busy, when another test forks meanwhile.
        let command = OsString::from(format!("sh '{}' --wait", script.display()));
        let file = Path::new("/tmp/$(touch x) a;b");
        let status = start(&command, file, Some(12)).unwrap().wait().await.unwrap().status;
        assert!(status.success());
        assert_eq!(std::fs::read_to_string(&seen).unwrap(), "--wait\n+12\n/tmp/$(touch x) a;b\n");
    }

    #[test]
    fn a_draft_is_private_and_read_back_as_it_is_then() {
        let draft = Draft::of("one\n", Path::new("src/a.rs")).unwrap();
        let mode = std::fs::metadata(draft.path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(draft.path().extension().unwrap(), "rs");
        // As an editor does that writes a new file.
        let other = draft.path().with_extension("new");
        std::fs::write(&other, "two\r\nthree\n").unwrap();
        std::fs::rename(&other, draft.path()).unwrap();
        assert_eq!(draft.text().unwrap(), "two\nthree\n");
        std::fs::write(draft.path(), b"\xff").unwrap();
        assert!(draft.text().is_err());
        let long = format!("a.{}", "x".repeat(250));
        assert_eq!(Draft::of("one\n", Path::new(&long)).unwrap().text().unwrap(), "one\n");
    }
}
