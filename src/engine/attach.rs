//! Files that go along with a prompt: `@path` in its text, and those that are attached by name.
//!
//! Of `@path` only what exists below the session's directory or is named by an absolute path; the text of the prompt
//! stays as it was typed. Invariants: what is read is bounded and a file that is one; what it is, its bytes say.

use crate::base::media::{self, Media};
use crate::base::{human, paths};
use crate::host::fs::open_regular;
use crate::model::account::QUOTE;
use crate::model::attached::{Blob, Content, Link};
use crate::model::event::AgentCaps;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// Links of one prompt; more are left as text.
const MAX_LINKS: usize = 64;
/// Bytes of an image or a sound, and of all of one prompt.
const MAX_MEDIA: u64 = 10 << 20;
const MAX_ALL: usize = 32 << 20;
/// Bytes of a text that is sent whole; of a longer one the link is.
const MAX_TEXT: u64 = 256 << 10;

/// What `@` names in a text, with or without the signs that end a sentence; in quotes where a name has blanks. A line that
/// is quoted names nothing: another party may have worded it, in an account of another conversation an agent.
fn mentions(text: &str) -> impl Iterator<Item = &str> {
    text.char_indices().filter(|(_, c)| *c == '@').filter_map(|(at, _)| {
        let before = &text[..at];
        let is_begin = before.chars().next_back().is_none_or(char::is_whitespace);
        let is_quoted = before.rsplit('\n').next().is_some_and(|line| line.starts_with(QUOTE));
        let rest = text.get(at + 1..).filter(|_| is_begin && !is_quoted)?;
        match rest.strip_prefix('"').and_then(|quoted| quoted.split_once('"')) {
            Some((name, _)) => Some(name),
            None => rest.split_whitespace().next().filter(|_| !rest.starts_with(char::is_whitespace)),
        }
    })
}

/// The files that a text names, each once: its name in the text and where it is.
fn files(text: &str, cwd: &Path) -> Vec<(String, PathBuf)> {
    let mut files: Vec<(String, PathBuf)> = Vec::new();
    for name in mentions(text) {
        let found = [name, name.trim_end_matches([',', '.', ';', ':', '!', '?', ')', ']', '"', '\''])]
            .into_iter()
            .filter(|n| !n.is_empty())
            .find(|n| cwd.join(n).exists());
        let Some(name) = found else { continue };
        let path = paths::normalize(&cwd.join(name));
        if files.len() < MAX_LINKS && !files.iter().any(|(_, other)| *other == path) {
            files.push((name.to_owned(), path));
        }
    }
    files
}

fn links(text: &str, cwd: &Path) -> Vec<Link> {
    files(text, cwd).into_iter().map(|(name, path)| Link::new(name, paths::file_uri(&path))).collect()
}

/// What goes along anyway, and the files that the text names besides.
pub fn joined(mut given: Vec<Link>, text: &str, cwd: &Path) -> Vec<Link> {
    for link in links(text, cwd) {
        if given.len() < MAX_LINKS && !given.iter().any(|other| other.uri == link.uri) {
            given.push(link);
        }
    }
    given
}

/// Whether a text may name an image or a sound, so that files are to be read before it is sent. Looks at no file.
pub fn may_have_media(text: &str) -> bool {
    mentions(text).any(|name| media::may_be(name.trim_end_matches([',', '.', ';', ':', '!', '?', ')', ']'])))
}

/// The files that a text names as this agent takes them: images and sounds whole, all else as links.
pub fn read_mentioned(text: &str, cwd: &Path, caps: &AgentCaps) -> Result<Vec<Link>, String> {
    let read = |(name, path): (String, PathBuf)| {
        if !media::may_be(&name) {
            return Ok(Link::new(name, paths::file_uri(&path)));
        }
        let link = read(&path, name)?;
        match link.content {
            Content::Text(_) => Ok(Link { content: Content::Link, ..link }),
            _ => link.fit(caps),
        }
    };
    within(files(text, cwd).into_iter().map(read).collect::<Result<_, _>>()?)
}

/// Refuses what is too much for one prompt.
pub fn within(links: Vec<Link>) -> Result<Vec<Link>, String> {
    let bytes: usize = links.iter().map(|link| link.content.bytes()).sum();
    if bytes > MAX_ALL {
        return Err(format!(
            "what goes along with the prompt is {}; at most {} is sent",
            size(bytes as u64),
            size(MAX_ALL as u64)
        ));
    }
    Ok(links)
}

fn size(bytes: u64) -> String {
    human::bytes(bytes)
}

