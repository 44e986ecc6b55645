//! What is shown: Markdown, output of commands, names and addresses.

use crate::{cut, numbered};
use acp_tui::base::{paths, sanitize};
use acp_tui::remote::Address;
use acp_tui::text::line::LogicalLine;
use acp_tui::text::{address, ansi as sgr, width, wrap};
use acp_tui::ui::md::split::{Markdown, StablePrefix};
use acp_tui::ui::md::{lines, pieces};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::Path;

#[track_caller]
fn assert_harmless(text: &str, may: &[char]) {
    let bad = text.chars().find(|c| (c.is_control() || sanitize::is_deceptive(*c)) && !may.contains(c));
    assert_eq!(bad, None, "in {text:?}");
}

fn in_pieces(text: &str, split: &StablePrefix, width: u16) -> Vec<LogicalLine> {
    (0..split.pieces().len()).flat_map(|n| pieces::lines(text, split, n, width)).collect()
}

/// A text that grows is laid out as the whole of it, in lines that can do nothing to a terminal and that wrap to its width.
pub fn markdown(data: &[u8]) {
    let Some((step, text)) = numbered(data) else { return };
    let mut split = StablePrefix::new();
    let mut at = 0;
    while at < text.len() {
        at = text.ceil_char_boundary((at + usize::from(step % 32) + 1).min(text.len()));
        split.extend(&text[..at], Markdown::Yes);
    }
    split.finish(text);
    for columns in [12, 60] {
        let (mut whole, mut cut) = (lines(text, columns), in_pieces(text, &split, columns));
        for line in &whole {
            for part in [&line.gutter, &line.prefix, &line.hang, &line.text, &line.right] {
                assert_harmless(part.as_str(), &['\t']);
            }
        }
        for row in wrap::wrap_lines(&whole, columns) {
            let line = &whole[row.line as usize];
            assert!(line.text.as_str().get(row.range.start as usize..row.range.end as usize).is_some());
        }
        // The keys of program text count from the beginning of a piece.
        whole.iter_mut().chain(&mut cut).for_each(|line| line.code = None);
        assert!(whole == cut, "in pieces {:?}\nwhole: {whole:#?}\nin pieces: {cut:#?}", split.pieces());
    }
}

/// Nothing that a terminal obeys comes out of any of the ways to clean a text, and cleaning it twice changes nothing.
pub fn ansi(data: &[u8]) {
    let Some((step, text)) = numbered(data) else { return };
    for line in sgr::parse(text) {
        assert!(line.as_str().chars().all(|c| !c.is_control() || c == '\t'), "{line:?}");
    }
    let clean: [(fn(&str) -> std::borrow::Cow<'_, str>, &[char]); 3] =
        [(sanitize::line, &[]), (sanitize::tabbed, &['\t']), (sanitize::block, &['\n', '\t'])];
    for (clean, may) in clean {
        let once = clean(text);
        assert_harmless(&once, may);
        assert_eq!(clean(&once), once);
    }
    let whole = sanitize::plain(text);
    assert!(whole.chars().all(|c| !c.is_control() || matches!(c, '\n' | '\t')), "{whole:?}");
    let (mut stream, mut out) = (sanitize::PlainStream::new(), String::new());
    for piece in cut(step, &text.chars().map(|_| 0).collect::<Vec<u8>>())
        .scan(text.chars(), |chars, piece| Some(chars.by_ref().take(piece.len()).collect::<String>()))
    {
        stream.push(&piece, &mut out);
    }
    assert_eq!(out, whole);
    let columns = usize::from(step);
    for short in
        [width::truncate(text, columns), width::truncate_start(text, columns), width::truncate_middle(text, columns)]
    {
        assert!(width::str_width(&short) <= columns.max(1), "{short:?} is wider than {columns}");
    }
}

/// A path goes through an address and comes back, tidying is done once, two names never look the same, and what is found in a
/// text lies in it.
pub fn paths(data: &[u8]) {
    let absolute: Vec<u8> = b"/".iter().chain(data).copied().filter(|byte| *byte != 0).collect();
    let path = Path::new(OsStr::from_bytes(&absolute));
    assert_eq!(paths::from_file_uri(&paths::file_uri(path)).as_deref(), Some(path));
    let tidy = paths::normalize(path);
    assert!(tidy.is_absolute() && tidy.components().all(|part| part.as_os_str() != ".."), "{tidy:?}");
    assert_eq!(paths::normalize(&tidy), tidy);
    assert_harmless(&paths::display(path, &["/home/me/work".into()], Some(Path::new("/home/me"))), &[]);
    let (one, other) = data.split_at(data.len() / 2);
    let seen = |name: &[u8]| paths::visible(&OsString::from_vec(name.to_vec()));
    assert_eq!(one == other, seen(one) == seen(other), "{:?} {:?}", seen(one), seen(other));
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Some(path) = paths::from_file_uri(text) {
        assert!(path.is_absolute() && !path.as_os_str().as_bytes().contains(&0), "{path:?}");
        assert_eq!(paths::from_file_uri(&paths::file_uri(&path)), Some(path));
    }
    for (at, found) in address::places(text) {
        assert_eq!(text.get(at..at + found.len()), Some(found));
        assert_harmless(found, &[]);
    }
    for place in address::files_around(text, 0..text.len().min(3)) {
        assert!(text.get(place.bytes).is_some_and(|found| found.starts_with(place.path)));
        assert!(!place.path.starts_with('/') && place.path.split('/').all(|part| part != ".."));
    }
    if let Err(why) = Address::read(text) {
        assert!(!why.is_empty());
    }
    let typed = Address::typed(text, Path::new("/here"));
    assert_eq!(Address::typed(&typed, Path::new("/there")), typed, "an address that is whole stays as it is");
}
