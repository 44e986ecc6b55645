//! `exec --rules`: an agent is held to the rules of one file.

use super::support::{Done, Lab, Recording};
use serde_json::Value;

const OPTIONS: &str = r#"{ id = "once", name = "Allow", kind = "allow_once" }, { id = "always", name = "Always", kind = "allow_always" }, { id = "no", name = "Reject", kind = "reject_once" }"#;
const RULES: &str = "allow = [\"Bash(git *)\", \"Edit(src/**)\", \"Read(src/**)\"]\nask = [\"Bash(git push *)\"]\n\
                     deny = [{ pattern = \"Read(src/.env)\", reason = \"secrets stay here\" }, \"Bash(rm *)\"]\n";

fn run(rules: &str, more: &[&str], steps: &str) -> (Lab, Done, Recording) {
    let lab = Lab::new();
    std::fs::create_dir(lab.cwd().join("src")).unwrap();
    std::fs::write(lab.cwd().join("src/a"), "text\n").unwrap();
    std::fs::write(lab.cwd().join("src/.env"), "secret\n").unwrap();
    let file = lab.write("only.toml", rules);
    let mut args = vec!["x", "--rules", file.to_str().unwrap()];
    args.extend(more);
    let (done, record) = lab.record(&args, &lab.turn(steps));
    (lab, done, record)
}

fn commands(lines: &[&str]) -> String {
    let ask = |line: &&str| {
        format!(
            r#"{{ do = "permission", tool = "t-{{n}}", call = {{ title = "{line}", kind = "execute" }}, options = [{OPTIONS}] }},"#
        )
    };
    lines.iter().map(ask).collect()
}

fn chosen(record: &Recording) -> Vec<String> {
    let id = |outcome: &Value| outcome["optionId"].as_str().unwrap_or("?").to_owned();
    record.outcomes().iter().map(id).collect()
}

fn prompts(record: &Recording) -> Vec<String> {
    let text = |call: &Value| call["params"]["prompt"][0]["text"].as_str().unwrap_or("?").to_owned();
    record.calls(true, "session/prompt").iter().map(text).collect()
}

#[test]
fn rules_answer_what_the_agent_asks_and_an_ask_is_a_no() {
    let lines = ["git status", "git status; rm x", "git status && git branch", "git push origin", "ls", "rm x"];
    let (_lab, done, record) = run(RULES, &[], &commands(&lines));
    done.assert_code(0);
    assert_eq!(chosen(&record), ["once", "no", "once", "no", "no", "no"]);
    let (_lab, done, record) = run(RULES, &["--allow", "all"], &commands(&lines));
    done.assert_code(0);
    assert_eq!(chosen(&record), ["once", "no", "once", "no", "once", "no"], "only what no rule is for");
}

