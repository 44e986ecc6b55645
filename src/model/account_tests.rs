use super::*;
use crate::model::entry::{Message, UserMessage};
use crate::model::ids::{EntryId, Now, TurnId};

fn entry(body: Body) -> Entry {
    Entry { id: EntryId(0), rev: 0, finished: true, turn: TurnId(1), at: Now::ZERO, body }
}

fn asked(text: &str) -> Entry {
    entry(Body::User(UserMessage { text: text.into(), links: Vec::new(), state: UserState::Sent, message_id: None }))
}

fn answered(text: &str) -> Entry {
    entry(Body::Agent(Message { text: text.into(), ..Message::default() }))
}

fn past(entries: Vec<Entry>) -> Past {
    Past { entries, ..Past::default() }
}

#[test]
fn an_account_says_what_it_is_and_who_said_what() {
    let text = of_past(&past(vec![asked("fix it"), answered("it is\u{1b}[31m fixed")]), "Some\nagent");
    assert_eq!(
        text.lines().filter(|line| !line.is_empty()).skip(1).collect::<Vec<_>>(),
        ["User: fix it", "Assistant: it is fixed", "[End of the account.]"]
    );
    assert!(text.starts_with("[Account of an earlier conversation with Some"), "{text}");
}

#[test]
fn a_long_conversation_keeps_its_beginning_and_its_end() {
    let mut entries = vec![asked("the first request")];
    for n in 0..200 {
        entries.push(asked(&format!("request {n}")));
        entries.push(answered(&format!("answer {n} {}", "ä".repeat(4000))));
    }
    let text = of_past(&past(entries), "agent");
    assert!(text.len() <= ACCOUNT_LIMIT, "{}", text.len());
    let at = |words: &str| text.find(words);
    assert!(at("User: the first request") < at(LEFT_OUT) && at(LEFT_OUT) < at("Assistant: answer 199"), "{text}");
    assert_eq!(at("request 3\n"), None);
}

#[test]
fn a_conversation_that_begins_with_an_account_is_called_by_where_it_came_from() {
    let whole = account(None, std::iter::empty(), "Some Agent");
    assert_eq!(name_of(&whole).as_deref(), Some("goes on from Some Agent"));
    assert_eq!(name_of("[Account of an earlier conversation with So…").as_deref(), Some("goes on with an account"));
    assert_eq!(name_of("Account of my life"), None);
}
