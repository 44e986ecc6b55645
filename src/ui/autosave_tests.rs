use super::*;
use crate::model::event::{AgentEvent, Event, HostEvent, InitResult, Intent, Opening, SessionResult};
use crate::model::ids::{Address, Addressed, AgentKey};
use crate::model::reduce::reduce;
use crate::model::tool::Exit;
use crate::ui::fixtures::Scene;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// A store in memory, which tells of every call.
#[derive(Default)]
struct Memory {
    drafts: Mutex<BTreeMap<Place, Draft>>,
    sent: Mutex<Vec<Sent>>,
    done: Mutex<Vec<String>>,
    changed: Condvar,
    is_full: AtomicBool,
}

impl Memory {
    fn did(&self, what: String) {
        self.done.lock().unwrap().push(what);
        self.changed.notify_all();
    }

    /// Waits until something was done; fails when it is not.
    fn sees(&self, what: &str) {
        let done = self.done.lock().unwrap();
        let waits = |done: &mut Vec<String>| !done.iter().any(|one| one == what);
        let (done, waited) = self.changed.wait_timeout_while(done, Duration::from_secs(20), waits).unwrap();
        assert!(!waited.timed_out(), "{what}: {done:?}");
    }

    fn has_room(&self) -> Result<(), String> {
        if self.is_full.load(Ordering::Relaxed) { Err("the disk is full".into()) } else { Ok(()) }
    }

    fn count(&self) -> usize {
        self.done.lock().unwrap().len()
    }
}

impl DraftStore for Memory {
    fn keep(&self, place: &Place, draft: &Draft) -> Result<(), String> {
        self.has_room()?;
        let name = match place {
            Place::Session { id, .. } => id.clone(),
            Place::Beside { id, .. } => format!("beside {id}"),
            Place::Directory { cwd, .. } => cwd.display().to_string(),
        };
        let mut drafts = self.drafts.lock().unwrap();
        if draft.is_empty() {
            drafts.remove(place);
        } else {
            drafts.insert(place.clone(), draft.clone());
        }
        drop(drafts);
        self.did(format!("{name}: {} + {}", draft.text, draft.held.len()));
        Ok(())
    }

    fn fetch(&self, place: &Place) -> Result<Option<Draft>, String> {
        Ok(self.drafts.lock().unwrap().get(place).cloned())
    }

    fn remember(&self, sent: &Sent) -> Result<(), String> {
        self.has_room()?;
        self.sent.lock().unwrap().push(sent.clone());
        self.did(format!("sent {}", sent.text));
        Ok(())
    }

    fn prompts(&self) -> Result<Vec<Sent>, String> {
        Err("the disk is full".into())
    }
}

async fn fetched(autosave: &mut Autosave, scene: &mut Scene) {
    autosave.look(&scene.model, &scene.ui);
    let Brought::Draft(key, draft) = autosave.next().await else { panic!("no draft") };
    if let Some(draft) = autosave.fetched(key, draft, true) {
        scene.ui.view_of(key).unwrap().composer.bring(&draft.text, &draft.command, true);
    }
}

fn opened(scene: &mut Scene) {
    scene.start();
    scene.agent(AgentEvent::Initialized(Ok(InitResult::default())));
    scene.agent(AgentEvent::SessionOpened(Ok(Box::new(SessionResult {
        id: "gem-1".into(),
        modes: None,
        options: None,
        model: None,
        commands: None,
        earlier: 0,
    }))));
}

