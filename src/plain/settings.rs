//! What can be set in a session: modes, models and options, by what its agent offers.
//!
//! Sets nothing. Invariant: what the agent does not offer is answered with what there is.

use crate::model::event::Intent;
use crate::model::options::{ConfigOption, OptionKind, OptionValue, model_choice, offer};
use crate::model::session_ref::SessionRef;

/// What sets it, or what there is.
type Chosen = Result<Intent, Vec<String>>;

pub(super) fn mode(session: SessionRef<'_>, id: &str) -> Chosen {
    if let Some(option) = session.mode_option() {
        return value(option, id);
    }
    let Some(modes) = session.older_modes() else { return Err(vec!["note: the agent has no modes".to_owned()]) };
    if modes.lists(id) {
        return Ok(Intent::SetMode { id: id.to_owned() });
    }
    let known = modes.available.iter().map(|mode| mode.id.clone()).collect::<Vec<_>>();
    Err(vec![format!("note: mode {}; {}", modes.name_of(&modes.current), offer(&known))])
}

pub(super) fn model(session: SessionRef<'_>, id: &str) -> Chosen {
    let settings = || session.session().settings();
    match model_choice(settings, id) {
        Ok((id, value, _)) => Ok(Intent::SetOption { id, value }),
        Err(_) => match settings().find(|option| option.is_category("model")) {
            Some(option) => Err(vec![of_option(option)]),
            None => Err(vec!["note: the agent offers no models".to_owned()]),
        },
    }
}

pub(super) fn option(session: SessionRef<'_>, rest: &str) -> Chosen {
    let (id, value) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    match session.session().settings().find(|option| option.id == id) {
        Some(option) => self::value(option, value.trim()),
        None => {
            let lines: Vec<String> = session.session().settings().map(of_option).collect();
            Err(if lines.is_empty() { vec!["note: the agent offers nothing to set".to_owned()] } else { lines })
        }
    }
}

fn value(option: &ConfigOption, given: &str) -> Chosen {
    let value = match (&option.kind, given) {
        (OptionKind::Bool { .. }, "true" | "on" | "yes") => OptionValue::Bool(true),
        (OptionKind::Bool { .. }, "false" | "off" | "no") => OptionValue::Bool(false),
        (_, id) => OptionValue::Id(id.to_owned()),
    };
    if option.accepts(&value) {
        Ok(Intent::SetOption { id: option.id.clone(), value })
    } else {
        Err(vec![of_option(option)])
    }
}

pub(super) fn of_option(option: &ConfigOption) -> String {
    format!("note: {} ({}) is {}; {}", option.id, option.name, option.current_name(), offer(&option.ids()))
}
