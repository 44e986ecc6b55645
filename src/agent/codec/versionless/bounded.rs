//! A generic JSON value from text, with a bound on how many values are kept.
//!
//! A line of 64 MiB can hold tens of millions of tiny values, of which each takes many times its text in memory. Knows
//! no message. Invariants: what is left out is counted, for the list it was in and in all; texts are kept whole; the
//! members of the outermost objects are kept as long as there are not absurdly many, so that ids are found wherever
//! they stand.

use crate::base::limits::MAX_VALUES_READ;
use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::fmt;

/// What an object takes beside its members, in values.
const OBJECT: usize = 8;
/// Depth of the objects whose members are kept when there is no more room: the message, and what it is about.
const OUTER: usize = 2;
/// Members that these may still have.
const RESERVE: usize = 256;
/// The member of the outermost object that may be a text as long as the line: what is to be written to a file.
const LONG: &str = "content";

/// A value, and what is not in it.
#[derive(Debug)]
pub struct Read {
    pub value: Value,
    /// Elements of lists and members of objects that were left out, with all that was in them.
    pub lost: usize,
    /// The same for each list by the name of its member.
    lists: Vec<(String, usize)>,
}

impl Read {
    /// How many elements of the list under this name were left out; the first of this name counts.
    pub fn lost_of(&self, list: &str) -> usize {
        self.lists.iter().find(|(name, _)| name == list).map_or(0, |(_, lost)| *lost)
    }
}

pub fn read(text: &str) -> Result<Read, serde_json::Error> {
    read_within(text, MAX_VALUES_READ)
}

fn read_within(text: &str, room: usize) -> Result<Read, serde_json::Error> {
    let mut state = State { room, reserve: RESERVE, lost: 0, lists: Vec::new() };
    let mut json = serde_json::Deserializer::from_str(text);
    let value = Seed { state: &mut state, depth: 0, name: "" }.deserialize(&mut json)?;
    json.end()?;
    Ok(Read { value, lost: state.lost, lists: state.lists })
}

struct State {
    room: usize,
    reserve: usize,
    lost: usize,
    lists: Vec<(String, usize)>,
}

impl State {
    fn take(&mut self) -> bool {
        let is_room = self.room > 0;
        self.room = self.room.saturating_sub(1);
        is_room
    }

    fn take_member(&mut self, depth: usize) -> bool {
        if self.take() {
            return true;
        }
        let is_room = depth < OUTER && self.reserve > 0;
        self.reserve -= usize::from(is_room);
        is_room
    }
}

struct Seed<'a> {
    state: &'a mut State,
    depth: usize,
    /// Of the member that holds the value.
    name: &'a str,
}

impl<'de> DeserializeSeed<'de> for Seed<'_> {
    type Value = Value;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let Self { state, depth, name } = self;
        let mut list = Vec::new();
        while state.take() {
            match access.next_element_seed(Seed { state: &mut *state, depth: depth + 1, name: "" })? {
                Some(value) => list.push(value),
                None => return Ok(Value::Array(list)),
            }
        }
        let mut lost = 0;
        while access.next_element::<IgnoredAny>()?.is_some() {
            lost += 1;
        }
        if lost > 0 {
            state.lost += lost;
            state.lists.push((name.to_owned(), lost));
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let Self { state, depth, .. } = self;
        state.room = state.room.saturating_sub(OBJECT);
        let mut map = Map::new();
        while let Some(name) = access.next_key::<String>()? {
            if depth == 0 && name == LONG && state.take_member(depth) {
                let raw = access.next_value::<&RawValue>()?.get();
                let value = match text_of(raw) {
                    Some(text) => Value::String(text),
                    None => inner(raw, Seed { state: &mut *state, depth: depth + 1, name: &name })
                        .map_err(A::Error::custom)?,
                };
                map.insert(name, value);
            } else if state.take_member(depth) {
                let value = access.next_value_seed(Seed { state: &mut *state, depth: depth + 1, name: &name })?;
                map.insert(name, value);
            } else {
                access.next_value::<IgnoredAny>()?;
                state.lost += 1;
            }
        }
        Ok(Value::Object(map))
    }
}

fn inner(raw: &str, seed: Seed<'_>) -> Result<Value, serde_json::Error> {
    seed.deserialize(&mut serde_json::Deserializer::from_str(raw))
}

