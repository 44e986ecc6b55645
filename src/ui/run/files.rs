//! Has files looked for while one is named in the prompt.
//!
//! Waits for nothing: what is found comes to the loop. Invariant: files are looked for only while a name is typed.

use crate::model::Model;
use crate::ui::state::App;
use crate::ui::work::files::{Finder, Question};
use std::path::PathBuf;

/// Asks for what is typed behind `@`, in the directory of the session that is shown.
pub(super) fn look(finder: &mut Finder, app: &App, model: &Model) {
    match (app.view.mentions.wanted(&app.view.composer), model.at(app.shown())) {
        (Some(text), Some(shown)) => {
            finder.ask(Question { dir: PathBuf::from(&shown.cwd), text: text.to_owned() });
        }
        _ => finder.rest(),
    }
}
