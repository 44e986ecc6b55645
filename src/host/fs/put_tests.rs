//! Tests of `put` against real directories.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::PathBuf;

use tempfile::TempDir;

use super::*;

struct Place {
    _temp: TempDir,
    root: PathBuf,
    outside: PathBuf,
}

impl Place {
    fn new() -> Self {
        let temp = TempDir::new().unwrap();
        let real = temp.path().canonicalize().unwrap();
        let (root, outside) = (real.join("root"), real.join("outside"));
        fs::create_dir(&root).unwrap();
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("x"), "precious").unwrap();
        Self { _temp: temp, root, outside }
    }

    fn put(&self, below: impl AsRef<Path>, what: Put<'_>) -> Result<(), FsError> {
        put(&self.root, below.as_ref(), &what, &Was::Any).map(drop)
    }

    fn file(&self, below: impl AsRef<Path>, text: &str, mode: u32) -> Result<(), FsError> {
        self.put(below, Put::File { bytes: text.as_bytes(), mode })
    }

    fn read(&self, below: impl AsRef<Path>) -> String {
        fs::read_to_string(self.root.join(below)).unwrap()
    }

    fn mode(&self, below: &str) -> u32 {
        self.root.join(below).symlink_metadata().unwrap().permissions().mode() & 0o7777
    }

    fn names(&self, below: &str) -> Vec<OsString> {
        fs::read_dir(self.root.join(below)).unwrap().map(|entry| entry.unwrap().file_name()).collect()
    }
}

#[test]
fn a_file_has_the_bytes_and_exactly_the_mode() {
    let place = Place::new();
    for mode in [0o600, 0o644, 0o666, 0o777, 0o755, 0o444, 0o000, 0o4755] {
        place.file("f", &format!("{mode:o}"), mode).unwrap();
        assert_eq!(place.mode("f"), mode);
        if mode & 0o400 != 0 {
            assert_eq!(place.read("f"), format!("{mode:o}"));
        }
    }
    assert_eq!(place.names(""), ["f"], "nothing temporary is left");
}

#[test]
fn a_file_that_may_not_be_written_is_replaced_and_may_stay_so() {
    let place = Place::new();
    place.file("f", "old", 0o444).unwrap();
    place.file("f", "new", 0o444).unwrap();
    assert_eq!((place.read("f").as_str(), place.mode("f")), ("new", 0o444));
}

#[test]
fn another_hard_link_keeps_the_old_content() {
    let place = Place::new();
    place.file("f", "old", 0o644).unwrap();
    fs::hard_link(place.root.join("f"), place.root.join("g")).unwrap();
    let before = place.root.join("f").metadata().unwrap().ino();
    place.file("f", "new", 0o644).unwrap();
    assert_eq!((place.read("f").as_str(), place.read("g").as_str()), ("new", "old"));
    assert_ne!(place.root.join("f").metadata().unwrap().ino(), before, "written beside it and renamed");
}

#[test]
fn links_and_files_replace_each_other_and_the_target_stays() {
    let place = Place::new();
    let precious = place.outside.join("x");
    let target = precious.as_os_str().as_bytes();
    place.file("f", "file", 0o644).unwrap();
    place.put("f", Put::Link { target }).unwrap();
    assert_eq!(fs::read_link(place.root.join("f")).unwrap(), precious);
    place.put("f", Put::Link { target: b"no/where\xff" }).unwrap();
    assert_eq!(fs::read_link(place.root.join("f")).unwrap().as_os_str().as_bytes(), b"no/where\xff");
    place.put("f", Put::Link { target }).unwrap();
    place.file("f", "again", 0o640).unwrap();
    assert!(place.root.join("f").symlink_metadata().unwrap().is_file());
    assert_eq!((place.read("f").as_str(), place.mode("f")), ("again", 0o640));
    place.put("f", Put::Link { target }).unwrap();
    place.put("f", Put::Absent).unwrap();
    assert_eq!(fs::read_to_string(precious).unwrap(), "precious");
    assert!(place.names("").is_empty());
}

#[test]
fn absent_is_so_afterwards_also_when_it_was() {
    let place = Place::new();
    place.file("d/f", "x", 0o644).unwrap();
    place.put("d/f", Put::Absent).unwrap();
    assert!(place.root.join("d").is_dir(), "an empty parent stays");
    place.put("d/f", Put::Absent).unwrap();
    place.put("no/such/f", Put::Absent).unwrap();
    assert!(!place.root.join("no").exists(), "no parent is made for it");
    place.file("file", "x", 0o644).unwrap();
    place.put("file/below", Put::Absent).unwrap();
    assert_eq!(place.read("file"), "x");
}

#[test]
fn parents_are_made() {
    let place = Place::new();
    place.file("a/b/c", "x", 0o644).unwrap();
    place.put("d/e/link", Put::Link { target: b"x" }).unwrap();
    assert_eq!(place.read("a/b/c"), "x");
    assert!(fs::read_link(place.root.join("d/e/link")).is_ok());
}

