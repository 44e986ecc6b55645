//! What the loop does with sessions: further ones are opened, questions asked aside, earlier ones listed, gone on with
//! and forgotten.
//!
//! Holds nothing of its own. Invariant: what was opened last is shown, and what cannot be done is said where it was asked
//! for.

use super::Running;
use crate::engine::AgentSetup;
use crate::model::Model;
use crate::model::account;
use crate::model::agent::{Agent, Connection};
use crate::model::event::{Before, Can, Intent, Opening};
use crate::model::ids::{Address, AgentKey, SessionId, SessionKey};
use crate::model::session::{Closed, Phase, ReadOnly, Session, SessionState};
use crate::ui::frame::Urgency;
use crate::ui::labels;
use crate::ui::past::Found;
use crate::ui::screen::Device;
use crate::ui::state::aside::Aside;
use crate::ui::state::opener::{Wanted, Whose};
use crate::ui::state::picker::{Picker, Purpose};
use crate::ui::state::session_list::{Earlier, End, Past, Starts};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tracing::warn;

impl<D: Device> Running<D> {
    pub(super) fn list_agents(&mut self, purpose: Purpose) {
        let Some(shown) = self.engine.model().at(self.app.shown()) else { return };
        self.app.picker =
            Some(Picker::agents(purpose, shown.agent_key(), &labels::agent(shown), (self.options.agents)()));
    }

    /// Opens a further session and shows it. What cannot be is said where it was typed.
    pub(super) fn open(&mut self, wanted: &Wanted) {
        let Some(shown) = self.engine.model().at(self.app.shown()) else { return };
        let directory = match directory(&wanted.directory, Path::new(&shown.cwd), self.options.home.as_deref()) {
            Ok(directory) => directory,
            Err(trouble) => {
                if let Some(opener) = &mut self.app.opener {
                    opener.trouble = Some(trouble);
                }
                return;
            }
        };
        self.open_in(directory, wanted.whose.clone(), Opening::New);
        self.app.opener = None;
    }

    /// Opens a session and shows it.
    fn open_in(&mut self, cwd: String, whose: Whose, how: Opening) {
        let before = self.engine.model().sessions().count();
        let news = match whose {
            Whose::Running(agent) => self.engine.intent_to(agent.into(), Intent::OpenSession { cwd, how }),
            Whose::Configured(command) => {
                self.engine.intent_to(Address::All, Intent::AddAgent { command, env: Vec::new(), cwd, how })
            }
        };
        self.news(news);
        let now = self.engine.now();
        self.app.sync(self.engine.model(), now);
        if let Some((key, _)) = self.engine.model().sessions().nth(before) {
            self.app.show(key, now);
        }
    }

    /// The conversation that is shown goes on as a new session of this agent. What it does now is stopped; an account of
    /// it is put into the new one's composer, for the person to send.
    pub(super) fn hand_over(&mut self, whose: Whose) {
        let Some(shown) = self.engine.model().at(self.app.shown()) else { return };
        let agent = labels::agent(shown);
        let account = account::of_session(shown.session(), self.engine.history(), &agent);
        let before = Before { session: shown.key(), id: shown.known_id().cloned(), agent };
        let cwd = shown.cwd.clone();
        if shown.turn.is_some() {
            self.intent(Intent::Cancel);
        }
        if let Whose::Running(agent) = whose {
            self.wake(agent);
        }
        self.open_in(cwd, whose, Opening::After(before));
        self.app.view.composer.set_text(&format!("{account}\n\n"));
    }

    /// Starts an agent that does not run.
    fn wake(&mut self, agent: AgentKey) {
        let intent = match self.engine.model().agent_of(agent).map(|agent| &agent.connection) {
            Some(Connection::NotStarted) => Intent::Start,
            Some(Connection::Dead(_)) => Intent::Restart,
            _ => return,
        };
        let news = self.engine.intent_to(agent.into(), intent);
        self.news(news);
    }

