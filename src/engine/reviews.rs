//! The reviews of all directories that sessions work in: one is begun, joined, told what happens, left, or has ended by
//! itself.
//!
//! Looks at no file; that is for the threads. Invariants: a session that no review looks at has been told so; an agent
//! that repeats itself causes no work.

use super::fact::{Facts, Told};
use super::merging::{Merging, Wanted, What};
use super::noting;
use super::reviewing::{self, Job, LAST_JOBS, ReviewConfig, Reviewing, Submission};
use super::run_name::RunName;
use super::workspaces::Workspaces;
use crate::base::shared::SharedText;
use crate::host::fs::{Private, Roots};
use crate::model::Model;
use crate::model::changes::{ReviewAction, ReviewCommand, ReviewEvent};
use crate::model::event::HostEvent;
use crate::model::ids::{Addressed, EntryId, ReqId, SessionKey, TurnId};
use crate::model::session::Policy;
use crate::review::protocol::{Replaceable, ToolEffect, ToolNote};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};
use tokio::sync::{Notify, mpsc};

/// What the last look gets at least, however late it is.
const LAST_MOMENT: Duration = Duration::from_millis(250);
/// How long a write or a command waits for the review to look at what is there first, and to note it.
const LOOKED: Duration = Duration::from_secs(30);
/// Between two looks at whether the client ends, while it is waited for that.
const SLICE: Duration = Duration::from_millis(50);

pub(super) struct Reviews {
    /// No review is done without it.
    config: Option<ReviewConfig>,
    stem: RunName,
    workspaces: Workspaces,
    /// Told when the first look is over.
    first_look: Option<mpsc::Receiver<()>>,
    facts: Facts,
    hint: Arc<Notify>,
    /// What an agent tells now, it has told no earlier than then.
    pub heard: Option<Instant>,
}

/// Commands of the person's own have numbers from here downwards: no entry of a conversation gets so far.
const SHELL: u64 = (1 << 40) - 1;

impl Reviews {
    pub fn new(
        config: Option<ReviewConfig>,
        stem: RunName,
        private: Private,
        facts: &Facts,
        hint: &Arc<Notify>,
    ) -> Self {
        let workspaces = Workspaces::new(private);
        Self { config, stem, workspaces, first_look: None, facts: facts.clone(), hint: Arc::clone(hint), heard: None }
    }

    /// Sessions of this directory may use these ones, too. They are not reviewed.
    pub fn reach(&mut self, cwd: &Path, directories: Vec<PathBuf>) {
        self.workspaces.reach(cwd, directories);
    }

    pub fn roots(&self, at: SessionKey) -> &Arc<Roots> {
        self.workspaces.roots(at)
    }

    /// The session's directory, also one whose name is no text.
    pub fn directory(&self, at: SessionKey) -> Option<&Path> {
        self.workspaces.directory(at)
    }

    /// Gives a session that has just come about its place: the roots, and the review of its directory.
    pub fn join(&mut self, at: SessionKey, cwd: &Path, model: &Model) -> Told {
        if self.workspaces.join(at, cwd) {
            let told = self.start(at, model);
            for other in self.workspaces.sessions_around(at) {
                let turn = turn_of(model, other);
                if let (Some(turn), Some(reviewing)) = (turn, self.workspaces.reviewing(at)) {
                    // It has begun before.
                    let _ = reviewing.give(other, Job::Do(ReviewCommand::BeginTurn(turn)).beside().0);
                }
            }
            told
        } else if self.workspaces.reviewing(at).is_some() {
            self.give(at, Job::Join)
        } else if self.config.is_some() {
            let event = ReviewEvent::ReviewOff { message: "the review of this directory has ended".into() };
            told(at, event)
        } else {
            Told::new()
        }
    }

