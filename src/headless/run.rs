//! `exec`: starts the agent, sets mode and options, sends the prompt, waits for its end, says how it went.
//!
//! Permissions and services are decided in the model (`Policy::Auto`). Invariant: every way out goes through the
//! engine's shutdown.

use super::answers::{self, Answers};
use super::code;
use super::print::{Follower, Form, Last, json_line, usage_line};
use super::printer::{Printer, reader_patience};
use super::reading::Reading;
use super::said::Said;
use super::settings::{Setting, mode_back, mode_setting, model_setting, name_of, option_setting, setting_state};
use super::stop;
use super::verdict::{
    Cause, Verdict, auth_verdict, cancel_verdict, death_verdict, kept_verdict, stop_name, stop_verdict,
};
use crate::base::patience;
use crate::engine::wait::{Signal, Signals, sleep_until};
use crate::engine::{Engine, Goodbye};
use crate::model::agent::{Death, DeathKind, NO_DIRECTORIES, REVIVALS};
use crate::model::effect::{Ended, FrontEnd};
use crate::model::event::{Before, Can, Intent, Link, Opening};
use crate::model::ids::{Addressed, SessionKey, TurnId};
use crate::model::question::Waiting;
use crate::model::session::{Closed, Phase, SessionState};
use crate::model::session_ref::SessionRef;
use serde_json::{Value, json};
use std::io::{self, Write};
use std::pin::pin;
use std::time::{Duration, Instant};
use tracing::{info, warn};

/// How long a turn may take to show that it still runs, once its session is there again.
const REGAINED: Duration = Duration::from_secs(1);
/// Quiet that ends the reading after the answer, and the most that is waited for it.
const QUIET: Duration = Duration::from_millis(250);
const QUIET_LIMIT: Duration = Duration::from_secs(2);
/// The same once the time given is over.
const LATE_QUIET: Duration = Duration::from_millis(250);
/// How long the review may take to look at what a turn has left, where no time is set.
const REVIEW_PATIENCE: Duration = Duration::from_mins(10);
/// What is said when a further turn begins.
const GOES_ON: &str = "the agent is told why that was refused, in a further turn";
/// How long the agent is not started for the sake of the first look at the files; as long as a prompt waits for one.
const FIRST_LOOK: Duration = Duration::from_secs(30);
/// How long the thread that writes may take to say that it has written everything.
const LAST_WORD: Duration = Duration::from_millis(100);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    Text,
    Json,
}

#[derive(Debug)]
pub struct ExecOptions {
    pub prompt: String,
    pub style: Style,
    pub model: Option<String>,
    pub mode: Option<String>,
    /// The one that the session is to have again, where no other is asked for.
    pub mode_back: Option<String>,
    pub options: Vec<(String, String)>,
    /// When the time given is over.
    pub deadline: Option<Instant>,
    /// For the forms of the agent; without them, all are declined.
    pub answers: Option<Answers>,
    /// The session that the prompt is for.
    pub opening: Opening,
    /// How long ago its agent has opened that one, where it is an earlier one.
    pub age: Option<Duration>,
    /// The name by which the agent was chosen; empty where its command was given.
    pub agent: String,
    /// Files that go along with the prompt.
    pub attached: Vec<Link>,
    /// With what a new session begins where that one cannot go on.
    pub account: Option<Account>,
}

/// What is known of a conversation, for an agent that has not had it.
#[derive(Debug)]
pub struct Account {
    pub text: String,
    pub before: Before,
}

#[derive(Debug)]
pub struct Outcome {
    pub code: u8,
    pub goodbye: Goodbye,
    /// The name of the review that was kept of it.
    pub review: Option<String>,
    /// Until when its last look may be waited for; nothing when there is time.
    pub until: Option<Instant>,
}

#[derive(Debug, PartialEq, Eq)]
enum Stage {
    Opening,
    /// What is still to be set before the prompt goes out.
    Setting(Vec<Setting>),
    Prompted,
    /// The connection broke in the middle of the turn, and why; once the session is there again, until when the turn may show
    /// that it still runs.
    Broken(String, Option<Instant>),
    /// Cancelled: by what, and until when its confirmation is awaited.
    Cancelling(Cause, Instant),
    /// Answered: the last sign of the agent, and when to stop at the latest.
    Quieting(Instant, Instant),
}

