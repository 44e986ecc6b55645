use super::*;
use crate::engine::rulebook::Rulebook;
use crate::model::claims::{Claim, Claimed};
use crate::model::event::TerminalSpec;
use crate::model::tool::{ToolCall, ToolKind};
use serde_json::json;
use std::path::Path;
use tempfile::TempDir;

fn in_force(temp: &TempDir) -> RulesInForce {
    let home = temp.path().canonicalize().unwrap();
    std::fs::create_dir_all(home.join("p")).unwrap();
    let book = Rulebook::new(Some(home.join("rules.toml")), None).with_made(Some(home.join("made")));
    RulesInForce::new(book, home.join("p"))
}

fn line(command: &str) -> Claims {
    let (command, args, env) = (command.to_owned(), Vec::new(), Vec::new());
    Claims::of_command(&TerminalSpec { command, args, env, cwd: None, limit: None, patience: None })
}

fn wanted(text: Option<&str>, lines: &[&str]) -> RuleQuery {
    let waiting: Vec<(ReqId, Claims)> = (1..).map(ReqId).zip(lines.iter().map(|text| line(text))).collect();
    let past = waiting.iter().map(|(_, claims)| Arc::new(claims.clone())).collect();
    let earlier = Arc::new(vec![(line("git log -1"), 20), (line("rm x"), 3)]);
    RuleQuery { req: ReqId(1), list: Ruled::Allow, text: text.map(str::to_owned), waiting, past, earlier }
}

fn weighed(in_force: &RulesInForce, wanted: RuleQuery) -> Weighing {
    let HostEvent::RulesWeighed(weighing) = weigh(in_force, wanted).event else { panic!() };
    weighing
}

#[test]
fn what_is_proposed_answers_the_question_and_says_what_else() {
    let temp = TempDir::new().unwrap();
    let in_force = in_force(&temp);
    let weighing = weighed(&in_force, wanted(None, &["git log -1", "git log", "git status; rm x"]));
    let rows: Vec<(&str, usize, usize)> =
        weighing.proposed.iter().map(|w| (w.text.as_str(), w.resolves.len(), w.here.0)).collect();
    assert_eq!(rows, [("Bash(git log -1)", 1, 1), ("Bash(git log *)", 2, 2), ("Bash(git *)", 2, 2)]);
    assert_eq!(weighing.proposed[0].before, (20, 23), "of earlier sessions");
    let typed = weighed(&in_force, wanted(Some("Bash(git"), &["git log"])).typed.unwrap();
    assert!(typed.fault.is_some() && typed.resolves.is_empty());
    for (line, why) in [("$x y", "which program"), ("git log \u{202e}x", "not seen"), ("cd /tmp && make", "directory")]
    {
        let weighing = weighed(&in_force, wanted(None, &[line]));
        assert!(weighing.proposed.is_empty() && weighing.why_none.as_ref().unwrap().contains(why), "{weighing:?}");
    }
    std::fs::write(temp.path().join("rules.toml"), "deny = [\"Bash(git *)\"]\n").unwrap();
    let why = weighed(&in_force, wanted(None, &["git log"])).why_none.unwrap();
    assert_eq!(why, "the rule Bash(git *) is against it");
}

#[test]
fn what_rules_allow_anyway_is_not_proposed_and_one_part_is_enough_to_deny_a_line() {
    let temp = TempDir::new().unwrap();
    let in_force = in_force(&temp);
    let proposed = |list, line: &str| {
        let weighing = weighed(&in_force, RuleQuery { list, ..wanted(None, &[line]) });
        weighing.proposed.into_iter().map(|weighed| weighed.text).collect::<Vec<_>>()
    };
    let both = ["Bash(git status), Bash(touch x)", "Bash(git status *), Bash(touch x *)", "Bash(git *), Bash(touch *)"];
    assert_eq!(proposed(Ruled::Allow, "git status; touch x"), both);
    for list in [Ruled::Ask, Ruled::Deny] {
        let parts = [&["Bash(git status)", "Bash(touch x)"][..], &both].concat();
        assert_eq!(proposed(list, "git status; touch x"), parts);
    }
    made(&in_force, "Bash(git *)", Scope::Workspace);
    for list in [Ruled::Allow, Ruled::Ask, Ruled::Deny] {
        let rest = ["Bash(touch x)", "Bash(touch x *)", "Bash(touch *)"];
        assert_eq!(proposed(list, "git status; touch x"), rest, "{list:?}");
        // It is for what it answers together with those that there are, and not for what they answer alone.
        let lines = ["git status; touch x", "git log -1", "make; touch x"];
        let weighing = weighed(&in_force, RuleQuery { list, ..wanted(None, &lines) });
        let is_for = if list == Ruled::Allow { 1 } else { 2 };
        assert_eq!((weighing.proposed[0].here, weighing.proposed[0].before), ((is_for, 3), (0, 23)), "{list:?}");
    }
}

