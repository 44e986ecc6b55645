//! The help: all keys, from the table that also decides what they do, those that matter first, and what could not be used of
//! what came. What is typed looks for rows.
//!
//! Changes nothing. Invariant: no row is left out that fits what is looked for.

use super::{ViewCx, paint, split_bottom};
use crate::base::human;
use crate::text::line::LogicalLine;
use crate::text::run::{Mods, RunStyle, StyledText};
use crate::text::token::Token;
use crate::text::width;
use crate::text::wrap::laid_out;
use crate::ui::keys::{Action, Layer};
use crate::ui::labels;
use crate::ui::msg::FrameInfo;
use crate::ui::state::{Focus, Help};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use std::collections::BTreeSet;

/// Rows from which it is said how much of it is on the screen.
const FOOT_FROM: u16 = 3;
/// Columns from which it is said that rows are counted.
const ROWS_FROM: u16 = 60;
/// Columns from which there are two columns of rows, and three.
const TWO_FROM: u16 = 120;
const THREE_FROM: u16 = 230;
/// Columns that the words have at least.
const LEAST: usize = 10;
/// Columns between them.
const BETWEEN: u16 = 2;
/// What is done most.
const FIRST: [Action; 12] = [
    Action::Submit,
    Action::Newline,
    Action::Escape,
    Action::Tab,
    Action::NextMode,
    Action::OpenReview,
    Action::Read,
    Action::Palette,
    Action::OptionsList,
    Action::Sessions,
    Action::CtrlC,
    Action::CtrlD,
];
/// What is typed, and what it does; a command of the agent's with such a name goes first.
const TYPED: [(&str, &str); 5] = [
    ("!COMMAND", "first of all: a command that is run here; what it prints goes along with the next prompt"),
    ("@FILE, @FILE:10-40", "a file, or lines of it, goes with the prompt"),
    ("/NAME", "a command of the agent's, or a prompt of yours"),
    ("/btw QUESTION", "a side question, answered beside the conversation"),
    ("/fan-out A,B PROMPT", "the prompt for two to five agents, each in a git worktree of its own"),
];
/// Vim's commands in the composer.
const VIM: [(&str, &str); 7] = [
    ("Esc", "Vim: commands instead of writing; there once more, what Esc does without Vim"),
    ("i a I A o O R", "Vim: write here, behind, at the line's start or end, below, above, over it"),
    ("h j k l w b e 0 ^ $ gg G f t ; % { ( …", "Vim: motions, also with a count"),
    ("d c y > < g~ gu gU", "Vim: operators for a motion, a text object (iw a\" i( ip …), or twice for the line"),
    ("x X D C Y S s r J ~ p P", "Vim: changes of characters and lines"),
    ("v V", "Vim: select characters, lines"),
    ("u Ctrl+R . \"a", "Vim: undo, redo, again; a register, + is the clipboard"),
];

/// Other words by which rows are looked for, that stand below this heading or have these keys.
const ALSO: [(&str, &str); 2] = [("in the prompts that wait", "queue queued held"), ("!COMMAND", "shell")];

