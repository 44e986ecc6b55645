//! The loop: lines of the person to the engine, what comes of them to standard output.
//!
//! Invariants: every way out goes through the engine's shutdown; a prompt that cannot be sent is printed again; where
//! nobody types, a line is read when something can be done with it.

use super::QUOTE;
use super::ask::{self, Answered, Asked};
use super::changes;
use super::command::{self, BLOCK, Command, Said};
use super::ending::{Over, Unknown};
use super::input::{Heard, Input};
use super::liveness::Liveness;
use super::settings;
use super::standing;
use super::tell::{Teller, Upto};
use crate::base::sanitize;
use crate::engine::wait::{Signal, Signals, sleep_until};
use crate::engine::{Engine, Goodbye};
use crate::headless::code;
use crate::headless::printer::Printer;
use crate::model::changes::{Gate, ReviewAction, ReviewDoc, Scope, Target, Verdict};
use crate::model::effect::FrontEnd;
use crate::model::event::{Intent, Opening, QueueAct};
use crate::model::ids::{Addressed, Now};
use crate::model::options::model_choice;
use crate::model::permission_mode::{ModeChoice, PermissionMode};
use crate::model::session::Phase;
use crate::model::session_ref::SessionRef;
use crate::ui::labels::{self, GoesOn};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Behind the mode that asks nothing.
const SURE: &str = " yes";
/// How long the end of a turn, and the next line, wait for what the review has found.
const REVIEW_PATIENCE: Duration = Duration::from_secs(5);
/// The same where the next turn has begun: so long nothing is told of it.
const REVIEW_PATIENCE_IN_TURN: Duration = Duration::from_secs(1);
/// How long the agent is not started for the sake of the first look at the files.
const FIRST_LOOK: Duration = Duration::from_secs(30);
/// How long the rest of the output may take at the end.
const LAST_OUTPUT: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub struct Options {
    pub opening: Opening,
    pub home: Option<PathBuf>,
    /// Set before the first prompt.
    pub model: Option<String>,
    /// What is to be said first.
    pub warnings: Vec<String>,
}

#[derive(Debug)]
pub struct Ended {
    pub code: u8,
    pub goodbye: Goodbye,
    /// The session, where it can be gone on with.
    pub can_go_on: Option<GoesOn>,
    /// Hunks of it that wait for a decision.
    pub undecided: u64,
}

struct Plain {
    options: Options,
    input: Input,
    printer: Printer,
    teller: Teller,
    asked: Option<Asked>,
    liveness: Liveness,
    /// The lines of a prompt of several.
    block: Option<String>,
    over: Option<Over>,
    unknown: Unknown,
    /// The state that was told last.
    told: String,
    /// How many prompts were held when that was told last.
    told_held: usize,
    /// The changes are to be printed, of all files or of this one, once others are shown than these.
    wants_changes: Option<(Option<PathBuf>, Option<Arc<ReviewDoc>>)>,
    /// Until when what was asked of the review is waited for.
    acting: Option<Instant>,
    has_ended: bool,
    is_stopping: bool,
    code: Option<u8>,
}

/// Runs a session until its input ends or the person quits.
///
/// # Errors
/// Signals cannot be listened to.
pub async fn run(
    mut engine: Engine,
    mut options: Options,
    input: Input,
    stdout: impl Write + Send + 'static,
) -> io::Result<Ended> {
    if options.opening != Opening::New {
        engine.intent(Intent::OpenAs(options.opening.clone()));
    }
    let warnings = std::mem::take(&mut options.warnings);
    let mut plain = Plain {
        teller: Teller::new(input.by_hand),
        options,
        input,
        printer: Printer::new(stdout),
        asked: None,
        liveness: Liveness::default(),
        block: None,
        over: None,
        unknown: Unknown::default(),
        told: String::new(),
        told_held: 0,
        wants_changes: None,
        acting: None,
        has_ended: false,
        is_stopping: false,
        code: None,
    };
    for words in warnings {
        plain.say(&format!("warning: {words}"));
    }
    let mut signals = Signals::listen()?;
    let code = plain.drive(&mut engine, &mut signals).await;
    let Plain { printer, .. } = plain;
    let mut writing = pin!(printer.finish());
    // A reader that does not read must not hold the end.
    let _ = tokio::time::timeout(LAST_OUTPUT, &mut writing).await;
    let can_go_on = labels::goes_on(engine.model().first(), None);
    let undecided = engine.model().first().changes().totals.pending;
    engine.leave_nothing(code::hangs_up(code));
    Ok(Ended { code, goodbye: engine.shutdown().await, can_go_on, undecided })
}

