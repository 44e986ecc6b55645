use super::*;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

/// A client's end of two pipes.
struct Client {
    input: io::PipeWriter,
    said: Receiver<Value>,
    player: JoinHandle<ExitKind>,
}

fn forward(out: io::PipeReader, said: &Sender<Value>) {
    for line in BufReader::new(out).lines() {
        let _ = said.send(serde_json::from_str(&line.unwrap()).unwrap());
    }
}

fn play(file: &str) -> Client {
    let steps = read(file.as_bytes()).unwrap();
    let ((stdin, input), (out, stdout)) = (io::pipe().unwrap(), io::pipe().unwrap());
    let (tell, said) = channel();
    std::thread::spawn(move || forward(out, &tell));
    let player = std::thread::spawn(move || played(steps, Pace::Fast, stdin, stdout).unwrap());
    Client { input, said, player }
}

impl Client {
    fn send(&mut self, message: &Value) {
        writeln!(self.input, "{message}").unwrap();
    }

    fn ask(&mut self, id: u64, method: &str, params: &Value) {
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
    }

    fn next(&self) -> Value {
        self.said.recv_timeout(Duration::from_secs(20)).unwrap()
    }

    fn ends(self) -> ExitKind {
        drop(self.input);
        self.player.join().unwrap()
    }
}

const RECORDED: &str = r#"{"t":0.1,"dir":"client->agent","frame":{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}}
{"t":0.2,"dir":"agent->client","frame":{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}}
{"t":0.3,"dir":"client->agent","frame":{"jsonrpc":"2.0","id":2,"method":"session/load","params":{"sessionId":"old"}}}
{"t":0.4,"dir":"agent->client","frame":{"jsonrpc":"2.0","id":2,"result":{}}}
{"t":0.5,"dir":"client->agent","frame":{"jsonrpc":"2.0","id":3,"method":"session/set_mode","params":{"sessionId":"old"}}}
{"t":0.6,"dir":"agent->client","frame":{"jsonrpc":"2.0","id":3,"result":{"mode":"set"}}}
{"t":0.7,"dir":"client->agent","frame":{"jsonrpc":"2.0","id":4,"method":"session/prompt","params":{"sessionId":"old"}}}
{"t":0.8,"dir":"agent->client","agent":1,"frame":{"jsonrpc":"2.0","method":"of another agent"}}
{"t":0.8,"dir":"agent->client","frame":{"jsonrpc":"2.0","id":"q","method":"session/request_permission","params":{"sessionId":"old"}}}
{"t":0.9,"dir":"client->agent","frame":{"jsonrpc":"2.0","id":"q","result":{"outcome":"selected"}}}
{"t":1000.0,"dir":"agent->client","frame":{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"old","n":1}}}
{"t":1000.1,"dir":"agent->client","raw":"no json"}
{"t":1000.2,"dir":"agent->client","frame":{"jsonrpc":"2.0","id":4,"result":{"stopReason":"end_turn"}}}
{"t":1000.3,"dir":"agent->cl"#;

fn until_the_prompt(client: &mut Client) {
    client.ask(10, "initialize", &json!({}));
    assert_eq!(
        client.next(),
        json!({"jsonrpc": "2.0", "id": 10, "result": {"protocolVersion": 1, "_meta": {"acp-tui/recording": true}}})
    );
    client.ask(11, "session/new", &json!({}));
    assert_eq!(client.next(), json!({"jsonrpc": "2.0", "id": 11, "result": {"sessionId": "old"}}));
}

#[test]
fn a_recording_is_played_with_the_ids_of_the_client_that_asks_now() {
    let file = RECORDED.lines().filter(|line| !line.contains("no json")).collect::<Vec<_>>().join("\n");
    let mut client = play(&file);
    until_the_prompt(&mut client);
    client.ask(12, "session/prompt", &json!({}));
    // Asked later than it was then.
    let asked = client.next();
    assert_eq!((&asked["id"], &asked["method"]), (&json!("q"), &json!("session/request_permission")));
    client.ask(13, "session/set_mode", &json!({}));
    assert_eq!(client.next(), json!({"jsonrpc": "2.0", "id": 13, "result": {"mode": "set"}}));
    client.ask(14, "session/set_mode", &json!({}));
    assert_eq!(client.next()["error"]["code"], NO_METHOD);
    client.send(&json!({"jsonrpc": "2.0", "id": "q", "result": {}}));
    assert_eq!(client.next()["params"]["n"], 1);
    assert_eq!(client.next(), json!({"jsonrpc": "2.0", "id": 12, "result": {"stopReason": "end_turn"}}));
    client.ask(15, "session/prompt", &json!({}));
    assert_eq!(client.next()["error"]["message"], "the recording is at its end");
    assert_eq!(client.ends(), ExitKind::Eof);
}

#[test]
fn a_session_that_the_client_names_otherwise_keeps_its_name() {
    let mut client = play(RECORDED);
    client.ask(10, "initialize", &json!({}));
    client.next();
    client.ask(11, "session/load", &json!({"sessionId": "mine"}));
    client.next();
    client.ask(12, "session/prompt", &json!({"sessionId": "mine"}));
    assert_eq!(client.next()["params"]["sessionId"], "mine");
    drop(client.ends());
}

#[test]
fn a_cancel_ends_the_turn_and_what_belonged_to_it_is_not_said() {
    let mut client = play(RECORDED);
    until_the_prompt(&mut client);
    client.ask(12, "session/prompt", &json!({}));
    assert_eq!(client.next()["id"], "q");
    client.send(&json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {}}));
    client.send(&json!({"jsonrpc": "2.0", "id": "q", "result": {"outcome": "cancelled"}}));
    assert_eq!(client.next(), json!({"jsonrpc": "2.0", "id": 12, "result": {"stopReason": "cancelled"}}));
    assert_eq!(client.ends(), ExitKind::Eof);
}

