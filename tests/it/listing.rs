//! The list of sessions between an agent that keeps some and a person: who is asked for what, what is remembered, and
//! what is answered from there.

use crate::support::app::{Agent, Person, play_with};
use crate::support::options;
use acp_tui::model::agent::Told;
use acp_tui::model::event::Listed;
use acp_tui::ui::keys::{Code, Key};
use acp_tui::ui::past::{Archive, Lease};
use acp_tui::ui::state::session_list::{End, Hit, PastSession, Query, Said, Starts, Which, Who};
use acp_tui::ui::state::standing::Standing;
use acp_tui::ui::state::trees::{Fate, Made, MadeFor, Making, Tree, Trees};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Notify;

const SIZE: (u16, u16) = (120, 40);
/// Longer than keys are ignored after the dock got the focus.
const ARMED: Duration = Duration::from_millis(800);

/// Remembers in memory what it is told.
#[derive(Default)]
struct Shelf {
    told: Mutex<Vec<Told>>,
    names: Mutex<Vec<(String, Option<String>)>>,
    exported: Mutex<Vec<String>>,
    forgotten: Mutex<Vec<String>>,
    forgot: Notify,
    is_held: AtomicBool,
    /// Where worktrees are made.
    below: Option<PathBuf>,
    made: Mutex<Vec<Making>>,
    decided: Mutex<Vec<Fate>>,
    gone: bool,
}

impl Shelf {
    fn past(told: &Told, listed: &Listed) -> PastSession {
        let cwd = listed.cwd.clone().unwrap_or_default();
        let starts = Starts::Configured("agent".into());
        let age = if listed.id.as_str().starts_with("new") { 30 } else { 60 };
        PastSession::clean(listed.id.as_str().into(), &told.agent, told.command.clone(), starts, cwd.into())
            .about(listed.title.as_deref(), None, None)
            .used(age, 1, End::Ended, vec![PathBuf::from(listed.id.as_str())], false)
    }

    fn tree(&self) -> Option<Tree> {
        let path = self.below.clone()?;
        Some(Tree { name: "w1".into(), branch: "acp-tui/w1".into(), origin: "/origin".into(), path })
    }
}

impl Archive for Shelf {
    fn claim(&self, _: &PastSession) -> Result<Option<Lease>, String> {
        Ok(None)
    }

    fn list(&self) -> Result<Vec<PastSession>, String> {
        let told = self.told.lock().unwrap();
        let all = told.iter().flat_map(|told| told.sessions.iter().map(|one| Self::past(told, one)));
        let gone = |one: PastSession| {
            let journals = one.journals.clone();
            one.used(60, 1, End::Ended, journals, true)
        };
        let mut all: Vec<PastSession> = if self.gone { all.map(gone).collect() } else { all.collect() };
        all.sort_by_key(|one| one.age);
        Ok(all)
    }

    fn busy(&self, _: &PastSession) -> Option<String> {
        None
    }

    fn standing(&self, _: &Path) -> Option<Standing> {
        assert_eq!(std::thread::current().name(), Some("sessions"), "the screen waits for it");
        Some(Standing { branch: "main".into(), uncommitted: Some(2) })
    }

    fn held(&self, _: &PastSession) -> Option<String> {
        assert_eq!(std::thread::current().name(), Some("sessions"), "the screen waits for it");
        self.is_held.load(Ordering::Relaxed).then(|| "a copy begins with it".to_owned())
    }

    fn forget(&self, past: &PastSession) -> Result<(), String> {
        self.forgotten.lock().unwrap().push(past.id.clone());
        self.forgot.notify_one();
        Ok(())
    }

    fn end_of(&self, past: &PastSession) -> Result<Vec<Said>, String> {
        Ok(vec![Said::new(Who::Agent, &format!("the end of {}", past.id))])
    }