    /// Asks on a copy of the conversation where the agent makes one, else in a new session with an account of it.
    pub(super) fn ask_aside(&mut self, question: String) {
        self.throw_away();
        let Some(shown) = self.engine.model().at(self.app.shown()) else { return };
        if shown.phase() != Phase::Ready {
            return self.app.say("a side question needs a session that is open", self.engine.now());
        }
        let (beside, agent, cwd) = (shown.key(), shown.agent_key(), shown.cwd.clone());
        let from = shown.id.clone().filter(|_| shown.agent().can(Can::Fork));
        let text = match from {
            Some(_) => format!("A side question; answer it in a few words and change nothing: {question}"),
            None => {
                let account = account::of_session(shown.session(), self.engine.history(), &labels::agent(shown));
                format!("{account}\n\nA side question; answer it in a few words and change nothing:\n{question}")
            }
        };
        let before = self.engine.model().sessions().count();
        let how = Opening::Aside { beside, from };
        let news = self.engine.intent_to(agent.into(), Intent::OpenSession { cwd, how });
        self.news(news);
        let Some((key, _)) = self.engine.model().sessions().nth(before) else { return };
        let news = self.engine.intent_in(key, Intent::Prompt { text, links: Vec::new() });
        self.news(news);
        self.app.asides.open = Some(Aside { key, beside, question, scroll: 0 });
    }

    /// Nothing of it stays, with the agent neither where that can forget.
    pub(super) fn throw_away(&mut self) {
        let Some(aside) = self.app.asides.open.take() else { return };
        let Some(session) = self.engine.model().at(aside.key) else { return };
        let (id, agent, can_delete) = (session.id.clone(), session.agent_key(), session.agent().can(Can::Delete));
        let news = self.engine.intent_in(aside.key, Intent::CloseSession);
        self.news(news);
        if let Some(id) = id.filter(|_| can_delete) {
            self.app.asides.thrown_away = Some(id.clone());
            let news = self.engine.intent_to(agent.into(), Intent::DeleteSession { id });
            self.news(news);
        }
    }

    /// From now on it is a session like any other.
    pub(super) fn keep_aside(&mut self) {
        let Some(aside) = self.app.asides.open.take() else { return };
        let news = self.engine.intent_in(aside.key, Intent::KeepAside);
        self.news(news);
        let now = self.engine.now();
        self.app.sync(self.engine.model(), now);
        self.app.say("kept as a session of its own · Ctrl+PageDown goes there", now);
    }

    /// Shows a session and goes to what it asks.
    pub(super) fn visit(&mut self, key: SessionKey) {
        let now = self.engine.now();
        if self.app.show(key, now) {
            self.app.sync(self.engine.model(), now);
            self.app.to_question(now);
        }
    }

    /// Has the earlier sessions read, for the list or for the first screen.
    pub(super) fn read_sessions(&mut self) {
        if !self.past.list()
            && let Some(list) = &mut self.app.list
        {
            list.told(Past::None);
        }
    }

    /// What has been read of earlier sessions, or forgotten of one.
    pub(super) fn found(&mut self, found: Found) {
        match found {
            Found::List(Ok(all)) => {
                self.app.interrupted = interrupted(&all);
                if let Some(list) = &mut self.app.list {
                    let model = self.engine.model();
                    // What is open here stands above.
                    let others = all.iter().filter(|one| session_of(model, one).is_none()).cloned().collect();
                    list.told(Past::Read(others));
                }
            }
            Found::List(Err(why)) => {
                warn!(%why, "earlier sessions cannot be read");
                if let Some(list) = &mut self.app.list {
                    list.told(Past::Failed(why));
                }
            }
            Found::Forgotten(earlier, Ok(())) => {
                let model = self.engine.model();
                let is_its = |agent: &Agent| agent.is_up() && agent.command == earlier.command;
                let agent = model.agents().find(|(_, agent)| is_its(agent) && agent.can(Can::Delete));
                match agent.map(|(key, _)| key) {
                    Some(key) => {
                        let id = SessionId::from(earlier.id);
                        let news = self.engine.intent_to(key.into(), Intent::DeleteSession { id });
                        self.news(news);
                    }
                    None => self.app.say("the session is forgotten", self.engine.now()),
                }
                self.read_sessions();
            }
            Found::Forgotten(_, Err(why)) => self.refuse(format!("not forgotten: {why}")),
        }
        self.frames.want(Urgency::NextFrame, self.engine.now());
    }

