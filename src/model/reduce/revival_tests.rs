use super::*;
use crate::base::transport::{Reached, Transport};
use crate::model::effect::Call;
use crate::model::entry::{Block, Body, ChunkKind};
use crate::model::event::{
    AgentCaps, AgentEvent, Event, HostEvent, InitResult, Intent, PromptAnswer, PromptResult, SessionResult, Stop,
    Update,
};
use crate::model::ids::{Address, Addressed, TurnId};
use crate::model::reduce::reduce;
use crate::model::session::{Allow, Phase};
use crate::model::tool::Exit;

struct Rig {
    model: Model,
    now: Duration,
}

impl Rig {
    fn new(policy: Policy, can: &[Can]) -> Self {
        let mut rig = Self { model: Model::new("agent".into(), "/p".into(), policy), now: Duration::from_secs(1) };
        rig.event(Event::User(Intent::Start));
        rig.comes_up(can);
        rig
    }

    fn event(&mut self, event: Event) -> Vec<Effect> {
        let effects = reduce(&mut self.model, event.at_home(), self.now);
        effects.into_iter().map(|effect| effect.what).collect()
    }

    fn agent(&mut self, event: AgentEvent) {
        self.event(Event::Agent(event));
    }

    fn comes_up(&mut self, can: &[Can]) {
        self.event(Event::Host(HostEvent::AgentSpawned { pid: 1 }));
        let caps = AgentCaps { sessions: can.iter().copied().collect(), ..AgentCaps::default() };
        self.agent(AgentEvent::Initialized(Ok(InitResult { caps, ..InitResult::default() })));
        let opened =
            SessionResult { id: "s".into(), modes: None, options: None, model: None, commands: None, earlier: 0 };
        self.agent(AgentEvent::SessionOpened(Ok(opened.into())));
    }

    fn prompts(&mut self) -> TurnId {
        self.event(Event::User(Intent::Prompt { text: "do it".into(), links: Vec::new() }));
        let block = Block::Text("done".into());
        let update = Update::Chunk { kind: ChunkKind::Agent, message_id: None, block };
        self.agent(AgentEvent::Update { session: "s".into(), update });
        self.model.first().turn.as_ref().unwrap().id
    }

    fn talks(&mut self) {
        let turn = self.prompts();
        let result = Ok(PromptAnswer::Ended(PromptResult { stop: Stop::EndTurn, usage: None }));
        self.agent(AgentEvent::PromptAnswered { turn, result });
    }

    /// Gives how long it is waited.
    fn dies(&mut self) -> Option<u64> {
        let exit = Exit { code: Some(1), signal: None };
        let effects = self.event(Event::Host(HostEvent::AgentExited { exit, stderr: Vec::new() }));
        let waits: Vec<Duration> = effects
            .iter()
            .filter_map(|effect| match effect {
                Effect::StartTimer { timer: Timer::Revive, after } => Some(*after),
                _ => None,
            })
            .collect();
        let planned = self.model.first().agent().revival;
        assert_eq!(planned.map(|revival| revival.at), waits.first().map(|after| self.now + *after));
        waits.first().map(Duration::as_secs)
    }

    /// Whether it is started.
    fn waits(&mut self, seconds: u64) -> bool {
        self.now += Duration::from_secs(seconds);
        self.event(Event::Timer(Timer::Revive)).contains(&Effect::SpawnAgent)
    }
}

#[test]
fn an_agent_that_keeps_ending_is_started_five_times_later_and_later() {
    let mut rig = Rig::new(Policy::Ask, &[Can::Load]);
    rig.talks();
    for (at, wait) in [1, 1, 2, 4, 8].into_iter().enumerate() {
        assert_eq!(rig.dies(), Some(wait), "{at}");
        assert!(!rig.waits(wait - 1) && rig.waits(1), "{at}");
        // Once it does not even come up: it is the same story.
        if at % 2 == 0 {
            rig.comes_up(&[Can::Load]);
        }
    }
    assert_eq!(rig.dies(), None);
    assert_eq!(rig.model.first().agent().revivals, TRIES);
    assert!(!rig.waits(100));
    // The person begins anew.
    assert!(rig.event(Event::User(Intent::Restart)).contains(&Effect::SpawnAgent));
    rig.comes_up(&[Can::Load]);
    assert_eq!(rig.dies(), Some(1));
}

