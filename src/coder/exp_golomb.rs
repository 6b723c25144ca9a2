//! Numbers as one of 16 classes and a few extra bits.
//!
//! Run lengths and places are both "small, rarely huge". The model codes the class, a symbol of 16
//! that it learns well; the extra bits are few and cost little thought. Numbers start at 0 (a run
//! length or a place less one):
//!
//! ```text
//!   number   0 1 .. 9   10..13   14..21   22..37   38..69   70..133   134..
//!   class    0 1 .. 9   10       11       12       13       14        15
//!   extra    -          2 bits   3        4        5        6         7 and more
//! ```
//!
//! From 10 on, `number - 6` is 2^width plus `width` extra bits, and the class is `width + 8`. Class
//! 15 holds all widths from 7 up: a place is at most 254, hence always of width 7; a run length
//! says its width.

/// The classes below this one are the numbers themselves.
pub const DIRECT: usize = 10;
/// The class whose width is not known from the class alone.
pub const WIDE: usize = 15;
/// The width that class 15 begins with.
pub const WIDE_WIDTH: u32 = 7;

/// A number taken apart, as the page shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parts {
    pub class: usize,
    pub width: u32,
    pub extra: u32,
}

/// Takes `number` apart.
#[inline(always)]
pub fn split(number: u32) -> Parts {
    if number < DIRECT as u32 {
        return Parts { class: number as usize, width: 0, extra: 0 };
    }
    let shifted = number - 6;
    let width = shifted.ilog2();
    let class = (8 + width as usize).min(WIDE);
    Parts { class, width, extra: shifted - (1 << width) }
}

/// The number of `width` and `extra`, for classes from 10 on. `width` is at most 30.
#[inline(always)]
pub fn join(width: u32, extra: u32) -> u32 {
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
            assert_eq!(first, Parts { class: 10 + k, width, extra: 0 });
            assert_eq!(last, Parts { class: 10 + k, width, extra: (1 << width) - 1 });
        }
    }

    #[test]
    fn numbers_come_back() {
        let big = (5..31).flat_map(|k| [(1u32 << k) - 1, 1 << k, (1 << k) + 1]);
        for number in (0..2000).chain(big).chain([i32::MAX as u32]) {
            let parts = split(number);
            let back = if parts.class < DIRECT {
                parts.class as u32
            } else {
                join(parts.width, parts.extra)
            };
            assert_eq!(back, number);
        }
    }
}
