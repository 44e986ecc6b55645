//! The decision hook: a program of the person's that is asked about what rules allow or leave to the person.
//!
//! Waits for the program, so it is for threads that may. Invariants: a hook never changes a deny of the rules; without a
//! clear answer the person is asked.

use super::real_paths::real_path;
use crate::base::sanitize;
use crate::host::process::ask_hook;
use crate::model::claims::Claims;
use crate::model::question::Outside;
use crate::model::ruling::{Ruled, Ruling};
use serde_json::{Value, json};
use std::path::Path;
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

    /// Whether it is asked about what the rules say this of. A read that no rule is for is served without a question, so
    /// nothing of it is left to a hook.
    pub(super) fn is_for(ruling: &Ruling, is_service_read: bool) -> bool {
        ruling.verdict == Ruled::Allow || ruling.verdict != Ruled::Deny && !is_service_read
    }

    /// What the rules and the hook say together, and what is wrong with the hook.
    pub(super) fn ruling(
        &self,
        agent: Option<&str>,
        cwd: &Path,
        claims: &Claims,
        ruling: Ruling,
    ) -> (Ruling, Option<String>) {
        let request = json!({
            "agent": agent,
            "cwd": cwd.to_string_lossy(),
            "request": claims,
            "outside": ruling.outside,
            "links": links(cwd, claims),
            "rules": { "verdict": ruling.verdict.name(), "rule": ruling.rule, "place": ruling.place },
        });
        let answer = match ask_hook(&self.words, &request, self.patience) {
            Ok(answer) => answer,
            Err(error) => {
                let why = format!("the decision hook {}: {error}", self.words.first().map_or("", String::as_str));
                return (combined(ruling, Ruled::Ask, None), Some(why));
            }
        };
        let (said, reason) = read(&answer);
        let is_understood = said.is_some();
        let why = (!is_understood).then(|| "the decision hook's answer has no verdict allow, ask or deny".to_owned());
        (combined(ruling, said.unwrap_or(Ruled::Ask), reason), why)
    }
}

/// Files that are named by a path with links in it, and where they really are.
fn links(cwd: &Path, claims: &Claims) -> Vec<Outside> {
    let begins = claims.cwd.as_ref().map_or_else(|| cwd.to_owned(), |dir| cwd.join(dir));
    let led = |path: &String| {
        let plain = begins.join(path.strip_prefix("file://").unwrap_or(path));
        let real = real_path(&plain).map(|real| real.to_string_lossy().into_owned());
        (real.as_deref() != plain.to_str()).then(|| Outside { path: path.clone(), real })
    };
    claims.files.iter().filter_map(led).take(MAX_LINKS).collect()
}

fn read(answer: &Value) -> (Option<Ruled>, Option<String>) {
    let said = match answer.get("verdict").and_then(Value::as_str) {
        Some("allow") => Some(Ruled::Allow),
        Some("ask") => Some(Ruled::Ask),
        Some("deny") => Some(Ruled::Deny),
        _ => None,
    };
    let reason = answer.get("reason").and_then(Value::as_str).filter(|reason| !reason.trim().is_empty());
    (said, reason.map(|reason| sanitize::line(reason).chars().take(MAX_REASON).collect()))
}

/// The rule that allows stays the one that has; all else is the hook's.
fn combined(ruling: Ruling, said: Ruled, reason: Option<String>) -> Ruling {
    if ruling.verdict == Ruled::Deny || ruling.verdict == Ruled::Allow && said == Ruled::Allow {
        return ruling;
    }
    Ruling { verdict: said, reason, by_hook: true, outside: ruling.outside, ..Ruling::OPEN }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert!(!Hook::is_for(&Ruling { verdict: Deny, ..Ruling::OPEN }, false), "a deny is final");
        assert!(!Hook::is_for(&Ruling::OPEN, true), "a served read");
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
        assert_eq!(links(&root, &file("link/new")).first().and_then(|link| link.real.clone()), Some(real));
        assert_eq!(links(&root, &file("secret/new")), []);
    }

    #[test]
    fn a_hook_is_given_one_object_and_answers_with_one() {
        let long = Duration::from_mins(1);
        let script = r#"read line; case "$line" in *'"agent":"mine"'*'/p/new'*) echo '{"verdict":"allow"}';; esac"#;
        let (ruling, fault) = asked(script, long);
        assert_eq!((ruling.verdict, ruling.by_hook, fault), (Ruled::Allow, true, None));
        let (ruling, _) = asked(r#"[ "$(pwd)" = / ] && echo '{"verdict":"allow"}'"#, long);
        assert_eq!(ruling.verdict, Ruled::Allow, "not in the directory in which the agent works");
        let (ruling, fault) = asked(r#"echo '{"verdict":"deny","reason":"not\u001b[2J here"}'; exit 3"#, long);
        assert_eq!((ruling.verdict, fault), (Ruled::Deny, None));
        assert!(ruling.reason.is_some_and(|reason| reason.contains("here") && !reason.contains('\u{1b}')));
        for garbage in
            ["true", "echo yes", r#"echo '{"verdict":"ALLOW"}'"#, r#"echo '["allow"]'"#, "echo '{\"verdict\":'"]
        {
            let (ruling, fault) = asked(garbage, long);
            assert_eq!(ruling.verdict, Ruled::Ask, "{garbage}");
            assert!(fault.is_some(), "{garbage}");
        }
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
