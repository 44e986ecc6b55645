//! Servers of tools: which an agent is given, what is kept of them, and `acp-tui mcp`.

use super::support::{Done, Lab, PROGRAM, Running};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Stdio;

const FILE: &str = r#"{"mcpServers":{
    "db":{"command":"sh","args":["-c","cat ${DB_FILE:-none}"],"env":{"TOKEN":"${DB_TOKEN}","FIXED":"fixed-value"}},
    "docs":{"type":"http","url":"https://docs.example/mcp","headers":{"Authorization":"Bearer ${DB_TOKEN}"}}
}}"#;
const SECRET: &str = "hunter2-hunter2";

/// The demo agent behind a program that keeps what it is sent.
fn agent(lab: &Lab, script: &str) -> Vec<String> {
    let file = lab.write("agent.toml", script);
    let (heard, file) = (lab.path("heard"), file.display().to_string());
    lab.shell_agent(&format!("tee '{}' | '{PROGRAM}' demo-agent --fast --script '{file}'\n", heard.display()))
}

fn run(lab: &Lab, args: &[&str], agent: &[String]) -> Done {
    let mut command = lab.exec_command(args, agent);
    command.env("DB_TOKEN", SECRET);
    Running::start(command, Stdio::null()).finish()
}

/// What the agent was told to open its session with.
fn given(lab: &Lab) -> Value {
    let heard = std::fs::read_to_string(lab.path("heard")).unwrap();
    let messages = heard.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let opens = |message: &Value| message["method"].as_str().is_some_and(|method| method == "session/new");
    messages.rev().find(opens).unwrap()["params"]["mcpServers"].take()
}

fn mcp(lab: &Lab, args: &[&str]) -> Done {
    let mut command = lab.program();
    command.arg("mcp").args(args).env("DB_TOKEN", SECRET);
    Running::start(command, Stdio::null()).finish()
}

#[track_caller]
fn warns(done: &Done, words: &[&str]) {
    let said = done.assert_code(0).err();
    assert!(words.iter().all(|word| said.contains(word)), "{said}");
}

const HTTP: &str = "[agent.capabilities]\nmcpCapabilities = { http = true }\n";

#[test]
fn r_400_r_405_servers_are_given_with_their_values_and_kept_without() {
    let lab = Lab::new();
    let file = lab.write("servers.json", FILE);
    let record = lab.path("record.jsonl");
    let args = ["x", "--mcp", file.to_str().unwrap(), "--record", record.to_str().unwrap()];
    run(&lab, &args, &agent(&lab, HTTP)).assert_code(0);
    let given = given(&lab);
    assert_eq!(given.as_array().unwrap().len(), 2, "{given}");
    assert!(Path::new(given[0]["command"].as_str().unwrap()).is_absolute(), "{given}");
    assert_eq!(given[0]["args"], json!(["-c", "cat none"]));
    assert!(given[0]["env"].as_array().unwrap().contains(&json!({ "name": "TOKEN", "value": SECRET })), "{given}");
    assert_eq!(given[1]["headers"][0]["value"], json!(format!("Bearer {SECRET}")));
    let kept = lab.journal().1 + &std::fs::read_to_string(record).unwrap();
    assert!(kept.contains("docs.example") && kept.contains("${DB_FILE:-none}"), "{kept}");
    for value in [SECRET, "fixed-value"] {
        assert!(!kept.contains(value), "{value} was kept: {kept}");
    }
}

#[test]
fn r_402_a_server_that_the_agent_cannot_reach_is_named() {
    let lab = Lab::new();
    let file = lab.write("servers.json", FILE);
    let done = run(&lab, &["x", "--mcp", file.to_str().unwrap()], &agent(&lab, ""));
    warns(&done, &["docs (http)"]);
    assert_eq!(given(&lab).as_array().unwrap().len(), 1);
}

