//! `--continue` and `--resume`: a session goes on with its agent and in its directory, or not at all.

use super::support::{Lab, Running, run};
use acp_tui::engine::replay::replay;
use acp_tui::model::Model;
use acp_tui::model::entry::Body;
use acp_tui::model::session::Policy;
use rustix::process::Signal;
use std::process::Stdio;

/// An agent that keeps its sessions in a file and offers these.
fn keeper(lab: &Lab, load: bool, more: &str) -> Vec<String> {
    let file = lab.path("kept.json");
    lab.script_named(
        "keeper",
        &format!(
            "[agent]\nkeeps = {:?}\ncapabilities = {{ loadSession = {load}, sessionCapabilities = {{ {more} }} }}\n\
             [[turn]]\ndefault = true\nstep = [{{ do = \"say\", text = \"turn {{turn}}: {{prompt}}\" }}]\n",
            file.to_str().unwrap()
        ),
    )
}

fn methods(lab: &Lab) -> Vec<String> {
    let text = std::fs::read_to_string(lab.path("record.jsonl")).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let ours = lines.filter(|record| record["dir"] == "client->agent");
    ours.filter_map(|record| record["frame"]["method"].as_str().map(str::to_owned)).collect()
}

fn again(lab: &Lab, args: &[&str], agent: &[String]) -> super::support::Done {
    let file = lab.path("record.jsonl");
    let _ = std::fs::remove_file(&file);
    let mut all = vec!["--record", file.to_str().unwrap()];
    all.extend(args);
    lab.exec(&all, agent)
}

#[test]
fn a_session_goes_on_by_loading_or_resuming_and_only_the_new_answer_is_printed() {
    for (load, more, method) in
        [(true, "", "session/load"), (false, "resume = {}", "session/resume"), (true, "resume = {}", "session/resume")]
    {
        let lab = Lab::new();
        let agent = keeper(&lab, load, more);
        assert_eq!(lab.exec(&["one"], &agent).assert_code(0).out(), "turn 1: one\n");
        // Its own agent is started, and it is told of its own session.
        let done = again(&lab, &["two", "--continue"], &[]);
        assert_eq!(done.assert_code(0).out(), "turn 2: two\n");
        assert_eq!(methods(&lab), ["initialize", method, "session/prompt"]);
        let done = again(&lab, &["three", "--continue", "--json"], &[]);
        let texts: Vec<String> = done
            .assert_code(0)
            .out()
            .lines()
            .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
            .filter(|object| object["type"] != "session" && object["type"] != "result")
            .map(|object| object["text"].as_str().unwrap_or("no text").to_owned())
            .collect();
        assert_eq!(texts.concat(), "turn 3: three");
    }
}

#[test]
fn a_session_is_named_from_anywhere_and_goes_on_in_its_own_directory() {
    let lab = Lab::new();
    let agent = keeper(&lab, true, "");
    lab.exec(&["one"], &agent).assert_code(0);
    let kept: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(lab.path("kept.json")).unwrap()).unwrap();
    let (id, _) = kept.as_object().unwrap().iter().next().unwrap();
    let elsewhere = lab.path("home");
    let mut command = lab.exec_command(&["two", "--resume", &id[..id.len() - 1]], &[]);
    command.current_dir(&elsewhere);
    let done = super::support::Running::start(command, std::process::Stdio::null()).finish();
    assert_eq!(done.assert_code(0).out(), "turn 2: two\n");
    // There is none of that directory.
    let mut command = lab.exec_command(&["two", "--continue"], &[]);
    command.current_dir(&elsewhere);
    super::support::Running::start(command, std::process::Stdio::null()).finish().assert_says(2, &["no session of"]);
    // Another command may stand for the agent.
    assert_eq!(lab.exec(&["three", "--resume", id], &agent).assert_code(0).out(), "turn 3: three\n");
    assert_eq!(lab.exec(&["four", "--resume", "last"], &[]).assert_code(0).out(), "turn 4: four\n");
    lab.exec(&["x", "--resume", "nonsense"], &[]).assert_says(2, &["no session `nonsense`"]);
    lab.exec(&["x", "--resume", id, "--continue"], &[]).assert_says(2, &["not both"]);
    lab.exec(&["x", "--resume", id, "--cwd", "/"], &[]).assert_says(2, &["directory of its own"]);
}

