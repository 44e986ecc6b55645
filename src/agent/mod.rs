//! Speaks to one agent: decodes what it says, encodes what it is told.
//!
//! Knows the messages, not what they mean for a session; that is the model's.

pub mod codec;
pub mod quirks;
