//! Bytes beside the sequences, mapped above 127 so that no pattern of residues is found in them.
//! FORMAT.md section 12.8.
//!
//! | byte | becomes |
//! |---|---|
//! | 2 to 127 | itself + 128 |
//! | 128 to 255 | 80, itself |
//! | 0, 1 | 81, itself + 128 |

use super::cover::{Cover, CoverWriter};
use crate::base::error::Flaw;

/// Escape in front of a byte that was above 127.
const HIGH: u8 = 0x80;
/// Escape in front of a byte that was 0 or 1.
const LOW: u8 = 0x81;

/// Number of bytes that are examined together.
const PIECE: usize = 64;

const NOT_ABOVE: Flaw = Flaw("a byte outside of the sequences of a block is not mapped");
const ESCAPE: Flaw = Flaw("an escaped byte outside of the sequences of a block is invalid");

/// Appends `bytes` to `text`, and adds to `escaped` the positions of those that take two bytes. The
/// first byte has position `from`.
pub(super) fn write(bytes: &[u8], from: usize, text: &mut Vec<u8>, escaped: &mut CoverWriter) {
    for (number, piece) in bytes.chunks(PIECE).enumerate() {
        if piece
            .iter()
            .fold(true, |plain, &byte| plain & (2..128).contains(&byte))
        {
            text.extend(piece.iter().map(|byte| byte | 0x80));
            continue;
        }
        for (at, &byte) in (from + number * PIECE..).zip(piece) {
            if !(2..128).contains(&byte) {
                text.push(if byte < 2 { LOW } else { HIGH });
                escaped.push(at..at + 1);
            }
            text.push(byte | 0x80);
        }
    }
}

/// Returns a part of a line beside the sequences as it is in the text.
pub fn mapped(bytes: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    write(bytes, 0, &mut text, &mut CoverWriter::default());
    text
}

/// Restores `text` in place. The caller checks that its length is that of the restored bytes and
/// the escapes in front of `escaped` bytes.
pub(super) fn restore(text: &mut [u8], escaped: &Cover) -> Result<(), Flaw> {
    let mut from = 0;
    let mut to = 0;
    for stretch in escaped.iter() {
        let len = stretch.start - to;
        lower(text, from, to, len)?;
        (from, to) = (from + len, to + len);
        for _ in stretch {
            text[to] = match (text[from], text[from + 1]) {
                (HIGH, byte @ 0x80..) => byte,
                (LOW, byte @ 0x80..=0x81) => byte - 0x80,
                _ => return Err(ESCAPE),
            };
            (from, to) = (from + 2, to + 1);
        }
    }
    lower(text, from, to, text.len() - from)
}

/// Moves `len` bytes from `from` to `to`, and clears their top bits.
fn lower(text: &mut [u8], from: usize, to: usize, len: usize) -> Result<(), Flaw> {
    text.copy_within(from..from + len, to);
    let mut sound = true;
    for byte in &mut text[to..to + len] {
        sound &= *byte > LOW;
        *byte &= 0x7F;
    }
    if sound { Ok(()) } else { Err(NOT_ABOVE) }
}
