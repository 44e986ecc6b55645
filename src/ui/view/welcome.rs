//! The first screen: where we are, what can be gone on with, and the keys to begin with. Shown as long as nothing was
//! said.
//!
//! Starts nothing. Invariant: what does not fit is left out whole, the least needed first.

use super::session_list::READ_ONLY;
use super::{ViewCx, paint};
use crate::base::{human, paths, sanitize};
use crate::model::changes::Totals;
use crate::text::line::LogicalLine;
use crate::text::run::{Mods, RunStyle, StyledText};
use crate::text::token::Token;
use crate::text::width;
use crate::text::wrap::laid_out;
use crate::ui::keys::Layer;
use crate::ui::labels;
use crate::ui::msg::FrameInfo;
use crate::ui::state::near::{NAMED, NearSessions};
use crate::ui::state::session_list::{End, PastSession};
use crate::ui::state::standing::Standing;
use crate::ui::status_line;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::path::Path;

const LOGO: [&str; 3] = ["┏━┓ ┏━╸ ┏━┓   ╺┳╸ ╻ ╻ ╻", "┣━┫ ┃   ┣━┛ ╺━ ┃  ┃ ┃ ┃", "╹ ╹ ┗━╸ ╹      ╹  ┗━┛ ╹"];
/// Columns and rows from which there is room for the name in large letters.
pub const LARGE: (u16, u16) = (100, 18);
/// Columns of what stands in the middle then.
const BLOCK: u16 = 86;
/// Columns of the name in large letters, with what is free behind it.
const BESIDE_LOGO: usize = 30;
/// Rows of a heading.
const HEADING: u8 = 1;
/// Columns from which a heading has room for two keys.
const ROOMY: u16 = 60;
/// Rows of the keys that are named.
const KEYS: usize = 6;
/// What could not be used is named so often, the rest is counted.
const REMARKS: usize = 3;
/// Rows that it is worth being drawn in.
pub const ROWS: u16 = 3;

pub fn draw(cx: &ViewCx<'_>, area: Rect, info: &mut FrameInfo, buf: &mut Buffer) {
    info.is_first = true;
    let is_large = area.width >= LARGE.0 && area.height >= LARGE.1;
    let at = if is_large {
        Rect { x: area.x + (area.width - BLOCK) / 2, width: BLOCK, ..area }
    } else {
        Rect { x: area.x + 2, width: area.width.saturating_sub(3), ..area }
    };
    let near = cx.state.near.of(&cx.state.past, &cx.state.trees, &cx.session.cwd, cx.model);
    // What is said of the place may be longer than what stands below it.
    let beyond = area.right().saturating_sub(at.x + 1);
    let (mut head, earlier) = (head(cx, is_large, usize::from(beyond), buf), listed(cx, &near, at.width));
    head.extend(account(cx));
    let remarks = remarks(cx, at.width);
    if !remarks.is_empty() && !head.is_empty() {
        head.push(StyledText::new());
    }
    head.extend(remarks);
    let height = usize::from(at.height);
    let blank = || vec![StyledText::new()];
    let mut lines = [head.clone(), if head.is_empty() { Vec::new() } else { blank() }].concat();
    let air = if is_large { blank() } else { Vec::new() };
    let is_listed = !earlier.is_empty() && lines.len() + earlier.len() + 1 + KEYS + air.len() < height;
    let mut above = lines.len() + air.len() + usize::from(HEADING);
    if is_listed {
        lines = [lines, air.clone(), earlier, blank(), air].concat();
    }
    let keys = keys(cx, is_listed, at.width);
    // All keys, or as many as fit with the first of them.
    let room = height.saturating_sub(lines.len());
    lines.extend(keys.into_iter().take(room));
    let first = if is_large { (height - lines.len()) / 2 } else { height.saturating_sub(lines.len() + 1) };
    above += first;
    let rows = (at.y..at.bottom()).skip(above).filter(|_| is_listed);
    info.earlier = rows.zip(near.first.iter().map(PastSession::which)).collect();
    for (line, y) in lines.iter().zip((at.y..at.bottom()).skip(first)) {
        let line = width::truncate_styled(line, usize::from(beyond));
        paint::put(buf, at.x, y, beyond, &line, cx.theme);
    }
}

