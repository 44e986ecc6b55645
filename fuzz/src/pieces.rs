//! Streams of bytes that come in pieces of any size.

use crate::cut;
use acp_tui::ui::tty::{Input, Parser};
use acp_tui::wire::frame::Frame;
use acp_tui::wire::framing::{Agreed, Decoded, Decoder, Framing, LineDecoder};
use serde_json::value::RawValue;
use std::borrow::Cow;

#[derive(Debug, PartialEq)]
enum Got {
    Line(Vec<u8>),
    TooLong(Vec<u8>, u64),
    Lost(String),
}

fn decoded<'a>(mut decoder: Box<dyn Decoder>, pieces: impl Iterator<Item = &'a [u8]>) -> Vec<Got> {
    let mut out = Vec::new();
    pieces.for_each(|piece| decoder.push(piece, &mut out));
    out.extend(decoder.finish());
    let got = |decoded| match decoded {
        Decoded::Line(line) => Got::Line(line.into_owned()),
        Decoded::TooLong { head, dropped } => Got::TooLong(head, dropped),
        Decoded::Lost(why) => Got::Lost(why),
    };
    out.into_iter().map(got).collect()
}

/// Whole or in pieces, the messages are the same, and each is one line whose text is what the frame was read from.
pub fn frames(data: &[u8]) {
    let [how, size, data @ ..] = data else { return };
    let decoder = || -> Box<dyn Decoder> {
        match how % 4 {
            0 => Agreed::from(Framing::Lines).decoder(),
            1 => Agreed::from(Framing::Lengths).decoder(),
            2 => Agreed::from(Framing::Auto).decoder(),
            _ => Box::new(LineDecoder::new(24)),
        }
    };
    let whole = decoded(decoder(), std::iter::once(data));
    assert_eq!(whole, decoded(decoder(), cut(*size, data)));
    for (at, got) in whole.iter().enumerate() {
        match got {
            Got::Line(line) => {
                assert!(!line.contains(&b'\n'), "a line in a line");
                let (frame, text) = Frame::read(Cow::Borrowed(line), &[]);
                if frame.is_json() {
                    serde_json::from_str::<&RawValue>(&text).expect("it is said to be JSON");
                }
            }
            Got::TooLong(head, dropped) => assert!(!head.is_empty() && *dropped > 0),
            Got::Lost(_) => assert_eq!(at + 1, whole.len(), "something comes after the loss"),
        }
    }
}

/// However bytes are cut they mean the same keys, but for an escape at the end of a piece; after a silence nothing is held
/// back.
pub fn keys(data: &[u8]) {
    let [size, data @ ..] = data else { return };
    let (_, mut parser) = fed(&mut cut(*size, data));
    let mut late = Vec::new();
    // A string without an end is given up in steps.
    (0..16).for_each(|_| parser.give_up(&mut late));
    assert!(parser.incomplete().is_none(), "something is held back for ever");
    // A key or an answer that has lost its escape is known as one only where it comes in one piece, and whether a key is
    // hasty is a matter of what comes with it.
    let is_plain = |byte: &u8| matches!(byte, 0..=0x1a | 0x1c..=0x20 | b'a'..=b'z' | 0xa0..);
    let plain: Vec<u8> = data.iter().copied().filter(is_plain).collect();
    assert_eq!(fed(&mut std::iter::once(plain.as_slice())).0, fed(&mut cut(*size, &plain)).0);
}

fn fed(pieces: &mut dyn Iterator<Item = &[u8]>) -> (Vec<Input>, Parser) {
    let (mut parser, mut out) = (Parser::default(), Vec::new());
    pieces.for_each(|piece| parser.feed(piece, &mut out));
    let calm = |input| if let Input::Hasty(key) = input { Input::Key(key) } else { input };
    (out.into_iter().map(calm).collect(), parser)
}