    fn find(&self, query: &Query) -> Result<(Vec<Hit>, bool), String> {
        let session = Arc::new(self.list()?.remove(0));
        Ok((vec![Hit::new(session, (Who::Agent, 1), 5, &format!("here is {}", query.text), 8)], false))
    }

    fn rename(&self, which: &Which, name: Option<&str>) -> Result<(), String> {
        self.names.lock().unwrap().push((which.id.clone(), name.map(str::to_owned)));
        Ok(())
    }

    fn export(&self, which: &Which) -> Result<String, String> {
        self.exported.lock().unwrap().push(which.id.clone());
        Ok("session-x.md".to_owned())
    }

    fn trees(&self) -> Trees {
        let is_made = !self.made.lock().unwrap().is_empty();
        Trees { all: self.tree().filter(|_| is_made).into_iter().collect(), ..Trees::default() }
    }

    fn make(&self, making: &Making) -> Result<Vec<Made>, String> {
        let Some(tree) = self.tree() else { return Err("this is no repository".to_owned()) };
        self.made.lock().unwrap().push(making.clone());
        Ok(vec![Made { cwd: tree.path, remarks: vec!["worktree w1 on branch acp-tui/w1".to_owned()] }])
    }

    fn decide(&self, tree: &Tree, fate: &Fate) -> Result<String, String> {
        assert_eq!(Some(tree), self.tree().as_ref());
        self.decided.lock().unwrap().push(fate.clone());
        Ok("merged 1 file".to_owned())
    }

    fn learn(&self, told: &Told) -> Result<(), String> {
        *self.told.lock().unwrap() = vec![told.clone()];
        Ok(())
    }
}

/// Opens a session; the agent offers what has to do with sessions. Gives the directory.
async fn opens(agent: &mut Agent) -> Value {
    let call = agent.called("initialize").await;
    let offers = json!({ "list": {}, "fork": {}, "delete": {} });
    let capabilities = json!({ "loadSession": true, "sessionCapabilities": offers });
    agent.answer(&call, json!({ "protocolVersion": 1, "agentCapabilities": capabilities })).await;
    let call = agent.called("session/new").await;
    agent.answer(&call, json!({ "sessionId": "s" })).await;
    call["params"]["cwd"].clone()
}

/// Answers `session/list` with these, on one page.
async fn lists(agent: &mut Agent, cwd: &Value, ids: &[&str]) {
    let call = agent.called("session/list").await;
    assert_eq!(&call["params"]["cwd"], cwd, "{call}");
    agent.answer(&call, listed(cwd, ids)).await;
}

fn listed(cwd: &Value, ids: &[&str]) -> Value {
    let one = |id: &&str| json!({ "sessionId": id, "cwd": cwd, "title": format!("about {id}"), "updatedAt": "2026-01-01T00:00:00Z" });
    json!({ "sessions": ids.iter().map(one).collect::<Vec<_>>() })
}

#[tokio::test]
async fn r_151_an_agent_is_asked_for_its_sessions_when_it_is_there_and_when_the_list_opens() {
    let shelf = Arc::new(Shelf::default());
    let agent = async |mut agent: Agent| {
        let cwd = opens(&mut agent).await;
        lists(&mut agent, &cwd, &["old"]).await;
        agent.says("all is listed").await;
        // The list opens.
        lists(&mut agent, &cwd, &["old", "s", "newer"]).await;
        // Wider: without a directory.
        let call = agent.called("session/list").await;
        assert_eq!(call["params"].get("cwd"), None, "{call}");
        agent.answer(&call, json!({ "sessions": [] })).await;
        agent.stays().await;
    };
    let person = async |person: Person| {
        person.sees("all is listed").await;
        person.press(Key::plain(Code::F(8))).await;
        let screen = person.sees("“about newer”").await;
        assert!(screen.contains("“about old”"), "{screen}");
        let earlier = screen.split("earlier, in").nth(1).unwrap();
        assert!(!earlier.contains("“about s”"), "what is open here stands above\n{screen}");
        person.press(Key::plain(Code::End)).await;
        person.press(Key::plain(Code::Tab)).await;
        person.sees("no earlier session yet").await;
        person.press(Key::plain(Code::Esc)).await;
        person.quits().await;
    };
    let past: Arc<dyn Archive> = shelf.clone();
    play_with(SIZE, Some(past), agent, person).await;
    let told = shelf.told.lock().unwrap();
    assert!(told[0].is_whole && told[0].cwd.is_none(), "{told:?}");
}

