//! Logging in, in the dock: the ways that there are, and how far one is.
//!
//! Starts no log-in. Invariant: an address stands behind its host, as far as that can be told.

use super::choices::{Bar, By, Choice, Detail};
use super::kinds::digit;
use super::{Contents, DETAIL_LINES, ViewCx, keys, plain, quoted, strong};
use crate::base::sanitize;
use crate::model::event::{AuthKind, AuthMethod};
use crate::model::ids::Now;
use crate::model::login::{Attempt, How, LogIn};
use crate::model::session_ref::SessionRef;
use crate::text::address;
use crate::text::line::{LogicalLine, WrapMode};
use crate::text::run::{Mods, RunStyle, StyledText};
use crate::text::token::Token;
use crate::text::width;
use crate::ui::keys::Layer;
use crate::ui::labels;

/// Columns of an address that stands as a whole somewhere else.
const BEGINNING: usize = 52;
/// Of a page that may end with a code, for which the protocol has no place.
const NO_PLACE: &str = "If the page ends with a code, there is no place for it here: log in with the agent's own \
                        program, then start it again.";

pub(super) fn wanted(cx: &ViewCx<'_>, log_in: &LogIn) -> Contents {
    let (session, error) = (cx.session, &log_in.error);
    let agent = labels::agent(session);
    let is_wanted = log_in.is_wanted;
    let words = if is_wanted { format!("log in to {agent}") } else { format!("{agent} needs a log-in") };
    let mut body = vec![strong(&words, Token::Warn)];
    if !error.message.trim().is_empty() {
        body.push(quoted(&error.message));
    }
    body.extend(error.data_lines().iter().take(DETAIL_LINES).map(|l| quoted(l)));
    let methods = &session.agent().auth_methods;
    if methods.is_empty() {
        body.push(plain("It names no way to log in: use its own program, then start it again.", Token::Text));
        body.extend(cx.state.view.dock.stderr.iter().map(|l| quoted(l)));
    }
    let page = labels::log_in_page(session);
    let said = error.data_lines().into_iter().take(DETAIL_LINES).chain([error.message.clone()]);
    let is_quoted = said.into_iter().any(|said| page.as_ref().is_some_and(|page| said.contains(page.as_str())));
    body.extend(page.iter().map(|page| address_line(page, is_quoted)));
    let method = |(at, method): (usize, &AuthMethod)| {
        let name = sanitize::line(&method.name);
        let name = name.trim();
        Choice::new(digit(at), name.to_owned(), By::Highlight, way(session, method))
    };
    let mut choices: Vec<Choice> = methods.iter().enumerate().map(method).collect();
    let is_command = |method: &AuthMethod| !matches!(method.kind, AuthKind::Agent | AuthKind::Typed { .. });
    choices.extend(page.iter().flat_map(|_| keys(cx, Layer::Dock, &[("o", "open the page"), ("c", "copy it")])));
    if page.is_none() && methods.iter().any(is_command) {
        choices.extend(keys(cx, Layer::Dock, &[("c", "copy the command")]));
    }
    choices.extend(if is_wanted {
        keys(cx, Layer::Dock, &[("x", "leave")])
    } else {
        keys(cx, Layer::Dock, &[("r", "start it again"), ("q", "quit")])
    });
    Contents::of(body, choices)
}

/// The address of a page with its host in front, as far as that can be told for certain.
pub(super) fn page_line(page: &str) -> LogicalLine {
    line_of(page, page)
}

fn line_of(page: &str, shown: &str) -> LogicalLine {
    let host = address::host(page).unwrap_or("a host that cannot be told for certain");
    let mut text = StyledText::of(format!("{host}: "), RunStyle::from(Token::Text).with_mods(Mods::BOLD));
    text.push(shown, Token::Quote);
    LogicalLine { text, wrap: WrapMode::Anywhere, ..LogicalLine::default() }
}

/// The same with the beginning of the address, where all of it stands somewhere else on the screen or in the conversation.
/// The host is never cut.
fn address_line(page: &str, is_said: bool) -> LogicalLine {
    if is_said { line_of(page, &width::truncate(page, BEGINNING)) } else { page_line(page) }
}

/// What the agent says of a way to log in, and the command that the person has to run.
fn way(session: SessionRef<'_>, method: &AuthMethod) -> Vec<Detail> {
    let mut out = Vec::new();
    if let Some(description) = method.description.as_deref().filter(|d| !d.trim().is_empty()) {
        out.push(Detail { line: LogicalLine { wrap: WrapMode::Words, ..quoted(description) }, bar: Bar::Yes });
    }
    if let AuthKind::Typed { names } = &method.kind {
        let indent = StyledText::from("  ");
        let words = format!("typed here, hidden, and kept in memory only: {}", sanitize::line(&names.join(", ")));
        let line = LogicalLine { prefix: indent.clone(), hang: indent, ..plain(&words, Token::Dim) };
        out.push(Detail { line, bar: Bar::Yes });
    }
    if let Some(command) = labels::login_command(&method.kind, session.agent()) {
        let is_env = matches!(method.kind, AuthKind::Env { .. });
        let what = if is_env { "asked for here, or set before the start:" } else { "runs in a terminal here:" };
        let indent = StyledText::from("  ");
        let line = LogicalLine { prefix: indent.clone(), hang: indent, ..plain(what, Token::Dim) };
        out.push(Detail { line, bar: Bar::Yes });
        let text = StyledText::of(command, RunStyle::from(Token::Text).with_mods(Mods::BOLD));
        out.push(Detail { line: LogicalLine::text(text), bar: Bar::No });
    }
    out
}

pub(super) fn under_way(
    cx: &ViewCx<'_>,
    session: SessionRef<'_>,
    method: &str,
    attempt: &Attempt,
    waited: Now,
) -> Contents {
    let name = session.agent().auth_methods.iter().find(|m| m.id == method).map_or(method, |m| m.name.as_str());
    let name = sanitize::line(name);
    let words = format!("logging in to {} ({})", labels::agent(session), name.trim());
    let head = LogicalLine { right: StyledText::of(labels::clock(waited), Token::Dim), ..strong(&words, Token::Text) };
    let (note, first) = match attempt.how {
        How::Call(_) => ("Finish in your browser. · {Esc} while writing cancels.", None),
        How::Terminal { .. } => ("Its command runs in a terminal.", Some(("t", "type into it"))),
        How::Restart => ("Logged in. The agent is started again when its other sessions rest.", None),
    };
    let page = labels::log_in_page(session);
    let is_said = |page: &String| session.log_in_lines().iter().any(|line| line.contains(page.as_str()));
    let address = page.iter().map(|page| address_line(page, is_said(page)));
    let note = cx.say(Layer::Composer, note).replace(". · ", ". ");
    let is_code =
        page.as_ref().is_some_and(|page| matches!(attempt.how, How::Call(_)) && address::leads_elsewhere(page));
    let code = is_code.then(|| LogicalLine { wrap: WrapMode::Words, ..plain(NO_PLACE, Token::Text) });
    let body = [head, plain(&note, Token::Dim)].into_iter().chain(address).chain(code).collect();
    let pages: &[_] = if page.is_some() { &[("o", "open the page"), ("c", "copy it")] } else { &[] };
    let last = [("x", "leave"), ("r", "start it again")];
    let all: Vec<_> = first.into_iter().chain(pages.iter().copied()).chain(last).collect();
    Contents::of(body, keys(cx, Layer::Dock, &all))
}
