//! Small tools without knowledge of agents, screens or file formats.

pub mod date;
pub mod digest;
pub mod escape;
pub mod exit;
pub mod graphics;
pub mod human;
pub mod inherited;
pub mod limits;
pub mod media;
pub mod origins;
pub mod outline;
pub mod paths;
pub mod patience;
pub mod percent;
pub mod picture;
pub mod redact;
pub mod sanitize;
pub mod signal;
pub mod tail;
pub mod toml_doc;
pub mod tools;
pub mod transport;
pub mod utf8;
pub mod weighted;
pub mod width;
pub mod zone;
