//! The list of sessions: what is found, what a key does, and what is asked first.

use super::*;
use crate::base::origins::{Origin, Origins};
use crate::model::ids::Now;
use crate::text::fuzzy;
use crate::ui::state::attention::Attention;
use std::time::Duration;

fn past(id: &str, title: &str, cwd: &str, starts: Starts) -> PastSession {
    PastSession::clean(id.into(), "Gemini", "gemini --acp".into(), starts, cwd.into())
        .about(Some(title), Some("first words"), Some("last words"))
        .used(60, 3, End::Ended, vec![PathBuf::from(format!("{id}.jsonl"))], false)
}

fn configured(id: &str, title: &str, cwd: &str) -> PastSession {
    past(id, title, cwd, Starts::Configured("gemini".into()))
}

fn list(all: Vec<PastSession>) -> SessionList {
    let which = Which { command: "gemini --acp".into(), id: "here".into(), journals: None };
    let open = Open {
        key: SessionKey::FIRST,
        text: "the one that is open".into(),
        which: Some(which),
        attention: Attention::Nothing,
        cwd: "/shop".into(),
        used: Now::ZERO,
    };
    let mut list = SessionList::new("/shop".into(), vec![open], Past::Reading, Taste::default());
    list.told(Past::Read(all.into()));
    list
}

fn act(list: &mut SessionList, action: Action) -> Step {
    let frame = ListFrame { is_whole: true, page: 10, ..ListFrame::default() };
    list.act(action, &frame, Offers { runs: &|_| false, deletes: &|_| false, forks: &|_| None })
}

fn names(list: &SessionList) -> Vec<String> {
    let name = |row| match row {
        Row::Open(open) => open.text.clone(),
        Row::Past(one) => one.name().unwrap_or_default().to_owned(),
        Row::Hit(hit) => hit.line.clone(),
    };
    (0..list.len()).filter_map(|at| list.row(at).map(name)).collect()
}

/// Its agent may list a session before it has answered the call that opens it.
#[test]
fn a_session_that_gets_its_id_while_the_list_is_open_is_not_listed_as_another() {
    let mut list = list(vec![configured("here", "the same", "/shop"), configured("x", "another", "/shop")]);
    list.open[0].which = None;
    list.told(list.past.clone());
    assert_eq!(list.len(), 3);
    list.named(|_| None);
    assert_eq!(list.len(), 3);
    list.named(|_| Some(Which { command: "gemini --acp".into(), id: "here".into(), journals: None }));
    assert_eq!(names(&list), ["the one that is open", "another"]);
}

fn trees() -> Arc<Trees> {
    let worktrees = "/state/worktrees/shop".into();
    let origin = Origin { worktrees, top: "/shop".into(), ..Origin::default() };
    Arc::new(Trees { all: vec![tree()], origins: Origins::new(vec![origin]) })
}

fn tree() -> Tree {
    let (origin, path) = ("/shop".into(), "/state/worktrees/shop/w1".into());
    Tree { name: "w1".into(), branch: "acp-tui/w1".into(), origin, path }
}

#[test]
fn who_waits_for_the_person_is_chosen_at_first_else_the_session_that_is_shown() {
    let open = |key: u32, attention| Open {
        key: SessionKey(key),
        text: format!("session {key}"),
        which: None,
        attention,
        cwd: "/shop".into(),
        used: Now::ZERO,
    };
    use Attention::{Done, Nothing, Waits};
    let cases = [(0, [Nothing, Done, Nothing], 0), (2, [Nothing, Done, Nothing], 2), (2, [Nothing, Waits, Waits], 2)];
    for (from, attention, shown) in cases.into_iter().chain([(0, [Nothing, Waits, Nothing], 1)]) {
        let all = attention.into_iter().zip(0..).map(|(attention, key)| open(key, attention)).collect();
        let list = SessionList::new("/shop".into(), all, Past::Reading, Taste::default());
        let mut list = list.from(SessionKey(from));
        assert!(matches!(list.current(), Some(Row::Open(open)) if open.key == SessionKey(shown)));
        list.told(Past::Read([past("a", "b", "/shop", Starts::Unknown)].into()));
        assert!(matches!(list.current(), Some(Row::Open(open)) if open.key == SessionKey(shown)), "still");
    }
}

