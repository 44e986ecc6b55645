//! Version 1 towards an agent whose dialect is not known yet.
//!
//! Speaks as the protocol is documented. Decides what the agent is started once more for. Invariant: a shape of the
//! documented protocol decides nothing.

use super::{Rendition, Table, of, recognised};
use crate::agent::codec::v1::V1;
use crate::agent::codec::{Codec as _, Handshake, Said, SharedCodec};
use crate::model::effect::Call;
use crate::model::event::{CallError, Dialect};
use serde_json::json;
use std::path::Path;
use std::sync::Arc;

/// Parameters that cannot be used.
const INVALID_PARAMS: i32 = -32602;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Auto;

impl Rendition for Auto {
    const NAME: &'static str = super::NAME;
    const DIALECT: Dialect = Dialect::Canonical;
    const ERRORS: Table = Table::CANONICAL;

    fn handshake(&self, result: &str) -> Handshake {
        recognised(result).unwrap_or_else(|| V1.handshake(result))
    }

    /// One that cannot use our first call may want the members of another rendition, or fewer of them (S-011, S-044).
    fn other_version(&self, error: &CallError) -> Option<SharedCodec> {
        if error.code != INVALID_PARAMS {
            return V1.other_version(error);
        }
        let data = error.data.as_ref().map(ToString::to_string).unwrap_or_default();
        let mut words = error.message.split(is_no_letter).chain(data.split(is_no_letter));
        Some(if words.any(|word| word == "capabilities") { of(Dialect::D0) } else { Arc::new(Brief) })
    }

    fn locked(&self, dialect: Dialect) -> Option<SharedCodec> {
        (dialect != Dialect::Canonical).then(|| of(dialect))
    }
}

fn is_no_letter(c: char) -> bool {
    !c.is_alphanumeric() && c != '_'
}

/// The same with a short first call, for an agent that has refused the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Brief;

impl Rendition for Brief {
    const NAME: &'static str = "acp-1-brief";
    const DIALECT: Dialect = Dialect::Canonical;
    const ERRORS: Table = Table::CANONICAL;

    fn call(&self, call: &Call, cwd: &Path) -> Result<Said, serde_json::Error> {
        let (method, mut params) = V1.call(call, cwd)?;
        if *call == Call::Initialize {
            let all = &params["clientCapabilities"];
            let few = json!({ "fs": all["fs"], "terminal": all["terminal"] });
            params = json!({ "protocolVersion": params["protocolVersion"], "clientCapabilities": few });
        }
        Ok((method, params))
    }

    fn handshake(&self, result: &str) -> Handshake {
        Rendition::handshake(&Auto, result)
    }

    fn locked(&self, dialect: Dialect) -> Option<SharedCodec> {
        Rendition::locked(&Auto, dialect)
    }
}
