//! The agent's plan: one line that sums it up, one for each entry.

use super::head::FOLDED;
use super::message::label;
use super::{CellCtx, Fold, gutter};
use crate::model::entry::{PlanEntry, PlanStatus};
use crate::text::line::LogicalLine;
use crate::text::run::{Mods, RunStyle, StyledText};
use crate::text::token::Token;
use crate::ui::md;

/// Three bars. The trigram that looks better is one column wide in older terminals and two in newer ones.
const GLYPH: &str = "≡";
const MAX_ENTRIES: usize = 200;

/// Where the panel shows it, its sum says it here.
pub(super) fn lines(entries: &[PlanEntry], ctx: &CellCtx<'_>) -> Vec<LogicalLine> {
    let done = entries.iter().filter(|e| e.status == PlanStatus::Completed).count();
    let mut head = StyledText::of("plan", Token::Text);
    let all = entries.iter().filter(|e| e.status != PlanStatus::Unreadable).count();
    head.push(&format!("  {done} of {all}"), Token::Dim);
    let is_closed = if ctx.plan_beside { ctx.fold != Some(Fold::Open) } else { ctx.fold == Some(Fold::Closed) };
    let right = StyledText::of(if is_closed { FOLDED.trim_start() } else { "" }, Token::Dim);
    let mut lines = vec![LogicalLine { gutter: gutter(GLYPH, Token::Dim), right, ..LogicalLine::text(head) }];
    if is_closed {
        return lines;
    }
    for entry in entries.iter().take(MAX_ENTRIES) {
        let (glyph, mark, style) = match &entry.status {
            PlanStatus::Completed => ("✓", Token::SignGood, RunStyle::from(Token::Dim)),
            PlanStatus::InProgress => ("▸", Token::SignRun, RunStyle::from(Token::Text).with_mods(Mods::BOLD)),
            PlanStatus::Pending | PlanStatus::Other(_) => ("·", Token::Dim, RunStyle::from(Token::Text)),
            PlanStatus::Unreadable => ("?", Token::SignWarn, RunStyle::from(Token::Dim)),
        };
        let mut text = words(&entry.content, style);
        if let PlanStatus::Other(word) = &entry.status {
            text.push(&format!("  {}", label(word)), Token::Dim);
        }
        let mut prefix = StyledText::of("   ", Token::Text);
        prefix.push(&format!("{glyph} "), mark);
        lines.push(LogicalLine { prefix, hang: StyledText::of("     ", Token::Text), ..LogicalLine::text(text) });
    }
    if entries.len() > MAX_ENTRIES {
        lines.push(super::lines::more_lines(entries.len() - MAX_ENTRIES, false));
    }
    lines
}

/// What a step says: agents write code and stress as in their answers.
pub fn words(content: &str, style: RunStyle) -> StyledText {
    let plain = label(content);
    let lines = md::lines(&plain, u16::MAX);
    let [line] = lines.as_slice() else { return StyledText::of(plain, style) };
    // A list, a quote or a block of code it is not.
    if !line.prefix.is_empty() || line.code.is_some() || line.source.is_some() {
        return StyledText::of(plain, style);
    }
    let mut text = StyledText::new();
    for (piece, own) in line.text.iter() {
        text.push(piece, if own.token == Token::Text { style.with_mods(own.mods) } else { own.with_mods(style.mods) });
    }
    text
}
