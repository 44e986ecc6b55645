//! Whom an agent says it knows: whether somebody is logged in, and as whom.
//!
//! For a person to read and for nothing else: nothing is looked up by an account, and nothing of one is written
//! down. Invariant: texts are cut where they are read, and `Debug` does not print them.

use crate::base::sanitize;
use std::fmt;

/// Members that hold accounts, in answers and notifications. Journals and recordings do not have what is in them.
pub const ACCOUNTS: [&str; 2] = ["accounts", "authStatus"];
/// Notifications that hold nothing but the state and accounts: that of the protocol, and the one of an extension.
pub const UPDATES: [&str; 2] = ["auth/status_update", "_auth/status_update"];

/// What can be acted on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AuthState {
    /// There are credentials; whether they are good is not said.
    Authenticated,
    Unauthenticated,
    NotRequired,
    #[default]
    Unknown,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct AuthStatus {
    pub state: AuthState,
    /// In the agent's words; [`AuthStatus::words`] has them cleaned.
    pub accounts: Vec<Account>,
}

#[derive(Clone, Default, PartialEq)]
pub struct Account {
    pub label: String,
    /// Nothing where the agent does not say which one it uses.
    pub is_active: Option<bool>,
    pub name: Option<String>,
    pub email: Option<String>,
    pub organization: Option<String>,
}

impl fmt::Debug for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Account(…)")
    }
}

impl AuthStatus {
    /// The account that is used, as far as it is known.
    pub fn account(&self) -> Option<&Account> {
        self.accounts.iter().find(|account| account.is_active == Some(true)).or_else(|| self.accounts.first())
    }

    /// What a person reads; nothing where the agent does not know who is logged in.
    pub fn words(&self) -> Option<String> {
        let Some(account) = self.account() else {
            return match self.state {
                AuthState::Authenticated => Some("logged in".to_owned()),
                AuthState::Unauthenticated => Some("not logged in".to_owned()),
                AuthState::NotRequired => Some("no log-in needed".to_owned()),
                AuthState::Unknown => None,
            };
        };
        let all = [Some(&account.label), account.name.as_ref(), account.email.as_ref(), account.organization.as_ref()];
        let clean = |words: &String| sanitize::line(words).trim().to_owned();
        let mut all: Vec<String> = all.into_iter().flatten().map(clean).filter(|words| !words.is_empty()).collect();
        if self.state == AuthState::Unauthenticated {
            all.insert(0, "not logged in".to_owned());
        }
        let others = self.accounts.len() - 1;
        if others > 0 {
            all.push(format!("{others} more"));
        }
        Some(all.join(" · "))
    }
}
