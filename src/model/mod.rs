//! The truth about the agent, its session and the transcript. Pure data and one reducer; no IO, no clock, no
//! channels. The same events give the same model.

pub mod changes;
pub mod effect;
pub mod entries;
pub mod entry;
pub mod event;
pub mod ids;
pub mod login;
pub mod options;
pub mod reduce;
pub mod refusal;
pub mod session;
pub mod tool;

use changes::{Changes, Gate};
use entries::Entries;
use ids::{EntryId, Now, ReqId, SessionId, TermId, ToolId, TurnId};
use session::{AgentState, Phase, Policy, Session, Terminal};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use tool::ToolCall;

/// Everything that is known. Changed by [`reduce::reduce`] only.
#[derive(Debug, Default)]
pub struct Model {
    agent: AgentState,
    phase: Phase,
    session: Session,
    entries: Entries,
    terminals: BTreeMap<TermId, Terminal>,
    policy: Policy,
    last_turn: TurnId,
    /// Updates and requests that named a session before `session/new` was answered.
    early: Vec<reduce::Early>,
    /// The newest entry of each tool call id.
    newest_tool: HashMap<ToolId, EntryId>,
    /// The newest message from elsewhere, with its id.
    elsewhere: Option<(EntryId, Option<Arc<str>>)>,
    /// About how many bytes of text the agent has fed to terminals of its own.
    fed: usize,
    /// Entries before this one belong to an earlier session, whose ids mean nothing now.
    session_from: EntryId,
    /// The plan of the running turn.
    plan: Option<EntryId>,
    changes: Changes,
    gate: Gate,
    /// Writes and commands that the gate has stopped and that are not answered.
    gated: BTreeMap<ReqId, reduce::Gated>,
    /// Writes on their way: their entry and text.
    writes: BTreeMap<ReqId, (EntryId, Arc<str>)>,
    /// Terminals that are being started.
    creating: BTreeMap<ReqId, event::TerminalSpec>,
    /// Sorts of odd messages that the transcript has told of already, so that a flood of them is one line.
    noticed: std::collections::BTreeSet<String>,
    /// What the agent prints during the log-in that is under way, or was under way last.
    login_said: Option<EntryId>,
    /// What the person may have meant when the agent's command speaks no ACP ("gemini --acp").
    suggestion: Option<String>,
    /// The review that is shown, if any.
    review: Option<Arc<changes::ReviewDoc>>,
    /// What taking the files back to before a turn would do.
    rewind: Option<(u64, Vec<changes::Rewound>)>,
}

impl Model {
    /// `command` is the agent's command line for display, `cwd` the session's absolute directory.
    pub fn new(command: String, cwd: String, policy: Policy) -> Self {
        Self {
            agent: AgentState { command, ..AgentState::default() },
            session: Session { cwd, ..Session::default() },
            policy,
            ..Self::default()
        }
    }

    /// Names a command to try when this one does not speak the protocol.
    pub fn with_suggestion(mut self, suggestion: Option<String>) -> Self {
        self.suggestion = suggestion;
        self
    }

    /// Names the variables that the configuration gives the agent.
    pub fn with_env(mut self, names: Vec<String>) -> Self {
        self.agent.env = names;
        self
    }

    pub fn suggestion(&self) -> Option<&str> {
        self.suggestion.as_deref()
    }

    /// What a program has printed instead of answering `initialize`, and what to try with it. Empty once it answered.
    pub fn stray_start(&self) -> Vec<String> {
        let (Phase::Starting { .. }, Some(stray)) = (&self.phase, &self.agent.early_stray) else { return Vec::new() };
        vec![stray.clone(), self.interface_hint()]
    }

    /// What to try with a program that speaks to people instead of the protocol.
    pub fn interface_hint(&self) -> String {
        self.suggestion.as_ref().map_or_else(
            || "Start it with the option that makes it speak the Agent Client Protocol.".to_owned(),
            |command| format!("Did you mean `{command}`?"),
        )
    }

    pub fn review(&self) -> Option<&Arc<changes::ReviewDoc>> {
        self.review.as_ref()
    }

    /// The newest document of the review, or none any more; not an event, so it is not in the journal.
    pub fn show_review(&mut self, doc: Option<Arc<changes::ReviewDoc>>) {
        self.review = doc;
    }

