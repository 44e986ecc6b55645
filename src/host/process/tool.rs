//! Runs a small program of the system or of the person to its end: what takes a copied text, what shows a notice.
//!
//! Invariants: it is run as a list of arguments, in the root directory and a process group of its own, and nothing of it
//! stands on the person's terminal; one that takes too long is killed.

use std::io;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;
use tokio::time::timeout;

/// Gives it the input and waits for its end. Must be called inside the runtime.
///
/// # Errors
/// When it cannot be started, does not end in time, or ends with an error.
pub async fn run_tool(words: Vec<String>, input: Vec<u8>, patience: Duration) -> io::Result<()> {
    let (program, args) = words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let mut child = Command::new(program)
        .args(args)
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .kill_on_drop(true)
        .spawn()?;
    let mut stdin = child.stdin.take();
    let ends = async {
        if let Some(stdin) = &mut stdin {
            // One that does not read is judged by how it ends.
            let _ = stdin.write_all(&input).await;
        }
        drop(stdin);
        child.wait().await
    };
    let status = timeout(patience, ends).await.map_err(|_| io::ErrorKind::TimedOut)??;
    if status.success() { Ok(()) } else { Err(io::Error::other(format!("{program} ended with {status}"))) }
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
    async fn one_that_takes_too_long_is_ended() {
        let error = run_tool(sh("exec sleep 1000"), Vec::new(), Duration::from_millis(20)).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }
}
