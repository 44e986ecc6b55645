//! Tests of files against real directories.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;

fn read_text(
    roots: &Roots,
    path: impl AsRef<Path>,
    line: Option<u32>,
    limit: Option<u32>,
    is_wanted: &dyn Fn() -> bool,
) -> Result<String, FsError> {
    super::read_text(roots.check(path)?, line, limit, is_wanted)
}

fn write_text(roots: &Roots, path: impl AsRef<Path>, content: &str, was: &Was<'_>) -> Result<Written, FsError> {
    super::write_text(&roots.check(path)?, content, was, &|| true)
}

/// A workspace with `in.txt`, and a file beside it that is outside.
struct Place {
    temp: TempDir,
    roots: Roots,
}

impl Place {
    fn new() -> Self {
        let temp = TempDir::new().unwrap();
        fs::create_dir(temp.path().join("ws")).unwrap();
        fs::write(temp.path().join("ws/in.txt"), "inside").unwrap();
        fs::write(temp.path().join("out.txt"), "outside").unwrap();
        let roots = Roots::new(vec![temp.path().join("ws")]);
        Self { temp, roots }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.temp.path().canonicalize().unwrap().join("ws").join(name)
    }

    fn out(&self) -> PathBuf {
        self.temp.path().join("out.txt")
    }

    fn read(&self, name: &str) -> Result<String, FsError> {
        read_text(&self.roots, self.at(name), None, None, &|| true)
    }

    fn write(&self, name: &str, content: &str) -> Result<Written, FsError> {
        write_text(&self.roots, self.at(name), content, &Was::Any)
    }

