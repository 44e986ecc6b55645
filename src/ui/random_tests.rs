//! Random runs of three agents and five sessions, with a person at the keys: what must hold of the model and of the
//! screen after every step.

use super::keys::{Code, Key};
use super::msg::{FrameInfo, Out};
use super::state::attention::Attention;
use super::state::dock::Dialog;
use super::state::{App, Focus};
use super::transcript::Transcript;
use super::tty::Input;
use super::update::{self, Cx};
use super::view::{self, Animation, ViewCx};
use crate::model::Model;
use crate::model::changes::{Gate, HeldOutcome, ReviewCommand, ReviewEvent};
use crate::model::effect::Effect;
use crate::model::entry::{Block, ChunkKind};
use crate::model::event::{
    AgentEvent, AgentRequest, Event, HostEvent, InitResult, Intent, Opening, PermissionKind, PermissionOption,
    PromptAnswer, PromptResult, SessionResult, Stop, Update, WriteFact,
};
use crate::model::history::NoHistory;
use crate::model::ids::{Address, Addressed, AgentKey, ReqId, SessionKey};
use crate::model::question::Waiting;
use crate::model::reduce::reduce;
use crate::model::session::{Policy, SessionState};
use crate::model::tool::{Exit, ToolPatch};
use crate::theme::resolve::Theme;
use proptest::prelude::*;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

type Step = (u8, u8, u8);

const AGENTS: usize = 3;
const SESSIONS: usize = 5;
const KEYS: &[Key] = &[
    Key::ctrl(Code::PageDown),
    Key::ctrl(Code::PageUp),
    Key::alt(Code::Char('w')),
    Key::alt(Code::Char('p')),
    Key::plain(Code::Tab),
    Key::plain(Code::Esc),
    Key::plain(Code::Enter),
    Key::char('1'),
    Key::char('2'),
    Key::char('x'),
    Key::ctrl(Code::Char('t')),
    Key::alt(Code::Char('r')),
    Key::plain(Code::F(2)),
    Key::plain(Code::F(1)),
    Key::ctrl(Code::Char('o')),
    Key::plain(Code::PageUp),
];

/// What has become of a request of an agent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Asked {
    Open,
    Answered,
    Void,
}

struct World {
    model: Model,
    app: App,
    transcript: Transcript,
    info: FrameInfo,
    now: Duration,
    size: (u16, u16),
    asked: BTreeMap<ReqId, Asked>,
    /// What disk and review have still to say, in any order.
    owed: Vec<(Address, HostEvent)>,
}

impl World {
    fn new() -> Self {
        let mut world = Self {
            model: Model::new("a".into(), "/p".into(), Policy::Ask).with_review(true).with_gate(Gate::Hold),
            app: App::default(),
            transcript: Transcript::new(),
            info: FrameInfo::default(),
            now: Duration::from_secs(1),
            size: (80, 24),
            asked: BTreeMap::new(),
            owed: Vec::new(),
        };
        world.wants(AgentKey::FIRST.into(), Intent::Start);
        world
    }

    fn event(&mut self, at: impl Into<Address>, what: Event) {
        for effect in reduce(&mut self.model, Addressed::new(at, what), self.now) {
            match effect.what {
                Effect::Respond { req, .. } => {
                    let before = self.asked.insert(req, Asked::Answered);
                    assert!(matches!(before, Some(Asked::Open)), "{req:?} was {before:?} and is answered");
                }
                Effect::Void(req) => drop(self.asked.insert(req, Asked::Void)),
                Effect::FrontEnd(news) => {
                    update::news(&mut self.app, Addressed { at: effect.at, what: news }, self.now);
                }
                Effect::SpawnAgent => {
                    let Address::Agent(agent) = effect.at else { panic!("an agent is started nowhere") };
                    self.event(agent, Event::Host(HostEvent::AgentSpawned { pid: 1 }));
                }
                other => self.owed.extend(owed(other).map(|event| (effect.at, event))),
            }
        }
        self.app.sync(&self.model, self.now);
    }

    fn wants(&mut self, at: Address, intent: Intent) {
        self.event(at, Event::User(intent));
    }

    fn agent(&self, pick: u8) -> AgentKey {
        let agents: Vec<AgentKey> = self.model.agents().map(|(key, _)| key).collect();
        agents[usize::from(pick) % agents.len()]
    }

