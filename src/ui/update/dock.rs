//! Keys while the dock has the focus: the only place where something is answered.

use super::{Cx, common, rule, session_list, sessions};
use crate::model::event::{AuthKind, AuthMethod, Intent, PermissionKind, PermissionOption};
use crate::model::ids::ReqId;
use crate::model::login::Keep;
use crate::model::question::{self, Question};
use crate::text::address;
use crate::ui::cells;
use crate::ui::composer::Composer;
use crate::ui::keys::{Action, Layer};
use crate::ui::labels::{self, Only};
use crate::ui::msg::{Out, What};
use crate::ui::state::dock::{Clicked, Dialog, Heed, Neighbour, Raw, Unshown};
use crate::ui::state::secrets::Secrets;
use crate::ui::state::timing::GOES_ON;
use crate::ui::state::{App, Focus, Holds, Refusal};
use ratatui::layout::Position;

/// Characters that are kept of a text before it is known to be one.
const MAX_UNTAKEN: usize = 32;
/// Rows of a question of which none is shown on two pages.
const FEW: usize = 3;

pub(super) fn action(state: &mut App, cx: Cx<'_>, action: Action, out: &mut Vec<Out>) {
    match action {
        Action::Escape if cx.session.agent().revival.is_some() => out.push(Out::Intent(Intent::LetRest)),
        Action::Escape | Action::Tab | Action::FocusDock => leave(state, cx),
        Action::CtrlD if state.view.composer.is_empty() => sessions::quit(state, cx, sessions::CTRL_D, out),
        Action::CtrlD => state.say(state.keys.say(Layer::Dock, "something is written · {Ctrl+C} clears it"), cx.now),
        Action::DockPageUp | Action::PageUp if cx.frame.dock_scroll_max > 0 => scroll(state, cx, -page(cx)),
        Action::DockPageDown | Action::PageDown if cx.frame.dock_scroll_max > 0 => scroll(state, cx, page(cx)),
        Action::NextRequest | Action::PreviousRequest => {
            let to = if action == Action::NextRequest { Neighbour::Next } else { Neighbour::Previous };
            state.view.dock.go(cx.session, to);
            state.sync(cx.model, cx.now);
        }
        Action::Up
        | Action::Down
        | Action::Accept
        | Action::Answer(_)
        | Action::AnswerBy(_)
        | Action::Refuse
        | Action::RawInput
        | Action::MakeRule
        | Action::Restart
        | Action::ShowStderr
        | Action::QuitDock
        | Action::TypeInto
        | Action::OpenPage
        | Action::CopyPage
        | Action::LeaveLogIn
        | Action::WaitOn
        | Action::SubmitAsked
        | Action::DeclineAsked
        | Action::CancelAsked
        | Action::KillAgent => _ = heeded(state, cx, action, out),
        _ => common(state, cx, action, out),
    }
}

/// A click goes to the question, one on an option highlights it, and one on that answers, later than a double click would.
pub(super) fn click(state: &mut App, cx: Cx<'_>, at: Position, out: &mut Vec<Out>) {
    let option = cx.frame.choices.iter().find(|(place, _)| place.contains(at)).map(|(_, option)| *option);
    if state.view.focus != Focus::Dock {
        state.to_question();
    }
    let Some(option) = option.filter(|_| cx.frame.dialog == state.view.dock.dialog) else { return };
    match state.view.dock.click(option, (at.x, at.y), cx.now) {
        Clicked::Highlighted => {}
        Clicked::Answers => _ = heeded(state, cx, Action::Accept, out),
        Clicked::Moved => state.say_of_question("the answers have moved: point at the one that is meant", cx.now),
    }
}

/// The keyboard goes back to the composer; nothing is answered.
pub(super) fn leave(state: &mut App, cx: Cx<'_>) {
    state.view.focus = Focus::Composer;
    state.view.left_dock = Some(cx.now);
}

/// A key that answers, or does something else about what is asked: it counts once that could be read. False: it did not.
pub(super) fn heeded(state: &mut App, cx: Cx<'_>, action: Action, out: &mut Vec<Out>) -> bool {
    // The person answers what is on the screen, not what came between the last frame and the key.
    if cx.frame.dialog != state.view.dock.dialog {
        return false;
    }
    match state.view.dock.heed(action, cx.now) {
        Heed::Counts => {
            armed(state, cx, action, out);
            return true;
        }
        Heed::TooSoon => state.say_of_question("too soon: this has just come up", cx.now),
        Heed::Changed => state.say_of_question("just changed: press again to answer", cx.now),
    }
    false
}

