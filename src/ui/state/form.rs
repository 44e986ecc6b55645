//! A form of the agent while the person fills it in.
//!
//! Sends nothing. Invariants: what is written stays until the form is answered, and is handed on when it is withdrawn,
//! but for secrets; the cursor stands on
//! something that can be filled in, where there is anything.

use crate::base::sanitize;
use crate::model::form::{Field, FieldKind, FieldValue, Form, Unfit};
use crate::ui::composer::{Composer, Edited};
use crate::ui::keys::Action;
use serde_json::{Number, Value};
use std::collections::BTreeSet;

/// Bytes that are taken for one field.
const MAX: usize = 64 << 10;

#[derive(Clone, Debug)]
pub struct FormState {
    drafts: Vec<Draft>,
    /// The field with the cursor, and in it the choice.
    at: (usize, usize),
    /// Why it could not be sent.
    pub trouble: Option<Unfit>,
    /// The view goes with the cursor; it does not while the person scrolls.
    pub is_followed: bool,
    /// What is typed into the field with the cursor is shown although it asks for a secret.
    is_shown: bool,
    /// The key that declines was pressed once.
    pub declines: bool,
    /// Fields that have been on the screen.
    drawn: BTreeSet<usize>,
    /// The person has answered it.
    pub is_answered: bool,
    /// What the fields are called and begin with, of those that ask for no secret.
    begun: Vec<Option<(String, String)>>,
}

#[derive(Clone, Debug)]
enum Draft {
    Written(Box<Composer>),
    Chosen(BTreeSet<usize>),
    /// It cannot be filled in.
    Nothing,
}

/// What of a field the cursor can stand on.
fn stops(field: &Field) -> usize {
    match &field.kind {
        FieldKind::Text { .. } | FieldKind::Number { .. } => 1,
        FieldKind::Switch => 2,
        FieldKind::One(choices) | FieldKind::Many { choices, .. } => choices.len(),
        FieldKind::Unknown(_) => 0,
    }
}

/// Whether one choice takes the place of another.
fn is_exclusive(field: &Field) -> bool {
    matches!(field.kind, FieldKind::Switch | FieldKind::One(_))
}

impl FormState {
    pub fn new(form: &Form) -> Self {
        let drafts: Vec<Draft> = form.fields.iter().map(Draft::new).collect();
        let first = form.fields.iter().position(|field| stops(field) > 0).unwrap_or(0);
        let begun = |(field, draft): (&Field, &Draft)| match draft {
            Draft::Written(text) if !field.is_secret => {
                Some((field.title.clone().unwrap_or_else(|| field.name.clone()), text.text().to_owned()))
            }
            _ => None,
        };
        Self {
            begun: form.fields.iter().zip(&drafts).map(begun).collect(),
            drafts,
            at: (first, 0),
            trouble: None,
            is_followed: true,
            is_shown: false,
            declines: false,
            drawn: BTreeSet::new(),
            is_answered: false,
        }
    }

    /// What the person has written into it and no one has got: a line for each field, but for secrets.
    pub fn left(&self) -> Option<String> {
        let line = |(begun, draft): (&Option<(String, String)>, &Draft)| match (begun, draft) {
            (Some((name, begun)), Draft::Written(text)) if text.text() != begun && !text.text().trim().is_empty() => {
                Some(format!("{}: {}", sanitize::line(name), text.text()))
            }
            _ => None,
        };
        let lines: Vec<String> = self.begun.iter().zip(&self.drafts).filter_map(line).collect();
        (!self.is_answered && !lines.is_empty()).then(|| lines.join("\n"))
    }

    pub fn note_drawn(&mut self, (from, to): (usize, usize)) {
        self.drawn.extend((from..to).take(self.drafts.len()));
    }

    /// Goes to the first field that would be sent, or has to be, and was never on the screen. False: all were.
    pub fn go_to_undrawn(&mut self, form: &Form) -> bool {
        let is_sent = |field: &Field| stops(field) > 0 && (field.is_required || field.default.is_some());
        let mut fields = form.fields.iter().enumerate();
        let Some((at, _)) = fields.find(|(at, field)| is_sent(field) && !self.drawn.contains(at)) else { return false };
        self.at = (at, self.first_chosen(at));
        (self.is_shown, self.is_followed) = (false, true);
        true
    }

    /// The field with the cursor, and in it the choice.
    pub fn at(&self) -> (usize, usize) {
        self.at
    }

