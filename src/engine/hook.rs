//! The decision hook: a program of the person's that is asked about what rules allow or leave to the person.
//!
//! Waits for the program, so it is for threads that may. Invariants: a hook never changes a deny of the rules; without a
//! clear answer the person is asked.

use super::real_paths::real_path;
use crate::base::paths::normalize;
use crate::base::sanitize;
use crate::host::process::ask_hook;
use crate::model::claims::{Claimed, Claims};
use crate::model::question::Outside;
use crate::model::ruling::{Ruled, Ruling};
use crate::rules::{self, Subject};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long it may think.
const PATIENCE: Duration = Duration::from_secs(5);
/// Characters of its reason that are passed on.
const MAX_REASON: usize = 500;
/// Files that it is told the real places of.
const MAX_LINKS: usize = 50;

#[derive(Clone, Debug)]
pub struct Hook {
    /// A program and its arguments.
    words: Vec<String>,
    patience: Duration,
}

impl Hook {
    pub fn new(words: Vec<String>) -> Self {
        Self { words, patience: PATIENCE }
    }

    /// The files that it consists of, as far as its words name them.
    pub(super) fn files(&self) -> impl Iterator<Item = PathBuf> {
        let named = self.words.iter().filter(|word| word.contains('/')).map(Path::new);
        named.filter_map(|path| path.canonicalize().ok()).filter(|path| path.is_file())
    }

    /// Whether it is asked about what the rules say this of. A read inside that no rule is for is served without a
    /// question, so nothing of it is left to a hook.
    pub(super) fn is_for(ruling: &Ruling, is_service_read: bool) -> bool {
        let is_served = is_service_read && ruling.outside.is_empty();
        ruling.verdict == Ruled::Allow || ruling.verdict != Ruled::Deny && !is_served
    }

    /// What the rules and the hook say together, and what is wrong with the hook.
    pub(super) fn ruling(
        &self,
        agent: Option<&str>,
        cwd: &Path,
        claims: &Claims,
        ruling: Ruling,
    ) -> (Ruling, Option<String>) {
        let (links, is_all) = links(cwd, claims);
        let request = json!({
            "agent": agent,
            "cwd": cwd.to_string_lossy(),
            "request": claims,
            "outside": ruling.outside,
            "links": links,
            "rules": { "verdict": ruling.verdict.name(), "rule": ruling.rule, "place": ruling.place },
        });
        let answer = match ask_hook(&self.words, &request, self.patience) {
            Ok(answer) => answer,
            Err(error) => {
                let why = format!("the decision hook {}: {error}", self.words.first().map_or("", String::as_str));
                return (combined(ruling, Ruled::Ask, None), Some(why));
            }
        };
        let (said, reason, why) = match read(&answer) {
            Ok((said, reason)) => (Some(said), reason, None),
            Err(why) => (None, None, Some(format!("the decision hook's answer has {why}"))),
        };
        // It does not know all that it allows.
        let is_short = !is_all && said == Some(Ruled::Allow);
        let why = why.or_else(|| {
            is_short.then(|| {
                format!("more than {MAX_LINKS} files are named by links, more than the decision hook is told of")
            })
        });
        let said = said.filter(|_| !is_short);
        (combined(ruling, said.unwrap_or(Ruled::Ask), reason), why)
    }
}

