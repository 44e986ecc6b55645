//! The list of everything (Ctrl+P), of modes and options (F2), of agents (Ctrl+T) or of prompts that were sent (Ctrl+R), and the list of commands while one is typed.
//!
//! The rows of the picker are taken once, when it opens: what the agent reports later cannot move a row under the
//! person's fingers. Of options that it offers only then, whole groups follow those that are there. The model judges
//! whether a choice is still possible.

use super::highlight::step;
use super::modes::is_unasked;
use super::names;
use super::opener::Whose;
use super::session_list::Which;
use crate::base::sanitize;
use crate::model::draft::Sent;
use crate::model::event::Intent;
use crate::model::ids::{AgentKey, SessionKey};
use crate::model::options::{Command, OptionKind, OptionValue};
use crate::model::permission_mode::{BYPASS_LASTS, PermissionMode, time_words};
use crate::model::ruling::{MadeRule, RuleWish};
use crate::model::session::Phase;
use crate::model::session_ref::SessionRef;
use crate::text::fuzzy;
use crate::ui::keys::Action;
use crate::ui::state::own_prompts::OwnPrompt;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::{Arc, LazyLock};

/// Of the client's own modes.
const GROUP: &str = "permissions";
/// The longest filter that is kept.
const MAX_FILTER: usize = 200;
/// Characters of a prompt that are listed, and that the filter looks at.
const MAX_LABEL: usize = 500;

#[derive(Clone, PartialEq, Debug)]
pub struct Row {
    /// What is set: "mode", "model", ….
    pub group: String,
    pub label: String,
    pub detail: String,
    pub choice: Choice,
}

impl Row {
    /// What else it is found by.
    fn names(&self) -> &'static [&'static str] {
        match self.choice {
            Choice::Do(action) | Choice::NotNow(action) => names::of(action),
            _ => &[],
        }
    }

    /// In small letters.
    fn begins_with(&self, text: &str) -> bool {
        self.label.to_lowercase().starts_with(text) || self.names().iter().any(|name| name.starts_with(text))
    }
}

#[derive(Clone, PartialEq, Debug)]
pub enum Choice {
    /// Something of the session is set.
    Set(Intent),
    /// What a key does, which would be nothing now; it says why.
    NotNow(Action),
    /// The same after one more question.
    Sure(Intent),
    /// Everything stays as it is.
    Leave,
    /// A further session of this agent.
    Open {
        whose: Whose,
        name: String,
    },
    /// The conversation goes on with this agent.
    HandOver(Whose),
    /// This is written, in place of what is.
    Write(Arc<str>),
    Copy(Arc<str>),
    /// What a key does.
    Do(Action),
    Show(SessionKey),
    /// An earlier session.
    GoOn(Which),
    Theme(&'static str),
}

/// What an agent is chosen for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Purpose {
    Session,
    HandOver,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Picker {
    /// What is listed.
    pub title: &'static str,
    rows: Vec<Row>,
    filter: String,
    /// Index into the filtered rows.
    selected: usize,
    /// What was typed in an empty prompt to open it: with the filter it is a text again where nothing is found.
    opened_by: Option<char>,
    /// The rules that are kept are still being read.
    lacks_rules: bool,
    /// What can be set is listed.
    is_of_options: bool,
    /// Of each row whether it set what was set already when the list was opened.
    were_set: Vec<bool>,
}

impl Picker {
    /// `confined`: what a sandbox leaves the agent, part by part.
    pub fn open(session: SessionRef<'_>, confined: Vec<(&'static str, String)>) -> Self {
        let mut rows = rows(session);
        // It holds as long as the agent runs, and is only to be read.
        rows.extend(confined.into_iter().map(|(part, words)| Row {
            group: "sandbox".into(),
            label: part.into(),
            detail: words,
            choice: Choice::Leave,
        }));
        let picker = Self::of("modes and options", rows).beside(session);
        let selected = picker.were_set.iter().position(|is_set| *is_set).unwrap_or(0);
        Self { selected, lacks_rules: session.rules.are_there(), is_of_options: true, ..picker }
    }

