//! What the right end of the dock says: where keys lead, and that there is more to be read.
//!
//! Decides nothing. Invariant: a key that is named works where the keyboard is now.

use super::choices::Choices;
use super::{Contents, Dock, RawLines, digits_answer, has_options};
use crate::base::human;
use crate::model::question;
use crate::text::width;
use crate::ui::keys::Layer;
use crate::ui::state::Focus;
use crate::ui::state::dock::Dialog;
use crate::ui::view::{ViewCx, dock_layer};

/// Columns of the key that leads back, of the one that leads there with a gap, of those that turn pages, and of the one that
/// shows what was sent.
const BACK: usize = 11;
const THERE: usize = 22;
/// There are no more keys that are digits.
const DIGITS: usize = 9;
const PAGES: usize = 29;
const SENT: usize = 12;

/// Whether keys go to something that lies over the composer.
fn is_covered(cx: &ViewCx<'_>) -> bool {
    cx.state.picker.is_some() || cx.state.help.is_some() || cx.state.types_a_line()
}

/// The digits that answer a question while the person may write, and the same in words.
struct Alone {
    digits: String,
    words: String,
}

/// Those of answers that last are not among them: they need more than a digit.
fn alone(cx: &ViewCx<'_>) -> Option<Alone> {
    let Some(Dialog::Permission(req)) = &cx.state.view.dock.dialog else { return None };
    let options = &cx.session.question(*req)?.options;
    let all = options.len().min(DIGITS);
    let once: Vec<String> =
        (1..=all).zip(options).filter(|(_, one)| !question::holds(one)).map(|(n, _)| n.to_string()).collect();
    Some(match &once[..] {
        [] => Alone { digits: String::new(), words: String::new() },
        [one] if all > 1 => Alone { digits: one.clone(), words: format!("{one} answers") },
        [one] => Alone { digits: one.clone(), words: "a digit answers".to_owned() },
        once if once.len() == all => Alone { digits: format!("1–{all}"), words: "a digit answers".to_owned() },
        [others @ .., last] => {
            let others = others.join(", ");
            Alone { digits: format!("{others}, {last}"), words: format!("{others} or {last} answers") }
        }
    })
}

/// Whether the words of further keys fit behind the answers, beside the others that stand there, whether or not the keyboard
/// is in the dock: no answer may move under the mouse because it is clicked.
pub(super) fn has_room(choices: &Choices, contents: &Contents, columns: u16, turns: bool) -> bool {
    let sent = if contents.raw == RawLines::Hidden { SENT } else { 0 };
    let others = THERE.max(BACK + if turns { PAGES } else { 0 } + sent);
    let room = usize::from(columns).saturating_sub(width::str_width(&contents.unnamed) + others);
    choices.widths().any(|wide| wide <= room)
}

/// Where keys lead, in many words and in few.
fn leads(dock: &Dock, cx: &ViewCx<'_>) -> [String; 3] {
    let (layer, all) = match &cx.state.view.focus {
        Focus::Dock if cx.state.refusal.is_some() => {
            (Layer::Line, ["{Esc} back to the question", "{Esc} back", "{Esc}"])
        }
        Focus::Dock if cx.state.view.dock.rule.is_some() => {
            (Layer::Rule, ["{Esc} back to the question", "{Esc} back", "{Esc}"])
        }
        Focus::Dock if cx.state.list.is_some() => (dock_layer(cx), ["{Esc} back to the list", "{Esc} back", "{Esc}"]),
        Focus::Dock => (dock_layer(cx), ["{Esc} back to writing", "{Esc} back", "{Esc}"]),
        Focus::Composer if cx.state.view.reading.is_some() => {
            (Layer::Reading, ["{Alt+P} to answer", "{Alt+P}", "{Alt+P}"])
        }
        _ if is_covered(cx) => {
            let layer = if cx.state.types_a_line() { Layer::Line } else { Layer::Picker };
            (layer, ["{Esc}, then {composer Tab} to answer", "{Esc}, {composer Tab}", "{Esc}"])
        }
        Focus::Composer if digits_answer(cx) => (Layer::Composer, ["{Tab} all keys", "", ""]),
        Focus::Composer if has_options(cx, &dock.dialog) => {
            let alone = ["Alt+digit to answer", "Alt+digit", "Alt+digit"];
            let keys = ["Alt+digit or {Tab} to answer", "{Tab} to answer", "{Tab}"];
            (Layer::Composer, if cx.say(Layer::Composer, "{Tab}").is_empty() { alone } else { keys })
        }
        Focus::Composer if cx.say(Layer::Composer, "{Tab}").is_empty() => {
            (Layer::Composer, ["{Alt+P} to answer", "{Alt+P}", "{Alt+P}"])
        }
        Focus::Composer => (Layer::Composer, ["{Tab} to answer", "{Tab}", "{Tab}"]),
        Focus::Review => (Layer::Review, ["{Alt+P} to answer", "{Alt+P}", "{Alt+P}"]),
        // Tab goes to the command.
        Focus::Terminal(_) => {
            (Layer::Terminal, ["{Ctrl+]}, then {composer Tab} to answer", "{Ctrl+]}, {composer Tab}", "{Ctrl+]}"])
        }
    };
    all.map(|words| cx.say(layer, words))
}

