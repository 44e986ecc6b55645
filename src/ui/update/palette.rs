//! The palette: everything that can be done, in one list with a filter.
//!
//! Does nothing itself. Invariant: a row does what its key does; the action itself says what cannot be done now.

use super::Cx;
use crate::base::{human, sanitize};
use crate::model::login::LogIn;
use crate::model::session::{Closed, SessionState};
use crate::text::width;
use crate::ui::keys::{Action, Layer};
use crate::ui::labels;
use crate::ui::state::App;
use crate::ui::state::near;
use crate::ui::state::picker::{Choice, Picker, Row, rows};
use crate::ui::state::session_list::End;

/// Earlier sessions that are listed, the newest; F8 has all.
const MAX_EARLIER: usize = 200;
/// Columns of what one is called, with what tells it apart.
const EARLIER: usize = 64;

fn row(group: &str, label: String, detail: String, choice: Choice) -> Row {
    Row { group: group.into(), label, detail, choice }
}

/// What keys do.
fn actions(state: &App, cx: Cx<'_>) -> Vec<Row> {
    let does = |key: crate::ui::keys::live::Row| {
        let choice = if can(state, cx, key.action) { Choice::Do(key.action) } else { Choice::NotNow(key.action) };
        row("", key.what.to_owned(), key.keys, choice)
    };
    let mut all: Vec<Row> =
        state.keys.help(Layer::Composer).filter(|key| is_worth_a_row(key.action)).map(does).collect();
    // Enter without a choice ends nothing, and does something.
    all.sort_by_key(|row| match row.choice {
        Choice::NotNow(_) => 2,
        Choice::Do(Action::CtrlD | Action::CtrlC) => 1,
        _ => 0,
    });
    all
}

/// Whether it would do anything now.
fn can(state: &App, cx: Cx<'_>, action: Action) -> bool {
    let session = cx.session;
    let has_aside = state.asides.beside(session.key()).is_some();
    match action {
        Action::Steer => has_aside || session.turn.is_some() && !state.view.composer.is_blank(),
        Action::TypeInto => {
            session.running_terminal().is_some() || session.log_in().and_then(LogIn::terminal).is_some()
        }
        Action::KillCommand => {
            session.running_terminal().is_some() || session.running_child().is_some() || session.cancellable().is_some()
        }
        Action::Stash => !state.view.composer.is_empty() || !state.view.stash.is_empty(),
        Action::CopyAnswer => session.last_answer().is_some(),
        Action::FocusDock => state.view.dock.dialog.is_some(),
        Action::HandOver => session.has_talked(),
        Action::NextSession | Action::PreviousSession | Action::CloseSession => state.has_several(),
        Action::GoOnAnew => {
            session.read_only().is_some() || matches!(session.state, SessionState::Closed(Closed::Refused(_)))
        }
        _ => true,
    }
}

/// What keys do and themes, for what is typed behind `:`: nothing that an agent names, and no mode of its.
pub(super) fn behind_colon(state: &App, cx: Cx<'_>) -> Picker {
    let mut all = actions(state, cx);
    // Only what a row itself begins with is looked for.
    let themes =
        themes(state).into_iter().map(|theme| row("", format!("theme {}", theme.label), theme.detail, theme.choice));
    put_before_not_now(&mut all, themes.collect());
    Picker::all(all, cx.session).opened_by(':')
}

fn themes(state: &App) -> Vec<Row> {
    state.themes.iter().map(|name| row("theme", (*name).to_owned(), String::new(), Choice::Theme(name))).collect()
}

fn put_before_not_now(all: &mut Vec<Row>, rows: Vec<Row>) {
    let not_now = all.iter().position(|row| matches!(row.choice, Choice::NotNow(_))).unwrap_or(all.len());
    all.splice(not_now..not_now, rows);
}

pub(super) fn open(state: &App, cx: Cx<'_>) -> Picker {
    let mut all = Vec::new();
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
    all.extend(themes(state));
    let earlier = near::all(&state.past, &state.trees, &cx.session.cwd, cx.model).take(MAX_EARLIER);
    all.extend(earlier.map(|one| {
        let name = one.name().unwrap_or(&one.agent);
        let how = if one.end == End::Interrupted { "interrupted · " } else { "" };
        let label = format!("{name}{}", one.apart_beside(width::str_width(name), EARLIER));
        row("earlier", label, format!("{how}{}", human::ago(one.age)), Choice::GoOn(one.which()))
    }));
    let mut rows = actions(state, cx);
    put_before_not_now(&mut rows, all);
    Picker::all(rows, cx.session)
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