/// `!` in an empty prompt while a question stands, or where the next one may be meant: its row says that this key refuses, so
/// that no command of the person's begins with it. False: it means what it does elsewhere.
pub(super) fn holds_mark(state: &mut App, cx: Cx<'_>, action: Action) -> bool {
    let composer = &state.view.composer;
    if action != Action::Char('!') || !composer.is_empty() || composer.is_shell() {
        return false;
    }
    match &state.view.dock.dialog {
        Some(Dialog::Permission(req)) if cx.session.question(*req).is_some_and(|q| !q.options.is_empty()) => {
            let words = state.keys.say(Layer::Composer, "{Tab}, then {question !} refuses and says why");
            state.say_while(Holds::Before(state.view.dock.dialog.clone()), words, cx.now);
        }
        None if !state.commands() && state.view.dock.has_just_answered(cx.now) => {
            state.say_of_question("too soon: nothing is asked yet", cx.now);
        }
        _ => return false,
    }
    state.view.dock.unstick();
    // Among Vim's commands it is no beginning of a text.
    if !state.commands() {
        keep(state, cx, '!');
    }
    true
}

/// A digit or a mark that no question took: where a text follows at once it was the beginning of that.
pub(super) fn keep(state: &mut App, cx: Cx<'_>, one: char) {
    let mut text = untaken(state, cx).unwrap_or_default();
    if text.len() < MAX_UNTAKEN {
        text.push(one);
    }
    state.view.untaken = Some((text, cx.now));
}

/// What is typed now goes on with this.
pub(super) fn untaken(state: &mut App, cx: Cx<'_>) -> Option<String> {
    let (text, at) = state.view.untaken.take()?;
    (cx.now < at.saturating_add(GOES_ON)).then_some(text)
}

/// A digit with Alt answers with any focus.
pub(super) fn reply(state: &mut App, cx: Cx<'_>, number: u8, out: &mut Vec<Out>) {
    match state.view.dock.dialog {
        Some(Dialog::Permission(_)) => _ = heeded(state, cx, Action::Answer(number), out),
        None if !cx.frame.earlier.is_empty() => _ = session_list::go_on_with(state, cx, number.into(), out),
        _ => state.say_while(Holds::NothingWaits, "nothing waits for you", cx.now),
    }
}

/// A digit while the person answers one question after the other and has written nothing. False: it is text.
pub(super) fn sticks(state: &mut App, cx: Cx<'_>, number: u8, out: &mut Vec<Out>) -> bool {
    let dock = &state.view.dock;
    if !dock.is_sticky(cx.now) || !state.view.composer.is_empty() {
        return false;
    }
    let is_taken = match dock.dialog {
        // A form has no answer that a digit could be.
        Some(Dialog::Permission(req)) if cx.session.question(req).is_some_and(|q| q.options.is_empty()) => {
            return false;
        }
        // What was meant for writing must not hold for good.
        Some(Dialog::Permission(req)) if lasts(cx, req, number) => {
            let tab = state.keys.hint(Layer::Composer, ", or {Tab} first").unwrap_or_default();
            state.say_of_question(format!("not by a digit alone: Alt+{number}{tab}"), cx.now);
            false
        }
        Some(Dialog::Permission(_)) => heeded(state, cx, Action::Answer(number), out),
        None if dock.has_just_answered(cx.now) => {
            state.say_of_question("too soon: nothing is asked yet", cx.now);
            false
        }
        _ => return false,
    };
    if is_taken {
        state.view.untaken = None;
    } else {
        keep(state, cx, char::from(b'0' + number));
    }
    true
}

/// Whether what has this number holds for good.
fn lasts(cx: Cx<'_>, req: ReqId, number: u8) -> bool {
    let question = cx.session.question(req);
    let option = question.and_then(|question| question.options.get(usize::from(number).saturating_sub(1)));
    option.is_some_and(question::holds)
}

