//! Permission requests: shown until they are answered, withdrawn or overtaken; each is answered exactly once.

use super::super::claims;
use super::super::effect::{Answer, Effect, FrontEnd, Withdrawal, Withdrawn};
use super::super::entry::{Body, Level};
use super::super::event::{PermissionKind, PermissionOption};
use super::super::form::Reply;
use super::super::ids::{EntryId, Now, ReqId};
use super::super::judge::{Deed, Ground, Request, Verdict, judge, refusal_of};
use super::super::question::{self, About, Asks, LeftByHook, Offered, Outside, Question};
use super::super::refusal::{Reason, Refusal, Subject};
use super::super::ruling::{MadeRule, Ruled, Ruling};
use super::super::session::{Approved, Policy, PromptKind, Session};
use super::super::tool::{Answerer, Asked, Decided, ToolKind, ToolPatch, Wording};
use super::Cx;
use super::{asked, audit, gate, notice, prompt, review, ruling, service, thinking, tool};
use std::sync::Arc;

/// Reasons that an agent is told of in one session.
const MAX_REASONS: usize = 8;
/// What was allowed of files and is not done yet.
const MAX_APPROVED: usize = 16;
/// Characters of a call's label in such a prompt.
const MAX_LABEL: usize = 120;

pub fn asked(session: &mut Session, req: ReqId, mut patch: ToolPatch, options: Vec<PermissionOption>, cx: &mut Cx) {
    let offered = Offered { wording: patch.wording.take(), options };
    let entry = tool::upsert(session, patch, tool::Source::Permission, cx);
    if session.rules.are_there {
        return ruling::ask_permission(session, req, entry, offered, cx);
    }
    decided(session, req, entry, offered, None, cx);
}

/// Answers it, or asks the person.
pub fn decided(
    session: &mut Session,
    req: ReqId,
    entry: EntryId,
    offered: Offered,
    ruling: Option<Ruling>,
    cx: &mut Cx,
) {
    let outside = ruling.as_ref().map(|ruling| ruling.outside.clone()).unwrap_or_default();
    let (wording, options) = (offered.wording.as_deref(), &offered.options);
    match judge(&request(session, entry, (wording, options), ruling.clone(), cx)) {
        Verdict::Ask => {
            wait(session, req, entry, About::Permission, offered, cx);
            tell_outside(session, req, outside);
            tell_ruling(session, req, ruling.as_ref());
        }
        Verdict::Allow(ground) => decide(session, true, &ground, (req, entry), (wording, options), cx),
        Verdict::Refuse(ground) => decide(session, false, &ground, (req, entry), (wording, options), cx),
    }
}

fn request(
    session: &Session,
    entry: EntryId,
    (wording, options): (Option<&Wording>, &[PermissionOption]),
    ruling: Option<Ruling>,
    cx: &Cx,
) -> Request {
    // An answer that lasts is the person's to give.
    let has_once = question::once(options, PermissionKind::AllowOnce).is_some();
    let ruling = if has_once { ruling } else { ruling.map(Ruling::unless_allowed) };
    let tool = session.tool(entry);
    let paths = tool.into_iter().flat_map(|tool| &tool.locations).map(|location| location.path.clone()).collect();
    let deed = Deed::Permission {
        kind: tool.map_or(ToolKind::Other, |tool| tool.kind),
        paths,
        is_whole: tool.is_none_or(|tool| !tool.cut),
        is_known: wording.is_none_or(|wording| !wording.is_unknown),
        has_choice: !options.is_empty(),
        has_once,
        names_nothing: tool.is_none_or(claims::names_nothing),
    };
    service::request_of(session, deed, cx).ruled(ruling)
}

/// Whether the person would be asked about it, were there no rules.
pub fn would_ask(session: &Session, entry: EntryId, offered: &Offered, cx: &Cx) -> bool {
    let about = (offered.wording.as_deref(), offered.options.as_slice());
    judge(&request(session, entry, about, Some(Ruling::OPEN), cx)) == Verdict::Ask
}

/// Where the files of a question really are.
pub fn tell_outside(session: &mut Session, req: ReqId, outside: Vec<Outside>) {
    if let Some(question) = session.questions.iter_mut().find(|question| question.req == req)
        && question.outside != outside
    {
        question.outside = outside;
        session.entries.touch(question.entry);
    }
}