/// As of an agent that reads many files for each page.
#[tokio::test]
async fn the_pages_of_a_slow_list_are_shown_as_they_come_and_what_is_chosen_stays_chosen() {
    let (shelf, more) = (Arc::new(Shelf::default()), Arc::new(Notify::new()));
    let goes_on = Arc::clone(&more);
    let agent = async move |mut agent: Agent| {
        let cwd = opens(&mut agent).await;
        agent.says("it reads").await;
        for (page, ids) in [&["one", "two"][..], &["new one", "three"], &["last"]].into_iter().enumerate() {
            let call = agent.called("session/list").await;
            goes_on.notified().await;
            agent.thinks(Duration::from_millis(600)).await;
            let mut answer = listed(&cwd, ids);
            if page < 2 {
                answer["nextCursor"] = json!(page.to_string());
            }
            agent.answer(&call, answer).await;
        }
        agent.stays().await;
    };
    let told = Arc::clone(&shelf);
    let person = async move |person: Person| {
        person.sees("it reads").await;
        person.press(Key::plain(Code::F(8))).await;
        person.sees("has not told its sessions yet").await;
        more.notify_one();
        let screen = person.sees("“about two”").await;
        assert!(screen.contains("has not told all of its sessions yet"), "{screen}");
        assert!(!told.told.lock().unwrap()[0].is_whole, "what is not there yet is not gone");
        person.press(Key::plain(Code::End)).await;
        person.sees("▸ “about two”").await;
        more.notify_one();
        let screen = person.sees("“about new one”").await;
        let at = |words: &str| screen.find(words).unwrap_or_else(|| panic!("{words}\n{screen}"));
        assert!(at("“about new one”") < at("▸ “about two”"), "{screen}");
        more.notify_one();
        let screen = person.sees("“about last”").await;
        assert!(screen.contains("▸ “about two”") && !screen.contains("has not told"), "{screen}");
        assert!(told.told.lock().unwrap()[0].is_whole);
        person.press(Key::plain(Code::Esc)).await;
        person.quits().await;
    };
    let past: Arc<dyn Archive> = shelf.clone();
    play_with(SIZE, Some(past), agent, person).await;
}

#[tokio::test]
async fn the_first_screen_says_what_the_repository_is_at() {
    let agent = async |mut agent: Agent| {
        opens(&mut agent).await;
        agent.stays().await;
    };
    let person = async |person: Person| {
        person.sees("· main, 2 files not committed").await;
        person.quits().await;
    };
    let past: Arc<dyn Archive> = Arc::new(Shelf::default());
    play_with(SIZE, Some(past), agent, person).await;
}

/// The first list is asked for before anybody looks at it.
#[tokio::test]
async fn what_is_wrong_with_a_list_is_said_also_when_it_was_asked_for_before_it_is_looked_at() {
    let agent = async |mut agent: Agent| {
        let cwd = opens(&mut agent).await;
        let call = agent.called("session/list").await;
        agent.says("not answered").await;
        let prompt = agent.called("session/prompt").await;
        let mut page = listed(&cwd, &["old"]);
        page["nextCursor"] = json!("same");
        agent.answer(&call, page.clone()).await;
        let call = agent.called("session/list").await;
        agent.answer(&call, page).await;
        agent.says(" but now").await;
        agent.ends(&prompt, "end_turn").await;
        agent.stays().await;
    };
    let person = async |person: Person| {
        person.sees("not answered").await;
        person.press(Key::plain(Code::F(8))).await;
        person.sees("has not told its sessions yet").await;
        person.press(Key::plain(Code::Esc)).await;
        person.types("go on").await;
        person.press(Key::plain(Code::Enter)).await;
        person.sees("but now").await;
        person.press(Key::plain(Code::F(8))).await;
        person.sees("lists the same page again and again").await;
        person.press(Key::plain(Code::Esc)).await;
        person.quits().await;
    };
    let past: Arc<dyn Archive> = Arc::new(Shelf::default());
    play_with(SIZE, Some(past), agent, person).await;
}

