//! `login` and `logout`: starts the agent, does what it can do by itself, and says what only the person can do.
//!
//! A command that takes a terminal is not run here: it is given back to who has one. Invariant: every way out goes
//! through the engine's shutdown.

use super::code;
use super::verdict::{ON_SCREEN, Verdict, auth_verdict, death_verdict, log_in_line};
use crate::base::sanitize;
use crate::engine::wait::Signals;
use crate::engine::{Engine, Goodbye};
use crate::model::effect::FrontEnd;
use crate::model::event::{Asking, AuthKind, AuthMethod, Intent};
use crate::model::form::Reply;
use crate::model::ids::Addressed;
use crate::model::question::About;
use crate::model::session::Phase;
use crate::model::session_ref::SessionRef;
use std::io::{self, Write as _};

/// What came of it.
#[derive(Debug)]
pub struct Ended {
    pub code: u8,
    /// One line, and what follows from it.
    pub words: String,
    pub detail: Vec<String>,
    /// The way to log in that takes a terminal, or values that are typed there.
    pub run: Option<AuthKind>,
    pub goodbye: Goodbye,
}

/// Logs in with a method, by its id or name; without one with the only one there is. `agent` is the name by which the
/// agent was chosen.
pub async fn log_in(mut engine: Engine, method: Option<String>, agent: &str) -> io::Result<Ended> {
    let mut run = LogIn { signals: Signals::listen()?, printed: 0, logged_out: None };
    engine.intent(Intent::Start);
    let outcome = run.log_in(&mut engine, method.as_deref(), agent).await;
    engine.leave_nothing(code::hangs_up(outcome.verdict.code));
    Ok(outcome.ended(engine.shutdown().await))
}

/// `has_removed`: what was kept for the agent is removed, and that may be all that there is to do.
pub async fn log_out(mut engine: Engine, has_removed: bool) -> io::Result<Ended> {
    let mut run = LogIn { signals: Signals::listen()?, printed: 0, logged_out: None };
    engine.intent(Intent::Start);
    let outcome = run.log_out(&mut engine, has_removed).await;
    engine.leave_nothing(code::hangs_up(outcome.verdict.code));
    Ok(outcome.ended(engine.shutdown().await))
}

struct Outcome {
    verdict: Verdict,
    run: Option<AuthKind>,
}

impl Outcome {
    fn ended(self, goodbye: Goodbye) -> Ended {
        let Verdict { code, words, detail, .. } = self.verdict;
        Ended { code, words, detail, run: self.run, goodbye }
    }
}

impl From<Verdict> for Outcome {
    fn from(verdict: Verdict) -> Self {
        Self { verdict, run: None }
    }
}

struct LogIn {
    signals: Signals,
    /// Lines that the agent has printed for it and that were passed on.
    printed: usize,
    logged_out: Option<Result<(), String>>,
}

impl LogIn {
    async fn log_in(&mut self, engine: &mut Engine, method: Option<&str>, agent: &str) -> Outcome {
        if let Some(verdict) = self.until(engine, has_opened).await {
            return verdict.into();
        }
        let session = engine.model().first();
        let methods = &session.agent().auth_methods;
        let lines = || {
            let line = |m: &AuthMethod| format!("{}: {}", m.name, log_in_line(agent, session, &m.id));
            methods.iter().map(line).collect()
        };
        let is_ready = session.phase() == Phase::Ready;
        let chosen = match (method, methods.as_slice()) {
            (None, _) if is_ready => {
                let words = "the agent opens sessions as it is: nothing waits for a log-in";
                return Verdict { detail: lines(), ..Verdict::new(code::OK, words) }.into();
            }
            (None, [only]) => only.clone(),
            (None, _) => {
                let error = session.log_in().map(|log_in| log_in.error.clone());
                return error
                    .map_or_else(
                        || Verdict::new(code::AUTH, "the agent says of no way to log in"),
                        |error| auth_verdict(session, &error, agent),
                    )
                    .into();
            }
            (Some(wanted), all) => {
                match all.iter().find(|m| m.id == wanted).or_else(|| all.iter().find(|m| m.name == wanted)) {
                    Some(found) => found.clone(),
                    None => {
                        let words = format!("the agent offers no way to log in that is called {wanted}");
                        return Verdict { detail: lines(), ..Verdict::new(code::USAGE, words) }.into();
                    }
                }
            }
        };
        match &chosen.kind {
            AuthKind::Agent => self.by_agent(engine, &chosen, is_ready, agent).await.into(),
            AuthKind::Env { vars, .. } => {
                let words = format!("set {} in the environment, and start again", vars.join(", "));
                Outcome { verdict: Verdict::new(code::AUTH, words), run: Some(chosen.kind.clone()) }
            }
            AuthKind::Typed { .. } => Verdict::new(code::AUTH, format!("{}: {ON_SCREEN}", chosen.name)).into(),
            kind => Outcome { verdict: Verdict::new(code::OK, ""), run: Some(kind.clone()) },
        }
    }

