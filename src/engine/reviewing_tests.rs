//! The engine's end of the thread, and the thread with a review session of its own.

use super::*;
use crate::base::shared::SharedText;
use crate::engine::{Engine, EngineConfig};
use crate::model::Model;
use crate::model::changes::Gate;
use crate::model::changes::Target;
use crate::model::changes::{ReviewAction, ReviewEvent, Scope, Verdict};
use crate::model::effect::FrontEnd;
use crate::model::entry::Body;
use crate::model::event::{Intent, Opening};
use crate::model::ids::AgentKey;
use crate::model::session::Phase;
use crate::model::session_ref::SessionRef;
use crate::review::protocol::AgentSession;
use std::sync::mpsc::Receiver;

const AT: SessionKey = SessionKey::FIRST;

/// A queue without a thread behind it, so that what was handed over can be looked at.
fn without_thread(queue: usize) -> (Reviewing, Receiver<Asked>) {
    let (jobs, taken) = sync_channel(queue);
    let reviewing = Reviewing {
        jobs: Some(jobs),
        backlog: VecDeque::new(),
        waiting: Arc::default(),
        has_backlog: Arc::default(),
        thread: None,
        passed: Arc::default(),
        shown: Shown::default(),
        viewers: BTreeSet::new(),
        notes: HashMap::new(),
        newest: None,
        left_out: false,
    };
    (reviewing, taken)
}

fn turns(taken: &Receiver<Asked>) -> Vec<u64> {
    taken
        .try_iter()
        .map(|asked| if let Job::Do(ReviewCommand::BeginTurn(turn)) = asked.job { turn.0 } else { 0 })
        .collect()
}

fn begin(turn: u64) -> Job {
    Job::Do(ReviewCommand::BeginTurn(TurnId(turn)))
}

fn note(entry: u64) -> Job {
    let claims = vec![ClaimedEdit { path: "a".into(), old: None, new: "b".into() }];
    let doing = crate::review::protocol::ToolEffect::Edits;
    Job::Note(ToolNote {
        entry: EntryId(entry),
        turn: None,
        doing,
        at: Instant::now(),
        since: Instant::now(),
        finished: false,
        waits: false,
        paths: Vec::new(),
        claims,
    })
}

#[test]
fn jobs_wait_in_their_order_when_the_queue_is_full() {
    let (mut reviewing, taken) = without_thread(2);
    for turn in 1..=5 {
        assert_eq!(reviewing.give(AT, begin(turn)), Submission::Taken);
    }
    assert!(reviewing.has_backlog.load(Ordering::Acquire));
    assert_eq!(turns(&taken), [1, 2]);
    reviewing.give(AT, begin(6));
    assert_eq!(turns(&taken), [3, 4]);
    reviewing.drain();
    assert_eq!(turns(&taken), [5, 6]);
    assert!(!reviewing.has_backlog.load(Ordering::Acquire));
}

#[test]
fn what_waits_is_bounded() {
    let (mut reviewing, taken) = without_thread(1);
    let given: Vec<Submission> = (0..5000).map(|n| reviewing.give(AT, note(n))).collect();
    assert_eq!(given.iter().filter(|g| **g == Submission::LeftOut).count(), 1, "said once");
    assert_eq!(reviewing.backlog.len(), BACKLOG);
    let with_texts = reviewing.backlog.iter().filter(|job| matches!(&job.job, Job::Note(n) if !n.claims.is_empty()));
    assert!(with_texts.count() <= WITH_TEXTS + 1);
    let places = |n| Job::Places { entry: EntryId(n), claims: Vec::new() };
    let asks = |n| Job::Preview { req: ReqId(n), asked: 1, claims: Vec::new(), is_too_much: false };
    let beside = |n| note(n).beside().0;
    let more = (0..5000).flat_map(|n| [places(n), asks(n), beside(n)]);
    assert!(more.map(|job| reviewing.give(AT, job)).all(|given| given == Submission::Taken), "the review goes on");
    assert_eq!(reviewing.backlog.len(), BACKLOG);
    let runs = |n| match note(n) {
        Job::Note(note) => Job::Note(ToolNote { doing: crate::review::protocol::ToolEffect::Runs, ..note }),
        job => job,
    };
    assert!((0..5000).map(|n| reviewing.give(AT, runs(n))).all(|given| given == Submission::Taken));
    assert_eq!(reviewing.backlog.len(), WITH_COMMANDS, "what a command changes is its own");
    assert_eq!(
        reviewing.give(AT, Job::Do(ReviewCommand::EndTurn(TurnId(1)))),
        Submission::Taken,
        "a turn is never left out"
    );
    let gone = (0..3 * BACKLOG)
        .map(|_| reviewing.give(AT, Job::Do(ReviewCommand::EndTurn(TurnId(1)))))
        .find(|g| *g == Submission::Gone);
    assert_eq!(gone, Some(Submission::Gone));
    drop(taken);
    assert_eq!(reviewing.drain(), Submission::Gone);
}

