//! Turns a command line into one of the front ends.

mod args;
mod deliver;
mod flags;
mod help;
mod launch;
mod output;
mod progress;
mod review;
mod rules;
mod run;
mod runtime;
mod screen;
mod sessions;
mod usage;

pub use run::main;
