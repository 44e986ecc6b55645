//! What tests of the second version of the protocol say as its agent.

use super::{Rig, with};
use acp_tui::model::effect::Ended;
use acp_tui::model::event::Stop;
use serde_json::{Value, json};

pub fn state(rig: &mut Rig, state: &str, more: Value) {
    rig.update(with(json!({ "sessionUpdate": "state_update", "state": state }), more));
}

/// A session whose turn runs.
pub fn running() -> Rig {
    let mut rig = Rig::second();
    rig.prompt("hi");
    rig.answer("session/prompt", json!({ "messageId": "u1" }));
    state(&mut rig, "running", json!({}));
    rig.sent();
    rig
}

pub fn tool(rig: &mut Rig, more: Value) {
    rig.update(with(json!({ "sessionUpdate": "tool_call_update", "toolCallId": "t" }), more));
}

/// How its turns have ended.
pub fn stops(rig: &Rig) -> Vec<Option<Stop>> {
    let stop = |ended: Ended| if let Ended::Stopped(result) = ended { Some(result.stop) } else { None };
    rig.ended().into_iter().map(stop).collect()
}