#[test]
fn the_session_is_asked_for_and_nothing_is_said_again() {
    let mut rig = Rig::new(Policy::Ask, &[Can::Resume]);
    rig.talks();
    rig.dies();
    assert!(rig.waits(1));
    let effects = rig.event(Event::Host(HostEvent::AgentSpawned { pid: 2 }));
    assert!(!effects.iter().any(|effect| matches!(effect, Effect::Call(Call::Prompt { .. }))));
    rig.comes_up(&[Can::Resume]);
    assert!(rig.model.first().phase() == Phase::Ready);
    let session = rig.model.first();
    let said = session.entries().iter().filter(|entry| matches!(entry.body, Body::User(_) | Body::Agent(_)));
    assert_eq!(said.count(), 2);
}

#[test]
fn one_that_has_lived_long_does_not_keep_dying() {
    let mut rig = Rig::new(Policy::Ask, &[Can::Load]);
    for _ in 0..8 {
        rig.talks();
        assert_eq!(rig.dies(), Some(1));
        assert!(rig.waits(1));
        rig.comes_up(&[Can::Load]);
        rig.now += LONG;
    }
}

#[test]
fn nothing_starts_by_itself_where_it_must_not() {
    // In a turn: the person decides whether it is to be said again.
    let mut rig = Rig::new(Policy::Ask, &[Can::Load]);
    rig.prompts();
    assert_eq!(rig.dies(), None);
    // It cannot take up what was said.
    let mut rig = Rig::new(Policy::Ask, &[]);
    rig.talks();
    assert_eq!(rig.dies(), None);
    // There a new session is as good.
    let mut rig = Rig::new(Policy::Ask, &[]);
    assert_eq!(rig.dies(), Some(1));
    // Without a screen.
    let mut rig = Rig::new(Policy::Auto(Allow::All), &[Can::Load]);
    assert_eq!(rig.dies(), None);
    // The person has ended it.
    let mut rig = Rig::new(Policy::Ask, &[Can::Load]);
    rig.event(Event::User(Intent::KillAgent));
    assert_eq!(rig.dies(), None);
    // It never was up.
    let mut rig = Rig::new(Policy::Ask, &[]);
    rig.event(Event::User(Intent::KillAgent));
    rig.dies();
    rig.event(Event::User(Intent::Restart));
    rig.event(Event::Host(HostEvent::AgentSpawned { pid: 2 }));
    assert_eq!(rig.dies(), None);
}

#[test]
fn the_person_can_stop_it_and_can_be_faster() {
    let mut rig = Rig::new(Policy::Ask, &[Can::Load]);
    rig.talks();
    rig.dies();
    rig.event(Event::User(Intent::LetRest));
    assert!(!rig.waits(1));
    assert!(rig.event(Event::User(Intent::Restart)).contains(&Effect::SpawnAgent));
    rig.comes_up(&[Can::Load]);
    assert_eq!(rig.dies(), Some(1));
    assert!(rig.event(Event::User(Intent::Restart)).contains(&Effect::SpawnAgent));
    assert!(!rig.waits(1), "it runs already");
    rig.comes_up(&[Can::Load]);
    // A timer of an earlier death does not start it before its time.
    rig.now += Duration::from_millis(500);
    assert_eq!(rig.dies(), Some(1));
    let at = Addressed { at: Address::Agent(AgentKey::FIRST), what: Event::Timer(Timer::Revive) };
    assert!(reduce(&mut rig.model, at, rig.now).is_empty());
}

