//! Rules that the person makes while a question waits: what they would do, and how they are kept.
//!
//! Blocks on the disk and on what judging costs. Decides nothing about the question. Invariants: what is proposed
//! allows the request; a rule is told as kept only after it can be read again.

use super::earlier::Requests;
use super::rule_files::{self, NotChanged};
use super::rulebook::{Rulebook, now};
use super::ruling::{Done, RulesInForce, list_of};
use crate::base::date::rfc3339;
use crate::model::claims::Claims;
use crate::model::event::HostEvent;
use crate::model::ids::ReqId;
use crate::model::ruling::{MadeRule, NewRules, Ruled, Scope, Weighed, Weighing};
use crate::rules::{self, Edit, NotEdited, RuleRef, Rules};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

const A_DAY: u64 = 86_400;
/// Sets of patterns that are offered.
const MAX_PROPOSED: usize = 6;
/// Bytes of what may be written as rules.
const MAX_TEXT: usize = 16 << 10;

/// What is to be weighed.
pub(super) struct RuleQuery {
    pub req: ReqId,
    pub list: Ruled,
    /// Nothing: what could be made is wanted.
    pub text: Option<String>,
    pub waiting: Vec<(ReqId, Claims)>,
    pub past: Vec<Arc<Claims>>,
    /// Of earlier sessions.
    pub earlier: Arc<Requests>,
}

pub(super) fn weigh(in_force: &RulesInForce, wanted: RuleQuery) -> Done {
    let RuleQuery { req, list, text, waiting, past, earlier } = wanted;
    let before = in_force.book().with(&in_force.cwd(), &in_force.more()).0;
    let weighed = |text: &str| of_text(in_force, &before, (list, text), &waiting, (&past, &earlier));
    let of = waiting.iter().find(|(of, _)| *of == req).map(|(_, claims)| claims);
    let mut weighing = Weighing { req, list, proposed: Vec::new(), typed: None, why_none: None };
    match text {
        Some(text) => weighing.typed = Some(weighed(&text)),
        None => {
            let texts = of
                .map(|claims| proposed(in_force.book(), in_force.agent(), &in_force.cwd(), claims))
                .unwrap_or_default();
            let resolves = |weighed: &Weighed| weighed.fault.is_none() && weighed.resolves.contains(&req);
            let offered = of.map(|claims| offered(in_force, list, claims, &texts)).unwrap_or_default();
            let all = offered.iter().map(|text| weighed(text)).filter(resolves);
            weighing.proposed = all.take(MAX_PROPOSED).collect();
            if weighing.proposed.is_empty() {
                weighing.why_none =
                    Some(of.map_or_else(String::new, |claims| why_none(in_force, claims, texts.last())));
            }
        }
    }
    Done { event: HostEvent::RulesWeighed(weighing), concerns_all: false }
}

/// Texts of rules that might allow all that is claimed, the narrowest first.
pub(super) fn proposed(book: &Rulebook, agent: Option<&str>, cwd: &Path, claims: &Claims) -> Vec<String> {
    let parts: Vec<Vec<Vec<String>>> = claims
        .all
        .iter()
        .filter(|claim| !claim.only_narrows)
        .filter_map(|claim| book.request(agent, cwd, claims, claim, rules::propose))
        .collect();
    let levels = parts.iter().map(Vec::len).max().unwrap_or(0);
    let mut texts: Vec<String> = Vec::new();
    for level in 0..levels {
        let mut set: Vec<&String> = Vec::new();
        for pattern in parts.iter().filter_map(|part| part.get(level).or(part.last())).flatten() {
            if !set.contains(&pattern) {
                set.push(pattern);
            }
        }
        let text = set.iter().map(|pattern| pattern.as_str()).collect::<Vec<_>>().join(", ");
        // What an agent has worded is one pattern and never several, nor the end of one.
        let is_read_so = rules::patterns(&text).is_ok_and(|read| read.iter().eq(set.iter().copied()));
        if is_read_so && !texts.contains(&text) {
            texts.push(text);
        }
    }
    texts
}

