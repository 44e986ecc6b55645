//! Inputs change the state of the screen and say what else is to be done. Ordinary functions: nothing here waits.
//!
//! Invariant: no key, paste or click answers a question that was not drawn, or whose keys do not count yet (see
//! `state::dock`); nor does any unless the person has moved the focus to the dock, presses a digit with Alt, or has just
//! answered by hand, has written nothing since, and presses a digit. Nothing that is being written ever does, nor a key
//! that came together with others.

mod asked;
mod composer;
mod dock;
mod inspector;
mod mode;
mod palette;
mod picker;
mod queue;
pub mod reading;
pub mod review;
mod rule;
mod secrets;
mod selecting;
mod session_list;
mod sessions;
mod shell;
mod terminal;

use super::composer::dropped;
use super::keys::live::label;
use super::keys::{Action, Code, Key, Layer, Mods, Mouse, pasted};
use super::msg::{FrameInfo, Out, ScrollBy, What};
use super::state::dock::Neighbour;
use super::state::picker::{Picker, Purpose};
use super::state::timing::{BURST, TOAST};
use super::state::{App, Chord, Focus, Help, Holds, PANEL_FROM};
use super::tty::{Click, Input};
use crate::base::sanitize;
use crate::model::Model;
use crate::model::changes::{Gate, Scope};
use crate::model::effect::FrontEnd;
use crate::model::entries::Slot;
use crate::model::entry::Body;
use crate::model::event::Intent;
use crate::model::history::{History, Kind};
use crate::model::ids::{Address, Addressed, EntryId, Now};
use crate::model::ruling::RuleWish;
use crate::model::session_ref::SessionRef;
use crate::ui::labels;
use ratatui::layout::Position;

/// Rows that one notch of the wheel scrolls.
const WHEEL: i32 = 3;

/// What update functions may read.
#[derive(Clone, Copy, Debug)]
pub struct Cx<'a> {
    pub model: &'a Model,
    /// The one that is shown.
    pub session: SessionRef<'a>,
    /// Where its entries are that have left memory.
    pub history: &'a dyn History,
    pub frame: &'a FrameInfo,
    pub now: Now,
}

/// One input of the person.
pub fn input(state: &mut App, cx: Cx<'_>, input: Input) -> Vec<Out> {
    let mut out = Vec::new();
    state.sync(cx.model, cx.now);
    state.view.edits_queued &= !state.view.composer.is_empty();
    if matches!(input, Input::Paste(_) | Input::Mouse { .. }) {
        (state.chord, state.chooses_until) = (None, None);
    }
    let goes_on = match input {
        Input::Key(key) | Input::Hasty(key) => state.keys.resolve(state.layer(), key) == Some(Action::NextMode),
        Input::Paste(_) | Input::Mouse { .. } => false,
        Input::Resize(..) | Input::Focus(_) | Input::Told(_) => true,
    };
    // What is done next is done in the mode that was chosen.
    if !goes_on && let Some(intent) = state.view.take_chosen_mode() {
        out.push(Out::Intent(intent));
    }
    match input {
        Input::Key(key) | Input::Hasty(key) if follows_hasty(state, cx, key) => too_soon(state, cx),
        Input::Hasty(key) if decides(state, cx, key) => {
            too_soon(state, cx);
            if let Code::Char(digit) = key.code
                && key.is_digit()
                && digits_answer(state, state.layer(), cx.now)
            {
                dock::keep(state, cx, digit);
            }
        }
        Input::Key(key) | Input::Hasty(key) => {
            let before = over_writing(state);
            let leaves = state.keys.resolve(state.layer(), key) == Some(Action::Escape);
            self::key(state, cx, key, &mut out);
            // Whatever was left with Esc: a second one soon after is no wish to stop the turn.
            if leaves && before && !over_writing(state) {
                state.view.left_dock = Some(cx.now);
            }
        }
        Input::Paste(text) => paste(state, cx, &text, &mut out),
        Input::Mouse { what, x, y } => mouse(state, cx, what, Position { x, y }, &mut out),
        Input::Resize(..) | Input::Focus(_) | Input::Told(_) => {}
    }
    state.check_toast(cx.session);
    out
}

/// A key that decides came together with others.
fn too_soon(state: &mut App, cx: Cx<'_>) {
    let words = "too soon: press it once more, by itself";
    if state.view.focus == Focus::Review {
        state.view.hasty_at = Some(cx.now);
        state.say(words, cx.now);
    } else {
        state.say_of_question(words, cx.now);
    }
}

