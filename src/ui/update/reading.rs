//! Keys while the conversation is read: from entry to entry, folding, copying, opening.
//!
//! Answers nothing and sends nothing. Invariants: what is selected is brought into view, and what is said meanwhile does not
//! move it out of view; what has left memory is copied and opened like what is in it.

use super::{Cx, common, review};
use crate::base::{human, paths, sanitize};
use crate::model::entries::Slot;
use crate::model::entry::{Body, Entry};
use crate::model::history::Away;
use crate::model::ids::EntryId;
use crate::model::session_ref::SessionRef;
use crate::text::address;
use crate::ui::cells::parts::parts;
use crate::ui::cells::{self, group};
use crate::ui::composer::Composer;
use crate::ui::keys::{Action, Layer, Step};
use crate::ui::msg::{EditorJob, Out, ScrollBy, What, Whither};
use crate::ui::state::folds::Fold;
use crate::ui::state::picker::Picker;
use crate::ui::state::reading::{Looked, Looks, Reading, Way, is_of};
use crate::ui::state::scroll::Scroll;
use crate::ui::state::sought::Sought;
use crate::ui::state::{App, Focus, Holds};
use std::borrow::Cow;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// Bytes that are copied at once; of more the export makes a file.
const MOST_COPIED: usize = 16 << 20;
const NOTHING: &str = "there is nothing in it to be copied";
const NOT_KEPT: &str = "this entry is not kept any more";

pub(super) fn begin(state: &mut App, cx: Cx<'_>, out: &mut Vec<Out>) {
    state.view.reading = Reading::begin(cx.session);
    match state.view.reading {
        Some(_) => {
            state.view.focus = Focus::Composer;
            review::uncover(state, cx);
        }
        None => return state.say("nothing to read yet", cx.now),
    }
    show(state, cx);
    if state.view.scroll == Scroll::Follow {
        // It begins above the view: what is in view stays there.
        out.push(Out::Scroll(ScrollBy::Rows(0)));
    }
}

/// Nothing is selected any more. The end is followed again where it is in view.
pub(super) fn leave(state: &mut App, cx: Cx<'_>) {
    if state.view.reading.take().is_some() && is_at_end(cx) {
        state.view.scroll = Scroll::Follow;
    }
}

/// Whether nothing was below the view.
const fn is_at_end(cx: Cx<'_>) -> bool {
    matches!(cx.frame.rows_below, None | Some(0))
}

