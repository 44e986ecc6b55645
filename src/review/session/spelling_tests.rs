//! Names that are spelled anew where the file system finds a file by any spelling of its name.

use super::tests::Place;
use super::*;
use crate::model::changes::ReviewAction;
use crate::review::worktree::walk::faults;
use std::fs;

fn paths(place: &mut Place) -> Vec<PathBuf> {
    place.review.changed(Scope::Session).unwrap().into_iter().map(|changed| changed.path).collect()
}

#[test]
fn a_name_that_is_spelled_anew_is_a_rename_and_what_cannot_be_spelled_back_is_not_removed() {
    let mut place = Place::with(&[("a.txt", b"one\n"), ("dir/c", b"c\n"), ("Other", b"o\n")]);
    let _folding = faults::folding();
    place.turn(1, |p| {
        p.command(|p| {
            fs::rename(p.at("a.txt"), p.at("A.txt")).unwrap();
            fs::rename(p.at("dir"), p.at("DIR")).unwrap();
        });
    });
    assert_eq!(paths(&mut place), ["A.txt", "DIR/c", "a.txt", "dir/c"].map(PathBuf::from));
    // The disk does not take the other spelling here: nothing is removed, and all is said.
    let words = format!("{:?}", place.act(ReviewAction::Rewind { turn: 1 }));
    assert!(words.contains("A.txt is there, another spelling of its name"), "{words}");
    assert!(words.contains("left alone, since a.txt could not be written"), "{words}");
    assert_eq!((place.read("A.txt").as_str(), place.read("DIR/c").as_str()), ("one\n", "c\n"));
}

#[test]
fn a_write_by_another_spelling_is_one_of_the_file_that_is_there() {
    let mut place = Place::with(&[("a.txt", b"one\n"), ("dir/c", b"c\n")]);
    let _folding = faults::folding();
    assert_eq!(place.review.below(&place.at("DIR/C")), Some("dir/c".into()));
    assert_eq!(place.review.below(&place.at("DIR/new")), Some("dir/new".into()));
    place.turn(1, |p| {
        let path = p.at("A.TXT");
        p.review.before_write(&path, "two\n").unwrap();
        p.write("a.txt", "two\n");
        p.review.wrote(&path, "two\n", None, None).unwrap();
    });
    assert_eq!(paths(&mut place), [PathBuf::from("a.txt")]);
}