    fn names(&self) -> Vec<String> {
        let mut names: Vec<_> =
            fs::read_dir(self.at("")).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

fn reason(error: &FsError) -> &'static str {
    match error {
        FsError::Outside(_) => "outside_workspace",
        FsError::NotText(_) => "not_text",
        FsError::IsDirectory(_) => "is_directory",
        FsError::NotRegular { .. } | FsError::Private(_) => "denied_by_policy",
        FsError::TooLarge { .. } | FsError::TooFar { .. } => "too_large",
        _ => "",
    }
}

fn mkfifo(path: &Path) {
    let status = std::process::Command::new("mkfifo").arg(path).status().unwrap();
    assert!(status.success());
}

#[test]
fn r_343_a_relative_path_is_invalid() {
    let place = Place::new();
    let error = read_text(&place.roots, "in.txt", None, None, &|| true).unwrap_err();
    assert!(matches!(error, FsError::Relative(_)), "{error}");
    assert!(write_text(&place.roots, "in.txt", "x", &Was::Any).is_err());
    assert!(matches!(read_text(&place.roots, "", None, None, &|| true), Err(FsError::Relative(_))));
}

#[test]
fn r_344_only_the_real_path_counts() {
    let place = Place::new();
    fs::create_dir(place.at("sub")).unwrap();
    symlink("in.txt", place.at("ok")).unwrap();
    symlink(place.out(), place.at("leak")).unwrap();
    symlink("../..", place.at("sub/up")).unwrap();
    symlink("../gone.txt", place.at("dangling")).unwrap();
    symlink("loop", place.at("loop")).unwrap();
    assert_eq!(place.read("ok").unwrap(), "inside");
    assert_eq!(place.read("sub/../in.txt").unwrap(), "inside");
    assert_eq!(place.read("nothing/../in.txt").unwrap(), "inside");
    for name in
        ["leak", "sub/up/out.txt", "../out.txt", "sub/../../out.txt", "dangling", "loop", "nothing/../../out.txt"]
    {
        let error = place.read(name).unwrap_err();
        assert_eq!(reason(&error), "outside_workspace", "{name}");
        assert_eq!(reason(&place.write(name, "x").unwrap_err()), "outside_workspace", "{name}");
    }
    // `..` goes up from where the link leads, and a way out and in again ends inside.
    symlink(place.at("sub"), place.temp.path().join("door")).unwrap();
    symlink(place.temp.path().join("door"), place.at("there")).unwrap();
    assert_eq!(place.read("there/../in.txt").unwrap(), "inside");
    assert_eq!(fs::read_to_string(place.out()).unwrap(), "outside");
    assert!(!place.temp.path().join("gone.txt").exists());
}

#[test]
fn what_the_client_keeps_for_itself_is_refused_by_every_name() {
    let place = Place::new();
    fs::create_dir_all(place.at("st/review/one")).unwrap();
    fs::write(place.at("st/review/one/ledger"), "ledger").unwrap();
    fs::write(place.at("r.json"), "report").unwrap();
    symlink("st", place.at("door")).unwrap();
    symlink("st/review/one/ledger", place.at("leak")).unwrap();
    symlink("not-yet.json", place.at("ahead")).unwrap();
    // Given by a link, as by a person whose state directory is one.
    let own = ["door/review", "st/crashes", "r.json", "not-yet.json"].map(|name| place.at(name));
    let place = Place { roots: Roots::new(vec![place.at("")]).without(Private::new(own)), ..place };
    for name in [
        "st/review/one/ledger",
        "door/review/one/ledger",
        "door/../st/./review/one/ledger",
        "st/review/new",
        "leak",
        "st/review",
        "st/crashes",
        "st/crashes/x",
        "r.json",
        "door/../r.json",
        "not-yet.json",
        "ahead",
    ] {
        for error in [place.read(name).unwrap_err(), place.write(name, "forged").unwrap_err()] {
            assert_eq!(reason(&error), "denied_by_policy", "{name}: {error}");
            assert!(error.to_string().contains("acp-tui itself"), "{error}");
        }
    }
    // Other files, and another name of the content, which a write does not reach.
    fs::hard_link(place.at("st/review/one/ledger"), place.at("hard")).unwrap();
    for name in ["st/notes", "st/reviews", "r.json.bak", "sub/r.json", "hard"] {
        place.write(name, "fine").unwrap();
    }
    assert_eq!(fs::read_to_string(place.at("st/review/one/ledger")).unwrap(), "ledger");
    assert_eq!(fs::read_to_string(place.at("r.json")).unwrap(), "report");
    assert!(!place.at("not-yet.json").exists() && !place.at("st/crashes").exists());
}

#[test]
fn r_344_a_sibling_with_the_same_beginning_is_outside() {
    let place = Place::new();
    fs::create_dir(place.temp.path().join("ws-other")).unwrap();
    fs::write(place.temp.path().join("ws-other/x"), "x").unwrap();
    let error = read_text(&place.roots, place.temp.path().join("ws-other/x"), None, None, &|| true).unwrap_err();
    assert_eq!(reason(&error), "outside_workspace");
    let error = read_text(&place.roots, "/proc/self/environ", None, None, &|| true).unwrap_err();
    assert_eq!(reason(&error), "outside_workspace");
    assert!(Roots::new(vec![PathBuf::from("/does/not/exist")]).check("/does/not/exist/x").is_err());
}

#[test]
fn r_345_a_link_put_there_after_the_check_is_refused() {
    let place = Place::new();
    fs::create_dir(place.at("dir")).unwrap();
    fs::write(place.at("dir/f"), "f").unwrap();
    let file = place.roots.check(place.at("in.txt")).unwrap();
    let below = place.roots.check(place.at("dir/f")).unwrap();
    fs::remove_file(place.at("in.txt")).unwrap();
    symlink(place.out(), place.at("in.txt")).unwrap();
    fs::remove_dir_all(place.at("dir")).unwrap();
    symlink(place.temp.path(), place.at("dir")).unwrap();
    let (dir, name) = beneath::open_parent(&file, beneath::Missing::Refuse).unwrap();
    assert_eq!(reason(&beneath::open_regular(&file, &dir, &name).unwrap_err()), "outside_workspace");
    for missing in [beneath::Missing::Refuse, beneath::Missing::Create] {
        assert_eq!(reason(&beneath::open_parent(&below, missing).unwrap_err()), "outside_workspace");
    }
}

/// Another thread makes a directory a link that leads out and a directory again, all the time.
#[cfg(target_os = "linux")]
#[test]
fn no_race_of_links_leads_out() {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
    let place = Place::new();
    let out = place.temp.path().join("raced");
    fs::create_dir(&out).unwrap();
    fs::write(out.join("f"), "outside").unwrap();
    fs::create_dir(place.at("dir")).unwrap();
    fs::write(place.at("dir/f"), "inside").unwrap();
    symlink(&out, place.at("link")).unwrap();
    let (dir, link) = (place.at("dir"), place.at("link"));
    if renameat_with(CWD, &dir, CWD, &link, RenameFlags::EXCHANGE).is_err() {
        // A file system without it.
        return;
    }
    let (goes_on, swaps) = (AtomicBool::new(true), AtomicU32::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while goes_on.load(Ordering::Relaxed) {
                let _ = renameat_with(CWD, &dir, CWD, &link, RenameFlags::EXCHANGE);
                swaps.fetch_add(1, Ordering::Relaxed);
            }
        });
        while swaps.load(Ordering::Relaxed) < 10 {
            std::thread::yield_now();
        }
        for _ in 0..500 {
            if let Ok(text) = place.read("dir/f") {
                assert_ne!(text, "outside");
            }
            let _ = place.write("dir/f", "inside");
            let _ = place.write("dir/new/f", "inside");
        }
        goes_on.store(false, Ordering::Relaxed);
    });
    assert_eq!(fs::read_to_string(out.join("f")).unwrap(), "outside");
    assert_eq!(fs::read_dir(&out).unwrap().count(), 1, "nothing is made there");
}

