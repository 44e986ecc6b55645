//! Tests of `load`.

use proptest::prelude::*;

use super::*;
use crate::base::inherited::Inherited;

fn said(text: &str) -> Vec<String> {
    load(text, "config.toml").1.iter().map(ToString::to_string).collect()
}

#[test]
fn a_whole_file() {
    let text = r#"
default_agent = "mine"
theme = "dark"
gate = "hold"
status_command = ["my-status", "--short"]
[sessions]
keep = { count = 500, days = 90, mib = 2_048 }
[agents.mine]
command = "/opt/agent"
args = ["--acp", "-v"]
env = { KEY = "value" }
[agents."two words"]
command = "x"
"#;
    let (config, warnings) = load(text, "config.toml");
    assert_eq!(warnings, []);
    assert_eq!(config.default_agent.as_deref(), Some("mine"));
    assert_eq!(config.theme.as_deref(), Some("dark"));
    assert_eq!(config.gate.as_deref(), Some("hold"));
    assert_eq!(config.status_command, Some(vec!["my-status".to_owned(), "--short".to_owned()]));
    assert_eq!(config.keep, Keep { count: Some(500), days: Some(90), mib: Some(2048) });
    let mine = &config.agents["mine"];
    assert_eq!((mine.command.as_str(), mine.args.len(), mine.env["KEY"].as_str()), ("/opt/agent", 2, "value"));
    assert!(config.agents.contains_key("two words"));
    assert_eq!(load("", "config.toml"), (Config::default(), Vec::new()));
}

#[test]
fn unknown_keys_say_what_is_allowed_and_the_rest_applies() {
    let text = "colour = \"red\"\ntheme = \"light\"\n[agents.a]\ncommand = \"a\"\ncwd = \"/\"\n";
    let (config, _) = load(text, "config.toml");
    assert_eq!(config.theme.as_deref(), Some("light"));
    assert_eq!(config.agents["a"].command, "a");
    assert_eq!(
        said(text),
        [
            "config.toml:1: unknown key \"colour\"; allowed: default_agent, theme, screen, on_exit, ambiguous_width, gate, decision_hook, env_only, env_without, protocol, dialect, unstable, keep_form_answers, budget, notify, status_command, sessions, agents, mcp",
            "config.toml:5: unknown key \"cwd\" in [agents.a]; allowed: command, args, env, env_only, env_without, protocol, dialect, framing, url, transport, headers, files, terminals, sandbox, sandbox_write, sandbox_read, sandbox_connect, sandbox_listen, mcp",
        ]
    );
}

#[test]
fn the_columns_of_ambiguous_characters_are_a_number_or_a_word() {
    let of = |value: &str| load(&format!("ambiguous_width = {value}"), "config.toml").0.ambiguous_is_wide;
    assert_eq!(
        ["1", "2", "\"1\"", "\"2\"", "\"auto\""].map(of),
        [Some(false), Some(true), Some(false), Some(true), None]
    );
    assert_eq!(said("ambiguous_width = 3"), ["config.toml:1: ambiguous_width has to be one of auto, 1, 2"]);
}

