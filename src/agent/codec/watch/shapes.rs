//! The shapes that messages of an agent have in version 1, as a table, and where a message is different; those of version 2
//! are in `second`.
//!
//! Stricter than the decoder, which bears with much: this is for telling an agent's author. Members that are not in the
//! table are not looked at. Invariants: a value is gone through once; what is told of one message is bounded.

mod second;

use crate::model::frames::Flaw;
use Kind::{Flag, List, Map, Number, Object, Path, Text, Whole, Word};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

/// Which tables a message is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    First,
    Second,
}

/// What there is in a version: methods with the members of their parameters, and of answers.
struct Tables {
    requests: &'static [(&'static str, &'static [Member])],
    notifications: &'static [(&'static str, &'static [Member])],
    answers: &'static [(&'static str, &'static [Member])],
    /// Their answers may be null.
    nullable: &'static [&'static str],
}

/// Flaws that are told of one message.
const MAX_FLAWS: usize = 8;
/// Characters of a value that are quoted.
const MAX_QUOTED: usize = 60;

/// What a value has to be.
enum Kind {
    Text,
    /// Absolute.
    Path,
    Whole,
    /// Whole, and not 0.
    Positive,
    Number,
    Flag,
    /// A text that is bytes.
    Base64,
    /// An object whose members are not looked at.
    Map,
    Object(&'static [Member]),
    List(&'static Kind),
    /// One of these texts.
    Word(&'static [&'static str], &'static str),
    /// An object whose kind stands in a member: its name, the members of each kind, and the requirement about others.
    Tagged(&'static str, &'static [(&'static str, &'static [Member])], &'static str),
    /// The same where other kinds may come.
    Open(&'static str, &'static [(&'static str, &'static [Member])]),
}

struct Member {
    name: &'static str,
    kind: Kind,
    is_needed: bool,
    /// The requirement that it is about, where there is one of its own.
    rule: Option<&'static str>,
}

const fn must(name: &'static str, kind: Kind) -> Member {
    Member { name, kind, is_needed: true, rule: None }
}

const fn may(name: &'static str, kind: Kind) -> Member {
    Member { name, kind, is_needed: false, rule: None }
}

impl Member {
    const fn by(self, rule: &'static str) -> Self {
        Self { rule: Some(rule), ..self }
    }
}

/// A value of the wrong type where one is needed, where none is needed, and in a list.
const NEEDED: &str = "R-062";
const NOT_NEEDED: &str = "R-063";
const IN_LIST: &str = "R-064";
const ABSOLUTE: &str = "R-126";
/// What it is cannot be told.
const KINDLESS: &str = "R-068";

const MESSAGE: &[Member] = &[must("content", CONTENT), may("messageId", Text)];
const RESOURCE: &[Member] = &[must("uri", Text), may("mimeType", Text), may("text", Text), may("blob", Text)];
const CONTENT_KINDS: &[(&str, &[Member])] = &[
    ("text", &[must("text", Text)]),
    ("image", &[must("data", Text), must("mimeType", Text), may("uri", Text)]),
    ("audio", &[must("data", Text), must("mimeType", Text)]),
    ("resource_link", &[must("uri", Text), must("name", Text), may("mimeType", Text), may("title", Text)]),
    ("resource", &[must("resource", Object(RESOURCE))]),
];
const CONTENT: Kind = Kind::Tagged("type", CONTENT_KINDS, "R-069");
const TOOL_KIND: Kind =
    Word(&["read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"], "R-308");
const STATUS: Kind = Word(&["pending", "in_progress", "completed", "failed"], "R-310");
const TOOL_CONTENT: Kind = Kind::Tagged(
    "type",
    &[
        ("content", &[must("content", CONTENT)]),
        ("diff", &[must("path", Path).by("R-318"), may("oldText", Text), must("newText", Text)]),
        ("terminal", &[must("terminalId", Text)]),
    ],
    "R-314",
);
const LOCATION: Kind = Object(&[must("path", Path), may("line", Whole)]);
const TOOL_CALL: &[Member] = &[
    must("toolCallId", Text).by("R-301"),
    must("title", Text),
    may("kind", TOOL_KIND),
    may("status", STATUS),
    may("content", List(&TOOL_CONTENT)),
    may("locations", List(&LOCATION)),
];
const TOOL_UPDATE: &[Member] = &[
    must("toolCallId", Text).by("R-301"),
    may("title", Text),
    may("kind", TOOL_KIND),
    may("status", STATUS),
    may("content", List(&TOOL_CONTENT)),
    may("locations", List(&LOCATION)),
];
const ENTRY: Kind = Object(&[
    must("content", Text),
    must("priority", Word(&["high", "medium", "low"], NEEDED)),
    must("status", Word(&["pending", "in_progress", "completed"], NEEDED)),
]);
const COMMAND: Kind = Object(&[must("name", Text), must("description", Text), may("input", Map)]);
const MODES: Kind = Object(&[
    must("currentModeId", Text).by("R-188"),
    must("availableModes", List(&Object(&[must("id", Text), must("name", Text), may("description", Text)])))
        .by("R-188"),
]);
const OPTION: Kind = Kind::Tagged(
    "type",
    &[
        ("select", &[must("id", Text), must("name", Text), must("currentValue", Text), must("options", List(&CHOICE))]),
        ("boolean", &[must("id", Text), must("name", Text), must("currentValue", Flag)]),
    ],
    "R-203",
);
/// A value, or a group of values.
const CHOICE: Kind = Object(&[may("value", Text), may("group", Text), must("name", Text)]);
const OPTIONS: Kind = List(&OPTION);
const UPDATE: Kind = Kind::Tagged(
    "sessionUpdate",
    &[
        ("user_message_chunk", MESSAGE),
        ("agent_message_chunk", MESSAGE),
        ("agent_thought_chunk", MESSAGE),
        ("tool_call", TOOL_CALL),
        ("tool_call_update", TOOL_UPDATE),
        ("plan", &[must("entries", List(&ENTRY)).by("R-257")]),
        ("plan_update", &[]),
        ("plan_removed", &[]),
        ("available_commands_update", &[must("availableCommands", List(&COMMAND)).by("R-261")]),
        ("current_mode_update", &[must("currentModeId", Text).by("R-193")]),
        ("config_option_update", &[must("configOptions", OPTIONS).by("R-196")]),
        ("session_info_update", &[may("title", Text), may("updatedAt", Text)]),
        (
            "usage_update",
            &[
                must("used", Whole),
                must("size", Whole),
                may("cost", Object(&[must("amount", Number), must("currency", Text)])),
            ],
        ),
        ("notice", &[must("severity", Text), must("title", Text), may("description", Text)]),
        ("compaction_update", &[]),
        ("compaction_summary_chunk", &[]),
        ("subagent_update", &[]),
        ("session_message", &[]),
        ("session_message_chunk", &[]),
    ],
    "R-068",
);

const SESSION: Member = must("sessionId", Text);
const TERMINAL: &[Member] = &[must("sessionId", Text), must("terminalId", Text)];
const FIRST_CHOICES: Kind = List(&Object(&[
    must("optionId", Text).by("R-328"),
    must("name", Text),
    must("kind", Word(&["allow_once", "allow_always", "reject_once", "reject_always"], "R-328")),
]));

/// Requests of an agent.
const REQUESTS: &[(&str, &[Member])] = &[
    (
        "session/request_permission",
        &[SESSION, must("toolCall", Object(TOOL_UPDATE)).by("R-330"), must("options", FIRST_CHOICES).by("R-329")],
    ),
    ("fs/read_text_file", &[SESSION, must("path", Path).by("R-343"), may("line", Whole), may("limit", Whole)]),
    ("fs/write_text_file", &[SESSION, must("path", Path).by("R-343"), must("content", Text)]),
    (
        "terminal/create",
        &[
            SESSION,
            must("command", Text),
            may("args", List(&Text)),
            may("env", List(&Object(&[must("name", Text), must("value", Text)]))),
            may("cwd", Path).by("R-366"),
            may("outputByteLimit", Whole),
        ],
    ),
    ("terminal/output", TERMINAL),
    ("terminal/wait_for_exit", TERMINAL),
    ("terminal/kill", TERMINAL),
    ("terminal/release", TERMINAL),
    ("elicitation/create", &[must("mode", Text).by("R-414"), must("message", Text)]),
    ("mcp/message", &[]),
];
const NOTIFICATIONS: &[(&str, &[Member])] = &[
    ("session/update", &[SESSION, must("update", UPDATE)]),
    ("elicitation/complete", &[must("elicitationId", Text)]),
    ("auth/status_update", &[]),
    ("mcp/message", &[]),
];

const SUPPORTED: Kind = Map;
const CAPABILITIES: &[Member] = &[
    may("loadSession", Flag).by("R-084"),
    may("promptCapabilities", Object(&[may("image", Flag), may("audio", Flag), may("embeddedContext", Flag)]))
        .by("R-084"),
    may("mcpCapabilities", Object(&[may("http", Flag), may("sse", Flag)])).by("R-084"),
    may(
        "sessionCapabilities",
        Object(&[
            may("list", SUPPORTED).by("R-083"),
            may("resume", SUPPORTED).by("R-083"),
            may("close", SUPPORTED).by("R-083"),
            may("delete", SUPPORTED).by("R-083"),
            may("fork", SUPPORTED).by("R-083"),
        ]),
    )
    .by("R-083"),
    may("auth", Map).by("R-083"),
];
const OPENED: &[Member] = &[may("modes", MODES).by("R-188"), may("configOptions", OPTIONS).by("R-196")];
const NEW: &[Member] =
    &[must("sessionId", Text), may("modes", MODES).by("R-188"), may("configOptions", OPTIONS).by("R-196")];
/// Answers of an agent, by the method that was called.
const ANSWERS: &[(&str, &[Member])] = &[
    (
        "initialize",
        &[
            must("protocolVersion", Whole).by("R-081"),
            may("agentCapabilities", Object(CAPABILITIES)).by("R-082"),
            may("agentInfo", Object(&[must("name", Text), must("version", Text), may("title", Text)])).by("R-087"),
            may("authMethods", List(&Object(&[must("id", Text), must("name", Text), may("description", Text)])))
                .by("R-097"),
        ],
    ),
    ("session/new", NEW),
    ("session/fork", NEW),
    ("session/load", OPENED),
    ("session/resume", OPENED),
    (
        "session/prompt",
        &[must("stopReason", Word(&["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"], "R-219"))
            .by("R-219")],
    ),
    (
        "session/list",
        &[
            must(
                "sessions",
                List(&Object(&[
                    must("sessionId", Text),
                    must("cwd", Path),
                    may("title", Text),
                    may("updatedAt", Text),
                ])),
            ),
            may("nextCursor", Text).by("R-154"),
        ],
    ),
    ("session/set_config_option", &[must("configOptions", OPTIONS).by("R-196")]),
];
/// Their answers may be null.
const NULLABLE: &[&str] = &["session/load", "session/resume"];

/// Of version 2, where their kinds are open.
const CHOICES: Kind = List(&Object(&[must("optionId", Text).by("R-328"), must("name", Text), must("kind", Text)]));

static FIRST: Tables =
    Tables { requests: REQUESTS, notifications: NOTIFICATIONS, answers: ANSWERS, nullable: NULLABLE };

impl Version {
    fn tables(self) -> &'static Tables {
        match self {
            Self::First => &FIRST,
            Self::Second => &second::TABLES,
        }
    }
}

/// What is wrong with a request of an agent.
pub(super) fn of_request(version: Version, method: &str, params: &Value) -> Vec<Flaw> {
    of_call(version, version.tables().requests, "R-007", method, params)
}

pub(super) fn of_notification(version: Version, method: &str, params: &Value) -> Vec<Flaw> {
    of_call(version, version.tables().notifications, "R-008", method, params)
}

fn of_call(
    version: Version,
    known: &[(&str, &'static [Member])],
    unknown: &'static str,
    method: &str,
    params: &Value,
) -> Vec<Flaw> {
    if method.starts_with(['_', '$']) {
        return Vec::new();
    }
    let mut found = Found::default();
    let slash = match version {
        Version::First => {
            if method == "session/request_permission" && params["options"].as_array().is_some_and(Vec::is_empty) {
                found.tell("R-329", "params.options is empty: nothing can be answered".to_owned());
            }
            "R-263"
        }
        Version::Second => {
            second::besides(method, params, &mut found);
            "V2-107"
        }
    };
    match known.iter().find(|(name, _)| *name == method) {
        Some((_, members)) => found.object(params, members, "params", NEEDED),
        None if !found.flaws.is_empty() => {}
        None => found.tell(unknown, format!("`{}` is no method of the protocol", cut(method))),
    }
    let commands = params.pointer("/update/availableCommands").and_then(Value::as_array).into_iter().flatten();
    for name in commands.filter_map(|command| command["name"].as_str()).filter(|name| name.starts_with('/')) {
        found.tell(slash, format!("the command `{}` is named with a slash", cut(name)));
    }
    found.flaws
}

/// What is wrong with the result of a call of ours.
pub(super) fn of_answer(version: Version, method: &str, result: &Value) -> Vec<Flaw> {
    let mut found = Found::default();
    let tables = version.tables();
    let is_absent = result.is_null() && tables.nullable.contains(&method);
    if let Some((_, members)) = tables.answers.iter().find(|(name, _)| *name == method).filter(|_| !is_absent) {
        found.object(result, members, "result", NEEDED);
    }
    found.flaws
}

#[derive(Default)]
struct Found {
    flaws: Vec<Flaw>,
}

impl Found {
    fn tell(&mut self, rule: &'static str, what: String) {
        if self.flaws.len() < MAX_FLAWS {
            self.flaws.push(Flaw { rule, what });
        }
    }

    fn object(&mut self, value: &Value, members: &'static [Member], place: &str, rule: &'static str) {
        let Some(object) = value.as_object() else {
            self.tell(rule, format!("{place} is {}, not an object", quoted(value)));
            return;
        };
        for Member { name, kind, is_needed, rule } in members {
            let place = || format!("{place}.{name}");
            match object.get(*name) {
                None | Some(Value::Null) if !is_needed => {}
                None => self.tell(rule.unwrap_or(NEEDED), format!("{} is missing", place())),
                Some(value) => {
                    let rule = rule.unwrap_or(if *is_needed { NEEDED } else { NOT_NEEDED });
                    self.value(value, kind, &place(), rule);
                }
            }
        }
    }

    fn value(&mut self, value: &Value, kind: &'static Kind, place: &str, rule: &'static str) {
        let wanted = match kind {
            Text if value.is_string() => return,
            Text => "a text",
            Path => match value.as_str() {
                Some(path) if is_absolute(path) => return,
                Some(_) => {
                    let rule = if rule == NEEDED || rule == NOT_NEEDED { ABSOLUTE } else { rule };
                    return self.tell(rule, format!("{place} is {}, not an absolute path", quoted(value)));
                }
                None => "a path",
            },
            Whole if is_whole(value) => return,
            Whole => "a whole number",
            Kind::Positive if is_whole(value) && value.as_f64() != Some(0.0) => return,
            Kind::Positive => "a whole number from 1 on",
            Kind::Base64 if value.as_str().is_some_and(|text| STANDARD.decode(text).is_ok()) => return,
            Kind::Base64 => "base64",
            Number if value.is_number() => return,
            Number => "a number",
            Flag if value.is_boolean() => return,
            Flag => "true or false",
            Map if value.is_object() => return,
            Map => "an object",
            Object(members) => return self.object(value, members, place, rule),
            List(kind) => match value.as_array() {
                Some(elements) => {
                    for (at, element) in elements.iter().enumerate() {
                        self.value(element, kind, &format!("{place}[{at}]"), IN_LIST);
                        if self.flaws.len() >= MAX_FLAWS {
                            return;
                        }
                    }
                    return;
                }
                None => "a list",
            },
            Word(words, rule) => match value.as_str() {
                Some(word) if words.contains(&word) => return,
                _ => return self.tell(rule, format!("{place} is {}, not one of {}", quoted(value), words.join(", "))),
            },
            Kind::Open(tag, kinds) => {
                let word = value.get(*tag).and_then(Value::as_str);
                let known = word.and_then(|word| kinds.iter().find(|(kind, _)| *kind == word));
                return match (known, word) {
                    (Some((_, members)), _) => self.object(value, members, place, rule),
                    (None, Some(_)) => {}
                    (None, None) => self.tell(KINDLESS, format!("{place}.{tag} is missing or no text")),
                };
            }
            Kind::Tagged(tag, kinds, unknown) => {
                let word = value.get(*tag).and_then(Value::as_str);
                match word.and_then(|word| kinds.iter().find(|(kind, _)| *kind == word)) {
                    Some((_, members)) => return self.object(value, members, place, rule),
                    None if !value.is_object() => "an object",
                    None if word.is_some_and(|word| word.starts_with('_')) => return,
                    None => {
                        let is = value.get(*tag).map_or_else(
                            || "missing".to_owned(),
                            |value| format!("{}, which is not known", quoted(value)),
                        );
                        return self.tell(unknown, format!("{place}.{tag} is {is}"));
                    }
                }
            }
        };
        self.tell(rule, format!("{place} is {}, not {wanted}", quoted(value)));
    }
}

/// Of this system or of the other one.
fn is_absolute(path: &str) -> bool {
    let drive = path.as_bytes();
    path.starts_with('/') || path.starts_with('\\') || drive.get(1) == Some(&b':') && drive[0].is_ascii_alphabetic()
}

/// Not negative; with `.0` it is one as well.
fn is_whole(value: &Value) -> bool {
    value.is_u64() || value.as_f64().is_some_and(|number| number >= 0.0 && number.fract() == 0.0)
}

fn quoted(value: &Value) -> String {
    match value {
        Value::Object(_) => "an object".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::String(text) if text.len() > MAX_QUOTED => format!("\"{}…\"", cut(text)),
        other => other.to_string(),
    }
}

fn cut(text: &str) -> String {
    text.chars().take(MAX_QUOTED).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use Version::First as V1;
    use serde_json::json;

    fn rules(flaws: &[Flaw]) -> Vec<&str> {
        flaws.iter().map(|flaw| flaw.rule).collect()
    }

    fn update(update: Value) -> Vec<Flaw> {
        of_notification(V1, "session/update", &json!({ "sessionId": "s", "update": update }))
    }

    #[test]
    fn well_formed_messages_have_no_flaws() {
        for good in [
            json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "x"}, "messageId": null}),
            json!({"sessionUpdate": "tool_call", "toolCallId": "1", "title": "t", "status": "completed", "rawInput": 7,
                "locations": [{"path": "/a", "line": 0}],
                "content": [{"type": "diff", "path": "C:\\x", "oldText": null, "newText": ""}]}),
            json!({"sessionUpdate": "plan", "entries": [{"content": "a", "priority": "low", "status": "pending"}]}),
            json!({"sessionUpdate": "usage_update", "used": 5.0, "size": 0}),
            json!({"sessionUpdate": "_vendor", "x": 1}),
        ] {
            assert_eq!(update(good.clone()), [], "{good}");
        }
        assert_eq!(of_notification(V1, "_vendor/status", &Value::Null), []);
        assert_eq!(of_answer(V1, "session/load", &Value::Null), []);
        assert_eq!(of_answer(V1, "_vendor", &json!(7)), []);
        assert_eq!(of_answer(V1, "initialize", &json!({"protocolVersion": 1, "agentCapabilities": {"x": 1}})), []);
    }

    #[test]
    fn each_flaw_has_the_number_of_what_it_is_about() {
        let chunk = |content: Value| json!({"sessionUpdate": "agent_message_chunk", "content": content});
        for (bad, rule) in [
            (json!({"sessionUpdate": "weather"}), "R-068"),
            (json!({"type": "x"}), "R-068"),
            (chunk(json!({"type": "smell"})), "R-069"),
            (chunk(json!({"type": "text"})), "R-062"),
            (json!({"sessionUpdate": "tool_call_update"}), "R-301"),
            (json!({"sessionUpdate": "tool_call_update", "toolCallId": "1", "status": "cancelled"}), "R-310"),
            (json!({"sessionUpdate": "tool_call_update", "toolCallId": "1", "title": 5}), "R-063"),
            (json!({"sessionUpdate": "tool_call_update", "toolCallId": "1", "locations": [7]}), "R-064"),
            (json!({"sessionUpdate": "tool_call_update", "toolCallId": "1", "locations": [{"path": "a"}]}), "R-126"),
            (
                json!({"sessionUpdate": "available_commands_update",
                "availableCommands": [{"name": "/x", "description": ""}]}),
                "R-263",
            ),
        ] {
            assert_eq!(rules(&update(bad.clone())), [rule], "{bad}");
        }
        let asks = json!({"sessionId": "s", "toolCall": {"toolCallId": "1"}, "options": []});
        assert_eq!(rules(&of_request(V1, "session/request_permission", &asks)), ["R-329"]);
        assert_eq!(rules(&of_request(V1, "fs/read_text_file", &json!({"sessionId": "s", "path": "a"}))), ["R-343"]);
        assert_eq!(rules(&of_request(V1, "weather/get", &json!({}))), ["R-007"]);
        assert_eq!(rules(&of_answer(V1, "session/prompt", &json!({"stopReason": "tired"}))), ["R-219"]);
        assert_eq!(rules(&of_answer(V1, "session/prompt", &json!({}))), ["R-219"]);
        let caps = json!({"protocolVersion": "1", "agentCapabilities": {"loadSession": "yes"}});
        assert_eq!(rules(&of_answer(V1, "initialize", &caps)), ["R-081", "R-084"]);
    }

    #[test]
    fn what_is_told_of_one_message_is_bounded() {
        let entries: Vec<Value> = (0..1000).map(|_| json!(7)).collect();
        assert_eq!(update(json!({"sessionUpdate": "plan", "entries": entries})).len(), MAX_FLAWS);
    }
}
