//! The verdict about one request.
//!
//! Looks nothing up. Invariants: a denied part denies all of it, a part that is asked about asks, and what is allowed is
//! allowed in every part; adding a deny never allows more.

mod address;
mod addresses;
mod against;
mod earlier;
mod files;
mod followed;
mod globs;
mod handed;
mod inside;
mod named;
mod places;
mod reading;
mod renamed;
mod texts;
mod titles;
mod views;

use super::list::{Among, Said};
use super::pattern::{Match, Spec, base_name};
use super::shell::{self, Command, Segment, State};
use super::tool::Tool;
use super::word::Word;
use super::{Doubt, Judgement, Request, Rule, RuleRef, Rules, Subject, Verdict, hazards, secrets, wrappers};
use against::Against;
use earlier::Made;
use files::Files;
use inside::{Inside, look_inside};
pub(super) use named::may_be_files;
use renamed::Renaming;
use std::cell::Cell;
use std::path::{Path, PathBuf};
use views::Views;

/// Lines in lines, programs that run programs.
const MAX_DEPTH: usize = 6;
/// Words that are looked at once more than there are, since programs run programs: each is looked up in the file system, and
/// nobody writes chains of so many.
const MAX_LOOKS: usize = 1024;
/// Bytes of a line within a line that cost what a word does.
const BYTES_OF_LOOK: usize = 16;
/// Further rules of which it is told that they allow parts of a line.
const MAX_ALSO: usize = 7;

/// The verdict, and the rule that decided.
pub fn verdict(rules: &Rules, request: &Request<'_>) -> (Verdict, Option<RuleRef>) {
    let Judgement { verdict, rule, .. } = judge(rules, request);
    (verdict, rule)
}

pub fn judge(rules: &Rules, request: &Request<'_>) -> Judgement {
    let is_elsewhere = !request.roots.iter().any(|root| root == request.cwd);
    let left = Cell::new(MAX_LOOKS);
    let judge = Judge { rules, request, is_elsewhere, earlier: &[], is_quiet: true, is_handed: false, left: &left };
    let opinion = judge.request();
    // What a rule is against may stand in what was not looked at.
    let opinion = if judge.is_spent() { opinion.and(Opinion::ask(Doubt::TooLong)) } else { opinion };
    Judgement {
        verdict: opinion.verdict,
        rule: opinion.rule.map(|rule| rule.source.clone()),
        also: opinion.also.iter().flatten().map(|rule| rule.source.clone()).collect(),
        doubt: opinion.doubt.filter(|_| opinion.rule.is_none()),
    }
}

#[derive(Clone, Copy)]
struct Opinion<'a> {
    verdict: Verdict,
    rule: Option<&'a Rule>,
    /// What further parts are allowed by; of more than these it is not told.
    also: [Option<&'a Rule>; MAX_ALSO],
    doubt: Option<Doubt>,
}

impl<'a> Opinion<'a> {
    fn by(rule: &'a Rule) -> Self {
        Self { verdict: rule.source.list, rule: Some(rule), ..Self::neither() }
    }

    fn ask(doubt: Doubt) -> Self {
        Self { verdict: Verdict::Ask, doubt: Some(doubt), ..Self::neither() }
    }

    /// What is no concern of any rule.
    fn neither() -> Self {
        Self { verdict: Verdict::Allow, rule: None, also: [None; MAX_ALSO], doubt: None }
    }

    fn is_secret(self) -> bool {
        matches!(self.doubt, Some(Doubt::Secret(_)))
    }

    /// It is spoken of rather than of what `other` says.
    fn is_said_rather_than(self, other: Self) -> bool {
        self.is_secret()
            || self.doubt == Some(Doubt::SurelySteering) && !other.is_secret()
            || self.is_against() && other.doubt.is_some_and(Doubt::is_silence)
    }

    /// It may be what a rule is against, so that no mode allows it.
    fn is_against(self) -> bool {
        use Doubt::{BrokenDeny, DeniedBelow, PerhapsDenied, Renamed};
        matches!(self.doubt, Some(PerhapsDenied | DeniedBelow | Renamed | BrokenDeny))
    }

    /// The worse of both; a rule speaks rather than none, of what may be secret or steer is spoken rather than of other
    /// doubts, and of any rather than that no rule is for it where a rule may be against it.
    fn and(self, other: Self) -> Self {
        match self.verdict.cmp(&other.verdict) {
            std::cmp::Ordering::Less => other,
            std::cmp::Ordering::Equal if self.verdict == Verdict::Allow => self.by_both(other),
            std::cmp::Ordering::Equal
                if self.rule.is_none() && (other.rule.is_some() || other.is_said_rather_than(self)) =>
            {
                other
            }
            _ => self,
        }
    }