/// A question of opencode's, which names the directory of a file outside.
#[test]
fn a_file_outside_that_is_asked_about_with_its_directory_has_a_rule() {
    let temp = TempDir::new().unwrap();
    let in_force = in_force(&temp);
    let home = temp.path().canonicalize().unwrap();
    std::fs::create_dir(home.join("out")).unwrap();
    let dir = home.join("out").to_str().unwrap().to_owned();
    let asked = |file: &str| {
        let mut tool = ToolCall::new("t".into(), Duration::ZERO);
        (tool.kind, tool.kind_before) = (ToolKind::Other, Some(ToolKind::Read));
        tool.title = dir.clone();
        tool.raw_input = Some(json!({ "filepath": format!("{dir}/{file}"), "parentDir": dir }));
        Claims::of_tool(&tool, &[])
    };
    let query = RuleQuery { waiting: vec![(ReqId(1), asked("a.txt"))], past: Vec::new(), ..wanted(None, &[]) };
    let proposed: Vec<String> = weighed(&in_force, query).proposed.into_iter().map(|weighed| weighed.text).collect();
    assert_eq!(proposed, [format!("Read({dir}/a.txt)"), format!("Read({dir}/**)")]);
    made(&in_force, &proposed[1], Scope::Workspace);
    let of = |file: &str| in_force.ruling(&asked(file)).0.verdict;
    assert_eq!((of("b.txt"), of(".env"), of("../p.txt")), (Ruled::Allow, Ruled::Ask, Ruled::Open));
}

/// The same of a command, with the directories that it leads to.
#[test]
fn a_command_that_is_asked_about_with_a_directory_outside_has_a_rule() {
    let temp = TempDir::new().unwrap();
    let in_force = in_force(&temp);
    let asked = |line: &str| {
        let mut tool = ToolCall::new("t".into(), Duration::ZERO);
        (tool.kind, tool.kind_before) = (ToolKind::Other, Some(ToolKind::Execute));
        line.clone_into(&mut tool.title);
        tool.raw_input = Some(json!({ "command": line, "directories": ["/out"], "patterns": ["/out/*"] }));
        Claims::of_tool(&tool, &[])
    };
    let waiting = vec![(ReqId(1), asked("cat /out/a"))];
    let query = RuleQuery { waiting, past: Vec::new(), ..wanted(None, &[]) };
    let proposed: Vec<String> = weighed(&in_force, query).proposed.into_iter().map(|weighed| weighed.text).collect();
    assert_eq!(proposed, ["Bash(cat /out/a)", "Bash(cat *)"]);
    made(&in_force, &proposed[0], Scope::Workspace);
    let of = |line: &str| in_force.ruling(&asked(line)).0.verdict;
    assert_eq!((of("cat /out/a"), of("cat /out/b"), of("cat /out/a; rm x")), (Ruled::Allow, Ruled::Open, Ruled::Open));
}

#[test]
fn a_fetch_for_which_no_pattern_can_be_has_a_reason_and_may_be_denied_by_its_host() {
    let temp = TempDir::new().unwrap();
    let in_force = in_force(&temp);
    for (address, deny) in [
        ("http://example.com:8080/x", Some("Fetch(domain:example.com)")),
        ("https://example.com:8443/x", Some("Fetch(domain:example.com)")),
        ("http://[::1]:80/x", None),
    ] {
        let what = Claimed::Text(address.to_owned());
        let claim = Claim { tool: "fetch".into(), what, only_narrows: false, is_guess: false };
        let claims = Claims { all: vec![claim], ..Claims::default() };
        let query = |list| RuleQuery { list, waiting: vec![(ReqId(1), claims.clone())], ..wanted(None, &[]) };
        let allows = weighed(&in_force, query(Ruled::Allow));
        let why = allows.why_none.as_deref().unwrap_or_default();
        assert!(allows.proposed.is_empty() && why.contains("https at its own port"), "{allows:?}");
        let denies = weighed(&in_force, query(Ruled::Deny));
        assert_eq!(denies.proposed.first().map(|one| one.text.as_str()), deny, "{denies:?}");
    }
}

