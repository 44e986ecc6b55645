//! The options of what looks at agents from outside: how they keep to the protocol.

use super::super::commands::Name;
use super::super::usage::Usage;
use super::super::values::{allow, seconds, text};
use super::{Flag, Takes};

pub const CHECKING: &[Flag] = &[
    Flag {
        long: "json",
        short: None,
        takes: Takes::Nothing(|typed| typed.json = true),
        commands: &[Name::Check],
        help: "one JSON object with every step and violation",
    },
    Flag {
        long: "json",
        short: None,
        takes: Takes::Nothing(|typed| typed.json = true),
        commands: &[Name::Inspect],
        help: "one JSON object a line, with the message itself",
    },
    Flag {
        long: "plain",
        short: None,
        takes: Takes::Nothing(|typed| typed.plain = true),
        commands: &[Name::Inspect],
        help: "as lines, also where there is a screen (always where there is none)",
    },
    Flag {
        long: "filter",
        short: None,
        takes: Takes::Value("WORDS", |typed, value| {
            typed.filter = Some(text(value)?);
            Ok(())
        }),
        commands: &[Name::Inspect],
        help: "only messages that have all of these words; ! is for those that violate something",
    },
    Flag {
        long: "junit",
        short: None,
        takes: Takes::Nothing(|typed| typed.junit = true),
        commands: &[Name::Check],
        help: "as JUnit's XML: a test case for each step",
    },
    Flag {
        long: "prompt",
        short: None,
        takes: Takes::Value("TEXT", |typed, value| {
            let prompt = text(value)?;
            if prompt.trim().is_empty() {
                return Err(Usage("the prompt is empty".into()));
            }
            typed.prompts.push(prompt);
            Ok(())
        }),
        commands: &[Name::Check],
        help: "the prompt of the turn; given twice, the second is that of the turn which is cancelled",
    },
    Flag {
        long: "allow",
        short: None,
        takes: Takes::Value("all|reads|none", |typed, value| {
            typed.allow = Some(allow(&text(value)?)?);
            Ok(())
        }),
        commands: &[Name::Check],
        help: "what the agent's questions are answered with (default: reads)",
    },
    Flag {
        long: "timeout",
        short: None,
        takes: Takes::Value("S", |typed, value| {
            typed.timeout = Some(seconds(&text(value)?)?);
            Ok(())
        }),
        commands: &[Name::Check],
        help: "no step may take longer (each has a limit of its own, that of a turn is 180)",
    },
    Flag {
        long: "cwd",
        short: Some('C'),
        takes: Takes::Value("DIR", |typed, value| {
            typed.cwd = Some(value.into());
            Ok(())
        }),
        commands: &[Name::Check],
        help: "the session's directory (default: a new one, which is removed)",
    },
];
