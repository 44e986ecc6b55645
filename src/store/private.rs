//! Directories that only their owner can read.

use std::fs;
use std::io;
use std::path::Path;

/// Makes a directory and its missing parents, readable by the owner only.
pub fn make_private_dir(dir: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt as _;
        builder.mode(0o700);
    }
    builder.create(dir)
}