#[test]
fn a_recording_that_breaks_off_in_a_turn_breaks_off() {
    let file: String = RECORDED.split_inclusive('\n').take(7).collect();
    let mut client = play(&file);
    until_the_prompt(&mut client);
    client.ask(12, "session/prompt", &json!({}));
    let Client { input, said, player } = client;
    assert_eq!(player.join().unwrap(), ExitKind::Code(1));
    assert!(said.recv().is_err());
    drop(input);
}

#[test]
fn an_agent_that_ended_by_itself_ends_so_again() {
    let begin: String = RECORDED.split_inclusive('\n').take(7).collect();
    let ends = |file: &str| {
        let mut client = play(file);
        until_the_prompt(&mut client);
        client.ask(12, "session/prompt", &json!({}));
        client.player.join().unwrap()
    };
    let note = |note: &str| format!(r#"{{"t":0.8,"dir":"note","frame":{note}}}"#) + "\n";
    let fact =
        r#"{"t":0.8,"dir":"host","at":{"agent":0},"fact":{"AgentExited":{"exit":{"code":null,"signal":"SIGSEGV"}}}}"#;
    for (last, wanted) in [
        (note(r#"{"event":"exit","code":3,"signal":null}"#), ExitKind::Code(3)),
        (note(r#"{"event":"exit","code":null,"signal":"SIGKILL"}"#), ExitKind::Signal("SIGKILL".to_owned())),
        (fact.to_owned(), ExitKind::Signal("SIGSEGV".to_owned())),
        // It breaks off.
        (note(r#"{"event":"disk","code":3}"#), ExitKind::Code(1)),
        (note(r#"{"event":"exit","code":3}"#).replace("\"dir\"", "\"agent\":1,\"dir\""), ExitKind::Code(1)),
    ] {
        assert_eq!(ends(&format!("{begin}{last}")), wanted, "{last}");
    }
    // One that was started anew then goes on.
    let anew = note(r#"{"event":"exit","code":3}"#);
    let file: String = RECORDED.split_inclusive('\n').take(13).flat_map(|line| [line, &anew]).collect();
    let mut client = play(&file.replace("no json", "{}"));
    until_the_prompt(&mut client);
    client.ask(12, "session/prompt", &json!({}));
    assert_eq!(client.next()["id"], "q");
    drop(client.ends());
}

#[test]
fn what_stands_later_is_gone_to_and_a_file_without_an_agent_is_refused() {
    let mut client = play(RECORDED);
    client.ask(10, "initialize", &json!({}));
    client.next();
    // No session was opened: the prompt has its place all the same.
    client.ask(11, "session/prompt", &json!({}));
    assert_eq!(client.next()["id"], "q");
    drop(client.ends());
    assert!(read("{}\nnothing\n".as_bytes()).is_err());
}

#[test]
fn a_journal_is_played_as_a_recording_is() {
    let journal =
        RECORDED.replace(r#""dir":"agent->client","frame""#, r#""at":{"agent":0},"dir":"agent->client","frame""#);
    assert_eq!(read(journal.as_bytes()).unwrap(), read(RECORDED.as_bytes()).unwrap());
    let of_another = RECORDED.replace(r#""t":"#, r#""at":{"agent":1},"t":"#);
    assert!(read(of_another.as_bytes()).is_err());
}
