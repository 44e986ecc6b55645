//! The body of a code block: a prefix and the code, no frame, no numbers, so that what is copied is the code.

use crate::base::sanitize;
use crate::text::code::Lines;
use crate::text::diff::Kind;
use crate::text::line::{LogicalLine, WrapMode};
use crate::text::run::StyledText;
use crate::text::token::Token;

/// How the lines of a block are coloured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Lang {
    Plain,
    Diff,
}

impl Lang {
    pub(super) fn of(info: &str) -> Self {
        match tag(info).to_ascii_lowercase().as_str() {
            "diff" | "patch" | "udiff" => Self::Diff,
            _ => Self::Plain,
        }
    }
}

/// The language of an info string: its first word.
pub(super) fn tag(info: &str) -> &str {
    let word = info.split([' ', '\t', ',', '{']).next().unwrap_or_default();
    word.get(..word.floor_char_boundary(32)).unwrap_or_default()
}

pub(super) fn lines<'a>(body: &'a str, lang: Lang, tag: &str) -> impl Iterator<Item = LogicalLine> + use<'a> {
    let body = body.strip_suffix('\n').unwrap_or(body);
    let mut program = Lines::of(if lang == Lang::Plain { tag } else { "" });
    body.split('\n').map(move |line| {
        let token = match (lang, line.as_bytes()) {
            (Lang::Diff, [b'@', b'@', ..]) => Token::DiffMeta,
            (Lang::Diff, [b'+', ..]) => Token::DiffAdd,
            (Lang::Diff, [b'-', ..]) => Token::DiffDel,
            _ => Token::CodeBlock,
        };
        let line = sanitize::tabbed(line);
        let code = program.next(Kind::Context, &line);
        let fill = Some(token).filter(|token| token.is_fill());
        LogicalLine { code, fill, wrap: WrapMode::Anywhere, ..LogicalLine::text(StyledText::of(line, token)) }
    })
}