/// Whether a letter came with a key of the review that was too soon: it was written behind that, and is no key by itself.
fn follows_hasty(state: &App, cx: Cx<'_>, key: Key) -> bool {
    let is_near = state.view.hasty_at.is_some_and(|at| cx.now < at.saturating_add(BURST));
    let is_letter = matches!(key.code, Code::Char(_)) && !key.mods.alt && !key.mods.ctrl;
    is_near && is_letter && matches!(state.layer(), Layer::Review | Layer::ReviewConfirm)
}

/// News of the engine that concern what the person is doing.
pub fn news(state: &mut App, news: Addressed<FrontEnd>, now: Now) {
    let at = match news.at {
        Address::Session(key) => key,
        Address::All | Address::Agent(_) => state.shown(),
    };
    let is_shown = at == state.shown();
    match news.what {
        FrontEnd::Returned(text) => {
            if let Some(view) = state.view_of(at) {
                view.composer.prepend(&text);
            }
        }
        // The transcript has the whole of it.
        FrontEnd::Withdrawn(gone) if is_shown => state.say(format!("no longer asked, {}", gone.why.words()), now),
        FrontEnd::Said(words) if is_shown => state.say(sanitize::line(&words), now),
        FrontEnd::LogInWaits(words) => state.say(words, now),
        // What is thrown away is no news.
        FrontEnd::Deleted(id, _) if state.asides.is_gone(&id) => {}
        FrontEnd::Deleted(_, Ok(())) => state.say("the agent has deleted the session", now),
        FrontEnd::Deleted(_, Err(why)) => {
            let why = sanitize::line(&why);
            let again = state.keys.say(Layer::Sessions, " · {Delete} again forgets it here");
            state.say(format!("kept: {why}{again}"), now);
        }
        FrontEnd::TurnEnded(..) => {
            if let Some(view) = state.view_of(at).filter(|_| !is_shown) {
                view.has_news = true;
            }
        }
        FrontEnd::LoggedOut(Ok(())) => state.say("logged out", now),
        FrontEnd::LoggedOut(Err(why)) => state.say(format!("not logged out: {}", sanitize::line(&why)), now),
        FrontEnd::Withdrawn(_)
        | FrontEnd::Said(_)
        | FrontEnd::TurnReviewed(_)
        | FrontEnd::Asked(_)
        | FrontEnd::Listed => {}
    }
}

/// Whether Esc has something to leave before it stops the turn.
fn over_writing(state: &App) -> bool {
    state.layer() != Layer::Composer || state.view.composer.is_shell()
}

/// Whether a key would answer or decide something.
fn decides(state: &App, cx: Cx<'_>, key: Key) -> bool {
    let layer = state.layer();
    // What is looked for may be typed and sent off in one go.
    if state.is_searching() {
        return false;
    }
    if let Some(chord) = state.chord.as_ref().filter(|chord| chord.layer == layer) {
        let keys = [chord.keys.as_slice(), &[key]].concat();
        return state.keys.chord(layer, &keys).is_some_and(|action| layer.decides(action));
    }
    let action = state.keys.resolve(layer, key);
    let lets_go = layer == Layer::Composer && action == Some(Action::Submit) && composer::lets_go(state, cx);
    lets_go
        || action.is_some_and(|action| layer.decides(action))
        || key.is_digit() && digits_answer(state, layer, cx.now)
}

/// Whether a single letter or digit decides something now.
pub fn weighs(state: &App, now: Now) -> bool {
    let layer = state.layer();
    matches!(layer, Layer::Dock | Layer::Review | Layer::ReviewConfirm) || digits_answer(state, layer, now)
}

/// Whether a digit answers while the composer has the focus.
fn digits_answer(state: &App, layer: Layer, now: Now) -> bool {
    let dock = &state.view.dock;
    let is_asked = layer == Layer::Composer && dock.dialog.is_some() && dock.is_sticky(now);
    is_asked && state.view.composer.is_empty() && !state.commands()
}