    fn session(&self, pick: u8) -> SessionKey {
        let sessions: Vec<SessionKey> = self.model.sessions().map(|(key, _)| key).collect();
        sessions[usize::from(pick) % sessions.len()]
    }

    fn step(&mut self, (kind, who, arg): Step) {
        let (agent, session) = (self.agent(who), self.session(who));
        match kind % 20 {
            0 if self.model.agents().count() < AGENTS && self.model.sessions().count() < SESSIONS => {
                let (command, cwd) = ("b".into(), "/q".into());
                self.wants(
                    Address::All,
                    Intent::AddAgent { command, env: Vec::new(), cwd, how: Opening::New, protocol: None },
                );
            }
            1 if self.model.sessions().count() < SESSIONS => {
                self.wants(agent.into(), Intent::OpenSession { cwd: "/p".into(), how: Opening::New });
            }
            0..=2 => self.event(agent, Event::Agent(AgentEvent::Initialized(Ok(InitResult::default())))),
            3 | 4 => self.opened(session),
            5 => {
                if let Some(turn) = self.model.session_of(session).and_then(|s| s.turn.as_ref()).map(|turn| turn.id) {
                    let result = Ok(PromptAnswer::Ended(PromptResult { stop: Stop::EndTurn, usage: None }));
                    self.event(session, Event::Agent(AgentEvent::PromptAnswered { turn, result }));
                }
            }
            6 => self.says(session, "some words\n\n- and a list\n".repeat(usize::from(arg % 8))),
            7 | 8 => self.asks(session),
            16 => self.writes(session),
            17 => self.wants(session.into(), Intent::SetGate(Gate::ALL[usize::from(arg) % 3])),
            18 if !self.owed.is_empty() => {
                let (at, what) = self.owed.swap_remove(usize::from(arg) % self.owed.len());
                self.event(at, Event::Host(what));
            }
            19 if self.model.sessions().count() < SESSIONS => {
                let how = Opening::Load(format!("old{arg}").into());
                self.wants(agent.into(), Intent::OpenSession { cwd: "/p".into(), how });
            }
            9 => {
                let (agent, req) = self
                    .asked
                    .iter()
                    .find(|(_, asked)| **asked == Asked::Open)
                    .map_or((agent, ReqId(0)), |(req, _)| (self.owner(*req).unwrap_or(agent), *req));
                self.event(agent, Event::Agent(AgentEvent::RequestWithdrawn(req)));
            }
            10 if arg < 32 => {
                let exit = Exit { code: Some(1), signal: None };
                self.event(agent, Event::Host(HostEvent::AgentExited { exit, stderr: Vec::new() }));
            }
            10 if arg < 64 => self.wants(agent.into(), Intent::Restart),
            11 => self.wants(session.into(), Intent::Prompt { text: "go".into(), links: Vec::new() }),
            12 => {
                self.now += Duration::from_millis(u64::from(arg) * 40);
                self.app.sync(&self.model, self.now);
            }
            13 if arg < 40 => self.size = (u16::from(who) / 2 + 1, u16::from(arg) + 1),
            _ => self.press(KEYS[usize::from(arg) % KEYS.len()]),
        }
    }

    fn owner(&self, req: ReqId) -> Option<AgentKey> {
        let has = |session: &crate::model::session::Session| session.questions().iter().any(|p| p.req == req);
        self.model.sessions().find(|(_, session)| has(session)).map(|(_, session)| session.agent)
    }

    fn opened(&mut self, at: SessionKey) {
        if !matches!(self.model.session_of(at).map(|s| &s.state), Some(SessionState::Opening { .. })) {
            return;
        }
        // One that is loaded has its id.
        let known = self.model.session_of(at).and_then(|session| session.id.clone());
        let id = known.unwrap_or_else(|| format!("s{}-{}", at.0, self.now.as_millis()).into());
        let opened = SessionResult { id, modes: None, options: None, model: None, commands: None, earlier: 0 };
        self.event(at, Event::Agent(AgentEvent::SessionOpened(Ok(opened.into()))));
    }

    fn says(&mut self, at: SessionKey, text: String) {
        let Some(session) = self.model.session_of(at) else { return };
        let Some(id) = session.id.clone() else { return };
        let update = Update::Chunk { kind: ChunkKind::Agent, message_id: None, block: Block::Text(text) };
        let event = AgentEvent::Update { session: id, update };
        self.event(session.agent, Event::Agent(event));
    }

