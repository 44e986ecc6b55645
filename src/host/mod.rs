//! host: what agents ask of this machine — files and terminals — done here, synchronously, behind plain functions; the
//! processes of agents; the git worktrees that sessions begin in; the archives that agents come in; what the system keeps for
//! an agent; and what may be done with a directory.
//!
//! It knows no model, no screen and no protocol types. The engine calls the file functions from blocking tasks
//! and hands the registry two callbacks. Invariant: nothing outside the session's roots is read or written for an agent.

pub mod fs;
pub mod keyring;
pub mod priority;
pub mod process;
pub mod pty;
pub mod rights;
pub mod unpack;
pub mod worktrees;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// A lock that a panicked holder does not make unusable: what is guarded here stays consistent by construction.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
