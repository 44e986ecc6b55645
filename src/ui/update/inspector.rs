//! Keys of the inspector: typing filters, Enter opens a message, letters copy and save what is open.
//!
//! Answers nothing and sends nothing to an agent.

use super::{Cx, common};
use crate::ui::keys::Action;
use crate::ui::msg::{Out, What};
use crate::ui::state::App;
use crate::ui::state::Focus;
use crate::ui::state::inspector::Inspector;

pub(super) fn toggle(state: &mut App) {
    state.inspector = match state.inspector {
        Some(_) => None,
        None => Some(Inspector::default()),
    };
    if state.inspector.is_some() {
        state.view.focus = Focus::Composer;
        state.view.reading = None;
    }
}

pub(super) fn action(state: &mut App, cx: Cx<'_>, action: Action, out: &mut Vec<Out>) {
    let page = isize::try_from(cx.frame.inspected.max(2) - 1).unwrap_or(1);
    let Some(inspector) = &mut state.inspector else { return };
    match action {
        Action::Escape if inspector.opened.is_some() => inspector.opened = None,
        Action::Escape if !inspector.filter().is_empty() => inspector.clear(),
        Action::Escape | Action::CtrlC | Action::Inspect => state.inspector = None,
        Action::Accept | Action::Submit => match inspector.opened {
            Some(_) => inspector.opened = None,
            None => inspector.open(),
        },
        Action::Up => inspector.step(-1),
        Action::Down => inspector.step(1),
        Action::PageUp => inspector.step(-page),
        Action::PageDown => inspector.step(page),
        Action::WheelUp => inspector.step(-3),
        Action::WheelDown => inspector.step(3),
        Action::Home => inspector.step(isize::MIN),
        Action::End => inspector.step(isize::MAX),
        Action::Char(c) => match &inspector.opened {
            Some(opened) => {
                let text = opened.text();
                let what = What::Characters(text.chars().count());
                match c {
                    'y' => out.push(Out::Copy(what, text)),
                    's' => out.push(Out::Save(what, text)),
                    _ => {}
                }
            }
            // What begins with it is looked for like the rest.
            None if c == '/' && inspector.filter().is_empty() => {}
            None => inspector.type_text(c.encode_utf8(&mut [0; 4])),
        },
        Action::Backspace => inspector.backspace(),
        Action::KillLine | Action::DeleteWordBack => inspector.clear(),
        _ => common(state, cx, action, out),
    }
}

#[cfg(test)]
#[path = "inspector_tests.rs"]
mod tests;
