//! Vim's keys over the text that is written: modes, commands, what is repeated.
//!
//! A state machine over a [`Buffer`]: keys go in, the buffer changes. Knows no screen, no question and no clipboard;
//! what does not belong to it is passed. Invariants: outside of insert and replace mode no key types its character;
//! what one command changes is undone in one step; a count makes a megabyte at most.

mod change;
mod command;
mod motion;
mod object;
mod registers;
mod walk;

use super::buffer::Buffer;
use super::place::{after, before, line_end, line_start};
use crate::ui::keys::{Action, Code, Key, Mods};
use change::{MAX_TYPED, Region, first_line};
use command::{Command, Edit, Operator, Place, Target, Typed, Verb, read};
use motion::{Begun, Find, Goal, Motion, go, rest};
use registers::Registers;
use std::ops::Range;

/// What a count may write over something, one character after the other.
const MAX_OVERWRITTEN: usize = 10_000;
/// No command is longer.
const MAX_KEYS: usize = 32;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Mode {
    /// Keys write; so it begins.
    #[default]
    Insert,
    /// Keys write over what is there.
    Replace,
    Normal,
    Visual,
    VisualLine,
}

/// What became of a key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Took {
    /// It means what it means without this.
    Passed,
    Done,
    /// It means this.
    Instead(Action),
    /// This goes to the clipboard.
    Copied(String),
}

#[derive(Clone, Debug, Default)]
pub struct Vim {
    mode: Mode,
    /// Of a command that is not whole yet.
    keys: String,
    /// Where the selection was begun.
    anchor: usize,
    goal: Option<Goal>,
    found: Option<Find>,
    registers: Registers,
    insertion: Option<Insertion>,
    changed: Option<Change>,
    /// What is undone together has one number.
    group: u64,
}

/// What is inserted now.
#[derive(Clone, Debug)]
struct Insertion {
    /// What began it; nothing where the person began to write.
    by: Option<Command>,
    /// How much of a text was selected that a change took the place of.
    extent: Option<Extent>,
    from: usize,
    /// Bytes behind it.
    behind: usize,
    /// What was typed over something, and what was there.
    over: Vec<(char, Option<String>)>,
}

/// What `.` does again.
#[derive(Clone, Debug)]
struct Change {
    command: Command,
    typed: String,
    extent: Option<Extent>,
}

/// How much was selected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Extent {
    /// Line breaks in it.
    breaks: usize,
    /// Characters of its last line.
    characters: usize,
}

impl Vim {
    pub const fn mode(&self) -> Mode {
        self.mode
    }

    /// What was typed of a command.
    pub fn keys(&self) -> &str {
        &self.keys
    }

    /// Whether a key is a command and writes nothing.
    pub const fn commands(&self) -> bool {
        !matches!(self.mode, Mode::Insert | Mode::Replace)
    }

    /// Another text is written from now on.
    pub fn begin_anew(&mut self) {
        self.mode = Mode::Insert;
        self.keys.clear();
        self.insertion = None;
        self.goal = None;
    }

    /// What is selected.
    pub fn selection(&self, buffer: &Buffer) -> Option<Range<usize>> {
        matches!(self.mode, Mode::Visual | Mode::VisualLine).then(|| {
            let region = self.selected(buffer, self.mode == Mode::VisualLine);
            region.from..region.to
        })
    }

    pub fn key(&mut self, key: Key, buffer: &mut Buffer) -> Took {
        if self.commands() { self.command_key(key, buffer) } else { self.insert_key(key, buffer) }
    }

    fn insert_key(&mut self, key: Key, buffer: &mut Buffer) -> Took {
        if key == Key::plain(Code::Esc) {
            self.leave_insertion(buffer);
            return Took::Done;
        }
        if self.insertion.is_none() {
            self.begin(None, None, buffer);
        }
        buffer.group(Some(self.group));
        if self.mode != Mode::Replace {
            return Took::Passed;
        }
        match key.code {
            Code::Char(c) if key.mods == Mods::default() => self.overwrite(c, buffer),
            Code::Backspace if key.mods == Mods::default() => self.restore(buffer),
            _ => return Took::Passed,
        }
        Took::Done
    }

