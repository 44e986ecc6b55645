//! What stands in the dock above the composer, and what the person is doing there.
//!
//! Which dialog is shown follows from the model alone; here is only the highlight, the scroll and the time from
//! which keys count. Invariants: a dialog takes no key before it has stood on the screen for [`FRESH`], or for [`ARM`]
//! when it follows one that was answered, with any focus; one that changes its contents takes none for [`ARM`],
//! and where an agent never stops changing its question, the key has to come twice.

use super::form::FormState;
use super::rule::RuleDraft;
use super::silence;
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

/// A key within this time after a question has come up is ignored: it was on its way before the question could be read.
pub const FRESH: Duration = Duration::from_millis(700);
/// The same for a question that follows one that was just answered by hand, and for one that was changed.
pub const ARM: Duration = Duration::from_millis(300);
/// How long after an answer by hand a digit answers the next question, while nothing is written.
const STICKY: Duration = Duration::from_secs(10);

/// A key that came just after the agent had changed the question counts when it is pressed again within this time, as an
/// agent may never leave off.
const INSIST: Duration = Duration::from_secs(5);
/// A second click on an option within this time is half of a double click: nobody has looked at what the first one chose.
const DOUBLE_CLICK: Duration = Duration::from_millis(500);

/// What becomes of a key that would answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Heed {
    Counts,
    /// The dialog has just appeared.
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
    /// Nothing is heard in a turn.
    Quiet,
    /// A cancel that the agent does not confirm.
    Unconfirmed,
}

/// The dialog that the dock shows now, if any. Of several requests it is the one that the person went to, else the
/// oldest.
fn dialog(session: SessionRef<'_>, chosen: Option<ReqId>, waits: Option<Now>, now: Now) -> Option<Dialog> {
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
        Phase::NotStarted
        | Phase::PutOff { .. }
        | Phase::AuthNeeded
        | Phase::Authenticating { .. }
        | Phase::ReadOnly(_) => None,
        Phase::Starting { since } | Phase::Opening { since } => {
            (now.saturating_sub(since) >= START_PATIENCE).then_some(Dialog::Silent)
        }
        Phase::Dead(_) => Some(Dialog::Dead),
        Phase::Ready => {
            if let Some(since) = session.turn.as_ref()?.cancelling {
                return (now.saturating_sub(since) >= patience::WATCHED).then_some(Dialog::Unconfirmed);
            }
            let is_offered = silence::offered_at(session, now)? <= now && waits != silence::heard(session);
            is_offered.then_some(Dialog::Quiet)
        }
    }
}

/// When the dock changes by the passing of time alone.
pub fn next_by_time(dock: &DockState, session: SessionRef<'_>, now: Now) -> Option<Now> {
    [next_dialog(session, now), dock.next_change(now)].into_iter().flatten().min()
}

fn next_dialog(session: SessionRef<'_>, now: Now) -> Option<Now> {
    let at = match session.phase() {
        Phase::Starting { since } | Phase::Opening { since } => since.saturating_add(START_PATIENCE),
        Phase::Ready => match session.turn.as_ref()?.cancelling {
            Some(since) => since.saturating_add(patience::WATCHED),
            None => silence::offered_at(session, now)?,
        },
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

/// What of the raw input belongs to a question and does not stand in the dock.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Unshown {
    #[default]
    Nothing,
    /// The rest of it stands there only where it is shown as it was sent.
    UntilOpened,
    /// It is shown so, and stands there as a whole.
    Opened,
    /// It stands there nowhere.
    TooLong,
}

/// What of the body of the dock a frame has shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Seen {
    /// The first row, and how many.
    pub top: usize,
    pub rows: usize,
    /// Rows that say what is asked: all but those of the raw input, where that is shown besides.
    pub asked: usize,
    /// Rows above those of the raw input, be it its beginning.
    pub above: usize,
    pub unshown: Unshown,
    /// Whether what always stands there, such as the host of a page, was on the screen to its end.
    pub is_fixed_whole: bool,
    /// Of a form the fields that were, from the first to before the second.
    pub fields: (usize, usize),
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
    /// The option that was highlighted last of this question.
    around: Option<usize>,
    pub raw: Raw,
    /// Rows of the body above the view.
    pub scroll: usize,
    /// Lines of the agent's stderr, shown while it is silent.
    pub stderr: Vec<String>,
    pub all_stderr: Raw,
    /// The forms that wait, as far as they are filled in.
    pub forms: BTreeMap<ReqId, FormState>,
    /// What was written into forms that were withdrawn, until the view takes it.
    pub left: Vec<String>,
    /// The rule that is made of the question.
    pub rule: Option<RuleDraft>,
    /// The person waits on, although nothing was heard since then.
    waits: Option<Now>,
    /// The request that the person went to.
    chosen: Option<ReqId>,
    /// Since when the dialog has been on the screen, and how long it has to be before a key counts.
    drawn: Option<Now>,
    wait: Duration,
    /// Rows of what is asked that have been on the screen, from the first one on, and how many there are.
    read: (usize, usize),
    /// Of the last frame, and whether what was sent has been read to its end.
    unshown: Unshown,
    has_opened: bool,
    /// Until then the question has just changed.
    changed: Now,
    /// When the person answered last; nothing once something else was typed.
    answered: Option<Now>,
    /// The option that was clicked last, where on the screen, and when.
    clicked: Option<(usize, (u16, u16), Now)>,
    /// The key that came just after a change, and when.
    insisted: Option<(Action, Now)>,
    rev: u64,
    asked: u64,
    options: u64,
}

