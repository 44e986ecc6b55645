use super::*;
use std::fs;
use std::process::Command;

fn git(dir: &Path, args: &[&str]) {
    let mut command = Command::new("git");
    command.current_dir(dir).args(["-c", "user.name=a", "-c", "user.email=a@b"]).args(args);
    let out = command.output().expect("these tests need git, which is not there");
    assert!(out.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&out.stderr));
}

#[test]
fn every_kind_of_index_that_git_writes_is_read() {
    for (version, split) in [("2", false), ("3", false), ("4", false), ("2", true), ("4", true)] {
        let lab = tempfile::tempdir().unwrap();
        let root = lab.path();
        git(root, &["init", "-q"]);
        let files: Vec<String> = (0..300).map(|i| format!("dir{}/{}{i}", i % 7, "name".repeat(i % 50))).collect();
        for file in &files {
            fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
            fs::write(root.join(file), file).unwrap();
        }
        git(root, &["-c", &format!("index.version={version}"), "add", "-A"]);
        if version == "3" {
            fs::write(root.join("later"), "").unwrap();
            git(root, &["add", "-N", "later"]);
        }
        if split {
            git(root, &["update-index", "--split-index"]);
            git(root, &["rm", "-q", "--cached", &files[0]]);
        }
        let index = Index::read(&root.join(".git/index"), Vec::new()).unwrap();
        let mut names: Vec<String> = index.tracked().map(|n| String::from_utf8(n.to_vec()).unwrap()).collect();
        let mut wanted = files.clone();
        if split {
            wanted.remove(0);
        }
        if version == "3" {
            wanted.push("later".to_owned());
        }
        names.sort();
        wanted.sort();
        assert_eq!(names, wanted, "version {version}, split {split}");
        let file = files[1].as_bytes();
        let stat = walk::Reader::new(root).stat(file).unwrap().unwrap();
        let late = Index { written: (i64::MAX, 0), ..index };
        assert!(late.blob(&file.into(), &stat).is_some(), "version {version}, split {split}");
    }
}

/// An index of version 4 with these names, each as how much goes of the one before and what comes.
fn shortened(entries: &[(u8, &[u8])]) -> Vec<u8> {
    let mut out = b"DIRC\0\0\0\x04".to_vec();
    out.extend((entries.len() as u32).to_be_bytes());
    for (gone, own) in entries {
        out.extend([0; 62]);
        out.push(*gone);
        out.extend(*own);
        out.push(0);
    }
    out.extend([0; SUM]);
    out
}

#[test]
fn a_short_index_with_long_names_is_measured_before_it_is_decoded() {
    let long = vec![b'x'; 1 << 20];
    let few = shortened(&[(0, &long), (0, b"y"), (1, b"z")]);
    assert!(layout(&few, SUM, &mut |_| {}).is_some());
    let mut many: Vec<(u8, &[u8])> = vec![(0, &long)];
    many.extend(std::iter::repeat_n((0, &b""[..]), 64));
    assert!(layout(&shortened(&many), SUM, &mut |_| {}).is_none());
    assert!(layout(&shortened(&[(1, b"x")]), SUM, &mut |_| {}).is_none(), "more goes than there is");
}

#[test]
fn an_index_that_is_none_is_refused() {
    let lab = tempfile::tempdir().unwrap();
    let path = lab.path().join("index");
    let whole = shortened(&[(0, b"a"), (1, b"b")]);
    for at in 0..whole.len() - 1 {
        fs::write(&path, &whole[..at]).unwrap();
        assert_eq!(why_not(&path), Some(Odd::Broken), "{at}");
    }
    let mut huge = whole.clone();
    huge[8..12].copy_from_slice(&u32::MAX.to_be_bytes());
    fs::write(&path, &huge).unwrap();
    assert_eq!(why_not(&path), Some(Odd::Broken));
    fs::write(&path, &whole).unwrap();
    assert_eq!(why_not(&path), None);
}
