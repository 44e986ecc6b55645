//! The options of what looks at agents from outside: how they keep to the protocol.

use super::super::commands::Name;
use super::super::usage::Usage;
use super::super::values::text;
use super::{Flag, Takes, Use};

pub const CHECKING: &[Flag] = &[
    Flag {
        long: "filter",
        short: None,
        takes: Takes::Value("WORDS", |typed, value| {
            typed.filter = Some(text(value)?);
            Ok(())
        }),
        uses: &[Use {
            commands: &[Name::Inspect],
            help: "only messages that have all of these words; ! is for those that violate something",
        }],
    },
    Flag {
        long: "junit",
        short: None,
        takes: Takes::Nothing(|typed| typed.junit = true),
        uses: &[Use { commands: &[Name::Check], help: "as JUnit's XML: a test case for each step" }],
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
        uses: &[Use {
            commands: &[Name::Check],
            help: "the prompt of the turn; given twice, the second is that of the turn which is cancelled",
        }],
    },
];
