//! What an agent and the commands in terminals of the client may write, read and reach, as the kernel keeps it (Landlock,
//! and seccomp for the limits of other processes and for ways to connect that Landlock does not see; Linux).
//!
//! Knows no agent and no session. Writing is always confined; reading and ports of TCP where that is asked for; signals and
//! abstract sockets where the kernel can. Root loses the capabilities that would go round all this. Invariants: what is
//! confined is so before its first instruction, with all that it starts, and for good; where the kernel cannot do all that
//! is asked for nothing is started. Not confined, since Landlock has no right for it: modes, owners, times and extended
//! attributes of the same user's files, what is written to that user's other terminals by their names, UDP, vsock, raw sockets
//! of root, waiting on a port that the kernel chooses (`listen` without `bind`) unless there are no ports at all, sockets in the
//! file system, shared memory and semaphores of System V, and the priority of that user's processes.

use std::path::PathBuf;

/// What may be done, with all that is started by it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sandbox {
    /// What may be written below, directories and files; nothing else but devices that keep nothing.
    pub writable: Vec<PathBuf>,
    /// What may be read below, besides what may be written; everything where it is not said.
    pub readable: Option<Vec<PathBuf>>,
    /// To which ports of TCP a connection may be made; to all where it is not said.
    pub connects: Option<Vec<u16>>,
    /// On which it may be waited for one.
    pub listens: Option<Vec<u16>>,
}

/// Why something cannot be confined; the text says what to do.
#[derive(Debug, thiserror::Error)]
pub enum Unconfined {
    #[error(
        "this kernel cannot confine what is written: it needs Landlock as of Linux 6.2, switched on; leave the sandbox out"
    )]
    NoKernel,
    #[error(
        "this kernel cannot confine ports: it needs Landlock as of Linux 6.7; leave sandbox_connect and sandbox_listen out"
    )]
    NoPorts,
    #[error("only Linux can confine what is written; leave the sandbox out")]
    NoSystem,
    #[error("{} cannot be opened for the sandbox: {why}", .path.display())]
    Path { path: PathBuf, why: String },
    #[error("the sandbox cannot be set up: {0}")]
    Failed(String),
}

/// Whether this system can confine what is written and read.
pub fn check() -> Result<(), Unconfined> {
    here::check(&Sandbox::default())
}

/// Whether it can confine ports of TCP, too.
pub fn check_ports() -> Result<(), Unconfined> {
    here::check(&Sandbox { connects: Some(Vec::new()), listens: Some(Vec::new()), ..Sandbox::default() })
}