#[test]
fn with_transcript_a_session_that_cannot_go_on_is_begun_anew_with_an_account_of_it() {
    let lab = Lab::new();
    let agent = keeper(&lab, true, "");
    lab.exec(&["one"], &agent).assert_code(0);
    let none = keeper(&lab, false, "");
    let done = again(&lab, &["two", "--continue", "--with-transcript"], &none);
    let out = done.assert_code(0).out();
    assert_eq!(methods(&lab), ["initialize", "session/new", "session/prompt"]);
    let at = |words: &str| out.find(words).unwrap_or_else(|| panic!("no {words}: {out}"));
    assert!(at("[Account of an earlier conversation") < at("User:\n> one"), "{out}");
    assert!(at("User:\n> one") < at("Assistant:\n> turn 1: one") && at("[End of account ") < at("two"), "{out}");
    assert!(done.err().contains("a new session begins with its transcript"), "{}", done.err());
    // Where it can go on, it does.
    let agent = keeper(&lab, true, "");
    let id = first_kept(&lab);
    let done = again(&lab, &["three", "--resume", &id, "--with-transcript"], &agent);
    assert_eq!(done.assert_code(0).out(), "turn 2: three\n");
    lab.exec(&["x", "--with-transcript"], &agent).assert_says(2, &["`--continue` and `--resume ID`"]);
}

/// One conversation is one row: what is asked of it is asked of both parts.
#[test]
fn an_imported_session_that_goes_on_here_is_one() {
    let rows = |lab: &Lab| -> Vec<serde_json::Value> {
        let done = run(lab, &["sessions", "--json"]);
        let listed: serde_json::Value = serde_json::from_str(done.assert_code(0).out()).unwrap();
        listed["sessions"].as_array().unwrap().clone()
    };
    for format in ["json", "recording"] {
        let lab = Lab::new();
        let agent = keeper(&lab, true, "");
        again(&lab, &["one"], &agent).assert_code(0);
        let id = first_kept(&lab);
        let file = lab.path("out.json");
        let file = file.to_str().unwrap();
        if format == "json" {
            run(&lab, &["export", "last", "--format", "json", "-o", file]).assert_code(0);
        } else {
            std::fs::rename(lab.path("record.jsonl"), file).unwrap();
        }
        std::fs::remove_dir_all(lab.sessions()).unwrap();
        run(&lab, &["import", file]).assert_code(0);
        assert_eq!(rows(&lab)[0]["source"], "imported", "{format}");
        assert_eq!(lab.exec(&["two", "--resume", &id], &agent).assert_code(0).out(), "turn 2: two\n");
        let all = rows(&lab);
        let figures = |one: &serde_json::Value| {
            (one["turns"].clone(), one["source"].clone(), one["first_prompt"].clone(), one["last_prompt"].clone())
        };
        assert_eq!(all.len(), 1, "{format}: {all:?}");
        assert_eq!(figures(&all[0]), (2.into(), "ours".into(), "one".into(), "two".into()), "{format}");
        assert!(all[0]["command"].as_str().unwrap().contains("demo-agent"), "{format}: {all:?}");
        // It goes on with its agent now.
        assert_eq!(lab.exec(&["three", "--continue"], &[]).assert_code(0).out(), "turn 3: three\n", "{format}");
        assert_eq!(rows(&lab).len(), 1, "{format}");
        let export = run(&lab, &["export", &id]);
        let said = export.assert_code(0).out();
        for words in ["turn 1: one", "turn 2: two", "turn 3: three"] {
            assert_eq!(said.matches(words).count(), 1, "{format}: {said}");
            let found = run(&lab, &["search", words, "--json"]);
            assert_eq!(found.assert_code(0).out().lines().count(), 1, "{format}: {}", found.out());
        }
        // What was there is there; the same with more than that has gone on otherwise.
        run(&lab, &["import", file]).assert_says(0, &["there already"]);
        assert_eq!(rows(&lab).len(), 1, "{format}");
        run(&lab, &["sessions", "--remove", &id, "--yes"]).assert_code(0);
        run(&lab, &["sessions", "--json"]).assert_code(2);
        let left = std::fs::read_dir(lab.sessions()).unwrap().map(|file| file.unwrap().path());
        let left: Vec<_> = left.filter(|path| path.extension().is_some()).collect();
        assert_eq!(left, Vec::<std::path::PathBuf>::new(), "{format}");
    }
}

/// The session that was kept first.
fn first_kept(lab: &Lab) -> String {
    let text = std::fs::read_to_string(lab.path("kept.json")).unwrap();
    let kept: serde_json::Value = serde_json::from_str(&text).unwrap();
    let first = |(_, session): &(&String, &serde_json::Value)| session["title"] == "one";
    kept.as_object().unwrap().iter().find(first).unwrap().0.clone()
}