/// Bytes of texts and paths that wait.
fn waiting<'a>(jobs: impl Iterator<Item = &'a Asked>) -> usize {
    let of = |claims: &[ClaimedEdit]| claims.iter().map(|c| c.path.as_os_str().len() + c.new.len()).sum::<usize>();
    jobs.map(|asked| match &asked.job {
        Job::Note(note) => of(&note.claims) + note.paths.iter().map(|path| path.as_os_str().len()).sum::<usize>(),
        Job::Preview { claims, .. } | Job::Places { claims, .. } => of(claims),
        _ => 0,
    })
    .sum()
}

#[test]
fn writes_that_were_not_looked_at_yet_count_until_they_were() {
    let (mut reviewing, queue) = without_thread(2);
    let content: SharedText = "x".repeat(100).into();
    let wrote = || Job::Wrote { path: "a".into(), turn: None, entry: EntryId(1), content: content.clone() };
    for _ in 0..3 {
        reviewing.give(AT, wrote());
    }
    reviewing.give(AT, wrote().beside().0);
    assert_eq!((reviewing.writes(), reviewing.waiting.news()), (400, 0), "news of calls keep their room");
    let first = queue.recv().unwrap();
    assert_eq!(reviewing.writes(), 400, "it is being looked at");
    drop(first);
    assert_eq!(reviewing.writes(), 300);
    drop((queue, reviewing.backlog.drain(..)));
    assert_eq!(reviewing.writes(), 0);
}

#[test]
fn what_waits_is_bounded_in_bytes() {
    let text: Arc<str> = "x".repeat(1 << 20).into();
    let claims = || vec![ClaimedEdit { path: "a".into(), old: None, new: Arc::clone(&text) }];
    let with = |job, texts, names: usize| match job {
        Job::Note(note) => {
            let paths = (0..names).map(|n| PathBuf::from(format!("{n}{}", "x".repeat(4096)))).collect();
            Job::Note(ToolNote { claims: texts, paths, ..note })
        }
        job => job,
    };
    let jobs: [(&str, &dyn Fn(u64) -> Job); 4] = [
        ("texts", &|n| with(note(n), claims(), 0)),
        ("paths", &|n| with(note(n), Vec::new(), 250)),
        ("questions", &|n| Job::Preview { req: ReqId(n), asked: 1, claims: claims(), is_too_much: false }),
        ("places", &|n| Job::Places { entry: EntryId(n), claims: claims() }),
    ];
    for (what, job) in jobs {
        let (mut reviewing, queue) = without_thread(QUEUE);
        for n in 0..100 {
            assert_ne!(reviewing.give(AT, job(n)), Submission::Gone);
        }
        let taken: Vec<Asked> = queue.try_iter().collect();
        let bytes = waiting(taken.iter().chain(&reviewing.backlog));
        assert!((load::MAX_WAITING / 2..=load::MAX_WAITING).contains(&bytes), "{what}: {bytes}");
        let asked = |asked: &&Asked| matches!(asked.job, Job::Preview { .. });
        let questions = taken.iter().chain(&reviewing.backlog).filter(asked).count();
        assert!(what != "questions" || questions == 100, "each is answered: {questions}");
        // The thread has done it all.
        drop(taken);
        reviewing.drain();
        drop(queue.try_iter().collect::<Vec<_>>());
        reviewing.give(AT, with(note(200), claims(), 0));
        assert!(waiting(queue.try_iter().collect::<Vec<_>>().iter()) > 1 << 20, "{what}: there is room again");
        let large = Arc::from("x".repeat(2 * load::MAX_WAITING));
        reviewing.give(AT, with(note(201), vec![ClaimedEdit { path: "a".into(), old: None, new: large }], 0));
        assert!(waiting(queue.try_iter().collect::<Vec<_>>().iter()) > load::MAX_WAITING, "{what}: alone");
    }
}

