//! What rules say of files: those of a request, of a redirection, and those that a command names as what it reads and
//! writes.
//!
//! Invariants: what a command names never allows it, it only denies it, has it asked about, or has to stand in the
//! pattern; a word that may be a file is one.

use super::against::Against;
use super::earlier::{self, Made};
use super::places::{Places, is_like_file, may_name_one};
use super::{Opinion, globs, holds};
use crate::base::paths::{is_at_root, is_of_process, normalize};
use crate::rules::hazards::{self, Formats, Reads, Written};
use crate::rules::list::Among;
use crate::rules::pattern::{Match, Spec, base_name};
use crate::rules::shell::{self, Command};
use crate::rules::steering::is_steering;
use crate::rules::tool::{Kind, Tool};
use crate::rules::word::{Rest, Word};
use crate::rules::{Doubt, Request, Verdict, wrappers};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

pub(super) static EDIT: LazyLock<Tool> = LazyLock::new(|| Tool::of_file(true));
pub(super) static READ: LazyLock<Tool> = LazyLock::new(|| Tool::of_file(false));

/// Parts of a word of which it is looked where they lead; one of more is asked about.
const MAX_PARTS: usize = 64;
/// Directories above one that are looked at for the top of a repository.
const MAX_ABOVE: usize = 64;

/// The rules, the request, and what may run before the command that names the files.
#[derive(Clone, Copy)]
pub(super) struct Files<'a, 'b> {
    pub(super) against: Against<'a>,
    pub(super) earlier: &'b [&'b Made],
}