    fn asks(&mut self, at: SessionKey) {
        let Some(session) = self.model.session_of(at) else { return };
        // What names another one may be kept until the name of one that is being opened is known.
        let Some(id) = session.id.clone().filter(|_| session.state == SessionState::Ready) else { return };
        let req = ReqId(self.asked.len() as u64 + 1);
        let option = |id: &str| PermissionOption { id: id.into(), name: id.into(), kind: PermissionKind::Unknown };
        let request = AgentRequest::Permission {
            tool: ToolPatch::new(format!("t{}", req.0 % 3).into()),
            options: vec![option("yes"), option("no")],
        };
        self.asked.insert(req, Asked::Open);
        let event = AgentEvent::Request { req, session: Some(id), request: request.into() };
        self.event(session.agent, Event::Agent(event));
    }

    fn writes(&mut self, at: SessionKey) {
        let Some(session) = self.model.session_of(at) else { return };
        let Some(id) = session.id.clone().filter(|_| session.state == SessionState::Ready) else { return };
        let req = ReqId(self.asked.len() as u64 + 1);
        let request = AgentRequest::WriteFile {
            path: "/p/x".into(),
            content: "new\n".into(),
            how: crate::model::event::WriteHow::default(),
        };
        self.asked.insert(req, Asked::Open);
        self.event(
            session.agent,
            Event::Agent(AgentEvent::Request { req, session: Some(id), request: request.into() }),
        );
    }

    fn press(&mut self, key: Key) {
        let Some(session) = self.model.at(self.app.shown()) else { panic!("nothing is shown") };
        let cx = Cx { model: &self.model, session, history: &NoHistory, frame: &self.info, now: self.now };
        let (shown, agent) = (session.key(), session.agent_key());
        for out in update::input(&mut self.app, cx, Input::Key(key)) {
            match out {
                Out::Intent(intent) => {
                    if let Intent::Answer { req, .. } = &intent {
                        // Nothing is answered that was not on the screen, in the session to which the key went.
                        assert_eq!(self.info.dialog, Some(Dialog::Permission(*req)));
                        assert!(
                            self.model.session_of(shown).is_some_and(|s| s.questions().iter().any(|p| p.req == *req))
                        );
                    }
                    self.wants(intent.at(shown, agent), intent);
                }
                Out::Send { intent, .. } => self.wants(intent.at(shown, agent), intent),
                Out::Show(key) => drop(self.app.show(key)),
                _ => {}
            }
        }
    }

    fn draw(&mut self) -> String {
        let Some(session) = self.model.at(self.app.shown()) else { panic!("nothing is shown") };
        let theme = Theme::default();
        let cx = ViewCx {
            history: &NoHistory,
            model: &self.model,
            session,
            state: &self.app,
            theme: &theme,
            now: self.now,
            animation: Animation::Off,
            home: None,
        };
        let area = Rect::new(0, 0, self.size.0, self.size.1);
        let mut buf = Buffer::empty(area);
        self.info = view::draw(&cx, &mut self.transcript, &mut buf);
        // Warm equals cold: what was laid out before changes nothing.
        let mut cold = Buffer::empty(area);
        let info = view::draw(&cx, &mut Transcript::new(), &mut cold);
        assert_eq!(buf, cold, "a new cache draws something else");
        assert_eq!(info, self.info);
        self.app.view.note_frame(
            (self.info.scroll, self.info.seen_end),
            (self.info.dialog.as_ref(), self.info.seen),
            self.now,
        );
        super::fixtures::text(&buf)
    }

    fn verify(&mut self) {
        self.verify_model();
        self.verify_app();
        let shown = self.draw();
        let others_wait = self.app.views().iter().any(|(key, view)| {
            *key != self.app.shown() && self.model.at(*key).is_some_and(|s| Attention::of(s, view) == Attention::Waits)
        });
        if others_wait && self.size.0 >= 80 && self.size.1 >= 24 && self.app.help.is_none() {
            let first = shown.lines().next().unwrap_or_default();
            assert!(first.contains('?') || first.contains("waits"), "nobody is told who waits:\n{shown}");
        }
    }