/// The same without what the rules allow anyway. To deny a line or ask about it one of its parts is enough.
fn offered(in_force: &RulesInForce, list: Ruled, claims: &Claims, texts: &[String]) -> Vec<String> {
    let mut needed: Vec<String> = Vec::new();
    for text in texts.iter().map(|text| needed_of(in_force, claims, text)) {
        if !needed.contains(&text) {
            needed.push(text);
        }
    }
    let narrowest = needed.first().filter(|_| list != Ruled::Allow).and_then(|text| rules::patterns(text).ok());
    let parts = narrowest.filter(|parts| parts.len() > 1).unwrap_or_default();
    parts.into_iter().chain(needed).collect()
}

/// Of the patterns of a text those without which the rules would not allow what is claimed.
fn needed_of(in_force: &RulesInForce, claims: &Claims, text: &str) -> String {
    let Ok(mut patterns) = rules::patterns(text) else { return text.to_owned() };
    let (agent, cwd) = (in_force.agent(), in_force.cwd());
    let allow = |patterns: &[String]| {
        let text = patterns.join(", ");
        let is_read_so = rules::patterns(&text).is_ok_and(|read| read == patterns);
        let Some(only) = read(Ruled::Allow, &text).ok().filter(|_| is_read_so) else { return false };
        let mut more = in_force.more();
        more.extend(only);
        let rules = in_force.book().with(&cwd, &more).0;
        in_force.book().by(&rules, agent, &cwd, claims).verdict == Ruled::Allow
    };
    if patterns.len() < 2 || !allow(&patterns) {
        return text.to_owned();
    }
    let mut at = 0;
    while patterns.len() > 1 && at < patterns.len() {
        let pattern = patterns.remove(at);
        if !allow(&patterns) {
            patterns.insert(at, pattern);
            at += 1;
        }
    }
    patterns.join(", ")
}

/// In words for the person: what stands in the way even of the widest rule that might be made.
fn why_none(in_force: &RulesInForce, claims: &Claims, widest: Option<&String>) -> String {
    let cwd = in_force.cwd();
    let mut more = in_force.more();
    more.extend(widest.and_then(|text| read(Ruled::Allow, text).ok()).unwrap_or_default());
    let rules = in_force.book().with(&cwd, &more).0;
    let judged = claims.all.iter().filter_map(|claim| {
        in_force.book().request(in_force.agent(), &cwd, claims, claim, |request| rules::judge(&rules, request))
    });
    // That a part of it would be allowed is no reason.
    let mut against = judged.filter(|judged| judged.verdict != rules::Verdict::Allow).filter_map(|judged| {
        match (judged.rule, judged.doubt) {
            (Some(rule), _) => Some(format!("the rule {} is against it", rule.pattern)),
            (None, Some(rules::Doubt::NoRule) | None) => None,
            (None, Some(doubt)) => Some(doubt.words().into_owned()),
        }
    });
    against.next().unwrap_or_else(|| "it does not say what it does".to_owned())
}

fn of_text(
    in_force: &RulesInForce,
    before: &Rules,
    (list, text): (Ruled, &str),
    waiting: &[(ReqId, Claims)],
    (past, earlier): (&[Arc<Claims>], &Requests),
) -> Weighed {
    let mut weighed = Weighed { text: text.to_owned(), ..Weighed::default() };
    let only = match read(list, text) {
        Ok(only) => only,
        Err(fault) => return Weighed { fault: Some(fault), ..weighed },
    };
    let cwd = in_force.cwd();
    let mut more = in_force.more();
    more.extend(only.clone());
    let all = in_force.book().with(&cwd, &more).0;
    let is_for = |rules: &Rules, claims: &Claims| {
        let ruling = in_force.book().by(rules, in_force.agent(), &cwd, claims);
        ruling.verdict == list && ruling.rule.is_some()
    };
    weighed.resolves = waiting.iter().filter(|(_, claims)| is_for(&all, claims)).map(|(req, _)| *req).collect();
    // By itself, or together with those that there are where these alone do not decide it so.
    let decides = |claims: &Claims| is_for(&only, claims) || is_for(&all, claims) && !is_for(before, claims);
    weighed.here = (past.iter().filter(|claims| decides(claims)).count(), past.len());
    weighed.before = earlier
        .iter()
        .fold((0, 0), |(fits, all), (claims, times)| (fits + if decides(claims) { *times } else { 0 }, all + times));
    weighed
}

