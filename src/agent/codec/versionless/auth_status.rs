//! Who is logged in, as agents say it: the answer to `auth/status`, `auth/status_update`, and the extension
//! `_auth/status_update`, which has one account of other members.
//!
//! Decides nothing. Invariant: at most [`MAX_CHOICES`] accounts with texts that are cut at [`MAX_NAME`] bytes; what cannot be
//! read is left out.

use super::content::{list_of, str_of, words_of};
use super::results::value_of;
use crate::agent::codec::Told;
use crate::base::limits::{MAX_CHOICES, MAX_NAME};
use crate::model::auth_status::{Account, AuthState, AuthStatus, UPDATES};
use serde_json::Value;

pub const ASK: &str = "auth/status";

/// Whether it can be asked, by the agent's capabilities.
pub fn is_offered(caps: &Value) -> bool {
    caps.pointer("/auth/status").is_some_and(Value::is_object)
}

/// Whether it says so by the extension.
pub fn is_told(caps: &Value) -> bool {
    caps.pointer("/_meta/authStatus").is_some_and(Value::is_object)
}

pub fn read(result: &str) -> AuthStatus {
    of(&value_of(result))
}

/// Nothing for other notifications.
pub fn told(method: &str, params: &str) -> Option<Told> {
    let at = UPDATES.iter().position(|update| *update == method)?;
    let (is_extension, value) = (at > 0, value_of(params));
    let status = if is_extension { of_extension(&value) } else { of(&value) };
    Some(Told::AuthStatus { status, is_extension })
}

fn of(value: &Value) -> AuthStatus {
    let state = match str_of(value, "state") {
        Some("authenticated") => AuthState::Authenticated,
        Some("unauthenticated") => AuthState::Unauthenticated,
        Some("not_required") => AuthState::NotRequired,
        _ => AuthState::Unknown,
    };
    let accounts = list_of(value, "accounts").iter().filter_map(account).take(MAX_CHOICES).collect();
    AuthStatus { state, accounts }
}

/// One that has no label is none.
fn account(value: &Value) -> Option<Account> {
    let words = |member| words_of(value, member, MAX_NAME);
    Some(Account {
        label: words("label")?,
        is_active: value.get("active").and_then(Value::as_bool),
        name: words("name"),
        email: words("email"),
        organization: words("organization"),
    })
}

/// Any other kind than `none` is one of credentials.
fn of_extension(value: &Value) -> AuthStatus {
    let status = value.get("authStatus").unwrap_or(&Value::Null);
    let state = match str_of(status, "kind") {
        Some("none") => return AuthStatus { state: AuthState::Unauthenticated, accounts: Vec::new() },
        Some(_) => AuthState::Authenticated,
        None => AuthState::Unknown,
    };
    let words = |member| words_of(status, member, MAX_NAME);
    let account = words("label").map(|label| Account { label, name: words("detail"), ..Account::default() });
    AuthStatus { state, accounts: account.into_iter().collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn r_121_only_known_states_count_and_accounts_are_salvaged() {
        for (said, state) in [
            (json!("authenticated"), AuthState::Authenticated),
            (json!("unauthenticated"), AuthState::Unauthenticated),
            (json!("not_required"), AuthState::NotRequired),
            (json!("Authenticated"), AuthState::Unknown),
            (json!(true), AuthState::Unknown),
            (Value::Null, AuthState::Unknown),
        ] {
            assert_eq!(read(&json!({ "state": said }).to_string()).state, state, "{said}");
        }
        let long = "x".repeat(MAX_NAME * 2);
        let accounts = json!([7, { "email": "no label" }, { "label": long, "active": "yes", "name": 5 },
            { "label": "B", "active": true, "email": "b@example.org" }]);
        let status = read(&json!({ "state": "authenticated", "accounts": accounts }).to_string());
        assert_eq!(status.accounts.len(), 2);
        assert!(status.accounts[0].label.ends_with("left out]") && status.accounts[0].is_active.is_none());
        assert_eq!(status.account().and_then(|account| account.email.as_deref()), Some("b@example.org"));
        let many = vec![json!({ "label": "a" }); MAX_CHOICES * 2];
        assert_eq!(read(&json!({ "accounts": many }).to_string()).accounts.len(), MAX_CHOICES);
        for odd in ["", "null", "[]", "{\"accounts\":{}}", "{\"accounts\":null}"] {
            assert_eq!(read(odd), AuthStatus::default(), "{odd}");
        }
        assert!(!format!("{status:?}").contains("example.org"));
    }

    #[test]
    fn the_extension_has_one_account_or_none() {
        let said = |params: &Value| match told("_auth/status_update", &params.to_string()) {
            Some(Told::AuthStatus { status, is_extension: true }) => status,
            other => panic!("{other:?}"),
        };
        let status = said(&json!({ "authStatus": { "kind": "api_key", "label": "A key", "detail": "A_KEY" } }));
        assert_eq!(status.state, AuthState::Authenticated);
        assert_eq!(status.account().map(|a| (a.label.as_str(), a.name.as_deref())), Some(("A key", Some("A_KEY"))));
        let none = said(&json!({ "authStatus": { "kind": "none", "label": "Not logged in" } }));
        assert_eq!((none.state, none.accounts.len()), (AuthState::Unauthenticated, 0));
        assert_eq!(said(&json!({ "authStatus": 7 })), AuthStatus::default());
        assert!(told("auth/other", "{}").is_none());
    }
}
