//! `[mcp.NAME]` of the configuration: servers of tools, with the members of `.mcp.json`.
//!
//! Reads the shape alone; what the members mean is for `mcp`. Invariant: what is unknown is
//! named with its line, and the rest applies.

use crate::base::toml_doc::{Report, kind_of};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use toml::Spanned;
use toml::de::DeValue;

/// The keys of one server.
pub const MCP_KEYS: [&str; 9] = ["command", "args", "env", "type", "url", "headers", "disabled", "agents", "enabled"];

/// Servers by their names, each an object as in JSON.
pub fn tables(value: &Spanned<DeValue<'_>>, report: &mut Report<'_>) -> BTreeMap<String, Value> {
    let mut servers = BTreeMap::new();
    let allowed = "allowed: tables, [mcp.NAME]";
    let Some(table) = value.get_ref().as_table() else {
        report.warn(&value.span(), format!("mcp is {}; {allowed}", kind_of(value.get_ref())));
        return servers;
    };
    for (name, value) in table {
        let Some(members) = value.get_ref().as_table() else {
            report.warn(&value.span(), format!("mcp.{} is {}; {allowed}", name.get_ref(), kind_of(value.get_ref())));
            continue;
        };
        let mut server = Map::new();
        for (key, value) in members {
            let member = key.get_ref().as_ref();
            if MCP_KEYS.contains(&member) {
                server.insert(member.to_owned(), json(value.get_ref()));
            } else {
                let allowed = MCP_KEYS.join(", ");
                report.warn(
                    &key.span(),
                    format!("unknown key {member:?} in [mcp.{}]; allowed: {allowed}", name.get_ref()),
                );
            }
        }
        servers.insert(name.get_ref().to_string(), Value::Object(server));
    }
    servers
}

/// What is no text, list, table or truth is none of these in a server either.
fn json(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => Value::from(text.as_ref()),
        DeValue::Boolean(is) => Value::from(*is),
        DeValue::Array(list) => list.iter().map(|value| json(value.get_ref())).collect(),
        DeValue::Table(table) => {
            table.iter().map(|(key, value)| (key.get_ref().to_string(), json(value.get_ref()))).collect()
        }
        other => Value::from(kind_of(other).len()),
    }
}