/// What a text says, made in one piece: the parser makes long ones bit by bit beside, in twice the room. Nothing where it is
/// no text, or one that says no characters.
fn text_of(raw: &str) -> Option<String> {
    let mut rest = raw.strip_prefix('"')?.strip_suffix('"')?;
    let mut text = String::with_capacity(rest.len());
    while let Some((plain, escaped)) = rest.split_once('\\') {
        text.push_str(plain);
        let kind = escaped.chars().next()?;
        rest = escaped.get(kind.len_utf8()..)?;
        text.push(match kind {
            '"' | '\\' | '/' => kind,
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => {
                let unit = |text: &str| u16::from_str_radix(text.get(..4)?, 16).ok();
                let first = unit(rest)?;
                rest = rest.get(4..)?;
                let second =
                    if (0xd800..0xdc00).contains(&first) { rest.strip_prefix("\\u").and_then(unit) } else { None };
                if second.is_some() {
                    rest = rest.get(6..)?;
                }
                char::decode_utf16(std::iter::once(first).chain(second)).next()?.ok()?
            }
            _ => return None,
        });
    }
    text.push_str(rest);
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn count(value: &Value) -> usize {
        1 + match value {
            Value::Array(list) => list.iter().map(count).sum(),
            Value::Object(map) => map.values().map(count).sum(),
            _ => 0,
        }
    }

    #[test]
    fn what_fits_is_read_as_it_is() {
        for text in [
            "null",
            "-1",
            "18446744073709551615",
            "1.5e3",
            r#""a\u00e9\n""#,
            "[]",
            r#"{"a":[1,{"b":null}],"c":{"d":true}}"#,
        ] {
            let read = read(text).unwrap();
            assert_eq!(read.value, serde_json::from_str::<Value>(text).unwrap(), "{text}");
            assert_eq!(read.lost, 0);
        }
        for text in ["", "{", "[1", "1 2", r#"{"a":1}x"#] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_long_text_is_what_the_parser_says() {
        for raw in [
            r#""""#,
            r#""a""#,
            r#""\n\t\r\b\f\/\\\"""#,
            r#""\u00e9\ud83d\ude00x""#,
            r#""é😀""#,
            r#""\ud83d""#,
            r#""\ud83dx""#,
            r#""\ude00\ud83d""#,
            r#""\ud83d\u0041""#,
            r#""\uD83D\uDE00""#,
            r#""\x""#,
            "12",
            "null",
            "[1]",
            r#"{"content":[1]}"#,
            "\"\u{7}\"",
            r#""\u+123""#,
            r#""\u12""#,
            r#""\""#,
        ] {
            let text = format!(r#"{{"sessionId":"s","content":{raw}}}"#);
            let (ours, theirs) = (read(&text), serde_json::from_str::<Value>(&text));
            assert_eq!(ours.is_err(), theirs.is_err(), "{raw}: {ours:?} {theirs:?}");
            if let (Ok(ours), Ok(theirs)) = (ours, theirs) {
                assert_eq!(ours.value, theirs, "{raw}");
            }
        }
    }

    proptest! {
        #![proptest_config(crate::random(500))]

        #[test]
        fn every_text_is_read_back(text in any::<String>(), is_ascii in any::<bool>()) {
            let mut raw = serde_json::to_string(&text).unwrap();
            if is_ascii {
                let units = |c: char| -> Vec<String> {
                    c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect()
                };
                raw = raw.chars().map(|c| if c.is_ascii() { c.to_string() } else { units(c).concat() }).collect();
            }
            let read = text_of(&raw);
            prop_assert!(read.as_ref().is_some_and(|read| read.capacity() <= raw.len()));
            prop_assert_eq!(read, Some(text));
        }
    }

    #[test]
    fn a_list_of_many_is_cut_and_what_is_missing_is_counted() {
        let many = vec!["{}"; 1000].join(",");
        let read = read_within(&format!(r#"{{"m":{{"list":[{many}]}}}}"#), 300).unwrap();
        let kept = read.value["m"]["list"].as_array().unwrap().len();
        assert!((10..100).contains(&kept), "{kept}");
        assert_eq!((read.lost, read.lost_of("list"), read.lost_of("other")), (1000 - kept, 1000 - kept, 0));
    }

    #[test]
    fn many_values_in_whatever_shape_are_bounded() {
        let deep = format!("{}{}", "[".repeat(100), "]".repeat(100));
        let shapes = [
            format!("[{}]", vec![deep.as_str(); 200].join(",")),
            format!("[{}]", vec![r#"{"a":0}"#; 20_000].join(",")),
            format!("[{}]", vec!["[0]"; 20_000].join(",")),
            format!("{{{}}}", (0..20_000).map(|n| format!(r#""k{n}":0"#)).collect::<Vec<_>>().join(",")),
        ];
        for text in shapes {
            let read = read_within(&text, 1000).unwrap();
            assert!(count(&read.value) <= 1000 + RESERVE + 2, "{}", count(&read.value));
            assert!(read.lost > 0);
        }
    }

    #[test]
    fn ids_behind_a_long_list_are_found() {
        let many = vec!["0"; 1000].join(",");
        let text = format!(r#"{{"update":{{"content":[{many}],"toolCallId":"t"}},"sessionId":"s"}}"#);
        let read = read_within(&text, 100).unwrap();
        assert_eq!(read.value["sessionId"], "s");
        assert_eq!(read.value["update"]["toolCallId"], "t");
    }
}
