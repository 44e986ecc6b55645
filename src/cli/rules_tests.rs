use super::*;
use crate::engine::rulebook::PROJECT_FILE;
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
