//! How the screen has a small program run to its end, without knowing how processes are started.

use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

/// Runs a program with its arguments and gives it an input, for at most so long. Called inside the runtime.
pub type Run =
    Arc<dyn Fn(Vec<String>, Vec<u8>, Duration) -> Pin<Box<dyn Future<Output = io::Result<()>> + Send>> + Send + Sync>;

/// The same, which gives back what the program has printed.
pub type Ask = Arc<
    dyn Fn(Vec<String>, Vec<u8>, Duration) -> Pin<Box<dyn Future<Output = io::Result<Vec<u8>>> + Send>> + Send + Sync,
>;

/// The branch that is checked out in a directory. May take its time.
pub type Branch = Arc<dyn Fn(&Path) -> Option<String> + Send + Sync>;
