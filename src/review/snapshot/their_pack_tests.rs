use super::*;
use std::fs;
use std::process::Command;
use tempfile::TempDir;

fn git(dir: &Path, args: &[&str]) -> String {
    let settings = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "gc.auto=0"];
    let out = Command::new("git").arg("-C").arg(dir).args(settings).args(args).output().unwrap();
    assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).unwrap()
}

/// A pack with versions of one file, most of them deltas, and what each version is.
fn packed(versions: u32, settings: &[&str]) -> (TempDir, PathBuf, Vec<Vec<u8>>) {
    let temp = tempfile::tempdir().unwrap();
    let dir = temp.path();
    git(dir, &["init", "-q"]);
    let lines = |n: u32| (0..2000 + n).map(move |line| format!("{line} {}\n", if line % 97 == n % 97 { n } else { 0 }));
    let texts: Vec<Vec<u8>> = (0..versions).map(|n| lines(n).collect::<String>().into_bytes()).collect();
    for text in &texts {
        fs::write(dir.join("f"), text).unwrap();
        git(dir, &["add", "f"]);
        git(dir, &["commit", "-qm", "x"]);
    }
    git(dir, &[settings, &["repack", "-adfq", "--depth=50"]].concat());
    let names = dir.join(".git/objects/pack").read_dir().unwrap().map(|entry| entry.unwrap().path());
    let list = names.into_iter().find(|path| path.extension().is_some_and(|e| e == "idx")).unwrap();
    (temp, list, texts)
}

#[test]
fn every_version_of_a_file_that_git_has_packed_as_deltas_is_read() {
    for settings in [&[][..], &["-c", "repack.useDeltaBaseOffset=false"]] {
        let (temp, list, texts) = packed(60, settings);
        let deltas = git(temp.path(), &["cat-file", "--batch-all-objects", "--batch-check=%(deltabase) %(objecttype)"]);
        let is_delta = |line: &&str| line.ends_with("blob") && !line.starts_with("0000");
        assert!(deltas.lines().filter(is_delta).count() > 50, "{deltas}");
        for is_held in [true, false] {
            let pack = TheirPack::open(&list, is_held).unwrap();
            for text in &texts {
                let oid = hash(text).unwrap();
                assert!(pack.has(&oid));
                assert_eq!(pack.size(&oid), Some(text.len() as u64));
                assert_eq!(pack.read(&oid, text.len() as u64).as_ref(), Some(text));
                assert_eq!(pack.read(&oid, text.len() as u64 - 1), None, "no more than was asked for");
            }
            assert!(!pack.has(&Oid([7; 20])));
        }
    }
}

#[test]
fn a_pack_that_is_cut_short_at_any_moment_has_less_and_ends_nothing() {
    let (_temp, list, texts) = packed(4, &[]);
    let (packed, held) = (list.with_extension("pack"), TheirPack::open(&list, true).unwrap());
    let whole = [fs::read(&list).unwrap(), fs::read(&packed).unwrap()];
    for path in [&list, &packed] {
        fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    }
    for (path, whole) in [&list, &packed].into_iter().zip(&whole) {
        for length in (0..whole.len()).step_by(41) {
            fs::write(path, &whole[..length]).unwrap();
            for pack in [TheirPack::open(&list, false).as_ref(), Some(&held)].into_iter().flatten() {
                for text in &texts {
                    let oid = hash(text).unwrap();
                    let read = pack.read(&oid, LARGEST);
                    assert!(read.is_none() || read.as_ref() == Some(text));
                    let _ = pack.size(&oid);
                }
            }
        }
        fs::write(path, whole).unwrap();
    }
}

#[test]
fn whatever_stands_in_a_pack_is_read_as_what_it_is_or_not_at_all() {
    let (_temp, list, texts) = packed(4, &[]);
    let packed = list.with_extension("pack");
    let whole = [fs::read(&list).unwrap(), fs::read(&packed).unwrap()];
    for path in [&list, &packed] {
        fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    }
    for (path, whole) in [&list, &packed].into_iter().zip(&whole) {
        for at in (0..whole.len()).step_by(29) {
            let mut other = whole.clone();
            other[at] ^= 0xff;
            fs::write(path, &other).unwrap();
            let Some(pack) = TheirPack::open(&list, true) else { continue };
            for text in &texts {
                let oid = hash(text).unwrap();
                let read = pack.read(&oid, LARGEST);
                assert!(read.is_none() || read.as_ref() == Some(text));
                let _ = pack.size(&oid);
            }
        }
        fs::write(path, whole).unwrap();
    }
}

#[test]
fn what_a_delta_says_is_followed_as_far_as_it_is_sound() {
    let base = b"0123456789";
    let made = |delta: &[u8]| applied(base, delta, 20);
    assert_eq!(made(b"\x0a\x05\x91\x02\x03\x02ab").unwrap(), b"234ab");
    assert_eq!(made(b"\x0a\x00").unwrap(), b"");
    // Another base, cut short, more and less than it says, behind the end, the step that there is not, too much.
    let odd: [&[u8]; 9] = [
        b"\x09\x05\x91\x02\x03\x02ab",
        b"\x0a\x05\x91\x02\x03\x02a",
        b"\x0a\x05\x91\x02",
        b"\x0a\x04\x91\x02\x03\x02ab",
        b"\x0a\x06\x91\x02\x03\x02ab",
        b"\x0a\x05\x91\x09\x05",
        b"\x0a\x00\x00",
        b"\x0a\x15\x90\x0a\x90\x0a\x01a",
        b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
    ];
    assert!(odd.iter().all(|delta| made(delta).is_none()));
}
