//! The keys as they are bound now: the tables of this room, and over them what a file of the person says.
//!
//! Reads text, never a disk. Invariants: what is wrong in the file gives a warning with its line and changes nothing; a
//! character alone is never bound where it is text, nor a digit where it answers.

use super::action::Action;
use super::bind::{Bind, Keys};
use super::key::Key;
use super::keymap;
use super::layer::{LAYERS, Layer};
use crate::base::toml_doc::{Report, Warning, kind_of};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Sets of keys that can be named in the file.
const PRESETS: &[(&str, &str)] = &[
    ("default", ""),
    ("emacs", include_str!("../../../assets/keys.emacs.toml")),
    ("vim", include_str!("../../../assets/keys.vim.toml")),
];
/// The set of keys with which the composer has modes, and what turns these on or off by itself.
const VIM: &str = "vim";
/// Takes a key away.
const NONE: &str = "none";
/// A file with more is no table of keys.
const MAX_BINDS: usize = 1000;
/// Between the parts of a hint.
const SEP: &str = " · ";
/// Keys that are pressed one after the other.
const MAX_CHORD: usize = 4;

/// All keys, and what they mean.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Keymap {
    /// What the file says; nothing for a key that it takes away.
    own: BTreeMap<(Layer, Key), Option<Action>>,
    /// The same of keys that are pressed one after the other. Invariant: none begins with a key that is text or an answer.
    chords: BTreeMap<(Layer, Vec<Key>), Option<Action>>,
    /// What is written is written with Vim's modes.
    modal: bool,
}

/// A row of the help: keys, what they do, and the action for it.
pub struct Row {
    pub keys: String,
    pub what: &'static str,
    pub action: Action,
}

impl Keymap {
    /// Reads a file of keys.
    pub fn read(text: &str, file: &str) -> (Self, Vec<Warning>) {
        let mut report = Report::new(file, text);
        let table = report.parse();
        let mut map = Self::default();
        let mut preset = "default";
        if let Some((_, value)) = table.iter().find(|(key, _)| key.get_ref() == "preset") {
            match value.get_ref().as_str().and_then(|name| PRESETS.iter().find(|(known, _)| *known == name)) {
                Some((name, keys)) => {
                    preset = name;
                    // Ours are checked by a test.
                    map = Self::of(&Report::new(name, keys).parse(), &mut Report::new(name, keys));
                    map.modal = *name == VIM;
                }
                None => report.warn(&value.span(), "preset is one of default, emacs, vim"),
            }
        }
        if let Some((_, value)) = table.iter().find(|(key, _)| key.get_ref() == VIM) {
            match value.get_ref() {
                DeValue::Boolean(modal) => map.modal = *modal,
                _ => report.warn(&value.span(), "vim is true or false"),
            }
        }
        let own = Self::of(&table, &mut report);
        // A key that the person binds begins nothing of a set.
        map.chords.retain(|(layer, keys), _| keys.first().is_none_or(|first| !own.own.contains_key(&(*layer, *first))));
        map.chords.extend(own.chords);
        map.own.extend(own.own);
        tracing::debug!(preset, binds = map.own.len(), "keys");
        (map, report.finish())
    }

    fn of(table: &DeTable<'_>, report: &mut Report<'_>) -> Self {
        let mut map = Self::default();
        let mut lines = BTreeMap::new();
        for (key, value) in table {
            match (key.get_ref().as_ref(), value.get_ref().as_array()) {
                ("preset" | VIM, _) => {}
                ("bind", Some(binds)) => {
                    if binds.len() > MAX_BINDS {
                        report.warn(&value.span(), format!("only the first {MAX_BINDS} of these count"));
                    }
                    binds.iter().take(MAX_BINDS).for_each(|bind| map.bind(bind, &mut lines, report));
                }
                ("bind", None) => report.warn(&value.span(), "bind is a list of tables: [[bind]]"),
                (other, _) => report.warn(&key.span(), format!("unknown key {other:?}; allowed: preset, vim, bind")),
            }
        }
        map
    }