mod bad_values_say_what_is_allowed {
    use super::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(said(text), [expected]);
    }

    cases! {
        check {
            theme_is_a_number:
                "theme = 3",
                "config.toml:1: theme is a number; allowed: a string, the name of a theme";
            protocol_is_a_number:
                "protocol = 2",
                "config.toml:1: protocol is a number; allowed: a string, one of auto, 1, 2";
            dialect_is_not_known:
                "dialect = \"d1\"",
                "config.toml:1: dialect is \"d1\"; allowed: auto, canonical, d0, d3, d4";
            s_067_framing_is_not_known:
                "[agents.x]\ncommand = \"x\"\nframing = \"lsp\"",
                "config.toml:3: agents.x.framing is \"lsp\"; allowed: ndjson, content-length, auto";
            an_agent_has_a_command_and_a_url:
                "[agents.x]\ncommand = \"x\"\nurl = \"unix:/a\"",
                "config.toml:1: [agents.x] has a command and a url; only the url counts";
            files_are_a_word:
                "[agents.x]\nurl = \"unix:/a\"\nfiles = \"yes\"",
                "config.toml:3: agents.x.files is a string; allowed: true, false";
            protocol_of_an_agent_is_not_known:
                "[agents.x]\ncommand = \"x\"\nprotocol = \"3\"",
                "config.toml:3: agents.x.protocol is \"3\"; allowed: auto, 1, 2";
            keep_is_a_number:
                "[sessions]\nkeep = 5",
                "config.toml:2: keep is a number; allowed: a table, { count = 500, days = 90 }";
            keep_counts_nothing:
                "[sessions]\nkeep = { count = 0 }",
                "config.toml:2: keep.count is a number; allowed: a number from 1";
            keep_of_another_sort:
                "[sessions]\nkeep = { weeks = 1 }",
                "config.toml:2: unknown key \"weeks\" in keep; allowed: count, days, mib";
            sessions_hold_something_else:
                "[sessions]\nlose = true",
                "config.toml:2: unknown key \"lose\" in [sessions]; allowed: keep";
            default_agent_is_empty:
                "\ndefault_agent = \"\"",
                "config.toml:2: default_agent is empty; allowed: a string, the name of an agent";
            gate_is_no_string:
                "gate = true",
                "config.toml:1: gate is true or false; allowed: a string, one of off, ask, hold";
            gate_is_another_word:
                "gate = \"on\"",
                "config.toml:1: gate is \"on\"; allowed: off, ask, hold";
            agents_is_a_list:
                "agents = []",
                "config.toml:1: agents is a list; allowed: tables, [agents.NAME]";
            an_agent_is_no_table:
                "agents.x = true",
                "config.toml:1: agents.x is true or false; allowed: a table with command, args, env, env_only, env_without, protocol, dialect, framing, url, transport, headers, files, terminals, sandbox, sandbox_write, sandbox_read, sandbox_connect, sandbox_listen, mcp";
            no_command:
                "[agents.x]\nargs = []",
                "config.toml:1: [agents.x] has no command; it needs: command = \"program\", or url";
            command_is_a_list:
                "[agents.x]\ncommand = [\"a\"]",
                "config.toml:2: agents.x.command is a list; allowed: a string, a program";
            env_is_a_number:
                "agents.x = { command = \"a\", env = 1 }",
                "config.toml:1: agents.x.env is a number; allowed: a table of strings, { NAME = \"value\" }";
            a_variable_is_a_number:
                "[agents.x]\ncommand = \"a\"\nenv.A = 1",
                "config.toml:3: agents.x.env.A is a number; allowed: a string without NUL";
            a_variable_cannot_be_named_so:
                "[agents.x]\ncommand = \"a\"\nenv.\"A=B\" = \"1\"",
                "config.toml:3: \"A=B\" cannot be a name in agents.x.env";
            args_holds_a_number:
                "[agents.x]\ncommand = \"a\"\nargs = [\n\"a\",\n1]",
                "config.toml:5: agents.x.args holds a number; allowed: a list of strings, [\"--flag\", \"value\"]";
        }
    }
}

#[test]
fn a_syntax_error_names_its_line_and_the_rest_applies() {
    let text = "theme = \"dark\"\ndefault_agent = = \"x\"\n[agents.a]\ncommand = \"a\"\n";
    let (config, warnings) = load(text, "config.toml");
    assert_eq!(config.theme.as_deref(), Some("dark"));
    assert!(warnings[0].to_string().starts_with("config.toml:2: not valid TOML: "), "{}", warnings[0]);
}

#[test]
fn the_documented_file_changes_nothing_and_names_every_key() {
    assert_eq!(load(DEFAULT, "config.toml"), (Config::default(), Vec::new()));
    for key in KEYS.iter().chain(&AGENT_KEYS) {
        assert!(DEFAULT.contains(key), "{key}");
    }
    // With the comment signs of its examples taken away it is a valid file.
    let examples: String = DEFAULT
        .lines()
        .map(|l| l.strip_prefix("#").filter(|l| !l.starts_with(' ')).unwrap_or(""))
        .fold(String::new(), |mut all, line| {
            all.push_str(line);
            all.push('\n');
            all
        });
    let (config, warnings) = load(&examples, "config.toml");
    assert_eq!(warnings, []);
    assert!(config.default_agent.is_some() && config.theme.is_some());
    assert!(config.agents.values().any(|a| !a.args.is_empty() && !a.env.is_empty()));
}

