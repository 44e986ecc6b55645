//! What frames the conversation: header, rules, status line.

use super::paint::{self, Placed};
use super::{ViewCx, split_bottom, welcome};
use crate::base::{human, paths, sanitize};
use crate::model::account;
use crate::model::permission_mode::ModeChoice;
use crate::model::session::Phase;
use crate::text::run::StyledText;
use crate::text::token::Token;
use crate::text::width;
use crate::ui::composer::Mode;
use crate::ui::keys::{Keymap, Layer};
use crate::ui::labels;
use crate::ui::state::folds::Fold;
use crate::ui::state::{Focus, Holds, names};
use crate::ui::status_line::{self, Status};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::borrow::Cow;
use std::path::Path;

/// Columns of a rule before and behind the words on it.
const RULE_BEFORE: u16 = 2;
/// Fewer columns of a message are not worth showing.
const TOAST_FROM: usize = 10;

/// Directory and title at the left, agent and version at the right.
pub fn header(cx: &ViewCx<'_>, area: Rect, buf: &mut Buffer) {
    let session = cx.session;
    let inner = Rect { x: area.x + 2, width: area.width.saturating_sub(3), ..area };
    let mut right = labels::agent(cx.session);
    if let Some(version) = cx.session.agent().version.as_deref().filter(|v| !v.is_empty()) {
        right.push(' ');
        right.push_str(&width::truncate(&sanitize::line(version), 24));
    }
    let half = usize::from(inner.width / 2);
    let right = StyledText::of(width::truncate(&right, half), Token::Dim);
    let room = usize::from(inner.width).saturating_sub(width::styled_width(&right) + 2);
    let cwd = paths::display(Path::new(&session.cwd), &[], cx.home);
    let title = cx
        .state
        .name_of(session.key())
        .or(session.called())
        .or_else(|| session.first_words()?.lines().find(|line| !line.trim().is_empty()))
        .map(|t| sanitize::line(&account::title_of(t)).trim().to_owned())
        .filter(|t| !t.is_empty());
    let mut left = StyledText::of(width::truncate_start(&cwd, room), Token::Dim);
    let room = room.saturating_sub(width::styled_width(&left) + 2);
    let standing = || {
        let standing = cx.state.standing.of(session.key()).filter(|_| session.is_untouched())?;
        // Where there is more room the rest stands in the middle.
        let most = if area.width >= welcome::LARGE.0 { vec![standing.branch()] } else { standing.words() };
        most.into_iter().find(|words| width::str_width(words) <= room)
    };
    if let Some(title) = title {
        if room > 4 {
            left.push("  ", Token::Dim);
            left.push(&width::truncate(&title, room), Token::Text);
        }
    } else if let Some(standing) = standing() {
        left.push(&format!("  {standing}"), Token::Dim);
    }
    let used = paint::put(buf, inner.x, inner.y, inner.width, &left, cx.theme);
    paint::put_right(buf, inner, used, &right, cx.theme);
}

/// What is below the rows of the transcript that are shown.
#[derive(Default)]
pub struct Below {
    pub rows: u64,
    /// Rows that are shown.
    pub height: u16,
    /// The prompt that the view begins in, and how many there are.
    pub prompt: Option<(usize, usize)>,
    /// Entries that have come since the end was in view.
    pub news: usize,
}

impl Below {
    /// The same in words, the longest first.
    fn words(&self, keys: &Keymap) -> Vec<String> {
        let end = keys.say(Layer::Composer, " · {Ctrl+End}");
        let (long, short) = if self.rows < u64::from(self.height) {
            (human::count(self.rows, "row"), self.rows.to_string())
        } else {
            ("↓ more".to_owned(), "↓ more".to_owned())
        };
        let new = match self.news {
            0 => String::new(),
            news => format!("{} new · ", human::thousands(news as u64)),
        };
        let whole = self.prompt.map(|(at, of)| {
            let (at, of) = (human::thousands(at as u64), human::thousands(of as u64));
            format!(" prompt {at} of {of} · {new}{long} below{end} ")
        });
        let last = if self.news == 0 { " ↓ ".to_owned() } else { format!(" {}↓ ", new.replace("· ", "")) };
        let rest = [format!(" {new}{long} below{end} "), format!(" {new}{short} below "), last];
        whole.into_iter().chain(rest).collect()
    }
}

