//! Whom an agent says it knows: whether somebody is logged in, and as whom.
//!
//! For a person to read and for nothing else: nothing is looked up by an account, and nothing of one is written
//! down. Invariant: texts are cut where they are read, and `Debug` does not print them.

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
    /// In the agent's words, not cleaned.
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
}
