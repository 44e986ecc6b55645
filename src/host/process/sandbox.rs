//! Where an agent and the commands in terminals of the client may write, as the kernel keeps it (Landlock, Linux).
//!
//! Knows no agent and no session. What is read stays open, and so do the network and sockets. Invariants: what is confined
//! is so before its first instruction, with all that it starts, and for good; where the kernel cannot do all of it nothing
//! is started. Not confined, since Landlock has no right for it: modes, owners, times and extended attributes of the same
//! user's files, and what is written to that user's other terminals by their names.

use std::path::PathBuf;

/// What may be written below, directories and files; nothing else but devices that keep nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sandbox {
    pub writable: Vec<PathBuf>,
}

/// Why something cannot be confined; the text says what to do.
#[derive(Debug, thiserror::Error)]
pub enum Unconfined {
    #[error(
        "this kernel cannot confine what is written: it needs Landlock as of Linux 6.2, switched on; leave the sandbox out"
    )]
    NoKernel,
    #[error("only Linux can confine what is written; leave the sandbox out")]
    NoSystem,
    #[error("{} cannot be opened for the sandbox: {why}", .path.display())]
    Path { path: PathBuf, why: String },
    #[error("the sandbox cannot be set up: {0}")]
    Failed(String),
}

/// Whether this system can confine what is written.
pub fn check() -> Result<(), Unconfined> {
    here::check()
}

/// Starts something that is confined from its beginning; not confined without a sandbox. The calling thread never is.
pub(in crate::host) fn within<T: Send>(
    sandbox: Option<&Sandbox>,
    start: impl FnOnce() -> T + Send,
) -> Result<T, Unconfined> {
    let Some(sandbox) = sandbox else { return Ok(start()) };
    let runtime = tokio::runtime::Handle::try_current().ok();
    // What the kernel is told holds for the thread and what is started by it.
    let begun = std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("sandbox".into()).spawn_scoped(scope, || {
            let _entered = runtime.as_ref().map(tokio::runtime::Handle::enter);
            here::confine(sandbox)?;
            Ok(start())
        });
        thread.map(|thread| thread.join())
    });
    match begun {
        Ok(Ok(begun)) => begun,
        Ok(Err(_)) => Err(Unconfined::Failed("its thread has failed".to_owned())),
        Err(error) => Err(Unconfined::Failed(error.to_string())),
    }
}

#[cfg(any(target_os = "linux", target_os = "android"))]
mod here {
    use super::{Sandbox, Unconfined};
    use landlock::{
        ABI, AccessFs, CompatLevel, Compatible as _, PathBeneath, PathFd, Ruleset, RulesetAttr as _, RulesetCreated,
        RulesetCreatedAttr as _, RulesetStatus,
    };
    use std::path::{Path, PathBuf};

    /// With this one no way is left to change a file: moves between directories and truncation are kept too.
    const NEEDED: ABI = ABI::V3;
    /// Devices that keep nothing, and terminals that programs make for themselves.
    const DEVICES: &[&str] =
        &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx", "/dev/pts"];

    fn ruleset() -> Result<RulesetCreated, Unconfined> {
        let begun = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
        let handled = begun.handle_access(AccessFs::from_write(NEEDED)).map_err(|_| Unconfined::NoKernel)?;
        handled.create().map_err(|_| Unconfined::NoKernel)
    }

    pub fn check() -> Result<(), Unconfined> {
        ruleset().map(drop)
    }

    pub fn confine(sandbox: &Sandbox) -> Result<(), Unconfined> {
        let failed = |error: landlock::RulesetError| Unconfined::Failed(error.to_string());
        let mut rules = ruleset()?;
        let own = sandbox.writable.iter().map(PathBuf::as_path);
        let devices = DEVICES.iter().map(Path::new).filter(|path| path.exists());
        for path in own.chain(devices) {
            let access = if path.is_dir() {
                AccessFs::from_write(NEEDED)
            } else {
                AccessFs::from_file(NEEDED) & AccessFs::from_write(NEEDED)
            };
            let opened = PathFd::new(path)
                .map_err(|error| Unconfined::Path { path: path.to_owned(), why: error.to_string() })?;
            rules = rules.add_rule(PathBeneath::new(opened, access)).map_err(failed)?;
        }
        let status = rules.restrict_self().map_err(failed)?;
        if status.ruleset == RulesetStatus::FullyEnforced { Ok(()) } else { Err(Unconfined::NoKernel) }
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod here {
    use super::{Sandbox, Unconfined};

    pub fn check() -> Result<(), Unconfined> {
        Err(Unconfined::NoSystem)
    }

    pub fn confine(_sandbox: &Sandbox) -> Result<(), Unconfined> {
        check()
    }
}

#[cfg(test)]
#[path = "sandbox_tests.rs"]
mod tests;
