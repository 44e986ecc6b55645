//! TOML that people write by hand: what can be read is read, the rest becomes warnings with a line.
//!
//! Knows no keys. Invariant: never fails; every warning says where.

use std::fmt;
use std::ops::Range;

use toml::de::{DeTable, DeValue};

/// Something in a file that has no effect, and why.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Warning {
    /// Name of the file as people know it.
    pub file: String,
    /// From 1.
    pub line: Option<usize>,
    pub message: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.file, self.message),
            None => write!(f, "{}: {}", self.file, self.message),
        }
    }
}

/// Collects the warnings about one file.
#[derive(Debug)]
pub struct Report<'a> {
    file: &'a str,
    text: &'a str,
    /// Where each line but the first starts.
    starts: Vec<usize>,
    warnings: Vec<Warning>,
}

/// More warnings than this about one file are no help.
const MAX_WARNINGS: usize = 100;

impl<'a> Report<'a> {
    pub fn new(file: &'a str, text: &'a str) -> Self {
        let starts = text.match_indices('\n').map(|(at, _)| at + 1).collect();
        Self { file, text, starts, warnings: Vec::new() }
    }

    /// Reads a document; what could be understood of a broken one is still returned, without the values on the lines
    /// that are broken: the parser makes something up for those.
    pub fn parse(&mut self) -> DeTable<'a> {
        let (table, errors) = DeTable::parse_recoverable(self.text);
        let mut broken: Vec<usize> =
            errors.iter().filter_map(|e| e.span()).map(|span| self.line_of(span.start)).collect();
        broken.sort_unstable();
        // One mistake often causes several errors; the first on each line says enough.
        let mut last = None;
        for error in errors {
            let line = error.span().map(|span| self.line_of(span.start));
            if last != Some(line) {
                self.push(line, format!("not valid TOML: {}", error.message().trim()));
                last = Some(line);
            }
        }
        let table = table.into_inner();
        if broken.is_empty() { table } else { self.prune(table, &broken) }
    }

    fn prune(&self, table: DeTable<'a>, broken: &[usize]) -> DeTable<'a> {
        let mut sound = DeTable::new();
        for (key, mut value) in table {
            let first = self.line_of(key.span().start);
            let last = self.line_of(value.span().end).max(first);
            if let DeValue::Table(inner) = value.get_mut() {
                *inner = self.prune(std::mem::take(inner), broken);
            } else if broken.get(broken.partition_point(|line| *line < first)).is_some_and(|line| *line <= last) {
                continue;
            }
            sound.insert(key, value);
        }
        sound
    }

    pub fn warn(&mut self, span: &Range<usize>, message: impl Into<String>) {
        let line = self.line_of(span.start);
        self.push(Some(line), message.into());
    }

    /// The warnings in the order of their lines.
    pub fn finish(mut self) -> Vec<Warning> {
        self.warnings.sort_by_key(|w| w.line);
        self.warnings
    }

    fn push(&mut self, line: Option<usize>, message: String) {
        if self.warnings.len() < MAX_WARNINGS {
            self.warnings.push(Warning { file: self.file.to_owned(), line, message });
        }
    }

    /// From 1.
    pub fn line_of(&self, offset: usize) -> usize {
        1 + self.starts.partition_point(|start| *start <= offset)
    }
}

/// What a value is, in words for a warning.
pub fn kind_of(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) | DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_line_does_not_take_the_rest_with_it() {
        let text = "a = 1\nb = = 2\nc = 3\n";
        let mut report = Report::new("x.toml", text);
        let table = report.parse();
        assert!(table.contains_key("a"));
        assert!(table.contains_key("c"));
        assert!(!table.contains_key("b"), "what the parser made up for a broken line does not count");
        let warnings = report.finish();
        assert_eq!(warnings.len(), 1);
        assert!(warnings[0].to_string().starts_with("x.toml:2: not valid TOML: "), "{}", warnings[0]);
    }

    #[test]
    fn half_a_list_is_not_a_list() {
        let text = "[t]\nx = [\n\"a\",\n\"b\" \"c\",\n]\ny = \"open\nz = 1\n";
        let mut report = Report::new("x.toml", text);
        let table = report.parse();
        let inner = table["t"].get_ref().as_table().unwrap();
        assert_eq!(inner.keys().map(|k| k.get_ref().to_string()).collect::<Vec<_>>(), ["z"]);
    }
}
