//! Keys while the composer has the focus. None of them answers anything.

use super::{Cx, common, is_cancellable, palette, sessions, shell, terminal, toggle_dock};
use crate::model::event::{Intent, Link, QueueAct};
use crate::model::login::LogIn;
use crate::model::options::Command;
use crate::model::permission_mode::{ModeChoice, PermissionMode};
use crate::ui::composer::Took;
use crate::ui::keys::{Action, Code, Key, Layer};
use crate::ui::labels;
use crate::ui::msg::{EditorJob, Out, ScrollBy, What};
use crate::ui::state::highlight::step;
use crate::ui::state::picker::Picker;
use crate::ui::state::timing::{LEAVING, TOAST};
use crate::ui::state::{App, Focus, Holds, Toast, names};

/// Prompts that are put aside at once.
const MAX_STASH: usize = 20;
/// Rows of one page of the answer to a side question.
const ASIDE_PAGE: isize = 8;
/// How many agents one prompt can be given to.
const FAN: std::ops::RangeInclusive<usize> = 2..=5;

pub(super) fn action(state: &mut App, cx: Cx<'_>, action: Action, out: &mut Vec<Out>) {
    match action {
        Action::ToggleFold if state.view.composer.unfold() => {}
        action if shell::action(state, cx, action, out) => {}
        Action::Submit | Action::Tab if state.lists_files() => choose_file(state),
        Action::Submit if completes(state, cx) => {}
        Action::Submit => submit(state, cx, out),
        Action::Escape => escape(state, cx, out),
        Action::CtrlD if state.view.composer.is_empty() => sessions::quit(state, cx, sessions::CTRL_D, out),
        Action::CtrlD => edit(state, Action::Delete),
        Action::Tab => tab(state, cx),
        Action::Up | Action::Down => vertical(state, cx, action),
        Action::Steer if state.asides.beside(cx.session.key()).is_some() => out.push(Out::Keep),
        Action::Steer => steer(state, cx, out),
        Action::PageUp | Action::PageDown if scroll_aside(state, cx, action) => {}
        Action::Prompts => prompts(state, cx, out),
        Action::Stash => stash(state, cx),
        Action::EditPrompt => {
            let (text, answer) = (state.view.composer.text().to_owned(), cx.session.last_answer().map(str::to_owned));
            out.push(Out::Edit(EditorJob::Prompt { text, answer }));
        }
        Action::Char(':') if is_free(state) => {
            state.picker = Some(palette::behind_colon(state, cx));
        }
        Action::TypeInto => terminal::take_over(state, cx, out),
        Action::KillCommand => terminal::kill(state, cx, out),
        action if action.is_edit() => {
            tell_of_dead_alt(state, cx, action);
            if action == Action::Char(':') {
                state.view.mentions.lines_follow(&mut state.view.composer);
            }
            edit(state, action);
        }
        _ => common(state, cx, action, out),
    }
}

/// Puts aside what is written; where nothing is, what was put aside last comes back.
fn stash(state: &mut App, cx: Cx<'_>) {
    if state.view.composer.is_shell() {
        return state.say("a command is not put aside", cx.now);
    }
    if !state.view.composer.is_empty() {
        if state.view.stash.len() >= MAX_STASH {
            return state.say(format!("{MAX_STASH} prompts are put aside already"), cx.now);
        }
        state.view.stash.push(state.view.composer.text().to_owned());
        state.view.composer.set_text("");
        let words = match state.view.stash.len() {
            1 => "put aside · with nothing written the same key brings it back".to_owned(),
            n => format!("put aside, {n} now · with nothing written the same key brings back the newest"),
        };
        return state.say(words, cx.now);
    }
    match state.view.stash.pop() {
        Some(text) => {
            state.view.composer.set_text(&text);
            match state.view.stash.len() {
                0 => state.say("back · nothing more is put aside", cx.now),
                n => state.say(format!("back · {n} still put aside"), cx.now),
            }
        }
        None => state.say("nothing is put aside", cx.now),
    }
}

