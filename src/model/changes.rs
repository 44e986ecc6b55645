//! What was changed on disk, as far as the model, the screen and the person need it: numbers, documents to look at,
//! and what can be asked of the review.
//!
//! Data only. Who finds the changes is `review`; nothing here reads a file or computes a difference.

use super::ids::{EntryId, ReqId, SessionId, SessionKey, TurnId};
use crate::base::shared::SharedText;
use crate::text::diff::{DiffLine, Kind};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

/// Sums over the changes of the agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    pub added: u64,
    pub removed: u64,
    pub files: u64,
    /// Hunks without a decision.
    pub pending: u64,
}

impl Totals {
    pub const fn is_empty(&self) -> bool {
        self.files == 0
    }
}

/// The same of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileTotals {
    /// Below the session's directory.
    pub path: String,
    pub added: u64,
    pub removed: u64,
    /// It was not there before the agent, or is not any more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_new: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_gone: bool,
}

/// By what a file was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// `fs/write_text_file`: through the client.
    Write,
    /// A tool call that named the file.
    Tool,
    /// A command, of the client's or of the agent's own.
    Command,
    /// In a turn, and nothing tells by what.
    Unknown,
    /// The person, meanwhile.
    Person,
    /// A decision of the review, or an undo.
    Review,
    /// The merge of a worktree, which the person has asked for.
    Merge,
}

impl Cause {
    /// The person did it, or it was done at their word with what is no work of this review's agents.
    #[must_use]
    pub const fn is_persons(self) -> bool {
        matches!(self, Self::Person | Self::Merge)
    }
}

/// What has become of a hunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HunkState {
    Pending,
    Accepted,
    Rejected,
    /// The person has changed it.
    Edited,
    /// A later change has taken its place.
    Superseded,
}

/// What the review shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Against the last accepted state: what is still to be decided.
    #[default]
    Pending,
    /// One turn of the session, from 1.
    Turn(u64),
    Session,
}

/// The review as it can be looked at. Immutable; a later one has a larger `rev`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReviewDoc {
    pub rev: u64,
    pub scope: Scope,
    /// Turns that changed something, oldest first.
    pub turns: Vec<u64>,
    /// Sorted by path.
    pub files: Vec<Arc<FileDoc>>,
    /// Sums over what is shown.
    pub totals: Totals,
    /// Hunks in it that were decided, and all.
    pub decided: (u64, u64),
    /// What could not be covered, in words; empty when everything was.
    pub uncovered: Vec<String>,
    /// Not every look has come to its end: there may be changes that are not known.
    #[serde(default)]
    pub is_partial: bool,
    /// What those are called that are not counted like this in their conversations.
    #[serde(default)]
    pub names: BTreeMap<u64, TurnName>,
    /// What earlier runs of its sessions have left.
    #[serde(default)]
    pub left: Vec<LeftRun>,
    /// What undo and redo would take back or do again, in words.
    pub undo: Option<String>,
    pub redo: Option<String>,
}

impl ReviewDoc {
    /// What a turn of the run is called.
    pub fn name(&self, turn: u64) -> TurnName {
        self.names.get(&turn).cloned().unwrap_or(TurnName { number: turn, session: None })
    }
}

/// A turn as its conversation counts it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnName {
    /// Of the session, over all its runs, from 1.
    pub number: u64,
    /// The session, where several have turns in the run.
    pub session: Option<String>,
}

/// An earlier run of a session in which something is left.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftRun {
    /// The name under which it is stored.
    pub stem: String,
    /// Or why nobody knows.
    pub left: Result<Left, String>,
}

/// What is left of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Left {
    /// Files that an undo of it would take back.
    pub files: u64,
    /// Hunks that are to be decided.
    pub pending: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileChange {
    Created,
    Modified,
    Deleted,
    Renamed,
    /// The mode, and nothing else.
    Mode,
    /// A file became a link, or the other way round.
    Kind,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FileDoc {
    /// Below the root.
    pub path: PathBuf,
    pub renamed_from: Option<PathBuf>,
    pub change: FileChange,
    pub added: u64,
    pub removed: u64,
    /// Of the newest change in it.
    pub cause: Cause,
    pub hunks: Vec<HunkDoc>,
    /// What the hunks do not show: "CRLF", "UTF-16", "too large to show line by line".
    pub note: Option<String>,
    /// The agent waits for the decision: nothing of it is on the disk.
    pub held: Option<ReqId>,
}

impl FileDoc {
    pub fn pending(&self) -> usize {
        self.hunks.iter().filter(|h| h.state == HunkState::Pending).map(|h| h.count as usize).sum()
    }
}

/// Part of a file's change that can be decided by itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HunkDoc {
    /// Stays as long as its text stays; unique in its file.
    pub id: HunkId,
    pub state: HunkState,
    pub cause: Cause,
    /// The entry of the tool call, write or command that made it, where one is known.
    pub entry: Option<EntryId>,
    /// The session of that entry, where it is not the one that looks.
    #[serde(default)]
    pub elsewhere: Option<SessionKey>,
    /// The turn that made it, from 1; 0 when none did.
    pub turn: u64,
    /// First line in the old and the new text, from 1.
    pub old_start: u32,
    pub new_start: u32,
    /// The last line above it that begins a block ("fn total()"), or nothing.
    pub heading: String,
    pub what: HunkKind,
    /// How many it stands for: of very many files those of one are decided together.
    #[serde(default = "one")]
    pub count: u32,
    /// Of the whole hunk, shown or not.
    #[serde(default)]
    pub added: u32,
    #[serde(default)]
    pub removed: u32,
    /// With context, as far as there was room; empty unless `what` is [`HunkKind::Lines`].
    pub lines: Arc<[DiffLine]>,
    /// Why it cannot simply be rejected: later edits touched it.
    pub conflict: Option<String>,
}

