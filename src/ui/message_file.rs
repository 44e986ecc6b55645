//! The messages of a recording or a journal on the whole screen (`acp-tui inspect FILE`): the inspector without a session.
//!
//! Reads no file and starts nothing.

use super::keys::{Action, Layer, resolve};
use super::state::inspector::{Inspector, Keyed};
use super::tty::{Click, Input};
use super::view::inspector::{Drawn, Look, draw};
use super::view::paint;
use crate::text::run::StyledText;
use crate::text::token::Token;
use crate::theme::resolve::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

#[derive(Debug)]
pub struct MessageFile {
    inspector: Inspector,
    /// The file, and what of it is not shown; cleaned.
    title: String,
    has_several: bool,
    /// What came of what the person did last.
    pub note: Option<String>,
    /// Rows for messages in the last frame.
    rows: usize,
}

impl MessageFile {
    pub fn new(inspector: Inspector, title: String, has_several: bool) -> Self {
        Self { inspector, title, has_several, note: None, rows: 0 }
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
            Input::Mouse { what: Click::Left, .. } | Input::Resize(..) | Input::Focus(_) | Input::Told(_) => None,
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
            let words = self.note.as_ref().unwrap_or(&self.title);
            let token = if self.note.is_some() { Token::Accent } else { Token::Dim };
            paint::put(buf, area.x + 2, area.bottom() - 1, area.width, &StyledText::of(words.as_str(), token), theme);
        }
        let rest = Rect { height: area.height - title_rows, ..area };
        let look = Look { theme, has_several: self.has_several, is_file: true };
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
        let mut inspector = Inspector::keeping(1 << 20);
        let flaws = vec![Flaw { rule: "R-219", what: "x".into() }];
        inspector.take(vec![
            row("session/update", "{\"params\":{\"a\":\"\\u001b[2J\"}}", Vec::new()),
            row("session/update", "{\"params\":{\"needle\":1}}", flaws),
            row("_x/y", "{}", Vec::new()),
        ]);
        MessageFile::new(inspector, "r.jsonl".into(), false)
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
