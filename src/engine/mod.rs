//! Carries out the model's effects for the front end that holds it.
//!
//! `core` is the pure part (the model and a `connection` to each agent), `run` the asynchronous one: one loop over parts
//! that own what is theirs and tell what has become of it: `links`, `terminals`, `filing`, `reviews` (over `workspaces`
//! and the threads of `reviewing`), `journaling`, `audit`, `moving`, `recalling`, `ruling` (with `hook`), `servers`,
//! `timers`. One owner, no lock, no replica.

mod admitting;
pub mod attach;
mod audit;
pub mod blame;
mod calls;
mod config;
mod connection;
pub mod core;
pub mod counting;
mod decoding;
pub mod earlier;
mod extent;
mod fact;
mod file_job;
mod filing;
pub mod forgetting;
pub mod frames;
mod hook;
mod journaling;
pub mod link;
mod links;
mod logging;
mod making;
mod masking;
pub mod merging;
mod moving;
mod noting;
mod pushing;
pub mod real_paths;
pub mod recalling;
mod refusing;
pub mod replay;
mod review_entries;
mod reviewing;
mod reviews;
mod rooms;
pub mod rule_files;
pub mod rulebook;
mod ruling;
mod run;
mod run_name;
mod running;
mod secrets;
mod servers;
mod shares;
mod spelling;
pub mod suggesting;
mod terminals;
mod timers;
pub mod wait;
mod workspaces;

pub use crate::wire::framing::Framing;
pub use config::EngineConfig;
pub use hook::Hook;
pub use links::{AgentSetup, Further, LinkWake, Reach, kept_by_command};
pub use reviewing::ReviewConfig;
pub use ruling::RulesConfig;
pub use run::{Engine, Goodbye, Unwritten, Wake};
pub use servers::{Find, ServersConfig};