/// Why something is asked: it may be secret, or the decision hook leaves it to the person.
pub fn tell_ruling(session: &mut Session, req: ReqId, ruling: Option<&Ruling>) {
    let question = session.questions.iter_mut().find(|question| question.req == req);
    if let (Some(question), Some(ruling)) = (question, ruling) {
        if let Some(secret) = ruling.secret.as_ref() {
            question.note = Some(secret.words());
        }
        question.hook = left_by_hook(ruling);
        session.entries.touch(question.entry);
    }
}

/// A question that waits goes on waiting, now because the decision hook has it asked or not.
fn still_asked(session: &mut Session, at: usize, ruling: &Ruling) {
    let hook = left_by_hook(ruling);
    if let Some(question) = session.questions.get_mut(at).filter(|question| question.hook != hook) {
        question.hook = hook;
        session.entries.touch(question.entry);
    }
}

/// That the decision hook leaves it to the person.
fn left_by_hook(ruling: &Ruling) -> Option<LeftByHook> {
    let is_left = ruling.by_hook && ruling.verdict == Ruled::Ask;
    is_left.then(|| LeftByHook { reason: ruling.reason.clone() })
}

/// Answers what is asked already, where a rule decides it now.
pub fn resolve(session: &mut Session, req: ReqId, ruling: Ruling, cx: &mut Cx) {
    if ruling::is_stale(session, req, cx) {
        return;
    }
    tell_outside(session, req, ruling.outside.clone());
    let Some(at) = session.questions.iter().position(|p| p.req == req) else { return };
    let Some(Question { entry, about, options, wording, .. }) = session.questions.get(at) else { return };
    let request = match about {
        About::Permission => self::request(session, *entry, (wording.as_deref(), options), Some(ruling.clone()), cx),
        About::Write => {
            let Some(write) = session.write(req) else { return };
            let deed = Deed::Write(Arc::clone(&write.path));
            service::request_of(session, deed, cx).ruled(Some(ruling.clone()))
        }
        About::Read(read) => {
            service::request_of(session, Deed::Read(read.path.as_str().into()), cx).ruled(Some(ruling.clone()))
        }
        About::Run(spec) => service::request_of(session, Deed::Run(Arc::clone(spec)), cx).ruled(Some(ruling.clone())),
        // No rule answers it.
        About::Asked { .. } => return,
    };
    let (is_allowed, ground) = match judge(&request) {
        Verdict::Allow(ground @ (Ground::Rule(_) | Ground::Mode(_))) => (true, ground),
        Verdict::Refuse(ground @ (Ground::Rule(_) | Ground::Mode(_))) => (false, ground),
        _ => return still_asked(session, at, &ruling),
    };
    let pending = session.questions.remove(at);
    if pending.about == About::Permission {
        learned(session, &pending, Answered { allows: is_allowed, by: answerer(&ground) }, cx.now);
        review::tool(session, pending.entry, cx);
        let about = (pending.wording.as_deref(), pending.options.as_slice());
        return decide(session, is_allowed, &ground, (req, pending.entry), about, cx);
    }
    audit::ruled(session, &pending, is_allowed, &ground, cx);
    if let Some(write) = session.writes.get_mut(&req) {
        write.ruling = Some(ruling);
    }
    gate::answered(session, pending, is_allowed, Some(&ground), cx);
}

/// What was answered, and by whom.
#[derive(Clone, Copy)]
struct Answered {
    allows: bool,
    by: Answerer,
}

fn answerer(ground: &Ground) -> Answerer {
    match ground {
        Ground::Rule(ruling) if ruling.by_hook => Answerer::Hook,
        Ground::Mode(_) => Answerer::Mode,
        _ => Answerer::Rule,
    }
}

/// The call has been decided as it was shown.
fn learned(session: &mut Session, pending: &Question, answered: Answered, now: Now) {
    session.entries.change(pending.entry, |e| {
        if let Body::Tool(tool) = &mut e.body {
            tool.refused = !answered.allows;
            tool.answered_by = answered.by;
            tool.allowed = answered.allows && answered.by == Answerer::Person;
            tool.decided = None;
            tool.begin(now);
            if !answered.allows && pending.about == About::Permission {
                tool.turn_down();
            }
            tool.asked = Asked::of(tool, true);
            tool.learn(&pending.previews);
        }
    });
    if pending.about != About::Permission {
        thinking::over(session, pending, now);
    }
}

