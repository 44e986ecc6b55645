use super::*;
use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;

#[test]
fn only_plain_files_within_the_limit_are_read() {
    let lab = tempfile::tempdir().unwrap();
    let at = |name: &str| lab.path().join(name);
    fs::write(at("file"), "12345").unwrap();
    symlink("file", at("link")).unwrap();
    symlink("loop", at("loop")).unwrap();
    symlink("nowhere", at("dangling")).unwrap();
    symlink("/dev/zero", at("zero")).unwrap();
    fs::create_dir(at("dir")).unwrap();
    let _socket = UnixListener::bind(at("socket")).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(at("fifo")).status().unwrap().success());
    symlink("fifo", at("to-fifo")).unwrap();
    File::create(at("sparse")).unwrap().set_len(10 << 30).unwrap();
    let both = [Links::Refused, Links::Followed];
    for links in both {
        assert_eq!(read(&at("file"), links, 5), Ok(Some(b"12345".to_vec())));
        assert_eq!(read(&at("file"), links, 4), Err(Odd::Large(4)));
        assert_eq!(read(&at("sparse"), links, 1 << 20), Err(Odd::Large(1 << 20)));
        assert_eq!(read(&at("nothing"), links, 5), Ok(None));
        assert_eq!(read(&at("file/below"), links, 5), Ok(None));
        for name in ["dir", "socket", "fifo"] {
            assert_eq!(read(&at(name), links, 5), Err(Odd::NotPlain), "{name}");
        }
    }
    for name in ["link", "loop", "dangling", "zero", "to-fifo"] {
        assert_eq!(read(&at(name), Links::Refused, 5), Err(Odd::Link), "{name}");
    }
    assert_eq!(read(&at("link"), Links::Followed, 5), Ok(Some(b"12345".to_vec())));
    for name in ["loop", "dangling", "zero", "to-fifo"] {
        assert_eq!(read(&at(name), Links::Followed, 5), Err(Odd::NotPlain), "{name}");
    }
}

#[test]
fn a_file_that_grows_while_it_is_read_is_not_read_to_its_end() {
    // The system says of these that they are plain and have no bytes.
    let status = Path::new("/proc/self/status");
    if status.metadata().is_ok_and(|meta| meta.len() == 0) {
        assert_eq!(read(status, Links::Refused, 10), Err(Odd::Large(10)));
        assert!(read(status, Links::Refused, 1 << 20).unwrap().is_some_and(|text| text.len() > 10));
    }
}
