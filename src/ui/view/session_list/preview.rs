//! The end of what was said in the session that is chosen, beside the list.
//!
//! Lays out no more than is seen. Invariant: what is shown is sanitised, the person's words too.

use super::{Look, paint, split_top};
use crate::model::entry::{Body, UserState};
use crate::model::ids::SessionKey;
use crate::text::line::{LogicalLine, WrapMode};
use crate::text::run::StyledText;
use crate::text::token::Token;
use crate::text::width;
use crate::ui::cells::{self, Places};
use crate::ui::md;
use crate::ui::state::session_list::{End, Row, Said, SessionList, Who};
use crate::ui::view::ViewCx;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::path::PathBuf;

/// Messages of an open session that are looked at.
const MAX_SAID: usize = 30;

/// The list, and what stands beside it.
pub fn split(area: Rect) -> (Rect, Rect) {
    let left = area.width * 11 / 20;
    (Rect { width: left, ..area }, Rect { x: area.x + left, width: area.width - left, ..area })
}

/// The newest messages of a session that is open, the newest last.
pub fn of_open(cx: &ViewCx<'_>, key: SessionKey) -> Vec<Said> {
    let Some(session) = cx.model.at(key) else { return Vec::new() };
    let roots = [PathBuf::from(&session.cwd)];
    let places = Places { roots: &roots, home: cx.home };
    let said = session.entries().iter().rev().filter_map(|entry| match &entry.body {
        Body::User(message) if message.state != UserState::OfClient => Some(Said::new(Who::Person, &message.text)),
        Body::Agent(message) => Some(Said::new(Who::Agent, &message.text)),
        Body::Tool(tool) => Some(Said::new(Who::Tool, &cells::told(tool, places))),
        _ => None,
    });
    let mut said: Vec<Said> = said.filter(|said| !said.text.is_empty()).take(MAX_SAID).collect();
    said.reverse();
    said
}

pub fn draw(list: &SessionList, look: Look<'_>, area: Rect, buf: &mut Buffer) {
    if area.is_empty() {
        return;
    }
    for y in area.y..area.bottom() {
        paint::put(buf, area.x, y, 1, &StyledText::of("│", Token::Dim), look.theme);
    }
    let area = Rect { x: area.x + 2, width: area.width.saturating_sub(3), ..area };
    let (open, read);
    let said = match list.current() {
        None => return,
        Some(Row::Open(one)) => {
            open = (look.said)(one.key);
            Ok(&open[..])
        }
        Some(Row::Past(one)) if one.journals.is_empty() => Err("only its agent knows what was said"),
        Some(Row::Past(one)) => {
            read = list.previews.of(&one.which());
            match read {
                None => Err("reading…"),
                Some(Ok(said)) => Ok(&said[..]),
                Some(Err(why)) => Err(why.as_str()),
            }
        }
        Some(Row::Hit(hit)) => {
            read = list.previews.of(&hit.session.which());
            match read {
                None => Err("reading…"),
                Some(Ok(said)) => Ok(&said[..]),
                Some(Err(why)) => Err(why.as_str()),
            }
        }
    };
    let (head, body) = split_top(area, 1);
    let goes_on = match list.current() {
        Some(Row::Open(_)) => true,
        Some(Row::Past(one)) => one.end == End::Open,
        Some(Row::Hit(_)) | None => false,
    };
    let words = StyledText::of(if goes_on { "what was said last" } else { "how it ended" }, Token::Dim);
    paint::put(buf, head.x, head.y, head.width, &words, look.theme);
    match said {
        Ok([]) => note("nothing was said", look, body, buf),
        Ok(said) => end(said, look, body, buf),
        Err(why) => note(why, look, body, buf),
    }
}

fn note(words: &str, look: Look<'_>, area: Rect, buf: &mut Buffer) {
    let words = StyledText::of(width::truncate(words, usize::from(area.width)), Token::Dim);
    paint::put(buf, area.x, area.y, area.width, &words, look.theme);
}

/// The last rows of it.
fn end(said: &[Said], look: Look<'_>, area: Rect, buf: &mut Buffer) {
    let height = usize::from(area.height);
    let mut rows = Vec::new();
    for one in said.iter().rev() {
        let (mark, token) = match one.who {
            Who::Person => ("❯ ", Token::Accent),
            Who::Agent => ("", Token::Text),
            Who::Thought | Who::Tool => ("", Token::Dim),
        };
        let mut lines: Vec<LogicalLine> = match one.who {
            Who::Agent => md::lines(&one.text, area.width),
            _ => one.text.lines().map(|line| LogicalLine::text(StyledText::of(line, token))).collect(),
        };
        if one.who == Who::Tool {
            for line in &mut lines {
                line.wrap = WrapMode::Truncate;
            }
        }
        if let (Some(first), false) = (lines.first_mut(), mark.is_empty()) {
            first.prefix = StyledText::of(mark, token);
        }
        let mut above = paint::rows(&lines, area.width);
        above.append(&mut rows);
        rows = above;
        if rows.len() >= height {
            break;
        }
    }
    let from = rows.len().saturating_sub(height);
    for (row, y) in rows[from..].iter().zip(area.y..) {
        paint::row(buf, Rect { y, height: 1, ..area }, row, look.theme);
    }
}