#[test]
fn r_404_a_projects_file_counts_once_it_is_trusted_and_not_when_it_has_changed() {
    let lab = Lab::new();
    let agent = agent(&lab, HTTP);
    lab.write("work/.mcp.json", FILE);
    warns(&run(&lab, &["x"], &agent), &["acp-tui mcp trust", "db, docs"]);
    assert_eq!(given(&lab), json!([]));
    let asked = mcp(&lab, &["trust"]);
    asked.assert_says(2, &["`--yes` gives it"]);
    for part in ["command   sh", "argument  cat ${DB_FILE:-none}", "variable  TOKEN=…", "https://docs.example/mcp"] {
        assert!(asked.out().contains(part), "{part}: {}", asked.out());
    }
    assert!(!asked.out().contains("fixed-value"), "{}", asked.out());
    warns(&run(&lab, &["x"], &agent), &["acp-tui mcp trust"]);
    mcp(&lab, &["trust", "--yes"]).assert_code(0);
    run(&lab, &["x"], &agent).assert_code(0);
    assert_eq!(given(&lab).as_array().unwrap().len(), 2);
    lab.write("work/.mcp.json", &FILE.replace("cat", "rm"));
    warns(&run(&lab, &["x"], &agent), &["acp-tui mcp trust"]);
    assert_eq!(given(&lab), json!([]));
}

#[test]
fn r_406_the_configuration_adds_switches_and_wins() {
    let lab = Lab::new();
    let agent = agent(&lab, HTTP);
    lab.write(
        "config/acp-tui/config.toml",
        "[mcp.db]\ncommand = \"sh\"\nargs = [\"mine\"]\n[mcp.docs]\ndisabled = true\n\
         [mcp.other]\ncommand = \"sh\"\nagents = [\"somebody\"]\n[mcp.gone]\ncommand = \"no-such-program\"\n\
         [mcp.unset]\ncommand = \"sh\"\nargs = [\"${NOT_SET}\"]\n",
    );
    lab.write("work/.mcp.json", FILE);
    mcp(&lab, &["trust", "-y"]).assert_code(0);
    let done = run(&lab, &["x"], &agent);
    warns(&done, &["gone is left out: `no-such-program` was not found", "unset is left out", "NOT_SET is not set"]);
    let only = given(&lab);
    assert_eq!((only.as_array().unwrap().len(), &only[0]["args"]), (1, &json!(["mine"])), "{only}");
    run(&lab, &["x", "--no-mcp", "db"], &agent).assert_code(0);
    assert_eq!(given(&lab), json!([]), "what the person has named is not there in another form");
    run(&lab, &["x", "--no-mcp"], &agent).assert_code(0);
    assert_eq!(given(&lab), json!([]));
}

#[test]
fn r_406_an_agent_is_given_the_servers_that_it_is_configured_with_and_those_that_are_named() {
    let lab = Lab::new();
    let program = agent(&lab, HTTP);
    let [command, file] = &program[..] else { panic!("{program:?}") };
    let config = format!(
        "[agents.one]\ncommand = {command:?}\nargs = [{file:?}]\nmcp = [\"docs\"]\n\
         [agents.none]\ncommand = {command:?}\nargs = [{file:?}]\nmcp = false\n[agents.gemini]\nmcp = [\"db\"]\n\
         [mcp.db]\ncommand = \"sh\"\n[mcp.docs]\nurl = \"https://docs.example/mcp\"\nagents = [\"one\", \"none\"]\n"
    );
    lab.write("config/acp-tui/config.toml", &config);
    let names = |lab: &Lab| -> Vec<String> {
        given(lab).as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap().to_owned()).collect()
    };
    run(&lab, &["x", "--agent", "one"], &[]).assert_code(0);
    assert_eq!(names(&lab), ["docs"]);
    run(&lab, &["x", "--agent", "none"], &[]).assert_code(0);
    assert_eq!(names(&lab), Vec::<String>::new());
    let own = lab.write("own.json", r#"{"mcpServers":{"mine":{"command":"sh"}}}"#);
    run(&lab, &["x", "--agent", "none", "--mcp", own.to_str().unwrap()], &[]).assert_code(0);
    assert_eq!(names(&lab), ["mine"]);
    let list = mcp(&lab, &["list"]);
    let out = list.assert_code(0).out();
    assert!(out.contains("db  stdio  sh · for every agent but none, one  (config.toml)"), "{out}");
    assert!(out.contains("docs  http  https://docs.example/mcp · for one  (config.toml)"), "{out}");
    let json = mcp(&lab, &["list", "--json", "--agent", "none"]);
    let rows: Vec<Value> = json.assert_code(0).out().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&rows[0]["agents"], &rows[0]["not_agents"]), (&Value::Null, &json!(["none", "one"])));
    assert_eq!((&rows[1]["agents"], &rows[1]["why"]), (&json!(["one"]), &json!("`mcp` of this agent leaves it out")));
}

