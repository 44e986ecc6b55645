//! What people and agents say: prompts, answers, thoughts, attachments, files served, notices.
//!
//! Long texts come in pieces (see `md::split`). Invariant: text is shown whole; only labels are cut.

use super::head::FOLDED;
use super::lines::{dim, more_lines};
use super::{CellCtx, Places, gutter};
use crate::base::{human, paths, sanitize, zone};
use crate::model::entry::{
    Attachment, Block, ChunkKind, DetailFold, Entry, FileOp, FileOutcome, FileVerb, Level, Message, Notice, Thought,
    UserMessage, UserState,
};
use crate::text::line::{LogicalLine, WrapMode};
use crate::text::run::{Mods, RunStyle, StyledText};
use crate::text::token::Token;
use crate::text::width::{str_width, styled_width, truncate, truncate_start};
use crate::ui::md::pieces;
use crate::ui::md::split::{Markdown, StablePrefix};
use crate::ui::state::folds::Fold;
use std::path::Path;

/// Beside what the person said.
const BAR: &str = "▌";
/// Bytes of a label or title that are shown.
pub(super) const MAX_LABEL: usize = 4 << 10;
/// Links named under a prompt.
const MAX_LINKS: usize = 50;
/// Columns in which a path can still be told from others.
const SHORT_PATH: usize = 12;
/// Lines of an embedded resource.
const MAX_RESOURCE_LINES: usize = 12;
const MAX_DETAIL_LINES: usize = 200;
/// Lines of a detail of which the end is shown.
const END_LINES: usize = 3;

/// One harmless line of bounded length.
pub(super) fn label(text: &str) -> String {
    let cut = text.floor_char_boundary(MAX_LABEL);
    let mut out = sanitize::line(text.get(..cut).unwrap_or_default()).trim().to_owned();
    if cut < text.len() {
        out.push('…');
    }
    out
}

pub(super) fn display<'a>(path: &str, places: impl Into<Places<'a>>) -> String {
    let cut = path.get(..path.floor_char_boundary(MAX_LABEL)).unwrap_or_default();
    let Places { roots, home } = places.into();
    paths::display(Path::new(cut), roots, home)
}

fn is_last(split: &StablePrefix, index: usize) -> bool {
    index + 1 >= split.pieces().len()
}

/// What there is to know of a text, below it.
fn remarks(message: &Message, lines: &mut Vec<LogicalLine>) {
    if message.dropped > 0 {
        lines.push(dim(format!("… {} more are not kept here", human::bytes(message.dropped))));
    }
    match message.replaced {
        0 => {}
        1 => lines.push(dim("the agent has replaced what it said here before")),
        times => lines.push(dim(format!("the agent has replaced what it said here before, {times} times"))),
    }
}

pub(super) fn user(m: &UserMessage, ctx: &CellCtx<'_>, split: &StablePrefix, index: usize) -> Vec<LogicalLine> {
    let token = match m.state {
        UserState::Sent | UserState::FromElsewhere => Token::User,
        UserState::Dropped | UserState::OfClient => Token::Dim,
    };
    let mut lines = pieces::lines(&m.text, split, index, 0);
    for line in &mut lines {
        line.text = std::mem::take(&mut line.text).retoken(token);
    }
    if index == 0 && lines.is_empty() {
        lines.push(LogicalLine::default());
    }
    if m.state != UserState::Dropped {
        draw_patches(&mut lines);
    }
    for line in &mut lines {
        (line.gutter, line.fill) = beside(m.state);
    }
    if index == 0 && m.state == UserState::OfClient {
        lines.insert(0, LogicalLine { gutter: gutter("·", Token::Dim), ..dim("acp-tui tells the agent:") });
    }
    if index == 0
        && let Some(first) = lines.first_mut()
        && let Some(sent) = m.sent.and_then(|sent| zone::short(sent, ctx.session.date(ctx.now)))
    {
        first.right = StyledText::of(sent, Token::Dim);
    }
    if is_last(split, index) {
        for link in m.links.iter().take(MAX_LINKS) {
            lines.push(dim(format!("@{}", label(link))));
        }
        if m.links.len() > MAX_LINKS {
            lines.push(dim(format!("… {} more files", m.links.len() - MAX_LINKS)));
        }
        match m.state {
            UserState::Sent | UserState::OfClient => {}
            UserState::FromElsewhere => lines.push(dim("sent from elsewhere")),
            UserState::Dropped => {
                lines.push(LogicalLine::text(StyledText::of("not part of the conversation any more", Token::Warn)));
            }
        }
    }
    lines
}