/// Runs one prompt. Output goes to `stdout`, everything else to standard error.
pub async fn run(mut engine: Engine, options: ExecOptions, stdout: impl Write + Send + 'static) -> io::Result<Outcome> {
    let form = if options.style == Style::Json { Form::Json } else { Form::Text };
    let mut follower = Follower::new(form);
    if options.opening != Opening::New {
        follower.leave_out_history();
        options.age.into_iter().for_each(|age| engine.opened_before(age));
        engine.intent(Intent::OpenAs(options.opening.clone()));
    }
    let reading = Reading::begins(Instant::now(), options.opening != Opening::New);
    let mut exec = Exec {
        follower,
        printer: Printer::new(stdout),
        said: Said::new(),
        stage: Stage::Opening,
        verdict: None,
        options,
        unreviewed: None,
        before: None,
        tried: 0,
        reading,
    };
    // One listener for all: a signal between two waits is not lost.
    let mut signals = Signals::listen()?;
    let mut verdict = exec.drive(&mut engine, &mut signals).await;
    exec.follower.leave_to_the_end(&verdict.words);
    if code::is_cut(verdict.code) {
        // While the rest is looked at and written.
        engine.hurry(Duration::ZERO);
        engine.begin_to_end();
    }
    let (until, signal) = exec.wait_for_review(&mut engine, verdict.code, &mut signals).await;
    if let Some(signal) = signal {
        verdict = verdict.signalled(signal);
    }
    verdict = verdict.displaced(engine.model().first().changes().displaced.as_deref());
    verdict.complete(&engine).await;
    exec.print(&engine, Last::Yes);
    if form == Form::Json {
        if let Some(tokens) = verdict.result.as_ref().and_then(|result| result.usage.as_ref()) {
            let usage = engine.model().first().session().usage.as_ref();
            exec.printer.print(json_line(usage_line(usage, Some(tokens))));
        }
        exec.printer.print(result_line(&verdict, engine.model().first()));
    } else {
        exec.printer.print(exec.follower.last_newline().into());
    }
    let deadline = exec.options.deadline;
    let Exec { printer, mut said, .. } = exec;
    let mut writing = pin!(printer.finish());
    let written = tokio::select! {
        biased;
        error = &mut writing => Ok(error),
        // A reader that has got the result already may have sent the signal.
        code = reader_patience(verdict.code, deadline, &mut signals) => {
            tokio::time::timeout(LAST_WORD, &mut writing).await.map_err(|_| code)
        }
    };
    let mut verdict = match written {
        // The reader does not read. What could not be written dies with us.
        Err(code) if code != verdict.code => {
            cancel_verdict(if code == code::TIMEOUT { Cause::Timeout } else { Cause::Signal(code) })
        }
        Ok(Some(error)) if error.kind() == io::ErrorKind::BrokenPipe => cancel_verdict(Cause::ReaderGone),
        Ok(Some(error)) => Verdict::new(code::OWN_FAULT, format!("writing the output failed: {error}")),
        Err(_) | Ok(None) => verdict,
    };
    verdict.complete(&engine).await;
    info!(code = verdict.code, "the run is over");
    if verdict.code != code::OK {
        said.say(&verdict.words, &verdict.detail);
    }
    said.finish().await;
    if code::is_cut(verdict.code) {
        engine.hurry(Duration::ZERO);
    } else if let Some(deadline) = deadline {
        engine.hurry(deadline.saturating_duration_since(Instant::now()));
    }
    engine.leave_nothing(code::hangs_up(verdict.code));
    let review = engine.model().first().changes().is_on.then(|| engine.stem());
    Ok(Outcome { code: verdict.code, goodbye: engine.shutdown_by(until).await, review, until })
}

struct Exec {
    follower: Follower,
    printer: Printer,
    /// For standard error.
    said: Said,
    stage: Stage,
    options: ExecOptions,
    /// Known before the quiet has passed.
    verdict: Option<Verdict>,
    /// The turn has ended and its changes are not known yet.
    unreviewed: Option<TurnId>,
    /// The last turn before the prompt, once that is handed over.
    before: Option<TurnId>,
    /// The last attempt to open a connection again that was told.
    tried: u8,
    reading: Reading,
}