/// The rule above the composer: with what is sent, the mode and the model, and that there is more below the rows of the
/// transcript. A figure stands there for less than a screen: beyond that nothing is laid out yet, and it would be an
/// estimate; which prompt it is, is known.
pub fn rule(cx: &ViewCx<'_>, area: Rect, below: &Below, buf: &mut Buffer) {
    line(cx, area, buf);
    if area.is_empty() {
        return;
    }
    let mut used = RULE_BEFORE;
    if cx.state.keys.is_modal() {
        let vim = &cx.state.vim;
        let name = match vim.mode() {
            Mode::Insert => "INSERT",
            Mode::Replace => "REPLACE",
            Mode::Normal => "NORMAL",
            Mode::Visual => "VISUAL",
            Mode::VisualLine => "VISUAL LINE",
        };
        let token = if vim.commands() { Token::Accent } else { Token::Dim };
        let room = area.width.saturating_sub(2 * RULE_BEFORE);
        let words = StyledText::of(format!(" {name} {}", vim.keys()), token);
        let words = width::truncate_styled(&words, usize::from(room));
        used += paint::put(buf, area.x + used, area.y, room, &words, cx.theme);
    }
    if cx.state.view.composer.is_shell() {
        let room = area.width.saturating_sub(used + RULE_BEFORE);
        let words = cx
            .state
            .keys
            .hint(Layer::Composer, " shell: {Enter} runs it here, not the agent ")
            .unwrap_or_else(|| " shell ".to_owned());
        let words = width::truncate(&words, usize::from(room));
        used += paint::put(buf, area.x + used, area.y, room, &StyledText::of(words, Token::Warn), cx.theme);
    } else if let Some((mode, token)) = chosen_mode(cx).or_else(|| status_line::mode(cx.session)) {
        let room = area.width.saturating_sub(used + RULE_BEFORE);
        let mode = StyledText::of(format!(" {mode} "), token);
        let mode = width::truncate_styled(&mode, usize::from(room));
        used += paint::put(buf, area.x + used, area.y, room, &mode, cx.theme);
    }
    if below.rows == 0 {
        if let Some(model) = status_line::model(cx.session) {
            let inner = Rect { width: area.width.saturating_sub(RULE_BEFORE), ..area };
            let model = StyledText::of(format!(" {model} "), Token::Dim);
            paint::put_right(buf, inner, used + RULE_BEFORE, &model, cx.theme);
        }
        return;
    }
    for words in below.words(&cx.state.keys) {
        let text = StyledText::of(words, Token::Text);
        let inner = Rect { width: area.width.saturating_sub(RULE_BEFORE), ..area };
        if paint::put_right(buf, inner, used + RULE_BEFORE, &text, cx.theme) == Placed::Yes {
            return;
        }
    }
}

/// The mode that is asked for when its key rests.
fn chosen_mode(cx: &ViewCx<'_>) -> Option<(String, Token)> {
    let chosen = cx.state.view.chosen_mode.as_ref()?;
    Some((format!("{}…", width::truncate(&chosen.name, 24)), Token::Text))
}

/// A rule from edge to edge.
pub fn line(cx: &ViewCx<'_>, area: Rect, buf: &mut Buffer) {
    if !area.is_empty() {
        paint::put(buf, area.x, area.y, area.width, &dashes(area.width), cx.theme);
    }
}

/// What can be written into an empty composer.
pub fn placeholder(cx: &ViewCx<'_>, area: Rect, buf: &mut Buffer) {
    if cx.state.view.composer.is_shell() {
        let words = width::truncate("a command to run in the session's directory", usize::from(area.width));
        paint::put(buf, area.x, area.y, area.width, &StyledText::of(words, Token::Placeholder), cx.theme);
        return;
    }
    if cx.session.phase() != Phase::Ready || cx.state.view.dock.dialog.is_some() || cx.session.turn.is_some() {
        return;
    }
    let tour = ["Press {Enter} for the tour, or ask for a change", "Press {Enter} for the tour", "{Enter}: the tour"];
    let usual = [
        "Ask for a change, / for commands, @ for a file, ! for a shell command",
        "Ask for a change, / for commands, @ for a file",
        "Ask for a change, / @ or !",
        "Ask for a change",
    ];
    let aside = ["{Ctrl+S} brings back what you put aside", "{Ctrl+S}: put aside"];
    let all: &[&'static str] = if !cx.state.view.stash.is_empty() {
        &aside
    } else if cx.state.offered_tour(cx.session).is_some() {
        &tour
    } else {
        &usual
    };
    let fits = |words: &String| width::str_width(words) <= usize::from(area.width);
    if let Some(words) = all.iter().map(|words| cx.say(Layer::Composer, words)).find(fits) {
        paint::put(buf, area.x, area.y, area.width, &StyledText::of(words, Token::Placeholder), cx.theme);
    }
}

