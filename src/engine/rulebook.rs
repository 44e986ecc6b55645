//! The rules that agents are held to: the files that they stand in, read again when those have changed.
//!
//! Blocks on the disk and on what reading a line for a shell costs, so it belongs on threads that may wait. Knows no
//! session. Invariants: the project's file only narrows what the person's allows, unless the person trusts
//! exactly what stands in it; what cannot be read makes everything ask.

mod outside;
mod strays;

use super::extent;
use super::hook::Hook;
use super::real_paths::{holds_key, is_above, names, real_path};
use super::rule_files::{self, read_text};
use super::spelling::{self, with_meant};
use crate::base::sanitize;
use crate::model::claims::{Claim, Claimed, Claims};
use crate::model::ruling::{Extent, MadeRule, Ruled, Ruling, Scope, Secret};
use crate::rules::{self, Doubt, Judgement, Kind, Loaded, Request, RuleRef, Rules, Subject, Tool, Trust, Verdict};
use crate::store::trusted::{Trusted, What};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::SystemTime;

/// Where a project keeps its own.
pub const PROJECT_FILE: &str = ".acp-tui/rules.toml";
/// Characters of a pattern or a reason that are passed on.
const MAX_WORDS: usize = 500;
/// Directories whose rules are kept.
const MAX_DIRECTORIES: usize = 64;
/// Rules that are listed for the person to take one back.
const MAX_KEPT: usize = 1000;

/// Directories above one that are looked at for a project's rules.
const MAX_ABOVE: usize = 64;

/// Entries of a directory of this program's that may be links to elsewhere.
const MAX_LINKS: usize = 64;

#[derive(Debug)]
pub struct Rulebook {
    /// Files of projects that may allow, too.
    trusted: Option<Trusted>,
    /// The person's.
    own: Option<PathBuf>,
    /// The only rules, read once: their file may lie where agents write.
    only: Option<Arc<Rules>>,
    /// Directories of this program's, whose files no rule lets agents change that does not have their names.
    ours: Vec<PathBuf>,
    /// Where this program keeps what was said and allowed.
    state: Option<PathBuf>,
    /// Where those of directories are that were made in questions.
    made: Option<PathBuf>,
    pub(super) home: Option<PathBuf>,
    /// Asked about what rules allow or leave to the person.
    hook: Option<Hook>,
    /// An agent, and how the ones are called whose program it is, too.
    names: Option<(String, Vec<String>)>,
    /// By the directory of the session.
    cached: Mutex<BTreeMap<PathBuf, CachedRules>>,
    /// A directory, and others that belong to its project.
    further: OnceLock<(PathBuf, Vec<PathBuf>)>,
}

#[derive(Clone, Debug)]
struct CachedRules {
    /// The project's files, as they were when the directory was seen first: no repository that is made later keeps out those above it.
    projects: Vec<PathBuf>,
    stamps: Vec<Stamp>,
    rules: Arc<Rules>,
}

/// By what it is seen that a file has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stamp {
    Missing,
    There { modified: Option<SystemTime>, bytes: u64 },
}

/// The rules of a file, and what is wrong with them.
#[derive(Debug, Default)]
pub struct FileRules {
    pub rules: Rules,
    /// What stands in it.
    pub text: String,
    /// It is no rules file, or cannot be read.
    pub fault: Option<String>,
    pub warnings: Vec<String>,
}

impl Rulebook {
    /// Only these rules.
    pub fn only(rules: Rules, home: Option<PathBuf>) -> Self {
        Self { only: Some(Arc::new(rules)), ..Self::new(None, home) }
    }

    /// The person's file, and those of the projects.
    pub fn new(own: Option<PathBuf>, home: Option<PathBuf>) -> Self {
        Self {
            trusted: None,
            own,
            only: None,
            ours: Vec::new(),
            state: None,
            made: None,
            home,
            hook: None,
            names: None,
            cached: Mutex::default(),
            further: OnceLock::new(),
        }
    }

    /// The same with these directories of this program's.
    #[must_use]
    pub fn with_ours(self, ours: Vec<PathBuf>) -> Self {
        Self { ours, ..self }
    }

    /// The same with the directory where this program keeps what was said and allowed.
    #[must_use]
    pub fn with_state(self, state: Option<PathBuf>) -> Self {
        let trusted = state.clone().map(|state| Trusted::new(state, What::Rules));
        Self { trusted, state, ..self }
    }

