use super::*;
use crate::model::Model;
use crate::model::event::Intent;
use crate::model::session::Policy;
use crate::ui::fixtures::Scene;

#[test]
fn held_back() {
    let mut s = Scene::working(80, 24);
    assert_eq!(held(s.model.first()), None);
    s.intent(Intent::Prompt { text: "a".into(), links: Vec::new() });
    assert_eq!(held(s.model.first()).as_deref(), Some("queued"));
    s.intent(Intent::Prompt { text: "b".into(), links: Vec::new() });
    assert_eq!(held(s.model.first()).as_deref(), Some("2 queued"));
}

#[test]
fn the_names_of_agents_and_programs() {
    assert_eq!(program("/usr/bin/gemini --acp"), "gemini");
    assert_eq!(program(""), "agent");
    let s = Scene::ready(80, 24);
    assert_eq!(agent(s.model.first()), "gemini-cli");
    // One that does not say it is called as it is configured.
    let line = "node /opt/agent.js --acp";
    let unnamed = Model::new(line.into(), "/p".into(), Policy::Ask);
    let configured = || vec![("other".to_owned(), "other".to_owned()), ("mine".to_owned(), line.to_owned())];
    assert_eq!(
        (whom(unnamed.first().agent(), configured), whom(unnamed.first().agent(), Vec::new)),
        ("mine".into(), "node".into())
    );
    assert_eq!(whom(s.model.first().agent(), configured), "gemini-cli");
}

#[test]
fn r_109_the_command_of_a_log_in_is_exact() {
    let terminal = AuthKind::Terminal { args: vec!["login".into()], env: vec![("A".into(), "b c".into())] };
    let mut agent = Agent::default();
    agent.command = "agent --acp".into();
    assert_eq!(login_command(&terminal, &agent).as_deref(), Some("A='b c' agent --acp login"));
    let own = AuthKind::Command { command: "other".into(), args: vec!["x'y".into()], env: Vec::new() };
    assert_eq!(login_command(&own, &agent).as_deref(), Some("other 'x'\\''y'"));
    assert_eq!(login_command(&AuthKind::Agent, &agent), None);
    assert_eq!(login_command(&AuthKind::Env { vars: Vec::new(), open: Vec::new() }, &agent), None);
    let spaced = AuthKind::Command { command: "/opt/my agent/login".into(), args: Vec::new(), env: Vec::new() };
    assert_eq!(login_command(&spaced, &agent).as_deref(), Some("'/opt/my agent/login'"));
    let mut configured = agent;
    configured.env = vec!["A".into(), "TOKEN".into()];
    assert_eq!(login_command(&terminal, &configured).as_deref(), Some("TOKEN=… A='b c' agent --acp login"));
}
