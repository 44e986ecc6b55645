//! A command as the patterns of rules that deny or ask see it: with its settings, without them, and each that it runs.
//!
//! Made once for a command, since there may be a thousand rules. Invariant: what might match is told apart from what does.

use crate::rules::hazards;
use crate::rules::list::Said;
use crate::rules::pattern::{Match, Spec, base_name};
use crate::rules::shell::Command;
use crate::rules::word::Word;
use std::borrow::Cow;

pub(super) struct Views<'a> {
    /// Settings, then words; nothing without settings.
    whole: Option<View<'a>>,
    /// The command itself, and what it may run: with whether that is certain.
    commands: Vec<(View<'a>, bool)>,
}

struct View<'a> {
    words: Cow<'a, [Word]>,
    /// The first word without the path before it.
    program: Word,
}

impl<'a> View<'a> {
    fn of(words: Cow<'a, [Word]>) -> Option<Self> {
        let mut program = base_name(words.first()?);
        if program.is_known() {
            program.text = hazards::of_package(&program.text).to_owned();
        }
        Some(Self { words: hazards::with_pathspecs(&program.text, words), program })
    }
}

impl<'a> Views<'a> {
    /// `commands`: where each of them begins, and whether that is certain; `is_fed`: they get further words that are not
    /// known.
    pub(super) fn of(command: &'a Command, commands: &[(usize, bool)], is_fed: bool) -> Self {
        let all = || command.settings.iter().chain(&command.words).cloned().collect();
        let whole = if command.settings.is_empty() { None } else { View::of(Cow::Owned(all())) };
        let view = |(from, is_certain): &(usize, bool)| {
            let mut words = Cow::Borrowed(command.words.get(*from..).filter(|words| !words.is_empty())?);
            if is_fed {
                words.to_mut().push(Word::any());
            }
            Some((View::of(words)?, *is_certain))
        };
        Self { whole, commands: commands.iter().filter_map(view).collect() }
    }

    /// What is known of their words; nothing where one is not known with which they begin.
    pub(super) fn said(&self) -> Option<Said<'_>> {
        let views = || self.whole.iter().chain(self.commands.iter().map(|(view, _)| view));
        let firsts = views().flat_map(|view| [view.words.first().and_then(Word::known), view.program.known()]);
        let mut firsts: Vec<&str> = firsts.collect::<Option<_>>()?;
        firsts.sort_unstable();
        firsts.dedup();
        // Of the commands the first has the words of all.
        let longest = self.whole.iter().chain(self.commands.first().map(|(view, _)| view));
        let words: Option<Vec<&str>> = longest.flat_map(|view| view.words.iter().map(Word::known)).collect();
        Some(Said { firsts, words })
    }

    pub(super) fn match_with(&self, spec: &Spec) -> Match {
        let spec = match spec {
            Spec::Any => return Match::Yes,
            Spec::Command(spec) => spec,
            _ => return Match::No,
        };
        let matches = |view: &View<'_>| spec.matches(&view.words, Some(&view.program));
        let mut result = self.whole.as_ref().map_or(Match::No, matches);
        for (view, is_certain) in &self.commands {
            let mut found = matches(view);
            let is_like_it = || {
                spec.matches_without_options(&view.words, &view.program)
                    || spec.matches_with_options_elsewhere(&view.words, &view.program)
            };
            if found == Match::No && is_like_it() {
                found = Match::Perhaps;
            }
            result = result.max(if *is_certain { found } else { found.min(Match::Perhaps) });
        }
        result
    }
}
