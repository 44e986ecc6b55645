//! Rules, lines of shells, and files of rules.

use acp_tui::base::paths::normalize;
use acp_tui::rules::{Edit, Kind, NotEdited, Request, RuleRef, Rules, Subject, Tool, Trust, Verdict};
use acp_tui::rules::{check, edit, load, propose, verdict};
use std::panic::{set_hook, take_hook};
use std::path::{Path, PathBuf};
use std::sync::Once;

const ROOT: &str = "/w";

fn rule(list: Verdict, pattern: &str) -> RuleRef {
    let pattern = pattern.to_owned();
    RuleRef { list, pattern, reason: None, agent: None, until: None, file: "rules.toml".into(), line: 1 }
}

fn with_request<T>(tool: &str, text: &str, look: impl FnOnce(&Request<'_>) -> T) -> T {
    let tool = Tool::named(tool).expect("a tool of ours");
    let path = [Path::new(text)];
    let subject = match tool.kind {
        Kind::Bash => Subject::Line(text),
        Kind::Read | Kind::Edit => Subject::Paths(&path),
        _ => Subject::Text(text),
    };
    look(&Request {
        tool: &tool,
        subject,
        cwd: Path::new(ROOT),
        roots: &[PathBuf::from(ROOT)],
        home: Some(Path::new("/home/me")),
        agent: None,
        now: 0,
        ours: &[PathBuf::from("/home/me/.config/acp-tui")],
        state: None,
        links: &|path| Some(normalize(path)),
        is_above: &|path| path.extension().is_none(),
        names: &|path| {
            Some(if path == Path::new(ROOT) { vec![".env".into(), "a.rs".into(), "-n".into()] } else { Vec::new() })
        },
        holds_key: &|path| path.starts_with("/w/keys"),
    })
}

fn judged(rules: &Rules, tool: &str, text: &str) -> Verdict {
    with_request(tool, text, |request| verdict(rules, request).0)
}

/// The first line is what a pattern allows, the second what another one denies or asks about, the rest a line of a shell.
/// A further deny or ask never allows more, nothing is allowed without a rule, and a denied command stays denied or asked
/// about whatever stands before it.
pub fn shell(data: &[u8]) {
    forgive_the_parser();
    let Ok(text) = std::str::from_utf8(data) else { return };
    let mut parts = text.splitn(3, '\n');
    let (Some(allow), Some(deny), Some(line)) = (parts.next(), parts.next(), parts.next()) else { return };
    let mut rules = Rules::default();
    assert!(line.trim().is_empty() || judged(&rules, "Bash", line) != Verdict::Deny, "denied without a rule");
    for pattern in [format!("Bash({allow})"), "Edit(sub/**)".into(), "Read(src/**)".into()] {
        let _ = rules.add(rule(Verdict::Allow, &pattern));
    }
    let before = judged(&rules, "Bash", line);
    for list in [Verdict::Ask, Verdict::Deny] {
        let mut more = rules.clone();
        let _ = more.add(rule(list, &format!("Bash({deny})")));
        let after = judged(&more, "Bash", line);
        assert!(after >= before, "{before:?} became {after:?}: {list:?} Bash({deny})");
    }
    let mut denied = rules.clone();
    denied.add(rule(Verdict::Deny, "Bash(zap *)")).expect("a pattern");
    let after = judged(&denied, "Bash", &format!("{line}\nzap x"));
    assert!(after != Verdict::Allow || is_open(line), "a command behind the line was not seen");
}

/// The library that parses lines panics at some of them, and the program catches that. Here a panic is an end, but for that one.
fn forgive_the_parser() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let ends = take_hook();
        set_hook(Box::new(move |panic| {
            if !panic.location().is_some_and(|place| place.file().contains("brush-parser")) {
                ends(panic);
            }
        }));
    });
}

/// What follows may not be a command of its own: a comment, a quotation or a word goes on.
fn is_open(line: &str) -> bool {
    line.contains(['\\', '<', '\'', '"', '`', '#', '(', '{', '$'])
}

/// A file that may only narrow allows nothing, a deny that cannot be read makes its tool ask, what is proposed for a request
/// allows it or is refused for a reason, and a pattern that is added to a file is read again.
pub fn patterns(data: &[u8]) {
    forgive_the_parser();
    let Some((how, text)) = crate::numbered(data) else { return };
    let tool = ["Bash", "Read", "Edit", "Fetch", "Mcp"][usize::from(how % 5)];
    let narrow = load(text, "rules.toml", Trust::OnlyNarrow).rules;
    for (tool, text) in [("Bash", "ls"), ("Read", "src/a"), ("Edit", "src/a"), ("Fetch", "https://docs.rs/")] {
        assert_ne!(judged(&narrow, tool, text), Verdict::Allow, "{tool} {text} by a file that may not allow");
    }
    let pattern = format!("{tool}({text})");
    let mut rules = Rules::default();
    rules.add(rule(Verdict::Allow, tool)).expect("a tool alone");
    rules.add(rule(Verdict::Allow, &format!("{tool}(**)"))).ok();
    let is_read = check(&pattern).is_ok();
    assert_eq!(rules.add(rule(Verdict::Deny, &pattern)).is_ok(), is_read);
    if !is_read {
        assert_ne!(judged(&rules, tool, "src/a"), Verdict::Allow, "a deny that cannot be read");
    }
    for proposed in with_request(tool, text, propose).into_iter().flatten() {
        check(&proposed).expect("what is proposed is a pattern");
    }
    let change =
        Edit { list: Verdict::Allow, pattern: &pattern, agent: None, reason: None, until: None, is_removal: false };
    match edit("# a comment\ndeny = []\n", change) {
        Ok(file) => {
            let again = load(&file, "rules.toml", Trust::Full);
            assert!(again.malformed.is_none() && again.rules.iter().any(|rule| rule.pattern == pattern), "{file}");
            let gone = edit(&file, Edit { is_removal: true, ..change }).expect("what was added can be removed");
            assert!(load(&gone, "rules.toml", Trust::Full).rules.iter().next().is_none(), "{gone}");
        }
        Err(NotEdited::NoPattern(_)) => assert!(!is_read),
        Err(error) => panic!("{error}: {pattern:?}"),
    }
    // Files of any kind.
    let _ = edit(text, change);
    let _ = acp_tui::text::pattern::is_in(text, "src/main.rs");
}
