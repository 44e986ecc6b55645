//! Other names for a program that rules deny or ask about: copies of it, and links to it.
//!
//! Knows nothing of what the program does. Invariants: what a command names never allows it; a directory is no program; what
//! a copying command names counts whatever it is called, of others only what is outside of the roots, or put into a file.

use super::files::Files;
use super::inside::{Inside, look_inside};
use super::named::may_be_files;
use super::places::Places;
use super::{Opinion, globs};
use crate::rules::hazards;
use crate::rules::list::{Among, Said};
use crate::rules::marks::{MARKS, may_be};
use crate::rules::pattern::{Spec, base_name};
use crate::rules::shell::{Command, Line, Segment};
use crate::rules::word::Word;
use crate::rules::{Doubt, wrappers};

/// Programs that make a copy of a file, or another name for it; of git the subcommand that does.
const COPIERS: [&str; 13] =
    ["cp", "mv", "ln", "link", "install", "rsync", "scp", "dd", "ditto", "gcp", "gmv", "gln", "ginstall"];
const OF_GIT: &str = "mv";
/// Programs that put what they are given into a file, beside those.
const KEEPERS: [&str; 2] = ["tee", "sponge"];
/// What a redirection is for that keeps nothing.
const NOWHERE: &str = "/dev/null";
/// Parts of the words of one command, or of a line, that are looked at.
const MAX_PARTS: usize = 256;

/// Which names of a command count.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Counts {
    Any,
    Paths,
    Outside,
}

fn ask<'a>(is_it: bool) -> Opinion<'a> {
    if is_it { Opinion::ask(Doubt::Renamed) } else { Opinion::neither() }
}

fn is_copier(program: &str, words: &[Word]) -> bool {
    COPIERS.contains(&program)
        || program == "git"
            && words.iter().skip(1).find(|word| !word.text.starts_with('-')).is_some_and(|word| word.text == OF_GIT)
}

/// What is asked of the files that a command names.
#[derive(Clone, Copy)]
pub(super) struct Renaming<'a, 'b> {
    pub(super) files: Files<'a, 'b>,
}

