//! End-to-end tests: the real program full screen in a real pseudo-terminal, with a scripted agent.
//!
//! Nothing here looks inside the program: what counts is what stands on the emulated screen, which bytes came, and
//! which processes are left. Tests wait for conditions; where a span of time is the requirement, they wait it out on
//! the channel of the output.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr)]

#[path = "e2e/bytes.rs"]
mod bytes;
#[path = "e2e/processes.rs"]
mod processes;
#[path = "it/support/schema.rs"]
mod schema;
#[path = "e2e/session.rs"]
mod session;

#[path = "e2e/after.rs"]
mod after;
#[path = "e2e/alive.rs"]
mod alive;
#[path = "e2e/ending.rs"]
mod ending;
#[path = "e2e/escape.rs"]
mod escape;
#[path = "e2e/failing.rs"]
mod failing;
#[path = "e2e/gates.rs"]
mod gates;
#[path = "e2e/idle.rs"]
mod idle;
#[path = "e2e/inline.rs"]
mod inline;
#[path = "e2e/login.rs"]
mod login;
#[path = "e2e/looks.rs"]
mod looks;
#[path = "e2e/options.rs"]
mod options;
#[path = "e2e/permission.rs"]
mod permission;
#[path = "e2e/picker.rs"]
mod picker;
#[path = "e2e/prompt.rs"]
mod prompt;
#[path = "e2e/review.rs"]
mod review;
#[path = "e2e/robust.rs"]
mod robust;
#[path = "e2e/scroll.rs"]
mod scroll;
#[path = "e2e/status.rs"]
mod status;
#[path = "e2e/typing.rs"]
mod typing;
#[path = "e2e/worktrees.rs"]
mod worktrees;