#[test]
fn what_comes_after_the_review_was_closed_is_not_shown() {
    let (mut reviewing, _taken) = without_thread(1);
    let show = |r: &Reviewing| drop(r.shown.lock().unwrap().insert(AT, Arc::default()));
    show(&reviewing);
    assert!(reviewing.take_shown().is_empty());
    reviewing.viewers.insert(AT);
    assert!(reviewing.take_shown().is_empty(), "that was dropped");
    show(&reviewing);
    assert!(!reviewing.take_shown().is_empty());
    assert!(reviewing.take_shown().is_empty(), "once");
}

pub struct Place {
    _dir: tempfile::TempDir,
    pub root: PathBuf,
    pub home: PathBuf,
}

pub fn place() -> Place {
    let dir = tempfile::tempdir().unwrap();
    let base = dir.path().canonicalize().unwrap();
    let (root, home) = (base.join("project"), base.join("state"));
    std::fs::create_dir(&root).unwrap();
    Place { _dir: dir, root, home }
}

pub fn engine(place: &Place, script: &str, journals: Option<PathBuf>) -> Engine {
    Engine::new(EngineConfig {
        command: "sh".into(),
        args: vec!["-c".into(), script.into()],
        cwd: place.root.clone(),
        journals,
        review: Some(ReviewConfig::below(place.home.clone())),
        ..EngineConfig::default()
    })
}

/// Opens a session, answers a prompt, and waits.
const AGENT: &str = r#"
    id() { sed 's/.*"id":\([0-9]*\).*/\1/'; }
    answer() { read -r line; printf '{"id":%s,"result":%s}\n' $(printf %s "$line" | id) "$1"; }
    answer '{"protocolVersion":1}'; answer '{"sessionId":"s"}'; answer '{"stopReason":"end_turn"}'; read -r line
"#;

async fn until(engine: &mut Engine, is_there: impl Fn(&Model, &[FrontEnd]) -> bool) {
    let mut news = Vec::new();
    while !is_there(engine.model(), &news) {
        let wake = tokio::time::timeout(Duration::from_secs(20), engine.next()).await.expect("nothing happens");
        news.extend(engine.step(wake).into_iter().map(|news| news.what));
    }
}

