//! What a shell line would do: its commands and the files that it redirects to, also those inside substitutions,
//! functions and groups.
//!
//! Knows nothing of rules. Invariants: never panics and never recurses deeper than its bounds; all that it could not
//! read for certain stands in the doubts.

use super::word::{self, Found, Rest, Word};
use super::{Doubt, document, wrappers};
use crate::base::paths::normalize;
use crate::base::sanitize::is_deceptive;
use brush_parser::ast::{
    self, Command as Node, CommandPrefixOrSuffixItem as Item, CompoundCommand, IoFileRedirectKind,
    IoFileRedirectTarget, IoRedirect,
};
use brush_parser::{ParserOptions, SourceInfo};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// A longer line is asked about.
const MAX_BYTES: usize = 16 << 10;
/// After these it is not known what the directory is.
const MOVERS: &[&str] = &["cd", "pushd", "popd", "chdir", "eval", "source", "."];
/// Variables of loops that mean nothing to any shell or program, beside single letters.
const OWN_VARIABLES: &[&str] =
    &["branch", "commit", "crate", "dir", "file", "host", "idx", "item", "line", "name", "num", "pkg", "test", "word"];
/// What opens something in one line: the parser goes down with each.
const MAX_OPENERS: usize = 64;
/// Groups, and choices: of those that are not closed the parser tries every reading, twice as many with each.
const MAX_GROUPS: usize = 12;
const MAX_CHOICES: usize = 6;
/// Substitutions in substitutions.
const MAX_DEPTH: usize = 8;
/// Commands of one line.
const MAX_SEGMENTS: usize = 512;

#[derive(Debug, Default)]
pub(super) struct Line {
    pub(super) segments: Vec<Segment>,
    pub(super) doubts: Vec<Doubt>,
    pub(super) order: Order,
    /// Variables that it sets, each with a value.
    pub(super) variables: Vec<(String, Word)>,
    /// What words say that stand otherwise in the line: without their quotes, and with what expansions may put there.
    pub(super) texts: Vec<String>,
    /// There are more of them than are looked at.
    pub(super) has_more: bool,
    /// Texts that it gives to groups of commands as their input.
    pub(super) inputs: Vec<String>,
}

/// Which commands of a line may run before another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Order {
    /// Those that stand before it.
    #[default]
    Written,
    /// Any other: some run at the same time.
    Mixed,
    /// Any, also itself.
    Repeated,
}

#[derive(Clone, Debug)]
pub(super) enum Segment {
    Command(Command),
    /// Only passes a text on: no rule has to be for it.
    Passed(Command),
    File {
        word: Word,
        is_write: bool,
        /// After a change of the directory.
        is_moved: bool,
    },
}

#[derive(Clone, Debug, Default)]
pub(super) struct Command {
    /// `NAME=VALUE` before the program.
    pub(super) settings: Vec<Word>,
    pub(super) words: Vec<Word>,
    /// Texts that the line gives to it as its input.
    pub(super) input: Vec<String>,
    pub(super) state: State,
}

/// In what a command begins.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct State {
    /// After a change of the directory, which is not known any more.
    pub(super) is_moved: bool,
    /// The line says what is read from standard input.
    pub(super) has_input: bool,
}

/// Reads a line of a shell that begins in this state, and in this directory where that is known.
pub(super) fn read(line: &str, state: State, here: Option<&Path>) -> Line {
    let State { is_moved, has_input } = state;
    let mut reader = Reader { line: Line::default(), depth: 0, is_moved, has_input, here };
    reader.text(line);
    let Reader { mut line, is_moved, .. } = reader;
    // What stands first may run again after the directory was changed.
    if is_moved && line.order == Order::Repeated {
        for segment in &mut line.segments {
            match segment {
                Segment::Command(command) | Segment::Passed(command) => command.state.is_moved = true,
                Segment::File { is_moved, .. } => *is_moved = true,
            }
        }
    }
    line
}

struct Reader<'a> {
    line: Line,
    depth: usize,
    is_moved: bool,
    has_input: bool,
    here: Option<&'a Path>,
}