/// Files that are named by a path with links in it, those of commands too, and where they really are; whether that is all.
fn links(cwd: &Path, claims: &Claims) -> (Vec<Outside>, bool) {
    let begins = claims.cwd.as_ref().map_or_else(|| cwd.to_owned(), |dir| cwd.join(dir));
    let words = claims.all.iter().flat_map(|claim| match &claim.what {
        Claimed::Line(line) => rules::words(Subject::Line(line)),
        Claimed::Words(words) => rules::words(Subject::Words(words)),
        Claimed::Paths(_) | Claimed::Text(_) | Claimed::Unknown => Vec::new(),
    });
    // What begins elsewhere by itself is no link of a command's.
    let real_begins = real_path(&begins).unwrap_or_else(|| begins.clone());
    let led_word = |word: String| {
        let real = real_path(&real_begins.join(&word));
        let is_plain = real.as_deref() == Some(&*normalize(&real_begins.join(&word)));
        (!is_plain).then(|| Outside { path: word, real: real.map(|real| real.to_string_lossy().into_owned()) })
    };
    let led = |path: &String| {
        let plain = begins.join(path.strip_prefix("file://").unwrap_or(path));
        let real = real_path(&plain).map(|real| real.to_string_lossy().into_owned());
        (real.as_deref() != plain.to_str()).then(|| Outside { path: path.clone(), real })
    };
    let mut all: Vec<Outside> = Vec::new();
    for link in claims.files.iter().filter_map(led).chain(words.filter_map(led_word)) {
        if all.len() == MAX_LINKS {
            return (all, false);
        }
        if !all.contains(&link) {
            all.push(link);
        }
    }
    (all, true)
}

/// What it says and why, or what is wrong with it.
fn read(answer: &Value) -> Result<(Ruled, Option<String>), &'static str> {
    let said = match answer.get("verdict").and_then(Value::as_str) {
        Some("allow") => Ruled::Allow,
        Some("ask") => Ruled::Ask,
        Some("deny") => Ruled::Deny,
        _ => return Err("no verdict allow, ask or deny"),
    };
    let reason = match answer.get("reason") {
        None => None,
        Some(Value::String(reason)) => Some(reason).filter(|reason| !reason.trim().is_empty()),
        Some(_) => return Err("a reason that is no text"),
    };
    Ok((said, reason.map(|reason| sanitize::line(reason).chars().take(MAX_REASON).collect())))
}

