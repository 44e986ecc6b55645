//! Runs a small program of the system or of the person to its end: what takes a copied text, what shows a notice, what
//! makes words for the status line.
//!
//! Invariants: it is run as a list of arguments, in the root directory and a process group of its own, and nothing of it
//! stands on the person's terminal; no more than [`MAX_OUTPUT`] bytes are kept of what it prints; one that takes too long
//! is killed with its group.

use rustix::process::{Pid, Signal, kill_process_group};
use std::io;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::Command;
use tokio::time::timeout;

const MAX_OUTPUT: u64 = 64 << 10;

/// Gives it the input and waits for its end. Must be called inside the runtime.
///
/// # Errors
/// When it cannot be started, does not end in time, or ends with an error.
pub async fn run_tool(words: Vec<String>, input: Vec<u8>, patience: Duration) -> io::Result<()> {
    run(words, input, patience, Stdio::null()).await.map(drop)
}

/// The same; what it prints is given back, as far as it is kept.
///
/// # Errors
/// As above.
pub async fn ask_tool(words: Vec<String>, input: Vec<u8>, patience: Duration) -> io::Result<Vec<u8>> {
    run(words, input, patience, Stdio::piped()).await
}

async fn run(words: Vec<String>, input: Vec<u8>, patience: Duration, output: Stdio) -> io::Result<Vec<u8>> {
    let (program, args) = words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let mut child = Command::new(program)
        .args(args)
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(output)
        .stderr(Stdio::null())
        .process_group(0)
        .kill_on_drop(true)
        .spawn()?;
    let (mut stdin, stdout) = (child.stdin.take(), child.stdout.take());
    let reads = async {
        let mut kept = Vec::new();
        if let Some(mut stdout) = stdout {
            (&mut stdout).take(MAX_OUTPUT).read_to_end(&mut kept).await?;
            // What is not read would stop it.
            tokio::io::copy(&mut stdout, &mut tokio::io::sink()).await?;
        }
        io::Result::Ok(kept)
    };
    let ends = async {
        if let Some(stdin) = &mut stdin {
            // One that does not read is judged by how it ends.
            let _ = stdin.write_all(&input).await;
        }
        drop(stdin);
        child.wait().await
    };
    let Ok(ended) = timeout(patience, async { tokio::try_join!(reads, ends) }).await else {
        // Nothing once it was waited for: the number may be another's then.
        let group = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        let _ = group.map(|group| kill_process_group(group, Signal::KILL));
        return Err(io::ErrorKind::TimedOut.into());
    };
    let (kept, status) = ended?;
    if status.success() { Ok(kept) } else { Err(io::Error::other(format!("{program} ended with {status}"))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(line: &str) -> Vec<String> {
        ["sh", "-c", line].map(str::to_owned).to_vec()
    }

    #[tokio::test]
    async fn a_program_reads_its_input_and_is_judged_by_its_end() {
        let long = Duration::from_secs(30);
        assert!(run_tool(sh("test \"$(cat)\" = text && test \"$PWD\" = /"), b"text".to_vec(), long).await.is_ok());
        assert!(run_tool(sh("exit 3"), vec![b'x'; 1 << 20], long).await.is_err());
        assert!(run_tool(vec!["/no/such/program".into()], Vec::new(), long).await.is_err());
        assert!(run_tool(Vec::new(), Vec::new(), long).await.is_err());
    }

    #[tokio::test]
    async fn what_it_prints_is_given_back_and_bounded() {
        let long = Duration::from_secs(30);
        assert_eq!(ask_tool(sh("cat; echo more"), b"text ".to_vec(), long).await.unwrap(), b"text more\n");
        let all = ask_tool(sh("head -c 1000000 /dev/zero"), Vec::new(), long).await.unwrap();
        assert_eq!(all.len() as u64, MAX_OUTPUT);
        assert!(ask_tool(sh("echo words; exit 1"), Vec::new(), long).await.is_err());
    }

    #[tokio::test]
    async fn one_that_takes_too_long_is_ended() {
        let error = run_tool(sh("exec sleep 1000"), Vec::new(), Duration::from_millis(20)).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }
}
