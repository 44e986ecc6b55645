//! `keys`: every key as it is bound now, in the form of the file that changes it; with `--press` what the terminal sends for
//! those that are pressed, and what they do.
//!
//! Changes nothing. What is wrong in the file is said on standard error.

use super::launch::Surroundings;
use super::output::{print, say};
use super::usage::Usage;
use crate::base::toml_doc::Warning;
use crate::config::load;
use crate::headless::code;
use crate::ui::keys::Keymap;
use crate::ui::tty::press;
use std::io::{self, IsTerminal as _};

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
pub fn run(presses: bool) -> Result<u8, Usage> {
    let (keys, warnings) = read(&Surroundings::read());
    for warning in &warnings {
        say(&warning.to_string());
    }
    if presses {
        let is_there = io::stdin().is_terminal() && io::stdout().is_terminal();
        if !is_there {
            return Err(Usage("--press needs a terminal".into()));
        }
        press::show(&keys).map_err(|error| Usage(format!("the terminal cannot be read: {error}")))?;
        return Ok(code::OK);
    }
    print(&keys.as_toml())?;
    Ok(if warnings.is_empty() { code::OK } else { code::USAGE })
}
