//! What kind of picture or sound bytes are: by how they begin, not by the file's name.

/// A kind that agents can be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Media {
    Image(&'static str),
    Audio(&'static str),
}

/// Bytes that are enough to tell.
pub const HEAD: usize = 16;

/// By the first bytes.
pub fn of(head: &[u8]) -> Option<Media> {
    let at = |from: usize, sign: &[u8]| head.get(from..).is_some_and(|rest| rest.starts_with(sign));
    Some(match () {
        () if at(0, b"\x89PNG\r\n\x1a\n") => Media::Image("image/png"),
        () if at(0, b"\xff\xd8\xff") => Media::Image("image/jpeg"),
        () if at(0, b"GIF87a") || at(0, b"GIF89a") => Media::Image("image/gif"),
        () if at(0, b"RIFF") && at(8, b"WEBP") => Media::Image("image/webp"),
        () if at(0, b"RIFF") && at(8, b"WAVE") => Media::Audio("audio/wav"),
        () if at(0, b"ID3") || at(0, b"\xff\xfb") || at(0, b"\xff\xf3") => Media::Audio("audio/mpeg"),
        () if at(0, b"OggS") => Media::Audio("audio/ogg"),
        () if at(0, b"fLaC") => Media::Audio("audio/flac"),
        () if at(4, b"ftypM4A") => Media::Audio("audio/mp4"),
        () => return None,
    })
}

/// Whether a file of this name may be one, so that it is worth a look.
pub fn may_be(name: &str) -> bool {
    const ENDINGS: [&str; 10] = ["png", "jpg", "jpeg", "gif", "webp", "wav", "mp3", "ogg", "flac", "m4a"];
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    ending.is_some_and(|ending| ENDINGS.contains(&ending.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_tell_what_they_are_and_names_only_what_they_may_be() {
        assert_eq!(of(b"\x89PNG\r\n\x1a\n\0\0"), Some(Media::Image("image/png")));
        assert_eq!(of(b"RIFF\0\0\0\0WEBPVP8 "), Some(Media::Image("image/webp")));
        assert_eq!(of(b"RIFF\0\0\0\0WAVEfmt "), Some(Media::Audio("audio/wav")));
        assert_eq!(of(b"\xff\xd8\xff\xe0"), Some(Media::Image("image/jpeg")));
        assert_eq!(of(b"RIFF"), None);
        assert_eq!(of(b""), None);
        assert_eq!(of(b"fn main() {}"), None);
        assert!(may_be("a.PNG") && may_be("/x/y.jpeg") && !may_be("png") && !may_be("a.png.txt"));
    }
}
