//! The messages of a recording or a journal on the whole screen (`acp-tui inspect FILE`): the inspector without a session.
//!
//! Reads no file and starts nothing.

use super::keys::{Action, Keymap, Layer, resolve};
use super::state::inspector::{Inspector, Keyed};
use super::tty::{Click, Input};
use super::view::inspector::{Drawn, Look, draw};
use super::view::paint;
use crate::base::human;
use crate::model::frames::FrameRow;
use crate::model::ids::AgentKey;
use crate::text::run::StyledText;
use crate::text::token::Token;
use crate::theme::resolve::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// What comes of a file while it is read.
#[derive(Debug)]
pub enum Piece {
    Messages(Vec<FrameRow>),
    /// There are no more; so many lines are none.
    End {
        unread: u64,
    },
    Failed(String),
}

#[derive(Debug)]
pub struct MessageFile {
    inspector: Inspector,
    /// The file; cleaned.
    name: String,
    is_whole: bool,
    unread: u64,
    failed: Option<String>,
    has_several: bool,
    /// What came of what the person did last.
    pub note: Option<String>,
    /// Rows for messages in the last frame.
    rows: usize,
}

impl MessageFile {
    pub fn new(inspector: Inspector, name: String) -> Self {
        Self { inspector, name, is_whole: false, unread: 0, failed: None, has_several: false, note: None, rows: 0 }
    }

    pub fn take(&mut self, piece: Piece) {
        match piece {
            Piece::Messages(rows) => {
                self.has_several |= rows.iter().any(|row| row.agent != AgentKey::FIRST);
                self.inspector.take(rows);
            }
            Piece::End { unread } => (self.is_whole, self.unread) = (true, unread),
            Piece::Failed(why) => (self.is_whole, self.failed) = (true, Some(why)),
        }
    }

    /// Whether there is something to do between inputs.
    pub fn has_work(&self) -> bool {
        self.inspector.is_sifting()
    }

    /// Does a bounded part of it.
    pub fn work(&mut self) {
        self.inspector.sift_on();
    }

    /// The file, and what of it is not shown.
    fn title(&self) -> String {
        let mut title = self.name.clone();
        if !self.is_whole {
            title += " · is being read";
        }
        if let Some(why) = &self.failed {
            title = format!("{title} · {why}");
        }
        if self.unread > 0 {
            title = format!("{title} · {} cannot be read", human::count(self.unread, "line"));
        }
        if self.inspector.left_out() > 0 {
            let gone = human::count(self.inspector.left_out(), "message");
            title = format!("{title} · the first {gone} are left out; --plain has them");
        }
        title
    }

    /// One input of the person.
    pub fn input(&mut self, input: Input) -> Keyed {
        let action = match input {
            Input::Key(key) => resolve(Layer::Picker, key),
            // What came in a burst types, and neither closes nor writes anything.
            Input::Hasty(key) => resolve(Layer::Picker, key).filter(|action| {
                self.inspector.opened.is_none() && matches!(action, Action::Char(_) | Action::Backspace)
            }),
            Input::Paste(text) => {
                self.inspector.type_text(&text);
                None
            }
            Input::Mouse { what: Click::WheelUp, .. } => Some(Action::WheelUp),
            Input::Mouse { what: Click::WheelDown, .. } => Some(Action::WheelDown),
            Input::Mouse { .. } | Input::Resize(..) | Input::Focus(_) | Input::Told(_) => None,
        };
        let Some(action) = action else { return Keyed::Done };
        self.note = None;
        self.inspector.act(action, isize::try_from(self.rows.max(2) - 1).unwrap_or(1))
    }

