//! Where in the transcript the person is, and what of it is folded: asked of what was laid out for the last frame.
//!
//! Draws nothing. Invariant: nothing moves that was not on the screen.

use super::Running;
use super::context::view_cx;
use crate::model::ids::EntryId;
use crate::ui::msg::ScrollBy;
use crate::ui::screen::Device;
use crate::ui::state::scroll::Scroll;

pub(super) fn fold<D: Device>(running: &mut Running<D>, entry: EntryId) {
    let Running { engine, app, options, transcript, info, .. } = running;
    let Some(cx) = view_cx(engine, app, options, engine.now()) else { return };
    if let Some((entry, fold)) = transcript.next_fold(&cx.draw_ctx(), info.transcript, entry) {
        app.view.folds.set(entry, fold);
    }
}

pub(super) fn scroll<D: Device>(running: &mut Running<D>, by: ScrollBy) {
    let Running { engine, app, options, transcript, info, .. } = running;
    let area = info.transcript;
    if area.is_empty() {
        if by == ScrollBy::End {
            app.view.scroll = Scroll::Follow;
        }
        return;
    }
    let mut scroll = app.view.scroll;
    let Some(cx) = view_cx(engine, app, options, engine.now()) else { return };
    let cx = cx.draw_ctx();
    let page = i32::from(area.height).saturating_sub(1).max(1);
    match by {
        ScrollBy::Rows(rows) => transcript.scroll_by(&cx, area, &mut scroll, rows),
        ScrollBy::Pages(pages) => {
            transcript.scroll_by(&cx, area, &mut scroll, pages.saturating_mul(page));
        }
        ScrollBy::Top => transcript.to_top(&cx, area, &mut scroll),
        ScrollBy::End => transcript.to_end(&cx, area, &mut scroll),
    }
    app.view.scroll = scroll;
}