    fn command_key(&mut self, key: Key, buffer: &mut Buffer) -> Took {
        let selects = self.mode != Mode::Normal;
        if !selects {
            buffer.go_to(rest(buffer.text(), buffer.cursor()));
        }
        let is_begun = !self.keys.is_empty();
        let c = match key.code {
            Code::Char('r') if key == Key::ctrl(key.code) && !selects => {
                self.keys.clear();
                redo(buffer);
                return Took::Done;
            }
            Code::Esc if key.mods == Mods::default() => {
                self.keys.clear();
                self.mode = Mode::Normal;
                buffer.go_to(rest(buffer.text(), buffer.cursor()));
                return if is_begun || selects { Took::Done } else { Took::Passed };
            }
            _ if key.mods != Mods::default() => None,
            Code::Char(c) => Some(c),
            Code::Left | Code::Backspace => Some('h'),
            Code::Right => Some('l'),
            Code::Delete => Some('x'),
            // Elsewhere they bring earlier prompts.
            Code::Up if selects => Some('k'),
            Code::Down if selects => Some('j'),
            _ => None,
        };
        let Some(c) = c.filter(|_| !is_begun || matches!(key.code, Code::Char(_))) else {
            self.keys.clear();
            // Tab goes to the question whatever was begun.
            return if is_begun && key.code != Code::Tab { Took::Done } else { Took::Passed };
        };
        self.keys.push(c);
        match read(&self.keys, selects) {
            Typed::Part if self.keys.len() < MAX_KEYS => Took::Done,
            Typed::Part | Typed::Nothing => {
                self.keys.clear();
                Took::Done
            }
            Typed::Whole(command) => {
                self.keys.clear();
                self.group += 1;
                buffer.group(Some(self.group));
                let took = self.run(command, buffer);
                if self.commands() {
                    buffer.group(None);
                }
                took
            }
        }
    }

    fn run(&mut self, command: Command, buffer: &mut Buffer) -> Took {
        match command.verb {
            Verb::Move(motion) => return self.walk(motion, command.count, buffer),
            Verb::Operate(operator, target) => {
                self.goal = None;
                let Some(region) = self.region(operator, target, command.count, buffer) else { return Took::Done };
                let selected = matches!(target, Target::Selection | Target::SelectedLines);
                let extent = selected.then(|| Extent::of(buffer.text(), &region));
                return self.operate(command, operator, &region, extent, buffer);
            }
            Verb::Edit(edit) => {
                self.goal = None;
                self.edit(command, edit, buffer);
            }
            Verb::Select { lines } => {
                let mode = if lines { Mode::VisualLine } else { Mode::Visual };
                if self.mode == Mode::Normal {
                    self.anchor = buffer.cursor();
                }
                if self.mode == mode {
                    self.end_selection(buffer, buffer.cursor());
                } else {
                    self.mode = mode;
                }
            }
            Verb::SelectObject(object) => {
                let Some((from, to, takes)) = object.find(buffer.text(), buffer.cursor(), command.count.unwrap_or(1))
                else {
                    return Took::Done;
                };
                let to = match takes {
                    motion::Takes::Exclusive if to > from => before(buffer.text(), to),
                    motion::Takes::Lines => {
                        self.mode = Mode::VisualLine;
                        to
                    }
                    _ => to,
                };
                self.anchor = if self.anchor == buffer.cursor() { from } else { from.min(self.anchor) };
                buffer.go_to(to);
            }
            Verb::OtherEnd => {
                let at = buffer.cursor();
                buffer.go_to(self.anchor.min(buffer.text().len()));
                self.anchor = at;
            }
        }
        Took::Done
    }

    fn walk(&mut self, motion: Motion, count: Option<usize>, buffer: &mut Buffer) -> Took {
        let text = &*buffer.as_seen();
        // Also one that finds nothing is repeated by `;`.
        if let Motion::Find(find) = motion {
            self.found = Some(find);
        }
        let begun = self.begun(buffer, count, None);
        let Some((to, _)) = go(text, motion, begun) else {
            // At the edge it goes on as the arrows do: rows of a long line, then earlier and later prompts.
            return match motion {
                Motion::Up if self.mode == Mode::Normal => Took::Instead(Action::Up),
                Motion::Down if self.mode == Mode::Normal => Took::Instead(Action::Down),
                _ => Took::Done,
            };
        };
        self.goal = match motion {
            Motion::Up | Motion::Down => Some(begun.goal.unwrap_or(Goal::Column(motion::column(text, begun.at)))),
            Motion::LineEnd => Some(Goal::End),
            _ => None,
        };
        let to = if self.mode == Mode::Normal { rest(text, to) } else { to };
        buffer.go_to(to);
        Took::Done
    }