    fn bind(
        &mut self,
        value: &Spanned<DeValue<'_>>,
        lines: &mut BTreeMap<(Layer, Vec<Key>), usize>,
        report: &mut Report<'_>,
    ) {
        let Some(table) = value.get_ref().as_table() else {
            return report.warn(&value.span(), format!("bind is {}; allowed: a table", kind_of(value.get_ref())));
        };
        let (mut on, mut run, mut when) = (Vec::new(), None, Vec::new());
        let is_usual = keymap::is_row(table);
        for (key, value) in table {
            match (key.get_ref().as_ref(), value.get_ref()) {
                ("on", DeValue::String(name)) => on.push((name.as_ref(), value.span())),
                ("on", DeValue::Array(names)) => {
                    on.extend(names.iter().filter_map(|name| Some((name.get_ref().as_str()?, name.span()))));
                }
                ("run", DeValue::String(name)) => run = Some((name.as_ref(), value.span())),
                ("when", DeValue::String(name)) => when.push((name.as_ref(), value.span())),
                ("when", DeValue::Array(names)) => {
                    when.extend(names.iter().filter_map(|name| Some((name.get_ref().as_str()?, name.span()))));
                }
                // For the help of the rows that come with the program.
                ("does", DeValue::String(_)) => {}
                ("on" | "run" | "when" | "does", other) => {
                    report.warn(&value.span(), format!("this is {}; allowed: a string", kind_of(other)));
                }
                (other, _) => report.warn(&key.span(), format!("unknown key {other:?}; allowed: on, run, when, does")),
            }
        }
        let (Some((run, run_at)), false) = (run, on.is_empty()) else {
            return report.warn(&value.span(), "a bind needs `on`, a key, and `run`, what it does");
        };
        let on = written(on, is_usual, report);
        let mut layers: Vec<Layer> = if when.is_empty() { LAYERS.to_vec() } else { Vec::new() };
        for (name, at) in &when {
            let Some(layer) = Layer::called(name) else {
                let known: Vec<&str> = LAYERS.into_iter().map(Layer::word).collect();
                return report.warn(at, format!("there is no place {name:?}; allowed: {}", known.join(", ")));
            };
            layers.push(layer);
        }
        let known: Vec<(Layer, Option<Action>)> = layers
            .into_iter()
            .filter_map(
                |layer| if run == NONE { Some((layer, None)) } else { Some((layer, Some(action(layer, run)?))) },
            )
            .collect();
        if known.is_empty() && is_usual {
            return;
        }
        if known.is_empty() {
            let places: Vec<&str> = when.iter().map(|(name, _)| *name).collect();
            let place = if places.is_empty() { String::new() } else { format!(" in {}", places.join(", ")) };
            return report.warn(&run_at, format!("nothing is called {run:?}{place}; `acp-tui keys` lists all names"));
        }
        for (name, at, first, keys) in on {
            // Places by what is to be said of them, and the line that it is about.
            let mut told: BTreeMap<(bool, usize), Vec<&str>> = BTreeMap::new();
            for (layer, action) in &known {
                // Where a command gets the keys, nothing is waited for.
                let is_out_of_place = keys.len() > 1 && *layer == Layer::Terminal;
                if is_out_of_place || is_taken(*layer, first) {
                    // Where the place is not named, those that can have it do.
                    if !when.is_empty() && !is_usual {
                        report
                            .warn(&at, format!("{name:?} is text or an answer in {}, so it stays that", layer.word()));
                    }
                    continue;
                }
                // Of the rows as they come the upper one counts.
                if is_usual && lines.contains_key(&(*layer, keys.clone())) {
                    continue;
                }
                let place = layer.word();
                if let Some(line) = lines.insert((*layer, keys.clone()), report.line_of(at.start)) {
                    told.entry((true, line)).or_default().push(place);
                }
                let is_longer =
                    |other: &Vec<Key>| *other != keys && (other.starts_with(&keys) || keys.starts_with(other));
                if let Some((_, line)) = lines.iter().find(|((at, other), _)| at == layer && is_longer(other)) {
                    told.entry((false, *line)).or_default().push(place);
                }
                if keys.len() > 1 {
                    self.chords.insert((*layer, keys.clone()), *action);
                } else {
                    self.own.insert((*layer, first), *action);
                }
            }
            for ((is_same, line), places) in told {
                let places = if when.is_empty() { "every place".to_owned() } else { places.join(", ") };
                let what = if is_same {
                    format!("is bound on line {line} already; this one counts")
                } else {
                    format!("begins as the one of line {line}; the longer one counts")
                };
                report.warn(&at, format!("{name:?} in {places} {what}"));
            }
        }
    }

    /// Whether the composer has Vim's modes.
    pub const fn is_modal(&self) -> bool {
        self.modal
    }

