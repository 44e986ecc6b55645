//! What is told to the terminal for a person who looks elsewhere: notices, progress, and the state of the program.
//!
//! Only builds the bytes. Which sequences a terminal understands is guessed from the environment, since most do not
//! answer when asked; where nothing is known the bell rings. Invariants: no text of an agent can end a sequence or hide
//! in one; nothing is sent to a terminal that would show it as something else.

use super::clipboard::Multiplexer;
use crate::base::sanitize::is_deceptive;

/// Characters of a title, and of what is said below it.
const MAX_TEXT: usize = 200;

/// How a notice is told.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Channel {
    #[default]
    Bell,
    /// One line.
    Osc9,
    /// With a title and an identity: a later notice of the same session takes the place of the first.
    Osc99,
    /// With a title.
    Osc777,
}

impl Channel {
    pub const NAMES: [(&'static str, Self); 4] =
        [("bell", Self::Bell), ("osc9", Self::Osc9), ("osc99", Self::Osc99), ("osc777", Self::Osc777)];

    pub fn named(name: &str) -> Option<Self> {
        Self::NAMES.into_iter().find(|(known, _)| *known == name).map(|(_, channel)| channel)
    }

    /// What the terminal understands, as the environment tells. `get` looks up a variable.
    pub fn from_env(get: impl Fn(&str) -> Option<String>, through: Multiplexer) -> Self {
        let set = |name: &str| get(name).is_some_and(|value| !value.is_empty());
        let term = get("TERM").unwrap_or_default();
        match through {
            // What is around it is not known; what is passed on is understood by most, and dropped by the others.
            Multiplexer::Tmux => return Self::Osc9,
            Multiplexer::Screen => return Self::Bell,
            Multiplexer::None => {}
        }
        if set("KITTY_WINDOW_ID") || term == "xterm-kitty" {
            return Self::Osc99;
        }
        if let Some("iTerm.app" | "WezTerm" | "ghostty") = get("TERM_PROGRAM").as_deref() {
            return Self::Osc9;
        }
        if term.starts_with("foot") || term.starts_with("rxvt") || set("VTE_VERSION") {
            Self::Osc777
        } else {
            Self::Bell
        }
    }
}

/// Tells the person something. `id` says which notices take each other's place.
pub fn notice(channel: Channel, id: u64, title: &str, body: &str, through: Multiplexer) -> Vec<u8> {
    let (title, body) = (clean(title), clean(body));
    let told = match channel {
        Channel::Bell => return b"\x07".to_vec(),
        // Terminals take a number in front for something else.
        Channel::Osc9 => format!("\x1b]9;acp-tui: {title} {body}\x1b\\"),
        Channel::Osc99 => {
            format!("\x1b]99;i=acp-tui-{id}:d=0;{title}\x1b\\\x1b]99;i=acp-tui-{id}:d=1:p=body;{body}\x1b\\")
        }
        Channel::Osc777 => format!("\x1b]777;notify;{};{body}\x1b\\", title.replace(';', ",")),
    };
    match through {
        // The bell marks the window, also where nothing is passed on.
        Multiplexer::Tmux => format!("\x1bPtmux;{}\x1b\\\x07", told.replace('\x1b', "\x1b\x1b")).into_bytes(),
        Multiplexer::Screen => b"\x07".to_vec(),
        Multiplexer::None => told.into_bytes(),
    }
}

/// How far the work is, for a terminal that shows it beside its title or in a task bar.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Progress {
    #[default]
    None,
    Working,
    Waits,
    Failed,
}

/// Takes away what [`progress`] has shown.
pub const NO_PROGRESS: &[u8] = b"\x1b]9;4;0;0\x1b\\";

pub const fn progress(progress: Progress) -> &'static [u8] {
    match progress {
        Progress::None => NO_PROGRESS,
        Progress::Working => b"\x1b]9;4;3;0\x1b\\",
        Progress::Waits => b"\x1b]9;4;4;100\x1b\\",
        Progress::Failed => b"\x1b]9;4;2;100\x1b\\",
    }
}

