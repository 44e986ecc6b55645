//! Keeps a guard while there is something to guard: where the one that there is was ended, another one takes its place.
//!
//! It is started anew, as nothing can be forked off where there are threads. Knows not what a guard does. Invariant: where
//! guards end again and again this is given up, and said once.

use std::fs::File;
use std::io;
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Pid;
use tracing::info;

use super::guard::{current, ends_within, pipe_to_guard, replace, wait_for};

/// Before each try to have another guard in the place of one that has not lived long.
const PAUSES: [Duration; 4] =
    [Duration::ZERO, Duration::from_millis(100), Duration::from_millis(500), Duration::from_secs(2)];
/// A guard that has lived as long counts as one that was in order.
const LONG: Duration = Duration::from_secs(10);
/// Bytes of the stack of the thread that waits for the guard's end.
const STACK: usize = 256 << 10;

static AGAIN: OnceLock<Again> = OnceLock::new();

/// How this program is started as a guard.
#[derive(Debug)]
pub struct Again {
    pub args: Vec<String>,
    /// It holds standard output.
    pub has_terminal: bool,
}

/// To be told before the first guard is waited for.
pub fn guards_are_started_so(again: Again) {
    let _ = AGAIN.set(again);
}

/// Has another guard from now on where the one that there is ends that nobody has told to. Calls this once, from a thread
/// of its own, when there is none any more: whoever is killed then is not looked after.
pub fn keep_guard(when_lost: impl FnOnce() + Send + 'static) {
    if current().is_none() {
        return;
    }
    // Without the thread all is as with a first guard alone.
    let _ = thread::Builder::new().name("guard".into()).stack_size(STACK).spawn(move || {
        if keep() == Kept::Lost {
            when_lost();
        }
    });
}

#[derive(PartialEq, Eq)]
enum Kept {
    /// No guard is needed any more.
    Enough,
    Lost,
}

fn keep() -> Kept {
    let mut tries = Tries::default();
    while let Some(guard) = current() {
        let begun = Instant::now();
        wait_for(guard);
        tries.lived(begun.elapsed());
        loop {
            if current() != Some(guard) {
                return Kept::Enough;
            }
            let Some(pause) = tries.next() else { return Kept::Lost };
            if ends_within(pause) {
                return Kept::Enough;
            }
            match start() {
                Ok(()) => break,
                Err(error) => info!(%error, "no other guard could be started"),
            }
        }
    }
    Kept::Enough
}

/// How often in a row there was need of another guard.
#[derive(Default)]
struct Tries(usize);

impl Tries {
    fn lived(&mut self, time: Duration) {
        if time >= LONG {
            self.0 = 0;
        }
    }

    /// How long to wait before the next one.
    fn next(&mut self) -> Option<Duration> {
        let pause = PAUSES.get(self.0).copied();
        self.0 += 1;
        pause
    }
}

/// Starts another guard and puts it in the place of the one that was there, unless none is needed any more.
fn start() -> io::Result<()> {
    let again = AGAIN.get().ok_or(io::ErrorKind::Unsupported)?;
    let (input, pipe) = pipe_to_guard()?;
    let mut command = Command::new(own_program()?);
    command.args(&again.args).stdin(input).stderr(Stdio::piped());
    command.stdout(if again.has_terminal { Stdio::inherit() } else { File::create("/dev/null")?.into() });
    let mut child = command.spawn()?;
    // It gives this up once it has left the client's session: before that the end of the session would end it, too.
    if let Some(mut here) = child.stderr.take() {
        let _ = io::copy(&mut here, &mut io::sink());
    }
    if replace(pipe, Pid::from_child(&child)) {
        info!(guard = child.id(), "the guard was ended, another one is there");
    } else {
        // It was told nothing, and so does nothing.
        let _ = child.wait();
    }
    Ok(())
}

/// Also where its file was replaced or removed meanwhile.
fn own_program() -> io::Result<std::path::PathBuf> {
    if cfg!(any(target_os = "linux", target_os = "android")) {
        return Ok("/proc/self/exe".into());
    }
    std::env::current_exe()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guards_that_end_at_once_are_tried_a_few_times_with_longer_and_longer_pauses() {
        let mut tries = Tries::default();
        let mut again = || {
            tries.lived(Duration::from_secs(9));
            tries.next()
        };
        let pauses: Vec<Duration> = std::iter::from_fn(&mut again).take(100).collect();
        assert_eq!(pauses, PAUSES);
        assert!(pauses.is_sorted() && pauses.iter().sum::<Duration>() < Duration::from_secs(5));
        assert_eq!(again(), None, "it is given up");
        tries.lived(LONG);
        assert_eq!(tries.next(), Some(Duration::ZERO), "one that was in order for a while begins anew");
    }
}