    /// The same with the rules that were made in questions, which are kept in this directory.
    #[must_use]
    pub fn with_made(self, made: Option<PathBuf>) -> Self {
        Self { made, ..self }
    }

    /// The same, where the agent of this name is also those that are configured by these.
    #[must_use]
    pub fn with_names(self, name: &str, others: Vec<String>) -> Self {
        let only = self.only.map(|rules| Arc::new((*rules).clone().also_for(name, &others)));
        Self { only, names: Some((name.to_owned(), others)), cached: Mutex::default(), ..self }
    }

    /// The agents that rules in this directory are for alone.
    pub fn agents(&self, cwd: &Path) -> Vec<String> {
        self.current(cwd).0.agents().into_iter().map(str::to_owned).collect()
    }

    /// Whether a rule of this agent's table is for the agent of that name.
    fn is_for(&self, of: Option<&String>, agent: Option<&str>) -> bool {
        let is_other =
            |of: &String| self.names.as_ref().is_some_and(|(name, others)| agent == Some(name) && others.contains(of));
        of.is_none_or(|of| agent == Some(of) || is_other(of))
    }

    /// The same with a decision hook.
    #[must_use]
    pub fn with_hook(self, hook: Option<Hook>) -> Self {
        let ours = self.ours.into_iter().chain(hook.iter().flat_map(Hook::files)).collect();
        Self { ours, hook, ..self }
    }

    pub(super) fn hook(&self) -> Option<&Hook> {
        self.hook.as_ref()
    }

    /// Reads what holds in this directory, and says what is wrong with it.
    pub fn read(&self, cwd: &Path) -> Vec<String> {
        self.current(cwd).1
    }

    /// What the rules say of these claims of an agent, and what was found wrong with the rules on the way. `more` hold
    /// for the session alone.
    pub fn ruling(&self, agent: Option<&str>, cwd: &Path, more: &Rules, claims: &Claims) -> (Ruling, Vec<String>) {
        let (rules, warnings) = self.with(cwd, more);
        let claims = &*self.with_named(&rules, (agent, cwd), claims);
        let ruling = self.by(&rules, agent, cwd, claims);
        (Ruling { outside: self.outside(cwd, claims), ..ruling }, warnings)
    }

    /// All rules that hold in a session.
    pub(super) fn with(&self, cwd: &Path, more: &Rules) -> (Arc<Rules>, Vec<String>) {
        let (rules, warnings) = self.current(cwd);
        if more.iter().next().is_none() {
            return (rules, warnings);
        }
        let mut all = (*rules).clone();
        all.extend(more.clone());
        (Arc::new(all), warnings)
    }

