//! The prompts that wait, as a list that the person changes.
//!
//! Invariant: none is lost but by the person's own wish; those that are not named stay in their order.

use super::super::effect::{Effect, FrontEnd};
use super::super::event::QueueAct;
use super::super::session::{HeldPrompt, Session};
use super::{Cx, prompt};

/// All but sending one now, which is the agent's business, too.
pub fn act(session: &mut Session, act: QueueAct, cx: &mut Cx) {
    match act {
        QueueAct::Edit(at) => {
            if let Some(held) = session.held.take_out(at) {
                cx.push(Effect::FrontEnd(FrontEnd::Returned(held.text)));
            }
        }
        QueueAct::Drop(at) => drop(session.held.remove(at)),
        QueueAct::Up(at) => swap(session, at.checked_sub(1), at),
        QueueAct::Down(at) => swap(session, Some(at), at.saturating_add(1)),
        QueueAct::PutBack => session.held.put_back(),
        QueueAct::LetGo => prompt::let_go(session, cx),
        QueueAct::Restore(texts) => session.held.restore(texts),
        QueueAct::Send(_) => {}
    }
}

fn swap(session: &mut Session, above: Option<usize>, below: usize) {
    if let Some(above) = above {
        session.held.swap(above, below);
    }
}

/// Takes one out to be given to the turn that runs. Without one it is the next to be sent.
pub fn for_now(session: &mut Session, at: usize, cx: &mut Cx) -> Option<HeldPrompt> {
    let held = session.held.remove(at)?;
    if session.turn.is_some() {
        return Some(held);
    }
    session.held.add_first(held.kind, held.text, held.links);
    prompt::send_next(session, cx);
    None
}
