//! What stands in the dock above the composer, and what the person is doing there.
//!
//! Which dialog is shown follows from the model alone; here is only the highlight, the scroll and the time from
//! which keys count. Invariant: a dialog that appears or changes its contents can take no key for [`ARM`], so that
//! a key meant for what stood there before answers nothing; where an agent never stops changing its question, the key
//! has to come twice.

use super::form::FormState;
use super::timing::START_PATIENCE;
use crate::base::patience;
use crate::model::event::Asking;
use crate::model::ids::{Now, ReqId};
use crate::model::question::{About, Question, Waiting};
use crate::model::session::Phase;
use crate::model::session_ref::SessionRef;
use crate::model::tool::ToolContent;
use crate::ui::keys::Action;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher};
use std::time::Duration;

/// Keys within this time after the dock got the focus, or after its dialog changed, are ignored.
pub const ARM: Duration = Duration::from_millis(300);

/// A key that came just after the agent had changed the question counts when it is pressed again within this time, as an
/// agent may never leave off.
const INSIST: Duration = Duration::from_secs(5);

/// What becomes of a key that would answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Heed {
    Counts,
    /// The dialog has just appeared, or the keyboard has just gone to it.
    TooSoon,
    /// The agent has just changed what is asked; the same key once more counts.
    Changed,
}

/// What makes keys not count for a while.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum News {
    Appeared,
    /// The question is the same and has the same options; what it is about is not.
    Changed,
}

/// Which dialog the dock shows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Dialog {
    Permission(ReqId),
    LogIn,
    Authenticating(String),
    Dead,
    /// No answer at start-up.
    Silent,
    /// A cancel that the agent does not confirm.
    Unconfirmed,
}

/// The dialog that the dock shows now, if any. Of several requests it is the one that the person went to, else the
/// oldest.
fn dialog(session: SessionRef<'_>, chosen: Option<ReqId>, now: Now) -> Option<Dialog> {
    let chosen = chosen.and_then(|req| session.question(req)).map(Waiting::Question);
    match chosen.or_else(|| session.waiting().next()) {
        Some(Waiting::Question(question)) => return Some(Dialog::Permission(question.req)),
        Some(Waiting::LogIn(_)) => return Some(Dialog::LogIn),
        None => {}
    }
    if let Some(attempt) = session.log_in().and_then(|log_in| log_in.attempt.as_ref()) {
        return Some(Dialog::Authenticating(attempt.method.clone()));
    }
    match session.phase() {
        // A log-in waits or goes on, and is shown.
        Phase::NotStarted | Phase::AuthNeeded | Phase::Authenticating { .. } | Phase::ReadOnly(_) => None,
        Phase::Starting { since } | Phase::Opening { since } => {
            (now.saturating_sub(since) >= START_PATIENCE).then_some(Dialog::Silent)
        }
        Phase::Dead(_) => Some(Dialog::Dead),
        Phase::Ready => {
            let since = session.turn.as_ref()?.cancelling?;
            (now.saturating_sub(since) >= patience::WATCHED).then_some(Dialog::Unconfirmed)
        }
    }
}

/// When a dialog appears by the passing of time alone.
pub fn next_by_time(session: SessionRef<'_>, now: Now) -> Option<Now> {
    let at = match session.phase() {
        Phase::Starting { since } | Phase::Opening { since } => since.saturating_add(START_PATIENCE),
        Phase::Ready => session.turn.as_ref()?.cancelling?.saturating_add(patience::WATCHED),
        // Seconds are counted down.
        Phase::Dead(_) => {
            let left = session.agent().revival?.at.checked_sub(now)?;
            now.saturating_add(left.checked_sub(Duration::from_secs(seconds(left).saturating_sub(1)))?)
        }
        _ => return None,
    };
    (at > now).then_some(at)
}

/// Whole seconds that are left, the one that has begun counted.
pub fn seconds(left: Duration) -> u64 {
    left.as_secs() + u64::from(left.subsec_nanos() > 0)
}

/// Whether the raw input of the tool call is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Raw {
    Shown,
    #[default]
    Hidden,
}

/// Of several waiting requests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Neighbour {
    Next,
    Previous,
}

#[derive(Clone, Debug, Default)]
pub struct DockState {
    /// The dialog as of the last [`DockState::sync`].
    pub dialog: Option<Dialog>,
    /// Nothing at first: Enter then answers nothing.
    pub highlighted: Option<usize>,
    /// Rows of the highlighted option above the view, when it is higher than the dock.
    pub option_scroll: usize,
    pub raw: Raw,
    /// Rows of the body above the view.
    pub scroll: usize,
    /// Lines of the agent's stderr, shown while it is silent.
    pub stderr: Vec<String>,
    pub all_stderr: Raw,
    /// The forms that wait, as far as they are filled in.
    pub forms: BTreeMap<ReqId, FormState>,
    /// The request that the person went to.
    chosen: Option<ReqId>,
    /// Until then the dialog has just appeared, and the question has just changed.
    appeared: Now,
    changed: Now,
    /// The key that came just after a change, and when.
    insisted: Option<(Action, Now)>,
    rev: u64,
    asked: u64,
    options: u64,
}

