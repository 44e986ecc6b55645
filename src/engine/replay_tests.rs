//! What a session has of each conversation that was had under its key.

use super::*;
use crate::model::entry::Body;
use crate::model::session::Policy;
use std::convert::Infallible;

/// One is asked and dies, and is forgotten; another is opened in its place.
const FORGOTTEN: &str = r#"{"v":2,"started":1790000000,"command":"one","cwd":"/work","gate":"off","review":false}
{"t":1,"dir":"person","intent":"Start"}
{"t":1,"dir":"host","fact":{"AgentSpawned":{"pid":7}}}
{"t":1,"dir":"agent->client","frame":{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}}}
{"t":1,"dir":"agent->client","frame":{"jsonrpc":"2.0","id":1,"result":{"sessionId":"a"}}}
{"t":2,"dir":"person","intent":{"Prompt":{"text":"asked in a","links":[]}}}
{"t":2,"dir":"agent->client","frame":{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"a","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"said in a"}}}}}
{"t":3,"dir":"host","fact":{"AgentExited":{"exit":{"code":3,"signal":null},"stderr":[]}}}
{"t":4,"dir":"person","intent":"Restart"}
{"t":4,"dir":"host","fact":{"AgentSpawned":{"pid":8}}}
{"t":4,"dir":"agent->client","frame":{"jsonrpc":"2.0","id":3,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}}}
{"t":4,"dir":"agent->client","frame":{"jsonrpc":"2.0","id":4,"error":{"code":-32002,"message":"forgotten"}}}
{"t":5,"dir":"person","at":{"session":0},"intent":"Restart"}
{"t":5,"dir":"agent->client","frame":{"jsonrpc":"2.0","id":5,"result":{"sessionId":"b"}}}
{"t":6,"dir":"person","intent":{"Prompt":{"text":"asked in b","links":[]}}}
{"t":6,"dir":"agent->client","frame":{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"b","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"said in b"}}}}}
{"t":6,"dir":"agent->client","frame":{"jsonrpc":"2.0","id":6,"result":{"stopReason":"end_turn"}}}"#;

fn model() -> Model {
    Model::new("one".to_owned(), "/work".to_owned(), Policy::Ask)
}

fn said<'a>(entries: impl Iterator<Item = &'a Entry>) -> Vec<String> {
    let text = |entry: &Entry| match &entry.body {
        Body::User(user) => Some(user.text.clone()),
        Body::Agent(message) => Some(message.text.clone()),
        _ => None,
    };
    entries.filter_map(text).collect()
}

#[test]
fn what_was_said_under_one_key_in_two_conversations_is_of_each() {
    let mut all = Vec::new();
    let lines = |take: &mut dyn FnMut(&str)| {
        FORGOTTEN.lines().for_each(take);
        Ok::<(), Infallible>(())
    };
    let look = |had: Had<'_>| all.push((had.id().to_string(), said(had.entries())));
    let Ok(()) = each_session(model(), "/work".into(), HashMap::new(), lines, look);
    let of = |id: &str| vec![format!("asked in {id}"), format!("said in {id}")];
    assert_eq!(all, [("a".to_owned(), of("a")), ("b".to_owned(), of("b"))]);
    for id in ["a", "b"] {
        let mut replay = Replay::new(model(), "/work".into()).of(id.into(), Past::default());
        FORGOTTEN.lines().for_each(|line| replay.line(line));
        let past = replay.past();
        assert_eq!(said(past.entries.iter()), of(id));
        assert_eq!(past.turns(), 1, "{past:?}");
    }
    // As far as it had come by then.
    let mut replay = Replay::new(model(), "/work".into()).of("a".into(), Past::default());
    FORGOTTEN.lines().take(12).for_each(|line| replay.line(line));
    assert_eq!(said(replay.past().entries.iter()), of("a"));
}

/// Without a person no history was read once before an agent was asked for a session, and it told all of it.
const TOLD: &str = r#"{"v":2,"started":1790000100,"command":"one","cwd":"/work","gate":"off","review":false}
{"t":1,"dir":"person","at":{"session":0},"intent":{"OpenAs":{"Continue":"a"}}}
{"t":1,"dir":"person","intent":"Start"}
{"t":1,"dir":"host","fact":{"AgentSpawned":{"pid":7}}}
{"t":1,"dir":"agent->client","frame":{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}}}
{"t":2,"dir":"agent->client","frame":{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"a","update":{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"asked in a"}}}}}
{"t":2,"dir":"agent->client","frame":{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"a","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"said in a, all of it"}}}}}
{"t":2,"dir":"agent->client","frame":{"jsonrpc":"2.0","id":1,"result":null}}
{"t":3,"dir":"person","intent":{"Prompt":{"text":"more","links":[]}}}"#;

#[test]
fn what_was_told_where_no_earlier_journal_was_read_is_there_once() {
    let past = |before: Past, text: &str| {
        let mut replay = Replay::new(model(), "/work".into()).of("a".into(), before);
        text.lines().for_each(|line| replay.line(line));
        replay.past()
    };
    let first = past(Past::default(), FORGOTTEN);
    assert_eq!(said(past(first, TOLD).entries.iter()), ["asked in a", "said in a, all of it", "more"]);
}
