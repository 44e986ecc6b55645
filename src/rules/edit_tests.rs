use super::*;

fn change<'a>(list: Verdict, pattern: &'a str, agent: Option<&'a str>, is_removal: bool) -> Edit<'a> {
    Edit { list, pattern, agent, reason: None, until: None, is_removal }
}

const GIT: &str = "Bash(git *)";

mod a_pattern_is_added {
    use super::*;

    fn check(text: &str, agent: Option<&str>, wanted: &str) {
        let edited = edit(text, change(Verdict::Allow, GIT, agent, false)).unwrap();
        assert_eq!(edited, wanted);
        // And taken out again it is gone, and so is the list that was made for it.
        let removed = edit(&edited, change(Verdict::Allow, GIT, agent, true)).unwrap();
        assert!(!removed.contains(GIT) && !removed.contains("allow = [\n]"), "{removed}");
        assert!(load(&removed, "", Trust::Full).malformed.is_none(), "{removed}");
    }

    cases! {
        check {
            to_nothing: "", None, "allow = [\n    \"Bash(git *)\",\n]\n";
            to_a_comment: "# mine", None, "# mine\nallow = [\n    \"Bash(git *)\",\n]\n";
            to_an_empty_list: "allow = []\n", None, "allow = [\"Bash(git *)\"]\n";
            to_a_list_of_one_line: "allow = [\"Read\"] # x\n", None, "allow = [\"Read\", \"Bash(git *)\"] # x\n";
            to_a_list_that_ends_with_a_comma: "allow = [\"Read\",]\n", None, "allow = [\"Read\", \"Bash(git *)\"]\n";
            to_a_list_of_lines: "allow = [\n  \"Read\", # why\n  # more\n]\n", None,
                "allow = [\n  \"Read\", # why\n  # more\n    \"Bash(git *)\",\n]\n";
            to_lines_without_a_comma: "allow = [\n  \"Read\" # a, b\n]\n", None,
                "allow = [\n  \"Read\", # a, b\n    \"Bash(git *)\",\n]\n";
            to_lines_that_end_at_once: "allow = [\n  \"Read\"]\n", None, "allow = [\n  \"Read\",    \"Bash(git *)\",\n]\n";
            before_the_tables: "# top\n\n# of one\n[agent.one]\ndeny = [\"Edit\"]\n", None,
                "# top\n\nallow = [\n    \"Bash(git *)\",\n]\n\n# of one\n[agent.one]\ndeny = [\"Edit\"]\n";
            to_a_new_agent: "allow = []\n", Some("one"), "allow = []\n\n[agent.one]\nallow = [\n    \"Bash(git *)\",\n]\n";
            to_an_agent_without_the_list: "[agent.one] # x\ndeny = []\n", Some("one"),
                "[agent.one] # x\nallow = [\n    \"Bash(git *)\",\n]\ndeny = []\n";
            to_an_agent_of_two_words: "", Some("a b"), "[agent.\"a b\"]\nallow = [\n    \"Bash(git *)\",\n]\n";
            to_an_agents_list: "[agent.one]\nallow = [\"Read\"]\n", Some("one"),
                "[agent.one]\nallow = [\"Read\", \"Bash(git *)\"]\n";
        }
    }
}

#[test]
fn a_pattern_is_removed_and_all_else_stays_as_it_is_written() {
    let text = "# mine\nallow = [\n    \"Read\", # look\n    { pattern = \"Bash(git *)\", reason = \"x\" }, # gone\n    \"Edit\",\n]\n\
                deny = [\"Bash(git *)\"]\n[agent.one]\nallow = [\"Bash(git *)\", \"Read\"]\n";
    let once = edit(text, change(Verdict::Allow, GIT, None, true)).unwrap();
    assert_eq!(once, text.replace("    { pattern = \"Bash(git *)\", reason = \"x\" }, # gone\n", ""));
    let twice = edit(&once, change(Verdict::Allow, GIT, Some("one"), true)).unwrap();
    assert_eq!(twice, once.replace("[\"Bash(git *)\", \"Read\"]", "[\"Read\"]"));
    let thrice = edit(&twice, change(Verdict::Deny, GIT, None, true)).unwrap();
    assert_eq!(thrice, twice.replace("deny = [\"Bash(git *)\"]", "deny = []"));
}