/// What a click on an option does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clicked {
    Highlighted,
    /// It was highlighted already, by a click that stood on the screen.
    Answers,
    /// Another one was clicked at the same place before: which of them is meant is not known.
    Moved,
}

impl DockState {
    /// An option is clicked at a place on the screen: it is highlighted.
    pub fn click(&mut self, option: usize, place: (u16, u16), now: Now) -> Clicked {
        match self.clicked.filter(|(clicked, ..)| self.highlighted == Some(*clicked)) {
            Some((clicked, _, at)) if clicked == option && now >= at.saturating_add(DOUBLE_CLICK) => Clicked::Answers,
            // The answers have moved under a mouse that has not.
            Some((clicked, before, _)) if clicked != option && before == place => Clicked::Moved,
            _ => {
                self.highlight(Some(option));
                self.clicked = Some((option, place, now));
                Clicked::Highlighted
            }
        }
    }

    /// Takes note of what the dock shows now. To be called after every change of the model and before every key. Tells
    /// whether a rule was being made of a question that has changed.
    pub fn sync(&mut self, session: SessionRef<'_>, now: Now) -> bool {
        let dialog = dialog(session, self.chosen, self.waits, now);
        let same = dialog == self.dialog;
        let changed = match &dialog {
            Some(Dialog::Permission(req)) => self.contents_changed(session, *req, same),
            _ => (!same).then_some(News::Appeared),
        };
        if changed.is_some() {
            self.read = (0, 0);
            (self.unshown, self.has_opened) = (Unshown::Nothing, false);
        }
        match changed {
            Some(News::Appeared) => self.arm(if self.is_sticky(now) { ARM } else { FRESH }),
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
            self.rule = None;
        }
        // It was made of what the call said before.
        let closed = changed.is_some() && self.rule.take().is_some();
        if let Some(rule) = &mut self.rule {
            rule.sync(session.rules.weighing());
        }
        let gone = self.forms.extract_if(.., |req, _| session.question(*req).is_none());
        self.left.extend(gone.filter_map(|(_, form)| form.left()));
        if let Some(Dialog::Permission(req)) = self.dialog
            && let Some(About::Asked { asking: Asking::Form(form), .. }) = session.question(req).map(|q| &q.about)
        {
            self.forms.entry(req).or_insert_with(|| FormState::new(form));
        }
        closed
    }

    /// The form that is shown.
    pub fn form(&self) -> Option<&FormState> {
        if let Some(Dialog::Permission(req)) = &self.dialog { self.forms.get(req) } else { None }
    }

