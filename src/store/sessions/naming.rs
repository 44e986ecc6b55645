//! What sessions are called that are made of others: those that continue one another, and copies.
//!
//! Invariant: a name that the person has given stays.

use super::Known;
use crate::model::past::copy_title;
use std::collections::{HashMap, HashSet};

/// Sessions of one thread that are followed.
const MAX_THREAD: usize = 1000;

/// Sessions that continue one another are of one thread, which is named like the first of them.
pub fn threads(sessions: &mut [Known]) {
    let follows: HashMap<String, String> =
        sessions.iter().filter_map(|known| Some((known.session_id.clone(), known.follows.clone()?))).collect();
    if follows.is_empty() {
        return;
    }
    let first = |id: &String| {
        // Journals may say that two continue each other.
        let before = std::iter::successors(Some(id), |id| follows.get(*id));
        before.take(MAX_THREAD).last().unwrap_or(id).clone()
    };
    let roots: HashMap<String, String> = follows.keys().map(|id| (id.clone(), first(id))).collect();
    let is_root: HashSet<&String> = roots.values().collect();
    for known in sessions {
        let root = roots.get(&known.session_id).or_else(|| is_root.get(&known.session_id).copied());
        known.thread = root.cloned();
    }
}

/// A copy that has no title of its own is called by what it was made of, a side question by what was asked.
pub fn copies(sessions: &mut [Known]) {
    // Agents make theirs of the title of the original.
    for known in sessions.iter_mut().filter(|known| known.is_question && !known.is_named && !known.is_imported) {
        known.title = known.title.take().filter(|_| known.first_prompt.is_none());
    }
    let is_asked = |known: &Known| known.is_question && known.first_prompt.is_some();
    let is_unnamed = |known: &Known| !known.is_named && !known.is_empty() && !is_asked(known);
    let wanted: HashSet<String> =
        sessions.iter().filter(|known| is_unnamed(known)).filter_map(|known| known.copy_of.clone()).collect();
    let is_wanted = |known: &&Known| wanted.contains(&known.session_id);
    let named = |known: &Known| (known.command.clone(), known.session_id.clone());
    let names: HashMap<_, _> = sessions
        .iter()
        .filter(is_wanted)
        .filter_map(|known| Some((named(known), (known.title.clone(), known.name()?.to_owned()))))
        .collect();
    for known in sessions.iter_mut().filter(|known| is_unnamed(known)) {
        let original = known.copy_of.clone().and_then(|id| names.get(&(known.command.clone(), id)));
        if let Some((title, name)) = original
            && (known.title.is_none() || known.title == *title)
        {
            known.title = Some(copy_title(name));
        }
    }
}
