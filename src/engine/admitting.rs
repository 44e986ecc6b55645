//! The last word before a file or a directory is used: what it really is, judged.
//!
//! Blocks on the disk, for looking only. Invariant: what is opened is what was judged, not what the path leads to later.

use super::hook::Hook;
use super::refusing;
use super::ruling::RulesInForce;
use crate::host::fs::{FsError, Resolved, Roots};
use crate::model::claims::Claims;
use crate::model::judge::{Deed, Place, Request, Verdict, judge};
use crate::model::refusal::{Refusal, Subject};
use crate::model::ruling::Ruled;
use std::path::Path;

/// What a request names, if that may be used.
pub(super) fn admit(
    roots: &Roots,
    rules: Option<&RulesInForce>,
    request: Request,
    path: impl AsRef<Path>,
) -> Result<Resolved, Refusal> {
    let path = path.as_ref();
    // What the person has seen named and allowed outside.
    let seen = match &request.place {
        Place::Outside(real) if request.is_granted => Some(real.clone()),
        _ => None,
    };
    let (resolved, is_inside) = match roots.check(path) {
        Err(error) => (beyond(roots, rules, &request, (path, seen.as_deref()), error), false),
        Ok(inside) if seen.as_ref().is_some_and(|seen| *seen != inside.real) => {
            (Err(FsError::Outside(path.to_owned())), false)
        }
        inside => (inside, true),
    };
    let request = match rules {
        Some(rules) => again(rules, request, &resolved),
        None => request,
    };
    let place = match &resolved {
        Ok(outside) if !is_inside => Place::Outside(outside.real.clone()),
        resolved => place(resolved),
    };
    match judge(&request.at(place)) {
        Verdict::Allow(_) => resolved.map_err(|error| refusing::file(&error)),
        verdict => Err(verdict.against().refusal(Subject::Path(path.to_string_lossy().into_owned()))),
    }
}

/// A file outside, which can be read or written by the word of a person who has seen this very path, or by a rule.
fn beyond(
    roots: &Roots,
    rules: Option<&RulesInForce>,
    request: &Request,
    (path, seen): (&Path, Option<&Path>),
    error: FsError,
) -> Result<Resolved, FsError> {
    let is_for = matches!(request.deed, Deed::Read(_) | Deed::Write(_))
        && matches!(error, FsError::Outside(_))
        && (request.is_granted || rules.is_some());
    if !is_for {
        return Err(error);
    }
    match roots.anywhere(path) {
        Ok(outside) if request.is_granted && seen != Some(&outside.real) => Err(error),
        found => found,
    }
}

/// With what the rules say of the path that it really is. One that has no name as text keeps what they said before.
fn again(rules: &RulesInForce, request: Request, resolved: &Result<Resolved, FsError>) -> Request {
    let tool = match request.deed {
        Deed::Read(_) => "read",
        Deed::Write(_) => "write",
        Deed::Permission { .. } | Deed::Run(_) => return request,
    };
    let real = resolved.as_ref().ok().and_then(|resolved| resolved.real.to_str());
    let Some(real) = real else { return request };
    let claims = Claims::of_file(tool, real);
    let ruling = rules.ruling(&claims).0;
    let is_same = request.path() == Some(real);
    // What the decision hook has allowed was this very path.
    let is_hooks = is_same && request.ruling.as_ref().is_some_and(|before| before.by_hook);
    if is_hooks && ruling.verdict != Ruled::Deny {
        return request;
    }
    // It was asked about a path that leads to this one, or did not yet.
    let hook = rules.book().hook().filter(|_| !is_same && Hook::is_for(&ruling, tool == "read"));
    let ruling = match hook {
        Some(hook) => hook.ruling(rules.agent(), &rules.cwd(), &claims, ruling).0,
        None => ruling,
    };
    request.ruled(Some(ruling))
}

/// The same as the model knows it.
fn place(resolved: &Result<Resolved, FsError>) -> Place {
    match resolved {
        Ok(resolved) => Place::Inside(Some(resolved.real.clone())),
        Err(error) => Place::Forbidden(refusing::file(error)),
    }
}