/// The call is not asked about any more, and nobody has answered.
fn left(session: &mut Session, pending: &Question, why: Withdrawal, now: Now) {
    session.entries.touch(pending.entry);
    thinking::over(session, pending, now);
    let Some(entry) = thinking::asked_for(session, pending) else { return };
    session.entries.change(entry, |e| {
        if let Body::Tool(tool) = &mut e.body {
            if pending.about == About::Permission {
                tool.asked = Asked::of(tool, false);
            }
            tool.unanswered = matches!(why, Withdrawal::TurnStopped) && !tool.is_finished();
        }
    });
}

/// Puts a question into the dock.
pub fn wait(
    session: &mut Session,
    req: ReqId,
    entry: EntryId,
    about: About,
    Offered { wording, options }: Offered,
    cx: &mut Cx,
) {
    let note = session.turn.is_none().then(|| "asked outside of a turn".to_owned());
    let has_diff = match &about {
        About::Permission => session.tool(entry).is_some_and(|t| t.texts().next().is_some()),
        About::Write => true,
        About::Read(_) | About::Run(_) | About::Asked { .. } => false,
    };
    let pending = Question {
        req,
        entry,
        about,
        options,
        wording,
        at: cx.now,
        note,
        previews: Vec::new(),
        asked: 0,
        outside: Vec::new(),
        is_hook_asked: false,
        hook: None,
        is_left: false,
        ruling: Asks::No,
    };
    session.questions.push(pending);
    session.entries.touch(entry);
    cx.push(Effect::FrontEnd(FrontEnd::Asked(req)));
    if has_diff {
        review::ask_preview(session, req, cx);
    }
}

/// Answers without the person. Refusing takes reject_once, else `cancelled`; reject_always is never chosen.
fn decide(
    session: &mut Session,
    is_allowed: bool,
    ground: &Ground,
    (req, entry): (ReqId, EntryId),
    (wording, options): (Option<&Wording>, &[PermissionOption]),
    cx: &mut Cx,
) {
    let yes = if is_allowed { to_allow(session, ground, wording, options) } else { None };
    audit::permission(session, entry, yes.is_some(), ground, cx);
    let label = || session.tool(entry).map_or_else(String::new, |t| t.label().to_owned());
    let (level, words, answer) = match ground {
        Ground::Stopping => return cx.push(Effect::Respond { req, answer: Answer::Cancelled }),
        Ground::NotWhole => {
            let words = format!("asked about a call that cannot be shown whole; refused: {}", label());
            (Level::Warn, words, Answer::Error(Ground::NotWhole.refusal(Subject::Nothing)))
        }
        Ground::NoChoice => {
            (Level::Warn, format!("asked without offering an answer, and was told no: {}", label()), Answer::Cancelled)
        }
        ground => {
            let chosen = yes.or_else(|| question::once(options, PermissionKind::RejectOnce));
            let answer = chosen.map_or(Answer::Cancelled, |option| Answer::Selected(option.id.clone()));
            let is_said = matches!(ground, Ground::Flag(_) | Ground::Rule(_) | Ground::Mode(_) | Ground::NoRule);
            let before = if is_said { " by" } else { ", as" };
            let why = match (yes, is_allowed) {
                (Some(_), _) => format!("allowed{before} {}", ground.words()),
                (None, true) => "refused, as none of its answers is known to allow it and nothing more".to_owned(),
                (None, false) => format!("refused{before} {}", ground.words()),
            };
            // Nobody was asked: what is said of it later need not say it.
            let is_loud = *ground == Ground::Aside || is_allowed && yes.is_none();
            let level = if is_loud { Level::Warn } else { Level::Info };
            (level, format!("{why}: {}", label()), answer)
        }
    };
    let is_given = yes.is_some();
    cx.push(Effect::Respond { req, answer });
    if !tell_on_call(session, entry, is_given, ground) {
        notice(session, level, words, Vec::new(), cx.now);
    }
    if !is_allowed {
        explain(session, entry, ground, cx);
    }
}

