//! `--attach`: files that go along with a prompt.

use super::usage::Usage;
use crate::base::paths::visible;
use crate::engine::attach;
use crate::model::event::Link;
use std::path::PathBuf;

/// Reads them before anything is started; what an agent takes of them shows when it is there.
pub(super) fn read(files: &[PathBuf]) -> Result<Vec<Link>, Usage> {
    let named = |why: String| Usage(format!("--attach {why}"));
    let read = |file: &PathBuf| {
        let name = visible(file.as_os_str());
        let file = std::path::absolute(file).map_err(|error| named(format!("{name}: {error}")))?;
        attach::read(&file, name).map_err(named)
    };
    attach::within(files.iter().map(read).collect::<Result<_, _>>()?).map_err(named)
}
