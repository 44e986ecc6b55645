//! How long an agent that was asked to stop may take to say that it has, one value for each situation.

use std::time::Duration;

/// There is a screen: then they are asked whether to end it.
pub const WATCHED: Duration = Duration::from_secs(6);
/// Without a screen: then it is ended.
pub const UNWATCHED: Duration = Duration::from_secs(5);
/// A signal came: then it is ended.
pub const CUT: Duration = Duration::from_secs(1);
/// The time that was given is over: then it is ended. What is left to do adds to it.
pub const LATE: Duration = Duration::from_millis(500);