const fn one() -> u32 {
    1
}

impl HunkDoc {
    /// How many of its changed lines are not among those that are shown.
    pub fn left_out(&self) -> usize {
        let shown = self.lines.iter().filter(|line| line.kind != Kind::Context).count();
        (self.added as usize + self.removed as usize).saturating_sub(shown)
    }
}

/// What a hunk changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum HunkKind {
    Lines,
    /// Only as a whole, in words: "binary, 2.1 kB → 3.0 kB", "link to a → link to b", "line endings LF → CRLF".
    Whole(String),
    /// Permission bits, in octal.
    Mode(u32, u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct HunkId(pub u64);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Accept,
    Reject,
}

/// What a decision is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    All,
    File(PathBuf),
    Hunk(PathBuf, HunkId),
    /// Some lines of a hunk: indices into its `lines`.
    Lines(PathBuf, HunkId, Range<usize>),
}

/// What the person can ask of the review.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReviewAction {
    /// Look at the disk again and show this.
    Show(Scope),
    /// The review is not on the screen any more.
    Close,
    Decide {
        scope: Scope,
        target: Target,
        verdict: Verdict,
    },
    /// Puts other lines in the place of a hunk's new ones. `text` has LF line ends.
    Edit {
        scope: Scope,
        path: PathBuf,
        hunk: HunkId,
        text: String,
    },
    /// On a conflict: reject all the same, later edits included.
    Force {
        scope: Scope,
        path: PathBuf,
        hunk: HunkId,
    },
    Undo,
    Redo,
    /// Rewinds the files to before a turn.
    Rewind {
        turn: u64,
    },
    /// Only says what that would do.
    PreviewRewind {
        turn: u64,
    },
    /// Says where a line of a file came from, as it is now; from 0. `text` is the line as the asker sees it.
    Blame {
        path: PathBuf,
        line: usize,
        text: String,
    },
    /// Writes a patch of what is shown.
    Export {
        scope: Scope,
        path: PathBuf,
    },
}

/// What is asked of the review, to be carried out in this order.
#[derive(Clone, Debug, PartialEq)]
pub enum ReviewCommand {
    /// A session of the agent was opened; turns from `first_turn` on are its.
    Session {
        id: SessionId,
        first_turn: TurnId,
        agent: String,
        /// It is an earlier one that was loaded or resumed.
        goes_on: bool,
        /// It answers a question beside another one.
        is_aside: bool,
    },
    /// Look at everything before a prompt goes out; answered by a fact.
    BeginTurn(TurnId),
    /// The prompt of this turn goes out although that look is not finished.
    SentEarly(TurnId),
    /// Look at everything after a turn; answered by a fact.
    EndTurn(TurnId),
    /// There are news of the tool call with this entry.
    ToolCall(EntryId),
    /// A command of the client was asked for, whether it is to run or not.
    CommandAsked,
    /// What has become of a command of the client that was let go: it runs, with its entry, or could not be started.
    CommandStarted {
        req: ReqId,
        entry: Option<EntryId>,
    },
    /// A command of the person's own, by its number, runs or has ended.
    ShellRun {
        number: u64,
        finished: bool,
    },
    /// A command of the client has ended.
    CommandEnded(EntryId),
    /// What the diffs of a question would really do; `asked` comes back with the answer.
    Preview {
        req: ReqId,
        asked: u64,
    },
    /// A write that waits for a decision; `asked`: a plain answer. With `over` it is said whether the file is still so.
    Hold {
        req: ReqId,
        path: String,
        content: SharedText,
        entry: EntryId,
        asked: bool,
        over: Option<Before>,
    },
    /// It is said whether a file outside of the session's directories is still what it was.
    CompareOutside {
        req: ReqId,
        path: PathBuf,
        over: Before,
    },
    /// The person has decided on a held write as a whole.
    DecideHeld {
        req: ReqId,
        write: bool,
    },
    /// The request of a held write is void.
    LetGo(ReqId),
    Act(ReviewAction),
}

