//! How a run ended, in a code and in words.
//!
//! Decides nothing: what happened is known when it is called. Invariant: the code and the words say the same.

use super::code;
use crate::engine::Engine;
use crate::engine::wait::Signal;
use crate::model::agent::{Death, DeathKind};
use crate::model::event::{AuthKind, CallError, PromptResult, Stop};
use crate::model::ids::AgentKey;
use crate::model::login::{command_line, quote};
use crate::model::session_ref::SessionRef;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    Signal(u8),
    Timeout,
    ReaderGone,
}

/// Why it ended: the code, one line, and lines below it.
#[derive(Debug)]
pub(super) struct Verdict {
    pub(super) code: u8,
    pub(super) words: String,
    pub(super) detail: Vec<String>,
    /// The agent's own words are in `detail`: `data`, or its last lines on stderr.
    pub(super) has_words: bool,
    pub(super) result: Option<PromptResult>,
}

impl Verdict {
    pub(super) fn new(code: u8, words: impl Into<String>) -> Self {
        Self { code, words: words.into(), detail: Vec::new(), has_words: false, result: None }
    }

    /// With what the agent itself has to say, if anything.
    pub(super) fn with_words(mut self, words: Vec<String>) -> Self {
        self.has_words = !words.is_empty();
        self.detail = words;
        self
    }

    /// A signal came before it was told. One that was cut short stays as it is.
    pub(super) fn signalled(self, signal: Signal) -> Self {
        if code::is_cut(self.code) {
            return self;
        }
        Self { result: self.result, ..cancel_verdict(Cause::Signal(signal.exit_code())) }
    }

    /// What went well is not all seen where the session's directory has become another one, or none.
    pub(super) fn displaced(self, words: Option<&str>) -> Self {
        match words {
            Some(words) if self.code == code::OK => {
                Self { result: self.result, has_words: true, ..Self::new(code::OWN_FAULT, words) }
            }
            _ => self,
        }
    }

    /// Adds what the agent last wrote to stderr, where it gave no `data`.
    pub(super) async fn complete(&mut self, engine: &Engine) {
        if self.code == code::OK || self.has_words {
            return;
        }
        self.has_words = true;
        let mut detail = engine.last_words(AgentKey::FIRST).await;
        detail.append(&mut self.detail);
        let session = engine.model().first();
        detail.extend(session.agent().stray_start());
        let is_stuck = self.code == code::TIMEOUT && session.id.is_none();
        detail.extend(session.agent().confinement().filter(|_| is_stuck).map(str::to_owned));
        self.detail = detail;
    }
}

pub(super) fn stop_verdict(result: PromptResult) -> Verdict {
    let words = match &result.stop {
        Stop::EndTurn => String::new(),
        Stop::Cancelled => "stopped by the agent (cancelled)".to_owned(),
        stop => format!("the turn ended with {}", stop_name(stop).unwrap_or("no stop reason")),
    };
    let code = if result.stop == Stop::EndTurn { code::OK } else { code::NOT_FINISHED };
    Verdict { result: Some(result), ..Verdict::new(code, words) }
}

pub(super) fn stop_name(stop: &Stop) -> Option<&str> {
    Some(match stop {
        Stop::EndTurn => "end_turn",
        Stop::MaxTokens => "max_tokens",
        Stop::MaxTurnRequests => "max_turn_requests",
        Stop::Refusal => "refusal",
        Stop::Cancelled => "cancelled",
        Stop::Odd(raw) => return raw.as_deref(),
    })
}

pub(super) fn cancel_verdict(cause: Cause) -> Verdict {
    match cause {
        Cause::Signal(code) => Verdict::new(code, "interrupted"),
        Cause::Timeout => Verdict::new(code::TIMEOUT, "the time given with --timeout is over"),
        Cause::ReaderGone => Verdict::new(code::READER_GONE, "the reader of the output has gone away"),
    }
}

pub(super) fn death_verdict(death: &Death) -> Verdict {
    let mut verdict = Verdict::new(code::NO_SESSION, death.message.clone()).with_words(death.detail.clone());
    if !death.hint.is_empty() {
        verdict.detail.push(death.hint.clone());
    }
    verdict
}

/// A session that was kept does not go on: what helps is said.
pub(super) fn kept_verdict(death: &Death) -> Verdict {
    let mut verdict = death_verdict(death);
    if death.kind == DeathKind::Refused {
        verdict.detail.retain(|line| *line != death.hint);
    }
    verdict.detail.push("`--with-transcript` begins a new session with an account of this one".to_owned());
    verdict
}

/// What is typed for it is kept nowhere.
pub(super) const ON_SCREEN: &str = "it is typed on the screen, where `acp-tui` is started without exec or login";

/// The agent's message, the methods, and for each the command to type.
pub(super) fn auth_verdict(session: SessionRef<'_>, error: &CallError, login: &str) -> Verdict {
    let words = format!("log-in needed: {}", error.message);
    let mut verdict = Verdict::new(code::AUTH, words).with_words(error.data_lines());
    let methods = &session.agent().auth_methods;
    if methods.is_empty() {
        verdict.detail.push("the agent requires authentication but offers no method".into());
    }
    for method in methods {
        let how = match &method.kind {
            AuthKind::Env { vars, .. } => {
                let line = log_in_line(login, session, &method.id);
                format!("set {} and start again, or have it kept: {line}", vars.join(", "))
            }
            AuthKind::Agent => log_in_line(login, session, &method.id),
            AuthKind::Typed { .. } => ON_SCREEN.to_owned(),
            AuthKind::Terminal { .. } | AuthKind::Command { .. } => {
                let line = command_line(session.agent(), &method.kind).unwrap_or_default();
                format!("{}, which runs {line}", log_in_line(login, session, &method.id))
            }
        };
        verdict.detail.push(format!("{}: {how}", method.name));
    }
    verdict
}

/// What is typed to log in with this method: `login` names the agent as the person has named it; where that is its
/// command, that stands at the end.
pub(super) fn log_in_line(login: &str, session: SessionRef<'_>, method: &str) -> String {
    match login {
        "" => format!("acp-tui login {} -- {}", quote(method), session.agent().command),
        name => format!("acp-tui login {} {}", quote(name), quote(method)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_that_comes_before_the_result_is_told_is_the_code_unless_the_run_was_cut_already() {
        let stopped = || stop_verdict(PromptResult { stop: Stop::EndTurn, usage: None });
        let signalled = stopped().signalled(Signal::Terminate);
        assert_eq!((signalled.code, signalled.words.as_str()), (143, "interrupted"));
        assert_eq!(signalled.result.map(|result| result.stop), Some(Stop::EndTurn), "it has ended all the same");
        for cause in [Cause::Timeout, Cause::Signal(code::INTERRUPTED)] {
            let cut = cancel_verdict(cause);
            assert_eq!(cancel_verdict(cause).signalled(Signal::Terminate).code, cut.code);
        }
        assert_eq!(Verdict::new(code::NOT_FINISHED, "no luck").signalled(Signal::Interrupt).code, 130);
    }
}