#[test]
fn a_session_in_a_worktree_is_listed_where_that_came_from() {
    let below = configured("b", "in a corner", "/state/worktrees/shop/w1/src");
    let mut list = list(vec![configured("a", "fix", "/state/worktrees/shop/w1"), below]);
    assert_eq!(names(&list), ["the one that is open"]);
    list.trees = trees();
    list.told(list.past().clone());
    assert_eq!(names(&list), ["the one that is open", "fix"]);
    assert_eq!(list.elsewhere(), 1, "a directory below is another one there, too");
    let from_there = SessionList::new("/state/worktrees/shop/w1".into(), Vec::new(), list.past().clone(), list.taste());
    let mut from_there = from_there.with(trees());
    from_there.told(list.past().clone());
    assert_eq!(names(&from_there), ["fix"]);
}

#[test]
fn sessions_that_continue_one_another_stand_together_where_nothing_is_filtered() {
    let of = |id: &str, began: u64| {
        configured(id, id, "/shop").of_thread(Some("first".to_owned()), Duration::from_secs(began))
    };
    // The second one was ended after the third.
    let mut list = list(vec![of("second", 2), of("third", 3), configured("other", "other", "/shop"), of("first", 1)]);
    assert_eq!(names(&list), ["the one that is open", "third", "second", "first", "other"]);
    let beneath: Vec<bool> = (0..5).map(|at| list.is_beneath(at)).collect();
    assert_eq!(beneath, [false, false, true, true, false]);
    list.type_text("other");
    assert_eq!(names(&list), ["other"]);
}

#[test]
fn of_a_worktree_that_was_discarded_it_is_said_that_it_was() {
    let mut list = list(vec![configured("a", "fix", "/state/worktrees/shop/w2")]);
    list.trees = trees();
    list.told(list.past().clone());
    act(&mut list, Action::Down);
    for key in [Action::MergeTree, Action::DiscardTree] {
        assert_eq!(act(&mut list, key), Step::Stay);
        assert!(list.note.as_ref().is_some_and(|note| note.contains("was discarded")), "{:?}", list.note);
    }
}

#[test]
fn what_becomes_of_a_worktree_is_asked_first() {
    let mut list = list(vec![configured("a", "fix", "/state/worktrees/shop/w1")]);
    list.trees = trees();
    list.told(list.past().clone());
    assert_eq!(act(&mut list, Action::MergeTree), Step::Stay);
    assert!(list.note.as_ref().is_some_and(|note| note.contains("no worktree")) && list.asks.is_none());
    act(&mut list, Action::Down);
    for (key, fate) in [(Action::MergeTree, Fate::Merge), (Action::DiscardTree, Fate::Discard)] {
        assert_eq!(act(&mut list, key), Step::Stay);
        assert!(list.wants_a_yes());
        assert_eq!(act(&mut list, Action::Escape), Step::Stay);
        assert!(list.asks.is_none());
        act(&mut list, key);
        assert_eq!(act(&mut list, Action::Accept), Step::Tree(tree(), fate));
    }
}

#[test]
fn tab_widens_to_all_directories_and_back() {
    let mut list = list(vec![configured("a", "cart", "/shop"), configured("b", "mill", "/mill")]);
    assert_eq!((names(&list), list.elsewhere()), (vec!["the one that is open".to_owned(), "cart".to_owned()], 1));
    assert_eq!(act(&mut list, Action::Tab), Step::Reached);
    assert_eq!(names(&list), ["the one that is open", "cart", "mill"]);
    act(&mut list, Action::Tab);
    assert_eq!(list.len(), 2);
}

#[test]
fn what_is_typed_filters_open_and_earlier_ones_and_esc_clears_it_before_it_closes() {
    let mut list = list(vec![configured("a", "cart", "/shop"), configured("b", "parcel", "/shop")]);
    list.type_text("parc");
    assert_eq!(names(&list), ["parcel"]);
    assert_eq!(act(&mut list, Action::Escape), Step::Stay);
    assert_eq!(list.len(), 3);
    list.type_text("last words");
    assert_eq!(names(&list).len(), 2, "also by what was asked last");
    act(&mut list, Action::Escape);
    assert_eq!(act(&mut list, Action::Escape), Step::Close);
}

