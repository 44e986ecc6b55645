//! What the loop does with sessions: further ones are opened, earlier ones listed, gone on with and forgotten.
//!
//! Holds nothing of its own. Invariant: what was opened last is shown, and what cannot be done is said where it was asked
//! for.

use super::found::{finding, place_in};
use super::{Running, forgetting};
use crate::engine::AgentSetup;
use crate::model::Model;
use crate::model::agent::Connection;
use crate::model::event::{Intent, Opening};
use crate::model::ids::{Address, AgentKey, SessionId, SessionKey};
use crate::model::session::{Closed, Phase, ReadOnly, Session, SessionState};
use crate::model::session_ref::SessionRef;
use crate::ui::frame::Urgency;
use crate::ui::keys::Layer;
use crate::ui::labels::{self, GoesOn};
use crate::ui::past::Found;
use crate::ui::screen::Device;
use crate::ui::state::App;
use crate::ui::state::near;
use crate::ui::state::opener::{Files, NewSession, Whose};
use crate::ui::state::picker::{Picker, Purpose};
use crate::ui::state::scroll::Scroll;
use crate::ui::state::session_list::{Past, PastSession, Starts, Which};
use crate::ui::state::session_view::SessionView;
use crate::ui::state::trees::{Made, MadeFor, Making};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tracing::warn;

impl<D: Device> Running<D> {
    pub(super) fn list_agents(&mut self, purpose: Purpose) {
        let Some(shown) = self.engine.model().at(self.app.shown()) else { return };
        let mut running = vec![(shown.agent_key(), labels::agent(shown), &*shown.agent().command)];
        let others = self.engine.model().agents().filter(|(key, agent)| *key != shown.agent_key() && agent.is_up());
        let configured = &self.options.agents;
        running.extend(others.map(|(key, agent)| (key, labels::whom(agent, configured), &*agent.command)));
        self.app.picker = Some(Picker::agents(purpose, &running, &configured()));
    }

    /// Opens a further session and shows it. What cannot be is said where it was typed.
    pub(super) fn open(&mut self, wanted: &NewSession) {
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
        if wanted.files == Files::Shared {
            self.open_in(directory, wanted.whose.clone(), Opening::New);
            return self.app.opener = None;
        }
        let with_changes = wanted.files == Files::Uncommitted;
        let made_for = MadeFor::Session(wanted.whose.clone());
        let is_making = self.past.make(Making { dir: PathBuf::from(directory), with_changes, made_for });
        if let Some(opener) = &mut self.app.opener {
            opener.is_making = is_making;
            opener.trouble = (!is_making).then(|| "there is no directory for worktrees".to_owned());
        }
    }

    /// One prompt goes to several agents, each in a worktree that begins with the same files.
    pub(super) fn fan_out(&mut self, agents: Vec<String>, text: String) {
        let Some(shown) = self.engine.model().at(self.app.shown()) else { return };
        let dir = PathBuf::from(&shown.cwd);
        let configured = (self.options.agents)();
        let unknown = agents.iter().find(|name| !configured.iter().any(|(one, _)| one == *name));
        let words = match unknown {
            Some(name) => {
                let known: Vec<&str> = configured.iter().map(|(name, _)| name.as_str()).collect();
                let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                self.app.view.composer.set_text(&format!("/fan-out {} {text}", agents.join(",")));
                format!("there is no agent `{name}` here; found: {known}")
            }
            None => {
                let made_for = MadeFor::Prompt { agents, text };
                self.past.make(Making { dir, with_changes: true, made_for });
                "making a worktree for each…".to_owned()
            }
        };
        self.app.say(words, self.engine.now());
    }

    /// Worktrees were made, or could not be: what they were made for begins.
    fn made(&mut self, making: Making, made: Result<Vec<Made>, String>) {
        let now = self.engine.now();
        let made = match (made, &mut self.app.opener) {
            (Ok(made), _) => made,
            (Err(why), Some(opener)) if opener.is_making => {
                opener.is_making = false;
                return opener.trouble = Some(why);
            }
            (Err(why), _) => return self.app.say(format!("no worktree: {why}"), now),
        };
        let remarks: Vec<String> = made.iter().flat_map(|one| one.remarks.clone()).collect();
        match making.made_for {
            MadeFor::Session(whose) => {
                // A person who has left meanwhile finds it in the list.
                self.app.opener = None;
                for one in made {
                    self.open_below(&one.cwd, whose.clone());
                }
                self.app.say(remarks.join(" · "), now);
            }
            MadeFor::Prompt { agents, text } => {
                for (name, one) in agents.into_iter().zip(made) {
                    if let Some(key) = self.open_below(&one.cwd, Whose::Configured(name)) {
                        let text = text.clone();
                        let news = self.engine.intent_in(key, Intent::Prompt { text, links: Vec::new() });
                        self.news(news);
                    }
                }
                let words = self
                    .app
                    .keys
                    .say(Layer::Composer, "they work in worktrees of their own · {F8} shows how far they are");
                self.app.say(words, now);
            }
        }
        self.read_sessions();
    }

