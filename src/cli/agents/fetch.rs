//! Reads what is at a place, to a bound: a file by itself, an address by the program `curl`.
//!
//! A TLS of our own in pure Rust is not there yet: the only provider without C is a preview, and doubles our libraries.
//! Invariant: an `https:` address is never left for one without encryption.

use super::place::Place;
use crate::base::inherited::Inherited;
use crate::base::{human, sanitize};
use crate::host::fs::open_regular;
use crate::host::process::{self, AgentSpec, Graces};
use std::ffi::OsStr;
use std::io::{self, Read as _, Write};
use std::path::Path;
use std::time::Duration;
use tokio::io::AsyncReadExt as _;

/// How long a download may take.
const PATIENCE: Duration = Duration::from_mins(30);
/// How long it may take to end.
const GRACES: Graces = Graces { stdin: Duration::from_secs(3), term: Duration::from_millis(500) };
/// Bytes of what it says on standard error.
const MAX_ERRORS: u64 = 4 << 10;

/// Writes what is there to `out`, at most `max` bytes.
///
/// # Errors
/// Says why not; `out` then has a part of it.
pub(super) async fn fetch(place: &Place, max: u64, path: &OsStr, out: &mut dyn Write) -> Result<(), String> {
    match place {
        Place::File(file) => read_file(file, max, out),
        Place::Https(address) => curl(address, "=https", &["--location", "--max-redirs", "5"], max, path, out).await,
        Place::Loopback(address) => curl(address, "=http", &["--noproxy", "*"], max, path, out).await,
    }
}

fn read_file(file: &Path, max: u64, out: &mut dyn Write) -> Result<(), String> {
    let named = |why: &dyn std::fmt::Display| format!("{}: {why}", file.display());
    let opened = open_regular(file).map_err(|error| named(&error))?;
    let copied = io::copy(&mut opened.take(max + 1), out).map_err(|error| named(&error))?;
    if copied > max { Err(named(&too_large(max))) } else { Ok(()) }
}

async fn curl(
    url: &str,
    protocol: &str,
    more: &[&str],
    max: u64,
    path: &OsStr,
    out: &mut dyn Write,
) -> Result<(), String> {
    let named = |why: String| format!("{url}: {why}");
    let Some(program) = crate::config::agents::find_on_path("curl", path) else {
        return Err(named("addresses are read by the program curl, which was not found: install it".into()));
    };
    let patience = PATIENCE.as_secs().to_string();
    let plain = ["--silent", "--show-error", "--fail", "--globoff", "--connect-timeout", "20", "--max-time", &patience];
    let limits = ["--proto", protocol, "--proto-redir", protocol];
    let address = [url];
    let args = plain.iter().chain(&limits).chain(more).chain(&address);
    let spec = AgentSpec {
        command: program.into(),
        args: args.map(Into::into).collect(),
        env: Vec::new(),
        inherited: Inherited::default(),
        cwd: std::env::temp_dir(),
        sandbox: None,
    };
    let mut process = process::spawn(&spec).map_err(|error| named(error.to_string()))?;
    let (Some(mut output), Some(errors)) = (process.stdout.take(), process.stderr.take()) else {
        return Err(named("curl has no output".into()));
    };
    let said = tokio::spawn(async move {
        let mut said = Vec::new();
        let _ = errors.take(MAX_ERRORS).read_to_end(&mut said).await;
        said
    });
    let mut read = 0u64;
    let mut buffer = vec![0; 1 << 16];
    let copied: Result<(), String> = loop {
        match tokio::time::timeout(PATIENCE, output.read(&mut buffer)).await {
            Err(_) => break Err("it took too long".into()),
            Ok(Err(error)) => break Err(error.to_string()),
            Ok(Ok(0)) => break Ok(()),
            Ok(Ok(length)) => {
                read += length as u64;
                if read > max {
                    break Err(too_large(max));
                }
                if let Err(error) = out.write_all(buffer.get(..length).unwrap_or_default()) {
                    break Err(error.to_string());
                }
            }
        }
    };
    drop(output);
    let report = process.shutdown(GRACES).await;
    copied.map_err(named)?;
    let said = said.await.unwrap_or_default();
    let is_done = report.exit.is_some_and(|exit| exit.is_success());
    if is_done {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&said);
    let last = said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("curl could not read it");
    Err(named(sanitize::line(last).into_owned()))
}

fn too_large(max: u64) -> String {
    format!("it is larger than {}", human::bytes(max))
}