#[test]
fn a_file_that_is_none_is_a_clear_line() {
    let lab = Lab::new();
    let agent = agent(&lab, "");
    lab.write("broken.json", "{");
    std::os::unix::fs::symlink("loop.json", lab.path("loop.json")).unwrap();
    for (file, why) in [("broken.json", "not JSON"), ("loop.json", "symbolic link"), ("none.json", "no such file")] {
        let file = lab.path(file);
        run(&lab, &["x", "--mcp", file.to_str().unwrap()], &agent).assert_says(2, &["--mcp", why]);
        mcp(&lab, &["trust", file.to_str().unwrap()]).assert_says(2, &[why]);
    }
    assert!(std::process::Command::new("mkfifo").arg(lab.path("work/.mcp.json")).status().unwrap().success());
    warns(&run(&lab, &["x"], &agent), &[".mcp.json: it is not a regular file"]);
    mcp(&lab, &["trust"]).assert_says(2, &["not a regular file"]);
}

/// A server in `sh`, with two tools on two pages.
const SERVER: &str = r#"echo not a message
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case $line in
    *'"initialize"'*) echo '{"jsonrpc":"2.0","id":'"$id"',"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"tiny"}}}' ;;
    *'"cursor"'*) echo '{"jsonrpc":"2.0","id":'"$id"',"result":{"tools":[{"name":"second"}]}}' ;;
    *'"tools/list"'*) echo '{"jsonrpc":"2.0","id":'"$id"',"result":{"tools":[{"name":"first"}],"nextCursor":"2"}}' ;;
  esac
done
"#;

#[test]
fn check_starts_a_server_and_lists_its_tools_and_names_those_that_fail() {
    let lab = Lab::new();
    let good = lab.write("server.sh", SERVER).display().to_string();
    let config = json!({ "mcpServers": {
        "good": { "command": "sh", "args": [good] },
        "mute": { "command": "sh", "args": ["-c", "echo why it waits >&2; while read -r line; do :; done"] },
        "gone": { "command": "sh", "args": ["-c", "exit 3"] },
    }});
    let file = lab.write("servers.json", &config.to_string());
    let done = mcp(&lab, &["check", "--mcp", file.to_str().unwrap(), "--timeout", "2"]);
    let out = done.assert_code(3).out();
    assert!(out.contains("good  tiny: 2 tools: first, second\n"), "{out}");
    assert!(out.contains("mute  it did not answer within 2 s; it says: why it waits\n"), "{out}");
    assert!(out.contains("gone  it "), "{out}");
    lab.assert_nothing_left();
    let done = mcp(&lab, &["check", "good", "--json", "--mcp", file.to_str().unwrap()]);
    let told: Value = serde_json::from_str(done.assert_code(0).out()).unwrap();
    assert_eq!(
        (&told["tools"], &told["server"], &told["error"]),
        (&json!(["first", "second"]), &json!("tiny"), &Value::Null)
    );
    mcp(&lab, &["check", "nobody", "--mcp", file.to_str().unwrap()]).assert_says(2, &["nobody"]);
}

#[test]
fn the_list_shows_what_becomes_of_each_without_values() {
    let lab = Lab::new();
    lab.write("work/.mcp.json", FILE);
    let list = mcp(&lab, &["list"]);
    let out = list.assert_code(0).out();
    assert!(out.contains("db  stdio  sh -c cat ${DB_FILE:-none} · with TOKEN, FIXED"), "{out}");
    assert!(out.contains("not used before `acp-tui mcp trust`") && !out.contains("fixed-value"), "{out}");
    let json = mcp(&lab, &["list", "--json", "--no-mcp", "db"]);
    let rows: Vec<Value> = json.assert_code(0).out().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&rows[0]["state"], &rows[1]["state"]), (&json!("left_out"), &json!("untrusted")));
    for args in
        [&["what"][..], &[], &["list", "x"], &["trust", "--json"], &["list", "--yes"], &["list", "--timeout", "3"]]
    {
        mcp(&lab, args).assert_code(2);
    }
}

