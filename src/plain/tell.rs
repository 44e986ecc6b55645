//! What has come into the transcript, as lines that begin with who or what they are of.
//!
//! Follows the transcript by what has changed in it. Invariants: nothing is printed twice and nothing that was printed
//! changes; text goes out in whole lines, so that an escape sequence cannot slip through in two pieces.

use super::QUOTE;
use crate::base::{human, limits, paths, sanitize};
use crate::model::entries::Changed;
use crate::model::entry::{
    Block, Body, Entry, FileOutcome, FileVerb, Level, Message, PlanEntry, PlanStatus, UserState,
};
use crate::model::ids::{EntryId, TurnId};
use crate::model::session_ref::SessionRef;
use crate::model::tool::{Mark, ToolCall, ToolContent, ToolKind, ToolStatus};
use crate::ui::cells;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Entries of which is remembered what was printed; older ones change no more.
const REMEMBERED: usize = 4096;
/// Said of a call that is under way.
const BEGINS: &str = "begins";

/// Bytes of the reason that a failed call gives.
const MAX_REASON: usize = 400;

/// How far the transcript is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Upto {
    /// As far as it is; a line without an end may go on.
    Now,
    /// Nothing goes on.
    End,
    /// The same of this turn and what was before it; what comes after it waits.
    Turn(TurnId),
}

/// What was printed of an entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Printed {
    /// Bytes of a text, lines of a notice.
    upto: usize,
    /// How often a message had been replaced.
    replaced: u16,
    /// The line of anything else.
    line: String,
    /// It was told that a call has begun.
    has_begun: bool,
    /// The person has typed it, and it went out at once.
    is_typed: bool,
    /// Its line was the last of all.
    goes_on: bool,
}

#[derive(Debug, Default)]
pub(super) struct Teller {
    generation: Option<u64>,
    /// What had no end was told as well.
    is_whole: bool,
    printed: HashMap<EntryId, Printed>,
    /// Of entries before this one nothing is printed.
    begins: EntryId,
    /// What is typed stands on the screen already.
    by_hand: bool,
    /// Calls that have ended since this was asked last.
    calls: u64,
    /// Commands that have ended while a call ran that may yet show them.
    unclaimed: Vec<EntryId>,
    /// Of which entry the line is that was printed last: what goes on after another one has its label again.
    last: Option<EntryId>,
}

impl Teller {
    pub(super) fn new(by_hand: bool) -> Self {
        Self { by_hand, ..Self::default() }
    }

    /// What the transcript has now was said before.
    pub(super) fn begin(&mut self, session: SessionRef<'_>) {
        self.begins = session.entries().next_id();
    }

    /// A line has gone out as this prompt. One that was held is told when it goes out.
    pub(super) fn is_sent(&mut self, prompt: EntryId) {
        self.printed.entry(prompt).or_default().is_typed = self.by_hand;
    }

    /// A line that is of no entry was printed.
    pub(super) fn is_interrupted(&mut self) {
        self.last = None;
    }

    /// Calls that have ended since this was asked last.
    pub(super) fn take_calls(&mut self) -> u64 {
        std::mem::take(&mut self.calls)
    }

    /// What is new.
    pub(super) fn follow(&mut self, session: SessionRef<'_>, upto: Upto) -> String {
        let mut out = String::new();
        let entries = session.entries();
        let is_over = upto != Upto::Now;
        let is_told = self.is_whole || !is_over;
        if self.generation == Some(entries.generation()) && is_told {
            return out;
        }
        let changed = self.generation.map_or(Changed::Any, |generation| entries.changed_since(generation));
        self.is_whole = is_over;
        // What is left out is looked for again.
        self.generation = Some(entries.generation()).filter(|_| !matches!(upto, Upto::Turn(_)));
        let is_wanted = |entry: &&Entry| !matches!(upto, Upto::Turn(last) if entry.turn > last);
        match changed {
            Changed::Any => {
                let from = entries.len().saturating_sub(REMEMBERED);
                (from..entries.len())
                    .filter_map(|at| entries.at(at))
                    .filter(is_wanted)
                    .for_each(|entry| self.look(entry, session, is_over, &mut out));
            }
            Changed::Only(mut ids) => {
                // What has no end waits for the entry after it.
                ids.extend(ids.first().and_then(|id| id.0.checked_sub(1)).map(EntryId));
                ids.extend(entries.last().filter(|_| is_over).map(|last| last.id));
                ids.append(&mut self.unclaimed);
                ids.sort_unstable();
                ids.dedup();
                for entry in ids.into_iter().filter_map(|id| entries.get(id)).filter(is_wanted) {
                    self.look(entry, session, is_over, &mut out);
                }
            }
        }
        self.forget(entries.next_id());
        out
    }

