//! Reads theme files.
//!
//! Turns TOML into a [`Spec`] for each token that the theme names; what a token looks like when it is not named is up
//! to `resolve`. Invariants: never fails, what is wrong gives a warning with its line and the rest applies; a theme
//! inherits from built-in themes only, and not in circles.

use std::collections::{BTreeMap, HashMap};

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::base::toml_doc::{Report, Warning, kind_of};
use crate::text::run::Mods;
use crate::text::token::Token;

use super::color::{Color, NAMES};

/// The themes that come with the program.
pub const BUILTIN: [(&str, &str); 13] = [
    ("terminal", include_str!("../../themes/terminal.toml")),
    ("dark", include_str!("../../themes/dark.toml")),
    ("light", include_str!("../../themes/light.toml")),
    ("nord", include_str!("../../themes/nord.toml")),
    ("gruvbox", include_str!("../../themes/gruvbox.toml")),
    ("gruvbox-light", include_str!("../../themes/gruvbox-light.toml")),
    ("solarized", include_str!("../../themes/solarized.toml")),
    ("solarized-light", include_str!("../../themes/solarized-light.toml")),
    ("blue-orange", include_str!("../../themes/blue-orange.toml")),
    ("blue-orange-light", include_str!("../../themes/blue-orange-light.toml")),
    ("contrast", include_str!("../../themes/contrast.toml")),
    ("sixteen-dark", include_str!("../../themes/sixteen-dark.toml")),
    ("sixteen-light", include_str!("../../themes/sixteen-light.toml")),
];

/// What a theme says about one token.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Spec {
    pub fg: Option<Color>,
    pub bg: Option<Color>,
    pub mods: Mods,
}

/// A theme file and what it inherits, before tokens that are not named get a style.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Sheet {
    pub name: String,
    /// The terminal background that the theme is made for; only stated, never painted.
    pub background: Option<Color>,
    pub styles: HashMap<Token, Spec>,
}

const ATTRIBUTES: [(&str, Mods); 6] = [
    ("bold", Mods::BOLD),
    ("italic", Mods::ITALIC),
    ("underline", Mods::UNDERLINE),
    ("faint", Mods::FAINT),
    ("reverse", Mods::REVERSE),
    ("strike", Mods::STRIKE),
];

pub fn builtin(name: &str) -> Option<&'static str> {
    BUILTIN.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// Reads a theme. `name` is what it is called when the file does not say.
pub fn load(name: &str, text: &str) -> (Sheet, Vec<Warning>) {
    load_from(name, text, &builtin)
}

/// [`load`] with other themes to inherit from.
fn load_from(name: &str, text: &str, library: &dyn Fn(&str) -> Option<&'static str>) -> (Sheet, Vec<Warning>) {
    let file = format!("{name}.toml");
    let mut report = Report::new(&file, text);
    let mut chain = vec![report.parse()];
    let mut seen: Vec<String> = Vec::new();
    // All warnings about ancestors are given where the person's own file says `inherits`.
    let own_span = chain.first().and_then(|own| own.get("inherits")).map(Spanned::span).unwrap_or_default();
    while let Some(value) = chain.last().and_then(|table| table.get("inherits")) {
        let Some(parent) = value.get_ref().as_str().map(str::to_owned) else {
            report.warn(&own_span, "inherits must be a string: the name of a built-in theme");
            break;
        };
        if seen.contains(&parent) {
            report.warn(&own_span, format!("inherits in a circle: {} → {parent}", seen.join(" → ")));
            break;
        }
        let Some(text) = library(&parent) else {
            let known: Vec<&str> = BUILTIN.iter().map(|(name, _)| *name).collect();
            report.warn(&own_span, format!("there is no theme {parent:?} to inherit; allowed: {}", known.join(", ")));
            break;
        };
        chain.push(DeTable::parse_recoverable(text).0.into_inner());
        seen.push(parent);
    }
    let sheet = read_chain(name, &chain, &mut report);
    (sheet, report.finish())
}

