//! Texts in the input of a call that are files which hold secrets, steer later commands or are this program's own, although
//! nothing but themselves says that they are files.
//!
//! Looks at the disk. Invariant: nothing is allowed for what stands here.

use super::Rulebook;
use crate::engine::real_paths::real_path;
use crate::engine::spelling;
use crate::model::claims::{Claim, Claims};
use crate::model::ruling::{Ruled, Ruling};
use crate::rules::{self, Doubt, Kind, Request, Rules, Tool};
use std::path::Path;

/// Texts that are looked up on the disk; of more only their names are looked at.
const MAX_LOOKS: usize = 128;

impl Rulebook {
    /// Why such a text is asked about.
    pub(in crate::engine) fn stray(&self, agent: Option<&str>, root: &Path, claims: &Claims) -> Option<&'static str> {
        if claims.strays.is_empty() {
            return None;
        }
        let kind = |claim: &Claim| Tool::named(&claim.tool).map(|tool| tool.kind);
        let mut own = claims.all.iter().filter(|claim| !claim.only_narrows);
        let tools: &[&str] =
            if own.all(|claim| kind(claim) == Some(Kind::Read)) { &["read"] } else { &["edit", "read"] };
        let begins = claims.cwd.as_ref().map_or_else(|| root.to_owned(), |cwd| root.join(cwd));
        let mut left = MAX_LOOKS;
        claims.strays.iter().find_map(|text| {
            // Among blanks most are words.
            let is_words = text.contains(char::is_whitespace) && !may_be_whole(text, &begins);
            let named =
                if is_words { None } else { rules::secret(text).or_else(|| rules::secret(&spelling::meant(text))) };
            if named.is_some() || is_words || left == 0 {
                return named;
            }
            left -= 1;
            let placed =
                spelling::placed(text, self.home.as_deref()).unwrap_or_else(|| spelling::meant(text).into_owned());
            tools.iter().find_map(|tool| self.doubt(agent, root, claims, &Claim::of_path(tool, &placed)))
        })
    }

    /// The same ruling, with what would be asked about without any rule where a rule asks: no hook allows that.
    pub(in crate::engine) fn held(&self, agent: Option<&str>, root: &Path, claims: &Claims, ruling: Ruling) -> Ruling {
        if ruling.verdict != Ruled::Ask || ruling.secret.is_some() {
            return ruling;
        }
        Ruling { secret: self.by(&Rules::default(), agent, root, claims).secret, ..ruling }
    }

    fn doubt(&self, agent: Option<&str>, root: &Path, claims: &Claims, claim: &Claim) -> Option<&'static str> {
        let why = |request: &Request<'_>| match rules::judge(&Rules::default(), request).doubt {
            Some(Doubt::Secret(why)) => Some(why),
            Some(Doubt::SurelySteering) => Some(rules::STEERS),
            _ => None,
        };
        self.request(agent, root, claims, claim, why).flatten()
    }
}

/// Whether a text with blanks in it is a path: it begins as one, or there is such a file.
fn may_be_whole(text: &str, begins: &Path) -> bool {
    text.starts_with(['/', '~', '$']) || text.starts_with("./") || text.starts_with("../") || {
        real_path(&begins.join(text)).is_some_and(|real| real.symlink_metadata().is_ok())
    }
}
