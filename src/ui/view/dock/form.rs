//! Forms and pages of the agent, as they stand in the dock.
//!
//! Changes nothing. Invariants: which agent asks is said; what is typed into a field that asks for a secret is drawn as
//! dots; the host of a page stands in front of its whole address, and in rows of its own that nothing scrolls away.

use super::log_in::page_line;
use super::{Contents, Place, keys, place, plain, strong};
use crate::base::{human, sanitize};
use crate::model::event::Asking;
use crate::model::form::{Field, FieldKind, Form, Page};
use crate::model::question::Question;
use crate::text::address;
use crate::text::line::{LogicalLine, WrapMode};
use crate::text::run::{Mods, RunStyle, StyledText};
use crate::text::token::Token;
use crate::ui::keys::{Action, Layer};
use crate::ui::labels;
use crate::ui::state::Focus;
use crate::ui::state::form::FormState;
use crate::ui::view::ViewCx;

/// Rows of a text that is written into a field.
const TEXT_ROWS: u16 = 6;
/// Choices of a field without the cursor that are all listed.
const LISTED: usize = 9;
const INDENT: &str = "  ";
/// A longer secret does not look longer.
const DOTS: usize = 24;

pub(super) fn contents(
    cx: &ViewCx<'_>,
    pending: &Question,
    asking: &Asking,
    right: StyledText,
    columns: u16,
) -> Contents {
    let agent = labels::agent(cx.session);
    let head = format!("{agent} asks");
    let mut body = vec![LogicalLine { right, ..strong(&head, Token::Text) }];
    body.extend(paragraphs(asking.message(), Token::Text));
    let below = place::below(None, place::of(cx).as_deref(), &place::notes(cx, pending), usize::from(columns));
    body.extend(below.map(|below| words(&below, Token::Dim)));
    match asking {
        Asking::Form(form) => {
            let Some(filled) = cx.state.view.dock.forms.get(&pending.req) else {
                return Contents::of(body, Vec::new());
            };
            self::form(cx, form, filled, body, columns)
        }
        Asking::Page(page) => self::page(cx, page, body),
    }
}

fn words(text: &str, token: Token) -> LogicalLine {
    LogicalLine { wrap: WrapMode::Words, ..plain(text, token) }
}

fn paragraphs(text: &str, token: Token) -> impl Iterator<Item = LogicalLine> {
    text.lines().filter(|line| !line.trim().is_empty()).map(move |line| words(line, token))
}

fn page(cx: &ViewCx<'_>, page: &Page, mut body: Vec<LogicalLine>) -> Contents {
    body.push(page_line(&sanitize::line(&page.address)));
    let host = address::host(&page.address);
    let is_number = |host: &str| host.starts_with('[') || host.chars().all(|c| c.is_ascii_digit() || ".:".contains(c));
    let warning = match host {
        None => Some("The host may be another one than it looks like: it is not opened from here."),
        Some(host) if is_number(host) => Some("The host is a number and no name: nobody can tell whose it is."),
        Some(_) => None,
    };
    body.extend(warning.map(|warning| words(warning, Token::Warn)));
    let mut fixed = Vec::new();
    if let Some(host) = host {
        let style = RunStyle::from(Token::Text).with_mods(Mods::BOLD);
        let text = StyledText::of(format!("leads to {host}"), style);
        fixed.push(LogicalLine { text, wrap: WrapMode::Anywhere, ..LogicalLine::default() });
        if names_another(&page.message, host) {
            fixed.push(words("which is not what the message says", Token::Warn));
        }
    } else {
        fixed.push(words("leads to a host that cannot be told for certain", Token::Warn));
    }
    let list = [
        ("o", "open the page"),
        ("c", "copy it"),
        ("Ctrl+S", "submit, opened elsewhere"),
        ("Ctrl+N", "decline"),
        ("Ctrl+G", "cancel"),
    ];
    Contents { fixed, ..Contents::of(body, keys(cx, Layer::Dock, if host.is_some() { &list } else { &list[1..] })) }
}