    /// What these rules say.
    pub(super) fn by(&self, rules: &Rules, agent: Option<&str>, cwd: &Path, claims: &Claims) -> Ruling {
        let claims = &*self.with_named(rules, (agent, cwd), claims);
        let claims = &*with_meant(claims, cwd, self.home.as_deref());
        let mut worst: Option<(Ruling, Vec<RuleRef>)> = None;
        let mut verdicts = Vec::with_capacity(claims.all.len());
        for claim in &claims.all {
            let (mut ruling, by) = self.of_claim(rules, agent, cwd, claims, claim);
            verdicts.push(ruling.verdict);
            if claim.is_guess {
                ruling.verdict = ruling.verdict.min(Ruled::Ask);
                // A rule that has this name is for none that is spelled otherwise.
                ruling.secret = ruling.secret.map(|secret| Secret { rule: None, ..secret });
            }
            let is_said = !claim.only_narrows || ruling.verdict >= Ruled::Ask;
            match &mut worst {
                _ if !is_said => {}
                Some((worst, _)) if ruling.verdict < worst.verdict => {}
                // Where different rules allow the parts of a request, each is named.
                Some((worst, all)) if ruling.verdict == worst.verdict => {
                    all.extend(by.into_iter().filter(|_| ruling.verdict == Ruled::Allow));
                }
                worst => *worst = Some((ruling, by)),
            }
        }
        // Nothing but what follows from other claims: none was there to be allowed.
        let has_own = claims.all.iter().any(|claim| !claim.only_narrows);
        let ruling = worst.filter(|(worst, _)| has_own || worst.verdict != Ruled::Allow);
        let ruling = ruling.map_or(Ruling::OPEN, |(ruling, by)| named(ruling, &by));
        let is_allowed = ruling.verdict == Ruled::Allow;
        let has_stray_beyond = self.has_stray_beyond(cwd, claims, &verdicts);
        let is_beyond = is_allowed && (has_stray_beyond || self.is_beyond(cwd, claims, &verdicts));
        let unjudged = if is_allowed { unjudged_secret(claims) } else { None };
        let is_open = ruling.verdict < Ruled::Ask;
        let unjudged = unjudged.or_else(|| self.stray(agent, cwd, claims).filter(|_| is_open));
        let ruling = if is_beyond || unjudged.is_some() { Ruling::OPEN } else { ruling };
        let is_decided = matches!(ruling.verdict, Ruled::Allow | Ruled::Deny);
        let extent = || {
            let place = extent::Place { root: cwd, roots: &self.roots(cwd), home: self.home.as_deref() };
            let covered = |claim: &Claim| self.request(agent, cwd, claims, claim, extent::covers) == Some(true);
            extent::of(&place, claims, &verdicts, covered)
        };
        let extent = if is_decided { None } else { extent() };
        let extent = extent.map(|extent| Extent { leaves: extent.leaves || has_stray_beyond, ..extent });
        let ruling = Ruling { extent, ..ruling };
        // What is not known for certain may be named all the same.
        let of_file = |path: &String| rules::secret(path).or_else(|| rules::secret(&spelling::meant(path)));
        let named = unjudged.or_else(|| claims.files.iter().find_map(of_file));
        match named.or_else(|| claims.texts.iter().find_map(|text| rules::secret_in(text))) {
            Some(why) if ruling.verdict == Ruled::Open => {
                Ruling { verdict: Ruled::Ask, secret: Some(Secret::of(why)), ..ruling }
            }
            _ => ruling,
        }
    }

    /// Whether what is allowed names, beside that which is, a file that only the agent knows where it is, or one outside
    /// that no rule speaks of.
    fn is_beyond(&self, root: &Path, claims: &Claims, verdicts: &[Ruled]) -> bool {
        let is_outside = |path: &String| {
            let claims = Claims { cwd: claims.cwd.clone(), files: vec![path.clone()], ..Claims::default() };
            !self.outside(root, &claims).is_empty()
        };
        let left = claims.all.iter().zip(verdicts).filter(|(claim, verdict)| {
            let is_file = matches!(kind(claim), Kind::Read | Kind::Edit);
            is_file && claim.only_narrows && !claim.is_guess && **verdict != Ruled::Allow
        });
        // What a name says of a call is about the files that the call itself is allowed.
        let own = claims.all.iter().zip(verdicts).filter(|(one, of)| !one.only_narrows && **of == Ruled::Allow);
        let is_left = |of: Kind, path: &String| {
            let names = |claim: &Claim| matches!(&claim.what, Claimed::Paths(paths) if paths.contains(path));
            !own.clone().any(|(claim, _)| kind(claim) == of && names(claim))
        };
        claims.files.iter().any(|path| spelling::is_of_agent(path))
            || claims.cwd.as_ref().is_some_and(|cwd| speaks_for_all(claims) && is_outside(cwd))
            || left.into_iter().any(|(claim, _)| match &claim.what {
                Claimed::Paths(paths) => paths.iter().any(is_outside),
                _ => claims.files.iter().any(|path| is_left(kind(claim), path) && is_outside(path)),
            })
    }

    /// In this directory these ones belong to the project, too. Only the first word of it counts.
    pub fn reach(&self, cwd: &Path, directories: &[PathBuf]) {
        let real = cwd.canonicalize().unwrap_or_else(|_| cwd.to_owned());
        let _ = self.further.set((real, directories.to_vec()));
    }

    fn roots(&self, root: &Path) -> Vec<PathBuf> {
        let further = self.further.get().filter(|(of, _)| of == root).map(|(_, further)| further);
        std::iter::once(root.to_owned()).chain(further.into_iter().flatten().cloned()).collect()
    }

