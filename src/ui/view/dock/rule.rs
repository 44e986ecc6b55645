//! The rule that is made of a question, above the question itself.
//!
//! Judges nothing. Invariant: what is shown of the rule's effect is about the text that stands there.

use super::{Contents, keys, plain};
use crate::base::{human, sanitize};
use crate::model::ids::ReqId;
use crate::model::ruling::{Ruled, Weighed, Weighing};
use crate::text::line::{LogicalLine, WrapMode};
use crate::text::run::{Mods, RunStyle, StyledText};
use crate::text::token::Token;
use crate::ui::keys::Layer;
use crate::ui::state::rule::RuleDraft;
use crate::ui::view::ViewCx;

pub(super) fn contents(cx: &ViewCx<'_>, draft: &RuleDraft, question: Contents) -> Contents {
    let weighing = cx.session.rules.weighing().filter(|weighing| weighing.req == draft.req);
    let proposes = weighing.filter(|weighing| draft.is_untouched() && weighing.list == draft.list);
    if let Some(Weighing { why_none: Some(why), .. }) = proposes {
        return without(cx, draft, why, question);
    }
    let mut body = vec![rule(draft)];
    let is_left = |req: ReqId| cx.session.question(req).is_some_and(|question| question.hook.is_some());
    body.push(effect(draft, draft.weighed(weighing), is_left));
    body.extend(question.body);
    let mut choices = keys(
        cx,
        Layer::Rule,
        &[
            ("Enter", "make it"),
            ("Up", "narrower"),
            ("Down", "wider"),
            ("Tab", "where and how long"),
            ("Shift+Tab", "allow, ask, deny"),
        ],
    );
    // Both arrows go by one name.
    if let [_, up, down, ..] = choices.as_mut_slice()
        && (&*up.key, &*down.key) == ("Up", "Down")
    {
        (up.key, up.name) = ("↑↓".to_owned(), "narrower, wider".to_owned());
        choices.remove(2);
    }
    Contents::of(body, choices)
}

/// Where nothing is proposed: why, and the one key that may change that.
fn without(cx: &ViewCx<'_>, draft: &RuleDraft, why: &str, question: Contents) -> Contents {
    let does = match draft.list {
        Ruled::Allow => "allow",
        Ruled::Deny => "deny",
        Ruled::Open | Ruled::Ask => "ask about",
    };
    let mut body = vec![super::strong(&format!("no rule to {does} this: {why}"), Token::Warn)];
    body.extend(question.body);
    Contents::of(body, keys(cx, Layer::Rule, &[("Shift+Tab", "allow, ask, deny")]))
}

/// What is written, with the cursor.
fn rule(draft: &RuleDraft) -> LogicalLine {
    let (text, at) = (draft.line.text(), draft.line.buffer().cursor());
    let (before, after) = text.split_at_checked(at).unwrap_or((text, ""));
    let mut prefix = StyledText::of("new rule  ", Token::Dim);
    prefix.push(draft.list.name(), RunStyle::from(Token::Text).with_mods(Mods::BOLD));
    prefix.push("  ", Token::Text);
    let mut written = StyledText::of(sanitize::line(before).into_owned(), Token::Text);
    written.push("▏", Token::Accent);
    written.push(&sanitize::line(after), Token::Text);
    LogicalLine {
        prefix,
        hang: StyledText::of("  ", Token::Text),
        text: written,
        wrap: WrapMode::Anywhere,
        ..LogicalLine::default()
    }
}

/// `is_left`: the decision hook leaves a question to the person, whatever is allowed.
fn effect(draft: &RuleDraft, weighed: Option<&Weighed>, is_left: impl Fn(ReqId) -> bool) -> LogicalLine {
    let mut parts = vec![draft.scope.words().to_owned()];
    let mut token = Token::Dim;
    match weighed {
        None => {}
        Some(Weighed { fault: Some(fault), .. }) => {
            token = Token::Warn;
            parts = vec![format!("no pattern: {fault}")];
        }
        Some(weighed) => {
            parts.push(resolved(draft, weighed, is_left));
            parts.extend(count("of this session", weighed.here));
            parts.extend(count("of earlier sessions", weighed.before));
        }
    }
    LogicalLine { wrap: WrapMode::Words, ..plain(&parts.join(" · "), token) }
}

/// What it does about the questions that wait: a rule that asks answers none.
fn resolved(draft: &RuleDraft, weighed: &Weighed, is_left: impl Fn(ReqId) -> bool) -> String {
    let (does, does_not) = match draft.list {
        Ruled::Allow | Ruled::Deny => ("answers", "does not answer"),
        Ruled::Open | Ruled::Ask => ("asks about", "does not ask about"),
    };
    let is_left = |req: ReqId| draft.list == Ruled::Allow && is_left(req);
    let others = weighed.resolves.iter().filter(|of| **of != draft.req && !is_left(**of)).count() as u64;
    let others = (others > 0).then(|| human::count(others, "other question"));
    if is_left(draft.req) && weighed.resolves.contains(&draft.req) {
        let others = others.map(|others| format!(", but {others}")).unwrap_or_default();
        return format!("{does_not} this, which the decision hook asks about{others}; is for later ones");
    }
    match (weighed.resolves.contains(&draft.req), others) {
        (true, None) => format!("{does} this"),
        (true, Some(others)) => format!("{does} this and {others}"),
        (false, None) => format!("{does_not} this"),
        (false, Some(others)) => format!("{does_not} this, but {others}"),
    }
}

fn count(of: &str, (fits, all): (usize, usize)) -> Option<String> {
    (all > 0).then(|| format!("fits {fits} of {} {of}", human::count(all as u64, "request")))
}
