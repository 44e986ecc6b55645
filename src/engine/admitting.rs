//! The last word before a file or a directory is used: what it really is, judged.
//!
//! Blocks on the disk, for looking only. Invariant: what is opened is what was judged, not what the path leads to later.

use super::refusing;
use crate::host::fs::{FsError, Resolved, Roots};
use crate::model::judge::{Place, Request, Verdict, judge};
use crate::model::refusal::{Refusal, Subject};
use std::path::Path;

/// What a request names, if that may be used.
pub(super) fn admit(roots: &Roots, request: Request, path: impl AsRef<Path>) -> Result<Resolved, Refusal> {
    let path = path.as_ref();
    let resolved = roots.check(path);
    match judge(&request.at(place(&resolved))) {
        Verdict::Allow(_) => resolved.map_err(|error| refusing::file(&error)),
        verdict => Err(verdict.against().refusal(Subject::Path(path.to_string_lossy().into_owned()))),
    }
}

/// The same as the model knows it.
pub(super) fn place(resolved: &Result<Resolved, FsError>) -> Place {
    match resolved {
        Ok(resolved) => Place::Inside(Some(resolved.real.clone())),
        Err(error) => Place::Barred(refusing::file(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::changes::Gate;
    use crate::model::ids::{AgentKey, SessionKey};
    use crate::model::judge::Deed;
    use crate::model::refusal::Reason;
    use crate::model::session::{Allow, Policy};
    use std::os::unix::fs::symlink;
    use tempfile::TempDir;

    fn request(path: &str) -> Request {
        Request {
            agent: AgentKey::FIRST,
            session: SessionKey::FIRST,
            cwd: "/".into(),
            deed: Deed::Write(path.into()),
            place: Place::Unknown,
            policy: Policy::Auto(Allow::All),
            gate: Gate::Off,
            is_stopping: false,
            is_granted: true,
        }
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
            admit(&roots, request(&path), &path)
        };
        assert_eq!(admitted("in").unwrap().real, root.join("in"));
        assert_eq!(admitted("way-out/secret").unwrap_err().why, Reason::Outside);
        assert_eq!(admit(&roots, request("in"), "in").unwrap_err().why, Reason::BadParams);
    }

    #[test]
    fn what_the_person_has_to_be_asked_about_is_not_done_without() {
        let temp = TempDir::new().unwrap();
        let root = temp.path().canonicalize().unwrap();
        let roots = Roots::new(vec![root.clone()]);
        let path = root.join("f").to_string_lossy().into_owned();
        let unasked = Request { policy: Policy::Ask, gate: Gate::Ask, is_granted: false, ..request(&path) };
        assert_eq!(admit(&roots, unasked.clone(), &path).unwrap_err().why, Reason::DeniedByPolicy);
        assert!(admit(&roots, unasked.granted(), &path).is_ok());
    }
}