    /// What rules say of a claim, and which ones.
    fn of_claim(
        &self,
        rules: &Rules,
        agent: Option<&str>,
        root: &Path,
        claims: &Claims,
        claim: &Claim,
    ) -> (Ruling, Vec<RuleRef>) {
        let judged = |request: &Request<'_>| {
            let judgement = rules::judge(rules, request);
            let why = match judgement.doubt {
                Some(Doubt::Secret(why)) => Some(why),
                // What a command writes is left to modes, as the command is.
                Some(Doubt::SurelySteering) if matches!(request.subject, Subject::Paths(_)) => Some(rules::STEERS),
                _ => None,
            };
            let secret = why.map(|why| Secret { rule: spelled(request), ..Secret::of(why) });
            let (ruling, by) = ruling(judgement, rules, secret.is_some());
            (Ruling { secret, ..ruling }, by)
        };
        self.request(agent, root, claims, claim, judged).unwrap_or((Ruling::OPEN, Vec::new()))
    }

    /// A claim as rules see it.
    pub(super) fn request<T>(
        &self,
        agent: Option<&str>,
        root: &Path,
        claims: &Claims,
        claim: &Claim,
        f: impl FnOnce(&Request<'_>) -> T,
    ) -> Option<T> {
        let cwd = claims.cwd.as_ref().map_or_else(|| root.to_owned(), |cwd| root.join(cwd));
        let cwd = cwd.canonicalize().unwrap_or(cwd);
        let tool = Tool::named(&claim.tool).or_else(|| Tool::named("other"))?;
        let paths: Vec<&Path> = match &claim.what {
            Claimed::Paths(paths) => paths.iter().map(Path::new).collect(),
            _ => Vec::new(),
        };
        let state = self.state.as_deref().and_then(real_path);
        let request = Request {
            tool: &tool,
            subject: match &claim.what {
                Claimed::Line(line) => Subject::Line(line),
                Claimed::Words(words) => Subject::Words(words),
                Claimed::Text(text) => Subject::Text(text),
                Claimed::Paths(_) | Claimed::Unknown => Subject::Paths(&paths),
            },
            cwd: &cwd,
            roots: &self.roots(root),
            ours: &ours(&self.ours),
            state: state.as_deref(),
            home: self.home.as_deref(),
            agent,
            now: now(),
            links: &real_path,
            is_above: &is_above,
            names: &names,
            holds_key: &holds_key,
        };
        Some(f(&request))
    }

    /// The rules for this agent in this directory that the person can take back: those made in questions there, and their own
    /// for everywhere.
    pub(super) fn kept(&self, agent: Option<&str>, cwd: &Path) -> Vec<MadeRule> {
        let made = self.made.as_deref().and_then(|made| read_made(made, cwd));
        let own = self.own.as_deref().and_then(|file| read_rules(file, Trust::Full));
        let now = now();
        let of = |found: Option<FileRules>, is_own: bool| {
            let rules = found.unwrap_or_default().rules;
            let rules = rules.iter().filter(|rule| self.is_for(rule.agent.as_ref(), agent));
            let rules = rules.filter(|rule| rule.until.is_none_or(|until| until > now));
            rules.map(|rule| made_rule(rule, is_own)).collect::<Vec<_>>()
        };
        let mut kept = [of(made, false), of(own, true)].concat();
        kept.truncate(MAX_KEPT);
        kept
    }

    /// Where a rule of this reach is kept, and how the file begins; nothing where none is kept.
    pub(super) fn place(&self, scope: Scope, cwd: &Path) -> Option<(PathBuf, String)> {
        if scope == Scope::Always {
            return self.own.clone().map(|file| (file, String::new()));
        }
        let made = self.made.as_ref()?;
        rule_files::make_place(made).ok()?;
        Some((rule_files::of_directory(made, cwd), rule_files::heading(cwd)))
    }

    fn current(&self, cwd: &Path) -> (Arc<Rules>, Vec<String>) {
        if let Some(only) = &self.only {
            return (Arc::clone(only), Vec::new());
        }
        let cached = || self.cached.lock().unwrap_or_else(PoisonError::into_inner);
        let known = cached().get(cwd).cloned();
        let projects = known.as_ref().map_or_else(|| project_files(cwd), |known| known.projects.clone());
        let made = self.made.as_ref().map(|made| rule_files::of_directory(made, cwd));
        let trusted = self.trusted.as_ref().map(Trusted::file);
        let others = [&self.own, &made, &trusted].into_iter().flatten();
        let stamps: Vec<Stamp> = others.chain(&projects).map(|file| stamp(file)).collect();
        if let Some(known) = known.filter(|known| known.stamps == stamps) {
            return (known.rules, Vec::new());
        }
        let mut all = FileRules::default();
        let own = self.own.as_deref().and_then(|file| read_rules(file, Trust::Full));
        let projects_rules = read_projects(&projects, self.trusted.as_ref());
        let made = self.made.as_ref().and_then(|made| read_made(made, cwd));
        for found in own.into_iter().chain(projects_rules).chain(made) {
            all.rules.extend(found.rules);
            all.warnings.extend(found.fault.map(|fault| format!("{fault}; until it is mended the rules ask")));
            all.warnings.extend(found.warnings);
        }
        let rules = match &self.names {
            Some((name, others)) => all.rules.also_for(name, others),
            None => all.rules,
        };
        let rules = Arc::new(rules);
        let mut cached = cached();
        if cached.len() >= MAX_DIRECTORIES {
            cached.clear();
        }
        cached.insert(cwd.to_owned(), CachedRules { projects, stamps, rules: Arc::clone(&rules) });
        (rules, all.warnings)
    }
}

