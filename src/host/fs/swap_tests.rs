//! Tests of what happens to a save that comes in the middle of a write.

use super::super::moments;
use super::super::{Put, put};
use super::*;
use std::cell::RefCell;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::rc::Rc;
use tempfile::TempDir;

const OLD: &str = "what was decided about\n";
const SAVED: &str = "what the person saves meanwhile\n";
const MOMENTS: [Moment; 5] = [Moment::Begun, Moment::Prepared, Moment::Compared, Moment::Exchanged, Moment::Looked];

/// How editors save.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Save {
    /// Another file, renamed over the name.
    ByRename,
    /// Opened by its name, emptied and written.
    InPlace,
    /// The same, with the file open from before the write.
    HeldOpen,
    /// Opened and emptied; the text comes when the write is over.
    Slowly,
}

struct Place {
    _temp: TempDir,
    root: PathBuf,
    held: Rc<RefCell<Option<File>>>,
}

impl Place {
    fn new() -> Self {
        let temp = TempDir::new().unwrap();
        let root = temp.path().canonicalize().unwrap();
        let place = Self { _temp: temp, root, held: Rc::default() };
        place.reset();
        place
    }

    fn at(&self) -> PathBuf {
        self.root.join("f")
    }

    fn reset(&self) {
        for entry in fs::read_dir(&self.root).unwrap() {
            fs::remove_file(entry.unwrap().path()).unwrap();
        }
        fs::write(self.at(), OLD).unwrap();
        fs::set_permissions(self.at(), fs::Permissions::from_mode(0o644)).unwrap();
        *self.held.borrow_mut() = Some(File::options().read(true).write(true).open(self.at()).unwrap());
    }

    fn names(&self) -> Vec<String> {
        let mut names: Vec<_> =
            fs::read_dir(&self.root).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn saver(&self, how: Save) -> impl FnMut(&str) + 'static {
        let (root, held) = (self.root.clone(), Rc::clone(&self.held));
        move |text| {
            let at = root.join("f");
            match how {
                Save::ByRename => {
                    let beside = root.join("editor");
                    fs::write(&beside, text).unwrap();
                    fs::rename(beside, at).unwrap();
                }
                Save::InPlace => fs::write(at, text).unwrap(),
                Save::HeldOpen | Save::Slowly => {
                    let mut held = held.borrow_mut();
                    let held = held.as_mut().unwrap();
                    held.set_len(0).unwrap();
                    if how == Save::HeldOpen {
                        held.write_all(text.as_bytes()).unwrap();
                    }
                }
            }
        }
    }

    fn put(&self, what: &Put<'_>) -> Result<Vec<String>, FsError> {
        let was = Was::File { mode: 0o644, size: OLD.len() as u64, is: &|bytes| bytes == OLD.as_bytes() };
        put(&self.root, Path::new("f"), what, &was).map(|done| done.lost)
    }
}

const NEW: Put<'static> = Put::File { bytes: b"new\n", mode: 0o600 };
const LINK: Put<'static> = Put::Link { target: b"nowhere" };

/// Saves at a moment of a write, and sees that what was saved is what is there in the end.
fn saved_at(place: &Place, moment: Moment, how: Save, what: &Put<'_>, exchange: bool) {
    let case = format!("{how:?} at {moment:?} of {what:?}, exchange: {exchange}");
    place.reset();
    let (mut save, mut done) = (place.saver(how), false);
    let hook = moments::on(move |now| {
        if now == moment && !std::mem::replace(&mut done, true) {
            save(SAVED);
        }
    });
    if !exchange {
        moments::without_exchange();
    }
    let result = place.put(what);
    drop(hook);
    if how == Save::Slowly {
        place.held.borrow_mut().as_mut().unwrap().write_all(SAVED.as_bytes()).unwrap();
    }
    let by_name = matches!(how, Save::ByRename | Save::InPlace);
    if by_name && moment >= Moment::Exchanged {
        // Saved over what was written: there it is.
    } else {
        assert!(matches!(result, Err(FsError::Changed(_))), "{case}: {result:?}");
    }
    assert_eq!(fs::read_to_string(place.at()).unwrap(), SAVED, "{case}");
    assert_eq!(place.names(), ["f"], "{case}");
}

#[test]
fn a_save_in_the_middle_of_a_write_is_there_in_the_end() {
    let place = Place::new();
    for moment in MOMENTS {
        for how in [Save::ByRename, Save::InPlace, Save::HeldOpen, Save::Slowly] {
            saved_at(&place, moment, how, &NEW, true);
        }
    }
}

