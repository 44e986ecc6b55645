//! What every command says: results on standard output, everything else and questions on standard error.
//!
//! Invariant: what is said is cleaned; a closed output is no fault.

use super::usage::Usage;
use crate::base::{human, sanitize};
use crate::engine::{Goodbye, Unwritten};
use crate::headless::{code, said};
use crate::ui::labels::GoesOn;
use crate::ui::tty;
use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::time::Duration;

pub(super) fn say(words: &str) {
    said::write(format!("acp-tui: {}\n", sanitize::line(words)));
}

/// The same with a command in a row of its own, where it is copied whole on a narrow terminal too.
pub(super) fn say_with(words: &str, command: &str) {
    said::write(format!("acp-tui: {}\n  {}\n", sanitize::line(words), sanitize::line(command)));
}

pub(super) fn print(text: &str) -> Result<u8, Usage> {
    Ok(written(&io::stdout().write_all(text.as_bytes())))
}

/// How a command ends whose output was written like this.
pub(super) fn written(done: &io::Result<()>) -> u8 {
    match done {
        Ok(()) => code::OK,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => code::READER_GONE,
        Err(error) => {
            say(&format!("it cannot be written: {error}"));
            code::OWN_FAULT
        }
    }
}

pub(super) fn is_screen() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// Columns of the terminal that standard output is.
pub(super) fn columns() -> Option<usize> {
    let (columns, _) = io::stdout().is_terminal().then(tty::size)?.ok()?;
    Some(usize::from(columns)).filter(|columns| *columns > 0)
}

/// Whether the terminal can place what is drawn.
pub(super) fn can_draw() -> bool {
    is_screen() && std::env::var("TERM").map_or(true, |term| term != "dumb")
}

/// What the person should know of what is left; `on_screen`: what was said before has gone with the screen.
pub(super) fn say_goodbye(goodbye: &Goodbye, on_screen: bool) {
    if let Some(words) = goodbye.unwritten.as_ref().and_then(|unwritten| missing(unwritten, on_screen)) {
        say(&words);
    }
    if let Some(why) = &goodbye.unrecorded {
        say(&format!("the end of the recording is missing: {why}"));
    }
    if let Some(why) = &goodbye.unlogged {
        say(&format!("the last decisions are missing in the audit log: {why}"));
    }
    for message in &goodbye.unheard {
        say(message);
    }
    for survivor in &goodbye.survivors {
        say(&format!("still running in a session of its own: {survivor}"));
    }
}

/// What of the run is in no journal, unless that stands there already.
fn missing(Unwritten { lost, is_there }: &Unwritten, on_screen: bool) -> Option<String> {
    let since = || human::duration(lost.since.elapsed().max(Duration::from_secs(1)));
    let what = if *is_there {
        format!("the last {} of this run are missing in its journal", since())
    } else {
        "nothing of this run is recorded".to_owned()
    };
    (on_screen || !lost.was_said).then(|| format!("{what}: {}", lost.why))
}

/// Whether a session can be gone on with after such an end: there is a journal of it.
pub(super) fn is_kept(goodbye: &Goodbye, one: &GoesOn) -> bool {
    one.is_stored || goodbye.unwritten.as_ref().is_none_or(|unwritten| unwritten.is_there)
}

/// Only a yes is one.
pub(super) fn confirmed(question: &str) -> bool {
    // Standard error may be closed; then the answer will not be yes.
    let _ = write!(io::stderr(), "{question} [y/N] ");
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer).is_ok() && matches!(answer.trim(), "y" | "Y" | "yes")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::writer::Lost;
    use std::time::Instant;

    #[test]
    fn what_is_in_no_journal_is_said_at_the_end_and_is_not_offered_to_go_on_with() {
        let lost = |was_said| Lost { why: "no room".into(), since: Instant::now(), was_said };
        let said = |is_there, was_said, on_screen| missing(&Unwritten { lost: lost(was_said), is_there }, on_screen);
        let end = Some("the last 1 s of this run are missing in its journal: no room".to_owned());
        assert_eq!((said(true, false, false), said(true, true, true)), (end.clone(), end));
        assert_eq!(said(true, true, false), None, "it stands there");
        assert_eq!(said(false, false, true).as_deref(), Some("nothing of this run is recorded: no room"));
        let one = |is_stored| GoesOn { id: "s".into(), about: String::new(), is_stored };
        let of = |is_there| Goodbye { unwritten: Some(Unwritten { lost: lost(true), is_there }), ..Goodbye::default() };
        assert!(is_kept(&Goodbye::default(), &one(false)) && is_kept(&of(true), &one(false)));
        assert!(is_kept(&of(false), &one(true)) && !is_kept(&of(false), &one(false)));
    }
}
