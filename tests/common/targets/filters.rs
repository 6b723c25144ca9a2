//! The filters, each alone and in the combination that suits a block.

use super::{damage, u16_at};
use bwz::internals::{
    self,
    filter::{self, Filtered, Step},
    sequence::Layout,
};

/// Maximum size in bytes of a block that is filtered, which bounds the time. The limit is higher
/// for blocks whose filters are chosen by content, since records are detected from 32 KiB on.
const LARGEST: usize = 1 << 14;
const LARGEST_CHOSEN: usize = 3 << 14;

/// Number of positions of a layout that are mapped.
const PLACES: usize = 8;

/// A filter is applied and undone. If two bytes of its parameters are changed (for fields: perhaps
/// of its text), or if the parameters come from no filter, undoing fails or returns a block of the
/// right size.
///
/// An input is seven bytes of choices and the data, so that a seed can be written with `printf` and
/// `cat`. The first byte modulo 5 chooses:
///
/// | | the filter | the other bytes |
/// |---|---|---|
/// | 0 | undone alone; the data: parameters and text | 1, 2: text from here; 3: which; 4, 5: size |
/// | 1 | those that suit the data | 1: the number that each copy of the data adds to its bytes |
/// | 2 | sequences | 5: odd for FASTQ |
/// | 3 | regions, from 128 on fields | 1 to 6: a region; 5: the delimiter of fields |
/// | 4 | repeats | |
///
/// The first byte / 10 is the number of further copies of the data (for 1, four times that number).
/// If the first byte / 5 is odd, the parameters are damaged as bytes 1 to 6 say.
///
/// A sixth choice would change the 5 and so the meaning of all seeds and kept crashes. A new filter
/// shares one of these choices instead, as fields share that of regions: no seed has a first byte
/// of 128 or more with the choices 2 and 4.
pub fn filters(input: &[u8]) {
    let Some((choice, bytes)) = input.split_at_checked(7) else {
        return;
    };
    if choice[0] % 5 == 0 {
        let (side, text) = bytes.split_at(u16_at(choice, 1).min(bytes.len()));
        let size = u16_at(choice, 4) % LARGEST;
        return survive(made_up(choice[3], side, text, size), size);
    }
    let copies = usize::from(choice[0] / 10);
    let block = match choice[0] % 5 {
        1 => changing_copies(bytes, 4 * copies + 1, choice[1])
            .take(LARGEST_CHOSEN)
            .collect(),
        _ => changing_copies(bytes, copies + 1, 0)
            .take(LARGEST)
            .collect::<Vec<u8>>(),
    };
    if block.is_empty() {
        return;
    }
    let Some(mut filtered) = filtered(choice, block.clone()) else {
        return;
    };
    if choice[0] / 5 % 2 == 0 {
        assert!(filter::undo(filtered, block.len()).unwrap() == block);
    } else {
        damage(
            match &mut filtered.steps[..] {
                [Step { filter: 4, .. }] | [] if choice[6] % 4 != 0 => &mut filtered.text,
                [] => &mut filtered.text,
                [.., step] => &mut step.side,
            },
            &choice[1..],
        );
        survive(filtered, block.len());
    }
}

/// Copies of `bytes`. To each copy, `step` more is added than to the copy before it.
fn changing_copies(bytes: &[u8], copies: usize, step: u8) -> impl Iterator<Item = u8> {
    (0..copies).flat_map(move |n| {
        let more = step.wrapping_mul(n as u8);
        bytes
            .iter()
            .map(move |byte| byte.wrapping_add(more))
    })
}

fn filtered(choice: &[u8], block: Vec<u8>) -> Option<Filtered> {
    match choice[0] % 5 {
        1 => filter::apply(block).ok(),
        2 => internals::separate_sequences(&block, choice[5] % 2 == 1).ok(),
        3 if choice[0] >= 128 => {
            let delimiter = [0, b',', b' ', b'\t', b'+', b'@'][usize::from(choice[5] % 6)];
            internals::take_fields_apart(&block, delimiter).unwrap()
        }
        3 => internals::change_region(block, &choice[1..]).ok(),
        _ => internals::take_out_repeats(block).unwrap(),
    }
}

/// Up to four filters with these parameters. Each bit of `flags` is a filter, from the lowest on:
/// sequences, regions, matches, fields. The bits 4 and 5 rotate their order, and the parameters are
/// cut into equal parts. All outputs have a size between those of the text and of the block.
fn made_up(flags: u8, side: &[u8], text: &[u8], size: usize) -> Filtered {
    let mut ids: Vec<u8> = (0..4)
        .filter(|n| flags >> n & 1 == 1)
        .map(|n| n + 1)
        .collect();
    let count = ids.len();
    ids.rotate_left(usize::from(flags >> 4 & 3).min(count));
    let part = |n: usize| &side[side.len() * n / count..side.len() * (n + 1) / count];
    let sizes = |n: usize| size - size.saturating_sub(text.len()) * (n + 1) / count;
    let step = |(n, filter)| Step {
        filter,
        output_size: sizes(n),
        side: part(n).to_vec(),
    };
    Filtered {
        text: text.to_vec(),
        steps: ids.into_iter().enumerate().map(step).collect(),
    }
}

fn survive(filtered: Filtered, size: usize) {
    if let [
        Step {
            filter: 1, side, ..
        },
    ] = &filtered.steps[..]
    {
        map_places(side, size);
    }
    if let Ok(block) = filter::undo(filtered, size) {
        assert_eq!(block.len(), size);
    }
}

/// Any layout, whether it belongs to a text or not, maps each residue forwards and back.
fn map_places(mut side: &[u8], size: usize) {
    let Ok(layout) = Layout::read(&mut side, size) else {
        return;
    };
    for n in 0..PLACES {
        let place = |count: usize| count * n / PLACES;
        let position = place(layout.sequence_size() + PLACES);
        if let Some(base) = layout.base(position) {
            assert_eq!(layout.position(base), Some(position));
            let raw = layout.raw_offset(position).unwrap();
            assert!(raw < size && layout.text_position(raw) == Some(position));
        }
        assert!(
            layout
                .text_position(place(size))
                .is_none_or(|at| layout.base(at).is_some())
        );
        if let Some(record) = layout.record(place(layout.records() + PLACES)) {
            assert!(record.header.end <= layout.text_size());
            // If the block ends with a header line without a line end, the start may be one behind.
            assert!(record.raw_start <= size + usize::from(!layout.ends_line()));
            let small: usize = layout
                .small(record.residues.clone())
                .map(|small| small.len())
                .sum();
            assert!(small <= record.residues.len());
        }
    }
}
