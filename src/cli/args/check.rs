//! What stands behind `check` and `inspect`.

use super::super::flags::Typed;
use super::super::usage::Usage;
use super::{Common, common};
use crate::model::session::Allow;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, PartialEq, Eq)]
pub struct Check {
    pub common: Common,
    pub form: Form,
    /// At most two: of the turn that ends, and of the one that is cancelled.
    pub prompts: Vec<String>,
    pub allow: Allow,
    pub timeout: Option<Duration>,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Inspect {
    /// A recording or a journal.
    pub file: PathBuf,
    pub filter: Option<String>,
    pub json: bool,
    /// As lines also where there is a screen.
    pub plain: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    #[default]
    Text,
    Json,
    Junit,
}

pub fn check(mut typed: Typed, agent: Vec<OsString>) -> Result<Check, Usage> {
    let form = match (typed.json, typed.junit) {
        (true, true) => return Err(Usage("give either --json or --junit, not both".into())),
        (true, false) => Form::Json,
        (false, true) => Form::Junit,
        (false, false) => Form::Text,
    };
    let prompts = std::mem::take(&mut typed.prompts);
    if prompts.len() > 2 {
        return Err(Usage(
            "there are two prompts: that of the turn which ends, and of the one which is cancelled".into(),
        ));
    }
    let (allow, timeout) = (typed.allow.unwrap_or(Allow::Reads), typed.timeout);
    let common = common(typed, agent)?;
    if !common.names_agent() {
        return Err(Usage("which agent? --agent NAME, or its command after `--`".into()));
    }
    Ok(Check { common, form, prompts, allow, timeout })
}

pub fn inspect(file: Option<String>, typed: Typed) -> Result<Inspect, Usage> {
    let missing = || Usage("no file; one that `--record FILE` has written, or a journal".into());
    Ok(Inspect { file: file.ok_or_else(missing)?.into(), filter: typed.filter, json: typed.json, plain: typed.plain })
}
