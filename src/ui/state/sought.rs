//! What is looked for in the conversation: words or an expression, behind what it is looked for in.
//!
//! The words are those of the search in all sessions. Invariant: an entry is read only where the filters let it through.

use crate::model::entry::{Body, Entry};
use crate::model::tool::{ToolContent, ToolKind, deed};
use crate::text::pattern::Pattern;
use std::ops::Range;

#[derive(Clone, Debug, Default)]
pub struct Sought {
    role: Option<Role>,
    tool: Option<String>,
    file: Option<String>,
    words: Words,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Role {
    User,
    Agent,
    Thought,
    Tool,
}

#[derive(Clone, Debug)]
enum Words {
    /// In small letters; large ones are the same.
    Plain(String),
    Pattern(Pattern),
}

impl Default for Words {
    fn default() -> Self {
        Self::Plain(String::new())
    }
}

impl Sought {
    /// `role:ROLE`, `tool:NAME` and `file:PATH` before the words; what follows `regex:` is an expression. The error is for
    /// the person.
    pub fn read(text: &str) -> Result<Self, String> {
        let (mut sought, mut rest) = (Self::default(), text.trim());
        loop {
            let (word, behind) = rest.split_once(' ').unwrap_or((rest, ""));
            match word.split_once(':') {
                Some(("tool", name)) if !name.is_empty() => sought.tool = Some(name.to_lowercase()),
                Some(("file", path)) if !path.is_empty() => sought.file = Some(path.to_owned()),
                Some(("role", name)) => sought.role = Some(role(name)?),
                _ => break,
            }
            rest = behind.trim_start();
        }
        sought.words = match rest.strip_prefix("regex:").map(str::trim_start) {
            Some(pattern) => Words::Pattern(Pattern::new(pattern).ok_or("that is no regular expression")?),
            None => Words::Plain(rest.to_lowercase()),
        };
        Ok(sought)
    }

    pub fn is_nothing(&self) -> bool {
        let Self { role, tool, file, words } = self;
        role.is_none() && tool.is_none() && file.is_none() && matches!(words, Words::Plain(words) if words.is_empty())
    }

    /// Whether words are looked for, which stand somewhere in what is found.
    pub fn has_words(&self) -> bool {
        !matches!(&self.words, Words::Plain(words) if words.is_empty())
    }

    /// Whether an entry is one; `text` gives what copying it would.
    pub fn is_in(&self, entry: &Entry, text: impl FnOnce() -> String) -> bool {
        let fits = self.role.is_none_or(|role| is_of(&entry.body, role))
            && self.tool.as_deref().is_none_or(|name| is_called(&entry.body, name))
            && self.file.as_deref().is_none_or(|path| is_about(&entry.body, path));
        fits && match &self.words {
            Words::Plain(words) => words.is_empty() || text().to_lowercase().contains(words),
            Words::Pattern(pattern) => pattern.is_in(&text()),
        }
    }

