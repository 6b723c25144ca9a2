//! The transform and its inverse.

use super::{made_up, on_one_thread, u16_at};
use bwz::bwt::{Sorter, invert};

/// What is sorted is restored; a made-up transform gives a block of its size or fails.
pub fn inverse(input: &[u8]) {
    on_one_thread();
    let Some((choice, bytes)) = input.split_at_checked(3) else { return };
    if bytes.is_empty() {
        return;
    }
    let rate = 2 << (choice[0] / 2 % 20);
    if choice[0] % 2 == 0 {
        let bwt = Sorter::Cpu.sort(bytes, rate).unwrap();
        assert!(invert(bwt).unwrap() == bytes);
    } else if let Ok(text) = invert(made_up(rate, bytes, u16_at(choice, 1))) {
        assert_eq!(text.len(), bytes.len());
    }
}