#[tokio::test]
async fn a_turn_is_looked_at_before_and_after() {
    let place = place();
    let journals = place.home.join("journals");
    let mut engine = engine(&place, AGENT, Some(journals.clone()));
    let stem = engine.stem();
    engine.intent(Intent::Start);
    engine.intent(Intent::Prompt { text: "hi".into(), links: Vec::new() });
    until(&mut engine, |_, news| news.contains(&FrontEnd::TurnReviewed(TurnId(1)))).await;
    engine.shutdown().await;
    let text = std::fs::read_to_string(journals.join(format!("{stem}.jsonl"))).unwrap();
    let at = |what: &str| text.find(what).unwrap_or_else(|| panic!("no {what} in {text}"));
    assert!(at(r#""review":true"#) < at("TurnCovered"));
    assert!(at("TurnCovered") < at("session/prompt"), "the prompt has waited: {text}");
    assert!(at("end_turn") < at("TurnReviewed"));
}

#[tokio::test]
async fn the_review_is_shown_while_it_is_open() {
    let place = place();
    let mut engine = engine(&place, AGENT, None);
    engine.intent(Intent::Review(ReviewAction::Show(Scope::Session)));
    until(&mut engine, |model, _| model.first().session().review().is_some()).await;
    let version = engine.version();
    engine.intent(Intent::Review(ReviewAction::Close));
    assert!(engine.model().first().session().review().is_none() && engine.version() > version);
    engine.shutdown().await;
}

/// Loads a session, and waits.
const LOADING: &str = r#"
    id() { sed 's/.*"id":\([0-9]*\).*/\1/'; }
    answer() { read -r line; printf '{"id":%s,"result":%s}\n' $(printf %s "$line" | id) "$1"; }
    answer '{"protocolVersion":1,"agentInfo":{"name":"agent","version":"1"},"agentCapabilities":{"loadSession":true}}'
    answer '{}'; read -r line
"#;

/// A run of the session `s` from before, which has left one hunk.
fn with_earlier_run(place: &Place) {
    let cwd = place.root.clone();
    let head = SessionInfo {
        stem: "1-1".into(),
        cwd,
        command: "agent".into(),
        started: 1,
        private: Vec::new(),
        directories: Vec::new(),
    };
    let mut earlier = ReviewSession::create(&place.home, head).unwrap();
    earlier.session(AgentSession::new("s", 1, "agent")).unwrap();
    earlier.first_look().unwrap();
    earlier.begin_turn(1).unwrap();
    std::fs::write(place.root.join("f"), "x\n").unwrap();
    earlier.end_turn(1).unwrap();
    drop(earlier);
}

#[tokio::test]
async fn who_looks_before_the_session_goes_on_sees_then_what_its_earlier_runs_have_left() {
    let place = place();
    with_earlier_run(&place);
    let mut engine = engine(&place, LOADING, None);
    engine.intent(Intent::Review(ReviewAction::Show(Scope::Session)));
    until(&mut engine, |model, _| model.first().session().review().is_some()).await;
    engine.intent(Intent::OpenAs(Opening::Load("s".into())));
    engine.intent(Intent::Start);
    let is_left = |model: &Model| model.first().session().review().is_some_and(|doc| doc.left.len() == 1);
    until(&mut engine, |model, _| is_left(model)).await;
    engine.shutdown().await;
}

#[tokio::test]
async fn a_session_that_goes_on_knows_what_of_its_earlier_runs_is_not_decided_before_anybody_looks() {
    let place = place();
    with_earlier_run(&place);
    let mut engine = engine(&place, LOADING, None);
    engine.intent(Intent::OpenAs(Opening::Load("s".into())));
    engine.intent(Intent::Start);
    until(&mut engine, |model, _| model.first().session().changes().left_before == 1).await;
    // One that comes later looks at the same files.
    let cwd = place.root.to_string_lossy().into_owned();
    engine.intent(Intent::OpenSession { cwd, how: Opening::New });
    let are_told = |model: &Model| {
        let told: Vec<u64> = model.sessions().map(|(_, one)| one.changes().left_before).collect();
        told == [1, 1]
    };
    until(&mut engine, |model, _| are_told(model)).await;
    engine.shutdown().await;
}

#[tokio::test]
async fn an_export_never_overwrites() {
    let place = place();
    std::fs::write(place.root.join("there.patch"), "mine").unwrap();
    let mut engine = engine(&place, AGENT, None);
    engine.intent(Intent::Review(ReviewAction::Export { scope: Scope::Session, path: "there.patch".into() }));
    until(&mut engine, |_, news| news.iter().any(|n| matches!(n, FrontEnd::Said(_)))).await;
    engine.shutdown().await;
    assert_eq!(std::fs::read_to_string(place.root.join("there.patch")).unwrap(), "mine");
}

#[tokio::test]
async fn a_home_that_cannot_be_used_leaves_the_session_without_a_review() {
    let place = place();
    std::fs::write(&place.home, "a file").unwrap();
    let mut engine = engine(&place, AGENT, None);
    // The review refuses such a home; a caller that finds the thread gone says the same.
    engine.apply(SessionKey::FIRST, HostEvent::Review(ReviewEvent::ReviewOff { message: "no room".into() }));
    engine.intent(Intent::Start);
    engine.intent(Intent::Prompt { text: "hi".into(), links: Vec::new() });
    until(&mut engine, |_, news| news.iter().any(|n| matches!(n, FrontEnd::TurnEnded(..)))).await;
    let warnings = engine.model().first().session().entries().iter().filter(|e| match &e.body {
        Body::Notice(notice) => notice.title.contains("no review of changes"),
        _ => false,
    });
    assert_eq!(warnings.count(), 1);
    engine.shutdown().await;
}

#[tokio::test]
async fn the_goodbye_waits_for_the_jobs() {
    let (mut reviewing, taken) = without_thread(1);
    let done: Arc<AtomicBool> = Arc::default();
    let told = Arc::clone(&done);
    for turn in 1..=10 {
        reviewing.give(AT, begin(turn));
    }
    reviewing.thread = Some(std::thread::spawn(move || {
        let turns: Vec<u64> = taken
            .iter()
            .map(|asked| if let Job::Do(ReviewCommand::BeginTurn(turn)) = asked.job { turn.0 } else { 0 })
            .collect();
        told.store(turns == (1..=10).collect::<Vec<_>>(), Ordering::Release);
    }));
    reviewing.finish(LAST_JOBS).await;
    assert!(done.load(Ordering::Acquire), "all jobs, in their order");
}

/// Opens a session; in the turn it writes `x.txt` through the client and says what came of it, then another file by
/// itself.
const WRITER: &str = r#"
    id() { sed 's/.*"id":\([0-9]*\).*/\1/'; }
    answer() { printf '{"id":%s,"result":%s}\n' $(printf %s "$1" | id) "$2"; }
    read -r line; answer "$line" '{"protocolVersion":1}'; read -r line; answer "$line" '{"sessionId":"s"}'
    read -r prompt
    printf '{"id":90,"method":"fs/write_text_file","params":{"sessionId":"s","path":"%s/x.txt","content":"one\\nTWO\\nthree\\n"}}\n' "$PWD"
    read -r written
    case "$written" in *result*) what=written;; *) what=refused;; esac
    echo mine > own.txt
    printf '{"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"%s"}}}}\n' $what
    answer "$prompt" '{"stopReason":"end_turn"}'; read -r line