    fn begun(&self, buffer: &Buffer, count: Option<usize>, operator: Option<Operator>) -> Begun {
        Begun {
            at: buffer.cursor(),
            count,
            goal: self.goal,
            found: self.found,
            operated: operator.is_some(),
            changes: operator == Some(Operator::Change),
            selects: self.mode != Mode::Normal,
        }
    }

    /// What an operator is for; `None` where a motion leads nowhere.
    fn region(&mut self, operator: Operator, target: Target, count: Option<usize>, buffer: &Buffer) -> Option<Region> {
        let (text, at) = (&*buffer.as_seen(), buffer.cursor());
        match target {
            Target::Selection => Some(self.selected(buffer, self.mode == Mode::VisualLine)),
            Target::SelectedLines => {
                let region = self.selected(buffer, true);
                Some(Region { cursor: region.from, ..region })
            }
            Target::Lines => {
                let least = if operator == Operator::Join { 2 } else { 1 };
                let lines = count.unwrap_or(1).max(least);
                let last = if lines == 1 { at } else { motion::lines_away(text, at, motion::Way::Forth, lines - 1)? };
                let is_one = lines == 1 && operator != Operator::Yank;
                let cursor = if is_one { at.min(motion::first_character(text, at)) } else { at };
                Some(Region { cursor, ..Region::lines(text, at, last) })
            }
            Target::Motion(motion) => {
                if let Motion::Find(find) = motion {
                    self.found = Some(find);
                }
                let (to, takes) = go(text, motion, self.begun(buffer, count, Some(operator)))?;
                Some(Region::of(text, (at.min(to), at.max(to), takes), operator == Operator::Delete))
            }
            Target::Object(object) => {
                let piece = object.find(text, at, count.unwrap_or(1))?;
                Some(Region::of(text, piece, operator == Operator::Delete))
            }
        }
    }

    /// The text can have become another one meanwhile.
    fn selected(&self, buffer: &Buffer, lines: bool) -> Region {
        let text = buffer.text();
        let anchor = super::place::boundary_at_or_after(text, self.anchor);
        let (from, to) = (anchor.min(buffer.cursor()), anchor.max(buffer.cursor()));
        if !lines {
            return Region::characters(from, after(text, to));
        }
        let region = Region::lines(text, from, to);
        let is_one = line_end(text, from) == region.to;
        Region { cursor: if is_one { region.from } else { from }, ..region }
    }

    fn end_selection(&mut self, buffer: &mut Buffer, at: usize) {
        self.mode = Mode::Normal;
        buffer.go_to(rest(buffer.text(), at));
    }

    fn edit(&mut self, command: Command, edit: Edit, buffer: &mut Buffer) {
        let times = command.count.unwrap_or(1);
        match edit {
            Edit::Insert(place) => {
                open(place, buffer);
                self.insert(Mode::Insert, Some(command), None, buffer);
                return;
            }
            Edit::Overwrite => return self.insert(Mode::Replace, Some(command), None, buffer),
            Edit::Undo => {
                (0..times).take_while(|_| buffer.undo()).for_each(drop);
                return buffer.go_to(rest(buffer.text(), buffer.cursor()));
            }
            Edit::Again => return self.again(command, buffer),
            Edit::Fill(with) => change::fill(buffer, with, times),
            Edit::Toggle => change::toggle(buffer, times),
            Edit::Put(way) => {
                if let Some(held) = self.registers.get(command.register) {
                    change::put(buffer, held, way, times);
                }
            }
        }
        self.changed = Some(Change { command, typed: String::new(), extent: None });
    }

