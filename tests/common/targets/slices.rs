//! The codings of slices.

use super::{damage, on_one_thread, u16_at};
use bwz::internals::coder::{self, CodedBwt, Coding, SliceDecoder, SliceLimits};

/// Maximum number of decoded bytes, which bounds the time.
const LONGEST: usize = 1 << 12;

/// Limits that make short slices.
const LIMITS: SliceLimits = SliceLimits {
    runs: 700,
    bytes: LONGEST / 2,
};

/// Static rANS.
pub fn slices(input: &[u8]) {
    code(Coding::StaticRans, input);
}

/// Context mixing.
pub fn mixing(input: &[u8]) {
    code(Coding::ContextMixing, input);
}

/// Encodes and decodes; or decodes with two bytes of the models or of a slice changed; or decodes
/// bytes that were never encoded.
fn code(coding: Coding, input: &[u8]) {
    on_one_thread();
    let Some((choice, bytes)) = input.split_at_checked(7) else {
        return;
    };
    if choice[0] / 2 % 3 == 0 {
        let models_size = if coding == Coding::StaticRans {
            u16_at(choice, 1)
        } else {
            0
        };
        let (models, slice) = bytes.split_at(models_size.min(bytes.len()));
        if let Ok(decoder) = SliceDecoder::new(coding, models) {
            let _ = decoder.decode(slice, &mut vec![0; u16_at(choice, 3) % LONGEST + 1]);
        }
        return;
    }
    let repeated = bytes.repeat(usize::from(choice[0] / 6 % 8) + 1);
    let bwt = &repeated[..repeated.len().min(LONGEST)];
    if bwt.is_empty() {
        return;
    }
    let CodedBwt {
        mut models,
        raw_sizes,
        mut slices,
    } = coder::encode_slices(bwt, LIMITS, coding);
    assert!(
        slices
            .iter()
            .zip(&raw_sizes)
            .all(|(slice, &size)| slice.len() <= size as usize)
    );
    let damaged = choice[0] / 2 % 3 == 2;
    if damaged {
        let models_are = choice[0] % 2 == 1 && !models.is_empty();
        damage(
            if models_are {
                &mut models
            } else {
                &mut slices[0]
            },
            &choice[1..],
        );
    }
    let mut decoded = vec![0; bwt.len()];
    let end = SliceDecoder::new(coding, &models)
        .and_then(|decoder| coder::decode_slices(&decoder, &raw_sizes, &slices, &mut decoded));
    assert!(damaged || end.is_ok() && decoded == bwt);
}
