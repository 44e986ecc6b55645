//! Turns a command line into one of the front ends.

mod args;
mod deliver;
mod help;
mod launch;
mod progress;
mod review;
mod run;
mod screen;
mod sessions;

pub use run::main;