impl Plain {
    fn say(&mut self, line: &str) {
        self.teller.is_interrupted();
        self.printer.print(format!("{}\n", sanitize::line(line)));
    }

    fn say_all(&mut self, lines: impl IntoIterator<Item = String>) {
        lines.into_iter().for_each(|line| self.say(&line));
    }

    async fn drive(&mut self, engine: &mut Engine, signals: &mut Signals) -> u8 {
        tokio::select! {
            biased;
            signal = signals.next() => return signal.exit_code(),
            () = engine.first_look(FIRST_LOOK) => {}
        }
        let mut news = engine.intent(Intent::Start);
        loop {
            self.advance(engine, news);
            if let Some(code) = self.code {
                return code;
            }
            let (wants_line, is_behind) = (self.wants_line(engine.model().first()), self.printer.is_behind());
            let now = engine.now();
            let silent = self.liveness.next(engine.model().first(), now);
            let compared = engine.model().first().waiting().next().and_then(ask::is_compared_until);
            let compared = compared.filter(|until| *until > now);
            let timers = [silent, compared].map(|at| at.map(|at| Instant::now() + at.saturating_sub(now)));
            let until =
                [self.over.as_ref().map(|over| over.until), self.acting].into_iter().chain(timers).flatten().min();
            news = Vec::new();
            tokio::select! {
                biased;
                signal = signals.next() => news = self.signalled(engine, signal),
                gone = self.printer.pump() => if gone.is_err() {
                    return code::READER_GONE;
                },
                () = sleep_until(until) => {}
                heard = self.input.next(), if wants_line => news = self.heard(engine, heard),
                wake = engine.next(), if !is_behind => {
                    news = engine.step(wake);
                    news.extend(engine.drain(Duration::from_millis(4)));
                }
            }
        }
    }

    /// Where nobody types, a line waits until it is clear what it is for.
    fn wants_line(&self, session: SessionRef<'_>) -> bool {
        let is_up = !matches!(session.phase(), Phase::Dead(_) | Phase::ReadOnly(_));
        let is_idle = session.turn.is_none() && self.over.is_none() && (!is_up || !session.held.flows());
        let is_at_rest = is_idle && matches!(session.phase(), Phase::Ready | Phase::Dead(_) | Phase::ReadOnly(_));
        let waits = (self.asked.is_some() || is_at_rest) && self.acting.is_none();
        !self.has_ended && (self.input.by_hand || waits)
    }

    fn signalled(&mut self, engine: &mut Engine, signal: Signal) -> Vec<Addressed<FrontEnd>> {
        let runs = engine.model().first().session().turn.is_some();
        if signal == Signal::Interrupt && runs && !self.is_stopping {
            return self.stop(engine);
        }
        self.code = Some(signal.exit_code());
        Vec::new()
    }

    fn stop(&mut self, engine: &mut Engine) -> Vec<Addressed<FrontEnd>> {
        if engine.model().first().session().turn.is_none() {
            self.say("note: nothing runs that could be stopped");
            return Vec::new();
        }
        self.is_stopping = true;
        self.say("note: the turn is being stopped; Ctrl+C once more ends acp-tui");
        engine.intent(Intent::Cancel)
    }