#[test]
fn r_346_r_347_errors_are_told_apart() {
    let place = Place::new();
    let missing = place.read("no ünï.txt").unwrap_err();
    assert!(matches!(missing, FsError::NotFound(_)), "{missing}");
    let below = place.read("in.txt/below").unwrap_err();
    assert!(matches!(below, FsError::Os { .. }) && below.to_string().contains("directory"), "{below}");
    let nul = read_text(&place.roots, place.at("a\0b"), None, None, &|| true).unwrap_err();
    assert!(matches!(nul, FsError::BadPath(_)), "{nul}");
    let long = read_text(&place.roots, place.at(&"x/".repeat(3000)), None, None, &|| true).unwrap_err();
    assert!(matches!(long, FsError::BadPath(_)), "{long}");
}

#[test]
fn r_349_only_regular_files_and_no_waiting() {
    let place = Place::new();
    mkfifo(&place.at("fifo"));
    fs::create_dir(place.at("dir")).unwrap();
    let _socket = UnixListener::bind(place.at("socket")).unwrap();
    symlink("fifo", place.at("to-fifo")).unwrap();
    for (name, why) in [
        ("fifo", "denied_by_policy"),
        ("to-fifo", "denied_by_policy"),
        ("socket", "denied_by_policy"),
        ("dir", "is_directory"),
        ("", "is_directory"),
    ] {
        assert_eq!(reason(&place.read(name).unwrap_err()), why, "{name}");
        assert_eq!(reason(&place.write(name, "x").unwrap_err()), why, "{name}");
    }
    let devices = Roots::new(vec![PathBuf::from("/dev")]);
    for device in ["/dev/zero", "/dev/null", "/dev/tty"] {
        assert_eq!(reason(&read_text(&devices, device, None, Some(1), &|| true).unwrap_err()), "denied_by_policy");
        assert_eq!(reason(&write_text(&devices, device, "x", &Was::Any).unwrap_err()), "denied_by_policy");
    }
}

#[test]
fn r_350_bytes_are_what_they_are() {
    let place = Place::new();
    for text in ["a\r\nb\r\n", "\u{feff}bom\n", "no end", "", "\r\n\n\r", "mixed\n\r\nend\r", "nul\0 in"] {
        place.write("f", text).unwrap();
        assert_eq!(fs::read(place.at("f")).unwrap(), text.as_bytes());
        assert_eq!(place.read("f").unwrap(), text);
        // Again over itself: nothing doubles.
        place.write("f", &place.read("f").unwrap()).unwrap();
        assert_eq!(fs::read(place.at("f")).unwrap(), text.as_bytes());
    }
}

#[test]
fn r_352_r_353_line_and_limit() {
    let place = Place::new();
    place.write("f", "one\r\ntwo\n\nfour").unwrap();
    let table: &[(Option<u32>, Option<u32>, &str)] = &[
        (None, None, "one\r\ntwo\n\nfour"),
        (Some(0), None, "one\r\ntwo\n\nfour"),
        (Some(1), Some(1), "one\r\n"),
        (Some(0), Some(1), "one\r\n"),
        (None, Some(2), "one\r\ntwo\n"),
        (Some(2), Some(2), "two\n\n"),
        (Some(3), Some(1), "\n"),
        (Some(4), Some(1), "four"),
        (Some(4), None, "four"),
        (Some(4), Some(u32::MAX), "four"),
        (Some(5), None, ""),
        (Some(u32::MAX), Some(u32::MAX), ""),
        (None, Some(0), ""),
        (Some(2), Some(0), ""),
    ];
    for (line, limit, expected) in table {
        assert_eq!(
            read_text(&place.roots, place.at("f"), *line, *limit, &|| true).unwrap(),
            *expected,
            "{line:?} {limit:?}"
        );
    }
    place.write("g", "a\nb\n").unwrap();
    assert_eq!(read_text(&place.roots, place.at("g"), Some(3), Some(1), &|| true).unwrap(), "");
    place.write("empty", "").unwrap();
    assert_eq!(read_text(&place.roots, place.at("empty"), Some(1), Some(9), &|| true).unwrap(), "");
}

