//! `usage`: what agents have told of cost, tokens and context, by day, agent and session.
//!
//! Adds up only what has one unit. Invariant: every figure is an agent's own; what none has told is not guessed.

use super::conversations;
use super::launch::{Surroundings, now};
use super::output::{print, say};
use super::usage::Usage;
use crate::base::{date, human, paths, sanitize};
use crate::config;
use crate::config::schema::Config;
use crate::model::budget::{Budget, Left, Limit};
use crate::store::sessions::{self, Known};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

const SECONDS_OF_A_DAY: u64 = 24 * 60 * 60;
/// Sessions whose cost a budget knows from before, the newest.
const MAX_KNOWN: usize = 2048;
/// Characters of what a session is about.
const TITLE: usize = 48;

/// What one session used on one day.
struct Row<'a> {
    day: u32,
    known: &'a Known,
    cost: Option<(f64, &'a str)>,
    tokens: Option<u64>,
}

/// `acp-tui usage`.
pub(super) fn run(as_json: bool) -> Result<u8, Usage> {
    let cannot = |error| Usage(format!("the journals cannot be read: {error}"));
    let listing = sessions::list(&conversations::state()?).map_err(cannot)?;
    for problem in &listing.problems {
        say(&format!("{}: {}", paths::visible(problem.path.as_os_str()), problem.why));
    }
    if let Some(budget) = budget(&Surroundings::read()) {
        say(&limits(&budget));
    }
    let mut rows: Vec<Row<'_>> = listing.sessions.iter().flat_map(rows_of).collect();
    rows.sort_by(|a, b| b.day.cmp(&a.day).then_with(|| a.known.agent.cmp(&b.known.agent)));
    if as_json {
        return print(&rows.iter().map(|row| as_line(row) + "\n").collect::<String>());
    }
    if rows.is_empty() {
        say("no agent has told of cost, tokens or context yet");
    }
    let mut text = String::new();
    for of_day in rows.chunk_by(|a, b| a.day == b.day) {
        for row in of_day {
            text = text + &as_text(row) + "\n";
        }
        if of_day.len() > 1 {
            text = text + &in_all(of_day) + "\n";
        }
    }
    if !rows.is_empty() {
        say("as the agents told it, in universal time; it need not be what is billed");
    }
    print(&text)
}

/// What may be spent, and what has been; nothing where no limit is set.
pub(super) fn budget(surroundings: &Surroundings) -> Option<Budget> {
    let limits = surroundings.config.budget.as_deref().and_then(config::budget::parse)?;
    let limit = |config::budget::Amount(amount, unit)| Limit { amount, unit };
    let (day, session) = (limits.day.map(limit), limits.session.map(limit));
    let (now, today) = (now().as_secs(), this_day());
    let ends = Duration::from_secs(SECONDS_OF_A_DAY - now % SECONDS_OF_A_DAY);
    let mut budget = Budget { day, session, ends, ..Budget::default() };
    // Where no journal can be read, nothing is known to have been spent.
    let listing = surroundings.dirs.as_ref().and_then(|dirs| sessions::list(&dirs.state).ok()).unwrap_or_default();
    for known in listing.sessions.iter().take(MAX_KNOWN) {
        let Some((cost, unit)) = &known.figures.cost else { continue };
        if budget.day.as_ref().is_some_and(|day| day.unit == *unit) {
            budget.costs.insert(known.session_id.clone(), *cost);
            budget.spent += on_day(known, today);
        }
    }
    Some(budget)
}

/// What sessions of all programs have cost on this day, where there is a budget for a day.
pub(super) fn today(state: &Path, config: &Config) -> Option<f64> {
    let config::budget::Amount(_, unit) = config.budget.as_deref().and_then(config::budget::parse)?.day?;
    let (listing, today) = (sessions::list(state).ok()?, this_day());
    let counts = |known: &&Known| known.figures.cost.as_ref().is_some_and(|(_, of)| *of == unit);
    Some(listing.sessions.iter().take(MAX_KNOWN).filter(counts).map(|known| on_day(known, today)).sum())
}