    /// Where the words are in a text that is shown, from its beginning; only the filters are in none.
    pub fn places(&self, text: &str) -> Vec<Range<usize>> {
        match &self.words {
            Words::Plain(words) => plain_places(words, text),
            Words::Pattern(pattern) => pattern.places(text),
        }
    }
}

fn plain_places(words: &str, text: &str) -> Vec<Range<usize>> {
    // A small letter may have another length than the large one.
    let small =
        text.char_indices().flat_map(|(at, c)| c.to_lowercase().map(move |small| (at..at + c.len_utf8(), small)));
    let (bytes, letters): (Vec<Range<usize>>, Vec<char>) = small.unzip();
    let words: Vec<char> = words.chars().collect();
    let mut places = Vec::new();
    let mut from = 0;
    while !words.is_empty() && from + words.len() <= letters.len() {
        let end = from + words.len();
        if letters.get(from..end) == Some(&words[..]) {
            places.extend(bytes.get(from).zip(bytes.get(end - 1)).map(|(first, last)| first.start..last.end));
            from = end;
        } else {
            from += 1;
        }
    }
    places
}

fn role(name: &str) -> Result<Role, String> {
    match name {
        "user" => Ok(Role::User),
        "agent" => Ok(Role::Agent),
        "thought" => Ok(Role::Thought),
        "tool" => Ok(Role::Tool),
        _ => Err(format!("role: is user, agent, thought or tool, not `{name}`")),
    }
}

fn is_of(body: &Body, role: Role) -> bool {
    match body {
        Body::User(_) => role == Role::User,
        Body::Agent(_) => role == Role::Agent,
        Body::Thought(_) => role == Role::Thought,
        Body::Tool(_) | Body::Terminal(_) | Body::File(_) => role == Role::Tool,
        Body::Attachment(_) | Body::Plan(_) | Body::Notice(_) | Body::Changes(_) => false,
    }
}

fn is_called(body: &Body, name: &str) -> bool {
    match body {
        Body::Tool(call) => deed::is_called(call, name),
        Body::Terminal(_) => deed::verb(ToolKind::Execute).contains(name),
        _ => false,
    }
}

fn is_about(body: &Body, path: &str) -> bool {
    match body {
        Body::Tool(call) => {
            let changed = call.content.iter().filter_map(ToolContent::change).map(|change| change.path.as_str());
            call.locations.iter().map(|at| at.path.as_str()).chain(changed).any(|of| of.contains(path))
        }
        Body::File(op) => op.path.contains(path),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::entry::Message;
    use crate::model::ids::{EntryId, ToolId, TurnId};
    use crate::model::tool::{Location, ToolCall};
    use std::time::Duration;

    fn entry(body: Body) -> Entry {
        Entry { id: EntryId(0), rev: 1, finished: true, turn: TurnId(1), at: Duration::ZERO, body }
    }

    #[test]
    fn a_call_is_found_by_the_word_in_its_row_whatever_its_agent_calls_it() {
        let call = |title: &str, kind: ToolKind, input: serde_json::Value| {
            let mut call = ToolCall::new(ToolId::from("t"), Duration::ZERO);
            (call.title, call.kind, call.raw_input) = (title.into(), kind, Some(input));
            entry(Body::Tool(Box::new(call)))
        };
        let patch = "*** Begin Patch\n*** Add File: NOTES.md\n+new\n*** End Patch";
        let calls = [
            call("Shell: ls", ToolKind::Other, serde_json::json!({ "command": "ls" })),
            call("make test", ToolKind::Execute, serde_json::json!({ "command": "make test" })),
            call("apply_patch", ToolKind::Edit, serde_json::json!({ "input": patch })),
            entry(Body::Terminal("term-1".into())),
        ];
        let found = |query: &str| {
            let sought = Sought::read(query).unwrap();
            calls.each_ref().map(|entry| sought.is_in(entry, String::new))
        };
        assert_eq!(found("tool:run"), [true, true, false, true]);
        assert_eq!(found("tool:create"), [false, false, true, false]);
        assert_eq!(found("tool:shell"), [true, false, false, false], "by the agent's own name, too");
        assert_eq!(found("tool:execute"), [false, true, false, false], "and by the protocol's");
        assert_eq!(found("tool:read"), [false; 4]);
    }

    #[test]
    fn filters_and_expressions_are_those_of_the_search_in_all_sessions() {
        let text = "Costs 490 cents";
        let said = entry(Body::Agent(Message { text: text.into(), ..Message::default() }));
        let mut call = ToolCall::new(ToolId::from("t"), Duration::ZERO);
        call.title = "Read main".into();
        call.locations = vec![Location { path: "/p/src/main.rs".into(), line: None }];
        let call = entry(Body::Tool(Box::new(call)));
        let found = |query: &str| {
            let sought = Sought::read(query).unwrap();
            [&said, &call].map(|entry| sought.is_in(entry, || text.to_owned()))
        };
        for (query, wanted) in [
            ("costs", [true, true]),
            ("role:agent costs", [true, false]),
            ("role:tool", [false, true]),
            ("tool:read file:main.rs", [false, true]),
            ("tool:READ", [false, true]),
            ("tool:write", [false, false]),
            ("file:lib.rs", [false, false]),
            (r"regex:\d{3} c", [true, true]),
            (r"role:agent regex: ^\d", [false, false]),
            ("a:b", [false, false]),
        ] {
            assert_eq!(found(query), wanted, "{query}");
        }
        let places = |query: &str, text: &str| Sought::read(query).unwrap().places(text);
        assert_eq!(places("cent", "Cents, CENTS"), [0..4, 7..11]);
        assert_eq!(places("aa", "aaaaa"), [0..2, 2..4], "a place is no part of another one");
        assert_eq!(places("i̇x", "İx").first(), Some(&(0..3)), "a letter that is two small ones");
        assert_eq!(places(r"regex:\d*", "a12").first(), Some(&(1..3)), "what is nothing stands nowhere");
        assert!(places("role:agent", "agent").is_empty() && places("x", "").is_empty());
        assert!(Sought::read("role:me x").is_err() && Sought::read("regex:(").is_err());
        assert!(Sought::read("  ").unwrap().is_nothing() && !Sought::read("role:user").unwrap().is_nothing());
    }
}