/// Keys while it is written why a question is refused.
pub(super) fn refusal(state: &mut App, cx: Cx<'_>, action: Action, out: &mut Vec<Out>) {
    let Some(refusal) = &mut state.refusal else { return };
    match action {
        Action::Accept => {
            let (req, reason) = (refusal.req, refusal.line.text().trim().to_owned());
            state.refusal = None;
            out.push(Out::Intent(Intent::Refuse { req, reason }));
            answered(state, cx);
        }
        Action::Escape | Action::CtrlC => state.leave_refusal(),
        Action::PageUp | Action::PageDown | Action::Redraw | Action::Suspend | Action::MouseToggle => {
            common(state, cx, action, out);
        }
        // All other keys mean nothing here.
        action => drop(refusal.line.apply(action)),
    }
}

/// The person has answered: the keyboard goes back to writing, and digits answer what is asked next.
pub(super) fn answered(state: &mut App, cx: Cx<'_>) {
    let goes_on = state.view.composer.is_empty();
    state.view.dock.answered(goes_on, cx.now);
    // Over the list of sessions the next question is answered too.
    if state.view.focus == Focus::Dock && state.list.is_none() {
        leave(state, cx);
    }
}

/// From what is on the screen of the body to what follows it: its last row stays, unless there are only a few.
pub(super) fn page(cx: Cx<'_>) -> isize {
    let shown = cx.frame.seen.rows;
    let kept = usize::from(shown > FEW);
    isize::try_from(shown.saturating_sub(kept).max(1)).unwrap_or(1)
}

pub(super) fn scroll(state: &mut App, cx: Cx<'_>, by: isize) {
    let top = state.view.dock.scroll.min(cx.frame.dock_scroll_max);
    state.view.dock.scroll = top.saturating_add_signed(by).min(cx.frame.dock_scroll_max);
}

fn armed(state: &mut App, cx: Cx<'_>, action: Action, out: &mut Vec<Out>) {
    let Some(dialog) = state.view.dock.dialog.clone() else { return };
    let choices = match &dialog {
        Dialog::Permission(req) => cx.session.question(*req).map_or(0, |p| p.options.len()),
        Dialog::LogIn => cx.session.agent().auth_methods.len(),
        Dialog::Authenticating(_) | Dialog::Dead | Dialog::Silent | Dialog::Quiet | Dialog::Unconfirmed => 0,
    };
    match (action, &dialog) {
        (Action::Up | Action::Down, _) if choices > 0 => highlight(state, cx, action, choices),
        (Action::Up, _) => scroll(state, cx, -1),
        (Action::Down, _) => scroll(state, cx, 1),
        (Action::Answer(n), _) => {
            let at = usize::from(n).saturating_sub(1);
            if cx.frame.options.contains(&at) {
                choose(state, cx, at, out);
            } else if at < choices {
                bring(state, cx, at, None);
            } else if choices > 0 {
                state.say_of_question("no answer has this number", cx.now);
            }
        }
        (Action::Accept, _) => {
            if let Some(at) = state.view.dock.highlighted {
                choose(state, cx, at, out);
            } else if choices > 0 {
                state.say_here(state.keys.say(Layer::Dock, "choose first: a digit, or {Down}"), cx.now);
            }
        }
        (Action::AnswerBy(sort), Dialog::Permission(req)) => {
            match cx.session.question(*req).map(|question| labels::only(question, sort)) {
                Some(Only::One(at)) if cx.frame.options.contains(&at) => choose(state, cx, at, out),
                Some(Only::One(at)) => bring(state, cx, at, state.keys.label(Layer::Dock, action)),
                Some(Only::Several) => state.say_of_question("two answers do that: press a digit", cx.now),
                Some(Only::None) | None => state.say_of_question("no answer does that: press a digit", cx.now),
            }
        }
        (Action::Refuse, Dialog::Permission(req)) => {
            let left = state.view.left_refusal.take().filter(|left| left.req == *req);
            state.refusal = left.or_else(|| Some(Refusal { req: *req, line: Composer::default() }));
        }
        (Action::RawInput, Dialog::Permission(req)) => raw_input(state, cx, *req),
        (
            Action::SubmitAsked | Action::DeclineAsked | Action::CancelAsked | Action::OpenPage | Action::CopyPage,
            Dialog::Permission(req),
        ) => super::asked::answer(state, cx, *req, action, out),
        (Action::MakeRule, Dialog::Permission(req)) => rule::begin(state, cx, *req, out),
        (Action::ShowStderr, Dialog::Silent) => {
            state.view.dock.all_stderr = flip(state.view.dock.all_stderr);
            state.view.dock.scroll = 0;
        }
        (
            Action::Restart,
            Dialog::Dead | Dialog::LogIn | Dialog::Authenticating(_) | Dialog::Quiet | Dialog::Unconfirmed,
        ) => out.push(Out::Intent(Intent::Restart)),
        (Action::WaitOn, Dialog::Quiet) => {
            state.view.dock.wait_on(cx.session);
            state.sync(cx.model, cx.now);
            leave(state, cx);
        }
        (Action::LeaveLogIn, Dialog::Quiet) => {
            out.push(Out::Intent(Intent::Cancel));
            leave(state, cx);
        }
        (Action::TypeInto, Dialog::Authenticating(_)) => super::terminal::take_over(state, cx, out),
        (Action::OpenPage, Dialog::Authenticating(_) | Dialog::LogIn) => open_page(state, cx, out),
        (Action::CopyPage, Dialog::Authenticating(_) | Dialog::LogIn) => copy_page(state, cx, out),
        (Action::LeaveLogIn, Dialog::Authenticating(_) | Dialog::LogIn) => {
            out.push(Out::Intent(Intent::LeaveAuthentication));
        }
        (Action::QuitDock, Dialog::Silent) | (Action::KillAgent, Dialog::Unconfirmed) => {
            out.push(Out::Intent(Intent::KillAgent));
        }
        (Action::QuitDock, Dialog::Dead | Dialog::LogIn) => {
            sessions::quit(state, cx, " · {question q} again quits", out);
        }
        _ => {}
    }
}