    fn of(title: &'static str, rows: Vec<Row>) -> Self {
        let (filter, were_set) = (String::new(), Vec::new());
        Self { title, rows, filter, selected: 0, opened_by: None, lacks_rules: false, is_of_options: false, were_set }
    }

    /// Beside what is set in the session.
    fn beside(self, session: SessionRef<'_>) -> Self {
        let were_set = self.rows.iter().map(|row| is_current(session, &row.choice)).collect();
        Self { were_set, ..self }
    }

    /// The rules that are kept have been read: they follow all that is there.
    pub fn bring_rules(&mut self, session: SessionRef<'_>) {
        if let Some(kept) = session.rules.kept_before().filter(|_| self.lacks_rules) {
            self.lacks_rules = false;
            self.rows.extend(kept.map(rule_row));
        }
    }

    /// The agent offers something only now: groups that are not there follow those that are.
    pub fn bring_options(&mut self, session: SessionRef<'_>) {
        if !self.is_of_options {
            return;
        }
        let known: HashSet<String> = self.rows.iter().map(|row| row.group.clone()).collect();
        for row in rows(session).into_iter().filter(|row| !known.contains(&row.group)) {
            // A filter looks at what is set as it was when the row came.
            self.were_set.resize(self.rows.len(), false);
            self.were_set.push(is_current(session, &row.choice));
            self.rows.push(row);
        }
    }

    /// Whether more is to come: the agent that offers it is still starting.
    pub fn awaits(&self, session: SessionRef<'_>) -> bool {
        self.is_of_options && matches!(session.phase(), Phase::Starting { .. } | Phase::Opening { .. })
    }

    /// Before the person is asked about nothing any more.
    pub fn sure(intent: Intent) -> Self {
        let time = time_words(BYPASS_LASTS);
        let row =
            |label: String, detail: &str, choice| Row { group: GROUP.into(), label, detail: detail.into(), choice };
        let words = PermissionMode::BypassPermissions.words();
        let rows = vec![
            row("no, go on asking".to_owned(), "", Choice::Leave),
            row(format!("yes, ask nothing for {time}"), words, Choice::Set(intent)),
        ];
        Self::of("let the agent do everything without a question?", rows)
    }

    /// The agents that a further session can be opened with: the one of the session that is shown first, then others that
    /// run, then by name, command line those that are configured. Each with its command.
    pub fn agents(purpose: Purpose, running: &[(AgentKey, String, &str)], configured: &[(String, String)]) -> Self {
        let clean = |text: &str| sanitize::line(text).trim().to_owned();
        let row = |label: &str, detail: &str, whose| {
            let label = clean(label);
            let choice = match purpose {
                Purpose::Session => Choice::Open { whose, name: label.clone() },
                Purpose::HandOver => Choice::HandOver(whose),
            };
            Row { group: String::new(), label, detail: clean(detail), choice }
        };
        let said = |at: usize| if at == 0 { "the same agent" } else { "runs here" };
        let there = running.iter().enumerate();
        let there = there
            .map(|(at, (key, name, command))| row(name, &format!("{}: {command}", said(at)), Whose::Running(*key)));
        let others = configured.iter().map(|(id, command)| row(id, command, Whose::Configured(id.clone())));
        let rows = there.chain(others).collect();
        let title = match purpose {
            Purpose::Session => "a further session of",
            Purpose::HandOver => "hand the conversation over to",
        };
        Self::of(title, rows)
    }

    /// Parts of what was said, each by what it is.
    pub fn parts(parts: Vec<(String, String)>) -> Self {
        let row = |(what, text): (String, String)| {
            let head: String = text.trim().chars().take(MAX_LABEL).collect();
            let detail = sanitize::line(&head).into_owned();
            Row {
                group: String::new(),
                label: sanitize::line(&what).into_owned(),
                detail,
                choice: Choice::Copy(text.into()),
            }
        };
        Self::of("copy", parts.into_iter().map(row).collect())
    }

