//! Where a path of a request leads, and what its names say.
//!
//! Reads no rules but what one pattern says of the path. Invariant: what really is there counts beside what is written.

use crate::base::paths::{OF_PROCESS, is_at_root, is_of_any_process, is_of_process, normalize};
use crate::rules::Request;
use crate::rules::pattern::{Match, PathSpec, Spec};
use crate::rules::secrets::{self, Secret};
use crate::rules::steering::{is_steering, is_surely_steering, names_steering};
use crate::rules::tree::{Bases, Found, Tree};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// What a path says, and where it really is.
pub(super) struct Places<'a> {
    request: &'a Request<'a>,
    plain: PathBuf,
    /// `None` when that cannot be told.
    real: Option<PathBuf>,
    /// Where its links come to what is of the process that uses it, and of which only that knows where it leads.
    of_process: Option<PathBuf>,
    /// There may be files below it.
    is_above: bool,
}

impl<'a> Places<'a> {
    pub(super) fn of(request: &'a Request<'a>, path: &Path) -> Self {
        let joined = of_process(request.cwd, request.cwd.join(path));
        let plain = normalize(&joined);
        let mut real = if is_of_process(&plain) { Some(plain.clone()) } else { (request.links)(&joined) };
        for _ in 0..MAX_TURNS {
            let Some(led) = real.take_if(|real| is_of_process(real)) else { break };
            let here = of_process(request.cwd, led.clone());
            real = if here == led { Some(led) } else { (request.links)(&here) };
        }
        let of_process = real.take_if(|real| is_of_process(real));
        let is_above = std::iter::once(&plain).chain(&real).any(|path| (request.is_above)(path));
        Self { request, plain, real, of_process, is_above }
    }

    pub(super) fn roots(&self) -> Vec<&Path> {
        self.request.roots.iter().map(AsRef::as_ref).collect()
    }

    /// Where it really is in the roots; itself where it is in none.
    pub(super) fn inside(&self) -> Option<&Path> {
        let real = self.real.as_deref()?;
        Some(self.roots().iter().find_map(|root| real.strip_prefix(root).ok()).unwrap_or(real))
    }

    /// Links lead elsewhere than the path says.
    pub(super) fn is_led(&self) -> bool {
        self.of_process.is_some() || self.real.as_ref().is_some_and(|real| *real != self.plain)
    }

    /// The name of what is really there.
    pub(super) fn real_name(&self) -> Option<&str> {
        self.real.as_ref()?.file_name()?.to_str()
    }

    pub(super) fn is_outside(&self) -> bool {
        !self.real.as_ref().is_some_and(|real| self.request.roots.iter().any(|root| real.starts_with(root)))
    }

    /// Outside of the roots as far as can be told: what cannot be the name of a file leads nowhere.
    pub(super) fn leads_out(&self) -> bool {
        let place = self.real.as_ref().unwrap_or(&self.plain);
        self.of_process.is_some() || !self.request.roots.iter().any(|root| place.starts_with(root))
    }

    /// Whether later commands take programs from it, or this program its rules and settings.
    pub(super) fn steers(&self) -> bool {
        self.inside().is_some_and(is_steering) || self.is_ours()
    }

    /// The same, and its names can mean nothing else.
    pub(super) fn surely_steers(&self) -> bool {
        self.inside().is_some_and(is_surely_steering) || self.is_ours()
    }

    /// The path says so itself; the session's own directory may be below such a name.
    pub(super) fn names_steering(&self, path: &Path) -> bool {
        path.is_relative() && names_steering(path) || names_steering(self.inside().unwrap_or(path))
    }

    /// A file of this program's, one that its links lead to, or a directory with such a file in it.
    pub(super) fn is_ours(&self) -> bool {
        let is_one = |real: &Path| self.request.ours.iter().any(|own| real.starts_with(own) || own.starts_with(real));
        self.real.as_deref().is_some_and(is_one)
    }

