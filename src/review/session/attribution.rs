//! What the agent says it is doing, and from that: by what a file was changed.
//!
//! Reads nothing. Invariants: a change is only ever called the person's when no turn runs, no command of the agent
//! does, and no call that the agent has told of since the turn names it; in a turn a change that no call explains stays
//! open to review, in doubt where the agent says what it does, where a command of the person's may have made it, or where
//! it went at a time that is not known and a turn has ended since without a look. What happened while such a command ran
//! is a call's doing only as far as the call says what it puts there. A call explains only what happened while it ran.
//! Turns of several sessions may overlap: what a call explains is of its own turn, the rest of the one that began last.
//! What no look could find when a turn began or ended is put down to the turn by the time at which it was changed.

mod kept;
pub mod late;
mod sayers;

use self::late::{Gap, Over};
use crate::model::changes::Cause;
use crate::model::ids::{EntryId, ReqId};
use crate::review::history::ran::Ran;
use crate::review::protocol::{ClaimedEdit, ToolEffect, ToolNote};
use crate::review::session::telling::Telling;
use crate::review::session::unexplained::{Found, Unexplained, When};
use crate::review::snapshot::clock::TICK;
use crate::review::state::Oid;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{BuildHasher as _, RandomState};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// Agents tell of a call a little after it began, or of its end a little before its last write.
pub(super) const SLACK: Duration = Duration::from_millis(300);
/// What changed so much before the news that a command has begun is its doing for certain.
const LEAD: Duration = TICK.saturating_mul(3);
/// Paths and diffs of one call that are remembered; what it names later is not.
const MAX_NAMED: usize = 2000;
/// Calls of one turn that are remembered; of more, the oldest that are over are forgotten.
const MAX_TOOLS: usize = 4096;

/// Where a call puts what in the place of what.
type Claim = (PathBuf, Option<Arc<str>>, Arc<str>);

#[derive(Clone, Debug)]
struct Tool {
    /// The turn in which it was heard of first.
    turn: Option<u64>,
    doing: ToolEffect,
    waits: bool,
    /// It was told of while no turn ran, and was not over by then: the agent has said too early that it is idle.
    goes_on: bool,
    /// When it was heard of first, by the clock of the files; nothing when it was over by then, and may have run at any time before.
    from: Option<SystemTime>,
    /// When it was heard to be over.
    until: Option<SystemTime>,
    /// The clock of the files was set while it ran or since: it may have run at any time.
    adrift: bool,
    /// The look after which it was finished.
    finished_at: u64,
    paths: Vec<PathBuf>,
    claims: Vec<Claim>,
    /// It has said what it puts there, and that is not kept any more.
    lost: bool,
    /// Bytes of paths and claims, about.
    size: usize,
    /// Paths that were written through the client while it was known: it has had its write of them.
    served: BTreeSet<PathBuf>,
}

impl Tool {
    const fn new(turn: Option<u64>, doing: ToolEffect) -> Self {
        Self {
            turn,
            doing,
            waits: false,
            goes_on: false,
            from: None,
            until: None,
            adrift: false,
            finished_at: 0,
            paths: Vec::new(),
            claims: Vec::new(),
            lost: false,
            size: 0,
            served: BTreeSet::new(),
        }
    }

    const fn is_finished(&self) -> bool {
        self.until.is_some()
    }

    /// Whether it was not running when something changed: what it does not say that it puts there may be the person's.
    fn was_at_rest(&self, when: When) -> bool {
        let is_command = self.doing == ToolEffect::Runs;
        // Something where a file was removed may have changed later than that.
        let (When::At(at) | When::By(at)) = when;
        (is_command || matches!(when, When::At(_))) && !self.ran(at, if is_command { LEAD } else { SLACK }, TICK)
    }

    /// Whether it ran then, where it may have begun that much before it was told of, and ended that much after.
    fn ran(&self, at: SystemTime, before: Duration, after: Duration) -> bool {
        let has_begun = self.from.is_none_or(|from| at + before >= from);
        self.adrift || has_begun && self.until.is_none_or(|until| at <= until + after)
    }

    /// Whether it says that it changes this path, and has not had the client write it. One that says nothing of texts has
    /// changed what is below a directory that it names.
    fn names(&self, path: &Path) -> bool {
        let is_named = |named: &PathBuf| named == path || self.claims.is_empty() && is_below(path, named);
        let named = self.paths.iter().any(is_named) || self.claims.iter().any(|c| c.0 == path);
        named && !self.served.contains(path)
    }
}

