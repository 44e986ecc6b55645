use super::*;
use crate::engine::rulebook::PROJECT_FILE;
use crate::model::claims::Claims;
use crate::model::event::TerminalSpec;
use std::fs::write;

#[test]
fn a_project_can_narrow_what_a_person_allows_and_not_allow_itself() {
    let temp = tempfile::tempdir().unwrap();
    let dirs = Dirs { config: temp.path().join("config"), state: temp.path().join("state"), data: None, home: None };
    std::fs::create_dir_all(temp.path().join(".acp-tui")).unwrap();
    std::fs::create_dir_all(&dirs.config).unwrap();
    write(dirs.rules_file(), "allow = [\"Bash(git *)\"]\n").unwrap();
    write(temp.path().join(PROJECT_FILE), "allow = [\"Bash\"]\nask = [\"Bash(git push *)\"]\n").unwrap();
    let rules = own_and_projects(Some(&dirs), temp.path()).unwrap();
    let lists: Vec<(Verdict, &str)> = rules.iter().map(|rule| (rule.list, rule.pattern.as_str())).collect();
    assert_eq!(lists, [(Verdict::Ask, "Bash(git push *)"), (Verdict::Allow, "Bash(git *)")]);
    write(temp.path().join(PROJECT_FILE), "deny = 1\n").unwrap();
    let fault = own_and_projects(Some(&dirs), temp.path()).unwrap_err().0;
    assert!(fault.contains("rules.toml:1: "), "{fault}");
}

#[test]
fn what_a_project_above_denies_is_listed_and_holds_for_exec_too() {
    let temp = tempfile::tempdir().unwrap();
    let dirs = Dirs { config: temp.path().join("config"), state: temp.path().join("state"), data: None, home: None };
    let sub = temp.path().join("sub");
    for dir in [".git", ".acp-tui", "sub"] {
        std::fs::create_dir_all(temp.path().join(dir)).unwrap();
    }
    write(temp.path().join(PROJECT_FILE), "allow = [\"Bash\"]\ndeny = [\"Bash(bar *)\"]\n").unwrap();
    let rules = own_and_projects(Some(&dirs), &sub).unwrap();
    assert_eq!(rules.iter().map(|rule| rule.pattern.as_str()).collect::<Vec<_>>(), ["Bash(bar *)"]);
    write(temp.path().join(PROJECT_FILE), "deny = 1\n").unwrap();
    assert!(narrowing(&sub, "x", Some(&dirs)).is_err(), "what cannot be read may deny");
}

/// What is said of a command of the agent that these are for.
fn verdict(held: &RulesConfig, cwd: &Path, command: &str) -> Ruled {
    let (command, args, env) = (command.to_owned(), Vec::new(), Vec::new());
    let claims = Claims::of_command(&TerminalSpec { command, args, env, cwd: None, limit: None, patience: None });
    held.book.ruling(held.agent.as_deref(), cwd, &Rules::default(), &claims).0.verdict
}

#[test]
fn the_table_of_an_agent_holds_for_that_agent_in_exec_and_on_the_full_screen() {
    let temp = tempfile::tempdir().unwrap();
    let cwd = temp.path().canonicalize().unwrap();
    let dirs = Dirs { config: cwd.join("config"), state: cwd.join("state"), data: None, home: None };
    std::fs::create_dir_all(&dirs.config).unwrap();
    let file = dirs.rules_file();
    write(&file, "allow = [\"Bash(git *)\"]\n[agent.mine]\ndeny = [\"Bash(git log *)\"]\n").unwrap();
    let held = |agent: &str| {
        let dirs = Some(&dirs);
        let alone = [only(&file, agent, dirs).unwrap(), narrowing(&cwd, agent, dirs).unwrap()];
        let (on_screen, wrong) = of_session(&cwd, agent, None, dirs);
        assert_eq!(wrong, Vec::<String>::new());
        let [only, narrowing] = alone;
        [only, narrowing, on_screen].map(|held| verdict(&held, &cwd, "git log"))
    };
    assert_eq!(held("mine"), [Ruled::Deny, Ruled::Deny, Ruled::Deny]);
    // What is allowed has no effect where nobody has named the file.
    assert_eq!(held("another"), [Ruled::Allow, Ruled::Open, Ruled::Allow]);
}
