//! The error member of a response, read with tolerance and written exactly.
//!
//! Does not say what a code means to a person. Invariant: however large the peer's error is, what is kept of it is
//! bounded, and reading it never fails.

use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::json::{clip, members};

pub const PARSE_ERROR: i64 = -32700;
pub const INVALID_REQUEST: i64 = -32600;
pub const INVALID_PARAMS: i64 = -32602;
pub const INTERNAL_ERROR: i64 = -32603;

/// What stands where a peer gave no message (R-031).
pub const NO_MESSAGE: &str = "(no message)";

const KEEP_MESSAGE: usize = 16 << 10;
const KEEP_DATA: usize = 64 << 10;

/// `code` 0 stands for a code that was missing, no integer or outside 32 bits; `data.code` then holds what was sent.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RpcError {
    pub code: i64,
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

impl RpcError {
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    pub fn with_data(mut self, data: Value) -> Self {
        self.data = Some(data);
        self
    }

    /// From the text of an `error` member; `None` when that is no object.
    pub fn parse(text: &str) -> Option<Self> {
        let [code, message, data] = members(text, ["code", "message", "data"]).ok()?;
        let message = message
            .and_then(|raw| serde_json::from_str::<String>(raw.get()).ok())
            .map_or_else(|| NO_MESSAGE.to_owned(), |m| clip(&m, KEEP_MESSAGE).to_owned());
        let data = data.map(bounded_value).filter(|v| !v.is_null());
        Some(match code.and_then(|raw| read_code(raw.get())) {
            Some(code) => Self { code, message, data },
            None => {
                let mut kept = serde_json::Map::new();
                kept.insert("code".to_owned(), code.map_or(Value::Null, bounded_value));
                if let Some(data) = data {
                    kept.insert("data".to_owned(), data);
                }
                Self { code: 0, message, data: Some(Value::Object(kept)) }
            }
        })
    }
}

fn read_code(text: &str) -> Option<i64> {
    let whole = text.parse::<i64>().ok().or_else(|| {
        let number = text.parse::<f64>().ok()?;
        (number.fract() == 0.0 && number.abs() < 1e10).then_some(number as i64)
    })?;
    i32::try_from(whole).is_ok().then_some(whole)
}

/// A value small enough to keep as a tree; otherwise its head as text.
fn bounded_value(raw: &RawValue) -> Value {
    let text = raw.get();
    if text.len() <= KEEP_DATA
        && let Ok(value) = serde_json::from_str(text)
    {
        return value;
    }
    Value::String(clip(text, KEEP_DATA).to_owned())
}

impl std::fmt::Display for RpcError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.code {
            0 => write!(f, "{} (unknown error code)", self.message),
            code => write!(f, "{} ({code})", self.message),
        }
    }
}

impl std::error::Error for RpcError {}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn r_029_any_integer_code_is_kept() {
        let error = RpcError::parse(r#"{"code":12345,"message":"odd","data":[1]}"#).unwrap();
        assert_eq!(error, RpcError::new(12345, "odd").with_data(json!([1])));
        assert_eq!(RpcError::parse(r#"{"code":-32603.0,"message":"m"}"#).unwrap().code, -32603);
    }

    #[test]
    fn r_030_a_strange_code_is_an_unknown_error() {
        for (code, kept) in [("99999999999", json!(99_999_999_999_i64)), (r#""E1""#, json!("E1")), ("1.5", json!(1.5))]
        {
            let error = RpcError::parse(&format!(r#"{{"code":{code},"message":"m","data":7}}"#)).unwrap();
            assert_eq!((error.code, error.message.as_str()), (0, "m"));
            assert_eq!(error.data, Some(json!({"code": kept, "data": 7})));
        }
        assert_eq!(RpcError::parse("{}").unwrap().code, 0);
    }

    #[test]
    fn r_031_a_missing_message_gets_a_placeholder_and_data_is_anything() {
        for text in [r#"{"code":1}"#, r#"{"code":1,"message":5}"#, r#"{"code":1,"message":null}"#] {
            assert_eq!(RpcError::parse(text).unwrap().message, NO_MESSAGE);
        }
        let nested = format!(r#"{{"code":1,"data":{}{}}}"#, "[".repeat(5000), "]".repeat(5000));
        assert!(RpcError::parse(&nested).unwrap().data.unwrap().is_string());
        assert_eq!(RpcError::parse(r#""boom""#), None);
    }
}