/// The answer that allows it without the person: for as long as the rule holds that does (S-108), else for this once.
/// `--allow` takes one that lasts where there is no other. One of an unknown kind never allows.
fn to_allow<'a>(
    session: &Session,
    ground: &Ground,
    wording: Option<&Wording>,
    options: &'a [PermissionOption],
) -> Option<&'a PermissionOption> {
    let once = question::once(options, PermissionKind::AllowOnce);
    match ground {
        Ground::Flag(_) => once.or_else(|| question::only_to_allow(options)),
        _ => wording.and_then(|wording| as_long(session, ground, wording, options)).or(once),
    }
}

/// What a rule has decided stands with the call. False: it has to be told otherwise.
fn tell_on_call(session: &mut Session, entry: EntryId, allows: bool, ground: &Ground) -> bool {
    let is_told = matches!(ground, Ground::Rule(_)) && session.tool(entry).is_some();
    if is_told {
        session.entries.change(entry, |e| {
            if let Body::Tool(tool) = &mut e.body {
                tool.decided = Some(Decided { allows, by: ground.words().into() });
            }
        });
    }
    is_told
}

/// The answer that allows for as long as the rule holds that decides, where the person has made that rule here.
fn as_long<'a>(
    session: &Session,
    ground: &Ground,
    wording: &Wording,
    options: &'a [PermissionOption],
) -> Option<&'a PermissionOption> {
    let Ground::Rule(ruling) = ground else { return None };
    let is_it = |made: &&MadeRule| made.list == Ruled::Allow && ruling.rule.as_ref() == Some(&made.pattern);
    let scope = session.rules.made().iter().find(is_it)?.scope;
    let allows = |o: &&PermissionOption| o.kind == PermissionKind::AllowAlways;
    wording.options_of(scope).find_map(|id| options.iter().filter(allows).find(|o| o.id == id))
}

/// An answer has no place for a reason: that is the next prompt. The same one is given once, so that an agent which tries
/// again and again does not keep the conversation going by itself.
fn explain(session: &mut Session, entry: EntryId, ground: &Ground, cx: &mut Cx) {
    if session.is_aside() || session.turn.is_none() {
        return;
    }
    let words = match ground {
        // Nobody is there who could choose another one.
        Ground::Mode(_) if session.policy != Policy::Ask => return,
        Ground::Mode(mode) if !std::mem::replace(&mut session.permission_mode.is_told, true) => {
            refusal_of(*mode).to_owned()
        }
        Ground::Rule(Ruling { reason: Some(reason), by_hook, .. }) => {
            // The agent's own words, which must not pass for more of the person's.
            let label = session.tool(entry).map_or_else(String::new, |tool| quoted(tool.label()));
            let told = &mut session.rules.told;
            if told.len() >= MAX_REASONS || !told.insert(reason.clone()) {
                return;
            }
            let by = if *by_hook { "the decision hook" } else { "a rule" };
            format!("Refused by {by}: {label}\n\n{reason}")
        }
        _ => return,
    };
    prompt::give_reason(session, PromptKind::Explained, words, cx);
}

/// One line in quotes, cut.
fn quoted(label: &str) -> String {
    let line: String = label.split_whitespace().collect::<Vec<_>>().join(" ").replace(['“', '”', '"'], "'");
    let cut: String = line.chars().take(MAX_LABEL).collect();
    let more = if cut.len() < line.len() { "…" } else { "" };
    format!("“{cut}{more}”")
}

/// The person's answer. A second one, or one for an option that was not offered, changes nothing.
pub fn answer(session: &mut Session, req: ReqId, option: String, cx: &mut Cx) {
    let Some(at) = session.questions.iter().position(|p| p.req == req) else { return };
    if !session.questions.get(at).is_some_and(|p| p.options.iter().any(|o| o.id == option)) {
        return;
    }
    let pending = session.questions.remove(at);
    audit::answered(session, &pending, &option, cx);
    let is_no = |o: &PermissionOption| matches!(o.kind, PermissionKind::RejectOnce | PermissionKind::RejectAlways);
    let refused = pending.options.iter().any(|o| o.id == option && is_no(o));
    learned(session, &pending, Answered { allows: !refused, by: Answerer::Person }, cx.now);
    if pending.about == About::Permission {
        let list = if refused { Ruled::Deny } else { Ruled::Allow };
        approve(session, &pending, &option);
        keep(session, &pending, &option, list, cx);
        // Before the agent can go on: what has changed while it waited is not its doing.
        review::tool(session, pending.entry, cx);
        return cx.push(Effect::Respond { req, answer: Answer::Selected(option) });
    }
    gate::answered(session, pending, option == gate::ALLOW, None, cx);
}

