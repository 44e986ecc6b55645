//! The options about what agents are given: servers of tools, files, and where agents are from.

use super::super::commands::Name;
use super::super::values::{dialect, framing, header, number, permission_mode, protocol, text};
use super::{Flag, Takes, Use};

pub const CONTENT: &[Flag] = &[
    Flag {
        long: "attach",
        short: None,
        takes: Takes::Value("FILE", |typed, value| {
            typed.attach.push(value.into());
            Ok(())
        }),
        uses: &[Use {
            commands: &[Name::Exec],
            help: "send FILE along: an image, a sound, a text, or else a link to it (repeatable)",
        }],
    },
    Flag {
        long: "sandbox",
        short: None,
        takes: Takes::Nothing(|typed| typed.sandbox = true),
        uses: &[Use {
            commands: &[Name::Screen, Name::Exec],
            help: "the agent and its commands can write below the session's directories only (Linux)",
        }],
    },
    Flag {
        long: "permission-mode",
        short: None,
        takes: Takes::Value("MODE[:TIME]", |typed, value| {
            typed.permission_mode = Some(permission_mode(&text(value)?)?);
            Ok(())
        }),
        uses: &[Use {
            commands: &[Name::Screen, Name::Exec],
            help: "default, acceptEdits, plan or bypassPermissions; TIME: 30m, 2h (bypass: 1 h)",
        }],
    },
    Flag {
        long: "add-dir",
        short: None,
        takes: Takes::Value("DIR", |typed, value| {
            typed.add_dir.push(value.into());
            Ok(())
        }),
        uses: &[Use {
            commands: &[Name::Screen, Name::Exec],
            help: "let the agent work in DIR too, where it takes further directories (repeatable)",
        }],
    },
    Flag {
        long: "mcp",
        short: None,
        takes: Takes::Value("FILE", |typed, value| {
            typed.mcp.push(value.into());
            Ok(())
        }),
        uses: &[Use {
            commands: &[Name::Screen, Name::Exec, Name::Mcp],
            help: "give the agent the MCP servers of FILE too, which is trusted (repeatable)",
        }],
    },
    Flag {
        long: "no-mcp",
        short: None,
        takes: Takes::Optional("NAME", |typed, value| {
            match value {
                Some(name) => typed.no_mcp.names.push(text(name)?),
                None => typed.no_mcp.all = true,
            }
            Ok(())
        }),
        uses: &[Use {
            commands: &[Name::Screen, Name::Exec, Name::Mcp],
            help: "give the agent no MCP servers, or not the one of this NAME (repeatable)",
        }],
    },
    Flag {
        long: "protocol",
        short: None,
        takes: Takes::Value("1|2", |typed, value| {
            typed.spoken.protocol = Some(protocol(text(value)?)?);
            Ok(())
        }),
        uses: &[
            Use {
                commands: &[Name::Screen, Name::Exec, Name::Demo],
                help: "this version of the protocol and no other (default: 1, or 2 where the agent refuses that)",
            },
            Use { commands: &[Name::Check], help: "the version of the protocol that it is tried in (default: 1)" },
        ],
    },
    Flag {
        long: "url",
        short: None,
        takes: Takes::Value("ADDRESS", |typed, value| {
            typed.reach.url = Some(text(value)?);
            Ok(())
        }),
        uses: &[Use {
            commands: &[Name::Screen, Name::Exec],
            help: "an agent that runs already, at unix:PATH or https://…; it gets no files or commands of here",
        }],
    },
    Flag {
        long: "transport",
        short: None,
        takes: Takes::Value("HOW", |typed, value| {
            typed.reach.transport = Some(text(value)?);
            Ok(())
        }),
        uses: &[Use {
            commands: &[Name::Screen, Name::Exec],
            help: "over what --url is reached: unix, websocket, http or sse (default: as its address says)",
        }],
    },
    Flag {
        long: "header",
        short: None,
        takes: Takes::Value("'NAME: VALUE'", |typed, value| {
            typed.reach.headers.push(header(&text(value)?)?);
            Ok(())
        }),
        uses: &[Use {
            commands: &[Name::Screen, Name::Exec],
            help: "send this header to --url with ${VAR} filled in, and keep nothing of it (repeatable)",
        }],
    },
    Flag {
        long: "dialect",
        short: None,
        takes: Takes::Value("NAME", |typed, value| {
            typed.spoken.dialect = Some(dialect(text(value)?)?);
            Ok(())
        }),
        uses: &[Use {
            commands: &[Name::Screen, Name::Exec, Name::Demo],
            help: "the rendition of version 1 that the agent speaks: canonical, d0, d3, d4 or auto (default: auto)",
        }],
    },
    Flag {
        long: "framing",
        short: None,
        takes: Takes::Value("HOW", |typed, value| {
            typed.reach.framing = Some(framing(&text(value)?)?);
            Ok(())
        }),
        uses: &[Use {
            commands: &[Name::Screen, Name::Exec],
            help: "how messages are told apart: ndjson (default), content-length or auto",
        }],
    },
    Flag {
        long: "registry",
        short: None,
        takes: Takes::Value("FILE|URL", |typed, value| {
            typed.registry = Some(text(value)?);
            Ok(())
        }),
        uses: &[Use {
            commands: &[Name::Agents],
            help: "of list and add: read this registry; `public` is the protocol's own",
        }],
    },
    Flag {
        long: "limit",
        short: None,
        takes: Takes::Value("N", |typed, value| {
            typed.limit = Some(number("--limit", &text(value)?)?);
            Ok(())
        }),
        uses: &[Use { commands: &[Name::Audit], help: "only the newest N decisions" }],
    },
    Flag {
        long: "session",
        short: None,
        takes: Takes::Value("ID", |typed, value| {
            typed.session = Some(text(value)?);
            Ok(())
        }),
        uses: &[Use { commands: &[Name::Audit], help: "only those of this session: its id, or a beginning of it" }],
    },
    Flag {
        long: "verify",
        short: None,
        takes: Takes::Nothing(|typed| typed.verify = true),
        uses: &[Use { commands: &[Name::Audit], help: "only say whether the log is whole" }],
    },
    Flag {
        long: "press",
        short: None,
        takes: Takes::Nothing(|typed| typed.press = true),
        uses: &[Use { commands: &[Name::Keys], help: "tell of the keys that are pressed, until Ctrl+C twice" }],
    },
];