    /// Starts the thread of a directory's review, with a first look at the tree: the first prompt shall not wait for it.
    fn start(&mut self, at: SessionKey, model: &Model) -> Told {
        let (Some(config), Some(cwd)) = (&mut self.config, self.workspaces.directory(at)) else { return Told::new() };
        let roots = Arc::clone(self.workspaces.roots(at));
        let command = model.at(at).map(|session| session.agent().command.as_str());
        let stem = self.stem.of_review(self.workspaces.review_of(at).unwrap_or_default());
        let head = reviewing::head(stem, self.stem.started(), cwd, &roots, command.unwrap_or_default());
        match Reviewing::start(config, head, roots, at, self.facts.clone(), Arc::clone(&self.hint)) {
            Ok(reviewing) => {
                let is_new = config.reopened.is_none();
                self.workspaces.set(at, Some(reviewing));
                if !is_new {
                    return Told::new();
                }
                let is_alone = matches!(model.policy(), Policy::Auto(_));
                let (looked, over) = mpsc::channel(1);
                self.first_look = is_alone.then_some(over);
                self.give(at, Job::Look { alone: is_alone.then_some(looked) })
            }
            Err(error) => told(at, ReviewEvent::ReviewOff { message: error.to_string() }),
        }
    }

    /// Without a screen: ends when the first look at the files does, or after `patience`. Before that
    /// no agent should be started: what it has changed by then would be taken for what was there.
    pub async fn first_look(&mut self, patience: Duration) {
        if let Some(mut over) = self.first_look.take() {
            // A review that has ended says so itself.
            let _ = tokio::time::timeout(patience, over.recv()).await;
        }
    }

    /// The person has closed a session.
    pub fn leave(&mut self, at: SessionKey) -> Told {
        if let Some(reviewing) = self.workspaces.reviewing(at) {
            reviewing.viewers.remove(&at);
        }
        self.give(at, Job::Leave)
    }

    /// A review has ended by itself, waits for room, or has begun after that: told to all its sessions. Nothing for
    /// other events.
    pub fn is_on_or_off(&mut self, at: SessionKey, event: &HostEvent, model: &Model) -> Option<Told> {
        let HostEvent::Review(review) = event else { return None };
        let mut told = Told::new();
        match review {
            ReviewEvent::ReviewOff { .. } => self.workspaces.set(at, None),
            ReviewEvent::ReviewWaits { .. } => {}
            ReviewEvent::ReviewBegun => {
                // What it was told of them meanwhile it has not heard.
                let (mut turns, mut running) = (Vec::new(), Vec::new());
                for at in self.workspaces.beside(at) {
                    let Some(session) = model.at(at) else { continue };
                    let Some(id) = session.id.clone() else { continue };
                    let unended = turn_of(model, at);
                    let had = unended.or(Some(session.last_turn()).filter(|turn| turn.0 > 0));
                    turns.extend(had);
                    running.extend(unended);
                    let first_turn = had.unwrap_or(TurnId(model.last_turn().0 + 1));
                    let (agent, goes_on) = (session.agent().label().to_owned(), !session.begins_anew());
                    let is_aside = session.is_aside();
                    let named = ReviewCommand::Session { id, first_turn, agent, goes_on, is_aside };
                    told.extend(self.give(at, Job::Do(named)));
                }
                turns.sort_unstable();
                told.extend(self.give(at, Job::Missed { turns, running }));
            }
            _ => return None,
        }
        told.extend(self.to_all_beside(at, event));
        Some(told)
    }