#[test]
fn files_that_cannot_be_read() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(load_file(&dir.path().join("none.toml")), (Config::default(), Vec::new()));
    let warning = |path: &Path| load_file(path).1[0].to_string();
    assert!(warning(dir.path()).ends_with("cannot be read, the defaults apply: it is not a regular file"));
    let path = dir.path().join("config.toml");
    std::fs::write(&path, b"theme = \"\xff\"").unwrap();
    assert_eq!(warning(&path), "config.toml: cannot be read, the defaults apply: it is not UTF-8");
    std::fs::write(&path, vec![b'#'; (1 << 20) + 1]).unwrap();
    assert!(warning(&path).ends_with("it is larger than 1 MiB"));
    std::fs::write(&path, "\ntheme = 1").unwrap();
    assert!(warning(&path).starts_with("config.toml:2: theme is a number"));
    assert!(warning(&path.join("below")).starts_with("below: cannot be read"));
}

proptest! {
    #[test]
    fn any_file_is_survived(text in "(\\PC|[\n\"=\\[\\]{}.]|agents|theme|command|\n\\[agents.a\\]\n){0,40}") {
        let _ = load(&text, "config.toml");
    }
}

#[test]
fn what_limits_a_sandbox_is_a_list_or_all_and_what_is_neither_allows_nothing() {
    let text = "[agents.a]\ncommand = \"a\"\nsandbox_read = [\"/usr\"]\nsandbox_connect = [443, 70000, \"x\"]\nsandbox_listen = \"all\"\n\
                [agents.b]\ncommand = \"b\"\nsandbox_read = \"all\"\nsandbox_connect = \"none\"\nsandbox_listen = 1\n";
    let (config, warnings) = load(text, "config.toml");
    let [a, b] = ["a", "b"].map(|name| config.agents[name].sandbox.clone());
    assert_eq!((a.readable, a.connects, a.listens), (Some(vec!["/usr".to_owned()]), Some(vec![443]), None));
    assert_eq!((b.readable, b.connects, b.listens), (None, Some(Vec::new()), Some(Vec::new())));
    assert_eq!(warnings.len(), 4, "{warnings:?}");
}

#[test]
fn what_agents_get_of_the_environment_is_said_of_all_and_of_one() {
    let text = "env_without = [\"*_TOKEN\"]\n[agents.a]\ncommand = \"a\"\nenv_only = [\"A_KEY\"]\nenv_without = [\"B\"]\n\
                [agents.b]\ncommand = \"b\"\n[agents.c]\ncommand = \"c\"\nenv_only = \"all\"\n";
    let (config, warnings) = load(text, "config.toml");
    let listed = crate::config::agents::list(&config);
    let of = |id: &str| listed.iter().find(|listed| listed.id == id).unwrap().agent.inherited.clone();
    let (only, without) = (Some(vec!["A_KEY".to_owned()]), vec!["B".to_owned(), "*_TOKEN".to_owned()]);
    assert_eq!(of("a"), Inherited { only, without });
    for id in ["b", "gemini"] {
        assert_eq!(of(id), Inherited { only: None, without: vec!["*_TOKEN".to_owned()] }, "{id}");
    }
    assert_eq!(of("c").only, Some(Vec::new()), "what cannot be read lets nothing through");
    assert_eq!(warnings.len(), 1, "{warnings:?}");
}

#[test]
fn which_servers_an_agent_is_given_is_said_also_of_one_that_is_known_otherwise() {
    let text =
        "[agents.a]\ncommand = \"a\"\nmcp = [\"db\", \"docs\"]\n[agents.b]\nmcp = false\n[agents.c]\nmcp = true\n";
    let (config, warnings) = load(text, "config.toml");
    assert_eq!(warnings, []);
    assert_eq!(config.agents.keys().collect::<Vec<_>>(), ["a"]);
    let only = [("a", vec!["db", "docs"]), ("b", vec![])];
    let only = only.map(|(agent, names)| (agent.to_owned(), names.into_iter().map(str::to_owned).collect()));
    assert_eq!(config.only_mcp, BTreeMap::from(only));
    let (config, warnings) = load("[agents.d]\nmcp = [\"db\", 1]\n", "config.toml");
    let said = "config.toml:2: agents.d.mcp is a list; allowed: true, false, or a list of names, [\"tracker\"]";
    assert_eq!(warnings[0].to_string(), said);
    assert_eq!(config.only_mcp["d"], Vec::<String>::new());
}
