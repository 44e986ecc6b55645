//! Hands decisions to the audit log, with their time, agent, session and directory.
//!
//! A thread of its own writes them. Invariants: what looks like a secret, and what the person typed as one, is not
//! written; no text of a decision is longer than [`MAX_TEXT`].

use super::core::Core;
use super::fact::Facts;
use super::journaling::telling;
use super::secrets::Secrets;
use crate::base::date::rfc3339;
use crate::base::redact;
use crate::model::audit::Decision;
use crate::model::ids::Address;
use crate::store::audit::Chain;
use crate::store::writer::Writer;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Bytes of one text of a decision; twice as many are looked through for secrets.
const MAX_TEXT: usize = 4 << 10;
/// Texts of one list, such as the paths of a call.
const MAX_TEXTS: usize = 64;

#[derive(Debug, Default)]
pub(super) struct Audit {
    writer: Option<Writer>,
}

impl Audit {
    /// Below the state directory, in a file of this name, which is made with the first decision.
    pub fn new(state: Option<PathBuf>, name: &str, facts: &Facts) -> Self {
        let begin = |state| Writer::telling("audit", Chain::new(state, name.to_owned()), telling("audit log", facts));
        Self { writer: state.and_then(|state| begin(state).ok()) }
    }

    pub fn is_on(&self) -> bool {
        self.writer.is_some()
    }

    pub fn record(&mut self, at: Address, decision: &Decision, agent: Option<&str>, core: &Core, secrets: &Secrets) {
        let Some(writer) = &mut self.writer else { return };
        let session = match at {
            Address::Session(key) => core.model().session_of(key),
            Address::All | Address::Agent(_) => None,
        };
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let command = core.agent_at(at).and_then(|agent| core.model().agent_of(agent)).map(|agent| &agent.command);
        let mut record = json!({
            "time": rfc3339(since),
            "session": session.and_then(|session| session.id.as_ref()).map(ToString::to_string),
            "agent": agent.or(command.map(String::as_str)),
            "cwd": core.directory(at).to_string_lossy(),
        });
        if let (Some(record), Ok(Value::Object(decision))) = (record.as_object_mut(), serde_json::to_value(decision)) {
            record.extend(decision);
        }
        clean(&mut record, secrets);
        writer.line(|out| out.push_str(&record.to_string()));
    }

    /// Hands on what is pending; gives why the log ends, once.
    pub fn flush(&mut self) -> Option<String> {
        self.writer.as_mut()?.hand_over()
    }

    /// Waits so long for the last lines to be written. Gives why some are missing, if they are.
    pub async fn close(&mut self, patience: Duration) -> Option<String> {
        let writer = self.writer.take()?;
        tokio::task::spawn_blocking(move || writer.close(patience)).await.unwrap_or_default()
    }
}

fn clean(value: &mut Value, secrets: &Secrets) {
    match value {
        Value::String(text) => {
            text.truncate(text.floor_char_boundary(2 * MAX_TEXT));
            if let Some(hidden) = secrets.hidden(text) {
                *text = hidden;
            }
            if let Some(masked) = redact::masked(text) {
                *text = masked;
            }
            text.truncate(text.floor_char_boundary(MAX_TEXT));
        }
        Value::Array(all) => {
            all.truncate(MAX_TEXTS);
            let mut is_announced = false;
            for value in all {
                let is_secret = is_announced && value.is_string();
                is_announced = value.as_str().is_some_and(redact::announces);
                if is_secret {
                    *value = redact::MASK.into();
                } else {
                    clean(value, secrets);
                }
            }
        }
        Value::Object(all) => {
            for value in all.values_mut() {
                clean(value, secrets);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
