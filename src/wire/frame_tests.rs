use super::*;

const WORDS: [&str; 2] = ["fs/write_text_file", "terminal/create"];
use crate::wire::rpc_error::NO_MESSAGE;
use serde_json::json;

fn id(text: &str) -> RawId {
    RawId::from_json(text).unwrap()
}

/// A frame in one short line, for tables.
fn short(line: &str) -> String {
    let or_none = |id: Option<RawId>| id.map_or_else(|| "-".to_owned(), |id| id.to_string());
    let params = |p: Option<Params>| p.map_or_else(|| "-".to_owned(), |p| p.as_str().to_owned());
    match Frame::parse(line.as_bytes()) {
        Frame::Request { id, method, params: p } => format!("request {id} {method} {}", params(p)),
        Frame::Notification { method, params: p } => format!("notification {method} {}", params(p)),
        Frame::Response { id, outcome: Ok(result) } => format!("ok {id} {}", result.as_str()),
        Frame::Response { id, outcome: Err(e) } => format!("err {id} {} {}", e.code, e.message),
        Frame::MalformedResponse { id, .. } => format!("malformed {}", or_none(id)),
        Frame::Invalid { id, code, .. } => format!("invalid {} {code}", or_none(id)),
        Frame::Stray => "stray".to_owned(),
        Frame::TooLong { .. } => "too long".to_owned(),
    }
}