/// Where a write would go that the person is to be asked about. What cannot be shown as text is refused.
pub(super) fn place_of_write(roots: &Roots, path: &str) -> Place {
    match roots.check(path) {
        Err(FsError::Outside(asked)) => match roots.anywhere(path) {
            Ok(outside) if outside.real.to_str().is_some() => Place::Outside(outside.real),
            Ok(_) => place(&Err(FsError::Outside(asked))),
            Err(error) => place(&Err(error)),
        },
        found => place(&found),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::rulebook::Rulebook;
    use crate::host::fs::Private;
    use crate::model::changes::Gate;
    use crate::model::judge::Deed;
    use crate::model::refusal::Reason;
    use crate::model::ruling::Ruling;
    use crate::model::session::{Allow, Policy};
    use crate::rules::{RuleRef, Rules, Verdict};
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;
    use tempfile::TempDir;

    fn request(path: &str) -> Request {
        Request { policy: Policy::Auto(Allow::All), is_granted: true, ..Request::of(Deed::Write(path.into())) }
    }

    #[test]
    fn what_leads_out_of_the_workspace_is_refused_whoever_has_allowed_it() {
        let temp = TempDir::new().unwrap();
        let root = temp.path().canonicalize().unwrap().join("ws");
        std::fs::create_dir(&root).unwrap();
        symlink(temp.path(), root.join("way-out")).unwrap();
        let roots = Roots::new(vec![root.clone()]);
        let admitted = |name: &str| {
            let path = root.join(name).to_string_lossy().into_owned();
            admit(&roots, None, request(&path), &path)
        };
        assert_eq!(admitted("in").unwrap().real, root.join("in"));
        assert_eq!(admitted("way-out/secret").unwrap_err().why, Reason::Outside);
        assert_eq!(admit(&roots, None, request("in"), "in").unwrap_err().why, Reason::BadParams);
    }

    #[test]
    fn outside_a_file_is_used_by_the_persons_word_for_its_real_path_or_by_a_rule() {
        let temp = TempDir::new().unwrap();
        let base = temp.path().canonicalize().unwrap();
        let root = base.join("ws");
        std::fs::create_dir_all(&root).unwrap();
        std::fs::create_dir_all(base.join("docs")).unwrap();
        std::fs::write(base.join("docs/a"), "a").unwrap();
        std::fs::write(base.join("b"), "b").unwrap();
        symlink("docs/a", base.join("link")).unwrap();
        let rules = base.join("rules.toml");
        let allow = |tool: &str| format!("\"{tool}({}/docs/**)\"", base.display());
        std::fs::write(&rules, format!("allow = [{}, {}]\n", allow("Read"), allow("Edit"))).unwrap();
        let rules = RulesInForce::new(Rulebook::new(Some(rules), None), root.clone());
        let own = Private::new(vec![base.join("own")]);
        let roots = Roots::new(vec![root.clone()]).without(own);
        for deed in [|path: &str| Deed::Read(path.into()), |path: &str| Deed::Write(path.into())] {
            // `seen`: what the person was shown and has allowed.
            let used = |policy, seen: Option<&str>, name: &str, rules| {
                let path = base.join(name).to_string_lossy().into_owned();
                let place = seen.map_or(Place::Unknown, |seen| Place::Outside(base.join(seen)));
                let request = Request { policy, is_granted: seen.is_some(), ..Request::of(deed(&path)) };
                admit(&roots, rules, request.at(place), &path).map(|file| file.real)
            };
            let asked = |seen, name, rules| used(Policy::Ask, seen, name, rules);
            assert_eq!(asked(Some("b"), "b", None).unwrap(), base.join("b"));
            assert_eq!(asked(Some("b"), "b", Some(&rules)).unwrap(), base.join("b"));
            assert_eq!(asked(Some("link"), "link", Some(&rules)).unwrap_err().why, Reason::Outside, "another path");
            assert_eq!(asked(Some("docs/a"), "b", Some(&rules)).unwrap_err().why, Reason::Outside, "another file");
            assert_eq!(asked(None, "docs/a", Some(&rules)).unwrap(), base.join("docs/a"));
            assert_eq!(asked(None, "link", Some(&rules)).unwrap(), base.join("docs/a"), "where it leads");
            assert!(asked(None, "b", Some(&rules)).is_err(), "nobody has allowed it");
            assert!(asked(None, "docs/a", None).is_err());
            assert!(asked(Some("own/x"), "own/x", Some(&rules)).is_err(), "the client's own");
            let alone = |name, rules| used(Policy::Auto(Allow::All), None, name, rules);
            assert_eq!(alone("docs/a", Some(&rules)).unwrap(), base.join("docs/a"), "by the rule, with nobody there");
            assert_eq!(alone("link", Some(&rules)).unwrap(), base.join("docs/a"));
            assert_eq!(alone("b", Some(&rules)).unwrap_err().why, Reason::Outside, "no rule names it");
            assert_eq!(alone("docs/a", None).unwrap_err().why, Reason::Outside);
        }
    }

    #[test]
    fn what_was_allowed_inside_does_not_lead_outside_nor_the_other_way_round() {
        let temp = TempDir::new().unwrap();
        let base = temp.path().canonicalize().unwrap();
        let root = base.join("ws");
        std::fs::create_dir_all(&root).unwrap();
        std::fs::create_dir(base.join("x")).unwrap();
        let roots = Roots::new(vec![root.clone()]);
        let write = |path: &Path, place: Place| {
            let path = path.to_string_lossy().into_owned();
            let request = Request { policy: Policy::Ask, ..request(&path) };
            admit(&roots, None, request.at(place), &path).map(|file| file.real)
        };
        let outside = base.join("x/y");
        assert_eq!(write(&outside, Place::Outside(outside.clone())).unwrap(), outside);
        // Its directory has become a link since, into the session's or elsewhere.
        std::fs::remove_dir(base.join("x")).unwrap();
        for elsewhere in ["ws", "z"] {
            symlink(elsewhere, base.join("x")).unwrap();
            assert_eq!(
                write(&outside, Place::Outside(outside.clone())).unwrap_err().why,
                Reason::Outside,
                "{elsewhere}"
            );
            std::fs::remove_file(base.join("x")).unwrap();
        }
        // Asked about as a path that led inside, or as one inside.
        std::fs::create_dir(base.join("x")).unwrap();
        assert_eq!(write(&outside, Place::Unknown).unwrap_err().why, Reason::Outside);
        symlink("../x/y", root.join("in")).unwrap();
        assert_eq!(write(&root.join("in"), Place::Unknown).unwrap_err().why, Reason::Outside);
    }

    #[test]
    fn where_a_write_would_go_is_known_before_it_is_asked_about() {
        use std::os::unix::ffi::OsStrExt as _;
        let temp = TempDir::new().unwrap();
        let base = temp.path().canonicalize().unwrap();
        let root = base.join("ws");
        std::fs::create_dir_all(&root).unwrap();
        symlink("..", root.join("up")).unwrap();
        symlink("loop", base.join("loop")).unwrap();
        symlink(std::ffi::OsStr::from_bytes(b"\xff"), base.join("bytes")).unwrap();
        let roots = Roots::new(vec![root.clone()]).without(Private::new(vec![base.join("own")]));
        let place = |path: PathBuf| place_of_write(&roots, path.to_str().unwrap());
        assert_eq!(place(root.join("in")), Place::Inside(Some(root.join("in"))));
        assert_eq!(place(root.join("up/new/x")), Place::Outside(base.join("new/x")));
        let why = |path| match place(path) {
            Place::Forbidden(why) => Some(why.why),
            _ => None,
        };
        assert_eq!(why(base.join("own/x")), Some(Reason::DeniedByPolicy));
        assert_eq!(why(base.join("loop")), Some(Reason::Outside), "nobody can tell where it leads");
        assert_eq!(why(base.join("bytes")), Some(Reason::Outside), "it cannot be shown");
        assert_eq!(why("in".into()), Some(Reason::BadParams));
    }

    #[test]
    fn a_rule_is_for_what_a_path_leads_to_when_it_is_used() {
        let temp = TempDir::new().unwrap();
        let root = temp.path().canonicalize().unwrap().join("ws");
        std::fs::create_dir_all(root.join("src")).unwrap();
        let rules = temp.path().join("rules.toml");
        std::fs::write(&rules, "allow = [\"Edit(src/**)\"]\ndeny = [\"Edit(secret)\"]\n").unwrap();
        let rules = RulesInForce::new(Rulebook::new(Some(rules), None), root.clone());
        let roots = Roots::new(vec![root.clone()]);
        let path = root.join("src/a").to_string_lossy().into_owned();
        let allowed = Ruling { verdict: Ruled::Allow, ..Ruling::OPEN };
        let ruled = Request { policy: Policy::Ask, gate: Gate::Ask, is_granted: false, ..request(&path) };
        let ruled = ruled.ruled(Some(allowed));
        assert!(admit(&roots, Some(&rules), ruled.clone(), &path).is_ok());
        symlink("../other", root.join("src/a")).unwrap();
        let refused = admit(&roots, Some(&rules), ruled.clone(), &path).unwrap_err();
        assert_eq!(refused.why, Reason::DeniedByPolicy, "it is none of src any more");
        assert!(admit(&roots, Some(&rules), ruled.clone().granted(), &path).is_ok());
        std::fs::remove_file(root.join("src/a")).unwrap();
        symlink("../secret", root.join("src/a")).unwrap();
        let refused = admit(&roots, Some(&rules), ruled.granted(), &path).unwrap_err();
        assert_eq!(refused.why, Reason::DeniedByPolicy, "whoever has allowed it");
    }

    #[test]
    fn the_decision_hook_is_asked_about_what_a_path_leads_to_when_it_is_used() {
        let temp = TempDir::new().unwrap();
        let root = temp.path().canonicalize().unwrap().join("ws");
        std::fs::create_dir_all(root.join("secret")).unwrap();
        std::fs::create_dir(root.join("src")).unwrap();
        let script =
            r#"read line; case "$line" in *'/secret/'*) v=deny;; *) v=allow;; esac; echo "{\"verdict\":\"$v\"}""#;
        let hook = Hook::new(["sh", "-c", script].map(str::to_owned).to_vec());
        let rules = RulesInForce::new(Rulebook::new(None, None).with_hook(Some(hook)), root.clone());
        let roots = Roots::new(vec![root.clone()]);
        let path = root.join("src/a").to_string_lossy().into_owned();
        let ruled = request(&path).ruled(Some(Ruling { verdict: Ruled::Allow, by_hook: true, ..Ruling::OPEN }));
        assert!(admit(&roots, Some(&rules), ruled.clone(), &path).is_ok());
        symlink("../other", root.join("src/a")).unwrap();
        assert!(admit(&roots, Some(&rules), ruled.clone(), &path).is_ok(), "the hook allows this one too");
        std::fs::remove_file(root.join("src/a")).unwrap();
        symlink("../secret/x", root.join("src/a")).unwrap();
        assert_eq!(admit(&roots, Some(&rules), ruled, &path).unwrap_err().why, Reason::DeniedByPolicy);
    }

    /// A rule may have been made since.
    #[test]
    fn what_the_decision_hook_has_allowed_is_not_done_where_a_rule_denies_it_by_then() {
        let temp = TempDir::new().unwrap();
        let root = temp.path().canonicalize().unwrap();
        let hook = Hook::new(["sh", "-c", "echo '{\"verdict\":\"allow\"}'"].map(str::to_owned).to_vec());
        let roots = Roots::new(vec![root.clone()]);
        let path = root.join("a").to_string_lossy().into_owned();
        let ruled = request(&path).ruled(Some(Ruling { verdict: Ruled::Allow, by_hook: true, ..Ruling::OPEN }));
        let admitted = |deny: &str| {
            let mut rules = Rules::default();
            rules.add(RuleRef { list: Verdict::Deny, pattern: deny.to_owned(), ..RuleRef::default() }).unwrap();
            let book = Rulebook::only(rules, None).with_hook(Some(hook.clone()));
            admit(&roots, Some(&RulesInForce::new(book, root.clone())), ruled.clone(), &path)
        };
        assert!(admitted("Edit(b)").is_ok());
        assert_eq!(admitted("Edit(a)").unwrap_err().why, Reason::DeniedByPolicy);
    }

    #[test]
    fn what_the_person_has_to_be_asked_about_is_not_done_without() {
        let temp = TempDir::new().unwrap();
        let root = temp.path().canonicalize().unwrap();
        let roots = Roots::new(vec![root.clone()]);
        let path = root.join("f").to_string_lossy().into_owned();
        let unasked = Request { policy: Policy::Ask, gate: Gate::Ask, is_granted: false, ..request(&path) };
        assert_eq!(admit(&roots, None, unasked.clone(), &path).unwrap_err().why, Reason::DeniedByPolicy);
        assert!(admit(&roots, None, unasked.granted(), &path).is_ok());
    }
}