/// Whether a message holds an address of another host.
fn names_another(message: &str, host: &str) -> bool {
    let is_other = |named: &str| address::host(named).is_none_or(|named| !named.eq_ignore_ascii_case(host));
    address::all(message).any(is_other)
}

fn form(cx: &ViewCx<'_>, form: &Form, filled: &FormState, mut body: Vec<LogicalLine>, columns: u16) -> Contents {
    for text in [&form.title, &form.description].into_iter().flatten() {
        body.extend(paragraphs(text, Token::Dim));
    }
    if form.has_secrets() {
        let shows = cx.state.keys.label(Layer::Form, Action::Reveal);
        let shows = shows.map(|key| format!("; {key} shows it")).unwrap_or_default();
        let warning = "It asks for what looks like a secret. What you type there goes to the agent, and is hidden";
        body.push(words(&format!("{warning}{shows}."), Token::Warn));
    }
    let (mut at, mut fields) = (None, Vec::new());
    for (number, field) in form.fields.iter().enumerate() {
        let from = body.len();
        let place = one(cx, (number, field), filled, &mut body, columns);
        fields.push(from..body.len());
        if filled.at().0 == number {
            let (line, cursor) = place.unwrap_or((from, None));
            at = Some(Place { from, to: body.len(), line, cursor });
        }
    }
    let list = [("Ctrl+S", "submit"), ("Ctrl+N", "decline"), ("Ctrl+G", "cancel")];
    let has_focus = cx.state.view.focus == Focus::Dock;
    Contents {
        at: at.filter(|_| has_focus && filled.is_followed),
        fields,
        ..Contents::of(body, keys(cx, Layer::Form, &list))
    }
}

/// One field; gives the line with the cursor, and where in it.
fn one(
    cx: &ViewCx<'_>,
    (number, field): (usize, &Field),
    filled: &FormState,
    body: &mut Vec<LogicalLine>,
    columns: u16,
) -> Option<(usize, Option<u16>)> {
    let is_here = filled.at().0 == number && cx.state.view.focus == Focus::Dock;
    let mut label = StyledText::of(
        sanitize::line(field.label()).trim(),
        RunStyle::from(if is_here { Token::Accent } else { Token::Text }).with_mods(Mods::BOLD),
    );
    if let Some(description) = &field.description {
        label.push("  ", Token::Text);
        label.push(sanitize::line(description).trim(), Token::Text);
    }
    let rules = rules(field);
    if !rules.is_empty() {
        label.push(&format!("  {rules}"), Token::Dim);
    }
    body.push(LogicalLine { wrap: WrapMode::Words, ..LogicalLine::text(label) });
    let mut found = None;
    if let Some(text) = filled.written(number) {
        let width = columns.saturating_sub(2 + INDENT.len() as u16).max(2);
        let room = if is_here { TEXT_ROWS } else { 1 };
        let (rows, cursor) = if filled.is_hidden(number, field) {
            let dots = "•".repeat(text.text().chars().count().min(DOTS));
            let end = dots.chars().count() as u16;
            (vec![dots], (end.min(width), 0))
        } else {
            let view = text.layout(width, room);
            (view.rows, view.cursor)
        };
        let first = body.len();
        for row in rows {
            let text = if row.is_empty() && !is_here {
                StyledText::of("—", Token::Dim)
            } else {
                StyledText::of(row, if is_here { Token::Text } else { Token::Quote })
            };
            body.push(LogicalLine { prefix: StyledText::from(INDENT), text, ..LogicalLine::default() });
        }
        found = Some((first + usize::from(cursor.1), Some(INDENT.len() as u16 + cursor.0)));
    } else {
        found = choices(number, field, filled, is_here, body).or(found);
    }
    if let Some(trouble) = filled.trouble.as_ref().filter(|unfit| unfit.field == number) {
        body.push(words(&format!("✗ {}", trouble.why), Token::Bad));
    }
    found
}