#[test]
fn a_rule_that_would_allow_a_part_is_no_reason_against_the_whole() {
    let temp = TempDir::new().unwrap();
    let in_force = in_force(&temp);
    let claim = |tool: &str, what| Claim { tool: tool.into(), what, only_narrows: false, is_guess: false };
    let all = vec![claim("other", Claimed::Text("/outside".into())), claim("bash", Claimed::Unknown)];
    let query = RuleQuery { waiting: vec![(ReqId(1), Claims { all, ..Claims::default() })], ..wanted(None, &[]) };
    let weighing = weighed(&in_force, query);
    let why = weighing.why_none.unwrap();
    assert!(weighing.proposed.is_empty() && !why.contains("against it"), "{why}");
}

fn made(in_force: &RulesInForce, text: &str, scope: Scope) -> Vec<MadeRule> {
    let new = NewRules { list: Ruled::Allow, text: text.into(), scope };
    let HostEvent::RulesMade { made, unkept, fault } = make(in_force, &new, &|_| {}).event else { panic!() };
    assert_eq!((fault, unkept), (None, Vec::new()));
    made
}

fn verdict(in_force: &RulesInForce, text: &str) -> Ruled {
    in_force.ruling(&line(text)).0.verdict
}

#[test]
fn a_deny_that_is_made_after_an_allow_in_one_directory_holds_and_so_does_the_allow() {
    let temp = TempDir::new().unwrap();
    let in_force = in_force(&temp);
    made(&in_force, "Bash(git *)", Scope::Workspace);
    for (list, text) in [(Ruled::Deny, "Bash(rm *)"), (Ruled::Ask, "Bash(git push *)"), (Ruled::Deny, "Bash(dd *)")] {
        let new = NewRules { list, text: text.into(), scope: Scope::Workspace };
        let HostEvent::RulesMade { made, fault: None, .. } = make(&in_force, &new, &|_| {}).event else { panic!() };
        assert_eq!(made.len(), 1);
    }
    let of = |line: &str| verdict(&in_force, line);
    assert_eq!((of("git status; rm x"), of("dd")), (Ruled::Deny, Ruled::Deny));
    assert_eq!((of("git status"), of("git push")), (Ruled::Allow, Ruled::Ask));
    let HostEvent::RulesKept(kept) = kept(&in_force).event else { panic!() };
    assert_eq!(kept.len(), 4);
}

#[test]
fn a_rule_for_a_directory_is_kept_outside_of_it_and_holds_nowhere_else() {
    let temp = TempDir::new().unwrap();
    let in_force = in_force(&temp);
    let home = temp.path().canonicalize().unwrap();
    let rules = made(&in_force, "Bash(git status), Bash(ls)", Scope::Workspace);
    assert_eq!(made(&in_force, "Bash(ls)", Scope::Workspace).len(), 1, "it is there already");
    assert_eq!((verdict(&in_force, "git status | ls"), verdict(&in_force, "git log")), (Ruled::Allow, Ruled::Open));
    std::fs::create_dir(home.join("q")).unwrap();
    let book = || Rulebook::new(Some(home.join("rules.toml")), None).with_made(Some(home.join("made")));
    let (again, other) = (RulesInForce::new(book(), home.join("p")), RulesInForce::new(book(), home.join("q")));
    assert_eq!((verdict(&again, "ls"), verdict(&other, "ls")), (Ruled::Allow, Ruled::Open));
    assert_eq!(home.join("p").read_dir().unwrap().count(), 0);
    let HostEvent::RuleDropped { fault: None, .. } = remove(&in_force, rules[1].clone()).event else { panic!() };
    assert_eq!((verdict(&in_force, "ls"), verdict(&in_force, "git status")), (Ruled::Open, Ruled::Allow));
    made(&in_force, "Bash(ls)", Scope::Always);
    assert_eq!((verdict(&in_force, "ls"), verdict(&other, "ls")), (Ruled::Allow, Ruled::Allow));
}

