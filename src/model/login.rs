//! The exact command that a person types to log in: the agent's own with the method's arguments and variables,
//! or the one that the agent describes. The one builder of it, for every front end.

use super::agent::Agent;
use super::event::AuthKind;

/// Nothing for methods that are not the person's to run.
pub fn command_line(agent: &Agent, kind: &AuthKind) -> Option<String> {
    let (command, args, env) = match kind {
        AuthKind::Terminal { args, env } => (agent.command.clone(), args, env),
        AuthKind::Command { command, args, env } => (quote(command), args, env),
        AuthKind::Env { vars } if !vars.is_empty() => {
            return Some(vars.iter().map(|v| format!("export {v}=…")).collect::<Vec<_>>().join("; "));
        }
        AuthKind::Agent | AuthKind::Env { .. } => return None,
    };
    let mut words = Vec::new();
    if matches!(kind, AuthKind::Terminal { .. }) {
        // The agent is started with them too; their values may be secret.
        let given = |name: &&String| env.iter().any(|(given, _)| given == *name);
        words.extend(agent.env.iter().filter(|name| !given(name)).map(|name| format!("{name}=…")));
    }
    words.extend(env.iter().map(|(name, value)| format!("{name}={}", quote(value))));
    words.push(command);
    words.extend(args.iter().map(|a| quote(a)));
    Some(words.join(" "))
}

/// A word as a POSIX shell reads it back.
pub fn quote(word: &str) -> String {
    let plain = !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || "_-./=:,@%+".contains(c));
    if plain { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}