/// Whether what is confined sends no signals to processes outside, and reaches no abstract sockets that others have made.
pub fn keeps_apart() -> bool {
    here::keeps_apart()
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
    use crate::host::process::limits;
    use landlock::{
        ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, NetPort, PathBeneath, PathFd,
        Ruleset, RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, RulesetError, RulesetStatus, Scope,
    };
    use rustix::thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities};
    use std::path::{Path, PathBuf};

    /// With this one no way is left to change a file: moves between directories and truncation are kept too.
    const NEEDED: ABI = ABI::V3;
    /// From this one on signals and abstract sockets can be kept inside.
    const SCOPED: ABI = ABI::V6;
    /// Devices that keep nothing, and terminals that programs make for themselves.
    const DEVICES: &[&str] =
        &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx", "/dev/pts"];

    /// Making a device node, which would lead to the device itself past all rights on files: allowed nowhere.
    fn nodes() -> BitFlags<AccessFs> {
        AccessFs::MakeChar | AccessFs::MakeBlock
    }

    /// What root keeps: what concerns files, users and networks of its own. With the others it goes round the rights on
    /// files: types into the terminals of others, reads the memory of others, opens files by their handles, changes the kernel.
    const OF_ROOT: CapabilitySet = CapabilitySet::CHOWN
        .union(CapabilitySet::DAC_OVERRIDE)
        .union(CapabilitySet::FOWNER)
        .union(CapabilitySet::FSETID)
        .union(CapabilitySet::KILL)
        .union(CapabilitySet::SETGID)
        .union(CapabilitySet::SETUID)
        .union(CapabilitySet::SETPCAP)
        .union(CapabilitySet::SETFCAP)
        .union(CapabilitySet::NET_BIND_SERVICE)
        .union(CapabilitySet::NET_RAW)
        .union(CapabilitySet::SYS_CHROOT)
        .union(CapabilitySet::AUDIT_WRITE);

    /// Gives up for good what is not in [`OF_ROOT`]: that no program brings it back is seen to by `no_new_privs`, which
    /// the kernel wants of all that is confined.
    fn give_up() -> rustix::io::Result<()> {
        let held = capabilities(None)?;
        let CapabilitySets { effective, permitted, inheritable } = held;
        let left = CapabilitySets {
            effective: effective & OF_ROOT,
            permitted: permitted & OF_ROOT,
            inheritable: inheritable & OF_ROOT,
        };
        if left == held { Ok(()) } else { set_capabilities(None, left) }
    }

    /// What is forbidden unless a rule allows it.
    fn ruleset(sandbox: &Sandbox) -> Result<RulesetCreated, Unconfined> {
        let begun = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
        let mut handled = begun.handle_access(kept(sandbox)).map_err(|_| Unconfined::NoKernel)?;
        let ports = [(&sandbox.connects, AccessNet::ConnectTcp), (&sandbox.listens, AccessNet::BindTcp)];
        for (_, access) in ports.into_iter().filter(|(ports, _)| ports.is_some()) {
            handled = handled.handle_access(access).map_err(|_| Unconfined::NoPorts)?;
        }
        if keeps_apart() {
            handled = handled.scope(Scope::from_all(SCOPED)).map_err(|_| Unconfined::NoKernel)?;
        }
        handled.create().map_err(|_| Unconfined::NoKernel)
    }

    fn kept(sandbox: &Sandbox) -> BitFlags<AccessFs> {
        let written = AccessFs::from_write(NEEDED);
        if sandbox.readable.is_some() { written | AccessFs::from_read(NEEDED) } else { written }
    }

    pub fn check(sandbox: &Sandbox) -> Result<(), Unconfined> {
        ruleset(sandbox).map(drop)
    }

    pub fn keeps_apart() -> bool {
        let begun = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
        begun.scope(Scope::from_all(SCOPED)).is_ok()
    }

    pub fn confine(sandbox: &Sandbox) -> Result<(), Unconfined> {
        let failed = |error: RulesetError| Unconfined::Failed(error.to_string());
        let mut rules = ruleset(sandbox)?;
        let all = kept(sandbox) & !nodes();
        let own = sandbox.writable.iter().map(PathBuf::as_path);
        let devices = DEVICES.iter().map(Path::new).filter(|path| path.exists());
        let written = own.chain(devices).map(|path| (path, all));
        let read = sandbox.readable.iter().flatten().map(|path| (path.as_path(), AccessFs::from_read(NEEDED)));
        for (path, access) in written.chain(read) {
            let access = if path.is_dir() { access } else { AccessFs::from_file(NEEDED) & access };
            let opened = PathFd::new(path)
                .map_err(|error| Unconfined::Path { path: path.to_owned(), why: error.to_string() })?;
            rules = rules.add_rule(PathBeneath::new(opened, access)).map_err(failed)?;
        }
        let ports = [(&sandbox.connects, AccessNet::ConnectTcp), (&sandbox.listens, AccessNet::BindTcp)];
        for (ports, access) in ports {
            for port in ports.iter().flatten() {
                rules = rules.add_rule(NetPort::new(*port, access)).map_err(failed)?;
            }
        }
        let status = rules.restrict_self().map_err(failed)?;
        if status.ruleset != RulesetStatus::FullyEnforced {
            return Err(Unconfined::NoKernel);
        }
        give_up().map_err(|error| Unconfined::Failed(format!("what only root can do cannot be given up: {error}")))?;
        let ports = match (&sandbox.connects, &sandbox.listens) {
            (None, None) => limits::Ports::All,
            (Some(connects), Some(listens)) if connects.is_empty() && listens.is_empty() => limits::Ports::None,
            _ => limits::Ports::Some,
        };
        limits::keep(ports).map_err(Unconfined::Failed)
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod here {
    use super::{Sandbox, Unconfined};

    pub fn check(_sandbox: &Sandbox) -> Result<(), Unconfined> {
        Err(Unconfined::NoSystem)
    }

    pub fn keeps_apart() -> bool {
        false
    }

    pub fn confine(sandbox: &Sandbox) -> Result<(), Unconfined> {
        check(sandbox)
    }
}

#[cfg(test)]
#[path = "sandbox_tests.rs"]
mod tests;
