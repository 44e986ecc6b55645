//! Tests of `lines`.