fn key(state: &mut App, cx: Cx<'_>, key: Key, out: &mut Vec<Out>) {
    let layer = state.layer();
    // Esc and what is typed behind it arrive as one key where a terminal sends both at once.
    let leaves_insertion = key.mods.alt && !state.vim.commands() && state.keys.is_modal();
    if leaves_insertion && layer == Layer::Composer && matches!(key.code, Code::Char(_)) {
        self::key(state, cx, Key::plain(Code::Esc), out);
        return self::key(state, cx, Key { mods: Mods { alt: false, ..key.mods }, ..key }, out);
    }
    if layer == Layer::Terminal {
        return terminal::key(state, key, out);
    }
    let chooses = state.chooses_until.take().is_some_and(|until| cx.now < until) && layer == Layer::Composer;
    if let (true, Code::Char(digit)) = (chooses, key.code)
        && key.is_digit()
        && session_list::go_on_with(state, cx, digit.to_digit(10).map_or(0, |digit| digit as usize), out)
    {
        return;
    }
    let begun = state.chord.take().filter(|chord| chord.layer == layer).map(|chord| chord.keys);
    let (is_chord, keys) = (begun.is_some(), [begun.unwrap_or_default(), vec![key]].concat());
    if state.keys.begins(layer, &keys) {
        state.say_while(Holds::Begun, format!("{} …", label(&keys)), cx.now);
        state.chord = Some(Chord { layer, keys, until: cx.now.saturating_add(TOAST) });
        return;
    }
    let meant = if is_chord { state.keys.chord(layer, &keys) } else { state.keys.resolve(layer, key) };
    let Some(action) = meant else {
        if is_chord && key != Key::plain(Code::Esc) {
            state.say(format!("{} means nothing here", label(&keys)), cx.now);
        }
        return;
    };
    if selecting::ends(state, cx, action, out) {
        return;
    }
    // Only the key that said what it does when it comes again does that.
    let asks = Some(action).filter(|action| matches!(action, Action::CtrlC | Action::CtrlD | Action::QuitDock));
    if asks.is_none() || state.quit_asked_by != asks {
        (state.quit_armed_until, state.quit_asked_by) = (None, asks);
    }
    if let Some(armed) = state.close_armed.take() {
        match action {
            // Keeps the session, and does nothing else: a turn goes on.
            Action::Escape => return,
            Action::CloseSession => state.close_armed = Some(armed),
            _ => {}
        }
    }
    if state.opener.is_some() {
        return sessions::opener(state, cx, action, out);
    }
    if state.secrets.is_some() {
        return secrets::action(state, cx, action, out);
    }
    if state.refusal.is_some() {
        return dock::refusal(state, cx, action, out);
    }
    if state.help.is_some() {
        return picker::help(state, cx, action);
    }
    if state.picker.is_some() {
        return picker::action(state, cx, action, out);
    }
    if state.list.is_some() && !state.answers_from_list() {
        return session_list::action(state, cx, action, out);
    }
    if state.inspector.is_some() && state.view.focus == Focus::Composer {
        return inspector::action(state, cx, action, out);
    }
    if state.view.reading.is_some() && state.view.focus == Focus::Composer {
        return reading::action(state, cx, action, out);
    }
    if layer == Layer::Queue {
        return queue::action(state, cx, action, out);
    }
    match state.view.focus {
        Focus::Dock if layer == Layer::Form => asked::action(state, cx, action, out),
        Focus::Dock if state.view.dock.rule.is_some() => rule::action(state, cx, action, out),
        Focus::Dock => dock::action(state, cx, action, out),
        Focus::Review => review::action(state, cx, action, out),
        Focus::Composer if is_chord => {
            state.view.dock.unstick();
            composer::action(state, cx, action, out);
        }
        Focus::Composer | Focus::Terminal(_) => {
            if !terminal::is_stray(state, cx, action) && !is_for_question(state, cx, (key, action), out) {
                let begun = dock::untaken(state, cx).filter(|_| matches!(action, Action::Char(_)) && !state.commands());
                if let Some(text) = begun.filter(|_| state.view.composer.is_empty()) {
                    text.chars().for_each(|one| _ = state.view.composer.apply(Action::Char(one)));
                }
                let Some(action) = composer::modal(state, cx, (key, action), out) else { return };
                use Action::{Escape, PageDown, PageUp, Reply, ToggleFold};
                // Esc looks itself whether it ends that.
                if !matches!(action, PageUp | PageDown | ToggleFold | Reply(_) | Escape) {
                    state.view.dock.unstick();
                }
                composer::action(state, cx, action, out);
            }
        }
    }
}