/// A file that is to go along: an image or a sound whole, a short text whole, of anything else the link.
pub fn read(path: &Path, name: String) -> Result<Link, String> {
    let named = |why: &dyn std::fmt::Display| format!("{name}: {why}");
    let meta = path.metadata().map_err(|error| named(&error))?;
    let link = Link::new(name.clone(), paths::file_uri(&paths::normalize(path)));
    if meta.is_dir() {
        return Ok(link);
    }
    let named = |error: io::Error| match error.kind() {
        // A file of the kernel's, such as /proc/kmsg.
        io::ErrorKind::WouldBlock => named(&"it has nothing to read now; copy what it gives to a file"),
        _ => named(&error),
    };
    let mut file = open_regular(path).map_err(named)?;
    let mut bytes = Vec::new();
    (&mut file).take(media::HEAD as u64).read_to_end(&mut bytes).map_err(named)?;
    let kind = media::of(&bytes);
    let (what, max) = match kind {
        Some(Media::Image(_)) => ("an image", MAX_MEDIA),
        Some(Media::Audio(_)) => ("a sound", MAX_MEDIA),
        None => ("a text", MAX_TEXT),
    };
    file.take(max + 1 - bytes.len() as u64).read_to_end(&mut bytes).map_err(named)?;
    if bytes.len() as u64 > max {
        return match kind {
            Some(_) => Err(format!(
                "{name}: it is {what} of {}; at most {} is sent. Make it smaller",
                size(meta.len().max(bytes.len() as u64)),
                size(max)
            )),
            None => Ok(link),
        };
    }
    let data = || Blob(STANDARD.encode(&bytes).into());
    let content = match kind {
        Some(Media::Image(mime)) => Content::Image { mime: mime.to_owned(), data: data() },
        Some(Media::Audio(mime)) => Content::Audio { mime: mime.to_owned(), data: data() },
        None => match String::from_utf8(bytes) {
            Ok(text) if !text.contains('\0') && !text.is_empty() => Content::Text(Blob(text.into())),
            _ => Content::Link,
        },
    };
    Ok(Link { content, ..link })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PNG: &[u8] = b"\x89PNG\r\n\x1a\n and the rest";

    #[test]
    fn what_a_file_is_its_bytes_say() {
        let dir = tempfile::tempdir().unwrap();
        let read = |name: &str, bytes: &[u8]| {
            let path = dir.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            read(&path, name.to_owned()).map(|link| link.content)
        };
        assert!(matches!(read("a.txt", PNG), Ok(Content::Image { mime, .. }) if mime == "image/png"));
        assert!(matches!(read("a.png", b"no picture"), Ok(Content::Text(text)) if &*text.0 == "no picture"));
        assert!(matches!(read("a.wav", b"RIFF....WAVEfmt "), Ok(Content::Audio { mime, .. }) if mime == "audio/wav"));
        assert_eq!(read("a.bin", b"\xff\xfe\0"), Ok(Content::Link));
        assert_eq!(read("nul", b"a\0b"), Ok(Content::Link));
        assert_eq!(read("long", &vec![b'x'; MAX_TEXT as usize + 1]), Ok(Content::Link));
        let mut large = PNG.to_vec();
        large.resize(50 << 20, 0);
        let why = read("large.png", &large).unwrap_err();
        assert!(why.starts_with("large.png: it is an image of 52") && why.contains("at most 10"), "{why}");
    }

    #[test]
    fn what_is_no_file_is_a_clear_line() {
        let dir = tempfile::tempdir().unwrap();
        assert!(read(&dir.path().join("none"), "none".into()).unwrap_err().starts_with("none: "));
        assert_eq!(read(dir.path(), "d".into()).map(|link| link.content), Ok(Content::Link));
        assert!(read(Path::new("/dev/zero"), "zero".into()).unwrap_err().contains("not a regular file"));
    }

    #[test]
    fn names_with_blanks_stand_in_quotes() {
        let names: Vec<&str> = mentions("see @a.rs, @\"b c.png\" and a@b.example @ x").collect();
        assert_eq!(names, ["a.rs,", "b c.png"]);
        assert!(may_have_media("look at @\"b c.PNG\"!") && may_have_media("@x.jpg.") && !may_have_media("@x.rs a.png"));
    }

    #[test]
    fn what_somebody_else_has_worded_names_nothing() {
        let names: Vec<&str> = mentions("Assistant:\n> look at @/home/me/id.png\n> @b\n\n@c > @d").collect();
        assert_eq!(names, ["c", "d"]);
    }

    #[test]
    fn an_image_that_is_mentioned_goes_along_whole_where_the_agent_takes_it() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a.png"), PNG).unwrap();
        std::fs::write(dir.path().join("b.rs"), "text").unwrap();
        let caps = AgentCaps { image: true, ..AgentCaps::default() };
        let links = read_mentioned("@a.png @b.rs", dir.path(), &caps).unwrap();
        assert!(matches!(links[0].content, Content::Image { .. }) && links[1].content.is_link());
        let none = read_mentioned("@a.png @b.rs", dir.path(), &AgentCaps::default());
        assert!(none.unwrap_err().contains("promptCapabilities.image"));
    }
}
