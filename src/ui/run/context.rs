//! What drawing and keys are given of the program's state: the session that is shown, and what stands around it.

use super::UiOptions;
use crate::engine::Engine;
use crate::model::ids::Now;
use crate::ui::msg::FrameInfo;
use crate::ui::state::App;
use crate::ui::update::Cx;
use crate::ui::view::ViewCx;

/// Nothing only when no session is shown, which cannot be.
pub(super) fn view_cx<'a>(engine: &'a Engine, app: &'a App, options: &'a UiOptions, now: Now) -> Option<ViewCx<'a>> {
    Some(ViewCx {
        model: engine.model(),
        session: engine.model().at(app.shown())?,
        history: engine.history(),
        state: app,
        theme: options.looks.theme(),
        now,
        animation: options.animation,
        home: options.home.as_deref(),
    })
}

pub(super) fn update_cx<'a>(engine: &'a Engine, app: &App, frame: &'a FrameInfo) -> Option<Cx<'a>> {
    let model = engine.model();
    Some(Cx { model, session: model.at(app.shown())?, history: engine.history(), frame, now: engine.now() })
}
