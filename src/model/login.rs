//! The exact command that a person types to log in: the agent's own with the method's arguments and variables,
//! or the one that the agent describes.

use super::event::AuthKind;

/// `agent` is the agent's command line. Empty for methods that are not run in a terminal.
pub fn command_line(agent: &str, kind: &AuthKind) -> String {
    let (command, args, env) = match kind {
        AuthKind::Terminal { args, env } => (agent.to_owned(), args, env),
        AuthKind::Command { command, args, env } => (quote(command), args, env),
        AuthKind::Agent | AuthKind::Env { .. } => return String::new(),
    };
    let mut words: Vec<String> = env.iter().map(|(name, value)| format!("{name}={}", quote(value))).collect();
    words.push(command);
    words.extend(args.iter().map(|a| quote(a)));
    words.join(" ")
}

/// A word as a POSIX shell reads it back.
pub fn quote(word: &str) -> String {
    let plain = !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || "_-./=:,@%+".contains(c));
    if plain { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}