#[test]
fn a_rule_that_is_over_can_be_made_again_and_one_for_a_day_for_longer() {
    let temp = TempDir::new().unwrap();
    let in_force = in_force(&temp);
    let place = in_force.book().place(Scope::Workspace, &in_force.cwd()).unwrap().0;
    for (list, text) in [(Ruled::Allow, "Bash(make)"), (Ruled::Deny, "Bash(rm *)")] {
        let make = |scope| {
            let new = NewRules { list, text: text.into(), scope };
            let HostEvent::RulesMade { made, fault: None, .. } = make(&in_force, &new, &|_| {}).event else { panic!() };
            assert_eq!(made.len(), 1);
            std::fs::read_to_string(&place).unwrap()
        };
        let line = if list == Ruled::Allow { "make" } else { "rm x" };
        let for_a_day = make(Scope::Day);
        assert_eq!(verdict(&in_force, line), list);
        let year = for_a_day.split("until = ").last().unwrap().split('-').next().unwrap().to_owned();
        std::fs::write(&place, for_a_day.replace(&format!("until = {year}-"), "until = 2001-")).unwrap();
        assert_eq!(verdict(&in_force, line), Ruled::Open);
        assert!(make(Scope::Day).contains(&format!("until = {year}-")));
        assert_eq!(verdict(&in_force, line), list);
        assert!(!make(Scope::Workspace).contains("until"));
        assert_eq!(verdict(&in_force, line), list);
    }
}

/// S-106, S-172: also in a session that has not made it.
#[test]
fn rules_that_are_kept_are_listed_by_a_later_session_and_taken_back_there() {
    let temp = TempDir::new().unwrap();
    let before = in_force(&temp);
    made(&before, "Bash(git *)", Scope::Workspace);
    made(&before, "Bash(ls)", Scope::Day);
    made(&before, "Bash(pwd)", Scope::Always);
    let own = temp.path().join("rules.toml");
    let text = std::fs::read_to_string(&own).unwrap();
    let more =
        "deny = [{ pattern = \"Bash(rm *)\", until = 2001-01-01T00:00:00Z }]\n[agent.other]\ndeny = [\"Edit\"]\n";
    std::fs::write(&own, format!("{text}{more}")).unwrap();
    let later = in_force(&temp);
    let listed = || {
        let HostEvent::RulesKept(rules) = kept(&later).event else { panic!() };
        rules
    };
    let rules = listed();
    let shown: Vec<(&str, Scope)> = rules.iter().map(|rule| (&*rule.pattern, rule.scope)).collect();
    assert_eq!(shown, [("Bash(git *)", Scope::Workspace), ("Bash(ls)", Scope::Day), ("Bash(pwd)", Scope::Always)]);
    for rule in rules {
        assert_eq!(
            verdict(&later, rule.pattern.trim_start_matches("Bash(").trim_end_matches([' ', '*', ')'])),
            Ruled::Allow
        );
        let HostEvent::RuleDropped { fault: None, .. } = remove(&later, rule).event else { panic!() };
    }
    assert_eq!((listed(), verdict(&later, "git"), verdict(&later, "pwd")), (Vec::new(), Ruled::Open, Ruled::Open));
    let text = std::fs::read_to_string(&own).unwrap();
    assert!(text.contains("[agent.other]") && text.contains("2001"), "{text}");
}

#[test]
fn a_rule_of_one_agent_is_taken_back_from_that_agent_alone_and_stays_where_that_fails() {
    let temp = TempDir::new().unwrap();
    let in_force = in_force(&temp);
    let own = temp.path().join("rules.toml");
    let text = "allow = [\"Bash(ls)\"]\n\n[agent.one]\nallow = [\"Bash(ls)\"]\n[agent.two]\nallow = [\"Bash(ls)\"]\n";
    std::fs::write(&own, text).unwrap();
    let rule = |agent: &str| {
        let (pattern, agent) = ("Bash(ls)".to_owned(), Some(agent.to_owned()));
        MadeRule { list: Ruled::Allow, pattern, scope: Scope::Always, agent }
    };
    let done = remove(&in_force, rule("one"));
    assert!(done.concerns_all, "other sessions have it too");
    let HostEvent::RuleDropped { fault: None, .. } = done.event else { panic!() };
    assert_eq!(
        std::fs::read_to_string(&own).unwrap(),
        text.replace("[agent.one]\nallow = [\"Bash(ls)\"]", "[agent.one]\nallow = []")
    );
    std::fs::write(&own, "allow = [").unwrap();
    let done = remove(&in_force, rule("two"));
    assert!(!done.concerns_all);
    let HostEvent::RuleDropped { fault: Some(why), .. } = done.event else { panic!() };
    assert!(why.contains("rules.toml"), "{why}");
    assert_eq!(std::fs::read_to_string(&own).unwrap(), "allow = [");
}

