//! How a call stands: whether it goes on, and what the person's answer makes of it.
//!
//! Sends nothing and knows no questions. Invariant: what the agent says of a call after the answer counts again.

use super::{ToolCall, ToolStatus};

impl ToolCall {
    /// Nothing more is expected of it.
    pub fn is_finished(&self) -> bool {
        self.status.is_final() || self.mark.is_some()
    }

    /// It goes on, and the agent lets the person end it alone.
    pub fn can_be_cancelled(&self) -> bool {
        self.can_cancel && !self.is_finished()
    }

    /// It was refused, and the agent has said nothing of it since.
    pub fn is_turned_down(&self) -> bool {
        self.refused && self.status == ToolStatus::Pending
    }

    /// What is refused has not begun, whatever was said of it before.
    pub fn turn_down(&mut self) {
        (self.refused, self.allowed) = (true, false);
        if !self.status.is_final() {
            self.status = ToolStatus::Pending;
        }
    }
}