/// A heading and its rows: keys, and what they do.
type Section = (&'static str, Vec<(String, String)>);

pub fn draw(cx: &ViewCx<'_>, area: Rect, help: &Help, info: &mut FrameInfo, buf: &mut Buffer) {
    let columns = match area.width {
        0..TWO_FROM => 1,
        TWO_FROM..THREE_FROM => 2,
        _ => 3,
    };
    let room = area.width.saturating_sub(3) / columns;
    let room = room.saturating_sub(if columns > 1 { BETWEEN } else { 0 });
    let (lines, keys) = lines(sections(cx), help, room);
    let (body, foot) = split_bottom(area, u16::from(area.height >= FOOT_FROM));
    let height = usize::from(body.height);
    let page = height * usize::from(columns);
    let max = lines.len().saturating_sub(page);
    let top = help.top.min(max);
    for column in 0..columns {
        let x = area.x + 2 + column * (room + BETWEEN);
        let from = top + usize::from(column) * height;
        for (line, y) in lines.iter().skip(from).zip(body.y..body.bottom()) {
            paint::put(buf, x, y, room, line, cx.theme);
        }
    }
    (info.help_page, info.help_scroll_max) = (page, max);
    if !foot.is_empty() {
        let shown = Shown { top, end: (top + page).min(lines.len()), all: lines.len(), keys };
        self::foot(cx, foot, help, shown, info, buf);
    }
}

/// Which rows are on the screen, of how many, and in how many of them something is told of a key.
struct Shown {
    top: usize,
    end: usize,
    all: usize,
    keys: usize,
}

/// What is looked for, and how much of it is on the screen.
fn foot(
    cx: &ViewCx<'_>,
    at: Rect,
    help: &Help,
    Shown { top, end, all, keys }: Shown,
    info: &mut FrameInfo,
    buf: &mut Buffer,
) {
    let room = at.width.saturating_sub(3);
    let mut text = StyledText::of(&*help.filter, Token::Text);
    let typed = u16::try_from(width::styled_width(&text)).unwrap_or(u16::MAX);
    if !help.filter.is_empty() {
        text.push("  ", Token::Text);
    }
    let rows = if at.width >= ROWS_FROM { "rows " } else { "" };
    let more = match () {
        () if all == 0 => "nothing matches".to_owned(),
        () if top == 0 && end == all => human::count(keys as u64, "entry"),
        () if end < all => format!("{rows}{}–{end} of {all}{}", top + 1, cx.say(Layer::Picker, " · {PageDown} more")),
        () => format!("{rows}{}–{end} of {all}{}", top + 1, cx.say(Layer::Picker, " · {PageUp} back")),
    };
    let looks = if help.filter.is_empty() { " · type to filter" } else { "" };
    text.push(&format!("{more}{looks}{}", cx.say(Layer::Picker, " · {Esc} closes")), Token::Accent);
    let text = width::truncate_styled(&text, usize::from(room));
    paint::put(buf, at.x + 2, at.y, room, &text, cx.theme);
    info.cursor = Some(Position { x: (at.x + 2 + typed.min(room)).min(at.right().saturating_sub(1)), y: at.y });
}

fn sections(cx: &ViewCx<'_>) -> Vec<Section> {
    let mut layers = vec![
        ("writing", Layer::Composer),
        ("in the question", Layer::Dock),
        ("typing into a command", Layer::Terminal),
        ("in the review", Layer::Review),
        ("reading", Layer::Reading),
        ("in the prompts that wait", Layer::Queue),
        ("in the list of sessions", Layer::Sessions),
        ("in a list", Layer::Picker),
    ];
    let keys = &cx.state.keys;
    // What the person is in comes first. What is asked for in the review names its keys itself.
    let reviews = cx.state.view.focus == Focus::Review;
    let here = if reviews { Layer::Review } else { cx.state.place() };
    let of_their_own = [("in the form", Layer::Form), ("making a rule", Layer::Rule)];
    layers.extend(of_their_own.into_iter().filter(|(_, layer)| *layer == here));
    layers.sort_by_key(|(_, layer)| *layer != here);
    let mut said = BTreeSet::new();
    let mut sections: Vec<Section> = Vec::new();
    if here == Layer::Composer {
        let row = |action: &Action| keys.help(Layer::Composer).find(|row| row.action == *action);
        let rows = FIRST.iter().filter_map(row).filter(|row| said.insert((row.keys.clone(), row.what)));
        let rows = rows.map(|row| (row.keys, row.what.to_owned())).collect::<Vec<_>>();
        sections.push(("first of all", rows));
    }
    for (title, layer) in layers {
        // What holds everywhere is said once.
        let rows = keys.help(layer).filter(|row| said.insert((row.keys.clone(), row.what)) && row.what != "text");
        let mut rows: Vec<(String, String)> = rows.map(|row| (row.keys, row.what.to_owned())).collect();
        let typed = if layer == Layer::Composer { &TYPED[..] } else { &[] };
        let modal = if layer == Layer::Composer && keys.is_modal() { &VIM[..] } else { &[] };
        rows.extend(typed.iter().chain(modal).map(|(keys, what)| ((*keys).to_owned(), (*what).to_owned())));
        sections.push((title, rows));
    }
    let odd = labels::odd_messages(cx.session.agent().odd);
    if !odd.is_empty() {
        let rows = odd.into_iter().map(|line| (String::new(), line)).collect();
        sections.push(("what the agent sent beside the protocol", rows));
    }
    sections
}

/// The rows, and how many entries they have.
fn lines(sections: Vec<Section>, help: &Help, room: u16) -> (Vec<StyledText>, usize) {
    let column = match room {
        0..50 => 14,
        50..60 => 18,
        60..100 => 28,
        _ => 46,
    };
    let (mut lines, mut entries) = (Vec::new(), 0);
    for (title, rows) in sections {
        let also = |keys: &str| {
            let found = ALSO.iter().filter(|(of, _)| *of == title || *of == keys).map(|(_, words)| *words);
            found.collect::<Vec<_>>().join(" ")
        };
        let takes = |keys: &str, what: &str| help.takes(&format!("{keys} {what} {}", also(keys)));
        let rows: Vec<_> = rows.into_iter().filter(|(keys, what)| takes(keys, what)).collect();
        if rows.is_empty() {
            continue;
        }
        entries += rows.len();
        if !lines.is_empty() {
            lines.push(StyledText::new());
        }
        lines.push(StyledText::of(title, RunStyle::from(Token::Text).with_mods(Mods::BOLD)));
        for (keys, what) in rows {
            let column = if keys.is_empty() { 0 } else { column.min(usize::from(room).saturating_sub(LEAST)) };
            let mut prefix = StyledText::of(format!("{keys:<column$}"), Token::Text);
            let hang = StyledText::of(" ".repeat(column), Token::Text);
            // Several keys for one thing take a row of their own where they would push the words aside.
            if width::str_width(&keys) >= column && !keys.is_empty() {
                let keys = LogicalLine { text: std::mem::replace(&mut prefix, hang.clone()), ..LogicalLine::default() };
                lines.extend(laid_out(&[keys], room));
            }
            let words = StyledText::of(what, Token::Dim);
            lines.extend(laid_out(&[LogicalLine { prefix, hang, text: words, ..LogicalLine::default() }], room));
        }
    }
    (lines, entries)
}