impl Reader<'_> {
    fn doubt(&mut self, doubt: Doubt) {
        self.line.doubts.push(doubt);
    }

    fn text(&mut self, text: &str) {
        if self.depth > MAX_DEPTH || text.len() > MAX_BYTES || is_deep(text) {
            return self.doubt(Doubt::TooLong);
        }
        if hides(text) {
            self.doubt(Doubt::Deceptive);
        }
        let unfolded = document::unfolded(text);
        if unfolded.is_some() {
            let words = vec![Word { text: "cat".to_owned(), ..Word::default() }];
            self.line.segments.push(Segment::Passed(Command { words, ..Command::default() }));
        }
        let text = unfolded.as_deref().unwrap_or(text);
        // Where a here-document ends depends on joined lines and on quotes around its mark.
        if text.contains("<<") && (text.contains("\\\n") || text.contains('`')) {
            self.doubt(Doubt::Dialect);
        }
        // The parser does not come back from some of the others.
        if !has_plain_marks(text) {
            return self.doubt(Doubt::Dialect);
        }
        let options = ParserOptions { enable_extended_globbing: false, ..ParserOptions::default() };
        // The parser takes some of its input for granted.
        let parsed = catch_unwind(AssertUnwindSafe(|| {
            let tokens = brush_parser::uncached_tokenize_str(text, &options.tokenizer_options()).ok()?;
            brush_parser::parse_tokens(&tokens, &options, &SourceInfo::default()).ok()
        }));
        let Ok(Some(program)) = parsed else { return self.doubt(Doubt::Unreadable) };
        self.depth += 1;
        for list in &program.complete_commands {
            self.list(list);
        }
        self.depth -= 1;
    }

    fn word(&mut self, word: &ast::Word) -> Word {
        self.raw(&word.value)
    }

    fn raw(&mut self, raw: &str) -> Word {
        // Before a redirection it names a variable, which is set.
        let inner = raw.strip_prefix('{').and_then(|raw| raw.strip_suffix('}'));
        if inner.is_some_and(|name| name.starts_with(|c: char| c == '_' || c.is_ascii_alphabetic())) {
            self.doubt(Doubt::Setting);
        }
        let mut found = Found::default();
        let word = word::read(raw, &mut found);
        if word.looks() != raw {
            self.line.texts.push(word.looks().to_owned());
        }
        self.found(found);
        word
    }

    fn found(&mut self, found: Found) {
        self.line.doubts.extend(found.doubts);
        self.line.texts.extend(found.texts);
        self.line.has_more |= found.has_more;
        for line in found.lines {
            self.text(&line);
        }
    }

    fn list(&mut self, list: &ast::CompoundList) {
        for ast::CompoundListItem(and_or, separator) in &list.0 {
            if matches!(separator, ast::SeparatorOperator::Async) {
                self.mix(Order::Mixed);
            }
            self.pipeline(&and_or.first);
            for next in &and_or.additional {
                let (ast::AndOr::And(pipeline) | ast::AndOr::Or(pipeline)) = next;
                self.pipeline(pipeline);
            }
        }
    }

    fn mix(&mut self, order: Order) {
        self.line.order = self.line.order.max(order);
    }

    fn pipeline(&mut self, pipeline: &ast::Pipeline) {
        if pipeline.seq.len() > 1 {
            self.mix(Order::Mixed);
        }
        for (at, command) in pipeline.seq.iter().enumerate() {
            self.with_input(at > 0, |reader| reader.command(command));
        }
    }

    /// Reads what the line gives input to, if it does.
    fn with_input(&mut self, has_input: bool, read: impl FnOnce(&mut Self)) {
        let before = self.has_input;
        self.has_input |= has_input;
        read(self);
        self.has_input = before;
    }

    fn command(&mut self, command: &Node) {
        match command {
            Node::Simple(simple) => self.simple(simple),
            Node::Compound(compound, redirects) => {
                self.redirects(redirects.as_ref());
                let has_input = redirects.iter().flat_map(|list| &list.0).any(is_input);
                self.with_input(has_input, |reader| reader.compound(compound));
            }
            Node::Function(function) => {
                self.mix(Order::Repeated);
                let name = &function.fname.value;
                if !name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric()) {
                    self.doubt(Doubt::Dialect);
                    self.word(&function.fname);
                }
                let ast::FunctionBody(body, redirects) = &function.body;
                self.redirects(redirects.as_ref());
                // Where it is called it may get any.
                self.with_input(true, |reader| reader.compound(body));
            }
            Node::ExtendedTest(test) => {
                // Its operands may be evaluated, and a shell without it reads other commands there.
                self.doubt(Doubt::Arithmetic);
                let mut words = Vec::new();
                operands(&test.expr, &mut words);
                for word in words {
                    self.word(word);
                }
            }
        }
    }

    fn compound(&mut self, compound: &CompoundCommand) {
        match compound {
            CompoundCommand::BraceGroup(group) => self.list(&group.list),
            CompoundCommand::Subshell(shell) => self.list(&shell.list),
            CompoundCommand::ForClause(each) => {
                self.mix(Order::Repeated);
                if !is_own_variable(&each.variable_name) {
                    self.doubt(Doubt::Setting);
                }
                for value in each.values.iter().flatten() {
                    let value = self.word(value);
                    self.line.variables.push((each.variable_name.clone(), value));
                }
                self.list(&each.body.list);
            }
            CompoundCommand::CaseClause(case) => {
                self.word(&case.value);
                for item in &case.cases {
                    for pattern in &item.patterns {
                        self.word(pattern);
                    }
                    if let Some(list) = &item.cmd {
                        self.list(list);
                    }
                }
            }
            CompoundCommand::IfClause(clause) => {
                self.list(&clause.condition);
                self.list(&clause.then);
                for other in clause.elses.iter().flatten() {
                    if let Some(condition) = &other.condition {
                        self.list(condition);
                    }
                    self.list(&other.body);
                }
            }
            CompoundCommand::WhileClause(clause) | CompoundCommand::UntilClause(clause) => {
                self.mix(Order::Repeated);
                self.list(&clause.0);
                self.list(&clause.1.list);
            }
            CompoundCommand::Arithmetic(sum) => self.sum(&sum.expr.value),
            CompoundCommand::ArithmeticForClause(each) => {
                self.mix(Order::Repeated);
                for sum in [&each.initializer, &each.condition, &each.updater].into_iter().flatten() {
                    self.sum(&sum.value);
                }
                self.list(&each.body.list);
            }
        }
    }

    fn sum(&mut self, text: &str) {
        self.doubt(Doubt::Arithmetic);
        let mut found = Found::default();
        word::read_document(text, &mut found);
        self.found(found);
        // It may be two groups of commands to another shell.
        self.text(text);
    }

    fn simple(&mut self, simple: &ast::SimpleCommand) {
        let state = State { is_moved: self.is_moved, has_input: self.has_input };
        let mut command = Command { state, ..Command::default() };
        for item in simple.prefix.iter().flat_map(|prefix| &prefix.0) {
            self.item(item, true, &mut command);
        }
        if let Some(word) = &simple.word_or_name {
            let word = self.word(word);
            command.words.push(word);
        }
        for item in simple.suffix.iter().flat_map(|suffix| &suffix.0) {
            self.item(item, false, &mut command);
        }
        for setting in &command.settings {
            let Some((name, value)) = setting.text.split_once('=') else { continue };
            let shape = setting.shape.split_once('=').map_or("", |(_, shape)| shape);
            let value = Word { text: value.to_owned(), shape: shape.to_owned(), ..setting.clone() };
            self.line.variables.push((name.to_owned(), value));
        }
        let stays = self.here.is_some_and(|here| stays(&command, here));
        let moves = !stays && is_mover(&command);
        self.is_moved |= moves;
        if command.words.is_empty() && command.settings.is_empty() {
            return;
        }
        if self.line.segments.len() >= MAX_SEGMENTS {
            return self.doubt(Doubt::TooLong);
        }
        let is_passed = stays && !self.is_moved || only_ends(simple);
        self.line.segments.push(if is_passed { Segment::Passed(command) } else { Segment::Command(command) });
    }

    fn item(&mut self, item: &Item, is_before: bool, command: &mut Command) {
        match item {
            Item::IoRedirect(redirect) => {
                command.state.has_input |= is_input(redirect);
                command.input.extend(given(redirect).map(str::to_owned));
                self.redirect(redirect);
            }
            Item::Word(word) => {
                let word = self.word(word);
                command.words.push(word);
            }
            Item::AssignmentWord(assignment, word) => {
                if matches!(assignment.name, ast::AssignmentName::ArrayElementName(..)) {
                    self.doubt(Doubt::Setting);
                }
                let word = match &assignment.value {
                    ast::AssignmentValue::Scalar(_) => self.word(word),
                    ast::AssignmentValue::Array(values) => {
                        self.doubt(Doubt::Setting);
                        for (index, value) in values {
                            for word in index.iter().chain([value]) {
                                self.word(word);
                            }
                        }
                        Word::any()
                    }
                };
                if is_before { command.settings.push(word) } else { command.words.push(word) }
            }
            Item::ProcessSubstitution(_, shell) => {
                self.mix(Order::Mixed);
                self.with_input(true, |reader| reader.list(&shell.list));
                let word = Word { text: "/dev/fd/".into(), rest: Rest::Text, ..Word::default() };
                command.words.push(word);
            }
        }
    }

    fn redirects(&mut self, redirects: Option<&ast::RedirectList>) {
        for redirect in redirects.iter().flat_map(|list| &list.0) {
            self.line.inputs.extend(given(redirect).map(str::to_owned));
            self.redirect(redirect);
        }
    }

    fn redirect(&mut self, redirect: &IoRedirect) {
        match redirect {
            IoRedirect::File(_, kind, target) => {
                let is_write = !matches!(kind, IoFileRedirectKind::Read | IoFileRedirectKind::DuplicateInput);
                match target {
                    IoFileRedirectTarget::Filename(word) => self.file(word, is_write),
                    IoFileRedirectTarget::ProcessSubstitution(_, shell) => {
                        self.mix(Order::Mixed);
                        self.with_input(true, |reader| reader.list(&shell.list));
                    }
                    IoFileRedirectTarget::Fd(_) => {}
                    IoFileRedirectTarget::Duplicate(word) => {
                        let is_descriptor = word.value == "-"
                            || word.value.strip_suffix('-').unwrap_or(&word.value).bytes().all(|b| b.is_ascii_digit());
                        if !is_descriptor {
                            self.file(word, is_write);
                        }
                    }
                }
            }
            IoRedirect::OutputAndError(word, _) => self.file(word, true),
            IoRedirect::HereString(_, word) => {
                self.word(word);
            }
            IoRedirect::HereDocument(_, document) => {
                let mark = document.here_end.value.as_str();
                let bare = mark.strip_prefix('\\').unwrap_or(mark);
                let bare = ['\'', '"'].iter().find_map(|q| bare.strip_prefix(*q)?.strip_suffix(*q)).unwrap_or(bare);
                if bare.is_empty() || !bare.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
                    self.doubt(Doubt::Dialect);
                }
                if document.requires_expansion {
                    let mut found = Found::default();
                    word::read_document(&document.doc.value, &mut found);
                    self.found(found);
                }
            }
        }
    }

    fn file(&mut self, word: &ast::Word, is_write: bool) {
        let word = self.word(word);
        let is_moved = self.is_moved;
        self.line.segments.push(Segment::File { word, is_write, is_moved });
    }
}

