//! Opening a file by the person's path that has to be a regular one.
//!
//! Follows links, which are the person's. Invariant: neither opening nor reading waits for a writer, or for one who
//! keeps others from it.

use rustix::fs::OFlags;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// Bytes of a text that people write.
const MAX_WRITTEN: u64 = 1 << 20;

/// Opens it for reading. What is no regular file is not even opened, since that may do something already.
pub fn open_regular(path: &Path) -> io::Result<File> {
    open_regular_as(OpenOptions::new().read(true), path)
}

/// The same in another way; one that is not there may be made.
pub fn open_regular_as(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    let check = |is_file: bool| if is_file { Ok(()) } else { Err(io::Error::other("it is not a regular file")) };
    match path.metadata() {
        Ok(meta) => check(meta.is_file())?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
    let file = options.custom_flags(flags).open(path)?;
    // It may be another one by now.
    check(file.metadata()?.is_file())?;
    Ok(file)
}

/// All of one, and no more than this and a byte of a larger one.
pub fn read_regular(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_regular(path)?.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A text that people write, of at most 1 MiB; nothing where there is none.
///
/// # Errors
/// Says why it cannot be read.
pub fn read_written(path: &Path) -> Result<Option<String>, String> {
    let bytes = match read_regular(path, MAX_WRITTEN) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
            return Err("another process keeps it shut".to_owned());
        }
        Err(error) => return Err(error.to_string()),
    };
    if bytes.len() as u64 > MAX_WRITTEN {
        return Err("it is larger than 1 MiB".to_owned());
    }
    String::from_utf8(bytes).map(Some).map_err(|_| "it is not UTF-8".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

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
            let mut options = OpenOptions::new();
            let writes = open_regular_as(options.append(true).create(true), odd);
            assert!(writes.unwrap_err().to_string().contains("not a regular file"), "{odd:?}");
            assert_eq!(read_written(odd).unwrap_err(), "it is not a regular file");
        }
        let new = dir.path().join("new");
        drop(open_regular_as(OpenOptions::new().append(true).create(true), &new).unwrap());
        assert_eq!(read_written(&new).unwrap().unwrap(), "");
        assert!(read_written(&dir.path().join("none")).unwrap().is_none());
        assert!(read_written(&new.join("below")).is_err());
        assert_eq!(open_regular(&dir.path().join("none")).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
