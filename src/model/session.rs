//! One session: its conversation, what waits in it for the person, and what it has under way.
//!
//! Everything here is read by the front ends and written by `reduce` only. Knows nothing of other sessions, and of its
//! agent the key only. Invariant: at most one turn runs, and prompts that wait are visible.

pub mod changes;
mod naming;
pub mod shell;
use super::agent::{Agent, Connection, Death};
use super::changes::{Gate, ReviewDoc, Rewound};
use super::child::Child;
use super::compaction::Compaction;
use super::effect::Ended;
use super::entries::{Entries, Slot};
use super::entry::{Body, ChunkKind, Entry};
pub use super::event::ReadOnly;
use super::event::{Background, Before, Beside, Can, Item, Link, Opening, SessionResult, TerminalSpec};
use super::form::Page;
use super::history::Kind;
use super::ids::{AgentKey, EntryId, Now, ReqId, SessionId, TermId, ToolId, TurnId};
use super::login::LOGIN_LINES;
use super::options::{Command, ConfigOption, Modes, OLDER_MODELS, OptionKind, OptionValue, Usage};
use super::permission_mode::{ModeInForce, PermissionMode};
pub use super::policy::{Allow, Policy};
use super::question::Question;
use super::queue::Queue;
pub use super::queue::{HeldPrompt, PromptKind};
use super::retold::{Late, Retold};
use super::ruling::{SessionRules, Unruled};
use super::spent::{Spent, Waits};
use super::terminal::Terminal;
use super::tool::ToolCall;
use super::write::Slice;
pub(super) use super::write::Stage;
pub use super::write::{Approved, Waiter, Write};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// Entries in which the status line looks for a call that runs: it is drawn often, and a turn can have 100,000.
const STATUS_REACH: usize = 4096;
/// So many notices of ours leave a session untouched.
const FEW_WORDS: usize = 16;

/// Where a session stands, apart from its agent.
#[derive(Clone, Debug, PartialEq, Default)]
pub enum SessionState {
    /// Its agent is not up yet, or wants a log-in first.
    #[default]
    Waiting,
    /// A new one is asked for; the answer will give it its id.
    Opening {
        since: Now,
    },
    /// One that the agent has kept is asked for. What it says of it belongs here at once.
    Loading {
        /// When the agent last said anything of it.
        heard: Now,
    },
    Ready,
    Closed(Closed),
}

/// Why a session is closed.
#[derive(Clone, Debug, PartialEq)]
pub enum Closed {
    /// Together with its agent.
    AgentGone,
    /// The agent did not open it, and lives on for other sessions.
    Refused(Death),
    /// The person has closed it; what was under way is still answered.
    ByPerson,
    /// It is only shown, and why it does not go on.
    ReadOnly(ReadOnly),
}

/// What earlier journals have of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum StoredHistory {
    /// It was not asked for.
    #[default]
    Nothing,
    /// It is being read; the session is not asked for before it is here.
    Awaited,
    /// Some of it is here, and more is to come. Its turns are after this one.
    Coming {
        after: TurnId,
    },
    Here,
    /// It is here, and the session has been opened since.
    Joined,
}

