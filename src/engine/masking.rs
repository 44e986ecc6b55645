//! Values of environment variables in what an agent sends, left out of the journal, and what it tells of accounts (R-122),
//! left out of the recording, too; however the message is spelt.
//!
//! Decides nothing about the message. Invariant: what can be read as JSON keeps its shape, so that it is taken or
//! refused again in the same way when the journal is played back; of what cannot, nothing is kept from where such
//! values may begin.

use crate::agent::codec::Codec;
use crate::model::auth_status::{ACCOUNTS, UPDATES};
use crate::wire::frame::Frame;
use serde_json::value::RawValue;

/// Stands for what is left out.
const MASK: &str = "…";
/// In a line that cannot be read: what may be followed by values.
const SIGNS: [&str; 6] = ["env\"", "env'", "env\\", "env:", "value\"", "value:"];

/// What such a line may hold of accounts.
const ACCOUNT_SIGNS: [&str; 5] = ["accounts\"", "accounts'", "accounts\\", "authstatus", "auth/status"];

/// A line without what is left out of it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Masked {
    pub text: String,
    /// There were accounts in it: the recording is without them, too.
    pub has_accounts: bool,
}

/// What is looked for in a message that can be read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Looks {
    Environment,
    Accounts,
    Both,
    /// There is nothing but an account in its parameters.
    Status,
}

/// The line without such values; nothing when there are none in it.
pub(super) fn masked(codec: &dyn Codec, frame: &Frame, line: &str) -> Option<Masked> {
    // Letters of a name may be spelt as escapes.
    let may_have_accounts = || line.contains("\\u") || ACCOUNTS.iter().any(|name| line.contains(name));
    let looks = match frame {
        Frame::Notification { method, .. } if UPDATES.contains(&method.as_str()) => Looks::Status,
        Frame::Request { method, .. } | Frame::Notification { method, .. }
            if codec.bears_no_environment(method.as_str()) =>
        {
            return None;
        }
        Frame::Response { .. } if may_have_accounts() => Looks::Accounts,
        Frame::Response { .. } => return None,
        Frame::TooLong { .. } => return cut(line),
        _ if serde_json::from_str::<&RawValue>(line).is_err() => return cut(line),
        Frame::Request { .. } | Frame::Notification { .. } => Looks::Environment,
        _ => Looks::Both,
    };
    Scan { line, looks, at: 0, out: None, open: Vec::new(), inside: None, has_accounts: false }.run()
}

/// Keeps of a line that cannot be read what is before the first sign of values.
fn cut(line: &str) -> Option<Masked> {
    let low = line.to_ascii_lowercase();
    let accounts = ACCOUNT_SIGNS.iter().filter_map(|sign| low.find(sign)).min();
    let signs = SIGNS.iter().filter_map(|sign| low.find(sign));
    // A letter of a name may be spelt as an escape.
    let escaped = ["\\u004", "\\u005", "\\u006", "\\u007"].into_iter().filter_map(|sign| low.find(sign));
    let terminal = low.find("terminal").map(|at| low.find("params").unwrap_or(at + "terminal".len()));
    let end = signs.chain(escaped).chain(terminal).chain(accounts).min()?;
    let kept = line.get(..end)?;
    // By this word a line that cannot be read is known for a message.
    let word = if line.contains("\"jsonrpc\"") && !kept.contains("\"jsonrpc\"") { " \"jsonrpc\"" } else { "" };
    Some(Masked { text: format!("{kept}{MASK}{word}"), has_accounts: accounts.is_some() })
}

/// Goes through a text that is JSON, with a stack of its own: it may be nested as deep as it likes.
struct Scan<'a> {
    line: &'a str,
    looks: Looks,
    at: usize,
    /// Nothing while nothing is left out: then the line need not be copied.
    out: Option<String>,
    /// The brackets that are open.
    open: Vec<u8>,
    /// How many were open where the value of a member began that is left out, and whether it is of accounts.
    inside: Option<(usize, bool)>,
    has_accounts: bool,
}