impl<'a> Files<'a, '_> {
    pub(super) fn path(&self, tool: &'a Tool, path: &Path) -> Opinion<'a> {
        let places = Places::of(self.against.request, path);
        let text = path.to_string_lossy();
        let is_deceptive = shell::hides(&text) || text.contains(char::is_control);
        let is_edit = tool.kind == Kind::Edit;
        let secret = places.secret();
        let is_named = |spec: &Spec| matches!(spec, Spec::Path(spec) if places.is_named(spec));
        let strict =
            |spec: &Spec| !is_deceptive && places.strict(spec, is_edit) && (secret.is_none() || is_named(spec));
        let opinion = self.by_paths(tool, &places, strict);
        match opinion.doubt {
            Some(Doubt::NoRule) if let Some(why) = secret => Opinion::ask(Doubt::Secret(why)),
            Some(Doubt::NoRule) if is_edit && places.surely_steers() => Opinion::ask(Doubt::SurelySteering),
            Some(Doubt::NoRule) if is_edit && places.steers() => Opinion::ask(Doubt::Steering),
            _ => opinion,
        }
    }

    /// Deny, then ask, then allow; what is left is asked.
    fn by_paths(&self, tool: &'a Tool, places: &Places<'_>, strict: impl Fn(&Spec) -> bool) -> Opinion<'a> {
        let against = self.against;
        let denied = against.first(&against.rules.deny, tool, places, |_| true);
        if let Some((_, rule)) = denied.itself {
            return Opinion::by(rule);
        }
        if let Some(rule) = against.first(&self.against.rules.ask, tool, places, |_| true).either() {
            return Opinion::by(rule);
        }
        if denied.below.is_some() {
            return Opinion::ask(Doubt::DeniedBelow);
        }
        let default = self.against.default(tool);
        if default == Doubt::BrokenDeny {
            return Opinion::ask(default);
        }
        let all = self.against.rules.allow.at(tool.kind, |tree, found| places.look(tree, found));
        let mut rules = all.flat_map(|at| at.near().map(|(_, rule)| rule).collect::<Vec<_>>());
        let allowed = rules.find(|rule| holds(rule, self.against.request, tool) && strict(&rule.pattern.spec));
        allowed.map_or(Opinion::ask(default), Opinion::by)
    }

    /// The option that has files changed in place, where rules allow to edit each of them.
    pub(super) fn edited_in_place(&self, program: &str, words: &[Word], is_moved: bool) -> Option<usize> {
        if is_moved || !matches!(program, "sed" | "gsed") {
            return None;
        }
        let (option, files) = hazards::in_place(words)?;
        let is_allowed = |word: &&Word| {
            let path = Path::new(&word.text);
            self.path(&EDIT, path).verdict == Verdict::Allow && !self.may_be_linked(path)
        };
        files.iter().all(is_allowed).then_some(option)
    }

    /// The files that it writes or removes are not allowed by a pattern that does not have them itself where they are
    /// outside, or later commands take programs from them.
    pub(super) fn written(
        &self,
        program: &str,
        words: &[Word],
        is_moved: bool,
        spelled: &mut Vec<(usize, usize)>,
    ) -> Opinion<'a> {
        let known = hazards::written(program, words);
        let (is_known, mut opinion) = match &known {
            Some(_) => (true, Opinion::neither()),
            None => (false, self.maybe_written(program, words, spelled)),
        };
        opinion = opinion.and(self.written_below(program, words));
        let outputs = hazards::outputs(program, words);
        // Of a directory it is not known what it is called in it.
        let is_dir = |path: PathBuf| (self.against.request.is_above)(&self.against.request.cwd.join(path));
        let dirs =
            outputs.iter().filter(|file| file.word.text.ends_with('/') || self.named(&file.word).is_some_and(is_dir));
        spelled.extend(dirs.map(|file| (file.at, words.get(file.at).map_or(1, |word| word.text.len()))));
        let files = known.into_iter().flatten().chain(outputs);
        for file in files.flat_map(|file| self.put_into(file)).flat_map(|file| self.with_globbed(program, file)) {
            let whole = words.get(file.at).map_or(1, |word| word.text.len().max(1));
            let Some(path) = self.named(&file.word) else {
                // Of what is put into a directory that is known, the names are those of what is put there.
                let is_put = words.get(file.at).is_some_and(Word::is_known);
                let is_known = is_put || self.is_looked_at(program, &file.word);
                if program != "git" && !(is_known && self.is_plain_place(&file.word)) {
                    spelled.push((file.at, whole + 1));
                }
                opinion = opinion.and(self.open(&EDIT, &file.word, true));
                continue;
            };
            // A link is removed itself; git goes through none.
            let through = if hazards::is_remover(program) {
                path.parent().filter(|dir| *dir != Path::new(""))
            } else {
                Some(&*path)
            };
            if program != "git" && !is_no_file(&path) && through.is_some_and(|path| self.may_be_linked(path)) {
                spelled.push((file.at, whole));
                opinion = opinion.and(self.linked(&EDIT));
            }
            let of_rules = self.path(&EDIT, &path);
            opinion = opinion.and(match of_rules.verdict {
                Verdict::Deny if !file.is_certain || is_moved => Opinion::ask(Doubt::PerhapsDenied),
                Verdict::Deny => of_rules,
                Verdict::Ask if of_rules.rule.is_some() => of_rules,
                Verdict::Ask if matches!(of_rules.doubt, Some(Doubt::BrokenDeny)) => of_rules,
                // A branch that is called like a directory is asked about, too.
                Verdict::Ask if matches!(of_rules.doubt, Some(Doubt::DeniedBelow)) => {
                    let is_it =
                        file.is_certain || (self.against.request.is_above)(&self.against.request.cwd.join(&path));
                    if is_it { of_rules } else { Opinion::neither() }
                }
                Verdict::Ask if self.leads_to_steering(&path) => Opinion::ask(Doubt::Steering),
                _ => Opinion::neither(),
            });
            let places = Places::of(self.against.request, &path);
            let is_spelled = places.names_steering(&path) || !is_no_file(&path) && places.is_outside();
            if of_rules.verdict != Verdict::Allow && is_spelled {
                spelled.push((file.at, whole));
            }
        }
        if !is_known {
            return opinion;
        }
        // Values in one word with their options, of which each may name a place.
        let options = words.iter().enumerate().skip(1).filter(|(_, word)| word.text.starts_with('-'));
        for (at, word) in options.filter(|_| program != "git") {
            let is_long = word.text.starts_with("--");
            for text in hazards::values(&word.text).skip(1).chain(hazards::attached(&word.text)) {
                let is_file = is_long || is_like_file(text);
                let places = Places::of(self.against.request, &self.led(text));
                if is_file && (places.names_steering(Path::new(text)) || places.is_outside()) {
                    spelled.push((at, word.text.len()));
                }
                opinion = opinion.and(self.named_against(&EDIT, text));
            }
        }
        opinion
    }

    /// What is written without being named: below a directory that a program is given of which nothing is known, or that
    /// changes all in it, and in the tree of git.
    fn written_below(&self, program: &str, words: &[Word]) -> Opinion<'a> {
        let below = Opinion::ask(Doubt::DeniedBelow);
        if self.against.narrow(&EDIT).next().is_none() {
            return Opinion::neither();
        }
        if hazards::writes_tree(program, words) {
            let is_elsewhere = hazards::is_git_from_elsewhere(program, words) && self.against.is_any(&EDIT);
            let tops = self.tops();
            let mut places = std::iter::once(Path::new(".")).chain(tops.iter().map(PathBuf::as_path));
            let is_it = is_elsewhere || places.any(|place| self.against.is_below(&EDIT, place));
            return if is_it { below } else { Opinion::neither() };
        }
        // A module of an interpreter is the program of that name.
        let is_python = program == "py" || ["python", "pypy"].iter().any(|name| program.starts_with(name));
        let module = words.iter().position(|word| word.text == "-m").filter(|_| is_python);
        if let Some(inner) = module.and_then(|at| words.get(at + 1..)).filter(|inner| !inner.is_empty()) {
            return self.written_below(&inner[0].text, inner);
        }
        let formats = hazards::formats(program, words);
        let is_stranger =
            hazards::is_unknown(program) && !hazards::is_of_project(words) && !hazards::is_checker(program);
        let is_above = |text: &str| match formats {
            Some(Formats::Looks) => false,
            Some(Formats::Named | Formats::Here) => self.against.is_below(&EDIT, Path::new(text)),
            None => is_stranger && self.against.denied(&EDIT, Path::new(text), false) == Some(Match::Below),
        };
        // Behind the letters of options only what looks like one is a path.
        let is_path = |word: &Word, text: &str| {
            let is_one = word.text.starts_with("--") || is_like_file(text) || text == word.text;
            may_name_one(text) && !text.is_empty() && is_one
        };
        let mut known = words.iter().skip(1).filter(|word| word.is_known());
        let is_named = known.any(|word| hazards::values(&word.text).any(|text| is_path(word, text) && is_above(text)));
        if is_named || formats == Some(Formats::Here) && is_above(".") { below } else { Opinion::neither() }
    }

    /// Directories above the session's, and it itself, that may be the top of its repository.
    pub(super) fn tops(&self) -> Vec<PathBuf> {
        let request = self.against.request;
        let mut tops = Vec::new();
        for dir in request.cwd.ancestors().take(MAX_ABOVE) {
            match (request.names)(dir) {
                Some(names) if names.iter().any(|name| name == ".git") => {
                    tops.push(dir.to_owned());
                    break;
                }
                Some(_) => {}
                // It cannot be told.
                None => tops.push(dir.to_owned()),
            }
        }
        tops
    }

    /// With the files that a shell makes of its name now, where those say what there is to say.
    fn with_globbed(&self, program: &str, file: Written) -> Vec<Written> {
        let Written { at, is_certain, .. } = file;
        let is_looked_at = self.is_looked_at(program, &file.word);
        let files = if is_looked_at { self.globbed(&file.word) } else { Vec::new() };
        let known = files.into_iter().map(|path| {
            let word = Word { text: path.to_string_lossy().into_owned(), ..Word::default() };
            Written { at, word, is_certain, sources: Vec::new() }
        });
        std::iter::once(file).chain(known.collect::<Vec<_>>()).collect()
    }

    /// Whether it is known enough of what a shell makes of a word for a program that removes or moves it.
    fn is_looked_at(&self, program: &str, word: &Word) -> bool {
        let is_plain = ["rm", "mv"].contains(&program) && hazards::is_plain_glob(word) && self.earlier.is_empty();
        is_plain && self.is_plain_place(word) && globs::files(self.against.request, word).is_some()
    }

    /// Whether the directory that a word begins with is inside, and none from which later commands take programs.
    fn is_plain_place(&self, word: &Word) -> bool {
        if word.is_tilde {
            return false;
        }
        let dir = match word.text.rsplit_once('/') {
            Some(("", _)) => Path::new("/"),
            Some((dir, _)) => Path::new(dir),
            None => Path::new("."),
        };
        let places = Places::of(self.against.request, dir);
        !places.is_outside() && !places.names_steering(dir) && !places.is_of_state()
    }

    /// Of a directory the files that are put into it; what else is written is itself.
    fn put_into(&self, file: Written) -> Vec<Written> {
        let dir = self.named(&file.word).map(|path| self.against.request.cwd.join(path));
        if file.sources.is_empty() || !dir.is_some_and(|dir| (self.against.request.is_above)(&dir)) {
            return vec![file];
        }
        let put = |source: &str| {
            // Of these it is what is in them.
            let is_content = source.ends_with('/') || matches!(source.rsplit('/').next(), Some("." | ".."));
            let name = Path::new(source).file_name().filter(|_| !is_content);
            let path = name.map(|name| format!("{}/{}", file.word.text.trim_end_matches('/'), name.to_string_lossy()));
            let text = path.unwrap_or_else(|| file.word.text.clone());
            Written {
                at: file.at,
                word: Word { text, ..file.word.clone() },
                is_certain: file.is_certain,
                sources: Vec::new(),
            }
        };
        let known = file.sources.iter().filter_map(Word::known).map(put);
        let made = file.sources.iter().filter(|source| !source.is_known()).flat_map(|source| self.globbed(source));
        let mut all: Vec<Written> = known.chain(made.map(|path| put(&path.to_string_lossy()))).collect();
        // What it stands for by then may be more.
        for source in file.sources.iter().filter(|source| !source.is_known()) {
            let name = source.shape.rsplit('/').next().unwrap_or_default();
            let text = format!("{}/", file.word.text.trim_end_matches('/'));
            let shape = format!("{text}{name}");
            let word = Word { shape, text, rest: Rest::Words, is_glob: true, ..Word::default() };
            all.push(Written { at: file.at, word, is_certain: file.is_certain, sources: Vec::new() });
        }
        all
    }

    /// Of a program of which it is not known what it writes: any word that may be a file.
    fn maybe_written(&self, program: &str, words: &[Word], spelled: &mut Vec<(usize, usize)>) -> Opinion<'a> {
        if hazards::reads(program, words) != Reads::Unknown {
            return Opinion::neither();
        }
        let mut opinion = Opinion::neither();
        // Behind a program that runs another one the words are that one's.
        let own = wrappers::find(program).and_then(|row| wrappers::inner(row, words)).unwrap_or(words.len());
        let is_of_project = hazards::is_of_project(words) && !hazards::is_listed(program);
        let is_judged = !(hazards::runs_others(program) || is_of_project);
        for (at, word) in words.iter().enumerate().skip(1) {
            opinion = opinion.and(self.open(&EDIT, word, true));
            if is_judged && at < own && self.may_lead_out(program, word) {
                spelled.push((at, word.text.len() + usize::from(!word.is_known())));
            }
            for text in hazards::values(&word.text).chain(hazards::more_parts(&word.text)) {
                let path = Path::new(text);
                let is_file = is_like_file(text);
                if is_file && Places::of(self.against.request, path).names_steering(path) {
                    spelled.push((at, word.text.len()));
                }
                // What builds runs what stands in the directory, whatever it is told.
                if is_file && !hazards::is_build(program) && self.may_be_linked(path) {
                    opinion = opinion.and(self.linked(&EDIT));
                }
                opinion = opinion.and(self.named_against(&EDIT, text));
            }
        }
        opinion
    }

    /// Whether a word may name a file outside of the roots, in any part of it.
    fn may_lead_out(&self, program: &str, word: &Word) -> bool {
        if !word.is_known() {
            return !(word.is_glob && !word.is_free && word.is_below() && self.is_plain_place(word));
        }
        if hazards::is_label(program, &word.text) {
            return false;
        }
        let is_out = |text: &str| {
            let path = self.led(text);
            !is_no_file(&path) && Places::of(self.against.request, &path).leads_out()
        };
        let mut parts = hazards::parts(&word.text).filter(|text| !text.is_empty());
        parts.by_ref().take(MAX_PARTS).any(is_out) || parts.next().is_some()
    }

    /// Where a text leads that may be the name of a file: who reads it may replace a `~` before it. Where another user's home
    /// is only shows then: in none of the roots.
    pub(super) fn led(&self, text: &str) -> PathBuf {
        match (text.strip_prefix("~/"), self.against.request.home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ if text.starts_with('~') => Path::new("/").join(text),
            _ => PathBuf::from(text),
        }
    }

    /// Whether a word begins with the name of a directory that only shows when it runs: `~user/x`.
    fn is_of_others(&self, word: &Word) -> bool {
        word.is_known() && word.is_tilde && self.named(word).is_none()
    }

    /// Whether an earlier command of the line may have made a link of a file, or of a directory above it.
    pub(super) fn may_be_linked(&self, path: &Path) -> bool {
        earlier::touches(self.against.request, self.earlier, path)
    }

    /// What is to be said of what may be a link: it may lead to what a rule is against.
    pub(super) fn linked(&self, tool: &'a Tool) -> Opinion<'a> {
        if self.against.is_any(tool) { Opinion::ask(Doubt::Linked) } else { Opinion::neither() }
    }

    /// What is to be said of links that lead elsewhere: perhaps to what a rule is against.
    pub(super) fn followed(&self) -> Opinion<'a> {
        if self.against.is_any(&READ) { Opinion::ask(Doubt::PerhapsDenied) } else { Opinion::neither() }
    }

    /// Of a word that may be the name of a file: whatever it looks like, it is the one that a rule is against.
    pub(super) fn named_against(&self, tool: &'a Tool, text: &str) -> Opinion<'a> {
        if text.is_empty() || text.starts_with('-') || text.contains("://") {
            return Opinion::neither();
        }
        let is_against = |path: &Path| self.against.denied(tool, path, !is_like_file(text)) == Some(Match::Yes);
        let is_of_user = text.strip_prefix('~').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic()));
        let is_it = is_against(Path::new(text))
            || text.starts_with("~/") && is_against(&self.led(text))
            || is_of_user && self.against.is_any(tool);
        if is_it { Opinion::ask(Doubt::PerhapsDenied) } else { Opinion::neither() }
    }

    /// Of a word of which only the beginning is known. `goes_down`: of a directory all is meant.
    pub(super) fn open(&self, tool: &'a Tool, word: &Word, goes_down: bool) -> Opinion<'a> {
        if word.is_known() && !self.is_of_others(word) {
            return Opinion::neither();
        }
        // What becomes of names with `*` is below the directory that they begin with.
        let (dir, _) = word.text.rsplit_once('/').unwrap_or((".", ""));
        let dir = Word { text: if dir.is_empty() { "/" } else { dir }.to_owned(), ..word.clone() };
        let dir =
            self.named(&Word { rest: Rest::Nothing, ..dir }).filter(|_| !word.is_free && !self.is_of_others(word));
        let is_it = match dir {
            Some(dir) => self.against.denied(tool, &dir, false).is_some() && self.may_become(tool, word, goes_down),
            None => self.against.is_any(tool),
        };
        if is_it { Opinion::ask(Doubt::PerhapsDenied) } else { Opinion::neither() }
    }

    /// Whether what a shell makes of a word may be what a rule with a path is against.
    fn may_become(&self, tool: &'a Tool, word: &Word, goes_down: bool) -> bool {
        let Request { cwd, roots, home, .. } = *self.against.request;
        // An earlier command of the line may have put anything there.
        if !word.is_glob || word.is_tilde || word.shape.contains("**") || !self.earlier.is_empty() {
            return true;
        }
        // As it stands there, and below where its directory really is.
        let plain = normalize(&cwd.join(&word.shape));
        let end = word.text.rfind('/').map_or(0, |at| at + 1);
        let (dir, rest) = (word.text.get(..end).unwrap_or_default(), word.shape.get(end..).unwrap_or_default());
        let real = (self.against.request.links)(&cwd.join(dir)).filter(|dir| !is_of_process(dir));
        let Some(real) = real.map(|dir| dir.join(rest)) else { return true };
        let may_fit = |spec: &Spec| match spec {
            Spec::Path(spec) => [&plain, &real].iter().any(|shape| spec.may_fit(shape, roots, home, goes_down)),
            _ => false,
        };
        // Where links lead is looked at with the files that it stands for now.
        let Some(files) = globs::files(self.against.request, word) else { return true };
        self.against.is_any_of_shape(tool, &[&*plain, &*real], may_fit)
            || files.iter().any(|path| self.against.denied(tool, path, false).is_some())
    }

    /// The files that a shell makes of a word now, as far as that can be told.
    pub(super) fn globbed(&self, word: &Word) -> Vec<PathBuf> {
        globs::files(self.against.request, word).unwrap_or_default()
    }

    /// Whether there is a file of this name, or that cannot be told.
    pub(super) fn is_there(&self, word: &Word) -> bool {
        let Some(path) = self.named(word) else { return true };
        let path = self.against.request.cwd.join(path);
        let (Some(dir), Some(name)) = (path.parent(), path.file_name()) else { return true };
        let names = (self.against.request.names)(dir);
        names.is_none_or(|names| names.iter().any(|one| name.to_str() == Some(one)))
    }

    /// Whether links lead from a path, which does not say so itself, to a file that names what later commands run.
    fn leads_to_steering(&self, path: &Path) -> bool {
        let places = Places::of(self.against.request, path);
        places.steers() && (!is_steering(path) || places.is_ours())
    }

    /// The path that a word names; `None` where that only shows when it runs.
    pub(super) fn named(&self, word: &Word) -> Option<PathBuf> {
        let text = word.known()?;
        match (word.is_tilde, text.strip_prefix("~/"), self.against.request.home) {
            (false, ..) => Some(PathBuf::from(text)),
            (true, Some(rest), Some(home)) => Some(home.join(rest)),
            (true, None, Some(home)) if text == "~" => Some(home.to_owned()),
            _ => None,
        }
    }

    /// Whether an interpreter would read its program from what is no file.
    pub(super) fn is_from_device(&self, command: &Command) -> bool {
        let program = command.words.first().map(|word| base_name(word).text).unwrap_or_default();
        let mut files = command.words.iter().skip(1).filter_map(Word::known).filter(|text| !text.starts_with('-'));
        let leads_there = |text: &str| match (self.against.request.links)(&self.against.request.cwd.join(text)) {
            Some(real) if real.starts_with(self.against.request.cwd) => false,
            Some(real) => real.starts_with("/dev") || real.starts_with("/proc"),
            None => true,
        };
        hazards::is_interpreter(&program) && files.any(leads_there)
    }

    /// The file of a redirection.
    pub(super) fn file(&self, word: &Word, is_write: bool, is_moved: bool) -> Opinion<'a> {
        let tool = if is_write { &EDIT } else { &READ };
        let Some(text) = word.known() else { return self.unknown_file(tool, Doubt::File) };
        let descriptor = text.strip_prefix("/dev/fd/").is_some_and(|number| number.bytes().all(|b| b.is_ascii_digit()));
        if descriptor || matches!(text, "/dev/null" | "/dev/stdin" | "/dev/stdout" | "/dev/stderr") {
            return Opinion::neither();
        }
        let Some(path) = self.named(word) else { return self.unknown_file(tool, Doubt::File) };
        // A connection to another machine.
        let is_socket = text.starts_with("/dev/tcp/") || text.starts_with("/dev/udp/");
        let opinion = self.path(tool, &path);
        match opinion.verdict {
            _ if text.is_empty() || is_socket => opinion.and(Opinion::ask(Doubt::File)),
            Verdict::Allow if is_write && self.may_be_linked(&path) => Opinion::ask(Doubt::Linked),
            Verdict::Allow if !is_write && self.may_be_linked(&path) => opinion.and(self.linked(tool)),
            // Where it is depends on what the line did before.
            Verdict::Deny if is_moved && !path.is_absolute() => Opinion::ask(Doubt::PerhapsDenied),
            _ if is_moved => opinion.and(Opinion::ask(Doubt::Moved)),
            _ => opinion,
        }
    }

    fn unknown_file(&self, tool: &'a Tool, doubt: Doubt) -> Opinion<'a> {
        let any = self.against.narrowed(tool, Among::Whole, |_| Match::Yes);
        any.unwrap_or(Opinion::ask(doubt))
    }
}

/// A name of the system's for what is no file.
fn is_no_file(path: &Path) -> bool {
    let names = ["/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty"];
    is_at_root(path, "dev") && (names.iter().any(|name| path == Path::new(name)) || path.starts_with("/dev/fd"))
}
