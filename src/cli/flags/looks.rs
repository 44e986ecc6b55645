//! The options about what a conversation looks like, and where in the terminal it stands.

use super::super::commands::Name;
use super::super::values::text;
use super::{Flag, Takes, Use};

pub const LOOKS: &[Flag] = &[
    Flag {
        long: "theme",
        short: None,
        takes: Takes::Value("NAME", |typed, value| {
            typed.theme = Some(text(value)?);
            Ok(())
        }),
        uses: &[Use {
            commands: &[Name::Screen, Name::Demo],
            help: "auto (the default), dark, light, nord, gruvbox … (full screen)",
        }],
    },
    Flag {
        long: "plain",
        short: None,
        takes: Takes::Nothing(|typed| typed.plain = true),
        uses: &[
            Use {
                commands: &[Name::Screen, Name::Demo],
                help: "in lines instead of a full screen: for screen readers, plain terminals and pipes",
            },
            Use { commands: &[Name::Inspect], help: "as lines, also where there is a screen" },
        ],
    },
    Flag {
        long: "inline",
        short: None,
        takes: Takes::Nothing(|typed| typed.inline = true),
        uses: &[Use {
            commands: &[Name::Screen, Name::Demo],
            help: "in the terminal's own scrollback instead of a full screen; F11 changes it while it runs",
        }],
    },
    Flag {
        long: "print-on-exit",
        short: None,
        takes: Takes::Nothing(|typed| typed.print_on_exit = true),
        uses: &[Use {
            commands: &[Name::Screen, Name::Demo],
            help: "after the full screen, the last 1,000 rows of the conversation stay in the terminal",
        }],
    },
];