    /// Allowed by the rules of both, each told once.
    fn by_both(mut self, other: Self) -> Self {
        for rule in other.rule.into_iter().chain(other.also.into_iter().flatten()) {
            let known = || self.rule.into_iter().chain(self.also.into_iter().flatten());
            if known().any(|one| std::ptr::eq(one, rule)) {
                continue;
            }
            match self.rule {
                None => self.rule = Some(rule),
                Some(_) => {
                    if let Some(place) = self.also.iter_mut().find(|place| place.is_none()) {
                        *place = Some(rule);
                    }
                }
            }
        }
        self
    }
}

struct Judge<'a, 'b> {
    rules: &'a Rules,
    request: &'a Request<'a>,
    /// Commands begin in another directory than the session's.
    is_elsewhere: bool,
    /// What may run before the command.
    earlier: &'b [&'b Made],
    /// Nothing else in the line makes files.
    is_quiet: bool,
    /// Something else in the line takes names of files from it.
    is_handed: bool,
    /// Of `MAX_LOOKS`; at none only rules that deny commands are looked for.
    left: &'b Cell<usize>,
}

impl<'a> Judge<'a, '_> {
    fn request(&self) -> Opinion<'a> {
        match self.request.subject {
            Subject::Line(line) => self.line(line, State::default(), 0).and(self.here()),
            Subject::Words(words) => {
                let word = |text: &String| Word { text: text.clone(), ..Word::default() };
                let command = Command { words: words.iter().map(word).collect(), ..Command::default() };
                let opinion = self.command(&command, 0).and(self.here());
                let is_deceptive = words.iter().any(|text| shell::hides(text));
                if is_deceptive { opinion.and(Opinion::ask(Doubt::Deceptive)) } else { opinion }
            }
            Subject::Paths(paths) => {
                let opinions = paths.iter().map(|path| self.of_agent(path));
                opinions.reduce(Opinion::and).unwrap_or_else(|| self.without_subject())
            }
            Subject::Text(text) => self.text(text),
        }
    }

    /// A path that an agent uses itself: what is of its process nobody else knows.
    fn of_agent(&self, path: &Path) -> Opinion<'a> {
        let opinion = self.of_files().path(self.request.tool, path);
        let is_own = places::is_of_processes(self.request, path);
        if is_own { Opinion::ask(Doubt::OfProcess).and(opinion) } else { opinion }
    }

    fn spend(&self, looks: usize) {
        self.left.set(self.left.get().saturating_sub(looks));
    }

    const fn is_spent(&self) -> bool {
        self.left.get() == 0
    }

    const fn narrowing(&self) -> Against<'a> {
        Against { rules: self.rules, request: self.request }
    }

    const fn of_files(&self) -> Files<'a, '_> {
        Files { against: self.narrowing(), earlier: self.earlier }
    }

    /// Deny, then ask, then allow, by two ways to match; what is left is asked.
    fn by_rules(&self, tool: &'a Tool, wide: impl Fn(&Spec) -> Match, strict: impl Fn(&Spec) -> bool) -> Opinion<'a> {
        if let Some(opinion) = self.narrowing().narrowed(tool, Among::All, wide) {
            return opinion;
        }
        let default = self.narrowing().default(tool);
        if default == Doubt::BrokenDeny {
            return Opinion::ask(default);
        }
        let allowed =
            self.narrowing().of_list(&self.rules.allow, tool, Among::All).find(|rule| strict(&rule.pattern.spec));
        allowed.map_or(Opinion::ask(default), Opinion::by)
    }

    /// What rules are against a command by any of its views.
    fn seen_as(&self, views: &Views<'_>) -> Option<Opinion<'a>> {
        let said = views.said();
        let among = said.as_ref().map_or(Among::All, Among::Command);
        self.narrowing().narrowed(self.request.tool, among, |spec| views.match_with(spec))
    }

    /// A tool of which nothing more is known.
    fn without_subject(&self) -> Opinion<'a> {
        let is_any = |spec: &Spec| if *spec == Spec::Any { Match::Yes } else { Match::Perhaps };
        self.by_rules(self.request.tool, is_any, |_| false)
    }

    fn line(&self, text: &str, state: State, depth: usize) -> Opinion<'a> {
        if depth > MAX_DEPTH {
            return Opinion::ask(Doubt::TooLong);
        }
        if depth > 0 {
            self.spend(1 + text.len() / BYTES_OF_LOOK);
        }
        let line = shell::read(text, state, Some(self.request.cwd));
        let is_alone = line.segments.len() < 2 && line.order != shell::Order::Repeated;
        let is_quiet = self.is_quiet && (is_alone || line.segments.iter().all(is_reading));
        let is_handed = self.is_handed || handed::takes(&line);
        let made = if is_alone { Vec::new() } else { earlier::made(self.request, &line.segments) };
        let segments = line.segments.iter().enumerate().map(|(at, segment)| {
            let earlier: Vec<&Made> =
                self.earlier.iter().copied().chain(earlier::before(&made, at, line.order)).collect();
            let judge = Judge { earlier: &earlier, is_quiet, is_handed, ..*self };
            match segment {
                Segment::Command(command) => judge.command(command, depth),
                Segment::Passed(command) => judge.passed(command),
                Segment::File { word, is_write, is_moved } => judge.of_files().file(word, *is_write, *is_moved),
            }
        });
        // What is not read for certain may name one anywhere.
        let is_known = |segment: &Segment| match segment {
            Segment::Command(command) | Segment::Passed(command) => command.words.iter().all(Word::is_known),
            Segment::File { word, .. } => word.is_known(),
        };
        // Of marks such as `*` alone each word shows what may become of it.
        let is_shown = line.segments.iter().all(is_known) || !text.contains(['$', '`']);
        let is_certain = line.doubts.is_empty() && is_shown;
        let hidden = if is_certain { None } else { secrets::of_line(text).map(|secret| secret.why) };
        let hidden = hidden.or_else(|| named::of_values(self.request, &line, is_certain));
        let hidden = hidden.or_else(|| if is_handed { handed::of_inputs(&line) } else { None });
        let hidden = hidden.map(|why| Opinion::ask(Doubt::Secret(why)));
        let below = named::below(self.request, &line.segments).map(Opinion::ask);
        let renamed = Renaming { files: self.of_files() }.of_line(&line);
        let doubts = line.doubts.iter().map(|doubt| Opinion::ask(*doubt)).chain(hidden).chain(below);
        // A tool that is denied or asked about altogether is so for any line.
        let whole = self.narrowing().narrowed(self.request.tool, Among::Whole, |_| Match::Yes);
        segments.chain(doubts).chain(renamed).chain(whole).reduce(Opinion::and).unwrap_or(Opinion::ask(Doubt::NoRule))
    }

    /// What needs no rule that allows it.
    fn passed(&self, command: &Command) -> Opinion<'a> {
        let mut inside = Inside::default();
        look_inside(&command.words, 0, 0, 0, &mut inside);
        let views = Views::of(command, &inside.commands, inside.is_fed);
        self.seen_as(&views).unwrap_or(Opinion::neither())
    }

    /// What is to be said of the directory that commands begin in.
    fn here(&self) -> Opinion<'a> {
        let secret = if self.is_elsewhere { places::Places::of(self.request, Path::new("")).secret() } else { None };
        secret.map_or(Opinion::neither(), |why| Opinion::ask(Doubt::Secret(why)))
    }

    /// What names a secret is asked about for that, whatever else may speak against it.
    fn command(&self, command: &Command, depth: usize) -> Opinion<'a> {
        let opinion = self.plain_command(command, depth);
        if opinion.verdict != Verdict::Ask || opinion.rule.is_some() || self.is_spent() {
            return opinion;
        }
        let secrets = named::secrets(self.request, command, (0, self.is_handed), |word| self.of_files().named(word));
        secrets.first().map_or(opinion, |named| Opinion::ask(Doubt::Secret(named.why)))
    }

    /// The verdict about a command; variables that change nothing need no rule.
    fn plain_command(&self, command: &Command, depth: usize) -> Opinion<'a> {
        let opinion = self.with_settings(command, depth);
        let is_silent = opinion.rule.is_none() && opinion.doubt.is_some_and(Doubt::is_silence);
        let is_harmless = |setting: &Word| setting.known().is_some_and(hazards::is_harmless);
        if !is_silent || command.words.is_empty() || !command.settings.iter().any(is_harmless) {
            return opinion;
        }
        let settings = command.settings.iter().filter(|setting| !is_harmless(setting)).cloned().collect();
        self.with_settings(&Command { settings, ..command.clone() }, depth)
    }

    fn with_settings(&self, command: &Command, depth: usize) -> Opinion<'a> {
        let State { is_moved, has_input } = command.state;
        let mut inside = Inside { has_input, ..Inside::default() };
        let before = command.settings.len();
        inside.spelled.extend(
            command
                .settings
                .iter()
                .enumerate()
                .map(|(at, setting)| (at, setting.text.find('=').map_or(setting.text.len(), |end| end + 1))),
        );
        look_inside(&command.words, 0, before, depth, &mut inside);
        let tool = self.request.tool;
        let views = Views::of(command, &inside.commands, inside.is_fed);
        let denied = self.seen_as(&views).unwrap_or(Opinion::neither());
        let again = inside.commands.iter().filter(|(_, is_certain)| *is_certain).count().saturating_sub(1);
        self.spend((again + usize::from(depth > 0)) * command.words.len());
        // A deny of what it passes on is found whatever else speaks against the command.
        let passed_on = self.transparent(command, depth);
        let of_passed = passed_on.filter(|inner| inner.verdict == Verdict::Deny).unwrap_or(Opinion::neither());
        let mut opinion = denied.and(of_passed);
        if self.is_spent() {
            opinion = opinion.and(Opinion::ask(Doubt::TooLong));
        } else {
            opinion = self.files(command, before, &mut inside).and(opinion);
            let certain = inside.commands.iter().filter(|(_, is_certain)| *is_certain);
            let starts: Vec<usize> = certain.map(|(at, _)| *at).collect();
            opinion = opinion.and(addresses::of_command(self.narrowing(), command, &starts));
        }
        for (line, is_certain) in &inside.lines {
            if self.is_spent() && !is_certain {
                continue;
            }
            // It is the one that was passed on, or stands in it.
            let inner = passed_on.filter(|_| *is_certain);
            let inner = inner.unwrap_or_else(|| self.line(line, command.state, depth + 1));
            if inner.verdict == Verdict::Deny {
                opinion = opinion.and(if *is_certain { inner } else { Opinion::ask(Doubt::PerhapsDenied) });
            } else if inner.verdict == Verdict::Ask && (inner.rule.is_some() || inner.is_secret()) {
                opinion = opinion.and(inner);
            }
        }
        if !self.is_spent() {
            opinion = opinion.and(self.given(command, &inside, depth));
        }
        if opinion.verdict != Verdict::Allow {
            return opinion;
        }
        if let Some(doubt) =
            self.doubt_of(command).or_else(|| self.of_files().is_from_device(command).then_some(Doubt::File))
        {
            return Opinion::ask(doubt);
        }
        let Request { cwd, is_above, .. } = *self.request;
        // Its hooks run.
        if hazards::remotes(&command.words).any(|name| is_above(&cwd.join(name))) {
            return Opinion::ask(Doubt::Steering);
        }
        let mut default = self.narrowing().default(tool);
        if default == Doubt::BrokenDeny {
            return Opinion::ask(default);
        }
        // What most programs do depends on the files of their directory: only those that are known not to care are
        // covered elsewhere, and only where the rule names no file of it.
        let is_moved = is_moved || self.is_elsewhere;
        let is_steady = command.words.first().is_some_and(|program| hazards::is_steady(&program.text));
        if is_moved && !is_steady {
            default = Doubt::Moved;
        }
        let words: Vec<Word> = command.settings.iter().chain(&command.words).cloned().collect();
        let names = |rule: &Rule| match &rule.pattern.spec {
            Spec::Any => true,
            Spec::Command(spec) => spec.matches(&words, None) == Match::Yes,
            _ => false,
        };
        let fits = |rule: &&Rule| match &rule.pattern.spec {
            _ if is_moved && !is_steady || !names(rule) => false,
            Spec::Command(spec) if is_moved && spec.words.len() > 1 => false,
            Spec::Command(spec) => {
                inside.spelled.iter().all(|(at, bytes)| spec.spells(*at, *bytes))
                    && inside.secrets.iter().all(|(before, named)| named.is_in(spec, *before))
            }
            _ => inside.spelled.is_empty() && inside.secrets.is_empty(),
        };
        let first = words.first().and_then(Word::known);
        let known = || words.iter().map(Word::known).collect();
        let said = first.map(|first| Said { firsts: vec![first], words: known() });
        let among = || said.as_ref().map_or(Among::All, Among::Command);
        let fitting = || self.narrowing().of_list(&self.rules.allow, tool, among()).filter(fits);
        if let Some(rule) = fitting().find(|rule| passes(rule, &inside)) {
            return Opinion::by(rule);
        }
        let mut judged = fitting().filter_map(|rule| Some(Opinion::by(rule).and(self.traced(command, depth)?)));
        if let Some(opinion) = judged.next() {
            return opinion;
        }
        if default == Doubt::NoRule
            && !is_moved
            && self.narrowing().of_list(&self.rules.allow, tool, among()).any(names)
        {
            default = inside.reason.map_or(Doubt::NotSpelled, Doubt::DoesMore);
        }
        passed_on.unwrap_or(Opinion::ask(default))
    }

    /// What rules say of the files that a command names, and of those that it runs: `inside` gets the words that a
    /// pattern has to have itself. `before` words stand before the first.
    fn files(&self, command: &Command, before: usize, inside: &mut Inside) -> Opinion<'a> {
        let starts: Vec<usize> =
            inside.commands.iter().filter(|(_, is_certain)| *is_certain).map(|(at, _)| *at).collect();
        let files = self.of_files();
        let mut opinion = Opinion::neither();
        for from in starts {
            let words = command.words.get(from..).unwrap_or_default();
            let Some(first) = words.first() else { continue };
            let program = base_name(first).text;
            let mut spelled = Vec::new();
            let is_moved = command.state.is_moved;
            opinion = opinion.and(files.written(&program, words, is_moved, &mut spelled));
            opinion = opinion.and(reading::read(&files, &program, words, is_moved));
            opinion = opinion.and(Renaming { files }.of_command(&program, words, is_moved));
            for (_, given) in inside.given.iter().filter(|(place, _)| *place < from) {
                opinion = opinion.and(reading::given(&files, &program, words, given));
            }
            let at = |at: usize| before + from + at;
            let taken = hazards::taken_if_there(&program, words).filter(|(at, _)| files.is_there(&words[*at]));
            if let Some((index, reason)) = taken {
                spelled.push((index, words[index].text.len().max(1)));
                inside.reason = inside.reason.or(Some(reason));
            }
            let follows = hazards::follows(&program, words);
            if let Some(index) = follows.filter(|_| followed::leads_out(&files, &program, words, is_moved)) {
                spelled.push((index, words[index].text.len()));
                inside.reason = inside.reason.or(Some(hazards::FOLLOWS));
                opinion = opinion.and(files.followed());
            }
            if let Some(option) = files.edited_in_place(&program, words, is_moved) {
                inside.spelled.retain(|(index, _)| *index != at(option));
            }
            let secrets = named::secrets(self.request, command, (from, self.is_handed), |word| files.named(word));
            inside.secrets.extend(secrets.into_iter().map(|named| (before + from, named)));
            inside.spelled.extend(spelled.into_iter().map(|(index, bytes)| (at(index), bytes)));
        }
        opinion
    }

    /// What rules are against of that which a program may run without its standing among its words.
    fn given(&self, command: &Command, inside: &Inside, depth: usize) -> Opinion<'a> {
        let mut inputs = command.input.iter().filter(|_| inside.takes_input);
        let is_against = |text: &String| {
            // A here-string has its quotes.
            let inner = self.line(text.trim_matches(['\'', '"']), command.state, depth + 1);
            inner.verdict == Verdict::Deny || inner.verdict == Verdict::Ask && inner.rule.is_some()
        };
        if inputs.any(is_against) {
            return Opinion::ask(Doubt::PerhapsDenied);
        }
        let is_narrow = || self.narrowing().narrow(self.request.tool).next().is_some();
        if inside.is_too_long && is_narrow() { Opinion::ask(Doubt::TooLong) } else { Opinion::neither() }
    }

    /// What only passes on another command is judged by that one.
    fn transparent(&self, command: &Command, depth: usize) -> Option<Opinion<'a>> {
        if !command.settings.is_empty() || depth >= MAX_DEPTH {
            return None;
        }
        let program = command.words.first()?.known()?;
        if let Some(script) = wrappers::script(program, &command.words) {
            let line = command.words.get(script.at).filter(|_| script.is_plain)?.known()?;
            return Some(self.line(line, command.state, depth + 1));
        }
        let row = wrappers::find(program)?;
        match row.kind {
            wrappers::Kind::Opaque => None,
            wrappers::Kind::Joined => Some(self.line(&joined(&command.words)?, command.state, depth + 1)),
            wrappers::Kind::Plain => self.behind(command, wrappers::inner(row, &command.words)?, depth),
        }
    }

    /// The verdict about the command that one with a name of its own in a rule runs as it stands.
    fn traced(&self, command: &Command, depth: usize) -> Option<Opinion<'a>> {
        let row = wrappers::find(&base_name(command.words.first()?).text)?;
        let inner = wrappers::inner(row, &command.words)?;
        let is_judged = depth < MAX_DEPTH && wrappers::is_judged(row, &command.words, inner);
        if is_judged { self.behind(command, inner, depth) } else { None }
    }

    /// The verdict about the command that begins at a word.
    fn behind(&self, command: &Command, at: usize, depth: usize) -> Option<Opinion<'a>> {
        let words = command.words.get(at..)?.to_vec();
        let inner = Command { settings: Vec::new(), words, input: command.input.clone(), state: command.state };
        (!inner.words.is_empty()).then(|| self.command(&inner, depth + 1))
    }

    /// What of a command only shows when it runs.
    fn doubt_of(&self, command: &Command) -> Option<Doubt> {
        let program = command.words.first()?;
        // What begins so is an option of a word before it that a shell may take for its own.
        if !program.is_known() || program.text.is_empty() || program.text.starts_with(['-', '+']) {
            return Some(Doubt::Program);
        }
        if command.state.is_moved && program.text.contains('/') && !program.text.starts_with(['/', '~']) {
            return Some(Doubt::Moved);
        }
        let name = base_name(program).text;
        let is_listed = hazards::is_listed(&name) || wrappers::find(&name).is_some();
        // None of the names that a shell makes of it now is an option, and the options of these do nothing else than they do.
        let is_here = !command.state.is_moved && self.is_quiet && hazards::is_steady(&name);
        let is_plain = |word: &Word| {
            let files = || globs::files(self.request, word);
            let is_name = |path: &PathBuf| !path.to_string_lossy().starts_with(['-', '+']);
            let is_star = !word.is_split && word.made_of.is_empty() && word.shape.starts_with('*');
            is_here && is_star && files().is_some_and(|files| files.iter().all(is_name))
        };
        let mut is_over = false;
        let mut has_name = false;
        for (at, word) in command.words.iter().enumerate().skip(1) {
            if !word.is_known() {
                // A part of a word may be that of an option, of a subcommand or of an address.
                let is_doubtful = if is_listed {
                    !word.is_below()
                } else {
                    word.is_glob && word.could_be_another_option() && !is_plain(word)
                };
                if is_doubtful && !is_over {
                    return Some(Doubt::Options);
                }
            } else if word.text == "--" {
                // Of the programs that matter only git is known to end its options there, after its subcommand.
                is_over |= !is_listed || name == "git" && has_name && hazards::ends_options(&command.words, at);
            } else {
                has_name |= !word.text.starts_with('-');
            }
        }
        None
    }
}