#[tokio::test]
async fn a_session_is_previewed_named_exported_copied_and_found_from_the_list() {
    let shelf = Arc::new(Shelf::default());
    let agent = async |mut agent: Agent| {
        let cwd = opens(&mut agent).await;
        lists(&mut agent, &cwd, &["old"]).await;
        agent.says("all is listed").await;
        lists(&mut agent, &cwd, &["old"]).await;
        let call = agent.called("session/fork").await;
        assert_eq!(call["params"]["sessionId"], "old");
        agent.answer(&call, json!({ "sessionId": "copy" })).await;
        // What only its agent knows of the original it tells of the copy, which may be before or after the list opens.
        let mut open = BTreeSet::from(["session/list", "session/load"]);
        while !open.is_empty() {
            let call = agent.receive().await;
            assert!(open.remove(call["method"].as_str().unwrap()), "{call}");
            if call["method"] == "session/load" {
                assert_eq!(call["params"]["sessionId"], "copy");
                agent.answer(&call, json!({})).await;
            } else {
                agent.answer(&call, listed(&cwd, &["old"])).await;
            }
        }
        let call = agent.called("session/load").await;
        assert_eq!(call["params"]["sessionId"], "old");
        for n in 0..60 {
            agent.says_in("old", &format!("line {n}.\n\n")).await;
        }
        agent.answer(&call, json!({})).await;
        agent.stays().await;
    };
    let person = async |person: Person| {
        person.sees("all is listed").await;
        person.press(Key::plain(Code::F(8))).await;
        person.sees("“about old”").await;
        person.press(Key::plain(Code::Down)).await;
        person.sees("the end of old").await;
        person.press(Key::ctrl(Code::Char('r'))).await;
        person.sees("name (only here): about old").await;
        person.types("!").await;
        person.press(Key::plain(Code::Enter)).await;
        person.press(Key::ctrl(Code::Char('e'))).await;
        person.sees("written to session-x.md").await;
        person.press(Key::ctrl(Code::Char('f'))).await;
        person.waits_for("the copy", |screen| !screen.contains("earlier, in") && screen.contains("2 ")).await;
        person.press(Key::plain(Code::F(8))).await;
        person.sees("“about old”").await;
        person.types("/line 3.").await;
        person.sees("Enter looks for it").await;
        person.press(Key::plain(Code::Enter)).await;
        person.sees("here is line 3.").await;
        person.press(Key::plain(Code::Enter)).await;
        person.waits_for("the place", |screen| screen.contains("line 3.") && !screen.contains("found, in")).await;
        person.quits().await;
    };
    let past: Arc<dyn Archive> = shelf.clone();
    play_with(SIZE, Some(past), agent, person).await;
    assert_eq!(*shelf.names.lock().unwrap(), [("old".to_owned(), Some("about old!".to_owned()))]);
    assert_eq!(*shelf.exported.lock().unwrap(), ["old"]);
}

