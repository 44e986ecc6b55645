//! Files that are dropped on the terminal or pasted as a path.
//!
//! Looks at no file: whether there is one of this name is seen when the prompt is sent.

use crate::base::{media, paths};

/// `@path` for a paste that is nothing but the path of what may be an image or a sound, in the forms in which terminals
/// and file managers write one.
pub fn mention(pasted: &str) -> Option<String> {
    let text = pasted.trim();
    if text.is_empty() || text.contains(['\n', '\r', '"']) || !media::may_be(text.trim_end_matches('\'')) {
        return None;
    }
    let quoted = text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
    let path = match quoted {
        Some(inside) => inside.to_owned(),
        None if text.starts_with("file://") => paths::from_file_uri(text)?.to_string_lossy().into_owned(),
        // A blank that is none of the path ends it.
        None if text.replace("\\ ", "").contains(' ') => return None,
        None => text.replace("\\ ", " "),
    };
    if !path.starts_with('/') {
        return None;
    }
    Some(if path.contains(' ') { format!("@\"{path}\" ") } else { format!("@{path} ") })
}

#[cfg(test)]
mod tests {
    use super::mention;

    #[test]
    fn the_path_of_an_image_becomes_a_mention_and_all_else_stays_text() {
        for (pasted, wanted) in [
            ("/home/me/a.png\n", "@/home/me/a.png "),
            ("'/home/me/a b.png' ", "@\"/home/me/a b.png\" "),
            ("/home/me/a\\ b.JPG", "@\"/home/me/a b.JPG\" "),
            ("file:///home/me/a%20b.wav", "@\"/home/me/a b.wav\" "),
        ] {
            assert_eq!(mention(pasted).as_deref(), Some(wanted), "{pasted}");
        }
        for pasted in ["", "a.png", "/home/me/a.rs", "look at /home/me/a.png", "/a.png\n/b.png", "https://x/a.png"] {
            assert_eq!(mention(pasted), None, "{pasted}");
        }
    }
}