impl Exec {
    async fn drive(&mut self, engine: &mut Engine, signals: &mut Signals) -> Verdict {
        tokio::select! {
            biased;
            signal = signals.next() => return cancel_verdict(Cause::Signal(signal.exit_code())),
            () = sleep_until(self.options.deadline) => return cancel_verdict(Cause::Timeout),
            () = engine.first_look(FIRST_LOOK) => {}
        }
        let mut news = engine.intent(Intent::Start);
        loop {
            if let Some(verdict) = self.advance(engine, news) {
                return verdict;
            }
            self.print(engine, Last::No);
            let behind = self.printer.is_behind() || self.said.is_behind();
            let (until, is_over) = (self.wake_at(), matches!(self.stage, Stage::Quieting(..)));
            news = Vec::new();
            tokio::select! {
                biased;
                signal = signals.next() => {
                    if let Some(verdict) = self.cancel(engine, Cause::Signal(signal.exit_code())) {
                        return verdict;
                    }
                }
                // In a flood there is always something to write.
                () = sleep_until(until), if !is_over => if let Some(verdict) = self.time_passed(engine) {
                    return verdict;
                },
                gone = self.printer.pump() => if gone.is_err()
                    && let Some(verdict) = self.cancel(engine, Cause::ReaderGone) {
                        return verdict;
                },
                () = self.said.pump() => {}
                () = sleep_until(until), if is_over => if let Some(verdict) = self.time_passed(engine) {
                    return verdict;
                },
                wake = engine.next(), if !behind => {
                    let before = engine.version();
                    news = engine.step(wake);
                    news.extend(engine.drain(Duration::from_millis(4)));
                    if let Stage::Quieting(since, _) = &mut self.stage
                        && engine.version() != before
                    {
                        *since = Instant::now();
                    }
                }
            }
        }
    }