#[tokio::test]
async fn ours_is_forgotten_when_its_agent_has_deleted_it_or_was_asked_in_vain() {
    let shelf = Arc::new(Shelf::default());
    let agent = async |mut agent: Agent| {
        let cwd = opens(&mut agent).await;
        lists(&mut agent, &cwd, &["old"]).await;
        agent.says("all is listed").await;
        lists(&mut agent, &cwd, &["old"]).await;
        let call = agent.called("session/delete").await;
        assert_eq!(call["params"]["sessionId"], "old");
        let error = json!({ "code": -32603, "message": "it is locked" });
        agent.send(json!({ "jsonrpc": "2.0", "id": call["id"], "error": error })).await;
        let call = agent.called("session/delete").await;
        agent.answer(&call, json!({})).await;
        agent.stays().await;
    };
    let deletes = async |person: &Person| {
        person.press(Key::plain(Code::Delete)).await;
        person.sees("Forget “about old”").await;
        person.types("y").await;
    };
    let shelved = shelf.clone();
    let person = async move |person: Person| {
        person.sees("all is listed").await;
        person.press(Key::plain(Code::F(8))).await;
        person.sees("“about old”").await;
        person.press(Key::plain(Code::Down)).await;
        shelved.is_held.store(true, Ordering::Relaxed);
        deletes(&person).await;
        person.sees("not forgotten: a copy begins with it").await;
        shelved.is_held.store(false, Ordering::Relaxed);
        deletes(&person).await;
        person.sees("it is locked · error from the agent (-32603) · Delete again forgets it here").await;
        assert_eq!(shelved.forgotten.lock().unwrap().len(), 0);
        for times in 1..3 {
            deletes(&person).await;
            // The second time the screen says what it said before.
            shelved.forgot.notified().await;
            assert_eq!(shelved.forgotten.lock().unwrap().len(), times);
            person.sees("the session is forgotten").await;
        }
        person.press(Key::plain(Code::Esc)).await;
        person.quits().await;
    };
    let past: Arc<dyn Archive> = shelf.clone();
    play_with(SIZE, Some(past), agent, person).await;
}

#[tokio::test]
async fn a_question_is_answered_below_the_list_and_the_list_is_still_there() {
    let agent = async |mut agent: Agent| {
        agent.opens().await;
        let prompt = agent.called("session/prompt").await;
        let call = json!({ "toolCallId": "t", "title": "Make it" });
        let params = json!({ "sessionId": "s", "toolCall": call, "options": options() });
        let answer = agent.asks("session/request_permission", params).await;
        assert_eq!(answer["result"]["outcome"], json!({ "outcome": "selected", "optionId": "no" }));
        agent.ends(&prompt, "end_turn").await;
        agent.stays().await;
    };
    let person = async |person: Person| {
        person.sees("write a request, Enter sends it").await;
        person.prompts("make it").await;
        person.sees("2 n Reject").await;
        person.press(Key::plain(Code::F(8))).await;
        let screen = person.sees("Tab answers here").await;
        assert!(!screen.contains("2 n Reject"), "{screen}");
        person.press(Key::plain(Code::Tab)).await;
        let screen = person.sees("2 n Reject").await;
        assert!(screen.contains("open here"), "{screen}");
        person.pass(ARMED).await;
        person.types("2").await;
        person.waits_for("the answer", |screen| screen.contains("open here") && !screen.contains("2 n Reject")).await;
        person.press(Key::plain(Code::Esc)).await;
        person.sees(" ready ·").await;
        person.quits().await;
    };
    play_with(SIZE, None, agent, person).await;
}

/// Asks for a further session in a worktree.
async fn wants_a_worktree(person: &Person) {
    person.press(Key::ctrl(Code::Char('t'))).await;
    person.sees("a further session of:").await;
    person.press(Key::plain(Code::Enter)).await;
    person.sees("works on these files").await;
    person.press(Key::plain(Code::Tab)).await;
    person.press(Key::plain(Code::Tab)).await;
    person.sees("in a git worktree of its own, with what is not committed").await;
    person.press(Key::plain(Code::Enter)).await;
}

