//! The order-1 cost of a sample, for [`super::detect_regions`]: its size after an adaptive coder
//! whose context is the preceding byte.
//!
//! Samples of all kinds showed that a filter of records that does not lower this cost does not
//! lower the coded size either, and that one that halves the cost lowers the size. The cost takes 2
//! ns a byte, while a sort and a coder take 40.

/// The cost of `sample` in bits, the same on every machine. The probability of a byte comes from
/// its count behind the byte before it, as far as that was seen at all, and from its count overall.
pub(super) fn cost(sample: &[u8]) -> i64 {
    debug_assert!(sample.len() <= usize::from(u16::MAX));
    let mut pairs = [[0_u16; 256]; 256];
    let mut seen = [0_u32; 256];
    let mut behind = [0_u32; 256];
    let mut before = 0;
    let mut bits = 0;
    let mut count = 0_u32;
    // The product of the bytes' probabilities, as a fraction. Its exponents are removed before they
    // get too large.
    let mut hits = 1.0;
    let mut all = 1.0;
    for part in sample.chunks(8) {
        for &byte in part {
            let byte = usize::from(byte);
            let of_any = f64::from(count + 64);
            hits *= f64::from(pairs[before][byte]) * of_any + f64::from(4 * seen[byte] + 1);
            all *= f64::from(behind[before] + 4) * of_any;
            pairs[before][byte] += 1;
            behind[before] += 1;
            seen[byte] += 1;
            count += 1;
            before = byte;
        }
        bits += take_exponent(&mut all) - take_exponent(&mut hits);
    }
    bits
}

/// Scales `value`, which is at least 1, into the range from 1 to 2, and returns the exponent that
/// was removed.
fn take_exponent(value: &mut f64) -> i64 {
    const EXPONENT: u64 = 0x7FF << 52;
    let bits = value.to_bits();
    let one = 1.0_f64.to_bits();
    *value = f64::from_bits(bits & !EXPONENT | one);
    (bits >> 52) as i64 - (one >> 52) as i64
}

#[cfg(test)]
mod tests {
    use super::super::cases;
    use super::*;

    #[test]
    fn costs_are_those_of_their_contexts() {
        // The only additional cost is that of contexts seen for the first time.
        let about = |sample: &[u8], wanted: i64| {
            let cost = cost(sample);
            assert!(
                (wanted..wanted * 4 / 3 + 1000).contains(&cost),
                "{cost} for {wanted}"
            );
        };
        about(&cases::random(16_384, 256), 8 * 16_384);
        about(&cases::random(16_384, 4), 2 * 16_384);
        about(&b"abcdefgh".repeat(2048), 0);
        about(&[7; 16_384], 0);
        assert_eq!(cost(&[]), 0);
    }
}