"#;

fn said(model: &Model, words: &str) -> bool {
    model.first().session().entries().iter().any(|e| matches!(&e.body, Body::Agent(m) if m.text == words))
}

fn reviewed_turn(news: &[FrontEnd]) -> bool {
    news.contains(&FrontEnd::TurnReviewed(TurnId(1)))
}

fn writer(place: &Place, gate: Gate) -> Engine {
    std::fs::write(place.root.join("x.txt"), "one\ntwo\nthree\n").unwrap();
    let mut engine = engine(place, WRITER, None);
    engine.intent(Intent::SetGate(gate));
    engine.intent(Intent::Start);
    engine.intent(Intent::Prompt { text: "hi".into(), links: Vec::new() });
    engine
}

#[tokio::test]
async fn a_turn_is_counted_and_can_be_taken_back() {
    let place = place();
    let mut engine = writer(&place, Gate::Off);
    until(&mut engine, |_, news| reviewed_turn(news)).await;
    assert!(engine.timers.is_empty(), "an idle engine has nothing to wake for");
    let changes = engine.model().first().session().changes().clone();
    assert_eq!((changes.totals.files, changes.totals.added, changes.totals.removed), (2, 2, 1), "{changes:?}");
    assert!(changes.after, "one came past the client");
    engine.intent(Intent::Review(ReviewAction::Show(Scope::Pending)));
    until(&mut engine, |model, _| model.first().session().review().is_some_and(|doc| doc.files.len() == 2)).await;
    let doc = engine.model().first().session().review().unwrap().clone();
    assert_eq!(doc.files[1].hunks[0].entry.map(|e| e.0), Some(1), "the entry of the write");
    let action = ReviewAction::Decide { scope: Scope::Pending, target: Target::All, verdict: Verdict::Reject };
    engine.intent(Intent::Review(action));
    until(&mut engine, |model, _| model.first().session().changes().totals.pending == 1).await;
    assert_eq!(std::fs::read_to_string(place.root.join("x.txt")).unwrap(), "one\ntwo\nthree\n");
    assert!(place.root.join("own.txt").exists(), "nobody said who made it: it may be the person's");
    engine.shutdown().await;
}

