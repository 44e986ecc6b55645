//! Forms and pages of the agent: `elicitation/create` and what becomes of it.
//!
//! Read from the raw text, since the order of the fields counts and one field that cannot be read must not harm the
//! others. Invariant: what the person is asked is whole, or the request is refused with what was too much.

use super::bounded;
use super::content::{id_of, list_of, str_of, string_of, u64_of};
use crate::base::limits::{MAX_ANSWERS, MAX_FIELDS, MAX_FORM, MAX_PATH};
use crate::model::event::Asking;
use crate::model::form::{Choice, Field, FieldKind, FieldValue, Form, Page, Reply};
use crate::model::ids::ToolId;
use crate::wire::json::members;
use serde::de::{Deserializer as _, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Number, Value, json};
use std::sync::Arc;

pub const CREATE: &str = "elicitation/create";
pub const COMPLETE: &str = "elicitation/complete";

/// Hosts of this machine: there is no network on the way to them.
const HERE: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// Why nothing was read.
#[derive(Debug, PartialEq, Eq)]
pub enum Refused {
    Bad(String),
    TooLarge(String),
}

/// A request that was read.
#[derive(Debug)]
pub struct Asked {
    pub session: Option<String>,
    pub asking: Asking,
    pub call: Option<u64>,
    pub of: Option<ToolId>,
}

fn bad(why: &str) -> Refused {
    Refused::Bad(why.to_owned())
}

pub fn read(params: &str) -> Result<Asked, Refused> {
    if params.len() > MAX_FORM {
        return Err(Refused::TooLarge(format!("{} bytes, at most {MAX_FORM} are asked", params.len())));
    }
    let value = bounded::read(params).map_err(|error| Refused::Bad(error.to_string()))?.value;
    let message = string_of(&value, "message").unwrap_or_default();
    let asking = match str_of(&value, "mode") {
        Some("form") => Asking::Form(Arc::new(form(params, &value, message)?)),
        Some("url") => Asking::Page(Arc::new(page(&value, message)?)),
        Some(_) => return Err(bad("mode is neither form nor url")),
        None => return Err(bad("mode is missing")),
    };
    let session = id_of(&value, "sessionId");
    let call = u64_of(&value, "requestId").filter(|_| session.is_none());
    let of = id_of(&value, "toolCallId").map(ToolId::from);
    Ok(Asked { session, asking, call, of })
}

fn page(value: &Value, message: String) -> Result<Page, Refused> {
    let id = id_of(value, "elicitationId").ok_or_else(|| bad("elicitationId is missing"))?;
    let address = string_of(value, "url").ok_or_else(|| bad("url is missing"))?;
    if address.len() > MAX_PATH {
        return Err(Refused::TooLarge(format!("a url of {} bytes, at most {MAX_PATH} are shown", address.len())));
    }
    // What programs read in different ways leads elsewhere than it looks.
    let authority =
        address.split_once("://").map_or("", |(_, rest)| rest.split(['/', '?', '#']).next().unwrap_or(rest));
    let port = authority.rsplit_once(']').map_or(authority, |(_, port)| port).split_once(':');
    if authority.contains(['@', '\\']) || port.is_some_and(|(_, port)| port.parse::<u16>().is_err()) {
        return Err(bad("url names a user or an odd port besides its host"));
    }
    let is_here = |rest: &str| {
        HERE.iter().any(|host| {
            let rest = rest.strip_prefix(host);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '/', '?', '#']))
        })
    };
    // the others can be read and changed on their way, or it is unknown what they start.
    if address.starts_with("https://") || address.strip_prefix("http://").is_some_and(is_here) {
        return Ok(Page { message, id: id.into(), address });
    }
    Err(bad("url begins neither with https:// nor with http://localhost"))
}

fn form(params: &str, value: &Value, message: String) -> Result<Form, Refused> {
    let schema = value.get("requestedSchema").filter(|schema| schema.is_object());
    let Some(schema) = schema else { return Err(bad("requestedSchema is missing")) };
    let empty = Map::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
    if properties.len() > MAX_FIELDS {
        let why = format!("a form of {} fields, at most {MAX_FIELDS} are asked", properties.len());
        return Err(Refused::TooLarge(why));
    }
    let required = list_of(schema, "required");
    let is_required = |name: &str| required.iter().any(|one| one.as_str() == Some(name));
    let mut fields = Vec::new();
    for name in order(params).unwrap_or_else(|| properties.keys().cloned().collect()) {
        let Some(property) = properties.get(&name) else { continue };
        fields.push(field(is_required(&name), name, property)?);
    }
    let words = |member| string_of(schema, member).filter(|words| !words.trim().is_empty());
    let mut form = Form { message, title: words("title"), description: words("description"), fields };
    form.hide_secrets();
    Ok(form)
}

/// The names of the properties as they were sent, each once.
fn order(params: &str) -> Option<Vec<String>> {
    let [schema] = members(params, ["requestedSchema"]).ok()?;
    let [properties] = members(schema.map(RawValue::get)?, ["properties"]).ok()?;
    serde_json::Deserializer::from_str(properties?.get()).deserialize_map(Names).ok()
}