#[tokio::test]
async fn a_further_session_is_opened_in_a_worktree_which_is_merged_from_the_list() {
    let temp = tempfile::tempdir().unwrap();
    let below = temp.path().canonicalize().unwrap();
    let shelf = Arc::new(Shelf { below: Some(below.clone()), ..Shelf::default() });
    let agent = async |mut agent: Agent| {
        agent.opens().await;
        let call = agent.called("session/new").await;
        assert_eq!(call["params"]["cwd"], below.to_str().unwrap());
        agent.answer(&call, json!({ "sessionId": "apart" })).await;
        agent.stays().await;
    };
    let person = async |person: Person| {
        person.sees("write a request, Enter sends it").await;
        wants_a_worktree(&person).await;
        person.waits_for("the second session", |s| s.contains("▸2") && s.contains("on branch acp-tui/w1")).await;
        person.press(Key::plain(Code::F(8))).await;
        person.waits_for("its branch", |s| s.contains("2 ") && s.contains("· acp-tui/w1")).await;
        // The session that is shown is chosen; where it stands depends on whether the agent has opened it yet.
        person.sees("^G merges its worktree").await;
        person.press(Key::ctrl(Code::Char('x'))).await;
        person.types("y").await;
        person.sees("a session is open in it").await;
        person.press(Key::ctrl(Code::Char('g'))).await;
        person.sees("into the files of /origin").await;
        person.types("y").await;
        person.sees("merged 1 file").await;
        person.press(Key::plain(Code::Esc)).await;
        person.quits().await;
    };
    let past: Arc<dyn Archive> = shelf.clone();
    play_with(SIZE, Some(past), agent, person).await;
    let made = shelf.made.lock().unwrap();
    assert!(made.len() == 1 && made[0].with_changes && matches!(made[0].made_for, MadeFor::Session(_)), "{made:?}");
    assert_eq!(*shelf.decided.lock().unwrap(), [Fate::Merge]);
}

#[tokio::test]
async fn where_no_worktree_can_be_made_it_says_why_and_nothing_is_opened() {
    let shelf = Arc::new(Shelf::default());
    let agent = async |mut agent: Agent| {
        agent.opens().await;
        agent.stays().await;
    };
    let person = async |person: Person| {
        person.sees("write a request, Enter sends it").await;
        wants_a_worktree(&person).await;
        let screen = person.sees("this is no repository").await;
        assert!(!screen.contains("▸2"), "{screen}");
        person.press(Key::plain(Code::Esc)).await;
        person.quits().await;
    };
    let past: Arc<dyn Archive> = shelf.clone();
    play_with(SIZE, Some(past), agent, person).await;
}

#[tokio::test]
async fn a_session_whose_directory_is_gone_is_shown_and_its_agent_is_not_asked_for_it() {
    let shelf = Arc::new(Shelf { gone: true, ..Shelf::default() });
    let agent = async |mut agent: Agent| {
        let cwd = opens(&mut agent).await;
        lists(&mut agent, &cwd, &["old"]).await;
        agent.says("all is listed").await;
        lists(&mut agent, &cwd, &["old"]).await;
        agent.stays().await;
    };
    let person = async |person: Person| {
        person.sees("all is listed").await;
        person.press(Key::plain(Code::F(8))).await;
        person.sees("directory gone").await;
        person.press(Key::plain(Code::Down)).await;
        person.press(Key::plain(Code::Enter)).await;
        person.sees("read only: its directory is gone").await;
        person.quits().await;
    };
    let past: Arc<dyn Archive> = shelf.clone();
    play_with(SIZE, Some(past), agent, person).await;
}