    /// Why it is asked about unless a rule names it: what its names say, inside of the roots those below them, or that it
    /// is this program's own.
    pub(super) fn secret(&self) -> Option<&'static str> {
        let row = self.rows().into_iter().flatten().next();
        let leads_on = || self.of_process.as_deref().is_some_and(leads_on);
        row.map(|secret| secret.why)
            .or_else(|| self.is_of_state().then_some(secrets::OURS))
            .or_else(|| leads_on().then_some(ANYWHERE))
    }

    /// What its names say, those that the path has and those of where it really is.
    pub(super) fn rows(&self) -> Vec<Vec<&'static Secret>> {
        let below = |path: &Path| {
            let inside = self.roots().iter().find_map(|root| path.strip_prefix(root).ok());
            secrets::rows_of(inside.unwrap_or(path)).collect::<Vec<_>>()
        };
        let led = self.real.iter().chain(&self.of_process).filter(|led| **led != self.plain);
        let mut all: Vec<_> = std::iter::once(&self.plain).chain(led).map(|path| below(path)).collect();
        all.retain(|rows| !rows.is_empty());
        let with_key = || {
            let real = self.real.as_deref()?;
            let row = secrets::with_key(&self.plain).or_else(|| secrets::with_key(real))?;
            (self.request.holds_key)(real).then(|| vec![row])
        };
        if all.is_empty() { with_key().into_iter().collect() } else { all }
    }

    /// This program's own, but for a session's directory that it has made.
    pub(super) fn is_of_state(&self) -> bool {
        let Some(real) = self.real.as_deref() else { return false };
        let is_of_root = |own: &Path| self.roots().iter().any(|root| root.starts_with(own) && real.starts_with(root));
        self.request.ours.iter().any(|own| real.starts_with(own))
            || self.request.state.is_some_and(|own| real.starts_with(own) && !is_of_root(own))
    }

    /// Whether a pattern that is for it names it.
    pub(super) fn is_named(&self, spec: &PathSpec) -> bool {
        let rows = self.rows();
        let is_named = |rows: &Vec<&Secret>| rows.iter().any(|secret| spec.has_part(|part| secret.is_named(part)));
        if rows.is_empty() {
            self.real.as_deref().is_some_and(|real| spec.spells_name(real))
        } else {
            rows.iter().all(is_named)
        }
    }

    /// Adds the rules that may be for it.
    pub(super) fn look<'t>(&self, tree: &'t Tree, found: &mut Found<'t>) {
        let Request { roots, home, .. } = *self.request;
        let real = self.real.iter().filter(|real| **real != self.plain);
        for path in std::iter::once(&self.plain).chain(real) {
            tree.find(path, self.is_above, Bases { roots, home }, found);
        }
    }

    /// Of the rules that deny or ask.
    pub(super) fn wide(&self, spec: &Spec) -> Match {
        let Request { roots, home, .. } = *self.request;
        let mut places = std::iter::once(&self.plain).chain(&self.real);
        match spec {
            Spec::Any => Match::Yes,
            Spec::Path(spec) if places.clone().any(|path| spec.matches(path, roots, home, true)) => Match::Yes,
            Spec::Path(spec) if self.is_above && places.any(|path| spec.is_below(path, roots, home)) => Match::Below,
            _ => Match::No,
        }
    }

    /// Of the rules that allow.
    pub(super) fn strict(&self, spec: &Spec, is_edit: bool) -> bool {
        let Some(real) = &self.real else { return false };
        match spec {
            // The session's own directory may be below such a name.
            Spec::Any => !(self.is_outside() || is_edit && self.steers()),
            Spec::Path(spec) => {
                let spells = |inside| spec.spells(inside) && (!self.is_ours() || spec.spells_name(real));
                spec.matches(real, self.request.roots, self.request.home, false)
                    && (!is_edit || self.inside().is_some_and(spells))
            }
            _ => false,
        }
    }
}

/// Whether a path is what is of a process, or leads there.
pub(super) fn is_of_processes(request: &Request<'_>, path: &Path) -> bool {
    let joined = request.cwd.join(path);
    is_of_any_process(&normalize(&joined)) || (request.links)(&joined).is_some_and(|real| is_of_any_process(&real))
}

/// Links of a process that lead to further ones.
const MAX_TURNS: usize = 8;
/// Why such a path is asked about where it cannot be told.
const ANYWHERE: &str = "it leads through what is of a process, so it may be any file";

/// Whether such a path goes on through a directory that only the process knows. An open file is none.
fn leads_on(path: &Path) -> bool {
    let names: Vec<&OsStr> = path.iter().collect();
    let at = |names: &[&OsStr]| match names {
        [link, ..] if *link == "cwd" || *link == "root" => true,
        [link, _, _, ..] => *link == "fd",
        _ => false,
    };
    (0..names.len()).any(|start| at(names.get(start..).unwrap_or_default()))
}

/// A path that begins with the directory of the process, or its root, by such a link.
fn of_process(cwd: &Path, path: PathBuf) -> PathBuf {
    let led = OF_PROCESS.iter().filter(|_| is_at_root(&path, "proc")).find_map(|own| {
        let rest = path.strip_prefix(own).ok()?;
        let below = rest.strip_prefix("cwd").map(|rest| cwd.join(rest));
        below.or_else(|_| rest.strip_prefix("root").map(|rest| Path::new("/").join(rest))).ok()
    });
    led.unwrap_or(path)
}

/// Whether a word may be the name of a file: it is no option and no address.
pub(super) fn may_name_one(text: &str) -> bool {
    !text.contains("://") && !text.starts_with('-')
}

/// Whether a word looks like the name of a file, and not like a number, a branch or an address.
pub(super) fn is_like_file(text: &str) -> bool {
    may_name_one(text) && text.contains(['/', '.'])
}