    pub fn is_chosen(&self, field: usize, choice: usize) -> bool {
        matches!(self.drafts.get(field), Some(Draft::Chosen(chosen)) if chosen.contains(&choice))
    }

    /// What is being written into a field.
    pub fn written(&self, field: usize) -> Option<&Composer> {
        match self.drafts.get(field) {
            Some(Draft::Written(text)) => Some(text),
            _ => None,
        }
    }

    /// Whether what is typed into a field is drawn as dots.
    pub fn is_hidden(&self, number: usize, field: &Field) -> bool {
        field.is_secret && !(self.is_shown && self.at.0 == number)
    }

    /// Shows what is typed into the field with the cursor, until the cursor leaves it, or hides it again. False: it is
    /// not hidden.
    pub fn reveal(&mut self, form: &Form) -> bool {
        let is_secret = form.fields.get(self.at.0).is_some_and(|field| field.is_secret);
        self.is_shown = is_secret && !self.is_shown;
        is_secret
    }

    /// Whether the cursor stands in a text.
    pub fn is_writing(&self) -> bool {
        self.written(self.at.0).is_some()
    }

    /// To the next thing that can be filled in, or the one before. False at the end.
    pub fn step(&mut self, form: &Form, forward: bool) -> bool {
        let (field, choice) = self.at;
        let here = form.fields.get(field).map_or(0, stops);
        if forward && choice + 1 < here {
            self.at.1 += 1;
        } else if !forward && choice > 0 {
            self.at.1 -= 1;
        } else {
            return self.go(form, forward, !forward);
        }
        self.is_followed = true;
        true
    }

    /// To the next field, or the one before. False at the end.
    pub fn next_field(&mut self, form: &Form, forward: bool) -> bool {
        self.go(form, forward, false)
    }

    fn go(&mut self, form: &Form, forward: bool, to_its_end: bool) -> bool {
        self.is_followed = true;
        let can = |at: &usize| form.fields.get(*at).is_some_and(|field| stops(field) > 0);
        let next = if forward {
            (self.at.0 + 1..form.fields.len()).find(can)
        } else {
            (0..self.at.0.min(form.fields.len())).rev().find(can)
        };
        let Some(next) = next else { return false };
        self.is_shown = false;
        let last = form.fields.get(next).map_or(0, stops).saturating_sub(1);
        self.at = (next, if to_its_end { last } else { self.first_chosen(next) });
        true
    }

    fn first_chosen(&self, field: usize) -> usize {
        match self.drafts.get(field) {
            Some(Draft::Chosen(chosen)) => chosen.first().copied().unwrap_or(0),
            _ => 0,
        }
    }

    /// Chooses what the cursor stands on, or takes the choice back; a choice that has to be made stays.
    pub fn toggle(&mut self, form: &Form) {
        let (at, choice) = self.at;
        let (Some(field), Some(Draft::Chosen(chosen))) = (form.fields.get(at), self.drafts.get_mut(at)) else { return };
        self.trouble = None;
        self.is_followed = true;
        let was = chosen.contains(&choice);
        if is_exclusive(field) {
            chosen.clear();
        } else {
            chosen.remove(&choice);
        }
        if !was || is_exclusive(field) && field.is_required {
            chosen.insert(choice);
        }
    }

    /// Chooses what the cursor stands on where one choice is made.
    pub fn choose(&mut self, form: &Form) {
        let is_one = form.fields.get(self.at.0).is_some_and(is_exclusive);
        if is_one && !self.is_chosen(self.at.0, self.at.1) {
            self.toggle(form);
        }
    }

    /// Chooses by its number, from 0, in the field with the cursor.
    pub fn pick(&mut self, form: &Form, choice: usize) {
        if form.fields.get(self.at.0).is_some_and(|field| choice < stops(field)) {
            self.at.1 = choice;
            if form.fields.get(self.at.0).is_some_and(is_exclusive) { self.choose(form) } else { self.toggle(form) }
        }
    }

    /// Changes the text with the cursor.
    pub fn edit(&mut self, action: Action) {
        let Some(Draft::Written(text)) = self.drafts.get_mut(self.at.0) else { return };
        if matches!(action, Action::Char(_) | Action::Newline) && text.text().len() >= MAX {
            return;
        }
        if text.apply(action) == Edited::Yes {
            self.trouble = None;
            self.is_followed = true;
        }
    }