/// In a turn of its own, once: the agent asks again in that turn.
#[test]
fn the_reason_of_a_deny_reaches_the_agent() {
    let rules = "deny = [{ pattern = \"Bash(rm *)\", reason = \"move it to the trash\" }]\n";
    for stop in ["end_turn", "cancelled"] {
        let steps = format!(r#"{} {{ do = "stop", reason = "{stop}" }}"#, commands(&["rm x"]));
        let (_lab, done, record) = run(rules, &["--json"], &steps);
        done.assert_code(if stop == "end_turn" { 0 } else { 3 });
        assert_eq!(chosen(&record), ["no", "no"], "{stop}");
        let said = "Refused by a rule: “rm x”\n\nmove it to the trash";
        assert_eq!(prompts(&record), ["x", said], "{stop}");
        assert_eq!(done.result()["stop_reason"], stop);
        let told = "the agent is told why that was refused, in a further turn";
        assert_eq!(done.err().matches(told).count(), 1, "{}", done.err());
    }
    let (_lab, _, record) = run("deny = [\"Bash(rm *)\"]\n", &[], &commands(&["rm x"]));
    assert_eq!(prompts(&record), ["x"], "without a reason there is nothing to say");
}

/// Nobody can be asked, so that what a rule asks about is refused; what is allowed, only `--allow` says.
#[test]
fn what_the_persons_and_the_projects_rules_deny_holds_without_a_file_of_rules() {
    let lab_with = |own: &str, project: &str| {
        let lab = Lab::new();
        lab.write("config/acp-tui/rules.toml", own);
        std::fs::create_dir(lab.cwd().join(".acp-tui")).unwrap();
        std::fs::write(lab.cwd().join(".acp-tui/rules.toml"), project).unwrap();
        lab
    };
    let steps = commands(&["git status", "git push", "rm x", "ls"]);
    let own = "allow = [\"Bash(git *)\"]\nask = [\"Bash(git push *)\"]\n";
    let project = "allow = [\"Bash(ls *)\"]\ndeny = [\"Bash(rm *)\"]\n";
    let lab = lab_with(own, project);
    let (done, record) = lab.record(&["x", "--allow", "all"], &lab.turn(&steps));
    done.assert_code(0);
    assert_eq!(chosen(&record), ["once", "no", "no", "once"]);
    assert!(done.err().contains("refused by rule Bash(rm *): rm x") && !done.err().contains("trust"), "{}", done.err());
    let (_, record) = lab.record(&["x"], &lab.turn(&steps));
    assert_eq!(chosen(&record), ["no", "no", "no", "no"], "nothing is allowed by them");
    for (own, project) in [("deny = [", ""), ("", "deny = [")] {
        let lab = lab_with(own, project);
        lab.exec(&["x"], &lab.turn(&steps)).assert_says(2, &["rules.toml:1: ", "TOML"]);
    }
}

#[test]
fn rules_hold_for_files_and_commands_that_are_not_asked_about() {
    let read = |path: &str| {
        format!(
            r#"{{ do = "request", method = "fs/read_text_file", params = {{ sessionId = "{{session}}", path = "{{cwd}}/{path}" }} }},"#
        )
    };
    let write = |path: &str| {
        format!(
            r#"{{ do = "request", method = "fs/write_text_file", params = {{ sessionId = "{{session}}", path = "{{cwd}}/{path}", content = "new" }} }},"#
        )
    };
    let run_it = |command: &str| {
        format!(
            r#"{{ do = "request", method = "terminal/create", params = {{ sessionId = "{{session}}", command = "{command}" }} }},"#
        )
    };
    let steps = [
        read("src/a"),
        read("src/.env"),
        read("b"),
        write("src/new"),
        write("new"),
        run_it("touch made"),
        run_it("git --version"),
        r#"{ do = "wait", ms = 100, firm = true },"#.to_owned(),
    ];
    let (lab, done, record) = run(RULES, &[], &steps.concat());
    done.assert_code(0);
    let answers = record.answers();
    let answer = |id: &String| &answers.iter().find(|(answered, _)| answered == id).unwrap().1;
    let answers: Vec<&Value> = record.questions().iter().map(|(id, _)| answer(id)).collect();
    let served: Vec<bool> = answers.iter().map(|answer| answer["error"].is_null()).collect();
    assert_eq!(served, [true, false, false, true, false, false, true], "{answers:#?}");
    assert_eq!(answers[1]["error"]["message"], "Refused by a rule: secrets stay here");
    assert!(lab.cwd().join("src/new").exists() && !lab.cwd().join("new").exists() && !lab.cwd().join("made").exists());
}

#[test]
fn a_link_is_judged_by_what_it_leads_to() {
    let lab = Lab::new();
    std::fs::create_dir(lab.cwd().join("src")).unwrap();
    std::fs::write(lab.cwd().join("secret"), "secret\n").unwrap();
    std::os::unix::fs::symlink("../secret", lab.cwd().join("src/link")).unwrap();
    let file = lab.write("only.toml", RULES);
    let steps = r#"{ do = "request", method = "fs/read_text_file", params = { sessionId = "{session}", path = "{cwd}/src/link" } },"#;
    let (done, record) = lab.record(&["x", "--rules", file.to_str().unwrap()], &lab.turn(steps));
    done.assert_code(0);
    assert_eq!(record.answers()[0].1["error"]["message"], "Refused: no rule allows it");
}

/// A rule that allows edits does not allow the agent to write itself others.
#[test]
fn rules_in_the_agents_own_directory_are_those_of_the_start() {
    let lab = Lab::new();
    let file = lab.cwd().join("only.toml");
    std::fs::write(&file, "allow = [\"Edit\"]\n").unwrap();
    let write = r#"{ do = "request", method = "fs/write_text_file", params = { sessionId = "{session}", path = "{cwd}/only.toml", content = "allow = [\"Bash(*)\"]" } },"#;
    let steps = write.to_owned() + &commands(&["ls"]);
    let (done, record) = lab.record(&["x", "--rules", file.to_str().unwrap()], &lab.turn(&steps));
    done.assert_code(0);
    assert!(std::fs::read_to_string(&file).unwrap().contains("Bash"), "it is a file like others");
    assert_eq!(chosen(&record), ["no"]);
}

#[test]
fn a_file_that_is_none_of_rules_starts_nothing() {
    for (rules, words) in
        [("allow = 1\n", "only.toml:1: "), ("\nallow = [\n", "only.toml:"), ("deny = [{}]\n", "only.toml:1: ")]
    {
        let lab = Lab::new();
        let file = lab.write("only.toml", rules);
        let done = lab.exec(&["x", "--rules", file.to_str().unwrap()], &lab.turn(""));
        done.assert_says(2, &[words]);
        assert!(!lab.sessions().exists());
    }
    let lab = Lab::new();
    lab.exec(&["x", "--rules", "none.toml"], &lab.turn("")).assert_says(2, &["none.toml", "no such file"]);
    let (_lab, done, record) = run("allows = []\nallow = [\"Bash(git *)\"]\n", &[], &commands(&["git log"]));
    done.assert_says(0, &["only.toml:1: ", "allows"]);
    assert_eq!(chosen(&record), ["once"]);
}

/// The person's and the project's rules are not read.
#[test]
fn only_the_file_that_is_named_counts() {
    let lab = Lab::new();
    lab.write("config/acp-tui/rules.toml", "allow = [\"Bash(ls)\"]\n");
    std::fs::create_dir(lab.cwd().join(".acp-tui")).unwrap();
    std::fs::write(lab.cwd().join(".acp-tui/rules.toml"), "deny = [\"Bash\"]\n").unwrap();
    let file = lab.write("only.toml", RULES);
    let (done, record) =
        lab.record(&["x", "--rules", file.to_str().unwrap()], &lab.turn(&commands(&["ls", "git log"])));
    done.assert_code(0);
    assert_eq!(chosen(&record), ["no", "once"]);
}

/// Also where that is started by its command and not by its name.
#[test]
fn a_table_of_an_agent_holds_where_its_very_command_is_started_and_one_of_nobody_is_named() {
    let lab = Lab::new();
    let agent = lab.turn(&commands(&["git log", "git status"]));
    let (program, args) = agent.split_first().unwrap();
    lab.write("config/acp-tui/config.toml", &format!("[agents.mine]\ncommand = {program:?}\nargs = {args:?}\n"));
    let rules =
        "allow = [\"Bash(git *)\"]\n[agent.mine]\ndeny = [\"Bash(git log *)\"]\n[agent.nobody]\ndeny = [\"Bash\"]\n";
    let file = lab.write("only.toml", rules);
    let (done, record) = lab.record(&["x", "--rules", file.to_str().unwrap()], &agent);
    done.assert_code(0);
    assert_eq!(chosen(&record), ["no", "once"]);
    assert_eq!(done.err().matches("rules for agent \"nobody\"").count(), 1, "{}", done.err());
    assert!(!done.err().contains("\"mine\""), "{}", done.err());
}

#[test]
fn a_table_of_an_agent_holds_where_it_is_started_by_its_name_and_for_no_other() {
    let lab = Lab::new();
    let turn = format!("[[turn]]\ndefault = true\nstep = [\n{}\n]\n", commands(&["git log", "git status"]));
    let configured = |name: &str| {
        let agent = lab.script_named(name, &turn);
        let (program, args) = agent.split_first().unwrap();
        format!("[agents.{name}]\ncommand = {program:?}\nargs = {args:?}\n")
    };
    lab.write("config/acp-tui/config.toml", &(configured("mine") + &configured("another")));
    let rules = "allow = [\"Bash(git *)\"]\n[agent.mine]\ndeny = [\"Bash(git log *)\"]\n";
    let file = lab.write("only.toml", rules);
    for (name, answers) in [("mine", ["no", "once"]), ("another", ["once", "once"])] {
        let (done, record) = lab.record(&["x", "--agent", name, "--rules", file.to_str().unwrap()], &[]);
        done.assert_code(0);
        assert_eq!(chosen(&record), answers, "{name}");
    }
}

/// `allow_always` of the agent is not taken for ours, whatever it is called; without a person that is a no.
#[test]
fn a_rule_chooses_no_answer_that_lasts() {
    let option = |id: &str, name: &str, kind: &str| format!(r#"{{ id = "{id}", name = "{name}", kind = "{kind}" }}"#);
    let no = option("no", "Reject", "reject_once");
    for (options, wanted) in [
        (vec![option("same", "Allow", "allow_once"), option("same", "Allow", "allow_always")], "no"),
        (vec![option("x", "Always allow everything for this session", "allow_once")], "no"),
        (vec![option("x", "Always allow", "allow_once"), option("y", "Yes", "allow_once")], "y"),
    ] {
        let options = [options, vec![no.clone()]].concat().join(", ");
        let step = format!(
            r#"{{ do = "permission", tool = "t", call = {{ title = "git status", kind = "execute" }}, options = [{options}] }},"#
        );
        let (_lab, done, record) = run(RULES, &[], &step);
        done.assert_code(0);
        assert_eq!(chosen(&record), [wanted], "{options}");
    }
}

#[test]
fn a_rule_for_an_agent_that_there_is_not_is_added_with_a_warning() {
    let lab = Lab::new();
    lab.write("config/acp-tui/config.toml", "[agents.mine]\ncommand = \"sh\"\n");
    let add = |agent: &str| {
        let out = lab.program().args(["rules", "add", "deny", "Bash(rm *)", "--agent", agent]).output().unwrap();
        assert_eq!(out.status.code(), Some(0), "{out:?}");
        String::from_utf8(out.stderr).unwrap()
    };
    assert_eq!(add("mine"), "");
    let said = add("minne");
    assert!(said.contains("there is no agent \"minne\"") && said.contains("mine"), "{said}");
    let file = std::fs::read_to_string(lab.path("config/acp-tui/rules.toml")).unwrap();
    assert!(file.contains("[agent.mine]") && file.contains("[agent.minne]"), "{file}");
}

#[test]
fn rules_test_judges_for_an_agent_that_there_is_not_and_says_so() {
    let lab = Lab::new();
    lab.write("config/acp-tui/config.toml", "[agents.mine]\ncommand = \"sh\"\n");
    lab.write("config/acp-tui/rules.toml", "allow = [\"Bash(git *)\"]\n[agent.mine]\ndeny = [\"Bash(git log *)\"]\n");
    let test = |agent: &str| {
        let out = lab.program().args(["rules", "test", "--agent", agent, "Bash", "git log"]).output().unwrap();
        (out.status.code(), String::from_utf8(out.stderr).unwrap())
    };
    assert_eq!(test("mine"), (Some(1), String::new()));
    let (code, said) = test("minne");
    assert!(code == Some(0) && said.contains("there is no agent \"minne\""), "{code:?} {said}");
}