    /// Does what the model wants of the review.
    pub fn command(&mut self, at: SessionKey, command: ReviewCommand, model: &Model) -> Told {
        let mut told = Told::new();
        let reviewing = self.workspaces.reviewing(at);
        let job = match command {
            ReviewCommand::BeginTurn(turn) => {
                told = self.name_session(at, turn, model);
                Job::Do(ReviewCommand::BeginTurn(turn))
            }
            ReviewCommand::SentEarly(turn) => {
                self.workspaces.around(at).for_each(|reviewing| reviewing.sent_early(turn));
                if let Some(reviewing) = self.workspaces.reviewing(at) {
                    reviewing.sent_early(turn);
                }
                return told;
            }
            ReviewCommand::ToolCall(entry) => match self.tool_note(at, entry, model) {
                Some(note) => {
                    let call = model.session_of(at).and_then(|session| session.tool(entry));
                    let claims =
                        call.filter(|call| call.is_finished() && call.lacks_places()).map(|_| note.claims.clone());
                    let job = Job::Note(note);
                    let Some(claims) = claims else { return self.give(at, job) };
                    told.extend(self.give(at, job));
                    Job::Places { entry, claims }
                }
                None => return told,
            },
            ReviewCommand::CommandStarted { req, entry } => {
                Job::Started { req, note: entry.map(|entry| command_note(model, at, entry, false)) }
            }
            ReviewCommand::ShellRun { number, finished } => {
                let (doing, at, entry) = (ToolEffect::Persons, Instant::now(), EntryId(SHELL - number));
                let (paths, claims) = (Vec::new(), Vec::new());
                Job::Note(ToolNote { entry, turn: None, doing, at, since: at, finished, waits: false, paths, claims })
            }
            ReviewCommand::CommandEnded(entry) => Job::Note(command_note(model, at, entry, true)),
            ReviewCommand::Preview { req, asked } => {
                let (session, cwd) = (model.session_of(at), self.workspaces.directory(at));
                let claims = session.zip(cwd).map(|(session, cwd)| noting::claims_of_question(session, req, cwd));
                Job::Preview { req, asked, claims: claims.unwrap_or_default(), is_too_much: false }
            }
            ReviewCommand::Hold { req, path, content, entry, asked, over } => {
                let turn = turn_of(model, at);
                Job::Hold { req, path: path.into(), content, turn, entry, asked, over }
            }
            command => {
                if let Some(reviewing) = reviewing {
                    match &command {
                        // A late word of a call is told once more; that does no harm.
                        ReviewCommand::EndTurn(_) => reviewing.notes.retain(|(of, _), _| *of != at),
                        ReviewCommand::Act(ReviewAction::Show(_)) => drop(reviewing.viewers.insert(at)),
                        ReviewCommand::Act(ReviewAction::Close) => drop(reviewing.viewers.remove(&at)),
                        // The next turn is its own, unless another one is named before that.
                        ReviewCommand::Session { .. } => reviewing.newest = Some(at),
                        _ => {}
                    }
                }
                Job::Do(command)
            }
        };
        told.extend(self.give(at, job));
        told
    }

    /// Has the review look at a file right before a write: what is there is not the write's doing. Without an answer
    /// there is no review.
    pub fn before_write(
        &mut self,
        at: SessionKey,
        path: &str,
        Writing { entry, content, turn }: &Writing,
    ) -> (Option<Receiver<Option<Replaceable>>>, Told) {
        if self.workspaces.reviewing(at).is_none() {
            return (None, Told::new());
        }
        let (done, looked) = sync_channel(1);
        let (entry, turn, content) = (*entry, *turn, content.clone());
        let told = self.give(at, Job::BeforeWrite { path: path.into(), content, entry, turn, done });
        (Some(looked), told)
    }

    /// A write is done; the review has a look at it, under all its names.
    pub fn wrote(
        &mut self,
        at: SessionKey,
        paths: impl Iterator<Item = PathBuf>,
        Writing { entry, content, turn }: &Writing,
    ) -> Told {
        let (turn, entry) = (*turn, *entry);
        paths.flat_map(|path| self.give(at, Job::Wrote { path, turn, entry, content: content.clone() })).collect()
    }

    /// A write was not done.
    pub fn not_written(&mut self, at: SessionKey, Writing { entry, content, .. }: Writing) -> Told {
        self.give(at, Job::NotWritten { entry, content })
    }

    /// Bytes of writes that the reviews have not looked at yet.
    pub fn bytes(&self) -> usize {
        self.workspaces.writes()
    }