fn dashes(columns: u16) -> StyledText {
    StyledText::of("─".repeat(usize::from(columns)), Token::Rule)
}

/// The last row of the area; returns what is above it.
pub fn status(cx: &ViewCx<'_>, status: &Status, area: Rect, buf: &mut Buffer) -> Rect {
    let (above, line) = split_bottom(area, 1);
    let mut quiet = status.clone();
    quiet.right.clear();
    let mut status = status.clone();
    let glyph = match status.busy {
        status_line::Busy::Yes => format!("{} ", cx.spinner()),
        status_line::Busy::No => String::new(),
    };
    let mut x = line.x + 1;
    if area.width >= super::TINY.0 {
        x += paint::put(buf, x, line.y, line.width - 1, &StyledText::of(glyph, Token::Dim), cx.theme);
    }
    let room = line.right().saturating_sub(x + 1);
    let toast = cx.state.toast.as_ref().filter(|t| t.until.is_none_or(|until| until > cx.now));
    if let Some(toast) = toast {
        status.set_toast(&toast.text);
    }
    let columns = usize::from(room);
    let (mut left, mut right) = status_line::fit(&status, columns);
    if let Some(toast) = toast.filter(|_| right.is_empty()) {
        // What a second Ctrl+C or Alt+W does must be read before it is pressed.
        // Who reads is told what became of a key: that it waits stands in the dock or in the transcript as well.
        let is_reading = cx.state.view.reading.is_some() || cx.state.view.focus == Focus::Review;
        if status.is_urgent() && !is_reading && !matches!(toast.holds, Holds::QuitArmed | Holds::CloseArmed) {
            left = status_line::fit(&quiet, columns).0;
            let beside = columns.saturating_sub(width::styled_width(&left) + 2);
            // The dock says as well that it waits: what a key there came to is read whole.
            if matches!(toast.holds, Holds::Asked(_) | Holds::Unread(..) | Holds::Before(_) | Holds::Written(_))
                && beside < width::str_width(&toast.text)
            {
                left = StyledText::of(parts(&toast.text, columns), Token::Text);
            } else if beside >= TOAST_FROM {
                right = StyledText::of(parts(&toast.text, beside), Token::Text);
            }
        } else {
            let is_armed = matches!(toast.holds, Holds::QuitArmed | Holds::CloseArmed);
            let text = if is_armed { what_it_does(&toast.text, columns) } else { &toast.text };
            left = StyledText::of(parts(text, columns), Token::Text);
        }
    }
    let used = paint::put(buf, x, line.y, room, &left, cx.theme);
    let at = Rect { x, width: room, ..line };
    paint::put_right(buf, at, used, &right, cx.theme);
    above
}

/// Of what a second press of a key does, behind why it is asked about: without the why where there is no room for both.
fn what_it_does(text: &str, columns: usize) -> &str {
    let behind = text.split_once(" · ").filter(|_| width::str_width(text) > columns);
    behind.map_or(text, |(_, behind)| behind)
}

/// As many parts of a message as there are columns for, where that is most of what there is room for; else its beginning.
fn parts(text: &str, columns: usize) -> Cow<'_, str> {
    let whole = width::whole_parts(text, " · ", columns);
    let is_most = columns / 2..=columns;
    width::truncate(if is_most.contains(&width::str_width(whole)) { whole } else { text }, columns)
}

/// Whether what is written waits for the end of a turn.
pub fn queues(cx: &ViewCx<'_>, layer: Layer) -> bool {
    let composer = &cx.state.view.composer;
    // Inline all of the dock is drawn with each letter: that is to stay little over a slow link.
    let writes = layer == Layer::Composer && !composer.is_blank() && !composer.is_shell() && !cx.state.is_inline;
    writes && cx.session.turn.is_some() && cx.session.read_only().is_none() && !cx.state.lists(cx.session)
}

/// What Enter does with a line that is for the client.
pub const RUNS: &str = "{Enter} runs it";

/// Whether what is written is for the client, and not for the agent.
pub fn is_ours(cx: &ViewCx<'_>) -> bool {
    names::permissions(cx.state.view.composer.text()).is_some_and(|wanted| ModeChoice::read(wanted).is_ok())
}