/// Whether a command may change the directory: by itself, or behind a program that runs another one.
fn is_mover(command: &Command) -> bool {
    let is_one = |word: &Word| MOVERS.contains(&word.text.as_str());
    let is_runner =
        |word: &Word| !word.is_known() || wrappers::find(word.text.rsplit('/').next().unwrap_or_default()).is_some();
    let Some((program, rest)) = command.words.split_first() else { return false };
    is_one(program) || is_runner(program) && rest.iter().take(3).any(is_one)
}

/// Whether a command only goes to the directory where the line began.
pub(super) fn stays(command: &Command, here: &Path) -> bool {
    let [program, dir] = &*command.words else { return false };
    let text = dir.known().filter(|text| *text == "." || text.starts_with('/'));
    let is_plain = program.known() == Some("cd") && command.settings.is_empty();
    // Where `..` leads behind a link depends on the shell.
    let text = text.filter(|text| is_plain && !text.split('/').any(|part| part == ".."));
    text.is_some_and(|text| normalize(&here.join(text)) == here)
}

/// Whether it only ends the line or what runs in it, or only says yes or no.
fn only_ends(simple: &ast::SimpleCommand) -> bool {
    let name = simple.word_or_name.as_ref().map_or("", |word| &word.value);
    let mut values = simple.suffix.iter().flat_map(|suffix| &suffix.0).filter_map(|item| match item {
        Item::IoRedirect(_) => None,
        Item::Word(word) => Some(word.value.as_str()),
        _ => Some(""),
    });
    let is_number = |text: &str| (1..=3).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    // One shell evaluates what stands there.
    let is_plain = |text: &str| is_number(text) || matches!(text, "$?" | "\"$?\"");
    let value = values.next();
    let ends = ["exit", "return", "break", "continue"].contains(&name) && value.is_none_or(is_plain);
    let says = ["true", "false", ":"].contains(&name) && value.is_none();
    simple.prefix.is_none() && values.next().is_none() && (ends || says)
}

