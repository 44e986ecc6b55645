//! Remembers across runs.

pub mod audit;
pub mod branch;
pub mod claims;
pub mod drafts;
pub mod frames;
pub mod history;
pub mod journal;
pub mod lines;
pub mod lock;
pub mod log;
pub mod messages;
pub mod preview;
pub mod private;
pub mod prompts;
pub mod recording;
pub mod replace;
pub mod search;
pub mod sessions;
pub mod trusted;
mod whole;
pub mod writer;
