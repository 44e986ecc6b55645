//! Keys while a form of the agent has the focus, and the answers to forms and pages.
//!
//! Invariant: nothing is sent that does not keep to the form or was never on the screen, and nothing but by a key for it;
//! no page is opened or copied, and no visit told, whose host was not on the screen.

use super::{Cx, common, dock};
use crate::model::event::{Asking, Intent};
use crate::model::form::{Form, Reply};
use crate::model::ids::ReqId;
use crate::model::question::About;
use crate::text::address;
use crate::ui::keys::{Action, Layer};
use crate::ui::msg::{Out, What};
use crate::ui::state::dock::{Dialog, Neighbour};
use crate::ui::state::{App, Focus};
use std::sync::Arc;

/// The form that the dock shows.
fn form_of(state: &App, cx: Cx<'_>) -> Option<(ReqId, Arc<Form>)> {
    let Some(Dialog::Permission(req)) = &state.view.dock.dialog else { return None };
    match &cx.session.question(*req)?.about {
        About::Asked { asking: Asking::Form(form), .. } => Some((*req, Arc::clone(form))),
        _ => None,
    }
}

pub(super) fn action(state: &mut App, cx: Cx<'_>, action: Action, out: &mut Vec<Out>) {
    let Some((req, form)) = form_of(state, cx) else { return };
    match action {
        Action::Escape | Action::FocusDock => return dock::leave(state, cx),
        Action::DockPageUp | Action::DockPageDown if cx.frame.dock_scroll_max > 0 => {
            if let Some(filled) = state.view.dock.forms.get_mut(&req)
                && std::mem::take(&mut filled.is_followed)
            {
                state.view.dock.scroll = cx.frame.dock_top;
            }
            return dock::scroll(
                state,
                cx,
                if action == Action::DockPageUp { -dock::page(cx) } else { dock::page(cx) },
            );
        }
        Action::NextRequest | Action::PreviousRequest => {
            let to = if action == Action::NextRequest { Neighbour::Next } else { Neighbour::Previous };
            state.view.dock.go(cx.session, to);
            return state.sync(cx.model, cx.now);
        }
        Action::SubmitAsked | Action::DeclineAsked | Action::CancelAsked => {
            dock::heeded(state, cx, action, out);
            return;
        }
        _ => {}
    }
    let Some(filled) = state.view.dock.forms.get_mut(&req) else { return };
    filled.declines = false;
    match action {
        Action::Reveal if !filled.reveal(&form) => state.say_of_question("nothing is hidden in this field", cx.now),
        Action::Reveal => {}
        Action::Up => drop(filled.step(&form, false)),
        Action::Down => drop(filled.step(&form, true)),
        Action::Tab => drop(filled.next_field(&form, true)),
        Action::PreviousField => drop(filled.next_field(&form, false)),
        Action::Accept => {
            filled.choose(&form);
            if !filled.next_field(&form, true) {
                dock::heeded(state, cx, Action::SubmitAsked, out);
            }
        }
        Action::Char(' ') if !filled.is_writing() => filled.toggle(&form),
        Action::Char(c) if !filled.is_writing() => {
            if let Some(number) = c.to_digit(10).and_then(|digit| digit.checked_sub(1)) {
                filled.pick(&form, number as usize);
            }
        }
        action if action.is_edit() => filled.edit(action),
        _ => common(state, cx, action, out),
    }
}

/// Pasted text is text: it goes into the field with the cursor. False when there is none.
pub(super) fn paste(state: &mut App, text: &str) -> bool {
    let form = if state.view.focus == Focus::Dock { state.view.dock.form_mut() } else { None };
    let Some(form) = form.filter(|form| form.is_writing()) else { return false };
    form.paste(text);
    true
}

/// A key that answers a form or a page.
pub(super) fn answer(state: &mut App, cx: Cx<'_>, req: ReqId, action: Action, out: &mut Vec<Out>) {
    let Some(About::Asked { asking, .. }) = cx.session.question(req).map(|question| &question.about) else { return };
    // The key means something else while a prompt is written, and what is filled in would be lost.
    if action == Action::DeclineAsked
        && let Some(filled) = state.view.dock.forms.get_mut(&req)
        && !std::mem::replace(&mut filled.declines, true)
    {
        let key = state.keys.label(Layer::Form, action).unwrap_or_default();
        return state.say_of_question(format!("{key} again declines: nothing of the form is sent"), cx.now);
    }
    let leads = matches!(action, Action::SubmitAsked | Action::OpenPage | Action::CopyPage);
    if leads && matches!(asking, Asking::Page(_)) && !cx.frame.seen.is_fixed_whole {
        return state.say_of_question("make the window larger first: its host is not on the screen", cx.now);
    }
    if let (Action::SubmitAsked, Asking::Form(form)) = (action, asking)
        && let Some(filled) = state.view.dock.forms.get_mut(&req)
        && filled.go_to_undrawn(form)
    {
        let words = "not sent: this was not on the screen yet, and would be sent as it stands";
        return state.say_of_question(words, cx.now);
    }
    let reply = match (action, asking) {
        (Action::DeclineAsked, _) => Reply::Decline,
        (Action::CancelAsked, _) => Reply::Cancel,
        (Action::SubmitAsked, Asking::Form(form)) => {
            let filled = state.view.dock.forms.get_mut(&req).and_then(|filled| filled.take(form));
            let Some(values) = filled else {
                return state.say_of_question("not sent: see what does not fit", cx.now);
            };
            Reply::Filled(values.into())
        }
        (Action::SubmitAsked, Asking::Page(_)) => Reply::Visits,
        (Action::OpenPage, Asking::Page(page)) => match address::host(&page.address) {
            Some(host) => {
                state.say(format!("opening {host}"), cx.now);
                out.push(Out::OpenPage(page.address.clone()));
                Reply::Visits
            }
            None => {
                let words = "not opened: its host may be another one than it looks like · c copies it";
                return state.say(words, cx.now);
            }
        },
        (Action::CopyPage, Asking::Page(page)) => {
            return out.push(Out::Copy(What::Address, page.address.clone()));
        }
        _ => return,
    };
    if let Some(filled) = state.view.dock.forms.get_mut(&req) {
        filled.is_answered = true;
    }
    out.push(Out::Intent(Intent::AnswerAsked { req, reply }));
    dock::answered(state, cx);
}