impl Scan<'_> {
    fn run(mut self) -> Option<Masked> {
        // The member whose value comes next.
        let mut member = String::new();
        while let Some(byte) = self.line.as_bytes().get(self.at).copied() {
            match byte {
                b'{' | b'[' => {
                    if self.inside.is_none()
                        && let Some(is_account) = self.begins(&member)
                    {
                        self.inside = Some((self.open.len(), is_account));
                    }
                    member.clear();
                    self.open.push(byte);
                    self.keep(1);
                }
                b'}' | b']' => {
                    self.open.pop();
                    if self.inside.is_some_and(|(outer, _)| outer == self.open.len()) {
                        self.inside = None;
                    }
                    self.keep(1);
                }
                b'"' => {
                    let token = string_at(&self.line[self.at..]);
                    if self.line[self.at + token.len()..].trim_start().starts_with(':') {
                        member = serde_json::from_str(token).unwrap_or_default();
                        self.keep(token.len());
                    } else {
                        let hides = self.hides(&member, token);
                        self.value(token, hides);
                        member.clear();
                    }
                }
                b',' | b':' | b' ' | b'\t' | b'\n' | b'\r' => self.keep(1),
                _ => {
                    let rest = &self.line[self.at..];
                    let end = rest.find([',', ']', '}', ' ', '\t', '\n', '\r']).unwrap_or(rest.len());
                    let token = &rest[..end];
                    let hides = self.hides(&member, token);
                    self.value(token, hides);
                    member.clear();
                }
            }
        }
        self.out.map(|text| Masked { text, has_accounts: self.has_accounts })
    }

    /// Whether what is in this member is left out, and is of accounts.
    fn begins(&self, member: &str) -> Option<bool> {
        match self.looks {
            Looks::Status => (member == "params").then_some(true),
            Looks::Accounts | Looks::Both if ACCOUNTS.contains(&member) => Some(true),
            Looks::Environment | Looks::Both if is_env(member) => Some(false),
            _ => None,
        }
    }

    fn keep(&mut self, bytes: usize) {
        if let Some(out) = &mut self.out {
            out.push_str(&self.line[self.at..self.at + bytes]);
        }
        self.at += bytes;
    }

    /// Whether a value is left out. The name of a variable is no secret, as long as it is one, and neither is whether
    /// somebody is logged in.
    fn hides(&mut self, member: &str, token: &str) -> bool {
        let (hides, is_account) = match self.inside {
            None => (self.begins(member).is_some(), self.begins(member) == Some(true)),
            Some((outer, true)) => {
                let is_state = match self.open.get(outer..) {
                    Some(b"{") => member == "state",
                    Some(b"{{") => member == "kind",
                    _ => false,
                };
                (!is_state || self.looks != Looks::Status, true)
            }
            Some((outer, false)) => {
                let in_list = self.open.get(outer..) == Some(b"[{");
                (!(in_list && member == "name" && !token.contains('=')), false)
            }
        };
        self.has_accounts |= hides && is_account;
        hides
    }

    /// A value, or what stands for it: of the same kind, and refused where it would be.
    fn value(&mut self, token: &str, hides: bool) {
        if !hides {
            return self.keep(token.len());
        }
        let out = self.out.get_or_insert_with(|| self.line[..self.at].to_owned());
        self.at += token.len();
        match token.as_bytes().first() {
            // A string that is cut in the middle of a character is no text.
            Some(b'"') if serde_json::from_str::<String>(token).is_err() => out.push_str("\"…\\ud83d\""),
            Some(b'"') => out.push_str("\"…\""),
            Some(b't' | b'f' | b'n') => out.push_str(token),
            _ => {
                // How large a number may be depends on what follows.
                let (digits, power) = token.split_at(token.find(['e', 'E']).unwrap_or(token.len()));
                out.extend(digits.chars().map(|c| if c.is_ascii_digit() { '1' } else { c }));
                out.push_str(power);
            }
        }
    }
}

/// The string that a text begins with, with its quotes; all of the text when it does not end.
pub(super) fn string_at(text: &str) -> &str {
    let mut bytes = text.bytes().enumerate().skip(1);
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'"' => return &text[..=at],
            b'\\' => {
                bytes.next();
            }
            _ => {}
        }
    }
    text
}

