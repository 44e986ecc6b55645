//! Keys of the inspector: typing filters, Enter opens a message, letters copy and save what is open.
//!
//! Answers nothing and sends nothing to an agent.

use super::{Cx, common, reading};
use crate::ui::keys::Action;
use crate::ui::msg::{Out, What};
use crate::ui::state::App;
use crate::ui::state::Focus;
use crate::ui::state::inspector::{Inspector, Keyed};

pub(super) fn toggle(state: &mut App, cx: Cx<'_>) {
    state.inspector = match state.inspector {
        Some(_) => None,
        None => Some(Inspector::default()),
    };
    if state.inspector.is_some() {
        state.view.focus = Focus::Composer;
        reading::leave(state, cx);
    }
}

pub(super) fn action(state: &mut App, cx: Cx<'_>, action: Action, out: &mut Vec<Out>) {
    let page = isize::try_from(cx.frame.inspected.max(2) - 1).unwrap_or(1);
    let Some(inspector) = &mut state.inspector else { return };
    let what = |text: &str| What::Characters(text.chars().count());
    match inspector.act(action, page) {
        Keyed::Done => {}
        Keyed::Close => state.inspector = None,
        Keyed::Copy(text) => out.push(Out::Copy(what(&text), text)),
        Keyed::Save(text) => out.push(Out::Save(what(&text), text)),
        Keyed::Other => common(state, cx, action, out),
    }
}

#[cfg(test)]
#[path = "inspector_tests.rs"]
mod tests;