/// Whether a digit went to the question that follows one that was just answered, or `!` was kept from beginning a command.
fn is_for_question(state: &mut App, cx: Cx<'_>, (key, action): (Key, Action), out: &mut Vec<Out>) -> bool {
    match state.keys.resolve(Layer::Dock, key) {
        Some(Action::Answer(number)) if !state.commands() => dock::sticks(state, cx, number, out),
        _ => dock::holds_mark(state, cx, action),
    }
}

/// What a key does with any focus.
fn common(state: &mut App, cx: Cx<'_>, action: Action, out: &mut Vec<Out>) {
    match action {
        Action::CtrlC => ctrl_c(state, cx, out),
        Action::NextMode | Action::NextGate | Action::OptionsList if cx.session.is_only_reviewed() => {
            state.say("no agent runs here: this is the review of an earlier session", cx.now);
        }
        Action::NextMode => mode::next(state, cx),
        Action::NextGate => {
            let gate = cx.session.gate().next();
            out.push(Out::Intent(Intent::SetGate(gate)));
            let words = match gate {
                Gate::Ask | Gate::Hold if cx.session.agent().caps.works_alone => labels::GATE_IN_VAIN,
                gate => labels::gate(gate, cx.session.changes().is_on),
            };
            state.say(words, cx.now);
        }
        Action::OptionsList => {
            let confined = cx.session.agent().confined.iter();
            let confined = confined.flat_map(|one| labels::confined(one, &cx.session.cwd)).collect();
            state.picker = Some(Picker::open(cx.session, confined));
            if cx.session.rules.are_there() {
                out.push(Out::Intent(Intent::Rules(RuleWish::List)));
            }
        }
        Action::Palette => state.picker = Some(palette::open(state, cx)),
        Action::NewSession => out.push(Out::ListAgents(Purpose::Session)),
        Action::HandOver => sessions::hand_over(state, cx, out),
        Action::GoOnAnew => sessions::go_on_anew(state, cx, out),
        Action::NextSession => sessions::go(state, cx, Neighbour::Next, out),
        Action::PreviousSession => sessions::go(state, cx, Neighbour::Previous, out),
        Action::CloseSession => sessions::close(state, cx, out),
        Action::Sessions => session_list::open(state, cx, out),
        Action::NextWaiting => session_list::next_waiting(state, cx, out),
        Action::Inspect => inspector::toggle(state, cx),
        Action::OpenReview => review::toggle(state, cx, out),
        Action::CopyAnswer => match cx.session.last_answer() {
            Some(answer) => {
                let answer = sanitize::copied(answer).into_owned();
                out.push(Out::Copy(What::Characters(answer.chars().count()), answer));
            }
            None => state.say("no answer to copy yet", cx.now),
        },
        Action::Read => reading::begin(state, cx, out),
        Action::ToggleFold => toggle_newest(state, cx, out),
        Action::PageUp | Action::DockPageUp if review::page_from_outside(state, -1) => {}
        Action::PageDown | Action::DockPageDown if review::page_from_outside(state, 1) => {}
        Action::PageUp | Action::DockPageUp => out.push(Out::Scroll(ScrollBy::Pages(-1))),
        Action::PageDown | Action::DockPageDown => out.push(Out::Scroll(ScrollBy::Pages(1))),
        Action::WheelUp => out.push(Out::Scroll(ScrollBy::Rows(-WHEEL))),
        Action::WheelDown => out.push(Out::Scroll(ScrollBy::Rows(WHEEL))),
        Action::ToTop => out.push(Out::Scroll(ScrollBy::Top)),
        Action::ToEnd => out.push(Out::Scroll(ScrollBy::End)),
        Action::Panel => panel(state, cx),
        Action::MouseToggle if state.is_inline => {
            state.say(
                state.keys.say(Layer::Composer, "inline, the mouse is the terminal's · {F11} goes to the full screen"),
                cx.now,
            );
        }
        Action::MouseToggle => {
            let (mouse, words) = match state.mouse {
                Mouse::Ours => (Mouse::Free, "the mouse is the terminal's now · {F12} takes it back"),
                Mouse::Free => (Mouse::Ours, "the mouse scrolls, folds and selects again"),
            };
            state.mouse = mouse;
            state.say(state.keys.say(Layer::Composer, words), cx.now);
            out.push(Out::Mouse(mouse));
        }
        Action::Inline => state.is_inline = !state.is_inline,
        Action::Suspend => out.push(Out::Suspend),
        Action::Redraw => out.push(Out::Redraw),
        Action::Help => state.help = Some(Help::default()),
        Action::FocusDock => toggle_dock(state, cx),
        Action::Reply(number) => dock::reply(state, cx, number, out),
        _ => {}
    }
}