#[test]
fn an_agent_that_cannot_go_on_or_has_forgotten_gives_5_and_no_other_session() {
    let lab = Lab::new();
    let agent = keeper(&lab, true, "");
    lab.exec(&["one"], &agent).assert_code(0);
    let none = keeper(&lab, false, "list = {}");
    again(&lab, &["two", "--continue"], &none).assert_says(5, &["can neither load nor resume"]);
    assert_eq!(methods(&lab), ["initialize"]);
    std::fs::remove_file(lab.path("kept.json")).unwrap();
    let agent = keeper(&lab, true, "");
    let done = again(&lab, &["two", "--continue"], &agent);
    done.assert_says(5, &["the agent has forgotten this session"]);
    assert_eq!(done.out(), "");
    assert_eq!(methods(&lab), ["initialize", "session/load"]);
    let dies = lab.script_named("dies", "[agent]\ncapabilities = { loadSession = true }\nexit_at_start = 3\n");
    again(&lab, &["two", "--continue"], &dies).assert_says(5, &["exit 3"]);
}

const FAILS: &str = r#"
say() { printf '%s\n' "$1"; }
while read -r line; do
    id=${line#*\"id\":}; id=${id%%,*}
    case $line in
    *'"initialize"'*) say '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}}' ;;
    *'"session/load"'*) say '{"jsonrpc":"2.0","id":'$id',"error":{"code":-32603,"message":"half-way"}}' ;;
    *'"session/new"'*) say '{"jsonrpc":"2.0","id":'$id',"result":{"sessionId":"new"}}' ;;
    *'"session/prompt"'*) say '{"jsonrpc":"2.0","id":'$id',"result":{"stopReason":"end_turn"}}' ;;
    esac
done
"#;

/// A load that fails half-way is the agent's no, too.
#[test]
fn with_transcript_a_session_whose_load_fails_is_begun_anew() {
    let lab = Lab::new();
    let agent = keeper(&lab, true, "");
    lab.exec(&["one"], &agent).assert_code(0);
    let fails = lab.shell_agent(FAILS);
    let done = again(&lab, &["two", "--continue"], &fails);
    done.assert_says(5, &["half-way", "`--with-transcript` begins a new session"]);
    assert!(!done.err().contains("starting again"), "{}", done.err());
    let done = again(&lab, &["two", "--continue", "--with-transcript"], &fails);
    assert!(done.assert_code(0).err().contains("a new session begins with its transcript"), "{}", done.err());
    assert_eq!(done.err().matches("half-way").count(), 1, "{}", done.err());
    assert_eq!(methods(&lab).last().unwrap(), "session/prompt");
}

/// It answers the call to load first, and tells the history when it is asked something.
const LATE: &str = r#"
say() { printf '%s\n' "$1"; }
chunk() { say '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"k","update":{"sessionUpdate":"'$1'_message_chunk","content":{"type":"text","text":"'"$2"'"}}}}'; }
while read -r line; do
    id=${line#*\"id\":}; id=${id%%,*}
    case $line in
    *'"initialize"'*) say '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}}' ;;
    *'"session/load"'*) say '{"jsonrpc":"2.0","id":'$id',"result":null}'; late=1 ;;
    *'"session/new"'*) say '{"jsonrpc":"2.0","id":'$id',"result":{"sessionId":"k"}}' ;;
    *'"session/prompt"'*)
        if [ -n "$late" ]; then chunk user one; chunk agent 'did one'; chunk agent 'did two'; else chunk agent 'did one'; fi
        say '{"jsonrpc":"2.0","id":'$id',"result":{"stopReason":"end_turn"}}' ;;
    esac
done
"#;

#[test]
fn a_history_that_comes_with_the_answer_is_no_part_of_it() {
    let lab = Lab::new();
    let late = lab.shell_agent(LATE);
    assert_eq!(lab.exec(&["one"], &late).assert_code(0).out(), "did one\n");
    assert_eq!(again(&lab, &["two", "--continue"], &[]).assert_code(0).out(), "did two\n");
    let mut command = lab.program();
    command.args(["export", "last"]);
    let done = Running::start(command, Stdio::null()).finish();
    for text in ["did one", "did two"] {
        assert_eq!(done.assert_code(0).out().matches(text).count(), 1, "{}", done.out());
    }
}

