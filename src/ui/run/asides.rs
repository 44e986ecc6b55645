//! Questions that are asked beside the conversation: sent, thrown away, kept.
//!
//! Draws nothing. Invariant: where the agent offers a mode that only reads, the question is sent when it has answered
//! whether it is in force, and not before, also where it is kept meanwhile.

use super::Running;
use crate::engine::Engine;
use crate::model::account;
use crate::model::effect::FrontEnd;
use crate::model::event::{Can, Intent, Opening};
use crate::model::ids::{Addressed, SessionKey};
use crate::model::session::{Phase, Session};
use crate::model::session_ref::SessionRef;
use crate::ui::keys::Layer;
use crate::ui::labels;
use crate::ui::screen::Device;
use crate::ui::state::App;
use crate::ui::state::aside::{Aside, Asides, ThrownAway, Unsent};
use crate::ui::state::is_closed;
use crate::ui::state::modes;
use crate::ui::state::session_view::ModeBack;
use std::time::{Duration, Instant};

/// How long agents may take at the end to forget what is thrown away.
const LAST_CALLS: Duration = Duration::from_secs(1);

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
    // Where nothing was said there is nothing to know of it, and agents make no copy.
    let from = shown.id.clone().filter(|_| shown.agent().can(Can::Fork) && (shown.has_talked() || shown.is_untold));
    let account = shown.has_talked().then(|| {
        let whom = labels::whom(shown.agent(), &options.agents);
        account::of_session(shown.session(), engine.history(), &whom)
    });
    let before = engine.model().sessions().count();
    let how = Opening::Aside { beside, from };
    let news = engine.intent_to(agent.into(), Intent::OpenSession { cwd, how });
    running.news(news);
    let Some((key, _)) = running.engine.model().sessions().nth(before) else { return };
    let unsent = Some(Unsent { account, has_chosen: false });
    let aside = Aside { key, beside, question, scroll: 0, unsent, turn: None, mode_before: None };
    running.app.asides.open = Some(aside);
    go_on(running);
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

/// Does what is due in sessions in which a question was asked.
pub(super) fn go_on<D: Device>(running: &mut Running<D>) {
    let Running { engine, app, .. } = &mut *running;
    let mut due = modes_back(engine, app);
    for aside in app.asides.all_mut() {
        let Some(session) = engine.model().at(aside.key) else { continue };
        if let Some(intent) = next(aside, session).or_else(|| back(aside, session)) {
            due.push((aside.key, intent));
        }
    }
    app.asides.kept.retain(|aside| {
        let is_there = engine.model().session_of(aside.key).is_some_and(|session| !is_closed(session));
        is_there && (aside.unsent.is_some() || aside.mode_before.is_some())
    });
    let gone = forget(engine, &mut app.asides);
    running.news(gone);
    for (key, intent) in due {
        let asks = matches!(intent, Intent::Prompt { .. });
        let news = running.engine.intent_in(key, intent);
        let turn = running.engine.model().session_of(key).map(Session::last_turn);
        if let Some(aside) = running.app.asides.all_mut().find(|aside| asks && aside.key == key) {
            aside.turn = turn;
        }
        running.news(news);
    }
}

/// The question is sent once its session is open and in the mode that only reads, where its agent has one and sets it.
fn next(aside: &mut Aside, session: SessionRef<'_>) -> Option<Intent> {
    let unsent = aside.unsent.as_mut()?;
    if session.phase() != Phase::Ready {
        // An agent that is started again opens it in its own mode.
        (unsent.has_chosen, aside.mode_before) = (false, None);
        return None;
    }
    if session.turn.is_some() {
        return None;
    }
    if !unsent.has_chosen
        && let Some(reading) = modes::reading(session)
    {
        unsent.has_chosen = true;
        aside.mode_before = Some(reading.back);
        return Some(reading.set);
    }
    if unsent.has_chosen && modes::is_being_set(session) {
        return None;
    }
    let account = aside.unsent.take()?.account;
    let is_copy = session.beside.is_some_and(|beside| beside.is_copy);
    let text = account::aside(account.as_deref().filter(|_| !is_copy), &aside.question);
    Some(Intent::Prompt { text, links: Vec::new() })
}