fn is_env(member: &str) -> bool {
    member.get(..3).is_some_and(|begin| begin.eq_ignore_ascii_case("env"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::codec::v1::V1;
    use proptest::prelude::*;
    use std::borrow::Cow;

    const SECRET: &str = "hunter2";

    /// What the journal would hold of a line.
    fn kept(line: &str) -> String {
        let (frame, line) = Frame::read(Cow::Borrowed(line.as_bytes()), V1.word_for_word());
        masked(&V1, &frame, &line).map_or_else(|| line.to_string(), |masked| masked.text)
    }

    fn create(env: &str) -> String {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"terminal/create","params":{{"sessionId":"s","command":"x","env":{env}}}}}"#
        )
    }

    #[test]
    fn r_061_values_of_environment_variables_are_left_out() {
        let line = create(r#"[{"name":"TOKEN","value":"hunter2"},{"value":"hunter2","name":"B"}]"#);
        assert_eq!(kept(&line), create(r#"[{"name":"TOKEN","value":"…"},{"value":"…","name":"B"}]"#));
        let none = create("[]");
        assert_eq!(kept(&none), none);
        let other = r#"{"jsonrpc":"2.0","method":"session/update","params":{"env":"hunter2"}}"#;
        assert_eq!(kept(other), other, "no variable of a command");
    }

    #[test]
    fn a_request_that_will_be_refused_loses_them_as_well_and_is_refused_again() {
        let deep = format!("{}1{}", "[".repeat(500), "]".repeat(500));
        for env in [
            r#"{"TOKEN":"hunter2","name":"hunter2"}"#,
            r#"["TOKEN=hunter2"]"#,
            r#""TOKEN=hunter2""#,
            r#"[{"name":"TOKEN","value":["hunter2",{"name":"hunter2"}]}]"#,
            r#"[["TOKEN","hunter2"]]"#,
            r#"[{"name":"TOKEN=hunter2","value":"x"}]"#,
            r#"[{"name":"TOKEN","value":"\ud83d hunter2"}]"#,
            r#"[{"name":"TOKEN","value":"hunter2","n":1e999}]"#,
            r#"[{"name":"TOKEN","value":"\"}],\"x\":\"hunter2"}]"#,
            &format!(r#"[{{"name":"TOKEN","value":"hunter2"}}],"_meta":{{"deep":{deep}}}"#),
        ] {
            let line = create(env);
            let now = kept(&line);
            assert!(!now.contains(SECRET), "{now}");
            let same = |line: &str| std::mem::discriminant(&Frame::parse(line.as_bytes()));
            assert_eq!(same(&now), same(&line), "{now}");
        }
        assert!(
            kept(&create(r#"[{"value":1234.5e3},{"value":null}]"#)).contains(r#"[{"value":1111.1e3},{"value":null}]"#)
        );
    }

    #[test]
    fn our_own_refusal_does_not_say_them_and_says_what_is_wrong() {
        for (env, why) in [
            (r#"{"TOKEN":"hunter2"}"#, "expected a sequence"),
            (r#"["TOKEN=hunter2"]"#, "invalid type: string, expected"),
            (r#""hunter2, expected \" `hunter2`""#, "invalid type: string, expected a sequence"),
            (r#"[{"name":"TOKEN","value":["hunter2"]}]"#, "expected a string"),
            (r#"[{"name":"TOKEN"}]"#, "missing field `value`"),
        ] {
            let params = format!(r#"{{"sessionId":"s","command":"x","env":{env}}}"#);
            let (_, request) = V1.request("terminal/create", &params, 0);
            let crate::model::event::AgentRequest::BadParams { why: said, .. } = request else {
                panic!("{env} was taken")
            };
            assert!(!said.contains(SECRET) && said.contains(why), "{said}");
        }
    }

    #[test]
    fn whatever_surrounds_them_they_are_left_out() {
        let line = create(r#"[{"name":"TOKEN","value":"hunter2"}]"#);
        let pretty = "  \"value\": \"hunter2\"";
        for line in [
            &format!("[{line},{line}]"),
            &format!("log: {line}"),
            &format!("it\"s odd {line}"),
            &line.replace("\"env\"", "\"\\u0065nv\""),
            &line.replace("\"env\"", "\"Env\""),
            &line.replace("terminal/create", "terminal\\/create"),
            &line.replace("terminal/create", "_x/run"),
            &line.replace("\"id\":1,", ""),
            &line.replace("\"id\":1,", "\"id\":{},"),
            &line[..line.len() - 3],
            &format!("x{}", line.replace('"', "'")),
            &format!("{{\"doubly\" {}", serde_json::Value::from(line.as_str())),
            pretty,
        ] {
            assert!(!kept(line).contains(SECRET), "{line}\n{}", kept(line));
        }
        let banner = "injecting env (3) from .env {ok}";
        assert_eq!(kept(banner), banner, "only a log line");
    }

    #[test]
    fn r_122_accounts_are_left_out_and_the_state_is_not() {
        let accounts = r#"[{"label":"hunter2","active":true,"email":"hunter2"},{"label":"hunter2","x":7}]"#;
        let line = |tail: &str| format!(r#"{{"jsonrpc":"2.0",{tail}}}"#);
        let masked = r#"[{"label":"…","active":true,"email":"…"},{"label":"…","x":1}]"#;
        for (said, now) in [
            (
                format!(r#""id":3,"result":{{"state":"authenticated","accounts":{accounts}}}"#),
                format!(r#""id":3,"result":{{"state":"authenticated","accounts":{masked}}}"#),
            ),
            (
                format!(
                    r#""method":"auth/status_update","params":{{"state":"unknown","accounts":{accounts},"y":"hunter2"}}"#
                ),
                format!(r#""method":"auth/status_update","params":{{"state":"unknown","accounts":{masked},"y":"…"}}"#),
            ),
            (
                r#""method":"_auth/status_update","params":{"authStatus":{"kind":"api_key","label":"hunter2"}}"#
                    .to_owned(),
                r#""method":"_auth/status_update","params":{"authStatus":{"kind":"api_key","label":"…"}}"#.to_owned(),
            ),
            (
                r#""id":3,"result":{"state":"unknown","\u0061ccounts":[{"label":"hunter2"}]}"#.to_owned(),
                r#""id":3,"result":{"state":"unknown","\u0061ccounts":[{"label":"…"}]}"#.to_owned(),
            ),
            (
                r#""id":3,"result":{"accounts":"hunter2"},"error":{"accounts":{"env":"hunter2"}}"#.to_owned(),
                r#""id":3,"result":{"accounts":"…"},"error":{"accounts":{"env":"…"}}"#.to_owned(),
            ),
            (
                r#""id":{},"result":{"accounts":[["hunter2"]]}"#.to_owned(),
                r#""id":{},"result":{"accounts":[["…"]]}"#.to_owned(),
            ),
        ] {
            assert_eq!(kept(&line(&said)), line(&now));
            let (frame, text) = Frame::read(Cow::Owned(line(&said).into_bytes()), V1.word_for_word());
            assert!(super::masked(&V1, &frame, &text).is_some_and(|masked| masked.has_accounts), "{said}");
            // Cut off, or in a line of a log.
            for torn in [line(&said).trim_end_matches('}'), &format!("log {}", line(&said))] {
                assert!(!kept(torn).contains(SECRET), "{torn}\n{}", kept(torn));
            }
        }
        let other = line(r#""method":"session/update","params":{"accounts":"x"}"#);
        assert_eq!(kept(&other), other, "no answer");
        let env = Frame::parse(create(r#"[{"name":"A","value":"b"}]"#).as_bytes());
        assert!(super::masked(&V1, &env, &create("[1]")).is_some_and(|masked| !masked.has_accounts));
    }

    #[derive(Clone, Debug)]
    enum Harm {
        Insert(usize, String),
        Delete(usize),
        Cut(usize),
    }

    fn harm() -> impl Strategy<Value = Harm> {
        let piece =
            prop_oneof![Just("\""), Just("{"), Just("}"), Just("["), Just("]"), Just(","), Just("\\"), Just("x")];
        prop_oneof![
            (0..400usize, piece).prop_map(|(at, piece)| Harm::Insert(at, piece.to_owned())),
            (0..400usize).prop_map(Harm::Delete),
            (0..400usize).prop_map(Harm::Cut),
        ]
    }

    proptest! {
        #![proptest_config(crate::random(2000))]
        #[test]
        fn a_value_never_stands_in_the_journal_however_the_line_is_damaged(
            harms in proptest::collection::vec(harm(), 0..5),
            form in 0..4usize,
            blanks in any::<bool>(),
            first in any::<bool>(),
        ) {
            let env = [
                r#"[{"name":"TOKEN","value":"hunter2"}]"#, r#"{"TOKEN":"hunter2"}"#, r#"["TOKEN=hunter2"]"#,
                r#"[{"value":"hunter2","name":"TOKEN"},{"name":"B","value":"hunter2"}]"#,
            ][form];
            let params = format!(r#""params":{{"command":"x","env":{env},"cwd":"/w"}}"#);
            let head = r#""jsonrpc":"2.0","id":7,"method":"terminal/create""#;
            let mut line = if first { format!("{{{params},{head}}}") } else { format!("{{{head},{params}}}") };
            if blanks {
                line = line.replace(':', " : ");
            }
            for harm in harms {
                // The name by which they are known stays, and the secret is whole.
                let safe = |line: &str, at: usize| {
                    let touches = |word: &str| line.match_indices(word).any(|(from, _)| from < at && at < from + word.len());
                    at <= line.len() && !touches("\"env\"") && !touches(SECRET)
                };
                match harm {
                    Harm::Insert(at, piece) if safe(&line, at) => line.insert_str(at, &piece),
                    Harm::Delete(at) if safe(&line, at) && safe(&line, at + 1) && at < line.len()
                        && !line[at..].starts_with(SECRET) && !line[at..].starts_with("\"env\"") => { line.remove(at); }
                    Harm::Cut(at) if safe(&line, at) => line.truncate(at),
                    _ => {}
                }
            }
            let now = kept(&line);
            prop_assert!(!now.contains(SECRET), "{}\n{}", line, now);
        }
    }
}