    /// Has the review look at what is there before a command changes it.
    pub fn before_command(&mut self, at: SessionKey, req: ReqId) -> (Option<Receiver<()>>, Told) {
        if self.workspaces.reviewing(at).is_none() {
            return (None, Told::new());
        }
        let (done, looked) = sync_channel(1);
        let told = self.give(at, Job::BeforeCommand { req, done });
        (Some(looked), told)
    }

    /// Has a worktree merged by the review that looks at all of what it came from, else on a thread of its own. Nothing
    /// where no reviews are kept.
    pub fn merge(&mut self, wanted: Wanted) -> (Option<Receiver<Result<String, String>>>, Told) {
        let state = self.config.as_ref().and_then(|config| config.home.parent()).map(Path::to_owned);
        let Some(state) = state else { return (None, Told::new()) };
        let (mut told, mut part) = (Told::new(), None);
        if let What::Hunk { at, scope, target } = &wanted.what {
            let (done, found) = sync_channel(1);
            told.extend(self.give(*at, Job::Part { scope: *scope, target: target.clone(), done }));
            part = Some(found);
        }
        let (done, merged) = sync_channel(1);
        let over = self.workspaces.over(&wanted.origin);
        let merging = Box::new(Merging { wanted, part, done });
        match over {
            Some(at) => told.extend(self.give(at, Job::Merge(merging))),
            // Without a thread the channel is closed, which is told as a failure.
            None => {
                drop(std::thread::Builder::new().name("merge".into()).spawn(move || merging.carry_out(&state, None)));
            }
        }
        (Some(merged), told)
    }

    /// Hands over what had to wait, and tells what is new to be shown.
    pub fn tend(&mut self) -> Told {
        let new: Vec<_> =
            self.workspaces.reviews().map(|(at, review)| (at, review.take_shown(), review.drain())).collect();
        let mut all = Told::new();
        for (at, shown, given) in new {
            all.extend(shown.into_iter().flat_map(|(viewer, doc)| told(viewer, ReviewEvent::ReviewShown { doc })));
            all.extend(self.after_giving(at, given));
        }
        all
    }

    /// What a turn has changed without a wait for the look after it is still its doing; what has changed since the last
    /// one may be the agent's without a screen. From `end` on the last look is not waited for.
    pub async fn finish(&mut self, model: &Model, end: Option<Instant>) {
        for (sessions, mut reviewing) in self.workspaces.take_reviews() {
            let patience = end.map_or(LAST_JOBS, |end| end.saturating_duration_since(Instant::now()).max(LAST_MOMENT));
            let turn = |at: &SessionKey| Some((*at, turn_of(model, *at)?));
            let open: Vec<(SessionKey, TurnId)> = sessions.iter().filter_map(turn).collect();
            let around = sessions.first().map(|at| self.workspaces.sessions_around(*at)).unwrap_or_default();
            for (at, turn) in around.iter().filter_map(turn) {
                let _ = reviewing.give(at, Job::Do(ReviewCommand::EndTurn(turn)).beside().0);
            }
            for (at, turn) in &open {
                // Without the thread there is nothing to tell.
                let _ = reviewing.give(*at, Job::Do(ReviewCommand::EndTurn(*turn)));
            }
            if let Some(at) = sessions.first().filter(|_| open.is_empty())
                && matches!(model.policy(), Policy::Auto(_))
            {
                let _ = reviewing.give(*at, Job::Last);
            }
            reviewing.finish(patience).await;
        }
    }

    fn give(&mut self, at: SessionKey, job: Job) -> Told {
        let mut beside = Vec::new();
        for reviewing in self.workspaces.around(at) {
            if let Some((job, done)) = job.for_reviews_beside() {
                // One that does not keep up says so to its own sessions, about their own jobs.
                let _ = reviewing.give(at, job);
                beside.extend(done);
            }
        }
        let job = if beside.is_empty() { job } else { Job::After { beside, job: Box::new(job) } };
        let given = self.workspaces.reviewing(at).map(|reviewing| reviewing.give(at, job));
        given.map_or_else(Told::new, |given| self.after_giving(at, given))
    }

