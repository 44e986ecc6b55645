use super::*;

fn lines(loaded: &Loaded) -> Vec<String> {
    loaded.rules.iter().map(|rule| format!("{} {} {}", rule.list.name(), rule.pattern, rule.line)).collect()
}

#[test]
fn three_lists_and_those_of_agents_are_read_with_their_lines() {
    let text = "# mine\nallow = [\n    \"Bash(git *)\", # often\n    { pattern = \"Read\", reason = \"looks\" },\n]\n\
                ask = [\"Bash(git commit *)\"]\ndeny = []\n\n[agent.one]\ndeny = [{ pattern = \"Bash(rm *)\", reason = \"no\" }]\n";
    let loaded = load(text, "rules.toml", Trust::Full);
    assert_eq!((&loaded.malformed, &loaded.warnings[..]), (&None, &[][..]));
    let wanted = ["deny Bash(rm *) 10", "ask Bash(git commit *) 6", "allow Bash(git *) 3", "allow Read 4"];
    assert_eq!(lines(&loaded), wanted);
    let denies = loaded.rules.iter().next().unwrap();
    assert_eq!((denies.agent.as_deref(), denies.reason.as_deref()), (Some("one"), Some("no")));
}

#[test]
fn a_rule_for_a_tool_that_is_not_known_holds_and_is_named_with_its_line() {
    let text = "deny = [\n  \"Bsah(rm *)\",\n  \"Write(**)\",\n  \"mcp__tracker__list\",\n  \"Frobnicate\",\n]\n";
    let loaded = load(text, "rules.toml", Trust::Full);
    let said: Vec<String> = loaded.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        said,
        [
            "rules.toml:2: unknown tool Bsah: holds only for calls of that name; did you mean Bash?",
            "rules.toml:5: unknown tool Frobnicate: holds only for calls of that name",
        ]
    );
    assert_eq!(lines(&loaded).len(), 4);
}

#[test]
fn an_empty_file_has_no_rules_and_no_fault() {
    for text in ["", "# nothing\n", "[agent.one]\n"] {
        let loaded = load(text, "rules.toml", Trust::Full);
        assert!(loaded.malformed.is_none() && loaded.warnings.is_empty() && lines(&loaded).is_empty(), "{text}");
    }
}

mod what_is_no_rules_file {
    use super::*;

    fn check(text: &str, line: usize) {
        let fault = load(text, "rules.toml", Trust::Full).malformed.unwrap();
        assert_eq!((fault.file.as_str(), fault.line), ("rules.toml", Some(line)), "{fault}");
    }

    cases! {
        check {
            no_toml: "allow = [\n", 1;
            a_line_that_is_none: "allow = []\nx x\n", 2;
            a_list_that_is_a_string: "\nallow = \"Bash\"\n", 2;
            a_list_that_is_a_table: "[allow]\nx = 1\n", 1;
            an_entry_that_is_a_number: "deny = [\n    \"Bash\",\n    7,\n]\n", 3;
            an_entry_without_a_pattern: "deny = [{ reason = \"x\" }]\n", 1;
            agents_that_are_a_list: "agent = []\n", 1;
            lists_of_no_agent: "[agent]\nallow = [\"Bash\"]\n", 2;
        }
    }
}

#[test]
fn an_unknown_key_and_what_is_no_pattern_are_named_and_the_rest_applies() {
    let text = "alow = []\nallow = [\"Bash(git *)\", \"Bash(git\", { pattern = \"Read\", why = \"x\" }]\ndeny = [\"Edit(../x)\"]\n\
                [agent.one]\nagent = 1\n";
    let loaded = load(text, "rules.toml", Trust::Full);
    assert_eq!(loaded.malformed, None);
    let said: Vec<String> = loaded.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(said.len(), 5, "{said:#?}");
    let wanted =
        [(1, "\"alow\""), (2, "\"Bash(git\""), (2, "\"why\""), (3, "its tool is asked about"), (5, "[agent.one]")];
    for (line, words) in wanted {
        assert!(said.iter().any(|w| w.starts_with(&format!("rules.toml:{line}: ")) && w.contains(words)), "{said:#?}");
    }
    assert_eq!(lines(&loaded), ["allow Bash(git *) 2", "allow Read 2"]);
}

#[test]
fn the_rules_of_a_project_only_narrow() {
    let text = "allow = [\"Bash\"]\nask = [\"Read\"]\ndeny = [\"Edit\"]\n[agent.one]\nallow = [\"Bash\"]\n";
    let loaded = load(text, ".acp-tui/rules.toml", Trust::OnlyNarrow);
    assert_eq!(lines(&loaded), ["deny Edit 3", "ask Read 2"]);
    assert_eq!(loaded.warnings.iter().map(|w| w.line).collect::<Vec<_>>(), [Some(1), Some(5)]);
}

#[test]
fn a_rule_ends_when_it_says_and_one_whose_end_nobody_can_tell_allows_nothing() {
    let text = "allow = [\n{ pattern = \"Bash(a)\", until = 2026-01-01T00:00:00Z },\n\
                { pattern = \"Bash(b)\", until = \"2026-01-01\" },\n{ pattern = \"Bash(c)\", until = 1 }]\n\
                deny = [{ pattern = \"Bash(d)\", until = 1 }]\n";
    let loaded = load(text, "r", Trust::Full);
    let until: Vec<Option<i64>> = loaded.rules.iter().map(|rule| rule.until).collect();
    assert_eq!(until, [None, Some(1_767_225_600), Some(1_767_225_600), Some(i64::MIN)]);
    assert_eq!((loaded.malformed.is_some(), loaded.warnings.len()), (false, 2));
}
