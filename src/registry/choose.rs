//! Which of an entry's distributions is taken on this machine.
//!
//! Invariant: no other machine's binary is taken in place of a missing one.

use super::{Entry, Package, Target};

/// Whether a program of this name is found here.
pub type Has<'a> = &'a dyn Fn(&str) -> bool;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice<'a> {
    /// Downloaded and unpacked into a directory of ours.
    Binary(&'a Target),
    /// A package runner fetches it when it is started: the runner, and its arguments.
    Runner { runner: &'static str, args: Vec<String>, package: &'a Package },
}

/// The registry's name of a machine.
pub fn platform(os: &str, arch: &str) -> String {
    let os = if os == "macos" { "darwin" } else { os };
    format!("{os}-{arch}")
}

/// A binary before a package, npm's before Python's.
///
/// # Errors
/// Says what is missing.
pub fn choose<'a>(entry: &'a Entry, platform: &str, has: Has<'_>) -> Result<Choice<'a>, String> {
    if let Some(target) = entry.binary.get(platform) {
        return Ok(Choice::Binary(target));
    }
    if let Some(package) = entry.npx.as_ref().filter(|_| has("npx")) {
        // Without the first it would ask on the input that is the protocol's.
        let mut args = vec!["--yes".to_owned()];
        match &package.cmd {
            Some(cmd) => args.extend(["--package".to_owned(), package.package.clone(), cmd.clone()]),
            None => args.push(package.package.clone()),
        }
        args.extend(package.args.iter().cloned());
        return Ok(Choice::Runner { runner: "npx", args, package });
    }
    if let Some(package) = entry.uvx.as_ref().filter(|_| has("uvx")) {
        let mut args = match &package.cmd {
            Some(cmd) => vec!["--from".to_owned(), package.package.clone(), cmd.clone()],
            None => vec![package.package.clone()],
        };
        args.extend(package.args.iter().cloned());
        return Ok(Choice::Runner { runner: "uvx", args, package });
    }
    let mut missing = Vec::new();
    if !entry.binary.is_empty() {
        let platforms: Vec<&str> = entry.binary.keys().map(String::as_str).collect();
        missing.push(format!("it has no binary for {platform}, only for {}", platforms.join(", ")));
    }
    if entry.npx.is_some() {
        missing.push("npx was not found: install Node.js".into());
    }
    if entry.uvx.is_some() {
        missing.push("uvx was not found: install uv".into());
    }
    Err(missing.join("; "))
}
