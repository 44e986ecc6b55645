//! The examples of CommonMark's specification: the words of the expected HTML are the words on the screen, and where its
//! links lead is said.

use super::split::{Markdown, StablePrefix};
use super::{lines, pieces};
use crate::text::line::LogicalLine;

/// Number, section, Markdown and HTML of each; see `tests/commonmark/README.md`.
const EXAMPLES: &str = include_str!("../../../tests/commonmark/examples.json");
/// Wide enough that nothing is cut.
const WIDTH: u16 = 200;
/// Examples whose words are others here: number and reason of each.
const OTHERWISE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/commonmark/otherwise.txt");

fn examples() -> Vec<(u16, String, String, String)> {
    serde_json::from_str(EXAMPLES).unwrap()
}

/// What is shown, without what stands in front of lines.
fn shown(lines: &[LogicalLine]) -> String {
    let rows: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
    rows.join("\n").replace('─', "")
}

/// The text of the HTML as it is to be read here: behind words that lead somewhere it is said where.
fn read(html: &str) -> String {
    let mut out = String::new();
    let mut links: Vec<(usize, String)> = Vec::new();
    let mut rest = html;
    while let Some((before, after)) = rest.split_once('<') {
        out.push_str(&decoded(before));
        let end = end_of_tag(after);
        let (tag, further) = (&after[..end], after.get(end + 1..).unwrap_or_default());
        rest = further;
        let name: String = tag.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '/').collect();
        match name.as_str() {
            "a" if attribute(tag, "href").is_some() => {
                links.push((out.len(), attribute(tag, "href").unwrap_or_default()));
            }
            "/a" => {
                let Some((from, url)) = links.pop() else { continue };
                let text = &out[from..];
                let bare = url.strip_prefix("mailto:").unwrap_or(&url);
                if url.is_empty() || percent_decoded(text) == percent_decoded(bare) || *text == *url {
                    continue;
                }
                let words = if text.is_empty() { url.clone() } else { format!(" ({url})") };
                out.push_str(&words);
            }
            "img" => {
                let (alt, url) = (attribute(tag, "alt").unwrap_or_default(), attribute(tag, "src").unwrap_or_default());
                let whither = if url.is_empty() { String::new() } else { format!(" ({url})") };
                out.extend(["[image: ", &alt, "]", &whither]);
            }
            "em" | "/em" | "strong" | "/strong" | "code" | "/code" => {}
            "p" | "/p" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "/h1" | "/h2" | "/h3" | "/h4" | "/h5" | "/h6"
            | "ul" | "/ul" | "ol" | "/ol" | "li" | "/li" | "blockquote" | "/blockquote" | "pre" | "/pre" | "hr"
            | "br" => {
                out.push('\n');
            }
            _ => {
                out.push('<');
                out.push_str(tag);
                out.push('>');
            }
        }
    }
    out.push_str(&decoded(rest));
    out
}

/// Quotes may have the sign in them.
fn end_of_tag(text: &str) -> usize {
    let mut quote = None;
    for (at, c) in text.char_indices() {
        match (c, quote) {
            ('>', None) => return at,
            ('"', None) => quote = Some(c),
            (c, Some(open)) if c == open => quote = None,
            _ => {}
        }
    }
    text.find('>').unwrap_or(text.len())
}

fn attribute(tag: &str, name: &str) -> Option<String> {
    let (_, after) = tag.split_once(&format!(" {name}=\""))?;
    after.split_once('"').map(|(value, _)| decoded(value))
}

fn decoded(text: &str) -> String {
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}

fn percent_decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let pair = bytes.get(at + 1..at + 3).and_then(|pair| std::str::from_utf8(pair).ok());
        match pair.and_then(|pair| u8::from_str_radix(pair, 16).ok()).filter(|_| *byte == b'%') {
            Some(value) => {
                out.push(value);
                at += 3;
            }
            None => {
                out.push(*byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Words, without tags that are passed on as they are: an HTML block keeps them, and text may look like one.
fn words(text: &str) -> Vec<String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('<') {
        out.push_str(before);
        let is_tag = after.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?'));
        match after.split_once('>').filter(|_| is_tag) {
            Some((_, further)) => rest = further,
            None => {
                out.push('<');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    percent_decoded(&out).split_whitespace().map(str::to_owned).collect()
}

/// A text as it is shown when it comes in pieces of so many characters.
fn in_pieces(text: &str, characters: usize) -> Vec<LogicalLine> {
    let mut split = StablePrefix::new();
    let ends: Vec<usize> = text.char_indices().map(|(at, c)| at + c.len_utf8()).collect();
    for end in ends.iter().skip(characters - 1).step_by(characters).chain(ends.last()) {
        split.extend(&text[..*end], Markdown::Yes);
    }
    split.finish(text);
    (0..split.pieces().len()).flat_map(|n| pieces::lines(text, &split, n, WIDTH)).collect()
}

#[test]
fn the_words_of_all_examples_are_on_the_screen_and_where_their_links_lead() {
    let all = examples();
    assert_eq!(all.len(), 652);
    let otherwise = std::fs::read_to_string(OTHERWISE).unwrap();
    let known = otherwise.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(' '));
    let known: Vec<u16> = known.filter_map(|(number, _)| number.parse().ok()).collect();
    let (mut wrong, mut right) = (Vec::new(), Vec::new());
    for (number, section, markdown, html) in &all {
        let theirs = words(&read(html));
        let whole = words(&shown(&lines(markdown, WIDTH)));
        let is_known = known.contains(number);
        for characters in 1..=3 {
            let cut = words(&shown(&in_pieces(markdown, characters)));
            if cut != whole {
                wrong.push(format!("{number} in pieces of {characters}: {markdown:?}\n  {cut:?}\n  whole {whole:?}"));
            }
        }
        if whole != theirs && !is_known {
            wrong.push(format!("{number} ({section}): {markdown:?}\n  shown    {whole:?}\n  expected {theirs:?}"));
        } else if whole == theirs && is_known {
            right.push(number);
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(right.is_empty(), "right now, to be taken out of otherwise.txt: {right:?}");
}

/// The examples of tables in GitHub's dialect: Markdown, and the words in the order in which they are read.
const TABLES: &[(&str, &str)] = &[
    ("| foo | bar |\n| --- | --- |\n| baz | bim |\n", "foo bar baz bim"),
    ("| abc | defghi |\n:-: | -----------:\nbar | baz\n", "abc defghi bar baz"),
    ("| f\\|oo  |\n| ------ |\n| b `\\|` az |\n| b **\\|** im |\n", "f|oo b | az b | im"),
    ("| abc | def |\n| --- | --- |\n| bar | baz |\n> bar\n", "abc def bar baz bar"),
    ("| abc | def |\n| --- | --- |\n| bar | baz |\nbar\n\nbar\n", "abc def bar baz bar bar"),
    ("| abc | def |\n| --- |\n| bar |\n", "| abc | def | | --- | | bar |"),
    ("| abc | def |\n| --- | --- |\n| bar |\n| bar | baz | boo |\n", "abc def bar bar baz"),
    ("| abc | def |\n| --- | --- |\n", "abc def"),
];

#[test]
fn tables_say_the_same_whole_and_in_pieces() {
    for (markdown, expected) in TABLES {
        let expected: Vec<&str> = expected.split_whitespace().collect();
        assert_eq!(words(&shown(&lines(markdown, WIDTH))), expected, "{markdown:?}");
        for characters in 1..=3 {
            assert_eq!(words(&shown(&in_pieces(markdown, characters))), expected, "{markdown:?} by {characters}");
        }
    }
}