#[tokio::test]
async fn a_line_is_put_down_to_its_prompt_first_and_then_to_this_session() {
    let mut place = place();
    place.home = place.home.join("review");
    std::fs::write(place.root.join("x.txt"), "one\ntwo\nthree\n").unwrap();
    let journals = place.home.with_file_name("sessions");
    let mut engine = engine(&place, WRITER, Some(journals));
    engine.intent(Intent::Start);
    engine.intent(Intent::Prompt { text: "shout".into(), links: Vec::new() });
    until(&mut engine, |_, news| reviewed_turn(news)).await;
    let blame = ReviewAction::Blame { path: "x.txt".into(), line: 1, text: "TWO".into() };
    engine.intent(Intent::Review(blame));
    let is_said =
        |news: &FrontEnd| matches!(news, FrontEnd::Said(words) if words == "line 2: shout · turn 1 of this session");
    until(&mut engine, |_, news| news.iter().any(is_said)).await;
    engine.shutdown().await;
}

#[tokio::test]
async fn a_held_write_happens_when_it_is_let_through() {
    for (option, words, text) in [("allow", "written", "one\nTWO\nthree\n"), ("reject", "refused", "one\ntwo\nthree\n")]
    {
        let place = place();
        let mut engine = writer(&place, Gate::Hold);
        until(&mut engine, |model, _| model.first().session().questions().iter().any(|p| !p.previews.is_empty())).await;
        let pending = &engine.model().first().session().questions()[0];
        assert_eq!(pending.previews[0].old.as_deref(), Some("one\ntwo\nthree\n"));
        assert_eq!(std::fs::read_to_string(place.root.join("x.txt")).unwrap(), "one\ntwo\nthree\n");
        let req = pending.req;
        engine.intent(Intent::Answer { req, option: option.into() });
        until(&mut engine, |model, news| said(model, words) && reviewed_turn(news)).await;
        assert_eq!(std::fs::read_to_string(place.root.join("x.txt")).unwrap(), text);
        engine.shutdown().await;
    }
}

/// The same, but it asks first, with the change of one line.
fn asking_writer() -> String {
    let ask = r#"
    printf '{"id":80,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"t","content":[{"type":"diff","path":"%s/x.txt","oldText":"two","newText":"TWO"}]},"options":[{"optionId":"yes","name":"Yes","kind":"allow_once"}]}}\n' "$PWD"
    read -r allowed
"#;
    WRITER.replace("    read -r prompt\n", &format!("    read -r prompt\n{}", ask.trim_start_matches('\n')))
}

#[tokio::test]
async fn a_change_that_the_person_has_seen_against_the_disk_is_asked_about_once() {
    let gates = [Gate::Ask, Gate::Hold];
    for (gate, changed_meanwhile) in gates.into_iter().flat_map(|gate| [(gate, false), (gate, true)]) {
        let place = place();
        let file = place.root.join("x.txt");
        std::fs::write(&file, "one\ntwo\nthree\n").unwrap();
        let mut engine = engine(&place, &asking_writer(), None);
        engine.intent(Intent::SetGate(gate));
        engine.intent(Intent::Start);
        engine.intent(Intent::Prompt { text: "hi".into(), links: Vec::new() });
        until(&mut engine, |model, _| model.first().session().questions().iter().any(|p| !p.previews.is_empty())).await;
        let req = engine.model().first().session().questions()[0].req;
        if changed_meanwhile {
            std::fs::write(&file, "one\ntwo\nthree \n").unwrap();
        }
        engine.intent(Intent::Answer { req, option: "yes".into() });
        if changed_meanwhile {
            until(&mut engine, |model, _| model.first().session().questions().iter().any(|p| p.req != req)).await;
            let req = engine.model().first().session().questions()[0].req;
            assert_eq!(std::fs::read_to_string(&file).unwrap(), "one\ntwo\nthree \n");
            engine.intent(Intent::Answer { req, option: "reject".into() });
            until(&mut engine, |model, news| said(model, "refused") && reviewed_turn(news)).await;
        } else {
            until(&mut engine, |model, news| said(model, "written") && reviewed_turn(news)).await;
            assert_eq!(std::fs::read_to_string(&file).unwrap(), "one\nTWO\nthree\n");
        }
        engine.shutdown().await;
    }
}