#[tokio::test]
async fn what_is_written_moves_from_the_directory_to_the_session_and_goes_when_it_is_sent() {
    let drafts = Arc::new(Memory::default());
    let mut autosave = Autosave::new(Some(drafts.clone()));
    let mut scene = Scene::new(80, 24);
    fetched(&mut autosave, &mut scene).await;
    scene.ui.view.composer.paste("hello");
    autosave.look(&scene.model, &scene.ui);
    drafts.sees("/home/me/src/shop: hello + 0");
    opened(&mut scene);
    autosave.look(&scene.model, &scene.ui);
    // Sent: the turn runs, what is written next belongs to the session, and so does what waits.
    let text = scene.ui.view.composer.take();
    scene.intent(Intent::Prompt { text, links: Vec::new() });
    autosave.look(&scene.model, &scene.ui);
    drafts.sees("/home/me/src/shop:  + 0");
    scene.intent(Intent::Prompt { text: "and then".into(), links: Vec::new() });
    scene.ui.view.composer.paste("half a tho");
    autosave.look(&scene.model, &scene.ui);
    drafts.sees("gem-1: half a tho + 1");
    let place = Place::Session { agent: "gemini --acp".into(), id: "gem-1".into() };
    let kept = drafts.fetch(&place).unwrap().unwrap();
    assert_eq!(kept.clone().joined(), "and then\n\nhalf a tho");
    assert_eq!(drafts.drafts.lock().unwrap().len(), 1);
    // Nothing has changed: nothing is done.
    let before = drafts.count();
    autosave.look(&scene.model, &scene.ui);
    autosave.remember(Sent { cwd: "/".into(), text: "x".into() });
    drafts.sees("sent x");
    assert_eq!(drafts.count(), before + 1);
    autosave.close();
}

#[test]
fn what_was_sent_or_cleared_is_taken_away_at_once() {
    let place = Place::Session { agent: "gemini --acp".into(), id: "gem-1".into() };
    let mut jobs = Jobs::default();
    jobs.drafts.insert(place.clone(), Draft { text: "half a tho".into(), ..Draft::default() });
    assert!(!jobs.is_urgent(), "words are gathered");
    jobs.drafts.insert(place, Draft::default());
    assert!(jobs.is_urgent());
}

#[tokio::test]
async fn an_account_of_one_conversation_never_becomes_the_draft_of_another() {
    let drafts = Arc::new(Memory::default());
    let mut autosave = Autosave::new(Some(drafts.clone()));
    let mut scene = Scene::new(80, 24);
    fetched(&mut autosave, &mut scene).await;
    let account = account::of_past(&crate::model::past::Past::default(), "another");
    scene.ui.view.composer.paste(&format!("{account}\n\nand the door"));
    autosave.look(&scene.model, &scene.ui);
    drafts.sees("/home/me/src/shop: and the door + 0");
    // Sent to a session that never opens: it waits.
    let text = scene.ui.view.composer.take();
    scene.intent(Intent::Prompt { text, links: Vec::new() });
    scene.intent(Intent::Prompt { text: account.clone(), links: Vec::new() });
    autosave.look(&scene.model, &scene.ui);
    drafts.sees("/home/me/src/shop:  + 1");
    let place = Place::of(scene.model.first(), None);
    assert_eq!(drafts.fetch(&place).unwrap().unwrap().joined(), "and the door");
    // What an earlier version has left there.
    let left = Draft { text: account, ..Draft::default() };
    assert_eq!(autosave.fetched(scene.ui.shown(), Some(left), true), None);
    autosave.close();
}

#[tokio::test]
async fn an_account_is_kept_whole_for_a_session_that_continues_what_it_is_of() {
    let drafts = Arc::new(Memory::default());
    let mut autosave = Autosave::new(Some(drafts.clone()));
    let mut scene = Scene::new(80, 24);
    fetched(&mut autosave, &mut scene).await;
    let before = Before { session: scene.ui.shown(), id: Some("old".into()), agent: "Another".into(), to: None };
    scene.intent(Intent::Follows(before.clone()));
    let text = format!("{}\n\nand the door", account::of_past(&crate::model::past::Past::default(), "another"));
    scene.ui.view.composer.paste(&text);
    autosave.look(&scene.model, &scene.ui);
    autosave.close();
    let place = Place::of(scene.model.first(), None);
    let wanted = Draft { text: text.clone(), follows: Some(before.clone()), ..Draft::default() };
    let kept = drafts.fetch(&place).unwrap().unwrap();
    assert_eq!(kept, wanted);
    // The next start has it whole, and is the same kind of start.
    let mut autosave = Autosave::new(Some(drafts.clone()));
    let mut later = Scene::new(80, 24);
    autosave.look(&later.model, &later.ui);
    let brought = autosave.fetched(later.ui.shown(), Some(kept), true).unwrap();
    assert_eq!(brought, wanted);
    later.intent(Intent::Follows(before));
    later.ui.view.composer.bring(&text, "", true);
    later.draw();
    assert!(later.shown.contains("continues session old of Another"), "{}", later.shown);
    // Once something was said it is like any other's.
    opened(&mut later);
    let text = later.ui.view.composer.take();
    later.intent(Intent::Prompt { text, links: Vec::new() });
    later.ui.view.composer.paste("more");
    autosave.look(&later.model, &later.ui);
    drafts.sees("gem-1: more + 0");
    let place = Place::of(later.model.first(), None);
    assert_eq!(drafts.fetch(&place).unwrap(), Some(Draft { text: "more".into(), ..Draft::default() }));
    autosave.close();
}

