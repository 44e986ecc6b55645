//! Lines come out as they stand in any file.

use super::*;
use std::fs;

fn lines_of(text: &[u8], limits: (usize, usize)) -> (Vec<String>, u64) {
    let temp = tempfile::tempdir().unwrap();
    let path = temp.path().join("j");
    fs::write(&path, text).unwrap();
    let mut lines = Vec::new();
    let take = |line: &[u8]| lines.push(String::from_utf8_lossy(line).into_owned());
    let end = each_within(&mut open(&path).unwrap(), 0, limits, take).unwrap();
    (lines, end.offset)
}

#[test]
fn lines_are_the_same_however_they_lie_in_the_blocks() {
    let text = b"{\"a\":1}\n\n{\"bb\":22}\nx\n{\"c\":3}";
    let want = ["{\"a\":1}", "", "{\"bb\":22}", "x", "{\"c\":3}"];
    for block in 1..=text.len() + 1 {
        assert_eq!(lines_of(text, (block, 1000)), (want.map(str::to_owned).to_vec(), text.len() as u64), "{block}");
    }
}

#[test]
fn a_last_line_that_is_not_whole_is_left_for_later() {
    for rest in ["{\"c\":", "{\"c\":\"}", "plain"] {
        let text = format!("{{}}\n{rest}");
        assert_eq!(lines_of(text.as_bytes(), (4, 1000)), (vec!["{}".to_owned()], 3), "{rest}");
    }
}

#[test]
fn a_line_that_is_too_long_is_passed_over_and_what_follows_is_read() {
    let text = format!("{{}}\n\"{}\"\n{{\"b\":2}}\n", "x".repeat(100));
    assert_eq!(lines_of(text.as_bytes(), (8, 16)).0, ["{}", "{\"b\":2}"]);
    let unended = format!("{{}}\n{}}}", "x".repeat(100));
    assert_eq!(lines_of(unended.as_bytes(), (8, 16)).0, ["{}"]);
}

fn reached(offset: u64, damaged: u64) -> Reached {
    Reached { offset, damaged, passed_over: 0 }
}

#[test]
fn a_zero_byte_costs_the_line_that_it_is_in_wherever_blocks_end() {
    let temp = tempfile::tempdir().unwrap();
    let path = temp.path().join("j");
    let zeros = vec![0; 5000];
    for run in [&zeros[..1], &zeros[..7], &zeros] {
        let whole = [b"{}\n{\"a\":", run, b"1}\n{\"b\":2}\n", run, b"\n{\"c\":3}\n{\"d\":", run].concat();
        let unended = whole.len() - run.len() - b"{\"d\":".len();
        fs::write(&path, &whole).unwrap();
        for block in [1, 3, 4096, BLOCK] {
            let mut lines = Vec::new();
            let take = |line: &[u8]| lines.push(String::from_utf8_lossy(line).into_owned());
            let end = each_within(&mut open(&path).unwrap(), 0, (block, 100_000), take).unwrap();
            assert_eq!(lines, ["{}", "{\"b\":2}", "{\"c\":3}"], "{} {block}", run.len());
            assert_eq!(end, reached(unended as u64, 3), "{} {block}", run.len());
        }
        let Text { text, is_damaged } = text(&path, 100).unwrap();
        assert_eq!((text.as_str(), is_damaged), ("{}\n{\"b\":2}\n{\"c\":3}\n", true));
    }
}

/// A disk that was full, or a file made to be large: holes of any length cost a block.
#[test]
fn a_hole_is_not_read_however_long_it_is_and_what_stands_behind_it_is() {
    let temp = tempfile::tempdir().unwrap();
    let path = temp.path().join("j");
    for (text, lines, offset) in [("", 0, 0), ("{}\n", 1, 3), ("{}\n{\"half\":", 1, 3)] {
        for behind in [None, Some("2}\n{\"behind\":3}\n")] {
            fs::write(&path, text).unwrap();
            let mut file = fs::OpenOptions::new().write(true).open(&path).unwrap();
            file.set_len(1 << 40).unwrap();
            if let Some(behind) = behind {
                file.seek(SeekFrom::End(0)).unwrap();
                io::Write::write_all(&mut file, behind.as_bytes()).unwrap();
            }
            for block in [1, 4, BLOCK] {
                let mut taken = 0;
                let end = each_within(&mut open(&path).unwrap(), 0, (block, 1000), |_| taken += 1).unwrap();
                let offset = behind.map_or(offset, |behind| (1 << 40) + behind.len() as u64);
                let want = (lines + i32::from(behind.is_some()), reached(offset, 1));
                assert_eq!((taken, end), want, "{text} {behind:?} {block}");
            }
        }
    }
}