impl<'a> Renaming<'a, '_> {
    /// Whether a rule denies or asks about a program of one of these names.
    fn is_narrow(&self, names: &[&str]) -> bool {
        let said = Said { firsts: names.to_vec(), words: None };
        let is_it = |spec: &Spec| match spec {
            Spec::Command(spec) => spec
                .words
                .first()
                .is_some_and(|first| first.names() && names.iter().any(|name| first.glob.matches(name))),
            _ => false,
        };
        let (against, tool) = (self.files.against, self.files.against.request.tool);
        let lists = [&against.rules.deny, &against.rules.ask].into_iter();
        let mut rules = lists.flat_map(|list| against.of_list(list, tool, Among::Command(&said)));
        rules.any(|rule| is_it(&rule.pattern.spec))
    }

    fn is_any_narrow(&self) -> bool {
        self.files.against.narrow(self.files.against.request.tool).any(|spec| matches!(spec, Spec::Command(_)))
    }

    /// Whether a text is the name of such a program, as it is written.
    fn is_program(&self, text: &str) -> bool {
        let name = text.rsplit('/').next().unwrap_or_default();
        !name.is_empty() && self.is_narrow(&[name, text, &format!("./{text}")])
    }

    /// Whether the file of a name may be such a program, by that name or by where links lead from it.
    fn is_copy(&self, text: &str, counts: Counts, is_moved: bool) -> bool {
        let request = self.files.against.request;
        if text.is_empty() || text.starts_with('-') || text.contains("://") {
            return false;
        }
        let is_named = self.is_program(text) && (counts != Counts::Paths || text.contains('/'));
        if !is_named && counts == Counts::Outside {
            return false;
        }
        let path = self.files.led(text);
        let places = Places::of(request, &path);
        let is_led = || self.is_led(&places);
        let is_out = || places.leads_out() || is_moved && path.is_relative();
        let is_here = !is_moved && self.files.earlier.is_empty();
        let is_dir = || is_here && (request.is_above)(&request.cwd.join(&path));
        (is_named && (counts != Counts::Outside || is_out()) || is_led()) && !is_dir()
    }

    /// Whether links lead to such a program of another name.
    fn is_led(&self, places: &Places<'_>) -> bool {
        places.is_led() && places.real_name().is_some_and(|name| self.is_narrow(&[name]))
    }

    fn is_copied(&self, word: &Word, counts: Counts, is_moved: bool) -> bool {
        if word.is_known() {
            let mut parts = hazards::parts(&word.text).take(MAX_PARTS);
            return parts.any(|part| self.is_copy(part, counts, is_moved));
        }
        if !word.is_glob {
            return false;
        }
        match globs::files(self.files.against.request, word) {
            Some(files) if !is_moved => files.iter().any(|path| self.is_copy(&path.to_string_lossy(), counts, false)),
            _ => self.may_be_program(&word.shape) && (counts != Counts::Outside || word.shape.starts_with('/')),
        }
    }

    /// Whether a shell may make such a name of one with marks.
    fn may_be_program(&self, shape: &str) -> bool {
        let name = shape.rsplit('/').next().unwrap_or_default();
        let specs = self.files.against.narrow(self.files.against.request.tool);
        let mut firsts = specs.filter_map(|spec| match spec {
            Spec::Command(spec) => spec.words.first().filter(|first| first.names()),
            _ => None,
        });
        firsts.any(|first| {
            let of = first.glob.text().rsplit('/').next().unwrap_or_default();
            of.contains(MARKS) || may_be(name, of)
        })
    }

    /// What is to be said of one command, with the program that it begins with.
    pub(super) fn of_command(&self, program: &str, words: &[Word], is_moved: bool) -> Opinion<'a> {
        if !self.is_any_narrow() {
            return Opinion::neither();
        }
        if words.first().is_some_and(|word| self.is_led_to_program(word, is_moved) || self.is_in_other_letters(word)) {
            return ask(true);
        }
        if is_copier(program, words) {
            return ask(words.iter().skip(1).any(|word| self.is_copied(word, Counts::Any, is_moved)));
        }
        // Behind a program that runs another one the words are that one's.
        let own = wrappers::find(program).and_then(|row| wrappers::inner(row, words)).unwrap_or(words.len());
        let own = words.get(..own).unwrap_or_default();
        ask(may_be_files(own).any(|word| self.is_copied(word, Counts::Outside, is_moved)))
    }

    /// Whether a program is one of another name, by a link.
    fn is_led_to_program(&self, word: &Word, is_moved: bool) -> bool {
        let Some(text) = word.known().filter(|text| text.contains('/') && !is_moved) else { return false };
        self.is_led(&Places::of(self.files.against.request, &self.files.led(text)))
    }

    /// Whether a program is one of that name in small letters: many disks of macOS find it by either.
    fn is_in_other_letters(&self, word: &Word) -> bool {
        let name = word.known().filter(|text| text.contains(|c: char| c.is_ascii_uppercase()));
        name.is_some_and(|text| !self.is_program(text) && self.is_program(&text.to_ascii_lowercase()))
    }

    /// What is to be said of a line: what it puts into files, and names of programs where it is not known what a command is
    /// given.
    pub(super) fn of_line(&self, line: &Line) -> Option<Opinion<'a>> {
        if !self.is_any_narrow() {
            return None;
        }
        let commands = || {
            line.segments.iter().filter_map(|segment| match segment {
                Segment::Command(command) => Some(command),
                Segment::Passed(_) | Segment::File { .. } => None,
            })
        };
        let keeps = |segment: &Segment| match segment {
            Segment::Command(command) => command.words.iter().any(|word| KEEPERS.contains(&&*base_name(word).text)),
            Segment::File { word, is_write, .. } => *is_write && word.text != NOWHERE,
            Segment::Passed(_) => false,
        };
        let counts = if line.segments.iter().any(keeps) { Counts::Paths } else { Counts::Outside };
        let is_given = |segment: &Segment| match segment {
            Segment::File { word, is_write: false, is_moved } => self.is_copied(word, counts, *is_moved),
            Segment::Command(command) if counts == Counts::Paths => {
                may_be_files(&command.words).any(|word| self.is_copied(word, counts, command.state.is_moved))
            }
            _ => false,
        };
        let is_open = |word: &Word| !word.made_of.is_empty();
        let takes_unknown = || {
            let of_command = |command: &Command| may_be_files(&command.words).any(is_open) || is_fed(command);
            let of_file =
                |segment: &Segment| matches!(segment, Segment::File { word, is_write: false, .. } if is_open(word));
            commands().any(of_command) || line.segments.iter().any(of_file)
        };
        let says = || {
            let values = line.variables.iter().map(|(_, value)| value);
            let words = commands().flat_map(arguments).chain(values);
            let texts = words.map(Word::looks).chain(line.texts.iter().map(String::as_str));
            texts.take(MAX_PARTS).any(|text| self.is_program(text))
        };
        let is_it = line.segments.iter().any(is_given) || says() && takes_unknown();
        is_it.then_some(Opinion::ask(Doubt::Renamed))
    }
}

/// The words of a command but for the programs that it begins with.
fn arguments(command: &Command) -> impl Iterator<Item = &Word> {
    let program = command.words.first().map(|word| base_name(word).text).unwrap_or_default();
    let inner = wrappers::find(&program).and_then(|row| wrappers::inner(row, &command.words));
    command.words.iter().enumerate().skip(1).filter(move |(at, _)| Some(*at) != inner).map(|(_, word)| word)
}

/// Whether a command that copies is given names by another one.
fn is_fed(command: &Command) -> bool {
    let mut inside = Inside::default();
    look_inside(&command.words, 0, 0, 0, &mut inside);
    let starts = |from: usize| command.words.get(from..).unwrap_or_default();
    let copies = |words: &[Word]| words.first().is_some_and(|word| is_copier(&base_name(word).text, words));
    inside.is_fed && inside.commands.iter().any(|(from, _)| copies(starts(*from)))
}