#[test]
fn what_matches_the_filter_best_is_chosen_wherever_it_stands() {
    let all = vec![configured("a", "the tail of a list", "/shop"), configured("b", "stop the till", "/shop")];
    let mut list = list(all.clone());
    let chosen = |list: &SessionList| names(list)[list.selected()].clone();
    // The letters of the second are also in the one that is open, here and there.
    for (typed, best) in
        [("open", "the one that is open"), ("tai", "the tail of a list"), ("the", "the one that is open")]
    {
        assert_eq!(fuzzy::rank(typed, &["the one that is open"]), [0]);
        list.filter.clear();
        list.type_text(typed);
        assert_eq!(chosen(&list), best, "{typed}: {:?}", names(&list));
        // It is so, too, when the earlier ones are read only then.
        list.told(Past::Reading);
        list.told(Past::Read(all.clone().into()));
        assert_eq!(chosen(&list), best, "{typed}: {:?}", names(&list));
    }
    act(&mut list, Action::Escape);
    assert_eq!(list.selected(), 0);
}

#[test]
fn among_open_ones_too_the_filter_puts_the_best_first() {
    let open = |key: u32, text: &str, attention| Open {
        key: SessionKey(key),
        text: text.into(),
        which: None,
        attention,
        cwd: "/shop".into(),
        used: Now::ZERO,
    };
    let all = vec![open(0, "c a r t", Attention::Waits), open(1, "mend the cart", Attention::Nothing)];
    let mut list = SessionList::new("/shop".into(), all, Past::None, Taste::default());
    assert_eq!(names(&list), ["c a r t", "mend the cart"]);
    list.type_text("cart");
    assert_eq!(names(&list), ["mend the cart", "c a r t"]);
}

#[test]
fn what_is_read_later_does_not_move_what_was_chosen() {
    let mut list = list(vec![configured("a", "cart", "/shop"), configured("b", "parcel", "/shop")]);
    act(&mut list, Action::End);
    list.told(Past::Read(["n", "a", "b"].map(|id| configured(id, id, "/shop")).to_vec().into()));
    assert!(matches!(list.current(), Some(Row::Past(one)) if one.id == "b"), "{:?}", list.current());
    list.told(Past::Failed("gone".into()));
    assert!(matches!(list.current(), Some(Row::Open(_))));
}

#[test]
fn enter_goes_to_one_that_is_open_and_goes_on_with_one_that_was() {
    let mut list = list(vec![configured("a", "cart", "/shop")]);
    assert_eq!(act(&mut list, Action::Accept), Step::Go(SessionKey::FIRST));
    act(&mut list, Action::Down);
    assert!(matches!(act(&mut list, Action::Accept), Step::GoOn(one) if one.id == "a"));
}

#[test]
fn a_command_that_is_not_configured_is_started_after_a_yes_to_all_of_it_and_not_before() {
    let words = vec!["sh".to_owned(), "-c".to_owned(), "evil".to_owned()];
    let mut list = list(vec![past("a", "cart", "/shop", Starts::Recorded(words))]);
    act(&mut list, Action::Down);
    assert_eq!(act(&mut list, Action::Accept), Step::Stay);
    assert!(matches!(list.asks, Some(Ask::Start(_, How::GoesOn))));
    // Not all of it was on the screen.
    let cut = ListFrame::default();
    let nobody = Offers { runs: &|_| false, deletes: &|_| false, forks: &|_| None };
    assert_eq!(list.act(Action::Accept, &cut, nobody), Step::Stay);
    assert!(list.asks.is_some());
    assert_eq!(act(&mut list, Action::Escape), Step::Stay);
    assert_eq!(list.asks, None);
    act(&mut list, Action::Accept);
    assert!(matches!(act(&mut list, Action::Accept), Step::GoOn(_)));
    // Where its agent runs nothing is started.
    let runs = Offers { runs: &|command| command == "gemini --acp", deletes: &|_| false, forks: &|_| None };
    assert!(matches!(list.act(Action::Accept, &cut, runs), Step::GoOn(_)));
}

#[test]
fn what_cannot_go_on_says_why() {
    let gone = configured("b", "x", "/shop").used(1, 1, End::Interrupted, Vec::new(), true);
    let unknown = past("c", "x", "/shop", Starts::Unknown);
    for (one, why) in [(gone, "is gone: /shop"), (unknown, "not known")] {
        let mut list = list(vec![one]);
        act(&mut list, Action::Down);
        assert_eq!(act(&mut list, Action::Accept), Step::Stay);
        assert!(list.note.as_ref().is_some_and(|note| note.contains(why)), "{why}: {:?}", list.note);
        act(&mut list, Action::Up);
        assert_eq!(list.note, None);
    }
}

