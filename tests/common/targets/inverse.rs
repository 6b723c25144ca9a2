//! The transform and its inverse.

use super::{made_up, on_one_thread, u16_at};
use bwz::bwt::{Sorter, invert};
use bwz::internals;

/// The sorter, by each of its methods, gives the same result as libsais alone, and the result is
/// restored. A made-up transform gives a block of its size or fails. Both hold with rows of 32 and
/// of 40 bits.
///
/// An input is three bytes of choices and the data. The first byte is even for sorting and
/// restoring. It is odd for a made-up transform, whose primary row the other two bytes choose. Half
/// of the first byte chooses the sample rate. For sorting, the second byte is the method, modulo 3,
/// and the number of copies of the data, and the third is that method's limits.
pub fn inverse(input: &[u8]) {
    on_one_thread();
    let Some((choice, bytes)) = input.split_at_checked(3) else {
        return;
    };
    if bytes.is_empty() {
        return;
    }
    let rate = 2 << (choice[0] / 2 % 20);
    if choice[0] % 2 == 0 {
        let block = bytes.repeat(usize::from(choice[1] / 3 % 8) + 1);
        let expected = internals::sort_by_libsais(&block, rate).unwrap();
        assert!(Sorter::Cpu.sort(&block, rate).unwrap() == expected);
        let number = usize::from(choice[2]);
        let sorted = match choice[1] % 3 {
            0 => Some(internals::sort_wide(&block, rate, 1 << (number % 8)).unwrap()),
            1 => internals::sort_phrases(&block, rate, number as u32 % 16 + 1).unwrap(),
            _ => {
                let threads = number % 4 + 2;
                let lane_len = 1 << (number / 4 % 8);
                Some(internals::sort_merged(&block, rate, threads, lane_len).unwrap())
            }
        };
        assert!(sorted.is_none_or(|sorted| sorted == expected));
        assert!(internals::invert_wide(expected.clone()).unwrap() == block);
        assert!(invert(expected).unwrap() == block);
    } else {
        let bwt = made_up(rate, bytes, u16_at(choice, 1));
        let [text, wide] = [invert(bwt.clone()).ok(), internals::invert_wide(bwt).ok()];
        assert!(text == wide && text.is_none_or(|text| text.len() == bytes.len()));
    }
}