/// What a key means where Vim's modes are wanted: something else than without them, or nothing more.
pub(super) fn modal(state: &mut App, cx: Cx<'_>, (key, action): (Key, Action), out: &mut Vec<Out>) -> Option<Action> {
    if !state.keys.is_modal() {
        return Some(action);
    }
    // A list goes away before the mode changes.
    if action == Action::Escape && state.lists(cx.session) {
        return Some(action);
    }
    match state.view.composer.modal(&mut state.vim, key) {
        Took::Passed => return Some(action),
        Took::Instead(other) => return Some(other),
        Took::Done => {}
        Took::Copied(text) => out.push(Out::Copy(What::Characters(text.chars().count()), text)),
    }
    state.view.dock.unstick();
    state.view.completion.selected = 0;
    None
}

/// The list of what was sent; what is written stays until one is chosen.
fn prompts(state: &mut App, cx: Cx<'_>, out: &mut Vec<Out>) {
    out.push(Out::ReadPrompts);
    state.picker = Picker::prompts(&state.prompts, &cx.session.cwd);
    if state.picker.is_none() {
        state.say("no prompt is remembered yet", cx.now);
    }
}

/// What Alt types on a Mac unless its terminal is told otherwise, and the key that does the same without it.
const DEAD: [(char, &str); 5] = [
    ('®', " · {F3} reviews"),
    ('©', " · {F4} is the gate"),
    ('π', " · {Tab} goes to the question"),
    ('∆', " · {F8} lists sessions"),
    ('˚', " · {F7} kills the command"),
];
/// What a terminal adds to a key with Alt that says it with the eighth bit.
const EIGHTH_BIT: u32 = 0x80;

/// Says so where Alt seems to write letters; what was typed stays.
fn tell_of_dead_alt(state: &mut App, cx: Cx<'_>, action: Action) {
    let Action::Char(c) = action else { return };
    if state.view.composer.is_empty()
        && let Some((_, instead)) = DEAD.iter().find(|(dead, _)| *dead == c)
    {
        let instead = state.keys.say(Layer::Composer, instead);
        state.say(format!("Alt does not arrive here{instead}"), cx.now);
    } else if !state.told_of_alt
        && let Some(key) = with_eighth_bit(c).filter(|key| seems_dead(state, c, *key))
    {
        state.told_of_alt = true;
        let instead = match key.code {
            Code::Char(digit) if digit.is_ascii_digit() => {
                state.keys.say(Layer::Composer, " · {Tab} goes to the question")
            }
            _ => {
                let instead = state.keys.without_alt(Layer::Composer, key);
                instead.map(|(key, what)| format!(" · {key}: {what}")).unwrap_or_default()
            }
        };
        state.say(format!("Alt+{} arrived as {c}: xterm's metaSendsEscape{instead}", key.letter()), cx.now);
    }
}

/// The key that was pressed with Alt where this stands for it.
fn with_eighth_bit(c: char) -> Option<Key> {
    let code = u32::from(c).checked_sub(EIGHTH_BIT)?;
    char::from_u32(code).filter(char::is_ascii_graphic).map(|c| Key::alt(Code::Char(c)))
}

/// Whether nobody would write this: a sign that begins nothing, or at the very beginning the same letter twice. One that
/// could begin a word does so where nothing is asked that Alt would have led to.
fn seems_dead(state: &App, c: char, key: Key) -> bool {
    let text = state.view.composer.text();
    let (begins, is_asked) = (text.is_empty(), state.view.dock.dialog.is_some());
    let does = state.keys.resolve(Layer::Composer, key);
    match does {
        None => false,
        Some(Action::Reply(_)) => begins,
        Some(Action::FocusDock) if is_asked && begins => true,
        Some(_) => text.chars().eq([c]) && c.is_alphabetic(),
    }
}

fn edit(state: &mut App, action: Action) {
    state.view.completion.selected = 0;
    // Only editing actions come here, so there is nothing to hear.
    let _ = state.view.composer.apply(action);
}