/// An answer that could not be read yet comes into view; the same key, by this name, then answers.
fn bring(state: &mut App, cx: Cx<'_>, at: usize, key: Option<String>) {
    state.view.dock.highlight(Some(at));
    // Beside what is read none of them is shown.
    if cx.frame.choices.is_empty() && state.view.focus != Focus::Dock {
        let leads = state.keys.say(state.layer(), "the answers are not in view · {Alt+P} goes there");
        return state.say_of_question(leads, cx.now);
    }
    let holds = match state.view.dock.dialog {
        Some(Dialog::Permission(req)) => u8::try_from(at + 1).is_ok_and(|number| lasts(cx, req, number)),
        _ => false,
    };
    let is_alone = state.view.focus == Focus::Dock
        || state.view.dock.is_sticky(cx.now) && state.view.composer.is_empty() && !holds;
    let digit = || if is_alone { format!("{}", at + 1) } else { format!("Alt+{}", at + 1) };
    let key = key.unwrap_or_else(digit);
    state.say_of_question(format!("{key} again answers: now in view"), cx.now);
}

/// Goes through a highlighted option that is higher than the dock, then to the next one.
fn highlight(state: &mut App, cx: Cx<'_>, action: Action, choices: usize) {
    let dock = &mut state.view.dock;
    match (dock.highlighted, action) {
        (None, Action::Down) => dock.highlight(Some(0)),
        (None, _) => dock.highlight(Some(choices - 1)),
        (Some(_), Action::Down) if cx.frame.option_below > 0 => dock.option_scroll += 1,
        (Some(at), Action::Down) if at + 1 < choices => dock.highlight(Some(at + 1)),
        (Some(_), Action::Down) => {
            state.say_here(state.keys.say(Layer::Dock, "this is the last answer · {Up} goes back"), cx.now);
        }
        (Some(_), _) if dock.option_scroll > 0 => dock.option_scroll -= 1,
        (Some(at), _) => dock.highlight(Some(at.saturating_sub(1).min(choices - 1))),
    }
}

/// Shows what the agent sent, below the rest, and goes there.
fn raw_input(state: &mut App, cx: Cx<'_>, req: ReqId) {
    let pending = cx.session.question(req);
    let entry = pending.and_then(|p| cx.session.entries().get(p.entry));
    if entry.is_none_or(|e| cells::raw_input(e).is_empty()) {
        return state.say_of_question("this is all it sent", cx.now);
    }
    state.view.dock.raw = flip(state.view.dock.raw);
    state.view.dock.scroll = if state.view.dock.raw == Raw::Shown { cx.frame.seen.above } else { 0 };
}

