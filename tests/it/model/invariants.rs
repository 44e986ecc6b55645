//! Random runs, valid and hostile: what must hold after every event.

use crate::support::{Rig, SESSION, exit_code, options, plain_init, render};
use acp_tui::engine::replay::replay;
use acp_tui::model::Model;
use acp_tui::model::changes::{Gate, HeldOutcome, ReviewCommand, ReviewEvent, Totals};
use acp_tui::model::effect::{Answer, Effect};
use acp_tui::model::entry::Body;
use acp_tui::model::event::{HostEvent, Intent, Timer, WriteFact};
use acp_tui::model::ids::{ReqId, TermId, TurnId};
use acp_tui::model::question::About;
use acp_tui::model::refusal::{Reason, Refusal};
use acp_tui::model::session::{Allow, Phase, Policy, Write};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;

type Step = (u8, u8, u8);

struct Run {
    rig: Rig,
    next_id: u64,
    /// Requests of the agent: answers seen, and whether their connection still stands.
    asked: BTreeMap<u64, (u32, bool)>,
    /// Prompts and other calls of ours that are open.
    calls: Vec<(u64, String)>,
    read: usize,
    wishes: usize,
    files: Vec<(ReqId, bool)>,
    /// What the review was asked and has not answered.
    reviews: Vec<ReviewCommand>,
    checks: Vec<ReqId>,
    review: bool,
    creates: Vec<ReqId>,
    terms: u64,
    seen: Vec<(u64, bool, String)>,
}

const HOSTILE: &[&str] = &[
    "",
    "null",
    "[]",
    "{}",
    "[INFO] x",
    "{\"jsonrpc\"",
    "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{}}",
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":7}",
    "{\"jsonrpc\":\"2.0\",\"id\":-1,\"result\":null}",
    "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\"}",
    "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"other\",\"update\":{\"sessionUpdate\":\"plan\",\"entries\":[]}}}",
    "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"s1\",\"update\":{\"sessionUpdate\":\"tool_call\",\"toolCallId\":[]}}}",
    "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"s1\",\"update\":{\"sessionUpdate\":\"usage_update\",\"used\":1e99,\"size\":-1}}}",
    "{\"jsonrpc\":\"2.0\",\"method\":\"$/cancel_request\",\"params\":{\"requestId\":{}}}",
    "\u{feff}{\"jsonrpc\":\"2.0\",\"method\":\"_x\",\"params\":\"\\ud83d\"}",
];
const STATUSES: &[&str] = &["pending", "in_progress", "completed", "failed", "odd"];
const STOPS: &[&str] = &["end_turn", "cancelled", "refusal", "max_tokens", "odd"];

fn pick<T: Copy>(list: &[T], at: u8) -> T {
    list[usize::from(at) % list.len()]
}

impl Run {
    fn new(policy: Policy, review: bool) -> Self {
        Self {
            rig: Rig::starting_as(policy, review),
            reviews: Vec::new(),
            checks: Vec::new(),
            review,
            next_id: 0,
            asked: BTreeMap::new(),
            calls: Vec::new(),
            read: 0,
            wishes: 0,
            files: Vec::new(),
            creates: Vec::new(),
            terms: 0,
            seen: Vec::new(),
        }
    }

    fn ask(&mut self, method: &str, params: Value) {
        let id = self.next_id;
        self.next_id += 1;
        self.asked.insert(id, (0, true));
        self.rig.request(id, method, params);
    }

    fn reply(&mut self, method: &str, body: Value) {
        let Some(at) = self.calls.iter().position(|(_, m)| m == method) else { return };
        let (id, _) = self.calls.remove(at);
        self.rig.agent(crate::support::with(json!({ "jsonrpc": "2.0", "id": id }), body));
    }