fn choose_file(state: &mut App) {
    let view = &mut state.view;
    view.mentions.choose(&mut view.composer);
}

/// Never an empty prompt. Whether it can go out now is the model's business; until then it is shown.
fn submit(state: &mut App, cx: Cx<'_>, out: &mut Vec<Out>) {
    if lets_go(state, cx) {
        return out.push(Out::Intent(Intent::Queue(QueueAct::LetGo)));
    }
    if state.view.composer.text().trim().is_empty() {
        if shell::waits(cx) {
            return state.say(
                state
                    .keys
                    .say(Layer::Composer, "write what the agent is to do with the output · {Enter} then sends both"),
                cx.now,
            );
        }
        if let Some(text) = state.offered_tour(cx.session).map(str::to_owned) {
            out.push(Out::Intent(Intent::Prompt { text, links: Vec::new() }));
        }
        return;
    }
    if cx.session.read_only().is_some() {
        return state.say(
            state.keys.say(Layer::Composer, "read only, so not sent · {Alt+T} goes on with its transcript"),
            cx.now,
        );
    }
    if let Some(question) = command(cx, state.view.composer.text(), "btw") {
        let _ = state.view.composer.take();
        if question.is_empty() {
            return state.say("write the question behind /btw", cx.now);
        }
        return out.push(Out::Aside(question));
    }
    if let Some(words) = command(cx, state.view.composer.text(), "fan-out") {
        return fan_out(state, cx, &words, out);
    }
    if let Some(text) = own_prompt(state, cx) {
        // Files that its words name are links like those of any prompt.
        state.view.composer.set_text(&text);
    }
    if sets_permissions(state, cx, out) || asks_about_name(state, cx) {
        return;
    }
    if std::mem::take(&mut state.view.edits_queued) {
        out.push(Out::Intent(Intent::Queue(QueueAct::PutBack)));
    }
    send(state, cx, |text, links| Intent::Prompt { text, links }, out);
}

/// `:permissions MODE`. False: it is none, or was said to be none and is sent all the same.
fn sets_permissions(state: &mut App, cx: Cx<'_>, out: &mut Vec<Out>) -> bool {
    let text = state.view.composer.text().trim().to_owned();
    let Some(wanted) = names::permissions(&text).filter(|_| !is_asked_about(state, &text)) else { return false };
    match ModeChoice::read(wanted) {
        Ok(choice) => {
            let _ = state.view.composer.take();
            let intent = Intent::SetPermissionMode(choice);
            if choice.mode == PermissionMode::BypassPermissions {
                state.picker = Some(Picker::sure(intent));
            } else {
                out.push(Out::Intent(intent));
            }
        }
        Err(why) => {
            let sends = state.keys.say(Layer::Composer, " · {Enter} again sends it to the agent");
            state.say_while(Holds::Written(text), format!("{why}{sends}"), cx.now);
        }
    }
    true
}

/// What looks like a name behind `:`, and is none, is sent by a second Enter; so is one that is known, with more behind it
/// than it takes here.
fn asks_about_name(state: &mut App, cx: Cx<'_>) -> bool {
    let text = state.view.composer.text().trim().to_owned();
    let Some(behind) = text.strip_prefix(':').filter(|_| !is_asked_about(state, &text)) else { return false };
    let is_word = behind.len() > 1 && behind.chars().all(|c| c.is_ascii_alphabetic() || c == '-');
    let first = behind.split_whitespace().next().unwrap_or_default();
    let why = match () {
        () if is_word => "nothing here is called that".to_owned(),
        () if names::is_one(first) && behind.starts_with(first) && !behind.contains('\n') => {
            format!(":{first} takes nothing behind it here")
        }
        () => return false,
    };
    let sends = state.keys.say(Layer::Composer, " · {Enter} again sends it to the agent");
    state.say_while(Holds::Written(text), format!("{why}{sends}"), cx.now);
    true
}

