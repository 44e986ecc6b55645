//! Keys while a list or the help is open.

use super::{Cx, common, session_list};
use crate::ui::keys::Action;
use crate::ui::msg::{Out, What};
use crate::ui::state::opener::Opener;
use crate::ui::state::picker::{Choice, Picker};
use crate::ui::state::{App, Help};

/// Names of the list of options that are groups of it.
const OF_OPTIONS: [&str; 3] = ["permissions", "mode", "model"];
/// The group of themes.
const OF_THEMES: &str = "theme";
/// Rows of one page of a list.
const PAGE: isize = 8;

pub(super) fn action(state: &mut App, cx: Cx<'_>, action: Action, out: &mut Vec<Out>) {
    let Some(picker) = &mut state.picker else { return };
    if let Some(text) = as_text(picker, action) {
        state.picker = None;
        return state.view.composer.set_text(&text);
    }
    match action {
        Action::Escape | Action::CtrlC | Action::OptionsList | Action::Palette | Action::NewSession => {
            state.picker = None;
        }
        Action::Accept | Action::Submit => {
            if let Some(choice) = picker.choice() {
                let typed = picker.filter().to_owned();
                state.picker = None;
                match choice {
                    Choice::Set(intent) => out.push(Out::Intent(intent)),
                    Choice::Sure(intent) => state.picker = Some(Picker::sure(intent)),
                    Choice::Leave => {}
                    Choice::Copy(text) => {
                        out.push(Out::Copy(What::Characters(text.chars().count()), text.to_string()));
                    }
                    Choice::HandOver(whose) => out.push(Out::HandOver(whose)),
                    Choice::Do(action) | Choice::NotNow(action) => {
                        super::composer::action(state, cx, action, out);
                        // Who asked for some of the options by their name sees those.
                        if action == Action::OptionsList
                            && OF_OPTIONS.contains(&&*typed)
                            && let Some(options) = &mut state.picker
                        {
                            options.type_text(&typed);
                            options.rest_on_set(cx.session, None);
                        }
                    }
                    Choice::Show(key) => out.push(Out::Show(key)),
                    Choice::GoOn(which) => session_list::go_on(state, cx, &which, out),
                    Choice::Theme(name) => {
                        state.theme = Some(name);
                        out.push(Out::Theme(name));
                        let kept =
                            format!("theme {name}, until acp-tui ends · to keep it: theme = \"{name}\" in config.toml");
                        state.say(kept, cx.now);
                    }
                    Choice::Write(prompt) => state.view.composer.set_text(&prompt),
                    Choice::Open { whose, name } => state.opener = Some(Opener::new(whose, name, &cx.session.cwd)),
                }
            }
        }
        Action::Up => picker.step(-1),
        Action::Down => picker.step(1),
        Action::PageUp => picker.step(-PAGE),
        Action::PageDown => picker.step(PAGE),
        Action::Home => picker.step(isize::MIN),
        Action::End => picker.step(isize::MAX),
        Action::Backspace => picker.backspace(),
        Action::KillLine | Action::DeleteWordBack => picker.clear(),
        Action::Char(c) => {
            picker.type_text(c.encode_utf8(&mut [0; 4]));
            if picker.filter() == OF_THEMES {
                picker.rest_on_set(cx.session, state.theme);
            }
        }
        Action::WheelUp | Action::WheelDown | Action::Redraw | Action::Suspend | Action::MouseToggle => {
            common(state, cx, action, out);
        }
        // What acts elsewhere is not done behind an open list.
        _ => {
            state.picker = None;
            common(state, cx, action, out);
        }
    }
}

/// What was written to open a list and to filter it is a text after all: nothing is found, or the list is left.
fn as_text(picker: &Picker, action: Action) -> Option<String> {
    let mut text = picker.typed()?;
    match action {
        Action::Char(c) => {
            text.push(c);
            (!picker.finds(&text)).then_some(text)
        }
        Action::Escape => Some(text),
        Action::Backspace | Action::DeleteWordBack if picker.filter().is_empty() => Some(String::new()),
        // To the beginning of what is written: the sign is a part of it.
        Action::KillLine => Some(String::new()),
        _ => None,
    }
}

/// What is typed looks for rows; other keys than those that move close it.
pub(super) fn help(state: &mut App, cx: Cx<'_>, action: Action) {
    let Some(help) = &mut state.help else { return };
    let (max, page) = (cx.frame.help_scroll_max, cx.frame.help_page.saturating_sub(1).max(1));
    let top = help.top.min(max);
    match action {
        Action::Up => help.top = top.saturating_sub(1),
        Action::Down => help.top = top.saturating_add(1).min(max),
        Action::PageUp => help.top = top.saturating_sub(page),
        Action::PageDown => help.top = top.saturating_add(page).min(max),
        Action::Home => help.top = 0,
        Action::End => help.top = max,
        Action::Char(c) => help.type_char(c),
        Action::Backspace => help.backspace(),
        Action::KillLine | Action::DeleteWordBack => *help = Help::default(),
        _ => state.help = None,
    }
}
