//! Histories on real trees: what the agent and the person do, and what a review makes of it.

use super::*;
use crate::model::changes::{
    Cause, FileChange, FileTotals, HeldOutcome, HunkId, HunkKind, HunkState, Left, ReviewAction, ReviewDoc,
    RewindOutcome, Rewound, Target, Verdict,
};
use crate::model::ids::{EntryId, ReqId};
use crate::review::dir::LOCK;
use crate::review::protocol::{ClaimedEdit, Done, Passed, Proposal, Released, ToolEffect, ToolNote};
use crate::review::session::attribution::{Attributed, LetGo, SLACK};
use crate::review::session::unexplained::When;
use crate::review::snapshot::clock::TICK;
use crate::review::worktree::walk;
use crate::review::worktree::walk::faults;
use std::fs::{self, File};
use std::io;
use std::time::Duration;
use tempfile::TempDir;

pub(crate) struct Place {
    temp: TempDir,
    pub review: ReviewSession,
    pub entry: u64,
    /// The call waits for the person's answer.
    waits: bool,
}

pub(crate) fn lines(n: usize) -> String {
    (1..=n).map(|i| format!("line {i}\n")).collect::<Vec<_>>().concat()
}

/// A text with some of its lines replaced; an empty text takes the line away.
pub(crate) fn changed(text: &str, changes: &[(usize, &str)]) -> String {
    let mut out = String::new();
    for (at, line) in text.lines().enumerate() {
        match changes.iter().find(|(n, _)| *n == at + 1) {
            Some((_, "")) => {}
            Some((_, new)) => {
                out.push_str(new);
                out.push('\n');
            }
            None => {
                out.push_str(line);
                out.push('\n');
            }
        }
    }
    out
}

impl Place {
    pub fn with(files: &[(&str, &[u8])]) -> Self {
        Self::empty().having(files)
    }

    /// The same in memory, where there is room for files in it: for what asks nothing of a disk, and many times.
    pub fn in_memory(files: &[(&str, &[u8])]) -> Self {
        let temp = tempfile::tempdir_in("/dev/shm").or_else(|_| TempDir::new());
        Self::empty_in(temp.unwrap()).having(files)
    }

