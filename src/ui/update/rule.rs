//! Keys while a rule is made of a question.
//!
//! Invariants: a rule is made only of a question that could be read to its end, and only of a text whose effect was on
//! the screen.

use super::{Cx, common, dock};
use crate::model::event::Intent;
use crate::model::ids::ReqId;
use crate::model::question::About;
use crate::model::ruling::{NewRules, RuleWish};
use crate::ui::composer::Edited;
use crate::ui::keys::{Action, Layer};
use crate::ui::msg::Out;
use crate::ui::state::App;
use crate::ui::state::dock::Unshown;
use crate::ui::state::rule::RuleDraft;

/// Begins with the narrowest rule that would answer the question.
pub(super) fn begin(state: &mut App, cx: Cx<'_>, req: ReqId, out: &mut Vec<Out>) {
    if !cx.session.rules.are_there() {
        return state.say("there are no rules here", cx.now);
    }
    if matches!(cx.session.question(req).map(|question| &question.about), Some(About::Asked { .. })) {
        return state.say_of_question("no rule answers this", cx.now);
    }
    let why = match state.view.dock.unshown() {
        Unshown::UntilOpened => "{v} shows all that was sent · read that first · a rule is about all of it",
        Unshown::TooLong => "it is too long to be shown as a whole · a rule is about all of it",
        Unshown::Nothing | Unshown::Opened => "{PageDown} to its end first · a rule is about all of it",
    };
    if !state.view.dock.is_read() {
        return state.say_unread(state.keys.say(Layer::Dock, why), cx.now);
    }
    let draft = RuleDraft::new(req);
    out.push(Out::Intent(Intent::Rules(RuleWish::Weigh { req, list: draft.list, text: None })));
    state.view.dock.scroll = 0;
    state.view.dock.rule = Some(draft);
}

pub(super) fn action(state: &mut App, cx: Cx<'_>, action: Action, out: &mut Vec<Out>) {
    let Some(draft) = &mut state.view.dock.rule else { return };
    let weighing = cx.session.rules.weighing();
    match action {
        Action::Escape | Action::CtrlC => state.view.dock.rule = None,
        Action::Accept => make(state, cx, out),
        Action::Up => draft.step(weighing, -1),
        Action::Down => draft.step(weighing, 1),
        Action::Tab => draft.scope = draft.scope.next(),
        Action::NextList => {
            draft.next_list();
            weigh(draft, out);
        }
        Action::Newline => {}
        Action::DockPageUp => dock::scroll(state, cx, -dock::page(cx)),
        Action::DockPageDown => dock::scroll(state, cx, dock::page(cx)),
        Action::Help | Action::Suspend | Action::Redraw => {
            common(state, cx, action, out);
        }
        _ => {
            let before = draft.line.text().to_owned();
            if draft.line.apply(action) == Edited::Yes && before != draft.line.text() {
                draft.is_changed();
                weigh(draft, out);
            }
        }
    }
}

pub(super) fn paste(draft: &mut RuleDraft, text: &str, out: &mut Vec<Out>) {
    draft.line.paste(&text.replace(['\n', '\r'], " "));
    draft.is_changed();
    weigh(draft, out);
}

/// What stands there; where nothing does and nobody has written, what could stand there.
fn weigh(draft: &RuleDraft, out: &mut Vec<Out>) {
    let text = (!draft.is_untouched()).then(|| draft.line.text().to_owned());
    out.push(Out::Intent(Intent::Rules(RuleWish::Weigh { req: draft.req, list: draft.list, text })));
}

fn make(state: &mut App, cx: Cx<'_>, out: &mut Vec<Out>) {
    let Some(draft) = &state.view.dock.rule else { return };
    match draft.weighed(cx.session.rules.weighing()) {
        None if draft.line.is_empty() => state.say_of_question("no rule: no pattern is written", cx.now),
        None => state.say_of_question("not looked at yet: press it once more", cx.now),
        Some(weighed) => match &weighed.fault {
            Some(fault) => state.say_of_question(format!("no rule: {fault}"), cx.now),
            None => {
                let text = weighed.text.clone();
                let rules = NewRules { list: draft.list, text, scope: draft.scope };
                out.push(Out::Intent(Intent::Rules(RuleWish::Make(rules))));
                state.view.dock.rule = None;
            }
        },
    }
}
