//! Tests of `hunks`.