/// Whether a rule is for a tool and an agent, now.
fn holds(rule: &Rule, request: &Request<'_>, tool: &Tool) -> bool {
    let pattern = &rule.pattern.tool;
    // What names an address is no search.
    let has_address = !matches!(request.subject, Subject::Paths(_)) && !tool.is_web_search();
    let is_for = match rule.source.list {
        Verdict::Allow => pattern.allows(tool) && !rule.pattern.is_for_anything(),
        Verdict::Ask | Verdict::Deny => pattern.covers(tool) && !(pattern.is_web_search() && has_address),
    };
    is_for
        && rule.source.agent.as_deref().is_none_or(|name| request.agent == Some(name))
        && rule.source.until.is_none_or(|until| request.now < until)
}

/// Whether a part of a line makes no file for certain.
fn is_reading(segment: &Segment) -> bool {
    match segment {
        Segment::Command(command) | Segment::Passed(command) => command.words.first().is_some_and(|program| {
            hazards::is_steady(&program.text) || hazards::only_reads(&program.text, &command.words)
        }),
        Segment::File { is_write, .. } => !is_write,
    }
}

fn joined(words: &[Word]) -> Option<String> {
    let words: Option<Vec<&str>> = words.iter().skip(1).map(Word::known).collect();
    words.map(|words| words.join(" "))
}

/// Whether a pattern has what it has to have itself of a command that another one runs.
fn passes(rule: &Rule, inside: &Inside) -> bool {
    match &rule.pattern.spec {
        Spec::Command(spec) => inside.passed.iter().all(|(at, bytes)| spec.spells(*at, *bytes)),
        _ => inside.passed.is_empty(),
    }
}

#[cfg(test)]
#[path = "judge_tests.rs"]
mod tests;
