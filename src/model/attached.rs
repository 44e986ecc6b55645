//! What goes along with a prompt: links to files, or what is in them.
//!
//! Reads nothing. Invariants: bytes are kept once, however often what they are of is passed on; a journal has their
//! number and not them.

use super::event::AgentCaps;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::sync::Arc;

/// A file that goes along with a prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    pub name: String,
    pub uri: String,
    /// What of it is sent besides its name.
    #[serde(default, skip_serializing_if = "Content::is_link")]
    pub content: Content,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Content {
    /// Nothing; the agent reads it where it is.
    #[default]
    Link,
    Text(Blob),
    Image {
        mime: String,
        data: Blob,
    },
    Audio {
        mime: String,
        data: Blob,
    },
}

/// Text, or bytes in base64.
#[derive(Clone, PartialEq, Eq)]
pub struct Blob(pub Arc<str>);

impl fmt::Debug for Blob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.brief())
    }
}

impl Serialize for Blob {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&self.brief())
    }
}

impl<'de> Deserialize<'de> for Blob {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from).map(|text| Self(text.into()))
    }
}

impl Blob {
    fn brief(&self) -> String {
        format!("[{} bytes]", self.0.len())
    }
}

impl Content {
    pub fn is_link(&self) -> bool {
        *self == Self::Link
    }

    /// Bytes that are sent.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Link => 0,
            Self::Text(blob) | Self::Image { data: blob, .. } | Self::Audio { data: blob, .. } => blob.0.len(),
        }
    }

    fn blob_mut(&mut self) -> Option<&mut Blob> {
        match self {
            Self::Link => None,
            Self::Text(blob) | Self::Image { data: blob, .. } | Self::Audio { data: blob, .. } => Some(blob),
        }
    }
}

impl Link {
    pub fn new(name: String, uri: String) -> Self {
        Self { name, uri, content: Content::Link }
    }

    /// As this agent takes it: a text that it does not take whole becomes a link. An image or a sound that it does not
    /// take is refused with the name of the file and of what the agent would need (R-213).
    pub fn fit(self, caps: &AgentCaps) -> Result<Self, String> {
        let (what, capability) = match &self.content {
            Content::Text(_) if !caps.embedded_context => return Ok(Self { content: Content::Link, ..self }),
            Content::Image { .. } if !caps.image => ("images", "image"),
            Content::Audio { .. } if !caps.audio => ("sound", "audio"),
            Content::Link | Content::Text(_) | Content::Image { .. } | Content::Audio { .. } => return Ok(self),
        };
        Err(format!("{} is not sent: the agent takes no {what} (promptCapabilities.{capability})", self.name))
    }

    /// What it is called where the person reads it.
    pub fn label(&self) -> String {
        match &self.content {
            Content::Link => self.name.clone(),
            Content::Text(_) => format!("{} (text)", self.name),
            Content::Image { .. } => format!("{} (image)", self.name),
            Content::Audio { .. } => format!("{} (sound)", self.name),
        }
    }

    /// The same without the bytes, for what is kept.
    pub fn without_bytes(&self) -> Self {
        let mut brief = self.clone();
        if let Some(blob) = brief.content.blob_mut() {
            *blob = Blob(blob.brief().into());
        }
        brief
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(content: Content) -> Link {
        Link { content, ..Link::new("a".into(), "file:///a".into()) }
    }

    fn blob() -> Blob {
        Blob("0123456789".into())
    }

    #[test]
    fn what_the_agent_does_not_take_is_refused_or_becomes_a_link() {
        let none = AgentCaps::default();
        let all = AgentCaps { image: true, audio: true, embedded_context: true, ..none };
        let (image, audio) = (
            of(Content::Image { mime: "image/png".into(), data: blob() }),
            of(Content::Audio { mime: "audio/wav".into(), data: blob() }),
        );
        for link in [of(Content::Link), of(Content::Text(blob())), image.clone(), audio.clone()] {
            assert_eq!(link.clone().fit(&all), Ok(link));
        }
        assert_eq!(of(Content::Text(blob())).fit(&none), Ok(of(Content::Link)));
        assert!(image.fit(&none).is_err_and(|why| why.contains("a is not sent") && why.contains("Capabilities.image")));
        assert!(audio.fit(&none).is_err_and(|why| why.contains("promptCapabilities.audio")));
    }

    #[test]
    fn a_journal_has_the_number_of_the_bytes_and_not_them() {
        let link = of(Content::Text(blob()));
        let kept = serde_json::to_string(&link).unwrap();
        assert!(kept.contains("[10 bytes]") && !kept.contains("0123"), "{kept}");
        let older = r#"{"name":"a","uri":"file:///a"}"#;
        assert_eq!(serde_json::from_str::<Link>(older).unwrap(), of(Content::Link));
        assert_eq!(serde_json::to_string(&of(Content::Link)).unwrap(), older);
        assert!(serde_json::from_str::<Link>(&kept).unwrap().content.blob_mut().is_some());
    }
}
