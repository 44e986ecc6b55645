//! Which words of a command may be names of files that hold secrets, and which rules name those.
//!
//! Invariants: a word that may be the name of a file is one; what a pattern does not say of a secret it does not name.

use super::places::{Places, is_like_file, may_name_one};
use super::{globs, handed};
use crate::base::paths::normalize;
use crate::rules::hazards::{self, Reads, Text};
use crate::rules::marks::MARKS;
use crate::rules::pattern::{CommandSpec, base_name};
use crate::rules::secrets::{self, Secret};
use crate::rules::shell::{self, Command, Line, Segment};
use crate::rules::word::Word;
use crate::rules::{Doubt, Request};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Directories that one line goes to: each name in the line is looked at below each of them.
const MAX_DIRS: usize = 4;
/// Names of a line of which it is looked where they lead below those.
const MAX_LED: usize = 64;
/// Why what a shell makes of a word is asked about where it cannot be told.
const MANY: &str = "it stands for more files than can be looked at, and any may hold secrets";

/// What a word of a command may say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Says {
    /// It may be the name of a file.
    File,
    /// A program of a whole language, or one that only reads what it is given.
    Program { is_language: bool },
}

/// A word that names what may hold secrets.
#[derive(Debug)]
pub(super) struct Named {
    pub(super) at: usize,
    pub(super) bytes: usize,
    pub(super) why: &'static str,
    /// The rows of each file that it names, where a pattern may name them otherwise than by the word itself.
    files: Vec<Vec<&'static Secret>>,
    text: String,
}

impl Named {
    /// Whether a pattern names it: by the word itself, or by `*` in the names of files of its kind.
    pub(super) fn is_in(&self, spec: &CommandSpec, before: usize) -> bool {
        let at = before + self.at;
        let Some(pattern) = spec.word(at) else { return false };
        let parts = || pattern.split(['/']).flat_map(|part| part.split(secrets::BETWEEN));
        let is_named = |rows: &Vec<&'static Secret>| rows.iter().any(|row| parts().any(|part| row.is_named(part)));
        // A `*` of a pattern is for blanks and slashes too.
        let count = |text: &str, mark: char| text.matches(mark).count();
        let is_alike = ['/', ',', ':', '=', '@'].iter().all(|mark| count(pattern, *mark) == count(&self.text, *mark));
        let is_plain = is_alike && !self.text.split('/').any(|part| part == "..");
        spec.spells(at, self.bytes) || is_plain && !self.files.is_empty() && self.files.iter().all(is_named)
    }
}

/// The words of a command that may say something of files.
fn words(words: &[Word]) -> Vec<(usize, &Word, Says)> {
    let program = words.first().map(|word| base_name(word).text).unwrap_or_default();
    if hazards::reads(&program, words) == Reads::Nothing
        && hazards::written(&program, words).is_none_or(|files| files.is_empty())
    {
        return Vec::new();
    }
    let texts = hazards::texts(&program, words);
    let is_interpreter = hazards::is_interpreter(&program);
    let said = |at: usize| {
        let word = words.get(at)?;
        let text = texts.iter().find(|(text, _)| *text == at).map(|(_, text)| *text);
        let says = match text {
            // Of several names that a shell makes of it the second is none any more.
            Some(_) if word.is_glob => Says::File,
            Some(Text::Plain) => return None,
            Some(Text::Program) => Says::Program { is_language: false },
            None if is_interpreter && is_code(words, at) => Says::Program { is_language: true },
            None => Says::File,
        };
        Some((at, word, says))
    };
    (1..words.len()).filter_map(said).collect()
}

/// The words of a command that may be names of files, or have some in them.
pub(in crate::rules) fn may_be_files(all: &[Word]) -> impl Iterator<Item = &Word> {
    words(all).into_iter().map(|(_, word, _)| word)
}

/// Whether a word of an interpreter is a program rather than the name of one.
fn is_code(words: &[Word], at: usize) -> bool {
    let text = |at: usize| words.get(at).map_or("", |word| word.looks());
    let before = text(at - 1);
    let is_option = before.starts_with('-') && !before.starts_with("--") && before.ends_with(['c', 'e', 'E', 'p', 'r']);
    let is_long = ["--eval", "--print", "--run", "eval"].contains(&before);
    is_option || is_long || text(at).contains(|c: char| c.is_whitespace() || "'\"`();".contains(c))
}

