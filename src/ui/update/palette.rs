//! The palette: everything that can be done, in one list with a filter.
//!
//! Does nothing itself. Invariant: a row does what its key does; the action itself says what cannot be done now.

use super::Cx;
use crate::base::sanitize;
use crate::ui::keys::{Action, Layer};
use crate::ui::labels;
use crate::ui::state::App;
use crate::ui::state::picker::{Choice, Picker, Row, rows};

fn row(group: &str, label: String, detail: String, choice: Choice) -> Row {
    Row { group: group.into(), label, detail, choice }
}

/// What keys do.
fn actions(state: &App) -> Vec<Row> {
    let does = |key: crate::ui::keys::live::Row| row("", key.what.to_owned(), key.keys, Choice::Do(key.action));
    let mut all: Vec<Row> =
        state.keys.help(Layer::Composer).filter(|key| is_worth_a_row(key.action)).map(does).collect();
    // Enter without a choice ends nothing.
    all.sort_by_key(|row| matches!(row.choice, Choice::Do(Action::CtrlD | Action::CtrlC)));
    all
}

/// Only what keys do, for what is typed behind `:`: nothing that an agent names, and no mode of its.
pub(super) fn behind_colon(state: &App) -> Picker {
    Picker::all(actions(state)).opened_by(':')
}

pub(super) fn open(state: &App, cx: Cx<'_>) -> Picker {
    let mut all = actions(state);
    for (key, _) in state.views().into_iter().filter(|(key, _)| *key != state.shown()) {
        let Some(session) = cx.model.at(key) else { continue };
        let title = state.name_of(key).or(session.called()).map(|title| sanitize::line(title).trim().to_owned());
        let title = title.filter(|title| !title.is_empty()).unwrap_or_else(|| labels::agent(session));
        all.push(row("session", title, sanitize::line(&session.cwd).into_owned(), Choice::Show(key)));
    }
    all.extend(cx.session.commands.iter().map(|command| {
        let name = sanitize::line(&command.name).trim().to_owned();
        let description = sanitize::line(&command.description).into_owned();
        row("command", format!("/{name}"), description, Choice::Write(format!("/{} ", command.name).into()))
    }));
    all.extend(state.own_prompts.iter().map(|prompt| {
        let (name, about) = (&prompt.command.name, &prompt.command.description);
        let label = format!("/{}", sanitize::line(name));
        row("prompt", label, sanitize::line(about).into_owned(), Choice::Write(format!("/{name} ").into()))
    }));
    all.extend(rows(cx.session));
    all.extend(state.themes.iter().map(|name| row("theme", (*name).to_owned(), String::new(), Choice::Theme(name))));
    Picker::all(all)
}

/// Whether the person would look for it in a list rather than press it while writing.
fn is_worth_a_row(action: Action) -> bool {
    let is_of_writing = matches!(
        action,
        Action::Submit
            | Action::Escape
            | Action::Tab
            | Action::Palette
            | Action::PageUp
            | Action::PageDown
            | Action::Reply(_)
            | Action::Up
            | Action::Down
    );
    !is_of_writing && !action.is_edit()
}