/// Gives how long it is waited.
fn lose(rig: &mut Rig) -> Option<u64> {
    lose_for(rig, None).map(|wait| wait.as_secs())
}

fn lose_for(rig: &mut Rig, retry_after: Option<u64>) -> Option<Duration> {
    let effects = rig.event(Event::Host(HostEvent::ConnectionLost { why: "cut".into(), retry_after }));
    effects.iter().find_map(|effect| match effect {
        Effect::StartTimer { timer: Timer::Revive, after } => Some(*after),
        _ => None,
    })
}

const REACHED: Reached = Reached { transport: Transport::Unix, files: false, terminals: false };

fn far(policy: Policy) -> Rig {
    let mut rig = Rig::new(policy, &[Can::Load]);
    rig.model.agents.get_mut(&AgentKey::FIRST).unwrap().reached = Some(REACHED);
    rig
}

#[test]
fn s_144_clients_of_a_server_do_not_come_back_all_at_once() {
    let waits = (0..4).map(|n| {
        let mut rig = far(Policy::Ask);
        rig.now += Duration::from_micros(n * 83);
        lose_for(&mut rig, None).unwrap()
    });
    let waits: Vec<Duration> = waits.collect();
    assert!(waits.iter().all(|wait| (1000..1250).contains(&wait.as_millis())) && waits.is_sorted(), "{waits:?}");
    assert!(waits[0] < waits[3]);
}

#[test]
fn s_146_a_server_says_how_long_it_is_not_asked_and_the_person_is_asked_where_that_is_long() {
    assert_eq!(lose(&mut far(Policy::Ask)), Some(1));
    assert_eq!(lose_for(&mut far(Policy::Ask), Some(7)), Some(Duration::from_secs(7)));
    assert_eq!(lose_for(&mut far(Policy::Ask), Some(300)), Some(Duration::from_mins(5)));
    for long in [301, u64::MAX] {
        assert_eq!(lose_for(&mut far(Policy::Ask), Some(long)), None);
    }
    // Also one that has not been reached yet, and the person can stop it.
    let mut rig = Rig { model: Model::new("unix:/a".into(), "/p".into(), Policy::Ask), now: Duration::from_secs(1) };
    rig.event(Event::User(Intent::Start));
    rig.event(Event::Host(HostEvent::Connecting(REACHED)));
    assert_eq!(lose_for(&mut rig, Some(7)), Some(Duration::from_secs(7)));
    rig.event(Event::User(Intent::LetRest));
    assert!(!rig.waits(7));
}

#[test]
fn s_063_without_a_screen_a_connection_is_opened_again_and_no_agent_is_started_again() {
    let mut rig = far(Policy::Auto(Allow::All));
    rig.talks();
    assert_eq!(lose(&mut rig), Some(1));
    assert!(rig.waits(1));
    let mut rig = far(Policy::Auto(Allow::All));
    rig.talks();
    assert_eq!(rig.dies(), None);
}

#[test]
fn s_144_an_address_is_tried_again_later_and_later_also_from_the_middle_of_a_turn() {
    let mut rig = far(Policy::Ask);
    rig.prompts();
    let mut waits = Vec::new();
    while let Some(wait) = lose(&mut rig) {
        waits.push(wait);
        rig.now += Duration::from_secs(wait);
        rig.event(Event::Timer(Timer::Revive));
        rig.event(Event::Host(HostEvent::Connecting(REACHED)));
    }
    assert_eq!(waits, [1, 2, 4, 8, 16]);
    // One that was never reached is not tried again by itself.
    let mut rig = Rig { model: Model::new("unix:/a".into(), "/p".into(), Policy::Ask), now: Duration::from_secs(1) };
    rig.event(Event::User(Intent::Start));
    rig.event(Event::Host(HostEvent::Connecting(REACHED)));
    assert_eq!(lose(&mut rig), None);
}