/// Whether a path stands below a directory. By bytes: `Path::starts_with` goes through the parts of both, and this is asked of
/// each call that is known.
fn is_below(path: &Path, dir: &Path) -> bool {
    let (path, dir) = (path.as_os_str().as_encoded_bytes(), dir.as_os_str().as_encoded_bytes());
    !dir.is_empty() && path.strip_prefix(dir).is_some_and(|rest| rest.first() == Some(&b'/'))
}

/// From when on something may be the doing of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LetGo {
    At(SystemTime),
    /// The clock of the files was set since.
    Anytime,
}

/// Cause, whether that is in doubt, the entry, and the turn where that is certain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attributed {
    pub cause: Cause,
    pub doubt: bool,
    /// A command of the person's ran then: what a call does not say that it puts there may be theirs.
    pub beside_persons: bool,
    /// The same of another run of this program, which wrote the file then.
    pub beside_run: bool,
    /// The call had not begun by then, or had ended.
    pub was_at_rest: bool,
    pub entry: Option<u64>,
    pub turn: Option<u64>,
}

impl Attributed {
    pub const fn new(cause: Cause, entry: Option<u64>) -> Self {
        Self { cause, doubt: false, beside_persons: false, beside_run: false, was_at_rest: false, entry, turn: None }
    }

    /// Nobody accounts for it, and it may be the person's.
    pub const fn in_doubt(beside_persons: bool) -> Self {
        Self { doubt: true, beside_persons, ..Self::new(Cause::Unknown, None) }
    }

    /// The same where a call does not say what it puts there.
    pub const fn unclaimed(self) -> Self {
        if self.needs_claim() { self.doubtful() } else { self }
    }

    const fn doubtful(self) -> Self {
        Self { beside_run: self.beside_run, ..Self::in_doubt(self.beside_persons) }
    }

    /// The same where another run wrote the file then. Nobody asks about what is the person's.
    pub const fn with_run(self) -> Self {
        let with = Self { beside_run: true, ..self };
        match self.cause {
            Cause::Person => self,
            Cause::Tool => with,
            _ => with.doubtful(),
        }
    }

    /// Whether it is a call's doing only as far as the call says what it puts there.
    pub const fn needs_claim(self) -> bool {
        (self.beside_persons || self.beside_run || self.was_at_rest) && matches!(self.cause, Cause::Tool)
    }

    pub const fn of_turn(self, turn: Option<u64>) -> Self {
        Self { turn, ..self }
    }

    /// Whether the agent has said that it did it.
    pub const fn is_certain(self) -> bool {
        !self.beside_persons && matches!(self.cause, Cause::Tool | Cause::Command)
    }
}

#[derive(Debug, Default)]
pub struct Attribution {
    /// Those that run, the newest last.
    turns: Vec<u64>,
    tools: BTreeMap<u64, Tool>,
    /// Looks so far; a tool call counts for a look when it was not finished before the look before it.
    looks: u64,
    last_scan: u64,
    /// Turns since the last look at everything that could not be looked at as they should.
    gaps: Vec<Gap>,
    /// Writes through the client since no turn ran.
    wrote: bool,
    /// What agents have told of in their turns so far.
    pub telling: Telling,
    /// The number of the last look at each path that was looked at by itself.
    looked: HashMap<u64, u64>,
    /// Paths are known by their hashes there: of very many they take more than all else.
    hasher: RandomState,
    /// Commands of the client that may start or have started, and of which nobody has told yet.
    starting: BTreeMap<ReqId, LetGo>,
    /// Writes through the client that have begun, what they write and for whom.
    under_way: HashMap<PathBuf, (Oid, Attributed)>,
    unexplained: Unexplained,
    /// The turn that is looked at, if it is over.
    pub over: Option<Over>,
    /// The look that is being taken was set off by nobody's news.
    pub is_between: bool,
}

impl Attribution {
    /// The turn that runs; of several the one that began last.
    pub fn turn(&self) -> Option<u64> {
        self.turns.last().copied()
    }

    /// All that run.
    pub fn turns(&self) -> &[u64] {
        &self.turns
    }

