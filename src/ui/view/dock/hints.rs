//! What the right end of the dock says: where keys lead, and that there is more to be read.
//!
//! Decides nothing. Invariant: a key that is named works where the keyboard is now.

use super::{Dock, RawLines, digits_answer, has_options};
use crate::base::human;
use crate::ui::state::Focus;
use crate::ui::state::dock::Dialog;
use crate::ui::view::ViewCx;

/// Whether keys go to something that lies over the composer.
fn is_covered(cx: &ViewCx<'_>) -> bool {
    cx.state.picker.is_some() || cx.state.help.is_some() || cx.state.types_a_line()
}

/// The digits of the question's answers.
fn digits(cx: &ViewCx<'_>) -> String {
    let question = match &cx.state.view.dock.dialog {
        Some(Dialog::Permission(req)) => cx.session.question(*req),
        _ => None,
    };
    match question.map_or(9, |question| question.options.len()) {
        0 | 1 => "1".to_owned(),
        count => format!("1–{}", count.min(9)),
    }
}

/// What the right end says, longest first.
pub(super) fn of(dock: &Dock, cx: &ViewCx<'_>) -> Vec<String> {
    let more = dock.scroll_max();
    let focus = &cx.state.view.focus;
    let focused = *focus == Focus::Dock;
    let digits = digits(cx);
    let (long, short, shortest) = match focus {
        Focus::Dock if cx.state.view.dock.rule.is_some() => ("Esc back to the question", "Esc back", "Esc"),
        Focus::Dock if cx.state.list.is_some() => ("Esc back to the list", "Esc back", "Esc"),
        Focus::Dock => ("Esc back to writing", "Esc back", "Esc"),
        Focus::Composer if cx.state.view.reading.is_some() => ("Alt+P to answer", "Alt+P", "Alt+P"),
        _ if is_covered(cx) => ("Esc, then Tab to answer", "Esc, Tab", "Esc"),
        Focus::Composer if digits_answer(cx) => ("a digit answers · Tab all keys", "a digit answers", &*digits),
        Focus::Composer if has_options(cx, &dock.dialog) => ("Alt+digit or Tab to answer", "Tab to answer", "Tab"),
        Focus::Composer => ("Tab to answer", "Tab", "Tab"),
        Focus::Review => ("Alt+P to answer", "Alt+P", "Alt+P"),
        // Tab goes to the command.
        Focus::Terminal(_) => ("Ctrl+], then Tab to answer", "Ctrl+], Tab", "Ctrl+]"),
    };
    let hidden = dock.answers.hidden;
    let mut options = Vec::new();
    if hidden > 0 || dock.answers.below > 0 {
        let count = if hidden > 0 { format!("+{}", human::count(hidden as u64, "option")) } else { "more".to_owned() };
        options.push(if focused { format!("{count} ↓") } else { count });
    }
    let joined = |first: Option<&str>, last: &str| {
        let parts = first.into_iter().chain(options.iter().map(String::as_str)).chain([last]);
        parts.collect::<Vec<_>>().join(" · ")
    };
    let mut hints = Vec::new();
    if more > 0 {
        let at = format!("rows {}–{} of {}", dock.top + 1, dock.top + dock.shown, dock.body.len());
        if focused {
            hints.push(format!("{at}, PageDown · {}", joined(raw_hint(dock), long)));
            hints.push(format!("{at}, PageDown · {}", joined(None, long)));
            hints.push(format!("{at}, PageDown · {}", joined(None, shortest)));
        } else {
            hints.push(format!("{at} · {}", joined(None, long)));
        }
        hints.push(format!("+{} · {}", human::count(more as u64, "row"), joined(None, shortest)));
    }
    if focused {
        hints.push(joined(raw_hint(dock), long));
    }
    if !options.is_empty() {
        hints.extend([joined(None, long), joined(None, shortest)]);
    }
    hints.extend([long.to_owned(), short.to_owned(), shortest.to_owned()]);
    hints
}

const fn raw_hint(dock: &Dock) -> Option<&'static str> {
    match dock.raw {
        RawLines::None => None,
        RawLines::Hidden => Some("v as sent"),
        RawLines::Shown => Some("v without what it sent"),
    }
}