#[test]
fn what_is_open_elsewhere_or_has_no_directory_can_be_read() {
    let journals = vec![PathBuf::from("run.jsonl")];
    let open = configured("a", "x", "/shop").used(1, 1, End::Open, journals.clone(), false);
    // Nothing is started, so nothing is asked.
    let words = vec!["sh".to_owned()];
    let gone = past("b", "x", "/shop", Starts::Recorded(words)).used(1, 1, End::Ended, journals, true);
    for one in [open, gone.clone()] {
        let mut list = list(vec![one]);
        act(&mut list, Action::Down);
        assert!(matches!(act(&mut list, Action::Accept), Step::GoOn(_)));
    }
    let offers = Offers { runs: &|_| true, deletes: &|_| true, forks: &|_| Some(true) };
    let mut list = list(vec![gone]);
    act(&mut list, Action::Down);
    assert_eq!(list.act(Action::ForkSession, &ListFrame::default(), offers), Step::Stay, "no copy of it is opened");
    assert!(list.note.is_some_and(|note| note.contains("is gone")));
}

#[test]
fn r_167_nothing_is_forgotten_before_a_yes_and_others_of_the_same_run_are_counted() {
    let journals = vec![PathBuf::from("run.jsonl")];
    let both = ["a", "b"].map(|id| configured(id, id, "/shop").used(1, 1, End::Ended, journals.clone(), false));
    let mut list = list(both.to_vec());
    act(&mut list, Action::Delete);
    assert!(list.note.is_some() && list.asks.is_none(), "what is open is not forgotten");
    act(&mut list, Action::Down);
    act(&mut list, Action::Delete);
    assert!(matches!(list.asks, Some(Ask::Forget { others: 1, at_agent: false, .. })));
    list.type_text("pasted y");
    assert_eq!(act(&mut list, Action::Escape), Step::Stay);
    list.note = Some("what was said of something else".to_owned());
    act(&mut list, Action::Delete);
    assert_eq!(list.note, None, "nor does it stand below the list once that is done");
    assert!(matches!(act(&mut list, Action::Accept), Step::Forget(one) if one.id == "a"));
}

#[test]
fn a_title_is_one_harmless_line_without_quotes_of_ours() {
    let one = configured("a", "x\x1b]0;title\x07\n” waits for you", "/shop");
    assert!(!one.name().unwrap().contains(['\x1b', '\x07', '\n', '”']), "{one:?}");
    let long = configured("a", &"long ".repeat(100_000), "/shop");
    assert!(long.name().unwrap().len() <= 1000);
}

#[test]
fn what_was_interrupted_stands_first_until_it_is_sorted_by_use() {
    let old = configured("b", "old", "/shop").used(900, 1, End::Interrupted, vec!["b".into()], false);
    let mut list = list(vec![configured("a", "new", "/shop"), old]);
    assert_eq!(names(&list)[1..], ["old", "new"]);
    assert_eq!(act(&mut list, Action::SortSessions), Step::Stay);
    assert_eq!((names(&list)[1..].to_vec(), list.taste().sort), (vec!["new".to_owned(), "old".to_owned()], Sort::Used));
    act(&mut list, Action::Density);
    assert_eq!(list.taste().density, Density::TwoRows);
}

#[test]
fn a_name_is_typed_over_the_old_one_and_an_empty_one_gives_it_back() {
    let mut list = list(vec![configured("a", "cart", "/shop")]);
    act(&mut list, Action::Down);
    act(&mut list, Action::RenameSession);
    assert!(!list.wants_a_yes(), "letters are text");
    act(&mut list, Action::Char('s'));
    list.type_text("/y\n");
    let Step::Rename(which, name) = act(&mut list, Action::Accept) else { panic!("{list:?}") };
    assert_eq!((which.id.as_str(), name.as_deref()), ("a", Some("carts/y")));
    act(&mut list, Action::RenameSession);
    act(&mut list, Action::KillLine);
    assert!(matches!(act(&mut list, Action::Accept), Step::Rename(_, None)));
    act(&mut list, Action::RenameSession);
    assert_eq!((act(&mut list, Action::Escape), &list.asks), (Step::Stay, &None));
}