#[tokio::test]
async fn what_is_asked_beside_a_session_before_that_is_open_is_asked_once_it_is() {
    let (typed, is_typed) = tokio::sync::oneshot::channel();
    let agent = async move |mut agent: Agent| {
        let call = agent.called("initialize").await;
        agent.answer(&call, json!({ "protocolVersion": 1, "agentCapabilities": {} })).await;
        let call = agent.called("session/new").await;
        is_typed.await.unwrap();
        agent.answer(&call, json!({ "sessionId": "s" })).await;
        let beside = agent.called("session/new").await;
        agent.answer(&beside, json!({ "sessionId": "beside" })).await;
        let prompt = agent.called("session/prompt").await;
        assert_eq!(prompt["params"]["sessionId"], "beside");
        assert!(prompt["params"]["prompt"].to_string().contains("why is it so"), "{prompt}");
        agent.says_in("beside", "since it is").await;
        agent.ends(&prompt, "end_turn").await;
        agent.stays().await;
    };
    let person = async move |person: Person| {
        person.prompts("/btw why is it so").await;
        person.sees("asked beside it once the session is open").await;
        typed.send(()).unwrap();
        person.sees("since it is").await;
        person.quits().await;
    };
    play_with(SIZE, None, agent, person).await;
}

/// One question beside the session, with an agent whose modes are these; what it was called for beside it, in order.
async fn asked_beside(beside: Value, answer: Value) -> Vec<String> {
    let (done, is_done) = tokio::sync::oneshot::channel();
    let agent = async move |mut agent: Agent| {
        agent.opens().await;
        let call = agent.called("session/new").await;
        let opened = ["modes", "configOptions"].map(|key| (key.to_owned(), beside[key].clone()));
        let mut result: serde_json::Map<String, Value> = opened.into_iter().filter(|(_, it)| !it.is_null()).collect();
        result.insert("sessionId".into(), json!("beside"));
        agent.answer(&call, Value::Object(result)).await;
        let mut called = Vec::new();
        loop {
            let call = agent.receive().await;
            let method = call["method"].as_str().unwrap().to_owned();
            let value = ["modeId", "value"].iter().find_map(|key| call["params"][key].as_str());
            called.push(value.map_or_else(|| method.clone(), |value| format!("{method} {value}")));
            if method == "session/prompt" {
                agent.says_in("beside", "since it is").await;
                agent.ends(&call, "end_turn").await;
                break;
            }
            let refusal = json!({ "code": -32603, "message": "not now" });
            let (key, what) = if answer.is_null() { ("error", &refusal) } else { ("result", &answer) };
            agent.send(json!({ "jsonrpc": "2.0", "id": call["id"], key: what })).await;
        }
        done.send(called).unwrap();
        agent.stays().await;
    };
    let person = async move |person: Person| {
        person.sees("write a request, Enter sends it").await;
        person.prompts("/btw why is it so").await;
        person.sees("since it is").await;
        person.quits().await;
    };
    play_with(SIZE, None, agent, person).await;
    is_done.await.unwrap()
}

#[tokio::test]
async fn a_question_beside_a_session_is_asked_in_the_mode_that_only_reads() {
    let mode = |id: &str| json!({ "id": id, "name": id });
    let modes = json!({ "currentModeId": "agent", "availableModes": [mode("agent"), mode("plan"), mode("read-only")] });
    let older = json!({ "modes": modes });
    assert_eq!(asked_beside(older.clone(), json!({})).await, ["session/set_mode read-only", "session/prompt"]);
    // One that is refused keeps nothing from being asked.
    assert_eq!(asked_beside(older, Value::Null).await, ["session/set_mode read-only", "session/prompt"]);
    let value = |id: &str| json!({ "value": id, "name": id });
    let options = json!([{ "id": "m", "name": "Mode", "category": "mode", "type": "select", "currentValue": "build", "options": [value("build"), value("plan")] }]);
    let set = asked_beside(json!({ "configOptions": options }), json!({})).await;
    assert_eq!(set, ["session/set_config_option plan", "session/prompt"]);
    let modes = json!({ "currentModeId": "plan", "availableModes": [mode("agent"), mode("plan")] });
    assert_eq!(asked_beside(json!({ "modes": modes }), json!({})).await, ["session/prompt"]);
    assert_eq!(asked_beside(json!({}), json!({})).await, ["session/prompt"]);
}
