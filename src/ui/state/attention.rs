//! What a session wants of the person.
//!
//! Read from the session and from what has been looked at of it; keeps nothing. Invariant: the order of the states is the
//! order of urgency.

use super::session_view::SessionView;
use crate::model::agent::DeathKind;
use crate::model::session::Phase;
use crate::model::session_ref::SessionRef;
use crate::text::token::Token;

/// What a session wants of the person, the most urgent first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Attention {
    /// A question or a log-in.
    Waits,
    Died,
    /// The agent did not open it.
    Refused,
    /// A turn has ended that the person has not looked at.
    Done,
    Works,
    Starts,
    Nothing,
}

impl Attention {
    pub fn of(session: SessionRef<'_>, view: &SessionView) -> Self {
        match session.phase() {
            _ if session.waiting().next().is_some() || session.waits_for_person() => Self::Waits,
            Phase::Dead(death) if death.kind == DeathKind::Refused => Self::Refused,
            Phase::Dead(_) => Self::Died,
            Phase::NotStarted
            | Phase::Starting { .. }
            | Phase::Opening { .. }
            | Phase::PutOff { .. }
            | Phase::AuthNeeded
            | Phase::Authenticating { .. } => Self::Starts,
            Phase::Ready if session.turn.is_some() => Self::Works,
            Phase::Ready if view.has_news => Self::Done,
            Phase::Ready | Phase::ReadOnly(_) => Self::Nothing,
        }
    }

    pub const fn words(self) -> &'static str {
        match self {
            Self::Waits => "waits for you",
            Self::Died => "died",
            Self::Refused => "refused",
            Self::Done => "done",
            Self::Works => "works",
            Self::Starts => "starts",
            Self::Nothing => "",
        }
    }

    pub const fn sign(self) -> &'static str {
        match self {
            Self::Waits => "?",
            Self::Died | Self::Refused => "✗",
            Self::Done => "✓",
            Self::Works => "…",
            Self::Starts => "·",
            Self::Nothing => "",
        }
    }

    pub const fn token(self) -> Token {
        match self {
            Self::Waits => Token::Warn,
            Self::Died | Self::Refused => Token::Bad,
            Self::Done => Token::Good,
            Self::Works | Self::Starts | Self::Nothing => Token::Dim,
        }
    }
}
