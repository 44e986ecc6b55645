//! Whom to tell what when nobody looks at the screen: what the sessions want, as news and as one state of the program.
//!
//! Decides only; how it is told is the terminal's (`tty::outside`). Invariants: nothing is told twice; who looks at the
//! screen is told of long turns alone; what is told is one clean line.

use super::labels;
use super::state::App;
use super::state::attention::Attention;
use super::state::session_view::SessionView;
use crate::base::{human, sanitize};
use crate::model::Model;
use crate::model::effect::Ended;
use crate::model::event::Stop;
use crate::model::ids::{Now, SessionKey, TurnId};
use crate::model::question::{About, Waiting};
use crate::model::session::Phase;
use crate::model::session_ref::SessionRef;
use crate::text::width;
use std::collections::BTreeMap;
use std::time::Duration;

/// The end of a turn as long as this, or a question in it, is told also to a person who looks at the screen.
pub const LONG_TURN: Duration = Duration::from_secs(10);
/// Questions of one session that follow one another so soon are told once.
pub const BURST: Duration = Duration::from_secs(3);
/// Columns of a session's name.
const NAME: usize = 60;

/// What an agent wants of the person.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Asks {
    Permission,
    Question,
    LogIn,
}

/// What has happened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum News {
    Asks(Asks),
    /// A turn has ended after so long.
    Done(Duration),
    /// It has ended otherwise than the person expects.
    Failed(Duration),
    Died,
}

/// What the person is to be told.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Notice {
    pub session: SessionKey,
    pub title: String,
    pub body: String,
}

/// What all sessions together are at.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Status {
    #[default]
    Idle,
    Working,
    Blocked(Asks),
    /// A turn has ended that the person has not seen.
    Done,
    Failed,
}

#[derive(Clone, Copy, Default)]
struct Seen {
    /// When the newest of its questions was asked.
    asked: Option<Now>,
    logs_in: bool,
    turn: Option<(TurnId, Now)>,
    is_dead: bool,
    /// When the person was told of a question last.
    told: Option<Now>,
}

/// What is known of the sessions, and whether the person looks.
#[derive(Default)]
pub struct Watch {
    seen: BTreeMap<SessionKey, Seen>,
    /// The terminal has told that another window has the keyboard.
    is_away: bool,
    /// A turn has ended since.
    has_unseen: bool,
}

impl Watch {
    /// The window has gained or lost the keyboard.
    pub fn focus(&mut self, has_it: bool) {
        self.is_away = !has_it;
        if has_it {
            self.has_unseen = false;
        }
    }

    /// What has happened since the last look, as far as the person is to be told.
    pub fn look(&mut self, model: &Model, app: &App, now: Now) -> Vec<Notice> {
        self.seen.retain(|key, _| app.has_view(*key));
        let mut notices = Vec::new();
        for (key, view) in app.views() {
            let Some(session) = model.at(key) else { continue };
            let before = self.seen.get(&key).copied().unwrap_or_default();
            let mut seen = see(session);
            seen.told = before.told;
            let news = news(before, seen, session, now);
            if matches!(news, Some(News::Done(_) | News::Failed(_))) && self.is_away {
                self.has_unseen = true;
            }
            let turn = seen.turn.or(before.turn);
            let is_long = turn.is_some_and(|(_, started)| now.saturating_sub(started) >= LONG_TURN);
            let is_burst =
                matches!(news, Some(News::Asks(_))) && before.told.is_some_and(|told| now.saturating_sub(told) < BURST);
            if let Some(news) = news.filter(|_| (self.is_away || is_long) && !is_burst) {
                if matches!(news, News::Asks(_)) {
                    seen.told = Some(now);
                }
                notices.push(Notice { session: key, title: title(session, view), body: body(news) });
            }
            self.seen.insert(key, seen);
        }
        notices
    }

    /// What all of it comes to.
    pub fn status(&self, model: &Model, app: &App) -> Status {
        let views = app.views();
        let all = || views.iter().filter_map(|(key, view)| Some((model.at(*key)?, *view)));
        let is = |wanted: Attention| all().any(|(session, view)| Attention::of(session, view) == wanted);
        if let Some(asks) = all().find_map(|(session, _)| asks(session)) {
            return Status::Blocked(asks);
        }
        if is(Attention::Works) || is(Attention::Starts) {
            Status::Working
        } else if is(Attention::Died) || is(Attention::Refused) {
            Status::Failed
        } else if self.has_unseen || is(Attention::Done) {
            Status::Done
        } else {
            Status::Idle
        }
    }
}

fn see(session: SessionRef<'_>) -> Seen {
    Seen {
        asked: session.questions().iter().map(|question| question.at).max(),
        logs_in: asks(session) == Some(Asks::LogIn),
        turn: session.turn.as_ref().map(|turn| (turn.id, turn.started)),
        is_dead: matches!(session.phase(), Phase::Dead(_)),
        told: None,
    }
}

fn asks(session: SessionRef<'_>) -> Option<Asks> {
    let first = session.waiting().next().map(|waiting| match waiting {
        Waiting::LogIn(_) => Asks::LogIn,
        Waiting::Question(question) => match question.about {
            About::Asked { .. } => Asks::Question,
            About::Permission | About::Read(_) | About::Write | About::Run(_) => Asks::Permission,
        },
    });
    first.or_else(|| session.waits_for_person().then_some(Asks::Question))
}

fn news(before: Seen, seen: Seen, session: SessionRef<'_>, now: Now) -> Option<News> {
    if seen.is_dead && !before.is_dead {
        return Some(News::Died);
    }
    if seen.asked > before.asked || seen.logs_in && !before.logs_in {
        return asks(session).map(News::Asks);
    }
    let (_, started) = before.turn.filter(|_| seen.turn.is_none())?;
    let ended = session.ended.as_ref().filter(|ended| !ended.by_person)?;
    let after = now.saturating_sub(started);
    Some(match &ended.ended {
        Ended::Stopped(result) if result.stop == Stop::EndTurn => News::Done(after),
        _ => News::Failed(after),
    })
}

fn title(session: SessionRef<'_>, view: &SessionView) -> String {
    let name = view.name.as_deref().or(session.title.as_deref());
    let name = name.or_else(|| session.cwd.rsplit('/').find(|part| !part.is_empty())).unwrap_or("/");
    format!("{}: {}", labels::agent(session), width::truncate(sanitize::line(name).trim(), NAME))
}

fn body(news: News) -> String {
    match news {
        News::Asks(Asks::Permission) => "asks whether it may go on".to_owned(),
        News::Asks(Asks::Question) => "asks you something".to_owned(),
        News::Asks(Asks::LogIn) => "wants you to log in".to_owned(),
        News::Done(after) => format!("has ended its turn after {}", human::duration(after)),
        News::Failed(after) => format!("has broken off its turn after {}", human::duration(after)),
        News::Died => "has ended".to_owned(),
    }
}

#[cfg(test)]
#[path = "notify_tests.rs"]
mod tests;