/// What Esc does, where it does anything but stop the turn.
pub fn escape(cx: &ViewCx<'_>, layer: Layer) -> Option<&'static str> {
    let state = cx.state;
    let review = state.view.review.as_ref();
    let words = match layer {
        Layer::Picker | Layer::Sessions | Layer::ReviewConfirm | Layer::ReviewEdit => "{Esc} closes it",
        Layer::Line if state.refusal.is_some() => "{Esc} back to the question",
        Layer::Line => "{Esc} closes it",
        Layer::Rule => "{Esc} back to the question",
        Layer::Dock | Layer::Form if state.list.is_some() => "{Esc} back to the list",
        Layer::Queue | Layer::Dock | Layer::Form => "{Esc} back to writing",
        Layer::Review if review.is_some_and(|review| review.cursor.selection.is_some()) => "{Esc} selects no lines",
        Layer::Review => "{Esc} closes the review",
        Layer::Reading if state.view.reading.as_ref().is_some_and(|reading| reading.from.is_some()) => {
            "{Esc} selects one entry"
        }
        Layer::Reading => "{Esc} leaves reading",
        Layer::Composer if state.view.composer.is_shell() => "{Esc} leaves the command",
        Layer::Composer if state.lists(cx.session) => "{Esc} closes the list",
        Layer::Composer | Layer::Terminal => return None,
    };
    Some(words)
}

/// What can be done while the conversation is read, behind what Enter does.
const READING: &str = "{Esc} leaves · {y} copies · {/} searches · {v} several · {Y} a part · {c} by letter · {o} opens · {[} {]} prompts · \
     {E} {e} edits · {F} {f} failures";

/// What can be done next, when nothing runs.
pub fn hint(cx: &ViewCx<'_>, folding: Option<Fold>) -> Vec<String> {
    let of = |layer, words| {
        let words = cx.state.keys.hint(layer, words).unwrap_or_else(|| "ready".to_owned());
        words.split(" · ").map(str::to_owned).collect()
    };
    if cx.state.opener.is_some() {
        return vec!["opening a further session".to_owned()];
    }
    if cx.state.view.reading.as_ref().is_some_and(|reading| reading.has_letters) {
        return of(Layer::Reading, "a letter copies · {Esc} takes them away");
    }
    if cx.state.view.reading.as_ref().is_some_and(|reading| reading.from.is_some()) {
        return of(Layer::Reading, "several · {Up} {Down} choose · {y} copies all · {Esc} selects one");
    }
    if cx.state.view.reading.is_some() {
        let folds = match folding {
            Some(Fold::Open | Fold::Apart) => "reading · {Enter} unfolds",
            Some(Fold::Closed) => "reading · {Enter} folds",
            None => "reading",
        };
        let words = [folds, READING].into_iter().filter_map(|words| cx.state.keys.hint(Layer::Reading, words));
        return words.flat_map(|words| words.split(" · ").map(str::to_owned).collect::<Vec<_>>()).collect();
    }
    let words = match (&cx.state.view.focus, cx.session.phase()) {
        (Focus::Composer, _) if cx.state.view.composer.is_shell() => "{Enter} runs it here · {Esc} leaves the command",
        (Focus::Composer, Phase::Ready) if cx.state.view.composer.buffer().is_folded() => {
            "{Enter} sends all of it · {Ctrl+O} unfolds what was pasted"
        }
        (Focus::Composer, Phase::Ready) if cx.state.lists(cx.session) => "{Enter} takes it · {Esc} closes the list",
        (Focus::Composer, Phase::Ready) if is_ours(cx) => RUNS,
        (Focus::Composer, Phase::Ready) if !cx.state.view.composer.is_empty() => "{Enter} sends · {Alt+Enter} new line",
        (Focus::Composer, Phase::Ready) if cx.state.offered_tour(cx.session).is_some() => {
            "write a request, or press {Enter} for the tour"
        }
        (Focus::Composer, Phase::Ready) if cx.session.has_failed() && cx.session.held.is_empty() => {
            "{Up} brings the prompt back · {F1} keys · {F2} options"
        }
        (Focus::Composer, Phase::Ready) if cx.session.is_untouched() => "write a request, {Enter} sends it",
        _ => "ready · {F1} keys · {F2} options",
    };
    of(Layer::Composer, words)
}
