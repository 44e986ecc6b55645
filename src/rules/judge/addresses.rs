//! What rules against fetching say of commands: addresses and machines among their words.
//!
//! Invariants: what a command names never allows it; a word that is an address for certain is denied as a fetch of it is, and
//! one that may have one in it is asked about.

use super::Opinion;
use super::address::Address;
use super::against::Against;
use crate::rules::hazards::{self, Client, Reads, Text};
use crate::rules::list::Among;
use crate::rules::pattern::{Match, Spec, base_name};
use crate::rules::shell::Command;
use crate::rules::tool::Tool;
use crate::rules::word::Word;
use crate::rules::{Doubt, wrappers};
use std::sync::LazyLock;

static FETCH: LazyLock<Tool> = LazyLock::new(Tool::of_address);

/// What of a command may be an address.
enum Said {
    /// `is_certain`: it is nothing else; `is_open`: it is any, by a rule against all fetching.
    Address { address: Address, is_certain: bool, is_open: bool },
    /// A name of a machine may stand in it.
    Text(String),
    /// Which one only shows when it runs.
    Unknown,
}

/// `starts`: where the commands begin that it runs for certain.
pub(super) fn of_command<'a>(against: Against<'a>, command: &Command, starts: &[usize]) -> Opinion<'a> {
    let is_broken = against.default(&FETCH) == Doubt::BrokenDeny;
    if against.narrow(&FETCH).next().is_none() && !is_broken {
        return Opinion::neither();
    }
    let mut said = Vec::new();
    let mut connects = false;
    for start in starts {
        connects |= of_words(command.words.get(*start..).unwrap_or_default(), &mut said);
    }
    if !connects {
        return Opinion::neither();
    }
    said.extend(command.settings.iter().map(|setting| Said::Text(setting.looks().to_owned())));
    said.extend(command.input.iter().map(|text| Said::Text(text.clone())));
    let is_any = said.iter().any(|said| matches!(said, Said::Address { .. } | Said::Unknown));
    if is_broken && is_any {
        return Opinion::ask(Doubt::BrokenDeny);
    }
    let wide = |spec: &Spec| said.iter().map(|said| said.matches(spec)).max().unwrap_or(Match::No);
    against.narrowed(&FETCH, Among::All, wide).unwrap_or(Opinion::neither())
}

/// What words of one command say; false of programs that connect nowhere.
fn of_words(words: &[Word], said: &mut Vec<Said>) -> bool {
    let Some(first) = words.first() else { return false };
    let program = base_name(first).text;
    let client = hazards::client(&program, words);
    let is_known = hazards::is_steady(&program) || hazards::reads(&program, words) != Reads::Unknown;
    let is_speaker = !is_known && !hazards::is_unknown(&program) && !hazards::is_listed(&program);
    let connects_nowhere = is_known || is_speaker && wrappers::find(&program).is_none();
    if client.is_none() && connects_nowhere {
        return false;
    }
    let texts = hazards::texts(&program, words);
    for (at, word) in words.iter().enumerate().skip(1) {
        if texts.contains(&(at, Text::Plain)) {
            continue;
        }
        if !word.is_known() {
            said.extend(of_unknown(word, client, hazards::is_sent(words, at)));
            continue;
        }
        let text = word.text.as_str();
        let mut rest = text;
        for (count, (sign, _)) in text.match_indices("://").enumerate() {
            let (before, behind) = text.split_at(sign);
            let is_scheme = |c: char| c.is_ascii_alphanumeric() || "+.-_=".contains(c);
            let is_certain = count == 0 && before.chars().all(is_scheme) && !text.contains(char::is_whitespace);
            let end = behind.find(|c: char| c.is_whitespace() || "'\"`<>,;|(){}".contains(c)).unwrap_or(behind.len());
            let address = Address::read(behind.get(..end).unwrap_or_default());
            said.push(Said::Address { address, is_certain, is_open: true });
            if has_globs(behind.get(3..).unwrap_or_default()) {
                said.push(Said::Unknown);
            }
            if is_certain {
                // What stands behind its machine may have a name in it as well.
                rest =
                    behind.get(3..).and_then(|behind| Some(behind.split_once(['/', '?', '#'])?.1)).unwrap_or_default();
            }
        }
        said.push(Said::Text(rest.to_owned()));
        if let Some(client) = client.filter(|_| !text.contains("://")) {
            let option = text.starts_with('-');
            if client == Client::Any && !hazards::is_sent(words, at) && has_globs(text) {
                said.push(Said::Unknown);
            }
            let value = text.split_once('=').map(|(_, value)| value).filter(|_| option);
            said.extend((if option { value } else { Some(text) }).map(|text| {
                let is_remote = text.split('/').next().is_some_and(|start| start.contains(':'));
                let is_open = !option && if client == Client::Copier { is_remote } else { text.contains('.') };
                Said::Address { address: Address::read(text), is_certain: true, is_open }
            }));
        }
    }
    true
}

/// Whether programs such as curl make several machines, or another one, of what stands in the place of one.
fn has_globs(text: &str) -> bool {
    let place = text.trim_start_matches('/');
    let place = place.split(['/', '?', '#']).next().unwrap_or_default();
    // Behind `http:` the slashes may be made as well.
    let place = if place.ends_with(':') { text } else { place };
    let is_address = |rest: &str| {
        let inside = rest.split_once(']').map_or("", |(inside, _)| inside);
        inside.matches(':').count() > 1 && inside.chars().all(|c| c.is_ascii_hexdigit() || ":.%".contains(c))
    };
    let is_open = |(at, c): (usize, char)| c == '{' || c == '[' && !place.get(at + 1..).is_some_and(is_address);
    place.char_indices().any(is_open)
}

/// Of a word of which only the beginning is known: what it says, where it may be an address.
fn of_unknown(word: &Word, client: Option<Client>, is_sent: bool) -> Option<Said> {
    let start = word.text.as_str();
    let has_scheme = start.contains("://");
    let is_message = !word.is_split && (is_sent || start.contains(char::is_whitespace));
    if !has_scheme && (client.is_none() || is_message || word.is_glob) {
        return None;
    }
    // The machine is known where a path begins behind it.
    let rest = start.split_once("://").map_or("", |(_, rest)| rest);
    if !rest.contains(['/', '?', '#']) {
        return Some(Said::Unknown);
    }
    let address = Address::read(start.get(start.find("://")?..)?);
    Some(Said::Address { address, is_certain: false, is_open: true })
}

impl Said {
    fn matches(&self, spec: &Spec) -> Match {
        let found = |is_it: bool, is_certain: bool| match (is_it, is_certain) {
            (true, true) => Match::Yes,
            (true, false) => Match::Perhaps,
            (false, _) => Match::No,
        };
        match self {
            Self::Unknown => Match::Perhaps,
            Self::Address { is_open: false, .. } if *spec == Spec::Any => Match::No,
            Self::Address { address, is_certain, .. } => match (address.matches_wide(spec), is_certain) {
                // What follows may be any path there.
                (false, false) => found(address.is_at_host_of(spec), false),
                (false, true) => found(address.may_be_another(), false),
                (is_it, is_certain) => found(is_it, *is_certain),
            },
            Self::Text(text) => found(names_host(text, spec), false),
        }
    }
}

/// Whether a host that a rule names stands in a text.
fn names_host(text: &str, spec: &Spec) -> bool {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-');
    let names = text.split(|c| !is_of_name(c)).filter(|name| name.contains('.'));
    let mut hosts = names.map(|name| name.trim_start_matches(['-', '.']));
    *spec != Spec::Any && hosts.any(|host| Address::read(host).is_at_host_of(spec))
}
