//! Permission modes: what the client allows or refuses without a question where no rule says anything.
//!
//! Plain data; `judge` decides by it. The modes that an agent offers are others: they are in `options`. Invariant: a mode
//! belongs to one session, and no session takes it over from another one or from its own past.

use super::audit::By;
use super::ids::Now;
use crate::base::human;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How long `bypassPermissions` holds unless the person says otherwise.
pub const BYPASS_LASTS: Duration = Duration::from_hours(1);
/// The longest time that can be said.
const LONGEST: Duration = Duration::from_hours(24);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PermissionMode {
    /// The person is asked.
    #[default]
    Default,
    /// Files inside of the session's directories are read and changed.
    AcceptEdits,
    /// Files are read; nothing is changed and no command is run.
    Plan,
    /// Everything is done that nothing speaks against.
    BypassPermissions,
}

impl PermissionMode {
    pub const ALL: [Self; 4] = [Self::Default, Self::AcceptEdits, Self::Plan, Self::BypassPermissions];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::AcceptEdits => "acceptEdits",
            Self::Plan => "plan",
            Self::BypassPermissions => "bypassPermissions",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.name().eq_ignore_ascii_case(name))
    }

    /// What it does, for the person.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Default => "rules decide; what no rule is for is asked about",
            Self::AcceptEdits => {
                "reads and edits inside the session's directories are allowed; commands are asked about"
            }
            Self::Plan => "reads are allowed; edits and commands are refused unless a rule allows them",
            Self::BypassPermissions => {
                "everything is allowed but what rules deny or ask about, secrets, files that later commands run, and files outside"
            }
        }
    }

    /// How long it holds unless the person says otherwise.
    const fn lasts(self) -> Option<Duration> {
        match self {
            Self::Default | Self::AcceptEdits | Self::Plan => None,
            Self::BypassPermissions => Some(BYPASS_LASTS),
        }
    }
}

/// What the person wants of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModeChoice {
    pub mode: PermissionMode,
    /// For so many seconds; as long as is usual for the mode without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<u64>,
}

impl From<PermissionMode> for ModeChoice {
    fn from(mode: PermissionMode) -> Self {
        Self { mode, seconds: None }
    }
}

impl ModeChoice {
    /// `NAME` or `NAME:30m`; else what can be said.
    pub fn read(text: &str) -> Result<Self, String> {
        let (name, time) = text.split_once(':').map_or((text, None), |(name, time)| (name, Some(time)));
        let mode = PermissionMode::from_name(name.trim()).ok_or_else(|| {
            let names = PermissionMode::ALL.map(PermissionMode::name);
            format!("a permission mode is one of {}, not `{name}`", names.join(", "))
        })?;
        let Some(time) = time else { return Ok(mode.into()) };
        if mode == PermissionMode::Default {
            return Err("the permission mode default holds until another one is chosen; leave the time out".to_owned());
        }
        let seconds = seconds(time.trim()).ok_or_else(|| {
            let longest = time_words(LONGEST);
            format!("`{time}` is no time for a permission mode; for example 90s, 30m or 2h, at most {longest}")
        })?;
        Ok(Self { mode, seconds: Some(seconds) })
    }

    pub fn lasts(self) -> Option<Duration> {
        self.seconds.map(Duration::from_secs).map(|time| time.min(LONGEST)).or(self.mode.lasts())
    }
}

/// A whole number of the largest unit that it has one of: `2 h`, `90 min`.
pub fn time_words(time: Duration) -> String {
    let seconds = time.as_secs();
    let units = [(3600, "h"), (60, "min"), (1, "s")];
    let unit = units.into_iter().find(|(unit, _)| seconds > 0 && seconds.is_multiple_of(*unit));
    unit.map_or_else(|| human::duration(time), |(unit, name)| format!("{} {name}", seconds / unit))
}

/// `90s`, `30m`, `2h`.
fn seconds(text: &str) -> Option<u64> {
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let unit = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        _ => return None,
    };
    let is_plain = number.bytes().all(|byte| byte.is_ascii_digit());
    let seconds = number.parse::<u64>().ok().filter(|_| is_plain)?.checked_mul(unit)?;
    (1..=LONGEST.as_secs()).contains(&seconds).then_some(seconds)
}

/// The mode of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ModeInForce {
    chosen: PermissionMode,
    until: Option<Now>,
    /// The agent has been told why it is refused what it asks for.
    pub(super) is_told: bool,
    /// Chosen before the session had an id: the log of decisions has it once there is one.
    pub(super) unlogged: Option<(ModeChoice, By)>,
}

impl ModeInForce {
    pub fn new(choice: ModeChoice, now: Now) -> Self {
        let until = choice.lasts().map(|time| now.saturating_add(time));
        Self { chosen: choice.mode, until, is_told: false, unlogged: None }
    }

    /// What holds at this time.
    pub fn at(&self, now: Now) -> PermissionMode {
        if self.is_over(now) { PermissionMode::Default } else { self.chosen }
    }

    pub fn chosen(&self) -> PermissionMode {
        self.chosen
    }

    pub fn is_over(&self, now: Now) -> bool {
        self.until.is_some_and(|until| until <= now)
    }

    /// How long it still holds, where it ends by itself.
    pub fn left(&self, now: Now) -> Option<Duration> {
        self.until.map(|until| until.saturating_sub(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_a_name_and_perhaps_a_time() {
        for (text, mode, seconds) in [
            ("plan", PermissionMode::Plan, None),
            ("acceptedits", PermissionMode::AcceptEdits, None),
            ("bypassPermissions", PermissionMode::BypassPermissions, None),
            ("bypassPermissions:90s", PermissionMode::BypassPermissions, Some(90)),
            ("acceptEdits: 30m", PermissionMode::AcceptEdits, Some(1800)),
            ("plan:24h", PermissionMode::Plan, Some(86_400)),
        ] {
            assert_eq!(ModeChoice::read(text), Ok(ModeChoice { mode, seconds }), "{text}");
        }
        for text in ["", "yolo", "plan:", "plan:0s", "plan:25h", "plan:30", "plan:+3m", "plan:3ü", "default:1h"] {
            assert!(ModeChoice::read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn only_bypass_ends_by_itself_unless_a_time_is_said() {
        for mode in PermissionMode::ALL {
            let expected = (mode == PermissionMode::BypassPermissions).then_some(BYPASS_LASTS);
            assert_eq!(ModeChoice::from(mode).lasts(), expected, "{mode:?}");
        }
        let chosen = ModeInForce::new(ModeChoice::read("plan:2m").unwrap(), Now::from_secs(10));
        assert_eq!(chosen.at(Now::from_secs(129)), PermissionMode::Plan);
        assert_eq!(chosen.at(Now::from_secs(130)), PermissionMode::Default);
        assert_eq!(chosen.left(Now::from_secs(70)), Some(Duration::from_mins(1)));
        let words = [3600, 5400, 90, 120, 0].map(|seconds| time_words(Duration::from_secs(seconds)));
        assert_eq!(words, ["1 h", "90 min", "90 s", "2 min", "0 s"]);
    }
}
