//! A command line that cannot be carried out; says what to do instead. Ends with exit code 2.

use crate::base::paths::visible;
use std::io;
use std::path::Path;

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Usage(pub String);

impl From<lexopt::Error> for Usage {
    fn from(error: lexopt::Error) -> Self {
        Self(error.to_string())
    }
}

/// Why nothing can be begun in a directory, and what helps; nothing where the system's own word has to do.
pub fn without_place(dir: &Path, kind: io::ErrorKind) -> Option<String> {
    let place = visible(dir.as_os_str());
    match kind {
        io::ErrorKind::NotFound => Some(format!("there is no directory {place}; make it first, or name another file")),
        io::ErrorKind::NotADirectory => Some(format!("{place} is no directory; name another file")),
        io::ErrorKind::PermissionDenied => Some(format!("{place} cannot be written in: permission denied")),
        _ => None,
    }
}

/// Why a file that is named with an option cannot be written, and what helps.
pub fn unwritable(option: &str, file: &Path, error: &io::Error) -> Usage {
    let dir = file.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Where the directory is there, it is about the file itself.
    let why = without_place(dir, error.kind()).filter(|_| !dir.is_dir()).unwrap_or_else(|| error.to_string());
    Usage(format!("{option} {}: {why}", visible(file.as_os_str())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_file_in_no_directory_it_is_said_what_to_do() {
        let temp = tempfile::tempdir().unwrap();
        let at = |name: &str| temp.path().join(name);
        std::fs::write(at("file"), "").unwrap();
        let said = |name: &str| {
            let error = std::fs::OpenOptions::new().write(true).open(at(name)).unwrap_err();
            unwritable("--record", &at(name), &error).0
        };
        let gone = format!("there is no directory {}; make it first, or name another file", at("gone").display());
        assert_eq!(said("gone/f"), format!("--record {}: {gone}", at("gone/f").display()));
        assert!(said("file/f").ends_with("file is no directory; name another file"), "{}", said("file/f"));
        assert!(said("nothing").contains("No such file"), "{}", said("nothing"));
    }
}