    /// A turn that has begun stands behind all others that run: what nobody announces is theirs.
    pub fn stands_behind(&mut self, turn: u64) {
        if let Some(at) = self.turns.iter().position(|other| *other == turn) {
            self.turns.get_mut(..=at).into_iter().for_each(|before| before.rotate_right(1));
        }
    }

    pub fn begin(&mut self, turn: u64) {
        // What still runs in the background stays known, and what turns of other sessions do.
        let turns = &self.turns;
        let is_others = |tool: &Tool| tool.turn.is_some_and(|of| of != turn && turns.contains(&of));
        self.tools.retain(|_, tool| {
            is_others(tool) || !tool.is_finished() && matches!(tool.doing, ToolEffect::Runs | ToolEffect::Persons)
        });
        self.turns.retain(|other| *other != turn);
        self.wrote &= !self.turns.is_empty();
        self.turns.push(turn);
    }

    /// The agent tells of something in that turn; where none is named, in the only one that runs.
    fn tells(&mut self, turn: Option<u64>, doing: ToolEffect) {
        let only = if let [only] = *self.turns { Some(only) } else { None };
        if let Some(turn) = turn.or(only) {
            self.telling.note(turn, doing);
        }
    }

    /// It asks for a command of the client.
    pub fn command_asked(&mut self) {
        self.wrote = true;
        self.tells(None, ToolEffect::Runs);
    }

    pub fn end(&mut self, turn: u64) {
        self.turns.retain(|other| *other != turn);
        if self.turns.is_empty() {
            self.unexplained.clear();
        }
    }

    /// No call that is known explains this: the news of one may be on its way.
    pub fn leave_unexplained(&mut self, found: Found) {
        if !self.turns.is_empty() {
            self.unexplained.add(found);
        }
    }

    /// What was left so and this call, which edits files, may explain: the agent has told of it after it was found. Each is
    /// left no more, and comes with whether the call has to say that it did it: it may have run `since` then, and what was
    /// there earlier was found when it was, unless news were late.
    pub fn explains(&mut self, entry: EntryId, since: LetGo) -> Option<(Vec<(Found, bool)>, Attributed)> {
        // Nearly always: so news of a call cost nothing, however many calls are known.
        if self.unexplained.is_empty() {
            return None;
        }
        let tool =
            self.tools.get(&entry.0).filter(|tool| !tool.waits && !tool.lost && tool.doing == ToolEffect::Edits)?;
        let from = tool.from;
        let LetGo::At(since) = from.map_or(since, LetGo::At) else { return None };
        let persons: Vec<&Tool> = self.tools.values().filter(|tool| tool.doing == ToolEffect::Persons).collect();
        let needs_claim = |found: &Found| {
            let (When::At(at) | When::By(at)) = found.when;
            // What no news set off proves nothing: without it this would be the call's, or not, by the same rule.
            let is_earlier =
                if found.is_between { from.is_some_and(|from| at + SLACK < from) } else { at + TICK < since };
            found.needs_claim || is_earlier || tool.was_at_rest(found.when)
        };
        let is_its = |found: &Found| {
            let (When::At(at) | When::By(at)) = found.when;
            tool.names(&found.path)
                && (!needs_claim(found) || tool.claims.iter().any(|claim| claim.0 == found.path))
                && tool.until.is_none_or(|until| at <= until + SLACK)
                && !persons.iter().any(|tool| Self::could(tool, found.when))
        };
        let turn = tool.turn.filter(|turn| self.turns.contains(turn));
        let with_need = |found: Found| {
            let needs_claim = needs_claim(&found);
            (found, needs_claim)
        };
        let all = self.unexplained.take(is_its).into_iter().map(with_need).collect();
        Some((all, Attributed::new(Cause::Tool, Some(entry.0)).of_turn(turn)))
    }

    /// The same where the files could not be looked at before it.
    pub fn begin_unseen(&mut self, turn: u64, at: SystemTime) {
        self.begin(turn);
        self.gaps.push(Gap { turn, since: Some(at), until: None });
    }

    /// It has ended, and the files could not be looked at after it.
    pub fn end_unseen(&mut self, turn: u64, at: SystemTime) {
        self.end(turn);
        match self.gaps.iter_mut().find(|gap| gap.turn == turn) {
            // Looked for once more.
            Some(gap) => gap.until = gap.until.or(Some(at)),
            None => self.gaps.push(Gap { turn, since: None, until: Some(at) }),
        }
    }