#[test]
fn a_save_while_a_file_is_removed_is_there_in_the_end() {
    let place = Place::new();
    for exchange in [true, false] {
        for moment in [Moment::Compared, Moment::Exchanged, Moment::Looked] {
            for how in [Save::ByRename, Save::InPlace, Save::HeldOpen, Save::Slowly] {
                saved_at(&place, moment, how, &Put::Absent, exchange);
            }
        }
    }
}

#[test]
fn a_save_while_a_link_comes_in_its_place_is_there_in_the_end() {
    let place = Place::new();
    for moment in MOMENTS {
        // Where it is saved by name after the link has come, it is the link that is followed.
        let by_name = if moment >= Moment::Exchanged { Save::ByRename } else { Save::InPlace };
        for how in [by_name, Save::HeldOpen, Save::Slowly] {
            saved_at(&place, moment, how, &LINK, true);
        }
    }
}

#[test]
fn where_names_cannot_be_exchanged_it_is_compared_right_before() {
    let place = Place::new();
    for moment in [Moment::Begun, Moment::Prepared, Moment::Compared] {
        for how in [Save::ByRename, Save::InPlace, Save::HeldOpen, Save::Slowly] {
            for what in [NEW, LINK] {
                saved_at(&place, moment, how, &what, false);
            }
        }
    }
}

#[test]
fn what_nobody_touches_is_written_either_way() {
    let place = Place::new();
    for exchange in [true, false] {
        for what in [NEW, LINK, Put::Absent] {
            place.reset();
            let hook = moments::on(|_| {});
            if !exchange {
                moments::without_exchange();
            }
            assert_eq!(place.put(&what).unwrap(), Vec::<String>::new());
            drop(hook);
            match what {
                Put::File { bytes, mode } => {
                    assert_eq!(fs::read(place.at()).unwrap(), bytes);
                    assert_eq!(place.at().metadata().unwrap().permissions().mode() & 0o7777, mode);
                }
                Put::Link { .. } => assert_eq!(fs::read_link(place.at()).unwrap().as_os_str(), "nowhere"),
                Put::Absent => assert!(place.names().is_empty()),
            }
            assert!(place.names().len() <= 1, "{:?}", place.names());
        }
    }
}

#[test]
fn what_nobody_else_has_gets_a_name_that_everybody_sees_either_way() {
    let place = Place::new();
    for exchange in [true, false] {
        for what in [NEW, LINK, Put::Absent] {
            place.reset();
            let hook = moments::on(|_| {});
            if !exchange {
                moments::without_exchange();
            }
            let was = Was::File { mode: 0o644, size: OLD.len() as u64, is: &|bytes| bytes == OLD.as_bytes() };
            let done = put(&place.root, Path::new("f"), &what, &Was::Only(&was)).unwrap();
            drop(hook);
            let stays = done.stays.unwrap();
            assert!(stays.to_str().unwrap().starts_with("f.saved-"), "{stays:?}");
            assert_eq!(fs::read_to_string(place.root.join(&stays)).unwrap(), OLD);
            let there = if what == Put::Absent { 1 } else { 2 };
            assert_eq!((place.names().len(), place.at().symlink_metadata().is_ok()), (there, there == 2));
        }
    }
}

/// The last save is at the name, an earlier one beside it, and the person is told where.
#[test]
fn two_saves_in_the_middle_of_a_write_are_both_kept() {
    let place = Place::new();
    for what in [NEW, Put::Absent] {
        for again in [Save::ByRename, Save::InPlace] {
            place.reset();
            let (mut save, mut more) = (place.saver(Save::ByRename), place.saver(again));
            let hook = moments::on(move |now| match now {
                Moment::Compared => save("first"),
                Moment::GoesBack => more("second"),
                _ => {}
            });
            let error = place.put(&what).unwrap_err();
            drop(hook);
            assert_eq!(fs::read_to_string(place.at()).unwrap(), "second", "{what:?} {again:?}");
            let FsError::ChangedTwice { beside, .. } = &error else { panic!("{error}") };
            assert_eq!(fs::read_to_string(beside).unwrap(), "first");
            assert!(error.to_string().contains(beside.to_str().unwrap()));
            let visible = place.names().into_iter().all(|name| !name.starts_with('.'));
            assert!(visible, "{:?}", place.names());
        }
    }
}