/// What is said of what was cleared.
fn cleared(state: &App, words: &'static str) -> String {
    state.keys.hint(Layer::Composer, words).unwrap_or_else(|| "cleared".to_owned())
}

/// Clears what is written, else interrupts a command of the person's, else stops the turn; a second within the window quits.
fn ctrl_c(state: &mut App, cx: Cx<'_>, out: &mut Vec<Out>) {
    if state.quit_armed_until.take().is_some() {
        return out.push(Out::Quit);
    }
    if state.view.composer.is_shell() {
        let had_words = !state.view.composer.is_empty();
        state.view.composer.leave_shell();
        return state.say(
            cleared(state, if had_words { "cleared, ! and {Up} bring it back" } else { "back to writing" }),
            cx.now,
        );
    }
    if !state.view.composer.is_empty() {
        state.view.composer.clear();
        return state.say(cleared(state, "cleared, {Up} brings it back"), cx.now);
    }
    if shell::interrupt(state, cx, out) {
        return;
    }
    if is_cancellable(cx.session) {
        out.push(Out::Intent(Intent::Cancel));
        // What ran or was asked until now is no more when this is read.
        return sessions::ask_to_quit(state, None, cx.now);
    }
    sessions::ask_to_quit(state, sessions::alive(state, cx), cx.now);
}

/// Shows or hides the panel of wide screens.
fn panel(state: &mut App, cx: Cx<'_>) {
    if cx.frame.panel.is_empty() && cx.frame.transcript.width < PANEL_FROM {
        let words = match state.view.review_here() {
            Some(_) => "the panel has no room beside the review".to_owned(),
            None => format!("the panel needs {PANEL_FROM} columns"),
        };
        return state.say(words, cx.now);
    }
    state.hides_panel = !state.hides_panel;
}

fn is_cancellable(session: SessionRef<'_>) -> bool {
    session.turn.as_ref().is_some_and(|t| t.cancelling.is_none())
}

fn toggle_dock(state: &mut App, cx: Cx<'_>) {
    match (&state.view.focus, &state.view.dock.dialog) {
        (Focus::Dock, _) => dock::leave(state, cx),
        (_, Some(_)) => {
            state.to_question();
        }
        (_, None) => state.say_while(Holds::NothingWaits, "nothing waits for you", cx.now),
    }
}

/// Pasted text is text with any focus: it never answers anything.
fn paste(state: &mut App, cx: Cx<'_>, text: &str, out: &mut Vec<Out>) {
    state.quit_armed_until = None;
    state.close_armed = None;
    if let Some(opener) = &mut state.opener {
        return opener.line.paste(&text.replace(['\n', '\r'], " "));
    }
    if let Some(form) = &mut state.secrets {
        return form.type_text(text.trim());
    }
    if let Some(refusal) = &mut state.refusal {
        return refusal.line.paste(&text.replace(['\n', '\r'], " "));
    }
    if let Some(picker) = &mut state.picker {
        return picker.type_text(text);
    }
    if let Some(list) = state.list.as_mut().filter(|_| state.help.is_none()) {
        return list.type_text(text);
    }
    if let Some(inspector) = state.inspector.as_mut().filter(|_| state.view.focus == Focus::Composer) {
        return inspector.type_text(text);
    }
    state.help = None;
    if asked::paste(state, text) {
        return;
    }
    if let (Focus::Dock, Some(draft)) = (&state.view.focus, &mut state.view.dock.rule) {
        return rule::paste(draft, text, out);
    }
    reading::leave(state, cx);
    state.view.queued = None;
    match &state.view.focus {
        Focus::Review => review::paste(state, cx, text),
        Focus::Terminal(id) => out.push(Out::Type(id.clone(), pasted(text))),
        Focus::Composer | Focus::Dock => {
            if !terminal::is_stray(state, cx, Action::Newline) {
                state.view.dock.unstick();
                state.view.composer.paste_folded(dropped::mention(text).as_deref().unwrap_or(text));
            }
        }
    }
}