    /// A new session in a worktree.
    fn open_below(&mut self, cwd: &Path, whose: Whose) -> Option<SessionKey> {
        let Some(cwd) = cwd.to_str() else {
            self.app.say("the name of the worktree's directory is no text", self.engine.now());
            return None;
        };
        self.open_in(cwd.to_owned(), whose, Opening::New);
        Some(self.app.shown())
    }

    /// Opens a session and shows it.
    pub(super) fn open_in(&mut self, cwd: String, whose: Whose, how: Opening) {
        let before = self.engine.model().sessions().count();
        let left = self.engine.model().at(self.app.shown()).map_or(0, |session| session.held.len());
        let news = match whose {
            Whose::Running(agent) => self.engine.intent_to(agent.into(), Intent::OpenSession { cwd, how }),
            Whose::Configured(command) => self
                .engine
                .intent_to(Address::All, Intent::AddAgent { command, env: Vec::new(), cwd, how, protocol: None }),
        };
        self.news(news);
        let now = self.engine.now();
        self.app.sync(self.engine.model(), now);
        if let Some((key, _)) = self.engine.model().sessions().nth(before) {
            self.app.show(key);
            if left > 0 {
                let waits = if left == 1 { "1 prompt waits".to_owned() } else { format!("{left} prompts wait") };
                let back = self.app.keys.say(Layer::Composer, " · {F8} leads back");
                self.app.say(format!("{waits} in the session before{back}"), now);
            }
        }
    }

    /// Shows a session and goes to what it asks.
    pub(super) fn visit(&mut self, key: SessionKey) {
        if self.take_over(key) {
            return;
        }
        let now = self.engine.now();
        if self.app.show(key) {
            self.app.sync(self.engine.model(), now);
            self.app.to_question();
        }
    }

    /// One that is only shown since it was open elsewhere goes on here once it is not open there any more.
    fn take_over(&mut self, key: SessionKey) -> bool {
        let model = self.engine.model();
        let why = model.session_of(key).and_then(Session::read_only);
        let Past::Read(all) = &self.app.past else { return false };
        let past = all.iter().find(|past| session_of(model, past) == Some(key));
        let Some(past) = past.filter(|_| matches!(why, Some(ReadOnly::Elsewhere(_)))).cloned() else { return false };
        if self.past.archive().is_none_or(|archive| archive.claim(&past).is_err()) {
            return false;
        }
        let before = self.engine.model().sessions().count();
        self.open_past(&past, Opening::Continue(SessionId::from(past.id.as_str())));
        let is_open = self.engine.model().sessions().count() > before;
        if is_open {
            self.app.carry_words(key, self.app.shown());
            self.close(key);
        }
        is_open
    }

    /// Has the earlier sessions read, for the list or for the first screen.
    pub(super) fn read_sessions(&mut self) {
        if !self.past.list() {
            self.past_is(Past::None);
        }
    }

    /// For the list that is open, and for the next one.
    fn past_is(&mut self, past: Past) {
        if let Some(list) = &mut self.app.list {
            list.told(past.clone());
        }
        self.app.past = past;
    }

    /// What has been read of earlier sessions, or forgotten of one.
    pub(super) fn found(&mut self, found: Found) {
        match found {
            Found::List(Ok(all), trees, unread) => {
                self.app.interrupted = near::interrupted(&all, &trees);
                self.app.trees = trees;
                self.named(&all);
                if let Some(list) = &mut self.app.list {
                    list.trees = Arc::clone(&self.app.trees);
                    list.says_unread(unread);
                }
                self.past_is(Past::Read(all));
            }
            Found::List(Err(why), ..) => {
                warn!(%why, "earlier sessions cannot be read");
                self.past_is(Past::Failed(why));
            }
            Found::Held(past, why) => forgetting::may_go(self, *past, why),
            Found::Forgotten(_, Ok(())) => {
                self.app.say("the session is forgotten", self.engine.now());
                self.read_sessions();
            }
            Found::Spent(amount) => self.engine.spent(amount),
            Found::Standing(at, standing) => self.app.standing.told(at, standing),
            Found::Forgotten(_, Err(why)) => self.refuse(format!("not forgotten: {why}")),
            Found::End(which, read) => {
                if let Some(list) = &mut self.app.list {
                    list.previews.told(which, read);
                }
            }
            Found::Hits(query, found) => {
                if let Some(list) = &mut self.app.list {
                    list.found(&query, finding(found));
                }
            }
            Found::Renamed(which, name, Ok(())) => {
                if let Some(key) = session_named(self.engine.model(), &which)
                    && let Some(view) = self.app.view_of(key)
                {
                    view.name.clone_from(&name);
                    if let Some(title) = name.filter(|_| self.options.unstable) {
                        let news = self.engine.intent_in(key, Intent::SetTitle { title });
                        self.news(news);
                    }
                }
                self.read_sessions();
            }
            Found::Renamed(_, _, Err(why)) => self.refuse(format!("not named: {why}")),
            Found::Exported(Ok(file)) => self.refuse(format!("written to {file}")),
            Found::Exported(Err(why)) => self.refuse(format!("not exported: {why}")),
            Found::Made(making, made) => self.made(*making, made),
            Found::Decided(Ok(words)) => self.refuse(words),
            Found::Decided(Err(why)) => self.refuse(why),
            // It is asked again when it is wanted.
            Found::Learnt(Err(why)) => warn!(%why, "what an agent keeps is not remembered"),
            Found::Learnt(Ok(())) => {}
        }
        self.frames.want(Urgency::NextFrame, self.engine.now());
    }