#[tokio::test]
async fn a_write_that_changes_nothing_is_not_asked_about_once_more() {
    for gate in [Gate::Ask, Gate::Hold] {
        let place = place();
        let file = place.root.join("x.txt");
        std::fs::write(&file, "one\nTWO\nthree\n").unwrap();
        let mut engine = engine(&place, &asking_writer().replace(r#""oldText":"two""#, r#""oldText":"TWO""#), None);
        engine.intent(Intent::SetGate(gate));
        engine.intent(Intent::Start);
        engine.intent(Intent::Prompt { text: "hi".into(), links: Vec::new() });
        until(&mut engine, |model, _| model.first().session().questions().iter().any(|p| !p.previews.is_empty())).await;
        let req = engine.model().first().session().questions()[0].req;
        engine.intent(Intent::Answer { req, option: "yes".into() });
        until(&mut engine, |model, news| said(model, "written") && reviewed_turn(news)).await;
        engine.shutdown().await;
    }
}

#[tokio::test]
async fn a_change_that_nobody_was_asked_about_is_shown_where_it_stands() {
    let edit = r#"    sed -i.bak 's/two/TWO/' x.txt
    printf '{"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"t","title":"edit","kind":"edit","status":"completed","content":[{"type":"diff","path":"%s/x.txt","oldText":"two","newText":"TWO"}]}}}\n' "$PWD"
    answer "$prompt""#;
    let agent = WRITER.lines().filter(|line| !line.contains("write_text_file") && !line.contains("written"));
    let agent = agent.collect::<Vec<_>>().join("\n").replace(r#"    answer "$prompt""#, edit);
    let place = place();
    std::fs::write(place.root.join("x.txt"), "one\ntwo\nthree\n").unwrap();
    let mut engine = engine(&place, &agent, None);
    engine.intent(Intent::Start);
    engine.intent(Intent::Prompt { text: "hi".into(), links: Vec::new() });
    until(&mut engine, |model, _| {
        let mut entries = model.first().session().entries().iter();
        entries.any(|e| matches!(&e.body, Body::Tool(call) if call.line_of(0) == Some(2)))
    })
    .await;
    engine.shutdown().await;
}

#[test]
fn a_look_at_very_many_files_leaves_the_thread_to_others_for_longer_than_it_takes() {
    let began = Instant::now();
    let ended = began + Duration::from_secs(2);
    assert_eq!(rested(began, ended), ended + Duration::from_secs(8));
    assert_eq!(rested(began, began), began);
}

#[test]
fn entries_get_their_own_numbers_back_and_those_of_others_are_told_apart() {
    use crate::engine::review_entries::{own_entries, shared};
    let mut doc = (*crate::ui::fixtures::review_doc(1)).clone();
    let (here, there) = (SessionKey(2), SessionKey(1));
    let of = |doc: &ReviewDoc| doc.files[3].hunks.iter().map(|h| (h.entry, h.elsewhere)).collect::<Vec<_>>();
    let hunks = &mut Arc::make_mut(&mut doc.files[3]).hunks;
    (hunks[0].entry, hunks[1].entry) = (Some(shared(here, EntryId(7))), Some(shared(there, EntryId(9))));
    own_entries(&mut doc, here);
    assert_eq!(of(&doc), [(Some(EntryId(7)), None), (Some(EntryId(9)), Some(there)), (None, None)]);
    // Those of the first session are as they are, and still not another's.
    let hunks = &mut Arc::make_mut(&mut doc.files[3]).hunks;
    (hunks[0].entry, hunks[1].entry, hunks[1].elsewhere) = (Some(EntryId(7)), None, None);
    own_entries(&mut doc, here);
    assert_eq!(of(&doc)[0], (Some(EntryId(7)), Some(SessionKey::FIRST)));
}

#[tokio::test]
async fn a_command_that_did_not_wait_for_the_look_before_it_is_named() {
    let said = "turn 1: a command began before all files had been looked at";
    for waits in [true, false] {
        let place = place();
        let roots = Arc::new(Roots::new(vec![place.root.clone()]));
        let head = head("run".into(), 0, &place.root, &roots, "agent");
        let mut config = ReviewConfig::below(place.home.clone());
        let (sender, _told) = mpsc::channel(64);
        let mut reviewing = Reviewing::start(&mut config, head, roots, AT, Facts(sender), Arc::default()).unwrap();
        let (done, looked) = sync_channel(1);
        let looked = waits.then_some(looked);
        for job in [begin(1), Job::BeforeCommand { req: ReqId(1), done }, Job::Do(ReviewCommand::EndTurn(TurnId(1)))] {
            assert_eq!(reviewing.give(AT, job), Submission::Taken);
        }
        reviewing.finish(Duration::from_secs(20)).await;
        assert_eq!(looked.map(|looked| looked.try_recv()), waits.then_some(Ok(())));
        let review = ReviewSession::open(&place.home.join("run")).unwrap();
        assert_eq!(review.uncovered().iter().any(|line| line.starts_with(said)), !waits, "{:?}", review.uncovered());
    }
}

#[test]
fn a_command_and_a_write_wait_for_the_look_until_the_client_ends() {
    let (done, looked) = sync_channel(1);
    let is_over = Arc::<AtomicBool>::default();
    let waiting = {
        let is_over = Arc::clone(&is_over);
        std::thread::spawn(move || crate::engine::reviews::wait_for::<()>(&looked, &is_over))
    };
    is_over.store(true, Ordering::Release);
    assert_eq!(waiting.join().unwrap(), None);
    // Its waiter is gone.
    assert!(done.try_send(()).is_err());
    let (done, looked) = sync_channel(1);
    done.try_send(7).unwrap();
    assert_eq!(crate::engine::reviews::wait_for(&looked, &AtomicBool::new(false)), Some(7));
}

/// Opens two sessions; in the turn of each it writes as many files as the session has letters.
const TWO: &str = r#"
    id() { sed 's/.*"id":\([0-9]*\).*/\1/'; }
    session=s
    while read -r line; do
        case "$line" in
            *initialize*) result='{"protocolVersion":1}';;
            *session/new*) result='{"sessionId":"'$session'"}'; session=st;;
            *session/prompt*'"st"'*) echo x > st1; echo x > st2; result='{"stopReason":"end_turn"}';;
            *session/prompt*) echo x > s1; result='{"stopReason":"end_turn"}';;
            *) continue;;
        esac
        printf '{"id":%s,"result":%s}\n' $(printf %s "$line" | id) "$result"
    done
