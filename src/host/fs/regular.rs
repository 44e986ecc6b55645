//! Opening a file by the person's path that has to be a regular one.
//!
//! Follows links, which are the person's. Invariant: neither opening nor reading waits for a writer.

use rustix::fs::OFlags;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// Opens it for reading. What is no regular file is not even opened, since that may do something already.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let check = |is_file: bool| if is_file { Ok(()) } else { Err(io::Error::other("it is not a regular file")) };
    check(path.metadata()?.is_file())?;
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    // It may be another one by now.
    check(file.metadata()?.is_file())?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read as _;

    #[test]
    fn only_what_is_a_regular_file_is_opened() {
        let dir = tempfile::tempdir().unwrap();
        let (file, link) = (dir.path().join("file"), dir.path().join("link"));
        std::fs::write(&file, "text").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let mut text = String::new();
        open_regular(&link).unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "text");
        let pipe = dir.path().join("pipe");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR, 0).unwrap();
        for odd in [pipe.as_path(), dir.path(), Path::new("/dev/zero"), Path::new("/dev/null")] {
            assert!(open_regular(odd).unwrap_err().to_string().contains("not a regular file"), "{odd:?}");
        }
        assert_eq!(open_regular(&dir.path().join("none")).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
