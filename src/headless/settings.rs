//! What is set before the prompt goes out: model, mode and options, by what the agent offers.
//!
//! Sets nothing. Invariant: what the agent does not offer is an error that names what there is.

use crate::model::options::{OptionKind, OptionValue, model_choice, offer};
use crate::model::session_ref::SessionRef;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Setting {
    Mode(String),
    Option(String, OptionValue),
}

pub(super) fn model_setting(session: SessionRef<'_>, id: &str) -> Result<Setting, String> {
    let (option, value, _) = model_choice(|| session.session().settings(), id)?;
    Ok(Setting::Option(option, value))
}

pub(super) fn mode_setting(session: SessionRef<'_>, id: &str) -> Result<Setting, String> {
    let value = OptionValue::Id(id.to_owned());
    if let Some(option) = session.options.iter().find(|o| o.is_category("mode") && o.accepts(&value)) {
        return Ok(Setting::Option(option.id.clone(), value));
    }
    if session.older_modes().is_some_and(|m| m.lists(id)) {
        return Ok(Setting::Mode(id.to_owned()));
    }
    let modes = session.older_modes().into_iter().flat_map(|m| m.available.iter().map(|m| m.id.clone()));
    let options = session.options.iter().filter(|o| o.is_category("mode")).flat_map(|o| o.ids());
    let known: Vec<String> = modes.chain(options).collect();
    Err(format!("the agent has no mode `{id}`; {}", offer(&known)))
}

pub(super) fn option_setting(session: SessionRef<'_>, id: &str, value: &str) -> Result<Setting, String> {
    let Some(option) = session.settings().find(|o| o.id == id) else {
        let known: Vec<String> = session.settings().map(|o| o.id.clone()).collect();
        return Err(format!("the agent has no option `{id}`; {}", offer(&known)));
    };
    let wanted = match (&option.kind, value) {
        (OptionKind::Bool { .. }, "true" | "on" | "yes") => OptionValue::Bool(true),
        (OptionKind::Bool { .. }, "false" | "off" | "no") => OptionValue::Bool(false),
        (OptionKind::Bool { .. }, _) => return Err(format!("option `{id}` is true or false, not `{value}`")),
        (OptionKind::Select { .. }, _) => OptionValue::Id(value.to_owned()),
    };
    if !option.accepts(&wanted) {
        return Err(format!("option `{id}` has no value `{value}`; {}", offer(&option.ids())));
    }
    Ok(Setting::Option(id.to_owned(), wanted))
}

/// The mode that a session is to have again, where its agent still has that and has the session in another.
pub(super) fn mode_back(session: SessionRef<'_>, id: &str) -> Option<Setting> {
    mode_setting(session, id).ok().filter(|setting| setting_state(session, setting) == Some(false))
}

/// `None` while the answer is awaited, then whether it is in force.
pub(super) fn setting_state(session: SessionRef<'_>, setting: &Setting) -> Option<bool> {
    match setting {
        Setting::Mode(id) => {
            let modes = session.modes.as_ref()?;
            if modes.pending.is_some() { None } else { Some(modes.current == *id) }
        }
        Setting::Option(id, value) => {
            let Some(option) = session.settings().find(|o| o.id == *id) else { return Some(false) };
            if option.pending.is_some() {
                return None;
            }
            Some(match (&option.kind, value) {
                (OptionKind::Select { current, .. }, OptionValue::Id(id)) => current == id,
                (OptionKind::Bool { current }, OptionValue::Bool(on)) => current == on,
                _ => false,
            })
        }
    }
}

pub(super) fn name_of(setting: &Setting) -> String {
    match setting {
        Setting::Mode(id) => format!("mode {id}"),
        Setting::Option(id, OptionValue::Id(value)) => format!("{id}={value}"),
        Setting::Option(id, OptionValue::Bool(value)) => format!("{id}={value}"),
    }
}
