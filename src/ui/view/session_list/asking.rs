//! What the list of sessions asks before something is done, in the rows at its foot.
//!
//! Reads the list, keeps nothing. Invariant: what is asked is shown whole, or it is said that it is not.

use super::super::split_bottom;
use super::super::split_top;
use super::{Look, paint};
use crate::base::{human, paths, sanitize};
use crate::text::line::LogicalLine;
use crate::text::run::StyledText;
use crate::text::token::Token;
use crate::text::width;
use crate::ui::keys::Layer;
use crate::ui::state::session_list::{Ask, How, ListFrame, PastSession, SessionList};
use crate::ui::state::trees::{Fate, Tree};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

/// Before the name that is typed: agents are not told of it.
const NAME_LABEL: &str = "name (only here): ";
/// The same where its agent is told.
const TOLD_LABEL: &str = "name (its agent is told): ";

fn of_tree(tree: &Tree, fate: &Fate) -> String {
    let (name, origin) = (&tree.name, paths::visible(tree.origin.as_os_str()));
    match fate {
        Fate::Merge => format!("Put what was changed in worktree {name} into the files of {origin}?"),
        Fate::Take(file) => {
            let file = paths::visible(file.as_os_str());
            format!("Put what was changed in {file} of worktree {name} into {origin}?")
        }
        Fate::Discard => format!("Discard worktree {name} of {origin}? A recovery ref keeps all that is in it."),
    }
}

/// What is asked, in as many rows as it takes.
pub fn asked(asks: &Ask, columns: u16) -> Vec<paint::Painted> {
    let quoted = |one: &PastSession| match one.name() {
        Some(name) => format!("“{}”", width::truncate(name, 40)),
        None => format!("the session of {}", one.agent),
    };
    let (words, command) = match asks {
        Ask::Start(one, how) => {
            let copy = if *how == How::Forks { " for a copy of the session" } else { "" };
            let words = format!("Start this command{copy}? It is not configured:");
            (words, Some(sanitize::line(&one.command)))
        }
        Ask::Tree(tree, fate) => (of_tree(tree, fate), None),
        Ask::Name { .. } => ("What is it called?".to_owned(), None),
        Ask::Forget { past, others, at_agent } => {
            let told = if *at_agent { "Its agent is told to forget it too." } else { "Its agent may keep it." };
            let undone = match *others {
                0 => "what it changed cannot be undone or reviewed any more".to_owned(),
                others => {
                    let others = human::count(others as u64, "other session");
                    format!("what it changed can be undone only together with that of {others}")
                }
            };
            (format!("Forget {}? It is gone for good, and {undone}. {told}", quoted(past)), None)
        }
    };
    let mut lines = vec![LogicalLine::text(StyledText::of(words, Token::Warn))];
    lines.extend(command.map(|command| LogicalLine::text(StyledText::of(&*command, Token::Text))));
    paint::rows(&lines, columns)
}

/// Returns where the cursor stands, when something is typed.
pub fn question(
    list: &SessionList,
    look: Look<'_>,
    area: Rect,
    frame: &mut ListFrame,
    buf: &mut Buffer,
) -> Option<Position> {
    let asks = list.asks.as_ref()?;
    let say = |words| look.keys.say(Layer::Sessions, words);
    paint::fill(buf, area, Token::Question, look.theme);
    let room = area.width.saturating_sub(3);
    if let Ask::Name { line, .. } = asks {
        let (line_at, foot) = split_top(area, 1);
        let label = if list.tells { TOLD_LABEL } else { NAME_LABEL };
        let shown = width::truncate_start(&sanitize::line(line), usize::from(room).saturating_sub(label.len() + 1))
            .into_owned();
        let mut text = StyledText::of(label, Token::Dim);
        text.push(&shown, Token::Text);
        let used = paint::put(buf, line_at.x + 2, line_at.y, room, &text, look.theme);
        let words =
            StyledText::of(say("{Enter} names it · empty gives it its own name back · {Esc} leaves"), Token::Accent);
        let words = width::truncate_styled(&words, usize::from(room));
        if !foot.is_empty() {
            paint::put(buf, foot.x + 2, foot.y, room, &words, look.theme);
        }
        return Some(Position { x: (line_at.x + 2 + used).min(area.right().saturating_sub(1)), y: line_at.y });
    }
    let rows = asked(asks, room);
    let (body, foot) = split_bottom(area, 1);
    frame.is_whole = rows.len() <= usize::from(body.height);
    for (row, y) in rows.iter().zip(body.y..body.bottom()) {
        paint::row(buf, Rect { x: area.x + 2, y, width: room, height: 1 }, row, look.theme);
    }
    let words = match asks {
        Ask::Start(..) if !frame.is_whole => "too long for this window · {Esc} leaves",
        Ask::Start(..) => "y starts it · {Esc} leaves",
        Ask::Tree(_, Fate::Merge | Fate::Take(_)) => "y merges it · {Esc} leaves",
        Ask::Tree(_, Fate::Discard) => "y discards it · {Esc} keeps it",
        Ask::Forget { .. } | Ask::Name { .. } => "y forgets it · {Esc} keeps it",
    };
    let words = say(words);
    let words = StyledText::of(width::truncate(&words, usize::from(room)), Token::Accent);
    paint::put(buf, foot.x + 2, foot.y, room, &words, look.theme);
    None
}