    /// Turns that could not be looked at when they began or ended, and not since.
    pub fn unseen(&self) -> impl Iterator<Item = u64> {
        self.gaps.iter().map(|gap| gap.turn)
    }

    /// The turn of what no call explains and was changed then.
    fn turn_at(&self, when: When) -> Option<u64> {
        let began_later = |turn: u64, at: SystemTime| {
            self.gaps.iter().any(|gap| gap.turn == turn && gap.since.is_some_and(|since| at < since))
        };
        match when {
            When::At(at) => {
                let unseen = self.gaps.iter().rev().find(|gap| gap.has(at)).map(|gap| gap.turn);
                unseen.or_else(|| self.turns.iter().rev().copied().find(|turn| !began_later(*turn, at)))
            }
            When::By(_) => self.turn().or_else(|| self.gaps.last().map(|gap| gap.turn)),
        }
    }

    /// The turn was cut short and little is known of it, but that the agent told what it did.
    pub fn presume_told(&mut self) {
        self.wrote = true;
    }

    /// A path is written through the client: what else happens to it is no longer the doing of the calls known so far.
    pub fn writes(&mut self, path: &Path) {
        self.wrote = true;
        for tool in self.tools.values_mut() {
            tool.served.insert(path.to_owned());
        }
    }

    /// A command of the client may start from now on.
    pub fn let_go(&mut self, req: ReqId, at: SystemTime) {
        self.starting.insert(req, LetGo::At(at));
    }

    /// It was told of, or never started. Since when it may have run.
    pub fn started(&mut self, req: ReqId) -> Option<LetGo> {
        self.starting.remove(&req)
    }

    /// Takes note; `places` gives what a path may mean below the root, a link followed last. Whether the call has just
    /// finished. `at` is when it was heard, and `since` from when on it may have run, by the clock of the files.
    pub fn note(
        &mut self,
        note: &ToolNote,
        since: LetGo,
        at: SystemTime,
        places: impl Fn(&Path) -> Vec<PathBuf>,
    ) -> bool {
        let since = if let LetGo::At(since) = since { Some(since) } else { None };
        self.tells(note.turn, note.doing);
        if self.tools.len() >= MAX_TOOLS && !self.tools.contains_key(&note.entry.0) {
            // However many the agent tells of, commands of the person's stay known.
            let mut its = self.tools.iter().filter(|(_, tool)| tool.doing != ToolEffect::Persons);
            let old = its.clone().find(|(_, tool)| tool.is_finished()).or_else(|| its.next());
            let old = old.or_else(|| self.tools.iter().next()).map(|(entry, _)| *entry);
            old.map(|entry| self.tools.remove(&entry));
        }
        let (looks, is_idle) = (self.looks, self.turns.is_empty());
        let from = since.filter(|_| !note.finished);
        let new = || Tool { from, ..Tool::new(note.turn, note.doing) };
        let tool = self.tools.entry(note.entry.0).or_insert_with(new);
        tool.doing = note.doing;
        tool.waits = note.waits;
        tool.goes_on |= is_idle && !tool.is_finished();
        // A path that has become a link meanwhile is another one now; the call was about the one before.
        for path in note.paths.iter().flat_map(|p| places(p)) {
            tool.name(path);
        }
        let claim = |c: &ClaimedEdit| Some((places(&c.path).pop()?, c.old.clone(), Arc::clone(&c.new)));
        tool.claims = note.claims.iter().filter_map(claim).collect();
        tool.lost &= tool.claims.is_empty();
        tool.size = tool.size();
        let finishes = note.finished && !tool.is_finished();
        if finishes {
            tool.until = Some(at);
            tool.finished_at = looks;
        }
        self.keep_less(note.entry.0);
        finishes
    }

    /// A write of that content through the client begins.
    pub fn write_begins(&mut self, path: PathBuf, content: Oid, by: Attributed) {
        self.tells(by.turn, ToolEffect::Edits);
        self.under_way.insert(path, (content, by));
    }

    pub fn write_ends(&mut self, path: &Path) {
        self.under_way.remove(path);
        self.writes(path);
    }

    /// A write through the client was not done.
    pub fn not_written(&mut self, content: Oid, entry: Option<u64>) {
        self.under_way.retain(|_, (of, by)| *of != content || by.entry != entry);
    }

