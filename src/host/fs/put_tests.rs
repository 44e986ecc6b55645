//! Tests of `put`.