fn kind(claim: &Claim) -> Kind {
    Tool::named(&claim.tool).map_or(Kind::Other, |tool| tool.kind)
}

/// Whether a call is allowed as a whole, by the name of its tool.
fn speaks_for_all(claims: &Claims) -> bool {
    claims.all.iter().any(|claim| !claim.only_narrows && matches!(kind(claim), Kind::Mcp | Kind::Other))
}

/// A secret that a call names and that no claim of it is about.
fn unjudged_secret(claims: &Claims) -> Option<&'static str> {
    let is_in = |claim: &Claim, path: &String| {
        let name = Path::new(path).file_name().map_or(path.as_str().into(), |name| name.to_string_lossy());
        match &claim.what {
            Claimed::Paths(paths) => paths.contains(path),
            Claimed::Line(line) => line.contains(&*name),
            Claimed::Words(words) => words.iter().any(|word| word.contains(&*name)),
            Claimed::Text(_) | Claimed::Unknown => false,
        }
    };
    let mut files = claims.files.iter().filter(|path| !claims.all.iter().any(|claim| is_in(claim, path)));
    let of_texts = || claims.texts.iter().filter(|_| speaks_for_all(claims)).find_map(|text| rules::secret_in(text));
    files.find_map(|path| rules::secret(path)).or_else(of_texts)
}

fn made_rule(rule: &RuleRef, is_own: bool) -> MadeRule {
    let list = match rule.list {
        Verdict::Allow => Ruled::Allow,
        Verdict::Ask => Ruled::Ask,
        Verdict::Deny => Ruled::Deny,
    };
    let scope = match rule.until {
        _ if is_own => Scope::Always,
        Some(_) => Scope::Day,
        None => Scope::Workspace,
    };
    MadeRule { list, pattern: rule.pattern.clone(), scope, agent: rule.agent.clone() }
}

/// The same with the names of the rules that decided, each once.
fn named(ruling: Ruling, by: &[RuleRef]) -> Ruling {
    let mut all: Vec<&RuleRef> = Vec::new();
    for rule in by {
        if !all.contains(&rule) {
            all.push(rule);
        }
    }
    let each = |said: fn(&RuleRef) -> String| {
        let said: Vec<String> = all.iter().map(|rule| said(rule)).collect();
        (!said.is_empty()).then(|| in_words(&said.join(", ")))
    };
    Ruling {
        place: each(|rule| format!("{}:{}", rule.file, rule.line)),
        rule: each(|rule| rule.pattern.clone()),
        ..ruling
    }
}

fn in_words(text: &str) -> String {
    sanitize::line(text).chars().take(MAX_WORDS).collect()
}

fn ruling(judgement: Judgement, rules: &Rules, is_held: bool) -> (Ruling, Vec<RuleRef>) {
    let Judgement { verdict, rule, also, doubt } = judgement;
    let verdict = match (verdict, &rule) {
        (Verdict::Allow, Some(_)) => Ruled::Allow,
        (Verdict::Deny, _) => Ruled::Deny,
        (Verdict::Ask, Some(_)) => Ruled::Ask,
        (Verdict::Ask, None) if is_held => Ruled::Ask,
        // It may be what a rule is against.
        (Verdict::Ask, None) if !doubt.is_some_and(Doubt::is_silence) && rules.narrow() => Ruled::Ask,
        (Verdict::Allow | Verdict::Ask, None) => Ruled::Open,
    };
    let reason = rule.as_ref().and_then(|rule| rule.reason.as_deref()).map(in_words);
    (Ruling { verdict, reason, ..Ruling::OPEN }, rule.into_iter().chain(also).collect())
}