/// What stands beside the lines of a prompt, and what is behind them; the client's own are none of the person's.
fn beside(state: UserState) -> (StyledText, Option<Token>) {
    match state {
        UserState::Sent | UserState::FromElsewhere => (gutter(BAR, Token::BarUser), Some(Token::User)),
        UserState::Dropped => (gutter(BAR, Token::Dim), Some(Token::User)),
        UserState::OfClient => (gutter(" ", Token::Dim), None),
    }
}

/// Patches between fences are drawn as such, without the fences: they go along with a reason.
fn draw_patches(lines: &mut Vec<LogicalLine>) {
    let mut fence: Option<String> = None;
    lines.retain_mut(|line| {
        let text = line.text.as_str().trim_end();
        match &fence {
            None => {
                let ticks =
                    text.strip_suffix("diff").filter(|ticks| ticks.len() >= 3 && ticks.bytes().all(|b| b == b'`'));
                fence = ticks.map(str::to_owned);
                fence.is_none()
            }
            Some(end) if text == end => {
                fence = None;
                false
            }
            Some(_) => {
                let token = match text.as_bytes().first() {
                    _ if text.starts_with("+++ ") || text.starts_with("--- ") => Token::DiffMeta,
                    Some(b'+') => Token::DiffAdd,
                    Some(b'-') => Token::DiffDel,
                    Some(b'@') => Token::DiffMeta,
                    _ => Token::User,
                };
                line.text = std::mem::take(&mut line.text).retoken(token);
                true
            }
        }
    });
}

/// Lines and bytes of what the person said from which it is folded, and what is shown of it then.
const LONG: usize = 16;
const LONG_BYTES: usize = 2000;
const SHOWN: usize = 8;
const SHOWN_BYTES: usize = 1000;

/// Whether it is shown in part unless the person opens it.
pub(super) fn is_long(m: &UserMessage) -> bool {
    m.text.len() > LONG_BYTES || m.text.trim_end().lines().nth(LONG).is_some()
}

/// The first lines, and how many more there are.
pub(super) fn user_closed(m: &UserMessage, ctx: &CellCtx<'_>) -> Vec<LogicalLine> {
    let head = m.text.get(..m.text.floor_char_boundary(SHOWN_BYTES)).unwrap_or_default();
    let text = head.lines().take(SHOWN).collect::<Vec<_>>().join("\n");
    let more = m.text.trim_end().lines().count().saturating_sub(text.lines().count().max(1));
    let short = UserMessage { text, links: m.links.clone(), state: m.state, message_id: None, sent: m.sent };
    let mut split = StablePrefix::plain();
    split.extend(&short.text, Markdown::No);
    let mut lines: Vec<LogicalLine> =
        (0..split.pieces().len()).flat_map(|index| user(&short, ctx, &split, index)).collect();
    let words = match more {
        0 => format!("{} more of this line", FOLDED.trim_start()),
        more => format!("{} {more} more {}", FOLDED.trim_start(), human::plural(more as u64, "line")),
    };
    let below = lines.iter().rposition(|line| !line.gutter.is_empty()).map_or(0, |last| last + 1);
    let (gutter, fill) = beside(m.state);
    lines.insert(below, LogicalLine { gutter, fill, ..dim(words) });
    lines
}

pub(super) fn agent(m: &Message, ctx: &CellCtx<'_>, split: &StablePrefix, index: usize) -> Vec<LogicalLine> {
    let mut lines = pieces::lines(&m.text, split, index, ctx.width);
    if is_last(split, index) {
        remarks(m, &mut lines);
    }
    lines
}

/// One line: the first words and how long it took.
pub(super) fn thought_closed(entry: &Entry, t: &Thought, ctx: &CellCtx<'_>) -> Vec<LogicalLine> {
    vec![thought_head(entry, t, ctx)]
}

fn thought_head(entry: &Entry, t: &Thought, ctx: &CellCtx<'_>) -> LogicalLine {
    let until = if entry.finished { t.until } else { ctx.now.max(t.until) };
    let took = until.saturating_sub(entry.at);
    let style = RunStyle::from(Token::Thought);
    let time = if took.as_secs() > 0 { format!("  {}", human::duration(took)) } else { String::new() };
    let room = usize::from(ctx.width).saturating_sub(time.chars().count()).max(8);
    let mut text = StyledText::of(truncate(&first_words(&t.message.text), room.min(80)), style.with_mods(Mods::ITALIC));
    text.push(&time, style);
    let head = t.message.text.get(..t.message.text.floor_char_boundary(2048)).unwrap_or_default();
    let has_more = head.lines().filter(|line| !line.trim().is_empty()).nth(1).is_some();
    let right = StyledText::of(if has_more { FOLDED.trim_start() } else { "" }, Token::Dim);
    LogicalLine { gutter: gutter("∴", style), text, right, wrap: WrapMode::Truncate, ..LogicalLine::default() }
}