/// Merges a theme (first) with what it inherits, then reads the styles with the merged palette.
fn read_chain(name: &str, chain: &[DeTable<'_>], report: &mut Report<'_>) -> Sheet {
    let mut sheet = Sheet { name: name.to_owned(), ..Sheet::default() };
    let mut palette = BTreeMap::new();
    // Mistakes in an inherited theme are not those of the person.
    let mut quiet = Report::new("", "");
    for (depth, table) in chain.iter().enumerate().rev() {
        let report = if depth == 0 { &mut *report } else { &mut quiet };
        if let Some(colors) = section(table, "palette", report) {
            for (key, value) in colors {
                if let Some(color) = color(value, &BTreeMap::new(), report) {
                    palette.insert(key.get_ref().to_string(), color);
                }
            }
        }
    }
    for (depth, table) in chain.iter().enumerate().rev() {
        let report = if depth == 0 { &mut *report } else { &mut quiet };
        read_top(table, &palette, &mut sheet, report);
        if let Some(styles) = section(table, "styles", report) {
            read_styles("", styles, &palette, &mut sheet.styles, report);
        }
    }
    sheet
}

fn read_top(table: &DeTable<'_>, palette: &BTreeMap<String, Color>, sheet: &mut Sheet, report: &mut Report<'_>) {
    for (key, value) in table {
        match key.get_ref().as_ref() {
            "name" => match value.get_ref().as_str() {
                Some(name) => name.clone_into(&mut sheet.name),
                None => report.warn(&value.span(), "name must be a string"),
            },
            "background" => {
                if let Some(background) = color(value, palette, report) {
                    sheet.background = Some(background);
                }
            }
            "inherits" | "palette" | "styles" => {}
            other => {
                let message = format!("unknown key {other:?}; allowed: name, inherits, background, palette, styles");
                report.warn(&key.span(), message);
            }
        }
    }
}

fn section<'t, 'i>(table: &'t DeTable<'i>, key: &str, report: &mut Report<'_>) -> Option<&'t DeTable<'i>> {
    let value = table.get(key)?;
    let section = value.get_ref().as_table();
    if section.is_none() {
        report.warn(&value.span(), format!("{key} must be a table, not {}", kind_of(value.get_ref())));
    }
    section
}

/// Token names are dotted, and TOML reads `md.code = …` as a table `md`: tables are walked until a name fits.
fn read_styles(
    prefix: &str,
    table: &DeTable<'_>,
    palette: &BTreeMap<String, Color>,
    out: &mut HashMap<Token, Spec>,
    report: &mut Report<'_>,
) {
    for (key, value) in table {
        let name = format!("{prefix}{}", key.get_ref());
        // `diff.add = "green"` beside `diff.add.word = …` cannot be written in TOML; a style may hold `word = …`.
        if let Some(token) = Token::ALL.iter().find(|(_, known)| *known == name).map(|(token, _)| *token) {
            if let Some(spec) = read_spec(&name, value, palette, out, report) {
                out.insert(token, spec);
            }
        } else if is_group(&name)
            && let Some(inner) = value.get_ref().as_table()
        {
            read_styles(&format!("{name}."), inner, palette, out, report);
        } else {
            let known: Vec<&str> = Token::ALL.iter().map(|(_, name)| *name).collect();
            report.warn(&key.span(), format!("unknown style {name:?}; allowed: {}", known.join(", ")));
        }
    }
}

/// Whether the name is the beginning of a token's name.
fn is_group(name: &str) -> bool {
    Token::ALL.iter().any(|(_, known)| known.strip_prefix(name).is_some_and(|rest| rest.starts_with('.')))
}

/// The style of one token; `None` when it only holds the styles of longer names.
fn read_spec(
    name: &str,
    value: &Spanned<DeValue<'_>>,
    palette: &BTreeMap<String, Color>,
    out: &mut HashMap<Token, Spec>,
    report: &mut Report<'_>,
) -> Option<Spec> {
    let Some(table) = value.get_ref().as_table() else {
        return color(value, palette, report).map(|fg| Spec { fg: Some(fg), ..Spec::default() });
    };
    let mut spec = Spec::default();
    let mut own = table.is_empty();
    for (key, value) in table {
        let key_name = key.get_ref().as_ref();
        let attribute = ATTRIBUTES.iter().find(|(known, _)| *known == key_name).map(|(_, mods)| *mods);
        match key_name {
            "fg" => spec.fg = color(value, palette, report),
            "bg" => spec.bg = color(value, palette, report),
            _ if attribute.is_some() => match (value.get_ref().as_bool(), attribute) {
                (Some(true), Some(mods)) => spec.mods = spec.mods.with(mods),
                (Some(false), _) => {}
                _ => report.warn(&value.span(), format!("{key_name} must be true or false")),
            },
            _ => {
                let longer = format!("{name}.{key_name}");
                match Token::ALL.iter().find(|(_, known)| *known == longer).map(|(token, _)| *token) {
                    Some(token) => {
                        if let Some(spec) = read_spec(&longer, value, palette, out, report) {
                            out.insert(token, spec);
                        }
                        continue;
                    }
                    None => report.warn(
                        &key.span(),
                        format!(
                            "unknown key {key_name:?} in style {name:?}; allowed: fg, bg, bold, italic, underline, faint, reverse, strike"
                        ),
                    ),
                }
            }
        }
        own = true;
    }
    own.then_some(spec)
}

fn color(value: &Spanned<DeValue<'_>>, palette: &BTreeMap<String, Color>, report: &mut Report<'_>) -> Option<Color> {
    let found = match value.get_ref() {
        DeValue::String(text) => palette.get(text.as_ref()).copied().or_else(|| Color::parse(text)),
        DeValue::Integer(number) if number.radix() == 10 => {
            number.as_str().replace('_', "").parse().ok().map(Color::number)
        }
        _ => None,
    };
    if found.is_none() {
        let message =
            format!("not a colour; allowed: a name of [palette], default, {}, \"#rrggbb\", 0 to 255", NAMES.join(", "));
        report.warn(&value.span(), message);
    }
    found
}

#[cfg(test)]
#[path = "load_tests.rs"]
mod tests;