#[test]
fn a_copy_is_opened_where_its_agent_is_known_to_make_them() {
    let act = |list: &mut SessionList, forks: Option<bool>| {
        let offers = Offers { runs: &|_| forks.is_some(), deletes: &|_| false, forks: &|_| forks };
        list.act(Action::ForkSession, &ListFrame::default(), offers)
    };
    let can = configured("a", "cart", "/shop").told(None, true, false);
    let mut list = list(vec![can, configured("b", "mill", "/shop")]);
    assert_eq!(act(&mut list, None), Step::Stay, "no agent of the open one makes copies");
    assert!(list.note.take().is_some());
    assert_eq!(act(&mut list, Some(true)), Step::ForkOpen(SessionKey::FIRST));
    list.step(1);
    assert!(matches!(act(&mut list, None), Step::Fork(one) if one.id == "a"));
    assert_eq!(act(&mut list, Some(false)), Step::Stay, "the one that runs says what is so now");
    list.step(1);
    assert_eq!(act(&mut list, None), Step::Stay);
    assert!(matches!(act(&mut list, Some(true)), Step::Fork(one) if one.id == "b"));
}

#[test]
fn a_slash_looks_through_what_was_said_and_a_hit_leads_to_its_place() {
    let mut list = list(vec![configured("a", "cart", "/shop")]);
    act(&mut list, Action::Char('/'));
    assert_eq!((list.finding(), list.len()), (Some(&Finding::Typed), 0));
    list.type_text("roof");
    let Step::Find(query) = act(&mut list, Action::Accept) else { panic!("{list:?}") };
    assert_eq!(query, Query { text: "roof".into(), below: Some("/shop".into()) });
    let session = Arc::new(configured("a", "cart", "/shop"));
    let open = Arc::new(PastSession { id: "here".into(), ..PastSession::clone(&session) });
    let hits = [open, session].map(|one| Hit::new(one, (Who::Agent, 2), 60, "mend the\u{1b}[31m roof now", 14));
    let other = Query { text: "other".into(), ..query.clone() };
    list.found(&other, Finding::Failed("too late".into()));
    assert_eq!(list.finding(), Some(&Finding::Going), "what came for something else is left out");
    list.found(&query, Finding::Found(hits.into(), false));
    assert_eq!((list.len(), names(&list)[0].contains('\u{1b}')), (2, false));
    assert_eq!(act(&mut list, Action::Accept), Step::Go(SessionKey::FIRST), "it is open here");
    let place = Place { who: Who::Agent, turn: 2, mark: "roof now".into() };
    assert_eq!(list.take_place(), Some(place.clone()));
    act(&mut list, Action::Down);
    assert!(matches!(act(&mut list, Action::Accept), Step::GoOn(one) if one.id == "a"));
    assert_eq!(list.take_place(), Some(place));
    act(&mut list, Action::Escape);
    assert_eq!((list.finding(), list.len(), list.filter()), (None, 2, ""));
    act(&mut list, Action::Down);
    act(&mut list, Action::Accept);
    assert_eq!(list.take_place(), None, "chosen from the list it has none");
}

#[test]
fn the_end_of_a_session_is_asked_for_once_and_few_are_remembered() {
    let mut list = list((0..100).map(|n| configured(&n.to_string(), "x", "/shop")).collect());
    assert_eq!(list.wants_end(true), None, "what is open is here");
    list.step(1);
    assert_eq!(list.wants_end(false), None);
    let which = list.wants_end(true).unwrap().which();
    assert_eq!(list.wants_end(true), None);
    list.previews.told(which.clone(), Ok([Said::new(Who::Agent, "done\u{7}")].into()));
    assert!(!list.previews.of(&which).unwrap().as_ref().unwrap()[0].text.contains('\u{7}'));
    for _ in 0..90 {
        list.step(1);
        if let Some(past) = list.wants_end(true) {
            list.previews.told(past.which(), Err("none".into()));
        }
    }
    assert_eq!(list.previews.of(&which), None);
    let only_theirs = configured("t", "x", "/shop").used(1, 0, End::Ended, Vec::new(), false);
    list.told(Past::Read([only_theirs].into()));
    list.step(isize::MAX);
    assert_eq!(list.wants_end(true), None, "there is nothing of it here");
}

#[test]
fn journals_that_cannot_be_read_are_counted_once() {
    let mut list = list(vec![configured("a", "fix", "/shop")]);
    list.says_unread(0);
    assert_eq!(list.note, None);
    list.says_unread(1);
    assert_eq!(list.note.take().as_deref(), Some("1 journal cannot be read: acp-tui sessions says why"));
    list.says_unread(1);
    assert_eq!(list.note, None, "the list is read often");
}
