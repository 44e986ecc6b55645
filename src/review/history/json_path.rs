//! Paths below the root in JSON: as they are when they are UTF-8, else as a `file:` address.
//!
//! For `#[serde(with = …)]`. Invariant: what is written is read back byte for byte.

use crate::base::paths::{file_uri, from_file_uri};
use serde::{Deserialize, Deserializer, Serializer};
use std::path::{Path, PathBuf};

pub fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    match path.to_str() {
        Some(text) => serializer.serialize_str(text),
        None => serializer.serialize_str(&file_uri(&Path::new("/").join(path))),
    }
}

pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
    let text = String::deserialize(deserializer)?;
    if !text.starts_with("file:///") {
        return Ok(PathBuf::from(text));
    }
    let path = from_file_uri(&text).ok_or_else(|| serde::de::Error::custom("no path"))?;
    Ok(path.strip_prefix("/").map(Path::to_owned).unwrap_or(path))
}

/// The same for absolute paths.
pub mod absolute {
    use crate::base::paths::{file_uri, from_file_uri};
    use serde::{Deserialize, Deserializer, Serializer};
    use std::path::{Path, PathBuf};

    pub fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&file_uri(path))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
        let text = String::deserialize(deserializer)?;
        from_file_uri(&text).ok_or_else(|| serde::de::Error::custom("no path"))
    }
}