/// The text that it gives to a command as its input.
fn given(redirect: &IoRedirect) -> Option<&str> {
    match redirect {
        IoRedirect::HereDocument(_, document) => Some(&document.doc.value),
        IoRedirect::HereString(_, word) => Some(&word.value),
        IoRedirect::File(..) | IoRedirect::OutputAndError(..) => None,
    }
}

/// Whether a command reads what this names.
fn is_input(redirect: &IoRedirect) -> bool {
    match redirect {
        IoRedirect::File(_, kind, target) => {
            let is_nothing = matches!(target, IoFileRedirectTarget::Filename(word) if word.value == "/dev/null");
            let reads = matches!(
                kind,
                IoFileRedirectKind::Read | IoFileRedirectKind::DuplicateInput | IoFileRedirectKind::ReadAndWrite
            );
            reads && !is_nothing
        }
        IoRedirect::HereString(..) | IoRedirect::HereDocument(..) => true,
        IoRedirect::OutputAndError(..) => false,
    }
}

fn operands<'a>(test: &'a ast::ExtendedTestExpr, words: &mut Vec<&'a ast::Word>) {
    match test {
        ast::ExtendedTestExpr::And(a, b) | ast::ExtendedTestExpr::Or(a, b) => {
            operands(a, words);
            operands(b, words);
        }
        ast::ExtendedTestExpr::Not(inner) | ast::ExtendedTestExpr::Parenthesized(inner) => operands(inner, words),
        ast::ExtendedTestExpr::UnaryTest(_, word) => words.push(word),
        ast::ExtendedTestExpr::BinaryTest(_, a, b) => words.extend([a, b]),
    }
}