pub(super) fn action(state: &mut App, cx: Cx<'_>, action: Action, out: &mut Vec<Out>) {
    let Some(reading) = &mut state.view.reading else { return };
    if let Some(search) = &mut reading.search {
        match action {
            Action::Accept => match Sought::read(search.text()) {
                Ok(sought) => {
                    (reading.sought, reading.search, reading.hit) = (sought, None, None);
                    seek(state, cx, Way::Up, out);
                }
                Err(why) => state.say_here(why, cx.now),
            },
            Action::Escape | Action::CtrlC => reading.search = None,
            // All other keys mean nothing here.
            action => _ = search.apply(action),
        }
        return;
    }
    let has_looked = reading.looks.take().is_some();
    if std::mem::take(&mut reading.has_letters) {
        return copy_by_letter(state, cx, action, out);
    }
    match action {
        Action::Letters => reading.has_letters = true,
        Action::Escape if has_looked => {}
        Action::Escape if reading.from.is_some() => reading.from = None,
        Action::Escape | Action::Read | Action::CtrlC => {
            (state.view.reading, state.view.scroll) = (None, Scroll::Follow);
        }
        Action::Up => go(state, cx, Way::Up),
        Action::Down => go(state, cx, Way::Down),
        Action::GoUp(Step::Found) => seek(state, cx, Way::Up, out),
        Action::GoDown(Step::Found) => seek(state, cx, Way::Down, out),
        Action::GoUp(step) => _ = look(state, cx, step, Way::Up),
        Action::GoDown(step) => _ = look(state, cx, step, Way::Down),
        Action::ToggleFold => out.push(Out::Fold(reading.at)),
        Action::Search => reading.search = Some(Composer::default()),
        Action::SelectEntries => reading.from = if reading.from.is_some() { None } else { Some(reading.at) },
        Action::CopyAnswer => {
            let copied = if reading.from.is_some() { cells::source } else { cells::copied };
            let chosen = reading.chosen();
            reading.from = None;
            match sources(cx, chosen, copied) {
                Ok(text) => out.push(Out::Copy(What::Characters(text.chars().count()), text)),
                Err(why) => state.say_here(why, cx.now),
            }
        }
        Action::Pager => match entry(cx, reading.at).map(|entry| cells::source(&entry, cx.session)) {
            // Pagers pass on what they are set to.
            Some(text) => out.push(Out::Edit(EditorJob::Page { text: sanitize::block(&text).into_owned() })),
            None => state.say_here(NOT_KEPT, cx.now),
        },
        Action::CopyPart => {
            let parts = entry(cx, reading.at).map(|entry| parts(&entry, cx.session)).unwrap_or_default();
            if parts.is_empty() {
                return state.say_here(NOTHING, cx.now);
            }
            state.picker = Some(Picker::parts(parts.into_iter().map(|part| (part.what, part.text)).collect()));
        }
        Action::OpenPage | Action::SavePicture if has_picture(cx, reading.at) => {
            let whither = if action == Action::OpenPage { Whither::Opens } else { Whither::Stays };
            let entry = entry(cx, reading.at);
            let picture = entry.as_ref().and_then(|entry| cells::pictures::of(entry).next());
            out.extend(picture.map(|picture| Out::Picture(Arc::clone(picture), whither)));
        }
        Action::SavePicture => state.say_here("it has no picture that is kept", cx.now),
        Action::OpenPage => {
            let at = reading.at;
            match entry(cx, at).and_then(|entry| place(&entry, &cx.session.cwd)) {
                // Named by the agent, and perhaps of somebody else: the person is asked first.
                Some((path, _)) if reading.outside != Some(at) && !is_inside(cx, &path) => {
                    reading.outside = Some(at);
                    let path = paths::visible(path.as_os_str());
                    state.say_here(
                        format!("outside of the session's directories: {path} · the same key opens it"),
                        cx.now,
                    );
                }
                Some((path, line)) => out.push(Out::Edit(EditorJob::Open { path, line })),
                None => open_page(state, cx, out),
            }
        }
        Action::FocusDock if state.view.dock.dialog.is_some() => {
            leave(state, cx);
            common(state, cx, action, out);
        }
        _ => common(state, cx, action, out),
    }
}

/// A letter that stood on the screen copies what it stood for; any other key only takes the letters away.
fn copy_by_letter(state: &mut App, cx: Cx<'_>, action: Action, out: &mut Vec<Out>) {
    let Action::Char(c) = action else { return };
    let Some(letter) = cx.frame.letters.iter().find(|letter| letter.letter == c) else {
        return state.say_here_briefly("nothing has this letter", cx.now);
    };
    match entry(cx, letter.entry).and_then(|entry| parts(&entry, cx.session).into_iter().nth(letter.part)) {
        Some(part) => out.push(Out::Copy(What::Characters(part.text.chars().count()), part.text)),
        None => state.say_here(NOTHING, cx.now),
    }
}

