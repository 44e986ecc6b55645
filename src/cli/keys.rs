//! `keys`: every key as it is bound now, in the form of the file that changes it.
//!
//! Changes nothing. What is wrong in the file is said on standard error.

use super::launch::Surroundings;
use super::output::{print, say};
use super::usage::Usage;
use crate::base::toml_doc::Warning;
use crate::config::load;
use crate::headless::code;
use crate::ui::keys::Keymap;

/// The person's keys, and what is wrong with their file.
pub(super) fn read(surroundings: &Surroundings) -> (Keymap, Vec<Warning>) {
    let Some(dirs) = &surroundings.dirs else { return (Keymap::default(), Vec::new()) };
    match load::read(&dirs.keys_file()) {
        Ok(Some(text)) => Keymap::read(&text, "keys.toml"),
        Ok(None) => (Keymap::default(), Vec::new()),
        Err(reason) => {
            let message = format!("cannot be read, the usual keys apply: {reason}");
            (Keymap::default(), vec![Warning { file: "keys.toml".into(), line: None, message }])
        }
    }
}

/// `acp-tui keys`.
pub fn run() -> Result<u8, Usage> {
    let (keys, warnings) = read(&Surroundings::read());
    for warning in &warnings {
        say(&warning.to_string());
    }
    print(&keys.as_toml())?;
    Ok(if warnings.is_empty() { code::OK } else { code::USAGE })
}
