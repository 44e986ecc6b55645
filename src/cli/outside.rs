//! What there is around the screen, as the environment and the configuration say: how a person who looks elsewhere is
//! told, which programs take what is copied, and which one has a say on the status line.
//!
//! Starts nothing itself. Invariant: over SSH no program of this machine is taken for the person's clipboard.

use super::launch::Surroundings;
use crate::config::schema::Notify;
use crate::host::process::{Git, ask_tool, run_tool};
use crate::store::private::make_private_dir;
use crate::store::replace::{Durability, Replacement};
use crate::ui::run::{Ask, Branch, Notices, Outside, Run, StatusProgram, ToFile, Tools};
use crate::ui::tty::Multiplexer;
use crate::ui::tty::clipboard::MAX_TEXT;
use crate::ui::tty::outside::{self, Channel};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where a text goes that is too long for the terminal's clipboard, below the state directory.
const CLIPBOARD: &str = "clipboard.txt";
/// Where pictures go that the person wants to have, below the same.
const PICTURES: &str = "pictures";

/// How a person who looks elsewhere is told.
pub(super) fn outside(
    surroundings: &Surroundings,
    through: Multiplexer,
    get: impl Fn(&str) -> Option<String>,
) -> Outside {
    // The console of the kernel shows pieces of what it does not understand.
    let is_console = get("TERM").as_deref() == Some("linux");
    let guess = || if is_console { Channel::Bell } else { Channel::from_env(&get, through) };
    let notices = match &surroundings.config.notify {
        Some(Notify::Program(words)) => Notices::Program(words.clone(), run()),
        Some(Notify::By(name)) if name == "off" => Notices::Off,
        Some(Notify::By(name)) => Notices::Terminal(Channel::named(name).unwrap_or_else(guess)),
        None => Notices::Terminal(guess()),
    };
    let shows_progress = !is_console && outside::shows_progress(&get, through);
    Outside { notices, shows_progress, takes_questions: !is_console }
}

/// What takes a copied text.
pub(super) fn clipboard(surroundings: &Surroundings, get: impl Fn(&str) -> Option<String>) -> Tools {
    let state = surroundings.dirs.as_ref().map(|dirs| dirs.state.clone());
    let file = state.map(|state| -> ToFile { Arc::new(move |name, bytes| keep(&state, name, bytes)) });
    Tools { run: Some(run()), programs: programs(get, cfg!(target_os = "macos")), file, max: MAX_TEXT }
}

/// What makes words for the status line.
pub(super) fn status_command(surroundings: &Surroundings) -> Option<StatusProgram> {
    let words = surroundings.config.status_command.clone()?;
    let ask: Ask = Arc::new(|words, input, patience| Box::pin(ask_tool(words, input, patience)));
    let branch: Branch = Arc::new(|dir| {
        let name = Git::at(dir).line(&["rev-parse", "--abbrev-ref", "HEAD"]).ok()?;
        // A commit that is no branch's.
        (!name.is_empty() && name != "HEAD").then_some(name)
    });
    Some(StatusProgram { words, ask, branch })
}

fn run() -> Run {
    Arc::new(|words, input, patience| Box::pin(run_tool(words, input, patience)))
}

fn programs(get: impl Fn(&str) -> Option<String>, is_mac: bool) -> Vec<Vec<String>> {
    let set = |name: &str| get(name).is_some_and(|value| !value.is_empty());
    let mut programs: Vec<&[&str]> = Vec::new();
    // Over SSH the person sits before another machine.
    if !set("SSH_CONNECTION") && !set("SSH_TTY") {
        if is_mac {
            programs.push(&["pbcopy"]);
        }
        if set("WAYLAND_DISPLAY") {
            programs.push(&["wl-copy"]);
        }
        if set("DISPLAY") {
            programs.push(&["xclip", "-selection", "clipboard", "-in"]);
            programs.push(&["xsel", "--clipboard", "--input"]);
        }
    }
    // Its own buffer, and the terminal around it where it may.
    if set("TMUX") {
        programs.push(&["tmux", "load-buffer", "-w", "-"]);
    }
    programs.into_iter().map(|words| words.iter().map(|word| (*word).to_owned()).collect()).collect()
}

fn keep(state: &Path, name: Option<&str>, bytes: &[u8]) -> io::Result<PathBuf> {
    make_private_dir(state)?;
    let path = match name {
        None => state.join(CLIPBOARD),
        Some(name) => {
            let dir = state.join(PICTURES);
            make_private_dir(&dir)?;
            free(&dir, name)
        }
    };
    let mut file = Replacement::of(&path)?;
    file.write_all(bytes)?;
    file.finish(Durability::None)?;
    Ok(path)
}

/// A name that is not taken: `picture-2.png` after `picture-1.png`.
fn free(dir: &Path, name: &str) -> PathBuf {
    let (stem, ending) = name.rsplit_once('.').unwrap_or((name, "bin"));
    let of = |number: u32| dir.join(format!("{stem}-{number}.{ending}"));
    (1..10_000).map(of).find(|path| !path.exists()).unwrap_or_else(|| of(10_000))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(set: &[(&str, &str)], is_mac: bool) -> Vec<String> {
        let get = |name: &str| set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        programs(get, is_mac).into_iter().map(|words| words[0].clone()).collect()
    }

    #[test]
    fn programs_of_this_machine_are_for_who_sits_before_it() {
        assert_eq!(names(&[("DISPLAY", ":0")], false), ["xclip", "xsel"]);
        assert_eq!(names(&[("DISPLAY", ":0"), ("WAYLAND_DISPLAY", "wayland-0")], false), ["wl-copy", "xclip", "xsel"]);
        assert_eq!(names(&[], true), ["pbcopy"]);
        let far = [("DISPLAY", "localhost:10.0"), ("SSH_CONNECTION", "1 2 3 4"), ("TMUX", "/tmp/tmux-0/default,1,0")];
        assert_eq!(names(&far, true), ["tmux"]);
        assert!(names(&[("DISPLAY", "")], false).is_empty());
    }

    #[test]
    fn a_long_text_lies_in_a_file_of_the_owner() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let path = keep(&dir.path().join("state"), None, b"first").unwrap();
        assert_eq!(keep(&dir.path().join("state"), None, b"second").unwrap(), path);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "second");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn each_picture_has_a_file_of_its_own() {
        let dir = tempfile::tempdir().unwrap();
        let state = dir.path().join("state");
        let names: Vec<_> = ["a", "b"].map(|bytes| keep(&state, Some("picture.png"), bytes.as_bytes()).unwrap()).into();
        assert_eq!(names, [state.join("pictures/picture-1.png"), state.join("pictures/picture-2.png")]);
        assert_eq!(std::fs::read(&names[1]).unwrap(), b"b");
    }
}