/// It ends each time it is to load or resume a session, behind a part of the history.
#[test]
fn with_transcript_a_session_whose_agent_ends_while_it_is_loaded_is_begun_anew() {
    const SAYS: &str = "say '{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"'$sid'\",\"update\":{\
        \"sessionUpdate\":\"user_message_chunk\",\"content\":{\"type\":\"text\",\"text\":\"one\"}}}}'; exit 4";
    let lab = Lab::new();
    let agent = keeper(&lab, true, "");
    lab.exec(&["one"], &agent).assert_code(0);
    let error = r#"say '{"jsonrpc":"2.0","id":'$id',"error":{"code":-32603,"message":"half-way"}}'"#;
    let sid = format!("sid={}; {SAYS}", first_kept(&lab));
    let ends = lab.shell_agent(&FAILS.replace(error, &sid));
    again(&lab, &["two", "--continue"], &ends).assert_says(5, &["exit 4", "`--with-transcript`"]);
    let done = again(&lab, &["two", "--continue", "--with-transcript"], &ends);
    assert!(done.assert_code(0).err().contains("a new session begins with its transcript"), "{}", done.err());
    let methods = methods(&lab);
    let tail: Vec<&str> = methods.iter().rev().take(3).rev().map(String::as_str).collect();
    assert_eq!(tail, ["initialize", "session/new", "session/prompt"]);
}

/// Each run loads what was said before, and its journal has that once more.
#[test]
fn what_the_agent_told_again_is_exported_once() {
    let lab = Lab::new();
    let agent = keeper(&lab, true, "");
    lab.exec(&["one"], &agent).assert_code(0);
    for prompt in ["two", "three"] {
        lab.exec(&[prompt, "--continue"], &[]).assert_code(0);
    }
    for format in ["md", "html", "cast"] {
        let mut command = lab.program();
        command.args(["export", "last", "--format", format]);
        let done = super::support::Running::start(command, std::process::Stdio::null()).finish();
        for (turn, prompt) in ["one", "two", "three"].iter().enumerate() {
            let answer = format!("turn {}: {prompt}", turn + 1);
            assert_eq!(done.assert_code(0).out().matches(&answer).count(), 1, "{answer}: {}", done.out());
        }
    }
}

#[test]
fn an_agent_that_loads_no_session_so_soon_is_not_asked_for_it_until_then() {
    let lab = Lab::new();
    let keeps = keeper(&lab, true, "");
    let script = std::fs::read_to_string(lab.path("keeper.toml")).unwrap();
    lab.write("keeper.toml", &script.replacen("[agent]\n", "[agent]\nagent_info = { name = \"gemini-cli\" }\n", 1));
    lab.exec(&["one"], &keeps).assert_code(0);
    // It stays new however long this takes: by its journal it will be opened in a time to come.
    let (first, text) = lab.journal();
    let head: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    let started = |at: u64| format!("\"started\":{at}");
    let was = head["started"].as_u64().unwrap();
    assert_eq!(text.matches(&started(was)).count(), 1, "{head}");
    std::fs::write(&first, text.replacen(&started(was), &started(was + 1_000_000_000), 1)).unwrap();
    again(&lab, &["two", "--continue", "--timeout", "1"], &[]).assert_says(124, &["--timeout"]);
    assert!(!methods(&lab).iter().any(|method| method == "session/load"), "{:?}", methods(&lab));
    // In text it is on standard error, in JSON it is a notice.
    for json in [false, true] {
        let file = lab.path("record.jsonl");
        let _ = std::fs::remove_file(&file);
        let args = ["two", "--continue", "--record", file.to_str().unwrap(), "--json"];
        let mut command = lab.exec_command(&args[..args.len() - usize::from(!json)], &[]);
        let words = "its agent cannot load a session again so soon: asked for in ";
        if json {
            let mut running = Running::start(command, Stdio::null());
            let line: serde_json::Value = serde_json::from_str(&running.until_line(words)).unwrap();
            assert_eq!(line["type"], "notice");
            running.signal(Signal::TERM);
            running.finish().assert_code(143);
        } else {
            let err = lab.path("err.txt");
            command.stdout(Stdio::null()).stderr(std::fs::File::create(&err).unwrap());
            let mut child = command.stdin(Stdio::null()).spawn().unwrap();
            super::support::wait_until("it says that it waits", || {
                std::fs::read_to_string(&err).unwrap().contains(words)
            });
            super::support::kill(child.id() as i32, Signal::TERM);
            assert_eq!(child.wait().unwrap().code(), Some(143));
        }
        assert_eq!(methods(&lab), ["initialize"]);
    }
    // What its journal says is the same again.
    let journals = std::fs::read_dir(lab.sessions()).unwrap().map(|entry| entry.unwrap().path());
    let newest = journals.filter(|path| path.extension() == first.extension() && *path != first).max().unwrap();
    let text = std::fs::read_to_string(newest).unwrap();
    let model = Model::new("agent".into(), lab.cwd().to_str().unwrap().into(), Policy::Ask);
    let (model, skipped) = replay(model, lab.cwd(), text.lines());
    let is_said = |body: &Body| matches!(body, Body::Notice(notice) if notice.title.contains("so soon: asked for in"));
    assert!(skipped == 0 && model.first().session().entries().iter().any(|entry| is_said(&entry.body)), "{text}");
}