    /// What was sent, `here` first, the newest first; nothing when nothing was.
    pub fn prompts(sent: &[Sent], here: &str) -> Option<Self> {
        let row = |sent: &Sent| {
            let head: String = sent.text.trim().chars().take(MAX_LABEL).collect();
            let place = Path::new(&sent.cwd).file_name().unwrap_or_default().to_string_lossy();
            let detail = if sent.cwd == here { String::new() } else { sanitize::line(&place).into_owned() };
            let label = sanitize::line(&head).into_owned();
            Row { group: String::new(), label, detail, choice: Choice::Write(Arc::clone(&sent.text)) }
        };
        let (own, others): (Vec<&Sent>, Vec<&Sent>) = sent.iter().partition(|sent| sent.cwd == here);
        let rows: Vec<Row> = own.into_iter().chain(others).map(row).collect();
        (!rows.is_empty()).then(|| Self::of("earlier prompts", rows))
    }

    /// Everything that can be done.
    pub fn all(rows: Vec<Row>, session: SessionRef<'_>) -> Self {
        Self::of("do", rows).beside(session)
    }

    /// A list of prompts in which the person has not done anything yet.
    pub fn is_untouched_list_of_prompts(&self) -> bool {
        self.filter.is_empty()
            && self.selected == 0
            && matches!(self.rows.first(), Some(Row { choice: Choice::Write(_), .. }))
    }

    /// The same list, opened by a sign that was typed.
    pub fn opened_by(self, sign: char) -> Self {
        Self { opened_by: Some(sign), ..self }
    }

    /// All that was typed, where a sign opened it.
    pub fn typed(&self) -> Option<String> {
        Some(format!("{}{}", self.opened_by?, self.filter))
    }

    pub fn filter(&self) -> &str {
        &self.filter
    }

    pub fn selected(&self) -> usize {
        self.selected
    }

    /// Whether there is a row for all that was `typed`, with the sign that opened the list.
    pub fn finds(&self, typed: &str) -> bool {
        let filter = typed.strip_prefix(|c| Some(c) == self.opened_by).unwrap_or(typed);
        self.beginning(filter).next().is_some()
    }

    fn beginning(&self, filter: &str) -> impl Iterator<Item = &Row> {
        let begins = filter.to_lowercase();
        self.rows.iter().filter(move |row| row.begins_with(&begins))
    }

    /// The rows that match, best first; all in their order without a filter.
    pub fn matching(&self) -> Vec<&Row> {
        if self.opened_by.is_some() {
            // What may be prose finds only what begins so.
            return self.beginning(&self.filter).collect();
        }
        let text = |row: &Row| match &row.choice {
            // An agent is known by its command as well.
            Choice::Open { .. } | Choice::HandOver(_) => format!("{} {}", row.label, row.detail),
            _ => [&*row.group, " ", &row.label, " ", &row.names().join(" ")].concat(),
        };
        let texts: Vec<String> = self.rows.iter().map(text).collect();
        if self.filter.trim().is_empty() {
            return self.rows.iter().collect();
        }
        let mut found = scored(&self.filter, &texts);
        // Who types `mode` means no `model`; what is set already is to be done last.
        let words: Vec<String> = self.filter.split_whitespace().map(str::to_lowercase).collect();
        let was_set = |at: usize| self.were_set.get(at).is_some_and(|is_set| *is_set);
        let has = |at: usize| texts.get(at).is_some_and(|text| has_words(text, &words));
        found.sort_by_cached_key(|(at, _)| (was_set(*at), !has(*at)));
        let found = found.into_iter();
        together(found.filter_map(|(at, score)| Some(Found { row: self.rows.get(at)?, at, score })).collect())
    }

    pub fn type_text(&mut self, text: &str) {
        for c in text.chars().filter(|c| !c.is_control()) {
            if self.filter.len() + c.len_utf8() <= MAX_FILTER {
                self.filter.push(c);
            }
        }
        self.selected = 0;
    }

