//! The list of sessions: what is found, what a key does, and what is asked first.

use super::*;

fn earlier(id: &str, title: &str, cwd: &str, starts: Starts) -> Earlier {
    Earlier::clean(id.into(), "Gemini", "gemini --acp".into(), starts, cwd.into())
        .about(Some(title), Some("first words"), Some("last words"))
        .used(60, 3, End::Ended, vec![PathBuf::from(format!("{id}.jsonl"))], false)
}

fn configured(id: &str, title: &str, cwd: &str) -> Earlier {
    earlier(id, title, cwd, Starts::Configured("gemini".into()))
}

fn list(all: Vec<Earlier>) -> SessionList {
    let open = vec![Open { key: SessionKey::FIRST, text: "the one that is open".into() }];
    let mut list = SessionList::new("/shop".into(), open, Past::Reading);
    list.told(Past::Read(all.into()));
    list
}

fn act(list: &mut SessionList, action: Action) -> Step {
    let frame = ListFrame { is_whole: true, page: 10, ..ListFrame::default() };
    list.act(action, &frame, Offers { runs: &|_| false, deletes: &|_| false })
}

fn names(list: &SessionList) -> Vec<String> {
    let name = |row| match row {
        Row::Open(open) => open.text.clone(),
        Row::Earlier(one) => one.name().unwrap_or_default().to_owned(),
    };
    (0..list.len()).filter_map(|at| list.row(at).map(name)).collect()
}

#[test]
fn tab_widens_to_all_directories_and_back() {
    let mut list = list(vec![configured("a", "cart", "/shop"), configured("b", "mill", "/mill")]);
    assert_eq!((names(&list), list.elsewhere()), (vec!["the one that is open".to_owned(), "cart".to_owned()], 1));
    assert_eq!(act(&mut list, Action::Tab), Step::Stay);
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
    assert_eq!(act(&mut list, Action::Escape), Step::Close);
}

#[test]
fn what_is_read_later_does_not_move_what_was_chosen() {
    let mut list = list(vec![configured("a", "cart", "/shop"), configured("b", "parcel", "/shop")]);
    act(&mut list, Action::End);
    list.told(Past::Read(["n", "a", "b"].map(|id| configured(id, id, "/shop")).to_vec().into()));
    assert!(matches!(list.current(), Some(Row::Earlier(one)) if one.id == "b"), "{:?}", list.current());
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
    let mut list = list(vec![earlier("a", "cart", "/shop", Starts::Recorded(words))]);
    act(&mut list, Action::Down);
    assert_eq!(act(&mut list, Action::Accept), Step::Stay);
    assert!(matches!(list.asks, Some(Ask::Start(_))));
    // Not all of it was on the screen.
    let cut = ListFrame::default();
    let nobody = Offers { runs: &|_| false, deletes: &|_| false };
    assert_eq!(list.act(Action::Accept, &cut, nobody), Step::Stay);
    assert!(list.asks.is_some());
    assert_eq!(act(&mut list, Action::Escape), Step::Stay);
    assert_eq!(list.asks, None);
    act(&mut list, Action::Accept);
    assert!(matches!(act(&mut list, Action::Accept), Step::GoOn(_)));
    // Where its agent runs nothing is started.
    let runs = Offers { runs: &|command| command == "gemini --acp", deletes: &|_| false };
    assert!(matches!(list.act(Action::Accept, &cut, runs), Step::GoOn(_)));
}

#[test]
fn what_cannot_go_on_says_why() {
    let open = configured("a", "x", "/shop").used(1, 1, End::Open, Vec::new(), false);
    let gone = configured("b", "x", "/shop").used(1, 1, End::Interrupted, Vec::new(), true);
    let unknown = earlier("c", "x", "/shop", Starts::Unknown);
    for (one, why) in [(open, "another acp-tui"), (gone, "is gone: /shop"), (unknown, "not known")] {
        let mut list = list(vec![one]);
        act(&mut list, Action::Down);
        assert_eq!(act(&mut list, Action::Accept), Step::Stay);
        assert!(list.note.as_ref().is_some_and(|note| note.contains(why)), "{why}: {:?}", list.note);
        act(&mut list, Action::Up);
        assert_eq!(list.note, None);
    }
}

#[test]
fn nothing_is_forgotten_before_a_yes_and_others_of_the_same_run_are_counted() {
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
    act(&mut list, Action::Delete);
    assert!(matches!(act(&mut list, Action::Accept), Step::Forget(one) if one.id == "a"));
}

#[test]
fn a_title_is_one_harmless_line_without_quotes_of_ours() {
    let one = configured("a", "x\x1b]0;title\x07\n” waits for you", "/shop");
    assert!(!one.name().unwrap().contains(['\x1b', '\x07', '\n', '”']), "{one:?}");
    let long = configured("a", &"long ".repeat(100_000), "/shop");
    assert!(long.name().unwrap().len() <= ABOUT * 4);
}
