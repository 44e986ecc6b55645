//! The permission mode of a session: chosen by the person, ended by them, by its time, or with what it was chosen for.
//!
//! Decides no request. Invariant: nothing but the person's choice sets another mode than the default one.

use super::super::audit::{By, Decision, Matter, Outcome};
use super::super::effect::Effect;
use super::super::entry::Level;
use super::super::event::Timer;
use super::super::permission_mode::{ModeChoice, ModeInForce, PermissionMode, time_words};
use super::super::session::Session;
use super::{Cx, audit, notice, ruling};

pub fn choose(session: &mut Session, choice: ModeChoice, by: By, cx: &mut Cx) {
    let ModeChoice { mode, .. } = choice;
    if let Some(after) = choice.lasts() {
        cx.push(Effect::StartTimer { timer: Timer::PermissionMode, after });
    }
    session.permission_mode = ModeInForce::new(choice, cx.now);
    let time = choice.lasts().map(|time| format!(", for {}", time_words(time))).unwrap_or_default();
    let level = if mode == PermissionMode::BypassPermissions { Level::Warn } else { Level::Info };
    let words = format!("permission mode {}{time}: {}", mode.name(), mode.words());
    notice(session, level, words, Vec::new(), cx.now);
    if session.id.is_some() {
        log(choice, by, cx);
    } else {
        session.permission_mode.unlogged = Some((choice, by));
    }
    // What is asked may be decided by it.
    ruling::changed(session, cx);
}

fn log(choice: ModeChoice, by: By, cx: &mut Cx) {
    audit::tell(cx, || {
        let scope = choice.lasts().map(|time| format!("for {}", time_words(time)));
        Decision { scope, ..Decision::new(Matter::Mode, choice.mode.name(), Outcome::Set, by) }
    });
}

/// The session has its id.
pub fn opened(session: &mut Session, cx: &mut Cx) {
    if let Some((choice, by)) = session.permission_mode.unlogged.take() {
        log(choice, by, cx);
    }
}

/// A time is over: that of this mode, or of one that was chosen before it.
pub fn over(session: &mut Session, cx: &mut Cx) {
    if session.permission_mode.is_over(cx.now) {
        end(session, "its time is over", cx);
    }
}

/// The session goes on without it.
pub fn end(session: &mut Session, why: &str, cx: &mut Cx) {
    let ended = std::mem::take(&mut session.permission_mode);
    if ended == ModeInForce::default() {
        return;
    }
    let name = PermissionMode::Default.name();
    notice(session, Level::Warn, format!("permission mode {name} again: {why}"), Vec::new(), cx.now);
    if ended.unlogged.is_some() {
        return;
    }
    audit::tell(cx, || {
        let reason = Some(why.to_owned());
        Decision { reason, ..Decision::new(Matter::Mode, name, Outcome::Set, By::Client) }
    });
}
