use super::*;
use crate::review::snapshot::packs::{PackStore, encode, hash};
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
            let pack = TheirPack::open(&list, is_held, &Arc::default()).unwrap();
            for text in &texts {
                let oid = hash(text).unwrap();
                assert!(pack.has(&oid));
                assert_eq!(pack.size(&oid), Some(text.len() as u64));
                assert_eq!(read(&pack, &oid, Some(text.len() as u64)).as_ref(), Some(text));
                assert_eq!(read(&pack, &oid, Some(text.len() as u64 - 1)), None, "no more than was asked for");
            }
            assert!(!pack.has(&Oid([7; 20])));
        }
    }
}

/// What a pack gives under that name.
fn read(pack: &TheirPack, oid: &Oid, most: Option<u64>) -> Option<Vec<u8>> {
    match pack.ask(oid, most, &|bytes| hash(bytes).is_ok_and(|is| is == *oid)) {
        Answer::Whole(bytes) => Some(bytes),
        Answer::Nothing | Answer::Unable | Answer::Wrong => None,
    }
}

#[test]
fn a_pack_that_is_cut_short_or_changed_at_any_moment_has_less_and_ends_nothing() {
    let (_temp, list, texts) = packed(4, &[]);
    let (packed, trust) = (list.with_extension("pack"), Arc::<Trust>::default());
    let held = TheirPack::open(&list, true, &trust).unwrap();
    let whole = [fs::read(&list).unwrap(), fs::read(&packed).unwrap()];
    let is_read_as_it_is = || {
        trust.renew();
        for pack in [TheirPack::open(&list, false, &trust).as_ref(), Some(&held)].into_iter().flatten() {
            for text in &texts {
                let oid = hash(text).unwrap();
                let read = read(pack, &oid, None);
                assert!(read.is_none() || read.as_ref() == Some(text));
                let _ = pack.size(&oid);
            }
        }
    };
    for (path, whole) in [&list, &packed].into_iter().zip(&whole) {
        fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        let cut = (0..whole.len()).step_by(41).map(|length| whole[..length].to_vec());
        let changed = (0..whole.len()).step_by(29).map(|at| {
            let mut other = whole.clone();
            other[at] ^= 0xff;
            other
        });
        for other in cut.chain(changed) {
            fs::write(path, other).unwrap();
            is_read_as_it_is();
        }
        fs::write(path, whole).unwrap();
    }
    let oid = hash(&texts[0]).unwrap();
    assert_eq!(read(&held, &oid, None).as_ref(), Some(&texts[0]), "asked again, it has what it had");
}

#[test]
fn deltas_that_lead_nowhere_cost_no_more_than_there_is_for_a_look() {
    let temp = tempfile::tempdir().unwrap();
    let text: Vec<u8> = (0..500_u32).flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
    let oid = hash(&text).unwrap();
    let mut store = PackStore::create(temp.path()).unwrap();
    let mut pack = store.begin().unwrap();
    pack.add(&encode(oid, &text).unwrap()).unwrap();
    store.finish(pack).unwrap();
    // A delta of itself.
    let (path, at) = store.place(&oid).unwrap();
    let mut bytes = fs::read(&path).unwrap();
    bytes[at as usize] = 7 << 4 | 5;
    bytes[at as usize + 1..at as usize + 21].copy_from_slice(&oid.0);
    fs::write(&path, bytes).unwrap();
    let trust = Arc::<Trust>::default();
    let pack = TheirPack::open(&path.with_extension("idx"), true, &trust).unwrap();
    assert_eq!((read(&pack, &oid, None), pack.size(&oid)), (None, None));
    let asked = (0..10_000).take_while(|_| pack.size(&oid).is_none() && trust.left() > 0).count();
    assert!((1..200).contains(&asked), "{asked}");
    trust.renew();
    assert!(trust.left() > 0, "another look");
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