    pub fn paste(&mut self, pasted: &str) {
        if let Some(Draft::Written(text)) = self.drafts.get_mut(self.at.0) {
            let room = MAX.saturating_sub(text.text().len());
            text.paste(pasted.get(..pasted.floor_char_boundary(room)).unwrap_or_default());
            self.trouble = None;
            self.is_followed = true;
        }
    }

    /// What is filled in, or where and why it does not fit; the cursor goes there.
    pub fn take(&mut self, form: &Form) -> Option<Vec<(String, FieldValue)>> {
        match form.fill(|at, field| self.drafts.get(at)?.value(field)) {
            Ok(values) => Some(values),
            Err(unfit) => {
                if form.fields.get(unfit.field).is_some_and(|field| stops(field) > 0) {
                    self.at = (unfit.field, self.first_chosen(unfit.field));
                    self.is_shown = false;
                }
                self.is_followed = true;
                self.trouble = Some(unfit);
                None
            }
        }
    }
}

impl Draft {
    fn new(field: &Field) -> Self {
        let written = |words: &str| {
            let mut text = Composer::default();
            text.paste(words);
            Self::Written(Box::new(text))
        };
        let place = |value: &String| field.choices().iter().position(|choice| choice.value == *value);
        match (&field.kind, &field.default) {
            (FieldKind::Text { .. }, Some(FieldValue::Text(words))) => written(words),
            (FieldKind::Number { .. }, Some(FieldValue::Number(number))) => written(&number.to_string()),
            (FieldKind::Text { .. } | FieldKind::Number { .. }, _) => written(""),
            (FieldKind::Switch, Some(FieldValue::Bool(on))) => Self::Chosen(BTreeSet::from([usize::from(!on)])),
            (FieldKind::One(_), Some(FieldValue::Text(value))) => Self::Chosen(place(value).into_iter().collect()),
            (FieldKind::Many { .. }, Some(FieldValue::Many(values))) => {
                Self::Chosen(values.iter().filter_map(place).collect())
            }
            (FieldKind::Unknown(_), _) => Self::Nothing,
            _ => Self::Chosen(BTreeSet::new()),
        }
    }