proptest! {
    #![proptest_config(crate::random(64))]
    #[test]
    fn r_352_lines_agree_with_the_definition(text in "[a\n\r]{0,40}", line in 0_u32..8, limit in 0_u32..8) {
        let place = Place::new();
        place.write("f", &text).unwrap();
        let expected: String =
            text.split_inclusive('\n').skip(line.max(1) as usize - 1).take(limit as usize).collect();
        prop_assert_eq!(read_text(&place.roots, place.at("f"), Some(line), Some(limit), &|| true).unwrap(), expected);
    }
}

#[test]
fn r_354_what_is_no_utf8_is_refused() {
    let place = Place::new();
    fs::write(place.at("latin"), b"fine\ncaf\xe9\n").unwrap();
    assert_eq!(reason(&place.read("latin").unwrap_err()), "not_text");
    assert_eq!(read_text(&place.roots, place.at("latin"), None, Some(1), &|| true).unwrap(), "fine\n");
    assert_eq!(reason(&read_text(&place.roots, place.at("latin"), Some(2), None, &|| true).unwrap_err()), "not_text");
}

#[test]
fn r_355_large_files_in_parts_only() {
    let place = Place::new();
    let line = format!("{}\n", "x".repeat(1023));
    fs::write(place.at("big"), line.repeat(17 * 1024)).unwrap();
    let error = place.read("big").unwrap_err();
    assert_eq!(reason(&error), "too_large");
    assert!(error.to_string().contains("`limit`"));
    assert_eq!(read_text(&place.roots, place.at("big"), Some(17 * 1024), Some(5), &|| true).unwrap(), line);
    assert_eq!(reason(&read_text(&place.roots, place.at("big"), Some(2), None, &|| true).unwrap_err()), "too_large");
    fs::write(place.at("one-line"), "y".repeat(17 * 1024 * 1024)).unwrap();
    assert_eq!(
        reason(&read_text(&place.roots, place.at("one-line"), None, Some(1), &|| true).unwrap_err()),
        "too_large"
    );
    assert_eq!(read_text(&place.roots, place.at("one-line"), Some(2), None, &|| true).unwrap(), "");
}

#[test]
fn r_357_r_358_creates_the_file_and_its_parents() {
    let place = Place::new();
    let written = place.write("a/b/c.txt", "new").unwrap();
    assert_eq!(written, Written { created: true, bytes: 3, old: None, apart: 0 });
    assert_eq!(place.read("a/b/c.txt").unwrap(), "new");
    let written = place.write("a/b/c.txt", "newer").unwrap();
    assert_eq!(written, Written { created: false, bytes: 5, old: Some("new".into()), apart: 0 });
    fs::write(place.at("bin"), [0xff, 0xfe]).unwrap();
    assert_eq!(place.write("bin", "text").unwrap().old, None);
    assert!(place.write("in.txt/below", "x").is_err());
    assert_eq!(place.read("in.txt").unwrap(), "inside");
}

#[test]
fn r_359_the_mode_stays_and_a_new_file_has_the_usual_one() {
    let place = Place::new();
    fs::set_permissions(place.at("in.txt"), fs::Permissions::from_mode(0o751)).unwrap();
    place.write("in.txt", "x").unwrap();
    assert_eq!(fs::metadata(place.at("in.txt")).unwrap().mode() & 0o7777, 0o751);
    // What the standard library creates has the usual mode under this process's mask.
    fs::write(place.at("usual"), "").unwrap();
    place.write("new", "x").unwrap();
    let mode = |name| fs::metadata(place.at(name)).unwrap().mode();
    assert_eq!(mode("new"), mode("usual"));
    assert_eq!(place.names(), ["in.txt", "new", "usual"]);
}

