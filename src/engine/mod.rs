//! Lets the model's decisions happen in the world, for whichever front end holds it.
//!
//! `core` is the pure part (model, ids, encoding), `run` the asynchronous one. One owner, no lock, no replica.

pub mod attach;
pub mod core;
mod decoding;
mod execute;
mod filing;
mod journaling;
pub mod link;
mod masking;
mod noting;
mod refusing;
pub mod replay;
mod reviewing;
mod run;
mod running;
mod shutdown;
pub mod wait;

pub use reviewing::ReviewConfig;
pub use run::{Engine, EngineConfig, Wake};
pub use shutdown::Goodbye;
