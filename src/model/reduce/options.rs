//! Modes and configuration options: asked for at once, confirmed by whatever comes first, rolled back on an error.

use super::super::Model;
use super::super::effect::{Call, Effect};
use super::super::entry::Level;
use super::super::event::CallError;
use super::super::ids::Now;
use super::super::options::{ConfigOption, OptionKind, OptionValue};
use super::{lifecycle, notice};

/// Only a listed mode is sent.
pub fn set_mode(model: &mut Model, id: String, out: &mut Vec<Effect>) {
    let Some(session) = model.session.id.clone() else { return };
    let Some(modes) = &mut model.session.modes else { return };
    if !modes.lists(&id) {
        return;
    }
    modes.pending = Some(id.clone());
    out.push(Effect::Call(Call::SetMode { session, mode: id }));
}

pub fn mode_set(model: &mut Model, mode: &str, result: Result<(), CallError>, now: Now, out: &mut Vec<Effect>) {
    let asked = model.session.modes.as_mut().is_some_and(|m| m.pending.take_if(|p| p == mode).is_some());
    match result {
        // The agent may have told us meanwhile; then what it said stands.
        Ok(()) if asked => mode_changed(model, mode.to_owned()),
        Ok(()) => {}
        Err(error) if error.code == CallError::AUTH_REQUIRED => lifecycle::auth_needed(model, error, now, out),
        Err(error) => {
            let words = format!("mode {mode} was not set: {}", error.message);
            notice(model, Level::Warn, words, error.data_lines(), now);
        }
    }
}

/// The agent switched, or believes that it did; an option of category `mode` is kept in step (fact 17).
pub fn mode_changed(model: &mut Model, id: String) {
    for option in model.session.options.iter_mut().filter(|o| o.is_category("mode")) {
        if let OptionKind::Select { current, values } = &mut option.kind
            && values.iter().any(|v| v.value == id)
        {
            current.clone_from(&id);
        }
    }
    let modes = model.session.modes.get_or_insert_default();
    modes.pending.take_if(|p| *p == id);
    modes.current = id;
}

pub fn set_option(model: &mut Model, id: &str, value: OptionValue, out: &mut Vec<Effect>) {
    let Some(session) = model.session.id.clone() else { return };
    let Some(option) = model.session.options.iter_mut().find(|o| o.id == id && o.accepts(&value)) else { return };
    option.pending = Some(value.clone());
    out.push(Effect::Call(Call::SetOption { session, option: id.to_owned(), value }));
}

/// Some agents answer `{}` (fact 18): then the request is believed.
pub fn option_set(
    model: &mut Model,
    id: &str,
    result: Result<Option<Vec<ConfigOption>>, CallError>,
    now: Now,
    out: &mut Vec<Effect>,
) {
    match result {
        Ok(Some(list)) => replace(model, list),
        Ok(None) => {
            let mut mode = None;
            if let Some(option) = model.session.options.iter_mut().find(|o| o.id == id)
                && let Some(value) = option.pending.take()
            {
                match (&mut option.kind, value) {
                    (OptionKind::Select { current, .. }, OptionValue::Id(id)) => *current = id,
                    (OptionKind::Bool { current }, OptionValue::Bool(on)) => *current = on,
                    _ => {}
                }
                if let (true, OptionKind::Select { current, .. }) = (option.is_category("mode"), &option.kind) {
                    mode = Some(current.clone());
                }
            }
            keep_mode_in_step(model, mode);
        }
        Err(error) => {
            if let Some(option) = model.session.options.iter_mut().find(|o| o.id == id) {
                option.pending = None;
            }
            if error.code == CallError::AUTH_REQUIRED {
                return lifecycle::auth_needed(model, error, now, out);
            }
            notice(model, Level::Warn, format!("{id} was not set: {}", error.message), error.data_lines(), now);
        }
    }
}

/// Each list is complete.
pub fn replace(model: &mut Model, list: Vec<ConfigOption>) {
    model.session.options = list;
    let mode = model.session.options.iter().find(|o| o.is_category("mode")).and_then(|o| match &o.kind {
        OptionKind::Select { current, .. } => Some(current.clone()),
        OptionKind::Bool { .. } => None,
    });
    keep_mode_in_step(model, mode);
}

fn keep_mode_in_step(model: &mut Model, mode: Option<String>) {
    if let (Some(modes), Some(mode)) = (&mut model.session.modes, mode)
        && modes.lists(&mode)
    {
        modes.pending.take_if(|p| *p == mode);
        modes.current = mode;
    }
}
