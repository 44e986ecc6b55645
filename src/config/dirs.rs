//! Where files belong: configuration, state and data.
//!
//! Creates nothing and reads no environment (the values are passed in). The same places on every system, macOS too.
//! Invariant: the directories are absolute.

use std::ffi::OsString;
use std::path::PathBuf;

const NAME: &str = "acp-tui";

/// Values of environment variables.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Env {
    pub xdg_config_home: Option<OsString>,
    pub xdg_state_home: Option<OsString>,
    pub xdg_data_home: Option<OsString>,
    pub home: Option<OsString>,
}

impl Env {
    /// Asks `get` for the variables (`std::env::var_os` in the program).
    pub fn read(get: impl Fn(&str) -> Option<OsString>) -> Self {
        Self {
            xdg_config_home: get("XDG_CONFIG_HOME"),
            xdg_state_home: get("XDG_STATE_HOME"),
            xdg_data_home: get("XDG_DATA_HOME"),
            home: get("HOME"),
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Dirs {
    pub config: PathBuf,
    pub state: PathBuf,
    /// `None` when there is no place for it.
    pub data: Option<PathBuf>,
    /// `None` when unknown.
    pub home: Option<PathBuf>,
}

impl Dirs {
    /// `None` when there is neither a home directory nor both XDG variables.
    pub fn new(env: Env) -> Option<Self> {
        Self::with_home(env, || directories::BaseDirs::new().map(|dirs| dirs.home_dir().to_path_buf()))
    }

    fn with_home(env: Env, account_home: impl FnOnce() -> Option<PathBuf>) -> Option<Self> {
        let home = absolute(env.home).or_else(account_home);
        // The XDG specification says that relative values are to be ignored.
        let place = |value: Option<OsString>, below: &str| {
            absolute(value).or_else(|| home.as_ref().map(|home| home.join(below))).map(|dir| dir.join(NAME))
        };
        let config = place(env.xdg_config_home, ".config")?;
        let state = place(env.xdg_state_home, ".local/state")?;
        let data = place(env.xdg_data_home, ".local/share");
        Some(Self { config, state, data, home })
    }

    pub fn config_file(&self) -> PathBuf {
        self.config.join("config.toml")
    }

    pub fn keys_file(&self) -> PathBuf {
        self.config.join("keys.toml")
    }

    /// Where the person's own prompts are.
    pub fn prompts(&self) -> PathBuf {
        self.config.join("prompts")
    }

    pub fn rules_file(&self) -> PathBuf {
        self.config.join("rules.toml")
    }

    /// What the person changes, and no agent unless a rule names the file: programs are named there, and rules.
    pub fn changed_by_hand(&self) -> Vec<PathBuf> {
        std::iter::once(&self.config).chain(&self.data).cloned().collect()
    }

    /// The agents that were added from a registry, and what is kept of registries.
    pub fn agents(&self) -> Option<PathBuf> {
        self.data.as_ref().map(|data| data.join("agents"))
    }

    /// Rules that were made in questions, a file for each directory.
    pub fn made_rules(&self) -> PathBuf {
        self.state.join("rules")
    }
}

fn absolute(value: Option<OsString>) -> Option<PathBuf> {
    value.map(PathBuf::from).filter(|path| path.is_absolute())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(config: &str, state: &str, home: &str) -> Env {
        let value = |text: &str| (!text.is_empty()).then(|| OsString::from(text));
        Env { xdg_config_home: value(config), xdg_state_home: value(state), home: value(home), ..Env::default() }
    }

    #[test]
    fn below_home_unless_xdg_says_otherwise() {
        let dirs = Dirs::new(env("", "", "/home/me")).unwrap();
        assert_eq!(dirs.config_file(), PathBuf::from("/home/me/.config/acp-tui/config.toml"));
        assert_eq!(dirs.state, PathBuf::from("/home/me/.local/state/acp-tui"));
        assert_eq!(dirs.agents(), Some(PathBuf::from("/home/me/.local/share/acp-tui/agents")));
        let dirs = Dirs::new(env("/c", "/s", "/home/me")).unwrap();
        assert_eq!((dirs.config, dirs.state), (PathBuf::from("/c/acp-tui"), PathBuf::from("/s/acp-tui")));
    }

    #[test]
    fn relative_and_empty_values_are_ignored() {
        let dirs = Dirs::new(env("conf", "./s", "/home/me")).unwrap();
        assert_eq!(dirs.config, PathBuf::from("/home/me/.config/acp-tui"));
        assert_eq!(dirs.state, PathBuf::from("/home/me/.local/state/acp-tui"));
        let empty = Env { xdg_config_home: Some(OsString::new()), ..env("", "", "/home/me") };
        assert_eq!(Dirs::new(empty).unwrap().config, PathBuf::from("/home/me/.config/acp-tui"));
    }

    #[test]
    fn without_home_the_account_is_asked() {
        let dirs = Dirs::with_home(env("", "", "relative"), || Some(PathBuf::from("/account"))).unwrap();
        assert_eq!(dirs.config, PathBuf::from("/account/.config/acp-tui"));
        assert_eq!(Dirs::with_home(env("", "/s", ""), || None), None);
        assert!(Dirs::with_home(env("/c", "/s", ""), || None).is_some());
    }
}
