//! What the versions of the protocol have in common: reading without harm, content, forms, errors, lists.
//!
//! Knows no version. Invariant: what is read here is bounded, whoever sent it.

pub mod asked;
pub mod auth_status;
pub mod bounded;
pub mod children;
pub mod content;
pub mod errors;
pub mod frames;
pub mod requests;
pub mod results;
pub mod tools;
pub mod updates;