fn this_day() -> u32 {
    u32::try_from(now().as_secs() / SECONDS_OF_A_DAY).unwrap_or(0)
}

fn on_day(known: &Known, today: u32) -> f64 {
    known.figures.days.iter().filter(|day| day.day == today).map(|day| day.cost).sum()
}

/// What may be spent, and what of it is used today.
fn limits(budget: &Budget) -> String {
    let of_session = budget.session.as_ref().map(|Limit { amount, unit }| format!("{amount} {unit} a session"));
    let all: Vec<String> = budget.today().into_iter().chain(of_session).collect();
    format!("the budget: {}", all.join(", "))
}

/// Why nothing is sent, where a session has cost this.
pub(super) fn used_up(budget: &Budget, cost: Option<&(f64, String)>) -> Option<String> {
    [budget.of_day(), budget.of_session(cost)].into_iter().find_map(|left| match left {
        Left::Nothing(why) => Some(why),
        Left::Enough | Left::Little(_) => None,
    })
}

fn rows_of(known: &Known) -> Vec<Row<'_>> {
    let figures = &known.figures;
    let unit = figures.cost.as_ref().map(|(_, unit)| unit.as_str());
    let row = |day: u32, cost: f64, tokens: u64| Row {
        day,
        known,
        cost: unit.map(|unit| (cost, unit)),
        tokens: figures.tokens.map(|_| tokens),
    };
    if figures.days.is_empty() && figures.context.is_some() {
        let day = u32::try_from(known.updated.as_secs() / SECONDS_OF_A_DAY).unwrap_or(0);
        return vec![row(day, 0.0, 0)];
    }
    figures.days.iter().map(|day| row(day.day, day.cost, day.tokens)).collect()
}

fn day_of(day: u32) -> String {
    let moment = Duration::from_secs(u64::from(day).saturating_mul(SECONDS_OF_A_DAY));
    date::rfc3339(moment).chars().take("2026-11-22".len()).collect()
}

fn as_line(Row { day, known, cost, tokens }: &Row<'_>) -> String {
    let context = known.figures.context.map(|(used, size)| json!({ "used": used, "size": size }));
    let cost = cost.map(|(amount, unit)| json!({ "amount": amount, "currency": unit }));
    json!({
        "day": day_of(*day), "agent": known.agent, "session_id": known.session_id, "cwd": known.cwd,
        "title": known.title, "cost": cost, "tokens": tokens, "context": context, "source": "agent",
    })
    .to_string()
}

fn as_text(Row { day, known, cost, tokens }: &Row<'_>) -> String {
    let mut parts = vec![day_of(*day), known.agent.clone(), known.session_id.clone()];
    parts.extend(cost.map(costs));
    parts.extend(tokens.map(counts));
    if let Some((used, size)) = known.figures.context.filter(|(_, size)| *size > 0) {
        let percent = u128::from(used) * 100 / u128::from(size);
        parts.push(format!("context {percent} % of {}", human::tokens(size)));
    }
    let about = known.title.as_ref().or(known.first_prompt.as_ref()).cloned().unwrap_or_default();
    parts.push(about.chars().take(TITLE).collect());
    sanitize::line(parts.join("  ").trim_end()).into_owned()
}

fn in_all(rows: &[Row<'_>]) -> String {
    let mut sums: BTreeMap<&str, f64> = BTreeMap::new();
    for (amount, unit) in rows.iter().filter_map(|row| row.cost) {
        *sums.entry(unit).or_default() += amount;
    }
    let mut parts = vec![day_of(rows.first().map_or(0, |row| row.day)), "in all".to_owned()];
    parts.extend(sums.into_iter().map(|(unit, amount)| costs((amount, unit))));
    let tokens = rows.iter().filter_map(|row| row.tokens).reduce(u64::saturating_add);
    parts.extend(tokens.map(counts));
    sanitize::line(&parts.join("  ")).into_owned()
}

fn costs((amount, unit): (f64, &str)) -> String {
    format!("{amount:.2} {unit}")
}

fn counts(tokens: u64) -> String {
    format!("{} tokens", human::thousands(tokens))
}