/// Words of a command, from one of them on, that name files which may hold secrets, to it or to what is handed names by it.
pub(super) fn secrets(
    request: &Request<'_>,
    command: &Command,
    (from, is_handed): (usize, bool),
    named: impl Fn(&Word) -> Option<PathBuf>,
) -> Vec<Named> {
    let all = command.words.get(from..).unwrap_or_default();
    let found = words(all).into_iter().filter_map(|(at, word, says)| {
        let (text, bytes) = (word.looks(), word.text.len().max(1));
        let Says::File = says else {
            let is_language = says == Says::Program { is_language: true };
            let why = secrets::of_program(text, is_language)?.why;
            return Some(Named { at, bytes, why, files: Vec::new(), text: text.to_owned() });
        };
        let mut files: Vec<Vec<&Secret>> =
            secrets::parts(text).map(|part| secrets::rows_of(Path::new(part)).collect()).collect();
        let path = named(word).filter(|_| !command.state.is_moved && may_name_one(text));
        // Of a word that does not look like a file only a link of that name is one.
        let places = path.map(|path| (is_like_file(&path.to_string_lossy()), Places::of(request, &path)));
        let places = places.filter(|(is_like, places)| *is_like || places.is_led()).map(|(_, places)| places);
        files.extend(places.iter().flat_map(Places::rows));
        files.retain(|rows| !rows.is_empty());
        let led = || places.as_ref().and_then(Places::secret);
        if let Some(why) = files.first().and_then(|rows| rows.first()).map(|row| row.why).or_else(led) {
            return Some(Named { at, bytes, why, files, text: text.to_owned() });
        }
        // What it has in quotes may be one, in whatever language.
        if let Some(why) = secrets::of_program(text, false).map(|secret| secret.why) {
            return Some(Named { at, bytes, why, files: Vec::new(), text: text.to_owned() });
        }
        // Of what a shell makes of it now no part of a pattern says anything.
        let is_here = word.is_glob && !command.state.is_moved;
        let why = if is_here { among(globs::files(request, word), request)? } else { return None };
        Some(Named { at, bytes: usize::MAX, why, files: Vec::new(), text: text.to_owned() })
    });
    // What an interpreter is given as its input is its program, which no pattern has.
    let program = all.first().map(|word| base_name(word).text).unwrap_or_default();
    let is_interpreter = hazards::is_interpreter(&program);
    let given = command.input.iter().filter_map(|text| {
        let of_program = || secrets::of_program(text, true).filter(|_| is_interpreter).map(|secret| secret.why);
        let of_names = || if is_handed { handed::secret(text) } else { None };
        let why = of_program().or_else(of_names)?;
        Some(Named { at: all.len(), bytes: usize::MAX, why, files: Vec::new(), text: String::new() })
    });
    let handed = handed::words(command, all, is_handed).into_iter().filter_map(|at| {
        let word = all.get(at)?;
        let why = handed::secret(word.looks())?;
        Some(Named { at, bytes: word.text.len().max(1), why, files: Vec::new(), text: word.looks().to_owned() })
    });
    found.chain(given).chain(handed).collect()
}

/// Why files that a shell makes of a word are asked about.
fn among(files: Option<Vec<PathBuf>>, request: &Request<'_>) -> Option<&'static str> {
    let Some(files) = files else { return Some(MANY) };
    files.iter().find_map(|path| Places::of(request, path).secret())
}

/// Why a line is asked about for what it gives to its variables, and where not all of it is known, for what its words say
/// that is not written in it like this.
pub(super) fn of_values(request: &Request<'_>, line: &Line, is_certain: bool) -> Option<&'static str> {
    let mut globs = line.variables.iter().map(|(_, value)| value).filter(|value| value.is_glob);
    let made = globs.find_map(|value| among(globs::files(request, value), request));
    if made.is_some() || is_certain {
        return made;
    }
    let of_words = |text: &str| text.split_whitespace().find_map(secrets::of_word);
    let plain = || line.texts.iter().find_map(|text| Some(secrets::of_line(text).or_else(|| of_words(text))?.why));
    let values = line.variables.iter().filter_map(|(_, value)| value.known());
    let mut all = line.texts.iter().map(String::as_str).chain(values).filter(|text| may_name_one(text)).take(MAX_LED);
    let led = || {
        all.find_map(|text| {
            if text.contains(MARKS) {
                return among(globs::of_shape(request, text), request);
            }
            Places::of(request, Path::new(text)).secret()
        })
    };
    plain().or_else(led).or_else(|| line.has_more.then_some(MANY))
}

/// What may be secret of that which a line names, below the directories that it goes to.
pub(super) fn below(request: &Request<'_>, segments: &[Segment]) -> Option<Doubt> {
    let commands = || {
        segments.iter().filter_map(|segment| match segment {
            Segment::Command(command) => Some(command),
            Segment::Passed(_) | Segment::File { .. } => None,
        })
    };
    let is_mover = |command: &Command| command.words.first().is_some_and(|word| matches!(&*word.text, "cd" | "pushd"));
    let goes = commands().filter(|command| is_mover(command) && !shell::stays(command, request.cwd));
    let dirs: Vec<&str> = goes.filter_map(|command| Some(command.words.last()?.looks())).collect();
    if dirs.is_empty() {
        return None;
    }
    if dirs.iter().collect::<BTreeSet<_>>().len() > MAX_DIRS {
        return Some(Doubt::TooLong);
    }
    let files = segments
        .iter()
        .filter_map(|segment| if let Segment::File { word, .. } = segment { Some(word.looks()) } else { None });
    let said = commands().flat_map(|command| words(&command.words)).filter(|(.., says)| *says == Says::File);
    let names: BTreeSet<&str> =
        said.map(|(_, word, _)| word.looks()).chain(files).chain(dirs.iter().copied()).collect();
    // Each by itself, and one behind the other.
    let mut places: BTreeSet<PathBuf> = dirs.iter().map(PathBuf::from).collect();
    places.extend(dirs.iter().scan(PathBuf::new(), |place, dir| {
        place.push(dir);
        Some(place.clone())
    }));
    // It may also stay in the session's own, or come back there.
    let here = PathBuf::new();
    let below = || places.iter().chain([&here]).flat_map(|dir| names.iter().map(|name| dir.join(name)));
    let plain = places.iter().cloned().chain(below()).find_map(|path| Some(secrets::of_path(&path)?.why));
    let led = || {
        let home = |path: &Path| Some(request.home?.join(path.strip_prefix("~").ok()?));
        let paths = places.iter().cloned().chain(below().take(MAX_LED));
        let mut paths = paths.map(|path| normalize(&request.cwd.join(home(&path).unwrap_or(path))));
        paths.find_map(|path| {
            let text = path.to_string_lossy();
            let made = || if text.contains(MARKS) { among(globs::of_shape(request, &text), request) } else { None };
            Places::of(request, &path).secret().or_else(made)
        })
    };
    plain.or_else(led).map(Doubt::Secret)
}
