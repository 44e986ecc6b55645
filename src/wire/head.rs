//! What the head of a line that was thrown away still tells: its id, its method, whether it was an answer.
//!
//! Reads only the members of the outermost object and only as far as the head goes. Invariant: text inside parameters
//! or results is never taken for the frame's own id.

use super::frame::RawId;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HeadFacts {
    pub id: Option<RawId>,
    pub method: Option<String>,
    /// `result` or `error` was begun.
    pub is_response: bool,
}

/// Reads the members that are complete in the head, and stops at the first that is not.
pub fn scan(head: &str) -> HeadFacts {
    let mut facts = HeadFacts::default();
    let Some(mut rest) = super::json::trim(head).strip_prefix('{') else { return facts };
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\r', ',']);
        let Some(key) = string_token(rest) else { return facts };
        rest = rest.get(key.len()..).unwrap_or_default().trim_start();
        let Some(after) = rest.strip_prefix(':') else { return facts };
        rest = after.trim_start();
        if matches!(key, "\"result\"" | "\"error\"") && !rest.starts_with("null") {
            facts.is_response = true;
        }
        let Some(value) = value_token(rest) else { return facts };
        rest = rest.get(value.len()..).unwrap_or_default();
        match key {
            "\"id\"" => facts.id = RawId::from_json(value.trim_end()),
            "\"method\"" => facts.method = serde_json::from_str(value).ok(),
            _ => {}
        }
    }
}

/// A complete string at the start of the text, with its quotes.
fn string_token(text: &str) -> Option<&str> {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return text.get(..=at).filter(|t| t.starts_with('"')),
            _ => {}
        }
    }
    None
}

/// A complete value at the start of the text.
fn value_token(text: &str) -> Option<&str> {
    let mut depth = 0usize;
    let mut at = 0;
    loop {
        let rest = text.get(at..)?;
        match rest.bytes().next()? {
            b'"' => at += string_token(rest)?.len(),
            b'{' | b'[' => {
                depth += 1;
                at += 1;
            }
            b'}' | b']' | b',' if depth == 0 => return text.get(..at),
            b'}' | b']' => {
                depth -= 1;
                at += 1;
            }
            _ => at += rest.chars().next()?.len_utf8(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r_028_the_head_names_its_own_id_only() {
        let facts = scan(r#"{"jsonrpc":"2.0","id":7,"result":{"id":9,"content":"aaaa"#);
        assert_eq!((facts.id, facts.is_response), (Some(RawId::number(7)), true));
        let facts = scan(r#"{"jsonrpc":"2.0","result":{"id":9,"content":"aaaa"#);
        assert_eq!((facts.id, facts.is_response), (None, true));
        let facts = scan("\u{feff} { \"method\" : \"fs/x\" , \"id\" : \"a,}\" , \"params\":{\"x\":[\"");
        assert_eq!(facts.method.as_deref(), Some("fs/x"));
        assert_eq!(facts.id.unwrap().as_str(), r#""a,}""#);
        assert!(!facts.is_response);
    }

    #[test]
    fn a_torn_head_says_only_what_is_complete() {
        assert_eq!(scan(r#"{"id":12"#), HeadFacts::default());
        assert_eq!(scan(r#"{"id"#), HeadFacts::default());
        assert_eq!(scan("[1,2"), HeadFacts::default());
        assert_eq!(scan(r#"{"id":1}"#).id, Some(RawId::number(1)));
        assert_eq!(scan(r#"{"é":"é","id":1,"#).id, Some(RawId::number(1)));
        assert_eq!(scan("{é"), HeadFacts::default());
    }
}