/// An entry, wherever it is.
fn entry(cx: Cx<'_>, id: EntryId) -> Option<Cow<'_, Entry>> {
    let entries = cx.session.session().entries();
    Some(match entries.slot(entries.index_of(id)?)? {
        Slot::Here(entry) => Cow::Borrowed(entry),
        Slot::Away(away) => Cow::Owned(away.read(id, cx.history)),
    })
}

/// What those entries say, as it was written. Why it cannot be copied is for the person.
fn sources(
    cx: Cx<'_>,
    ids: impl Iterator<Item = EntryId>,
    copied: fn(&Entry, SessionRef<'_>) -> String,
) -> Result<String, String> {
    let mut text = String::new();
    for entry in ids.filter_map(|id| entry(cx, id)).filter(|entry| !cells::is_blank(entry, cx.session)) {
        let source = copied(&entry, cx.session);
        if text.len() + source.len() > MOST_COPIED && !text.is_empty() {
            let most = human::bytes(MOST_COPIED as u64);
            return Err(format!("more than {most} at once are not copied: choose less, or use acp-tui export"));
        }
        if !text.is_empty() && !source.is_empty() {
            text.push_str("\n\n");
        }
        text.push_str(&source);
    }
    if text.is_empty() { Err(NOTHING.to_owned()) } else { Ok(text) }
}

fn has_picture(cx: Cx<'_>, at: EntryId) -> bool {
    entry(cx, at).is_some_and(|entry| cells::pictures::of(&entry).next().is_some())
}

/// Opens the last address of what is selected whose host is beyond doubt, and says which.
fn open_page(state: &mut App, cx: Cx<'_>, out: &mut Vec<Out>) {
    let at = state.view.reading.as_ref().map(|reading| reading.at);
    let text = at.and_then(|at| entry(cx, at)).map(|entry| cells::source(&entry, cx.session));
    let text = text.as_deref().unwrap_or_default();
    let page = address::all(text).find(|page| address::host(page).is_some());
    let file = address::files_around(text, text.len()..text.len()).pop();
    match (page, file) {
        (None, Some(file)) => {
            out.push(Out::Edit(EditorJob::Open { path: PathBuf::from(file.path), line: file.line }));
        }
        (Some(page), _) => {
            state.say(format!("opens {page}"), cx.now);
            out.push(Out::OpenPage(page.to_owned()));
        }
        (None, None) => state.say_here("it names no file and no page", cx.now),
    }
}

/// To the next place of what is looked for; only what was laid out knows those of the entry that is selected.
fn seek(state: &mut App, cx: Cx<'_>, way: Way, out: &mut Vec<Out>) {
    match &state.view.reading {
        Some(reading) if reading.sought.is_nothing() => state.say_here("nothing is looked for: / asks for it", cx.now),
        _ => out.push(Out::Seek(way)),
    }
}

/// Unfolds what is selected, where what is looked for is in it and not in what is shown of it; how many entries it were.
/// `row`: all that are shown in that row, from the first on; of several the one that comes first on the way is selected then.
pub fn open_sought(state: &mut App, cx: Cx<'_>, way: Way, row: &[EntryId]) -> usize {
    let Some(reading) = &mut state.view.reading else { return 0 };
    let folds = &mut state.view.folds;
    if reading.hit.is_some() || !reading.sought.has_words() {
        return 0;
    }
    let has_it = |id: &EntryId| {
        let entry = entry(cx, *id);
        folds.of(*id) != Some(Fold::Open)
            && entry.is_some_and(|entry| reading.sought.is_in(&entry, || cells::searched(&entry, cx.session)))
    };
    let found = if way == Way::Up { row.iter().rev().copied().find(has_it) } else { row.iter().copied().find(has_it) };
    let (Some(first), Some(found)) = (row.first().copied(), found) else { return 0 };
    // What a call has written may be shown with it even where that is open.
    let both = entry(cx, first).zip(entry(cx, found)).filter(|_| found != first);
    let stays = both.is_some_and(|(first, found)| group::stays(&first, &found, cx.session));
    let shown = if stays { first } else { found };
    let apart = (shown != first).then_some((first, Fold::Apart));
    let unfolds: Vec<(EntryId, Fold)> = apart.into_iter().chain([(shown, Fold::Open)]).collect();
    for (id, fold) in &unfolds {
        reading.opened.push((*id, *fold, folds.of(*id)));
        folds.set(*id, *fold);
    }
    reading.at = shown;
    unfolds.len()
}

/// Folds again so many that were unfolded in vain; `at` was selected before.
pub fn fold_in_vain(state: &mut App, at: EntryId, count: usize) {
    let Some(reading) = &mut state.view.reading else { return };
    for (id, set, before) in reading.opened.drain(reading.opened.len().saturating_sub(count)..).rev() {
        state.view.folds.set_back(id, set, before);
    }
    reading.at = at;
}

/// Folds again what was unfolded to show a place, unless the person has folded it since.
fn fold_sought(state: &mut App) {
    let opened = state.view.reading.as_mut().map(|reading| std::mem::take(&mut reading.opened)).unwrap_or_default();
    for (id, set, before) in opened.into_iter().rev() {
        state.view.folds.set_back(id, set, before);
    }
}

/// The same once another entry is selected. Calls that were taken apart stay so as long as one of them is.
pub fn leave_sought(state: &mut App, cx: Cx<'_>) {
    let Some(reading) = &state.view.reading else { return };
    let (at, first) = (reading.at, reading.opened.first().map(|(id, ..)| *id));
    fold_sought(state);
    let (Some(first), Some(entry)) = (first, entry(cx, at)) else { return };
    let folds = &mut state.view.folds;
    let row = group::row_of(cx.session, &entry, |entry| folds.is_together(entry.id)).map_or(at, |row| row.id);
    if row == first
        && let Some(reading) = &mut state.view.reading
    {
        reading.opened.push((first, Fold::Apart, folds.of(first)));
        folds.set(first, Fold::Apart);
    }
}

/// Says which of the entries that have what is looked for is selected, as far as all of them are in memory.
pub fn tell_place(state: &mut App, cx: Cx<'_>) {
    let Some(reading) = &state.view.reading else { return };
    let (sought, folds, entries) = (&reading.sought, &state.view.folds, cx.session.session().entries());
    let mut rows: Vec<EntryId> = Vec::new();
    for entry in entries.slots().filter_map(Slot::here) {
        if cells::is_blank(entry, cx.session) || !sought.is_in(entry, || cells::searched(entry, cx.session)) {
            continue;
        }
        let row = group::row_of(cx.session, entry, |entry| folds.is_together(entry.id)).unwrap_or(entry).id;
        if rows.last() != Some(&row) {
            rows.push(row);
        }
    }
    let pages = match &reading.hit {
        None if sought.has_words() => state.keys.say(Layer::Reading, " · {p} pages all of it"),
        _ => String::new(),
    };
    let is_all = entries.gone() == 0 && entries.slots().all(|slot| slot.here().is_some());
    let words = match (rows.iter().position(|row| *row == reading.at), rows.len()) {
        (_, n) if !is_all => format!("{} in memory", human::count(n as u64, "entry")),
        (Some(_), 1) => "the only entry that has it".to_owned(),
        (Some(at), n) => format!("{} of {n} entries that have it", at + 1),
        (None, _) => return,
    };
    state.say_here_briefly(format!("{words}{pages}"), cx.now);
}

/// Looks for the next entry with what is looked for, where the one that is selected has no more of it.
pub fn seek_on(state: &mut App, cx: Cx<'_>, way: Way) -> Looked {
    let before = state.view.reading.as_ref().map(|reading| reading.at);
    let looked = look(state, cx, Step::Found, way);
    if state.view.reading.as_ref().map(|reading| reading.at) != before {
        leave_sought(state, cx);
    }
    looked
}

/// To the next entry of a sort, as far as that is seen without reading what has left memory.
fn look(state: &mut App, cx: Cx<'_>, step: Step, way: Way) -> Looked {
    if let Some(reading) = &mut state.view.reading {
        reading.look(cx.session, step, way);
    }
    look_on(state, cx, |_, _| None)
}

/// Goes on with it; `read` gives an entry that has left memory, or nothing when that has taken long enough for now.
pub fn look_on(state: &mut App, cx: Cx<'_>, read: impl FnMut(&Away, EntryId) -> Option<Entry>) -> Looked {
    let Some(reading) = &mut state.view.reading else { return Looked::Nothing };
    let Some(looks) = reading.looks.clone() else { return Looked::Nothing };
    let (sought, here, folds) = (reading.sought.clone(), reading.at, &state.view.folds);
    // What has no row of its own is found where it is shown.
    let row_of =
        |entry: &Entry| group::row_of(cx.session, entry, |entry| folds.is_together(entry.id)).map(|entry| entry.id);
    let is_shown = |entry: &Entry| match (looks.step, row_of(entry)) {
        _ if cells::is_blank(entry, cx.session) => false,
        (Step::Found, row) => row != Some(here) && sought.is_in(entry, || cells::searched(entry, cx.session)),
        (_, row) => row.is_none(),
    };
    let looked = reading.look_on(cx.session, read, is_shown);
    if let Some(row) = cx.session.entries().get(reading.at).and_then(row_of) {
        reading.at = row;
    }
    match looked {
        Looked::Found => show(state, cx),
        Looked::Nothing => {
            let has_one = |entry: &Entry| sought.is_in(entry, || cells::searched(entry, cx.session));
            let is_first = looks.step == Step::Found && !cx.session.entries().get(here).is_some_and(has_one);
            let mut words = no_more(cx, looks.way, if is_first { "nothing" } else { "no more" });
            let has_it =
                |entry: &Entry| is_of(&entry.body, looks.step) && (looks.step != Step::Found || has_one(entry));
            if let Some(back) = other_way(looks.step, looks.way).filter(|_| is_behind(cx, here, looks.way, has_it)) {
                words.push_str(&state.keys.say(Layer::Reading, back));
            }
            state.say_here(words, cx.now);
        }
        Looked::NotYet => {
            let left = human::count(reading.looks.as_ref().map_or(0, Looks::left) as u64, "entry");
            let leaves = state.keys.say(Layer::Reading, " · {Esc} leaves it");
            state.say_while(Holds::Looks, format!("looking through {left} more{leaves}"), cx.now);
        }
    }
    looked
}

/// The key that looks the other way, in words behind others.
const fn other_way(step: Step, way: Way) -> Option<&'static str> {
    Some(match (step, way) {
        (Step::Any, _) => return None,
        (Step::Found, Way::Up) => " · {N} looks below",
        (Step::Found, Way::Down) => " · {n} looks above",
        (Step::Prompt, Way::Up) => " · {]} looks below",
        (Step::Prompt, Way::Down) => " · {[} looks above",
        (Step::Failure, Way::Up) => " · {f} looks below",
        (Step::Failure, Way::Down) => " · {F} looks above",
        (Step::Edit, Way::Up) => " · {e} looks below",
        (Step::Edit, Way::Down) => " · {E} looks above",
    })
}

/// Whether what is looked for is the other way, as far as that is in memory.
fn is_behind(cx: Cx<'_>, from: EntryId, way: Way, has: impl Fn(&Entry) -> bool) -> bool {
    let entries = cx.session.session().entries();
    let Some(at) = entries.index_of(from) else { return false };
    let has_it = |index: usize| match entries.slot(index) {
        Some(Slot::Here(entry)) => !cells::is_blank(entry, cx.session) && has(entry),
        _ => false,
    };
    if way == Way::Up { (at + 1..entries.len()).any(has_it) } else { (0..at).any(has_it) }
}

/// How far it was looked, where that is not all that was ever said.
fn no_more(cx: Cx<'_>, way: Way, what: &str) -> String {
    let where_to = if way == Way::Up { "above" } else { "below" };
    match cx.session.entries().gone() {
        gone if gone > 0 && way == Way::Up => {
            let earlier = human::thousands(gone);
            format!("{what} of that above · {earlier} earlier entries: acp-tui search TEXT")
        }
        _ => format!("{what} of that {where_to}"),
    }
}

/// To the next entry that draws something.
fn go(state: &mut App, cx: Cx<'_>, way: Way) {
    let Some(reading) = &mut state.view.reading else { return };
    let folds = &state.view.folds;
    let has_row = |entry: &Entry| group::row_of(cx.session, entry, |entry| folds.is_together(entry.id)).is_none();
    if !reading.go(cx.session, way, |entry| !cells::is_blank(entry, cx.session) && has_row(entry)) {
        state.say_here(no_more(cx, way, "no more"), cx.now);
    }
    show(state, cx);
}

/// Brings what is selected into view, where it is not. Where the end is in view nothing moves now: what is said from now on
/// comes below it.
fn show(state: &mut App, cx: Cx<'_>) {
    let Some(at) = state.view.reading.as_ref().map(|reading| reading.at) else { return };
    let found = cx.frame.hits.iter().position(|(_, entry)| *entry == at);
    // What is at the top of the view may begin above it.
    let top = cx.frame.hits.first().map_or(0, |(y, _)| *y);
    let begins_here = |place: usize| place > 0 || top > cx.frame.transcript.y;
    if found.is_none_or(|place| is_at_end(cx) && begins_here(place)) {
        state.view.scroll = Scroll::at(at);
    }
}

/// The file that an entry is about, and the line; below the session's directory.
fn place(entry: &Entry, cwd: &str) -> Option<(PathBuf, u32)> {
    let (path, line) = match &entry.body {
        Body::Tool(tool) => {
            let changed = tool.content.iter().find_map(|content| Some((content.change()?.path.as_str(), None)));
            tool.locations.first().map(|at| (at.path.as_str(), at.line)).or(changed)?
        }
        Body::File(op) => (op.path.as_str(), None),
        _ => return None,
    };
    let path = Path::new(path);
    let path = path.strip_prefix(cwd).unwrap_or(path);
    (!paths::visible(path.as_os_str()).is_empty()).then(|| (path.to_owned(), line.unwrap_or(1)))
}

/// Whether a path is below a directory of the session, as it is written: the disk is not looked at here.
fn is_inside(cx: Cx<'_>, path: &Path) -> bool {
    let is_plain = path.components().all(|part| !matches!(part, Component::ParentDir));
    let further = cx.model.directories(cx.session.key());
    is_plain && (path.is_relative() || further.iter().any(|root| path.starts_with(root)))
}
