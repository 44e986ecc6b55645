//! How every test of a session begins.

use super::event::{AgentEvent, Event, InitResult, Intent, SessionResult};
use super::ids::SessionId;

/// From the start to a session that the agent calls `s`.
pub fn opening() -> [Event; 3] {
    let opened =
        SessionResult { id: SessionId::from("s"), modes: None, options: None, model: None, commands: None, earlier: 0 };
    [
        Event::User(Intent::Start),
        Event::Agent(AgentEvent::Initialized(Ok(InitResult::default()))),
        Event::Agent(AgentEvent::SessionOpened(Ok(opened.into()))),
    ]
}

pub fn prompt() -> Event {
    Event::User(Intent::Prompt { text: "go".into(), links: Vec::new() })
}
