//! A call that moves one file: both of its names, and how they share a row.
//!
//! For being shown only. Invariant: of a path its directories give way, in their middle, before the name of the file does.

use super::Places;
use super::message::{display, label};
use crate::model::claims::plain;
use crate::model::tool::deed::{input, kind_of, moved_from, patched};
use crate::model::tool::{Operation, ToolCall, ToolKind};
use crate::text::width::{str_width, truncate_middle};

/// Between what a file was called and what it is called then.
pub(super) const TO: &str = " → ";
/// How titles say the same.
const TITLED: [&str; 3] = [TO, " -> ", " to "];
/// How inputs of moves call what is moved, and where it goes, without the case of letters and what joins words.
const FROM_KEYS: [&str; 7] = ["from", "source", "src", "oldpath", "sourcepath", "frompath", "path"];
const TO_KEYS: [&str; 9] =
    ["to", "destination", "dest", "dst", "newpath", "destinationpath", "topath", "target", "targetpath"];

/// What a file was called and what it is to be called, where a call moves one and says both.
pub(super) fn names(t: &ToolCall, places: Places<'_>) -> Option<(String, String)> {
    let of_place = || moved_from(t).map(|(from, to)| (from.to_owned(), to.to_owned()));
    let (from, to) = of_change(t).or_else(|| of_patch(t)).or_else(of_place).or_else(|| of_call(t, places))?;
    let names = (display(&from, places), display(&to, places));
    (!names.0.is_empty() && !names.1.is_empty()).then_some(names)
}

/// Both as one text.
pub(super) fn joined((from, to): &(String, String)) -> String {
    format!("{from}{TO}{to}")
}

fn of_change(t: &ToolCall) -> Option<(String, String)> {
    let mut changes = t.changes();
    let change = changes.next().filter(|change| change.operation == Operation::Move)?;
    let from = change.from.as_ref().filter(|_| changes.next().is_none())?;
    Some((from.clone(), change.path.clone()))
}

fn of_patch(t: &ToolCall) -> Option<(String, String)> {
    let files = patched(t);
    let [file] = files.as_slice() else { return None };
    Some((file.path.to_owned(), file.to?.to_owned()))
}

/// By the input of a call that is a move, by its title, or by the two places that it names.
fn of_call(t: &ToolCall, places: Places<'_>) -> Option<(String, String)> {
    if kind_of(t) != ToolKind::Move || t.changes().next().is_some() {
        return None;
    }
    of_input(t).or_else(|| of_title(t)).or_else(|| {
        let [from, to] = t.locations.as_slice() else { return None };
        let is_first = t.named().is_empty() || display(t.named(), places) == display(&from.path, places);
        (is_first && from.path != to.path).then(|| (from.path.clone(), to.path.clone()))
    })
}

fn of_input(t: &ToolCall) -> Option<(String, String)> {
    let input = input(t)?;
    let members = input.as_object()?;
    let named = |keys: &[&str]| {
        let is = |name: &&str| members.iter().find(|(key, _)| plain(key) == **name);
        let (_, value) = keys.iter().find_map(is)?;
        value.as_str().filter(|path| !path.trim().is_empty()).map(str::to_owned)
    };
    named(&FROM_KEYS).zip(named(&TO_KEYS))
}

/// `Move a.rs to b.rs`, where neither name has blanks in it: else it is not known where one ends.
fn of_title(t: &ToolCall) -> Option<(String, String)> {
    let title = label(t.named());
    let (first, rest) = title.trim().split_once(' ')?;
    let is_verb = matches!(first.trim_end_matches(':').to_ascii_lowercase().as_str(), "move" | "moving" | "rename");
    let bare = if is_verb { rest.trim() } else { title.trim() };
    let (from, to) = TITLED.iter().find_map(|between| bare.split_once(between))?;
    let bare = |name: &str| name.trim().trim_matches(['`', '"', '\'']).to_owned();
    let (from, to) = (bare(from), bare(to));
    let is_name = |name: &String| !name.is_empty() && !name.contains(char::is_whitespace);
    (is_name(&from) && is_name(&to)).then_some((from, to))
}

/// Both names in so many columns.
pub(super) fn fitted((from, to): &(String, String), room: usize) -> String {
    let room = room.saturating_sub(str_width(TO));
    let (all, least) = ([from, to].map(|path| str_width(path)), [from, to].map(|path| str_width(split(path).1)));
    let spare = room.checked_sub(least[0] + least[1]);
    let rooms = match spare {
        Some(spare) => {
            let second = (all[1] - least[1]).min(spare - (all[0] - least[0]).min(spare / 2));
            let first = (all[0] - least[0]).min(spare - second);
            [least[0] + first, least[1] + second]
        }
        None => {
            let first = least[0].min(room.saturating_sub(least[1]).max(room / 2));
            [first, room - first]
        }
    };
    format!("{}{TO}{}", short(from, rooms[0]), short(to, rooms[1]))
}

/// The directories of a path with the slash behind them, and its last name.
fn split(path: &str) -> (&str, &str) {
    let end = path.trim_end_matches('/').rfind('/').map_or(0, |at| at + 1);
    path.split_at(end)
}

fn short(path: &str, room: usize) -> String {
    if str_width(path) <= room {
        return path.to_owned();
    }
    let (above, name) = split(path);
    let directories = above.trim_end_matches('/');
    match room.checked_sub(str_width(name) + "/".len()) {
        Some(left) if left > 0 && !directories.is_empty() => format!("{}/{name}", truncate_middle(directories, left)),
        Some(_) | None => truncate_middle(name, room).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fit(from: &str, to: &str, room: usize) -> String {
        fitted(&(from.to_owned(), to.to_owned()), room)
    }

    #[test]
    fn directories_give_way_in_their_middle_and_names_last() {
        let (from, to) = ("crates/server/src/handlers/accounts.rs", "crates/server/src/routes/v2/accounts_by_id.rs");
        assert_eq!(fit(from, to, 200), format!("{from} → {to}"));
        for room in 0..120 {
            let text = fit(from, to, room);
            assert!(str_width(&text) <= room.max(3), "{room}: {text}");
            let names = "accounts.rs → accounts_by_id.rs".len() - 2;
            if room >= names {
                assert!(text.contains("accounts.rs → ") && text.ends_with("accounts_by_id.rs"), "{room}: {text}");
            }
        }
        let text = fit(from, to, 66);
        assert!(text.starts_with("crates/") && text.contains("…") && text.contains(" → crates/"), "{text}");
        assert_eq!(fit("a.rs", to, 52), format!("a.rs → {to}"), "what one does not need the other has");
    }
}
