//! Objects as git writes them: where they are found, and which are whole.

use super::*;
use std::process::Command;

fn git(dir: &Path, args: &[&str]) -> String {
    let identity = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"];
    let out = Command::new("git").current_dir(dir).args(identity).args(args).output().unwrap();
    assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).unwrap().trim().to_owned()
}

#[test]
fn an_object_is_found_by_itself_in_a_pack_and_in_another_store_and_else_not() {
    let temp = tempfile::tempdir().unwrap();
    let (one, two) = (temp.path().join("one"), temp.path().join("two"));
    std::fs::create_dir(&one).unwrap();
    git(&one, &["init", "-q"]);
    let mut oids = Vec::new();
    for n in 0..300 {
        std::fs::write(one.join("f"), format!("{n}\n")).unwrap();
        oids.push(git(&one, &["hash-object", "-w", "f"]));
        if n % 100 == 0 {
            git(&one, &["add", "f"]);
            git(&one, &["commit", "-qm", "more"]);
        }
    }
    git(temp.path(), &["clone", "-q", "--shared", "one", "two"]);
    let kept = temp.path().join("kept/pack");
    for packs in 0..3 {
        let mut objects = Objects::new();
        for git in [one.join(".git"), two.join(".git")] {
            assert!(oids.iter().all(|oid| objects.are_reached(&git, oid)), "{packs}");
            assert!(!objects.are_reached(&git, &oids[0].replace(['0', '1', '2'], "3")), "{packs}");
        }
        assert!(!objects.has(&two.join(".git/objects"), &oids[7]));
        if packs == 0 {
            git(&one, &["repack", "-adkq"]);
            git(&one, &["prune-packed", "-q"]);
        } else if packs == 1 {
            std::fs::create_dir_all(&kept).unwrap();
            for entry in one.join(".git/objects/pack").read_dir().unwrap().map(|entry| entry.unwrap()) {
                std::fs::copy(entry.path(), kept.join(entry.file_name())).unwrap();
            }
            git(&one, &["commit", "-q", "--allow-empty", "-m", "last"]);
            git(&one, &["repack", "-adkq"]);
        }
    }
    // All that the first pack had is in the second one, until that is not what its list says.
    let list =
        kept.read_dir().unwrap().map(|entry| entry.unwrap().path()).find(|path| path.extension().unwrap() == "idx");
    let (store, list) = (one.join(".git/objects"), list.unwrap());
    assert!(Objects::new().has_all_of(&store, &list));
    let packs = store.join("pack").read_dir().unwrap().map(|entry| entry.unwrap().path());
    let pack = packs.into_iter().find(|path| path.extension().unwrap() == "pack").unwrap();
    std::fs::remove_file(&pack).unwrap();
    assert!(!Objects::new().has_all_of(&store, &list), "a list without its pack");
    std::fs::write(&pack, "PACK").unwrap();
    assert!(!Objects::new().has_all_of(&store, &list), "a list beside another pack");
}

#[test]
fn an_object_that_is_damaged_where_it_begins_is_not_whole() {
    let temp = tempfile::tempdir().unwrap();
    git(temp.path(), &["init", "-q"]);
    let mut text = Vec::new();
    for n in 0..60_000_u32 {
        text.extend(n.wrapping_mul(2_654_435_761).to_le_bytes());
    }
    for text in [&b""[..], b"short\n", &vec![b'a'; 500_000], &text] {
        std::fs::write(temp.path().join("f"), text).unwrap();
        let oid = git(temp.path(), &["hash-object", "-w", "f"]);
        let path = alone(&temp.path().join(".git/objects"), &oid);
        let mut objects = Objects::new();
        assert!(objects.is_whole(&path), "{}", text.len());
        let whole = std::fs::read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        for at in [0, 2, 4] {
            let mut bytes = whole.clone();
            let end = bytes.len().min(at + 8);
            bytes[at..end].fill(b'X');
            std::fs::write(&path, bytes).unwrap();
            assert!(!objects.is_whole(&path), "{}: {at}", text.len());
        }
        std::fs::write(&path, &whole[..whole.len().min(200) - 1]).unwrap();
        assert!(!objects.is_whole(&path), "{}: cut short", text.len());
    }
}
