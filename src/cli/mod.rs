//! Turns a command line into one of the front ends.

mod agents;
mod archived;
mod args;
mod attached;
mod blame;
mod commands;
mod conversations;
mod deliver;
mod export;
mod fan_out;
mod flags;
mod help;
mod keys;
mod launch;
mod login;
mod mcp;
mod output;
mod past;
mod probe;
mod progress;
mod resume;
mod review;
mod rules;
mod run;
mod runtime;
mod screen;
mod search;
mod servers;
mod sessions;
mod trees;
mod trust;
mod usage;
mod values;
mod worktrees;
mod written;

pub use run::main;