/// The first line that says something, without the marks of Markdown around it.
fn first_words(text: &str) -> String {
    let head = text.get(..text.floor_char_boundary(2048)).unwrap_or_default();
    let line = head.lines().map(str::trim).find(|l| l.chars().any(char::is_alphanumeric)).unwrap_or_default();
    let bare = line.trim_start_matches(['#', '>', '-', ' ']).replace("**", "").replace('`', "");
    let first = bare.split_inclusive(". ").next().unwrap_or_default().trim_end();
    label(first)
}

pub(super) fn thought_open(t: &Thought, ctx: &CellCtx<'_>, split: &StablePrefix, index: usize) -> Vec<LogicalLine> {
    let mut lines = pieces::lines(&t.message.text, split, index, ctx.width);
    for line in &mut lines {
        line.text = std::mem::take(&mut line.text).retoken(Token::Thought);
        line.prefix = std::mem::take(&mut line.prefix).retoken(Token::Thought);
        line.hang = std::mem::take(&mut line.hang).retoken(Token::Thought);
    }
    if index == 0
        && let Some(first) = lines.first_mut()
    {
        first.gutter = gutter("∴", Token::Thought);
    }
    if is_last(split, index) {
        remarks(&t.message, &mut lines);
    }
    lines
}

pub(super) fn attachment(a: &Attachment, ctx: &CellCtx<'_>) -> Vec<LogicalLine> {
    let mut lines = block(&a.block, ctx, MAX_RESOURCE_LINES);
    if a.from == ChunkKind::User
        && let Some(first) = lines.first_mut()
    {
        first.gutter = gutter(BAR, Token::BarUser);
    }
    lines
}

/// A content block: text as it is, anything else as its label.
pub(super) fn block(block: &Block, ctx: &CellCtx<'_>, max: usize) -> Vec<LogicalLine> {
    match block {
        Block::Text(text) => capped(text, max, Token::Text),
        Block::Other { label: what, uri, text, picture } => {
            let mut head = StyledText::of(format!("[{}]", label(what)), Token::Text);
            if let Some(uri) = uri.as_deref().filter(|u| !u.is_empty() && !what.contains(*u)) {
                let shown = uri.strip_prefix("file://").map_or_else(|| label(uri), |path| display(path, ctx));
                head.push(&format!(" {shown}"), Token::Dim);
            }
            let mut lines = vec![LogicalLine::text(head)];
            if let Some(text) = text {
                lines.extend(capped(text, max, Token::Dim));
            }
            if let Some(picture) = picture {
                lines.extend(super::pictures::lines(picture, ctx));
            }
            lines
        }
    }
}

/// At most `max` lines of a text, and how many more there are.
pub(super) fn capped(text: &str, max: usize, token: Token) -> Vec<LogicalLine> {
    let head = text.get(..text.floor_char_boundary(256 << 10)).unwrap_or_default();
    let clean = sanitize::block(head);
    let body = clean.trim_end_matches('\n');
    let mut lines: Vec<LogicalLine> =
        body.split('\n').take(max).map(|l| LogicalLine::text(StyledText::of(l, token))).collect();
    let more = body.split('\n').count().saturating_sub(max);
    if more > 0 || head.len() < text.len() {
        lines.push(more_lines(more, head.len() < text.len()));
    }
    lines
}