/// Whether it was said of this text that it is sent by a second Enter.
fn is_asked_about(state: &App, text: &str) -> bool {
    matches!(&state.toast, Some(Toast { holds: Holds::Written(asked), .. }) if asked == text)
}

/// Whether Enter sends the prompts that are held.
pub(super) fn lets_go(state: &App, cx: Cx<'_>) -> bool {
    is_free(state) && cx.session.can_let_go()
}

/// What is written goes out, and what the person's commands have printed with it.
fn send(state: &mut App, cx: Cx<'_>, intent: fn(String, Vec<Link>) -> Intent, out: &mut Vec<Out>) {
    let written = state.view.composer.take();
    state.vim.begin_anew();
    state.view.completion.closed_at = None;
    let links = state.view.mentions.links(&written, &cx.session.cwd);
    match shell::along(cx, &written) {
        Some((text, ran)) => {
            out.push(Out::Send { written, intent: intent(text, links) });
            out.extend(ran.into_iter().map(|term| Out::Intent(Intent::ForgetShell(term))));
        }
        None => out.push(Out::Intent(intent(written, links))),
    }
    out.push(Out::Scroll(ScrollBy::End));
}

/// What is written goes into the turn that runs. What that means with this agent is said.
fn steer(state: &mut App, cx: Cx<'_>, out: &mut Vec<Out>) {
    let is_running = cx.session.turn.as_ref().is_some_and(|turn| turn.cancelling.is_none());
    if !is_running || cx.session.read_only().is_some() || state.view.composer.text().trim().is_empty() {
        if state.view.composer.is_blank() && !lets_go(state, cx) {
            return state.say("write first what is to be sent into the turn", cx.now);
        }
        return submit(state, cx, out);
    }
    state.view.edits_queued = false;
    send(state, cx, |text, links| Intent::Steer { text, links }, out);
    if !cx.session.agent().caps.steers {
        state.say(labels::STOPS_FIRST, cx.now);
    }
}

/// False when there is nothing of a side question to scroll.
fn scroll_aside(state: &mut App, cx: Cx<'_>, action: Action) -> bool {
    let max = cx.frame.aside_scroll_max;
    let Some(aside) = state.asides.beside_mut(cx.session.key()).filter(|_| max > 0) else { return false };
    let by = if action == Action::PageUp { -ASIDE_PAGE } else { ASIDE_PAGE };
    aside.scroll = aside.scroll.min(max).saturating_add_signed(by).min(max);
    true
}

/// What stands behind a command of ours, unless the agent has one of that name.
fn command(cx: Cx<'_>, text: &str, name: &str) -> Option<String> {
    let rest = text.trim().strip_prefix('/')?.strip_prefix(name)?;
    let is_command = rest.is_empty() || rest.starts_with(char::is_whitespace);
    let is_the_agents = cx.session.commands.iter().any(|command| command.name == name);
    (is_command && !is_the_agents).then(|| rest.trim().to_owned())
}

/// What one of the person's own prompts says, where its name is written.
fn own_prompt(state: &App, cx: Cx<'_>) -> Option<String> {
    let text = state.view.composer.text();
    state.own_prompts.iter().find_map(|prompt| Some(prompt.with(&command(cx, text, &prompt.command.name)?)))
}

/// One prompt to several agents; what was written stays until it can be done.
fn fan_out(state: &mut App, cx: Cx<'_>, words: &str, out: &mut Vec<Out>) {
    let (names, prompt) = words.split_once(char::is_whitespace).unwrap_or((words, ""));
    let agents: Vec<String> = names.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect();
    if !FAN.contains(&agents.len()) || prompt.trim().is_empty() {
        return state.say("write two to five agents and the prompt: /fan-out ONE,TWO PROMPT", cx.now);
    }
    let _ = state.view.composer.take();
    out.push(Out::FanOut(agents, prompt.trim().to_owned()));
}