    async fn by_agent(&mut self, engine: &mut Engine, method: &AuthMethod, is_ready: bool, agent: &str) -> Verdict {
        if is_ready {
            engine.intent(Intent::LogIn);
        }
        engine.intent(Intent::Authenticate { method: method.id.clone() });
        say(&format!("logging in: {}; Ctrl+C leaves it", method.name));
        let is_over = |engine: &Engine| {
            let log_in = engine.model().first().agent().log_in.as_ref();
            log_in.is_none_or(|log_in| log_in.attempt.is_none()) && has_opened(engine)
        };
        if let Some(verdict) = self.until(engine, is_over).await {
            return verdict;
        }
        let session = engine.model().first();
        match &session.agent().log_in {
            Some(log_in) => auth_verdict(session, &log_in.error, agent),
            None => Verdict::new(code::OK, format!("logged in: {}", method.name)),
        }
    }

    async fn log_out(&mut self, engine: &mut Engine, has_removed: bool) -> Outcome {
        if let Some(verdict) = self.until(engine, has_opened).await {
            return verdict.into();
        }
        if !engine.model().first().agent().caps.log_out {
            let words = "this agent cannot be told to log out; its own program may have a command for it";
            let code = if has_removed { code::OK } else { code::NOT_FINISHED };
            return Verdict::new(code, words).into();
        }
        let news = engine.intent(Intent::LogOut);
        self.note(&news);
        while self.logged_out.is_none() {
            if let Some(verdict) = self.step(engine).await {
                return verdict.into();
            }
        }
        match self.logged_out.take() {
            Some(Err(why)) => Verdict::new(code::NOT_FINISHED, format!("not logged out: {why}")).into(),
            _ => Verdict::new(code::OK, "logged out").into(),
        }
    }

    /// Waits until it is so; gives why it will not be.
    async fn until(&mut self, engine: &mut Engine, is_so: impl Fn(&Engine) -> bool) -> Option<Verdict> {
        while !is_so(engine) {
            let verdict = self.step(engine).await;
            if verdict.is_some() {
                return verdict;
            }
        }
        None
    }

    async fn step(&mut self, engine: &mut Engine) -> Option<Verdict> {
        tokio::select! {
            biased;
            signal = self.signals.next() => return Some(Verdict::new(signal.exit_code(), "interrupted")),
            wake = engine.next() => {
                let news = engine.step(wake);
                self.note(&news);
            }
        }
        while let Some(asked) = asked(engine.model().first()) {
            let news = engine.intent(asked);
            self.note(&news);
        }
        let session = engine.model().first();
        // What the agent prints is for the person: an address to visit, a code to type.
        let lines = session.log_in_lines();
        for line in lines.iter().skip(self.printed) {
            say(line);
        }
        self.printed = lines.len();
        match session.phase() {
            Phase::Dead(death) => Some(death_verdict(death)),
            _ => None,
        }
    }

    fn note(&mut self, news: &[Addressed<FrontEnd>]) {
        for one in news {
            if let FrontEnd::LoggedOut(result) = &one.what {
                self.logged_out = Some(result.clone());
            }
        }
    }
}

/// Answers what the agent asks meanwhile: a page is named for the person to open, a form cannot be filled in here.
fn asked(session: SessionRef<'_>) -> Option<Intent> {
    session.questions().iter().find_map(|question| {
        let About::Asked { asking, .. } = &question.about else { return None };
        let reply = match asking {
            Asking::Page(page) => {
                say(&format!("{}: {}", page.message, page.address));
                Reply::Visits
            }
            Asking::Form(form) => {
                say(&format!("declined, since a form can be filled in on the full screen only: {}", form.message));
                Reply::Decline
            }
        };
        Some(Intent::AnswerAsked { req: question.req, reply })
    })
}

/// The agent has opened a session, or has said why it does not.
fn has_opened(engine: &Engine) -> bool {
    matches!(engine.model().first().phase(), Phase::Ready | Phase::AuthNeeded | Phase::Dead(_))
}

fn say(words: &str) {
    // Standard error may be closed: then the line is dropped.
    let _ = writeln!(io::stderr(), "acp-tui: {}", sanitize::line(words));
}
