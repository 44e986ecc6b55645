//! Texts in the input of a call that are files which hold secrets, steer later commands or are this program's own, although
//! nothing but themselves says that they are files.
//!
//! Looks at the disk. Invariant: nothing is allowed for what stands here.

use super::{Rulebook, ruling};
use crate::engine::real_paths::real_path;
use crate::engine::spelling;
use crate::model::claims::{Claim, Claimed, Claims};
use crate::model::ruling::{Ruled, Ruling};
use crate::rules::{self, Doubt, Kind, Request, Rules, Subject, Tool};
use std::borrow::Cow;
use std::path::Path;

/// Texts that are looked up on the disk; of more only their names are looked at.
const MAX_LOOKS: usize = 128;
/// Names that are looked at; where a call has more and a rule denies or asks, it is asked about.
const MAX_NAMES: usize = 512;
/// A name that no rule has: a rule that is for it is for every name, and names none.
const NOBODYS: &str = "a-name-that-no-rule-has";
/// Tools whose rules are for files.
const OF_FILES: [&str; 2] = ["edit", "read"];

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

    /// The claims with those of its names that are files: there is such a file, or a rule that denies or asks names it. Each is
    /// looked up once.
    pub(super) fn with_named<'a>(
        &self,
        rules: &Rules,
        (agent, root): (Option<&str>, &Path),
        claims: &'a Claims,
    ) -> Cow<'a, Claims> {
        if claims.names.is_empty() {
            return Cow::Borrowed(claims);
        }
        let begins = claims.cwd.as_ref().map_or_else(|| root.to_owned(), |cwd| root.join(cwd));
        let nobodys = Claim::of_path("edit", NOBODYS);
        let named = self.request(agent, root, claims, &nobodys, |request| named(rules, request, claims));
        let named = named.unwrap_or_default();
        let mut with = Claims { names: Vec::new(), written_names: Vec::new(), ..claims.clone() };
        let guess = |tool: &str, what| Claim { what, only_narrows: true, is_guess: true, ..Claim::of_path(tool, "") };
        let is_all = |kinds: &[Kind]| {
            let mut own = claims.all.iter().filter(|claim| !claim.only_narrows);
            own.all(|claim| Tool::named(&claim.tool).is_some_and(|tool| kinds.contains(&tool.kind)))
        };
        let (only_reads, writes_nothing) = (is_all(&[Kind::Read]), is_all(&[Kind::Read, Kind::Fetch]));
        for (name, is_named) in claims.names.iter().take(MAX_NAMES).zip(named) {
            let is_written = claims.written_names.contains(name);
            let meta = begins.join(name).symlink_metadata();
            let is_there = meta.is_ok_and(|meta| !is_written || !meta.is_dir());
            if is_there {
                with.likely.push(name.clone());
            }
            // What is claimed says nothing of a file that it would write.
            if is_there && is_written && writes_nothing {
                with.all.push(Claim::of_path("edit", name));
                with.outputs.push(name.clone());
            }
            if is_there || is_named {
                let tools = if only_reads && !is_written { &OF_FILES[1..] } else { &OF_FILES };
                with.all.extend(tools.iter().map(|tool| guess(tool, Claimed::Paths(vec![name.clone()]))));
            }
        }
        if claims.names.len() > MAX_NAMES {
            with.all.extend(OF_FILES.iter().map(|tool| guess(tool, Claimed::Unknown)));
        }
        Cow::Owned(with)
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

/// Of each of the names whether a rule that denies or asks names it, or it is asked about for its name. Looks nothing up.
fn named(rules: &Rules, request: &Request<'_>, claims: &Claims) -> Vec<bool> {
    let (links, names) = (|path: &Path| Some(path.to_owned()), |_: &Path| Some(Vec::new()));
    let (is_above, holds_key) = (|_: &Path| false, |_: &Path| false);
    let tools = OF_FILES.map(Tool::named);
    let verdict = |tool: &Tool, name: &str| {
        let paths = [Path::new(name)];
        let subject = Subject::Paths(&paths);
        let request = Request {
            tool,
            subject,
            links: &links,
            names: &names,
            is_above: &is_above,
            holds_key: &holds_key,
            ..*request
        };
        let judgement = rules::judge(rules, &request);
        let is_held = matches!(judgement.doubt, Some(Doubt::Secret(_) | Doubt::SurelySteering));
        // Among blanks most are words: a rule has such a name as it is.
        let last = name.rsplit('/').next().unwrap_or_default();
        let is_words = name.contains(char::is_whitespace);
        let is_whole = judgement.rule.as_ref().is_some_and(|rule| rule.pattern.contains(last));
        if is_words && !is_whole { Ruled::Open } else { ruling(judgement, rules, is_held).0.verdict }
    };
    let tools: Vec<(&Tool, Ruled)> = tools.iter().flatten().map(|tool| (tool, verdict(tool, NOBODYS))).collect();
    let is_named = |name: &String| tools.iter().any(|(tool, of)| verdict(tool, name) > (*of).max(Ruled::Open));
    claims.names.iter().take(MAX_NAMES).map(is_named).collect()
}

/// Whether a text with blanks in it is a path: it begins as one, or there is such a file.
fn may_be_whole(text: &str, begins: &Path) -> bool {
    text.starts_with(['/', '~', '$']) || text.starts_with("./") || text.starts_with("../") || {
        real_path(&begins.join(text)).is_some_and(|real| real.symlink_metadata().is_ok())
    }
}