    /// For whom the client is just writing that content there, if it is.
    pub fn writing(&self, path: &Path, content: Option<Oid>) -> Option<Attributed> {
        self.under_way.get(path).filter(|(of, _)| Some(*of) == content).map(|(_, by)| *by)
    }

    /// Where the client is just writing.
    pub fn written(&self) -> Vec<PathBuf> {
        self.under_way.keys().cloned().collect()
    }

    /// A look at everything is over.
    pub fn looked_at_all(&mut self) {
        self.looks += 1;
        self.last_scan = self.looks;
        self.gaps.clear();
        self.drop_spent();
    }

    /// A look at some paths is over.
    pub fn looked_at<'a>(&mut self, paths: impl Iterator<Item = &'a PathBuf>) {
        self.looks += 1;
        self.looked.extend(paths.map(|path| (self.hasher.hash_one(path.as_path()), self.looks)));
    }

    /// Looks at single paths no longer count.
    pub fn forget_looks(&mut self) {
        self.looked.clear();
    }

    /// Whether it may still have changed something since the look of that number.
    fn counts(tool: &Tool, since: u64) -> bool {
        !tool.waits && (!tool.is_finished() || tool.finished_at >= since)
    }

    /// Whether something that changed then can be its doing.
    fn could(tool: &Tool, when: When) -> bool {
        match when {
            When::At(at) => tool.ran(at, SLACK, SLACK),
            When::By(at) => tool.from.is_none_or(|from| at + SLACK >= from),
        }
    }

    fn is_since(since: LetGo, when: When) -> bool {
        let (When::At(at) | When::By(at)) = when;
        match since {
            LetGo::At(since) => at + LEAD >= since,
            LetGo::Anytime => true,
        }
    }

    /// The clock of the files was set: when what ran until now happened cannot be compared with it any more.
    pub fn clock_was_set(&mut self) {
        self.tools.values_mut().for_each(|tool| tool.adrift = true);
        self.starting.values_mut().for_each(|since| *since = LetGo::Anytime);
        self.over = None;
    }

    pub fn knows(&self, entry: EntryId) -> bool {
        self.tools.contains_key(&entry.0)
    }

    /// Whether a call that waited for the person does so no longer: what changed meanwhile is not its doing.
    pub fn resumes(&self, note: &ToolNote) -> bool {
        !note.waits && self.tools.get(&note.entry.0).is_some_and(|tool| tool.waits)
    }

    /// By what a path was changed since it was last looked at; `when` is the time of the change.
    pub fn blame(&self, path: &Path, when: When) -> Attributed {
        let since = self.last_look(path);
        let newest = |wanted: &dyn Fn(&Tool) -> bool| {
            let could = |tool: &Tool| Self::counts(tool, since) && Self::could(tool, when);
            let found = self.tools.iter().rev().find(|(_, tool)| could(tool) && wanted(tool));
            found.map(|(entry, tool)| (tool, *entry, self.known_turn(tool)))
        };
        let turn = self.turn_at(when);
        let is_idle = turn.is_none();
        // One that runs and was looked at is the newest anyway.
        let turn = turn.filter(|turn| self.turn() != Some(*turn));
        let beside_persons = newest(&|tool| tool.doing == ToolEffect::Persons).is_some();
        let running = || {
            let ran = newest(&|tool| tool.doing == ToolEffect::Runs && !tool.was_at_rest(when));
            let ran = ran.map(|(_, entry, turn)| Attributed::new(Cause::Command, Some(entry)).of_turn(turn));
            let starts = || self.starting.values().any(|since| Self::is_since(*since, when));
            ran.or_else(|| starts().then(|| Attributed::new(Cause::Command, None)))
        };
        if let Some((tool, entry, turn)) =
            newest(&|tool| tool.doing == ToolEffect::Edits && (!is_idle || tool.goes_on) && tool.names(path))
        {
            let was_at_rest = tool.was_at_rest(when);
            // A command that ran then did it rather than a call that had ended.
            if let Some(command) = was_at_rest.then(running).flatten().filter(|_| !beside_persons) {
                return command;
            }
            // Of one that was over when it was heard of, nothing tells its doing from what the person has done since.
            let doubt = is_idle && tool.from.is_none() || tool.lost;
            let its = Attributed::new(Cause::Tool, Some(entry)).of_turn(turn);
            return Attributed { doubt, beside_persons, was_at_rest, ..its };
        }
        let command = running();
        if is_idle && command.is_none() {
            // Whoever changed it last, the agent may have changed it before that, and no look came in between.
            let named = |tool: &Tool| tool.doing == ToolEffect::Edits && tool.names(path);
            let unseen = self.gaps.last().filter(|_| self.tools.values().any(named));
            let persons = Attributed::new(Cause::Person, None);
            return unseen.map_or(persons, |gap| Attributed::in_doubt(false).of_turn(Some(gap.turn)));
        }
        if !self.gaps.is_empty() && matches!(when, When::By(_)) {
            return Attributed::in_doubt(beside_persons).of_turn(turn);
        }
        // Nothing tells its doing from that of a command or of the agent itself.
        if beside_persons {
            return Attributed::in_doubt(true).of_turn(turn);
        }
        // Of an earlier turn whose end was not looked at, no call is known any more.
        let newest = turn.or_else(|| self.turn()).filter(|turn| self.turns.contains(turn));
        let is_over = |turn| self.over.is_some_and(|over| over.was_before(turn, when));
        let doubt = self.is_told() || newest.is_some_and(|turn| self.telling.goes_on(turn) || is_over(turn));
        let unknown = Attributed { doubt, ..Attributed::new(Cause::Unknown, None) }.of_turn(turn);
        command.unwrap_or(unknown)
    }

    /// What the ledger is to know of a command that runs or ran; `since` is when one went on that had waited.
    pub fn command(&self, entry: EntryId, since: Option<SystemTime>) -> Option<Ran> {
        let is_command = |tool: &&Tool| matches!(tool.doing, ToolEffect::Runs | ToolEffect::Persons) && !tool.waits;
        let tool = self.tools.get(&entry.0).filter(is_command)?;
        let is_persons = tool.doing == ToolEffect::Persons;
        Some(Ran::new(entry.0, tool.turn, is_persons, (since.or(tool.from), tool.until)))
    }

    /// Commands of which the ledger says that they ran before the client ended, at that time.
    pub fn recall<'a>(&mut self, ran: impl Iterator<Item = &'a Ran>, end: SystemTime) {
        let doing = |ran: &Ran| if ran.is_persons { ToolEffect::Persons } else { ToolEffect::Runs };
        let tool = |ran: &Ran| Tool {
            from: ran.from(),
            until: Some(ran.until(end)),
            finished_at: self.looks,
            ..Tool::new(ran.turn, doing(ran))
        };
        self.tools = ran.map(|ran| (ran.entry, tool(ran))).collect();
    }

    /// Of no call it is known any more that it ran.
    pub fn forget_calls(&mut self) {
        self.tools.clear();
    }

    /// Whether the agent says what it changes in this turn.
    pub fn is_told(&self) -> bool {
        self.wrote || self.tools.values().any(|tool| matches!(tool.doing, ToolEffect::Edits | ToolEffect::Runs))
    }

    /// Whether a command runs or ran since the last look at everything.
    pub fn runs(&self) -> bool {
        let runs = |tool: &Tool| tool.doing == ToolEffect::Runs && Self::counts(tool, self.last_scan);
        !self.starting.is_empty() || self.tools.values().any(runs)
    }

    /// The turn of a call, where it runs or could not be looked at.
    fn known_turn(&self, tool: &Tool) -> Option<u64> {
        tool.turn.filter(|turn| self.turns.contains(turn) || self.unseen().any(|unseen| unseen == *turn))
    }

    /// The number of the last look at a path.
    fn last_look(&self, path: &Path) -> u64 {
        self.looked.get(&self.hasher.hash_one(path)).copied().unwrap_or(0).max(self.last_scan)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Attribution {
        /// `begun` are the turns that the log knows.
        pub fn verify_invariants(&self, begun: &BTreeSet<u64>) {
            let running: BTreeSet<u64> = self.turns.iter().copied().collect();
            let is_begun = |turn: &u64| begun.contains(turn) || self.unseen().any(|unseen| unseen == *turn);
            assert!(running.len() == self.turns.len() && running.iter().all(is_begun), "{running:?} run");
            assert!(self.last_scan <= self.looks && self.looked.values().all(|look| *look <= self.looks));
            assert!(self.tools.len() <= MAX_TOOLS);
            for (entry, tool) in &self.tools {
                assert!(tool.paths.len() <= MAX_NAMED && tool.finished_at <= self.looks, "{entry}: {tool:?}");
            }
        }
    }
}
