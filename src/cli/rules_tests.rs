use super::*;
use crate::engine::rulebook::PROJECT_FILE;
use std::os::unix::fs::PermissionsExt as _;

#[test]
fn what_is_written_is_whole_and_the_owners_alone() {
    let temp = tempfile::tempdir().unwrap();
    let file = temp.path().join("new/rules.toml");
    write(&file, "allow = []\n").unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    write(&file, "deny = []\n").unwrap();
    assert_eq!(rulebook::read_text(&file), Ok(Some("deny = []\n".to_owned())));
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(file.parent().unwrap().read_dir().unwrap().count(), 1);
    assert_eq!(rulebook::read_text(&temp.path().join("none")), Ok(None));
    assert!(rulebook::read_text(temp.path()).is_err());
}

#[test]
fn a_project_can_narrow_what_a_person_allows_and_not_allow_itself() {
    let temp = tempfile::tempdir().unwrap();
    let dirs = Dirs { config: temp.path().join("config"), state: temp.path().join("state"), home: None };
    std::fs::create_dir_all(temp.path().join(".acp-tui")).unwrap();
    write(&dirs.rules_file(), "allow = [\"Bash(git *)\"]\n").unwrap();
    write(&temp.path().join(PROJECT_FILE), "allow = [\"Bash\"]\nask = [\"Bash(git push *)\"]\n").unwrap();
    let rules = own_and_projects(Some(&dirs), temp.path()).unwrap();
    let lists: Vec<(Verdict, &str)> = rules.iter().map(|rule| (rule.list, rule.pattern.as_str())).collect();
    assert_eq!(lists, [(Verdict::Ask, "Bash(git push *)"), (Verdict::Allow, "Bash(git *)")]);
    write(&temp.path().join(PROJECT_FILE), "deny = 1\n").unwrap();
    let fault = own_and_projects(Some(&dirs), temp.path()).unwrap_err().0;
    assert!(fault.contains("rules.toml:1: "), "{fault}");
}
