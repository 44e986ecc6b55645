//! Modes and configuration options: asked for at once, confirmed by the answer or the update, by the first of them,
//! rolled back on an error.
//!
//! Several changes may be on their way together. Invariants: each answer counts for what its own request asked for,
//! in the order the answers come; what the agent says by itself counts when it says it; the newest wish that is not
//! decided is the one that is shown as pending.

use super::super::effect::{Call, Effect};
use super::super::entry::Level;
use super::super::event::CallError;
use super::super::options::{ConfigOption, OptionKind, OptionValue};
use super::super::session::{Session, Wish, Wished};
use super::Cx;
use super::notice;
use serde_json::Value;

/// Characters of what is said of an error in a row.
const MAX_ROW: usize = 400;
/// Options that are told of one command.
const MAX_SET: usize = 3;

/// Only a listed mode is sent.
pub fn set_mode(session: &mut Session, id: String, cx: &mut Cx) {
    let Some(wire) = session.id.clone() else { return };
    if !session.modes.as_ref().is_some_and(|m| m.lists(&id)) {
        return;
    }
    wish(session, Wished::Mode, OptionValue::Id(id.clone()));
    cx.push(Effect::Call(Call::SetMode { session: wire, mode: id }));
}

pub fn mode_set(session: &mut Session, mode: &str, result: Result<(), CallError>, cx: &mut Cx) {
    let wish = answered(session, &Wished::Mode, &OptionValue::Id(mode.to_owned()));
    match result {
        // The agent may have told us meanwhile; then what it said stands.
        Ok(()) if wish.is_some_and(|w| !w.said) => mode_is(session, mode.to_owned()),
        Ok(()) => {}
        Err(error) if error.is_auth() => {
            refused(session, Wished::Mode, OptionValue::Id(mode.to_owned()));
            cx.log_in_needed(error);
        }
        Err(error) => {
            let name = session.modes.as_ref().map_or(mode, |modes| modes.name_of(mode)).to_owned();
            mode_refused(session, (mode, &name), &error, cx);
        }
    }
}

/// What is wrong in a row: the message, and what the data says in words.
fn in_a_row(error: &CallError) -> String {
    let data = error.data.as_ref().and_then(Value::as_str).filter(|said| !error.message.contains(said.trim()));
    let said: Vec<String> = [Some(error.words()), data.map(str::to_owned)]
        .into_iter()
        .flatten()
        .filter(|said| !said.trim().is_empty())
        .collect();
    said.join(": ").split_whitespace().collect::<Vec<_>>().join(" ").chars().take(MAX_ROW).collect()
}

/// The same words once, however often it is asked for.
fn mode_refused(session: &mut Session, (id, name): (&str, &str), error: &CallError, cx: &Cx) {
    let why = in_a_row(error);
    let refused = (id.to_owned(), why);
    if session.refused_modes.contains(&refused) {
        return;
    }
    notice(session, Level::Warn, format!("mode {name} was not set: {}", refused.1), Vec::new(), cx.now);
    session.refused_modes.retain(|(known, _)| known != id);
    session.refused_modes.push(refused);
}

/// The agent switched, or believes that it did.
pub fn mode_changed(session: &mut Session, id: String) {
    said(session, &Wished::Mode, &OptionValue::Id(id.clone()));
    mode_is(session, id);
}

/// An option of category `mode` is kept in step (fact 17).
fn mode_is(session: &mut Session, id: String) {
    session.refused_modes.clear();
    for option in session.options.iter_mut().filter(|o| o.is_category("mode")) {
        if let OptionKind::Select { current, values } = &mut option.kind
            && values.iter().any(|v| v.value == id)
        {
            current.clone_from(&id);
        }
    }
    session.modes.get_or_insert_default().current = id;
    show_pending(session);
}

pub fn set_option(session: &mut Session, id: &str, value: OptionValue, cx: &mut Cx) {
    let Some(wire) = session.id.clone() else { return };
    if !session.settings().any(|o| o.id == id && o.accepts(&value)) {
        return;
    }
    wish(session, Wished::Option(id.to_owned()), value.clone());
    let is_older = !session.options.iter().any(|o| o.id == id);
    cx.push(Effect::Call(match value {
        OptionValue::Id(model) if is_older => Call::SetModel { session: wire, model },
        value => Call::SetOption { session: wire, option: id.to_owned(), value },
    }));
}

/// Some agents answer `{}` (fact 18): then the request is believed.
pub fn option_set(
    session: &mut Session,
    id: &str,
    value: &OptionValue,
    result: Result<Option<Vec<ConfigOption>>, CallError>,
    cx: &mut Cx,
) {
    let wish = answered(session, &Wished::Option(id.to_owned()), value);
    match result {
        Ok(Some(list)) => replace(session, list),
        Ok(None) if wish.is_some_and(|w| !w.said) => {
            has_value(session, id, value);
        }
        Ok(None) => {}
        Err(error) if error.is_auth() => {
            refused(session, Wished::Option(id.to_owned()), value.clone());
            cx.log_in_needed(error);
        }
        Err(error) => {
            let option = session.options.iter().find(|o| o.id == id && o.is_category("mode"));
            let mode = option.and_then(|option| match (&option.kind, value) {
                (OptionKind::Select { values, .. }, OptionValue::Id(mode)) => {
                    Some((mode.as_str(), values.iter().find(|v| v.value == *mode)?.name.clone()))
                }
                _ => None,
            });
            if let Some((mode, name)) = mode {
                return mode_refused(session, (mode, &name), &error, cx);
            }
            notice(session, Level::Warn, format!("{id} was not set: {}", error.message), error.data_lines(), cx.now);
        }
    }
}