    /// Goes to what is set of the group that was typed, so that Enter alone changes nothing. Not where nothing is asked any
    /// more: that is never chosen by one key.
    pub fn rest_on_set(&mut self, session: SessionRef<'_>, theme: Option<&str>) {
        let is_set = |row: &&Row| {
            let is_theme = matches!(row.choice, Choice::Theme(name) if theme == Some(name));
            let is_free = bypasses(row) || asks_nothing(session, row) == Some(true);
            row.group.eq_ignore_ascii_case(self.filter.trim())
                && (is_theme || is_current(session, &row.choice) && !is_free)
        };
        let at = self.matching().iter().position(is_set);
        self.selected = at.unwrap_or(self.selected);
    }

    pub fn backspace(&mut self) {
        self.filter.pop();
        self.selected = 0;
    }

    pub fn clear(&mut self) {
        self.filter.clear();
        self.selected = 0;
    }

    pub fn step(&mut self, by: isize) {
        self.selected = step(self.selected, by, self.matching().len());
    }

    pub fn choice(&self) -> Option<Choice> {
        self.matching().get(self.selected).map(|r| r.choice.clone())
    }
}

/// A row that matches, where it stands among all, and how well it matches: more is better.
struct Found<'a> {
    row: &'a Row,
    at: usize,
    score: u32,
}

/// Whether each of these words, in small letters, stands in the text with no letter or digit beside it.
fn has_words(text: &str, words: &[String]) -> bool {
    let text = text.to_lowercase();
    words.iter().all(|word| text.split(|c: char| !c.is_alphanumeric()).any(|one| one == word))
}

/// Each group stands together, where the best of it does. Rows of it that match equally well keep their order: which of them
/// is named in fewer letters says nothing.
fn together(found: Vec<Found<'_>>) -> Vec<&Row> {
    let mut firsts: HashMap<&str, usize> = HashMap::new();
    let mut placed: Vec<(usize, Reverse<u32>, usize, &Row)> = Vec::with_capacity(found.len());
    for (place, Found { row, at, score }) in found.into_iter().enumerate() {
        let first = if row.group.is_empty() { place } else { *firsts.entry(&row.group).or_insert(place) };
        placed.push((first, Reverse(score), at, row));
    }
    placed.sort_by_key(|(first, score, at, _)| (*first, *score, *at));
    placed.into_iter().map(|(.., row)| row).collect()
}

/// Indices of the texts that match, best first; all in their order without a query. Where some have the words of the query as
/// they are typed, those that have only their letters, scattered, are left out.
pub fn ranked(query: &str, texts: &[String]) -> Vec<usize> {
    if query.trim().is_empty() {
        return (0..texts.len()).collect();
    }
    scored(query, texts).into_iter().map(|(at, _)| at).collect()
}

/// The same with how well each matches, for a query.
fn scored(query: &str, texts: &[String]) -> Vec<(usize, u32)> {
    let all: Vec<&str> = texts.iter().map(String::as_str).collect();
    let words: Vec<String> = query.split_whitespace().map(str::to_lowercase).collect();
    let is_scattered = |(at, _): &(usize, u32)| {
        let text = texts.get(*at).map(|text| text.to_lowercase()).unwrap_or_default();
        !words.iter().all(|word| text.contains(word))
    };
    let mut found = fuzzy::scored(query, &all);
    if !found.iter().all(is_scattered) {
        found.retain(|one| !is_scattered(one));
    }
    found
}

/// Whether the agent asks nothing in the mode that a row sets, as far as it says; nothing of a row that sets no mode.
pub fn asks_nothing(session: SessionRef<'_>, row: &Row) -> Option<bool> {
    let says = |id: &str| is_unasked(id, &row.label, Some(&row.detail));
    match &row.choice {
        Choice::Set(Intent::SetMode { id }) => Some(says(id)),
        Choice::Set(Intent::SetOption { id, value: OptionValue::Id(value) }) => {
            session.mode_option().filter(|option| option.id == *id).map(|_| says(value))
        }
        _ => None,
    }
}