/// The same where its agent has the session in the mode that only reads once more, until something else is asked there.
fn modes_back(engine: &Engine, app: &mut App) -> Vec<(SessionKey, Intent)> {
    let mut due = Vec::new();
    let kept: Vec<_> = app.asides.kept.iter().map(|one| (one.key, id_of(one, engine))).collect();
    let keys: Vec<SessionKey> = app.views().into_iter().map(|(key, _)| key).collect();
    for key in keys {
        let (Some(session), Some(view)) = (engine.model().at(key), app.view_of(key)) else { continue };
        if let Some((_, id)) = kept.iter().find(|(of, _)| *of == key) {
            // That is about to be done.
            let back = id.clone().map(|id| ModeBack { id, is_asked: true });
            view.mode_back = back.or(view.mode_back.take());
            continue;
        }
        let Some(back) = &mut view.mode_back else { continue };
        if session.phase() != Phase::Ready {
            back.is_asked = false;
        } else if session.turn.is_none() && !back.is_asked && !modes::is_being_set(session) {
            back.is_asked = true;
            due.extend(modes::back_to(session, &back.id).map(|intent| (key, intent)));
        }
    }
    due
}

fn id_of(aside: &Aside, engine: &Engine) -> Option<String> {
    let session = engine.model().at(aside.key)?;
    modes::set_by(session, aside.mode_before.as_ref()?).map(str::to_owned)
}

/// The person has chosen a mode of the session that is shown, or asks something else in it: none comes back.
pub(super) fn chosen(engine: &Engine, app: &mut App, intent: &Intent) {
    let session = engine.model().at(app.shown());
    let asks = matches!(intent, Intent::Prompt { .. } | Intent::Steer { .. });
    if asks || session.is_some_and(|session| modes::set_by(session, intent).is_some()) {
        app.view.mode_back = None;
    }
}

/// One that is kept gets its own mode back once the question is answered, unless another was chosen meanwhile.
fn back(aside: &mut Aside, session: SessionRef<'_>) -> Option<Intent> {
    let is_answered = session.turn.as_ref().is_none_or(|turn| Some(turn.id) != aside.turn);
    let is_due = session.beside.is_some_and(|beside| beside.is_kept) && aside.unsent.is_none() && is_answered;
    if !is_due || session.phase() != Phase::Ready || modes::is_being_set(session) {
        return None;
    }
    aside.mode_before.take().filter(|_| modes::reading(session).is_none())
}

/// Nothing of it stays but what its agent has changed, with the agent neither where that can forget.
pub(super) fn throw_away<D: Device>(running: &mut Running<D>) {
    let news = let_go(&mut running.engine, &mut running.app.asides);
    running.news(news);
}

/// The same when the person leaves, before its agent ends. Waits a moment for agents that are to forget something.
pub(super) async fn leave(engine: &mut Engine, asides: &mut Asides) {
    let mut news = let_go(engine, asides);
    let end = Instant::now() + LAST_CALLS;
    loop {
        for one in news {
            if let FrontEnd::Deleted(id, _) = one.what {
                asides.is_gone(&id);
            }
        }
        asides.thrown_away.retain(|one| engine.model().at(one.key).is_some_and(|session| session.agent().is_up()));
        if asides.thrown_away.is_empty() {
            return;
        }
        let Some(wake) = engine.next_by(end).await else { return };
        news = engine.step(wake);
        news.extend(forget(engine, asides));
    }
}

fn let_go(engine: &mut Engine, asides: &mut Asides) -> Vec<Addressed<FrontEnd>> {
    let Some(Aside { key, .. }) = asides.open.take() else { return Vec::new() };
    let Some(session) = engine.model().at(key) else { return Vec::new() };
    let is_asked_for = session.id.is_some() || matches!(session.phase(), Phase::Opening { .. });
    if is_asked_for && session.agent().is_up() && session.agent().can(Can::Delete) {
        asides.thrown_away.push(ThrownAway { key, asked: None });
    }
    let mut news = engine.intent_in(key, Intent::CloseSession);
    news.extend(forget(engine, asides));
    news
}

/// Has agents forget what was thrown away and has a name.
fn forget(engine: &mut Engine, asides: &mut Asides) -> Vec<Addressed<FrontEnd>> {
    let mut news = Vec::new();
    for one in asides.thrown_away.iter_mut().filter(|one| one.asked.is_none()) {
        let Some(session) = engine.model().at(one.key) else { continue };
        let (agent, id) = (session.agent_key(), session.id.clone());
        if let Some(id) = id {
            one.asked = Some(id.clone());
            news.extend(engine.intent_to(agent.into(), Intent::DeleteSession { id }));
        }
    }
    news
}

/// From now on it is a session like any other, once the question is answered in its own mode too.
pub(super) fn keep<D: Device>(running: &mut Running<D>) {
    let Some(aside) = running.app.asides.open.take() else { return };
    let news = running.engine.intent_in(aside.key, Intent::KeepAside);
    let now = running.engine.now();
    running.app.asides.kept.push(aside);
    running.news(news);
    running.app.sync(running.engine.model(), now);
    go_on(running);
    let words = running.app.keys.say(Layer::Composer, "kept as a session of its own · {Ctrl+PageDown} goes there");
    running.app.say(words, now);
}