"#;

#[tokio::test]
async fn sessions_that_share_a_run_are_told_what_each_has_changed_by_itself() {
    let place = place();
    let journals = place.home.join("journals");
    let mut engine = engine(&place, TWO, Some(journals.clone()));
    let stem = engine.stem();
    let prompt = || Intent::Prompt { text: "hi".into(), links: Vec::new() };
    let has_seen = |model: &Model, at: SessionKey, files: u64| {
        model.at(at).is_some_and(|session| session.turn.is_none() && session.changes().totals.files == files)
    };
    engine.intent(Intent::Start);
    engine.intent(prompt());
    until(&mut engine, |model, _| has_seen(model, AT, 1)).await;
    let second = SessionKey(1);
    engine.intent_to(
        AgentKey::FIRST.into(),
        Intent::OpenSession { cwd: place.root.to_string_lossy().into_owned(), how: Opening::New },
    );
    until(&mut engine, |model, _| model.at(second).is_some_and(|at| at.phase() == Phase::Ready)).await;
    engine.intent_to(second.into(), prompt());
    until(&mut engine, |model, _| has_seen(model, AT, 3) && has_seen(model, second, 3)).await;
    let knows = |model: &Model, at: SessionKey| {
        let names = |session: SessionRef<'_>| {
            session.changes().newest.iter().map(|file| file.path.as_str()).eq(["st1", "st2", "s1"])
        };
        model.at(at).is_some_and(names)
    };
    until(&mut engine, |model, _| knows(model, AT) && knows(model, second)).await;
    engine.shutdown().await;
    let text = std::fs::read_to_string(journals.join(format!("{stem}.jsonl"))).unwrap();
    let own = |at: u32| {
        let of_session =
            |line: &serde_json::Value| line["at"]["session"] == at && !line["fact"]["OwnChanges"].is_null();
        let lines = text.lines().filter_map(|line| serde_json::from_str(line).ok()).filter(of_session);
        lines.map(|line| line["fact"]["OwnChanges"]["totals"]["files"].as_u64()).next_back().flatten()
    };
    assert_eq!((own(0), own(1)), (Some(1), Some(2)), "{text}");
}