/// Who it is that one writes to, and where.
fn head(cx: &ViewCx<'_>, is_large: bool, columns: usize, buf: &Buffer) -> Vec<StyledText> {
    let strong = RunStyle::from(Token::Text).with_mods(Mods::BOLD);
    let cwd = paths::display(Path::new(&cx.session.cwd), &[], cx.home);
    let mut who = StyledText::of(labels::agent(cx.session), strong);
    // The branch, and how much is in no commit, as far as there is room.
    let standing = |columns: usize| {
        let words = cx.state.standing.of(cx.session.key()).map(Standing::words).unwrap_or_default();
        words.into_iter().map(|words| format!(" · {words}")).find(|words| width::str_width(words) <= columns)
    };
    if !is_large {
        // The header says it already where there is one.
        if buf.area.height >= super::HEADER_FROM {
            return Vec::new();
        }
        who.push(&format!(" in {cwd}"), Token::Dim);
        let room = columns.saturating_sub(width::styled_width(&who));
        who.push(&standing(room).unwrap_or_default(), Token::Dim);
        return vec![who];
    }
    if let Some(model) = status_line::model(cx.session) {
        who.push(&format!(" · {model}"), Token::Text);
    }
    if let Some((mode, token)) = status_line::mode(cx.session) {
        who.push(" · ", Token::Dim);
        who.push(&mode, token);
    }
    let room = columns.saturating_sub(BESIDE_LOGO + width::str_width(&cwd));
    let place = format!("{cwd}{}", standing(room).unwrap_or_default());
    let said =
        [who, StyledText::of(place, Token::Dim), cx.dim(Layer::Composer, "nothing is sent before you press {Enter}")];
    let row = |(logo, said): (&str, StyledText)| {
        let mut row = StyledText::of(logo, Token::Accent);
        row.push(&" ".repeat(BESIDE_LOGO - width::str_width(logo)), Token::Text);
        row.append(&said);
        row
    };
    LOGO.into_iter().zip(said).map(row).collect()
}

/// Who the agent says is logged in.
fn account(cx: &ViewCx<'_>) -> Option<StyledText> {
    let words = cx.session.agent().auth_status.as_ref()?.words()?;
    let mut line = StyledText::of(format!("{:<10}", "Account"), Token::Text);
    line.push(&words, Token::Dim);
    Some(line)
}

/// What of the person's own files could not be used: it is about the screen, so it is no part of the conversation.
fn remarks(cx: &ViewCx<'_>, columns: u16) -> Vec<StyledText> {
    let all = &cx.state.remarks;
    let line = |remark: &String| LogicalLine {
        prefix: StyledText::of("! ", Token::Warn),
        hang: StyledText::of("  ", Token::Warn),
        text: StyledText::of(sanitize::line(remark), Token::Text),
        ..LogicalLine::default()
    };
    let mut lines = laid_out(&all.iter().take(REMARKS).map(line).collect::<Vec<_>>(), columns);
    if all.len() > REMARKS {
        let words = format!("  {} more: acp-tui doctor names them", all.len() - REMARKS);
        lines.push(StyledText::of(words, Token::Dim));
    }
    lines
}

/// The first of the earlier sessions that can be gone on with, and which keys lead there. How many were interrupted is told
/// where not all of those are named.
fn listed(cx: &ViewCx<'_>, near: &NearSessions, columns: u16) -> Vec<StyledText> {
    if near.first.is_empty() {
        return Vec::new();
    }
    let say = |words| cx.say(Layer::Composer, words);
    let lists = |words| cx.state.keys.hint(Layer::Composer, words).map(|lists| format!("{lists} {}", near.count));
    let right = match near.count {
        1 => say("{Tab}, then 1"),
        _ if columns >= ROOMY => {
            let tab = Some(say("{Tab}, then a digit")).filter(|tab| !tab.is_empty());
            tab.into_iter().chain(lists("{F8} lists all")).collect::<Vec<_>>().join(" · ")
        }
        _ => lists("{F8} lists all").unwrap_or_default(),
    };
    let heading = match near.interrupted {
        n if n > NAMED => format!("Go on with · {n} were interrupted"),
        _ => "Go on with".to_owned(),
    };
    let mut lines = vec![spread(&heading, Token::Text.into(), &right, Token::Dim, columns)];
    for (at, one) in near.first.iter().enumerate() {
        let (how, token) = match one.end {
            End::Interrupted => ("interrupted · ", Token::Warn),
            End::Open | End::Ended => ("", Token::Dim),
        };
        let kept = if one.goes_on { String::new() } else { format!("{READ_ONLY} · ") };
        let right = format!("{kept}{how}{}", human::ago(one.age));
        let changed = one.totals.filter(|totals| !totals.is_empty()).map(changed).unwrap_or_default();
        let (number, name) = (format!("  {}  ", at + 1), one.name().unwrap_or(&one.agent));
        // What it has changed, where its name is whole beside that.
        let needed = [&*number, name, &*changed, &*right].map(width::str_width).iter().sum::<usize>() + 2;
        let right = if needed <= usize::from(columns) { format!("{changed}{right}") } else { right };
        let beside = width::str_width(&number) + width::str_width(&right) + 2;
        let room = usize::from(columns).saturating_sub(beside);
        let apart = one.apart_beside(width::str_width(name), room);
        let name = width::truncate(name, room.saturating_sub(width::str_width(&apart)));
        let left = [&*number, &*name, &*apart].concat();
        lines.push(spread(&left, Token::Dim.into(), &right, token, columns));
    }
    lines
}

