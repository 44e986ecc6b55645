//! Forms and pages by which an agent asks the person for something, and whether an answer keeps to what a form says.
//!
//! Plain data. Knows neither how a form is shown nor how it is sent. Invariants: fields stand in the order in which the
//! agent has given them; what is accepted here has the type that the field asks for; a value of a field that asks for a
//! secret is written nowhere but in the answer.

mod secrecy;

use super::login::Secret;
use crate::base::date;
use crate::text::pattern;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Number, Value};
use std::sync::Arc;

/// Stands for a value that is said nowhere.
const MASK: &str = "…";

/// What the person is to fill in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Form {
    pub message: String,
    pub title: Option<String>,
    pub description: Option<String>,
    pub fields: Vec<Field>,
}

/// A page that the person is to visit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    pub message: String,
    /// The agent's name of it.
    pub id: Arc<str>,
    pub address: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    pub name: String,
    pub title: Option<String>,
    pub description: Option<String>,
    pub is_required: bool,
    /// It says that it asks for a secret, or sounds like it: what is typed there is hidden.
    pub is_secret: bool,
    pub kind: FieldKind,
    pub default: Option<FieldValue>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FieldKind {
    Text {
        min: Option<u64>,
        max: Option<u64>,
        pattern: Option<String>,
        format: Option<String>,
    },
    Number {
        /// Without a fraction.
        whole: bool,
        min: Option<Number>,
        max: Option<Number>,
    },
    Switch,
    One(Vec<Choice>),
    Many {
        choices: Vec<Choice>,
        min: Option<u64>,
        max: Option<u64>,
    },
    /// What it is instead of one of these.
    Unknown(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// What is sent.
    pub value: String,
    pub title: String,
    pub description: Option<String>,
}

/// The value of a field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum FieldValue {
    Bool(bool),
    Number(Number),
    Many(Vec<String>),
    Text(String),
    #[serde(serialize_with = "masked", skip_deserializing)]
    Secret(Secret),
    /// A number that is a secret, in digits.
    #[serde(serialize_with = "masked", skip_deserializing)]
    SecretNumber(Secret),
}

impl FieldValue {
    pub const fn secret(&self) -> Option<&Secret> {
        match self {
            Self::Secret(secret) | Self::SecretNumber(secret) => Some(secret),
            Self::Bool(_) | Self::Number(_) | Self::Many(_) | Self::Text(_) => None,
        }
    }
}

fn masked<S: Serializer>(_: &Secret, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(MASK)
}

/// A form with what the person has filled in, by the names of its fields.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Written", into = "Written")]
pub struct Filled {
    pub values: Vec<(String, FieldValue)>,
    /// The person wants to find them in journal and transcript.
    pub is_kept: bool,
}

/// As it stands in a journal: without values, unless they are kept.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    Kept { kept: Vec<(String, FieldValue)> },
    Named(Vec<(String, FieldValue)>),
}

impl From<Filled> for Written {
    fn from(filled: Filled) -> Self {
        let Filled { values, is_kept } = filled.as_written();
        if is_kept { Self::Kept { kept: values } } else { Self::Named(values) }
    }
}

impl From<Written> for Filled {
    fn from(written: Written) -> Self {
        match written {
            Written::Kept { kept } => Self { values: kept, is_kept: true },
            Written::Named(values) => Self::from(values),
        }
    }
}

impl From<Vec<(String, FieldValue)>> for Filled {
    fn from(values: Vec<(String, FieldValue)>) -> Self {
        Self { values, is_kept: false }
    }
}

impl Filled {
    /// The same with a sign in the place of each value that is written nowhere.
    fn as_written(&self) -> Self {
        self.masked(|value| !self.is_kept || value.secret().is_some())
    }

    fn masked(&self, is_masked: impl Fn(&FieldValue) -> bool) -> Self {
        let value = |value: &FieldValue| {
            if is_masked(value) { FieldValue::Text(MASK.to_owned()) } else { value.clone() }
        };
        let values = self.values.iter().map(|(name, given)| (name.clone(), value(given))).collect();
        Self { values, is_kept: self.is_kept }
    }
}

/// What the person says to a form or page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reply {
    Filled(Filled),
    /// They visit the page.
    Visits,
    Decline,
    Cancel,
}

