//! Integration tests. Each is named after the requirement or the measured fact it shows.

// Helpers of tests fail as loudly as the tests; clippy's own exception ends at the functions marked as tests.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
// Transcripts are rendered for comparison, not for speed.
#![allow(clippy::format_push_string, clippy::format_collect)]

mod support;

mod app;
mod asides;
mod coverage;
mod decode;
mod engine;
mod exec;
mod hostile;
mod late_writes;
mod listing;
mod model;
mod odd_files;
mod outputs;
mod own_files;
mod readme;
mod recordings;
mod region;
mod replay;
mod review;
mod rules;
mod sdk_agent;
mod slow_link;
mod together;