    fn step(&mut self, (kind, a, b): Step) {
        let tool = format!("t{}", a % 4);
        let term = format!("term-{}", b % 4);
        match kind % 36 {
            0 => self.rig.prompt(&format!("prompt {a}")),
            1 => self.rig.intent(Intent::Cancel),
            2 => self.reply("session/prompt", json!({ "result": { "stopReason": pick(STOPS, a) } })),
            3 => self.reply("session/prompt", json!({ "error": { "code": if a < 60 { -32000 } else { 5 }, "message": "m" } })),
            4 | 5 => {
                let kind = pick(&["agent_message_chunk", "agent_thought_chunk", "user_message_chunk"], a);
                let id = if b < 128 { Value::Null } else { json!(format!("m{}", b % 3)) };
                let text = pick(&["prompt ", "x", "", " ", "é\n"], b);
                self.rig.update(json!({ "sessionUpdate": kind, "messageId": id, "content": { "type": "text", "text": text } }));
            }
            6 | 7 => self.rig.tool(json!({ "toolCallId": tool, "title": "T", "status": pick(STATUSES, b) })),
            8 | 9 => self.rig.tool_update(json!({ "toolCallId": tool, "status": pick(STATUSES, b),
                "content": [{ "type": "terminal", "terminalId": term }] })),
            10 | 11 => {
                let options = if b < 20 { json!([]) } else { options() };
                self.ask("session/request_permission", json!({ "toolCall": { "toolCallId": tool, "kind": "read" }, "options": options }));
            }
            12 => {
                if let Some(req) = self.rig.pending().first().copied() {
                    self.rig.intent(Intent::Answer { req, option: pick(&["yes", "no", "other", "allow", "reject"], a).into() });
                }
            }
            13 => {
                let id = u64::from(a) % (self.next_id + 1);
                self.rig.agent(json!({ "jsonrpc": "2.0", "method": "$/cancel_request", "params": { "requestId": id } }));
            }
            14 => self.ask("fs/read_text_file", json!({ "path": "/project/a" })),
            15 => self.ask("fs/write_text_file", json!({ "path": "/project/a", "content": "x" })),
            16 => self.file_done(a),
            17 => self.ask("terminal/create", json!({ "command": "make" })),
            18 => self.terminal_starts(a),
            19 => {
                let method = pick(&["output", "wait_for_exit", "kill", "release"], a);
                self.ask(&format!("terminal/{method}"), json!({ "terminalId": term }));
            }
            20 => self.rig.terminal_ends(&term, exit_code(u32::from(a))),
            21 if a < 40 => self.lose(),
            22 if a < 40 => self.restart(),
            23 => self.reply("initialize", json!({ "result": plain_init() })),
            24 => self.reply("session/new", json!({ "result": { "sessionId": SESSION } })),
            25 => self.rig.line(pick(HOSTILE, a)),
            26 => self.ask(pick(&["x/y", "session/request_permission", "fs/read_text_file"], a), json!({ "sessionId": pick(&["s1", "s2"], b) })),
            27 => self.rig.update(json!({ "sessionUpdate": "plan", "entries": [{ "content": "c", "priority": "low", "status": "pending" }] })),
            28 => self.rig.timer(Timer::KillTerminals(TurnId(u64::from(a % 4)))),
            29 => self.rig.intent(Intent::SetGate(pick(&Gate::ALL, a))),
            30 | 31 => self.reviewed(a, b),
            32 => self.rig.timer(Timer::Coverage(TurnId(u64::from(a % 6)))),
            33 | 34 => {
                if !self.checks.is_empty() {
                    let req = self.checks.remove(usize::from(a) % self.checks.len());
                    let result = if b < 40 { Err(Refusal::new(Reason::Outside, "outside")) } else { Ok(()) };
                    self.rig.host(HostEvent::WriteChecked { req, path: "/project/a".into(), real: None, outside: false, result });
                }
            }
            _ => self.reply(pick(&["initialize", "session/new", "session/prompt"], a), pick_body(b)),
        }
        self.follow();
    }

    fn file_done(&mut self, a: u8) {
        if self.files.is_empty() {
            return;
        }
        let (req, write) = self.files.remove(usize::from(a) % self.files.len());
        let path = "/project/a".to_owned();
        let error = Refusal::new(Reason::Failed, "disk");
        self.rig.host(match (write, a < 128) {
            (false, true) => HostEvent::FileRead { req, path, result: Ok("x".into()) },
            (false, false) => HostEvent::FileRead { req, path, result: Err(error) },
            (true, true) => HostEvent::FileWritten {
                req,
                path,
                result: Ok(WriteFact { created: true, bytes: 1, old: None, outside: None }),
            },
            (true, false) => HostEvent::FileWritten { req, path, result: Err(error) },
        });
    }