    /// Looks at where the model stands and does the next step.
    fn advance(&mut self, engine: &mut Engine, mut news: Vec<Addressed<FrontEnd>>) -> Option<Verdict> {
        while let Some(answered) = answers::next(engine.model().first(), self.options.answers.as_ref()) {
            if self.options.style == Style::Json {
                self.printer.print(answered.line);
            }
            answered.words.iter().for_each(|words| self.said.say(words, &[]));
            let (req, reply) = (answered.req, answered.reply);
            news.extend(engine.intent(Intent::AnswerAsked { req, reply }));
        }
        for item in news {
            match item.what {
                // The agent may have worked before it was given anything to do.
                FrontEnd::TurnEnded(turn, ended, _) if self.before.is_some_and(|before| turn > before) => {
                    self.unreviewed = Some(turn);
                    // Why a rule has refused something goes to the agent in a turn of its own.
                    let goes_on =
                        engine.model().first().session().turn.as_ref().is_some_and(|next| !next.prompt.is_empty());
                    if !goes_on || self.is_cancelled() {
                        self.ended(engine.model().first(), ended);
                    } else {
                        self.said.say(GOES_ON, &[]);
                    }
                }
                // What it names cannot go along; why was said.
                FrontEnd::Returned(_) if self.is_unsent(engine) => {
                    return Some(Verdict::new(code::USAGE, "the prompt was not sent"));
                }
                FrontEnd::TurnReviewed(turn) => self.reviewed(turn),
                _ => {}
            }
        }
        // There is no person to log in; what else could wait has been judged.
        let log_in = |waiting| if let Waiting::LogIn(log_in) = waiting { Some(log_in) } else { None };
        if let Some(log_in) = engine.model().first().waiting().find_map(log_in) {
            return Some(auth_verdict(engine.model().first(), &log_in.error, &self.options.agent));
        }
        match engine.model().first().phase() {
            Phase::Dead(death) if self.is_opened_again(engine.model().first(), death) => return None,
            Phase::Dead(death) if !matches!(self.stage, Stage::Quieting(..)) => {
                if let Stage::Cancelling(cause, _) = self.stage {
                    return Some(cancel_verdict(cause));
                }
                let is_refused = matches!(engine.model().first().state, SessionState::Closed(Closed::Refused(_)));
                let has_begun = !matches!(death.kind, DeathKind::NotStarted | DeathKind::Early);
                if (is_refused || has_begun && self.stage == Stage::Opening)
                    && let Some(Account { text, before }) = self.options.account.take()
                {
                    self.said.say("a new session begins with its transcript", &[]);
                    self.options.opening = Opening::New;
                    self.options.prompt = format!("{text}\n\n{}", self.options.prompt);
                    let news = engine.intent(Intent::OpenAs(Opening::After(before)));
                    return self.advance(engine, news);
                }
                let is_kept = self.options.opening.kept().is_some() && self.stage == Stage::Opening;
                return Some(if is_kept { kept_verdict(death) } else { death_verdict(death) });
            }
            Phase::Dead(_) => return self.verdict.take(),
            Phase::Ready => self.look_for_the_turn(engine.model().first()),
            _ => {}
        }
        if self.stage == Stage::Opening && engine.model().first().phase() == Phase::Ready {
            let caps = engine.model().first().agent().caps;
            if !caps.sessions.has(Can::Directories) && !engine.model().directories(SessionKey::FIRST).is_empty() {
                return Some(Verdict::new(code::USAGE, format!("--add-dir: {NO_DIRECTORIES}")));
            }
            let fitting = std::mem::take(&mut self.options.attached).into_iter().map(|link| link.fit(&caps));
            let settings = fitting.collect::<Result<_, _>>().and_then(|attached| {
                self.options.attached = attached;
                self.settings(engine.model().first())
            });
            match settings {
                Ok(settings) => self.stage = Stage::Setting(settings),
                Err(words) => return Some(Verdict::new(code::USAGE, words)),
            }
            self.set_next(engine);
        }
        if let Stage::Setting(settings) = &self.stage {
            match settings.first() {
                Some(setting) => match setting_state(engine.model().first(), setting) {
                    Some(true) => {
                        self.drop_setting();
                        self.set_next(engine);
                        return self.advance(engine, Vec::new());
                    }
                    Some(false) => {
                        let words = format!("the agent did not take {}", name_of(setting));
                        return Some(Verdict::new(code::NOT_FINISHED, words));
                    }
                    None => {}
                },
                None => {
                    self.stage = Stage::Prompted;
                    self.follower.begin(engine.model().first());
                    self.before = Some(engine.model().first().last_turn());
                    let text = std::mem::take(&mut self.options.prompt);
                    let news =
                        engine.intent(Intent::Prompt { text, links: std::mem::take(&mut self.options.attached) });
                    return self.advance(engine, news);
                }
            }
        }
        None
    }

    /// Whether a connection that broke is tried again by itself; nothing is said to the agent twice (S-145).
    fn is_opened_again(&mut self, session: SessionRef<'_>, death: &Death) -> bool {
        let Some(revival) = session.agent().revival.filter(|_| death.kind.is_of_connection()) else { return false };
        match self.stage {
            Stage::Setting(_) => self.stage = Stage::Opening,
            Stage::Prompted => self.stage = Stage::Broken(death.message.clone(), None),
            Stage::Opening | Stage::Broken(..) => {}
            Stage::Cancelling(..) | Stage::Quieting(..) => return false,
        }
        if std::mem::replace(&mut self.tried, revival.attempt) != revival.attempt {
            let left = revival.at.saturating_sub(death.at).as_secs_f32();
            let words =
                format!("{}; it is tried again in {left:.1} s ({} of {REVIVALS})", death.message, revival.attempt);
            self.said.say(&words, &[]);
        }
        true
    }

    /// The session is there again: the turn goes on where the agent says that it runs.
    fn look_for_the_turn(&mut self, session: SessionRef<'_>) {
        let Stage::Broken(_, until) = &mut self.stage else { return };
        if session.session().turn.is_some() {
            self.said.say("the session is there again, and the turn still runs", &[]);
            self.stage = Stage::Prompted;
        } else {
            until.get_or_insert_with(|| Instant::now() + REGAINED);
        }
    }