fn choices(
    number: usize,
    field: &Field,
    filled: &FormState,
    is_here: bool,
    body: &mut Vec<LogicalLine>,
) -> Option<(usize, Option<u16>)> {
    let named: Vec<(&str, Option<&str>)> = match &field.kind {
        FieldKind::Switch => vec![("yes", None), ("no", None)],
        _ => field.choices().iter().map(|c| (c.title.as_str(), c.description.as_deref())).collect(),
    };
    let is_many = matches!(field.kind, FieldKind::Many { .. });
    let is_all = filled.at().0 == number || named.len() <= LISTED;
    let mut found = None;
    let mut hidden = 0;
    for (at, (title, description)) in named.into_iter().enumerate() {
        let is_chosen = filled.is_chosen(number, at);
        if !is_all && !is_chosen {
            hidden += 1;
            continue;
        }
        let marked = is_here && filled.at().1 == at;
        let mark = match (is_many, is_chosen) {
            (true, true) => "[x] ",
            (true, false) => "[ ] ",
            (false, true) => "(•) ",
            (false, false) => "( ) ",
        };
        let key = if at < 9 { (at + 1).to_string() } else { "·".to_owned() };
        let key = if is_here { format!("{key} ") } else { INDENT.to_owned() };
        let extra = if marked { Mods::REVERSE } else { Mods::NONE };
        let token = if marked { Token::Selected } else { Token::Text };
        let mut prefix = StyledText::from(INDENT);
        prefix.push(&key, RunStyle::from(if is_here { Token::Accent } else { Token::Dim }).with_mods(Mods::BOLD));
        prefix.push(mark, if is_chosen { Token::Accent } else { Token::Dim });
        let mut text = StyledText::of(sanitize::line(title).trim(), RunStyle::from(token).with_mods(extra));
        if let Some(description) = description.map(sanitize::line).filter(|words| !words.trim().is_empty()) {
            text.push("  ", Token::Text);
            text.push(description.trim(), Token::Dim);
        }
        if marked {
            found = Some((body.len(), None));
        }
        let hang = StyledText::from(" ".repeat(INDENT.len() + 6).as_str());
        body.push(LogicalLine { prefix, hang, text, wrap: WrapMode::Words, ..LogicalLine::default() });
    }
    if hidden > 0 {
        body.push(plain(&format!("{INDENT}and {}", human::count(hidden, "further choice")), Token::Dim));
    }
    found
}

/// What a field wants, in the words of the schema.
fn rules(field: &Field) -> String {
    let mut rules: Vec<String> = Vec::new();
    if field.is_required {
        rules.push("required".into());
    }
    let mut rule = |name: &str, value: Option<String>| {
        rules.extend(value.map(|value| format!("{name} {}", sanitize::line(&value))));
    };
    match &field.kind {
        FieldKind::Text { min, max, pattern, format } => {
            rule("minLength", min.map(|n| n.to_string()));
            rule("maxLength", max.map(|n| n.to_string()));
            rule("pattern", pattern.clone());
            rule("format", format.clone());
        }
        FieldKind::Number { whole, min, max } => {
            rules.push(if *whole { "integer" } else { "number" }.into());
            let mut rule = |name: &str, value: &Option<serde_json::Number>| {
                rules.extend(value.as_ref().map(|value| format!("{name} {value}")));
            };
            rule("minimum", min);
            rule("maximum", max);
        }
        FieldKind::Many { min, max, .. } => {
            rule("minItems", min.map(|n| n.to_string()));
            rule("maxItems", max.map(|n| n.to_string()));
        }
        FieldKind::Unknown(what) => rules.push(format!("{}, cannot be filled in here", sanitize::line(what))),
        FieldKind::Switch | FieldKind::One(_) => {}
    }
    rules.join(" · ")
}
