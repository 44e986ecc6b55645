//! Sets an agent of a registry up, and removes it again.
//!
//! Starts nothing. Invariants: nothing is downloaded before a yes to what is shown; a version is in its place whole or
//! not at all; one that was interrupted leaves nothing that looks usable.

use super::place::Place;
use super::read::{self, Found};
use super::{fetch, has, home, line, this_platform};
use crate::base::paths::visible;
use crate::base::sanitize;
use crate::cli::launch::Surroundings;
use crate::cli::output::{confirmed, is_screen, print, say};
use crate::cli::runtime;
use crate::cli::usage::Usage;
use crate::config::agents::find_on_path;
use crate::config::installed::{self, Installed};
use crate::headless::code;
use crate::host::unpack::{self, Kind};
use crate::registry::{self, Choice, Entry, Target};
use crate::store::lock::Lock;
use crate::store::private::{make_private_dir, open_as, private_file};
use crate::store::replace::{Durability, Replacement};
use serde_json::json;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Exit code of a download that failed or is not what it should be.
const NOT_AS_IT_SHOULD_BE: u8 = 3;
/// Bytes of a download.
const MAX_ARCHIVE: u64 = 1 << 30;
/// What is not ready yet is in directories of this name.
const UNREADY: &str = ".new-";
/// Interpreters that are no part of what they run.
const INTERPRETERS: [&str; 5] = ["node", "python", "python3", "java", "ruby"];

pub(super) fn add(name: &str, registry: Option<&str>, as_json: bool, yes: bool) -> Result<u8, Usage> {
    let surroundings = Surroundings::read();
    let home = home(&surroundings)?;
    let runtime = runtime::start()?;
    let found = match registry {
        Some(registry) => runtime.block_on(read::named(&home, registry, &surroundings.path)),
        None => read::newest(&home).ok_or_else(|| {
            "no registry was read yet; `--registry public` is the protocol's own, or name a file or an address".into()
        }),
    };
    let found = match found {
        Ok(found) => found,
        Err(why) => return Ok(failed(&why)),
    };
    found.remarks.iter().for_each(|remark| say(remark));
    if found.registry.is_later {
        return Ok(failed("it cannot be added: a later version of this client is needed"));
    }
    let entry = found.registry.find(name).map_err(Usage)?;
    let installed = installed::read(&home).map_err(Usage)?;
    let plan =
        match Plan::new(&found, entry, &home, &surroundings).and_then(|plan| plan.check(&installed).map(|()| plan)) {
            Ok(plan) => plan,
            Err(why) => return Ok(failed(&why)),
        };
    if !as_json {
        // Where it cannot be read, `--yes` agrees all the same.
        let _ = print(&plan.shown());
    }
    if !agreed(&format!("Add {}?", entry.id), yes)? {
        say("nothing was added");
        return Ok(code::OK);
    }
    let added = runtime.block_on(plan.carry_out(&home, &surroundings.path));
    runtime.shutdown_background();
    match added {
        Ok(added) if as_json => {
            let row = json!({
                "id": added.id, "version": added.version, "source": added.source, "command": added.command,
                "args": added.args, "env": added.env.keys().collect::<Vec<_>>(), "dir": added.dir,
                "sha256": added.sha256,
            });
            print(&format!("{row}\n"))
        }
        Ok(added) => {
            if surroundings.config.agents.contains_key(&added.id) {
                say(&format!("[agents.{}] of the configuration goes before it", added.id));
            }
            print(&format!("added; start it with: acp-tui --agent {}\n", added.id))
        }
        Err(why) => Ok(failed(&why)),
    }
}

pub(super) fn failed(why: &str) -> u8 {
    say(why);
    NOT_AS_IT_SHOULD_BE
}

/// A yes on the command line, or one to a question.
fn agreed(question: &str, yes: bool) -> Result<bool, Usage> {
    if yes || !is_screen() {
        let missing = || Usage("this is asked for on a terminal; `--yes` agrees without a question".into());
        return yes.then_some(true).ok_or_else(missing);
    }
    Ok(confirmed(question))
}

/// What is to be run, before anything is downloaded.
struct Plan<'a> {
    entry: &'a Entry,
    source: &'a str,
    command: String,
    args: Vec<String>,
    env: &'a BTreeMap<String, String>,
    binary: Option<Binary<'a>>,
}

struct Binary<'a> {
    target: &'a Target,
    archive: Place,
    kind: Kind,
    dir: PathBuf,
}

