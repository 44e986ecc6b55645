//! The conversation that is shown goes on with another agent.
//!
//! Sends nothing: an account of it is put where the person writes. Invariant: both conversations say whom it was had with and
//! who has it now, by the names that they are known by here.

use super::Running;
use crate::model::account;
use crate::model::event::{Before, Intent, Opening};
use crate::ui::labels;
use crate::ui::screen::Device;
use crate::ui::state::opener::Whose;
use std::path::Path;

/// It goes on as a new session of this agent. What it does now is stopped; an account of it is put into the new one's
/// composer, for the person to send.
pub(super) fn hand_over<D: Device>(running: &mut Running<D>, whose: Whose) {
    let model = running.engine.model();
    let Some(shown) = model.at(running.app.shown()) else { return };
    let configured = &running.options.agents;
    let agent = labels::whom(shown.agent(), configured);
    let account = account::of_session(shown.session(), running.engine.history(), &agent);
    let to = match &whose {
        Whose::Running(key) => model.agent_of(*key).map(|agent| labels::whom(agent, configured)),
        Whose::Configured(name) => Some(name.clone()),
    };
    let before = Before { session: shown.key(), id: shown.known_id().cloned(), agent, to };
    let cwd = shown.cwd.clone();
    if !Path::new(&cwd).is_dir() {
        let words = "the directory is gone, and a new session would be in it too · make it again, then once more";
        return running.app.say(words, running.engine.now());
    }
    if shown.turn.is_some() {
        running.intent(Intent::Cancel);
    }
    if let Whose::Running(agent) = whose {
        running.wake(agent);
    }
    running.open_in(cwd, whose, Opening::After(before));
    running.app.view.composer.set_text(&format!("{account}\n\n"));
}