#[test]
fn r_359_a_link_stays_a_link() {
    let place = Place::new();
    symlink("in.txt", place.at("link")).unwrap();
    symlink("later/new.txt", place.at("ahead")).unwrap();
    place.write("link", "through").unwrap();
    place.write("ahead", "made").unwrap();
    assert!(fs::symlink_metadata(place.at("link")).unwrap().file_type().is_symlink());
    assert!(fs::symlink_metadata(place.at("ahead")).unwrap().file_type().is_symlink());
    assert_eq!(fs::read_to_string(place.at("in.txt")).unwrap(), "through");
    assert_eq!(fs::read_to_string(place.at("later/new.txt")).unwrap(), "made");
}

#[test]
fn r_359_a_hard_link_outside_keeps_its_content() {
    let place = Place::new();
    fs::hard_link(place.out(), place.at("hard")).unwrap();
    place.write("hard", "mine").unwrap();
    assert_eq!(fs::read_to_string(place.out()).unwrap(), "outside");
}

#[test]
fn r_359_a_read_only_file_is_not_replaced() {
    let place = Place::new();
    fs::set_permissions(place.at("in.txt"), fs::Permissions::from_mode(0o444)).unwrap();
    let error = place.write("in.txt", "x").unwrap_err();
    assert!(matches!(error, FsError::Os { .. }), "{error}");
    let message = error.to_string();
    assert!(message.to_lowercase().contains("permission denied"), "{message}");
    assert_eq!(place.read("in.txt").unwrap(), "inside");
    assert_eq!(place.names(), ["in.txt"]);
}

#[test]
fn r_359_a_failure_half_way_leaves_the_old_file_alone() {
    let place = Place::new();
    let at = place.roots.check(place.at("in.txt")).unwrap();
    let (dir, name) = beneath::open_parent(&at, beneath::Missing::Refuse).unwrap();
    let error = write::replace(&dir, &name, None, None, &Was::Any, |file| {
        std::io::Write::write_all(file, b"half")?;
        Err(std::io::ErrorKind::StorageFull.into())
    });
    let full = std::io::ErrorKind::StorageFull;
    assert!(matches!(error.unwrap_err(), swap::Refusal::Os(error) if error.kind() == full));
    assert_eq!(place.read("in.txt").unwrap(), "inside");
    assert_eq!(place.names(), ["in.txt"]);
}

#[test]
fn r_359_a_name_of_full_length_can_be_written() {
    let place = Place::new();
    let name = "n".repeat(255);
    place.write(&name, "x").unwrap();
    assert_eq!(place.read(&name).unwrap(), "x");
    assert!(matches!(place.write(&"n".repeat(256), "x"), Err(FsError::Os { .. })));
}

#[cfg(target_os = "linux")]
#[test]
fn r_359_extended_attributes_stay() {
    let place = Place::new();
    let path = place.at("in.txt");
    if rustix::fs::setxattr(&path, "user.note", b"kept", rustix::fs::XattrFlags::empty()).is_err() {
        return; // This file system has none.
    }
    place.write("in.txt", "x").unwrap();
    let mut value = [0_u8; 16];
    let size = rustix::fs::getxattr(&path, "user.note", &mut value[..]).unwrap();
    assert_eq!(&value[..size], b"kept");
}

/// Another directory under the same name is none that the session was begun in.
#[test]
fn a_root_that_was_replaced_is_not_served() {
    let place = Place::new();
    let resolved = place.roots.check(place.at("in.txt")).unwrap();
    let (root, away) = (place.temp.path().join("ws"), place.temp.path().join("ws.old"));
    fs::rename(&root, &away).unwrap();
    fs::create_dir(&root).unwrap();
    fs::write(root.join("in.txt"), "another").unwrap();
    let refused = |result: Result<String, FsError>| {
        let error = result.unwrap_err().to_string();
        assert!(error.contains("another one") && error.contains("/ws"), "{error}");
    };
    refused(place.read("in.txt"));
    refused(place.write("new.txt", "x").map(|_| String::new()));
    // What was decided before it was replaced.
    refused(super::read_text(resolved.clone(), None, None, &|| true));
    refused(super::write_text(&resolved, "x", &Was::Any, &|| true).map(|_| String::new()));
    assert_eq!(fs::read_to_string(root.join("in.txt")).unwrap(), "another");
    assert!(!root.join("new.txt").exists());
    // A directory inside of it may come and go.
    fs::remove_dir_all(&root).unwrap();
    fs::rename(&away, &root).unwrap();
    assert_eq!(place.read("in.txt").unwrap(), "inside");
}
