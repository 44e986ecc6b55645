//! OSC 52: asks the person's terminal to put text on its clipboard, which also works over SSH.
//!
//! Only builds the bytes. Terminals do not answer, so that it is unknown whether it worked: the caller says what was
//! sent, not what arrived. Invariant: nothing of the text reaches the terminal but as base64.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Several terminals drop a sequence that is longer than this, some without a trace; better to say so.
pub const MAX_ENCODED: usize = 100_000;
/// The longest text that is not, in bytes.
pub const MAX_TEXT: usize = MAX_ENCODED / 4 * 3;

/// GNU screen cuts a device control string at 768 bytes.
const SCREEN_CHUNK: usize = 700;

/// What stands between us and the terminal, as the environment tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Multiplexer {
    #[default]
    None,
    /// Understands OSC 52 itself and hands it on as its own setting says.
    Tmux,
    Screen,
}

impl Multiplexer {
    /// `tmux` and `sty` are the values of `TMUX` and `STY`. tmux wins: a tmux inside a screen sets both.
    pub fn from_env(tmux: Option<&str>, sty: Option<&str>) -> Self {
        let set = |v: Option<&str>| v.is_some_and(|v| !v.is_empty());
        if set(tmux) {
            Self::Tmux
        } else if set(sty) {
            Self::Screen
        } else {
            Self::None
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("too long for the terminal's clipboard ({encoded} of at most {MAX_ENCODED} bytes)")]
pub struct TooLong {
    pub encoded: usize,
}

/// The bytes that set the clipboard to `text`.
pub fn osc52(text: &str, through: Multiplexer) -> Result<Vec<u8>, TooLong> {
    let encoded_len = text.len().div_ceil(3).saturating_mul(4);
    if encoded_len > MAX_ENCODED {
        return Err(TooLong { encoded: encoded_len });
    }
    let plain = format!("\x1b]52;c;{}\x07", STANDARD.encode(text));
    match through {
        Multiplexer::None | Multiplexer::Tmux => Ok(plain.into_bytes()),
        Multiplexer::Screen => {
            let mut out = Vec::with_capacity(plain.len() + plain.len() / SCREEN_CHUNK * 4 + 8);
            for chunk in plain.as_bytes().chunks(SCREEN_CHUNK) {
                out.extend_from_slice(b"\x1bP");
                out.extend_from_slice(chunk);
                out.extend_from_slice(b"\x1b\\");
            }
            Ok(out)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_and_tmux_are_one_sequence() {
        let want = b"\x1b]52;c;aMOp\x07".to_vec();
        assert_eq!(osc52("hé", Multiplexer::None), Ok(want.clone()));
        assert_eq!(osc52("hé", Multiplexer::Tmux), Ok(want));
    }

    #[test]
    fn control_characters_travel_only_encoded() {
        let bytes = osc52("\x1b]0;evil\x07\u{9c}", Multiplexer::None).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        assert_eq!((text.matches('\x1b').count(), text.matches('\x07').count()), (1, 1));
    }

    #[test]
    fn screen_gets_chunks_that_join_to_the_sequence() {
        let text = "x".repeat(5000);
        let bytes = osc52(&text, Multiplexer::Screen).unwrap();
        let s = String::from_utf8(bytes).unwrap();
        assert!(s.split("\x1b\\").all(|c| c.len() <= SCREEN_CHUNK + 2));
        let joined = s.replace("\x1bP", "").replace("\x1b\\", "");
        assert_eq!(joined.into_bytes(), osc52(&text, Multiplexer::None).unwrap());
    }

    #[test]
    fn too_long_is_said() {
        assert!(osc52(&"x".repeat(75_000), Multiplexer::None).is_ok());
        assert_eq!(osc52(&"x".repeat(75_001), Multiplexer::None), Err(TooLong { encoded: 100_004 }));
    }

    #[test]
    fn environment() {
        assert_eq!(Multiplexer::from_env(Some("/tmp/t"), Some("1.x")), Multiplexer::Tmux);
        assert_eq!(Multiplexer::from_env(Some(""), Some("1.x")), Multiplexer::Screen);
        assert_eq!(Multiplexer::from_env(None, None), Multiplexer::None);
    }
}