impl DockState {
    /// Takes note of what the dock shows now. To be called after every change of the model and before every key.
    pub fn sync(&mut self, session: SessionRef<'_>, now: Now) {
        let dialog = dialog(session, self.chosen, now);
        let same = dialog == self.dialog;
        let changed = match &dialog {
            Some(Dialog::Permission(req)) => self.contents_changed(session, *req, same),
            _ => (!same).then_some(News::Appeared),
        };
        match changed {
            Some(News::Appeared) => self.arm(now),
            Some(News::Changed) => {
                self.changed = now.saturating_add(ARM);
                self.highlight(None);
            }
            None => {}
        }
        if !same {
            self.scroll = 0;
            self.raw = Raw::Hidden;
            self.all_stderr = Raw::Hidden;
            self.stderr.clear();
            self.dialog = dialog;
        }
        self.forms.retain(|req, _| session.question(*req).is_some());
        if let Some(Dialog::Permission(req)) = self.dialog
            && let Some(About::Asked { asking: Asking::Form(form), .. }) = session.question(req).map(|q| &q.about)
        {
            self.forms.entry(req).or_insert_with(|| FormState::new(form));
        }
    }

    /// The form that is shown.
    pub fn form(&self) -> Option<&FormState> {
        if let Some(Dialog::Permission(req)) = &self.dialog { self.forms.get(req) } else { None }
    }

    pub fn form_mut(&mut self) -> Option<&mut FormState> {
        if let Some(Dialog::Permission(req)) = &self.dialog { self.forms.get_mut(req) } else { None }
    }

    /// The agent can update the tool call while its request waits; what the person then answers is another question.
    fn contents_changed(&mut self, session: SessionRef<'_>, req: ReqId, same: bool) -> Option<News> {
        let appeared = (!same).then_some(News::Appeared);
        let Some(pending) = session.question(req) else { return appeared };
        let rev = session.entries().get(pending.entry).map_or(0, |e| e.rev);
        if same && rev == self.rev {
            return None;
        }
        let (asked, options) = (fingerprint(pending, session), fingerprint_of_options(pending));
        let others = (options != self.options).then_some(News::Appeared);
        let changed = appeared.or(others).or((asked != self.asked).then_some(News::Changed));
        self.rev = rev;
        (self.asked, self.options) = (asked, options);
        changed
    }

    /// Goes to the next waiting request, or the one before; nothing is answered.
    pub fn go(&mut self, session: SessionRef<'_>, to: Neighbour) {
        let (Some(Dialog::Permission(req)), pending) = (&self.dialog, session.questions()) else { return };
        let Some(at) = pending.iter().position(|p| p.req == *req) else { return };
        let next = match to {
            Neighbour::Next => (at + 1) % pending.len(),
            Neighbour::Previous => (at + pending.len() - 1) % pending.len(),
        };
        self.chosen = pending.get(next).map(|p| p.req);
    }

    /// The dock got the focus, or shows something else.
    pub fn arm(&mut self, now: Now) {
        self.insisted = None;
        self.appeared = now.saturating_add(ARM);
        self.highlight(None);
    }

    /// Highlights an option, from its beginning.
    pub fn highlight(&mut self, at: Option<usize>) {
        self.highlighted = at;
        self.option_scroll = 0;
    }

    /// Whether a key that would answer counts. It is taken note of: the same one counts when it comes again, neither by
    /// being held down nor much later.
    pub fn heed(&mut self, key: Action, now: Now) -> Heed {
        let insisted = self.insisted.take();
        if now < self.appeared {
            return Heed::TooSoon;
        }
        if now >= self.changed {
            return Heed::Counts;
        }
        let again = |(before, at): (Action, Now)| before == key && (ARM..INSIST).contains(&now.saturating_sub(at));
        if insisted.is_some_and(again) {
            return Heed::Counts;
        }
        self.insisted = Some((key, now));
        Heed::Changed
    }
}

fn fingerprint_of_options(pending: &Question) -> u64 {
    let mut hash = DefaultHasher::new();
    for option in &pending.options {
        (&option.id, &option.name).hash(&mut hash);
    }
    hash.finish()
}

/// Of what the question is about.
fn fingerprint(pending: &Question, session: SessionRef<'_>) -> u64 {
    let mut hash = DefaultHasher::new();
    // What a write or command of the client is about never changes; what it would do is found out later, and only
    // confirms what is shown when the file is new.
    let none: (Option<&str>, Option<&str>) = (None, None);
    if let Some(write) = session.write(pending.req).filter(|_| pending.previews.is_empty()) {
        (none.0, &*write.content, none.1).hash(&mut hash);
    }
    for preview in &pending.previews {
        (preview.old.as_deref(), &*preview.new, preview.differs.as_deref()).hash(&mut hash);
    }
    let Some(tool) = session.tool(pending.entry) else { return hash.finish() };
    (tool.label(), tool.kind as u8).hash(&mut hash);
    for location in &tool.locations {
        (&location.path, location.line).hash(&mut hash);
    }
    if let Some(raw) = &tool.raw_input {
        raw.to_string().hash(&mut hash);
    }
    for content in &tool.content {
        match content {
            ToolContent::Change(change) => change.hash(&mut hash),
            ToolContent::Block(block) => format!("{block:?}").hash(&mut hash),
            ToolContent::Terminal(id) => id.hash(&mut hash),
        }
    }
    hash.finish()
}