/// What is written, as rules.
pub(super) fn read(list: Ruled, text: &str) -> Result<Rules, String> {
    if text.len() > MAX_TEXT {
        return Err("it is too long".to_owned());
    }
    let mut rules = Rules::default();
    for pattern in rules::patterns(text)? {
        rules.add(RuleRef { list: list_of(list), pattern, ..RuleRef::default() })?;
    }
    Ok(rules)
}

/// Has the rules hold from now on: at once, and before they are written where they are to be kept.
pub(super) fn make(in_force: &RulesInForce, new: &NewRules, tell: &dyn Fn(HostEvent)) -> Done {
    let NewRules { list, text, scope } = new;
    let patterns = read(*list, text).and_then(|_| rules::patterns(text));
    let (mut rules, mut fault) = match patterns {
        Ok(patterns) => (
            patterns.into_iter().map(|pattern| MadeRule { list: *list, pattern, scope: *scope, agent: None }).collect(),
            None,
        ),
        Err(fault) => (Vec::new(), Some(fault)),
    };
    let mut unkept = Vec::new();
    if scope.is_kept() && fault.is_none() {
        tell(HostEvent::RulesHeld(rules.clone()));
        (rules, unkept) = rules.into_iter().partition(|rule| match keep(in_force, rule) {
            Ok(()) => true,
            Err(why) => {
                fault = Some(why);
                false
            }
        });
    }
    Done {
        concerns_all: scope.is_kept() && !rules.is_empty(),
        event: HostEvent::RulesMade { made: rules, unkept, fault },
    }
}

/// Has the narrowest rule hold that would have answered this.
pub(super) fn keep_answer(
    in_force: &RulesInForce,
    claims: &Claims,
    (list, scope): (Ruled, Scope),
    tell: &dyn Fn(HostEvent),
) -> Done {
    let (book, agent, cwd) = (in_force.book(), in_force.agent(), in_force.cwd());
    let texts = proposed(book, agent, &cwd, claims);
    let answers = |text: &&String| {
        let Ok(only) = read(list, text) else { return false };
        let mut more = in_force.more();
        more.extend(only);
        book.by(&book.with(&cwd, &more).0, agent, &cwd, claims).verdict == list
    };
    match texts.iter().find(answers) {
        Some(text) => make(in_force, &NewRules { list, text: text.clone(), scope }, tell),
        None => {
            let fault = Some(why_none(in_force, claims, texts.last()));
            let event = HostEvent::RulesMade { made: Vec::new(), unkept: Vec::new(), fault };
            Done { concerns_all: false, event }
        }
    }
}

/// Writes a rule.
fn keep(in_force: &RulesInForce, rule: &MadeRule) -> Result<(), String> {
    let MadeRule { list, pattern, scope, agent } = rule;
    let until = (*scope == Scope::Day).then(|| rfc3339(Duration::from_secs(now().cast_unsigned() + A_DAY)));
    let (agent, until) = (agent.as_deref(), until.as_deref());
    let edit = Edit { list: list_of(*list), pattern, agent, reason: None, until, is_removal: false };
    change(in_force, *scope, edit)
}

/// Which rules are kept in files that the person can take back, of earlier sessions, too.
pub(super) fn kept(in_force: &RulesInForce) -> Done {
    let kept = in_force.book().kept(in_force.agent(), &in_force.cwd());
    Done { event: HostEvent::RulesKept(kept), concerns_all: false }
}

/// Takes a rule back that is kept in a file.
pub(super) fn remove(in_force: &RulesInForce, rule: MadeRule) -> Done {
    let edit = Edit {
        list: list_of(rule.list),
        pattern: &rule.pattern,
        agent: rule.agent.as_deref(),
        reason: None,
        until: None,
        is_removal: true,
    };
    let fault = change(in_force, rule.scope, edit).err();
    Done { concerns_all: fault.is_none(), event: HostEvent::RuleDropped { rule, fault } }
}

fn change(in_force: &RulesInForce, scope: Scope, edit: Edit<'_>) -> Result<(), String> {
    let place = in_force.book().place(scope, &in_force.cwd());
    let (file, heading) = place.ok_or("there is no place where such rules are kept")?;
    match rule_files::change(&file, &heading, edit) {
        // It is as it should be.
        Ok(()) | Err(NotChanged::Edit(NotEdited::There | NotEdited::NotThere)) => Ok(()),
        Err(error) => Err(format!("{}: {error}", file.display())),
    }
}

#[cfg(test)]
#[path = "making_tests.rs"]
mod tests;