#[tokio::test]
async fn what_waits_stays_with_a_conversation_whose_agent_begins_anew() {
    let drafts = Arc::new(Memory::default());
    let mut autosave = Autosave::new(Some(drafts.clone()));
    let mut scene = Scene::new(80, 24);
    fetched(&mut autosave, &mut scene).await;
    opened(&mut scene);
    for text in ["said", "waits"] {
        scene.intent(Intent::Prompt { text: text.into(), links: Vec::new() });
    }
    autosave.look(&scene.model, &scene.ui);
    drafts.sees("gem-1:  + 1");
    let place = Place::of(scene.model.first(), None);
    // It keeps no sessions, and opens none when it is there again.
    let exit = Exit { code: Some(1), signal: None };
    scene.event(Event::Host(HostEvent::AgentExited { exit, stderr: Vec::new() }));
    scene.intent(Intent::Restart);
    autosave.look(&scene.model, &scene.ui);
    scene.ui.view.composer.paste("more");
    autosave.look(&scene.model, &scene.ui);
    autosave.close();
    let kept = drafts.drafts.lock().unwrap().clone();
    assert_eq!(kept.keys().collect::<Vec<_>>(), [&place], "{kept:?}");
    assert!(kept[&place].clone().joined().contains("waits"), "{kept:?}");
}

#[tokio::test]
async fn a_draft_that_was_kept_comes_back_before_what_was_typed_meanwhile() {
    let drafts = Arc::new(Memory::default());
    let mut scene = Scene::new(80, 24);
    let place = Place::of(scene.model.first(), None);
    drafts.keep(&place, &Draft { text: "draft".into(), held: vec!["held".into()], ..Draft::default() }).unwrap();
    let mut autosave = Autosave::new(Some(drafts.clone()));
    autosave.look(&scene.model, &scene.ui);
    scene.ui.view.composer.paste("typed");
    autosave.look(&scene.model, &scene.ui);
    assert_eq!(drafts.drafts.lock().unwrap()[&place].text, "draft", "not overwritten before it is read");
    fetched(&mut autosave, &mut scene).await;
    assert_eq!(scene.ui.view.composer.text(), "held\n\ndraft\n\ntyped");
    autosave.look(&scene.model, &scene.ui);
    let closing = Instant::now();
    autosave.close();
    assert!(closing.elapsed() < LAST_WORDS, "what is left is written at once");
    let left = drafts.drafts.lock().unwrap()[&place].clone();
    assert_eq!(left, Draft { text: "held\n\ndraft\n\ntyped".into(), ..Draft::default() });
}

/// A window that shows `gem-1` since another one has it.
fn second_window() -> Scene {
    let mut scene = Scene::new(80, 24);
    let why = ReadOnly::Elsewhere("another window".into());
    scene.intent(Intent::OpenAs(Opening::Show { id: "gem-1".into(), why }));
    scene.start();
    assert!(scene.model.first().read_only().is_some());
    scene
}

/// It takes the session over, as the loop does.
fn takes_over(scene: &mut Scene) -> SessionKey {
    let shown = scene.ui.shown();
    let how = Opening::Continue("gem-1".into());
    for (at, intent) in [
        (Address::Agent(AgentKey::FIRST), Intent::OpenSession { cwd: "/home/me/src/shop".into(), how }),
        (shown.into(), Intent::CloseSession),
    ] {
        reduce(&mut scene.model, Addressed { at, what: Event::User(intent) }, scene.now);
        scene.ui.sync(&scene.model, scene.now);
        let new = scene.model.sessions().map(|(key, _)| key).last().unwrap();
        if new != shown && scene.ui.has_view(shown) {
            scene.ui.show(new);
            scene.ui.carry_words(shown, new);
        }
    }
    assert!(!scene.ui.has_view(shown));
    scene.ui.shown()
}