/// What the review says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ReviewEvent {
    /// The snapshot before a prompt is finished, or why there is none.
    TurnCovered {
        turn: TurnId,
        covered: Result<(), String>,
    },
    /// A turn has been looked at after its end.
    TurnReviewed {
        turn: TurnId,
        totals: Totals,
        session: Totals,
        after: bool,
    },
    /// The look after a turn has failed: what it has changed is not known.
    TurnNotReviewed {
        turn: TurnId,
    },
    /// The sums of the session have changed.
    ChangesSeen {
        session: Totals,
        after: bool,
    },
    /// The files of the newest turns that have changed the sums, a few.
    FilesSeen {
        newest: Vec<FileTotals>,
    },
    /// So many hunks of earlier runs are not decided.
    LeftBefore(u64),
    /// What this session has changed by itself, where others have a part in the sums.
    OwnChanges {
        totals: Totals,
    },
    /// What the diffs of a question would really do, in their order. `asked` is that of the wish.
    #[serde(alias = "Truths")]
    Previews {
        req: ReqId,
        asked: u64,
        #[serde(alias = "truths")]
        previews: Vec<WritePreview>,
    },
    /// The lines of their files at which the changes of a call stand, in their order, as far as they are known.
    PlacesFound {
        entry: EntryId,
        lines: Vec<Option<u32>>,
    },
    /// A write waits for the person.
    WriteHeld {
        req: ReqId,
    },
    /// The review cannot keep what is on the disk for a write that is asked about.
    NotKept {
        req: ReqId,
    },
    /// Whether the file of a stopped write is to the byte what the person was shown when they allowed the change.
    DiskCompared {
        req: ReqId,
        same: bool,
    },
    /// A stopped write does not go with what the person has changed on the disk since.
    WriteAgain {
        req: ReqId,
    },
    HeldDecided {
        req: ReqId,
        outcome: HeldOutcome,
    },
    ReviewDone {
        words: String,
        rewound: Vec<Rewound>,
    },
    RewindPreviewed {
        turn: u64,
        rewound: Vec<Rewound>,
    },
    /// What the person asked of the review writes many files; so far so many.
    ReviewWrites {
        done: usize,
        of: usize,
    },
    /// The newest state of the review that the person looks at.
    ReviewShown {
        doc: Arc<ReviewDoc>,
    },
    /// What the person asked of the review was not done.
    ReviewFailed {
        message: String,
    },
    /// Something of the review did not work; `what` is its sort.
    ReviewTrouble {
        what: String,
        message: String,
    },
    /// There is no room for a review; it begins when there is.
    ReviewWaits {
        message: String,
    },
    /// There was no room at first.
    ReviewBegun,
    /// There is no review, or none any more.
    ReviewOff {
        message: String,
    },
}

/// What an undo by turn does, or would do, to a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rewound {
    pub path: PathBuf,
    pub outcome: RewindOutcome,
    /// What else there is to say: what is not as it was, or why it was left alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remark: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RewindOutcome {
    /// As before the turn.
    Restored,
    /// Was created in the turn and is gone now.
    Removed,
    /// Without the agent's changes; the person's stay.
    Merged,
    /// Left alone: the same lines were changed since, by whomever.
    Conflict,
    /// Left alone: the change has no attribution, so that it may be the person's.
    Doubtful,
    /// Left alone: another run wrote it, too; the remark names that.
    Beside,
    /// Left alone: what it was before was not kept.
    NotKept,
    /// Left alone: it could not be written.
    Failed,
}

/// The text of a file before a change; nothing where there is no file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Before(pub Option<Arc<str>>);

/// What the review says of a write, before it happens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WritePreview {
    pub path: PathBuf,
    /// The text on the disk, nothing when there is no file or no text.
    pub old: Option<Arc<str>>,
    /// The text that would be there.
    pub new: Arc<str>,
    /// How the agent's view differs from the disk, in words.
    pub differs: Option<String>,
}

/// How writes through the client, and commands, are let through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gate {
    /// At once.
    #[default]
    Off,
    /// Each is a question.
    Ask,
    /// Writes wait for a decision on each hunk; commands are a question.
    Hold,
}

impl Gate {
    pub const ALL: [Self; 3] = [Self::Off, Self::Ask, Self::Hold];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Ask => "ask",
            Self::Hold => "hold",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|gate| gate.name() == name)
    }

    /// The one after it, and after the last the first.
    pub const fn next(self) -> Self {
        match self {
            Self::Off => Self::Ask,
            Self::Ask => Self::Hold,
            Self::Hold => Self::Off,
        }
    }
}

/// Bytes of a difference that an agent is told.
pub const MAX_DIFFERENCE: usize = 8 << 10;

/// What became of a write that was held.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HeldOutcome {
    /// All of it is on the disk.
    Whole { created: bool, bytes: u64 },
    /// Something else is on the disk; how that differs from what the agent wanted, as a unified diff.
    Partly { differs: String },
    /// Nothing was written.
    Refused,
    /// It could not be held or written.
    Failed { message: String },
}