    /// Prints what is new and does what follows from it.
    fn advance(&mut self, engine: &mut Engine, news: Vec<Addressed<FrontEnd>>) {
        let session = engine.model().first();
        let mut lines = Vec::new();
        for item in news {
            match item.what {
                FrontEnd::TurnEnded(turn, how, spent) => {
                    let until = Instant::now() + REVIEW_PATIENCE;
                    let is_reviewed = !session.changes().is_on;
                    self.over = Some(Over { turn, how, spent, is_reviewed, until });
                    self.is_stopping = false;
                }
                FrontEnd::TurnReviewed(turn) => {
                    if let Some(over) = self.over.as_mut().filter(|over| over.turn <= turn) {
                        over.is_reviewed = true;
                    }
                    lines.extend(self.unknown.known(turn, session));
                }
                FrontEnd::Returned(text) => {
                    lines.push("note: not sent:".to_owned());
                    lines.extend(text.lines().map(|line| format!("{QUOTE}{line}")));
                }
                FrontEnd::Said(words) => {
                    self.acting = None;
                    lines.push(format!("review: {words}"));
                }
                FrontEnd::LogInWaits(words) => lines.push(format!("note: {words}")),
                FrontEnd::Withdrawn(gone) => {
                    lines.push(format!("note: not asked any more, {}: {}", gone.why.words(), gone.about));
                }
                FrontEnd::LoggedOut(Err(why)) => lines.push(format!("error: not logged out: {why}")),
                FrontEnd::LoggedOut(Ok(())) => lines.push("note: logged out".to_owned()),
                FrontEnd::Asked(_) | FrontEnd::Deleted(..) | FrontEnd::Listed => {}
            }
        }
        if session.is_loading() {
            self.teller.begin(session);
        }
        // Of a turn that has begun since nothing is told before the end of the one before it.
        if let Some(over) = self.over.as_mut().filter(|_| session.turn.is_some()) {
            let told = self.teller.follow(session, Upto::Turn(over.turn));
            over.until = over.until.min(Instant::now() + REVIEW_PATIENCE_IN_TURN);
            self.printer.print(told);
            self.tell_end(session);
        }
        let is_next_told = self.over.is_none() || session.turn.is_none();
        if is_next_told {
            let told = self.teller.follow(session, if session.turn.is_none() { Upto::End } else { Upto::Now });
            self.printer.print(told);
        }
        self.say_all(lines);
        self.acting.take_if(|until| Instant::now() >= *until);
        self.tell_end(session);
        self.tell_changes(session);
        self.tell_state(session);
        let held = session.held.staying();
        if std::mem::replace(&mut self.told_held, held) < held {
            self.say(&standing::held(held));
        }
        if is_next_told {
            self.ask(session, engine.now());
        }
        let silence = self.liveness.tell(session, engine.now());
        self.say_all(silence);
        self.set_model(engine);
        self.end(engine);
    }

    /// One line at the end of a turn, once it is known what it has changed.
    fn tell_end(&mut self, session: SessionRef<'_>) {
        let Some(over) = self.over.take_if(|over| over.is_reviewed || Instant::now() >= over.until) else { return };
        let calls = self.teller.take_calls();
        self.say_all(over.lines(session, calls));
        self.unknown.note(&over);
    }

    fn tell_changes(&mut self, session: SessionRef<'_>) {
        let Some(doc) = session.review() else { return };
        if let Some((file, _)) =
            self.wants_changes.take_if(|(_, old)| !old.as_ref().is_some_and(|old| Arc::ptr_eq(old, doc)))
        {
            self.acting = None;
            self.say_all(changes::lines(doc, file.as_deref()));
        }
    }

    fn tell_state(&mut self, session: SessionRef<'_>) {
        let agent = labels::agent(session);
        let lines = match session.phase() {
            Phase::Starting { .. } => vec![format!("state: {agent} is being started")],
            Phase::Ready => vec![format!("state: {agent} is ready; type a prompt, or :help")],
            // Why, is in the transcript.
            Phase::Dead(_) => {
                vec!["state: the agent has ended; :restart starts it again, :quit ends acp-tui".to_owned()]
            }
            Phase::ReadOnly(_) => vec!["state: this session can only be looked at".to_owned()],
            Phase::Authenticating { method, .. } => vec![format!("state: logging in by {method}")],
            Phase::NotStarted | Phase::Opening { .. } | Phase::PutOff { .. } | Phase::AuthNeeded => return,
        };
        let told = lines.join("\n");
        if self.told != told {
            self.told = told;
            self.say_all(lines);
        }
    }

    fn ask(&mut self, session: SessionRef<'_>, now: Now) {
        let Some(waiting) = session.waiting().next() else {
            self.asked = None;
            return;
        };
        let which = ask::which(waiting, session);
        if self.asked.as_ref().is_some_and(|asked| asked.which == which) {
            return;
        }
        let is_again = self.asked.as_ref().is_some_and(|told| told.which.is_again(which));
        if !is_again && ask::is_compared_until(waiting).is_some_and(|until| now < until) {
            return;
        }
        let asked = Asked::of(waiting, session, (now, self.options.home.as_deref()));
        // What says the same is not told again.
        if let Some(told) = self.asked.as_mut().filter(|told| is_again && told.lines == asked.lines) {
            told.which = asked.which;
            return;
        }
        self.say_all(asked.lines.clone());
        self.asked = Some(asked);
    }

    fn set_model(&mut self, engine: &mut Engine) {
        if engine.model().first().phase() != Phase::Ready {
            return;
        }
        let Some(id) = self.options.model.take() else { return };
        match model_choice(|| engine.model().first().session().settings(), &id) {
            Ok((option, value, false)) => drop(engine.intent(Intent::SetOption { id: option, value })),
            Ok(_) => {}
            Err(why) => self.say(&format!("error: {why}")),
        }
    }