#[tokio::test]
async fn what_is_written_beside_another_window_is_kept_and_goes_on_below_its_draft() {
    let drafts = Arc::new(Memory::default());
    let own = Place::Session { agent: "gemini --acp".into(), id: "gem-1".into() };
    let beside = own.beside().unwrap();
    drafts.keep(&own, &Draft { text: "of the first".into(), ..Draft::default() }).unwrap();
    let mut autosave = Autosave::new(Some(drafts.clone()));
    let mut scene = second_window();
    fetched(&mut autosave, &mut scene).await;
    assert_eq!(scene.ui.view.composer.text(), "", "that is the other window's");
    scene.ui.view.composer.paste("of the second");
    scene.ui.view.stash = vec!["put aside".into()];
    autosave.look(&scene.model, &scene.ui);
    drafts.sees("beside gem-1: of the second + 0");
    assert_eq!(drafts.fetch(&own).unwrap().unwrap().text, "of the first");
    takes_over(&mut scene);
    assert_eq!(scene.ui.view.composer.text(), "of the second", "also where nothing is kept");
    fetched(&mut autosave, &mut scene).await;
    let both = "of the first\n\nof the second";
    assert_eq!(scene.ui.view.composer.text(), both);
    autosave.look(&scene.model, &scene.ui);
    drafts.sees(&format!("gem-1: {both} + 0"));
    drafts.sees("beside gem-1:  + 0");
    assert_eq!(drafts.fetch(&own).unwrap().unwrap().aside, ["put aside"]);
    assert_eq!(drafts.fetch(&beside).unwrap(), None);
    let before = drafts.count();
    autosave.look(&scene.model, &scene.ui);
    autosave.close();
    assert_eq!(drafts.count(), before, "nothing has changed");
}

#[tokio::test]
async fn what_was_written_beside_another_window_is_there_when_the_session_is_opened_again() {
    let drafts = Arc::new(Memory::default());
    let mut autosave = Autosave::new(Some(drafts.clone()));
    let mut scene = second_window();
    fetched(&mut autosave, &mut scene).await;
    scene.ui.view.composer.paste("half a thought");
    autosave.look(&scene.model, &scene.ui);
    drafts.sees("beside gem-1: half a thought + 0");
    // The person closes it meanwhile.
    let further = Intent::OpenSession { cwd: "/home/me/src/shop".into(), how: Opening::New };
    reduce(&mut scene.model, Addressed { at: AgentKey::FIRST.into(), what: Event::User(further) }, scene.now);
    scene.intent(Intent::CloseSession);
    autosave.look(&scene.model, &scene.ui);
    assert!(matches!(autosave.next().await, Brought::Draft(_, None)));
    let how = Opening::Continue("gem-1".into());
    let again = Intent::OpenSession { cwd: "/home/me/src/shop".into(), how };
    reduce(&mut scene.model, Addressed { at: AgentKey::FIRST.into(), what: Event::User(again) }, scene.now);
    scene.ui.sync(&scene.model, scene.now);
    autosave.look(&scene.model, &scene.ui);
    let Brought::Draft(key, found) = autosave.next().await else { panic!("no draft") };
    let brought = autosave.fetched(key, found, true).unwrap();
    assert_eq!(brought.text, "half a thought");
    scene.ui.view_of(key).unwrap().composer.bring(&brought.text, "", true);
    autosave.look(&scene.model, &scene.ui);
    drafts.sees("gem-1: half a thought + 0");
    drafts.sees("beside gem-1:  + 0");
    autosave.close();
}