    /// The review answers something, in any order, or ends.
    fn reviewed(&mut self, a: u8, b: u8) {
        if a < 4 {
            return self.rig.host(HostEvent::Review(ReviewEvent::ReviewOff { message: "gone".into() }));
        }
        if self.reviews.is_empty() {
            return;
        }
        let totals = Totals { added: 1, removed: 0, files: u64::from(b % 2), pending: 1 };
        let fact = match self.reviews.remove(usize::from(a) % self.reviews.len()) {
            ReviewCommand::BeginTurn(turn) => HostEvent::Review(ReviewEvent::TurnCovered {
                turn,
                covered: if b < 200 { Ok(()) } else { Err("x".into()) },
            }),
            ReviewCommand::EndTurn(turn) => {
                HostEvent::Review(ReviewEvent::TurnReviewed { turn, totals, session: totals, after: b > 9 })
            }
            ReviewCommand::Hold { req, .. } if b < 128 => {
                self.reviews.push(ReviewCommand::DecideHeld { req, write: true });
                HostEvent::Review(ReviewEvent::WriteHeld { req })
            }
            ReviewCommand::Hold { req, .. } | ReviewCommand::DecideHeld { req, .. } => {
                let outcome = match b % 4 {
                    0 => HeldOutcome::Whole { created: true, bytes: 1 },
                    1 => HeldOutcome::Partly { differs: "x".into() },
                    2 => HeldOutcome::Refused,
                    _ => HeldOutcome::Failed { message: "x".into() },
                };
                HostEvent::Review(ReviewEvent::HeldDecided { req, outcome })
            }
            ReviewCommand::Preview { req, asked } => {
                HostEvent::Review(ReviewEvent::Previews { req, asked, previews: Vec::new() })
            }
            _ => return,
        };
        self.rig.host(fact);
    }

    fn terminal_starts(&mut self, a: u8) {
        if self.creates.is_empty() {
            return;
        }
        let req = self.creates.remove(usize::from(a) % self.creates.len());
        let fact = if a < 30 {
            HostEvent::TerminalFailed { req, error: Refusal::new(Reason::Failed, "no") }
        } else {
            self.terms += 1;
            HostEvent::TerminalStarted { req, term: TermId::from(format!("term-{}", self.terms)) }
        };
        self.rig.host(fact);
    }

    /// The connection is gone: what is open is void.
    fn lose(&mut self) {
        self.rig.exited(exit_code(1), &["x"]);
        self.connection_ended();
    }

    fn connection_ended(&mut self) {
        self.calls.clear();
        for (_, alive) in self.asked.values_mut() {
            *alive = false;
        }
    }

    fn restart(&mut self) {
        let lives = self.rig.model().first().agent().alive && !self.rig.is_dead();
        let starting = matches!(self.rig.model().first().phase(), Phase::Starting { .. });
        self.rig.intent(Intent::Restart);
        if lives && starting {
            return;
        }
        self.follow();
        if lives {
            // It was let go, not lost: everything has been answered.
            assert!(self.asked.values().all(|(answers, alive)| !alive || *answers == 1), "{:?}", self.asked);
        }
        self.connection_ended();
        self.rig.host(HostEvent::AgentSpawned { pid: 9 });
        self.read = self.rig.lines.len() - 1;
    }

    /// Notes what came out, and does at once what the engine would do at once.
    fn follow(&mut self) {
        let wishes: Vec<Effect> = self.rig.wishes[self.wishes..].to_vec();
        self.wishes = self.rig.wishes.len();
        for wish in wishes {
            match wish {
                Effect::Review(review) => self.reviews.push(review),
                Effect::CheckWrite { req, .. } => self.checks.push(req),
                Effect::FsRead { req, .. } => self.files.push((req, false)),
                Effect::FsWrite { req, .. } => self.files.push((req, true)),
                Effect::TerminalCreate { req, .. } => self.creates.push(req),
                Effect::TerminalOutput { req, .. } => {
                    let output = Answer::Output { text: String::new(), truncated: false, exit: None };
                    let line = self.rig.core.respond(req, &output);
                    self.rig.lines.extend(line.map(|l| serde_json::from_str::<Value>(&l.text).unwrap()));
                }
                _ => {}
            }
        }
        let news = self.rig.lines[self.read..].to_vec();
        for line in &news {
            self.note(line);
        }
        self.read = self.rig.lines.len();
        if self.rig.is_dead() {
            self.connection_ended();
        }
    }