/// Whether the terminal takes progress as progress: others would show a notice that says `4;3;0`.
pub fn shows_progress(get: impl Fn(&str) -> Option<String>, through: Multiplexer) -> bool {
    if through != Multiplexer::None {
        return false;
    }
    let number = |text: Option<String>| text.and_then(|text| text.parse::<u32>().ok());
    let is_new = |version: Option<String>| {
        let mut parts =
            version.unwrap_or_default().split('.').map(|part| part.parse::<u32>().unwrap_or(0)).collect::<Vec<_>>();
        parts.resize(3, 0);
        parts >= vec![3, 6, 6]
    };
    match get("TERM_PROGRAM").as_deref() {
        Some("WezTerm" | "ghostty") => return true,
        Some("iTerm.app") => return is_new(get("TERM_PROGRAM_VERSION")),
        _ => {}
    }
    get("WT_SESSION").is_some_and(|id| !id.is_empty())
        || get("ConEmuANSI").as_deref() == Some("ON")
        || number(get("VTE_VERSION")).is_some_and(|version| version >= 7900)
}

/// Asks whether the state of programs is understood; the answer comes as input, if at all.
pub const ASK_STATUS: &[u8] = b"\x1b]7501;?\x1b\\";
/// Takes away what was told of this program.
pub const NO_STATUS: &[u8] = b"\x1b]7501;state=clear\x1b\\";

/// The state of this program (OSC 7501).
pub fn status(state: &str, kind: Option<&str>) -> Vec<u8> {
    let kind = kind.map(|kind| format!(":kind={kind}")).unwrap_or_default();
    format!("\x1b]7501;state={state}{kind}:app=acp-tui\x1b\\").into_bytes()
}

fn clean(text: &str) -> String {
    text.chars().filter(|c| !c.is_control() && !is_deceptive(*c)).take(MAX_TEXT).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of<'a>(set: &'a [(&'a str, &'a str)]) -> impl Fn(&str) -> Option<String> + 'a {
        |name| set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
    }

    #[test]
    fn channels_are_guessed_from_the_environment() {
        let guess = |set: &[(&str, &str)]| Channel::from_env(of(set), Multiplexer::None);
        assert_eq!(guess(&[]), Channel::Bell);
        assert_eq!(guess(&[("TERM", "xterm-256color")]), Channel::Bell);
        assert_eq!(guess(&[("KITTY_WINDOW_ID", "1")]), Channel::Osc99);
        assert_eq!(guess(&[("TERM_PROGRAM", "ghostty")]), Channel::Osc9);
        assert_eq!(guess(&[("TERM", "foot")]), Channel::Osc777);
        assert_eq!(guess(&[("VTE_VERSION", "7600")]), Channel::Osc777);
        let in_tmux = [("KITTY_WINDOW_ID", "1"), ("TERM_PROGRAM", "tmux")];
        assert_eq!(Channel::from_env(of(&in_tmux), Multiplexer::Tmux), Channel::Osc9);
    }

    #[test]
    fn progress_goes_to_terminals_that_show_it_alone() {
        let shows = |set: &[(&str, &str)]| shows_progress(of(set), Multiplexer::None);
        assert!(!shows(&[("TERM", "xterm-256color")]) && !shows(&[("VTE_VERSION", "7600")]));
        assert!(!shows(&[("TERM_PROGRAM", "iTerm.app"), ("TERM_PROGRAM_VERSION", "3.5.14")]));
        assert!(shows(&[("TERM_PROGRAM", "iTerm.app"), ("TERM_PROGRAM_VERSION", "3.6.10")]));
        assert!(shows(&[("VTE_VERSION", "8000")]) && shows(&[("WT_SESSION", "x")]));
        assert!(!shows_progress(of(&[("WT_SESSION", "x")]), Multiplexer::Tmux));
    }

    #[test]
    fn no_text_breaks_out_of_a_notice() {
        let evil = "a\x1b\\\x07\u{9c}\u{202e};b\n";
        for (_, channel) in Channel::NAMES {
            let text = String::from_utf8(notice(channel, 7, evil, evil, Multiplexer::None)).unwrap();
            let controls = text.chars().filter(|c| c.is_control()).count();
            let want = match channel {
                Channel::Bell => 1,
                Channel::Osc9 | Channel::Osc777 => 2,
                Channel::Osc99 => 4,
            };
            assert_eq!(controls, want, "{text:?}");
        }
        let told = notice(Channel::Osc777, 7, "a;b", "c", Multiplexer::None);
        assert_eq!(told, b"\x1b]777;notify;a,b;c\x1b\\");
        assert!(notice(Channel::Osc9, 7, &"x".repeat(9000), "", Multiplexer::None).len() < 300);
    }

    #[test]
    fn tmux_passes_it_on_and_rings() {
        let told = notice(Channel::Osc9, 7, "t", "b", Multiplexer::Tmux);
        assert_eq!(told, b"\x1bPtmux;\x1b\x1b]9;acp-tui: t b\x1b\x1b\\\x1b\\\x07");
    }
}
