//! Questions that are asked beside the conversation: sent, thrown away, kept.
//!
//! Draws nothing. Invariant: where the agent offers a mode that only reads, the question is sent when it has answered
//! whether it is in force, and not before.

use super::Running;
use crate::model::account;
use crate::model::event::{Can, Intent, Opening};
use crate::model::ids::SessionKey;
use crate::model::session::Phase;
use crate::ui::keys::Layer;
use crate::ui::labels;
use crate::ui::screen::Device;
use crate::ui::state::aside::{Aside, Unsent};
use crate::ui::state::modes;

/// Asks on a copy of the conversation where the agent makes one, else in a new session with an account of it.
pub(super) fn ask<D: Device>(running: &mut Running<D>, question: String) {
    throw_away(running);
    let Running { engine, app, options, .. } = &mut *running;
    let Some(shown) = engine.model().at(app.shown()) else { return };
    match shown.phase() {
        Phase::Ready => {}
        Phase::Dead(_) | Phase::ReadOnly(_) => {
            app.view.composer.prepend(&format!("/btw {question}"));
            return app.say("a side question needs a session that is open", engine.now());
        }
        _ => {
            app.asides.waiting = Some((shown.key(), question));
            return app.say("asked beside it once the session is open", engine.now());
        }
    }
    let (beside, agent, cwd) = (shown.key(), shown.agent_key(), shown.cwd.clone());
    let from = shown.id.clone().filter(|_| shown.agent().can(Can::Fork));
    let text = match from {
        Some(_) => account::aside(None, &question),
        None => {
            let whom = labels::whom(shown.agent(), &options.agents);
            let account = account::of_session(shown.session(), engine.history(), &whom);
            account::aside(Some(&account), &question)
        }
    };
    let before = engine.model().sessions().count();
    let how = Opening::Aside { beside, from };
    let news = engine.intent_to(agent.into(), Intent::OpenSession { cwd, how });
    running.news(news);
    let Some((key, _)) = running.engine.model().sessions().nth(before) else { return };
    let unsent = Some(Unsent { text, has_chosen: false });
    running.app.asides.open = Some(Aside { key, beside, question, scroll: 0, unsent, mode_before: None });
    send(running);
}

/// Asks what was to be asked beside the session that is shown, once that is open or will not be any more.
pub(super) fn ask_what_waits<D: Device>(running: &mut Running<D>) {
    let Some(shown) = running.engine.model().at(running.app.shown()) else { return };
    let is_decided = matches!(shown.phase(), Phase::Ready | Phase::Dead(_) | Phase::ReadOnly(_));
    let is_its = |(key, _): &mut (SessionKey, String)| is_decided && *key == shown.key();
    if let Some((_, question)) = running.app.asides.waiting.take_if(is_its) {
        ask(running, question);
    }
}

/// Sends the question once its session is open and in the mode that only reads, where its agent has one and sets it.
pub(super) fn send<D: Device>(running: &mut Running<D>) {
    let Some(aside) = running.app.asides.open.as_mut() else { return };
    let Some(unsent) = &mut aside.unsent else { return };
    let Some(session) = running.engine.model().at(aside.key).filter(|session| session.phase() == Phase::Ready) else {
        return;
    };
    let key = aside.key;
    let intent = if !unsent.has_chosen
        && let Some(reading) = modes::reading(session)
    {
        unsent.has_chosen = true;
        aside.mode_before = Some(reading.back);
        reading.set
    } else if unsent.has_chosen && modes::is_being_set(session) {
        return;
    } else {
        let Some(unsent) = aside.unsent.take() else { return };
        Intent::Prompt { text: unsent.text, links: Vec::new() }
    };
    let news = running.engine.intent_in(key, intent);
    running.news(news);
}

/// Nothing of it stays but what its agent has changed, with the agent neither where that can forget.
pub(super) fn throw_away<D: Device>(running: &mut Running<D>) {
    let Some(aside) = running.app.asides.open.take() else { return };
    let Some(session) = running.engine.model().at(aside.key) else { return };
    let (id, agent, can_delete) = (session.id.clone(), session.agent_key(), session.agent().can(Can::Delete));
    let news = running.engine.intent_in(aside.key, Intent::CloseSession);
    running.news(news);
    if let Some(id) = id.filter(|_| can_delete) {
        running.app.asides.thrown_away = Some(id.clone());
        let news = running.engine.intent_to(agent.into(), Intent::DeleteSession { id });
        running.news(news);
    }
}

/// From now on it is a session like any other, in the mode that it was opened in.
pub(super) fn keep<D: Device>(running: &mut Running<D>) {
    let Some(aside) = running.app.asides.open.take() else { return };
    let unsent = aside.unsent.map(|unsent| Intent::Prompt { text: unsent.text, links: Vec::new() });
    for intent in [Some(Intent::KeepAside), aside.mode_before, unsent].into_iter().flatten() {
        let news = running.engine.intent_in(aside.key, intent);
        running.news(news);
    }
    let now = running.engine.now();
    running.app.sync(running.engine.model(), now);
    let words = running.app.keys.say(Layer::Composer, "kept as a session of its own · {Ctrl+PageDown} goes there");
    running.app.say(words, now);
}