/// Every call that opens a session, with the servers and the directory that it names.
fn openings(lab: &Lab) -> Vec<(String, Value, Value)> {
    let heard = std::fs::read_to_string(lab.path("heard")).unwrap();
    let messages = heard.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let opens = |message: &Value| message["params"].get("mcpServers").is_some();
    messages
        .filter(opens)
        .map(|mut message| {
            let params = &mut message["params"];
            let (servers, cwd) = (params["mcpServers"].take(), params["cwd"].take());
            (message["method"].as_str().unwrap().to_owned(), servers, cwd)
        })
        .collect()
}

/// An agent that keeps its sessions, behind a program that keeps all that it is sent.
fn keeper(lab: &Lab, capabilities: &str) -> Vec<String> {
    let (heard, kept) = (lab.path("heard"), lab.path("kept.json"));
    let script = format!(
        "[agent]\nkeeps = {:?}\ncapabilities = {{ {capabilities} }}\n\
         [[turn]]\ndefault = true\nstep = [{{ do = \"say\", text = \"yes\" }}]\n",
        kept.to_str().unwrap()
    );
    let file = lab.write("agent.toml", &script).display().to_string();
    lab.shell_agent(&format!("tee -a '{}' | '{PROGRAM}' demo-agent --fast --script '{file}'\n", heard.display()))
}

const ONE: &str = r#"{"mcpServers":{"db":{"command":"sh","args":["-c","exit"]}}}"#;

#[test]
fn r_407_servers_are_given_anew_whichever_way_a_session_is_opened() {
    for (capabilities, method) in
        [("loadSession = true", "session/load"), ("sessionCapabilities = { resume = {} }", "session/resume")]
    {
        let lab = Lab::new();
        let agent = keeper(&lab, capabilities);
        let file = lab.write("own.json", ONE);
        let with = ["--mcp", file.to_str().unwrap()];
        run(&lab, &[&["hi"], &with[..]].concat(), &agent).assert_code(0);
        run(&lab, &[&["again", "--continue"], &with[..]].concat(), &[]).assert_code(0);
        let all = openings(&lab);
        assert_eq!(all.iter().map(|(method, ..)| method.as_str()).collect::<Vec<_>>(), ["session/new", method]);
        assert_eq!(all[0].1[0]["name"], "db");
        assert_eq!((&all[0].1, &all[0].2), (&all[1].1, &all[1].2));
    }
}

#[test]
fn v2_031_v2_121_v2_122_servers_say_of_which_sort_they_are_and_are_given_with_each_resume() {
    let two =
        r#"{"mcpServers":{"db":{"command":"sh","args":["-c","exit"]},"docs":{"url":"https://docs.example/mcp"}}}"#;
    for (mcp, sorts) in
        [("stdio = true", vec!["stdio"]), ("stdio = true, http = true", vec!["stdio", "http"]), ("", vec![])]
    {
        let lab = Lab::new();
        let agent = keeper(&lab, &format!("mcpCapabilities = {{ {mcp} }}"));
        let file = lab.write("own.json", two);
        let with = ["--protocol", "2", "--mcp", file.to_str().unwrap()];
        let done = run(&lab, &[&["hi"], &with[..]].concat(), &agent);
        assert_eq!(done.assert_code(0).err().contains("docs"), !mcp.contains("http"), "{}", done.err());
        run(&lab, &[&["again", "--continue"], &with[..]].concat(), &[]).assert_code(0);
        let all = openings(&lab);
        let sort = |servers: &Value| -> Vec<String> {
            servers.as_array().unwrap().iter().map(|one| one["type"].as_str().unwrap().to_owned()).collect()
        };
        assert_eq!(all.len(), if sorts.is_empty() { 0 } else { 2 }, "{all:?}");
        assert!(all.iter().all(|(_, servers, _)| sort(servers) == sorts), "{all:?}");
    }
}
