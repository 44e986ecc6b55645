//! Errors that say in JSON what is wrong, as a service has answered: the words in it.
//!
//! Changes no error. Invariant: what is left out of the words stands in `data_lines`.

use super::CallError;
use serde_json::Value;

/// Members that say in words what is wrong, the best first.
const SAID_BY: [&str; 5] = ["message", "details", "detail", "reason", "error"];
/// Words of an error that say nothing, in front of some that do.
const GENERAL: &str = "Internal error: ";
/// Values in values, and texts that are JSON themselves, that are looked into.
const DEEP: usize = 6;
const MANY: usize = 8;

/// What a message has in front of its JSON, and that.
pub(super) fn split(message: &str) -> Option<(&str, Value)> {
    let at = message.find(['{', '['])?;
    let (before, json) = message.split_at_checked(at)?;
    let value = serde_json::from_str(json).ok().filter(|value| matches!(value, Value::Object(_) | Value::Array(_)))?;
    Some((before.trim_end_matches([' ', ':', '\n']), value))
}

/// What a value says in words.
fn said(value: &Value) -> Option<String> {
    said_in(value, DEEP)
}

fn said_in(value: &Value, deep: usize) -> Option<String> {
    let deep = deep.checked_sub(1)?;
    match value {
        Value::String(text) => {
            let inner = split(text).and_then(|(_, value)| said_in(&value, deep));
            inner.or_else(|| Some(text.trim().to_owned())).filter(|text| !text.is_empty())
        }
        Value::Array(all) => all.iter().take(MANY).filter(|value| !value.is_string()).find_map(|v| said_in(v, deep)),
        Value::Object(all) => SAID_BY.iter().find_map(|name| said_in(all.get(*name)?, deep)),
        _ => None,
    }
}

impl CallError {
    /// What stands behind its words is JSON, which the person opens.
    pub fn is_raw(&self) -> bool {
        // What is to be done stands in sight.
        let wants_variables = self.data.as_ref().is_some_and(|data| super::wanted_variables(data).0.is_some());
        let has_json = self.data.as_ref().is_some_and(|data| data.is_object() || data.is_array());
        (self.words_of_raw().is_some() || has_json) && !wants_variables
    }

    /// What is wrong, for a person: the message, and what the data says in words beside it.
    pub fn words(&self) -> String {
        let message = self.words_of_raw().unwrap_or_else(|| self.message.clone());
        match self.words_of_data().filter(|said| !message.contains(said.as_str())) {
            Some(said) if message.trim().is_empty() => said,
            Some(said) => format!("{message}: {said}"),
            None => message,
        }
    }

    /// The same without the general words that an agent puts in front of what is wrong.
    pub(super) fn reason(&self) -> String {
        let words = self.words();
        let says_more = self.message.starts_with(GENERAL);
        words.trim().strip_prefix(GENERAL).filter(|_| says_more).unwrap_or(words.trim()).to_owned()
    }

    fn words_of_raw(&self) -> Option<String> {
        let (before, value) = split(&self.message)?;
        let said = said(&value)?;
        Some(if before.is_empty() { said } else { format!("{before}: {said}") })
    }

    fn words_of_data(&self) -> Option<String> {
        self.data.as_ref().filter(|data| !data.is_string()).and_then(said)
    }

    /// The message as it came, where it is not what is said.
    pub(super) fn raw_lines(&self) -> Vec<String> {
        let Some((_, value)) = split(&self.message).filter(|_| self.words_of_raw().is_some()) else {
            return Vec::new();
        };
        serde_json::to_string_pretty(&value).unwrap_or_default().lines().map(str::to_owned).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::ErrorKind;
    use super::*;

    fn words(message: &str) -> String {
        CallError::new(ErrorKind::Other, message).words()
    }

    #[test]
    fn a_message_that_is_json_is_said_in_its_words() {
        let nested = r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
        assert_eq!(words(nested), "Overloaded");
        assert_eq!(words(&format!("API Error: 529 {nested}")), "API Error: 529: Overloaded");
        assert_eq!(
            words(r#"[{"error":{"code":404,"message":"no such model","status":"NOT_FOUND"}}]"#),
            "no such model"
        );
        let twice = serde_json::json!({ "error": { "message": nested } }).to_string();
        assert_eq!(words(&twice), "Overloaded");
        let error = CallError::new(ErrorKind::Other, nested);
        assert!(error.is_raw() && error.data_lines().concat().contains("overloaded_error"), "it can be opened");
    }

    #[test]
    fn data_that_says_something_is_said_beside_the_message() {
        let data = serde_json::json!({ "details": "no such model", "code": 7 });
        let error = CallError { data: Some(data), ..CallError::new(ErrorKind::Other, "Internal error") };
        assert_eq!(error.words(), "Internal error: no such model");
        assert!(error.is_raw() && error.data_lines().concat().contains("\"code\": 7"));
        let said = CallError { message: "it failed: no such model".into(), ..error };
        assert_eq!(said.words(), "it failed: no such model");
    }

    #[test]
    fn any_other_message_is_left_as_it_is() {
        for message in ["", "{}", "{\"a\": 1}", "it failed {", "[x] was not found", "{\"message\": \"\"}", "[\"a\"]"] {
            assert_eq!(words(message), message);
            assert_eq!(CallError::new(ErrorKind::Other, message).data_lines(), [""; 0]);
        }
        let deep = format!("{}{}", "[".repeat(100), "]".repeat(100));
        assert_eq!(words(&deep), deep);
    }
}
