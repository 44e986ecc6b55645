//! The shapes that messages of an agent have in version 2, as tables.
//!
//! Words and kinds are open there: what is not known is no flaw. What version 1 had and version 2 has not is one.

use super::Kind::{Base64, Flag, List, Map, Number, Object, Open, Path, Text, Whole};
use super::{CHOICES, CONTENT_KINDS, Found, Kind, Member, NULLABLE, Tables, may, must};
use serde_json::Value;

const CONTENT: Kind = Open("type", CONTENT_KINDS);
const CHUNK: &[Member] = &[must("messageId", Text).by("V2-073"), must("content", CONTENT)];
const MESSAGE: &[Member] = &[must("messageId", Text).by("V2-073"), may("content", List(&CONTENT)).by("V2-070")];
const DIFF: &[Member] = &[
    must("changes", List(&Object(&[must("operation", Text), must("path", Path)]))).by("V2-092"),
    may("patch", Object(&[must("format", Text), must("text", Text)])).by("V2-093"),
];
const TOOL_CONTENT: Kind = Open(
    "type",
    &[("content", &[must("content", CONTENT)]), ("diff", DIFF), ("terminal", &[must("terminalId", Text).by("V2-091")])],
);
const CANCELS: Kind = Object(&[may("cancel", Map).by("V2-081")]);
const TOOL_UPDATE: &[Member] = &[
    must("toolCallId", Text).by("V2-076"),
    may("name", Text),
    may("title", Text),
    may("kind", Text),
    may("status", Text),
    may("content", List(&TOOL_CONTENT)),
    may("locations", List(&Object(&[must("path", Path), may("line", Kind::Positive).by("V2-082")]))),
    may("capabilities", CANCELS).by("V2-081"),
];
const STATE: &[Member] = &[
    must("state", Text).by("V2-050"),
    may("stopReason", Text).by("V2-054"),
    may("background", List(&Object(&[must("type", Text)]))).by("V2-056"),
];
const TERMINAL: &[Member] = &[
    must("terminalId", Text).by("V2-091"),
    may("command", Text),
    may("cwd", Path),
    may("output", Object(&[must("data", Base64).by("V2-085")])).by("V2-086"),
    may("exitStatus", Map).by("V2-088"),
    may("size", Object(&[must("cols", Kind::Positive), must("rows", Kind::Positive)])).by("V2-089"),
    may("capabilities", CANCELS).by("V2-081"),
];
const PLAN: Kind = Object(&[must("planId", Text).by("V2-104"), must("type", Text).by("V2-104")]);
const COMMAND: Kind =
    Object(&[must("name", Text).by("V2-107"), may("description", Text), may("type", Text).by("V2-106")]);
const OPTION: Kind = Open(
    "type",
    &[
        (
            "select",
            &[
                must("configId", Text).by("V2-108"),
                must("name", Text),
                must("currentValue", Text),
                must("options", CHOICE),
            ],
        ),
        ("boolean", &[must("configId", Text).by("V2-108"), must("name", Text), must("currentValue", Flag)]),
    ],
);
const CHOICE: Kind = List(&Object(&[may("value", Text), may("groupId", Text).by("V2-108"), must("name", Text)]));
const OPTIONS: Kind = List(&OPTION);
const UPDATE: Kind = Open(
    "sessionUpdate",
    &[
        ("user_message_chunk", CHUNK),
        ("agent_message_chunk", CHUNK),
        ("agent_thought_chunk", CHUNK),
        ("user_message", MESSAGE),
        ("agent_message", MESSAGE),
        ("agent_thought", MESSAGE),
        ("tool_call_update", TOOL_UPDATE),
        (
            "tool_call_content_chunk",
            &[must("toolCallId", Text).by("V2-076"), must("content", TOOL_CONTENT).by("V2-078")],
        ),
        ("state_update", STATE),
        ("terminal_update", TERMINAL),
        ("terminal_output_chunk", &[must("terminalId", Text).by("V2-091"), must("data", Base64).by("V2-085")]),
        ("plan_update", &[must("plan", PLAN).by("V2-104")]),
        ("available_commands_update", &[must("availableCommands", List(&COMMAND)).by("V2-106")]),
        ("config_option_update", &[must("configOptions", OPTIONS).by("V2-108")]),
        ("session_info_update", &[may("title", Text), may("updatedAt", Text).by("V2-115")]),
        (
            "usage_update",
            &[
                must("used", Whole),
                must("size", Whole),
                may("cost", Object(&[must("amount", Number), must("currency", Text)])).by("V2-113"),
            ],
        ),
        ("notice", &[must("severity", Text), must("title", Text), may("description", Text)]),
    ],
);
/// Kinds of updates that only version 1 has.
const GONE: &[&str] = &["tool_call", "plan", "current_mode_update"];
const SESSION: Member = must("sessionId", Text);
const SUBJECT: Kind = Open(
    "type",
    &[
        ("tool_call", &[must("toolCall", Object(TOOL_UPDATE)).by("V2-098")]),
        ("command", &[must("command", Text).by("V2-099"), must("cwd", Path).by("V2-099")]),
    ],
);