    fn forget(&mut self, next: EntryId) {
        if self.printed.len() > 2 * REMEMBERED {
            let oldest = next.0.saturating_sub(REMEMBERED as u64);
            self.printed.retain(|id, _| id.0 >= oldest);
            self.begins = self.begins.max(EntryId(oldest));
        }
    }

    fn look(&mut self, entry: &Entry, session: SessionRef<'_>, is_over: bool, out: &mut String) {
        if entry.id < self.begins {
            return;
        }
        let is_newest = session.entries().last().is_some_and(|last| last.id == entry.id);
        let is_whole = is_over || entry.finished || !is_newest;
        let mut printed = self.printed.remove(&entry.id).unwrap_or_default();
        printed.goes_on = self.last == Some(entry.id);
        let before = out.len();
        match &entry.body {
            Body::Agent(message) => text("agent", message, is_whole, &mut printed, out),
            Body::User(message) if !printed.is_typed => {
                let with = if message.links.is_empty() { "" } else { "\nwith " };
                let who = match message.state {
                    UserState::FromElsewhere => "you, as the agent tells it",
                    UserState::OfClient => "acp-tui to the agent",
                    UserState::Sent | UserState::Dropped => "you",
                };
                once(&format!("{who}: {}{with}{}", message.text, message.links.join(", ")), &mut printed, out);
            }
            // Thoughts are not read aloud.
            Body::User(_) | Body::Thought(_) | Body::Changes(_) => {}
            Body::Attachment(attachment) => {
                let line = match &attachment.block {
                    Block::Text(text) => text.clone(),
                    Block::Other { label, uri, .. } => format!("{label} {}", uri.as_deref().unwrap_or("")),
                };
                once(&format!("content: {}", line.trim_end()), &mut printed, out);
            }
            Body::Tool(call) => self.call(call, session, is_newest, &mut printed, out),
            Body::Plan(plan) => once(&of_plan(plan), &mut printed, out),
            Body::Terminal(id) => {
                // One that a call shows is told with it.
                let terminal = session.terminal(id).filter(|terminal| terminal.embedded.is_empty());
                if let Some((terminal, exit)) = terminal.and_then(|terminal| Some((terminal, terminal.exit.as_ref()?)))
                {
                    if !is_over && may_be_claimed(entry, session) {
                        self.unclaimed.push(entry.id);
                    } else {
                        once(&format!("command: {}: {exit}", terminal.command), &mut printed, out);
                    }
                }
            }
            Body::File(file) => {
                let verb = if file.verb == FileVerb::Write { "write" } else { "read" };
                let state = match &file.outcome {
                    FileOutcome::Pending => "",
                    FileOutcome::Written { bytes, .. } => &human::bytes(*bytes),
                    FileOutcome::Altered => "changed by you",
                    FileOutcome::Refused(why) => &format!("refused: {why}"),
                };
                let outside = if file.is_outside { ", outside: not reviewed, no undo" } else { "" };
                if !state.is_empty() {
                    // As in the rows of the transcript; what is outside has its whole path.
                    let path = paths::display(Path::new(&file.path), &roots(session, file.is_outside), None);
                    once(&format!("file: {verb} {path}: {state}{outside}"), &mut printed, out);
                }
            }
            Body::Notice(notice) => {
                let label = match (notice.level, notice.by_agent) {
                    (_, true) => "agent",
                    (Level::Info, false) => "note",
                    (Level::Warn, false) => "warning",
                    (Level::Error, false) => "error",
                };
                if !printed.goes_on && printed.upto < notice.detail.len() {
                    printed.line.clear();
                }
                once(&format!("{label}: {}", notice.title), &mut printed, out);
                for line in notice.detail.iter().skip(printed.upto) {
                    push(QUOTE, line, out);
                }
                printed.upto = notice.detail.len();
            }
        }
        self.printed.insert(entry.id, printed);
        if out.len() > before {
            self.last = Some(entry.id);
        }
    }