    /// Says why something cannot be done with an earlier session.
    fn refuse(&mut self, why: String) {
        match &mut self.app.list {
            Some(list) => list.note = Some(why),
            None => self.app.say(why, self.engine.now()),
        }
    }

    /// An earlier session goes on as one more: of the agent that runs already, else of its own.
    pub(super) fn go_on(&mut self, earlier: &Earlier) {
        let model = self.engine.model();
        if let Some(key) = session_of(model, earlier) {
            return self.visit(key);
        }
        let running = model.agents().find(|(_, agent)| !agent.is_dead() && agent.command == earlier.command);
        let running = running.map(|(key, _)| Whose::Running(key));
        if let Some(why) = self.past.archive().and_then(|archive| archive.busy(earlier)) {
            return self.refuse(why);
        }
        let Some(cwd) = earlier.cwd.to_str().filter(|_| earlier.cwd.is_dir()).map(str::to_owned) else {
            return self.refuse("its directory is gone".to_owned());
        };
        let whose = match (running, &earlier.starts) {
            (Some(running), _) => running,
            (None, Starts::Configured(name)) => Whose::Configured(name.clone()),
            (None, Starts::Recorded(words)) => {
                let Some((command, args)) = words.split_first() else { return };
                let setup = AgentSetup { command: command.clone(), args: args.to_vec(), ..AgentSetup::default() };
                // No configured agent has such a name.
                let name = format!("\0{}", earlier.command);
                self.engine.offer(name.clone(), setup);
                Whose::Configured(name)
            }
            (None, Starts::Unknown) => return self.refuse("how its agent is started is not known".to_owned()),
        };
        self.app.list = None;
        let id = SessionId::from(earlier.id.as_str());
        let (how, held) = match self.past.archive().map(|archive| archive.claim(earlier)) {
            Some(Err(place)) => (Opening::Show { id, why: ReadOnly::Elsewhere(place) }, None),
            Some(Ok(held)) => (Opening::Continue(id), held),
            None => (Opening::Continue(id), None),
        };
        self.open_in(cwd, whose, how);
        self.held.extend(held.map(|held| (self.app.shown(), held)));
    }
}

/// The session that is open here already.
fn session_of(model: &Model, earlier: &Earlier) -> Option<SessionKey> {
    let is_it = |(_, session): &(SessionKey, &Session)| {
        session.state != SessionState::Closed(Closed::ByPerson)
            && session.known_id().is_some_and(|id| id.as_str() == earlier.id)
            && model.agent_of(session.agent).is_some_and(|agent| agent.command == earlier.command)
    };
    model.sessions().find(is_it).map(|(key, _)| key)
}

/// How many were interrupted in which directory.
pub(super) fn interrupted(all: &[Earlier]) -> BTreeMap<PathBuf, usize> {
    let mut counts = BTreeMap::new();
    for one in all.iter().filter(|one| one.end == End::Interrupted) {
        *counts.entry(one.cwd.clone()).or_default() += 1;
    }
    counts
}

/// The absolute directory that was typed: beside the session's, or below `~`.
fn directory(typed: &str, beside: &Path, home: Option<&Path>) -> Result<String, String> {
    let wanted = match (typed.strip_prefix("~"), home) {
        (Some(below), Some(home)) if below.is_empty() || below.starts_with('/') => {
            home.join(below.trim_start_matches('/'))
        }
        _ => beside.join(typed),
    };
    let found = wanted.canonicalize().map_err(|error| format!("{}: {error}", wanted.display()))?;
    if !found.is_dir() {
        return Err(format!("{}: not a directory", wanted.display()));
    }
    found.into_os_string().into_string().map_err(|_| "the name of that directory is no text".to_owned())
}
