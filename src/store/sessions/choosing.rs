//! Which session a name means that a person has typed.
//!
//! Invariant: where several could be meant none is, and they are named.

use super::{Known, NotFound, list};
use std::collections::HashSet;
use std::path::Path;

/// How many are named when a name is ambiguous.
const MAX_NAMED: usize = 8;

/// The session that a name means: its id, the name under which it is stored, or a beginning of the id that only one has.
/// Our own come before what was imported, and that before what is only told of; of those of one agent the newest is meant.
/// With the `command` of an agent its session is meant.
pub fn by_id(state: &Path, name: &str, command: Option<&str>) -> Result<Known, NotFound> {
    choose(list(state)?.sessions, name, command)
}

/// The same among these, of which the newest comes first.
pub fn choose(mut sessions: Vec<Known>, name: &str, command: Option<&str>) -> Result<Known, NotFound> {
    let none = || NotFound::None(name.to_owned());
    if sessions.iter().any(|known| known.session_id == name) {
        sessions.retain(|known| known.session_id == name);
        return of_id(sessions, name, command);
    }
    let is_stored = |known: &Known| !known.journals.is_empty() && !name.is_empty() && known.stem() == name;
    let mut stored = sessions.iter().filter(|known| is_stored(known));
    if let (Some(one), None) = (stored.next(), stored.next()) {
        return Ok(one.clone());
    }
    let fits = |known: &Known| !name.is_empty() && known.session_id.starts_with(name);
    sessions.retain(fits);
    let mut ids: Vec<String> = sessions.iter().map(|known| known.session_id.clone()).collect();
    ids.sort();
    ids.dedup();
    if ids.len() > 1 {
        ids.truncate(MAX_NAMED);
        return Err(NotFound::Several { name: name.to_owned(), ids });
    }
    if sessions.is_empty() { Err(none()) } else { of_id(sessions, name, command) }
}

/// Which of these that have one id is meant.
fn of_id(mut same: Vec<Known>, name: &str, command: Option<&str>) -> Result<Known, NotFound> {
    // What is only told of has no journal, what was imported has one.
    let standing = |known: &Known| (known.is_only_told(), known.is_imported);
    same.sort_by_key(standing);
    if let Some(command) = command {
        let is_its = |known: &Known| !known.is_imported && known.is_of(command);
        let place = |is_it: &dyn Fn(&Known) -> bool| same.iter().position(is_it);
        if let Some(at) = place(&|known| is_its(known) && known.command == command).or_else(|| place(&is_its)) {
            return Ok(same.swap_remove(at));
        }
    }
    let best = same.first().map(standing);
    same.retain(|known| Some(standing(known)) == best);
    let commands: HashSet<&str> = same.iter().map(|known| &*known.command).collect();
    if commands.len() > 1 {
        let named = |known: &Known| {
            let (stem, command) = (known.stem(), &known.command);
            let whose = known.agents_name().map_or_else(|| command.clone(), |name| format!("{name} (`{command}`)"));
            if stem.is_empty() { format!("one that only {whose} knows") } else { format!("{stem} of {whose}") }
        };
        let known = same.iter().take(MAX_NAMED).map(named).collect();
        return Err(NotFound::SeveralAgents { name: name.to_owned(), known });
    }
    same.into_iter().next().ok_or_else(|| NotFound::None(name.to_owned()))
}
