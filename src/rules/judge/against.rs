//! What rules are against a request: those with paths that are for a file or for something below it, and any that deny or ask.
//!
//! Invariant: what is left out by the list is so because it cannot be for the file.

use super::places::Places;
use super::{Opinion, holds};
use crate::rules::list::{Among, List, Place};
use crate::rules::pattern::{Match, Spec};
use crate::rules::tool::Tool;
use crate::rules::tree::Bases;
use crate::rules::{Doubt, Request, Rule, Rules};
use std::path::Path;

/// The first rules of a list: the one that is for a file, and one before that for something below it.
#[derive(Default)]
pub(super) struct First<'a> {
    pub(super) itself: Option<(Place, &'a Rule)>,
    pub(super) below: Option<(Place, &'a Rule)>,
}

impl<'a> First<'a> {
    pub(super) fn either(&self) -> Option<&'a Rule> {
        self.itself.into_iter().chain(self.below).min_by_key(|(place, _)| *place).map(|(_, rule)| rule)
    }

    fn found(&self) -> Match {
        match self {
            Self { itself: Some(_), .. } => Match::Yes,
            Self { below: Some(_), .. } => Match::Below,
            _ => Match::No,
        }
    }
}

/// The rules, and the request that they are looked at for.
#[derive(Clone, Copy)]
pub(super) struct Against<'a> {
    pub(super) rules: &'a Rules,
    pub(super) request: &'a Request<'a>,
}

impl<'a> Against<'a> {
    /// The first rules of a list that are for a file, of those that count.
    pub(super) fn first(
        self,
        list: &'a List,
        tool: &Tool,
        places: &Places<'_>,
        counts: impl Fn(&Spec) -> bool,
    ) -> First<'a> {
        let is_one = |(_, rule): &(Place, &Rule)| holds(rule, self.request, tool) && counts(&rule.pattern.spec);
        let mut first = First::default();
        for at in list.at(tool.kind, |tree, found| places.look(tree, found)) {
            for one in at.near().filter(is_one) {
                match places.wide(&one.1.pattern.spec) {
                    Match::Yes => {
                        first.itself = Some(one);
                        break;
                    }
                    Match::Below => first.below = first.below.or(Some(one)),
                    Match::Perhaps | Match::No => {}
                }
            }
            let below = at.below().filter_map(|mut those| those.find(is_one));
            first.below = first.below.into_iter().chain(below).min_by_key(|(place, _)| *place);
            if first.itself.is_some() {
                break;
            }
        }
        first
    }

    /// Whether a rule with a path denies or asks about a file, or something below it; of rules that name something, where
    /// only those count.
    pub(super) fn denied(self, tool: &'a Tool, path: &Path, only_named: bool) -> Option<Match> {
        let is_it = |spec: &Spec| matches!(spec, Spec::Path(spec) if !only_named || spec.names());
        if !self.narrow(tool).any(is_it) {
            return None;
        }
        let places = Places::of(self.request, path);
        let lists = [&self.rules.deny, &self.rules.ask].into_iter();
        lists.map(|list| self.first(list, tool, &places, is_it).found()).max().filter(|found| *found != Match::No)
    }

    /// Whether a rule denies or asks about something at or below a place, or about all.
    pub(super) fn is_below(self, tool: &'a Tool, path: &Path) -> bool {
        self.narrow(tool).any(|spec| *spec == Spec::Any) || self.denied(tool, path, false).is_some()
    }

    /// Whether a rule with a path denies or asks.
    pub(super) fn is_any(self, tool: &'a Tool) -> bool {
        self.narrow(tool).any(|spec| matches!(spec, Spec::Path(_)))
    }

    /// Whether a rule denies or asks of which `may_fit` says that it may be for a path with marks, by any of its shapes.
    pub(super) fn is_any_of_shape(self, tool: &'a Tool, shapes: &[&Path], may_fit: impl Fn(&Spec) -> bool) -> bool {
        let bases = Bases { roots: self.request.roots, home: self.request.home };
        let lists = [&self.rules.deny, &self.rules.ask].into_iter();
        let all = lists.flat_map(|list| {
            list.at(tool.kind, |tree, found| {
                found.near.extend(shapes.iter().flat_map(|shape| tree.find_shape(shape, bases)));
            })
        });
        let mut rules = all.flat_map(|at| at.near().map(|(_, rule)| rule).collect::<Vec<_>>());
        rules.any(|rule| holds(rule, self.request, tool) && may_fit(&rule.pattern.spec))
    }

    pub(super) fn narrow(self, tool: &'a Tool) -> impl Iterator<Item = &'a Spec> {
        let lists = [&self.rules.deny, &self.rules.ask].into_iter();
        let rules = lists
            .flat_map(move |list| list.of(tool.kind, Among::All).filter(move |rule| holds(rule, self.request, tool)));
        rules.map(|rule| &rule.pattern.spec)
    }

    /// Those of a list that are for a tool, the agent and the moment.
    pub(super) fn of_list(
        self,
        list: &'a List,
        tool: &'a Tool,
        among: Among<'_>,
    ) -> impl Iterator<Item = &'a Rule> + use<'a> {
        let request = self.request;
        list.of(tool.kind, among).filter(move |rule| holds(rule, request, tool))
    }

    /// What is asked because a deny of this tool could not be read, or else because there is no rule.
    pub(super) fn default(self, tool: &Tool) -> Doubt {
        let agent = self.request.agent;
        let is_broken = self.rules.broken.iter().any(|broken| {
            broken.tool.as_ref().is_none_or(|named| named.covers(tool))
                && broken.agent.as_deref().is_none_or(|name| agent == Some(name))
        });
        if is_broken { Doubt::BrokenDeny } else { Doubt::NoRule }
    }

    /// What rules that deny or ask say, by a way to match.
    pub(super) fn narrowed(
        self,
        tool: &'a Tool,
        among: Among<'_>,
        wide: impl Fn(&Spec) -> Match,
    ) -> Option<Opinion<'a>> {
        let mut perhaps = None;
        for rule in self.of_list(&self.rules.deny, tool, among) {
            match wide(&rule.pattern.spec) {
                Match::Yes => return Some(Opinion::by(rule)),
                Match::Perhaps => perhaps = Some(Opinion::ask(Doubt::PerhapsDenied)),
                Match::Below => perhaps = perhaps.or(Some(Opinion::ask(Doubt::DeniedBelow))),
                Match::No => {}
            }
        }
        let asked = self.of_list(&self.rules.ask, tool, among).find(|rule| wide(&rule.pattern.spec) != Match::No);
        asked.map(Opinion::by).or(perhaps)
    }
}