    /// Commands are told when they begin and when they end, everything else once it is done; what is refused, at once: some
    /// agents say so only after their answer.
    fn call(
        &mut self,
        call: &ToolCall,
        session: SessionRef<'_>,
        is_newest: bool,
        printed: &mut Printed,
        out: &mut String,
    ) {
        // Some agents name a call after they have announced it.
        let is_over = call.is_finished() || call.is_turned_down();
        let has_no_input = call.raw_input.as_ref().and_then(Value::as_object).is_some_and(Map::is_empty);
        if (call.title.is_empty() || has_no_input) && is_newest && !is_over {
            return;
        }
        let is_command = call.kind == ToolKind::Execute;
        if !is_over && !is_command {
            return;
        }
        if call.is_finished() && printed.upto == 0 {
            self.calls += 1;
            printed.upto = 1;
        }
        let what = cells::in_words(call, session);
        // What was refused has not run.
        let has_run = call.is_finished() && !call.refused && !call.is_turned_down();
        let exit = cells::exit_of(call, session).filter(|_| has_run);
        // Agents report such calls as completed.
        let went_wrong = exit.as_ref().is_some_and(|exit| exit.is_known() && !exit.is_success());
        let state = if went_wrong && call.status == ToolStatus::Completed { "failed" } else { state(call) };
        let exit = exit.map(|exit| format!(", {exit}")).unwrap_or_default();
        let why = reason(call).map(|why| format!(": {why}")).unwrap_or_default();
        let decided = call.decided.as_ref().map(|decided| format!(", {}", decided.words())).unwrap_or_default();
        // What it is called later is told with its end.
        if state == BEGINS && std::mem::replace(&mut printed.has_begun, true) {
            return;
        }
        once(&format!("tool: {what}: {state}{decided}{exit}{why}"), printed, out);
    }
}

/// Whether a call runs that may yet show this command.
fn may_be_claimed(command: &Entry, session: SessionRef<'_>) -> bool {
    let runs = |entry: &Entry| matches!(&entry.body, Body::Tool(call) if !call.is_finished());
    let entries = session.entries();
    (0..entries.len()).rev().filter_map(|at| entries.at(at)).take_while(|e| e.turn == command.turn).any(runs)
}

/// What a path is shown relative to.
fn roots(session: SessionRef<'_>, is_outside: bool) -> Vec<PathBuf> {
    if is_outside { Vec::new() } else { vec![PathBuf::from(&session.cwd)] }
}

fn state(call: &ToolCall) -> &str {
    match (&call.status, call.mark) {
        (ToolStatus::Completed, _) => "done",
        _ if call.refused && call.is_finished() || call.is_turned_down() => "refused",
        (ToolStatus::Failed, _) if !call.is_cancelled() => "failed",
        (ToolStatus::Cancelled | ToolStatus::Failed, _) | (_, Some(Mark::Cancelled)) => "cancelled",
        (_, Some(Mark::NoFinalStatus)) => "its end was not told",
        (_, Some(Mark::AgentGone)) => "the agent is gone",
        (_, None) => BEGINS,
    }
}

/// Why a call has failed, in the first line of what it gives.
fn reason(call: &ToolCall) -> Option<String> {
    if call.status != ToolStatus::Failed || call.refused {
        return None;
    }
    let said =
        call.content.iter().filter_map(ToolContent::text).chain(call.raw_output.as_ref().and_then(Value::as_str));
    let line = said.flat_map(str::lines).map(str::trim).find(|line| line.chars().any(char::is_alphanumeric))?;
    Some(limits::cut(line.to_owned(), MAX_REASON))
}

fn of_plan(plan: &[PlanEntry]) -> String {
    let done = plan.iter().filter(|step| step.status == PlanStatus::Completed).count();
    let mut line = format!("plan: {done} of {}", human::count(plan.len() as u64, "step"));
    line.push_str(" done");
    for step in plan.iter().filter(|step| step.status == PlanStatus::InProgress) {
        // Writing to a string cannot fail.
        let _ = write!(line, "; now {}", step.content);
    }
    line
}