#[test]
fn a_rule_for_a_day_says_when_it_is_over_and_one_for_the_session_is_in_no_file() {
    let temp = TempDir::new().unwrap();
    let in_force = in_force(&temp);
    made(&in_force, "Bash(ls)", Scope::Day);
    assert_eq!(verdict(&in_force, "ls"), Ruled::Allow);
    let file = temp.path().join("made").read_dir().unwrap().map(|e| e.unwrap().path());
    let file = file.filter(|path| path.extension().is_some_and(|e| e == "toml")).last().unwrap();
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("{ pattern = \"Bash(ls)\", until = 20"), "{text}");
    let over = text.replace(text.split("until = ").nth(1).unwrap().get(..4).unwrap(), "2001");
    std::fs::write(&file, over).unwrap();
    assert_eq!(verdict(&in_force, "ls"), Ruled::Open);
    assert_eq!(made(&in_force, "Bash(pwd)", Scope::Session).len(), 1);
    assert!(!Path::new(&temp.path().join("rules.toml")).exists());
}

#[test]
fn a_rule_is_told_as_held_before_it_is_written_and_as_unkept_where_that_fails() {
    let temp = TempDir::new().unwrap();
    let in_force = in_force(&temp);
    // Where a directory stands no file can be.
    std::fs::create_dir(temp.path().join("rules.toml")).unwrap();
    let (told, new) =
        (std::cell::RefCell::new(Vec::new()), |scope| NewRules { list: Ruled::Allow, text: "Bash(ls)".into(), scope });
    let done = make(&in_force, &new(Scope::Always), &|event| told.borrow_mut().push(event));
    let rule = MadeRule { list: Ruled::Allow, pattern: "Bash(ls)".into(), scope: Scope::Always, agent: None };
    let HostEvent::RulesMade { made, unkept, fault: Some(_) } = done.event else { panic!() };
    assert_eq!((made, unkept, done.concerns_all), (Vec::new(), vec![rule.clone()], false));
    assert!(matches!(&told.borrow()[..], [HostEvent::RulesHeld(held)] if *held == [rule]), "{told:?}");
    made_nothing(&make(&in_force, &NewRules { text: "Bash(".into(), ..new(Scope::Always) }, &|_| panic!()).event);
}

fn made_nothing(event: &HostEvent) {
    let HostEvent::RulesMade { made, unkept, fault: Some(_) } = event else { panic!("{event:?}") };
    assert!(made.is_empty() && unkept.is_empty());
}

#[test]
fn what_an_agent_has_worded_is_never_several_patterns() {
    let temp = TempDir::new().unwrap();
    let in_force = in_force(&temp);
    for (tool, text) in [
        ("edit", Claimed::Paths(vec!["q), Bash, Edit, Edit(q".into()])),
        ("other", Claimed::Text("Update plan (step 1), Bash, other, other(step 2".into())),
        ("mcp", Claimed::Text("tracker/list), Bash, Mcp(tracker), Mcp(x".into())),
        ("bash", Claimed::Text("Think".into())),
    ] {
        let claims = Claims {
            all: vec![Claim { tool: tool.into(), what: text, only_narrows: false, is_guess: false }],
            ..Claims::default()
        };
        let waiting = vec![(ReqId(1), claims.clone())];
        let wanted = RuleQuery {
            req: ReqId(1),
            list: Ruled::Allow,
            text: None,
            waiting,
            past: vec![Arc::new(claims)],
            earlier: Arc::default(),
        };
        for proposed in weighed(&in_force, wanted).proposed {
            assert!(!proposed.text.to_lowercase().contains("bash"), "{}", proposed.text);
        }
    }
}