impl<'a> Plan<'a> {
    fn new(found: &'a Found, entry: &'a Entry, home: &Path, surroundings: &Surroundings) -> Result<Self, String> {
        let choice = registry::choose(entry, &this_platform(), &has(surroundings));
        match choice.map_err(|why| format!("{}: {why}", entry.id))? {
            Choice::Runner { runner, args, package } => {
                let (command, env) = (runner.to_owned(), &package.env);
                Ok(Self { entry, source: &found.source, command, args, env, binary: None })
            }
            Choice::Binary(target) => {
                let archive = Place::of_address(&target.archive)?;
                if !found.place.may_name(&archive) {
                    return Err(format!("{}: a registry of the net may only name https: addresses", target.archive));
                }
                let kind = Kind::of(&target.archive)?;
                let dir = home.join(found.directory()).join(&entry.id).join(&entry.version);
                let is_interpreted = INTERPRETERS.contains(&target.cmd.as_str());
                let program = if is_interpreted { PathBuf::from(&target.cmd) } else { dir.join(&target.cmd) };
                let command = program.to_string_lossy().into_owned();
                let binary = Some(Binary { target, archive, kind, dir });
                let args = target.args.clone();
                Ok(Self { entry, source: &found.source, command, args, env: &target.env, binary })
            }
        }
    }

    /// Whether it may be added beside what is there.
    fn check(&self, installed: &[Installed]) -> Result<(), String> {
        let Some(there) = installed.iter().find(|there| there.id == self.entry.id) else { return Ok(()) };
        let id = &there.id;
        if there.source != self.source {
            return Err(format!("{id} is there from {}; `acp-tui agents remove {id}` removes it", there.source));
        }
        let is_whole = there.dir.as_ref().is_none_or(|dir| dir.is_dir());
        if there.version == self.entry.version && is_whole {
            return Err(format!("{id} {} is there already", there.version));
        }
        Ok(())
    }

    fn shown(&self) -> String {
        let Entry { id, name, version, description, license, page, .. } = self.entry;
        let mut lines = vec![format!("{id} {version}: {name}. {description}")];
        let licence = license.as_deref().map_or_else(|| "no licence named".to_owned(), |of| format!("licence {of}"));
        lines.push(format!(
            "  from      {} · {licence}{}",
            self.source,
            page.iter().fold(String::new(), |_, page| format!(" · {page}"))
        ));
        if let Some(binary) = &self.binary {
            let sum = binary.target.sha256.as_deref();
            lines.push(format!("  download  {}", binary.target.archive));
            lines.push(format!("  sha256    {}", sum.unwrap_or("none is given: what comes is not checked")));
            lines.push(format!("  into      {}", visible(binary.dir.as_os_str())));
        }
        lines.push(format!("  command   {}", line(&self.command, &self.args)));
        lines.extend(self.env.iter().map(|(name, value)| format!("  with      {name}={value}")));
        if self.binary.is_none() {
            lines.push(format!("  {} downloads the package when it is started for the first time", self.command));
        }
        lines.iter().map(|line| sanitize::line(line).into_owned() + "\n").collect()
    }

    async fn carry_out(self, home: &Path, path: &OsStr) -> Result<Installed, String> {
        let words = |error: io::Error| error.to_string();
        let _lock = locked(home).map_err(words)?;
        sweep(home);
        let Self { entry, source, command, args, env, binary } = self;
        let mut new = Installed {
            id: entry.id.clone(),
            source: source.to_owned(),
            name: entry.name.clone(),
            version: entry.version.clone(),
            command,
            args,
            env: env.clone(),
            dir: None,
            sha256: None,
        };
        let before = installed::read(home)?;
        let old = before.iter().find(|there| there.id == new.id).cloned();
        if let Some(binary) = binary {
            place(&binary, &mut new, home, path).await?;
        }
        let mut all: Vec<Installed> = before.into_iter().filter(|there| there.id != new.id).collect();
        all.push(new.clone());
        write(home, &all).map_err(words)?;
        keep_one_before(old.as_ref(), new.dir.as_deref());
        Ok(new)
    }
}