/// The agent has given one option another value.
pub fn value_changed(session: &mut Session, id: &str, value: &OptionValue) {
    said(session, &Wished::Option(id.to_owned()), value);
    has_value(session, id, value);
}

fn has_value(session: &mut Session, id: &str, value: &OptionValue) {
    let mut mode = None;
    let mut settings = session.options.iter_mut().chain(&mut session.older_models);
    if let Some(option) = settings.find(|o| o.id == id) {
        match (&mut option.kind, value) {
            (OptionKind::Select { current, .. }, OptionValue::Id(id)) => current.clone_from(id),
            (OptionKind::Bool { current }, OptionValue::Bool(on)) => *current = *on,
            _ => {}
        }
        mode = mode_of(option);
    }
    if mode.is_some() {
        session.refused_modes.clear();
    }
    keep_mode_in_step(session, mode);
}

/// A log-in has to come first; then it is asked for again.
fn refused(session: &mut Session, what: Wished, value: OptionValue) {
    session.refused.retain(|wish| wish.what != what);
    session.refused.push(Wish { what, value, said: false });
}

/// Asks once more for what was refused for want of a log-in.
pub fn ask_again(session: &mut Session, cx: &mut Cx) {
    for Wish { what, value, .. } in std::mem::take(&mut session.refused) {
        match (what, value) {
            (Wished::Mode, OptionValue::Id(mode)) => set_mode(session, mode, cx),
            (Wished::Mode, OptionValue::Bool(_)) => {}
            (Wished::Option(id), value) => set_option(session, &id, value, cx),
        }
    }
}

/// What a command of the agent's has set that has said nothing yet: often it says nothing else.
pub fn set_by_command(session: &Session, list: &[ConfigOption]) -> Option<String> {
    session.turn.as_ref().filter(|turn| !turn.spoke && turn.prompt.trim_start().starts_with('/'))?;
    let is_set = |new: &&ConfigOption| {
        let old = session.options.iter().find(|old| old.id == new.id);
        old.is_some_and(|old| old.pending.is_none() && old.current_name() != new.current_name())
    };
    let words = |option: &ConfigOption| format!("{}: {}", option.name, option.current_name());
    let set: Vec<String> = list.iter().filter(is_set).take(MAX_SET).map(words).collect();
    (!set.is_empty()).then(|| set.join(" · "))
}

/// Each list is complete.
pub fn replace(session: &mut Session, list: Vec<ConfigOption>) {
    for option in &list {
        let value = match &option.kind {
            OptionKind::Select { current, .. } => OptionValue::Id(current.clone()),
            OptionKind::Bool { current } => OptionValue::Bool(*current),
        };
        said(session, &Wished::Option(option.id.clone()), &value);
    }
    let modes = |list: &[ConfigOption]| list.iter().find(|o| o.is_category("mode")).map(|o| o.kind.clone());
    if modes(&session.options) != modes(&list) {
        session.refused_modes.clear();
    }
    session.options = list;
    let mode = session.options.iter().find_map(mode_of);
    keep_mode_in_step(session, mode);
    show_pending(session);
}

fn mode_of(option: &ConfigOption) -> Option<String> {
    match &option.kind {
        OptionKind::Select { current, .. } if option.is_category("mode") => Some(current.clone()),
        _ => None,
    }
}

fn keep_mode_in_step(session: &mut Session, mode: Option<String>) {
    if let (Some(modes), Some(mode)) = (&mut session.modes, mode)
        && modes.lists(&mode)
    {
        modes.current.clone_from(&mode);
        said(session, &Wished::Mode, &OptionValue::Id(mode));
    }
}

fn wish(session: &mut Session, what: Wished, value: OptionValue) {
    session.wishes.push(Wish { what, value, said: false });
    show_pending(session);
}

/// The wish that an answer is for, which is not open any more.
fn answered(session: &mut Session, what: &Wished, value: &OptionValue) -> Option<Wish> {
    let at = session.wishes.iter().position(|w| w.what == *what && w.value == *value)?;
    let wish = session.wishes.remove(at);
    show_pending(session);
    Some(wish)
}

/// The agent says by itself that it is so: the oldest wish for it is fulfilled before it is answered.
fn said(session: &mut Session, what: &Wished, value: &OptionValue) {
    if let Some(wish) = session.wishes.iter_mut().find(|w| w.what == *what && w.value == *value && !w.said) {
        wish.said = true;
        show_pending(session);
    }
}

/// The newest wish for each thing is what is pending, unless the agent has said that it is so.
fn show_pending(session: &mut Session) {
    let wishes = &session.wishes;
    let newest = |what: &Wished| wishes.iter().rev().find(|w| w.what == *what).filter(|w| !w.said);
    if let Some(modes) = &mut session.modes {
        modes.pending = newest(&Wished::Mode).and_then(|w| match &w.value {
            OptionValue::Id(id) => Some(id.clone()),
            OptionValue::Bool(_) => None,
        });
    }
    for option in session.options.iter_mut().chain(&mut session.older_models) {
        option.pending = newest(&Wished::Option(option.id.clone())).map(|w| w.value.clone());
    }
}

/// A server of tools, for when the session is opened the next time.
pub fn switch_server(session: &mut Session, name: &str, on: bool, cx: &Cx) {
    if session.servers.switch(name, on) {
        let word = if on { "on" } else { "off" };
        let words = format!("MCP server {name} is {word} when the session is opened again (start the agent again)");
        notice(session, Level::Info, words, Vec::new(), cx.now);
    }
}
