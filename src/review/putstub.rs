//! Placeholder.
use std::os::unix::{ffi::OsStrExt, fs::PermissionsExt};
use std::path::Path;
pub enum Put<'a> { Absent, File { bytes: &'a [u8], mode: u32 }, Link { target: &'a [u8] } }
pub fn put(root: &Path, below: &Path, what: &Put<'_>) -> std::io::Result<()> {
    let p = root.join(below);
    if let Some(d) = p.parent() { std::fs::create_dir_all(d)?; }
    let _ = std::fs::remove_file(&p);
    match what { Put::Absent => Ok(()), Put::File { bytes, mode } => { std::fs::write(&p, bytes)?; std::fs::set_permissions(&p, std::fs::Permissions::from_mode(*mode)) } Put::Link { target } => std::os::unix::fs::symlink(std::ffi::OsStr::from_bytes(target), &p) }
}
