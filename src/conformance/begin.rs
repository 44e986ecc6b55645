//! From the start of the agent to the steps of the version that was asked for.
//!
//! Tries nothing but the first call itself.

use super::report::Report;
use super::talk::Talk;
use super::{Asked, Version, second, suite};

pub async fn run(asked: &Asked) -> Report {
    let words = std::iter::once(&asked.agent.command).chain(&asked.agent.args);
    let command = words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ");
    let mut report = Report { command, ..Report::default() };
    let mut talk = match Talk::start(asked) {
        Ok(talk) => talk,
        Err(error) => {
            report.not_started = Some(error.to_string());
            return report;
        }
    };
    let greeting = match suite::initialize(&mut talk, asked, &mut report).await {
        Ok(greeting) => greeting,
        Err(why) => {
            report.not_started = Some(why);
            talk.end(asked.limits.exit).await;
            return report;
        }
    };
    report.agent = Some(greeting.label.clone()).filter(|label| !label.is_empty());
    match asked.version {
        Version::One => suite::run(talk, asked, &greeting, &mut report).await,
        Version::Two => second::run(talk, asked, &greeting, &mut report).await,
    }
    report
}
