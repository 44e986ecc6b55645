//! The verdict about a call of no known kind, of which only its title is known: some agents name commands there alone, as in
//! `Shell: git status`.
//!
//! Invariants: `*` in a pattern that allows stands for nothing that a shell would take for more than words; where the rest of a
//! title may be a line, it is allowed as that line would be by the rest of the pattern. What is denied is matched by both.

use super::against::Against;
use super::judge;
use crate::base::tools::{self, Does};
use crate::rules::pattern::{Match, Spec};
use crate::rules::tool::Tool;
use crate::rules::{Doubt, Request, RuleRef, Rules, Subject, Verdict};
use std::cell::OnceCell;

/// What a shell takes for more than words, or what leads away from where a path begins.
const SIGNS: [&str; 13] = [";", "&", "|", "\n", "\r", "`", "$", "<", ">", "(", ")", "..", "\\"];

/// Whether a pattern that allows is for a title.
pub(super) fn allows(request: &Request<'_>, spec: &Spec, title: &str) -> bool {
    let Spec::Text(glob) = spec else { return spec.is_for(title, false) };
    if !glob.matches(title) {
        return false;
    }
    // All of a tool that has a name is meant by its name alone.
    let is_all = || !request.tool.is_nameless() && glob.text().chars().all(|c| c == '*');
    if glob.is_literal() || is_all() {
        return true;
    }
    let count = |text: &str, sign: &str| text.matches(sign).count();
    if SIGNS.iter().any(|sign| count(title, sign) != count(glob.text(), sign)) {
        return false;
    }
    if !request.tool.is_nameless() {
        return true;
    }
    match (parts(glob.text()), parts(title)) {
        (Some((name, pattern)), Some((named, line))) if name == named => {
            is_no_line(name)
                || said(request, Verdict::Allow, &[pattern], line).is_some_and(|(verdict, _)| verdict == Verdict::Allow)
        }
        (None, None) => {
            said(request, Verdict::Allow, &[glob.text()], title).is_some_and(|(verdict, _)| verdict == Verdict::Allow)
        }
        // Which tool it is has to be written out.
        _ => false,
    }
}

/// Rules that deny or ask, looked at for a title. The line in it is read once for all of them: one by one only where any of
/// them may be for it.
pub(super) struct Titled<'a> {
    against: Against<'a>,
    title: &'a str,
    may_be_for: OnceCell<bool>,
}

impl<'a> Titled<'a> {
    pub(super) fn new(against: Against<'a>, title: &'a str) -> Self {
        Self { against, title, may_be_for: OnceCell::new() }
    }

    /// Whether a pattern that denies or asks is for the title, or for a command in it.
    pub(super) fn is_against(&self, spec: &Spec) -> Match {
        if spec.is_for(self.title, true) {
            return Match::Yes;
        }
        let request = self.against.request;
        let Some((pattern, line)) = command(spec, self.title).filter(|_| request.tool.is_nameless()) else {
            return Match::No;
        };
        if !*self.may_be_for.get_or_init(|| self.may_any_be_for()) {
            return Match::No;
        }
        match said(request, Verdict::Deny, &[pattern], line) {
            Some((Verdict::Deny, _)) => Match::Yes,
            Some((_, Some(Doubt::PerhapsDenied))) => Match::Perhaps,
            _ => Match::No,
        }
    }

    fn may_any_be_for(&self) -> bool {
        let of_line: Vec<(&str, &str)> =
            self.against.narrow(self.against.request.tool).filter_map(|spec| command(spec, self.title)).collect();
        let Some((_, line)) = of_line.first().filter(|_| of_line.len() > 1) else { return true };
        let patterns: Vec<&str> = of_line.iter().map(|(pattern, _)| *pattern).collect();
        let said = said(self.against.request, Verdict::Deny, &patterns, line);
        matches!(said, Some((Verdict::Deny, _) | (_, Some(Doubt::PerhapsDenied))))
    }
}

/// The pattern for commands in one that denies or asks, and the line in the title that it is looked for in.
fn command<'s>(spec: &'s Spec, title: &'s str) -> Option<(&'s str, &'s str)> {
    let Spec::Text(glob) = spec else { return None };
    match (parts(glob.text()), parts(title)) {
        (Some((name, pattern)), Some((named, line))) => name.eq_ignore_ascii_case(named).then_some((pattern, line)),
        (None, None) => Some((glob.text(), title)),
        _ => None,
    }
}

/// `Shell: git status` → `Shell` and `git status`.
fn parts(title: &str) -> Option<(&str, &str)> {
    title
        .split_once(": ")
        .filter(|(name, _)| !name.is_empty() && !name.contains(|c: char| c.is_whitespace() || c == '*'))
}

/// Whether what follows the name of that tool is no command for certain.
fn is_no_line(name: &str) -> bool {
    tools::named(name).is_some_and(|(does, _)| does != Does::Runs)
}

/// What rules for commands of these patterns, and no others, would say of the line.
fn said(request: &Request<'_>, list: Verdict, patterns: &[&str], line: &str) -> Option<(Verdict, Option<Doubt>)> {
    let tool = Tool::named("bash")?;
    let mut rules = Rules::default();
    for pattern in patterns {
        // What is no pattern for commands is for none.
        let _ = rules.add(RuleRef { list, pattern: format!("Bash({})", pattern.trim()), ..RuleRef::default() });
    }
    rules.iter().next()?;
    let judgement = judge(&rules, &Request { tool: &tool, subject: Subject::Line(line), ..*request });
    Some((judgement.verdict, judgement.doubt))
}