impl Reply {
    /// In the words of scripts.
    pub const fn action(&self) -> &'static str {
        match self {
            Self::Filled(_) | Self::Visits => "accept",
            Self::Decline => "decline",
            Self::Cancel => "cancel",
        }
    }

    /// The values of fields that ask for a secret, by their names.
    pub fn secrets(&self) -> impl Iterator<Item = (&str, &Secret)> {
        let values: &[(String, FieldValue)] = if let Self::Filled(filled) = self { &filled.values } else { &[] };
        values.iter().filter_map(|(name, value)| Some((name.as_str(), value.secret()?)))
    }

    /// The same without secrets, for who wants to see what was sent; nothing where nothing was filled in.
    pub fn without_secrets(&self) -> Option<Self> {
        let Self::Filled(filled) = self else { return None };
        Some(Self::Filled(filled.masked(|value| value.secret().is_some())))
    }

    /// The same as it is written down.
    pub fn as_written(&self) -> Option<Self> {
        let Self::Filled(filled) = self else { return None };
        Some(Self::Filled(filled.as_written()))
    }
}

/// Why a form cannot be sent as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfit {
    /// The place of the field.
    pub field: usize,
    /// In the words of the schema.
    pub why: String,
}

impl Form {
    /// Takes what is given for each field, or says what does not fit. A field without a value is left out.
    pub fn fill(
        &self,
        mut given: impl FnMut(usize, &Field) -> Option<Value>,
    ) -> Result<Vec<(String, FieldValue)>, Unfit> {
        let mut values = Vec::new();
        for (at, field) in self.fields.iter().enumerate() {
            let unfit = |why| Unfit { field: at, why };
            match given(at, field) {
                Some(value) => values.push((field.name.clone(), field.take(&value).map_err(unfit)?)),
                None if field.is_required => return Err(unfit(field.missing())),
                None => {}
            }
        }
        Ok(values)
    }

    pub fn has_secrets(&self) -> bool {
        self.fields.iter().any(|field| field.is_secret)
    }

    /// Hides what is written into fields that sound as if they asked for a secret: by their own words, or because the
    /// form is about one and they do not say what else they are for. Such a field has no value to begin with.
    pub fn hide_secrets(&mut self) {
        let about = [Some(&self.message), self.title.as_ref(), self.description.as_ref()];
        let is_about = about.into_iter().flatten().any(|words| secrecy::prose_sounds_secret(words));
        for field in &mut self.fields {
            field.is_secret = field.is_written() && (field.is_secret || field.sounds_secret(is_about));
            field.default.take_if(|_| field.is_secret);
        }
    }
}

impl Field {
    /// What the person reads as its name.
    pub fn label(&self) -> &str {
        self.title.as_deref().map(str::trim).filter(|title| !title.is_empty()).unwrap_or(&self.name)
    }

    /// Whether its value is typed.
    pub const fn is_written(&self) -> bool {
        matches!(self.kind, FieldKind::Text { .. } | FieldKind::Number { .. })
    }

    fn sounds_secret(&self, form_is_about_one: bool) -> bool {
        let labels = || std::iter::once(&self.name).chain(&self.title);
        labels().any(|label| secrecy::label_sounds_secret(label))
            || self.description.as_deref().is_some_and(secrecy::prose_sounds_secret)
            || form_is_about_one && !labels().any(|label| secrecy::label_is_open(label))
    }

    /// A value of it as the person has seen it; nothing of a secret.
    pub fn words(&self, value: &FieldValue) -> String {
        let choice = |sent: &str| {
            let choice = self.choices().iter().find(|choice| choice.value == sent);
            choice.map_or_else(|| sent.to_owned(), |choice| choice.title.clone())
        };
        match value {
            FieldValue::Bool(is_on) => if *is_on { "yes" } else { "no" }.to_owned(),
            FieldValue::Number(number) => number.to_string(),
            FieldValue::Many(list) => list.iter().map(|sent| choice(sent)).collect::<Vec<_>>().join(", "),
            FieldValue::Text(text) => choice(text),
            FieldValue::Secret(_) | FieldValue::SecretNumber(_) => MASK.to_owned(),
        }
    }

    pub fn choices(&self) -> &[Choice] {
        match &self.kind {
            FieldKind::One(choices) | FieldKind::Many { choices, .. } => choices,
            _ => &[],
        }
    }

    fn missing(&self) -> String {
        match &self.kind {
            FieldKind::Unknown(what) => format!("required, and {what}: it cannot be filled in here"),
            _ => "required".to_owned(),
        }
    }