/// What a person sees of a session and its agent: where the agent is up, the state of the session.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Phase<'a> {
    NotStarted,
    Starting {
        since: Now,
    },
    Opening {
        since: Now,
    },
    /// It is too young to be asked for before then.
    PutOff {
        until: Now,
    },
    Ready,
    AuthNeeded,
    Authenticating {
        method: &'a str,
        since: Now,
    },
    Dead(&'a Death),
    ReadOnly(&'a ReadOnly),
}

impl<'a> Phase<'a> {
    pub fn of(agent: &'a Agent, session: &'a Session) -> Self {
        let log_in = agent.log_in.as_ref().filter(|_| session.wants_log_in);
        // One that is done in a terminal goes on although the agent has ended.
        if let Some(attempt) = log_in.and_then(|log_in| log_in.attempt.as_ref()) {
            return Self::Authenticating { method: &attempt.method, since: attempt.since };
        }
        if log_in.is_some() && !agent.is_dead() {
            return Self::AuthNeeded;
        }
        match (&agent.connection, &session.state) {
            (_, SessionState::Closed(Closed::ReadOnly(why))) => Self::ReadOnly(why),
            (Connection::NotStarted, _)
            | (Connection::Up, SessionState::Closed(Closed::AgentGone | Closed::ByPerson)) => Self::NotStarted,
            (Connection::Starting { since }, _) => Self::Starting { since: *since },
            (Connection::Dead(death), _) | (Connection::Up, SessionState::Closed(Closed::Refused(death))) => {
                Self::Dead(death)
            }
            (Connection::Up, SessionState::Waiting) => match session.put_off {
                Some(until) => Self::PutOff { until },
                None => Self::Opening { since: agent.spawned_at },
            },
            (Connection::Up, SessionState::Opening { since } | SessionState::Loading { heard: since }) => {
                Self::Opening { since: *since }
            }
            (Connection::Up, SessionState::Ready) => Self::Ready,
        }
    }
}

/// The end of a turn, and what it has to be read with.
#[derive(Clone, Debug, PartialEq)]
pub struct TurnEnd {
    pub ended: Ended,
    /// The person had asked for it.
    pub by_person: bool,
    /// The agent has said or done something in it.
    pub spoke: bool,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Session {
    pub agent: AgentKey,
    pub state: SessionState,
    /// How it is asked for, until it is open.
    pub(super) opening: Opening,
    /// The session that it continues, with an account of it.
    pub follows: Option<Before>,
    pub(super) stored_history: StoredHistory,
    /// The entries that earlier journals have.
    pub(super) recalled: Range<EntryId>,
    /// How long ago its agent had opened it at this moment, where that is known.
    pub(super) age: Option<(Now, Duration)>,
    /// It is too young for its agent: when it is asked for.
    pub(super) put_off: Option<Now>,
    /// It was opened for a question beside a conversation.
    pub beside: Option<Beside>,
    /// Its agent has kept what was said in it, and has not told it.
    pub is_untold: bool,
    /// The agent's name of it, once that is known.
    pub id: Option<SessionId>,
    /// Absolute.
    pub cwd: String,
    /// As the agent has told it while this runs.
    pub title: Option<String>,
    /// What it was called before, or in its agent's list; what its agent tells of it counts more.
    pub(super) known_title: Option<String>,
    /// When it last changed, in the agent's words.
    pub updated: Option<String>,
    pub modes: Option<Modes>,
    pub options: Vec<ConfigOption>,
    pub(super) older_models: Option<ConfigOption>,
    pub commands: Vec<Command>,
    /// Parts of files that the agent wants with the number of all lines.
    pub(super) slices: BTreeMap<ReqId, Slice>,
    /// Commands that are ended after a time.
    pub(super) limited: BTreeMap<ReqId, TermId>,
    /// The piece of a text that came last, of messages whose pieces are counted.
    pub(super) last_part: Option<(ChunkKind, u64)>,
    /// Of tools.
    pub servers: super::servers::Servers,
    pub usage: Option<Usage>,
    pub turn: Option<Turn>,
    /// How the last turn ended; none while one runs, and after the agent has gone.
    pub ended: Option<TurnEnd>,
    /// Why no prompt is sent: a budget is used up.
    pub(super) used_up: Option<String>,
    /// Prompts that wait, oldest first.
    pub held: Queue,
    /// A turn that ran when the person closed the session, and that the agent has not answered.
    pub(super) lingering: Option<TurnId>,
    /// What the person is asked, in the order it came.
    pub(super) questions: Vec<Question>,
    /// Pages that the person was sent to and that are not done, with the entry that says so.
    pub(super) pages: Vec<(EntryId, Arc<Page>)>,
    /// Changes of modes and options that the agent has not answered, in the order they were sent.
    pub(super) wishes: Vec<Wish>,
    pub(super) policy: Policy,
    pub(super) gate: Gate,
    pub(super) permission_mode: ModeInForce,
    pub rules: SessionRules,
    /// What the rules are asked about and have not answered.
    pub(super) unruled: BTreeMap<ReqId, Unruled>,
    pub(super) entries: Entries,
    /// Where it begins: what is above is of one in whose place it was opened.
    pub(super) begins: EntryId,
    pub(super) terminals: BTreeMap<TermId, Terminal>,
    /// Commands of the person's own, the newest last; no agent reaches them.
    pub(super) shell: Vec<Terminal>,
    pub(super) last_turn: TurnId,
    /// The newest entry of each tool call id.
    pub(super) newest_tool: HashMap<ToolId, EntryId>,
    /// Calls of earlier turns that go on in this one.
    pub(super) taken_up: BTreeSet<EntryId>,
    /// Sessions that the agent has begun itself.
    pub(super) children: BTreeMap<SessionId, Child>,
    /// The newest entry of each message that has an id.
    pub(super) messages: HashMap<(ChunkKind, Arc<str>), EntryId>,
    /// About how many bytes of text the agent has fed to terminals of its own.
    pub(super) fed: usize,
    /// A history that is told although it is shown, until it is known what of it is new.
    pub(super) retold: Option<Box<Retold>>,
    /// What of it may yet be told although that call is answered.
    pub(super) late: Option<Box<Late>>,
    /// The answer to the call that loads it, for as long as the agent still tells its history.
    pub(super) answered: Option<Box<SessionResult>>,
    /// The plans of the running turn, by their ids.
    pub(super) plans: HashMap<Option<Arc<str>>, EntryId>,
    /// The newest last.
    pub compactions: Vec<Compaction>,
    pub(super) changes: changes::Changes,
    pub(super) writes: BTreeMap<ReqId, Write>,
    /// What the person has allowed of files in this turn, and that is not done yet.
    pub(super) approved: Vec<Approved>,
    /// Terminals that are being started.
    pub(super) creating: BTreeMap<ReqId, Arc<TerminalSpec>>,
    /// Sorts of odd messages that the transcript has told of already, so that a flood of them is one line.
    pub(super) noticed: BTreeSet<String>,
    /// Whether its turn waits for the person, as the agent tells it (V2-048); nothing until it has told a state.
    pub(super) told_to_wait: Option<bool>,
    /// What it does beside its turns, as far as it has said.
    pub background: Vec<Background>,
    /// The agent has said, before the session was open, that it works in it.
    pub(super) is_at_work: bool,
    /// The agent has refused something of it until the person has logged in.
    pub(super) wants_log_in: bool,
    /// Modes and options that it has refused so, to be asked for again then.
    pub(super) refused: Vec<Wish>,
    /// Modes that it would not set, and why, since another was set or the list of them changed.
    pub refused_modes: Vec<(String, String)>,
    /// What the agent prints during the log-in that is under way, or was under way last.
    pub(super) login_said: Option<EntryId>,
    /// The review that is shown, if any.
    pub(super) review: Option<Arc<ReviewDoc>>,
    /// What taking the files back to before a turn would do.
    pub(super) rewind: Option<(u64, Vec<Rewound>)>,
}

impl Session {
    /// The last turn has ended with an error of the agent.
    pub fn has_failed(&self) -> bool {
        self.turn.is_none() && self.ended.as_ref().is_some_and(|end| matches!(end.ended, Ended::Failed(_)))
    }

    pub fn entries(&self) -> &Entries {
        &self.entries
    }

    /// Its name, also before the agent has opened it, where that is known: one goes on that the agent has kept.
    pub fn known_id(&self) -> Option<&SessionId> {
        self.id.as_ref().or_else(|| self.opening.id())
    }

    /// What the person asked first.
    pub(super) fn first_prompt(&self) -> Option<EntryId> {
        self.own_slots().find(|(_, slot)| slot.kind() == Kind::User).map(|(at, _)| self.entries.id_at(at))
    }

    /// Without what is above its beginning.
    fn own_slots(&self) -> impl Iterator<Item = (usize, &Slot)> {
        let above = self.begins.0.saturating_sub(self.entries.gone());
        self.entries.slots().enumerate().skip(usize::try_from(above).unwrap_or(usize::MAX))
    }

    /// Whether anybody has said anything in it.
    pub fn has_talked(&self) -> bool {
        self.entries.slots().any(|slot| matches!(slot.kind(), Kind::User | Kind::Agent))
    }

    /// Nothing is in it but a few words of our own.
    pub fn is_untouched(&self) -> bool {
        let is_ours = |entry: &Entry| matches!(&entry.body, Body::Notice(notice) if !notice.by_agent);
        self.entries.len() <= FEW_WORDS && self.entries.slots().all(|slot| slot.here().is_some_and(is_ours))
    }

    /// Its name for `--resume`, where there is something to go on with and its agent can take it up again.
    pub fn id_to_go_on(&self, agent: &Agent) -> Option<&SessionId> {
        let has_talked = self.own_slots().any(|(_, slot)| matches!(slot.kind(), Kind::User | Kind::Agent));
        let can_go_on = agent.can(Can::Load) || agent.can(Can::Resume);
        self.known_id().filter(|_| has_talked && can_go_on && !self.is_aside())
    }

    /// What earlier journals have of it is being read.
    pub fn awaits_earlier(&self) -> bool {
        matches!(self.stored_history, StoredHistory::Awaited | StoredHistory::Coming { .. })
    }

    /// It only answers a question beside another conversation, and is no part of anything unless it is kept.
    pub fn is_aside(&self) -> bool {
        self.beside.is_some_and(|beside| !beside.is_kept)
    }

    /// It is about to be shown, and nothing more.
    pub fn is_to_be_shown(&self) -> bool {
        matches!(self.opening, Opening::Show { .. })
    }

    /// It is no earlier one, and no copy of one.
    pub fn begins_anew(&self) -> bool {
        matches!(self.opening, Opening::New | Opening::After(_))
    }

    /// All that earlier journals have of it is here.
    pub fn is_recalled(&self) -> bool {
        matches!(self.stored_history, StoredHistory::Here | StoredHistory::Joined)
    }

    /// Whether an entry is from an earlier journal.
    pub fn is_of_earlier(&self, entry: EntryId) -> bool {
        self.recalled.contains(&entry)
    }

    /// Why it is only shown, if it is.
    pub fn read_only(&self) -> Option<&ReadOnly> {
        if let SessionState::Closed(Closed::ReadOnly(why)) = &self.state { Some(why) } else { None }
    }

    /// It will be asked for once more, by its id.
    pub fn is_to_go_on(&self) -> bool {
        self.opening.kept().is_some()
    }

    /// Prompts are held that could be sent now.
    pub fn can_let_go(&self) -> bool {
        self.state == SessionState::Ready && self.turn.is_none() && self.held.staying() > 0
    }

    pub fn is_closed(&self) -> bool {
        matches!(self.state, SessionState::Closed(_))
    }

    /// The agent tells what was said before.
    pub fn is_loading(&self) -> bool {
        matches!(self.state, SessionState::Loading { .. })
    }

    pub fn terminal(&self, id: &TermId) -> Option<&Terminal> {
        self.terminals.get(id)
    }

    pub fn terminals(&self) -> impl Iterator<Item = &Terminal> {
        self.terminals.values()
    }

    /// How writes and commands are let through. Without a person to ask there is no gate.
    pub fn gate(&self) -> Gate {
        if matches!(self.policy, Policy::Auto(_)) { Gate::Off } else { self.gate }
    }

    /// The client's own mode at this time.
    pub fn permission_mode(&self, now: Now) -> PermissionMode {
        self.permission_mode.at(now)
    }

    /// The same as it was chosen last; when its time is over that is told, and it is the default one.
    pub fn chosen_permission_mode(&self) -> PermissionMode {
        self.permission_mode.chosen()
    }

    /// How long that still holds, where it ends by itself.
    pub fn permission_mode_left(&self, now: Now) -> Option<Duration> {
        self.permission_mode.left(now)
    }

    /// What the person is asked, in the order it came.
    pub fn questions(&self) -> &[Question] {
        &self.questions
    }

    pub fn question(&self, req: ReqId) -> Option<&Question> {
        self.questions.iter().find(|question| question.req == req)
    }

    /// A write that is not answered yet.
    pub fn write(&self, req: ReqId) -> Option<&Write> {
        self.writes.get(&req)
    }

    pub fn changes(&self) -> &changes::Changes {
        &self.changes
    }

    /// The turn in which the agent may still work: it runs, or ran when the session was closed and is not answered.
    pub fn unended_turn(&self) -> Option<TurnId> {
        self.turn.as_ref().map(|turn| turn.id).or(self.lingering)
    }

    pub fn last_turn(&self) -> TurnId {
        self.last_turn
    }

    /// Why there is no review any more, once it has ended.
    pub fn review_is_off(&self) -> Option<&str> {
        self.changes.off.as_deref()
    }

    pub fn review(&self) -> Option<&Arc<ReviewDoc>> {
        self.review.as_ref()
    }

    /// What taking the files back to before this turn would do.
    pub fn rewind_preview(&self) -> Option<&(u64, Vec<Rewound>)> {
        self.rewind.as_ref()
    }

    pub fn tool(&self, entry: EntryId) -> Option<&ToolCall> {
        match &self.entries.get(entry)?.body {
            Body::Tool(tool) => Some(tool),
            _ => None,
        }
    }

    /// What can be set: the options, and the older list of models where no option stands for it.
    pub fn settings(&self) -> impl Iterator<Item = &ConfigOption> {
        let is_model = |o: &ConfigOption| o.is_category("model") || o.id == OLDER_MODELS;
        let has_option = self.options.iter().any(is_model);
        self.options.iter().chain(self.older_models.iter().filter(move |_| !has_option))
    }

    /// The option that stands for the mode. Where there is one it is followed, and not the older list of modes.
    pub fn mode_option(&self) -> Option<&ConfigOption> {
        let is_choice = |o: &&ConfigOption| matches!(&o.kind, OptionKind::Select { values, .. } if !values.is_empty());
        self.options.iter().filter(|o| o.is_category("mode")).find(is_choice)
    }

    /// The modes, where no option stands for them.
    pub fn older_modes(&self) -> Option<&Modes> {
        self.modes.as_ref().filter(|modes| !modes.available.is_empty() && self.mode_option().is_none())
    }

    /// What the agent has printed during the log-in.
    pub fn log_in_lines(&self) -> &[String] {
        match self.login_said.and_then(|id| self.entries.get(id)).map(|entry| &entry.body) {
            Some(Body::Notice(said)) => &said.detail,
            _ => &[],
        }
    }

    /// Whether more of it is kept.
    pub(super) fn has_room_for_log_in(&self) -> bool {
        self.login_said.is_none() || (1..LOGIN_LINES).contains(&self.log_in_lines().len())
    }

    /// Whether anything in it moves by itself, so that a clock on the screen must run.
    pub fn is_waiting(&self) -> bool {
        self.turn.is_some() || !self.questions.is_empty() || self.commands_of_all().any(Terminal::is_running)
    }

    /// The newest call of this id, as far as it is in memory.
    pub fn call_named(&self, id: &ToolId) -> Option<&ToolCall> {
        self.newest_tool.get(id).and_then(|entry| self.tool(*entry))
    }

    /// The newest command of ours that runs and has not been given up by the agent: the one that keys can go to.
    pub fn running_terminal(&self) -> Option<&Terminal> {
        let running = self.commands_of_all().filter(|t| t.is_running() && !t.released);
        running.max_by_key(|t| (t.started, t.entry))
    }

    /// The newest session that the agent has begun itself, that runs and that can be stopped: its entry and what it is called.
    pub fn running_child(&self) -> Option<(EntryId, &str)> {
        let running = |child: &Child| {
            let call = self.tool(child.entry).filter(|call| child.stops && !call.is_finished())?;
            Some((child.entry, call.label()))
        };
        self.children.values().filter_map(running).max_by_key(|(entry, _)| *entry)
    }

    /// The agent's name of the plan in this entry; nothing of one without a name, or of an earlier turn.
    pub fn plan_id(&self, entry: EntryId) -> Option<&str> {
        self.plans.iter().find(|(_, at)| **at == entry)?.0.as_deref()
    }

    /// The newest thing that the agent does and lets the person end alone.
    pub fn cancellable(&self) -> Option<Item> {
        let lasts = |t: &&Terminal| t.can_cancel && t.exit.is_none() && t.ended.is_none();
        let terminal = self.terminals.values().filter(lasts).max_by_key(|t| (t.started, t.entry));
        let newest = self.entries.slots().rev().take(STATUS_REACH).filter_map(Slot::here);
        let tool = newest.take_while(|e| e.turn == self.last_turn).find_map(|e| match &e.body {
            Body::Tool(tool) if tool.can_be_cancelled() => Some(Item::Tool(tool.id.clone())),
            _ => None,
        });
        tool.or_else(|| terminal.map(|t| Item::Terminal(t.id.as_str().to_owned())))
    }

    /// What a turn does now: the newest call that is neither finished nor refused, of the newest few thousand entries.
    pub fn running_tool(&self) -> Option<&ToolCall> {
        let turn = self.turn.as_ref()?.id;
        let newest = self.entries.slots().rev().take(STATUS_REACH).filter_map(Slot::here);
        newest.take_while(|e| e.turn == turn).find_map(|e| match &e.body {
            Body::Tool(tool) if !tool.is_finished() && !tool.is_turned_down() => Some(&**tool),
            _ => None,
        })
    }

    /// Text of the agent's messages since its last prompt (what `exec` prints and the copy key takes).
    pub fn last_answer(&self) -> Option<&str> {
        self.entries.iter().rev().find_map(|e| match &e.body {
            Body::Agent(m) if !m.text.trim().is_empty() => Some(m.text.as_str()),
            _ => None,
        })
    }
}

/// A mode or value that the agent was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wish {
    pub what: Wished,
    pub value: OptionValue,
    /// The agent has said that it is so; then its answer changes nothing any more.
    pub said: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wished {
    Mode,
    /// The option of this id.
    Option(String),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Turn {
    /// It is stopped so that the agent gets what waits.
    pub goes_on: bool,
    pub id: TurnId,
    /// The prompt.
    pub entry: EntryId,
    /// The agent has begun with it.
    pub is_taken: bool,
    pub started: Now,
    pub waits: Waits,
    /// When the agent was last heard.
    pub heard: Now,
    pub cancelling: Option<Now>,
    pub links: Vec<Link>,
    /// The prompt waits for the snapshot of the files.
    pub is_unsent: bool,
    /// Something of the agent became visible.
    pub spoke: bool,
    pub prompt: String,
    /// What came as `user_message_chunk` and has matched the prompt so far.
    pub echo: String,
    /// Addresses of links that went along and have not come back yet.
    pub unechoed: Vec<String>,
}

impl Turn {
    pub fn spent(&self, now: Now) -> Spent {
        self.waits.spent(self.started, now)
    }
}
