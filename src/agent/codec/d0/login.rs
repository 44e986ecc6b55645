//! Logging in to an agent of the dialect D0: it says that it wants that, and what is asked for is known beforehand (S-019).
//!
//! Invariant: what was typed goes into the one call that it was typed for.

use crate::model::event::{AuthKind, AuthMethod};
use crate::model::login::Secret;
use serde_json::{Map, Value};

/// The methods, what they are called, and the member that their value is.
const WAYS: [(&str, &str, &str); 3] = [
    ("api_key", "API key", "apiKey"),
    ("oauth2", "OAuth 2 token", "accessToken"),
    (OWN, "Credentials of its own", OWN),
];
/// Its value is a whole object of JSON.
const OWN: &str = "custom";

pub fn ways() -> Vec<AuthMethod> {
    let way = |(id, name, member): &(&str, &str, &str)| AuthMethod {
        id: (*id).to_owned(),
        name: (*name).to_owned(),
        description: (*id == OWN).then(|| "An object of JSON, or a secret by itself".to_owned()),
        kind: AuthKind::Typed { names: vec![(*member).to_owned()] },
    };
    WAYS.iter().map(way).collect()
}

/// An object that was typed is sent as it is; anything else by its name.
pub fn credentials(typed: &[(String, Secret)]) -> Value {
    if let [(name, value)] = typed
        && name == OWN
        && let Ok(own @ Value::Object(_)) = serde_json::from_str(&value.0)
    {
        return own;
    }
    let members = typed.iter().map(|(name, value)| (name.clone(), Value::String(value.0.clone())));
    Value::Object(members.collect::<Map<String, Value>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn s_019_what_was_typed_is_sent_by_its_name_or_as_the_object_that_it_is() {
        let typed = |name: &str, value: &str| credentials(&[(name.to_owned(), Secret(value.to_owned()))]);
        assert_eq!(typed("apiKey", "sk-1"), json!({ "apiKey": "sk-1" }));
        assert_eq!(typed("apiKey", "{\"a\":1}"), json!({ "apiKey": "{\"a\":1}" }));
        assert_eq!(typed(OWN, "{\"user\":\"ana\",\"pin\":7}"), json!({ "user": "ana", "pin": 7 }));
        assert_eq!(typed(OWN, "[1]"), json!({ "custom": "[1]" }));
        assert_eq!(ways().iter().map(|way| way.id.as_str()).collect::<Vec<_>>(), ["api_key", "oauth2", "custom"]);
    }
}