    /// Sessions that are open here bear the names that the person has given them.
    fn named(&mut self, all: &[PastSession]) {
        for one in all.iter().filter(|one| one.is_named) {
            if let Some(key) = session_of(self.engine.model(), one)
                && let Some(view) = self.app.view_of(key)
            {
                view.name.clone_from(&one.title);
            }
        }
    }

    /// Has found out what is to be said of the directory of a session that begins, once that is on the screen.
    pub(super) fn look_around(&mut self) {
        let Some(shown) = self.engine.model().at(self.app.shown()).filter(|_| self.info.is_first) else { return };
        if self.app.standing.wants(shown.key()) {
            self.past.stand(shown.key(), PathBuf::from(&shown.cwd));
        }
    }

    /// Has the end of the session read that is chosen in the list, when there is room for it.
    pub(super) fn preview(&mut self) {
        let wanted = self.app.list.as_mut().and_then(|list| list.wants_end(self.info.list.has_preview));
        if let Some(past) = wanted {
            self.past.end_of(past);
        }
    }

    /// Goes to a place of the session that is shown, once all of it is there.
    pub(super) fn go_to_place(&mut self) {
        let Some(place) = &self.app.view.place else { return };
        let Some(session) = self.engine.model().at(self.app.shown()) else { return };
        match &session.state {
            SessionState::Ready => {}
            // What is only shown comes from the journals.
            SessionState::Closed(Closed::ReadOnly(_)) if session.is_recalled() => {}
            SessionState::Closed(Closed::ReadOnly(_)) => return,
            SessionState::Closed(_) => return self.app.view.place = None,
            _ => return,
        }
        match place_in(session.session(), place) {
            Some(entry) => self.app.view.scroll = Scroll::at(entry),
            None => self.app.say("what was found is not in what is shown", self.engine.now()),
        }
        self.app.view.place = None;
    }

    /// A copy of a session that is open here is opened, as one more.
    pub(super) fn fork_open(&mut self, key: SessionKey) {
        let Some(session) = self.engine.model().at(key) else { return };
        let Some(id) = session.id.clone() else { return };
        let (cwd, whose) = (session.cwd.clone(), Whose::Running(session.agent_key()));
        self.app.list = None;
        self.open_in(cwd, whose, Opening::Copy(id));
    }

    /// To the question of a session, below the list.
    pub(super) fn answer_below(&mut self, key: SessionKey) {
        let now = self.engine.now();
        if self.app.go_below(key) {
            self.app.sync(self.engine.model(), now);
            self.app.to_question();
        }
    }

    /// Says in the list what came of something there.
    pub(super) fn refuse(&mut self, why: String) {
        match &mut self.app.list {
            Some(list) => list.note = Some(why),
            None => self.app.say(why, self.engine.now()),
        }
    }

    /// An earlier session goes on as one more: of the agent that runs already, else of its own.
    pub(super) fn go_on(&mut self, past: &PastSession) {
        if let Some(key) = session_of(self.engine.model(), past) {
            return self.visit(key);
        }
        if let Some(why) = self.past.archive().and_then(|archive| archive.busy(past)) {
            return self.refuse(why);
        }
        self.open_past(past, Opening::Continue(SessionId::from(past.id.as_str())));
    }

    /// A copy of an earlier session is opened, as one more.
    pub(super) fn copy(&mut self, past: &PastSession) {
        self.open_past(past, Opening::Copy(SessionId::from(past.id.as_str())));
    }