    fn operate(
        &mut self,
        command: Command,
        operator: Operator,
        region: &Region,
        extent: Option<Extent>,
        buffer: &mut Buffer,
    ) -> Took {
        if self.mode != Mode::Normal {
            self.mode = Mode::Normal;
        }
        let (from, to) = buffer.whole(region.from, region.to);
        let region = &Region { from, to, ..*region };
        let held = region.held(buffer.text());
        let to_clipboard = registers::is_clipboard(command.register)
            && matches!(operator, Operator::Yank | Operator::Delete | Operator::Change);
        let took = if to_clipboard { Took::Copied(held.text.clone()) } else { Took::Done };
        if operator != Operator::Yank {
            self.changed = Some(Change { command, typed: String::new(), extent });
        }
        buffer.go_to(region.cursor);
        match operator {
            Operator::Yank => {
                self.registers.yank(command.register, held);
                buffer.go_to(rest(buffer.text(), region.cursor));
            }
            Operator::Delete => {
                // Nothing was deleted that a register would hold.
                if region.from < region.to || region.lines {
                    self.registers.store(command.register, held);
                }
                change::delete(buffer, region);
            }
            Operator::Change => {
                if region.from < region.to || region.lines {
                    self.registers.store(command.register, held);
                }
                buffer.edit(region.from, region.to, "", region.from);
                self.insert(Mode::Insert, Some(command), extent, buffer);
            }
            Operator::Indent | Operator::Outdent => {
                let times = if extent.is_some() { command.count.unwrap_or(1) } else { 1 };
                change::indent(buffer, region, operator == Operator::Indent, times);
            }
            Operator::Toggle | Operator::Lower | Operator::Upper | Operator::Fill(_) => {
                change::map(buffer, region, operator);
            }
            Operator::Join => change::join(buffer, region),
            Operator::Put => {
                let with = self.registers.get(command.register).cloned();
                self.registers.store(None, held);
                if let Some(with) = with {
                    change::swap(buffer, region, &with, command.count.unwrap_or(1));
                }
            }
        }
        took
    }

    /// From now on keys write.
    fn insert(&mut self, mode: Mode, by: Option<Command>, extent: Option<Extent>, buffer: &Buffer) {
        self.mode = mode;
        let (from, behind) = (buffer.cursor(), buffer.text().len() - buffer.cursor());
        self.insertion = Some(Insertion { by, extent, from, behind, over: Vec::new() });
    }

    fn begin(&mut self, by: Option<Command>, extent: Option<Extent>, buffer: &Buffer) {
        self.group += 1;
        self.insert(self.mode, by, extent, buffer);
    }

    /// Back to normal mode: what was typed comes as often as was asked for, and can be repeated.
    fn leave_insertion(&mut self, buffer: &mut Buffer) {
        let overwrote = self.mode == Mode::Replace;
        if let Some(insertion) = self.insertion.take()
            && let Some(command) = insertion.by
        {
            let text = buffer.text();
            let typed = if overwrote {
                insertion.over.iter().map(|(c, _)| *c).collect()
            } else {
                let end = text.len().saturating_sub(insertion.behind);
                text.get(insertion.from..end).unwrap_or("").to_owned()
            };
            let is_repeated = matches!(command.verb, Verb::Edit(_));
            let times = if is_repeated { command.count.unwrap_or(1) } else { 1 };
            if overwrote {
                self.insertion = Some(Insertion { over: Vec::new(), ..insertion.clone() });
                for _ in 1..times.min(MAX_OVERWRITTEN / typed.len().max(1)) {
                    typed.chars().for_each(|c| self.overwrite(c, buffer));
                }
                self.insertion = None;
            } else if let Some(more) = repeated(command, &typed, times) {
                let at = buffer.cursor();
                buffer.edit(at, at, &more, at + more.len());
            }
            self.changed = Some(Change { command, typed, extent: insertion.extent });
        }
        self.mode = Mode::Normal;
        let (text, at) = (buffer.text(), buffer.cursor());
        let to = before(text, at).max(line_start(text, at));
        buffer.go_to(to);
        buffer.group(None);
        self.goal = None;
    }

    fn overwrite(&mut self, c: char, buffer: &mut Buffer) {
        let (text, at) = (buffer.text(), buffer.cursor());
        let end = if at == line_end(text, at) { at } else { after(text, at) };
        let was = text.get(at..end).filter(|was| !was.is_empty()).map(str::to_owned);
        buffer.edit(at, end, c.encode_utf8(&mut [0; 4]), at + c.len_utf8());
        if let Some(insertion) = &mut self.insertion {
            insertion.over.push((c, was));
        }
    }

