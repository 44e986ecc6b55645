//! Modes, configuration options and slash commands as the agent reported them, with a pending choice beside the
//! confirmed one.

#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Modes {
    pub current: String,
    /// Asked for and not yet confirmed.
    pub pending: Option<String>,
    pub available: Vec<Mode>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mode {
    pub id: String,
    pub name: String,
    pub description: Option<String>,
}

impl Modes {
    /// The name of a mode, or the id verbatim when it is not listed.
    pub fn name_of<'a>(&'a self, id: &'a str) -> &'a str {
        self.available.iter().find(|m| m.id == id).map_or(id, |m| m.name.as_str())
    }

    pub fn lists(&self, id: &str) -> bool {
        self.available.iter().any(|m| m.id == id)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigOption {
    pub id: String,
    pub name: String,
    pub description: Option<String>,
    pub category: Option<String>,
    pub kind: OptionKind,
    pub pending: Option<OptionValue>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionKind {
    Select { current: String, values: Vec<Choice> },
    Bool { current: bool },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    pub value: String,
    pub name: String,
    pub description: Option<String>,
    pub group: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum OptionValue {
    Id(String),
    Bool(bool),
}

impl ConfigOption {
    /// What is in force, as a person reads it; verbatim when it is not among the values.
    pub fn current_name(&self) -> &str {
        match &self.kind {
            OptionKind::Select { current, values } => {
                values.iter().find(|v| v.value == *current).map_or(current.as_str(), |v| v.name.as_str())
            }
            OptionKind::Bool { current: true } => "on",
            OptionKind::Bool { current: false } => "off",
        }
    }

    /// The values that it can have.
    pub fn ids(&self) -> Vec<String> {
        match &self.kind {
            OptionKind::Select { values, .. } => values.iter().map(|v| v.value.clone()).collect(),
            OptionKind::Bool { .. } => vec!["true".into(), "false".into()],
        }
    }

    pub fn is_category(&self, category: &str) -> bool {
        self.category.as_deref() == Some(category)
    }

    pub fn accepts(&self, value: &OptionValue) -> bool {
        match (&self.kind, value) {
            (OptionKind::Select { values, .. }, OptionValue::Id(id)) => values.iter().any(|v| v.value == *id),
            (OptionKind::Bool { .. }, OptionValue::Bool(_)) => true,
            _ => false,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// Without a leading slash.
    pub name: String,
    pub description: String,
    pub hint: Option<String>,
}

/// The id of the older list of models, which is read as an option of category `model`.
pub const OLDER_MODELS: &str = "model";

/// What sets a model, among what can be set: an option, its value, and whether it has it already.
///
/// # Errors
/// Names the models that there are.
pub fn model_choice<'a, I>(settings: impl Fn() -> I, id: &str) -> Result<(String, OptionValue, bool), String>
where
    I: Iterator<Item = &'a ConfigOption>,
{
    let value = OptionValue::Id(id.to_owned());
    let models = || settings().filter(|option| option.is_category("model"));
    if let Some(option) = models().find(|option| option.accepts(&value)) {
        let is_set = matches!(&option.kind, OptionKind::Select { current, .. } if current == id);
        return Ok((option.id.clone(), value, is_set && option.pending.is_none()));
    }
    let known: Vec<String> = models().flat_map(|option| option.ids()).collect();
    Err(format!("the agent has no model `{id}`; {}", offer(&known)))
}

/// What there is, in words.
pub fn offer(known: &[String]) -> String {
    if known.is_empty() { "it offers none".to_owned() } else { format!("it offers {}", known.join(", ")) }
}

#[derive(Clone, Debug, PartialEq, Default)]
pub struct Usage {
    pub used: u64,
    pub size: u64,
    /// Amount and unit as reported; never added up.
    pub cost: Option<(f64, String)>,
}
