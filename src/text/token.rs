//! The closed list of semantic styles: what a piece of text *means*, never what colour it has.
//!
//! Themes map tokens to terminal styles; a token that a theme does not name takes its parent's style.
//! Invariant: parents form a tree that ends at [`Token::Text`].

/// What a run of text means.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Token {
    #[default]
    Text,
    Dim,
    Accent,
    Good,
    Bad,
    Warn,
    /// What cannot be taken back or lies outside: one colour for all of it.
    Danger,
    User,
    /// Behind a question.
    Question,
    BarUser,
    SignGood,
    SignBad,
    SignWarn,
    SignRun,
    Thought,
    Heading1,
    Heading2,
    Heading3,
    Code,
    CodeBlock,
    Link,
    Quote,
    Rule,
    TableHead,
    DiffAdd,
    DiffDel,
    DiffAddWord,
    DiffDelWord,
    DiffMeta,
    LineNumber,
    Dock,
    Selected,
    Placeholder,
    CodeKeyword,
    CodeString,
    CodeComment,
    CodeNumber,
    CodeType,
    CodeFunction,
}

impl Token {
    /// Every token with the dotted name that theme files use.
    pub const ALL: &'static [(Self, &'static str)] = &[
        (Self::Text, "text"),
        (Self::Dim, "dim"),
        (Self::Accent, "accent"),
        (Self::Good, "good"),
        (Self::Bad, "bad"),
        (Self::Warn, "warn"),
        (Self::Danger, "danger"),
        (Self::User, "user"),
        (Self::Question, "question"),
        (Self::BarUser, "bar.user"),
        (Self::SignGood, "sign.good"),
        (Self::SignBad, "sign.bad"),
        (Self::SignWarn, "sign.warn"),
        (Self::SignRun, "sign.run"),
        (Self::Thought, "thought"),
        (Self::Heading1, "md.heading.1"),
        (Self::Heading2, "md.heading.2"),
        (Self::Heading3, "md.heading.3"),
        (Self::Code, "md.code"),
        (Self::CodeBlock, "md.codeblock"),
        (Self::Link, "md.link"),
        (Self::Quote, "md.quote"),
        (Self::Rule, "md.rule"),
        (Self::TableHead, "md.table.head"),
        (Self::DiffAdd, "diff.add"),
        (Self::DiffDel, "diff.del"),
        (Self::DiffAddWord, "diff.add.word"),
        (Self::DiffDelWord, "diff.del.word"),
        (Self::DiffMeta, "diff.meta"),
        (Self::LineNumber, "line.number"),
        (Self::Dock, "dock"),
        (Self::Selected, "selected"),
        (Self::Placeholder, "placeholder"),
        (Self::CodeKeyword, "code.keyword"),
        (Self::CodeString, "code.string"),
        (Self::CodeComment, "code.comment"),
        (Self::CodeNumber, "code.number"),
        (Self::CodeType, "code.type"),
        (Self::CodeFunction, "code.function"),
    ];

    /// The token whose style is taken when a theme has none for this one; `None` for [`Token::Text`].
    pub const fn parent(self) -> Option<Self> {
        Some(match self {
            Self::Text => return None,
            Self::Thought
            | Self::Quote
            | Self::Rule
            | Self::LineNumber
            | Self::Placeholder
            | Self::DiffMeta
            | Self::CodeComment => Self::Dim,
            Self::Link | Self::Selected | Self::BarUser | Self::SignRun => Self::Accent,
            Self::Heading2 => Self::Heading1,
            Self::Heading3 => Self::Heading2,
            Self::DiffAdd | Self::SignGood => Self::Good,
            Self::DiffDel | Self::SignBad | Self::Danger => Self::Bad,
            Self::DiffAddWord => Self::DiffAdd,
            Self::DiffDelWord => Self::DiffDel,
            Self::Dock | Self::SignWarn => Self::Warn,
            Self::CodeBlock => Self::Code,
            Self::CodeNumber => Self::CodeString,
            _ => Self::Text,
        })
    }

    /// Signs, bars and rules: what they say stands beside them in words.
    pub const fn is_decoration(self) -> bool {
        matches!(self, Self::BarUser | Self::SignGood | Self::SignBad | Self::SignWarn | Self::SignRun | Self::Rule)
    }

    /// Whether whole rows may have its background, with other tokens on it.
    pub const fn is_fill(self) -> bool {
        matches!(self, Self::User | Self::Question | Self::DiffAdd | Self::DiffDel)
    }
}