    fn having(self, files: &[(&str, &[u8])]) -> Self {
        let mut place = self;
        for (name, bytes) in files {
            let path = place.at(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        place.begin();
        place
    }

    /// The first look, at what has been put there.
    pub fn begin(&mut self) {
        self.review.first_look().unwrap();
    }

    pub fn empty() -> Self {
        Self::empty_in(TempDir::new().unwrap())
    }

    fn empty_in(temp: TempDir) -> Self {
        let ws = temp.path().join("ws");
        fs::create_dir(&ws).unwrap();
        let head = SessionInfo {
            stem: "s".into(),
            cwd: ws,
            command: "agent".into(),
            started: 0,
            private: Vec::new(),
            directories: Vec::new(),
        };
        let mut review = ReviewSession::create(&temp.path().join("home"), head).unwrap();
        review.session(AgentSession::new("session-1", 1, "agent")).unwrap();
        // However slow this machine is.
        review.pace.cheap = Duration::MAX;
        Self { temp, review, entry: 0, waits: false }
    }

    pub fn at(&self, name: &str) -> PathBuf {
        self.temp.path().canonicalize().unwrap().join("ws").join(name)
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.at(name)).unwrap()
    }

    pub fn write(&self, name: &str, text: &str) {
        fs::create_dir_all(self.at(name).parent().unwrap()).unwrap();
        fs::write(self.at(name), text).unwrap();
    }

    pub fn turn(&mut self, turn: u64, what: impl FnOnce(&mut Self)) -> Totals {
        self.review.begin_turn(turn).unwrap();
        what(self);
        self.review.end_turn(turn).unwrap()
    }

    /// A write through the client.
    pub fn client_writes(&mut self, name: &str, text: &str) {
        self.entry += 1;
        let path = self.at(name);
        self.review.before_write(&path, text).unwrap();
        self.write(name, text);
        self.review.wrote(&path, text, Some(EntryId(self.entry)), None).unwrap();
    }

    pub fn note(&mut self, doing: ToolEffect, names: &[&str], claims: Vec<ClaimedEdit>, finished: bool) {
        self.tell(doing, names, claims, finished).unwrap();
    }

    fn tell(
        &mut self,
        doing: ToolEffect,
        names: &[&str],
        claims: Vec<ClaimedEdit>,
        finished: bool,
    ) -> Result<bool, ReviewError> {
        let paths = names.iter().map(|n| self.at(n)).collect();
        let note = ToolNote {
            entry: EntryId(self.entry),
            turn: None,
            doing,
            at: Instant::now(),
            // What is done here takes no time: nothing of what was there before passes for done since.
            since: Instant::now() + 2 * TICK,
            finished,
            waits: self.waits,
            paths,
            claims,
        };
        self.review.tool(&note)
    }

    /// A tool call that names the file and writes it itself.
    pub fn tool_writes(&mut self, name: &str, text: &str) {
        self.entry += 1;
        self.note(ToolEffect::Edits, &[name], Vec::new(), false);
        self.write(name, text);
        self.note(ToolEffect::Edits, &[name], Vec::new(), true);
    }

    /// A tool call that names the file and does something.
    pub fn tool_does(&mut self, name: &str, what: impl FnOnce(&Self)) {
        self.entry += 1;
        self.note(ToolEffect::Edits, &[name], Vec::new(), false);
        what(self);
        self.note(ToolEffect::Edits, &[name], Vec::new(), true);
    }

    pub fn hold(&mut self, req: ReqId, path: &Path, content: &str) -> bool {
        let proposal = Proposal { req, entry: EntryId(1), turn: None, path: path.to_owned(), asked: false };
        self.review.hold(&proposal, content).unwrap()
    }

    /// The same of one that says what it puts there.
    pub fn claims(&mut self, name: &str, claims: Vec<ClaimedEdit>, what: impl FnOnce(&Self)) {
        self.entry += 1;
        self.note(ToolEffect::Edits, &[name], claims.clone(), false);
        what(self);
        self.note(ToolEffect::Edits, &[name], claims, true);
    }

    /// A look at one file, as before a write.
    pub fn look(&mut self, name: &str) {
        let path = self.at(name);
        self.review.look(&[self.review.below(&path).unwrap()]).unwrap();
    }

    pub fn command(&mut self, what: impl FnOnce(&Self)) {
        self.entry += 1;
        self.note(ToolEffect::Runs, &[], Vec::new(), false);
        what(self);
        self.note(ToolEffect::Runs, &[], Vec::new(), true);
    }

    pub fn doc(&mut self, scope: Scope) -> ReviewDoc {
        self.review.doc(scope).unwrap()
    }

    pub fn decide(&mut self, target: Target, verdict: Verdict) -> Result<Done, ReviewError> {
        self.review.act(&ReviewAction::Decide { scope: Scope::Pending, target, verdict })
    }

    pub fn act(&mut self, action: ReviewAction) -> Done {
        self.review.act(&action).unwrap()
    }

    /// The hunks that are pending, by file.
    pub fn pending(&mut self) -> Vec<(PathBuf, HunkId)> {
        let doc = self.doc(Scope::Pending);
        let files = doc.files.iter();
        files
            .flat_map(|f| f.hunks.iter().map(move |h| (f.path.clone(), h)))
            .filter(|(_, h)| h.state == HunkState::Pending)
            .map(|(path, h)| (path, h.id))
            .collect()
    }

    pub fn hunk(&mut self, number: usize) -> Target {
        let (path, id) = self.pending()[number].clone();
        Target::Hunk(path, id)
    }

    /// The last sign of the client is so long ago.
    pub fn was_heard_of(&self, ago: Duration) {
        for name in [LEDGER, LOCK] {
            let file = File::options().write(true).open(self.review.dir().join(name)).unwrap();
            file.set_modified(SystemTime::now() - ago).unwrap();
        }
    }

    /// The files, while no process has the session open.
    pub fn closed(self) -> TempDir {
        self.temp
    }

    /// The same directory as a new session.
    pub fn begun_anew(self) -> Self {
        let Self { temp, review, .. } = self;
        let head = review.head().clone();
        let mut review = ReviewSession::create(&temp.path().join("home2"), head).unwrap();
        review.session(AgentSession::new("session-1", 1, "agent")).unwrap();
        review.pace.cheap = Duration::MAX;
        review.first_look().unwrap();
        Self { temp, review, entry: 0, waits: false }
    }

    /// A further session of the same directory, kept beside this one.
    pub fn begin_beside(&self, stem: &str) -> ReviewSession {
        self.begin_below(stem, "")
    }

    /// The same in a directory inside of it.
    pub fn begin_below(&self, stem: &str, dir: &str) -> ReviewSession {
        let own = self.review.head();
        let head = SessionInfo { stem: stem.to_owned(), cwd: own.cwd.join(dir), ..own.clone() };
        let mut review = ReviewSession::create(self.review.dir().parent().unwrap(), head).unwrap();
        review.session(AgentSession::new("session-1", 1, "agent")).unwrap();
        review.pace.cheap = Duration::MAX;
        review.first_look().unwrap();
        review
    }

    /// The same when this one is over.
    pub fn followed_by(self, stem: &str) -> Self {
        Self { review: self.begin_beside(stem), ..self }
    }

    /// As after a crash, or in another process.
    pub fn reopen(self) -> Self {
        self.reopen_after(|_| {})
    }

    /// The same when something has happened to the record while nobody had it open.
    pub fn reopen_after(self, what: impl FnOnce(&Path)) -> Self {
        let Self { temp, review, entry, waits } = self;
        let dir = review.dir().to_owned();
        drop(review);
        what(&dir);
        // A git that another test starts in this process holds the lock for a moment, too.
        let mut review = loop {
            match ReviewSession::open(&dir) {
                Err(ReviewError::Locked) => std::thread::yield_now(),
                opened => break opened.unwrap(),
            }
        };
        review.pace.cheap = Duration::MAX;
        Self { temp, review, entry, waits }
    }
}

fn states(doc: &ReviewDoc) -> Vec<HunkState> {
    doc.files.iter().flat_map(|f| &f.hunks).map(|h| h.state).collect()
}

#[test]
fn what_a_command_did_where_looking_takes_long_is_looked_at_later_in_the_turn() {
    let mut place = Place::with(&[("a.rs", b"one\n")]);
    place.review.begin_turn(1).unwrap();
    for name in ["b.rs", "c.rs"] {
        assert_eq!(place.review.pace.due(), None);
        (place.review.pace.cheap, place.review.pace.took) = (Duration::ZERO, Duration::from_hours(1));
        place.command(|place| place.write(name, "new\n"));
        assert!(!place.review.log.paths().contains(&PathBuf::from(name)));
        assert!(place.review.pace.due().unwrap() > Instant::now() + Duration::from_hours(9));
        if name == "b.rs" {
            assert!(place.review.look_late().unwrap());
            assert!(place.review.log.paths().contains(&PathBuf::from(name)));
        }
    }
    assert_eq!(place.review.end_turn(1).unwrap().files, 2);
    assert_eq!(place.review.pace.due(), None);
}

#[test]
fn one_hunk_of_two_is_rejected_and_the_other_accepted() {
    let text = lines(30);
    let mut place = Place::with(&[("a.rs", text.as_bytes())]);
    let new = changed(&text, &[(3, "THREE"), (20, "TWENTY")]);
    let totals = place.turn(1, |p| p.tool_writes("a.rs", &new));
    assert_eq!(totals, Totals { added: 2, removed: 2, files: 1, pending: 2 });
    let target = place.hunk(1);
    place.decide(target, Verdict::Reject).unwrap();
    assert_eq!(place.read("a.rs"), changed(&text, &[(3, "THREE")]));
    assert_eq!(states(&place.doc(Scope::Pending)), [HunkState::Pending, HunkState::Rejected]);
    let target = place.hunk(0);
    place.decide(target, Verdict::Accept).unwrap();
    assert_eq!(states(&place.doc(Scope::Turn(1))), [HunkState::Accepted, HunkState::Rejected]);
    assert_eq!(place.doc(Scope::Pending).decided, (2, 2));
    assert_eq!(place.review.totals().unwrap(), Totals { added: 1, removed: 1, files: 1, pending: 0 });
    // All of it undone, one by one, and done again.
    place.act(ReviewAction::Undo);
    place.act(ReviewAction::Undo);
    assert_eq!(place.read("a.rs"), new);
    assert_eq!(place.pending().len(), 2);
    place.act(ReviewAction::Redo);
    assert_eq!(place.read("a.rs"), changed(&text, &[(3, "THREE")]));
    let mut place = place.reopen();
    assert_eq!(place.pending().len(), 1);
    place.act(ReviewAction::Undo);
    assert_eq!(place.read("a.rs"), new);
    place.review.stop_looking();
    assert_eq!(place.pending().len(), 2);
}

#[test]
fn a_line_in_doubt_that_the_agent_takes_away_can_be_had_back() {
    let text = lines(12);
    let with = changed(&text, &[(8, "line 8\nmine")]);
    for replaced in [false, true] {
        let now = if replaced { changed(&with, &[(9, "agent")]) } else { text.clone() };
        let mut place = Place::with(&[("f", text.as_bytes())]);
        place.turn(1, |p| {
            p.tool_writes("other", "said\n");
            p.write("f", &with);
            p.client_writes("f", &changed(&with, &[(1, "first\nline 1")]));
            p.client_writes("f", &now);
        });
        assert_eq!(place.pending().len(), 2, "with that of the other file");
        // Whose it was is not known: not with the rest.
        place.decide(Target::All, Verdict::Reject).unwrap();
        assert_eq!(place.read("f"), now);
        let mut place = place.reopen();
        let target = place.hunk(0);
        place.decide(target, Verdict::Reject).unwrap();
        assert_eq!(place.read("f"), with);
        assert_eq!(place.pending(), []);
        place.act(ReviewAction::Undo);
        let target = place.hunk(0);
        place.decide(target, Verdict::Accept).unwrap();
        assert_eq!((place.read("f"), place.pending()), (now, Vec::new()));
    }
}

#[test]
fn lines_of_a_hunk_are_decided_by_themselves() {
    let text = lines(8);
    let mut place = Place::with(&[("a", text.as_bytes())]);
    place.turn(1, |p| p.tool_writes("a", &changed(&text, &[(3, "THREE\nand more"), (4, "FOUR")])));
    let doc = place.doc(Scope::Pending);
    let hunk = &doc.files[0].hunks[0];
    let at = hunk.lines.iter().position(|l| l.text == "and more").unwrap();
    let target = Target::Lines("a".into(), hunk.id, at..at + 1);
    place.decide(target, Verdict::Reject).unwrap();
    assert_eq!(place.read("a"), changed(&text, &[(3, "THREE"), (4, "FOUR")]));
    assert_eq!(place.review.totals().unwrap().pending, 1);
}

#[test]
fn edited_hunks_are_accepted_as_edited() {
    let text = lines(9);
    let mut place = Place::with(&[("a", text.replace('\n', "\r\n").as_bytes())]);
    place.turn(1, |p| p.tool_writes("a", &changed(&text, &[(3, "THREE")]).replace('\n', "\r\n")));
    let (path, hunk) = place.pending()[0].clone();
    place.act(ReviewAction::Edit { scope: Scope::Pending, path, hunk, text: "three\nagain\n".into() });
    assert_eq!(place.read("a"), changed(&text, &[(3, "three\nagain")]).replace('\n', "\r\n"));
    assert_eq!(states(&place.doc(Scope::Pending)), [HunkState::Edited]);
    assert!(place.pending().is_empty());
    place.act(ReviewAction::Undo);
    assert_eq!(place.pending().len(), 1);
}

#[test]
fn scenario_44_the_persons_edits_before_during_and_after_stay() {
    let text = lines(60);
    let mut place = Place::with(&[("a", text.as_bytes())]);
    place.write("a", &changed(&text, &[(1, "mine before")]));
    place.turn(1, |p| {
        let now = p.read("a");
        p.tool_writes("a", &changed(&now, &[(20, "AGENT 20")]));
        // This has no attribution: it is shown, and not taken back with the agent's.
        let now = p.read("a");
        p.write("a", &changed(&now, &[(40, "mine during")]));
        let now = p.read("a");
        p.client_writes("a", &changed(&now, &[(30, "AGENT 30")]));
    });
    let now = place.read("a");
    place.write("a", &changed(&now, &[(55, "mine after")]));
    let doc = place.doc(Scope::Pending);
    let causes: Vec<Cause> = doc.files[0].hunks.iter().map(|h| h.cause).collect();
    assert_eq!(causes, [Cause::Tool, Cause::Write, Cause::Unknown]);
    place.decide(Target::All, Verdict::Reject).unwrap();
    let mine = changed(&text, &[(1, "mine before"), (40, "mine during"), (55, "mine after")]);
    assert_eq!(place.read("a"), mine);
    place.act(ReviewAction::Undo);
    assert_eq!(place.read("a"), changed(&mine, &[(20, "AGENT 20"), (30, "AGENT 30")]));
    // The same by undoing the turn.
    let done = place.act(ReviewAction::Rewind { turn: 1 });
    assert_eq!(done.rewound, [Rewound { path: "a".into(), outcome: RewindOutcome::Merged, remark: None }]);
    assert_eq!(place.read("a"), mine);
    place.act(ReviewAction::Undo);
    assert_eq!(place.read("a"), changed(&mine, &[(20, "AGENT 20"), (30, "AGENT 30")]));
}

#[test]
fn what_the_person_does_while_a_call_waits_for_them_is_not_its_doing() {
    let text = lines(40);
    for doing in [ToolEffect::Edits, ToolEffect::Runs] {
        let mut place = Place::with(&[("a", text.as_bytes())]);
        place.turn(1, |p| {
            p.entry += 1;
            p.note(doing, &["a"], Vec::new(), false);
            p.waits = true;
            p.note(doing, &["a"], Vec::new(), false);
            p.write("a", &changed(&text, &[(5, "mine")]));
            p.waits = false;
            p.note(doing, &["a"], Vec::new(), false);
            p.write("a", &changed(&text, &[(5, "mine"), (30, "AGENT")]));
            p.note(doing, &["a"], Vec::new(), true);
        });
        place.act(ReviewAction::Rewind { turn: 1 });
        assert_eq!(place.read("a"), changed(&text, &[(5, "mine")]), "{doing:?}");
    }
}

/// What is recorded last of a file, and by what.
fn last_change(place: &Place, name: &str) -> Option<(Cause, bool, u64)> {
    let history = place.review.log.history(Path::new(name))?;
    history.steps.last().map(|step| (step.cause, step.doubt, step.turn))
}

#[test]
fn what_a_call_names_after_the_agent_has_said_idle_too_early_is_its_doing() {
    // Begun before or after.
    for is_begun in [true, false] {
        let mut place = Place::with(&[("f", b"one\n"), ("mine", b"mine\n")]);
        place.turn(1, |p| {
            p.client_writes("other", "other\n");
            p.entry += 1;
            if is_begun {
                p.note(ToolEffect::Edits, &["f"], Vec::new(), false);
            }
        });
        if !is_begun {
            place.note(ToolEffect::Edits, &["f"], Vec::new(), false);
        }
        place.write("f", "one\nlate\n");
        place.write("new", "new\n");
        place.write("mine", "mine\nmore\n");
        place.note(ToolEffect::Edits, &["f", "new"], Vec::new(), true);
        let agents = Some((Cause::Tool, false, 1));
        assert_eq!((last_change(&place, "f"), last_change(&place, "new")), (agents, agents), "{is_begun}");
        // The call is over: what comes later is the person's.
        place.write("f", "zero\none\nlate\n");
        place.act(ReviewAction::Rewind { turn: 1 });
        assert_eq!((place.read("f").as_str(), place.at("new").exists()), ("zero\none\n", false), "{is_begun}");
        assert_eq!((place.read("mine").as_str(), last_change(&place, "mine")), ("mine\nmore\n", None), "{is_begun}");
    }
}

/// Found by `scripts/soak`.
#[test]
fn a_file_that_was_seen_empty_in_the_middle_of_a_write_is_brought_back_whole() {
    for (between, back) in [("", "one\n"), ("mine\n", "mine\n")] {
        for again in [false, true] {
            let mut place = Place::with(&[("f", b"one\n")]);
            place.turn(1, |p| {
                p.tool_writes("other", "said\n");
                p.write("f", between);
                // Before the call is heard of.
                p.look("f");
                p.tool_writes("f", "two\n");
            });
            let mut place = if again { place.reopen() } else { place };
            place.act(ReviewAction::Rewind { turn: 1 });
            assert_eq!(place.read("f"), back, "{between:?} {again}");
            place.act(ReviewAction::Undo);
            assert_eq!(place.read("f"), "two\n", "{between:?} {again}");
        }
    }
}

#[test]
fn a_call_that_is_over_when_it_is_heard_of_after_the_turn_leaves_a_doubt() {
    let mut place = Place::with(&[("f", b"one\n"), ("g", b"one\n")]);
    place.turn(1, |p| p.tool_writes("g", "one\ntwo\n"));
    // Told once more, it says nothing of what was done since.
    place.write("g", "one\ntwo\nmine\n");
    place.note(ToolEffect::Edits, &["g"], Vec::new(), true);
    assert_eq!(last_change(&place, "g"), Some((Cause::Person, false, 1)));
    place.entry += 1;
    place.write("f", "one\nlate\n");
    place.note(ToolEffect::Edits, &["f"], Vec::new(), true);
    assert_eq!(last_change(&place, "f"), Some((Cause::Tool, true, 1)));
}

#[test]
fn what_the_person_saves_right_after_a_write_is_not_part_of_it() {
    let text = lines(40);
    let mut place = Place::with(&[("a", text.as_bytes())]);
    place.turn(1, |p| {
        let (path, new) = (p.at("a"), changed(&text, &[(10, "AGENT")]));
        p.review.before_write(&path, &new).unwrap();
        p.write("a", &changed(&new, &[(30, "mine")]));
        p.review.wrote(&path, &new, None, None).unwrap();
    });
    place.act(ReviewAction::Rewind { turn: 1 });
    assert_eq!(place.read("a"), changed(&text, &[(30, "mine")]));
}

#[test]
fn what_a_call_does_right_after_a_write_is_its_doing_though_it_is_told_of_later() {
    let mut place = loop {
        let (mut place, mut took) = (Place::with(&[("a", b"one\n")]), Duration::MAX);
        place.turn(1, |p| {
            let (path, began) = (p.at("a"), Instant::now());
            p.review.before_write(&path, "two\n").unwrap();
            p.write("a", "two\n");
            p.write("a", "two\nthree\n");
            p.review.wrote(&path, "two\n", Some(EntryId(1)), None).unwrap();
            p.entry = 2;
            p.note(ToolEffect::Runs, &[], Vec::new(), false);
            took = began.elapsed();
            p.note(ToolEffect::Runs, &[], Vec::new(), true);
        });
        // Where the machine has stalled in between, the call is one that came later.
        if took < SLACK / 2 {
            break place;
        }
    };
    let done = place.act(ReviewAction::Rewind { turn: 1 });
    assert_eq!((place.read("a").as_str(), outcomes(&done)), ("one\n", vec![("a", RewindOutcome::Restored)]));
}

#[test]
fn what_the_person_saves_around_a_write_is_not_of_the_call_that_names_the_file() {
    let text = lines(40);
    let mut place = Place::with(&[("a", text.as_bytes())]);
    place.turn(1, |p| {
        p.entry = 7;
        p.note(ToolEffect::Edits, &["a"], Vec::new(), false);
        let mine = changed(&text, &[(20, "mine, before")]);
        p.write("a", &mine);
        p.client_writes("a", &changed(&mine, &[(10, "AGENT")]));
        p.write("a", &changed(&p.read("a"), &[(30, "mine, after")]));
        p.entry = 7;
        p.note(ToolEffect::Edits, &["a"], Vec::new(), true);
    });
    place.act(ReviewAction::Rewind { turn: 1 });
    assert_eq!(place.read("a"), changed(&text, &[(20, "mine, before"), (30, "mine, after")]));
}

#[test]
fn what_an_agent_writes_before_it_has_the_client_write_the_same_is_its_doing() {
    let text = lines(40);
    let mut place = Place::with(&[("a", text.as_bytes())]);
    let new = changed(&text, &[(10, "AGENT")]);
    place.turn(1, |p| {
        p.entry = 7;
        p.note(ToolEffect::Edits, &["a"], Vec::new(), false);
        p.write("a", &new);
        p.client_writes("a", &new);
        p.entry = 7;
        p.note(ToolEffect::Edits, &["a"], Vec::new(), true);
    });
    place.act(ReviewAction::Rewind { turn: 1 });
    assert_eq!(place.read("a"), text);
}

#[test]
fn what_the_person_did_before_a_command_started_is_not_its_doing() {
    let text = lines(40);
    let mut place = Place::with(&[("a", text.as_bytes())]);
    place.turn(1, |p| {
        p.client_writes("a", &changed(&text, &[(1, "AGENT")]));
        p.write("a", &changed(&text, &[(1, "AGENT"), (20, "mine")]));
        p.review.before_command().unwrap();
        p.command(|p| p.write("a", &changed(&text, &[(1, "AGENT"), (20, "mine"), (35, "COMMAND")])));
    });
    place.act(ReviewAction::Rewind { turn: 1 });
    assert_eq!(place.read("a"), changed(&text, &[(20, "mine")]));
}

#[test]
fn a_tool_call_that_says_what_it_puts_there_is_told_from_the_person() {
    let text = lines(40);
    let mut place = Place::with(&[("a", text.as_bytes())]);
    place.turn(1, |p| {
        p.entry += 1;
        let claim = ClaimedEdit { path: p.at("a"), old: Some("line 20\n".into()), new: "AGENT\n".into() };
        p.note(ToolEffect::Edits, &["a"], vec![claim.clone()], false);
        p.write("a", &changed(&text, &[(5, "mine"), (20, "AGENT")]));
        p.note(ToolEffect::Edits, &["a"], vec![claim], true);
    });
    place.act(ReviewAction::Rewind { turn: 1 });
    assert_eq!(place.read("a"), changed(&text, &[(5, "mine")]));
}

#[test]
fn scenario_47_a_hunk_that_later_edits_touched_shows_the_conflict() {
    let text = lines(30);
    let mut place = Place::with(&[("a", text.as_bytes())]);
    place.turn(1, |p| p.tool_writes("a", &changed(&text, &[(10, "AGENT 10"), (11, "AGENT 11")])));
    let now = place.read("a");
    let mine = changed(&now, &[(11, "mine on top")]);
    place.write("a", &mine);
    let doc = place.doc(Scope::Pending);
    assert!(doc.files[0].hunks[0].conflict.is_some());
    let target = place.hunk(0);
    assert!(matches!(place.decide(target, Verdict::Reject), Err(ReviewError::Conflict { .. })));
    assert_eq!(place.read("a"), mine, "nothing was touched");
    let done = place.decide(Target::All, Verdict::Reject).unwrap();
    assert!(done.words.contains("left alone"), "{}", done.words);
    assert_eq!(place.read("a"), mine);
    let done = place.act(ReviewAction::Rewind { turn: 1 });
    assert_eq!(done.rewound[0].outcome, RewindOutcome::Conflict);
    assert_eq!(place.read("a"), mine);
    let (path, hunk) = place.pending()[0].clone();
    place.act(ReviewAction::Force { scope: Scope::Pending, path, hunk });
    assert_eq!(place.read("a"), text);
    place.act(ReviewAction::Undo);
    assert_eq!(place.read("a"), mine);
}

#[test]
fn later_turns_supersede_earlier_ones() {
    let text = lines(30);
    let mut place = Place::with(&[("a", text.as_bytes())]);
    place.turn(1, |p| p.tool_writes("a", &changed(&text, &[(10, "FIRST"), (25, "ALSO")])));
    let now = place.read("a");
    place.turn(2, |p| p.tool_writes("a", &changed(&now, &[(10, "SECOND")])));
    assert_eq!(states(&place.doc(Scope::Turn(1))), [HunkState::Superseded, HunkState::Pending]);
    assert_eq!(states(&place.doc(Scope::Turn(2))), [HunkState::Pending]);
    assert_eq!(place.doc(Scope::Pending).files[0].hunks.len(), 2);
    place.act(ReviewAction::Rewind { turn: 2 });
    assert_eq!(place.read("a"), now);
    assert_eq!(place.review.totals().unwrap().pending, 2, "the first turn is still to be decided");
    place.act(ReviewAction::Rewind { turn: 1 });
    assert_eq!(place.read("a"), text);
    place.act(ReviewAction::Undo);
    place.act(ReviewAction::Undo);
    assert_eq!(place.read("a"), changed(&now, &[(10, "SECOND")]));
}

#[test]
fn scenario_45_created_deleted_renamed_empty_and_modes() {
    use std::os::unix::fs::PermissionsExt as _;
    let body = lines(5);
    let files: &[(&str, &[u8])] = &[("gone", body.as_bytes()), ("from", b"rename me\n"), ("run", b"#!/bin/sh\n")];
    let mut place = Place::with(files);
    fs::set_permissions(place.at("gone"), fs::Permissions::from_mode(0o640)).unwrap();
    fs::set_permissions(place.at("run"), fs::Permissions::from_mode(0o644)).unwrap();
    place.turn(1, |p| {
        p.command(|p| {
            p.write("sub/new", "new\n");
            p.write("empty", "");
            fs::remove_file(p.at("gone")).unwrap();
            fs::rename(p.at("from"), p.at("to")).unwrap();
            fs::set_permissions(p.at("run"), fs::Permissions::from_mode(0o755)).unwrap();
        });
    });
    let doc = place.doc(Scope::Pending);
    let what: Vec<(String, FileChange)> = doc.files.iter().map(|f| (f.path.display().to_string(), f.change)).collect();
    let expected = [
        ("empty", FileChange::Created),
        ("gone", FileChange::Deleted),
        ("run", FileChange::Mode),
        ("sub/new", FileChange::Created),
        ("to", FileChange::Renamed),
    ];
    assert_eq!(what, expected.map(|(name, change)| (name.to_owned(), change)));
    assert!(doc.files.iter().all(|f| f.cause == Cause::Command));
    assert_eq!(doc.files[2].hunks[0].what, HunkKind::Mode(0o644, 0o755));
    for name in ["empty", "gone", "run", "sub/new", "to"] {
        place.decide(Target::File(name.into()), Verdict::Reject).unwrap();
    }
    assert!(!place.at("empty").exists() && !place.at("sub/new").exists() && !place.at("to").exists());
    assert_eq!(place.read("gone"), body);
    assert_eq!(fs::metadata(place.at("gone")).unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(place.read("from"), "rename me\n");
    assert_eq!(fs::metadata(place.at("run")).unwrap().permissions().mode() & 0o777, 0o644);
    for _ in 0..5 {
        place.act(ReviewAction::Undo);
    }
    assert!(place.at("empty").exists() && !place.at("gone").exists() && !place.at("from").exists());
    place.decide(Target::All, Verdict::Accept).unwrap();
    assert!(place.at("empty").exists() && place.at("to").exists());
    assert!(place.pending().is_empty());
    let done = place.act(ReviewAction::Rewind { turn: 1 });
    assert_eq!(done.rewound.len(), 6);
    assert_eq!(place.read("gone"), body);
    assert_eq!(place.read("from"), "rename me\n");
}

#[test]
fn scenario_45_bytes_come_back_as_they_were() {
    let utf16: Vec<u8> =
        [0xff, 0xfe].into_iter().chain("one\r\ntwo\r\n".encode_utf16().flat_map(u16::to_le_bytes)).collect();
    let utf16_new: Vec<u8> =
        [0xff, 0xfe].into_iter().chain("one\r\nTWO\r\n".encode_utf16().flat_map(u16::to_le_bytes)).collect();
    let cases: &[(&str, &[u8], &[u8])] = &[
        ("no-newline", b"a\nb", b"a\nB"),
        ("newline-added", b"a\nb", b"a\nb\n"),
        ("crlf", b"a\r\nb\r\n", b"a\r\nB\r\n"),
        ("crlf-to-lf", b"a\r\nb\r\n", b"a\nb\n"),
        ("bom", "\u{feff}a\nb\n".as_bytes(), "\u{feff}a\nB\n".as_bytes()),
        ("bom-gone", "\u{feff}a\nb\n".as_bytes(), b"a\nb\n"),
        ("utf-16", &utf16, &utf16_new),
        ("latin", b"caf\xe9\nx\n", b"caf\xe9\ny\n"),
        ("binary", b"\0\x01\x02", b"\0\x03"),
        ("to-binary", b"text\n", b"\0\x03"),
    ];
    let old: Vec<(&str, &[u8])> = cases.iter().map(|(name, old, _)| (*name, *old)).collect();
    let mut place = Place::with(&old);
    place.turn(1, |p| {
        p.command(|p| {
            for (name, _, new) in cases {
                fs::write(p.at(name), new).unwrap();
            }
        });
    });
    let doc = place.doc(Scope::Pending);
    assert_eq!(doc.files.len(), cases.len());
    for (name, old, new) in cases {
        let hunks: Vec<HunkId> =
            doc.files.iter().find(|f| f.path == Path::new(name)).unwrap().hunks.iter().map(|h| h.id).collect();
        assert!(!hunks.is_empty(), "{name}");
        for id in hunks.iter().rev() {
            place.decide(Target::Hunk(name.into(), *id), Verdict::Reject).unwrap();
        }
        assert_eq!(fs::read(place.at(name)).unwrap(), *old, "{name}");
        for _ in &hunks {
            place.act(ReviewAction::Undo);
        }
        assert_eq!(fs::read(place.at(name)).unwrap(), *new, "{name}");
    }
}

#[test]
fn scenario_45_links_are_links() {
    use std::os::unix::fs::symlink;
    let mut place = Place::with(&[("a", b"a\n"), ("b", b"b\n"), ("file", b"file\n")]);
    symlink("a", place.at("link")).unwrap();
    place.review.begin_turn(1).unwrap();
    place.command(|p| {
        fs::remove_file(p.at("link")).unwrap();
        symlink("b", p.at("link")).unwrap();
        fs::remove_file(p.at("file")).unwrap();
        symlink("/etc/passwd", p.at("file")).unwrap();
    });
    place.review.end_turn(1).unwrap();
    assert_eq!(place.doc(Scope::Pending).files.len(), 2);
    place.decide(Target::All, Verdict::Reject).unwrap();
    assert_eq!(fs::read_link(place.at("link")).unwrap(), Path::new("a"));
    assert_eq!(place.read("file"), "file\n");
    assert!(!fs::symlink_metadata(place.at("file")).unwrap().is_symlink());
    place.act(ReviewAction::Undo);
    assert_eq!(fs::read_link(place.at("file")).unwrap(), Path::new("/etc/passwd"));
}

#[test]
fn scenario_45_a_hundred_thousand_lines() {
    let text = lines(100_000);
    let mut place = Place::with(&[("big", text.as_bytes())]);
    place.turn(1, |p| p.tool_writes("big", &changed(&text, &[(5, "FIVE"), (99_990, "")])));
    let target = place.hunk(0);
    place.decide(target, Verdict::Reject).unwrap();
    assert_eq!(place.read("big"), changed(&text, &[(99_990, "")]));
}

#[test]
fn what_changes_right_before_a_decision_is_not_lost() {
    let text = lines(30);
    let mut place = Place::with(&[("a", text.as_bytes())]);
    place.turn(1, |p| p.tool_writes("a", &changed(&text, &[(10, "AGENT")])));
    let target = place.hunk(0);
    let now = place.read("a");
    place.write("a", &changed(&now, &[(25, "mine, saved just now")]));
    place.decide(target, Verdict::Reject).unwrap();
    assert_eq!(place.read("a"), changed(&text, &[(25, "mine, saved just now")]));
}

#[test]
fn a_silent_agent_is_in_the_ledger_all_the_same() {
    let text = lines(10);
    let mut place = Place::with(&[("a", text.as_bytes())]);
    place.turn(1, |p| p.write("a", &changed(&text, &[(2, "silently")])));
    let doc = place.doc(Scope::Pending);
    assert_eq!(doc.files[0].cause, Cause::Unknown);
    assert!(place.review.is_after());
    place.act(ReviewAction::Rewind { turn: 1 });
    assert_eq!(place.read("a"), text);
}

/// Who tells of what it reads would tell of what it changes.
#[test]
fn what_changes_in_a_turn_in_which_the_agent_only_reads_is_in_doubt_once_it_has_told_of_more() {
    type Tells = fn(&mut Place);
    let told: [(&str, Tells); 4] = [
        ("call", |p| p.tool_writes("a", "agent\n")),
        ("command", |p| p.command(|p| p.write("a", "agent\n"))),
        ("asked", |p| p.review.command_asked().unwrap()),
        ("write", |p| {
            p.review.write_begins(&p.at("a"), "agent\n", EntryId(9), Some(1)).unwrap();
            p.client_writes("a", "agent\n");
        }),
    ];
    for (name, tells) in told {
        let mut place = Place::with(&[("a", b"one\n"), ("p", b"person\n")]);
        place.turn(1, tells);
        place.turn(2, |_| {});
        place.turn(3, |p| {
            p.entry += 1;
            p.note(ToolEffect::ReadOnly, &["a"], Vec::new(), true);
            p.write("p", "person\nsaved\n");
        });
        assert_eq!(last_change(&place, "p"), Some((Cause::Unknown, true, 3)), "{name}");
        assert!(place.pending().iter().any(|(path, _)| path == Path::new("p")), "{name}");
        let done = place.act(ReviewAction::Rewind { turn: 3 });
        assert_eq!(outcomes(&done), [("p", RewindOutcome::Doubtful)], "{name}");
        assert_eq!(place.read("p"), "person\nsaved\n");
        // What it does without a word stays its own, and so does what it tells of.
        place.turn(4, |p| {
            p.entry += 1;
            p.note(ToolEffect::Thinks, &[], Vec::new(), true);
            p.write("q", "silently\n");
        });
        assert_eq!(last_change(&place, "q"), Some((Cause::Unknown, false, 4)), "{name}");
        place.turn(5, |p| p.tool_writes("a", "more\n"));
        assert_eq!(last_change(&place, "a"), Some((Cause::Tool, false, 5)), "{name}");
    }
}

/// The client tells the agent of it with a prompt that goes out by itself, while the person goes on saving.
#[test]
fn what_changes_in_the_turn_after_a_held_write_was_altered_is_in_doubt() {
    for verdicts in [[Verdict::Accept, Verdict::Reject], [Verdict::Accept; 2]] {
        let text = lines(30);
        let mut place = Place::with(&[("a", text.as_bytes()), ("p", b"person\n")]);
        place.review.begin_turn(1).unwrap();
        assert!(place.hold(ReqId(7), &place.at("a"), &changed(&text, &[(3, "THREE"), (20, "TWENTY")])));
        for verdict in verdicts {
            let hunk = place.hunk(0);
            place.decide(hunk, verdict).unwrap();
        }
        assert!(place.review.released(ReqId(7)).unwrap().is_some());
        place.review.end_turn(1).unwrap();
        let is_altered = verdicts[1] == Verdict::Reject;
        // Of the turns after it one.
        for (turn, doubt) in [(2, is_altered), (3, false)] {
            let saved = format!("person\nsaved {turn}\n");
            place.turn(turn, |p| p.write("p", &saved));
            assert_eq!(last_change(&place, "p"), Some((Cause::Unknown, doubt, turn)), "{verdicts:?}");
            if doubt {
                let done = place.act(ReviewAction::Rewind { turn });
                assert_eq!(outcomes(&done), [("p", RewindOutcome::Doubtful)]);
                assert_eq!(place.read("p"), saved);
            }
        }
    }
}

#[test]
fn what_is_saved_in_a_turn_in_which_the_agent_reads_before_the_client_is_killed_stays() {
    let mut place = Place::with(&[("a", b"one\n"), ("p", b"person\n")]);
    place.turn(1, |p| p.tool_writes("a", "agent\n"));
    place.review.begin_turn(2).unwrap();
    place.entry += 1;
    place.note(ToolEffect::ReadOnly, &["a"], Vec::new(), true);
    place.write("p", "person\nsaved\n");
    place.review.still_here();
    let mut place = place.reopen();
    place.act(ReviewAction::Rewind { turn: 0 });
    assert_eq!((place.read("a").as_str(), place.read("p").as_str()), ("one\n", "person\nsaved\n"));
}

/// Another that tells of nothing, in the same directory and at the same time.
#[test]
fn an_agent_that_tells_of_nothing_has_done_what_changes_in_its_turns_whatever_another_tells_of() {
    for at_once in [false, true] {
        let mut place = Place::with(&[("a", b"one\n"), ("b", b"two\n")]);
        place.turn(1, |p| p.tool_writes("a", "agent\n"));
        place.review.session(AgentSession::new("session-2", 2, "silent")).unwrap();
        place.turn(2, |p| p.write("b", "silently\n"));
        assert_eq!(last_change(&place, "b"), Some((Cause::Unknown, false, 2)));
        place.review.session(AgentSession::new("session-1", 3, "agent")).unwrap();
        if at_once {
            place.review.begin_turn(3).unwrap();
            place.review.session(AgentSession::new("session-2", 4, "silent")).unwrap();
            place.review.begin_turn(4).unwrap();
            place.entry += 1;
            let note = ToolNote { turn: Some(3), ..told_of(&place) };
            place.review.tool(&note).unwrap();
            place.review.end_turn(4).unwrap();
            place.review.end_turn(3).unwrap();
        }
        place.review.session(AgentSession::new("session-2", 5, "silent")).unwrap();
        place.turn(5, |p| {
            p.entry += 1;
            p.note(ToolEffect::ReadOnly, &["a"], Vec::new(), true);
            p.write("b", "silently, too\n");
        });
        assert_eq!(last_change(&place, "b"), Some((Cause::Unknown, false, 5)), "{at_once}");
        place.act(ReviewAction::Rewind { turn: 5 });
        assert_eq!(place.read("b"), "silently\n", "{at_once}");
    }
}

/// A call that edits and is over.
fn told_of(place: &Place) -> ToolNote {
    let (entry, now) = (EntryId(place.entry), Instant::now());
    let (paths, claims) = (vec![place.at("a")], Vec::new());
    let doing = ToolEffect::Edits;
    ToolNote { entry, turn: None, doing, at: now, since: now, finished: true, waits: false, paths, claims }
}

#[test]
fn a_turn_that_a_crash_has_cut_short_is_looked_at_again() {
    let text = lines(10);
    let mut place = Place::with(&[("a", text.as_bytes())]);
    place.review.begin_turn(1).unwrap();
    place.write("a", &changed(&text, &[(2, "before the crash")]));
    place.review.still_here();
    let mut place = place.reopen();
    assert_eq!(place.pending().len(), 1);
    place.act(ReviewAction::Rewind { turn: 1 });
    assert_eq!(place.read("a"), text);
}

/// The ledger is written first: each of its lines may be on the disk, or half of it, and nothing in the store.
#[test]
fn a_crash_between_the_ledger_and_the_store_loses_nothing_and_counts_nothing_twice() {
    let text = lines(10);
    let new = changed(&text, &[(2, "by the agent")]);
    let play = || {
        let mut place = Place::with(&[("a", text.as_bytes()), ("gone", b"bye\n")]);
        let dir = place.review.dir().to_owned();
        let (ledger, log) = (dir.join("ledger.jsonl"), dir.join(STORE).join("log"));
        place.review.begin_turn(1).unwrap();
        let before = [&ledger, &log].map(|path| fs::metadata(path).unwrap().len());
        place.command(|p| {
            p.write("a", &new);
            fs::remove_file(p.at("gone")).unwrap();
        });
        let whole = fs::read(&ledger).unwrap();
        (place, ledger, log, before, whole)
    };
    let (.., [from, _], whole) = play();
    let ends: Vec<usize> = (0..whole.len()).filter(|at| whole[*at] == b'\n').map(|at| at + 1).collect();
    let ends = ends.into_iter().filter(|end| *end as u64 >= from).flat_map(|end| [end, end - 20]);
    for end in ends.filter(|end| *end as u64 >= from) {
        let (place, ledger, log, before, whole) = play();
        File::options().write(true).open(&log).unwrap().set_len(before[1]).unwrap();
        fs::write(&ledger, &whole[..end]).unwrap();
        let mut place = place.reopen();
        assert_eq!(place.pending().len(), 2, "{end}");
        for scope in [Scope::Pending, Scope::Session] {
            assert_eq!(place.doc(scope).totals, Totals { added: 1, removed: 2, files: 2, pending: 2 }, "{end}");
        }
        let mut place = place.reopen();
        let done = place.act(ReviewAction::Rewind { turn: 1 });
        assert_eq!(done.rewound.len(), 2);
        // What the ledger no longer has may be the person's, since the agent said what it did: left as it is, and said.
        let is = |name: &str| outcomes(&done).contains(&(name, RewindOutcome::Restored));
        assert_eq!(place.read("a"), if is("a") { text.clone() } else { new.clone() }, "{end}");
        assert_eq!(place.at("gone").exists(), is("gone"), "{end}");
        assert!(end < whole.len() || is("a") && is("gone"), "{end}: {done:?}");
    }
}

#[test]
fn what_the_person_does_long_after_a_crash_is_theirs() {
    let text = lines(10);
    let mut place = Place::with(&[("a", text.as_bytes()), ("b", text.as_bytes())]);
    place.review.begin_turn(1).unwrap();
    place.tool_writes("a", &changed(&text, &[(2, "before the crash")]));
    let mine = changed(&text, &[(3, "an hour later")]);
    place.write("b", &mine);
    place.was_heard_of(Duration::from_hours(1));
    let mut place = place.reopen();
    place.act(ReviewAction::Rewind { turn: 1 });
    assert_eq!((place.read("a"), place.read("b")), (text, mine));
}

#[test]
fn what_a_silent_agent_does_before_a_crash_is_the_turns() {
    let text = lines(10);
    for is_here in [true, false] {
        let mut place = Place::with(&[("a", text.as_bytes())]);
        place.review.begin_turn(1).unwrap();
        place.was_heard_of(Duration::from_hours(1));
        place.write("a", &changed(&text, &[(2, "by a command that says nothing")]));
        if is_here {
            place.review.still_here();
        }
        assert_eq!(place.reopen().pending().len(), usize::from(is_here));
    }
}

#[test]
fn a_session_is_open_once() {
    let place = Place::with(&[]);
    assert!(matches!(ReviewSession::open(place.review.dir()), Err(ReviewError::Locked)));
}

/// Runs a shell line in the workspace; git has a name and an address.
fn sh(place: &Place, line: &str) {
    let output = std::process::Command::new("sh")
        .args(["-ec", line])
        .current_dir(place.at(""))
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .envs([("GIT_AUTHOR_NAME", "a"), ("GIT_AUTHOR_EMAIL", "a@example.org")])
        .envs([("GIT_COMMITTER_NAME", "a"), ("GIT_COMMITTER_EMAIL", "a@example.org")])
        .output()
        .unwrap();
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn scenario_46_sed_and_heredocs_of_the_agents_shell() {
    let text = lines(20);
    let mut place = Place::with(&[("src/a", text.as_bytes()), ("src/b", text.as_bytes())]);
    place.turn(1, |p| {
        p.command(|p| sh(p, "sed -i 's/line 7$/SEVEN/' src/*; cat > new.txt <<'END'\nfrom a heredoc\nEND"));
    });
    let doc = place.doc(Scope::Turn(1));
    let paths: Vec<_> = doc.files.iter().map(|f| f.path.display().to_string()).collect();
    assert_eq!(paths, ["new.txt", "src/a", "src/b"]);
    assert!(doc.files.iter().flat_map(|f| &f.hunks).all(|h| h.cause == Cause::Command && h.entry.is_some()));
    assert!(place.review.is_after());
    place.decide(Target::File("src/a".into()), Verdict::Reject).unwrap();
    assert_eq!(place.read("src/a"), text);
    assert_eq!(place.read("src/b"), changed(&text, &[(7, "SEVEN")]));
}

#[test]
fn scenario_46_what_git_throws_away_for_the_agent_can_be_had_back() {
    for line in ["git checkout -q -- .", "git stash -q", "git reset -q --hard", "git checkout -q other"] {
        let mut place = Place::empty();
        sh(&place, "git init -q -b main; echo committed > a; echo same > b; git add .; git commit -qm one");
        sh(&place, "git branch other; echo mine, not committed > a");
        if line.ends_with("other") {
            sh(
                &place,
                "git checkout -q -f other; echo else > b; git commit -qam two; git checkout -q main; echo x > a",
            );
        }
        let mine = (place.read("a"), place.read("b"));
        place.begin();
        place.turn(1, |p| p.command(|p| sh(p, &format!("{line} || git checkout -q -f other"))));
        assert_ne!((place.read("a"), place.read("b")), mine, "{line}");
        let done = place.act(ReviewAction::Rewind { turn: 1 });
        assert!(done.rewound.iter().all(|r| r.outcome == RewindOutcome::Restored), "{:?}", done.rewound);
        assert_eq!((place.read("a"), place.read("b")), mine, "{line}");
    }
}

#[test]
fn scenario_46_nested_repositories_and_ignored_files() {
    let mut place = Place::empty();
    sh(
        &place,
        "git init -q; echo 'target/' > .gitignore; echo '.env' >> .gitignore; mkdir target; echo o > target/o; touch -d 2020-01-01 target",
    );
    sh(&place, "echo SECRET=1 > .env; mkdir sub; cd sub; git init -q; echo in > inner; git add .; git commit -qm one");
    place.begin();
    place.turn(1, |p| {
        p.command(|p| sh(p, "echo changed > sub/inner; echo built > target/o"));
        // Named before it changes: covered from then on.
        p.client_writes(".env", "SECRET=2\n");
    });
    let doc = place.doc(Scope::Turn(1));
    let paths: Vec<_> = doc.files.iter().map(|f| f.path.display().to_string()).collect();
    assert_eq!(paths, [".env", "sub/inner"]);
    assert!(doc.uncovered.iter().any(|u| u.contains("target")), "{:?}", doc.uncovered);
    place.act(ReviewAction::Rewind { turn: 1 });
    assert_eq!(place.read("sub/inner"), "in\n");
    assert_eq!(place.read(".env"), "SECRET=1\n");
    assert_eq!(place.read("target/o"), "built\n");
}

#[test]
fn a_repository_is_bit_for_bit_the_same_after_a_session_without_edits() {
    let mut place = Place::empty();
    sh(&place, "git init -q; echo one > a; git add .; git commit -qm one; echo two > a; git stash -q; echo three > a");
    let all = |place: &Place| {
        let mut out = Vec::new();
        let mut dirs = vec![place.at("")];
        while let Some(dir) = dirs.pop() {
            for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
                let meta = entry.metadata().unwrap();
                if meta.is_dir() {
                    dirs.push(entry.path());
                } else {
                    out.push((entry.path(), meta.modified().unwrap(), fs::read(entry.path()).unwrap()));
                }
            }
        }
        out.sort();
        out
    };
    let before = all(&place);
    place.begin();
    place.turn(1, |_| ());
    place.doc(Scope::Session);
    place.act(ReviewAction::Rewind { turn: 1 });
    assert_eq!(all(&place), before);
}

#[test]
fn a_held_write_is_decided_hunk_by_hunk_before_it_happens() {
    let text = lines(30);
    let mut place = Place::with(&[("a", text.as_bytes())]);
    place.review.begin_turn(1).unwrap();
    let wanted = changed(&text, &[(3, "THREE"), (20, "TWENTY")]);
    let (req, path) = (ReqId(7), place.at("a"));
    assert!(!place.hold(ReqId(6), &path, &text), "nothing to decide");
    assert!(place.hold(req, &path, &wanted));
    let doc = place.doc(Scope::Pending);
    assert_eq!((doc.files[0].held, doc.files[0].hunks.len()), (Some(req), 2));
    assert_eq!(place.review.totals().unwrap().pending, 2);
    // The person edits the file meanwhile, elsewhere.
    place.write("a", &changed(&text, &[(28, "mine")]));
    let ids: Vec<HunkId> = doc.files[0].hunks.iter().map(|h| h.id).collect();
    place.decide(Target::Hunk("a".into(), ids[0]), Verdict::Accept).unwrap();
    assert_eq!(place.review.released(req).unwrap(), None);
    let states = |place: &mut Place| {
        let doc = place.doc(Scope::Pending);
        assert_eq!(doc.files[0].hunks.iter().map(|h| h.id).collect::<Vec<_>>(), ids);
        (doc.files[0].hunks.iter().map(|h| h.state).collect::<Vec<_>>(), doc.undo.is_some())
    };
    assert_eq!(states(&mut place), (vec![HunkState::Accepted, HunkState::Pending], true), "it stays in sight");
    assert_eq!(place.review.totals().unwrap().pending, 1);
    place.act(ReviewAction::Undo);
    assert_eq!(states(&mut place), (vec![HunkState::Pending; 2], false));
    place.decide(Target::Hunk("a".into(), ids[0]), Verdict::Accept).unwrap();
    place.decide(Target::Hunk("a".into(), ids[1]), Verdict::Reject).unwrap();
    assert_eq!(place.read("a"), changed(&text, &[(28, "mine")]), "not written before it is asked for");
    let Some(Released::Decided(HeldOutcome::Partly { differs })) = place.review.released(req).unwrap() else {
        panic!()
    };
    assert!(differs.contains("-TWENTY") && differs.contains("+line 20"), "{differs}");
    assert_eq!(place.read("a"), changed(&text, &[(3, "THREE"), (28, "mine")]));
    place.review.end_turn(1).unwrap();
    assert!(place.pending().is_empty(), "it was decided");
    place.act(ReviewAction::Rewind { turn: 1 });
    assert_eq!(place.read("a"), changed(&text, &[(28, "mine")]));
    // All of it, and nothing of it.
    place.review.begin_turn(2).unwrap();
    for (verdict, expected) in [
        (Verdict::Reject, Released::Decided(HeldOutcome::Refused)),
        (Verdict::Accept, Released::Decided(HeldOutcome::Whole { created: true, bytes: 2 })),
    ] {
        assert!(place.hold(req, &place.at("new"), "x\n"));
        place.decide(Target::File("new".into()), verdict).unwrap();
        assert_eq!(place.review.released(req).unwrap(), Some(expected));
        assert_eq!(place.at("new").exists(), verdict == Verdict::Accept);
    }
}

#[test]
fn like_hunks_of_a_held_write_keep_their_names_while_they_are_decided() {
    let text = lines(60);
    let mut place = Place::with(&[("a", text.as_bytes())]);
    place.review.begin_turn(1).unwrap();
    // The same line put in at three places: the hunks differ in their place only.
    let put = |wanted: &[usize]| -> String {
        let both = |(at, line): (usize, &str)| {
            let more = if wanted.contains(&(at + 1)) { "same\n" } else { "" };
            format!("{line}\n{more}")
        };
        text.lines().enumerate().map(both).collect()
    };
    let (req, path) = (ReqId(7), place.at("a"));
    assert!(place.hold(req, &path, &put(&[10, 30, 50])));
    let ids: Vec<HunkId> = place.doc(Scope::Pending).files[0].hunks.iter().map(|h| h.id).collect();
    // As quickly as keys come: no look at a newer document between.
    for (id, verdict) in ids.iter().zip([Verdict::Reject, Verdict::Accept, Verdict::Reject]) {
        place.decide(Target::Hunk("a".into(), *id), verdict).unwrap();
    }
    assert!(matches!(place.review.released(req).unwrap(), Some(Released::Decided(HeldOutcome::Partly { .. }))));
    assert_eq!(place.read("a"), put(&[30]));
}

#[test]
fn two_held_writes_of_one_file_are_decided_one_after_the_other() {
    let text = lines(30);
    let one = changed(&text, &[(3, "THREE")]);
    let two = changed(&one, &[(20, "TWENTY")]);
    for (first, then, expected) in [
        (Verdict::Accept, Released::Decided(HeldOutcome::Whole { created: false, bytes: two.len() as u64 }), &two),
        (Verdict::Reject, Released::Decided(HeldOutcome::Whole { created: false, bytes: two.len() as u64 }), &two),
    ] {
        let mut place = Place::with(&[("a", text.as_bytes())]);
        place.review.begin_turn(1).unwrap();
        let path = place.at("a");
        assert!(place.hold(ReqId(1), &path, &one));
        assert!(place.hold(ReqId(2), &path, &two));
        let doc = place.doc(Scope::Pending);
        assert_eq!((doc.files.len(), doc.files[0].held, doc.files[0].hunks.len()), (1, Some(ReqId(1)), 1));
        // An answer to the second alone waits for the first.
        place.review.decide_write(ReqId(2), Verdict::Accept).unwrap();
        assert_eq!(place.review.released(ReqId(2)).unwrap(), None);
        place.review.decide_write(ReqId(1), first).unwrap();
        assert!(place.review.released(ReqId(1)).unwrap().is_some());
        if first == Verdict::Reject {
            // It was about something else: it is asked anew, with what it would really do.
            assert_eq!(place.review.released(ReqId(2)).unwrap(), None);
            assert_eq!(place.doc(Scope::Pending).files[0].hunks.len(), 2);
            place.review.decide_write(ReqId(2), Verdict::Accept).unwrap();
        }
        assert_eq!(place.review.released(ReqId(2)).unwrap(), Some(then));
        assert_eq!(place.read("a"), *expected);
    }
}

#[test]
fn what_the_person_saves_while_two_writes_of_one_file_wait_stays_whatever_becomes_of_the_first() {
    let text = lines(30);
    let one = changed(&text, &[(3, "THREE")]);
    let two = changed(&one, &[(20, "TWENTY")]);
    for asked in [true, false] {
        for first in [Some(Verdict::Accept), Some(Verdict::Reject), None] {
            let mut place = Place::with(&[("a", text.as_bytes())]);
            place.review.begin_turn(1).unwrap();
            for (req, wanted) in [(1, &one), (2, &two)] {
                let proposal =
                    Proposal { req: ReqId(req), entry: EntryId(req), turn: None, path: place.at("a"), asked };
                assert!(place.review.hold(&proposal, wanted).unwrap());
            }
            place.write("a", &(text.clone() + "PERSON\n"));
            match first {
                Some(verdict) => {
                    place.review.decide_write(ReqId(1), verdict).unwrap();
                    assert!(place.review.released(ReqId(1)).unwrap().is_some());
                }
                None => place.review.let_go(ReqId(1)),
            }
            assert_eq!(place.review.followed(), [ReqId(2)], "it is shown anew");
            assert!(place.review.followed().is_empty());
            let preview = place.review.preview_of_held(ReqId(2)).unwrap().unwrap();
            assert_eq!(&*preview.new, two.clone() + "PERSON\n", "the person's line is no part of the difference");
            assert_eq!(preview.old.unwrap().contains("THREE"), first == Some(Verdict::Accept));
            let hunks = place.doc(Scope::Pending).files.iter().find(|f| f.held == Some(ReqId(2))).unwrap().hunks.len();
            assert_eq!(hunks, if first == Some(Verdict::Accept) { 1 } else { 2 });
            place.review.decide_write(ReqId(2), Verdict::Accept).unwrap();
            assert!(place.review.released(ReqId(2)).unwrap().is_some());
            assert_eq!(place.read("a"), two.clone() + "PERSON\n", "{asked} {first:?}");
        }
    }
}

#[test]
fn what_the_person_saves_while_a_command_is_asked_about_is_left_alone_and_named() {
    for runs in [true, false] {
        let mut place = Place::with(&[("a", lines(9).as_bytes())]);
        place.review.begin_turn(1).unwrap();
        place.review.command_asked().unwrap();
        place.write("a", "the person's\n");
        if runs {
            place.review.before_command().unwrap();
            place.command(|place| place.write("b", "the command's\n"));
        }
        place.review.end_turn(1).unwrap();
        let rewound = place.act(ReviewAction::Rewind { turn: 1 }).rewound;
        assert_eq!(place.read("a"), "the person's\n", "{rewound:?}");
        assert!(rewound.iter().any(|one| one.path == Path::new("a") && one.outcome != RewindOutcome::Restored));
        assert!(!place.at("b").exists());
    }
}

#[test]
fn what_the_person_did_before_a_call_was_announced_is_not_its_doing() {
    let text = lines(40);
    let mut place = Place::with(&[("a", text.as_bytes()), ("b", text.as_bytes())]);
    let mine = changed(&text, &[(20, "mine")]);
    place.turn(1, |p| {
        p.client_writes("other", "so that it is known to tell what it does\n");
        for (entry, name, doing) in [(5, "a", ToolEffect::Edits), (6, "b", ToolEffect::Runs)] {
            p.write(name, &mine);
            // Heard of well after the change.
            let at = Instant::now() + Duration::from_secs(1);
            let paths = vec![p.at("a")];
            let (entry, claims) = (EntryId(entry), Vec::new());
            let note =
                ToolNote { entry, turn: None, doing, at, since: at, finished: false, waits: false, paths, claims };
            p.review.tool(&note).unwrap();
        }
    });
    let doc = place.doc(Scope::Session);
    let causes: Vec<Cause> = doc.files.iter().filter(|f| f.path != Path::new("other")).map(|f| f.cause).collect();
    assert_eq!(causes, [Cause::Unknown; 2]);
    place.act(ReviewAction::Rewind { turn: 1 });
    assert_eq!((place.read("a"), place.read("b")), (mine.clone(), mine));
}

#[test]
fn what_a_call_did_that_is_still_to_be_told_of_is_not_found_before() {
    let mut place = Place::with(&[("a", b"1\n")]);
    place.turn(1, |p| {
        p.write("a", "2\n");
        let now = Instant::now();
        let ago = |seconds| now.checked_sub(Duration::from_secs(seconds)).unwrap();
        let later = now + Duration::from_secs(1);
        // One that was over before, and the one that wrote it.
        let heard = [(5, ago(3), false), (5, ago(2), true), (6, ago(1), false), (6, later, true)];
        for (n, (entry, at, finished)) in heard.into_iter().enumerate() {
            p.review.notes_wait(n + 1 < heard.len());
            let (entry, doing, paths, claims) = (EntryId(entry), ToolEffect::Runs, Vec::new(), Vec::new());
            let note = ToolNote { entry, turn: Some(1), doing, at, since: at, finished, waits: false, paths, claims };
            p.review.tool(&note).unwrap();
        }
    });
    let doc = place.doc(Scope::Session);
    let hunk = &doc.files[0].hunks[0];
    assert_eq!((doc.files[0].cause, hunk.entry), (Cause::Command, Some(EntryId(6))));
}

#[test]
fn what_sessions_of_one_run_have_changed_is_told_apart() {
    let mut place = Place::with(&[("a", b"1\n")]);
    place.turn(1, |p| p.client_writes("a", "1\n2\n"));
    place.review.session(AgentSession::new("session-2", 2, "agent")).unwrap();
    place.turn(2, |p| {
        p.client_writes("a", "1\n2\n3\n4\n");
        p.client_writes("b", "b\n");
    });
    let mut of = |id: &str| {
        let (totals, files) = place.review.totals_of(id).unwrap();
        (totals.added, totals.files, totals.pending, files.len())
    };
    assert_eq!([of("session-1"), of("session-2"), of("nobody")], [(1, 1, 1, 1), (3, 2, 2, 2), (0, 0, 0, 0)]);
    assert!(place.review.turns().are_shared());
    let parts = |place: &mut Place| {
        ["session-1", "session-2"].map(|id| {
            let totals = place.review.own_totals(id).unwrap();
            (totals.added, totals.files, totals.pending)
        })
    };
    assert_eq!(parts(&mut place), [(1, 1, 1), (3, 2, 2)]);
    place.turn(3, |p| p.client_writes("b", "b\nc\n"));
    assert_eq!(parts(&mut place), [(1, 1, 1), (4, 2, 2)]);
    place.review.session(AgentSession::new("session-1", 4, "agent")).unwrap();
    place.turn(4, |p| p.client_writes("c", "c\n"));
    assert_eq!(parts(&mut place), [(2, 2, 2), (4, 2, 2)]);
}

#[test]
fn what_earlier_runs_of_a_session_have_left_is_found_until_it_is_taken_back() {
    let mut first = Place::with(&[("a", b"1\n")]);
    first.turn(1, |p| p.client_writes("a", "1\n2\n"));
    let Place { temp, review, .. } = first;
    let (home, head) = (review.dir().parent().unwrap().to_owned(), review.head().clone());
    drop(review);
    let later = |stem: &str, id: &str, goes_on| {
        let mut review = ReviewSession::create(&home, SessionInfo { stem: stem.into(), ..head.clone() }).unwrap();
        // It may be opened once more, when its agent has died.
        for goes_on in [goes_on, true] {
            review.session(AgentSession { goes_on, ..AgentSession::new(id, 1, "agent") }).unwrap();
        }
        review.dir().to_owned()
    };
    let (same, other) = (later("t", "session-1", true), later("u", "session-2", true));
    let by_another = {
        let mut review = ReviewSession::create(&home, SessionInfo { stem: "t2".into(), ..head.clone() }).unwrap();
        let agent = AgentSession::new("session-1", 1, "agent --other");
        review.session(AgentSession { goes_on: true, ..agent }).unwrap();
        review.dir().to_owned()
    };
    let (of_that_name, its) = (later("v", "session-1", false), later("w", "session-1", true));
    let left =
        |dir: &Path| earlier_runs(&home, dir, None).into_iter().map(|run| run.run.left.unwrap()).collect::<Vec<_>>();
    assert_eq!(left(&same), [Left { files: 1, pending: 1 }]);
    assert_eq!(left(&by_another), [Left { files: 1, pending: 1 }], "with another command line");
    assert_eq!(left(&other), [], "of another session");
    assert_eq!(left(&of_that_name), [], "an agent may use a name again");
    assert_eq!(left(&its), [], "what was before the one that began is not its own");
    let before: Vec<String> = runs_before(&home, &its, None).into_iter().map(|(run, _)| run.stem).collect();
    assert_eq!(before, ["v"]);
    let called_the_same = |dir: &Path, id: &str| namesakes(&home, dir, &AgentSession::new(id, 1, "agent"));
    assert_eq!(called_the_same(&its, "session-1"), ["s"]);
    assert_eq!(called_the_same(&same, "session-1"), ["v"]);
    assert_eq!(called_the_same(&other, "session-2"), [""; 0]);
    let run = earlier_runs(&home, &same, None).remove(0);
    assert_eq!(run.run.stem, "s");
    ReviewSession::open(&run.listed.dir).unwrap().act(&ReviewAction::Rewind { turn: 0 }).unwrap();
    assert_eq!(left(&same), []);
    drop(temp);
}

#[test]
fn what_a_command_does_before_anybody_tells_that_it_runs_is_its_doing() {
    for (in_turn, other_begins) in [(false, false), (false, true), (true, false), (true, true)] {
        let mut place = Place::with(&[("a", b"1\n")]);
        if in_turn {
            place.review.begin_turn(1).unwrap();
            place.review.command_asked().unwrap();
        }
        place.review.before_command().unwrap();
        place.review.command_let_go(ReqId(7));
        place.write("a", "1\nE\n");
        place.write("b", "E\n");
        if other_begins {
            // It looks at everything before the first one is told of.
            place.review.before_command().unwrap();
            place.review.command_let_go(ReqId(8));
            assert_eq!(place.review.command_started(ReqId(8), None).ok(), Some(false), "it could not be started");
        }
        let note = |finished, after| {
            let (entry, doing, paths, claims) = (EntryId(5), ToolEffect::Runs, Vec::new(), Vec::new());
            let at = Instant::now() + Duration::from_secs(after);
            ToolNote { entry, turn: in_turn.then_some(1), doing, at, since: at, finished, waits: false, paths, claims }
        };
        place.review.command_started(ReqId(7), Some(&note(false, 2))).unwrap();
        place.review.tool(&note(true, 3)).unwrap();
        if in_turn {
            place.review.end_turn(1).unwrap();
        }
        let doc = place.doc(Scope::Session);
        let causes: Vec<Cause> = doc.files.iter().map(|file| file.cause).collect();
        assert_eq!(causes, [Cause::Command; 2], "{in_turn} {other_begins}");
        place.act(ReviewAction::Rewind { turn: 0 });
        assert_eq!((place.read("a"), place.at("b").exists()), ("1\n".to_owned(), false));
    }
}

#[test]
fn what_the_person_saves_before_a_command_between_turns_and_after_it_is_theirs() {
    let mut place = Place::with(&[("a", b"1\n"), ("b", b"1\n")]);
    place.write("a", "theirs\n");
    place.review.before_command().unwrap();
    place.review.command_let_go(ReqId(7));
    place.review.command_started(ReqId(7), None).unwrap();
    place.write("b", "theirs\n");
    place.review.before_command().unwrap();
    assert_eq!(place.doc(Scope::Session).files.len(), 0);
}

#[test]
fn what_a_command_between_turns_did_is_found_though_looking_takes_long() {
    for is_late in [false, true] {
        let mut place = Place::with(&[("a", b"1\n")]);
        (place.review.pace.cheap, place.review.pace.took) = (Duration::ZERO, Duration::from_hours(1));
        place.command(|place| place.write("b", "E\n"));
        assert!(!place.review.log.paths().contains(&PathBuf::from("b")));
        assert!(place.review.pace.due().is_some());
        if is_late {
            assert!(place.review.look_late().unwrap());
        } else {
            place.review.last_commands().unwrap();
        }
        assert!(place.review.log.paths().contains(&PathBuf::from("b")));
        assert_eq!(place.review.pace.due(), None);
    }
}

#[test]
fn a_call_explains_what_happened_while_it_ran() {
    let (mut activity, start) = (Attribution::default(), SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000));
    let time = |at| start + Duration::from_millis(at);
    let note = |activity: &mut Attribution, entry: u64, at, finished| {
        let (at, doing, paths) = (time(at), ToolEffect::Edits, vec!["/a".into()]);
        let (entry, heard) = (EntryId(entry), Instant::now());
        let note = ToolNote {
            entry,
            turn: None,
            doing,
            at: heard,
            since: heard,
            finished,
            waits: false,
            paths,
            claims: Vec::new(),
        };
        activity.note(&note, LetGo::At(at), at, |path: &Path| vec![path.to_owned()]);
    };
    activity.begin(1);
    note(&mut activity, 1, 10_000, false);
    let cause = |activity: &Attribution, at: u64| {
        let blamed = activity.blame(Path::new("/a"), When::At(time(at)));
        (blamed.cause, blamed.doubt)
    };
    let (unknown, tool) = ((Cause::Unknown, true), (Cause::Tool, false));
    assert_eq!([9_000, 9_900, 20_000].map(|at| cause(&activity, at)), [unknown, tool, tool]);
    note(&mut activity, 1, 30_000, true);
    assert_eq!([9_000, 29_000, 30_200, 31_000].map(|at| cause(&activity, at)), [unknown, tool, tool, unknown]);
    // One that is heard of when it is over may have run at any time before.
    note(&mut activity, 2, 30_000, true);
    assert_eq!([9_000, 29_000, 31_000].map(|at| cause(&activity, at)), [tool, tool, unknown]);
}

#[test]
fn what_the_person_writes_while_a_write_is_held_stays_theirs() {
    let text = lines(40);
    let mut place = Place::with(&[("a", text.as_bytes())]);
    let first = changed(&text, &[(2, "TWO")]);
    place.turn(1, |p| p.client_writes("a", &first));
    place.review.begin_turn(2).unwrap();
    place.entry = 8;
    place.note(ToolEffect::Edits, &["a"], Vec::new(), false);
    assert!(place.hold(ReqId(1), &place.at("a"), &changed(&first, &[(10, "TEN")])));
    place.write("a", &changed(&first, &[(30, "mine")]));
    place.doc(Scope::Pending);
    place.decide(Target::File("a".into()), Verdict::Accept).unwrap();
    assert!(matches!(place.review.released(ReqId(1)).unwrap(), Some(Released::Decided(HeldOutcome::Partly { .. }))));
    assert_eq!(place.read("a"), changed(&first, &[(10, "TEN"), (30, "mine")]));
    place.review.end_turn(2).unwrap();
    place.act(ReviewAction::Rewind { turn: 2 });
    assert_eq!(place.read("a"), changed(&first, &[(30, "mine")]));
}

#[test]
fn a_held_write_that_the_disk_refuses_is_not_taken_for_done() {
    let mut place = Place::with(&[]);
    place.review.begin_turn(1).unwrap();
    let req = ReqId(1);
    assert!(place.hold(req, &place.at("d/new"), "new\n"));
    // Where its directory would be.
    place.write("d", "a file of the person\n");
    place.decide(Target::File("d/new".into()), Verdict::Accept).unwrap();
    place.review.released(req).unwrap_err();
    for reopened in [false, true] {
        place = if reopened { place.reopen() } else { place };
        assert!(place.doc(Scope::Session).files.iter().all(|f| f.path != Path::new("d/new")), "{reopened}");
        assert!(place.review.changed(Scope::Session).unwrap().iter().all(|f| f.path != Path::new("d/new")));
    }
    assert_eq!(place.read("d"), "a file of the person\n");
}

#[test]
fn a_held_write_that_conflicts_with_what_the_person_wrote_is_asked_about_again() {
    let text = lines(40);
    let wanted = changed(&text, &[(10, "TEN"), (30, "THIRTY")]);
    let mine = changed(&text, &[(10, "mine")]);
    let mut place = Place::with(&[("a", text.as_bytes())]);
    place.review.begin_turn(1).unwrap();
    let (req, path) = (ReqId(1), place.at("a"));
    assert!(place.hold(req, &path, &wanted));
    place.write("a", &mine);
    place.decide(Target::File("a".into()), Verdict::Accept).unwrap();
    assert_eq!(place.review.released(req).unwrap(), Some(Released::Again { path: "a".into() }));
    assert_eq!(place.read("a"), mine, "nothing is written before that");
    assert_eq!(place.review.released(req).unwrap(), None);
    // The difference is now that to the person's text; they keep their line.
    let ids: Vec<HunkId> = place.doc(Scope::Pending).files[0].hunks.iter().map(|h| h.id).collect();
    place.decide(Target::Hunk("a".into(), ids[0]), Verdict::Reject).unwrap();
    place.decide(Target::Hunk("a".into(), ids[1]), Verdict::Accept).unwrap();
    assert!(matches!(place.review.released(req).unwrap(), Some(Released::Decided(HeldOutcome::Partly { .. }))));
    assert_eq!(place.read("a"), changed(&mine, &[(30, "THIRTY")]));
    // The person has written what the agent wants.
    assert!(place.hold(req, &path, &wanted));
    place.write("a", &wanted);
    place.decide(Target::File("a".into()), Verdict::Reject).unwrap();
    let bytes = wanted.len() as u64;
    let released = place.review.released(req).unwrap();
    assert!(
        matches!(released, Some(Released::Decided(HeldOutcome::Whole { .. } | HeldOutcome::Refused))),
        "{released:?} {bytes}"
    );
    assert_eq!(place.read("a"), wanted);
}

#[test]
fn decisions_on_a_held_write_are_undone_also_when_it_is_written() {
    let text = lines(40);
    let wanted = changed(&text, &[(10, "TEN"), (30, "THIRTY")]);
    let mut place = Place::with(&[("a", text.as_bytes())]);
    place.review.begin_turn(1).unwrap();
    let (req, path) = (ReqId(1), place.at("a"));
    assert!(place.hold(req, &path, &wanted));
    let ids: Vec<HunkId> = place.doc(Scope::Pending).files[0].hunks.iter().map(|h| h.id).collect();
    place.decide(Target::Hunk("a".into(), ids[0]), Verdict::Reject).unwrap();
    place.act(ReviewAction::Undo);
    place.act(ReviewAction::Redo);
    place.decide(Target::Hunk("a".into(), ids[1]), Verdict::Accept).unwrap();
    assert!(matches!(place.review.released(req).unwrap(), Some(Released::Decided(HeldOutcome::Partly { .. }))));
    let states = |place: &mut Place| -> Vec<HunkState> {
        place.doc(Scope::Pending).files.iter().flat_map(|f| &f.hunks).map(|h| h.state).collect()
    };
    assert_eq!(states(&mut place), [HunkState::Rejected, HunkState::Accepted]);
    assert_eq!(place.read("a"), changed(&text, &[(30, "THIRTY")]));
    place.act(ReviewAction::Undo);
    assert_eq!(states(&mut place), [HunkState::Pending; 2]);
    assert_eq!(place.read("a"), wanted);
    place.act(ReviewAction::Redo);
    assert_eq!(place.read("a"), changed(&text, &[(30, "THIRTY")]));
    place.review.end_turn(1).unwrap();
    place.act(ReviewAction::Rewind { turn: 1 });
    assert_eq!(place.read("a"), text);
}

#[test]
fn an_allowed_write_is_merged_with_what_the_person_wrote_and_still_to_be_reviewed() {
    let text = lines(40);
    let mut place = Place::with(&[("a", text.as_bytes())]);
    place.review.begin_turn(1).unwrap();
    let req = ReqId(1);
    let proposal = Proposal { req, entry: EntryId(1), turn: None, path: place.at("a"), asked: true };
    assert!(place.review.hold(&proposal, &changed(&text, &[(10, "TEN")])).unwrap());
    place.write("a", &changed(&text, &[(30, "mine")]));
    place.review.decide_write(req, Verdict::Accept).unwrap();
    assert!(matches!(place.review.released(req).unwrap(), Some(Released::Decided(HeldOutcome::Partly { .. }))));
    assert_eq!(place.read("a"), changed(&text, &[(10, "TEN"), (30, "mine")]));
    place.review.end_turn(1).unwrap();
    let doc = place.doc(Scope::Pending);
    assert!(doc.files[0].hunks.iter().any(|h| h.state == HunkState::Pending && h.new_start < 12));
}

#[test]
fn files_and_directories_give_way_to_each_other() {
    let mut place = Place::with(&[("x", b"file\n"), ("d/in", b"in\n"), ("d/deep/er", b"er\n")]);
    place.turn(1, |p| {
        p.command(|p| {
            fs::remove_file(p.at("x")).unwrap();
            p.write("x/y", "1\n");
            fs::remove_dir_all(p.at("d")).unwrap();
            p.write("d", "now a file\n");
        });
    });
    let after = |p: &Place| (fs::read_to_string(p.at("x/y")).ok(), fs::read_to_string(p.at("d")).ok());
    let before = |p: &Place| [p.read("x"), p.read("d/in"), p.read("d/deep/er")];
    place.act(ReviewAction::Rewind { turn: 1 });
    assert_eq!(before(&place), ["file\n", "in\n", "er\n"]);
    place.act(ReviewAction::Undo);
    assert_eq!(after(&place), (Some("1\n".to_owned()), Some("now a file\n".to_owned())));
    // And by a decision about all of it.
    place.decide(Target::All, Verdict::Reject).unwrap();
    assert_eq!(before(&place), ["file\n", "in\n", "er\n"]);
    assert!(place.pending().is_empty());
}

#[test]
fn what_is_done_right_after_a_crash_is_in_doubt() {
    let text = lines(10);
    let mut place = Place::with(&[("a", text.as_bytes()), ("b", text.as_bytes())]);
    place.review.begin_turn(1).unwrap();
    place.tool_writes("a", &changed(&text, &[(2, "by the agent")]));
    let mine = changed(&text, &[(3, "a moment later")]);
    place.write("b", &mine);
    place.write("mine", "new\n");
    place.was_heard_of(Duration::from_secs(3));
    let mut place = place.reopen();
    let rewound = place.act(ReviewAction::Rewind { turn: 1 }).rewound;
    assert!(rewound.iter().any(|r| r.outcome == RewindOutcome::Doubtful), "{rewound:?}");
    assert_eq!((place.read("a"), place.read("b"), place.read("mine")), (text, mine, "new\n".to_owned()));
}

#[test]
fn what_is_done_right_after_a_crash_in_a_turn_of_a_silent_agent_is_in_doubt_as_well() {
    let text = lines(10);
    let mut place = Place::with(&[("a", text.as_bytes()), ("b", text.as_bytes())]);
    place.review.begin_turn(1).unwrap();
    place.write("a", &changed(&text, &[(2, "by the agent")]));
    place.review.before_command().unwrap();
    let mine = changed(&text, &[(3, "a moment later")]);
    place.write("b", &mine);
    place.write("mine", "new\n");
    place.was_heard_of(Duration::from_secs(3));
    let mut place = place.reopen();
    let rewound = place.act(ReviewAction::Rewind { turn: 1 }).rewound;
    let outcomes: Vec<_> = rewound.iter().map(|r| (r.path.to_str().unwrap(), r.outcome)).collect();
    let doubtful = RewindOutcome::Doubtful;
    assert_eq!(outcomes, [("a", RewindOutcome::Restored), ("b", doubtful), ("mine", doubtful)]);
    assert_eq!((place.read("a"), place.read("b"), place.read("mine")), (text, mine, "new\n".to_owned()));
    assert_eq!(place.pending().len(), 2, "it is shown all the same");
}

/// Where nothing can take it back, nothing is said to.
#[test]
fn what_is_in_doubt_and_not_kept_is_called_not_kept() {
    let text = lines(10);
    let mut place = Place::with(&[("b", text.as_bytes())]);
    place.review.begin_turn(1).unwrap();
    place.review.before_command().unwrap();
    place.write("b", &changed(&text, &[(3, "a moment later")]));
    place.write("mine", "new\n");
    place.was_heard_of(Duration::from_secs(3));
    let place = place.reopen();
    let packs = place.review.dir().join(STORE).join("objects/pack");
    fs::remove_dir_all(packs).unwrap();
    let mut place = place.reopen();
    let done = place.act(ReviewAction::Rewind { turn: 1 });
    assert_eq!(outcomes(&done), [("b", RewindOutcome::NotKept), ("mine", RewindOutcome::Doubtful)]);
}

#[test]
fn a_date_that_an_agent_gives_to_its_file_makes_it_nobody_elses() {
    let mut place = Place::with(&[("a", b"a\n")]);
    place.review.begin_turn(1).unwrap();
    place.write("a", "agent\n");
    let hour = SystemTime::now() + Duration::from_hours(1);
    File::options().write(true).open(place.at("a")).unwrap().set_modified(hour).unwrap();
    let mut place = place.reopen();
    assert_eq!(place.pending().len(), 1);
}

/// By commands, calls and silently, with a look before it or none.
fn work(place: &mut Place, meanwhile: impl FnOnce()) {
    place.command(|p| p.write("a", "by a command\n"));
    place.tool_writes("b", "by a call\n");
    place.entry += 1;
    place.note(ToolEffect::Runs, &[], Vec::new(), false);
    place.write("c", "before\n");
    place.write("d", "d\nbefore\n");
    meanwhile();
    place.write("d", "d\nbefore\nafter\n");
    place.write("e", "after\n");
    place.note(ToolEffect::Runs, &[], Vec::new(), true);
}

#[test]
fn whatever_the_clock_of_the_files_says_a_command_has_done_what_it_has_done() {
    let (second, minute, hour) = (Duration::from_secs(1), Duration::from_mins(1), Duration::from_hours(1));
    let none = Duration::ZERO;
    for (before, then) in
        [(second, second), (hour, hour), (none, minute), (none, second), (minute, none), (second, hour)]
    {
        let mut place = Place::with(&["a", "b", "c", "d", "e"].map(|name| (name, &b"d\n"[..])));
        faults::clock_is_behind(before);
        let set = || {
            if before != then {
                faults::clock_is_behind(then);
            }
        };
        place.turn(1, |p| work(p, set));
        let doc = place.doc(Scope::Session);
        let causes: Vec<Cause> = doc.files.iter().map(|f| f.cause).collect();
        let command = Cause::Command;
        assert_eq!(causes, [command, Cause::Tool, command, command, command], "{before:?} {then:?}");
        let rewound = place.act(ReviewAction::Rewind { turn: 1 }).rewound;
        assert!(
            rewound.iter().all(|one| (one.outcome, &one.remark) == (RewindOutcome::Restored, &None)),
            "{rewound:?}"
        );
        assert!(["a", "b", "c", "d", "e"].iter().all(|name| place.read(name) == "d\n"));
        faults::clock_is_behind(none);
    }
}

#[test]
fn what_follows_a_prompt_that_did_not_wait_is_the_turns_by_another_clock_as_well() {
    for behind in [Duration::from_secs(2), Duration::from_hours(1)] {
        let mut place = Place::with(&[("a", b"a\n")]);
        faults::clock_is_behind(behind);
        let sent = Instant::now();
        place.write("a", "agent\n");
        place.review.begin_turn_unless(1, || Passed { sent: Some(sent), over: None }).unwrap();
        place.review.end_turn(1).unwrap();
        faults::clock_is_behind(Duration::ZERO);
        assert_eq!(place.pending().len(), 1);
    }
}

#[test]
fn what_the_person_saves_when_a_turn_is_over_is_not_undone_with_it_however_late_its_looks_come() {
    for waits in [true, false] {
        let files = ["agents", "both", "persons", "here/agents", "there/persons"];
        let mut place = Place::with(&files.map(|name| (name, &b"a\n"[..])));
        let sent = Instant::now();
        if waits {
            place.review.begin_turn(1).unwrap();
        }
        place.write("agents", "agent\n");
        place.write("both", "agent\n");
        fs::remove_file(place.at("here/agents")).unwrap();
        pass_a_tick(&place);
        let over = Instant::now();
        pass_a_tick(&place);
        fs::remove_file(place.at("there/persons")).unwrap();
        place.write("both", "agent and mine\n");
        place.write("persons", "mine\n");
        place.write("new", "mine\n");
        if !waits {
            place.review.begin_turn_unless(1, || Passed { sent: Some(sent), over: Some(over) }).unwrap();
        }
        place.review.end_turn_late(1, over).unwrap();
        place.act(ReviewAction::Rewind { turn: 1 });
        let texts = ["agents", "both", "persons", "new"].map(|name| place.read(name));
        assert_eq!(texts, ["a\n", "agent and mine\n", "mine\n", "mine\n"], "waits: {waits}");
        let are_there = ["here/agents", "there/persons"].map(|name| place.at(name).exists());
        assert_eq!(are_there, [true, false], "waits: {waits}");
        let pending = place.pending().len();
        assert_eq!(pending, 4, "what may be the agent's is shown; waits: {waits}");
    }
}

#[test]
fn what_the_person_saves_when_a_command_and_its_turn_are_over_is_not_put_down_to_the_command() {
    let mut place = Place::with(&[("agents", b"a\n"), ("persons", b"a\n")]);
    place.review.begin_turn(1).unwrap();
    place.entry += 1;
    place.note(ToolEffect::Runs, &[], Vec::new(), false);
    place.write("agents", "agent\n");
    pass_a_tick(&place);
    let over = Instant::now();
    // The look at its end is that of the turn.
    place.review.notes_wait(true);
    place.note(ToolEffect::Runs, &[], Vec::new(), true);
    place.review.notes_wait(false);
    pass_a_tick(&place);
    place.write("persons", "mine\n");
    place.write("new", "mine\n");
    place.review.end_turn_late(1, over).unwrap();
    place.act(ReviewAction::Rewind { turn: 1 });
    assert_eq!(["agents", "persons", "new"].map(|name| place.read(name)), ["a\n", "mine\n", "mine\n"]);
    assert_eq!(place.pending().len(), 2, "it is shown");
}

#[test]
fn the_newest_files_are_those_of_the_last_turns_that_are_another_than_before() {
    let mut place = Place::with(&[("a", b"a\n"), ("b", b"b\n"), ("c", b"c\n"), ("persons", b"p\n")]);
    place.turn(1, |p| ["a", "b", "c"].into_iter().for_each(|name| p.client_writes(name, "one\ntwo\n")));
    place.turn(2, |p| p.client_writes("c", "one\n"));
    place.write("persons", "mine\n");
    place.turn(3, |p| p.client_writes("b", "b\n"));
    place.review.totals().unwrap();
    let one = |path: &str, added| FileTotals { path: path.into(), added, removed: 1, ..FileTotals::default() };
    assert_eq!(place.review.newest_files(8), [one("c", 1), one("a", 2)]);
    assert_eq!(place.review.newest_files(1), [one("c", 1)]);
}

#[test]
fn of_one_turn_the_files_of_the_newest_calls_come_first_and_it_is_known_which_are_new_and_gone() {
    let mut place = Place::with(&[("b", b"b\n"), ("old", b"o\n")]);
    place.turn(1, |p| {
        for name in ["c", "b", "a"] {
            p.client_writes(name, "one\n");
        }
        std::fs::remove_file(p.at("old")).unwrap();
    });
    place.review.totals().unwrap();
    let files = place.review.newest_files(8);
    let signs: Vec<_> = files.iter().map(|file| (file.path.as_str(), file.is_new, file.is_gone)).collect();
    let all = [("a", true, false), ("b", false, false), ("c", true, false), ("old", false, true)];
    assert_eq!(signs, all);
}

#[test]
fn what_the_person_saves_right_before_or_after_a_command_is_in_doubt_while_the_turn_goes_on() {
    let files = ["agents", "before", "after", "here/agents", "there/removed", "there/moved"];
    let mut place = Place::with(&files.map(|name| (name, &b"a\n"[..])));
    place.review.begin_turn(1).unwrap();
    place.write("before", "mine\n");
    // An agent tells of a call a little after it has begun.
    (0..3).for_each(|_| pass_a_tick(&place));
    place.entry += 1;
    place.note(ToolEffect::Runs, &[], Vec::new(), false);
    pass_a_tick(&place);
    place.write("agents", "agent\n");
    fs::remove_file(place.at("here/agents")).unwrap();
    pass_a_tick(&place);
    let at = Instant::now();
    pass_a_tick(&place);
    place.write("after", "mine\n");
    fs::remove_file(place.at("there/removed")).unwrap();
    fs::rename(place.at("there/moved"), place.at("there/to")).unwrap();
    // The look at its end comes later than the news of it.
    let (entry, turn, doing, finished, waits) = (EntryId(place.entry), None, ToolEffect::Runs, true, false);
    let (paths, claims) = (Vec::new(), Vec::new());
    let note = ToolNote { entry, turn, doing, at, since: at, finished, waits, paths, claims };
    place.review.tool(&note).unwrap();
    place.review.end_turn(1).unwrap();
    place.act(ReviewAction::Rewind { turn: 1 });
    let texts = ["agents", "before", "after"].map(|name| place.read(name));
    assert_eq!(texts, ["a\n", "mine\n", "mine\n"]);
    let are_there = ["here/agents", "there/removed", "there/moved", "there/to"].map(|name| place.at(name).exists());
    assert_eq!(are_there, [true, false, false, true]);
    assert_eq!(place.pending().len(), 4, "it is shown");
}

#[test]
fn what_the_person_saves_right_after_a_call_has_ended_is_the_calls_only_as_far_as_it_says_so() {
    let text = lines(9);
    let agents = changed(&text, &[(2, "agent")]);
    for says in [false, true] {
        let mut place = Place::with(&[("f", text.as_bytes())]);
        place.review.begin_turn(1).unwrap();
        place.entry += 1;
        let claim = ClaimedEdit { path: place.at("f"), old: Some("line 2\n".into()), new: "agent\n".into() };
        let claims = if says { vec![claim] } else { Vec::new() };
        place.note(ToolEffect::Edits, &["f"], claims.clone(), false);
        place.write("f", &agents);
        place.look("f");
        pass_a_tick(&place);
        let at = Instant::now();
        pass_a_tick(&place);
        place.write("f", &changed(&agents, &[(8, "mine")]));
        // The look at its end comes later than the news of it.
        let (entry, paths) = (EntryId(place.entry), vec![place.at("f")]);
        let (turn, doing, finished, waits) = (None, ToolEffect::Edits, true, false);
        let note = ToolNote { entry, turn, doing, at, since: at, finished, waits, paths, claims };
        place.review.tool(&note).unwrap();
        place.review.end_turn(1).unwrap();
        place.act(ReviewAction::Rewind { turn: 1 });
        assert_eq!(place.read("f"), changed(&text, &[(8, "mine")]), "says: {says}");
        place.review.verify_invariants();
    }
}

#[test]
fn a_document_compares_texts_as_often_as_there_are_texts_however_many_hunks_there_are() {
    let text = lines(2000);
    let every = |from: usize, new: &str| -> String {
        let line = |(n, line): (usize, &str)| if n % 20 == from { format!("{new} {n}\n") } else { format!("{line}\n") };
        text.lines().enumerate().map(line).collect()
    };
    let mut place = Place::with(&[("a", text.as_bytes())]);
    place.turn(1, |p| p.tool_writes("a", &every(10, "AGENT")));
    let mine = changed(&place.read("a"), &[(2, "mine"), (1011, "mine as well")]);
    place.write("a", &mine);
    let compared = |place: &mut Place, what: &dyn Fn(&mut Place)| {
        let before = place.review.files.compared;
        what(place);
        place.review.files.compared - before
    };
    place.review.shown = crate::review::decide::shown_docs::ShownDocs::default();
    let hunks = |place: &mut Place| assert_eq!(place.doc(Scope::Pending).files[0].hunks.len(), 100);
    // The states there are: before and after each step, and the accepted one.
    let first = compared(&mut place, &hunks);
    assert!(first <= 5, "{first}");
    assert_eq!(compared(&mut place, &hunks), 0);
    let session = compared(&mut place, &|p| drop(p.doc(Scope::Session)));
    assert!(session <= 2, "{session}");
    for (n, verdict) in [Verdict::Reject, Verdict::Accept, Verdict::Reject].into_iter().enumerate() {
        let one = compared(&mut place, &|p| {
            let target = p.hunk(7);
            p.decide(target, verdict).unwrap();
            hunks(p);
            p.review.totals().unwrap();
        });
        assert!(one <= 10, "decision {n}: {one}");
    }
    let all = compared(&mut place, &|p| {
        p.decide(Target::All, Verdict::Reject).unwrap();
        hunks(p);
    });
    assert!(all <= 10, "{all}");
}

#[test]
fn what_was_read_and_compared_for_a_turn_is_given_back_when_it_is_over() {
    const TURNS: u64 = 15;
    // Few lines that are long: what is kept is counted in bytes, and to compare lines takes time.
    let text = |turn: u64| lines(400).replace("line", &format!("of turn {turn} {}", "is this long line ".repeat(18)));
    let mut place = Place::with(&[("a", b"one\n")]);
    let mut most = 0;
    for turn in 1..=TURNS {
        place.turn(turn, |p| {
            p.client_writes("a", &text(turn));
            most = most.max(p.review.files.kept());
        });
        assert!(place.review.files.kept() < 4 << 20, "turn {turn}: {}", place.review.files.kept());
    }
    assert!(most * TURNS as usize > 8 << 20, "it would be too much if all were kept: {most}");
    // Within a turn nothing is read or compared twice for want of room.
    assert!(most < 8 << 20, "{most}");
    assert_eq!(place.doc(Scope::Session).files[0].added, 400);
}

#[test]
fn a_file_that_the_person_deletes_or_replaces_between_turns_is_theirs() {
    use std::os::unix::fs::symlink;
    let text = lines(30);
    type Does = fn(&Place);
    let ways: [(&str, Does); 4] = [
        ("deleted", |p| fs::remove_file(p.at("a")).unwrap()),
        ("link", |p| {
            fs::remove_file(p.at("a")).unwrap();
            symlink("elsewhere", p.at("a")).unwrap();
        }),
        ("binary", |p| fs::write(p.at("a"), b"a\0b").unwrap()),
        ("directory", |p| {
            fs::remove_file(p.at("a")).unwrap();
            p.write("a/b", "mine\n");
        }),
    ];
    for (what, does) in ways {
        for created in [false, true] {
            let before: &[(&str, &[u8])] = if created { &[] } else { &[("a", text.as_bytes())] };
            let mut place = Place::with(before);
            place.turn(1, |p| p.tool_writes("a", &changed(&text, &[(3, "AGENT"), (20, "AGENT")])));
            assert_eq!(place.pending().len(), if created { 1 } else { 2 });
            does(&place);
            let state = |place: &Place| fs::symlink_metadata(place.at("a")).map(|m| m.file_type()).ok();
            let there = state(&place);
            place.review.begin_turn(2).unwrap();
            place.review.end_turn(2).unwrap();
            assert_eq!(place.pending(), [], "{what} {created}");
            assert_eq!(place.review.totals().unwrap(), Totals::default(), "{what} {created}");
            let session = states(&place.doc(Scope::Session));
            let persons = |s: &HunkState| matches!(s, HunkState::Edited | HunkState::Rejected);
            assert!(session.iter().all(persons), "{what} {created} {session:?}");
            place.decide(Target::All, Verdict::Reject).unwrap();
            let done = place.act(ReviewAction::Rewind { turn: 1 });
            assert!(done.rewound.iter().all(|r| r.outcome == RewindOutcome::Conflict), "{:?}", done.rewound);
            assert_eq!(state(&place), there, "{what} {created}");
        }
    }
}

#[test]
fn what_the_agent_makes_in_the_place_of_what_the_person_deleted_is_the_agents() {
    let text = lines(30);
    let mut place = Place::with(&[("a", text.as_bytes())]);
    place.turn(1, |p| p.tool_writes("a", &changed(&text, &[(3, "AGENT")])));
    fs::remove_file(place.at("a")).unwrap();
    place.turn(2, |p| p.tool_writes("a", "new\n"));
    for scope in [Scope::Pending, Scope::Session, Scope::Turn(2)] {
        assert_eq!(place.doc(scope).files[0].change, FileChange::Created, "{scope:?}");
    }
    place.decide(Target::All, Verdict::Reject).unwrap();
    assert!(!place.at("a").exists());
}

#[test]
fn a_deletion_of_the_agents_stays_to_be_decided_when_a_later_turn_is_rewound() {
    let text = lines(30);
    let mut place = Place::with(&[("a", text.as_bytes())]);
    place.turn(1, |p| p.command(|p| fs::remove_file(p.at("a")).unwrap()));
    place.turn(2, |p| p.tool_writes("a", "new\n"));
    place.act(ReviewAction::Rewind { turn: 2 });
    assert!(!place.at("a").exists());
    let target = place.hunk(0);
    place.decide(target, Verdict::Reject).unwrap();
    assert_eq!(place.read("a"), text);
}

fn shown_of(doc: &ReviewDoc, hunk: usize) -> Vec<String> {
    let changed = doc.files[0].hunks[hunk].lines.iter().filter(|l| l.kind != crate::text::diff::Kind::Context);
    changed.map(|l| l.text.clone()).collect()
}

#[test]
fn an_edited_hunk_shows_what_is_there_now() {
    let text = lines(30);
    let mut place = Place::with(&[("a", text.as_bytes())]);
    let agents = changed(&text, &[(3, "AGENT"), (5, "AGENT too"), (20, "AGENT")]);
    place.turn(1, |p| p.tool_writes("a", &agents));
    let (path, id) = place.pending()[0].clone();
    let edit =
        |text: &str| ReviewAction::Edit { scope: Scope::Pending, path: path.clone(), hunk: id, text: text.to_owned() };
    place.act(edit("mine\nmore\nline 4\nline 5\n"));
    let doc = place.doc(Scope::Pending);
    assert_eq!(states(&doc), [HunkState::Edited, HunkState::Pending]);
    assert_eq!(doc.files[0].hunks[0].id, id);
    assert_eq!(shown_of(&doc, 0), ["line 3", "mine", "more"]);
    assert_eq!(shown_of(&doc, 1), ["line 20", "AGENT"]);
    // Its lines are others than the agent's: not to be decided one by one.
    let once = place.read("a");
    let some = place.decide(Target::Lines("a".into(), id, 3..4), Verdict::Reject);
    assert!(some.is_err_and(|e| e.to_string().contains("it was edited")));
    assert_eq!(place.read("a"), once);
    // Again, and back.
    place.act(edit("other\n"));
    assert_eq!(shown_of(&place.doc(Scope::Pending), 0), ["line 3", "other"]);
    assert_eq!(place.read("a"), changed(&text, &[(3, "other"), (20, "AGENT")]));
    assert_eq!(place.pending().len(), 1, "the other one is still to be decided");
    place.act(ReviewAction::Undo);
    assert_eq!(place.read("a"), once);
    place.act(ReviewAction::Undo);
    assert_eq!(place.read("a"), agents);
    assert_eq!(shown_of(&place.doc(Scope::Pending), 0), ["line 3", "AGENT", "line 5", "AGENT too"]);
    // What the person has put there is not overwritten without a word.
    place.act(edit("mine\n"));
    let mine = place.read("a");
    for verdict in [Verdict::Accept, Verdict::Reject] {
        let whole = place.decide(Target::Hunk("a".into(), id), verdict);
        assert!(matches!(whole, Err(ReviewError::Conflict { .. })), "{whole:?}");
        assert_eq!(place.read("a"), mine);
    }
}

#[test]
fn a_rejected_hunk_with_an_unchanged_line_in_it_is_rejected_and_not_edited() {
    let text = lines(30);
    let mut place = Place::with(&[("a", text.as_bytes())]);
    place.turn(1, |p| p.tool_writes("a", &changed(&text, &[(3, "AGENT"), (5, "AGENT")])));
    let target = place.hunk(0);
    place.decide(target, Verdict::Reject).unwrap();
    assert_eq!(states(&place.doc(Scope::Pending)), [HunkState::Rejected]);
}

/// What undoing turns from `turn` on does to each file.
pub(super) fn outcomes(done: &Done) -> Vec<(&str, RewindOutcome)> {
    done.rewound.iter().map(|r| (r.path.to_str().unwrap(), r.outcome)).collect()
}

fn git(place: &Place, args: &[&str]) {
    git_in(&place.at(""), args);
}

pub(super) fn git_in(dir: &Path, args: &[&str]) {
    let output = std::process::Command::new("git")
        .current_dir(dir)
        .args(["-c", "user.name=a", "-c", "user.email=a@b"])
        .args(args)
        .env("HOME", dir.parent().unwrap())
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Two committed files and one that is not, and everything looked at.
fn committed() -> Place {
    let mut place = Place::empty();
    for name in ["a", "b", "c"] {
        place.write(name, &lines(5));
    }
    place.write("c", &lines(6));
    git(&place, &["init", "-q"]);
    git(&place, &["add", "a", "b"]);
    git(&place, &["commit", "-qm", "one"]);
    place.begin();
    place
}

#[test]
fn what_only_the_persons_store_had_takes_no_other_file_along() {
    let mut place = committed();
    place.turn(1, |p| {
        p.command(|p| {
            fs::remove_dir_all(p.at(".git")).unwrap();
            p.write("a", "agent\n");
            fs::remove_file(p.at("b")).unwrap();
            p.write("c", "agent\n");
        });
    });
    for _ in 0..2 {
        let report = crate::review::report::json::report(&mut place.review, &[]).unwrap();
        let report: serde_json::Value = serde_json::from_reader(report).unwrap();
        let names: Vec<&str> =
            report["files"].as_array().unwrap().iter().map(|f| f["path"].as_str().unwrap()).collect();
        assert_eq!(names, ["a", "b", "c"]);
        let said = report["not_covered"].to_string();
        assert!(said.contains("a: what it was") && said.contains("b: what it was") && !said.contains("c:"), "{said}");
        let patch = crate::review::report::patch::export(&mut place.review, Scope::Session).unwrap();
        let patch = io::read_to_string(patch).unwrap();
        assert!(patch.contains("+++ b/c") && !patch.contains("+++ b/a"), "{patch}");
        assert!(patch.starts_with("# not in this patch, its content was not kept: a\n"), "{patch}");
        place = place.reopen();
    }
    // The loss can be accepted, not taken back.
    let error = place.decide(Target::File("a".into()), Verdict::Reject).unwrap_err();
    assert_eq!(error.to_string(), "a: what it was before is not kept");
    place.decide(Target::File("b".into()), Verdict::Accept).unwrap();
    let done = place.act(ReviewAction::Rewind { turn: 1 });
    let kept = RewindOutcome::NotKept;
    assert_eq!(outcomes(&done), [("a", kept), ("b", kept), ("c", RewindOutcome::Restored)]);
    assert_eq!((place.read("a"), place.read("c")), ("agent\n".into(), lines(6)));
}

#[test]
fn what_is_unchanged_when_the_persons_store_goes_is_kept_from_the_disk() {
    let mut place = committed();
    place.turn(1, |p| p.command(|p| fs::remove_dir_all(p.at(".git")).unwrap()));
    place.turn(2, |p| p.command(|p| p.write("a", "agent\n")));
    assert_eq!(outcomes(&place.act(ReviewAction::Rewind { turn: 1 })), [("a", RewindOutcome::Restored)]);
    assert_eq!(place.read("a"), lines(5));
}

#[test]
fn a_review_whose_contents_are_gone_can_still_be_opened() {
    let mut place = Place::with(&[("a", b"a\n"), ("b", b"b\n")]);
    place.turn(1, |p| {
        p.tool_writes("a", "agent\n");
        p.tool_writes("b", "agent\n");
    });
    let packs = place.review.dir().join(STORE).join("objects/pack");
    fs::remove_dir_all(packs).unwrap();
    let mut place = place.reopen();
    assert_eq!(place.doc(Scope::Session).files.len(), 2);
    let done = place.act(ReviewAction::Rewind { turn: 1 });
    assert_eq!(outcomes(&done), [("a", RewindOutcome::NotKept), ("b", RewindOutcome::NotKept)]);
    assert_eq!(place.read("a"), "agent\n");
}

/// As if a kill had come right after the first of the files was written: `name` is as it was before, and that it was
/// done is not in the ledger.
pub(super) fn cut_short(place: Place, name: &str, before: &str) -> Place {
    let path = place.review.dir().join(LEDGER);
    let ledger = fs::read_to_string(&path).unwrap();
    let (rest, last) = ledger.trim_end().rsplit_once('\n').unwrap();
    assert!(last.contains("done"), "{last}");
    fs::write(&path, format!("{rest}\n")).unwrap();
    fs::write(place.at(name), before).unwrap();
    place.reopen()
}

#[test]
fn an_undo_and_a_redo_that_were_cut_short_go_on_and_are_taken_back_in_one() {
    let both = |p: &Place| (p.read("a"), p.read("b"));
    let (old, new) = (("a\n".to_owned(), "b\n".to_owned()), ("agent\n".to_owned(), "agent\n".to_owned()));
    let mut place = Place::with(&[("a", b"a\n"), ("b", b"b\n")]);
    place.turn(1, |p| {
        p.tool_writes("a", "agent\n");
        p.tool_writes("b", "agent\n");
    });
    place.act(ReviewAction::Rewind { turn: 1 });
    assert_eq!(both(&place), old);
    let mut place = cut_short(place, "b", "agent\n");
    assert_eq!(both(&place), ("a\n".into(), "agent\n".into()));
    place.act(ReviewAction::Rewind { turn: 1 });
    assert_eq!(both(&place), old);
    // Also in another process.
    let mut place = place.reopen();
    place.act(ReviewAction::Undo);
    assert_eq!(both(&place), new, "one undo takes back both parts");
    let mut place = cut_short(place, "b", "b\n");
    assert_eq!(both(&place), ("agent\n".into(), "b\n".into()));
    place.act(ReviewAction::Undo);
    assert_eq!(both(&place), new);
    assert!(place.review.newest_decision().is_none());
    place.act(ReviewAction::Redo);
    assert_eq!(both(&place), old);
    let mut place = cut_short(place, "b", "agent\n");
    place.act(ReviewAction::Redo);
    assert_eq!(both(&place), old);
    place.act(ReviewAction::Undo);
    assert_eq!(both(&place), new);
}

#[test]
fn what_was_ignored_is_not_new_when_the_agent_takes_the_rule_away() {
    type Change = fn(&Place);
    let append: Change = |p| p.write(".env", "SECRET\nagent\n");
    let anew: Change = |p| {
        p.write("x", "SECRET\nagent\n");
        fs::rename(p.at("x"), p.at(".env")).unwrap();
    };
    for (change, named) in [(append, false), (anew, false), (append, true)] {
        let mut place = Place::with(&[(".gitignore", b".env\nold\n"), (".env", b"SECRET\n"), ("a", b"a\n")]);
        place.turn(1, |p| {
            if named {
                // It is known that the rules have changed before the file is found.
                p.tool_writes(".gitignore", "old\n");
            }
            p.command(|p| {
                p.write(".gitignore", "old\n");
                p.write("fresh", "new\n");
                change(p);
            });
        });
        let doc = place.doc(Scope::Session);
        let found: Vec<_> = doc.files.iter().map(|f| (f.path.to_str().unwrap(), f.change)).collect();
        let (modified, created) = (FileChange::Modified, FileChange::Created);
        assert_eq!(found, [(".env", modified), (".gitignore", modified), ("fresh", created)]);
        // Where the rules were gone before the command began, the file was looked at in time.
        let said = doc.uncovered.contains(&".env: what it was before is not kept".to_owned());
        assert_eq!(said, !named, "{:?}", doc.uncovered);
        let done = place.act(ReviewAction::Rewind { turn: 1 });
        let env = (".env", if named { RewindOutcome::Restored } else { RewindOutcome::NotKept });
        assert_eq!(outcomes(&done), [env, (".gitignore", RewindOutcome::Restored), ("fresh", RewindOutcome::Removed)]);
        assert_eq!(place.read(".env"), if named { "SECRET\n" } else { "SECRET\nagent\n" });
    }
}

#[test]
fn what_is_said_of_a_name_with_a_colon_is_not_taken_for_another_file() {
    let mut place = Place::with(&[(".gitignore", b".env*\n"), (".env", b"SECRET\n"), (".env: x", b"x\n")]);
    place.turn(1, |p| {
        p.command(|p| {
            p.write(".gitignore", "");
            p.write(".env", "SECRET\nagent\n");
            fs::remove_file(p.at(".env: x")).unwrap();
        });
    });
    let said = place.review.uncovered();
    assert!(said.iter().any(|line| line.starts_with(".env: x: was ignored and is gone")), "{said:?}");
    assert!(said.contains(&".env: what it was before is not kept".to_owned()), "{said:?}");
}

#[test]
fn what_changes_after_a_prompt_that_did_not_wait_is_the_turns_and_said() {
    let mut place = Place::with(&[("a", b"a\n"), ("b", b"b\n")]);
    place.write("a", "the person's\n");
    let changed = |place: &Place, name: &str| walk::changed_at(&place.at(""), Path::new(name), (0, 0));
    // As soon as the clock of the files has gone on for long enough.
    let gone_on = changed(&place, "a").map(|at| at + 2 * TICK);
    while changed(&place, "../beside") < gone_on {
        fs::write(place.at("../beside"), "").unwrap();
    }
    let sent = Instant::now();
    place.write("b", "the agent's\n");
    place.review.begin_turn_unless(1, || Passed { sent: Some(sent), over: None }).unwrap();
    place.review.end_turn(1).unwrap();
    let said = "turn 1: its prompt went out before all files had been looked at";
    for _ in 0..2 {
        let doc = place.doc(Scope::Session);
        assert_eq!(doc.files.iter().map(|f| f.path.to_str().unwrap()).collect::<Vec<_>>(), ["b"]);
        assert!(doc.uncovered.iter().any(|line| line.starts_with(said)), "{:?}", doc.uncovered);
        place = place.reopen();
    }
}

#[test]
fn a_file_whose_content_is_not_kept_is_not_removed_when_it_was_moved() {
    let mut place = Place::empty();
    File::create(place.at("big")).unwrap().set_len(65 << 20).unwrap();
    place.review.first_look().unwrap();
    place.turn(1, |p| p.command(|p| fs::rename(p.at("big"), p.at("moved")).unwrap()));
    let done = place.act(ReviewAction::Rewind { turn: 1 });
    assert_eq!(outcomes(&done), [("big", RewindOutcome::NotKept), ("moved", RewindOutcome::NotKept)]);
    assert!(place.at("moved").exists());
    let target = Target::File("moved".into());
    assert!(place.decide(target, Verdict::Reject).is_err());
    assert!(place.at("moved").exists());
}

#[test]
fn what_changes_between_the_last_turn_and_the_end_of_the_agent_is_shown_and_left_alone() {
    let mut place = Place::with(&[("f", b"one\n")]);
    place.turn(1, |p| p.client_writes("f", "two\n"));
    place.write("f", "two\nlate\n");
    place.write("new", "late\n");
    place.review.last_look().unwrap();
    let doc = place.doc(Scope::Session);
    assert_eq!(doc.files.iter().map(|f| f.path.to_str().unwrap()).collect::<Vec<_>>(), ["f", "new"]);
    place.act(ReviewAction::Rewind { turn: 1 });
    assert_eq!((place.read("f").as_str(), place.read("new").as_str()), ("one\nlate\n", "late\n"));
}

#[test]
fn what_changes_before_the_first_turn_is_shown_where_nobody_sits_before_a_screen() {
    for is_alone in [true, false] {
        let mut place = Place::with(&[("f", b"one\n"), ("g", b"one\n")]);
        if is_alone {
            place.review.alone();
        }
        place.write("f", "one\nearly\n");
        place.write("new", "early\n");
        place.turn(1, |p| p.client_writes("g", "two\n"));
        let doc = place.doc(Scope::Session);
        let paths: Vec<_> = doc.files.iter().map(|f| f.path.to_str().unwrap().to_owned()).collect();
        assert_eq!(paths, if is_alone { vec!["f", "g", "new"] } else { vec!["g"] });
        // It may be the person's: said, and left where it is.
        let done = place.act(ReviewAction::Rewind { turn: 1 });
        let doubtful = outcomes(&done).iter().filter(|one| one.1 == RewindOutcome::Doubtful).count();
        assert_eq!(doubtful, if is_alone { 2 } else { 0 });
        assert_eq!((place.read("f").as_str(), place.read("g").as_str()), ("one\nearly\n", "one\n"));
        // A turn in which the agent says nothing is still all its own.
        place.turn(2, |p| p.write("f", "silent\n"));
        assert_eq!(outcomes(&place.act(ReviewAction::Rewind { turn: 2 })), [("f", RewindOutcome::Restored)]);
    }
}

#[test]
fn what_nobody_accounted_for_stays_and_is_said() {
    let mut place = Place::with(&[("f", b"one\n"), ("other", b"o\n")]);
    place.turn(1, |p| {
        p.client_writes("other", "told\n");
        p.write("f", "one\nsilent\n");
        p.look("f");
        p.tool_writes("f", "one\nsilent\ntold\n");
    });
    let done = place.act(ReviewAction::Rewind { turn: 1 });
    assert_eq!(place.read("f"), "one\nsilent\n");
    let of_f = done.rewound.iter().find(|one| one.path == Path::new("f")).unwrap();
    assert_eq!(of_f.remark.as_deref(), Some("but for what nobody accounted for"));
    assert!(done.rewound.iter().filter(|one| one.path != Path::new("f")).all(|one| one.remark.is_none()));
}

#[test]
fn of_a_file_that_went_silently_and_was_made_anew_it_is_said_that_it_is_not_back() {
    let mut place = Place::with(&[("f", b"the person's\n"), ("other", b"o\n")]);
    place.turn(1, |p| {
        p.client_writes("other", "told\n");
        fs::remove_file(p.at("f")).unwrap();
        p.look("f");
        p.tool_writes("f", "new\n");
    });
    for action in [ReviewAction::PreviewRewind { turn: 1 }, ReviewAction::Rewind { turn: 1 }] {
        let done = place.act(action);
        let of_f = done.rewound.iter().find(|one| one.path == Path::new("f")).unwrap();
        assert_eq!(of_f.outcome, RewindOutcome::Removed);
        let remark = of_f.remark.as_deref().unwrap_or_default();
        assert!(remark.contains("what was there before is not back"), "{remark}");
    }
}

/// What a store has is away, and it takes nothing.
fn without_packs(place: &mut Place, what: impl FnOnce(&mut Place)) {
    let packs = place.review.dir().join(STORE).join("objects/pack");
    fs::rename(&packs, packs.with_extension("away")).unwrap();
    fs::write(&packs, "").unwrap();
    what(place);
    fs::remove_file(&packs).unwrap();
    fs::rename(packs.with_extension("away"), &packs).unwrap();
}

#[test]
fn what_went_after_a_turn_whose_end_could_not_be_looked_at_is_not_certainly_the_agents() {
    let mut place = Place::with(&[("a", b"a\n"), ("b", b"b\n"), ("c", b"c\n"), ("d", b"d\n")]);
    place.review.begin_turn(1).unwrap();
    without_packs(&mut place, |p| {
        p.entry += 1;
        p.note(ToolEffect::Runs, &[], Vec::new(), false);
        p.write("a", "agent\n");
        p.tell(ToolEffect::Runs, &[], Vec::new(), true).unwrap_err();
        p.review.end_turn(1).unwrap_err();
    });
    place.review.leave_turn(1).unwrap();
    fs::remove_file(place.at("b")).unwrap();
    place.turn(2, |p| p.command(|p| fs::remove_file(p.at("c")).unwrap()));
    let done = place.act(ReviewAction::Rewind { turn: 1 }).rewound;
    let of = |name: &str| done.iter().find(|one| one.path == Path::new(name)).map(|one| one.outcome);
    assert_eq!(of("b"), Some(RewindOutcome::Doubtful), "{done:?}");
    assert!(!place.at("b").exists());
    assert_eq!(place.read("c"), "c\n");
}

/// Until what is changed from now on is dated later.
fn pass_a_tick(place: &Place) {
    let now = || {
        let probe = tempfile::NamedTempFile::new_in(place.review.dir()).unwrap();
        probe.as_file().metadata().unwrap().modified().unwrap()
    };
    let (from, tick) = (now(), 2 * TICK);
    while now() < from + tick {
        std::thread::yield_now();
    }
}

#[test]
fn what_a_turn_has_changed_whose_end_could_not_be_looked_at_is_its_own_once_there_is_room() {
    let mut place = Place::with(&[("a", b"a\n"), ("b", b"b\n"), ("c", b"c\n"), ("d", b"d\n")]);
    place.review.begin_turn(1).unwrap();
    without_packs(&mut place, |p| {
        p.write("a", "agent\n");
        p.write("new", "agent\n");
        p.entry += 1;
        p.note(ToolEffect::Edits, &["c"], Vec::new(), false);
        p.write("c", "agent\n");
        p.tell(ToolEffect::Edits, &["c"], Vec::new(), true).unwrap_err();
        p.review.end_turn(1).unwrap_err();
        pass_a_tick(p);
        p.write("b", "person\n");
        // What the person saves over it cannot be told apart any more.
        p.write("c", "person\n");
    });
    place.review.begin_turn(2).unwrap();
    place.write("d", "agent\n");
    place.review.end_turn(2).unwrap();
    let steps = |path: &str| {
        let history = place.review.log.history(Path::new(path));
        let step = |step: &ChangeRecord| (step.turn, step.cause == Cause::Person, step.doubt);
        history.map(|history| history.steps.iter().map(step).collect::<Vec<_>>()).unwrap_or_default()
    };
    assert_eq!((steps("a").len(), steps("a")[0].0, steps("a")[0].1), (1, 1, false), "{:?}", steps("a"));
    assert_eq!(steps("new").iter().map(|step| step.0).collect::<Vec<_>>(), [1]);
    assert_eq!(steps("b"), [], "the person's");
    assert_eq!(steps("c"), [(1, false, true)]);
    assert_eq!(steps("d").iter().map(|step| step.0).collect::<Vec<_>>(), [2]);
    assert_eq!(place.review.turn_totals(1).unwrap().files, 3);
}

#[test]
fn a_turn_that_could_not_be_looked_at_when_it_began_has_what_was_changed_since() {
    let mut place = Place::with(&[("a", b"a\n"), ("b", b"b\n")]);
    place.review.begin_turn(1).unwrap();
    place.review.end_turn(1).unwrap();
    without_packs(&mut place, |p| {
        p.write("b", "person\n");
        pass_a_tick(p);
        p.review.begin_turn(2).unwrap_err();
        p.write("a", "agent\n");
    });
    assert!(place.review.is_in_turn());
    place.review.end_turn(2).unwrap();
    let turns = |path: &str| {
        let history = place.review.log.history(Path::new(path));
        history.map(|history| history.steps.iter().map(|step| step.turn).collect::<Vec<_>>())
    };
    assert_eq!((turns("a"), turns("b")), (Some(vec![2]), None));
    let said = place.review.uncovered();
    assert!(said.iter().any(|line| line.contains("turn 2: its prompt went out before")), "{said:?}");
    place.reopen();
}

#[test]
fn what_was_changed_in_turns_before_a_review_could_begin_is_in_doubt() {
    let mut place = Place::empty();
    for name in ["a", "b", "sub/c"] {
        place.write(name, "mine\n");
    }
    pass_a_tick(&place);
    let since = Instant::now();
    pass_a_tick(&place);
    place.write("a", "agent\n");
    place.write("new", "agent\n");
    place.begin();
    place.review.had_turns(&[1, 2], &[2], since).unwrap();
    place.review.begin_turn_unless(2, || Passed { sent: Some(Instant::now()), over: None }).unwrap();
    place.review.end_turn(2).unwrap();
    let names = |place: &Place| {
        let all = place.review.log.histories().iter();
        all.map(|(path, history)| (path.display().to_string(), history.steps[0].turn)).collect::<Vec<_>>()
    };
    let want = [("a".to_owned(), 2), ("new".to_owned(), 2)];
    assert_eq!(names(&place), want);
    let report = |place: &mut Place| {
        let report = crate::review::report::json::report(&mut place.review, &[]).unwrap();
        serde_json::from_reader::<_, serde_json::Value>(report).unwrap().to_string()
    };
    let said = report(&mut place);
    for words in ["a: what it was before is not kept", "turn 1: its prompt went out before", "turn 2: its prompt went"]
    {
        assert!(said.contains(words), "{words}: {said}");
    }
    assert_eq!(place.act(ReviewAction::Rewind { turn: 1 }).rewound.len(), 2);
    assert_eq!((place.read("a"), place.read("new")), ("agent\n".into(), "agent\n".into()), "nobody knows better");
    let place = place.reopen();
    assert_eq!(names(&place), want);
}

#[test]
fn whose_lines_are_does_not_grow_with_how_often_they_were_changed() {
    let text = |n: usize| {
        (0..40).map(|line| if line % 2 == 0 { n * 100 + line } else { 0 }.to_string() + "\n").collect::<String>()
    };
    let mut place = Place::with(&[("a", text(0).as_bytes())]);
    let pieces = |place: &mut Place| {
        let ReviewSession { log, files, .. } = &mut place.review;
        log.history(Path::new("a")).unwrap().blame(files).unwrap().len()
    };
    place.turn(1, |p| {
        p.client_writes("a", &text(1));
        let once = pieces(p);
        assert!(once >= 20);
        (2..30).for_each(|n| p.client_writes("a", &text(n)));
        assert!(pieces(p) <= 2 * once, "{} of {once}", pieces(p));
    });
}

#[test]
fn a_look_that_failed_is_said_in_the_report() {
    let mut place = Place::with(&[("a", b"a\n")]);
    place.review.begin_turn(1).unwrap();
    place.write("a", "agent\n");
    without_packs(&mut place, |p| drop(p.review.end_turn(1).unwrap_err()));
    let mut place = place.reopen();
    let said = place.review.trouble().unwrap();
    assert!(said.starts_with("the files could not be looked at: "), "{said}");
    let report = crate::review::report::json::report(&mut place.review, &[]).unwrap();
    let report: serde_json::Value = serde_json::from_reader(report).unwrap();
    assert_eq!(report["not_covered"][0], said);
    assert_eq!(report["files"][0]["path"], "a", "what could be found later is there");
}

#[test]
fn what_a_killed_program_left_beside_the_files_goes_with_the_next_opening() {
    let mut place = Place::with(&[("src/a", b"a\n")]);
    let (ours, theirs) = ("src/.acp-tui-0123456789abcdef.tmp", "src/.acp-tui-0123456789abcdeg.tmp");
    place.turn(1, |p| p.tool_writes("src/a", "agent\n"));
    // What the client was about to write.
    let about_to_write = |place: &mut Place, texts: [&str; 2]| {
        for text in texts {
            place.review.before_write(&place.at("src/a"), text).unwrap();
        }
    };
    about_to_write(&mut place, ["whole", "nowhere"]);
    place.write(ours, "whole");
    // As it is when the program is killed before it renames a link.
    let link = "src/.acp-tui-00000000000000ff.tmp";
    std::os::unix::fs::symlink("nowhere", place.at(link)).unwrap();
    let mut place = place.reopen();
    assert!(place.at(ours).exists() && place.at(link).is_symlink(), "nothing was cut short");
    place.review.begin_turn(2).unwrap();
    place.write(theirs, "");
    fs::create_dir(place.at("src/.acp-tui-aaaaaaaaaaaaaaaa.tmp")).unwrap();
    // Another process is at work in the same tree: it may be theirs.
    let head = SessionInfo {
        stem: "t".into(),
        cwd: place.at(""),
        command: "agent".into(),
        started: 0,
        private: Vec::new(),
        directories: Vec::new(),
    };
    let other = ReviewSession::create(&place.temp.path().join("home"), head).unwrap();
    let place = place.reopen();
    assert!(place.at(ours).exists());
    drop(other);
    let mut place = place;
    place.review.begin_turn(3).unwrap();
    about_to_write(&mut place, ["whole again", "anywhere"]);
    // What was seen meanwhile is named with what has changed.
    let [ours, link] = [ours, link].map(|name| name.replace("acp-tui-0", "acp-tui-1"));
    place.write(&ours, "whole again");
    std::os::unix::fs::symlink("anywhere", place.at(&link)).unwrap();
    let place = place.reopen();
    assert!(!place.at(&ours).exists() && !place.at(&link).is_symlink());
    assert!(place.at(theirs).exists() && place.at("src/.acp-tui-aaaaaaaaaaaaaaaa.tmp").exists());
}

#[test]
fn a_write_through_the_client_that_is_seen_before_it_is_told_is_that_write() {
    for by_the_agent in [true, false] {
        let mut place = Place::with(&[("a", b"one\n")]);
        place.turn(1, |p| {
            p.note(ToolEffect::Edits, &["a"], Vec::new(), false);
            let path = p.at("a");
            p.review.before_write(&path, "two\n").unwrap();
            if by_the_agent {
                // Some agents write the file themselves as well.
                fs::remove_file(&path).unwrap();
            }
            p.write("a", "two\n");
            p.note(ToolEffect::Edits, &["a"], Vec::new(), true);
            p.review.wrote(&path, "two\n", Some(EntryId(1)), None).unwrap();
        });
        let doc = place.doc(Scope::Session);
        assert_eq!(doc.files.iter().map(|f| f.cause).collect::<Vec<_>>(), [Cause::Write], "{by_the_agent}");
        assert_eq!(outcomes(&place.act(ReviewAction::Rewind { turn: 1 })), [("a", RewindOutcome::Restored)]);
        assert_eq!(place.read("a"), "one\n");
    }
}

#[test]
fn what_the_person_saves_in_a_turn_before_the_client_is_killed_stays() {
    for announced_only in [true, false] {
        let mut place = Place::with(&[("f1", b"one\n"), ("f2", b"two\n")]);
        place.review.begin_turn(1).unwrap();
        place.note(ToolEffect::Runs, &[], Vec::new(), false);
        if !announced_only {
            place.write("f1", "agent\n");
            place.note(ToolEffect::Runs, &[], Vec::new(), true);
        }
        place.write("f2", "two\nthe person's\n");
        place.write("pnew", "the person's\n");
        place.review.still_here();
        let mut place = place.reopen();
        assert_eq!(place.doc(Scope::Session).files.len(), if announced_only { 2 } else { 3 });
        place.act(ReviewAction::Rewind { turn: 1 });
        assert_eq!((place.read("f2").as_str(), place.read("pnew").as_str()), ("two\nthe person's\n", "the person's\n"));
        assert_eq!(place.read("f1"), "one\n");
    }
}

#[test]
fn what_the_person_saves_stays_also_when_the_turn_of_another_session_has_come_and_gone() {
    let mut place = Place::with(&[("f1", b"one\n"), ("f2", b"two\n")]);
    place.review.begin_turn(1).unwrap();
    place.note(ToolEffect::Runs, &[], Vec::new(), false);
    place.write("f1", "agent\n");
    place.note(ToolEffect::Runs, &[], Vec::new(), true);
    place.review.begin_turn(2).unwrap();
    place.entry += 1;
    place.note(ToolEffect::Runs, &[], Vec::new(), false);
    place.note(ToolEffect::Runs, &[], Vec::new(), true);
    place.review.end_turn(2).unwrap();
    place.write("f2", "two\nthe person's\n");
    place.review.still_here();
    let mut place = place.reopen();
    place.act(ReviewAction::Rewind { turn: 1 });
    assert_eq!(place.read("f2"), "two\nthe person's\n");
}

/// An export of the conversation in the middle of a turn: it is neither reviewed nor taken back.
#[test]
fn what_the_person_has_this_program_write_during_a_turn_is_not_the_agents() {
    let mut place = Place::with(&[("a", b"one\n")]);
    let totals = place.turn(1, |place| {
        persons::write(&place.at("session.md"), &mut io::Cursor::new("# what was said\n")).unwrap();
        place.write("session.md", "# what was said\n");
        persons::prepare(&place.at(".tmp1")).unwrap();
        place.write(".tmp1", "# what was");
        place.review.first_look().unwrap();
        fs::remove_file(place.at(".tmp1")).unwrap();
        place.write("a", "two\n");
    });
    assert_eq!((totals.files, totals.added), (1, 1));
    // Another content of the same file is the agent's.
    let totals = place.turn(2, |place| place.write("session.md", "# what was said\nmore\n"));
    assert_eq!((totals.files, totals.added), (1, 1));
}

#[test]
fn what_the_persons_command_changes_in_a_turn_is_in_doubt_and_no_command_of_the_agent_is_named() {
    for beside_another in [false, true] {
        let mut place = Place::with(&[("a", b"a\n")]);
        place.turn(1, |p| {
            if beside_another {
                p.entry += 1;
                p.note(ToolEffect::Runs, &[], Vec::new(), false);
            }
            p.entry += 1;
            p.note(ToolEffect::Persons, &[], Vec::new(), false);
            p.write("mine", "by hand\n");
            p.note(ToolEffect::Persons, &[], Vec::new(), true);
        });
        assert_eq!(last_change(&place, "mine"), Some((Cause::Unknown, true, 1)));
    }
}

#[test]
fn what_the_persons_command_changes_between_turns_is_the_persons() {
    let mut place = Place::with(&[("a", b"a\n")]);
    place.turn(1, |_| {});
    place.entry += 1;
    place.note(ToolEffect::Persons, &[], Vec::new(), false);
    place.write("later", "by hand\n");
    place.note(ToolEffect::Persons, &[], Vec::new(), true);
    place.turn(2, |_| {});
    assert_eq!(last_change(&place, "later"), None, "nobody is to review it");
}

#[test]
fn while_a_command_of_the_persons_runs_a_call_has_done_what_it_says_that_it_puts_there() {
    let text = lines(40);
    let (mine, agents) = (changed(&text, &[(5, "mine")]), changed(&text, &[(20, "AGENT")]));
    let both = changed(&text, &[(5, "mine"), (20, "AGENT")]);
    let claims =
        |p: &Place| vec![ClaimedEdit { path: p.at("a"), old: Some("line 20\n".into()), new: "AGENT\n".into() }];
    // Whether the call says what it puts there, what is written, and what an undo leaves of it.
    for (claimed, written, left) in [
        (false, &mine, &mine),
        (false, &agents, &agents),
        (true, &agents, &text),
        (true, &both, &mine),
        (true, &mine, &mine),
    ] {
        for (began_first, is_put_off) in [(false, false), (true, false), (false, true)] {
            let mut place = Place::with(&[("a", text.as_bytes())]);
            place.review.begin_turn(1).unwrap();
            if is_put_off {
                (place.review.pace.cheap, place.review.pace.took) = (Duration::ZERO, Duration::from_hours(1));
            }
            let told = if claimed { claims(&place) } else { Vec::new() };
            let call = |p: &mut Place, finished| {
                p.entry = 5;
                p.note(ToolEffect::Edits, &["a"], told.clone(), finished);
            };
            let persons = |p: &mut Place, finished| {
                p.entry = 900;
                p.note(ToolEffect::Persons, &[], Vec::new(), finished);
            };
            if began_first {
                persons(&mut place, false);
                call(&mut place, false);
            } else {
                call(&mut place, false);
                persons(&mut place, false);
            }
            place.write("a", written);
            persons(&mut place, true);
            call(&mut place, true);
            place.review.end_turn(1).unwrap();
            assert!(!place.pending().is_empty(), "it is shown");
            let done = place.act(ReviewAction::Rewind { turn: 1 });
            assert_eq!(&place.read("a"), left, "{claimed} {began_first} {is_put_off}: {done:?}");
            if written == left {
                let remark = done.rewound.first().and_then(|one| one.remark.as_deref()).unwrap_or_default();
                assert!(remark.contains("command of yours"), "{done:?}");
                place.decide(Target::File("a".into()), Verdict::Reject).unwrap();
                assert_eq!(place.read("a"), text, "the person takes it back");
            }
        }
    }
}

#[test]
fn a_new_file_beside_a_command_of_the_persons_is_the_calls_that_has_its_text() {
    for (claimed, cause) in [("x\n", Cause::Tool), ("y\n", Cause::Unknown)] {
        let mut place = Place::with(&[("a", b"a\n")]);
        place.turn(1, |p| {
            p.entry = 900;
            p.note(ToolEffect::Persons, &[], Vec::new(), false);
            p.entry = 5;
            let claim = ClaimedEdit { path: p.at("new"), old: None, new: claimed.into() };
            p.note(ToolEffect::Edits, &["new"], vec![claim.clone()], false);
            p.write("new", "x\n");
            p.note(ToolEffect::Edits, &["new"], vec![claim], true);
        });
        assert_eq!(last_change(&place, "new"), Some((cause, cause == Cause::Unknown, 1)));
    }
}

#[test]
fn however_many_calls_an_agent_tells_of_a_command_of_the_persons_stays_known() {
    let (mut activity, at) = (Attribution::default(), SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000));
    activity.begin(1);
    let heard = Instant::now();
    let mut note = |entry, doing, finished| {
        let (entry, paths, claims) = (EntryId(entry), vec!["/a".into()], Vec::new());
        let (at_once, waits) = (heard, false);
        let note = ToolNote { entry, turn: None, doing, at: at_once, since: heard, finished, waits, paths, claims };
        activity.note(&note, LetGo::At(at), at, |path: &Path| vec![path.to_owned()]);
    };
    note(1, ToolEffect::Persons, false);
    note(1, ToolEffect::Persons, true);
    for entry in 2..10_000 {
        note(entry, ToolEffect::Edits, false);
    }
    assert_eq!(activity.blame(Path::new("/a"), When::At(at)).unclaimed(), Attributed::in_doubt(true));
}

#[test]
fn a_call_may_have_run_since_it_can_have_been_told() {
    for in_time in [false, true] {
        let text = lines(40);
        let mut place = Place::with(&[("a", text.as_bytes())]);
        place.turn(1, |p| {
            p.client_writes("other", "so that it is known to tell what it does\n");
            let told = Instant::now();
            p.write("a", &changed(&text, &[(20, "AGENT")]));
            // Lines before it took so long.
            let at = Instant::now() + Duration::from_secs(5);
            let (entry, paths, claims) = (EntryId(5), Vec::new(), Vec::new());
            let (doing, since) = (ToolEffect::Runs, if in_time { told } else { at });
            let note = ToolNote { entry, turn: None, doing, at, since, finished: false, waits: false, paths, claims };
            p.review.tool(&note).unwrap();
        });
        let (cause, doubt) = if in_time { (Cause::Command, false) } else { (Cause::Unknown, true) };
        assert_eq!(last_change(&place, "a"), Some((cause, doubt, 1)));
    }
}

#[test]
fn texts_that_take_long_to_compare_get_less_time_each_in_one_act() {
    let mut place = Place::with(&[("a", b"x")]);
    let mut random = 1_u32;
    let mut text = || -> Vec<u8> {
        let mut letter = || {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            if random >> 31 == 0 { &b"a\n"[..] } else { b"b\n" }
        };
        (0..60_000).flat_map(|_| letter().to_vec()).collect()
    };
    let files = &mut place.review.files;
    let [one, other, third] = [(); 3].map(|()| files.file(&text(), 0o644).unwrap());
    files.begin_comparing();
    let all = files.time;
    files.time = Duration::from_millis(400);
    files.edits(&one, &other).unwrap();
    let left = files.time;
    assert!(left <= Duration::from_millis(200), "{left:?}");
    files.edits(&other, &third).unwrap();
    // On a busy machine nothing is left after the first.
    assert!(files.time < left || left.is_zero());
    place.review.refresh().unwrap();
    assert_eq!(place.review.files.time, all);
}

#[test]
fn further_directories_are_named_as_not_covered() {
    let place = Place::empty();
    let home = place.temp.path().join("other");
    let directories = vec!["/further/one".into(), "/further/two".into()];
    let head = SessionInfo { directories, ..place.review.head().clone() };
    let review = ReviewSession::create(&home, head).unwrap();
    let line = "directories besides the session's own (what is written there is not looked at, and an undo leaves it): \
                /further/one, /further/two";
    assert!(review.uncovered().iter().any(|one| one == line), "{:?}", review.uncovered());
    drop(review);
    let review = ReviewSession::open(&home.join("s")).unwrap();
    assert!(review.uncovered().iter().any(|one| one == line), "{:?}", review.uncovered());
}

#[test]
fn what_was_kept_shut_at_first_and_was_not_touched_since_is_no_change_once_it_can_be_read() {
    let mut place = Place::empty();
    place.write("a", "one\n");
    let shut = faults::on(faults::Way::Read, "a", rustix::io::Errno::AGAIN);
    place.begin();
    drop(shut);
    for entry in place.review.files.snapshot.seen.values_mut() {
        // As if it had been written long ago.
        entry.racy = false;
    }
    place.turn(1, |_| {});
    assert_eq!(place.doc(Scope::Session).files.len(), 0);
    place.turn(2, |p| p.write("a", "evil\n"));
    place.review.act(&ReviewAction::Rewind { turn: 2 }).unwrap();
    assert_eq!(place.read("a"), "one\n");
}
