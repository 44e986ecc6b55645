//! Which of the files that a call names lie outside of the session's directories, and where they really are.
//!
//! Looks at the disk. Invariant: what has no place that can be told is outside.

use super::Rulebook;
use crate::base::paths::normalize;
use crate::engine::real_paths::real_path;
use crate::engine::spelling;
use crate::model::claims::{Claimed, Claims, may_leave};
use crate::model::question::Outside;
use crate::model::ruling::Ruled;
use std::path::{Path, PathBuf};

/// Files outside of the session's directory that a question names.
pub(super) const MAX_OUTSIDE: usize = 50;

/// Where paths of a call begin, and what is inside.
struct Place<'a> {
    begins: PathBuf,
    roots: Vec<PathBuf>,
    home: Option<&'a Path>,
}

impl Place<'_> {
    /// A path where it leads out, with the place that it leads to.
    fn outside(&self, path: &str) -> Option<Outside> {
        let real = match spelling::placed(path, self.home) {
            Some(place) => real_path(&normalize(Path::new(&place))),
            None => real_path(&normalize(&self.begins.join(path))),
        };
        let is_inside = real.as_ref().is_some_and(|real| self.roots.iter().any(|root| real.starts_with(root)));
        let real = real.map(|real| real.to_string_lossy().into_owned());
        (!is_inside).then(|| Outside { path: path.to_owned(), real })
    }

    /// Texts that look like files, and where patterns lead which are names, as there is such a place.
    fn likely<'c>(&self, claims: &'c Claims) -> impl Iterator<Item = &'c String> {
        let is_there = |text: &&String| {
            let is_of_home = text.starts_with(['~', '$']);
            is_of_home || self.begins.join(text).symlink_metadata().is_ok()
        };
        claims.likely.iter().chain(claims.matched.iter().filter(is_there))
    }

    /// The same of a text that only looks like one.
    fn stray(&self, text: &str) -> Option<Outside> {
        let meant = spelling::meant(text);
        if meant.starts_with(['~', '$']) && meant.contains('/') && spelling::placed(text, self.home).is_none() {
            return Some(Outside { path: text.to_owned(), real: None });
        }
        let found = self.outside(text).or_else(|| self.outside(&meant)).filter(|_| may_be_there(&meant))?;
        Some(Outside { path: text.to_owned(), ..found })
    }
}

/// Whether there is something where an absolute path begins: `/api/users` is most often none of this machine's.
fn may_be_there(path: &str) -> bool {
    let Some(rest) = path.strip_prefix('/') else { return true };
    let first = rest.split('/').find(|name| !name.is_empty());
    // The root alone, below which a pattern looks, is there.
    first.is_none_or(|name| Path::new("/").join(name).symlink_metadata().is_ok())
}

impl Rulebook {
    fn surroundings<'a>(&'a self, root: &Path, claims: &Claims) -> Place<'a> {
        let begins = claims.cwd.as_ref().map_or_else(|| root.to_owned(), |cwd| root.join(cwd));
        Place { begins, roots: self.roots(root), home: self.home.as_deref() }
    }

    /// Which of the files that are claimed, that only the title of a call names, or that look like some, lie outside of the
    /// session's directories, and where.
    pub(super) fn outside(&self, root: &Path, claims: &Claims) -> Vec<Outside> {
        let place = self.surroundings(root, claims);
        let mut told: Vec<Outside> =
            claims.files.iter().filter_map(|path| place.outside(path)).take(MAX_OUTSIDE).collect();
        for path in &claims.titled {
            // A piece of what is told already, or a word that is no path.
            let is_told = told.iter().any(|one| one.path.contains(path.as_str())) || claims.files.contains(path);
            let is_path = |one: &Outside| one.real.is_some() || may_leave(path);
            if !is_told && told.len() < MAX_OUTSIDE {
                told.extend(place.outside(path).filter(is_path));
            }
        }
        for text in place.likely(claims) {
            if told.len() < MAX_OUTSIDE && told.iter().all(|one| one.path != *text) {
                told.extend(place.stray(text));
            }
        }
        told
    }

    /// Whether a text that looks like a file leads out, and no rule that allows is for it.
    pub(super) fn has_stray_beyond(&self, root: &Path, claims: &Claims, verdicts: &[Ruled]) -> bool {
        if claims.likely.is_empty() && claims.matched.is_empty() {
            return false;
        }
        let place = self.surroundings(root, claims);
        let is_allowed = |text: &String| {
            let meant = spelling::meant(text);
            let is_it = |path: &String| path == text || **path == *meant;
            let names = |what: &Claimed| matches!(what, Claimed::Paths(paths) if paths.iter().any(is_it));
            let mut about =
                claims.all.iter().zip(verdicts).filter(|(claim, _)| claim.is_guess && names(&claim.what)).peekable();
            about.peek().is_some() && about.all(|(_, verdict)| *verdict == Ruled::Allow)
        };
        place.likely(claims).any(|text| place.stray(text).is_some() && !is_allowed(text))
    }
}