/// A line, unless it was the last that was printed of its entry.
fn once(line: &str, printed: &mut Printed, out: &mut String) {
    if printed.line != line {
        line.clone_into(&mut printed.line);
        let (label, rest) = line.split_once(": ").unwrap_or(("", line));
        let mut lines = rest.lines();
        push(&format!("{label}: "), lines.next().unwrap_or(""), out);
        lines.for_each(|line| push(QUOTE, line, out));
    }
}

fn push(before: &str, line: &str, out: &mut String) {
    out.push_str(before);
    out.push_str(&sanitize::line(line));
    out.push('\n');
}

/// What of a message is new, in whole lines; the rest of it when nothing follows.
fn text(label: &str, message: &Message, is_whole: bool, printed: &mut Printed, out: &mut String) {
    let is_replaced = printed.replaced != message.replaced;
    if is_replaced {
        *printed = Printed { replaced: message.replaced, ..Printed::default() };
    }
    let fresh = message.text.get(printed.upto..).unwrap_or("");
    let end = if is_whole { fresh.len() } else { fresh.rfind('\n').map_or(0, |at| at + 1) };
    let piece = fresh.get(..end).unwrap_or("");
    // A line that was printed without its end has it here.
    let before = message.text.get(..printed.upto).unwrap_or("");
    let piece =
        if !before.is_empty() && !before.ends_with('\n') { piece.strip_prefix('\n').unwrap_or(piece) } else { piece };
    for line in piece.lines().filter(|line| !line.trim().is_empty()) {
        if printed.line.is_empty() || !printed.goes_on {
            let label = if is_replaced { format!("{label}, instead: ") } else { format!("{label}: ") };
            push(&label, line, out);
            printed.line = label;
            printed.goes_on = true;
        } else {
            push(QUOTE, line, out);
        }
    }
    printed.upto += end;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::event::{AgentEvent, AgentRequest, Event, HostEvent, Intent, Stop, Update, WriteFact, WriteHow};
    use crate::model::ids::ReqId;
    use crate::model::patch::Patch;
    use crate::model::permission_mode::PermissionMode;
    use crate::model::tool::{Change, TerminalPatch, ToolPatch};
    use crate::ui::fixtures::Scene;

    /// A turn is under way; its prompt was typed.
    fn working() -> (Scene, Teller) {
        let (scene, mut teller) = (Scene::working(80, 24), Teller::new(true));
        teller.is_sent(scene.model.first().turn.as_ref().unwrap().entry);
        (scene, teller)
    }

    fn told(teller: &mut Teller, scene: &Scene, upto: Upto) -> String {
        teller.follow(scene.model.first(), upto)
    }

    #[test]
    fn a_command_that_ends_before_its_call_shows_it_is_told_once() {
        let (mut scene, mut teller) = working();
        scene.tool("t", ToolKind::Execute, "cargo test", ToolStatus::InProgress);
        let term = scene.starts(7, "cargo test");
        scene.exits(7, 0);
        let mut all = told(&mut teller, &scene, Upto::Now);
        let mut patch = ToolPatch::new("t".into());
        patch.content = Patch::Set(vec![ToolContent::Terminal(term)]);
        patch.status = Patch::Set(ToolStatus::Completed);
        scene.update(Update::ToolUpdate(patch.into()));
        all += &told(&mut teller, &scene, Upto::Now);
        scene.end_turn(Stop::EndTurn);
        all += &told(&mut teller, &scene, Upto::End);
        assert_eq!(all, "tool: run cargo test: begins\ntool: run cargo test: done, exit 0\n");
    }

    #[test]
    fn a_call_that_is_named_anew_begins_once() {
        let (mut scene, mut teller) = working();
        scene.tool("t", ToolKind::Execute, "bash", ToolStatus::InProgress);
        let mut all = told(&mut teller, &scene, Upto::Now);
        let mut patch = ToolPatch::new("t".into());
        patch.title = Patch::Set("cargo test".into());
        scene.update(Update::ToolUpdate(patch.into()));
        all += &told(&mut teller, &scene, Upto::Now);
        let mut patch = ToolPatch::new("t".into());
        patch.status = Patch::Set(ToolStatus::Completed);
        scene.update(Update::ToolUpdate(patch.into()));
        all += &told(&mut teller, &scene, Upto::End);
        assert_eq!(all, "tool: run bash: begins\ntool: run cargo test: done\n");
    }

    #[test]
    fn a_command_that_no_call_shows_is_told_when_the_calls_are_over() {
        let (mut scene, mut teller) = working();
        scene.tool("t", ToolKind::Read, "notes.md", ToolStatus::InProgress);
        scene.starts(7, "cargo test");
        scene.exits(7, 0);
        assert_eq!(told(&mut teller, &scene, Upto::Now), "");
        scene.tool("t", ToolKind::Read, "notes.md", ToolStatus::Completed);
        let all = told(&mut teller, &scene, Upto::Now);
        assert_eq!(all, "tool: read notes.md: done\ncommand: cargo test: exit 0\n");
        assert_eq!(told(&mut teller, &scene, Upto::End), "");
    }

    #[test]
    fn a_held_prompt_is_told_when_it_goes_out() {
        let (mut scene, mut teller) = (Scene::ready(80, 24), Teller::new(true));
        scene.intent(Intent::Prompt { text: "first".into(), links: Vec::new() });
        teller.is_sent(scene.model.first().turn.as_ref().unwrap().entry);
        scene.intent(Intent::Prompt { text: "then".into(), links: Vec::new() });
        assert_eq!(told(&mut teller, &scene, Upto::Now), "", "it was typed here");
        scene.end_turn(Stop::EndTurn);
        assert!(told(&mut teller, &scene, Upto::Now).ends_with("you: then\n"));
    }

    #[test]
    fn what_a_mode_says_to_the_agent_is_not_said_by_the_person() {
        let (mut scene, mut teller) = working();
        scene.intent(Intent::SetPermissionMode(PermissionMode::Plan.into()));
        scene.ask_edit(1, "src/x.rs", "a\n", "b\n", &["Yes", "No"]);
        scene.end_turn(Stop::EndTurn);
        let all = told(&mut teller, &scene, Upto::Now);
        assert!(all.contains("acp-tui to the agent: Refused: the client is in its permission mode plan"), "{all}");
        assert!(!all.contains("you: Refused"), "{all}");
    }

    #[test]
    fn a_call_that_was_refused_or_has_failed_says_so_and_why() {
        let (mut scene, mut teller) = working();
        scene.tool("t", ToolKind::Execute, "make", ToolStatus::Failed);
        let mut patch = ToolPatch::new("t".into());
        patch.content = Patch::Set(vec![ToolContent::Block(Block::Text("\n```\nno rule to make it\n".into()))]);
        scene.update(Update::ToolUpdate(patch.into()));
        assert_eq!(told(&mut teller, &scene, Upto::Now), "tool: run make: failed: no rule to make it\n");
        scene.ask(1, "rm x", &["Allow", "Reject"]);
        scene.intent(Intent::Refuse { req: ReqId(1), reason: String::new() });
        let said = told(&mut teller, &scene, Upto::Now);
        scene.end_turn(Stop::EndTurn);
        let all = said + &told(&mut teller, &scene, Upto::End);
        assert!(all.contains(": refused") && !all.contains("not told"), "{all}");
    }

    #[test]
    fn a_command_that_ended_badly_has_failed_whatever_its_call_says() {
        // As opencode tells it: completed, and the exit among what the call gave back.
        for (output, told_as) in [
            (serde_json::json!({ "output": "", "metadata": { "exit": 2 } }), "failed, exit 2"),
            (serde_json::json!({ "exit_code": 0 }), "done, exit 0"),
            (serde_json::json!({ "output": "" }), "done"),
        ] {
            let (mut scene, mut teller) = working();
            scene.tool("t", ToolKind::Execute, "make", ToolStatus::Completed);
            let mut patch = ToolPatch::new("t".into());
            patch.raw_output = Patch::Set(output);
            scene.update(Update::ToolUpdate(patch.into()));
            assert_eq!(told(&mut teller, &scene, Upto::Now), format!("tool: run make: {told_as}\n"));
        }
        // And with a terminal of ours.
        let (mut scene, mut teller) = working();
        scene.runs(7, "cargo test");
        scene.exits(7, 101);
        let mut patch = ToolPatch::new("run-7".into());
        patch.status = Patch::Set(ToolStatus::Completed);
        scene.update(Update::ToolUpdate(patch.into()));
        let said = told(&mut teller, &scene, Upto::Now);
        assert_eq!(said, "tool: run cargo test: failed, exit 101\n");
    }

    /// claude-agent-acp announces a command as `Terminal` with nothing in its input, and shows a terminal of its own.
    #[test]
    fn a_command_is_told_once_its_words_are_known_and_one_that_is_refused_has_no_end() {
        let (mut scene, mut teller) = working();
        let mut patch = ToolPatch::new("t".into());
        patch.kind = Patch::Set(ToolKind::Execute);
        patch.title = Patch::Set("Terminal".into());
        patch.raw_input = Patch::Set(serde_json::json!({}));
        patch.content = Patch::Set(vec![ToolContent::Terminal("of-the-agent".into())]);
        scene.update(Update::ToolCall(patch.into()));
        assert_eq!(told(&mut teller, &scene, Upto::Now), "");
        let mut patch = ToolPatch::new("t".into());
        patch.title = Patch::Set("printf x".into());
        patch.raw_input = Patch::Set(serde_json::json!({"command": "printf x"}));
        scene.ask_patch(1, patch, &["Allow", "Reject"]);
        let mut all = told(&mut teller, &scene, Upto::Now);
        scene.intent(Intent::Refuse { req: ReqId(1), reason: String::new() });
        all += &told(&mut teller, &scene, Upto::Now);
        let exit = crate::model::tool::Exit { code: None, signal: None };
        let ended = TerminalPatch { exit: Patch::Set(exit), ..TerminalPatch::new("of-the-agent".into()) };
        scene.update(Update::Terminal(ended.into()));
        let mut patch = ToolPatch::new("t".into());
        patch.status = Patch::Set(ToolStatus::Failed);
        scene.update(Update::ToolUpdate(patch.into()));
        all += &told(&mut teller, &scene, Upto::Now);
        scene.end_turn(Stop::EndTurn);
        all += &told(&mut teller, &scene, Upto::End);
        assert_eq!(all, "tool: run printf x: begins\ntool: run printf x: refused\n");
    }

    /// Kimi shortens a command in its title and says in place of it, once it is refused, that it is.
    #[test]
    fn a_command_that_is_asked_about_in_words_and_refused_is_told_once() {
        let (mut scene, mut teller) = working();
        let mut patch = ToolPatch::new("t".into());
        patch.title = Patch::Set("Shell: echo one; ...echo three".into());
        let text = |text: &str| Patch::Set(vec![ToolContent::Block(Block::Text(text.into()))]);
        patch.content = text("Requesting approval to perform: Run command `echo one; echo two; echo three`");
        scene.ask_patch(1, patch, &["Allow", "Reject"]);
        let mut all = told(&mut teller, &scene, Upto::Now);
        scene.intent(Intent::Refuse { req: ReqId(1), reason: String::new() });
        all += &told(&mut teller, &scene, Upto::Now);
        let mut patch = ToolPatch::new("t".into());
        (patch.content, patch.status) = (text("It was rejected."), Patch::Set(ToolStatus::Failed));
        scene.update(Update::ToolUpdate(patch.into()));
        all += &told(&mut teller, &scene, Upto::Now);
        scene.end_turn(Stop::EndTurn);
        all += &told(&mut teller, &scene, Upto::End);
        assert_eq!(all, "tool: run echo one; echo two; echo three: refused\n");
    }

    #[test]
    fn a_refusal_is_told_when_it_is_refused_and_an_answer_that_was_interrupted_has_its_label_again() {
        let (mut scene, mut teller) = working();
        scene.ask(1, "echo about to fail", &["Allow", "Reject"]);
        let asked = told(&mut teller, &scene, Upto::Now);
        scene.intent(Intent::Refuse { req: ReqId(1), reason: String::new() });
        let said = told(&mut teller, &scene, Upto::Now);
        assert!(said.starts_with("tool: ") && said.ends_with(": refused\n"), "{asked} {said}");
        scene.tool("t", ToolKind::Read, "notes.md", ToolStatus::InProgress);
        scene.say("Well:\n```rust\n");
        assert_eq!(told(&mut teller, &scene, Upto::Now), "agent: Well:\n  | ```rust\n");
        scene.tool("t", ToolKind::Read, "notes.md", ToolStatus::Completed);
        scene.say("fn main() {\n");
        let said = told(&mut teller, &scene, Upto::Now);
        assert_eq!(said, "tool: read notes.md: done\nagent: fn main() {\n");
        scene.say("}\n");
        assert_eq!(told(&mut teller, &scene, Upto::Now), "  | }\n");
        teller.is_interrupted();
        scene.say("```\n");
        assert_eq!(told(&mut teller, &scene, Upto::Now), "agent: ```\n");
        scene.end_turn(Stop::EndTurn);
        let said = told(&mut teller, &scene, Upto::End);
        assert!(!said.contains("refused"), "it was told: {said}");
    }

    #[test]
    fn a_written_file_is_named_from_the_directory_on_and_one_outside_by_its_whole_path() {
        let (mut scene, mut teller) = working();
        let mut write = |req: u64, path: &str, outside: Option<&str>| {
            let (id, path) = (ReqId(req), path.to_owned());
            let request =
                AgentRequest::WriteFile { path: path.clone(), content: "12345".into(), how: WriteHow::default() };
            let session = Some(crate::ui::fixtures::session());
            scene.event(Event::Agent(AgentEvent::Request { req: id, session, request: request.into() }));
            let (real, result) = (None, Ok(()));
            let checked = HostEvent::WriteChecked { req: id, path: path.clone(), real, outside: false, result };
            scene.event(Event::Host(checked));
            let outside = outside.map(str::to_owned);
            let result = Ok(WriteFact { created: true, bytes: 5, old: None, outside });
            scene.event(Event::Host(HostEvent::FileWritten { req: id, path, result }));
            told(&mut teller, &scene, Upto::Now)
        };
        assert_eq!(write(1, "/home/me/src/shop/src/pages/cart.rs", None), "file: write src/pages/cart.rs: 5 B\n");
        assert_eq!(write(2, "/home/me/src/shopping/x", None), "file: write /home/me/src/shopping/x: 5 B\n");
        assert_eq!(write(3, "/home/me/src/shop/../x", None), "file: write /home/me/src/x: 5 B\n");
        let said = write(4, "/home/me/src/shop/link/x", Some("/srv/x"));
        assert_eq!(said, "file: write /srv/x: 5 B, outside: not reviewed, no undo\n");
    }

    /// See `tests/naughty/README.md`.
    #[test]
    fn strings_that_programs_stumble_over_are_lines_of_text() {
        let strings: Vec<String> = serde_json::from_str(include_str!("../../tests/naughty/strings.json")).unwrap();
        for text in &strings {
            let (mut scene, mut teller) = working();
            scene.say(text);
            scene.tool(text, ToolKind::Execute, text, ToolStatus::InProgress);
            scene.tool(text, ToolKind::Execute, text, ToolStatus::Failed);
            let entry = PlanEntry {
                content: text.clone(),
                priority: crate::model::entry::Priority::None,
                status: PlanStatus::InProgress,
            };
            scene.update(Update::Plan { id: None, entries: vec![entry] });
            scene.update(Update::Notice { level: Level::Warn, title: text.clone(), description: Some(text.clone()) });
            scene.end_turn(Stop::EndTurn);
            let all = told(&mut teller, &scene, Upto::End);
            let bad = |c: char| c != '\n' && (c.is_control() || sanitize::is_deceptive(c));
            assert!(!all.contains(bad), "{text:?}: {all:?}");
            let labels = ["agent: ", "tool: ", "plan: ", "warning: ", QUOTE];
            assert!(all.lines().all(|line| labels.iter().any(|label| line.starts_with(label))), "{text:?}: {all}");
        }
    }

    #[test]
    fn a_call_is_named_by_what_it_does_to_which_file() {
        let (mut scene, mut teller) = working();
        let mut patch = ToolPatch::new("t".into());
        patch.title = Patch::Set("Writing to NOTES.md".into());
        (patch.kind, patch.status) = (Patch::Set(ToolKind::Edit), Patch::Set(ToolStatus::Completed));
        let change = Change::of_texts("/home/me/src/shop/NOTES.md", Some("".into()), "new\n".into());
        patch.content = Patch::Set(vec![ToolContent::Change(change)]);
        scene.update(Update::ToolCall(patch.into()));
        assert_eq!(told(&mut teller, &scene, Upto::Now), "tool: create NOTES.md: done\n");
    }
}
