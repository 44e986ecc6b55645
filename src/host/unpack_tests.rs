//! Archives as they are, and as an enemy makes them.

use super::*;
use std::io::Write as _;
use tempfile::TempDir;

struct Place {
    temp: TempDir,
}

impl Place {
    fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        fs::create_dir(temp.path().join("root")).unwrap();
        Self { temp }
    }

    fn root(&self) -> PathBuf {
        self.temp.path().join("root")
    }

    fn unpack(&self, kind: Kind, bytes: &[u8]) -> Result<(), String> {
        let archive = self.temp.path().join("archive");
        fs::write(&archive, bytes).unwrap();
        unpack(&archive, kind, &self.root(), "bin/program")
    }

    /// Everything that is there, but for the archive.
    fn names(&self) -> Vec<String> {
        let (mut names, mut dirs) = (Vec::new(), vec![self.temp.path().to_owned()]);
        while let Some(dir) = dirs.pop() {
            for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
                if entry.file_type().unwrap().is_dir() {
                    dirs.push(entry.path());
                } else {
                    names.push(entry.path().strip_prefix(self.temp.path()).unwrap().display().to_string());
                }
            }
        }
        names.retain(|name| name != "archive");
        names.sort();
        names
    }
}

/// One entry of a tar with any name at all; the crate's own writer refuses bad ones.
fn entry(kind: tar::EntryType, name: &str, link: &str, content: &[u8]) -> Vec<u8> {
    let mut header = tar::Header::new_gnu();
    header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
    header.as_mut_bytes()[157..157 + link.len()].copy_from_slice(link.as_bytes());
    header.set_entry_type(kind);
    header.set_mode(0o755);
    header.set_size(content.len() as u64);
    header.set_cksum();
    let mut bytes = header.as_bytes().to_vec();
    bytes.extend(content);
    bytes.resize(bytes.len().next_multiple_of(512), 0);
    bytes
}

fn file(name: &str, content: &[u8]) -> Vec<u8> {
    entry(tar::EntryType::Regular, name, "", content)
}

fn tar(entries: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = entries.concat();
    bytes.resize(bytes.len() + 1024, 0);
    bytes
}

fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}

fn zip(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut out = zip::ZipWriter::new(io::Cursor::new(Vec::new()));
    for (name, content) in entries {
        let options = zip::write::SimpleFileOptions::default().unix_permissions(0o755);
        out.start_file(*name, options).unwrap();
        out.write_all(content).unwrap();
    }
    out.finish().unwrap().into_inner()
}

#[test]
fn each_kind_is_unpacked_and_its_program_found() {
    let plain = tar(&[file("pkg/bin/program", b"#!/bin/sh\n"), file("pkg/read me", b"text")]);
    let bz2 = {
        let mut out = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
        out.write_all(&plain).unwrap();
        out.finish().unwrap()
    };
    let zipped = zip(&[("pkg/bin/program", b"#!/bin/sh\n"), ("pkg/read me", b"text")]);
    for (kind, bytes) in
        [(Kind::Tar, plain.clone()), (Kind::TarGz, gz(&plain)), (Kind::TarBz2, bz2), (Kind::Zip, zipped)]
    {
        let place = Place::new();
        place.unpack(kind, &bytes).unwrap();
        assert_eq!(place.names(), ["root/pkg/bin/program", "root/pkg/read me"], "{kind:?}");
        let found = program(&place.root(), "pkg/bin/program").unwrap();
        assert_eq!(found.metadata().unwrap().permissions().mode() & 0o777, 0o700, "{kind:?}");
        // It is not where it should be.
        assert_eq!(program(&place.root(), "program"), Ok(found));
        assert!(program(&place.root(), "other").unwrap_err().contains("no other"));
    }
    let place = Place::new();
    place.unpack(Kind::Raw, b"\x7fELF and so on").unwrap();
    assert_eq!(place.names(), ["root/bin/program"]);
}

