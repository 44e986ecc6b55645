//! `--mode` and `--config`.

use super::support::{Lab, demo};

const OPTIONS: &str = r#"[agent]
modes = { currentModeId = "x", availableModes = [{ id = "x", name = "X" }] }
config_options = [
  { id = "how", name = "How", category = "mode", type = "select", currentValue = "act", options = [{ value = "act", name = "Act" }, { value = "plan", name = "Plan" }] },
  { id = "web", name = "Web", type = "boolean", currentValue = false },
]
"#;

#[test]
fn a_mode_that_modes_list_is_set_with_set_mode() {
    let lab = Lab::new();
    let (done, record) = lab.record(&["x", "--mode", "auto"], &lab.script(""));
    done.assert_code(0);
    let calls = record.calls(true, "session/set_mode");
    assert_eq!((calls.len(), calls[0]["params"]["modeId"].as_str()), (1, Some("auto")));
    assert!(record.calls(true, "session/set_config_option").is_empty());
    // It is in force before the prompt goes out.
    let order: Vec<String> =
        record.records.iter().filter(|r| r.is_ours()).map(|r| r.value()["method"].to_string()).collect();
    assert_eq!(order, ["\"initialize\"", "\"session/new\"", "\"session/set_mode\"", "\"session/prompt\""]);
}

#[test]
fn a_mode_that_only_an_option_lists_is_set_with_the_option() {
    let lab = Lab::new();
    let (done, record) = lab.record(&["x", "--mode", "plan"], &lab.script(OPTIONS));
    done.assert_code(0);
    assert!(record.calls(true, "session/set_mode").is_empty());
    let calls = record.calls(true, "session/set_config_option");
    assert_eq!(calls.len(), 1);
    assert_eq!(
        (calls[0]["params"]["configId"].as_str(), calls[0]["params"]["value"].as_str()),
        (Some("how"), Some("plan"))
    );
    lab.exec(&["x", "--mode", "fly"], &lab.script(OPTIONS)).assert_says(2, &["no mode `fly`"]);
}

#[test]
fn options_are_set_one_after_the_other() {
    let lab = Lab::new();
    let (done, record) = lab.record(&["x", "--config", "model=demo-large", "--config", "web=true"], &demo("demo"));
    done.assert_code(0);
    let calls = record.calls(true, "session/set_config_option");
    assert_eq!(calls.len(), 2);
    assert_eq!(calls[0]["params"]["value"], "demo-large");
    assert_eq!((&calls[1]["params"]["value"], calls[1]["params"]["type"].as_str()), (&true.into(), Some("boolean")));
}

#[test]
fn an_empty_answer_to_set_config_option_is_a_yes() {
    let lab = Lab::new();
    let agent = lab.script("[agent]\nresult.\"session/set_config_option\" = {}\n");
    let done = lab.exec(&["hello", "--config", "model=demo-large", "--config", "web=on"], &agent);
    assert_eq!(done.assert_code(0).out(), "You said: hello\n");
}

#[test]
fn a_setting_that_is_refused_stops_before_the_prompt() {
    let lab = Lab::new();
    for (method, args) in
        [("session/set_mode", ["--mode", "auto"]), ("session/set_config_option", ["--config", "web=true"])]
    {
        let script = format!("[agent]\nerror.\"{method}\" = {{ code = -32602, message = \"not today\" }}\n");
        let (done, record) = lab.record(&["x", args[0], args[1]], &lab.script(&script));
        done.assert_says(3, &["not today"]);
        assert!(record.calls(true, "session/prompt").is_empty());
    }
}

#[test]
fn an_agent_from_the_configuration_gets_its_variables() {
    let lab = Lab::new();
    let script = lab.write("agent.toml", "[agent]\nexit_at_start = 3\n");
    let text = format!(
        "[agents.mine]\ncommand = \"sh\"\nargs = [\"-c\", 'echo \"token $TOKEN\" >&2; exec {} demo-agent --script {}']\nenv = {{ TOKEN = \"t0p\" }}\n",
        super::support::PROGRAM,
        script.display()
    );
    lab.write("config/acp-tui/config.toml", &text);
    lab.exec(&["x", "--agent", "mine"], &[]).assert_says(5, &["token t0p"]);
    // Nothing named: the default one.
    lab.write("config/acp-tui/config.toml", &format!("default_agent = \"mine\"\n{text}"));
    lab.exec(&["x"], &[]).assert_says(5, &["token t0p"]);
    lab.exec(&["hello", "--agent", "demo", "--allow", "none"], &[]).assert_code(0);
}

#[test]
fn the_session_opens_in_the_directory_that_was_named() {
    let lab = Lab::new();
    std::fs::create_dir_all(lab.cwd().join("sub")).unwrap();
    std::os::unix::fs::symlink("sub", lab.cwd().join("link")).unwrap();
    for dir in ["sub", "link", "./sub/../sub"] {
        let (done, record) = lab.record(&["x", "-C", dir], &lab.script(""));
        done.assert_code(0);
        let cwd = &record.calls(true, "session/new")[0]["params"]["cwd"];
        assert_eq!(cwd.as_str(), lab.cwd().join("sub").to_str());
    }
}

#[test]
fn files_named_with_an_at_sign_go_along_as_links() {
    let lab = Lab::new();
    std::fs::write(lab.cwd().join("a file.txt"), "").unwrap();
    std::fs::write(lab.cwd().join("b.txt"), "").unwrap();
    let (done, record) = lab.record(&["look at @b.txt, not at @none.txt or me@b.txt"], &lab.script(""));
    done.assert_code(0);
    let prompt = record.calls(true, "session/prompt")[0]["params"]["prompt"].clone();
    assert_eq!(prompt[0]["text"], "look at @b.txt, not at @none.txt or me@b.txt");
    let links: Vec<_> = prompt.as_array().unwrap().iter().filter(|block| block["type"] == "resource_link").collect();
    assert_eq!((links.len(), links[0]["name"].as_str()), (1, Some("b.txt")));
    assert!(links[0]["uri"].as_str().unwrap().starts_with("file:///"));
}

#[test]
fn an_agent_that_shows_a_text_interface_is_told_what_to_type() {
    let lab = Lab::new();
    let text = "#!/bin/sh\nprintf '\\033[2J\\033[HWelcome to Gemini\\n> '\nexec cat > /dev/null\n";
    let path = lab.write("gemini", text);
    let mut mode = path.metadata().unwrap().permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut mode, 0o755);
    std::fs::set_permissions(&path, mode).unwrap();
    let done = lab.exec(&["x", "--timeout", "2"], &[path.to_str().unwrap().into()]);
    assert!(matches!(done.code, Some(5 | 124)), "{:?}", done.code);
    assert!(done.err().contains("gemini --acp"), "{}", done.err());
}

#[test]
fn a_model_is_set_before_the_prompt_and_one_that_is_not_there_is_wrong_usage() {
    let lab = Lab::new();
    let (done, record) = lab.record(&["x", "--model", "demo-large"], &demo("demo"));
    done.assert_code(0);
    assert_eq!(record.calls(true, "session/set_config_option")[0]["params"]["value"], "demo-large");
    lab.exec(&["x", "--model", "huge"], &demo("demo")).assert_says(2, &["no model `huge`", "demo-large"]);
}