    /// Whether the form that was shown is not asked any more.
    pub fn is_form_gone(&self, session: SessionRef<'_>) -> bool {
        matches!(&self.dialog, Some(Dialog::Permission(req)) if self.forms.contains_key(req) && session.question(*req).is_none())
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

    /// The person waits on, until something is heard and it is silent again.
    pub fn wait_on(&mut self, session: SessionRef<'_>) {
        self.waits = silence::heard(session);
    }

    /// The dock shows something else, or is shown again: keys count when it has been on the screen for so long.
    fn arm(&mut self, wait: Duration) {
        self.insisted = None;
        self.drawn = None;
        self.wait = wait;
        self.highlight(None);
    }

    /// Another session was shown before.
    pub fn enter(&mut self) {
        self.arm(FRESH);
        self.answered = None;
    }

    /// A frame was drawn, with this dialog in it and so much of it.
    pub fn note_frame(&mut self, shown: Option<&Dialog>, seen: Seen, now: Now) {
        if shown == self.dialog.as_ref() {
            self.drawn.get_or_insert(now);
            if let Some(form) = self.form_mut() {
                form.note_drawn(seen.fields);
            }
            // Rows of a rule that is made stand among those of the question.
            if self.rule.is_none() && (self.read.1 != seen.asked || self.unshown != seen.unshown) {
                // What stands above the input is the same whether that is shown or not.
                let is_opened = seen.unshown == Unshown::Opened && self.unshown != Unshown::Opened;
                let read = if is_opened && self.read.0 >= seen.above { seen.above } else { 0 };
                self.read = (read, seen.asked);
            }
            if self.rule.is_none() && seen.top <= self.read.0 {
                self.read.0 = self.read.0.max(seen.top + seen.rows);
            }
            if self.rule.is_none() {
                self.unshown = seen.unshown;
                self.has_opened |= seen.unshown == Unshown::Opened && self.read.0 >= self.read.1;
            }
        } else {
            self.drawn = None;
        }
    }

    /// Whether all of what is asked has been on the screen.
    pub fn is_read(&self) -> bool {
        let is_shown = match self.unshown {
            Unshown::Nothing | Unshown::Opened => true,
            Unshown::UntilOpened => self.has_opened,
            Unshown::TooLong => false,
        };
        self.drawn.is_some() && self.read.0 >= self.read.1 && is_shown
    }

    /// What of it was not in the dock when it was drawn last, and has not been before.
    pub fn unshown(&self) -> Unshown {
        match self.unshown {
            Unshown::UntilOpened if self.has_opened => Unshown::Nothing,
            unshown => unshown,
        }
    }

    /// Whether the dialog has stood for long enough to be answered.
    pub fn is_armed(&self, now: Now) -> bool {
        self.drawn.is_some_and(|drawn| now >= drawn.saturating_add(self.wait))
    }

    /// The person has answered; `goes_on` while nothing else is written, so that the next question may be answered too.
    pub fn answered(&mut self, goes_on: bool, now: Now) {
        self.answered = goes_on.then_some(now);
    }

    /// Something was typed that is no answer.
    pub fn unstick(&mut self) {
        self.answered = None;
    }

    /// Whether a digit answers the next question although the composer has the focus.
    pub fn is_sticky(&self, now: Now) -> bool {
        self.answered.is_some_and(|at| now < at.saturating_add(STICKY))
    }

    /// Whether a digit may still be meant for the question that was just answered.
    pub fn has_just_answered(&self, now: Now) -> bool {
        self.answered.is_some_and(|at| now < at.saturating_add(ARM))
    }

    /// When a key begins to count, or a digit ceases to.
    fn next_change(&self, now: Now) -> Option<Now> {
        let armed = self.drawn.map(|drawn| drawn.saturating_add(self.wait)).filter(|_| self.dialog.is_some());
        let unstuck = self.answered.map(|at| at.saturating_add(STICKY)).filter(|_| self.dialog.is_some());
        [armed, unstuck].into_iter().flatten().filter(|at| *at > now).min()
    }

    /// Highlights an option, from its beginning.
    pub fn highlight(&mut self, at: Option<usize>) {
        self.highlighted = at;
        self.around = at;
        self.option_scroll = 0;
    }

    /// None is highlighted any more; those that are in view stay there.
    pub const fn unmark(&mut self) {
        self.highlighted = None;
    }

    /// The option around which the others are in view.
    pub const fn around(&self) -> Option<usize> {
        self.around
    }

    /// Whether a key that would answer counts. It is taken note of: the same one counts when it comes again, neither by
    /// being held down nor much later.
    pub fn heed(&mut self, key: Action, now: Now) -> Heed {
        let insisted = self.insisted.take();
        if !self.is_armed(now) {
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
    pending.wording.hash(&mut hash);
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
            ToolContent::Block(block) | ToolContent::Unread(block) => format!("{block:?}").hash(&mut hash),
            ToolContent::Terminal(id) => {
                let terminal = session.terminal(id);
                (id, terminal.map(|terminal| (&terminal.command, &terminal.cwd))).hash(&mut hash);
            }
        }
    }
    hash.finish()
}