struct Names;

impl<'de> Visitor<'de> for Names {
    type Value = Vec<String>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut names: Vec<String> = Vec::new();
        while let Some(name) = map.next_key::<String>()? {
            map.next_value::<IgnoredAny>()?;
            if !names.contains(&name) {
                names.push(name);
            }
        }
        Ok(names)
    }
}

fn field(is_required: bool, name: String, property: &Value) -> Result<Field, Refused> {
    let words = |member| string_of(property, member).filter(|words| !words.trim().is_empty());
    let kind = kind(property);
    let choices = match &kind {
        FieldKind::One(choices) | FieldKind::Many { choices, .. } => choices.len(),
        _ => 0,
    };
    if choices > MAX_ANSWERS {
        return Err(Refused::TooLarge(format!("a field of {choices} choices, at most {MAX_ANSWERS} are asked")));
    }
    let is_secret =
        str_of(property, "format") == Some("password") || property.get("writeOnly") == Some(&Value::Bool(true));
    let (title, description) = (words("title"), words("description"));
    let mut field = Field { name, title, description, is_required, is_secret, kind, default: None };
    // one that does not fit is none.
    field.default = property.get("default").and_then(|default| field.take(default).ok());
    Ok(field)
}

fn kind(property: &Value) -> FieldKind {
    let unknown = |what: &str| FieldKind::Unknown(what.to_owned());
    let number = |member| property.get(member).and_then(Value::as_number).cloned();
    let one = choices(property, "oneOf").or_else(|| choices(property, "enum"));
    match (str_of(property, "type"), one) {
        (Some("string") | None, Some(choices)) if choices.is_empty() => unknown("without a choice"),
        (Some("string") | None, Some(choices)) => FieldKind::One(choices),
        (Some("string"), None) => FieldKind::Text {
            min: u64_of(property, "minLength"),
            max: u64_of(property, "maxLength"),
            pattern: string_of(property, "pattern"),
            format: string_of(property, "format"),
        },
        (Some(of @ ("number" | "integer")), _) => {
            FieldKind::Number { whole: of == "integer", min: number("minimum"), max: number("maximum") }
        }
        (Some("boolean"), _) => FieldKind::Switch,
        (Some("array"), _) => {
            let items = property.get("items").unwrap_or(&Value::Null);
            match choices(items, "anyOf").or_else(|| choices(items, "oneOf")).or_else(|| choices(items, "enum")) {
                Some(choices) if !choices.is_empty() => {
                    FieldKind::Many { choices, min: u64_of(property, "minItems"), max: u64_of(property, "maxItems") }
                }
                _ => unknown("a list of anything"),
            }
        }
        (Some(other), _) => FieldKind::Unknown(format!("of type {other}")),
        (None, None) if property.get("$ref").is_some() => unknown("a reference to another schema"),
        (None, None) => unknown("without a type"),
    }
}

/// The choices under this member, which are texts or objects with `const`; what is neither is left out.
fn choices(of: &Value, member: &str) -> Option<Vec<Choice>> {
    let list = of.get(member)?.as_array()?;
    // An older way to give titles.
    let names = list_of(of, "enumNames");
    let choice = |(at, one): (usize, &Value)| {
        let value = one.as_str().map(str::to_owned).or_else(|| string_of(one, "const"))?;
        let title = string_of(one, "title").or_else(|| names.get(at)?.as_str().map(str::to_owned));
        let title = title.filter(|title| !title.trim().is_empty()).unwrap_or_else(|| value.clone());
        Some(Choice { value, title, description: string_of(one, "description") })
    };
    Some(list.iter().enumerate().filter_map(choice).collect())
}

/// The page with this id has done what it was for.
pub fn completed(params: &str) -> Option<Arc<str>> {
    let value = bounded::read(params).ok()?.value;
    id_of(&value, "elicitationId").map(Into::into)
}

pub fn answer(reply: &Reply) -> Value {
    match reply {
        Reply::Filled(filled) => {
            let content: Map<String, Value> =
                filled.values.iter().map(|(name, given)| (name.clone(), sent(given))).collect();
            json!({ "action": reply.action(), "content": content })
        }
        Reply::Visits | Reply::Decline | Reply::Cancel => json!({ "action": reply.action() }),
    }
}

fn sent(given: &FieldValue) -> Value {
    match given {
        FieldValue::Bool(on) => json!(on),
        FieldValue::Number(number) => Value::Number(Number::clone(number)),
        FieldValue::Many(list) => json!(list),
        FieldValue::Text(text) => json!(text),
        FieldValue::Secret(secret) => json!(secret.0),
        FieldValue::SecretNumber(digits) => digits.0.parse().map_or(Value::Null, Value::Number),
    }
}

#[cfg(test)]
#[path = "asked_tests.rs"]
mod tests;