    /// The input is over: what waits is refused, and after the last turn this ends.
    fn end(&mut self, engine: &mut Engine) {
        if !self.has_ended || self.code.is_some() || self.acting.is_some() {
            return;
        }
        let session = engine.model().first();
        self.code = match session.phase() {
            Phase::AuthNeeded => Some(code::AUTH),
            Phase::Dead(_) => Some(code::NO_SESSION),
            Phase::ReadOnly(_) => Some(code::OK),
            Phase::Ready if session.turn.is_none() && !session.held.flows() && self.over.is_none() => Some(code::OK),
            _ => None,
        };
        // Nobody is there to let them go.
        if self.code.is_some() && engine.model().first().held.staying() > 0 {
            let news = engine.intent(Intent::TakeBack);
            return self.advance(engine, news);
        }
        if let Some(intent) = self.asked.as_ref().and_then(|asked| asked.left()).filter(|_| self.code.is_none()) {
            self.asked = None;
            self.say("note: refused, since the input has ended");
            // What comes of it comes as an event as well.
            let news = engine.intent(intent);
            self.advance(engine, news);
        }
    }

    fn heard(&mut self, engine: &mut Engine, heard: Heard) -> Vec<Addressed<FrontEnd>> {
        match heard {
            Heard::End => {
                self.has_ended = true;
                match self.block.take() {
                    Some(text) => self.prompt(engine, text),
                    None => Vec::new(),
                }
            }
            Heard::TooLong => {
                self.refuse_line("that line is too long; attach a file to exec, or name it in the prompt")
            }
            Heard::NoText => self.refuse_line("that line is not UTF-8, and was not sent"),
            Heard::Line(line, at) => self.line(engine, &line, at),
        }
    }

    fn refuse_line(&mut self, why: &str) -> Vec<Addressed<FrontEnd>> {
        self.say(&format!("error: {why}"));
        Vec::new()
    }

    fn line(&mut self, engine: &mut Engine, line: &str, at: Instant) -> Vec<Addressed<FrontEnd>> {
        if let Some(block) = &mut self.block {
            if line.trim() != BLOCK {
                block.push_str(line);
                block.push('\n');
                return Vec::new();
            }
            let text = self.block.take().unwrap_or_default();
            return self.prompt(engine, text);
        }
        if line.trim() == BLOCK {
            self.block = Some(String::new());
            return Vec::new();
        }
        let said = command::read(line);
        if let Some(asked) = self.asked.as_mut().filter(|_| !matches!(said, Said::Command(..) | Said::Unknown(_))) {
            if self.input.by_hand && asked.is_too_soon(at) {
                return self.refuse_line("too soon: the question has only just come; read it and type that again");
            }
            if asked.takes_lines() {
                let lines = asked.fill(line);
                self.say_all(lines);
                return Vec::new();
            }
            if let Said::Number(number) = said {
                return match asked.number(number) {
                    Answered::Do(intent) => engine.intent(intent),
                    Answered::Say(lines) => {
                        self.say_all(lines);
                        Vec::new()
                    }
                };
            }
        }
        match said {
            Said::Nothing => Vec::new(),
            // Typed for a question that is gone.
            Said::Number(_) if self.input.by_hand => {
                self.refuse_line("no question waits; a number alone is not sent as a prompt")
            }
            Said::Number(number) => self.prompt(engine, number.to_string()),
            Said::Words(text) => self.prompt(engine, text.to_owned()),
            Said::Shell if self.asked.is_some() => self.refuse_line(
                "nothing was run or answered: :no REASON refuses what is asked, and the agent is told why",
            ),
            Said::Shell => self.refuse_line(
                "a command behind ! is run in the full screen and inline only; with a blank before it, it is a prompt",
            ),
            Said::Unknown(word) => {
                self.refuse_line(&format!("there is no command :{word}, or several begin so; :help lists them"))
            }
            Said::Command(command, rest) => self.command(engine, command, rest),
        }
    }

    fn prompt(&mut self, engine: &mut Engine, text: String) -> Vec<Addressed<FrontEnd>> {
        if text.trim().is_empty() {
            return Vec::new();
        }
        let session = engine.model().first();
        let waits = session.turn.is_some() || session.phase() != Phase::Ready;
        let news = engine.intent(Intent::Prompt { text, links: Vec::new() });
        if let Some(turn) = engine.model().first().turn.as_ref().filter(|_| !waits) {
            self.teller.is_sent(turn.entry);
        }
        if waits && engine.model().first().held.flows() {
            let session = engine.model().first();
            let why = match (self.asked.is_some(), session.turn.is_some()) {
                (true, _) => "for the end of the question, which is answered by a number, and of the turn",
                (false, true) => "for the end of the turn",
                (false, false) => "until the agent has opened the session",
            };
            self.say(&format!("note: this prompt waits {why}; :back takes it back"));
        }
        news
    }

