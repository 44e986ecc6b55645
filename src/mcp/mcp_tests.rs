use super::*;
use serde_json::json;

fn one(text: &str) -> Server {
    let mut read = read(text).unwrap();
    assert_eq!((read.servers.len(), &read.remarks[..]), (1, &[][..]), "{text}");
    read.servers.remove(0)
}

#[test]
fn the_map_and_the_list_are_read_alike() {
    let map = one(r#"{"mcpServers":{"db":{"command":"db-mcp","args":["--stdio"],"env":{"A":"1"}}}}"#);
    let list =
        one(r#"{"mcpServers":[{"name":"db","command":"db-mcp","args":["--stdio"],"env":[{"name":"A","value":"1"}]}]}"#);
    assert_eq!(map, list);
    let url = "https://x.example/mcp";
    for kind in ["\"http\"", "\"streamable-http\"", "\"streamableHttp\"", "null"] {
        let server = one(&format!(r#"{{"mcpServers":{{"x":{{"type":{kind},"url":"{url}","headers":{{"A":"b"}}}}}}}}"#));
        assert_eq!((server.kind(), server.line()), ("http", url.to_owned()));
    }
    assert_eq!(one(&format!(r#"{{"mcpServers":{{"x":{{"type":"SSE","url":"{url}"}}}}}}"#)).kind(), "sse");
}

#[test]
fn r_399_r_403_all_members_are_there_and_stdio_has_no_type() {
    let stdio = one(r#"{"mcpServers":{"db":{"command":"/bin/db"}}}"#).canonical();
    assert_eq!(stdio, json!({ "name": "db", "command": "/bin/db", "args": [], "env": [] }));
    let http = one(r#"{"mcpServers":{"x":{"url":"http://x/","headers":{"K":"v"}}}}"#).canonical();
    assert_eq!(
        http,
        json!({ "type": "http", "name": "x", "url": "http://x/", "headers": [{ "name": "K", "value": "v" }] })
    );
}

#[test]
fn what_is_no_file_of_servers_is_said() {
    for (text, why) in [
        ("", "not JSON"),
        ("mcpServers: {}", "not JSON"),
        ("[]", "no object"),
        ("{}", "no mcpServers"),
        (r#"{"mcpServers":7}"#, "neither a map nor a list"),
        (&format!("{}1{}", "[".repeat(5000), "]".repeat(5000)), "not JSON"),
    ] {
        assert!(read(text).is_err_and(|said| said.contains(why)), "{text:.20}");
    }
}

#[test]
fn a_server_that_cannot_be_used_costs_itself_and_is_named() {
    for (value, why) in [
        ("7", "no object"),
        ("{}", "neither a command nor a url"),
        (r#"{"command":""}"#, "neither a command"),
        (r#"{"command":["x"]}"#, "command is not text"),
        (r#"{"command":"x","args":"y"}"#, "args is no list"),
        (r#"{"command":"x","args":[1]}"#, "args is not text"),
        (r#"{"command":"x","env":{"A=B":"secret"}}"#, "env has a name"),
        (r#"{"command":"x","env":{"A":{"secret":1}}}"#, "env is not text"),
        (r#"{"command":"x\u0000"}"#, "NUL"),
        (r#"{"url":"file:///etc/passwd"}"#, "http://"),
        (r#"{"url":"https://"}"#, "http://"),
        (r#"{"url":"https://x/","headers":{"A":"secret\r\nB: c"}}"#, "more than one line"),
        (r#"{"type":"http"}"#, "no url"),
        (r#"{"type":"pigeon","url":"https://x/"}"#, "pigeon"),
    ] {
        let text = format!(r#"{{"mcpServers":{{"bad":{value},"good":{{"command":"x"}}}}}}"#);
        let Read { servers, remarks } = read(&text).unwrap();
        assert_eq!(servers.len(), 1, "{value}");
        assert!(remarks.len() == 1 && remarks[0].contains("bad") && remarks[0].contains(why), "{value}: {remarks:?}");
        assert!(!remarks[0].contains("secret"), "{remarks:?}");
    }
}

#[test]
fn a_thousand_servers_are_bounded() {
    let map: serde_json::Map<_, _> = (0..1000).map(|n| (format!("s{n}"), json!({ "command": "x" }))).collect();
    let Read { servers, remarks } = read(&json!({ "mcpServers": map }).to_string()).unwrap();
    assert_eq!(servers.len(), MAX_SERVERS);
    assert_eq!(remarks, ["900 more servers are left out: at most 100 are read"]);
}

fn values(name: &str) -> Option<String> {
    match name {
        "TOKEN" => Some("hunter2".to_owned()),
        "LOOP" => Some("${LOOP} ${POOL}".to_owned()),
        "EMPTY" => Some(String::new()),
        _ => None,
    }
}

#[test]
fn variables_are_filled_in_once_and_those_that_are_missing_are_named() {
    let filled = |arg: &str| {
        let text = json!({ "mcpServers": { "x": { "command": "x", "args": [arg] } } }).to_string();
        fill(&one(&text), &values).map(|server| match server.how {
            How::Stdio { mut args, .. } => args.remove(0),
            How::Remote { .. } => unreachable!(),
        })
    };
    for (text, wanted) in [
        ("a ${TOKEN} b", "a hunter2 b"),
        ("${TOKEN}${TOKEN}", "hunter2hunter2"),
        ("${LOOP}", "${LOOP} ${POOL}"),
        ("${NONE:-else}", "else"),
        ("${EMPTY:-else}", "else"),
        ("${EMPTY}", ""),
        ("${NONE:-}", ""),
        ("$TOKEN ${not a name} ${", "$TOKEN ${not a name} ${"),
    ] {
        assert_eq!(filled(text).as_deref(), Ok(wanted), "{text}");
    }
    assert_eq!(filled("${NONE} ${TOKEN} ${NADA}"), Err(vec!["NONE".to_owned(), "NADA".to_owned()]));
}

#[test]
fn r_405_what_is_shown_of_a_server_has_no_secrets() {
    let text = r#"{"mcpServers":{"x":{"command":"x","args":["${TOKEN}"],"env":{"A":"hunter2"}}}}"#;
    let written = one(text);
    for shown in [written.masked().canonical().to_string(), json!(written.told()).to_string(), written.line()] {
        assert!(!shown.contains("hunter2"), "{shown}");
    }
}

#[test]
fn r_401_r_402_what_the_agent_cannot_reach_is_left_out_and_named() {
    let given = |name: &str, value: serde_json::Value| {
        let server = server(name, &value).unwrap();
        ResolvedServer { written: server.clone(), filled: server }
    };
    let all = || Found {
        servers: vec![
            given("p", json!({ "command": "x" })),
            given("h", json!({ "url": "https://x/" })),
            given("s", json!({ "url": "https://x/", "type": "sse" })),
        ],
        remarks: Vec::new(),
    };
    let kept = |mut found: Found, has: &dyn Fn(Option<Remote>) -> bool| {
        found.keep(has);
        (found.servers.len(), found.remarks)
    };
    assert_eq!(kept(all(), &|_| true), (3, Vec::new()));
    let (count, remarks) = kept(all(), &|kind| kind.is_none());
    assert_eq!(count, 1);
    assert_eq!(remarks, ["the agent is not given h (http), s (sse): it does not take MCP servers of this kind"]);
    assert_eq!(kept(all(), &|kind| kind.is_none_or(|kind| kind == Remote::Http)).0, 2);
    assert_eq!(
        kept(all(), &|kind| kind.is_some()).1,
        ["the agent is not given p (stdio): it does not take MCP servers of this kind"]
    );
}