/// The narrowest rule that would allow it.
fn spelled(request: &Request<'_>) -> Option<String> {
    let set = rules::propose(request).into_iter().next()?;
    Some(in_words(&set.join(", ")))
}

/// Where these directories really are, and what their links lead to.
pub fn ours(directories: &[PathBuf]) -> Vec<PathBuf> {
    let links = |dir: &PathBuf| {
        let entries = dir.read_dir().into_iter().flatten().take(MAX_LINKS).filter_map(Result::ok);
        let links = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_symlink()));
        links.filter_map(|entry| entry.path().canonicalize().ok()).collect::<Vec<_>>()
    };
    directories.iter().flat_map(|dir| real_path(dir).into_iter().chain(links(dir))).collect()
}

/// Seconds from 1970.
pub fn now() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs().cast_signed())
}

fn stamp(file: &Path) -> Stamp {
    match file.metadata() {
        Ok(meta) => Stamp::There { modified: meta.modified().ok(), bytes: meta.len() },
        Err(_) => Stamp::Missing,
    }
}

/// The rules of a file; `None` when there is none.
pub fn read_rules(file: &Path, trust: Trust) -> Option<FileRules> {
    read_by(file, |_| trust)
}

/// Where a project's rules for a directory stand: there, and in the directories above it up to that of its repository.
pub fn project_files(cwd: &Path) -> Vec<PathBuf> {
    let is_root = |dir: &Path| dir.join(".git").symlink_metadata().is_ok();
    let above = cwd.ancestors().take(MAX_ABOVE).position(is_root).unwrap_or(0);
    cwd.ancestors().take(above + 1).map(|dir| dir.join(PROJECT_FILE)).collect()
}

/// The rules in these files of one project. What the directory's own allows it may; those above it only narrow, by paths
/// that begin where each file is: what they allow is meant for commands that begin there.
pub fn read_projects(files: &[PathBuf], trusted: Option<&Trusted>) -> Vec<FileRules> {
    let Some((own, above)) = files.split_first() else { return Vec::new() };
    read_project(own, trusted).into_iter().chain(above.iter().filter_map(|file| read_above(file))).collect()
}

/// The rules of a project's file above the directory that they are to hold in.
pub fn read_above(file: &Path) -> Option<FileRules> {
    let found = read_rules(file, Trust::Full)?;
    let dir = file.ancestors().nth(Path::new(PROJECT_FILE).iter().count())?;
    let dir = dir.canonicalize().unwrap_or_else(|_| dir.to_owned());
    Some(FileRules { rules: found.rules.narrowing_at(&dir), ..found })
}

/// The rules of a project's file, which allow only while the person trusts exactly this text.
pub fn read_project(file: &Path, trusted: Option<&Trusted>) -> Option<FileRules> {
    let is_trusted = |text: &str| trusted.is_some_and(|trusted| trusted.has(file, text));
    read_by(file, |text| if is_trusted(text) { Trust::Full } else { Trust::OnlyNarrow })
}

fn read_by(file: &Path, trust: impl Fn(&str) -> Trust) -> Option<FileRules> {
    match read_text(file) {
        Ok(None) => None,
        Ok(Some(text)) => {
            let trust = trust(&text);
            let Loaded { rules, malformed, warnings } = rules::load(&text, &file.to_string_lossy(), trust);
            let warnings = warnings.iter().map(ToString::to_string).collect();
            Some(FileRules { rules, text, fault: malformed.map(|fault| fault.to_string()), warnings })
        }
        Err(reason) => {
            let mut rules = Rules::default();
            rules.broken(None, None);
            let fault = Some(format!("{}: {reason}", file.display()));
            Some(FileRules { rules, fault, ..FileRules::default() })
        }
    }
}

/// The rules that were made in questions in this directory.
pub fn read_made(all: &Path, cwd: &Path) -> Option<FileRules> {
    let found = read_rules(&rule_files::of_directory(all, cwd), Trust::Full)?;
    // What cannot be read may be its own, with a deny in it.
    let is_own = found.fault.is_some() || rule_files::is_headed(&found.text, &rule_files::heading(cwd));
    is_own.then_some(found)
}

#[cfg(test)]
#[path = "rulebook_tests.rs"]
mod tests;