/// What the right end says, longest first.
pub(super) fn of(dock: &Dock, cx: &ViewCx<'_>) -> Vec<String> {
    let more = dock.scroll_max();
    let focus = &cx.state.view.focus;
    let focused = *focus == Focus::Dock;
    let [long, short, shortest] = leads(dock, cx);
    let answer = alone(cx).filter(|_| *focus == Focus::Composer && digits_answer(cx) && shortest.is_empty());
    let [long, short, shortest] = match answer {
        Some(Alone { digits, words }) => [and(&words, &long), words, digits],
        None => [long, short, shortest],
    };
    let there = there(dock, cx).then(|| format!("{short}, then {}", dock.unnamed));
    let (long, short, shortest) = (long.as_str(), short.as_str(), shortest.as_str());
    let hidden = dock.answers.hidden;
    let mut options = Vec::new();
    if hidden > 0 || dock.answers.below > 0 {
        let count = if hidden > 0 { format!("+{}", human::count(hidden as u64, "option")) } else { "more".to_owned() };
        let sign = match (dock.answers.above, hidden - dock.answers.above) {
            (0, _) => "↓",
            (_, 0) if dock.answers.below == 0 => "↑",
            _ => "↕",
        };
        options.push(if focused { format!("{count} {sign}") } else { count });
    }
    let joined = |first: Option<&str>, last: &str| {
        let parts = first.into_iter().chain(options.iter().map(String::as_str)).chain([last]);
        parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ")
    };
    // What else a key does here, where there is room for it.
    let is_told = focused && cx.state.refusal.is_none() && cx.state.view.dock.rule.is_none();
    let further = Some(&*dock.unnamed).filter(|words| is_told && !words.is_empty());
    let with = |last: &str| further.map(|words| and(words, last));
    let both = [with(long), with(short)];
    let raw = raw_hint(dock, cx);
    let mut hints = Vec::new();
    if more > 0 {
        let rows = format!("{}–{} of {}", dock.top + 1, dock.top + dock.shown, dock.body.len());
        let at = format!("rows {rows}");
        if focused {
            let pages = cx.state.keys.now(dock_layer(cx), "PageDown").map(|key| format!(", {key}")).unwrap_or_default();
            let at = format!("{at}{pages}");
            hints.extend(both.into_iter().flatten().map(|last| and(&at, &joined(raw.as_deref(), &last))));
            hints.push(and(&at, &joined(raw.as_deref(), long)));
            hints.push(and(&at, &joined(None, long)));
            hints.push(and(&at, &joined(None, shortest)));
        } else {
            hints.extend(there.iter().map(|there| and(&at, &joined(None, there))));
            hints.push(and(&at, &joined(None, long)));
        }
        // At the top it says that there is more, below it how far one has come.
        let rows = if dock.top > 0 { rows } else { format!("+{}", human::count(more as u64, "row")) };
        hints.extend([short, shortest].map(|last| and(&rows, &joined(None, last))));
        // That there is more is said in however few columns, and with the key if there are as many.
        let below = more.saturating_sub(dock.top);
        if below > 0 && options.is_empty() {
            let below = format!("+{below}");
            hints.push(and(&below, &joined(None, shortest)));
            let keys = shortest.replace(", ", ",");
            hints.push(and(&below, &keys));
            hints.push(format!("{below} {keys}").trim_end().to_owned());
            hints.push(below);
        }
    }
    if focused {
        hints.extend([long, short].into_iter().filter_map(with).map(|last| joined(raw.as_deref(), &last)));
        hints.push(joined(raw.as_deref(), long));
        hints.extend(with(short).map(|last| joined(None, &last)));
    }
    if !options.is_empty() {
        hints.extend([long, short, shortest].map(|last| joined(None, last)));
    }
    hints.extend(there);
    hints.extend([long.to_owned(), short.to_owned(), shortest.to_owned()]);
    hints
}

/// Whether it is told here what else a key does once the keyboard is in the dock.
fn there(dock: &Dock, cx: &ViewCx<'_>) -> bool {
    let writes = cx.state.view.focus == Focus::Composer && cx.state.view.reading.is_none() && !is_covered(cx);
    let leads = !digits_answer(cx) && !cx.say(Layer::Composer, "{Tab}").is_empty();
    writes && leads && has_options(cx, &dock.dialog) && !dock.unnamed.is_empty()
}

/// What is told first, and what comes behind it, where there is anything.
fn and(first: &str, then: &str) -> String {
    [first, then].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ")
}

fn raw_hint(dock: &Dock, cx: &ViewCx<'_>) -> Option<String> {
    let words = match dock.raw {
        RawLines::None => return None,
        RawLines::Hidden => "{v} as sent",
        RawLines::Shown => "{v} without what it sent",
    };
    cx.state.keys.hint(Layer::Dock, words)
}