fn mouse(state: &mut App, cx: Cx<'_>, what: Click, at: Position, out: &mut Vec<Out>) {
    if what == Click::Left {
        selecting::forget(state);
    }
    match what {
        Click::WheelUp | Click::WheelDown => {
            let by = if what == Click::WheelUp { -WHEEL } else { WHEEL };
            if let Some(Help { top, .. }) = &mut state.help {
                *top = top.saturating_add_signed(by as isize).min(cx.frame.help_scroll_max);
            } else if let Some(inspector) = state.inspector.as_mut().filter(|_| !cx.frame.dock.contains(at)) {
                inspector.step(by as isize);
            } else if let Some(list) = state.list.as_mut().filter(|_| !cx.frame.dock.contains(at)) {
                if list.asks.is_none() {
                    list.step(by as isize);
                }
            } else if cx.frame.dock.contains(at) && cx.frame.dock_scroll_max > 0 {
                dock::scroll(state, cx, by as isize);
            } else if !review::wheel(state, cx, at, by as isize) {
                out.push(Out::Scroll(ScrollBy::Rows(by)));
            }
        }
        Click::Left if at.y == 0 && cx.frame.sessions.iter().any(|(columns, _)| columns.contains(&at.x)) => {
            let hit = cx.frame.sessions.iter().find(|(columns, _)| columns.contains(&at.x));
            out.extend(hit.map(|(_, key)| Out::Show(*key)));
        }
        Click::Left if state.help.is_none() && state.list.is_some() => {
            let hit = cx.frame.list.rows.iter().find(|(row, _)| *row == at.y).map(|(_, row)| *row);
            if let (Some(list), Some(row)) = (&mut state.list, hit)
                && list.asks.is_none()
            {
                list.select(row);
                state.view.focus =
                    if state.view.focus == Focus::Dock { Focus::Composer } else { state.view.focus.clone() };
                session_list::action(state, cx, Action::Accept, out);
            }
        }
        Click::Left if cx.frame.dock.contains(at) && state.help.is_none() && !state.types_a_line() => {
            if !selecting::press_asked(state, cx, at) {
                dock::click(state, cx, at, out);
            }
        }
        Click::Left if state.help.is_none() && review::click(state, cx, at, out) => {}
        Click::Left if state.help.is_none() && cx.frame.transcript.contains(at) => selecting::press(state, at),
        Click::Drag if selecting::drag_asked(state, cx, at) || review::drag(state, cx, at) => {}
        Click::Drag => selecting::drag(state, cx, at, out),
        Click::Up => {
            if selecting::release_asked(state, cx, at, out) {
                dock::click(state, cx, at, out);
            }
            review::release(state, out);
            if selecting::release(state, at, out) {
                click(state, cx, at, out);
            }
        }
        Click::Left => {}
    }
}

/// A click into the conversation: what is there is unfolded or folded, or its review is opened.
fn click(state: &mut App, cx: Cx<'_>, at: Position, out: &mut Vec<Out>) {
    if let Some(row) = cx.frame.earlier.iter().position(|(row, _)| *row == at.y) {
        _ = session_list::go_on_with(state, cx, row + 1, out);
        return;
    }
    let Some((_, entry)) = cx.frame.hits.iter().find(|(row, _)| *row == at.y) else { return };
    match cx.session.entries().get(*entry).map(|e| &e.body) {
        Some(Body::Changes(changes)) if changes.totals.is_empty() => {}
        Some(Body::Changes(changes)) => review::open(state, cx, Scope::Turn(changes.turn.0), out),
        _ if can_fold(cx, *entry) => out.push(Out::FoldInPlace(*entry)),
        _ => {}
    }
}

/// How far it is unfolded then, only the transcript knows.
fn can_fold(cx: Cx<'_>, id: EntryId) -> bool {
    let entries = cx.session.entries();
    let slot = entries.index_of(id).and_then(|index| entries.slot(index));
    slot.is_some_and(|slot| folds(slot) || matches!(slot.kind(), Kind::User | Kind::Plan))
}

fn folds(slot: &Slot) -> bool {
    matches!(slot.kind(), Kind::Tool | Kind::Thought)
}

fn toggle_newest(state: &mut App, cx: Cx<'_>, out: &mut Vec<Out>) {
    match cx.session.entries().slots().rposition(folds) {
        Some(newest) => out.push(Out::Fold(cx.session.entries().id_at(newest))),
        None => state.say("nothing to unfold yet", cx.now),
    }
}

#[cfg(test)]
#[path = "update_tests.rs"]
mod tests;
