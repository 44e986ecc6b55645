//! `${NAME}` and `${NAME:-otherwise}` in what a server is written with.
//!
//! Filled in once: what a variable holds is not looked at again, so that variables that name each other end nowhere.
//! Invariant: an error names a variable, never a value.

use super::{How, Server};

/// The server with its variables filled in by `get`, or the names of those that are not set (S-153).
pub fn fill(server: &Server, get: &dyn Fn(&str) -> Option<String>) -> Result<Server, Vec<String>> {
    let mut missing = Vec::new();
    let mut fill = |text: &mut String| *text = filled(text, get, &mut missing);
    let mut server = server.clone();
    match &mut server.how {
        How::Stdio { command, args, env } => {
            fill(command);
            args.iter_mut().for_each(&mut fill);
            for (_, value) in env {
                fill(value);
            }
        }
        How::Remote { url, headers, .. } => {
            fill(url);
            for (_, value) in headers {
                fill(value);
            }
        }
    }
    missing.dedup();
    if missing.is_empty() { Ok(server) } else { Err(missing) }
}

/// A text with its variables filled in by `get`, or the names of those that are not set.
pub fn fill_text(text: &str, get: &dyn Fn(&str) -> Option<String>) -> Result<String, Vec<String>> {
    let mut missing = Vec::new();
    let text = filled(text, get, &mut missing);
    if missing.is_empty() { Ok(text) } else { Err(missing) }
}

fn filled(text: &str, get: &dyn Fn(&str) -> Option<String>, missing: &mut Vec<String>) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once("${") {
        let Some((inside, behind)) = after.split_once('}') else { break };
        let (name, otherwise) = inside.split_once(":-").map_or((inside, None), |(name, text)| (name, Some(text)));
        out.push_str(before);
        if is_name(name) {
            // As in a shell, an empty one counts as none where there is something else.
            match get(name).filter(|value| otherwise.is_none() || !value.is_empty()) {
                Some(value) => out.push_str(&value),
                None => match otherwise {
                    Some(otherwise) => out.push_str(otherwise),
                    None => missing.push(name.to_owned()),
                },
            }
        } else {
            out.push_str(&text_of(inside));
        }
        rest = behind;
    }
    out.push_str(rest);
    out
}

/// What is no variable stays as it is.
fn text_of(inside: &str) -> String {
    format!("${{{inside}}}")
}

fn is_name(name: &str) -> bool {
    let is_letter = |c: char| c == '_' || c.is_ascii_alphabetic();
    name.starts_with(is_letter) && name.chars().all(|c| is_letter(c) || c.is_ascii_digit())
}