    fn command(&mut self, engine: &mut Engine, command: Command, rest: &str) -> Vec<Addressed<FrontEnd>> {
        let verdict = |verdict| match rest {
            "" => None,
            "all" => Some(ReviewAction::Decide { scope: Scope::Pending, target: Target::All, verdict }),
            file => Some(ReviewAction::Decide { scope: Scope::Pending, target: Target::File(file.into()), verdict }),
        };
        let act = match command {
            Command::Accept => verdict(Verdict::Accept),
            Command::Reject => verdict(Verdict::Reject),
            Command::Undo => Some(ReviewAction::Undo),
            Command::Redo => Some(ReviewAction::Redo),
            _ => None,
        };
        if let Some(act) = act {
            self.acting = Some(Instant::now() + REVIEW_PATIENCE);
            return engine.intent(Intent::Review(act));
        }
        match command {
            Command::Accept | Command::Reject | Command::Undo | Command::Redo => {
                self.refuse_line("which? `all`, or the name of a file as :changes prints it")
            }
            Command::Help => {
                self.say_all(command::help());
                Vec::new()
            }
            Command::Stop => self.stop(engine),
            Command::Quit => {
                self.code = Some(code::OK);
                Vec::new()
            }
            Command::No => match self.asked.as_ref().and_then(|asked| asked.refused(rest)) {
                Some(intent) => engine.intent(intent),
                None => self.refuse_line("nothing is asked that could be refused"),
            },
            Command::Again => {
                if self.asked.take().is_none() {
                    self.say("note: no question waits");
                }
                Vec::new()
            }
            Command::Changes => {
                let session = engine.model().first();
                if !session.changes().is_on {
                    return self.refuse_line("there is no review in this session");
                }
                let file = Some(Path::new(rest)).filter(|_| !rest.is_empty()).map(Path::to_owned);
                self.acting = Some(Instant::now() + REVIEW_PATIENCE);
                self.wants_changes = Some((file, session.review().cloned()));
                engine.intent(Intent::Review(ReviewAction::Show(Scope::Pending)))
            }
            Command::Mode | Command::Model | Command::Set => self.set(engine, command, rest),
            Command::Gate => match Gate::from_name(rest).filter(|gate| *gate != Gate::Hold) {
                Some(gate) => {
                    self.say(labels::gate(gate, engine.model().first().changes().is_on));
                    engine.intent(Intent::SetGate(gate))
                }
                None => {
                    self.say(&format!("note: the gate is {}", engine.model().first().gate().name()));
                    Vec::new()
                }
            },
            Command::Permissions => self.permissions(engine, rest),
            Command::TakeBack => engine.intent(Intent::TakeBack),
            Command::Go => engine.intent(Intent::Queue(QueueAct::LetGo)),
            Command::LogIn => engine.intent(Intent::LogIn),
            Command::Restart => engine.intent(Intent::Restart),
            Command::Status | Command::Output | Command::Commands => {
                let session = engine.model().first();
                let lines = match command {
                    Command::Output => standing::output(session),
                    Command::Commands => standing::commands(session),
                    _ => standing::status(session, engine.now()),
                };
                self.say_all(lines);
                Vec::new()
            }
        }
    }

    fn permissions(&mut self, engine: &mut Engine, rest: &str) -> Vec<Addressed<FrontEnd>> {
        if rest.is_empty() {
            self.say_all(standing::permissions(engine.model().first(), engine.now()));
            return Vec::new();
        }
        let (name, is_sure) = rest.strip_suffix(SURE).map_or((rest, false), |name| (name.trim_end(), true));
        match ModeChoice::read(name) {
            Ok(choice) if choice.mode == PermissionMode::BypassPermissions && !is_sure => {
                let words = choice.mode.words();
                self.refuse_line(&format!("{words}; to have that, type :permissions {name}{SURE}"))
            }
            Ok(choice) => engine.intent(Intent::SetPermissionMode(choice)),
            Err(why) => self.refuse_line(&why),
        }
    }

    fn set(&mut self, engine: &mut Engine, command: Command, rest: &str) -> Vec<Addressed<FrontEnd>> {
        let session = engine.model().first();
        let chosen = match command {
            Command::Mode => settings::mode(session, rest),
            Command::Model => settings::model(session, rest),
            _ => settings::option(session, rest),
        };
        match chosen {
            Ok(intent) => engine.intent(intent),
            Err(lines) => {
                self.say_all(lines);
                Vec::new()
            }
        }
    }
}