fn is_own_variable(name: &str) -> bool {
    let is_letter = matches!(name.as_bytes(), [letter] if letter.is_ascii_lowercase());
    is_letter || OWN_VARIABLES.contains(&name)
}

/// Whether what follows each `<<` is a plain mark, quoted or not, and none is inside a substitution. A backslash makes
/// another sign the first of several `<`, or joins two lines to such.
fn has_plain_marks(text: &str) -> bool {
    if text.contains("<\\\n") || text.contains("<<") && text.contains("\\<") {
        return false;
    }
    let mut rest = text;
    let mut is_nested = false;
    while let Some((before, after)) = rest.split_once("<<") {
        rest = after;
        is_nested |= before.contains('`') || before.contains("$(") || before.contains("${") || before.contains("$[");
        if let Some(word) = after.strip_prefix('<') {
            rest = word;
            continue;
        }
        let mark = after.strip_prefix('-').unwrap_or(after).trim_start_matches([' ', '\t']);
        let quote = mark.chars().next().filter(|c| matches!(c, '\'' | '"'));
        let mark = mark.trim_start_matches(['\'', '"', '\\']);
        let end = mark.find(|c: char| c != '_' && !c.is_ascii_alphanumeric()).unwrap_or(mark.len());
        let (name, next) = mark.split_at(end);
        let next = quote.map_or(Some(next), |quote| next.strip_prefix(quote));
        let is_end = |next: &str| next.chars().next().is_none_or(|c| " \t\n;|&)<>\"'".contains(c));
        if is_nested || name.is_empty() || !next.is_some_and(is_end) {
            return false;
        }
    }
    true
}