/// Downloads, checks and unpacks a binary and puts it in its place.
async fn place(binary: &Binary<'_>, new: &mut Installed, home: &Path, path: &OsStr) -> Result<(), String> {
    let words = |error: io::Error| error.to_string();
    let unready = tempfile::Builder::new().prefix(UNREADY).tempdir_in(home).map_err(words)?;
    let (archive, root) = (unready.path().join("archive"), unready.path().join("root"));
    let file = private_file().write(true).create_new(true).open(&archive).map_err(words)?;
    let mut out = Hashed { file, sum: Sha256::new() };
    say(&format!("downloading {}", binary.target.archive));
    fetch::fetch(&binary.archive, MAX_ARCHIVE, path, &mut out).await?;
    let sum = out.sum.finalize().iter().fold(String::new(), |mut hex, byte| {
        // Writing to a string cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    });
    if let Some(wanted) = binary.target.sha256.as_ref().filter(|wanted| **wanted != sum) {
        return Err(format!("{}: its sha256 is {sum}, the registry says {wanted}; nothing was added", new.id));
    }
    if binary.target.sha256.is_none() {
        say(&format!("its sha256 is {sum}"));
    }
    std::fs::create_dir(&root).map_err(words)?;
    let cmd = &binary.target.cmd;
    let named = |why: String| format!("{}: {why}; nothing was added", binary.target.archive);
    let is_interpreted = INTERPRETERS.contains(&cmd.as_str());
    unpack::unpack(&archive, binary.kind, &root, cmd).map_err(named)?;
    if is_interpreted {
        // They name files of the archive, and the program is not started there.
        for arg in &mut new.args {
            if !arg.starts_with('-') && root.join(&arg).is_file() {
                *arg = binary.dir.join(&arg).to_string_lossy().into_owned();
            }
        }
    } else {
        let program = unpack::program(&root, cmd).map_err(named)?;
        unpack::make_executable(&program).map_err(words)?;
        let below = program.strip_prefix(&root).map_err(|error| error.to_string())?;
        new.command = binary.dir.join(below).to_string_lossy().into_owned();
    }
    let above = binary.dir.parent().unwrap_or(home);
    make_private_dir(above).map_err(words)?;
    if binary.dir.exists() {
        // No entry leads there, or it was not whole.
        std::fs::remove_dir_all(&binary.dir).map_err(words)?;
    }
    std::fs::rename(&root, &binary.dir).map_err(words)?;
    new.dir = Some(binary.dir.clone());
    new.sha256 = Some(sum);
    Ok(())
}

/// What is written, and its digest.
struct Hashed {
    file: std::fs::File,
    sum: Sha256,
}

impl Write for Hashed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.sum.update(bytes.get(..written).unwrap_or_default());
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Nobody else adds or removes an agent meanwhile.
fn locked(home: &Path) -> io::Result<Lock> {
    make_private_dir(home)?;
    Ok(Lock::wait(open_as(private_file().write(true).create(true).truncate(false), &home.join("lock"))?))
}

/// Removes what was interrupted; the lock is held.
fn sweep(home: &Path) {
    for entry in std::fs::read_dir(home).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(UNREADY) {
            // What stays takes room and is found again.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

fn write(home: &Path, all: &[Installed]) -> io::Result<()> {
    let mut out = Replacement::of(&home.join(installed::FILE))?;
    out.write_all(installed::text(all).as_bytes())?;
    out.finish(Durability::Whole)
}

/// The version that was there stays, in case the new one is worse; those before it go.
fn keep_one_before(old: Option<&Installed>, new: Option<&Path>) {
    let before = old.and_then(|old| old.dir.as_deref());
    let Some(above) = new.or(before).and_then(Path::parent) else { return };
    for entry in std::fs::read_dir(above).into_iter().flatten().flatten() {
        let dir = entry.path();
        if Some(dir.as_path()) != new && Some(dir.as_path()) != before {
            let _ = std::fs::remove_dir_all(dir);
        }
    }
    if let Some(before) = before.filter(|before| Some(*before) != new) {
        say(&format!("the version before stays in {}", visible(before.as_os_str())));
    }
}

pub(super) fn remove(name: &str, as_json: bool, yes: bool) -> Result<u8, Usage> {
    let surroundings = Surroundings::read();
    let home = home(&surroundings)?;
    let cannot = |why: String| Usage(format!("{}: {why}", visible(home.join(installed::FILE).as_os_str())));
    let all = installed::read(&home).map_err(cannot)?;
    let Some(there) = all.iter().find(|there| there.id == name) else {
        let ids: Vec<&str> = all.iter().map(|there| there.id.as_str()).collect();
        let are = if ids.is_empty() { "none was added".to_owned() } else { format!("added: {}", ids.join(", ")) };
        return Err(Usage(format!("no agent {name:?} was added; {are}")));
    };
    let question = match &there.dir {
        Some(dir) => format!("Remove {name} {} and {}?", there.version, visible(dir.as_os_str())),
        None => format!("Remove {name} {} ({})?", there.version, line(&there.command, &there.args)),
    };
    if !agreed(&sanitize::line(&question), yes)? {
        say("nothing was removed");
        return Ok(code::OK);
    }
    let removed = locked(&home).and_then(|_lock| {
        sweep(&home);
        let left: Vec<Installed> =
            installed::read(&home).map_err(io::Error::other)?.into_iter().filter(|there| there.id != name).collect();
        write(&home, &left)?;
        // Its versions, in the place where they were put.
        let above = there.dir.as_ref().and_then(|dir| dir.parent());
        let is_its_own = |above: &&Path| above.starts_with(&home) && above.ends_with(name) && above.is_dir();
        above.filter(is_its_own).map_or(Ok(()), std::fs::remove_dir_all)
    });
    match removed {
        Err(error) => {
            say(&format!("{name} cannot be removed: {error}"));
            Ok(code::OWN_FAULT)
        }
        Ok(()) if as_json => print(&format!("{}\n", json!({ "id": name, "removed": true }))),
        Ok(()) => {
            let still = find_on_path(name, &surroundings.path).is_some();
            let words = if still { "; a program of that name is still on the PATH" } else { "" };
            print(&format!("removed: {name}{words}\n"))
        }
    }
}
