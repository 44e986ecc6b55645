//! A JSON value as indented lines that a person can read, bounded while it is written.
//!
//! Invariant: work and size are bounded for any value.

use serde_json::Value;

/// How deep objects and lists are followed.
const MAX_DEPTH: usize = 64;
/// Bytes of the name of a member.
const MAX_NAME: usize = 200;

/// Appends it; whether all of it was written. Stops soon after `max` bytes.
pub fn write(value: &Value, max: usize, out: &mut String) -> bool {
    write_at(value, 0, max, out)
}

fn write_at(value: &Value, depth: usize, max: usize, out: &mut String) -> bool {
    if out.len() > max || depth > MAX_DEPTH {
        return false;
    }
    let pad = "  ".repeat(depth + 1);
    match value {
        // A text of several lines is easier to read as such.
        Value::String(s) if s.contains('\n') => {
            let cut = s.floor_char_boundary(max);
            for line in s.get(..cut).unwrap_or_default().lines() {
                out.push('\n');
                out.push_str(&pad);
                out.push_str(line);
            }
            cut == s.len()
        }
        Value::String(s) => {
            let cut = s.floor_char_boundary(max);
            out.push_str(s.get(..cut).unwrap_or_default());
            cut == s.len()
        }
        Value::Array(items) if !items.is_empty() => items.iter().all(|item| {
            out.push('\n');
            out.push_str(&pad);
            out.push_str("- ");
            write_at(item, depth + 1, max, out)
        }),
        Value::Object(members) if !members.is_empty() => members.iter().enumerate().all(|(n, (key, item))| {
            if depth > 0 || n > 0 {
                out.push('\n');
            }
            out.push_str(&"  ".repeat(depth));
            out.push_str(key.get(..key.floor_char_boundary(MAX_NAME)).unwrap_or_default());
            out.push_str(": ");
            write_at(item, depth + 1, max, out)
        }),
        other => {
            out.push_str(&other.to_string());
            true
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn members_stand_below_each_other_and_a_text_of_lines_as_lines() {
        let mut text = String::new();
        assert!(write(&json!({ "a": 1, "b": { "c": ["x"] }, "d": "one\ntwo" }), 1000, &mut text));
        assert_eq!(text, "a: 1\nb: \n  c: \n      - x\nd: \n    one\n    two");
    }

    #[test]
    fn however_much_there_is_little_is_written() {
        let deep = (0..1000).fold(json!(1), |inner, _| json!([inner]));
        for value in [json!("x".repeat(1 << 20)), json!(vec!["y"; 1 << 16]), deep, json!({ "k".repeat(1 << 20): 1 })] {
            let mut text = String::new();
            write(&value, 1000, &mut text);
            assert!(text.len() < 10_000, "{}", text.len());
        }
    }
}