#[test]
fn what_was_removed_or_has_become_a_directory_meanwhile_is_not_written() {
    let place = Place::new();
    for moment in [Moment::Prepared, Moment::Compared] {
        for directory in [false, true] {
            place.reset();
            let at = place.at();
            let hook = moments::on(move |now| {
                if now == moment {
                    fs::remove_file(&at).unwrap();
                    if directory {
                        fs::create_dir(&at).unwrap();
                        fs::write(at.join("in"), SAVED).unwrap();
                    }
                }
            });
            let error = place.put(&NEW).unwrap_err();
            drop(hook);
            assert!(matches!(error, FsError::Changed(_)), "{moment:?} {directory}: {error}");
            assert_eq!(place.names().len(), usize::from(directory));
            if directory {
                assert_eq!(fs::read_to_string(place.at().join("in")).unwrap(), SAVED);
                fs::remove_dir_all(place.at()).unwrap();
            }
        }
    }
}

#[test]
fn what_is_made_meanwhile_where_nothing_was_stays() {
    let place = Place::new();
    for exchange in [true, false] {
        for moment in [Moment::Begun, Moment::Prepared, Moment::Compared] {
            for what in [NEW, LINK] {
                place.reset();
                fs::remove_file(place.at()).unwrap();
                let mut save = place.saver(Save::InPlace);
                let hook = moments::on(move |now| {
                    if now == moment {
                        save(SAVED);
                    }
                });
                if !exchange {
                    moments::without_exchange();
                }
                let error = put(&place.root, Path::new("f"), &what, &Was::Absent).unwrap_err();
                drop(hook);
                assert!(matches!(error, FsError::Changed(_)), "{error}");
                assert_eq!(fs::read_to_string(place.at()).unwrap(), SAVED);
                assert_eq!(place.names(), ["f"]);
            }
        }
    }
}

#[test]
fn another_mode_is_another_file() {
    let place = Place::new();
    let at = place.at();
    let hook = moments::on(move |now| {
        if now == Moment::Compared {
            fs::set_permissions(&at, fs::Permissions::from_mode(0o755)).unwrap();
        }
    });
    assert!(matches!(place.put(&NEW), Err(FsError::Changed(_))));
    drop(hook);
    assert_eq!(place.at().metadata().unwrap().permissions().mode() & 0o777, 0o755);
}

#[test]
fn what_only_has_numbers_is_compared_by_them() {
    let place = Place::new();
    let put_unread = |place: &Place, what: &Put<'_>| {
        let stat = rustix::fs::stat(place.at()).unwrap();
        let is = move |now: &Stat| (now.st_ino, now.st_ctime_nsec) == (stat.st_ino, stat.st_ctime_nsec);
        put(&place.root, Path::new("f"), what, &Was::Unread { is: &is })
    };
    for what in [NEW, LINK, Put::Absent] {
        place.reset();
        put_unread(&place, &what).unwrap();
        for moment in [Moment::Compared, Moment::Looked] {
            place.reset();
            let (mut save, mut done) = (place.saver(Save::HeldOpen), false);
            let hook = moments::on(move |now| {
                if now == moment && !std::mem::replace(&mut done, true) {
                    save(SAVED);
                }
            });
            assert!(matches!(put_unread(&place, &what), Err(FsError::Changed(_))), "{moment:?} {what:?}");
            drop(hook);
            assert_eq!(fs::read_to_string(place.at()).unwrap(), SAVED);
        }
    }
}

#[test]
fn a_name_tells_what_it_was_exchanged_with() {
    let name = swap_name(OsStr::new("f"));
    assert!(is_swap(&name) && may_be_of(&name, OsStr::new("f")) && !may_be_of(&name, OsStr::new("g")));
    for other in
        [".acp-tui-0123456789abcdef.tmp", ".acp-tui-0123456789abcde.swap", "acp-tui-0123456789abcdef.swap", "f"]
    {
        assert!(!is_swap(OsStr::new(other)) && !may_be_of(OsStr::new(other), OsStr::new("f")), "{other}");
    }
}

#[test]
fn what_was_prepared_and_cannot_be_removed_again_is_named() {
    let place = Place::new();
    for what in [&NEW, &LINK] {
        for is_saved in [false, true] {
            place.reset();
            let mut save = place.saver(Save::ByRename);
            let hook = moments::on(move |now| {
                if now == Moment::Prepared && is_saved {
                    save(SAVED);
                }
            });
            moments::without_removal();
            let error = place.put(what).unwrap_err();
            drop(hook);
            let FsError::Left { left, .. } = &error else { panic!("{what:?} {is_saved}: {error}") };
            let name = left.file_name().unwrap().to_str().unwrap();
            assert!(
                error.to_string().contains(name) && (is_swap(name.as_ref()) || is_temporary(name.as_ref())),
                "{error}"
            );
            assert_eq!(place.names(), [name, "f"], "{what:?} {is_saved}");
            assert_eq!(fs::read_to_string(place.at()).unwrap(), if is_saved { SAVED } else { OLD });
        }
    }
}