#[test]
fn the_text_of_a_file_has_its_whole_lines_and_no_more_than_is_wanted() {
    let temp = tempfile::tempdir().unwrap();
    let path = temp.path().join("j");
    fs::write(&path, "{}\n{\"half\":").unwrap();
    let Text { text: whole, is_damaged } = text(&path, 100).unwrap();
    assert_eq!((whole.as_str(), is_damaged), ("{}\n", false));
    fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(1 << 40).unwrap();
    let Text { text: whole, is_damaged } = text(&path, 100).unwrap();
    assert_eq!((whole.as_str(), is_damaged), ("{}\n", true));
    for long in [101, BLOCK + 1] {
        fs::write(&path, [vec![b'x'; long], b"\n".to_vec()].concat()).unwrap();
        assert!(text(&path, 100).unwrap_err().to_string().contains("larger than"), "{long}");
    }
}

#[test]
fn reading_goes_on_where_it_ended() {
    let temp = tempfile::tempdir().unwrap();
    let path = temp.path().join("j");
    fs::write(&path, "{}\n{\"half\":").unwrap();
    let mut all = Vec::new();
    let end = each(&mut open(&path).unwrap(), 0, |line| all.push(line.to_vec())).unwrap();
    fs::write(&path, "{}\n{\"half\":1}\n{\"more\":2}\n").unwrap();
    each(&mut open(&path).unwrap(), end.offset, |line| all.push(line.to_vec())).unwrap();
    assert_eq!(all.iter().map(|line| line.len()).collect::<Vec<_>>(), [2, 10, 10]);
}

#[test]
fn the_quick_way_and_the_slow_one_read_the_same() {
    let heard = What::Heard(AgentKey(0), "{\"x\":{\"y\":[1]}}");
    let further = What::Heard(AgentKey(3), "{}");
    for (line, want) in [
        (r#"{"t":1.500000,"dir":"agent->client","frame":{"x":{"y":[1]}}}"#, (1.5, heard)),
        (r#"{"t":1.500000,"dir":"agent->client","at":{"agent":0},"frame":{"x":{"y":[1]}}}"#, (1.5, heard)),
        (r#"{"dir":"agent->client","t":1.5,"frame":{"x":{"y":[1]}}}"#, (1.5, heard)),
        (r#"{"t":2.0,"dir":"agent->client","agent":3,"frame":{}}"#, (2.0, further)),
        (r#"{"t":2.0,"dir":"agent->client","at":{"agent":3},"frame":{}}"#, (2.0, further)),
        (r#"{"t":2.0,"dir":"client->agent","frame":{}}"#, (2.0, What::Sent(AgentKey(0), "{}"))),
        (
            r#"{"t":2.0,"dir":"person","at":{"session":2},"intent":"Start"}"#,
            (2.0, What::Intent(Some(Address::Session(crate::model::ids::SessionKey(2))), "\"Start\"")),
        ),
        (r#"{"t":2.0,"dir":"host","fact":{"X":1}}"#, (2.0, What::Fact(None, "{\"X\":1}"))),
        (r#"{"dir":"host","end":true}"#, (0.0, What::End)),
        (r#"{"t":2.0,"dir":"stderr","raw":"a \"frame\":{}"}"#, (2.0, What::Other)),
    ] {
        let row = row(line.as_bytes()).unwrap_or_else(|| panic!("{line}"));
        assert_eq!((row.t, row.what), want, "{line}");
        assert_eq!(parsed(line), Some(row), "{line}");
    }
    for line in ["", "x", "{\"t\":\"x\"}", "{\"t\":NaN,\"dir\":\"agent->client\",\"frame\":{}}", "{\"t\":-1}", "[1]"] {
        assert_eq!(row(line.as_bytes()), None, "{line}");
    }
    assert_eq!(row(b"{\"dir\":\"\xff\"}"), None);
}

#[test]
fn nothing_but_a_plain_file_is_opened_and_nobody_waits() {
    let temp = tempfile::tempdir().unwrap();
    let (plain, link, pipe) = (temp.path().join("plain"), temp.path().join("link"), temp.path().join("pipe"));
    fs::write(&plain, "{}").unwrap();
    std::os::unix::fs::symlink(&plain, &link).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &pipe,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_bits_truncate(0o600),
        0,
    )
    .unwrap();
    assert!(open(&plain).is_ok());
    for (path, why) in [(&link, "symbolic link"), (&pipe, "no plain file"), (&temp.path().to_owned(), "no plain file")]
    {
        let said = open(path).unwrap_err().to_string();
        assert!(said.contains(why), "{said}");
    }
}
