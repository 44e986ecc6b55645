//! Agents that are served in turn.

use super::*;
use crate::agent::codec;
use crate::engine::link::{Agent, memory};
use crate::engine::reviewing::tests::{engine, place};
use crate::engine::run::Wake;
use crate::model::event::Timer;
use crate::model::ids::Address;

const A: AgentKey = AgentKey::FIRST;
const B: AgentKey = AgentKey(1);

/// Sends without an end.
async fn flood(mut agent: Agent) {
    while agent.lines.send_line(r#"{"jsonrpc":"2.0","method":"_x"}"#).await.is_ok() {}
}

/// Two agents that have both filled what is read ahead of us.
async fn two_floods() -> Links {
    let connect = |_| {
        let (link, agent) = memory();
        tokio::spawn(flood(agent));
        link
    };
    let mut links = Links::new(AgentSetup::default(), Some(Box::new(connect)), Graces::default());
    links.add(B, None);
    let words = codec::shipped().word_for_word();
    for agent in [A, B] {
        links.start(agent, PathBuf::new(), words);
    }
    while [A, B].iter().any(|agent| links.running(*agent).unwrap().incoming.len() < 8) {
        tokio::task::yield_now().await;
    }
    links
}

#[tokio::test]
async fn a_flood_of_one_agent_keeps_no_other_waiting() {
    let mut links = two_floods().await;
    let mut served = Vec::new();
    for _ in 0..4 {
        let (agent, wake) = links.next().await;
        assert!(matches!(wake, LinkWake::Incoming(_)), "{wake:?}");
        served.push(agent);
    }
    for _ in 0..4 {
        served.push(links.ready().unwrap().0);
    }
    assert_eq!(served, [B, A, B, A, B, A, B, A]);
}

#[tokio::test]
async fn what_is_due_does_not_wait_for_the_end_of_a_flood() {
    let place = place();
    let mut engine = engine(&place, "", None);
    engine.links = two_floods().await;
    engine.timers.start(Address::Agent(A), Timer::ExplainStray, Duration::ZERO);
    loop {
        let wake = engine.next().await;
        let is_flood = matches!(wake, Wake::Link(..));
        engine.step(wake);
        if is_flood {
            break;
        }
    }
    assert!(engine.timers.is_empty());
    engine.shutdown().await;
}

#[tokio::test]
async fn an_agent_that_is_not_configured_is_not_started() {
    let mut links = Links::new(AgentSetup::default(), None, Graces::default());
    links.add(B, None);
    let words = codec::shipped().word_for_word();
    let told = links.start(B, PathBuf::new(), words);
    assert!(matches!(told, HostEvent::SpawnFailed { message, .. } if message.contains("configured")));
}
