//! Shift+Tab: the mode that is come to.
//!
//! Asks for nothing itself: that is done when the key rests, or with what is done next.

use super::Cx;
use crate::base::sanitize;
use crate::model::event::Intent;
use crate::model::options::OptionValue;
use crate::ui::keys::Layer;
use crate::ui::state::modes::next_mode;
use crate::ui::state::{App, ChosenMode, Holds};

pub(super) fn next(state: &mut App, cx: Cx<'_>) {
    let chosen = state.view.chosen_mode.as_ref().map(|chosen| &*chosen.id);
    let Some(step) = next_mode(cx.session, chosen) else {
        if cx.session.id.is_none() {
            return state.say_while(Holds::NoSession, "no session yet, so no modes", cx.now);
        }
        return state.say("this agent has no modes", cx.now);
    };
    if let Some(passed) = step.passed {
        let sets = state.keys.hint(Layer::Composer, ": {F2} sets it").unwrap_or_default();
        state.say(format!("{passed} asks nothing, so it is left out{sets}"), cx.now);
    }
    let Some((intent, name)) = step.next else {
        if let Some((_, why)) = cx.session.refused_modes.last() {
            state.say(format!("no other mode can be set: {}", sanitize::line(why)), cx.now);
        }
        return;
    };
    if let Intent::SetMode { id } | Intent::SetOption { value: OptionValue::Id(id), .. } = &intent {
        let (id, name, at) = (id.clone(), name.trim().to_owned(), cx.now);
        state.view.chosen_mode = Some(ChosenMode { intent, id, name, at });
    }
}