/// Whether the parser could go too deep, or not come back.
fn is_deep(text: &str) -> bool {
    let signs = text.bytes().filter(|b| matches!(b, b'(' | b'{' | b'`' | b'!' | b'[')).count();
    let bytes = text.as_bytes();
    let is_group = |at: usize| bytes[at] == b'(' && !matches!(at.checked_sub(1).map(|at| bytes[at]), Some(b'$'));
    let groups = (0..bytes.len()).filter(|at| is_group(*at)).count();
    let words = || text.split(|c: char| !c.is_ascii_alphabetic());
    let choices = words().filter(|word| *word == "case").count();
    let opening = words().filter(|w| matches!(*w, "if" | "for" | "while" | "until" | "select" | "do" | "then")).count();
    let tests = if text.contains("[[") { text.matches("&&").count() + text.matches("||").count() } else { 0 };
    groups > MAX_GROUPS || choices > MAX_CHOICES || signs + choices + opening + tests > MAX_OPENERS
}

/// Whether a text holds what is not seen, or looks like something else.
pub(super) fn hides(text: &str) -> bool {
    if text.is_ascii() {
        return text.chars().any(is_hidden);
    }
    let before = std::iter::once(' ').chain(text.chars());
    let after = text.chars().skip(1).chain([' ']);
    text.chars().zip(before).zip(after).any(|((c, before), after)| is_hidden(c) || is_lone(c, before, after))
}

/// A character that only changes how the one before it looks, behind one whose looks it does not change.
fn is_lone(c: char, before: char, after: char) -> bool {
    match c {
        '\u{200c}' | '\u{200d}' => before.is_ascii(),
        '\u{fe00}'..='\u{fe0f}' => (before.is_ascii() || before.is_alphabetic()) && after != '\u{20e3}',
        _ => false,
    }
}

/// Of which nobody but a font says what it looks like.
const fn is_private(c: char) -> bool {
    matches!(c, '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..='\u{10ffff}')
}

/// What is not seen, or looks like something else, wherever it stands.
fn is_hidden(c: char) -> bool {
    let is_blank = !c.is_ascii() && c.is_whitespace();
    !matches!(c, '\n' | '\t') && (c.is_control() || is_blank || is_deceptive(c) || is_private(c))
}

#[cfg(test)]
mod tests {
    use super::{has_plain_marks, hides};

    #[test]
    fn what_is_not_seen_is_told_from_what_belongs_to_a_picture() {
        for text in
            ["ls \u{fe0f} x", "ls\u{fe0f}", "ls \u{200d}x", "a\u{200c}b", "é\u{fe00}", "echo \u{e000}", "1\u{fe0f}"]
        {
            assert!(hides(text), "{text:?}");
        }
        for text in
            ["echo ❤\u{fe0f}", "echo 👩\u{200d}🚀", "echo 1\u{fe0f}\u{20e3}", "ls é 漢 می\u{200c}خواهم", "ls -l"]
        {
            assert!(!hides(text), "{text:?}");
        }
    }

    /// Found by the fuzz target `patterns`: with such a mark the parser takes memory without end.
    #[test]
    fn a_backslash_does_not_hide_where_a_here_document_begins() {
        for text in ["\\<<<\r ", "<<<<a\\<<<<<< \r\r ", "a <\\\n<\r ", "cat << \r "] {
            assert!(!has_plain_marks(text), "{text:?}");
        }
        for text in
            ["cat <<EOF\na\nEOF", "cat <<'E' > a\nE\n", "grep '\\<word\\>' a < b", "cat <<<word", "grep '<<<<<<<' a"]
        {
            assert!(has_plain_marks(text), "{text:?}");
        }
    }
}