    /// What taking the files back to before this turn would do.
    pub fn rewind_preview(&self) -> Option<&(u64, Vec<changes::Rewound>)> {
        self.rewind.as_ref()
    }

    pub fn show_rewind(&mut self, preview: Option<(u64, Vec<changes::Rewound>)>) {
        self.rewind = preview;
    }

    pub fn agent(&self) -> &AgentState {
        &self.agent
    }

    /// Whether what the agent prints now is shown: somebody logs in, and not too much has come yet.
    pub fn hears_log_in(&self) -> bool {
        let room = |id| match self.entries.get(id).map(|e| &e.body) {
            Some(entry::Body::Notice(said)) => said.detail.len() < reduce::LOGIN_LINES,
            _ => false,
        };
        matches!(self.phase, Phase::Authenticating { .. }) && self.login_said.is_none_or(room)
    }

    pub fn phase(&self) -> &Phase {
        &self.phase
    }

    pub fn session(&self) -> &Session {
        &self.session
    }

    pub fn session_id(&self) -> Option<&SessionId> {
        self.session.id.as_ref()
    }

    pub fn entries(&self) -> &Entries {
        &self.entries
    }

    pub fn terminal(&self, id: &TermId) -> Option<&Terminal> {
        self.terminals.get(id)
    }

    pub fn terminals(&self) -> impl Iterator<Item = &Terminal> {
        self.terminals.values()
    }

    pub fn policy(&self) -> Policy {
        self.policy
    }

    /// Somebody looks at the files: prompts wait for the snapshot.
    pub fn with_review(mut self, is_on: bool) -> Self {
        self.changes.is_on = is_on;
        self
    }

    pub fn with_gate(mut self, gate: Gate) -> Self {
        self.gate = gate;
        self
    }

    /// How writes and commands are let through. Where nobody is asked there is no gate.
    pub fn gate(&self) -> Gate {
        if matches!(self.policy, Policy::Auto(_)) { Gate::Off } else { self.gate }
    }

    pub fn changes(&self) -> &Changes {
        &self.changes
    }

    pub fn last_turn(&self) -> TurnId {
        self.last_turn
    }

    pub fn tool(&self, entry: EntryId) -> Option<&ToolCall> {
        match &self.entries.get(entry)?.body {
            entry::Body::Tool(tool) => Some(tool),
            _ => None,
        }
    }

    /// Whether anything moves by itself, so that a clock on the screen must run.
    pub fn is_waiting(&self) -> bool {
        self.session.turn.is_some()
            || !self.session.pending.is_empty()
            || matches!(self.phase, Phase::Starting { .. } | Phase::Opening { .. } | Phase::Authenticating { .. })
            || self.terminals.values().any(session::Terminal::is_running)
    }

    /// The newest command of ours that runs and has not been given up by the agent: the one that keys can go to.
    pub fn running_terminal(&self) -> Option<&Terminal> {
        let running = self.terminals.values().filter(|t| t.is_running() && !t.released);
        running.max_by_key(|t| (t.started, t.entry))
    }

    /// The newest screen of a terminal; a hint, not an event, so it is not in the journal.
    pub fn show_terminal(&mut self, id: &TermId, screen: Arc<crate::text::grid::ScreenSnapshot>, now: Now) {
        let Some(terminal) = self.terminals.get_mut(id) else { return };
        if terminal.screen.as_ref().is_none_or(|s| s.generation != screen.generation) {
            terminal.moved = now;
        }
        terminal.screen = Some(screen);
        let shown: Vec<EntryId> = terminal.entry.iter().chain(&terminal.embedded).copied().collect();
        for entry in shown {
            self.entries.touch(entry);
        }
    }

    /// The title, kind and text of what a turn does now, for the status line: the newest tool call that is not
    /// settled.
    pub fn running_tool(&self) -> Option<&ToolCall> {
        let turn = self.session.turn.as_ref()?.id;
        self.entries.iter().rev().take_while(|e| e.turn == turn).find_map(|e| match &e.body {
            entry::Body::Tool(tool) if !tool.is_settled() => Some(&**tool),
            _ => None,
        })
    }

    /// Text of the agent's messages since its last prompt (what `exec` prints and the copy key takes).
    pub fn last_answer(&self) -> Option<&str> {
        self.entries.iter().rev().find_map(|e| match &e.body {
            entry::Body::Agent(m) if !m.text.trim().is_empty() => Some(m.text.as_str()),
            _ => None,
        })
    }
}