/// What a session has changed, in front of when that was.
fn changed(totals: Totals) -> String {
    let open = labels::to_review(totals).map(|open| format!("{open} · ")).unwrap_or_default();
    format!("+{} −{} · {open}", totals.added, totals.removed)
}

/// Words at the left, and others at the right end.
fn spread(left: &str, style: RunStyle, right: &str, token: Token, columns: u16) -> StyledText {
    let figures = width::str_width(right);
    let room = usize::from(columns).saturating_sub(figures + 2);
    let left = width::truncate(left, room);
    let mut line = StyledText::of(left.as_ref(), style);
    line.push(&" ".repeat(room + 2 - width::str_width(&left)), Token::Text);
    line.push(right, token);
    line
}

/// What the key for the list of sessions leads to, and how many there are that wait to go on. Those that were interrupted
/// are counted where they are not listed.
fn sessions(cx: &ViewCx<'_>, is_listed: bool) -> (usize, String) {
    let home = cx.state.trees.origins.home_of(Path::new(&cx.session.cwd));
    let all: usize = cx.state.interrupted.values().sum();
    let here = cx.state.interrupted.get(&home).copied().unwrap_or_default();
    let (elsewhere, here) = (all - here, if is_listed { 0 } else { here });
    let were = |n: usize| if n == 1 { "1 was".to_owned() } else { format!("{n} were") };
    let others = if elsewhere == 1 { "in another directory" } else { "in other directories" };
    let words = match (here, elsewhere) {
        (0, 0) => "all sessions, also earlier ones".to_owned(),
        (here, 0) => format!("{} interrupted here", were(here)),
        (0, elsewhere) => format!("{} interrupted {others}", were(elsewhere)),
        (here, elsewhere) => format!("{} interrupted here · {elsewhere} {others}", were(here)),
    };
    (here + elsewhere, words)
}

fn keys(cx: &ViewCx<'_>, is_listed: bool, columns: u16) -> Vec<StyledText> {
    let (interrupted, sessions) = sessions(cx, is_listed);
    let mut tips = vec![
        ("Enter", "sends · {Alt+Enter} new line"),
        ("Shift+Tab", "next mode · {F2} all options"),
        ("Esc", "stops the turn"),
        ("F3", "review changes · {F4} gate"),
        ("F1", "all keys · {Ctrl+P} finds anything"),
    ];
    // What can be gone on with is told before the last keys.
    tips.insert(if interrupted > 0 { 0 } else { tips.len() }, ("F8", ""));
    // Where the first key of a row is bound to nothing, the row begins with the next one.
    let line = |(key, what): (&str, &'static str)| {
        let now = |key| cx.state.keys.now(Layer::Composer, key);
        let (key, words) = match (now(key), what.split_once(" · {")) {
            (Some(key), _) => (key, if what.is_empty() { sessions.clone() } else { cx.say(Layer::Composer, what) }),
            (None, Some((_, next))) => {
                let (key, words) = next.split_once("} ")?;
                (now(key)?, words.to_owned())
            }
            (None, None) => return None,
        };
        let mut line = StyledText::of(format!("{key:<10}"), Token::Text);
        if width::str_width(&key) >= 10 {
            line.push(" ", Token::Text);
        }
        let room = usize::from(columns).saturating_sub(width::styled_width(&line));
        line.push(width::whole_parts(&words, " · ", room), Token::Dim);
        Some(line)
    };
    tips.into_iter().filter_map(line).collect()
}