#[test]
fn a_list_that_was_made_for_a_pattern_goes_with_it_and_what_people_have_written_stays() {
    let back = |text: &str, agent: Option<&str>| {
        let added = edit(text, change(Verdict::Allow, GIT, agent, false)).unwrap();
        edit(&added, change(Verdict::Allow, GIT, agent, true)).unwrap()
    };
    for text in ["", "# mine\n", "deny = [\"Edit\"]\n", "# top\n\n# of one\n[agent.one]\ndeny = [\"Edit\"]\n"] {
        for agent in [None, Some("one"), Some("a b")] {
            assert_eq!(back(text, agent), text, "{agent:?}");
        }
    }
    let gone = |text: &str| edit(text, change(Verdict::Allow, GIT, Some("one"), true)).unwrap();
    let two = "[agent.one]\nallow = [\n    \"Bash(git *)\",\n]\n\n[agent.two]\ndeny = [\"Edit\"]\n";
    assert_eq!(gone(two), "[agent.two]\ndeny = [\"Edit\"]\n");
    // With a comment, or with another list, the heading says something.
    let noted = "[agent.one]\nallow = [\n    # none yet\n    \"Bash(git *)\",\n]\n";
    assert_eq!(gone(noted), "[agent.one]\nallow = [\n    # none yet\n]\n");
    let both = "[agent.one]\nallow = [\n    \"Bash(git *)\",\n]\ndeny = []\n";
    assert_eq!(gone(both), "[agent.one]\ndeny = []\n");
}

#[test]
fn a_pattern_that_is_over_too_soon_is_there_for_longer_and_keeps_its_reason() {
    let [past, soon, later] = [2001, 2998, 2999].map(|year| format!("{year}-01-01T00:00:00Z"));
    let text = |until: &str| {
        format!("# mine\ndeny = [\n    {{ pattern = \"{GIT}\", reason = \"x\"{until} }}, # why\n    \"Read\",\n]\n")
    };
    let until = |time: &str| format!(", until = {time}");
    let deny = change(Verdict::Deny, GIT, None, false);
    for time in [&past, &soon, &"\"no time\"".to_owned()] {
        assert_eq!(edit(&text(&until(time)), deny), Ok(text("")), "{time}");
        let for_a_time = Edit { until: Some(&later), ..deny };
        assert_eq!(edit(&text(&until(time)), for_a_time), Ok(text(&until(&later))), "{time}");
    }
    assert_eq!(edit(&text(&until(&later)), Edit { until: Some(&soon), ..deny }), Err(NotEdited::There));
    assert_eq!(edit(&text(""), Edit { until: Some(&soon), ..deny }), Err(NotEdited::There));
    let with_reason = Edit { reason: Some("y"), ..deny };
    assert_eq!(edit(&text(&until(&past)), with_reason), Ok(text("").replace("\"x\"", "\"y\"")));
    // One that holds is enough, and one that does not goes alone.
    let twice = format!("deny = [{{ pattern = \"{GIT}\"{} }}, \"{GIT}\"]\n", until(&past));
    assert_eq!(edit(&twice, deny), Err(NotEdited::There));
    assert_eq!(edit(&twice, Edit { is_removal: true, ..deny }), Ok(format!("deny = [\"{GIT}\"]\n")));
}

#[test]
fn what_cannot_be_changed_is_an_error_and_changes_nothing() {
    let add = |text, pattern| edit(text, change(Verdict::Allow, pattern, None, false));
    assert_eq!(add("allow = [\"Bash(git *)\"]", GIT), Err(NotEdited::There));
    assert_eq!(edit("", change(Verdict::Allow, GIT, None, true)), Err(NotEdited::NotThere));
    assert!(matches!(add("", "Bash(git"), Err(NotEdited::NoPattern(_))));
    assert!(matches!(add("allow = [", GIT), Err(NotEdited::Malformed(_))));
    assert!(matches!(add("\nallow = 1", GIT), Err(NotEdited::Malformed(said)) if said.starts_with("line 2: ")));
    let inline = "agent = { one = { deny = [\"Edit\"] } }\n";
    assert_eq!(edit(inline, change(Verdict::Allow, GIT, Some("one"), false)), Err(NotEdited::ByHand));
    // A wrong entry can be taken out.
    assert_eq!(edit("deny = [\"Bash(x\"]\n", change(Verdict::Deny, "Bash(x", None, true)).unwrap(), "deny = []\n");
}

#[test]
fn a_pattern_with_quotes_comes_back_as_it_was() {
    let pattern = "Bash(git commit -m \"a 'b' \\\\ c\")";
    let edited = edit("", change(Verdict::Ask, pattern, None, false)).unwrap();
    assert_eq!(load(&edited, "", Trust::Full).rules.iter().next().unwrap().pattern, pattern);
}
