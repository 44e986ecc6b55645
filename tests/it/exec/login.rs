//! `acp-tui login` and `acp-tui logout` from the outside, and the command that `exec` names.

use super::support::{Done, Lab, Running, demo};
use std::process::Stdio;

fn run(lab: &Lab, words: &[&str], agent: &[String]) -> Done {
    let mut command = lab.program();
    command.args(words);
    if !agent.is_empty() {
        command.arg("--").args(agent);
    }
    Running::start(command, Stdio::null()).finish()
}

/// An agent that is logged in by `agent login`, once its file is there.
fn agent(lab: &Lab) -> Vec<String> {
    let file = lab.path("signed-in");
    let script = lab.write(
        "agent.toml",
        &format!(
            "[agent]\nauth_required = true\nauth_file = \"{}\"\nauth_methods = [\n\
             {{ id = \"tty\", name = \"By terminal\", type = \"terminal\", args = [\"login\"] }},\n\
             {{ id = \"key\", name = \"By key\", type = \"env_var\", vars = [\"A_KEY\"] }},\n\
             {{ id = \"web\", name = \"By browser\" }},\n]\n\
             [[turn]]\ndefault = true\nstep = [{{ do = \"say\", text = \"you are known\" }}]\n",
            file.display()
        ),
    );
    let demo = demo(script.to_str().unwrap());
    let text = format!(
        "[ \"$1\" = login ] && {{ echo 'this terminal is mine'; [ -z \"$FAIL\" ] || exit 3; : > {}; exit; }}\nexec {}\n",
        file.display(),
        demo.join(" ")
    );
    lab.shell_agent(&text)
}

#[test]
fn a_terminal_method_takes_this_terminal_and_exec_works_after_it() {
    let lab = Lab::new();
    let agent = agent(&lab);
    let line = format!("acp-tui login tty -- {}", agent.join(" "));
    lab.exec(&["x"], &agent).assert_says(4, &[&line]);
    let mut fails = lab.program();
    fails.args(["login", "tty", "--"]).args(&agent).env("FAIL", "1");
    Running::start(fails, Stdio::null()).finish().assert_says(4, &["ended with exit 3"]);
    lab.exec(&["x"], &agent).assert_says(4, &[&line]);
    let done = run(&lab, &["login", "By terminal"], &agent);
    done.assert_says(0, &["logged in"]);
    assert_eq!(done.out(), "this terminal is mine\n");
    assert_eq!(lab.exec(&["x"], &agent).out(), "you are known\n");
    run(&lab, &["login"], &agent).assert_says(0, &["nothing waits for a log-in", &line]);
}

#[test]
fn each_other_method_does_what_it_can_without_a_screen() {
    let lab = Lab::new();
    let agent = agent(&lab);
    run(&lab, &["login", "key"], &agent).assert_says(4, &["set A_KEY in the environment"]);
    run(&lab, &["login", "web"], &agent).assert_says(0, &["logged in: By browser"]);
    run(&lab, &["login"], &agent).assert_says(4, &["acp-tui login tty -- ", "acp-tui login web -- "]);
    run(&lab, &["login"], &agent)
        .assert_says(4, &["set A_KEY and start again, or have it kept: acp-tui login key -- "]);
    run(&lab, &["login", "none"], &agent).assert_says(2, &["called none", "acp-tui login tty -- "]);
    run(&lab, &["login", "no-such-agent"], &[]).assert_says(2, &["no-such-agent"]);
    run(&lab, &["login"], &[]).assert_says(2, &["which agent?"]);
    run(&lab, &["logout"], &agent).assert_says(3, &["cannot be told to log out"]);
}

#[test]
fn r_117_logout_is_called_only_where_it_is_offered() {
    let lab = Lab::new();
    run(&lab, &["logout"], &lab.script("[agent]\n")).assert_says(3, &["cannot be told to log out"]);
    let offers = "[agent.capabilities]\nauth = { logout = {} }\n";
    run(&lab, &["logout"], &lab.script(&format!("{offers}[agent.result]\nlogout = {{}}\n")))
        .assert_says(0, &["logged out"]);
    let fails = format!("{offers}[agent.error.logout]\ncode = -32603\nmessage = \"no luck\"\n");
    run(&lab, &["logout"], &lab.script(&fails)).assert_says(3, &["no luck"]);
}

#[test]
fn an_agent_that_is_chosen_by_its_name_is_started_at_home() {
    let lab = Lab::new();
    let program = lab.shell_agent("pwd > \"$HOME/../started-in\"; exit 1\n");
    let config = format!("[agents.mine]\ncommand = \"sh\"\nargs = [\"{}\"]\n", program[1]);
    lab.write("config/acp-tui/config.toml", &config);
    let started = |lab: &Lab| std::fs::read_to_string(lab.path("started-in")).unwrap().trim().to_owned();
    lab.exec(&["x", "--agent", "mine"], &[]);
    assert_eq!(started(&lab), lab.path("home").to_str().unwrap());
    lab.exec(&["x"], &program);
    assert_eq!(started(&lab), lab.cwd().to_str().unwrap());
}

#[test]
fn an_agent_whose_program_lies_in_the_project_is_told_of() {
    use std::os::unix::fs::PermissionsExt as _;
    let lab = Lab::new();
    let program = lab.write("work/agent", "#!/bin/sh\nexit 1\n");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let said = "the agent's program is a file of this project: agent";
    lab.exec(&["x"], &["./agent".into()]).assert_says(5, &[said]);
    let done = lab.exec(&["x"], &lab.script("[agent]\nexit_at_start = 1\n"));
    assert!(!done.err().contains("of this project"), "{}", done.err());
}
