//! Numbers of errors in a rendition, both ways.
//!
//! Beside a number stand the words and the data of version 1. Invariant: the table of one rendition is never asked about
//! an error of another.

use crate::agent::codec::v1::results::auth_methods;
use crate::agent::codec::versionless::errors;
use crate::model::event::{AuthMethod, CallError, ErrorKind};
use crate::model::refusal::{Reason, Refusal, Subject};
use crate::wire::rpc_error::RpcError;

/// Numbers that mean something else than in version 1.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    pub heard: Option<fn(i64) -> ErrorKind>,
    /// The numbers that are sent.
    pub said: Option<Numbers>,
}

#[derive(Clone, Copy, Debug)]
pub struct Numbers {
    pub no_session: i64,
    pub not_found: i64,
    pub outside: i64,
    pub refused: i64,
    pub not_offered: i64,
    pub cancelled: i64,
    pub too_many: i64,
}

impl Table {
    pub const CANONICAL: Self = Self { heard: None, said: None };

    pub fn read(&self, error: &RpcError) -> (CallError, Vec<AuthMethod>) {
        match self.heard {
            Some(kind) => errors::read_as(error, kind(error.code), auth_methods),
            None => errors::read(error, auth_methods),
        }
    }

    pub fn refuse(&self, refusal: &Refusal) -> RpcError {
        let error = errors::refuse(refusal);
        match self.said.and_then(|numbers| numbers.of(refusal)) {
            Some(code) => RpcError { code, ..error },
            None => error,
        }
    }
}

impl Numbers {
    fn of(&self, refusal: &Refusal) -> Option<i64> {
        Some(match (refusal.why, &refusal.about) {
            (Reason::NotFound, Subject::Session(_)) => self.no_session,
            (Reason::NotFound, _) => self.not_found,
            (Reason::DeniedByPolicy | Reason::Outside, _) => self.outside,
            (Reason::DeniedByUser, _) => self.refused,
            (Reason::UnknownMethod, Subject::Method(method)) if is_service(method) => self.not_offered,
            (Reason::Cancelled, _) => self.cancelled,
            (Reason::TooMany, _) => self.too_many,
            _ => return None,
        })
    }
}

fn is_service(method: &str) -> bool {
    method.starts_with("fs/") || method.starts_with("terminal/")
}