/// The rule that allows stays the one that has, and what no mode allows stays the person's to allow; all else is the hook's.
pub(super) fn combined(ruling: Ruling, said: Ruled, reason: Option<String>) -> Ruling {
    let is_final = ruling.verdict == Ruled::Allow || ruling.secret.is_some();
    if ruling.verdict == Ruled::Deny || is_final && said == Ruled::Allow {
        return ruling;
    }
    // A mode in which nothing is changed needs to know whether it does.
    let extent = ruling.extent.filter(|_| said == Ruled::Allow);
    Ruling { verdict: said, reason, by_hook: true, outside: ruling.outside, extent, ..Ruling::OPEN }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::claims::Claim;
    use crate::model::ruling::Secret;

    #[test]
    fn it_narrows_what_rules_allow_and_allows_only_what_they_leave_at_ask() {
        use Ruled::{Allow, Ask, Deny, Open};
        let rows = [
            (Allow, Allow, Allow, false),
            (Allow, Ask, Ask, true),
            (Allow, Deny, Deny, true),
            (Open, Allow, Allow, true),
            (Open, Deny, Deny, true),
            (Ask, Allow, Allow, true),
            (Ask, Ask, Ask, true),
            (Deny, Allow, Deny, false),
            (Deny, Ask, Deny, false),
        ];
        for (rules, hook, together, by_hook) in rows {
            let ruling = combined(Ruling { verdict: rules, ..Ruling::OPEN }, hook, None);
            assert_eq!((ruling.verdict, ruling.by_hook), (together, by_hook), "{rules:?} {hook:?}");
        }
        let held = Ruling { verdict: Ask, secret: Some(Secret::of("it is one")), ..Ruling::OPEN };
        for (hook, together, by_hook) in [(Allow, Ask, false), (Ask, Ask, true), (Deny, Deny, true)] {
            let ruling = combined(held.clone(), hook, None);
            assert_eq!((ruling.verdict, ruling.by_hook), (together, by_hook), "a secret, {hook:?}");
        }
        assert!(!Hook::is_for(&Ruling { verdict: Deny, ..Ruling::OPEN }, false), "a deny is final");
        assert!(!Hook::is_for(&Ruling::OPEN, true), "a served read");
        let outside = vec![Outside { path: "/etc/x".into(), real: Some("/etc/x".into()) }];
        assert!(Hook::is_for(&Ruling { outside, ..Ruling::OPEN }, true), "one that the person would be asked about");
    }

    fn asked(script: &str, patience: Duration) -> (Ruling, Option<String>) {
        let words = ["sh", "-c", script].map(str::to_owned).to_vec();
        let claims = Claims::of_file("write", "/p/new");
        Hook { words, patience }.ruling(Some("mine"), Path::new("/p"), &claims, Ruling::OPEN)
    }

    #[test]
    fn it_is_told_where_a_link_leads() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("secret")).unwrap();
        std::os::unix::fs::symlink("secret", root.join("link")).unwrap();
        let file = |name: &str| Claims::of_file("write", &root.join(name).to_string_lossy());
        let real = root.join("secret/new").to_string_lossy().into_owned();
        assert_eq!(links(&root, &file("link/new")).0.first().and_then(|link| link.real.clone()), Some(real.clone()));
        assert_eq!(links(&root, &file("secret/new")), (Vec::new(), true));
        let line = |line: &str| Claims {
            all: vec![Claim { what: Claimed::Line(line.into()), ..bash() }],
            ..Claims::default()
        };
        for text in
            ["cp a link/new", "timeout 5 cp a link/new", "sh -c 'cp a link/new'", "x > link/new", "foo --out=link/new"]
        {
            let (told, is_all) = links(&root, &line(text));
            assert_eq!(told, [Outside { path: "link/new".into(), real: Some(real.clone()) }], "{text}");
            assert!(is_all);
        }
        assert_eq!(links(&root, &line("git commit -m 'a/b c' && cp a secret/new")), (Vec::new(), true));
        let words = Claimed::Words(["cp", "a", "link/new"].map(str::to_owned).to_vec());
        let told = links(&root, &Claims { all: vec![Claim { what: words, ..bash() }], ..Claims::default() }).0;
        assert_eq!(told.len(), 1);
    }

    fn bash() -> Claim {
        Claim { tool: "bash".into(), what: Claimed::Unknown, only_narrows: false, is_guess: false }
    }

    #[test]
    fn what_names_more_links_than_it_is_told_of_it_cannot_allow() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        std::os::unix::fs::symlink("elsewhere", root.join("link")).unwrap();
        let hook = Hook::new(["sh", "-c", r#"echo '{"verdict":"allow"}'"#].map(str::to_owned).to_vec());
        let ruled = |count: usize| {
            let files: Vec<String> = (0..count).map(|number| format!("link/{number}")).collect();
            let claims = Claims { files, ..Claims::default() };
            let (ruling, fault) = hook.ruling(None, &root, &claims, Ruling::OPEN);
            (ruling.verdict, fault.is_some())
        };
        assert_eq!(ruled(MAX_LINKS), (Ruled::Allow, false));
        assert_eq!(ruled(MAX_LINKS + 1), (Ruled::Ask, true));
    }

    #[test]
    fn a_hook_is_given_one_object_and_answers_with_one() {
        let long = Duration::from_mins(1);
        let script = r#"read line; case "$line" in *'"agent":"mine"'*'/p/new'*) echo '{"verdict":"allow"}';; esac"#;
        let (ruling, fault) = asked(script, long);
        assert_eq!((ruling.verdict, ruling.by_hook, fault), (Ruled::Allow, true, None));
        let (ruling, _) = asked(r#"[ "$(pwd)" = / ] && echo '{"verdict":"allow"}'"#, long);
        assert_eq!(ruling.verdict, Ruled::Allow, "not in the directory in which the agent works");
        let (ruling, fault) = asked(r#"echo '{"verdict":"deny","reason":"not\u001b[2J here"}'"#, long);
        assert_eq!((ruling.verdict, fault), (Ruled::Deny, None));
        assert!(ruling.reason.is_some_and(|reason| reason.contains("here") && !reason.contains('\u{1b}')));
        for silence in ["true", "kill -9 $$", "echo '{\"verdict\":'"] {
            let fault = asked(silence, long).1;
            assert!(fault.is_some_and(|fault| fault.contains("ended without an answer")), "{silence}");
        }
        for garbage in
            ["true", "echo yes", r#"echo '{"verdict":"ALLOW"}'"#, r#"echo '["allow"]'"#, "echo '{\"verdict\":'"]
        {
            let (ruling, fault) = asked(garbage, long);
            assert_eq!(ruling.verdict, Ruled::Ask, "{garbage}");
            assert!(fault.is_some(), "{garbage}");
        }
    }

    #[test]
    fn it_is_told_what_lies_outside_and_where_links_lead() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("elsewhere")).unwrap();
        std::os::unix::fs::symlink("elsewhere", root.join("link")).unwrap();
        let asked = |told: &str, path: &str, outside: Vec<Outside>| {
            let script = format!(
                r#"read line; case "$line" in *'{told}'*) echo '{{"verdict":"allow"}}';; *) echo '{{"verdict":"deny"}}';; esac"#
            );
            let hook = Hook::new(["sh", "-c", &script].map(str::to_owned).to_vec());
            let claims = Claims::of_file("write", path);
            hook.ruling(None, &root, &claims, Ruling { outside, ..Ruling::OPEN }).0.verdict
        };
        let told = r#""links":[{"path":"link/x","real":""#;
        assert_eq!((asked(told, "link/x", Vec::new()), asked(told, "a/x", Vec::new())), (Ruled::Allow, Ruled::Deny));
        let outside = vec![Outside { path: "../x".into(), real: Some("/there/x".into()) }];
        let told = r#""outside":[{"path":"../x","real":"/there/x""#;
        assert_eq!((asked(told, "../x", outside), asked(told, "../x", Vec::new())), (Ruled::Allow, Ruled::Deny));
    }

    #[test]
    fn what_is_not_exactly_one_object_and_an_end_without_an_error_is_no_answer() {
        for (script, why) in [
            (r#"echo '{"verdict":"allow"}'; exit 3"#, "ended with an error"),
            (r#"echo '{"verdict":"allow"}'; kill -9 $$"#, "ended with an error"),
            (r#"echo '{"verdict":"allow"} trailing'"#, "more than one JSON object"),
            (r#"echo '{"verdict":"allow"}{"verdict":"deny"}'"#, "more than one JSON object"),
            (r#"echo 'warning: x'; echo '{"verdict":"allow"}'"#, "no JSON"),
            (r#"echo '{"verdict":"deny","verdict":"allow"}'"#, "twice"),
            (r#"echo '{"verdict":"allow","verdict":"allow"}'"#, "twice"),
            (r#"echo '{"verdict":"allow","reason":{"a":1}}'"#, "a reason that is no text"),
            (r#"echo '{"verdict":"allow","reason":null}'"#, "a reason that is no text"),
        ] {
            let (ruling, fault) = asked(script, Duration::from_mins(1));
            assert_eq!(ruling.verdict, Ruled::Ask, "{script}");
            assert!(fault.as_ref().is_some_and(|fault| fault.contains(why)), "{script}: {fault:?}");
        }
        let (ruling, fault) = asked(r#"echo; echo '  {"verdict":"allow"}  '; echo"#, Duration::from_mins(1));
        assert_eq!((ruling.verdict, fault), (Ruled::Allow, None), "blanks are nothing");
        let (ruling, fault) =
            asked(r#"echo '{"verdict":"allow"}'; exec >&-; exec sleep 1000"#, Duration::from_millis(500));
        assert_eq!(ruling.verdict, Ruled::Ask);
        assert!(fault.is_some_and(|fault| fault.contains("not answered within")), "it has to end, too");
    }

    #[test]
    fn one_that_is_not_there_or_takes_too_long_leaves_it_to_the_person() {
        let (ruling, fault) = asked("exec sleep 1000", Duration::from_millis(20));
        assert_eq!(ruling.verdict, Ruled::Ask);
        assert!(fault.is_some_and(|fault| fault.contains("not answered within")));
        let hook = Hook::new(vec!["/no/such/program".to_owned()]);
        let (ruling, fault) = hook.ruling(None, Path::new("/"), &Claims::default(), Ruling::OPEN);
        assert_eq!(ruling.verdict, Ruled::Ask);
        assert!(fault.is_some_and(|fault| fault.contains("/no/such/program")));
    }
}
