//! What the person has set up: the configuration file, the places of files, the agents that are known.

pub mod agents;
pub mod budget;
pub mod dirs;
pub mod installed;
pub mod load;
pub mod mcp;
pub mod prompts;
pub mod schema;
