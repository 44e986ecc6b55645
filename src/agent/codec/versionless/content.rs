//! Content blocks and small lenient readers for generic JSON values.
//!
//! A block that cannot be read becomes a labelled placeholder; nothing here fails.

use crate::base::human;
use crate::base::limits::{self, MAX_ID, MAX_NAME, MAX_PATH, MAX_TEXT};
use crate::base::picture::Picture;
use crate::model::entry::Block;
use agent_client_protocol_schema::v1::{ContentBlock, EmbeddedResourceResource};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;
use std::sync::Arc;

/// Bytes of an id of a message that is kept as it is.
const MAX_SPELT: usize = 64;

/// A block as far as the screen needs it.
pub fn block(value: &Value) -> Block {
    match serde_json::from_value::<ContentBlock>(value.clone()) {
        Ok(block) => from_schema(block),
        Err(_) => {
            let kind = str_of(value, "type").unwrap_or("?");
            other(format!("unsupported content: {kind}"), str_of(value, "uri").map(str::to_owned), None)
        }
    }
}

pub fn from_schema(block: ContentBlock) -> Block {
    match block {
        ContentBlock::Text(text) => Block::Text(text.text),
        ContentBlock::Image(image) => {
            let label = format!("image {}, {}", image.mime_type, decoded_size(&image.data));
            let block = other(label, image.uri, None);
            pictured(block, Picture::of(limits::cut(image.mime_type, MAX_NAME), &image.data))
        }
        ContentBlock::Audio(audio) => {
            other(format!("audio {}, {}", audio.mime_type, decoded_size(&audio.data)), None, None)
        }
        ContentBlock::ResourceLink(link) => {
            let name = link.title.filter(|t| !t.is_empty()).unwrap_or(link.name);
            let mut label = format!("link {name}");
            for more in
                [link.mime_type, link.size.and_then(|s| u64::try_from(s).ok()).map(human::bytes)].into_iter().flatten()
            {
                label.push_str(", ");
                label.push_str(&more);
            }
            other(label, Some(link.uri), None)
        }
        ContentBlock::Resource(resource) => match resource.resource {
            EmbeddedResourceResource::TextResourceContents(text) => {
                let kind = text.mime_type.map(|m| format!(" {m}")).unwrap_or_default();
                let label = format!("resource{kind}, {}", human::bytes(text.text.len() as u64));
                other(label, Some(text.uri), Some(text.text))
            }
            EmbeddedResourceResource::BlobResourceContents(blob) => {
                let kind = blob.mime_type.map(|m| format!(" {m}")).unwrap_or_default();
                let is_image = kind.starts_with(" image/") && kind.len() <= MAX_NAME;
                let picture = is_image.then(|| Picture::of(kind.trim().to_owned(), &blob.blob)).flatten();
                let block = other(format!("resource{kind}, {}", decoded_size(&blob.blob)), Some(blob.uri), None);
                pictured(block, picture)
            }
            _ => other("resource of an unknown kind".into(), None, None),
        },
        _ => other("unsupported content".into(), None, None),
    }
}

fn other(label: String, uri: Option<String>, text: Option<String>) -> Block {
    Block::Other {
        label: limits::cut(label, MAX_NAME),
        uri: uri.map(|uri| limits::cut(uri, MAX_PATH)),
        text: text.map(|text| limits::cut(text, MAX_TEXT)),
        picture: None,
    }
}

fn pictured(block: Block, with: Option<Picture>) -> Block {
    match block {
        Block::Other { label, uri, text, .. } => Block::Other { label, uri, text, picture: with.map(Arc::new) },
        text @ Block::Text(_) => text,
    }
}

/// The size of what base64 stands for, without decoding it.
fn decoded_size(data: &str) -> String {
    let padding = data.bytes().rev().take_while(|b| *b == b'=').count();
    let digits = data.len() - padding;
    if data.bytes().take(digits).any(|b| !(b.is_ascii_alphanumeric() || b"+/-_\r\n".contains(&b))) {
        return "not valid base64".into();
    }
    human::bytes((digits * 3 / 4) as u64)
}

pub fn str_of<'a>(value: &'a Value, member: &str) -> Option<&'a str> {
    value.get(member)?.as_str()
}

pub fn string_of(value: &Value, member: &str) -> Option<String> {
    str_of(value, member).map(str::to_owned)
}

/// A text for people, cut to `max` bytes.
pub fn words_of(value: &Value, member: &str, max: usize) -> Option<String> {
    Some(limits::cut(str_of(value, member)?, max))
}

/// An id, unless it is too long: cut it would be another one.
pub fn id_of(value: &Value, member: &str) -> Option<String> {
    str_of(value, member).filter(|id| id.len() <= MAX_ID).map(str::to_owned)
}

/// The same where it must be there; `Err` says what is wrong.
pub fn need_id(value: &Value, member: &str) -> Result<String, String> {
    let Some(id) = str_of(value, member) else { return Err(format!("{member} is missing")) };
    short_id(id, member).map(str::to_owned)
}

/// The id, unless it is too long.
pub fn short_id<'a>(id: &'a str, member: &str) -> Result<&'a str, String> {
    if id.len() <= MAX_ID { Ok(id) } else { Err(format!("{member} has {} bytes, more than {MAX_ID}", id.len())) }
}

/// The id of a message: it is only told apart from others, so a long one is kept as its digest.
pub fn message_id(id: &str) -> Result<Arc<str>, String> {
    let id = short_id(id, "messageId")?;
    if id.len() <= MAX_SPELT {
        return Ok(id.into());
    }
    let mut digest = "digest ".to_owned();
    for byte in Sha256::digest(id.as_bytes()).iter().take(16) {
        // Writing to a text does not fail.
        let _ = write!(digest, "{byte:02x}");
    }
    Ok(digest.into())
}

/// A counter, also when it is written as an integral float.
pub fn u64_of(value: &Value, member: &str) -> Option<u64> {
    let value = value.get(member)?;
    value.as_u64().or_else(|| value.as_f64().filter(|f| f.fract() == 0.0 && *f >= 0.0 && *f < 9e15).map(|f| f as u64))
}

/// A number that may be negative, also when it is written as an integral float.
pub fn i64_of(value: &Value, member: &str) -> Option<i64> {
    let value = value.get(member)?;
    value.as_i64().or_else(|| value.as_f64().filter(|f| f.fract() == 0.0 && f.abs() < 9e15).map(|f| f as i64))
}

pub fn u32_of(value: &Value, member: &str) -> Option<u32> {
    u64_of(value, member).and_then(|n| u32::try_from(n).ok())
}

/// A list; anything else, also null, is empty.
pub fn list_of<'a>(value: &'a Value, member: &str) -> &'a [Value] {
    value.get(member).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}
