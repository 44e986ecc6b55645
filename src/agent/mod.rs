//! Speaks ACP to one agent: decodes what it says, encodes what it is told.
//!
//! Knows the messages, not what they mean for a session; that is the model's.

pub mod bounded;
pub mod content;
pub mod inbound;
pub mod outbound;
pub mod quirks;
pub mod results;
pub mod tools;
