//! The codings of segments.

use super::{damage, u16_at};
use bwz::internals::{self, coder};

/// The longest segment that is decoded: time goes by it.
const LONGEST: usize = 1 << 12;

/// Adaptive and static rANS.
pub fn segments(input: &[u8]) {
    match input.first() {
        Some(choice) if choice % 2 == 0 => segment(1, input),
        _ => segment(3, input),
    }
}

/// Context mixing.
pub fn mixing(input: &[u8]) {
    segment(2, input);
}

/// Encodes and decodes, decodes with two bytes changed, or decodes what was never encoded.
fn segment(kind: u8, input: &[u8]) {
    let Some((choice, bytes)) = input.split_at_checked(7) else { return };
    if choice[0] / 2 % 3 == 0 {
        let coded = [&[kind], bytes].concat();
        let _ = coder::decode(&coded, &mut vec![0; u16_at(choice, 1) % LONGEST + 1]);
        return;
    }
    let repeated = bytes.repeat(usize::from(choice[0] / 6 % 8) + 1);
    let segment = &repeated[..repeated.len().min(LONGEST)];
    if segment.is_empty() {
        return;
    }
    let (mut coded, mut decoded) =
        (internals::encode_segment(kind, segment), vec![0; segment.len()]);
    assert!(coded.len() <= coder::max_coded_len(segment.len()));
    if choice[0] / 2 % 3 == 1 {
        coder::decode(&coded, &mut decoded).unwrap();
        assert!(decoded == segment);
    } else {
        damage(&mut coded[1..], &choice[1..]);
        let _ = coder::decode(&coded, &mut decoded);
    }
}