#[test]
fn golden_table() {
    let table = [
        (r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1}}"#, r#"request 1 m {"a":1}"#),
        (r#"{"id":1,"method":"m"}"#, "request 1 m -"),
        (r#"{"id":1,"method":"m","params":null}"#, "request 1 m -"),
        (r#"{"id":null,"method":"m"}"#, "request null m -"),
        (r#"{"id":1,"method":"a\u002fb"}"#, "request 1 a/b -"),
        (r#"{"method":"m","params":[ 1, 2 ]}"#, "notification m [ 1, 2 ]"),
        (r#"{"method":"_x","extra":{"id":3}}"#, "notification _x -"),
        (r#"{"id":1,"result":null}"#, "ok 1 null"),
        (r#"{"id":1,"result":{"a":[]}, "error":null}"#, r#"ok 1 {"a":[]}"#),
        (r#"{"id":"1","error":{"code":-32603,"message":"no"},"result":{}}"#, r#"err "1" -32603 no"#),
        (r#"{"id":1,"error":{"code":7}}"#, "err 1 7 (no message)"),
        (r#"{"id":1,"error":"boom"}"#, "malformed 1"),
        (r#"{"id":1,"error":null}"#, "malformed 1"),
        (r#"{"jsonrpc":"2.0","id":1}"#, "malformed 1"),
        (r#"{"result":1}"#, "malformed -"),
        (r#"{"id":[],"result":1}"#, "malformed -"),
        (r#"{"id":5,"method":6}"#, "invalid 5 -32600"),
        (r#"{"id":{},"method":"m"}"#, "invalid - -32600"),
        (r#"{"id":true,"method":"m"}"#, "invalid - -32600"),
        (r#"{"level":"info"}"#, "invalid - -32600"),
        ("{}", "invalid - -32600"),
        (r#"{"jsonrpc":"2.0","id":1,"method":"m""#, "invalid - -32700"),
        (r#"{"jsonrpc":"2.0","method":"m"}{"jsonrpc":"2.0","method":"m"}"#, "invalid - -32700"),
        ("{oops", "stray"),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"m"}]"#, "stray"),
        ("null", "stray"),
        ("17", "stray"),
        ("[INFO] ready", "stray"),
        ("", "stray"),
        (r#"{"id":1,"id":2,"method":"a","method":"b"}"#, "request 2 b -"),
    ];
    for (line, expected) in table {
        assert_eq!(short(line), expected, "{line}");
    }
}

#[test]
fn r_004_ids_are_echoed_digit_by_digit() {
    for raw in
        ["1", r#""1""#, "null", "9007199254740993", "-1", "1.50", "1e3", r#""a\u0062\n""#, "18446744073709551616"]
    {
        let line = format!(r#"{{"jsonrpc":"2.0","id": {raw} ,"method":"m"}}"#);
        let Frame::Request { id, .. } = Frame::parse(line.as_bytes()) else { panic!("{line}") };
        assert_eq!(response_ok(&id, &json!({})).unwrap(), format!(r#"{{"jsonrpc":"2.0","id":{raw},"result":{{}}}}"#));
    }
    assert_eq!(id("7").as_u64(), Some(7));
    assert_eq!(id(r#""7""#).as_u64(), None);
    assert_eq!(RawId::from_json("tru"), None);
    assert_eq!(RawId::from_json("1 "), None);
    assert_eq!(RawId::from_json(&format!("\"{}\"", "x".repeat(5000))), None);
}

#[test]
fn r_050_byte_order_marks_and_carriage_returns_are_ignored() {
    for line in ["\u{feff}{\"method\":\"m\"}\r", " \t{\"method\":\"m\"} \r\r"] {
        assert_eq!(short(line), "notification m -");
    }
    let (_, text) = Frame::read(Cow::Borrowed("\u{feff} {\"method\":\"m\"}\r".as_bytes()), &[]);
    assert_eq!(text.as_ref(), r#"{"method":"m"}"#);
}

#[test]
fn r_053_bytes_that_are_not_utf_8_do_not_lose_the_frame() {
    let mut line = br#"{"method":"m","params":"a"#.to_vec();
    line.extend([0xff, 0xfe]);
    line.extend(br#""}"#);
    let Frame::Notification { params: Some(params), .. } = Frame::parse(&line) else { panic!() };
    assert_eq!(params.parse::<String>().unwrap(), "a\u{fffd}\u{fffd}");
    assert_eq!(Frame::parse(&[0xff, b'{']), Frame::Stray);
    let torn = [br#"{"jsonrpc":"2.0","#.as_slice(), &[0xff]].concat();
    assert!(matches!(Frame::parse(&torn), Frame::Invalid { code: PARSE_ERROR, .. }));
}

#[test]
fn a_lone_surrogate_does_not_lose_the_frame() {
    let line = r#"{"jsonrpc":"2.0","method":"m","params":{"text":"cut \ud83d"}}"#;
    let Frame::Notification { params: Some(params), .. } = Frame::parse(line.as_bytes()) else { panic!() };
    assert_eq!(params.parse::<serde_json::Value>().unwrap(), json!({"text": "cut \u{fffd}"}));
}

#[test]
fn half_an_emoji_in_a_question_is_mended_and_in_a_write_refused() {
    let line =
        |method: &str| format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{"title":"cut \ud83d"}}}}"#);
    let question = Frame::parse(line("session/request_permission").as_bytes());
    assert!(matches!(question, Frame::Request { .. }), "{question:?}");
    for method in ["fs/write_text_file", "terminal/create"] {
        let frame = Frame::read(Cow::Owned(line(method).into_bytes()), &WORDS).0;
        assert!(matches!(frame, Frame::Invalid { code: INVALID_PARAMS, .. }));
    }
}

#[test]
fn deep_nesting_does_not_crash() {
    let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
    let line = format!(r#"{{"id":1,"method":"m","x":{deep},"params":{deep}}}"#);
    let Frame::Request { params: Some(params), .. } = Frame::parse(line.as_bytes()) else { panic!() };
    assert!(params.parse::<serde_json::Value>().is_err(), "typed decoding refuses it, as a value");
    let line = format!(r#"{{"id":1,"error":{{"code":1,"data":{deep}}}}}"#);
    let Frame::Response { outcome: Err(error), .. } = Frame::parse(line.as_bytes()) else { panic!() };
    assert_eq!(error.message, NO_MESSAGE);
}

#[test]
fn params_point_into_the_shared_line() {
    let (frame, text) = Frame::read(Cow::Borrowed(br#"{"method":"m","params":{"a":1}}"#), &[]);
    let Frame::Notification { params: Some(params), .. } = frame else { panic!() };
    assert_eq!(params.as_str().as_ptr() as usize, text.as_ptr() as usize + 23);
}

#[test]
fn r_052_a_long_stray_line_is_kept_by_its_head() {
    let (frame, text) = Frame::read(Cow::Owned("é".repeat(100_000).into_bytes()), &[]);
    assert_eq!(frame, Frame::Stray);
    assert_eq!(text.len(), KEEP_STRAY);
}

#[test]
fn r_001_lines_we_send_read_back_as_what_they_are() {
    let line = request(3, "session/new", &json!({"cwd": "/a\nb"})).unwrap();
    assert_eq!(line, r#"{"jsonrpc":"2.0","id":3,"method":"session/new","params":{"cwd":"/a\nb"}}"#);
    assert_eq!(short(&line), r#"request 3 session/new {"cwd":"/a\nb"}"#);
    assert_eq!(notification("x", &()).unwrap(), r#"{"jsonrpc":"2.0","method":"x"}"#);
    let error = RpcError::new(INVALID_REQUEST, "no").with_data(json!({"a": 1}));
    assert_eq!(short(&response_err(&RawId::null(), &error)), "err null -32600 no");
    let pretty = RawValue::from_string("{\n\"a\": 1\r\n}".to_owned()).unwrap();
    let line = response_ok(&RawId::number(1), &pretty).unwrap();
    assert!(!line.contains(['\n', '\r']), "{line}");
}

#[test]
fn only_valid_text_counts_as_json() {
    for line in [r#"{"method":"m"}"#, r#"{"id":1}"#, "{}", r#"{"id":1,"result":2}"#] {
        assert!(Frame::parse(line.as_bytes()).is_json(), "{line}");
    }
    for line in ["null", r#"{"jsonrpc"#, r#"{"jsonrpc":"#, "{"] {
        assert!(!Frame::parse(line.as_bytes()).is_json(), "{line}");
    }
}

proptest::proptest! {
    #[test]
    fn any_bytes_give_a_frame(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..200)) {
        let frame = Frame::parse(&bytes);
        let object = [b"{\"jsonrpc\":".as_slice(), &bytes, b"}"].concat();
        let (_, text) = Frame::read(Cow::Owned(object), &[]);
        proptest::prop_assert!(text.len() <= bytes.len() * 3 + 12);
        drop(frame);
    }
}

#[test]
fn r_053_a_request_that_would_have_to_be_mended_is_refused_with_its_id() {
    let write = |content: &[u8]| {
        let before = br#"{"jsonrpc":"2.0","id":"w 1","method":"fs/write_text_file","params":{"content":""#;
        Frame::read(Cow::Owned([before.as_slice(), content, br#""}}"#].concat()), &WORDS)
    };
    for (content, wanted) in [(b"a\xffb".as_slice(), PARSE_ERROR), (br"a\ud800b".as_slice(), INVALID_PARAMS)] {
        let (frame, line) = write(content);
        let Frame::Invalid { id, code, .. } = &frame else { panic!("{frame:?}") };
        assert_eq!((id.as_ref().map(RawId::as_str), *code), (Some("\"w 1\""), wanted));
        // What is kept of it as JSON is refused again.
        if frame.is_json() {
            assert_eq!(Frame::read(Cow::Borrowed(line.as_bytes()), &WORDS).0, frame);
        }
    }
    for content in ["a\u{fffd}b".as_bytes(), br"a\ufffdb", br"\ud83d\ude00"] {
        assert!(matches!(write(content).0, Frame::Request { .. }));
    }
}

#[test]
fn r_053_what_is_no_request_is_mended() {
    for text in [b"a\xffb".as_slice(), br"a\ud800b"] {
        let chunk = [br#"{"method":"m","params":""#.as_slice(), text, br#""}"#].concat();
        let Frame::Notification { params: Some(params), .. } = Frame::parse(&chunk) else { panic!("lost") };
        assert_eq!(params.parse::<String>().unwrap(), "a\u{fffd}b");
        let answer = [br#"{"id":1,"result":""#.as_slice(), text, br#""}"#].concat();
        assert!(matches!(Frame::parse(&answer), Frame::Response { outcome: Ok(_), .. }));
    }
}

#[test]
fn a_long_line_is_held_in_the_room_that_it_was_read_into() {
    let read = |before: &str, after: &str| {
        let line = format!(r#"{before}{{"id":1,"method":"m","params":"{}"}}{after}"#, "x".repeat(1 << 20));
        let at = line.as_ptr();
        let (frame, text) = Frame::read(Cow::Owned(line.into_bytes()), &[]);
        let Frame::Request { params: Some(params), .. } = frame else { panic!("{frame:?}") };
        assert!(text.starts_with('{') && text.ends_with('}') && params.as_str().len() == (1 << 20) + 2);
        assert_eq!(params.as_str().as_ptr() as usize, text.as_ptr() as usize + text.find("\"x").unwrap());
        at == text.as_ptr()
    };
    assert!(read("", "") && read("", "\r") && read(" ", ""));
}
