//! The keys of the review: what they mean, in the same table form as all others.
//!
//! Letters are commands here, so they count only while the review has the focus; whether it has is not decided here.

use super::action::{Action, ReviewKey};
use super::bind::{Bind, bind};
use super::key::{Code, Key};

use ReviewKey as R;

impl ReviewKey {
    /// Whether it changes a file, or what was decided, or begins to.
    pub(super) const fn decides(self) -> bool {
        matches!(
            self,
            R::Accept
                | R::Reject
                | R::AcceptFile
                | R::RejectFile
                | R::AcceptAll
                | R::RejectAll
                | R::AcceptNote
                | R::RejectNote
                | R::Edit
                | R::EditOutside
                | R::OpenFile
                | R::TakeFile
                | R::TakePart
                | R::Undo
                | R::Redo
                | R::Export
                | R::Rewind
                | R::Force
        )
    }
}

const fn on(keys: &'static [Key], key: ReviewKey, what: &'static str) -> Bind {
    bind(keys, Action::Review(key), what)
}

pub(super) const REVIEW: &[Bind] = &[
    on(&[Key::char('a')], R::Accept, "accept the hunk, or the chosen lines"),
    on(&[Key::char('x')], R::Reject, "reject the hunk, or the chosen lines"),
    on(&[Key::char('+')], R::AcceptNote, "accept and say something to the agent"),
    on(&[Key::char('!')], R::RejectNote, "reject and say why"),
    on(&[Key::char('A')], R::AcceptFile, "accept the file"),
    on(&[Key::char('X')], R::RejectFile, "reject the file"),
    on(&[Key::alt(Code::Char('a'))], R::AcceptAll, "accept everything shown"),
    on(&[Key::alt(Code::Char('x'))], R::RejectAll, "reject everything shown, after a question"),
    on(&[Key::char('u')], R::Undo, "undo the last decision"),
    on(&[Key::char('U'), Key::ctrl(Code::Char('r'))], R::Redo, "do it again"),
    on(&[Key::char('v')], R::SelectLines, "choose lines of the hunk"),
    on(&[Key::char('e')], R::Edit, "change the hunk here"),
    on(&[Key::char('E')], R::EditOutside, "change the hunk in $EDITOR"),
    on(&[Key::char('o')], R::OpenFile, "open the file in $EDITOR"),
    on(&[Key::char('T')], R::TakeFile, "put the file of a worktree into the files that it came from"),
    on(&[Key::char('M')], R::TakePart, "put the hunk of a worktree, or the chosen lines, there"),
    on(&[Key::char('}')], R::NextTree, "the file as the agent in the next worktree has it"),
    on(&[Key::char('{')], R::PreviousTree, "the file as the agent in the worktree before has it"),
    on(&[Key::char('b')], R::Blame, "which prompt the line came from"),
    on(&[Key::char('n')], R::NextHunk, "next hunk"),
    on(&[Key::char('p')], R::PreviousHunk, "previous hunk"),
    on(&[Key::char('N'), Key::char(']')], R::NextFile, "next file"),
    on(&[Key::char('P'), Key::char('[')], R::PreviousFile, "previous file"),
    bind(&[Key::plain(Code::Up), Key::char('k')], Action::Up, "line up"),
    bind(&[Key::plain(Code::Down), Key::char('j')], Action::Down, "line down"),
    bind(&[Key::plain(Code::PageUp)], Action::PageUp, "page up"),
    bind(&[Key::plain(Code::PageDown)], Action::PageDown, "page down"),
    bind(&[Key::plain(Code::Home)], Action::Home, "first line"),
    bind(&[Key::plain(Code::End)], Action::End, "last line"),
    on(&[Key::plain(Code::Enter), Key::plain(Code::Right)], R::Into, "to the hunks of the file"),
    on(&[Key::plain(Code::Left), Key::plain(Code::Backspace)], R::Back, "back to the files"),
    on(&[Key::char('<'), Key::shift(Code::Left)], R::ScrollLeft, "long lines: to the left"),
    on(&[Key::char('>'), Key::shift(Code::Right)], R::ScrollRight, "long lines: to the right"),
    on(&[Key::char('f'), Key::char(' ')], R::Fold, "fold or unfold the hunk or directory"),
    on(&[Key::char('F')], R::FoldAll, "fold or unfold all hunks of the file"),
    on(&[Key::char('s')], R::Sides, "old and new side by side, or one below the other"),
    on(&[Key::char('z')], R::Wide, "the whole width, or beside the conversation"),
    on(&[Key::char('/')], R::Search, "search in paths and lines"),
    on(&[Key::ctrl(Code::Char('n')), Key::alt(Code::Char('n'))], R::SearchNext, "next place found"),
    on(&[Key::ctrl(Code::Char('b')), Key::alt(Code::Char('b'))], R::SearchPrevious, "previous place found"),
    on(&[Key::char('t')], R::ToolCall, "show what made the change; F3 comes back"),
    on(&[Key::char('1')], R::ScopePending, "what is not decided yet"),
    on(&[Key::char('2')], R::ScopeTurn, "one turn"),
    on(&[Key::char('3')], R::ScopeSession, "the whole session"),
    on(&[Key::char(',')], R::TurnBack, "the turn before"),
    on(&[Key::char('.')], R::TurnForward, "the turn after"),
    on(&[Key::char('R')], R::Rewind, "take the files back to before the turn; shows first what that does"),
    on(&[Key::char('C')], R::Force, "reject a hunk in conflict all the same"),
    on(&[Key::char('w')], R::Export, "write a patch of what is shown"),
    bind(&[Key::plain(Code::Tab)], Action::Tab, "back to writing, the review stays"),
    bind(&[Key::char('?')], Action::Help, "this help"),
    bind(&[Key::plain(Code::Esc)], Action::Escape, "end the choice of lines, else close"),
    on(&[Key::char('q')], R::Close, "close the review"),
];

