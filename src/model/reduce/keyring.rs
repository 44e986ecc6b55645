//! What the system's keyring has for an agent, by the names of variables: said when it is used, kept or removed.
//!
//! Invariant: no value of one is ever here.

use super::{Cx, in_agent, in_each, notice};
use crate::model::Model;
use crate::model::agent::Agent;
use crate::model::effect::{Effect, FrontEnd};
use crate::model::entry::Level;
use crate::model::ids::AgentKey;

/// The agent is started with these variables.
pub fn gave(model: &mut Model, key: AgentKey, vars: Vec<String>, cx: &mut Cx) {
    tell(model, key, Level::Info, &format!("{} from the keyring", vars.join(", ")), cx);
    in_agent(model, key, cx, |agent, _| {
        let new: Vec<String> = vars.iter().filter(|name| !agent.env.contains(name)).cloned().collect();
        agent.env.extend(new);
        agent.kept = vars;
    });
}

pub fn took(model: &mut Model, key: AgentKey, vars: Vec<String>, fault: Option<String>, cx: &mut Cx) {
    let names = vars.join(", ");
    match fault {
        None => tell(model, key, Level::Info, &format!("kept in the keyring: {names}"), cx),
        Some(why) => {
            let words = format!("not kept in the keyring ({why}); for this run only: {names}");
            return tell(model, key, Level::Warn, &words, cx);
        }
    }
    in_agent(model, key, cx, |agent, _| {
        let new: Vec<String> = vars.into_iter().filter(|name| !agent.kept.contains(name)).collect();
        agent.kept.extend(new);
    });
}

/// The person logs out: what is kept is removed.
pub fn forget(agent: &Agent, cx: &mut Cx) {
    if !agent.kept.is_empty() {
        cx.push(Effect::ForgetKept);
    }
}

pub fn forgot(model: &mut Model, key: AgentKey, fault: Option<String>, cx: &mut Cx) {
    let Some(agent) = model.agents.get(&key) else { return };
    let (names, is_all) = (agent.kept.join(", "), !agent.caps.log_out);
    match &fault {
        None => {
            let words =
                format!("removed from the keyring: {names}; an agent that runs has it until it is started again");
            tell(model, key, Level::Info, &words, cx);
        }
        Some(why) => tell(model, key, Level::Warn, &format!("not removed from the keyring ({why}): {names}"), cx),
    }
    in_agent(model, key, cx, |agent, cx| {
        if fault.is_none() {
            let kept = std::mem::take(&mut agent.kept);
            agent.env.retain(|name| !kept.contains(name));
        }
        // Else it is said when the agent has answered.
        if is_all {
            cx.push(Effect::FrontEnd(FrontEnd::LoggedOut(fault.map_or(Ok(()), Err))));
        }
    });
}

fn tell(model: &mut Model, key: AgentKey, level: Level, words: &str, cx: &mut Cx) {
    in_each(model, key, cx, |session, cx| {
        notice(session, level, words.to_owned(), Vec::new(), cx.now);
    });
}
