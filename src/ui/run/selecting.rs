//! Selecting: places of the screen to words of the conversation, asked of what was laid out for the last frame.
//!
//! Draws nothing.

use super::Running;
use super::context::view_cx;
use crate::base::sanitize;
use crate::ui::msg::What;
use crate::ui::screen::Device;
use crate::ui::state::selection::{Grip, Selection};
use ratatui::layout::Position;

/// From where it was begun, if that was only now, to there.
pub(super) fn select<D: Device>(running: &mut Running<D>, from: Position, to: Position) {
    let Running { engine, app, options, transcript, info, .. } = running;
    let Some(cx) = view_cx(engine, app, options, engine.now()) else { return };
    let (cx, scroll) = (cx.draw_ctx(), app.view.scroll);
    let mut spot = |at| transcript.spot(&cx, info.transcript, scroll, at);
    let begun = app.view.grip.selection().map(|selection| selection.from.clone());
    let (Some(from), Some(to)) = (begun.or_else(|| spot(from)), spot(to)) else { return };
    app.view.grip = Grip::Moves(Selection { from, to });
}

pub(super) fn copy<D: Device>(running: &mut Running<D>) {
    let Running { engine, app, options, transcript, info, copier, .. } = running;
    let Some(cx) = view_cx(engine, app, options, engine.now()) else { return };
    let cx = cx.draw_ctx();
    let Some(selection) = app.view.grip.selection() else { return };
    let (text, is_all) = transcript.selected(&cx, info.transcript, selection);
    let text = sanitize::copied(&text).into_owned();
    if text.is_empty() {
        return;
    }
    let count = text.chars().count();
    copier.copy(if is_all { What::Characters(count) } else { What::First(count) }, text);
}
