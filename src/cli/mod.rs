//! Turns a command line into one of the front ends.

mod args;
mod help;
mod launch;
mod run;
mod screen;

pub use run::main;
