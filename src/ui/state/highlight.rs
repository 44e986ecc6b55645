//! The highlight of a list.

/// Moves a highlight and stops at the ends.
pub fn step(at: usize, by: isize, len: usize) -> usize {
    at.saturating_add_signed(by).min(len.saturating_sub(1))
}