#[test]
fn a_parent_that_is_a_link_or_a_file_is_refused() {
    let place = Place::new();
    symlink(&place.outside, place.root.join("d")).unwrap();
    for what in [Put::Absent, Put::File { bytes: b"evil", mode: 0o644 }, Put::Link { target: b"evil" }] {
        let error = place.put("d/x", what).unwrap_err();
        assert!(matches!(error, FsError::Outside(_)), "{error}");
        assert!(place.put("d/sub/x", what).is_err());
    }
    assert_eq!(fs::read_to_string(place.outside.join("x")).unwrap(), "precious");
    assert_eq!(fs::read_dir(&place.outside).unwrap().count(), 1);
    place.file("file", "x", 0o644).unwrap();
    assert!(place.file("file/below", "y", 0o644).is_err());
    assert_eq!(place.read("file"), "x");
}

#[test]
fn a_directory_or_fifo_in_the_way_is_an_error() {
    let place = Place::new();
    fs::create_dir(place.root.join("d")).unwrap();
    fs::write(place.root.join("d/in"), "").unwrap();
    let status = std::process::Command::new("mkfifo").arg(place.root.join("p")).status().unwrap();
    assert!(status.success());
    for what in [Put::Absent, Put::File { bytes: b"x", mode: 0o644 }, Put::Link { target: b"x" }] {
        assert!(matches!(place.put("d", what), Err(FsError::IsDirectory(_))));
        assert!(matches!(place.put("p", what), Err(FsError::NotRegular { .. })));
    }
    assert_eq!(place.names("").len(), 2);
}

#[test]
fn only_names_beneath_the_root_are_taken() {
    let place = Place::new();
    for below in ["../outside/x", "a/../../outside/x", "/etc/acp-tui-test", "./..", ".."] {
        let error = place.file(below, "evil", 0o644).unwrap_err();
        assert!(matches!(error, FsError::Outside(_)), "{below}: {error}");
    }
    assert!(place.file("", "x", 0o644).is_err());
    assert!(place.file("a\0b", "x", 0o644).is_err());
    assert!(place.put("f", Put::Link { target: b"" }).is_err());
    assert!(place.put("f", Put::Link { target: b"a\0b" }).is_err());
    assert!(place.names("").is_empty());
}

#[test]
fn names_need_not_be_utf_8() {
    let place = Place::new();
    let below = PathBuf::from(OsString::from_vec(b"d\xff/f\xe9".to_vec()));
    place.file(&below, "x", 0o644).unwrap();
    assert_eq!(place.read(&below), "x");
    place.put(&below, Put::Absent).unwrap();
    assert!(!place.root.join(&below).exists());
}

#[test]
fn extended_attributes_stay_where_there_are_any() {
    let place = Place::new();
    place.file("f", "old", 0o644).unwrap();
    let file = fs::File::open(place.root.join("f")).unwrap();
    let flags = rustix::fs::XattrFlags::empty();
    if rustix::fs::fsetxattr(&file, "user.acp", b"kept", flags).is_err() {
        return; // This file system has none.
    }
    place.file("f", "new", 0o400).unwrap();
    let file = fs::File::open(place.root.join("f")).unwrap();
    let mut value = [0_u8; 8];
    let size = rustix::fs::fgetxattr(&file, "user.acp", &mut value[..]).unwrap();
    assert_eq!((&value[..size], place.mode("f")), (&b"kept"[..], 0o400));
}

/// A reader sees one of the contents, whole, while files are replaced.
#[test]
fn a_reader_never_sees_half_a_file() {
    let place = Place::new();
    let (a, b) = ("a".repeat(100_000), "b".repeat(70_000));
    place.file("f", &a, 0o644).unwrap();
    std::thread::scope(|scope| {
        let writing = scope.spawn(|| {
            for n in 0..40 {
                place.file("f", if n % 2 == 0 { &b } else { &a }, 0o644).unwrap();
            }
        });
        while !writing.is_finished() {
            let seen = place.read("f");
            assert!(seen == a || seen == b, "{} bytes", seen.len());
        }
    });
}

#[test]
fn directories_without_anything_in_them_give_way() {
    let place = Place::new();
    fs::create_dir_all(place.root.join("d/a/b")).unwrap();
    fs::create_dir_all(place.root.join("d/c")).unwrap();
    place.file("d", "text", 0o644).unwrap();
    assert_eq!(place.read("d"), "text");
    // One file anywhere below, or a link, and all of it stays.
    fs::create_dir_all(place.root.join("e/a/b")).unwrap();
    fs::create_dir_all(place.root.join("e/c")).unwrap();
    symlink(&place.outside, place.root.join("e/a/link")).unwrap();
    place.file("e", "text", 0o644).unwrap_err();
    assert!(place.root.join("e/c").is_dir() && place.root.join("e/a/b").is_dir());
    assert_eq!(fs::read_to_string(place.outside.join("x")).unwrap(), "precious");
}

#[test]
fn bits_that_another_program_has_given_to_what_lies_ready_are_noticed() {
    let place = Place::new();
    place.file("x", "text", 0o755).unwrap();
    let stat = || rustix::fs::stat(place.root.join("x")).unwrap();
    let set = |mode| fs::set_permissions(place.root.join("x"), fs::Permissions::from_mode(mode)).unwrap();
    assert!(super::super::write::is_all_ours(&stat(), 0o755));
    for special in [0o4755, 0o2755] {
        set(special);
        assert!(!super::super::write::is_all_ours(&stat(), 0o755), "{special:o}");
        assert!(super::super::write::is_all_ours(&stat(), special), "it had them before: {special:o}");
    }
    set(0o755);
    fs::hard_link(place.root.join("x"), place.root.join("y")).unwrap();
    assert!(!super::super::write::is_all_ours(&stat(), 0o755));
}