    /// The prompt was handed over and no turn has begun with it, although one could.
    fn is_unsent(&self, engine: &Engine) -> bool {
        let session = engine.model().first();
        self.before == Some(session.last_turn()) && session.phase() == Phase::Ready
    }

    const fn is_cancelled(&self) -> bool {
        matches!(self.stage, Stage::Cancelling(..))
    }

    fn reviewed(&mut self, turn: TurnId) {
        self.unreviewed = self.unreviewed.filter(|waiting| *waiting > turn);
    }

    /// Waits until the changes of the turn are known, so that an undo that follows takes all of them back. Ends early
    /// with a signal and soon after the time is over; what is missing then is looked at when the review is opened.
    /// Gives until when more may be waited for, and the signal.
    async fn wait_for_review(
        &mut self,
        engine: &mut Engine,
        code: u8,
        signals: &mut Signals,
    ) -> (Option<Instant>, Option<Signal>) {
        let deadline = self.options.deadline;
        let soon = || Some(stop::look_until(Instant::now(), deadline));
        let end = match code {
            code if code::is_cut(code) => soon(),
            _ => deadline.map(|end| stop::look_until(end.max(Instant::now()), deadline)),
        };
        let patience = Instant::now() + REVIEW_PATIENCE;
        let until = end.map_or(patience, |end| end.min(patience));
        self.print(engine, Last::No);
        let mut has_reader = true;
        while self.unreviewed.is_some() && engine.model().first().changes().is_on {
            tokio::select! {
                biased;
                signal = signals.next() => return (soon(), Some(signal)),
                gone = self.printer.pump(), if has_reader => has_reader = gone.is_ok(),
                () = self.said.pump() => {}
                () = sleep_until(Some(until)) => {
                    warn!(patience = ?REVIEW_PATIENCE, "the review of the turn is not done in time");
                    self.said.say("the changes of the turn are still being looked at; an undo may miss some", &[]);
                    return (end, None);
                }
                wake = engine.next() => {
                    for item in engine.step(wake) {
                        if let FrontEnd::TurnReviewed(turn) = item.what {
                            self.reviewed(turn);
                        }
                    }
                }
            }
        }
        tokio::select! {
            biased;
            signal = signals.next() => (soon(), Some(signal)),
            () = std::future::ready(()) => (end, None),
        }
    }

    fn drop_setting(&mut self) {
        if let Stage::Setting(settings) = &mut self.stage
            && !settings.is_empty()
        {
            settings.remove(0);
        }
    }

    fn set_next(&mut self, engine: &mut Engine) {
        let Stage::Setting(settings) = &self.stage else { return };
        match settings.first().cloned() {
            Some(Setting::Mode(id)) => drop(engine.intent(Intent::SetMode { id })),
            Some(Setting::Option(id, value)) => drop(engine.intent(Intent::SetOption { id, value })),
            None => {}
        }
    }

    /// What `--model`, `--mode` and `--config` ask for, or why that is not possible.
    fn settings(&self, session: SessionRef<'_>) -> Result<Vec<Setting>, String> {
        let mut settings = Vec::new();
        if let Some(id) = &self.options.model {
            settings.push(model_setting(session, id)?);
        }
        if let Some(id) = &self.options.mode {
            settings.push(mode_setting(session, id)?);
        } else if let Some(id) = &self.options.mode_back {
            settings.extend(mode_back(session, id));
        }
        for (id, value) in &self.options.options {
            settings.push(option_setting(session, id, value)?);
        }
        Ok(settings)
    }

    fn ended(&mut self, session: SessionRef<'_>, ended: Ended) {
        let verdict = match (&self.stage, ended) {
            (Stage::Cancelling(cause, _), _) => cancel_verdict(*cause),
            (_, Ended::Stopped(result)) => stop_verdict(result),
            (_, Ended::Failed(error)) if error.is_auth() => auth_verdict(session, &error, &self.options.agent),
            (_, Ended::Failed(error)) => {
                Verdict::new(code::NOT_FINISHED, error.as_answer()).with_words(error.data_lines())
            }
            // The phase tells.
            (_, Ended::Gone) => return,
        };
        self.follower.leave_to_the_end(&verdict.words);
        self.verdict = Some(verdict);
        let now = Instant::now();
        let late = self.options.deadline.map(|deadline| deadline.max(now) + LATE_QUIET);
        let limit = now + QUIET_LIMIT;
        self.stage = Stage::Quieting(now, late.map_or(limit, |late| late.min(limit)));
    }

