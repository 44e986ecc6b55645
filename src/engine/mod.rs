//! Lets the model's decisions happen in the world, for whichever front end holds it.
//!
//! `core` is the pure part (the model and a `connection` to each agent), `run` the asynchronous one, over parts that own
//! what is theirs: `links`, `terminals`, `filing`, `reviewing`, `journaling`, `timers`, `ruling`,
//! `workspaces`, joined in `settling`. One owner, no lock, no replica.

mod admitting;
pub mod attach;
mod connection;
pub mod core;
mod decoding;
mod execute;
mod fact;
mod filing;
mod journaling;
pub mod link;
mod links;
mod masking;
mod moving;
mod noting;
mod refusing;
pub mod replay;
mod reviewing;
pub mod rulebook;
mod ruling;
mod run;
mod running;
mod settling;
mod shutdown;
mod terminals;
mod timers;
pub mod wait;
mod workspaces;

pub use links::{AgentSetup, Further, LinkWake};
pub use reviewing::ReviewConfig;
pub use ruling::RulesConfig;
pub use run::{Engine, EngineConfig, Wake};
pub use shutdown::Goodbye;