pub(super) const LINE: &[Bind] = &[
    bind(&[Key::plain(Code::Enter)], Action::Accept, "done"),
    bind(&[Key::plain(Code::Tab)], Action::Tab, "which files a further session works on"),
    bind(&[Key::plain(Code::Esc)], Action::Escape, "leave it"),
];

pub(super) const EDIT: &[Bind] = &[
    bind(&[Key::ctrl(Code::Char('s')), Key::alt(Code::Enter)], Action::Accept, "put these lines in its place"),
    bind(&[Key::plain(Code::Esc)], Action::Escape, "leave it as it was"),
    bind(&[Key::plain(Code::Enter), Key::ctrl(Code::Char('j'))], Action::Newline, "new line"),
    bind(&[Key::plain(Code::Up), Key::ctrl(Code::Char('p'))], Action::Up, "row up"),
    bind(&[Key::plain(Code::Down), Key::ctrl(Code::Char('n'))], Action::Down, "row down"),
];

pub(super) const CONFIRM: &[Bind] = &[
    bind(&[Key::char('y')], Action::Accept, "yes"),
    bind(&[Key::char('n'), Key::plain(Code::Esc)], Action::Escape, "no"),
    bind(&[Key::plain(Code::Up), Key::plain(Code::PageUp)], Action::Up, "up"),
    bind(&[Key::plain(Code::Down), Key::plain(Code::PageDown)], Action::Down, "down"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::keys::bind::Keys;
    use crate::ui::keys::{Layer, resolve};

    #[test]
    fn no_key_stands_for_two_things() {
        for (layer, table) in
            [(Layer::Review, REVIEW), (Layer::Line, LINE), (Layer::ReviewEdit, EDIT), (Layer::ReviewConfirm, CONFIRM)]
        {
            for row in table {
                let Keys::These(keys) = row.keys else { continue };
                for key in keys {
                    assert_eq!(resolve(layer, *key), Some(row.action), "{layer:?} {key}");
                }
            }
        }
    }

    #[test]
    fn letters_of_the_review_are_text_where_text_is_written() {
        for c in "axAX+!uevoEnpq1R".chars() {
            for layer in [Layer::Composer, Layer::Line, Layer::ReviewEdit] {
                assert_eq!(resolve(layer, Key::char(c)), Some(Action::Char(c)), "{c}");
            }
        }
    }
}
