//! Values that a way to log in asks for, while they are typed.
//!
//! Shows none and keeps none after it is closed. Invariant: what was typed is in no other part of the state.

use crate::model::login::{Keep, Secret};

/// Bytes of a value.
const MAX: usize = 16 << 10;

#[derive(Debug)]
pub struct Secrets {
    /// Id of the method.
    pub method: String,
    pub vars: Vec<String>,
    /// Those that were typed, in the order of the variables; the last one is being typed.
    values: Vec<Secret>,
    /// For how long they are good; nothing where that is for this run in any case.
    pub keep: Option<Keep>,
    pub trouble: Option<&'static str>,
}

/// What Enter leads to.
#[derive(PartialEq, Eq, Debug)]
pub enum Entered {
    Nothing,
    All(Vec<(String, Secret)>),
}

impl Secrets {
    pub fn new(method: String, vars: Vec<String>, keep: Option<Keep>) -> Self {
        Self { method, vars, values: vec![Secret::default()], keep, trouble: None }
    }

    /// For this run, or in the system's keyring.
    pub fn toggle_keep(&mut self) {
        self.keep = self.keep.map(|keep| match keep {
            Keep::ThisRun => Keep::InKeyring,
            Keep::InKeyring => Keep::ThisRun,
        });
    }

    /// The variable whose value is typed now.
    pub fn variable(&self) -> &str {
        self.vars.get(self.values.len() - 1).map_or("", String::as_str)
    }

    /// How many there are, and which of them it is, from 1.
    pub fn place(&self) -> (usize, usize) {
        (self.values.len(), self.vars.len())
    }

    /// How many characters were typed.
    pub fn typed(&self) -> usize {
        self.values.last().map_or(0, |value| value.0.chars().count())
    }

    pub fn type_text(&mut self, text: &str) {
        self.trouble = None;
        let Some(value) = self.values.last_mut() else { return };
        for c in text.chars().filter(|c| !c.is_control()) {
            if value.0.len() + c.len_utf8() > MAX {
                self.trouble = Some("longer than a value can be: the rest was left out");
                return;
            }
            value.0.push(c);
        }
    }

    pub fn backspace(&mut self) {
        if let Some(value) = self.values.last_mut() {
            value.0.pop();
        }
    }

    pub fn clear(&mut self) {
        if let Some(value) = self.values.last_mut() {
            *value = Secret::default();
        }
    }

    /// The value is whole. A variable for which nothing was typed is left out: an agent may name some that it can do
    /// without.
    pub fn enter(&mut self) -> Entered {
        if self.values.len() < self.vars.len() {
            self.values.push(Secret::default());
            return Entered::Nothing;
        }
        if self.values.iter().all(|value| value.0.is_empty()) {
            self.values.truncate(1);
            self.trouble = Some("nothing was typed");
            return Entered::Nothing;
        }
        let typed = self.vars.iter().cloned().zip(self.values.drain(..));
        Entered::All(typed.filter(|(_, value)| !value.0.is_empty()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_asked_for_one_after_the_other_and_said_nowhere() {
        let mut form = Secrets::new("key".into(), vec!["A".into(), "B".into()], Some(Keep::ThisRun));
        form.toggle_keep();
        assert_eq!(form.keep, Some(Keep::InKeyring));
        form.toggle_keep();
        assert_eq!(form.keep, Some(Keep::ThisRun));
        assert_eq!([form.enter(), form.enter()], [Entered::Nothing, Entered::Nothing]);
        assert_eq!((form.variable(), form.trouble), ("A", Some("nothing was typed")));
        form.type_text("hunt\u{1b}er3");
        form.backspace();
        form.type_text("2");
        assert!(!format!("{form:?}").contains("hunter"), "{form:?}");
        assert_eq!(form.enter(), Entered::Nothing);
        assert_eq!((form.variable(), form.place(), form.typed()), ("B", (2, 2), 0));
        form.type_text(&"x".repeat(MAX + 1));
        assert_eq!((form.typed(), form.trouble.is_some()), (MAX, true));
        form.clear();
        form.type_text("b");
        let all = [("A", "hunter2"), ("B", "b")].map(|(name, value)| (name.to_owned(), Secret(value.to_owned())));
        assert_eq!(form.enter(), Entered::All(all.to_vec()));
        let mut form = Secrets::new("key".into(), vec!["A".into(), "B".into()], None);
        assert_eq!(form.enter(), Entered::Nothing, "it can be done without");
        form.type_text("b");
        assert_eq!(form.enter(), Entered::All(all[1..].to_vec()));
    }
}
