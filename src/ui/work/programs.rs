//! How the screen has a small program run to its end, without knowing how processes are started.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

/// Runs a program with its arguments and gives it an input, for at most so long. Called inside the runtime.
pub type Run =
    Arc<dyn Fn(Vec<String>, Vec<u8>, Duration) -> Pin<Box<dyn Future<Output = io::Result<()>> + Send>> + Send + Sync>;