    /// The value as the field wants it, or the rule that it breaks.
    pub fn take(&self, value: &Value) -> Result<FieldValue, String> {
        match &self.kind {
            FieldKind::Text { min, max, pattern, format } => {
                let text = value.as_str().ok_or("type string")?;
                let count = text.chars().count() as u64;
                within("Length", count, (*min, *max), "character")?;
                if let Some(pattern) = pattern.as_deref().filter(|pattern| pattern::is_in(pattern, text) == Some(false))
                {
                    return Err(format!("pattern {pattern}"));
                }
                if let Some(format) = format.as_deref().filter(|format| !is_of_format(format, text)) {
                    return Err(format!("format {format}"));
                }
                let text = text.to_owned();
                Ok(if self.is_secret { FieldValue::Secret(Secret(text)) } else { FieldValue::Text(text) })
            }
            FieldKind::Number { whole, min, max } => {
                let number = value.as_number().ok_or(if *whole { "type integer" } else { "type number" })?;
                let number = if *whole { without_fraction(number).ok_or("type integer")? } else { number.clone() };
                if let Some(min) = min.as_ref().filter(|min| is_less(&number, min)) {
                    return Err(format!("minimum {min}"));
                }
                if let Some(max) = max.as_ref().filter(|max| is_less(max, &number)) {
                    return Err(format!("maximum {max}"));
                }
                Ok(if self.is_secret {
                    FieldValue::SecretNumber(Secret(number.to_string()))
                } else {
                    FieldValue::Number(number)
                })
            }
            FieldKind::Switch => Ok(FieldValue::Bool(value.as_bool().ok_or("type boolean")?)),
            FieldKind::One(choices) => {
                let text = value.as_str().ok_or("type string")?;
                if !choices.iter().any(|choice| choice.value == text) {
                    return Err(format!("enum: {text} is none of its values"));
                }
                Ok(FieldValue::Text(text.to_owned()))
            }
            FieldKind::Many { choices, min, max } => {
                let list = value.as_array().ok_or("type array")?;
                let mut taken = Vec::new();
                for one in list {
                    let text = one.as_str().ok_or("items of type string")?;
                    if !choices.iter().any(|choice| choice.value == text) {
                        return Err(format!("enum: {text} is none of its values"));
                    }
                    if !taken.iter().any(|known| known == text) {
                        taken.push(text.to_owned());
                    }
                }
                within("Items", taken.len() as u64, (*min, *max), "item")?;
                Ok(FieldValue::Many(taken))
            }
            FieldKind::Unknown(what) => Err(format!("{what}: it cannot be filled in here")),
        }
    }
}

fn within(what: &str, count: u64, (min, max): (Option<u64>, Option<u64>), unit: &str) -> Result<(), String> {
    let has = || crate::base::human::count(count, unit);
    match (min, max) {
        (Some(min), _) if count < min => Err(format!("min{what} {min}: it has {}", has())),
        (_, Some(max)) if count > max => Err(format!("max{what} {max}: it has {}", has())),
        _ => Ok(()),
    }
}

fn without_fraction(number: &Number) -> Option<Number> {
    /// Every whole number up to this one is a float.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if let Some(whole) = number.as_i64() {
        return Some(whole.into());
    }
    let float = number.as_f64().filter(|float| float.fract() == 0.0 && float.abs() <= EXACT)?;
    Some(Number::from(float as i64))
}

fn is_less(a: &Number, b: &Number) -> bool {
    match (a.as_i64(), b.as_i64()) {
        (Some(a), Some(b)) => a < b,
        _ => a.as_f64().zip(b.as_f64()).is_some_and(|(a, b)| a < b),
    }
}

/// A format that is not known says nothing.
fn is_of_format(format: &str, text: &str) -> bool {
    let is_one_word = !text.contains(|c: char| c.is_whitespace() || c.is_control());
    match format {
        "email" => {
            let parts = text.rsplit_once('@');
            is_one_word && parts.is_some_and(|(who, host)| !who.is_empty() && !host.is_empty() && !who.contains('@'))
        }
        "uri" => {
            let (scheme, rest) = text.split_once(':').unwrap_or_default();
            let is_plain = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
            let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.chars().all(is_plain);
            is_one_word && is_scheme && !rest.is_empty()
        }
        "date" => text.len() == 10 && date::seconds(text).is_some(),
        "date-time" => {
            let has_zone = text.get(11..).is_some_and(|time| time.contains(['Z', 'z', '+', '-']));
            text.as_bytes().get(10).is_some_and(|b| b"Tt ".contains(b)) && has_zone && date::seconds(text).is_some()
        }
        _ => true,
    }
}

#[cfg(test)]
#[path = "form_tests.rs"]
mod tests;
