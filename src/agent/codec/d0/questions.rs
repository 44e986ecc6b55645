//! Questions of the dialect D0: an operation on a resource, and for how long it is granted.

use crate::agent::codec::v1::tools::{Form, patch_of};
use crate::agent::codec::versionless::content::{str_of, string_of};
use crate::agent::codec::versionless::requests::{PERMISSION, bad, too_large};
use crate::base::limits::{MAX_COMMAND, MAX_COMMAND_LINES, MAX_ID, MAX_WORDS};
use crate::model::event::{AgentRequest, PermissionKind, PermissionOption};
use crate::model::ids::ToolId;
use crate::model::ruling::Scope;
use crate::model::tool::Wording;
use serde_json::{Value, json};

/// The scopes that the agent is told of.
const SCOPES: [(&str, Option<Scope>); 4] = [
    ("once", None),
    ("session", Some(Scope::Session)),
    ("workspace", Some(Scope::Workspace)),
    ("always", Some(Scope::Always)),
];
/// Before the scope of a denial that lasts.
const DENY: &str = "deny";

pub fn read(value: &Value, number: u64) -> AgentRequest {
    let (Some(operation), Some(resource)) = (str_of(value, "operation"), str_of(value, "resource")) else {
        return bad(PERMISSION, "operation or resource is missing");
    };
    let reason = string_of(value, "reason").filter(|words| !words.trim().is_empty());
    let lines = 1 + resource.matches('\n').count();
    if operation.len() > MAX_ID
        || resource.len() > MAX_COMMAND
        || lines > MAX_COMMAND_LINES
        || reason.as_ref().is_some_and(|words| words.len() > MAX_WORDS)
    {
        return too_large(PERMISSION, "what is asked about cannot be shown whole".into());
    }
    let (kind, words) = match operation {
        "file_read" => ("read", "read"),
        "file_write" => ("edit", "write"),
        "file_delete" => ("delete", "delete"),
        "terminal_execute" => ("execute", "run"),
        "network_access" => ("fetch", "reach"),
        "mcp_tool" => ("other", "use the tool"),
        other => ("other", other),
    };
    let is_known = words != operation || operation == "read";
    let title = format!("{words} {resource}");
    // What is asked about counts, whatever the call has said before.
    let mut call = json!({ "title": title, "kind": kind });
    call["rawInput"] = match operation {
        "file_read" | "file_write" | "file_delete" => {
            call["locations"] = json!([{ "path": resource }]);
            json!({ "path": resource })
        }
        "terminal_execute" => json!({ "command": resource }),
        "network_access" => json!({ "url": resource }),
        "mcp_tool" => {
            let (server, tool) = resource.split_once('/').unwrap_or(("", resource));
            json!({ "server": server, "tool": tool })
        }
        _ => json!({ "operation": operation, "resource": resource }),
    };
    let id = match str_of(value, "toolCallId") {
        Some(id) if id.len() <= MAX_ID => ToolId::from(id.to_owned()),
        Some(_) => return bad(PERMISSION, "toolCallId is too long"),
        None => ToolId::from(format!("question {number}")),
    };
    let mut tool = patch_of(id, &call, Form::Update, |_| 0);
    if tool.cut {
        return too_large(PERMISSION, "what is asked about cannot be shown whole".into());
    }
    let lasting =
        |(id, scope): &(&str, Option<Scope>)| scope.map(|scope| [((*id).to_owned(), scope), (denial(id), scope)]);
    let scopes = SCOPES.iter().filter_map(lasting).flatten().collect();
    tool.wording = Some(Box::new(Wording { title, description: reason, is_unknown: !is_known, scopes }));
    let option = |is_allowed: bool, (id, scope): (&str, Option<Scope>)| PermissionOption {
        id: if is_allowed { id.to_owned() } else { denial(id) },
        name: named(is_allowed, scope),
        kind: match (is_allowed, scope) {
            (true, None) => PermissionKind::AllowOnce,
            (true, Some(_)) => PermissionKind::AllowAlways,
            (false, None) => PermissionKind::RejectOnce,
            (false, Some(_)) => PermissionKind::RejectAlways,
        },
    };
    let options = [true, false].into_iter().flat_map(|is_allowed| SCOPES.map(|scope| option(is_allowed, scope)));
    AgentRequest::Permission { tool, options: options.collect() }
}

fn denial(scope: &str) -> String {
    if scope == "once" { DENY.to_owned() } else { format!("{DENY}_{scope}") }
}

fn named(is_allowed: bool, scope: Option<Scope>) -> String {
    let (word, always) = if is_allowed { ("Allow", "Always allow") } else { ("Deny", "Always deny") };
    match scope {
        None if is_allowed => "Allow once".to_owned(),
        None => word.to_owned(),
        Some(Scope::Always) => always.to_owned(),
        Some(Scope::Session | Scope::Turn) => format!("{word} for this session"),
        Some(Scope::Workspace | Scope::Day) => format!("{word} in this workspace"),
    }
}

/// The answer for the option that was chosen (S-026, S-027).
pub fn answer(option: &str) -> Value {
    let of = |is_it: &dyn Fn(&str) -> bool| SCOPES.iter().find(|(id, _)| is_it(id)).map(|(id, _)| *id);
    let denied = of(&|id| id != "once" && denial(id) == option);
    match (of(&|id| id == option), denied) {
        (Some(scope), _) => json!({ "granted": true, "remember": scope != "once", "scope": scope }),
        (None, Some(scope)) => json!({ "granted": false, "remember": true, "scope": scope }),
        (None, None) => json!({ "granted": false }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::patch::Patch;

    #[test]
    fn s_029_what_a_call_has_said_before_does_not_stand_for_what_is_asked() {
        for operation in ["file_read", "file_write", "file_delete", "network_access", "mcp_tool", "odd"] {
            let value = json!({ "operation": operation, "resource": "evil/tool", "toolCallId": "k" });
            let AgentRequest::Permission { tool, .. } = read(&value, 1) else { panic!("{operation}") };
            let Patch::Set(input) = tool.raw_input else { panic!("the input of before is left: {operation}") };
            assert!(input.get("command").is_none(), "{input}");
        }
    }
}