    fn verify_model(&self) {
        let mut pending = BTreeSet::new();
        for (key, session) in self.model.sessions() {
            assert!(self.model.agent_of(session.agent).is_some(), "{key:?} has no agent");
            for waiting in session.questions() {
                assert!(pending.insert(waiting.req), "{:?} waits twice", waiting.req);
                assert_eq!(self.asked.get(&waiting.req), Some(&Asked::Open), "answered, and still asked");
                assert!(session.entries().get(waiting.entry).is_some(), "a question about nothing");
            }
            if let Some(turn) = &session.turn {
                assert!(turn.id <= session.last_turn());
            }
        }
        for (req, asked) in &self.asked {
            let owners = self.model.sessions().filter(|(_, session)| session.write(*req).is_some()).count();
            let waits = pending.contains(req) || self.owed.iter().any(|(_, what)| is_of(what, *req));
            assert!(owners <= 1, "{req:?} is written by {owners} sessions");
            assert!(*asked != Asked::Open || waits, "{req:?} is open, and nothing will answer it");
            assert!(*asked == Asked::Open || !pending.contains(req) && owners == 0, "{req:?} is {asked:?}, and waits");
        }
        let turns: Vec<_> = self.model.sessions().filter_map(|(_, s)| Some(s.turn.as_ref()?.id)).collect();
        assert_eq!(turns.iter().collect::<BTreeSet<_>>().len(), turns.len(), "a turn of two sessions");
    }

    fn verify_app(&self) {
        let views = self.app.views();
        assert!(views.iter().any(|(key, _)| *key == self.app.shown()));
        assert!(views.windows(2).all(|two| two[0].0 < two[1].0), "in their order, each once");
        for (key, view) in &views {
            let Some(session) = self.model.at(*key) else { panic!("a view of nothing") };
            let waits = session.waiting().next().is_some();
            assert_eq!(Attention::of(session, view) == Attention::Waits, waits, "the line of sessions says otherwise");
            match &view.dock.dialog {
                Some(Dialog::Permission(req)) => assert!(session.question(*req).is_some()),
                Some(Dialog::LogIn) => assert!(matches!(session.waiting().next(), Some(Waiting::LogIn(_)))),
                _ => assert_eq!(session.waiting().next(), None, "it waits for the person, and nobody sees it"),
            }
            match &view.focus {
                Focus::Dock => assert!(view.dock.dialog.is_some(), "the focus is on nothing"),
                Focus::Terminal(id) => assert!(session.command(id).is_some()),
                Focus::Review => assert!(view.review_here().is_some()),
                Focus::Composer => {}
            }
        }
        let is_open = |s: &crate::model::session::Session| {
            s.state != SessionState::Closed(crate::model::session::Closed::ByPerson)
        };
        for (key, _) in self.model.sessions().filter(|(_, s)| is_open(s)) {
            assert!(views.iter().any(|(other, _)| *other == key), "{key:?} has no view");
        }
    }
}

/// What the host answers to an effect, if it answers at all.
fn owed(effect: Effect) -> impl Iterator<Item = HostEvent> {
    let what = match effect {
        Effect::CheckWrite { req, path } => {
            HostEvent::WriteChecked { req, path, real: None, outside: false, result: Ok(()) }
        }
        Effect::FsWrite { req, .. } => {
            let result = Ok(WriteFact { created: false, bytes: 4, old: None, outside: None });
            HostEvent::FileWritten { req, path: "/p/x".into(), result }
        }
        Effect::Review(ReviewCommand::BeginTurn(turn)) => {
            HostEvent::Review(ReviewEvent::TurnCovered { turn, covered: Ok(()) })
        }
        Effect::Review(ReviewCommand::Hold { req, .. }) => HostEvent::Review(ReviewEvent::WriteHeld { req }),
        Effect::Review(ReviewCommand::DecideHeld { req, write }) => {
            let whole = HeldOutcome::Whole { created: false, bytes: 4 };
            let outcome = if write { whole } else { HeldOutcome::Refused };
            HostEvent::Review(ReviewEvent::HeldDecided { req, outcome })
        }
        _ => return None.into_iter(),
    };
    Some(what).into_iter()
}

fn is_of(what: &HostEvent, of: ReqId) -> bool {
    match what {
        HostEvent::WriteChecked { req, .. } | HostEvent::FileWritten { req, .. } => *req == of,
        HostEvent::Review(ReviewEvent::WriteHeld { req } | ReviewEvent::HeldDecided { req, .. }) => *req == of,
        _ => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 500, ..crate::random(12) })]

    #[test]
    fn whatever_happens_every_question_is_seen_and_answered_once(
        steps in prop::collection::vec(any::<Step>(), 125)
    ) {
        let mut world = World::new();
        for step in steps {
            world.step(step);
            world.verify();
        }
    }
}