/// Whether it sets the client's own mode that asks nothing.
pub fn bypasses(row: &Row) -> bool {
    let (Choice::Set(intent) | Choice::Sure(intent)) = &row.choice else { return false };
    matches!(intent, Intent::SetPermissionMode(choice) if choice.mode == PermissionMode::BypassPermissions)
}

/// Whether the agent has this value now, or has been asked for it.
pub fn is_current(session: SessionRef<'_>, choice: &Choice) -> bool {
    let (Choice::Set(intent) | Choice::Sure(intent)) = choice else { return false };
    match intent {
        Intent::SetMode { id } => {
            session.modes.as_ref().is_some_and(|m| m.pending.as_ref().unwrap_or(&m.current) == id)
        }
        Intent::SetOption { id, value } => session.settings().any(|o| {
            o.id == *id
                && match (&o.pending, &o.kind, value) {
                    (Some(pending), _, value) => pending == value,
                    (None, OptionKind::Select { current, .. }, OptionValue::Id(v)) => current == v,
                    (None, OptionKind::Bool { current }, OptionValue::Bool(v)) => current == v,
                    _ => false,
                }
        }),
        Intent::SetPermissionMode(choice) => session.chosen_permission_mode() == choice.mode,
        _ => false,
    }
}

/// The head of a group, written as those of the client are: `Thought Level` is `thought level`, and `API key` stays.
pub fn group_head(name: &str) -> String {
    let is_plain = |word: &str| !word.chars().skip(1).any(char::is_uppercase);
    let written = |word: &str| if is_plain(word) { word.to_lowercase() } else { word.to_owned() };
    name.split(' ').map(written).collect::<Vec<_>>().join(" ")
}

/// Choosing it takes the rule back.
fn rule_row(rule: &MadeRule) -> Row {
    Row {
        group: "rule".into(),
        label: sanitize::line(&format!("{} {}", rule.list.name(), rule.pattern)).trim().to_owned(),
        detail: sanitize::line(&format!("{}; choose it to take it back", rule.reach())).into_owned(),
        choice: Choice::Set(Intent::Rules(RuleWish::Drop(rule.clone()))),
    }
}

/// What can be set of a session and its agent.
pub fn rows(session: SessionRef<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    let clean = |text: &str| sanitize::line(text).trim().to_owned();
    for mode in session.older_modes().iter().flat_map(|m| &m.available) {
        rows.push(Row {
            group: "mode".into(),
            label: clean(&mode.name),
            detail: clean(mode.description.as_deref().unwrap_or_default()),
            choice: Choice::Set(Intent::SetMode { id: mode.id.clone() }),
        });
    }
    for option in session.settings() {
        let set = |value| Choice::Set(Intent::SetOption { id: option.id.clone(), value });
        match &option.kind {
            OptionKind::Select { values, .. } => rows.extend(values.iter().map(|v| Row {
                group: clean(&option.name),
                label: clean(&v.name),
                detail: clean(v.description.as_deref().or(v.group.as_deref()).unwrap_or_default()),
                choice: set(OptionValue::Id(v.value.clone())),
            })),
            OptionKind::Bool { .. } => rows.extend([(true, "on"), (false, "off")].map(|(on, word)| Row {
                group: clean(&option.name),
                label: word.into(),
                detail: clean(option.description.as_deref().unwrap_or_default()),
                choice: set(OptionValue::Bool(on)),
            })),
        }
    }
    rows.extend(session.servers.all().map(|(name, is_on)| Row {
        group: "MCP server".into(),
        label: clean(name),
        detail: format!(
            "{}; choose it to change that for when the session is opened again",
            if is_on { "on" } else { "off" }
        ),
        choice: Choice::Set(Intent::SwitchServer { name: name.to_owned(), on: !is_on }),
    }));
    rows.extend(session.rules.made().iter().map(rule_row));
    rows.extend(PermissionMode::ALL.into_iter().map(|mode| {
        let intent = Intent::SetPermissionMode(mode.into());
        let needs_word = mode == PermissionMode::BypassPermissions;
        let choice = if needs_word { Choice::Sure(intent) } else { Choice::Set(intent) };
        Row { group: GROUP.into(), label: mode.name().to_owned(), detail: mode.words().to_owned(), choice }
    }));
    let agent = session.agent();
    let mut of_agent = |label: &str, detail: &str, intent| {
        let (label, detail) = (label.to_owned(), detail.to_owned());
        rows.push(Row { group: "agent".into(), label, detail, choice: Choice::Set(intent) });
    };
    if let Some(status) = agent.auth_status.as_ref().filter(|_| agent.is_up()) {
        let words = status.words().unwrap_or_else(|| "not known".to_owned());
        let asks = if agent.caps.auth_status { "; choose it to ask the agent again" } else { "" };
        of_agent("account", &format!("{words}{asks}"), Intent::AskAuthStatus);
    }
    if agent.is_up() && agent.log_in.is_none() && !agent.auth_methods.is_empty() {
        of_agent("log in", "with one of the agent's ways", Intent::LogIn);
    }
    if !agent.kept.is_empty() {
        let words = format!("{} is removed from the keyring", agent.kept.join(", "));
        of_agent("log out", &clean(&words), Intent::LogOut);
    } else if agent.is_up() && agent.caps.log_out {
        of_agent("log out", "the agent forgets who you are", Intent::LogOut);
    }
    rows
}

