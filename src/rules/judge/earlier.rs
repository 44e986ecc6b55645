//! What the commands before one in its line may have made links of.
//!
//! Rules are asked before any command of the line has run: what a link of an earlier command leads to cannot be seen yet.
//! Invariant: a name that an earlier command may have made a link of, or below one, is touched.

use super::{Inside, look_inside};
use crate::base::paths::normalize;
use crate::rules::hazards::{self, Makes};
use crate::rules::pattern::base_name;
use crate::rules::shell::{Command, Order, Segment};
use crate::rules::word::Word;
use crate::rules::{Request, wrappers};
use std::path::{Path, PathBuf};

/// What one command of the line may put links at and below.
#[derive(Debug)]
pub(super) struct Made {
    /// The place of its command in the line.
    at: usize,
    /// In small letters: names that a file system takes for one are one.
    names: Vec<PathBuf>,
    is_anything: bool,
}

/// What the commands of a line make, in their order.
pub(super) fn made(request: &Request<'_>, segments: &[Segment]) -> Vec<Made> {
    let commands = segments.iter().enumerate().filter_map(|(at, segment)| match segment {
        Segment::Command(command) => Some((at, command)),
        Segment::File { .. } => None,
    });
    commands.filter_map(|(at, command)| Made::by(request, at, command)).collect()
}

/// Those of a line that may be before its command at a place.
pub(super) fn before(made: &[Made], at: usize, order: Order) -> impl Iterator<Item = &Made> {
    made.iter().filter(move |made| match order {
        Order::Written => made.at < at,
        Order::Mixed => made.at != at,
        Order::Repeated => true,
    })
}

/// Whether one of these may have made a link of a file, or of a directory above it.
pub(super) fn touches(request: &Request<'_>, earlier: &[&Made], path: &Path) -> bool {
    if earlier.is_empty() {
        return false;
    }
    let places = places(request, path);
    let is_below = |name: &PathBuf| places.iter().any(|place| place.starts_with(name));
    // A directory that one of them may have put there.
    let is_missing = || request.cwd.join(path).parent().is_some_and(|dir| !(request.is_above)(dir));
    earlier.iter().any(|made| made.is_anything || made.names.iter().any(is_below)) || is_missing()
}

fn places(request: &Request<'_>, path: &Path) -> Vec<PathBuf> {
    let joined = request.cwd.join(path);
    let places = std::iter::once(normalize(&joined)).chain((request.links)(&joined));
    places.map(|path| PathBuf::from(path.to_string_lossy().to_lowercase())).collect()
}

impl Made {
    fn by(request: &Request<'_>, at: usize, command: &Command) -> Option<Self> {
        let mut inside = Inside::default();
        look_inside(&command.words, 0, 0, 0, &mut inside);
        let (mut all, mut is_any) = (Self { at, names: Vec::new(), is_anything: false }, false);
        for (from, _) in &inside.commands {
            let words = command.words.get(*from..).unwrap_or_default();
            let Some(first) = words.first() else { continue };
            let program = base_name(first).text;
            let makes = hazards::makes(&program, words);
            is_any |= makes != Makes::Nothing;
            all.add(request, makes, words, &program, inside.is_fed);
        }
        is_any.then_some(all)
    }

    fn add(&mut self, request: &Request<'_>, makes: Makes, words: &[Word], program: &str, is_fed: bool) {
        let mut name = |text: &str| self.names.extend(places(request, Path::new(text)));
        match makes {
            Makes::Nothing => {}
            // What the line of a shell makes.
            _ if wrappers::script(program, words).is_some() => self.is_anything = true,
            Makes::Anything => self.is_anything = true,
            Makes::Written => {
                let files = hazards::written(program, words).unwrap_or_default();
                for file in &files {
                    name(&file.word.text);
                }
                self.is_anything |= is_fed || files.iter().any(|file| !file.word.is_known() || file.word.is_tilde);
            }
            Makes::Named => {
                // A directory that is there becomes no link.
                let values = words.iter().skip(1).flat_map(|word| hazards::values(&word.text));
                values.filter(|text| !matches!(*text, "" | "." | "./")).for_each(name);
            }
        }
    }
}