/// What was shown of the disk may be written, and what was named may be read, without a second question.
fn approve(session: &mut Session, pending: &Question, option: &str) {
    let is_yes = |o: &PermissionOption| matches!(o.kind, PermissionKind::AllowOnce | PermissionKind::AllowAlways);
    if session.turn.is_none() || !pending.options.iter().any(|o| o.id == option && is_yes(o)) {
        return;
    }
    for approved in shown(session, pending) {
        if session.approved.len() >= MAX_APPROVED {
            session.approved.remove(0);
        }
        session.approved.push(approved);
    }
}

/// What a question shows that is done: of a file outside with where that really is.
fn shown(session: &Session, pending: &Question) -> Vec<Approved> {
    let turn = session.last_turn;
    let Some(tool) = session.tool(pending.entry) else { return Vec::new() };
    let real_of = |path: &str| pending.outside.iter().find(|outside| outside.path == path);
    let of_path = match tool.kind {
        ToolKind::Read => Some(Approved::of_read as fn(_, _) -> _),
        ToolKind::Edit if claims::is_bare(tool) => Some(Approved::of_path as fn(_, _) -> _),
        _ => None,
    };
    // What only a title names is shown, and no more.
    let named = claims::files_named(tool);
    let reals = pending.outside.iter().filter(|outside| named.contains(&outside.path));
    let reals = reals.filter_map(|outside| outside.real.as_ref());
    let of_paths = of_path.into_iter().flat_map(|of| reals.clone().map(move |real| of(turn, real.into())));
    let changes = tool.texts().zip(&pending.previews).filter_map(|((path, ..), preview)| {
        let approved = Approved::of(turn, preview)?;
        match real_of(path) {
            // Where it is cannot be told.
            Some(Outside { real: None, .. }) => None,
            Some(Outside { real: Some(real), .. }) => Some(approved.at(real.into())),
            None => Some(approved),
        }
    });
    of_paths.chain(changes).collect()
}

/// An answer that the agent keeps for a while is kept here as long: what it is for may be asked about elsewhere (S-026).
fn keep(session: &Session, pending: &Question, option: &str, list: Ruled, cx: &mut Cx) {
    let scope = pending.wording.as_deref().and_then(|wording| wording.scope_of(option));
    if let Some(scope) = scope.filter(|_| session.rules.are_there)
        && let Some(claims) = ruling::of_question(session, pending)
    {
        cx.push(Effect::KeepAnswer { claims: Box::new(claims), list, scope });
    }
}

/// The same where nobody is there any more who could answer.
pub fn refuse_left(session: &mut Session, req: ReqId, cx: &mut Cx) {
    if let Some(question) = session.questions.iter_mut().find(|question| question.req == req) {
        question.is_left = true;
    }
    refuse(session, req, "", cx);
}

/// The first answer that refuses this once is given, where the agent offers none the question is cancelled. The reason is
/// the next prompt, before all that wait.
pub fn refuse(session: &mut Session, req: ReqId, reason: &str, cx: &mut Cx) {
    let Some(at) = session.questions.iter().position(|p| p.req == req) else { return };
    if matches!(session.questions.get(at).map(|p| &p.about), Some(About::Asked { .. })) {
        asked::answer(session, req, Reply::Decline, cx);
        return prompt::give_reason(session, PromptKind::Reason, reason.to_owned(), cx);
    }
    let options = session.questions.get(at).map(|p| p.options.as_slice()).unwrap_or_default();
    match options.iter().find(|o| o.kind == PermissionKind::RejectOnce).map(|o| o.id.clone()) {
        Some(option) => answer(session, req, option, cx),
        None => {
            let pending = session.questions.remove(at);
            audit::refused(session, &pending, cx);
            session.entries.change(pending.entry, |e| {
                if let Body::Tool(tool) = &mut e.body {
                    tool.begin(cx.now);
                    tool.turn_down();
                    tool.asked = Asked::of(tool, true);
                }
            });
            if !gate::close(session, &pending, Withdrawal::TurnStopped, cx) {
                cx.push(Effect::Respond { req, answer: Answer::Cancelled });
            }
        }
    }
    prompt::give_reason(session, PromptKind::Reason, reason.to_owned(), cx);
}