    /// Whether more keys are waited for behind these.
    pub fn begins(&self, layer: Layer, begun: &[Key]) -> bool {
        let goes_on = |keys: &[Key]| keys.len() > begun.len() && keys.starts_with(begun);
        self.chords.iter().any(|((at, keys), action)| *at == layer && action.is_some() && goes_on(keys))
    }

    /// What several keys mean that were pressed one after the other.
    pub fn chord(&self, layer: Layer, keys: &[Key]) -> Option<Action> {
        self.chords.get(&(layer, keys.to_vec())).copied().flatten()
    }

    /// What `key` means by itself with the focus in `layer`; `None` if nothing.
    pub fn resolve(&self, layer: Layer, key: Key) -> Option<Action> {
        if self.begins(layer, &[key]) {
            return None;
        }
        match self.own.get(&(layer, key)) {
            Some(action) => *action,
            None => keymap::resolve(layer, key),
        }
    }

    /// The rows of the help for `layer`: its own, then those that hold everywhere and are not taken by it.
    pub fn help(&self, layer: Layer) -> impl Iterator<Item = Row> {
        keymap::all(layer).filter_map(move |bind| {
            let keys = match &bind.keys {
                Keys::These(_) => self.labels(layer, bind).join(", "),
                _ => bind.keys.label(),
            };
            (!keys.is_empty()).then_some(Row { keys, what: &bind.what, action: bind.action })
        })
    }

    /// The key to name in a hint for `action`, the first of its row: `Ctrl+Y`.
    pub fn label(&self, layer: Layer, action: Action) -> Option<String> {
        let mut binds = keymap::all(layer).filter(|bind| bind.action == action);
        binds.find_map(|bind| self.labels(layer, bind).into_iter().next())
    }

    /// Words with the keys in them as they are bound now. A key is written as it comes with the program, with the place that
    /// it counts in before it where that is not `layer`: `{Tab}, then {question r} starts it again`. A part between ` · ` of
    /// which a key does nothing is left out.
    pub fn say(&self, layer: Layer, words: &'static str) -> String {
        let parts: Vec<String> = words.split(SEP).filter_map(|part| self.part(layer, part)).collect();
        parts.join(SEP)
    }

    /// The same; nothing where no part is left.
    pub fn hint(&self, layer: Layer, words: &'static str) -> Option<String> {
        Some(self.say(layer, words)).filter(|words| !words.trim_matches([' ', '·']).is_empty())
    }

    /// The key that does now what `key` does as it comes.
    pub fn now(&self, layer: Layer, key: &str) -> Option<String> {
        let (layer, key) =
            key.split_once(' ').and_then(|(at, key)| Some((Layer::called(at)?, key))).unwrap_or((layer, key));
        let action = Key::parse(key).and_then(|key| keymap::resolve(layer, key));
        debug_assert!(action.is_some(), "{key} does nothing in {layer:?}");
        self.label(layer, action?)
    }

    fn part(&self, layer: Layer, mut part: &str) -> Option<String> {
        let mut out = String::new();
        while let Some((front, back)) = part.split_once('{') {
            let (key, rest) = back.split_once('}')?;
            out.push_str(front);
            out.push_str(&self.now(layer, key)?);
            part = rest;
        }
        out.push_str(part);
        Some(out)
    }

