//! The filters, each alone and as they suit a block.

use super::{damage, u16_at};
use bwz::internals::{
    self,
    filter::{self, Filtered},
};

/// The largest block that is filtered: time goes by it.
const LARGEST: usize = 1 << 14;

/// A filter is undone; with two bytes of its parameters changed, or with parameters that no filter
/// gave, it fails or gives a block of the right size.
pub fn filters(input: &[u8]) {
    let Some((choice, bytes)) = input.split_at_checked(7) else { return };
    if choice[0] % 5 == 0 {
        let (side, text) = bytes.split_at(u16_at(choice, 1).min(bytes.len()));
        let filtered = Filtered { text: text.to_vec(), flags: choice[3] % 8, side: side.to_vec() };
        return survive(filtered, u16_at(choice, 4) % LARGEST);
    }
    let mut block = bytes.repeat(usize::from(choice[0] / 10) + 1);
    block.truncate(LARGEST);
    if block.is_empty() {
        return;
    }
    let Some(mut filtered) = filtered(choice, block.clone()) else { return };
    if choice[0] / 5 % 2 == 0 {
        assert!(filter::undo(filtered, block.len()).unwrap() == block);
    } else {
        damage(&mut filtered.side, &choice[1..]);
        survive(filtered, block.len());
    }
}

fn filtered(choice: &[u8], block: Vec<u8>) -> Option<Filtered> {
    match choice[0] % 5 {
        1 => filter::apply(block).ok(),
        2 => internals::separate_sequences(&block, choice[5] % 2 == 1).ok(),
        3 => internals::change_region(block, &choice[1..]).ok(),
        _ => internals::take_out_repeats(block).unwrap(),
    }
}

fn survive(filtered: Filtered, size: usize) {
    if let Ok(block) = filter::undo(filtered, size) {
        assert_eq!(block.len(), size);
    }
}