    fn note(&mut self, line: &Value) {
        match (line["method"].as_str(), line["id"].as_u64()) {
            (Some(method), Some(id)) => self.calls.push((id, method.to_owned())),
            (None, Some(id)) => {
                let (answers, _) = self.asked.get_mut(&id).expect("an answer to nothing");
                *answers += 1;
                assert_eq!(*answers, 1, "request {id} was answered twice");
            }
            _ => {}
        }
    }

    fn check(&mut self) {
        let model = self.rig.model();
        let texts = render(model);
        assert!(texts.len() >= self.seen.len(), "an entry vanished");
        for (at, (rev, finished, text)) in self.seen.iter().enumerate() {
            let entry = model.first().session().entries().at(at).unwrap();
            assert_eq!(entry.id.0, at as u64);
            assert!(entry.rev >= *rev, "a revision went back");
            assert!(entry.finished || !finished, "unfinished again: {text}");
            // A terminal's line tells of the terminal, which is no part of the entry.
            let same = texts[at] == *text || matches!(entry.body, Body::Terminal(_));
            assert!(same || entry.rev > *rev, "changed in silence: {text} > {}", texts[at]);
        }
        let prompts = self.calls.iter().filter(|(_, m)| m == "session/prompt").count();
        assert!(prompts <= 1, "two prompts at once");
        let session = model.first().session();
        let is_sent = session.turn.as_ref().is_some_and(|t| !t.is_unsent);
        assert_eq!(prompts == 1, is_sent, "the turn is the open prompt");
        for pending in session.questions() {
            let is_call = model.first().session().tool(pending.entry).is_some();
            assert_eq!(is_call, pending.about == About::Permission, "a request without its call");
            let is_stopped = session.write(pending.req).is_some_and(Write::is_stopped);
            assert_eq!(is_stopped, pending.about == About::Write, "a question about a write that does not wait");
        }
        assert!(session.questions().is_empty() || !self.rig.is_dead());
        assert!(session.held.iter().all(|h| !h.text.trim().is_empty()));
        let seen = model.first().session().entries().iter().map(|e| (e.rev, e.finished)).zip(texts);
        self.seen = seen.map(|((rev, finished), text)| (rev, finished, text)).collect();
    }

    fn finish(mut self, policy: Policy) {
        for line in self.rig.core.answer_all() {
            self.note(&serde_json::from_str(&line.text).unwrap());
        }
        for (id, (answers, alive)) in &self.asked {
            assert!(*answers == 1 || !alive, "request {id} was never answered");
        }
        let header = json!({ "v": 1, "review": self.review, "gate": "off" }).to_string();
        let lines = std::iter::once(header.as_str()).chain(self.rig.journal.iter().map(String::as_str));
        let (again, skipped) =
            replay(Model::new("agent --acp".into(), "/project".into(), policy), PathBuf::from("/project"), lines);
        assert_eq!(skipped, 0);
        assert_eq!(render(&again), self.rig.entries(), "the journal gives another transcript");
    }
}

fn pick_body(b: u8) -> Value {
    match b % 5 {
        0 => json!({ "result": null }),
        1 => json!({ "result": [] }),
        2 => json!({ "error": { "code": -32000, "message": "log in" } }),
        3 => json!({ "error": { "code": "x" } }),
        _ => json!({}),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_the_invariants_hold(
        steps in proptest::collection::vec(any::<Step>(), 0..120),
        policy in prop_oneof![
            3 => Just(Policy::Ask),
            1 => Just(Policy::Auto(Allow::All)),
            1 => Just(Policy::Auto(Allow::Reads)),
        ],
        ready in any::<bool>(),
        review in any::<bool>(),
        gate in 0..3_usize,
    ) {
        let mut run = Run::new(policy, review);
        run.rig.intent(Intent::SetGate(Gate::ALL[gate]));
        run.follow();
        if ready {
            run.step((23, 0, 0));
            run.step((24, 0, 0));
            run.step((0, 0, 0));
        }
        for step in steps {
            run.step(step);
            run.check();
        }
        run.finish(policy);
    }
}