pub(super) fn file(op: &FileOp, ctx: &CellCtx<'_>) -> Vec<LogicalLine> {
    let path = display(&op.path, ctx);
    let verb = match op.verb {
        FileVerb::Read => "read",
        FileVerb::Write => "write",
    };
    let mut line = match &op.outcome {
        FileOutcome::Pending => dim(format!("{verb} {path} …")),
        FileOutcome::Written { created, bytes, old, new } => {
            let did = if *created { "created" } else { "wrote" };
            let mut figures = StyledText::of("  ", Token::Dim);
            match (created, old) {
                // The lines of a text that was cut are not known.
                (true, None) if (new.len() as u64) < *bytes => figures.push(&human::bytes(*bytes), Token::Dim),
                (true, _) if new.is_empty() => figures.push("empty", Token::Dim),
                (true, _) | (false, Some(_)) => {
                    figures.append(&super::diffs::figures(old.as_deref().unwrap_or_default(), new));
                }
                (false, None) => figures.push(&human::bytes(*bytes), Token::Dim),
            }
            if op.is_outside {
                figures.push("  outside: not reviewed, no undo", Token::Warn);
            }
            // A long path is cut at its start before what is said of it takes a row of its own.
            let room = usize::from(ctx.width).saturating_sub(did.len() + 1 + styled_width(&figures));
            let path = if op.is_outside && room >= SHORT_PATH { truncate_start(&path, room) } else { path.into() };
            let mut text = StyledText::of(format!("{did} {path}"), Token::Dim);
            text.append(&figures);
            LogicalLine::text(text)
        }
        FileOutcome::Altered => dim(format!("wrote {path}, changed by you")),
        FileOutcome::Refused(reason) => {
            let mut text = StyledText::of(format!("refused to {verb} {path}: "), Token::Text);
            text.push(&label(reason), Token::Text);
            LogicalLine { gutter: gutter("✗", Token::SignBad), ..LogicalLine::text(text) }
        }
    };
    if line.gutter.is_empty() {
        line.gutter = gutter("·", Token::Dim);
    }
    vec![line]
}

fn detail_lines(text: &str) -> Vec<LogicalLine> {
    let cut = text.get(..text.floor_char_boundary(MAX_LABEL)).unwrap_or_default();
    sanitize::block(cut).split('\n').map(dim).collect()
}

fn is_wide(line: &str, ctx: &CellCtx<'_>) -> bool {
    str_width(line) > usize::from(ctx.width)
}

/// A sign that there is more, and the last lines, each on a row. Those that are indented belong to others, as the frames
/// of a stack do, and are shown only where there is nothing else.
fn end_of_detail(detail: &[String]) -> Vec<LogicalLine> {
    let is_own = |line: &&String| !line.starts_with([' ', '\t']) && !line.trim().is_empty();
    let mut last: Vec<&String> = detail.iter().rev().filter(is_own).take(END_LINES).collect();
    if last.is_empty() {
        last = detail.iter().rev().take(END_LINES).collect();
    }
    let hidden = detail.len() - last.len();
    let words = if hidden == 0 { String::new() } else { format!(" {}", human::count(hidden as u64, "line")) };
    let right = StyledText::of(FOLDED.trim_start(), Token::Dim);
    let above = LogicalLine { right, ..dim(format!("⋯{words}")) };
    let rows = last.into_iter().rev().flat_map(|line| detail_lines(line));
    std::iter::once(above).chain(rows.map(|row| LogicalLine { wrap: WrapMode::Truncate, ..row })).collect()
}

/// A text that is laid out as answers are, as a whole: it is not long.
fn prose(text: &str, ctx: &CellCtx<'_>) -> Vec<LogicalLine> {
    let mut split = StablePrefix::new();
    split.extend(text, Markdown::Yes);
    split.finish(text);
    (0..split.pieces().len()).flat_map(|index| pieces::lines(text, &split, index, ctx.width)).collect()
}

pub(super) fn notice(n: &Notice, ctx: &CellCtx<'_>) -> Vec<LogicalLine> {
    let (glyph, token) = match n.level {
        Level::Info => ("·", Token::Dim),
        Level::Warn => ("!", Token::SignWarn),
        Level::Error => ("✗", Token::SignBad),
    };
    let title = if n.level == Level::Info { Token::Dim } else { Token::Text };
    let words = if n.by_agent { format!("the agent says: {}", label(&n.title)) } else { label(&n.title) };
    let mut lines =
        vec![LogicalLine { gutter: gutter(glyph, token), ..LogicalLine::text(StyledText::of(words, title)) }];
    match n.fold {
        _ if n.detail.is_empty() || ctx.fold == Some(Fold::Open) => {}
        DetailFold::Nothing => {
            if let Some(first) = lines.first_mut() {
                first.right = StyledText::of(FOLDED.trim_start(), Token::Dim);
            }
            return lines;
        }
        DetailFold::End if n.detail.len() > END_LINES || n.detail.iter().any(|line| is_wide(line, ctx)) => {
            lines.extend(end_of_detail(&n.detail));
            return lines;
        }
        DetailFold::End | DetailFold::All => {}
    }
    let detail = n.detail.get(..n.detail.len().min(MAX_DETAIL_LINES)).unwrap_or_default();
    if n.is_prose {
        lines.extend(prose(&detail.join("\n"), ctx));
    } else {
        lines.extend(detail.iter().flat_map(|text| detail_lines(text)));
    }
    let more = n.detail.len().saturating_sub(MAX_DETAIL_LINES);
    if more > 0 {
        lines.push(more_lines(more, false));
    }
    lines
}
