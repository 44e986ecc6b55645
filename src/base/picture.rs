//! A picture as an agent has sent it: its kind and its bytes, still in base64.
//!
//! Decodes no picture. Invariants: one that is larger than [`MAX`] is not kept; its bytes are there once, however often
//! it is passed on.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// Bytes in base64 that are kept of one picture.
pub const MAX: usize = 16 << 20;

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Picture {
    /// As the agent calls its kind.
    pub mime: String,
    data: Arc<str>,
}

impl Picture {
    /// Nothing where there is nothing, or too much.
    pub fn of(mime: String, data: &str) -> Option<Self> {
        (!data.is_empty() && data.len() <= MAX).then(|| Self { mime, data: data.into() })
    }

    /// How much memory it takes.
    pub fn size(&self) -> usize {
        self.data.len()
    }

    /// Nothing where it is no base64.
    pub fn bytes(&self) -> Option<Vec<u8>> {
        let clean = self.data.contains(['\r', '\n']).then(|| self.data.replace(['\r', '\n'], ""));
        STANDARD.decode(clean.as_deref().unwrap_or(&self.data)).ok()
    }
}

impl fmt::Debug for Picture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} [{} bytes]", self.mime, self.data.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_kept_whole_or_not_at_all() {
        let picture = Picture::of("image/png".into(), "aGk\r\ngaGk=").unwrap();
        assert_eq!(picture.bytes().unwrap(), b"hi hi");
        assert_eq!(format!("{picture:?}"), "image/png [10 bytes]");
        let again: Picture = serde_json::from_str(&serde_json::to_string(&picture).unwrap()).unwrap();
        assert_eq!(again, picture);
        assert!(Picture::of("image/png".into(), "").is_none());
        assert!(Picture::of("image/png".into(), &"A".repeat(50 << 20)).is_none());
        assert!(Picture::of("image/png".into(), "***").unwrap().bytes().is_none());
    }
}
