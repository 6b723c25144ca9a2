//! Numbers as an exp-Golomb bucket and extra bits. FORMAT.md section 14.7.
//!
//! Run lengths and MTF ranks are mostly small and sometimes huge. The model codes the bucket, one
//! of 16 symbols, which it predicts well. The extra bits are few, and a simpler model is enough for
//! them. Numbers start at 0 (a run length or an MTF rank less one):
//!
//! ```text
//!   number       0 1 .. 9   10..13   14..21   22..37   38..69   70..133   134..
//!   bucket       0 1 .. 9   10       11       12       13       14        15
//!   extra bits   -          2        3        4        5        6         7 and more
//! ```
//!
//! From 10 on, `number - 6` is 2^width plus `width` extra bits, and the bucket is `width + 8`. The
//! last bucket holds all widths from 7 up: an MTF rank less one is at most 254, hence always of
//! width 7; the width of a run length is coded beside it.

/// The buckets below this one are the numbers themselves.
pub(super) const DIRECT: usize = 10;
/// The bucket of all widths from [`LAST_BUCKET_WIDTH`] up.
pub(super) const LAST_BUCKET: usize = 15;
/// Minimum width in the last bucket.
pub(super) const LAST_BUCKET_WIDTH: u32 = 7;

/// A number split into its bucket and its extra bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ExpGolomb {
    pub bucket: usize,
    /// Number of extra bits.
    pub width: u32,
    pub extra: u32,
}

/// Splits `number`.
#[inline(always)]
pub(super) fn split(number: u32) -> ExpGolomb {
    if number < DIRECT as u32 {
        return ExpGolomb {
            bucket: number as usize,
            width: 0,
            extra: 0,
        };
    }
    let shifted = number - 6;
    let width = shifted.ilog2();
    let bucket = (8 + width as usize).min(LAST_BUCKET);
    ExpGolomb {
        bucket,
        width,
        extra: shifted - (1 << width),
    }
}

/// The number with these extra bits, for buckets from 10 on. `width` is at most 30.
#[inline(always)]
pub(super) fn join(width: u32, extra: u32) -> u32 {
    (1 << width) + extra + 6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_the_page() {
        let firsts = [10, 14, 22, 38, 70, 134].map(split);
        let lasts = [13, 21, 37, 69, 133, 261].map(split);
        for (k, (first, last)) in firsts.into_iter().zip(lasts).enumerate() {
            let width = k as u32 + 2;
            assert_eq!(
                first,
                ExpGolomb {
                    bucket: 10 + k,
                    width,
                    extra: 0
                }
            );
            assert_eq!(
                last,
                ExpGolomb {
                    bucket: 10 + k,
                    width,
                    extra: (1 << width) - 1
                }
            );
        }
    }

    #[test]
    fn numbers_come_back() {
        let big = (5..31).flat_map(|k| [(1u32 << k) - 1, 1 << k, (1 << k) + 1]);
        for number in (0..2000).chain(big).chain([i32::MAX as u32]) {
            let split = split(number);
            let back = if split.bucket < DIRECT {
                split.bucket as u32
            } else {
                join(split.width, split.extra)
            };
            assert_eq!(back, number);
        }
    }
}