    /// What a key with Alt does, and a key that does it without.
    pub fn without_alt(&self, layer: Layer, key: Key) -> Option<(String, &'static str)> {
        let action = self.resolve(layer, key)?;
        let mut rows = keymap::all(layer).filter(|bind| bind.action == action);
        let other = |bind: &'static Bind| {
            let found = self.labels(layer, bind).into_iter().find(|key| !key.contains("Alt+"))?;
            Some((found, bind.what.as_str()))
        };
        rows.find_map(other)
    }

    /// The keys of a row as they are shown, those that take one press first.
    fn labels(&self, layer: Layer, bind: &Bind) -> Vec<String> {
        let single = self.keys(layer, bind).iter().map(Key::to_string).collect::<Vec<_>>();
        single.into_iter().chain(self.chords_of(layer, bind).map(label)).collect()
    }

    fn chords_of<'a>(&'a self, layer: Layer, bind: &'a Bind) -> impl Iterator<Item = &'a [Key]> {
        let of = self.chords.iter().filter(move |((at, _), action)| *at == layer && **action == Some(bind.action));
        of.map(|((_, keys), _)| keys.as_slice())
    }

    /// The keys that do what a row says, those of the person first.
    fn keys(&self, layer: Layer, bind: &Bind) -> Vec<Key> {
        let usual = if let Keys::These(usual) = &bind.keys { usual.as_slice() } else { &[] };
        let own = self.own.iter().filter(|((at, _), action)| *at == layer && **action == Some(bind.action));
        // One that begins others does nothing by itself.
        let is_new = |key: &Key| {
            keymap::resolve(layer, *key) != Some(bind.action) && self.resolve(layer, *key) == Some(bind.action)
        };
        let own = own.map(|((_, key), _)| *key).filter(is_new);
        own.chain(usual.iter().copied().filter(|key| self.resolve(layer, *key) == Some(bind.action))).collect()
    }

    /// What a key does, and the places where it does that.
    pub fn meanings(&self, key: Key) -> Vec<(Vec<&'static str>, String)> {
        let mut found: Vec<(Vec<&'static str>, String)> = Vec::new();
        for layer in LAYERS {
            let what = if self.begins(layer, &[key]) {
                "begins others".to_owned()
            } else {
                let Some(action) = self.resolve(layer, key) else { continue };
                let row = keymap::all(layer).find(|bind| bind.action == action);
                match action {
                    Action::Char(_) => "types it".to_owned(),
                    action => row.map_or_else(|| action.name(), |bind| bind.what.clone()),
                }
            };
            match found.iter_mut().find(|(_, known)| *known == what) {
                Some((places, _)) => places.push(layer.word()),
                None => found.push((vec![layer.word()], what)),
            }
        }
        found
    }

    /// All keys in the form of the file.
    pub fn as_toml(&self) -> String {
        let mut out = String::from("# Every key as it is bound now. Rows like these in keys.toml change it.\n");
        for layer in LAYERS {
            for bind in keymap::all(layer) {
                let single = self.keys(layer, bind).into_iter().map(Key::spelled);
                let spell = |keys: &[Key]| keys.iter().map(|key| key.spelled()).collect::<Vec<_>>().join(" ");
                let keys: Vec<String> =
                    single.chain(self.chords_of(layer, bind).map(spell)).map(|name| format!("{name:?}")).collect();
                // A key that writes itself is no row of a file.
                if keys.is_empty() || matches!(bind.action, Action::Char(_)) {
                    continue;
                }
                let (on, run) = (keys.join(", "), bind.action.name());
                // Nothing can go wrong where text is written to text.
                let (when, does) = (layer.word(), &bind.what);
                let _ = write!(out, "\n[[bind]]\non = [{on}]\nrun = {run:?}\nwhen = {when:?}\ndoes = {does:?}\n");
            }
        }
        out
    }
}

/// What is written in a row, with the keys that it means; what is no key is told, whatever else is wrong there.
fn written<'a>(
    on: Vec<(&'a str, Range<usize>)>,
    is_usual: bool,
    report: &mut Report<'_>,
) -> Vec<(&'a str, Range<usize>, Key, Vec<Key>)> {
    let mut found = Vec::new();
    for (name, at) in on {
        match keys(name) {
            Some((first, keys)) => found.push((name, at, first, keys)),
            None if is_usual => {}
            None => report.warn(
                &at,
                format!("{name:?} is no key; for example \"ctrl+g\", \"alt+enter\", \"f3\", \"a\", \"ctrl+x ctrl+e\""),
            ),
        }
    }
    found
}

/// One key, or several with blanks between them: the first, and all.
fn keys(name: &str) -> Option<(Key, Vec<Key>)> {
    let keys: Vec<Key> = name.split_whitespace().map(Key::parse).collect::<Option<_>>()?;
    Some((*keys.first().filter(|_| keys.len() <= MAX_CHORD)?, keys))
}

/// Keys that are pressed one after the other, as they are shown.
pub fn label(keys: &[Key]) -> String {
    keys.iter().map(Key::to_string).collect::<Vec<_>>().join(" ")
}

fn action(layer: Layer, called: &str) -> Option<Action> {
    let bindable = |bind: &&Bind| matches!(bind.keys, Keys::These(_));
    keymap::all(layer).filter(bindable).map(|bind| bind.action).find(|action| action.name() == called)
}

/// Whether a key writes or answers in a layer, so that it cannot mean something else.
fn is_taken(layer: Layer, key: Key) -> bool {
    keymap::all(layer).any(|bind| !matches!(bind.keys, Keys::These(_)) && bind.matches(key).is_some())
        && keymap::resolve(layer, key).is_some_and(|action| matches!(action, Action::Char(_) | Action::Answer(_)))
}

#[cfg(test)]
#[path = "live_tests.rs"]
mod tests;
