//! Where in the transcript the person is, and what of it is folded: asked of what was laid out for the last frame.
//!
//! Draws nothing. Invariant: nothing moves that was not on the screen.

use super::Running;
use super::context::{update_cx, view_cx};
use crate::model::ids::EntryId;
use crate::ui::frame::Urgency;
use crate::ui::keys::Step;
use crate::ui::msg::ScrollBy;
use crate::ui::screen::Device;
use crate::ui::state::reading::{Looked, Reach, Way};
use crate::ui::state::scroll::Scroll;
use crate::ui::update;
use std::time::{Duration, Instant};

/// How long what has left memory is read before the screen has its turn.
const LOOK: Duration = Duration::from_millis(8);

pub(super) fn fold<D: Device>(running: &mut Running<D>, entry: EntryId) {
    let Running { engine, app, options, transcript, info, .. } = running;
    let Some(cx) = view_cx(engine, app, options, engine.now()) else { return };
    if let Some((entry, fold)) = transcript.next_fold(&cx.draw_ctx(), info.transcript, entry) {
        app.view.folds.set(entry, fold);
    } else if app.view.reading.is_some() {
        app.say("all of it is shown", engine.now());
    }
}

/// Where the end is followed, the view is held as long as it then ends above what was unfolded.
pub(super) fn fold_in_place<D: Device>(running: &mut Running<D>, entry: EntryId) {
    let scroll = running.app.view.scroll;
    let Running { engine, app, options, transcript, info, .. } = running;
    let Some(cx) = view_cx(engine, app, options, engine.now()) else { return };
    let held = transcript.held(&cx.draw_ctx(), info.transcript, scroll);
    fold(running, entry);
    let Running { engine, app, options, transcript, info, .. } = running;
    let Some(cx) = view_cx(engine, app, options, engine.now()) else { return };
    let held = transcript.settled(&cx.draw_ctx(), info.transcript, held);
    app.view.scroll = held;
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

/// To the next place of what is looked for: in the entry that is selected, else in the next one that has it.
pub(super) fn seek<D: Device>(running: &mut Running<D>, way: Way) {
    if !seek_in(running, way) {
        let Running { engine, app, info, .. } = running;
        let Some(cx) = update_cx(engine, app, info) else { return };
        if update::reading::seek_on(app, cx, way) != Looked::Found {
            return;
        }
        seek_in(running, way);
    }
    tell_place(running);
}

fn tell_place<D: Device>(running: &mut Running<D>) {
    let Running { engine, app, info, .. } = running;
    if let Some(cx) = update_cx(engine, app, info) {
        update::reading::tell_place(app, cx);
    }
}

/// Goes on looking for the next entry of a sort, for a moment at a time: what has left memory is read for that.
pub(super) fn look_on<D: Device>(running: &mut Running<D>) {
    let Running { engine, app, info, frames, .. } = running;
    let Some(looks) = app.view.reading.as_ref().and_then(|reading| reading.looks.clone()) else { return };
    let Some(cx) = update_cx(engine, app, info) else { return };
    let (until, history) = (Instant::now() + LOOK, engine.history());
    let looked = update::reading::look_on(app, cx, |away, id| (Instant::now() < until).then(|| away.read(id, history)));
    frames.want(Urgency::NextFrame, cx.now);
    if looked == Looked::Found && looks.step == Step::Found {
        update::reading::leave_sought(app, cx);
        seek_in(running, looks.way);
        tell_place(running);
    }
}

/// In what is selected; where it is folded away there, that is opened.
fn seek_in<D: Device>(running: &mut Running<D>, way: Way) -> bool {
    if seek_here(running, way, Reach::Seen) {
        return true;
    }
    let Some(at) = running.app.view.reading.as_ref().map(|reading| reading.at) else { return false };
    let Running { engine, app, options, transcript, info, .. } = &mut *running;
    let Some(cx) = view_cx(engine, app, options, engine.now()) else { return false };
    let row = transcript.sharing(&cx.draw_ctx(), info.transcript, at);
    let Some(cx) = update_cx(engine, app, info) else { return false };
    let unfolded = update::reading::open_sought(app, cx, way, &row);
    if unfolded > 0 {
        if seek_here(running, way, Reach::Seen) {
            return true;
        }
        update::reading::fold_in_vain(&mut running.app, at, unfolded);
    }
    // What was unfolded shows it already.
    let is_shown = running.app.view.reading.as_ref().is_some_and(|reading| !reading.opened.is_empty());
    !is_shown && seek_here(running, way, Reach::Laid)
}

fn seek_here<D: Device>(running: &mut Running<D>, way: Way, reach: Reach) -> bool {
    let Running { engine, app, options, transcript, info, .. } = running;
    let mut scroll = app.view.scroll;
    let Some(cx) = view_cx(engine, app, options, engine.now()) else { return false };
    let Some(reading) = &app.view.reading else { return false };
    let (at, sought) = ((reading.at, reading.hit.as_ref()), (&reading.sought, way, reach));
    let found = transcript.seek(&cx.draw_ctx(), info.transcript, &mut scroll, at, sought);
    if found.is_none() {
        return false;
    }
    app.view.scroll = scroll;
    if let Some(reading) = &mut app.view.reading {
        reading.hit = found;
    }
    true
}