#[tokio::test]
async fn what_was_put_aside_comes_back_put_aside() {
    let drafts = Arc::new(Memory::default());
    let mut scene = Scene::new(80, 24);
    let mut autosave = Autosave::new(Some(drafts.clone()));
    fetched(&mut autosave, &mut scene).await;
    scene.ui.view.stash = vec!["one".into(), "two".into()];
    scene.ui.view.composer.paste("three");
    autosave.look(&scene.model, &scene.ui);
    autosave.close();
    let kept = drafts.drafts.lock().unwrap()[&Place::of(scene.model.first(), None)].clone();
    let wanted = Draft { text: "three".into(), aside: vec!["one".into(), "two".into()], ..Draft::default() };
    assert_eq!(kept, wanted);
    let mut autosave = Autosave::new(Some(drafts));
    autosave.look(&scene.model, &Scene::new(80, 24).ui);
    assert_eq!(autosave.fetched(scene.ui.shown(), Some(kept), true), Some(wanted));
    autosave.close();
}

#[tokio::test]
async fn a_command_that_was_not_run_comes_back_as_one() {
    let drafts = Arc::new(Memory::default());
    let mut autosave = Autosave::new(Some(drafts.clone()));
    let mut scene = Scene::new(80, 24);
    fetched(&mut autosave, &mut scene).await;
    scene.ui.view.composer.begin_shell();
    scene.ui.view.composer.paste("make test");
    autosave.look(&scene.model, &scene.ui);
    autosave.close();
    let place = Place::of(scene.model.first(), None);
    let kept = drafts.drafts.lock().unwrap()[&place].clone();
    assert_eq!(kept, Draft { command: "make test".into(), ..Draft::default() });
    let mut autosave = Autosave::new(Some(drafts.clone()));
    let mut scene = Scene::new(80, 24);
    autosave.look(&scene.model, &scene.ui);
    assert_eq!(autosave.fetched(scene.ui.shown(), Some(kept.clone()), true), Some(kept));
    // Once it is run nothing is left of it.
    scene.ui.view.composer.bring("", "make test", true);
    autosave.look(&scene.model, &scene.ui);
    let _ = scene.ui.view.composer.take();
    scene.ui.view.composer.leave_shell();
    autosave.look(&scene.model, &scene.ui);
    autosave.close();
    assert!(drafts.drafts.lock().unwrap().get(&place).is_none_or(Draft::is_empty));
}

#[tokio::test]
async fn what_a_command_printed_comes_back_quoted_where_it_did_not_go_along() {
    let drafts = Arc::new(Memory::default());
    let mut autosave = Autosave::new(Some(drafts.clone()));
    let mut scene = Scene::new(80, 24);
    fetched(&mut autosave, &mut scene).await;
    scene.ui.view.composer.paste("mend it");
    let term: TermId = "term-1".into();
    scene.event(Event::Host(HostEvent::ShellStarted { term: term.clone(), line: "make test".into() }));
    autosave.look(&scene.model, &scene.ui);
    let exit = Exit { code: Some(2), signal: None };
    scene.event(Event::Host(HostEvent::TerminalExited { term: term.clone(), exit, end: "one\n".into() }));
    autosave.look(&scene.model, &scene.ui);
    autosave.close();
    let place = Place::of(scene.model.first(), None);
    let kept = drafts.drafts.lock().unwrap()[&place].clone();
    let mut autosave = Autosave::new(Some(drafts.clone()));
    let mut later = Scene::new(80, 24);
    autosave.look(&later.model, &later.ui);
    for (written, wanted) in [
        ("mend it", "mend it\n\nI ran this here (exit 2):\n> $ make test\n> one"),
        ("", "I ran this here (exit 2):\n> $ make test\n> one"),
    ] {
        let kept = Draft { text: written.into(), ..kept.clone() };
        let brought = autosave.fetched(later.ui.shown(), Some(kept), true).unwrap();
        assert_eq!(brought, Draft { text: wanted.into(), ..Draft::default() });
    }
    // It is in the prompt from then on, once.
    later.ui.view.composer.bring("I ran this here (exit 2):\n> $ make test\n> one", "", true);
    autosave.look(&later.model, &later.ui);
    autosave.close();
    assert_eq!(drafts.drafts.lock().unwrap()[&place].ran, Vec::<String>::new());
    // What is left out or has gone along is not kept.
    let mut autosave = Autosave::new(Some(Arc::new(Memory::default())));
    autosave.look(&scene.model, &scene.ui);
    autosave.look(&scene.model, &scene.ui);
    assert_eq!(autosave.kept[&scene.ui.shown()].draft.ran.len(), 1);
    scene.intent(Intent::ForgetShell(term));
    autosave.look(&scene.model, &scene.ui);
    assert_eq!(autosave.kept[&scene.ui.shown()].draft, Draft { text: "mend it".into(), ..Draft::default() });
    autosave.close();
}