const REQUESTS: &[(&str, &[Member])] = &[
    (
        "session/request_permission",
        &[
            SESSION,
            must("title", Text).by("V2-097"),
            may("description", Text).by("V2-097"),
            may("subject", SUBJECT).by("V2-100"),
            must("options", CHOICES).by("V2-103"),
        ],
    ),
    ("elicitation/create", &[must("mode", Text).by("R-414"), must("message", Text)]),
    ("mcp/message", &[]),
];
const NOTIFICATIONS: &[(&str, &[Member])] = &[
    ("session/update", &[SESSION, must("update", UPDATE)]),
    ("elicitation/complete", &[must("elicitationId", Text)]),
    ("auth/status_update", &[]),
    ("mcp/message", &[]),
];
const SESSIONS: Kind = Object(&[
    may("prompt", Object(&[may("image", Map), may("audio", Map), may("embeddedContext", Map)])),
    may("mcp", Object(&[may("stdio", Map), may("http", Map)])).by("V2-122"),
    may("delete", Map).by("V2-021"),
    may("additionalDirectories", Map).by("V2-021"),
]);
const OPENED: &[Member] =
    &[may("configOptions", OPTIONS).by("V2-108"), may("availableCommands", List(&COMMAND)).by("V2-106")];
const NEW: &[Member] = &[
    must("sessionId", Text),
    may("configOptions", OPTIONS).by("V2-108"),
    may("availableCommands", List(&COMMAND)).by("V2-106"),
];
const ANSWERS: &[(&str, &[Member])] = &[
    (
        "initialize",
        &[
            must("protocolVersion", Whole).by("R-081"),
            must("info", Object(&[must("name", Text), must("version", Text), may("title", Text)])).by("V2-005"),
            may("capabilities", Object(&[may("session", SESSIONS).by("V2-015"), may("auth", Map)])).by("V2-015"),
            may(
                "authMethods",
                List(&Object(&[
                    must("type", Text).by("V2-018"),
                    must("methodId", Text).by("V2-018"),
                    must("name", Text),
                    may("env", List(&Object(&[must("name", Text), must("value", Text)]))).by("V2-019"),
                ])),
            )
            .by("V2-017"),
        ],
    ),
    ("session/new", NEW),
    ("session/fork", NEW),
    ("session/resume", OPENED),
    ("session/prompt", &[must("messageId", Text).by("V2-037")]),
    (
        "session/list",
        &[
            must(
                "sessions",
                List(&Object(&[
                    must("sessionId", Text),
                    must("cwd", Path),
                    may("title", Text),
                    may("updatedAt", Text).by("V2-115"),
                ])),
            ),
            may("nextCursor", Text).by("V2-035"),
        ],
    ),
    ("session/set_config_option", &[must("configOptions", OPTIONS).by("V2-108")]),
];

pub(super) static TABLES: Tables =
    Tables { requests: REQUESTS, notifications: NOTIFICATIONS, answers: ANSWERS, nullable: NULLABLE };

