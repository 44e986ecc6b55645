//! What the person's own program for the status line is told, and what it has said.
//!
//! Runs nothing itself (`work::status_command`). Invariants: nothing that changes by itself is told, so that an idle screen
//! starts nothing; what is wrong with the program is said once.

use super::Running;
use crate::base::sanitize;
use crate::model::session_ref::SessionRef;
use crate::text::width;
use crate::ui::frame::Urgency;
use crate::ui::labels;
use crate::ui::screen::Device;
use crate::ui::status_line;
use crate::ui::work::status_command::Answer;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Columns of a text that an agent gave.
const TEXT: usize = 200;

/// Tells it what has changed since the last frame.
pub(super) fn feed<D: Device>(running: &mut Running<D>) {
    if !running.status_command.is_wanted() {
        return;
    }
    let now = running.engine.now();
    let Some(session) = running.engine.model().at(running.app.shown()) else { return };
    let told = facts(session, running.app.name_of(running.app.shown()));
    let again = running.status_command.tell(told, PathBuf::from(&session.cwd), now);
    if let Some(at) = again {
        running.frames.want_at(at);
    }
}

/// It has said something.
pub(super) fn fed<D: Device>(running: &mut Running<D>, answer: Answer) {
    let now = running.engine.now();
    let words = match answer {
        Ok(words) => Some(words),
        Err(fault) => {
            if !running.has_told_fault {
                running.has_told_fault = true;
                running.app.say(format!("the status command: {}", sanitize::line(&fault)), now);
                running.frames.want(Urgency::NextFrame, now);
            }
            None
        }
    };
    if running.app.status_words != words {
        running.app.status_words = words;
        running.frames.want(Urgency::NextFrame, now);
    }
    // What has changed while it ran.
    feed(running);
}

fn facts(session: SessionRef<'_>, name: Option<&str>) -> Value {
    let text = |text: &str| width::truncate(sanitize::line(text).trim(), TEXT).into_owned();
    let agent = session.agent();
    let usage = session.usage.as_ref();
    let context = usage.filter(|usage| usage.size > 0 || usage.used > 0).map(|usage| {
        let percent = (usage.size > 0).then(|| u64::try_from(status_line::percent(usage)).unwrap_or(u64::MAX));
        json!({ "used": usage.used, "size": (usage.size > 0).then_some(usage.size), "percent": percent })
    });
    let cost = usage.and_then(|usage| usage.cost.as_ref());
    let totals = session.changes().totals;
    json!({
        "session": {
            "id": session.known_id().map(ToString::to_string),
            "title": name.or(session.called()).map(text),
        },
        "agent": { "name": labels::agent(session), "version": agent.version.as_deref().map(text) },
        "model": status_line::model(session),
        "mode": status_line::mode(session).map(|(mode, _)| mode),
        "cwd": session.cwd,
        "context": context,
        "cost": cost.map(|(amount, unit)| json!({ "amount": amount, "unit": text(unit) })),
        "changes": {
            "added": totals.added,
            "removed": totals.removed,
            "files": totals.files,
            "to_review": totals.pending,
        },
        "state": status_line::state(session),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::fixtures::Scene;

    #[test]
    fn it_is_told_of_the_session_and_nothing_that_changes_by_itself() {
        let mut scene = Scene::ready(80, 24);
        let told = facts(scene.model.first(), Some("my\u{1b}[2J name"));
        assert_eq!((&told["state"], &told["context"], &told["model"]), (&json!("ready"), &Value::Null, &Value::Null));
        assert!(told["session"]["title"].as_str().is_some_and(|title| !title.contains('\u{1b}')));
        assert_eq!(told["cwd"], json!(scene.model.first().cwd));
        scene.now += std::time::Duration::from_mins(1);
        assert_eq!(facts(scene.model.first(), Some("my\u{1b}[2J name")), told);
    }
}