    fn open_past(&mut self, past: &PastSession, how: Opening) {
        let model = self.engine.model();
        let of = |command: &str| model.agents().find(|(_, agent)| !agent.is_dead() && agent.command == command);
        let running = past.commands().find_map(of).map(|(key, _)| Whose::Running(key));
        let Some(cwd) = past.cwd.to_str().map(str::to_owned) else {
            return self.refuse("the name of its directory is no text".to_owned());
        };
        let is_gone = past.is_gone || !past.cwd.is_dir();
        if is_gone && (past.journals.is_empty() || !matches!(how, Opening::Continue(_))) {
            return self.refuse("its directory is gone".to_owned());
        }
        let whose = match (running, &past.starts) {
            (Some(running), _) => running,
            (None, Starts::Configured(name)) => Whose::Configured(name.clone()),
            (None, Starts::Recorded(words)) => {
                let Some((command, args)) = words.split_first() else { return };
                let setup = AgentSetup::recorded(command, args, &past.cwd);
                // No configured agent has such a name.
                let name = format!("\0{}", past.command);
                self.engine.offer(name.clone(), setup);
                Whose::Configured(name)
            }
            (None, Starts::Unknown) => return self.refuse("how its agent is started is not known".to_owned()),
        };
        self.app.list = None;
        let id = SessionId::from(past.id.as_str());
        if is_gone {
            let why = ReadOnly::gone(self.app.trees.origins.discarded(&past.cwd));
            return self.open_in(cwd, whose, Opening::Show { id, why });
        }
        // A copy is a session of its own: no other client has it open.
        let goes_on = matches!(how, Opening::Continue(_));
        let archive = self.past.archive().filter(|_| goes_on);
        let (how, lease) = match archive.map(|archive| archive.claim(past)) {
            Some(Err(place)) => (Opening::Show { id, why: ReadOnly::Elsewhere(place) }, None),
            Some(Ok(lease)) => (how, lease),
            None => (how, None),
        };
        if let (Whose::Running(agent), false) = (&whose, matches!(how, Opening::Show { .. })) {
            self.wake(*agent);
        }
        let before = self.app.shown();
        self.open_in(cwd, whose, how);
        self.leases.extend(lease.map(|lease| (self.app.shown(), lease)));
        if goes_on && self.app.shown() != before {
            self.leave_empty(before);
        }
    }

    /// Starts an agent that does not run.
    pub(super) fn wake(&mut self, agent: AgentKey) {
        let intent = match self.engine.model().agent_of(agent).map(|agent| &agent.connection) {
            Some(Connection::NotStarted) => Intent::Start,
            Some(Connection::Dead(_)) => Intent::Restart,
            _ => return,
        };
        let news = self.engine.intent_to(agent.into(), intent);
        self.news(news);
    }

    /// A session in which nothing was said or written is not kept beside the one that the person has gone on with.
    fn leave_empty(&mut self, key: SessionKey) {
        let is_empty = |session: SessionRef<'_>| {
            let waits = session.turn.is_some() || !session.held.is_empty() || session.waits_for_person();
            // Its agent may take a while to start: there is no more in it then.
            let is_there = matches!(session.phase(), Phase::Ready | Phase::Starting { .. } | Phase::Opening { .. });
            is_there && session.is_untouched() && !waits && session.terminals().next().is_none()
        };
        let writes = |view: &mut SessionView| !view.composer.is_empty() || !view.stash.is_empty();
        if self.engine.model().at(key).is_some_and(is_empty) && !self.app.view_of(key).is_some_and(writes) {
            self.close(key);
        }
    }

    fn close(&mut self, key: SessionKey) {
        let news = self.engine.intent_in(key, Intent::CloseSession);
        self.news(news);
        let now = self.engine.now();
        self.app.sync(self.engine.model(), now);
    }
}

/// The sessions that are open and that their agents can take up again.
pub(super) fn can_go_on(model: &Model, app: &App) -> Vec<GoesOn> {
    let open = model.sessions().filter(|(_, session)| session.state != SessionState::Closed(Closed::ByPerson));
    open.filter_map(|(key, _)| labels::goes_on(model.at(key)?, app.name_of(key))).collect()
}

/// The session that is open here already.
fn session_of(model: &Model, past: &PastSession) -> Option<SessionKey> {
    let is_it = |(_, session): &(SessionKey, &Session)| {
        session.state != SessionState::Closed(Closed::ByPerson)
            && session.known_id().is_some_and(|id| id.as_str() == past.id)
            && model.agent_of(session.agent).is_some_and(|agent| past.is_of(&agent.command))
    };
    model.sessions().find(is_it).map(|(key, _)| key)
}

fn session_named(model: &Model, which: &Which) -> Option<SessionKey> {
    let is_it = |(_, session): &(SessionKey, &Session)| {
        session.id.as_ref().is_some_and(|id| id.as_str() == which.id)
            && model.agent_of(session.agent).is_some_and(|agent| agent.command == which.command)
    };
    model.sessions().find(is_it).map(|(key, _)| key)
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