#[test]
fn what_an_address_names_is_told_by_its_end_and_confirmed_by_the_content() {
    for (address, kind) in [
        ("https://x/a/b-1.2.tar.gz?x=y.zip#z", Kind::TarGz),
        ("https://x/A.TGZ", Kind::TarGz),
        ("https://x/a.tbz2", Kind::TarBz2),
        ("https://x/a.tar", Kind::Tar),
        ("https://x/a.zip", Kind::Zip),
        ("https://x/agent-linux-1.2", Kind::Raw),
    ] {
        assert_eq!(Kind::of(address), Ok(kind), "{address}");
    }
    for address in ["https://x/a.dmg", "https://x/a.tar.xz", "https://x/a.deb", "https://x/a.gz"] {
        assert!(Kind::of(address).is_err(), "{address}");
    }
    let place = Place::new();
    for (kind, bytes) in [(Kind::Zip, gz(b"x")), (Kind::TarGz, b"<html>".to_vec()), (Kind::Raw, gz(b"x"))] {
        assert!(place.unpack(kind, &bytes).unwrap_err().contains("not what its name says"), "{kind:?}");
    }
}

#[test]
fn nothing_is_written_outside_and_no_link_leads_there() {
    let link = |name: &str, to: &str| entry(tar::EntryType::Symlink, name, to, b"");
    let hard = |name: &str, to: &str| entry(tar::EntryType::Link, name, to, b"");
    let attempts: &[(&str, Vec<Vec<u8>>)] = &[
        ("leads out", vec![file("../evil", b"x")]),
        ("leads out", vec![file("a/../../evil", b"x")]),
        ("leads out", vec![file("/tmp/acp-tui-evil", b"x")]),
        ("leads out", vec![link("a", "/etc")]),
        ("leads out", vec![link("a", "../..")]),
        ("leads out", vec![link("a", ".."), file("a/evil", b"x")]),
        ("leads out", vec![link("d", "."), link("e", "d/..")]),
        ("twice", vec![entry(tar::EntryType::Directory, "s/t", "", b""), link("l/x", "../s"), link("l", "s")]),
        ("twice", vec![link("d", "."), file("d", b"x")]),
        ("twice", vec![file("a", b"x"), file("a", b"y")]),
        ("leads to nothing", vec![hard("a", "/etc/passwd")]),
        ("leads to nothing", vec![hard("a", "../archive")]),
        ("no file, directory or link", vec![entry(tar::EntryType::Char, "a", "", b"")]),
        ("no file, directory or link", vec![entry(tar::EntryType::Fifo, "a", "", b"")]),
    ];
    for (why, entries) in attempts {
        let place = Place::new();
        let error = place.unpack(Kind::Tar, &tar(entries)).expect_err(why);
        assert!(error.contains(why) || error.contains("cannot be written"), "{why}: {error}");
        assert!(place.names().iter().all(|name| name.starts_with("root/")), "{:?}", place.names());
    }
    for name in ["../evil", "/tmp/acp-tui-evil", "a\\..\\..\\evil"] {
        let place = Place::new();
        assert!(place.unpack(Kind::Zip, &zip(&[(name, b"x")])).is_err(), "{name}");
        assert_eq!(place.names(), Vec::<String>::new());
    }
}

#[test]
fn links_that_stay_within_are_made() {
    let link = |name: &str, to: &str| entry(tar::EntryType::Symlink, name, to, b"");
    let place = Place::new();
    let entries =
        [link("bin/a", "../lib/a"), file("lib/a", b"text"), entry(tar::EntryType::Link, "lib/b", "lib/a", b"")];
    place.unpack(Kind::Tar, &tar(&entries)).unwrap();
    for name in ["bin/a", "lib/b"] {
        assert_eq!(fs::read_to_string(place.root().join(name)).unwrap(), "text", "{name}");
    }
}

#[test]
fn a_name_without_an_end_and_a_torn_archive_are_errors() {
    // 64 MiB of a name become 64 kB of an archive.
    let mut long = entry(tar::EntryType::GNULongName, "././@LongLink", "", &vec![b'a'; 64 << 20]);
    long.extend(file("x", b"x"));
    let place = Place::new();
    assert!(place.unpack(Kind::TarGz, &gz(&tar(&[long]))).unwrap_err().contains("too much is said"));
    let whole = gz(&tar(&[file("a", &[7; 5000])]));
    for end in [whole.len() / 2, whole.len() - 9] {
        assert!(Place::new().unpack(Kind::TarGz, &whole[..end]).is_err(), "{end}");
    }
    assert!(Place::new().unpack(Kind::Zip, b"PK\x03\x04 and no more").is_err());
}