    /// Backspace in replace mode brings back what was there.
    fn restore(&mut self, buffer: &mut Buffer) {
        let at = buffer.cursor();
        let last = self.insertion.as_mut().and_then(|insertion| insertion.over.pop());
        let from = before(buffer.text(), at);
        match last {
            Some((_, was)) => buffer.edit(from, at, was.as_deref().unwrap_or(""), from),
            None => buffer.go_to(from.max(line_start(buffer.text(), at))),
        }
    }

    fn again(&mut self, command: Command, buffer: &mut Buffer) {
        let Some(mut last) = self.changed.clone() else { return };
        last.command.count = command.count.or(last.command.count);
        match (last.command.verb, last.extent) {
            (Verb::Operate(operator, target), Some(extent)) => {
                let lines = target == Target::SelectedLines || extent.characters == usize::MAX;
                let region = extent.region(buffer.text(), buffer.cursor(), lines);
                let _ = self.operate(last.command, operator, &region, last.extent, buffer);
            }
            _ => drop(self.run(last.command, buffer)),
        }
        match self.mode {
            Mode::Insert => {
                let at = buffer.cursor();
                buffer.edit(at, at, &last.typed, at + last.typed.len());
            }
            Mode::Replace => last.typed.chars().for_each(|c| self.overwrite(c, buffer)),
            _ => return,
        }
        self.leave_insertion(buffer);
    }
}

impl Extent {
    /// All of the last line is `usize::MAX` characters.
    fn of(text: &str, region: &Region) -> Self {
        let piece = text.get(region.from..region.to).unwrap_or("");
        // The end of its last line is one more character of that.
        let (piece, end) = match piece.strip_suffix('\n').filter(|_| !region.lines) {
            Some(piece) => (piece, 1),
            None => (piece, 0),
        };
        let breaks = piece.matches('\n').count();
        let last = piece.rsplit('\n').next().unwrap_or("");
        let characters = if region.lines { usize::MAX } else { count_graphemes(last) + end };
        Self { breaks, characters }
    }

    fn region(self, text: &str, at: usize, lines: bool) -> Region {
        let last = if self.breaks == 0 {
            at
        } else {
            motion::lines_away(text, at, motion::Way::Forth, self.breaks).unwrap_or(at)
        };
        if lines {
            return Region { cursor: at, ..Region::lines(text, at, last) };
        }
        let end = line_end(text, last);
        let to = (0..self.characters).try_fold(last, |to, _| if to < end { Ok(after(text, to)) } else { Err(to) });
        Region::characters(at, to.unwrap_or_else(|end| after(text, end)))
    }
}

fn count_graphemes(text: &str) -> usize {
    unicode_segmentation::UnicodeSegmentation::graphemes(text, true).count()
}

/// What comes behind what was typed once; `None` where that is nothing.
fn repeated(command: Command, typed: &str, times: usize) -> Option<String> {
    let opens = matches!(command.verb, Verb::Edit(Edit::Insert(Place::LineAbove | Place::LineBelow)));
    let one = if opens { format!("\n{typed}") } else { typed.to_owned() };
    let times = times.saturating_sub(1).min(MAX_TYPED / one.len().max(1));
    (times > 0 && !one.is_empty()).then(|| one.repeat(times))
}

/// Goes to where an insertion begins.
fn open(place: Place, buffer: &mut Buffer) {
    let (text, at) = (buffer.text(), buffer.cursor());
    let (start, end) = (line_start(text, at), line_end(text, at));
    match place {
        Place::Here => {}
        Place::Behind if at == end => {}
        Place::Behind => buffer.go_to(after(text, at)),
        Place::FirstCharacter => buffer.go_to(first_line(text, at)),
        Place::LineEnd => buffer.go_to(end),
        Place::LineAbove => buffer.edit(start, start, "\n", start),
        Place::LineBelow => buffer.edit(end, end, "\n", end + 1),
    }
}

/// Does again what was undone; the cursor goes to where that was begun.
fn redo(buffer: &mut Buffer) {
    if let Some(at) = buffer.redo_from() {
        buffer.go_to(at);
        buffer.go_to(rest(buffer.text(), buffer.cursor()));
    }
}

#[cfg(test)]
#[path = "vim_tests.rs"]
mod tests;
