//! Keys while a value is typed to log in.
//!
//! Invariant: what is typed leaves in one piece, to the agent's environment, or not at all.

use super::{Cx, common};
use crate::ui::keys::Action;
use crate::ui::msg::Out;
use crate::ui::state::App;
use crate::ui::state::secrets::Entered;

pub(super) fn action(state: &mut App, cx: Cx<'_>, action: Action, out: &mut Vec<Out>) {
    let Some(form) = &mut state.secrets else { return };
    match action {
        Action::Escape | Action::CtrlC => state.secrets = None,
        Action::Accept | Action::Submit => {
            if let Entered::All(values) = form.enter() {
                let (method, keep) = (std::mem::take(&mut form.method), form.keep.unwrap_or_default());
                state.secrets = None;
                out.push(Out::LogInWith { method, values, keep });
            }
        }
        Action::Tab => form.toggle_keep(),
        Action::Backspace => form.backspace(),
        Action::KillLine | Action::DeleteWordBack => form.clear(),
        Action::Char(c) => form.type_text(c.encode_utf8(&mut [0; 4])),
        // It would be one more line that is typed.
        Action::NewSession | Action::OptionsList | Action::Sessions => {}
        _ => common(state, cx, action, out),
    }
}