/// What no table says.
pub(super) fn besides(method: &str, params: &Value, found: &mut Found) {
    if method.starts_with("fs/") || method.starts_with("terminal/") {
        found.tell("V2-083", format!("`{method}` is no method of version 2: files and terminals are the agent's own"));
    }
    if method == "session/request_permission" && params["options"].as_array().is_some_and(Vec::is_empty) {
        found.tell("V2-103", "params.options is empty: nothing can be answered".to_owned());
    }
    if let Some(kind) = params.pointer("/update/sessionUpdate").and_then(Value::as_str)
        && GONE.contains(&kind)
    {
        found.tell("V2-080", format!("`{kind}` is no update of version 2"));
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Version, of_answer, of_notification, of_request};
    use serde_json::{Value, json};

    fn update(update: Value) -> Vec<&'static str> {
        let flaws = of_notification(Version::Second, "session/update", &json!({ "sessionId": "s", "update": update }));
        flaws.into_iter().map(|flaw| flaw.rule).collect()
    }

    #[test]
    fn words_are_open_and_well_formed_messages_have_no_flaws() {
        for good in [
            json!({"sessionUpdate": "state_update", "state": "dreaming", "background": []}),
            json!({"sessionUpdate": "agent_message", "messageId": "m", "content": null}),
            json!({"sessionUpdate": "agent_message_chunk", "messageId": "m", "content": {"type": "smell"}}),
            json!({"sessionUpdate": "tool_call_update", "toolCallId": "1", "status": "paused", "capabilities": {"cancel": {}},
                "content": [{"type": "diff", "changes": [{"operation": "add", "path": "/a"}]}]}),
            json!({"sessionUpdate": "terminal_output_chunk", "terminalId": "t", "data": "cnVu"}),
            json!({"sessionUpdate": "weather", "x": 1}),
        ] {
            assert_eq!(update(good.clone()), Vec::<&str>::new(), "{good}");
        }
        let greeting =
            json!({"protocolVersion": 2, "info": {"name": "a", "version": "1"}, "capabilities": {"session": {}}});
        assert_eq!(of_answer(Version::Second, "initialize", &greeting), []);
    }

    #[test]
    fn each_flaw_has_the_number_of_what_it_is_about() {
        for (bad, rule) in [
            (json!({"sessionUpdate": "tool_call", "toolCallId": "1"}), "V2-080"),
            (json!({"sessionUpdate": "plan", "entries": []}), "V2-080"),
            (json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "x"}}), "V2-073"),
            (json!({"sessionUpdate": "state_update", "state": 1}), "V2-050"),
            (json!({"sessionUpdate": "state_update", "state": "idle", "stopReason": 7}), "V2-054"),
            (
                json!({"sessionUpdate": "tool_call_update", "toolCallId": "1", "capabilities": {"cancel": true}}),
                "V2-081",
            ),
            (
                json!({"sessionUpdate": "tool_call_update", "toolCallId": "1", "locations": [{"path": "/a", "line": 0}]}),
                "V2-082",
            ),
            (json!({"sessionUpdate": "terminal_output_chunk", "terminalId": "t", "data": "%%"}), "V2-085"),
            (json!({"sessionUpdate": "plan_update", "plan": {"type": "items", "entries": []}}), "V2-104"),
            (
                json!({"sessionUpdate": "config_option_update", "configOptions": [{"type": "boolean", "id": "x", "name": "n", "currentValue": true}]}),
                "V2-108",
            ),
            (json!({"type": "x"}), "R-068"),
        ] {
            assert_eq!(update(bad.clone()), [rule], "{bad}");
        }
        let rules = |method: &str, params: Value| -> Vec<&str> {
            of_request(Version::Second, method, &params).into_iter().map(|flaw| flaw.rule).collect()
        };
        assert_eq!(rules("fs/read_text_file", json!({"sessionId": "s", "path": "/a"})), ["V2-083"]);
        let asks = json!({"sessionId": "s", "title": "t", "options": []});
        assert_eq!(rules("session/request_permission", asks), ["V2-103"]);
        let asks = json!({"sessionId": "s", "toolCall": {"toolCallId": "1"}, "options": [{"optionId": "y", "name": "n", "kind": "other"}]});
        assert_eq!(rules("session/request_permission", asks), ["V2-097"]);
        let answer = of_answer(Version::Second, "session/prompt", &json!({"stopReason": "end_turn"}));
        assert_eq!(answer[0].rule, "V2-037");
    }
}