/// The mode in force, and whether another is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ModeNow<'a> {
    pub id: &'a str,
    pub is_pending: bool,
}

/// `None` without modes and without an option of that category.
pub fn mode_now(session: SessionRef<'_>) -> Option<ModeNow<'_>> {
    let session = session.session();
    if let Some(modes) = session.older_modes() {
        return Some(ModeNow { id: &modes.current, is_pending: modes.pending.is_some() });
    }
    let option = session.mode_option()?;
    match &option.kind {
        OptionKind::Select { current, .. } => Some(ModeNow { id: current, is_pending: option.pending.is_some() }),
        OptionKind::Bool { .. } => None,
    }
}

/// Commands that are ours.
static OWN: LazyLock<[Command; 2]> = LazyLock::new(|| {
    let command = |name: &str, hint: &str, description: &str| Command {
        name: name.to_owned(),
        hint: Some(hint.to_owned()),
        description: description.to_owned(),
    };
    [
        command("btw", "QUESTION", "a side question, answered beside the conversation"),
        command("fan-out", "ONE,TWO PROMPT", "one prompt to several agents, each in a worktree of its own"),
    ]
});

/// The list of commands above the composer.
#[derive(Clone, Debug, Default)]
pub struct Completion {
    pub selected: usize,
    /// The text at which the person closed the list.
    pub closed_at: Option<String>,
}

impl Completion {
    /// The commands that match what is typed, the agent's, the person's own prompts and ours: `/` and no blank yet.
    pub fn matching<'a>(&self, session: SessionRef<'a>, prompts: &'a [OwnPrompt], text: &str) -> Vec<&'a Command> {
        let Some(typed) = text.strip_prefix('/') else { return Vec::new() };
        if typed.contains(char::is_whitespace) || self.closed_at.as_deref() == Some(text) || typed.len() > MAX_FILTER {
            return Vec::new();
        }
        let theirs = &session.session().commands;
        // One of the agent's has its name.
        // Nor is a prompt meant that has the name of one of ours.
        let prompts = prompts.iter().map(|prompt| &prompt.command);
        let prompts = prompts.filter(|prompt| OWN.iter().all(|own| own.name != prompt.name));
        let own = prompts.chain(OWN.iter());
        let own = own.filter(|own| theirs.iter().all(|command| command.name != own.name));
        let commands: Vec<&Command> = theirs.iter().chain(own).collect();
        let names: Vec<String> = commands.iter().map(|c| c.name.clone()).collect();
        ranked(typed, &names).into_iter().filter_map(|i| commands.get(i).copied()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scattered_letters_are_found_where_nothing_has_the_words_as_they_are_typed() {
        let texts = ["Start Each Time".to_owned(), "the newest offset".to_owned(), "none".to_owned()];
        assert_eq!(ranked("set", &texts), [1]);
        assert_eq!(ranked("seti", &texts), [0]);
        assert_eq!(ranked("", &texts), [0, 1, 2]);
    }

    #[test]
    fn a_group_stands_together_where_its_best_row_does() {
        let row = |(group, label): (&str, &str)| {
            let (group, label) = (group.to_owned(), label.to_owned());
            Row { group, label, detail: String::new(), choice: Choice::Leave }
        };
        let all =
            [("mode", "b"), ("model", "a"), ("mode", "a much longer one"), ("model", "cc"), ("permissions", "default")];
        let mut picker = Picker::of("modes and options", all.map(row).into());
        picker.type_text("mod");
        let found: Vec<(&str, &str)> = picker.matching().into_iter().map(|row| (&*row.group, &*row.label)).collect();
        assert_eq!(found, [("mode", "b"), ("mode", "a much longer one"), ("model", "a"), ("model", "cc")]);
    }

    #[test]
    fn rows_of_a_group_that_match_equally_well_keep_their_order() {
        let row = |label: &str| Row {
            group: "mode".into(),
            label: label.into(),
            detail: String::new(),
            choice: Choice::Leave,
        };
        let mut picker = Picker::of("modes and options", ["Default", "Auto Edit", "YOLO", "Plan"].map(row).into());
        let found = |picker: &Picker| picker.matching().iter().map(|row| row.label.clone()).collect::<Vec<_>>();
        picker.type_text("mode");
        assert_eq!(found(&picker), ["Default", "Auto Edit", "YOLO", "Plan"]);
        picker.type_text(" yolo");
        assert_eq!(found(&picker), ["YOLO"]);
    }

    #[test]
    fn a_word_that_is_whole_comes_before_one_that_only_begins_so() {
        let row = |(group, label): (&str, &str)| Row {
            group: group.into(),
            label: label.into(),
            detail: String::new(),
            choice: Choice::Leave,
        };
        let rows = [("model", "6.1 Sol"), ("model", "5.5"), ("", "next mode"), ("mode", "Read Only"), ("mode", "Auto")];
        let mut picker = Picker::of("modes and options", rows.map(row).into());
        let found = |picker: &Picker| picker.matching().iter().map(|row| row.label.clone()).collect::<Vec<_>>();
        picker.type_text("mode");
        assert_eq!(found(&picker)[3..], ["6.1 Sol", "5.5"]);
        picker.type_text("l");
        assert_eq!(found(&picker), ["6.1 Sol", "5.5"]);
    }

    #[test]
    fn heads_of_the_agent_are_written_as_those_of_the_client() {
        let all = ["Model", "mode", "Thought Level", "API key", "MCP server"].map(group_head);
        assert_eq!(all, ["model", "mode", "thought level", "API key", "MCP server"]);
    }

    #[test]
    fn an_agent_is_found_by_its_name_and_by_its_command() {
        let running = [(AgentKey::FIRST, "Gemini CLI".to_owned(), "node gemini.js --acp")];
        let configured = [("fast".to_owned(), "claude-agent-acp --model small".to_owned())];
        for purpose in [Purpose::Session, Purpose::HandOver] {
            let found = |typed: &str| {
                let mut picker = Picker::agents(purpose, &running, &configured);
                picker.type_text(typed);
                picker.matching().iter().map(|row| row.label.clone()).collect::<Vec<_>>()
            };
            assert_eq!(found("gem cli"), ["Gemini CLI"]);
            assert_eq!(found("gemini.js"), ["Gemini CLI"]);
            assert_eq!(found("fast"), ["fast"]);
            assert_eq!(found("claude small"), ["fast"]);
            assert_eq!(found("opencode"), [""; 0]);
        }
    }
}
