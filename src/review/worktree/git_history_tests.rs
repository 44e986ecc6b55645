//! What repositories have lost, part by part, and what git does all the time, which is no loss.

use super::*;
use std::fs;

/// Of a path in a directory of git's.
type Harm = fn(&Path, &Path);

/// An empty blob, as git writes it.
const LOOSE: &[u8] = b"\x78\x01K\xca\xc9OR0`\0\0\x09\xb0\x01\xf0";
const OID: &str = "0123456789abcdef0123456789abcdef01234567";

fn write(path: &Path, bytes: &[u8]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

fn over(path: &Path, at: u64, bytes: &[u8]) {
    use std::os::unix::fs::FileExt as _;
    let was = path.metadata().unwrap().modified().unwrap();
    let file = fs::File::options().write(true).open(path).unwrap();
    file.write_all_at(bytes, at).unwrap();
    file.set_modified(was).unwrap();
}

#[test]
fn what_git_has_is_whole_until_a_part_of_it_is_gone_or_has_other_contents() {
    let pack = format!("objects/pack/pack-{OID}.pack");
    let loose = format!("objects/aa/{}", &OID[2..]);
    let harms: [(&str, Harm); 4] = [
        ("removed", |_, path| drop(fs::remove_file(path).or_else(|_| fs::remove_dir_all(path)))),
        ("moved", |git, path| fs::rename(path, git.join("moved")).unwrap()),
        (
            "emptied",
            |_, path| {
                if path.is_dir() { fs::remove_dir_all(path).unwrap() } else { fs::write(path, "").unwrap() }
            },
        ),
        ("all of it", |git, _| fs::remove_dir_all(git).unwrap()),
    ];
    let zeroed: (&str, Harm) = ("overwritten, with its time put back", |_, path| {
        over(path, 0, &vec![0; path.metadata().unwrap().len() as usize]);
    });
    let at_the_end: (&str, Harm) =
        ("its end overwritten", |_, path| over(path, path.metadata().unwrap().len() - 20, &[0; 20]));
    let unpacked: (&str, Harm) = ("one line fewer", |_, path| {
        fs::write(path, format!("# pack-refs with: peeled \n{OID} refs/heads/other\n")).unwrap();
    });
    for part in
        ["objects", "HEAD", "packed-refs", "refs/heads/main", "modules/a/b/HEAD", "worktrees/one/HEAD", &pack, &loose]
    {
        let more = match part {
            "packed-refs" => vec![unpacked],
            _ if part == pack => vec![zeroed, at_the_end],
            _ if part == loose => vec![zeroed],
            _ => Vec::new(),
        };
        for (what, harm) in harms.into_iter().chain(more) {
            let dir = tempfile::tempdir().unwrap();
            let git = dir.path().join(".git");
            for name in
                ["HEAD", "refs/heads/main", "refs/heads/kept", "modules/a/b/HEAD", "worktrees/one/HEAD", "index"]
            {
                write(&git.join(name), b"text");
            }
            let refs = format!("# pack-refs with: peeled \n{OID} refs/heads/old\n{OID} refs/heads/other\n");
            write(&git.join("packed-refs"), refs.as_bytes());
            write(&git.join(&pack), &[b"PACK".to_vec(), vec![7; 200_000]].concat());
            write(&git.join(&loose), LOOSE);
            let mut histories = Histories::default();
            histories.note(&git, dir.path());
            // What git does all the time: it writes, packs a ref, freshens a pack; and ours.
            write(&git.join("index"), b"other");
            write(&git.join("refs/heads/main"), b"other");
            write(&git.join("packed-refs"), format!("{refs}{OID} refs/heads/kept\n").as_bytes());
            fs::remove_file(git.join("refs/heads/kept")).unwrap();
            fs::create_dir(git.join("objects/bb")).unwrap();
            let time = fs::FileTimes::new().set_modified(std::time::SystemTime::now());
            fs::File::open(git.join(&pack)).unwrap().set_times(time).unwrap();
            fs::hard_link(git.join(&pack), dir.path().join("link")).unwrap();
            assert!(histories.losses(Path::new("/none")).are_none(), "{:?}", histories.losses(Path::new("/none")));
            harm(&git, &git.join(part));
            let losses = histories.losses(Path::new("/none"));
            assert!(!losses.are_none() && !losses.first.is_empty(), "{part}: {what}");
        }
    }
}

#[test]
fn what_could_not_be_noted_is_unclear_also_when_the_bound_is_met_exactly() {
    for more in 0..3 {
        let temp = tempfile::tempdir().unwrap();
        let mut histories = Histories::default();
        for name in ["one", "two"] {
            write(&temp.path().join(name).join("HEAD"), b"text");
        }
        histories.parts = vec![(temp.path().to_owned(), dir(temp.path()).unwrap()); ENTRIES - 3 + more];
        histories.note(&temp.path().join("one"), temp.path());
        histories.note(&temp.path().join("two"), temp.path());
        assert!(histories.losses(Path::new("/none")).is_unclear, "{more}");
        assert_eq!(histories.losses(Path::new("/none")).count, 0);
    }
}

#[test]
fn where_a_shallow_history_ends_is_missed_when_it_is_gone() {
    let temp = tempfile::tempdir().unwrap();
    let git = temp.path().join(".git");
    write(&git.join("HEAD"), b"ref: refs/heads/main\n");
    write(&git.join("shallow"), format!("{OID}\n").as_bytes());
    let mut histories = Histories::default();
    histories.note(&git, temp.path());
    // A deeper fetch.
    write(&git.join("shallow"), format!("{}\n", OID.replace('1', "2")).as_bytes());
    assert_eq!(histories.losses(Path::new("/none")).count, 0);
    fs::remove_file(git.join("shallow")).unwrap();
    assert_eq!(histories.losses(Path::new("/none")).first, [git.join("shallow")]);
}