/// Stops the turn, or the new start that an agent would get by itself; an open list of commands or answer to a side question is closed first, a
/// log-in that is under way is left.
fn escape(state: &mut App, cx: Cx<'_>, out: &mut Vec<Out>) {
    let dock = &mut state.view.dock;
    if dock.is_sticky(cx.now) && dock.dialog.is_some() {
        dock.unstick();
        state.view.left_dock = Some(cx.now);
        return;
    }
    dock.unstick();
    // A second Esc that only leaves the question is no wish to stop what waits for its answer.
    if state.view.left_dock.is_some_and(|at| cx.now < at.saturating_add(LEAVING)) {
        return;
    }
    let text = state.view.composer.text();
    let leaves = state.lists(cx.session) || state.asides.beside(cx.session.key()).is_some();
    if leaves {
        state.view.left_dock = Some(cx.now);
    }
    if state.lists_files() {
        state.view.mentions.close(&state.view.composer);
    } else if state.lists(cx.session) {
        state.view.completion.closed_at = Some(text.to_string());
    } else if state.asides.beside(cx.session.key()).is_some() {
        out.push(Out::ThrowAway);
    } else if cx.session.agent().revival.is_some() {
        out.push(Out::Intent(Intent::LetRest));
    } else if cx.session.log_in().is_some_and(LogIn::is_called) {
        out.push(Out::Intent(Intent::LeaveAuthentication));
    } else if is_cancellable(cx.session) {
        out.push(Out::Intent(Intent::Cancel));
    } else if state.view.dock.dialog == Some(crate::ui::state::dock::Dialog::Unconfirmed) {
        let words = state.keys.say(Layer::Composer, "already asked to stop · {Tab}, then {question k} ends the agent");
        state.say_while(Holds::Unconfirmed, words, cx.now);
    }
}

/// Completes a command when the list is open, else goes to what waits in the dock.
fn tab(state: &mut App, cx: Cx<'_>) {
    if let Some(Command { name, .. }) = state.marked_name(cx.session) {
        let text = format!("/{name} ");
        state.view.composer.set_text(&text);
        state.view.completion.selected = 0;
    } else if state.view.dock.dialog.is_some() {
        toggle_dock(state, cx);
    } else if state.view.review_here().is_some() {
        state.view.focus = Focus::Review;
    } else if !cx.frame.earlier.is_empty() && is_free(state) {
        state.chooses_until = Some(cx.now.saturating_add(TOAST));
        let words = "a digit goes on with that session · any other key is text";
        state.say_while(Holds::Chooses, words, cx.now);
    }
}

/// Writes the marked command in place of what is typed; true where that waits for words, or is not sent yet.
fn completes(state: &mut App, cx: Cx<'_>) -> bool {
    let Some(Command { name, hint, .. }) = state.marked_name(cx.session) else { return false };
    let (text, wants_words) = (format!("/{name}"), hint.as_deref().is_some_and(|hint| !hint.is_empty()));
    if state.view.composer.text() == text {
        return false;
    }
    state.view.composer.set_text(&if wants_words { text + " " } else { text });
    state.view.completion.selected = 0;
    wants_words
}

/// Nothing is written, and no command is about to be.
fn is_free(state: &App) -> bool {
    state.view.composer.is_empty() && !state.view.composer.is_shell()
}

/// Moves in the list of commands, goes to the prompts that wait, else moves in the text and its history.
fn vertical(state: &mut App, cx: Cx<'_>, action: Action) {
    let listed = state.names(cx.session).len();
    let files = if state.lists_files() { state.view.mentions.listed(&state.view.composer).len() } else { 0 };
    if files > 0 {
        let by = if action == Action::Up { -1 } else { 1 };
        state.view.mentions.selected = step(state.view.mentions.selected, by, files);
    } else if listed > 0 {
        let by = if action == Action::Up { -1 } else { 1 };
        state.view.completion.selected = step(state.view.completion.selected, by, listed);
    } else if action == Action::Up && is_free(state) && !cx.session.held.is_empty() {
        state.view.queued = Some(0);
    } else {
        edit(state, action);
    }
}