#[tokio::test]
async fn what_a_full_disk_did_not_take_is_written_once_there_is_room() {
    let drafts = Arc::new(Memory::default());
    let mut autosave = Autosave::new(Some(drafts.clone()));
    let mut scene = Scene::new(80, 24);
    fetched(&mut autosave, &mut scene).await;
    drafts.is_full.store(true, Ordering::Relaxed);
    scene.ui.view.composer.paste("written meanwhile");
    autosave.look(&scene.model, &scene.ui);
    autosave.remember(Sent { cwd: "/w".into(), text: "sent meanwhile".into() });
    assert!(matches!(autosave.next().await, Brought::Failed(why) if why.contains("full")));
    drafts.is_full.store(false, Ordering::Relaxed);
    drafts.sees("/home/me/src/shop: written meanwhile + 0");
    drafts.sees("sent sent meanwhile");
    assert_eq!(drafts.sent.lock().unwrap().len(), 1);
    // Without another word there is nothing more to do.
    let done = drafts.count();
    autosave.close();
    assert_eq!(drafts.count(), done);
}

#[tokio::test]
async fn a_desk_that_fails_is_told_of_once() {
    let mut autosave = Autosave::new(Some(Arc::new(Memory::default())));
    autosave.read_prompts();
    assert!(matches!(autosave.next().await, Brought::Failed(why) if why.contains("full")));
    autosave.read_prompts();
    let more = tokio::time::timeout(Duration::from_millis(50), autosave.next()).await;
    assert!(more.is_err(), "{more:?}");
}

/// A question that is kept is in no session before that is open and it is sent.
#[tokio::test]
async fn a_question_that_was_not_sent_is_kept_with_the_conversation_beside_which_it_is_asked() {
    use crate::ui::state::aside::{Aside, Unsent};
    for written in ["", "a thought"] {
        let drafts = Arc::new(Memory::default());
        let mut autosave = Autosave::new(Some(drafts.clone()));
        let mut scene = Scene::new(80, 24);
        fetched(&mut autosave, &mut scene).await;
        let (beside, key) = (scene.ui.shown(), SessionKey(7));
        let unsent = Some(Unsent { account: None, has_chosen: false });
        let (scroll, turn, mode_before) = (0, None, None);
        let question = "why is it so".to_owned();
        scene.ui.asides.kept = vec![Aside { key, beside, question, scroll, unsent, turn, mode_before }];
        scene.ui.asides.waiting = Some((beside, "and then".to_owned()));
        scene.ui.view.composer.paste(written);
        autosave.look(&scene.model, &scene.ui);
        let place = Place::of(scene.model.first(), None);
        drafts.sees(&format!("/home/me/src/shop: {written} + 0"));
        let kept = drafts.drafts.lock().unwrap()[&place].clone();
        assert_eq!(kept.questions, ["why is it so", "and then"]);
        let mut next = Autosave::new(Some(drafts.clone()));
        next.look(&scene.model, &Scene::new(80, 24).ui);
        let brought = next.fetched(beside, Some(kept), true).unwrap();
        let wanted = if written.is_empty() {
            Draft { text: "/btw why is it so".into(), aside: vec!["/btw and then".into()], ..Draft::default() }
        } else {
            let aside = vec!["/btw why is it so".into(), "/btw and then".into()];
            Draft { text: written.into(), aside, ..Draft::default() }
        };
        assert_eq!(brought, wanted);
        next.close();
        // Once it is sent it is a draft no more.
        scene.ui.asides.kept[0].unsent = None;
        scene.ui.asides.waiting = None;
        autosave.look(&scene.model, &scene.ui);
        autosave.close();
        let left = drafts.drafts.lock().unwrap().get(&place).cloned().unwrap_or_default();
        assert_eq!(left, Draft { text: written.into(), ..Draft::default() });
    }
}
