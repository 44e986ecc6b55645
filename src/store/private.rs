//! Directories and files that only their owner can read.
//!
//! Knows nothing of what is in them. Invariants: a directory that was handed out here is the person's own and no one
//! else can look into it, also when it was there already; nothing but a plain file of the person's own is opened, and
//! opening never blocks.

use rustix::fs::OFlags;
use rustix::process::geteuid;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Read as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;
use tracing::info;

/// What others may do with a directory.
const OTHERS: u32 = 0o077;

/// Makes a directory and its missing parents, readable by the owner only. From one that is there already others lose
/// their rights; see [`check_owner`].
pub fn make_private_dir(dir: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    check_owner(dir)?;
    let mode = dir.metadata()?.mode() & 0o7777;
    if mode & OTHERS != 0 {
        info!(mode = format_args!("{mode:o}"), "a directory was open to others and is closed to them");
        fs::set_permissions(dir, Permissions::from_mode(mode & !OTHERS))?;
    }
    Ok(())
}

/// Refuses what belongs to another user. Of a link, both it and what it leads to must be the person's.
pub fn check_owner(path: &Path) -> io::Result<()> {
    let owners = [Some(path.symlink_metadata()?.uid()), path.metadata().ok().map(|meta| meta.uid())];
    owners.into_iter().flatten().try_for_each(|owner| is_own(owner, geteuid().as_raw()))
}

fn is_own(owner: u32, me: u32) -> io::Result<()> {
    if owner == me {
        return Ok(());
    }
    let why = format!(
        "it belongs to another user (number {owner}), who could read and change what is kept there; \
         remove it, or set XDG_STATE_HOME to a directory of your own"
    );
    Err(io::Error::new(io::ErrorKind::PermissionDenied, why))
}

/// For opening files: those that are made are readable by the owner only.
pub fn private_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.mode(0o600);
    options
}

/// Opens a file of ours to read it.
pub fn open(path: &Path) -> io::Result<File> {
    open_as(OpenOptions::new().read(true), path)
}

/// The same for writing, too.
pub fn open_as(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
    let odd = || io::Error::other("no plain file");
    let file = options.custom_flags(flags).open(path).map_err(|error| match path.symlink_metadata() {
        Ok(meta) if meta.is_symlink() => io::Error::other("a symbolic link, which is not followed"),
        Ok(meta) if !meta.is_file() => odd(),
        _ => error,
    })?;
    let meta = file.metadata()?;
    if !meta.is_file() {
        return Err(odd());
    }
    if meta.uid() != geteuid().as_raw() {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it belongs to another user"));
    }
    Ok(file)
}

/// All of a file of ours.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let (mut file, mut bytes) = (open(path)?, Vec::new());
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Makes what was written into a file durable. A test of a room does not outlive the machine, and would mostly wait for this;
/// those of the whole program do wait.
pub fn sync_data(file: &File) -> io::Result<()> {
    if cfg!(test) { Ok(()) } else { file.sync_data() }
}

/// The same with permissions and times; of a directory its names.
pub fn sync_all(file: &File) -> io::Result<()> {
    if cfg!(test) { Ok(()) } else { file.sync_all() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn mode(path: &Path) -> u32 {
        path.metadata().unwrap().mode() & 0o7777
    }

    #[test]
    fn a_directory_that_is_there_is_closed_to_others_and_what_it_lies_in_is_not_touched() {
        let temp = tempfile::tempdir().unwrap();
        let (above, dir) = (temp.path().join("above"), temp.path().join("above/dir"));
        fs::create_dir_all(&dir).unwrap();
        for (given, want) in [(0o777, 0o700), (0o750, 0o700), (0o700, 0o700), (0o1755, 0o1700)] {
            for dir in [&above, &dir] {
                fs::set_permissions(dir, Permissions::from_mode(given)).unwrap();
            }
            make_private_dir(&dir).unwrap();
            assert_eq!((mode(&dir), mode(&above)), (want, given));
        }
        make_private_dir(&dir.join("a/b")).unwrap();
        assert_eq!((mode(&dir.join("a")), mode(&dir.join("a/b"))), (0o700, 0o700));
    }

    #[test]
    fn a_link_of_the_persons_is_followed_and_one_that_leads_nowhere_is_an_error() {
        let temp = tempfile::tempdir().unwrap();
        let (dir, link) = (temp.path().join("dir"), temp.path().join("link"));
        symlink("dir", &link).unwrap();
        assert!(make_private_dir(&link).is_err());
        fs::create_dir(&dir).unwrap();
        fs::set_permissions(&dir, Permissions::from_mode(0o755)).unwrap();
        make_private_dir(&link).unwrap();
        assert_eq!(mode(&dir), 0o700);
    }

    #[test]
    fn nothing_but_a_plain_file_is_opened_and_nothing_is_waited_for() {
        let temp = tempfile::tempdir().unwrap();
        let at = |name: &str| temp.path().join(name);
        fs::write(at("file"), "text").unwrap();
        assert_eq!(read(&at("file")).unwrap(), b"text");
        symlink(at("file"), at("link")).unwrap();
        symlink("/dev/zero", at("endless")).unwrap();
        fs::create_dir(at("dir")).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
        for name in ["link", "endless", "dir", "pipe"] {
            let to_write = || open_as(private_file().write(true).create(true), &at(name)).map(drop);
            let to_append = || open_as(private_file().append(true).read(true).create(true), &at(name)).map(drop);
            for opened in [read(&at(name)).map(drop), to_write(), to_append()] {
                let said = opened.unwrap_err().to_string();
                assert!(said.contains("no plain file") || said.contains("a symbolic link"), "{name}: {said}");
            }
        }
        assert_eq!(read(&at("gone")).unwrap_err().kind(), io::ErrorKind::NotFound);
        open_as(private_file().write(true).create(true), &at("new")).unwrap();
    }

    #[test]
    fn what_belongs_to_somebody_else_is_refused_with_what_to_do() {
        assert!(is_own(1000, 1000).is_ok());
        for (owner, me) in [(0, 1000), (1001, 1000), (1000, 0)] {
            let said = is_own(owner, me).unwrap_err().to_string();
            assert!(said.contains(&format!("number {owner}")) && said.contains("XDG_STATE_HOME"), "{said}");
        }
        // The user of this test owns the one and not the other, or is the system's administrator, who owns both.
        let temp = tempfile::tempdir().unwrap();
        check_owner(temp.path()).unwrap();
        assert_eq!(check_owner(Path::new("/")).is_ok(), Path::new("/").metadata().unwrap().uid() == geteuid().as_raw());
        assert!(check_owner(&temp.path().join("gone")).is_err());
    }
}
