//! Has pictures in view decoded, one after the other, and the one that the person wants written into a file.
//!
//! Waits for nothing. Invariant: nothing is decoded where nothing can be drawn.

use super::Running;
use crate::base::media::{self, Media};
use crate::base::picture::Picture;
use crate::model::session_ref::SessionRef;
use crate::theme::color::Depth;
use crate::ui::cells;
use crate::ui::frame::Urgency;
use crate::ui::msg::{What, Whither};
use crate::ui::screen::Device;
use crate::ui::transcript::Transcript;
use crate::ui::work::pictures::Painted;
use std::sync::Arc;

/// The first one in view of which nothing is known.
pub(super) fn ask<D: Device>(running: &mut Running<D>) {
    if !running.painter.is_idle() || running.options.looks.theme().depth() == Depth::None {
        return;
    }
    let Some(session) = running.engine.model().at(running.app.shown()) else { return };
    let width = cells::pictures::columns(Transcript::text_width(running.info.transcript.width));
    let mut wanted = running.info.hits.iter().filter_map(|(_, entry)| wanted(session, running, *entry, width));
    if let Some(picture) = wanted.next() {
        running.painter.ask(picture, width);
    }
}

fn wanted<D: Device>(
    session: SessionRef<'_>,
    running: &Running<D>,
    entry: crate::model::ids::EntryId,
    width: u16,
) -> Option<Arc<Picture>> {
    let entry = session.entries().get(entry)?;
    cells::pictures::of(entry).find(|picture| running.app.pictures.of(picture, width).is_none()).cloned()
}

pub(super) fn painted<D: Device>(running: &mut Running<D>, (picture, width, drawn): Painted) {
    running.app.pictures.learn(&picture, width, drawn);
    running.frames.want(Urgency::NextFrame, running.engine.now());
}

/// Into a file with the name of its kind; what the agent calls it is not believed.
pub(super) fn keep<D: Device>(running: &mut Running<D>, picture: Arc<Picture>, whither: Whither) {
    let content = move || {
        let bytes = picture.bytes()?;
        let ending = match media::of(&bytes) {
            Some(Media::Image(mime)) => mime.strip_prefix("image/").unwrap_or("bin"),
            _ => "bin",
        };
        Some((format!("picture.{ending}"), bytes))
    };
    running.copier.save_as(What::Picture(whither), content);
}
