//! The verdict about a call of no known kind, of which only its title is known: some agents name commands there alone, as in
//! `Shell: git status`.
//!
//! Invariants: `*` in a pattern that allows stands for nothing that a shell would take for more than words; where the rest of a
//! title may be a line, it is allowed as that line would be by the rest of the pattern. What is denied is matched by both.

use super::judge;
use crate::base::tools::{self, Does};
use crate::rules::pattern::{Match, Spec};
use crate::rules::tool::Tool;
use crate::rules::{Doubt, Request, RuleRef, Rules, Subject, Verdict};

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
                || said(request, Verdict::Allow, pattern, line).is_some_and(|(verdict, _)| verdict == Verdict::Allow)
        }
        (None, None) => {
            said(request, Verdict::Allow, glob.text(), title).is_some_and(|(verdict, _)| verdict == Verdict::Allow)
        }
        // Which tool it is has to be written out.
        _ => false,
    }
}

/// Whether a pattern that denies or asks is for a title, or for a command in it.
pub(super) fn is_against(request: &Request<'_>, spec: &Spec, title: &str) -> Match {
    if spec.is_for(title, true) {
        return Match::Yes;
    }
    let Spec::Text(glob) = spec else { return Match::No };
    if !request.tool.is_nameless() {
        return Match::No;
    }
    let found = match (parts(glob.text()), parts(title)) {
        (Some((name, pattern)), Some((named, line))) if name.eq_ignore_ascii_case(named) => {
            said(request, Verdict::Deny, pattern, line)
        }
        (None, None) => said(request, Verdict::Deny, glob.text(), title),
        _ => None,
    };
    match found {
        Some((Verdict::Deny, _)) => Match::Yes,
        Some((_, Some(Doubt::PerhapsDenied))) => Match::Perhaps,
        _ => Match::No,
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

/// What a single rule for commands of this pattern would say of the line.
fn said(request: &Request<'_>, list: Verdict, pattern: &str, line: &str) -> Option<(Verdict, Option<Doubt>)> {
    let tool = Tool::named("bash")?;
    let mut rules = Rules::default();
    let source = RuleRef { list, pattern: format!("Bash({})", pattern.trim()), ..RuleRef::default() };
    rules.add(source).ok()?;
    let judgement = judge(&rules, &Request { tool: &tool, subject: Subject::Line(line), ..*request });
    Some((judgement.verdict, judgement.doubt))
}