    /// Draws the whole screen. Returns where the cursor stands.
    pub fn draw(&mut self, theme: &Theme, buf: &mut Buffer) -> Option<(u16, u16)> {
        let area = buf.area;
        let title_rows = u16::from(area.height > 2);
        if title_rows > 0 {
            let words = self.note.clone().unwrap_or_else(|| self.title());
            let token = if self.note.is_some() { Token::Accent } else { Token::Dim };
            paint::put(buf, area.x + 2, area.bottom() - 1, area.width, &StyledText::of(words, token), theme);
        }
        let rest = Rect { height: area.height - title_rows, ..area };
        let keys = Keymap::default();
        let look = Look { theme, keys: &keys, has_several: self.has_several, is_file: true };
        let Drawn { rows, cursor } = draw(look, &self.inspector, rest, buf);
        self.rows = rows;
        cursor.map(|at| (at.x, at.y))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::frames::{Flaw, FrameDir, FrameKind, FrameRow};
    use crate::model::ids::{AgentKey, Now};
    use crate::theme::color::Depth;
    use crate::theme::looks::{Ground, Looks};
    use crate::ui::keys::{Code, Key};

    fn row(method: &str, text: &str, flaws: Vec<Flaw>) -> FrameRow {
        FrameRow {
            at: Now::from_millis(1500),
            dir: FrameDir::FromAgent,
            agent: AgentKey::FIRST,
            kind: FrameKind::Notification,
            method: method.into(),
            id: None,
            latency: None,
            flaws,
            text: text.into(),
        }
    }

    fn opened() -> MessageFile {
        let mut file = MessageFile::new(Inspector::keeping(1 << 20), "r.jsonl".into());
        let flaws = vec![Flaw { rule: "R-219", what: "x".into() }];
        file.take(Piece::Messages(vec![
            row("session/update", "{\"params\":{\"a\":\"\\u001b[2J\"}}", Vec::new()),
            row("session/update", "{\"params\":{\"needle\":1}}", flaws),
            row("_x/y", "{}", Vec::new()),
        ]));
        file.take(Piece::End { unread: 0 });
        file
    }

    fn shown(file: &mut MessageFile, width: u16, height: u16) -> String {
        let looks = Looks::auto(Depth::None, Ground::from_env(None));
        let mut buf = Buffer::empty(Rect::new(0, 0, width, height));
        file.draw(looks.theme(), &mut buf);
        let row = |y| (0..width).map(|x| buf[(x, y)].symbol()).collect::<String>();
        (0..height).map(row).collect::<Vec<_>>().join("\n")
    }

    fn press(file: &mut MessageFile, code: Code) -> Keyed {
        file.input(Input::Key(Key::plain(code)))
    }

    #[test]
    fn a_file_is_filtered_opened_copied_and_saved_and_escape_leads_out_step_by_step() {
        let mut file = opened();
        let screen = shown(&mut file, 120, 10);
        assert!(screen.contains("3 of 3") && screen.contains("r.jsonl") && screen.contains("R-219"), "{screen}");
        for c in "needle".chars() {
            press(&mut file, Code::Char(c));
        }
        let screen = shown(&mut file, 120, 10);
        assert!(screen.contains("1 of 1, 3 in all") && !screen.contains("_x/y"), "{screen}");
        assert_eq!(press(&mut file, Code::Enter), Keyed::Done);
        assert!(shown(&mut file, 60, 10).contains("\"needle\": 1"));
        let Keyed::Copy(text) = press(&mut file, Code::Char('y')) else { unreachable!() };
        assert!(text.contains("needle"));
        assert!(matches!(press(&mut file, Code::Char('s')), Keyed::Save(_)));
        file.note = Some("copied".into());
        assert!(shown(&mut file, 60, 10).contains("copied"));
        let steps: Vec<_> = (0..3).map(|_| press(&mut file, Code::Esc)).collect();
        assert_eq!(steps, [Keyed::Done, Keyed::Done, Keyed::Close]);
    }

    #[test]
    fn keys_are_answered_while_the_file_is_read() {
        let mut file = MessageFile::new(Inspector::keeping(64 << 20), "r.jsonl".into());
        assert!(shown(&mut file, 80, 6).contains("is being read"));
        let wide = &*"x".repeat(1 << 20);
        let part = |agent| (0..10).map(move |_| FrameRow { agent: AgentKey(agent), ..row("_a/b", wide, Vec::new()) });
        file.take(Piece::Messages(part(0).collect()));
        press(&mut file, Code::Char('x'));
        assert!(file.has_work() && shown(&mut file, 80, 6).contains("…, 10 in all"));
        file.take(Piece::Messages(part(1).collect()));
        while file.has_work() {
            file.work();
        }
        assert!(shown(&mut file, 80, 6).contains("20 of 20"));
        file.take(Piece::Failed("the disk is gone".into()));
        let screen = shown(&mut file, 80, 6);
        assert!(screen.contains("the disk is gone") && !screen.contains("being read"), "{screen}");
    }

    #[test]
    fn a_burst_of_keys_only_types_and_nothing_of_a_message_reaches_the_terminal() {
        let mut file = opened();
        assert_eq!(file.input(Input::Hasty(Key::plain(Code::Esc))), Keyed::Done);
        file.input(Input::Paste("2J".into()));
        press(&mut file, Code::Enter);
        assert_eq!(file.input(Input::Hasty(Key::char('s'))), Keyed::Done);
        assert!(shown(&mut file, 80, 12).chars().all(|c| !c.is_control() || c == '\n'));
        for (width, height) in [(1, 1), (3, 2), (20, 3)] {
            shown(&mut file, width, height);
        }
    }
}