const fn flip(raw: Raw) -> Raw {
    match raw {
        Raw::Shown => Raw::Hidden,
        Raw::Hidden => Raw::Shown,
    }
}

/// Answers with an option that could be read.
fn choose(state: &mut App, cx: Cx<'_>, at: usize, out: &mut Vec<Out>) {
    if !cx.frame.options.contains(&at) {
        return;
    }
    match &state.view.dock.dialog {
        Some(Dialog::Permission(req)) => {
            let Some(pending) = cx.session.question(*req) else { return };
            if let Some(option) = pending.options.get(at) {
                if let Some(why) = withheld(state, cx, pending, option) {
                    let why = state.keys.say(Layer::Dock, why);
                    if state.view.dock.is_read() {
                        state.say_of_question(why, cx.now);
                    } else {
                        state.say_unread(why, cx.now);
                    }
                    return;
                }
                out.push(Out::Intent(Intent::Answer { req: *req, option: option.id.clone() }));
                answered(state, cx);
            }
        }
        Some(Dialog::LogIn) => {
            let Some(method) = cx.session.agent().auth_methods.get(at) else { return };
            match &method.kind {
                AuthKind::Env { vars, .. } => {
                    state.secrets = Some(Secrets::new(method.id.clone(), vars.clone(), Some(Keep::ThisRun)));
                }
                AuthKind::Typed { names } => {
                    state.secrets = Some(Secrets::new(method.id.clone(), names.clone(), None));
                }
                kind => {
                    let is_called = *kind == AuthKind::Agent;
                    state.view.enters_log_in = !is_called;
                    out.push(Out::Intent(Intent::Authenticate { method: method.id.clone() }));
                    // The keys of one that the agent does by itself are about it: its page, leaving it.
                    if !is_called {
                        state.view.focus = Focus::Composer;
                    }
                }
            }
        }
        _ => {}
    }
}

/// Why an answer that holds for good cannot be given yet, or not at all.
fn withheld(state: &App, cx: Cx<'_>, pending: &Question, option: &PermissionOption) -> Option<&'static str> {
    if !matches!(option.kind, PermissionKind::AllowAlways | PermissionKind::RejectAlways) {
        return None;
    }
    match state.view.dock.unshown() {
        Unshown::UntilOpened => return Some("{v} shows all that was sent · read that first · it holds for good"),
        Unshown::TooLong => return Some("withheld: it is too long to be shown as a whole · answer this once"),
        Unshown::Nothing | Unshown::Opened => {}
    }
    if !state.view.dock.is_read() {
        return Some("read to the end first · {PageDown} goes on · it holds for good");
    }
    let deceives = pending.deceives(cx.session.session());
    deceives.then_some("withheld: it holds hidden characters · answer this once")
}

/// Shows the page of the log-in, where its host can be told for certain.
fn open_page(state: &mut App, cx: Cx<'_>, out: &mut Vec<Out>) {
    match labels::log_in_page(cx.session) {
        None => state.say("no address was printed", cx.now),
        Some(page) => match address::host(&page) {
            Some(host) => {
                state.say(format!("opening {host}"), cx.now);
                out.push(Out::OpenPage(page));
            }
            None => state.say("not opened: its host may be another one than it looks like · c copies it", cx.now),
        },
    }
}

/// Copies the address that was printed, else the command of the method that is highlighted.
fn copy_page(state: &mut App, cx: Cx<'_>, out: &mut Vec<Out>) {
    if let Some(page) = labels::log_in_page(cx.session) {
        return out.push(Out::Copy(What::Address, page));
    }
    let highlighted = state.view.dock.highlighted.and_then(|at| cx.session.agent().auth_methods.get(at));
    match highlighted {
        Some(method) => copy_command(state, cx, method, out),
        None => state.say("highlight a way to log in first, with the arrows", cx.now),
    }
}

fn copy_command(state: &mut App, cx: Cx<'_>, method: &AuthMethod, out: &mut Vec<Out>) {
    match labels::login_command(&method.kind, cx.session.agent()) {
        Some(line) => out.push(Out::Copy(What::Command, line)),
        None => state.say("the agent does this one by itself: there is no command", cx.now),
    }
}