/// Withdrawn by the agent: a dialog closes with `cancelled`, a wait for an exit fails; anything
/// else is answered by itself. False: it is not of this session.
pub fn withdrawn_by_agent(session: &mut Session, req: ReqId, cx: &mut Cx) -> bool {
    if let Some(at) = session.questions.iter().position(|p| p.req == req) {
        let pending = session.questions.remove(at);
        close(session, &pending, Withdrawal::ByAgent, cx);
        return true;
    }
    if ruling::withdrawn(session, req, cx) || gate::withdrawn(session, req, cx) {
        return true;
    }
    for terminal in session.terminals.values_mut() {
        if let Some(at) = terminal.waiters.iter().position(|w| w.req == req) {
            terminal.waiters.remove(at);
            let error = Refusal::new(Reason::Cancelled, "Request cancelled");
            cx.push(Effect::Respond { req, answer: Answer::Error(error) });
            return true;
        }
    }
    false
}

/// The questions that this ends.
fn take(session: &mut Session, why: Withdrawal) -> Vec<Question> {
    let is_of_turn = matches!(why, Withdrawal::TurnEnded | Withdrawal::TurnStopped);
    let (stay, gone) =
        std::mem::take(&mut session.questions).into_iter().partition(|q| is_of_turn && q.about.is_for_a_call());
    session.questions = stay;
    gone
}

/// The turn has ended before the person answered (fact 11).
pub fn close_all(session: &mut Session, why: Withdrawal, cx: &mut Cx) {
    for pending in take(session, why) {
        close(session, &pending, why, cx);
    }
    ruling::close_all(session, why, cx);
    gate::close_all(session, why, cx);
}

/// Questions of the agent about this call are no longer asked.
pub fn close_about(session: &mut Session, entry: EntryId, why: Withdrawal, cx: &mut Cx) {
    ruling::close_about(session, entry, cx);
    while let Some(at) = session.questions.iter().position(|p| p.entry == entry && p.about == About::Permission) {
        let pending = session.questions.remove(at);
        close(session, &pending, why, cx);
    }
}

/// The turn or the session is stopped; that says what became of the questions.
pub fn cancel_all(session: &mut Session, why: Withdrawal, cx: &mut Cx) {
    for pending in take(session, why) {
        audit::closed(session, &pending, why, cx);
        if !gate::close(session, &pending, why, cx) {
            cx.push(Effect::Respond { req: pending.req, answer: Answer::Cancelled });
        }
        asked::closed(session, &pending, why.words());
        left(session, &pending, why, cx.now);
    }
    ruling::cancel_all(session, cx);
    gate::close_all(session, why, cx);
}

pub(super) fn close(session: &mut Session, pending: &Question, why: Withdrawal, cx: &mut Cx) {
    let path = session.write(pending.req).map(|write| Arc::clone(&write.path));
    audit::closed(session, pending, why, cx);
    if !gate::close(session, pending, why, cx) {
        cx.push(Effect::Respond { req: pending.req, answer: Answer::Cancelled });
    }
    let about = match &pending.about {
        About::Permission => session.tool(pending.entry).map_or_else(String::new, |t| t.label().to_owned()),
        About::Write => format!("write {}", path.unwrap_or_default()),
        About::Read(read) => format!("read {}", read.path),
        About::Run(spec) => format!("run {}", spec.line()),
        About::Asked { asking, .. } => asking.message().to_owned(),
    };
    left(session, pending, why, cx.now);
    if !asked::closed(session, pending, why.words()) {
        let title = format!("no longer asked, {}: {about}", why.words());
        notice(session, Level::Info, title, Vec::new(), cx.now);
    }
    cx.push(Effect::FrontEnd(FrontEnd::Withdrawn(Withdrawn { why, about })));
}

/// The agent is gone: its requests need no answer.
pub fn void_all(session: &mut Session, cx: &mut Cx) {
    for pending in std::mem::take(&mut session.questions) {
        session.entries.touch(pending.entry);
        audit::void(session, &pending, cx);
        asked::closed(session, &pending, "the agent is gone");
        if !gate::void(session, &pending) {
            cx.push(Effect::Void(pending.req));
        }
    }
    ruling::void_all(session, cx);
    gate::void_all(session, cx);
}