    fn after_giving(&mut self, at: SessionKey, given: Submission) -> Told {
        let event = match given {
            Submission::Taken => return Told::new(),
            Submission::LeftOut => ReviewEvent::ReviewTrouble {
                what: "behind".into(),
                message: "the review does not keep up: some tool calls are left out of it".into(),
            },
            Submission::Gone => {
                self.workspaces.set(at, None);
                ReviewEvent::ReviewOff { message: "it has stopped".into() }
            }
        };
        self.to_all_beside(at, &HostEvent::Review(event))
    }

    /// The sessions that are looked at by the same review.
    fn to_all_beside(&self, at: SessionKey, event: &HostEvent) -> Told {
        self.workspaces.beside(at).into_iter().map(|at| Addressed::new(at, event.clone())).collect()
    }

    /// Turns from one on belong to the session that was named last: where several take turns, each is named anew.
    fn name_session(&mut self, at: SessionKey, first_turn: TurnId, model: &Model) -> Told {
        let Some(session) = model.at(at) else { return Told::new() };
        let Some(id) = session.id.clone() else { return Told::new() };
        let (agent, is_aside) = (session.agent().label().to_owned(), session.is_aside());
        let name = || {
            let (id, agent) = (id.clone(), agent.clone());
            ReviewCommand::Session { id, first_turn, agent, goes_on: false, is_aside }
        };
        for reviewing in self.workspaces.around(at) {
            if reviewing.newest.replace(at) != Some(at) {
                let _ = reviewing.give(at, Job::Do(name()).beside().0);
            }
        }
        let Some(reviewing) = self.workspaces.reviewing(at) else { return Told::new() };
        let before = reviewing.newest.replace(at);
        if before.is_some_and(|before| before != at) { self.give(at, Job::Do(name())) } else { Told::new() }
    }

    /// News of a tool call, unless they are none.
    fn tool_note(&mut self, at: SessionKey, entry: EntryId, model: &Model) -> Option<ToolNote> {
        let note = noting::of(model.session_of(at)?, entry, self.workspaces.directory(at)?)?;
        let note = ToolNote { since: self.heard.unwrap_or(note.at), ..note };
        self.workspaces.reviewing(at)?.is_news(at, &note).then_some(note)
    }
}

/// A write that is under way, as the review knows it.
#[derive(Debug)]
pub(super) struct Writing {
    pub entry: EntryId,
    pub content: SharedText,
    /// The turn in which it begins.
    pub turn: Option<TurnId>,
}

/// Waits until the review has looked at what a write or a command will change. Without an answer, since the review is
/// off or far behind, it happens all the same; not when the client ends.
pub(super) fn wait_for<T>(looked: &Receiver<T>, is_over: &AtomicBool) -> Option<T> {
    let until = Instant::now() + LOOKED;
    while !is_over.load(Ordering::Acquire) && Instant::now() < until {
        match looked.recv_timeout(SLICE) {
            Err(RecvTimeoutError::Timeout) => {}
            answered => return answered.ok(),
        }
    }
    None
}

fn told(at: SessionKey, event: ReviewEvent) -> Told {
    vec![Addressed::new(at, HostEvent::Review(event))]
}

/// News of a command of the client.
fn command_note(model: &Model, at: SessionKey, entry: EntryId, finished: bool) -> ToolNote {
    let (turn, at) = (turn_of(model, at).map(|turn| turn.0), Instant::now());
    let (doing, paths, claims) = (ToolEffect::Runs, Vec::new(), Vec::new());
    ToolNote { entry, turn, doing, at, since: at, finished, waits: false, paths, claims }
}

/// The turn of a session that what happens in it now is of.
pub(super) fn turn_of(model: &Model, at: SessionKey) -> Option<TurnId> {
    model.session_of(at)?.unended_turn()
}