    /// Nothing where nothing was filled in.
    fn value(&self, field: &Field) -> Option<Value> {
        match (self, &field.kind) {
            (Self::Written(text), FieldKind::Number { .. }) => {
                let words = text.text().trim();
                let number = words.parse::<i64>().map(Number::from).ok();
                let number = number.or_else(|| words.parse().ok().and_then(Number::from_f64));
                (!words.is_empty()).then(|| number.map_or_else(|| words.into(), Value::Number))
            }
            (Self::Written(text), _) => (!text.is_empty()).then(|| text.text().into()),
            (Self::Chosen(chosen), FieldKind::Switch) => chosen.first().map(|at| Value::Bool(*at == 0)),
            (Self::Chosen(chosen), kind) => {
                let mut values =
                    chosen.iter().filter_map(|at| Some(Value::from(field.choices().get(*at)?.value.as_str())));
                match kind {
                    FieldKind::One(_) => values.next(),
                    _ => (!chosen.is_empty()).then(|| values.collect()),
                }
            }
            (Self::Nothing, _) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::form::Choice;

    fn form() -> Form {
        let field = |name: &str, kind| Field {
            name: name.into(),
            title: None,
            description: None,
            is_required: name == "n",
            is_secret: false,
            kind,
            default: None,
        };
        let choice = |value: &str| Choice { value: value.into(), title: value.into(), description: None };
        let choices = || vec![choice("a"), choice("b"), choice("c")];
        Form {
            fields: vec![
                field("u", FieldKind::Unknown("of type x".into())),
                field("one", FieldKind::One(choices())),
                field("t", FieldKind::Text { min: None, max: None, pattern: None, format: None }),
                field("many", FieldKind::Many { choices: choices(), min: None, max: None }),
                field("n", FieldKind::Number { whole: true, min: None, max: Some(9.into()) }),
                field("b", FieldKind::Switch),
            ],
            ..Form::default()
        }
    }

    fn type_text(state: &mut FormState, text: &str) {
        text.chars().for_each(|c| state.edit(Action::Char(c)));
    }

    #[test]
    fn a_form_is_filled_in_from_field_to_field_and_the_cursor_goes_to_what_does_not_fit() {
        let form = form();
        let mut state = FormState::new(&form);
        assert_eq!(state.at(), (1, 0), "what cannot be filled in is passed over");
        assert!(!state.step(&form, false));
        state.pick(&form, 1);
        state.pick(&form, 7);
        assert!(state.step(&form, true) && state.step(&form, true) && state.is_writing());
        type_text(&mut state, "hé");
        assert!(state.next_field(&form, true));
        state.pick(&form, 0);
        state.pick(&form, 2);
        state.pick(&form, 0);
        assert!(state.next_field(&form, true));
        type_text(&mut state, "x");
        assert_eq!(state.take(&form), None);
        assert_eq!(state.trouble, Some(Unfit { field: 4, why: "type integer".into() }));
        state.edit(Action::Backspace);
        assert_eq!(state.trouble, None);
        assert_eq!(state.take(&form), None, "it is required");
        type_text(&mut state, " 7");
        assert!(state.next_field(&form, true) && !state.next_field(&form, true));
        state.step(&form, true);
        state.choose(&form);
        let given = state.take(&form).unwrap();
        let expected = [
            ("one", FieldValue::Text("b".into())),
            ("t", FieldValue::Text("hé".into())),
            ("many", FieldValue::Many(vec!["c".into()])),
            ("n", FieldValue::Number(7.into())),
            ("b", FieldValue::Bool(false)),
        ];
        assert_eq!(given, expected.map(|(name, given)| (name.to_owned(), given)));
    }

    #[test]
    fn a_choice_that_need_not_be_made_can_be_taken_back() {
        let mut form = form();
        let mut state = FormState::new(&form);
        state.toggle(&form);
        assert!(state.is_chosen(1, 0));
        state.toggle(&form);
        assert!(!state.is_chosen(1, 0));
        form.fields[1].is_required = true;
        state.toggle(&form);
        state.toggle(&form);
        assert!(state.is_chosen(1, 0));
    }

    #[test]
    fn r_424_defaults_are_there_at_first() {
        let mut form = form();
        form.fields[1].default = Some(FieldValue::Text("c".into()));
        form.fields[2].default = Some(FieldValue::Text("words".into()));
        form.fields[3].default = Some(FieldValue::Many(vec!["a".into(), "c".into()]));
        form.fields[4].default = Some(FieldValue::Number(5.into()));
        form.fields[5].default = Some(FieldValue::Bool(false));
        let given = FormState::new(&form).take(&form).unwrap();
        let defaults = form.fields.iter().filter_map(|field| Some((field.name.clone(), field.default.clone()?)));
        assert_eq!(given, defaults.collect::<Vec<_>>());
    }

    #[test]
    fn what_is_hidden_is_shown_until_the_cursor_leaves_the_field() {
        let mut form = form();
        let mut state = FormState::new(&form);
        state.next_field(&form, true);
        assert!(!state.reveal(&form) && !state.is_hidden(2, &form.fields[2]), "it asks for no secret");
        form.fields[2].is_secret = true;
        assert!(state.is_hidden(2, &form.fields[2]));
        assert!(state.reveal(&form) && !state.is_hidden(2, &form.fields[2]));
        assert!(state.reveal(&form) && state.is_hidden(2, &form.fields[2]));
        state.reveal(&form);
        state.next_field(&form, true);
        assert!(state.is_hidden(2, &form.fields[2]));
        state.next_field(&form, false);
        assert!(state.is_hidden(2, &form.fields[2]));
    }

    #[test]
    fn what_was_written_is_left_when_no_one_has_got_it_but_for_secrets_and_what_was_there() {
        let mut form = form();
        form.fields[4].default = Some(FieldValue::Number(5.into()));
        let mut state = FormState::new(&form);
        assert_eq!(state.left(), None);
        state.next_field(&form, true);
        type_text(&mut state, "half an answer");
        assert_eq!(state.left().as_deref(), Some("t: half an answer"));
        state.is_answered = true;
        assert_eq!(state.left(), None);
        form.fields[2].is_secret = true;
        let mut state = FormState::new(&form);
        state.next_field(&form, true);
        type_text(&mut state, "hunter2hunter2");
        assert_eq!(state.left(), None);
    }

    #[test]
    fn what_is_pasted_into_a_field_is_bounded() {
        let form = form();
        let mut state = FormState::new(&form);
        state.next_field(&form, true);
        state.paste(&"é".repeat(MAX));
        state.edit(Action::Char('x'));
        assert_eq!(state.written(2).unwrap().text().len(), MAX);
    }
}