    fn cancel(&mut self, engine: &mut Engine, cause: Cause) -> Option<Verdict> {
        if engine.model().first().session().turn.is_none() || matches!(self.stage, Stage::Cancelling(..)) {
            return Some(match self.verdict.take() {
                Some(verdict) if cause == Cause::Timeout => verdict,
                _ => cancel_verdict(cause),
            });
        }
        info!(?cause, "cancels the turn");
        let now = Instant::now();
        let news = engine.intent(Intent::Cancel);
        // In a flood, and beside commands that burn the processor, it is noticed late that the time is over.
        let earliest = now.checked_sub(patience::LATE / 2).unwrap_or(now);
        let over = self.options.deadline.map_or(now, |deadline| deadline.clamp(earliest, now));
        let until = match cause {
            Cause::Signal(_) => now + patience::CUT,
            Cause::Timeout => over + patience::LATE,
            Cause::ReaderGone => {
                let late = self.options.deadline.map(|deadline| deadline.max(now) + patience::LATE);
                late.map_or(now + patience::UNWATCHED, |late| late.min(now + patience::UNWATCHED))
            }
        };
        if cause != Cause::ReaderGone {
            engine.end_commands();
        }
        self.stage = Stage::Cancelling(cause, until);
        self.advance(engine, news)
    }

    fn wake_at(&self) -> Option<Instant> {
        let stage = match &self.stage {
            Stage::Cancelling(_, until) => Some(*until),
            Stage::Quieting(since, limit) => Some((*since + QUIET).min(*limit)),
            Stage::Broken(_, until) => *until,
            _ => None,
        };
        let deadline =
            self.options.deadline.filter(|_| !matches!(self.stage, Stage::Quieting(..) | Stage::Cancelling(..)));
        [stage, deadline, self.reading.until()].into_iter().flatten().min()
    }

    fn time_passed(&mut self, engine: &mut Engine) -> Option<Verdict> {
        if self.reading.passed(Instant::now()) {
            if engine.model().first().awaits_earlier() {
                self.said.say("reading what was said in this session before", &[]);
            }
            return None;
        }
        match &self.stage {
            Stage::Broken(why, Some(until)) if *until <= Instant::now() => {
                let detail =
                    "the session is there again, but nothing says that the turn still runs; --continue goes on in it";
                Some(Verdict::new(code::NO_SESSION, why.clone()).with_words(vec![detail.to_owned()]))
            }
            Stage::Quieting(..) => self.verdict.take(),
            Stage::Cancelling(cause, _) => {
                warn!(?cause, "the agent did not confirm the cancel in time");
                Some(cancel_verdict(*cause))
            }
            _ => self.cancel(engine, Cause::Timeout),
        }
    }

    fn print(&mut self, engine: &Engine, last: Last) {
        let printed = self.follower.follow(engine.model().first(), last);
        self.printer.print(printed.stdout);
        self.said.print(printed.stderr);
    }
}

fn result_line(verdict: &Verdict, session: SessionRef<'_>) -> String {
    let stop = verdict.result.as_ref().and_then(|r| stop_name(&r.stop));
    let usage = verdict.result.as_ref().and_then(|r| r.usage.clone());
    let context = session.usage.as_ref().map(|u| {
        json!({ "used": u.used, "size": u.size,
                "cost": u.cost.as_ref().map(|(amount, unit)| json!({ "amount": amount, "currency": unit })) })
    });
    let error: Value = if verdict.code == code::OK {
        Value::Null
    } else {
        json!({ "message": verdict.words, "detail": verdict.detail })
    };
    json_line(json!({
        "type": "result",
        "stop_reason": stop,
        "session_id": session.id.as_ref().map(|s| s.as_str()),
        "usage": usage,
        "context": context,
        "exit_code": verdict.code,
        "error": error,
    }))
}
