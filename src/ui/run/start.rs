//! Before there is a session: which agent, or which earlier session is to go on.
//!
//! Starts nothing. Invariant: the list is drawn before anything has been read for it.

use super::found::finding;
use super::{Exit, UiOptions, ask, hear};
use crate::ui::agent_picker::{AgentPicker, Picked};
use crate::ui::keys::{Action, Layer, resolve};
use crate::ui::past::{Found, Reader};
use crate::ui::screen::{Device, Happening, Screen};
use crate::ui::session_picker::SessionPicker;
use crate::ui::state::session_list::{Past, PastSession, Step};
use crate::ui::tty::Input;
use std::io;
use std::path::Path;

/// What came of the choice.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Pick {
    /// The id of an agent.
    Agent(String),
    /// An earlier session goes on.
    Session(Box<PastSession>),
    Ended(Exit),
}

enum Awaited {
    Person(Happening),
    Found(Found),
}

async fn next<D: Device>(screen: &mut Screen<D>, reader: &mut Reader) -> Awaited {
    tokio::select! {
        biased;
        happening = screen.next() => Awaited::Person(happening),
        found = reader.next() => Awaited::Found(found),
    }
}

/// Lets the person choose an agent, or an earlier session.
pub async fn pick<D: Device>(
    screen: &mut Screen<D>,
    mut picker: AgentPicker,
    options: &mut UiOptions,
    place: &str,
    here: &Path,
) -> io::Result<Pick> {
    ask(screen, options)?;
    let mut reader = Reader::new(options.past.clone());
    reader.list();
    loop {
        screen.draw(|buf| picker.draw(options.looks.theme(), place, buf))?;
        let mut input = match next(screen, &mut reader).await {
            Awaited::Person(Happening::Signal(signal)) => return Ok(Pick::Ended(Exit::Signal(signal))),
            Awaited::Person(Happening::Gone) => return Ok(Pick::Ended(Exit::TerminalGone)),
            Awaited::Person(Happening::Input(input)) => Some(input),
            Awaited::Found(Found::List(Ok(all), trees, _)) => {
                picker.told(&all, &trees, here);
                None
            }
            Awaited::Found(_) => None,
        };
        while let Some(one) = input {
            if is_suspend(&one) {
                screen.suspend()?;
            }
            hear(screen, options, &one)?;
            match picker.input(one) {
                Some(Picked::Agent(id)) => return Ok(Pick::Agent(id)),
                Some(Picked::Quit) => return Ok(Pick::Ended(Exit::Quit)),
                Some(Picked::Session(past)) => match busy(options, &past) {
                    Some(why) => {
                        picker.note = Some(why);
                        input = screen.ready();
                    }
                    None => return Ok(Pick::Session(past)),
                },
                Some(Picked::Sessions) => {
                    match choose(screen, options, here, false).await? {
                        // Esc: back to the agents.
                        Pick::Ended(Exit::Quit) => {}
                        other => return Ok(other),
                    }
                    input = None;
                }
                None => input = screen.ready(),
            }
        }
    }
}

/// Lets the person choose an earlier session. Its command is not asked about when the person has named an agent.
pub async fn choose<D: Device>(
    screen: &mut Screen<D>,
    options: &mut UiOptions,
    here: &Path,
    is_named: bool,
) -> io::Result<Pick> {
    ask(screen, options)?;
    let mut reader = Reader::new(options.past.clone());
    let past = if reader.list() { Past::Reading } else { Past::None };
    let mut picker = SessionPicker::new(here.to_owned(), past, is_named);
    loop {
        screen.draw(|buf| picker.draw(options.looks.theme(), options.home.as_deref(), buf))?;
        screen.weigh(picker.list.wants_a_yes());
        if let Some(past) = picker.wants_end() {
            reader.end_of(past);
        }
        let mut input = match next(screen, &mut reader).await {
            Awaited::Person(Happening::Signal(signal)) => return Ok(Pick::Ended(Exit::Signal(signal))),
            Awaited::Person(Happening::Gone) => return Ok(Pick::Ended(Exit::TerminalGone)),
            Awaited::Person(Happening::Input(input)) => Some(input),
            Awaited::Found(Found::List(Ok(all), trees, unread)) => {
                picker.list.trees = trees;
                picker.list.says_unread(unread);
                picker.list.told(Past::Read(all));
                None
            }
            Awaited::Found(Found::List(Err(why), ..)) => {
                picker.list.told(Past::Failed(why));
                None
            }
            Awaited::Found(Found::Forgotten(_, done)) => {
                match done {
                    Ok(()) => drop(reader.list()),
                    Err(why) => picker.list.note = Some(format!("not forgotten: {why}")),
                }
                None
            }
            Awaited::Found(Found::End(which, read)) => {
                picker.list.previews.told(which, read);
                None
            }
            Awaited::Found(Found::Hits(query, found)) => {
                picker.list.found(&query, finding(found));
                None
            }
            Awaited::Found(Found::Renamed(_, _, done)) => {
                match done {
                    Ok(()) => drop(reader.list()),
                    Err(why) => picker.list.note = Some(format!("not named: {why}")),
                }
                None
            }
            Awaited::Found(Found::Exported(done)) => {
                picker.list.note =
                    Some(done.map_or_else(|why| format!("not exported: {why}"), |file| format!("written to {file}")));
                None
            }
            Awaited::Found(Found::Decided(Ok(words) | Err(words))) => {
                picker.list.note = Some(words);
                None
            }
            // No agent runs that could tell anything or delete it, and none is made a worktree for.
            Awaited::Found(
                Found::Learnt(_) | Found::Made(..) | Found::Spent(_) | Found::Held(..) | Found::Standing(..),
            ) => None,
        };
        while let Some(one) = input {
            if is_suspend(&one) {
                screen.suspend()?;
            }
            hear(screen, options, &one)?;
            match picker.input(one) {
                Step::Close => return Ok(Pick::Ended(Exit::Quit)),
                Step::GoOn(past) => match busy(options, &past) {
                    Some(why) => picker.list.note = Some(why),
                    None => {
                        options.place = picker.list.take_place();
                        return Ok(Pick::Session(past));
                    }
                },
                Step::Forget(past) => reader.forget(*past),
                Step::Rename(which, name) => reader.rename(which, name),
                Step::Export(which) => reader.export(which),
                Step::Tree(tree, fate) => reader.decide(tree, fate),
                Step::Find(query) => reader.find(query),
                // No copy is opened where no agent runs.
                Step::Stay | Step::Reached | Step::Go(_) | Step::Fork(_) | Step::ForkOpen(_) | Step::Other => {}
            }
            input = screen.ready();
        }
    }
}

/// Why a session cannot go on at this moment.
fn busy(options: &UiOptions, past: &PastSession) -> Option<String> {
    options.past.as_ref().and_then(|archive| archive.busy(past))
}

fn is_suspend(input: &Input) -> bool {
    matches!(input, Input::Key(key) if resolve(Layer::Picker, *key) == Some(Action::Suspend))
}
